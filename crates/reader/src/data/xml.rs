//! Finds the elements of XML. Comments, declarations and CDATA are text of the element around them.

use super::parts::Parts;

pub(super) fn scan(text: &str, parts: &mut Parts<'_>) {
    let mut at = 0;
    let mut depth = 0_usize;
    while let Some(found) = text[at..].find('<') {
        let start = at + found;
        let tag = &text[start..];
        let after = |end: &str| tag.find(end).map_or(tag.len(), |found| found + end.len());
        let len = match tag {
            _ if tag.starts_with("<!--") => after("-->"),
            _ if tag.starts_with("<![CDATA[") => after("]]>"),
            _ if tag.starts_with("<?") => after("?>"),
            _ if tag.starts_with("<!") => after_quoted(tag),
            _ if tag.starts_with("</") => {
                if depth > 0 {
                    parts.close(start);
                    depth -= 1;
                }
                after(">")
            }
            _ if tag[1..].starts_with(|first: char| first.is_alphabetic() || first == '_') => {
                let len = after_quoted(tag);
                parts.member(start, None);
                if !tag[..len].ends_with("/>") {
                    parts.open();
                    depth += 1;
                }
                len
            }
            _ => 1,
        };
        at = start + len;
    }
}

/// Returns the length of a tag, whose attributes may contain `>`.
fn after_quoted(tag: &str) -> usize {
    let mut quote = None;
    for (at, letter) in tag.char_indices() {
        match (quote, letter) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            _ => {}
        }
    }
    tag.len()
}
