//! Reads text in other markup languages than Markdown, lists of references, boards, and tables of separated values.
//!
//! Each reader writes Markdown: headings, lists, tables and code keep their structure, and what only
//! a program understands (roles, commands, macros) is removed. Every line of the result knows the
//! line of the file it comes from. The readers accept any text: constructs that they do not recognise are prose.

mod asciidoc;
mod canvas;
mod csv;
mod inline;
mod latex;
mod man;
mod marks;
mod org;
mod pod;
mod references;
mod rst;
mod subtitles;
mod textile;
mod typst;
mod writer;

use crate::document::{Dialect, Document};

/// Reads a text in a markup language.
pub(super) fn extract(text: &str, dialect: Dialect) -> Document {
    let mut document = match dialect {
        Dialect::Rst => rst::extract(text),
        Dialect::AsciiDoc => asciidoc::extract(text),
        Dialect::Org => org::extract(text),
        Dialect::Latex => latex::extract(text),
        Dialect::Typst => typst::extract(text),
        Dialect::Textile => textile::extract(text),
        Dialect::Pod => pod::extract(text),
        Dialect::Man => man::extract(text),
        Dialect::Subtitles => subtitles::extract(text),
        Dialect::Bibtex => references::bibtex::extract(text),
        Dialect::Ris => references::ris::extract(text),
        Dialect::Canvas => canvas::extract(text),
        Dialect::Csv => csv::extract(text, b','),
        Dialect::Tsv => csv::extract(text, b'\t'),
    };
    if document.blocks.is_empty() {
        return crate::extract::plain::extract(text);
    }
    let num_lines = text.lines().count().max(1);
    let last_line = document.line_numbers.last().and_then(|last| usize::try_from(*last).ok());
    if !document.line_numbers.is_sorted() || last_line.is_some_and(|last| last > num_lines) {
        // The fields of a reference and the arguments of a command may be written in another order than they have in
        // the file, or end behind it; then no line of the text can be cited.
        document.line_numbers.clear();
        document.has_lines = false;
    }
    document
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
