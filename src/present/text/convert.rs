//! Writes converted documents as Markdown, and the summary of `kb convert`.

use crate::app::convert::{ConvertReport, Converted, LinesReport};
use crate::read::markdown;
use crate::text::number::{counted, thousands};

/// Returns a converted document as Markdown.
pub fn document(converted: &Converted, has_page_marks: bool) -> String {
    let Converted { document, format, levels, .. } = converted;
    markdown::markdown(document, *format, *levels, has_page_marks)
}

/// Returns the summary line of a run that wrote to a folder.
pub fn summary(report: &ConvertReport) -> String {
    counts(report.written.len(), report.failed.len(), report.ignored)
}

/// Returns the summary line of a run that printed lines.
pub fn summary_of_lines(report: &LinesReport) -> String {
    counts(report.num_converted, report.num_failed, report.num_ignored)
}

fn counts(num_converted: usize, num_failed: usize, num_ignored: usize) -> String {
    let mut text = format!(
        "Converted {}. {} failed.",
        counted(num_converted, "document"),
        thousands(num_failed)
    );
    if num_ignored > 0 {
        text += &format!(" {} ignored.", thousands(num_ignored));
    }
    text
}
