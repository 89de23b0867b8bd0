//! Finds the sections of a skill that match a query.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::caller::Caller;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::index;
use crate::place::Skill;
use crate::store::skills::index::SkillHit;
use crate::text::fold::fold;

/// The query, and the number of sections to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSearchOptions {
    /// As typed; every word of it must be in a section.
    pub query: String,
    /// Largest number of sections to return.
    pub limit: u32,
}

/// The sections of a skill that contain all words of the query.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SkillResults {
    /// The query, unchanged.
    pub query: String,
    /// Best first.
    #[serde(rename = "results")]
    pub hits: Vec<SkillHit>,
}

/// Searches a skill.
pub(super) fn search(
    caller: &Caller,
    skill: &Skill,
    options: &SkillSearchOptions,
) -> Result<SkillResults> {
    let index = index::open(caller, skill)?;
    let match_expr = match_expr(&options.query).ok_or(Diagnostic::EmptyQuery)?;
    let hits = index.search(&match_expr, options.limit).ok_or_else(|| index::unusable(skill))?;
    Ok(SkillResults { query: options.query.clone(), hits })
}

/// Returns the FTS5 expression that requires every word; `None` if there is none.
///
/// ASCII blanks and line ends separate words. Each word is quoted, so nothing in it is syntax; FTS5
/// splits its punctuation as it split that of the text. A repeated word is included once: the
/// sections are the same, and FTS5 takes minutes to rank by a word given 300 times.
fn match_expr(query: &str) -> Option<String> {
    let mut seen = HashSet::new();
    let words: Vec<String> = query
        .split([' ', '\t', '\n', '\r'])
        .filter(|word| !word.is_empty() && seen.insert(fold(word)))
        // A zero byte would end the expression in the middle of a quotation.
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"").replace('\0', "\u{FFFD}")))
        .collect();
    if words.is_empty() { None } else { Some(words.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: Option<&str>) {
        assert_eq!(match_expr(query).as_deref(), expected);
    }

    #[test]
    fn every_word_is_quoted_and_required() {
        check("configure authentication", Some(r#""configure" "authentication""#));
        check(r#"my "special" app"#, Some(r#""my" """special""" "app""#));
        check("\t a \r\n b ", Some(r#""a" "b""#));
    }

    #[test]
    fn a_repeated_word_is_included_once() {
        check("the gauge The the", Some(r#""the" "gauge""#));
    }

    #[test]
    fn only_ascii_blanks_separate_words() {
        check("a\u{a0}b c\u{3000}d", Some("\"a\u{a0}b\" \"c\u{3000}d\""));
    }

    #[test]
    fn a_query_of_blanks_is_empty() {
        check("", None);
        check(" \t\r\n", None);
        check("\u{a0}", Some("\"\u{a0}\""));
    }

    #[test]
    fn a_zero_byte_does_not_end_the_query() {
        check("a\0b", Some("\"a\u{fffd}b\""));
    }
}
