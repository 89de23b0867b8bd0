//! Writes matching lines for models.

use std::io;

use crate::app::grep::{Detail, GrepResults};
use crate::present::terminal::sheet::Sheet;
use crate::present::text::compact::search::notes;
use crate::present::text::{grep as text, stale};
use crate::text::number::counted;
use crate::text::printable::{clean, clean_name};

/// Most characters of a line, so that a table or a minified file does not fill the page.
const MAX_CHARS: usize = 240;

/// Writes each document, then its lines with their places. A line never begins with text of a document.
pub fn grep(results: &GrepResults, out: &mut Sheet<'_>) -> io::Result<()> {
    writeln!(out, "{}", text::summary(results))?;
    notes(&results.notes, out)?;
    for found in &results.documents {
        let document = &found.document;
        let mut facts = vec![format!("document {}", document.id)];
        if results.detail != Detail::Name {
            facts.push(counted(found.matched.num_lines, "line"));
        }
        facts.extend(found.stale.map(|stale| stale::mark(stale).to_owned()));
        let path = document.path.as_deref().map(|path| format!(" ({})", clean_name(path)));
        let title = clean(&document.title);
        writeln!(out, "\n**{title}**{}, {}", path.unwrap_or_default(), facts.join(", "))?;
        for line in &found.matched.lines {
            let mark = if line.matches.is_empty() { '-' } else { ':' };
            writeln!(out, "{}{mark} {}", text::place(line), text::clipped(line, MAX_CHARS))?;
        }
    }
    if results.documents.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nread on: kb_show document, page or section; kb_open document, start_line")?;
    stale::advice_of(results).map_or(Ok(()), |advice| writeln!(out, "{advice}"))
}
