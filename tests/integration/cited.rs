//! The place that is cited: that of the line that is shown, in every form.

use crate::env::TestEnv;

const PLAN: &str = "# Plan\n\n## When we build\n\nIn spring, after the frost.\n\n## Risks\n\nFloods of the heron burn.\n";

#[test]
fn every_form_cites_the_section_and_the_line_that_are_shown() {
    let env = TestEnv::new();
    env.write("plan.md", PLAN);
    env.ok(&["add", "plan.md"]);
    let search =
        |format: &str| env.ok(&["search", "floods heron", "--fts-only", "--format", format]).stdout;
    let source =
        env.json(&["search", "floods heron", "--fts-only"])["results"][0]["source"].clone();
    assert_eq!(source["section"], "When we build");
    assert_eq!(source["at"]["section"], "Risks");
    assert_eq!((&source["at"]["line"], &source["start_line"]), (&9.into(), &1.into()));
    let human = search("human");
    assert!(human.contains("§Risks") && human.contains("plan.md:9"), "{human}");
    for format in ["agent", "md"] {
        let text = search(format);
        assert!(text.contains("§ Risks") && text.contains(":9"), "{format}: {text}");
    }
    assert!(search("paths").trim_end().ends_with("plan.md:9"));
    let grep = env.json(&["grep", "heron", "--format", "json"])["results"][0]["lines"][0].clone();
    assert_eq!((&grep["section"], &grep["start_line"]), (&"Risks".into(), &9.into()));
    let narrow =
        env.json(&["search", "floods heron", "--fts-only", "--budget", "60", "--format", "json"]);
    assert_eq!(narrow["results"][0]["source"]["at"], source["at"]);
}

#[test]
fn a_passage_of_an_older_kb_is_cited_by_its_range() {
    let env = TestEnv::new();
    env.write("plan.md", PLAN);
    env.ok(&["add", "plan.md"]);
    let db = rusqlite::Connection::open(env.database()).unwrap();
    let older = "UPDATE chunks SET metadata =
        json_set(json_remove(metadata, '$.new_places'), '$.page', 4, '$.last_page', 6)";
    assert_eq!(db.execute(older, []).unwrap(), 1);
    let source =
        env.json(&["search", "floods heron", "--fts-only"])["results"][0]["source"].clone();
    assert!(source["at"].is_null(), "{source}");
    let human = env.ok(&["search", "floods heron", "--fts-only", "--format", "human"]).stdout;
    assert!(human.contains("(pp.4-6)") && human.contains("plan.md pp.4-6"), "{human}");
}
