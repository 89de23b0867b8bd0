//! Serves documents and skills as resources with addresses.

use serde_json::{Value, json};

use crate::app;
use crate::app::read::ShowRequest;
use crate::cli::skill;
use crate::cli::skill_tools::skill_args;
use crate::cli::tools::{Service, failure, parsed};
use crate::error::{Error, Result};
use crate::mcp::{Failure, Resource, Resources};
use crate::read::Selection;
use crate::skill::commands::Command;

/// Resources on a page of the list.
const PAGE: usize = 100;

/// Where documents are.
const DOCUMENT_URI: &str = "kb://document/";

/// Where skills are.
const SKILL_URI: &str = "kb://skill/";

impl Resources for Service {
    fn list(&self, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>), Failure> {
        let skip: usize = match cursor.map(str::parse) {
            None => 0,
            Some(Ok(skip)) => skip,
            Some(Err(_)) => {
                let message = "the cursor is none of this server's".to_owned();
                return Err(failure(&Error::Usage { message, hint: None }));
            }
        };
        let mut all = self.skills()?;
        let documents = self.context.session.open_existing().and_then(|it| match it {
            Some(store) => store.document_names(),
            None => Ok(Vec::new()),
        });
        let documents = documents.map_err(|it| failure(&it))?;
        all.extend(documents.into_iter().map(|it| Resource {
            uri: format!("{DOCUMENT_URI}{}", it.id),
            name: it.title,
            description: it.path,
            mime_type: "text/plain",
        }));
        let next = (all.len() > skip.saturating_add(PAGE)).then(|| (skip + PAGE).to_string());
        Ok((all.into_iter().skip(skip).take(PAGE).collect(), next))
    }

    fn read(&self, uri: &str) -> Result<Option<(String, &'static str)>, Failure> {
        if let Some(id) = uri.strip_prefix(DOCUMENT_URI).filter(|it| it.parse::<i64>().is_ok()) {
            let request = ShowRequest {
                document: Some(id.to_owned()),
                selection: Selection::Whole,
                max_lines: None,
            };
            return match app::read::show(&self.context.session, &request) {
                Ok(shown) => Ok(Some((shown.text, "text/plain"))),
                Err(Error::UnknownDocument { .. }) => Ok(None),
                Err(error) => Err(failure(&error)),
            };
        }
        let Some(name) = uri.strip_prefix(SKILL_URI) else { return Ok(None) };
        if !self.skills()?.iter().any(|it| it.name == name) {
            return Ok(None);
        }
        let open = Command::find("open").expect("it is in the table");
        let args = skill_args(open, &json!({ "skill": name, "path": "SKILL.md" }));
        let answer = skill::answer(&self.context.session.environment, &self.global, &args);
        let opened = parsed(&answer.map_err(|it| failure(&it))?)?;
        Ok(opened["text"].as_str().map(|it| (it.to_owned(), "text/markdown")))
    }

    fn templates(&self) -> &[(&str, &str, &str)] {
        &[
            ("kb://document/{id}", "document", "The text of a document of the knowledge base"),
            ("kb://skill/{name}", "skill", "The SKILL.md of a skill"),
        ]
    }
}

impl Service {
    /// Loads the registry of skills.
    pub(super) fn load_skills(&self) -> Result<()> {
        let list = Command::find("list").expect("it is in the table");
        let args = skill_args(list, &json!({}));
        skill::answer(&self.context.session.environment, &self.global, &args).map(drop)
    }

    /// Returns the skills there are.
    fn skills(&self) -> Result<Vec<Resource>, Failure> {
        let list = Command::find("list").expect("it is in the table");
        let args = skill_args(list, &json!({}));
        let answer = skill::answer(&self.context.session.environment, &self.global, &args);
        let listed = parsed(&answer.map_err(|it| failure(&it))?)?;
        let skills = listed["skills"].as_array().cloned().unwrap_or_default();
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        Ok(skills
            .iter()
            .map(|it| Resource {
                uri: format!("{SKILL_URI}{}", text(&it["name"])),
                name: text(&it["name"]),
                description: Some(text(&it["description"])),
                mime_type: "text/markdown",
            })
            .collect())
    }
}
