//! Compares kb's token ids with those of the reference library, for the vocabulary of the real
//! model.

use std::fs;
use std::path::Path;

use kb_embed::{DEFAULT_MODEL, ModelChoice, ModelOptions, ModelTokenizer, locate, tokenizer};

use crate::env::{CORPUS, locations};

/// Returns kb's tokenizer of the default model, and the library's.
fn both() -> (ModelTokenizer, tokenizers::Tokenizer) {
    let choice = ModelChoice::named(DEFAULT_MODEL).unwrap();
    let installed = locate(&choice, &locations()).unwrap();
    let path = installed.model_dir.join("tokenizer.json");
    let mut library = tokenizers::Tokenizer::from_file(path).unwrap();
    library.with_truncation(None).unwrap();
    library.with_padding(None);
    (tokenizer(&installed, &ModelOptions::default()).unwrap(), library)
}

/// Collects every text file below a directory.
fn texts(dir: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, found);
        } else {
            found.extend(fs::read_to_string(path).ok());
        }
    }
}

#[test]
fn every_text_has_the_tokens_of_the_reference() {
    let (own, library) = both();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    // The samples, the parity texts in many languages, and all source code and pages.
    for dir in
        [Path::new(CORPUS), &root.join("tests/fixtures"), &root.join("src"), &root.join("tests")]
    {
        texts(dir, &mut found);
    }
    found.push("[CLS] a [SEP][SEP]b [MASK]ing [sep] [UNUSED0] [unused0] ##ing".into());
    let num_bytes: usize = found.iter().map(String::len).sum();
    assert!(num_bytes > 500_000, "{num_bytes}");
    for text in &found {
        let encoding = library.encode_fast(text.as_str(), false).unwrap();
        assert_eq!(own.num_tokens(text), encoding.len());
        for line in text.lines() {
            let expected = library.encode_fast(line, true).unwrap();
            assert_eq!(own.num_passage_tokens(line), expected.len(), "{line:?}");
            if expected.len() <= own.max_tokens() {
                let ids: Vec<i64> = expected.get_ids().iter().map(|id| i64::from(*id)).collect();
                assert_eq!(own.encode_passage(line).unwrap(), ids, "{line:?}");
            }
        }
    }
}
