//! Logs the files that could not be ingested, over all runs.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::app::{Observer, Session};
use crate::error::Error;
use crate::files::{File, write};
use crate::text::paths::path_text;
use crate::text::printable::clean;

/// Name of the log in the data directory.
const ERROR_LOG: &str = "ingest-errors.log";

/// The log, with one line per failure: time, path, code and message, separated by tabs.
pub(crate) struct ErrorLog {
    path: PathBuf,
    file: Option<File>,
}

impl ErrorLog {
    pub(crate) fn of(session: &Session) -> Self {
        Self { path: session.data_dir().join(ERROR_LOG), file: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a line. If the log cannot be written, this is reported once and is not an error.
    pub(crate) fn append(&mut self, path: &Path, error: &Error, observer: &dyn Observer) {
        if self.file.is_none() {
            match write::append(&self.path) {
                Ok(file) => self.file = Some(file),
                Err(cause) => {
                    observer.warn(format!("cannot write {}: {cause}", self.path.display()));
                    return;
                }
            }
        }
        let now = now();
        let (path, message) = (clean(&path_text(path)), clean(&error.to_string()));
        if let Some(file) = &mut self.file
            && let Err(cause) = writeln!(file, "{now}\t{path}\t{}\t{message}", error.code())
        {
            observer.warn(format!("cannot write {}: {cause}", self.path.display()));
        }
    }
}

/// Returns the time in RFC 3339, UTC, whole seconds.
pub fn now() -> String {
    let now = jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
