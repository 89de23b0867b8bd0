//! Speaks to `kb mcp` line by line, so that tests can also send malformed messages.

#![expect(clippy::needless_pass_by_value, reason = "calls read better with json! in place")]

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::patience::{PATIENCE, status_of};
use crate::printed_paths::{as_written, written};

/// A running server and the lines it writes.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    next_id: u64,
    /// The home of the server, if a variable of Windows names it.
    home: Option<PathBuf>,
}

impl Client {
    /// Starts the server in a directory below the home, and greets it.
    pub(crate) fn start(env: &TestEnv, dir: &str, args: &[&str]) -> Self {
        let mut client = Self::start_silent(env, dir, args);
        client.greet();
        client
    }

    /// Greets the server.
    pub(crate) fn greet(&mut self) {
        self.greet_as(json!({}));
    }

    /// Greets the server as a client that can do something, and returns what the server says of itself.
    pub(crate) fn greet_as(&mut self, capabilities: Value) -> Value {
        let greeting = self.request(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": capabilities,
                "clientInfo": { "name": "test", "version": "1" },
            }),
        );
        assert_eq!(greeting["result"]["serverInfo"]["name"], "kb", "{greeting}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        greeting["result"].clone()
    }

    /// Starts the server without the handshake.
    pub(crate) fn start_silent(env: &TestEnv, dir: &str, args: &[&str]) -> Self {
        // The sample documents come without skills.
        let is_default = !args.iter().any(|arg| arg.starts_with("--tools"));
        let all: &[&str] = if is_default { &["mcp", "--tools=all"] } else { &["mcp"] };
        let mut command = env.command(&[all, args].concat());
        command.current_dir(env.path(dir));
        Self::over(command)
    }

    /// Starts a prepared server without the handshake.
    pub(crate) fn over(mut command: Command) -> Self {
        let mut variables = command.get_envs();
        let home = variables.find(|(name, _)| *name == "USERPROFILE").and_then(|(_, home)| home);
        let home = home.map(|home| written(home.as_ref()));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next_id: 1, home }
    }

    /// Writes a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Writes a line, valid or not.
    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Writes a request and returns its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message);
        id
    }

    /// Reads the next message; every line of stdout is one.
    pub(crate) fn receive(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer in time");
        let line = as_written(line, self.home.as_deref().as_slice());
        let message: Value = serde_json::from_str(&line).expect("every line is a message");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    /// Reads up to the answer to a request.
    pub(crate) fn answer_to(&self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Sends a request and waits for the answer.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer_to(id)
    }

    /// Calls a tool for all data and returns its envelope, which is present as text and as structure.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, mut arguments: Value) -> Value {
        if let Some(arguments) = arguments.as_object_mut() {
            arguments.insert("detail".into(), "full".into());
        }
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        envelope(&answer)
    }

    /// Calls a tool, requires success and returns its data.
    #[track_caller]
    pub(crate) fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let mut envelope = self.call(tool, arguments);
        assert_eq!(envelope["ok"], true, "{tool}: {envelope}");
        envelope["data"].take()
    }

    /// Calls a tool as agents do, requires success and returns the text.
    #[track_caller]
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{tool}: {answer}");
        assert!(tool == "skill_list" || result["structuredContent"].is_null(), "{answer}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes stdin, waits for the end and returns the status.
    #[track_caller]
    pub(crate) fn close(mut self) -> ExitStatus {
        drop(self.stdin.take());
        status_of(&mut self.child)
    }

    /// Returns the resident memory of the server in KiB; `None` if the system does not report it.
    pub(crate) fn memory_kib(&self) -> Option<u64> {
        self.state_of("VmRSS:")
    }

    /// Returns the number of threads of the server; `None` if the system does not report it.
    pub(crate) fn num_threads(&self) -> Option<u64> {
        self.state_of("Threads:")
    }

    fn state_of(&self, name: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the envelope of an answer to a call.
#[track_caller]
pub(crate) fn envelope(answer: &Value) -> Value {
    let result = &answer["result"];
    let envelope = result["structuredContent"].clone();
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), envelope);
    assert_eq!(result["isError"], envelope["ok"] == false, "{answer}");
    envelope
}
