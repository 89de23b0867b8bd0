//! A document in, a line of JSON out; and the reverse.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::{Binding, DocType, Precision};
use crate::error::{Error, Result};
use crate::store::{PathStamp, Record, RecordedChunk, Root};
use crate::text::json::Line;

/// Version of the lines; a program reads those up to its own.
const VERSION: u32 = 1;

/// The first line of an export.
#[derive(Serialize, JsonSchema, Deserialize)]
pub(crate) struct HeadLine {
    /// Version of the lines.
    kb_export: u32,
    /// What the database was built with; null before its first document.
    binding: Option<BindingLine>,
    /// Folders that were added; null in none, but older exports do not name them.
    roots: Option<Vec<RootLine>>,
}

/// A folder that was added.
#[derive(Serialize, JsonSchema, Deserialize)]
struct RootLine {
    /// Absolute path.
    path: String,
    /// Tags that new files in it bear.
    tags: Vec<String>,
    /// What the user said its files are, else null.
    #[serde(rename = "type")]
    doc_type: Option<String>,
    /// What the user said they are written in, else null.
    language: Option<String>,
    /// Whether links in it are followed.
    follow: bool,
}

/// What vectors are made with.
#[derive(Serialize, JsonSchema, Deserialize)]
struct BindingLine {
    /// The model.
    model_name: String,
    /// Numbers in a vector.
    embedding_dim: u32,
    /// Tokens the model reads at most.
    max_tokens: u32,
    /// How passages are computed: `int8`, `fp32`.
    precision: String,
    /// Text that stands before every passage.
    passage_prefix: String,
}

/// Every further line of an export: a document.
#[derive(Serialize, JsonSchema, Deserialize)]
pub(crate) struct DocumentLine {
    /// Id in the database it is from.
    id: i64,
    /// Title.
    title: String,
    /// Whether the user gave the title.
    title_given: bool,
    /// Absolute path of its file; null for a note given as text.
    path: Option<String>,
    /// SHA-256 of its bytes, in hexadecimal.
    content_hash: String,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    doc_type: String,
    /// Programming language of source code, else null.
    language: Option<String>,
    /// When it was added first: RFC 3339, UTC, whole seconds.
    created_at: String,
    /// When its content was read last: RFC 3339, UTC, whole seconds.
    updated_at: String,
    /// Tags, in the order of the alphabet.
    tags: Vec<String>,
    /// What the database keeps of it besides; may change.
    metadata: Value,
    /// Every path at which its bytes were seen.
    paths: Vec<PathLine>,
    /// In their order.
    chunks: Vec<ChunkLine>,
}

/// A path at which a document was seen.
#[derive(Serialize, JsonSchema, Deserialize)]
struct PathLine {
    /// Absolute path.
    path: String,
    /// Size of the file in bytes.
    size_bytes: u64,
    /// When the file was changed last: nanoseconds since 1970, UTC.
    mtime_ns: i64,
}

/// A chunk.
#[derive(Serialize, JsonSchema, Deserialize)]
struct ChunkLine {
    /// Id in the database it is from.
    chunk_id: i64,
    /// Its own text.
    text: String,
    /// What stands before it where it is indexed and embedded; may be empty.
    context: String,
    /// Tokens the model reads of it, context and special tokens included.
    token_count: u32,
    /// What the database keeps of it besides; may change.
    metadata: Value,
    /// With `--vectors`: its vector, of unit length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    vector: Option<Vec<f32>>,
}

/// Writes the first line.
pub(super) fn encode_head(binding: Option<&Binding>, roots: &[Root]) -> Result<Line> {
    let binding = binding.map(|it| BindingLine {
        model_name: it.model_name.clone(),
        embedding_dim: it.dim,
        max_tokens: it.max_tokens,
        precision: it.precision.to_string(),
        passage_prefix: it.passage_prefix.clone(),
    });
    let roots = roots.iter().map(|it| RootLine {
        path: it.path.clone(),
        tags: it.tags.clone(),
        doc_type: it.doc_type.map(|it| it.as_str().to_owned()),
        language: it.language.clone(),
        follow: it.follows_links,
    });
    let head = HeadLine { kb_export: VERSION, binding, roots: Some(roots.collect()) };
    written(&head)
}

