//! Runs `kb convert`.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::app;
use crate::app::convert::{ConvertRequest, ConvertedDocument, JsonLinesContent, Output};
use crate::app::indexing::add::{AddRequest, DocumentSource};
use crate::cli::args::DocumentFormat;
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::cli::{add, args, messages, streams};
use crate::error::{Error, Result};
use crate::files::open::{self, SymlinkPolicy};
use crate::ingest::FailedFile;
use crate::limits;
use crate::limits::lines::{LineOutcome, read_line};
use crate::present::json;
use crate::present::text::convert;
use crate::text::json::Json;
use crate::wording::{kb, wording};

pub(super) fn run(context: &CommandContext, args: &args::ConvertArgs) -> Result<ExitStatus> {
    check(args)?;
    let mut paths = args.paths.clone();
    if let Some(list) = &args.files_from {
        paths.extend(listed(list)?);
    }
    let source = match paths.as_slice() {
        [only] if only.as_os_str() == add::STDIN => {
            DocumentSource::Bytes(add::read_stdin(context.config().ingestion.max_file_mb.into())?)
        }
        _ => DocumentSource::Paths(paths),
    };
    let request = ConvertRequest {
        files: AddRequest {
            doc_type: args.doc_type,
            language: args.language,
            keeps_all: args.keep_all,
            password: args.password.clone(),
            ..AddRequest::of(source)
        },
        output: args.output.clone(),
        replaces: args.force,
        extension: match args.format {
            DocumentFormat::Md => "md",
            DocumentFormat::Json | DocumentFormat::Jsonl => "json",
        },
        pages: args.pages,
    };
    if args.format == DocumentFormat::Jsonl {
        return lines(context, &request, args);
    }
    let (session, ui) = (&context.session, &context.ui);
    if app::convert::is_printed(&request)? {
        let converted = app::convert::one(session, &request, ui)?;
        context.show_bytes(&rendered(&converted, args)?)?;
        return Ok(ExitStatus::Success);
    }
    let interrupt = ui.listen();
    let outcome =
        app::convert::to_folder(session, &request, &|converted| rendered(converted, args), ui);
    let report = ended(outcome, &interrupt)?;
    if args.format == DocumentFormat::Json {
        context::print_json(|out| json::conversion(&report, out))?;
    }
    messages::info(convert::summary(&report));
    Ok(if report.is_success() { ExitStatus::Success } else { ExitStatus::User })
}

/// Refuses options that do not go together.
fn check(args: &args::ConvertArgs) -> Result<()> {
    let is_lines = args.format == DocumentFormat::Jsonl;
    let (message, hint) = match args {
        args::ConvertArgs { output: Some(_), .. } if is_lines => {
            let hint = "redirect the output to a file: `> FILE`".into();
            ("`--output` cannot be used with `--format jsonl`", hint)
        }
        args::ConvertArgs { chunks: true, .. } if !is_lines => {
            let hint = wording!("its lines have the form of `{}`", kb("export"));
            ("`--chunks` needs `--format jsonl`", hint)
        }
        _ => return Ok(()),
    };
    Err(Error::usage(message).with_hint(hint))
}

/// Reads the paths that a file lists.
fn listed(list: &Path) -> Result<Vec<PathBuf>> {
    let mut input: Box<dyn BufRead> = if list.as_os_str() == add::STDIN {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(open::open(list, SymlinkPolicy::Follow)?))
    };
    let (mut paths, mut line) = (Vec::new(), Vec::new());
    for number in 1_u64.. {
        let outcome = read_line(&mut input, &mut line, limits::BATCH_LINE_BYTES)
            .map_err(|source| Error::of_file(list, source))?;
        match outcome {
            LineOutcome::Line if line.is_empty() => {}
            LineOutcome::Line => match String::from_utf8(line.clone()) {
                Ok(path) => paths.push(PathBuf::from(path)),
                Err(_) => {
                    return Err(Error::usage(format!("line {number} of the list is not UTF-8")));
                }
            },
            LineOutcome::End => break,
            LineOutcome::TooLong => {
                let message = format!("line {number} of the list is too long for a path");
                return Err(Error::usage(message));
            }
        }
    }
    if paths.is_empty() {
        return Err(Error::usage("the list of files is empty"));
    }
    Ok(paths)
}

/// Prints one line per document.
fn lines(
    context: &CommandContext,
    request: &ConvertRequest,
    args: &args::ConvertArgs,
) -> Result<ExitStatus> {
    let (session, ui) = (&context.session, &context.ui);
    let interrupt = ui.listen();
    let content = if args.chunks {
        JsonLinesContent::Chunks { with_vectors: args.vectors }
    } else {
        JsonLinesContent::Blocks(&|converted| {
            json::converted_line(converted).map_err(Error::Output)
        })
    };
    let mut report = None;
    streams::json(|out| {
        let outcome = app::convert::to_lines(session, request, &content, ui, &mut |output| {
            let written = match output {
                Output::Line(line) => out.written(line),
                Output::Failed(path, error) => out.line(&FailedFile::new(path, error)),
            };
            written.map_err(Error::Output)
        });
        report = Some(outcome);
        Ok(())
    })?;
    let report = ended(report.expect("the closure has run"), &interrupt)?;
    messages::info(convert::summary_of_lines(&report));
    Ok(if report.is_success() { ExitStatus::Success } else { ExitStatus::User })
}

/// Returns a document in the requested format.
fn rendered(converted: &ConvertedDocument, args: &args::ConvertArgs) -> Result<Vec<u8>> {
    if args.format == DocumentFormat::Md {
        return Ok(convert::document(converted, args.page_marks).into_bytes());
    }
    let mut bytes = Vec::new();
    json::converted(converted, &mut Json::new(&mut bytes)).map_err(Error::Output)?;
    Ok(bytes)
}
