//! Lists knowledge bases and what is in them.

use crate::app::Session;
use crate::app::bases::known::Known;
use crate::app::bases::place::{self, Place};
use crate::error::Result;

/// A knowledge base and what is in it.
#[derive(Debug)]
pub struct Listed {
    /// Its name and folder.
    pub place: Place,
    /// What the user says that it holds; only if its use is allowed.
    pub description: Option<String>,
    /// Its content; `None` if the database does not exist yet.
    pub content: Option<Result<Content>>,
    /// Whether its use is allowed. Only that of a project's may not be.
    pub is_allowed: bool,
}

/// What is in a knowledge base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Number of documents.
    pub num_documents: u64,
    /// The model that its vectors are bound to.
    pub model: Option<String>,
    /// Whether all files and folders that it names are followed.
    pub follows_files: bool,
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
    if !is_allowed || !place.exists() {
        return Listed { place, description: None, content: None, is_allowed };
    }
    let described = session.beside(&place.name).and_then(|other| described(&other));
    match described {
        Ok(Some((content, description))) => {
            Listed { place, description, content: Some(Ok(content)), is_allowed }
        }
        Ok(None) => Listed { place, description: None, content: None, is_allowed },
        Err(error) => Listed { place, description: None, content: Some(Err(error)), is_allowed },
    }
}

/// Returns the content and the description of a knowledge base; `None` if there is no database.
fn described(session: &Session) -> Result<Option<(Content, Option<String>)>> {
    session.steadily(|| {
        let Some(store) = session.open_existing()? else { return Ok(None) };
        let content = Content {
            num_documents: store.num_documents()?,
            model: store.binding()?.map(|binding| binding.model_name),
            follows_files: store.is_allowed() && store.unfollowed()?.is_empty(),
        };
        // The author of a database that is not trusted also wrote its description.
        let description = if store.is_allowed() { store.description()? } else { None };
        store.close()?;
        Ok(Some((content, description)))
    })
}
