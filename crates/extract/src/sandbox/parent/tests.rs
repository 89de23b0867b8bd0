//! Answers of children that are written as scripts: complete, cut off, endless, invalid.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use std::{fs, io};

use super::*;

const RUNS: &str = "a test can write a script";

/// Runs a child that answers every request with `script`.
#[track_caller]
fn answer_of(script: &str, change: impl FnOnce(&mut ReadOptions)) -> Result<ReadDocument> {
    let directory = tempfile::tempdir().expect(RUNS);
    let reader = directory.path().join("reader");
    fs::write(&reader, format!("#!/bin/sh\n{script}\n")).expect(RUNS);
    fs::set_permissions(&reader, fs::Permissions::from_mode(0o755)).expect(RUNS);
    let mut options = ReadOptions::new(reader);
    change(&mut options);
    loop {
        match read("any", &vec![b'x'; 1 << 20], &options) {
            // A concurrent test was starting its child while the script was written.
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::ExecutableFileBusy => {
            }
            outcome => return outcome,
        }
    }
}

#[track_caller]
fn check(script: &str, expected: FailureKind) {
    match answer_of(script, |options| options.wall = Duration::from_secs(1)) {
        Err(Error::Extract { failure, .. }) => assert_eq!(failure, expected, "{script}"),
        other => panic!("{script}: {other:?}"),
    }
}

#[test]
fn a_cancelled_run_ends_the_child_at_once() {
    let outcome = answer_of("exec sleep 60", |options| {
        options.is_cancelled = std::sync::Arc::new(true.into());
    });
    assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
}

#[test]
fn a_picture_is_recognised_only_for_pages_that_were_asked_for() {
    let picture =
        r#"{"picture":{"wanted":"words","width":1,"height":1,"dpi":null,"pixels":"AA=="}}"#;
    check(&format!("echo '{picture}'; exec sleep 60"), FailureKind::Crashed);
}

const HEAD: &str = r#"{"document":{"page_count":2,"outline":[]}}"#;
const PAGE: &str = r#"{"page":{"number":1,"blocks":[],"num_text_ops":1,"image_coverage":0}}"#;
const DONE: &str = r#"{"done":{"pages_lost":false,"rebuilt":false}}"#;

#[test]
fn a_complete_answer_is_a_reading() {
    let script = format!("echo '{HEAD}'; echo '{PAGE}'; echo '{DONE}'; exec cat >/dev/null");
    let reading = answer_of(&script, |_| {}).unwrap();
    assert_eq!((reading.head.page_count, reading.pages.len()), (2, 1));
}

#[test]
fn a_child_that_does_not_read_causes_no_deadlock() {
    let script = format!("echo '{HEAD}'; echo '{DONE}'; exec sleep 60");
    assert!(answer_of(&script, |_| {}).is_ok());
}

#[test]
fn an_answer_with_more_items_than_the_table_says_is_too_large() {
    let labels = r#"printf '{"document":{"page_count":1,"outline":[],"labels":[""'; yes ',""' | head -c 4000000 | tr -d '\n'; echo ']}}'"#;
    let outcome = answer_of(&format!("{labels}; exec sleep 60"), |_| {});
    let Err(Error::Extract { failure: FailureKind::TooLarge, detail }) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(detail, "more than 200,000 labels of pages");
}

#[test]
fn a_picture_that_is_none_and_a_file_that_leads_out_are_invalid() {
    let html =
        r#"{"drawn":{"width":4294967295,"height":0,"png":"PCFET0NUWVBFIGh0bWw+","num_marked":0}}"#;
    check(&format!("echo '{html}'; exec sleep 60"), FailureKind::Crashed);
    let member = r#"{"member":{"name":"/etc/y.md","bytes":"","failed":null}}"#;
    check(&format!("echo '{member}'; exec sleep 60"), FailureKind::Crashed);
}

#[test]
fn a_title_is_no_longer_than_a_line() {
    let title = "ä".repeat(limits::TITLE_CHARS + 1);
    let head = format!(r#"{{"document":{{"title":"{title}","page_count":0,"outline":[]}}}}"#);
    let reading = answer_of(&format!("echo '{head}'; echo '{DONE}'"), |_| {}).unwrap();
    assert_eq!(reading.head.title.unwrap().chars().count(), limits::TITLE_CHARS);
}

#[test]
fn half_an_answer_is_a_failure() {
    check(&format!("echo '{HEAD}'; echo '{PAGE}'"), FailureKind::Crashed);
    check(&format!("echo '{HEAD}'; printf '{{\"page\":'; kill -SEGV $$"), FailureKind::Crashed);
    check("exit 0", FailureKind::Crashed);
}

#[test]
fn an_invalid_answer_is_a_crash() {
    check("echo hello; exec sleep 60", FailureKind::Crashed);
}

#[test]
fn signals_have_a_class_of_failure() {
    check("kill -SEGV $$", FailureKind::Crashed);
    check("kill -ABRT $$", FailureKind::Crashed);
    check("kill -KILL $$", FailureKind::OutOfMemory);
    check("kill -XCPU $$", FailureKind::TimedOut);
    check(
        "echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$",
        FailureKind::OutOfMemory,
    );
}

#[test]
fn a_failure_reported_by_the_child_is_accepted() {
    let script = r#"echo '{"failed":{"code":"password_needed","detail":"x"}}'"#;
    check(script, FailureKind::PasswordNeeded);
}

#[test]
fn a_silent_child_times_out() {
    check("exec sleep 60", FailureKind::TimedOut);
    check("exec >&-; exec sleep 60", FailureKind::TimedOut);
}

#[test]
fn endless_output_is_cut_off() {
    let script = format!("yes '{PAGE}'");
    let outcome = answer_of(&script, |options| options.max_output_bytes = 1 << 20);
    assert!(
        matches!(outcome, Err(Error::Extract { failure: FailureKind::OutOfMemory, .. })),
        "{outcome:?}"
    );
}

#[test]
fn a_missing_reader_is_not_a_failure_of_the_file() {
    let outcome = read("any", b"", &ReadOptions::new("/nowhere/kb".into()));
    assert!(matches!(outcome, Err(Error::Io { .. })), "{outcome:?}");
}
