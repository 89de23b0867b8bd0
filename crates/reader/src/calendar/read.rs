//! Reads files of calendars and contacts.

use super::{calendar, contacts};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadFailure, ReadingSummary};
use crate::text::decode::Decoded;
use crate::writer::BlockWriter;
use crate::{EarlyEnd, Emit, ReaderInput};

/// Reads a calendar.
pub(crate) fn read_calendar(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    read(input, emit, calendar, "there is no calendar in it")
}

/// Reads contacts.
pub(crate) fn read_contacts(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    read(input, emit, contacts, "there is no contact in it")
}

fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
    write: fn(&str, &mut BlockWriter),
    detail: &str,
) -> Result<ReadingSummary, EarlyEnd> {
    let Decoded { text, encoding } = input.text()?;
    let mut writer = BlockWriter::default();
    write(&text, &mut writer);
    let page = writer.page(1);
    if page.blocks.is_empty() {
        return Err(ReadFailure::new(FailureKind::WrongFormat, detail).into());
    }
    emit(AnswerLine::Document(DocumentHead::default()))?;
    emit(AnswerLine::Page(page))?;
    Ok(ReadingSummary { encoding, ..ReadingSummary::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::output_of;

    #[test]
    fn each_event_and_each_contact_is_a_section() {
        let event = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Low water\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        assert_eq!(output_of(read_calendar, event.as_bytes()).unwrap().1[0], "## Low water");
        let contact = "BEGIN:VCARD\nVERSION:3.0\nFN:Ida Example\nNOTE:before nine\nEND:VCARD\n";
        let (_, blocks) = output_of(read_contacts, contact.as_bytes()).unwrap();
        assert_eq!(blocks, ["## Ida Example", "before nine"]);
    }

    #[test]
    fn a_file_with_another_content_is_refused() {
        for bytes in ["", "words", "##fileformat=VCFv4.2\n#CHROM\tPOS\n"] {
            for read in [read_calendar, read_contacts] {
                match output_of(read, bytes.as_bytes()) {
                    Err(EarlyEnd::Failed(failed)) => {
                        assert_eq!(failed.failure, FailureKind::WrongFormat);
                    }
                    other => panic!("{bytes}: {other:?}"),
                }
            }
        }
    }
}
