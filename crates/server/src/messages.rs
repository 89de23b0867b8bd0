//! Checks each message before the protocol library reads it.
//!
//! The library ignores a line that is not JSON, so that a client waits for its timeout. It answers an invalid request
//! without its id, and takes a method with wrong parameters for an unknown one. These get the answers of JSON-RPC here.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcRequest};
use serde_json::{Value, json};

use crate::limits;
use crate::validate::is_of;

const CURSOR: &[&str] = &["cursor?: string"];
const URI: &[&str] = &["uri: string"];

/// The parameters of the methods that have some: name, with `?` if it is optional, and type.
const METHODS: &[(&str, &[&str])] = &[
    ("initialize", &["protocolVersion: string", "capabilities: object", "clientInfo: object"]),
    ("tools/call", &["name: string", "arguments?: object"]),
    ("tools/list", CURSOR),
    ("resources/list", CURSOR),
    ("resources/templates/list", CURSOR),
    ("resources/read", URI),
    ("resources/directory/read", URI),
    ("skills/list", CURSOR),
    ("skills/get", URI),
    ("logging/setLevel", &["level: string"]),
    ("prompts/list", CURSOR),
    ("prompts/get", &["name: string"]),
    ("completion/complete", &["ref: object", "argument: object"]),
];

/// The way in which a line is handled.
#[derive(Debug, PartialEq)]
pub(super) enum MessageUse {
    /// The library reads it.
    Pass,
    /// No one does: no answer to it is allowed.
    Drop,
    /// It gets this answer.
    Refuse(Value),
}

pub(super) fn judge(line: &[u8]) -> MessageUse {
    if line.trim_ascii().is_empty() {
        return MessageUse::Pass;
    }
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => {
            let reason = format!("parse error: {error}");
            return MessageUse::Refuse(refusal(&Value::Null, ErrorCode::PARSE_ERROR, &reason));
        }
    };
    let id = &message["id"];
    let id = if is_of(id, "string") || is_of(id, "integer") { id } else { &Value::Null };
    match serde_json::from_slice(line) {
        Ok(ClientJsonRpcMessage::Request(JsonRpcRequest { request, .. })) => {
            match params_fault(&message, &request) {
                Some(reason) => MessageUse::Refuse(refusal(id, ErrorCode::INVALID_PARAMS, &reason)),
                None => MessageUse::Pass,
            }
        }
        Ok(_) => MessageUse::Pass,
        Err(_) if is_unanswered(&message) => MessageUse::Drop,
        Err(_) => MessageUse::Refuse(refusal(id, ErrorCode::INVALID_REQUEST, invalid(&message))),
    }
}

/// Returns what is wrong with the parameters of a request for one of [`METHODS`].
fn params_fault(message: &Value, request: &ClientRequest) -> Option<String> {
    let (name, parameters) = METHODS.iter().find(|(name, _)| message["method"] == *name)?;
    let wrong = parameters.iter().find_map(|parameter| wrong(&message["params"], parameter));
    wrong.or_else(|| {
        let is_unread = matches!(request, ClientRequest::CustomRequest(_));
        is_unread.then(|| format!("the params of {name} are {}", parameters.join(", ")))
    })
}

/// Whether a message is a notification or an answer, which get none.
fn is_unanswered(message: &Value) -> bool {
    let is_answer = message.get("result").is_some() || message.get("error").is_some();
    is_answer || message["method"].is_string() && message.get("id").is_none()
}

/// Returns what is wrong with a parameter.
fn wrong(params: &Value, parameter: &str) -> Option<String> {
    let (name, form) = parameter.split_once(": ")?;
    let (name, is_required) = (name.trim_end_matches('?'), !name.ends_with('?'));
    match &params[name] {
        Value::Null => is_required.then(|| format!("params.{name} is missing")),
        value => (!is_of(value, form)).then(|| format!("params.{name} is not of type {form}")),
    }
}

/// Returns what is wrong with a message.
fn invalid(message: &Value) -> &'static str {
    match message {
        Value::Array(_) => "batches are not supported",
        _ if message["jsonrpc"] != "2.0" => "jsonrpc is not \"2.0\"",
        _ if is_other(&message["method"], "string") => "method is not a string",
        _ if is_other(&message["params"], "object") => "params is not an object",
        _ if is_other(&message["params"]["_meta"], "object") => "params._meta is not an object",
        _ => "neither a request nor a notification nor an answer",
    }
}

