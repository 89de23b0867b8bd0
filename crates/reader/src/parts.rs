//! Reads the parts of a ZIP archive (`zip`); shared by EPUB and the formats of office
//! programs.

use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read as _};

use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::{self, XmlEvent};
use crate::error::FailureKind;
use crate::extract::protocol::{DocumentHead, ReadFailure};
use crate::text::decode;

/// Most bytes of one part, unpacked; a thousand pages have about 20 million, and a bomb any number.
const MAX_PART_BYTES: u64 = 512 << 20;

/// An archive in memory, which remembers which of its parts were read.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// The numbers of the parts by their comparable names.
    numbers: HashMap<String, usize>,
    /// The state of each part, by its number.
    states: Vec<PartState>,
}

/// Whether a part was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartState {
    /// No reader has asked for it.
    Untouched,
    Read,
    /// It could not be unpacked; why.
    Damaged(String),
}

/// Opens an archive.
pub(crate) fn open(bytes: &[u8]) -> Result<Archive<'_>, ReadFailure> {
    let zip = open_zip(bytes)?;
    let names = zip.file_names().enumerate();
    let names = names.filter_map(|(number, name)| Some((comparable(&name.ok()?), number)));
    let numbers = names.collect();
    let states = vec![PartState::Untouched; zip.len()];
    Ok(Archive { zip, numbers, states })
}

/// Opens an archive whose files are wanted one after another.
pub(crate) fn open_zip(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>, ReadFailure> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))
}

/// Returns the form in which names of parts are compared: programs differ in case and in the direction of slashes.
pub(crate) fn comparable(name: &str) -> String {
    name.replace('\\', "/").trim_start_matches('/').to_lowercase()
}

impl Archive<'_> {
    /// Returns the names of the parts, with `/`, in the order of the archive; folders are no parts.
    pub(crate) fn names(&self) -> Vec<String> {
        let names =
            self.zip.file_names().filter_map(Result::ok).map(|name| name.replace('\\', "/"));
        names.filter(|name| !name.ends_with('/')).collect()
    }

    /// Whether there is a part with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(&comparable(name))
    }

    /// Returns what became of a part so far; one that is not there is untouched.
    pub(crate) fn state(&self, name: &str) -> PartState {
        let number = self.numbers.get(&comparable(name));
        number.map_or(PartState::Untouched, |number| self.states[*number].clone())
    }

    /// Returns the size of a part in bytes, as the archive states it; `None` if there is none with that name.
    pub(crate) fn size_bytes(&mut self, name: &str) -> Option<u64> {
        let number = *self.numbers.get(&comparable(name))?;
        self.zip.by_index_raw(number).ok().map(|part| part.size())
    }

    /// Whether there is a part with this name that no reader has asked for yet. A part that is shown only at its own
    /// place is read only then, because thousands of parts may refer to it.
    pub(crate) fn is_untouched(&self, name: &str) -> bool {
        self.has(name) && self.state(name) == PartState::Untouched
    }

    /// Returns the bytes of a part; `None` if there is none with that name.
    pub(crate) fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, ReadFailure> {
        let Some(&number) = self.numbers.get(&comparable(name)) else { return Ok(None) };
        let (bytes, damage) = self.unpack(number, name);
        damage.map_or(Ok(Some(bytes)), Err)
    }

    /// Whether a part begins with these bytes; it does not count as read.
    pub(crate) fn starts_with(&mut self, name: &str, start: &[u8]) -> bool {
        let Some(&number) = self.numbers.get(&comparable(name)) else { return false };
        let mut bytes = vec![0; start.len()];
        let part = self.zip.by_index(number);
        part.is_ok_and(|mut part| part.read_exact(&mut bytes).is_ok()) && bytes == start
    }

    /// Returns the bytes of a part up to its damage, and the damage.
    fn unpack(&mut self, number: usize, name: &str) -> (Vec<u8>, Option<ReadFailure>) {
        let mut bytes = Vec::new();
        let outcome = match self.zip.by_index(number) {
            Ok(part) => part
                .take(MAX_PART_BYTES)
                .read_to_end(&mut bytes)
                .map_err(|error| ReadFailure::new(FailureKind::Damaged, error.to_string())),
            Err(error) => Err(damaged(&error)),
        };
        let is_too_large = u64::try_from(bytes.len()).is_ok_and(|len| len >= MAX_PART_BYTES);
        let damage = if is_too_large {
            bytes = Vec::new();
            let detail = format!("{name} is larger than 512 MB");
            Some(ReadFailure::new(FailureKind::OutOfMemory, detail))
        } else {
            outcome.err()
        };
        self.states[number] = match &damage {
            None => PartState::Read,
            Some(failed) => PartState::Damaged(failed.detail.clone()),
        };
        (bytes, damage)
    }
}

