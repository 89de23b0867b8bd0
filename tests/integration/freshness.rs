//! Tests that no answer shows a text as current whose file has changed, moved or is missing.

use std::collections::BTreeMap;
use std::fs::{self, File};
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::env::{CORPUS, TestEnv};
use crate::mcp_client::Client;
use crate::patience::{comes_true, output_of};
#[cfg(unix)]
use crate::terminal;
use crate::word_model::word_env;

/// A home with three files in an added folder.
fn three() -> TestEnv {
    let env = word_env();
    for (name, word) in [("a", "anchor"), ("b", "sail"), ("c", "valve")] {
        env.write(&format!("notes/{name}.md"), format!("# {name}\n\n{word} zephyrine"));
    }
    env.ok(&["add", "notes"]);
    env
}

/// Returns the names of the shown files with their marks.
fn stale(answer: &Value) -> BTreeMap<String, Option<String>> {
    let results = answer["results"].as_array().unwrap();
    let sources = results.iter().map(|result| &result["source"]);
    sources
        .filter_map(|source| {
            assert!(source.as_object().unwrap().contains_key("stale"), "{source}");
            let name = source["path"].as_str()?.rsplit('/').next()?;
            Some((name.to_owned(), source["stale"].as_str().map(str::to_owned)))
        })
        .collect()
}

fn marks(a: Option<&str>, b: Option<&str>, c: Option<&str>) -> BTreeMap<String, Option<String>> {
    [("a.md", a), ("b.md", b), ("c.md", c)]
        .into_iter()
        .map(|(name, mark)| (name.to_owned(), mark.map(str::to_owned)))
        .collect()
}

#[test]
fn changed_and_missing_files_are_marked_in_json() {
    let env = three();
    let search = || env.json(&["search", "zephyrine"]);
    assert_eq!(stale(&search()), marks(None, None, None));
    env.write("notes/a.md", "# a\n\nanother text");
    fs::remove_file(env.path("notes/b.md")).unwrap();
    let expected = marks(Some("changed"), Some("missing"), None);
    assert_eq!(stale(&search()), expected);
    for args in [
        &["search", "zephyrine", "--budget", "500"][..],
        &["search", "zephyrine", "--context", "1"],
        &["search", "zephyrine", "--fts-only"],
    ] {
        assert_eq!(stale(&env.json(args)), expected, "{args:?}");
    }
    let similar = env.json(&["similar", "c.md", "--format=json"]);
    let found = stale(&similar);
    assert_eq!(found["a.md"].as_deref(), Some("changed"), "{similar}");
    assert_eq!(found["b.md"].as_deref(), Some("missing"), "{similar}");
    let queries = env.write("queries", "zephyrine\n{\"query\": \"zephyrine\", \"budget\": 400}\n");
    let batch = env.ok(&["search", "--batch", queries.to_str().unwrap()]).stdout;
    assert_eq!(batch.lines().count(), 2);
    for line in batch.lines() {
        assert_eq!(stale(&serde_json::from_str(line).unwrap()), expected);
    }
    env.ok(&["update", "--prune", "--force"]);
    let found = stale(&search());
    assert!(found.values().all(Option::is_none), "{found:?}");
}

#[test]
fn people_see_a_mark_and_one_line_of_advice() {
    let env = three();
    let human = |args: &[&str]| env.ok(&[&["search", "zephyrine"], args].concat());
    assert!(!human(&["--format", "human"]).stdout.contains("changed"));
    env.write("notes/a.md", "# a\n\nanother text");
    let shown = human(&["--format", "human"]).stdout;
    let marked: Vec<&str> = shown.lines().filter(|line| line.ends_with(" [changed]")).collect();
    assert!(marked.len() == 1 && marked[0].contains("] a "), "{shown}");
    let advice = "1 of these files has changed since it was indexed; `kb update` reads it again.\n";
    assert!(shown.ends_with(advice), "{shown}");
    env.write("notes/b.md", "# b\n\nanother text");
    let passages = human(&["--format", "human", "--budget", "300"]).stdout;
    assert_eq!(passages.matches(" [changed]\n").count(), 2, "{passages}");
    assert!(passages.contains("2 of these files have changed since they were"), "{passages}");
    fs::remove_file(env.path("notes/b.md")).unwrap();
    let md = human(&["--format", "md"]);
    assert_eq!(md.stdout.matches(", *changed since it was indexed* (").count(), 1, "{}", md.text());
    assert_eq!(md.stdout.matches(", *its file is missing* (").count(), 1, "{}", md.text());
    assert!(md.stdout.contains("\n2 of these files have changed"), "{}", md.text());
    for args in [&["--format", "paths"][..], &["--format", "paths", "-0"]] {
        let paths = human(args);
        assert!(!paths.stdout.contains("changed"), "{}", paths.text());
        let note = |name: &str, verdict: &str| {
            format!("warning: {} {verdict}\n", env.path(format!("notes/{name}")).display())
        };
        let changed = note("a.md", "has changed since it was indexed");
        assert!(paths.stderr.contains(&changed), "{}", paths.text());
        assert!(paths.stderr.contains(&note("b.md", "is missing")), "{}", paths.text());
    }
    let similar = env.ok(&["similar", "c.md"]).stdout;
    assert!(similar.contains(" [changed]\n") && similar.contains(" [missing]\n"), "{similar}");
}

