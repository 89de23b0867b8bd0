//! Documents in other languages than English: recognised, stemmed, erased, and reported if the model
//! cannot read them.

use std::fs;

use serde_json::Value;

use crate::env::TestEnv;

const GERMAN: &str = "# Hausordnung\n\nDie Schlüssel der Häuser am Hafen liegen bei der Verwaltung. Wer einen \
    davon braucht, unterschreibt in der Liste, die neben der Tür hängt, und bringt ihn am Abend zurück. Wer ihn \
    verliert, meldet das sofort, damit das Schloss noch am selben Tag ausgetauscht werden kann.\n";

const RUSSIAN: &str = "Запасные ключи от маяка лежат в синем ящике под лестницей. Кто берёт ключ, записывается \
    в журнал у двери и возвращает его вечером, потому что второго комплекта на станции нет.";

/// Returns the titles of the documents that keywords find.
fn found(env: &TestEnv, query: &str) -> Vec<String> {
    let answer = env.json(&["search", query, "--fts-only"]);
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|hit| hit["source"]["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_language_of_a_text_is_in_its_metadata_and_its_words_are_found_by_their_stems() {
    let env = TestEnv::new();
    env.write("docs/haus.md", GERMAN);
    env.write("docs/mayak.txt", RUSSIAN);
    env.write(
        "docs/quay.txt",
        "The houses on the quay were sold in winter, and their keys are at the office.",
    );
    env.write("docs/schluessel.py", format!("# {}\ndef main(): pass\n", GERMAN.replace('\n', " ")));
    env.ok(&["add", "docs"]);
    let languages = |title: &str| -> Value {
        let id = env.sql::<i64>(&format!("SELECT id FROM documents WHERE title = '{title}'"));
        let info = env.json(&["info", &id.to_string(), "--format", "json"]);
        serde_json::json!([info["language"], info["metadata"]["natural_language"]])
    };
    assert_eq!(languages("Hausordnung"), serde_json::json!([null, "de"]));
    assert_eq!(languages("mayak"), serde_json::json!([null, "ru"]));
    assert_eq!(languages("quay"), serde_json::json!([null, "en"]));
    assert_eq!(languages("schluessel"), serde_json::json!(["python", null]));

    assert_eq!(found(&env, "Haus"), ["Hausordnung"]);
    assert_eq!(found(&env, "ключом"), ["mayak"]);
    assert_eq!(found(&env, "house"), ["quay"]);
    assert_eq!(found(&env, "\"neben der Türen\""), ["Hausordnung"]);
    assert_eq!(found(&env, "Schlüssel -Haus"), ["schluessel"], "an exclusion means the stem too");
    let shown =
        env.ok(&["search", "ключами", "--fts-only", "--format", "human", "--color", "always"]);
    assert!(shown.stdout.contains("ключ"), "{}", shown.stdout);
    env.ok(&["doctor"]);
}

#[test]
fn a_removed_document_leaves_no_stem() {
    let env = TestEnv::new();
    env.write("haus.md", GERMAN);
    env.write("mayak.txt", RUSSIAN);
    env.ok(&["add", "haus.md", "mayak.txt"]);
    let holds = |text: &str| {
        [".kb/kb.db", ".kb/kb.db-wal"].iter().any(|file| {
            let bytes = fs::read(env.path(file)).unwrap_or_default();
            memchr::memmem::find(&bytes, text.as_bytes()).is_some()
        })
    };
    // The mark of a German stem in the index (`store/keyword/grams.rs`).
    let stems = "\u{e000}de\u{e000}";
    assert!(holds(stems) && holds("Verwaltung"), "the test shows nothing");
    env.ok(&["remove", "haus.md", "--yes"]);
    assert!(!holds(stems) && !holds("Verwaltung"), "a word of the removed document is left");
    assert!(found(&env, "Verwaltungen").is_empty());
    assert_eq!(found(&env, "ключом"), ["mayak"]);
    env.ok(&["doctor"]);
}

#[test]
fn an_export_keeps_the_language_and_an_import_stems_by_it() {
    let env = TestEnv::new();
    env.write("haus.md", GERMAN);
    env.ok(&["add", "haus.md"]);
    let lines = env.ok(&["export", "--vectors"]).stdout;
    let other = TestEnv::new();
    let file = other.write("lines.jsonl", lines);
    other.ok(&["import", file.to_str().unwrap()]);
    assert_eq!(found(&other, "Haus"), ["Hausordnung"]);
    other.ok(&["doctor"]);
}

#[test]
fn text_that_the_model_cannot_read_is_reported_with_the_command_and_its_cost() {
    let env = TestEnv::real();
    for number in 0..12 {
        env.write(&format!("docs/{number}.txt"), format!("{RUSSIAN} Запись номер {number}."));
    }
    let line = "in Russian, which all-MiniLM-L6-v2 cannot read: search finds them by keyword only, not by meaning";
    let output = env.ok(&["add", "docs"]);
    let reported: Vec<&str> = output.stderr.lines().filter(|found| found.contains(line)).collect();
    let [reported] = reported[..] else { panic!("one line: {}", output.stderr) };
    assert!(
        reported.contains(
            "`kb reindex --model multilingual-e5-small` (488 MB to download, then about "
        ),
        "{reported}"
    );
    for number in 0..12 {
        env.write(&format!("more/{number}.txt"), format!("{RUSSIAN} Ещё {number}."));
    }
    let notes = env.json(&["add", "more", "--format=json"])["notes"].take();
    let has_line = |note: &Value| note.as_str().is_some_and(|note| note.contains(line));
    assert!(notes.as_array().unwrap().iter().any(has_line), "{notes}");
    // Not for a single note, and not with every update.
    env.write("docs/13.txt", RUSSIAN);
    for args in [&["update"][..], &["add", "--note", RUSSIAN, "--title", "Запись"]] {
        let output = env.ok(args);
        assert!(!output.stderr.contains("cannot read"), "{}", output.stderr);
    }
    // The small model of the tests is the user's own: kb does not know what it reads.
    let env = TestEnv::new();
    for number in 0..12 {
        env.write(&format!("docs/{number}.txt"), format!("{RUSSIAN} Запись номер {number}."));
    }
    let output = env.ok(&["add", "docs"]);
    assert!(!output.stderr.contains("cannot read"), "{}", output.stderr);
}
