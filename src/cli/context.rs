//! What every command starts from: settings, places, the terminal.

use std::io;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use crate::cli::args::{FilterArgs, Global};
use crate::cli::pager::Pager;
use crate::cli::{streams, voice};
use crate::config;
use crate::config::{Config, Environment, Flags, OutputFormat, Resolved};
use crate::document::{DocumentId, Filter};
use crate::error::{Error, Result};
use crate::files::write;
use crate::present::terminal::sheet::{Printed, Sheet};
use crate::present::text::human::Human;
use crate::store::Store;
use crate::text::json::Json;
use crate::text::paths;
use crate::text::printable::clean;
use crate::trace::stage;

/// Name of the database in the data directory.
pub(super) const DATABASE: &str = "kb.db";

/// Columns assumed where stdout is not a terminal.
const DEFAULT_WIDTH: usize = 100;

/// Bytes of an answer to a question; the rest of the line is not read.
const MAX_ANSWER_BYTES: u64 = 1000;

/// What every command starts from.
pub(super) struct Context {
    pub(super) environment: Environment,
    pub(super) resolved: Resolved,
    pub(super) human: Human,
    /// Shows long answers for people, where they are on a terminal.
    pager: Option<Pager>,
}

impl Context {
    pub(super) fn new(environment: Environment, global: &Global, flags: &Flags) -> Result<Self> {
        let mut resolved = config::load(&environment, flags)?;
        resolved.config.data_dir = absolute(&resolved.config.data_dir)?;
        for warning in &resolved.warnings {
            voice::warn(warning);
        }
        let is_terminal = streams::is_stdout_terminal();
        let is_coloured = voice::is_coloured(global.color, &environment, is_terminal);
        let width = if is_terminal { streams::size().1 } else { DEFAULT_WIDTH };
        let human =
            Human { width, is_terminal, is_coloured, has_links: is_terminal && is_coloured };
        let pager = if is_terminal && !global.no_pager { Pager::new(&environment) } else { None };
        Ok(Self { environment, resolved, human, pager })
    }

    /// Returns the same for another data directory.
    pub(super) fn at(&self, data_dir: &Path) -> Result<Self> {
        let mut resolved = self.resolved.clone();
        resolved.config.data_dir = absolute(data_dir)?;
        let (environment, pager) = (self.environment.clone(), self.pager.clone());
        Ok(Self { environment, resolved, human: self.human, pager })
    }

    pub(super) fn config(&self) -> &Config {
        &self.resolved.config
    }

    pub(super) fn data_dir(&self) -> &Path {
        &self.resolved.config.data_dir
    }

    pub(super) fn database(&self) -> PathBuf {
        self.data_dir().join(DATABASE)
    }

    /// Opens the database to write, making directory and file where they are missing.
    pub(super) fn open_store(&self) -> Result<Store> {
        make_private_dir(self.data_dir())?;
        stage("open database", || Store::open(&self.database()))
    }

    /// Opens the database to read; a missing one reads as empty and is not made.
    pub(super) fn open_existing(&self) -> Result<Option<Store>> {
        stage("open database", || Store::open_existing(&self.database()))
    }

    /// Prints with the face that the format asks for.
    pub(super) fn present(
        &self,
        format: OutputFormat,
        json: impl FnOnce(&mut Json<'_>) -> io::Result<()>,
        human: impl FnOnce(&Human, &mut Sheet<'_>) -> io::Result<()>,
    ) -> Result<()> {
        match format {
            OutputFormat::Json => print_json(json),
            OutputFormat::Human => self.show(human),
        }
    }

    /// Shows an answer to a person, in pages if it is longer than the screen.
    pub(super) fn show(
        &self,
        human: impl FnOnce(&Human, &mut Sheet<'_>) -> io::Result<()>,
    ) -> Result<()> {
        match &self.pager {
            Some(pager) => {
                let text = Printed::of(|out| human(&self.human, out)).map_err(Error::Output)?;
                pager.show(&text)
            }
            None => stage("print", || streams::text(|out| human(&self.human, out))),
        }
    }

    /// Prints bytes as they are; on a terminal a person reads them, in pages if they are many.
    pub(super) fn show_bytes(&self, bytes: &[u8]) -> Result<()> {
        if streams::is_stdout_terminal() {
            return self.show(|_, out| streams::shown(bytes, out));
        }
        stage("print", || streams::bytes(bytes))
    }
}

/// Prints an answer for programs.
pub(super) fn print_json(answer: impl FnOnce(&mut Json<'_>) -> io::Result<()>) -> Result<()> {
    stage("print", || streams::json(answer))
}

/// Turns filter flags into the stages' noun.
pub(super) fn filter(args: &FilterArgs) -> Result<Filter> {
    let path_prefix = match &args.path {
        Some(path) => Some(paths::typed_text(&absolute(path)?)),
        None => None,
    };
    Ok(Filter {
        doc_type: args.doc_type,
        tags: args.tags.clone(),
        path_prefix,
        language: args.language,
        excluded_tags: args.excluded_tags.clone(),
        since: args.since.clone(),
        until: args.until.clone(),
        excluded: Vec::new(),
    })
}

/// Returns a path as an absolute one without `.` and `..`; links stay. An empty one is refused: it would
/// mean the current directory to us, and to the user a variable that is not set.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(Error::Usage { message: "a path is empty".into(), hint: None });
    }
    #[expect(clippy::disallowed_methods, reason = "the edge is where paths are resolved")]
    let current =
        std::env::current_dir().map_err(|source| Error::Io { path: PathBuf::from("."), source })?;
    Ok(paths::clean(&current.join(path)))
}

/// Returns the absolute path that was typed, as it is or as kb prints one that is no text.
pub(super) fn typed(path: &Path) -> Result<PathBuf> {
    Ok(paths::path_of(&paths::typed_text(&absolute(path)?)))
}

/// Reads a document id as typed.
pub(super) fn document_id(typed: &str) -> Result<DocumentId> {
    typed.parse().map_err(|_| Error::UnknownDocument { id: typed.to_owned() })
}

/// Makes a directory that only its owner can enter, with its parents.
pub(super) fn make_private_dir(dir: &Path) -> Result<()> {
    write::create_folder(dir).map_err(|source| Error::Io { path: dir.to_owned(), source })
}

/// Asks; anything but `y` or `yes` means no.
pub(super) fn confirm(question: &str) -> Result<bool> {
    streams::text_aside(|out| write!(out, "{} [y/N] ", clean(question))).map_err(Error::Output)?;
    let mut answer = String::new();
    io::stdin().lock().take(MAX_ANSWER_BYTES).read_line(&mut answer).map_err(Error::Output)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
