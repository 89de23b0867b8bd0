//! Chooses the form of an answer: compact text, in pages, or all the data.
//!
//! Every tool accepts the arguments `detail` and `cursor`. Few calls need them, so only `kb_search` lists the first;
//! the text that has a next page says how to get it.

use std::io;

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::present::terminal::sheet::CleanWriter;
use crate::server::{Schema, ToolReply, UNLISTED};
use crate::text::json::{Json, JsonLine};
use crate::text::tokens;

/// Estimated tokens of the longest page.
pub(super) const PAGE: usize = 6_000;

/// Estimated tokens of the longest page of a list that only leads to texts: below 4,000 as models count.
pub(super) const SHORT_PAGE: usize = 3_600;

/// Estimated tokens of the longest page of skills: below 2,000 as models count.
pub(super) const LIST_PAGE: usize = 1_900;

/// Estimated tokens of the longest answer with all data, which has no pages.
const MAX_DATA: usize = 12_000;

const DETAIL: &str = "detail";
const CURSOR: &str = "cursor";

/// The form that a call wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReplyOptions {
    /// Whether all data is wanted instead of text.
    pub(super) is_full: bool,
    /// Where to go on; 0 for the beginning.
    pub(super) cursor: usize,
}

impl ReplyOptions {
    /// Removes the arguments that choose the form from the input.
    pub(super) fn take(input: &mut Value) -> Self {
        let Some(input) = input.as_object_mut() else {
            return Self { is_full: false, cursor: 0 };
        };
        let is_full = input.remove(DETAIL).is_some_and(|detail| detail == "full");
        let cursor = input.remove(CURSOR).and_then(|cursor| cursor.as_u64());
        Self { is_full, cursor: cursor.and_then(|at| usize::try_from(at).ok()).unwrap_or(0) }
    }

    /// Adds the arguments that choose the form to a schema.
    pub(super) fn declare(schema: &mut Schema, lists_detail: bool) {
        let properties = schema.entry("properties").or_insert_with(|| Map::new().into());
        let Some(properties) = properties.as_object_mut() else { return };
        let mut detail = json!({ "type": "string", "enum": ["compact", "full"] });
        if !lists_detail {
            detail[UNLISTED] = true.into();
        }
        properties.insert(DETAIL.into(), detail);
        properties
            .insert(CURSOR.into(), json!({ "type": "integer", "minimum": 0, UNLISTED: true }));
    }

