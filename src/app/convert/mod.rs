//! Converts files without a database: reads them as `kb add` does, and writes what they say.

pub mod embed;
mod folder;
mod lines;
mod parallel;

use std::path::{Path, PathBuf};

use parallel::ConversionInput;

use crate::app::indexing::add;
use crate::app::indexing::ingestion::options;
use crate::app::indexing::ingestion::request::AddRequest;
use crate::app::{Observer, Session};
use crate::document::{Document, Format, HeadingLevels, Metadata, PageRange};
use crate::error::{Error, Result};
use crate::extract::clock::CpuBudget;
use crate::extract::containers::{self, ContainedFile, ReadingChoice};
use crate::extract::detect::TypeOverride;
use crate::extract::{self, ExtractedFile};
use crate::ingest::walk::FoundFile;
use crate::ingest::{ChunkingOptions, IngestOptions, UNNAMED};
use crate::text::paths;
use crate::wording::{option, wording};

pub use folder::{ConvertReport, Render, WrittenFile, to_folder};
pub use lines::{Emit, JsonLinesContent, LinesReport, Output, RenderLine, to_lines};

/// A request to convert documents.
#[derive(Debug, Clone)]
pub struct ConvertRequest {
    /// Files, folders, or the bytes of a document, and how they are read.
    pub files: AddRequest,
    /// Folder for the results; `None` for the only result to be returned.
    pub output: Option<PathBuf>,
    /// Whether other files in the folder that have the name of a result are replaced.
    pub replaces: bool,
    /// Extension of the results, without a dot.
    pub extension: &'static str,
    /// The physical pages to convert; `None` for all.
    pub pages: Option<PageRange>,
}

/// A document that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertedDocument {
    /// Its file; `None` for a document from a stream.
    pub path: Option<PathBuf>,
    /// How it was read.
    pub format: Format,
    /// Its title, text and blocks; with selected pages only their blocks.
    pub document: Document,
    /// The levels of its headings, whatever pages are selected.
    pub levels: HeadingLevels,
    /// The files embedded in it that can be read, as documents with names in its file.
    pub members: Vec<Self>,
}

/// Whether the result of a request is printed, because there is only one.
pub fn is_printed(request: &ConvertRequest) -> Result<bool> {
    let given = match request.files.source.paths() {
        [only] if only.is_dir() => Some(format!("{} is a folder", only.display())),
        [] | [_] => None,
        several => Some(format!("{} paths are given", several.len())),
    };
    match given {
        Some(given) if request.output.is_none() => {
            Err(Error::usage(format!("only one document can be printed, but {given}"))
                .with_hint("name a folder for the results: `--output DIR`"))
        }
        _ => Ok(request.output.is_none()),
    }
}

/// Reads the only document of a request.
pub fn one(
    session: &Session,
    request: &ConvertRequest,
    observer: &dyn Observer,
) -> Result<ConvertedDocument> {
    let (roots, job) = prepare(session, request, observer)?;
    let source = &request.files.source;
    let typed = source.paths().first().cloned().unwrap_or_else(|| UNNAMED.into());
    let input = parallel::inputs(source, &roots, &job.options.walk).into_iter().next();
    let input = input.ok_or_else(|| Error::PathNotFound { path: typed.clone() })?;
    let converted = job.input(input).map_err(|error| error.in_file(&typed))?;
    let converted = converted.ok_or(Error::EmptyFile { path: typed.clone() })?;
    for note in converted.notes() {
        observer.note(format!("{}: {note}", typed.display()));
    }
    Ok(converted)
}

impl ConvertedDocument {
    /// Returns the notes about the document: what its reader reports, and where its words went if more than a
    /// tenth of them were left out.
    fn notes(&self) -> Vec<String> {
        let Metadata { warnings, words, encoding, .. } = &self.document.metadata;
        let lossy = words.as_ref().filter(|words| words.is_lossy());
        let uncertain = encoding.as_ref().filter(|encoding| encoding.is_uncertain());
        warnings
            .iter()
            .cloned()
            .chain(lossy.map(|words| format!("words: {}", words.describe())))
            .chain(uncertain.map(|encoding| format!("encoding: {}", encoding.describe())))
            .collect()
    }
}

/// Checks a request and returns its absolute paths and how files are read.
fn prepare(
    session: &Session,
    request: &ConvertRequest,
    observer: &dyn Observer,
) -> Result<(Vec<PathBuf>, ConversionJob)> {
    let (files, chunking) = (&request.files, ChunkingOptions::new(1, 0));
    let roots = add::check(files)?;
    // Nothing is chunked, so the limits of the model do not matter.
    let options = options::ingest_options(session, files, chunking, observer)?;
    Ok((roots, ConversionJob { options, pages: request.pages }))
}

/// How the files of a run are read.
struct ConversionJob {
    options: IngestOptions,
    pages: Option<PageRange>,
}

impl ConversionJob {
    /// Reads a document; `None` for one to ignore.
    fn input(&self, input: ConversionInput<'_>) -> Result<Option<ConvertedDocument>> {
        match input {
            ConversionInput::File(found) => self.file(&found),
            ConversionInput::Stream(bytes) => self.stream(bytes).map(Some),
            ConversionInput::Failed(error) => Err(error),
        }
    }