/// A part of which the text before its damage is wanted.
#[derive(Debug, Default)]
pub(crate) struct SalvagedPart {
    /// Its text up to the damage.
    pub(crate) text: String,
    /// Why the text ends early.
    pub(crate) damage: Option<ReadFailure>,
}

/// Returns a part of the archive with the text before its damage, which the reader reports; `None` if there is none
/// with that name.
pub(crate) fn salvage(archive: &mut Archive<'_>, name: &str) -> Option<SalvagedPart> {
    let &number = archive.numbers.get(&comparable(name))?;
    let (bytes, damage) = archive.unpack(number, name);
    if !bytes.is_empty() {
        archive.states[number] = PartState::Read;
    }
    let is_utf8 = bytes.starts_with(b"<") || bytes.starts_with(b"\xEF\xBB\xBF<");
    let text = match &damage {
        // A character that is damaged or cut off must not change the encoding of all others.
        Some(_) if is_utf8 => String::from_utf8_lossy(&bytes).into_owned(),
        _ => decode::decode(&bytes).unwrap_or_default(),
    };
    Some(SalvagedPart { text, damage })
}

/// Returns a part of the archive as text; `None` if there is none with that name.
pub(crate) fn part(archive: &mut Archive<'_>, name: &str) -> Result<Option<String>, ReadFailure> {
    Ok(archive.bytes(name)?.map(|bytes| decode::decode(&bytes).unwrap_or_default()))
}

/// Returns a part that the document can be read without; empty if it is missing or damaged. The account of the
/// archive names a damaged one.
pub(crate) fn optional(archive: &mut Archive<'_>, name: &str) -> String {
    part(archive, name).ok().flatten().unwrap_or_default()
}

fn damaged(error: &ZipError) -> ReadFailure {
    let failure = match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            FailureKind::EncryptionNotSupported
        }
        _ => FailureKind::Damaged,
    };
    ReadFailure::new(failure, error.to_string())
}

/// The start of the container of an encrypted file, and of old office documents (MS-CFB, 2.2).
const CONTAINER_MAGIC: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// Opens the archive of an Office Open XML document; an encrypted one is no archive. `old` is the
/// extension of the older format that looks the same.
pub(crate) fn open_office<'a>(bytes: &'a [u8], old: &str) -> Result<Archive<'a>, ReadFailure> {
    if bytes.starts_with(CONTAINER_MAGIC) {
        let detail = format!("it is encrypted, or an old {old} file");
        return Err(ReadFailure::new(FailureKind::EncryptionNotSupported, detail));
    }
    open(bytes)
}

/// Returns the name of the main part, which the package defines (ECMA-376, part 2, 9.3).
pub(crate) fn main_part(archive: &mut Archive<'_>, default: &str) -> Result<String, ReadFailure> {
    let mut relations = relations(archive, "")?.into_values();
    let found =
        relations.find(|related| related.kind == "officeDocument" && archive.has(&related.name));
    Ok(found.map_or_else(|| default.to_owned(), |related| related.name))
}

/// A part that another part refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RelatedPart {
    /// The last component of its type: `slide`, `worksheet`.
    pub(crate) kind: String,
    /// Its name in the archive.
    pub(crate) name: String,
}

/// Returns the parts that a part refers to, by the ids it uses; `name` is empty for the package.
pub(crate) fn relations(
    archive: &mut Archive<'_>,
    name: &str,
) -> Result<BTreeMap<String, RelatedPart>, ReadFailure> {
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let path = resolve(folder, &format!("_rels/{file}.rels"));
    let mut related = BTreeMap::new();
    // Relations that cannot be read are ignored.
    let _ = xml::each(&part(archive, &path)?.unwrap_or_default(), |event| {
        if let XmlEvent::Open(element) = event
            && let Some(target) = element.attribute("Target")
            && element.attribute("TargetMode").as_deref() != Some("External")
        {
            let id = element.attribute("Id").unwrap_or_else(|| format!("#{}", related.len()));
            let kind = element.attribute("Type").unwrap_or_default();
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            let target = target.replace('\\', "/");
            let folder = if target.starts_with('/') { "" } else { folder };
            related.insert(id, RelatedPart { kind, name: resolve(folder, &target) });
        }
    });
    Ok(related)
}

