//! Accounts for every part of a package once its document is read, so that none vanishes unsaid.
//!
//! A part was read, has no text by its kind, is left out by a rule that counts its words, or is named.

use std::collections::{HashMap, HashSet};

use super::parts::{Archive, PartState, comparable, part, relations};
use super::xml::{self, XmlEvent};
use crate::document::{WordAccount, WordDestination, count_words};
use crate::extract::detect;
use crate::extract::protocol::ReadingSummary;
use crate::text::decode;

/// Most bytes of parts that are unpacked only to count their words. Packages with more are rare, and the parts beyond
/// the limit are named.
const MAX_COUNTED_BYTES: u64 = 64 << 20;

/// The treatment of a kind of part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartRule {
    /// It has no text; counted by this word.
    WithoutText(&'static str),
    /// Its words are counted for this reason.
    LeftOut(WordDestination),
}

use PartRule::{LeftOut, WithoutText};

/// Words in the declared types of parts, in lower case. The first match counts.
const TYPES: &[(&str, PartRule)] = &[
    ("svg", LeftOut(WordDestination::Unread)),
    ("image/", WithoutText("picture")),
    ("audio/", WithoutText("sound")),
    ("video/", WithoutText("film")),
    ("font", WithoutText("font")),
    ("relationships+xml", WithoutText("relation")),
    // Masters and layouts show where a person is to type.
    ("slidelayout+xml", LeftOut(WordDestination::Markup)),
    ("master+xml", LeftOut(WordDestination::Markup)),
    ("glossary+xml", LeftOut(WordDestination::Markup)),
    // Copies of the same text for older programs: diagrams as shapes, the frames of notes and buttons.
    ("diagramdrawing+xml", LeftOut(WordDestination::Copy)),
    ("vmldrawing", LeftOut(WordDestination::Copy)),
    // It has copies of the cells of other files that formulas refer to.
    ("externallink+xml", LeftOut(WordDestination::Copy)),
    ("theme", WithoutText("style")),
    ("style", WithoutText("style")),
    ("numbering+xml", WithoutText("style")),
    ("text/css", WithoutText("style")),
    ("properties", WithoutText("setting")),
    ("props+xml", WithoutText("setting")),
    ("settings", WithoutText("setting")),
    ("calcchain+xml", WithoutText("setting")),
    ("sheetmetadata+xml", WithoutText("setting")),
    ("signature", WithoutText("setting")),
    ("controlproperties+xml", WithoutText("control")),
    ("activex", WithoutText("control")),
    ("vba", WithoutText("macro")),
    ("javascript", WithoutText("program")),
];

/// Beginnings of the names of parts, in lower case.
const FOLDERS: &[(&str, PartRule)] = &[
    ("[content_types].xml", WithoutText("setting")),
    ("mimetype", WithoutText("setting")),
    ("meta-inf/", WithoutText("setting")),
    ("_xmlsignatures/", WithoutText("setting")),
    ("docprops/thumbnail", WithoutText("picture")),
    ("docprops/", WithoutText("setting")),
    ("customxml/", LeftOut(WordDestination::Markup)),
    ("thumbnails/", WithoutText("picture")),
    ("objectreplacements/", WithoutText("picture")),
    ("configurations2/", WithoutText("setting")),
    ("layout-cache", WithoutText("setting")),
    ("settings.xml", WithoutText("setting")),
    ("manifest.rdf", WithoutText("setting")),
    ("meta.xml", WithoutText("setting")),
    ("basic/", WithoutText("macro")),
    ("scripts/", WithoutText("macro")),
];

/// Ends of the names of parts, in lower case.
const ENDINGS: &[(&str, PartRule)] = &[
    (".rels", WithoutText("relation")),
    (".png", WithoutText("picture")),
    (".jpg", WithoutText("picture")),
    (".jpeg", WithoutText("picture")),
    (".gif", WithoutText("picture")),
    (".bmp", WithoutText("picture")),
    (".tif", WithoutText("picture")),
    (".tiff", WithoutText("picture")),
    (".webp", WithoutText("picture")),
    (".emf", WithoutText("picture")),
    (".wmf", WithoutText("picture")),
    (".odttf", WithoutText("font")),
    (".ttf", WithoutText("font")),
    (".otf", WithoutText("font")),
    (".woff", WithoutText("font")),
    (".woff2", WithoutText("font")),
    (".fntdata", WithoutText("font")),
    (".mp3", WithoutText("sound")),
    (".wav", WithoutText("sound")),
    (".m4a", WithoutText("sound")),
    (".mp4", WithoutText("film")),
    (".mov", WithoutText("film")),
    (".avi", WithoutText("film")),
    (".wmv", WithoutText("film")),
    (".css", WithoutText("style")),
    (".xpgt", WithoutText("style")),
    (".js", WithoutText("program")),
    ("/vbaproject.bin", WithoutText("macro")),
    (".exe", WithoutText("program")),
    (".dll", WithoutText("program")),
    ("/styles.xml", WithoutText("style")),
    ("/meta.xml", WithoutText("setting")),
    ("/settings.xml", WithoutText("setting")),
];

