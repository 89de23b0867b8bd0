//! Tests the ledger of files: which are listed as ignored, failed or waived, when a failed file is
//! read again, and what a dry run reports.

use std::collections::BTreeMap;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;
use serde_json::Value;
use serde_json::json;

use crate::contract::{Files, Plan, Report, Update, read};
use crate::env::TestEnv;
#[cfg(unix)]
use crate::terminal;

/// Bytes that are not text.
fn binary() -> Vec<u8> {
    [0_u8, 1, 2, 3].repeat(64)
}

/// Returns a home with a folder of files of all outcomes, not added yet.
fn mixed() -> TestEnv {
    let env = TestEnv::new();
    env.write("docs/good.md", "# Good\n\nalpha\n");
    env.write("docs/bad.md", binary());
    env.write("docs/empty.md", "");
    env.write("docs/blank.md", " \n\n");
    env.write("docs/table.dat", "a,b\n");
    env.write("docs/more/data.ini", "{}");
    env.write("docs/more/Mystery", "all:\n");
    env.write("docs/app.min.js", "x");
    env.write("docs/.hidden/secret.md", "# Secret\n");
    env.write("docs/.gitignore", "node_modules/\n*.log\n");
    env.write("docs/.kbignore", "draft.md\n");
    env.write("docs/node_modules/a/b.md", "# Module\n");
    env.write("docs/run.log", "one\n");
    env.write("docs/draft.md", "# Draft\n");
    #[cfg(unix)]
    symlink("good.md", env.path("docs/link.md")).unwrap();
    // Not everyone may make a link on Windows; this file is ignored for another reason.
    #[cfg(not(unix))]
    env.write("docs/link.md", "");
    env
}

fn files(env: &TestEnv, args: &[&str]) -> Files {
    read(&env.ok(&[&["files", "--format", "json"], args].concat()))
}

/// Returns each file below `docs` with its outcome and reason.
fn ledger(env: &TestEnv, args: &[&str]) -> BTreeMap<String, String> {
    let docs = env.path("docs").display().to_string();
    let name = |path: &str| path.strip_prefix(&docs).unwrap_or(path).trim_start_matches('/').into();
    files(env, args)
        .files
        .into_iter()
        .map(|file| {
            let reason = file.reason.map(|reason| format!(" {reason}")).unwrap_or_default();
            (name(&file.path), file.outcome + &reason)
        })
        .collect()
}

fn add(env: &TestEnv, args: &[&str]) -> Report {
    read(&env.kb(&[&["add", "--format", "json"], args].concat()).expect(0))
}

fn update(env: &TestEnv) -> Update {
    read(&env.ok(&["update", "--format", "json"]))
}

fn num_logged(env: &TestEnv) -> usize {
    fs::read_to_string(env.path(".kb/ingest-errors.log")).map_or(0, |log| log.lines().count())
}

#[test]
fn every_file_below_an_added_folder_has_an_outcome_and_a_reason() {
    let env = mixed();
    let report = add(&env, &["docs"]);
    // Links are not counted.
    let num_ignored = if cfg!(unix) { 6 } else { 7 };
    assert_eq!((report.added, report.failed, report.ignored), (1, 1, num_ignored));
    let expected = [
        (".gitignore", "ignored hidden"),
        (".hidden", "ignored hidden"),
        (".kbignore", "ignored hidden"),
        ("app.min.js", "ignored generated"),
        ("bad.md", "failed not_text"),
        ("blank.md", "ignored empty"),
        ("draft.md", "ignored kbignore"),
        ("empty.md", "ignored empty"),
        ("good.md", "indexed"),
        ("link.md", if cfg!(unix) { "ignored link" } else { "ignored empty" }),
        ("more/Mystery", "ignored type"),
        ("more/data.ini", "ignored type"),
        ("node_modules", "ignored gitignore"),
        ("run.log", "ignored gitignore"),
        ("table.dat", "ignored type"),
    ];
    let expected: BTreeMap<String, String> =
        expected.iter().map(|(path, outcome)| ((*path).into(), (*outcome).into())).collect();
    assert_eq!(ledger(&env, &[]), expected);
    // Indexed files are not in the ledger.
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM ledger WHERE path LIKE '%good.md'"), 0);
    let all = files(&env, &[]);
    assert_eq!(
        (all.counts.indexed, all.counts.ignored, all.counts.failed, all.counts.waived),
        (1, 13, 1, 0)
    );
    let folder = all.files.iter().find(|file| file.path.ends_with("node_modules")).unwrap();
    assert_eq!(folder.size_bytes, None);
    let failed = files(&env, &["--failed"]).files.remove(0);
    assert_eq!(failed.error.as_deref(), Some("it is not text"));
    assert!(failed.reader.unwrap().starts_with("kb "));
    assert_eq!(failed.size_bytes, Some(256));
}

