//! Exports a knowledge base as lines of JSON, and imports such a file.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use rayon::prelude::*;

use crate::app::indexing::vectors;
use crate::app::session::observer::AppEvent;
use crate::app::session::typed::absolute;
use crate::app::session::{erase, model};
use crate::app::{Observer, Session};
use crate::config::SettingOrigin;
use crate::document::{Binding, Chunk, Embedding};
use crate::embed::{Embedder, EmbeddingSide};
use crate::error::{Error, Result};
use crate::files;
use crate::files::open::SymlinkPolicy;
use crate::ingest::CpuBudget;
use crate::store::{RecordedChunk, Store};
use crate::transfer::{self, BadLine, ExportHead, ExportReader, ImportOptions};
use crate::wording::{kb, wording};

pub use crate::app::maintenance::export::{ExportRequest, export, export_to_file};
pub use crate::app::session::export_file::{ExportFile, write_bytes};
pub use crate::transfer::{ExportSummary, ImportReport};

/// A request to import.
pub struct ImportRequest<'a> {
    /// The source of the lines.
    pub source: ImportSource<'a>,
    /// Whether the paths in the lines are imported with their documents.
    pub trusts_paths: bool,
}

/// A source of lines.
pub enum ImportSource<'a> {
    /// A file, as typed.
    File(&'a Path),
    /// A stream, with its name for messages.
    Stream(&'a mut dyn BufRead, &'a str),
}

/// Imports the documents of an export. The result lists lines that could not be imported.
pub fn import(
    session: &Session,
    request: ImportRequest<'_>,
    observer: &dyn Observer,
) -> Result<ImportReport> {
    let trusts_paths = request.trusts_paths;
    match request.source {
        ImportSource::Stream(mut input, name) => {
            import_lines(session, &mut input, Path::new(name), trusts_paths, observer)
        }
        ImportSource::File(file) => {
            let path = absolute(file)?;
            let file =
                files::open::open(&path, SymlinkPolicy::Follow).map_err(|error| match error {
                    Error::NotAFile { path } => {
                        Error::usage(format!("{} is not a regular file", path.display()))
                            .with_hint(wording!("`{}` reads standard input", kb("import").arg("-")))
                    }
                    other => other,
                })?;
            let total_bytes = file.metadata().map_or(0, |found| found.len());
            let mut lines =
                ReadLines { inner: BufReader::new(file), num_bytes: 0, total_bytes, observer };
            import_lines(session, &mut lines, &path, trusts_paths, observer)
        }
    }
}

/// Reports how much of a file was read.
struct ReadLines<'a, R> {
    inner: R,
    num_bytes: u64,
    total_bytes: u64,
    observer: &'a dyn Observer,
}

/// Progress is reported in kilobytes, because the number of lines is not known before the end.
const BYTES_PER_KB: u64 = 1_000;

impl<R: BufRead> Read for ReadLines<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.note(len);
        Ok(len)
    }
}

impl<R: BufRead> BufRead for ReadLines<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.inner.consume(len);
        self.note(len);
    }
}

impl<R> ReadLines<'_, R> {
    fn note(&mut self, len: usize) {
        self.num_bytes += len as u64;
        let (num_done, total) = (self.num_bytes / BYTES_PER_KB, self.total_bytes / BYTES_PER_KB);
        self.observer.on_event(AppEvent::Counted { things: "KB", num_done, total });
    }
}

