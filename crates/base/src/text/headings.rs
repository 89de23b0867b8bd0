//! Finds the headings, sections and links of a Markdown text (pulldown-cmark).
//!
//! Recognises all headings of CommonMark, ATX or setext, also in quotations and lists, but not in
//! code, HTML comments or front matter.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// A heading and the lines of its section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// From 1 to 6.
    pub level: u8,
    /// Its plain text, on one line; empty for an empty heading.
    pub text: String,
    /// Its lines, from 1: up to the next heading of the same or a higher level.
    pub lines: Range<usize>,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// Its target as written, up to the first blank.
    pub target: String,
    /// Its line, from 1.
    pub line: usize,
}

/// A Markdown text with its lines.
#[derive(Debug, Clone)]
pub struct MarkdownPage {
    /// Its text without byte order mark and zero bytes, with unchanged line ends.
    pub text: String,
    /// The end of its front matter, in bytes.
    body_start: usize,
    /// The start of each line, in bytes.
    line_starts: Vec<usize>,
}

impl MarkdownPage {
    /// Creates a page from a text whose front matter ends at the byte `body_start`.
    pub fn new(text: String, body_start: usize) -> Self {
        let line_starts = line_starts(text.as_bytes());
        Self { text, body_start, line_starts }
    }

    /// Returns the number of lines.
    pub fn num_lines(&self) -> usize {
        self.line_starts.len()
    }

    /// Returns a range of lines, counted from 1, cut to the existing ones.
    pub fn lines(&self, lines: Range<usize>) -> &str {
        let start = self.line_start(lines.start);
        let end = self.line_start(lines.end);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the text before the first heading, without front matter.
    pub fn preamble(&self, headings: &[Heading]) -> &str {
        let end = headings
            .first()
            .map_or(self.text.len(), |heading| self.line_start(heading.lines.start));
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
                        let line = self.line_of(self.body_start + range.start);
                        let text = plain(&text);
                        headings.push(Heading { level, text, lines: line..line + 1 });
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

    /// Returns the bytes of a heading's section, with the heading.
    pub fn bytes(&self, heading: &Heading) -> Range<usize> {
        self.line_start(heading.lines.start)..self.line_start(heading.lines.end)
    }

    /// Returns the links and images in order, without bare addresses and links without a target.
    pub fn links(&self) -> Vec<PageLink> {
        let body = &self.text[self.body_start..];
        Parser::new_ext(body, Options::empty())
            .into_offset_iter()
            .filter_map(|(event, range)| match event {
                Event::Start(
                    Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
                ) if !matches!(link_type, LinkType::Autolink | LinkType::Email) => {
                    let line = self.line_of(self.body_start + range.start);
                    Some(PageLink { target: dest_url.into_string(), line })
                }
                _ => None,
            })
            .collect()
    }

    /// Returns the line of a byte, from 1.
    fn line_of(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= byte)
    }

    /// Returns the start of a line; the end of the text for one past the last line.
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

/// Returns the start of each line. A line ends with `\n`, `\r\n` or a single `\r`, as in
/// CommonMark; an empty rest after the last line end is not a line.
pub fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        starts.push(start);
        let Some(end) = bytes[start..].iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            break;
        };
        let is_pair = bytes[start + end..].starts_with(b"\r\n");
        start += end + if is_pair { 2 } else { 1 };
    }
    starts
}

/// Sets the end of each section; `end` is one past the last line.
fn close(headings: &mut [Heading], end: usize) {
    // Headings are visited backwards. `next` has the line of the next heading of each level (1 to 6) or a higher one.
    let mut next = [end; 6];
    for heading in headings.iter_mut().rev() {
        let level = usize::from(heading.level).clamp(1, 6);
        heading.lines.end = next[level - 1];
        next[level - 1..].fill(heading.lines.start);
    }
}
