//! Tests several phrasings of one query: `--also`, and `queries` for programs.

use serde_json::{Value, json};

use crate::env::{TestEnv, with_stdin};
use crate::mcp_client::Client;

const QUERY: &str = "frozen gauge";
const ALSO: &str = "ice in the stilling well";

fn search(env: &TestEnv, args: &[&str]) -> Value {
    env.ok(&[&["search"], args].concat()).json()
}

fn results(answer: &Value) -> &Vec<Value> {
    answer["results"].as_array().unwrap()
}

fn ids(answer: &Value) -> Vec<i64> {
    results(answer).iter().map(|hit| hit["chunk_id"].as_i64().unwrap()).collect()
}

#[track_caller]
fn check_near(one: &Value, other: f64) {
    let one = one.as_f64().unwrap_or_default();
    assert!((one - other).abs() < 1e-6, "{one} {other}");
}

#[test]
fn phrasings_are_averaged_within_each_leg() {
    let env = TestEnv::with_corpus();
    let answer = search(&env, &[QUERY, "--also", ALSO, "--top=40"]);
    assert_eq!((&answer["query"], &answer["queries"]), (&json!(QUERY), &json!([QUERY, ALSO])));
    let alone = [QUERY, ALSO].map(|query| search(&env, &[query, "--top=40"]));
    assert!(alone[0].get("queries").is_none());
    assert!(results(&alone[0])[0].get("by_query").is_none());
    let mut num_shared = 0;
    for hit in results(&answer) {
        let parts = hit["by_query"].as_array().unwrap();
        assert_eq!(parts.len(), 2);
        for (part, alone) in parts.iter().zip(&alone) {
            let same = results(alone).iter().find(|other| other["chunk_id"] == hit["chunk_id"]);
            let Some(evidence) = same.map(|same| &same["evidence"]) else { continue };
            num_shared += 1;
            if let Some(bm25) = evidence["bm25"].as_f64() {
                check_near(&part["bm25"], bm25);
            }
            check_near(&part["cosine"], evidence["cosine"].as_f64().unwrap());
        }
        let bm25 = parts.iter().map(|part| part["bm25"].as_f64().unwrap_or_default());
        check_near(&hit["evidence"]["bm25"], bm25.sum::<f64>() / 2.0);
        let terms = &hit["score_breakdown"];
        let sum = ["fts", "vector"].map(|leg| terms[leg].as_f64().unwrap_or_default());
        check_near(&hit["score"], sum.iter().sum());
        assert!(sum.iter().all(|term| *term <= 1.0 / 61.0));
    }
    assert!(num_shared > 10);
    // The average cosine orders the vector leg.
    let vectors = search(&env, &[QUERY, "--also", ALSO, "--vec-only", "--top=40"]);
    let cosines = |hit: &Value| -> f64 {
        let parts = hit["by_query"].as_array().unwrap();
        parts.iter().map(|part| part["cosine"].as_f64().unwrap()).sum()
    };
    let last = results(&vectors).iter().filter(|hit| hit["evidence"]["token_match"].is_null());
    assert!(last.map(cosines).is_sorted_by(|one, other| *one >= other - 1e-6));
}

#[test]
fn the_same_phrasing_twice_changes_nothing() {
    let env = TestEnv::with_corpus();
    let (once, twice) = (search(&env, &[QUERY]), search(&env, &[QUERY, "--also", QUERY]));
    assert_eq!(ids(&once), ids(&twice));
    assert_eq!(once["confidence"], twice["confidence"]);
    for (one, other) in results(&once).iter().zip(results(&twice)) {
        check_near(&one["score"], other["score"].as_f64().unwrap());
    }
}

#[test]
fn a_word_that_a_query_repeats_counts_once() {
    let env = TestEnv::with_corpus();
    let words = |answer: Value| -> Vec<(Value, Value)> {
        let evidence = |hit: &Value| (hit["chunk_id"].clone(), hit["evidence"]["bm25"].clone());
        results(&answer).iter().map(evidence).collect()
    };
    let once = words(search(&env, &[QUERY, "--fts-only"]));
    assert!(!once.is_empty());
    assert_eq!(words(search(&env, &["frozen gauge gauge Frozen gauge", "--fts-only"])), once);
}

#[test]
fn what_one_phrasing_excludes_is_excluded_and_their_number_is_limited() {
    let env = TestEnv::with_corpus();
    let both = search(&env, &[QUERY, "--also", "ice -brine"]);
    let text = both.to_string();
    assert!(!results(&both).is_empty() && !text.contains("warm brine"), "{text}");
    let many = vec!["--also=gauge"; 8];
    let refused = env.kb(&[&["search", QUERY], many.as_slice()].concat()).expect(1);
    assert!(refused.stderr.contains("at most 8 phrasings, not 9"), "{}", refused.stderr);
    assert!(env.kb(&["search", "--also", ALSO]).status != 0);
    assert!(env.kb(&["search", QUERY, "--also", " "]).expect(1).stderr.contains("empty"));
}

#[test]
fn programs_and_people_get_the_same_answer() {
    let env = TestEnv::with_corpus();
    let answer = search(&env, &[QUERY, "--also", ALSO]);
    let line = json!({ "query": QUERY, "queries": [ALSO] }).to_string();
    let batch = with_stdin(&env, &["search", "--batch", "-"], &line).expect(0);
    assert_eq!(batch.json(), answer);
    let mut client = Client::start(&env, "", &[]);
    assert_eq!(client.data("kb_search", json!({ "query": QUERY, "queries": [ALSO] })), answer);
    let human = env.ok(&["search", QUERY, "--also", ALSO, "--explain", "--format=human"]).stdout;
    for expected in [&format!("\"{QUERY}\", \"{ALSO}\""), "phrasing 1: BM25 ", "phrasing 2: BM25 "]
    {
        assert!(human.contains(expected), "{human}");
    }
    let passages = search(&env, &[QUERY, "--also", ALSO, "--budget=300"]);
    assert_eq!(passages["queries"], json!([QUERY, ALSO]));
}
