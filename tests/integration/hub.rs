//! Files in, a server that speaks the hub's file interface out.
//!
//! `GET /<id>/resolve/main/<file>` with ranges, `x-repo-commit` and `etag`; `GET /api/models/<id>/…`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};

/// The revision all files are of.
pub(crate) const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";

/// What the server serves and has served.
#[derive(Default)]
pub(crate) struct Hub {
    /// `organisation/name`.
    pub(crate) id: String,
    /// Files by name.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Files whose bytes are not what their etag says.
    pub(crate) damaged: Vec<String>,
    /// How many of the next whole-file answers break off half-way.
    pub(crate) num_breaks: AtomicUsize,
    /// Names of the files that were asked for, each time.
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Hub {
    /// Serves until the process ends; returns the address.
    pub(crate) fn serve(self: &Arc<Self>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let hub = Arc::clone(self);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let hub = Arc::clone(&hub);
                // A client that hangs up early is no concern of the server.
                std::thread::spawn(move || hub.answer(stream).ok());
            }
        });
        address
    }

    /// How often the bytes of a file were asked for; asking for its first byte is asking its size.
    pub(crate) fn num_asked(&self, name: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|it| *it == name).count()
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let request = lines.next().unwrap_or_else(|| Ok(String::new()))?;
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut range = None;
        for line in lines {
            let line = line?.to_lowercase();
            if let Some(value) = line.strip_prefix("range: bytes=") {
                let (first, last) = value.split_once('-').unwrap();
                range = Some((first.parse::<usize>().unwrap(), last.parse::<usize>().ok()));
            }
            if line.is_empty() {
                break;
            }
        }
        if path.starts_with(&format!("/api/models/{}/", self.id)) {
            let body = format!("{{\"sha\": \"{REVISION}\", \"siblings\": []}}");
            let length = body.len();
            return write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
        let name = path.strip_prefix(&format!("/{}/resolve/main/", self.id)).unwrap_or_default();
        let Some(bytes) = self.files.get(name) else {
            return write!(
                stream,
                "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
        };
        let digest = Sha256::digest(bytes);
        let etag: String = digest.iter().map(|it| format!("{it:02x}")).collect();
        // Only large files have their SHA-256 for an etag; others have git's.
        let etag = if name.ends_with(".json") { &etag[..40] } else { &etag };
        let mut bytes = bytes.clone();
        if self.damaged.iter().any(|it| it == name) {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
        }
        let (first, last) = range.unwrap_or((0, None));
        let last = last.unwrap_or(bytes.len() - 1).min(bytes.len() - 1);
        let total = bytes.len();
        if (first, last) != (0, 0) {
            self.asked.lock().unwrap().push(name.to_owned());
        }
        write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nx-repo-commit: {REVISION}\r\netag: \"{etag}\"\r\n\
             content-range: bytes {first}-{last}/{total}\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n",
            last + 1 - first
        )?;
        let is_broken = last > 0
            && self
                .num_breaks
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1))
                .is_ok();
        let end = if is_broken { first + (last - first) / 2 } else { last + 1 };
        stream.write_all(&bytes[first..end])
    }
}
