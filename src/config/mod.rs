//! Merges defaults, `config.yaml`, `KB_*` variables and flags, in increasing precedence, into one
//! [`Config`] with figment.
//!
//! Only this module reads the environment. Its types stop at `app::session`, which converts a
//! `Config` into the options of the stages.

mod edit;
mod environment;
mod faults;
mod file;
mod load;
mod origin;
mod settings;
pub mod skillc;
mod values;
mod yaml;

/// Parses a text as a settings file, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz(text: &str) {
    let _ = file::parse_yaml(std::path::Path::new("config.yaml"), text);
}

pub use edit::set;
pub(crate) use edit::{indent_of, is_entry};
pub use environment::{Environment, PROJECT_FOLDER};
pub use load::{Flags, ResolvedConfig, is_own_key, load, load_base, variable_names};
pub use origin::SettingOrigin;
pub use settings::{
    BackupSettings, ChunkDefaults, Chunking, CodeChunking, CodeStrategy, Config, DefaultFormat,
    EmbeddingSettings, FILE_NAME, Freshness, Ingestion, MarkdownChunking, MarkdownStrategy,
    NoteChunking, NoteStrategy, OcrMode, OutputFormat, PdfChunking, PdfStrategy, Reminder,
    SearchSettings, words,
};
pub use values::SettingValue;
