//! `kb search` and `kb similar`; many queries at once are in `batch`.

use std::io;

use crate::cli::args::SearchFormat;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::launch::Place;
use crate::cli::model::Warm;
use crate::cli::{args, batch, context, launch, model, read, streams, voice};
use crate::document::Binding;
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::limits;
use crate::present::json;
use crate::present::text::quote;
use crate::search;
use crate::search::evidence::{Evidence, EvidenceOptions, gather};
use crate::search::similar::{Seed, SimilarOptions};
use crate::search::{Hit, LegSelection, SearchOptions, SearchResults};
use crate::store::Store;
use crate::text::json::Json;

/// Hits that are looked at to fill a budget. Up to here the order of hits does not depend on how
/// many are asked for.
const BUDGET_DEPTH: u32 = 100;

/// The answer to a query in the form that was asked for.
pub(super) enum Found {
    /// Chunks.
    Hits(SearchResults),
    /// Passages with their tokens.
    Passages(Evidence),
}

impl Found {
    /// Returns the best hit of each chunk or passage.
    fn hits(&self) -> Vec<&Hit> {
        match self {
            Self::Hits(results) => results.hits.iter().collect(),
            Self::Passages(evidence) => evidence.passages.iter().map(|it| &it.hit).collect(),
        }
    }

    /// Writes it as JSON.
    pub(super) fn write(&self, out: &mut Json<'_>) -> io::Result<()> {
        match self {
            Self::Hits(results) => json::search(results, out),
            Self::Passages(evidence) => json::evidence(evidence, out),
        }
    }
}

pub(super) fn run(context: &Context, args: &args::Search) -> Result<ExitStatus> {
    if args.null && args.format != Some(SearchFormat::Paths) {
        return Err(Error::Usage {
            message: "`--null` needs `--format paths`".into(),
            hint: Some("`kb search --format paths -0 QUERY | xargs -0 ls`".into()),
        });
    }
    let warm = Warm::default();
    if let Some(file) = &args.batch {
        return batch::run(context, &warm, args, file);
    }
    let found = answer(context, &warm, args)?;
    warm.close()?;
    if let Some(number) = args.open {
        return open(context, &found, number);
    }
    let format = args.format.unwrap_or_else(|| context.config().search.default_format.into());
    match format {
        SearchFormat::Json => context::print_json(|out| found.write(out)),
        SearchFormat::Jsonl => context::print_json(|out| match &found {
            Found::Hits(results) => json::hit_lines(&results.hits, out),
            Found::Passages(evidence) => json::passage_lines(&evidence.passages, out),
        }),
        SearchFormat::Human => context.show(|human, out| match &found {
            Found::Hits(results) => human.search(results, out),
            Found::Passages(evidence) => human.evidence(evidence, out),
        }),
        SearchFormat::Paths if args.null => streams::bytes(&quote::null(found.hits())),
        SearchFormat::Paths => streams::text(|out| quote::paths(found.hits(), out)),
        SearchFormat::Md => streams::text(|out| quote::markdown(found.hits(), out)),
    }?;
    Ok(ExitStatus::Success)
}

/// Opens a result, counted from 1, where its words are.
fn open(context: &Context, found: &Found, number: u32) -> Result<ExitStatus> {
    let hits = found.hits();
    let hit = hits.get(number as usize - 1).ok_or_else(|| Error::Usage {
        message: format!("there is no result {number}: {} found", hits.len()),
        hint: None,
    })?;
    let unknown = || Error::UnknownDocument { id: hit.stored.document_id.to_string() };
    let store = context.open_existing()?.ok_or_else(unknown)?;
    let path = read::file(context, &store, hit.stored.document_id, hit.stored.path.as_deref())?;
    store.close()?;
    let typed = match found {
        Found::Hits(results) => &results.typed,
        Found::Passages(evidence) => &evidence.typed,
    };
    let (line, page) = (context.human.line(hit, typed), hit.stored.chunk.chunk.page);
    launch::open(context, Place { path: &path, line, page })?;
    Ok(ExitStatus::Success)
}

/// Turns flags and settings into what a search goes by.
pub(super) fn options(context: &Context, how: &args::How) -> Result<SearchOptions> {
    let settings = &context.config().search;
    Ok(SearchOptions {
        limit: how.top.unwrap_or(settings.default_top),
        filter: context::filter(&how.filter)?,
        legs: match (how.fts_only, how.vec_only) {
            (true, _) => LegSelection::Keyword,
            (_, true) => LegSelection::Vector,
            _ => LegSelection::Both,
        },
        rrf_k: settings.rrf_k,
        threshold: how.threshold,
        per_document: how.per_doc,
        keeps_copies: how.copies,
        is_explained: false,
    })
}