    /// Returns the data or a page of the text, as wanted.
    pub(super) fn reply<T: ?Sized>(
        self,
        max_tokens: usize,
        result: &T,
        data: impl FnOnce(&T, &mut Json<'_>) -> io::Result<()>,
        text: impl FnOnce(&T, &mut CleanWriter<'_>) -> io::Result<()>,
    ) -> Result<ToolReply> {
        if self.is_full {
            return whole(Json::value_of(|out| data(result, out)).map_err(Error::Output)?);
        }
        self.page(max_tokens, &drawn(|out| text(result, out))?)
    }

    /// Returns the error that no page begins at the cursor.
    pub(super) fn no_page(self) -> Error {
        Error::usage(format!("no page begins at cursor {}", self.cursor))
            .with_hint("use the cursor of the previous page, or none for the first page")
    }

    /// Returns the page of a text that begins at the cursor.
    pub(super) fn page(self, max_tokens: usize, text: &str) -> Result<ToolReply> {
        let page = tokens::page(text, self.cursor, max_tokens);
        let (page, next) = page.ok_or_else(|| self.no_page())?;
        let mut page = page.to_owned();
        if let Some(next) = next {
            let percent = next * 100 / text.len();
            let end = if page.ends_with('\n') { "" } else { "\n" };
            page +=
                &format!("{end}[{percent} % shown; the same call with cursor {next} continues]");
        }
        Ok(ToolReply { text: Some(page.trim_end().to_owned()), ..ToolReply::default() })
    }
}

/// Returns what `write` writes for models.
pub(super) fn drawn(write: impl FnOnce(&mut CleanWriter<'_>) -> io::Result<()>) -> Result<String> {
    let mut bytes = Vec::new();
    write(&mut CleanWriter::new(&mut bytes)).map_err(Error::Output)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns all data in one answer.
pub(super) fn whole(data: Value) -> Result<ToolReply> {
    if fits(&data)? {
        return Ok(data.into());
    }
    Err(Error::usage("the answer with all details is too long")
        .with_hint("leave out detail, which gives pages, or ask for less"))
}

/// Whether data fits into one answer.
pub(super) fn fits(data: &Value) -> Result<bool> {
    let line = JsonLine::of(data).map_err(Error::Output)?;
    Ok(tokens::estimate(line.as_str()) <= MAX_DATA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_taken_out_of_the_input() {
        let mut input = json!({ "query": "x", "detail": "full", "cursor": 7 });
        assert_eq!(ReplyOptions::take(&mut input), ReplyOptions { is_full: true, cursor: 7 });
        assert_eq!(input, json!({ "query": "x" }));
        let mut input = json!({ "detail": "compact" });
        assert_eq!(ReplyOptions::take(&mut input), ReplyOptions { is_full: false, cursor: 0 });
    }

    #[test]
    fn pages_lead_to_the_end_of_a_text() {
        let text = "A line of the text.\n".repeat(400);
        let (mut cursor, mut all, mut num_pages) = (0, String::new(), 0);
        loop {
            let reply = ReplyOptions { is_full: false, cursor }.page(500, &text).unwrap();
            let page = reply.text.unwrap();
            num_pages += 1;
            let Some((body, rest)) = page.split_once("\n[") else {
                all += &page;
                break;
            };
            all += body;
            all.push('\n');
            let next = rest.split_once("cursor ").unwrap().1.split(' ').next().unwrap();
            cursor = next.parse().unwrap();
        }
        assert_eq!(all, text.trim_end());
        assert!(num_pages > 3, "{num_pages}");
        assert!(ReplyOptions { is_full: false, cursor: 9_999 }.page(500, &text).is_err());
    }

    #[test]
    fn the_form_is_declared_and_only_the_detail_may_be_listed() {
        for lists_detail in [true, false] {
            let mut schema = Schema::new();
            ReplyOptions::declare(&mut schema, lists_detail);
            let properties = &schema["properties"];
            assert_eq!(properties[DETAIL]["enum"], json!(["compact", "full"]));
            assert_eq!(properties[DETAIL][UNLISTED] == true, !lists_detail);
            assert_eq!(
                properties[CURSOR],
                json!({ "type": "integer", "minimum": 0, UNLISTED: true })
            );
        }
    }

    #[test]
    fn an_answer_is_all_data_or_a_page_of_the_text() {
        let reply = |is_full, cursor| {
            ReplyOptions { is_full, cursor }.reply(
                PAGE,
                "x",
                |given, out| out.value(&given),
                |given, out| writeln!(out, "text of {given}"),
            )
        };
        assert_eq!(reply(true, 0).unwrap(), ToolReply::from(json!("x")));
        let text = Some("text of x".to_owned());
        assert_eq!(reply(false, 0).unwrap(), ToolReply { text, ..ToolReply::default() });
        assert!(reply(false, 99).is_err());
    }

    #[test]
    fn a_page_says_how_much_was_shown() {
        let text = "A line.\n".repeat(100);
        let page =
            ReplyOptions { is_full: false, cursor: 0 }.page(100, &text).unwrap().text.unwrap();
        let (body, rest) = page.split_once("\n[").unwrap();
        let percent = (body.len() + 1) * 100 / text.len();
        let next = body.len() + 1;
        assert_eq!(rest, format!("{percent} % shown; the same call with cursor {next} continues]"));
    }

    #[test]
    fn data_that_is_too_long_is_refused() {
        assert!(whole(json!(["short"])).is_ok());
        assert!(whole(json!(vec!["a few words"; 9_000])).is_err());
    }
}
