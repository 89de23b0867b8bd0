//! Reads a book in `FictionBook` 2: sections, verses, tables and notes.
//!
//! An FB2 file is one XML document: `description` has the metadata, each `body` sections, and `binary` the
//! pictures.

use super::flow::{self, FlowItem, FlowTables};
use super::grid::CellSpan;
use super::writer::BlockWriter;
use super::xml::Element;
use super::{EarlyEnd, Emit, ReaderInput};
use crate::extract::protocol::{DocumentHead, ReadingSummary};
use crate::text::decode::Decoded;

/// Elements whose text is not part of the book.
const LEFT_OUT: &[&str] =
    &["binary", "stylesheet", "document-info", "publish-info", "custom-info", "src-title-info"];

/// Reads a book.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let Decoded { text, encoding } = input.text()?;
    let mut walk = Fb2Walk::default();
    let outcome = flow::each(&text, LEFT_OUT, |content| walk.on(content));
    walk.end_paragraph();
    let (head, writer, has_root) = (walk.head, walk.writer, walk.is_book);
    let tail = flow::WalkedXml { head, writer, has_root }.emit(outcome, "FB2", emit)?;
    Ok(ReadingSummary { encoding, ..tail })
}

#[derive(Debug, Default)]
struct Fb2Walk {
    writer: BlockWriter,
    head: DocumentHead,
    is_book: bool,
    /// The names of the open elements.
    open: Vec<String>,
    /// Number of open sections.
    depth: usize,
    text: String,
    /// Paragraphs of the open title, or verses of the open stanza.
    lines: Vec<String>,
    is_in_title: bool,
    is_note: bool,
    /// Names of the open author.
    names: Vec<String>,
    tables: FlowTables,
}

