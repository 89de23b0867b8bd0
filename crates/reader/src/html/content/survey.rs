//! Measures how much text, linked text and prose each element of a page has.
//!
//! It decides nothing. Elements that are never displayed are not part of a survey.

use std::ops::Range;

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{ElementRef, Node};

use super::super::elements::{is_heading, is_inline};
use super::names::{self, ContentRole};
use super::panels::TogglePanels;
use super::shown;
use crate::document::WordDestination;

/// A text with at least this many letters outside of links is prose; titles and labels are shorter.
const MIN_PROSE: usize = 60;

/// A table with at least this share of its text in links, in percent, is a way through a site.
const MAX_LINKED: usize = 60;

/// An element is a part of a line that has at least this many other letters; next to fewer, such as a bullet, it is
/// the line.
const MIN_REST: usize = 20;

/// Most headings of the first level that can be the title of a page: each is looked for in each element.
const MAX_TITLES: usize = 100;

/// Lines are cut when they are longer, in bytes: they are read to recognise short ones.
const MAX_LINE: usize = 400;

/// A letter of a script without spaces counts as this many letters, because it is a syllable or a word.
const DENSE_LETTER: usize = 3;

/// The first letter of such a script.
const DENSE: char = '\u{2E80}';

/// Why each element is left out; `None` for those that are not.
pub(super) type LeftOut = [Option<WordDestination>];

/// The displayed elements of a page, in order.
pub(super) struct PageSurvey<'a> {
    /// The address of the page, if it states one.
    pub(super) address: Option<&'a str>,
    pub(super) items: Vec<DisplayedElement<'a>>,
    /// Indices of the first headings of the first level.
    titles: Vec<usize>,
    pieces: Vec<TextNode<'a>>,
    /// The first piece of a sentence.
    first_sentence: usize,
}

/// A displayed element.
pub(super) struct DisplayedElement<'a> {
    pub(super) node: NodeRef<'a, Node>,
    pub(super) element: &'a Element,
    /// Index of the element that contains it; the first element has itself.
    pub(super) parent: usize,
    /// Index of the first element that follows it and is not in it.
    pub(super) end: usize,
    /// The role of its text, according to its name.
    pub(super) role: Option<ContentRole>,
    /// Its pieces of text.
    pub(super) pieces: Range<usize>,
    /// Whether it is a table with several rows and columns.
    is_table: bool,
}

/// A text node.
struct TextNode<'a> {
    text: &'a str,
    owner: usize,
    letters: usize,
    is_linked: bool,
    is_prose: bool,
    is_sentence: bool,
    /// Number of the line of text that it is a part of.
    line: usize,
    /// Letters in that line.
    line_letters: usize,
}

/// The amount of text in an element, in letters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextAmount {
    pub(super) letters: usize,
    /// In links.
    pub(super) linked: usize,
    /// In texts that are long enough for a sentence.
    pub(super) prose: usize,
    /// In sentences that are not links.
    pub(super) sentences: usize,
    /// Whether there is a table of data that is not made of links.
    pub(super) has_table: bool,
}

impl TextAmount {
    /// Whether an author wrote something in it: a sentence or a table.
    pub(super) fn is_written(self) -> bool {
        self.sentences > 0 || self.has_table
    }

    /// Returns how much text is outside of links.
    pub(super) fn own(self) -> usize {
        self.letters - self.linked
    }

    /// Whether at least `percent` of the text is in links.
    pub(super) fn is_linked(self, percent: usize) -> bool {
        self.letters > 0 && self.linked * 100 >= self.letters * percent
    }
}

