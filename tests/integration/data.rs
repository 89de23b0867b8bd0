//! Tests text data: tables of separated values, JSON, YAML, TOML, XML, logs; and further kinds of text.

use std::fs;

use serde_json::json;

use crate::contract::{Files, Report, Update, read};
use crate::env::TestEnv;

fn report(env: &TestEnv, args: &[&str]) -> Report {
    read(&env.ok(&[args, &["--format", "json"]].concat()))
}

#[test]
fn a_long_table_repeats_its_head_and_cites_its_lines() {
    let env = TestEnv::new();
    let rows: Vec<String> =
        (0..400).map(|row| format!("\"gauge, {row}\";{row},5;calm\n")).collect();
    env.write("tides.csv", format!("place;height;sea\n{}", rows.concat()));
    let report = report(&env, &["add", "tides.csv"]);
    let id = report.document_ids[0].to_string();
    let info = env.json(&["info", &id, "--format", "json"]);
    assert_eq!((&info["type"], &info["metadata"]["format"]), (&json!("markdown"), &json!("csv")));
    let texts = env.sql_column("SELECT text FROM chunks ORDER BY id");
    assert!(texts.len() > 10);
    for text in &texts {
        assert!(text.starts_with("| place | height | sea |\n| --- | --- | --- |\n"), "{text}");
    }
    let hit = &env.json(&["search", "\"gauge, 317\"", "--fts-only"])["results"][0];
    let lines = (hit["source"]["start_line"].as_u64(), hit["source"]["end_line"].as_u64());
    assert!(lines.0 <= Some(319) && lines.1 >= Some(319), "{lines:?}");
    let converted = env.ok(&["convert", "tides.csv"]).stdout;
    assert!(converted.contains("\n| gauge, 399 | 399,5 | calm |\n"));
}

#[test]
fn data_is_cut_between_its_parts_and_keeps_its_text() {
    let mut env = TestEnv::new();
    env.set("KB_CHUNKING_MARKDOWN_MIN_TOKENS", "0");
    let words = |word: &str| format!("the {word} rises ").repeat(50);
    let (gauge, float) = (words("gauge"), words("float"));
    let files = [
        (
            "one.json",
            "json",
            format!("{{\"gauge\": \"{gauge}\", \"float\": \"{float}\"}}"),
            "float",
            1,
        ),
        (
            "lines.jsonl",
            "jsonl",
            format!("{{\"a\": \"{gauge}\"}}\n{{\"a\": \"{float}\"}}\n"),
            "",
            2,
        ),
        ("tide.yaml", "yaml", format!("gauge: {gauge}\n# deep\nfloat: {float}\n"), "float", 2),
        (
            "tide.toml",
            "toml",
            format!("[gauge]\na = '{gauge}'\n\n[float]\na = '{float}'\n"),
            "float",
            4,
        ),
        ("tide.xml", "xml", format!("<tide>\n<a>{gauge}</a>\n<a>{float}</a>\n</tide>\n"), "", 3),
        ("tide.log", "log", format!("10:00 {gauge}\n  at a\n10:01 {float}\n"), "", 3),
    ];
    for (name, format, text, section, line) in files {
        let path = env.write(name, &text);
        report(&env, &["add", path.to_str().unwrap()]);
        let found = env.json(&["search", "float", "--fts-only", "--path", path.to_str().unwrap()]);
        let hit = &found["results"][0];
        let hit_text = hit["text"].as_str().unwrap();
        assert!(text.contains(hit_text) && !hit_text.contains("gauge"), "{name}: {hit_text}");
        let expected = if section.is_empty() { json!(null) } else { json!(section) };
        assert_eq!(hit["source"]["section"], expected, "{name}");
        assert_eq!(hit["source"]["start_line"], line, "{name}");
        let id = hit["source"]["document_id"].to_string();
        assert_eq!(env.json(&["info", &id, "--format", "json"])["metadata"]["format"], format);
        assert_eq!(env.ok(&["open", &id]).stdout, text);
        let fenced = format!("```{format}\n{}\n```\n", text.trim_end());
        assert_eq!(env.ok(&["convert", name]).stdout, fenced);
    }
}

