//! Serves documents and skills as resources with addresses.

use crate::app;
use crate::app::read::ShowRequest;
use crate::app::session::document_id;
use crate::error::{Error, Result};
use crate::mcp::protocol::{Content, Entry, Failure, Resource, Resources, SkillEntry};
use crate::mcp::service::{Service, failure};
use crate::read::Selection;

/// Number of resources per page of the list.
const PAGE: usize = 100;

/// Prefix of the addresses of documents.
const DOCUMENT_URI: &str = "kb://document/";

/// Number of skills per page of their list.
const SKILLS_PAGE: usize = 50;

/// Returns a page of a list and the cursor of the next page.
fn page<T>(
    all: Vec<T>,
    cursor: Option<&str>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), Failure> {
    let skip: usize = match cursor.map(str::parse) {
        None => 0,
        Some(Ok(skip)) => skip,
        Some(Err(_)) => {
            let message = "the cursor is not from this server".to_owned();
            return Err(failure(&Error::Usage { message, hint: None }));
        }
    };
    let next = (all.len() > skip.saturating_add(size)).then(|| (skip + size).to_string());
    Ok((all.into_iter().skip(skip).take(size).collect(), next))
}

impl Resources for Service {
    fn list(&self, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>), Failure> {
        let mut all = self.skill_files()?;
        let documents = app::read::names(&self.bases.usual()).map_err(|error| failure(&error))?;
        all.extend(documents.into_iter().map(|document| Resource {
            uri: format!("{DOCUMENT_URI}{}", document.id),
            name: document.title,
            description: document.path,
            mime_type: "text/plain",
        }));
        page(all, cursor, PAGE)
    }

    fn read(&self, uri: &str) -> Result<Option<Content>, Failure> {
        let id = uri.strip_prefix(DOCUMENT_URI);
        if let Some(id) = id.filter(|id| document_id(id).is_ok()) {
            let request = ShowRequest {
                document: Some(id.to_owned()),
                selection: Selection::Whole,
                max_lines: None,
            };
            return match app::read::show(&self.bases.usual(), &request) {
                Ok(shown) => {
                    let bytes = shown.text.into_bytes();
                    Ok(Some(Content { bytes, mime_type: "text/plain" }))
                }
                Err(Error::UnknownDocument { .. }) => Ok(None),
                Err(error) => Err(failure(&error)),
            };
        }
        self.skill_file(uri)
    }

    fn skills(&self, cursor: Option<&str>) -> Result<(Vec<SkillEntry>, Option<String>), Failure> {
        page(self.skill_entries()?, cursor, SKILLS_PAGE)
    }

    fn skill(&self, uri: &str) -> Result<Option<SkillEntry>, Failure> {
        self.skill_entry(uri)
    }

    fn directory(&self, uri: &str) -> Result<Option<Vec<Entry>>, Failure> {
        self.skill_directory(uri)
    }

    fn templates(&self) -> &[(&str, &str, &str)] {
        &[
            ("kb://document/{id}", "document", "The text of a document of the knowledge base"),
            ("skill://{name}/{path}", "skill", "A file of a skill"),
        ]
    }
}