#[test]
fn a_stale_best_hit_is_never_of_high_confidence() {
    let env = TestEnv::real();
    for file in fs::read_dir(CORPUS).unwrap() {
        let file = file.unwrap();
        env.write(&format!("notes/{}", file.file_name().display()), fs::read(file.path()).unwrap());
    }
    env.ok(&["add", "notes"]);
    let confidence = |args: &[&str]| {
        let answer = env.json(&[&["search", "what to do when the gauge is frozen"], args].concat());
        answer["confidence"].as_str().unwrap().to_owned()
    };
    assert_eq!(confidence(&[]), "high");
    let handbook = env.path("notes/station-handbook.md");
    let before = fs::read_to_string(&handbook).unwrap();
    fs::write(&handbook, format!("{before}\nOne more line.\n")).unwrap();
    assert_eq!(confidence(&[]), "low");
    assert_eq!(confidence(&["--budget", "200"]), "low");
    env.ok(&["update"]);
    assert_eq!(confidence(&[]), "high");
}

#[test]
fn a_touched_file_and_a_note_are_fresh() {
    let env = three();
    env.ok(&["add", "--note", "the zephyrine anchor lies in the cellar"]);
    let file = File::options().write(true).open(env.path("notes/a.md")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let answer = env.json(&["search", "zephyrine"]);
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert!(results.iter().all(|result| result["source"]["stale"].is_null()), "{answer}");
}

#[cfg(unix)]
#[test]
fn a_copy_and_a_link_of_the_user_are_followed() {
    let env = three();
    env.write("elsewhere/a.md", "# a\n\nanchor zephyrine");
    symlink(env.path("elsewhere/a.md"), env.path("link.md")).unwrap();
    env.ok(&["add", "link.md", "elsewhere/a.md"]);
    let of_a = || stale(&env.json(&["search", "anchor zephyrine", "--top", "1"]));
    fs::remove_file(env.path("notes/a.md")).unwrap();
    assert_eq!(of_a()["a.md"], None, "a copy has its bytes");
    fs::write(env.path("elsewhere/a.md"), "# a\n\nother text").unwrap();
    assert_eq!(of_a()["a.md"].as_deref(), Some("changed"));
    fs::remove_file(env.path("elsewhere/a.md")).unwrap();
    assert_eq!(of_a()["a.md"].as_deref(), Some("missing"));
}

/// Returns the texts of the results, best first.
fn texts(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|result| result["text"].as_str().unwrap()).collect()
}

/// A home whose searches may take a minute to read changed files again.
fn refreshing(freshness: &str) -> TestEnv {
    let mut env = three();
    env.set("KB_SEARCH_FRESHNESS", freshness);
    env.set("KB_SEARCH_REFRESH_MS", "60000");
    env
}

#[test]
fn a_refresh_shows_the_new_sentence_and_leaves_missing_files_marked() {
    for (freshness, flags) in [("mark", &["--fresh"][..]), ("refresh", &[])] {
        let env = refreshing(freshness);
        env.ok(&["tag", "4", "--add", "mine"]);
        env.write("notes/a.md", "# a\n\nanchor zephyrine winter paint");
        fs::remove_file(env.path("notes/b.md")).unwrap();
        let answer = env.json(&[&["search", "anchor zephyrine"], flags].concat());
        assert_eq!(stale(&answer), marks(None, Some("missing"), None));
        assert_eq!(texts(&answer)[0], "# a\n\nanchor zephyrine winter paint");
        assert_eq!(answer["results"][0]["source"]["document_id"], 4);
        assert_eq!(answer["results"][0]["source"]["tags"], json!(["mine"]));
        env.write("notes/a.md", "# a\n\nanchor zephyrine summer paint");
        let budget = [&["search", "anchor zephyrine", "--budget", "300"], flags].concat();
        assert!(texts(&env.json(&budget))[0].ends_with("summer paint"));
        let human = [&["search", "anchor zephyrine", "--format=human"], flags].concat();
        env.write("notes/a.md", "# a\n\nanchor zephyrine autumn paint");
        let shown = env.ok(&human).stdout;
        assert!(shown.contains("autumn paint") && !shown.contains("[changed]"), "{shown}");
        let is_known = env.sql::<i64>("SELECT count(*) FROM documents WHERE id > 3");
        assert_eq!(is_known, 3, "nothing new is added");
    }
}

