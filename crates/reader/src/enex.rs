//! Reads the notes that Evernote has exported: as one document, or each as a separate document.
//!
//! An export is one XML document of notes. The content of a note is a page of XHTML, and its attachments are Base64.

mod note;

use super::members::Members;
use super::writer::BlockWriter;
use super::{EarlyEnd, Emit, ReaderInput, xml};
use crate::document::FileParts;
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadFailure, ReadingSummary};

use note::{ExportedNotes, MAX_CONTENT_BYTES, Note, NoteAttachment};

/// Most notes that are read as one document: bounds the memory for an export of any size.
const MAX_NOTES: usize = 10_000;

/// Reads the notes as one document: each is a section with its title as heading.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let (mut writer, mut parts, mut num_notes) = (BlockWriter::default(), FileParts::default(), 0);
    let mut warnings = each(input, &mut |note| {
        num_notes += 1;
        if num_notes <= MAX_NOTES {
            note.count(&mut parts);
            writer.heading(2, if note.title.is_empty() { "(no title)" } else { &note.title });
            writer.paragraph(&note.facts().join("\n"));
            note.write(&mut writer);
        }
        Ok(())
    })?;
    if num_notes > MAX_NOTES {
        warnings.push(format!("the notes after the first {MAX_NOTES} were left out"));
    }
    emit(AnswerLine::Document(DocumentHead::default()))?;
    emit(AnswerLine::Page(writer.page(1)))?;
    Ok(ReadingSummary { warnings, parts, ..ReadingSummary::default() })
}

/// Emits each note as a member in Markdown, and its attachments except for pictures and recordings. Content that cannot
/// be read becomes a failed member, because an export is not a document that could have warnings.
pub(crate) fn notes(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut members = Members::new(emit);
    let warnings = each(input, &mut |note| {
        let title = note.file_name();
        members.add(&format!("{title}.md"), note.markdown())?;
        for _ in 0..note.num_encrypted() {
            let name = format!("{title}/encrypted text");
            members.failed(&name, FailureKind::EncryptionNotSupported, String::new())?;
        }
        if note.is_cut_off() {
            let detail = format!("the text after the first {} MB", MAX_CONTENT_BYTES >> 20);
            members.failed(&format!("{title}/end"), FailureKind::OutOfMemory, detail)?;
        }
        for (name, bytes) in note.attachments.iter().filter_map(NoteAttachment::file) {
            members.add(&format!("{title}/{name}"), bytes)?;
        }
        Ok(())
    })?;
    for warning in warnings {
        members.failed("further notes", FailureKind::Damaged, warning)?;
    }
    Ok(ReadingSummary::default())
}