#[test]
fn a_list_of_files_is_narrowed_by_outcome_and_path() {
    let env = mixed();
    add(&env, &["docs"]);
    let paths = |args: &[&str]| -> Vec<String> { ledger(&env, args).into_keys().collect() };
    assert_eq!(paths(&["--indexed"]), ["good.md"]);
    assert_eq!(paths(&["--failed"]), ["bad.md"]);
    assert!(paths(&["--waived"]).is_empty());
    assert_eq!(paths(&["docs/more"]), ["more/Mystery", "more/data.ini"]);
    assert_eq!(paths(&["--ignored", "docs/run.log"]), ["run.log"]);
    assert!(paths(&["nowhere"]).is_empty());
    // The test's home has paths of different lengths on different machines.
    let shown =
        |args: &[&str]| env.ok(args).text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        shown(&["files", "docs/more"]),
        "OUTCOME BYTES SINCE FILE REASON \
         ignored 5 [--DATE--] [HOME]/docs/more/Mystery type \
         ignored 2 [--DATE--] [HOME]/docs/more/data.ini type"
    );
    assert_eq!(
        shown(&["files", "--failed"]),
        "OUTCOME BYTES SINCE FILE REASON \
         failed 256 [--DATE--] [HOME]/docs/bad.md it is not text"
    );
    assert_eq!(
        shown(&["files", "--waived", "docs"]),
        "No waived files at or below docs. `kb add` and `kb update` record the files they see."
    );
    env.kb(&["files", "--failed", "--ignored"]).expect(1);
}

#[test]
fn the_kinds_of_ignored_files_are_named() {
    let env = TestEnv::new();
    env.write("docs/good.md", "# Good\n\nalpha\n");
    for number in 0..12 {
        env.write(&format!("docs/{number}.dat"), "a");
    }
    for number in 0..9 {
        env.write(&format!("docs/{number}.ini"), "a");
        env.write(&format!("docs/{number}.x{number}"), "a");
    }
    let report = add(&env, &["docs"]);
    assert_eq!(report.ignored, 30);
    let kinds: Vec<(&str, u32)> =
        report.ignored_kinds.iter().map(|kind| (kind.kind.as_str(), kind.files)).take(2).collect();
    assert_eq!(kinds, [(".dat", 12), (".ini", 9)]);
    assert_eq!(
        env.ok(&["add", "docs"]).stderr,
        "Added 0 documents. 0 failed. 1 skipped (already indexed). \
         30 ignored: 12 .dat, 9 .ini, 9 others; `kb files --ignored` lists them.\n"
    );
}

