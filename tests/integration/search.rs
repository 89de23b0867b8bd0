//! Tests what is found, in which order, and why: both rankings, fusion, filters, thresholds, odd
//! queries.

use std::collections::BTreeMap;
use std::fs;

use kb_store::search::SearchOptions;
use serde_json::{Value, json};

use crate::contract::{Hit, Search, Why, read};
use crate::env::{CORPUS, TestEnv};
use crate::mcp_client::Client;
use crate::sources::sources;

/// Tolerance for scores of the form 1 / (60 + rank), as printed.
const EPSILON: f64 = 1e-12;

fn search(env: &TestEnv, args: &[&str]) -> Search {
    read(&env.ok(&[&["search"], args].concat()))
}

fn titles(answer: &Search) -> Vec<&str> {
    answer.results.iter().map(|result| result.source.title.as_str()).collect()
}

fn chunk_ids(answer: &Search) -> Vec<i64> {
    answer.results.iter().map(|result| result.chunk_id).collect()
}

fn types(answer: &Search) -> Vec<&str> {
    let mut types: Vec<&str> =
        answer.results.iter().map(|result| result.source.r#type.as_str()).collect();
    types.sort_unstable();
    types.dedup();
    types
}

#[test]
fn one_command_finds_every_type() {
    let env = TestEnv::real_with_corpus();
    let answer = search(&env, &["tide station gauge recorder boat", "--top", "100"]);
    assert_eq!(types(&answer), ["code", "markdown", "note", "pdf"]);
    for (query, title) in [
        ("what to do when ice forms in the stilling well", "Tide station handbook"),
        ("where is the box with the charger", "Charger"),
        ("when does the last ferry go", "Ferry timetable: the last boat leaves at nine."),
        ("who knows the code of the padlock", "spare-keys"),
        ("predict the next high water", "tide_table"),
        ("copies the log to the office over the network", "backup_log"),
        ("average water level without waves in Go", "gauge"),
        (
            "float made of copper with phosphor bronze wire",
            "Field Guide to the Harbour Tide Station",
        ),
    ] {
        assert_eq!(titles(&search(&env, &[query, "--top", "1"])), [title], "{query}");
    }
}

#[test]
fn both_legs_are_fused_by_reciprocal_rank() {
    let env = TestEnv::real_with_corpus();
    let query = "battery of the float gauge in winter";
    let both = search(&env, &[query, "--top", "100"]);
    let fts = search(&env, &[query, "--top", "100", "--fts-only"]);
    let vector = search(&env, &[query, "--top", "100", "--vec-only"]);
    let rank = |leg: &Search, chunk_id: i64| {
        let rank = chunk_ids(leg).iter().position(|&id| id == chunk_id)? + 1;
        Some(u32::try_from(rank).unwrap())
    };
    let term = |rank: Option<u32>, weight: Option<f64>| {
        let weight = weight.filter(|weight| *weight > 0.0 && *weight <= 1.0);
        rank.map(|rank| weight.unwrap() / (60.0 + f64::from(rank)))
    };
    let same = |found: Option<f64>, expected: Option<f64>| match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < EPSILON,
        (found, expected) => found == expected,
    };
    for hit in &both.results {
        let evidence = &hit.evidence;
        assert_eq!(evidence.fts_rank, rank(&fts, hit.chunk_id));
        assert_eq!(evidence.vector_rank, rank(&vector, hit.chunk_id));
        let by_words = term(evidence.fts_rank, evidence.fts_weight);
        let by_vector = term(evidence.vector_rank, evidence.vector_weight);
        assert!(same(hit.score_breakdown.fts, by_words), "{hit:?}");
        assert!(same(hit.score_breakdown.vector, by_vector), "{hit:?}");
        let sum = by_words.unwrap_or(0.0) + by_vector.unwrap_or(0.0);
        assert!((hit.score - sum).abs() < EPSILON, "{hit:?}");
        assert!(hit.score > 0.0 && hit.score <= 2.0 / 61.0 + EPSILON, "{hit:?}");
    }
    // Hits far below the best of their ranking count less, and those that lack what is rare in the query.
    let weights: Vec<f64> =
        both.results.iter().filter_map(|hit| hit.evidence.vector_weight).collect();
    assert!(weights.iter().all(|weight| 0.0 < *weight && *weight <= 1.0), "{weights:?}");
    assert!(weights.iter().any(|weight| *weight < 0.9), "{weights:?}");
    // If there is only one ranking, its ranks give the score.
    for (rank, hit) in (1_u32..).zip(&fts.results) {
        assert!((hit.score - 1.0 / (60.0 + f64::from(rank))).abs() < EPSILON, "{hit:?}");
        assert_eq!(hit.evidence.fts_weight, Some(1.0));
    }
    // The vector ranking contains every chunk, so the union of both does.
    assert_eq!(both.total_matches, vector.total_matches);
    assert_eq!(
        both.total_matches,
        u64::try_from(env.sql::<i64>("SELECT count(*) FROM chunks")).unwrap()
    );
    // The constant is a setting.
    let args = ["search", query, "--top=1", "--fts-only"];
    let other = env.kb_with(&[("KB_SEARCH_RRF_K", "9")], &args).expect(0);
    assert!((read::<Search>(&other).results[0].score - 0.1).abs() < EPSILON);
}

