//! Defines all settings and their defaults.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::document::Precision;
use crate::text::fields;

/// Name of the file in the data directory.
pub const FILE_NAME: &str = "config.yaml";

/// All settings, with all layers merged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The directory of `kb.db` and the configuration.
    pub data_dir: PathBuf,
    /// The model.
    pub embedding: EmbeddingSettings,
    /// Search and its output.
    pub search: SearchSettings,
    /// How documents are split.
    pub chunking: Chunking,
    /// How files are read.
    pub ingestion: Ingestion,
    /// When a reminder to update is due.
    pub freshness: Reminder,
    /// Copies of the database that kb makes itself.
    pub backup: BackupSettings,
}

/// Settings of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingSettings {
    /// Name in `models.toml`, hub id, or the name of the directory in `model_dir`.
    pub model: String,
    /// Directory with the model's files; if empty, the model is found or fetched.
    pub model_dir: PathBuf,
    /// Precision of passages.
    pub precision: Precision,
    /// Text put before queries; if empty, the prefix of the model.
    pub query_prefix: String,
    /// Text put before passages; if empty, the prefix of the model.
    pub passage_prefix: String,
    /// Numbers of a vector that are kept; 0 keeps all.
    pub dim: u32,
    /// Whether the vectors of tokens are kept and compared.
    pub token_vectors: bool,
}

/// Settings of search and its output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchSettings {
    /// How many hits are returned without `--top`.
    pub default_top: u32,
    /// The output format without `--format`.
    pub default_format: DefaultFormat,
    /// The fusion constant.
    pub rrf_k: f64,
    /// Half-life in days of the boost that new documents get in a search; 0 disables it.
    pub half_life_days: u32,
    /// The treatment of hits whose files have changed.
    pub freshness: Freshness,
    /// Time in milliseconds for reading changed files again.
    pub refresh_ms: u32,
    /// A program that orders the first results, with its arguments; none if it is empty.
    pub rerank_command: String,
    /// Time in milliseconds that it may take.
    pub rerank_ms: u32,
}

/// The words of `search.freshness`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Freshness {
    /// Hits whose files have changed or are missing are marked.
    Mark,
    /// Changed files are read again, and the search is repeated.
    Refresh,
    /// Files are not looked at.
    Off,
}

/// The words of `search.default_format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultFormat {
    /// JSON for programs.
    Json,
    /// Text for people.
    Human,
    /// Text for people on a terminal, else JSON.
    Auto,
}

impl DefaultFormat {
    /// Returns the format of output that goes to a terminal or elsewhere.
    pub fn format(self, is_terminal: bool) -> OutputFormat {
        match self {
            Self::Human => OutputFormat::Human,
            Self::Auto if is_terminal => OutputFormat::Human,
            Self::Json | Self::Auto => OutputFormat::Json,
        }
    }
}

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// JSON for programs; its fields are a contract.
    Json,
    /// Text for people.
    Human,
}

/// How documents are split, by type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunking {
    /// For chunks of fixed size, unless the type has other settings.
    pub defaults: ChunkDefaults,
    /// PDF.
    pub pdf: PdfChunking,
    /// Markdown and plain text.
    pub markdown: MarkdownChunking,
    /// Source code.
    pub code: CodeChunking,
    /// Notes.
    pub note: NoteChunking,
}

/// Chunks of fixed size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChunkDefaults {
    /// Longest chunk in tokens; the model's limit also applies.
    pub max_tokens: u32,
    /// Tokens that adjacent chunks of fixed size share.
    pub overlap_tokens: u32,
}

/// PDF chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PdfChunking {
    /// Along sections and paragraphs, or of fixed size.
    pub strategy: PdfStrategy,
    /// Longest chunk in tokens; the model's limit also applies.
    pub max_tokens: u32,
}

/// The words of `chunking.pdf.strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PdfStrategy {
    /// Along sections and paragraphs.
    Hierarchy,
    /// Windows of fixed size.
    Fixed,
}

/// Markdown chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarkdownChunking {
    /// Along headings, or of fixed size.
    pub strategy: MarkdownStrategy,
    /// Smaller sections are merged with a neighbour.
    pub min_tokens: u32,
    /// Longest chunk in tokens; the model's limit also applies.
    pub max_tokens: u32,
}

/// The words of `chunking.markdown.strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarkdownStrategy {
    /// Along headings.
    Header,
    /// Windows of fixed size.
    Fixed,
}

/// Code chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodeChunking {
    /// Along definitions, or of fixed size.
    pub strategy: CodeStrategy,
    /// Whether the context of a method includes its class and the class's docstring.
    pub include_context: bool,
    /// Longest chunk in tokens; the model's limit also applies.
    pub max_tokens: u32,
}

/// The words of `chunking.code.strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CodeStrategy {
    /// Along definitions.
    Ast,
    /// Windows of fixed size.
    Fixed,
}

/// Note chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoteChunking {
    /// There is only one strategy.
    pub strategy: NoteStrategy,
}

/// The words of `chunking.note.strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoteStrategy {
    /// One chunk, if the model can read the whole note.
    Whole,
}

