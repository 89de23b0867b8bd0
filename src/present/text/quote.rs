//! Writes hits for pasting and for other programs: Markdown with citations, `path:line`, and paths for
//! `xargs -0`.

use std::collections::HashSet;
use std::io;

use crate::document::{CHAIN_SEPARATOR, DocType, PageRange};
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::stale;
use crate::search::Hit;
use crate::text::number::counted;
use crate::text::paths::{self, shown_text};
use crate::text::printable::{clean, clean_lines};
use crate::text::shell;

/// Characters that are markup in a Markdown title.
const MARKUP: &str = "\\`*[]<~";

/// Writes one location per line: `path:line` if lines are known, else the path, or the URI of a document
/// without a file. Paths are quoted for a shell.
pub fn paths<'a>(
    hits: impl IntoIterator<Item = &'a Hit>,
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    for hit in hits {
        let Location { word, line } = location(hit);
        writeln!(out, "{word}{line}")?;
    }
    Ok(())
}

/// Returns each path once, ending in a zero byte. Documents without a file are left out.
pub fn null<'a>(hits: impl IntoIterator<Item = &'a Hit>) -> Vec<u8> {
    let mut seen = HashSet::new();
    let mut bytes = Vec::new();
    for path in hits.into_iter().filter_map(|hit| hit.stored.path.as_deref()) {
        if seen.insert(path) {
            let path = paths::path_of(path);
            bytes.extend_from_slice(path.as_os_str().as_encoded_bytes());
            bytes.push(0);
        }
    }
    bytes
}

/// Writes a passage as Markdown: the citation, then the text, quoted or, if it is code, fenced.
pub(super) fn markdown(hit: &Hit, ids: &str, out: &mut CleanWriter<'_>) -> io::Result<()> {
    writeln!(out, "{} {ids}\n", citation(hit))?;
    body(hit, out)
}

/// Says how many near duplicates of a hit were left out.
pub(super) fn copies(count: u32) -> String {
    format!("{} left out", counted(count, "near duplicate"))
}

/// Writes the text of a hit, quoted or, if it is code, fenced.
fn body(hit: &Hit, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let text = clean_lines(&hit.stored.chunk.chunk.text);
    if hit.stored.doc_type == DocType::Code {
        return fenced(hit, &text, out);
    }
    for line in text.lines() {
        writeln!(out, "{}", format!("> {line}").trim_end())?;
    }
    Ok(())
}

/// Writes the text of a hit: one line is quoted, more lines are fenced, which takes fewer tokens. The heading that
/// [`part`] names is not repeated.
pub(super) fn brief(hit: &Hit, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let text = clean_lines(&hit.stored.chunk.chunk.text);
    let text = text.trim_end();
    let text = match text.split_once("\n\n") {
        Some((first, rest)) if is_heading_of(hit, first) => rest.trim_start_matches('\n'),
        _ => text,
    };
    if text.contains('\n') || hit.stored.doc_type == DocType::Code {
        fenced(hit, text, out)
    } else {
        writeln!(out, "> {text}")
    }
}

/// Whether a line is the last heading of a hit's section.
fn is_heading_of(hit: &Hit, line: &str) -> bool {
    let section = hit.at.section.as_deref().unwrap_or_default();
    let last = section.rsplit(CHAIN_SEPARATOR).next().unwrap_or_default();
    is_heading(line, &clean(last))
}

/// Whether a line is a heading, which a document may number in one of both places only.
fn is_heading(line: &str, heading: &str) -> bool {
    !bare(heading).is_empty() && bare(line) == bare(heading)
}

/// Returns a heading without its marks and number.
fn bare(heading: &str) -> &str {
    heading
        .trim_start_matches('#')
        .trim_start_matches(|c: char| c.is_ascii_digit() || ". ".contains(c))
        .trim_end()
}