/// The tokens change ranks and weights of the vector ranking, and nothing else; what they change is
/// shown.
#[test]
fn the_first_hits_are_compared_by_tokens_unless_that_is_off() {
    let env = TestEnv::real_with_corpus();
    let query = "battery of the float gauge in winter";
    let plain = |args: &[&str], setting: &str| {
        let args = [&["search", query, "--top=100"][..], args].concat();
        read::<Search>(&env.kb_with(&[("KB_EMBEDDING_TOKEN_VECTORS", setting)], &args).expect(0))
    };
    let (on, off) = (plain(&[], "true"), plain(&[], "false"));
    let cosines = |found: &Search| -> BTreeMap<i64, String> {
        let hits = found.results.iter();
        hits.map(|hit| (hit.chunk_id, format!("{:?}", hit.evidence.cosine))).collect()
    };
    assert_eq!(cosines(&on), cosines(&off));
    let matches: Vec<f64> = on.results.iter().filter_map(|hit| hit.evidence.token_match).collect();
    assert_eq!(matches.len(), on.results.len().min(50));
    assert!(matches.iter().all(|found| (0.0..1.0).contains(found)), "{matches:?}");
    assert!(off.results.iter().all(|hit| hit.evidence.token_match.is_none()));
    let by_words = plain(&["--fts-only"], "true");
    assert!(by_words.results.iter().all(|hit| hit.evidence.token_match.is_none()));
    // Without stored codes, as in a database of an older kb, the ranking is the one without tokens.
    env.change("DELETE FROM chunks_tokens");
    let older = plain(&[], "true");
    assert_eq!(chunk_ids(&older), chunk_ids(&off));
    assert!(
        older.results.iter().zip(&off.results).all(|(a, b)| (a.score - b.score).abs() < EPSILON)
    );
    // A reindex adds them, or removes them if they are not wanted.
    env.kb(&["reindex"]).expect(0);
    assert_eq!(chunk_ids(&plain(&[], "true")), chunk_ids(&on));
    env.kb_with(&[("KB_EMBEDDING_TOKEN_VECTORS", "false")], &["reindex"]).expect(0);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM chunks_tokens"), 0);
}

#[test]
fn results_are_ordered_by_score_then_chunk_and_always_the_same() {
    let env = TestEnv::with_corpus();
    for args in [&["the gauge"][..], &["the gauge", "--vec-only"], &["tide", "--fts-only"]] {
        let answer = search(&env, &[args, &["--top", "100"]].concat());
        for pair in answer.results.windows(2) {
            let is_ordered = pair[0].score > pair[1].score
                || pair[0].score.to_bits() == pair[1].score.to_bits()
                    && pair[0].chunk_id < pair[1].chunk_id;
            assert!(is_ordered, "{args:?}");
        }
        let again = |top: &str| env.ok(&[&["search"], args, &["--top", top]].concat()).stdout;
        assert_eq!(again("100"), again("100"));
        // A smaller page is the start of a larger one.
        for (top, len) in [("1", 1), ("3", 3), ("7", 7)] {
            let page = search(&env, &[args, &["--top", top]].concat());
            assert_eq!(page.results.len(), len);
            assert_eq!(chunk_ids(&page), chunk_ids(&answer)[..len]);
            assert_eq!((page.returned, page.total_matches), (len as u64, answer.total_matches));
        }
    }
}

