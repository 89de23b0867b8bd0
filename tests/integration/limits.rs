//! Tests numbers, lines and files beyond any sensible size: they end in a clear error or in
//! everything there is, never in a hang.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use kb_base::limits;
use serde_json::{Value, json};

use crate::env::{Output, TestEnv, with_stdin};
use crate::mcp_client::Client;
use crate::word_model::{check_database, word_env};

/// Requires a one-line error that contains all these parts.
#[track_caller]
fn check_refused(output: Output, parts: &[&str]) {
    let output = output.expect(1);
    let first = output.stderr.lines().next().unwrap_or_default();
    for part in parts {
        assert!(first.contains(part), "{part}: {}", output.text());
    }
}

/// Runs the program with `/dev/zero` as standard input.
#[cfg(unix)]
fn with_zeros(env: &TestEnv, args: &[&str]) -> Output {
    let mut command = env.command(args);
    command.stdin(fs::File::open("/dev/zero").unwrap());
    env.finish(&mut command)
}

#[test]
fn a_number_out_of_range_is_refused_with_the_flag_and_the_range() {
    let env = word_env();
    for typed in ["0", "-1", "1000001", "4294967296", "99999999999999999999", "many"] {
        for flag in ["--top", "--per-doc"] {
            let output = env.kb(&["search", "tide", "--format=human", flag, typed]);
            check_refused(output, &[flag, typed, "must be a whole number from 1 to 1000000"]);
        }
    }
    for typed in ["0", "1000001"] {
        let output = env.kb(&["search", "tide", "--format=human", "--budget", typed]);
        check_refused(output, &["--budget", typed, "from 1 to 1000000"]);
    }
    let output = env.kb(&["eval", "--queries", "4294967296"]);
    check_refused(output, &["--queries", "4294967296", "from 1 to 1000000"]);
    let output = env.kb(&["search", "tide", "--format=human", "--context=1", "--top=1001"]);
    check_refused(output, &["--top", "1001", "at most 1000"]);
    // A number that plainly means everything returns everything.
    assert_eq!(env.json(&["search", "tide", "--top", "1000000"])["returned"], 3);
}

#[test]
fn a_setting_out_of_range_is_refused_with_key_value_and_range() {
    let env = TestEnv::with_runtime();
    for limit in limits::SETTINGS {
        let variable = format!("KB_{}", limit.name.to_uppercase().replace('.', "_"));
        let above = (u64::from(limit.max) + 1).to_string();
        let mut values = vec![above.as_str(), "4294967296", "-1", "1.5"];
        values.extend((limit.min > 0).then_some("0"));
        for value in values {
            let output = env.kb_with(&[(&variable, value)], &["list"]);
            let value = format!("`{value}`");
            check_refused(output, &[&variable, limit.name, &limit.range(), &value]);
        }
    }
    for (key, value) in [("workers", "1000000000"), ("batch_size", "4294967295")] {
        env.write(".kb/config.yaml", format!("ingestion:\n  {key}: {value}\n"));
        check_refused(
            env.kb(&["add", "--note", "x"]),
            &[key, value, "must be a whole number from"],
        );
    }
}

#[test]
fn every_integer_setting_has_a_range() {
    let env = TestEnv::with_runtime();
    let settings = env.json(&["config", "--format=json"]);
    for setting in settings.as_array().unwrap() {
        let (key, value) = (setting["key"].as_str().unwrap(), &setting["typed_value"]);
        let has_range = limits::SETTINGS.iter().any(|limit| limit.name == key);
        assert_eq!(value.is_u64(), has_range, "{key}: {value}");
    }
}