impl<'a> PageSurvey<'a> {
    /// Surveys everything below `root`, which becomes the first item.
    pub(super) fn new(
        root: ElementRef<'a>,
        address: Option<&'a str>,
        panels: &TogglePanels,
    ) -> Self {
        let (items, titles, pieces) = (Vec::new(), Vec::new(), Vec::new());
        let mut survey = PageSurvey { address, items, titles, pieces, first_sentence: 0 };
        let mut open: Vec<usize> = Vec::new();
        let mut skipped: Option<NodeId> = None;
        let mut tables = OpenTables::default();
        let (mut links, mut headings, mut codes, mut run) = (0_usize, 0_usize, 0_usize, 0_usize);
        for edge in root.traverse() {
            match edge {
                Edge::Open(node) if skipped.is_none() => match node.value() {
                    Node::Element(element) => {
                        if node.id() != root.id()
                            && shown::hides(node, element).is_some()
                            && !panels.shows(node.id())
                        {
                            skipped = Some(node.id());
                            continue;
                        }
                        if !is_inline(element.name()) {
                            survey.close_run(&mut run, headings);
                        }
                        links += usize::from(element.name() == "a");
                        headings += usize::from(is_heading(element.name()));
                        codes += usize::from(is_code(element.name()));
                        let parent = open.last().copied().unwrap_or(0);
                        let start = survey.pieces.len();
                        tables.open(element.name());
                        open.push(survey.items.len());
                        if element.name() == "h1" && survey.titles.len() < MAX_TITLES {
                            survey.titles.push(survey.items.len());
                        }
                        survey.items.push(DisplayedElement {
                            node,
                            element,
                            parent,
                            end: 0,
                            // In source code, classes name colours.
                            role: if codes == 0 { names::role(element) } else { None },
                            pieces: start..start,
                            is_table: false,
                        });
                    }
                    Node::Text(text) => {
                        let (letters, owner) = (count(text), open.last().copied().unwrap_or(0));
                        let is_linked = links > 0;
                        survey.pieces.push(TextNode {
                            text,
                            owner,
                            letters,
                            is_linked,
                            is_prose: false,
                            is_sentence: false,
                            line: run,
                            line_letters: 0,
                        });
                    }
                    _ => {}
                },
                Edge::Close(node) if skipped == Some(node.id()) => skipped = None,
                Edge::Close(node) if skipped.is_none() => {
                    let Node::Element(element) = node.value() else { continue };
                    if !is_inline(element.name()) {
                        survey.close_run(&mut run, headings);
                    }
                    links -= usize::from(element.name() == "a");
                    headings -= usize::from(is_heading(element.name()));
                    codes -= usize::from(is_code(element.name()));
                    if let Some(idx) = open.pop() {
                        survey.items[idx].is_table = tables.close(element.name());
                        survey.items[idx].end = survey.items.len();
                        survey.items[idx].pieces.end = survey.pieces.len();
                    }
                }
                Edge::Open(_) | Edge::Close(_) => {}
            }
        }
        let pieces = &survey.pieces;
        survey.first_sentence =
            pieces.iter().position(|piece| piece.is_sentence).unwrap_or(pieces.len());
        survey
    }

    /// Ends a text that began at piece `start`.
    fn close_run(&mut self, start: &mut usize, headings: usize) {
        let run = &mut self.pieces[*start..];
        let line_letters: usize = run.iter().map(|piece| piece.letters).sum();
        let links = run.iter().filter(|piece| piece.is_linked);
        let linked: usize = links.map(|piece| piece.letters).sum();
        let own = line_letters - linked;
        let is_prose = headings == 0 && own >= MIN_PROSE && own >= linked;
        let is_sentence = own >= linked && (is_prose || is_sentence(run));
        for piece in run {
            piece.line_letters = line_letters;
            (piece.is_prose, piece.is_sentence) = (is_prose, is_sentence);
        }
        *start = self.pieces.len();
    }

    /// Returns whether each element is left out, or is in one that is left out.
    pub(super) fn gone(&self, left_out: &LeftOut) -> Vec<bool> {
        let mut is_gone: Vec<bool> = left_out.iter().map(Option::is_some).collect();
        for (idx, item) in self.items.iter().enumerate().skip(1) {
            is_gone[idx] |= is_gone[item.parent];
        }
        is_gone
    }

    /// Whether any of some pieces of text is not gone, and has letters.
    pub(super) fn has_text(&self, pieces: Range<usize>, is_gone: &[bool]) -> bool {
        self.pieces[pieces].iter().any(|piece| piece.letters > 0 && !is_gone[piece.owner])
    }

    /// Adds up the text of each element, without the elements that are left out.
    pub(super) fn sums(&self, left_out: &LeftOut) -> Vec<TextAmount> {
        let is_gone = self.gone(left_out);
        let mut sums = vec![TextAmount::default(); self.items.len()];
        for piece in self.pieces.iter().filter(|piece| !is_gone[piece.owner]) {
            let sum = &mut sums[piece.owner];
            sum.letters += piece.letters;
            sum.linked += if piece.is_linked { piece.letters } else { 0 };
            sum.prose += if piece.is_prose { piece.letters } else { 0 };
            sum.sentences += if piece.is_sentence { piece.letters } else { 0 };
        }
        // Backwards, so that an element has its own sum before it is added to the one around it.
        for idx in (1..self.items.len()).rev() {
            let parent = self.items[idx].parent;
            sums[idx].has_table |= self.items[idx].is_table
                && sums[idx].letters > 0
                && !sums[idx].is_linked(MAX_LINKED);
            let sum = sums[idx];
            sums[parent].has_table |= sum.has_table;
            sums[parent].sentences += sum.sentences;
            sums[parent].letters += sum.letters;
            sums[parent].linked += sum.linked;
            sums[parent].prose += sum.prose;
        }
        sums
    }

