//! Runs `kb remove`.

use crate::app;
use crate::app::copies;
use crate::app::remove::{Named, Removal, RemoveRequest};
use crate::app::transfer::ExportFile;
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::cli::{args, messages};
use crate::document::Filter;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;
use crate::text::number::{bytes_to_mb, counted};
use crate::text::printable::clean;

pub(super) fn run(context: &Context, args: &args::Remove) -> Result<ExitStatus> {
    let confirm = |going: &Removal| {
        if args.yes {
            return Ok(true);
        }
        let hint = match args.documents.is_empty() {
            true => "`--dry-run` lists what would be removed".to_owned(),
            false => {
                let rest = format!("remove --yes {}", args.documents.join(" "));
                context.human.command(None, &rest)
            }
        };
        context::require_terminal("removing", hint)?;
        context::confirm(&question(going))
    };
    let criteria = context::criteria(&args.choosing)?;
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
    let removed = app::remove::remove(&context.session, &request, &confirm, &context.ui)?;
    context.present(&removed, json::answer, Human::removed)?;
    if removed.num_back > 0 {
        let documents = counted(removed.num_back, "document");
        messages::info(&match removed.num_back {
            1 => format!(
                "note: `kb update` will add {documents} again, because its file is in a folder that was \
                 added; list it in `.kbignore` or remove the folder"
            ),
            _ => format!(
                "note: `kb update` will add {documents} again, because their files are in a folder that was \
                 added; list them in `.kbignore` or remove the folder"
            ),
        });
    }
    if !removed.copies.is_empty() && (args.dry_run || !removed.ids.is_empty()) {
        let files = removed.copies.iter().map(|copy| copy.path.display().to_string());
        messages::info(&format!(
            "note: {} that kb made may still have what {} removed: {}; `kb remove --backups` deletes {}",
            copies::counted(removed.copies.len()),
            if args.dry_run { "would be" } else { "was" },
            files.collect::<Vec<_>>().join(", "),
            if removed.copies.len() == 1 { "it" } else { "them" },
        ));
    }
    Ok(ExitStatus::Success)
}

fn question(going: &Removal) -> String {
    match &going.named {
        Named::Document(title, num_chunks) => {
            format!("Remove '{}' and its {}?", clean(title), counted(*num_chunks, "chunk"))
        }
        Named::Copies(num_copies, size_bytes) => format!(
            "Delete {} that kb made ({:.1} MB)?",
            copies::counted(*num_copies),
            bytes_to_mb(*size_bytes)
        ),
        Named::Matching => format!("Remove {}?", counted(going.documents.len(), "document")),
        Named::Path(path) => {
            let count = counted(going.documents.len(), "document");
            format!("Remove {count} from {}?", clean(&path.display().to_string()))
        }
    }
}
