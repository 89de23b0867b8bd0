//! Skills over MCP: names, indexes, warnings, and that annotations state what a call changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::env::TestEnv;
use crate::mcp_client::Client;
use crate::skills::{GUIDE, Skills};
use crate::tool_table::{self, CallSubject};

/// Another skill, whose directory has another name.
const OTHER: &str = "---\nname: other-name\ndescription: Use it when testing.\n---\n# Usage\n\nOne.\n\n# usage\n\nTwo.\n";

#[test]
fn every_listed_name_can_be_called_and_read() {
    let skills = Skills::new();
    skills.env.write("project/.agents/skills/mismatch/SKILL.md", OTHER);
    let mut client = Client::start(&skills.env, "project", &[]);
    let listed = client.data("skill_list", json!({}));
    let names: Vec<&str> = listed["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["other-name", "tide-guide"]);
    for name in ["other-name", "tide-guide", "mismatch"] {
        assert!(client.data("skill_outline", json!({ "skill": name })).is_array(), "{name}");
        skills.ok(&["open", name, "SKILL.md"]);
    }
    let listed = client.request("resources/list", json!({}));
    let resources = listed["result"]["resources"].as_array().unwrap();
    let uris: Vec<&str> =
        resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["skill://other-name/SKILL.md", "skill://tide-guide/SKILL.md"]);
    for uri in uris {
        let read = client.request("resources/read", json!({ "uri": uri }));
        assert!(read["result"]["contents"][0]["text"].is_string(), "{read}");
    }
}

#[test]
fn skills_are_served_by_the_extension() {
    let skills = Skills::new();
    let picture = [0x89, b'P', b'N', b'G', 0xff, 0];
    skills.write("assets/a picture.png", picture);
    let mut client = Client::start_silent(&skills.env, "project", &[]);
    let greeting = client.request(
        "initialize",
        json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        }),
    );
    let extension =
        &greeting["result"]["capabilities"]["extensions"]["io.modelcontextprotocol/skills"];
    assert_eq!(*extension, json!({ "directoryRead": true }));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let listed = client.request("skills/list", json!({}));
    let skill = &listed["result"]["skills"][0];
    assert_eq!(skill["frontmatter"]["name"], "tide-guide", "{listed}");
    let uri = "skill://tide-guide/SKILL.md";
    assert_eq!(skill["uri"], uri);
    let got = client.request("skills/get", json!({ "uri": uri }));
    assert_eq!(got["result"]["skill"], *skill);
    let files = skill["resources"].as_array().unwrap();
    assert_eq!(files.len(), 4);
    for file in files {
        let read = client.request("resources/read", json!({ "uri": file["uri"] }));
        let content = &read["result"]["contents"][0];
        let bytes = match content["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => STANDARD.decode(content["blob"].as_str().unwrap()).unwrap(),
        };
        assert_eq!(file["size"], bytes.len(), "{file}");
        assert_eq!(file["digest"], format!("sha256:{}", sha256(&bytes)), "{file}");
    }
    let names = |listed: &Value| -> Vec<String> {
        let entries = listed["result"]["resources"].as_array().unwrap().iter();
        entries
            .map(|entry| format!("{} {}", entry["uri"].as_str().unwrap(), entry["mimeType"]))
            .collect()
    };
    let top = client.request("resources/directory/read", json!({ "uri": "skill://tide-guide" }));
    let expected = [
        "skill://tide-guide/SKILL.md \"text/markdown\"",
        "skill://tide-guide/assets \"inode/directory\"",
        "skill://tide-guide/ferry.txt \"text/plain\"",
        "skill://tide-guide/references \"inode/directory\"",
    ];
    assert_eq!(names(&top), expected);
    let below =
        client.request("resources/directory/read", json!({ "uri": "skill://tide-guide/assets" }));
    assert_eq!(names(&below), ["skill://tide-guide/assets/a%20picture.png \"image/png\""]);
    for (method, uri) in [
        ("skills/get", "skill://nothing/SKILL.md"),
        ("skills/get", "skill://tide-guide/ferry.txt"),
        ("resources/directory/read", uri),
    ] {
        let refused = client.request(method, json!({ "uri": uri }));
        assert_eq!(refused["error"]["code"], -32602, "{method} {uri}: {refused}");
    }
    for uri in ["skill://tide-guide/../x", "skill://tide-guide/%2e%2e/x", "skill://tide-guide"] {
        let refused = client.request("resources/read", json!({ "uri": uri }));
        assert_eq!(refused["error"]["data"]["uri"], uri, "{refused}");
    }
}

#[test]
fn a_skill_below_the_working_directory_belongs_to_the_project_without_a_store() {
    let env = TestEnv::without_model();
    env.write("work/.agents/skills/tide-guide/SKILL.md", GUIDE);
    let mut client = Client::start(&env, "work", &[]);
    let listed = client.data("skill_list", json!({ "scope": "project" }));
    assert_eq!(listed["skills"][0]["scope"], "project", "{listed}");
}

