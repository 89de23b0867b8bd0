//! Tests which files and folders are followed: those that the user named or was shown, whatever a database, the
//! settings of a project or an import say.

use std::collections::BTreeMap;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::bases::in_folder;
use crate::contract::{self, Bases, Update};
use crate::env::{KNOWN_BASES, TestEnv};
use crate::hub::Hub;
use crate::mcp_client::Client;
use crate::permissions::check_mode;
use crate::printed_paths::without_links;
#[cfg(unix)]
use crate::terminal;

const SECRET: &str = "opensesame";

/// A home with a key in `.ssh`, and a project with a knowledge base that the user made.
fn project() -> TestEnv {
    let env = TestEnv::new();
    env.write(".ssh/id_rsa", format!("{SECRET} private key\n"));
    env.write("project/src/valve.md", "# Valve\n\nThe valve is blue.\n");
    in_folder(&env, "project", &["init", "--here"]).expect(0);
    in_folder(&env, "project", &["add", "src"]).expect(0);
    env
}

fn change(env: &TestEnv, database: &str, sql: &str) {
    let key = env.path(".ssh").display().to_string();
    let sql = sql.replace("KEYS", &key).replace("HOME", &env.path("").display().to_string());
    Connection::open(env.path(database)).unwrap().execute_batch(&sql.replace("//", "/")).unwrap();
}

/// The rows that a colleague's commit adds to the database: the keys of the person who updates it.
const KEYS: &str = "INSERT INTO roots (path, tags, doc_type, follow, real_path)
    VALUES ('KEYS', '[]', 'note', 1, 'KEYS')";

/// The same without a folder: the document of the valve is also at the key.
const KEY: &str = "INSERT INTO document_paths (path, document_id, size_bytes, mtime_ns, real_path)
    SELECT 'KEYS/id_rsa', id, 1, 1, 'KEYS/id_rsa' FROM documents LIMIT 1;
    UPDATE documents SET source_path = 'KEYS/id_rsa', doc_type = 'note'";

fn update(env: &TestEnv, folder: &str) -> Update {
    contract::read(&in_folder(env, folder, &["update", "--format", "json"]).expect(0))
}

/// Requires that no command has read the key into a database or prints it.
#[track_caller]
fn check_no_secret(env: &TestEnv, folder: &str, database: &str) {
    for args in [
        &["open", "1"][..],
        &["search", SECRET],
        &["update", "--reread"],
        &["list"],
        &["grep", SECRET],
    ] {
        let output = in_folder(env, folder, args);
        let text = output.text().replace(&format!("\"query\": \"{SECRET}"), "");
        assert!(!text.contains(&format!("{SECRET} private")), "{args:?}: {text}");
    }
    let bytes = fs::read(env.path(database)).unwrap();
    assert!(!bytes.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()));
}

/// Finding N1: `git pull` brought a line that each search ran, also of a server that only reads.
#[test]
fn settings_of_a_project_start_no_program_and_name_no_folder() {
    let env = project();
    let marker = env.path("was-started");
    let settings = format!(
        "data_dir: /nowhere\nembedding:\n  model_dir: /nowhere\ningestion:\n  follow_links: true\n\
         search:\n  default_top: 1\n  rerank_command: \"/usr/bin/touch '{}'\"\n",
        marker.display()
    );
    env.write("project/.kb/config.yaml", settings);
    let output = in_folder(&env, "project", &["search", "valve"]).expect(0);
    assert_eq!(output.json()["returned"], 1);
    for key in
        ["data_dir", "embedding.model_dir", "ingestion.follow_links", "search.rerank_command"]
    {
        let command = format!("`kb --base default config set {key} VALUE`");
        assert!(output.stderr.contains(&command), "{}", output.stderr);
    }
    let mut client = Client::start(&env, "project", &[]);
    let answer = client.data("kb_search", json!({ "query": "valve", "base": "project" }));
    assert_eq!(answer["returned"], 1, "{answer}");
    client.close();
    let args = ["--base", "project,default", "search", "valve"];
    in_folder(&env, "project", &args).expect(0);
    assert!(!marker.exists(), "a program was started");
    let shown = in_folder(&env, "project", &["config"]).expect(0).stdout;
    assert!(!shown.contains("/nowhere") && !shown.contains("touch"), "{shown}");
    // Other settings count.
    let top = in_folder(&env, "project", &["config", "--format", "json"]).expect(0);
    assert!(top.stdout.contains("project/.kb/config.yaml"), "{}", top.stdout);
    let set = ["config", "set", "ingestion.follow_links", "true"];
    let output = in_folder(&env, "project", &set).expect(0);
    assert!(output.stderr.contains("has no effect in the settings of a project"));
}

