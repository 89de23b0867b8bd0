//! Packs the places of a term in a block of chunks, and finds phrases in them. Pure.
//!
//! An entry per chunk: its place in the block (one byte), the numbers of its places in the context and
//! in the text, and the differences between those places, in each from 0. All but the first are numbers of
//! seven bits per byte, the lowest first; the highest bit says that another byte follows.

use super::copy::CopyRows;
use crate::ids::ChunkId;
use crate::{BLOCK_BITS, Occurrence, Phrase, TermPlace};

/// The places of a term in a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkPlaces {
    pub(super) chunk_id: ChunkId,
    /// Ascending.
    pub(super) context: Vec<u32>,
    /// Ascending.
    pub(super) text: Vec<u32>,
}

/// Adds a place to entries, which are given in order.
pub(super) fn add(entries: &mut Vec<ChunkPlaces>, place: TermPlace) {
    let TermPlace { chunk_id, is_context, position } = place;
    if entries.last().is_none_or(|last| last.chunk_id != chunk_id) {
        entries.push(ChunkPlaces { chunk_id, context: Vec::new(), text: Vec::new() });
    }
    if let Some(last) = entries.last_mut() {
        let places = if is_context { &mut last.context } else { &mut last.text };
        places.push(position);
    }
}

/// Adds the row of a term with its entries in a block.
pub(super) fn add_row(
    rows: &mut CopyRows,
    index: i16,
    term: &str,
    block: i64,
    entries: &[ChunkPlaces],
) {
    rows.row(4).smallint(index).text(term).bigint(block).bytes(&pack(entries));
}

pub(super) fn pack(entries: &[ChunkPlaces]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ChunkPlaces { chunk_id, context, text } in entries {
        bytes.push(chunk_id.0.to_le_bytes()[0]);
        put(&mut bytes, u32::try_from(context.len()).unwrap_or(u32::MAX));
        put(&mut bytes, u32::try_from(text.len()).unwrap_or(u32::MAX));
        for places in [context, text] {
            let mut last = 0;
            for place in places {
                put(&mut bytes, place.wrapping_sub(last));
                last = *place;
            }
        }
    }
    bytes
}

/// Unpacks the entries of a block; `None` if they are not what [`pack`] returns.
pub(super) fn unpack(block: i64, bytes: &[u8]) -> Option<Vec<ChunkPlaces>> {
    let mut rest = bytes;
    let mut entries: Vec<ChunkPlaces> = Vec::new();
    while let Some((within, after)) = rest.split_first() {
        rest = after;
        let chunk_id = ChunkId(block.checked_shl(BLOCK_BITS)? | i64::from(*within));
        if entries.last().is_some_and(|last| last.chunk_id >= chunk_id) {
            return None;
        }
        let (num_context, num_text) = (take(&mut rest)?, take(&mut rest)?);
        let context = places(&mut rest, num_context)?;
        let text = places(&mut rest, num_text)?;
        entries.push(ChunkPlaces { chunk_id, context, text });
    }
    Some(entries)
}

fn places(rest: &mut &[u8], count: u32) -> Option<Vec<u32>> {
    let (mut found, mut last) = (Vec::new(), 0_u32);
    for _ in 0..count {
        last = last.checked_add(take(rest)?)?;
        found.push(last);
    }
    Some(found)
}

fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn take(rest: &mut &[u8]) -> Option<u32> {
    let mut number = 0_u64;
    // Five bytes with seven bits each hold a number of 32 bits.
    for shift in (0..35).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

/// Merges the entries of several terms to those of any of them; ordered by chunk.
pub(super) fn union(lists: Vec<Vec<ChunkPlaces>>) -> Vec<ChunkPlaces> {
    let mut all: Vec<ChunkPlaces> = lists.into_iter().flatten().collect();
    all.sort_by_key(|entry| entry.chunk_id);
    all.dedup_by(|next, kept| {
        let is_same = next.chunk_id == kept.chunk_id;
        if is_same {
            kept.context.append(&mut next.context);
            kept.text.append(&mut next.text);
        }
        is_same
    });
    for entry in &mut all {
        entry.context.sort_unstable();
        entry.text.sort_unstable();
    }
    all
}

/// Returns where a phrase occurs, from the entries of each of its terms; ordered by chunk.
pub(super) fn occurrences(phrase: &Phrase, lists: &[Vec<ChunkPlaces>]) -> Vec<Occurrence> {
    let Some((first, rest)) = lists.split_first() else { return Vec::new() };
    if phrase.is_counted && rest.is_empty() {
        let occurrences = first.iter().map(|entry| Occurrence {
            chunk_id: entry.chunk_id,
            in_context: count(&entry.context),
            in_text: count(&entry.text),
            is_other_form: phrase.is_other_form,
        });
        return occurrences.collect();
    }
    let having = first.iter().filter(|entry| has_phrase(entry, rest));
    let occurrences = having.map(|entry| Occurrence {
        chunk_id: entry.chunk_id,
        in_context: 0,
        in_text: 1,
        is_other_form: phrase.is_other_form,
    });
    occurrences.collect()
}

fn count(places: &[u32]) -> u32 {
    u32::try_from(places.len()).unwrap_or(u32::MAX)
}

/// Whether the terms of a phrase follow each other in a chunk, from the entry of the first term and those of the others.
fn has_phrase(first: &ChunkPlaces, others: &[Vec<ChunkPlaces>]) -> bool {
    let others: Option<Vec<&ChunkPlaces>> = others
        .iter()
        .map(|list| {
            let at = list.binary_search_by_key(&first.chunk_id, |other| other.chunk_id).ok()?;
            list.get(at)
        })
        .collect();
    let Some(others) = others else { return false };
    is_followed(&first.context, &others, |entry| &entry.context)
        || is_followed(&first.text, &others, |entry| &entry.text)
}

/// Whether one of these places is followed by one of each other term in turn.
fn is_followed(
    places: &[u32],
    others: &[&ChunkPlaces],
    places_of: impl Fn(&ChunkPlaces) -> &Vec<u32>,
) -> bool {
    places.iter().any(|place| {
        let mut wanted = *place;
        others.iter().all(|other| {
            wanted = wanted.saturating_add(1);
            places_of(other).binary_search(&wanted).is_ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::TermIndex;

    fn entry(id: i64, context: &[u32], text: &[u32]) -> ChunkPlaces {
        ChunkPlaces { chunk_id: ChunkId(id), context: context.to_vec(), text: text.to_vec() }
    }

    proptest! {
        #[test]
        fn entries_are_unpacked_as_they_were_packed(
            block in 0_i64..1 << 40,
            chunks in prop::collection::btree_map(0_i64..256, (
                prop::collection::btree_set(any::<u32>(), 0..4),
                prop::collection::btree_set(0_u32..9000, 1..9),
            ), 0..20),
        ) {
            let entries: Vec<ChunkPlaces> = chunks
                .into_iter()
                .map(|(within, (context, text))| ChunkPlaces {
                    chunk_id: ChunkId(block << BLOCK_BITS | within),
                    context: context.into_iter().collect(),
                    text: text.into_iter().collect(),
                })
                .collect();
            prop_assert_eq!(unpack(block, &pack(&entries)), Some(entries));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            unpack(7, &bytes);
        }
    }

    #[test]
    fn a_phrase_is_found_where_its_terms_follow_each_other() {
        let phrase = |is_counted| Phrase {
            index: TermIndex::Words,
            terms: vec![],
            is_prefix: false,
            is_counted,
            is_other_form: false,
        };
        let git = vec![entry(1, &[0], &[5]), entry(2, &[], &[3]), entry(4, &[], &[0])];
        let lfs = vec![entry(1, &[2], &[6]), entry(2, &[4], &[]), entry(3, &[], &[4])];
        let found = occurrences(&phrase(false), &[git.clone(), lfs]);
        assert_eq!(
            found,
            [Occurrence { chunk_id: ChunkId(1), in_context: 0, in_text: 1, is_other_form: false }]
        );
        let counted = occurrences(&phrase(true), &[git]);
        assert_eq!(
            counted[0],
            Occurrence { chunk_id: ChunkId(1), in_context: 1, in_text: 1, is_other_form: false }
        );
        assert_eq!(counted.len(), 3);
    }

    #[test]
    fn entries_are_merged_by_chunk() {
        let lists =
            vec![vec![entry(1, &[], &[5]), entry(3, &[], &[1])], vec![entry(1, &[1], &[2])]];
        assert_eq!(union(lists), [entry(1, &[1], &[2, 5]), entry(3, &[], &[1])]);
    }
}