#[test]
fn escapes_are_searched_as_letters_on_the_lines_of_the_file() {
    let env = TestEnv::new();
    let lines: Vec<String> = (0..60).map(|line| format!("Zeile {line} der M\\u00f6we")).collect();
    let text =
        format!("{{\n \"a\": \"{}\",\n \"b\": \"Gr\\u00f6\\u00dfe\"\n}}\n", lines.join("\\n"));
    env.write("a.json", &text);
    env.write("b.yaml", "x: 1\ny: \"Erste\\nGr\\u00f6\\u00dfe\"\n");
    report(&env, &["add", "a.json", "b.yaml"]);
    let found = env.json(&["search", "\"Zeile 41 der Möwe\"", "--fts-only"]);
    let source = &found["results"][0]["source"];
    assert_eq!((&source["start_line"], &source["end_line"]), (&json!(2), &json!(2)));
    assert_eq!(env.ok(&["grep", "Zeile 41"]).stdout.lines().nth(1), Some("2: Zeile 41 der Möwe"));
    let found = env.json(&["grep", "Größe", "--format", "json"]);
    let line = |document: usize| &found["results"][document]["lines"][0]["start_line"];
    assert_eq!((line(0), line(1)), (&json!(3), &json!(2)));
    let shown = env.json(&["show", "1", "--format", "json"]);
    assert_eq!((&shown["start_line"], &shown["end_line"]), (&json!(1), &json!(4)));
    assert!(shown["text"].as_str().unwrap().contains("\nZeile 41 der Möwe\nZeile 42"));
}

#[test]
fn the_spelling_of_a_file_is_found_while_it_is_unchanged() {
    let env = TestEnv::new();
    env.write("a.json", "{\n\"a\": \"Gr\\u00f6\\u00dfe\"\n}\n");
    env.write("b.xml", "<?xml version='1.0'?>\n<a>Gr&#246;&#223;e</a>\n");
    report(&env, &["add", "a.json", "b.xml"]);
    let found = |args: &[&str]| {
        let answer = env.json(&[&["grep", "--format", "json"], args].concat());
        let lines = answer["results"].as_array().unwrap().iter().map(|result| {
            let line = &result["lines"][0];
            (line["start_line"].as_u64().unwrap(), line["text"].as_str().unwrap().to_owned())
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(found(&["-F", "\\u00f6"]), [(2, "\"a\": \"Gr\\u00f6\\u00dfe\"".to_owned())]);
    assert_eq!(found(&["&#246;"]), [(2, "<a>Gr&#246;&#223;e</a>".to_owned())]);
    assert_eq!(found(&["Größe"]).len(), 2);
    assert_eq!(found(&[r"\d{4}"]), []);
    env.write("a.json", "{\"b\": \"Gr\\u00f6\\u00dfe\"}");
    assert_eq!(found(&["-F", "\\u00f6"]), []);
}

#[test]
fn sessions_and_exports_of_chats_are_conversations() {
    let env = TestEnv::new();
    let session = [
        r#"{"type":"user","message":{"role":"user","content":"Wie gro\u00df ist die M\u00f6we?"},"sessionId":"s"}"#,
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"60 cm.\nEtwa."}]},"sessionId":"s"}"#,
    ];
    env.write("s.jsonl", session.join("\n"));
    let chat = |name: &str, text: &str| {
        format!(
            r#"{{"title": "{name}", "mapping": {{"a": {{"message": {{"author": {{"role": "user"}}, "content": {{"parts": ["{text}"]}}}}}}}}}}"#
        )
    };
    env.write(
        "conversations.json",
        format!("[{}, {}]", chat("Tide", "High?"), chat("Ebb", "Low?")),
    );
    assert_eq!(report(&env, &["add", "s.jsonl", "conversations.json"]).added, 3);
    let titles = env.sql_column("SELECT title FROM documents ORDER BY id");
    assert_eq!(titles, ["Wie groß ist die Möwe?", "High?", "Low?"]);
    let shown = env.ok(&["convert", "s.jsonl"]).stdout;
    assert_eq!(shown, "User: Wie groß ist die Möwe?\n\nAssistant: 60 cm.\nEtwa.\n");
    let found = env.json(&["grep", "Etwa", "--format", "json"]);
    assert_eq!(found["results"][0]["lines"][0]["start_line"], 2);
}

