//! Parses Markdown into blocks with their heading path (pulldown-cmark).
//!
//! The outermost elements become blocks, and each item of an outermost list is a separate block;
//! nested elements belong to one of them. Front matter, HTML comments, thematic breaks and link
//! definitions are in no block, nor what a dialect keeps for a program (`dialects`). A block is a range of the source with link references resolved.

mod dialects;
mod divs;
mod front_formats;
pub mod front_matter;
mod front_words;
mod resolve;
pub mod spell;
mod superseded;

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::document::{Block, BlockKind, Document, WordDestination};

/// Extensions of CommonMark that are read.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_WIKILINKS);

/// The deepest heading level that begins a section. A deeper heading is only a good place to begin a chunk, as what
/// is below it may be a few lines.
const MAX_SECTION_LEVEL: u8 = 3;

/// Longest heading in header chains, in characters. A paragraph may be a heading by mistake, and
/// every block below it repeats the heading.
const MAX_HEADING_CHARS: usize = 200;

/// Extracts the blocks, the title and the front matter of a Markdown text.
///
/// The title is the one in the front matter, else the first heading of level 1. A heading that is the
/// title is not in any header chain. A document with only front matter or comments becomes one block,
/// so that it can be found.
pub fn extract(text: &str) -> Document {
    let mut document = Document { text: text.to_owned(), has_lines: true, ..Document::default() };
    let body_start = front_matter::read(&mut document);
    let (text, notes) = dialects::without_notes(text, body_start);
    if !notes.is_empty() {
        document.metadata.words.get_or_insert_default().add(WordDestination::Markup, &notes);
    }
    let resolved = resolve::resolve(&text, body_start, OPTIONS);
    if matches!(text, Cow::Owned(_)) || matches!(resolved, Cow::Owned(_)) {
        document.text = resolved.clone().into_owned();
    }
    let text = resolved.as_ref();
    let mut pieces = find_pieces(text, body_start);
    if pieces.is_empty() && !text.trim().is_empty() {
        // The whole text becomes a block, which has these links.
        document.metadata.links.clear();
        pieces.push(UnplacedBlock {
            bytes: trim(text, 0..text.len()),
            kind: BlockKind::Paragraph,
            heading: None,
        });
    }
    set_title_and_blocks(&mut document, pieces, LeadingHeading::IsSection);
    document
}

/// The role of a heading of a lower level that precedes all other text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadingHeading {
    /// The title: in documents with pages, office files and mail, whose levels follow from their looks.
    IsTitle,
    /// The heading of the first section: levels are written by hand.
    IsSection,
}

/// Sets the title of a document, unless it has one, and its blocks.
pub fn set_title_and_blocks(
    document: &mut Document,
    pieces: Vec<UnplacedBlock>,
    lead: LeadingHeading,
) {
    let title_idx = find_title(&pieces, document, lead);
    document.blocks = to_blocks(pieces, title_idx);
}

/// Sets the blocks of a document whose headings do not state its title.
pub fn set_blocks(document: &mut Document, pieces: Vec<UnplacedBlock>) {
    document.blocks = to_blocks(pieces, None);
}

/// Shortens a text to this many characters, at a word if possible, and marks the cut with `…`.
pub fn shorten(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(max_chars) else { return text.to_owned() };
    let head = &text[..end];
    let is_word_end = text[end..].starts_with(char::is_whitespace);
    let cut = if is_word_end { Some(end) } else { head.rfind(char::is_whitespace) };
    // A word longer than half the limit is cut in the middle.
    let cut = cut.filter(|cut| *cut >= end / 2).unwrap_or(end);
    format!("{}…", head[..cut].trim_end())
}

/// A block whose header chain is not known yet.
pub struct UnplacedBlock {
    /// Its place in the text.
    pub bytes: Range<usize>,
    /// Its kind.
    pub kind: BlockKind,
    /// Level and plain text of a heading.
    pub heading: Option<(u8, String)>,
}

