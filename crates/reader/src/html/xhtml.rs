//! Rewrites XHTML as HTML. Pure functions.
//!
//! In XHTML, any element may be empty (`<title/>`). HTML reads such a tag as a start tag, so the
//! rest of the page would become the title.

/// Elements that are always empty (HTML, 13.1.2).
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// Adds an end tag to each empty element.
pub(super) fn to_html(xhtml: &str) -> String {
    let mut html = String::with_capacity(xhtml.len());
    let mut rest = xhtml;
    while let Some(start) = rest.find('<') {
        html.push_str(&rest[..start]);
        rest = &rest[start..];
        let Some(len) = tag_len(rest) else { break };
        let (tag, after) = rest.split_at(len);
        let mut parts =
            tag[1..].split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, ':' | '-' | '_'));
        let name = parts.next().unwrap_or_default();
        match tag.strip_suffix("/>") {
            Some(open) if !name.is_empty() && !VOID.contains(&name) => {
                html.push_str(&format!("{open}></{name}>"));
            }
            _ => html.push_str(tag),
        }
        rest = after;
    }
    html + rest
}

/// Returns the length of the tag or comment at the start of `text`; `None` if it is unclosed.
fn tag_len(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|at| at + 3);
    }
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xhtml: &str, expected: &str) {
        assert_eq!(to_html(xhtml), expected);
    }

    #[test]
    fn empty_elements_get_an_end_tag() {
        check("<title/><p>a<br/>b</p>", "<title></title><p>a<br/>b</p>");
        check("<a id=\"x/>\" />1 < 2", "<a id=\"x/>\" ></a>1 < 2");
        check("<svg:g/><!-- <p/> -->", "<svg:g></svg:g><!-- <p/> -->");
    }

    #[test]
    fn unclosed_tags_stay() {
        check("a<b c='", "a<b c='");
        check("a <", "a <");
        check("<!-- a", "<!-- a");
        check("</>", "</>");
    }
}
