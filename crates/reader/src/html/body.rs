//! Converts elements into blocks, as they open and close.
//!
//! The traversal is not recursive, as a page may be nested to any depth.

use ego_tree::iter::Edge;
use ego_tree::{NodeId, NodeRef};
use scraper::Node;
use scraper::node::Element;

use super::content::{PageContent, missed, shown};
use super::elements::{is_inline, level};
use super::parse::parse;
use super::{code, math};
use crate::document::WordDestination;
use crate::grid::{CellSpan, TableGrid};
use crate::parts::is_description;
use crate::writer::BlockWriter;

/// Writes the content of a page, with the pages in its frames.
pub(super) fn write(content: &PageContent<'_>, writer: &mut BlockWriter) {
    write_page(content, writer, true);
}

/// Writes the content of a page. The pages in frames of frames are not read, as they may be nested to any depth.
fn write_page(content: &PageContent<'_>, writer: &mut BlockWriter, reads_frames: bool) {
    let mut walk = HtmlWalk {
        writer,
        text: String::new(),
        heading: 0,
        level: 1,
        pre: None,
        ends_line: false,
        line_start: 0,
        lists: Vec::new(),
        has_item: false,
        table: None,
    };
    let mut is_in_root = false;
    // The open elements that are not read, and why; words that are not for people have no reason.
    let mut skipped: Vec<(NodeId, Option<WordDestination>)> = Vec::new();
    for edge in content.body.traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Element(element) if shown::is_source(element) => {
                    skipped.push((node.id(), None));
                }
                Node::Element(element) if skipped.is_empty() => {
                    is_in_root |= node.id() == content.root.id();
                    let frame = element.attr("srcdoc").filter(|_| is_in_root && reads_frames);
                    if let Some(page) = frame {
                        walk.flush();
                        let frame = parse(page).html;
                        write_page(&PageContent::whole(&frame), walk.writer, false);
                        skipped.push((node.id(), None));
                    } else if let Some(reason) = content.leaves_out(node, element) {
                        skipped.push((node.id(), Some(reason)));
                    } else if is_in_root && element.name() == "math" {
                        walk.text(&math::text(node));
                        skipped.push((node.id(), None));
                    } else if is_in_root && code::is_line_numbers(node, element) {
                        skipped.push((node.id(), Some(WordDestination::Markup)));
                    } else if is_in_root {
                        walk.label(content.label(node));
                        walk.open(node, element);
                    }
                }
                Node::Element(element) => {
                    let within = skipped.last().and_then(|(_, reason)| *reason);
                    let reason = within.and_then(|within| PageContent::restates(within, element));
                    skipped.extend(reason.map(|reason| (node.id(), Some(reason))));
                }
                Node::Text(text) => match skipped.last() {
                    None if is_in_root => walk.text(text),
                    None | Some((_, Some(WordDestination::Outside))) => {
                        let mut destination = WordDestination::Frame;
                        if missed::is_paragraph(node) {
                            destination = WordDestination::Outside;
                        }
                        walk.writer.left_out.add(destination, text);
                    }
                    Some((_, Some(reason))) => walk.writer.left_out.add(*reason, text),
                    Some((_, None)) => {}
                },
                _ => {}
            },
            Edge::Close(node) if skipped.last().is_some_and(|(id, _)| *id == node.id()) => {
                skipped.pop();
            }
            Edge::Close(node) if is_in_root && skipped.is_empty() => {
                if let Node::Element(element) = node.value() {
                    walk.close(node, element);
                }
                is_in_root = node.id() != content.root.id();
            }
            Edge::Close(_) => {}
        }
    }
    walk.flush();
}

/// An open list.
struct HtmlList {
    /// Number of its next item; `None` without numbers.
    next: Option<u64>,
}

/// An open table.
struct HtmlTable {
    id: NodeId,
    grid: TableGrid,
    is_in_head: bool,
}

struct HtmlWalk<'a> {
    writer: &'a mut BlockWriter,
    /// Text since the last line break.
    text: String,
    /// Level of the open heading; 0 if none is open.
    heading: u8,
    /// Level of the last heading, to which a panel belongs.
    level: u8,
    /// The open `pre` and its language.
    pre: Option<(NodeId, String)>,
    /// Whether a line of code has ended, and where in the text it began.
    ends_line: bool,
    line_start: usize,
    lists: Vec<HtmlList>,
    /// Whether the open item already has its first line.
    has_item: bool,
    table: Option<HtmlTable>,
}