/// Visits the outermost elements of the body.
fn find_pieces(text: &str, body_start: usize) -> Vec<UnplacedBlock> {
    let text = &*divs::without_fences(text);
    let body = &text[body_start..];
    let mut pieces = Vec::new();
    let mut depth = 0_usize;
    let mut is_in_list = false;
    let mut heading: Option<HeadingText> = None;
    for (event, range) in Parser::new_ext(body, OPTIONS).into_offset_iter() {
        let range = range.start + body_start..range.end + body_start;
        if let Some(heading) = &mut heading {
            heading.read(&event);
        }
        match event {
            Event::Start(tag) => {
                // An item of an outermost list is a block; the list itself is not.
                let is_outermost = depth == 0 || (depth == 1 && is_in_list);
                if is_outermost {
                    let mut push = |kind| push_piece(&mut pieces, text, range.clone(), kind);
                    match tag {
                        Tag::List(_) => is_in_list = true,
                        Tag::Heading { level, .. } => {
                            push(BlockKind::Heading);
                            heading = Some(HeadingText::new(level));
                        }
                        Tag::Item => push(BlockKind::ListItem),
                        Tag::Table(_) => push(BlockKind::Table),
                        Tag::CodeBlock(_) => push(BlockKind::Code),
                        Tag::HtmlBlock => {
                            for range in without_comments(text, range) {
                                push_piece(&mut pieces, text, range, BlockKind::Paragraph);
                            }
                        }
                        _ => push(BlockKind::Paragraph),
                    }
                }
                depth += 1;
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    is_in_list = false;
                    if let (TagEnd::Heading(_), Some(heading)) = (tag, heading.take())
                        && let Some(piece) = pieces.last_mut()
                    {
                        piece.heading = Some(heading.finish());
                    }
                }
            }
            _ => {}
        }
    }
    pieces
}

fn push_piece(pieces: &mut Vec<UnplacedBlock>, text: &str, range: Range<usize>, kind: BlockKind) {
    let mut bytes = trim(text, range);
    if kind == BlockKind::Code {
        // The parser strips the indentation of the first line.
        let line_start = text[..bytes.start].rfind('\n').map_or(0, |end| end + 1);
        if text[line_start..bytes.start].trim().is_empty() {
            bytes.start = line_start;
        }
    }
    let is_after_last = pieces.last().is_none_or(|last| last.bytes.end <= bytes.start);
    if !bytes.is_empty() && is_after_last {
        pieces.push(UnplacedBlock { bytes, kind, heading: None });
    }
}

/// Removes white space from both ends of a range.
fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let inside = &text[range.clone()];
    let start = range.start + (inside.len() - inside.trim_start().len());
    start..start + inside.trim().len()
}

/// Returns the parts of an HTML block outside comments; an unclosed comment is text.
fn without_comments(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    let mut start = range.start;
    for comment in resolve::comments(text, range.clone()) {
        left.push(start..comment.start);
        start = comment.end;
    }
    left.push(start..range.end);
    left
}

/// Collects the plain text of a heading from the parser's events.
struct HeadingText {
    level: u8,
    plain: String,
    image_depth: usize,
    /// The alternative text of images; used only if there is no other text.
    alt: String,
}

impl HeadingText {
    fn new(level: HeadingLevel) -> Self {
        Self { level: level as u8, plain: String::new(), image_depth: 0, alt: String::new() }
    }

    fn read(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(Tag::Image { .. }) => self.image_depth += 1,
            Event::End(TagEnd::Image) => self.image_depth = self.image_depth.saturating_sub(1),
            Event::Text(text) | Event::Code(text) if self.image_depth == 0 => {
                self.plain.push_str(text);
            }
            Event::Text(text) | Event::Code(text) => self.alt.push_str(text),
            Event::SoftBreak | Event::HardBreak => self.plain.push(' '),
            _ => {}
        }
    }

    fn finish(self) -> (u8, String) {
        let plain = to_plain(&self.plain);
        (self.level, if plain.is_empty() { to_plain(&self.alt) } else { plain })
    }
}

