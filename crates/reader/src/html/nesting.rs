//! Removes excessively deep nesting from HTML.
//!
//! html5ever searches the open elements for each tag, so 300,000 nested elements took it 46 s. Only
//! tags are removed, never text.

use std::borrow::Cow;

/// How many nested elements are kept; real pages rarely reach 100.
const MAX_DEPTH: usize = 512;

/// Void elements, and elements that end where the next one begins: leaving them open does not nest
/// them.
const SHALLOW: &[&str] = &[
    "area", "base", "body", "br", "caption", "col", "colgroup", "dd", "dt", "embed", "head", "hr",
    "html", "img", "input", "li", "link", "meta", "optgroup", "option", "p", "param", "rb", "rp",
    "rt", "rtc", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
];

/// Elements whose content is no HTML.
const RAW: &[&str] = &["script", "style"];

/// Removes the tags of elements that are nested deeper than [`MAX_DEPTH`].
pub(super) fn flatten(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let (mut depth, mut copied, mut at) = (0_usize, 0, 0);
    // The depth at which a script or style sheet began. It may quote any number of tags.
    let mut raw: Option<(&str, usize)> = None;
    while let Some(found) = text[at..].find('<') {
        let start = at + found;
        at = start + 1;
        let rest = &text[at..];
        let is_end = rest.starts_with('/');
        let name = &rest[usize::from(is_end)..];
        let len = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let name = &name[..len];
        let is_shallow = |known: &&&str| known.eq_ignore_ascii_case(name);
        if !name.starts_with(|first: char| first.is_ascii_alphabetic())
            || SHALLOW.iter().find(is_shallow).is_some()
        {
            continue;
        }
        match raw {
            None if !is_end && RAW.iter().any(|known| known.eq_ignore_ascii_case(name)) => {
                raw = Some((name, depth));
            }
            Some((open, before)) if is_end && open.eq_ignore_ascii_case(name) => {
                (raw, depth) = (None, before + 1);
            }
            _ => {}
        }
        // An end tag reduces the depth to that of its start tag.
        if is_end {
            depth = depth.saturating_sub(1);
        }
        let is_deep = depth >= MAX_DEPTH;
        if !is_end {
            depth += 1;
        }
        if is_deep {
            let end = rest.find('>').map_or(text.len(), |len| at + len + 1);
            kept.push_str(&text[copied..start]);
            (copied, at) = (end, end);
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_elements_lose_their_tags_and_keep_their_text() {
        let page = format!("{}words{}<p>after", "<div>".repeat(1000), "</div>".repeat(1000));
        let flat = flatten(&page);
        assert_eq!(flat.matches("<div>").count(), MAX_DEPTH);
        assert_eq!(flat.matches("</div>").count(), MAX_DEPTH);
        assert!(flat.contains("words") && flat.ends_with("<p>after"));
    }

    #[test]
    fn shallow_pages_are_unchanged() {
        let items = "<li>one<p>two<br>".repeat(2000);
        let blocks = "<div class=\"a\">x</div>".repeat(2000);
        for page in [&items, &blocks, "a < b <3 </ <", ""] {
            assert!(matches!(flatten(page), Cow::Borrowed(text) if text == page), "{page:.30}");
        }
    }

    #[test]
    fn tags_in_a_script_do_not_nest_the_page() {
        let script = format!("<script>x = \"{}\"</script>", "<div>".repeat(MAX_DEPTH));
        let flat = flatten(&script);
        assert!(flat.ends_with("</script>"), "the script ends: {flat:.60}");
        let page = format!("{script}<p><b>words</b>");
        assert!(flatten(&page).ends_with("<p><b>words</b>"));
    }

    #[test]
    fn an_unclosed_tag_ends_the_page() {
        let page = format!("{}<b class=", "<i>".repeat(600));
        assert_eq!(flatten(&page), "<i>".repeat(MAX_DEPTH));
    }
}
