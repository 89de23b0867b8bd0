//! Collects the files that are embedded in the parts of an office document, and emits them as separate documents.

use std::collections::{BTreeMap, HashMap};

use crate::EarlyEnd;
use crate::members::Members;
use crate::package_kind::kind_of;
use crate::parts::{self, Archive, RelatedPart};

/// The parts that are files, in the order in which they are met.
#[derive(Debug, Default)]
pub(crate) struct EmbeddedFiles {
    /// The names of the parts.
    parts: Vec<String>,
    /// The names of the files by those of their parts; `None` for a part that is not a file.
    files: HashMap<String, Option<String>>,
}

impl EmbeddedFiles {
    /// Adds the files among the parts that a part refers to; returns their names by their ids.
    pub(crate) fn add(
        &mut self,
        archive: &mut Archive<'_>,
        related: &BTreeMap<String, RelatedPart>,
    ) -> BTreeMap<String, String> {
        let mut names = BTreeMap::new();
        for (id, RelatedPart { kind, name }) in related {
            if !matches!(&**kind, "package" | "oleObject") {
                continue;
            }
            if !self.files.contains_key(name) {
                let file = file_name(archive, name);
                self.parts.extend(file.is_some().then(|| name.clone()));
                self.files.insert(name.clone(), file);
            }
            names.extend(self.files.get(name).cloned().flatten().map(|file| (id.clone(), file)));
        }
        names
    }

    /// Emits the files as members of the document; for after all pages. Returns warnings, one sentence each.
    pub(crate) fn emit(
        self,
        archive: &mut Archive<'_>,
        members: &mut Members<'_, '_>,
    ) -> Result<Vec<String>, EarlyEnd> {
        let mut warnings = Vec::new();
        for part in self.parts {
            let file = self.files.get(&part).and_then(Option::as_deref).unwrap_or(&part);
            let outcome = match archive.bytes(&part) {
                Ok(bytes) => members.add(file, bytes.unwrap_or_default()),
                Err(failed) => members.failed(file, failed.failure, failed.detail),
            };
            warnings.extend(left_out(file, outcome)?);
        }
        Ok(warnings)
    }
}

/// Returns the warning for a file that could not be added. The document was read; too many or too large files in it are
/// no reason to lose it.
pub(crate) fn left_out(
    file: &str,
    outcome: Result<(), EarlyEnd>,
) -> Result<Option<String>, EarlyEnd> {
    match outcome {
        Err(EarlyEnd::Failed(failed)) => {
            Ok(Some(format!("the embedded file {file} was left out: {}", failed.detail)))
        }
        outcome => outcome.map(|()| None),
    }
}

/// Returns the name of the file that a part is; `None` for one that is missing, and for an object of another program,
/// whose name ends in `.bin`. Some programs also give this name to office documents.
fn file_name(archive: &mut Archive<'_>, part: &str) -> Option<String> {
    let file = part.rsplit('/').next().unwrap_or(part);
    let (stem, extension) = file.rsplit_once('.')?;
    if !extension.eq_ignore_ascii_case("bin") {
        return archive.has(part).then(|| file.to_owned());
    }
    if !archive.starts_with(part, b"PK\x03\x04") {
        return None;
    }
    let bytes = archive.bytes(part).ok().flatten()?;
    let kind = kind_of(&mut parts::open(&bytes).ok()?)?;
    Some(format!("{stem}.{kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::protocol::AnswerLine;
    use crate::parts;

    #[test]
    fn each_file_is_emitted_once_and_objects_of_other_programs_are_not() {
        let relations = "<Relationships>\
            <Relationship Id='a' Type='x/package' Target='../embeddings/costs.xlsx'/>\
            <Relationship Id='b' Type='x/oleObject' Target='../embeddings/oleObject1.bin'/>\
            <Relationship Id='c' Type='x/package' Target='../embeddings/lost.docx'/>\
            <Relationship Id='e' Type='x/oleObject' Target='../embeddings/oleObject2.bin'/>\
            <Relationship Id='d' Type='x/image' Target='../media/image1.png'/></Relationships>";
        let workbook = parts::archive(&[("xl/workbook.xml", "<workbook/>")]);
        let bytes = parts::archive_of_bytes(&[
            ("ppt/slides/_rels/slide1.xml.rels", relations.as_bytes()),
            ("ppt/embeddings/costs.xlsx", b"cells"),
            ("ppt/embeddings/oleObject1.bin", b"\xD0\xCF\x11\xE0"),
            ("ppt/embeddings/oleObject2.bin", &workbook),
            ("ppt/media/image1.png", b"picture"),
        ]);
        let mut archive = parts::open(&bytes).unwrap();
        let related = parts::relations(&mut archive, "ppt/slides/slide1.xml").unwrap();
        let mut files = EmbeddedFiles::default();
        for _ in 0..2 {
            let names = files.add(&mut archive, &related);
            let expected = [("a", "costs.xlsx"), ("e", "oleObject2.xlsx")];
            let expected = expected.map(|(id, name)| (id.to_owned(), name.to_owned()));
            assert_eq!(names, expected.into());
        }
        let mut emitted = Vec::new();
        let mut emit = |line| {
            if let AnswerLine::Member(member) = line {
                emitted.push((member.name, member.bytes));
            }
            Ok(())
        };
        let warnings = files.emit(&mut archive, &mut Members::new(&mut emit));
        assert!(warnings.unwrap().is_empty());
        let expected = [("costs.xlsx", b"cells".to_vec()), ("oleObject2.xlsx", workbook)];
        assert_eq!(emitted, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
    }
}