#[test]
fn a_ranking_contributes_three_candidates_per_result_and_at_least_300() {
    for (limit, depth) in [(1, 300), (10, 300), (100, 300), (101, 303), (u32::MAX, u32::MAX)] {
        assert_eq!(SearchOptions { limit, ..SearchOptions::default() }.depth(), depth);
    }
}

#[test]
fn ten_results_are_returned_by_default() {
    let mut env = TestEnv::with_corpus();
    assert_eq!(search(&env, &["tide"]).returned, 10);
    assert_eq!(search(&env, &["tide", "--top", "2"]).returned, 2);
    env.set("KB_DEFAULT_TOP", "4");
    assert_eq!(search(&env, &["tide"]).returned, 4);
    assert_eq!(search(&env, &["tide", "--top", "2"]).returned, 2);
}

#[test]
fn one_leg_alone_leaves_the_other_null() {
    let env = TestEnv::with_corpus();
    let is_only = |hit: &Hit, is_fts: bool| {
        let (run, other) = match is_fts {
            true => (hit.score_breakdown.fts, hit.score_breakdown.vector),
            false => (hit.score_breakdown.vector, hit.score_breakdown.fts),
        };
        other.is_none() && run.is_some_and(|score| score.to_bits() == hit.score.to_bits())
    };
    for (flag, is_fts) in [("--fts-only", true), ("--vec-only", false)] {
        let answer = search(&env, &["frozen gauge", flag]);
        assert!(answer.returned > 0 && answer.results.iter().all(|result| is_only(result, is_fts)));
    }
    // Unknown words: only the vector ranking has an answer.
    assert_eq!(search(&env, &["automobile zeppelin", "--fts-only"]).total_matches, 0);
    let answer = search(&env, &["automobile zeppelin"]);
    assert!(answer.returned > 0 && answer.results.iter().all(|result| is_only(result, false)));
}

#[test]
fn keywords_need_neither_model_nor_runtime() {
    let env = TestEnv::without_model();
    env.install_real_sample();
    let answer = search(&env, &["mussels", "--fts-only"]);
    assert_eq!(titles(&answer), ["Tide station handbook"]);
    for args in [&["list"][..], &["tags"], &["status"], &["info", "1"], &["init", "--status"]] {
        env.ok(args);
    }
    let output = env.ok(&["search", "mussels"]);
    assert!(output.stdout.contains("Tide station handbook"));
    assert!(output.stderr.contains("so the search used keywords only"), "{}", output.stderr);
    let output = env.kb(&["search", "mussels", "--vec-only"]);
    let error = output.clone().expect(1).json_error();
    assert_eq!(error["error"], "model all-MiniLM-L6-v2 is not installed");
    assert_eq!(error["fix"], "run `kb init` once, with network access");
    assert_eq!(output.stdout, "");
    assert!(!env.asked_python(), "a search fetches nothing");
    // An empty database answers without a model.
    fs::remove_file(env.database()).unwrap();
    assert_eq!(search(&env, &["mussels"]).total_matches, 0);
    assert!(!env.database().exists(), "a search creates no database");
}

#[test]
fn no_query_is_a_syntax_error() {
    let env = TestEnv::new();
    env.write(
        "docs/a.md",
        "# Tools\n\nC++ and git-lfs: what? f(x)*y, a \"quoted\" word, ~/.bashrc.\n",
    );
    env.ok(&["add", "docs"]);
    for query in [
        "C++",
        "git-lfs",
        "what?",
        "\"",
        "\"quoted",
        "quoted\"",
        "\"\"quoted",
        "f(x)*",
        "(",
        ")",
        "a:b",
        "text:quoted",
        "quoted*",
        "^quoted",
        "quoted AND",
        "NOT quoted",
        "NEAR(quoted, word)",
        "quoted OR OR",
        "{a b}: c",
        "~/.bashrc",
        "'; DROP TABLE chunks; --",
        "quoted + word",
        "\\",
        "%_",
        "a\tb\nc",
        "-",
        "--",
        "日本語",
        "🦀 quoted",
    ] {
        assert_eq!(env.json(&["search", "--fts-only", "--", query])["query"], query);
    }
    for query in ["C++", "NEAR(quoted, word)", "\"quoted", "(", "-"] {
        assert_eq!(env.json(&["search", "--", query])["returned"], 1);
    }
    for query in
        ["C++", "git-lfs", "what?", "f(x)", "~/.bashrc", "\"a \"quoted\" word\"", "quoted*"]
    {
        assert_eq!(search(&env, &[query, "--fts-only"]).total_matches, 1, "{query}");
    }
    let count: i64 = env.sql("SELECT count(*) FROM chunks");
    assert_eq!(count, 1, "nothing was dropped");
}

