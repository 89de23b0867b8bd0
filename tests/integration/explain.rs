//! Tests why a passage is found or not: terms, verdicts, the trace of one document, narrower
//! searches.

use crate::contract::{Eval, Search, Term, Why, read};
use crate::env::TestEnv;

fn titles(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let answer: Search = read(&env.ok(&[&["search", "--top", "100"], args].concat()));
    answer.results.into_iter().map(|result| result.source.title).collect()
}

#[test]
fn explained_terms_add_up_to_the_score_of_their_leg() {
    let env = TestEnv::with_corpus();
    let answer = env.json(&["search", "battery gauge wint*", "--explain"]);
    let results = answer["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for hit in results {
        let Some(bm25) = hit["evidence"]["bm25"].as_f64() else { continue };
        let terms: Vec<Term> = serde_json::from_value(hit["terms"].clone()).unwrap();
        let sum: f64 = terms.iter().map(|term| term.bm25).sum();
        assert!((sum - bm25).abs() < 1e-9, "{hit}");
        assert!(
            terms.iter().all(|term| ["battery", "gauge", "wint*"].contains(&term.term.as_str()))
        );
    }
    let plain = env.json(&["search", "battery gauge wint*"]);
    assert!(plain["results"][0].get("terms").is_none());
    let text = env.ok(&["search", "battery gauge", "--explain", "--format", "human"]).stdout;
    assert!(text.contains("keywords rank 1") && text.contains("battery: "), "{text}");
    assert!(text.contains("; token match "), "{text}");
}

#[test]
fn an_answer_states_its_confidence() {
    let env = TestEnv::real_with_corpus();
    let confidence = |args: &[&str]| {
        let answer: Search = read(&env.ok(&[&["search"], args].concat()));
        answer.confidence
    };
    let high = Some("high".to_owned());
    assert_eq!(confidence(&["what to do when ice forms in the stilling well"]), high);
    assert_eq!(confidence(&["what to do when ice forms in the well", "--fts-only"]), high);
    let none = Some("none".to_owned());
    assert_eq!(confidence(&["quarterly dividend of the pharmaceutical merger"]), none);
    assert_eq!(confidence(&["anything", "--tags", "nowhere"]), None);
    let baking = ["how long must sourdough bread be in the oven", "how to bake bread with yeast"];
    for nonsense in ["zzzz qqqq", "-", "?! ..."].iter().chain(&baking) {
        assert_eq!(confidence(&["--", nonsense]), none, "{nonsense}");
    }
    assert_eq!(confidence(&["zzzz qqqq", "--fts-only"]), none);
    // Without words and without a model's judgment there is no basis.
    for format in ["json", "human"] {
        let args = ["search", "zzzz qqqq", "--vec-only", "--format", format];
        let answer = env.ok(&args).stdout;
        assert!(answer.contains("the model cannot read the query"), "{answer}");
    }
    assert!(env.json(&["search", "zzzz qqqq", "--vec-only"])["confidence"].is_null());
}

#[test]
fn the_probability_and_the_reason_agree_with_the_confidence() {
    let env = TestEnv::real_with_corpus();
    for (query, confidence, reason) in [
        (
            "what to do when ice forms in the stilling well",
            "high",
            "the words and the meaning match",
        ),
        ("how often is the gauge read by people", "low", "match"),
        ("how to bake bread with yeast", "none", "no passage has the word \"bread\""),
    ] {
        let answer: Search = read(&env.ok(&["search", query]));
        let probability = answer.answer_probability.unwrap();
        let expected = match probability {
            0.65.. => "high",
            0.07.. => "low",
            _ => "none",
        };
        assert_eq!(answer.confidence.as_deref(), Some(expected), "{query}: {probability}");
        assert_eq!(
            (expected, true),
            (confidence, answer.confidence_reason.contains(reason)),
            "{answer:?}"
        );
        assert!(
            (probability * 100.0 - (probability * 100.0).round()).abs() < 1e-9,
            "{probability}"
        );
        let text = env.ok(&["search", query, "--format", "human"]).stdout;
        let sentences = [
            ("low", "\nNo passage clearly answers this.\n"),
            ("none", "\nNothing here seems to answer this.\n"),
        ];
        for (level, sentence) in sentences {
            assert_eq!(text.contains(sentence), confidence == level, "{text}");
        }
    }
    let unread = env.json(&["search", "zzzz qqqq", "--vec-only"]);
    assert!(unread["answer_probability"].is_null());
    assert_eq!(unread["confidence_reason"], "the model cannot read the query");
}

#[test]
fn why_traces_a_document_to_the_stage_that_drops_it() {
    let env = TestEnv::with_corpus();
    let why =
        |args: &[&str]| -> Why { read(&env.ok(&[&["why"], args, &["--format", "json"]].concat())) };
    let query = "what to do when ice forms in the stilling well";
    let answer: Search = read(&env.ok(&["search", query, "--top", "100"]));
    let first = answer.results[0].source.document_id;
    let last = answer.results.last().unwrap().source.document_id;
    let (best, worst) = (first.to_string(), last.to_string());
    let found = why(&[query, &best]);
    assert_eq!((found.fate.as_str(), found.rank), ("shown", Some(1)));
    assert_eq!(found.score, Some(answer.results[0].score));
    assert!(found.terms.contains(&"ice".to_owned()) && !found.terms.contains(&"what".to_owned()));
    assert!(
        found.matches.iter().any(|found_term| found_term.term == "ice" && found_term.in_text > 0)
    );
    assert_eq!(why(&[query, &worst, "--top", "1"]).fate, "beyond_limit");
    assert_eq!(why(&[query, &worst, "--threshold", "0.03"]).fate, "below_threshold");
    assert_eq!(why(&[query, &best, "--type", "pdf"]).fate, "filtered");
    assert_eq!(why(&["float* -well -gauge -tide -the", &best]).fate, "excluded");
    assert_eq!(why(&["xyzzy", &best, "--fts-only"]).fate, "beyond_depth");
    let path = answer.results[0].source.path.clone().unwrap();
    assert_eq!(why(&[query, &path]).document_id, first);
    let text = env.ok(&["why", query, &best]).stdout;
    assert!(text.contains("It is shown at rank 1."), "{text}");
    env.kb(&["why", query, "999"]).expect(1);
    env.kb(&["why", query, "nowhere.md"]).expect(1);
}

