//! Writes converted documents as Markdown, and the summary of `kb convert`.

use crate::app::convert::{ConvertReport, ConvertedDocument, LinesReport};
use crate::document::{Format, Headed, embedded_reference};
use crate::read::markdown;
use crate::text::number::{counted, thousands};
use crate::text::paths::{path_text, split_member};

/// Returns a converted document as Markdown. Files embedded in it follow the lines that refer to them, or are at its
/// end.
pub fn document(converted: &ConvertedDocument, has_page_marks: bool) -> String {
    let ConvertedDocument { document, format, levels, members, .. } = converted;
    let mut text = markdown::markdown(document, *format, *levels, has_page_marks);
    if let (Format::Headed(Headed::Eml | Headed::Msg), Some(subject)) = (format, &document.title) {
        // The subject of a message is in no block, so it is put in front as a heading.
        text.insert_str(0, &format!("# {subject}\n\n"));
    }
    for member in members {
        let path = member.path.as_deref().map(path_text).unwrap_or_default();
        let line = embedded_reference(split_member(&path).1.unwrap_or_default());
        let inner = self::document(member, has_page_marks);
        let at = text.find(&format!("{line}\n")).map(|start| start + line.len() + 1);
        match at {
            Some(at) => text.insert_str(at, &format!("\n{inner}")),
            None => text.push_str(&format!("\n{line}\n\n{inner}")),
        }
    }
    text
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
