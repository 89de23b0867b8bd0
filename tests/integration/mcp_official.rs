//! Drives `kb mcp` with the official clients of the Model Context Protocol: the Python SDK and the
//! inspector. `tests/mcp/setup` installs them; tests of missing clients are skipped.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::left_out::left_out;
use crate::mcp::{names, write_many};
use crate::patience::comes_true;
use crate::skills::{GUIDE, Skills};
use crate::tool_table::{self, SAMPLE, ToolCall};

/// Returns where a client is, or prints that its test is skipped.
fn installed(name: &str, what: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/mcp-clients").join(name);
    if !dir.join("ready").exists() {
        let missing = match (name, dir.exists()) {
            ("python", _) => "client",
            (_, true) => "inspector",
            (_, false) => "node",
        };
        left_out(missing, what);
        return None;
    }
    Some(dir)
}

/// Makes a home with the sample documents, a built skill, a page and many more pages.
fn home() -> Skills {
    // Adding many pages is cancelled; with the small model the cancellation would come too late.
    let skills = Skills { env: TestEnv::real_with_corpus() };
    skills.write("SKILL.md", GUIDE);
    skills.write("ferry.txt", "The ferry leaves at nine.\n");
    skills.run(&["build", "tide-guide"]).expect(0);
    skills.env.write("project/ferry.md", "# Ferry\n\nThe last boat leaves at ten.\n");
    write_many(&skills.env, "project/many");
    skills
}

/// Gives a client the environment of the server that it starts.
fn as_server(env: &TestEnv, command: &mut Command) {
    command.current_dir(env.path("project"));
    for (name, value) in env.command(&["mcp"]).get_envs() {
        // The client itself is looked for on the user's `PATH`.
        if let (Some(value), true) = (value, name != "PATH") {
            command.env(name, value);
        }
    }
}

#[test]
fn the_python_client_lists_and_calls_every_tool_cancels_and_quits_midway() {
    let Some(venv) = installed("python", "the official Python client") else { return };
    let skills = home();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
    let mut command = Command::new(venv.join("bin/python"));
    let calls = |names: &[&str]| -> Value {
        let calls = tool_table::all().filter(|call| names.contains(&call.name));
        Value::Object(calls.map(|call| (call.name.to_owned(), call.arguments(SAMPLE))).collect())
    };
    let (reading, writing) = (tool_table::reading(), tool_table::writing());
    command.arg(script).arg(env!("CARGO_BIN_EXE_kb"));
    command.args([calls(&reading).to_string(), calls(&writing).to_string()]);
    as_server(&skills.env, &mut command);
    let output = skills.env.finish(&mut command).expect(0);
    let report = output.json();
    let mut all = [reading, writing].concat();
    assert_eq!(report["called"], json!(all), "{}", output.text());
    all.sort_unstable();
    assert_eq!(report["listed"], json!(all));
    assert_eq!(report["failed"], json!([]), "{}", output.text());
    assert_eq!((&report["concurrent"], &report["resources"]), (&json!(16), &json!(9)));
    assert_eq!(report["unknown_tool"], true);
    assert_eq!(report["wrong_input"], "INVALID_PARAMS");
    let added = report["added_before_cancel"].as_u64().unwrap();
    assert!((1..200).contains(&added), "{added}");
    // The server ends by itself, or is stopped by the client on a very busy machine.
    assert!(report["closed_after_s"].as_f64().unwrap() < 20.0, "{report}");
    let documents = skills.env.json(&["list", "--format=json"]);
    let num_documents = documents.as_array().unwrap().len() as u64;
    // Documents committed before the cancel or before the end remain; the others were not added.
    assert!((added..200).contains(&num_documents), "{num_documents}: {report}");
    skills.env.ok(&["search", "ferry"]);
}

/// Returns the arguments of a call as words of the inspector.
fn in_words(call: &ToolCall) -> Vec<String> {
    let arguments = call.arguments(SAMPLE);
    let words = arguments.as_object().unwrap().iter();
    words
        .map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{name}={value}")
        })
        .collect()
}

/// The inspector's command line and the server it starts.
struct Inspector {
    program: PathBuf,
    skills: Skills,
}

