//! Tests what a second run does about files and their documents.

use super::*;
use crate::foresee::{DryRunOutcome, foresee};
use crate::walk::LeftOutReason;

/// A folder, and a database.
struct World {
    folder: tempfile::TempDir,
    store: Store,
}

/// The counts of a run: added, updated, skipped, copies, retitled, tagged, ignored, known to fail, failed.
type Numbers = [usize; 9];

impl World {
    fn new() -> Self {
        let (folder, store) = folder_of(0);
        fs::create_dir(folder.path().join("docs")).unwrap();
        Self { folder, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("docs").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Returns files or, without a name, the folder.
    fn starts(&self, named: &[&str]) -> Vec<Start> {
        match named {
            [] => vec![Start::named(&self.path(""))],
            named => named.iter().map(|name| Start::named(&self.path(name))).collect(),
        }
    }

    /// Ingests files or, without a name, the folder.
    fn run(&mut self, named: &[&str], options: &IngestOptions) -> IngestReport {
        let starts = self.starts(named);
        let embedder = letters();
        self.store.bind(embedder.binding()).unwrap();
        let (report, on_event) = (IngestReport::default(), &mut |_: IngestEvent<'_>| {});
        let mut run = IngestRun {
            store: &mut self.store,
            embedder: Some(&embedder),
            options,
            on_event,
            report,
        };
        run.ingest(&starts).unwrap();
        run.report
    }

    #[track_caller]
    fn check(&mut self, named: &[&str], options: &IngestOptions, expected: Numbers) {
        let report = self.run(named, options);
        let IngestReport { added, updated, skipped, copies, retitled, tagged, .. } = report;
        let IngestReport { ignored, known_failed, failed, .. } = report;
        let found = [
            added,
            updated,
            skipped,
            copies,
            retitled,
            tagged,
            ignored,
            known_failed,
            failed.len(),
        ];
        assert_eq!(found, expected, "{failed:?}");
        assert!(self.store.check().unwrap().is_empty());
    }

    /// Returns what a run would do with each file, by its name.
    fn foreseen(&self) -> String {
        self.foreseen_with(&options())
    }

    /// Returns how many files are foreseen as new, changed, unchanged, ignored and failing.
    fn count_foreseen(&self, named: &[&str], options: &IngestOptions) -> [usize; 5] {
        let mut counts = [0; 5];
        for foreseen in foresee(&self.starts(named), options, Some(&self.store)).unwrap() {
            let place = match foreseen.outcome {
                DryRunOutcome::New => 0,
                DryRunOutcome::Changed => 1,
                DryRunOutcome::Unchanged => 2,
                DryRunOutcome::Ignored(
                    LeftOutReason::Type | LeftOutReason::Empty | LeftOutReason::Generated,
                ) => 3,
                // A run does not count what the user's rules leave out.
                DryRunOutcome::Ignored(_) => continue,
                DryRunOutcome::Fails(_)
                | DryRunOutcome::HasFailed(..)
                | DryRunOutcome::Waived(_) => 4,
            };
            counts[place] += 1;
        }
        counts
    }

    fn foreseen_with(&self, options: &IngestOptions) -> String {
        let starts = self.starts(&[]);
        let mut all = foresee(&starts, options, Some(&self.store)).unwrap();
        all.sort_by(|one, other| one.path.cmp(&other.path));
        let shown = all.iter().map(|foreseen| {
            let name = foreseen.path.file_name().unwrap().to_str().unwrap();
            let outcome = match &foreseen.outcome {
                DryRunOutcome::New => "new",
                DryRunOutcome::Changed => "changed",
                DryRunOutcome::Unchanged => "unchanged",
                DryRunOutcome::Ignored(rule) => rule.as_str(),
                DryRunOutcome::Fails(_) => "fails",
                DryRunOutcome::HasFailed(..) => "has failed",
                DryRunOutcome::Waived(_) => "waived",
            };
            format!("{name} {outcome}")
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    fn title(&self, name: &str) -> String {
        let path = self.path(name);
        let known = self.store.known_path(path.to_str().unwrap()).unwrap().unwrap();
        self.store.document(known.document_id).unwrap().unwrap().title
    }

    fn tags(&self, name: &str) -> String {
        let path = self.path(name);
        let known = self.store.known_path(path.to_str().unwrap()).unwrap().unwrap();
        self.store.document(known.document_id).unwrap().unwrap().tags.join(" ")
    }
}

#[test]
fn files_are_new_then_unchanged_then_changed() {
    let mut world = World::new();
    world.write("a.md", "ebb");
    world.write("b.md", "flood");
    assert_eq!(world.foreseen(), "a.md new, b.md new");
    world.check(&[], &options(), [2, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(world.foreseen(), "a.md unchanged, b.md unchanged");
    world.check(&[], &options(), [0, 0, 2, 0, 0, 0, 0, 0, 0]);
    world.write("b.md", "the flood");
    assert_eq!(world.foreseen(), "a.md unchanged, b.md changed");
    world.check(&[], &options(), [0, 1, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(text(&world.store, &world.path("b.md")), "the flood");
}

/// Returns the counts of a run, as a preview has them: new, changed, unchanged, ignored, failed.
fn done(report: &IngestReport) -> [usize; 5] {
    let failed = report.failed.len() + report.known_failed;
    [report.added, report.updated, report.skipped, report.ignored, failed]
}

/// A change of a folder, and what a run then does.
type Case = (&'static str, fn(&World), [usize; 5]);

#[test]
fn a_preview_says_what_is_then_done() {
    let changes: [Case; 12] = [
        ("new", |world| world.write("d.md", "slack"), [1, 0, 3, 0, 0]),
        ("same", |_| {}, [0, 0, 3, 0, 0]),
        ("changed", |world| world.write("a.md", "low ebb"), [0, 1, 2, 0, 0]),
        ("touched", |world| world.write("a.md", "ebb"), [0, 0, 3, 0, 0]),
        ("moved", |world| world.rename("a.md", "d.md"), [0, 0, 3, 0, 0]),
        ("moved, and titled by its name", |world| world.rename("c.txt", "d.txt"), [0, 0, 3, 0, 0]),
        ("copied", |world| world.write("d.md", "ebb"), [0, 0, 4, 0, 0]),
        ("another's content", |world| world.write("a.md", "flood"), [0, 1, 2, 0, 0]),
        ("missing", |world| fs::remove_file(world.path("a.md")).unwrap(), [0, 0, 2, 0, 0]),
        ("left out by a rule", |world| world.write(".kbignore", "a.md\n"), [0, 0, 2, 0, 0]),
        ("left out by its type", |world| world.write("film.mp4", "x"), [0, 0, 3, 1, 0]),
        ("empty", |world| world.write("d.md", ""), [0, 0, 3, 1, 0]),
    ];
    for (name, change, expected) in changes {
        let mut world = World::new();
        world.write("a.md", "ebb");
        world.write("b.md", "flood");
        world.write("c.txt", "slack water lasts for half an hour at most, and less at springs");
        world.run(&[], &options());
        change(&world);
        check_preview(name, &mut world, &[], &options(), expected);
    }
}

#[track_caller]
fn check_preview(
    name: &str,
    world: &mut World,
    named: &[&str],
    options: &IngestOptions,
    expected: [usize; 5],
) {
    let foreseen = world.count_foreseen(named, options);
    let report = world.run(named, options);
    assert_eq!(done(&report), expected, "{name}: what is done: {:?}", report.failed);
    assert_eq!(foreseen, expected, "{name}: what is foreseen");
    // Then everything is as a run would make it.
    let done_again = world.count_foreseen(named, options);
    assert_eq!((done_again[0], done_again[1]), (0, 0), "{name}: {done_again:?}");
}

#[test]
fn a_preview_knows_titles_and_failures() {
    let mut world = World::new();
    world.write("a.md", "ebb");
    world.run(&[], &options());
    let titled = IngestOptions { title: Some("Tides".into()), ..options() };
    check_preview("retitled", &mut world, &["a.md"], &titled, [0, 1, 0, 0, 0]);
    check_preview("has the title", &mut world, &["a.md"], &titled, [0, 0, 1, 0, 0]);
    world.write("b.md", "flood");
    let spent = IngestOptions { max_cpu: Duration::ZERO, ..options() };
    world.run(&["b.md"], &spent);
    check_preview("failed", &mut world, &[], &spent, [0, 0, 1, 0, 1]);
}

#[test]
fn empty_files_and_other_types_are_ignored_unless_they_are_named() {
    let mut world = World::new();
    world.write("a.md", "ebb");
    world.write("empty.md", "");
    world.write("film.mp4", "x");
    world.write("none", "\0\u{1}");
    assert_eq!(world.foreseen(), "a.md new, empty.md empty, film.mp4 type, none type");
    let report = world.run(&[], &options());
    assert_eq!((report.added, report.ignored), (1, 3));
    let kinds: Vec<String> =
        report.ignored_kinds.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    assert_eq!(kinds, [".mp4 1", "empty 1", "no extension 1"]);
    assert!(report.is_success() && !report.found_nothing());
    world.check(&["empty.md"], &options(), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn a_file_that_failed_is_not_tried_again_until_it_changes_or_is_named() {
    let mut world = World::new();
    let spent = IngestOptions { max_cpu: Duration::ZERO, ..options() };
    world.write("a.md", "ebb");
    world.check(&[], &spent, [0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(world.foreseen_with(&spent), "a.md has failed");
    assert_eq!(world.foreseen(), "a.md new", "with other settings it may not fail");
    world.check(&[], &spent, [0, 0, 0, 0, 0, 0, 0, 1, 0]);
    world.write("a.md", "an ebb");
    world.check(&[], &spent, [0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let path = world.path("a.md").to_str().unwrap().to_owned();
    assert_eq!(world.store.waive(&path).unwrap(), [path]);
    assert_eq!(world.foreseen_with(&spent), "a.md waived");
    world.check(&[], &spent, [0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // Not even if it changes.
    world.write("a.md", "the ebb");
    world.check(&[], &spent, [0, 0, 0, 0, 0, 0, 0, 0, 0]);
    world.check(&["a.md"], &options(), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(world.foreseen(), "a.md unchanged");
}

#[test]
fn a_title_is_given_to_a_document_and_its_copies() {
    let mut world = World::new();
    world.write("a.md", "ebb");
    world.check(&[], &options(), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    let titled = IngestOptions { title: Some("Tides".into()), ..options() };
    world.check(&["a.md"], &titled, [0, 1, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(world.title("a.md"), "Tides");
    world.check(&["a.md"], &titled, [0, 0, 1, 0, 0, 0, 0, 0, 0]);
    // A title that the user gave stays when the content changes.
    world.write("a.md", "the ebb");
    world.check(&["a.md"], &options(), [0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(world.title("a.md"), "Tides");
    world.write("b.md", "the ebb");
    let other = IngestOptions { title: Some("Ebb".into()), ..options() };
    world.check(&["b.md"], &other, [0, 1, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!((world.title("a.md"), world.title("b.md")), ("Ebb".into(), "Ebb".into()));
}

#[test]
fn tags_are_added_to_known_documents_unless_those_keep_theirs() {
    let mut world = World::new();
    world.write("a.md", "ebb");
    world.check(&[], &options(), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    let tagged = |tag: &str, keeps_tags| IngestOptions {
        tags: vec![tag.to_owned()],
        keeps_tags,
        ..options()
    };
    world.check(&[], &tagged("x", true), [0, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(world.tags("a.md"), "");
    world.check(&[], &tagged("x", false), [0, 0, 1, 0, 0, 1, 0, 0, 0]);
    world.check(&[], &tagged("x", false), [0, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(world.tags("a.md"), "x");
    world.write("a.md", "the ebb");
    world.check(&[], &tagged("y", true), [0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(world.tags("a.md"), "x");
    world.write("a.md", "the low ebb");
    world.check(&[], &tagged("y", false), [0, 1, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(world.tags("a.md"), "x y");
    // A new file gets them all.
    world.write("b.md", "flood");
    world.check(&[], &tagged("z", true), [1, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(world.tags("b.md"), "z");
}

#[test]
fn a_copy_is_counted_once_and_takes_over_when_the_first_file_is_gone() {
    let mut world = World::new();
    world.write("a.md", "ebb");
    world.check(&[], &options(), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    world.write("b.md", "ebb");
    world.check(&[], &options(), [0, 0, 2, 1, 0, 0, 0, 0, 0]);
    world.check(&[], &options(), [0, 0, 2, 0, 0, 0, 0, 0, 0]);
    fs::remove_file(world.path("a.md")).unwrap();
    world.check(&[], &options(), [0, 0, 1, 0, 0, 0, 0, 0, 0]);
    let documents = world.store.documents(&Filter::default()).unwrap();
    assert_eq!(documents[0].path.as_deref(), world.path("b.md").to_str());
    // A file that takes the content of another one is updated.
    world.write("c.md", "flood");
    world.check(&[], &options(), [1, 0, 1, 0, 0, 0, 0, 0, 0]);
    world.write("c.md", "ebb");
    world.check(&[], &options(), [0, 1, 1, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn two_copies_in_one_run_are_one_document() {
    let mut world = World::new();
    world.write("a.md", "ebb");
    world.write("b.md", "ebb");
    world.check(&[], &options(), [1, 0, 1, 1, 0, 0, 0, 0, 0]);
    assert_eq!(world.store.num_documents().unwrap(), 1);
}

#[test]
fn documents_are_read_again_on_request() {
    let mut world = World::new();
    world.write("a.md", "ebb");
    world.write("b.md", "flood");
    world.check(&[], &options(), [2, 0, 0, 0, 0, 0, 0, 0, 0]);
    let documents = world.store.documents(&Filter::default()).unwrap();
    let rereads = std::sync::Arc::new([documents[0].id].into());
    let report = world.run(&[], &IngestOptions { rereads, ..options() });
    assert_eq!((report.skipped + report.updated, report.document_ids.len() <= 1), (2, true));
    assert_eq!(report.updated, report.document_ids.len());
}

#[test]
fn a_cancelled_run_keeps_what_it_has_stored() {
    let mut world = World::new();
    for number in 0..5 {
        world.write(&format!("{number}.md"), &format!("file {number}"));
    }
    let options = IngestOptions { num_workers: 1, batch_size: 1, ..options() };
    let embedder = letters();
    world.store.bind(embedder.binding()).unwrap();
    let is_cancelled = std::sync::Arc::clone(&options.is_cancelled);
    let mut num_stored = 0;
    let on_event = &mut |event: IngestEvent<'_>| {
        if let IngestEvent::Stored { path: Some(_), num_chunks: 1, warnings: [] } = event {
            num_stored += 1;
            is_cancelled.store(num_stored == 2, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let starts = [Start::named(&world.folder.path().join("docs"))];
    let report = IngestReport::default();
    let mut run = IngestRun {
        store: &mut world.store,
        embedder: Some(&embedder),
        options: &options,
        on_event,
        report,
    };
    assert!(matches!(run.ingest(&starts), Err(Error::Cancelled)));
    assert_eq!((run.report.added, run.report.num_chunks, run.report.document_ids.len()), (2, 2, 2));
    assert_eq!(world.store.num_documents().unwrap(), 2);
}

#[test]
fn a_stream_is_read_as_what_it_is() {
    let mut world = World::new();
    let embedder = letters();
    world.store.bind(embedder.binding()).unwrap();
    let (report, on_event) = (IngestReport::default(), &mut |_: IngestEvent<'_>| {});
    let options = options();
    let mut run = IngestRun {
        store: &mut world.store,
        embedder: Some(&embedder),
        options: &options,
        on_event,
        report,
    };
    run.ingest_bytes(b"# Tides\n\nebb").unwrap();
    run.ingest_bytes(b"# Tides\n\nebb").unwrap();
    assert_eq!((run.report.added, run.report.skipped), (1, 1));
    assert!(run.ingest_bytes(b"\0\x01\x02").is_err());
    let documents = world.store.documents(&Filter::default()).unwrap();
    assert_eq!((documents[0].title.as_str(), &documents[0].path), ("Tides", &None));
}