/// When a reminder to update is due.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reminder {
    /// Days after which a search on a terminal reports how old the last update is; 0 for never.
    pub days: u32,
}

/// Copies of the database that kb makes itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackupSettings {
    /// How many copies made before a migration or `kb reindex` are kept; 0 makes none.
    pub keep: u32,
}

/// How files are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ingestion {
    /// Threads that read, extract and chunk.
    pub workers: u32,
    /// Documents in one batch; each is still committed separately.
    pub batch_size: u32,
    /// Which pages are read by OCR.
    pub enable_ocr: OcrMode,
    /// Languages of OCR, as Tesseract names them, joined by `+`.
    pub ocr_languages: String,
    /// Whether the short results in a notebook are read.
    pub notebook_outputs: bool,
    /// Whether tags in the text of Markdown and notes are tags of the document.
    pub inline_tags: bool,
    /// Whether everything is read that a document shows, menus and running heads too.
    pub keep_all: bool,
    /// Whether comments and notes of people on documents are read.
    pub comments: bool,
    /// Files larger than this many megabytes are left out.
    pub max_file_mb: u32,
    /// Processor time in seconds for reading, splitting and embedding one document.
    pub max_cpu_seconds: u32,
    /// Whether symbolic links below a folder are followed.
    pub follow_links: bool,
    /// Whether folders and files that programs generated are also read.
    pub include_ignored: bool,
    /// Further extensions of plain text, separated as [`words`](crate::config::words) reads them.
    #[serde(deserialize_with = "as_words")]
    pub text_extensions: String,
}

fields::words! {
    /// The words of `ingestion.enable_ocr`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum OcrMode {
        /// Pages without text.
        Auto = "auto",
        /// Every page.
        Always = "always",
        /// No page.
        Never = "never",
    }
}

/// Reads a list of words: a YAML list, or one text with commas, as a variable or `kb config set` has it. The value is
/// the text.
fn as_words<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    from.deserialize_any(WordListVisitor)
}

struct WordListVisitor;

impl<'de> Visitor<'de> for WordListVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of words")
    }

    fn visit_str<E>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<String, A::Error> {
        let mut words: Vec<String> = Vec::new();
        while let Some(word) = items.next_element()? {
            words.push(word);
        }
        Ok(words.join(", "))
    }
}

/// Returns the words of the text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ']).filter(|word| !word.is_empty())
}

impl Config {
    /// Returns the built-in defaults for a home directory.
    pub fn defaults(home: &Path) -> Self {
        Self {
            data_dir: home.join(".kb"),
            embedding: EmbeddingSettings {
                model: "all-MiniLM-L6-v2".into(),
                model_dir: PathBuf::new(),
                precision: Precision::Int8,
                query_prefix: String::new(),
                passage_prefix: String::new(),
                dim: 0,
                token_vectors: true,
            },
            search: SearchSettings {
                default_top: 10,
                default_format: DefaultFormat::Json,
                rrf_k: 60.0,
                half_life_days: 0,
                freshness: Freshness::Mark,
                refresh_ms: 300,
                rerank_command: String::new(),
                rerank_ms: 10_000,
            },
            chunking: Chunking {
                defaults: ChunkDefaults { max_tokens: 512, overlap_tokens: 50 },
                pdf: PdfChunking { strategy: PdfStrategy::Hierarchy, max_tokens: 1024 },
                markdown: MarkdownChunking {
                    strategy: MarkdownStrategy::Header,
                    min_tokens: 50,
                    max_tokens: 1024,
                },
                code: CodeChunking {
                    strategy: CodeStrategy::Ast,
                    include_context: true,
                    max_tokens: 1024,
                },
                note: NoteChunking { strategy: NoteStrategy::Whole },
            },
            ingestion: Ingestion {
                workers: 4,
                batch_size: 50,
                enable_ocr: OcrMode::Auto,
                ocr_languages: "eng".into(),
                notebook_outputs: true,
                inline_tags: false,
                keep_all: false,
                comments: true,
                max_file_mb: 100,
                max_cpu_seconds: 600,
                follow_links: false,
                include_ignored: false,
                text_extensions: String::new(),
            },
            freshness: Reminder { days: 30 },
            backup: BackupSettings { keep: 1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use figment::Figment;
    use figment::providers::Serialized;
    use serde::Deserialize;

    use super::words;

    #[derive(Deserialize)]
    struct Settings {
        #[serde(deserialize_with = "super::as_words")]
        list: String,
    }

    #[test]
    fn a_list_is_a_text() {
        let read = |value: figment::value::Value| {
            let figment = Figment::from(Serialized::default("list", value));
            figment.extract::<Settings>().map(|settings| settings.list).ok()
        };
        assert_eq!(read(vec!["conf", "ini"].into()).as_deref(), Some("conf, ini"));
        assert_eq!(read("conf,ini".into()).as_deref(), Some("conf,ini"));
        assert_eq!(read(7.into()), None);
        for text in ["conf,ini", " conf, ini ", "conf ini"] {
            assert!(words(text).eq(["conf", "ini"]), "{text}");
        }
        assert_eq!(words("").count(), 0);
    }
}
