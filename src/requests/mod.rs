//! Parses requests that programs write as JSON, and converts them to those of the use cases.
//!
//! There is one type for each command that a server offers and whose request is no such type. Its fields make up the
//! input schema, and its doc comments are the descriptions in it. Lines of `kb search --batch` are also such
//! requests.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::app::query::read::{ListRequest, SortKey};
use crate::app::query::search::{SearchRequest, SimilarRequest};
use crate::app::session::add_paths;
use crate::app::session::typed_dates::{DateLimit, TypedDate};
use crate::document::{DocumentKind, Filter, Language, UnknownName};
use crate::error::{Error, Result};
use crate::limits::{self, Limit};
use crate::search::LegSelection;
use crate::store::ChunkId;

pub(crate) use read::{GrepInput, InfoInput, OpenInput, OutlineInput, ShowInput};
pub(crate) use write::{AddInput, NoteInput, UpdateNoteInput, tags};

/// Which documents to look at.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct FilterInput {
    /// pdf, code, mail, docx...
    pub(crate) r#type: Option<String>,
    /// All of these
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) exclude_tags: Vec<String>,
    /// File, folder or id
    #[serde(default, deserialize_with = "one_or_several")]
    #[schemars(schema_with = "path_or_paths")]
    pub(crate) path: Vec<PathBuf>,
    /// Programming language
    pub(crate) language: Option<String>,
    /// 2026-05 or 7d
    pub(crate) since: Option<String>,
    /// Up to this date
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) until: Option<String>,
    /// Added on this date or later
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) added_since: Option<String>,
}

impl FilterInput {
    /// Converts the input to a filter; what it omits is as in `given`.
    fn over(self, given: &Filter) -> Result<Filter> {
        // A schema cannot express these rules, so they are checked here, as the command line does.
        let mut date_notes = Vec::new();
        let given = given.clone();
        let mut own = Filter::default();
        add_paths(&self.path, &mut own)?;
        if self.path.is_empty() {
            (own.paths, own.numbered) = (given.paths, given.numbered);
        }
        let notes = &mut date_notes;
        let since = date("since", self.since, TypedDate::since, notes)?.or(given.since);
        let until = date("until", self.until, TypedDate::until, notes)?.or(given.until);
        let added_since = date("added_since", self.added_since, TypedDate::added_since, notes)?;
        Ok(Filter {
            kind: self.r#type.and_then(|word| kind(&word).transpose()).transpose()?.or(given.kind),
            tags: either(tags(&self.tags)?, given.tags),
            excluded_tags: either(tags(&self.exclude_tags)?, given.excluded_tags),
            language: self.language.map(|word| language(&word)).transpose()?.or(given.language),
            since,
            until,
            added_since: added_since.or(given.added_since),
            date_notes: [given.date_notes, date_notes].concat(),
            paths: own.paths,
            numbered: own.numbered,
            excluded: given.excluded,
        })
    }
}

/// Reads the date in an argument, and adds what it means to the notes of a filter.
fn date(
    name: &str,
    typed: Option<String>,
    limit: fn(TypedDate) -> DateLimit,
    notes: &mut Vec<String>,
) -> Result<Option<String>> {
    let Some(typed) = typed else { return Ok(None) };
    let date = TypedDate::now(&typed).map_err(|error| of_argument(name, &error))?;
    Ok(Some(limit(date).noted(notes)))
}

/// Returns an error with the name of the argument that it is about.
fn of_argument(name: &str, error: &Error) -> Error {
    let named = Error::usage(format!("{name}: {error}"));
    match error.hint() {
        Some(hint) => named.with_hint(hint),
        None => named,
    }
}

/// Reads a path or the id of a document, a list of them, or null.
fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Paths {
        Several(Vec<Value>),
        One(Value),
    }
    Ok(match Option::<Paths>::deserialize(from)? {
        Some(Paths::One(path)) => vec![name(&path).into()],
        Some(Paths::Several(paths)) => paths.iter().map(|path| name(path).into()).collect(),
        None => Vec::new(),
    })
}

/// Returns a list, or the given one if it is empty.
fn either<T>(own: Vec<T>, given: Vec<T>) -> Vec<T> {
    if own.is_empty() { given } else { own }
}

