//! What every command starts from: settings, places, the terminal.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

use crate::cli::args::{ColorChoice, FilterArgs, Global};
use crate::config;
use crate::config::{Config, Environment, Flags, OutputFormat, Resolved};
use crate::document::{DocumentId, Filter};
use crate::error::{Error, Result};
use crate::ingest::walk;
use crate::present::clean::clean;
use crate::present::human::Human;
use crate::store::Store;

/// Name of the database in the data directory.
pub(super) const DATABASE: &str = "kb.db";

/// Columns assumed where stdout is not a terminal.
const DEFAULT_WIDTH: usize = 100;

/// What every command starts from.
pub(super) struct Context {
    pub(super) environment: Environment,
    pub(super) resolved: Resolved,
    pub(super) human: Human,
}

impl Context {
    pub(super) fn new(environment: Environment, global: &Global, flags: &Flags) -> Result<Self> {
        let mut resolved = config::load(&environment, flags)?;
        resolved.config.data_dir = absolute(&resolved.config.data_dir)?;
        for warning in &resolved.warnings {
            warn(warning);
        }
        let is_terminal = io::stdout().is_terminal();
        let is_coloured = match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let is_dumb = environment.get("TERM").is_some_and(|it| it == "dumb");
                is_terminal && !is_dumb && environment.get("NO_COLOR").is_none()
            }
        };
        let width =
            if is_terminal { usize::from(console::Term::stdout().size().1) } else { DEFAULT_WIDTH };
        let human =
            Human { width, is_terminal, is_coloured, has_links: is_terminal && is_coloured };
        Ok(Self { environment, resolved, human })
    }

    /// Returns the same for another data directory.
    pub(super) fn at(&self, data_dir: &Path) -> Result<Self> {
        let mut resolved = self.resolved.clone();
        resolved.config.data_dir = absolute(data_dir)?;
        Ok(Self { environment: self.environment.clone(), resolved, human: self.human })
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
        Store::open(&self.database())
    }

    /// Opens the database to read; a missing one reads as empty and is not made.
    pub(super) fn open_existing(&self) -> Result<Option<Store>> {
        Store::open_existing(&self.database())
    }

    /// Calls `answer` with stdout, buffered and flushed.
    pub(super) fn print(
        &self,
        answer: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        answer(&mut out).and_then(|()| out.flush()).map_err(Error::Output)
    }

    /// Prints with the face that the format asks for.
    pub(super) fn present(
        &self,
        format: OutputFormat,
        json: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        human: impl FnOnce(&Human, &mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        self.print(|out| match format {
            OutputFormat::Json => json(out),
            OutputFormat::Human => human(&self.human, out),
        })
    }
}

/// Turns filter flags into the stages' noun.
pub(super) fn filter(args: &FilterArgs) -> Result<Filter> {
    let path_prefix = match &args.path {
        Some(path) => Some(walk::path_text(&absolute(path)?)),
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

/// Returns a path as an absolute one without `.` and `..`; links stay.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the edge is where paths are resolved")]
    let current =
        std::env::current_dir().map_err(|source| Error::Io { path: PathBuf::from("."), source })?;
    Ok(walk::clean(&current.join(path)))
}

/// Reads a document id as typed.
pub(super) fn document_id(typed: &str) -> Result<DocumentId> {
    typed.parse().map_err(|_| Error::UnknownDocument { id: typed.to_owned() })
}

/// Makes a directory that only its owner can enter, with its parents.
pub(super) fn make_private_dir(dir: &Path) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|source| Error::Io { path: dir.to_owned(), source })
}

/// Opens a file as `options` say; where it is made, only its owner can read it.
pub(super) fn open_private(path: &Path, options: &mut fs::OpenOptions) -> io::Result<fs::File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.create(true).open(path)
}

/// What was said while it was held back; `None` if it is said at once.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Says something that is not an answer.
pub(super) fn say(text: &str) {
    let text = clean(text);
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    match held.as_mut() {
        Some(held) => held.push(text),
        None => speak(&text),
    }
}

/// Holds back what is said from now on, where a program reads stderr: if the command fails, all it
/// is to find there is one JSON object (D14).
pub(super) fn hold() {
    if !io::stderr().is_terminal() {
        *HELD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Vec::new());
    }
}

/// Ends what [`hold`] began and returns what was held back, to be said or forgotten.
pub(super) fn release() -> Vec<String> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
}

/// Asks; anything but `y` or `yes` means no.
pub(super) fn confirm(question: &str) -> Result<bool> {
    let mut stderr = io::stderr().lock();
    write!(stderr, "{} [y/N] ", clean(question))
        .and_then(|()| stderr.flush())
        .map_err(Error::Output)?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(Error::Output)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Writes a line; where stderr is closed there is nobody left to tell.
pub(super) fn speak(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Says something the user should look into.
pub(super) fn warn(text: &str) {
    say(&format!("warning: {text}"));
}
