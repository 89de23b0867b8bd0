//! Writes status, setup and settings as JSON.

use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::maintenance::status::{FullScan, Layers, OcrSetup, Setup, StatusReport};
use crate::app::session::bases::ListedBase;
use crate::app::session::copies::OwnCopy;
use crate::app::session::running::OngoingRun;
use crate::ingest::survey::OutOfDate;
use crate::present::json::VersionedAnswer;
use crate::search::ConflictCopy;
use crate::skill::install::InstalledCopy;
use crate::store::{PageCounts, RoomBytes};
use crate::text::json::Json;
use crate::text::paths::path_text;

/// The contents of the database and its setup.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatusJson<'a> {
    /// Number of documents per type; all four types are present.
    documents: BTreeMap<&'static str, u32>,
    /// Chunks of all documents.
    total_chunks: u32,
    /// Size of the database file in bytes; 0 if it does not exist.
    db_size_bytes: u64,
    /// The model that the database is bound to; null before the first document.
    model_name: Option<&'a str>,
    /// Dimensions of a vector.
    embedding_dim: Option<u32>,
    /// Version of the database schema.
    schema_version: i64,
    /// Most tokens that the model reads.
    model_max_tokens: Option<u32>,
    /// How passages are computed: `int8`, `fp32`.
    precision: Option<&'a str>,
    /// The hub's revision of the model's files; null if they are not from the hub, or not recorded.
    model_revision: Option<&'a str>,
    /// SHA-256 of the model's weights, of the list of their checksums if there are several; null if it is not recorded.
    weights_sha256: Option<&'a str>,
    /// Directory of the database and the configuration.
    data_dir: String,
    /// How well the pages of all documents could be read.
    pages: &'a PageCounts,
    /// The OCR setup.
    ocr: &'a OcrSetup,
    /// The layers that confine the processes that read documents; null if none can be started.
    sandbox: Option<Layers>,
    /// Installed copies of kb's own skill.
    agent_skills: &'a [InstalledCopy],
    /// The model that the settings ask for; null unless it is another than the database's.
    model_wanted: Option<&'a str>,
    /// Documents indexed with other settings, another model or an older kb; `kb update --reread` re-indexes them.
    made_differently: usize,
    /// Whether the database can only be read: its file, folder or medium cannot be written.
    read_only: bool,
    /// When all added folders were last compared with the disk (RFC 3339, UTC); null if never.
    last_update: Option<&'a str>,
    /// Copies of the database that kb made itself, the oldest first.
    backups: &'a [OwnCopy],
    /// With `--scan`: numbers of changed, new and missing files; else null.
    out_of_date: Option<&'a OutOfDate>,
    /// With `--scan`: what takes the room in the database; else null.
    room_bytes: Option<&'a RoomBytes>,
    /// All knowledge bases of the user: the default one, then that of the project, then the named ones by name.
    bases: &'a [ListedBase],
    /// Conflict copies among the documents, by path.
    conflict_copies: &'a [ConflictCopy],
    /// The run that stores documents now, so that some may be missing; null if there is none.
    running: Option<OngoingRun>,
}

/// Writes the status.
pub fn status(
    status: &StatusReport,
    scan: Option<&FullScan>,
    out: &mut Json<'_>,
) -> io::Result<()> {
    let StatusReport { setup, stats, sandbox, bases, conflict_copies, running } = status;
    let binding = setup.binding.as_ref();
    out.value(&VersionedAnswer::of(&StatusJson {
        documents: stats.documents.iter().map(|(kind, count)| (kind.as_str(), *count)).collect(),
        total_chunks: stats.total_chunks,
        db_size_bytes: stats.db_size_bytes,
        model_name: binding.map(|binding| binding.model_name.as_str()),
        embedding_dim: binding.map(|binding| binding.dim),
        schema_version: stats.schema_version,
        model_max_tokens: binding.map(|binding| binding.max_tokens),
        precision: binding.map(|binding| binding.precision.as_str()),
        model_revision: binding.and_then(|binding| binding.files.revision.as_deref()),
        weights_sha256: binding.and_then(|binding| binding.files.sha256.as_deref()),
        data_dir: path_text(&setup.data_dir),
        pages: &stats.pages,
        ocr: &setup.ocr,
        sandbox: *sandbox,
        agent_skills: &setup.agent_skills,
        model_wanted: setup.model_wanted.as_deref(),
        made_differently: setup.made_differently,
        read_only: setup.is_read_only,
        last_update: stats.last_update.as_ref().map(|update| update.at.as_str()),
        backups: &setup.copies,
        out_of_date: scan.map(|scan| &scan.out_of_date),
        room_bytes: scan.map(|scan| &scan.room),
        bases,
        conflict_copies,
        running: *running,
    }))
}

/// The setup on this machine.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SetupJson<'a> {
    /// Directory of the database and the configuration.
    data_dir: String,
    /// The database file.
    database: String,
    /// Whether the database file exists.
    database_exists: bool,
    /// The model in the configuration.
    model_configured: &'a str,
    /// Whether that model's files are on this machine.
    model_present: bool,
    /// Directory of these files; null if they are not on this machine.
    model_dir: Option<String>,
    /// Where ONNX Runtime is; null if it is not on this machine.
    runtime: Option<String>,
    /// The model that the database is bound to; null before the first document.
    model_name: Option<&'a str>,
    /// Dimensions of a vector.
    embedding_dim: Option<u32>,
    /// The OCR setup.
    ocr: &'a OcrSetup,
}

/// Writes the setup.
pub fn setup(setup: &Setup, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&VersionedAnswer::of(&SetupJson {
        data_dir: path_text(&setup.data_dir),
        database: path_text(&setup.database),
        database_exists: setup.database.exists(),
        model_configured: &setup.model_configured,
        model_present: setup.model_dir.is_some(),
        model_dir: setup.model_dir.as_deref().map(path_text),
        runtime: setup.runtime.as_deref().map(path_text),
        model_name: setup.binding.as_ref().map(|binding| binding.model_name.as_str()),
        embedding_dim: setup.binding.as_ref().map(|binding| binding.dim),
        ocr: &setup.ocr,
    }))
}