impl Inspector {
    /// Prepares a run with a server that records its process id.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--cli").arg(self.skills.env.path("server")).args(args);
        as_server(&self.skills.env, &mut command);
        command
    }

    fn call(tool: &str, arguments: &[&str]) -> Vec<String> {
        let mut args: Vec<String> =
            ["--method", "tools/call", "--tool-name", tool].map(str::to_owned).into();
        // The last option takes all following words, but all versions accept it with one word each.
        args.extend(
            arguments
                .iter()
                .chain(&["detail=full"])
                .flat_map(|argument| ["--tool-arg".to_owned(), (*argument).to_owned()]),
        );
        args
    }

    /// Calls a tool and returns the printed result; failures are also printed.
    fn result(&self, tool: &str, arguments: &[&str]) -> Value {
        let args = Self::call(tool, arguments);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = self.skills.env.finish(&mut self.command(&args));
        serde_json::from_str(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", output.text()))
    }

    /// Starts a run and waits until the server has added something.
    fn start_adding(&self) -> Child {
        let args = Self::call("kb_add", &["paths=[\"many\"]"]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = self.command(&args);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let env = &self.skills.env;
        assert!(comes_true(|| env.sql::<i64>("SELECT count(*) FROM documents") > 12));
        child
    }
}

#[test]
fn the_inspector_lists_and_calls_every_tool_in_parallel_and_is_stopped_midway() {
    let Some(dir) = installed("node", "the official inspector") else { return };
    let inspector =
        Inspector { program: dir.join("node_modules/.bin/mcp-inspector"), skills: home() };
    let env = &inspector.skills.env;
    let server = env.path("server");
    let script = format!(
        "#!/bin/sh\necho $$ >\"$HOME/server.pid\"\nexec '{}' mcp --allow-write\n",
        env!("CARGO_BIN_EXE_kb")
    );
    fs::write(&server, script).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();

    let listed = env.finish(&mut inspector.command(&["--method", "tools/list"])).json();
    let expected = tool_table::all().map(|call| call.name.to_owned()).collect();
    assert_eq!(names(listed["tools"].as_array().unwrap()), expected);
    // Each call starts a client and a server; four at a time share the database.
    let left = Mutex::new(tool_table::all());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(call) = { left.lock().unwrap().next() } {
                    let (tool, words) = (call.name, in_words(&call));
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    let result = inspector.result(tool, &words);
                    assert_eq!(result["structuredContent"]["ok"], true, "{tool}: {result}");
                }
            });
        }
    });
    let data = &inspector.result("kb_search", &["query=frozen gauge"])["structuredContent"]["data"];
    // Node writes 1 where other programs write 1.0.
    assert_eq!(with_floats(data), with_floats(&env.json(&["search", "frozen gauge"])));
    let wrong = inspector.result("kb_search", &["limt=3"]);
    assert_eq!(wrong["structuredContent"]["error"]["code"], "INVALID_PARAMS", "{wrong}");
    let args = ["--method", "tools/call", "--tool-name", "no_such_tool"];
    let unknown = env.finish(&mut inspector.command(&args));
    assert!(unknown.status != 0 && unknown.stderr.contains("no_such_tool"), "{}", unknown.text());

    // A client that is killed in the middle ends its server, and committed documents remain.
    let mut client = inspector.start_adding();
    let pid = fs::read_to_string(env.path("server.pid")).unwrap();
    let inspector = rustix::process::Pid::from_child(&client);
    rustix::process::kill_process(inspector, rustix::process::Signal::INT).unwrap();
    client.wait().unwrap();
    let process = Path::new("/proc").join(pid.trim());
    if Path::new("/proc/self").exists() {
        assert!(comes_true(|| !process.exists()));
    }
    // How many were added depends on how soon the cancellation arrived.
    let documents = env.json(&["list", "--format=json"]);
    assert!(documents.as_array().unwrap().len() > 12);
}

/// Returns a value with every number as a float.
fn with_floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(with_floats).collect(),
        Value::Object(entries) => Value::Object(
            entries.iter().map(|(key, entry)| (key.clone(), with_floats(entry))).collect(),
        ),
        other => other.clone(),
    }
}