#[test]
fn files_that_programs_write_for_programs_are_left_out() {
    let env = TestEnv::new();
    env.write("app/package.json", "{\"name\": \"tide\"}");
    env.write("app/package-lock.json", "{\"name\": \"tide\"}");
    env.write("app/words.min.json", "{}");
    let report = report(&env, &["add", "app"]);
    assert_eq!((report.added, report.ignored), (1, 2));
    let kinds: Vec<&str> = report.ignored_kinds.iter().map(|kind| kind.kind.as_str()).collect();
    assert_eq!(kinds, [".min.json", "package-lock.json"]);
    env.kb(&["add", "app/package-lock.json"]).expect(1);
    env.ok(&["add", "app/package-lock.json", "--type", "markdown"]);
}

#[test]
fn further_extensions_are_read_everywhere_once_they_are_listed() {
    let env = TestEnv::new();
    env.write("docs/tide.md", "# Tide\n\nWater.\n");
    env.write("docs/gauge.conf", "float = 3\n");
    env.write("docs/gauge.ini", "chain = 4\n");
    assert_eq!(report(&env, &["add", "docs"]).added, 1);
    env.ok(&["config", "set", "ingestion.text_extensions", "conf, .INI"]);
    let plan = env.json(&["add", "docs", "--dry-run", "--format", "json"]);
    assert_eq!(plan["new"], 2, "{plan}");
    let foreseen: Update = read(&env.ok(&["update", "--dry-run", "--format", "json"]));
    assert_eq!(foreseen.added, 2);
    let updated: Update = read(&env.ok(&["update", "--format", "json"]));
    assert_eq!((updated.added, updated.failed.len()), (2, 0));
    let found = env.json(&["search", "float", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["type"], "markdown");
    let files: Files = read(&env.ok(&["files", "--indexed", "--format", "json"]));
    assert_eq!(files.files.len(), 3);
    assert_eq!(env.ok(&["convert", "docs/gauge.conf"]).stdout, "float = 3\n");
    // A file whose extension is no longer listed stays, and follows its changes.
    env.ok(&["config", "set", "ingestion.text_extensions", "conf"]);
    env.write("docs/gauge.ini", "chain = 55\n");
    env.write("docs/new.ini", "rope = 5\n");
    let updated: Update = read(&env.ok(&["update", "--format", "json"]));
    assert_eq!((updated.added, updated.updated), (0, 1));
    assert_eq!(env.json(&["search", "55", "--fts-only"])["total_matches"], 1);
    let files: Files = read(&env.ok(&["files", "--format", "json"]));
    let ignored = files.files.iter().find(|file| file.path.ends_with("new.ini")).unwrap();
    assert_eq!(ignored.reason.as_deref(), Some("type"));
    // A list in the file is the same, and what is no extension is refused.
    fs::write(env.path(".kb/config.yaml"), "ingestion:\n  text_extensions: [ini]\n").unwrap();
    let updated: Update = read(&env.ok(&["update", "--format", "json"]));
    assert_eq!(updated.added, 1);
    let refused = env.kb(&["config", "set", "ingestion.text_extensions", "*.ini"]).expect(1);
    assert!(
        refused.stderr.contains("must have extensions of letters and digits"),
        "{}",
        refused.stderr
    );
}
