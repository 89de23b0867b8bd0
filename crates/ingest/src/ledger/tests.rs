//! Tests what a run knows from earlier ones, what it reports, and which rows it leaves.

use std::fs;
use std::time::Duration;

use super::*;
use crate::document::{DocType, Language};
use crate::extract::detect::TypeOverride;
use crate::extract::sandbox::{Ocr, Tesseract};
use crate::files::reach::Reach;
use crate::files::stamp::Stamp;
use crate::store::testing::TestDb;
use crate::tests::options;
use crate::walk::LeftOutReason;

const STAMP: Stamp = Stamp { size_bytes: 10, mtime_ns: 7 };

fn row(path: &str, outcome: FileOutcome, reason: &str) -> LedgerRow {
    LedgerRow {
        path: path.to_owned(),
        outcome,
        reason: reason.to_owned(),
        message: Some("it is not text".into()),
        reader: Some(reader(&options(), TypeOverride::default())),
        stamp: Some(STAMP),
        seen_at: String::new(),
    }
}

fn found(path: &str, stamp: Stamp) -> FoundFile {
    FoundFile {
        path: path.into(),
        stamp,
        is_named: false,
        is_included: false,
        reach: Reach::Anywhere,
        read_as: None,
    }
}

/// Returns what a run in the folder `/d` knows.
fn before(rows: &[LedgerRow]) -> LedgerBefore {
    LedgerBefore {
        rows: rows.iter().map(|row| (row.path.clone(), row.clone())).collect(),
        folders: vec!["/d".into()],
        files: HashSet::from(["/named".into()]),
        reader: reader(&options(), TypeOverride::default()),
        other_readers: Vec::new(),
        has_password: false,
    }
}

fn not_text(path: &str) -> LedgerFailure {
    let error = Error::Extract { failure: FailureKind::NotText, detail: "in UTF-9".into() };
    LedgerFailure { path: path.into(), error, stamp: Some(STAMP) }
}

/// The paths in the ledger, each with its outcome.
fn ledger(db: &TestDb) -> Vec<(String, FileOutcome)> {
    let rows = db.store.ledger_at("/").unwrap();
    rows.into_iter().map(|row| (row.path, row.outcome)).collect()
}

#[test]
fn a_file_that_would_only_fail_again_is_passed_over() {
    use FileOutcome::{Failed, Ignored, Waived};
    let other_reader = |row: LedgerRow| LedgerRow { reader: Some("kb 0.0.1".into()), ..row };
    let failed = row("/d/a", Failed, "not_text");
    for (row, expected) in [
        (failed.clone(), true),
        (other_reader(failed.clone()), false),
        (LedgerRow { reader: None, ..failed.clone() }, false),
        (LedgerRow { stamp: Some(Stamp { size_bytes: 11, ..STAMP }), ..failed.clone() }, false),
        (LedgerRow { stamp: Some(Stamp { mtime_ns: 8, ..STAMP }), ..failed.clone() }, false),
        (LedgerRow { stamp: None, ..failed.clone() }, false),
        (row("/d/b", Failed, "not_text"), false),
        (row("/d/a", Ignored, "type"), false),
        // Neither size nor time shows that these may succeed.
        (row("/d/a", Failed, "io"), false),
        (row("/d/a", Failed, "too_large"), false),
        (row("/d/a", Failed, FailureKind::PasswordNeeded.as_str()), true),
        // The user waived the failure, in every state of the file.
        (row("/d/a", Waived, "not_text"), true),
        (LedgerRow { stamp: None, ..other_reader(row("/d/a", Waived, "io")) }, true),
    ] {
        let before = before(std::slice::from_ref(&row));
        let passed_over = before.passed_over(&found("/d/a", STAMP));
        assert_eq!(passed_over, Some(&row).filter(|_| expected), "{row:?}");
        let named = FoundFile { is_named: true, ..found("/d/a", STAMP) };
        assert_eq!(before.passed_over(&named), None, "{row:?}");
    }
    let locked = row("/d/a", Failed, FailureKind::PasswordNeeded.as_str());
    let with_password = |row| LedgerBefore { has_password: true, ..before(&[row]) };
    assert_eq!(with_password(locked).passed_over(&found("/d/a", STAMP)), None);
    assert!(with_password(failed).passed_over(&found("/d/a", STAMP)).is_some());
}

