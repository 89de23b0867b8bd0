//! Prepares a machine: fetches the model, makes the database and binds it to the model.

use crate::app::status::{self, Setup};
use crate::app::{Observer, Session, model};
use crate::error::Result;

/// Makes the database, fetches what is missing, prepares the model and binds the database to it; returns what is
/// then set up.
///
/// # Errors
///
/// [`crate::error::Error::ModelMismatch`], what fetching and opening the model give, and what the database refuses.
pub fn init(session: &Session, observer: &dyn Observer) -> Result<Setup> {
    let mut store = session.open_store()?;
    let bound = store.binding()?;
    let selection = model::select(session, bound.as_ref())?;
    let installed = selection.install(observer)?;
    let binding = selection.binding(&installed);
    store.bind(&binding)?;
    selection.open_for_passages(&installed, observer)?.get()?;
    store.close()?;
    observer.note("Ready. `kb add DIRECTORY` comes next.");
    model::keep_selection(session, observer)?;
    Ok(status::describe(session, Some(binding)))
}
