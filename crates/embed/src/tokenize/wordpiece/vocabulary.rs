//! Splits a word into the tokens of a vocabulary.
//!
//! Uses one block of bytes and one hash table instead of a map of owned strings.

use serde::{Deserialize, Serialize};

/// Marks an empty slot of the table.
const EMPTY: u32 = u32::MAX;

/// Slots per token, before rounding up to a power of two: short chains and little memory.
const SLOTS_PER_TOKEN: usize = 2;

/// Start and factor of the 64-bit FNV-1a hash (Fowler, Noll, Vo). It works byte by byte, so hashing
/// all prefixes of a word costs as much as hashing the word.
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_FACTOR: u64 = 0x0000_0100_0000_01b3;

/// Spreads a hash over its upper bits, which give the slot (Knuth's multiplicative method).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Tokens by their bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Vocabulary {
    /// The concatenated bytes of all tokens.
    #[serde(skip)]
    bytes: Vec<u8>,
    #[serde(skip)]
    entries: Vec<Token>,
    /// Indices of `entries`, by hash, then linearly; `EMPTY` ends a chain.
    #[serde(skip)]
    slots: Vec<u32>,
    /// Number of bits by which a spread hash is shifted to get a slot.
    shift: u32,
    /// Bytes of the longest token.
    longest: usize,
    /// The prefix of tokens that continue a word.
    prefix: Vec<u8>,
}

/// The place of a token's first byte, their number, and its id.
pub(super) type Token = [u32; 3];

/// Buffers that [`Vocabulary::pieces`] reuses between words.
#[derive(Debug, Default)]
pub(super) struct PieceBuffers {
    hashes: Vec<u64>,
    ids: Vec<u32>,
}

impl Vocabulary {
    /// Creates the table of `tokens`, the length and the id of each, whose concatenated bytes are
    /// in `bytes`. The later of two equal tokens is used.
    pub(super) fn new(bytes: Vec<u8>, tokens: &[(usize, u32)], prefix: &str) -> Option<Self> {
        let num_slots = (tokens.len() * SLOTS_PER_TOKEN).next_power_of_two().max(2);
        let mut vocabulary = Self {
            bytes,
            entries: Vec::with_capacity(tokens.len()),
            slots: vec![EMPTY; num_slots],
            shift: u64::BITS - num_slots.trailing_zeros(),
            longest: tokens.iter().map(|token| token.0).max().unwrap_or(0),
            prefix: prefix.as_bytes().to_vec(),
        };
        let mut start = 0;
        for (len, id) in tokens {
            let token = vocabulary.bytes.get(start..start + len)?;
            let slot = vocabulary.slot(hash(HASH_START, token), &[], token);
            match vocabulary.slots[slot] {
                EMPTY => {
                    vocabulary.slots[slot] = u32::try_from(vocabulary.entries.len()).ok()?;
                    let (start, len) = (u32::try_from(start).ok()?, u32::try_from(*len).ok()?);
                    vocabulary.entries.push([start, len, *id]);
                }
                known => vocabulary.entries[known as usize][2] = *id,
            }
            start += len;
        }
        Some(vocabulary)
    }

    /// Returns the slots, the entries and the bytes of the tokens, which [`Self::fill`] takes.
    pub(super) fn parts(&self) -> (&[u32], &[Token], &[u8]) {
        (&self.slots, &self.entries, &self.bytes)
    }

    /// Completes a vocabulary that was read without its parts; `None` if they do not fit together.
    pub(super) fn fill(
        &mut self,
        slots: Vec<u32>,
        entries: Vec<Token>,
        bytes: Vec<u8>,
    ) -> Option<()> {
        let num_entries = u32::try_from(entries.len()).ok()?;
        let is_sound = slots.len().is_power_of_two()
            && self.shift == u64::BITS - slots.len().trailing_zeros()
            && slots.contains(&EMPTY)
            && slots.iter().all(|slot| *slot < num_entries || *slot == EMPTY)
            && entries.iter().all(|[start, len, _]| {
                let end = u64::from(*start) + u64::from(*len);
                end <= bytes.len() as u64
            });
        (self.slots, self.entries, self.bytes) = (slots, entries, bytes);
        is_sound.then_some(())
    }

    pub(super) fn id(&self, token: &str) -> Option<u32> {
        self.find(hash(HASH_START, token.as_bytes()), &[], token.as_bytes())
    }