    /// Returns the indices of the elements directly below an element.
    pub(super) fn children(&self, idx: usize) -> impl Iterator<Item = usize> {
        let end = self.items[idx].end;
        let mut next = idx + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next = self.items[child].end;
                child
            })
        })
    }

    /// Returns the indices of an element and of everything in it.
    pub(super) fn below(&self, idx: usize) -> Range<usize> {
        idx..self.items[idx].end
    }

    /// Returns the first line of an element's text, with single spaces.
    pub(super) fn first_line(&self, idx: usize) -> String {
        let pieces = &self.pieces[self.items[idx].pieces.clone()];
        let first = pieces.iter().position(|piece| piece.letters > 0).unwrap_or(0);
        let pieces = pieces.iter().skip(first);
        let mut line = pieces
            .clone()
            .take_while(|piece| Some(piece.line) == pieces.clone().next().map(|first| first.line));
        let mut text = String::new();
        while let Some(piece) = line.next()
            && text.len() < MAX_LINE
        {
            text.extend(piece.text.chars().take(MAX_LINE));
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether no sentence is before the end of an element.
    pub(super) fn is_before_sentences(&self, idx: usize) -> bool {
        self.items[idx].pieces.end <= self.first_sentence
    }

    /// Whether a line of an element has words and no link.
    pub(super) fn has_line_without_link(&self, idx: usize) -> bool {
        let pieces = &self.pieces[self.items[idx].pieces.clone()];
        let mut lines = pieces.chunk_by(|one, other| one.line == other.line);
        lines.any(|line| {
            line.iter().any(|piece| piece.letters > 0) && !line.iter().any(|piece| piece.is_linked)
        })
    }

    /// Whether the first word of an element is in no link.
    pub(super) fn begins_without_link(&self, idx: usize) -> bool {
        let mut pieces = self.pieces[self.items[idx].pieces.clone()].iter();
        pieces.find(|piece| piece.letters > 0).is_some_and(|piece| !piece.is_linked)
    }

    /// Whether there are no words between two pieces of text.
    pub(super) fn is_next(&self, end: usize, start: usize) -> bool {
        /// Most elements and line ends that may be between two blocks: bounds the work on an empty page.
        const MAX_BETWEEN: usize = 20;
        let between = self.pieces.get(end..start);
        between.is_some_and(|between| {
            between.len() < MAX_BETWEEN && between.iter().all(|piece| piece.letters == 0)
        })
    }

    /// Returns the text of an element that has one line, with single spaces.
    pub(super) fn only_line(&self, idx: usize, sum: TextAmount) -> Option<String> {
        let first =
            self.pieces[self.items[idx].pieces.clone()].iter().find(|piece| piece.letters > 0)?;
        (first.line_letters == sum.letters).then(|| self.first_line(idx))
    }

    /// Whether an element is a part of a longer line of text.
    pub(super) fn is_in_line(&self, idx: usize, sum: TextAmount) -> bool {
        let item = &self.items[idx];
        let first = self.pieces[item.pieces.clone()].iter().find(|piece| piece.letters > 0);
        let line_letters = first.map_or(0, |piece| piece.line_letters);
        let rest = line_letters.saturating_sub(sum.letters);
        is_inline(item.element.name()) && rest >= sum.letters.max(MIN_REST)
    }

    /// Returns the indices of the first headings of the first level.
    pub(super) fn titles(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.titles.iter().copied()
    }
}

/// The open tables, with their numbers of rows and cells.
#[derive(Default)]
struct OpenTables(Vec<(usize, usize)>);

impl OpenTables {
    fn open(&mut self, name: &str) {
        match (name, self.0.last_mut()) {
            ("table", _) => self.0.push((0, 0)),
            ("tr", Some((rows, _))) => *rows += 1,
            ("td" | "th", Some((_, cells))) => *cells += 1,
            _ => {}
        }
    }

    /// Whether this ends a table with several rows and columns.
    fn close(&mut self, name: &str) -> bool {
        let table = if name == "table" { self.0.pop() } else { None };
        table.is_some_and(|(rows, cells)| rows > 1 && cells > rows)
    }
}

/// Whether a line ends as sentences do, and has enough words for one.
fn is_sentence(line: &[TextNode<'_>]) -> bool {
    // `Read more.` and `All rights reserved.` have fewer.
    const MIN_WORDS: usize = 4;
    const MARKS: &[char] = &['.', '!', '?', '\u{2026}', '\u{3002}', '\u{FF01}', '\u{FF1F}'];
    /// Letters of a script without spaces, as they count.
    const MIN_DENSE: usize = 8 * DENSE_LETTER;
    let mut last = line.iter().rev().map(|piece| piece.text.trim_end_matches(is_closing));
    let is_ended = last.find(|text| !text.is_empty()).is_some_and(|text| text.ends_with(MARKS));
    let own = line.iter().filter(|piece| !piece.is_linked);
    let mut words = own.clone().flat_map(|piece| piece.text.split_whitespace());
    is_ended
        && (words.nth(MIN_WORDS - 1).is_some()
            || own.clone().any(|piece| piece.text.contains(|c| c >= DENSE))
                && own.map(|piece| piece.letters).sum::<usize>() >= MIN_DENSE)
}

/// Whether a character may be after the end of a sentence.
fn is_closing(c: char) -> bool {
    c.is_whitespace() || "\"'\u{201D}\u{2019}\u{BB})]".contains(c)
}

fn is_code(name: &str) -> bool {
    matches!(name, "code" | "pre")
}

fn count(text: &str) -> usize {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .map(|c| if c >= DENSE { DENSE_LETTER } else { 1 })
        .sum()
}
