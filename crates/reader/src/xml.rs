//! Parses XML into a sequence of elements and text, with local names (`quick-xml`).
//!
//! Prefixes are dropped: `w:` is only a convention, although nearly every file follows it, and
//! where another vocabulary uses the same names (`m:t`, `a:p`), they mean the same.

use std::str::FromStr;

use quick_xml::events::{BytesStart, Event as Parsed};
use quick_xml::reader::Reader;
use quick_xml::{XmlVersion, escape};

use crate::error::FailureKind;
use crate::extract::protocol::ReadFailure;

/// The next item of the sequence.
#[derive(Clone, Copy)]
pub(crate) enum XmlEvent<'a> {
    /// The start of an element; an empty element ends immediately.
    Open(&'a Element<'a>),
    /// The end of an element with this name.
    Close(&'a str),
    /// Text.
    Text(&'a str),
}

/// The start of an element.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    start: &'a BytesStart<'a>,
}

impl Element<'_> {
    /// Returns the name without its prefix.
    pub(crate) fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// Returns the value of an attribute by its name without prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.find(name, false)
    }

    /// Returns the value of an attribute by its name without prefix; empty if it is missing.
    pub(crate) fn attribute_or_empty(&self, name: &str) -> String {
        self.attribute(name).unwrap_or_default()
    }

    /// Returns the value of an attribute that is a number, by its name without prefix.
    pub(crate) fn number<N: FromStr>(&self, name: &str) -> Option<N> {
        self.attribute(name).and_then(|number| number.parse().ok())
    }

    /// Returns the reference to a related part: the attribute `id` with a prefix, which may be
    /// next to one without.
    pub(crate) fn relation(&self) -> Option<String> {
        self.prefixed("id")
    }

    /// Returns the value of an attribute with this name and any prefix.
    pub(crate) fn prefixed(&self, name: &str) -> Option<String> {
        self.find(name, true)
    }

    /// Returns the values of several attributes by their names without prefixes, in one pass.
    pub(crate) fn values<const N: usize>(&self, names: [&str; N]) -> [Option<String>; N] {
        let mut values = [const { None }; N];
        let mut attributes = self.start.attributes();
        for attribute in attributes.with_checks(false).flatten() {
            let name = attribute.key.local_name().into_inner();
            if let Some(idx) = names.iter().position(|wanted| *wanted == name)
                && values[idx].is_none()
            {
                let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok();
                values[idx] = value.map(std::borrow::Cow::into_owned);
            }
        }
        values
    }

    fn find(&self, name: &str, needs_prefix: bool) -> Option<String> {
        let mut attributes = self.start.attributes();
        let found = attributes.with_checks(false).flatten().find(|attribute| {
            attribute.key.local_name().into_inner() == name
                && (!needs_prefix || attribute.key.prefix().is_some())
        })?;
        found.normalized_value(XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
    }
}