#[test]
fn a_container_is_read_if_it_and_its_reader_are_unchanged() {
    let container = row("/d/a.zip", FileOutcome::Ignored, CONTAINER);
    let at = |path| found(path, STAMP);
    for (row, is_read, was_container) in [
        (container.clone(), true, true),
        (
            LedgerRow { stamp: Some(Stamp { mtime_ns: 8, ..STAMP }), ..container.clone() },
            false,
            true,
        ),
        (LedgerRow { reader: Some("kb 0.0.1".into()), ..container.clone() }, false, true),
        (row("/d/a.zip", FileOutcome::Ignored, "type"), false, false),
        (row("/d/b.zip", FileOutcome::Ignored, CONTAINER), false, false),
    ] {
        let before = before(std::slice::from_ref(&row));
        let expected = (is_read, was_container);
        let known = (before.is_read(&at("/d/a.zip")), before.was_container(&at("/d/a.zip")));
        assert_eq!(known, expected, "{row:?}");
    }
}

#[test]
fn a_reader_is_described_by_version_limits_and_wishes() {
    let version = env!("CARGO_PKG_VERSION");
    let mut options = options();
    options.max_cpu = Duration::from_secs(90);
    options.pdf.max_memory_bytes = 2_999_999;
    assert_eq!(reader(&options, options.wanted), format!("kb {version}, 90 s, 2 MB"));
    options.pdf.ocr = Ocr::Tesseract {
        tesseract: Tesseract::default(),
        languages: "eng".into(),
        is_forced: false,
    };
    options.wanted = TypeOverride { doc_type: Some(DocType::Code), language: Some(Language::Rust) };
    assert_eq!(
        reader(&options, options.wanted),
        format!("kb {version}, 90 s, 2 MB, OCR, as code, as rust")
    );
}

#[test]
fn what_is_at_and_below_the_starts_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("d")).unwrap();
    fs::write(path("file"), "words").unwrap();
    let mut db = TestDb::new();
    let rows = ["d/a", "file", "other"]
        .map(|name| row(&paths::path_text(&path(name)), FileOutcome::Failed, "not_text"));
    db.store.update_ledger(&rows, &[]).unwrap();
    let starts = ["d", "file"].map(|name| Start::named(&path(name)));
    let mut options = options();
    for password in [None, Some("secret".to_owned())] {
        options.pdf.password = password;
        let before = LedgerBefore::load(&db.store, &starts, &options).unwrap();
        let mut known: Vec<&str> = before.rows.keys().map(String::as_str).collect();
        known.sort_unstable();
        assert_eq!(known, [&rows[0].path, &rows[1].path]);
        assert_eq!((&before.folders, &before.files), (&vec![path("d")], &[path("file")].into()));
        assert_eq!(before.has_password, options.pdf.password.is_some());
        assert_eq!(before.reader, reader(&options, options.wanted));
    }
}

