//! Tests that links which replace files or folders after they were added are never followed by `kb
//! update`, `kb open`, `kb search --open` or the server.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;
use crate::word_model::{check_database, find, word_env};

/// Words that are in no added file.
const SECRET: &str = "valve";

/// A home with a repository that was added, a secret next to it, and the changes a `git pull` may
/// bring.
fn repository() -> TestEnv {
    let env = word_env();
    env.write("repo/notes.md", "# Notes\n\nrope sail\n");
    env.write("repo/sub/credentials.md", "# Credentials\n\npaint the pump\n");
    env.write("secret/key", format!("# Notes\n\n{SECRET}\n"));
    env.write("secret/folder/credentials.md", format!("# Credentials\n\n{SECRET}\n"));
    env.write("secret/folder/more.md", format!("# More\n\n{SECRET}\n"));
    env
}

/// Replaces a file and a folder with links.
fn pull(env: &TestEnv) {
    fs::remove_file(env.path("repo/notes.md")).unwrap();
    symlink(env.path("secret/key"), env.path("repo/notes.md")).unwrap();
    fs::remove_dir_all(env.path("repo/sub")).unwrap();
    symlink(env.path("secret/folder"), env.path("repo/sub")).unwrap();
}

/// Requires that no command prints or stores a secret.
#[track_caller]
fn check_no_secret(env: &TestEnv, mcp_documents: &[&str]) {
    for document in mcp_documents {
        let output = env.kb(&["open", document]);
        assert!(!output.text().contains(SECRET), "{}", output.text());
        let output = env.json(&["open", document, "--format=json"]);
        assert_eq!(output["origin"], "database", "{output}");
        assert_eq!(output["changed"], Value::Null);
        assert!(output["file_error"].as_str().unwrap().contains("symbolic link"), "{output}");
    }
    let mut client = Client::start(env, ".", &[]);
    for document in mcp_documents {
        let data = client.data("kb_open", json!({ "document": document }));
        assert!(!data.to_string().contains(SECRET), "{data}");
        assert!(data["file_error"].as_str().unwrap().contains("symbolic link"), "{data}");
    }
    client.close();
    assert_eq!(find(env, &[SECRET, "--fts-only"]), Vec::<String>::new());
    let database = fs::read(env.database()).unwrap();
    assert!(!database.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()));
}

/// Finding F2: a key that a link in a repository led to was printed at once and stored by the next
/// update.
#[test]
fn a_link_that_replaces_a_file_or_folder_is_never_followed() {
    let env = repository();
    env.ok(&["add", "repo"]);
    let documents = ["Notes", "Credentials"];
    pull(&env);
    check_no_secret(&env, &documents);
    for args in
        [&["update", "--dry-run"][..], &["update"], &["update", "--prune"], &["update", "repo"]]
    {
        let output = env.ok(args);
        for name in ["repo/notes.md", "repo/sub/credentials.md"] {
            let line = format!("{} is a symbolic link or below one", env.path(name).display());
            assert!(output.stderr.contains(&line), "{args:?}: {}", output.stderr);
        }
        assert!(output.stdout.contains("0 added, 0 updated"), "{}", output.text());
        assert!(output.stdout.contains("2 failed, 0 missing, 0 removed"), "{}", output.text());
        let answer = env.json(&[args, &["--format=json"]].concat());
        let codes: Vec<&Value> =
            answer["failed"].as_array().unwrap().iter().map(|failed| &failed["code"]).collect();
        assert_eq!(codes, ["link_refused", "link_refused"], "{answer}");
    }
    check_no_secret(&env, &documents);
    // The documents are unchanged.
    assert_eq!(find(&env, &["rope sail", "--fts-only"]), ["Notes"]);
    assert_eq!(find(&env, &["paint pump", "--fts-only"])[0], "Credentials");
    let status = env.json(&["status", "--scan", "--format=json"]);
    assert_eq!(status["out_of_date"]["links_refused"], 2, "{status}");
    // The folder has no readable file left.
    env.kb(&["add", "repo"]).expect(1);
    check_no_secret(&env, &documents);
    check_database(&env);
    // With the user's consent for the folder, links are followed.
    env.ok(&["add", "repo", "--follow"]);
    assert_eq!(find(&env, &[SECRET, "--fts-only"]).len(), 3);
    assert!(env.ok(&["open", "Notes"]).stdout.contains(SECRET));
}

