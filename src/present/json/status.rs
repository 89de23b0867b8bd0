//! Writes status, setup and settings as JSON.

use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::settings::{Setting, SettingValue};
use crate::app::status::{OcrSetup, Setup, Status};
use crate::ingest::survey::OutOfDate;
use crate::present::json::CONTRACT_VERSION;
use crate::present::json::bases::BaseJson;
use crate::present::json::remove::CopyJson;
use crate::text::json::Json;

/// The contents of the database and its setup.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct StatusJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
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
    /// Directory of the database and the configuration.
    data_dir: String,
    /// How well the pages of all documents could be read.
    pages: PagesJson,
    /// The OCR setup.
    ocr: OcrJson<'a>,
    /// What confines the processes that read documents; null if none can be started.
    sandbox: Option<SandboxJson>,
    /// Installed copies of kb's own skill.
    agent_skills: Vec<AgentSkillJson<'a>>,
    /// The model that the settings ask for; null unless it is another than the database's.
    model_wanted: Option<&'a str>,
    /// Documents made with other settings, another model or an older kb; `kb update --reread` makes them
    /// again.
    made_differently: usize,
    /// Whether the database can only be read: its file, folder or medium cannot be written.
    read_only: bool,
    /// When all added folders were last compared with the disk (RFC 3339, UTC); null if never.
    last_update: Option<&'a str>,
    /// Copies of the database that kb made itself, the oldest first.
    backups: Vec<CopyJson>,
    /// With `--scan`: numbers of changed, new and missing files; else null.
    out_of_date: Option<OutOfDateJson>,
    /// All knowledge bases of the user: the default one, then that of the project, then the named ones by name.
    bases: Vec<BaseJson<'a>>,
}

/// What the system enforces on a process that reads a document.
#[derive(Serialize, JsonSchema)]
struct SandboxJson {
    /// Limits that it cannot lift: memory, processor time, files, processes.
    limits: bool,
    /// Neither it nor a program that it starts gains rights, and it has none of root's.
    no_new_privileges: bool,
    /// The version of Landlock in force, which refuses files and TCP; null without Landlock.
    landlock: Option<u32>,
    /// Whether seccomp refuses every system call that no reader needs.
    seccomp: bool,
}

/// An installed copy of kb's own skill.
#[derive(Serialize, JsonSchema)]
struct AgentSkillJson<'a> {
    /// The file.
    path: String,
    /// Version of kb that wrote it.
    version: Option<&'a str>,
    /// Whether it is the version of this program.
    current: bool,
}

/// Files that have changed since they were added.
#[derive(Serialize, JsonSchema)]
struct OutOfDateJson {
    /// Files whose size or time differs.
    changed: usize,
    /// New files.
    new: usize,
    /// Missing files.
    missing: usize,
    /// Missing and empty folders.
    folders_away: usize,
    /// Files that could not be read and have not changed since.
    failed: usize,
    /// Files and folders replaced by a link that is not followed.
    links_refused: usize,
}

/// How well pages could be read.
#[derive(Serialize, JsonSchema)]
struct PagesJson {
    /// Pages with text.
    read: u64,
    /// How many of these were read by OCR.
    ocr: u64,
    /// Pages without content.
    empty: u64,
    /// Pages whose text could not be read.
    unread: u64,
    /// Documents with such pages.
    documents_with_unread: u32,
}

/// The OCR setup.
#[derive(Serialize, JsonSchema)]
struct OcrJson<'a> {
    /// `ingestion.enable_ocr`: `auto`, `always` or `never`.
    mode: &'a str,
    /// Where Tesseract is; null if it is not on this machine.
    tesseract: Option<String>,
    /// `ingestion.ocr_languages`.
    languages: &'a str,
}

impl<'a> From<&'a OcrSetup> for OcrJson<'a> {
    fn from(ocr: &'a OcrSetup) -> Self {
        Self {
            mode: &ocr.mode,
            tesseract: ocr.tesseract.as_ref().map(|path| path.display().to_string()),
            languages: &ocr.languages,
        }
    }
}

