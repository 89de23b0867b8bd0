//! Follows the links between notes, forwards and backwards. Only those in front matter are stored: others are found in the
//! stored text, and the notes that link to a document by the words of its names.
//!
//! A relative path leads to the document there, that of a folder to its `README.md` or `index.md`. The name of a wikilink
//! is that of a file in the same added folder, with or without its extension and folders, else an alias, else a title; of
//! several, the nearest document is meant.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::read::parts::{DocumentPart, StoredText};
use crate::store::{DocumentId, DocumentName, Store, StoredDocument};
use crate::text::fold::fold;
use crate::text::links::{NoteLink, note_links};
use crate::text::paths;

/// A link, and the document at its other end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Linked")]
pub struct LinkedDocument {
    /// The link as it is written.
    pub text: String,
    /// Its line in the file that has it, from 1; null if lines are unknown.
    pub line: Option<u32>,
    /// Where it leads, or who links; null if it leads to no document.
    pub document_id: Option<DocumentId>,
    /// Title of that document.
    pub title: Option<String>,
    /// Absolute path of its file; null for a note without a file.
    pub path: Option<String>,
}

/// The links of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DocumentLinks {
    /// Links to other documents in its text, in order; absent without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkedDocument>,
    /// Links to it in other documents; absent without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backlinks: Vec<LinkedDocument>,
}

/// Returns the links of a document; of a part, only those in its text.
pub fn links(
    store: &Store,
    document: &StoredDocument,
    part: Option<&DocumentPart>,
) -> Result<DocumentLinks> {
    let text = StoredText::read(store, document.id)?;
    let front: &[_] = if part.is_none() { &document.metadata.links } else { &[] };
    let has_links = matches!(document.format.as_str(), "markdown" | "note")
        && !(front.is_empty() && note_links(&text.joined.text).is_empty());
    let (mut sources, mut fronts) = (Vec::new(), BTreeMap::new());
    if part.is_none() {
        let names = written_names(document);
        sources = store.linking(Some(&names))?;
        fronts = store.front_links()?;
        fronts.retain(|_, links| links.iter().any(|(_, written)| has_name(written, &names)));
    }
    let mut found = DocumentLinks::default();
    if !has_links && sources.is_empty() && fronts.is_empty() {
        return Ok(found);
    }
    let names = LinkTargetIndex::read(store)?;
    if has_links {
        for link in names.follow(Some(&text), front, document.path.as_deref()) {
            if part.is_none_or(|part| part.bytes.contains(&link.at)) {
                found.links.push(link.to(link.to));
            }
        }
    }
    let ids: BTreeSet<DocumentId> = fronts.keys().chain(&sources).copied().collect();
    for id in ids.into_iter().filter(|id| *id != document.id) {
        let source = names.of(id);
        let text = sources.contains(&id).then(|| StoredText::read(store, id)).transpose()?;
        let front = fronts.remove(&id).unwrap_or_default();
        let path = source.and_then(|source| source.path.as_deref());
        for link in names.follow(text.as_ref(), &front, path) {
            if link.to.is_some_and(|to| to.id == document.id) {
                found.backlinks.push(link.to(source));
            }
        }
    }
    Ok(found)
}

/// Returns the number of links between notes, and a line for each that leads to no document. Embedded files that kb
/// does not read have none.
pub fn dangling(store: &Store) -> Result<(usize, Vec<String>)> {
    let (names, mut fronts) = (LinkTargetIndex::read(store)?, store.front_links()?);
    let (mut num_links, mut lines) = (0, Vec::new());
    let mut ids: BTreeSet<DocumentId> = store.linking(None)?.into_iter().collect();
    ids.extend(fronts.keys());
    for id in ids {
        let (text, Some(source)) = (StoredText::read(store, id)?, names.of(id)) else { continue };
        let front = fronts.remove(&id).unwrap_or_default();
        for FoundLink { written, line, name, to, .. } in
            names.follow(Some(&text), &front, source.path.as_deref())
        {
            num_links += 1;
            let is_attached = written.starts_with('!') && without_extension(&name) != name;
            if to.is_none() && (!is_attached || is_markdown(&name)) {
                let place = source.path.as_ref().unwrap_or(&source.title);
                let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                lines.push(format!("{place}{line}: {written}"));
            }
        }
    }
    Ok((num_links, lines))
}

