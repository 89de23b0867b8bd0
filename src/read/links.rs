//! Follows the links between notes, forwards and backwards. Nothing is stored for it: links are found in the stored
//! text, and the notes that link to a document by the words of its names.
//!
//! A relative path leads to the document there. The name of a wikilink is that of a file in the same added folder,
//! with or without its extension and folders, else an alias, else a title; of several, the nearest document is meant.

use std::collections::HashMap;
use std::path::{MAIN_SEPARATOR_STR, Path};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::read::parts::{Part, Text};
use crate::store::{DocumentId, DocumentName, Store, StoredDocument};
use crate::text::fold::fold;
use crate::text::links::{NoteLink, note_links};
use crate::text::paths;

/// A link, and the document at its other end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Linked {
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
pub struct Links {
    /// Links to other documents in its text, in order; absent without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Linked>,
    /// Links to it in other documents; absent without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backlinks: Vec<Linked>,
}

/// Returns the links of a document; of a part, only those in its text.
pub fn links(store: &Store, document: &StoredDocument, part: Option<&Part>) -> Result<Links> {
    let text = Text::read(store, document.id)?;
    let has_links = matches!(document.format.as_str(), "markdown" | "note")
        && !note_links(&text.joined.text).is_empty();
    let mut sources = match part {
        None => store.linking(Some(&written_names(document)))?,
        Some(_) => Vec::new(),
    };
    sources.retain(|id| *id != document.id);
    let mut found = Links::default();
    if !has_links && sources.is_empty() {
        return Ok(found);
    }
    let names = Names::read(store)?;
    if has_links {
        for (link, to) in names.follow(&text, document.path.as_deref()) {
            if part.is_none_or(|part| part.bytes.contains(&link.bytes.start)) {
                found.links.push(linked(&text, &link, to));
            }
        }
    }
    for id in sources {
        let (text, source) = (Text::read(store, id)?, names.of(id));
        for (link, to) in names.follow(&text, source.and_then(|source| source.path.as_deref())) {
            if to.is_some_and(|to| to.id == document.id) {
                found.backlinks.push(linked(&text, &link, source));
            }
        }
    }
    Ok(found)
}

/// Returns how many links between notes there are, and a line for each that leads to no document. Embedded files that
/// kb does not read have none.
pub fn dangling(store: &Store) -> Result<(usize, Vec<String>)> {
    let names = Names::read(store)?;
    let (mut num_links, mut lines) = (0, Vec::new());
    for id in store.linking(None)? {
        let (text, Some(source)) = (Text::read(store, id)?, names.of(id)) else { continue };
        for (link, to) in names.follow(&text, source.path.as_deref()) {
            num_links += 1;
            let Linked { text, line, .. } = linked(&text, &link, to);
            let is_attached = text.starts_with('!') && without_extension(&link.name) != link.name;
            if to.is_none() && (!is_attached || is_markdown(&link.name)) {
                let place = source.path.as_ref().unwrap_or(&source.title);
                let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                lines.push(format!("{place}{line}: {text}"));
            }
        }
    }
    Ok((num_links, lines))
}

fn linked(text: &Text, link: &NoteLink, other: Option<&DocumentName>) -> Linked {
    Linked {
        text: text.joined.text[link.bytes.clone()].to_owned(),
        line: text.line_at(link.bytes.start),
        document_id: other.map(|other| other.id),
        title: other.map(|other| other.title.clone()),
        path: other.and_then(|other| other.path.clone()),
    }
}

/// What is not escaped in paths.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Returns the names of a document as notes write them: unchanged, and with percent escapes.
fn written_names(document: &StoredDocument) -> Vec<String> {
    let mut names = vec![document.title.clone()];
    names.extend(document.path.as_deref().map(paths::title));
    names.extend(document.metadata.aliases.iter().cloned());
    for idx in 0..names.len() {
        let (name, escaped) = (&names[idx], utf8_percent_encode(&names[idx], ESCAPED).to_string());
        names.extend([escaped, name.replace(' ', "%20")]);
    }
    names
}