#[test]
fn list_and_all_other_commands_choose_the_same_skill() {
    let skills = Skills::empty();
    let described = |text: &str| format!("---\nname: x\ndescription: {text}\n---\n# {text}\n");
    skills.env.write("project/.agents/skills/x/SKILL.md", described("agents"));
    for (place, text) in [("home/.skillc", "global"), ("project/.skillc", "project")] {
        let place = place.replace("home/", "");
        skills.env.write(&format!("{place}/skills/x/SKILL.md"), described(text));
        let listed = skills.run(&["list", "--format=json"]).json();
        assert_eq!(listed["skills"][0]["description"], text, "{listed}");
        let opened = skills.run(&["open", "x", "SKILL.md"]).stdout;
        assert!(opened.contains(&format!("# {text}")), "{opened}");
    }
}

#[test]
fn sections_are_found_without_a_build_and_after_an_edit() {
    let skills = Skills::new();
    let mut client = Client::start(&skills.env, "project", &[]);
    let show = json!({ "skill": "tide-guide", "section": "Repair" });
    assert!(client.data("skill_show", show)["text"].as_str().unwrap().contains("recorder"));
    skills.write("new.md", "# Brand New\n\nThe zebra crossing.\n");
    let found = client.data("skill_search", json!({ "skill": "tide-guide", "query": "zebra" }));
    assert_eq!(found["results"][0]["section"], "Brand New");
    // On the command line the protocol orders an error.
    skills.write("newer.md", "# Newer\n");
    let failed = skills.run(&["search", "tide-guide", "zebra"]);
    assert!(failed.stderr.contains("error[E002]"), "{}", failed.text());
}

#[test]
fn a_section_that_is_one_of_several_comes_with_a_warning() {
    let skills = Skills::new();
    skills.env.write("project/.agents/skills/mismatch/SKILL.md", OTHER);
    let mut client = Client::start(&skills.env, "project", &[]);
    let shown = client.data("skill_show", json!({ "skill": "mismatch", "section": "usage" }));
    let warning = "warning[W001]: multiple matches for 'usage'; showing first";
    assert_eq!(shown["warnings"], json!([warning]));
    let failed = client.call("skill_show", json!({ "skill": "mismatch", "section": "usa" }));
    let fix = failed["error"]["details"]["fix"].as_str().unwrap();
    assert_eq!(fix, "similar sections: Usage (SKILL.md:5), usage (SKILL.md:9)");
}

#[test]
fn a_server_only_indexes_a_skill() {
    let skills = Skills::new();
    let mut client = Client::start(&skills.env, "project", &["--allow-write"]);
    for argument in ["import", "force", "global", "copy", "ingest", "target"] {
        let input = json!({ "skill": "tide-guide", argument: true });
        let refused = client.call("skill_build", input);
        assert_eq!(refused["error"]["code"], "INVALID_PARAMS", "{argument}: {refused}");
    }
    assert_eq!(client.data("skill_build", json!({ "skill": "tide-guide" }))["deployed"], json!([]));
}

#[test]
fn front_matter_that_is_not_yaml_is_reported_as_such() {
    let skills = Skills::new();
    skills.write("SKILL.md", "---\nname: tide-guide\ndescription: a: b\n---\n");
    let failed = skills.run(&["build", "tide-guide"]);
    assert!(
        failed.stderr.starts_with("error[E011]: invalid frontmatter YAML: "),
        "{}",
        failed.text()
    );
    skills.write("SKILL.md", "---\nname: tide-guide\n---\n");
    let failed = skills.run(&["build", "tide-guide"]);
    let expected = "error[E011]: missing frontmatter field 'description' in SKILL.md";
    assert!(failed.stderr.starts_with(expected), "{}", failed.text());
}

#[test]
fn one_session_is_one_run_in_the_access_log() {
    let skills = Skills::new();
    let mut client = Client::start(&skills.env, "project", &[]);
    for _ in 0..3 {
        client.data("skill_outline", json!({ "skill": "tide-guide" }));
    }
    assert!(client.close().success());
    let log = skills.env.path("project/.skillc/runtime/tide-guide/.skillc-meta/logs.db");
    let db = rusqlite::Connection::open(log).unwrap();
    let count = "SELECT COUNT(*), COUNT(DISTINCT run_id) FROM access_log";
    let counts: (u32, u32) = db.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(counts, (3, 1));
}

