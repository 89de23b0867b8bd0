//! Writes matching lines for models.

use std::io;

use crate::app::query::grep::GrepDetail;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::compact::search::notes;
use crate::present::text::grep_part::GrepPart;
use crate::present::text::{grep as text, stale};
use crate::text::number::counted;
use crate::text::paths::shown_text;
use crate::text::printable::clean;

/// The program through which an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerInterface {
    /// Commands.
    Cli,
    /// Tools.
    Mcp,
}

/// Most characters of a line, so that a table or a minified file does not fill the page.
const MAX_CHARS: usize = 240;

/// Writes each document, then its lines with their places, and what is left out. A line never begins with text of a
/// document.
pub fn grep(
    part: &GrepPart<'_>,
    interface: AnswerInterface,
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    let results = part.results;
    let summary = text::summary(results);
    if part.is_void() {
        return writeln!(out, "{summary}; none fits: raise budget");
    }
    writeln!(out, "{summary}")?;
    notes(&results.notes, out)?;
    for (found, lines) in &part.documents {
        let document = &found.document;
        let mut facts = vec![format!("document {}", document.id)];
        if results.detail != GrepDetail::Name {
            facts.push(counted(found.matched.num_lines, "line"));
        }
        facts.extend(found.stale.map(|stale| stale::mark(stale).to_owned()));
        let path = document.path.as_deref().map(|path| format!(" ({})", shown_text(path)));
        let title = clean(&document.title);
        writeln!(out, "\n**{title}**{}, {}", path.unwrap_or_default(), facts.join(", "))?;
        for line in *lines {
            let mark = if line.matches.is_empty() { '-' } else { ':' };
            writeln!(out, "{}{mark} {}", text::exact_place(line), text::clipped(line, MAX_CHARS))?;
        }
    }
    if results.documents.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    if let (Some(rest), Some(next)) = (part.rest(), part.next) {
        match interface {
            AnswerInterface::Cli => {
                writeln!(out, "{rest}: narrow with --path or --type, or raise --budget")?;
            }
            AnswerInterface::Mcp => writeln!(
                out,
                "{rest}: narrow with path or type, or raise budget; the same call with cursor {next} continues"
            )?,
        }
    }
    let read_on = match interface {
        AnswerInterface::Cli => "kb show ID --page or --section; kb open ID --lines",
        AnswerInterface::Mcp => "kb_show document, page or section; kb_open document, start_line",
    };
    writeln!(out, "read on: {read_on}")?;
    stale::advice_of(results).map_or(Ok(()), |advice| writeln!(out, "{advice}"))
}
