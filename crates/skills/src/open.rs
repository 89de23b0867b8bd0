//! Reads a file of a skill.

use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::place::Skill;
use crate::text::headings;
use crate::{path, skill_files};

/// Which file to read, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillOpenOptions {
    /// Below the skill's directory.
    pub path: String,
    /// Largest number of lines to return; all if `None`.
    pub max_lines: Option<u32>,
}

/// A file, or the start of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedFile {
    /// As typed.
    pub file: String,
    /// As they are in the file.
    pub bytes: Vec<u8>,
    /// Lines that were cut off.
    pub num_cut: usize,
}

/// Reads a file of any kind.
pub(super) fn open(skill: &Skill, options: &SkillOpenOptions) -> Result<OpenedFile> {
    let place = path::locate(&skill.dir, &options.path)?
        // Reading a pipe would block for ever.
        .filter(|path| path.is_file())
        .ok_or_else(|| Diagnostic::FileNotFound(options.path.clone()))?;
    let mut bytes = skill_files::read_within(&skill.dir, &place)?;
    let (end, num_cut) = cut(&bytes, options.max_lines);
    bytes.truncate(end);
    Ok(OpenedFile { file: options.path.clone(), bytes, num_cut })
}

/// Returns where the first `max_lines` lines end, or all lines if it is `None`, and how many lines follow.
pub(super) fn cut(bytes: &[u8], max_lines: Option<u32>) -> (usize, usize) {
    let starts = headings::line_starts(bytes);
    let num_kept = max_lines.map_or(starts.len(), |max_lines| max_lines as usize);
    match starts.get(num_kept) {
        Some(end) => (*end, starts.len() - num_kept),
        None => (bytes.len(), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_up_to_the_limit_are_kept_and_the_rest_is_counted() {
        for (text, max_lines, expected) in [
            ("a\nb\nc\n", Some(2), (4, 1)),
            ("a\nb\nc", Some(2), (4, 1)),
            ("a\r\nb\r\nc", Some(1), (3, 2)),
            ("a\nb", Some(2), (3, 0)),
            ("a\nb\n", Some(9), (4, 0)),
            ("a\nb\n", Some(0), (0, 2)),
            ("a\nb\n", None, (4, 0)),
            ("", Some(0), (0, 0)),
        ] {
            assert_eq!(cut(text.as_bytes(), max_lines), expected, "{text:?}, {max_lines:?}");
        }
    }
}
