//! `kb list`.

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, context};
use crate::document::Filter;
use crate::error::Result;
use crate::present::json;
use crate::store::ListedDocument;

pub(super) fn run(context: &Context, args: &args::List) -> Result<ExitStatus> {
    let documents = documents(context, args)?;
    let is_filtered = context::filter(&args.filter)? != Filter::default();
    context.present(
        args.format.format,
        |out| json::list(&documents, out),
        |human, out| human.list(&documents, is_filtered, out),
    )?;
    Ok(ExitStatus::Success)
}

pub(super) fn documents(context: &Context, args: &args::List) -> Result<Vec<ListedDocument>> {
    match context.open_existing()? {
        Some(store) => store.documents(&context::filter(&args.filter)?),
        None => Ok(Vec::new()),
    }
}