/// Calls `on_note` for each note; returns warnings about the parts that were left out.
fn each(
    input: &ReaderInput<'_>,
    on_note: &mut dyn FnMut(&Note) -> Result<(), EarlyEnd>,
) -> Result<Vec<String>, EarlyEnd> {
    let text = input.text()?.text;
    let mut notes = ExportedNotes::default();
    let (mut stop, mut num_notes) = (None, 0);
    let outcome = xml::each(&text, |event| {
        if let Some(note) = notes.on(event).filter(|_| stop.is_none()) {
            num_notes += 1;
            stop = on_note(&note).err();
        }
    });
    if let Some(stop) = stop {
        return Err(stop);
    }
    match outcome {
        Ok(()) if notes.is_export => Ok(Vec::new()),
        Ok(()) => {
            Err(ReadFailure::new(FailureKind::WrongFormat, "there is no note of Evernote in it")
                .into())
        }
        Err(failed) if num_notes == 0 => Err(failed.into()),
        Err(ReadFailure { detail, .. }) => {
            Ok(vec![format!("the notes after the damaged part are missing: {detail}")])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::tests::members;
    use crate::testing::output_of;

    const EXPORT: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE en-export SYSTEM \"x\"><en-export>\
        <note><title>Keel / bolts: \"M20\"</title><created>20240501T101112Z</created><tag>boat</tag><tag>winter refit</tag>\
        <note-attributes><author>Ida</author><source-url>https://example.org/a</source-url></note-attributes>\
        <content><![CDATA[<?xml version=\"1.0\"?><!DOCTYPE en-note SYSTEM \"y\"><en-note><div>Torque 90 Nm &amp; check</div>\
        <div><en-todo checked=\"true\"/>Grease</div><h2>Later</h2><ul><li>paint</li></ul><en-media type=\"image/png\" hash=\"a\"/></en-note>]]></content>\
        <resource><data encoding=\"base64\">aGFyYm91cg==</data><mime>text/plain</mime><resource-attributes><file-name>list.txt\
        </file-name></resource-attributes></resource><resource><data encoding=\"base64\">iVBO\nRw==</data><mime>image/png</mime></resource></note>\
        <note><title></title><content><![CDATA[<en-note>Second</en-note>]]></content><task><title>Buy rope</title></task></note></en-export>";

    #[test]
    fn the_notes_are_sections_of_one_document() {
        let (_, blocks) = output_of(read, EXPORT.as_bytes()).unwrap();
        let facts = "Created: 2024-05-01\nTags: boat, winter refit\nAuthor: Ida\nSource: https://example.org/a";
        assert_eq!(
            blocks,
            [
                "## Keel / bolts: \"M20\"",
                facts,
                "Torque 90 Nm & check",
                "Grease",
                "## Later",
                "- paint",
                "## (no title)",
                "Second",
                "- Buy rope",
            ]
        );
        let tail = read(&ReaderInput::of(EXPORT.as_bytes()), &mut |_| Ok(())).unwrap();
        assert_eq!(tail.parts.without_text.get("picture"), Some(&1));
        assert_eq!(tail.parts.num_unread, 1);
    }

    #[test]
    fn each_note_is_a_document_with_its_attachments() {
        let found = members(notes, EXPORT.as_bytes()).unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Keel bolts: \"M20\".md", "Keel bolts: \"M20\"/list.txt", "note.md"]);
        let front = "---\ntitle: \"Keel / bolts: \\\"M20\\\"\"\ncreated: 2024-05-01\nauthor: \"Ida\"\n\
                     tags: [\"boat\", \"winter refit\"]\nsource: \"https://example.org/a\"\n---\n\n";
        assert_eq!(
            found[0].1,
            format!("{front}Torque 90 Nm & check\n\nGrease\n\n## Later\n\n- paint\n")
        );
        assert_eq!(found[1].1, "harbour");
        assert_eq!(found[2].1, "Second\n\n- Buy rope\n");
        let document = crate::extract::markdown::extract(&found[0].1);
        assert_eq!(document.title.as_deref(), Some("Keel / bolts: \"M20\""));
        assert_eq!(document.tags, ["boat", "winter refit"]);
    }

    #[test]
    fn what_an_export_lacks_is_a_member_that_failed() {
        let export = "<en-export><note><title>Keys</title><content><![CDATA[a<en-crypt>x</en-crypt>b]]></content></note>\
             <note><title>Two</x>";
        let found = members(notes, export.as_bytes()).unwrap();
        let found: Vec<_> =
            found.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let encrypted = ("Keys/encrypted text", "encryption_not_supported");
        assert_eq!(found[..2], [("Keys.md", "---\ntitle: \"Keys\"\n---\n\nab\n"), encrypted]);
        assert_eq!(found.last(), Some(&("further notes", "damaged")));
        let long = "word ".repeat(MAX_CONTENT_BYTES / 5 + 1);
        let export = format!(
            "<en-export><note><title>Long</title><content>{long}</content></note></en-export>"
        );
        let found = members(notes, export.as_bytes()).unwrap();
        assert_eq!(found[1], ("Long/end".to_owned(), "out_of_memory".to_owned()));
    }

    #[test]
    fn a_damaged_export_is_read_up_to_the_damage() {
        let damaged =
            "<en-export><note><title>One</title><content>a</content></note><note><title>Two</x>";
        assert_eq!(output_of(read, damaged.as_bytes()).unwrap().1, ["## One", "a", "## Two"]);
        for text in ["<a/>", "words", "<en-export></x>"] {
            assert!(output_of(read, text.as_bytes()).is_err(), "{text}");
        }
    }
}