#[test]
fn punctuation_alone_is_answered_by_the_vectors() {
    let env = TestEnv::real_with_corpus();
    for query in ["???", "... !", "*", "\"\""] {
        let answer = search(&env, &[query]);
        assert!(answer.returned > 0, "{query}");
        assert!(
            answer.results.iter().all(|result| result.score_breakdown.fts.is_none()),
            "{query}"
        );
        assert_eq!(search(&env, &[query, "--fts-only"]).total_matches, 0, "{query}");
    }
}

#[test]
fn words_are_alternatives_phrases_stay_together_and_a_minus_excludes() {
    let env = TestEnv::new();
    env.ok(&["add", "--note", "Installing the red pump takes an hour.", "--title", "red"]);
    env.ok(&["add", "--note", "The pump is red and was installed twice.", "--title", "twice"]);
    env.ok(&["add", "--note", "A blue valve.", "--title", "valve"]);
    let found = |query: &str, flags: &[&str]| {
        let args = [&["search"], flags, &["--", query]].concat();
        let answer: Search = read(&env.ok(&args));
        let mut titles: Vec<String> =
            answer.results.into_iter().map(|result| result.source.title).collect();
        titles.sort_unstable();
        titles
    };
    let check = |query: &str, expected: &[&str]| {
        assert_eq!(found(query, &["--fts-only"]), expected, "{query}");
    };
    check("red valve", &["red", "twice", "valve"]);
    check("red valve zeppelin", &["red", "twice", "valve"]);
    check("\"red pump\"", &["red"]);
    check("\"pump red\"", &[]);
    check("pump -hour", &["twice"]);
    check("pump -\"red pump\"", &["twice"]);
    check("-hour pump", &["twice"]);
    // Stemming, but no synonyms.
    check("installs", &["red", "twice"]);
    check("scarlet", &[]);
    // Exclusions also apply to the vector ranking.
    assert_eq!(found("pump -hour", &["--vec-only"]), ["twice", "valve"]);
    assert_eq!(found("pump -hour", &[]), ["twice", "valve"]);
    // Several arguments are one query, returned as typed.
    let answer = env.json(&["search", "red", "pump", "--fts-only"]);
    assert_eq!(answer["query"], "red pump");
    assert_eq!(env.json(&["search", " red  pump ", "--fts-only"])["query"], " red  pump ");
}

#[test]
fn only_the_words_of_the_query_are_looked_for() {
    let env = TestEnv::new();
    for (title, text) in [
        ("car", "The car is in the street."),
        ("automobile", "An automobile, a motor vehicle, stands in the street."),
        ("auto", "Das Auto steht auf der Straße."),
        ("doctor", "The doctor is in."),
        ("dr", "Dr. Smith, a physician, is in."),
    ] {
        env.ok(&["add", "--note", text, "--title", title]);
    }
    for (query, titles_found, terms) in [
        ("car", &["car"][..], &["car"][..]),
        ("vehicle", &["automobile"], &["vehicle"]),
        ("physician", &["dr"], &["physician"]),
        ("doctors", &["doctor"], &["doctors"]),
        ("red automobile", &["automobile"], &["automobile", "red"]),
        ("boat", &[], &["boat"]),
    ] {
        assert_eq!(titles(&search(&env, &[query, "--fts-only"])), titles_found, "{query}");
        let why: Why = read(&env.ok(&["why", query, "1", "--format", "json"]));
        let mut found = why.terms;
        found.sort();
        assert_eq!(found, terms, "{query}");
    }
}

