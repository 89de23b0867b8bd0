//! Keeps a [`WordPiece`] in a file of kb's cache, with its table of tokens as it is in memory.
//!
//! To read `tokenizer.json` with 30,000 tokens and to make the table takes an eighth of the instructions of a search;
//! to read the table, next to none. The file has a line of JSON, the slots and entries of the table in the order of
//! bytes of the machine that wrote it, and the bytes of the tokens.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::WordPiece;
use super::vocabulary::Token;
use crate::error::Result;
use crate::fault::{io_error, model_error};
use crate::files::stamp::Stamp;
use crate::files::{open, write};

/// Far more than any vocabulary needs.
const MAX_BYTES: u64 = 64 << 20;

/// What precedes the table.
#[derive(Serialize, Deserialize)]
struct Head {
    /// Size in bytes, time in nanoseconds since 1970 and inode of the `tokenizer.json` that it was made from.
    source: (u64, i64, u64),
    tokenizer: WordPiece,
    num_slots: usize,
    num_entries: usize,
}

/// Returns the stamp of a `tokenizer.json` as it is compared; `None` if there is none.
fn source(tokenizer_json: &Path) -> Option<(u64, i64, u64)> {
    let stamp = Stamp::of(tokenizer_json).ok()?;
    Some((stamp.size_bytes, stamp.mtime_ns, stamp.inode))
}

/// Writes the tokenizer of a `tokenizer.json` to `path`; does nothing for one of another kind.
pub(crate) fn prepare(tokenizer_json: &Path, path: &Path) -> Result<()> {
    let Some(source) = source(tokenizer_json) else { return Ok(()) };
    let bytes = open::read(tokenizer_json, open::Links::Follow, MAX_BYTES)?;
    let Some(tokenizer) = WordPiece::read(&bytes) else { return Ok(()) };
    let (slots, entries, tokens) = tokenizer.vocabulary.parts();
    let (slots, entries, tokens) = (slots.to_vec(), entries.to_vec(), tokens.to_vec());
    let head = Head { source, num_slots: slots.len(), num_entries: entries.len(), tokenizer };
    let mut bytes = serde_json::to_vec(&head).map_err(|error| model_error(path, error))?;
    bytes.push(b'\n');
    bytes.extend_from_slice(bytemuck::cast_slice(&slots));
    bytes.extend_from_slice(bytemuck::cast_slice(&entries));
    bytes.extend_from_slice(&tokens);
    write::replace(path, &bytes).map_err(|error| io_error(path, error))
}

/// Reads a file that [`prepare`] made of `tokenizer_json`; `None` if it is missing, of another state of that file, or
/// damaged.
pub(crate) fn read(path: &Path, tokenizer_json: &Path) -> Option<WordPiece> {
    let bytes = open::read(path, open::Links::Follow, MAX_BYTES).ok()?;
    let line = bytes.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&bytes[..line]).ok()?;
    if source(tokenizer_json) != Some(head.source) {
        return None;
    }
    let (slots, rest) = bytes[line + 1..].split_at_checked(head.num_slots.checked_mul(4)?)?;
    let (entries, tokens) = rest.split_at_checked(head.num_entries.checked_mul(12)?)?;
    let mut parts = (vec![0; head.num_slots], vec![Token::default(); head.num_entries]);
    bytemuck::cast_slice_mut(&mut parts.0).copy_from_slice(slots);
    bytemuck::cast_slice_mut(&mut parts.1).copy_from_slice(entries);
    let mut tokenizer = head.tokenizer;
    tokenizer.vocabulary.fill(parts.0, parts.1, tokens.to_vec())?;
    Some(tokenizer)
}

#[cfg(test)]
mod tests {
    use super::super::tests::tokenizer_json;
    use super::*;

    #[test]
    fn a_tokenizer_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let (json, ready) = (dir.path().join("tokenizer.json"), dir.path().join("words.bin"));
        assert!(read(&ready, &json).is_none());
        std::fs::write(&json, tokenizer_json().to_string()).unwrap();
        prepare(&json, &ready).unwrap();
        let made = WordPiece::read(&std::fs::read(&json).unwrap()).unwrap();
        let found = read(&ready, &json).unwrap();
        assert_eq!(format!("{found:?}"), format!("{made:?}"));
        assert_eq!(found.encode("[MASK] Aba, 東e?"), made.encode("[MASK] Aba, 東e?"));
        // For another state of the file, or another kind of tokenizer, there is none.
        std::fs::write(&json, r#"{"model": {"type": "BPE"}}"#).unwrap();
        assert!(read(&ready, &json).is_none());
        prepare(&json, &dir.path().join("other.bin")).unwrap();
        assert!(!dir.path().join("other.bin").exists());
    }

    #[test]
    fn no_damage_is_used_or_panics() {
        let dir = tempfile::tempdir().unwrap();
        let (json, ready) = (dir.path().join("tokenizer.json"), dir.path().join("words.bin"));
        std::fs::write(&json, tokenizer_json().to_string()).unwrap();
        prepare(&json, &ready).unwrap();
        let bytes = std::fs::read(&ready).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x81;
            std::fs::write(&ready, &damaged).unwrap();
            read(&ready, &json).into_iter().for_each(|found| drop(found.encode("abab 東 -x")));
            std::fs::write(&ready, &bytes[..at]).unwrap();
            read(&ready, &json).into_iter().for_each(|found| drop(found.encode("abab 東 -x")));
        }
    }
}