fn fenced(hit: &Hit, text: &str, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let fence = fence(text);
    let language = hit.stored.language.as_deref().unwrap_or_default();
    let language: String =
        language.chars().filter(|c| c.is_alphanumeric() || "+#-".contains(*c)).collect();
    writeln!(out, "{fence}{language}\n{text}\n{fence}")
}

/// Returns title, page or section or symbol, and location. Markup in titles and headings is escaped, so
/// they cannot imitate another part; the last parentheses hold the location.
pub(crate) fn citation(hit: &Hit) -> String {
    let Location { word, line } = location(hit);
    format!("{} ({}{line})", named(hit), plain_or_verbatim(&word))
}

/// Returns the id of a hit's document.
pub(super) fn id(hit: &Hit) -> String {
    let base = hit.base.as_ref().map(|base| format!(", base {base}")).unwrap_or_default();
    format!("document {}{base}", hit.stored.document_id)
}

/// Whether two hits are of the same document.
pub(super) fn is_of_same_document(one: &Hit, other: &Hit) -> bool {
    (&one.base, one.stored.document_id) == (&other.base, other.stored.document_id)
}

/// Names the document of a hit: its title, or its path if another document has that title, and its id.
pub(super) fn document(hit: &Hit) -> String {
    let name = match &hit.stored.path {
        Some(path) if hit.shares_title => verbatim(&shown_text(path)),
        _ => format!("**{}**", escaped(&clean(&hit.stored.title))),
    };
    format!("{name}, {}", id(hit))
}

/// Returns where in its document a hit is: page or line, the last heading if it is new to the reader, symbol.
pub(super) fn part(hit: &Hit, has_new_section: bool) -> String {
    let at = &hit.at;
    let mut parts: Vec<String> = at.pages.map(pages).into_iter().collect();
    if parts.is_empty() {
        parts.extend(cited_line(hit).map(|line| format!("line {line}")));
    }
    let section = at.section.as_deref().filter(|_| has_new_section);
    let last = section.and_then(|section| section.rsplit(CHAIN_SEPARATOR).next());
    parts.extend(last.map(|heading| format!("§ {}", escaped(&clean(heading)))));
    parts.extend(at.symbol.as_deref().map(|text| verbatim(&clean(text))));
    parts.extend(marks(hit));
    parts.join(", ")
}

/// Returns the shortest form of a place: `p.3`, `pp.4-8` if it is not known which of them, `:12`, or nothing. A
/// document with pages has no lines.
pub(crate) fn short_place(line: Option<u32>, pages: Option<PageRange>) -> String {
    match (pages, line) {
        (Some(pages), _) if pages.is_single() => format!("p.{pages}"),
        (Some(pages), _) => format!("pp.{pages}"),
        (None, Some(line)) => format!(":{line}"),
        (None, None) => String::new(),
    }
}

/// Returns [`short_place`] as it is written behind a path.
pub(crate) fn behind_path(line: Option<u32>, pages: Option<PageRange>) -> String {
    let gap = if pages.is_some() { " " } else { "" };
    format!("{gap}{}", short_place(line, pages))
}

/// Returns one page or several, as in a citation.
pub(super) fn pages(pages: PageRange) -> String {
    if pages.is_single() { format!("p. {pages}") } else { format!("pp. {pages}") }
}

fn plain_or_verbatim(word: &str) -> String {
    let is_plain = !word.starts_with(['\'', '"']) && escaped(word) == word;
    if is_plain { word.to_owned() } else { verbatim(word) }
}

/// Returns title, page or section or symbol.
fn named(hit: &Hit) -> String {
    let at = &hit.at;
    let mut parts = vec![format!("**{}**", escaped(&clean(&hit.stored.title)))];
    parts.extend(at.pages.map(pages));
    parts.extend(at.section.as_deref().map(|text| format!("§ {}", escaped(&clean(text)))));
    parts.extend(at.symbol.as_deref().map(|text| verbatim(&clean(text))));
    parts.extend(marks(hit));
    parts.join(", ")
}