#[test]
fn a_link_that_replaces_a_named_file_is_never_followed() {
    let env = repository();
    env.ok(&["add", "repo/notes.md", "repo/sub/credentials.md"]);
    pull(&env);
    check_no_secret(&env, &["Notes", "Credentials"]);
    let output = env.ok(&["update"]);
    assert!(output.stdout.contains("2 failed, 0 missing"), "{}", output.text());
    check_no_secret(&env, &["Notes", "Credentials"]);
    // A database of an older version does not know that the file itself is not a link.
    fs::remove_file(env.path("repo/sub")).unwrap();
    let db = Connection::open(env.database()).unwrap();
    db.execute("UPDATE document_paths SET real_path = NULL", []).unwrap();
    drop(db);
    env.ok(&["update"]);
    check_no_secret(&env, &["Notes"]);
    // It remembers files that it finds unchanged, and notices more from then on.
    fs::create_dir(env.path("repo/sub")).unwrap();
    env.write("repo/sub/credentials.md", "# Credentials\n\npaint the pump\n");
    env.ok(&["update"]);
    env.ok(&["update"]);
    fs::remove_dir_all(env.path("repo/sub")).unwrap();
    symlink(env.path("secret/folder"), env.path("repo/sub")).unwrap();
    assert!(env.ok(&["update"]).stdout.contains("2 failed, 0 missing"));
    check_no_secret(&env, &["Notes", "Credentials"]);
    // If the user names it again, the link is the user's own.
    env.ok(&["add", "repo/notes.md"]);
    assert_eq!(find(&env, &[SECRET, "--fts-only"]), ["Notes"]);
    assert!(env.ok(&["open", "Notes"]).stdout.contains(SECRET));
}

#[test]
fn a_link_that_replaces_an_added_folder_is_never_followed() {
    let env = repository();
    env.ok(&["add", "repo/sub"]);
    pull(&env);
    check_no_secret(&env, &["Credentials"]);
    let output = env.ok(&["update"]);
    assert!(
        output.text().contains("repo/sub is a symbolic link or below one"),
        "{}",
        output.text()
    );
    assert!(output.stdout.contains("0 added, 0 updated"), "{}", output.text());
    check_no_secret(&env, &["Credentials"]);
    env.ok(&["add", "repo/sub"]);
    assert_eq!(find(&env, &[SECRET, "--fts-only"]).len(), 2);
}

#[test]
fn links_that_the_user_named_keep_working() {
    let env = repository();
    symlink("repo", env.path("entrance")).unwrap();
    symlink("repo/notes.md", env.path("own.md")).unwrap();
    env.ok(&["add", "entrance/sub", "own.md"]);
    env.write("repo/sub/credentials.md", "# Credentials\n\nwinter engine\n");
    env.write("repo/notes.md", "# Notes\n\npear cider press\n");
    let output = env.ok(&["update"]);
    assert!(output.stdout.contains("0 added, 2 updated"), "{}", output.text());
    for (document, words) in [("Notes", "pear cider"), ("Credentials", "winter engine")] {
        let output = env.ok(&["open", document]);
        assert!(output.stdout.contains(words) && output.stderr.is_empty(), "{}", output.text());
    }
}

