//! Runs every call through five stages that none can bypass, and returns its envelope.
//!
//! 1. turn: calls of one tool run one after the other, in the order they arrive; other tools go on
//! 2. validate: the input is checked against the tool's schema before anything else happens
//! 3. audit in: the sink gets tool, number and input
//! 4. dispatch: the tool runs
//! 5. audit out: the sink always gets the duration and the outcome

use std::collections::BTreeMap;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task;

use crate::{AuditSink, Call, Tool, ToolFailure, ToolReply, cancel, validate};

/// The registered tools and the stages that each call passes through.
pub struct ToolDispatcher {
    tools: BTreeMap<String, RegisteredTool>,
    audit: Arc<dyn AuditSink>,
    next_id: AtomicU64,
}

/// The answer to a call.
pub struct ToolCallResponse {
    /// The envelope: `ok`, and `data` or `error`.
    pub envelope: Value,
    /// Whether the envelope is sent as structured content.
    pub has_structure: bool,
    /// The text to send instead of the envelope.
    pub text: Option<String>,
    /// A picture behind the text, as PNG.
    pub image: Option<Vec<u8>>,
}

impl From<Value> for ToolCallResponse {
    fn from(envelope: Value) -> Self {
        Self { envelope, has_structure: true, text: None, image: None }
    }
}

impl From<ToolReply> for ToolCallResponse {
    fn from(reply: ToolReply) -> Self {
        let has_structure = reply.data.is_some();
        let mut envelope = json!({ "ok": true, "data": reply.data });
        if let Some(cursor) = reply.next_cursor {
            envelope["next_cursor"] = cursor.into();
        }
        if !reply.notes.is_empty() {
            envelope["notes"] = reply.notes.into();
        }
        Self { envelope, has_structure, text: reply.text, image: reply.image }
    }
}

struct RegisteredTool {
    tool: Arc<Tool>,
    /// Held while a call of this tool is running; waiting calls get it in order of arrival.
    turn: Mutex<()>,
}

impl ToolDispatcher {
    /// Returns a chain without tools.
    pub fn new(audit: Arc<dyn AuditSink>) -> Self {
        Self { tools: BTreeMap::new(), audit, next_id: AtomicU64::new(1) }
    }

    /// Adds a tool.
    pub fn register(&mut self, tool: Tool) -> Result<(), String> {
        if !is_snake_case(&tool.name) {
            return Err(format!("tool name not in snake_case: {}", tool.name));
        }
        if tool.schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(format!("tool without an input schema: {}", tool.name));
        }
        if self.tools.contains_key(&tool.name) {
            return Err(format!("tool already registered: {}", tool.name));
        }
        let entry = RegisteredTool { tool: Arc::new(tool), turn: Mutex::new(()) };
        self.tools.insert(entry.tool.name.clone(), entry);
        Ok(())
    }

    /// Returns the tools, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(|entry| &*entry.tool)
    }

    /// Whether there is a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Answers a call; `None` if there is no such tool.
    pub async fn call(&self, name: &str, input: Value, call: Call) -> Option<ToolCallResponse> {
        let entry = self.tools.get(name)?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (tool, audit) = (Arc::clone(&entry.tool), Arc::clone(&self.audit));
        let _turn = entry.turn.lock().await;
        let answer = task::spawn_blocking(move || {
            let start = Instant::now();
            let answer = match validate::validate(&tool.schema, input) {
                Ok(_) if call.is_cancelled() => failed(&crash("cancelled")).into(),
                Ok(input) => {
                    audit.enter(&tool.name, id, &input);
                    dispatch(&tool, input, &call)
                }
                Err(issues) => refused(&issues).into(),
            };
            audit.exit(&tool.name, id, start.elapsed(), &answer.envelope);
            answer
        });
        Some(answer.await.unwrap_or_else(|error| failed(&crash(&error.to_string())).into()))
    }
}

fn is_snake_case(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|letter| matches!(letter, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

/// Runs a tool. A panic is a failure of this call; the next call finds the server unchanged.
fn dispatch(tool: &Tool, input: Value, call: &Call) -> ToolCallResponse {
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        cancel::under(call.cancel_flag(), || (tool.handler)(input, call))
    }));
    match outcome {
        Ok(Ok(reply)) => reply.into(),
        Ok(Err(failure)) => failed(&failure).into(),
        Err(_) => failed(&crash("the tool panicked")).into(),
    }
}

fn refused(issues: &Value) -> Value {
    json!({ "ok": false, "error": {
        "code": "INVALID_PARAMS",
        "message": "schema validation failed",
        "details": { "issues": issues },
    } })
}

fn failed(failure: &ToolFailure) -> Value {
    json!({ "ok": false, "error": {
        "code": "HANDLER_ERROR",
        "message": failure.message,
        "details": { "code": failure.code, "fix": failure.fix },
    } })
}

