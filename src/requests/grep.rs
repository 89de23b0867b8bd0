//! Defines requests for matching lines.

use schemars::JsonSchema;
use serde::Deserialize;

use super::FilterInput;
use crate::app::grep::{Detail, GrepRequest, PatternOptions};
use crate::error::{Error, Result};

/// Find every line that matches a pattern.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepInput {
    /// Regular expression
    pub(crate) pattern: String,
    #[serde(default)]
    pub(crate) fixed_strings: bool,
    #[serde(default)]
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
    #[serde(flatten)]
    pub(crate) filter: FilterInput,
}

impl GrepInput {
    /// Converts the input to a request.
    pub(crate) fn into_request(self) -> Result<GrepRequest> {
        let detail = match (self.files_with_matches, self.count, self.context) {
            (true, false, 0) => Detail::Name,
            (false, true, 0) => Detail::Count,
            (false, false, context) => Detail::Lines(context as usize),
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
            filter: self.filter.try_into()?,
            detail,
        })
    }
}
