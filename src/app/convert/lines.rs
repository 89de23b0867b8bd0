//! Converts documents to lines of JSON, without a database: their blocks, or chunks and vectors as in an
//! export.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::app::convert::parallel::{self, ConversionInput};
use crate::app::convert::{ConversionJob, ConvertRequest, ConvertedDocument, prepare};
use crate::app::indexing::add;
use crate::app::indexing::ingestion::options::chunking;
use crate::app::session::model::LazyModel;
use crate::app::session::observer::AppEvent;
use crate::app::session::{error_log, model};
use crate::app::{Observer, Session};
use crate::document::Binding;
use crate::error::{Error, Result};
use crate::extract::containers;
use crate::ingest::{self, PreparedDocument, UNNAMED, guarded};
use crate::store::DocumentRecord;
use crate::text::json::JsonLine;
use crate::transfer;

/// Returns the line of a document.
pub type RenderLine<'a> = dyn Fn(&ConvertedDocument) -> Result<JsonLine> + Sync + 'a;

/// The content of the line of a document.
pub enum JsonLinesContent<'a> {
    /// Its blocks.
    Blocks(&'a RenderLine<'a>),
    /// Its chunks. The first line has the settings of the vectors, as in an export.
    Chunks {
        /// Whether chunks have vectors.
        with_vectors: bool,
    },
}

/// A line of the result.
pub enum Output<'a> {
    /// The first line, or a document.
    Line(&'a JsonLine),
    /// A file that could not be converted, and why.
    Failed(&'a Path, &'a Error),
}

/// Writes a line of the result.
pub type Emit<'a> = dyn FnMut(Output<'_>) -> Result<()> + 'a;

/// The numbers of files of a run, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinesReport {
    /// Documents that were converted.
    pub num_converted: usize,
    /// Files in folders that kb does not read.
    pub num_ignored: usize,
    /// Files that could not be converted.
    pub num_failed: usize,
}

/// Converts all documents of a request, in parallel, and emits a line for each, and for each file that cannot be
/// converted, in the order of the walk.
///
/// Ids count from 1 in each run, so those of two runs are equal.
pub fn to_lines(
    session: &Session,
    request: &ConvertRequest,
    content: &JsonLinesContent<'_>,
    observer: &dyn Observer,
    emit: &mut Emit<'_>,
) -> Result<LinesReport> {
    let (roots, mut job) = prepare(session, request, observer)?;
    let model = match content {
        JsonLinesContent::Blocks(_) => None,
        JsonLinesContent::Chunks { .. } => Some(model(session, &mut job, observer)?),
    };
    let inputs = parallel::inputs(&request.files.source, &roots, &job.options.walk);
    if inputs.is_empty() {
        return Err(add::no_files(request.files.source.paths()));
    }
    if let Some((_, binding)) = &model {
        emit(Output::Line(&transfer::head_line(Some(binding), &[])?))?;
    }
    let total = inputs.len() as u64;
    let is_cancelled = observer.cancel_flag();
    let is_failed = AtomicBool::new(false);
    let (mut report, mut num_done, mut fatal) = (LinesReport::default(), 0, None);
    let mut printer = Printer { report: &mut report, ids: Ids::default(), observer, emit };
    let run =
        JsonLinesConversion { job: &job, content, model: model.as_ref().map(|(model, _)| model) };
    let done = parallel::in_order(
        inputs,
        job.options.num_workers,
        &|| is_cancelled.load(Ordering::Relaxed) || is_failed.load(Ordering::Relaxed),
        &|input| run.convert(input),
        |(path, outcome)| {
            if fatal.is_some() {
                return;
            }
            num_done += 1;
            if let Err(error) = printer.take(&path, outcome) {
                is_failed.store(true, Ordering::Relaxed);
                fatal = Some(error);
            }
            observer.on_event(AppEvent::Counted { things: "files", num_done, total });
        },
    );
    done.map_err(|source| Error::Io { path: PathBuf::from("."), source })?;
    match fatal {
        Some(error) => Err(error),
        None if is_cancelled.load(Ordering::Relaxed) => Err(Error::Cancelled),
        None => Ok(report),
    }
}

/// Opens the tokenizer, and sets how documents are split: within its limits. The model itself is only
/// loaded for vectors.
fn model<'a>(
    session: &Session,
    job: &mut ConversionJob,
    observer: &'a dyn Observer,
) -> Result<(LazyModel<'a>, Binding)> {
    // The model is located and never fetched, because many processes may run this at the same time.
    let selection = model::select(session, None)?.without_token_codes();
    let installed = selection.locate()?;
    let model = selection.open_for_passages(&installed, observer)?;
    let (most, overhead) = (model.tokenizer.max_tokens(), model.tokenizer.num_overhead());
    job.options.chunking = chunking(session.config(), most, overhead);
    Ok((model, selection.binding(&installed)))
}

/// The next free ids.
#[derive(Default)]
struct Ids {
    document: i64,
    chunk: i64,
}

