//! Defines what a server can offer by address, apart from tools.

use serde_json::Value;

use crate::ToolFailure;

/// A text that an agent can read by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A description of its content, if known.
    pub description: Option<String>,
    /// The kind of text.
    pub mime_type: &'static str,
}

/// The content of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceContent {
    /// Text in UTF-8, or other bytes.
    pub bytes: Vec<u8>,
    /// The kind of content.
    pub mime_type: &'static str,
}

/// A skill as the Skills extension describes it (SEP-2640).
#[derive(Debug, Clone, PartialEq)]
pub struct SkillEntry {
    /// The address of its SKILL.md.
    pub uri: String,
    /// Its front matter; an object with all fields.
    pub front_matter: Value,
    /// All its files.
    pub files: Vec<SkillFile>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Its address.
    pub uri: String,
    /// SHA-256 of its bytes in hex.
    pub sha256: String,
    /// Its length.
    pub size_bytes: u64,
}

/// A file or directory in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its address.
    pub uri: String,
    /// Its last name.
    pub name: String,
    /// The kind of a file; `None` for a directory.
    pub mime_type: Option<&'static str>,
}

/// The available resources.
pub trait Resources: Send + Sync {
    /// Returns a page of resources and the cursor of the next page.
    fn list(&self, cursor: Option<&str>) -> Result<(Vec<Resource>, Option<String>), ToolFailure>;

    /// Returns the content at an address; `None` if there is none.
    fn read(&self, uri: &str) -> Result<Option<ResourceContent>, ToolFailure>;

    /// Returns a page of skills and the cursor of the next page.
    fn skills(
        &self,
        cursor: Option<&str>,
    ) -> Result<(Vec<SkillEntry>, Option<String>), ToolFailure>;

    /// Returns the skill whose SKILL.md has this address; `None` if there is none.
    fn skill(&self, uri: &str) -> Result<Option<SkillEntry>, ToolFailure>;

    /// Returns the direct children of a directory; `None` if there is none at the address.
    fn directory(&self, uri: &str) -> Result<Option<Vec<DirectoryEntry>>, ToolFailure>;

    /// Returns the forms of addresses: template, name, description.
    fn templates(&self) -> &[(&str, &str, &str)];
}
