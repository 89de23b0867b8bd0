//! Reads the entries of a feed (RSS, Atom): their texts are web pages, and are read as such.
//!
//! Everything else that an entry says is a line with its name, so that nothing is lost.

use crate::characters::visible_text;
use crate::document::{BlockKind, Document, WordAccount};
use crate::html;
use crate::writer::BlockWriter;
use crate::xml::{self, Element, XmlEvent};

use super::prose::{LineNumbers, ProseWriter};

/// The level of the heading of an entry: below the title of the feed.
const ENTRY_LEVEL: u8 = 2;

/// Deepest level of a heading in Markdown.
const MAX_LEVEL: u8 = 6;

/// How far from the start a feed has its root, in bytes: behind a declaration, comments and style sheets.
const ROOT_WITHIN_BYTES: usize = 4096;

/// Reads a feed; `None` for any other document, and for one that is damaged.
pub(super) fn extract(text: &str) -> Option<Document> {
    let head = &text[..text.floor_char_boundary(ROOT_WITHIN_BYTES)];
    ["<rss", "<feed", "RDF"].iter().find(|root| head.contains(*root))?;
    let mut reader = FeedReader { xml: text, ..FeedReader::default() };
    xml::each_at(text, |event, at| match event {
        XmlEvent::Open(element) => reader.open(element, at),
        XmlEvent::Text(words) => reader.text(words),
        XmlEvent::Close(_) => reader.close(at),
    })
    .ok()?;
    let (feed, entries) = (reader.feed, reader.entries);
    if !reader.is_feed || entries.is_empty() {
        return None;
    }
    let lines = LineNumbers::of(text);
    let (mut writer, mut left_out) = (ProseWriter::default(), WordAccount::default());
    writer.title(&plain(&feed.title));
    feed.write(&lines, &mut writer, &mut left_out);
    for entry in entries {
        writer.heading(
            lines.at(entry.at),
            ENTRY_LEVEL,
            &format!("{} {}", marks(ENTRY_LEVEL), plain(&entry.title)),
        );
        entry.write(&lines, &mut writer, &mut left_out);
    }
    let mut document = writer.finish()?;
    document.metadata.words = Some(left_out);
    Some(document)
}

/// Returns text without elements as a piece of a web page.
fn to_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('\n', "<br>")
}

fn marks(level: u8) -> String {
    "#".repeat(level.into())
}

/// The contents of a feed or of one of its entries.
#[derive(Default)]
struct FeedEntry {
    /// Where it is in the file.
    at: usize,
    title: String,
    /// Each of its pages, and where it is.
    pages: Vec<(usize, String)>,
    /// Everything else: the line with its name, and where it is.
    facts: Vec<(usize, String)>,
}

impl FeedEntry {
    fn write(self, lines: &LineNumbers, writer: &mut ProseWriter, left_out: &mut WordAccount) {
        let start = self.facts.first().map_or(self.at, |(at, _)| *at);
        let facts: Vec<String> = self.facts.into_iter().map(|(_, fact)| fact).collect();
        writer.block(lines.at(start), BlockKind::Paragraph, &facts.join("\n"));
        let pages = self.pages.into_iter().map(|(at, page)| {
            let mut written = BlockWriter::default();
            html::write_message(&page, &mut written);
            (at, written.page(1))
        });
        let pages: Vec<_> = pages.collect();
        let letters: Vec<String> = pages
            .iter()
            .map(|(_, page)| page.blocks.iter().flat_map(|block| block.text.chars()))
            .map(|text| text.filter(|letter| letter.is_alphanumeric()).collect())
            .collect();
        for (idx, (at, page)) in pages.into_iter().enumerate() {
            if is_repeated(&letters, idx) {
                continue;
            }
            left_out.merge(&page.left_out);
            for block in page.blocks {
                let line = lines.at(at);
                if block.level > 0 {
                    let level = (block.level + ENTRY_LEVEL).min(MAX_LEVEL);
                    let words = block.text.trim_start_matches('#').trim();
                    writer.heading(line, level, &format!("{} {words}", marks(level)));
                } else {
                    writer.block(line, block.kind, &block.text);
                }
            }
        }
    }
}

