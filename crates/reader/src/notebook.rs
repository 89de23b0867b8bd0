//! Extracts the prose, the code and the short results of a Jupyter notebook.
//!
//! nbformat 4: cells in order, each with its kind, its source and its results. In nbformat 3, which `IPython` wrote, they
//! are on worksheets, source code is called input, and headings are cells.

mod outputs;

use std::cell::Cell as Counter;

use serde::Deserialize;
use serde_json::Value;

use crate::document::{Document, WordAccount};
use crate::error::{Error, FailureKind, Result};
use crate::extract::markdown;
use crate::text::markdown::fenced;
pub(super) use outputs::PageConverter;

/// Most results in HTML that are read: each needs a separate parser.
const MAX_PAGES: usize = 200;

/// Longest name of a language, in bytes; each fence of a cell repeats it.
const MAX_LANGUAGE_BYTES: usize = 40;

/// A notebook has cells, or worksheets with cells.
#[derive(Deserialize)]
struct Notebook {
    cells: Option<Vec<NotebookCell>>,
    worksheets: Option<Vec<Worksheet>>,
    #[serde(default)]
    metadata: NotebookMetadata,
}

#[derive(Deserialize)]
struct Worksheet {
    #[serde(default)]
    cells: Vec<NotebookCell>,
}

/// Nothing else of it is parsed: the state of its widgets may be long, or invalid.
#[derive(Default, Deserialize)]
#[serde(default)]
struct NotebookMetadata {
    language_info: Value,
    kernelspec: Value,
}

#[derive(Deserialize)]
struct NotebookCell {
    cell_type: String,
    #[serde(alias = "input")]
    source: Value,
    /// The language of source code, in nbformat 3.
    #[serde(default)]
    language: Value,
    /// The level of a heading, in nbformat 3.
    #[serde(default)]
    level: Value,
    #[serde(default)]
    outputs: Value,
}

/// The deepest heading of a notebook, as in Markdown.
const MAX_LEVEL: u64 = 6;

