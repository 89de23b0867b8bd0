//! Holds what is on the screen, and asks the worker for it. Pure: it asks and acts through [`FindEffect`]s.
//! `press` changes it by keys, `hear` by answers.

use std::time::Duration;

use crate::app::query::read::NeighbourText;
use crate::app::query::search::SearchRequest;
use crate::cli::find::filters::Picker;
use crate::cli::find::line_editor::LineEditor;
use crate::cli::find::worker::{AnswerPane, NumberedQuestion, Question};
use crate::error::Error;
use crate::present::find::{FileTarget, Line, Listing, Meaning, PartReading, ReadingText, piece};
use crate::text::printable::clean;
use crate::text::scripts::is_unspaced;

/// An action outside of the state.
#[derive(Debug)]
pub(super) enum FindEffect {
    /// Ask the worker.
    Ask(NumberedQuestion),
    /// Open a place in the editor or viewer, in the file at the path that is shown.
    Open(FileTarget, Option<String>),
    /// Put text on the clipboard.
    Copy(String),
    /// Leave, and print this location.
    Print(Vec<u8>),
    Quit,
}

/// Everything on the screen.
#[derive(Debug)]
pub(super) struct FindState {
    pub(super) entry: LineEditor,
    /// The options that every search has in common: filter, limit, rankings.
    pub(super) request: SearchRequest,
    /// The lists that were followed, the hits of the query first; never empty.
    pub(super) views: Vec<View>,
    /// A part of a document in place of the list.
    pub(super) page: Option<ReadingPage>,
    pub(super) panel: Panel,
    /// Shown in place of the most important keys, until the next key.
    pub(super) message: Option<Line>,
    /// Whether the location is printed instead of opened.
    pub(super) is_printing: bool,
    pub(super) num_documents: usize,
    /// How long the last search took.
    pub(super) took: Option<Duration>,
    /// Rows of text of the last layout.
    pub(super) text_rows: usize,
    /// The numbers of the last questions, by slot.
    pub(super) last: [u64; 2],
    /// The heading of the list that was asked for; `None` for the hits of the query.
    pub(super) heading: Option<Line>,
    /// Whether the hits are not those of the query yet.
    pub(super) is_behind: bool,
    /// Whether the first of these hits is chosen as soon as they arrive.
    pub(super) is_choosing: bool,
}

/// A list with the text of its selected entry.
#[derive(Debug)]
pub(super) struct View {
    /// The subject of the list; `None` for the hits of the query.
    pub(super) heading: Option<Line>,
    pub(super) listing: Listing,
    pub(super) selected: usize,
    /// The first row of the list that is shown.
    pub(super) offset: usize,
    /// The preview of the selected entry, once it is known.
    pub(super) beside: Option<EntryPreview>,
    /// Lines by which the text is scrolled from where it begins.
    pub(super) scroll: isize,
}

/// The preview of an entry of a list.
#[derive(Debug)]
pub(super) enum EntryPreview {
    /// The neighbours of a hit.
    Around(NeighbourText),
    /// The text of a part.
    Part(Box<PartReading>),
}

/// A part of a document that is read.
#[derive(Debug)]
pub(super) struct ReadingPage {
    pub(super) reading: Box<PartReading>,
    pub(super) scroll: isize,
    /// Its lines at a width.
    pub(super) lines: Option<(usize, ReadingText)>,
}

/// The panel in front of the list.
#[derive(Debug)]
pub(super) enum Panel {
    None,
    /// The letters of the filters.
    Filters,
    Picker(Picker),
    /// The page of keys.
    Keys,
}

/// Returns the query that also matches words which begin with the one that is being typed.
fn with_beginning(typed: &str) -> String {
    /// Shorter beginnings match too much to help.
    const LEAST: usize = 3;
    let last = typed.rsplit(' ').next().unwrap_or_default();
    let is_word = last.chars().count() >= LEAST
        && last.chars().all(|c| c.is_alphanumeric() && !is_unspaced(c))
        // Within a phrase, the star would be a part of it.
        && typed.matches('"').count().is_multiple_of(2);
    if is_word { format!("{typed} {last}*") } else { typed.to_owned() }
}

