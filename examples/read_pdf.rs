//! Prints how kb reads PDF files, one line of JSON per file; `tests/quality/pdf` measures with it.
//!
//! `cargo run --release --example read_pdf -- KB [--reader NAME]... [--without-outline] FILE...`.
//! KB is the program `kb`, which is started to read the files.

#![expect(clippy::print_stdout, reason = "an example is a program of its own")]

use std::path::Path;
use std::time::Instant;

use kb_base::document::{Block, BlockKind, Document};
use kb_base::error::{Error, Result};
use kb_base::files::open::{self, SymlinkPolicy};
use kb_extract::pdf;
use kb_extract::sandbox::ReadOptions;
use serde_json::{Value, json};

fn main() {
    let mut args = std::env::args().skip(1);
    let mut options = ReadOptions::new(args.next().expect("the path of kb").into());
    let (known, mut chosen) = (options.readers.clone(), Vec::new());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--without-outline" => options.uses_outline = false,
            "--reader" => {
                let name = args.next().expect("a name after --reader");
                chosen.extend(known.iter().filter(|reader| **reader == name));
                options.readers.clone_from(&chosen);
            }
            path => println!("{}", describe(Path::new(path), &options)),
        }
    }
}

fn describe(path: &Path, options: &ReadOptions) -> Value {
    let started = Instant::now();
    let outcome = read(path, options);
    let seconds = started.elapsed().as_secs_f64();
    let (document, error) = match outcome {
        Ok(document) => (document, None),
        Err(error) => (Document::default(), Some(error)),
    };
    json!({
        "path": path,
        "seconds": seconds,
        "code": error.as_ref().map(Error::code),
        "message": error.as_ref().map(ToString::to_string),
        "title": document.title,
        "author": document.metadata.author,
        "created": document.metadata.created,
        "language": document.metadata.language,
        "page_count": document.metadata.page_count,
        "warnings": document.metadata.warnings,
        "blocks": document.blocks.iter().map(|block| shown(block, &document)).collect::<Vec<_>>(),
    })
}

fn read(path: &Path, options: &ReadOptions) -> Result<Document> {
    Ok(pdf::extract(&open::read(path, SymlinkPolicy::Follow, u64::MAX)?, options)?.document)
}

fn shown(block: &Block, document: &Document) -> Value {
    let kind = match block.kind {
        BlockKind::Heading => "heading",
        BlockKind::Paragraph => "paragraph",
        BlockKind::ListItem => "list_item",
        BlockKind::Table => "table",
        BlockKind::Code => "code",
    };
    json!({
        "kind": kind,
        "page": block.page,
        "headings": block.headings,
        "text": document.text.get(block.bytes.clone()).unwrap_or_default(),
    })
}