/// A link in a document.
struct FoundLink<'a> {
    written: String,
    line: Option<u32>,
    /// The document that it leads to.
    to: Option<&'a DocumentName>,
    name: String,
    /// Where it is in the text; 0 if it is in front matter.
    at: usize,
}

impl FoundLink<'_> {
    /// Returns it with the document at its other end.
    fn to(&self, other: Option<&DocumentName>) -> LinkedDocument {
        LinkedDocument {
            text: self.written.clone(),
            line: self.line,
            document_id: other.map(|other| other.id),
            title: other.map(|other| other.title.clone()),
            path: other.and_then(|other| other.path.clone()),
        }
    }
}

/// The characters that are escaped in paths: all but letters, digits, `-`, `_`, `.` and `~`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Returns the names of a document as notes write them: unchanged, and with percent escapes.
fn written_names(document: &StoredDocument) -> Vec<String> {
    let mut names = vec![document.title.clone()];
    names.extend(document.path.as_deref().map(paths::title));
    names.extend(document.metadata.aliases.iter().cloned());
    names.extend(document.path.as_deref().and_then(index_of).map(paths::title));
    for idx in 0..names.len() {
        let (name, escaped) = (&names[idx], utf8_percent_encode(&names[idx], ESCAPED).to_string());
        names.extend([escaped, name.replace(' ', "%20")]);
    }
    names
}

/// The names of all documents.
struct LinkTargetIndex {
    all: Vec<DocumentName>,
    /// The documents with each name: that of the file (0), an alias (1) or the title (2).
    by_name: HashMap<String, Vec<(u8, usize)>>,
    /// The added folders, as they are compared.
    roots: Vec<String>,
}

impl LinkTargetIndex {
    fn read(store: &Store) -> Result<Self> {
        let roots: Vec<String> = store.all_roots()?.into_iter().map(|root| root.path).collect();
        Ok(Self::new(store.link_names()?, &roots))
    }

    fn new(names: Vec<(DocumentName, Vec<String>)>, roots: &[String]) -> Self {
        let mut by_name: HashMap<String, Vec<(u8, usize)>> = HashMap::new();
        for (idx, (name, aliases)) in names.iter().enumerate() {
            let path = comparable(name.path.as_deref());
            let file = path.rsplit('/').next().unwrap_or_default();
            let files = [(0, file.to_owned()), (0, without_extension(file).to_owned())];
            let aliases = aliases.iter().map(|alias| (1, fold(alias)));
            let title = (2, fold(&name.title));
            for (kind, name) in files.into_iter().chain(aliases).chain([title]) {
                by_name.entry(name).or_default().push((kind, idx));
            }
        }
        let all = names.into_iter().map(|(name, _)| name).collect();
        let roots = roots.iter().map(|root| comparable(Some(root))).collect();
        Self { all, by_name, roots }
    }

    /// Returns a document with the path that is shown.
    fn of(&self, id: DocumentId) -> Option<&DocumentName> {
        let at = self.all.partition_point(|name| name.id < id);
        self.all.get(at).filter(|name| name.id == id)
    }

