//! Resolves link references in Markdown and removes comments, line by line (pulldown-cmark).
//!
//! A link definition is often far from its use, and not in any block: in a passage, `[the
//! manual][3]` leads nowhere. It is replaced by the destination. Line ends stay, so line numbers do
//! not change.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

/// Longest destination that is inserted; a picture may be a data URL of a million bytes.
const MAX_DESTINATION_BYTES: usize = 200;

/// How many times as long as before a text may become, as many references may share a destination.
const MAX_GROWTH: usize = 2;

/// How much any text may grow, in bytes: a short one may be mostly references.
const FREE_GROWTH_BYTES: usize = 10_000;

/// Returns a text with inline links instead of reference links, and without HTML comments, except
/// comments that are outermost elements.
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
                if let Some((label, destination)) =
                    edit.filter(|(_, inlined)| inlined.len() <= left)
                {
                    left -= destination.len();
                    edits.push((label, destination));
                }
            }
            Event::InlineHtml(_) => edits.extend(without(body, range)),
            Event::Start(Tag::HtmlBlock) if depth > 1 => edits.extend(without(body, range)),
            _ => {}
        }
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut resolved = text[..body_start].to_owned();
    let mut at = 0;
    for (range, replacement) in edits {
        // An edit within one that is already made is left out.
        if range.start >= at {
            resolved.push_str(&body[at..range.start]);
            resolved.push_str(&replacement);
            at = range.end;
        }
    }
    resolved.push_str(&body[at..]);
    Cow::Owned(resolved)
}

/// Returns the part of a reference that its destination replaces: `[3]` of `[the manual][3]`, an
/// empty range after `[the manual]`. `None` for other links.
fn label(body: &str, link: Range<usize>, link_type: LinkType) -> Option<Range<usize>> {
    let source = &body[link.clone()];
    let start = match link_type {
        LinkType::Reference => {
            let mut opened = source.match_indices('[').map(|(at, _)| at);
            opened.rfind(|at| !source[..*at].ends_with('\\'))?
        }
        LinkType::Collapsed if source.ends_with("[]") => source.len() - "[]".len(),
        LinkType::Collapsed | LinkType::Shortcut => source.len(),
        _ => return None,
    };
    // The parser may exclude the empty label.
    let is_label_outside = link_type == LinkType::Collapsed && body[link.end..].starts_with("[]");
    let end = if is_label_outside { link.end + "[]".len() } else { link.end };
    let is_on_one_line = source.ends_with(']') && !source[start..].contains('\n');
    (start > 0 && is_on_one_line).then_some(link.start + start..end)
}

/// Formats a destination for an inline link; `None` if it would not be parsed as one.
fn inline(destination: &str) -> Option<String> {
    let is_plain =
        destination.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"<>|\\".contains(c));
    if destination.is_empty() || destination.len() > MAX_DESTINATION_BYTES || !is_plain {
        return None;
    }
    let has_brackets = destination.contains(['(', ')']);
    Some(if has_brackets { format!("(<{destination}>)") } else { format!("({destination})") })
}

/// Returns the comments in a piece of HTML, each with its line ends as replacement.
fn without(body: &str, html: Range<usize>) -> impl Iterator<Item = (Range<usize>, String)> {
    comments(body, html).map(move |comment| {
        let num_lines = body[comment.clone()].matches('\n').count();
        (comment, "\n".repeat(num_lines))
    })
}

/// Returns the comments in a piece of HTML that are closed.
pub(super) fn comments(text: &str, html: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = html.start;
    std::iter::from_fn(move || {
        let open = at + text[at..html.end].find("<!--")?;
        at = open + text[open..html.end].find("-->")? + "-->".len();
        Some(open..at)
    })
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
        // Not a reference, or not a plain destination.
        check(
            "[x][2] [y] [z](1) `[1]` [i][it] \\[1] [[1|w]]",
            "[x][2] [y] [z](1) `[1]` [i][it] \\[1] [[1|w]]",
        );
    }

    #[test]
    fn line_numbers_do_not_change() {
        check("[a][b\nc]\n\n[b c]: /x\n", "[a][b\nc]\n\n[b c]: /x\n");
        check("a <!-- b\nc --> d\n", "a \n d\n");
        check("- a\n\n  <!-- b\n\n  c -->\n  d\n", "- a\n\n  \n\n\n  d\n");
    }

    #[test]
    fn inline_comments_are_removed() {
        check("a <!-- TODO --> b `<!-- c -->`", "a  b `<!-- c -->`");
        check("<!-- alone -->\n", "<!-- alone -->\n");
        check("a <!-- open", "a <!-- open");
    }

    #[test]
    fn the_growth_of_a_text_is_limited() {
        let definition = format!("\n\n[a]: {}\n", "x".repeat(MAX_DESTINATION_BYTES));
        let text = format!("{}{definition}", "[a] ".repeat(20_000));
        let resolved = resolve(&text, 0, super::super::OPTIONS);
        assert!(resolved.len() > text.len());
        assert!(resolved.len() <= text.len() * MAX_GROWTH + FREE_GROWTH_BYTES);
        let long = format!("[a]\n\n[a]: data:{}\n", "x".repeat(1000));
        check(&long, &long);
    }
}
