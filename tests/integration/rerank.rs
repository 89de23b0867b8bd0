//! Tests `search.rerank_command`: the order, every way in which the program can fail, and whose settings count.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::env::{Output, TestEnv};
use crate::left_out::left_out;
use crate::mcp_client::Client;

/// Gives the last result the largest score.
const REVERSE: &str = r#"sed 's/.*"chunk_id":\([0-9]*\).*/\1/' | awk '{ print "{\"chunk_id\": " $1 ", \"score\": " NR "}" }'"#;

/// Makes a home with the sample documents and a program.
fn home(script: &str) -> TestEnv {
    let env = TestEnv::with_corpus();
    set(&env, script);
    env
}

fn set(env: &TestEnv, script: &str) {
    let path = env.write("rerank.sh", format!("PATH=/usr/bin:/bin\n{script}\n"));
    env.ok(&["config", "set", "search.rerank_command", &format!("/bin/sh '{}'", path.display())]);
    env.ok(&["config", "set", "search.rerank_ms", "120000"]);
}

fn search(env: &TestEnv, args: &[&str]) -> Output {
    env.kb(&[&["search", "frozen gauge"], args].concat()).expect(0)
}

fn ids(answer: &Value) -> Vec<i64> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|hit| hit["chunk_id"].as_i64().unwrap()).collect()
}

#[test]
fn the_order_is_that_of_the_program_and_scores_stay() {
    let env = TestEnv::with_corpus();
    let plain = search(&env, &["--top=40"]).json();
    assert!(plain.get("reranked").is_none() && plain["results"][0].get("rerank_score").is_none());
    set(&env, REVERSE);
    let answer = search(&env, &["--top=40"]).json();
    assert_eq!(answer["reranked"], true);
    assert!(answer.get("rerank_error").is_none());
    let mut reversed = ids(&plain);
    reversed.reverse();
    assert_eq!(ids(&answer), reversed);
    for hit in answer["results"].as_array().unwrap() {
        let before = plain["results"].as_array().unwrap();
        let before = before.iter().find(|other| other["chunk_id"] == hit["chunk_id"]).unwrap();
        assert_eq!((&hit["score"], &hit["evidence"]), (&before["score"], &before["evidence"]));
        assert!(hit["rerank_score"].is_number());
    }
    assert_eq!(answer["confidence"], plain["confidence"]);
    assert_eq!(answer["total_matches"], plain["total_matches"]);
    // Fewer results are the first of the same order, and passages also have this order.
    assert_eq!(ids(&search(&env, &["--top=2"]).json()), reversed[..2]);
    let passages = search(&env, &["--budget=300"]).json();
    assert_eq!((&passages["reranked"], ids(&passages)[0]), (&json!(true), reversed[0]));
    let human = search(&env, &["--format=human"]).stdout;
    assert!(human.contains("Ordered by search.rerank_command."), "{human}");
    let lines = search(&env, &["--format=jsonl", "--top=2"]).stdout;
    assert!(lines.lines().all(|line| line.contains("\"rerank_score\":")), "{lines}");
}

#[test]
fn agents_get_the_same_order() {
    let env = home(REVERSE);
    let mut client = Client::start(&env, "", &[]);
    let answer = client.data("kb_search", json!({ "query": "frozen gauge" }));
    assert_eq!(answer, search(&env, &[]).json());
    let text = client.text("kb_search", json!({ "query": "frozen gauge" }));
    assert!(!text.contains("reranked"), "{text}");
    set(&env, "exit 4");
    let mut client = Client::start(&env, "", &[]);
    let text = client.text("kb_search", json!({ "query": "frozen gauge" }));
    assert!(text.lines().any(|line| line.starts_with("not reranked: it ended with")), "{text}");
}

#[test]
fn the_program_reads_the_query_and_the_passages() {
    let env = home(&format!("tee seen | {REVERSE}"));
    let answer = search(&env, &[]).json();
    let seen = fs::read_to_string(env.path(".kb/seen")).unwrap();
    let seen: Vec<Value> = seen.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(seen.len() >= answer["results"].as_array().unwrap().len());
    for hit in answer["results"].as_array().unwrap() {
        let read = seen.iter().find(|read| read["chunk_id"] == hit["chunk_id"]).unwrap();
        assert_eq!(read["query"], "frozen gauge");
        assert_eq!(read["text"], hit["text"]);
        assert_eq!(read["title"], hit["source"]["title"]);
        assert_eq!(read["section"], hit["source"]["section"]);
    }
}

