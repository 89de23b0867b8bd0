//! Runs `kb convert`.

use crate::app;
use crate::app::add::Source;
use crate::app::convert::{ConvertRequest, Converted};
use crate::cli::args::DocumentFormat;
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::cli::{add, args, messages};
use crate::error::{Error, Result};
use crate::present::json;
use crate::present::text::convert;
use crate::text::json::Json;

pub(super) fn run(context: &Context, args: &args::Convert) -> Result<ExitStatus> {
    let source = match args.paths.as_slice() {
        [only] if only.as_os_str() == add::STDIN => {
            Source::Bytes(add::read_stdin(context.config().ingestion.max_file_mb.into())?)
        }
        paths => Source::Paths(paths.to_vec()),
    };
    let request = ConvertRequest {
        source,
        output: args.output.clone(),
        extension: match args.format {
            DocumentFormat::Md => "md",
            DocumentFormat::Json => "json",
        },
        pages: args.pages,
        doc_type: args.doc_type,
        language: args.language,
        password: args.password.clone(),
    };
    let (session, ui) = (&context.session, &context.ui);
    if app::convert::is_printed(&request)? {
        let converted = app::convert::one(session, &request, ui)?;
        context.show_bytes(&rendered(&converted, args)?)?;
        return Ok(ExitStatus::Success);
    }
    let interrupt = ui.listen();
    let render = |converted: &Converted| rendered(converted, args);
    let report = ended(app::convert::to_folder(session, &request, &render, ui), &interrupt)?;
    if args.format == DocumentFormat::Json {
        context::print_json(|out| json::conversion(&report, out))?;
    }
    messages::info(&convert::summary(&report));
    Ok(if report.is_success() { ExitStatus::Success } else { ExitStatus::User })
}

/// Returns a document in the requested format.
fn rendered(converted: &Converted, args: &args::Convert) -> Result<Vec<u8>> {
    if args.format == DocumentFormat::Md {
        return Ok(convert::document(converted, args.page_marks).into_bytes());
    }
    let mut bytes = Vec::new();
    json::converted(converted, &mut Json::new(&mut bytes)).map_err(Error::Output)?;
    Ok(bytes)
}
