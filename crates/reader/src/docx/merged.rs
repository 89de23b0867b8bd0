//! Reads the files that are merged into a document when it is opened (`altChunk`): web pages, texts,
//! other documents.

use std::collections::BTreeMap;

use crate::document::WordAccount;
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, MemberLine, PageBlock, ReadFailure, Request};
use crate::parts::{Archive, RelatedPart};
use crate::{EarlyEnd, Emit, Read, ReaderInput};

/// The start of a document of an office program.
pub(crate) const ARCHIVE: &[u8] = b"PK\x03\x04";

/// Returns the reader of a merged file by its bytes and by its extension in lower case; `None` for a
/// format that is not supported.
pub(super) type ReaderOfMerged = fn(&[u8], &str) -> Option<Read>;

/// The texts of merged files by the ids that the document uses.
#[derive(Debug, Default)]
pub(super) struct MergedFiles(BTreeMap<String, Vec<PageBlock>>);

/// The contents of merged files besides their text.
#[derive(Debug, Default)]
pub(super) struct MergedRest {
    pub(super) left_out: WordAccount,
    pub(super) warnings: Vec<String>,
    /// The files that are embedded in them, below their names.
    pub(super) members: Vec<MemberLine>,
}

impl MergedFiles {
    /// Reads the merged files among the parts that a document refers to. A file that cannot be read
    /// is a warning; so is each one if there are no readers.
    pub(super) fn read(
        archive: &mut Archive<'_>,
        related: &BTreeMap<String, RelatedPart>,
        input: &ReaderInput<'_>,
        reader_of: Option<ReaderOfMerged>,
        rest: &mut MergedRest,
    ) -> Self {
        let mut texts = BTreeMap::new();
        for (id, related) in related.iter().filter(|(_, related)| related.kind == "aFChunk") {
            let name = &related.name;
            // Many relations to one file would read it as often.
            if archive.has(name) && !archive.is_untouched(name) {
                continue;
            }
            let Some(reader_of) = reader_of else {
                rest.warnings.push(format!("{name}, which belongs in the text, is not read"));
                continue;
            };
            let outcome = archive.bytes(name).and_then(|bytes| {
                let bytes =
                    bytes.ok_or_else(|| ReadFailure::new(FailureKind::Damaged, "it is missing"))?;
                let (_, extension) = name.rsplit_once('.').unwrap_or_default();
                let read = reader_of(&bytes, &extension.to_lowercase()).ok_or_else(|| {
                    ReadFailure::new(FailureKind::WrongFormat, "its format is not supported")
                })?;
                blocks_of(name, read, &ReaderInput { bytes: &bytes, ..*input }, rest)
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

/// Returns the text of a file with this name.
fn blocks_of(
    name: &str,
    read: Read,
    input: &ReaderInput<'_>,
    rest: &mut MergedRest,
) -> Result<Vec<PageBlock>, ReadFailure> {
    // A merged page has no menus, so everything on it counts.
    let keeps_all = input.request.keeps_all || !input.bytes.starts_with(ARCHIVE);
    let request = Request { keeps_all, ..input.request.clone() };
    let input = ReaderInput { request: &request, ..*input };
    let mut blocks = Vec::new();
    let emit: &mut Emit<'_> = &mut |line| {
        match line {
            AnswerLine::Page(page) => {
                blocks.extend(page.blocks);
                rest.left_out.merge(&page.left_out);
            }
            AnswerLine::Member(member) => {
                let name = format!("{name}/{}", member.name);
                rest.members.push(MemberLine { name, ..member });
            }
            _ => {}
        }
        Ok(())
    };
    match read(&input, emit) {
        Ok(tail) => rest.warnings.extend(tail.warnings),
        Err(EarlyEnd::Failed(failed)) => return Err(failed),
        Err(EarlyEnd::Io(error)) => {
            return Err(ReadFailure::new(FailureKind::Damaged, error.to_string()));
        }
    }
    Ok(blocks)
}
