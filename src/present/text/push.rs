//! Writes the report of push as text.

use std::io;

use crate::app::push::PushReport;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::number::{counted, thousands};
use crate::text::printable::clean;

impl Human {
    /// Writes the report of `kb push`.
    pub fn pushed(&self, report: &PushReport, out: &mut Sheet<'_>) -> io::Result<()> {
        let removed = match report.num_removed {
            0 => String::new(),
            count => format!(" {} removed.", thousands(count)),
        };
        let as_usize = |number| usize::try_from(number).unwrap_or(usize::MAX);
        writeln!(
            out,
            "Pushed {} of {} to {}, {}.{removed}",
            thousands(report.num_sent),
            counted(as_usize(report.num_documents), "document"),
            clean(&report.target),
            counted(as_usize(report.num_chunks_sent), "chunk"),
        )
    }
}
