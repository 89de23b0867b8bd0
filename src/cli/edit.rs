//! Runs the commands that change and remove documents.

use std::path::{Path, PathBuf};

use crate::app;
use crate::app::indexing::edit::{self, Editable, EditedFields, kept};
use crate::app::maintenance::remove::{Removal, RemovalTarget, RemoveRequest};
use crate::app::maintenance::tag::TagRequest;
use crate::app::maintenance::transfer::ExportFile;
use crate::app::session::copies;
use crate::cli::args::{self, TagsAction};
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::launch::{self, LaunchTarget};
use crate::cli::messages;
use crate::cli::read::is_nothing;
use crate::document::Filter;
use crate::error::{Error, Result};
use crate::files::open::SymlinkPolicy;
use crate::files::{open, write};
use crate::ingest::walk::BYTES_PER_MB;
use crate::present::json;
use crate::present::text::human::HumanLayout;
use crate::text::number::{bytes_to_mb, counted};
use crate::text::printable::clean;
use crate::wording::{kb, option, wording};

pub(super) fn run(context: &CommandContext, args: &args::EditArgs) -> Result<ExitStatus> {
    let session = &context.session;
    let editable = edit::open(session, &args.document)?;
    let has_flags = args.title.is_some() || args.date.is_some() || !args.tags.is_empty();
    let (changes, kept) = if has_flags {
        let changes = EditedFields {
            title: args.title.clone(),
            tags: Some(args.tags.clone()).filter(|tags| !tags.is_empty()),
            date: args.date.clone().map(|day| day.0),
            text: None,
        };
        (editable.differing(changes), None)
    } else {
        let (changes, file) = in_editor(context, &editable)?;
        (changes, Some(file))
    };
    let document = if changes.is_empty() {
        editable.document.clone()
    } else {
        edit::apply(session, &editable, &changes, &context.ui).inspect_err(|_| {
            if let Some(file) = &kept {
                messages::note(format!("the edited text was saved in {}", file.display()));
            }
        })?
    };
    if let Some(file) = &kept {
        write::remove(file).map_err(|source| Error::of_file(file, source))?;
    }
    let names = changes.names();
    context.present(
        &document,
        |document, out| json::edited(document, &names, out),
        |layout, document, out| layout.edited(document, &names, out),
    )
}

/// Lets the user edit the page of a document; returns what changes, and the file with the page.
///
/// The file is in the data directory, which only its owner can enter. It is kept if it cannot be read, and the next
/// edit of the document opens it again.
fn in_editor(context: &CommandContext, editable: &Editable) -> Result<(EditedFields, PathBuf)> {
    let id = editable.document.id;
    let folder = context.session.data_dir();
    let file = kept::page_of(folder, id);
    let page = editable.page();
    if file.symlink_metadata().is_ok() {
        messages::note(format!("this text was saved when document {id} was last edited"));
    } else {
        write::create_new(&file, page.as_bytes())
            .map_err(|source| Error::of_file(&file, source))?;
    }
    let opened = launch::open(context, LaunchTarget { path: &file, line: None, page: None });
    let limit_mb = context.config().ingestion.max_file_mb.into();
    let edited = read(&file, folder, id.0, limit_mb);
    if let Err(error) = opened {
        if edited.is_ok_and(|edited| edited == page) {
            // An error is ignored: if the page cannot be removed, the next edit opens it.
            let _ = write::remove(&file);
        }
        return Err(error);
    }
    let changes = editable
        .changes(&edited?)
        .map_err(|(line, reason)| not_read(&file, id.0, &format!("line {line}: {reason}")))?;
    Ok((changes, file))
}

fn read(file: &Path, folder: &Path, id: i64, limit_mb: u64) -> Result<String> {
    let max_bytes = limit_mb.saturating_mul(BYTES_PER_MB);
    let bytes = match open::read(file, SymlinkPolicy::RefuseBelow(folder), max_bytes) {
        Err(Error::OverLimit { .. }) => {
            return Err(not_read(file, id, &format!("it is larger than {limit_mb} MB")));
        }
        bytes => bytes?,
    };
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        not_read(file, id, &format!("line {line}: not UTF-8"))
    })
}

/// Returns the error of a page that cannot be read, which is kept.
fn not_read(file: &Path, id: i64, reason: &str) -> Error {
    Error::usage(format!("{}, {reason}", file.display())).with_hint(wording!(
        "nothing was changed; `{}` opens the saved text again",
        kb("edit").arg(id)
    ))
}

