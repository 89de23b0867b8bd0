//! Words that are written in another way than they are typed: other letters, other groups of digits, one wrong letter; and tags.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;

fn env() -> TestEnv {
    let env = TestEnv::new();
    for (name, text) in [
        ("tram", "Die Straßenbahn fährt durch Wrocław."),
        ("form", "The oﬃcial CO₂ sensor covers 12 m² of the hall."),
        ("bank", "The account is DE89 3704 0044 0532 0130 00 and has 1,234,567 crowns."),
        ("phone", "Call +49 (0)30 5550-1234 before noon."),
        ("kana", "ﾓｰﾀｰﾎﾞｰﾄの鍵は台所にあります。"),
        ("launch", "We are ready 🚀 at last."),
        ("soft", "The hydro\u{200b}graph of the Rechts\u{ad}schutz."),
        ("gauge", "The isolation of the gauge is checked in spring."),
    ] {
        env.write(&format!("notes/{name}.md"), format!("# {name}\n\n{text}\n"));
    }
    env.write("notes/yard.md", "---\ntags: [gardening, to-do]\n---\n# Yard\n\nRoses and soil.\n");
    env.ok(&["add", "notes"]);
    env
}

fn first(answer: &Value) -> String {
    let path = answer["results"][0]["source"]["path"].as_str().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

#[test]
fn a_word_is_found_however_it_is_written() {
    let env = env();
    for (query, expected) in [
        ("Strassenbahn", "tram.md"),
        ("faehrt", "tram.md"),
        ("wroclaw", "tram.md"),
        ("official", "form.md"),
        ("CO2", "form.md"),
        ("\"official CO2 sensor\"", "form.md"),
        ("\"12 m2\"", "form.md"),
        ("DE89370400440532013000", "bank.md"),
        ("1234567", "bank.md"),
        ("030 55501234", "phone.md"),
        ("モーターボート", "kana.md"),
        ("🚀", "launch.md"),
        ("hydrograph", "soft.md"),
        ("Rechtsschutz", "soft.md"),
        ("gardening", "yard.md"),
    ] {
        for leg in [&[][..], &["--fts-only"]] {
            let answer = env.json(&[&["search", query], leg].concat());
            assert_eq!(first(&answer), expected, "{query} {leg:?}");
            let is_phrase = query.starts_with('"');
            assert!(is_phrase || answer["confidence"] != "none", "{query} {leg:?}");
        }
    }
    let excluded = env.json(&["search", "sensor hydrograph -official"]);
    let paths: Vec<_> = excluded["results"].as_array().unwrap().iter().collect();
    assert!(paths.iter().all(|hit| !hit["source"]["path"].as_str().unwrap().ends_with("form.md")));
    let shown = env.ok(&["search", "official", "--top=1"]).stdout;
    assert!(shown.contains("oﬃcial"), "{shown}");
}

#[test]
fn a_tag_that_was_added_or_renamed_is_found_and_a_removed_one_is_not() {
    let env = env();
    let terms = |query: &str| {
        let answer = env.json(&["search", query, "--fts-only", "--explain"]);
        let terms = &answer["results"][0]["terms"];
        (first(&answer), terms.get(0).map(|term| term["in_tag"].clone()))
    };
    assert_eq!(terms("gardening"), ("yard.md".into(), Some(json!(true))));
    env.ok(&["tags", "rename", "gardening", "horticulture"]);
    assert_eq!(terms("horticulture"), ("yard.md".into(), Some(json!(true))));
    assert_eq!(terms("gardening"), (String::new(), None));
}

#[test]
fn a_word_that_no_passage_has_is_completed_and_every_face_says_so() {
    let env = env();
    let note = "no passage has \"isolaton\"; searched instead: isolation";
    for leg in [&[][..], &["--fts-only"]] {
        let answer = env.json(&[&["search", "isolaton"], leg].concat());
        assert_eq!(first(&answer), "gauge.md", "{leg:?}");
        assert_eq!(answer["notes"][0], note, "{answer}");
        assert_ne!(answer["confidence"], "high");
    }
    for format in ["human", "agent", "paths"] {
        let output = env.ok(&["search", "isolaton", "--format", format]);
        assert!((output.stdout + &output.stderr).contains(note), "{format}");
    }
    assert!(env.ok(&["why", "isolaton", "gauge"]).stderr.contains(note));
    let mut client = Client::start(&env, "", &[]);
    let data = client.data("kb_search", json!({ "query": "isolaton" }));
    assert_eq!((first(&data).as_str(), &data["notes"][0]), ("gauge.md", &json!(note)));
    // The word exists, or was meant literally.
    for query in ["isolation", "\"isolaton\" gauge", "gauge -isolaton", "isolaton.rs gauge"] {
        let notes = env.json(&["search", query])["notes"].to_string();
        assert!(!notes.contains("searched instead"), "{query}: {notes}");
    }
}