#[test]
fn a_failure_is_reported_once_and_after_each_change() {
    let mut db = TestDb::new();
    let unchanged = LedgerRow {
        message: Some(not_text("/d/a").error.to_string()),
        ..row("/d/a", FileOutcome::Failed, "not_text")
    };
    let named = LedgerRow { path: "/named".into(), ..unchanged.clone() };
    for (row, path, expected) in [
        (unchanged.clone(), "/d/a", FailureNews::No),
        (unchanged.clone(), "/d/b", FailureNews::Yes),
        (
            LedgerRow { outcome: FileOutcome::Ignored, ..unchanged.clone() },
            "/d/a",
            FailureNews::Yes,
        ),
        (LedgerRow { reason: "io".into(), ..unchanged.clone() }, "/d/a", FailureNews::Yes),
        (LedgerRow { message: None, ..unchanged.clone() }, "/d/a", FailureNews::Yes),
        (LedgerRow { reader: None, ..unchanged.clone() }, "/d/a", FailureNews::Yes),
        (LedgerRow { stamp: None, ..unchanged.clone() }, "/d/a", FailureNews::Yes),
        (
            LedgerRow { outcome: FileOutcome::Waived, ..unchanged.clone() },
            "/d/a",
            FailureNews::Waived,
        ),
        // The user asked for this file.
        (
            LedgerRow { message: Some(not_text("/named").error.to_string()), ..named.clone() },
            "/named",
            FailureNews::Yes,
        ),
        (LedgerRow { outcome: FileOutcome::Waived, ..named }, "/named", FailureNews::Yes),
    ] {
        let before = before(std::slice::from_ref(&row));
        let mut recorder = Recorder::new(&before);
        let news = recorder.failed(&not_text(path), &mut db.store).unwrap();
        assert_eq!(news, expected, "{row:?}");
        let is_written =
            news == FailureNews::Yes && !(path == "/named" && row.outcome == FileOutcome::Failed);
        assert_eq!(recorder.rows.len(), usize::from(is_written), "{row:?}");
        assert_eq!(recorder.seen.len(), usize::from(row.path == path), "{row:?}");
    }
}

#[test]
fn a_path_that_does_not_exist_is_reported_and_not_recorded() {
    let mut db = TestDb::new();
    let before = before(&[]);
    let mut recorder = Recorder::new(&before);
    let error = Error::PathNotFound { path: "/named".into() };
    let failed = LedgerFailure { path: "/named".into(), error, stamp: None };
    assert_eq!(recorder.failed(&failed, &mut db.store).unwrap(), FailureNews::Yes);
    recorder.finish(&mut db.store, true).unwrap();
    assert_eq!(ledger(&db), []);
}

#[test]
fn what_a_run_sees_is_recorded() {
    use FileOutcome::{Failed, Ignored};
    let mut db = TestDb::new();
    let before = before(&[]);
    let mut recorder = Recorder::new(&before);
    let left_out = LeftOut { path: "/d/x".into(), rule: LeftOutReason::Type, stamp: Some(STAMP) };
    recorder.left_out(&left_out, &mut db.store).unwrap();
    recorder.failed(&not_text("/d/a"), &mut db.store).unwrap();
    recorder.container(&found("/d/a.zip", STAMP), &mut db.store).unwrap();
    assert_eq!(ledger(&db), [], "rows are written in batches");
    recorder.finish(&mut db.store, false).unwrap();
    let reader = Some(reader(&options(), TypeOverride::default()));
    let message = Some(not_text("/d/a").error.to_string());
    let rows = db.store.ledger_at("/").unwrap();
    let found: Vec<_> = rows
        .into_iter()
        .map(|row| (row.path, row.outcome, row.reason, row.message, row.reader, row.stamp))
        .collect();
    let expected = [
        ("/d/a", Failed, "not_text", message, reader.clone()),
        ("/d/a.zip", Ignored, CONTAINER, None, reader),
        ("/d/x", Ignored, "type", None, None),
    ];
    let expected = expected.map(|(path, outcome, reason, message, reader)| {
        (path.to_owned(), outcome, reason.to_owned(), message, reader, Some(STAMP))
    });
    assert_eq!(found, expected);
}

#[test]
fn a_full_batch_is_written_at_once() {
    let mut db = TestDb::new();
    let before = before(&[]);
    let mut recorder = Recorder::new(&before);
    for number in 1..=BATCH {
        assert_eq!(recorder.rows.len(), number - 1);
        let path = format!("/d/{number}").into();
        recorder
            .left_out(&LeftOut { path, rule: LeftOutReason::Type, stamp: None }, &mut db.store)
            .unwrap();
    }
    assert_eq!((recorder.rows.len(), ledger(&db).len()), (0, BATCH));
}

