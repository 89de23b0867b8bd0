//! Walks through the elements of DITA.

use super::map::{TopicRefs, is_reference};
use crate::document::WordDestination;
use crate::extract::protocol::DocumentHead;
use crate::flow::{FlowItem, FlowTables};
use crate::grid::CellSpan;
use crate::remarks::Remark;
use crate::writer::BlockWriter;
use crate::xml::Element;

/// Deepest level that is passed on, so that it fits a byte; the writer shows six.
const MAX_LEVEL: usize = 9;

/// The kind of an element of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DitaKind {
    Topic,
    /// A part of a topic that may have a title.
    Section,
    Paragraph,
    List {
        is_numbered: bool,
    },
    Item,
    /// The term that the next definition is of.
    Term,
    Code,
    Table,
    Row,
    Cell,
    Inline,
    /// Words for an index or for programs.
    Unshown,
}

impl DitaKind {
    fn of(name: &str) -> Self {
        match name {
            "topic" | "concept" | "task" | "reference" | "glossentry" | "troubleshooting"
            | "map" | "bookmap" | "learningContent" | "learningOverview" | "learningSummary"
            | "learningAssessment" => Self::Topic,
            "section" | "example" | "refsyn" | "refsyn2" | "context" | "prereq" | "result"
            | "postreq" | "steps-informal" | "fig" | "condition" | "cause" | "remedy"
            | "troubleSolution" | "sectiondiv" | "bodydiv" | "conbodydiv" => Self::Section,
            "p"
            | "shortdesc"
            | "abstract"
            | "note"
            | "hazardstatement"
            | "lq"
            | "cmd"
            | "info"
            | "stepresult"
            | "stepxmp"
            | "tutorialinfo"
            | "stepsection"
            | "steptroubleshooting"
            | "glossdef"
            | "desc"
            | "div"
            | "linktext"
            | "body"
            | "conbody"
            | "taskbody"
            | "refbody"
            | "related-links"
            | "link"
            | "figgroup"
            | "messagepanel"
            | "typeofhazard"
            | "consequence"
            | "howtoavoid" => Self::Paragraph,
            "ul" | "sl" | "steps-unordered" | "choices" | "dl" | "parml" => {
                Self::List { is_numbered: false }
            }
            "ol" | "steps" | "substeps" => Self::List { is_numbered: true },
            "li" | "sli" | "step" | "substep" | "choice" | "dd" | "pd" => Self::Item,
            "dt" | "pt" | "glossterm" => Self::Term,
            "codeblock" | "pre" | "screen" | "msgblock" | "lines" => Self::Code,
            "table" | "simpletable" | "properties" | "choicetable" => Self::Table,
            "row" | "strow" | "sthead" | "property" | "prophead" | "chrow" | "chhead" => Self::Row,
            "entry" | "stentry" | "proptype" | "propvalue" | "propdesc" | "proptypehd"
            | "propvaluehd" | "propdeschd" | "choption" | "chdesc" | "choptionhd" | "chdeschd" => {
                Self::Cell
            }
            "indexterm" | "index-base" | "prolog" | "bookmeta" | "data" | "colspec"
            | "topicmeta" => Self::Unshown,
            _ => Self::Inline,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct DitaWalk {
    pub(super) writer: BlockWriter,
    pub(super) head: DocumentHead,
    pub(super) is_dita: bool,
    pub(super) omits_remarks: bool,
    /// The names of the open elements.
    open: Vec<String>,
    num_topics: usize,
    text: String,
    /// The text around words that are not part of it: of an index, of a draft.
    outer: Vec<String>,
    /// The open lists: the number of the last item, if they are numbered.
    lists: Vec<Option<u32>>,
    /// The mark of the item whose first paragraph has not come yet.
    mark: Option<String>,
    /// The term that the next paragraph defines.
    term: String,
    /// The label of a note: `Warning: `.
    lead: String,
    remark: Remark,
    /// How long the text was before the open menu.
    menu_start: usize,
    tables: FlowTables,
    references: TopicRefs,
}

impl DitaWalk {
    pub(super) fn on(&mut self, content: &FlowItem<'_>) {
        match content {
            FlowItem::Open(element) => {
                self.open(element);
                self.open.push(element.name().to_owned());
            }
            FlowItem::Close(name) => {
                self.open.pop();
                self.close(name);
            }
            FlowItem::Text(text) => self.text.push_str(text),
            FlowItem::Formula(text) => self.text.push_str(text),
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        let name = element.name();
        if is_reference(name) {
            self.is_dita = true;
            self.references.begin(element, &mut self.writer);
            return;
        }
        match DitaKind::of(name) {
            DitaKind::Topic => {
                self.end_paragraph();
                self.is_dita = true;
                self.num_topics += 1;
                self.head.language =
                    self.head.language.take().or_else(|| element.attribute("lang"));
                if let Some(title) = element.attribute("title") {
                    self.heading(self.num_topics, &title);
                }
            }
            DitaKind::Section | DitaKind::Code => self.end_paragraph(),
            DitaKind::Paragraph => {
                self.end_paragraph();
                if matches!(name, "note" | "hazardstatement") {
                    self.lead = lead(element);
                }
            }
            DitaKind::List { is_numbered } => {
                self.end_paragraph();
                self.lists.push(is_numbered.then_some(0));
            }
            DitaKind::Item => {
                self.end_paragraph();
                self.mark = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{number}.")
                    }
                    _ => "-".to_owned(),
                });
            }
            DitaKind::Term => self.end_paragraph(),
            DitaKind::Table => {
                self.end_paragraph();
                self.tables.begin();
            }
            DitaKind::Row => {
                self.tables.begin_row();
                // DITA declares the head around its rows (`thead`) or by the names of the rows.
                let is_in_head = self.open.last().is_some_and(|outer| outer == "thead");
                if is_in_head || matches!(element.name(), "sthead" | "prophead" | "chhead") {
                    self.tables.declare_head();
                }
            }
            DitaKind::Cell => {
                self.tables.begin_cell();
                let num_more = element.attribute("morerows").and_then(|number| number.parse().ok());
                let rows = num_more.map_or(1, |num_more: usize| num_more.saturating_add(1));
                self.tables.span(CellSpan { rows, columns: 1 + num_spanned(element) });
            }
            DitaKind::Unshown => {
                self.outer.push(std::mem::take(&mut self.text));
            }
            DitaKind::Inline => self.open_inline(element),
        }
    }

    fn open_inline(&mut self, element: &Element<'_>) {
        match element.name() {
            "title" | "booktitle" | "mainbooktitle" | "booktitlealt" => self.end_paragraph(),
            "image" => {
                if let Some(words) = element.attribute("alt") {
                    self.text.push_str(&format!(" {words} "));
                }
            }
            "uicontrol" => {
                let is_in_menu = self.open.last().is_some_and(|parent| parent == "menucascade");
                if is_in_menu && self.text.len() > self.menu_start {
                    self.text.push_str(" > ");
                }
            }
            "menucascade" => self.menu_start = self.text.len(),
            "codeph" => self.text.push('`'),
            "fn" => self.text.push_str(" ("),
            "draft-comment" => {
                self.outer.push(std::mem::take(&mut self.text));
                self.remark = Remark {
                    author: element.attribute_or_empty("author"),
                    date: element.attribute_or_empty("time"),
                    ..Remark::default()
                };
            }
            "created" => self.head.created = element.attribute("date").or(self.head.created.take()),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        if is_reference(name) {
            self.references.end(&mut self.writer);
            return;
        }
        match DitaKind::of(name) {
            DitaKind::Topic => {
                self.end_paragraph();
                self.num_topics = self.num_topics.saturating_sub(1);
            }
            DitaKind::Section | DitaKind::Paragraph => {
                self.end_paragraph();
                self.lead.clear();
            }
            DitaKind::List { .. } => {
                self.end_paragraph();
                self.lists.pop();
                if self.lists.is_empty() {
                    self.writer.end_item();
                }
            }
            DitaKind::Item => {
                self.end_paragraph();
                self.mark = None;
            }
            DitaKind::Term => self.term = self.take(),
            DitaKind::Code => self.end_code(),
            DitaKind::Table => self.tables.end_into(&mut self.writer),
            DitaKind::Row => {}
            DitaKind::Cell => {
                self.end_paragraph();
                self.tables.end_cell();
            }
            DitaKind::Unshown => {
                let words = self.take();
                self.writer.left_out.add(WordDestination::Markup, &words);
                self.text = self.outer.pop().unwrap_or_default();
            }
            DitaKind::Inline => self.close_inline(name),
        }
    }

    fn close_inline(&mut self, name: &str) {
        match name {
            "title" | "mainbooktitle" | "booktitlealt" => self.end_title(),
            "codeph" => self.text.push('`'),
            "fn" => self.text.push(')'),
            "navtitle" => {
                let title = self.take();
                self.references.title(&title, &mut self.writer);
            }
            "author" | "authorname" => {
                let name = self.take();
                let authors = self.head.author.take().into_iter().chain([name]);
                self.head.author = Some(authors.collect::<Vec<_>>().join(", "));
            }
            "draft-comment" => {
                self.remark.text = self.take();
                self.text = self.outer.pop().unwrap_or_default();
                self.writer.remark(&std::mem::take(&mut self.remark), self.omits_remarks);
            }
            _ => {}
        }
    }

    fn end_title(&mut self) {
        let title = self.take();
        let parent = self.open.last().map_or("", String::as_str);
        match DitaKind::of(parent) {
            DitaKind::Topic => self.heading(self.num_topics, &title),
            DitaKind::Section if parent != "fig" => self.heading(self.num_topics + 1, &title),
            _ if parent == "booktitle" => self.heading(1, &title),
            // The caption of a table or a figure is above it.
            _ => self.writer.paragraph(&title),
        }
    }

    fn heading(&mut self, level: usize, title: &str) {
        self.writer.heading(u8::try_from(level.clamp(1, MAX_LEVEL)).unwrap_or(1), title);
    }

    /// Writes the text so far as a paragraph of the cell, the item or the topic that it is in.
    pub(super) fn end_paragraph(&mut self) {
        let text = self.take();
        if text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.lead) + &text;
        if self.tables.paragraph(&text, &mut Vec::new()) {
            return;
        }
        let depth = self.lists.len().saturating_sub(1);
        match self.mark.take() {
            Some(mark) if self.term.is_empty() => self.writer.item(depth, &mark, &text),
            Some(mark) => {
                let term = std::mem::take(&mut self.term);
                self.writer.item(depth, &mark, &format!("{term}: {text}"));
            }
            None if !self.lists.is_empty() => self.writer.continue_item(depth, &text),
            None => {
                let term = std::mem::take(&mut self.term);
                let lead = if term.is_empty() { term } else { term + ": " };
                self.writer.paragraph(&(lead + &text));
            }
        }
    }

    fn end_code(&mut self) {
        let code = std::mem::take(&mut self.text);
        if self.tables.paragraph(&code, &mut Vec::new()) {
            return;
        }
        match self.lists.len() {
            0 => self.writer.code("", &code),
            num_lists => self.writer.item_code(num_lists - 1, "", &code),
        }
    }

    /// Returns the text so far on one line.
    fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Returns what begins a note.
fn lead(note: &Element<'_>) -> String {
    let kind = note.attribute("type").unwrap_or_else(|| "note".to_owned());
    if kind == "other" {
        return note.attribute("othertype").map_or(String::new(), |kind| format!("{kind}: "));
    }
    let mut letters = kind.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect::<String>() + ": "
}

/// Returns how many more columns a cell takes, by the numbers in the names of its first and its last column.
fn num_spanned(cell: &Element<'_>) -> usize {
    let (first, last) = (column_number(cell, "namest"), column_number(cell, "nameend"));
    let num_more = last.unwrap_or(0).saturating_sub(first.unwrap_or(usize::MAX));
    num_more.min(crate::writer::MAX_COLUMNS)
}

/// Returns the number at the end of the name of a column: 2 of `col2`.
fn column_number(cell: &Element<'_>, attribute: &str) -> Option<usize> {
    let name = cell.attribute(attribute)?;
    name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}
