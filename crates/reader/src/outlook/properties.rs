//! Holds the properties of an item, a person or an attachment (MS-OXPROPS), and returns them as texts, numbers and times.

use std::collections::HashMap;

use super::id::{self, PropertyId};
use crate::rtf::encoding_label;
use crate::text::decode;

/// Size of the table row of a property (MS-OXMSG 2.4.2).
const ROW_BYTES: usize = 16;

/// The types of properties that are read (MS-OXCDATA 2.11.1).
pub(super) const TEXT_IN_CODE_PAGE: u16 = 0x001E;
pub(super) const TEXT: u16 = 0x001F;
pub(super) const BINARY: u16 = 0x0102;

/// Seconds from the year 1601 to 1970, and from 1970 to the end of the year 9999.
const SECONDS_TO_1970: i64 = 11_644_473_600;
const LAST_SECOND: i64 = 253_402_300_799;

/// Parts of a second in which times are counted.
const TICKS_PER_SECOND: u64 = 10_000_000;

/// The properties of an item, a person or an attachment.
#[derive(Debug, Default)]
pub(super) struct Properties {
    values: HashMap<PropertyId, PropertyValue>,
    /// The code page of texts that are not in Unicode.
    pub(super) code_page: i32,
}

/// The value of a property as the file has it.
#[derive(Debug)]
struct PropertyValue {
    kind: u16,
    bytes: Vec<u8>,
}

impl Properties {
    pub(super) fn add(&mut self, id: PropertyId, kind: u16, bytes: Vec<u8>) {
        self.values.insert(id, PropertyValue { kind, bytes });
    }

    /// Adds those of a table, which has numbers and times; `number_of` returns the id used here for a property.
    pub(super) fn add_rows(
        &mut self,
        rows: &[u8],
        number_of: impl Fn(PropertyId) -> Option<PropertyId>,
    ) {
        for row in rows.chunks_exact(ROW_BYTES) {
            let [kind_low, kind_high, id_low, id_high, ..] = *row else { continue };
            let kind = u16::from_le_bytes([kind_low, kind_high]);
            let is_stored_elsewhere = [TEXT_IN_CODE_PAGE, TEXT, BINARY].contains(&kind);
            if let (false, Some(id)) =
                (is_stored_elsewhere, number_of(u16::from_le_bytes([id_low, id_high])))
            {
                self.add(id, kind, row[ROW_BYTES / 2..].to_vec());
            }
        }
    }

    pub(super) fn bytes(&self, id: PropertyId) -> Option<&[u8]> {
        self.values.get(&id).map(|value| &*value.bytes)
    }

    /// Returns a text; `None` for one without words.
    pub(super) fn text(&self, id: PropertyId) -> Option<String> {
        let value = self.values.get(&id)?;
        let text = match value.kind {
            TEXT => {
                let units = value.bytes.chunks_exact(2);
                let units: Vec<u16> =
                    units.map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
                String::from_utf16_lossy(&units)
            }
            TEXT_IN_CODE_PAGE => decoded(&value.bytes, self.code_page),
            _ => return None,
        };
        let text = text.trim_end_matches(['\0', '\u{FFFD}']).replace('\0', "");
        (!text.trim().is_empty()).then_some(text)
    }

    /// Returns the page of a message, which is a text or binary.
    pub(super) fn page(&self, id: PropertyId) -> Option<String> {
        let value = self.values.get(&id)?;
        if value.kind != BINARY {
            return self.text(id);
        }
        let stated = self.number(id::PAGE_CODE_PAGE).and_then(|stated| i32::try_from(stated).ok());
        let text = decoded(&value.bytes, stated.unwrap_or(self.code_page));
        (!text.trim().is_empty()).then_some(text)
    }

    /// Returns a number of 16 or 32 bits, or a truth value.
    pub(super) fn number(&self, id: PropertyId) -> Option<u32> {
        let bytes = self.bytes(id)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes))
    }

    /// Returns a time in seconds since 1970.
    pub(super) fn seconds(&self, id: PropertyId) -> Option<i64> {
        let ticks = u64::from_le_bytes(*self.bytes(id)?.first_chunk::<8>()?);
        let seconds = i64::try_from(ticks / TICKS_PER_SECOND).ok()? - SECONDS_TO_1970;
        (0..=LAST_SECOND).contains(&seconds).then_some(seconds)
    }
}

/// Decodes text in a code page, unless it is clearly in another encoding.
fn decoded(bytes: &[u8], code_page: i32) -> String {
    let label = encoding_label(code_page);
    let text = decode::decode_as(bytes, Some(label.as_bytes()));
    text.unwrap_or_else(|| decode::decode_with(bytes, label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded_in_their_code_page() {
        let mut properties = Properties { code_page: 1251, ..Properties::default() };
        properties.add(1, TEXT_IN_CODE_PAGE, b"\xCF\xF0\xE8\0".to_vec());
        properties.add(2, TEXT, vec![0x20, 0x04, 0, 0]);
        properties.add(3, BINARY, "<p>При".as_bytes().to_vec());
        properties.add(4, TEXT, vec![b' ', 0]);
        assert_eq!(properties.text(1).as_deref(), Some("При"));
        assert_eq!(properties.text(2).as_deref(), Some("Р"));
        assert_eq!((properties.text(3), properties.text(4)), (None, None));
        assert_eq!(properties.page(3).as_deref(), Some("<p>При"));
    }

    #[test]
    fn times_count_from_1601() {
        let mut properties = Properties::default();
        let ticks: u64 = (11_644_473_600 + 1_772_103_000) * 10_000_000;
        let mut rows = vec![0x40, 0, 0x39, 0, 6, 0, 0, 0];
        rows.extend(ticks.to_le_bytes());
        rows.extend([0x40, 0, 0x40, 0, 6, 0, 0, 0]);
        rows.extend([0xFF; 8]);
        properties.add_rows(&rows, Some);
        assert_eq!(properties.seconds(id::SUBMITTED), Some(1_772_103_000));
        assert_eq!(properties.seconds(0x40), None);
    }
}
