//! Creates the errors of what cannot be fetched, or was changed since.
//!
//! The client of the hub and pip describe a failure at length, in the words of their libraries. kb recognises the reason by
//! these words, and tells the user which of a few reasons it is and what to do.

use std::path::Path;

use crate::error::Error;
use crate::wording::{Wording, kb, wording};

/// A reason why a source cannot be reached.
struct Obstacle {
    /// The message of a client has one of these, in lower case.
    words: &'static [&'static str],
    reason: &'static str,
    remedy: fn() -> Wording,
}

/// The proxy comes first: behind one, the words of the others are about the proxy.
const OBSTACLES: [Obstacle; 6] = [
    Obstacle {
        words: &["proxyerror", "proxy failed", "proxy error", "invalid proxy"],
        reason: "the proxy cannot be reached or refuses",
        remedy: || or_without_network("check the proxy that HTTPS_PROXY or HTTP_PROXY names"),
    },
    Obstacle {
        words: &["certificate", "sslerror", "ssl:"],
        reason: "the certificate is not trusted",
        remedy: || {
            or_without_network(
                "name the certificates of your organisation to pip: `pip config set global.cert FILE`",
            )
        },
    },
    Obstacle {
        words: &[
            "name resolution",
            "name or service not known",
            "nodename nor servname",
            "getaddrinfo failed",
            "lookup address",
            "host not found",
        ],
        reason: "the name of the server cannot be resolved",
        remedy: || or_without_network("check the network, or name a proxy in HTTPS_PROXY"),
    },
    Obstacle {
        words: &["connection refused", "unreachable", "timed out", "timeout", "connection reset"],
        reason: "the server does not answer",
        remedy: || or_without_network("check the network, or name a proxy in HTTPS_PROXY"),
    },
    Obstacle {
        words: &["no space left", "disk full", "not enough space"],
        reason: "the disk is full",
        remedy: || {
            wording!(
                "free space on the disk of kb's cache (KB_CACHE_DIR moves it), and run `{}`",
                kb("init")
            )
        },
    },
    Obstacle {
        words: &["no module named pip", NO_PYTHON],
        reason: "there is no Python with pip: no `python3`, `python` or `py` in an absolute folder of PATH has it",
        remedy: || {
            or_without_network(wording!("install Python with pip, and run `{}`", kb("init")))
        },
    },
];

/// The words of a machine on which no Python was found.
pub(super) const NO_PYTHON: &str = "no python in path";

/// Returns what helps against a failure that nothing explains.
fn later() -> Wording {
    or_without_network(wording!("run `{}` again later", kb("init")))
}

/// Adds a way to go on without a network, which nearly every hint names.
fn or_without_network(remedy: impl Into<Wording>) -> Wording {
    remedy.into().then(
        "; for a machine without a network, see \"Machines without a network\" in docs/install.md",
    )
}

/// Returns the reason in what a client said, if it is known.
pub(super) fn reason_in(said: &str) -> Option<String> {
    let said = said.to_lowercase();
    let mut obstacles = OBSTACLES.iter();
    let found = obstacles.find(|obstacle| obstacle.words.iter().any(|word| said.contains(word)));
    found.map(|obstacle| obstacle.reason.to_owned())
}

/// Creates the error that names every tried source, with the remedy of the first.
pub(super) fn fetch_error(what: String, failures: &[(String, String)]) -> Error {
    let clauses: Vec<String> =
        failures.iter().map(|(source, reason)| format!("{source}: {reason}")).collect();
    let first = failures
        .iter()
        .find_map(|(_, reason)| OBSTACLES.iter().find(|obstacle| obstacle.reason == reason));
    let hint = first.map_or_else(later, |obstacle| (obstacle.remedy)());
    Error::Fetch { what, reason: clauses.join("; "), hint }
}

/// Creates the error of one source; [`fetch_error`] names it and what helps.
pub(super) fn failed(what: &str, reason: String) -> Error {
    Error::Fetch { what: what.to_owned(), reason, hint: later() }
}

/// Returns only the reason of an error that also names what was wanted.
pub(super) fn reason_of(error: Error) -> String {
    match error {
        Error::Fetch { reason, .. } => reason,
        other => other.to_string(),
    }
}

/// Creates the error for a file whose length has changed since it was fetched.
pub(super) fn changed_length(path: &Path, found: u64, expected: u64) -> Error {
    let reason = format!("it has {found} bytes, expected {expected}");
    Error::CacheChanged { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of pip 23 and of ureq 3, shortened.
    #[test]
    fn what_stands_in_the_way_is_said_in_plain_words() {
        for (said, expected) in [
            (
                "NewConnectionError: [Errno -3] Temporary failure in name resolution",
                "cannot be resolved",
            ),
            (
                "io: failed to lookup address information: Name or service not known",
                "cannot be resolved",
            ),
            ("ProxyError('Cannot connect to proxy.', [Errno 111] Connection refused)", "the proxy"),
            ("CONNECT proxy failed: 407", "the proxy"),
            ("SSLError(SSLCertVerificationError(1, 'certificate verify failed')", "certificate"),
            ("io: invalid peer certificate: UnknownIssuer", "certificate"),
            ("io: Connection refused (os error 111)", "does not answer"),
            ("timeout: global", "does not answer"),
            ("OSError: [Errno 28] No space left on device", "disk is full"),
            ("/usr/bin/python3: No module named pip", "no Python with pip"),
        ] {
            let found = reason_in(said).unwrap_or_default();
            assert!(found.contains(expected), "{said}: {found}");
            let error = fetch_error("a model".into(), &[("hub".into(), found)]);
            assert_ne!(error.hint(), Some(later()));
        }
        assert_eq!(reason_in("No matching version"), None);
    }
}