impl Fb2Walk {
    fn on(&mut self, content: FlowItem<'_>) {
        match content {
            FlowItem::Open(element) => {
                self.open(element);
                self.open.push(element.name().to_owned());
            }
            FlowItem::Close(name) => {
                self.open.pop();
                self.close(name);
            }
            FlowItem::Text(text) => self.text.push_str(&text.replace(['\n', '\r', '\t'], " ")),
            FlowItem::Formula(text) => self.text.push_str(&text),
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        match element.name() {
            "FictionBook" => self.is_book = true,
            "section" => self.depth += 1,
            "title" => self.is_in_title = true,
            "table" => self.tables.begin(),
            "tr" => self.tables.begin_row(),
            name @ ("td" | "th") => {
                self.tables.begin_cell();
                let rows = element.number("rowspan").unwrap_or(1);
                let columns = element.number("colspan").unwrap_or(1);
                self.tables.span(CellSpan { rows, columns });
                if name == "th" {
                    self.tables.declare_head_cell();
                }
            }
            "a" if element.attribute("type").as_deref() == Some("note") => {
                self.is_note = true;
                self.text.push('[');
            }
            "date" => self.head.created = element.attribute("value").or(self.head.created.take()),
            "image" => {
                let words = element.attribute("alt").or(element.attribute("title"));
                self.text.extend(words.map(|words| format!(" {words} ")));
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        let parent = self.open.last().map_or("", String::as_str);
        match name {
            "section" => self.depth = self.depth.saturating_sub(1),
            "a" if std::mem::take(&mut self.is_note) => self.text.push(']'),
            "p" | "subtitle" | "text-author" => self.end_paragraph(),
            // Between paragraphs.
            "code" | "image" if !matches!(parent, "p" | "v" | "td" | "th") => self.end_paragraph(),
            "v" => {
                let line = self.take();
                self.lines.push(line);
            }
            "stanza" => {
                let verses = std::mem::take(&mut self.lines).join("\n");
                self.writer.paragraph(&verses);
            }
            "title" => {
                self.is_in_title = false;
                let is_of_section = matches!(parent, "section" | "body");
                let title = std::mem::take(&mut self.lines).join(" ");
                match u8::try_from(self.depth.clamp(1, 9)) {
                    Ok(level) if is_of_section => self.writer.heading(level, &title),
                    _ => self.writer.paragraph(&title),
                }
            }
            "td" | "th" => {
                let cell = self.take();
                self.tables.paragraph(&cell, &mut Vec::new());
                self.tables.end_cell();
            }
            "table" => self.tables.end_into(&mut self.writer),
            "book-title" | "lang" | "date" | "author" | "genre" | "keywords" | "translator"
            | "first-name" | "middle-name" | "last-name" | "nickname" | "email" | "home-page" => {
                let is_of_author = parent == "author";
                self.state(name, is_of_author);
            }
            _ => {}
        }
    }

    /// Ends an element of the metadata.
    fn state(&mut self, name: &str, is_of_author: bool) {
        let text = self.take();
        let head = &mut self.head;
        match name {
            "book-title" => head.title = Some(text),
            "lang" => head.language = Some(text),
            "date" => head.created = head.created.take().or(Some(text)),
            "author" => {
                let name = std::mem::take(&mut self.names).join(" ");
                let authors = head.author.take().into_iter().chain([name]);
                head.author = Some(authors.collect::<Vec<_>>().join(", "));
            }
            "first-name" | "middle-name" | "last-name" | "nickname"
                if is_of_author && !text.is_empty() =>
            {
                self.names.push(text);
            }
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        if self.tables.is_open() {
            self.text.push(' ');
            return;
        }
        let text = self.take();
        if self.is_in_title {
            self.lines.push(text);
        } else {
            self.writer.paragraph(&text);
        }
    }

    fn take(&mut self) -> String {
        std::mem::take(&mut self.text).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FailureKind;
    use crate::extract::protocol::AnswerLine;
    use crate::testing::output_of;

    const BOOK: &str = "<?xml version='1.0' encoding='windows-1251'?><FictionBook><description><title-info><genre>sea</genre>\
        <author><first-name>Maren</first-name><last-name>Voss</last-name></author><book-title>Tides</book-title>\
        <date value='1931-05-01'>1931</date><lang>en</lang></title-info><document-info><author><nickname>x</nickname></author>\
        </document-info></description><body><title><p>Tides</p><p>A book</p></title><section><title><p>Ebb</p></title>\
        <p>The water\nleaves<a type='note' l:href='#n1'>1</a>.</p><section><title><p>Low</p></title><poem><stanza><v>Dry</v>\
        <v>sand</v></stanza></poem></section><table><tr><th>Code</th><th>Place</th></tr><tr><td>E23</td><td>Brest</td></tr>\
        </table><code>ls</code></section></body><body name='notes'><section id='n1'><title><p>1</p></title><p>Twice.</p>\
        </section></body><binary id='a.png'>AAAA</binary></FictionBook>";

    #[test]
    fn a_book_has_sections_verses_tables_and_notes() {
        let (head, blocks) = output_of(read, BOOK.as_bytes()).unwrap();
        assert_eq!(head.title.as_deref(), Some("Tides"));
        assert_eq!(head.author.as_deref(), Some("Maren Voss"));
        assert_eq!(head.created.as_deref(), Some("1931-05-01"));
        assert_eq!(head.language.as_deref(), Some("en"));
        let table = "| Code | Place |\n| --- | --- |\n| E23 | Brest |";
        let expected = [
            "# Tides A book", "# Ebb", "The water leaves[1].", "## Low", "Dry\nsand", table, "ls",
            "# 1", "Twice.",
        ];
        assert_eq!(blocks, expected);
    }

    #[test]
    fn a_picture_of_a_book_has_no_words_and_what_describes_the_file_is_metadata() {
        let mut words = Vec::new();
        let outcome = read(&ReaderInput::of(BOOK.as_bytes()), &mut |line| {
            if let AnswerLine::Page(page) = line {
                words.extend(page.left_out.counts());
            }
            Ok(())
        });
        assert!(outcome.is_ok());
        assert_eq!(words, [(crate::document::WordDestination::Markup, 1)]);
    }

    #[test]
    fn a_book_may_declare_its_encoding() {
        let mut bytes =
            b"<?xml version=\"1.0\" encoding=\"windows-1251\"?><FictionBook><body><p>".to_vec();
        bytes.extend(b"\xCF\xF0\xE8</p></body></FictionBook>");
        assert_eq!(output_of(read, &bytes).unwrap().1, ["\u{41F}\u{440}\u{438}"]);
    }

    #[test]
    fn a_damaged_book_is_read_up_to_the_damage() {
        let xml =
            "<FictionBook><body><p>High water.</p><p>And <b>then</i></p></body></FictionBook>";
        assert_eq!(output_of(read, xml.as_bytes()).unwrap().1, ["High water.", "And then"]);
    }

    #[test]
    fn other_xml_is_refused() {
        for (xml, expected) in [
            ("<a/>", FailureKind::WrongFormat),
            ("<FictionBook></a>", FailureKind::Damaged),
            ("\0\u{1}\u{2}", FailureKind::NotText),
        ] {
            match output_of(read, xml.as_bytes()) {
                Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, expected),
                other => panic!("{other:?}"),
            }
        }
    }
}
