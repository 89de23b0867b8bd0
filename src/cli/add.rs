//! Runs `kb add`.

use std::io;
use std::io::Read;
use std::path::PathBuf;

use crate::app;
use crate::app::add::{AddRequest, Source};
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::cli::{args, messages};
use crate::config::OutputFormat;
use crate::error::{Error, Result};
use crate::ingest::walk;
use crate::present::json;
use crate::present::text::human::Human;

/// The path that means standard input.
pub(super) const STDIN: &str = "-";

pub(super) fn run(context: &Context, args: &args::Add) -> Result<ExitStatus> {
    let source = match (&args.note, args.paths.as_slice()) {
        (Some(note), _) => Source::Note(note.clone(), args.replace),
        (None, [only]) if only.as_os_str() == STDIN && args.dry_run => Source::Bytes(Vec::new()),
        (None, [only]) if only.as_os_str() == STDIN => {
            Source::Bytes(read_stdin(context.config().ingestion.max_file_mb.into())?)
        }
        (None, paths) => Source::Paths(paths.to_vec()),
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
        let plan = app::add::plan(&context.session, &request)?;
        return context.present(plan.as_slice(), json::plan, Human::plan);
    }
    let interrupt = context.ui.listen();
    let outcome = app::add::add(&context.session, &request, &context.ui);
    let (mut report, roots) = ended(outcome, &interrupt)?;
    if let Some(error) = app::add::failure(&request, &roots, &mut report) {
        return Err(error);
    }
    if args.format.format == OutputFormat::Json {
        context::print_json(|out| json::report(&report, out))?;
    }
    messages::info(&Human::summary(&report));
    if let (Some(_), [id]) = (&args.note, report.document_ids.as_slice()) {
        messages::info(&format!("The note has id {id}."));
    }
    Ok(if report.is_success() { ExitStatus::Success } else { ExitStatus::User })
}

/// Reads a document from standard input, up to the size limit of files.
pub(super) fn read_stdin(max_file_mb: u64) -> Result<Vec<u8>> {
    read_limited(io::stdin().lock(), max_file_mb)
}

fn read_limited(input: impl Read, max_file_mb: u64) -> Result<Vec<u8>> {
    let path = || PathBuf::from("standard input");
    let max_bytes = max_file_mb.saturating_mul(walk::BYTES_PER_MB);
    let mut bytes = Vec::new();
    input
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Io { path: path(), source })?;
    if bytes.len() as u64 > max_bytes {
        return Err(Error::TooLarge { path: path(), limit_mb: max_file_mb });
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
