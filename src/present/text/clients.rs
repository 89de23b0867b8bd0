//! Writes changes of the settings of agents' programs for people.

use std::io;

use crate::app::clients::{Action, Plan};
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::paths::path_text;
use crate::text::printable::clean;

impl Human {
    /// Writes what will change, with a sign before each line that goes or comes.
    pub fn client_plan(&self, plan: &Plan, out: &mut Sheet<'_>) -> io::Result<()> {
        writeln!(out, "{}, under `{}`:", clean(&path_text(&plan.path)), plan.key)?;
        for (sign, entry) in [('-', &plan.before), ('+', &plan.after)] {
            for line in entry.iter().flat_map(|entry| entry.lines()) {
                let text = line.trim_start();
                let indent = " ".repeat(line.len() - text.len());
                writeln!(out, "{sign} {indent}{}", clean(text))?;
            }
        }
        Ok(())
    }

    /// Writes what was changed.
    pub fn client_changed(&self, plan: &Plan, out: &mut Sheet<'_>) -> io::Result<()> {
        let (title, path) = (plan.client.title, clean(&path_text(&plan.path)));
        match plan.action {
            Action::Added | Action::Updated => {
                writeln!(
                    out,
                    "{title} starts kb from now on ({path}). Restart it if it is running."
                )
            }
            Action::Removed => writeln!(out, "Removed kb from {path}."),
            Action::Unchanged => writeln!(out, "{title} starts kb already ({path})."),
            Action::Absent => writeln!(out, "There is no kb in {path}."),
        }
    }
}