/// Reads the first line: what the others are made with, and the folders that were added.
pub(super) fn decode_head(line: &str) -> Result<(Option<Binding>, Vec<Root>)> {
    let refuse = |message: String| Error::Usage {
        message,
        hint: Some("`kb export` writes what `kb import` reads".into()),
    };
    let head: HeadLine = serde_json::from_str(line)
        .map_err(|_| refuse("the first line does not begin an export of kb".into()))?;
    if head.kb_export > VERSION {
        let message = format!("the export has version {}; this kb knows {VERSION}", head.kb_export);
        return Err(refuse(message));
    }
    let root = |it: RootLine| -> Result<Root> {
        let doc_type: Option<DocType> = match it.doc_type {
            Some(word) => Some(word.parse().map_err(|it| refuse(format!("{it}")))?),
            None => None,
        };
        let RootLine { path, tags, language, follow, .. } = it;
        // What a path leads to on another machine says nothing here.
        Ok(Root { path, tags, doc_type, language, follows_links: follow, real_path: None })
    };
    let roots = head.roots.into_iter().flatten().map(root).collect::<Result<_>>()?;
    let Some(binding) = head.binding else { return Ok((None, roots)) };
    let precision: Precision = binding.precision.parse().map_err(|it| refuse(format!("{it}")))?;
    let binding = Binding {
        model_name: binding.model_name,
        dim: binding.embedding_dim,
        max_tokens: binding.max_tokens,
        precision,
        passage_prefix: binding.passage_prefix,
    };
    Ok((Some(binding), roots))
}

/// Writes a document.
pub(super) fn encode(record: &Record) -> Result<Line> {
    let line = DocumentLine {
        id: record.id,
        title: record.title.clone(),
        title_given: record.is_title_given,
        path: record.path.clone(),
        content_hash: record.content_hash.clone(),
        doc_type: record.doc_type.to_string(),
        language: record.language.clone(),
        created_at: record.created_at.clone(),
        updated_at: record.updated_at.clone(),
        tags: record.tags.clone(),
        metadata: parsed(&record.metadata)?,
        paths: record
            .paths
            .iter()
            .map(|it| PathLine {
                path: it.path.clone(),
                size_bytes: it.size_bytes,
                mtime_ns: it.mtime_ns,
            })
            .collect(),
        chunks: record
            .chunks
            .iter()
            .map(|it| {
                Ok(ChunkLine {
                    chunk_id: it.id,
                    text: it.text.clone(),
                    context: it.context.clone(),
                    token_count: it.token_count,
                    metadata: parsed(&it.metadata)?,
                    vector: it.vector.clone(),
                })
            })
            .collect::<Result<_>>()?,
    };
    written(&line)
}

fn written(line: &impl Serialize) -> Result<Line> {
    Line::of(line).map_err(|error| Error::Store(error.into()))
}

fn parsed(json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|it| Error::Store(it.into()))
}

