//! Tests setting up, listing, tagging, removing and reindexing, and what applies to every command.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;

use serde_json::Value;

use crate::contract::{Document, Info, Search, Setup, read};
use crate::env::with_stdin;
use crate::env::{CORPUS, Output, TestEnv};
use crate::outputs;
use crate::permissions::check_mode;
use crate::printed_paths::without_links;
#[cfg(unix)]
use crate::terminal;

/// Every command with arguments that work on the sample database.
const COMMANDS: [&[&str]; 22] = [
    &["init"],
    &["init", "--status"],
    &["add", CORPUS],
    &["add", "--note", "One more note."],
    &["search", "frozen gauge"],
    &["search", "frozen gauge", "--fts-only", "--format=human"],
    &["list"],
    &["info", "4"],
    &["grep", "gauge"],
    &["similar", "4"],
    &["outline", "4"],
    &["show", "4", "--section", "winter"],
    &["open", "4"],
    &["tags"],
    &["tag", "4", "--add", "winter"],
    &["status"],
    &["backup", "copy.db", "--force"],
    &["reindex"],
    &["embed", "frozen gauge"],
    &["config"],
    &["config", "set", "search.default_top", "5"],
    &["remove", "8", "--yes"],
];

fn documents(env: &TestEnv, args: &[&str]) -> Vec<Document> {
    read(&env.ok(&[&["list", "--format=json"], args].concat()))
}

fn ids(documents: &[Document]) -> Vec<i64> {
    documents.iter().map(|document| document.id).collect()
}

#[test]
fn no_command_uses_the_network_once_the_model_is_there() {
    let mut env = TestEnv::real_with_corpus();
    let hub = TcpListener::bind("127.0.0.1:0").unwrap();
    hub.set_nonblocking(true).unwrap();
    env.set("HF_ENDPOINT", &format!("http://{}", hub.local_addr().unwrap()));
    for args in COMMANDS {
        env.ok(args);
        assert!(hub.accept().is_err(), "{args:?} asked the hub");
        assert!(!env.asked_python(), "{args:?} asked Python");
    }
}

#[test]
fn without_settings_every_command_works() {
    let env = TestEnv::real();
    // The first `add` does what `init` does.
    env.ok(&["add", CORPUS]);
    env.ok(&["add", "--note", "A note."]);
    env.ok(&["add", "--note", "Another note."]);
    for args in COMMANDS {
        env.ok(args);
    }
    for entry in fs::read_dir(env.path(".kb")).unwrap() {
        let name = entry.unwrap().file_name();
        let name = name.to_str().unwrap();
        // `config set` created the second one, `reindex` the third.
        let is_copy = name.starts_with("kb-before-reindex-");
        assert!(["kb.db", "config.yaml"].contains(&name) || is_copy, "{name}");
    }
}

#[test]
fn init_sets_everything_up() {
    let env = TestEnv::real();
    let output = env.ok(&["init"]);
    assert!(output.stderr.ends_with("Ready. Next, add documents with `kb add DIRECTORY`.\n"));
    let config =
        |key: &str| env.sql::<String>(&format!("SELECT value FROM config WHERE key = '{key}'"));
    assert_eq!(config("model_name"), "all-MiniLM-L6-v2");
    assert_eq!(config("embedding_dim"), "384");
    assert_eq!(config("model_max_tokens"), "256");
    assert_eq!(config("schema_version"), env.sql::<i64>("PRAGMA user_version").to_string());
    env.ok(&["init"]);
    // An unavailable download is reported with what was tried and what to do.
    let output = TestEnv::without_model().kb(&["init"]).expect(2);
    assert!(output.stderr.contains("error: cannot fetch "), "{}", output.stderr);
    assert!(output.stderr.contains("\"Machines without a network\""), "{}", output.stderr);
}

