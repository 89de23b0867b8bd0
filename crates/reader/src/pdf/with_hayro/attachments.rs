//! Collects the files that are embedded in a PDF, and sends them as separate documents.

use std::collections::HashMap;

use hayro::hayro_syntax::object::{
    Array, Dict, Object, ObjectIdentifier, Stream, String as PdfString,
};

use super::{names, strings};
use crate::document::FileParts;
use crate::error::FailureKind;
use crate::extract::pdf::clean;
use crate::extract::protocol::ReadFailure;
use crate::limits;
use crate::members::Members;
use crate::{EarlyEnd, Emit};

/// Keys under which the name of a file and its bytes are kept, best first.
const KEYS: [&[u8]; 5] = [b"UF", b"F", b"Unix", b"Mac", b"DOS"];

/// The files that are embedded in a document.
pub(super) struct Attachments<'a> {
    files: Vec<AttachedFile<'a>>,
    idx_of: HashMap<ObjectIdentifier, usize>,
}

/// A file that is embedded in a document.
struct AttachedFile<'a> {
    name: String,
    stream: Stream<'a>,
    is_named: bool,
}

impl<'a> Attachments<'a> {
    /// Finds the files that belong to the whole document.
    pub(super) fn of(catalog: &Dict<'a>) -> Self {
        let mut attachments = Self { files: Vec::new(), idx_of: HashMap::new() };
        let names = catalog.get::<Dict<'_>>(b"Names");
        let tree = names.and_then(|names| names.get::<Dict<'_>>(b"EmbeddedFiles"));
        let entries = tree.into_iter().flat_map(|tree| names::entries(tree, limits::MEMBERS));
        for (name, file) in entries {
            if let Object::Dict(file) = file {
                attachments.add(&file, &strings::decode(&name));
            }
        }
        attachments.add_associated(catalog);
        attachments
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds the files that are associated with a page, or with the document.
    pub(super) fn add_associated(&mut self, owner: &Dict<'a>) {
        let files = owner.get::<Array<'_>>(b"AF");
        for file in files.iter().flat_map(Array::iter::<Dict<'_>>).take(limits::MEMBERS) {
            self.add(&file, "");
        }
    }

    /// Adds a file unless it is there already; returns its index, if its bytes are in the document.
    fn add(&mut self, file: &Dict<'a>, usual_name: &str) -> Option<usize> {
        let embedded = file.get::<Dict<'_>>(b"EF")?;
        let stream = KEYS.iter().find_map(|key| embedded.get::<Stream<'_>>(key))?;
        let id = stream.obj_id();
        if let Some(idx) = self.idx_of.get(&id) {
            return Some(*idx);
        }
        if self.files.len() >= limits::MEMBERS {
            return None;
        }
        let stated = KEYS.iter().find_map(|key| file.get::<PdfString<'_>>(key));
        let stated = stated.map(|name| strings::decode(&name)).unwrap_or_default();
        let name = [&*stated, usual_name].map(file_name).into_iter().find(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| format!("attachment-{}", self.files.len() + 1));
        let idx = self.files.len();
        self.idx_of.insert(id, idx);
        self.files.push(AttachedFile { name, stream, is_named: false });
        Some(idx)
    }

    /// Adds a file that is attached to a page, and returns its name.
    pub(super) fn name_on_page(&mut self, file: &Dict<'a>) -> Option<String> {
        let idx = self.add(file, "")?;
        let file = self.files.get_mut(idx)?;
        file.is_named = true;
        Some(file.name.clone())
    }

    /// Returns the names of the files that no page has named.
    pub(super) fn other_names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|file| !file.is_named).map(|file| &*file.name)
    }

    /// Sends the files, and accounts for them.
    pub(super) fn send(self, emit: &mut Emit<'_>, parts: &mut FileParts) -> Result<(), EarlyEnd> {
        let mut members = Members::new(emit);
        let mut bytes_left = limits::MEMBER_BYTES;
        for AttachedFile { name, stream, .. } in self.files {
            match bytes_of(&stream, bytes_left) {
                Ok(bytes) => {
                    bytes_left -= size_of(&bytes);
                    parts.add_read();
                    members.add(&name, bytes)?;
                }
                Err(ReadFailure { failure, detail }) => {
                    parts.add_unread(&name, stated_size(&stream), &detail);
                    members.failed(&name, failure, detail)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the last part of a path, which may be of another system.
fn file_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    clean::join_lines(&clean::text(name))
}

/// Returns the size of a file as the document states it; 0 if it does not.
fn stated_size(stream: &Stream<'_>) -> u64 {
    let parameters = stream.dict().get::<Dict<'_>>(b"Params");
    let size = parameters.and_then(|parameters| parameters.get::<u32>(b"Size"));
    size.map_or(0, u64::from)
}

fn size_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Returns the bytes of a file, unless there are more than `max`.
fn bytes_of(stream: &Stream<'_>, max: u64) -> Result<Vec<u8>, ReadFailure> {
    let stated = stated_size(stream);
    // A file that says how large it is need not be unpacked to be refused.
    let bytes = if stated > max { Ok(Vec::new().into()) } else { stream.decoded_data() };
    match bytes {
        Ok(bytes) if stated > max || size_of(&bytes) > max => {
            let detail = format!("more than {} MB unpacked", limits::MEMBER_BYTES >> 20);
            Err(ReadFailure::new(FailureKind::OutOfMemory, detail))
        }
        Ok(bytes) if bytes.is_empty() && stated > 0 => {
            let detail = "it cannot be decrypted or unpacked";
            Err(ReadFailure::new(FailureKind::Damaged, detail))
        }
        Ok(bytes) => Ok(bytes.into_owned()),
        Err(error) => {
            let detail = format!("it cannot be unpacked: {error:?}");
            Err(ReadFailure::new(FailureKind::Damaged, detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pdf::with_hayro::testing::{pdf, read};

    const TREE: &str = "<</Type/Catalog/Pages PAGES/AF[3 0 R]\
        /Names<</EmbeddedFiles<</Kids[<</Names[(x)2 0 R(y)3 0 R]>>]>>>>>>";

    #[test]
    fn every_file_is_sent_once_and_named_on_its_page_or_the_last_one() {
        let objects = [
            TREE,
            "<</UF(C:/logs/tides.csv)/F(old.csv)/EF<</F 4 0 R>>>>",
            "<</EF<</F 5 0 R>>>>",
            "<</Length 7>>stream\na,b\n1,2\nendstream",
            "<</Length 5>>stream\nwords\nendstream",
            "<</Type/Annot/Subtype/FileAttachment/Rect[50 690 60 700]/FS 2 0 R/Contents(See it)>>",
        ];
        let output = read(&pdf(&objects, "/Annots[6 0 R]", &[("High water", 700)]));
        let expected =
            ["High water", "+Embedded file: tides.csv", "+Comment: See it", "+Embedded file: y"];
        assert_eq!(output.texts(), expected);
        let members = output.members.iter().map(|member| (&*member.name, &*member.bytes));
        let expected: [(&str, &[u8]); 2] = [("tides.csv", b"a,b\n1,2"), ("y", b"words")];
        assert_eq!(members.collect::<Vec<_>>(), expected);
        assert_eq!(output.tail.parts.num_read, 3);
    }

    #[test]
    fn a_file_that_is_damaged_or_too_large_is_reported() {
        let objects = [
            TREE,
            "<</F(a.bin)/EF<</F 4 0 R>>>>",
            "<</F(b.bin)/EF<</F 5 0 R>>>>",
            "<</Filter/FlateDecode/Length 0/Params<</Size 9>>>>stream\n\nendstream",
            "<</Length 5/Params<</Size 1000000000>>>>stream\nwords\nendstream",
        ];
        let output = read(&pdf(&objects, "", &[("High water", 700)]));
        let failed = output.members.iter().map(|member| member.failed.as_ref().unwrap().0.clone());
        assert_eq!(failed.collect::<Vec<_>>(), ["damaged", "out_of_memory"]);
        let unread = output.tail.parts.unread.iter().map(|part| (&*part.name, part.size_bytes));
        assert_eq!(unread.collect::<Vec<_>>(), [("a.bin", 9), ("b.bin", 1_000_000_000)]);
    }

    #[test]
    fn the_cover_of_a_portfolio_is_left_out() {
        let objects = [
            "<</Type/Catalog/Pages PAGES/Collection<<>>/AF[2 0 R]>>",
            "<</F(a.txt)/EF<</F 3 0 R>>>>",
            "<</Length 5>>stream\nwords\nendstream",
        ];
        let cover = [("For the best experience, open this portfolio in Acrobat.", 700)];
        let output = read(&pdf(&objects, "", &cover));
        assert_eq!(output.texts(), ["+Embedded file: a.txt"]);
        assert_eq!(output.left_out(), ["frame 9"]);
    }
}
