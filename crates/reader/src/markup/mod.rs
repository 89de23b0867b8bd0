//! Reads text in other markup languages than Markdown, lists of references, boards, and tables of separated values.
//!
//! Each reader writes Markdown: headings, lists, tables and code keep their structure, and what only
//! a program understands (roles, commands, macros) is removed. Every line of the result knows the
//! line of the file it comes from. The readers accept any text: what they do not recognise is prose.

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
    let document = match dialect {
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
    if document.blocks.is_empty() { crate::extract::plain::extract(text) } else { document }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