/// Answers one query.
pub(super) fn answer(context: &Context, warm: &Warm, args: &args::Search) -> Result<Found> {
    let query = search::parse::parse(&args.query.join(" "))?;
    if query.is_cut {
        voice::warn(&format!(
            "only the first {} distinct words of the query are looked for as keywords",
            limits::QUERY_TERMS
        ));
    }
    let mut options = SearchOptions { is_explained: args.explain, ..options(context, &args.how)? };
    options.limit = options.limit.max(args.open.unwrap_or(0));
    let budget = args.budget.map(|it| it as usize);
    if budget.is_some() || args.context > 0 {
        check_top(args.how.top)?;
    }
    if budget.is_some() {
        options.limit = options.limit.max(BUDGET_DEPTH);
    }
    let Some(store) = warm.store(context)? else {
        let nothing = SearchResults::empty(&query);
        return Ok(match budget {
            None if args.context == 0 => Found::Hits(nothing),
            budget => Found::Passages(Evidence::empty(nothing, budget)),
        });
    };
    let binding = store.binding()?;
    // A wrong model is said before anything is loaded, and also where the answer is empty.
    if options.legs != LegSelection::Keyword {
        model::check_wish(context, binding.as_ref())?;
    }
    let load =
        || -> Result<Box<dyn Embedder>> { Ok(Box::new(warm.get(context, binding.as_ref())?)) };
    let results = search::search(&store, &load, &query, &options)?;
    let found = if budget.is_some() || args.context > 0 {
        let wanted = EvidenceOptions {
            context: args.context,
            budget,
            limit: args.how.top.map(|it| it as usize),
        };
        let is_loaded = options.legs != LegSelection::Keyword;
        Found::Passages(gathered(
            context,
            warm,
            &store,
            results,
            wanted,
            binding.as_ref(),
            is_loaded,
        )?)
    } else {
        Found::Hits(results)
    };
    warm.give_back(store);
    Ok(found)
}

/// Refuses to make passages of more results than can be compared with each other in a moment.
fn check_top(top: Option<u32>) -> Result<()> {
    let most = limits::TOP_OF_PASSAGES;
    match top.filter(|top| *top > most) {
        Some(top) => Err(Error::Usage {
            message: format!("`--top` is at most {most} with `--context` or `--budget`, not {top}"),
            hint: None,
        }),
        None => Ok(()),
    }
}

/// Gathers passages, counting tokens by the model that is loaded, or by its tokenizer alone.
fn gathered(
    context: &Context,
    warm: &Warm,
    store: &Store,
    results: SearchResults,
    options: EvidenceOptions,
    bound: Option<&Binding>,
    is_loaded: bool,
) -> Result<Evidence> {
    if is_loaded && bound.is_some() {
        let embedder = warm.get(context, bound)?;
        return gather(store, results, options, Some(&|it| embedder.num_tokens(it)));
    }
    match model::tokenizer(context, bound) {
        Some(tokenizer) => gather(store, results, options, Some(&|it| tokenizer.num_tokens(it))),
        None => gather(store, results, options, None),
    }
}

pub(super) fn similar(context: &Context, args: &args::Similar) -> Result<ExitStatus> {
    let (seed, hits) = similar_to(context, args)?;
    context.present(
        args.format.format,
        |out| json::similar(seed, &hits, out),
        |human, out| human.similar(&hits, out),
    )?;
    Ok(ExitStatus::Success)
}

/// Finds what is like a document or a chunk.
pub(super) fn similar_to(context: &Context, args: &args::Similar) -> Result<(Seed, Vec<Hit>)> {
    let (store, seed) = match (args.chunk, &args.document) {
        (Some(id), _) => (read::of_chunk(context, id)?.0, Seed::Chunk(id)),
        (None, typed) => {
            let (store, document) = read::find(context, typed.as_deref().unwrap_or_default())?;
            (store, Seed::Document(document.id))
        }
    };
    let settings = &context.config().search;
    let options = SimilarOptions {
        limit: args.top.unwrap_or(settings.default_top) as usize,
        filter: context::filter(&args.filter)?,
        rrf_k: settings.rrf_k,
    };
    let hits = search::similar::similar(&store, seed, &options)?;
    store.close()?;
    Ok((seed, hits))
}
