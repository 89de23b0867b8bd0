//! Reads the parts of MIME messages (RFC 2045): their types, names and contents.

mod boundaries;
mod headers;

use std::borrow::Cow;

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::html::html_to_text;
use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use super::html;
use crate::text::decode::{self, Decoded};

pub(crate) use boundaries::repair;
pub(crate) use headers::readable_headers;

/// Types of parts that have no text, by how they begin, and what such a part is.
const WITHOUT_TEXT: [(&str, &str); 10] = [
    ("image/", "picture"),
    ("audio/", "sound"),
    ("video/", "film"),
    ("font/", "font"),
    ("application/font", "font"),
    ("application/x-font", "font"),
    ("application/pkcs7-signature", "signature"),
    ("application/x-pkcs7-signature", "signature"),
    ("application/pgp-signature", "signature"),
    ("application/pgp-keys", "key"),
];

/// Returns the type of a part in small letters, without parameters: `text/plain`, which is also the default.
pub(crate) fn media_type(part: &MessagePart<'_>) -> String {
    let Some(stated) = part.content_type() else { return "text/plain".to_owned() };
    let subtype = stated.subtype().unwrap_or_default();
    format!("{}/{subtype}", stated.ctype()).to_ascii_lowercase()
}

/// Returns the kind of a part that has no text, by its type; `None` for any other part.
pub(crate) fn without_text(media_type: &str) -> Option<&'static str> {
    let found = WITHOUT_TEXT.iter().find(|(start, _)| media_type.starts_with(start));
    found.map(|(_, kind)| *kind)
}

/// Returns the contents of a part, decoded as the message says.
pub(crate) fn contents<'a>(message: &'a Message<'_>, part: &'a MessagePart<'_>) -> Cow<'a, [u8]> {
    let start = usize::try_from(part.raw_body_offset()).unwrap_or(usize::MAX);
    let end = usize::try_from(part.raw_end_offset()).unwrap_or(usize::MAX);
    let body = message.raw_message.get(start..end).unwrap_or_default();
    // The library takes a part with a mistake for one that is not encoded.
    let encoding = part.content_transfer_encoding().unwrap_or_default().trim().to_lowercase();
    match encoding.as_str() {
        "quoted-printable" => Cow::Owned(quoted_printable(body)),
        "base64" => Cow::Owned(base64(body)),
        _ => Cow::Borrowed(body),
    }
}

/// Returns the text of a part. The encoding that the message states overrides that of a page.
pub(crate) fn text(message: &Message<'_>, part: &MessagePart<'_>) -> Decoded {
    let stated = part.content_type().and_then(|kind| kind.attribute("charset"));
    match &part.body {
        PartType::Text(text) | PartType::Html(text)
            if stated.is_some_and(is_of_mail) && !part.is_encoding_problem =>
        {
            Decoded { text: text.clone().into_owned(), encoding: None }
        }
        _ => {
            let bytes = contents(message, part);
            let labels = [stated.map(str::as_bytes), html::charset(&bytes)];
            let labels: Vec<&[u8]> = labels.into_iter().flatten().collect();
            decode::read(&bytes, &labels).unwrap_or_default()
        }
    }
}

/// Whether an encoding is used in mail alone, so that only its library knows it.
fn is_of_mail(label: &str) -> bool {
    !decode::is_known(label)
        && !label.to_ascii_lowercase().contains("ascii")
        && charset_decoder(label.as_bytes()).is_some()
}

/// Decodes quoted-printable text; a `=` that encodes nothing is kept.
pub(crate) fn quoted_printable(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'=' {
            bytes.push(first);
            continue;
        }
        let hex = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else if let Some(next_line) = trim_blanks(after).strip_prefix(b"\n") {
            // The line continues.
            rest = next_line;
        } else {
            bytes.push(first);
        }
    }
    bytes
}

/// Removes the blanks of a line from the start of some bytes.
fn trim_blanks(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace() || *byte == b'\n');
    &bytes[start.unwrap_or(bytes.len())..]
}

/// Decodes base64; other characters are ignored.
pub(crate) fn base64(body: &[u8]) -> Vec<u8> {
    let letters: Vec<u8> = body.iter().copied().filter(is_base64_letter).collect();
    base64_decode(&letters).unwrap_or_default()
}

fn is_base64_letter(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Decodes base64; `None` if there are other characters than blanks in it.
pub(crate) fn strict_base64(body: &[u8]) -> Option<Vec<u8>> {
    base64_decode(body)
}

/// Returns the character with a name of HTML (`eacute`); of an unknown name, how HTML writes it.
pub(crate) fn character(name: &str) -> String {
    html_to_text(&format!("&{name};")).trim().to_owned()
}
