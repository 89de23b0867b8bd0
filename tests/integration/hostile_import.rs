//! Tests `kb import` of files whose author chose every character: lines that kb would not write are
//! refused, and paths and models they name are neither read nor fetched.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::contract;
use crate::env::{Output, TestEnv};
use crate::hub::Hub;
use crate::word_model::check_database;
use crate::word_model::word_env;

/// Returns the lines of an export of `docs/` with vectors: the first line, then one line per
/// document.
fn export_of(env: &TestEnv) -> Vec<Value> {
    let text = env.ok(&["export", "--vectors"]).stdout;
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Makes a data directory with the same model and no database.
fn fresh(env: &TestEnv, name: &str) {
    fs::create_dir(env.path(name)).unwrap();
    fs::copy(env.path(".kb/config.yaml"), env.path(name).join("config.yaml")).unwrap();
}

fn write_lines(env: &TestEnv, name: &str, lines: &[Value]) {
    let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    env.write(name, text.concat());
}

/// Returns hostile values, each with the part of a document's line that it replaces.
fn hostile_parts() -> Vec<(&'static str, Value)> {
    let hash = "0123456789abcdef".repeat(4);
    vec![
        ("/id", json!(0)),
        ("/id", json!(-1)),
        ("/id", json!(1_u64 << 31)),
        ("/id", json!(i64::MAX)),
        ("/id", json!("1")),
        ("/title", json!("")),
        ("/title", json!("\u{1b}\u{7}")),
        ("/title", json!(7)),
        ("/title", json!("x".repeat(2 << 20))),
        ("/title_given", json!(1)),
        ("/path", json!("/etc/shadow")),
        ("/path", json!("docs/tides.md")),
        ("/paths/0/path", json!("~/.ssh/id_rsa")),
        ("/paths/0/size_bytes", json!(-1)),
        ("/paths/0/size_bytes", json!(u64::MAX)),
        ("/paths/0/mtime_ns", json!(u64::MAX)),
        ("/paths/0/mode", json!("0777")),
        ("/content_hash", json!("../../../../etc/passwd")),
        ("/content_hash", json!(hash.to_uppercase())),
        ("/content_hash", json!(format!("{}\u{1b}", &hash[1..]))),
        ("/type", json!("executable")),
        ("/type", json!("code")),
        ("/language", json!("python")),
        ("/language", json!("\u{1b}]0;owned\u{7}")),
        ("/created_at", json!("\u{1b}]0;owned\u{7}")),
        ("/created_at", json!("yesterday")),
        ("/created_at", json!("2026-02-30T00:00:00Z")),
        ("/created_at", json!("2026-01-01T00:00:00+02:00")),
        ("/updated_at", json!("2026-01-01T24:00:00Z")),
        ("/updated_at", json!("2026-01-01T00:00:00Z\n")),
        ("/updated_at", json!(null)),
        ("/tags", json!([""])),
        ("/tags", json!(["a", "a"])),
        ("/tags", json!("a")),
        ("/metadata", json!([])),
        ("/metadata", json!({})),
        ("/metadata/format", json!("elf")),
        ("/metadata/format", json!("pdf")),
        ("/metadata/page_count", json!(-3)),
        ("/metadata/hook", json!("rm -rf ~")),
        ("/chunks", json!({})),
        ("/chunks/0/chunk_id", json!(0)),
        ("/chunks/0/chunk_id", json!(u32::MAX)),
        ("/chunks/0/text", json!("  \n")),
        ("/chunks/0/text", json!("a\u{0}b")),
        ("/chunks/0/context", json!("a\u{0}b")),
        ("/chunks/0/token_count", json!(u32::MAX)),
        ("/chunks/0/token_count", json!(-1)),
        ("/chunks/0/metadata/start_line", json!(0)),
        ("/chunks/0/metadata/end_line", json!(0)),
        ("/chunks/0/metadata/page", json!("one")),
        ("/chunks/0/metadata/url", json!("http://attacker.example")),
        ("/chunks/0/vector", json!([1.0])),
        ("/chunks/0/vector", json!(vec![0.0; 32])),
        ("/chunks/0/vector", json!(vec![1.0; 32])),
        ("/chunks/0/vector", json!(vec![1.0e30; 32])),
        ("/chunks/0/vector/0", json!("NaN")),
        ("/chunks/0/\u{1b}]0;owned\u{7}", json!(1)),
        ("/follow", json!(true)),
    ]
}

/// Sets a part of a value, which need not exist yet.
fn set(value: &mut Value, pointer: &str, part: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match value.pointer_mut(parent).unwrap() {
        Value::Array(values) => values[key.parse::<usize>().unwrap()] = part,
        other => other[key] = part,
    }
}

/// Requires that nothing printed contains characters that a terminal would obey.
#[track_caller]
fn check_printed(output: &Output) {
    let text = [output.stdout.as_str(), output.stderr.as_str()].concat();
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
}

#[test]
#[expect(clippy::print_stdout, reason = "with --nocapture it counts for docs/reliability.md")]
fn no_hostile_line_is_imported_and_each_is_named() {
    let env = word_env();
    let export = export_of(&env);
    let document = export[2].clone();
    assert_eq!(document["title"], "Tides");
    let mut lines = vec![export[0].to_string()];
    let mut names = Vec::new();
    for (pointer, part) in hostile_parts() {
        let mut line = document.clone();
        set(&mut line, pointer, part.clone());
        lines.push(line.to_string());
        names.push(format!("{pointer}: {part}"));
    }
    let text = document.to_string();
    for (name, line) in [
        ("two keys", text.replacen("\"id\":", "\"id\":5,\"id\":", 1)),
        ("nothing but a word", "words".to_owned()),
        ("half a line", text[..text.len() / 2].to_owned()),
        ("two values", format!("{text}{text}")),
        ("an array of arrays without end", "[".repeat(100_000)),
        (
            "metadata without end",
            text.replacen(
                "\"metadata\":{",
                &format!("\"metadata\":{}", "{\"a\":".repeat(100_000)),
                1,
            ),
        ),
    ] {
        lines.push(line);
        names.push(name.to_owned());
    }
    // A good line at the end is not affected by the others.
    lines.push(text);
    env.write("hostile.jsonl", lines.join("\n"));
    fresh(&env, "new");
    let import = ["--data-dir", "new", "import", "hostile.jsonl", "--trust-paths"];
    let output = env.ok(&[&import[..], &["--format=json"]].concat());
    check_printed(&output);
    let report: contract::Imported = contract::read(&output);
    assert_eq!((report.imported, report.failed), (1, names.len() as u64));
    assert!(names.len() >= 30);
    for (number, name) in (2..).zip(&names) {
        assert!(output.stderr.contains(&format!("line {number}: ")), "{name}");
    }
    assert_eq!(report.errors[0].line, 2);
    let stored = env.json(&["--data-dir", "new", "list", "--format=json"]);
    assert_eq!(stored.as_array().unwrap().len(), 1, "{stored}");
    println!("hostile import: {} lines, {} taken", names.len(), report.imported - 1);
}

#[test]
fn a_hostile_first_line_ends_the_import() {
    let env = word_env();
    let export = export_of(&env);
    let root = json!({
        "path": "/etc", "tags": [], "type": null, "language": null, "follow": false,
    });
    let with = |key: &str, value: Value| {
        let mut root = root.clone();
        root[key] = value;
        json!([root])
    };
    for (at, (pointer, part)) in [
        ("/kb_export", json!(0)),
        ("/kb_export", json!(99)),
        ("/kb_export", json!("\u{1b}")),
        ("/shell", json!("rm -rf ~")),
        ("/binding/model_name", json!("")),
        ("/binding/model_name", json!("a\u{1b}]0;owned\u{7}")),
        ("/binding/model_name", json!("x".repeat(10_000))),
        ("/binding/embedding_dim", json!(0)),
        ("/binding/embedding_dim", json!(u32::MAX)),
        ("/binding/max_tokens", json!(0)),
        ("/binding/max_tokens", json!(u32::MAX)),
        ("/binding/precision", json!("\u{1b}[2J")),
        ("/binding/passage_prefix", json!("a\nb")),
        ("/binding/passage_prefix", json!("x".repeat(10_000))),
        ("/binding/library", json!("/tmp/evil.so")),
        ("/roots", with("path", json!("../../etc"))),
        ("/roots", with("path", json!("/home/../etc"))),
        ("/roots", with("path", json!("/etc/"))),
        ("/roots", with("path", json!("/etc\u{0}"))),
        ("/roots", with("tags", json!([" "]))),
        ("/roots", with("type", json!("device"))),
        ("/roots", with("language", json!("\u{9b}31m"))),
        ("/roots", with("follow", json!("yes"))),
        ("/roots", with("ignore", json!(false))),
        ("/roots", json!([root, root])),
    ]
    .into_iter()
    .enumerate()
    {
        let mut lines = export.clone();
        set(&mut lines[0], pointer, part);
        write_lines(&env, "hostile.jsonl", &lines);
        let name = format!("new{at}");
        fresh(&env, &name);
        let import = ["--data-dir", &name, "import", "hostile.jsonl", "--trust-paths"];
        let output = env.kb(&import).expect(1);
        check_printed(&output);
        assert!(output.stderr.starts_with("error: "), "{pointer}: {}", output.stderr);
        assert!(!env.path(&name).join("kb.db").exists(), "{pointer}");
    }
}

#[test]
fn an_import_cannot_choose_files_to_read() {
    let env = word_env();
    env.write("secret/key", "-----BEGIN PRIVATE KEY-----\n");
    env.write("secret/more.md", "# Secret\n\nThe oak barrel key.\n");
    let secret = env.path("secret");
    let (folder, key) = (secret.to_str().unwrap(), env.path("secret/key"));
    let mut lines = export_of(&env);
    lines[0]["roots"] = json!([
        { "path": folder, "tags": [], "type": "note", "language": null, "follow": true },
    ]);
    lines[2]["path"] = json!(key);
    lines[2]["paths"] = json!([{ "path": key, "size_bytes": 28, "mtime_ns": 0 }]);
    write_lines(&env, "hostile.jsonl", &lines);

    fresh(&env, "new");
    let kb = |args: &[&str]| env.ok(&[&["--data-dir", "new"], args].concat());
    let output = kb(&["import", "hostile.jsonl", "--format=json"]);
    let report: contract::Imported = contract::read(&output);
    assert_eq!((report.imported, report.without_file, report.folders_left_out), (3, 2, 1));
    assert!(
        output.stderr.contains(
            "Left out the paths of 2 documents and 1 folder; `--trust-paths` imports them"
        ),
        "{}",
        output.stderr
    );
    let opened = kb(&["open", "Tides"]);
    assert!(
        opened.stdout.contains("The tide gauge in the harbour is frozen."),
        "{}",
        opened.text()
    );
    assert!(!opened.text().contains("PRIVATE KEY"), "{}", opened.text());
    let info = kb(&["info", "Tides", "--format=json"]).json();
    assert_eq!(info["path"], json!(null), "{info}");
    kb(&["update"]);
    let found = kb(&["search", "barrel key", "--fts-only", "--format=json"]);
    assert!(!found.stdout.contains("Secret"), "{}", found.stdout);

    // With the user's consent the paths are there, also in the same database.
    let again = kb(&["import", "hostile.jsonl", "--trust-paths", "--format=json"]);
    let report: contract::Imported = contract::read(&again);
    assert_eq!((report.imported, report.merged, report.skipped, report.without_file), (0, 2, 1, 0));
    let info = kb(&["info", "Tides", "--format=json"]).json();
    assert_eq!(info["path"], json!(key), "{info}");
}

#[test]
fn a_document_without_a_file_joins_a_file_with_the_same_bytes() {
    let env = word_env();
    write_lines(&env, "all.jsonl", &export_of(&env));
    fresh(&env, "new");
    let kb = |args: &[&str]| env.ok(&[&["--data-dir", "new"], args].concat());
    kb(&["import", "all.jsonl"]);
    let added = kb(&["add", "docs", "--format=json"]).json();
    assert_eq!((&added["added"], &added["updated"]), (&json!(0), &json!(2)), "{added}");
    let info = kb(&["info", "Tides", "--format=json"]).json();
    assert_eq!(info["path"], json!(env.path("docs/tides.md")), "{info}");
    // From then on it follows the file.
    env.write("docs/tides.md", "# Tides\n\nThe pump in the cellar.\n");
    let updated = kb(&["update", "--format=json"]).json();
    assert_eq!(updated["updated"], 1, "{updated}");
}

#[test]
fn an_imported_hash_does_not_keep_a_file_from_being_read() {
    let env = word_env();
    let mut lines = export_of(&env);
    let tides = lines.iter().position(|line| line["title"] == "Tides").unwrap();
    lines[tides]["chunks"][0]["text"] = json!("The forged barrel is in the cellar.");
    lines[tides]["tags"] = json!(["kept"]);
    write_lines(&env, "forged.jsonl", &lines);
    fresh(&env, "new");
    let kb = |args: &[&str]| env.ok(&[&["--data-dir", "new"], args].concat());
    kb(&["import", "forged.jsonl"]);
    kb(&["add", "docs"]);
    let found = kb(&["search", "frozen gauge", "--fts-only", "--format=json"]).stdout;
    assert!(found.contains("The tide gauge in the harbour is frozen."), "{found}");
    assert!(!found.contains("forged"), "{found}");
    let info = kb(&["info", "Tides", "--format=json"]).json();
    assert_eq!((&info["chunk_count"], &info["tags"]), (&json!(1), &json!(["kept"])), "{info}");
}

#[test]
fn an_import_cannot_choose_models_to_fetch() {
    let hub = Hub::serve("attacker/beacon", BTreeMap::new());
    let mut env = TestEnv::with_runtime();
    env.set("HF_ENDPOINT", &hub.endpoint);
    let donor = word_env();
    let mut lines = export_of(&donor);
    for (name, flag) in [("attacker/beacon", "unlisted"), ("bge-small-en-v1.5", "listed")] {
        lines[0]["binding"]["model_name"] = json!(name);
        lines[0]["binding"]["embedding_dim"] = json!(32);
        write_lines(&env, "hostile.jsonl", &lines);
        let output = env.kb(&["import", "hostile.jsonl", "--format=json"]).expect(1);
        let code = output.json_error()["code"].clone();
        // A listed model has vectors of a known width.
        let expected = if flag == "listed" { "usage" } else { "untrusted_model" };
        assert_eq!(code, expected, "{}", output.text());
        assert_eq!(env.sql::<i64>("SELECT count(*) FROM config WHERE key = 'model_name'"), 0);
    }
    lines[0]["binding"]["model_name"] = json!("bge-small-en-v1.5");
    lines[0]["binding"]["embedding_dim"] = json!(384);
    write_lines(&env, "hostile.jsonl", &lines[..1]);
    let output = env.kb(&["import", "hostile.jsonl"]).expect(1);
    assert!(
        output.stderr.contains("hint: `kb init --model bge-small-en-v1.5` fetches it"),
        "{}",
        output.stderr
    );
    // A database with such a binding does not make later commands connect either.
    let db = rusqlite::Connection::open(env.database()).unwrap();
    for (key, value) in [
        ("model_name", "attacker/beacon"),
        ("embedding_dim", "32"),
        ("model_max_tokens", "128"),
        ("model_precision", "fp32"),
        ("passage_prefix", ""),
    ] {
        db.execute("INSERT INTO config (key, value) VALUES (?1, ?2)", [key, value]).unwrap();
    }
    drop(db);
    for args in [&["add", "--note", "salt"][..], &["reindex"], &["init"]] {
        let output = env.kb(args);
        assert_ne!(output.status, 0, "{args:?}");
    }
    assert_eq!(hub.take_requests(), Vec::<String>::new());
    assert!(!env.asked_python());
}

#[test]
fn a_model_that_is_also_named_by_the_user_is_used() {
    let env = word_env();
    let export = export_of(&env);
    let mut lines = export;
    lines[0]["binding"]["model_name"] = json!("someone/tiny");
    write_lines(&env, "named.jsonl", &lines);
    let import = ["--data-dir", "other", "import", "named.jsonl"];
    env.kb(&import).expect(1);
    env.ok(&[&import[..], &["--model", "someone/tiny"]].concat());
}

#[cfg(unix)]
#[test]
fn an_endless_line_is_an_error() {
    let env = word_env();
    let output = env.kb(&["import", "/dev/zero"]).expect(1);
    assert!(output.stderr.contains("/dev/zero is not a regular file"), "{}", output.stderr);
    let mut command = env.command(&["import", "-"]);
    command.stdin(fs::File::open("/dev/zero").unwrap());
    let output = env.finish(&mut command).expect(1);
    assert!(output.stderr.contains("the first line is longer than 16 MB"), "{}", output.stderr);
    check_database(&env);
}
