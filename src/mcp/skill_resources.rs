//! Serves skills as resources, by the MCP Skills extension (SEP-2640): `skill://NAME/PATH`.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::app::agents::skills::{SkillAnswer, SkillRequest};
use crate::error::Result;
use crate::mcp::service::{Service, failure};
use crate::server::{
    DirectoryEntry, Resource, ResourceContent, SkillEntry, SkillFile, ToolFailure,
};
use crate::skill::list::{ListOptions, ListedSkill};
use crate::skill::open::SkillOpenOptions;
use crate::skill::place::SKILL_FILE;
use crate::skill::registry::FoundSkill;
use crate::skill::served;

/// The scheme of the addresses of skills.
pub(super) const SKILL_URI: &str = "skill://";

/// The characters that are escaped in an address: all but the unreserved characters of RFC 3986 and the separator of
/// paths.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

const MARKDOWN: &str = "text/markdown";

impl Service {
    /// Loads the registry of skills and returns them.
    pub(super) fn list_skills(&self) -> Result<Vec<ListedSkill>> {
        let request = SkillRequest::List(ListOptions::default());
        match self.skill(&request, &*self.observer)? {
            SkillAnswer::List(listed) => Ok(listed.skills),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the skills that can be served.
    fn served_skills(&self) -> Result<Vec<FoundSkill>, ToolFailure> {
        let skills = self.list_skills().map_err(|error| failure(&error))?;
        let found = skills.into_iter().map(|listed| listed.found);
        Ok(found.filter(is_servable).collect())
    }

    /// Returns the SKILL.md of each skill.
    pub(super) fn skill_files(&self) -> Result<Vec<Resource>, ToolFailure> {
        let resources = self.served_skills()?.into_iter().map(|skill| Resource {
            uri: address(&skill.row.name, SKILL_FILE),
            name: skill.row.name,
            description: Some(skill.row.description),
            mime_type: MARKDOWN,
        });
        Ok(resources.collect())
    }

    pub(super) fn skill_entries(&self) -> Result<Vec<SkillEntry>, ToolFailure> {
        let entries = self.served_skills()?.into_iter();
        Ok(entries.filter_map(|skill| entry(&skill).ok().flatten()).collect())
    }

    /// Describes the skill whose SKILL.md has an address; `None` if there is none.
    pub(super) fn skill_entry(&self, uri: &str) -> Result<Option<SkillEntry>, ToolFailure> {
        match self.located(uri)? {
            Some((skill, path)) if path == SKILL_FILE => {
                entry(&skill).map_err(|error| failure(&error))
            }
            _ => Ok(None),
        }
    }

    /// Lists a directory of a skill; `None` if there is none at the address.
    pub(super) fn skill_directory(
        &self,
        uri: &str,
    ) -> Result<Option<Vec<DirectoryEntry>>, ToolFailure> {
        let Some((skill, path)) = self.located(uri)? else { return Ok(None) };
        let found = served::directory(&skill, &path).map_err(|error| failure(&error))?;
        let Some(found) = found else { return Ok(None) };
        let entries = found.into_iter().map(|(path, is_directory)| DirectoryEntry {
            uri: address(&skill.row.name, &path),
            name: path.rsplit('/').next().unwrap_or_default().to_owned(),
            mime_type: (!is_directory).then(|| mime_type(&path)),
        });
        Ok(Some(entries.collect()))
    }

    /// Reads a file of a skill; `None` if there is none at the address.
    pub(super) fn skill_file(&self, uri: &str) -> Result<Option<ResourceContent>, ToolFailure> {
        let Some((skill, path)) = self.located(uri)? else { return Ok(None) };
        if !served::has_file(&skill, &path).map_err(|error| failure(&error))? {
            return Ok(None);
        }
        let mime_type = mime_type(&path);
        let dir = skill.skill.skill_path();
        let request = SkillRequest::Open(dir, SkillOpenOptions { path, max_lines: None });
        match self.skill(&request, &*self.observer) {
            Ok(SkillAnswer::Open(opened)) => {
                Ok(Some(ResourceContent { bytes: opened.bytes, mime_type }))
            }
            Ok(_) => Ok(None),
            Err(error) => Err(failure(&error)),
        }
    }

    /// Returns the skill that an address is in, and the path below it.
    fn located(&self, uri: &str) -> Result<Option<(FoundSkill, String)>, ToolFailure> {
        let Some(rest) = uri.strip_prefix(SKILL_URI) else { return Ok(None) };
        let decoded = percent_decode_str(rest).decode_utf8();
        let Ok(decoded) = decoded else { return Ok(None) };
        let (name, path) = decoded.split_once('/').unwrap_or((&decoded, ""));
        let skills = self.list_skills().map_err(|error| failure(&error))?;
        let found = skills.into_iter().map(|listed| listed.found);
        let mut named = found.filter(|skill| skill.row.name == name && is_servable(skill));
        Ok(named.next().map(|skill| (skill, path.to_owned())))
    }
}

/// Whether a skill can be served. One that cannot be read must not hide the others.
fn is_servable(skill: &FoundSkill) -> bool {
    served::is_servable(skill).unwrap_or(false)
}

fn entry(skill: &FoundSkill) -> Result<Option<SkillEntry>> {
    let Some(files) = served::describe(skill)? else { return Ok(None) };
    let name = &skill.row.name;
    let files = files.into_iter().map(|file| SkillFile {
        uri: address(name, &file.path),
        sha256: file.sha256,
        size_bytes: file.size_bytes,
    });
    Ok(Some(SkillEntry {
        uri: address(name, SKILL_FILE),
        files: files.collect(),
        // This program made the JSON from the front matter, so parsing does not fail.
        front_matter: serde_json::from_str(&skill.row.frontmatter_json).unwrap_or_default(),
    }))
}

/// Returns the address of a file or directory of a skill.
fn address(name: &str, path: &str) -> String {
    let mut uri = format!("{SKILL_URI}{name}");
    if !path.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(uri, "/{}", utf8_percent_encode(path, ESCAPED));
    }
    uri
}

/// Returns the kind of a file by its name.
fn mime_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("md" | "markdown") => MARKDOWN,
        Some("json") => "application/json",
        Some("html" | "htm") => "text/html",
        Some("csv") => "text/csv",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("svg") => "image/svg+xml",
        Some("pdf") => "application/pdf",
        Some("zip") => "application/zip",
        _ => "text/plain",
    }
}