#[test]
fn started_as_skc_the_server_has_the_tools_and_answers_of_skc() {
    let skills = Skills::new();
    let mut client = Client::over(skills.skc_command(&["mcp"]));
    client.greet();
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in
        ["build", "init", "lint", "list", "open", "outline", "search", "show", "sources", "stats"]
    {
        assert!(names.contains(&format!("skc_{name}").as_str()), "{names:?}");
    }
    assert!(names.iter().all(|name| name.starts_with("skc_")), "{names:?}");
    let mut text = |tool: &str, input: Value| {
        let answer = client.request("tools/call", json!({ "name": tool, "arguments": input }));
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let skill = "tide-guide";
    for (tool, input) in
        [("skc_outline", json!({ "skill": skill })), ("skc_sources", json!({ "skill": skill }))]
    {
        let printed: Value = serde_json::from_str(&text(tool, input)).unwrap();
        assert!(printed.is_array(), "{tool}: {printed}");
    }
    let listed: Value = serde_json::from_str(&text("skc_list", json!({}))).unwrap();
    assert_eq!(listed["skills"][0]["name"], skill);
    let made: Value =
        serde_json::from_str(&text("skc_init", json!({ "name": "new-one" }))).unwrap();
    assert_eq!(made["success"], true);
    let shown =
        text("skc_show", json!({ "skill": skill, "section": "tide guide", "max_lines": 1 }));
    assert!(shown.starts_with("# Tide Guide\n... ("), "{shown}");
    let failed = text("skc_outline", json!({ "skill": "nothing" }));
    assert!(failed.contains("error[E001]: skill 'nothing' not found"), "{failed}");
}

#[test]
fn started_as_skc_the_program_knows_its_version_and_help() {
    let skills = Skills::new();
    let version = skills.skc(&["--version"]).stdout;
    assert_eq!(version, format!("skc 0.2.1 (kb {})\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(skills.skc(&["help"]).stdout, skills.skc(&["--help"]).stdout);
    let help = skills.skc(&["help", "show"]).stdout;
    assert_eq!(help, skills.skc(&["show", "--help"]).stdout);
    skills.skc(&["init", "fresh-skill"]).expect(0);
    let text =
        fs::read_to_string(skills.env.path("project/.skillc/skills/fresh-skill/SKILL.md")).unwrap();
    assert!(text.contains("description: \"TODO: Add skill description\""), "{text}");
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The state that matters to the user: documents, and all files except kb's own.
#[derive(Debug, PartialEq)]
struct State {
    documents: BTreeMap<String, Value>,
    files: BTreeMap<String, Vec<u8>>,
}

impl State {
    fn of(env: &TestEnv) -> Self {
        let exported = env.kb(&["export", "-"]).stdout;
        let documents = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let documents = documents
            .filter(|line| line["id"].is_number())
            .map(|line| (line["id"].to_string(), line))
            .collect();
        let mut files = BTreeMap::new();
        collect(&env.path(""), &mut files);
        Self { documents, files }
    }

    /// Whether everything of an earlier state is unchanged.
    fn contains(&self, before: &Self) -> bool {
        before.documents.iter().all(|(id, line)| self.documents.get(id) == Some(line))
            && before.files.iter().all(|(path, bytes)| self.files.get(path) == Some(bytes))
    }
}

/// Reads all files but databases, indexes and logs.
fn collect(dir: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if ![".kb", "runtime", ".cache"].contains(&name.as_str()) {
                collect(&path, files);
            }
        } else {
            files.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
}

#[test]
fn annotations_state_what_a_call_changes() {
    let env = &TestEnv::with_corpus();
    env.write("project/.skillc/skills/tide-guide/SKILL.md", GUIDE);
    env.write("project/.skillc/skills/tide-guide/ferry.txt", "The ferry leaves at nine.\n");
    env.write("notes/a.md", "# A\n\nThe first text of this file.\n");
    let mut client = Client::start(env, "project", &["--allow-write"]);
    let added = client.data("kb_add_note", json!({ "text": "The key is under the mat." }));
    assert_eq!(added["errors"], json!([]), "{added}");
    client.data("kb_add", json!({ "paths": [env.path("notes")] }));
    let note = client.data("kb_list", json!({ "type": "note" }))[0]["id"].clone();
    env.write("notes/a.md", "# A\n\nThe second text of this file.\n");
    let (note, path) = (note.as_i64().unwrap(), env.path("notes").display().to_string());
    let about = CallSubject { document: note, note, word: "key", path: &path };
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let listed = tools.as_array().unwrap().len();
    assert_eq!(listed, tool_table::all().count());
    for call in tool_table::all() {
        let (name, input) = (call.name, call.arguments(about));
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        let hint = |hint: &str| tool["annotations"][hint].as_bool().unwrap_or(false);
        let before = State::of(env);
        let first = client.call(name, input.clone());
        assert_eq!(first["ok"], true, "{name}: {first}");
        let after = State::of(env);
        assert_eq!(after == before, hint("readOnlyHint") || name == "skill_build", "{name}");
        assert_eq!(!after.contains(&before), hint("destructiveHint"), "{name}");
        assert!(!hint("openWorldHint"), "{name}");
        if hint("readOnlyHint") {
            continue;
        }
        let again = client.call(name, input);
        let is_same = State::of(env) == after && again["ok"] == true;
        assert_eq!(is_same, hint("idempotentHint"), "{name}: {again}");
    }
}
