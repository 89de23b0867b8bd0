//! Lists the models of `models.toml`, with cost, scores and whether they are installed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Session;
use crate::embed::{self, ModelChoice, PublishedScore};
use crate::error::Result;

/// All models that kb knows by name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Models {
    /// In the order of `models.toml`, the default one first.
    pub models: Vec<ListedModel>,
}

/// A model that kb knows by name. Unknown values are null.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedModel {
    /// The name that `--model` takes.
    pub name: &'static str,
    /// Its id on the hub.
    pub hub_id: &'static str,
    /// Number of languages that it knows; one is English.
    pub languages: u32,
    /// Size of the download in megabytes.
    pub download_mb: Option<u64>,
    /// Most tokens of a text that it reads.
    pub max_tokens: u32,
    /// Numbers in a vector.
    pub embedding_dim: u32,
    /// Time per passage in proportion to the default model.
    pub cost: Option<f64>,
    /// Score of its vectors alone, as others published it.
    pub published: Option<&'static PublishedScore>,
    /// nDCG@10 of kb's whole search with it, as kb's own collections gave it.
    pub measured: Option<f64>,
    /// Licence of its weights.
    pub licence: &'static str,
    /// Whether its files are on this machine.
    #[serde(rename = "installed")]
    pub is_installed: bool,
    /// Whether the database is bound to it.
    #[serde(rename = "in_use")]
    pub is_used: bool,
    /// Whether kb was never tried with its real weights.
    #[serde(rename = "untested")]
    pub is_untested: bool,
}

/// Lists the models, without network.
pub fn list(session: &Session) -> Result<Models> {
    let locations = session.locations();
    let bound = session.binding()?.map(|binding| binding.model_name);
    let models = embed::models().map(|spec| ListedModel {
        name: &spec.name,
        hub_id: &spec.hub_id,
        languages: spec.languages,
        download_mb: spec.download_mb,
        max_tokens: spec.max_tokens,
        embedding_dim: spec.dim,
        cost: spec.cost,
        published: spec.published.as_ref(),
        measured: spec.measured,
        licence: &spec.licence,
        is_installed: embed::locate_model(&ModelChoice::Known(spec), &locations).is_ok(),
        is_used: bound.as_deref() == Some(&spec.name),
        is_untested: !spec.is_tested,
    });
    Ok(Models { models: models.collect() })
}
