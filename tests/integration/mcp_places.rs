//! Tests what clients of `kb mcp` say about themselves: the folders in which they work, and the messages that they
//! want.

use std::path::Path;

use serde_json::{Value, json};

use crate::bases::{in_folder, two};
use crate::env::TestEnv;
use crate::mcp::names;
use crate::mcp_client::Client;
use crate::patience::comes_true;
use crate::skills::Skills;
use crate::tool_table;

/// A client that works in folders.
struct Working {
    client: Client,
    roots: Vec<String>,
}

/// Returns the address of a folder.
fn uri(folder: &Path) -> String {
    // The path of a drive follows a slash.
    let start = if cfg!(windows) { "file:///" } else { "file://" };
    format!("{start}{}", folder.display()).replace(' ', "%20")
}

impl Working {
    /// Starts a server in a folder below the home, for a client that works in others.
    fn start(env: &TestEnv, dir: &str, roots: &[&Path]) -> Self {
        let mut command = env.command(&["mcp"]);
        command.current_dir(env.path(dir));
        let mut client = Client::over(command);
        client.greet_as(json!({ "roots": { "listChanged": true } }));
        let mut working = Self { client, roots: roots.iter().map(|root| uri(root)).collect() };
        working.say_where();
        working
    }

    /// Waits until the server asks where the client works, and answers.
    fn say_where(&mut self) {
        let asked = self.client.receive();
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let roots: Vec<Value> = self.roots.iter().map(|uri| json!({ "uri": uri })).collect();
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } });
        self.client.send(&answer);
    }

    fn tools(&mut self) -> Vec<String> {
        let answer = self.client.request("tools/list", json!({}));
        names(answer["result"]["tools"].as_array().unwrap()).into_iter().collect()
    }

    fn titles(&mut self) -> Vec<String> {
        let listed = self.client.data("kb_list", json!({}));
        let listed = listed.as_array().unwrap().iter();
        listed.map(|document| document["title"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn skills_are_those_of_the_folder_in_which_the_client_works() {
    let skills = Skills::new();
    let project = skills.env.path("project");
    let mut working = Working::start(&skills.env, "", &[&project]);
    assert_eq!(working.tools(), tool_table::reading());
    let outline = working.client.text("skill_outline", json!({ "skill": "tide-guide" }));
    assert!(outline.contains("At Night"), "{outline}");
    let read = json!({ "uri": "skill://tide-guide/SKILL.md" });
    let answer = working.client.request("resources/read", read);
    assert!(answer["result"]["contents"][0]["text"].is_string(), "{answer}");
    // If the client works elsewhere, there are no skills, and their tools are not listed.
    let elsewhere = skills.env.path("empty folder");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut working = Working::start(&skills.env, "", &[&elsewhere]);
    let kb: Vec<&str> = tool_table::of_documents().map(|call| call.name).collect();
    assert_eq!(working.tools(), kb);
}

/// A home with two projects that have a knowledge base, one in the other, and a folder that has none.
fn projects() -> TestEnv {
    let env = two();
    for (project, text) in [("outer", "# Valve\n"), ("outer/inner", "# Anchor\n")] {
        env.write(&format!("{project}/src/page.md"), text);
        in_folder(&env, project, &["init", "--here"]).expect(0);
        in_folder(&env, project, &["add", "src"]).expect(0);
    }
    std::fs::create_dir(env.path("bare")).unwrap();
    env
}

#[test]
fn the_base_is_that_of_the_project_in_which_the_client_works() {
    let env = projects();
    let (outer, inner, bare) = (env.path("outer"), env.path("outer/inner"), env.path("bare"));
    let missing = env.path("missing");
    let mut working = Working::start(&env, "bare", &[&missing, &outer]);
    assert_eq!(working.titles(), ["Valve"]);
    assert_eq!(working.client.data("kb_list", json!({ "base": "default" }))[0]["title"], "Boats");
    // The client opens another folder.
    working.roots = vec![uri(&inner)];
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    working.client.send(&changed);
    working.say_where();
    assert!(comes_true(|| working.titles() == ["Anchor"]), "the change is not noticed");
    // A server that was started in one of the folders continues to use that one.
    let mut working = Working::start(&env, "outer/inner/src", &[&outer]);
    assert_eq!(working.titles(), ["Anchor"]);
    // A folder without a knowledge base changes nothing, and neither does what is not a file.
    let mut working = Working::start(&env, "", &[&bare]);
    assert_eq!(working.titles(), ["Boats"]);
    let mut working = Working::start(&env, "outer", &[]);
    assert_eq!(working.titles(), ["Valve"]);
}

#[test]
fn a_base_that_the_user_named_stays_and_one_that_is_not_allowed_is_not_used() {
    let env = projects();
    let outer = env.path("outer");
    let mut command = env.command(&["--base", "work", "mcp"]);
    command.current_dir(env.path(""));
    let mut client = Client::over(command);
    client.greet_as(json!({ "roots": {} }));
    let mut working = Working { client, roots: vec![uri(&outer)] };
    working.say_where();
    assert_eq!(working.titles(), ["Budget"]);
    // Another database at the same place is not allowed.
    let database = rusqlite::Connection::open(env.path("outer/.kb/kb.db")).unwrap();
    database.execute("UPDATE config SET value = 'other' WHERE key = 'base_id'", []).unwrap();
    drop(database);
    let mut working = Working::start(&env, "", &[&outer]);
    assert_eq!(working.titles(), ["Boats"]);
}

#[test]
fn a_client_that_does_not_say_where_it_works_is_answered_nevertheless() {
    let env = TestEnv::with_corpus();
    let mut client = Client::over(env.command(&["mcp"]));
    client.greet_as(json!({ "roots": {} }));
    let id = client.ask("tools/list", json!({}));
    assert!(client.answer_to(id)["result"]["tools"].is_array());
    // A client without folders is not asked.
    let mut client = Client::start(&env, "", &[]);
    let id = client.ask("tools/list", json!({}));
    assert_eq!(client.receive()["id"], id);
}

/// Returns the messages that come before the answer to a call of `kb_add` that reads another broken file.
fn messages(env: &TestEnv, client: &mut Client, meta: &Value) -> Vec<Value> {
    let number = std::fs::read_dir(env.path("bad")).map_or(0, Iterator::count);
    env.write(&format!("bad/{number}.pdf"), "%PDF-1.4\nnothing\n");
    let params = json!({ "name": "kb_add", "arguments": { "paths": ["bad"] }, "_meta": meta });
    let id = client.ask("tools/call", params);
    let mut messages = Vec::new();
    loop {
        let message = client.receive();
        if message["id"] == id {
            return messages;
        }
        assert_eq!(message["method"], "notifications/message", "{message}");
        messages.push(message["params"].clone());
    }
}

/// A home with broken files, and a server that may add.
fn with_broken_files(num_files: usize) -> (TestEnv, Client) {
    let env = TestEnv::new();
    for number in 0..num_files {
        env.write(&format!("bad/{number}.pdf"), "%PDF-1.4\nnothing\n");
    }
    let client = Client::start_silent(&env, "", &["--allow-write"]);
    (env, client)
}

#[test]
fn warnings_reach_the_client_as_messages_of_the_level_that_it_wants() {
    let (env, mut client) = with_broken_files(0);
    let greeting = client.greet_as(json!({}));
    assert!(greeting["capabilities"]["logging"].is_object(), "{greeting}");
    let sent = messages(&env, &mut client, &json!({}));
    assert!(!sent.is_empty(), "warnings are sent until the client says otherwise");
    for message in &sent {
        let expected = (&json!("warning"), &json!("kb"));
        assert_eq!((&message["level"], &message["logger"]), expected, "{message}");
    }
    let text = sent[0]["data"].as_str().unwrap();
    assert!(text.contains("0.pdf") && !text.contains('\n'), "{text}");
    let answer = client.request("logging/setLevel", json!({ "level": "error" }));
    assert_eq!(answer["result"], json!({}));
    assert_eq!(messages(&env, &mut client, &json!({})), [] as [Value; 0]);
    client.request("logging/setLevel", json!({ "level": "debug" }));
    assert!(!messages(&env, &mut client, &json!({})).is_empty());
    let wrong = client.request("logging/setLevel", json!({ "level": "loud" }));
    assert!(wrong["error"]["code"].is_number(), "{wrong}");
}

#[test]
fn messages_of_one_call_are_limited() {
    let (env, mut client) = with_broken_files(120);
    client.greet_as(json!({}));
    let sent = messages(&env, &mut client, &json!({}));
    assert_eq!(sent.len(), 101);
    assert_eq!(sent[100]["data"], "further messages of this call are left out");
}

#[test]
fn clients_of_the_protocol_without_sessions_ask_for_messages_with_each_request() {
    let (env, mut client) = with_broken_files(0);
    let meta = |extra: Value| {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
        });
        meta.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        meta
    };
    // They can also not be asked where they work.
    assert_eq!(messages(&env, &mut client, &meta(json!({}))), [] as [Value; 0]);
    let wanted = meta(json!({ "io.modelcontextprotocol/logLevel": "warning" }));
    assert!(!messages(&env, &mut client, &wanted).is_empty());
}
