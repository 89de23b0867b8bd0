//! Writes text as the fields of a message of MIME have it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::spaces::on_one_line;

/// Encodes words for a field (RFC 2047).
pub(super) fn encoded_word(text: &str) -> String {
    format!("=?utf-8?B?{}?=", BASE64_STANDARD.encode(on_one_line(text)))
}
