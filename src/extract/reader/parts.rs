//! Reads the parts of a ZIP archive (`zip`); shared by DOCX and EPUB.

use std::io::{Cursor, Read as _};

use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::{self, Event};
use crate::error::Failure;
use crate::extract::protocol::{Head, ReadFailure};
use crate::text::decode;

/// Most bytes of one part; a thousand pages have about 20 million.
const MAX_PART_BYTES: u64 = 512 << 20;

/// An archive in memory.
pub(in crate::extract) type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// Opens an archive.
pub(in crate::extract) fn open(bytes: &[u8]) -> Result<Archive<'_>, ReadFailure> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))
}

/// Returns a part of the archive; `None` if there is none with that name.
pub(in crate::extract) fn part(
    archive: &mut Archive<'_>,
    name: &str,
) -> Result<Option<String>, ReadFailure> {
    let part = match archive.by_name(name) {
        Err(ZipError::FileNotFound) => return Ok(None),
        other => other.map_err(|error| damaged(&error))?,
    };
    let mut bytes = Vec::new();
    let outcome = part.take(MAX_PART_BYTES).read_to_end(&mut bytes);
    let len = outcome.map_err(|error| ReadFailure::new(Failure::Damaged, error.to_string()))?;
    if u64::try_from(len).is_ok_and(|len| len >= MAX_PART_BYTES) {
        return Err(ReadFailure::new(
            Failure::OutOfMemory,
            format!("{name} is larger than 512 MB"),
        ));
    }
    Ok(Some(decode::decode(&bytes).unwrap_or_default()))
}

fn damaged(error: &ZipError) -> ReadFailure {
    let failure = match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            Failure::EncryptionNotSupported
        }
        _ => Failure::Damaged,
    };
    ReadFailure::new(failure, error.to_string())
}

/// Reads the metadata of a document (Dublin Core).
pub(in crate::extract) fn head(properties: &str) -> Head {
    let mut head = Head::default();
    let mut text = String::new();
    // Metadata that cannot be read is ignored.
    let _ = xml::each(properties, |event| match event {
        Event::Open(_) => text.clear(),
        Event::Text(run) => text.push_str(run),
        Event::Close(name) => {
            let words = text.trim();
            let slot = match name {
                "title" => &mut head.title,
                "creator" => &mut head.author,
                "created" | "date" => &mut head.created,
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
pub(in crate::extract) fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    use std::io::Write as _;
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
