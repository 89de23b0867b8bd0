//! Tests what a merge keeps, reports and remembers, and that without vectors it changes nothing.

use super::*;
use crate::ids::ChunkId;
use crate::testing::{TestDb, stamp, vector};

/// Returns a note that was never edited. Its text is also its hash.
fn note(title: &str, text: &str) -> DocumentRecord {
    let chunk = transfer::RecordedChunk {
        id: ChunkId(1),
        text: text.to_owned(),
        context: title.to_owned(),
        token_count: 3,
        metadata: "{}".into(),
        vector: Some(vector(text)),
        codes: None,
    };
    DocumentRecord {
        id: DocumentId(1),
        title: title.to_owned(),
        is_title_given: false,
        path: None,
        content_hash: text.to_owned(),
        doc_type: DocType::Note,
        language: None,
        created_at: "2001-01-01T00:00:00Z".into(),
        updated_at: "2001-01-01T00:00:00Z".into(),
        metadata: r#"{"format":"note"}"#.into(),
        making: None,
        note_text: None,
        edits: Edits::default(),
        tags: Vec::new(),
        paths: Vec::new(),
        chunks: vec![chunk],
    }
}

fn times(all: &[&str]) -> Vec<String> {
    all.iter().map(|&time| time.to_owned()).collect()
}

fn without_vectors(record: &DocumentRecord) -> DocumentRecord {
    let mut record = record.clone();
    record.chunks.iter_mut().for_each(|chunk| chunk.vector = None);
    record
}

fn with_tags(tags: &[&str], record: DocumentRecord) -> DocumentRecord {
    DocumentRecord { tags: times(tags), ..record }
}

fn machine(records: &[DocumentRecord]) -> TestDb {
    let mut db = TestDb::new();
    for record in records {
        db.store.import(record).unwrap();
    }
    db
}

fn records(db: &TestDb) -> Vec<DocumentRecord> {
    let mut records = Vec::new();
    let collect = |record| {
        records.push(record);
        Ok(())
    };
    db.store.export(None, true, collect).unwrap();
    records
}

/// The expected outcome of a merge.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    /// The version here stays.
    Here,
    /// The import is taken.
    Import,
    /// Both were edited, and the version here stays.
    HereIsNewer,
    /// Both were edited, and the import is taken.
    ImportIsNewer,
}

impl Expected {
    fn takes_import(self) -> bool {
        matches!(self, Self::Import | Self::ImportIsNewer)
    }

    fn is_conflict(self) -> bool {
        matches!(self, Self::HereIsNewer | Self::ImportIsNewer)
    }
}

/// Merges one record with another, which has vectors only if chunks must be stored.
#[track_caller]
fn merge(
    here: &DocumentRecord,
    import: &DocumentRecord,
    needs_vectors: bool,
) -> (TestDb, MergedDocument) {
    let mut db = machine(std::slice::from_ref(here));
    let before = records(&db);
    let bare = without_vectors(import);
    if needs_vectors {
        assert_eq!(db.store.import(&bare).unwrap(), ImportOutcome::NeedsVectors);
        assert_eq!(records(&db), before);
    }
    let outcome = db.store.import(if needs_vectors { import } else { &bare }).unwrap();
    let ImportOutcome::Merged(merged) = outcome else { panic!("{outcome:?}") };
    assert_eq!(merged.id, before[0].id);
    db.assert_intact();
    (db, merged)
}

/// Checks the only conflict of a merge, if there is one.
#[track_caller]
fn check_conflict(
    merged: &MergedDocument,
    expected: Expected,
    field: EditableField,
    (here, import): (Option<&str>, Option<&str>),
) {
    let takes_import = expected.takes_import();
    let (kept, other) = if takes_import { (import, here) } else { (here, import) };
    let conflicts: Vec<_> = merged
        .conflicts
        .iter()
        .map(|conflict| {
            let (kept, other) = (conflict.kept.as_deref(), conflict.other.as_deref());
            (conflict.document_id, conflict.field, kept, other, conflict.is_import_kept)
        })
        .collect();
    let one = (merged.id, field, kept, other, takes_import);
    let expected = if expected.is_conflict() { vec![one] } else { Vec::new() };
    assert_eq!(conflicts, expected);
}