fn import_lines(
    session: &Session,
    input: &mut impl BufRead,
    name: &Path,
    trusts_paths: bool,
    observer: &dyn Observer,
) -> Result<ImportReport> {
    let head = transfer::head(input, name)?;
    let mut store = session.open_store()?;
    let target = target(session, &store, &head, observer)?;
    check_length(head.binding.as_ref(), &target)?;
    if store.lacks_vectors()? {
        let selection = model::select(session, Some(&target))?;
        let installed = selection.locate_or_install(observer)?;
        vectors::bind(&mut store, &selection, &installed, observer)?;
    }
    store.bind(&target)?;
    let are_vectors_good = head.binding.as_ref().is_some_and(|given| given.fits(&target));
    let now = format!("{:.3}", jiff::Timestamp::now());
    let options = ImportOptions { trusts_paths, are_vectors_good, now: &now };
    let mut embedder: Option<Box<dyn Embedder>> = None;
    let mut embed = |chunks: &[RecordedChunk]| {
        if embedder.is_none() {
            observer.info("Computing the vectors, because the file has none for this model.");
            let selection = model::select(session, Some(&target))?;
            let installed = selection.locate_or_install(observer)?;
            embedder = Some(Box::new(selection.open_for_passages(&installed, observer)?));
        }
        let embedder = embedder.as_deref().expect("it was just opened");
        model::check_binding(&target, embedder.binding())?;
        embed_chunks(session, embedder, chunks)
    };
    let export = ExportReader { input, name, head: &head };
    let imported = transfer::import(&mut store, export, options, &mut embed, &mut |failed| {
        let BadLine { number, reason } = failed;
        let failure = format!("{}, line {number}: {reason}", name.display());
        observer.failure(&failure);
    });
    let mut imported = imported?;
    if trusts_paths {
        // Roots come last, so that an update after an interruption does not read files not yet imported.
        head.roots.iter().try_for_each(|root| store.remember_root(root))?;
        // The author of the file chose the folders, so the user gets a warning about them.
        session.unfollowed_notes(&store)?.iter().for_each(|note| observer.warn(note));
    } else {
        imported.num_folders_left_out = head.roots.len();
    }
    erase::finish(store, observer)?;
    Ok(imported)
}

/// Returns the binding of the database after the import: its current one or, for a new database, that of
/// the export unless the settings name another model.
fn target(
    session: &Session,
    store: &Store,
    head: &ExportHead,
    observer: &dyn Observer,
) -> Result<Binding> {
    if let Some(bound) = store.binding()? {
        // A model given by flag must be that of the database.
        if let SettingOrigin::Flag(_) = session.resolved().origin("embedding.model") {
            model::check_selection(session, Some(&bound))?;
        }
        return Ok(bound);
    }
    if let Some(given) = &head.binding
        && model::check_selection(session, Some(given)).is_ok()
    {
        model::check_adoptable(session, given)?;
        return Ok(given.clone());
    }
    let selection = model::select(session, None)?;
    Ok(selection.binding(&selection.locate_or_install(observer)?))
}

/// Refuses passages that are too long for the model.
fn check_length(given: Option<&Binding>, target: &Binding) -> Result<()> {
    match given {
        Some(given) if given.max_tokens > target.max_tokens => Err(Error::usage(format!(
                "passages of the export have up to {} tokens, but the database's model, {}, reads only {}",
                given.max_tokens, target.model_name, target.max_tokens
            )).with_hint("import into a new data directory, or add the files themselves")),
        _ => Ok(()),
    }
}

/// Embeds the chunks of one document on all processors, within the time limit of a document.
fn embed_chunks(
    session: &Session,
    embedder: &dyn Embedder,
    chunks: &[RecordedChunk],
) -> Result<Vec<Embedding>> {
    let max_cpu = Duration::from_secs(session.config().ingestion.max_cpu_seconds.into());
    let budget = CpuBudget::new(max_cpu);
    // Each job has one chunk, so that a few long ones do not wait for each other.
    let chunks = chunks.par_iter().with_max_len(1);
    let embeddings = chunks.map(|chunk| {
        budget.check()?;
        let passage = Chunk::passage(&chunk.context, &chunk.text);
        match budget.spend(|| embedder.embed_cut(&passage, EmbeddingSide::Passage))? {
            (embedding, false) => Ok(embedding),
            (_, true) => Err(Error::usage(format!("chunk {} is too long for the model", chunk.id))),
        }
    });
    embeddings.collect()
}