/// Whether a value exists, but has another type of JSON Schema.
fn is_other(value: &Value, form: &str) -> bool {
    !value.is_null() && !is_of(value, form)
}

/// Returns the answer to a message that is too long.
pub(super) fn too_long() -> Value {
    let reason = format!("the message is longer than {} bytes", limits::MCP_MESSAGE_BYTES);
    refusal(&Value::Null, ErrorCode::INVALID_REQUEST, &reason)
}

fn refusal(id: &Value, code: ErrorCode, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code.0, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the code, the id and a part of the message of a refusal.
    #[track_caller]
    fn refused(line: impl AsRef<[u8]>, code: i64, id: impl Into<Value>, part: &str) {
        let verdict = judge(line.as_ref());
        let MessageUse::Refuse(answer) = &verdict else { panic!("{verdict:?}") };
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&code.into(), &id.into()));
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{answer}");
    }

    /// Checks what is wrong with the parameters of a request.
    #[track_caller]
    fn misses(method: &str, params: &Value, part: &str) {
        let request = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
        refused(request.to_string(), -32602, "a", part);
    }

    #[test]
    fn a_line_that_is_not_json_is_a_parse_error() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        let lone_surrogate = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}"#;
        for line in ["this is no JSON", r#"{"id":6,}"#, "{", "\"\u{1}\"", &deep, lone_surrogate] {
            refused(line, -32700, Value::Null, "parse error");
        }
        refused(b"\"\xff\"", -32700, Value::Null, "parse error");
    }

    #[test]
    fn wrong_parameters_of_a_known_method_are_named() {
        for (method, params, part) in [
            ("tools/call", json!({}), "params.name is missing"),
            ("tools/call", json!({ "name": "x", "arguments": [] }), "params.arguments is not"),
            ("tools/list", json!({ "cursor": 5 }), "params.cursor is not of type string"),
            ("resources/read", json!({}), "params.uri is missing"),
            ("resources/read", json!({ "uri": 5 }), "params.uri is not of type string"),
            ("resources/directory/read", json!({}), "params.uri is missing"),
            ("skills/get", json!({ "name": "x" }), "params.uri is missing"),
            (
                "logging/setLevel",
                json!({ "level": "loud" }),
                "params of logging/setLevel are level:",
            ),
            ("logging/setLevel", json!({ "level": 5 }), "params.level is not of type string"),
            ("prompts/get", json!({}), "params.name is missing"),
            ("completion/complete", json!({}), "params.ref is missing"),
            ("initialize", json!({}), "params.protocolVersion is missing"),
        ] {
            misses(method, &params, part);
        }
        let client = json!({ "protocolVersion": "1", "capabilities": {}, "clientInfo": {} });
        misses("initialize", &client, "are protocolVersion: string, capabilities");
        refused(r#"{"jsonrpc":"2.0","id":1,"method":"skills/get"}"#, -32602, 1, "params.uri");
    }

    #[test]
    fn an_invalid_request_is_refused_under_its_id() {
        for (line, id, part) in [
            (
                r#"{"jsonrpc":"2.0","id":901,"method":"tools/list","params":[]}"#,
                json!(901),
                "params is",
            ),
            (
                r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x","_meta":5}}"#,
                json!(9),
                "_meta",
            ),
            (r#"{"id":12,"method":"tools/list"}"#, json!(12), "jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, json!("a"), "method"),
            (r#"{"jsonrpc":"2.0","id":3,"method":"ping","method":"ping"}"#, json!(3), "neither"),
            (r#"{"jsonrpc":"2.0","id":[]}"#, Value::Null, "neither"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null, "neither"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null, "batches"),
            ("5", Value::Null, "jsonrpc"),
        ] {
            refused(line, -32600, id, part);
        }
        assert_eq!(too_long()["id"], Value::Null);
    }

    #[test]
    fn no_answer_is_given_to_a_notification_or_an_answer() {
        for line in [
            r#"{"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":{},"result":{}}"#,
        ] {
            assert_eq!(judge(line.as_bytes()), MessageUse::Drop, "{line}");
        }
    }

    #[test]
    fn everything_else_reaches_the_library() {
        for line in [
            "\r\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":null}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"emergency"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such/method","params":{"uri":5}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ] {
            assert_eq!(judge(line.as_bytes()), MessageUse::Pass, "{line}");
        }
    }
}
