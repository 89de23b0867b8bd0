//! Extracts the prose, the code and the short results of a Jupyter notebook.
//!
//! nbformat 4: cells in order, each with its kind, its source and its results.

mod outputs;

use std::cell::Cell as Counter;

use serde::Deserialize;
use serde_json::Value;

use crate::document::{Document, Words};
use crate::error::{Error, Failure, Result};
use crate::extract::markdown;
use crate::text::markdown::fenced;
pub(super) use outputs::ReadPage;

/// Most results in HTML that are read: each is read in the child process.
const MAX_PAGES: usize = 200;

/// Longest name of a language.
const MAX_LANGUAGE_BYTES: usize = 40;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
    #[serde(default)]
    metadata: Metadata,
}

/// Nothing else of it is parsed: the state of its widgets may be long, or invalid.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    language_info: Value,
    kernelspec: Value,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    source: Value,
    #[serde(default)]
    outputs: Value,
}

/// Reads a notebook; its results only with a function for those that are web pages.
pub(super) fn extract(text: &str, read_page: Option<&ReadPage<'_>>) -> Result<Document> {
    let notebook: Notebook = serde_json::from_str(text).map_err(|error| Error::Extract {
        failure: Failure::WrongFormat,
        detail: format!("it is not a notebook of format 4: {error}"),
    })?;
    let Metadata { language_info, kernelspec } = &notebook.metadata;
    let language = language_info["name"].as_str().or(kernelspec["language"].as_str());
    let language = language.unwrap_or_default();
    // Each cell of code repeats it.
    let language = if language.len() <= MAX_LANGUAGE_BYTES { language } else { "" };
    let num_pages = Counter::new(0);
    let read_page = read_page.map(|read_page| {
        let num_pages = &num_pages;
        move |html: &str| {
            num_pages.set(num_pages.get() + 1);
            (num_pages.get() <= MAX_PAGES).then(|| read_page(html)).flatten()
        }
    });
    let (mut parts, mut left_out) = (Vec::new(), Words::default());
    for cell in notebook.cells {
        let source = outputs::text(&cell.source);
        match cell.cell_type.as_str() {
            "code" => parts.push(fenced(language, &source)),
            _ => parts.push(source),
        }
        if let (Value::Array(all), Some(read_page)) = (cell.outputs, &read_page) {
            let read = all.iter().map(|output| outputs::markdown(output, read_page, &mut left_out));
            parts.extend(read);
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    // Its lines are not lines of the file.
    let mut document = Document { has_lines: false, ..markdown::extract(&parts.join("\n\n")) };
    document.metadata.words = Some(left_out);
    Ok(document)
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
                Err(Error::Extract { failure: Failure::WrongFormat, .. }) => {}
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
