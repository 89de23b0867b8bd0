//! Converts elements into blocks, as they open and close.
//!
//! The traversal is not recursive, as a page may be nested to any depth.

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::node::Element;
use scraper::{ElementRef, Node};

use super::content;
use crate::extract::reader::writer::Writer;

/// Elements within a line of text; all others begin and end a line.
const INLINE: &[&str] = &[
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "nobr", "q", "rp", "rt", "ruby", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// Most columns that a cell may span.
const MAX_SPAN: usize = 50;

/// Writes the readable content below `root`.
pub(super) fn write(root: ElementRef<'_>, is_main: bool, writer: &mut Writer) {
    let mut walk = Walk {
        writer,
        text: String::new(),
        heading: 0,
        pre: None,
        lists: Vec::new(),
        has_item: false,
        table: None,
    };
    let mut left_out: Option<NodeId> = None;
    for edge in root.traverse() {
        match edge {
            Edge::Open(node) if left_out.is_none() => match node.value() {
                Node::Element(element) => {
                    if node.id() != root.id() && content::is_left_out(node, element, is_main) {
                        left_out = Some(node.id());
                    } else {
                        walk.open(node, element);
                    }
                }
                Node::Text(text) => walk.text(text),
                _ => {}
            },
            Edge::Close(node) if left_out == Some(node.id()) => left_out = None,
            Edge::Close(node) if left_out.is_none() => {
                if let Node::Element(element) = node.value() {
                    walk.close(node, element);
                }
            }
            Edge::Open(_) | Edge::Close(_) => {}
        }
    }
    walk.flush();
}

/// An open list.
struct List {
    /// Number of its next item; `None` without numbers.
    next: Option<u64>,
}

/// An open table.
struct Table {
    id: NodeId,
    rows: Vec<Vec<String>>,
}

struct Walk<'a> {
    writer: &'a mut Writer,
    /// Text since the last line break.
    text: String,
    /// Level of the open heading; 0 if none is open.
    heading: u8,
    /// The open `pre` and its language.
    pre: Option<(NodeId, String)>,
    lists: Vec<List>,
    /// Whether the open item already has its first line.
    has_item: bool,
    table: Option<Table>,
}

