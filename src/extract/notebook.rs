//! Extracts the prose and the code of a Jupyter notebook.
//!
//! nbformat 4: cells in order, each with its kind and its source. The output of cells is left out:
//! it is the largest part of a notebook and has the least content.

use serde::Deserialize;

use super::markdown;
use crate::document::Document;
use crate::error::{Error, Failure, Result};
use crate::text::markdown::fenced;

#[derive(Deserialize)]
struct Notebook {
    cells: Vec<Cell>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    language_info: Named,
    kernelspec: Kernel,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Kernel {
    language: Option<String>,
}

#[derive(Deserialize)]
struct Cell {
    cell_type: String,
    source: Source,
}

/// A text, or its lines including line ends.
#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Text(String),
    Lines(Vec<String>),
}

/// Reads a notebook.
///
/// # Errors
///
/// [`Error::Extract`] if it is not a notebook, or one of an older format than 4.
pub(super) fn extract(text: &str) -> Result<Document> {
    let notebook: Notebook = serde_json::from_str(text).map_err(|error| Error::Extract {
        failure: Failure::WrongFormat,
        detail: format!("it is not a notebook of format 4: {error}"),
    })?;
    let Metadata { language_info, kernelspec } = notebook.metadata;
    let language = language_info.name.or(kernelspec.language).unwrap_or_default();
    let cells = notebook.cells.into_iter().map(|cell| {
        let source = match cell.source {
            Source::Text(text) => text,
            Source::Lines(lines) => lines.concat(),
        };
        match cell.cell_type.as_str() {
            "code" => fenced(&language, &source),
            _ => source,
        }
    });
    let cells: Vec<String> = cells.filter(|cell| !cell.trim().is_empty()).collect();
    // Its lines are not lines of the file.
    Ok(Document { has_lines: false, ..markdown::extract(&cells.join("\n\n")) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;

    #[test]
    fn cells_become_prose_and_code() {
        let document = extract(
            r##"{"cells": [
                {"cell_type": "markdown", "source": ["# Tides\n", "\n", "How high?"]},
                {"cell_type": "code", "source": "height = 3.2", "outputs": [{"text": "noise"}]},
                {"cell_type": "code", "source": []}
            ], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}"##,
        )
        .unwrap();
        assert_eq!(document.title.as_deref(), Some("Tides"));
        assert_eq!(document.text, "# Tides\n\nHow high?\n\n```python\nheight = 3.2\n```");
        assert!(!document.has_lines);
        let kinds: Vec<BlockKind> = document.blocks.iter().map(|block| block.kind).collect();
        assert_eq!(kinds, [BlockKind::Heading, BlockKind::Paragraph, BlockKind::Code]);
    }

    #[test]
    fn a_file_that_is_not_a_notebook_is_refused() {
        for text in ["{}", "[1]", "words", "{\"cells\": 3}"] {
            match extract(text) {
                Err(Error::Extract { failure: Failure::WrongFormat, .. }) => {}
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
