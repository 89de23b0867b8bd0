//! Reads the table of contents of a book, and gives its titles to chapters that have no headings.
//!
//! Books that were converted from other formats often have titles only there: in the NCX (EPUB 2) or in the navigation
//! document (EPUB 3).

use std::collections::HashMap;

use super::package::resolve;
use crate::xml::{self, XmlEvent};

/// Most entries that are kept of a table of contents: bounds the memory for a hostile book.
const MAX_ENTRIES: usize = 20_000;

/// Longest id of a place that is looked for, in bytes: bounds the search for the quote that ends it.
const MAX_ID: usize = 500;

/// Number of heading levels in HTML.
const MAX_LEVEL: u8 = 6;

/// The entries of a table of contents, by the names of their chapters in small letters.
pub(super) type TableOfContents = HashMap<String, Vec<TitleEntry>>;

/// An entry of a table of contents.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TitleEntry {
    title: String,
    /// Depth, from 1.
    level: u8,
    /// The id of the place in the chapter; empty for its start.
    place: String,
}

/// A table of contents that is being read.
#[derive(Default)]
struct ContentsReading {
    entries: TableOfContents,
    num_entries: usize,
    folder: String,
    level: u8,
    /// Whether the list is one of pages or the like.
    is_other_list: bool,
    is_in_title: bool,
    title: String,
    /// The target of the open link.
    target: Option<String>,
}

/// Parses an NCX or a navigation document with this name; a damaged one is read up to the damage.
pub(super) fn parse(xml: &str, name: &str) -> TableOfContents {
    let folder = name.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
    let mut reading = ContentsReading { folder, ..ContentsReading::default() };
    let _ = xml::each(xml, |event| match event {
        XmlEvent::Open(element) => reading.open(element),
        XmlEvent::Close(name) => reading.close(name),
        XmlEvent::Text(text) if reading.is_in_title => reading.title.push_str(text),
        XmlEvent::Text(_) => {}
    });
    reading.entries
}

