//! Writes the report of push as text.

use std::io;

use crate::app::push::PushReport;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::number::thousands;
use crate::text::printable::clean;

impl Human {
    /// Writes the report of `kb push`.
    pub fn pushed(&self, report: &PushReport, out: &mut Sheet<'_>) -> io::Result<()> {
        let removed = match report.num_removed {
            0 => String::new(),
            count => format!(" {} removed.", thousands(count)),
        };
        writeln!(
            out,
            "Pushed {} of {} documents to {}, {} chunks.{removed}",
            thousands(report.num_sent),
            thousands(report.num_documents),
            clean(&report.target),
            thousands(report.num_chunks_sent),
        )
    }
}