#[test]
fn adding_on_a_fresh_machine_reports_the_download() {
    let env = TestEnv::without_model();
    env.write("a.md", "# A\n\nwords\n");
    let output = env.ok(&["add", "a.md"]);
    let first = output.stderr.lines().next().unwrap();
    assert!(first.ends_with("is not installed: fetching it now, as `kb init` does"), "{first}");
    assert!(
        output
            .stderr
            .lines()
            .any(|line| line.starts_with("Fetching ") && line.contains(" MB) from "))
    );
    // The Python of the test is a script of a shell.
    assert!(cfg!(windows) || env.asked_python());
}

#[test]
fn the_database_is_in_the_data_directory() {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "default place"]);
    assert!(env.path(".kb/kb.db").is_file());
    env.ok(&["--data-dir", "flag", "add", "--note", "by flag"]);
    assert!(env.path("flag/kb.db").is_file());
    let dir = env.path("variable").display().to_string();
    env.kb_with(&[("KB_DATA_DIR", &dir)], &["add", "--note", "by variable"]).expect(0);
    assert!(env.path("variable/kb.db").is_file());
    check_mode(&env.path(".kb"), 0o700);
    check_mode(&env.database(), 0o600);
}

/// Returns the names of the commands that a help page lists: in groups by purpose, or below one
/// heading.
pub(crate) fn commands_in(help: &str) -> Vec<String> {
    let is_grouped = help.contains("\nFind:\n");
    let first = if is_grouped { "Find:\n" } else { "Commands:\n" };
    let lines = help.split(first).nth(1).unwrap().lines();
    let lines = lines.take_while(|line| *line != "Options:" && (is_grouped || !line.is_empty()));
    let commands = lines.filter_map(|line| line.strip_prefix("  "));
    commands.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// Requires that `-h` of a command fits on a terminal of 80 columns and 24 lines, and that `--help` lists more.
#[track_caller]
fn check_short_help(env: &TestEnv, words: &[&str]) {
    let mut command = env.command(&[words, &["-h"]].concat());
    let help = env.finish(command.env("COLUMNS", "80")).expect(0);
    assert!(help.stdout.lines().count() < 24, "{}", help.stdout);
    let all = format!("`{} --help` explains all options", [&["kb"], words].concat().join(" "));
    assert!(words.is_empty() || help.stdout.contains(&all), "{}", help.stdout);
    assert!(!help.stdout.contains("--data-dir"), "{}", help.stdout);
}

#[test]
fn every_command_has_help() {
    let env = TestEnv::new();
    let help = env.ok(&["--help"]).stdout;
    let names = commands_in(&help);
    let known: BTreeSet<String> = names.iter().cloned().collect();
    assert_eq!(known, outputs::commands());
    assert_eq!(known.len(), names.len());
    for name in names {
        for flag in ["--help", "-h"] {
            let help = env.ok(&[name.as_str(), flag]);
            assert!(help.stdout.contains(&format!("Usage: kb {name}")), "{}", help.stdout);
            assert_eq!(help.stderr, "");
        }
        check_short_help(&env, &[&name]);
    }
    check_short_help(&env, &[]);
    // Their subcommands also have help.
    for (group, num_commands) in [("cache", 1), ("config", 1), ("skill", 12), ("mcp", 1)] {
        let below = commands_in(&env.ok(&[group, "--help"]).stdout);
        assert!(below.len() >= num_commands, "{group}: {below:?}");
        for name in below.iter().filter(|name| *name != "help") {
            let help = env.ok(&[group, name, "--help"]).stdout;
            assert!(help.contains(&format!("Usage: kb {group} {name}")), "{help}");
            check_short_help(&env, &[group, name]);
        }
    }
    assert!(env.ok(&["--version"]).stdout.starts_with("kb 0."));
    // A command line without arguments gets the help, but nothing was done.
    assert!(env.kb::<&str>(&[]).expect(1).stderr.contains("Usage: kb"));
}

#[test]
fn the_words_that_a_list_shows_as_types_are_types_to_filter_by() {
    let env = TestEnv::new();
    env.write("d/page.html", "<html><body><p>The gauge froze.</p></body></html>");
    env.write("d/mail.eml", "From: ada@example.org\nSubject: Gauge\n\nThe gauge froze.\n");
    env.write("d/levels.csv", "hour,level\n1,210\n2,230\n");
    env.write("d/gauge.md", "# Gauge\n\nIt froze.\n");
    env.write("d/gauge.py", "def froze():\n    return True\n");
    env.ok(&["add", "d"]);
    let shown = env.ok(&["list", "--format=human"]).stdout;
    let words: Vec<&str> =
        shown.lines().skip(1).map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(words, ["markdown", "python", "csv", "eml", "html"]);
    let found = |word: &str| ids(&documents(&env, &["--type", word]));
    assert_eq!((found("csv"), found("eml"), found("html")), (vec![3], vec![4], vec![5]));
    assert_eq!((found("sheet"), found("mail"), found("web")), (vec![3], vec![4], vec![5]));
    assert_eq!((found("python"), found("code"), found("docx")), (vec![2], vec![2], vec![]));
    // As a type, it is all text with headings.
    assert_eq!(found("markdown"), [1, 3, 4, 5]);
    let of_mail = env.json(&["list", "--type=mail", "--format=json"]);
    assert_eq!(of_mail[0]["type"], "markdown");
    let hits = env.ok(&["search", "froze", "--fts-only", "--type=web", "--format=human"]).stdout;
    assert!(hits.contains("(1 match") && hits.contains("[html]"), "{hits}");
}

#[test]
fn lists_are_filtered_and_ordered_by_id() {
    let env = TestEnv::with_corpus();
    assert_eq!(ids(&documents(&env, &[])), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(ids(&documents(&env, &["--type", "code"])), [1, 2, 6]);
    assert_eq!(ids(&documents(&env, &["--tags", "station"])), [4, 7]);
    assert_eq!(ids(&documents(&env, &["--tags", "station,handbook"])), [4]);
    assert_eq!(ids(&documents(&env, &["--tags", "station", "--type", "note"])), [7]);
    assert_eq!(ids(&documents(&env, &["--path", CORPUS])), [1, 2, 3, 4, 5, 6]);
    assert!(documents(&env, &["--tags", "nobody"]).is_empty());
}

#[test]
fn tags_are_added_and_removed() {
    let env = TestEnv::with_corpus();
    let tags =
        |env: &TestEnv, id: i64| documents(env, &[]).remove(usize::try_from(id).unwrap() - 1).tags;
    env.ok(&["tag", "8", "--add", "b,a", "--add", "Größe"]);
    assert_eq!(tags(&env, 8), ["Größe", "a", "b"]);
    env.ok(&["tag", "8", "--add", "a", "--remove", "b,never-there"]);
    assert_eq!(tags(&env, 8), ["Größe", "a"]);
    let found: Search = read(&env.ok(&["search", "boat", "--tags", "Größe", "--fts-only"]));
    assert_eq!((found.returned, found.results[0].source.document_id), (1, 8));
    // A tag is deleted when no document has it any more.
    env.ok(&["tag", "8", "--remove", "Größe,a"]);
    assert_eq!(
        env.sql_column("SELECT name FROM tags ORDER BY name"),
        ["handbook", "sample", "station"]
    );
    for args in
        [["tag", "8", "--add", ","], ["tag", "99", "--add", "x"], ["tag", "x", "--add", "x"]]
    {
        env.kb(&args).expect(1);
    }
    env.kb(&["tag", "8"]).expect(1);
}

#[test]
fn removing_leaves_nothing_behind() {
    let env = TestEnv::with_corpus();
    let before: i64 = env.sql("SELECT count(*) FROM chunks");
    let gone = i64::from(documents(&env, &[])[3].chunk_count);
    env.ok(&["remove", "4", "--yes"]);
    assert_eq!(ids(&documents(&env, &[])), [1, 2, 3, 5, 6, 7, 8]);
    for table in ["chunks", "chunks_vec_rowids", "chunks_fts_docsize"] {
        let rows: i64 = env.sql(&format!("SELECT count(*) FROM {table}"));
        assert_eq!(rows, before - gone, "{table}");
    }
    for query in [
        "SELECT count(*) FROM document_tags WHERE document_id = 4",
        "SELECT count(*) FROM document_paths WHERE document_id = 4",
        "SELECT count(*) FROM tags WHERE name = 'handbook'",
    ] {
        assert_eq!(env.sql::<i64>(query), 0, "{query}");
    }
    let answer: Search = read(&env.ok(&["search", "mussels seiche", "--top", "100"]));
    assert!(answer.results.iter().all(|result| result.source.document_id != 4));
    // Its id is not reused.
    env.ok(&["remove", "8", "--yes"]);
    env.ok(&["add", "--note", "A new note."]);
    assert_eq!(ids(&documents(&env, &["--type", "note"])), [7, 9]);
    // Several ids: either all are known, or none is removed.
    env.kb(&["remove", "1", "99", "--yes"]).expect(1);
    env.ok(&["remove", "1", "2", "1", "--yes"]);
    assert_eq!(ids(&documents(&env, &[])), [3, 5, 6, 7, 9]);
}

#[test]
fn a_folder_is_removed_and_forgotten() {
    let env = TestEnv::new();
    for name in ["a.md", "below/b.md", "below/c.md"] {
        env.write(&format!("notes/{name}"), format!("# {name}\n\nThe gauge, as {name} has it.\n"));
    }
    let folder = env.path("notes");
    let folder = folder.to_str().unwrap();
    env.ok(&["add", folder]);
    // If a part of it is added again, this is reported.
    let below = format!("{folder}/below");
    let output = env.kb(&["remove", &below, "1", "--yes"]).expect(0);
    assert_eq!(output.stdout, "Removed 3 documents.\n");
    assert!(output.stderr.contains("will add 3 documents again"), "{}", output.stderr);
    env.ok(&["update"]);
    assert_eq!(documents(&env, &[]).len(), 3);
    let output = env.kb(&["remove", folder, "--yes"]).expect(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("Removed 3 documents.\n", ""));
    env.ok(&["update"]);
    assert!(documents(&env, &[]).is_empty());
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM roots"), 0);
    env.kb(&["remove", folder, "--yes"]).expect(1);
}

#[test]
fn removing_a_folder_keeps_documents_that_are_also_elsewhere() {
    let env = TestEnv::new();
    env.write("a/x.md", "# Gauge\n\nThe frozen gauge.\n");
    env.write("b/copy.md", "# Gauge\n\nThe frozen gauge.\n");
    env.write("a/y.md", "# Pump\n\nThe pump in the cellar.\n");
    env.ok(&["add", "a", "b"]);
    assert_eq!(documents(&env, &[]).len(), 2);
    assert_eq!(documents(&env, &["--path", "b"]).len(), 1);
    assert_eq!(documents(&env, &["--path", "a"]).len(), 2);
    assert_eq!(env.ok(&["remove", "a", "--yes"]).stdout, "Removed 1 document.\n");
    let left = documents(&env, &[]);
    assert_eq!(left.len(), 1);
    assert!(left[0].path.as_ref().unwrap().ends_with("b/copy.md"), "{left:?}");
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM document_paths"), 1);
    // With both folders it is removed.
    env.ok(&["add", "a"]);
    assert_eq!(env.ok(&["remove", "a", "b", "--yes"]).stdout, "Removed 2 documents.\n");
    assert!(documents(&env, &[]).is_empty());
}

#[test]
fn an_empty_path_is_refused() {
    let env = TestEnv::with_corpus();
    let num_documents = documents(&env, &[]).len();
    for args in [&["remove", "", "--yes"][..], &["update", ""], &["add", ""], &["backup", ""]] {
        let refused = env.kb(args).expect(1).stderr;
        assert!(refused.starts_with("error: "), "{args:?}: {refused}");
    }
    assert_eq!(documents(&env, &[]).len(), num_documents);
}

#[test]
fn a_number_is_an_id_and_not_part_of_a_title() {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "The gauge froze.", "--title", "Winter 2024"]);
    assert_eq!(
        env.kb(&["info", "2024"]).expect(1).stderr.lines().next(),
        Some("error: document not found: 2024")
    );
    env.ok(&["info", "winter 20"]);
}

