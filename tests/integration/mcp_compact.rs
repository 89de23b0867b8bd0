//! Compact answers over MCP: what a model reads, in pages, with the same bytes for the same call.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::mcp_client::{Client, envelope};
use crate::skills::Skills;

/// Characters of the longest answer. 20,000 tokens of English have four times as many.
const LONGEST: usize = 60_000;

/// Reads all pages of an answer. Returns the pages without the lines that lead from one to the next.
fn pages(client: &mut Client, tool: &str, arguments: &Value) -> Vec<String> {
    let (mut arguments, mut pages) = (arguments.clone(), Vec::new());
    loop {
        let text = client.text(tool, arguments.clone());
        assert!(text.len() < LONGEST, "{tool}: {}", text.len());
        match text.rsplit_once("\n[").filter(|(_, end)| end.contains("% shown")) {
            None => {
                pages.push(text);
                return pages;
            }
            Some((page, end)) => {
                let cursor = end.split_once("cursor ").unwrap().1.split(' ').next().unwrap();
                arguments["cursor"] = json!(cursor);
                pages.push(format!("{page}\n"));
            }
        }
    }
}

#[test]
fn a_search_is_answered_with_passages_citations_and_ids() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &[]);
    let arguments = json!({ "query": "frozen gauge", "budget": 300 });
    let text = client.text("kb_search", arguments.clone());
    let data = client.data("kb_search", arguments);
    let first = &data["results"][0];
    let (source, chunk) = (&first["source"], first["chunk_id"].as_i64().unwrap());
    for expected in [
        format!("**{}**, document {}", source["title"].as_str().unwrap(), source["document_id"]),
        format!("line {}", source["at"]["line"]),
    ] {
        assert!(text.contains(&expected), "{expected}: {text}");
    }
    // A passage is quoted or fenced, so that it cannot imitate a citation.
    let passage = first["text"].as_str().unwrap().trim_end();
    // The heading that the citation names is not repeated.
    let (_, rest) = passage.split_once("\n\n").unwrap_or_default();
    let is_marked = [passage, rest]
        .map(|passage| [format!("> {passage}\n"), format!("```\n{passage}\n```\n")])
        .concat()
        .iter()
        .any(|marked| text.contains(marked));
    assert!(is_marked, "{passage}: {text}");
    assert!(!text.contains("null") && !text.contains("cosine") && !text.contains("bm25"), "{text}");
    let shown = client.text("kb_show", json!({ "chunk": chunk }));
    // A passage may have neighbours of the chunk that its citation names.
    assert!(passage.lines().any(|line| line.len() > 20 && shown.contains(line)), "{shown}");
    let nothing =
        client.text("kb_search", json!({ "query": "\"no such phrase at all\"", "fts_only": true }));
    assert!(nothing.contains("confidence unknown: no searched passage has"), "{nothing}");
}

#[test]
fn a_compact_answer_is_much_shorter_than_the_data() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &[]);
    for (tool, arguments) in [
        ("kb_search", json!({ "query": "frozen gauge" })),
        ("kb_list", json!({})),
        ("kb_outline", json!({ "document": 4 })),
        ("kb_grep", json!({ "pattern": "gauge" })),
        ("kb_similar", json!({ "document": 4 })),
    ] {
        let text = client.text(tool, arguments.clone());
        let data = client.data(tool, arguments).to_string();
        assert!(text.len() * 10 < data.len() * 7, "{tool}: {} of {}", text.len(), data.len());
    }
}

