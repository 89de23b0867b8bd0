//! Writes knowledge bases for people.

use std::io;

use crate::app::bases::{BaseChange, Listed};
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::number::counted;
use crate::text::paths::path_text;
use crate::text::printable::clean;

impl Human {
    /// Writes all knowledge bases.
    pub fn bases(&self, bases: &[Listed], out: &mut Sheet<'_>) -> io::Result<()> {
        for base in bases {
            writeln!(out, "{}: {}", base.place, state(base))?;
            if let Some(description) = &base.description {
                writeln!(out, "   {}", clean(description))?;
            }
            writeln!(out, "   {}", clean(&path_text(&base.place.dir)))?;
        }
        Ok(())
    }

    /// Writes what was done with a knowledge base.
    pub fn base_changed(&self, change: &BaseChange, out: &mut Sheet<'_>) -> io::Result<()> {
        let (name, path) = (&change.place.name, clean(&path_text(&change.place.dir)));
        match (change.action, change.follows_files) {
            ("made", _) => writeln!(
                out,
                "Made {name} ({path}). Next, add documents with `kb --base {name} add DIRECTORY`."
            ),
            ("allowed", Some(true)) => {
                writeln!(out, "Allowed {path}; the files that it names are followed.")
            }
            ("allowed", _) => {
                writeln!(out, "Allowed {path}; the files that it names are not followed.")
            }
            ("renamed", _) => writeln!(out, "Renamed; it is {name} now ({path})."),
            ("erased", _) => writeln!(out, "Deleted {name} ({path})."),
            ("removed", _) => writeln!(out, "Removed the name {name}."),
            _ => writeln!(out, "{name}: {path}"),
        }
    }
}

/// Returns a knowledge base in one line: its name, what is in it and what the user says that it holds.
pub(super) fn described_shortly(base: &Listed) -> String {
    let description = base.description.as_deref().map(|text| format!("; {}", clean(text)));
    format!("{}: {}{}", base.place, state(base), description.unwrap_or_default())
}

/// Returns what is in a knowledge base, or why it is not used.
fn state(base: &Listed) -> String {
    match &base.content {
        _ if !base.is_allowed => "not allowed: `kb base allow` makes kb use it".into(),
        None => "empty".into(),
        Some(Err(error)) => clean(&error.to_string()),
        Some(Ok(content)) => {
            let num = usize::try_from(content.num_documents).unwrap_or(usize::MAX);
            let files = if content.follows_files { "" } else { ", files are not followed" };
            format!("{}{files}", counted(num, "document"))
        }
    }
}
