//! Tests bad input: each case ends with one clear line and the right status, and stored documents
//! stay.

use std::ffi::OsStr;
use std::fs;
#[cfg(unix)]
use std::os::unix::ffi::OsStrExt;
#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use kb_base::document::{DocumentKind, Language};
use rusqlite::Connection;
use serde_json::Value;

use crate::env::{CACHE, TestEnv};
use crate::left_out::left_out;
use crate::patience::comes_true;
use crate::word_model::{WordModel, check_database, find, word_env};

const BROKEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/broken");

/// Requires this status, nothing on stdout and this text on stderr. Then requires the same as JSON:
/// a single object with the same content.
#[track_caller]
fn check(env: &TestEnv, args: &[&str], status: i32, code: &str, message: &str) {
    let human = env.kb(&[args, &["--format=human"]].concat());
    assert_eq!(human.text(), format!("--- stderr\n{message}\n--- status {status}\n"), "{args:?}");
    let json = env.kb(&[args, &["--format=json"]].concat()).expect(status);
    assert_eq!(json.stdout, "", "{args:?}");
    let error = json.json_error();
    let keys: Vec<&String> = error.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["error", "code", "fix"]);
    assert_eq!(error["code"], code, "{args:?}");
    let text = |key: &str| error[key].as_str().map(str::to_owned);
    let fix = text("fix").map(|fix| format!("\nhint: {fix}")).unwrap_or_default();
    let same = human.stderr.lines().collect::<Vec<_>>().join("\n");
    assert_eq!(format!("error: {}{fix}", text("error").unwrap()), same, "{args:?}");
}

/// Requires that the documents of [`word_env`] are still found.
#[track_caller]
fn check_nothing_lost(env: &TestEnv) {
    assert_eq!(find(env, &["frozen tide gauge"])[0], "Tides");
    assert_eq!(find(env, &["apple pear oak"])[0], "Cider");
    assert_eq!(find(env, &["lamp keeper salt"])[0], "Lamp");
    check_database(env);
}

#[test]
fn a_file_that_cannot_be_ingested_is_one_line_that_names_it() {
    let env = word_env();
    env.write("empty.md", "");
    env.write("blank.md", " \n\n\t\n");
    env.write("empty.pdf", "");
    env.write("binary.md", [0_u8, 159, 146, 150, 0, 1].repeat(40));
    env.write("text.pdf", "hello");
    env.write("text.xyz", "hello");
    for name in ["html.pdf", "no-pages.pdf", "password.pdf", "truncated.pdf"] {
        env.write(name, fs::read(Path::new(BROKEN).join(name)).unwrap());
    }
    let type_hint = "hint: set the type of the file with `--type`";
    for (name, code, message) in [
        ("nowhere.md", "path_not_found", "error: no such file or directory: nowhere.md".into()),
        (
            "docs/tides.md/x",
            "path_not_found",
            "error: no such file or directory: docs/tides.md/x".into(),
        ),
        ("empty.md", "empty_file", "error: nothing to index: [HOME]/empty.md is empty".into()),
        ("blank.md", "empty_file", "error: nothing to index: [HOME]/blank.md is empty".into()),
        ("empty.pdf", "empty_file", "error: nothing to index: [HOME]/empty.pdf is empty".into()),
        (
            "binary.md",
            "not_text",
            format!("error: cannot read binary.md: it is not text\n{type_hint}"),
        ),
        (
            "text.pdf",
            "wrong_format",
            format!(
                "error: cannot read text.pdf: its content does not match its name or type: it looks like plain text\n{type_hint}"
            ),
        ),
        (
            "html.pdf",
            "wrong_format",
            format!(
                "error: cannot read html.pdf: its content does not match its name or type: it looks like HTML\n{type_hint}"
            ),
        ),
        (
            "password.pdf",
            "password_needed",
            "error: cannot read password.pdf: a password is needed to open it\n\
             hint: set KB_PASSWORD or use `--password`"
                .into(),
        ),
        ("no-pages.pdf", "no_pages", "error: cannot read no-pages.pdf: it has no pages".into()),
        (
            "text.xyz",
            "unsupported_format",
            "error: unsupported file type: [HOME]/text.xyz\n\
             hint: it is text: `kb add --type markdown [HOME]/text.xyz` reads it; \
             `kb config set ingestion.text_extensions xyz` reads all .xyz files"
                .into(),
        ),
    ] {
        check(&env, &["add", name], 1, code, &message);
    }
    // A partly damaged file is read as far as possible, or refused, never silently cut.
    let output = env.kb(&["add", "truncated.pdf"]);
    assert_eq!(output.stderr.lines().count(), 1 + usize::from(output.status == 0), "{output:?}");
    check_nothing_lost(&env);

    // In a folder each bad file is a separate line, or ignored, and the rest is added.
    env.write("folder/empty.md", "");
    env.write("folder/binary.md", [0_u8, 159, 146, 150, 0, 1].repeat(40));
    env.write("folder/good.md", "# Storm\n\nanchor");
    let output = env.ok(&["add", "folder", "nowhere"]);
    assert_eq!(
        output.text(),
        "--- stderr\n\
         failed: [HOME]/folder/binary.md: it is not text\n\
         failed: no such file or directory: [HOME]/nowhere\n\
         Added 1 document. 2 failed. 0 skipped (already indexed). \
         1 ignored: 1 empty; `kb files --ignored` lists it.\n"
    );
    let log = fs::read_to_string(env.path(".kb/ingest-errors.log")).unwrap();
    assert!(log.lines().any(|line| line.contains("folder/binary.md\tnot_text\t")), "{log}");
    check_nothing_lost(&env);
}

