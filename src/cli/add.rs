//! `kb add`.

use std::io;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::chunk::{ChunkOptions, Strategy};
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::interrupt::Interrupt;
use crate::cli::model::LazyModel;
use crate::cli::progress::IngestProgress;
use crate::cli::{args, context, erase, model, ocr, voice};
use crate::config::{CodeStrategy, Config, MarkdownStrategy, OutputFormat, PdfStrategy};
use crate::document::DocType;
use crate::error::{Error, Result};
use crate::extract::sandbox::ReadOptions;
use crate::ingest;
use crate::ingest::detect::Wanted;
use crate::ingest::reach::Reach;
use crate::ingest::walk::{Start, WalkOptions};
use crate::ingest::{ChunkingOptions, IngestOptions, IngestReport, Services, walk};
use crate::present::json;
use crate::present::text::human::Human;
use crate::store::{Root, Store};
use crate::text::paths;

/// Name of the list of failures in the data directory.
const ERROR_LOG: &str = "ingest-errors.log";

/// Holds the password of encrypted documents.
const PASSWORD_VARIABLE: &str = "KB_PASSWORD";

/// The path that stands for standard input.
const STDIN: &str = "-";

/// Who looks on while documents are ingested, and may end it.
#[derive(Default)]
pub(super) struct Watch<'a> {
    pub(super) is_cancelled: Arc<AtomicBool>,
    pub(super) on_event: Option<&'a mut ingest::OnEvent<'a>>,
    /// What was added before is looked at again: folders are remembered, documents keep their tags.
    pub(super) is_update: bool,
}

pub(super) fn run(context: &Context, args: &args::Add) -> Result<ExitStatus> {
    let (report, roots) = added(context, args, &mut Watch::default())?;
    finish(args, &roots, report)
}

/// Adds what the arguments name; returns it with the paths made absolute.
pub(super) fn added(
    context: &Context,
    args: &args::Add,
    watch: &mut Watch<'_>,
) -> Result<(IngestReport, Vec<PathBuf>)> {
    let roots = if is_stdin(args) {
        Vec::new()
    } else {
        args.paths.iter().map(|it| context::absolute(it)).collect::<Result<Vec<_>>>()?
    };
    check_title(args, &roots)?;
    check_kind(args)?;
    args.note.as_deref().map_or(Ok(()), ingest::check_note)?;
    let wanted = Wanted::new(args.doc_type, args.language)?;
    if let ([root], None) = (roots.as_slice(), &args.note)
        && root.symlink_metadata().is_err()
    {
        return Err(Error::PathNotFound { path: args.paths[0].clone() });
    }
    let starts: Vec<Start> = roots.iter().map(|root| Start::named(root)).collect();
    let report = ingest(context, args, &starts, wanted, watch)?;
    Ok((report, roots))
}

/// Whether standard input is to be read.
fn is_stdin(args: &args::Add) -> bool {
    matches!(args.paths.as_slice(), [only] if only.as_os_str() == STDIN)
}

