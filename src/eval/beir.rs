//! Reads a folder with documents, questions and judgments in the BEIR layout.
//!
//! `corpus.jsonl` and `queries.jsonl` have `_id` and `text`, and documents may have a `title`. The
//! columns of `qrels.tsv` or `qrels/test.tsv` are question, document and grade, possibly with
//! others in between.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::files::open;
use crate::files::open::SymlinkPolicy;

/// A longer file is too large to be measured on one machine.
const MAX_BYTES: u64 = 8 << 30;

/// The content of a folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BeirCollection {
    /// In the order of the file.
    pub documents: Vec<JudgedText>,
    /// In the order of the file; only those with a judgment.
    pub queries: Vec<JudgedText>,
    /// Grades above zero by question and document.
    pub judgments: HashMap<String, HashMap<String, u32>>,
}

/// A document or a question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct JudgedText {
    /// Its id in the judgments.
    #[serde(rename = "_id", deserialize_with = "text_or_number")]
    pub id: String,
    /// A document's title; empty if it has none.
    #[serde(default)]
    pub title: String,
    /// The text.
    #[serde(default)]
    pub text: String,
}

fn text_or_number<'a, D: serde::Deserializer<'a>>(
    value: D,
) -> std::result::Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Id {
        Text(String),
        Number(i64),
    }
    Ok(match Id::deserialize(value)? {
        Id::Text(text) => text,
        Id::Number(number) => number.to_string(),
    })
}

/// Reads a folder.
pub fn read(folder: &Path) -> Result<BeirCollection> {
    let documents = entries(&folder.join("corpus.jsonl"))?;
    let mut queries = entries(&folder.join("queries.jsonl"))?;
    let flat = folder.join("qrels.tsv");
    let judged = if flat.exists() { flat } else { folder.join("qrels/test.tsv") };
    let judgments = judgments(&file(&judged)?);
    queries.retain(|query| judgments.contains_key(&query.id));
    if queries.is_empty() {
        return Err(unusable(&judged, "it judges none of the questions"));
    }
    Ok(BeirCollection { documents, queries, judgments })
}

fn unusable(path: &Path, reason: &str) -> Error {
    Error::usage(format!("cannot use {}: {reason}", path.display()))
        .with_hint("the folder has the layout of BEIR: corpus.jsonl, queries.jsonl, qrels.tsv")
}

fn file(path: &Path) -> Result<String> {
    let bytes = open::read(path, SymlinkPolicy::Follow, MAX_BYTES)?;
    String::from_utf8(bytes).map_err(|_| unusable(path, "it is not UTF-8 text"))
}

fn entries(path: &Path) -> Result<Vec<JudgedText>> {
    let text = file(path)?;
    let mut entries = Vec::new();
    for (number, line) in (1_usize..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let entry = serde_json::from_str(line)
            .map_err(|error| unusable(path, &format!("line {number}: {error}")))?;
        entries.push(entry);
    }
    Ok(entries)
}

fn judgments(text: &str) -> HashMap<String, HashMap<String, u32>> {
    let mut found: HashMap<String, HashMap<String, u32>> = HashMap::new();
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        // A header line does not end in a number.
        if let [query, .., document, grade] = columns.as_slice()
            && let Ok(grade) = grade.trim().parse::<u32>()
            && grade > 0
        {
            found.entry((*query).to_owned()).or_default().insert((*document).to_owned(), grade);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(judged: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "corpus.jsonl",
            "{\"_id\": 7, \"title\": \"T\", \"text\": \"one\"}\n\n{\"_id\": \"b\"}\n",
        );
        write(
            "queries.jsonl",
            "{\"_id\": \"q1\", \"text\": \"one?\"}\n{\"_id\": \"q2\", \"text\": \"\"}\n",
        );
        write("qrels.tsv", judged);
        folder
    }

    #[test]
    fn judgments_may_have_three_or_four_columns() {
        let judged = "query-id\tcorpus-id\tscore\nq1\t7\t2\nq1\t0\tb\t1\nq2\tb\t0\n";
        let found = read(folder(judged).path()).unwrap();
        assert_eq!(
            found.documents.iter().map(|document| document.id.as_str()).collect::<Vec<_>>(),
            ["7", "b"]
        );
        assert_eq!(found.queries.len(), 1);
        let grades: HashMap<String, u32> = [("7".to_owned(), 2), ("b".to_owned(), 1)].into();
        assert_eq!(found.judgments["q1"], grades);
    }

    #[test]
    fn missing_files_and_bad_json_are_reported() {
        assert!(matches!(read(folder("").path()), Err(Error::Usage { .. })));
        let broken = folder("q1\t7\t1\n");
        fs::write(broken.path().join("corpus.jsonl"), "{\"_id\": 1}\nnonsense\n").unwrap();
        let error = read(broken.path()).unwrap_err();
        assert!(
            matches!(&error, Error::Usage { message, .. } if message.to_string().contains("line 2"))
        );
        fs::remove_file(broken.path().join("corpus.jsonl")).unwrap();
        assert!(matches!(read(broken.path()), Err(Error::PathNotFound { .. })));
    }
}