/// Calls `on_event` for every item; an empty text has none.
///
/// A text that is damaged or cut off ends there: the open elements are closed, so that the text before the damage is
/// kept, and the damage is returned.
pub(crate) fn each(xml: &str, mut on_event: impl FnMut(XmlEvent<'_>)) -> Result<(), ReadFailure> {
    each_at(xml, |event, _| on_event(event))
}

/// As [`each`], with the position in the text at which an item begins.
pub(crate) fn each_at(
    xml: &str,
    mut on_event_at: impl FnMut(XmlEvent<'_>, usize),
) -> Result<(), ReadFailure> {
    let mut reader = Reader::from_str(xml);
    let mut depth = 0_usize;
    let detail = loop {
        let at = usize::try_from(reader.buffer_position()).unwrap_or(xml.len());
        let mut on_event = |event: XmlEvent<'_>| on_event_at(event, at);
        match reader.read_event() {
            Ok(Parsed::Start(start)) => {
                depth += 1;
                on_event(XmlEvent::Open(&Element { start: &start }));
            }
            Ok(Parsed::Empty(start)) => {
                let element = Element { start: &start };
                on_event(XmlEvent::Open(&element));
                on_event(XmlEvent::Close(element.name()));
            }
            Ok(Parsed::End(end)) => {
                depth = depth.saturating_sub(1);
                on_event(XmlEvent::Close(end.local_name().into_inner()));
            }
            Ok(Parsed::Text(text)) => on_event(XmlEvent::Text(&text.xml10_content())),
            Ok(Parsed::CData(text)) => on_event(XmlEvent::Text(&text.xml10_content())),
            // The parser leaves references to its caller; one that XML does not know is left out.
            Ok(Parsed::GeneralRef(name)) => {
                let name = name.into_inner();
                let spelt = format!("&{name};");
                if let Ok(text) = escape::unescape(&spelt) {
                    on_event(XmlEvent::Text(&text));
                }
            }
            Ok(Parsed::Eof) if depth == 0 => return Ok(()),
            Ok(Parsed::Eof) => break "it is cut off".to_owned(),
            Ok(Parsed::Comment(_) | Parsed::Decl(_) | Parsed::PI(_) | Parsed::DocType(_)) => {}
            Err(error) => break error.to_string(),
        }
    };
    // The elements that are open are closed, so that callers write what they have begun.
    let open = open_at_the_end(xml);
    open.iter().rev().for_each(|name| on_event_at(XmlEvent::Close(name), xml.len()));
    Err(ReadFailure::new(FailureKind::Damaged, detail))
}

/// Returns the names of the elements that are open where a damaged text ends. It is parsed again, so that intact
/// texts need no list of names.
fn open_at_the_end(xml: &str) -> Vec<String> {
    let mut reader = Reader::from_str(xml);
    let mut open = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Parsed::Start(start)) => open.push(start.local_name().into_inner().to_owned()),
            Ok(Parsed::End(_)) => drop(open.pop()),
            Ok(Parsed::Eof) | Err(_) => return open,
            Ok(_) => {}
        }
    }
}

/// Returns the character with this name: one of the five of XML, or one of HTML unless only those have a meaning.
pub(crate) fn named_character(name: &str, is_xml_only: bool) -> Option<char> {
    let of_xml = escape::resolve_xml_entity(name);
    let found = of_xml.or_else(|| escape::resolve_html5_entity(name).filter(|_| !is_xml_only))?;
    let mut letters = found.chars();
    letters.next().filter(|_| letters.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_text_are_in_order() {
        let mut seen = Vec::new();
        each("<?xml version='1.0'?><w:p a:val='x &amp; y'>a&#228;<w:br/>&lt;b</w:p>", |event| {
            seen.push(match event {
                XmlEvent::Open(element) => {
                    format!("+{} {}", element.name(), element.attribute("val").unwrap_or_default())
                }
                XmlEvent::Close(name) => format!("-{name}"),
                XmlEvent::Text(text) => text.to_owned(),
            });
        })
        .unwrap();
        assert_eq!(seen, ["+p x & y", "a", "ä", "+br ", "-br", "<", "b", "-p"]);
    }

    #[test]
    fn the_first_attribute_of_a_name_has_its_value() {
        each("<c o:type='x&amp;y' t:type='z' b=''/>", |event| {
            if let XmlEvent::Open(element) = event {
                let values = element.values(["b", "a", "type"]);
                assert_eq!(values.each_ref().map(Option::as_deref), [Some(""), None, Some("x&y")]);
            }
        })
        .unwrap();
    }

    #[test]
    fn nesting_is_not_limited() {
        let depth = 200_000;
        let xml = "<a>".repeat(depth) + &"</a>".repeat(depth);
        let mut num_open = 0;
        each(&xml, |event| num_open += usize::from(matches!(event, XmlEvent::Open(_)))).unwrap();
        assert_eq!(num_open, depth);
    }

    #[test]
    fn what_is_open_where_a_text_is_damaged_is_closed() {
        for xml in ["<w:p><w:r>a", "<w:p><w:r>a</w:q>b", "<w:p><w:r>a<w:br"] {
            let mut closed = Vec::new();
            let outcome = each(xml, |event| {
                if let XmlEvent::Close(name) = event {
                    closed.push(name.to_owned());
                }
            });
            assert_eq!((outcome.is_err(), closed), (true, vec!["r".to_owned(), "p".to_owned()]));
        }
    }

    #[test]
    fn empty_text_is_valid_and_malformed_xml_is_an_error() {
        assert!(each("", |_| {}).is_ok());
        assert!(each("<a></b>", |_| {}).is_err());
    }
}
