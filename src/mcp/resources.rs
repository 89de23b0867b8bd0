//! Serves documents and skills as resources with addresses.

use crate::app;
use crate::app::read::ShowRequest;
use crate::app::session::document_id;
use crate::app::skills::{SkillAnswer, SkillRequest};
use crate::error::{Error, Result};
use crate::mcp::protocol::{Failure, Resource, Resources};
use crate::mcp::service::{Service, failure};
use crate::read::Selection;
use crate::skill::list::{ListOptions, ListedSkill};
use crate::skill::open::OpenOptions;

/// Number of resources per page of the list.
const PAGE: usize = 100;

/// Prefix of the addresses of documents.
const DOCUMENT_URI: &str = "kb://document/";

/// Prefix of the addresses of skills.
const SKILL_URI: &str = "kb://skill/";

impl Resources for Service {
    fn list(&self, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>), Failure> {
        let skip: usize = match cursor.map(str::parse) {
            None => 0,
            Some(Ok(skip)) => skip,
            Some(Err(_)) => {
                let message = "the cursor is not from this server".to_owned();
                return Err(failure(&Error::Usage { message, hint: None }));
            }
        };
        let mut all = self.skills()?;
        let documents = app::read::names(&self.session).map_err(|error| failure(&error))?;
        all.extend(documents.into_iter().map(|document| Resource {
            uri: format!("{DOCUMENT_URI}{}", document.id),
            name: document.title,
            description: document.path,
            mime_type: "text/plain",
        }));
        let next = (all.len() > skip.saturating_add(PAGE)).then(|| (skip + PAGE).to_string());
        Ok((all.into_iter().skip(skip).take(PAGE).collect(), next))
    }

    fn read(&self, uri: &str) -> Result<Option<(String, &'static str)>, Failure> {
        let id = uri.strip_prefix(DOCUMENT_URI);
        if let Some(id) = id.filter(|id| document_id(id).is_ok()) {
            let request = ShowRequest {
                document: Some(id.to_owned()),
                selection: Selection::Whole,
                max_lines: None,
            };
            return match app::read::show(&self.session, &request) {
                Ok(shown) => Ok(Some((shown.text, "text/plain"))),
                Err(Error::UnknownDocument { .. }) => Ok(None),
                Err(error) => Err(failure(&error)),
            };
        }
        let Some(name) = uri.strip_prefix(SKILL_URI) else { return Ok(None) };
        if !self.skills()?.iter().any(|skill| skill.name == name) {
            return Ok(None);
        }
        let options = OpenOptions { path: "SKILL.md".into(), max_lines: None };
        let request = SkillRequest::Open(name.to_owned(), options);
        match self.skill(&request, &*self.observer) {
            Ok(SkillAnswer::Open(opened)) => {
                let text = String::from_utf8(opened.bytes).ok();
                Ok(text.map(|text| (text, "text/markdown")))
            }
            Ok(_) => Ok(None),
            Err(error) => Err(failure(&error)),
        }
    }

    fn templates(&self) -> &[(&str, &str, &str)] {
        &[
            ("kb://document/{id}", "document", "The text of a document of the knowledge base"),
            ("kb://skill/{name}", "skill", "The SKILL.md of a skill"),
        ]
    }
}

impl Service {
    /// Loads the registry of skills and returns them.
    pub(super) fn list_skills(&self) -> Result<Vec<ListedSkill>> {
        let request = SkillRequest::List(ListOptions::default());
        match self.skill(&request, &*self.observer)? {
            SkillAnswer::List(listed) => Ok(listed.skills),
            _ => Ok(Vec::new()),
        }
    }

    fn skills(&self) -> Result<Vec<Resource>, Failure> {
        let skills = self.list_skills().map_err(|error| failure(&error))?;
        let resource = |listed: ListedSkill| Resource {
            uri: format!("{SKILL_URI}{}", listed.found.row.name),
            name: listed.found.row.name,
            description: Some(listed.found.row.description),
            mime_type: "text/markdown",
        };
        Ok(skills.into_iter().map(resource).collect())
    }
}
