//! Lists hits or the parts of a document, grouped by document, and knows where each entry leads.

use std::sync::Arc;

use crate::app::query::read::{NeighbourText, PartSelection};
use crate::document::{DocType, PageRange};
use crate::present::find::reading::{ReadingText, chain_line, hit_marks, part_line, tags};
use crate::present::find::{Line, Meaning, fitted, justified, piece, pieces, shortened, width_of};
use crate::present::terminal::columns::width;
use crate::present::text::human::HumanLayout;
use crate::present::text::passage::{Excerpt, whole};
use crate::present::text::quote;
use crate::present::text::search::excerpt_of;
use crate::read::{DocumentOutline, DocumentPart, PartKind};
use crate::search::matches::QueryTerms;
use crate::search::{Confidence, Hit, SearchAnswer};
use crate::store::{ChunkId, DocumentId, StoredDocument};
use crate::text::number::counted;
use crate::text::paths;
use crate::text::printable::{clean, clean_lines};

/// Columns of the place of a hit in the list: a line number of six digits.
const PLACE: usize = 7;

/// Columns of the text of a hit before the width of the list is known.
const ROOM: usize = 60;

/// A list of hits or parts.
#[derive(Debug)]
pub struct Listing {
    entries: Vec<ListingEntry>,
    rows: Vec<ListingRow>,
    terms: QueryTerms,
    confidence: Option<Confidence>,
    /// Columns of the text of a hit in the list. They decide which line of the passage is shown there, and
    /// that line is also the one to open.
    room: usize,
}

#[derive(Debug)]
enum ListingEntry {
    Hit(Box<Hit>),
    Part(Arc<StoredDocument>, Box<DocumentPart>),
}

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListingRow {
    /// The document of the entries below; the number is that of the first one.
    Document(usize),
    /// An entry.
    Entry(usize),
}

/// A place in the file of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileTarget {
    /// The document.
    pub document: DocumentId,
    /// Line number, from 1.
    pub line: Option<u32>,
    /// Page number, from 1.
    pub page: Option<u32>,
}

impl Listing {
    /// Lists the hits of a search, documents in the order of their best hits.
    pub fn of_search(answer: SearchAnswer) -> Self {
        let terms = answer.wanted.clone();
        Self { confidence: answer.confidence, ..Self::of_hits(answer.hits, terms) }
    }

    /// Lists passages that are similar to something.
    pub fn of_similar(hits: Vec<Hit>) -> Self {
        Self::of_hits(hits, QueryTerms::default())
    }

    fn of_hits(hits: Vec<Hit>, terms: QueryTerms) -> Self {
        let mut documents: Vec<(DocumentId, Vec<Hit>)> = Vec::new();
        for hit in hits {
            let id = hit.stored.document_id;
            match documents.iter_mut().find(|known| known.0 == id) {
                Some((_, hits)) => hits.push(hit),
                None => documents.push((id, vec![hit])),
            }
        }
        let (mut entries, mut rows) = (Vec::new(), Vec::new());
        for (_, hits) in documents {
            rows.push(ListingRow::Document(entries.len()));
            for hit in hits {
                rows.push(ListingRow::Entry(entries.len()));
                entries.push(ListingEntry::Hit(Box::new(hit)));
            }
        }
        Self { entries, rows, terms, confidence: None, room: ROOM }
    }

    /// Lists the parts of a document. The words of a query are marked in them.
    pub fn of_outline(outline: DocumentOutline, typed: &str) -> Self {
        let document = Arc::new(outline.document);
        let parts = outline.parts.into_iter();
        let entries: Vec<ListingEntry> =
            parts.map(|part| ListingEntry::Part(Arc::clone(&document), Box::new(part))).collect();
        let heads = (!entries.is_empty()).then_some(ListingRow::Document(0));
        let rows = heads.into_iter().chain((0..entries.len()).map(ListingRow::Entry)).collect();
        Self { entries, rows, terms: QueryTerms::new(typed), confidence: None, room: ROOM }
    }