/// Reads a document.
pub(super) fn decode(line: &str) -> Result<Record> {
    let refuse = |reason: String| Error::Usage {
        message: format!("this is no document of an export: {reason}"),
        hint: None,
    };
    let line: DocumentLine = serde_json::from_str(line).map_err(|it| refuse(it.to_string()))?;
    let doc_type: DocType = line.doc_type.parse().map_err(|it| refuse(format!("{it}")))?;
    let is_id = |it: i64| it > 0 && u32::try_from(it).is_ok();
    let chunk_ids: HashSet<i64> = line.chunks.iter().map(|it| it.chunk_id).collect();
    if !is_id(line.id) || !chunk_ids.iter().all(|it| is_id(*it)) {
        return Err(refuse("an id is out of range".into()));
    }
    if chunk_ids.len() < line.chunks.len() {
        return Err(refuse("two chunks have the same id".into()));
    }
    if line.path.as_ref().is_some_and(|path| line.paths.iter().all(|it| it.path != *path)) {
        return Err(refuse("its path is not among its paths".into()));
    }
    Ok(Record {
        id: line.id,
        title: line.title,
        is_title_given: line.title_given,
        path: line.path,
        content_hash: line.content_hash,
        doc_type,
        language: line.language,
        created_at: line.created_at,
        updated_at: line.updated_at,
        metadata: line.metadata.to_string(),
        tags: line.tags,
        paths: line
            .paths
            .into_iter()
            .map(|it| PathStamp {
                path: it.path,
                size_bytes: it.size_bytes,
                mtime_ns: it.mtime_ns,
                real_path: None,
            })
            .collect(),
        chunks: line
            .chunks
            .into_iter()
            .map(|it| RecordedChunk {
                id: it.chunk_id,
                text: it.text,
                context: it.context,
                token_count: it.token_count,
                metadata: it.metadata.to_string(),
                vector: it.vector,
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            id: 7,
            title: "Tides\nand gauges".into(),
            is_title_given: true,
            path: Some("/a.md".into()),
            content_hash: "00".into(),
            doc_type: DocType::Markdown,
            language: None,
            created_at: "2001-02-03T04:05:06Z".into(),
            updated_at: "2001-02-03T04:05:06Z".into(),
            metadata: r#"{"format":"markdown","page_count":3}"#.into(),
            tags: vec!["a".into()],
            paths: vec![PathStamp {
                path: "/a.md".into(),
                size_bytes: 1,
                mtime_ns: -2,
                real_path: None,
            }],
            chunks: vec![RecordedChunk {
                id: 9,
                text: "\u{1F30A} \"water\"".into(),
                context: String::new(),
                token_count: 4,
                metadata: "{}".into(),
                vector: Some(vec![0.1, -1.0e-8, 1.0 / 3.0]),
            }],
        }
    }

    #[test]
    fn a_document_comes_back_as_it_went() {
        let line = encode(&record()).unwrap();
        assert_eq!(line.as_str().lines().count(), 1);
        assert_eq!(decode(line.as_str()).unwrap(), record());
    }

    #[test]
    fn the_first_line_says_what_the_others_are_made_with() {
        let binding = Binding {
            model_name: "m".into(),
            dim: 3,
            max_tokens: 256,
            precision: Precision::Fp32,
            passage_prefix: "passage: ".into(),
        };
        let roots = vec![Root {
            path: "/notes".into(),
            tags: vec!["a".into()],
            doc_type: Some(DocType::Note),
            language: None,
            follows_links: true,
            real_path: None,
        }];
        let head = encode_head(Some(&binding), &roots).unwrap();
        assert_eq!(decode_head(head.as_str()).unwrap(), (Some(binding), roots));
        let empty = encode_head(None, &[]).unwrap();
        assert_eq!(decode_head(empty.as_str()).unwrap(), (None, Vec::new()));
        // As it was written before folders were.
        let before = r#"{"kb_export": 1, "binding": null}"#;
        assert_eq!(decode_head(before).unwrap(), (None, Vec::new()));
    }

    #[test]
    fn what_is_no_export_is_refused() {
        for line in ["", "{}", "words", r#"{"kb_export": 99, "binding": null}"#] {
            assert!(decode_head(line).is_err(), "{line}");
        }
        for line in ["{}", "[]", "words"] {
            assert!(decode(line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_no_database_could_hold_is_refused() {
        let changes: [fn(&mut Record); 6] = [
            |it| it.id = 0,
            |it| it.id = -7,
            |it| it.id = i64::from(u32::MAX) + 1,
            |it| it.chunks[0].id = 0,
            |it| it.chunks.push(it.chunks[0].clone()),
            |it| it.path = Some("/b.md".into()),
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut record = record();
            change(&mut record);
            let line = encode(&record).unwrap();
            assert!(matches!(decode(line.as_str()), Err(Error::Usage { .. })), "{at}");
        }
    }
}
