//! Finds the links between notes, and the tags, in the text of Markdown (pulldown-cmark).

use std::ops::Range;

use percent_encoding::percent_decode_str;
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_WIKILINKS);

/// A link to another document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteLink {
    /// The name of a document, or a relative path, without heading and percent escapes; never empty.
    pub name: String,
    /// Whether it is a path, as in `[text](file.md)`, and not a wikilink or embed, as in `[[Name]]` and `![[Name]]`.
    pub is_path: bool,
    /// Where it is in the text.
    pub bytes: Range<usize>,
}

/// Returns the links of a text in order, without those in code, to other places of the same text, and to addresses.
pub fn note_links(text: &str) -> Vec<NoteLink> {
    links_at(text, 0)
}

/// How deep admonitions in admonitions are read, which bounds the work for hostile ones.
const MAX_DEPTH: usize = 4;

fn links_at(text: &str, depth: usize) -> Vec<NoteLink> {
    let mut found = Vec::new();
    if !text.contains("[[") && !text.contains("](") {
        return found;
    }
    let mut is_announced = false;
    let mut body: Option<AdmonitionText> = None;
    for (event, bytes) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        match event {
            Event::Start(Tag::Paragraph) => is_announced = announces_body(&text[bytes]),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) if is_announced => {
                body = (depth < MAX_DEPTH).then(AdmonitionText::default);
            }
            Event::Text(_) => {
                if let Some(body) = &mut body {
                    body.starts.push((body.text.len(), bytes.start));
                    body.text += &text[bytes];
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                found.extend(body.take().into_iter().flat_map(|body| body.links(depth + 1)));
            }
            Event::Start(
                Tag::Link { link_type: kind, dest_url: target, .. }
                | Tag::Image { link_type: kind, dest_url: target, .. },
            ) => found.extend(link(text, bytes, kind, &target)),
            _ => {}
        }
    }
    found
}

/// Whether a paragraph begins an admonition or a tab of `MkDocs`, whose indented text is no code.
fn announces_body(paragraph: &str) -> bool {
    ["!!! ", "??? ", "???+ ", "=== \""].iter().any(|mark| paragraph.starts_with(mark))
}

/// The text of an admonition without its indentation.
#[derive(Default)]
struct AdmonitionText {
    text: String,
    /// Where its parts begin, here and in the text around it.
    starts: Vec<(usize, usize)>,
}

impl AdmonitionText {
    fn links(self, depth: usize) -> Vec<NoteLink> {
        let mut links = links_at(&self.text, depth);
        for NoteLink { bytes, .. } in &mut links {
            *bytes = self.outside(bytes.start)..self.outside(bytes.end - 1) + 1;
        }
        links
    }

    /// Returns the place in the text around it of a place in this text.
    fn outside(&self, at: usize) -> usize {
        let idx = self.starts.partition_point(|(start, _)| *start <= at) - 1;
        at - self.starts[idx].0 + self.starts[idx].1
    }
}

fn link(text: &str, bytes: Range<usize>, kind: LinkType, target: &str) -> Option<NoteLink> {
    let is_path = !matches!(kind, LinkType::WikiLink { .. });
    let name = match kind {
        LinkType::Autolink | LinkType::Email => return None,
        _ if is_path => relative(target)?.0,
        _ => {
            // The name is read from the text, because the parser decodes entities in addresses. In a table, a backslash
            // is before the bar.
            let inside = text[bytes.clone()].trim_start_matches(['!', '[']);
            let name = inside.split(['|', ']', '#', '^']).next().unwrap_or_default();
            name.trim_end_matches('\\').trim().to_owned()
        }
    };
    (!name.is_empty()).then_some(NoteLink { name, is_path, bytes })
}

/// Splits the target of a link into path and anchor, both decoded; `None` unless it is a relative path.
pub fn relative(target: &str) -> Option<(String, Option<String>)> {
    if target.starts_with('/')
        || target.split_once(':').is_some_and(|(prefix, _)| is_scheme(prefix))
    {
        return None;
    }
    let (file, anchor) = match target.split_once('#') {
        Some((file, anchor)) => (file, Some(anchor).filter(|anchor| !anchor.is_empty())),
        None => (target, None),
    };
    let file = file.split('?').next().unwrap_or_default();
    Some((percent_decoded(file), anchor.map(percent_decoded)))
}

/// Whether the text before a colon can be the scheme of an address, not a part of a path.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
}

fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Returns the tags in a text, such as `#sea/tides`, in order, without those in code, links and HTML.
pub fn tags(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    if !text.contains('#') {
        return found;
    }
    for (event, bytes) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Link { .. } | Tag::Image { .. }) => depth += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Link | TagEnd::Image) => depth -= 1,
            Event::Text(_) if depth == 0 => {
                let starts = text[bytes.clone()].match_indices('#').map(|(at, _)| bytes.start + at);
                found.extend(starts.filter_map(|at| tag(text, at)));
            }
            _ => {}
        }
    }
    found
}

