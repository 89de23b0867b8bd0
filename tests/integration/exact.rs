//! Tests that what a person names to the letter is found: files by their names, and versions, options, languages and
//! codes that punctuation holds together.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;

/// Notes whose names say more than their texts, and texts that differ in one exact term.
fn folder() -> TestEnv {
    let env = TestEnv::new();
    env.write("notes/Board meeting Helsinki.md", "# Talk\n\nWe spoke about the harbour.\n");
    env.write("notes/Kyoto.md", "---\naliases: [Old capital]\n---\n\n## Trips\n\nBy train.\n");
    env.write("notes/HarbourMaster7.py", "def tide():\n    return 1\n");
    env.write("lang/plus.md", "# Templates\n\nC++ templates are expanded late.\n");
    env.write("lang/sharp.md", "# Generics\n\nC# generics are kept at run time.\n");
    env.write("lang/letter.md", "# Pointers\n\nC has pointers, and C has no generics.\n");
    env.write("git/new.md", "# Fixes\n\nGit v2.30.2 mends the fault.\n");
    env.write(
        "git/old.md",
        "# Fixes\n\nGit 2.30.1 and git 2.31.2 and 2.30 do not, git 2 neither.\n",
    );
    env.write(
        "git/hooks.md",
        "# Hooks\n\n`git commit --no-verify` skips them; verify no hook is left.\n",
    );
    env.write("git/sign.py", "def verify(no):\n    return no.verify(no)\n");
    env.ok(&["add", "-q", "notes", "lang", "git"]);
    env
}

fn search(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let answer = env.json(&[&["search"], args].concat());
    let hits = answer["results"].as_array().unwrap();
    hits.iter().map(|hit| file(&hit["source"]["path"])).collect()
}

fn file(path: &Value) -> String {
    path.as_str().unwrap().rsplit('/').next().unwrap().to_owned()
}

#[test]
fn a_document_is_found_by_its_name_its_folder_and_its_aliases() {
    let env = folder();
    for (query, found) in [
        ("Helsinki", "Board meeting Helsinki.md"),
        ("board meeting", "Board meeting Helsinki.md"),
        ("kyoto", "Kyoto.md"),
        ("Kyo*", "Kyoto.md"),
        ("old capital", "Kyoto.md"),
        ("harbour master", "HarbourMaster7.py"),
        ("harbourmaster7", "HarbourMaster7.py"),
    ] {
        assert_eq!(search(&env, &[query, "--fts-only"])[0], found, "{query}");
    }
    assert_eq!(search(&env, &["board meeting Helsinki"])[0], "Board meeting Helsinki.md");
    let in_folder = search(&env, &["lang", "--fts-only"]);
    assert_eq!(in_folder.len(), 3, "{in_folder:?}");
    #[cfg(unix)]
    {
        let mut screen = crate::screen::Screen::start(&env, &["find", "helsin"], 110, 30);
        screen.see("Board meeting Helsinki.md");
        screen.leave("\u{1b}", &env).expect(0);
    }
}

#[test]
fn a_name_changes_with_the_file() {
    let env = folder();
    fs::rename(env.path("notes/Kyoto.md"), env.path("notes/Nara.md")).unwrap();
    env.ok(&["update", "-q"]);
    assert_eq!(search(&env, &["nara", "--fts-only"]), ["Nara.md"]);
    assert!(search(&env, &["kyoto", "--fts-only"]).is_empty());
    env.write("notes/Nara.md", "---\nalias: Deer park\n---\n\n## Trips\n\nBy train.\n");
    env.ok(&["update", "-q"]);
    assert_eq!(search(&env, &["deer", "--fts-only"]), ["Nara.md"]);
    assert!(search(&env, &["capital", "--fts-only"]).is_empty());
    env.ok(&["remove", "--yes", "--path", &env.path("notes/Nara.md").display().to_string()]);
    assert!(search(&env, &["nara", "--fts-only"]).is_empty());
    assert!(env.ok(&["doctor"]).text().contains("ok"));
}

#[test]
fn exact_terms_are_found_in_both_spellings_before_their_parts() {
    let env = folder();
    for (query, found) in [
        ("C++", "plus.md"),
        ("C#", "sharp.md"),
        ("git 2.30.2", "new.md"),
        ("git v2.30.2", "new.md"),
        ("\"2.30.2\"", "new.md"),
        ("\"C++\"", "plus.md"),
        ("--no-verify", "hooks.md"),
    ] {
        assert_eq!(search(&env, &["--fts-only", "--", query])[0], found, "{query}");
        assert_eq!(search(&env, &["--", query])[0], found, "{query}");
    }
    // `-C++` excludes only passages that have the symbol.
    let without = search(&env, &["--fts-only", "--", "generics pointers templates -C++"]);
    assert!(without.contains(&"letter.md".into()) && !without.contains(&"plus.md".into()));
    let only = search(&env, &["--", "\"C#\""]);
    assert_eq!(only, ["sharp.md"]);
}

#[test]
fn explanations_name_exact_terms_and_names() {
    let env = folder();
    let why = |query: &str, id: &str| env.ok(&["why", query, id]).text();
    let id = |name: &str| -> String {
        let found: i64 =
            env.sql(&format!("SELECT id FROM documents WHERE source_path LIKE '%{name}'"));
        found.to_string()
    };
    assert!(why("git 2.30.2", &id("new.md")).contains("2.30.2"));
    assert!(why("Helsinki", &id("Helsinki.md")).contains("in the name"));
    let found = env.json(&["search", "Helsinki", "--fts-only", "--explain"]);
    let term = &found["results"][0]["terms"][0];
    assert_eq!((&term["term"], &term["in_name"]), (&"Helsinki".into(), &true.into()), "{found:#}");
}

#[test]
fn agents_find_names_and_exact_terms() {
    let env = folder();
    let mut client = Client::start(&env, "", &[]);
    for (query, found) in [("Helsinki", "Helsinki.md"), ("C#", "sharp.md")] {
        let answer = client.data("kb_search", json!({"query": query, "top": 1}));
        assert!(answer.to_string().contains(found), "{answer:#}");
    }
}