#[test]
fn a_list_reports_filters_that_match_nothing() {
    let env = TestEnv::with_corpus();
    let none = env.ok(&["list", "--tags", "nobody"]).stdout;
    assert_eq!(none, "No documents match. `kb list` without filters shows all.\n");
    for (date, reason) in [
        ("2026-13", "there is no month 13"),
        ("2026-02-30", "February 2026 has 28 days"),
        ("2026-00-10", "there is no month 0"),
        ("9999-99-99", "there is no month 99"),
        ("last-week", "not a date\nhint: write 2026-11-01, 2026-11 or 2026"),
    ] {
        let refused = env.kb(&["list", "--since", date]).expect(1).stderr;
        assert!(refused.contains(reason), "{date}: {refused}");
    }
    env.ok(&["list", "--since", "2024-02-29", "--until", "2025-12"]);
}

#[test]
fn what_is_new_is_listed_found_and_exported() {
    let env = TestEnv::with_corpus();
    let database = rusqlite::Connection::open(env.database()).unwrap();
    database.execute("UPDATE documents SET created_at = '2001-02-03T04:05:06Z'", []).unwrap();
    env.ok(&["add", "--note", "The gauge has a new float."]);
    let count = |args: &[&str]| env.json(args).as_array().unwrap().len();
    assert_eq!(count(&["list", "--added-since=2001-02-04", "--format=json"]), 1);
    assert!(count(&["list", "--added-since=2001-02-03", "--format=json"]) > 1);
    for leg in ["--fts-only", "--vec-only", "--top=20"] {
        let found = env.json(&["search", "gauge", "--added-since=2002", leg]);
        let titles: Vec<&str> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["source"]["title"].as_str().unwrap())
            .collect();
        assert_eq!(titles, ["The gauge has a new float."], "{leg}");
    }
    assert_eq!(env.ok(&["export", "--added-since=2002"]).stdout.lines().count(), 2);
    env.ok(&["tag", "--added-since=2002", "--add=new"]);
    assert_eq!(count(&["list", "--tags=new", "--format=json"]), 1);
    assert!(env.kb(&["list", "--added-since=soon"]).expect(1).stderr.contains("not a date"));
}

