//! Tests `kb mcp`: the protocol, the tools, and that their answers equal those of the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::env::{TestEnv, with_stdin};
use crate::mcp_client::{Client, envelope};
use crate::patience::status_of;
use crate::skills::Skills;
use crate::tool_table::{self, SAMPLE};

/// Queries of all kinds: words, phrases, exclusions, codes, questions, other scripts, nonsense.
const QUERIES: [&str; 50] = [
    "frozen gauge",
    "blue box",
    "high water",
    "E23 stilling well",
    "predict",
    "mussels",
    "what to do when the gauge is frozen",
    "\"warm brine\"",
    "gauge -radar",
    "git-lfs",
    "C++",
    "what?",
    "harmonic model fit",
    "def fit",
    "gullHeight",
    "ErrGull",
    "backup log",
    "rotate_log",
    "ferry timetable",
    "last boat",
    "nine",
    "charger",
    "padlock code",
    "Marit",
    "spare keys",
    "warning levels",
    "amber",
    "surge",
    "storm",
    "salt in the hut",
    "pressure sensor",
    "datum",
    "constituents",
    "M2 period",
    "phosphor bronze",
    "third edition",
    "read_log",
    "csv",
    "bufio",
    "serial line",
    "seiche",
    "brush on its rope",
    "潮位",
    "Wasserstand",
    "прилив",
    "¿qué?",
    "a",
    "*",
    "\"unclosed phrase",
    "station handbook winter ice",
];

pub(crate) fn tools(client: &mut Client) -> Vec<Value> {
    let answer = client.request("tools/list", json!({}));
    answer["result"]["tools"].as_array().unwrap().clone()
}

pub(crate) fn names(tools: &[Value]) -> BTreeSet<String> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn allowed_tools_are_listed_with_their_schemas() {
    let env = TestEnv::without_model();
    let mut client = Client::start(&env, "", &[]);
    let reading = tools(&mut client);
    let expected: BTreeSet<String> = tool_table::reading().into_iter().map(str::to_owned).collect();
    assert_eq!(names(&reading), expected);
    let mut client = Client::start(&env, "", &["--allow-write"]);
    let all = tools(&mut client);
    let writing: BTreeSet<String> = names(&all).difference(&expected).cloned().collect();
    let expected_writing = tool_table::writing().into_iter().map(str::to_owned);
    assert_eq!(writing, expected_writing.collect());
    for tool in &all {
        let name = tool["name"].as_str().unwrap();
        assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'), "{name}");
        assert!(tool["description"].as_str().unwrap().len() > 40, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        // One large client fails on a boolean there.
        assert!(tool["inputSchema"]["additionalProperties"].is_null(), "{tool}");
        assert!(tool["title"].as_str().is_some_and(|title| title.len() > 5), "{tool}");
        assert!(tool["inputSchema"]["required"] != json!([]), "{tool}");
        let properties = tool["inputSchema"]["properties"].as_object();
        for (name, property) in properties.into_iter().flatten() {
            // No choice of types, and no null among words: some clients refuse the whole request.
            assert!(property["type"].is_string() && property["anyOf"].is_null(), "{name}: {tool}");
            // No bounds: a call with a value out of bounds gets an error that explains them.
            assert!(property["minimum"].is_null() && property["x-unlisted"].is_null(), "{tool}");
            let words = property["enum"].as_array().into_iter().flatten();
            assert!(words.clone().all(Value::is_string), "{name}: {tool}");
        }
        assert!(tool["outputSchema"].is_null(), "{tool}");
        assert_eq!(tool["annotations"]["readOnlyHint"], expected.contains(name), "{tool}");
    }
    let list = all.iter().find(|tool| tool["name"] == "skill_list").unwrap();
    let properties = &list["inputSchema"]["properties"];
    assert_eq!(properties["search"]["type"], "string");
    assert_eq!(properties["capability"]["type"], "string");
    assert!(properties["capability"]["enum"].is_null());
}

#[test]
fn the_tools_of_skills_are_offered_where_there_is_a_skill() {
    let offered = |skills: &Skills, args: &[&str]| {
        let mut command = skills.env.command(&[&["mcp"], args].concat());
        command.current_dir(skills.env.path("project"));
        let mut client = Client::over(command);
        client.greet();
        names(&tools(&mut client)).into_iter().collect::<Vec<_>>()
    };
    let (kb, skill): (Vec<&str>, Vec<&str>) =
        tool_table::reading().into_iter().partition(|name| name.starts_with("kb_"));
    let skills = Skills::new();
    assert_eq!(offered(&skills, &[]), tool_table::reading());
    assert_eq!(offered(&skills, &["--tools", "kb"]), kb);
    assert_eq!(offered(&skills, &["--tools", "skills"]), skill);
    fs::remove_file(skills.path("SKILL.md")).unwrap();
    assert_eq!(offered(&skills, &[]), kb);
    assert_eq!(offered(&skills, &["--tools", "all"]), tool_table::reading());
}

/// Returns the characters of what a model reads of tools.
pub(crate) fn paid(tools: &[Value]) -> usize {
    let keys = ["name", "title", "description", "inputSchema"];
    let paid = |tool: &Value| -> usize {
        keys.iter().map(|key| tool[key].to_string().len() + key.len() + 4).sum()
    };
    tools.iter().map(paid).sum()
}

/// Characters of a token of such JSON, in tenths; benches/results has the real numbers of tokens.
pub(crate) const TENTHS_PER_TOKEN: usize = 43;

/// The list of tools costs a model at most 1,500 tokens.
#[test]
fn the_list_of_tools_is_short() {
    let env = TestEnv::without_model();
    let mut client = Client::start(&env, "", &[]);
    let listed = paid(&tools(&mut client));
    assert!(listed < TENTHS_PER_TOKEN * 1_500 / 10, "{listed} characters");
}

#[test]
fn arguments_that_few_calls_need_are_accepted_without_being_listed() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &[]);
    let listed = tools(&mut client);
    let search = listed.iter().find(|tool| tool["name"] == "kb_search").unwrap();
    assert!(search["inputSchema"]["properties"]["per_doc"].is_null(), "{search}");
    let found = client.data("kb_search", json!({ "query": "gauge", "per_doc": 1 }));
    let documents: BTreeSet<i64> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["source"]["document_id"].as_i64().unwrap())
        .collect();
    assert_eq!(documents.len(), found["results"].as_array().unwrap().len());
    let wrong = client.call("kb_search", json!({ "query": "gauge", "per_doc": 0 }));
    assert_eq!(wrong["error"]["code"], "INVALID_PARAMS");
}