#[test]
fn a_refresh_never_fails_a_search() {
    let env = refreshing("refresh");
    let search = || env.json(&["search", "zephyrine", "--fts-only"]);
    // Emptied: `kb update` would report it.
    env.write("notes/a.md", "");
    assert_eq!(stale(&search()), marks(Some("changed"), None, None));
    assert!(!env.path(".kb/ingest-errors.log").exists());
    // Another process is writing, and is waited for no longer than the setting says.
    let mut env = env;
    env.set("KB_SEARCH_REFRESH_MS", "50");
    env.write("notes/b.md", "# b\n\nsail zephyrine winter");
    let writer = rusqlite::Connection::open(env.database()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    // A command that waits for as long as any has a start, and ends later nevertheless.
    let start = |args: &[&str]| -> Child {
        let mut command = env.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut patient = start(&["tag", "1", "--add", "late"]);
    thread::sleep(Duration::from_millis(100));
    let mut impatient = start(&["search", "zephyrine", "--fts-only"]);
    assert!(comes_true(|| impatient.try_wait().unwrap().is_some()));
    assert!(patient.try_wait().unwrap().is_none(), "the search waited as long");
    patient.kill().unwrap();
    patient.wait().unwrap();
    let locked = output_of(&env, impatient).expect(0).json();
    assert_eq!(stale(&locked), marks(Some("changed"), Some("changed"), None));
    drop(writer);
    // The model is not on this machine, and is not fetched.
    env.set("KB_EMBEDDING_MODEL_DIR", env.path("nowhere").to_str().unwrap());
    let without = env.json(&["search", "zephyrine", "--fts-only"]);
    assert_eq!(stale(&without), marks(Some("changed"), Some("changed"), None));
}

#[test]
fn a_file_that_takes_too_long_keeps_its_mark() {
    let env = refreshing("refresh");
    let long: String = (0..40_000).map(|number| format!("zephyrine anchor{number}\n\n")).collect();
    env.write("notes/a.md", format!("# a\n\nanchor zephyrine\n\n{long}"));
    let answer = env.kb_with(&[("KB_SEARCH_REFRESH_MS", "1")], &["search", "zephyrine"]).json();
    assert_eq!(stale(&answer)["a.md"].as_deref(), Some("changed"));
}

/// One document is marked like the hits of a search.
#[test]
fn a_changed_or_missing_file_is_marked_where_one_document_is_shown() {
    let env = three();
    let commands = |name: &'static str| {
        [vec!["show", name], vec!["info", name], vec!["why", "zephyrine", name]]
    };
    let marks = |env: &TestEnv, name: &'static str| {
        commands(name)
            .map(|args| env.json(&[&args[..], &["--format=json"]].concat())["stale"].clone())
    };
    let human = |env: &TestEnv, name: &'static str| {
        commands(name).map(|args| env.ok(&[&args[..], &["--format=human"]].concat()).text())
    };
    assert_eq!(marks(&env, "a.md"), [Value::Null, Value::Null, Value::Null]);
    assert!(human(&env, "a.md").iter().all(|text| !text.contains("since it was indexed")));
    env.write("notes/a.md", "# a\n\nanother text");
    fs::remove_file(env.path("notes/b.md")).unwrap();
    assert_eq!(marks(&env, "a.md"), [json!("changed"), json!("changed"), json!("changed")]);
    assert_eq!(marks(&env, "b.md"), [json!("missing"), json!("missing"), json!("missing")]);
    for text in human(&env, "a.md") {
        assert!(
            text.contains("has changed since it was indexed; `kb update` reads it again"),
            "{text}"
        );
    }
    for text in human(&env, "b.md") {
        assert!(text.contains("is missing; `kb update` finds out whether it was moved"), "{text}");
    }
    assert_eq!(env.ok(&["show", "a.md"]).stdout, "# a\n\nanchor zephyrine\n");
    let mut server = Client::start(&env, "", &[]);
    for tool in ["kb_show", "kb_info"] {
        assert_eq!(server.data(tool, json!({ "document": "a.md" }))["stale"], "changed");
    }
    drop(server);
    let mut env = env;
    env.set("KB_SEARCH_FRESHNESS", "off");
    assert_eq!(marks(&env, "a.md"), [Value::Null, Value::Null, Value::Null]);
}

