//! Embeds texts with the model of the database.

use rayon::prelude::*;

use crate::app::session::model;
use crate::app::{Observer, Session};
use crate::document::{Binding, Embedding};
use crate::embed::Embedder;
use crate::error::{Error, Result};

pub use crate::embed::EmbeddingSide;

/// Embeds one text; warns if it is too long for the model.
pub fn text(
    session: &Session,
    text: &str,
    side: EmbeddingSide,
    observer: &dyn Observer,
) -> Result<Vec<f32>> {
    if text.trim().is_empty() {
        return Err(Error::usage("the text is empty"));
    }
    let (selection, bound) = select(session)?;
    let embedder = selection.open_for_query(bound.as_ref(), observer)?;
    let (embedding, is_cut) = embedder.embed_cut(text, side)?;
    if is_cut {
        warn_of_cut("the text", &*embedder, observer);
    }
    Ok(embedding.vector)
}

/// Embeds lines, a batch at a time.
pub struct LineEmbedder<'a> {
    embedder: Box<dyn Embedder>,
    side: EmbeddingSide,
    num_lines: usize,
    observer: &'a dyn Observer,
}

impl<'a> LineEmbedder<'a> {
    /// Opens the model of the database.
    pub fn open(
        session: &Session,
        side: EmbeddingSide,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let (selection, bound) = select(session)?;
        let embedder = selection.open_for_texts(bound.as_ref(), observer)?;
        Ok(Self { embedder, side, num_lines: 0, observer })
    }

    /// Returns the number of embedded lines so far.
    pub fn num_lines(&self) -> usize {
        self.num_lines
    }

    /// Embeds the next lines on all processors. Warns of each line that is too long for the model, by its
    /// number from 1.
    pub fn embed(&mut self, lines: &[String]) -> Result<Vec<Vec<f32>>> {
        let embedder = &*self.embedder;
        // Each job has one text, so that a few long ones do not wait for each other.
        let embedded: Vec<(Embedding, bool)> = lines
            .par_iter()
            .with_max_len(1)
            .map(|line| embedder.embed_cut(line, self.side))
            .collect::<Result<_>>()?;
        for (number, (_, is_cut)) in (self.num_lines + 1..).zip(&embedded) {
            if *is_cut {
                warn_of_cut(&format!("line {number}"), embedder, self.observer);
            }
        }
        self.num_lines += lines.len();
        Ok(embedded.into_iter().map(|(embedding, _)| embedding.vector).collect())
    }
}

/// Returns the database's model, unless the settings name another, and the database's binding.
fn select(session: &Session) -> Result<(model::ModelSelection, Option<Binding>)> {
    let bound = session.binding()?;
    model::check_selection(session, bound.as_ref())?;
    Ok((model::select(session, bound.as_ref())?, bound))
}

fn warn_of_cut(what: &str, embedder: &dyn Embedder, observer: &dyn Observer) {
    let max_tokens = embedder.binding().max_tokens;
    observer.warn(format!(
        "{what} is longer than the model's limit of {max_tokens} tokens; the rest is ignored"
    ));
}
