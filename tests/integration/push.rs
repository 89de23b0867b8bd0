//! `kb push` and `kb search --from`: a copy in a real PostgreSQL server, which `tests/postgres/setup` installs.
//! Without it, the tests that need it are skipped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use postgres::{Client, NoTls};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::env::{CORPUS, TestEnv};
use crate::left_out::left_out;
use crate::patience::comes_true;
use crate::word_model::word_env;

/// The server of all tests. It ends when its standard input does, so with this process.
struct Server {
    _process: Child,
    _dir: tempfile::TempDir,
    url: String,
}

static SERVER: OnceLock<Option<Server>> = OnceLock::new();

fn start() -> Option<Server> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let venv = root.join("target/postgres/venv");
    if !venv.join("ready").exists() {
        left_out("pgserver", "kb push");
        return None;
    }
    let dir = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").unwrap();
    let mut command = Command::new(venv.join("bin/python"));
    command.arg(root.join("tests/postgres/serve")).arg(dir.path().join("data"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().unwrap();
    let mut url = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
    assert!(url.starts_with("postgres"), "the server did not start");
    Some(Server { _process: process, _dir: dir, url: url.trim().to_owned() })
}

/// A new database, and its URL; `None` if there is no server.
pub(crate) fn database() -> Option<(Client, String)> {
    static COUNT: AtomicU32 = AtomicU32::new(1);
    let server = SERVER.get_or_init(start).as_ref()?;
    let name = format!("kb{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let mut client = Client::connect(&server.url, NoTls).unwrap();
    client
        .batch_execute(&format!("CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0"))
        .unwrap();
    let url = server.url.replace("/postgres?", &format!("/{name}?"));
    assert_ne!(url, server.url);
    // The server asks for no password on its socket.
    Some((Client::connect(&url, NoTls).unwrap(), format!("{url}&require_auth=none")))
}

fn count(client: &mut Client, query: &str) -> i64 {
    client.query_one(query, &[]).unwrap().get(0)
}

/// Requires that a search of the copy is answered as one of the database.
#[track_caller]
pub(crate) fn check_same(env: &TestEnv, url: &str, args: &[&str]) -> usize {
    let ask = |from: &[&str]| {
        env.json(&[&["search"][..], args, from, &["--format=json", "--explain"]].concat())
    };
    let (here, there) = (ask(&[]), ask(&["--from", url]));
    assert!(is_same(&here, &there), "{args:?}\nhere: {here:#}\nthere: {there:#}");
    here["results"].as_array().or(here["passages"].as_array()).map_or(0, Vec::len)
}

/// Whether two answers are equal, except that numbers may differ in how they were rounded.
fn is_same(here: &Value, there: &Value) -> bool {
    match (here, there) {
        (Value::Number(here), Value::Number(there)) => {
            (here.as_f64().unwrap() - there.as_f64().unwrap()).abs() < 1e-5
        }
        (Value::Array(here), Value::Array(there)) => {
            here.len() == there.len() && here.iter().zip(there).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(here), Value::Object(there)) => {
            here.len() == there.len()
                && here.iter().all(|(key, value)| {
                    // Files are not looked at for a copy.
                    key == "stale" || there.get(key).is_some_and(|other| is_same(value, other))
                })
        }
        _ => here == there,
    }
}

/// Returns a home with documents of several kinds, scripts, dates and tags.
pub(crate) fn home() -> TestEnv {
    let env = word_env();
    env.ok(&["add", CORPUS, "--tags", "station"]);
    env.write("more/git.md", "---\ndate: 2024-03-05\ntags: [tools, git]\n---\n# Git\n\nInstall git-lfs. Run git lfs track; git_lfs works.\n");
    let german = "Die Häuser am Hafen haben grüne Türen, und der Schlüssel hängt im Haus des Wärters. \
        Wer die Boote mieten will, fragt in den kleinen Häusern hinter der Mauer nach den Schlüsseln. ";
    env.write("more/haus.md", format!("# Häuser\n\n{}\n", german.repeat(3)));
    env.write("more/aquarium.md", "# 水族館\n\n東京都の水族館でGPU加速を使う。水族館へ行く。\n");
    env.write(
        "more/copy.md",
        "# Copy\n\nThe tide gauge in the harbour is frozen; the gauge, the gauge.\n",
    );
    env.write(
        "more/svn.md",
        "---\nsuperseded_by: git.md\n---\n# Subversion\n\nInstall subversion.\n",
    );
    let letters =
        "The Straße of Wrocław, 1,234,567 crowns, call +49 30 5550 1234 🚀, CO₂ and GPU加速.";
    env.write("more/letters.md", format!("# Letters\n\n{letters}\n"));
    env.ok(&["add", "more"]);
    env
}

#[test]
fn a_copy_answers_as_the_database_does() {
    let Some((mut client, url)) = database() else { return };
    let env = home();
    let report = env.json(&["push", &url, "--format=json"]);
    let documents = env.json(&["list", "--format=json"]).as_array().unwrap().len();
    assert_eq!((&report["documents"], &report["sent"]), (&documents.into(), &documents.into()));
    assert_eq!((&report["fresh"], &report["removed"]), (&true.into(), &0.into()));
    let chunks: i64 = env.sql("SELECT count(*) FROM chunks");
    assert_eq!(count(&mut client, "SELECT count(*) FROM kb_vectors"), chunks);
    let mut num_hits = 0;
    for query in [
        "frozen gauge",
        "what to do when the gauge is frozen",
        "the tide in the harbour",
        "\"tide gauge\"",
        "\"gauge in the harbour\" frozen",
        "git-lfs",
        "gau* harb*",
        "git-lf*",
        "gauge -harbour",
        "gauge -frozen -gau",
        "gauge -ha*",
        "水族館",
        "水",
        "GPU加速",
        "gpu",
        "水族館 -東京都",
        "Haus Schlüsseln",
        "\"der Schlüssel\"",
        "\"Haus des Wärters\" \"GRÜNE Tür\"",
        "\"GPU加速\"",
        "\"水族館\" \"東京\"",
        "\"git-lfs\" -tide",
        "\"no such phrase\" gauge",
        "gauge -Haus",
        "Installing INSTALLED",
        "install subversion or git",
        "café 12.4 E12",
        "words that occur nowhere: xyzzy",
        "git_lfs",
        "installs",
        "git.md",
        "more/git.md:3",
        "on 2024-03-05",
        "error: no file \"git.md\" in the harbour",
        "strasse wroclaw",
        "\"the STRASSE of wroclaw\"",
        "crowns -strasse",
        "1234567",
        "030 55501234",
        "🚀",
        "tools",
        "station",
        "harbuor gaugge",
    ] {
        for leg in [&[][..], &["--fts-only"], &["--vec-only"]] {
            num_hits += check_same(&env, &url, &[&[query], leg].concat());
        }
    }
    assert!(num_hits > 200, "{num_hits}");
    let path = env.path("more").display().to_string();
    for filter in [
        &["--type=code"][..],
        &["--type=markdown", "--tags=station"],
        &["--exclude-tag=station"],
        &["--language=python"],
        &["--path", &path],
        &["--since=2024-03", "--until=2024-03-05"],
        &["--until=2024-03-04"],
        &["--added-since=2026"],
        &["--added-since=2999"],
        &["--tags=tools,git"],
        &["--tags=nothing"],
        &["--per-doc=1", "--top=3"],
        &["--recent=400", "--type=markdown"],
        &["--copies", "--top=50"],
        &["--threshold=0.02"],
        &["--budget=200"],
        &["--context=1", "--top=4"],
        &["--also=frozen in winter", "--also=tide"],
    ] {
        check_same(&env, &url, &[&["the gauge"], filter].concat());
    }
    // The copy needs no database here.
    let elsewhere = ["--data-dir=elsewhere", "search", "gauge", "--fts-only", "--from", &url];
    assert!(env.json(&elsewhere)["results"].as_array().unwrap().len() > 2);
}

#[test]
fn only_what_differs_is_pushed() {
    let Some((mut client, url)) = database() else { return };
    let env = home();
    let push = || env.json(&["push", &url, "--format=json"]);
    let sent = |report: &Value| {
        ["sent", "removed", "chunks_sent"].map(|key| report[key].as_i64().unwrap())
    };
    push();
    let again = push();
    assert_eq!((sent(&again), &again["fresh"]), ([0, 0, 0], &false.into()));
    assert!(env.ok(&["push", &url]).stdout.contains("Pushed 0 of"));
    // A tag changes a document, and its chunks, by whose terms it is found.
    env.ok(&["tag", "1", "--add", "fruit"]);
    assert_eq!(sent(&push())[..2], [1, 0]);
    check_same(&env, &url, &["fruit"]);
    check_same(&env, &url, &["apple", "--tags=fruit"]);
    // A changed text, a removed document, a new one.
    env.write("docs/tides.md", "# Tides\n\nThe tide gauge is new.\n\n## Anchor\n\nanchor rope\n");
    env.ok(&["update", "docs"]);
    env.ok(&["remove", "more/git.md", "--yes"]);
    env.ok(&["add", "--note", "an anchor of oak"]);
    let report = push();
    assert_eq!(sent(&report)[..2], [2, 1]);
    for query in ["anchor", "frozen gauge", "git-lfs", "tide gauge", "水族館"] {
        check_same(&env, &url, &[query]);
    }
    let chunks: i64 = env.sql("SELECT count(*) FROM chunks");
    for table in ["kb_chunks", "kb_vectors"] {
        assert_eq!(count(&mut client, &format!("SELECT count(*) FROM {table}")), chunks);
    }
    // A copy that an older kb pushed is searched by the rules of its format, until the next push.
    for change in [
        "UPDATE kb_state SET value = '2' WHERE key = 'format'",
        "DROP TABLE kb_words",
        "DELETE FROM kb_postings WHERE index = 4",
    ] {
        client.execute(change, &[]).unwrap();
    }
    let older = env.json(&["search", "tide gaugge", "--from", &url]);
    assert!(older["notes"].to_string().contains("an older kb made the copy"), "{older}");
    assert!(!older["results"].as_array().unwrap().is_empty(), "{older}");
    assert_eq!(push()["fresh"], true);
    check_same(&env, &url, &["tide gaugge"]);
    // Another model: everything is new.
    env.kb_with(&[("KB_EMBEDDING_PRECISION", "fp32")], &["reindex"]).expect(0);
    let fresh = push();
    assert_eq!((&fresh["fresh"], &fresh["documents"]), (&true.into(), &fresh["sent"]));
    check_same(&env, &url, &["frozen gauge"]);
    // All documents are removed.
    for document in env.json(&["list", "--format=json"]).as_array().unwrap() {
        env.ok(&["remove", &document["id"].to_string(), "--yes"]);
    }
    push();
    for table in ["kb_documents", "kb_chunks", "kb_vectors", "kb_blocks", "kb_postings"] {
        assert_eq!(count(&mut client, &format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    assert_eq!(check_same(&env, &url, &["gauge"]), 0);
}

#[test]
fn a_push_that_was_killed_is_continued() {
    let Some((mut client, url)) = database() else { return };
    let env = word_env();
    for idx in 0..3000 {
        env.write(&format!("many/{idx:04}.md"), format!("# Note {idx}\n\ngauge number{idx}\n"));
    }
    env.ok(&["add", "many"]);
    let mut push = env.command(&["push", &url]);
    let mut child = push.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let there = "SELECT (to_regclass('kb_blocks') IS NOT NULL)::int::bigint";
    assert!(comes_true(|| count(&mut client, there) > 0
        && count(&mut client, "SELECT count(*) FROM kb_blocks") >= 2));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let done = count(&mut client, "SELECT count(*) FROM kb_blocks");
    assert!(done < 12, "the push has ended before it was killed");
    // The pushed documents are complete, and searches report that others are missing.
    let partial = env.kb(&["search", "gauge", "--from", &url]).expect(0);
    assert!(partial.stderr.contains("incomplete"), "{}", partial.stderr);
    let report = env.json(&["push", &url, "--format=json"]);
    assert_eq!(report["fresh"], false);
    let chunks: i64 = env.sql("SELECT count(*) FROM chunks");
    assert!(report["chunks_sent"].as_i64().unwrap() < chunks, "{report}");
    assert_eq!(count(&mut client, "SELECT count(*) FROM kb_chunks"), chunks);
    for query in ["number1234", "gauge note", "\"note 77\""] {
        check_same(&env, &url, &[query]);
    }
}

#[test]
fn a_copy_of_another_version_is_not_searched_and_the_next_push_makes_it_again() {
    let Some((mut client, url)) = database() else { return };
    let env = home();
    env.ok(&["push", &url]);
    let older = "UPDATE kb_state SET value = '1' WHERE key = 'format';
        ALTER TABLE kb_documents DROP COLUMN added";
    client.batch_execute(older).unwrap();
    let refused = env.kb(&["search", "apple", "--from", &url]).expect(2);
    assert!(refused.stderr.contains("another version of kb"), "{}", refused.stderr);
    assert!(refused.stderr.contains("kb push"), "{}", refused.stderr);
    let other = word_env();
    let refused = other.kb(&["push", &url]).expect(2);
    assert!(refused.stderr.contains("a copy of another knowledge base"), "{}", refused.stderr);
    assert_eq!(env.json(&["push", &url, "--format=json"])["fresh"], true);
    check_same(&env, &url, &["apple", "--added-since=2020"]);
}

#[test]
fn two_pushes_at_once_do_not_mix() {
    let Some((mut client, url)) = database() else { return };
    let env = home();
    let lock = "SELECT pg_advisory_lock(27490, hashtext(current_schema()))";
    client.execute(lock, &[]).unwrap();
    let refused = env.kb(&["push", &url]).expect(2);
    assert!(refused.stderr.contains("another push is running there"), "{}", refused.stderr);
    client.execute("SELECT pg_advisory_unlock_all()", &[]).unwrap();
    env.ok(&["push", &url]);
    // Another knowledge base has a place of its own in another schema.
    let other = word_env();
    let refused = other.kb(&["push", &url, "--format=json"]).expect(2);
    let error = refused.json_error();
    assert_eq!(error["code"], "target");
    assert!(error["fix"].as_str().unwrap().contains("search_path"), "{error}");
    client.batch_execute("CREATE SCHEMA other").unwrap();
    let schema = format!("{url}&options=-csearch_path%3Dother,public");
    other.ok(&["push", &schema]);
    check_same(&other, &schema, &["frozen gauge"]);
    check_same(&env, &url, &["frozen gauge"]);
}

#[test]
fn a_copy_that_was_tampered_with_is_an_error() {
    let Some((mut client, url)) = database() else { return };
    let env = home();
    let search = || env.kb(&["search", "frozen gauge", "--from", &url, "--format=json"]);
    assert_eq!(search().expect(2).json_error()["code"], "target");
    env.ok(&["push", &url]);
    for change in [
        "UPDATE kb_postings SET entries = '\\xffffffffffffffffff'",
        "UPDATE kb_blocks SET sizes = '\\x00'",
        "UPDATE kb_documents SET doc_type = 'other'",
        "UPDATE kb_chunks SET metadata = '{\"page\": -1}'",
        "UPDATE kb_chunks SET chunk_index = -1",
        "ALTER TABLE kb_chunks ALTER COLUMN text TYPE bytea USING text::bytea",
        "UPDATE kb_state SET value = '99' WHERE key = 'format'",
        "ALTER TABLE kb_state ALTER COLUMN value TYPE bytea USING value::bytea",
        "DROP TABLE kb_vectors",
    ] {
        client.batch_execute("BEGIN").unwrap();
        client.batch_execute(change).unwrap();
        client.batch_execute("COMMIT").unwrap();
        let error = search().expect(2).json_error();
        assert_eq!(error["code"], "target", "{change}: {error}");
        // It is derived data: made again from nothing.
        client
            .batch_execute("DROP TABLE IF EXISTS kb_state, kb_documents, kb_chunks, kb_vectors, kb_blocks, kb_postings")
            .unwrap();
        env.ok(&["push", &url]);
        search().expect(0);
    }
    // A model that only the copy names is not fetched.
    client
        .batch_execute("UPDATE kb_state SET value = 'evil/model' WHERE key = 'model_name'")
        .unwrap();
    let bare = TestEnv::without_model();
    let by_words = ["search", "gauge", "--from", &url, "--format=json"];
    let answer = bare.kb(&by_words).expect(0).json();
    assert!(answer["notes"].to_string().contains("the search used keywords only"), "{answer}");
    let by_meaning = [&by_words[..], &["--vec-only"]].concat();
    let error = bare.kb(&by_meaning).expect(1).json_error();
    assert_ne!(error["code"], "fetch", "{error}");
    assert!(!bare.asked_python());
}

#[test]
fn a_copy_of_a_base_without_vectors_is_searched_by_words() {
    let Some((_client, url)) = database() else { return };
    let env = TestEnv::without_model();
    env.write("docs/tides.md", "# Tides\n\nThe tide gauge is read at noon.\n");
    env.ok(&["add", "docs"]);
    env.ok(&["push", &url]);
    let answer = env.json(&["search", "tide gauge", "--from", &url, "--format=json"]);
    assert_eq!(answer["results"][0]["source"]["title"], "Tides");
    assert!(answer["notes"].to_string().contains("found by keyword only"), "{answer}");
}

#[test]
fn words_of_every_first_letter_and_length_are_pushed_at_once() {
    let Some((mut client, url)) = database() else { return };
    let env = TestEnv::without_model();
    let letters = ('a'..='z').chain('а'..='я').chain('α'..='ρ');
    let words = letters.flat_map(|letter| (4..=24).map(move |len| letter.to_string().repeat(len)));
    let words: Vec<String> = words.collect();
    let path = env.write("docs/words.md", words.join("\n\n"));
    env.ok(&["add", "docs"]);
    env.ok(&["push", &url]);
    // More than the answers that a server may give to one request.
    assert!(count(&mut client, "SELECT count(*) FROM kb_words") > 1200);
    std::fs::write(path, "tides").unwrap();
    env.ok(&["update"]);
    env.ok(&["push", &url]);
    assert_eq!(count(&mut client, "SELECT count(*) FROM kb_words"), 2, "`tides` and the title");
}

#[test]
fn a_batch_uses_one_connection() {
    let Some((mut client, url)) = database() else { return };
    let env = home();
    env.ok(&["push", &url]);
    let queries = "frozen gauge\ngit-lfs\n{\"query\": \"tide\", \"top\": 2}\n\nharbour\n";
    let path = env.write("queries.txt", queries).display().to_string();
    let batch = ["search", "--batch", &path];
    // The server counts a session when its process ends.
    let mut sessions = || {
        let active = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'kb'";
        assert!(comes_true(|| count(&mut client, active) == 0));
        let all = "SELECT sessions FROM pg_stat_database WHERE datname = current_database()";
        count(&mut client, all)
    };
    let before = sessions();
    let here = env.ok(&batch);
    let there = env.ok(&[&batch[..], &["--from", &url]].concat());
    assert_eq!(sessions() - before, 1);
    let lines = |text: &str| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (here, there) = (lines(&here.stdout), lines(&there.stdout));
    assert_eq!((here.len(), there.len()), (4, 4));
    assert!(here.iter().zip(&there).all(|(here, there)| is_same(here, there)), "{there:?}");
}

#[test]
fn errors_of_the_server_say_what_to_do() {
    let Some((mut client, url)) = database() else { return };
    let env = word_env();
    let fix = |args: &[&str]| {
        let error = env.kb(&[args, &["--format=json"]].concat()).expect(2).json_error();
        assert_eq!(error["code"], "target", "{error}");
        error["fix"].as_str().unwrap_or_else(|| panic!("no fix: {error}")).to_owned()
    };
    let absent = url.replacen("/kb", "/no_such_", 1);
    assert!(fix(&["search", "gauge", "--from", &absent]).contains("create that database"));
    assert!(fix(&["search", "gauge", "--from", &url]).contains("kb push"));
    env.ok(&["push", &url]);
    client.batch_execute("CREATE ROLE reader LOGIN").unwrap();
    let reader = as_reader(&url);
    assert!(fix(&["search", "gauge", "--from", &reader]).contains("SELECT"));
    client.batch_execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader").unwrap();
    check_same(&env, &reader, &["frozen gauge"]);
    assert!(fix(&["push", &reader]).contains("CREATE"));
}

/// Returns the URL with another user.
fn as_reader(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (_, place) = rest.split_once('@').unwrap();
    format!("{scheme}://reader@{place}")
}

#[test]
fn targets_that_cannot_be_used_are_one_line() {
    let env = word_env();
    for (target, status, code, part) in [
        ("team", 1, "usage", "not a URL of PostgreSQL"),
        ("postgres://me:secret@db:x/y", 1, "usage", "cannot be read"),
        ("postgres://me@localhost/x?sslmode=maybe", 1, "usage", "sslmode"),
        ("postgres://me:secret@127.0.0.1:9/x", 2, "target", "127.0.0.1/x"),
        ("postgres://me@/x?host=/nowhere", 2, "target", "/nowhere/x"),
    ] {
        for args in [&["push", target][..], &["search", "gauge", "--from", target]] {
            let output = env.kb(&[args, &["--format=json"]].concat()).expect(status);
            let error = output.json_error();
            assert_eq!(error["code"], code, "{error}");
            assert!(error["error"].as_str().unwrap().contains(part), "{error}");
            assert!(error["fix"].is_string(), "{error}");
            assert!(!output.stderr.contains("secret"), "{}", output.stderr);
        }
    }
    for args in [
        &["search", "gauge", "--from", "postgres://h/x", "--fresh"][..],
        &["search", "gauge", "--from", "postgres://h/x", "--open=1"],
        &["--data-dir=none", "push", "postgres://h/x"],
    ] {
        env.kb(args).expect(1);
    }
}
