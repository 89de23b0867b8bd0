//! Tests how notes that are given as text are ingested.

use super::*;

/// Ingests notes, each with the options it gets and the id of the note that it replaces; returns the report.
fn run(
    store: &mut Store,
    notes: &[(&str, IngestOptions, Option<crate::store::DocumentId>)],
) -> IngestReport {
    let embedder = letters();
    store.bind(embedder.binding()).unwrap();
    let mut report = IngestReport::default();
    for (text, options, replaced) in notes {
        let on_event = &mut |_: IngestEvent<'_>| {};
        let mut run = IngestRun { store, embedder: Some(&embedder), options, on_event, report };
        run.ingest_note(text, *replaced).unwrap();
        report = run.report;
    }
    report
}

fn titled(title: &str) -> IngestOptions {
    IngestOptions { title: Some(title.to_owned()), ..options() }
}

fn tagged(tags: &[&str]) -> IngestOptions {
    IngestOptions { tags: tags.iter().map(|&tag| tag.to_owned()).collect(), ..options() }
}

#[test]
fn a_note_that_is_there_gets_the_title_and_the_tags() {
    let (_folder, mut store) = folder_of(0);
    let mut check = |options: IngestOptions, expected: [usize; 5]| {
        let report = run(&mut store, &[("High at noon.", options, None)]);
        let IngestReport { added, updated, skipped, retitled, tagged, .. } = report;
        assert_eq!([added, updated, skipped, retitled, tagged], expected);
    };
    check(options(), [1, 0, 0, 0, 0]);
    check(options(), [0, 0, 1, 0, 0]);
    check(titled("Tides"), [0, 1, 0, 1, 0]);
    check(titled("Tides"), [0, 0, 1, 0, 0]);
    check(tagged(&["a"]), [0, 0, 1, 0, 1]);
    check(tagged(&["a"]), [0, 0, 1, 0, 0]);
    check(tagged(&["a", "b"]), [0, 0, 1, 0, 1]);
    let note = &store.documents(&Filter::default()).unwrap()[0];
    assert_eq!((note.title.as_str(), note.tags.join(" ")), ("Tides", "a b".into()));
}

#[test]
fn a_note_that_is_replaced_keeps_the_title_that_the_user_gave() {
    let (_folder, mut store) = folder_of(0);
    let report = run(&mut store, &[("High at noon.", titled("Tides"), None)]);
    let id = Some(report.document_ids[0]);
    let report = run(&mut store, &[("High at one.", options(), id)]);
    assert_eq!((report.updated, report.retitled, report.tagged), (1, 0, 0));
    let title = |store: &Store| store.documents(&Filter::default()).unwrap()[0].title.clone();
    assert_eq!(title(&store), "Tides");
    run(&mut store, &[("High at two.", titled("Ebb"), id)]);
    assert_eq!(title(&store), "Ebb");
    let embedder = letters();
    let (report, on_event) = (IngestReport::default(), &mut |_: IngestEvent<'_>| {});
    let options = options();
    let mut run = IngestRun {
        store: &mut store,
        embedder: Some(&embedder),
        options: &options,
        on_event,
        report,
    };
    assert!(run.ingest_note("x", Some(crate::store::DocumentId(99))).is_err());
    assert!(matches!(run.ingest_note(" \n", None), Err(Error::Usage { .. })));
}

#[test]
fn stored_notes_are_cut_again_and_missing_ones_are_passed_over() {
    let (_folder, mut store) = folder_of(0);
    let report = run(&mut store, &[("High at noon. Low at six.", titled("Tides"), None)]);
    let id = report.document_ids[0];
    let embedder = letters();
    let (report, on_event) = (IngestReport::default(), &mut |_: IngestEvent<'_>| {});
    let mut options = options();
    options.chunking.note.max_tokens = 4;
    let mut run = IngestRun {
        store: &mut store,
        embedder: Some(&embedder),
        options: &options,
        on_event,
        report,
    };
    run.reread_notes(&[crate::store::DocumentId(99), id]).unwrap();
    assert_eq!(run.report.added, 0);
    options.is_cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
    let (report, on_event) = (IngestReport::default(), &mut |_: IngestEvent<'_>| {});
    let mut run = IngestRun {
        store: &mut store,
        embedder: Some(&embedder),
        options: &options,
        on_event,
        report,
    };
    assert!(matches!(run.reread_notes(&[id]), Err(Error::Cancelled)));
    let note = store.document(id).unwrap().unwrap();
    assert_eq!((note.title.as_str(), note.is_title_given), ("Tides", true));
}