    /// Reads a file; `None` for one to ignore.
    fn file(&self, found: &FoundFile) -> Result<Option<ConvertedDocument>> {
        let Some((bytes, format)) = self.bytes(found)? else { return Ok(None) };
        let converted = self.read(&bytes, format, &found.path)?;
        Ok(Some(ConvertedDocument { path: Some(found.path.clone()), ..converted }))
    }

    /// Reads the files embedded in a document. Those of an unsupported type are left out, and those that fail become
    /// warnings of the document.
    fn members(
        &self,
        path: &Path,
        members: Vec<ContainedFile>,
        warnings: &mut Vec<String>,
    ) -> Vec<ConvertedDocument> {
        let mut all = Vec::new();
        for member in members {
            let name = Path::new(&member.name);
            let place = PathBuf::from(paths::member_text(&paths::path_text(path), &member.name));
            match member.content.and_then(|bytes| self.member(name, &bytes)) {
                Ok(Some(converted)) => {
                    all.push(ConvertedDocument { path: Some(place), ..converted });
                }
                Ok(None) | Err(Error::EmptyFile { .. }) => {}
                Err(error) => warnings.push(format!("{}: {error}", member.name)),
            }
        }
        all
    }

    fn member(&self, name: &Path, bytes: &[u8]) -> Result<Option<ConvertedDocument>> {
        let further = &self.options.walk.text_extensions;
        let choice = ReadingChoice { is_named: false, wanted: TypeOverride::default(), further };
        let detected = containers::detect(name, bytes, choice, &self.options.pdf)?;
        let Some((format, _)) = detected else { return Ok(None) };
        let budget = CpuBudget::new(self.options.max_cpu);
        let extracted = budget.spend(|| {
            let content = containers::content(name, bytes, &self.options.pdf)?;
            extract::extract(&content, format, &self.options.pdf)
        })?;
        extracted.require_text(name)?;
        let ExtractedFile { document, format, .. } = extracted;
        let levels = HeadingLevels::of(&document);
        Ok(Some(ConvertedDocument { path: None, format, document, levels, members: Vec::new() }))
    }

    /// Returns the bytes of a file and how they are read; `None` for a file to ignore.
    fn bytes(&self, found: &FoundFile) -> Result<Option<(Vec<u8>, Format)>> {
        let walk = &self.options.walk;
        let bytes =
            found.reach.read(&found.path, walk.max_bytes()).map_err(|error| match error {
                // The file has grown since the walk.
                Error::OverLimit { path, .. } => {
                    Error::TooLarge { path, limit_mb: walk.max_file_mb }
                }
                error => error,
            })?;
        let (is_named, wanted) = (found.is_named, self.options.wanted);
        let choice = ReadingChoice { is_named, wanted, further: &walk.text_extensions };
        let detected = containers::detect(&found.path, &bytes, choice, &self.options.pdf)?;
        let Some((format, content)) = detected else { return Ok(None) };
        let is_left_out = !found.is_included && choice.leaves_out(format, &content);
        drop(content);
        Ok((!is_left_out).then_some((bytes, format)))
    }

    /// Reads a document from a stream.
    fn stream(&self, bytes: &[u8]) -> Result<ConvertedDocument> {
        let path = Path::new(UNNAMED);
        let format =
            containers::detect_nameless(path, bytes, self.options.wanted, &self.options.pdf)?;
        self.read(bytes, format, path)
    }

    fn read(&self, bytes: &[u8], format: Format, path: &Path) -> Result<ConvertedDocument> {
        let budget = CpuBudget::new(self.options.max_cpu);
        let extracted = budget.spend(|| {
            let content = containers::content(path, bytes, &self.options.pdf)?;
            extract::extract(&content, format, &self.options.pdf)
        })?;
        budget.check()?;
        extracted.require_text(path)?;
        let ExtractedFile { mut document, format, members } = extracted;
        let members = self.members(path, members, &mut document.metadata.warnings);
        let levels = HeadingLevels::of(&document);
        if let Some(pages) = self.pages {
            select(&mut document, pages)?;
        }
        Ok(ConvertedDocument { path: None, format, document, levels, members })
    }
}

/// Keeps the blocks on the selected pages.
fn select(document: &mut Document, pages: PageRange) -> Result<()> {
    let first = pages.first();
    let num_pages = document.metadata.page_count.unwrap_or(0);
    if first > num_pages {
        let message = match num_pages {
            0 => "it has no pages".to_owned(),
            1 => format!("it has 1 page, so there is no page {first}"),
            num_pages => format!("it has {num_pages} pages, so there is no page {first}"),
        };
        let hint = match num_pages {
            0 => wording!("leave out `{}`", option("--pages")),
            _ => format!("`--pages 1:{num_pages}` selects all of it").into(),
        };
        return Err(Error::usage(message).with_hint(hint));
    }
    document.blocks.retain(|block| block.page.is_some_and(|page| pages.contains(page)));
    Ok(())
}
