//! Tests the JSON contract: every command's answer is read into structs that know every key, refuse
//! any other, and require each to be present, null or not. A removed or renamed key, or one of
//! another type, fails here; a new key is added here deliberately.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::env::{CORPUS, NO_SANDBOX, Output, TestEnv};

/// Reads a key that must be present but may be null.
fn nullable<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer)
}

/// Declares structs with exactly the named keys.
macro_rules! contract {
    ($($name:ident { $($(#[$meta:meta])* $key:ident: $type:ty,)* })*) => {$(
        #[derive(Debug, Deserialize, Serialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name { $($(#[$meta])* pub(crate) $key: $type,)* }
    )*};
}

contract! {
    Search {
        contract_version: u32, query: String, results: Vec<Hit>, total_matches: u64, returned: u64,
        #[serde(deserialize_with = "nullable")] confidence: Option<String>,
        #[serde(deserialize_with = "nullable")] answer_probability: Option<f64>,
        confidence_reason: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")] unmet_phrases: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")] notes: Vec<String>,
    }
    Hit {
        chunk_id: i64, score: f64, score_breakdown: Breakdown, text: String, source: Source,
        evidence: Evidence,
    }
    Passages {
        contract_version: u32, query: String, results: Vec<Passage>, total_matches: u64,
        returned: u64,
        #[serde(deserialize_with = "nullable")] confidence: Option<String>,
        #[serde(deserialize_with = "nullable")] answer_probability: Option<f64>,
        confidence_reason: String,
        budget: u64, tokens: u64,
    }
    Passage {
        chunk_id: i64, score: f64, score_breakdown: Breakdown, text: String, source: Source,
        evidence: Evidence, chunk_ids: Vec<i64>, tokens: u64,
    }
    Similar {
        contract_version: u32,
        #[serde(deserialize_with = "nullable")] document_id: Option<i64>,
        #[serde(deserialize_with = "nullable")] chunk_id: Option<i64>,
        results: Vec<Hit>, returned: u64,
        #[serde(default, skip_serializing_if = "Vec::is_empty")] notes: Vec<String>,
    }
    Grep {
        contract_version: u32, pattern: String, results: Vec<GrepDocument>,
        #[serde(deserialize_with = "nullable")] total_matches: Option<usize>,
        returned: usize, searched: usize,
        #[serde(default, skip_serializing_if = "Vec::is_empty")] notes: Vec<String>,
    }
    GrepDocument {
        document_id: i64, title: String,
        #[serde(deserialize_with = "nullable")] path: Option<String>,
        r#type: String, format: String,
        #[serde(deserialize_with = "nullable")] stale: Option<String>,
        #[serde(deserialize_with = "nullable")] matches: Option<usize>,
        #[serde(deserialize_with = "nullable")] lines: Option<Vec<MatchingLine>>,
    }
    MatchingLine {
        chunk_id: i64,
        #[serde(deserialize_with = "nullable")] page: Option<u32>,
        #[serde(deserialize_with = "nullable")] last_page: Option<u32>,
        #[serde(deserialize_with = "nullable")] section: Option<String>,
        #[serde(deserialize_with = "nullable")] symbol: Option<String>,
        #[serde(deserialize_with = "nullable")] start_line: Option<u32>,
        #[serde(deserialize_with = "nullable")] end_line: Option<u32>,
        text: String, ranges: Vec<ByteRange>,
    }
    ByteRange { start: usize, end: usize, }
    GrepLine {
        document_id: i64, title: String,
        #[serde(deserialize_with = "nullable")] path: Option<String>,
        r#type: String, format: String,
        #[serde(deserialize_with = "nullable")] stale: Option<String>,
        chunk_id: i64,
        #[serde(deserialize_with = "nullable")] page: Option<u32>,
        #[serde(deserialize_with = "nullable")] last_page: Option<u32>,
        #[serde(deserialize_with = "nullable")] section: Option<String>,
        #[serde(deserialize_with = "nullable")] symbol: Option<String>,
        #[serde(deserialize_with = "nullable")] start_line: Option<u32>,
        #[serde(deserialize_with = "nullable")] end_line: Option<u32>,
        text: String, ranges: Vec<ByteRange>,
    }
    Breakdown {
        #[serde(deserialize_with = "nullable")] fts: Option<f64>,
        #[serde(deserialize_with = "nullable")] vector: Option<f64>,
    }
    Source {
        document_id: i64, title: String,
        #[serde(deserialize_with = "nullable")] path: Option<String>,
        r#type: String, format: String,
        #[serde(deserialize_with = "nullable")] page: Option<u32>,
        chunk_index: u32, total_chunks: u32, tags: Vec<String>,
        #[serde(deserialize_with = "nullable")] section: Option<String>,
        #[serde(deserialize_with = "nullable")] language: Option<String>,
        #[serde(deserialize_with = "nullable")] symbol: Option<String>,
        #[serde(deserialize_with = "nullable")] start_line: Option<u32>,
        #[serde(deserialize_with = "nullable")] end_line: Option<u32>,
        #[serde(deserialize_with = "nullable")] last_page: Option<u32>,
        #[serde(deserialize_with = "nullable")] at: Option<At>,
        #[serde(deserialize_with = "nullable")] page_label: Option<String>,
        #[serde(deserialize_with = "nullable")] date: Option<String>,
        #[serde(deserialize_with = "nullable")] date_origin: Option<String>,
        superseded: bool, #[serde(deserialize_with = "nullable")] superseded_by: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")] conflict_of: Option<String>,
        #[serde(deserialize_with = "nullable")] stale: Option<String>,
    }
    At {
        #[serde(deserialize_with = "nullable")] page: Option<u32>,
        #[serde(deserialize_with = "nullable")] section: Option<String>,
        #[serde(deserialize_with = "nullable")] line: Option<u32>,
        #[serde(deserialize_with = "nullable")] symbol: Option<String>,
    }
    Evidence {
        #[serde(deserialize_with = "nullable")] fts_rank: Option<u32>,
        #[serde(deserialize_with = "nullable")] bm25: Option<f64>,
        #[serde(deserialize_with = "nullable")] vector_rank: Option<u32>,
        #[serde(deserialize_with = "nullable")] cosine: Option<f64>,
        #[serde(deserialize_with = "nullable")] token_match: Option<f64>,
        #[serde(deserialize_with = "nullable")] recency: Option<f64>,
        #[serde(deserialize_with = "nullable")] fts_weight: Option<f64>,
        #[serde(deserialize_with = "nullable")] vector_weight: Option<f64>,
        document_weight: f64,
    }
    Why {
        contract_version: u32, query: String, document_id: i64, title: String, fate: String,
        explanation: String, terms: Vec<String>, matches: Vec<Term>, chunks: u32,
        chunks_passing_filters: u32, depth: u32,
        #[serde(deserialize_with = "nullable")] fts: Option<Standing>,
        #[serde(deserialize_with = "nullable")] vector: Option<Standing>,
        #[serde(deserialize_with = "nullable")] rank: Option<u32>,
        #[serde(deserialize_with = "nullable")] score: Option<f64>,
        #[serde(deserialize_with = "nullable")] stale: Option<String>,
    }
    Term {
        term: String, chunks: u32, weight: f64, in_context: u32, in_text: u32, in_name: bool, in_tag: bool, in_document: u32,
        bm25: f64,
    }
    Eval { contract_version: u32, collections: Vec<Evaluated>, }
    Evaluated { name: String, queries: u32, fts: Measures, vector: Measures, fused: Measures, }
    Measures { ndcg_at_10: f64, recall_at_10: f64, mrr_at_10: f64, }
    Standing { chunk_id: i64, rank: u32, raw: f64, }
    Document {
        id: i64, title: String, r#type: String, format: String, tags: Vec<String>, chunk_count: u32,
        created_at: String,
        #[serde(deserialize_with = "nullable")] path: Option<String>,
        #[serde(deserialize_with = "nullable")] language: Option<String>,
        updated_at: String,
        #[serde(deserialize_with = "nullable")] date: Option<String>,
        #[serde(deserialize_with = "nullable")] date_origin: Option<String>,
        #[serde(deserialize_with = "nullable")] quality: Option<Quality>,
        #[serde(deserialize_with = "nullable")] words: Option<BTreeMap<String, u32>>,
    }
    Quality {
        pages_read: u32, pages_ocr: u32, pages_empty: u32, pages_unread: u32, share_not_text: f64, share_glued: f64,
        share_unsure: f64,
    }
    Info {
        contract_version: u32, id: i64, title: String, r#type: String, format: String, tags: Vec<String>,
        chunk_count: u32, created_at: String,
        #[serde(deserialize_with = "nullable")] path: Option<String>,
        #[serde(deserialize_with = "nullable")] language: Option<String>,
        updated_at: String, content_hash: String, metadata: Metadata, chunks: Vec<Chunk>,
        #[serde(deserialize_with = "nullable")] stale: Option<String>,
    }
    Metadata {
        format: String,
        #[serde(deserialize_with = "nullable")] author: Option<String>,
        #[serde(deserialize_with = "nullable")] page_count: Option<u32>,
        #[serde(deserialize_with = "nullable")] created: Option<String>,
        #[serde(deserialize_with = "nullable")] date: Option<String>,
        #[serde(deserialize_with = "nullable")] language: Option<String>,
        #[serde(deserialize_with = "nullable")] natural_language: Option<String>,
        superseded: bool, #[serde(deserialize_with = "nullable")] superseded_by: Option<String>,
        #[serde(deserialize_with = "nullable")] quality: Option<Quality>,
        #[serde(deserialize_with = "nullable")] words: Option<BTreeMap<String, u32>>,
        #[serde(deserialize_with = "nullable")] parts: Option<FileParts>,
        #[serde(deserialize_with = "nullable")] encoding: Option<Encoding>,
        warnings: Vec<String>,
    }
    Chunk {
        chunk_id: i64, chunk_index: u32, token_count: u32,
        #[serde(deserialize_with = "nullable")] page: Option<u32>,
        #[serde(deserialize_with = "nullable")] last_page: Option<u32>,
        #[serde(deserialize_with = "nullable")] page_label: Option<String>,
        #[serde(deserialize_with = "nullable")] section: Option<String>,
        #[serde(deserialize_with = "nullable")] symbol: Option<String>,
        #[serde(deserialize_with = "nullable")] start_line: Option<u32>,
        #[serde(deserialize_with = "nullable")] end_line: Option<u32>,
        preview: String,
    }
    Outline {
        contract_version: u32, document_id: i64, title: String,
        #[serde(deserialize_with = "nullable")] path: Option<String>,
        r#type: String, format: String, total_chunks: u32, tokens: u32, parts: Vec<Part>,
    }
    Part {
        kind: String, level: u32,
        #[serde(deserialize_with = "nullable")] name: Option<String>,
        #[serde(deserialize_with = "nullable")] section: Option<String>,
        preview: String,
        #[serde(deserialize_with = "nullable")] page: Option<u32>,
        #[serde(deserialize_with = "nullable")] last_page: Option<u32>,
        #[serde(deserialize_with = "nullable")] start_line: Option<u32>,
        #[serde(deserialize_with = "nullable")] end_line: Option<u32>,
        tokens: u32, chunk_ids: Vec<i64>,
    }
    Shown {
        contract_version: u32, document_id: i64, title: String,
        #[serde(deserialize_with = "nullable")] path: Option<String>,
        r#type: String, format: String,
        #[serde(deserialize_with = "nullable")] section: Option<String>,
        #[serde(deserialize_with = "nullable")] symbol: Option<String>,
        #[serde(deserialize_with = "nullable")] page: Option<u32>,
        #[serde(deserialize_with = "nullable")] last_page: Option<u32>,
        #[serde(deserialize_with = "nullable")] start_line: Option<u32>,
        #[serde(deserialize_with = "nullable")] end_line: Option<u32>,
        tokens: u32, chunk_ids: Vec<i64>, matches: u32, text: String, truncated: bool,
        #[serde(deserialize_with = "nullable")] stale: Option<String>,
    }
    Opened {
        contract_version: u32, document_id: i64, title: String,
        #[serde(deserialize_with = "nullable")] path: Option<String>,
        r#type: String, format: String, origin: String,
        #[serde(deserialize_with = "nullable")] changed: Option<bool>,
        #[serde(deserialize_with = "nullable")] file_error: Option<String>,
        start_line: u32, end_line: u32, total_lines: u32, text: String, truncated: bool,
    }
    Tag { name: String, count: u32, }
    RoomBytes { texts: u64, keywords: u64, vectors: u64, token_codes: u64, free: u64, }
    OutOfDate { changed: u64, new: u64, missing: u64, folders_away: u64, links_refused: u64, failed: u64, }
    Doctor {
        contract_version: u32, sound: bool, faults: u64, repaired: u64, checks: Vec<Check>,
    }
    Check {
        name: String, verdict: String, message: String,
        #[serde(deserialize_with = "nullable")] fix: Option<String>,
    }
    Update {
        contract_version: u32, dry_run: bool, added: u64, updated: u64, moved: u64, unchanged: u64,
        notes: Vec<String>,
        failed: Vec<Failed>, missing: Vec<Missing>, moves: Vec<Move>, removed: Vec<i64>,
        away: Vec<String>,
        refused: Vec<Refused>, reread: u64, made_differently: u64, known_failed: u64, lossy: u64,
        uncertain_encodings: u64,
    }
    Missing { path: String, document_id: i64, }
    Move { from: String, to: String, document_id: i64, }
    Refused {
        #[serde(deserialize_with = "nullable")] root: Option<String>, missing: u64, documents: u64,
    }
    Status {
        #[serde(deserialize_with = "nullable")] model_wanted: Option<String>,
        made_differently: u64, read_only: bool,
        contract_version: u32, documents: BTreeMap<String, u32>, total_chunks: u32,
        db_size_bytes: u64,
        #[serde(deserialize_with = "nullable")] model_name: Option<String>,
        #[serde(deserialize_with = "nullable")] embedding_dim: Option<u32>,
        schema_version: u32,
        #[serde(deserialize_with = "nullable")] model_max_tokens: Option<u32>,
        #[serde(deserialize_with = "nullable")] precision: Option<String>,
        #[serde(deserialize_with = "nullable")] model_revision: Option<String>,
        #[serde(deserialize_with = "nullable")] weights_sha256: Option<String>,
        data_dir: String, pages: Pages, ocr: Ocr,
        #[serde(deserialize_with = "nullable")] sandbox: Option<Sandbox>, agent_skills: Vec<AgentSkill>,
        #[serde(deserialize_with = "nullable")] last_update: Option<String>,
        #[serde(deserialize_with = "nullable")] out_of_date: Option<OutOfDate>,
        #[serde(deserialize_with = "nullable")] room_bytes: Option<RoomBytes>,
        backups: Vec<OwnCopy>, bases: Vec<Base>,
        #[serde(deserialize_with = "nullable")] running: Option<OngoingRun>,
        conflict_copies: Vec<ConflictCopy>,
    }
    ConflictCopy { path: String, conflict_of: String, }
    OngoingRun {
        command: String,
        #[serde(deserialize_with = "nullable")] stored: Option<u64>,
        #[serde(deserialize_with = "nullable")] total: Option<u64>,
    }
    OwnCopy { file: String, size_bytes: u64, before: String, }
    AgentSkill {
        path: String,
        #[serde(deserialize_with = "nullable")] version: Option<String>,
        current: bool,
    }
    Pages { read: u64, ocr: u64, empty: u64, unread: u64, documents_with_unread: u32, }
    Sandbox {
        limits: bool, no_new_privileges: bool,
        #[serde(deserialize_with = "nullable")] landlock: Option<u32>,
        seccomp: bool,
    }
    Ocr {
        mode: String,
        #[serde(deserialize_with = "nullable")] tesseract: Option<String>,
        #[serde(deserialize_with = "nullable")] problem: Option<String>,
        languages: String,
    }
    Setup {
        contract_version: u32, data_dir: String, database: String, database_exists: bool,
        model_configured: String, model_present: bool,
        #[serde(deserialize_with = "nullable")] model_dir: Option<String>,
        #[serde(deserialize_with = "nullable")] runtime: Option<String>,
        #[serde(deserialize_with = "nullable")] model_name: Option<String>,
        #[serde(deserialize_with = "nullable")] embedding_dim: Option<u32>,
        ocr: Ocr,
    }
    Report {
        contract_version: u32, added: u32, updated: u32, skipped: u32, copies: u32, retitled: u32,
        tagged: u32, ignored: u32, failed: u32,
        chunks: u32, document_ids: Vec<i64>, errors: Vec<Failed>, warnings: Vec<Failed>,
        ignored_kinds: Vec<IgnoredKind>, known_failed: u32, lossy: u32,
        uncertain_encodings: u32,
    }
    IgnoredKind { kind: String, files: u32, }
    Plan {
        contract_version: u32, dry_run: bool, new: u64, changed: u64, unchanged: u64, ignored: u64,
        failed: u64, waived: u64, groups: Vec<PlanGroup>, errors: Vec<Failed>,
    }
    PlanGroup {
        outcome: String, kind: String,
        #[serde(deserialize_with = "nullable")] reason: Option<String>,
        files: u64,
    }
    Files { contract_version: u32, counts: FileCounts, files: Vec<ListedFile>, }
    FileCounts { indexed: u64, ignored: u64, failed: u64, waived: u64, }
    ListedFile {
        path: String, outcome: String,
        #[serde(deserialize_with = "nullable")] reason: Option<String>,
        #[serde(deserialize_with = "nullable")] error: Option<String>,
        #[serde(deserialize_with = "nullable")] reader: Option<String>,
        #[serde(deserialize_with = "nullable")] size_bytes: Option<u64>,
        #[serde(deserialize_with = "nullable")] seen_at: Option<String>,
        #[serde(deserialize_with = "nullable")] document_id: Option<i64>,
        #[serde(deserialize_with = "nullable")] words: Option<BTreeMap<String, u32>>,
        #[serde(deserialize_with = "nullable")] unread_parts: Option<u32>,
        #[serde(deserialize_with = "nullable")] encoding: Option<Encoding>,
    }
    Encoding { name: String, origin: String, }
    Failed { path: String, code: String, error: String, }
    Tagged { contract_version: u32, id: i64, tags: Vec<String>, }
    Removed {
        contract_version: u32, removed: Vec<i64>, dry_run: bool, documents: Vec<RemovedDocument>,
        lost: Lost, rules_added: u64, backups: Vec<OwnCopy>, backups_deleted: Vec<OwnCopy>,
    }
    RemovedDocument {
        id: i64, title: String, #[serde(deserialize_with = "nullable")] path: Option<String>,
    }
    Lost { notes: u64, without_file: u64, titles: u64, dates: u64, tagged: u64, }
    Imported {
        contract_version: u32, imported: u64, chunks: u64, merged: u64, skipped: u64, failed: u64,
        without_file: u64, folders_left_out: u64, conflicts: Vec<Conflict>, errors: Vec<BadLine>,
    }
    Conflict {
        document_id: i64, field: String,
        #[serde(deserialize_with = "nullable")] kept: Option<String>,
        #[serde(deserialize_with = "nullable")] other: Option<String>,
        kept_import: bool,
        #[serde(deserialize_with = "nullable")] copy_id: Option<i64>,
    }
    BadLine { line: u64, error: String, }
    Bases { contract_version: u32, bases: Vec<Base>, }
    Base {
        name: String, path: String,
        #[serde(deserialize_with = "nullable")] description: Option<String>,
        #[serde(deserialize_with = "nullable")] documents: Option<u64>,
        #[serde(deserialize_with = "nullable")] model: Option<String>,
        allowed: bool,
        #[serde(deserialize_with = "nullable")] follows_files: Option<bool>,
        #[serde(deserialize_with = "nullable")] error: Option<String>,
    }
    BaseChanged {
        contract_version: u32, action: String, name: String, path: String,
        follows_files: bool,
    }
    ClientChanged {
        contract_version: u32, client: String, path: String, action: String, name: String,
        #[serde(deserialize_with = "nullable")] command: Option<String>, args: Vec<String>,
        kept: Vec<String>, dropped: Vec<String>,
    }
    Relocated {
        contract_version: u32, from: String, to: String, dry_run: bool, files: u64, matching: u64,
        changed: Vec<String>, missing: Vec<String>,
    }
    Converted {
        contract_version: u32,
        #[serde(deserialize_with = "nullable")] path: Option<String>,
        r#type: String, format: String,
        #[serde(deserialize_with = "nullable")] title: Option<String>,
        #[serde(deserialize_with = "nullable")] author: Option<String>,
        #[serde(deserialize_with = "nullable")] created: Option<String>,
        #[serde(deserialize_with = "nullable")] language: Option<String>,
        #[serde(deserialize_with = "nullable")] page_count: Option<u32>,
        tags: Vec<String>, warnings: Vec<String>, blocks: Vec<ConvertedBlock>,
        #[serde(deserialize_with = "nullable")] words: Option<BTreeMap<String, u32>>,
        #[serde(deserialize_with = "nullable")] parts: Option<FileParts>,
        #[serde(deserialize_with = "nullable")] encoding: Option<Encoding>,
        members: Vec<Converted>,
    }
    FileParts {
        read: u32, without_text: BTreeMap<String, u32>,
        unread: Vec<UnreadPart>, unread_count: u32,
    }
    UnreadPart { name: String, size_bytes: u64, reason: String, }
    ConvertedBlock {
        kind: String, headings: Vec<String>,
        #[serde(deserialize_with = "nullable")] level: Option<u32>,
        #[serde(deserialize_with = "nullable")] symbol: Option<String>,
        #[serde(deserialize_with = "nullable")] page: Option<u32>,
        #[serde(deserialize_with = "nullable")] page_label: Option<String>,
        text: String,
        #[serde(deserialize_with = "nullable")] language: Option<String>,
        #[serde(deserialize_with = "nullable")] cells: Option<Vec<Vec<String>>>,
    }
    Conversion {
        contract_version: u32, converted: u64, ignored: u64, failed: u64,
        documents: Vec<ConvertedFile>, errors: Vec<Failed>, warnings: Vec<ReaderWarning>,
    }
    ConvertedFile {
        #[serde(deserialize_with = "nullable")] path: Option<String>, output: String, renamed: bool,
    }
    ReaderWarning { path: String, warning: String, }
    Restored {
        contract_version: u32, file: String, database: String, total_documents: u32,
        total_chunks: u32, #[serde(deserialize_with = "nullable")] replaced: Option<String>,
    }
    Reindexed { contract_version: u32, chunks: u64, model_name: String, embedding_dim: u32, made_differently: u64,
        #[serde(deserialize_with = "nullable")] backup: Option<String>, }
    Setting { key: String, value: String, typed_value: Value, origin: String, }
    Error { error: String, code: String, #[serde(deserialize_with = "nullable")] fix: Option<String>, }
}

/// Reads an answer as exactly a `T`.
#[track_caller]
pub(crate) fn read<T: DeserializeOwned + Serialize>(output: &Output) -> T {
    let mut answer = output.json();
    // On a system without a sandbox, each report of added files has a note.
    if cfg!(windows) && answer["notes"].to_string().contains(NO_SANDBOX) {
        let notes = answer["notes"].as_array_mut().unwrap();
        notes.retain(|note| !note.to_string().contains(NO_SANDBOX));
        if notes.is_empty() {
            answer.as_object_mut().unwrap().remove("notes");
        }
    }
    exactly(&answer)
}

#[track_caller]
fn exactly<T: DeserializeOwned + Serialize>(value: &Value) -> T {
    let read: T =
        serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"));
    assert_eq!(serde_json::to_value(&read).unwrap(), *value);
    read
}

/// Whether a text is a time in RFC 3339, UTC, whole seconds.
fn is_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok() && text.len() == 20 && text.ends_with('Z')
}

#[test]
fn a_search_answer_is_an_exact_object() {
    let env = TestEnv::with_corpus();
    for query in ["frozen gauge", "blue box", "high water", "E23 stilling well", "predict"] {
        for leg in [None, Some("--fts-only"), Some("--vec-only")] {
            let output = env.ok(&["search", query].into_iter().chain(leg).collect::<Vec<_>>());
            let answer: Search = read(&output);
            assert_eq!(answer.contract_version, 1);
            assert_eq!(answer.query, query);
            assert_eq!(answer.returned, answer.results.len() as u64);
            assert!(answer.returned <= 10 && answer.returned <= answer.total_matches);
            assert!(answer.returned > 0, "{query} {leg:?}");
        }
    }
}

#[test]
fn passages_and_similar_hits_are_exact_objects() {
    let env = TestEnv::with_corpus();
    let answer: Passages = read(&env.ok(&["search", "frozen gauge", "--budget=300"]));
    assert_eq!((answer.budget, answer.returned), (300, answer.results.len() as u64));
    assert!(answer.results.iter().map(|result| result.tokens).sum::<u64>() == answer.tokens);
    for flags in [["4", "--format=json"].as_slice(), &["--chunk=3", "--format=json"]] {
        let similar: Similar = read(&env.ok(&[&["similar"], flags].concat()));
        assert_eq!(similar.returned, similar.results.len() as u64);
        assert!(similar.document_id.is_some() != similar.chunk_id.is_some());
    }
}

#[test]
fn fields_that_do_not_apply_to_a_hit_are_null() {
    let env = TestEnv::with_corpus();
    let hit = |query: &str| -> Hit {
        let output = env.ok(&["search", query, "--top=1", "--fts-only"]);
        read::<Search>(&output).results.pop().unwrap()
    };
    let note = hit("boat").source;
    assert_eq!((note.r#type.as_str(), note.path, note.page), ("note", None, None));
    assert_eq!((note.section, note.language, note.symbol), (None, None, None));
    assert_eq!((note.tags, note.chunk_index, note.total_chunks), (vec![], 0, 1));

    let page = hit("\"phosphor bronze\"").source;
    assert_eq!((page.r#type.as_str(), page.page, page.last_page), ("pdf", Some(2), Some(2)));
    assert_eq!(page.title, "Field Guide to the Harbour Tide Station");
    assert_eq!((page.start_line, page.end_line, page.language), (None, None, None));

    let section = hit("mussels").source;
    assert_eq!((section.r#type.as_str(), section.format.as_str()), ("markdown", "markdown"));
    assert_eq!(section.page, None);
    assert_eq!(section.path, Some(format!("{CORPUS}/station-handbook.md")));
    assert_eq!(section.section.as_deref(), Some("Instruments > Float gauge"));
    assert_eq!(section.tags, ["handbook", "sample", "station"]);
    assert_eq!((section.start_line, section.end_line), (Some(24), Some(31)));

    let code = hit("gullHeight").source;
    assert_eq!((code.r#type.as_str(), code.language.as_deref()), ("code", Some("go")));
    assert_eq!(code.format, "go");
    assert!(code.start_line.is_some() && code.page.is_none() && code.section.is_none());

    let evidence = hit("mussels").evidence;
    assert_eq!((evidence.fts_rank, evidence.fts_weight), (Some(1), Some(1.0)));
    assert!(evidence.bm25.unwrap() > 0.0);
    assert_eq!((evidence.vector_rank, evidence.cosine, evidence.vector_weight), (None, None, None));
}

#[test]
fn lists_are_arrays_of_exact_objects() {
    let env = TestEnv::with_corpus();
    let documents: Vec<Document> = read(&env.ok(&["list", "--format", "json"]));
    assert_eq!(
        documents.iter().map(|document| document.id).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5, 6, 7, 8]
    );
    for document in &documents {
        assert!(is_time(&document.created_at) && is_time(&document.updated_at), "{document:?}");
        assert!(document.chunk_count > 0 && !document.title.is_empty(), "{document:?}");
        assert_eq!(document.language.is_some(), document.r#type == "code", "{document:?}");
        assert_eq!(document.path.is_some(), document.r#type != "note", "{document:?}");
    }
    let tags: Vec<Tag> = read(&env.ok(&["tags", "--format", "json"]));
    let tags: Vec<(&str, u32)> = tags.iter().map(|tag| (tag.name.as_str(), tag.count)).collect();
    assert_eq!(tags, [("handbook", 1), ("sample", 7), ("station", 2)]);
    let settings: Vec<Setting> = read(&env.ok(&["config", "--format", "json"]));
    assert!(
        settings.iter().any(|setting| setting.key == "search.rrf_k" && setting.origin == "default")
    );
}

#[test]
fn status_and_init_are_exact_objects() {
    let env = TestEnv::real_with_corpus();
    let status: Status = read(&env.ok(&["status", "--format", "json"]));
    let documents: Vec<(&str, u32)> =
        status.documents.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(documents, [("code", 3), ("markdown", 2), ("note", 2), ("pdf", 1)]);
    assert_eq!(i64::from(status.total_chunks), env.sql::<i64>("SELECT count(*) FROM chunks"));
    assert_eq!(status.db_size_bytes, env.database().metadata().unwrap().len());
    assert_eq!(status.model_name.as_deref(), Some("all-MiniLM-L6-v2"));
    assert_eq!((status.embedding_dim, status.model_max_tokens), (Some(384), Some(256)));
    assert_eq!(
        (status.model_revision, status.weights_sha256.map(|sha256| sha256.len())),
        (None, Some(64))
    );
    let version: String = env.sql("SELECT value FROM config WHERE key = 'schema_version'");
    assert_eq!(status.schema_version.to_string(), version);
    assert!(status.agent_skills.is_empty());

    let setup: Setup = read(&env.ok(&["init", "--status", "--format", "json"]));
    assert!(setup.database_exists && setup.model_present && setup.runtime.is_some());
    assert_eq!(setup.model_configured, "all-MiniLM-L6-v2");
    let setup: Setup =
        read(&TestEnv::without_model().ok(&["init", "--status", "--format", "json"]));
    assert!(!setup.database_exists && !setup.model_present && setup.runtime.is_none());
    assert_eq!((setup.model_name, setup.embedding_dim), (None, None));
}

#[test]
fn one_document_is_an_exact_object() {
    let env = TestEnv::with_corpus();
    for id in 1..=8 {
        let info: Info = read(&env.ok(&["info", &id.to_string(), "--format", "json"]));
        assert_eq!(info.id, id);
        assert_eq!(info.chunk_count as usize, info.chunks.len());
        for (index, chunk) in (0..).zip(&info.chunks) {
            assert_eq!(chunk.chunk_index, index);
            assert!((1..=100).contains(&chunk.preview.chars().count()), "{chunk:?}");
        }
        assert_eq!(info.metadata.page_count.is_some(), info.r#type == "pdf");
    }
}

#[test]
fn reports_of_changes_are_exact_objects() {
    let env = TestEnv::real();
    env.write("docs/a.md", "# A\n\nalpha\n");
    env.write("docs/b.md", [0_u8, 1, 2].repeat(50));
    env.write("docs/c.xyz", "something else");
    let report: Report = read(&env.ok(&["add", "docs", "--format", "json"]));
    assert_eq!((report.added, report.updated, report.skipped), (1, 0, 0));
    assert_eq!((report.ignored, report.failed, report.chunks), (1, 1, 1));
    assert_eq!(report.document_ids, [1]);
    assert_eq!(report.errors[0].path, env.path("docs/b.md").display().to_string());
    assert!(!report.errors[0].code.is_empty() && !report.errors[0].error.is_empty());

    let tagged: Tagged = read(&env.ok(&["tag", "1", "--add", "x,y", "--format", "json"]));
    assert_eq!((tagged.id, tagged.tags), (1, vec!["x".to_owned(), "y".to_owned()]));
    env.ok(&["backup", "restored.db"]);
    let restored: Restored = read(&env.ok(&["restore", "restored.db", "--format", "json"]));
    assert!(restored.total_documents > 0 && restored.total_chunks > 0);
    assert!(restored.file.ends_with("restored.db") && restored.database.ends_with("kb.db"));
    assert!(restored.replaced.is_some_and(|path| path.contains("kb-before-restore-")));
    assert_eq!(restored.contract_version, 1);
    let done: Reindexed = read(&env.ok(&["reindex", "--format", "json"]));
    assert_eq!((done.chunks, done.embedding_dim), (1, 384));
    let removed: Removed = read(&env.ok(&["remove", "1", "--yes", "--format", "json"]));
    assert_eq!(removed.removed, [1]);
    let error: Error = exactly(&env.kb(&["info", "1", "--format", "json"]).expect(1).json_error());
    assert_eq!(error.error, "document not found: 1");
}

#[test]
fn an_empty_result_is_an_empty_value() {
    let env = TestEnv::new();
    for _ in 0..2 {
        assert_eq!(env.ok(&["list", "--format", "json"]).stdout, "[]\n");
        assert_eq!(env.ok(&["tags", "--format", "json"]).stdout, "[]\n");
        let answer: Search = read(&env.ok(&["search", "anything"]));
        assert_eq!((answer.results.len(), answer.total_matches, answer.returned), (0, 0, 0));
        let status: Status = read(&env.ok(&["status", "--format", "json"]));
        assert_eq!(status.documents.len(), 4);
        assert!(status.documents.values().all(|&count| count == 0) && status.total_chunks == 0);
        // The same for an existing, empty database.
        env.ok(&["init"]);
    }
}