#[cfg(unix)]
#[test]
fn removing_asks_only_at_a_terminal() {
    let env = TestEnv::with_corpus();
    let output = env.kb(&["remove", "7"]).expect(1);
    assert!(output.stderr.contains("requires `--yes`"), "{}", output.stderr);
    with_stdin(&env, &["remove", "7"], "y\n").expect(1);
    assert_eq!(documents(&env, &[]).len(), 8);
    for typed in ["n\n", "\n", "\u{4}", "what\n"] {
        let shown = terminal::run(&env, &["remove", "7"], typed, false).expect(0);
        assert!(shown.stderr.contains("Remove 'Charger' and its 1 chunk? [y/N] "), "{shown:?}");
        assert_eq!(shown.stdout, "Removed 0 documents.\n");
    }
    let shown = terminal::run(&env, &["remove", "7", "8"], "y\nYES\n", false).expect(0);
    assert_eq!(shown.stdout, "Removed 2 documents.\n");
    assert_eq!(documents(&env, &[]).len(), 6);
}

#[test]
fn info_shows_one_document() {
    let env = TestEnv::with_corpus();
    let info: Info = read(&env.ok(&["info", "5", "--format", "json"]));
    assert_eq!(info.title, "Field Guide to the Harbour Tide Station");
    assert_eq!(info.metadata.author.as_deref(), Some("Maren Voss"));
    assert_eq!(info.metadata.page_count, Some(5));
    let output = env.kb(&["info", "99"]).expect(1);
    assert_eq!(output.stderr, "error: document not found: 99\nhint: `kb list` shows all ids\n");
}

