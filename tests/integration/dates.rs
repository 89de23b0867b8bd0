//! Dates of documents: in lists, and in the order of results.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;

/// A home with three notes of one text. Without dates, the oldest is first.
fn env() -> TestEnv {
    let env = TestEnv::new();
    for (name, date) in [("a", "2019-05-06"), ("b", "2024-02-01"), ("c", "2024-03-01")] {
        let text = format!("---\ndate: {date}\n---\n# Gauge\n\nThe gauge is read daily.\n");
        env.write(&format!("docs/{name}.md"), &text);
    }
    env.ok(&["add", "docs"]);
    env
}

#[test]
fn a_list_shows_the_dates_of_documents_and_is_sorted_by_them() {
    let env = env();
    let list = env.json(&["list", "--sort=date", "--format=json"]);
    let rows = list.as_array().unwrap();
    let dates: Vec<_> = rows.iter().map(|row| row["date"].as_str().unwrap()).collect();
    assert_eq!(dates, ["2024-03-01", "2024-02-01", "2019-05-06"]);
    assert!(rows.iter().all(|row| row["date_origin"] == "document"), "{list}");
    assert!(rows.iter().all(|row| row["created_at"] != row["date"]), "{list}");
    let shown = env.ok(&["list", "--sort=date", "--reverse"]).stdout;
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[0].contains("DATE") && lines[1].contains("2019-05-06  Gauge"), "{shown}");
    env.ok(&["edit", "1", "--date", "2000-01-02"]);
    let list = env.json(&["list", "--sort=date", "--format=json"]);
    let last = &list[2];
    assert_eq!((&last["date"], &last["date_origin"]), (&json!("2000-01-02"), &json!("user")));
    let mut client = Client::start(&env, "", &[]);
    assert_eq!(client.data("kb_list", json!({ "sort": "date" })), list);
    let text = client.text("kb_list", json!({ "sort": "date" }));
    let first = format!("markdown, 1 chunk, 2000-01-02 {}", env.path("docs/a.md").display());
    assert!(text.contains(&first), "{text}");
}

/// Returns the dates of an answer's results.
fn dates(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|hit| hit["source"]["date"].as_str().unwrap()).collect()
}

#[test]
fn newer_documents_win_near_ties_if_a_search_asks_for_it() {
    let env = env();
    let query = "when is the gauge read";
    let plain = env.json(&["search", query]);
    assert!(plain["results"][0]["evidence"]["recency"].is_null(), "{plain}");
    assert_eq!(dates(&plain), ["2019-05-06", "2024-02-01", "2024-03-01"]);
    let recent = env.json(&["search", query, "--recent=30"]);
    assert_eq!(dates(&recent), ["2024-03-01", "2024-02-01", "2019-05-06"]);
    let newest = &recent["results"][0];
    assert_eq!(newest["evidence"]["recency"], 1.0);
    for hit in recent["results"].as_array().unwrap() {
        let (terms, score) = (&hit["score_breakdown"], hit["score"].as_f64().unwrap());
        let sum = terms["fts"].as_f64().unwrap() + terms["vector"].as_f64().unwrap();
        assert!((sum - score).abs() < 1e-12 && score <= 2.0 / 61.0, "{hit}");
        let share = hit["evidence"]["recency"].as_f64().unwrap();
        assert!((0.9..=1.0).contains(&share), "{hit}");
    }
    // The newest document that passes the filter is the one from which ages count.
    let old = env.json(&["search", query, "--recent=30", "--until=2019"]);
    let share = &old["results"][0]["evidence"]["recency"];
    assert_eq!((dates(&old), share), (vec!["2019-05-06"], &json!(1.0)));
    let text = env.ok(&["search", query, "--recent=365", "--explain", "--format=human"]).stdout;
    assert!(text.contains(", recency of 2024-03-01 1.000"), "{text}");
    // Without a setting, the half life is a month. A number needs the sign: without it, it is a word.
    assert_eq!(
        env.json(&["search", query, "--recent"]),
        env.json(&["search", query, "--recent=30"])
    );
    assert_eq!(env.json(&["search", query, "--recent", "7"])["query"], format!("{query} 7"));
    env.kb(&["search", query, "--recent=36501"]).expect(1);
}

#[test]
fn a_setting_makes_every_search_prefer_newer_documents() {
    let env = env();
    let query = "when is the gauge read";
    let (plain, recent) =
        (env.json(&["search", query]), env.json(&["search", query, "--recent=365"]));
    let mut client = Client::start(&env, "", &[]);
    assert_eq!(client.data("kb_search", json!({ "query": query, "recent": 365 })), recent);
    env.write("queries", format!("{}\n", json!({ "query": query, "recent": 365 })));
    let line: Value =
        serde_json::from_str(&env.ok(&["search", "--batch", "queries"]).stdout).unwrap();
    assert_eq!(line, recent);
    env.ok(&["config", "set", "search.half_life_days", "365"]);
    for args in [&["search", query][..], &["search", query, "--recent"]] {
        assert_eq!(env.json(args), recent, "{args:?}");
    }
    assert_eq!(env.json(&["search", query, "--recent=0"]), plain);
}

#[test]
fn ages_count_from_the_newest_document_of_all_bases() {
    let env = env();
    env.ok(&["base", "add", "work"]);
    env.write("work/d.md", "---\ndate: 2023-03-02\n---\n# Gauge d\n\nThe gauge is read daily.\n");
    env.ok(&["--base", "work", "add", "work"]);
    let search = |bases: &str| {
        let found =
            env.json(&["--base", bases, "search", "when is the gauge read", "--recent=365"]);
        let results = found["results"].as_array().unwrap().clone();
        let d = results.iter().find(|hit| hit["source"]["title"] == "Gauge d").unwrap();
        d["evidence"]["recency"].as_f64().unwrap()
    };
    assert!((search("work") - 1.0).abs() < 1e-12);
    for bases in ["work,default", "default,work"] {
        assert!((search(bases) - 0.975).abs() < 1e-12, "{bases}");
    }
}

#[test]
fn a_note_says_what_a_relative_date_means() {
    let env = TestEnv::with_corpus();
    let since = ["--since", "last year", "--format", "json"];
    for command in [&["search", "tide"][..], &["grep", "tide"], &["list"]] {
        let run = env.kb(&[command, &since].concat()).expect(0);
        let expected = "note: `last year` is from ";
        assert!(run.stderr.contains(expected), "{command:?}: {}", run.stderr);
    }
    let found = env.json(&[&["search", "tide"][..], &since].concat());
    let note = found["notes"][0].as_str().unwrap();
    assert!(note.starts_with("`last year` is from ") && note.ends_with("-01-01 on"), "{note}");
    let refused = env.kb(&["list", "--since", "5/6/2026"]).expect(1);
    assert!(refused.stderr.contains("2026-06-05 or 2026-05-06"), "{}", refused.stderr);
}
