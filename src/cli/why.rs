//! `kb why`.

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, model, read, search};
use crate::embed::Embedder;
use crate::error::Result;
use crate::present::why;
use crate::search as searching;

pub(super) fn run(context: &Context, args: &args::Why) -> Result<ExitStatus> {
    let query = searching::parse::parse(&args.query)?;
    let options = search::options(context, &args.how)?;
    let (store, document) = read::find(context, &args.document)?;
    let binding = store.binding()?;
    let load = || -> Result<Box<dyn Embedder>> {
        model::wish(context, binding.as_ref())?.open_for_query(binding.as_ref())
    };
    let journey = searching::why(&store, &load, &query, document.id, &options)?;
    store.close()?;
    context.present(
        args.format.format,
        |out| why::json(&query.typed, &document, &journey, out),
        |human, out| why::human(human, &document, &journey, out),
    )?;
    Ok(ExitStatus::Success)
}
