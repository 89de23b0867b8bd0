//! Defines requests to show a document or a part of it, and for matching lines.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{FilterInput, id_or_name, name, within};
use crate::app::query::grep::{GREP_BUDGET, GrepDetail, GrepRequest, PatternOptions};
use crate::app::query::read::{OpenRequest, ShowRequest};
use crate::app::session::values;
use crate::document::{Filter, LineRange};
use crate::error::{Error, Result};
use crate::limits;
use crate::read::PartSelection;
use crate::store::ChunkId;

/// Show one document and its chunks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InfoInput {
    /// Id, path or title
    #[schemars(schema_with = "id_or_name")]
    pub(crate) document: Value,
}

/// List the parts of a document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutlineInput {
    /// Id, path or title
    #[schemars(schema_with = "id_or_name")]
    pub(crate) document: Value,
    pub(crate) level: Option<u32>,
}

/// Show a part of a document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShowInput {
    /// Id, path or title
    #[serde(default)]
    #[schemars(schema_with = "id_or_name")]
    pub(crate) document: Option<Value>,
    pub(crate) section: Option<String>,
    pub(crate) symbol: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "id_or_name")]
    pub(crate) page: Option<Value>,
    /// Id; no document needed
    pub(crate) chunk: Option<ChunkId>,
    /// Chunks around it
    #[serde(default)]
    pub(crate) around: u32,
    /// Most lines to show
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) max_lines: Option<u32>,
    /// Draw the page
    pub(crate) image: Option<bool>,
    /// Words to mark on it
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) mark: Option<String>,
}

impl TryFrom<ShowInput> for ShowRequest {
    type Error = Error;

    fn try_from(input: ShowInput) -> Result<Self> {
        let given = [
            input.section.is_some(),
            input.symbol.is_some(),
            input.page.is_some(),
            input.chunk.is_some(),
        ];
        if given.into_iter().filter(|is_given| *is_given).count() > 1 {
            return Err(Error::usage("section, symbol, page and chunk exclude each other"));
        }
        if input.document.is_none() && input.chunk.is_none() {
            return Err(Error::usage("give the argument `document`"));
        }
        let selection = if let Some(heading) = input.section {
            PartSelection::Section(heading)
        } else if let Some(symbol) = input.symbol {
            PartSelection::Symbol(symbol)
        } else if let Some(page) = input.page {
            let pages = values::pages(&name(&page))
                .map_err(|reason| Error::usage(format!("page: {reason}")))?;
            PartSelection::Pages(pages)
        } else if let Some(id) = input.chunk {
            PartSelection::Chunk(id, input.around)
        } else {
            PartSelection::Whole
        };
        Ok(Self {
            within: None,
            document: input.document.as_ref().map(name),
            selection,
            max_lines: input.max_lines,
        })
    }
}

/// Show the file of a document.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenInput {
    /// Id, path or title
    #[schemars(schema_with = "id_or_name")]
    pub(crate) document: Value,
    pub(crate) start_line: Option<NonZeroU32>,
    pub(crate) end_line: Option<NonZeroU32>,
    /// Most lines to show
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) max_lines: Option<u32>,
}

impl TryFrom<OpenInput> for OpenRequest {
    type Error = Error;

    fn try_from(input: OpenInput) -> Result<Self> {
        let first = input.start_line.map_or(1, NonZeroU32::get);
        let last = input.end_line.map_or(u32::MAX, NonZeroU32::get);
        let lines = LineRange::new(first, last)
            .ok_or_else(|| Error::usage("start_line comes after end_line"))?;
        let is_part = input.start_line.or(input.end_line).is_some();
        let lines = is_part.then_some(lines);
        let document = name(&input.document);
        let max_lines = input.max_lines;
        Ok(Self { document, lines, max_lines })
    }
}

/// Find every line that matches a pattern.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepInput {
    /// Regular expression
    pub(crate) pattern: String,
    #[serde(default)]
    pub(crate) fixed_strings: bool,
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) ignore_case: bool,
    /// Match whole words
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) word_regexp: bool,
    #[serde(default)]
    pub(crate) count: bool,
    /// Names of documents only
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) files_with_matches: bool,
    /// Lines before and after
    #[serde(default)]
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) context: u32,
    /// Default 1000
    #[schemars(range(min = limits::BUDGET.min, max = limits::BUDGET.max))]
    #[schemars(extend("x-unlisted" = true))]
    pub(crate) budget: Option<u32>,
    #[serde(flatten)]
    pub(crate) filter: FilterInput,
}

impl GrepInput {
    /// Returns the most tokens of the answer as text.
    pub(crate) fn budget(&self) -> Result<usize> {
        Ok(within(limits::BUDGET, self.budget)?.unwrap_or(GREP_BUDGET) as usize)
    }

    /// Converts the input to a request.
    pub(crate) fn into_request(self) -> Result<GrepRequest> {
        let detail = match (self.files_with_matches, self.count, self.context) {
            (true, false, 0) => GrepDetail::Name,
            (false, true, 0) => GrepDetail::Count,
            (false, false, context) => GrepDetail::Lines(context as usize),
            _ => {
                return Err(Error::usage(
                    "count, files_with_matches and context exclude each other",
                ));
            }
        };
        Ok(GrepRequest {
            pattern: self.pattern,
            options: PatternOptions {
                is_fixed: self.fixed_strings,
                ignores_case: self.ignore_case,
                is_word: self.word_regexp,
            },
            filter: self.filter.over(&Filter::default())?,
            detail,
        })
    }
}