impl HtmlWalk<'_> {
    fn text(&mut self, text: &str) {
        if self.pre.is_some() {
            if self.ends_line && !text.starts_with('\n') {
                self.text.push('\n');
            }
            self.ends_line = false;
            self.text.push_str(text);
        } else {
            // Line ends in the file are not line breaks; `br` elements are.
            self.text.extend(text.chars().map(|c| if c == '\n' { ' ' } else { c }));
        }
    }

    /// Writes the label of a panel as a heading.
    fn label(&mut self, label: Option<&str>) {
        let Some(label) = label.filter(|_| self.table.is_none() && self.pre.is_none()) else {
            return;
        };
        self.flush();
        let heading = std::mem::replace(&mut self.heading, self.level + 1);
        self.text.push_str(label);
        self.flush();
        self.heading = heading;
    }

    fn open(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let name = element.name();
        if let Some(table) = &mut self.table {
            match name {
                "tr" => {
                    table.grid.begin_row();
                    if table.is_in_head {
                        table.grid.declare_head();
                    }
                }
                "thead" | "tbody" | "tfoot" => {
                    table.is_in_head = name == "thead";
                    table.grid.begin_group();
                }
                "td" | "th" => self.text.clear(),
                "br" => self.text.push(' '),
                "img" => self.picture(element),
                _ if !is_inline(name) => self.text.push(' '),
                _ => {}
            }
            return;
        }
        if self.pre.is_some() {
            match name {
                "br" => self.text.push('\n'),
                "code" => {
                    // The same example in another language, not the next line.
                    let last = self.text.get(self.line_start..).unwrap_or_default();
                    if last.contains('\n') && !last.ends_with('\n') {
                        self.write_code();
                    }
                    if !self.text.ends_with('\n') && code::follows_code(node) {
                        self.text.push('\n');
                    }
                    self.line_start = self.text.len();
                    self.set_language(element);
                }
                _ if code::is_line(element) => {
                    let is_within = !self.text.is_empty() && !self.text.ends_with('\n');
                    if self.ends_line || is_within {
                        self.text.push('\n');
                    }
                    self.ends_line = false;
                    self.line_start = self.text.len();
                }
                _ => {}
            }
            return;
        }
        match name {
            "br" => self.text.push('\n'),
            "img" => self.picture(element),
            "code" | "kbd" | "samp" | "tt" => self.text.push('`'),
            _ if is_inline(name) => {}
            _ => {
                self.flush();
                self.open_block(node, element);
            }
        }
    }

    fn open_block(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        match element.name() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.heading = level(element.name());
                self.level = self.heading;
            }
            "ul" | "dl" => self.lists.push(HtmlList { next: None }),
            "ol" => {
                let start = element.attr("start").and_then(|number| number.parse().ok());
                self.lists.push(HtmlList { next: Some(start.unwrap_or(1)) });
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
            "table" if code::is_listing(node) => self.pre = Some((node.id(), String::new())),
            "table" if is_data(node) => {
                let grid = TableGrid::default();
                self.table = Some(HtmlTable { id: node.id(), grid, is_in_head: false });
            }
            _ => {}
        }
    }

    fn close(&mut self, node: NodeRef<'_, Node>, element: &Element) {
        let name = element.name();
        if let Some(table) = &mut self.table {
            if table.id == node.id() {
                let grid = std::mem::take(&mut table.grid);
                self.table = None;
                self.text.clear();
                self.writer.grid(grid);
            } else if matches!(name, "td" | "th") {
                table.grid.cell(std::mem::take(&mut self.text), span(element));
                if name == "th" {
                    table.grid.declare_head_cell();
                }
            } else if name == "caption" {
                let caption = std::mem::take(&mut self.text);
                self.writer.paragraph(&caption);
            }
            return;
        }
        if let Some((id, _)) = &self.pre {
            if *id == node.id() {
                self.write_code();
                self.pre = None;
            } else if code::is_line(element) {
                let is_empty = self.text.len() == self.line_start;
                self.ends_line = is_empty || !self.text.ends_with('\n');
            }
            return;
        }
        match name {
            "code" | "kbd" | "samp" | "tt" => self.close_code(),
            "br" => {}
            _ if is_inline(name) => {}
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

    /// Adds the description of a picture.
    fn picture(&mut self, element: &Element) {
        if let Some(description) = element.attr("alt").filter(|text| is_description(text)) {
            self.text.push(' ');
            self.text(description);
            self.text.push(' ');
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

    /// Writes the source text read so far.
    fn write_code(&mut self) {
        let language = self.pre.as_mut().map(|(_, language)| std::mem::take(language));
        (self.ends_line, self.line_start) = (false, 0);
        let (language, text) = (language.unwrap_or_default(), std::mem::take(&mut self.text));
        match self.lists.len().checked_sub(1) {
            Some(depth) => self.writer.item_code(depth, &language, &text),
            None => self.writer.code(&language, &text),
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

/// Returns how many rows and columns a cell takes.
fn span(cell: &Element) -> CellSpan {
    // Zero rows are all up to the end of the group of rows.
    let rows = number(cell, "rowspan").map_or(1, |rows| if rows == 0 { usize::MAX } else { rows });
    CellSpan { rows, columns: number(cell, "colspan").unwrap_or(1) }
}

fn number(cell: &Element, name: &str) -> Option<usize> {
    cell.attr(name)?.trim().parse().ok()
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
mod tests;