/// Cleans a heading: single blanks, no `{#id}` at the end, limited length.
fn to_plain(text: &str) -> String {
    let mut text = text.trim();
    // The parser's extension is not used, as it treats `GET /users/{id}` as attributes.
    if text.ends_with('}')
        && let Some(open) = text.rfind('{')
        && text[open + 1..].trim_start().starts_with(['#', '.', ':'])
    {
        text = text[..open].trim_end();
    }
    to_heading(text)
}

/// Cleans a heading: single blanks, limited length.
pub fn to_heading(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(&text, MAX_HEADING_CHARS)
}

/// Sets the title and returns the piece that contains it, if that is a Markdown heading.
fn find_title(
    pieces: &[UnplacedBlock],
    document: &mut Document,
    lead: LeadingHeading,
) -> Option<usize> {
    let mut headings = pieces.iter().enumerate().filter_map(|(idx, piece)| {
        let (level, text) = piece.heading.as_ref()?;
        (!text.is_empty()).then_some((idx, *level, text))
    });
    let leading =
        headings.clone().next().filter(|(idx, ..)| lead == LeadingHeading::IsTitle && *idx == 0);
    let first_h1 = headings.find(|(_, level, _)| *level == 1);
    if let Some(title) = &document.title {
        // Many pages contain their title twice.
        let same = first_h1.filter(|(_, _, text)| text.to_lowercase() == title.to_lowercase());
        return same.map(|(idx, ..)| idx);
    }
    let first_html = pieces.iter().enumerate().find_map(|(idx, piece)| {
        html_title(&document.text[piece.bytes.clone()]).map(|title| (idx, title))
    });
    if let Some((html_idx, title)) = first_html
        && first_h1.is_none_or(|(idx, ..)| html_idx < idx)
    {
        document.title = Some(title);
        return None;
    }
    let (idx, _, title) = first_h1.or(leading)?;
    document.title = Some(title.clone());
    Some(idx)
}

/// Returns the text of `<h1>` if a block of HTML begins with one, as centred titles do.
fn html_title(html: &str) -> Option<String> {
    // Before a title are only the tags and pictures that centre and decorate it.
    const MAX_LEAD_BYTES: usize = 1000;
    if !html.starts_with('<') {
        return None;
    }
    let open = html.find("<h1").filter(|at| *at < MAX_LEAD_BYTES)?;
    let inside = &html[open + html[open..].find('>')? + 1..];
    let inside = &inside[..inside.find("</h1>")?];
    let mut plain = String::new();
    let mut is_in_tag = false;
    for letter in inside.chars() {
        match letter {
            '<' => is_in_tag = true,
            '>' if is_in_tag => is_in_tag = false,
            _ if !is_in_tag => plain.push(letter),
            _ => {}
        }
    }
    let plain = to_plain(&plain.replace("&amp;", "&").replace("&nbsp;", " "));
    (!plain.is_empty()).then_some(plain)
}

/// Adds the chain of headings to every piece.
fn to_blocks(pieces: Vec<UnplacedBlock>, title_idx: Option<usize>) -> Vec<Block> {
    let mut chain: Vec<(u8, String)> = Vec::new();
    let mut blocks = Vec::with_capacity(pieces.len());
    for (idx, piece) in pieces.into_iter().enumerate() {
        let mut starts_section = idx == 0;
        if let Some((level, text)) = piece.heading {
            chain.retain(|(above, _)| *above < level);
            if Some(idx) != title_idx && !text.is_empty() {
                chain.push((level, text));
            }
            starts_section |= level <= MAX_SECTION_LEVEL;
        }
        blocks.push(Block {
            bytes: piece.bytes,
            kind: piece.kind,
            headings: chain.iter().map(|(_, text)| text.clone()).collect(),
            symbol: None,
            context: None,
            page: None,
            starts_section,
        });
    }
    blocks
}

#[cfg(test)]
mod tests;