    /// Returns the links between notes in the front matter and text of the document at `from`, and where they lead. A
    /// relative path to neither a document nor Markdown is not one.
    fn follow(
        &self,
        text: Option<&StoredText>,
        front: &[(u32, String)],
        from: Option<&str>,
    ) -> Vec<FoundLink<'_>> {
        let mut found = Vec::new();
        for (line, written) in front {
            for link in note_links(written) {
                let link = self.found_link(from, link, written, Some(*line));
                found.extend(link.map(|link| FoundLink { at: 0, ..link }));
            }
        }
        if let Some(text) = text {
            for link in note_links(&text.joined.text) {
                let at = link.bytes.start;
                let written = &text.joined.text[link.bytes.clone()];
                found.extend(self.found_link(from, link, written, text.line_at(at)));
            }
        }
        found
    }

    /// Returns a link with the document that it leads to; `None` for a relative path to neither a document nor Markdown.
    fn found_link(
        &self,
        from: Option<&str>,
        link: NoteLink,
        written: &str,
        line: Option<u32>,
    ) -> Option<FoundLink<'_>> {
        let to = self.resolve(from, &link).map(|idx| &self.all[idx]);
        if to.is_none() && link.is_path && !is_markdown(&link.name) {
            return None;
        }
        let at = link.bytes.start;
        Some(FoundLink { written: written.to_owned(), line, to, name: link.name, at })
    }

    /// Returns the documents with a folded name, and which of their names it is.
    fn called(&self, name: &str) -> impl Iterator<Item = &(u8, usize)> {
        self.by_name.get(name).into_iter().flatten()
    }

    /// Returns the document that a link in the text of the document at `from` leads to.
    fn resolve(&self, from: Option<&str>, link: &NoteLink) -> Option<usize> {
        let from = comparable(from);
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = fold(&link.name);
        let name = name.trim_matches('/');
        let there = paths::path_text(&paths::clean(Path::new(&format!("{folder}/{name}"))));
        let there = comparable(Some(&there));
        let end = format!("/{name}");
        let around = self.roots.iter().filter(|root| is_below(&from, root));
        let root = around.min_by_key(|root| root.len());
        let last = name.rsplit('/').next().unwrap_or_default();
        let indexes = INDEXES.into_iter().filter(|_| link.is_path);
        let files = self.called(last).chain(indexes.flat_map(|index| self.called(index)));
        let files = files.filter(|(kind, _)| *kind == 0);
        let others = self.called(name).filter(|(kind, _)| *kind > 0);
        let fitting = files.chain(others).filter_map(|&(kind, idx)| {
            let path = comparable(self.all[idx].path.as_deref());
            let stem = without_extension(&path);
            let mut places = [path.as_str(), stem].into_iter().chain(index_of(&path));
            let is_there = kind == 0 && places.any(|place| place == there);
            let is_meant = kind > 0 || path.ends_with(&end) || stem.ends_with(&end);
            let key = (!is_there, kind, !is_markdown(&path), steps(folder, &path), path.len(), idx);
            let is_near = path.is_empty() || root.is_none_or(|root| is_below(&path, root));
            (is_there || !link.is_path && is_meant && is_near).then_some(key)
        });
        fitting.min().map(|(.., idx)| idx)
    }
}

/// Whether a link has one of the names in it, without case.
fn has_name(written: &str, names: &[String]) -> bool {
    names.iter().any(|name| fold(written).contains(&fold(name)))
}

/// Whether a path is in a folder; both are as they are compared.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns a path for comparison without case.
fn comparable(path: Option<&str>) -> String {
    fold(path.unwrap_or_default())
}

/// The files that a link to their folder leads to.
const INDEXES: [&str; 2] = ["readme.md", "index.md"];

/// Returns the folder of a path that a link to that folder leads to.
fn index_of(path: &str) -> Option<&str> {
    let (folder, file) = path.rsplit_once('/')?;
    INDEXES.contains(&fold(file).as_str()).then_some(folder)
}

/// Removes the extension of a file's name.
fn without_extension(path: &str) -> &str {
    path.rsplit_once('.').filter(|(_, end)| !end.contains('/')).map_or(path, |(stem, _)| stem)
}

fn is_markdown(path: &str) -> bool {
    let end = path.rsplit_once('.').map(|(_, end)| fold(end));
    end.is_some_and(|end| ["md", "markdown", "mdx"].contains(&end.as_str()))
}

/// Returns how many folders are between a folder and a file.
fn steps(folder: &str, path: &str) -> usize {
    let path = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let common = folder.split('/').zip(path.split('/')).take_while(|(a, b)| a == b).count();
    folder.split('/').count() + path.split('/').count() - 2 * common
}

#[cfg(test)]
mod tests;
