//! Reads diagrams of draw.io: the words on shapes and arrows, with the name of each page as heading.
//!
//! A page is XML in the file, or packed: the XML as an address, deflated, as Base64.

use std::io::Read as _;

use flate2::read::DeflateDecoder;
use percent_encoding::percent_decode_str;

use super::writer::BlockWriter;
use super::xml::{self, Element, XmlEvent};
use super::{EarlyEnd, Emit, ReaderInput, html, mime};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadFailure, ReadingSummary};
use crate::text::decode::Decoded;

/// Most bytes that all packed pages of a file become: a few bytes may unpack to gigabytes.
const MAX_UNPACKED_BYTES: u64 = 64 << 20;

/// Reads diagrams.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let Decoded { text, encoding } = input.text()?;
    let mut board = Diagrams { bytes_left: MAX_UNPACKED_BYTES, ..Diagrams::default() };
    let outcome = xml::each(&text, |event| board.on(event));
    if !board.is_file {
        let detail = "it is XML, not a file of draw.io";
        return Err(ReadFailure::new(FailureKind::WrongFormat, detail).into());
    }
    if let Err(ReadFailure { detail, .. }) = outcome {
        let warning = format!("the text after the damaged part is missing: {detail}");
        board.warnings.push(warning);
    }
    emit(AnswerLine::Document(DocumentHead::default()))?;
    emit(AnswerLine::Page(board.writer.page(1)))?;
    Ok(ReadingSummary { warnings: board.warnings, encoding, ..ReadingSummary::default() })
}

#[derive(Default)]
struct Diagrams {
    writer: BlockWriter,
    is_file: bool,
    /// The text of the open page, which is packed if it is not blank.
    packed: Option<String>,
    num_pages: usize,
    bytes_left: u64,
    warnings: Vec<String>,
}

impl Diagrams {
    fn on(&mut self, event: XmlEvent<'_>) {
        match event {
            XmlEvent::Open(element) => self.open(element),
            XmlEvent::Text(text) => {
                if let Some(packed) = &mut self.packed {
                    packed.push_str(text.trim());
                }
            }
            XmlEvent::Close("diagram") => self.end_page(),
            XmlEvent::Close(_) => {}
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        match element.name() {
            "mxfile" => self.is_file = true,
            "diagram" => {
                self.num_pages += 1;
                self.packed = Some(String::new());
                let name = element.attribute("name").unwrap_or_default();
                self.writer.heading(2, &name);
            }
            "mxGraphModel" => self.is_file = true,
            "mxCell" => self.shape(element.attribute("value")),
            // A shape with properties, of which the label is shown and the tooltip at the pointer.
            "object" | "UserObject" => {
                self.shape(element.attribute("label"));
                self.shape(element.attribute("tooltip"));
            }
            _ => {}
        }
    }

    /// Writes the words of a shape, which may be HTML.
    fn shape(&mut self, label: Option<String>) {
        let Some(label) = label.filter(|label| !label.trim().is_empty()) else { return };
        let is_page = (label.contains('<') && label.contains('>')) || label.contains('&');
        if is_page {
            html::write_chapter(&label, &mut self.writer);
        } else {
            self.writer.paragraph(&label);
        }
    }

    /// Reads the page that ends, if it is packed.
    fn end_page(&mut self) {
        let packed = self.packed.take().unwrap_or_default();
        if packed.is_empty() {
            return;
        }
        let outcome = self.unpack(&packed).and_then(|page| {
            xml::each(&page, |event| {
                if let XmlEvent::Open(element) = event {
                    self.open(element);
                }
            })
            .ok()
        });
        if outcome.is_none() {
            let warning = format!("page {} could not be unpacked completely", self.num_pages);
            self.warnings.push(warning);
        }
    }

    /// Returns the XML of a packed page.
    fn unpack(&mut self, packed: &str) -> Option<String> {
        let deflated = mime::strict_base64(packed.as_bytes())?;
        let mut bytes = Vec::new();
        let most = self.bytes_left;
        DeflateDecoder::new(&*deflated).take(most).read_to_end(&mut bytes).ok()?;
        self.bytes_left = most.saturating_sub(u64::try_from(bytes.len()).unwrap_or(most));
        let address = String::from_utf8(bytes).ok()?;
        Some(percent_decode_str(&address).decode_utf8_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

    use super::*;
    use crate::testing::output_of;

    const PAGE: &str = "<mxGraphModel><root><mxCell id='1' value='Pump &amp;amp; house'/><object label='Valve &lt;b&gt;B&lt;/b&gt;&lt;div&gt;low&lt;/div&gt;'\
         tooltip='Closed at night' id='2'><mxCell style='x'/></object><mxCell id='3' value='' edge='1'/></root></mxGraphModel>";

    #[track_caller]
    fn check(xml: &str, expected: &[&str]) -> ReadingSummary {
        let (_, blocks) = output_of(read, xml.as_bytes()).unwrap();
        assert_eq!(blocks, expected);
        read(&ReaderInput::of(xml.as_bytes()), &mut |_| Ok(())).unwrap()
    }

    #[test]
    fn the_words_of_shapes_are_read_page_by_page() {
        let shapes = ["Pump & house", "Valve B", "low", "Closed at night"];
        let file = format!("<mxfile><diagram name='Water'>{PAGE}</diagram></mxfile>");
        check(&file, &[&["## Water"], &shapes[..]].concat());
        check(PAGE, &shapes);
    }

    #[test]
    fn a_packed_page_is_read() {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let address = utf8_percent_encode(PAGE, NON_ALPHANUMERIC).to_string();
        encoder.write_all(address.as_bytes()).unwrap();
        let packed = BASE64_STANDARD.encode(encoder.finish().unwrap());
        let file = format!("<mxfile><diagram name='Water'>\n{packed}</diagram></mxfile>");
        let tail = check(&file, &["## Water", "Pump & house", "Valve B", "low", "Closed at night"]);
        assert!(tail.warnings.is_empty());
    }

    #[test]
    fn a_page_that_is_damaged_is_named() {
        let tail = check("<mxfile><diagram name='a'>!!!!</diagram></mxfile>", &["## a"]);
        assert_eq!(tail.warnings, ["page 1 could not be unpacked completely"]);
    }

    #[test]
    fn other_xml_is_refused() {
        match output_of(read, b"<a/>") {
            Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, FailureKind::WrongFormat),
            other => panic!("{other:?}"),
        }
    }
}