#[test]
fn the_server_states_its_name_and_what_it_offers() {
    let env = TestEnv::without_model();
    let mut client = Client::start_silent(&env, "", &[]);
    let greeting = client.request(
        "initialize",
        json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        }),
    );
    let result = &greeting["result"];
    assert_eq!(result["protocolVersion"], "2025-06-18");
    let server = json!([result["serverInfo"]["name"], result["serverInfo"]["version"]]);
    assert_eq!(server, json!(["kb", env!("CARGO_PKG_VERSION")]));
    // Below 150 tokens; benches/results has the real number.
    let instructions = result["instructions"].as_str().unwrap();
    assert!(instructions.split_whitespace().count() < 115, "{instructions}");
    assert!(
        ["kb_search", "kb_show", "skill_outline"].iter().all(|tool| instructions.contains(tool))
    );
    for offered in ["tools", "resources"] {
        assert!(result["capabilities"][offered].is_object(), "{offered}: {greeting}");
    }
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(names(&tools(&mut client)).len(), tool_table::reading().len());
}

#[test]
fn fifty_concurrent_queries_are_answered_as_on_the_command_line() {
    let env = TestEnv::with_corpus();
    // One run of the command line answers all queries, in order.
    let lines = with_stdin(&env, &["search", "--batch", "-"], &QUERIES.join("\n")).expect(0);
    let expected: Vec<Value> =
        lines.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(expected.len(), QUERIES.len());
    for (query, answer) in QUERIES.iter().zip(&expected).take(2) {
        assert_eq!(&env.json(&["search", query]), answer);
    }
    let mut client = Client::start(&env, "", &[]);
    let mut ask_all = || {
        let ids: Vec<[u64; 2]> = QUERIES
            .iter()
            .map(|query| {
                let search = json!({ "name": "kb_search", "arguments": { "query": query, "detail": "full" } });
                let list = json!({ "name": "kb_list", "arguments": { "detail": "full" } });
                [client.ask("tools/call", search), client.ask("tools/call", list)]
            })
            .collect();
        let mut answers = BTreeMap::new();
        while answers.len() < 2 * ids.len() {
            let answer = client.receive();
            answers.insert(answer["id"].as_u64().unwrap(), envelope(&answer));
        }
        for ((query, expected), [search, list]) in QUERIES.iter().zip(&expected).zip(&ids) {
            assert_eq!(&answers[search]["data"], expected, "{query}");
            assert_eq!(answers[list]["data"].as_array().unwrap().len(), 8);
        }
        client.memory_kib()
    };
    // The memory needed for one round is enough for the next.
    let (Some(before), Some(after)) = (ask_all(), ask_all()) else { return };
    assert!(after < before + 8 * 1024, "{before} KiB, then {after} KiB");
}