#[test]
fn reindexing_with_the_same_model_does_not_change_answers() {
    let env = TestEnv::real_with_corpus();
    let args = ["search", "what to do when the gauge is frozen", "--top", "24"];
    let before = env.ok(&args).stdout;
    let output = env.ok(&["reindex"]);
    let num_chunks: i64 = env.sql("SELECT count(*) FROM chunks");
    assert_eq!(
        output.stdout,
        format!("Embedded {num_chunks} chunks with all-MiniLM-L6-v2 (384 dim).\n")
    );
    assert_eq!(env.ok(&args).stdout, before);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM chunks_vec_next"), 0);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM chunks_vec_rowids"), num_chunks);
}

#[test]
fn the_configured_model_and_the_databases_model_are_both_shown() {
    let env = TestEnv::real_with_corpus();
    let shown = || {
        let setup: Setup = read(&env.ok(&["init", "--status", "--format", "json"]));
        (setup.model_configured, setup.model_name.unwrap())
    };
    let default = "all-MiniLM-L6-v2".to_owned();
    assert_eq!(shown(), (default.clone(), default.clone()));
    env.write(".kb/config.yaml", "embedding:\n  model: bge-small-en-v1.5\n");
    assert_eq!(shown(), ("bge-small-en-v1.5".to_owned(), default));
    let text = env.ok(&["init", "--status"]).stdout;
    for line in [
        "Model configured:    bge-small-en-v1.5",
        "Database built with: all-MiniLM-L6-v2 (384 dim, int8)",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn a_model_other_than_the_databases_is_refused() {
    let env = TestEnv::real_with_corpus();
    let before = fs::read(env.database()).unwrap();
    let message = "model mismatch: DB uses 'all-MiniLM-L6-v2' (384 dim) but config specifies 'bge-small-en-v1.5'";
    let hint = "run `kb reindex --model bge-small-en-v1.5` to switch models";
    let vars = [("KB_MODEL", "bge-small-en-v1.5")];
    for args in [&["search", "ice"][..], &["search", "ice", "--vec-only"]] {
        let error = env.kb_with(&vars, args).expect(1).json_error();
        assert_eq!((&error["error"], &error["fix"]), (&Value::from(message), &Value::from(hint)));
    }
    for args in [&["add", CORPUS][..], &["add", "--note", "A note."]] {
        let output = env.kb_with(&vars, args).expect(1);
        assert_eq!(output.stderr, format!("error: {message}\nhint: {hint}\n"));
    }
    assert_eq!(env.kb_with(&vars, &["embed", "ice"]).expect(1).json_error()["error"], message);
    assert_eq!(fs::read(env.database()).unwrap(), before, "nothing is written");
    // Keywords need no model, so this still works.
    env.kb_with(&vars, &["search", "ice", "--fts-only"]).expect(0);
    env.write(".kb/config.yaml", "embedding:\n  model: bge-small-en-v1.5\n");
    assert_eq!(env.kb(&["search", "ice"]).expect(1).json_error()["error"], message);
    // Another precision is another binding.
    env.write(".kb/config.yaml", "embedding:\n  precision: fp32\n");
    let error = env.kb(&["search", "ice"]).expect(1).json_error().to_string();
    assert!(
        error.contains("'all-MiniLM-L6-v2 fp32'") && error.contains("'all-MiniLM-L6-v2 int8'"),
        "{error}"
    );
}

#[test]
fn a_backup_is_a_working_database_and_replaces_files_only_on_request() {
    let env = TestEnv::with_corpus();
    let copied = env.json(&["backup", "copy.db", "--format", "json"]);
    let file = without_links(&env.path("copy.db"));
    assert_eq!(copied["file"].as_str(), file.to_str());
    assert_eq!(copied["total_chunks"], env.json(&["status", "--format", "json"])["total_chunks"]);
    assert_eq!(env.json(&["backup", "--verify", "copy.db", "--format", "json"]), copied);
    assert!(env.ok(&["backup", "--verify", "copy.db"]).text().starts_with("Verified "));
    // A read-only file is also checked.
    let mut rights = fs::metadata(&file).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(&file, rights.clone()).unwrap();
    env.ok(&["backup", "--verify", "copy.db"]);
    #[expect(clippy::permissions_set_readonly_false, reason = "it is the test's own file")]
    rights.set_readonly(false);
    fs::set_permissions(&file, rights).unwrap();

    let before = fs::read(&file).unwrap();
    let refused = env.kb(&["backup", "copy.db"]).expect(1).stderr;
    assert!(refused.contains("copy.db already exists\nhint: "), "{refused}");
    assert_eq!(fs::read(&file).unwrap(), before);

    // On request it replaces a backup, also behind a link, but no other file.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&file, env.path("latest.db")).unwrap();
        env.ok(&["backup", "latest.db", "--force"]);
        assert!(env.path("latest.db").is_symlink());
    }
    env.write("letter.txt", "Dear Marit");
    fs::create_dir(env.path("folder")).unwrap();
    for name in ["letter.txt", "folder"] {
        let refused = env.kb(&["backup", name, "--force"]).expect(1).stderr;
        assert!(refused.contains("is not a database; it was not replaced"), "{refused}");
    }
    assert_eq!(fs::read_to_string(env.path("letter.txt")).unwrap(), "Dear Marit");
    // It does not replace the database itself either, by any of its names.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(env.path(".kb"), env.path("linked")).unwrap();
        let own = ["--data-dir", "linked", "backup", "linked/kb.db", "--force"];
        assert!(env.kb(&own).expect(1).stderr.contains("already exists"));
    }
    let before = fs::read(&file).unwrap();

    let query = ["search", "frozen gauge"];
    let answer = env.ok(&query).stdout;
    env.ok(&["remove", "1", "2", "3", "4", "--yes"]);
    assert_ne!(env.ok(&query).stdout, answer);
    fs::copy(&file, env.database()).unwrap();
    assert_eq!(env.ok(&query).stdout, answer);

    fs::write(&file, &before[..before.len() / 2]).unwrap();
    let broken = env.kb(&["backup", "--verify", "copy.db", "--format", "json"]).expect(2);
    assert_eq!(broken.json_error()["code"], "corrupt");
    env.kb(&["backup", "--verify", "nowhere.db"]).expect(1);
}