impl View {
    pub(super) fn new(heading: Option<Line>, listing: Listing) -> Self {
        Self { heading, listing, selected: 0, offset: 0, beside: None, scroll: 0 }
    }
}

impl FindState {
    /// Returns the state before the first key; `request` has the query.
    pub(super) fn new(request: SearchRequest, num_documents: usize, is_printing: bool) -> Self {
        Self {
            entry: LineEditor::new(&request.query),
            request,
            views: vec![View::new(None, Listing::of_similar(Vec::new()))],
            page: None,
            panel: Panel::None,
            message: None,
            is_printing,
            num_documents,
            took: None,
            text_rows: 1,
            last: [0; 2],
            heading: None,
            is_behind: false,
            is_choosing: false,
        }
    }

    /// Returns the list on the screen.
    pub(super) fn view(&self) -> &View {
        self.views.last().expect("the hits are always there")
    }

    pub(super) fn view_mut(&mut self) -> &mut View {
        self.views.last_mut().expect("the hits are always there")
    }

    /// Whether something is searched for.
    pub(super) fn has_query(&self) -> bool {
        !self.entry.text().trim().is_empty()
    }

    /// Searches for the query; without one, there are no hits.
    pub(super) fn search(&mut self) -> Vec<FindEffect> {
        self.views.truncate(1);
        self.page = None;
        if !self.has_query() {
            self.views[0] = View::new(None, Listing::of_similar(Vec::new()));
            (self.is_behind, self.took) = (false, None);
            // The next number makes an answer that is still coming out of date.
            self.last[0] += 1;
            return Vec::new();
        }
        (self.is_behind, self.heading) = (true, None);
        let view = &mut self.views[0];
        if view.selected > 0 {
            (view.selected, view.beside) = (0, None);
        }
        (view.offset, view.scroll) = (0, 0);
        let query = with_beginning(self.entry.text());
        let request = SearchRequest { query, ..self.request.clone() };
        vec![self.ask(AnswerPane::Main, Question::Search(Box::new(request)))]
    }

    pub(super) fn ask(&mut self, slot: AnswerPane, question: Question) -> FindEffect {
        let number = &mut self.last[slot as usize];
        *number += 1;
        FindEffect::Ask(NumberedQuestion { slot, number: *number, question })
    }

    /// Asks for the preview of the selected entry.
    pub(super) fn ask_beside(&mut self) -> Vec<FindEffect> {
        let view = self.view();
        if view.listing.is_empty() {
            return Vec::new();
        }
        let question = match view.listing.chunk(view.selected) {
            Some(chunk) => Question::Around(chunk),
            None => self.part(None),
        };
        vec![self.ask(AnswerPane::Beside, question)]
    }

    /// Returns the question for the part that the selected entry is in.
    pub(super) fn part(&self, passage: Option<String>) -> Question {
        let view = self.view();
        Question::Part {
            document: view.listing.target(view.selected).document,
            path: view.listing.path(view.selected),
            selection: view.listing.selection(view.selected),
            typed: self.entry.text().to_owned(),
            passage,
        }
    }

    /// Shows a message until the next key.
    pub(super) fn warn(&mut self, text: &str) {
        self.message = Some(vec![piece(Meaning::Warning, clean(text))]);
    }

    /// Shows a message about success.
    pub(super) fn inform(&mut self, text: &str) {
        self.message = Some(vec![piece(Meaning::Good, clean(text))]);
    }

    /// Shows an error, with what to do about it.
    pub(super) fn report(&mut self, error: &Error) {
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        self.message = Some(vec![piece(Meaning::Bad, clean(&format!("{error}{hint}")))]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_is_typed_is_also_a_beginning() {
        for (typed, expected) in [
            ("charg", "charg charg*"),
            ("the charg", "the charg charg*"),
            ("the ", "the "),
            ("ab", "ab"),
            ("-draft", "-draft"),
            ("\"frozen gau", "\"frozen gau"),
            ("begin*", "begin*"),
            ("潮位計", "潮位計"),
        ] {
            assert_eq!(with_beginning(typed), expected);
        }
    }
}