/// Search the knowledge base.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchInput {
    /// Words, "a phrase" (dropped if in none), -excluded
    pub(crate) query: String,
    /// 2 or 3 other phrasings
    #[serde(default)]
    pub(crate) queries: Vec<String>,
    /// Default 10
    #[schemars(range(min = limits::TOP.min, max = limits::TOP.max))]
    pub(crate) top: Option<u32>,
    #[serde(flatten)]
    pub(crate) filter: FilterInput,
    /// Most results from one document
    #[schemars(range(min = limits::TOP.min, max = limits::TOP.max), extend("x-unlisted" = true))]
    pub(crate) per_doc: Option<u32>,
    /// Prefer newer: half life in days
    #[schemars(range(min = limits::RECENT.min, max = limits::RECENT.max))]
    pub(crate) recent: Option<u32>,
    /// Leave out results with a fused score below this
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) threshold: Option<f64>,
    /// For exact names
    #[serde(default)]
    pub(crate) fts_only: bool,
    /// Meaning only: when the words may differ
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) vec_only: bool,
    /// Tokens for all passages
    #[schemars(range(min = limits::BUDGET.min, max = limits::BUDGET.max))]
    pub(crate) budget: Option<u32>,
    /// Extend the text of each result by this many chunks before it and after it
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) context: u32,
}

impl SearchInput {
    /// Converts the input to a request; what it omits is as in `given`.
    pub(crate) fn over(self, given: &SearchRequest) -> Result<SearchRequest> {
        let given = given.clone();
        let legs = match (self.fts_only, self.vec_only) {
            (true, true) => {
                return Err(Error::usage("fts_only and vec_only exclude each other"));
            }
            (true, false) => Some(LegSelection::Keyword),
            (false, true) => Some(LegSelection::Vector),
            (false, false) => None,
        };
        Ok(SearchRequest {
            query: self.query,
            also: either(self.queries, given.also),
            limit: within(limits::TOP, self.top)?.or(given.limit),
            filter: self.filter.over(&given.filter)?,
            legs: legs.or(given.legs),
            threshold: self.threshold.or(given.threshold),
            per_document: within(Limit { name: "per_doc", ..limits::TOP }, self.per_doc)?
                .or(given.per_document),
            recent: within(limits::RECENT, self.recent)?.map(Some).or(given.recent),
            budget: within(limits::BUDGET, self.budget)?.or(given.budget),
            context: self.context.max(given.context),
            ..given
        })
    }
}

/// Find documents or chunks similar to a given one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimilarInput {
    /// Id, path or title
    #[serde(default)]
    #[schemars(schema_with = "id_or_name")]
    pub(crate) document: Option<Value>,
    /// Id; instead of a document
    pub(crate) chunk: Option<ChunkId>,
    /// Default 10
    #[schemars(range(min = limits::TOP.min, max = limits::TOP.max))]
    pub(crate) top: Option<u32>,
    #[serde(flatten)]
    pub(crate) filter: FilterInput,
}

impl TryFrom<SimilarInput> for SimilarRequest {
    type Error = Error;

    fn try_from(input: SimilarInput) -> Result<Self> {
        if input.document.is_some() == input.chunk.is_some() {
            return Err(Error::usage("name either a document or a chunk"));
        }
        Ok(Self {
            document: input.document.as_ref().map(name),
            chunk: input.chunk,
            limit: within(limits::TOP, input.top)?,
            filter: input.filter.over(&Filter::default())?,
        })
    }
}

/// List documents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListInput {
    #[serde(flatten)]
    pub(crate) filter: FilterInput,
    #[schemars(with = "Option<String>", extend("enum" = SortKey::ALL))]
    pub(crate) sort: Option<SortKey>,
    /// Default 50
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<u32>,
}

impl ListInput {
    /// Converts the input to a request for all documents that pass the filter.
    pub(crate) fn into_request(self) -> Result<ListRequest> {
        let filter = self.filter.over(&Filter::default())?;
        Ok(ListRequest { filter, sort: self.sort.unwrap_or_default(), ..ListRequest::default() })
    }
}

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoInput {}

/// Refuses a number out of range, as the command line does.
fn within(limit: Limit, number: Option<u32>) -> Result<Option<u32>> {
    match number.filter(|number| !limit.holds(*number)) {
        Some(number) => {
            let name = limit.name.trim_start_matches('-');
            Err(Error::usage(format!("{name} must be {}, not {number}", limit.range())))
        }
        None => Ok(number),
    }
}

/// Parses a type or a format; weaker models write `PDF` or an empty word.
fn kind(word: &str) -> Result<Option<DocumentKind>> {
    let word = word.trim().to_ascii_lowercase();
    if word.is_empty() {
        return Ok(None);
    }
    word.parse().map(Some).map_err(|unknown: UnknownName| {
        Error::usage(format!("unknown type `{word}`"))
            .with_hint(format!("known: {}", unknown.known.join(", ")))
    })
}

fn language(word: &str) -> Result<Language> {
    word.parse().map_err(|_| {
        Error::usage(format!("unknown language `{word}`"))
            .with_hint(format!("known: {}", Language::ALL.map(Language::as_str).join(", ")))
    })
}

/// Returns the schema of what is a number or a text: the id or name of a document, pages.
fn id_or_name(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["integer", "string"] })
}

/// Returns the schema of a path or a list of paths.
fn path_or_paths(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["string", "array"] })
}

/// Returns what is a number or a text as it would be typed.
pub(crate) fn name(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
