//! Changes the state by an answer of the worker. Pure.

use std::time::Duration;

use crate::app::query::read::NeighbourText;
use crate::cli::find::keys::KeyCommand;
use crate::cli::find::state::{EntryPreview, FindEffect, FindState, Panel, ReadingPage, View};
use crate::cli::find::worker::{AnswerPane, WorkerAnswer, WorkerReply};
use crate::error::Result;
use crate::present::find::Listing;

impl FindState {
    /// Handles a message from the worker.
    pub(super) fn receive(&mut self, reply: WorkerReply) -> Vec<FindEffect> {
        match reply {
            WorkerReply::Message(text) => self.warn(&text),
            WorkerReply::Lost => return vec![FindEffect::Quit],
            WorkerReply::Answer { slot, number, .. } if number != self.last[slot as usize] => {}
            WorkerReply::Answer { slot, answer, took, is_first, .. } => {
                return self.show(slot, answer, took, is_first);
            }
        }
        Vec::new()
    }

    fn show(
        &mut self,
        slot: AnswerPane,
        answer: Result<WorkerAnswer>,
        took: Duration,
        is_first: bool,
    ) -> Vec<FindEffect> {
        match (answer, slot) {
            (Err(error), _) => self.report(&error),
            (Ok(WorkerAnswer::Listing(listing, around)), _) if self.heading.is_none() => {
                self.is_behind = is_first;
                self.took = Some(took);
                return self.show_hits(listing, around);
            }
            (Ok(WorkerAnswer::Listing(listing, around)), _) => {
                let here = self.view().listing.target(self.view().selected);
                let mut view = View::new(self.heading.take(), listing);
                view.beside = around.map(EntryPreview::Around);
                view.selected = match view.listing.chunk(0) {
                    None => view.listing.part_at(here).unwrap_or(0),
                    Some(_) => 0,
                };
                let is_known = view.beside.is_some();
                self.page = None;
                self.views.push(view);
                return if is_known { Vec::new() } else { self.ask_beside() };
            }
            (Ok(WorkerAnswer::Part(reading)), AnswerPane::Main) => {
                self.page = Some(ReadingPage { reading, scroll: 0, lines: None });
            }
            (Ok(WorkerAnswer::Part(reading)), AnswerPane::Beside) => {
                self.view_mut().beside = Some(EntryPreview::Part(reading));
            }
            (Ok(WorkerAnswer::Around(around)), _) => {
                self.view_mut().beside = Some(EntryPreview::Around(around));
            }
            (Ok(WorkerAnswer::Values(values)), _) => {
                if let Panel::Picker(picker) = &mut self.panel {
                    picker.values = values;
                }
            }
        }
        Vec::new()
    }

    /// Shows the hits of the query. A hit that the user has selected among the first ones remains
    /// selected.
    fn show_hits(&mut self, listing: Listing, around: Option<NeighbourText>) -> Vec<FindEffect> {
        let old = &self.views[0];
        // A search begins at the first hit, so another one was selected since.
        let moved = Some(old.selected).filter(|selected| *selected > 0);
        let chunk = moved.and_then(|selected| old.listing.chunk(selected));
        let kept = chunk.and_then(|chunk| listing.position(chunk)).unwrap_or(0);
        let (offset, scroll) = (old.offset, old.scroll);
        let mut view = View::new(None, listing);
        if kept == 0 {
            view.beside = around.map(EntryPreview::Around);
        } else {
            (view.selected, view.offset, view.scroll) = (kept, offset, scroll);
        }
        self.views[0] = view;
        if self.is_choosing && !self.is_behind {
            self.is_choosing = false;
            return self.follow(KeyCommand::Choose);
        }
        if kept == 0 { Vec::new() } else { self.ask_beside() }
    }
}