/// Merges two versions of a note whose titles were given at these times; without times, they were not given.
#[track_caller]
fn check_titles(here: (&str, &[&str]), import: (&str, &[&str]), expected: Expected) {
    let titled = |(title, edits): (&str, &[&str])| DocumentRecord {
        is_title_given: !edits.is_empty(),
        edits: Edits { title: times(edits), ..Edits::default() },
        ..note(title, "the same")
    };
    let takes_import = expected.takes_import();
    let (db, merged) = merge(&titled(here), &titled(import), takes_import);
    let after = records(&db).remove(0);
    assert_eq!(after.title, if takes_import { import.0 } else { here.0 });
    assert_eq!(after.chunks[0].context, after.title);
    assert_eq!(after.is_title_given, !here.1.is_empty() || !import.1.is_empty());
    assert_eq!(after.edits.title, union(&times(here.1), &times(import.1)));
    assert_eq!(merged.is_changed, takes_import);
    check_conflict(&merged, expected, EditableField::Title, (Some(here.0), Some(import.0)));
}

#[test]
fn a_title_given_later_or_alone_is_kept() {
    use Expected::{Here, HereIsNewer, Import, ImportIsNewer};
    check_titles(("a", &[]), ("b", &[]), Here);
    check_titles(("a", &[]), ("b", &["1"]), Import);
    check_titles(("a", &["1"]), ("b", &[]), Here);
    // The same words, which become a title that was given.
    check_titles(("a", &[]), ("a", &["1"]), Import);
    check_titles(("a", &["1"]), ("a", &["2"]), Here);
    check_titles(("a", &["1"]), ("b", &["1", "2"]), Import);
    check_titles(("a", &["1", "2"]), ("b", &["1"]), Here);
    check_titles(("a", &["1"]), ("b", &["2"]), ImportIsNewer);
    check_titles(("a", &["2"]), ("b", &["1"]), HereIsNewer);
    // Edits at the same time: the greater title.
    check_titles(("a", &["1"]), ("b", &["1"]), ImportIsNewer);
    check_titles(("b", &["1"]), ("a", &["1"]), HereIsNewer);
}

#[test]
fn a_title_that_is_not_given_here_never_conflicts() {
    // As left by a title that was given up again, and by a program that keeps no times.
    for (here, import) in [(&["9"][..], &["1"][..]), (&[], &[])] {
        let edits = |all: &[&str]| Edits { title: times(all), ..Edits::default() };
        let here = DocumentRecord { edits: edits(here), ..note("read", "the same") };
        let import = DocumentRecord {
            edits: edits(import),
            is_title_given: true,
            ..note("given", "the same")
        };
        let (db, merged) = merge(&here, &import, true);
        assert_eq!(records(&db)[0].title, "given");
        assert!(merged.is_changed && merged.conflicts.is_empty(), "{merged:?}");
    }
}

