//! Fetches the model, creates the database and binds it to the model.

use crate::app::status::{self, Setup};
use crate::app::{Observer, Session, model};
use crate::error::Result;

/// Creates the database, fetches missing files, prepares the model and binds the database to it. Returns
/// the resulting setup.
pub fn init(session: &Session, observer: &dyn Observer) -> Result<Setup> {
    let mut store = session.open_store()?;
    let bound = store.binding()?;
    let selection = model::select(session, bound.as_ref())?;
    let installed = selection.install(observer)?;
    let binding = selection.binding(&installed);
    store.bind(&binding)?;
    selection.open_for_passages(&installed, observer)?.get()?;
    store.close()?;
    observer.note("Ready. Next, add documents with `kb add DIRECTORY`.");
    model::keep_selection(session, observer)?;
    Ok(status::describe(session, Some(binding)))
}
