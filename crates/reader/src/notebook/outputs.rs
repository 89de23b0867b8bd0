//! Writes the short results of a cell as Markdown: printed text, values, tables.
//!
//! Pictures and long results are left out: they are the largest part of a notebook and have the
//! least content.

use serde_json::Value;

use crate::document::{WordAccount, WordDestination};
use crate::text::markdown::fenced;

/// Longest result that is read. A printed table of 60 rows is shorter, a log is longer.
const MAX_CHARS: usize = 4_000;

/// Most lines of a result that is read: what Jupyter shows without scrolling is 24 to 100.
const MAX_LINES: usize = 60;

/// Longest table in HTML that is read, in bytes; its tags are many times its text, whose length is checked later.
const MAX_HTML_BYTES: usize = 100_000;

/// Most lines of an error message. The traceback is left out.
const MAX_ERROR_LINES: usize = 4;

/// Begins an escape sequence of a terminal.
const ESCAPE: u8 = 0x1B;

/// Converts a web page to Markdown; `None` if it cannot be read.
pub(crate) type PageConverter<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Returns a text, or its lines including line ends; empty for anything else.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => {
            lines.iter().map(Value::as_str).collect::<Option<_>>().unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Returns a result as Markdown; empty if there is nothing to read, or too much, which is counted.
pub(super) fn markdown(
    output: &Value,
    read_page: &PageConverter<'_>,
    left_out: &mut WordAccount,
) -> String {
    let of = |name: &str| text(&output[name]);
    let (text, max_lines) = match output["output_type"].as_str() {
        Some("error" | "pyerr") => {
            let message = format!("{}: {}", of("ename"), of("evalue"));
            // The message has two fences around it.
            (fenced("", &printed(&message)), MAX_ERROR_LINES + 2)
        }
        Some("stream") => (fenced("", &printed(&of("text"))), MAX_LINES),
        _ => (best(&forms(output), read_page), MAX_LINES),
    };
    if text.len() <= MAX_CHARS && text.lines().count() <= max_lines {
        return text;
    }
    left_out.add(WordDestination::TooLong, &text);
    String::new()
}

/// Returns the forms of a value: HTML, Markdown, LaTeX and plain text. In nbformat 3, the result itself has them.
fn forms(output: &Value) -> [String; 4] {
    match output.get("data") {
        Some(data) => {
            ["text/html", "text/markdown", "text/latex", "text/plain"].map(|kind| text(&data[kind]))
        }
        None => ["html", "markdown", "latex", "text"].map(|kind| text(&output[kind])),
    }
}

/// Returns the form of a value that keeps most of the structure.
fn best(forms: &[String; 4], read_page: &PageConverter<'_>) -> String {
    let [html, markdown, latex, plain] = forms;
    let is_table = html.contains("<table");
    let is_only_html = markdown.trim().is_empty() && plain.trim().is_empty();
    if (is_table || is_only_html) && html.len() <= MAX_HTML_BYTES && !html.trim().is_empty() {
        let page = read_page(html).filter(|text| !text.trim().is_empty());
        if let Some(page) = page.filter(|text| !is_table || text.contains('|')) {
            return page;
        }
    }
    match (markdown.trim(), latex.trim()) {
        ("", "") if is_description(plain) => String::new(),
        ("", "") => fenced("", &printed(plain)),
        ("", latex) => latex.to_owned(),
        (markdown, _) => markdown.to_owned(),
    }
}

/// Whether a value is only the description of an object, as of a figure:
/// `<Figure size 640x480 with 1 Axes>`.
fn is_description(plain: &str) -> bool {
    let plain = plain.trim();
    plain.starts_with('<') && plain.ends_with('>') || plain.contains(" at 0x")
}

/// Returns text as a terminal shows it: without escape sequences, and of a line that was printed
/// over only its last state.
fn printed(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(char::from(ESCAPE)) {
        plain.push_str(before);
        let body = after.strip_prefix('[').unwrap_or(after);
        let end = body.find(|c: char| c.is_ascii_alphabetic()).map_or(body.len(), |at| at + 1);
        rest = &body[end..];
    }
    plain.push_str(rest);
    plain.split('\n').map(last_state).collect::<Vec<_>>().join("\n")
}

/// Returns the visible rest of a line that was printed over.
fn last_state(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expected: &str) {
        let output = serde_json::from_str(output).unwrap();
        let read_page = |html: &str| html.contains("<td>").then(|| "| a |\n| --- |".to_owned());
        assert_eq!(markdown(&output, &read_page, &mut WordAccount::default()), expected);
    }

    #[test]
    fn printed_text_is_read_as_a_terminal_shows_it() {
        check(r#"{"output_type": "stream", "text": ["a\n", "b\n"]}"#, "```\na\nb\n```");
        check(
            r#"{"output_type": "stream", "text": "\u001b[31mred\u001b[0m\n 1 %\r50 %\r\n"}"#,
            "```\nred\n50 %\n```",
        );
        check(r#"{"output_type": "stream", "text": " \n"}"#, "");
        check(r#"{"output_type": "stream", "text": {"a": 1}}"#, "");
        check(r#"{"output_type": "stream", "text": "\u001b["}"#, "");
    }

    #[test]
    fn the_form_with_most_structure_is_read() {
        let value = |data: &str| format!(r#"{{"output_type": "execute_result", "data": {data}}}"#);
        let table = r#"{"text/html": "<table><td>a</table>", "text/plain": "a  b"}"#;
        check(&value(table), "| a |\n| --- |");
        // A page that cannot be read, or without a table.
        check(&value(r#"{"text/html": "<table>", "text/plain": ["a  b"]}"#), "```\na  b\n```");
        check(&value(r#"{"text/html": "<b>", "text/plain": "a"}"#), "```\na\n```");
        check(&value(r#"{"text/latex": "$x$", "text/plain": "x"}"#), "$x$");
        check(&value(r#"{"text/markdown": "*x*", "text/latex": "$x$"}"#), "*x*");
        check(&value(r#"{"image/png": "iVBOR", "text/plain": "<Figure size 2x2>"}"#), "");
        check(&value(r#"{"text/plain": "[<Line2D at 0x7f1c>]"}"#), "");
        check(&value("{}"), "");
    }

    #[test]
    fn long_results_and_tracebacks_are_left_out() {
        let lines = |num| vec!["\"words\\n\""; num].join(", ");
        let stream = |num| format!(r#"{{"output_type": "stream", "text": [{}]}}"#, lines(num));
        check(&stream(MAX_LINES), "");
        let output = serde_json::from_str(&stream(MAX_LINES - 2)).unwrap();
        assert!(!markdown(&output, &|_| None, &mut WordAccount::default()).is_empty());
        check(
            r#"{"output_type": "error", "ename": "ValueError", "evalue": "no tide", "traceback": ["a"]}"#,
            "```\nValueError: no tide\n```",
        );
        check(r#"{"output_type": "error", "ename": "E", "evalue": "a\nb\nc\nd\ne"}"#, "");
    }
}
