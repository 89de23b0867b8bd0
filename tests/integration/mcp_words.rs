//! The words of `kb mcp`: errors name tools and arguments, arguments are read leniently, answers are brief.

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::Client;

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