#[test]
fn no_editor_is_started_on_a_link_that_replaced_a_file() {
    let mut env = repository();
    env.write("bin/ed", "#!/bin/sh\ncat \"$1\"\n");
    let ed = env.path("bin/ed");
    fs::set_permissions(&ed, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    env.set("EDITOR", ed.to_str().unwrap());
    env.set("PATH", &format!("{}:/usr/bin:/bin", env.path("bin").display()));
    env.ok(&["add", "repo"]);
    assert!(env.ok(&["open", "Notes", "--editor"]).stdout.contains("rope sail"));
    pull(&env);
    for args in
        [&["open", "Notes", "--editor"][..], &["search", "rope sail", "--fts-only", "--open=1"]]
    {
        let output = env.kb(args).expect(1);
        assert!(!output.text().contains(SECRET), "{}", output.text());
        assert!(output.stderr.contains("is a symbolic link or below one"), "{}", output.text());
    }
}

/// Finding F12: the second of them was lost, and each `kb add` swapped them.
#[test]
fn two_names_that_print_alike_are_two_documents() {
    let env = word_env();
    let raw = env.path("odd").join(OsStr::from_bytes(b"caf\xe9.md"));
    env.write("odd/caf\\xe9.md", "# Literal\n\nrope sail\n");
    fs::write(&raw, "# Raw\n\npaint pump\n").unwrap();
    let output = env.ok(&["add", "odd"]);
    assert!(output.stderr.contains("Added 2 documents."), "{}", output.stderr);
    let output = env.ok(&["add", "odd"]);
    assert!(output.stderr.contains("Added 0 documents. 0 failed. 2 skipped"), "{}", output.stderr);
    assert!(env.ok(&["update"]).stdout.contains("0 added, 0 updated, 0 moved, 4"));
    for (title, words) in [("Literal", "rope sail"), ("Raw", "paint pump")] {
        assert_eq!(find(&env, &[words, "--fts-only"]), [title]);
        assert!(env.ok(&["open", title]).stdout.contains(words));
    }
    // Printed names can be typed. If a file has exactly that name, it is the one that is meant.
    let path = |title: &str| env.json(&["open", title, "--format=json"])["path"].clone();
    let typed = |path: &Value| {
        env.json(&["open", path.as_str().unwrap(), "--format=json"])["title"].clone()
    };
    assert_eq!(
        (typed(&path("Literal")), typed(&path("Raw"))),
        (json!("Literal"), json!("Literal"))
    );
    fs::remove_file(env.path("odd/caf\\xe9.md")).unwrap();
    assert_eq!(typed(&path("Raw")), "Raw");
    check_database(&env);
}

#[test]
fn a_database_with_old_style_names_still_finds_its_files() {
    let env = word_env();
    let raw = env.path("odd").join(OsStr::from_bytes(b"by\xff.md"));
    env.write("odd/caf\\xe9.md", "# Literal\n\nrope sail\n");
    env.write("odd/a\\x41.md", "# Letter\n\nwinter engine\n");
    fs::write(&raw, "# Raw\n\npaint pump\n").unwrap();
    env.ok(&["add", "odd"]);
    let old = || {
        let db = Connection::open(env.database()).unwrap();
        for (table, column) in [("document_paths", "path"), ("documents", "source_path")] {
            let sql = format!("UPDATE {table} SET {column} = replace({column}, '\\x5cx', '\\x')");
            db.execute(&sql, []).unwrap();
        }
    };
    old();
    for title in ["Literal", "Letter", "Raw"] {
        assert_eq!(env.json(&["open", title, "--format=json"])["origin"], "file", "{title}");
    }
    let ids = || env.sql_column("SELECT id || ' ' || coalesce(source_path, '') FROM documents");
    for args in [&["update", "--dry-run"][..], &["update"], &["add", "odd"], &["update"]] {
        let printed = env.ok(args).text();
        let is_fine =
            printed.contains("0 added, 0 updated, 0 moved") || printed.contains("3 skipped");
        assert!(is_fine && !printed.contains("1 missing"), "{args:?}: {printed}");
    }
    assert!(ids().iter().any(|id| id.ends_with("odd/caf\\x5cxe9.md")), "{:?}", ids());
    assert_eq!(ids().len(), 6);
    // If a file changes before it is seen again, its document is replaced; a new file next to it is
    // added.
    old();
    env.write("odd/caf\\xe9.md", "# Literal\n\nfrozen signal\n");
    assert!(env.ok(&["update"]).stdout.contains("0 added, 1 updated, 0 moved"));
    fs::write(env.path("odd").join(OsStr::from_bytes(b"caf\xe9.md")), "oak barrel").unwrap();
    assert!(env.ok(&["update"]).stdout.contains("1 added, 0 updated, 0 moved"));
    assert_eq!(find(&env, &["frozen signal", "--fts-only"])[0], "Literal");
    check_database(&env);
}
