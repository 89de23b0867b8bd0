//! Reads the files that are merged into a document when it is opened (`altChunk`): web pages, texts,
//! other documents.

use std::collections::BTreeMap;

use crate::document::Words;
use crate::error::Failure;
use crate::extract::protocol::{Line, MemberLine, PageBlock, ReadFailure, Request};
use crate::parts::{Archive, Related};
use crate::text::decode;
use crate::writer::Writer;
use crate::{Emit, Input, Read, Stop, html, mhtml, rtf};

/// How far from its start the format of a file shows.
const SIGNS_WITHIN_BYTES: usize = 1024;

/// The start of a document of an office program.
const ARCHIVE: &[u8] = b"PK\x03\x04";

/// The texts of merged files by the ids that the document uses.
#[derive(Debug, Default)]
pub(super) struct MergedFiles(BTreeMap<String, Vec<PageBlock>>);

/// What merged files have besides their text.
#[derive(Debug, Default)]
pub(super) struct MergedRest {
    pub(super) left_out: Words,
    pub(super) warnings: Vec<String>,
    /// The files that are embedded in them, below their names.
    pub(super) members: Vec<MemberLine>,
}

impl MergedFiles {
    /// Reads the merged files among the parts that a document refers to. A file that cannot be read
    /// is a warning; so is each one if the document is itself merged into another.
    pub(super) fn read(
        archive: &mut Archive<'_>,
        related: &BTreeMap<String, Related>,
        input: &Input<'_>,
        is_merged: bool,
        rest: &mut MergedRest,
    ) -> Self {
        let mut texts = BTreeMap::new();
        for (id, related) in related.iter().filter(|(_, related)| related.kind == "aFChunk") {
            let name = &related.name;
            // Many relations to one file would read it as often.
            if archive.has(name) && !archive.is_untouched(name) {
                continue;
            }
            if is_merged {
                rest.warnings.push(format!("{name}, which belongs in the text, is not read"));
                continue;
            }
            let outcome = archive.bytes(name).and_then(|bytes| {
                let missing = || ReadFailure::new(Failure::Damaged, "it is missing");
                blocks_of(name, &bytes.ok_or_else(missing)?, input, rest)
            });
            match outcome {
                Ok(blocks) => drop(texts.insert(id.clone(), blocks)),
                Err(failed) => rest.warnings.push(format!(
                    "{name}, which belongs in the text, cannot be read: {}",
                    failed.detail
                )),
            }
        }
        Self(texts)
    }

    /// Returns the text of a file at its place; `None` if it was returned before.
    pub(super) fn take(&mut self, id: &str) -> Option<Vec<PageBlock>> {
        self.0.remove(id)
    }

    /// Returns the texts of the files without a place.
    pub(super) fn into_rest(self) -> impl Iterator<Item = Vec<PageBlock>> {
        self.0.into_values()
    }
}

/// Returns the text of a file.
fn blocks_of(
    name: &str,
    bytes: &[u8],
    input: &Input<'_>,
    rest: &mut MergedRest,
) -> Result<Vec<PageBlock>, ReadFailure> {
    let (_, extension) = name.rsplit_once('.').unwrap_or_default();
    let read = match MergedFormat::of(bytes, &extension.to_lowercase()) {
        Some(MergedFormat::Text) => return Ok(paragraphs(bytes)),
        Some(MergedFormat::Read(read)) => read,
        None => return Err(ReadFailure::new(Failure::WrongFormat, "its format is not supported")),
    };
    // A merged page has no menus, so everything on it counts.
    let keeps_all = input.request.keeps_all || !bytes.starts_with(ARCHIVE);
    let request = Request { keeps_all, ..input.request.clone() };
    let input = Input { bytes, request: &request, ask: input.ask };
    let mut blocks = Vec::new();
    let emit: &mut Emit<'_> = &mut |line| {
        match line {
            Line::Page(page) => {
                blocks.extend(page.blocks);
                rest.left_out.merge(&page.left_out);
            }
            Line::Member(member) => {
                let name = format!("{name}/{}", member.name);
                rest.members.push(MemberLine { name, ..member });
            }
            _ => {}
        }
        Ok(())
    };
    match read(&input, emit) {
        Ok(tail) => rest.warnings.extend(tail.warnings),
        Err(Stop::Failed(failed)) => return Err(failed),
        Err(Stop::Io(error)) => return Err(ReadFailure::new(Failure::Damaged, error.to_string())),
    }
    Ok(blocks)
}

/// How a merged file is read.
enum MergedFormat {
    Text,
    Read(Read),
}

impl MergedFormat {
    /// Recognises a format by the bytes of a file and, if they do not tell, by its extension in lower
    /// case: programs name merged files as they like.
    fn of(bytes: &[u8], extension: &str) -> Option<Self> {
        let start = &bytes[..bytes.len().min(SIGNS_WITHIN_BYTES)];
        let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
        let words = String::from_utf8_lossy(start).to_lowercase();
        if start.starts_with(ARCHIVE) {
            return Some(Self::Read(super::read_merged));
        }
        if start.starts_with(b"{\\rtf") {
            return Some(Self::Read(rtf::read));
        }
        if words.contains("mime-version:") {
            return Some(Self::Read(mhtml::read));
        }
        let is_page = ["<html", "<!doctype html", "<body"].iter().any(|tag| words.contains(tag));
        if is_page || matches!(extension, "html" | "htm" | "xhtml") {
            return Some(Self::Read(html::read));
        }
        (extension == "txt").then_some(Self::Text)
    }
}

/// Returns the paragraphs of a plain text, with blank lines between them.
fn paragraphs(bytes: &[u8]) -> Vec<PageBlock> {
    let text = decode::decode(bytes).unwrap_or_default().replace("\r\n", "\n");
    let mut writer = Writer::default();
    text.split("\n\n").for_each(|paragraph| writer.paragraph(paragraph));
    writer.finish()
}