/// Requires that a call and a command have the same data.
#[track_caller]
pub(crate) fn assert_same(
    env: &TestEnv,
    client: &mut Client,
    tool: &str,
    input: &Value,
    args: &[impl AsRef<OsStr>],
) {
    let (mut printed, mut data) = (env.json(args), client.data(tool, input.clone()));
    // While a server runs, the latest changes may be in a file next to the database.
    for value in [&mut printed, &mut data] {
        value.as_object_mut().map(|entries| entries.remove("db_size_bytes"));
    }
    assert_eq!(data, printed, "{tool} {input}");
}

#[test]
fn tools_return_what_the_command_line_prints() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &[]);
    let checks: &[(&str, Value, &[&str])] = &[
        (
            "kb_search",
            json!({ "query": "gauge", "top": 3, "type": "pdf", "fts_only": true, "context": 1 }),
            &["search", "gauge", "--top=3", "--type=pdf", "--fts-only", "--context=1"],
        ),
        (
            "kb_search",
            json!({ "query": "frozen gauge", "budget": 300, "tags": ["station"] }),
            &["search", "frozen gauge", "--budget=300", "--tags=station"],
        ),
        (
            "kb_grep",
            json!({ "pattern": "gauge", "ignore_case": true, "word_regexp": true, "context": 1 }),
            &["grep", "gauge", "-iw", "-C1"],
        ),
        (
            "kb_grep",
            json!({ "pattern": "a(", "fixed_strings": true, "count": true, "tags": ["sample"] }),
            &["grep", "a(", "-Fc", "--tags=sample"],
        ),
        ("kb_similar", json!({ "document": 4, "top": 2 }), &["similar", "4", "--top=2"]),
        ("kb_similar", json!({ "chunk": 3 }), &["similar", "--chunk=3"]),
        (
            "kb_similar",
            json!({ "document": "handb", "language": "go" }),
            &["similar", "handb", "--language=go"],
        ),
        (
            "kb_search",
            json!({ "query": "gauge", "exclude_tags": ["station"], "since": "2020", "per_doc": 1 }),
            &["search", "gauge", "--exclude-tag=station", "--since=2020", "--per-doc=1"],
        ),
        ("kb_list", json!({ "language": "python" }), &["list", "--language=python"]),
        ("kb_list", json!({ "added_since": "2999" }), &["list", "--added-since=2999"]),
        (
            "kb_search",
            json!({ "query": "gauge", "added_since": "2020" }),
            &["search", "gauge", "--added-since=2020"],
        ),
        ("kb_list", json!({ "tags": ["station"] }), &["list", "--tags=station"]),
        ("kb_info", json!({ "document": "handb" }), &["info", "handb"]),
        ("kb_outline", json!({ "document": 5, "level": 1 }), &["outline", "5", "--level=1"]),
        (
            "kb_show",
            json!({ "document": 4, "section": "Winter", "max_lines": 2 }),
            &["show", "4", "--section=Winter", "--max-lines=2"],
        ),
        ("kb_show", json!({ "document": 6, "symbol": "fit" }), &["show", "6", "--symbol=fit"]),
        ("kb_show", json!({ "document": 5, "page": 2 }), &["show", "5", "--page=2"]),
        ("kb_show", json!({ "chunk": 5, "around": 1 }), &["show", "--chunk=5", "--around=1"]),
        (
            "kb_open",
            json!({ "document": 4, "start_line": 7, "end_line": 9 }),
            &["open", "4", "--lines=7:9"],
        ),
        ("kb_open", json!({ "document": 3, "max_lines": 1 }), &["open", "3", "--max-lines=1"]),
    ];
    for (tool, input, args) in checks {
        let args = [args, &["--format=json"][..]].concat();
        assert_same(&env, &mut client, tool, input, &args);
    }
    for call in tool_table::of_documents() {
        let args = call.command(SAMPLE).unwrap();
        assert_same(&env, &mut client, call.name, &call.arguments(SAMPLE), &args);
    }
}

