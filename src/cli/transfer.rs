//! Runs `kb export` and `kb import`.

use std::io;

use crate::app::choose::Criteria;
use crate::app::transfer::{self, ExportFile, ExportRequest, ImportRequest, Imported, Source};
use crate::cli::context::{Context, criteria};
use crate::cli::exit::ExitStatus;
use crate::cli::{args, messages, streams};
use crate::error::{Error, Result};
use crate::present::json;
use crate::present::text::human::Human;
use crate::text::number::counted;

pub(super) fn export(context: &Context, args: &args::Export) -> Result<ExitStatus> {
    let session = &context.session;
    let criteria = criteria(&args.choosing)?;
    let request = ExportRequest {
        with_vectors: args.vectors,
        criteria: (criteria != Criteria::default()).then_some(criteria),
    };
    let file = args.file.as_deref().filter(|file| file.as_os_str() != "-");
    let exported = match file {
        Some(file) => {
            let file = ExportFile { path: file.to_owned(), is_replacing: args.force };
            transfer::export_to_file(session, &request, &file, &context.ui)?
        }
        None => {
            let mut exported = None;
            streams::json(|out| {
                let emit = |line: &_| out.written(line).map_err(Error::Output);
                exported = Some(transfer::export(session, &request, &context.ui, emit));
                Ok(())
            })?;
            exported.expect("the closure has run")?
        }
    };
    messages::info(&format!(
        "Exported {} with {}.",
        counted(exported.num_documents, "document"),
        counted(exported.num_chunks, "chunk")
    ));
    Ok(ExitStatus::Success)
}

pub(super) fn import(context: &Context, args: &args::Import) -> Result<ExitStatus> {
    let mut stdin;
    let source = if args.file.as_os_str() == "-" {
        stdin = io::stdin().lock();
        Source::Stream(&mut stdin, "stdin")
    } else {
        Source::File(&args.file)
    };
    let request = ImportRequest { source, trusts_paths: args.trust_paths };
    let imported = transfer::import(&context.session, request, &context.ui)?;
    report_left_out(&imported);
    context.present(&imported, json::answer, Human::imported)?;
    Ok(if imported.is_lost() { ExitStatus::User } else { ExitStatus::Success })
}

/// Reports the paths that were left out because they are not trusted.
fn report_left_out(imported: &Imported) {
    let (documents, folders) = (imported.num_without_file, imported.num_folders_left_out);
    if documents + folders > 0 {
        messages::info(&format!(
            "Left out the paths of {} and {}; `--trust-paths` imports them",
            counted(documents, "document"),
            counted(folders, "folder"),
        ));
    }
}