#[test]
fn the_same_call_has_the_same_bytes() {
    let skills = Skills::built();
    skills.env.install_sample();
    let mut client = Client::start(&skills.env, "project", &[]);
    for (tool, arguments) in [
        ("kb_search", json!({ "query": "frozen gauge", "fts_only": true })),
        ("kb_grep", json!({ "pattern": "gauge" })),
        ("kb_similar", json!({ "document": 4 })),
        ("kb_outline", json!({ "document": 4 })),
        ("kb_show", json!({ "document": 4, "section": "Winter" })),
        ("kb_open", json!({ "document": 4, "max_lines": 3 })),
        ("kb_list", json!({ "sort": "title", "limit": 3 })),
        ("kb_info", json!({ "document": 4 })),
        ("kb_tags", json!({})),
        ("skill_list", json!({})),
        ("skill_outline", json!({ "skill": "tide-guide" })),
        ("skill_search", json!({ "skill": "tide-guide", "query": "lamp" })),
        ("skill_show", json!({ "skill": "tide-guide", "section": "Repair" })),
        ("skill_open", json!({ "skill": "tide-guide", "path": "ferry.txt" })),
        ("skill_sources", json!({ "skill": "tide-guide" })),
    ] {
        let first = client.text(tool, arguments.clone());
        assert!(!first.is_empty() && !first.starts_with('{'), "{tool}: {first}");
        assert_eq!(client.text(tool, arguments), first, "{tool}");
    }
    let mut other = Client::start(&skills.env, "project", &[]);
    let arguments = json!({ "query": "frozen gauge", "fts_only": true });
    assert_eq!(other.text("kb_search", arguments.clone()), client.text("kb_search", arguments));
}

#[test]
fn documents_are_listed_in_pages_sorted_and_filtered() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &[]);
    let mut ids = BTreeSet::new();
    let mut cursor = 0;
    loop {
        let text = client.text("kb_list", json!({ "limit": 3, "cursor": cursor }));
        let lines = text.lines().filter(|line| line.contains("**"));
        let page: Vec<&str> = lines.map(|line| line.split(' ').next().unwrap()).collect();
        assert!(page.len() <= 3 && text.contains("of 8 documents"), "{text}");
        ids.extend(page.into_iter().map(str::to_owned));
        let Some((_, next)) = text.split_once("more: cursor ") else { break };
        cursor = next.split(',').next().unwrap().parse().unwrap();
    }
    assert_eq!(ids.len(), 8);
    let arguments = json!({ "limit": 2, "cursor": 2, "sort": "title", "detail": "full" });
    let answer = client.request("tools/call", json!({ "name": "kb_list", "arguments": arguments }));
    let page = envelope(&answer);
    assert_eq!(page["next_cursor"], 4);
    let all = env.json(&["list", "--sort=title", "--format=json"]);
    assert_eq!(page["data"], json!(&all.as_array().unwrap()[2..4]));
    assert!(client.text("kb_list", json!({ "cursor": 99 })).starts_with("0 of 8"));
    let wrong = client.call("kb_list", json!({ "limit": 0 }));
    assert_eq!(wrong["error"]["details"]["issues"][0]["path"], "limit");
    let code = client.text("kb_list", json!({ "type": "code", "sort": "size" }));
    assert!([" python, ", " bash, ", " go, "].iter().all(|format| code.contains(format)), "{code}");
}

#[test]
fn long_texts_have_pages() {
    let env = TestEnv::with_corpus();
    let lines: Vec<String> =
        (0..4_000).map(|idx| format!("Line {idx} tells of the tide and the boats.")).collect();
    env.write("long/long.md", format!("# Long\n\n{}\n", lines.join("\n")));
    env.ok(&["add", "long"]);
    let mut client = Client::start(&env, "", &[]);
    let opened = pages(&mut client, "kb_open", &json!({ "document": "long.md" }));
    assert!(opened.len() > 2, "{}", opened.len());
    let opened = opened.concat();
    assert!(lines.iter().all(|line| opened.contains(line)));
    let shown = pages(&mut client, "kb_show", &json!({ "document": "long.md" }));
    assert!(shown.len() > 2 && shown.concat().contains(&lines[3_999]));
    // All details in one answer would be too long.
    let refused = client.call("kb_open", json!({ "document": "long.md" }));
    assert_eq!(refused["error"]["details"]["code"], "usage", "{refused}");
    assert!(refused["error"]["details"]["fix"].as_str().unwrap().contains("pages"));
    let params =
        json!({ "name": "kb_open", "arguments": { "document": "long.md", "cursor": 9_999_999 } });
    let wrong = envelope(&client.request("tools/call", params));
    assert_eq!(wrong["error"]["details"]["code"], "usage", "{wrong}");
}