/// Whether another page has the letters of this one, as a summary is often the beginning of the text. The first of
/// several equal pages is not repeated.
fn is_repeated(letters: &[String], idx: usize) -> bool {
    (0..letters.len()).any(|other| {
        other != idx
            && letters[other].contains(&letters[idx])
            && (letters[other].len() > letters[idx].len() || other < idx)
    })
}

/// Returns a title, which may be a piece of a web page, on one line.
fn plain(title: &str) -> String {
    if !title.contains(['<', '&']) {
        return title.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let mut writer = BlockWriter::default();
    html::write_message(title, &mut writer);
    let blocks = writer.page(1).blocks;
    let text: Vec<&str> = blocks.iter().flat_map(|block| block.text.split_whitespace()).collect();
    text.join(" ")
}

/// Whether an element with this name is a page, or a piece of one.
fn is_page(name: &str) -> bool {
    matches!(name, "description" | "summary" | "content" | "encoded" | "subtitle")
}

/// An element whose text is read.
struct FeedElement {
    name: String,
    /// How deep it is.
    depth: usize,
    at: usize,
    text: String,
    /// Where its content begins, if that is elements: a page of XHTML.
    page_from: Option<usize>,
    /// Whether it is text without elements, as an Atom feed declares.
    is_plain: bool,
    /// The address that it has instead of a text.
    address: Option<String>,
    /// Where its content begins.
    content_at: usize,
}

/// Collects the contents of a feed.
#[derive(Default)]
struct FeedReader<'a> {
    xml: &'a str,
    is_feed: bool,
    is_atom: bool,
    depth: usize,
    feed: FeedEntry,
    entries: Vec<FeedEntry>,
    /// How deep the entry is that is open.
    entry_depth: Option<usize>,
    field: Option<FeedElement>,
}

