//! Runs `kb add` and `kb update`.

use std::io;
use std::io::Read;
use std::path::Path;

use crate::app::indexing::add::{AddRequest, DocumentSource};
use crate::app::indexing::reread::RereadSelection;
use crate::app::indexing::update::UpdateRequest;
use crate::app::maintenance::transfer::ExportFile;
use crate::app::{self, Observer, session};
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::cli::{args, base, messages};
use crate::config::OutputFormat;
use crate::error::{Error, Result};
use crate::ingest::walk;
use crate::present::json;
use crate::present::text::human::HumanLayout;

/// The path that means standard input.
pub(super) const STDIN: &str = "-";

pub(super) fn run(context: &CommandContext, args: &args::AddArgs) -> Result<ExitStatus> {
    let source = match (&args.note, args.paths.as_slice()) {
        (Some(note), _) => DocumentSource::Note(note.clone(), args.replace),
        (None, [only]) if only.as_os_str() == STDIN && args.dry_run => {
            DocumentSource::Bytes(Vec::new())
        }
        (None, [only]) if only.as_os_str() == STDIN => {
            DocumentSource::Bytes(read_stdin(context.config().ingestion.max_file_mb.into())?)
        }
        (None, paths) => DocumentSource::Paths(paths.to_vec()),
    };
    let request = AddRequest {
        title: args.title.clone(),
        tags: args.tags.clone(),
        doc_type: args.doc_type,
        language: args.language,
        follows_links: args.follow,
        includes_ignored: args.include_ignored,
        keeps_all: args.keep_all,
        password: args.password.clone(),
        ..AddRequest::of(source)
    };
    if args.dry_run {
        let plan = app::indexing::add::plan(&context.session, &request)?;
        return context.present(plan.as_slice(), json::plan, HumanLayout::plan);
    }
    let interrupt = context.ui.listen();
    let outcome = app::indexing::add::add(&context.session, &request, &context.ui);
    let (mut report, roots) = ended(outcome, &interrupt)?;
    if let Some(error) = app::indexing::add::failure(&request, &roots, &mut report) {
        return Err(error);
    }
    if args.format.format == OutputFormat::Json {
        context::print_json(|out| json::report(&report, out))?;
    }
    messages::info(HumanLayout::summary(&report));
    if let (Some(_), [id]) = (&args.note, report.document_ids.as_slice()) {
        messages::info(format!("The note has id {id}."));
    }
    Ok(if report.is_success() { ExitStatus::Success } else { ExitStatus::User })
}

pub(super) fn update(context: &CommandContext, args: &args::UpdateArgs) -> Result<ExitStatus> {
    // With --reread, the arguments name documents, not folders.
    let roots = args.roots.iter().filter(|_| !args.reread);
    let named = roots.map(|path| session::typed(path)).collect::<Result<Vec<_>>>()?;
    let request = UpdateRequest {
        named,
        prunes: args.prune,
        is_forced: args.force,
        export: args.export.clone().map(|path| ExportFile { path, is_replacing: false }),
        is_dry_run: args.dry_run,
        password: args.password.clone(),
        rereads: args.reread.then(|| selection(args)).transpose()?,
        is_watched: false,
    };
    if !args.dry_run {
        base::offer_unfollowed(context)?;
    }
    let interrupt = context.ui.listen();
    let outcome = app::indexing::update::update(&context.session, &request, &context.ui);
    let report = ended(outcome, &interrupt)?;
    let ui: &dyn Observer = &context.ui;
    report.notes.iter().for_each(|note| ui.warn(note));
    context.present(&report, json::answer, HumanLayout::update)?;
    Ok(if report.is_refused(&request) { ExitStatus::User } else { ExitStatus::Success })
}

/// Returns which documents `--reread` makes again.
fn selection(args: &args::UpdateArgs) -> Result<RereadSelection> {
    Ok(RereadSelection {
        documents: args.roots.iter().map(|typed| document_name(typed)).collect::<Result<_>>()?,
        kind: args.kind,
        below: args.path.as_deref().map(session::typed).transpose()?,
    })
}

/// Returns the typed name of a document; one that is not UTF-8 is unknown.
fn document_name(typed: &Path) -> Result<String> {
    match typed.to_str() {
        Some(name) => Ok(name.to_owned()),
        None => Err(Error::UnknownDocument { id: typed.to_string_lossy().into_owned() }),
    }
}

/// Reads a document from standard input, up to the size limit of files.
pub(super) fn read_stdin(max_file_mb: u64) -> Result<Vec<u8>> {
    read_limited(io::stdin().lock(), max_file_mb)
}

fn read_limited(input: impl Read, max_file_mb: u64) -> Result<Vec<u8>> {
    let path = Path::new("standard input");
    let max_bytes = max_file_mb.saturating_mul(walk::BYTES_PER_MB);
    let mut bytes = Vec::new();
    input
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Io { path: path.into(), source })?;
    if bytes.len() as u64 > max_bytes {
        return Err(Error::TooLarge { path: path.into(), limit_mb: max_file_mb });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_may_be_as_large_as_a_file() {
        let read = |num_bytes: u64| read_limited(io::repeat(b'a').take(num_bytes), 1);
        assert_eq!(read(walk::BYTES_PER_MB).unwrap().len() as u64, walk::BYTES_PER_MB);
        let error = read_limited(io::repeat(b'a'), 1).unwrap_err();
        assert!(matches!(error, Error::TooLarge { limit_mb: 1, .. }), "{error}");
        assert!(read(walk::BYTES_PER_MB + 1).is_err());
    }
}
