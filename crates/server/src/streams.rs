//! Checks what arrives on stdin before the protocol library reads it, and writes all lines to stdout.
//!
//! The library ignores a line that is not JSON, so that a client waits for its timeout, and takes a call without a
//! tool's name for an unknown method. Both are answered here, with the codes of JSON-RPC.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::model::ErrorCode;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task;

use crate::limits;

/// Bytes that wait for the protocol library; more wait in the pipe.
const BUFFER_BYTES: usize = 64 * 1024;

/// Both directions of the connection to a client.
pub(super) struct Streams {
    /// Lines that hold JSON.
    pub(super) input: DuplexStream,
    /// Takes lines for the client.
    pub(super) output: LineSender,
    /// Notified when stdin has ended.
    pub(super) ended: oneshot::Receiver<()>,
    /// Ends when everything is written.
    pub(super) writing: task::JoinHandle<()>,
}

/// Starts the tasks that read and write the lines of a connection.
pub(super) fn open(
    stdin: impl AsyncRead + Send + Unpin + 'static,
    mut stdout: impl AsyncWrite + Send + Unpin + 'static,
) -> Streams {
    let (sender, mut lines) = mpsc::unbounded_channel::<Vec<u8>>();
    let (input, forward) = duplex(BUFFER_BYTES);
    let (on_end, ended) = oneshot::channel();
    let output = LineSender { lines: sender.clone(), unfinished: Vec::new() };
    task::spawn(async move {
        admit(stdin, forward, &sender).await;
        // The server may have ended first.
        let _ = on_end.send(());
    });
    let writing = task::spawn(async move {
        while let Some(line) = lines.recv().await {
            if stdout.write_all(&line).await.is_err() || stdout.flush().await.is_err() {
                // The client has closed it.
                break;
            }
        }
    });
    Streams { input, output, ended, writing }
}

/// Forwards the lines that the library can read and answers the others, until stdin ends.
async fn admit(
    stdin: impl AsyncRead + Unpin,
    mut forward: DuplexStream,
    answers: &mpsc::UnboundedSender<Vec<u8>>,
) {
    let mut input = BufReader::new(stdin);
    let mut line = Vec::new();
    while let Ok(Some(is_complete)) = read_line(&mut input, &mut line).await {
        let refusal = if is_complete { refusal(&line) } else { Some(too_long()) };
        match refusal {
            None if forward.write_all(&line).await.is_err() => return,
            None => {}
            Some(answer) => {
                // The client may be gone.
                let _ = answers.send(format!("{answer}\n").into_bytes());
            }
        }
    }
}

/// Reads a line with its end. Returns whether it is complete, or `None` at the end of the input. A line that is too
/// long is dropped while it arrives, so it needs no memory.
async fn read_line(
    input: &mut (impl AsyncBufReadExt + Unpin),
    line: &mut Vec<u8>,
) -> io::Result<Option<bool>> {
    line.clear();
    let mut is_complete = true;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok(None);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        is_complete &= line.len() + taken <= limits::MCP_MESSAGE_BYTES;
        if is_complete {
            line.extend_from_slice(&available[..taken]);
        } else {
            line.clear();
        }
        input.consume(taken);
        if end.is_some() {
            return Ok(Some(is_complete));
        }
    }
}

/// Returns the answer to a message that the library would not answer properly.
fn refusal(line: &[u8]) -> Option<Value> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => {
            let reason = format!("parse error: {error}");
            return Some(error_message(&Value::Null, ErrorCode::PARSE_ERROR, &reason));
        }
    };
    if message["method"] != "tools/call" || message["id"].is_null() {
        return None;
    }
    let (name, arguments) = (&message["params"]["name"], &message["params"]["arguments"]);
    let reason = match (name.is_string(), arguments) {
        (false, _) => "params.name is not the name of a tool",
        (true, Value::Object(_) | Value::Null) => return None,
        (true, _) => "params.arguments is not an object",
    };
    Some(error_message(&message["id"], ErrorCode::INVALID_PARAMS, reason))
}

fn too_long() -> Value {
    let reason = format!("the message is longer than {} bytes", limits::MCP_MESSAGE_BYTES);
    error_message(&Value::Null, ErrorCode::INVALID_REQUEST, &reason)
}

fn error_message(id: &Value, code: ErrorCode, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code.0, "message": message } })
}

/// Passes complete lines to the task that writes them.
pub(super) struct LineSender {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    unfinished: Vec<u8>,
}

