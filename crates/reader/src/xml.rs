//! Parses XML into a sequence of elements and text, with local names (`quick-xml`).
//!
//! Prefixes are dropped: `w:` is only a convention, although nearly every file follows it, and
//! where another vocabulary uses the same names (`m:t`, `a:p`), they mean the same.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event as Parsed};
use quick_xml::reader::Reader;

use crate::error::Failure;
use crate::extract::protocol::ReadFailure;

/// The next item of the sequence.
#[derive(Clone, Copy)]
pub(crate) enum Event<'a> {
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

    /// Returns the reference to a related part: the attribute `id` with a prefix, which may be
    /// next to one without.
    pub(crate) fn relation(&self) -> Option<String> {
        self.prefixed("id")
    }

    /// Returns the value of an attribute with this name and any prefix.
    pub(crate) fn prefixed(&self, name: &str) -> Option<String> {
        self.find(name, true)
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
pub(crate) fn each(xml: &str, mut on_event: impl FnMut(Event<'_>)) -> Result<(), ReadFailure> {
    let mut reader = Reader::from_str(xml);
    loop {
        let damaged = |error| ReadFailure::new(Failure::Damaged, format!("{error}"));
        match reader.read_event().map_err(damaged)? {
            Parsed::Start(start) => on_event(Event::Open(&Element { start: &start })),
            Parsed::Empty(start) => {
                let element = Element { start: &start };
                on_event(Event::Open(&element));
                on_event(Event::Close(element.name()));
            }
            Parsed::End(end) => on_event(Event::Close(end.local_name().into_inner())),
            Parsed::Text(text) => on_event(Event::Text(&text.xml10_content())),
            Parsed::CData(text) => on_event(Event::Text(&text.xml10_content())),
            Parsed::GeneralRef(name) => {
                let name = name.into_inner();
                let spelt = format!("&{name};");
                if let Ok(text) = quick_xml::escape::unescape(&spelt) {
                    on_event(Event::Text(&text));
                }
            }
            Parsed::Eof => return Ok(()),
            Parsed::Comment(_) | Parsed::Decl(_) | Parsed::PI(_) | Parsed::DocType(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_and_text_are_in_order() {
        let mut seen = Vec::new();
        each("<?xml version='1.0'?><w:p a:val='x &amp; y'>a&#228;<w:br/>&lt;b</w:p>", |event| {
            seen.push(match event {
                Event::Open(element) => {
                    format!("+{} {}", element.name(), element.attribute("val").unwrap_or_default())
                }
                Event::Close(name) => format!("-{name}"),
                Event::Text(text) => text.to_owned(),
            });
        })
        .unwrap();
        assert_eq!(seen, ["+p x & y", "a", "ä", "+br ", "-br", "<", "b", "-p"]);
    }

    #[test]
    fn nesting_is_not_limited() {
        let depth = 200_000;
        let xml = "<a>".repeat(depth) + &"</a>".repeat(depth);
        let mut num_open = 0;
        each(&xml, |event| num_open += usize::from(matches!(event, Event::Open(_)))).unwrap();
        assert_eq!(num_open, depth);
    }

    #[test]
    fn empty_text_is_valid_and_malformed_xml_is_an_error() {
        assert!(each("", |_| {}).is_ok());
        assert!(each("<a></b>", |_| {}).is_err());
    }
}
