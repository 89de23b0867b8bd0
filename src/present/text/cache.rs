//! Writes the contents of the cache as text.

use std::io;

use crate::app::cache::{self, Cleaned, Contents};
use crate::embed::Recorded;
use crate::present::terminal::sheet::Sheet;
use crate::present::terminal::table::{numbers, texts, words};
use crate::present::text::human::Human;
use crate::text::number::bytes_to_mb;
use crate::text::printable::clean;

impl Human {
    /// Writes the contents of the cache.
    pub fn cache(&self, contents: &Contents, out: &mut Sheet<'_>) -> io::Result<()> {
        let Contents { dir, size_bytes, parts } = contents;
        let rows = parts.iter().map(|part| {
            vec![
                part.kind.as_str().to_owned(),
                clean(&part.name),
                megabytes(part.size_bytes),
                if part.is_used { "in use" } else { "" }.to_owned(),
                match part.recorded {
                    Recorded::Touched => {
                        "changed or touched since kb wrote it; `kb doctor` compares its bytes"
                    }
                    Recorded::Unchanged | Recorded::No => "",
                }
                .to_owned(),
            ]
        });
        if !parts.is_empty() {
            let columns = [words("KIND"), texts("NAME"), numbers("SIZE"), words(""), words("")];
            self.table(&columns, &rows.collect::<Vec<_>>(), out)?;
        }
        let dir = clean(&dir.display().to_string());
        writeln!(out, "{} in {dir}", megabytes(*size_bytes))
    }

    /// Writes the result of cleaning.
    pub fn cleaned(&self, cleaned: &Cleaned, out: &mut Sheet<'_>) -> io::Result<()> {
        let verb = if cleaned.is_dry_run { "would remove" } else { "removed" };
        for part in &cleaned.removed {
            let (kind, name) = (part.kind.as_str(), clean(&part.name));
            writeln!(out, "{verb}: {kind} {name}, {}", megabytes(part.size_bytes))?;
        }
        let freed = megabytes(cleaned.freed_bytes);
        let would = if cleaned.is_dry_run { "Would free" } else { "Freed" };
        writeln!(out, "{would} {freed}, {} left.", megabytes(cache::size_bytes(&cleaned.kept)))
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes_to_mb(bytes))
}