    /// Sets the width of the list.
    pub fn set_width(&mut self, columns: usize) {
        self.room = columns.saturating_sub(PLACE + 1);
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns all rows from top to bottom.
    pub fn rows(&self) -> &[ListingRow] {
        &self.rows
    }

    /// Returns the entry of a chunk.
    pub fn position(&self, chunk: ChunkId) -> Option<usize> {
        (0..self.len()).find(|entry| self.chunk(*entry) == Some(chunk))
    }

    /// Returns the first part that is on a line or a page; the last one that begins before it.
    pub fn part_at(&self, target: FileTarget) -> Option<usize> {
        (0..self.len()).rev().find(|entry| {
            let own = self.target(*entry);
            own.line.zip(target.line).is_some_and(|(own, wanted)| own <= wanted)
                || own.page.zip(target.page).is_some_and(|(own, wanted)| own <= wanted)
        })
    }

    /// Returns the numbers of entries and documents, and whether they look like an answer.
    pub fn summary(&self) -> Line {
        let documents =
            self.rows.iter().filter(|row| matches!(row, ListingRow::Document(_))).count();
        let counts = match self.entries.first() {
            Some(ListingEntry::Part(..)) => counted(self.len(), "part"),
            _ => {
                format!("{} in {}", counted(self.len(), "passage"), counted(documents, "document"))
            }
        };
        let doubt = match self.confidence {
            _ if self.is_empty() => return vec![piece(Meaning::Warning, "nothing found")],
            confidence => confidence.and_then(Confidence::sentence),
        };
        let Some(doubt) = doubt else { return vec![piece(Meaning::Faint, counts)] };
        vec![piece(Meaning::Faint, format!("{counts} · ")), piece(Meaning::Warning, doubt)]
    }

    /// Returns the line of a row.
    pub fn line(&self, row: ListingRow, columns: usize) -> Line {
        match row {
            ListingRow::Document(entry) => self.document_line(entry, columns),
            ListingRow::Entry(entry) => match &self.entries[entry] {
                ListingEntry::Hit(hit) => self.hit_line(hit, columns),
                ListingEntry::Part(_, part) => part_line(part, columns),
            },
        }
    }

    fn document_line(&self, entry: usize, columns: usize) -> Line {
        let about = self.about(entry);
        let left = vec![piece(Meaning::Title, clean(about.title))];
        justified(left, vec![piece(Meaning::Faint, clean(about.kind))], columns)
    }

    fn hit_line(&self, hit: &Hit, columns: usize) -> Line {
        let shown = self.excerpt(hit);
        let place = quote::short_place(hit.at.line, hit.at.pages);
        let mut line = vec![piece(Meaning::Place, format!("{place:>PLACE$} "))];
        line.extend(pieces(shown.lines, Meaning::Plain).into_iter().flatten());
        fitted(line, columns)
    }

    fn excerpt(&self, hit: &Hit) -> Excerpt {
        excerpt_of(hit, &self.terms, self.room, [1, 1])
    }

    /// Returns the lines above the text of an entry: title, header chain, location.
    pub fn head(&self, entry: usize, layout: &HumanLayout, columns: usize) -> Vec<Line> {
        let about = self.about(entry);
        let marks = match &self.entries[entry] {
            ListingEntry::Hit(hit) => hit_marks(hit),
            ListingEntry::Part(document, _) => tags(&document.tags),
        };
        let lines = [
            vec![piece(Meaning::Title, clean(about.title))],
            chain_line(about.section, about.symbol),
            self.location_line(entry, layout, marks, columns),
        ];
        let lines = lines.into_iter().filter(|line| !line.is_empty());
        lines.map(|line| fitted(line, columns)).collect()
    }

    fn about(&self, entry: usize) -> EntryNames<'_> {
        match &self.entries[entry] {
            ListingEntry::Hit(hit) => EntryNames {
                title: &hit.stored.title,
                path: hit.stored.path.as_deref(),
                kind: &hit.stored.format,
                section: hit.at.section.as_deref(),
                symbol: hit.at.symbol.as_deref(),
            },
            ListingEntry::Part(document, part) => EntryNames {
                title: &document.title,
                path: document.path.as_deref(),
                kind: &document.format,
                section: part.section.as_deref(),
                symbol: part.name.as_deref().filter(|_| part.kind == PartKind::Symbol),
            },
        }
    }

    /// Returns the line with the path, and the other facts after it.
    fn location_line(
        &self,
        entry: usize,
        layout: &HumanLayout,
        marks: Line,
        columns: usize,
    ) -> Line {
        let target = self.target(entry);
        let pages = match &self.entries[entry] {
            ListingEntry::Hit(hit) => hit.at.pages,
            ListingEntry::Part(_, part) => part.pages.map(PageRange::first_only),
        };
        let place = quote::behind_path(target.line, pages);
        let (path, place) = match self.about(entry).path {
            Some(path) => (layout.path(path), place),
            None => (layout.command(None, &format!("show {}", target.document)), String::new()),
        };
        let place = place + &layout.base_mark(None);
        let room = columns.saturating_sub(width(&place) + width_of(&marks));
        let mut line = vec![piece(Meaning::Path, shortened(&path, room.max(columns / 2)) + &place)];
        line.extend(marks);
        line
    }

