//! Defines `--format` of commands whose output is for people by default.

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::config::OutputFormat;

impl ValueEnum for OutputFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Json, Self::Human]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Json => PossibleValue::new("json").help("Programs: the contract"),
            Self::Human => PossibleValue::new("human").help("People"),
        })
    }
}

/// The format of a command whose default is `human`.
#[derive(Debug, Clone, Copy, Args)]
pub(in crate::cli) struct Format {
    /// Output for people (human) or programs (json)
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    #[arg(hide_possible_values = true)]
    pub(in crate::cli) format: OutputFormat,
}