#[test]
fn answers_have_the_same_bytes_as_the_command_line() {
    let env = TestEnv::with_corpus();
    let harmful = "# Bell \u{9b}31m\n\nThe bell \u{202e}rings\u{7f} by the frozen gauge.\n";
    env.write("harm/bell.md", harmful);
    env.ok(&["add", "harm"]);
    let mut client = Client::start(&env, "", &[]);
    for (tool, input, args) in [
        ("kb_search", json!({ "query": "frozen gauge" }), &["search", "frozen gauge"][..]),
        ("kb_search", json!({ "query": "bell", "budget": 90 }), &["search", "bell", "--budget=90"]),
        ("kb_grep", json!({ "pattern": "bell" }), &["grep", "bell"]),
        ("kb_similar", json!({ "document": 4 }), &["similar", "4"]),
        ("kb_list", json!({}), &["list"]),
        ("kb_outline", json!({ "document": 1 }), &["outline", "1"]),
    ] {
        let printed = env.ok(&[args, &["--format=json"]].concat()).stdout;
        assert_eq!(text_of(&mut client, tool, &input), envelope_around(&printed), "{tool}");
    }
    let skills = Skills::built();
    let mut client = Client::start(&skills.env, "project", &[]);
    let printed = skills.run(&["search", "tide-guide", "lamp", "--format=json"]).stdout;
    let input = json!({ "skill": "tide-guide", "query": "lamp" });
    assert_eq!(text_of(&mut client, "skill_search", &input), envelope_around(&printed));
}

