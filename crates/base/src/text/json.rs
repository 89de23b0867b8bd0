//! Writes all JSON of the program; harmful characters are escaped as `\uXXXX`.
//!
//! A value that is read back is unchanged; without such characters the bytes equal those of
//! `serde_json`.

use std::io;
use std::io::Write;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use crate::text::printable::{is_harmful, may_harm};

/// A writer that accepts only JSON.
pub struct Json<'a>(JsonTarget<'a>);

enum JsonTarget<'a> {
    Text(&'a mut dyn Write),
    Value(&'a mut Value),
}

impl<'a> Json<'a> {
    /// Writes JSON to `out`.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self(JsonTarget::Text(out))
    }

    /// Returns the value that `write` writes, or null if it writes none. Numbers equal those in the
    /// text.
    pub fn value_of(write: impl FnOnce(&mut Json<'_>) -> io::Result<()>) -> io::Result<Value> {
        let mut value = Value::Null;
        write(&mut Json(JsonTarget::Value(&mut value)))?;
        Ok(value)
    }

    /// Writes a value over several lines, and a line end.
    pub fn value(&mut self, value: &impl Serialize) -> io::Result<()> {
        match &mut self.0 {
            JsonTarget::Text(out) => {
                let formatter = Escaping(PrettyFormatter::new());
                value.serialize(&mut Serializer::with_formatter(&mut *out, formatter))?;
                out.write_all(b"\n")
            }
            JsonTarget::Value(slot) => {
                **slot = serde_json::to_value(value)?;
                Ok(())
            }
        }
    }

    /// Writes a value on one line.
    pub fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        match &self.0 {
            JsonTarget::Text(_) => self.written(&JsonLine::of(value)?),
            JsonTarget::Value(_) => self.value(value),
        }
    }

    /// Writes a line.
    pub fn written(&mut self, line: &JsonLine) -> io::Result<()> {
        match &mut self.0 {
            JsonTarget::Text(out) => out.write_all(line.0.as_bytes()),
            JsonTarget::Value(slot) => {
                **slot = serde_json::from_str(&line.0)?;
                Ok(())
            }
        }
    }
}

/// A value as a line of JSON, including its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonLine(String);

impl JsonLine {
    /// Returns a value on one line.
    pub fn of(value: &impl Serialize) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let formatter = Escaping(CompactFormatter);
        value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
        bytes.push(b'\n');
        String::from_utf8(bytes).map(Self).map_err(io::Error::other)
    }

    /// Returns the text, including the line end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A formatter that adds the escaping of harmful characters to another formatter's layout.
struct Escaping<F>(F);

/// Delegates layout methods to the inner formatter.
macro_rules! delegate_layout {
    ($($name:ident($($argument:ident: $kind:ty),*)),* $(,)?) => {
        $(
            fn $name<W: ?Sized + Write>(&mut self, out: &mut W $(, $argument: $kind)*) -> io::Result<()> {
                self.0.$name(out $(, $argument)*)
            }
        )*
    };
}

impl<F: Formatter> Formatter for Escaping<F> {
    delegate_layout! {
        begin_array(),
        end_array(),
        begin_array_value(first: bool),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first: bool),
        end_object_key(),
        begin_object_value(),
        end_object_value(),
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if !may_harm(fragment) {
            return out.write_all(fragment.as_bytes());
        }
        let mut start = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| is_harmful(*c)) {
            out.write_all(&fragment.as_bytes()[start..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            start = at + c.len_utf8();
        }
        out.write_all(&fragment.as_bytes()[start..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::json;

    fn pretty(value: &Value) -> String {
        let mut bytes = Vec::new();
        Json::new(&mut bytes).value(value).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn harmful_characters_are_escaped_in_keys_and_values() {
        let value =
            json!({ "k\u{9b}": "a\u{7f}\u{85}\u{61c}\u{200e}\u{2028}\u{202e}\u{2066}\u{e0041}b" });
        assert_eq!(
            JsonLine::of(&value).unwrap().as_str(),
            "{\"k\\u009b\":\"a\\u007f\\u0085\\u061c\\u200e\\u2028\\u202e\\u2066\\udb40\\udc41b\"}\n"
        );
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        let value = json!({
            "text": "tab\t, quote \", “curly”, …, é, 東京, 👩\u{200d}👧, \u{a0}, \u{202f}, \u{1b}",
            "numbers": [1, -2, 0.1, 1e300, 16.0], "nothing": [null, {}, [], true],
        });
        assert_eq!(pretty(&value), serde_json::to_string_pretty(&value).unwrap() + "\n");
        assert_eq!(
            JsonLine::of(&value).unwrap().as_str(),
            serde_json::to_string(&value).unwrap() + "\n"
        );
    }

    #[test]
    fn a_value_has_the_numbers_and_the_order_of_the_text() {
        #[derive(Serialize)]
        struct Hit {
            score: f64,
            id: i64,
        }
        let hit = Hit { score: 0.028_516_922_198_665_154, id: 1 };
        let value = Json::value_of(|out| out.value(&hit)).unwrap();
        assert_eq!(JsonLine::of(&value).unwrap(), JsonLine::of(&hit).unwrap());
        assert_eq!(
            JsonLine::of(&value).unwrap().as_str(),
            "{\"score\":0.028516922198665154,\"id\":1}\n"
        );
    }

    proptest::proptest! {
        #[test]
        fn values_are_unchanged_and_no_harmful_character_is_left(
            text in "(.|\n|[\u{0}-\u{9f}]|[\u{2000}-\u{2070}]|[\u{e0000}-\u{e0080}]){0,60}",
        ) {
            let value = json!({ text.clone(): [text] });
            let written = pretty(&value);
            proptest::prop_assert!(written.chars().all(|c| c == '\n' || !is_harmful(c)));
            proptest::prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
        }
    }
}
