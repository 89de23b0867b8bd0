//! Tests that every result has the words that the query has in double quotes, and that a query whose phrases no
//! passage has is answered without them, on the command line and by the server.

use serde_json::{Value, json};

use crate::bases;
use crate::contract::{Why, read};
use crate::env::{TestEnv, with_stdin};
use crate::mcp_client::Client;
#[cfg(unix)]
use crate::screen::Screen;

/// A phrase that the sample documents do not have, although its words occur.
const NOWHERE: &str = "\"frozen well\" gauge";
const NOTE: &str = "no passage has \"frozen well\"; the results are those without quotes";

/// The same phrase and nothing else.
const ALONE: &str = "\"frozen well\"";
const NOTE_ALONE: &str = "no passage has \"frozen well\"; without quotes: frozen well";

const LEGS: [&[&str]; 3] = [&[], &["--fts-only"], &["--vec-only"]];

fn search(env: &TestEnv, args: &[&str]) -> Value {
    env.json(&[&["search"], args].concat())
}

fn results(answer: &Value) -> &Vec<Value> {
    answer["results"].as_array().unwrap()
}

fn ids(answer: &Value) -> Vec<i64> {
    results(answer).iter().map(|hit| hit["chunk_id"].as_i64().unwrap()).collect()
}

/// Whether a result has a phrase in its text or in its context.
fn has(env: &TestEnv, hit: &Value, phrase: &str) -> bool {
    let id = &hit["chunk_id"];
    let text: String =
        env.sql(&format!("SELECT context || '\n' || text FROM chunks WHERE id = {id}"));
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase().contains(phrase)
}

#[test]
fn every_result_has_the_phrase_in_both_legs() {
    let env = TestEnv::with_corpus();
    for leg in LEGS {
        let check = |typed: &str, phrases: &[&str]| {
            let answer = search(&env, &[&[typed, "--top=40"], leg].concat());
            assert!(!results(&answer).is_empty(), "{typed} {leg:?}");
            for hit in results(&answer) {
                assert!(
                    phrases.iter().all(|phrase| has(&env, hit, phrase)),
                    "{typed} {leg:?}: {hit:#}"
                );
            }
            assert!(answer.get("notes").is_none());
            ids(&answer).len()
        };
        let all = check("radar gauge", &[]);
        let one = check("\"Radar Gauge\"", &["radar gauge"]);
        assert!(all > one || *leg == ["--fts-only"], "{all} {one}");
        check("\"stilling well\" \"ice\"", &["stilling well", "ice"]);
        check("what to do \"brine\"", &["brine"]);
        // Without a letter or a digit, it is ordinary text.
        assert_eq!(check("radar gauge \"?!\"", &[]), all);
    }
}

#[test]
fn numbers_with_dots_are_found_as_they_are() {
    let env = TestEnv::new();
    env.write("notes/a.md", "# Release\n\nGit 2.30.2 mends a fault.\n");
    env.write("notes/b.md", "# Release\n\nGit 2.30.20 mends 2.30 and 2 others.\n");
    env.ok(&["add", "notes"]);
    for leg in LEGS {
        let found = search(&env, &[&["what was mended in \"2.30.2\""], leg].concat());
        assert_eq!(found["returned"], 1, "{found:#}");
        assert!(results(&found)[0]["text"].to_string().contains("Git 2.30.2 "));
    }
}