#[test]
fn a_table_of_contents_comes_after_the_sections_it_points_to() {
    let env = TestEnv::new();
    let contents = "Low water gauge ..... 3\nLow water, gauges ..... 8\nHigh water ..... 11";
    let section = "Every morning the keeper reads the gauge below the pier at low water.";
    for (title, text) in [("contents", contents), ("section", section)] {
        env.ok(&["add", "--note", text, "--title", title]);
    }
    let query = "low water gauge";
    for flags in [&["--fts-only"][..], &["--fts-only", "--per-doc", "1"]] {
        let answer = search(&env, &[&[query], flags].concat());
        assert_eq!(titles(&answer), ["section", "contents"]);
        // It did score higher.
        assert!(answer.results[0].score < answer.results[1].score);
        let answer = search(&env, &[&[query, "--top", "1"], flags].concat());
        assert_eq!(titles(&answer), ["section"]);
    }
    let why: Why =
        read(&env.ok(&["why", query, "1", "--fts-only", "--top", "1", "--format", "json"]));
    assert_eq!(why.fate, "beyond_limit");
    assert_eq!(titles(&search(&env, &["high", "--fts-only"])), ["contents"]);
}

#[test]
fn filters_apply_to_both_legs_before_they_are_cut() {
    let env = TestEnv::real_with_corpus();
    for leg in [&[][..], &["--fts-only"], &["--vec-only"]] {
        let filtered =
            |filter: &[&str]| search(&env, &[&["tide", "--top=100"], leg, filter].concat());
        assert_eq!(types(&filtered(&["--type", "note"])), ["note"]);
        assert_eq!(types(&filtered(&["--type", "pdf"])), ["pdf"]);
        assert_eq!(types(&filtered(&["--type", "python"])), ["code"]);
        assert!(types(&filtered(&["--type", "mail"])).is_empty());
        let tagged = filtered(&["--tags", "sample,station"]);
        assert!(tagged.returned > 0);
        for hit in &tagged.results {
            assert!(
                ["sample", "station"].iter().all(|wanted| hit
                    .source
                    .tags
                    .iter()
                    .any(|tag| tag == wanted))
            );
        }
        assert!(tagged.total_matches < filtered(&["--tags", "sample"]).total_matches);
        // Repeated flags are one list; a tag that no document has matches nothing.
        let twice = filtered(&["--tags", "sample", "--tags", "station"]);
        assert_eq!(chunk_ids(&twice), chunk_ids(&tagged));
        for nothing in [
            &["--tags", "sample,nobody"][..],
            &["--path", "/nowhere"],
            &["--type=code", "--tags=station"],
        ] {
            let answer = filtered(nothing);
            assert_eq!((answer.total_matches, answer.returned), (0, 0), "{nothing:?}");
        }
        let handbook = format!("{CORPUS}/station-handbook.md");
        let below = filtered(&["--path", &handbook]);
        assert!(below.returned > 0);
        assert!(below.results.iter().all(|result| result.source.path.as_ref() == Some(&handbook)));
        assert_eq!(types(&filtered(&["--path", CORPUS])), ["code", "markdown", "pdf"]);
        // Filters compare full path components: `corp` is not above `corpus`.
        assert_eq!(filtered(&["--path", &CORPUS[..CORPUS.len() - 2]]).total_matches, 0);
    }
    // The rank with a filter is the rank among the documents that pass it.
    let answer = search(&env, &["tide station", "--type", "note", "--top", "1"]);
    assert_eq!(answer.results[0].evidence.vector_rank, Some(1));
}

