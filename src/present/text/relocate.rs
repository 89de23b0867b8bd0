//! Writes the report of relocate as text.

use std::io;

use crate::app::relocate::Relocated;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::number::{counted, thousands};
use crate::text::printable::clean;

/// How many files of each kind are listed.
const MAX_LISTED: usize = 20;

impl Human {
    /// Writes the report of `kb relocate`.
    pub fn relocated(&self, relocated: &Relocated, out: &mut Sheet<'_>) -> io::Result<()> {
        let Relocated { from, to, changed, missing, .. } = relocated;
        for (what, paths) in [("changed", changed), ("missing", missing)] {
            for path in paths.iter().take(MAX_LISTED) {
                self.labelled(&format!("{what}: {}", clean(path)), out)?;
            }
            if let Some(more @ 1..) = paths.len().checked_sub(MAX_LISTED) {
                writeln!(out, "{what}: {} more", thousands(more as u64))?;
            }
        }
        let verb = if relocated.is_dry_run { "Would relocate" } else { "Relocated" };
        self.labelled(
            &format!(
                "{verb} {} from {} to {}: {} unchanged, {} changed, {} missing.",
                counted(relocated.num_files, "file"),
                clean(&from.display().to_string()),
                clean(&to.display().to_string()),
                thousands(relocated.num_matching as u64),
                thousands(changed.len() as u64),
                thousands(missing.len() as u64),
            ),
            out,
        )?;
        if changed.len() + missing.len() > 0 && !relocated.is_dry_run {
            self.labelled("`kb update` reads changed files and reports missing ones.", out)?;
        }
        Ok(())
    }
}