#[test]
fn matching_lines_keep_to_a_budget_and_go_on_at_a_cursor() {
    let env = TestEnv::with_corpus();
    for file in 0..5 {
        let lines =
            (0..400).map(|idx| format!("Line {file}-{idx} tells of the tide and the boats."));
        env.write(&format!("long/{file}.py"), lines.collect::<Vec<_>>().join("\n"));
    }
    env.ok(&["add", "long"]);
    let mut client = Client::start(&env, "", &[]);
    let mut arguments = json!({ "pattern": "the boats" });
    let text = client.text("kb_grep", arguments.clone());
    // A token of these lines has about three characters.
    assert!((2_000..4_000).contains(&text.len()), "{}: {text}", text.len());
    assert!(text.starts_with("2,000 lines in 5 of "), "{text}");
    assert!(
        text.contains(" more matches in 5 documents: narrow with path or type, or raise budget"),
        "{text}"
    );
    arguments["budget"] = json!(5_000);
    let (mut found, mut num_pages) = (BTreeSet::new(), 0);
    loop {
        let text = client.text("kb_grep", arguments.clone());
        let lines = text.lines().filter_map(|line| line.split_once(": Line "));
        found.extend(lines.map(|(_, rest)| rest.split(' ').next().unwrap().to_owned()));
        num_pages += 1;
        let Some((_, next)) = text.split_once("the same call with cursor ") else { break };
        arguments["cursor"] = json!(next.split(' ').next().unwrap());
    }
    assert_eq!(found.len(), 2_000);
    assert!((4..12).contains(&num_pages), "{num_pages}");
    let params = json!({ "name": "kb_grep", "arguments": { "pattern": "boats", "cursor": 9_999 } });
    let wrong = envelope(&client.request("tools/call", params));
    assert_eq!(wrong["error"]["details"]["code"], "usage", "{wrong}");
    let cut = env.ok(&["grep", "the boats", "--format", "agent", "--budget", "200"]).stdout;
    assert!(cut.len() < 800 && cut.contains("or raise --budget\n"), "{cut}");
    assert!(cut.contains(" more matches in 5 documents: narrow with --path or --type"), "{cut}");
}

#[test]
fn a_large_skill_is_outlined_in_pages_and_skills_are_listed_briefly() {
    let skills = Skills::new();
    let headings: Vec<String> =
        (0..740).map(|idx| format!("## Part {idx} of the long guide")).collect();
    skills.write("references/many.md", headings.join("\n\ntext\n\n"));
    for idx in 0..35 {
        let about = format!("Use it when testing case {idx}. {}", "It says more. ".repeat(40));
        let skill = format!("---\nname: skill-{idx}\ndescription: {about}\n---\n# Usage\n");
        skills.env.write(&format!("project/.agents/skills/skill-{idx}/SKILL.md"), skill);
    }
    let mut client = Client::start(&skills.env, "project", &[]);
    let outlined = pages(&mut client, "skill_outline", &json!({ "skill": "tide-guide" }));
    // A token of these lines has almost five characters.
    assert!(outlined.len() > 1 && outlined.iter().all(|page| page.len() < 5 * 4_000));
    let outlined = outlined.concat();
    assert!(outlined.starts_with("SKILL.md:\n") && outlined.contains("references/many.md:\n"));
    assert!(headings.iter().all(|heading| outlined.contains(heading)));

    let listed = pages(&mut client, "skill_list", &json!({}));
    assert!(listed.iter().all(|page| page.len() < 4 * 2_000), "{listed:?}");
    let listed = listed.concat();
    assert!(listed.starts_with("36 skills\n"));
    assert!((0..35).all(|idx| listed.contains(&format!("- skill-{idx}: Use it when"))));
    // The contract of the registry orders the data also without `detail`.
    let params = json!({ "name": "skill_list", "arguments": { "search": "tide" } });
    let answer = client.request("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["data"]["total_count"], 1);
}

#[test]
fn errors_keep_code_message_and_fix_as_fields() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &[]);
    let params = json!({ "name": "kb_info", "arguments": { "document": 99 } });
    let failed = envelope(&client.request("tools/call", params));
    assert_eq!(failed["error"]["details"]["code"], "unknown_document");
    assert_eq!(failed["error"]["message"], "document not found: 99");
    assert!(failed["error"]["details"]["fix"].is_string(), "{failed}");
}
