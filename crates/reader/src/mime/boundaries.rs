//! Repairs messages whose parts have no end, so that a missing line does not hide the parts after it.

use std::borrow::Cow;

use mail_parser::{MessageParser, MimeHeaders};

/// Deepest nesting of parts that is repaired. Each line that may be a boundary is compared with as many.
const MAX_OPEN: usize = 50;

/// A message, with the boundaries that were missing.
pub(crate) struct RepairedMessage<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Whether the last of its parts has no end.
    pub(crate) is_cut_off: bool,
}

/// The boundaries of the parts that are open at a line of a message.
struct OpenParts<'a> {
    boundaries: Vec<String>,
    /// Where the headers began that the line belongs to.
    headers: Option<usize>,
    message: &'a [u8],
    /// Where a boundary is missing, and which.
    missing: Vec<(usize, String)>,
}

/// Adds the end boundaries that a message lacks: those of parts within a part that ends, and those at its end.
pub(crate) fn repair(message: &[u8]) -> RepairedMessage<'_> {
    let mut open =
        OpenParts { boundaries: Vec::new(), headers: Some(0), message, missing: Vec::new() };
    let mut start = 0;
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        open.line(start, line);
        start += line.len();
    }
    let is_cut_off = !open.boundaries.is_empty();
    open.close_from(0, message.len());
    if open.missing.is_empty() {
        return RepairedMessage { bytes: Cow::Borrowed(message), is_cut_off };
    }
    let (mut bytes, mut copied) = (Vec::with_capacity(message.len()), 0);
    for (at, boundary) in &open.missing {
        bytes.extend_from_slice(&message[copied..*at]);
        copied = *at;
        if !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(format!("--{boundary}--\n").as_bytes());
    }
    bytes.extend_from_slice(&message[copied..]);
    RepairedMessage { bytes: Cow::Owned(bytes), is_cut_off }
}

impl OpenParts<'_> {
    fn line(&mut self, start: usize, line: &[u8]) {
        let text = line.trim_ascii_end();
        let boundary = text.strip_prefix(b"--").filter(|_| !self.boundaries.is_empty());
        let found = boundary.and_then(|words| self.boundary(words));
        match (found, self.headers) {
            (Some((depth, is_end)), _) => {
                self.close_from(depth + 1, start);
                if is_end {
                    self.boundaries.truncate(depth);
                }
                self.headers = (!is_end).then_some(start + line.len());
            }
            (None, Some(headers)) if text.is_empty() => self.end_headers(headers, start),
            _ => {}
        }
    }

    /// Returns which of the open parts a boundary belongs to, and whether it is its end.
    fn boundary(&self, words: &[u8]) -> Option<(usize, bool)> {
        self.boundaries.iter().enumerate().rev().find_map(|(depth, boundary)| {
            match words.strip_prefix(boundary.as_bytes())? {
                b"" => Some((depth, false)),
                b"--" => Some((depth, true)),
                _ => None,
            }
        })
    }

    /// Ends the parts within another.
    fn close_from(&mut self, depth: usize, at: usize) {
        let closed = self.boundaries.split_off(depth.min(self.boundaries.len()));
        self.missing.extend(closed.into_iter().rev().map(|boundary| (at, boundary)));
    }

    /// Reads the headers of a part or of a message in a part.
    fn end_headers(&mut self, start: usize, end: usize) {
        self.headers = None;
        let headers = self.message.get(start..end).unwrap_or_default();
        let Some(headers) = MessageParser::default().parse_headers(headers) else { return };
        let Some(kind) = headers.content_type() else { return };
        if kind.ctype().eq_ignore_ascii_case("multipart") {
            let boundary = kind.attribute("boundary").map(str::trim_end);
            let boundary = boundary.filter(|boundary| !boundary.is_empty());
            if self.boundaries.len() < MAX_OPEN {
                self.boundaries.extend(boundary.map(str::to_owned));
            }
        } else if kind.ctype().eq_ignore_ascii_case("message")
            && kind.subtype().is_some_and(|subtype| subtype.eq_ignore_ascii_case("rfc822"))
        {
            self.headers = Some(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, expected: &str, is_cut_off: bool) {
        let repaired = repair(message.as_bytes());
        assert_eq!(String::from_utf8_lossy(&repaired.bytes), expected);
        assert_eq!(repaired.is_cut_off, is_cut_off);
    }

    const OUTER: &str = "Content-Type: multipart/mixed; boundary=out\n\n";
    const INNER: &str = "Content-Type: multipart/alternative;\n boundary=\"in\"\n\n";

    #[test]
    fn missing_ends_are_added() {
        check(
            &format!("{OUTER}--out\n{INNER}--in\n\nText.\n--out\n\nMore.\n--out--\n"),
            &format!("{OUTER}--out\n{INNER}--in\n\nText.\n--in--\n--out\n\nMore.\n--out--\n"),
            false,
        );
        check(
            &format!("{OUTER}--out\n{INNER}--in\n\nText"),
            &format!("{OUTER}--out\n{INNER}--in\n\nText\n--in--\n--out--\n"),
            true,
        );
    }

    #[test]
    fn a_message_with_all_ends_is_unchanged() {
        let inner = format!("{INNER}--in\n\n--not\n--inside\n--in--\n");
        let message =
            format!("{OUTER}Preamble\n--out\nContent-Type: message/rfc822\n\n{inner}--out--\n");
        check(&message, &message, false);
        check("Subject: a\n\n--out\n", "Subject: a\n\n--out\n", false);
        check("", "", false);
    }
}