/// Writes the status.
///
/// # Errors
///
/// Errors of writing.
pub fn status(
    status: &Status,
    out_of_date: Option<&OutOfDate>,
    out: &mut Json<'_>,
) -> io::Result<()> {
    let Status { setup, stats, sandbox, bases } = status;
    let binding = setup.binding.as_ref();
    out.value(&StatusJson {
        contract_version: CONTRACT_VERSION,
        documents: stats.documents.iter().map(|(kind, count)| (kind.as_str(), *count)).collect(),
        total_chunks: stats.total_chunks,
        db_size_bytes: stats.db_size_bytes,
        model_name: binding.map(|binding| binding.model_name.as_str()),
        embedding_dim: binding.map(|binding| binding.dim),
        schema_version: stats.schema_version,
        model_max_tokens: binding.map(|binding| binding.max_tokens),
        precision: binding.map(|binding| binding.precision.as_str()),
        data_dir: setup.data_dir.display().to_string(),
        pages: PagesJson {
            read: stats.pages.read,
            ocr: stats.pages.ocr,
            empty: stats.pages.empty,
            unread: stats.pages.unread,
            documents_with_unread: stats.pages.documents_with_unread,
        },
        ocr: (&setup.ocr).into(),
        sandbox: sandbox.map(|layers| SandboxJson {
            limits: layers.limits,
            no_new_privileges: layers.no_new_privileges,
            landlock: layers.landlock,
            seccomp: layers.seccomp,
        }),
        agent_skills: setup
            .agent_skills
            .iter()
            .map(|skill| AgentSkillJson {
                path: skill.path.display().to_string(),
                version: skill.version.as_deref(),
                current: skill.is_current,
            })
            .collect(),
        model_wanted: setup.model_wanted.as_deref(),
        made_differently: setup.made_differently,
        read_only: setup.is_read_only,
        last_update: stats.last_update.as_ref().map(|update| update.at.as_str()),
        backups: setup.copies.iter().map(CopyJson::from).collect(),
        out_of_date: out_of_date.map(|files| OutOfDateJson {
            changed: files.num_changed,
            new: files.num_new,
            missing: files.num_missing,
            failed: files.num_failed,
            folders_away: files.num_folders_away,
            links_refused: files.num_refused,
        }),
        bases: bases.iter().map(BaseJson::from).collect(),
    })
}

/// The setup on this machine.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct SetupJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
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
    ocr: OcrJson<'a>,
}

/// Writes the setup.
///
/// # Errors
///
/// Errors of writing.
pub fn setup(setup: &Setup, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&SetupJson {
        contract_version: CONTRACT_VERSION,
        data_dir: setup.data_dir.display().to_string(),
        database: setup.database.display().to_string(),
        database_exists: setup.database.exists(),
        model_configured: &setup.model_configured,
        model_present: setup.model_dir.is_some(),
        model_dir: setup.model_dir.as_ref().map(|path| path.display().to_string()),
        runtime: setup.runtime.as_ref().map(|path| path.display().to_string()),
        model_name: setup.binding.as_ref().map(|binding| binding.model_name.as_str()),
        embedding_dim: setup.binding.as_ref().map(|binding| binding.dim),
        ocr: (&setup.ocr).into(),
    })
}

/// A setting.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct SettingJson<'a> {
    /// Dotted name, as `kb config set` takes it.
    key: &'a str,
    /// Its value as text, without quotes.
    value: &'a str,
    /// Its value with its type.
    typed_value: TypedJson<'a>,
    /// The origin of the value: `default`, a file, a variable or a flag.
    origin: &'a str,
}

/// The value of a setting with its type.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum TypedJson<'a> {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A number that may have a fraction.
    Number(f64),
    /// Text.
    Text(&'a str),
}

impl<'a> From<&'a SettingValue> for TypedJson<'a> {
    fn from(value: &'a SettingValue) -> Self {
        match value {
            SettingValue::Flag(flag) => Self::Flag(*flag),
            SettingValue::Whole(whole) => Self::Whole(*whole),
            SettingValue::Number(number) => Self::Number(*number),
            SettingValue::Text(text) => Self::Text(text),
        }
    }
}

/// Writes every setting.
///
/// # Errors
///
/// Errors of writing.
pub fn settings(settings: &[Setting], out: &mut Json<'_>) -> io::Result<()> {
    let settings: Vec<SettingJson<'_>> = settings
        .iter()
        .map(|Setting { key, value, typed_value, origin }| SettingJson {
            key,
            value,
            typed_value: typed_value.into(),
            origin,
        })
        .collect();
    out.value(&settings)
}
