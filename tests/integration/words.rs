//! Tests the account of words: where each word of a file went, which files leave out many, and how
//! to keep them.

use serde_json::{Value, json};

use crate::env::{CORPUS, TestEnv};

/// Twelve words.
const PROSE: &str = "The gauge in the harbour was read at noon on every day.";

/// A web page of which a third is outside of its marked content, and that has a menu and a hidden line.
fn page() -> String {
    let outside = "I remember it well and my father told me about it too.";
    format!(
        "<nav>Home News Sport</nav><main><h1>Low water</h1><p>{}</p></main><p hidden>not shown</p>\
         <script>var tide = 1;</script><div><p>{}</p></div>",
        PROSE.repeat(8),
        outside.repeat(4)
    )
}

fn words_of(env: &TestEnv, name: &str) -> Value {
    let files = env.json(&["files", "--format", "json"]);
    let files = files["files"].as_array().unwrap();
    let file = files.iter().find(|file| file["path"].as_str().unwrap().ends_with(name));
    file.unwrap()["words"].clone()
}

#[test]
fn every_word_of_a_file_is_accounted_for() {
    let env = TestEnv::new();
    env.write("docs/page.html", page());
    env.write(
        "docs/plain.md",
        "---\ntags: tides\n---\n# Low water\n\nAt noon.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    );
    let added = env.kb(&["add", "docs"]).expect(0);
    let notice =
        "1 file: more than a tenth of the words were left out; `kb files --quality` lists it.";
    assert!(added.stderr.contains(notice), "{}", added.stderr);

    let account = json!({ "text": 96, "heading": 2, "menu": 3, "undisplayed": 2, "outside": 48 });
    assert_eq!(words_of(&env, "page.html"), account);
    let plain = json!({ "text": 2, "heading": 2, "table": 4, "markup": 2 });
    assert_eq!(words_of(&env, "plain.md"), plain);

    let listed = env.json(&["list", "--format", "json"]);
    assert_eq!(listed[0]["words"], account);
    let info = env.json(&["info", "1", "--format", "json"]);
    assert_eq!(info["metadata"]["words"], account);
    let shown = env.ok(&["info", "1"]).stdout;
    assert!(shown.contains("98 kept; left out: 48 outside, 3 menu, 2 undisplayed"), "{shown}");
    let exported = env.ok(&["export"]).stdout;
    assert!(exported.lines().any(|line| line.contains(r#""words":{"text":96,"#)), "{exported}");

    let lossy = env.json(&["files", "--quality", "--format", "json"]);
    let lossy = lossy["files"].as_array().unwrap();
    assert!(lossy.len() == 1 && lossy[0]["path"].as_str().unwrap().ends_with("page.html"));
    let lossy = env.ok(&["files", "--quality"]).stdout;
    assert!(lossy.contains("page.html") && lossy.contains("left out: 48 outside"), "{lossy}");
    assert!(!lossy.contains("plain.md"), "{lossy}");
}

#[test]
fn the_words_of_pages_add_up() {
    let env = TestEnv::new();
    let pdf = env.json(&["convert", &format!("{CORPUS}/tide-station.pdf"), "--format", "json"]);
    let words = &pdf["words"];
    let count = |key: &str| words[key].as_u64().unwrap_or(0);
    let all: u64 = words.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert!(count("running_head") > 0 && count("heading") > 0 && count("table") > 0, "{words}");
    // As pdftotext counts them.
    assert_eq!(all, 875, "{words}");
}

#[test]
fn all_words_that_a_file_shows_are_kept_on_request() {
    let env = TestEnv::new();
    let page = env.write("docs/page.html", page());
    let page = page.to_str().unwrap();
    let pdf = format!("{CORPUS}/tide-station.pdf");
    let convert = |path: &str, args: &[&str]| env.ok(&[&["convert", path], args].concat()).stdout;
    assert!(!convert(page, &[]).contains("Home News Sport"));
    let all = convert(page, &["--keep-all"]);
    assert!(all.contains("Home News Sport") && all.contains("my father"), "{all}");
    assert!(!all.contains("not shown"), "{all}");
    assert_eq!(convert(&pdf, &[]).matches("Third edition").count(), 1);
    assert!(convert(&pdf, &["--keep-all"]).matches("Third edition").count() > 2);

    env.kb(&["add", "docs"]).expect(0);
    env.ok(&["config", "set", "ingestion.keep_all", "true"]);
    let made =
        |env: &TestEnv| env.json(&["update", "--reread", "--format", "json"])["reread"].clone();
    assert_eq!(made(&env), 1);
    assert_eq!(words_of(&env, "page.html"), json!({ "text": 147, "heading": 2, "undisplayed": 2 }));
    // Documents that keep all words are not read again.
    env.ok(&["config", "set", "ingestion.keep_all", "false"]);
    assert_eq!(made(&env), 0);
    env.write("more/page.html", format!("{}<p>New.</p>", std::fs::read_to_string(page).unwrap()));
    env.kb(&["add", "more", "--keep-all"]).expect(0);
    assert_eq!(
        words_of(&env, "more/page.html"),
        json!({ "text": 148, "heading": 2, "undisplayed": 2 })
    );
}

#[test]
fn a_guessed_encoding_is_named() {
    let env = TestEnv::new();
    // "The key of the cellar hangs at the door" in Russian, as Windows-1251.
    let russian = b"\xCA\xEB\xFE\xF7 \xEE\xF2 \xEF\xEE\xE4\xE2\xE0\xEB\xE0 \xE2\xE8\xF1\xE8\xF2 \xF3 \xE4\xE2\xE5\xF0\xE8.";
    env.write("docs/guessed.txt", russian);
    let stated = [b"<?xml version='1.0' encoding='windows-1251'?><a>".as_slice(), russian, b"</a>"];
    env.write("docs/stated.xml", stated.concat());
    env.write("docs/plain.txt", "Größe");
    let added = env.kb(&["add", "docs"]).expect(0);
    let notice = "1 file: its encoding is uncertain; `kb files --quality` lists it.";
    assert!(added.stderr.contains(notice), "{}", added.stderr);
    let lossy = env.ok(&["files", "--quality"]).stdout;
    assert!(lossy.contains("windows-1251, guessed"), "{lossy}");
    assert!(!lossy.contains("stated.xml") && !lossy.contains("plain.txt"), "{lossy}");
    let info = env.json(&["info", "stated.xml", "--format", "json"]);
    let encoding = json!({ "name": "windows-1251", "origin": "stated" });
    assert_eq!(info["metadata"]["encoding"], encoding);
    for name in ["guessed.txt", "stated.xml"] {
        let shown = env.ok(&["show", name]).stdout;
        assert!(shown.contains("Ключ от подвала"), "{shown}");
    }
}
