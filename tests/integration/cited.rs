//! The place that is cited, and the lines that are shown: the best line, in every form.

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
    for (format, place) in [("agent", "line 9, § Risks"), ("md", ":9)")] {
        let text = search(format);
        assert!(text.contains("§ Risks") && text.contains(place), "{format}: {text}");
    }
    assert!(search("paths").trim_end().ends_with("plan.md:9"));
    let grep = env.json(&["grep", "heron", "--format", "json"])["results"][0]["lines"][0].clone();
    assert_eq!((&grep["section"], &grep["start_line"]), (&"Risks".into(), &9.into()));
    let narrow =
        env.json(&["search", "floods heron", "--fts-only", "--budget", "60", "--format", "json"]);
    assert_eq!(narrow["results"][0]["source"]["at"], source["at"]);
}

#[test]
fn a_hit_is_cited_by_the_same_line_however_many_are_asked_for() {
    let env = TestEnv::new();
    env.write(
        "pier.md",
        "# Pier\n\nThe gauge and its float are in the well.\n\nFrost breaks the gauge.\n",
    );
    for number in 1..6 {
        env.write(&format!("well{number}.md"), format!("# Well {number}\n\nA float in a well.\n"));
    }
    env.ok(&["add", "."]);
    let first = |top: &str| {
        let args =
            ["search", "frost gauge float well", "--fts-only", "--format=paths", "--top", top];
        env.ok(&args).stdout.lines().next().unwrap_or_default().to_owned()
    };
    // A float and a well are in all results, so the words of the other sentence count more.
    assert!(first("1").ends_with("pier.md:5"), "{}", first("1"));
    assert_eq!(first("1"), first("6"));
}

#[test]
fn rows_of_tables_are_shown_below_their_heads() {
    let env = TestEnv::new();
    env.write("staff.csv", "name,phone\nAna,1\nBen,2\nGravik,4711\nCleo,3\n");
    env.ok(&["add", "staff.csv"]);
    let human = env.ok(&["search", "phone of Gravik", "--fts-only", "--format=human"]).stdout;
    let lines: Vec<&str> = human.lines().collect();
    let head = lines.iter().position(|line| line.contains("| name | phone |")).unwrap();
    assert!(lines[head + 1].contains("… | Gravik | 4711 |"), "{human}");
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
