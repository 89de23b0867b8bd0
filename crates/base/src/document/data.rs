//! Lists the kinds of text data.

/// The kinds of text that programs write for programs; read as the file has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Data {
    /// JSON, perhaps with comments.
    Json,
    /// One JSON value per line.
    JsonLines,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
    /// XML.
    Xml,
    /// A log.
    Log,
}

impl Data {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Json, Self::JsonLines, Self::Yaml, Self::Toml, Self::Xml, Self::Log];

    /// Returns the word stored as `metadata.format`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonLines => "jsonl",
            Self::Yaml => "yaml",
            Self::Toml => "toml",
            Self::Xml => "xml",
            Self::Log => "log",
        }
    }
}
