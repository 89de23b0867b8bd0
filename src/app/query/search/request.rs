//! Describes a search as a user asks for it.

use crate::app::Session;
use crate::app::query::freshness::Freshness;
use crate::document::Filter;
use crate::error::{Error, Result};
use crate::limits;
use crate::search::evidence::FormCost;
use crate::search::{self, LegSelection, Query, Recency, SearchOptions, TermStatistics};

/// The half life that a search has if it asks for newer documents and neither it nor the settings say more.
const HALF_LIFE_DAYS: u32 = 30;

/// A search request. The settings supply omitted values.
#[derive(Debug, Clone, Default)]
pub struct SearchRequest {
    /// The query as typed.
    pub query: String,
    /// Other phrasings of it; each leg ranks by the average of all.
    pub also: Vec<String>,
    /// Hits to return; by default `search.default_top`.
    pub limit: Option<u32>,
    /// Documents to search.
    pub filter: Filter,
    /// Rankings to use; by default both.
    pub legs: Option<LegSelection>,
    /// Lowest fused score to return.
    pub threshold: Option<f64>,
    /// Most hits of one document.
    pub per_document: Option<u32>,
    /// Half life in days of the preference for newer documents, 0 for none: `Some(None)` asks for that of the settings,
    /// or 30 days if they have none; `None` is as the settings say.
    pub recent: Option<Option<u32>>,
    /// The day from which ages count; that of the newest document that passes the filter if it is `None`.
    pub newest: Option<String>,
    /// Statistics of the query's terms in the other knowledge bases that are searched.
    pub elsewhere: TermStatistics,
    /// Whether near copies of better hits are included.
    pub keeps_copies: bool,
    /// Whether hits include the contribution of each term.
    pub is_explained: bool,
    /// Most tokens of all passages together; without a budget, the answer is hits instead of passages.
    pub budget: Option<u32>,
    /// The tokens that the form of the answer adds to the passages, if the budget includes it.
    pub form: Option<FormCost>,
    /// Chunks to add before and after each hit.
    pub context: u32,
    /// The treatment of hits whose files have changed; `search.freshness` if it is `None`.
    pub freshness: Option<Freshness>,
    /// Fewest hits to request, even if `limit` is smaller.
    pub least: u32,
    /// URL of a copy in PostgreSQL to search instead of the database.
    pub from: Option<String>,
}

impl SearchRequest {
    /// Parses the query and its other phrasings.
    pub(crate) fn phrasings(&self) -> Result<Vec<Query>> {
        if self.also.len() >= limits::PHRASINGS {
            return Err(Error::usage(format!(
                "a search takes at most {} phrasings, not {}",
                limits::PHRASINGS,
                self.also.len() + 1
            )));
        }
        [&self.query]
            .into_iter()
            .chain(&self.also)
            .map(|typed| search::parse::parse(typed))
            .collect()
    }

    /// Whether passages are collected from the hits.
    pub(crate) fn gathers(&self) -> bool {
        self.budget.is_some() || self.context > 0
    }

    pub(crate) fn options(&self, session: &Session) -> SearchOptions {
        let settings = &session.config().search;
        let half_life_days = match self.recent {
            Some(None) if settings.half_life_days == 0 => HALF_LIFE_DAYS,
            Some(Some(days)) => days,
            Some(None) | None => settings.half_life_days,
        };
        SearchOptions {
            limit: self.limit.unwrap_or(settings.default_top).max(self.least),
            filter: self.filter.clone(),
            legs: self.legs.unwrap_or(LegSelection::Both),
            rrf_k: settings.rrf_k,
            compares_tokens: session.config().embedding.token_vectors,
            threshold: self.threshold,
            per_document: self.per_document,
            recency: (half_life_days > 0)
                .then(|| Recency { half_life_days, newest: self.newest.clone() }),
            keeps_copies: self.keeps_copies,
            is_explained: self.is_explained,
            elsewhere: self.elsewhere.clone(),
        }
    }
}
