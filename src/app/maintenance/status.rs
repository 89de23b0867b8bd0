//! Reports the setup of this machine and the contents of the database.

use std::path::PathBuf;

use crate::app::Session;
use crate::app::agents::own_skill::agent_skills;
use crate::app::indexing::ingestion::options;
use crate::app::indexing::reread::outdated;
use crate::app::indexing::{ocr, scope};
use crate::app::session::bases::ListedBase;
use crate::app::session::copies::OwnCopy;
use crate::app::session::running::OngoingRun;
use crate::app::session::{bases, copies, model};
use crate::document::Binding;
use crate::error::{Error, Result};
use crate::extract::sandbox;
use crate::ingest::survey::{OutOfDate, survey};
use crate::search::ConflictCopy;
use crate::skill::install::InstalledCopy;
use crate::store::{RoomBytes, Stats};

pub use crate::app::indexing::ocr::OcrSetup;
pub use crate::extract::sandbox::Layers;

/// The setup of a data directory on this machine.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Directory of the database and the configuration.
    pub data_dir: PathBuf,
    /// The database file, whether it exists or not.
    pub database: PathBuf,
    /// The model in the configuration.
    pub model_configured: String,
    /// Where that model's files are; `None` if they are not on this machine.
    pub model_dir: Option<PathBuf>,
    /// Where ONNX Runtime is; `None` if it is not on this machine.
    pub runtime: Option<PathBuf>,
    /// The binding of the database; `None` before the first document.
    pub binding: Option<Binding>,
    /// The OCR setup.
    pub ocr: OcrSetup,
    /// The model that the settings ask for, if it is not the one that the database is bound to.
    pub model_wanted: Option<String>,
    /// Documents indexed with other settings, another model or an older kb.
    pub made_differently: usize,
    /// Whether the database can only be read.
    pub is_read_only: bool,
    /// Copies of the database that kb made itself, the oldest first.
    pub copies: Vec<OwnCopy>,
    /// Installed copies of kb's own skill.
    pub agent_skills: Vec<InstalledCopy>,
}

/// The setup, the contents of the database and the knowledge bases of the user.
#[derive(Debug)]
pub struct StatusReport {
    /// The setup.
    pub setup: Setup,
    /// The contents of the database.
    pub stats: Stats,
    /// The confinement of the processes that read documents; `None` if none can be started.
    pub sandbox: Option<Layers>,
    /// All knowledge bases of the user.
    pub bases: Vec<ListedBase>,
    /// Conflict copies among the documents.
    pub conflict_copies: Vec<ConflictCopy>,
    /// The run that stores documents now.
    pub running: Option<OngoingRun>,
}

/// Returns the setup, the contents of the database and the knowledge bases.
pub fn status(session: &Session) -> Result<StatusReport> {
    let (setup, stats, conflict_copies) = session.read_with_retry(|| {
        let Some(store) = session.open_existing()? else {
            return Ok((describe(session, None), Stats::empty(), Vec::new()));
        };
        let made_differently = outdated(session, &store)?.len();
        let setup = Setup { made_differently, ..describe(session, store.binding()?) };
        Ok((setup, store.stats()?, store.conflict_copies()?))
    })?;
    // Without its program for reading, kb cannot ask for its confinement, but still shows the rest.
    let sandbox =
        options::reading_program(session).and_then(|program| sandbox::active(&program)).ok();
    let running = OngoingRun::of(session);
    let bases = bases::list(session)?;
    Ok(StatusReport { setup, stats, sandbox, bases, conflict_copies, running })
}

/// The results of a look at every file, and at every page of the database.
#[derive(Debug)]
pub struct FullScan {
    /// Files whose size or time has changed since they were added.
    pub out_of_date: OutOfDate,
    /// The use of space in the database.
    pub room: RoomBytes,
}

/// Looks at all files and pages; `None` if there is no database.
pub fn scan(session: &Session) -> Result<Option<FullScan>> {
    let found = session.read_with_retry(|| {
        let Some(store) = session.open_existing()? else { return Ok(None) };
        Ok(Some((scope::read(session, &store, &[])?, store.room()?)))
    })?;
    Ok(found.map(|(scope, room)| FullScan { out_of_date: OutOfDate::of(&survey(&scope)), room }))
}

/// Returns the setup without fetching anything.
pub fn setup(session: &Session) -> Result<Setup> {
    Ok(describe(session, session.binding()?))
}

/// Describes the setup for a database with this binding.
pub(crate) fn describe(session: &Session, binding: Option<Binding>) -> Setup {
    let selection = model::select(session, binding.as_ref());
    let installed = selection.as_ref().ok().and_then(|selection| selection.locate().ok());
    let model_dir = match (&installed, &selection) {
        (Some(installed), _) => Some(installed.model_dir.clone()),
        (None, Ok(selection)) => selection.locate_model().ok(),
        (None, Err(_)) => None,
    };
    let model_wanted = match model::check_selection(session, binding.as_ref()) {
        Err(Error::ModelMismatch { wanted, .. }) => Some(wanted),
        _ => None,
    };
    Setup {
        data_dir: session.data_dir().to_owned(),
        database: session.database(),
        model_configured: selection.map_or_else(
            |_| session.config().embedding.model.clone(),
            |selection| selection.name(),
        ),
        model_dir,
        runtime: installed
            .map(|installed| installed.runtime)
            .filter(|runtime| !runtime.as_os_str().is_empty()),
        binding,
        ocr: ocr::setup(session),
        model_wanted,
        made_differently: 0,
        is_read_only: session.is_read_only(),
        copies: copies::list(session),
        agent_skills: agent_skills(session.environment()),
    }
}
