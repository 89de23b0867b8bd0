//! What there is and how it is set up in, JSON out.

use std::collections::BTreeMap;
use std::io;
use std::io::Write;

use serde::Serialize;

use crate::ingest::survey::Survey;
use crate::present::json::{CONTRACT_VERSION, write};
use crate::present::{OcrSetup, Setting, Setup, update};
use crate::store::Stats;

#[derive(Serialize)]
struct StatusJson<'a> {
    contract_version: u32,
    documents: BTreeMap<&'static str, u32>,
    total_chunks: u32,
    db_size_bytes: u64,
    model_name: Option<&'a str>,
    embedding_dim: Option<u32>,
    schema_version: i64,
    model_max_tokens: Option<u32>,
    precision: Option<&'a str>,
    data_dir: String,
    pages: PagesJson,
    ocr: OcrJson<'a>,
    agent_skills: Vec<AgentSkillJson<'a>>,
    out_of_date: Option<OutOfDateJson>,
}

#[derive(Serialize)]
struct AgentSkillJson<'a> {
    path: String,
    version: Option<&'a str>,
    current: bool,
}

/// Files that are not as they were when they were added.
#[derive(Serialize)]
struct OutOfDateJson {
    changed: usize,
    new: usize,
    missing: usize,
    folders_away: usize,
}

#[derive(Serialize)]
struct PagesJson {
    read: u64,
    ocr: u64,
    empty: u64,
    unread: u64,
    documents_with_unread: u32,
}

#[derive(Serialize)]
struct OcrJson<'a> {
    mode: &'a str,
    tesseract: Option<String>,
    languages: &'a str,
}

impl<'a> From<&'a OcrSetup> for OcrJson<'a> {
    fn from(ocr: &'a OcrSetup) -> Self {
        Self {
            mode: &ocr.mode,
            tesseract: ocr.tesseract.as_ref().map(|it| it.display().to_string()),
            languages: &ocr.languages,
        }
    }
}

/// Writes what the database holds.
///
/// # Errors
///
/// What writing gives.
pub fn status(
    setup: &Setup,
    stats: &Stats,
    surveys: Option<&[Survey]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let binding = setup.binding.as_ref();
    write(
        &StatusJson {
            contract_version: CONTRACT_VERSION,
            documents: stats.documents.iter().map(|(it, count)| (it.as_str(), *count)).collect(),
            total_chunks: stats.total_chunks,
            db_size_bytes: stats.db_size_bytes,
            model_name: binding.map(|it| it.model_name.as_str()),
            embedding_dim: binding.map(|it| it.dim),
            schema_version: stats.schema_version,
            model_max_tokens: binding.map(|it| it.max_tokens),
            precision: binding.map(|it| it.precision.as_str()),
            data_dir: setup.data_dir.display().to_string(),
            pages: PagesJson {
                read: stats.pages.read,
                ocr: stats.pages.ocr,
                empty: stats.pages.empty,
                unread: stats.pages.unread,
                documents_with_unread: stats.pages.documents_with_unread,
            },
            ocr: (&setup.ocr).into(),
            agent_skills: setup
                .agent_skills
                .iter()
                .map(|it| AgentSkillJson {
                    path: it.path.display().to_string(),
                    version: it.version.as_deref(),
                    current: it.is_current,
                })
                .collect(),
            out_of_date: surveys.map(|it| {
                let [changed, new, missing, folders_away] = update::counts(it);
                OutOfDateJson { changed, new, missing, folders_away }
            }),
        },
        out,
    )
}

#[derive(Serialize)]
struct SetupJson<'a> {
    contract_version: u32,
    data_dir: String,
    database: String,
    database_exists: bool,
    model_configured: &'a str,
    model_present: bool,
    model_dir: Option<String>,
    runtime: Option<String>,
    model_name: Option<&'a str>,
    embedding_dim: Option<u32>,
    ocr: OcrJson<'a>,
}

/// Writes what is set up.
///
/// # Errors
///
/// What writing gives.
pub fn setup(setup: &Setup, out: &mut dyn Write) -> io::Result<()> {
    write(
        &SetupJson {
            contract_version: CONTRACT_VERSION,
            data_dir: setup.data_dir.display().to_string(),
            database: setup.database.display().to_string(),
            database_exists: setup.database.exists(),
            model_configured: &setup.model_configured,
            model_present: setup.model_dir.is_some(),
            model_dir: setup.model_dir.as_ref().map(|it| it.display().to_string()),
            runtime: setup.runtime.as_ref().map(|it| it.display().to_string()),
            model_name: setup.binding.as_ref().map(|it| it.model_name.as_str()),
            embedding_dim: setup.binding.as_ref().map(|it| it.dim),
            ocr: (&setup.ocr).into(),
        },
        out,
    )
}

#[derive(Serialize)]
struct SettingJson<'a> {
    key: &'a str,
    value: &'a str,
    origin: &'a str,
}

/// Writes every setting.
///
/// # Errors
///
/// What writing gives.
pub fn settings(settings: &[Setting], out: &mut dyn Write) -> io::Result<()> {
    let settings: Vec<SettingJson<'_>> = settings
        .iter()
        .map(|it| SettingJson { key: &it.key, value: &it.value, origin: &it.origin })
        .collect();
    write(&settings, out)
}
