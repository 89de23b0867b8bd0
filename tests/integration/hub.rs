//! A model's files in, an HTTP server on the loopback out that speaks the hub's file interface.
//!
//! Small files come at once with git's hash as etag; weights come by a redirect to another path
//! with their SHA-256 as etag, as the hub's large files do. Faults are switched on one by one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use sha2::{Digest, Sha256};

/// The revision all files are of.
pub(crate) const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";

/// What goes wrong with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection ends half-way, however often it is asked for.
    CutShort,
    /// As [`Fault::CutShort`], but only the next time.
    CutShortOnce,
    /// As [`Fault::CutShort`], but nothing tells the client that bytes are missing.
    CutShortSilently,
    /// One byte is another than the etag says.
    Corrupted,
    /// There is no such file.
    Absent,
}

/// A hub with one model; it is gone when dropped.
pub(crate) struct Hub {
    /// What `HF_ENDPOINT` is to be.
    pub(crate) endpoint: String,
    state: Arc<Mutex<State>>,
}

struct State {
    hub_id: String,
    files: BTreeMap<String, Vec<u8>>,
    faults: BTreeMap<String, Fault>,
    requests: Vec<String>,
    is_closed: bool,
}

impl Hub {
    /// Serves `files` as the model `hub_id`.
    pub(crate) fn serve(hub_id: &str, files: BTreeMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State {
            hub_id: hub_id.to_owned(),
            files,
            faults: BTreeMap::new(),
            requests: Vec::new(),
            is_closed: false,
        }));
        let (shared, base) = (Arc::clone(&state), endpoint.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.lock().unwrap().is_closed {
                    return;
                }
                let (shared, base) = (Arc::clone(&shared), base.clone());
                // A client that leaves is what some tests are about.
                thread::spawn(move || answer(stream, &shared, &base).unwrap_or(()));
            }
        });
        Self { endpoint, state }
    }

    /// Makes `fault` happen to a file from now on; `None` mends it.
    pub(crate) fn set_fault(&self, file: &str, fault: Option<Fault>) {
        let mut state = self.state.lock().unwrap();
        match fault {
            Some(fault) => state.faults.insert(file.to_owned(), fault),
            None => state.faults.remove(file),
        };
    }

    /// How often the bytes of a file were asked for; asking for its first byte is asking its size.
    pub(crate) fn num_asked(&self, file: &str) -> usize {
        let state = self.state.lock().unwrap();
        let place = if is_large(file) { "/blobs" } else { "/resolve/main" };
        let asked = format!("{place}/{file} ");
        let is_whole = |it: &&String| it.contains(&asked) && !it.ends_with(" 0-0");
        state.requests.iter().filter(is_whole).count()
    }

    /// Returns what was asked for since the last call: path and range.
    pub(crate) fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.state.lock().unwrap().is_closed = true;
        // Wakes the thread that waits for a client; the port is closed when it ends.
        let _ = TcpStream::connect(self.endpoint.trim_start_matches("http://"));
    }
}

fn answer(mut stream: TcpStream, state: &Mutex<State>, base: &str) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut range = None;
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("range: bytes=") {
            range = Some(value.to_owned());
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let reply = {
        let mut state = state.lock().unwrap();
        let asked = format!("{path} {}", range.as_deref().unwrap_or("all"));
        state.requests.push(asked);
        reply(&mut state, &path, range.as_deref(), base)
    };
    stream.write_all(reply.head.as_bytes())?;
    stream.write_all(&reply.body)?;
    stream.flush()
}

struct Reply {
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn new(status: &str, headers: &[(&str, String)], body: Vec<u8>) -> Self {
        let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head.push_str("\r\n");
        Self { head, body }
    }

    fn error(status: &str, text: &str) -> Self {
        Self::new(status, &[("Content-Length", text.len().to_string())], text.into())
    }
}

/// Whether the hub keeps a file where large ones are kept.
fn is_large(name: &str) -> bool {
    !name.ends_with(".json")
}

fn reply(state: &mut State, path: &str, range: Option<&str>, base: &str) -> Reply {
    let about = format!("/api/models/{}", state.hub_id);
    let (is_blob, name) = if path == about || path.starts_with(&format!("{about}/")) {
        let text = format!(r#"{{"id": "{}", "sha": "{REVISION}", "siblings": []}}"#, state.hub_id);
        let headers = [("Content-Length", text.len().to_string())];
        return Reply::new("200 OK", &headers, text.into());
    } else if let Some(name) = path.strip_prefix("/blobs/") {
        (true, name)
    } else if let Some(name) = path.strip_prefix(&format!("/{}/resolve/main/", state.hub_id)) {
        (false, name)
    } else {
        // The hub says the same of what is private and of what does not exist.
        return Reply::error("401 Unauthorized", "Invalid username or password.");
    };
    let fault = state.faults.get(name).copied();
    let Some(whole) = state.files.get(name).filter(|_| fault != Some(Fault::Absent)) else {
        return Reply::error("404 Not Found", "Entry not found");
    };
    let is_large = is_large(name);
    let etag: String = if is_large {
        Sha256::digest(whole).iter().map(|it| format!("{it:02x}")).collect()
    } else {
        // Git's hash of the file; only its length matters to a client.
        Sha256::digest(whole).iter().take(20).map(|it| format!("{it:02x}")).collect()
    };
    if is_large && !is_blob {
        let headers = [
            ("Location", format!("{base}/blobs/{name}")),
            ("X-Repo-Commit", REVISION.to_owned()),
            ("X-Linked-Etag", format!("\"{etag}\"")),
            ("X-Linked-Size", whole.len().to_string()),
            ("Content-Length", "0".to_owned()),
        ];
        return Reply::new("302 Found", &headers, Vec::new());
    }
    let (first, last) = match range.and_then(|it| it.split_once('-')) {
        Some((first, last)) => {
            (first.parse().unwrap(), last.parse().unwrap_or(whole.len() - 1).min(whole.len() - 1))
        }
        None => (0, whole.len() - 1),
    };
    if first > last {
        return Reply::error("416 Range Not Satisfiable", "");
    }
    let mut body = whole[first..=last].to_vec();
    let mut headers = vec![
        ("Content-Range", format!("bytes {first}-{last}/{}", whole.len())),
        ("X-Repo-Commit", REVISION.to_owned()),
        ("ETag", format!("\"{etag}\"")),
    ];
    // Asking for one byte is asking for the facts alone: those are always right.
    let fault = fault.filter(|_| body.len() > 1);
    if fault == Some(Fault::CutShortOnce) {
        state.faults.remove(name);
    }
    if fault != Some(Fault::CutShortSilently) {
        headers.push(("Content-Length", body.len().to_string()));
    }
    match fault {
        Some(Fault::CutShort | Fault::CutShortOnce | Fault::CutShortSilently) => {
            body.truncate(body.len().div_ceil(2));
        }
        Some(Fault::Corrupted) => *body.last_mut().unwrap() ^= 1,
        Some(Fault::Absent) | None => {}
    }
    Reply::new("206 Partial Content", &headers, body)
}
