//! Resolves references in Markdown and drops its comments, line by line (pulldown-cmark).
//!
//! A definition of a link is often far from where it is used, and in no block: a passage that says
//! `[the manual][3]` leads nowhere. So the destination is put in its place. Line ends stay, so that
//! line numbers mean what they did.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// Longest destination that is put in: a picture may be its own address, of a million bytes.
const MAX_DESTINATION_BYTES: usize = 200;

/// How often the text may hold itself once all destinations are in: many references may share one.
const MAX_GROWTH: usize = 2;

/// What a text may grow in any case.
const FREE_GROWTH_BYTES: usize = 10_000;

/// Returns a text with reference links as inline links, and without HTML comments but those that
/// stand at the outermost level by themselves.
pub(super) fn resolve(text: &str, body_start: usize, options: Options) -> Cow<'_, str> {
    let body = &text[body_start..];
    if !body.contains("]:") && !body.contains("<!--") {
        return Cow::Borrowed(text);
    }
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut left = body.len() * (MAX_GROWTH - 1) + FREE_GROWTH_BYTES;
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        match event {
            Event::Start(
                Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
            ) => {
                let edit = label(body, range, link_type).zip(inline(&dest_url));
                if let Some((label, destination)) = edit.filter(|(_, it)| it.len() <= left) {
                    left -= destination.len();
                    edits.push((label, destination));
                }
            }
            Event::InlineHtml(_) => edits.extend(comments(body, range)),
            Event::Start(Tag::HtmlBlock) if depth > 1 => edits.extend(comments(body, range)),
            _ => {}
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut resolved = text[..body_start].to_owned();
    let mut at = 0;
    for (range, replacement) in edits {
        if range.start >= at {
            resolved.push_str(&body[at..range.start]);
            resolved.push_str(&replacement);
            at = range.end;
        }
    }
    resolved.push_str(&body[at..]);
    Cow::Owned(resolved)
}

/// Returns what of a reference its destination replaces: `[3]` of `[the manual][3]`, nothing of
/// `[the manual]`. `None` for other links.
fn label(body: &str, link: Range<usize>, link_type: LinkType) -> Option<Range<usize>> {
    let source = &body[link.clone()];
    let start = match link_type {
        LinkType::Reference => {
            let is_open = |at: &usize| !source[..*at].ends_with('\\');
            source.match_indices('[').map(|(at, _)| at).rfind(is_open)?
        }
        LinkType::Collapsed if source.ends_with("[]") => source.len() - "[]".len(),
        LinkType::Collapsed | LinkType::Shortcut => source.len(),
        _ => return None,
    };
    // The parser may leave the empty label out.
    let is_left_out = link_type == LinkType::Collapsed && body[link.end..].starts_with("[]");
    let end = if is_left_out { link.end + "[]".len() } else { link.end };
    let is_on_one_line = source.ends_with(']') && !source[start..].contains('\n');
    (start > 0 && is_on_one_line).then_some(link.start + start..end)
}

/// Writes a destination as an inline link does; `None` for what would not be read as one.
fn inline(destination: &str) -> Option<String> {
    let is_plain = |it: char| !it.is_whitespace() && !it.is_control() && !"<>|\\".contains(it);
    let is_short = destination.len() <= MAX_DESTINATION_BYTES;
    if destination.is_empty() || !is_short || !destination.chars().all(is_plain) {
        return None;
    }
    let has_brackets = destination.contains(['(', ')']);
    Some(if has_brackets { format!("(<{destination}>)") } else { format!("({destination})") })
}

/// Returns the comments in a piece of HTML, each with its line ends in its place.
fn comments(body: &str, html: Range<usize>) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut at = html.start;
    while let Some(open) = body[at..html.end].find("<!--").map(|it| it + at)
        && let Some(close) = body[open..html.end].find("-->").map(|it| it + open)
    {
        at = close + "-->".len();
        let num_lines = body[open..at].matches('\n').count();
        found.push((open..at, "\n".repeat(num_lines)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(resolve(text, 0, super::super::OPTIONS), expected);
    }

    #[test]
    fn references_become_inline_links() {
        let definitions = "\n\n[1]: https://a.org/b 'Title'\n[it]: <c d>\n[Doc]: x_(y)\n";
        let check = |before: &str, after: &str| {
            check(&format!("{before}{definitions}"), &format!("{after}{definitions}"));
        };
        check("See [the *manual*][1].", "See [the *manual*](https://a.org/b).");
        check("See [doc][] and [Doc].", "See [doc](<x_(y)>) and [Doc](<x_(y)>).");
        check("![a picture][1]", "![a picture](https://a.org/b)");
        check("[![a][1]][doc]", "[![a](https://a.org/b)](<x_(y)>)");
        check("- [a][1]\n  > [b][1]", "- [a](https://a.org/b)\n  > [b](https://a.org/b)");
        // What is no reference, or has no plain destination.
        check(
            "[x][2] [y] [z](1) `[1]` [i][it] \\[1] [[1|w]]",
            "[x][2] [y] [z](1) `[1]` [i][it] \\[1] [[1|w]]",
        );
    }

    #[test]
    fn lines_stay_where_they_are() {
        check("[a][b\nc]\n\n[b c]: /x\n", "[a][b\nc]\n\n[b c]: /x\n");
        check("a <!-- b\nc --> d\n", "a \n d\n");
        check("- a\n\n  <!-- b\n\n  c -->\n  d\n", "- a\n\n  \n\n\n  d\n");
    }

    #[test]
    fn comments_in_a_line_are_left_out() {
        check("a <!-- TODO --> b `<!-- c -->`", "a  b `<!-- c -->`");
        check("<!-- alone -->\n", "<!-- alone -->\n");
        check("a <!-- open", "a <!-- open");
    }

    #[test]
    fn a_text_grows_within_bounds() {
        let definition = format!("\n\n[a]: {}\n", "x".repeat(MAX_DESTINATION_BYTES));
        let text = format!("{}{definition}", "[a] ".repeat(20_000));
        let resolved = resolve(&text, 0, super::super::OPTIONS);
        assert!(resolved.len() > text.len());
        assert!(resolved.len() <= text.len() * MAX_GROWTH + FREE_GROWTH_BYTES);
        let long = format!("[a]\n\n[a]: data:{}\n", "x".repeat(1000));
        check(&long, &long);
    }
}