/// Ingests files, or the note that the arguments hold, into the database of the settings.
pub(super) fn ingest(
    context: &Context,
    args: &args::Add,
    starts: &[Start],
    wanted: Wanted,
    watch: &mut Watch<'_>,
) -> Result<IngestReport> {
    let max_file_mb = u64::from(context.config().ingestion.max_file_mb);
    let stdin = is_stdin(args).then(|| read_stdin(max_file_mb)).transpose()?;
    let mut store = context.open_store()?;
    let bound = store.binding()?;
    model::check_wish(context, bound.as_ref())?;
    let wish = model::wish(context, bound.as_ref())?;
    let installed = wish.locate_or_install()?;
    store.bind(&wish.binding(&installed))?;
    let model = wish.open_for_passages(&installed)?;
    let mut options = options(context, args, wanted, &model)?;
    options.is_cancelled = Arc::clone(&watch.is_cancelled);
    options.keeps_tags = watch.is_update;
    if !watch.is_update {
        remember_roots(&mut store, args, starts)?;
    }
    let num_tokens = |text: &str| model.tokenizer.num_tokens(text);
    let services = Services { num_tokens: &num_tokens, embedder: &model };

    // A server is not ended by what ends one call.
    let interrupt = match watch.on_event {
        None => Interrupt::listen(&watch.is_cancelled),
        Some(_) => Interrupt::default(),
    };
    let mut report = IngestReport::default();
    let is_lone = matches!(starts, [start] if !start.path().is_dir());
    let mut progress = IngestProgress::new(context.data_dir().join(ERROR_LOG), now, is_lone);
    if args.note.is_none() && stdin.is_none() {
        progress.count(starts, options.walk);
    }
    let mut on_event = |event: ingest::Event<'_>| {
        progress.on_event(&event);
        if let Some(tell) = &mut watch.on_event {
            tell(event);
        }
    };
    let (store_ref, on_event_ref) = (&mut store, &mut on_event);
    let outcome = match (&args.note, &stdin) {
        (Some(note), _) => ingest::ingest_note(
            store_ref,
            &services,
            note,
            args.replace,
            &options,
            on_event_ref,
            &mut report,
        ),
        (None, Some(bytes)) => {
            ingest::ingest_bytes(store_ref, &services, bytes, &options, on_event_ref, &mut report)
        }
        (None, None) => {
            ingest::ingest(store_ref, &services, starts, &options, on_event_ref, &mut report)
        }
    };
    progress.finish();
    if outcome.is_err() && report.added + report.updated > 0 {
        voice::say(&Human::summary(&report));
    }
    if matches!(outcome, Err(Error::Cancelled)) {
        progress.tell_left();
        erase::finish(store)?;
        interrupt.check()?;
        return Err(Error::Cancelled);
    }
    outcome?;
    progress.conclude();
    store.encode_vectors()?;
    erase::finish(store)?;
    Ok(report)
}

/// Remembers folders before anything in them is read, so that an interrupted run is known, too.
fn remember_roots(store: &mut Store, args: &args::Add, starts: &[Start]) -> Result<()> {
    for root in starts.iter().map(Start::path).filter(|path| path.is_dir()) {
        let path = paths::path_text(root);
        if let Some(old) = paths::old_text(&path).filter(|old| paths::path_of(old) == root) {
            store.rename_path(&old, &path)?;
        }
        store.remember_root(&Root {
            path,
            tags: args.tags.clone(),
            doc_type: args.doc_type,
            language: args.language.map(|it| it.as_str().to_owned()),
            follows_links: args.follow,
            real_path: Reach::named(root)?.real_path(),
        })?;
    }
    Ok(())
}

/// Returns how folders are walked.
pub(super) fn walk_options(context: &Context, is_following: bool) -> WalkOptions {
    let settings = &context.config().ingestion;
    WalkOptions {
        max_file_mb: u64::from(settings.max_file_mb),
        follow_links: settings.follow_links || is_following,
    }
}

/// Reads a document from standard input, as large as a file may be.
fn read_stdin(max_file_mb: u64) -> Result<Vec<u8>> {
    let path = || PathBuf::from("standard input");
    let max_bytes = max_file_mb.saturating_mul(walk::BYTES_PER_MB);
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Io { path: path(), source })?;
    if bytes.len() as u64 > max_bytes {
        return Err(Error::TooLarge { path: path(), limit_mb: max_file_mb });
    }
    Ok(bytes)
}

/// Ends a run: the summary for people on stderr, or the report for programs on stdout.
fn finish(args: &args::Add, roots: &[PathBuf], mut report: IngestReport) -> Result<ExitStatus> {
    let is_success = report.added + report.updated + report.skipped > 0;
    // A single file named itself fails like any other command.
    if let (false, [root], 1) = (is_success, roots, report.failed.len()) {
        let (path, error) = report.failed.remove(0);
        if *root == path {
            return Err(error.in_file(&args.paths[0]));
        }
        report.failed.push((path, error));
    }
    if !is_success && report.failed.is_empty() && report.ignored == 0 {
        let names: Vec<String> = args.paths.iter().map(|it| it.display().to_string()).collect();
        return Err(Error::Usage {
            message: format!("there are no files in {}", names.join(", ")),
            hint: Some("hidden files and those that .gitignore names are left out".into()),
        });
    }
    if args.format.format == OutputFormat::Json {
        context::print_json(|out| json::report(&report, out))?;
    }
    voice::say(&Human::summary(&report));
    Ok(if is_success { ExitStatus::Success } else { ExitStatus::User })
}

