//! Writes knowledge bases as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::bases::Listed;
use crate::present::json::answer;
use crate::text::json::Json;
use crate::text::paths::path_text;

/// All knowledge bases.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BasesJson<'a> {
    /// The default one, then that of the project, then the named ones by name.
    bases: Vec<BaseJson<'a>>,
}

/// A knowledge base.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BaseJson<'a> {
    /// `default`, `project`, or the name that `--base` takes.
    name: &'a str,
    /// The folder of its database and settings.
    path: String,
    /// What the user says that it holds; null without one, or if it is not allowed.
    description: Option<&'a str>,
    /// Number of documents; null if the database does not exist or is not allowed.
    documents: Option<u64>,
    /// The model of its vectors; null before the first document.
    model: Option<&'a str>,
    /// Whether its use is allowed; only that of a project's knowledge base may not be.
    allowed: bool,
    /// Whether the files and folders that it names are followed; null if nothing is known.
    follows_files: Option<bool>,
    /// Why it cannot be read; null if it can.
    error: Option<String>,
}

impl<'a> From<&'a Listed> for BaseJson<'a> {
    fn from(listed: &'a Listed) -> Self {
        let content = listed.content.as_ref().and_then(|content| content.as_ref().ok());
        let error = listed.content.as_ref().and_then(|content| content.as_ref().err());
        Self {
            name: &listed.place.name,
            path: path_text(&listed.place.dir),
            description: listed.description.as_deref(),
            documents: content.map(|content| content.num_documents),
            model: content.and_then(|content| content.model.as_deref()),
            allowed: listed.is_allowed,
            follows_files: content.map(|content| content.follows_files),
            error: error.map(ToString::to_string),
        }
    }
}

/// Writes all knowledge bases.
pub fn bases(bases: &[Listed], out: &mut Json<'_>) -> io::Result<()> {
    let bases = bases.iter().map(BaseJson::from).collect();
    answer(&BasesJson { bases }, out)
}