#[test]
fn whatever_goes_wrong_the_order_stays_and_the_answer_says_why() {
    let env = TestEnv::with_corpus();
    let plain = search(&env, &[]).json();
    let cases = [
        ("cat", "line 1 of its output"),
        ("echo garbage", "line 1 of its output"),
        ("true", "it gave no score to"),
        (&format!("({REVERSE}) | head -n 1"), "it gave no score to"),
        (&format!("({REVERSE}) | sed p"), "has two scores"),
        ("echo '{\"chunk_id\": 999999, \"score\": 1}'", "chunk 999999 is not one of the results"),
        ("echo '{\"chunk_id\": 1, \"score\": NaN}'", "line 1 of its output"),
        ("echo '{\"chunk_id\": 1, \"score\": 1e999}'", "line 1 of its output"),
        ("echo '{\"chunk_id\": 1, \"score\": null}'", "line 1 of its output"),
        ("printf '\\377\\n'", "not UTF-8"),
        ("yes", "more than 8 MB"),
        ("echo 'no such model' >&2; exit 3", "no such model"),
    ];
    for (script, reason) in cases {
        set(&env, script);
        let output = search(&env, &[]);
        let answer = output.json();
        assert_eq!(ids(&answer), ids(&plain), "{script}");
        assert_eq!(answer["reranked"], false, "{script}");
        let said = answer["rerank_error"].as_str().unwrap();
        assert!(said.contains(reason) && !said.contains('\n'), "{script}: {said}");
        assert!(
            output.stderr.contains("search.rerank_command failed, so the order is unchanged"),
            "{}",
            output.stderr
        );
        assert!(answer["results"][0].get("rerank_score").is_none());
    }
    let human = search(&env, &["--format=human"]).stdout;
    assert!(human.contains("Not reranked: it ended with"), "{human}");
    env.ok(&["config", "set", "search.rerank_command", "no-such-program-of-kb --fast"]);
    let said = search(&env, &[]).json()["rerank_error"].to_string();
    assert!(said.contains("`no-such-program-of-kb` cannot be started"), "{said}");
    env.ok(&["config", "set", "search.rerank_command", "./rerank.sh"]);
    let said = search(&env, &[]).json()["rerank_error"].to_string();
    assert!(said.contains("neither an absolute path nor a plain name"), "{said}");
}

#[test]
fn a_program_that_hangs_is_killed_in_time() {
    let env = home("sleep 600");
    env.ok(&["config", "set", "search.rerank_ms", "300"]);
    let answer = search(&env, &[]).json();
    assert_eq!(answer["rerank_error"], "it took more than 300 ms");
}

#[test]
fn only_the_users_own_settings_start_a_program() {
    let env = TestEnv::with_corpus();
    let marker = env.path("was-started");
    let command = format!("search:\n  rerank_command: \"/usr/bin/touch '{}'\"\n", marker.display());
    // A project's, without and with the user's permission to use it.
    fs::create_dir_all(env.path("project/.kb")).unwrap();
    fs::copy(env.database(), env.path("project/.kb/kb.db")).unwrap();
    fs::write(env.path("project/.kb/config.yaml"), &command).unwrap();
    let search = || env.finish(env.command(&["search", "gauge"]).current_dir(env.path("project")));
    search().expect(0);
    for allow in [&["base", "allow", "--yes"][..], &["base", "allow", "--files", "--yes"]] {
        env.finish(env.command(allow).current_dir(env.path("project"))).expect(0);
        let output = search().expect(0);
        assert!(output.json()["total_matches"].as_u64().unwrap() > 0);
        assert!(output.json().get("reranked").is_none(), "{}", output.stdout);
    }
    // The program is not started either if the folder is named, or is a link.
    fs::rename(env.path("project/.kb"), env.path("project/data")).unwrap();
    std::os::unix::fs::symlink("data", env.path("project/.kb")).unwrap();
    let output = env.kb(&["--data-dir", "project/.kb", "search", "gauge"]).expect(0);
    let warning = "`search.rerank_command` has no effect in the settings of a project";
    assert!(output.stderr.contains(warning), "{}", output.stderr);
    search().expect(0);
    assert!(!marker.exists(), "a program was started");
    // A folder that the user names is the user's own, and the usual one is anyway.
    env.ok(&["--data-dir", "project/data", "search", "gauge"]);
    assert!(marker.exists());
    fs::remove_file(&marker).unwrap();
    fs::write(env.path(".kb/config.yaml"), &command).unwrap();
    env.ok(&["search", "gauge"]);
    assert!(marker.exists());
}

#[test]
fn the_example_in_the_page_follows_the_protocol() {
    let page = include_str!("../../docs/rerank.md");
    let program = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let python = "/usr/bin/python3";
    if !Command::new(python).arg("--version").output().is_ok_and(|run| run.status.success()) {
        return left_out("python3", "the example of a reranker");
    }
    let env = TestEnv::with_corpus();
    // Stands for the library: the longest passage is the best.
    let library = "class CrossEncoder:\n    def __init__(self, name, max_length): pass\n    \
                   def predict(self, pairs): return [len(text) for _, text in pairs]\n";
    env.write("lib/sentence_transformers.py", library);
    let path = env.write("rerank.py", program);
    let command = format!(
        "/usr/bin/env PYTHONPATH={} {python} {}",
        env.path("lib").display(),
        path.display()
    );
    env.ok(&["config", "set", "search.rerank_command", &command]);
    env.ok(&["config", "set", "search.rerank_ms", "120000"]);
    let answer = search(&env, &[]).json();
    assert_eq!(answer["reranked"], true, "{answer}");
    let texts = answer["results"].as_array().unwrap().iter();
    let lengths: Vec<usize> =
        texts.map(|hit| hit["text"].as_str().unwrap().chars().count()).collect();
    assert!(lengths.is_sorted_by(|one, other| one >= other), "{lengths:?}");
}
