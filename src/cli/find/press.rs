//! Changes the state by a key. Pure.

use crossterm::event::KeyEvent;

use crate::app::query::search::LegSelection;
use crate::cli::find::filters::{FilterKind, MENU, NONE, Picker};
use crate::cli::find::keys::{KeyCommand, command};
use crate::cli::find::state::{FindEffect, FindState, Panel};
use crate::cli::find::worker::{AnswerPane, Question};
use crate::document::Filter;
use crate::present::find::{Line, Meaning, piece};

impl FindState {
    pub(super) fn paste(&mut self, text: &str) -> Vec<FindEffect> {
        if let Panel::Picker(picker) = &mut self.panel {
            picker.entry.insert(text);
            picker.selected = 0;
            return Vec::new();
        }
        self.panel = Panel::None;
        self.entry.insert(text);
        self.search()
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Vec<FindEffect> {
        let Some(command) = command(key) else { return Vec::new() };
        self.message = None;
        self.is_choosing = false;
        if command == KeyCommand::Quit {
            return vec![FindEffect::Quit];
        }
        match &self.panel {
            Panel::Keys => {
                self.panel = Panel::None;
                Vec::new()
            }
            Panel::Filters => self.in_menu(command),
            Panel::Picker(_) => self.in_picker(command),
            Panel::None if self.page.is_some() => self.in_page(command),
            Panel::None => self.in_list(command),
        }
    }

    fn in_list(&mut self, command: KeyCommand) -> Vec<FindEffect> {
        if let Some(is_changed) = self.entry.edit(command) {
            return if is_changed { self.search() } else { Vec::new() };
        }
        let page = isize::try_from(self.text_rows.saturating_sub(1)).unwrap_or(1);
        match command {
            KeyCommand::Up => return self.select(-1),
            KeyCommand::Down => return self.select(1),
            KeyCommand::PageUp => self.view_mut().scroll -= page,
            KeyCommand::PageDown => self.view_mut().scroll += page,
            KeyCommand::Mode => {
                self.request.legs = match self.request.legs {
                    None | Some(LegSelection::Both) => Some(LegSelection::Keyword),
                    Some(LegSelection::Keyword) => Some(LegSelection::Vector),
                    Some(LegSelection::Vector) => None,
                };
                return self.search();
            }
            KeyCommand::Filter => self.panel = Panel::Filters,
            KeyCommand::Keys => self.panel = Panel::Keys,
            KeyCommand::Back if self.views.len() > 1 => {
                self.views.pop();
                if self.is_behind && self.views.len() == 1 {
                    return self.search();
                }
            }
            KeyCommand::Back => return vec![FindEffect::Quit],
            command => return self.follow(command),
        }
        Vec::new()
    }

    /// Does something with the selected entry.
    pub(super) fn follow(&mut self, command: KeyCommand) -> Vec<FindEffect> {
        if command == KeyCommand::Choose && self.is_behind && self.views.len() == 1 {
            self.is_choosing = true;
            return Vec::new();
        }
        let view = self.view();
        if view.listing.is_empty() {
            return Vec::new();
        }
        let (selected, listing) = (view.selected, &view.listing);
        match command {
            KeyCommand::Choose if self.is_printing => {
                vec![FindEffect::Print(listing.location(selected))]
            }
            KeyCommand::Choose => {
                vec![FindEffect::Open(listing.target(selected), listing.path(selected))]
            }
            KeyCommand::Outline => {
                let (document, path) = (listing.target(selected).document, listing.path(selected));
                self.heading = Some(heading("outline of ", listing.title(selected)));
                let typed = self.entry.text().to_owned();
                vec![self.ask(AnswerPane::Main, Question::Outline(document, path, typed))]
            }
            KeyCommand::Section => {
                let question = self.part(listing.text(selected));
                vec![self.ask(AnswerPane::Main, question)]
            }
            KeyCommand::Similar | KeyCommand::CopyText | KeyCommand::CopyCitation => {
                let Some(chunk) = listing.chunk(selected) else {
                    self.warn(
                        "only a passage can be copied or compared; Esc goes back to the results",
                    );
                    return Vec::new();
                };
                let text = match command {
                    KeyCommand::CopyText => listing.text(selected),
                    KeyCommand::CopyCitation => listing.citation(selected),
                    _ => {
                        self.heading = Some(heading("similar to ", listing.title(selected)));
                        return vec![self.ask(AnswerPane::Main, Question::Similar(chunk))];
                    }
                };
                text.map(FindEffect::Copy).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn in_page(&mut self, command: KeyCommand) -> Vec<FindEffect> {
        let Some(page) = &mut self.page else { return Vec::new() };
        let rows = isize::try_from(self.text_rows.saturating_sub(1)).unwrap_or(1);
        match command {
            KeyCommand::Up => page.scroll -= 1,
            KeyCommand::Down => page.scroll += 1,
            KeyCommand::PageUp => page.scroll -= rows,
            KeyCommand::PageDown => page.scroll += rows,
            KeyCommand::Home => page.scroll = isize::MIN / 2,
            KeyCommand::End => page.scroll = isize::MAX / 2,
            KeyCommand::Back => self.page = None,
            KeyCommand::Keys => self.panel = Panel::Keys,
            KeyCommand::Section | KeyCommand::Filter => {}
            // Typing continues the search.
            command => return self.in_list(command),
        }
        Vec::new()
    }

    fn in_menu(&mut self, command: KeyCommand) -> Vec<FindEffect> {
        self.panel = Panel::None;
        let KeyCommand::Insert(letter) = command else { return Vec::new() };
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
            FilterKind::Date => Vec::new(),
            FilterKind::Of(facet) => {
                let filter = Box::new(self.request.filter.clone());
                vec![self.ask(AnswerPane::Beside, Question::Values(facet, filter))]
            }
        }
    }

    fn in_picker(&mut self, command: KeyCommand) -> Vec<FindEffect> {
        let Panel::Picker(picker) = &mut self.panel else { return Vec::new() };
        if let Some(is_changed) = picker.entry.edit(command) {
            if is_changed {
                picker.selected = 0;
            }
            return Vec::new();
        }
        let last = picker.matching().len().saturating_sub(1);
        match command {
            KeyCommand::Up => picker.selected = picker.selected.saturating_sub(1),
            KeyCommand::Down => picker.selected = (picker.selected + 1).min(last),
            KeyCommand::PageUp => picker.selected = picker.selected.saturating_sub(self.text_rows),
            KeyCommand::PageDown => picker.selected = (picker.selected + self.text_rows).min(last),
            KeyCommand::Choose => match picker.apply(&mut self.request.filter) {
                Ok(()) => {
                    self.panel = Panel::None;
                    return self.search();
                }
                Err(message) => self.warn(&message),
            },
            KeyCommand::Back => {
                self.panel = Panel::None;
                return self.ask_beside();
            }
            _ => {}
        }
        Vec::new()
    }

    fn select(&mut self, step: isize) -> Vec<FindEffect> {
        let view = self.view_mut();
        let last = view.listing.len().saturating_sub(1);
        let selected = view.selected.saturating_add_signed(step).min(last);
        if selected == view.selected {
            return Vec::new();
        }
        (view.selected, view.beside, view.scroll) = (selected, None, 0);
        self.ask_beside()
    }
}

/// Returns the heading of a list that is about a selected entry.
fn heading(about: &str, title: String) -> Line {
    vec![piece(Meaning::Faint, about), piece(Meaning::Title, title)]
}
