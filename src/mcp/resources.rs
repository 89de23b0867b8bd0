//! Serves documents and skills as resources with addresses.

use crate::app::query::read::ShowRequest;
use crate::app::session::document_id;
use crate::app::{self, Session};
use crate::error::{Error, Result};
use crate::mcp::service::{Service, failure};
use crate::read::PartSelection;
use crate::server::{
    DirectoryEntry, Resource, ResourceContent, Resources, SkillEntry, ToolFailure,
};

/// Number of resources per page of the list.
const PAGE: usize = 100;

/// Prefix of the addresses of documents.
const DOCUMENT_URI: &str = "kb://document/";

/// Prefix of the addresses of documents in a knowledge base that is named.
const BASE_URI: &str = "kb://base/";

/// Number of skills per page of their list.
const SKILLS_PAGE: usize = 50;

/// Returns a page of a list and the cursor of the next page.
fn page<T>(
    all: Vec<T>,
    cursor: Option<&str>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), ToolFailure> {
    let skip: usize = match cursor.map(str::parse) {
        None => 0,
        Some(Ok(skip)) => skip,
        Some(Err(_)) => {
            let message = "the cursor is not from this server".to_owned();
            return Err(failure(&Error::usage(message)));
        }
    };
    let next = (all.len() > skip.saturating_add(size)).then(|| (skip + size).to_string());
    Ok((all.into_iter().skip(skip).take(size).collect(), next))
}

/// Returns the text of a document; `None` if there is none with this id.
fn document(session: &Session, id: &str) -> Result<Option<ResourceContent>> {
    if document_id(id).is_err() {
        return Ok(None);
    }
    let (document, selection) = (Some(id.to_owned()), PartSelection::Whole);
    let request = ShowRequest { document, within: None, selection, max_lines: None };
    match app::query::read::show(session, &request) {
        Ok(shown) => {
            let bytes = shown.text.into_bytes();
            Ok(Some(ResourceContent { bytes, mime_type: "text/plain" }))
        }
        Err(Error::UnknownDocument { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Resources for Service {
    fn list(&self, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>), ToolFailure> {
        let mut all = self.skill_files()?;
        let documents =
            app::query::read::names(&self.bases.usual()).map_err(|error| failure(&error))?;
        all.extend(documents.into_iter().map(|document| Resource {
            uri: format!("{DOCUMENT_URI}{}", document.id),
            name: document.title,
            description: document.path,
            mime_type: "text/plain",
        }));
        page(all, cursor, PAGE)
    }

    fn read(&self, uri: &str) -> Result<Option<ResourceContent>, ToolFailure> {
        let in_base = uri.strip_prefix(BASE_URI).and_then(|rest| rest.split_once("/document/"));
        if let Some((base, id)) = in_base {
            let session = match self.bases.named(base) {
                Ok(session) => session,
                Err(Error::UnknownBase { .. }) => return Ok(None),
                Err(error) => return Err(failure(&error)),
            };
            return document(&session, id).map_err(|error| failure(&error));
        }
        if let Some(id) = uri.strip_prefix(DOCUMENT_URI) {
            return document(&self.bases.usual(), id).map_err(|error| failure(&error));
        }
        self.skill_file(uri)
    }

    fn skills(
        &self,
        cursor: Option<&str>,
    ) -> Result<(Vec<SkillEntry>, Option<String>), ToolFailure> {
        page(self.skill_entries()?, cursor, SKILLS_PAGE)
    }

    fn skill(&self, uri: &str) -> Result<Option<SkillEntry>, ToolFailure> {
        self.skill_entry(uri)
    }

    fn directory(&self, uri: &str) -> Result<Option<Vec<DirectoryEntry>>, ToolFailure> {
        self.skill_directory(uri)
    }

    fn templates(&self) -> &[(&str, &str, &str)] {
        &[
            ("kb://document/{id}", "document", "The text of a document of the knowledge base"),
            (
                "kb://base/{base}/document/{id}",
                "document in a base",
                "The text of a document of a \
                named knowledge base",
            ),
            ("skill://{name}/{path}", "skill", "A file of a skill"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_into_pages() {
        let of = |cursor: Option<&str>| page((0..5).collect(), cursor, 2).ok();
        let next = |at: &str| Some(at.to_owned());
        assert_eq!(of(None), Some((vec![0, 1], next("2"))));
        assert_eq!(of(Some("2")), Some((vec![2, 3], next("4"))));
        assert_eq!(of(Some("3")), Some((vec![3, 4], None)));
        assert_eq!(of(Some("4")), Some((vec![4], None)));
        assert_eq!(of(Some("18446744073709551615")), Some((vec![], None)));
        assert_eq!(of(Some("x")), None);
    }
}