impl FeedReader<'_> {
    fn open(&mut self, element: &Element<'_>, at: usize) {
        self.depth += 1;
        let name = element.name();
        if self.depth == 1 {
            self.is_feed = matches!(name, "rss" | "feed" | "RDF");
            self.is_atom = name == "feed";
            return;
        }
        if let Some(field) = self.field.as_mut() {
            // The elements of this page are not escaped.
            if field.page_from.is_some() || is_page(&field.name) {
                field.page_from.get_or_insert(field.content_at);
                return;
            }
        }
        if let Some(outer) = self.field.take() {
            self.keep(&outer, at);
        }
        if self.entry_depth.is_none() && matches!(name, "item" | "entry") {
            self.entry_depth = Some(self.depth);
            self.entries.push(FeedEntry { at, ..FeedEntry::default() });
            return;
        }
        if name == "channel" {
            return;
        }
        let kind = element.attribute("type");
        let is_xhtml = kind.as_deref() == Some("xhtml");
        let is_plain = self.is_atom && kind.is_none_or(|kind| kind == "text");
        let address = element.attribute("href").or_else(|| element.attribute("url"));
        let content_at = self.xml[at..].find('>').map_or(at, |len| at + len + 1);
        self.field = Some(FeedElement {
            name: name.to_owned(),
            depth: self.depth,
            at,
            text: String::new(),
            page_from: is_xhtml.then_some(content_at),
            is_plain,
            address: address.or_else(|| element.attribute("term")),
            content_at,
        });
    }

    fn text(&mut self, words: &str) {
        if let Some(field) = self.field.as_mut() {
            field.text.push_str(words);
        }
    }

    fn close(&mut self, at: usize) {
        let is_end = self.field.as_ref().is_some_and(|field| field.depth == self.depth);
        if let Some(field) = self.field.take_if(|_| is_end) {
            self.keep(&field, at);
        }
        if self.entry_depth == Some(self.depth) {
            self.entry_depth = None;
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Keeps the text of an element.
    fn keep(&mut self, field: &FeedElement, end: usize) {
        let entry = match self.entry_depth {
            Some(_) => self.entries.last_mut(),
            None => Some(&mut self.feed),
        };
        let Some(entry) = entry else { return };
        let text = match field.page_from {
            Some(start) => self.xml.get(start..end).unwrap_or_default().to_owned(),
            None if field.is_plain && (is_page(&field.name) || field.name == "title") => {
                to_html(visible_text(&field.text).trim())
            }
            None => visible_text(&field.text),
        };
        let words = text.trim();
        match field.name.as_str() {
            "title" if entry.title.is_empty() => words.clone_into(&mut entry.title),
            name if is_page(name) && !words.is_empty() => entry.pages.push((field.at, text)),
            name => {
                let value =
                    if words.is_empty() { field.address.as_deref().unwrap_or("") } else { words };
                let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
                if !value.is_empty() {
                    entry.facts.push((field.at, format!("{name}: {value}")));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xml: &str, title: &str, text: &str, lines: &[u32]) {
        let document = extract(xml).expect("a feed");
        assert_eq!((document.title.as_deref(), document.text.as_str()), (Some(title), text));
        assert_eq!(document.line_numbers, lines);
    }

    #[test]
    fn texts_of_entries_are_web_pages() {
        check(
            "<?xml version='1.0'?>\n<rss><channel><title>Hafen</title>\n<item><title>Sch&#246;ne M&amp;ouml;we</title>\n<link>http://a/1</link>\n<description>&lt;p&gt;Die &amp;ouml;ffentliche &lt;b&gt;Br&amp;uuml;cke&lt;/b&gt;&lt;/p&gt;&lt;h1&gt;Mehr&lt;/h1&gt;&lt;script&gt;x&lt;/script&gt;</description></item>\n<item><title>Zwei</title><description><![CDATA[Die Br&uuml;cke]]></description><content:encoded xmlns:content='c'><![CDATA[<p>Die Br&uuml;cke ist zu.</p>]]></content:encoded></item></channel></rss>",
            "Hafen",
            "## Schöne Möwe\n\nlink: http://a/1\n\nDie öffentliche Brücke\n\n### Mehr\n\n## Zwei\n\nDie Brücke ist zu.",
            &[3, 3, 4, 4, 5, 5, 5, 5, 6, 6, 6],
        );
        check(
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>Blog</title><subtitle>Über See</subtitle><entry><title type='html'>A &amp;lt; B</title><link href='http://b'/><author><name>Zoë</name></author>\n<content type='xhtml'><div xmlns='x'><p>Eins <b>zwei</b></p><ul><li>drei</li></ul></div></content></entry></feed>",
            "Blog",
            "Über See\n\n## A < B\n\nlink: http://b\nname: Zoë\n\nEins zwei\n\n- drei",
            &[1, 1, 1, 1, 1, 1, 1, 2, 2, 2],
        );
    }

    #[test]
    fn elements_that_are_not_escaped_are_read_too() {
        check(
            "<rss><channel><title>A</title><item><title>B</title><description>Eins <b>zwei</b> &amp; drei</description><image>x<url>http://c</url></image></item></channel></rss>",
            "A",
            "## B\n\nimage: x\nurl: http://c\n\nEins zwei & drei",
            &[1; 6],
        );
    }

    #[test]
    fn text_of_atom_has_no_elements_unless_it_says_so() {
        check(
            "<feed><title>A &lt;T&gt;</title><entry><title>B &amp;amp;</title><summary>Eins &lt;b&gt;\nzwei</summary></entry></feed>",
            "A <T>",
            "## B &amp;\n\nEins <b>\nzwei",
            &[1; 4],
        );
    }

    #[test]
    fn what_is_no_feed_stays_data() {
        for xml in [
            "<feed/>",
            "<rss><channel><title>a</title></channel></rss>",
            "<rss><channel><item><title>a</title></channel></rss>",
            "<a><rss><item><title>b</title></item></rss></a>",
            "",
        ] {
            assert!(extract(xml).is_none(), "{xml}");
        }
    }
}
