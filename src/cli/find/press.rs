//! Changes the state by a key. Pure.

use crossterm::event::KeyEvent;

use crate::app::search::LegSelection;
use crate::cli::find::filters::{Kind, MENU, NONE, Picker};
use crate::cli::find::keys::{Command, command};
use crate::cli::find::state::{Effect, Panel, State};
use crate::cli::find::worker::{Question, Slot};
use crate::document::Filter;
use crate::present::find::{Meaning, piece};

impl State {
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
    pub(super) fn follow(&mut self, command: Command) -> Vec<Effect> {
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
            Command::Choose => {
                vec![Effect::Open(listing.target(selected), listing.path(selected))]
            }
            Command::Outline => {
                let (document, path) = (listing.target(selected).document, listing.path(selected));
                self.heading = title("outline of ");
                let typed = self.entry.text().to_owned();
                vec![self.ask(Slot::Main, Question::Outline(document, path, typed))]
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
}
