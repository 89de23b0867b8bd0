//! The words of `kb mcp`: errors name tools and arguments, arguments are read leniently, answers are brief.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;

#[test]
fn errors_name_tools_and_arguments_and_those_of_the_command_line_commands_and_options() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &[]);
    for (tool, arguments, expected) in [
        ("kb_show", json!({}), "give the argument `document`"),
        ("kb_show", json!({ "document": 99 }), "`kb_list` shows all ids"),
        ("kb_show", json!({ "document": 5, "page": 99 }), "`kb_outline {\"document\":5}` lists"),
        ("kb_grep", json!({ "pattern": "(" }), "`fixed_strings` (fixed)"),
        ("kb_search", json!({ "query": " " }), "`kb_search {\"query\":\"how to install git\"}`"),
        ("kb_search", json!({ "query": "a", "since": "some day" }), "since: not a date"),
        (
            "kb_search",
            json!({ "query": "a", "budget": 900, "top": 5000 }),
            "with `context` or `budget`, `top` must",
        ),
        ("skill_show", json!({ "skill": "no", "section": "a" }), "`skill_list` shows all skills"),
    ] {
        let envelope = client.call(tool, arguments);
        let error = &envelope["error"];
        let said =
            format!("{} {}", error["message"], error["details"]["fix"]).replace("\\\"", "\"");
        assert!(said.contains(expected), "{tool}: {said}");
    }
    for (args, expected) in [
        (&["show", "99"][..], "`kb list` shows all ids"),
        (&["show", "5", "--page", "99"], "`kb outline 5` lists all parts"),
        (&["grep", "("], "`-F` (fixed)"),
    ] {
        let output = env.kb(args);
        assert!(output.stderr.contains(expected), "{args:?}: {}", output.stderr);
    }
}

#[test]
fn lists_cases_and_citations_may_be_written_in_several_ways() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &["--allow-write"]);
    let mut same = |tool: &str, arguments: [Value; 2]| {
        let [one, other] = arguments.map(|arguments| client.data(tool, arguments));
        assert_eq!(one, other, "{tool}");
    };
    let query = |name: &str, value: Value| json!({ "query": "gauge", name: value });
    for (name, usual, other) in [
        ("tags", json!(["sample"]), json!("sample")),
        ("tags", json!(["sample", "nosuch"]), json!("sample,nosuch")),
        ("queries", json!(["dry, low"]), json!("dry, low")),
        ("type", json!("pdf"), json!("PDF")),
        ("type", Value::Null, json!("")),
    ] {
        same("kb_search", [query(name, usual), query(name, other)]);
    }
    for document in [json!("1"), json!(1.0)] {
        same("kb_outline", [json!({ "document": 1 }), json!({ "document": document })]);
    }
    let page = |page: Value| json!({ "document": "tide-station.pdf", "page": page });
    same("kb_show", [page(json!(2)), page(json!("p. 2"))]);
    same("kb_show", [page(json!("2-3")), page(json!("pp. 2-3"))]);
    let pages = client.data("kb_show", page(json!("2-3")));
    assert_eq!((&pages["page"], &pages["last_page"]), (&json!(2), &json!(3)), "{pages}");
    assert_eq!(pages, env.json(&["show", "tide-station.pdf", "--page=2-3", "--format=json"]));
    let path = env.write("docs/a.md", "One path.\n");
    assert_eq!(client.data("kb_add", json!({ "paths": path }))["added"], 1);
}

#[test]
fn an_outline_and_the_facts_of_a_document_are_brief_unless_all_is_asked_for() {
    let env = TestEnv::new();
    let mut long = "# Report\n\n".to_owned();
    for number in 0..30 {
        write!(long, "## Part {number}\n\ntext\n\n### Detail {number}\n\ntext\n\n### More {number}\n\ntext\n\n").unwrap();
    }
    env.write("docs/long.md", &long);
    env.write("docs/short.md", "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n");
    env.ok(&["add", "docs"]);
    let mut client = Client::start(&env, "", &[]);
    let brief = client.text("kb_outline", json!({ "document": "long.md" }));
    assert!(brief.contains("Part 29") && !brief.contains("Detail"), "{brief}");
    assert!(brief.ends_with("60 deeper parts left out below level 2: raise level"), "{brief}");
    let deep = client.text("kb_outline", json!({ "document": "long.md", "level": 3 }));
    assert!(deep.contains("More 29") && !deep.contains("left out"), "{deep}");
    let all = client.data("kb_outline", json!({ "document": "long.md" }));
    assert_eq!(all["parts"].as_array().unwrap().len(), 91);
    let short = client.text("kb_outline", json!({ "document": "short.md" }));
    assert!(
        short.contains('B') && short.ends_with("1 deeper part left out below level 2: raise level"),
        "{short}"
    );
    let facts = client.text("kb_info", json!({ "document": "long.md" }));
    assert!(facts.contains("long.md") && !facts.contains("\nChunk "), "{facts}");
    assert!(facts.ends_with("its chunks: detail full"), "{facts}");
    let info = client.data("kb_info", json!({ "document": "long.md" }));
    assert!(info["chunks"].as_array().unwrap().len() > 1);
}

#[test]
fn lists_that_are_fixed_in_a_session_may_be_kept_by_clients_that_know_how() {
    let env = TestEnv::without_model();
    let mut client = Client::start_silent(&env, "", &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (method, is_kept) in [
        ("server/discover", true),
        ("tools/list", true),
        ("resources/templates/list", true),
        ("resources/list", false),
        ("skills/list", false),
    ] {
        let answer = client.request(method, json!({ "_meta": meta }));
        let ttl_ms = answer["result"]["ttlMs"].as_u64().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(ttl_ms > 0, is_kept, "{method}");
    }
    let mut earlier = Client::start(&env, "", &[]);
    assert!(earlier.request("tools/list", json!({}))["result"].get("ttlMs").is_none());
}
