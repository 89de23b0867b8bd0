//! Tests that kb works by words on a machine that cannot get a model, and adds vectors once it can.

use serde_json::json;

use crate::env::{Output, TestEnv};

/// The note of every command while there are no vectors.
const WORDS_ONLY: &str = "until there are vectors, documents are found by keyword only, not by meaning: \
                          `kb init` fetches the model and adds vectors";

/// A home on a machine that has the model, to which commands can be given as if it had none.
struct Offline(TestEnv);

impl Offline {
    fn new() -> Self {
        let env = TestEnv::real();
        env.write("docs/tides.md", "# Tides\n\nThe tide gauge is read at noon.\n");
        env.write("docs/boats.md", "# Boats\n\nThe ferry leaves from the north quay.\n");
        env.write("docs/keeper.txt", "The keeper trims the lamp every evening. ".repeat(60));
        Self(env)
    }

    /// Runs a command on a machine with neither model nor library, where pip fails.
    fn kb(&self, args: &[&str]) -> Output {
        let nothing = self.0.path("nothing").display().to_string();
        let vars = [("KB_CACHE_DIR", &nothing), ("HF_HUB_CACHE", &nothing)];
        let vars = vars.map(|(name, value)| (name, value.as_str()));
        self.0.kb_with(&[&vars[..], &[("ORT_DYLIB_PATH", "")]].concat(), args)
    }

    fn count(&self, table: &str) -> u32 {
        self.0.sql(&format!("SELECT count(*) FROM {table}"))
    }
}

#[test]
fn documents_are_added_and_found_by_their_words() {
    let offline = Offline::new();
    let added = offline.kb(&["add", "docs", "--format=json"]).expect(0);
    assert_eq!(added.json()["added"], 3);
    assert!(added.stderr.contains("warning: cannot fetch ONNX Runtime"), "{}", added.stderr);
    assert_eq!(added.stderr.matches(WORDS_ONLY).count(), 1, "{}", added.stderr);
    let search = offline.kb(&["search", "tide gauge"]).expect(0);
    let answer = search.json();
    assert_eq!(answer["results"][0]["source"]["title"], "Tides");
    assert!(answer["notes"].as_array().unwrap().contains(&json!(WORDS_ONLY)), "{answer}");
    // By words, as asked: nothing is missing.
    let by_words = offline.kb(&["search", "tide gauge", "--fts-only"]).expect(0);
    assert!(!by_words.stdout.contains(WORDS_ONLY) && by_words.stderr.is_empty());
    for args in [&["list"][..], &["show", "1"], &["grep", "ferry"], &["status"]] {
        offline.kb(args).expect(0);
    }
    for args in [&["search", "boats", "--vec-only"][..], &["similar", "1"]] {
        let error = offline.kb(&[args, &["--format=json"]].concat()).expect(1).json_error();
        assert_eq!(error["error"], "the documents have no vectors yet");
        assert_eq!(error["fix"], "`kb init` fetches the model and adds vectors");
    }
    let doctor = offline.kb(&["doctor"]).expect(0).stdout;
    assert!(doctor.contains("until there are vectors") && doctor.ends_with("Sound.\n"), "{doctor}");
    // Notes, edits and updates need no model either.
    offline.kb(&["add", "--note", "The buoy is green.", "--title", "Buoy"]).expect(0);
    offline.kb(&["edit", "4", "--title", "Green buoy"]).expect(0);
    offline.0.write("docs/boats.md", "# Boats\n\nThe ferry leaves from the south quay.\n");
    assert_eq!(offline.kb(&["update", "--format=json"]).expect(0).json()["updated"], 1);
    let south = offline.kb(&["search", "south quay"]).expect(0).json();
    assert_eq!(south["results"][0]["source"]["title"], "Boats");
}

#[test]
fn a_changed_file_of_a_hit_is_read_again_without_a_model() {
    let offline = Offline::new();
    offline.kb(&["add", "docs"]).expect(0);
    offline.0.write("docs/boats.md", "# Boats\n\nThe ferry leaves from the old pier at dawn.\n");
    let answer = offline.kb(&["search", "ferry", "--fresh"]).expect(0).json();
    assert!(answer["results"][0]["text"].as_str().unwrap().contains("old pier"), "{answer}");
    // A search adds no vectors, though the machine has the model now.
    offline.0.write("docs/boats.md", "# Boats\n\nThe ferry leaves from the new pier at dawn.\n");
    let answer = offline.0.ok(&["search", "ferry", "--fresh"]).json();
    assert!(answer["results"][0]["text"].as_str().unwrap().contains("new pier"), "{answer}");
    assert_eq!(offline.count("sqlite_schema WHERE name = 'chunks_vec'"), 0);
}

#[test]
fn vectors_are_added_by_init_update_add_and_reindex() {
    for args in [&["init"][..], &["update"], &["add", "--note", "One more."], &["reindex"]] {
        let offline = Offline::new();
        offline.kb(&["add", "docs"]).expect(0);
        let output = offline.0.ok(args);
        assert!(!output.stderr.contains(WORDS_ONLY), "{args:?}: {}", output.stderr);
        assert_eq!(offline.count("chunks_vec_rowids"), offline.count("chunks"), "{args:?}");
        let answer = offline.0.ok(&["search", "where does the ship depart"]).json();
        assert_eq!(answer["results"][0]["source"]["title"], "Boats", "{args:?}");
        assert!(answer["results"][0]["score_breakdown"]["vector"].is_f64(), "{answer}");
        assert!(!answer.to_string().contains(WORDS_ONLY));
        assert!(offline.0.ok(&["doctor"]).stdout.ends_with("Sound.\n"), "{args:?}");
    }
}

#[test]
fn documents_of_estimated_length_are_made_again_as_with_the_model() {
    let offline = Offline::new();
    offline.kb(&["add", "docs"]).expect(0);
    offline.0.ok(&["init"]);
    let status = offline.0.json(&["status", "--format=json"]);
    assert_eq!(status["made_differently"], 3);
    offline.0.ok(&["update", "--reread"]);
    let chunks = "SELECT text || token_count FROM chunks ORDER BY document_id, chunk_index";
    let made_again = offline.0.sql_column(chunks);
    let online = Offline::new();
    online.0.ok(&["add", "docs"]);
    assert_eq!(made_again, online.0.sql_column(chunks));
}

#[test]
fn a_database_with_vectors_is_searched_by_words_where_the_model_is_missing() {
    let offline = Offline::new();
    offline.0.ok(&["add", "docs"]);
    let answer = offline.kb(&["search", "tide gauge"]).expect(0).json();
    assert_eq!(answer["results"][0]["source"]["title"], "Tides");
    let note = "the model is not installed on this machine, so the search used keywords only: `kb init` fetches it";
    assert!(answer["notes"].as_array().unwrap().contains(&json!(note)), "{answer}");
    let error = offline.kb(&["search", "tide", "--vec-only"]).expect(1).json_error();
    assert_eq!(error["code"], "not_installed");
    // Documents without vectors would be missing from its answers.
    let error = offline.kb(&["add", "--note", "One more.", "--format=json"]).expect(2).json_error();
    assert_eq!(error["code"], "fetch");
}