#[test]
fn a_phrase_that_occurs_nowhere_is_named_by_every_face() {
    let env = TestEnv::with_corpus();
    for leg in LEGS {
        let output = env.ok(&[&["search", NOWHERE], leg].concat());
        let answer = output.json();
        let plain = search(&env, &[&["frozen well gauge"], leg].concat());
        assert!(!results(&plain).is_empty() && plain.get("unmet_phrases").is_none());
        assert_eq!(results(&answer), results(&plain));
        let unmet = json!(["frozen well"]);
        assert_eq!((&answer["unmet_phrases"], &answer["notes"]), (&unmet, &json!([NOTE])));
        assert!(answer["confidence"] == "low" || answer["confidence"] == "none");
        assert!(answer["confidence_reason"].to_string().contains("phrases in double quotes"));
        assert_eq!(output.stderr.trim_end(), format!("note: {NOTE}"));
        // A query that is only a phrase has no result without it.
        let alone = search(&env, &[&[ALONE], leg].concat());
        assert_eq!((&alone["results"], &alone["total_matches"]), (&json!([]), &json!(0)));
        assert_eq!((&alone["confidence"], &alone["unmet_phrases"]), (&Value::Null, &unmet));
        assert_eq!(alone["notes"], json!([NOTE_ALONE]));
    }
    for format in ["human", "md", "paths", "jsonl"] {
        let output = env.ok(&["search", NOWHERE, "--format", format]);
        assert!(output.stderr.contains(NOTE), "{format}: {}", output.stderr);
    }
    let passages = search(&env, &[NOWHERE, "--budget=300"]);
    assert_eq!(passages["notes"], json!([NOTE]));
    assert!(!results(&passages).is_empty());
    let agent = env.ok(&["search", NOWHERE, "--format", "agent"]).stdout;
    assert!(agent.starts_with(&format!("note: {NOTE}\n")), "{agent}");

    let lines = format!("{NOWHERE}\n{}\n", json!({ "query": NOWHERE, "top": 3 }));
    let batch = with_stdin(&env, &["search", "--batch", "-"], &lines).expect(0);
    assert_eq!(batch.stdout.matches(&json!([NOTE]).to_string()[..]).count(), 2, "{}", batch.stdout);

    let mut client = Client::start(&env, "", &[]);
    let arguments = json!({ "query": NOWHERE });
    assert_eq!(client.data("kb_search", arguments.clone())["notes"], json!([NOTE]));
    let text = client.text("kb_search", arguments);
    assert!(text.starts_with(&format!("note: {NOTE}\n")), "{text}");
    let text = client.text("kb_search", json!({ "query": ALONE }));
    assert!(text.contains(&format!("\nnote: {NOTE_ALONE}")), "{text}");
}

#[test]
fn a_pasted_message_finds_the_page_about_it() {
    let env = TestEnv::with_corpus();
    env.write(
        "notes/yaml.md",
        "# Missing modules\n\nModuleNotFoundError: No module named X. Install it.\n",
    );
    env.write(
        "notes/relation.md",
        "# Missing tables\n\nERROR: a relation does not exist: the search path.\n",
    );
    env.ok(&["add", "notes"]);
    let first = |query: &str| {
        let answer = search(&env, &[query]);
        let path = results(&answer)[0]["source"]["path"].as_str().unwrap().to_owned();
        (path.rsplit('/').next().unwrap().to_owned(), answer)
    };
    // Quotes in the message of a program are text from the start.
    for query in [
        "ModuleNotFoundError: No module named: \"gauge\"",
        "Traceback\n  File \"/srv/gauge.py\", line 3\nModuleNotFoundError: No module named \"gauge\"",
    ] {
        let (name, answer) = first(query);
        assert_eq!((name.as_str(), answer.get("unmet_phrases")), ("yaml.md", None), "{query}");
    }
    // Between words it is a phrase, which no passage has.
    let (name, answer) = first("relation \"users\" does not exist -frost");
    assert_eq!((name.as_str(), &answer["unmet_phrases"]), ("relation.md", &json!(["users"])));
}

#[test]
fn filters_and_exclusions_stay_without_the_quotes() {
    let env = TestEnv::with_corpus();
    for rest in [&["--type=code"][..], &["--path=corpus", "--top=40"]] {
        let plain = search(&env, &[&["frozen well gauge -brine"], rest].concat());
        let answer = search(&env, &[&["\"frozen well\" gauge -brine"], rest].concat());
        assert_eq!(ids(&answer), ids(&plain), "{rest:?}");
    }
}

#[test]
fn the_note_names_what_is_missing() {
    let env = TestEnv::with_corpus();
    let note = |args: &[&str]| search(&env, args)["notes"].clone();
    let nowhere =
        "no passage has \"frozen well\" or \"blue gauge\"; the results are those without quotes";
    assert_eq!(note(&["\"frozen well\" \"blue gauge\" \"brine\" -ice"]), json!([nowhere]));
    let apart = "no searched passage has \"brine\" and \"Daily round\"; \
        the results are those without quotes";
    assert_eq!(note(&["\"brine\" \"Daily round\""]), json!([apart]));
    let filtered = "no searched passage has \"brine\"; without quotes: brine";
    assert_eq!(note(&["\"brine\"", "--type=pdf"]), json!([filtered]));
}