#[test]
fn off_looks_at_no_file() {
    let env = refreshing("off");
    fs::remove_file(env.path("notes/b.md")).unwrap();
    assert_eq!(stale(&env.json(&["search", "zephyrine"])), marks(None, None, None));
    let similar = env.json(&["similar", "c.md", "--format=json"]);
    assert!(stale(&similar).values().all(Option::is_none), "{similar}");
}

#[test]
fn a_server_refreshes_only_if_it_may_write() {
    let env = refreshing("refresh");
    for (number, args, mark) in [(1, &[][..], Some("changed")), (2, &["--allow-write"], None)] {
        let text = format!("# a\n\nanchor zephyrine edition{number}");
        env.write("notes/a.md", &text);
        let mut server = Client::start(&env, "", args);
        let answer = server.data("kb_search", json!({ "query": "anchor zephyrine" }));
        assert_eq!(stale(&answer)["a.md"].as_deref(), mark, "{args:?}");
        assert_eq!(texts(&answer)[0] == text, mark.is_none(), "{args:?}: {answer}");
    }
}

/// Makes the last update this many days old.
fn age(env: &TestEnv, days: u32) {
    let db = rusqlite::Connection::open(env.database()).unwrap();
    let sql = "UPDATE config SET value = strftime('%Y-%m-%dT%H:%M:%SZ', 'now', ?1)
               WHERE key = 'last_update'";
    assert_eq!(db.execute(sql, [format!("-{days} days")]).unwrap(), 1);
}