impl AsyncWrite for LineSender {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.unfinished.extend_from_slice(bytes);
        if let Some(end) = self.unfinished.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.unfinished.split_off(end + 1);
            let lines = std::mem::replace(&mut self.unfinished, rest);
            if self.lines.send(lines).is_err() {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[track_caller]
    fn check(line: impl AsRef<[u8]>, expected: Option<&(i64, Value)>) {
        let found = refusal(line.as_ref());
        let found = found.map(|answer| {
            let code = answer["error"]["code"].as_i64().unwrap();
            (code, answer["id"].clone())
        });
        assert_eq!(found.as_ref(), expected);
    }

    /// Sends bytes to a connection that ends; returns what the library and the client get.
    fn passed(input: &'static [u8]) -> (String, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (stdout, mut client) = duplex(BUFFER_BYTES);
            let mut streams = open(input, stdout);
            let (mut admitted, mut answers) = (String::new(), String::new());
            streams.input.read_to_string(&mut admitted).await.unwrap();
            assert!(streams.ended.await.is_ok());
            drop(streams.output);
            streams.writing.await.unwrap();
            client.read_to_string(&mut answers).await.unwrap();
            (admitted, answers)
        })
    }

    #[test]
    fn complete_lines_reach_the_library_and_refusals_the_client() {
        let (admitted, answers) = passed(b"{\"a\":1}\nno JSON\n\n[2]\nunfinished");
        assert_eq!(admitted, "{\"a\":1}\n\n[2]\n");
        assert_eq!(answers.lines().count(), 1);
        assert!(answers.contains("-32700") && answers.ends_with('\n'));
    }

    #[test]
    fn a_line_over_the_limit_is_dropped_and_the_next_one_is_read() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let longest = limits::MCP_MESSAGE_BYTES;
        let mut bytes = vec![b'x'; longest - 1];
        bytes.push(b'\n');
        bytes.extend(vec![b'y'; longest]);
        bytes.extend(b"\nz\n");
        let lines = runtime.block_on(async {
            let (mut input, mut line, mut lines) = (&bytes[..], Vec::new(), Vec::new());
            while let Some(is_complete) = read_line(&mut input, &mut line).await.unwrap() {
                lines.push((is_complete, line.len()));
            }
            lines
        });
        assert_eq!(lines, [(true, longest), (false, 0), (true, 2)]);
        assert!(too_long().to_string().contains("longer than 16777216 bytes"));
    }

    #[test]
    fn only_complete_lines_are_written() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (lines, mut receiver) = mpsc::unbounded_channel();
            let mut sender = LineSender { lines, unfinished: Vec::new() };
            for part in ["a", "b\nc", "d\ne\n", "f"] {
                sender.write_all(part.as_bytes()).await.unwrap();
            }
            sender.flush().await.unwrap();
            assert_eq!(receiver.recv().await.unwrap(), b"ab\n");
            assert_eq!(receiver.recv().await.unwrap(), b"cd\ne\n");
            assert!(receiver.try_recv().is_err());
            drop(receiver);
            assert!(sender.write_all(b"g\n").await.is_err(), "no one receives it");
        });
    }

    #[test]
    fn a_line_that_is_not_json_is_a_parse_error() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        let lone_surrogate = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}"#;
        for line in ["this is no JSON", r#"{"id":6,}"#, "{", "\"\u{1}\"", &deep, lone_surrogate] {
            check(line, Some(&(-32700, Value::Null)));
        }
        check(b"\"\xff\"", Some(&(-32700, Value::Null)));
    }

    #[test]
    fn a_call_without_a_name_or_with_wrong_arguments_is_refused_under_its_id() {
        check(r#"{"id":1,"method":"tools/call"}"#, Some(&(-32602, 1.into())));
        check(r#"{"id":"a","method":"tools/call","params":{}}"#, Some(&(-32602, "a".into())));
        let call = r#"{"id":1,"method":"tools/call","params":{"name":"x","arguments":[]}}"#;
        check(call, Some(&(-32602, 1.into())));
    }

    #[test]
    fn everything_else_reaches_the_library() {
        check("\r\n", None);
        check(r#"{"id":1,"method":"tools/call","params":{"name":"x"}}"#, None);
        check(r#"{"id":1,"method":"tools/call","params":{"name":"x","arguments":null}}"#, None);
        check(r#"{"method":"tools/call"}"#, None);
        check("[]", None);
    }
}