    /// Returns the text of an entry with its neighbours. The text of a part is only its beginning.
    pub fn body(
        &self,
        entry: usize,
        around: Option<&NeighbourText>,
        columns: usize,
    ) -> ReadingText {
        let hit = match &self.entries[entry] {
            ListingEntry::Hit(hit) => hit,
            ListingEntry::Part(_, part) => {
                let text = vec![piece(Meaning::Faint, clean(&part.preview))];
                return ReadingText { lines: vec![fitted(text, columns)], start: 0 };
            }
        };
        let is_code = hit.stored.doc_type == DocType::Code;
        let set = |text: &str, plain| pieces(whole(text, &self.terms, columns, is_code), plain);
        let mut lines = around.map_or(vec![], |around| set(&around.before, Meaning::Faint));
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        let start = lines.len();
        lines.extend(set(&hit.stored.chunk.chunk.text, Meaning::Plain));
        if let Some(around) = around.filter(|around| !around.after.is_empty()) {
            lines.push(Line::new());
            lines.extend(set(&around.after, Meaning::Faint));
        }
        ReadingText { lines, start }
    }

    /// Whether there is text of the document before that of an entry.
    pub fn has_text_before(&self, entry: usize) -> bool {
        match &self.entries[entry] {
            ListingEntry::Hit(hit) => hit.stored.chunk.chunk_index > 0,
            ListingEntry::Part(..) => false,
        }
    }

    /// Returns where an entry is.
    pub fn target(&self, entry: usize) -> FileTarget {
        match &self.entries[entry] {
            ListingEntry::Hit(hit) => FileTarget {
                document: hit.stored.document_id,
                line: hit.at.line,
                page: hit.at.pages.map(PageRange::first),
            },
            ListingEntry::Part(document, part) => FileTarget {
                document: document.id,
                line: part.start_line,
                page: part.pages.map(PageRange::first),
            },
        }
    }

    /// Returns the chunk of a hit.
    pub fn chunk(&self, entry: usize) -> Option<ChunkId> {
        match self.entries.get(entry)? {
            ListingEntry::Hit(hit) => Some(hit.stored.chunk.id),
            ListingEntry::Part(..) => None,
        }
    }

    /// Returns the part of the document that an entry is in, or is: section, symbol, page, or everything.
    pub fn selection(&self, entry: usize) -> PartSelection {
        let (section, symbol, pages) = match &self.entries[entry] {
            ListingEntry::Hit(hit) => (hit.at.section.clone(), hit.at.symbol.clone(), hit.at.pages),
            ListingEntry::Part(_, part) => match (part.kind, part.chunk_ids.first()) {
                (PartKind::Symbol, _) => (None, part.name.clone(), None),
                (PartKind::Text, Some(id)) => return PartSelection::Chunk(*id, 0),
                _ => (part.section.clone(), None, part.pages),
            },
        };
        match (symbol, section, pages) {
            (Some(symbol), _, _) => PartSelection::Symbol(symbol),
            (None, Some(section), _) => PartSelection::Section(section),
            (None, None, Some(pages)) => PartSelection::Pages(pages.first_only()),
            (None, None, None) => PartSelection::Whole,
        }
    }

    /// Returns the path under which an entry's document is shown.
    pub fn path(&self, entry: usize) -> Option<String> {
        self.about(entry).path.map(str::to_owned)
    }

    /// Returns the title of an entry's document.
    pub fn title(&self, entry: usize) -> String {
        clean(self.about(entry).title)
    }

    /// Returns the text of a hit, for pasting.
    pub fn text(&self, entry: usize) -> Option<String> {
        match self.entries.get(entry)? {
            ListingEntry::Hit(hit) => Some(clean_lines(&hit.stored.chunk.chunk.text)),
            ListingEntry::Part(..) => None,
        }
    }

    /// Returns the citation of a hit, as `--format md` prints it.
    pub fn citation(&self, entry: usize) -> Option<String> {
        match self.entries.get(entry)? {
            ListingEntry::Hit(hit) => Some(quote::citation(hit)),
            ListingEntry::Part(..) => None,
        }
    }

    /// Returns the location that `kb find --print` prints: the path, with `:` and the line if lines are
    /// known, or the URI of a document without a file. Nothing is quoted.
    pub fn location(&self, entry: usize) -> Vec<u8> {
        let target = self.target(entry);
        let Some(path) = self.about(entry).path else {
            return format!("kb://document/{}", target.document).into_bytes();
        };
        let mut location = paths::path_of(path).into_os_string().into_encoded_bytes();
        // Lines are counted in the document, which is only a part of a container.
        let is_whole = paths::split_member(path).1.is_none();
        if let Some(line) = target.line.filter(|_| is_whole) {
            location.extend_from_slice(format!(":{line}").as_bytes());
        }
        location
    }
}

/// The names of an entry.
struct EntryNames<'a> {
    title: &'a str,
    path: Option<&'a str>,
    /// The language of source code, else the type.
    kind: &'a str,
    section: Option<&'a str>,
    symbol: Option<&'a str>,
}
