//! Tests which tools and resources are offered, and what they answer about a small database.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::*;
use crate::app::session::observer::SilentObserver;
use crate::app::testing::World;
use crate::app::{ServerOptions, ToolSet};
use crate::server::{Call, Resources, Tool, ToolFailure, ToolReply, UNLISTED};
use crate::store::Store;

/// A server over three documents, and one in the knowledge base `work`.
struct Served {
    service: Arc<Service>,
    _home: tempfile::TempDir,
}

impl Served {
    fn new() -> Self {
        Self::with(&ServerOptions::default())
    }

    fn with(options: &ServerOptions) -> Self {
        let world = World::new();
        for (name, text) in [("a.md", "ebb"), ("b.md", "flood"), ("c.md", "neap tide")] {
            world.add_named(name, text);
        }
        let work = world.path(".kb/bases/work/kb.db");
        std::fs::create_dir_all(work.parent().unwrap()).unwrap();
        Store::open(&work).unwrap().close().unwrap();
        world.add_to("work", "Plans", "spring");
        let (session, home) = world.into_parts();
        let service = Service {
            bases: Bases::new(session, options),
            observer: Arc::new(SilentObserver),
            program: options.program,
            tools: options.tools,
            run_id: OnceLock::new(),
        };
        Self { service: Arc::new(service), _home: home }
    }

    fn tools(&self, allows_writing: bool, has_several: bool) -> Vec<Tool> {
        offer::tools(
            &self.service,
            self.service.tool_set(),
            ToolListOptions { allows_writing, has_several },
        )
    }

    fn call(&self, name: &str, input: Value) -> Result<ToolReply, ToolFailure> {
        let tools = self.tools(true, true);
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        (tool.handler)(input, &Call::new(Arc::new(|_| {})))
    }

    fn text(&self, name: &str, input: Value) -> String {
        self.call(name, input).unwrap().text.unwrap()
    }

    fn data(&self, name: &str, mut input: Value) -> Value {
        input["detail"] = "full".into();
        self.call(name, input).unwrap().data.unwrap()
    }
}

#[test]
fn tools_that_write_are_offered_only_if_that_is_allowed() {
    let names = |options: &ServerOptions, allows_writing| -> Vec<String> {
        let tools = Served::with(options).tools(allows_writing, false);
        tools.into_iter().map(|tool| tool.name).collect()
    };
    let of = |tools| ServerOptions { tools: Some(tools), ..ServerOptions::default() };
    let reading = names(&of(ToolSet::Kb), false);
    assert!(
        reading.iter().all(|name| name.starts_with("kb_")) && reading.contains(&"kb_list".into())
    );
    assert!(!reading.contains(&"kb_add".into()));
    assert!(names(&of(ToolSet::Kb), true).contains(&"kb_add".into()));
    let skills = names(&of(ToolSet::Skills), false);
    assert!(
        skills.iter().all(|name| name.starts_with("skill_"))
            && !skills.contains(&"skill_init".into())
    );
    assert!(names(&of(ToolSet::Skills), true).contains(&"skill_init".into()));
    let all = names(&ServerOptions::default(), false);
    assert_eq!(all.len(), reading.len() + skills.len());
    let skc = ServerOptions { program: Program::Skc, ..of(ToolSet::Kb) };
    assert!(names(&skc, false).iter().all(|name| name.starts_with("skc_")));
}

#[test]
fn seldom_needed_arguments_are_accepted_and_not_listed() {
    let served = Served::new();
    let is_listed = |has_several, tool: &str, name: &str| {
        let tools = served.tools(false, has_several);
        let tool = tools.into_iter().find(|known| known.name == tool).unwrap();
        tool.schema["properties"][name].get(UNLISTED).is_none()
    };
    assert!(is_listed(true, "kb_list", "base") && !is_listed(false, "kb_list", "base"));
    assert!(is_listed(true, "kb_search", "detail") && !is_listed(true, "kb_list", "detail"));
    assert!(!is_listed(true, "skill_list", "detail"));
    assert!(is_listed(true, "kb_search", "since") && !is_listed(true, "kb_list", "since"));
    assert!(is_listed(true, "kb_list", "type") && !is_listed(true, "kb_grep", "type"));
    let several = served.tools(false, true);
    let described: Vec<&str> = several
        .iter()
        .filter(|tool| tool.schema["properties"]["base"].get("description").is_some())
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(described, ["kb_search"]);
}

#[test]
fn every_argument_and_every_item_of_a_list_has_one_type() {
    for tool in Served::new().tools(true, true) {
        for (name, property) in tool.schema["properties"].as_object().unwrap() {
            let innermost = property.get("items").unwrap_or(property);
            assert!(property["type"].is_string() && innermost["type"].is_string(), "{name}");
            assert_eq!(property["type"] == "array", property["items"].is_object(), "{name}");
            for schema in [property, innermost] {
                assert!(["anyOf", "oneOf", "allOf"].iter().all(|key| schema[key].is_null()));
            }
        }
    }
}

#[test]
fn a_list_has_pages() {
    let served = Served::new();
    for (cursor, limit, titles, next) in [
        (0, None, &["a.md", "b.md", "c.md"][..], None),
        (0, Some(2), &["a.md", "b.md"], Some(2)),
        (2, Some(2), &["c.md"], None),
        (3, None, &[], None),
        (9, None, &[], None),
    ] {
        let input = json!({ "limit": limit, "cursor": cursor, "detail": "full" });
        let reply = served.call("kb_list", input).unwrap();
        let data = reply.data.unwrap();
        let listed: Vec<&str> =
            data.as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap()).collect();
        assert_eq!((listed.as_slice(), reply.next_cursor), (titles, next), "{cursor}, {limit:?}");
    }
    let text = served.text("kb_list", json!({ "limit": 2 }));
    assert!(text.contains("a.md") && !text.contains("c.md"), "{text}");
}

