//! Shortens tags with an excessive number of attributes.
//!
//! html5ever compares each attribute of a tag with all others of it, so 100,000 took minutes.

use std::borrow::Cow;

/// How many attributes of a tag are kept; real ones have a few dozen.
const MAX_ATTRIBUTES: usize = 500;

/// Elements whose content has no tags but their own end.
const RAW: &[&str] = &["script", "style", "textarea", "title", "xmp", "iframe", "noframes"];

/// Removes the attributes of each tag after the first [`MAX_ATTRIBUTES`].
pub(super) fn shorten(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut kept = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text[at..].find('<') {
        at += found + 1;
        if text[at..].starts_with("!--") {
            at = text[at..].find("-->").map_or(text.len(), |end| at + end);
            continue;
        }
        let is_end = bytes.get(at) == Some(&b'/');
        let start = at + usize::from(is_end);
        if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let tag = HtmlTag::read(bytes, start);
        if let Some(cut) = tag.cut {
            kept.push_str(&text[copied..cut]);
            copied = tag.end;
        }
        at = tag.end;
        let raw = RAW.iter().find(|name| name.as_bytes().eq_ignore_ascii_case(tag.name));
        if let Some(name) = raw.filter(|_| !is_end) {
            at = end_of(bytes, at, name);
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

/// Returns where the end tag of an element begins, or the end of the text.
fn end_of(bytes: &[u8], from: usize, name: &str) -> usize {
    (from..bytes.len())
        .find(|at| {
            let rest = bytes[*at..].strip_prefix(b"</").and_then(|rest| rest.get(..name.len()));
            rest.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        })
        .unwrap_or(bytes.len())
}

/// Returns the position, from `at`, of the first byte that is not skipped.
fn skip(bytes: &[u8], at: usize, is_skipped: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_skipped(*byte)).unwrap_or(rest.len())
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// Whether a byte may be in a name. The name of an attribute has no `=`, except as its first byte.
fn is_in_name(byte: u8) -> bool {
    !is_blank(byte) && byte != b'/' && byte != b'>'
}

/// A tag, read as browsers do (HTML, 13.2.5).
struct HtmlTag<'a> {
    name: &'a [u8],
    /// Where the attributes begin that are not kept.
    cut: Option<usize>,
    /// Where its `>` is, or the end of the text.
    end: usize,
}

impl<'a> HtmlTag<'a> {
    fn read(bytes: &'a [u8], start: usize) -> Self {
        let mut at = skip(bytes, start, is_in_name);
        let name = &bytes[start..at];
        let (mut num_attributes, mut cut) = (0, None);
        loop {
            at = skip(bytes, at, |byte| is_blank(byte) || byte == b'/');
            if at >= bytes.len() || bytes[at] == b'>' {
                return Self { name, cut, end: at };
            }
            num_attributes += 1;
            if num_attributes > MAX_ATTRIBUTES {
                cut = cut.or(Some(at));
            }
            // A name may begin with `=`.
            at = skip(bytes, at + 1, |byte| is_in_name(byte) && byte != b'=');
            let value = skip(bytes, at, is_blank);
            if bytes.get(value) != Some(&b'=') {
                continue;
            }
            at = skip(bytes, value + 1, is_blank);
            at = match bytes.get(at) {
                Some(&quote) if quote == b'"' || quote == b'\'' => {
                    skip(bytes, at + 1, |byte| byte != quote) + 1
                }
                _ => skip(bytes, at, |byte| !is_blank(byte) && byte != b'>'),
            }
            .min(bytes.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_loses_its_last_attributes() {
        let attributes =
            |count: usize| (0..count).map(|number| format!("é{number}='> <' ")).collect::<String>();
        let page = format!("<a {}>words</a>", attributes(2000));
        assert_eq!(shorten(&page), format!("<a {}>words</a>", attributes(MAX_ATTRIBUTES)));
        let unclosed = format!("<a {}", attributes(2000));
        assert_eq!(shorten(&unclosed), format!("<a {}", attributes(MAX_ATTRIBUTES)));
    }

    #[test]
    fn other_text_is_unchanged() {
        let words = "a b ".repeat(MAX_ATTRIBUTES);
        for page in [
            format!("<p>{words}"),
            format!("<!-- <a {words}> -->{words}"),
            format!("<script>if (a<b) {words} </script>"),
            format!("a < b {words} <3 {words}"),
            format!("<a title=\"{words}\" b='{words}' c={}>", "d".repeat(2000)),
        ] {
            assert!(matches!(shorten(&page), Cow::Borrowed(text) if text == page), "{page:.40}");
        }
    }
}