#[test]
fn a_search_can_be_narrowed_by_language_tag_and_day() {
    let env = TestEnv::with_corpus();
    assert_eq!(titles(&env, &["tide", "--language", "go", "--per-doc", "1"]), ["gauge"]);
    let all = titles(&env, &["tide station"]);
    env.ok(&["add", "--note", "The tide of paper.", "--title", "Tagged", "--tags", "paper"]);
    assert!(titles(&env, &["tide of paper"]).contains(&"Tagged".to_owned()));
    let rest = titles(&env, &["tide of paper", "--exclude-tag", "paper"]);
    assert!(!rest.contains(&"Tagged".to_owned()) && rest.len() >= all.len());
    env.write("old.md", "---\ndate: 1999-03-04\n---\n# Old tide\n\nA tide long ago.\n");
    env.ok(&["add", "old.md"]);
    assert_eq!(titles(&env, &["tide", "--until", "1999"]), ["Old tide"]);
    assert!(!titles(&env, &["tide", "--since", "1999-04"]).contains(&"Old tide".to_owned()));
    let answer: Search = read(&env.ok(&["search", "long ago", "--until", "1999-03-04"]));
    let source = &answer.results[0].source;
    assert_eq!(source.date.as_deref(), Some("1999-03-04"));
    assert_eq!(source.date_origin.as_deref(), Some("document"));
    env.kb(&["search", "tide", "--since", "someday"]).expect(1);
}

#[test]
fn a_limit_per_document_keeps_one_from_filling_the_page() {
    let env = TestEnv::with_corpus();
    let found = titles(&env, &["tide station gauge", "--per-doc", "1"]);
    let mut once = found.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), found.len());
    assert!(found.len() < titles(&env, &["tide station gauge"]).len());
}

#[test]
fn a_prefix_finds_what_the_word_does_not() {
    let env = TestEnv::with_corpus();
    assert!(titles(&env, &["harmon", "--fts-only"]).is_empty());
    assert!(!titles(&env, &["harmon*", "--fts-only"]).is_empty());
}

#[test]
fn retrieval_is_measured_with_labels_and_without() {
    let env = TestEnv::real_with_corpus();
    let own: Eval = read(&env.ok(&["eval", "--format", "json"]));
    let names: Vec<&str> =
        own.collections.iter().map(|collection| collection.name.as_str()).collect();
    assert_eq!(names, ["headings", "phrases"]);
    let phrases = &own.collections[1];
    assert!(phrases.queries > 3 && phrases.fts.recall_at_10 > 0.9, "{phrases:?}");
    env.write("small/corpus.jsonl", concat!(
        "{\"_id\": \"a\", \"title\": \"Ice\", \"text\": \"Ice forms in the stilling well in winter.\"}\n",
        "{\"_id\": \"b\", \"title\": \"Boats\", \"text\": \"The ferry leaves the harbour at nine.\"}\n",
    ));
    env.write("small/queries.jsonl", "{\"_id\": \"q\", \"text\": \"when does the ferry leave\"}\n");
    env.write("small/qrels.tsv", "query-id\tcorpus-id\tscore\nq\tb\t1\n");
    let small: Eval = read(&env.ok(&["eval", "small", "--format", "json"]));
    let found = &small.collections[0];
    assert_eq!((found.name.as_str(), found.queries), ("small", 1));
    assert_eq!([found.fts.ndcg_at_10, found.vector.mrr_at_10, found.fused.recall_at_10], [1.0; 3]);
    assert!(env.ok(&["eval", "small"]).stdout.contains("NDCG@10"));
    env.kb(&["eval", "nowhere"]).expect(1);
}

#[test]
fn a_measurement_removes_only_files_of_earlier_measurements() {
    let env = TestEnv::new();
    let mine = env.write("kept/files/d-day.md", "# Mine\n\nThe keys are under the stairs.\n");
    env.ok(&["--data-dir", "kept", "add", "kept/files/d-day.md"]);
    let line = |id: &str| format!("{{\"_id\": \"{id}\", \"text\": \"The ferry {id} leaves.\"}}\n");
    env.write("small/queries.jsonl", "{\"_id\": \"q\", \"text\": \"when does the ferry leave\"}\n");
    env.write("small/qrels.tsv", "query-id\tcorpus-id\tscore\nq\tb\t1\n");
    for (corpus, documents) in [(line("a") + &line("b"), 3), (line("b"), 2)] {
        env.write("small/corpus.jsonl", corpus);
        env.ok(&["eval", "small", "--work", "kept"]);
        let list = env.json(&["--data-dir", "kept", "list", "--format", "json"]);
        assert_eq!(list.as_array().unwrap().len(), documents, "{list}");
        assert_eq!(env.path("kept/files").read_dir().unwrap().count(), documents);
    }
    assert!(mine.is_file());
}