#[test]
fn a_folder_without_files_is_reported() {
    let env = word_env();
    fs::create_dir(env.path("nothing")).unwrap();
    check(
        &env,
        &["add", "nothing"],
        1,
        "usage",
        "error: there are no files in nothing\n\
         hint: hidden files and those listed in .gitignore are ignored",
    );
    env.write("nothing/empty.md", "");
    let output = env.kb(&["add", "nothing"]).expect(1);
    assert!(output.stderr.contains("1 ignored: 1 empty;"), "{}", output.stderr);
}

#[cfg(unix)]
#[test]
fn loops_of_links_end() {
    let env = word_env();
    env.write("loop/a/storm.md", "# Storm\n\nanchor");
    symlink("..", env.path("loop/a/up")).unwrap();
    symlink("self", env.path("loop/self")).unwrap();
    symlink("nowhere", env.path("loop/dangling.md")).unwrap();
    let output = env.ok(&["add", "loop"]);
    assert_eq!(output.stderr, "Added 1 document. 0 failed. 0 skipped (already indexed).\n");
    let output = env.kb_with(&[("KB_INGESTION_FOLLOW_LINKS", "true")], &["add", "loop"]).expect(0);
    assert!(output.stderr.contains("Added 0 documents."), "{}", output.stderr);
    let output = env.kb(&["add", "loop/self"]).expect(1);
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    check(
        &env,
        &["add", "loop/dangling.md"],
        1,
        "path_not_found",
        "error: no such file or directory: [HOME]/loop/dangling.md",
    );
}

#[cfg(unix)]
#[test]
fn unreadable_and_unwritable_paths_are_named() {
    let env = TestEnv::for_ordinary_user();
    env.write("docs/lamp.md", "# Lamp\n\nThe lamp keeper writes about salt.\n");
    let secret = env.write("secret/secret.md", "# Secret\n");
    env.give_to_ordinary_user();
    let rights = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    rights(&secret, 0o000);
    let output = env.ordinary_kb(&["add", "secret/secret.md"]).expect(1);
    assert!(output.stderr.starts_with("error: cannot access "), "{}", output.stderr);
    let output = env.ordinary_kb(&["add", "secret", "docs"]).expect(0);
    // It is tried again, but reported once.
    assert!(output.stderr.contains("Added 1 document. 0 failed. 0 skipped"), "{}", output.stderr);
    assert!(output.stderr.contains("1 file failed in an earlier run"), "{}", output.stderr);
    rights(&secret, 0o600);

    rights(&env.path(".kb"), 0o500);
    rights(&env.database(), 0o400);
    let output = env.ordinary_kb(&["add", "secret"]);
    rights(&env.database(), 0o600);
    rights(&env.path(".kb"), 0o700);
    // Like a full disk, a place that cannot be written is a failure of the system.
    assert_eq!(output.status, 2, "{}", output.text());
    let database = env.database();
    let expected = format!("error: the database {} is read-only here\n", database.display());
    assert!(output.stderr.starts_with(&expected), "{}", output.stderr);
    assert_eq!(find(&env, &["lamp keeper salt"]), ["Lamp"]);
    check_database(&env);
}