/// Merges two versions of a note whose dates were given at these times.
#[track_caller]
fn check_dates(here: (Option<&str>, &[&str]), import: (Option<&str>, &[&str]), expected: Expected) {
    let dated = |(date, edits): (Option<&str>, &[&str])| {
        let date = date.map(|date| format!(r#","date":"{date}""#)).unwrap_or_default();
        DocumentRecord {
            metadata: format!(r#"{{"format":"note"{date}}}"#),
            edits: Edits { date: times(edits), ..Edits::default() },
            ..note("title", "the same")
        }
    };
    let (db, merged) = merge(&dated(here), &dated(import), false);
    let after = records(&db).remove(0);
    let kept = if expected.takes_import() { import.0 } else { here.0 };
    assert_eq!(after.metadata, dated((kept, &[])).metadata);
    assert_eq!(after.edits.date, union(&times(here.1), &times(import.1)));
    assert_eq!(merged.is_changed, expected.takes_import());
    check_conflict(&merged, expected, EditableField::Date, (here.0, import.0));
}

#[test]
fn a_date_edited_later_is_kept() {
    use Expected::{Here, HereIsNewer, Import, ImportIsNewer};
    let (may, june) = (Some("2001-05-01"), Some("2001-06-01"));
    check_dates((None, &[]), (may, &["1"]), Import);
    check_dates((may, &["1"]), (None, &[]), Here);
    check_dates((may, &["1"]), (None, &["1", "2"]), Import);
    check_dates((may, &["1"]), (may, &["2"]), Here);
    check_dates((june, &["1"]), (may, &["2"]), ImportIsNewer);
    check_dates((june, &["2"]), (may, &["1"]), HereIsNewer);
    // Edits at the same time: the later day.
    check_dates((may, &["1"]), (june, &["1"]), ImportIsNewer);
    check_dates((june, &["1"]), (may, &["1"]), HereIsNewer);
}

#[test]
fn tags_of_both_are_kept() {
    let here = with_tags(&["one", "two"], note("title", "the same"));
    for (tags, expected, is_changed) in [
        (&["one"][..], &["one", "two"][..], false),
        (&[], &["one", "two"], false),
        (&["three", "two"], &["one", "three", "two"], true),
    ] {
        let (db, merged) = merge(&here, &with_tags(tags, here.clone()), false);
        assert_eq!(records(&db)[0].tags, expected);
        assert_eq!(merged.is_changed, is_changed, "{tags:?}");
    }
}

#[test]
fn a_merge_that_adds_nothing_writes_nothing() {
    let edits = Edits { title: times(&["1"]), date: times(&["2"]), ..Edits::default() };
    let here = DocumentRecord { edits, is_title_given: true, ..note("title", "the same") };
    let (db, merged) = merge(&here, &here, false);
    assert_eq!(records(&db), [here]);
    assert_eq!(
        merged,
        MergedDocument { id: DocumentId(1), is_changed: false, conflicts: Vec::new() }
    );
}

#[test]
fn a_note_is_given_the_file_of_the_same_text() {
    let here = note("title", "the same");
    let import =
        DocumentRecord { path: Some("/a".into()), paths: vec![stamp("/a")], ..here.clone() };
    let (db, merged) = merge(&here, &import, false);
    let after = records(&db).remove(0);
    assert_eq!((after.path.as_deref(), merged.is_changed), (Some("/a"), true));
    assert_eq!(after.paths, [stamp("/a")]);
}

/// A version of a note: its text, when text and title were edited, and its earlier texts.
type Version<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str]);

fn version((text, text_edits, title, former): Version<'_>) -> DocumentRecord {
    DocumentRecord {
        edits: Edits {
            title: times(title),
            text: times(text_edits),
            former: times(former),
            date: Vec::new(),
        },
        ..note(&format!("title of {text}"), text)
    }
}

/// Merges two texts of one note. If both were edited, the one that is not kept becomes a note.
#[track_caller]
fn check_texts(here: Version<'_>, import: Version<'_>, expected: Expected) {
    let [before, given] =
        [(here, "here"), (import, "import")].map(|(given, tag)| with_tags(&[tag], version(given)));
    let needs_vectors = expected != Expected::Here;
    let (db, merged) = merge(&before, &given, needs_vectors);
    let after = records(&db);
    let (kept, other) = if expected.takes_import() { (&given, &before) } else { (&before, &given) };
    let note = &after[0];
    assert_eq!((&note.content_hash, &note.title), (&kept.content_hash, &kept.title));
    assert_eq!(note.chunks[0].text, kept.content_hash);
    assert_eq!(note.tags, ["here", "import"]);
    assert_eq!(note.edits.text, union(&before.edits.text, &given.edits.text));
    assert_eq!(note.edits.title, union(&before.edits.title, &given.edits.title));
    assert_eq!(note.edits.former, union(&before.edits.former, &given.edits.former));
    assert!(merged.is_changed, "the tag of the import is new");
    let titles = (Some(before.title.as_str()), Some(given.title.as_str()));
    check_conflict(&merged, expected, EditableField::Text, titles);
    assert_eq!(after.len(), if expected.is_conflict() { 2 } else { 1 });
    if let Some(copy) = after.get(1) {
        assert_eq!(merged.conflicts[0].copy_id, Some(copy.id));
        assert_eq!((&copy.content_hash, &copy.title), (&other.content_hash, &other.title));
        assert_eq!((&copy.chunks[0].text, &copy.tags), (&other.content_hash, &other.tags));
        let edits = Edits { title: other.edits.title.clone(), ..Edits::default() };
        assert_eq!(copy.edits, edits, "a copy is a separate note");
    }
}

#[test]
fn the_later_text_of_a_note_is_kept_and_no_text_is_lost() {
    use Expected::{Here, HereIsNewer, Import, ImportIsNewer};
    let old = ("old", &[][..], &[][..], &[][..]);
    check_texts(old, ("new", &["1"], &[], &["old"]), Import);
    check_texts(("new", &["1"], &[], &["old"]), old, Here);
    let one = ("one", &["1"][..], &[][..], &["old"][..]);
    check_texts(one, ("two", &["2"], &[], &["old"]), ImportIsNewer);
    check_texts(("two", &["2"], &[], &["old"]), one, HereIsNewer);
    // Edits at the same time: the greater hash.
    check_texts(one, ("two", &["1"], &[], &["old"]), ImportIsNewer);
    check_texts(("two", &["1"], &[], &["old"]), one, HereIsNewer);
    // An edited title counts like an edited text.
    check_texts(("one", &["1"], &["3"], &["old"]), ("two", &["2"], &[], &["old"]), HereIsNewer);
    // The import knows the edits here, but not the text.
    check_texts(one, ("two", &["1", "2"], &[], &["old"]), ImportIsNewer);
    check_texts(one, ("two", &["1", "2"], &[], &["old", "one"]), Import);
}

#[test]
fn a_note_of_an_earlier_text_comes_before_one_with_the_same_past() {
    let related = DocumentRecord { id: DocumentId(1), ..version(("a", &["1"], &[], &["old"])) };
    let earlier = DocumentRecord { id: DocumentId(2), ..version(("b", &["1"], &[], &[])) };
    let import = version(("c", &["1", "2"], &[], &["b", "old"]));
    let mut db = machine(&[related.clone(), earlier]);
    let outcome = db.store.import(&import).unwrap();
    let merged = MergedDocument { id: DocumentId(2), is_changed: true, conflicts: Vec::new() };
    assert_eq!(outcome, ImportOutcome::Merged(merged));
    assert_eq!(records(&db)[0], related);
}

#[test]
fn only_notes_without_a_file_have_versions() {
    let former = version(("new", &["1"], &[], &["old"]));
    let is_file =
        DocumentRecord { path: Some("/a".into()), paths: vec![stamp("/a")], ..former.clone() };
    let metadata = r#"{"format":"markdown"}"#.into();
    let is_markdown = DocumentRecord { doc_type: DocType::Markdown, metadata, ..former };
    for record in [is_file, is_markdown, note("title", "unrelated")] {
        let mut db = machine(&[note("title", "old")]);
        let before = records(&db);
        let bare = without_vectors(&record);
        assert_eq!(db.store.import(&bare).unwrap(), ImportOutcome::NeedsVectors);
        assert_eq!(records(&db), before);
        assert_eq!(db.store.import(&record).unwrap(), ImportOutcome::Added(DocumentId(2)));
        assert_eq!(records(&db)[..1], before);
    }
    let added = TestDb::new().store.import(&note("title", "old")).unwrap();
    assert_eq!(added, ImportOutcome::Added(DocumentId(1)));
}

#[test]
fn a_file_with_other_content_stays_and_is_reported() {
    let file = |title: &str, text: &str, edits: &[&str]| DocumentRecord {
        path: Some("/a.md".into()),
        paths: vec![stamp("/a.md")],
        doc_type: DocType::Markdown,
        metadata: r#"{"format":"markdown"}"#.into(),
        edits: Edits { title: times(edits), ..Edits::default() },
        is_title_given: true,
        ..note(title, text)
    };
    let here = file("a", "here", &["1"]);
    let import = with_tags(&["new"], file("b", "import", &["2"]));
    let (db, merged) = merge(&here, &import, false);
    assert_eq!(records(&db), [with_tags(&["new"], here)]);
    assert!(merged.is_changed, "it has a new tag");
    check_conflict(&merged, Expected::HereIsNewer, EditableField::File, (Some("a"), Some("b")));
    assert_eq!(merged.conflicts[0].copy_id, None);
}

#[test]
fn one_missing_vector_is_missed() {
    let record = note("title", "text");
    assert!(!record.lacks_vectors());
    let mut two = record.clone();
    two.chunks.push(without_vectors(&record).chunks.remove(0));
    assert!(two.lacks_vectors());
    assert!(!DocumentRecord { chunks: Vec::new(), ..record }.lacks_vectors());
}
