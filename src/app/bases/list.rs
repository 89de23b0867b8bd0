//! Lists knowledge bases and what is in them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Session;
use crate::app::bases::known::Known;
use crate::app::bases::place::{self, Place};
use crate::error::{Error, Result};
use crate::text::fields;

/// A knowledge base.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Base")]
pub struct Listed {
    /// `default`, `project`, or the name that `--base` takes.
    pub name: String,
    /// The folder of its database and settings.
    #[serde(rename = "path", serialize_with = "fields::path")]
    pub dir: PathBuf,
    /// What the user says that it holds; null without one, or if it is not allowed.
    pub description: Option<String>,
    /// Number of documents; null if the database does not exist or is not allowed.
    #[serde(rename = "documents")]
    pub num_documents: Option<u64>,
    /// The model of its vectors; null before the first document.
    pub model: Option<String>,
    /// Whether its use is allowed; only that of a project's knowledge base may not be.
    #[serde(rename = "allowed")]
    pub is_allowed: bool,
    /// Whether the files and folders that it names are followed; null if nothing is known.
    pub follows_files: Option<bool>,
    /// Why it cannot be read; null if it can.
    pub error: Option<String>,
}

/// Returns the default knowledge base, the project's and the named ones.
pub fn list(session: &Session) -> Result<Vec<Listed>> {
    let known = Known::read(&session.environment)?;
    let project = place::of_project(&session.home, &session.environment);
    let named = place::named_ones(&session.home, &known);
    let places = [Place::default_in(&session.home)].into_iter().chain(project).chain(named);
    Ok(places.map(|place| listed(session, &known, place)).collect())
}

/// Describes a knowledge base. One that cannot be read does not keep the others from being listed.
fn listed(session: &Session, known: &Known, place: Place) -> Listed {
    let is_allowed = !place.is_project() || place::is_allowed(&place, known);
    let content = match is_allowed && place.exists() {
        true => session.beside(&place.name).and_then(|other| content(&other)),
        false => Ok(Listed::default()),
    };
    let failed = |error: Error| Listed { error: Some(error.to_string()), ..Listed::default() };
    let Place { name, dir } = place;
    Listed { name, dir, is_allowed, ..content.unwrap_or_else(failed) }
}

/// Returns what is in a knowledge base, without its name and folder.
fn content(session: &Session) -> Result<Listed> {
    session.steadily(|| {
        let Some(store) = session.open_existing()? else { return Ok(Listed::default()) };
        let content = Listed {
            num_documents: Some(store.num_documents()?),
            model: store.binding()?.map(|binding| binding.model_name),
            follows_files: Some(store.is_allowed() && store.unfollowed()?.is_empty()),
            // The author of a database that is not trusted also wrote its description.
            description: if store.is_allowed() { store.description()? } else { None },
            ..Listed::default()
        };
        store.close()?;
        Ok(content)
    })
}