#[test]
fn the_database_itself_is_never_the_backup() {
    let env = TestEnv::with_corpus();
    let before = fs::read(env.database()).unwrap();
    let database = env.database();
    env.kb(&["backup", "--force", database.to_str().unwrap()]).expect(1);
    assert_eq!(fs::read(env.database()).unwrap(), before);
}

#[test]
fn the_cache_is_shown_and_unused_files_are_removed() {
    let env = TestEnv::real();
    let shown = env.json(&["cache", "--format", "json"]);
    let parts = shown["parts"].as_array().unwrap();
    for kind in ["graph", "runtime"] {
        let is_used = |part: &Value| part["kind"] == kind && part["in_use"] == true;
        assert!(parts.iter().any(is_used) || kind == "runtime", "{shown}");
    }
    let total: u64 = parts.iter().map(|part| part["size_bytes"].as_u64().unwrap()).sum();
    assert_eq!(shown["size_bytes"], total);

    let mut env = TestEnv::without_model();
    env.set("KB_CACHE_DIR", env.path("cache").to_str().unwrap());
    assert!(env.ok(&["cache"]).stdout.starts_with("0.0 MB in "));
    assert_eq!(env.ok(&["cache", "clean"]).stdout, "Freed 0.0 MB, 0.0 MB left.\n");
    env.write("cache/graphs/0123/model.onnx", vec![0; 1_500_000]);
    env.write("cache/tmp/1/half", "x");
    let dry = ["cache", "clean", "--dry-run"];
    insta::assert_snapshot!(env.ok(&dry).text(), @"
    would remove: graph 0123, 1.5 MB
    would remove: leftover 1, 0.0 MB
    Would free 1.5 MB, 0.0 MB left.
    ");
    let error = env.kb(&["cache", "clean"]).expect(1);
    assert!(error.stderr.contains("requires `--yes`"), "{}", error.stderr);
    assert!(env.path("cache/graphs/0123/model.onnx").exists());
    let cleaned = env.json(&["cache", "clean", "--yes", "--format", "json"]);
    assert_eq!(cleaned["freed_bytes"], 1_500_001);
    assert!(!env.path("cache/graphs/0123").exists() && !env.path("cache/tmp/1").exists());
}

/// A mistyped folder or tag looked like an answer: nothing found.
#[test]
fn a_path_or_tag_that_no_document_has_is_noted() {
    let env = TestEnv::with_corpus();
    let nowhere =
        format!("note: there is no document at or below {}\n", env.path("nowhere").display());
    let no_tag = "note: no document has the tag `nosuch`\n";
    let together = "note: no document passes all filters together\n";
    for command in [&["list"][..], &["search", "tide", "--fts-only"], &["search", "tide"]] {
        let run = |args: &[&str]| env.ok(&[command, &["--format", "json"], args].concat());
        assert_eq!(run(&["--path", "nowhere"]).stderr, nowhere);
        assert_eq!(run(&["--tags", "station,nosuch"]).stderr, no_tag);
        assert_eq!(
            run(&["--tags", "nosuch", "--path", "nowhere"]).stderr,
            nowhere.clone() + no_tag
        );
        // The answer is the same as for any other filter that no document passes, but for the notes.
        let (absent, other) =
            (run(&["--tags", "nosuch"]), run(&["--type", "pdf", "--tags", "station"]));
        let without_notes = |output: &Output| {
            let mut answer = output.json();
            answer.as_object_mut().map(|answer| answer.remove("notes"));
            answer
        };
        assert_eq!(without_notes(&absent), without_notes(&other));
        assert_eq!(other.stderr, together);
        // Each is there, only not in one document.
        assert_eq!(run(&["--tags", "handbook", "--path", "nowhere"]).stderr, nowhere);
        let output = run(&["--tags", "station", "--path", CORPUS, "--type", "pdf"]);
        assert_eq!(output.stderr, together);
        assert_eq!(run(&["--tags", "nosuch", "-q"]).stderr, "");
    }
    env.write("queries.txt", "tide\nice\n");
    let batch = ["search", "--batch", "queries.txt", "--fts-only", "--tags", "nosuch"];
    assert_eq!(env.ok(&batch).stderr, no_tag);
}

#[test]
fn a_withdrawn_option_works_with_one_warning_and_is_out_of_help() {
    let env = TestEnv::with_corpus();
    env.write("more/a.md", "# More\n\nThe more the better.\n");
    let added = env.kb(&["add", "more", "--recursive"]).expect(0);
    assert!(added.stderr.contains("\nAdded 1 document."), "{}", added.stderr);
    let warning =
        "warning: --recursive is deprecated and will be removed in the next version: leave it out;";
    assert!(added.stderr.starts_with(warning), "{}", added.stderr);
    assert_eq!(added.stderr.matches("warning:").count(), 1);
    for (command, option) in [("add", "--recursive"), ("search", "--open"), ("find", "--vec-only")]
    {
        let help = env.ok(&[command, "--help"]).stdout;
        assert!(!help.contains(&format!("{option} ")), "{help}");
    }
}