/// Runs in a folder with one file; returns which of these paths are in the ledger afterwards.
fn after(
    known: &[&str],
    is_complete: bool,
    record: impl Fn(&mut Recorder<'_>, &mut Store, &Path),
) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path();
    for name in ["d", "empty"] {
        fs::create_dir(base.join(name)).unwrap();
    }
    fs::write(base.join("d/there"), "words").unwrap();
    let text = |name: &str| paths::path_text(&base.join(name));
    let rows: Vec<LedgerRow> =
        known.iter().map(|name| row(&text(name), FileOutcome::Failed, "not_text")).collect();
    let mut db = TestDb::new();
    db.store.update_ledger(&rows, &[]).unwrap();
    let before = LedgerBefore {
        folders: vec![base.join("d"), base.join("empty")],
        files: ["gone", "kept"].map(|name| base.join(name)).into(),
        ..before(&rows)
    };
    fs::write(base.join("kept"), "words").unwrap();
    let mut recorder = Recorder::new(&before);
    record(&mut recorder, &mut db.store, base);
    recorder.finish(&mut db.store, is_complete).unwrap();
    let prefix = text("");
    let rows = db.store.ledger_at("/").unwrap();
    rows.into_iter().map(|row| row.path[prefix.len()..].to_owned()).collect()
}

#[test]
fn a_complete_run_forgets_what_it_did_not_see() {
    let nothing = |_: &mut Recorder<'_>, _: &mut Store, _: &Path| {};
    let known = ["d", "d/a", "d/s/b", "empty/c", "gone", "kept", "other"];
    // A folder may be unmounted, a named file may be unread, and other places were not looked at.
    assert_eq!(after(&known, true, nothing), ["d", "empty/c", "kept", "other"]);
    assert_eq!(after(&known, false, nothing), known);
}

#[test]
fn what_was_seen_or_could_not_be_entered_stays() {
    let known = ["d/a", "d/b", "d/s", "d/s/x", "d/zip", "d/zip//m", "d/zip2//m"];
    let kept = after(&known, true, |recorder, store, base| {
        recorder.passed_over(&base.join("d/b"));
        recorder.members_passed_over(&base.join("d/zip"));
        let (path, error) = (base.join("d/s"), not_text("s").error);
        recorder.failed(&LedgerFailure { path, error, stamp: None }, store).unwrap();
    });
    assert_eq!(kept, ["d/b", "d/s", "d/s/x", "d/zip//m"]);
    let kept = after(&known, false, |recorder, _, base| {
        // Twice, as for two files of one container.
        recorder.indexed(&paths::path_text(&base.join("d/a")));
        recorder.indexed(&paths::path_text(&base.join("d/a")));
        recorder.indexed(&paths::path_text(&base.join("d/unknown")));
        assert_eq!(recorder.gone.len(), 1);
    });
    assert_eq!(kept, known[1..]);
}

#[test]
fn a_file_that_cannot_be_looked_at_has_the_stamp_of_its_entry() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a");
    fs::write(&file, "words").unwrap();
    let before = before(&[]);
    let mut recorder = Recorder::new(&before);
    let mut db = TestDb::new();
    for path in [file.clone(), folder.path().to_owned(), folder.path().join("none")] {
        let failed = LedgerFailure { error: not_text("a").error, path, stamp: None };
        recorder.failed(&failed, &mut db.store).unwrap();
    }
    let stamp = Stamp::of(&file.metadata().unwrap());
    let stamps: Vec<_> = recorder.rows.iter().map(|row| row.stamp).collect();
    assert_eq!(stamps, [Some(stamp), None, None]);
    assert_eq!(recorder.unread.len(), 3);
}
