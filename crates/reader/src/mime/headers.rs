//! Decodes headers of messages that are written in an old encoding, without the marks for it (RFC 2047).

use std::borrow::Cow;

use mail_parser::{MessageParser, MimeHeaders};

use crate::text::decode;

/// Returns a message with its headers in UTF-8. Their encoding is that of the text, if the message states it; otherwise
/// headers and text together decide.
pub(crate) fn readable_headers(message: &[u8]) -> Cow<'_, [u8]> {
    let (headers, rest) = message.split_at(end_of_headers(message));
    if str::from_utf8(headers).is_ok() {
        return Cow::Borrowed(message);
    }
    let parsed = MessageParser::default().parse_headers(headers);
    let stated = parsed.as_ref().and_then(|headers| headers.content_type()?.attribute("charset"));
    let found = match stated {
        Some(stated) => decode::decode_as(headers, Some(stated.as_bytes())),
        None => decode::decode(message).map(|text| {
            let end = end_of_headers(text.as_bytes());
            text.get(..end).unwrap_or_default().to_owned()
        }),
    };
    match found.or_else(|| decode::decode(headers)) {
        Some(headers) => Cow::Owned([headers.as_bytes(), rest].concat()),
        None => Cow::Borrowed(message),
    }
}

/// Returns where the blank line after the headers begins.
fn end_of_headers(message: &[u8]) -> usize {
    let mut at = 0;
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii_end().is_empty() {
            break;
        }
        at += line.len();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &[u8], expected: &str) {
        let readable = readable_headers(message);
        let (headers, _) = readable.split_at(end_of_headers(&readable));
        assert_eq!(str::from_utf8(headers).unwrap(), expected);
    }

    #[test]
    fn headers_are_in_the_encoding_that_the_message_states() {
        check(
            b"Subject: \xCA\xEB\xFE\xF7\nContent-Type: text/plain; charset=windows-1251\n\n\xCA\xEB",
            "Subject: Ключ\nContent-Type: text/plain; charset=windows-1251\n",
        );
    }

    #[test]
    fn headers_and_text_together_decide_without_a_statement() {
        check(
            b"Subject: Gr\xFC\xDFe\n\nDie T\xFCr zum Hof schlie\xDFt nicht mehr.\n",
            "Subject: Grüße\n",
        );
    }

    #[test]
    fn readable_headers_are_not_copied() {
        let message = "Subject: Grüße\n\nText".as_bytes();
        assert!(matches!(readable_headers(message), Cow::Borrowed(_)));
    }
}