#[test]
fn source_code_that_does_not_parse_is_still_ingested() {
    let env = word_env();
    env.write("code/a.py", "def broken(:\n  retrun (\nclass X\n  def ok(self):\n    'rope sail'\n");
    env.write("code/b.go", "func main( {\n  winter paint }}}\n");
    env.write("code/c.sh", "f() {\n  if then fi done \"storm anchor\n");
    let output = env.ok(&["add", "code"]);
    assert!(output.stderr.contains("Added 3 documents. 0 failed."), "{}", output.stderr);
    for (query, title) in [("rope sail", "a"), ("winter paint", "b"), ("storm anchor", "c")] {
        assert_eq!(find(&env, &[query, "--fts-only"]), [title]);
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_text_or_hostile_stay_distinct_and_are_shown_safely() {
    let env = word_env();
    let name = |bytes: &'static [u8]| env.path("odd").join(OsStr::from_bytes(bytes));
    fs::create_dir(env.path("odd")).unwrap();
    for (bytes, text) in [
        (&b"by\xfftes.md"[..], "storm anchor"),
        (b"by\xfetes.md", "rope sail"),
        (b"new\nline.md", "winter paint"),
        (b"esc\x1b[31mred\x07.md", "signal valve"),
    ] {
        fs::write(name(bytes), text).unwrap();
    }
    fs::write(name(b"bad\x1b[31m\nx.pdf"), "x").unwrap();
    let output = env.ok(&["add", "odd"]);
    assert!(output.stderr.contains("Added 4 documents. 1 failed."), "{}", output.stderr);
    assert!(output.stderr.contains("odd/bad\u{fffd}[31m x.pdf: its content does"), "{output:?}");
    assert!(!output.stderr.contains('\u{1b}'));
    // Two names that are not text are two paths, also in the next run.
    let output = env.kb(&["add", "odd"]).expect(0);
    assert!(output.stderr.contains("Added 0 documents. 0 failed. 4 skipped"), "{}", output.stderr);
    let failed = env.ok(&["files", "--failed"]);
    assert!(failed.stdout.contains("odd/bad\u{fffd}[31m\u{fffd}x.pdf"), "{}", failed.stdout);
    assert_eq!(find(&env, &["storm anchor", "--fts-only"]).len(), 1);
    assert_eq!(find(&env, &["rope sail", "--fts-only"]).len(), 1);
    let list = env.json(&["list", "--format=json"]).to_string();
    assert!(list.contains(r"odd/by\\xfftes.md") && list.contains(r"odd/by\\xfetes.md"), "{list}");
    // A changed file of such a name is replaced.
    fs::write(name(b"by\xfftes.md"), "oak barrel storm").unwrap();
    let output = env.ok(&["add".as_ref(), name(b"by\xfftes.md").as_os_str()]);
    assert!(output.stderr.contains("1 updated"), "{}", output.stderr);
    for args in
        [&["list"][..], &["info", "5"], &["search", "storm sail paint valve", "--format=human"]]
    {
        let output = env.ok(args);
        assert!(!output.stdout.contains(['\u{1b}', '\u{7}']), "{}", output.stdout);
    }
    let output = env.kb(&["add", "no\u{1b}[31m\nwhere"]).expect(1);
    assert_eq!(output.stderr, "error: no such file or directory: no\u{fffd}[31m where\n");
    check_database(&env);
}

#[test]
fn a_foreign_or_damaged_database_is_left_alone() {
    let env = word_env();
    let newest: i64 = env.sql("PRAGMA user_version");
    let good = fs::read(env.database()).unwrap();
    let set_version = |db: &Connection| {
        db.pragma_update(None, "user_version", 99).unwrap();
        db.execute("UPDATE config SET value = '99' WHERE key = 'schema_version'", []).unwrap();
    };
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        bytes
    };
    let by_sqlite = |bytes: &[u8], change: &dyn Fn(&Connection)| {
        let path = env.write("scratch.db", bytes);
        let db = Connection::open(&path).unwrap();
        change(&db);
        db.pragma_update(None, "journal_mode", "delete").unwrap();
        drop(db);
        fs::read(path).unwrap()
    };
    let foreign = |db: &Connection| db.execute_batch("CREATE TABLE documents (id)").unwrap();
    let restore = "hint: `kb doctor --fix` repairs what it can; otherwise restore a copy of the file, \
         or move it away and add the documents again";
    let malformed = format!(
        "the database [HOME]/.kb/kb.db is corrupt: database disk image is malformed\n{restore}"
    );
    let no_database =
        format!("the database [HOME]/.kb/kb.db is corrupt: file is not a database\n{restore}");
    for (bytes, code, message) in [
        (b"garbage, and a lot of it. ".repeat(800), "corrupt", no_database.clone()),
        (b"short".to_vec(), "corrupt", no_database.clone()),
        (changed(&|bytes| bytes[..100].fill(0)), "corrupt", no_database),
        (changed(&|bytes| bytes.truncate(bytes.len() / 2)), "corrupt", malformed.clone()),
        (changed(&|bytes| bytes.truncate(4096)), "corrupt", malformed.clone()),
        (changed(&|bytes| bytes[4096..].fill(0x5a)), "corrupt", malformed),
        (
            by_sqlite(b"", &foreign),
            "foreign",
            "[HOME]/.kb/kb.db is not a kb database\n\
             hint: set `--data-dir` or KB_DATA_DIR to another directory"
                .to_owned(),
        ),
        (
            by_sqlite(&good, &set_version),
            "schema_too_new",
            format!(
                "[HOME]/.kb/kb.db has schema version 99; this kb supports versions up to {newest}\n\
                 hint: upgrade kb, and restart servers and watches that still run an older one"
            ),
        ),
    ] {
        fs::write(env.database(), &bytes).unwrap();
        for args in [&["list"][..], &["search", "tide"], &["add", "docs"], &["init"]] {
            check(&env, args, 2, code, &format!("error: {message}"));
        }
        assert!(fs::read(env.database()).unwrap() == bytes, "something was written: {message}");
    }
    fs::write(env.database(), &good).unwrap();
    for name in ["kb.db-wal", "kb.db-shm"] {
        let _ = fs::remove_file(env.path(".kb").join(name));
    }
    check_nothing_lost(&env);

    // An empty file remains if kb is killed right after creating it.
    fs::write(env.database(), "").unwrap();
    assert_eq!(
        env.ok(&["list"]).stdout,
        "Nothing has been added yet. `kb add DIRECTORY` adds documents.\n"
    );
    env.ok(&["add", "docs"]);
    assert_eq!(find(&env, &["frozen tide"])[0], "Tides");
    check_database(&env);
}

#[test]
fn a_data_directory_that_is_a_file_is_named() {
    let env = TestEnv::with_runtime();
    env.write("file", "x");
    for args in [["list", "--data-dir=file"], ["init", "--data-dir=file"]] {
        let output = env.kb(&args).expect(1);
        let mut lines = output.stderr.lines();
        let line = lines.next().unwrap();
        assert!(line.starts_with("error: cannot access file"), "{line}");
        assert_eq!(lines.next(), None);
    }
    assert_eq!(fs::read_to_string(env.path("file")).unwrap(), "x");
}

#[test]
fn a_locked_database_is_waited_for_and_then_named() {
    let env = word_env();
    let db = Connection::open(env.database()).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Readers do not block a writer, nor the reverse.
    assert_eq!(find(&env, &["frozen tide"])[0], "Tides");
    env.ok(&["list"]);
    env.write("docs/new.md", "# New\n\nstorm anchor\n");
    let output = env.kb(&["add", "docs"]);
    assert_eq!(
        output.text(),
        "--- stderr\n\
         error: the database [HOME]/.kb/kb.db is locked by another process\n\
         hint: wait for the other `kb` to end, then try again\n--- status 1\n"
    );
    // A lock that is released in time is not noticed.
    let mut child = env.command(&["add", "docs"]).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    db.execute_batch("COMMIT").unwrap();
    assert!(child.wait().unwrap().success());
    drop(db);
    check_nothing_lost(&env);
    assert_eq!(find(&env, &["storm anchor"])[0], "New");
}

/// Requires that `config.yaml` with this text stops a command with this line.
#[track_caller]
fn check_settings(env: &TestEnv, text: impl AsRef<[u8]>, message: &str) {
    env.write(".kb/config.yaml", text);
    let output = env.kb(&["list"]).expect(1);
    let expected = format!(
        "--- stderr\nerror: invalid configuration in [HOME]/.kb/config.yaml: {message}\n\
         hint: correct the value or remove it to use the default\n--- status 1\n"
    );
    assert_eq!(output.text(), expected);
}

#[test]
fn invalid_settings_are_named_with_their_place() {
    let env = TestEnv::with_runtime();
    for (text, message) in [
        (
            "search: [1\n",
            "did not find expected ',' or ']' at line 2 column 1, while parsing a flow sequence at line 1 column 9",
        ),
        ("just text\n", "the file must hold `key: value` lines"),
        ("- a\n- b\n", "the file must hold `key: value` lines"),
        ("search: 3\n", "search: must be a group of keys, not `3`"),
        (
            "search:\n  default_top: many\n",
            "search.default_top: must be a whole number from 1 to 1000000, not `many`",
        ),
        (
            "search:\n  default_top: -1\n",
            "search.default_top: must be a whole number from 1 to 1000000, not `-1`",
        ),
        (
            "search:\n  default_top: 1.5\n",
            "search.default_top: must be a whole number from 1 to 1000000, not `1.5`",
        ),
        (
            "search:\n  default_top: 0\n",
            "search.default_top: must be a whole number from 1 to 1000000, not `0`",
        ),
        (
            "search:\n  default_top: [1]\n",
            "search.default_top: must be a whole number from 1 to 1000000, not a list",
        ),
        ("search:\n  rrf_k: .nan\n", "search.rrf_k: must be a number from 0 to 1000000, not `NaN`"),
        ("search:\n  rrf_k: .inf\n", "search.rrf_k: must be a number from 0 to 1000000, not `inf`"),
        (
            "search:\n  default_format: xml\n",
            "search.default_format: must be one of json, human, auto, not `xml`",
        ),
        (
            "ingestion:\n  workers: 0\n",
            "ingestion.workers: must be a whole number from 1 to 256, not `0`",
        ),
        (
            "ingestion:\n  follow_links: maybe\n",
            "ingestion.follow_links: must be true or false, not `maybe`",
        ),
        ("embedding:\n  model: 12\n", "embedding.model: must be text, not `12`"),
        (
            "chunking:\n  markdown:\n    strategy: foo\n",
            "chunking.markdown.strategy: must be one of header, fixed, not `foo`",
        ),
        (
            "chunking:\n  defaults:\n    max_tokens: 20\n",
            "chunking.defaults.overlap_tokens: must be less than chunking.defaults.max_tokens",
        ),
    ] {
        check_settings(&env, text, message);
    }
    check_settings(&env, b"\xff\xfea", "it is not UTF-8 text");
}

#[test]
fn an_unknown_key_is_a_warning_with_the_nearest_one() {
    let env = TestEnv::with_runtime();
    for (text, key, nearest) in [
        (
            "search:\n  defualt_top: 3\n",
            "search.defualt_top",
            "; did you mean `search.default_top`?",
        ),
        ("serach:\n  rrf_k: 3\n", "serach.rrf_k", "; did you mean `search.rrf_k`?"),
        ("1: 2\n", "1", ""),
        ("xyzzy: 1\n", "xyzzy", ""),
    ] {
        env.write(".kb/config.yaml", text);
        let expected = format!("warning: unknown key `{key}` in [HOME]/.kb/config.yaml{nearest}\n");
        assert_eq!(
            env.kb(&["list", "--format=json"]).text(),
            format!("[]\n--- stderr\n{expected}")
        );
        // Programs find only an error on stderr.
        env.kb(&["info", "7", "--format=json"]).expect(1).json_error();
    }
}

/// The hint spoke of the file for every value, wherever it was typed.
#[test]
fn a_hint_about_a_value_fits_the_place_where_it_was_typed() {
    let env = TestEnv::with_runtime();
    for (key, value, hint) in [
        ("search.default_top", "abc", "the default is 10"),
        ("search.default_format", "xml", "the default is json"),
        ("chunking.defaults.max_tokens", "20", "the default is 512"),
    ] {
        let error = env.kb(&["config", "set", key, value]).expect(1).stderr;
        assert!(error.starts_with("error: invalid configuration in `kb config set`: "), "{error}");
        assert!(error.ends_with(&format!("\nhint: {hint}\n")), "{error}");
    }
    let error = env.kb_with(&[("KB_DEFAULT_TOP", "abc")], &["config"]).expect(1).stderr;
    let hint = "hint: the default is 10, which applies if KB_DEFAULT_TOP is unset\n";
    assert!(error.ends_with(hint), "{error}");
    // A value in the file is at fault, not the one that was typed.
    env.write(".kb/config.yaml", "search:\n  default_top: abc\n");
    let error = env.kb(&["config", "set", "ingestion.workers", "3"]).expect(1).stderr;
    assert!(error.contains("config.yaml: search.default_top: must be"), "{error}");
    assert!(!error.contains("hint: search.default_top"), "{error}");
}

#[test]
fn invalid_variables_and_flags_are_named() {
    let env = TestEnv::with_runtime();
    env.write(".kb/config.yaml", "search:\n  default_top: 3\n");
    for (variable, value, message) in [
        (
            "KB_DEFAULT_TOP",
            "many",
            "search.default_top: must be a whole number from 1 to 1000000, not `many`",
        ),
        (
            "KB_DEFAULT_TOP",
            "0",
            "search.default_top: must be a whole number from 1 to 1000000, not `0`",
        ),
        (
            "KB_DEFAULT_FORMAT",
            "xml",
            "search.default_format: must be one of json, human, auto, not `xml`",
        ),
        ("KB_SEARCH_RRF_K", "x", "search.rrf_k: must be a number, not `x`"),
        (
            "KB_INGESTION_WORKERS",
            "0",
            "ingestion.workers: must be a whole number from 1 to 256, not `0`",
        ),
        (
            "KB_EMBEDDING_PRECISION",
            "int4",
            "embedding.precision: must be one of int8, fp32, not `int4`",
        ),
    ] {
        let output = env.kb_with(&[(variable, value)], &["list"]).expect(1);
        let line = format!("error: invalid configuration in {variable}: {message}\n");
        assert!(output.stderr.starts_with(&line), "{}", output.stderr);
    }
    // Text is kept as text, even if it looks like another type.
    for (variable, value) in [
        ("KB_MODEL", "123"),
        ("KB_DATA_DIR", "2024"),
        ("KB_EMBEDDING_QUERY_PREFIX", "true"),
        ("KB_EMBEDDING_PASSAGE_PREFIX", "query: "),
    ] {
        env.kb_with(&[(variable, value)], &["list"]).expect(0);
    }
    env.ok(&["list", "--data-dir", "2024"]);
    env.ok(&["config", "set", "embedding.query_prefix", "true"]);
    env.ok(&["list"]);
    let output = env.kb(&["config", "set", "search.default_top", "x"]).expect(1);
    assert!(
        output.stderr.starts_with(
            "error: invalid configuration in `kb config set`: search.default_top: must be a whole"
        ),
        "{}",
        output.stderr
    );
    // A style that kb can read but not write is not overwritten.
    let flow = "search: {default_top: 3}\n";
    env.write(".kb/config.yaml", flow);
    let output = env.kb(&["config", "set", "search.default_top", "5"]).expect(1);
    assert_eq!(
        output.text(),
        "--- stderr\n\
         error: cannot set `search.default_top` in [HOME]/.kb/config.yaml: \
         its style is not block YAML\nhint: set it by hand\n--- status 1\n"
    );
    assert_eq!(fs::read_to_string(env.path(".kb/config.yaml")).unwrap(), flow);
    let output = env.kb(&["config", "set", "search.defualt_top", "3"]).expect(1);
    assert_eq!(
        output.stderr,
        "error: unknown configuration key `search.defualt_top`\n\
         hint: the nearest key is `search.default_top`\n"
    );
}

#[test]
fn an_invalid_command_line_is_one_line_and_a_next_step() {
    let env = TestEnv::with_runtime();
    for (args, message) in [
        (
            &["xyzzy"][..],
            "unrecognized command 'xyzzy'\n\
             hint: `kb --help` lists the commands; to search: `kb search \"xyzzy\"`",
        ),
        (
            &["list", "--formt=json"],
            "unexpected argument '--formt' found\nhint: did you mean `--format`?",
        ),
        (
            &["list", "--format=xml"],
            "invalid value 'xml' for '--format <FORMAT>'\nhint: use one of json, human",
        ),
        (
            &["list", "--type=movie"],
            &format!(
                "invalid value 'movie' for '--type <TYPE>'\nhint: use one of {}",
                "movie".parse::<DocumentKind>().unwrap_err().known.join(", ")
            ),
        ),
        (
            &["add", "x", "--language=plankalkuel"],
            &format!(
                "invalid value 'plankalkuel' for '--language <LANGUAGE>'\nhint: use one of {}",
                Language::ALL.map(Language::as_str).join(", ")
            ),
        ),
        (
            &["search", "x", "--top=0", "--format=human"],
            "invalid value '0' for '--top <N>': must be a whole number from 1 to 1000000",
        ),
        (
            &["search", "x", "--top", "-1", "--format=human"],
            "invalid value '-1' for '--top <N>': must be a whole number from 1 to 1000000",
        ),
        (
            &["search", "x", "--top=99999999999", "--format=human"],
            "invalid value '99999999999' for '--top <N>': must be a whole number from 1 to 1000000",
        ),
        (
            &["search", "x", "--threshold=high", "--format=human"],
            "invalid value 'high' for '--threshold <SCORE>': not a number",
        ),
        (
            &["search", "--format=human", "-draft plan"],
            "unexpected argument '-d' found\n\
             hint: quote the whole query: `kb search -- \"-draft plan\"`",
        ),
        (&["info", "-1"], "document not found: -1\nhint: `kb list` shows all ids"),
        (&["info", "abc"], "document not found: abc\nhint: `kb list` shows all ids"),
        (
            &["remove", "99999999999999999999", "--yes"],
            "document not found: 99999999999999999999\nhint: `kb list` shows all ids",
        ),
        (&["add", "--note", " "], "the note is empty\nhint: `kb add --note \"what to remember\"`"),
        (&["tag", "1", "--add="], "invalid value '' for '--add <TAGS>': a tag must not be empty"),
        (&["list", "--data-dir="], "invalid value '' for '--data-dir <DIR>': the name is empty"),
    ] {
        let output = env.kb(args);
        assert_eq!(
            output.text(),
            format!("--- stderr\nerror: {message}\n--- status 1\n"),
            "{args:?}"
        );
    }
    #[cfg(unix)]
    let bytes: &OsStr = OsStrExt::from_bytes(b"fro\xffzen");
    // Half of a pair of UTF-16.
    #[cfg(windows)]
    let half: std::ffi::OsString = std::os::windows::ffi::OsStringExt::from_wide(&[0x66, 0xd800]);
    #[cfg(windows)]
    let bytes = half.as_os_str();
    for args in [
        ["list".as_ref(), "--data-dir".as_ref(), bytes],
        ["list".as_ref(), "--type".as_ref(), bytes],
    ] {
        let output = env.kb(&args).expect(1);
        assert!(
            output.stderr.starts_with("error: invalid UTF-8 was detected"),
            "{}",
            output.stderr
        );
    }
    assert!(!env.path("fro\u{fffd}zen").exists());
}

#[test]
fn one_argument_of_several_words_is_a_search() {
    let env = word_env();
    let question = "which gauge is frozen";
    assert_eq!(env.ok(&[question]).stdout, env.ok(&["search", question]).stdout);
    // Words that are typed apart are a mistyped command, with or without one that is like it.
    let search = "To search instead";
    for (words, before) in [
        (&["frozen", "gauge"][..], format!("did you mean `open`? {search}")),
        (&["serch", "gauge"], format!("did you mean `search` or `schema`? {search}")),
        (&["frozen"], format!("did you mean `open`? {search}")),
        (&["xyzzy", "gauge"], "`kb --help` lists the commands; to search".to_owned()),
    ] {
        let output = env.kb(words).expect(1);
        let hint = format!("hint: {before}: `kb search \"{}\"`\n", words.join(" "));
        assert!(output.stdout.is_empty() && output.stderr.contains(&hint), "{}", output.text());
    }
    env.kb(&["frozen gauge", "--top=1"]).expect(1);
}

#[test]
fn no_query_is_too_odd() {
    // Windows takes command lines of 32,767 characters, with an escape for each quote.
    const LONGEST: usize = if cfg!(windows) { 15_000 } else { 100_000 };
    const NUM_PAIRS: usize = if cfg!(windows) { 1_250 } else { 8_400 };
    let env = word_env();
    let long_words: String = (0..16_000).map(|number| format!("w{number} ")).collect();
    for query in [
        "?!...",
        "\"",
        "\"\"",
        "-",
        "*",
        "NEAR(a b) AND OR NOT ^ { } : col:x",
        "frozen\u{1}\u{2}\u{1b}[31m\u{7f}",
        "a\nb\tc\r",
        "🦀 ﷽ \u{202e}",
        &"a".repeat(LONGEST),
        &"frozen tide ".repeat(NUM_PAIRS),
        &"\"".repeat(LONGEST),
        &"(".repeat(LONGEST),
        &long_words[..LONGEST.min(long_words.len())],
    ] {
        let output = env.ok(&["search", "--", query]);
        let answer: Value = output.json();
        assert_eq!(answer["query"], query);
        let warning = match query.starts_with("w0 ") {
            true => {
                "warning: only the first 256 distinct words of the query are used as keywords\n"
            }
            false => "",
        };
        assert_eq!(output.stderr, warning);
    }
    assert_eq!(find(&env, &[&"frozen tide ".repeat(NUM_PAIRS)])[0], "Tides");
    let output = env.ok(&["search", "frozen\u{1b}[31m", "--format=human"]);
    assert!(output.stdout.starts_with("Search: \"frozen\u{fffd}[31m\" ("), "{}", output.stdout);
    let output = env.ok(&["search", "--", "?!..."]).json();
    assert_eq!(output["results"].as_array().unwrap().len(), 3, "the vectors answer");
    for query in [&["search"][..], &["search", ""], &["search", " ", "\t"]] {
        check(
            &env,
            query,
            1,
            "empty_query",
            "error: the query is empty\nhint: type some words: `kb search \"how to install git\"`",
        );
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_not_an_error_but_a_full_disk_is() {
    let env = word_env();
    for args in [
        &["list"][..],
        &["list", "--format=json"],
        &["search", "tide"],
        &["search", "tide", "--format=human"],
        &["info", "1"],
        &["status"],
        &["tags"],
        &["config"],
        &["init", "--status"],
        &["add", "docs", "--format=json"],
        &["--help"],
        &["search", "--help"],
        &["--version"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = env.command(args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let printed = String::from_utf8(output.stderr).unwrap();
        assert!(printed.is_empty() || printed.starts_with("Added 0"), "{args:?}: {printed}");
    }
    for args in [
        &["list"][..],
        &["--help"],
        &["search", "--help"],
        &["skill", "--help"],
        &["skill", "show", "--help"],
        &["--version"],
        &["help", "query"],
        &["help", "search"],
        &["completions", "bash"],
        &["completions", "fish"],
        &["man"],
        &["schema"],
        &["schema", "search"],
    ] {
        let Ok(full) = fs::File::options().write(true).open("/dev/full") else {
            left_out("full-device", "a full disk");
            break;
        };
        let mut command = env.command(args);
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let printed = String::from_utf8(output.stderr).unwrap();
        let expected = "error: cannot write the answer: No space left on device (os error 28)\n";
        assert_eq!(printed, expected, "{args:?}");
    }
    check_nothing_lost(&env);
}

#[test]
fn a_damaged_model_file_is_named_and_keywords_still_work() {
    let env = word_env();
    let good: Vec<(String, Vec<u8>)> = WordModel::default().files().into_iter().collect();
    let mend = || {
        for (name, bytes) in &good {
            env.write(&format!("tiny/{name}"), bytes);
        }
    };
    let hint = |other: &str| {
        let fetched = "hint: if `kb init` fetched it, remove it and run `kb init` again";
        format!("{fetched}; otherwise name another with {other}")
    };
    for (name, length, message) in [
        ("model.safetensors", 5000, "it has 5000 bytes, expected "),
        ("model.safetensors", 0, "it has 0 bytes and no header"),
        ("tokenizer.json", 500, "EOF while parsing a string at line 1 column 500"),
        ("config.json", 20, "EOF while parsing"),
        ("1_Pooling/config.json", 10, "EOF while parsing"),
    ] {
        let (_, bytes) = good.iter().find(|(file, _)| file == name).unwrap();
        env.write(&format!("tiny/{name}"), &bytes[..length]);
        // The graph made from good weights would hide that they are damaged.
        fs::remove_dir_all(env.path(format!("{CACHE}/graphs"))).unwrap();
        env.write("docs/new.md", format!("# New\n\nstorm {name} {length}\n"));
        for args in [&["search", "tide", "--format=human"][..], &["add", "docs"]] {
            let output = env.kb(args).expect(2);
            assert_eq!(output.stdout, "");
            let text = output.text();
            let lines: Vec<&str> =
                text.lines().skip(1).filter(|line| !line.starts_with("Optimising")).collect();
            let start = format!("error: cannot use [HOME]/tiny/{name}: {message}");
            assert!(lines[0].starts_with(&start), "{text}");
            assert_eq!(lines[1..], [&*hint("`--model-dir`"), "--- status 2"], "{text}");
        }
        assert_eq!(env.kb(&["search", "tide"]).expect(2).json_error()["code"], "model");
        assert_eq!(find(&env, &["tide", "--fts-only"]), ["Tides"]);
        env.ok(&["list"]);
        mend();
        check_nothing_lost(&env);
    }
    let not_a_library = env.write("lib.so", "no library");
    for (path, message) in [
        (not_a_library.to_str().unwrap(), "lib.so"),
        ("/nowhere", "ORT_DYLIB_PATH does not name a file"),
    ] {
        let output = env.kb_with(&[("ORT_DYLIB_PATH", path)], &["search", "tide"]).expect(2);
        let error = output.json_error();
        assert!(error["error"].as_str().unwrap().contains(message), "{error}");
        assert_eq!(format!("hint: {}", error["fix"].as_str().unwrap()), hint("ORT_DYLIB_PATH"));
    }
}

#[test]
fn a_killed_run_leaves_an_intact_database_and_the_next_one_completes() {
    const NUM_FILES: u32 = 80;
    // Enough for more than one batch of the ledger.
    const NUM_HIDDEN: u32 = 2500;
    let env = word_env();
    for idx in 0..NUM_HIDDEN {
        env.write(&format!("many/.{idx}"), "");
    }
    for idx in 0..NUM_FILES {
        env.write(&format!("many/{idx}.dat"), "storm");
    }
    env.write("many/last.md", [0_u8, 1, 2, 3].repeat(64));
    for idx in 0..NUM_FILES {
        let sections: String = (0..6)
            .map(|number| format!("## Part {number}\n\nstorm {idx} anchor {number}, rope and sail of the harbour, salt on the pump, paint on the valve, winter in the orchard, and so on\n\n"))
            .collect();
        env.write(&format!("many/{idx}.md"), format!("# Storm {idx}\n\n{sections}"));
    }
    let count = "SELECT count(*) FROM documents";
    for num_committed in [3, 4, 10, 11, 30, 60] {
        let mut child = env
            .command(&["add", "many", "--tags", "storm"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        assert!(comes_true(
            || child.try_wait().unwrap().is_some() || env.sql::<u32>(count) >= num_committed
        ));
        child.kill().unwrap();
        child.wait().unwrap();
        check_nothing_lost(&env);
        // The ledger can be read, and nothing in it is indexed.
        env.ok(&["files"]);
        let doubled = "SELECT count(*) FROM ledger JOIN document_paths USING (path)";
        assert_eq!(env.sql::<u32>(doubled), 0);
        // No document lacks its tag, either.
        let bare = "SELECT count(*) FROM documents WHERE title LIKE 'Storm%' \
            AND id NOT IN (SELECT document_id FROM document_tags)";
        assert_eq!(env.sql::<u32>(bare), 0);
    }
    let before = env.sql::<u32>(count);
    let output = env.ok(&["add", "many", "--tags", "storm"]);
    let missing = NUM_FILES + 3 - before;
    let plural = if missing == 1 { "" } else { "s" };
    let message =
        format!("Added {missing} document{plural}. 1 failed. {} skipped", NUM_FILES - missing);
    assert!(output.stderr.contains(&message), "{message}: {}", output.stderr);
    assert_eq!(env.sql::<u32>(count), NUM_FILES + 3);
    let counts = &env.json(&["files", "many", "--format", "json"])["counts"];
    assert_eq!(counts["indexed"], NUM_FILES, "{counts}");
    assert_eq!(counts["ignored"], NUM_HIDDEN + NUM_FILES, "{counts}");
    assert_eq!(counts["failed"], 1, "{counts}");
    check_nothing_lost(&env);
}

/// Creates what a run leaves in a folder if it is killed between giving a file its name and removing
/// the draft.
fn leave_draft(env: &TestEnv, folder: &str) -> PathBuf {
    let draft = env.path(folder).join(".kb-draft-9-0123456789abcdef");
    fs::create_dir_all(&draft).unwrap();
    fs::write(draft.join("lock"), "").unwrap();
    draft
}

#[test]
fn drafts_of_killed_runs_go_even_if_nothing_is_written() {
    let env = word_env();
    env.write("docs/.kbignore", "/tides.md\n");
    for (folder, args) in [
        ("docs", &["remove", "docs/tides.md", "--ignore", "--yes"][..]),
        (".cursor", &["mcp", "install", "--client", "cursor", "--yes"]),
        (".claude/skills/kb", &["skill", "install", "--target", "claude", "--yes"]),
    ] {
        if folder != "docs" {
            env.ok(args);
        }
        let draft = leave_draft(&env, folder);
        env.ok(args);
        assert!(!draft.exists(), "{args:?}");
    }
    assert_eq!(fs::read_to_string(env.path("docs/.kbignore")).unwrap(), "/tides.md\n");
}