/// The name of a model is one of files on the hub.
#[test]
fn a_model_that_a_project_names_is_not_fetched() {
    let hub = Hub::serve("attacker/beacon", BTreeMap::new());
    let mut env = TestEnv::with_runtime();
    env.set("HF_ENDPOINT", &hub.endpoint);
    fs::create_dir(env.path("project")).unwrap();
    let _ = in_folder(&env, "project", &["init", "--here"]);
    let _ = hub.take_requests();
    env.write("project/.kb/config.yaml", "embedding:\n  model: attacker/beacon\n");
    for args in [&["add", "--note", "salt"][..], &["init"]] {
        assert_ne!(in_folder(&env, "project", args).status, 0, "{args:?}");
    }
    assert_eq!(hub.take_requests(), Vec::<String>::new());
}

/// Finding N2: a row in the database of a project made `kb update` read the user's keys.
#[test]
fn a_folder_that_a_commit_adds_is_reported_and_not_read() {
    let env = project();
    change(&env, "project/.kb/kb.db", KEYS);
    in_folder(&env, "project", &["update"]).expect(0);
    check_no_secret(&env, "project", "project/.kb/kb.db");
    env.write("project/src/pump.md", "# Pump\n\nThe pump is red.\n");
    let report = update(&env, "project");
    assert_eq!((report.added, report.unchanged), (1, 1));
    let keys = env.path(".ssh").display().to_string();
    let note = format!(
        "not followed: {keys} (new, type note, links followed); `kb base allow --files` allows it"
    );
    assert_eq!(report.notes, [note.as_str()]);
    let output = in_folder(&env, "project", &["update"]).expect(0);
    assert!(output.stderr.contains(&note), "{}", output.stderr);
    check_no_secret(&env, "project", "project/.kb/kb.db");
    // A user who wants to allow the folder is shown it first, and can remove it.
    let refused = in_folder(&env, "project", &["base", "allow", "--files"]).expect(1);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    in_folder(&env, "project", &["remove", &keys, "--yes"]).expect(0);
    assert_eq!(update(&env, "project").notes, Vec::<String>::new());
    let shown = in_folder(&env, "project", &["base", "allow", "--files", "--yes"]).expect(0);
    assert!(!shown.text().contains(".ssh"), "{}", shown.text());
}

/// A document can name a file without any folder.
#[test]
fn a_file_that_a_commit_adds_is_neither_read_nor_compared() {
    let env = project();
    change(&env, "project/.kb/kb.db", KEY);
    let opened = in_folder(&env, "project", &["open", "1", "--format", "json"]).expect(0).json();
    assert_eq!((&opened["origin"], &opened["changed"]), (&json!("database"), &Value::Null));
    let hit = in_folder(&env, "project", &["search", "valve"]).expect(0).json();
    assert_eq!(hit["results"][0]["source"]["stale"], Value::Null);
    let mut client = Client::start(&env, "project", &["--allow-write"]);
    let data = client.data("kb_open", json!({ "document": "1", "base": "project" }));
    assert!(!data.to_string().contains(SECRET), "{data}");
    client.close();
    let report = update(&env, "project");
    assert_eq!(report.notes.len(), 1);
    assert!(report.notes[0].starts_with("not followed: 1 file in "), "{:?}", report.notes);
    check_no_secret(&env, "project", "project/.kb/kb.db");
}

/// The links of a commit and the paths in its database together lead nowhere, either.
#[cfg(unix)]
#[test]
fn links_and_paths_of_a_commit_do_not_lead_out_of_the_folders() {
    let env = project();
    symlink(env.path(".ssh"), env.path("project/src/sub")).unwrap();
    symlink(env.path(".ssh/id_rsa"), env.path("project/src/key.md")).unwrap();
    for (path, real_path) in [
        ("HOME/project/src/sub/id_rsa", "NULL"),
        ("HOME/project/src/key.md", "'KEYS/id_rsa'"),
        ("HOME/project/src/../../.ssh/id_rsa", "NULL"),
    ] {
        let sql = format!(
            "INSERT INTO document_paths (path, document_id, size_bytes, mtime_ns, real_path)
                SELECT '{path}', id, 1, 1, {real_path} FROM documents LIMIT 1;
             UPDATE documents SET source_path = '{path}', doc_type = 'note'"
        );
        change(&env, "project/.kb/kb.db", &sql);
        in_folder(&env, "project", &["update"]).expect(0);
        check_no_secret(&env, "project", "project/.kb/kb.db");
    }
    // The folder itself is another one now.
    fs::rename(env.path("project/src"), env.path("project/old")).unwrap();
    symlink(env.path(".ssh"), env.path("project/src")).unwrap();
    for sql in ["UPDATE roots SET real_path = NULL", "UPDATE roots SET real_path = 'KEYS'"] {
        change(&env, "project/.kb/kb.db", sql);
        in_folder(&env, "project", &["update"]).expect(0);
        check_no_secret(&env, "project", "project/.kb/kb.db");
    }
}