fn text_of(client: &mut Client, tool: &str, input: &Value) -> String {
    let mut input = input.clone();
    input["detail"] = "full".into();
    let answer = client.request("tools/call", json!({ "name": tool, "arguments": input }));
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Returns printed JSON without white space between its parts, as the data of an envelope.
fn envelope_around(printed: &str) -> String {
    let (mut is_text, mut is_escaped) = (false, false);
    let is_kept = |c: &char| {
        let is_kept = is_text || !c.is_whitespace();
        if *c == '"' && !is_escaped {
            is_text = !is_text;
        }
        is_escaped = *c == '\\' && !is_escaped;
        is_kept
    };
    let data: String = printed.chars().filter(is_kept).collect();
    format!("{{\"ok\":true,\"data\":{data}}}")
}

#[test]
fn skill_tools_return_what_the_command_line_prints() {
    let skills = Skills::built();
    let mut client = Client::start(&skills.env, "project", &["--allow-write"]);
    let skill = "tide-guide";
    let checks: &[(&str, Value, &[&str])] = &[
        ("skill_list", json!({}), &["list"]),
        ("skill_list", json!({ "search": "GAUGE", "capability": "" }), &["list", "--search=gauge"]),
        ("skill_outline", json!({ "skill": skill, "level": 1 }), &["outline", skill, "--level=1"]),
        (
            "skill_show",
            json!({ "skill": skill, "section": "repair" }),
            &["show", skill, "--section=repair"],
        ),
        (
            "skill_open",
            json!({ "skill": skill, "path": "ferry.txt" }),
            &["open", skill, "ferry.txt"],
        ),
        ("skill_sources", json!({ "skill": skill, "depth": 1 }), &["sources", skill, "--depth=1"]),
        (
            "skill_search",
            json!({ "skill": skill, "q": "lamp", "k": 3 }),
            &["search", skill, "lamp", "--limit=3"],
        ),
        ("skill_lint", json!({ "skill": skill }), &["lint", skill]),
        ("skill_build", json!({ "skill": skill }), &["build", skill]),
        ("skc_outline", json!({ "name": skill }), &["outline", skill]),
    ];
    for (tool, input, args) in checks {
        let printed = skills.run(&[args, &["--format=json"] as &[&str]].concat()).json();
        assert_eq!(client.data(tool, input.clone()), printed, "{tool} {input}");
    }
    let listed = client.data("skill_list", json!({}));
    assert_eq!(listed["total_count"], 1);
    let skill = listed["skills"][0].as_object().unwrap();
    for key in ["name", "version", "description", "capabilities", "greek_letter", "path"] {
        assert!(skill.contains_key(key), "{key}");
    }
    assert!(skill["capabilities"].is_array() && skill["version"].is_null());
    let stats = client.data("skill_stats", json!({ "skill": "tide-guide" }));
    assert!(stats["data"]["total_accesses"].as_u64().unwrap() > 10, "{stats}");
    let failed = client.call("skill_show", json!({ "skill": "nothing", "section": "x" }));
    assert_eq!(failed["error"]["code"], "HANDLER_ERROR");
    assert_eq!(failed["error"]["message"], "error[E001]: skill 'nothing' not found");
    assert_eq!(failed["error"]["details"]["code"], "E001");
    let failed = client.call("skill_open", json!({ "skill": "tide-guide", "path": "../../x" }));
    assert_eq!(failed["error"]["details"]["code"], "E012");
}

#[test]
fn a_number_above_the_maximum_of_an_argument_is_refused_as_invalid() {
    let skills = Skills::built();
    let mut client = Client::start(&skills.env, "project", &[]);
    for (tool, argument, most, input) in [
        ("kb_search", "top", 1_000_000, json!({ "query": "tide" })),
        ("kb_search", "per_doc", 1_000_000, json!({ "query": "tide" })),
        ("kb_search", "budget", 1_000_000, json!({ "query": "tide" })),
        ("kb_similar", "top", 1_000_000, json!({ "document": 1 })),
        ("kb_list", "limit", 100, json!({})),
        ("skill_list", "limit", u32::MAX, json!({})),
        ("skill_search", "limit", u32::MAX, json!({ "skill": "tide-guide", "query": "tide" })),
        ("skill_outline", "level", 6, json!({ "skill": "tide-guide" })),
        ("skill_show", "max_lines", u32::MAX, json!({ "skill": "tide-guide", "section": "Tides" })),
        ("skill_open", "max_lines", u32::MAX, json!({ "skill": "tide-guide", "path": "SKILL.md" })),
        ("skill_sources", "depth", u32::MAX, json!({ "skill": "tide-guide" })),
        ("skill_sources", "limit", u32::MAX, json!({ "skill": "tide-guide" })),
    ] {
        let mut input = input;
        input[argument] = json!(u64::from(most) + 1);
        let envelope = client.call(tool, input.clone());
        assert_eq!(envelope["error"]["code"], "INVALID_PARAMS", "{tool} {input}: {envelope}");
        let issues = &envelope["error"]["details"]["issues"];
        let expected = json!([{ "path": argument, "message": format!("more than {most}") }]);
        assert_eq!(*issues, expected, "{tool} {input}");
        input[argument] = json!(most);
        let envelope = client.call(tool, input.clone());
        assert_ne!(envelope["error"]["code"], "INVALID_PARAMS", "{tool} {input}: {envelope}");
    }
}

#[test]
fn wrong_input_is_refused_with_all_its_issues() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &[]);
    let envelope_of = client.call("kb_search", json!({ "query": 7, "top": 0, "tag": "a" }));
    assert_eq!(envelope_of["ok"], false);
    assert_eq!(envelope_of["error"]["code"], "INVALID_PARAMS");
    assert_eq!(envelope_of["error"]["message"], "schema validation failed");
    let issues = envelope_of["error"]["details"]["issues"].as_array().unwrap();
    let paths: Vec<&str> = issues.iter().map(|issue| issue["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["query", "top", "tag"]);
    assert!(issues[2]["message"].as_str().unwrap().contains("did you mean `tags`"), "{issues:?}");
    let wrong = client.call("skill_list", json!({ "search": 3, "capability": [] }));
    assert_eq!(wrong["error"]["code"], "INVALID_PARAMS");
    // The tool reports what a schema cannot express.
    for (tool, input, code) in [
        ("kb_search", json!({ "query": "  " }), "empty_query"),
        ("kb_search", json!({ "query": "-gauge" }), "only_exclusions"),
        ("kb_search", json!({ "query": "a", "fts_only": true, "vec_only": true }), "usage"),
        ("kb_info", json!({ "document": 99 }), "unknown_document"),
        ("kb_outline", json!({ "document": "tide" }), "ambiguous_document"),
        ("kb_show", json!({ "document": 4, "section": "gauge" }), "unknown_part"),
        ("kb_show", json!({ "document": 4, "page": 1, "symbol": "x" }), "usage"),
        ("kb_search", json!({ "query": "a", "since": "some day" }), "usage"),
        ("kb_list", json!({ "tags": [" "] }), "usage"),
        ("kb_show", json!({}), "usage"),
        ("kb_similar", json!({}), "usage"),
        ("kb_grep", json!({ "pattern": "a(" }), "usage"),
        ("kb_grep", json!({ "pattern": "a", "count": true, "context": 1 }), "usage"),
    ] {
        let envelope = client.call(tool, input.clone());
        assert_eq!(envelope["error"]["code"], "HANDLER_ERROR", "{tool} {input}");
        assert_eq!(envelope["error"]["details"]["code"], code, "{tool} {input}");
    }
    // Guessed names are understood.
    let guessed = client.data("kb_search", json!({ "q": "winter", "limit": 1, "doc_type": "pdf" }));
    let proper = client.data("kb_search", json!({ "query": "winter", "top": 1, "type": "pdf" }));
    assert_eq!(guessed, proper);
    // So are formats, in any case; another word is answered with those that are known.
    let of = |word: &str| json!({ "query": "tide", "type": word, "fts_only": true });
    let typed = client.data("kb_search", of("Python"));
    let hits = typed["results"].as_array().unwrap();
    assert!(!hits.is_empty() && hits.iter().all(|hit| hit["source"]["language"] == "python"));
    assert_eq!(client.data("kb_search", of("mail"))["returned"], 0);
    assert_eq!(
        client.data("kb_search", of(" ")),
        client.data("kb_search", json!({ "query": "tide", "fts_only": true }))
    );
    let refused = client.call("kb_search", of("movie"));
    assert!(
        refused["error"].to_string().contains("known: pdf, markdown, code, note, mail,"),
        "{refused}"
    );
    assert_eq!(client.data("kb_outline", json!({ "id": 4 }))["document_id"], 4);
}

#[test]
fn malformed_calls_are_protocol_errors_and_the_server_continues() {
    let env = TestEnv::without_model();
    let mut client = Client::start(&env, "", &[]);
    let unknown = client.request("tools/call", json!({ "name": "kb_serch", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("kb_search"), "{unknown}");
    let writing = json!({ "name": "kb_add_note", "arguments": { "text": "x" } });
    assert_eq!(client.request("tools/call", writing)["error"]["code"], -32602);
    let unknown = client.request("no/such/method", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    for params in [json!({ "arguments": {} }), json!({ "name": "kb_tags", "arguments": [] })] {
        assert_eq!(client.request("tools/call", params)["error"]["code"], -32602);
    }
    let cursor = json!({ "cursor": "x" });
    assert_eq!(client.request("resources/list", cursor)["error"]["code"], -32602);
    for (malformed, id) in [
        (r#"{"jsonrpc": "2.0", "id": []}"#, Value::Null),
        (r#"{"jsonrpc": "2.0", "id": 70, "method": 7}"#, json!(70)),
        (r#"{"id": 72, "method": "tools/list"}"#, json!(72)),
        (r#"{"jsonrpc": "2.0", "id": 73, "method": "tools/list", "params": []}"#, json!(73)),
        (r#"{"jsonrpc": "2.0", "id": 74, "method": "ping", "method": "ping"}"#, json!(74)),
        ("[]", Value::Null),
    ] {
        client.send_line(malformed);
        let answer = client.receive();
        assert_eq!(answer["error"]["code"], -32600, "{malformed}");
        assert_eq!(answer.get("id"), Some(&id), "{malformed}");
    }
    for (method, params, name) in [
        ("resources/read", json!({ "uri": 5 }), "params.uri"),
        ("logging/setLevel", json!({ "level": "loud" }), "level: string"),
        ("skills/get", json!({ "name": "x" }), "params.uri"),
        ("prompts/get", json!({}), "params.name"),
        ("completion/complete", json!({}), "params.ref"),
        ("initialize", json!({}), "params.protocolVersion"),
    ] {
        let error = client.request(method, params)["error"].take();
        assert_eq!(error["code"], -32602, "{method}");
        assert!(error["message"].as_str().unwrap().contains(name), "{error}");
    }
    let deep = "[".repeat(200) + &"]".repeat(200);
    let lone_surrogate = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"kb_search","arguments":{"query":"\ud800"}}}"#;
    for malformed in ["this is no JSON", r#"{"id": 6, "method": "ping",}"#, &deep, lone_surrogate] {
        client.send_line(malformed);
        let answer = client.receive();
        assert_eq!(answer["error"]["code"], -32700, "{malformed}");
        assert!(answer["id"].is_null() && answer.get("id").is_some(), "{answer}");
    }
    assert_eq!(client.data("kb_list", json!({})), json!([]));
    assert!(client.close().success());
}

#[test]
fn notes_are_saved_and_changed_and_folders_added_with_progress() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &["--allow-write"]);
    let report = client.data("kb_add_note", json!({ "text": "The anchor is red.", "tags": ["a"] }));
    let id = report["document_ids"][0].as_i64().unwrap();
    let found = client.data("kb_search", json!({ "query": "anchor", "top": 1 }));
    assert_eq!(found["results"][0]["source"]["document_id"], id);
    let before = client.data("kb_info", json!({ "document": id }));
    let input = json!({ "document": id, "text": "The anchor is green.", "tags": ["b"] });
    assert_eq!(client.data("kb_update_note", input)["updated"], 1);
    let after = client.data("kb_info", json!({ "document": id }));
    assert_eq!((&after["id"], &after["created_at"]), (&before["id"], &before["created_at"]));
    assert_eq!(after["chunks"][0]["preview"], "The anchor is green.");
    assert_eq!(after["tags"], json!(["a", "b"]));
    let missing = client.call("kb_update_note", json!({ "document": 4, "text": "x" }));
    assert_eq!(missing["error"]["details"]["code"], "unknown_document");

    for idx in 0..5 {
        env.write(&format!("docs/{idx}.md"), format!("# Page {idx}\n\nWords of page {idx}.\n"));
    }
    let params = json!({
        "name": "kb_add",
        "arguments": { "paths": [env.path("docs")], "detail": "full" },
        "_meta": { "progressToken": "here" },
    });
    let id = client.ask("tools/call", params);
    let mut progress = Vec::new();
    let answer = loop {
        let message = client.receive();
        if message["id"] == id {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "here");
        progress.push(message["params"]["progress"].as_f64().unwrap());
    };
    assert_eq!(envelope(&answer)["data"]["added"], 5);
    assert_eq!(progress, [1.0, 2.0, 3.0, 4.0, 5.0]);
}

/// Writes enough pages that adding them takes longer than cancelling the call.
pub(crate) fn write_many(env: &TestEnv, dir: &str) {
    for idx in 0..200 {
        let words = format!("Page {idx} tells of the tide and of the {idx} boats. ").repeat(40);
        env.write(&format!("{dir}/{idx}.md"), format!("# Page {idx}\n\n{words}\n"));
    }
}

#[test]
fn a_long_call_can_be_cancelled_and_keeps_what_is_committed() {
    // With the small model the call would be too short.
    let env = TestEnv::real();
    write_many(&env, "many");
    let mut client = Client::start(&env, "", &["--allow-write"]);
    let params = json!({
        "name": "kb_add",
        "arguments": { "paths": [env.path("many")] },
        "_meta": { "progressToken": 1 },
    });
    let id = client.ask("tools/call", params);
    while client.receive()["method"] != "notifications/progress" {}
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": id, "reason": "enough" },
    }));
    // The next call of the same tool starts as soon as the first has ended.
    let wrong = client.call("kb_add", json!({ "paths": [env.path("nothing")] }));
    assert_eq!(wrong["error"]["details"]["code"], "path_not_found");
    let documents = client.data("kb_list", json!({}));
    assert!((1..200).contains(&documents.as_array().unwrap().len()));
    assert!(client.close().success());
}

#[test]
fn the_process_ends_when_stdin_closes_even_during_a_call() {
    // The small model would finish before the end of stdin is noticed.
    let env = TestEnv::real();
    let status = Client::start(&env, "", &[]).close();
    assert!(status.success(), "{status}");
    let status = Client::start_silent(&env, "", &[]).close();
    assert!(status.success(), "{status}");
    write_many(&env, "many");
    let mut client = Client::start(&env, "", &["--allow-write"]);
    let params = json!({
        "name": "kb_add",
        "arguments": { "paths": [env.path("many")] },
        "_meta": { "progressToken": 1 },
    });
    client.ask("tools/call", params);
    while client.receive()["method"] != "notifications/progress" {}
    let status = client.close();
    assert!(status.success(), "{status}");
    // A call that was awaited would have added all.
    let documents = env.json(&["list", "--format=json"]);
    assert!((1..200).contains(&documents.as_array().unwrap().len()));
}

#[cfg(unix)]
#[test]
fn the_process_ends_when_the_client_closes_stdout_and_keeps_stdin_open() {
    let env = TestEnv::without_model();
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    for greeting in [None, Some(initialize)] {
        let mut command = env.command(&["mcp"]);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut stdin, stdout) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        if let Some(greeting) = greeting {
            writeln!(stdin, "{greeting}").unwrap();
            BufReader::new(stdout).read_line(&mut String::new()).unwrap();
        } else {
            drop(stdout);
        }
        let status = status_of(&mut server);
        assert!(status.success(), "{status}");
    }
}

#[test]
fn every_call_is_audited_on_request() {
    let env = TestEnv::with_corpus();
    let mut client = Client::start(&env, "", &["--audit-log", "audit.jsonl"]);
    client.data("kb_tags", json!({}));
    client.call("kb_search", json!({ "nothing": 1 }));
    client.call("kb_info", json!({ "document": 99 }));
    assert!(client.close().success());
    let lines: Vec<Value> = fs::read_to_string(env.path("audit.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let what: Vec<(&str, &str, Option<bool>)> = lines
        .iter()
        .map(|event| {
            assert!(
                event["time"].as_str().unwrap().ends_with('Z') && event["id"].is_u64(),
                "{event}"
            );
            (
                event["event"].as_str().unwrap(),
                event["tool"].as_str().unwrap(),
                event["ok"].as_bool(),
            )
        })
        .collect();
    let expected = [
        ("enter", "kb_tags", None),
        ("exit", "kb_tags", Some(true)),
        ("exit", "kb_search", Some(false)),
        ("enter", "kb_info", None),
        ("exit", "kb_info", Some(false)),
    ];
    assert_eq!(what, expected);
    assert_eq!(lines[3]["input"], json!({ "document": "99", "detail": "full" }));
    assert_eq!(lines[4]["error"]["message"], "document not found: 99");
    let microseconds = lines[4]["duration_ms"].as_f64().unwrap() * 1e3;
    assert!((microseconds - microseconds.round()).abs() < 1e-3, "{microseconds}");
}

#[test]
fn a_broken_database_is_a_handler_error() {
    let skills = Skills::new();
    let mut client = Client::start(&skills.env, "project", &[]);
    assert_eq!(client.data("skill_list", json!({}))["total_count"], 1);
    let db = rusqlite::Connection::open(skills.env.database()).unwrap();
    db.execute_batch("DROP TABLE skills").unwrap();
    let failed = client.call("skill_list", json!({}));
    assert_eq!(failed["ok"], false);
    assert_eq!(failed["error"]["code"], "HANDLER_ERROR", "{failed}");
    assert!(failed["error"]["message"].as_str().is_some_and(|message| !message.is_empty()));
    // The server continues.
    assert_eq!(client.data("kb_list", json!({})), json!([]));
}

#[test]
fn documents_and_skills_are_resources() {
    let skills = Skills::new();
    skills.env.install_sample();
    let mut client = Client::start(&skills.env, "project", &[]);
    let listed = client.request("resources/list", json!({}));
    let resources = listed["result"]["resources"].as_array().unwrap();
    let uris: Vec<&str> =
        resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect();
    assert_eq!(uris[0], "skill://tide-guide/SKILL.md");
    assert_eq!(uris[1..], (1..=8).map(|id| format!("kb://document/{id}")).collect::<Vec<_>>());
    let read =
        |client: &mut Client, uri: &str| client.request("resources/read", json!({ "uri": uri }));
    let text =
        |answer: &Value| answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(text(&read(&mut client, "kb://document/4")).contains("### Radar gauge"));
    assert!(text(&read(&mut client, "skill://tide-guide/SKILL.md")).contains("# Tide Guide"));
    for uri in ["kb://document/99", "kb://document/x", "skill://none", "skill://../x", "x:y"] {
        assert!(read(&mut client, uri)["error"].is_object(), "{uri}");
    }
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 3);
}

#[test]
fn errors_of_loading_end_the_start() {
    let env = TestEnv::without_model();
    env.write(".kb/kb.db", "this is no database, and long enough to be read as one".repeat(40));
    let output = env.kb(&["mcp"]).expect(2);
    assert!(output.stdout.is_empty() && output.stderr.starts_with("error: "), "{}", output.text());
    // A bad skill, or no skills at all, does not.
    let skills = Skills::new();
    skills.write("SKILL.md", "no front matter");
    let mut client = Client::start(&skills.env, "project", &[]);
    assert_eq!(client.data("skill_list", json!({}))["total_count"], 0);
    let env = TestEnv::without_model();
    assert!(Client::start(&env, "", &[]).close().success());
    let output = with_stdin(&env, &["mcp"], "hello\n");
    assert!(output.stdout.is_empty() || output.stdout.starts_with('{'), "{}", output.text());
}

#[test]
fn thousands_of_requests_at_once_are_answered_by_few_threads() {
    let env = TestEnv::new();
    let mut client = Client::start(&env, ".", &[]);
    let ids: BTreeSet<u64> = (0..2_000).map(|_| client.ask("tools/list", json!({}))).collect();
    let mut most = 0;
    let answered: BTreeSet<u64> = ids
        .iter()
        .map(|_| {
            most = most.max(client.num_threads().unwrap_or_default());
            client.receive()["id"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(answered, ids);
    // A blocking thread for each request at work, and those of the runtime, of the model and of SQLite.
    assert!(most <= kb_base::limits::MCP_CALLS as u64 + 32, "{most} threads");
}
