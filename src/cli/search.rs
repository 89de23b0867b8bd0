//! `kb search`.

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, context, model};
use crate::embed::Embedder;
use crate::error::Result;
use crate::present::json;
use crate::search;
use crate::search::{Legs, Query, SearchOptions, SearchResults};

pub(super) fn run(context: &Context, args: &args::Search) -> Result<ExitStatus> {
    let query = search::parse::parse(&args.query.join(" "))?;
    let settings = &context.config().search;
    let options = SearchOptions { is_explained: args.explain, ..options(context, &args.how)? };
    let results = answer(context, &query, &options)?;
    context.present(
        args.format.unwrap_or(settings.default_format),
        |out| json::search(&results, out),
        |human, out| human.search(&results, out),
    )?;
    Ok(ExitStatus::Success)
}

/// Turns flags and settings into what a search goes by.
pub(super) fn options(context: &Context, how: &args::How) -> Result<SearchOptions> {
    let settings = &context.config().search;
    Ok(SearchOptions {
        limit: how.top.unwrap_or(settings.default_top),
        filter: context::filter(&how.filter)?,
        legs: match (how.fts_only, how.vec_only) {
            (true, _) => Legs::Keyword,
            (_, true) => Legs::Vector,
            _ => Legs::Both,
        },
        rrf_k: settings.rrf_k,
        threshold: how.threshold,
        per_document: how.per_doc,
        is_explained: false,
    })
}

fn answer(context: &Context, query: &Query, options: &SearchOptions) -> Result<SearchResults> {
    let Some(store) = context.open_existing()? else {
        return Ok(SearchResults::empty(query));
    };
    let binding = store.binding()?;
    // A wrong model is said before anything is loaded, and also where the answer is empty.
    if options.legs != Legs::Keyword {
        model::check_wish(context, binding.as_ref())?;
    }
    let load = || -> Result<Box<dyn Embedder>> {
        model::wish(context, binding.as_ref())?.open_for_query(binding.as_ref())
    };
    let results = search::search(&store, &load, query, options)?;
    store.close()?;
    Ok(results)
}
