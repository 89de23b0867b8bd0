//! Counts how often a word or phrase occurs in a chunk.

use crate::ids::ChunkId;

/// The number of times a word or phrase occurs in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Occurrences in the chunk's context.
    pub in_context: u32,
    /// Occurrences in the chunk's own text; a phrase counts once here, wherever it occurs.
    pub in_text: u32,
    /// Whether it occurs in another form only: `oﬃcial` for `official`.
    pub is_other_form: bool,
}

impl Occurrence {
    /// Returns occurrences of another form of what is looked for.
    #[must_use]
    pub fn of_other_form(mut found: Vec<Self>) -> Vec<Self> {
        found.iter_mut().for_each(|occurrence| occurrence.is_other_form = true);
        found
    }

    /// Combines the occurrences of the same chunks in two lists, each ordered by chunk id and with each chunk once; so is
    /// what it returns.
    #[must_use]
    pub fn merged(
        mut found: Vec<Self>,
        further: Vec<Self>,
        combine: impl Fn(u32, u32) -> u32,
    ) -> Vec<Self> {
        if found.is_empty() || further.is_empty() {
            return if found.is_empty() { further } else { found };
        }
        found.extend(further);
        found.sort_by_key(|occurrence| occurrence.chunk_id);
        found.dedup_by(|next, kept| {
            let is_same = next.chunk_id == kept.chunk_id;
            if is_same {
                kept.in_context = combine(kept.in_context, next.in_context);
                kept.in_text = combine(kept.in_text, next.in_text);
                kept.is_other_form &= next.is_other_form;
            }
            is_same
        });
        found
    }
}
