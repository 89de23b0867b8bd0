//! Changes the state by an answer of the worker. Pure.

use std::time::Duration;

use crate::app::read::Around;
use crate::cli::find::keys::Command;
use crate::cli::find::state::{Beside, Effect, Page, Panel, State, View};
use crate::cli::find::worker::{Answer, Reply, Slot};
use crate::error::Result;
use crate::present::find::Listing;

impl State {
    /// Handles what the worker sends.
    pub(super) fn receive(&mut self, reply: Reply) -> Vec<Effect> {
        match reply {
            Reply::Message(text) => self.warn(&text),
            Reply::Lost => return vec![Effect::Quit],
            Reply::Answer { slot, number, .. } if number != self.last[slot as usize] => {}
            Reply::Answer { slot, answer, took, is_first, .. } => {
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
