//! Counts what a child sends, before it is decoded: a few bytes of JSON can stand for many values in memory.
//!
//! A message is looked at once, without decoding it: an item belongs to the field whose array or object it is in, and the items of
//! a field are added up over the whole answer. The table says how many a field may have.

use std::fmt;

use crate::limits;
use crate::text::number::thousands;

/// A field of the protocol, what its items are called, and how many an answer may have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FieldBound {
    field: &'static str,
    items: &'static str,
    pub(crate) most: usize,
}

impl fmt::Display for FieldBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} {}", thousands(self.most), self.items)
    }
}

const fn bound(field: &'static str, items: &'static str, most: usize) -> FieldBound {
    FieldBound { field, items, most }
}

/// All bounds; the last one is that of every other field.
pub(crate) static BOUNDS: [FieldBound; 12] = [
    bound("page", "pages", limits::READ_PAGES),
    bound("member", "files", limits::MEMBERS),
    bound("blocks", "blocks", limits::READ_BLOCKS),
    bound("headings", "headings above blocks", limits::READ_HEADINGS),
    bound("line_numbers", "lines", limits::READ_LINES),
    bound("labels", "labels of pages", limits::READ_PAGES),
    bound("page_labels", "labels of pages", limits::READ_PAGES),
    bound("outline", "bookmarks", limits::READ_PAGES),
    bound("notes", "comments on pages", limits::READ_PAGES),
    bound("pictures", "pictures on pages", limits::READ_PAGES),
    bound("columns", "columns of tables", limits::READ_COLUMNS),
    bound("", "other values", limits::READ_OTHERS),
];

/// The items of each field that an answer had so far.
#[derive(Debug, Default)]
pub(crate) struct ItemCounts {
    found: [usize; BOUNDS.len()],
}

impl ItemCounts {
    /// Counts a message.
    ///
    /// # Errors
    ///
    /// The bound that the answer exceeds with it.
    pub(crate) fn add(&mut self, message: &[u8]) -> Result<(), &'static FieldBound> {
        // The bound that counts the items of each open array or object, and the last string, which
        // names the next one.
        let mut open: Vec<Option<usize>> = Vec::new();
        let (mut last, mut at): (&[u8], usize) = (b"", 0);
        while let Some(byte) = message.get(at) {
            at += 1;
            match byte {
                b'"' => {
                    let end = end_of_string(message, at);
                    last = &message[at..end];
                    at = end + 1;
                }
                b'[' => {
                    open.push(Some(bound_of(last)));
                    self.first_item(message, at, open.last())?;
                }
                b'{' => {
                    if let Some(bound) = MESSAGES.iter().position(|name| name.as_bytes() == last)
                        && open.len() == 1
                    {
                        self.count(bound)?;
                    }
                    open.push(MAPS.iter().any(|name| name.as_bytes() == last).then_some(OTHER));
                    self.first_item(message, at, open.last())?;
                }
                b']' | b'}' => drop(open.pop()),
                b',' => self.next_item(open.last())?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Counts the first item of an array or object that has just begun, unless it is empty.
    fn first_item(
        &mut self,
        message: &[u8],
        at: usize,
        open: Option<&Option<usize>>,
    ) -> Result<(), &'static FieldBound> {
        let first = message[at..].iter().find(|byte| !byte.is_ascii_whitespace());
        match first {
            Some(b']' | b'}') => Ok(()),
            _ => self.next_item(open),
        }
    }

    fn next_item(&mut self, open: Option<&Option<usize>>) -> Result<(), &'static FieldBound> {
        open.copied().flatten().map_or(Ok(()), |bound| self.count(bound))
    }

    fn count(&mut self, bound: usize) -> Result<(), &'static FieldBound> {
        self.found[bound] += 1;
        let bound_of = &BOUNDS[bound];
        if self.found[bound] > bound_of.most { Err(bound_of) } else { Ok(()) }
    }
}

/// The messages that are items themselves: the first of [`BOUNDS`].
const MESSAGES: [&str; 2] = ["page", "member"];

/// The objects whose keys are not those of the protocol, so that there may be any number of them.
const MAPS: [&str; 3] = ["left_out", "without_text", "words"];

/// The bound of every field without a separate one.
const OTHER: usize = BOUNDS.len() - 1;

fn bound_of(field: &[u8]) -> usize {
    BOUNDS.iter().position(|bound| bound.field.as_bytes() == field).unwrap_or(OTHER)
}

/// Returns where the string ends that begins at a place: at its closing quote, or the end of the message.
fn end_of_string(message: &[u8], mut at: usize) -> usize {
    loop {
        let rest = message.get(at..).unwrap_or_default();
        match rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            None => return message.len(),
            Some(len) if rest[len] == b'"' => return at + len,
            Some(len) => at += len + 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a message with so many items of a field, the first of which looks like several.
    fn message(bound: &FieldBound, num_items: usize) -> Vec<u8> {
        let mut items = vec!["0"; num_items];
        items[0] = r#""[,]\"""#;
        format!("{{\"parsed\" : {{\"{}\": [ {} ]}}}}\n", bound.field, items.join(",")).into_bytes()
    }

    #[test]
    fn each_field_may_have_as_many_items_as_the_table_says() {
        for bound in &BOUNDS {
            if MESSAGES.contains(&bound.field) {
                let line = format!("{{\"{}\":{{\"number\":1,\"blocks\":[]}}}}\n", bound.field);
                let mut counts = ItemCounts::default();
                for _ in 0..bound.most {
                    assert_eq!(counts.add(line.as_bytes()), Ok(()), "{bound}");
                }
                assert_eq!(counts.add(line.as_bytes()), Err(bound));
                continue;
            }
            let fits = message(bound, bound.most);
            assert_eq!(ItemCounts::default().add(&fits), Ok(()), "{bound}");
            let over = message(bound, bound.most + 1);
            assert_eq!(ItemCounts::default().add(&over), Err(bound));
            // Two messages of an answer are counted together.
            let mut counts = ItemCounts::default();
            assert_eq!(counts.add(&fits), Ok(()));
            assert_eq!(counts.add(&message(bound, 1)), Err(bound));
        }
    }

    #[test]
    fn keys_of_the_childs_own_are_counted_and_those_of_the_protocol_are_not() {
        let keys = |field: &str| {
            let keys: Vec<String> =
                (0..=limits::READ_OTHERS).map(|key| format!("\"{key}\":0")).collect();
            format!("{{\"done\":{{\"{field}\":{{{}}}}}}}", keys.join(",")).into_bytes()
        };
        assert_eq!(ItemCounts::default().add(&keys("left_out")), Err(&BOUNDS[OTHER]));
        assert_eq!(ItemCounts::default().add(&keys("place")), Ok(()));
    }

    #[test]
    fn a_bound_is_named() {
        assert_eq!(BOUNDS[0].to_string(), "more than 200,000 pages");
    }

    proptest::proptest! {
        #[test]
        fn no_message_is_too_odd(message in "[\\[\\]{},:\"\\\\ a0]{0,40}") {
            proptest::prop_assert_eq!(ItemCounts::default().add(message.as_bytes()), Ok(()));
        }
    }
}