/// Returns the marks of a hit that a reader should see before citing it: its document is out of date,
/// its file is a conflict copy, or has changed.
fn marks(hit: &Hit) -> Vec<String> {
    let superseded = hit.stored.superseded.as_ref().map(|mark| escaped(&clean(&mark.describe())));
    let stale = hit.stale.map(|stale| stale::mark(stale).to_owned());
    // Emphasis cannot come from a title or heading, where it would be escaped.
    let conflict = hit.conflict_of.as_ref().map(|_| "conflict copy".to_owned());
    [superseded, conflict, stale].into_iter().flatten().map(|mark| format!("*{mark}*")).collect()
}

struct Location {
    /// The path quoted for a shell, or the URI of a document without a file.
    word: String,
    /// `:` and the line, if known.
    line: String,
}

fn location(hit: &Hit) -> Location {
    let Some(path) = &hit.stored.path else {
        let base = hit.base.as_ref().map(|base| format!("base/{base}/")).unwrap_or_default();
        let word = format!("kb://{base}document/{}", hit.stored.document_id);
        return Location { word, line: String::new() };
    };
    let line = short_place(cited_line(hit), None);
    Location { word: shell::word(&paths::path_of(path)), line }
}

/// Returns the line to cite. Lines are counted in the document, which is only a part of a container.
fn cited_line(hit: &Hit) -> Option<u32> {
    let path = hit.stored.path.as_deref()?;
    hit.at.line.filter(|_| paths::split_member(path).1.is_none())
}

/// Escapes Markdown markup; `_` inside a word is not markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        let is_in_word = [before, chars.peek().copied()]
            .iter()
            .all(|c| c.is_some_and(|c| c.is_alphanumeric() || c == '_'));
        if MARKUP.contains(c) || c == '_' && !is_in_word {
            escaped.push('\\');
        }
        escaped.push(c);
        before = Some(c);
    }
    escaped
}

/// Returns text as a code span, with as many backticks as necessary.
fn verbatim(text: &str) -> String {
    let ticks = "`".repeat(longest_ticks(text) + 1);
    // Markdown strips one space at each end if both exist.
    let edges = ['`', ' '];
    let space = if text.starts_with(edges) || text.ends_with(edges) { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

/// Returns the length of the longest run of backticks.
fn longest_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns a fence that is longer than any run of backticks in a text.
fn fence(text: &str) -> String {
    "`".repeat(longest_ticks(text).max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heading_of_a_section_is_known_with_its_number() {
        for (line, heading, expected) in [
            ("# Setup", "Setup", true),
            ("9.3.2 Writing the scripts", "Writing the scripts", true),
            ("Writing the scripts", "9.3.2 Writing the scripts", true),
            ("Python 3", "Python 2", false),
            ("Setup of the gauge", "Setup", false),
            ("12", "", false),
        ] {
            assert_eq!(is_heading(line, heading), expected, "{line}");
        }
    }

    #[test]
    fn a_fence_is_longer_than_any_in_its_text() {
        assert_eq!(fence("a"), "```");
        assert_eq!(fence("``` x ````"), "`````");
    }

    #[test]
    fn markup_in_a_title_is_escaped_and_ordinary_titles_are_not() {
        for (title, expected) in [
            ("Tide station handbook", "Tide station handbook"),
            ("my_file_name (draft) v1.2, 5 > 3 & more", "my_file_name (draft) v1.2, 5 > 3 & more"),
            ("X**, p. 3 (/etc/passwd) **x", "X\\*\\*, p. 3 (/etc/passwd) \\*\\*x"),
            ("_a_ [b](c) `d` <!-- \\", "\\_a\\_ \\[b\\](c) \\`d\\` \\<!-- \\\\"),
        ] {
            assert_eq!(escaped(title), expected);
        }
    }

    #[test]
    fn verbatim_text_is_not_interpreted() {
        for (text, expected) in
            [("f", "`f`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), (" a ", "`  a  `")]
        {
            assert_eq!(verbatim(text), expected);
        }
    }
}