#[test]
fn tools_answer_with_text_or_with_all_data() {
    let served = Served::new();
    for (name, input, expected) in [
        ("kb_info", json!({ "document": "1" }), "a.md"),
        ("kb_outline", json!({ "document": "b.md" }), "Setup"),
        ("kb_show", json!({ "document": "2" }), "flood"),
        ("kb_open", json!({ "document": "3" }), "neap tide"),
        ("kb_grep", json!({ "pattern": "t.de" }), "neap tide"),
        ("kb_search", json!({ "query": "neap", "fts_only": true }), "neap tide"),
        ("kb_status", json!({}), "small"),
    ] {
        let text = served.text(name, input.clone());
        assert!(text.contains(expected), "{name}: {text}");
        let data = served.data(name, input).to_string();
        assert!(data.contains(expected), "{name}: {data}");
    }
    assert_eq!(served.data("kb_tags", json!({})), json!([]));
    let failure = served.call("kb_show", json!({ "document": "99" })).unwrap_err();
    assert_eq!(failure.code, "unknown_document");
    assert!(served.call("kb_show", json!({ "document": 7 })).is_err(), "not of this type");
}

#[test]
fn a_call_is_about_the_knowledge_base_that_it_names() {
    let served = Served::new();
    let titles = |base: &str| served.data("kb_list", json!({ "base": base })).to_string();
    assert!(titles("work").contains("Plans") && !titles("work").contains("a.md"));
    assert!(titles("default").contains("a.md"));
    // A model that reads on must name it again.
    let found = |base: &str| {
        let input = json!({ "query": "spring ebb", "fts_only": true, "base": base });
        (served.text("kb_search", input.clone()), served.data("kb_search", input).to_string())
    };
    assert!(found("work").0.contains("work") && !found("work").1.contains("\"work\""));
    assert!(!found("default").0.contains("default"));
    let both = found("default,work").0;
    assert!(both.contains("a.md") && both.contains("Plans"), "{both}");
    let failure = served.call("kb_list", json!({ "base": "default,work" })).unwrap_err();
    assert_eq!(failure.message, "only kb_search works on several knowledge bases");
    assert_eq!(served.call("kb_list", json!({ "base": "x" })).unwrap_err().code, "unknown_base");
}

#[test]
fn only_allowed_knowledge_bases_are_named_and_listed() {
    let bases = Some(vec!["default".to_owned()]);
    let served = Served::with(&ServerOptions { bases, ..ServerOptions::default() });
    let failure = served.call("kb_list", json!({ "base": "work" })).unwrap_err();
    assert_eq!(failure.code, "unknown_base");
    assert!(served.call("kb_list", json!({ "base": "default" })).is_ok());
    let status = served.data("kb_status", json!({})).to_string();
    assert!(!status.contains("work"), "{status}");
    assert!(Served::new().data("kb_status", json!({})).to_string().contains("work"));
}

#[test]
fn a_named_knowledge_base_stays_open() {
    let served = Served::new();
    let bases = &served.service.bases;
    let first = bases.named("work").unwrap();
    assert!(Arc::ptr_eq(&first, &bases.named("work").unwrap()));
    assert!(Arc::ptr_eq(&bases.usual(), &bases.named("default").unwrap()));
    assert!(bases.close().is_ok());
}

#[test]
fn documents_are_resources_of_their_knowledge_base() {
    let served = Served::new();
    let service = &served.service;
    let (listed, next) = Resources::list(&**service, None).unwrap();
    let documents: Vec<&str> = listed
        .iter()
        .filter(|resource| resource.uri.starts_with("kb://document/"))
        .map(|resource| resource.name.as_str())
        .collect();
    assert_eq!((documents, next), (vec!["a.md", "b.md", "c.md"], None));
    for (uri, expected) in [
        ("kb://document/1", Some("ebb")),
        ("kb://base/work/document/1", Some("spring")),
        ("kb://base/default/document/2", Some("flood")),
        ("kb://document/99", None),
        ("kb://document/a.md", None),
        ("kb://base/nowhere/document/1", None),
        ("kb://other/1", None),
        ("skill://none/SKILL.md", None),
    ] {
        let found = service.read(uri).unwrap();
        let text = found.map(|content| String::from_utf8(content.bytes).unwrap());
        assert_eq!(text.as_deref(), expected, "{uri}");
    }
    assert!(Resources::list(&**service, Some("x")).is_err());
}

#[test]
fn a_server_whose_calls_write_nothing_reads_no_changed_files_again() {
    use crate::config::Freshness;
    for (allows_writing, expected) in [(true, Freshness::Refresh), (false, Freshness::Mark)] {
        let world =
            World::with(tempfile::tempdir().unwrap(), &[("KB_SEARCH_FRESHNESS", "refresh")]);
        let (session, _home) = world.into_parts();
        let options = ServerOptions { allows_writing, ..ServerOptions::default() };
        let bases = Bases::new(session, &options);
        assert_eq!(bases.usual().freshness(None), expected);
    }
}