impl Walk<'_> {
    fn text(&mut self, text: &str) {
        if self.pre.is_some() {
            self.text.push_str(text);
        } else {
            // Line ends in the file are not line breaks; `br` elements are.
            self.text.extend(text.chars().map(|c| if c == '\n' { ' ' } else { c }));
        }
    }

    fn open(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let name = element.name();
        if let Some(table) = &mut self.table {
            match name {
                "tr" => table.rows.push(Vec::new()),
                "td" | "th" => self.text.clear(),
                "br" => self.text.push(' '),
                _ if !INLINE.contains(&name) => self.text.push(' '),
                _ => {}
            }
            return;
        }
        if self.pre.is_some() {
            match name {
                "br" => self.text.push('\n'),
                "code" => self.set_language(element),
                _ => {}
            }
            return;
        }
        match name {
            "br" => self.text.push('\n'),
            "code" | "kbd" | "samp" | "tt" => self.text.push('`'),
            _ if INLINE.contains(&name) => {}
            _ => {
                self.flush();
                self.open_block(node, element);
            }
        }
    }

    fn open_block(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        match element.name() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading = level(element.name()),
            "ul" | "dl" => self.lists.push(List { next: None }),
            "ol" => {
                let start = element.attr("start").and_then(|number| number.parse().ok());
                self.lists.push(List { next: Some(start.unwrap_or(1)) });
            }
            // The definition of a term continues below the term.
            "li" | "dt" => self.has_item = false,
            "pre" => {
                self.pre = Some((node.id(), String::new()));
                self.set_language(element);
                if let Some(Node::Element(parent)) = node.parent().map(|parent| parent.value()) {
                    self.set_language(parent);
                }
            }
            "table" if is_data(node) => {
                self.table = Some(Table { id: node.id(), rows: Vec::new() });
            }
            _ => {}
        }
    }

    fn close(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let name = element.name();
        if let Some(table) = &mut self.table {
            if table.id == node.id() {
                let rows = std::mem::take(&mut table.rows);
                self.table = None;
                self.text.clear();
                self.writer.table(rows);
            } else if matches!(name, "td" | "th") {
                let span =
                    element.attr("colspan").and_then(|columns| columns.parse().ok()).unwrap_or(1);
                let cell = std::mem::take(&mut self.text);
                if table.rows.is_empty() {
                    table.rows.push(Vec::new());
                }
                if let Some(row) = table.rows.last_mut() {
                    row.push(cell);
                    row.resize(row.len() + usize::clamp(span, 1, MAX_SPAN) - 1, String::new());
                }
            } else if name == "caption" {
                let caption = std::mem::take(&mut self.text);
                self.writer.paragraph(&caption);
            }
            return;
        }
        if let Some((id, language)) = &mut self.pre {
            if *id == node.id() {
                let language = std::mem::take(language);
                self.pre = None;
                let text = std::mem::take(&mut self.text);
                match self.lists.len().checked_sub(1) {
                    Some(depth) => self.writer.item_code(depth, &language, &text),
                    None => self.writer.code(&language, &text),
                }
            }
            return;
        }
        match name {
            "code" | "kbd" | "samp" | "tt" => self.close_code(),
            "br" => {}
            _ if INLINE.contains(&name) => {}
            _ => {
                self.flush();
                match name {
                    "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading = 0,
                    "ul" | "ol" | "dl" => {
                        self.lists.pop();
                        if self.lists.is_empty() {
                            self.writer.end_item();
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Ends inline code; empty code leaves no backquotes.
    fn close_code(&mut self) {
        if self.text.ends_with('`') {
            self.text.pop();
        } else {
            self.text.push('`');
        }
    }

    fn set_language(&mut self, element: &Element) {
        let named = element.classes().find_map(|class| {
            let name = ["language-", "lang-", "highlight-source-", "highlight-"];
            name.iter().find_map(|prefix| class.strip_prefix(prefix))
        });
        if let (Some((_, language)), Some(named)) = (&mut self.pre, named)
            && language.is_empty()
            && !matches!(named, "default" | "none")
        {
            named.clone_into(language);
        }
    }

    /// Writes the text read so far.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return;
        }
        if self.heading > 0 && self.lists.is_empty() {
            self.writer.heading(self.heading, &text);
            return;
        }
        let depth = self.lists.len().saturating_sub(1);
        match self.lists.last_mut() {
            None => self.writer.paragraph(&text),
            Some(_) if self.has_item => self.writer.continue_item(depth, &text),
            Some(list) => {
                let marker = match &mut list.next {
                    Some(next) => {
                        *next = next.saturating_add(1);
                        format!("{}.", *next - 1)
                    }
                    None => "-".to_owned(),
                };
                self.has_item = true;
                self.writer.item(depth, &marker, &text);
            }
        }
    }
}

fn level(name: &str) -> u8 {
    name.as_bytes().get(1).map_or(1, |digit| digit.saturating_sub(b'0'))
}

/// Whether a table has rows of data and is not used for layout. A layout table contains elements
/// that a cell of data does not contain, or has only one row or column.
fn is_data(table: NodeRef<'_, Node>) -> bool {
    const LAYOUT: &[&str] = &["table", "h1", "h2", "h3", "h4", "h5", "h6", "form", "pre"];
    let mut num_rows = 0;
    let mut num_cells = 0;
    for element in table.descendants().skip(1).filter_map(|node| node.value().as_element()) {
        match element.name() {
            "tr" => num_rows += 1,
            "td" | "th" => num_cells += 1,
            name if LAYOUT.contains(&name) => return false,
            _ => {}
        }
    }
    let role = table.value().as_element().and_then(|element| element.attr("role"));
    !matches!(role, Some("presentation" | "none")) && num_rows > 1 && num_cells > num_rows
}

#[cfg(test)]
mod tests {
    use crate::extract::reader::html::tests::blocks_of;

    #[track_caller]
    fn check(page: &str, expected: &[&str]) {
        assert_eq!(blocks_of(page.as_bytes()).1, expected, "{page}");
    }

    #[test]
    fn headings_paragraphs_and_links_become_text() {
        check(
            "<h1>Tide\n <em>gauges</em></h1><p>See <a href=x>the table</a> of\n 1902.<br>Or not.\
             <div>loose<p>more</div>",
            &["# Tide gauges", "See the table of 1902.\nOr not.", "loose", "more"],
        );
    }

    #[test]
    fn lists_keep_their_structure() {
        check(
            "<ul><li>one<ol start=3><li><p>a</p><p>b</p></li><li>c</ol></li>\
             <li><p>two</p><pre>x\n y</pre></ul>after",
            &["- one\n  3. a\n    b\n  4. c", "- two\n  ```\n  x\n   y\n  ```", "after"],
        );
    }

    #[test]
    fn a_term_and_its_definition_stay_together() {
        check(
            "<dl><dt><code>-h</code><dd>Help.<p>More.<dt>-v<dd>Version.<dl><dt>in<dd>out</dl></dl>",
            &["- `-h`\n  Help.\n  More.", "- -v\n  Version.\n  - in\n    out"],
        );
    }

    #[test]
    fn tables_of_data_become_tables() {
        check(
            "<table><caption>Codes</caption><thead><tr><th>Code<th>Meaning</tr></thead>\
             <tr><td>E23<td>Well <b>blocked</b><br>or | dry<tr><td colspan=2>none</table>",
            &[
                "Codes",
                "| Code | Meaning |\n| --- | --- |\n| E23 | Well blocked or \\| dry |\n| none |  |",
            ],
        );
    }

    #[test]
    fn layout_tables_become_text() {
        check(
            "<table><tr><td><h2>Left</h2>words</td><td>right</td></tr><tr><td>x<td>y</table>",
            &["## Left", "words", "right", "x", "y"],
        );
        check("<table><tr><td>one<td>row</table>", &["one", "row"]);
    }

    #[test]
    fn source_code_is_unchanged() {
        check(
            "<pre><code class='x language-sh'>if a\n  <b>then</b> b\n</code></pre>\
             <p>Call <code>kb</code><code></code> now.",
            &["```sh\nif a\n  then b\n```", "Call `kb` now."],
        );
    }

    #[test]
    fn text_that_is_not_content_is_left_out() {
        check(
            "<header><nav><a>Home</a></nav></header><script>var x</script><style>p{}</style>\
             <div class='x sidebar'>side</div><div role=navigation>go</div><p hidden>no</p>\
             <p style='display: none'>no</p><h2>Title<a href='#t'>¶</a></h2><p>Words\
             <footer>imprint</footer>",
            &["## Title", "Words"],
        );
    }

    #[test]
    fn only_the_main_part_is_read() {
        check(
            "<div>Buy now</div><main><aside>Note: mind the gate.</aside><p>The gauge is read at \
             noon every day.</main><div>more offers</div>",
            &["Note: mind the gate.", "The gauge is read at noon every day."],
        );
        // A main part with almost no text is a mistake.
        check("<main>x</main><p>all the words are here", &["x", "all the words are here"]);
    }
}
