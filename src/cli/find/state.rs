//! Holds what is on the screen, and changes it by keys and answers. Pure: it asks and acts through [`Effect`]s.

use std::time::Duration;

use crossterm::event::KeyEvent;

use crate::app::read::Around;
use crate::app::search::{LegSelection, SearchRequest};
use crate::cli::find::entry::Entry;
use crate::cli::find::filters::{Kind, MENU, NONE, Picker};
use crate::cli::find::keys::{Command, command};
use crate::cli::find::worker::{Answer, Asked, Question, Slot, Told};
use crate::document::Filter;
use crate::error::{Error, Result};
use crate::present::find::{Body, Line, Listing, Meaning, Reading, Target, piece};
use crate::text::printable::clean;
use crate::text::scripts::is_unspaced;

/// An action outside of the state.
#[derive(Debug)]
pub(super) enum Effect {
    /// Ask the worker.
    Ask(Asked),
    /// Open a place in the editor or viewer.
    Open(Target),
    /// Put text on the clipboard.
    Copy(String),
    /// Leave, and print this location.
    Print(Vec<u8>),
    /// Leave.
    Quit,
}

/// Everything on the screen.
#[derive(Debug)]
pub(super) struct State {
    /// The query.
    pub(super) entry: Entry,
    /// What every search has in common: filter, limit, rankings.
    pub(super) request: SearchRequest,
    /// The lists that were followed, the hits of the query first; never empty.
    pub(super) views: Vec<View>,
    /// A part of a document in place of the list.
    pub(super) page: Option<Page>,
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
    last: [u64; 2],
    /// The heading of the list that was asked for; `None` for the hits of the query.
    heading: Option<Line>,
    /// Whether the hits are not those of the query yet.
    is_behind: bool,
    /// Whether the first of these hits is chosen as soon as they are there.
    is_choosing: bool,
}

/// A list with the text of its selected entry.
#[derive(Debug)]
pub(super) struct View {
    /// What the list is about; `None` for the hits of the query.
    pub(super) heading: Option<Line>,
    pub(super) listing: Listing,
    pub(super) selected: usize,
    /// The first row of the list that is shown.
    pub(super) offset: usize,
    /// What belongs to the selected entry, once it is known.
    pub(super) beside: Option<Beside>,
    /// Lines by which the text is scrolled from where it begins.
    pub(super) scroll: isize,
}

/// What belongs to an entry of a list.
#[derive(Debug)]
pub(super) enum Beside {
    /// The neighbours of a hit.
    Around(Around),
    /// The text of a part.
    Part(Box<Reading>),
}

/// A part of a document that is read.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) reading: Box<Reading>,
    pub(super) scroll: isize,
    /// Its lines at a width.
    pub(super) lines: Option<(usize, Body)>,
}

/// What is in front of the list.
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
    fn new(heading: Option<Line>, listing: Listing) -> Self {
        Self { heading, listing, selected: 0, offset: 0, beside: None, scroll: 0 }
    }
}