impl ContentsReading {
    fn open(&mut self, element: &xml::Element<'_>) {
        match element.name() {
            // A navigation document also lists pages and landmarks.
            "nav" => {
                let kind = element.attribute("type").unwrap_or_default();
                self.is_other_list = !kind.is_empty() && !kind.split(' ').any(|word| word == "toc");
            }
            "pageList" | "navList" => self.is_other_list = true,
            "navPoint" | "ol" => self.level = self.level.saturating_add(1),
            "text" => self.begin_title(),
            "content" => {
                self.target = element.attribute("src");
                self.add();
            }
            "a" => {
                self.begin_title();
                self.target = element.attribute("href");
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "nav" | "pageList" | "navList" => self.is_other_list = false,
            "navPoint" | "ol" => self.level = self.level.saturating_sub(1),
            "text" => self.is_in_title = false,
            "a" => {
                self.is_in_title = false;
                self.add();
            }
            _ => {}
        }
    }

    fn begin_title(&mut self) {
        self.is_in_title = true;
        self.title.clear();
    }

    fn add(&mut self) {
        let title = std::mem::take(&mut self.title);
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some(target) = self.target.take() else { return };
        if title.is_empty() || self.is_other_list || self.num_entries == MAX_ENTRIES {
            return;
        }
        self.num_entries += 1;
        let place = target.split_once('#').map_or("", |(_, place)| place).to_owned();
        let entry = TitleEntry { title, level: self.level.clamp(1, MAX_LEVEL), place };
        let chapter = resolve(&self.folder, &target).to_lowercase();
        self.entries.entry(chapter).or_default().push(entry);
    }
}

/// Adds headings to a page: each at its place, or at the start of the page if that is not found.
pub(super) fn with_headings(page: &str, entries: &[TitleEntry]) -> String {
    let places = places(page);
    let start = start_of_body(page);
    let mut headings: Vec<(usize, &TitleEntry)> = Vec::new();
    for entry in entries {
        match places.get(entry.place.as_str()) {
            Some(at) => headings.push((*at, entry)),
            // Only one of them can be the title of the page.
            None if headings.is_empty() => headings.push((start, entry)),
            None => {}
        }
    }
    headings.sort_by_key(|(at, _)| *at);
    let (mut titled, mut copied) = (String::with_capacity(page.len()), 0);
    for (at, entry) in headings {
        titled.push_str(&page[copied..at]);
        copied = at;
        let title = entry.title.replace('&', "&amp;").replace('<', "&lt;");
        titled.push_str(&format!("<h{0}>{title}</h{0}>", entry.level));
    }
    titled + &page[copied..]
}

/// Returns where the elements of a page begin that have ids.
fn places(page: &str) -> HashMap<&str, usize> {
    const ID: &str = "id=";
    let mut places = HashMap::new();
    let (mut searched, mut element) = (0, None);
    for (at, _) in page.match_indices(ID) {
        element = page[searched..at].rfind('<').map(|start| searched + start).or(element);
        searched = at;
        let value = &page[at + ID.len()..];
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let Some((quote, element)) = quote.zip(element) else { continue };
        let value = &value[1..];
        if let Some(end) = value.bytes().take(MAX_ID).position(|byte| char::from(byte) == quote) {
            places.entry(&value[..end]).or_insert(element);
        }
    }
    places
}

/// Returns where the content of a page begins.
fn start_of_body(page: &str) -> usize {
    let body = page.find("<body").or_else(|| page.find("<BODY"));
    let end = body.and_then(|body| Some(body + page[body..].find('>')? + 1));
    end.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xml: &str, expected: &[(&str, &str, u8, &str)]) {
        let table = parse(xml, "OEBPS/toc.ncx");
        let mut found: Vec<_> = table
            .iter()
            .flat_map(|(chapter, entries)| entries.iter().map(move |entry| (chapter, entry)))
            .map(|(chapter, entry)| {
                (chapter.as_str(), entry.title.as_str(), entry.level, entry.place.as_str())
            })
            .collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_entries_of_an_ncx_have_titles_levels_and_places() {
        check(
            "<ncx><docTitle><text>Tides</text></docTitle><navMap><navPoint><navLabel><text>Ebb &amp;\n flow</text></navLabel><content src='Text/A%20b.xhtml'/>\
             <navPoint><navLabel><text>Noon</text></navLabel><content src='Text/A%20b.xhtml#n'/></navPoint></navPoint>\
             </navMap><pageList><pageTarget><navLabel><text>1</text></navLabel><content src='x.xhtml'/></pageTarget>\
             </pageList></ncx>",
            &[
                ("oebps/text/a b.xhtml", "Ebb & flow", 1, ""),
                ("oebps/text/a b.xhtml", "Noon", 2, "n"),
            ],
        );
    }

    #[test]
    fn only_the_contents_of_a_navigation_document_are_read() {
        check(
            "<html><body><nav epub:type='toc'><h1>Contents</h1><ol><li><a href='a.xhtml'>Ebb <i>tide</i></a><ol><li>\
             <a href='b.xhtml'>Flood</a></li></ol></li></ol></nav><nav epub:type='landmarks'><ol><li>\
             <a href='a.xhtml'>Start</a></li></ol></nav></body></html>",
            &[("oebps/a.xhtml", "Ebb tide", 1, ""), ("oebps/b.xhtml", "Flood", 2, "")],
        );
        check("words", &[]);
    }

    #[test]
    fn headings_are_added_at_their_places() {
        let entry = |title: &str, place: &str| TitleEntry {
            title: title.to_owned(),
            level: 2,
            place: place.to_owned(),
        };
        let page = "<html><body class='x'><p>a</p><p id='n'>b</p></body></html>";
        let entries = [entry("Start", ""), entry("N < M", "n"), entry("Lost", "l")];
        assert_eq!(
            with_headings(page, &entries),
            "<html><body class='x'><h2>Start</h2><p>a</p><h2>N &lt; M</h2><p id='n'>b</p></body></html>"
        );
    }
}