/// The outcome of a file.
enum JsonLinesOutcome {
    /// Its line, and the warnings of the reader.
    Line(JsonLine, Vec<String>),
    /// Its document, which gets its ids in the order of the files.
    Record(Box<DocumentRecord>, Vec<String>),
    /// kb does not read files like it.
    Ignored,
    Failed(Error),
}

impl LinesReport {
    /// Whether at least one document was converted.
    pub fn is_success(&self) -> bool {
        self.num_converted > 0
    }
}

/// Counts the outcomes of the files, and emits their lines.
struct Printer<'a, 'e> {
    report: &'a mut LinesReport,
    ids: Ids,
    observer: &'a dyn Observer,
    emit: &'a mut Emit<'e>,
}

impl Printer<'_, '_> {
    fn take(&mut self, path: &Path, outcome: JsonLinesOutcome) -> Result<()> {
        let (line, warnings) = match outcome {
            JsonLinesOutcome::Line(line, warnings) => (line, warnings),
            JsonLinesOutcome::Record(mut record, warnings) => {
                record.number(&mut self.ids.document, &mut self.ids.chunk);
                (transfer::document_line(&record)?, warnings)
            }
            JsonLinesOutcome::Ignored => {
                self.report.num_ignored += 1;
                return Ok(());
            }
            JsonLinesOutcome::Failed(error @ Error::IgnoreFile { .. }) => {
                self.observer.warn(error.message());
                return Ok(());
            }
            JsonLinesOutcome::Failed(error) if error.is_fatal() => return Err(error),
            JsonLinesOutcome::Failed(error) => {
                self.observer.failure(error.text_about(path));
                self.report.num_failed += 1;
                return (self.emit)(Output::Failed(path, &error));
            }
        };
        for warning in warnings {
            self.observer.note(format!("{}: {warning}", path.display()));
        }
        self.report.num_converted += 1;
        (self.emit)(Output::Line(&line))
    }
}

/// Converts the files of a run.
struct JsonLinesConversion<'a> {
    job: &'a ConversionJob,
    content: &'a JsonLinesContent<'a>,
    model: Option<&'a LazyModel<'a>>,
}

impl JsonLinesConversion<'_> {
    fn convert(&self, input: ConversionInput) -> (PathBuf, JsonLinesOutcome) {
        let path = input.path().map_or_else(|| PathBuf::from(UNNAMED), Path::to_owned);
        (path, guarded(|| self.outcome(input)).unwrap_or_else(JsonLinesOutcome::Failed))
    }

    fn outcome(&self, input: ConversionInput) -> Result<JsonLinesOutcome> {
        let is_named = input.is_named();
        let outcome = match (self.content, self.model) {
            (JsonLinesContent::Chunks { with_vectors }, Some(model)) => {
                self.record(input, model, *with_vectors)
            }
            (JsonLinesContent::Blocks(render), _) => self.line(input, render),
            (JsonLinesContent::Chunks { .. }, None) => Ok(None),
        };
        match outcome {
            Ok(outcome) => Ok(outcome.unwrap_or(JsonLinesOutcome::Ignored)),
            Err(Error::EmptyFile { .. }) if !is_named => Ok(JsonLinesOutcome::Ignored),
            Err(error) => Err(error),
        }
    }

    /// Returns the line of a document's blocks.
    fn line(
        &self,
        input: ConversionInput,
        render: &RenderLine<'_>,
    ) -> Result<Option<JsonLinesOutcome>> {
        let Some(converted) = self.job.input(input)? else { return Ok(None) };
        let line = render(&converted)?;
        Ok(Some(JsonLinesOutcome::Line(line, converted.document.metadata.warnings)))
    }

    /// Returns a document with its chunks.
    fn record(
        &self,
        input: ConversionInput,
        model: &LazyModel<'_>,
        with_vectors: bool,
    ) -> Result<Option<JsonLinesOutcome>> {
        let (options, job) = (&self.job.options, self.job);
        let (prepared, budget) = match input {
            ConversionInput::File(found) => {
                let Some((bytes, format)) = job.bytes(&found)? else { return Ok(None) };
                ingest::make(Some(&found), &bytes, format, options, Some(model))?
            }
            ConversionInput::Stream(bytes) => {
                let path = Path::new(UNNAMED);
                let format =
                    containers::detect_nameless(path, bytes, options.wanted, &options.pdf)?;
                ingest::make(None, bytes, format, options, Some(model))?
            }
            ConversionInput::Failed(error) => return Err(error),
        };
        let embeddings = if with_vectors {
            Some(ingest::embed(Some(model), None, &prepared.chunks, &budget)?)
        } else {
            None
        };
        let PreparedDocument { document, chunks, warnings, .. } = prepared;
        let record = DocumentRecord::new(document, chunks, embeddings, &error_log::now())?;
        Ok(Some(JsonLinesOutcome::Record(Box::new(record), warnings)))
    }
}
