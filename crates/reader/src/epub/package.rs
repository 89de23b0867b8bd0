//! Reads the package document of a book: which files are its chapters, in which order, and which list its contents.

use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;

use crate::extract::protocol::ReadFailure;
use crate::mime;
use crate::parts;
use crate::xml::{self, XmlEvent};

/// The files that a package document lists.
#[derive(Debug, Default)]
pub(super) struct BookPackage {
    /// The chapters in reading order.
    pub(super) chapters: Vec<BookFile>,
    /// The tables of contents, the best first.
    pub(super) contents: Vec<BookFile>,
    /// Why the document could only be read up to some place.
    pub(super) damage: Option<ReadFailure>,
}

/// A file of a book.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BookFile {
    /// Its name in the archive.
    pub(super) name: String,
    pub(super) media_type: String,
}

impl BookFile {
    /// Whether it may be a chapter: some books have the pictures of their pages in the order.
    fn may_have_text(&self) -> bool {
        self.media_type.contains("svg") || mime::without_text(&self.media_type).is_none()
    }
}

/// Parses a package document in a folder.
pub(super) fn parse(xml: &str, folder: &str) -> BookPackage {
    let (mut files, mut order) = (HashMap::new(), Vec::new());
    let (mut listed, mut navigation, mut ncx) = (Vec::new(), Vec::new(), Vec::new());
    let outcome = xml::each(xml, |event| {
        let XmlEvent::Open(element) = event else { return };
        match element.name() {
            "item" => {
                let Some(reference) = element.attribute("href") else { return };
                let media_type = element.attribute("media-type").unwrap_or_default();
                let file = BookFile { name: resolve(folder, &reference), media_type };
                let properties = element.attribute("properties").unwrap_or_default();
                if properties.split_whitespace().any(|property| property == "nav") {
                    navigation.push(file.clone());
                } else if file.media_type.contains("dtbncx") {
                    ncx.push(file.clone());
                }
                if let Some(id) = element.attribute("id") {
                    listed.push(file.clone());
                    files.insert(id, file);
                }
            }
            "itemref" => order.extend(element.attribute("idref")),
            _ => {}
        }
    });
    let mut chapters: Vec<BookFile> = order.iter().filter_map(|id| files.remove(id)).collect();
    chapters.retain(BookFile::may_have_text);
    if chapters.is_empty() || outcome.is_err() {
        // Without the whole order, the rest of the list has one.
        listed.retain(|file| file.media_type.contains("html"));
        chapters.append(&mut listed);
    }
    // A file is read once, however many names it has.
    let mut names = HashSet::new();
    chapters.retain(|file| names.insert(file.name.clone()));
    navigation.append(&mut ncx);
    BookPackage { chapters, contents: navigation, damage: outcome.err() }
}

/// Returns the name in the archive that a reference in a file of `folder` refers to.
pub(super) fn resolve(folder: &str, reference: &str) -> String {
    let path = reference.split(['#', '?']).next().unwrap_or_default();
    let path = percent_decode_str(path).decode_utf8_lossy();
    parts::resolve(folder, &path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xml: &str, chapters: &[&str], contents: &[&str]) {
        let package = parse(xml, "OEBPS");
        let names = |files: &[BookFile]| -> Vec<String> {
            files.iter().map(|file| file.name.clone()).collect()
        };
        assert_eq!(names(&package.chapters), chapters);
        assert_eq!(names(&package.contents), contents);
    }

    const ITEMS: &str = "<item id='n' href='toc.ncx' media-type='application/x-dtbncx+xml'/>\
         <item id='b' href='b.xhtml' media-type='application/xhtml+xml'/>\
         <item id='v' href='nav.xhtml' media-type='application/xhtml+xml' properties='scripted nav'/>\
         <item id='i' href='i.png' media-type='image/png'/>";

    #[test]
    fn chapters_are_in_the_order_of_the_spine_or_of_the_list() {
        let contents = ["OEBPS/nav.xhtml", "OEBPS/toc.ncx"];
        check(
            &format!(
                "<package>{ITEMS}<spine><itemref idref='v'/><itemref idref='i'/><itemref idref='b'/></spine></package>"
            ),
            &["OEBPS/nav.xhtml", "OEBPS/b.xhtml"],
            &contents,
        );
        let damaged = format!("<package>{ITEMS}<spine><itemref idref='v'/><itemref idref='b");
        check(&damaged, &["OEBPS/nav.xhtml", "OEBPS/b.xhtml"], &contents);
        check(&format!("<package>{ITEMS}"), &["OEBPS/b.xhtml", "OEBPS/nav.xhtml"], &contents);
    }

    #[test]
    fn references_stay_within_the_archive() {
        assert_eq!(resolve("OEBPS/text", "../a%20b.xhtml#p1"), "OEBPS/a b.xhtml");
        assert_eq!(resolve("", "../../etc/passwd"), "etc/passwd");
    }
}
