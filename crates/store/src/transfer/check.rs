//! Validates an export before any of it is stored.
//!
//! Accepts only what this or an earlier version of kb writes: every character of the file may have
//! been chosen by an attacker. Reasons for refusal are safe to print.

mod fields;

use std::collections::HashSet;

use crate::document::{Binding, Chunk, DocType, ModelFiles, Precision};
use crate::limits;
use crate::text::printable::is_harmful;
use crate::{AddedFolder, ChunkId, DocumentId, DocumentRecord, Edits, RecordedChunk};

use super::ExportHead;
use super::lines::{BindingLine, ChunkLine, DocumentLine, EditsLine, HeadLine, RootLine, VERSION};
use fields::{
    Checked, clean_strings, doc_type, hash, id, language, one_line, path, stamp, tags, time,
};

/// Longest name and prefix of a model, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Most tokens that a model reads; far above the longest inputs of embedding models.
const MAX_MODEL_TOKENS: u32 = 1_000_000;

/// How many tokens a byte of text can become, with a margin: normalisation can turn a letter into
/// several.
const TOKENS_PER_BYTE: usize = 8;

/// Tokens that are counted without any text.
const EXTRA_TOKENS: usize = 64;

/// How far the square of a vector's length may be from 1: rounding changes it by far less, another length is an error.
const LENGTH_SLACK: f32 = 0.01;

/// Longest reason for refusal in characters; it may repeat text from the file.
const MAX_REFUSAL_CHARS: usize = 300;

