//! Reads and writes what a copy says about itself.

use std::collections::HashMap;

use tokio_postgres::GenericClient;

use super::RemoteLink;
use crate::document::{Binding, ModelFiles};
use crate::error::Result;

/// Version of the tables; the next push makes those of another one again.
pub(super) const FORMAT: &str = "3";

/// The one before, which is searched by its own rules: without other forms of words, words near those of a query, and tags.
const OLDER_FORMAT: &str = "2";

/// A copy in a later schema of the search path is another one.
const HAS_TABLE: &str = "SELECT to_regclass(format('%I.kb_state', current_schema())) IS NOT NULL";

const READ: &str = "SELECT key, value FROM kb_state";

const SET: &str = "
    INSERT INTO kb_state (key, value) VALUES ($1, $2)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";

/// Longest value in bytes. Another program may have written the table, and these values are shown.
const MAX_VALUE_BYTES: usize = 256;

/// Most numbers in a vector of pgvector.
pub(super) const MAX_DIM: u32 = 16_000;

/// Digits of a SHA-256.
const SHA256_DIGITS: usize = 64;

/// Most tokens that a model reads.
const MAX_TOKENS: u32 = 1_000_000;

/// The state of a copy, as it is stored there.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CopyState {
    /// Whether it has these tables, in this version or the one before.
    pub(super) is_known: bool,
    /// Whether they are in the version before.
    pub(super) is_older: bool,
    /// The id of the database that was pushed; empty if there are no tables of any version.
    pub(super) base_id: String,
    /// The settings of its vectors; `None` if nothing was embedded.
    pub(super) binding: Option<Binding>,
    pub(super) cosine_floor: f64,
    /// Whether the last push has ended.
    pub(super) is_complete: bool,
}

impl CopyState {
    /// Reads the state; that of nothing if there are no tables.
    pub(super) fn read(link: &mut RemoteLink) -> Result<Self> {
        let has_table: bool = link
            .run(async |client| client.query_typed(HAS_TABLE, &[]).await)?
            .iter()
            .any(|row| row.get(0));
        if !has_table {
            return Ok(Self::default());
        }
        let mut values: HashMap<String, String> = link.run(async |client| {
            let rows = client.query_typed(READ, &[]).await?;
            rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
        })?;
        if values.is_empty() {
            return Ok(Self::default());
        }
        let mut take = |key: &str| values.remove(key).unwrap_or_default();
        let base_id = take("base_id");
        let format = take("format");
        // Only the id is read of unknown tables, so that the message can say whose they are.
        if ![FORMAT, OLDER_FORMAT].contains(&format.as_str()) {
            return Ok(Self { base_id, ..Self::default() });
        }
        let (name, dim) = (take("model_name"), take("embedding_dim").parse::<u32>().ok());
        let state = Self {
            is_known: true,
            is_older: format == OLDER_FORMAT,
            base_id,
            binding: (|| {
                Some(Binding {
                    model_name: Some(name).filter(|name| !name.is_empty())?,
                    dim: dim.filter(|dim| (1..=MAX_DIM).contains(dim))?,
                    max_tokens: take("max_tokens")
                        .parse()
                        .ok()
                        .filter(|count| (1..=MAX_TOKENS).contains(count))?,
                    precision: take("precision").parse().ok()?,
                    passage_prefix: take("passage_prefix"),
                    files: ModelFiles {
                        revision: None,
                        sha256: Some(take("weights_sha256"))
                            .filter(|sha256| sha256.len() == SHA256_DIGITS),
                    },
                })
            })(),
            cosine_floor: take("cosine_floor")
                .parse()
                .ok()
                .filter(|floor| (0.0..1.0).contains(floor))
                .unwrap_or(0.0),
            is_complete: take("is_complete") == "true",
        };
        let is_short = state.binding.as_ref().is_none_or(|binding| {
            binding.model_name.len() <= MAX_VALUE_BYTES
                && binding.passage_prefix.len() <= MAX_VALUE_BYTES
        });
        if !is_short {
            return Err(link.refuse("its settings were not written by kb", "push it again"));
        }
        Ok(state)
    }

    pub(super) async fn write(
        &self,
        client: &impl GenericClient,
    ) -> std::result::Result<(), tokio_postgres::Error> {
        let mut values = vec![
            ("format", FORMAT.to_owned()),
            ("base_id", self.base_id.clone()),
            ("cosine_floor", self.cosine_floor.to_string()),
            ("is_complete", self.is_complete.to_string()),
        ];
        if let Some(binding) = &self.binding {
            values.extend([
                ("model_name", binding.model_name.clone()),
                ("embedding_dim", binding.dim.to_string()),
                ("max_tokens", binding.max_tokens.to_string()),
                ("precision", binding.precision.to_string()),
                ("passage_prefix", binding.passage_prefix.clone()),
                ("weights_sha256", binding.files.sha256.clone().unwrap_or_default()),
            ]);
        }
        for (key, value) in values {
            client.execute(SET, &[&key, &value]).await?;
        }
        Ok(())
    }
}
