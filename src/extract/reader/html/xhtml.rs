//! Rewrites XHTML as HTML. Pure.
//!
//! An element may be empty in XHTML by its own tag (`<title/>`). HTML reads that as the beginning of one:
//! the rest of the page would be its title.

/// Elements that are empty by themselves (HTML, 13.1.2).
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// Gives each empty element its end.
pub(super) fn to_html(xhtml: &str) -> String {
    let mut html = String::with_capacity(xhtml.len());
    let mut rest = xhtml;
    while let Some(start) = rest.find('<') {
        html.push_str(&rest[..start]);
        rest = &rest[start..];
        let Some(len) = tag_len(rest) else { break };
        let (tag, after) = rest.split_at(len);
        let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, ':' | '-' | '_');
        let name = tag[1..].split(|it| !is_name(it)).next().unwrap_or_default();
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

/// Returns the length of the tag or comment that `text` begins with; `None` if it has no end.
fn tag_len(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|it| it + 3);
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
    fn empty_elements_get_an_end() {
        check("<title/><p>a<br/>b</p>", "<title></title><p>a<br/>b</p>");
        check("<a id=\"x/>\" />1 < 2", "<a id=\"x/>\" ></a>1 < 2");
        check("<svg:g/><!-- <p/> -->", "<svg:g></svg:g><!-- <p/> -->");
    }

    #[test]
    fn what_has_no_end_stays() {
        check("a<b c='", "a<b c='");
        check("a <", "a <");
        check("<!-- a", "<!-- a");
        check("</>", "</>");
    }
}
