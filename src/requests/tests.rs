//! Tests the conversion of requests.

use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;
use crate::app::indexing::add::{AddRequest, DocumentSource};
use crate::app::query::grep::GrepRequest;
use crate::app::query::read::{OpenRequest, ShowRequest};
use crate::document::{LineRange, PageRange};
use crate::read::PartSelection;
use crate::read::grep::GrepDetail;

fn parse<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).unwrap()
}

/// Checks the message about a request.
#[track_caller]
fn refused<T: std::fmt::Debug>(request: Result<T>, message: &str) {
    assert_eq!(request.unwrap_err().to_string(), message);
}

fn search(json: Value) -> Result<SearchRequest> {
    parse::<SearchInput>(json).over(&SearchRequest::default())
}

fn similar(json: Value) -> Result<SimilarRequest> {
    parse::<SimilarInput>(json).try_into()
}

fn show(json: Value) -> Result<ShowRequest> {
    parse::<ShowInput>(json).try_into()
}

fn open(json: Value) -> Result<OpenRequest> {
    parse::<OpenInput>(json).try_into()
}

fn grep(json: Value) -> Result<GrepRequest> {
    parse::<GrepInput>(json).into_request()
}

fn add(json: Value) -> Result<AddRequest> {
    parse::<AddInput>(json).into_request()
}

#[test]
fn one_ranking_is_chosen_or_both_are_used() {
    let legs = |json| search(json).unwrap().legs;
    assert_eq!(legs(json!({ "query": "a" })), None);
    assert_eq!(legs(json!({ "query": "a", "fts_only": true })), Some(LegSelection::Keyword));
    assert_eq!(legs(json!({ "query": "a", "vec_only": true })), Some(LegSelection::Vector));
    let both = json!({ "query": "a", "fts_only": true, "vec_only": true });
    refused(search(both), "fts_only and vec_only exclude each other");
}

#[test]
fn numbers_out_of_range_are_refused() {
    let limit = |top: u32| search(json!({ "query": "a", "top": top })).map(|request| request.limit);
    assert_eq!(limit(limits::TOP.max).unwrap(), Some(limits::TOP.max));
    let range = limits::TOP.range();
    for top in [0, limits::TOP.max + 1] {
        refused(limit(top), &format!("top must be {range}, not {top}"));
    }
    let request = search(json!({ "query": "a", "per_doc": 0 }));
    refused(request, &format!("per_doc must be {range}, not 0"));
}

#[test]
fn similar_passages_are_those_of_a_document_or_of_a_chunk() {
    let request = similar(json!({ "document": 7 })).unwrap();
    assert_eq!((request.document.as_deref(), request.chunk), (Some("7"), None));
    let request = similar(json!({ "chunk": 7 })).unwrap();
    assert_eq!((request.document, request.chunk), (None, Some(ChunkId(7))));
    let message = "name either a document or a chunk";
    refused(similar(json!({})), message);
    refused(similar(json!({ "document": 7, "chunk": 7 })), message);
}

#[test]
fn one_part_of_a_document_is_shown() {
    let part = |json| show(json).unwrap().selection;
    assert_eq!(part(json!({ "document": "a" })), PartSelection::Whole);
    let heading = json!({ "document": "a", "section": "Setup" });
    assert_eq!(part(heading), PartSelection::Section("Setup".to_owned()));
    let symbol = json!({ "document": "a", "symbol": "run" });
    assert_eq!(part(symbol), PartSelection::Symbol("run".to_owned()));
    for (page, last) in [(json!(3), 3), (json!("3"), 3), (json!("pp. 3-4"), 4)] {
        let pages = PageRange::between(3, last);
        assert_eq!(part(json!({ "document": "a", "page": page })), PartSelection::Pages(pages));
    }
    let wrong = json!({ "document": "a", "page": "iv" });
    refused(show(wrong), "page: expected a page such as 3 or pages such as 3-4");
    let chunk = json!({ "chunk": 5, "around": 2 });
    assert_eq!(part(chunk), PartSelection::Chunk(ChunkId(5), 2));
    refused(show(json!({ "section": "Setup" })), "give the argument `document`");
    refused(
        show(json!({ "document": "a", "page": 3, "symbol": "run" })),
        "section, symbol, page and chunk exclude each other",
    );
}

#[test]
fn lines_to_open_are_in_order() {
    let lines = |first: Option<u32>, last: Option<u32>| {
        let input = json!({ "document": "a", "start_line": first, "end_line": last });
        open(input).map(|request| request.lines)
    };
    assert_eq!(lines(None, None).unwrap(), None);
    assert_eq!(lines(Some(3), None).unwrap(), LineRange::new(3, u32::MAX));
    assert_eq!(lines(None, Some(3)).unwrap(), LineRange::new(1, 3));
    assert_eq!(lines(Some(3), Some(3)).unwrap(), LineRange::new(3, 3));
    refused(lines(Some(4), Some(3)), "start_line comes after end_line");
}

#[test]
fn matching_lines_are_shown_or_counted_or_only_their_documents_named() {
    let detail = |json| grep(json).map(|request| request.detail);
    assert_eq!(detail(json!({ "pattern": "a" })).unwrap(), GrepDetail::Lines(0));
    assert_eq!(detail(json!({ "pattern": "a", "context": 2 })).unwrap(), GrepDetail::Lines(2));
    assert_eq!(detail(json!({ "pattern": "a", "count": true })).unwrap(), GrepDetail::Count);
    let names = json!({ "pattern": "a", "files_with_matches": true });
    assert_eq!(detail(names).unwrap(), GrepDetail::Name);
    for (first, second) in [("count", "files_with_matches"), ("count", "context")] {
        let value = |name| if name == "context" { json!(1) } else { json!(true) };
        let input = json!({ "pattern": "a", first: value(first), second: value(second) });
        refused(grep(input), "count, files_with_matches and context exclude each other");
    }
}

#[test]
fn standard_input_cannot_be_added() {
    let request = add(json!({ "paths": ["/notes"], "tags": ["a,b", "c"] })).unwrap();
    assert_eq!(request.tags, ["a", "b", "c"]);
    assert!(
        matches!(request.source, DocumentSource::Paths(paths) if paths == [PathBuf::from("/notes")])
    );
    let message = "`-` means standard input, which carries the server's protocol";
    refused(add(json!({ "paths": ["/notes", "-"] })), message);
}