impl NotebookCell {
    /// Returns the source as Markdown; code is in the language of the notebook, unless the cell has one.
    fn markdown(&self, language: &str) -> String {
        let source = outputs::text(&self.source);
        match self.cell_type.as_str() {
            "code" => {
                let own = self.language.as_str().filter(|own| own.len() <= MAX_LANGUAGE_BYTES);
                fenced(
                    if language.is_empty() { own.unwrap_or_default() } else { language },
                    &source,
                )
            }
            "heading" => {
                let level = self.level.as_u64().unwrap_or(1).clamp(1, MAX_LEVEL);
                let marks = "#".repeat(usize::try_from(level).unwrap_or(1));
                format!("{marks} {}", source.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            _ => source,
        }
    }
}

/// Reads a notebook; its results only with a function for those that are web pages.
pub(super) fn extract(text: &str, read_page: Option<&PageConverter<'_>>) -> Result<Document> {
    let Notebook { cells, worksheets, metadata } = serde_json::from_str(text)
        .map_err(|error| wrong_format(format!("it is not a notebook of format 3 or 4: {error}")))?;
    let cells: Vec<NotebookCell> = cells
        .or_else(|| Some(worksheets?.into_iter().flat_map(|worksheet| worksheet.cells).collect()))
        .ok_or_else(|| wrong_format("it is not a notebook: it has no cells".to_owned()))?;
    let NotebookMetadata { language_info, kernelspec } = &metadata;
    let language = language_info["name"].as_str().or(kernelspec["language"].as_str());
    let language = language.unwrap_or_default();
    // Each cell of code repeats the language, so a long one is left out.
    let language = if language.len() <= MAX_LANGUAGE_BYTES { language } else { "" };
    let num_pages = Counter::new(0);
    let read_page = read_page.map(|read_page| {
        let num_pages = &num_pages;
        move |html: &str| {
            num_pages.set(num_pages.get() + 1);
            (num_pages.get() <= MAX_PAGES).then(|| read_page(html)).flatten()
        }
    });
    let (mut parts, mut left_out) = (Vec::new(), WordAccount::default());
    for cell in cells {
        parts.push(cell.markdown(language));
        if let (Value::Array(all), Some(read_page)) = (cell.outputs, &read_page) {
            let read = all.iter().map(|output| outputs::markdown(output, read_page, &mut left_out));
            parts.extend(read);
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    // The lines of this text are not those of the file.
    let mut document = Document { has_lines: false, ..markdown::extract(&parts.join("\n\n")) };
    document.metadata.words = Some(left_out);
    Ok(document)
}

fn wrong_format(detail: String) -> Error {
    Error::Extract { failure: FailureKind::WrongFormat, detail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;

    fn extract_all(text: &str) -> Result<Document> {
        extract(text, Some(&|_| None))
    }

    #[test]
    fn cells_become_prose_and_code() {
        let document = extract_all(
            r##"{"cells": [
                {"cell_type": "markdown", "source": ["# Tides\n", "\n", "How high?"]},
                {"cell_type": "code", "source": "height = 3.2", "outputs": [
                    {"output_type": "stream", "text": ["3.2\n"]}
                ]},
                {"cell_type": "code", "source": [], "outputs": null}
            ], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}"##,
        )
        .unwrap();
        assert_eq!(document.title.as_deref(), Some("Tides"));
        assert_eq!(
            document.text,
            "# Tides\n\nHow high?\n\n```python\nheight = 3.2\n```\n\n```\n3.2\n```"
        );
        assert!(!document.has_lines);
        let kinds: Vec<BlockKind> = document.blocks.iter().map(|block| block.kind).collect();
        assert_eq!(
            kinds,
            [BlockKind::Heading, BlockKind::Paragraph, BlockKind::Code, BlockKind::Code]
        );
    }

    #[test]
    fn a_notebook_of_format_3_is_read() {
        let document = extract_all(
            r#"{"metadata": {"name": "tides"}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [
                {"cell_type": "heading", "level": 2, "source": ["Low\n", "water"]},
                {"cell_type": "markdown", "source": ["How low?"]},
                {"cell_type": "code", "input": ["height()\n", "1"], "language": "python", "prompt_number": 3,
                 "collapsed": false, "outputs": [
                    {"output_type": "pyout", "prompt_number": 3, "text": ["3.2"], "html": ["<b>3.2</b>"]},
                    {"output_type": "stream", "stream": "stdout", "text": ["dry\n"]},
                    {"output_type": "display_data", "png": "iVBOR", "text": ["<Figure size 2x2>"]},
                    {"output_type": "pyerr", "ename": "ValueError", "evalue": "no tide", "traceback": ["a"]}]},
                {"cell_type": "raw", "source": "as it is"}]}, {"cells": [{"cell_type": "markdown", "source": "Second"}]}]}"#,
        )
        .unwrap();
        assert_eq!(
            document.text,
            "## Low water\n\nHow low?\n\n```python\nheight()\n1\n```\n\n```\n3.2\n```\n\n```\ndry\n```\n\n\
             ```\nValueError: no tide\n```\n\nas it is\n\nSecond"
        );
    }

    #[test]
    fn results_are_left_out_on_request_and_pages_are_counted() {
        let page = r#"{"output_type": "display_data", "data": {"text/html": "<table>"}}"#;
        let outputs = vec![page; MAX_PAGES + 5].join(",");
        let text = format!(
            r#"{{"cells": [{{"cell_type": "code", "source": "a", "outputs": [{outputs}]}}]}}"#
        );
        let read = extract(&text, Some(&|_| Some("| t |\n| --- |".to_owned()))).unwrap();
        assert_eq!(read.text.matches("| t |").count(), MAX_PAGES);
        assert_eq!(extract(&text, None).unwrap().text, "```\na\n```");
    }

    #[test]
    fn a_file_that_is_not_a_notebook_is_refused() {
        for text in ["{}", "[1]", "words", "{\"cells\": 3}"] {
            match extract_all(text) {
                Err(Error::Extract { failure: FailureKind::WrongFormat, .. }) => {}
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
