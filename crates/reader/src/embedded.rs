//! Collects the files that are embedded in the parts of an office document, and emits them as documents of their own.

use std::collections::{BTreeMap, HashSet};

use crate::members::Members;
use crate::parts::{Archive, Related};
use crate::{Emit, Stop};

/// The names of the parts that are files, each once, in the order in which they are met.
#[derive(Debug, Default)]
pub(crate) struct EmbeddedFiles {
    names: Vec<String>,
    known: HashSet<String>,
}

impl EmbeddedFiles {
    /// Adds the files among the parts that a part refers to; returns their names by their ids.
    pub(crate) fn add(
        &mut self,
        archive: &Archive<'_>,
        related: &BTreeMap<String, Related>,
    ) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for (id, related) in related {
            if is_file(related) && archive.has(&related.name) {
                files.insert(id.clone(), file_name(&related.name).to_owned());
                if self.known.insert(related.name.clone()) {
                    self.names.push(related.name.clone());
                }
            }
        }
        files
    }

    /// Emits the files; for after all pages. Returns warnings, one sentence each.
    pub(crate) fn emit(
        self,
        archive: &mut Archive<'_>,
        emit: &mut Emit<'_>,
    ) -> Result<Vec<String>, Stop> {
        let mut members = Members::new(emit);
        let mut warnings = Vec::new();
        for name in self.names {
            let file = file_name(&name);
            let outcome = match archive.bytes(&name) {
                Ok(bytes) => members.add(file, bytes.unwrap_or_default()),
                Err(failed) => members.failed(file, failed.failure, failed.detail),
            };
            match outcome {
                // The document was read; too many or too large files in it are no reason to lose it.
                Err(Stop::Failed(failed)) => {
                    warnings
                        .push(format!("the embedded file {file} was left out: {}", failed.detail));
                }
                outcome => outcome?,
            }
        }
        Ok(warnings)
    }
}

/// Whether a part is a file that a person has embedded. The objects in files named `.bin` belong to other programs.
fn is_file(related: &Related) -> bool {
    let extension = related.name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(&*related.kind, "package" | "oleObject")
        && extension.is_some_and(|extension| !extension.eq_ignore_ascii_case("bin"))
}

fn file_name(part: &str) -> &str {
    part.rsplit('/').next().unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::protocol::Line;
    use crate::parts;

    #[test]
    fn each_file_is_emitted_once_and_objects_of_other_programs_are_not() {
        let relations = "<Relationships>\
            <Relationship Id='a' Type='x/package' Target='../embeddings/costs.xlsx'/>\
            <Relationship Id='b' Type='x/oleObject' Target='../embeddings/oleObject1.bin'/>\
            <Relationship Id='c' Type='x/package' Target='../embeddings/lost.docx'/>\
            <Relationship Id='d' Type='x/image' Target='../media/image1.png'/></Relationships>";
        let bytes = parts::archive(&[
            ("ppt/slides/_rels/slide1.xml.rels", relations),
            ("ppt/embeddings/costs.xlsx", "cells"),
            ("ppt/embeddings/oleObject1.bin", "object"),
            ("ppt/media/image1.png", "picture"),
        ]);
        let mut archive = parts::open(&bytes).unwrap();
        let related = parts::relations(&mut archive, "ppt/slides/slide1.xml").unwrap();
        let mut files = EmbeddedFiles::default();
        for _ in 0..2 {
            let names = files.add(&archive, &related);
            assert_eq!(names, [("a".to_owned(), "costs.xlsx".to_owned())].into());
        }
        let mut emitted = Vec::new();
        let warnings = files.emit(&mut archive, &mut |line| {
            if let Line::Member(member) = line {
                emitted.push((member.name, member.bytes));
            }
            Ok(())
        });
        assert!(warnings.unwrap().is_empty());
        assert_eq!(emitted, [("costs.xlsx".to_owned(), b"cells".to_vec())]);
    }
}
