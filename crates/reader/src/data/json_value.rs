//! Looks into JSON without parsing all of it: a value is a place in the text, and only requested values are read.

use crate::characters::visible_text;

/// Most members of an object that are looked at by their names: messages have few, and a large file may be one object.
const MAX_MEMBERS: usize = 256;

/// A value of a JSON text. In malformed JSON, its end may be anywhere; its parts are then missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct JsonValue<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

/// The members of an object, in order.
pub(super) struct JsonObject<'a> {
    members: Vec<(String, JsonValue<'a>)>,
}

impl<'a> JsonValue<'a> {
    /// Returns the only value of a part of a text.
    pub(super) fn only(text: &'a str, start: usize, end: usize) -> Option<Self> {
        let bytes = text.as_bytes().get(..end)?;
        let start = skip_blank(bytes, start);
        let found = Self { text, start, end: value_end(bytes, start) };
        let is_only = found.start < found.end && text.get(found.end..end)?.trim().is_empty();
        is_only.then_some(found)
    }

    /// Returns where it begins in the text.
    pub(super) fn at(self) -> usize {
        self.start
    }

    pub(super) fn num_bytes(self) -> usize {
        self.end - self.start
    }

    /// Returns it as it is written.
    pub(super) fn as_written(self) -> &'a str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    pub(super) fn is_array(self) -> bool {
        self.text[self.start..].starts_with('[')
    }

    /// Returns the values of an array; none for anything else.
    pub(super) fn items(self) -> impl Iterator<Item = Self> {
        let bytes = &self.text.as_bytes()[..self.end];
        let mut at = if self.is_array() { self.start + 1 } else { self.end };
        std::iter::from_fn(move || {
            at = skip_blank(bytes, at);
            let end = value_end(bytes, at);
            if end <= at || end >= self.end {
                return None;
            }
            let item = Self { start: at, end, ..self };
            at = skip_blank(bytes, end);
            at += usize::from(bytes.get(at) == Some(&b','));
            Some(item)
        })
    }

    /// Returns the names and the values of an object's members; none for anything else.
    pub(super) fn members(self) -> impl Iterator<Item = (Self, Self)> {
        let bytes = &self.text.as_bytes()[..self.end];
        let mut at = if self.is_object() { self.start + 1 } else { self.end };
        std::iter::from_fn(move || {
            at = skip_blank(bytes, at);
            let key = Self { start: at, end: value_end(bytes, at), ..self };
            at = skip_blank(bytes, key.end);
            let start = skip_blank(bytes, at + 1);
            let end = value_end(bytes, start);
            if bytes.get(at) != Some(&b':') || end <= start || end >= self.end {
                return None;
            }
            at = skip_blank(bytes, end);
            at += usize::from(bytes.get(at) == Some(&b','));
            Some((key, Self { start, end, ..self }))
        })
    }

    /// Returns an object with its first members, of which only what is long has more; `None` for anything else.
    pub(super) fn object(self) -> Option<JsonObject<'a>> {
        if !self.is_object() {
            return None;
        }
        let members = self.members().take(MAX_MEMBERS);
        let named = members.filter_map(|(key, value)| Some((key.string()?, value)));
        Some(JsonObject { members: named.collect() })
    }

    fn is_object(self) -> bool {
        self.text.as_bytes().get(self.start) == Some(&b'{')
    }

    /// Returns a string with its escapes replaced; `None` for anything else.
    pub(super) fn string(self) -> Option<String> {
        self.raw_string().map(|text| visible_text(&text))
    }

    /// Returns a string without replacing its control characters.
    pub(super) fn raw_string(self) -> Option<String> {
        let is_string = self.num_bytes() > 1 && self.text[self.start..].starts_with('"');
        let quoted = self.text.get(self.start..self.end).filter(|_| is_string)?;
        // A surrogate without its other half has no meaning there.
        serde_json::from_str(quoted).ok().or_else(|| Some(super::json::unquoted(quoted)))
    }

    /// Returns a number, or the one that a string states.
    pub(super) fn number(self) -> Option<f64> {
        self.text.get(self.start..self.end)?.trim_matches('"').parse().ok()
    }

    /// Whether it is `true`.
    pub(super) fn is_true(self) -> bool {
        self.text.get(self.start..self.end) == Some("true")
    }
}

impl<'a> JsonObject<'a> {
    pub(super) fn get(&self, name: &str) -> Option<JsonValue<'a>> {
        self.members.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Whether a member with this name is among the first ones.
    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns a string member.
    pub(super) fn string(&self, name: &str) -> Option<String> {
        self.get(name)?.string()
    }

    /// Returns a member that is an object.
    pub(super) fn object(&self, name: &str) -> Option<Self> {
        self.get(name)?.object()
    }
}

fn skip_blank(bytes: &[u8], at: usize) -> usize {
    let blanks = bytes.iter().skip(at).take_while(|byte| byte.is_ascii_whitespace());
    at + blanks.count()
}

/// Returns the position after the value at a position; the position itself if there is none.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at + 1),
            b'[' | b'{' => {
                depth += 1;
                at += 1;
            }
            b']' | b'}' if depth == 0 => return at,
            b']' | b'}' => {
                depth -= 1;
                at += 1;
            }
            b',' | b':' if depth == 0 => return at,
            byte if depth == 0 && byte.is_ascii_whitespace() => return at,
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Option<JsonValue<'_>> {
        JsonValue::only(text, 0, text.len())
    }

    #[test]
    fn values_are_found_by_name_and_place() {
        let text = r#" {"a": [1, "x\u00f6", {"b": "]"}], "c": {"d": true}, "e": "12.5"} "#;
        let root = whole(text).unwrap().object().unwrap();
        let items: Vec<_> = root.get("a").unwrap().items().collect();
        assert_eq!(items[1].string().as_deref(), Some("xö"));
        assert_eq!(items[2].object().unwrap().string("b").as_deref(), Some("]"));
        assert!(root.object("c").unwrap().get("d").unwrap().is_true());
        assert_eq!((root.get("e").unwrap().number(), items[1].at()), (Some(12.5), 11));
        assert_eq!((items.len(), whole(text).unwrap().members().count()), (3, 3));
    }

    #[test]
    fn any_text_is_accepted() {
        for text in
            ["", "{", "[", "{\"a\"", "{\"a\":", "[1,", "\"", "{]", "[,,]", "[}", "{\"a\":1}}"]
        {
            let Some(value) = whole(text) else { continue };
            let _ = (value.items().count(), value.members().count());
            let _ = (value.string(), value.number(), value.is_true());
        }
        assert!(whole("{} {}").is_none());
        let lone = r#""a\ud83db""#;
        assert_eq!(whole(lone).unwrap().string().as_deref(), Some("a\u{fffd}b"));
    }
}