/// Finding N3: one permission was one for ever.
#[test]
fn a_permission_covers_the_folders_that_were_shown_with_their_options() {
    let other = project();
    let env = TestEnv::new();
    env.write(".ssh/id_rsa", format!("{SECRET} private key\n"));
    env.write("clone/src/valve.md", "# Valve\n\nThe valve is blue.\n");
    env.write("clone/.kb/kb.db", fs::read(other.path("project/.kb/kb.db")).unwrap());
    let src = env.path("clone/src").display().to_string();
    change(&env, "clone/.kb/kb.db", &format!("UPDATE roots SET path = '{src}', real_path = NULL"));
    let shown = in_folder(&env, "clone", &["base", "allow", "--files", "--yes"]).expect(0);
    let line = format!("followed from now on: {src} (new, no options)");
    assert!(shown.stderr.contains(&line), "{}", shown.stderr);
    change(&env, "clone/.kb/kb.db", KEYS);
    change(&env, "clone/.kb/kb.db", "UPDATE roots SET follow = 1 WHERE path LIKE '%/src'");
    env.write("clone/src/pump.md", "# Pump\n\nThe pump is red.\n");
    let report = update(&env, "clone");
    assert_eq!((report.added, report.notes.len()), (0, 2));
    let other_options = format!("{src} (links followed; you allowed it with no options)");
    assert!(report.notes[1].contains(&other_options), "{:?}", report.notes);
    check_no_secret(&env, "clone", "clone/.kb/kb.db");
    // The user sees the difference, and only that.
    in_folder(&env, "clone", &["remove", env.path(".ssh").to_str().unwrap(), "--yes"]).expect(0);
    let shown = in_folder(&env, "clone", &["base", "allow", "--files", "--yes"]).expect(0);
    assert!(shown.stderr.contains(&other_options), "{}", shown.stderr);
    assert_eq!(update(&env, "clone").added, 1);
    let again = in_folder(&env, "clone", &["base", "allow", "--files", "--yes"]).expect(0);
    assert!(!again.stderr.contains("followed from now on"), "{}", again.stderr);
}

/// Finding N4: any file with the id of a database made here was trusted after `kb restore`.
#[test]
fn a_restored_database_follows_only_what_the_user_allowed() {
    let env = project();
    env.write("notes/a.md", "# Gauge\n\nThe gauge is frozen.\n");
    env.ok(&["add", "notes"]);
    env.ok(&["backup", "evil.db"]);
    change(&env, "evil.db", KEYS);
    let shared = fs::read(env.path("project/.kb/kb.db")).unwrap();
    env.write("shared.db", shared);
    change(&env, "shared.db", KEYS);
    for file in ["evil.db", "shared.db"] {
        let restored = env.ok(&["restore", file]);
        assert!(restored.stderr.contains(".ssh (new, type note"), "{}", restored.text());
        let report = update(&env, "");
        assert!(report.notes.iter().any(|note| note.contains(".ssh")), "{:?}", report.notes);
        check_no_secret(&env, "", ".kb/kb.db");
        // The folder of the user is in the list of this database only.
        assert_eq!(report.unchanged, u64::from(file == "evil.db"));
    }
}

#[test]
fn paths_of_an_import_and_of_a_relocation_go_through_the_list() {
    let env = project();
    env.write("notes/a.md", "# Gauge\n\nThe gauge is frozen.\n");
    env.ok(&["add", "notes"]);
    let keys = env.path(".ssh").display().to_string();
    let export = env.ok(&["export"]).stdout;
    let (head, rest) = export.split_once('\n').unwrap();
    let mut head: Value = serde_json::from_str(head).unwrap();
    let mut root = head["roots"][0].clone();
    (root["path"], root["type"], root["follow"]) = (json!(keys), json!("note"), json!(true));
    head["roots"].as_array_mut().unwrap().push(root);
    env.write("forged.jsonl", format!("{head}\n{rest}"));
    let imported = env.ok(&["import", "forged.jsonl", "--trust-paths"]);
    assert!(imported.stderr.contains(&format!("not followed: {keys}")), "{}", imported.text());
    let report = update(&env, "");
    assert_eq!((report.unchanged, report.notes.len()), (1, 1));
    check_no_secret(&env, "", ".kb/kb.db");
    // The user names where a folder is now, but not its options.
    env.write("papers/b.md", "# Weir\n\nThe weir is closed.\n");
    env.ok(&["relocate", &keys, "papers", "--force"]);
    assert!(update(&env, "").notes[0].contains("(type note, links followed; you allowed"));
    fs::rename(env.path("notes"), env.path("letters")).unwrap();
    env.ok(&["relocate", "notes", "letters"]);
    env.write("letters/c.md", "# Lock\n\nThe lock is open.\n");
    assert_eq!(update(&env, "").added, 1);
}