/// Makes a reason for refusal safe to print: one line, no control characters of terminals, limited
/// length.
pub(super) fn printable(refusal: &str) -> String {
    let mut shown = String::new();
    for c in refusal.chars().take(MAX_REFUSAL_CHARS) {
        if matches!(c, '"' | '\'' | '\\') {
            shown.push(c);
        } else {
            shown.extend(c.escape_debug());
        }
    }
    if refusal.chars().nth(MAX_REFUSAL_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

pub(super) fn head(line: HeadLine) -> Checked<ExportHead> {
    let version = line.kb_export;
    if !(1..=VERSION).contains(&version) {
        return Err(format!("the export has version {version}; this kb supports {VERSION}"));
    }
    let mut paths = HashSet::new();
    let mut roots = Vec::new();
    for root in line.roots.into_iter().flatten() {
        if !paths.insert(root.path.clone()) {
            return Err(format!("the folder `{}` is named twice", root.path));
        }
        roots.push(self::root(root)?);
    }
    Ok(ExportHead { binding: line.binding.map(binding).transpose()?, roots })
}

fn root(line: RootLine) -> Checked<AddedFolder> {
    Ok(AddedFolder {
        path: path(line.path)?,
        tags: tags(line.tags)?,
        doc_type: line.doc_type.as_deref().map(doc_type).transpose()?,
        language: line.language.map(language).transpose()?,
        follows_links: line.follow,
        // The file says where the path leads on another machine, which does not apply here.
        real_path: None,
    })
}

fn binding(line: BindingLine) -> Checked<Binding> {
    if line.model_name.trim().is_empty() || !is_name(&line.model_name) {
        return Err(format!("`{}` is not the name of a model", line.model_name));
    }
    if !is_name(&line.passage_prefix) {
        return Err("the passage prefix is not a short text on one line".into());
    }
    if !(1..=limits::VECTOR_DIM).contains(&line.embedding_dim) {
        return Err(format!("a vector cannot have {} dimensions", line.embedding_dim));
    }
    if !(1..=MAX_MODEL_TOKENS).contains(&line.max_tokens) {
        return Err(format!("a model cannot read {} tokens", line.max_tokens));
    }
    let precision: Precision = line.precision.parse().map_err(|error| format!("{error}"))?;
    Ok(Binding {
        model_name: line.model_name,
        dim: line.embedding_dim,
        max_tokens: line.max_tokens,
        precision,
        passage_prefix: line.passage_prefix,
        files: ModelFiles::default(),
    })
}

fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME_BYTES && !text.chars().any(is_harmful)
}

/// Checks a document of an export that begins with `head`.
pub(super) fn document(line: DocumentLine, head: &ExportHead) -> Checked<DocumentRecord> {
    let doc_type = doc_type(&line.doc_type)?;
    let language = line.language.map(language).transpose()?;
    id(line.id)?;
    hash(&line.content_hash)?;
    time("created_at", &line.created_at)?;
    time("updated_at", &line.updated_at)?;
    let paths = line.paths.into_iter().map(stamp).collect::<Checked<Vec<_>>>()?;
    let names: HashSet<&str> = paths.iter().map(|stamp| stamp.path.as_str()).collect();
    if names.len() < paths.len() {
        return Err("a path is named twice".into());
    }
    match &line.path {
        Some(path) if !names.contains(path.as_str()) => {
            return Err("its path is not among its paths".into());
        }
        None if !paths.is_empty() => return Err("it has paths, but none is its main path".into()),
        _ => {}
    }
    let chunk_ids: HashSet<i64> = line.chunks.iter().map(|chunk| chunk.chunk_id).collect();
    if chunk_ids.len() < line.chunks.len() {
        return Err("two chunks have the same id".into());
    }
    let chunks = (0..).zip(line.chunks).map(|(index, line)| {
        chunk(line, head.binding.as_ref()).map_err(|reason| format!("its chunk {index}: {reason}"))
    });
    let mut metadata = line.metadata;
    clean_strings(&mut metadata);
    let record = DocumentRecord {
        id: DocumentId(line.id),
        title: one_line("title", &line.title)?,
        is_title_given: line.title_given,
        path: line.path,
        content_hash: line.content_hash,
        doc_type,
        language,
        created_at: line.created_at,
        updated_at: line.updated_at,
        metadata: metadata.to_string(),
        making: line.making.map(making).transpose()?,
        note_text: line.note_text,
        edits: line.edits.map_or_else(|| Ok(Edits::default()), edits)?,
        tags: tags(line.tags)?,
        chunks: chunks.collect::<Checked<_>>()?,
        paths,
    };
    let is_note = record.doc_type == DocType::Note;
    let has_text = record.note_text.as_ref().is_some_and(|text| !text.trim().is_empty());
    if record.note_text.is_some() && (!is_note || record.path.is_some() || !has_text) {
        return Err("it has a note_text, but is not a note with a text".into());
    }
    if record.note_text.as_ref().is_some_and(|text| text.contains('\0')) {
        return Err("its note_text has a NUL character".into());
    }
    record.check_metadata()?;
    Ok(record)
}

/// Most edits of one document. It bounds what a hostile file can make kb keep; a person makes far fewer.
const MAX_EDITS: usize = 10_000;

fn edits(line: EditsLine) -> Checked<Edits> {
    let EditsLine { title, date, text, former } = line;
    if [&title, &date, &text, &former].iter().any(|list| list.len() > MAX_EDITS) {
        return Err(format!("it has more than {MAX_EDITS} edits"));
    }
    for time in title.iter().chain(&date).chain(&text) {
        edit_time(time)?;
    }
    former.iter().try_for_each(|earlier| hash(earlier))?;
    Ok(Edits { title, date, text, former })
}

/// Checks a time with milliseconds: `2026-11-21T09:30:00.123Z`.
fn edit_time(text: &str) -> Checked<()> {
    let parts = text.strip_suffix('Z').and_then(|rest| rest.split_once('.'));
    let parts = parts.filter(|(_, millis)| {
        millis.len() == 3 && millis.bytes().all(|byte| byte.is_ascii_digit())
    });
    match parts {
        Some((seconds, _)) => time("edits", &format!("{seconds}Z")),
        None => Err(format!("edits `{text}` is not a time like 2026-11-21T09:30:00.123Z")),
    }
}

/// Stands for the time of an edit that is in the future: earlier than all edits that kb has noted.
const UNKNOWN_TIME: &str = "1970-01-01T00:00:00.000Z";

/// Lets no time be later than `now`, which is written like the time of an edit. The newer edit stays, so one
/// that claims to be of the future would win over all later ones; it loses instead, as a conflict that is reported.
pub(super) fn bound_times(record: &mut DocumentRecord, now: &str) {
    let second = format!("{}Z", now.split('.').next().unwrap_or_default());
    for time in [&mut record.created_at, &mut record.updated_at] {
        if *time > second {
            time.clone_from(&second);
        }
    }
    let Edits { title, date, text, .. } = &mut record.edits;
    for time in title.iter_mut().chain(date).chain(text).filter(|time| time.as_str() > now) {
        UNKNOWN_TIME.clone_into(time);
    }
}

/// Longest statement of how a document was made, in bytes.
const MAX_MAKING: usize = 200;

fn making(text: String) -> Checked<String> {
    let is_plain =
        text.len() <= MAX_MAKING && text.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    if is_plain { Ok(text) } else { Err("its making was not written by kb".into()) }
}

fn chunk(line: ChunkLine, binding: Option<&Binding>) -> Checked<RecordedChunk> {
    id(line.chunk_id)?;
    if line.text.trim().is_empty() {
        return Err("it has no text".into());
    }
    if line.text.contains('\0') || line.context.contains('\0') {
        return Err("its text has a NUL character".into());
    }
    let passage = Chunk::passage(&line.context, &line.text);
    let prefix = binding.map_or(0, |binding| binding.passage_prefix.len());
    let most = (passage.len() + prefix).saturating_mul(TOKENS_PER_BYTE) + EXTRA_TOKENS;
    if usize::try_from(line.token_count).unwrap_or(usize::MAX) > most {
        return Err(format!("{} tokens are more than its text can have", line.token_count));
    }
    if let Some(vector) = &line.vector {
        let dim = binding.map_or(0, |binding| binding.dim);
        if u32::try_from(vector.len()) != Ok(dim) {
            let len = vector.len();
            return Err(format!("its vector has {len} dimensions, those of the export have {dim}"));
        }
        let square: f32 = vector.iter().map(|number| number * number).sum();
        if !square.is_finite() || (square - 1.0).abs() >= LENGTH_SLACK {
            return Err("its vector does not have length 1".into());
        }
    }
    let mut metadata = line.metadata;
    clean_strings(&mut metadata);
    Ok(RecordedChunk {
        id: ChunkId(line.chunk_id),
        text: line.text,
        context: line.context,
        token_count: line.token_count,
        metadata: metadata.to_string(),
        vector: line.vector,
        codes: None,
    })
}