impl State {
    /// Returns the state before the first key; `request` has the query.
    pub(super) fn new(request: SearchRequest, num_documents: usize, is_printing: bool) -> Self {
        Self {
            entry: Entry::new(&request.query),
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
    pub(super) fn search(&mut self) -> Vec<Effect> {
        self.views.truncate(1);
        self.page = None;
        if !self.has_query() {
            self.views[0] = View::new(None, Listing::of_similar(Vec::new()));
            (self.is_behind, self.took) = (false, None);
            // An answer that is still coming is not wanted any more.
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
        vec![self.ask(Slot::Main, Question::Search(Box::new(request)))]
    }

    fn ask(&mut self, slot: Slot, question: Question) -> Effect {
        let number = &mut self.last[slot as usize];
        *number += 1;
        Effect::Ask(Asked { slot, number: *number, question })
    }

    /// Asks for what belongs to the selected entry.
    fn ask_beside(&mut self) -> Vec<Effect> {
        let view = self.view();
        if view.listing.is_empty() {
            return Vec::new();
        }
        let question = match view.listing.chunk(view.selected) {
            Some(chunk) => Question::Around(chunk),
            None => self.part(None),
        };
        vec![self.ask(Slot::Beside, question)]
    }

    /// Returns the question for the part that the selected entry is in.
    fn part(&self, passage: Option<String>) -> Question {
        let view = self.view();
        Question::Part {
            document: view.listing.target(view.selected).document,
            selection: view.listing.selection(view.selected),
            typed: self.entry.text().to_owned(),
            passage,
        }
    }

    /// Inserts pasted text.
    pub(super) fn paste(&mut self, text: &str) -> Vec<Effect> {
        if let Panel::Picker(picker) = &mut self.panel {
            picker.entry.insert(text);
            picker.selected = 0;
            return Vec::new();
        }
        self.panel = Panel::None;
        self.entry.insert(text);
        self.search()
    }

    /// Handles a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Some(command) = command(key) else { return Vec::new() };
        self.message = None;
        self.is_choosing = false;
        if command == Command::Quit {
            return vec![Effect::Quit];
        }
        match &self.panel {
            Panel::Keys => {
                self.panel = Panel::None;
                Vec::new()
            }
            Panel::Filters => self.in_menu(command),
            Panel::Picker(_) => self.in_picker(command),
            Panel::None => match self.page.is_some() {
                true => self.in_page(command),
                false => self.in_list(command),
            },
        }
    }

    fn in_list(&mut self, command: Command) -> Vec<Effect> {
        if let Some(is_changed) = self.entry.edit(command) {
            return if is_changed { self.search() } else { Vec::new() };
        }
        let page = isize::try_from(self.text_rows.saturating_sub(1)).unwrap_or(1);
        match command {
            Command::Up => return self.select(-1),
            Command::Down => return self.select(1),
            Command::PageUp => self.view_mut().scroll -= page,
            Command::PageDown => self.view_mut().scroll += page,
            Command::Mode => {
                self.request.legs = match self.request.legs {
                    None | Some(LegSelection::Both) => Some(LegSelection::Keyword),
                    Some(LegSelection::Keyword) => Some(LegSelection::Vector),
                    Some(LegSelection::Vector) => None,
                };
                return self.search();
            }
            Command::Filter => self.panel = Panel::Filters,
            Command::Keys => self.panel = Panel::Keys,
            Command::Back if self.views.len() > 1 => {
                self.views.pop();
                if self.is_behind && self.views.len() == 1 {
                    return self.search();
                }
            }
            Command::Back => return vec![Effect::Quit],
            command => return self.follow(command),
        }
        Vec::new()
    }

    /// Does something with the selected entry.
    fn follow(&mut self, command: Command) -> Vec<Effect> {
        if command == Command::Choose && self.is_behind && self.views.len() == 1 {
            self.is_choosing = true;
            return Vec::new();
        }
        let view = self.view();
        if view.listing.is_empty() {
            return Vec::new();
        }
        let (selected, listing) = (view.selected, &view.listing);
        let title = |word: &str| {
            let title = piece(Meaning::Title, listing.title(selected));
            Some(vec![piece(Meaning::Faint, word), title])
        };
        match command {
            Command::Choose if self.is_printing => vec![Effect::Print(listing.location(selected))],
            Command::Choose => vec![Effect::Open(listing.target(selected))],
            Command::Outline => {
                let document = listing.target(selected).document;
                self.heading = title("outline of ");
                let typed = self.entry.text().to_owned();
                vec![self.ask(Slot::Main, Question::Outline(document, typed))]
            }
            Command::Section => {
                let question = self.part(listing.text(selected));
                vec![self.ask(Slot::Main, question)]
            }
            Command::Similar | Command::CopyText | Command::CopyCitation => {
                let Some(chunk) = listing.chunk(selected) else {
                    self.warn(
                        "only a passage can be copied or compared; Esc goes back to the hits",
                    );
                    return Vec::new();
                };
                let text = match command {
                    Command::CopyText => listing.text(selected),
                    Command::CopyCitation => listing.citation(selected),
                    _ => {
                        self.heading = title("similar to ");
                        return vec![self.ask(Slot::Main, Question::Similar(chunk))];
                    }
                };
                text.map(Effect::Copy).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn in_page(&mut self, command: Command) -> Vec<Effect> {
        let Some(page) = &mut self.page else { return Vec::new() };
        let rows = isize::try_from(self.text_rows.saturating_sub(1)).unwrap_or(1);
        match command {
            Command::Up => page.scroll -= 1,
            Command::Down => page.scroll += 1,
            Command::PageUp => page.scroll -= rows,
            Command::PageDown => page.scroll += rows,
            Command::Home => page.scroll = isize::MIN / 2,
            Command::End => page.scroll = isize::MAX / 2,
            Command::Back => self.page = None,
            Command::Keys => self.panel = Panel::Keys,
            Command::Section | Command::Filter => {}
            // Typing continues the search.
            command => return self.in_list(command),
        }
        Vec::new()
    }

    fn in_menu(&mut self, command: Command) -> Vec<Effect> {
        self.panel = Panel::None;
        let Command::Insert(letter) = command else { return Vec::new() };
        let letter = letter.to_ascii_lowercase();
        if letter == NONE {
            self.request.filter = Filter::default();
            return self.search();
        }
        let Some((_, name, kind)) = MENU.into_iter().find(|entry| entry.0 == letter) else {
            return Vec::new();
        };
        self.panel = Panel::Picker(Picker::new(name, kind));
        match kind {
            Kind::Date => Vec::new(),
            Kind::Of(facet) => {
                let filter = Box::new(self.request.filter.clone());
                vec![self.ask(Slot::Beside, Question::Values(facet, filter))]
            }
        }
    }

    fn in_picker(&mut self, command: Command) -> Vec<Effect> {
        let Panel::Picker(picker) = &mut self.panel else { return Vec::new() };
        if let Some(is_changed) = picker.entry.edit(command) {
            if is_changed {
                picker.selected = 0;
            }
            return Vec::new();
        }
        let last = picker.matching().len().saturating_sub(1);
        match command {
            Command::Up => picker.selected = picker.selected.saturating_sub(1),
            Command::Down => picker.selected = (picker.selected + 1).min(last),
            Command::PageUp => picker.selected = picker.selected.saturating_sub(self.text_rows),
            Command::PageDown => picker.selected = (picker.selected + self.text_rows).min(last),
            Command::Choose => match picker.apply(&mut self.request.filter) {
                Ok(()) => {
                    self.panel = Panel::None;
                    return self.search();
                }
                Err(message) => self.warn(&message),
            },
            Command::Back => {
                self.panel = Panel::None;
                return self.ask_beside();
            }
            _ => {}
        }
        Vec::new()
    }

    fn select(&mut self, step: isize) -> Vec<Effect> {
        let view = self.view_mut();
        let last = view.listing.len().saturating_sub(1);
        let selected = view.selected.saturating_add_signed(step).min(last);
        if selected == view.selected {
            return Vec::new();
        }
        (view.selected, view.beside, view.scroll) = (selected, None, 0);
        self.ask_beside()
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

    /// Handles what the worker sends.
    pub(super) fn hear(&mut self, told: Told) -> Vec<Effect> {
        match told {
            Told::Message(text) => self.warn(&text),
            Told::Lost => return vec![Effect::Quit],
            Told::Answer { slot, number, .. } if number != self.last[slot as usize] => {}
            Told::Answer { slot, answer, took, is_first, .. } => {
                return self.show(slot, answer, took, is_first);
            }
        }
        Vec::new()
    }

    fn show(
        &mut self,
        slot: Slot,
        answer: Result<Answer>,
        took: Duration,
        is_first: bool,
    ) -> Vec<Effect> {
        match (answer, slot) {
            (Err(error), _) => self.report(&error),
            (Ok(Answer::Listing(listing, around)), _) if self.heading.is_none() => {
                self.is_behind = is_first;
                self.took = Some(took);
                return self.show_hits(listing, around);
            }
            (Ok(Answer::Listing(listing, around)), _) => {
                let here = self.view().listing.target(self.view().selected);
                let mut view = View::new(self.heading.take(), listing);
                view.beside = around.map(Beside::Around);
                view.selected = match view.listing.chunk(0) {
                    None => view.listing.part_at(here).unwrap_or(0),
                    Some(_) => 0,
                };
                let is_known = view.beside.is_some();
                self.page = None;
                self.views.push(view);
                return if is_known { Vec::new() } else { self.ask_beside() };
            }
            (Ok(Answer::Part(reading)), Slot::Main) => {
                self.page = Some(Page { reading, scroll: 0, lines: None });
            }
            (Ok(Answer::Part(reading)), Slot::Beside) => {
                self.view_mut().beside = Some(Beside::Part(reading));
            }
            (Ok(Answer::Around(around)), _) => {
                self.view_mut().beside = Some(Beside::Around(around));
            }
            (Ok(Answer::Values(values)), _) => {
                if let Panel::Picker(picker) = &mut self.panel {
                    picker.values = values;
                }
            }
        }
        Vec::new()
    }

    /// Shows the hits of the query. What the user has selected among the first ones stays selected.
    fn show_hits(&mut self, listing: Listing, around: Option<Around>) -> Vec<Effect> {
        let old = &self.views[0];
        // A search begins at the first hit, so another one was selected since.
        let moved = Some(old.selected).filter(|selected| *selected > 0);
        let chunk = moved.and_then(|selected| old.listing.chunk(selected));
        let kept = chunk.and_then(|chunk| listing.position(chunk)).unwrap_or(0);
        let (offset, scroll) = (old.offset, old.scroll);
        let mut view = View::new(None, listing);
        if kept == 0 {
            view.beside = around.map(Beside::Around);
        } else {
            (view.selected, view.offset, view.scroll) = (kept, offset, scroll);
        }
        self.views[0] = view;
        if self.is_choosing && !self.is_behind {
            self.is_choosing = false;
            return self.follow(Command::Choose);
        }
        if kept == 0 { Vec::new() } else { self.ask_beside() }
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
