//! Recognises the lines of source code and their numbers, whatever elements a page has for them. Pure functions.

use ego_tree::NodeRef;
use scraper::node::Element;
use scraper::{ElementRef, Node};

/// Classes of line numbers, which are only left out if they are numbers: of Pygments, rouge, Chroma, highlight.js and GitHub.
const NUMBERS: &[&str] = &[
    "blob-num", "gutter", "hljs-ln-numbers", "line-number", "line-numbers", "lineno", "linenodiv",
    "linenos", "linenumber", "linenumbers", "ln", "lnt", "rouge-gutter",
];

/// Classes of elements that begin and end a line of code, although they are `span`.
const LINES: &[&str] = &["code-line", "token-line"];

/// Most rows of a listing that are looked at: each may be searched to its end, and the first ones show what the table
/// is.
const MAX_ROWS: usize = 100;

/// Whether an element holds the numbers of lines of code.
pub(super) fn is_line_numbers(node: NodeRef<'_, Node>, element: &Element) -> bool {
    let is_named = element.classes().any(|class| NUMBERS.contains(&class));
    is_named && has_only_numbers(node) || element.name() == "pre" && counts_lines(node)
}

/// Whether the text of a cell with others after it is consecutive numbers.
fn counts_lines(node: NodeRef<'_, Node>) -> bool {
    let cell = node.parent().filter(|cell| named(*cell).is_some_and(|cell| cell.name() == "td"));
    if cell.is_none_or(|cell| !cell.next_siblings().any(|node| named(node).is_some()))
        || !has_only_numbers(node)
    {
        return false;
    }
    let text: String =
        ElementRef::wrap(node).into_iter().flat_map(|element| element.text()).collect();
    let numbers: Option<Vec<u32>> =
        text.split_whitespace().map(|number| number.parse().ok()).collect();
    numbers.is_some_and(|numbers| {
        !numbers.is_empty()
            && numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
    })
}

/// Whether an element of source code is a line.
pub(super) fn is_line(element: &Element) -> bool {
    match element.name() {
        "div" | "li" | "p" | "tr" => true,
        "span" => {
            let style = element.attr("style").unwrap_or_default().replace(' ', "");
            element.classes().any(|class| LINES.contains(&class)) || style.contains("display:block")
        }
        _ => false,
    }
}

/// Whether a table is source code: each row has the number of a line and the line.
pub(super) fn is_listing(table: NodeRef<'_, Node>) -> bool {
    let rows = table
        .descendants()
        .filter(|node| named(*node).is_some_and(|element| element.name() == "tr"));
    let mut num_rows = 0;
    for row in rows.take(MAX_ROWS) {
        let mut cells = row.children().filter(|node| named(*node).is_some());
        let Some(first) = cells.next() else { return false };
        let Some(element) = named(first) else { return false };
        let is_number =
            element.attr("data-line-number").is_some() || is_line_numbers(first, element);
        if !is_number || cells.next().is_none() || cells.next().is_some() {
            return false;
        }
        num_rows += 1;
    }
    num_rows > 0
        && table.descendants().all(|node| named(node).is_none_or(|element| element.name() != "pre"))
}

/// Whether a piece of code directly follows another, each of which is a line.
pub(super) fn follows_code(node: NodeRef<'_, Node>) -> bool {
    node.prev_sibling().and_then(named).is_some_and(|element| element.name() == "code")
}

fn has_only_numbers(node: NodeRef<'_, Node>) -> bool {
    let mut texts = ElementRef::wrap(node).into_iter().flat_map(|element| element.text());
    texts.all(|text| text.chars().all(|c| c.is_ascii_digit() || c.is_whitespace()))
}

fn named(node: NodeRef<'_, Node>) -> Option<&Element> {
    node.value().as_element()
}

#[cfg(test)]
mod tests {
    use crate::html::tests::blocks_of;

    #[track_caller]
    fn check(page: &str, expected: &[&str]) {
        assert_eq!(blocks_of(page.as_bytes()).1, *expected, "{page}");
    }

    #[test]
    fn line_numbers_are_left_out() {
        let code = ["```\nlet a = 1;\nlet b = 2;\n```"];
        check(
            "<pre><code><table><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n</pre></td>\
             <td class=rouge-code><pre>let a = 1;\nlet b = 2;\n</pre></td></tr></table></code></pre>",
            &code,
        );
        check(
            "<table class=highlighttable><tr><td class=linenos><div class=linenodiv><pre>1\n2</pre></div></td>\
             <td class=code><div><pre>let a = 1;\nlet b = 2;\n</pre></div></td></tr></table>",
            &code,
        );
        check(
            "<table><tr><td><pre class=lines>\n\n44\n45</pre></td><td><pre>let a = 1;\nlet b = 2;</pre></td></tr></table>",
            &code,
        );
        check(
            "<pre><span class=linenos>1</span>let a = 1;\n<span class=linenos>2</span>let b = 2;</pre>",
            &code,
        );
        let row = |number, line| {
            format!(
                "<tr><td class=blob-num data-line-number={number}></td><td class=blob-code>{line}</td></tr>"
            )
        };
        check(&format!("<table>{}\n{}</table>", row(1, "let a = 1;"), row(2, "let b = 2;")), &code);
        check(
            "<pre><span class=ln>let a = 1;</span>\n<span class=mi>2</span></pre>",
            &["```\nlet a = 1;\n2\n```"],
        );
        check("<pre>1\n2</pre>", &["```\n1\n2\n```"]);
    }

    #[test]
    fn lines_stay_lines_whatever_element_makes_them() {
        for (open, close) in [
            ("<div>", "</div>"),
            ("<div>", "</div>\n"),
            ("<span class=token-line>", "<br></span>"),
            ("<span style='display: block'>", "</span>"),
            ("<li>", "\n"),
            ("<code>", "</code>"),
            ("<code>", "</code>\n"),
        ] {
            let page = format!("<pre>{open}a{close}{open}b{close}{open}c{close}</pre>");
            check(&page, &["```\na\nb\nc\n```"]);
        }
        check("<pre><div>a</div><div></div><div>b</div></pre>", &["```\na\n\nb\n```"]);
        check("<pre><div>a\n</div><div>b\n</div></pre>", &["```\na\nb\n```"]);
    }
}