impl Archive<'_> {
    /// Adds the account of all parts to the last line of a reader: those that no reader has asked for are classified,
    /// and damaged ones are named.
    pub(crate) fn account(mut self, mut tail: ReadingSummary) -> ReadingSummary {
        let types = DeclaredTypes::of(&mut self);
        let behind_charts = behind_charts(&mut self);
        let mut bytes_left = MAX_COUNTED_BYTES;
        for name in self.names() {
            let size_bytes = self.size_bytes(&name).unwrap_or(0);
            match self.state(&name) {
                PartState::Read => tail.parts.add_read(),
                PartState::Damaged(detail) => tail.parts.add_unread(&name, size_bytes, &detail),
                PartState::Untouched if behind_charts.contains(&comparable(&name)) => {
                    tail.parts.add_without_text("data of a chart");
                }
                PartState::Untouched => match rule_of(&name, types.get(&name)) {
                    Some(WithoutText(kind)) => tail.parts.add_without_text(kind),
                    rule if size_bytes <= bytes_left => {
                        bytes_left -= size_bytes;
                        self.count(&name, rule, &mut tail);
                    }
                    _ => tail.parts.add_unread(&name, size_bytes, "it is too long to be examined"),
                },
            }
        }
        tail
    }

    /// Counts the words of a part that no reader has asked for.
    fn count(&mut self, name: &str, rule: Option<PartRule>, tail: &mut ReadingSummary) {
        let ReadingSummary { parts, left_out, .. } = tail;
        let size_bytes = self.size_bytes(name).unwrap_or(0);
        let bytes = match self.bytes(name) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(failed) => return parts.add_unread(name, size_bytes, &failed.detail),
        };
        let Some(text) = decode::decode(&bytes) else {
            return match detect::looks_like(&bytes) {
                Some(look) if look.contains("image") => parts.add_without_text("picture"),
                Some(look) => parts.add_unread(name, size_bytes, &format!("it looks like {look}")),
                None => parts.add_unread(name, size_bytes, "its content is not known"),
            };
        };
        match (count_text(&text), rule) {
            (0, _) => parts.add_without_text("markup"),
            (count, Some(LeftOut(reason))) if reason != WordDestination::Unread => {
                left_out.add_count(reason, count);
                parts.add_read();
            }
            (count, _) => {
                left_out.add_count(WordDestination::Unread, count);
                parts.add_unread(name, size_bytes, "kb does not read this kind of part");
            }
        }
    }
}

/// Returns the number of words of a text; of XML, between the tags.
fn count_text(text: &str) -> u32 {
    if !text.trim_start().starts_with('<') {
        return count_words(text);
    }
    let mut words = WordAccount::default();
    // The words before damage are counted.
    let _ = xml::each(text, |event| {
        if let XmlEvent::Text(text) = event {
            words.add(WordDestination::Unread, text);
        }
    });
    words.counts().map(|(_, count)| count).next().unwrap_or(0)
}

/// Returns the treatment of a part; `None` for a kind that is not in the tables.
fn rule_of(name: &str, declared: Option<&str>) -> Option<PartRule> {
    let name = comparable(name);
    let by_type = declared.and_then(|declared| {
        TYPES.iter().find(|(words, _)| declared.contains(words)).map(|(_, rule)| *rule)
    });
    by_type.or_else(|| {
        let by_folder = FOLDERS.iter().find(|(start, _)| name.starts_with(start));
        let found = by_folder.or_else(|| ENDINGS.iter().find(|(end, _)| name.ends_with(end)));
        found.map(|(_, rule)| *rule)
    })
}

/// Returns the comparable names of the workbooks behind charts, whose values the charts have.
fn behind_charts(archive: &mut Archive<'_>) -> HashSet<String> {
    let charts = archive.names().into_iter().filter(|name| {
        let name = comparable(name);
        name.contains("/charts/") && !name.contains("/_rels/")
    });
    let mut behind = HashSet::new();
    for chart in charts.collect::<Vec<_>>() {
        let related = relations(archive, &chart).unwrap_or_default().into_values();
        behind.extend(related.map(|related| comparable(&related.name)));
    }
    behind
}

/// The declared types of parts, in lower case.
#[derive(Debug, Default)]
struct DeclaredTypes {
    by_name: HashMap<String, String>,
    by_ending: HashMap<String, String>,
}

impl DeclaredTypes {
    /// Reads the declarations of Office Open XML (ECMA-376, part 2, 10.1.2) and of `OpenDocument`.
    fn of(archive: &mut Archive<'_>) -> Self {
        let mut types = Self::default();
        for name in ["[Content_Types].xml", "META-INF/manifest.xml"] {
            let declarations = part(archive, name).ok().flatten().unwrap_or_default();
            let _ = xml::each(&declarations, |event| {
                let XmlEvent::Open(element) = event else { return };
                let (name, declared) = match element.name() {
                    "Override" => ("PartName", "ContentType"),
                    "file-entry" => ("full-path", "media-type"),
                    "Default" => ("Extension", "ContentType"),
                    _ => return,
                };
                let declared = element.attribute_or_empty(declared).to_lowercase();
                let name_or_ending = element.attribute_or_empty(name);
                if element.name() == "Default" {
                    types.by_ending.insert(name_or_ending.to_lowercase(), declared);
                } else {
                    types.by_name.insert(comparable(&name_or_ending), declared);
                }
            });
        }
        types
    }

    fn get(&self, name: &str) -> Option<&str> {
        let name = comparable(name);
        let by_name = self.by_name.get(&name);
        by_name.or_else(|| self.by_ending.get(name.rsplit_once('.')?.1)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests;
