//! Keeps a [`WordPiece`] in a file of kb's cache, with its table of tokens as it is in memory.
//!
//! To read `tokenizer.json` with 30,000 tokens and to make the table takes an eighth of the instructions of a search;
//! to read the table, next to none. The file has the length of some JSON, the JSON, the slots and entries of the table
//! in the order of bytes of the machine that wrote it, and the bytes of the tokens. Each part is read to where it is
//! used: a page of memory that is touched once costs as much as its content.

use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::WordPiece;
use super::vocabulary::Token;
use crate::error::{Error, Result};
use crate::fault::model_error;
use crate::files::stamp::FileVersion;
use crate::files::{open, write};

/// Far more than any vocabulary needs.
const MAX_BYTES: u64 = 64 << 20;

/// Far more than the JSON needs, in bytes.
const MAX_HEAD: usize = 1 << 20;

/// The header before the table.
#[derive(Serialize, Deserialize)]
struct ReadyHead {
    /// Size in bytes, time in nanoseconds since 1970 and inode of the `tokenizer.json` that it was made from.
    source: (u64, i64, u64),
    tokenizer: WordPiece,
    num_slots: usize,
    num_entries: usize,
    num_bytes: usize,
}

/// Returns the stamp of a `tokenizer.json` as it is compared; `None` if there is none.
fn source(tokenizer_json: &Path) -> Option<(u64, i64, u64)> {
    let FileVersion { stamp, inode } = FileVersion::of(tokenizer_json).ok()?;
    Some((stamp.size_bytes, stamp.mtime_ns, inode))
}

/// Writes the tokenizer of a `tokenizer.json` to `path`; does nothing for one of another kind.
pub(crate) fn prepare(tokenizer_json: &Path, path: &Path) -> Result<()> {
    let Some(source) = source(tokenizer_json) else { return Ok(()) };
    let bytes = open::read(tokenizer_json, open::SymlinkPolicy::Follow, MAX_BYTES)?;
    let Some(tokenizer) = WordPiece::read(&bytes) else { return Ok(()) };
    let (slots, entries, tokens) = tokenizer.vocabulary.parts();
    let (num_slots, num_entries, num_bytes) = (slots.len(), entries.len(), tokens.len());
    let head = ReadyHead { source, tokenizer, num_slots, num_entries, num_bytes };
    let json = serde_json::to_vec(&head).map_err(|error| model_error(path, error))?;
    let (slots, entries, tokens) = head.tokenizer.vocabulary.parts();
    let bytes = [
        &json.len().to_ne_bytes(),
        &json[..],
        bytemuck::cast_slice(slots),
        bytemuck::cast_slice(entries),
        tokens,
    ]
    .concat();
    write::replace(path, &bytes).map_err(|error| Error::of_file(path, error))
}

/// Reads a file that [`prepare`] made of `tokenizer_json`; `None` if it is missing, of another state of that file, or
/// damaged.
pub(crate) fn read(path: &Path, tokenizer_json: &Path) -> Option<WordPiece> {
    let mut file = open::open(path, open::SymlinkPolicy::Follow).ok()?;
    let num_left = usize::try_from(file.metadata().ok()?.len()).ok()?;
    let mut length = [0; size_of::<usize>()];
    file.read_exact(&mut length).ok()?;
    let mut head =
        vec![0; Some(usize::from_ne_bytes(length)).filter(|length| *length <= MAX_HEAD)?];
    file.read_exact(&mut head).ok()?;
    let ReadyHead { source: from, mut tokenizer, num_slots, num_entries, num_bytes } =
        serde_json::from_slice(&head).ok()?;
    let is_there = [num_slots, num_entries, num_bytes].iter().all(|number| *number <= num_left);
    if !is_there || source(tokenizer_json) != Some(from) {
        return None;
    }
    let mut slots = vec![0; num_slots];
    file.read_exact(bytemuck::cast_slice_mut(&mut slots)).ok()?;
    let mut entries = vec![Token::default(); num_entries];
    file.read_exact(bytemuck::cast_slice_mut(&mut entries)).ok()?;
    let mut bytes = vec![0; num_bytes];
    file.read_exact(&mut bytes).ok()?;
    tokenizer.vocabulary.fill(slots, entries, bytes)?;
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
