//! Reads the texts of a drawing (SVG), which may be a page of a book.

use crate::document::WordDestination;
use crate::writer::BlockWriter;
use crate::xml::{self, XmlEvent};

/// Elements whose text describes a drawing, or is for programs.
const NOT_SHOWN: [&str; 5] = ["title", "desc", "metadata", "style", "script"];

/// Writes each text of a drawing as a paragraph; of a damaged one those before the damage.
pub(super) fn write(svg: &str, writer: &mut BlockWriter) {
    let (mut text, mut num_open, mut num_hidden) = (String::new(), 0_usize, 0_usize);
    let _ = xml::each(svg, |event| match event {
        XmlEvent::Open(element) if element.name() == "text" => num_open += 1,
        XmlEvent::Open(element) if NOT_SHOWN.contains(&element.name()) => num_hidden += 1,
        // A new place begins a new line of the text.
        XmlEvent::Open(element) if element.attribute("x").is_some() => text.push(' '),
        XmlEvent::Open(_) => {}
        XmlEvent::Close("text") => {
            num_open = num_open.saturating_sub(1);
            writer.paragraph(&std::mem::take(&mut text));
        }
        XmlEvent::Close(name) if NOT_SHOWN.contains(&name) => {
            num_hidden = num_hidden.saturating_sub(1);
        }
        XmlEvent::Close(_) => {}
        XmlEvent::Text(words) if num_hidden == 0 && num_open > 0 => text.push_str(words),
        XmlEvent::Text(words) => writer.left_out.add(WordDestination::Hidden, words),
    });
    writer.paragraph(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_a_drawing_are_paragraphs() {
        let mut writer = BlockWriter::default();
        let svg =
            "<svg><title>Keel</title><text>High <tspan x='1'>water</tspan></text><g><text>Ebb";
        write(svg, &mut writer);
        let hidden: Vec<_> = writer.left_out.counts().collect();
        let blocks: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
        assert_eq!(blocks, ["High water", "Ebb"]);
        assert_eq!(hidden, [(WordDestination::Hidden, 1)]);
    }
}