#[test]
fn the_last_complete_update_is_in_the_status() {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "the anchor lies in the cellar"]);
    let status = || env.json(&["status", "--format=json"])["last_update"].clone();
    assert_eq!(status(), Value::Null, "there are notes only");
    assert!(env.ok(&["status"]).stdout.contains("Updated:   not recorded yet\n"));
    env.write("notes/a.md", "# a\n\nanchor");
    env.write("other/b.md", "# b\n\nsail");
    env.ok(&["add", "notes"]);
    assert!(status().is_string(), "it was the only folder");
    env.ok(&["add", "other"]);
    age(&env, 5);
    let old = status();
    assert!(env.ok(&["status"]).stdout.contains(", 5 days ago\n"));
    // A part, a look and an answer are no complete update.
    for args in [
        &["add", "notes"][..],
        &["update", "notes"],
        &["update", "--dry-run"],
        &["search", "anchor", "--fresh"],
        &["add", "--note", "a new note"],
    ] {
        env.ok(args);
        assert_eq!(status(), old, "{args:?}");
    }
    for args in [&["update"][..], &["add", "notes", "other"], &["add", "."]] {
        age(&env, 5);
        assert_eq!(env.ok(args).status, 0);
        assert!(status().as_str() > old.as_str(), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_search_on_a_terminal_reminds_of_an_old_update() {
    let mut env = three();
    let search = ["search", "zephyrine", "--format", "human", "--no-pager"];
    let shown = |env: &mut TestEnv, days: &str| {
        env.set("KB_FRESHNESS_DAYS", days);
        terminal::run(env, &search, "", true).expect(0).stderr
    };
    let reminder = "the last update was 42 days ago; run `kb update`";
    assert!(!shown(&mut env, "30").contains("last update"));
    age(&env, 42);
    assert_eq!(shown(&mut env, "30").matches(reminder).count(), 1);
    assert!(!shown(&mut env, "42").contains("last update"));
    assert!(!shown(&mut env, "0").contains("last update"));
    env.set("KB_FRESHNESS_DAYS", "30");
    assert!(!env.ok(&search).stderr.contains("last update"), "no terminal");
}

/// Gives the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Whether a shown text is what the file at its path says.
fn is_current(result: &Value) -> bool {
    let path = result["source"]["path"].as_str().unwrap();
    let text = result["text"].as_str().unwrap();
    fs::read_to_string(path).is_ok_and(|found| found.contains(text))
}

/// Requires a mark at each result that its file does not say, and nowhere else.
#[track_caller]
fn check_json(answer: &Value, what: &str) -> Vec<bool> {
    let results = answer["results"].as_array().unwrap();
    assert!(!results.is_empty(), "{what}: {answer}");
    let current: Vec<bool> = results.iter().map(is_current).collect();
    for (result, is_current) in results.iter().zip(&current) {
        assert_eq!(result["source"]["stale"].is_null(), *is_current, "{what}: {result}");
    }
    if !current[0] {
        assert_ne!(answer["confidence"], "high", "{what}");
    }
    current
}

/// The lines that name hits, in a text.
fn heads(text: &str, is_head: impl Fn(&str) -> bool) -> Vec<&str> {
    text.lines().filter(|line| is_head(line)).collect()
}

#[test]
fn no_stale_sentence_is_shown_without_its_mark() {
    const FILES: u64 = 30;
    let env = word_env();
    let name = |number: u64| format!("notes/{number:02}.md");
    let text = |number: u64, edition: u64| {
        format!("# Station {number}\n\nstation{number} zephyrine edition{edition:04}\n")
    };
    for number in 0..FILES {
        env.write(&name(number), text(number, 0));
    }
    env.ok(&["add", "notes"]);
    let mut server = Client::start(&env, "", &[]);
    let mut dice = Dice(20);
    let mut num_stale = 0;
    for round in 1..=200 {
        let number = dice.below(FILES);
        let path = env.path(name(number));
        match dice.below(10) {
            0..=5 => fs::write(&path, text(number, round)).unwrap(),
            6 | 7 => _ = fs::rename(&path, env.path(format!("notes/moved{round}.md"))),
            _ => _ = fs::remove_file(&path),
        }
        if round % 40 == 0 {
            env.ok(&["update"]);
        }
        let query = format!("station{number} zephyrine");
        let search = |args: &[&str]| {
            env.ok(&[&["search", &query, "--fts-only", "--top", "4"], args].concat())
        };
        let arguments = json!({ "query": query, "top": 4, "fts_only": true });
        let current = check_json(&server.data("kb_search", arguments), "kb_search by words");
        num_stale += current.iter().filter(|is_current| !**is_current).count();
        let what = format!("round {round}: {current:?}");
        match round % 5 {
            0 => {
                assert_eq!(check_json(&search(&[]).json(), "json"), current, "{what}");
                check_json(&search(&["--budget", "400"]).json(), "budget");
            }
            1 => {
                let shown = search(&["--format", "human"]).stdout;
                let heads = heads(&shown, |line| line.contains(". [0.0"));
                let found: Vec<bool> = heads
                    .iter()
                    .map(|head| !head.ends_with("ed]") && !head.ends_with("ing]"))
                    .collect();
                assert_eq!(found, current, "{what}: {shown}");
            }
            2 => {
                let shown = search(&["--format", "md"]).stdout;
                let heads = heads(&shown, |line| line.starts_with("**"));
                let found: Vec<bool> = heads
                    .iter()
                    .map(|head| !head.contains("d* (") && !head.contains("g* ("))
                    .collect();
                assert_eq!(found, current, "{what}: {shown}");
            }
            3 => {
                let lines = search(&["--format", "jsonl"]).stdout;
                let results: Vec<Value> =
                    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                check_json(&json!({ "results": results }), "jsonl");
            }
            _ => {
                let shown = search(&["--format", "paths"]);
                let found: Vec<bool> = shown
                    .stdout
                    .lines()
                    .map(|line| line.rsplit_once(':').unwrap().0)
                    .map(|path| !shown.stderr.contains(&format!("warning: {path} ")))
                    .collect();
                assert_eq!(found, current, "{what}: {}", shown.text());
            }
        }
        if round % 20 == 0 {
            let fresh = env.kb_with(
                &[("KB_SEARCH_REFRESH_MS", "60000")],
                &["search", &query, "--fresh", "--fts-only", "--top", "4"],
            );
            let answer = fresh.json();
            check_json(&answer, "fresh");
            // Other results may take the places of those that have changed; they keep their marks.
            let best = &answer["results"][0];
            assert!(is_current(best) || best["source"]["stale"] == "missing", "{best}");
        }
        let answer = server.data("kb_search", json!({ "query": query, "top": 4 }));
        check_json(&answer, "kb_search");
        let id = &answer["results"][0]["source"]["document_id"];
        check_json(&server.data("kb_similar", json!({ "document": id, "top": 4 })), "kb_similar");
    }
    assert!(num_stale > 100, "{num_stale}");
}
