//! Cuts text data (JSON, YAML, TOML, XML, logs) where a key, an element or a record begins.
//!
//! The text stays that of the file. Each scanner only finds where things begin and how they are
//! nested, and accepts any text; `parts` makes blocks of that, so a file on one line is cut like any
//! other.

mod json;
mod lines;
mod log;
mod parts;
mod tables;
mod xml;
mod yaml;

use crate::document::{Data, Document};

use parts::Parts;

pub(super) fn extract(text: &str, kind: Data) -> Document {
    let mut parts = Parts::new(text);
    match kind {
        Data::Json | Data::JsonLines => json::scan(text, &mut parts),
        Data::Yaml => yaml::scan(text, &mut parts),
        Data::Toml => tables::scan(text, &mut parts),
        Data::Xml => xml::scan(text, &mut parts),
        Data::Log => log::scan(text, &mut parts),
    }
    let blocks = parts.finish();
    Document { text: text.to_owned(), blocks, has_lines: true, ..Document::default() }
}

#[cfg(test)]
mod tests;