#[test]
fn a_phrase_binds_its_own_phrasing_only() {
    let env = TestEnv::with_corpus();
    let query = "\"warm brine\" gauge";
    let alone = search(&env, &[query, "--top=40"]);
    assert!(results(&alone).iter().all(|hit| has(&env, hit, "warm brine")));
    // The other phrasing has none, so nothing is left out.
    let free = ids(&search(&env, &["charger blue", "--top=40"]));
    let mut both = ids(&search(&env, &[query, "--also", "charger blue", "--top=40"]));
    both.sort_unstable();
    let mut sorted = free;
    sorted.sort_unstable();
    assert_eq!(both, sorted);
    // Each result has the phrase of one of them.
    let each = search(&env, &[query, "--also", "\"blue box\"", "--top=40"]);
    assert!(
        results(&each).iter().all(|hit| has(&env, hit, "warm brine") || has(&env, hit, "blue box"))
    );
    assert!(ids(&each).len() > ids(&alone).len());
    // The missing one is named, and the other answers.
    const NOTE: &str = "no passage has \"frozen well\"; without quotes: frozen well gauge";
    let rest = search(&env, &[NOWHERE, "--also", "\"blue box\""]);
    assert!(rest.get("unmet_phrases").is_none());
    assert!(
        !results(&rest).is_empty() && results(&rest).iter().all(|hit| has(&env, hit, "blue box"))
    );
    assert_eq!(rest["notes"], json!([NOTE]));
    assert!(rest["confidence"].is_string());
}

#[test]
fn a_phrase_is_missing_only_if_no_base_has_it() {
    let env = bases::two();
    let asked = |query: &str| search(&env, &["--base", "default,work", query]);
    let found = asked("\"harbour pump\"");
    assert_eq!((&found["returned"], found.get("notes")), (&json!(1), None));
    let note = "no passage has \"red pump\"; without quotes: red pump";
    assert_eq!(asked("\"red pump\"")["notes"], json!([note]));
    // Each phrase occurs in one of them.
    let apart = "no searched passage has \"oil\" and \"May\"; the results are those without quotes";
    let each = asked("\"oil\" \"May\"");
    assert_eq!((&each["notes"], &each["unmet_phrases"]), (&json!([apart]), &json!(["oil", "May"])));
    assert_eq!(ids(&each), ids(&asked("oil May")));
    // The base that has no such phrase is not asked without quotes.
    let one = asked("red \"harbour pump\"");
    assert_eq!((&one["returned"], one.get("unmet_phrases")), (&json!(1), None));
    env.ok(&["base", "add", "empty"]);
    let three = search(&env, &["--base", "default,empty", "\"red pump\""]);
    assert!(three["notes"].as_array().unwrap().contains(&json!(note)), "{three:#}");
}

#[test]
fn why_says_that_a_phrase_is_missing() {
    let env = TestEnv::with_corpus();
    let handbook = ["why", "\"charger\" gauge", "Tide station handbook"];
    let why: Why = read(&env.ok(&[&handbook[..], &["--format", "json"]].concat()));
    assert_eq!((why.fate.as_str(), why.chunks_passing_filters), ("without_phrase", 0));
    let text = env.ok(&handbook).stdout;
    assert!(text.contains("has the phrases in double quotes"), "{text}");
    let excluded = ["why", "\"gauge\" -tide", "Tide station handbook", "--format", "json"];
    assert_eq!(read::<Why>(&env.ok(&excluded)).fate, "excluded");
    let plain = env.ok(&["why", NOWHERE, "Tide station handbook", "--format", "json"]);
    assert_eq!(read::<Why>(&plain).fate, "shown");
    assert_eq!(plain.stderr.trim_end(), format!("note: {NOTE}"));
    let shown = ["why", "\"warm brine\"", "Tide station handbook", "--format", "json"];
    let why: Why = read(&env.ok(&shown));
    assert_eq!((why.fate.as_str(), why.chunks_passing_filters), ("shown", 1));
}

#[cfg(unix)]
#[test]
fn kb_find_shows_the_note() {
    let env = TestEnv::with_corpus();
    let mut screen = Screen::start(&env, &["find", "\"warm brine\""], 110, 30);
    screen.see("1 passage");
    screen.leave("\u{1b}", &env).expect(0);
    let mut screen = Screen::start(&env, &["find", NOWHERE], 110, 30);
    screen.see("no passage has \"frozen well\"");
    screen.leave("\u{1b}", &env).expect(0);
}
