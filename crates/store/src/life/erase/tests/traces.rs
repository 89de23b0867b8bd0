//! Makes documents whose traces are unique, and searches the files for them.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use aho_corasick::AhoCorasick;

use crate::document::{Binding, Embedding};
use crate::error::Result;
use crate::ids::DocumentId;
use crate::testing::{TestDb, binding, chunk, document};
use crate::{PassageHash, PathStamp};

/// Wide enough that 64 bytes of a vector are unique.
pub(super) const DIM: u32 = 96;

/// Returns a unit vector that is unique to the text.
pub(super) fn vector(text: &str) -> Vec<f32> {
    let hashes = (0..).flat_map(|number: u32| PassageHash::of(&format!("{number} {text}")).bytes());
    let numbers: Vec<f32> =
        hashes.map(|byte| f32::from(byte) - 127.5).take(DIM.try_into().unwrap()).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    numbers.iter().map(|number| number / length).collect()
}

/// Returns codes of tokens that are unique to the text, of any length up to some pages.
pub(super) fn codes(text: &str) -> Vec<u8> {
    let hashes =
        (0..=text.len() % 300).flat_map(|n| PassageHash::of(&format!("{n}: {text}")).bytes());
    hashes.collect()
}

/// The traces of a removed document that must not be found anywhere.
pub(super) struct Traces {
    pub(super) words: Vec<String>,
    pub(super) texts: Vec<String>,
}

/// Returns the `n`th document of the test, with texts and words that no other has.
pub(super) fn traces(n: usize) -> Traces {
    let words: Vec<String> = (0..1 + n % 5).map(|part| word(n, part)).collect();
    let texts = words.iter().enumerate().map(|(part, word)| {
        let common = ["the ", "tide ", "gauge ", "under ", "stairs "];
        let filler = |from: usize, len: usize| -> String {
            (from..from + len).map(|idx| common[(idx * 7 + n) % 5]).collect()
        };
        let (before, after) = (filler(part, 3 + n * 31 % 120), filler(n, 2 + n * 17 % 200));
        format!("{before}{word} secret 東京{after}")
    });
    Traces { texts: texts.collect(), words }
}

pub(super) fn word(n: usize, part: usize) -> String {
    let digest = PassageHash::of(&format!("{n} {part}")).bytes();
    digest.iter().take(9).map(|byte| char::from(b'a' + byte % 26)).collect::<String>() + "q"
}

pub(super) fn db() -> TestDb {
    let mut db = TestDb::unbound();
    db.store.bind(&Binding { dim: DIM, ..binding("small") }).unwrap();
    db
}

pub(super) fn put(db: &mut TestDb, path: &str, traces: &Traces) -> DocumentId {
    let texts: Vec<&str> = traces.texts.iter().map(String::as_str).collect();
    let chunks: Vec<_> = texts.iter().map(|text| chunk(text)).collect();
    let embeddings: Vec<_> = texts
        .iter()
        .map(|text| Embedding { vector: vector(text), codes: Some(codes(text)) })
        .collect();
    let new = document(path, &texts, &[]);
    db.store.replace(&new, &chunks, &embeddings, &|_: &PathStamp| false).unwrap().document_id()
}

/// Returns all bytes of the database, its log and its index.
pub(super) fn bytes(path: &Path) -> Vec<Vec<u8>> {
    let files = ["", "-wal", "-shm"].map(|end| format!("{}{end}", path.display()));
    files.iter().filter_map(|file| fs::read(file).ok()).collect()
}

pub(super) fn holds(files: &[Vec<u8>], wanted: &[u8]) -> bool {
    files.iter().any(|file| memchr::memmem::find(file, wanted).is_some())
}

/// Returns the traces of the documents that can still be found, in one pass over each file.
pub(super) fn found(db: &TestDb, removed: &[Traces]) -> Vec<String> {
    let terms = "SELECT DISTINCT term FROM chunks_terms";
    let mut statement = db.store.connection.prepare(terms).unwrap();
    let terms: HashSet<String> =
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let texts = || removed.iter().flat_map(|traces| traces.words.iter().zip(&traces.texts));
    let in_index = texts().filter(|(word, _)| terms.contains(*word));
    let mut found: Vec<String> = in_index.map(|(word, _)| format!("{word} in the index")).collect();
    // Each pattern with what it shows.
    let mut patterns: Vec<(Vec<u8>, String)> = Vec::new();
    for (word, text) in texts() {
        patterns.push((word.as_bytes().to_vec(), format!("{word} in a file")));
        let vector = crate::vectors::to_blob(&vector(text));
        let parts = vector.chunks(64).map(|part| (part.to_vec(), format!("the vector of {word}")));
        patterns.extend(parts);
        let codes = codes(text);
        let parts = codes.chunks(16).map(|part| (part.to_vec(), format!("the tokens of {word}")));
        patterns.extend(parts);
    }
    let search = AhoCorasick::new(patterns.iter().map(|(bytes, _)| bytes)).unwrap();
    let files = bytes(&db.path());
    let in_files: BTreeSet<&String> = files
        .iter()
        .flat_map(|file| search.find_overlapping_iter(file))
        .map(|hit| &patterns[hit.pattern()].1)
        .collect();
    found.extend(in_files.into_iter().cloned());
    found
}
