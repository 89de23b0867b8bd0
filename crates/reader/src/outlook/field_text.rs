//! Writes text as the fields of a message of MIME have it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Encodes words for a field (RFC 2047).
pub(super) fn encoded_word(text: &str) -> String {
    format!("=?utf-8?B?{}?=", BASE64_STANDARD.encode(on_one_line(text)))
}

/// Joins the lines of a text.
pub(super) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