#[test]
fn a_dry_run_counts_what_would_happen_and_creates_nothing() {
    let env = mixed();
    let plan: Plan = read(&env.ok(&["add", "--dry-run", "docs", "--format", "json"]));
    assert!(plan.dry_run && !env.path(".kb").exists());
    assert_eq!((plan.new, plan.changed, plan.unchanged), (2, 0, 0));
    // A file of blanks is only known to be empty once it is read.
    assert_eq!((plan.ignored, plan.failed, plan.waived), (12, 1, 0));
    assert!(plan.errors[0].path.ends_with("bad.md") && plan.errors[0].code == "not_text");
    #[cfg(unix)]
    assert_snapshot!(env.ok(&["add", "--dry-run", "docs"]).text(), @r"
    failed: [HOME]/docs/bad.md: it is not text
    Would be: 2 new, 0 changed, 0 unchanged, 12 ignored, 1 failed, 0 waived.
    OUTCOME  KIND          REASON     FILES
    new      .md                          2
    ignored  .dat          type           1
    ignored  .ini          type           1
    ignored  .log          gitignore      1
    ignored  .md           empty          1
    ignored  .md           kbignore       1
    ignored  .md           link           1
    ignored  .min.js       generated      1
    ignored  folder        gitignore      1
    ignored  folder        hidden         1
    ignored  no extension  hidden         2
    ignored  no extension  type           1
    failed   .md           not_text       1
    ");
    // Files that contradict it are compared with what is indexed.
    fs::remove_file(env.path("docs/blank.md")).unwrap();
    add(&env, &["docs"]);
    let before = fs::read(env.database()).unwrap();
    env.write("docs/good.md", "# Good\n\nbeta and more\n");
    env.write("docs/new.md", "# New\n");
    let plan: Plan = read(&env.ok(&["add", "--dry-run", "docs", "--format", "json"]));
    assert_eq!((plan.new, plan.changed, plan.unchanged, plan.failed), (1, 1, 0, 1));
    assert_eq!(fs::read(env.database()).unwrap(), before);
    let group = plan.groups.iter().find(|group| group.outcome == "changed").unwrap();
    assert_eq!((group.kind.as_str(), group.files), (".md", 1));
    let group = plan.groups.iter().find(|group| group.kind == "folder").unwrap();
    assert_eq!((group.reason.as_deref(), group.files), (Some("gitignore"), 1));
    // A folder that was only looked at is not remembered.
    env.write("other/a.md", "# A\n");
    env.ok(&["add", "--dry-run", "other"]);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM roots"), 1);
    env.kb(&["add", "--dry-run", "nowhere"]).expect(1);
    env.kb(&["add", "--dry-run", "-"]).expect(1);
}

#[test]
fn a_failed_file_is_reported_once_and_read_again_only_when_it_changed() {
    let env = mixed();
    assert_eq!(add(&env, &["docs"]).failed, 1);
    assert_eq!(num_logged(&env), 1);
    for _ in 0..2 {
        let report = add(&env, &["docs"]);
        assert_eq!((report.failed, report.known_failed), (0, 1));
        let report = update(&env);
        assert_eq!((report.failed.len(), report.known_failed), (0, 1));
    }
    assert_eq!(num_logged(&env), 1);
    let human = env.ok(&["update"]).text();
    assert!(
        human.contains("1 file failed in an earlier run; `kb files --failed` lists it."),
        "{human}"
    );
    assert!(!human.contains("bad.md"), "{human}");
    // Another size: it is tried, fails, and is reported.
    env.write("docs/bad.md", [binary(), binary()].concat());
    let report = update(&env);
    assert_eq!((report.failed.len(), report.known_failed), (1, 0));
    assert_eq!(num_logged(&env), 2);
    // The file is text now: it is indexed, and its row is removed.
    env.write("docs/bad.md", "# Better\n\ngamma\n");
    assert_eq!(update(&env).added, 1);
    assert_eq!(ledger(&env, &["docs/bad.md"])["bad.md"], "indexed");
    assert_eq!(files(&env, &[]).counts.failed, 0);
}

#[test]
fn an_indexed_file_that_fails_later_is_known_to_fail_and_keeps_its_text() {
    let env = TestEnv::new();
    let file = env.write("docs/a.md", "# Good\n\nalpha\n");
    add(&env, &["docs"]);
    fs::write(&file, binary()).unwrap();
    assert_eq!(update(&env).failed.len(), 1);
    let report = update(&env);
    assert_eq!((report.failed.len(), report.known_failed, report.unchanged), (0, 1, 0));
    let dry: Update = read(&env.ok(&["update", "--dry-run", "--format", "json"]));
    assert_eq!((dry.updated, dry.known_failed, dry.unchanged), (0, 1, 0));
    let listed = files(&env, &[]).files.remove(0);
    assert_eq!((listed.outcome.as_str(), listed.document_id), ("failed", Some(1)));
    fs::write(&file, "# Good\n\nbeta\n").unwrap();
    assert_eq!(update(&env).updated, 1);
    assert_eq!(files(&env, &[]).files[0].outcome, "indexed");
}

#[test]
fn another_reader_or_the_users_own_words_read_a_failed_file_again() {
    let env = mixed();
    add(&env, &["docs"]);
    let named = env.kb(&["add", "docs/bad.md"]).expect(1);
    assert!(named.stderr.contains("it is not text"), "{}", named.text());
    // The row of another version, whose reader may have failed where this one does not.
    let db = rusqlite::Connection::open(env.database()).unwrap();
    db.execute("UPDATE ledger SET reader = 'kb 0.0.1' WHERE outcome = 'failed'", []).unwrap();
    drop(db);
    assert_eq!(update(&env).failed.len(), 1);
    assert_eq!(update(&env).known_failed, 1);
    // So do other limits.
    env.ok(&["config", "set", "ingestion.max_cpu_seconds", "1200"]);
    assert_eq!(update(&env).failed.len(), 1);
}

#[test]
fn a_raised_size_limit_is_noticed() {
    let env = TestEnv::new();
    env.write("docs/good.md", "# Good\n\nalpha\n");
    env.write("docs/long.md", format!("# Long\n\nbeta{}", "\n".repeat(1_200_000)));
    env.ok(&["config", "set", "ingestion.max_file_mb", "1"]);
    assert_eq!(add(&env, &["docs"]).failed, 1);
    assert_eq!(update(&env).known_failed, 1);
    env.ok(&["config", "set", "ingestion.max_file_mb", "2"]);
    assert_eq!(update(&env).added, 1);
    assert_eq!(files(&env, &[]).counts.failed, 0);
}

#[cfg(unix)]
#[test]
fn new_permissions_are_noticed_although_they_change_neither_size_nor_time() {
    let env = TestEnv::for_ordinary_user();
    env.write("docs/good.md", "# Good\n\nalpha\n");
    let locked = env.write("docs/locked.md", "# Locked\n\ngamma\n");
    env.give_to_ordinary_user();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let run = |args: &[&str]| env.ordinary_kb(args).expect(0).json();
    let added = run(&["add", "docs", "--format", "json"]);
    assert_eq!((&added["added"], &added["failed"]), (&json!(1), &json!(1)));
    assert_eq!(run(&["update", "--format", "json"])["known_failed"], 1);
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(run(&["update", "--format", "json"])["added"], 1);
}

#[test]
fn the_scan_reports_what_could_not_be_read() {
    let env = mixed();
    // Neither empty files nor blank ones are new for ever.
    for number in 0..6 {
        env.write(&format!("docs/broken-{number}.pdf"), "%PDF-1.4\nthis is no PDF");
    }
    fs::remove_file(env.path("docs/bad.md")).unwrap();
    add(&env, &["docs"]);
    let text = env.ok(&["status", "--scan"]).text();
    assert!(text.contains("All files are unchanged, 6 could not be read."), "{text}");
    env.write("docs/new.md", "# New\n");
    let text = env.ok(&["status", "--scan"]).text();
    assert!(text.contains("0 changed, 1 new, 0 missing, 6 could not be read."), "{text}");
    let scan = env.json(&["status", "--scan", "--format", "json"]);
    assert_eq!(scan["out_of_date"]["failed"], 6);
    assert_eq!(scan["out_of_date"]["new"], 1);
    let room: Vec<u64> =
        scan["room_bytes"].as_object().unwrap().values().flat_map(Value::as_u64).collect();
    assert_eq!(room.iter().sum::<u64>(), scan["db_size_bytes"].as_u64().unwrap(), "{scan}");
    assert_eq!(room.len(), 5);
    env.ok(&["files", "--waive", "docs"]);
    let scan = env.json(&["status", "--scan", "--format", "json"]);
    assert_eq!(scan["out_of_date"]["failed"], 0);
}

#[test]
fn a_waived_file_is_closed_until_it_is_named() {
    let env = mixed();
    add(&env, &["docs"]);
    let refused = env.kb(&["files", "--waive", "docs/good.md"]).expect(1);
    assert!(refused.stderr.contains("kb files --failed"), "{}", refused.text());
    assert_eq!(env.ok(&["files", "--waive", "docs/bad.md"]).stdout, "Waived 1 file.\n");
    assert_eq!(ledger(&env, &["--waived"])["bad.md"], "waived not_text");
    let again: Value = env.json(&["files", "--waive", "docs", "--format", "json"]);
    assert_eq!(again["waived"], serde_json::json!([]));
    let report = add(&env, &["docs"]);
    assert_eq!((report.failed, report.known_failed), (0, 0));
    // A waived failure remains waived, whatever happens to the file.
    env.write("docs/bad.md", [binary(), binary()].concat());
    let report = update(&env);
    assert_eq!((report.failed.len(), report.known_failed), (0, 0));
    assert_eq!(num_logged(&env), 1);
    assert_eq!(files(&env, &[]).counts.waived, 1);
    env.kb(&["add", "docs/bad.md"]).expect(1);
    assert_eq!(ledger(&env, &["docs/bad.md"])["bad.md"], "failed not_text");
    assert_eq!(update(&env).known_failed, 1);
}

#[test]
fn rows_vanish_with_their_file_and_with_their_folder() {
    let env = mixed();
    add(&env, &["docs"]);
    for name in ["table.dat", "bad.md", "run.log"] {
        fs::remove_file(env.path("docs").join(name)).unwrap();
    }
    fs::remove_dir_all(env.path("docs/node_modules")).unwrap();
    // A walk of a part says nothing about the rest.
    add(&env, &["docs/good.md"]);
    assert_eq!(files(&env, &[]).counts.ignored, 13);
    update(&env);
    let left = ledger(&env, &[]);
    for name in ["table.dat", "bad.md", "run.log", "node_modules"] {
        assert!(!left.contains_key(name), "{name}: {left:?}");
    }
    assert_eq!(left.len(), 11);
    env.ok(&["remove", "--yes", "docs"]);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM ledger"), 0);
}

#[test]
fn what_is_recorded_of_a_folder_that_is_away_stays() {
    let env = mixed();
    add(&env, &["docs"]);
    env.ok(&["files", "--waive", "docs/bad.md"]);
    fs::rename(env.path("docs"), env.path("elsewhere")).unwrap();
    update(&env);
    assert_eq!(files(&env, &[]).counts.waived, 1);
    fs::create_dir(env.path("docs")).unwrap();
    update(&env);
    env.kb(&["add", "docs"]);
    assert_eq!(files(&env, &[]).counts.waived, 1);
}

#[test]
fn a_named_file_that_failed_is_forgotten_once_it_is_gone() {
    let env = TestEnv::new();
    env.write("docs/good.md", "# Good\n");
    env.ok(&["add", "docs"]);
    let file = env.write("alone.md", binary());
    env.kb(&["add", "alone.md"]).expect(1);
    assert_eq!(files(&env, &["alone.md"]).counts.failed, 1);
    update(&env);
    assert_eq!(files(&env, &[]).counts.failed, 1);
    fs::remove_file(file).unwrap();
    update(&env);
    assert_eq!(files(&env, &[]).counts.failed, 0);
}

#[test]
fn unchanged_rows_are_not_written_again() {
    let env = mixed();
    add(&env, &["docs"]);
    let db = rusqlite::Connection::open(env.database()).unwrap();
    db.execute("UPDATE ledger SET seen_at = 1", []).unwrap();
    db.close().unwrap();
    add(&env, &["docs"]);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM ledger WHERE seen_at <> 1"), 0);
    // A changed row alone is new.
    env.write("docs/table.dat", "longer than before\n");
    add(&env, &["docs"]);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM ledger WHERE seen_at <> 1"), 1);
}

#[test]
fn an_indexed_file_that_a_new_rule_excludes_is_not_listed_twice() {
    let env = mixed();
    add(&env, &["docs"]);
    env.write("docs/.kbignore", "draft.md\ngood.md\n");
    update(&env);
    assert_eq!(ledger(&env, &[])["good.md"], "indexed");
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM ledger WHERE path LIKE '%good.md'"), 0);
}

#[test]
fn an_empty_folder_whose_first_add_failed_is_not_remembered() {
    let env = TestEnv::new();
    fs::create_dir(env.path("e")).unwrap();
    let output = env.kb(&["add", "e"]).expect(1);
    assert!(output.stderr.contains("there are no files in e"), "{}", output.text());
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM roots"), 0);
    assert_eq!(update(&env).away, [""; 0]);
    // A folder that was added before is still remembered.
    env.write("e/a.md", "# A\n");
    env.ok(&["add", "e"]);
    fs::remove_file(env.path("e/a.md")).unwrap();
    env.kb(&["add", "e"]).expect(1);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM roots"), 1);
    // A folder of ignored files is remembered: others may come.
    env.write("c/a.dat", "a");
    env.kb(&["add", "c"]).expect(1);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM roots"), 2);
}

#[cfg(unix)]
#[test]
fn a_table_of_files_fits_its_terminal() {
    let env = mixed();
    add(&env, &["docs"]);
    for columns in [60_u16, 80, 140] {
        let args = ["--no-pager", "--color", "never", "files"];
        let shown = terminal::run_at(&env, &args, "", true, columns).stderr.replace('\r', "");
        for line in shown.lines() {
            assert!(line.chars().count() <= columns.into(), "{columns}: {line}");
        }
        assert!(shown.contains("node_modules/"), "{shown}");
    }
}