pub(super) fn tags(context: &CommandContext, args: &args::TagsArgs) -> Result<ExitStatus> {
    if let Some(TagsAction::Rename(rename)) = &args.action {
        let renamed =
            app::maintenance::tag::rename(&context.session, &rename.old, &rename.new, &context.ui)?;
        return context.present(&renamed, json::answer, HumanLayout::renamed_tag);
    }
    let tags = app::query::read::tags(&context.session)?;
    let is_nothing = is_nothing(context, tags.is_empty())?;
    context.present(
        tags.as_slice(),
        |tags, out| out.value(&tags),
        |layout, tags, out| {
            if is_nothing { layout.nothing_added(out) } else { layout.tags(tags, out) }
        },
    )
}

pub(super) fn tag(context: &CommandContext, args: &args::TagArgs) -> Result<ExitStatus> {
    let request = TagRequest {
        documents: context::choice(&args.documents, &args.criteria)?,
        added: args.add.clone(),
        removed: args.remove.clone(),
    };
    let tagged = app::maintenance::tag::change(&context.session, &request, &context.ui)?;
    // For a single named document, the JSON keeps its earlier shape.
    let single = match (args.documents.as_slice(), tagged.documents.as_slice()) {
        ([_], [document]) => Some(document),
        _ => None,
    };
    context.present(
        &tagged,
        |tagged, out| match single {
            Some(document) => json::tagged(document, out),
            None => json::tagged_all(tagged, out),
        },
        |layout, tagged, out| match single {
            Some(document) => layout.tagged(document, out),
            None => layout.tagged_all(tagged, out),
        },
    )
}

pub(super) fn remove(context: &CommandContext, args: &args::RemoveArgs) -> Result<ExitStatus> {
    let criteria = context::criteria(&args.criteria)?;
    let is_choosing = criteria.filter != Filter::default() || criteria.query.is_some();
    let criteria = is_choosing.then_some(criteria);
    let export = args.export.clone();
    let request = RemoveRequest {
        documents: args.documents.clone(),
        criteria,
        is_dry_run: args.dry_run,
        keeps_away: args.ignore,
        deletes_copies: args.backups,
        export: export.map(|path| ExportFile { path, is_replacing: args.force }),
    };
    let removed = app::maintenance::remove::remove(
        &context.session,
        &request,
        &|going| confirm(context, args, going),
        &context.ui,
    )?;
    context.present(&removed, json::answer, HumanLayout::removed)?;
    if removed.num_back > 0 {
        let documents = counted(removed.num_back, "document");
        let (files, them) = match removed.num_back {
            1 => ("its file is", "it"),
            _ => ("their files are", "them"),
        };
        messages::note(wording!(
            "`{}` will add {} again, because {} in a folder that was added; list {} in `.kbignore` or remove the folder",
            kb("update"),
            documents,
            files,
            them
        ));
    }
    if !removed.copies.is_empty() && (args.dry_run || !removed.ids.is_empty()) {
        let files = removed.copies.iter().map(|copy| copy.path.display().to_string());
        messages::note(wording!(
            "{} that kb made may still contain {}: {}; `{}` deletes {}",
            copies::counted(removed.copies.len()),
            if args.dry_run { "the text to remove" } else { "the removed text" },
            files.collect::<Vec<_>>().join(", "),
            kb("remove").flag("--backups"),
            if removed.copies.len() == 1 { "it" } else { "them" },
        ));
    }
    Ok(ExitStatus::Success)
}

/// Asks before a removal, unless `--yes` is given.
fn confirm(context: &CommandContext, args: &args::RemoveArgs, going: &Removal) -> Result<bool> {
    if args.yes {
        return Ok(true);
    }
    let hint = if args.documents.is_empty() {
        wording!("`{}` lists what would be removed", option("--dry-run"))
    } else {
        let rest = format!("remove --yes {}", args.documents.join(" "));
        context.layout.command(None, &rest).into()
    };
    context::require_terminal("removing", hint)?;
    context::confirm(&question(going))
}

fn question(going: &Removal) -> String {
    match &going.named {
        RemovalTarget::Document(title, num_chunks) => {
            format!("Remove '{}' and its {}?", clean(title), counted(*num_chunks, "chunk"))
        }
        RemovalTarget::Copies(num_copies, size_bytes) => format!(
            "Delete {} that kb made ({:.1} MB)?",
            copies::counted(*num_copies),
            bytes_to_mb(*size_bytes)
        ),
        RemovalTarget::Matching => {
            format!("Remove {}?", counted(going.documents.len(), "document"))
        }
        RemovalTarget::Path(path) => {
            let count = counted(going.documents.len(), "document");
            format!("Remove {count} from {}?", clean(&path.display().to_string()))
        }
    }
}
