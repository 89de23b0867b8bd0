//! Finds the headings, sections and links of a Markdown text (pulldown-cmark).
//!
//! What CommonMark calls a heading is one, wherever it stands: ATX or setext, in a quotation or a
//! list. What is in code, in an HTML comment or in front matter is none.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// A heading and the lines of its section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its plain text, on one line; empty for an empty heading.
    pub text: String,
    /// Line of the heading, from 1.
    pub start_line: usize,
    /// Line of the next heading of the same level or a higher one, or one past the last line.
    pub end_line: usize,
}

/// A link to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// As written, without what is after a blank.
    pub target: String,
    /// From 1.
    pub line: usize,
}

/// A heading and the bytes of its section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpannedHeading {
    /// 1 to 6.
    pub level: u8,
    /// Its plain text, on one line; empty for an empty heading.
    pub text: String,
    /// From the heading's line to before the next one of the same level or a higher one.
    pub bytes: Range<usize>,
}

/// Returns the headings of a Markdown text without front matter, in order.
pub fn headings(text: &str) -> Vec<SpannedHeading> {
    let page = Page::new(text.to_owned(), 0);
    let spanned = |it: Heading| SpannedHeading {
        bytes: page.line_start(it.start_line)..page.line_start(it.end_line),
        level: it.level,
        text: it.text,
    };
    page.headings().into_iter().map(spanned).collect()
}

/// A Markdown text, with its lines.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its text without byte order mark and zero bytes, line ends as they are.
    pub text: String,
    /// Where its front matter ends, in bytes.
    body_start: usize,
    /// Where each line begins, in bytes.
    line_starts: Vec<usize>,
}

impl Page {
    /// Takes a text, whose front matter ends at the byte `body_start`.
    pub fn new(text: String, body_start: usize) -> Self {
        let line_starts = line_starts(text.as_bytes());
        Self { text, body_start, line_starts }
    }

    /// Returns how many lines there are.
    pub fn num_lines(&self) -> usize {
        self.line_starts.len()
    }

    /// Returns the lines from one to before another, both from 1; cut to what there is.
    pub fn lines(&self, lines: Range<usize>) -> &str {
        let start = self.line_start(lines.start);
        let end = self.line_start(lines.end);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the text before the first heading, front matter not among it.
    pub fn preamble(&self, headings: &[Heading]) -> &str {
        let end = headings.first().map_or(self.text.len(), |it| self.line_start(it.start_line));
        self.text.get(self.body_start..end).unwrap_or_default()
    }

    /// Returns the headings in order.
    pub fn headings(&self) -> Vec<Heading> {
        let mut headings: Vec<Heading> = Vec::new();
        let mut open: Option<(Range<usize>, u8, String)> = None;
        let body = &self.text[self.body_start..];
        for (event, range) in Parser::new_ext(body, Options::empty()).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    open = Some((range, level as u8, String::new()));
                }
                Event::End(TagEnd::Heading(_)) => {
                    if let Some((range, level, text)) = open.take() {
                        let start_line = self.line_of(self.body_start + range.start);
                        let text = plain(&text);
                        headings.push(Heading { level, text, start_line, end_line: 0 });
                    }
                }
                Event::Text(part) | Event::Code(part) => {
                    if let Some((_, _, text)) = &mut open {
                        text.push_str(&part);
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some((_, _, text)) = &mut open {
                        text.push(' ');
                    }
                }
                _ => {}
            }
        }
        close(&mut headings, self.num_lines() + 1);
        headings
    }

    /// Returns the links and images in order; neither bare addresses nor links without a target.
    pub fn links(&self) -> Vec<Link> {
        let body = &self.text[self.body_start..];
        Parser::new_ext(body, Options::empty())
            .into_offset_iter()
            .filter_map(|(event, range)| match event {
                Event::Start(
                    Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
                ) if !matches!(link_type, LinkType::Autolink | LinkType::Email) => {
                    let line = self.line_of(self.body_start + range.start);
                    Some(Link { target: dest_url.into_string(), line })
                }
                _ => None,
            })
            .collect()
    }

    /// Returns the line a byte is in, from 1.
    fn line_of(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= byte)
    }

    /// Returns where a line begins; the end of the text for one past the last.
    fn line_start(&self, line: usize) -> usize {
        let idx = line.saturating_sub(1);
        self.line_starts.get(idx).copied().unwrap_or(self.text.len())
    }
}

/// Returns the text of a heading on one line, without control characters.
pub fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(char::is_control, "\u{FFFD}")
}

/// Returns where each line begins. A line ends with `\n`, `\r\n` or a lone `\r`, as CommonMark has
/// it; nothing after the last line end is no line.
pub fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        starts.push(start);
        let Some(end) = bytes[start..].iter().position(|it| matches!(it, b'\n' | b'\r')) else {
            break;
        };
        let is_pair = bytes[start + end..].starts_with(b"\r\n");
        start += end + if is_pair { 2 } else { 1 };
    }
    starts
}

/// Settles where each section ends; `end` is one past the last line.
fn close(headings: &mut [Heading], end: usize) {
    // Line of the next heading of each level or a higher one, going backwards.
    let mut next = [end; 6];
    for heading in headings.iter_mut().rev() {
        let level = usize::from(heading.level).clamp(1, 6);
        heading.end_line = next[level - 1];
        next[level - 1..].fill(heading.start_line);
    }
}

#[cfg(test)]
mod tests;
