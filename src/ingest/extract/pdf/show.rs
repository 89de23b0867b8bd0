//! Prints what is made of PDF files as lines of JSON, for the scripts that measure it.
//!
//! `kb __read --show [--reader NAME]... [--without-outline] FILE...` is no part of the
//! program's contract.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::extract;
use crate::document::{Block, Document};
use crate::error::{Error, Result};
use crate::files::open;
use crate::files::open::Links;
use crate::ingest::extract::child::protocol::{PageBlockKind, encode};
use crate::ingest::extract::child::{ReadOptions, readers};

/// The argument that asks for it.
pub(in crate::ingest::extract) const FLAG: &str = "--show";

#[derive(Serialize)]
struct Shown<'a> {
    path: &'a Path,
    seconds: f64,
    /// The class of failure; `None` if it was read.
    code: Option<&'static str>,
    message: Option<String>,
    title: Option<&'a str>,
    author: Option<&'a str>,
    created: Option<&'a str>,
    language: Option<&'a str>,
    page_count: Option<u32>,
    warnings: &'a [String],
    blocks: Vec<ShownBlock<'a>>,
}

#[derive(Serialize)]
struct ShownBlock<'a> {
    kind: PageBlockKind,
    page: Option<u32>,
    headings: &'a [String],
    text: &'a str,
}

/// Reads the files that `arguments` name and writes one line for each.
///
/// # Errors
///
/// If the output cannot be written or this program cannot be found.
pub(in crate::ingest::extract) fn run(
    arguments: &[OsString],
    output: &mut impl Write,
) -> io::Result<()> {
    let mut options = ReadOptions::new(std::env::current_exe()?);
    let mut names = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--without-outline") => options.uses_outline = false,
            Some("--reader") => {
                let name = arguments.next().and_then(|it| it.to_str());
                names.extend(name.and_then(readers::by_name).map(|it| it.name));
                options.readers.clone_from(&names);
            }
            _ => output.write_all(&line(Path::new(argument), &options))?,
        }
    }
    output.flush()
}

fn line(path: &Path, options: &ReadOptions) -> Vec<u8> {
    let started = Instant::now();
    let outcome = read(path, options);
    let seconds = started.elapsed().as_secs_f64();
    let empty = Document::default();
    let document = outcome.as_ref().unwrap_or(&empty);
    let failure = outcome.as_ref().err();
    encode(&Shown {
        path,
        seconds,
        code: failure.map(Error::code),
        message: failure.map(ToString::to_string),
        title: document.title.as_deref(),
        author: document.metadata.author.as_deref(),
        created: document.metadata.created.as_deref(),
        language: document.metadata.language.as_deref(),
        page_count: document.metadata.page_count,
        warnings: &document.metadata.warnings,
        blocks: document.blocks.iter().map(|it| shown(it, document)).collect(),
    })
}

fn read(path: &Path, options: &ReadOptions) -> Result<Document> {
    extract(&open::read(path, Links::Follow, u64::MAX)?, options)
}

fn shown<'a>(block: &'a Block, document: &'a Document) -> ShownBlock<'a> {
    ShownBlock {
        kind: block.kind.into(),
        page: block.page,
        headings: &block.headings,
        text: document.text.get(block.bytes.clone()).unwrap_or_default(),
    }
}