fn crash(message: &str) -> ToolFailure {
    ToolFailure { message: message.to_owned(), code: "internal".into(), fix: None }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as StdMutex;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::{Handler, NoAudit, Schema, ToolEffect};

    /// Longest wait for a chain that never gets there.
    const PATIENCE: Duration = Duration::from_secs(120);

    fn schema() -> Schema {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        schema.as_object().unwrap().clone()
    }

    fn tool(name: &str, handler: Box<Handler>) -> Tool {
        Tool {
            name: name.to_owned(),
            title: String::new(),
            description: String::new(),
            schema: schema(),
            effect: ToolEffect::Reads,
            handler,
        }
    }

    fn call() -> Call {
        Call::new(Arc::new(|_| {}))
    }

    /// Runs a future on a runtime like the server's.
    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
    }

    /// Records what the sink receives.
    #[derive(Default)]
    struct Recorder(StdMutex<Vec<String>>);

    impl AuditSink for Recorder {
        fn enter(&self, tool: &str, id: u64, input: &Value) {
            self.0.lock().unwrap().push(format!("enter {tool} {id} {input}"));
        }

        fn exit(&self, tool: &str, id: u64, _: Duration, envelope: &Value) {
            self.0.lock().unwrap().push(format!("exit {tool} {id} {}", envelope["ok"]));
        }
    }

    fn chain(audit: Arc<dyn AuditSink>) -> ToolDispatcher {
        let mut chain = ToolDispatcher::new(audit);
        let failure =
            || ToolFailure { message: "no".into(), code: "word".into(), fix: Some("do".into()) };
        chain.register(tool("echo", Box::new(|input, _| Ok(input.into())))).unwrap();
        chain.register(tool("fail", Box::new(move |_, _| Err(failure())))).unwrap();
        chain.register(tool("panic", Box::new(|_, _| panic!("on purpose")))).unwrap();
        chain
    }

    #[test]
    fn a_name_is_registered_once_in_snake_case_and_with_a_schema() {
        let mut chain = chain(Arc::new(NoAudit));
        let again = chain.register(tool("echo", Box::new(|input, _| Ok(input.into()))));
        assert_eq!(again, Err("tool already registered: echo".into()));
        assert!(chain.register(tool("Not-Snake", Box::new(|input, _| Ok(input.into())))).is_err());
        let bare =
            Tool { schema: Schema::new(), ..tool("bare", Box::new(|input, _| Ok(input.into()))) };
        assert_eq!(chain.register(bare), Err("tool without an input schema: bare".into()));
    }

    #[test]
    fn every_call_returns_an_envelope() {
        let chain = chain(Arc::new(NoAudit));
        let answer = |name: &str, input| {
            block_on(chain.call(name, input, call())).map(|answer| answer.envelope)
        };
        let expected = json!({ "ok": true, "data": { "n": 1 } });
        assert_eq!(answer("echo", json!({ "n": 1 })), Some(expected));
        let issues = json!([{ "path": "n", "message": "integer expected" }]);
        let expected = json!({ "ok": false, "error": {
            "code": "INVALID_PARAMS", "message": "schema validation failed",
            "details": { "issues": issues },
        } });
        assert_eq!(answer("echo", json!({ "n": "one" })), Some(expected));
        let expected = json!({ "ok": false, "error": {
            "code": "HANDLER_ERROR", "message": "no", "details": { "code": "word", "fix": "do" },
        } });
        assert_eq!(answer("fail", json!({})), Some(expected));
        assert_eq!(answer("panic", json!({})).unwrap()["error"]["message"], "the tool panicked");
        assert_eq!(answer("panic", json!({})).unwrap()["ok"], false);
        assert_eq!(answer("nothing", json!({})), None);
    }

    #[test]
    fn the_sink_receives_the_start_of_valid_calls_and_the_end_of_all() {
        let records = Arc::new(Recorder::default());
        let chain = chain(Arc::clone(&records) as Arc<dyn AuditSink>);
        for (name, input) in
            [("echo", json!({ "n": 1 })), ("echo", json!({ "m": 1 })), ("fail", json!({}))]
        {
            block_on(chain.call(name, input, call()));
        }
        let expected = [
            "enter echo 1 {\"n\":1}", "exit echo 1 true", "exit echo 2 false", "enter fail 3 {}",
            "exit fail 3 false",
        ];
        assert_eq!(*records.0.lock().unwrap(), expected);
    }

    #[test]
    fn calls_of_one_tool_take_turns_and_other_tools_go_on() {
        let records = Arc::new(Recorder::default());
        let mut chain = ToolDispatcher::new(Arc::clone(&records) as Arc<dyn AuditSink>);
        // Works until the other tool has answered.
        let seen = Arc::clone(&records);
        let slow = move |_: Value, _: &Call| {
            let start = Instant::now();
            let is_quick = |record: &String| record.starts_with("exit quick");
            while !seen.0.lock().unwrap().iter().any(is_quick) && start.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(1));
            }
            Ok(Value::Null.into())
        };
        chain.register(tool("slow", Box::new(slow))).unwrap();
        chain.register(tool("quick", Box::new(|input, _| Ok(input.into())))).unwrap();
        block_on(async {
            let both = async {
                tokio::join!(
                    chain.call("slow", json!({}), call()),
                    chain.call("slow", json!({}), call())
                )
            };
            tokio::join!(both, chain.call("quick", json!({}), call()))
        });
        let records = records.0.lock().unwrap();
        let at =
            |wanted: &str| records.iter().position(|record| record.starts_with(wanted)).unwrap();
        assert!(at("exit slow 1") < at("enter slow 2"), "{records:?}");
        assert!(at("exit quick") < at("exit slow 1"), "{records:?}");
    }
}