/// Returns the tag that begins with the `#` at a position, if one does.
fn tag(text: &str, at: usize) -> Option<&str> {
    let (before, rest) = (text[..at].chars().next_back(), &text[at + 1..]);
    let is_first = before.is_none_or(|c| c.is_whitespace() || "([{\"'|".contains(c));
    let end = rest.find(|c: char| !c.is_alphanumeric() && !"-_/".contains(c));
    let end = end.unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches('/');
    (is_first && name.starts_with(char::is_alphabetic)).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Compares the names of links; a path has `/` before it.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let links = note_links(text).into_iter();
        let names =
            links.map(|link| format!("{}{}", if link.is_path { "/" } else { "" }, link.name));
        assert_eq!(names.collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn wikilinks_have_aliases_headings_and_blocks() {
        check("See [[Kyoto]] and [[ sea/Tides |the *tides*]].", &["Kyoto", "sea/Tides"]);
        check("[[a#Trips]] [[b#Trips#Autumn|x]] [[c^b-1]] [[d#^b-1]]", &["a", "b", "c", "d"]);
        check("![[chart.png]]\n\n![[Kyoto#Trips|200]]", &["chart.png", "Kyoto"]);
        check("| a | b |\n|---|---|\n| [[Kyoto\\|k]] | [[Tea]] |\n", &["Kyoto", "Tea"]);
        check("- [ ] [[A & B]]\n> [[C (d)]]", &["A & B", "C (d)"]);
    }

    #[test]
    fn callouts_and_admonitions_have_links() {
        check("> [!tip]- See [[a]]\n> ![[b]]\n>\n> [c](c.md)\n", &["a", "b", "/c.md"]);
        let text = "!!! note \"Title\"\n\n    See [[a]] and [b\n    c](d.md).\n\n    ??? tip\n\n        é [[e]]\n\n            [[f]]\n\nText.\n\n    [[g]]\n";
        check(text, &["a", "/d.md", "e"]);
        let deep: String = (0..2000).map(|n| format!("{}!!! a\n\n", " ".repeat(4 * n))).collect();
        check(&format!("{deep}{}[[a]]\n\n[[b]]\n", " ".repeat(8000)), &["b"]);
        let written: Vec<&str> =
            note_links(text).into_iter().map(|link| &text[link.bytes]).collect();
        assert_eq!(written, ["[[a]]", "[b\n    c](d.md)", "[[e]]"]);
        check("=== \"Tab\"\n\n    ```\n    [[a]]\n\n    [[b]]\n    ```\n\n    [[c]]\n", &["c"]);
    }

    #[test]
    fn relative_links_are_links() {
        check(
            "[a](b.md) [c](../d%20e.md#F%20g) ![p](p.png) [x](<y z.md>)",
            &["/b.md", "/../d e.md", "/p.png", "/y z.md"],
        );
        check(
            "[a](https://a.org/b.md) [b](/c.md) [d](#e) <https://f.org> [g](mailto:h@i.org)",
            &[],
        );
    }

    #[test]
    fn code_and_the_same_text_have_no_links() {
        check("`[[a]]` ``[b](c.md)``\n\n```toml\n[[tool]]\n```\n\n    [[d]]\n", &[]);
        check("[[#Here]] [[]] [[ ]] [[^b]] \\[[x]] [a]: b [c]", &[]);
    }

    #[track_caller]
    fn check_tags(text: &str, expected: &[&str]) {
        assert_eq!(tags(text), expected, "{text}");
    }

    #[test]
    fn tags_begin_with_a_letter() {
        check_tags(
            "#sea and #sea/tides_1, (#über-all) #日本",
            &["sea", "sea/tides_1", "über-all", "日本"],
        );
        check_tags("- #a/\n\n> #b. | **#no** _x_ #c_d_e", &["a", "b", "c_d_e"]);
        check_tags("# Heading\n\n## Two #deep\n\n#123 #-x # y a#b \\#c &#35; C# F#", &["deep"]);
    }

    #[test]
    fn code_links_and_html_have_no_tags() {
        check_tags("`#a`\n\n```sh\n#b\n```\n\n    #c\n", &[]);
        check_tags("[[x#y]] [ #z](#w) https://a.org/ #ok <a href=\"#b\">", &["ok"]);
        check_tags("https://a.org/#frag <https://a.org/#b>\n\n<p>\n#html\n</p>\n", &[]);
    }

    proptest! {
        #[test]
        fn links_and_tags_are_in_the_text(
            text in "(\\[\\[|\\]\\]|!!! |\n\n    |!|\\||#|\\^|`|\\[a\\]\\(|\\)|%2|\\\\|[a-zé日 \n/.<>&-]){0,60}",
        ) {
            for link in note_links(&text) {
                prop_assert!(text.get(link.bytes.clone()).is_some_and(|part| !part.is_empty()));
                prop_assert!(!link.name.is_empty());
            }
            for tag in tags(&text) {
                let written = format!("#{tag}");
                prop_assert!(text.contains(&written));
            }
        }

        #[test]
        fn any_text_is_scanned(text in any::<String>()) {
            note_links(&text);
            tags(&text);
        }
    }
}