#[test]
fn a_huge_number_of_neighbours_returns_the_full_document() {
    let env = word_env();
    let text = (0..40).fold(String::new(), |mut text, number| {
        write!(text, "## Part {number}\n\n{}\n\n", "the salt of the oak barrel ".repeat(9))
            .unwrap();
        text
    });
    env.write("long.md", format!("# Long\n\n{text}\nThe pump signal.\n"));
    env.ok(&["add", "long.md"]);
    for budget in [&[][..], &["--budget", "1000000"]] {
        let context = ["search", "pump signal", "--fts-only", "--top=1", "--context", "4294967295"];
        let found = env.json(&[&context[..], budget].concat());
        let chunks = found["results"][0]["chunk_ids"].as_array().map(Vec::len);
        let total = found["results"][0]["source"]["total_chunks"].as_u64().unwrap();
        assert!(total > 10, "{total}");
        assert_eq!(chunks.map(|count| count as u64), Some(total));
    }
    let id = env.json(&["search", "pump signal", "--fts-only", "--top=1"]);
    let id = id["results"][0]["chunk_id"].to_string();
    let shown = env.json(&["show", "--chunk", &id, "--around", "4294967295", "--format=json"]);
    assert!(shown["text"].as_str().unwrap().contains("Part 39"), "{shown}");
    check_refused(env.kb(&["show", "--chunk", &id, "--around", "4294967296"]), &["--around"]);

    let mut client = Client::start(&env, "", &[]);
    let answer = client.call("kb_search", json!({ "query": "pump", "context": 4_294_967_295_u32 }));
    assert_eq!(answer["ok"], true, "{answer}");
    // The tool is available for the next call.
    assert_eq!(client.call("kb_search", json!({ "query": "tide" }))["ok"], true);
    for (name, value) in
        [("top", json!(1_000_001)), ("top", json!(0)), ("budget", json!(1_000_001))]
    {
        let answer = client.call("kb_search", json!({ "query": "tide", name: value }));
        assert_eq!(answer["error"]["code"], "INVALID_PARAMS", "{answer}");
    }
    assert_eq!(client.close().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn an_endless_line_or_document_is_an_error() {
    let env = word_env();
    let batch = ["search", "--batch", "-"];
    let too_long = with_zeros(&env, &batch).expect(1);
    assert_eq!(too_long.json_error()["error"], "line 1 is longer than 1 MB");
    let output = env.kb(&["search", "--batch", "/dev/zero"]).expect(1);
    assert_eq!(output.json_error()["code"], "unsupported_format");
    let too_long = with_zeros(&env, &["embed", "--stdin"]).expect(1);
    assert_eq!(too_long.json_error()["error"], "line 1 is longer than 1 MB");
    // Earlier lines are answered.
    let typed = format!("tide\n{}", "x".repeat(2 << 20));
    let output = with_stdin(&env, &batch, &typed).expect(1);
    assert_eq!(output.stdout.lines().count(), 1, "{}", output.stdout);
    let mut env = env;
    env.set("KB_INGESTION_MAX_FILE_MB", "1");
    check_refused(
        with_zeros(&env, &["add", "-"]),
        &["standard input is larger than ingestion.max_file_mb (1 MB)"],
    );
    check_database(&env);
}

#[test]
fn endless_settings_are_refused_at_once() {
    let env = TestEnv::with_runtime();
    let keys = |count: usize| {
        (0..count).fold(String::new(), |mut text, number| {
            writeln!(text, "k{number}: 1").unwrap();
            text
        })
    };
    for text in [
        format!("a: {}", "[".repeat(100_000)),
        format!("a: {}", "[".repeat(60_000)),
        format!("a: {}", "{a: ".repeat(10_000)),
        keys(300_000),
        "- ".repeat(30_000),
        "? ".repeat(30_000),
    ] {
        env.write(".kb/config.yaml", text);
        check_refused(env.kb(&["list"]), &["invalid configuration in", "config.yaml"]);
    }
    env.write(".kb/config.yaml", keys(5_000));
    let output = env.ok(&["list"]);
    assert_eq!(output.stderr.lines().count(), 11, "{}", output.stderr);
    assert!(output.stderr.contains("4990 more unknown keys in"), "{}", output.stderr);
    for (name, value) in
        [("KB_DEFAULT_TOP", "[".repeat(60_000)), ("KB_SEARCH_RRF_K", "{a: ".repeat(20_000))]
    {
        env.write(".kb/config.yaml", "");
        check_refused(env.kb_with(&[(name, &value)], &["list"]), &[name]);
    }
}

#[test]
fn a_long_query_is_answered_and_an_endless_one_is_refused() {
    let env = word_env();
    let words: Vec<String> = (0..16_000).map(|number| format!("w{number}")).collect();
    let query = format!("salt {}", words.join(" "));
    let line = json!({ "query": query, "top": 1 }).to_string();
    let output = with_stdin(&env, &["search", "--batch", "-"], &line).expect(0);
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(answer["results"][0]["source"]["title"], "Lamp", "{answer}");
    assert!(
        output.stderr.contains("only the first 256 distinct words of the query"),
        "{}",
        output.stderr
    );
    let mut client = Client::start(&env, "", &[]);
    for (query, code) in [("x ".repeat(5 << 20), "usage"), ("-x ".repeat(65) + "salt", "usage")] {
        let answer = client.call("kb_search", json!({ "query": query }));
        assert_eq!(answer["error"]["details"]["code"], code, "{answer}");
    }
    assert_eq!(client.close().code(), Some(0));
}

#[test]
fn a_server_never_reads_its_protocol_as_a_document() {
    let env = word_env();
    let mut client = Client::start(&env, "", &["--allow-write"]);
    for paths in [json!(["-"]), json!(["docs", "-"])] {
        let answer = client.call("kb_add", json!({ "paths": paths }));
        assert_eq!(answer["error"]["details"]["code"], "usage", "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("standard input"));
    }
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    assert_eq!(client.close().code(), Some(0));
    assert_eq!(env.json(&["list", "--format=json"]).as_array().unwrap().len(), 3);
}

#[test]
fn endless_or_deeply_nested_messages_do_not_stop_the_server() {
    let env = word_env();
    let mut client = Client::start(&env, "", &[]);
    client.send_line(&"x".repeat(limits::MCP_MESSAGE_BYTES + 1));
    client.send_line(&"[".repeat(1_000_000));
    client.send_line(&format!("{{\"a\":{}", "{\"a\":".repeat(100_000)));
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    assert_eq!(client.close().code(), Some(0));
}

#[test]
fn a_document_that_takes_too_long_fails_alone() {
    let mut env = word_env();
    env.set("KB_INGESTION_MAX_CPU_SECONDS", "1");
    let hostile = "int a(int b) { return b; }\n".repeat(60_000);
    env.write("more/hostile.c", &hostile);
    env.write("more/good.md", "# Good\n\nThe oak barrel.\n");
    let report = env.json(&["add", "more", "--format=json"]);
    assert_eq!(report["failed"], 1, "{report}");
    assert_eq!(report["errors"][0]["code"], "timed_out", "{report}");
    assert_eq!(
        report["errors"][0]["error"],
        "it takes more than ingestion.max_cpu_seconds (1 s) of processor time"
    );
    let report = env.json(&["add", "more", "--format=json"]);
    assert_eq!((&report["failed"], &report["known_failed"]), (&json!(0), &json!(1)), "{report}");
    let titles: Vec<Value> = env
        .json(&["list", "--format=json"])
        .as_array()
        .unwrap()
        .iter()
        .map(|document| document["title"].clone())
        .collect();
    assert!(titles.contains(&json!("Good")) && titles.len() == 4, "{titles:?}");
    let output = env.kb(&["add", "more/hostile.c"]).expect(1);
    assert!(
        output.stderr.contains("hint: raise it with `kb config set ingestion.max_cpu_seconds N`")
    );
    let output = with_stdin(&env, &["add", "-", "--format=json"], &hostile.repeat(8)).expect(1);
    assert_eq!(output.json_error()["code"], "timed_out");
    check_database(&env);
}

#[test]
fn the_page_of_limits_matches_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/limits.md");
    let page = fs::read_to_string(page).unwrap();
    let flags = [limits::TOP, limits::BUDGET, limits::QUERIES];
    for limit in flags.iter().chain(limits::SETTINGS) {
        let row = format!("| `{}` | {} to {} |", limit.name, limit.min, limit.max);
        assert!(page.contains(&row), "{row}");
    }
    for (what, limit) in [
        ("a query", format!("{} MB", limits::QUERY_BYTES >> 20)),
        ("words, phrases and beginnings of a query", limits::QUERY_TERMS.to_string()),
        ("beginnings (`word*`) among them", limits::QUERY_PREFIXES.to_string()),
        ("exclusions in a query", limits::QUERY_EXCLUSIONS.to_string()),
        (
            "a line of `kb search --batch` or `kb embed --stdin`",
            format!("{} MB", limits::BATCH_LINE_BYTES >> 20),
        ),
        ("the first line of an export", format!("{} MB", limits::EXPORT_HEAD_BYTES >> 20)),
        ("another line of an export", format!("{} MB", limits::EXPORT_LINE_BYTES >> 20)),
        ("an id in an export", limits::IMPORTED_ID.to_string()),
        (
            "cells of a spreadsheet, all sheets together, or of a CSV file",
            limits::SPREADSHEET_CELLS.to_string(),
        ),
        ("requests to `kb mcp` that are worked on at once", limits::MCP_CALLS.to_string()),
        (
            "pages of a document, and each of its bookmarks, page labels, comments and pictures on pages",
            limits::READ_PAGES.to_string(),
        ),
        (
            "blocks (paragraphs, tables, headings, definitions) that are found in a document",
            limits::READ_BLOCKS.to_string(),
        ),
        (
            "headings above all blocks together, and lines of a text whose numbers are those of the file",
            limits::READ_HEADINGS.to_string(),
        ),
        (
            "columns of all tables, and values of any other list (tags, links, warnings)",
            limits::READ_OTHERS.to_string(),
        ),
        ("characters of a title", limits::TITLE_CHARS.to_string()),
        ("the side of a page that is drawn, in pixels", limits::PICTURE_SIDE.to_string()),
        ("a message to `kb mcp`", format!("{} MB", limits::MCP_MESSAGE_BYTES >> 20)),
        ("`config.yaml`, front matter", format!("{} KB", limits::YAML_BYTES >> 10)),
        ("brackets open at once in YAML", limits::YAML_DEPTH.to_string()),
        ("`--top` with `--context` or `--budget`", limits::TOP_OF_PASSAGES.to_string()),
    ] {
        let row = format!("| {what} | {limit} |");
        assert!(page.contains(&row), "{row}");
    }
}