/// Puts a home back to what an older version left: no list, and with `own` the line that kb made the database.
fn as_older(env: &TestEnv, database: &str, is_known: bool) {
    let db = Connection::open(env.path(database)).unwrap();
    let id: String = db
        .query_row("SELECT value FROM config WHERE key = 'base_id'", [], |row| row.get(0))
        .unwrap();
    let place = without_links(env.path(database).parent().unwrap());
    let line = format!("own {id} {}\n", place.display());
    fs::write(env.path(KNOWN_BASES), if is_known { &line } else { "" }).unwrap();
    if !is_known {
        db.execute("DELETE FROM config WHERE key = 'base_id'", []).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn folders_of_an_older_version_are_taken_over_once_unless_hidden_or_elsewhere() {
    for is_known in [true, false] {
        let env = project();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("b.md"), "# Weir\n\nThe weir is closed.\n").unwrap();
        env.write("notes/a.md", "# Gauge\n\nThe gauge is frozen.\n");
        env.write("named.md", "# Lock\n\nThe lock is open.\n");
        env.write(".hidden/c.md", "# Sluice\n\nThe sluice is new.\n");
        symlink(env.path(".hidden"), env.path("linked")).unwrap();
        let elsewhere = elsewhere.path().to_str().unwrap();
        env.ok(&["add", "notes", "named.md", ".hidden", "linked", elsewhere]);
        as_older(&env, ".kb/kb.db", is_known);
        let first = env.ok(&["search", "gauge"]);
        let notes = env.path("notes").display().to_string();
        assert!(
            first.stderr.contains(&format!("still followed: {notes} (new")),
            "{}",
            first.text()
        );
        assert!(first.stderr.contains(": named.md"), "{}", first.text());
        for asked in [&env.path(".hidden").display().to_string(), elsewhere, "linked (new"] {
            let line = first.stderr.lines().find(|line| line.contains(asked));
            let line = line.unwrap_or_else(|| panic!("{asked}: {}", first.text()));
            assert!(line.contains("not followed: ") && line.contains("kb base allow"), "{line}");
        }
        // Once: what is added by someone else from now on is asked for, wherever it is.
        change(&env, ".kb/kb.db", "INSERT INTO roots (path) VALUES ('HOME/project')");
        let report = update(&env, "");
        assert_eq!((report.added, report.unchanged, report.notes.len()), (0, 2, 4), "{report:?}");
        env.ok(&["base", "allow", "--files", "--yes"]);
        assert_eq!(update(&env, "").notes, Vec::<String>::new());
    }
}

#[cfg(unix)]
#[test]
fn an_update_on_a_terminal_asks_before_it_reads_what_was_added() {
    let env = TestEnv::new();
    env.write("notes/a.md", "# Gauge\n\nThe gauge is frozen.\n");
    env.write("more/b.md", "# Weir\n\nThe weir is closed.\n");
    env.ok(&["add", "notes"]);
    change(&env, ".kb/kb.db", "INSERT INTO roots (path) VALUES ('HOME/more')");
    let more = format!("not followed so far: {} (new", env.path("more").display());
    for (typed, is_read) in [("n\n", false), ("y\n", true)] {
        let shown = terminal::run(&env, &["update"], typed, false).expect(0);
        assert!(shown.stderr.contains(&more) && shown.stderr.contains("[y/N]"), "{}", shown.stderr);
        assert_eq!(shown.stdout.contains("1 added"), is_read, "{}", shown.text());
        assert_eq!(env.ok(&["search", "weir"]).text().contains("closed"), is_read);
    }
    let again = terminal::run(&env, &["update"], "", false).expect(0);
    assert!(!again.stderr.contains("[y/N]"), "{}", again.stderr);
    // A run that only compares changes nothing that is followed.
    change(&env, ".kb/kb.db", "INSERT INTO roots (path) VALUES ('HOME/third')");
    let compared = terminal::run(&env, &["update", "--dry-run"], "", false).expect(0);
    assert!(!compared.stderr.contains("[y/N]"), "{}", compared.stderr);
}

#[test]
fn nothing_is_taken_over_in_a_project_and_in_an_allowed_database() {
    let env = project();
    as_older(&env, "project/.kb/kb.db", true);
    let report = update(&env, "project");
    assert_eq!((report.unchanged, report.notes.len()), (0, 1));
    in_folder(&env, "project", &["base", "allow", "--files", "--yes"]).expect(0);
    assert_eq!(update(&env, "project").unchanged, 1);
    // An older version allowed all that such a database names, then and later.
    let lines = fs::read_to_string(env.path(KNOWN_BASES)).unwrap();
    let line = lines.lines().find(|line| line.starts_with("allowed")).unwrap();
    fs::write(env.path(KNOWN_BASES), line.replacen("allowed", "files", 1) + "\n").unwrap();
    assert_eq!(update(&env, "project").notes.len(), 1);
}

#[test]
fn what_the_user_names_is_followed_from_then_on_with_its_options() {
    let env = project();
    change(&env, "project/.kb/kb.db", "UPDATE roots SET follow = 1, doc_type = 'note'");
    assert_eq!(update(&env, "project").notes.len(), 1);
    // Naming it again is the permission, without the options that someone else gave it.
    in_folder(&env, "project", &["add", "src"]).expect(0);
    assert_eq!(update(&env, "project").notes, Vec::<String>::new());
    let db = Connection::open(env.path("project/.kb/kb.db")).unwrap();
    let options = "SELECT follow FROM roots WHERE doc_type IS NULL";
    assert_eq!(db.query_row(options, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    in_folder(&env, "project", &["add", "src", "--follow"]).expect(0);
    in_folder(&env, "project", &["add", "src"]).expect(0);
    assert_eq!(update(&env, "project").notes, Vec::<String>::new());
    // A server that writes does the same, and its open session follows the added file.
    env.write("project/pump.md", "# Pump\n\nThe pump is red.\n");
    let mut client = Client::start(&env, "project", &["--allow-write"]);
    let path = env.path("project/pump.md");
    client.data("kb_search", json!({ "query": "valve" }));
    client.data("kb_add", json!({ "paths": [path] }));
    let opened = client.data("kb_open", json!({ "document": path }));
    assert_eq!(opened["origin"], "file", "{opened}");
    client.close();
    // A folder that the user removed needs consent again when it comes back.
    in_folder(&env, "project", &["remove", "src", "--yes"]).expect(0);
    let src = env.path("project/src").display().to_string();
    change(&env, "project/.kb/kb.db", &format!("INSERT INTO roots (path) VALUES ('{src}')"));
    assert_eq!(update(&env, "project").notes.len(), 1);
}

#[test]
fn a_new_base_of_a_project_is_left_out_by_git() {
    let env = project();
    let made = in_folder(&env, "project", &["init", "--here"]).expect(0);
    assert!(!made.stderr.contains("git"), "{}", made.stderr);
    assert_eq!(fs::read_to_string(env.path("project/.kb/.gitignore")).unwrap(), "*\n");
    fs::create_dir(env.path("other")).unwrap();
    let made = in_folder(&env, "other", &["init", "--here"]).expect(0);
    assert!(made.stderr.contains("to share it on purpose, delete"), "{}", made.stderr);
}

#[test]
fn the_list_is_private_and_holds_for_one_place() {
    let env = project();
    let list = env.path(KNOWN_BASES);
    check_mode(&list, 0o600);
    env.write("notes/a.md", "# Gauge\n\nThe gauge is frozen.\n");
    env.ok(&["base", "add", "work"]);
    env.ok(&["--base", "work", "add", "notes"]);
    env.ok(&["base", "rename", "work", "office"]);
    let bases: Bases = contract::read(&env.ok(&["base", "list", "--format", "json"]));
    assert_eq!(bases.bases[1].follows_files, Some(true));
    assert!(env.ok(&["--base", "office", "update"]).stdout.contains("1 unchanged"));
    // A copy, and a database that has moved, are asked for.
    fs::rename(env.path(".kb/bases/office"), env.path("moved")).unwrap();
    env.kb(&["--data-dir", "moved", "update"]).expect(1);
    // Commands that add at the same time keep what each of them names.
    let folders: Vec<String> = (0..6).map(|n| format!("d{n}")).collect();
    for folder in &folders {
        env.write(&format!("{folder}/a.md"), format!("# {folder}\n\nThe word {folder}.\n"));
    }
    let runs: Vec<_> =
        folders.iter().map(|folder| env.command(&["add", folder]).spawn().unwrap()).collect();
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    assert_eq!(update(&env, "").unchanged, 6);
}
