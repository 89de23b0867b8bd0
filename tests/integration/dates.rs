//! Dates of documents: in lists, and in the order of results.

use serde_json::json;

use crate::env::TestEnv;
use crate::mcp_client::Client;

/// A home with notes of three years, in which the last one was written first.
fn env() -> TestEnv {
    let env = TestEnv::new();
    for (name, date) in [("b", "2021-02-03"), ("c", "2019-05-06"), ("a", "2024-03-01")] {
        let text = format!("---\ndate: {date}\n---\n# Gauge {name}\n\nThe gauge is read daily.\n");
        env.write(&format!("docs/{name}.md"), &text);
    }
    env.ok(&["add", "docs"]);
    env
}

#[test]
fn a_list_shows_the_dates_of_documents_and_is_sorted_by_them() {
    let env = env();
    let list = env.json(&["list", "--sort=date", "--format=json"]);
    let rows = list.as_array().unwrap();
    let dates: Vec<_> = rows.iter().map(|row| row["date"].as_str().unwrap()).collect();
    assert_eq!(dates, ["2024-03-01", "2021-02-03", "2019-05-06"]);
    assert!(rows.iter().all(|row| row["date_origin"] == "document"), "{list}");
    assert!(rows.iter().all(|row| row["created_at"] != row["date"]), "{list}");
    let shown = env.ok(&["list", "--sort=date", "--reverse"]).stdout;
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[0].contains("DATE") && lines[1].contains("2019-05-06  Gauge c"), "{shown}");
    env.ok(&["edit", "1", "--date", "2000-01-02"]);
    let list = env.json(&["list", "--sort=date", "--format=json"]);
    let last = &list[2];
    assert_eq!((&last["date"], &last["date_origin"]), (&json!("2000-01-02"), &json!("user")));
    let mut client = Client::start(&env, "", &[]);
    assert_eq!(client.data("kb_list", json!({ "sort": "date" })), list);
    let text = client.text("kb_list", json!({ "sort": "date" }));
    assert!(text.contains("markdown, 1 chunk, 2000-01-02 /"), "{text}");
}
