//! What is set up, and what the database holds.

use std::path::PathBuf;

use crate::app::scope::Scope;
use crate::app::session::absolute;
use crate::app::{Session, model, ocr};
use crate::config::Environment;
use crate::document::Binding;
use crate::error::Result;
use crate::ingest::survey::OutOfDate;
use crate::skill::install::{self, Found};
use crate::store::Stats;

/// What is set up on this machine for a data directory.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where the database and the configuration lie.
    pub data_dir: PathBuf,
    /// The database file, whether it exists or not.
    pub database: PathBuf,
    /// What the configuration asks for.
    pub model_configured: String,
    /// Where that model's files are; `None` if they are not on this machine.
    pub model_dir: Option<PathBuf>,
    /// Where ONNX Runtime is; `None` if it is not on this machine.
    pub runtime: Option<PathBuf>,
    /// What the database was built with; `None` before the first document.
    pub binding: Option<Binding>,
    /// Who reads scans.
    pub ocr: OcrSetup,
    /// kb's own skill where agents look.
    pub agent_skills: Vec<Found>,
}

/// What OCR there is.
#[derive(Debug, Clone)]
pub struct OcrSetup {
    /// `ingestion.enable_ocr`.
    pub mode: String,
    /// Where Tesseract is; `None` if it is not on this machine.
    pub tesseract: Option<PathBuf>,
    /// `ingestion.ocr_languages`.
    pub languages: String,
}

/// Returns what is set up and what the database holds.
///
/// # Errors
///
/// Those of [`crate::store::Store::open`].
pub fn status(session: &Session) -> Result<(Setup, Stats)> {
    let store = session.open_existing()?;
    let (binding, stats) = match &store {
        Some(store) => (store.binding()?, store.stats()?),
        None => (None, Stats::empty()),
    };
    Ok((describe(session, binding), stats))
}

/// Counts the files that have changed since they were added, by size and time; `None` where there is no database.
///
/// # Errors
///
/// What the database refuses.
pub fn scan(session: &Session) -> Result<Option<OutOfDate>> {
    let Some(store) = session.open_existing()? else { return Ok(None) };
    let surveys = Scope::read(session, &store, &[])?.survey(session, false);
    Ok(Some(OutOfDate::of(&surveys)))
}

/// Returns what is set up, fetching nothing.
///
/// # Errors
///
/// Those of [`crate::store::Store::open`].
pub fn setup(session: &Session) -> Result<Setup> {
    let binding = match session.open_existing()? {
        Some(store) => store.binding()?,
        None => None,
    };
    Ok(describe(session, binding))
}

/// Describes what is set up for a database with this binding.
pub(super) fn describe(session: &Session, binding: Option<Binding>) -> Setup {
    let selection = model::select(session, binding.as_ref());
    let installed = selection.as_ref().ok().and_then(|selection| selection.locate().ok());
    let model_dir = match (&installed, &selection) {
        (Some(installed), _) => Some(installed.model_dir.clone()),
        (None, Ok(selection)) => selection.locate_model().ok(),
        (None, Err(_)) => None,
    };
    Setup {
        data_dir: session.data_dir().to_owned(),
        database: session.database(),
        model_configured: selection.map_or_else(
            |_| session.config().embedding.model.clone(),
            |selection| selection.name(),
        ),
        model_dir,
        runtime: installed.map(|installed| installed.runtime),
        binding,
        ocr: ocr::setup(session),
        agent_skills: agent_skills(&session.environment),
    }
}

/// Returns kb's own skill where agents of this user look.
pub fn agent_skills(environment: &Environment) -> Vec<Found> {
    absolute(&skills_home(environment)).map(|home| install::installed(&home)).unwrap_or_default()
}

/// Returns the directory that holds the global store of skills.
pub fn skills_home(environment: &Environment) -> PathBuf {
    environment.path("SKILLC_HOME").unwrap_or_else(|| environment.home())
}