/// The names of all documents.
struct Names {
    all: Vec<DocumentName>,
    /// What is called so: by its file (0), an alias (1) or its title (2).
    by_name: HashMap<String, Vec<(u8, usize)>>,
    /// The added folders, as they are compared.
    roots: Vec<String>,
}

impl Names {
    fn read(store: &Store) -> Result<Self> {
        let roots: Vec<String> = store.all_roots()?.into_iter().map(|root| root.path).collect();
        Ok(Self::new(store.link_names()?, &roots))
    }

    fn new(names: Vec<(DocumentName, Vec<String>)>, roots: &[String]) -> Self {
        let mut by_name: HashMap<String, Vec<(u8, usize)>> = HashMap::new();
        for (idx, (name, aliases)) in names.iter().enumerate() {
            let path = comparable(name.path.as_deref());
            let file = path.rsplit('/').next().unwrap_or_default();
            let mut add = |name: &str, kind| {
                by_name.entry(name.to_owned()).or_default().push((kind, idx));
            };
            add(file, 0);
            add(without_extension(file), 0);
            aliases.iter().for_each(|alias| add(&fold(alias), 1));
            add(&fold(&name.title), 2);
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

    /// Returns the links between notes in the text of the document at `from`, and where they lead. A relative path to
    /// neither a document nor Markdown is not one.
    fn follow(&self, text: &Text, from: Option<&str>) -> Vec<(NoteLink, Option<&DocumentName>)> {
        let links = note_links(&text.joined.text).into_iter();
        let followed = links.map(|link| {
            let to = self.resolve(from, &link).map(|idx| &self.all[idx]);
            (link, to)
        });
        followed
            .filter(|(link, to)| to.is_some() || !link.is_path || is_markdown(&link.name))
            .collect()
    }

    /// Returns the document that a link in the text of the document at `from` leads to.
    fn resolve(&self, from: Option<&str>, link: &NoteLink) -> Option<usize> {
        let from = comparable(from);
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = fold(&link.name);
        let name = name.trim_start_matches('/');
        let there = comparable(paths::clean(Path::new(&format!("{folder}/{name}"))).to_str());
        let end = format!("/{name}");
        let is_below = |path: &str, folder: &String| {
            path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        let around = self.roots.iter().filter(|root| is_below(&from, root));
        let root = around.min_by_key(|root| root.len());
        let is_near = |path: &str| path.is_empty() || root.is_none_or(|root| is_below(path, root));
        let called = |name: &str| self.by_name.get(name).into_iter().flatten();
        let files = called(name.rsplit('/').next().unwrap_or_default());
        let files = files.filter(|(kind, _)| *kind == 0);
        let others = called(name).filter(|(kind, _)| *kind > 0);
        let fitting = files.chain(others).filter_map(|&(kind, idx)| {
            let path = comparable(self.all[idx].path.as_deref());
            let stem = without_extension(&path);
            let is_there = kind == 0 && [&path, stem].contains(&there.as_str());
            let is_meant = kind > 0 || path.ends_with(&end) || stem.ends_with(&end);
            let key = (!is_there, kind, !is_markdown(&path), steps(folder, &path), path.len(), idx);
            (is_there || !link.is_path && is_meant && is_near(&path)).then_some(key)
        });
        fitting.min().map(|(.., idx)| idx)
    }
}

/// Returns a path for comparison without case.
fn comparable(path: Option<&str>) -> String {
    fold(path.unwrap_or_default()).replace(MAIN_SEPARATOR_STR, "/")
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
mod tests {
    use super::*;

    /// Names of documents: path, title and aliases. Ids count from 1.
    fn names(documents: &[(Option<&str>, &str, &[&str])]) -> Names {
        let all = documents.iter().zip(1..).map(|((path, title, aliases), id)| {
            let (title, path) = ((*title).into(), path.map(str::to_owned));
            let aliases = aliases.iter().map(|&alias| alias.into()).collect();
            (DocumentName { id: DocumentId(id), title, path }, aliases)
        });
        Names::new(all.collect(), &["/vault".into(), "/vault/inner".into(), "/other".into()])
    }

    /// Follows the only link of a text.
    #[track_caller]
    fn check(names: &Names, from: &str, text: &str, expected: Option<usize>) {
        let links = note_links(text);
        let [link] = links.as_slice() else { panic!("{links:?}") };
        let found = names.resolve(Some(from), link).map(|idx| idx + 1);
        assert_eq!(found, expected, "{text} in {from}");
    }

    #[test]
    fn a_wikilink_names_a_file_an_alias_or_a_title_in_its_folder() {
        let names = names(&[
            (Some("/vault/places/Kyoto.md"), "Trips", &["Old capital", "A/B"]),
            (Some("/vault/tea.md"), "Kyoto", &[]),
            (Some("/vault/chart v1.2.png"), "chart", &[]),
            (Some("/other/Alone.md"), "Far away", &[]),
            (None, "A note", &[]),
        ]);
        let from = "/vault/inner/a.md";
        for (text, expected) in [
            ("[[kyoto]]", Some(1)),
            ("[[Kyoto.md|x]]", Some(1)),
            ("[[places/Kyoto#Autumn]]", Some(1)),
            ("[[../places/kyoto]]", Some(1)),
            ("[[/places/kyoto]]", Some(1)),
            ("[[old CAPITAL]]", Some(1)),
            ("[[a/b]]", Some(1)),
            ("[[trips]]", Some(1)),
            ("![[chart v1.2.png]]", Some(3)),
            ("[[chart v1.2]]", Some(3)),
            ("[[A note]]", Some(5)),
            ("[[laces/Kyoto]]", None),
            ("[[yoto]]", None),
            ("[[Alone]]", None),
        ] {
            check(&names, from, text, expected);
        }
        // A note is in no folder.
        check(&names, "", "[[Alone]]", Some(4));
        check(&names, "/other/b.md", "[[kyoto]]", None);
    }

    #[test]
    fn a_relative_link_is_a_path() {
        let names =
            names(&[(Some("/vault/b c.md"), "B", &["Bee"]), (Some("/other/d.pdf"), "D", &[])]);
        for (text, expected) in [
            ("[x](../b%20c.md#y)", Some(1)),
            ("[x](../B%20C)", Some(1)),
            ("[x](../../other/d.pdf)", Some(2)),
            ("[x](b%20c.md)", None),
            ("[x](Bee)", None),
        ] {
            check(&names, "/vault/inner/a.md", text, expected);
        }
    }

    #[test]
    fn the_nearest_document_is_meant_then_the_one_with_the_shortest_path() {
        let names = names(&[
            (Some("/vault/deep/er/n.md"), "1", &[]),
            (Some("/vault/n.md"), "2", &[]),
            (Some("/vault/n.canvas"), "3", &[]),
            (Some("/vault/bb/n.md"), "4", &[]),
            (Some("/vault/a/n.md"), "5", &[]),
            (Some("/vault/x.md"), "n", &["n"]),
        ]);
        for (from, expected) in [
            ("/vault/deep/er/z.md", 1),
            ("/vault/deep/z.md", 2),
            ("/vault/z.md", 2),
            ("/vault/bb/z.md", 4),
            ("/vault/c/z.md", 2),
            ("/vault/deep/er/est/z.md", 1),
        ] {
            check(&names, from, "[[N]]", Some(expected));
        }
    }

    #[test]
    fn names_are_written_as_they_are_or_with_escapes() {
        let (_, mut document) =
            crate::read::testing::stored(crate::document::Format::Markdown, &[]);
        document.title = "Tee".into();
        document.path = Some("/a/Grüner Tee.md".into());
        let expected = ["Tee", "Grüner Tee", "Tee", "Tee", "Gr%C3%BCner%20Tee", "Grüner%20Tee"];
        assert_eq!(written_names(&document), expected);
    }
}
