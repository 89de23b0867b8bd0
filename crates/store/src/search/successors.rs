//! Finds the document that replaces one that says it is out of date, among the documents of a search.

use std::path::{Component, Path, PathBuf};

use crate::StoredHit;
use crate::ids::DocumentId;
use crate::search::titles::without_years;
use crate::text::number::is_year;
use crate::text::paths::path_of;

/// Returns the successor of a document among `known`, a hit of each document: by path, file name, title or alias, else
/// one whose name begins with the words it is named by, such as `ADR-0012`. Without a name, it is the edition of the same
/// title that is in force. `None` if there is none.
pub(super) fn successor(of: &StoredHit, known: &[&StoredHit]) -> Option<DocumentId> {
    let mark = of.superseded.as_ref()?;
    let others = || known.iter().copied().filter(|hit| hit.document_id != of.document_id);
    let found = match &mark.by {
        Some(name) => {
            let name = SuccessorName::new(name, of.path.as_deref());
            others().find(|hit| name.is_path_of(hit)).or_else(|| {
                others()
                    .find(|hit| name.is_of(hit))
                    .or_else(|| others().find(|hit| name.begins(hit)))
            })
        }
        None => {
            let title = without_years(&of.title);
            others().find(|hit| hit.superseded.is_none() && without_years(&hit.title) == title)
        }
    };
    found.map(|hit| hit.document_id)
}

/// The name by which a document refers to its successor.
struct SuccessorName {
    /// As a path relative to the document.
    path: Option<PathBuf>,
    /// As a path below any folder.
    end: PathBuf,
    /// In small letters, without extension.
    stem: String,
    words: Vec<String>,
}

impl SuccessorName {
    fn new(name: &str, of: Option<&str>) -> Self {
        let folder = of.map(path_of).and_then(|path| path.parent().map(Path::to_owned));
        let end = PathBuf::from(name.trim_start_matches(['.', '/']));
        let stem = stem(Path::new(name));
        let words = words(name);
        Self { path: folder.map(|folder| normal(&folder.join(name))), end, stem, words }
    }

    /// Whether the name is a path that leads to a document.
    fn is_path_of(&self, hit: &StoredHit) -> bool {
        let Some(path) = hit.path.as_deref().map(path_of) else { return false };
        self.is_path(&path) || self.is_path(&path.with_extension(""))
    }

    fn is_path(&self, path: &Path) -> bool {
        // Every path ends with the empty path, so an empty end would match every file.
        self.path.as_deref() == Some(path)
            || !self.end.as_os_str().is_empty() && path.ends_with(&self.end)
    }

    /// Whether the name is the title, an alias or the file name of a document.
    fn is_of(&self, hit: &StoredHit) -> bool {
        let path = hit.path.as_deref().map(path_of);
        path.is_some_and(|path| stem(&path) == self.stem)
            || std::iter::once(&hit.title)
                .chain(&hit.aliases)
                .any(|title| words(title) == self.words)
    }

    /// Whether the file name or the title of a document begins with the words of the name, or with its number:
    /// `ADR-0012` names `0012-use-sqlite.md`.
    fn begins(&self, hit: &StoredHit) -> bool {
        hit.path.as_deref().map(path_of).is_some_and(|path| self.begins_text(&stem(&path)))
            || self.begins_text(&hit.title)
    }

    fn begins_text(&self, text: &str) -> bool {
        let (words, last) = (words(text), self.words.last());
        // A year is not the number of a document: names of daily notes begin with one, too.
        let number =
            last.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()) && !is_year(word));
        !self.words.is_empty() && words.starts_with(&self.words)
            || number.is_some_and(|number| words.first() == Some(number))
    }
}

/// Returns the words of a name in small letters.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    match name.rsplit_once('.') {
        Some((stem, extension)) if extension.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            stem.to_owned()
        }
        _ => name,
    }
}

/// Returns a path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoredChunk;
    use crate::document::{Chunk, DocType, OutdatedNotice};
    use crate::ids::ChunkId;

    fn hit(id: i64, path: &str, title: &str) -> StoredHit {
        StoredHit {
            chunk: StoredChunk { id: ChunkId(id), chunk_index: 0, chunk: Chunk::default() },
            document_id: DocumentId(id),
            title: title.to_owned(),
            path: Some(path.to_owned()),
            doc_type: DocType::Markdown,
            format: "markdown".into(),
            language: None,
            tags: Vec::new(),
            total_chunks: 1,
            date: None,
            date_origin: None,
            superseded: None,
            natural_language: None,
            aliases: if id == 2 { vec!["The new rules".into()] } else { Vec::new() },
        }
    }

    /// `expected` is the id of the successor.
    #[track_caller]
    fn check(by: Option<&str>, expected: Option<i64>) {
        let superseded = Some(OutdatedNotice { by: by.map(str::to_owned) });
        let old =
            StoredHit { superseded, ..hit(1, "/n/policy/travel-2023.md", "Travel policy 2023") };
        let current = hit(2, "/n/policy/travel-2025.md", "Travel policy 2025");
        let daily = hit(4, "/n/2026-01-02.md", "2026-01-02");
        let decision = hit(3, "/n/adr/0012-use-sqlite.md", "Use SQLite");
        let found = successor(&old, &[&old, &daily, &decision, &current]);
        assert_eq!(found, expected.map(DocumentId), "{by:?}");
    }

    #[test]
    fn a_successor_is_named_by_path_file_title_or_alias() {
        for name in [
            "travel-2025.md",
            "./travel-2025.md",
            "../policy/travel-2025.md",
            "policy/travel-2025",
            "/policy/travel-2025.md",
            "travel-2025",
            "Travel-2025",
            "Travel policy 2025",
            "travel policy: 2025",
            "the new rules",
        ] {
            check(Some(name), Some(2));
        }
        for name in ["ADR-0012", "0012", "../adr/0012-use-sqlite.md", "Use SQLite", "use-sqlite"] {
            check(Some(name), Some(3));
        }
    }

    #[test]
    fn what_is_not_there_is_no_successor() {
        for name in ["travel-2026.md", "", "/", "0013", "Rules 2026", "travel-2023.md", "policy"] {
            check(Some(name), None);
        }
    }

    #[test]
    fn without_a_name_it_is_the_other_edition() {
        check(None, Some(2));
    }
}
