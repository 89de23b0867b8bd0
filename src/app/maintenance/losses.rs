//! Finds the data that is lost forever when documents are removed, because no file has it.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Session;
use crate::app::indexing::ingestion::options::walk_options;
use crate::document::Format;
use crate::error::Result;
use crate::extract;
use crate::extract::sandbox::ReadOptions;
use crate::ingest::roots::Roots;
use crate::ingest::survey::is_missing;
use crate::store::{DocumentId, DocumentName, RememberedFile, Store, StoredDocument};
use crate::text::number::counted;
use crate::text::paths;

/// The data that is in no file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Lost")]
pub struct UnreproducibleData {
    /// Notes and other documents that never had a file.
    #[serde(rename = "notes")]
    pub num_notes: usize,
    /// Documents whose files are missing.
    #[serde(rename = "without_file")]
    pub num_without_file: usize,
    /// Titles that were edited.
    #[serde(rename = "titles")]
    pub num_titles: usize,
    /// Dates that were edited.
    #[serde(rename = "dates")]
    pub num_dates: usize,
    /// Documents with tags that were edited.
    #[serde(rename = "tagged")]
    pub num_tagged: usize,
}

impl UnreproducibleData {
    /// Returns the losses as the object of a sentence; `None` if nothing is lost.
    pub fn text(&self) -> Option<String> {
        let parts = [
            (self.num_notes, "note"),
            (self.num_without_file, "document with a missing file"),
            (self.num_titles, "edited title"),
            (self.num_dates, "edited date"),
            (self.num_tagged, "document with edited tags"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, noun)| counted_nouns(count, noun)).collect();
        let (last, others) = parts.split_last()?;
        Some(if others.is_empty() {
            last.clone()
        } else {
            format!("{} and {last}", others.join(", "))
        })
    }
}

/// Returns a count and its noun, which may have words after it.
fn counted_nouns(count: usize, noun: &str) -> String {
    match noun.split_once(" with ") {
        Some((first, rest)) if count != 1 => {
            let rest = rest.replace("a missing file", "missing files");
            format!("{} with {rest}", counted(count, first))
        }
        _ => counted(count, noun),
    }
}

/// Counts the data that is lost with these documents.
pub(crate) fn losses<'a>(
    session: &Session,
    store: &Store,
    documents: impl Iterator<Item = &'a DocumentName>,
) -> Result<UnreproducibleData> {
    let roots = Roots::of(store, session.config().ingestion.follow_links)?;
    let mut files: HashMap<DocumentId, Vec<RememberedFile>> = HashMap::new();
    for file in store.known_files()? {
        files.entry(file.document_id).or_default().push(file);
    }
    let mut losses = UnreproducibleData::default();
    for name in documents {
        let Some(document) = store.document(name.id)? else { continue };
        let known = files.get(&name.id).map(Vec::as_slice).unwrap_or_default();
        let there = known.iter().find(|file| !is_missing(&paths::path_of(&file.stamp.path)));
        let Some(file) = there else {
            if known.is_empty() {
                losses.num_notes += 1;
            } else {
                losses.num_without_file += 1;
            }
            continue;
        };
        losses.num_titles += usize::from(document.is_title_given);
        losses.num_dates += usize::from(document.date_given.is_some());
        let path = paths::path_of(&file.stamp.path);
        let mut tags: BTreeSet<&str> = document.tags.iter().map(String::as_str).collect();
        for tag in roots.tags_of(&path) {
            tags.remove(tag.as_str());
        }
        if !tags.is_empty() {
            for tag in stated_tags(session, &roots, &document, file) {
                tags.remove(tag.as_str());
            }
        }
        losses.num_tagged += usize::from(!tags.is_empty());
    }
    Ok(losses)
}

/// Returns the tags that a Markdown file states; none for other formats, and if it cannot be read.
fn stated_tags(
    session: &Session,
    roots: &Roots,
    document: &StoredDocument,
    file: &RememberedFile,
) -> Vec<String> {
    if document.format != Format::Markdown.as_str() {
        return Vec::new();
    }
    let max_bytes = walk_options(session, false).max_bytes();
    let read = roots
        .of_stamp(&file.stamp)
        .and_then(|(path, reach)| reach.read(&path, max_bytes))
        .and_then(|bytes| {
            // Markdown is read without the program that reads other formats.
            extract::extract(&bytes, Format::Markdown, &ReadOptions::new(PathBuf::new()))
        });
    read.map(|extracted| extracted.document.tags).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    #[test]
    fn losses_are_named_with_their_numbers() {
        assert_eq!(UnreproducibleData::default().text(), None);
        let one = UnreproducibleData { num_notes: 1, ..UnreproducibleData::default() };
        assert_eq!(one.text().as_deref(), Some("1 note"));
        let all = UnreproducibleData {
            num_notes: 2,
            num_without_file: 2,
            num_titles: 1,
            num_dates: 0,
            num_tagged: 3,
        };
        assert_eq!(
            all.text().as_deref(),
            Some(
                "2 notes, 2 documents with missing files, 1 edited title and 3 documents with edited tags"
            )
        );
    }

    #[test]
    fn what_no_file_has_is_lost() {
        let world = World::new();
        let there = world.add("docs/a.md", "---\ntags: [stated]\n---\n\nebb");
        let titled = world.add("docs/b.md", "flood");
        let gone = world.add("docs/c.md", "neap");
        let note = world.add_note("n", "spring");
        world.add_folder("docs");
        std::fs::remove_file(world.path("docs/c.md")).unwrap();
        let mut store = world.store();
        store.add_tags(there, &["stated".into()]).unwrap();
        let names = |store: &Store, ids: &[DocumentId]| -> Vec<DocumentName> {
            let names = store.document_names().unwrap().into_iter();
            names.filter(|name| ids.contains(&name.id)).collect()
        };
        let lost = |store: &Store, ids: &[DocumentId]| {
            losses(&world.session, store, names(store, ids).iter()).unwrap()
        };
        assert_eq!(lost(&store, &[there, titled]), UnreproducibleData::default());
        let found = lost(&store, &[there, titled, gone, note]);
        assert_eq!(
            found,
            UnreproducibleData {
                num_notes: 1,
                num_without_file: 1,
                ..UnreproducibleData::default()
            }
        );
        store.add_tags(there, &["mine".into()]).unwrap();
        assert_eq!(
            lost(&store, &[there]),
            UnreproducibleData { num_tagged: 1, ..UnreproducibleData::default() }
        );
        store.add_tags(titled, &["any".into()]).unwrap();
        assert_eq!(lost(&store, &[titled]).num_tagged, 1);
    }
}