/// Returns the names of the XML parts that begin with `start` and continue with a number, in the order of the numbers.
pub(crate) fn numbered(archive: &Archive<'_>, start: &str) -> Vec<String> {
    let start = comparable(start);
    let names = archive.names().into_iter();
    let mut numbered: Vec<(u64, String)> =
        names.filter_map(|name| Some((number_after(&start, &name)?, name))).collect();
    numbered.sort_unstable();
    numbered.into_iter().map(|(_, name)| name).collect()
}

/// Returns the number of an XML part whose name begins with `start`, which is comparable.
fn number_after(start: &str, name: &str) -> Option<u64> {
    comparable(name).strip_prefix(start)?.strip_suffix(".xml")?.parse().ok()
}

/// Returns the name in the archive that a path in a file of `folder` refers to.
pub(crate) fn resolve(folder: &str, path: &str) -> String {
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

/// Whether the text that describes a picture does so, and is not the name of its file.
pub(crate) fn is_description(text: &str) -> bool {
    let is_file = text.rsplit_once('.').is_some_and(|(_, end)| {
        (3..=4).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    text.split_whitespace().nth(1).is_some() && !is_file
}

/// Reads the metadata of a document (Dublin Core).
pub(crate) fn head(properties: &str) -> DocumentHead {
    let mut head = DocumentHead::default();
    let mut text = String::new();
    // Metadata that cannot be read is ignored.
    let _ = xml::each(properties, |event| match event {
        XmlEvent::Open(_) => text.clear(),
        XmlEvent::Text(run) => text.push_str(run),
        XmlEvent::Close(name) => {
            let words = text.trim();
            let slot = match name {
                "title" => &mut head.title,
                "creator" => &mut head.author,
                "created" | "date" => &mut head.created,
                // OpenDocument states the date of the last change as `date`.
                "creation-date" => {
                    head.created = Some(words.to_owned());
                    return;
                }
                "initial-creator" => {
                    head.author = Some(words.to_owned());
                    return;
                }
                "language" => &mut head.language,
                _ => return,
            };
            if !words.is_empty() && slot.is_none() {
                *slot = Some(words.to_owned());
            }
        }
    });
    head
}

/// Creates an archive of these parts.
#[cfg(test)]
pub(crate) fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let parts: Vec<_> = parts.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    archive_of_bytes(&parts)
}

/// Creates an archive of parts that need not be texts.
#[cfg(test)]
pub(crate) fn archive_of_bytes(parts: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::Write as _;
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_with_a_wrong_checksum_keeps_its_text() {
        use std::io::Write as _;
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let stored = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        writer.start_file("a.xml", stored).unwrap();
        writer.write_all("<a>Größe und mehr</a>".as_bytes()).unwrap();
        let mut bytes = writer.finish().unwrap().into_inner();
        let at = bytes.windows(3).position(|window| window == b"und").unwrap();
        bytes[at] = 0xFF;
        let mut archive = open(&bytes).unwrap();
        assert!(part(&mut archive, "a.xml").is_err());
        let salvaged = salvage(&mut archive, "A.xml").unwrap();
        assert_eq!(salvaged.text, "<a>Größe \u{FFFD}nd mehr</a>");
        assert_eq!(salvaged.damage.unwrap().failure, FailureKind::Damaged);
        assert_eq!(archive.state("a.xml"), PartState::Read);
        assert!(salvage(&mut archive, "b.xml").is_none());
    }

    #[test]
    fn targets_of_relations_may_have_backslashes() {
        let relations = "<Relationships><Relationship Id='a' Type='x/worksheet' Target='worksheets\\s.xml'/>\
            </Relationships>";
        let bytes = archive(&[("xl\\_rels\\workbook.xml.rels", relations)]);
        let related = super::relations(&mut open(&bytes).unwrap(), "xl/workbook.xml").unwrap();
        assert_eq!(related["a"].name, "xl/worksheets/s.xml");
    }
}
