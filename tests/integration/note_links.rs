//! Links between notes: forwards and backwards in `kb info`, `kb show` and over MCP, those that lead nowhere, and tags
//! in the text.

use std::fs;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;

/// Returns a home with an added folder of linked notes.
fn vault() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "vault/Travel.md",
        "---\naliases: [Journeys]\n---\n# On the way\n\nFirst [[kyoto#Autumn|the old capital]], \
         see ![[Tea]].\n\n```\n[[Code]]\n```\n\nThen [a list](lists/to%20pack.md) and [[Nowhere]].\n\n\
         ![[chart.png]] [site](https://example.org/a.md) [gone](gone.md) [photo](photo.jpg)\n",
    );
    env.write("vault/places/Kyoto.md", "## Autumn\n\nMaples, and see [[Journeys]]. #asia/japan\n");
    env.write(
        "vault/lists/to pack.md",
        "# Luggage\n\nCoat. Back to [the way](../Travel.md#top).\n",
    );
    env.write("vault/Tea.md", "# Tea\n\nGreen. #drink, not `#code` or #1.\n\n| a | b |\n|---|---|\n| [[luggage\\|l]] | x |\n");
    env.write("vault/Alone.md", "# Alone\n\nNobody knows this one.\n");
    env.ok(&["add", "vault"]);
    env
}

fn info(env: &TestEnv, name: &str) -> Value {
    env.json(&["info", name, "--format", "json"])
}

/// Returns the file names at the other ends of links, or what is written of those that lead nowhere.
#[track_caller]
fn ends(links: &Value) -> Vec<String> {
    let end = |link: &Value| match link["path"].as_str() {
        Some(path) => path.rsplit('/').next().unwrap().to_owned(),
        None => link["title"].as_str().or(link["text"].as_str()).unwrap().to_owned(),
    };
    links.as_array().map(|links| links.iter().map(end).collect()).unwrap_or_default()
}

#[test]
fn links_are_listed_forwards_and_backwards() {
    let env = vault();
    let travel = info(&env, "Travel.md");
    let all =
        ["Kyoto.md", "Tea.md", "to pack.md", "[[Nowhere]]", "![[chart.png]]", "[gone](gone.md)"];
    assert_eq!(ends(&travel["links"]), all);
    assert_eq!(ends(&travel["backlinks"]), ["to pack.md", "Kyoto.md"]);
    let first = &travel["links"][0];
    assert_eq!(first["text"], "[[kyoto#Autumn|the old capital]]");
    assert_eq!((&first["line"], &first["title"]), (&json!(6), &json!("Kyoto")));
    assert_eq!(travel["links"][3]["document_id"], Value::Null);
    assert_eq!(travel["backlinks"][1]["line"], 3);
    assert_eq!(ends(&info(&env, "to pack.md")["backlinks"]), ["Tea.md", "Travel.md"]);
    // The same from every face.
    let shown = env.json(&["show", "Travel.md", "--format", "json"]);
    assert_eq!((&shown["links"], &shown["backlinks"]), (&travel["links"], &travel["backlinks"]));
    let human = env.ok(&["info", "Travel.md"]).stdout;
    let id = info(&env, "Kyoto.md")["id"].to_string();
    assert!(human.contains(&format!("Links:     Kyoto ({id}), Tea (")), "{human}");
    assert!(human.contains("[[Nowhere]] (no document)"), "{human}");
    assert!(human.contains("Backlinks: Luggage ("), "{human}");
    let text = env.ok(&["show", "Travel.md", "--format", "human"]).stdout;
    assert!(text.contains(&format!("\n\nLinks: Kyoto ({id}), ")), "{text}");
    assert!(text.contains("\nBacklinks: Luggage ("), "{text}");
    assert!(!env.ok(&["show", "Travel.md", "--format", "md"]).stdout.contains("Backlinks"));
    let mut client = Client::start(&env, "", &[]);
    for tool in ["kb_info", "kb_show"] {
        let text = client.text(tool, json!({ "document": "Travel.md" }));
        assert!(text.contains(&format!("Kyoto ({id})")) && text.contains("Backlinks:"), "{text}");
        let data = client.data(tool, json!({ "document": "Travel.md" }));
        assert_eq!((&data["links"], &data["backlinks"]), (&travel["links"], &travel["backlinks"]));
    }
}

#[test]
fn a_part_lists_the_links_in_it() {
    let env = TestEnv::new();
    env.write("v/a.md", "# A\n\n## One\n\n[[b]]\n\n## Two\n\n[[c]]\n");
    env.write("v/b.md", "# B\n\n[[a]]\n");
    env.write("v/c.md", "# C\n\nText.\n");
    env.ok(&["add", "v"]);
    let shown = env.json(&["show", "a.md", "--section", "Two", "--format", "json"]);
    assert_eq!(ends(&shown["links"]), ["c.md"]);
    assert_eq!(shown["backlinks"], Value::Null);
}

