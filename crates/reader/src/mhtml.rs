//! Reads a saved web page (MHTML): the page in a message, without its pictures and styles.
//!
//! An MHTML file is a MIME message (RFC 2557) whose parts are the page and what it shows.

use super::{Emit, Input, Stop, html};
use crate::error::Failure;
use crate::extract::protocol::ReadFailure;
use crate::text::decode;

/// Most messages in one another.
const MAX_DEPTH: usize = 8;

/// Reads a saved page.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<(), Stop> {
    let page = find_page(input.bytes, 0)
        .ok_or_else(|| ReadFailure::new(Failure::WrongFormat, "there is no web page in it"))?;
    html::read(&Input { bytes: &page, ..*input }, emit)
}

/// Returns the bytes of the first page in a message.
fn find_page(message: &[u8], depth: usize) -> Option<Vec<u8>> {
    let (head, body) = split_head(message);
    let kind = field(&head, "content-type").unwrap_or_default();
    let media = kind.split(';').next().unwrap_or_default().trim().to_lowercase();
    if media.starts_with("multipart/") && depth < MAX_DEPTH {
        let boundary = parameter(&kind, "boundary")?;
        return parts(body, boundary.as_bytes())
            .into_iter()
            .find_map(|part| find_page(part, depth + 1));
    }
    if !matches!(media.as_str(), "text/html" | "application/xhtml+xml") {
        return None;
    }
    let encoding = field(&head, "content-transfer-encoding").unwrap_or_default();
    let bytes = match encoding.trim().to_lowercase().as_str() {
        "quoted-printable" => quoted_printable(body),
        "base64" => base64(body),
        _ => body.to_vec(),
    };
    // The charset of the message overrides that of the page.
    let charset = parameter(&kind, "charset");
    let text = charset.and_then(|charset| decode::decode_as(&bytes, Some(charset.as_bytes())));
    Some(text.map_or(bytes, String::into_bytes))
}

/// Splits the head of a message from its body.
fn split_head(message: &[u8]) -> (String, &[u8]) {
    let mut at = 0;
    while at < message.len() {
        let rest = &message[at..];
        let len = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
        if rest[..len].trim_ascii().is_empty() {
            return (String::from_utf8_lossy(&message[..at]).into_owned(), &message[at + len..]);
        }
        at += len;
    }
    (String::from_utf8_lossy(message).into_owned(), &[])
}

/// Returns the value of a field, on one line.
fn field(head: &str, name: &str) -> Option<String> {
    let mut lines = head.lines();
    let first = lines.by_ref().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.trim().eq_ignore_ascii_case(name).then_some(value)
    })?;
    let rest = lines.take_while(|line| line.starts_with([' ', '\t']));
    Some(std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" "))
}

/// Returns a parameter of a field: `; charset="utf-8"`.
fn parameter(value: &str, name: &str) -> Option<String> {
    value.split(';').skip(1).find_map(|parameter| {
        let (found, value) = parameter.split_once('=')?;
        let is_found = found.trim().eq_ignore_ascii_case(name);
        is_found
            .then(|| value.trim().trim_matches('"').to_owned())
            .filter(|value| !value.is_empty())
    })
}

/// Returns the parts between lines of the boundary.
fn parts<'a>(body: &'a [u8], boundary: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut start = None;
    let mut at = 0;
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        let mark = line.strip_prefix(b"--").and_then(|rest| rest.strip_prefix(boundary));
        if let Some(after) = mark
            && matches!(after.trim_ascii(), b"" | b"--")
        {
            parts.extend(start.map(|start| &body[start..at]));
            start = Some(at + line.len());
        }
        at += line.len();
    }
    // A part that is cut off is read as far as it goes.
    parts.extend(start.map(|start| &body[start..]));
    parts
}

fn quoted_printable(body: &[u8]) -> Vec<u8> {
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
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() && *byte != b'\n';
    let num_blanks = bytes.iter().position(|byte| !is_blank(byte)).unwrap_or(bytes.len());
    &bytes[num_blanks..]
}

/// Decodes base64; other characters are ignored.
fn base64(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len() / 4 * 3);
    let (mut bits, mut num_bits) = (0_u32, 0);
    for byte in body {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ => continue,
        };
        bits = (bits << 6 | u32::from(value)) & 0xFF_FFFF;
        num_bits += 6;
        if num_bits >= 8 {
            num_bits -= 8;
            bytes.extend(u8::try_from((bits >> num_bits) & 0xFF));
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::output_of;

    #[track_caller]
    fn check(kind: &str, encoding: &str, body: &[u8], expected: &[&str]) {
        let mut message = format!(
            "From: <Saved by a browser>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype=\"text/html\";\r\n\
             \tboundary=\"--x\"\r\n\r\nA message.\r\n----x\r\nContent-Type: image/png\r\n\r\nPNG\r\n----x\r\n\
             Content-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
        )
        .into_bytes();
        message.extend(body);
        message.extend(b"\r\n----x--\r\n");
        assert_eq!(output_of(read, &message).unwrap().1, expected);
    }

    #[test]
    fn the_page_in_a_message_is_read() {
        check(
            "text/html",
            "quoted-printable",
            b"<h1>Tide=\r\ns</h1><p title=3D\"a\">Gr=C3=BC=C3=9Fe",
            &["# Tides", "Grüße"],
        );
        check("text/html; charset=\"windows-1251\"", "8bit", b"<p>\xCF\xF0\xE8", &["При"]);
        check("TEXT/HTML", "base64", b"PHA+SGln\r\naCB3YXRlcg==", &["High water"]);
    }

    #[test]
    fn the_pages_that_fuzzing_begins_with_have_words() {
        let page = include_bytes!("../../../fuzz/corpus/mhtml/page");
        assert_eq!(output_of(read, page).unwrap().1, ["# Tides", "При"]);
        let nested = include_bytes!("../../../fuzz/corpus/mhtml/nested");
        assert_eq!(output_of(read, nested).unwrap().1, ["# Tides", "High water at ten."]);
    }

    #[test]
    fn a_message_without_a_page_is_refused() {
        let nested = "Content-Type: multipart/mixed; boundary=x\n\n--x\n".repeat(50);
        for message in ["", "words", "Content-Type: text/plain\n\nwords", &nested] {
            match output_of(read, message.as_bytes()) {
                Err(Stop::Failed(failed)) => assert_eq!(failed.failure, Failure::WrongFormat),
                other => panic!("{other:?}"),
            }
        }
    }
}
