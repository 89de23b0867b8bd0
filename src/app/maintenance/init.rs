//! Fetches the model, creates the database, binds it to the model, and adds vectors that are missing.

use crate::app::indexing::vectors;
use crate::app::maintenance::status::{self, Setup};
use crate::app::session::{erase, model};
use crate::app::{Observer, Session};
use crate::error::Result;
use crate::wording::{kb, wording};

/// Creates the database, fetches missing files, prepares the model and binds the database to it; documents that were added
/// without a model get their vectors. Returns the resulting setup.
pub fn init(session: &Session, observer: &dyn Observer) -> Result<Setup> {
    let mut store = session.open_store()?;
    let bound = store.binding()?;
    let selection = model::select(session, bound.as_ref())?;
    let installed = selection.install(observer)?;
    selection.open_for_passages(&installed, observer)?.get()?;
    vectors::bind(&mut store, &selection, &installed, observer)?;
    erase::finish(store, observer)?;
    observer.info(wording!("Ready. Next, add documents with `{}`.", kb("add").arg("DIRECTORY")));
    model::keep_selection(session, observer)?;
    Ok(status::describe(session, Some(selection.binding(&installed))))
}
