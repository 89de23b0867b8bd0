//! Writes converted documents as Markdown, and the summary of `kb convert`.

use crate::app::convert::{ConvertReport, Converted};
use crate::read::markdown;
use crate::text::number::{counted, thousands};

/// Returns a converted document as Markdown.
pub fn document(converted: &Converted, has_page_marks: bool) -> String {
    let Converted { document, format, levels, .. } = converted;
    markdown::markdown(document, *format, *levels, has_page_marks)
}

/// Returns the summary line of a run that wrote to a folder.
pub fn summary(report: &ConvertReport) -> String {
    let mut text = format!(
        "Converted {}. {} failed.",
        counted(report.written.len(), "document"),
        thousands(report.failed.len() as u64)
    );
    if report.ignored > 0 {
        text += &format!(" {} ignored.", thousands(report.ignored as u64));
    }
    text
}
