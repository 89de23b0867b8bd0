//! Reads a setting that is a list of words: a YAML list, or one text with commas, as a variable or
//! `kb config set` has it. The value is the text.

use std::fmt;

use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    from.deserialize_any(Words)
}

struct Words;

impl<'de> Visitor<'de> for Words {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of words")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<String, A::Error> {
        let mut words: Vec<String> = Vec::new();
        while let Some(word) = items.next_element()? {
            words.push(word);
        }
        Ok(words.join(", "))
    }
}

/// Returns the words of the text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ']).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use figment::Figment;
    use figment::providers::Serialized;
    use serde::Deserialize;

    use super::words;

    #[derive(Deserialize)]
    struct Settings {
        #[serde(deserialize_with = "super::deserialize")]
        list: String,
    }

    #[test]
    fn a_list_is_a_text() {
        let read = |value: figment::value::Value| {
            let figment = Figment::from(Serialized::default("list", value));
            figment.extract::<Settings>().map(|settings| settings.list).ok()
        };
        assert_eq!(read(vec!["conf", "ini"].into()).as_deref(), Some("conf, ini"));
        assert_eq!(read("conf,ini".into()).as_deref(), Some("conf,ini"));
        assert_eq!(read(7.into()), None);
        for text in ["conf,ini", " conf, ini ", "conf ini"] {
            assert!(words(text).eq(["conf", "ini"]), "{text}");
        }
        assert_eq!(words("").count(), 0);
    }
}
