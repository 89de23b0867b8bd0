//! The words of `kb mcp`: errors name tools and arguments, arguments are read leniently, answers are brief.

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
        ("kb_search", json!({ "query": "a", "since": "yesterday" }), "since: not a date"),
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
