//! Serves a model's files from an HTTP server on the loopback interface that speaks the hub's file
//! interface.
//!
//! Small files are sent at once, with git's hash as etag. Weights are redirected to another path,
//! with their SHA-256 as etag, as large files are on the hub. Tests switch on faults one by one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use sha2::{Digest, Sha256};

/// The first revision of all files.
pub(crate) const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";

/// Faults that can be switched on for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection ends half-way, every time.
    CutShort,
    /// As [`Fault::CutShort`], but only the next time.
    CutShortOnce,
    /// As [`Fault::CutShort`], but the client is not told that bytes are missing.
    CutShortSilently,
    /// One byte differs from what the etag says.
    Corrupted,
    /// The file does not exist.
    Absent,
}

/// A hub with one model; it stops when dropped.
pub(crate) struct Hub {
    /// The value for `HF_ENDPOINT`.
    pub(crate) endpoint: String,
    state: Arc<Mutex<State>>,
}

struct State {
    hub_id: String,
    /// The files of each revision; the last one is the current one.
    revisions: Vec<(String, BTreeMap<String, Vec<u8>>)>,
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
            revisions: vec![(REVISION.to_owned(), files)],
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
                // Some tests are about clients that leave early.
                thread::spawn(move || answer(stream, &shared, &base).unwrap_or(()));
            }
        });
        Self { endpoint, state }
    }

    /// Adds a revision, which is the current one from now on.
    pub(crate) fn commit(&self, revision: &str, files: BTreeMap<String, Vec<u8>>) {
        self.state.lock().unwrap().revisions.push((revision.to_owned(), files));
    }

    /// Switches on `fault` for a file; `None` switches it off.
    pub(crate) fn set_fault(&self, file: &str, fault: Option<Fault>) {
        let mut state = self.state.lock().unwrap();
        match fault {
            Some(fault) => state.faults.insert(file.to_owned(), fault),
            None => state.faults.remove(file),
        };
    }

    /// Returns how often the bytes of a file were requested. A request for its first byte only asks
    /// for its size.
    pub(crate) fn num_asked(&self, file: &str) -> usize {
        let state = self.state.lock().unwrap();
        let place = if is_large(file) { "/blobs/" } else { "/resolve/" };
        let requested = format!("/{file} ");
        let is_for_bytes = |request: &&String| {
            request.contains(place) && request.contains(&requested) && !request.ends_with(" 0-0")
        };
        state.requests.iter().filter(is_for_bytes).count()
    }

    /// Returns the requests since the last call: path and range.
    pub(crate) fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.state.lock().unwrap().is_closed = true;
        // Wakes the thread that waits for a client; the port closes when it ends.
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
        let requested = format!("{path} {}", range.as_deref().unwrap_or("all"));
        state.requests.push(requested);
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

/// Whether the hub stores a file with the large ones.
fn is_large(name: &str) -> bool {
    !name.ends_with(".json")
}

fn reply(state: &mut State, path: &str, range: Option<&str>, base: &str) -> Reply {
    let about = format!("/api/models/{}", state.hub_id);
    let current = state.revisions.last().unwrap().0.clone();
    let resolved = format!("/{}/resolve/", state.hub_id);
    let (revision, name) = if path == about || path.starts_with(&format!("{about}/")) {
        let text = format!(r#"{{"id": "{}", "sha": "{current}", "siblings": []}}"#, state.hub_id);
        let headers = [("Content-Length", text.len().to_string())];
        return Reply::new("200 OK", &headers, text.into());
    } else if let Some(file) = path.strip_prefix("/blobs/").or(path.strip_prefix(&resolved)) {
        let (revision, name) = file.split_once('/').unwrap();
        (if revision == "main" { &current } else { revision }, name)
    } else {
        // The hub gives the same answer for private and missing files.
        return Reply::error("401 Unauthorized", "Invalid username or password.");
    };
    let fault = state.faults.get(name).copied();
    let is_blob = path.starts_with("/blobs/");
    let files = state.revisions.iter().find(|(known, _)| known == revision);
    let content = files.and_then(|(_, files)| files.get(name));
    let Some(content) = content.filter(|_| fault != Some(Fault::Absent)) else {
        return Reply::error("404 Not Found", "Entry not found");
    };
    let is_large = is_large(name);
    let etag: String = if is_large {
        Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
    } else {
        // Replaces git's hash of the file; only its length matters to a client.
        Sha256::digest(content).iter().take(20).map(|byte| format!("{byte:02x}")).collect()
    };
    if is_large && !is_blob {
        let headers = [
            ("Location", format!("{base}/blobs/{revision}/{name}")),
            ("X-Repo-Commit", revision.to_owned()),
            ("X-Linked-Etag", format!("\"{etag}\"")),
            ("X-Linked-Size", content.len().to_string()),
            ("Content-Length", "0".to_owned()),
        ];
        return Reply::new("302 Found", &headers, Vec::new());
    }
    let (first, last) = match range.and_then(|range| range.split_once('-')) {
        Some((first, last)) => (
            first.parse().unwrap(),
            last.parse().unwrap_or(content.len() - 1).min(content.len() - 1),
        ),
        None => (0, content.len() - 1),
    };
    if first > last {
        return Reply::error("416 Range Not Satisfiable", "");
    }
    let mut body = content[first..=last].to_vec();
    let mut headers = vec![
        ("Content-Range", format!("bytes {first}-{last}/{}", content.len())),
        ("X-Repo-Commit", revision.to_owned()),
        ("ETag", format!("\"{etag}\"")),
    ];
    // A request for one byte only asks for size and etag, which are always right.
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
