//! What the user typed in, a [`Query`] out. Pure; never fails on any input but an empty one.
//!
//! The syntax, all of it: words are alternatives that BM25 orders, `"an exact phrase"` stays
//! together, a leading `-` excludes a word or a phrase. Everything else is text.

use crate::error::{Error, Result};

/// A query, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The user's string, unchanged.
    pub typed: String,
    /// What the vector leg embeds: the words and phrases that are wanted, in order.
    pub passage: String,
    /// Words and phrases that are wanted; empty if none has a letter or a digit.
    pub wanted: Vec<String>,
    /// Words and phrases that must not occur.
    pub excluded: Vec<String>,
}

impl Query {
    /// Returns the FTS5 expression of the wanted terms; `None` if there is nothing to match.
    pub fn match_expr(&self) -> Option<String> {
        any_of(&self.wanted)
    }

    /// Returns the FTS5 expression of the excluded terms; `None` if nothing is excluded.
    pub fn excluded_expr(&self) -> Option<String> {
        any_of(&self.excluded)
    }
}

/// Takes apart what the user typed.
///
/// # Errors
///
/// [`Error::EmptyQuery`] if there is nothing but white space.
pub fn parse(typed: &str) -> Result<Query> {
    if typed.trim().is_empty() {
        return Err(Error::EmptyQuery);
    }
    let pieces = pieces(typed);
    let has_wanted = pieces.iter().any(|it| !it.is_excluded && is_searchable(&it.text));
    let mut query = Query {
        typed: typed.to_owned(),
        passage: String::new(),
        wanted: Vec::new(),
        excluded: Vec::new(),
    };
    let mut passage = Vec::new();
    for piece in pieces {
        // A query of exclusions only would match nothing: its words are then looked for.
        if piece.is_excluded && has_wanted {
            query.excluded.push(piece.text);
            continue;
        }
        passage.push(piece.text.clone());
        if is_searchable(&piece.text) && !query.wanted.contains(&piece.text) {
            query.wanted.push(piece.text);
        }
    }
    query.passage = passage.join(" ");
    if query.passage.is_empty() {
        query.passage = typed.trim().to_owned();
    }
    Ok(query)
}

/// A word or a phrase as typed.
struct Piece {
    text: String,
    is_excluded: bool,
}

/// Splits at white space, keeping what stands between two double quotes together.
fn pieces(typed: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut rest = typed.trim_start();
    while !rest.is_empty() {
        let (is_excluded, body) = match rest.strip_prefix('-') {
            Some(after) if after.starts_with(|it: char| it == '"' || it.is_alphanumeric()) => {
                (true, after)
            }
            _ => (false, rest),
        };
        let phrase = body
            .strip_prefix('"')
            .and_then(|after| after.split_once('"'))
            .filter(|(inner, _)| is_searchable(inner));
        let (text, after) = match phrase {
            Some((inner, after)) => (inner.trim(), after),
            None => body.split_at(body.find(char::is_whitespace).unwrap_or(body.len())),
        };
        if !text.is_empty() {
            found.push(Piece { text: text.to_owned(), is_excluded });
        }
        rest = after.trim_start();
    }
    found
}

/// Whether FTS5 makes at least one term of it; a quoted text of punctuation matches nothing.
fn is_searchable(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Joins quoted texts by OR. Quoting makes any text a string to FTS5, whatever it contains; a
/// text of several terms (`git-lfs`) becomes a phrase. NUL would end the string early.
fn any_of(texts: &[String]) -> Option<String> {
    let quoted: Vec<String> = texts
        .iter()
        .map(|it| format!("\"{}\"", it.replace('"', "\"\"").replace('\0', " ")))
        .collect();
    if quoted.is_empty() { None } else { Some(quoted.join(" OR ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, match_expr: &str, excluded_expr: &str, passage: &str) {
        let query = parse(typed).unwrap();
        assert_eq!(query.match_expr().unwrap_or_default(), match_expr);
        assert_eq!(query.excluded_expr().unwrap_or_default(), excluded_expr);
        assert_eq!(query.passage, passage);
        assert_eq!(query.typed, typed);
    }

    #[test]
    fn words_are_alternatives() {
        check("how to install", r#""how" OR "to" OR "install""#, "", "how to install");
    }

    #[test]
    fn a_phrase_stays_together() {
        check(
            r#"git "merge conflict" fix"#,
            r#""git" OR "merge conflict" OR "fix""#,
            "",
            "git merge conflict fix",
        );
    }

    #[test]
    fn a_leading_minus_excludes() {
        check(r#"git -svn -"bare repo""#, r#""git""#, r#""svn" OR "bare repo""#, "git");
    }

    #[test]
    fn an_option_with_two_dashes_is_a_word() {
        check("git commit --amend", r#""git" OR "commit" OR "--amend""#, "", "git commit --amend");
    }

    #[test]
    fn exclusions_alone_are_words() {
        check("-v", r#""v""#, "", "v");
    }

    #[test]
    fn special_characters_are_text() {
        check(
            "C++ what? a*b x:y (z",
            r#""C++" OR "what?" OR "a*b" OR "x:y" OR "(z""#,
            "",
            "C++ what? a*b x:y (z",
        );
        check(r#"say "unbalanced"#, r#""say" OR """unbalanced""#, "", r#"say "unbalanced"#);
        check("NEAR AND OR NOT", r#""NEAR" OR "AND" OR "OR" OR "NOT""#, "", "NEAR AND OR NOT");
    }

    #[test]
    fn punctuation_only_is_left_to_the_vectors() {
        check("?!? -- \"\"", "", "", "?!? -- \"\"");
    }

    #[test]
    fn a_repeated_word_counts_once() {
        check("git git", r#""git""#, "", "git git");
    }

    #[test]
    fn an_empty_query_is_refused() {
        assert!(matches!(parse(" \t\n"), Err(Error::EmptyQuery)));
    }

    proptest::proptest! {
        #[test]
        fn no_input_panics_and_quotes_are_balanced(typed in "\\PC{0,60}") {
            if let Ok(query) = parse(&typed) {
                let expr = query.match_expr().unwrap_or_default();
                proptest::prop_assert_eq!(expr.matches('"').count() % 2, 0);
            }
        }
    }
}