    /// Passes the ids of a word's pieces to `give`: the longest token at its start, then the
    /// longest one that continues it, and so on. Returns `false` and passes nothing if that fails.
    pub(super) fn pieces(
        &self,
        word: &str,
        scratch: &mut PieceBuffers,
        give: &mut impl FnMut(u32),
    ) -> bool {
        scratch.ids.clear();
        let mut start = 0;
        while start < word.len() {
            let prefix: &[u8] = if start == 0 { &[] } else { &self.prefix };
            let longest = self.longest.saturating_sub(prefix.len()).min(word.len() - start);
            let rest = &word.as_bytes()[start..start + longest];
            scratch.hashes.clear();
            scratch.hashes.extend(rest.iter().scan(hash(HASH_START, prefix), |state, byte| {
                *state = hash(*state, &[*byte]);
                Some(*state)
            }));
            let found = (1..=longest).rev().find_map(|len| {
                let id = self.find(scratch.hashes[len - 1], prefix, &rest[..len])?;
                Some((len, id))
            });
            let Some((len, id)) = found else { return false };
            scratch.ids.push(id);
            start += len;
        }
        scratch.ids.iter().for_each(|id| give(*id));
        true
    }

    fn find(&self, hash: u64, prefix: &[u8], token: &[u8]) -> Option<u32> {
        match self.slots[self.slot(hash, prefix, token)] {
            EMPTY => None,
            known => Some(self.entries[known as usize][2]),
        }
    }

    /// Returns the slot of `prefix` and `token` together, or the empty slot where they belong.
    fn slot(&self, hash: u64, prefix: &[u8], token: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let spread = hash.wrapping_mul(SPREAD) >> self.shift;
        let mut slot = usize::try_from(spread).unwrap_or(0) & mask;
        loop {
            let known = self.slots[slot];
            if known == EMPTY || self.is(known, prefix, token) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn is(&self, known: u32, prefix: &[u8], token: &[u8]) -> bool {
        let [start, len, _] = self.entries[known as usize];
        let (start, len) = (start as usize, len as usize);
        len == prefix.len() + token.len()
            && self.bytes[start..start + prefix.len()] == *prefix
            && self.bytes[start + prefix.len()..start + len] == *token
    }
}

fn hash(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |state, byte| (state ^ u64::from(*byte)).wrapping_mul(HASH_FACTOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(tokens: &[(&str, u32)]) -> Vocabulary {
        let bytes = tokens.iter().flat_map(|token| token.0.bytes()).collect();
        let lens: Vec<(usize, u32)> = tokens.iter().map(|token| (token.0.len(), token.1)).collect();
        Vocabulary::new(bytes, &lens, "##").unwrap()
    }

    fn pieces(vocabulary: &Vocabulary, word: &str) -> Option<Vec<u32>> {
        let mut ids = Vec::new();
        let mut give = |id| ids.push(id);
        vocabulary.pieces(word, &mut PieceBuffers::default(), &mut give).then_some(ids)
    }

    #[test]
    fn the_longest_piece_is_first() {
        let vocabulary =
            vocabulary(&[("un", 1), ("unhappy", 2), ("##happ", 3), ("##y", 4), ("##é", 5)]);
        assert_eq!(pieces(&vocabulary, "unhappy"), Some(vec![2]));
        assert_eq!(pieces(&vocabulary, "unhappyy"), Some(vec![2, 4]));
        assert_eq!(pieces(&vocabulary, "unhappé"), Some(vec![1, 3, 5]));
        // The longest match is greedy: "un" + "##happy…" is never reconsidered.
        assert_eq!(pieces(&vocabulary, "unhappyx"), None);
        assert_eq!(pieces(&vocabulary, "happ"), None);
        assert_eq!(pieces(&vocabulary, ""), Some(vec![]));
    }

    #[test]
    fn the_later_of_two_equal_tokens_is_used() {
        let vocabulary = vocabulary(&[("a", 1), ("b", 2), ("a", 3), ("", 4)]);
        assert_eq!(
            (vocabulary.id("a"), vocabulary.id("b"), vocabulary.id("c")),
            (Some(3), Some(2), None)
        );
        assert_eq!(vocabulary.id(""), Some(4));
    }

    #[test]
    fn every_token_of_a_large_vocabulary_is_found() {
        let names: Vec<String> = (0..5000).map(|number| format!("{number:x}")).collect();
        let tokens: Vec<(&str, u32)> =
            names.iter().zip(0..).map(|(name, id)| (&**name, id)).collect();
        let vocabulary = vocabulary(&tokens);
        assert!(tokens.iter().all(|(token, id)| vocabulary.id(token) == Some(*id)));
        assert_eq!(vocabulary.id("1388"), None);
    }

    #[test]
    fn lengths_beyond_the_bytes_are_refused() {
        assert!(Vocabulary::new(b"abc".to_vec(), &[(2, 0), (2, 1)], "##").is_none());
        assert!(Vocabulary::new(Vec::new(), &[], "##").unwrap().id("a").is_none());
    }
}