#[test]
fn links_follow_renamed_documents_and_notes() {
    let env = vault();
    fs::rename(env.path("vault/places/Kyoto.md"), env.path("vault/places/Osaka.md")).unwrap();
    env.ok(&["update"]);
    assert_eq!(ends(&info(&env, "Travel.md")["links"])[0], "[[kyoto#Autumn|the old capital]]");
    assert_eq!(ends(&info(&env, "Osaka.md")["backlinks"]), [""; 0]);
    let travel = fs::read_to_string(env.path("vault/Travel.md")).unwrap();
    env.write("vault/Travel.md", travel.replace("kyoto", "Osaka"));
    env.ok(&["update"]);
    assert_eq!(ends(&info(&env, "Osaka.md")["backlinks"]), ["Travel.md"]);
    env.ok(&["add", "--note", "Ask about [[Osaka]] at the office", "--title", "Call"]);
    assert_eq!(ends(&info(&env, "Osaka.md")["backlinks"]), ["Travel.md", "Call"]);
    env.write("vault/b.md", "# B\n\nMake the [[call]].\n");
    env.ok(&["update"]);
    assert_eq!(ends(&info(&env, "Call")["backlinks"]), ["b.md"]);
    env.ok(&["edit", "Tea.md", "--title", "Matcha"]);
    assert_eq!(ends(&info(&env, "Matcha")["backlinks"]), ["Travel.md"]);
}

#[test]
fn doctor_lists_links_to_no_document() {
    let env = vault();
    let told = env.ok(&["doctor", "--links", "--format", "json"]).json();
    let checks = told["checks"].as_array().unwrap().iter().filter(|check| check["name"] == "links");
    let messages: Vec<&str> = checks.map(|check| check["message"].as_str().unwrap()).collect();
    let travel = env.path("vault/Travel.md").display().to_string();
    let lines = [format!("{travel}:12: [[Nowhere]]"), format!("{travel}:14: [gone](gone.md)")];
    assert_eq!(messages, ["9 links between notes, 2 to no document", &lines[0], &lines[1]]);
    assert!(env.ok(&["doctor", "--links"]).stdout.contains("[[Nowhere]]"));
    assert!(!env.ok(&["doctor"]).stdout.contains("links"));
}

#[test]
fn links_are_found_in_front_matter_callouts_and_admonitions_and_lead_to_folders() {
    let env = TestEnv::new();
    env.write(
        "v/a.md",
        "---\nup: \"[[Home|start]]\"\nrelated:\n  - \"[[b]]\"\n  - \"[[gone]]\"\nnext: [[b]]\n---\n# A\n\n\
         > [!note] As in [[b]]\n\n!!! tip\n\n    See [the guides](guides/).\n\n[x](pictures/)\n",
    );
    env.write("v/Home.md", "# Home\n\nText.\n");
    env.write("v/b.md", "# B\n\nText.\n");
    env.write("v/only.md", "---\nup: \"[[Home]]\"\n---\n");
    env.write("v/guides/README.md", "# Handbook\n\nText.\n");
    env.ok(&["add", "v"]);
    let a = info(&env, "a.md");
    assert_eq!(ends(&a["links"]), ["Home.md", "b.md", "[[gone]]", "b.md", "b.md", "README.md"]);
    let lines: Vec<u64> =
        a["links"].as_array().unwrap().iter().map(|link| link["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 4, 5, 6, 10, 14]);
    assert_eq!(ends(&info(&env, "Home.md")["backlinks"]), ["a.md", "only.md"]);
    assert_eq!(ends(&info(&env, "b.md")["backlinks"]), ["a.md"; 3]);
    assert_eq!(ends(&info(&env, "Handbook")["backlinks"]), ["a.md"]);
    let told = env.ok(&["doctor", "--links"]).stdout;
    assert!(told.contains("7 links between notes, 1 to no document"), "{told}");
    assert!(told.contains("a.md:5: [[gone]]"), "{told}");
}

#[test]
fn without_links_nothing_is_added_to_answers() {
    let env = TestEnv::new();
    env.write("v/a.md", "# A\n\nText about a [[ and b. #tag\n");
    env.ok(&["add", "v"]);
    for command in ["info", "show"] {
        for format in ["json", "human"] {
            let told = env.ok(&[command, "1", "--format", format]).stdout.to_lowercase();
            assert!(!told.contains("links"), "{told}");
        }
    }
    let told = env.ok(&["doctor", "--links"]).stdout;
    assert!(told.contains("0 links between notes, 0 to no document"), "{told}");
}

#[test]
fn tags_in_the_text_become_tags_by_a_setting() {
    let env = vault();
    let (tags, chunks) =
        ("SELECT name FROM tags ORDER BY name", "SELECT text FROM chunks ORDER BY id");
    let before = env.sql_column(chunks);
    assert_eq!(env.sql_column(tags), [""; 0]);
    env.ok(&["config", "set", "ingestion.inline_tags", "true"]);
    env.ok(&["update", "--reread"]);
    assert_eq!(env.sql_column(tags), ["asia/japan", "drink"]);
    assert_eq!(env.sql_column(chunks), before);
    let found = env.json(&["list", "--tags", "drink", "--format", "json"]);
    assert_eq!(found[0]["title"], "Tea");
    env.ok(&["add", "--note", "Call the #office about `#nothing`"]);
    assert_eq!(env.sql_column(tags), ["asia/japan", "drink", "office"]);
    env.ok(&["config", "set", "ingestion.inline_tags", "false"]);
    assert!(!env.ok(&["doctor"]).stdout.contains("other settings"));
}