/// A note given as text is a note.
fn check_kind(args: &args::Add) -> Result<()> {
    let is_other = args.doc_type.is_some_and(|it| it != DocType::Note) || args.language.is_some();
    if args.note.is_none() || !is_other {
        return Ok(());
    }
    Err(Error::Usage {
        message: "`--type` and `--language` go with files, not with `--note`".into(),
        hint: None,
    })
}

/// A title is one document's.
fn check_title(args: &args::Add, roots: &[PathBuf]) -> Result<()> {
    let is_single = matches!(roots, [root] if !root.is_dir()) || is_stdin(args);
    if args.title.is_none() || args.note.is_some() || is_single {
        return Ok(());
    }
    Err(Error::Usage {
        message: "`--title` goes with a single file or a note".into(),
        hint: Some("add the files one by one, or leave the title out".into()),
    })
}

fn options(
    context: &Context,
    args: &args::Add,
    wanted: Wanted,
    model: &LazyModel,
) -> Result<IngestOptions> {
    let config = context.config();
    let reader = std::env::current_exe()
        .map_err(|source| Error::Io { path: PathBuf::from("kb"), source })?;
    let mut pdf = ReadOptions::new(reader);
    pdf.password = password(context, args)?;
    pdf.ocr = ocr::options(context);
    let settings = &config.ingestion;
    let tokenizer = &model.tokenizer;
    Ok(IngestOptions {
        walk: walk_options(context, args.follow),
        wanted,
        title: args.title.clone(),
        tags: args.tags.clone(),
        chunking: chunking(config, tokenizer.max_tokens(), tokenizer.num_overhead()),
        pdf,
        num_workers: settings.workers as usize,
        batch_size: settings.batch_size as usize,
        num_embedders: model::num_cores(),
        max_cpu: Duration::from_secs(settings.max_cpu_seconds.into()),
        is_cancelled: Arc::default(),
        keeps_tags: false,
    })
}

/// Returns what opens encrypted documents: the flag, else the variable, which other users of the
/// machine cannot see.
fn password(context: &Context, args: &args::Add) -> Result<Option<String>> {
    let variable = || {
        let value = context.environment.get(PASSWORD_VARIABLE)?;
        Some(value.to_str().map(str::to_owned).ok_or_else(|| Error::Config {
            path: PASSWORD_VARIABLE.into(),
            message: "not UTF-8".into(),
        }))
    };
    args.password.clone().map(Ok).or_else(variable).transpose()
}

/// Turns the settings into one set of options a type; the model's limit holds everywhere.
fn chunking(config: &Config, model_tokens: usize, reserved_tokens: usize) -> ChunkingOptions {
    let settings = &config.chunking;
    let common = ChunkOptions {
        strategy: Strategy::Structure,
        max_tokens: settings.defaults.max_tokens as usize,
        min_tokens: settings.markdown.min_tokens as usize,
        overlap_tokens: settings.defaults.overlap_tokens as usize,
        model_tokens,
        reserved_tokens,
        include_context: settings.code.include_context,
    };
    let of = |is_fixed: bool, max_tokens: u32, min_tokens: usize| ChunkOptions {
        strategy: if is_fixed { Strategy::Fixed } else { Strategy::Structure },
        max_tokens: if is_fixed {
            common.max_tokens.min(max_tokens as usize)
        } else {
            max_tokens as usize
        },
        min_tokens,
        ..common.clone()
    };
    let (pdf, markdown, code) = (&settings.pdf, &settings.markdown, &settings.code);
    ChunkingOptions {
        pdf: of(pdf.strategy == PdfStrategy::Fixed, pdf.max_tokens, common.min_tokens),
        markdown: of(
            markdown.strategy == MarkdownStrategy::Fixed,
            markdown.max_tokens,
            markdown.min_tokens as usize,
        ),
        code: of(code.strategy == CodeStrategy::Fixed, code.max_tokens, 0),
        note: ChunkOptions { strategy: Strategy::Whole, ..common },
    }
}

/// Returns the time in RFC 3339, UTC, whole seconds.
pub(super) fn now() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_cuts_as_the_configuration_does_by_default() {
        assert_eq!(
            chunking(&Config::defaults(std::path::Path::new("/")), 256, 2),
            ChunkingOptions::new(256, 2)
        );
    }
}