/// The rule of `kb show`: a number is the id of a document if there is one, and `./4` a file or folder.
#[test]
fn the_id_of_a_document_is_a_path_filter() {
    let env = TestEnv::new();
    for (path, text) in [("notes/a.md", "one"), ("notes/b.md", "two"), ("2/c.md", "three")] {
        env.write(path, format!("The tide number {text}.\n"));
    }
    env.ok(&["add", "notes/a.md", "notes/b.md", "2/c.md"]);
    let ids = |args: &[&str]| -> Vec<i64> {
        let documents = env.json(&[args, &["--format=json"]].concat());
        let documents = documents.as_array().unwrap();
        documents.iter().map(|document| document["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(ids(&["list", "--path", "2"]), [2]);
    assert_eq!(ids(&["list", "--path", "./2"]), [3]);
    assert_eq!(ids(&["list", "--path", "1", "--path", "2"]), [1, 2]);
    env.write("9/d.md", "The tide number four.\n");
    env.ok(&["add", "9/d.md"]);
    assert_eq!(ids(&["list", "--path", "9"]), [4]);
    let found = env.json(&["search", "tide", "--path", "2"]);
    assert_eq!(
        (found["returned"].as_u64(), &found["results"][0]["source"]["document_id"]),
        (Some(1), &2.into())
    );
    let lines = env.json(&["grep", "tide", "--path", "2", "--format", "json"]);
    assert_eq!(
        (lines["returned"].as_u64(), &lines["results"][0]["document_id"]),
        (Some(1), &2.into())
    );
    let nothing = env.ok(&["list", "--path", "77"]);
    assert!(
        nothing.stderr.contains("there is no document 77, and none at or below"),
        "{nothing:?}"
    );
    env.ok(&["remove", "--path", "2", "--yes"]);
    assert_eq!(ids(&["list"]), [1, 3, 4]);
    // The folder, now that no document has the number.
    assert_eq!(ids(&["list", "--path", "2"]), [3]);
    let mut client = Client::start(&env, "", &[]);
    for path in [json!("3"), json!(3), json!("./2")] {
        let text = client.text("kb_list", json!({ "path": path }));
        assert!(text.starts_with("1 of 1 document\n3 "), "{text}");
    }
}

#[test]
fn a_relative_path_filter_is_resolved_in_the_current_directory() {
    let env = TestEnv::new();
    env.write("docs/a/one.md", "# One\n\nalpha\n");
    env.write("docs/b/two.md", "# Two\n\nalpha\n");
    env.ok(&["add", "docs"]);
    for path in ["docs/a", "./docs/a/", "docs/b/../a", "docs/a/one.md"] {
        let answer = search(&env, &["alpha", "--fts-only", "--path", path]);
        assert_eq!(titles(&answer), ["One"], "{path}");
    }
}

#[test]
fn the_threshold_cuts_after_fusion() {
    let env = TestEnv::with_corpus();
    let all = search(&env, &["frozen gauge", "--top", "100"]);
    // Between two scores: reading a score from JSON may change its last bit.
    let cut = f64::midpoint(all.results[4].score, all.results[5].score);
    let above: Vec<i64> = all
        .results
        .iter()
        .filter(|result| result.score >= cut)
        .map(|result| result.chunk_id)
        .collect();
    let some = search(&env, &["frozen gauge", "--top", "100", "--threshold", &cut.to_string()]);
    assert_eq!(chunk_ids(&some), above);
    assert_eq!(some.total_matches, above.len() as u64);
    for (threshold, expected) in [("0", all.total_matches), ("0.04", 0), ("1", 0)] {
        let answer = search(&env, &["frozen gauge", "--threshold", threshold]);
        assert_eq!(answer.total_matches, expected);
    }
}

#[test]
fn the_context_of_a_chunk_is_searched_but_not_shown() {
    let env = TestEnv::real_with_corpus();
    // `Charger` is the title, `Instruments` a heading above; not every hit has them in its text.
    let answer = search(&env, &["Instruments", "--fts-only", "--type", "markdown"]);
    let radar =
        answer.results.iter().find(|result| result.text.starts_with("### Radar gauge")).unwrap();
    assert!(!radar.text.contains("Instruments"));
    let stored = env.sql_column("SELECT text FROM chunks ORDER BY id");
    for hit in &answer.results {
        assert!(stored.contains(&hit.text), "{}", hit.text);
    }
}

#[test]
fn a_copied_database_gives_the_same_answer() {
    let env = TestEnv::with_corpus();
    let args = ["search", "what to do when the gauge is frozen"];
    let before = env.ok(&args).stdout;
    // A database that no process has open is a single file.
    let files: Vec<_> =
        fs::read_dir(env.path(".kb")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["kb.db"]);
    fs::create_dir(env.path("elsewhere")).unwrap();
    fs::copy(env.database(), env.path("elsewhere/kb.db")).unwrap();
    fs::remove_dir_all(env.path(".kb")).unwrap();
    let elsewhere = env.path("elsewhere").display().to_string();
    assert_eq!(env.kb_with(&[("KB_DATA_DIR", &elsewhere)], &args).expect(0).stdout, before);
    let moved: Value = env.json(&["--data-dir", "elsewhere", args[0], args[1]]);
    assert_eq!(moved, serde_json::from_str::<Value>(&before).unwrap());
}

#[test]
fn letters_are_found_in_any_encoding_of_their_marks() {
    let env = TestEnv::real();
    env.ok(&["add", "--note", "The r\u{e9}sum\u{e9} of the keeper."]);
    env.ok(&["add", "--note", "A re\u{301}sume\u{301} sent by another machine."]);
    env.ok(&["add", "--note", "परीक्षा में पाँच प्रश्न हैं"]);
    env.ok(&["add", "--note", "प्रकाश और रश्मि"]);
    for typed in ["résumé", "re\u{301}sume\u{301}", "resume"] {
        let found = env.json(&["search", typed, "--fts-only"]);
        assert_eq!(found["returned"], 2, "{typed}: {found}");
    }
    let found = env.json(&["search", "प्रश्न", "--fts-only"]);
    assert_eq!(found["returned"], 1, "{found}");
    assert_eq!(found["results"][0]["source"]["document_id"], 3);
}

#[test]
fn scripts_without_spaces_are_found_by_their_words() {
    let env = TestEnv::real();
    let notes = [
        "水族館は午前九時に開き、毎週火曜日は休館です。",
        "图书馆每天早上八点开门，星期一闭馆。",
        "도서관은 오전 아홉 시에 문을 엽니다.",
        "พิพิธภัณฑ์เปิดทุกวันยกเว้นวันจันทร์",
    ];
    for note in notes {
        env.ok(&["add", "--note", note]);
    }
    for (query, note) in [
        ("水族館の休館日", notes[0]),
        ("图书馆几点开门", notes[1]),
        ("도서관 아홉", notes[2]),
        ("พิพิธภัณฑ์วันจันทร์", notes[3]),
        ("\"火曜日\"", notes[0]),
    ] {
        for mode in [&["--fts-only"][..], &[]] {
            let found = search(&env, &[&[query], mode].concat());
            assert_eq!(found.results[0].text, note, "{query} {mode:?}");
        }
    }
    assert!(
        search(&env, &["日曜火", "--fts-only"])
            .results
            .iter()
            .all(|result| result.text == notes[0])
    );
}

#[test]
fn rankings_are_merged_by_one_function() {
    let sources = sources();
    let computing: Vec<&str> = sources
        .iter()
        .filter(|source| source.code.contains("rrf_k +"))
        .map(|source| source.path.as_str())
        .collect();
    assert_eq!(computing, ["store/search/fuse.rs"]);
    let find = |path: &str| sources.iter().find(|source| source.path == path).unwrap();
    // One function merges, and one is the formula of a single term.
    assert_eq!(find("store/search/fuse.rs").code.matches("pub fn ").count(), 2);
    // A search merges its rankings, and again when the tokens have changed the order of one; a search for what is
    // similar merges them once.
    let merging = [
        ("store/search/rankings.rs", "fuse_with_shares(", 2),
        ("store/search/similar.rs", "fuse::fuse(", 1),
        ("store/search/fuse.rs", " fuse(", 1),
        ("store/search/fuse.rs", " fuse_with_shares(", 2),
    ];
    for (path, call, count) in merging {
        assert_eq!(find(path).code.matches(call).count(), count, "{path}: {call}");
    }
}

#[test]
fn conflict_copies_come_after_their_original_and_are_named() {
    let env = TestEnv::new();
    let text =
        "The spare key hangs behind the third lifebuoy on the north pier, as everyone knows by now";
    let copy = "docs/keys.sync-conflict-20260101-120000-ABCDEFG.md";
    env.write("docs/keys.md", format!("# Keys\n\n{text}."));
    env.write(copy, format!("# Keys\n\n{text}, lifebuoy, lifebuoy."));
    env.write("docs/keys 2.md", format!("# Keys\n\n{text}, lifebuoy."));
    env.ok(&["add", "docs"]);
    let path = |name: &str| env.path(name).display().to_string();
    let answer = env.json(&["search", "lifebuoy"]);
    let hits = answer["results"].as_array().unwrap();
    assert_eq!(hits[0]["source"]["path"], path("docs/keys.md"));
    assert_eq!(hits[0]["source"].get("conflict_of"), None);
    assert_eq!(hits.len(), 3);
    for hit in &hits[1..] {
        assert_eq!(hit["source"]["conflict_of"], path("docs/keys.md"));
    }
    let status = env.json(&["status", "--format", "json"]);
    let copies = status["conflict_copies"].as_array().unwrap().iter().map(|copy| &copy["path"]);
    assert!(copies.eq([path("docs/keys 2.md"), path(copy)].iter()));
    let status = env.ok(&["status"]).stdout;
    assert!(
        status.contains("Conflicts: 2 conflict copies, such as keys 2.md: merge the differences"),
        "{status}"
    );
}
