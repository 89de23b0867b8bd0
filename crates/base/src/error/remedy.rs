//! Returns for each error who can fix it, its stable code, its file, and a hint.
//!
//! Every table is an exhaustive `match`, so a new error only compiles once it is in each.

mod unread;

use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, FailureKind};
use crate::text::printable::clean;
use crate::wording::{Wording, kb, option, phrase, wording};
use unread::{as_text, conversion, not_found, supported_formats};

/// Who can fix an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixer {
    /// The user, with other arguments, settings or files.
    User,
    /// Not the command line: the machine, the network or the database is at fault.
    Machine,
}

impl Error {
    /// Returns an invalid command line or request, without a hint.
    pub fn usage(message: impl Into<Wording>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// Returns an invalid value in a file or variable, without a hint.
    pub fn config(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::Config { path: path.into(), message: message.into(), hint: None }
    }

    /// Says what to type instead, for [`Self::Usage`] and [`Self::Config`].
    #[must_use]
    pub fn with_hint(mut self, text: impl Into<Wording>) -> Self {
        if let Self::Usage { hint, .. } | Self::Config { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// Returns the error of reading or writing a file; [`Self::DiskFull`] if there is no room for it.
    pub fn of_file(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { path, source },
        }
    }

    /// Returns who can fix it, and its code.
    fn row(&self) -> (Fixer, &'static str) {
        use Fixer::{Machine, User};
        match self {
            Self::Usage { .. } => (User, "usage"),
            Self::Config { .. } => (User, "config"),
            Self::PathNotFound { .. } => (User, "path_not_found"),
            Self::Io { .. } => (User, "io"),
            Self::UnsupportedFormat { .. } | Self::NotAFile { .. } => (User, "unsupported_format"),
            Self::LinkRefused { .. } => (User, "link_refused"),
            Self::IgnoreFile { .. } => (User, "ignore_file"),
            Self::OverLimit { .. } => (User, "over_limit"),
            Self::EmptyFile { .. } => (User, "empty_file"),
            Self::TooLarge { .. } => (User, "too_large"),
            Self::Extract { failure, .. } => (User, failure.as_str()),
            Self::TooSlow { .. } => (User, FailureKind::TimedOut.as_str()),
            Self::InFile { cause, .. } => (User, cause.code()),
            Self::EmptyQuery => (User, "empty_query"),
            Self::OnlyExclusions => (User, "only_exclusions"),
            Self::UnknownDocument { .. } | Self::NotANote { .. } => (User, "unknown_document"),
            Self::UnknownChunk { .. } => (User, "unknown_chunk"),
            Self::AmbiguousDocument { .. } => (User, "ambiguous_document"),
            Self::UnknownPart { .. } => (User, "unknown_part"),
            Self::UnknownModel { .. } => (User, "unknown_model"),
            Self::ModelMismatch { .. } => (User, "model_mismatch"),
            Self::NoModelFiles { .. } => (User, "no_model_files"),
            Self::NotInstalled { .. } => (User, "not_installed"),
            Self::UntrustedModel { .. } => (User, "untrusted_model"),
            Self::UntrustedBase { .. } => (User, "untrusted_base"),
            Self::UnknownBase { .. } => (User, "unknown_base"),
            Self::Fetch { .. } => (Machine, "fetch"),
            Self::Target { .. } => (Machine, "target"),
            Self::Model { .. } => (Machine, "model"),
            Self::CacheChanged { .. } => (Machine, "cache_changed"),
            Self::Inference(_) => (Machine, "inference"),
            Self::Corrupt { .. } => (Machine, "corrupt"),
            Self::DiskFailed { .. } => (Machine, "disk_failed"),
            Self::Foreign { .. } => (Machine, "foreign"),
            Self::SchemaTooNew { .. } => (Machine, "schema_too_new"),
            Self::AlteredSchema { .. } => (Machine, "altered_schema"),
            Self::ReadOnly { .. } => (Machine, "read_only"),
            Self::NeedsWriting { .. } => (Machine, "needs_writing"),
            Self::ChangedMeanwhile { .. } => (Machine, "changed_meanwhile"),
            Self::Locked { .. } => (User, "locked"),
            Self::DiskFull { .. } => (Machine, "disk_full"),
            Self::Store(_) => (Machine, "store"),
            Self::Output(_) => (Machine, "output"),
            Self::Skill(diagnostic @ Diagnostic::Internal(_)) => (Machine, diagnostic.code()),
            Self::Skill(diagnostic) => (User, diagnostic.code()),
            Self::Cancelled => (User, "cancelled"),
            Self::Interrupted { .. } => (User, "interrupted"),
        }
    }

    /// Returns who can fix it.
    pub fn fixed_by(&self) -> Fixer {
        self.row().0
    }

    /// Returns the stable code for JSON; unlike the message, it never changes.
    pub fn code(&self) -> &'static str {
        self.row().1
    }

    /// Returns what its `Display` writes, in a form for every face.
    pub fn message(&self) -> Wording {
        match self {
            Self::Usage { message, .. } => message.clone(),
            other => other.to_string().into(),
        }
    }

    /// Returns the message about a file, which it names.
    pub fn text_about(&self, file: &Path) -> String {
        match self.path() {
            Some(_) => self.to_string(),
            None => format!("{}: {self}", file.display()),
        }
    }

    /// Returns the file of the error, if it has one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Config { path, .. }
            | Self::PathNotFound { path }
            | Self::Io { path, .. }
            | Self::UnsupportedFormat { path, .. }
            | Self::NotAFile { path }
            | Self::LinkRefused { path }
            | Self::IgnoreFile { path, .. }
            | Self::OverLimit { path, .. }
            | Self::EmptyFile { path }
            | Self::TooLarge { path, .. }
            | Self::InFile { path, .. }
            | Self::Model { path, .. }
            | Self::CacheChanged { path, .. }
            | Self::Corrupt { path, .. }
            | Self::DiskFailed { path, .. }
            | Self::Foreign { path }
            | Self::UntrustedBase { path }
            | Self::SchemaTooNew { path, .. }
            | Self::AlteredSchema { path, .. }
            | Self::ReadOnly { path }
            | Self::NeedsWriting { path, .. }
            | Self::ChangedMeanwhile { path }
            | Self::Locked { path }
            | Self::DiskFull { path } => Some(path),
            _ => None,
        }
    }

    /// Replaces the path in the error, if it has one, with another path of the same file.
    pub fn about(self, path: &Path) -> Self {
        let path = path.to_owned();
        match self {
            Self::PathNotFound { .. } => Self::PathNotFound { path },
            Self::Io { source, .. } => Self::Io { path, source },
            Self::NotAFile { .. } => Self::NotAFile { path },
            Self::LinkRefused { .. } => Self::LinkRefused { path },
            Self::OverLimit { limit_bytes, .. } => Self::OverLimit { path, limit_bytes },
            other => other,
        }
    }

    /// Adds the file, unless the message already names it.
    pub fn in_file(self, path: &Path) -> Self {
        match self.path() {
            Some(_) => self,
            None => Self::InFile { path: path.to_owned(), cause: Box::new(self) },
        }
    }

    /// Whether it ends the run rather than only the reading of one file.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Cancelled | Self::Locked { .. } | Self::ModelMismatch { .. } => true,
            Self::Fetch { .. } | Self::Target { .. } | Self::Output(_) | Self::Skill(_) => false,
            _ => self.fixed_by() == Fixer::Machine,
        }
    }

    /// Returns what the user can do next; `None` if the message is sufficient.
    pub fn hint(&self) -> Option<Wording> {
        Some(match self {
            Self::Usage { hint, .. } | Self::Target { hint, .. } => return hint.clone(),
            Self::Config { hint: Some(hint), .. } => hint.clone(),
            Self::Config { hint: None, .. } => {
                "correct the value or remove it to use the default".into()
            }
            Self::UnsupportedFormat { path, is_text: true, .. } => as_text(path),
            Self::UnsupportedFormat { path, .. } => {
                conversion(path).unwrap_or_else(supported_formats)
            }
            Self::NotAFile { .. } => {
                let from_pipe = kb("add").arg("-").option("--title", "TITLE");
                wording!("name a file or a folder; `{}` reads a pipe", from_pipe)
            }
            Self::LinkRefused { .. } => wording!(
                "`{}` follows the links below a folder; a link that you name is always followed",
                kb("add").option("--follow", "FOLDER")
            ),
            Self::TooLarge { .. } => raise("ingestion.max_file_mb"),
            Self::TooSlow { .. } => raise("ingestion.max_cpu_seconds"),
            Self::EmptyQuery => {
                wording!("type some words: `{}`", kb("search").arg(phrase("how to install git")))
            }
            Self::OnlyExclusions => wording!(
                "add a word to search for, as in `{}`, or leave out the dash",
                kb("search").arg("recipe -draft")
            ),
            Self::UnknownDocument { .. } => wording!("`{}` shows all ids", kb("list")),
            Self::NotANote { .. } => wording!("change the file, then run `{}`", kb("update")),
            Self::UnknownChunk { .. } => {
                "search again: chunk ids change when a document is re-indexed".into()
            }
            Self::AmbiguousDocument { candidates, .. } => {
                // Each candidate has one line; `clean` removes the line ends of titles.
                let lines = candidates.iter().map(|candidate| format!("\n  {}", clean(candidate)));
                format!("type the id or more of the name:{}", lines.collect::<String>()).into()
            }
            Self::UnknownPart { document, similar, .. } if similar.is_empty() => {
                wording!("`{}` lists all parts", kb("outline").arg(*document))
            }
            Self::UnknownPart { similar, .. } => {
                format!("did you mean: {}", similar.join("; ")).into()
            }
            Self::UnknownModel { known, .. } => format!(
                "known models: {}; for any other, use `--model-dir DIRECTORY`",
                known.join(", ")
            )
            .into(),
            Self::ModelMismatch { bound, wanted, .. } => {
                let reindex = kb("reindex");
                if Path::new(wanted).is_absolute() {
                    let reindex = reindex.option("--model-dir", &**wanted);
                    wording!("run `{}` to switch models", reindex)
                } else if first_word(wanted) == first_word(bound) {
                    wording!("run `{}` to recompute all vectors", reindex)
                } else {
                    let reindex = reindex.option("--model", first_word(wanted));
                    wording!("run `{}` to switch models", reindex)
                }
            }
            Self::NoModelFiles { .. } => wording!(
                "name their directory with `{}`; `{}` needs no model",
                kb("init").option("--model-dir", "DIRECTORY"),
                kb("search").flag("--fts-only")
            ),
            Self::NotInstalled { .. } => wording!("run `{}` once, with network access", kb("init")),
            Self::UntrustedModel { name } => wording!(
                "`{}` fetches it, if you trust it; `{}` computes the vectors with another model",
                kb("init").option("--model", &**name),
                kb("import").arg("FILE").option("--model", "MODEL")
            ),
            Self::UntrustedBase { .. } => wording!(
                "`{}` shows its folders, and follows them if you confirm",
                kb("base allow").flag("--files")
            ),
            Self::UnknownBase { known, .. } => wording!(
                "the names are {}; `{}` creates another",
                known.join(", "),
                kb("base add").arg("NAME")
            ),
            Self::CacheChanged { .. } => {
                wording!("`{}` fetches or rebuilds it", kb("doctor").flag("--fix"))
            }
            Self::Fetch { hint, .. } | Self::Model { hint, .. } => hint.clone(),
            Self::Corrupt { .. } => wording!(
                "`{}` repairs what it can; otherwise restore a copy of the file, or move it away \
                 and add the documents again",
                kb("doctor").flag("--fix")
            ),
            Self::DiskFailed { .. } => {
                "the file may be intact: run the command again, and check the disk if it fails again"
                    .into()
            }
            Self::Foreign { .. } => {
                wording!("set `{}` or KB_DATA_DIR to another directory", option("--data-dir"))
            }
            Self::SchemaTooNew { .. } => "upgrade kb, and restart servers and watches that \
                still run an older one"
                .into(),
            Self::AlteredSchema { .. } => wording!(
                "kb ran and changed nothing in it: find out where the file came from, or replace \
                 it with a backup with `{}`",
                kb("restore").arg("FILE")
            ),
            Self::ReadOnly { .. } => wording!(
                "copy the database to a folder that you can write to, and name that folder with \
                 `{}`",
                option("--data-dir")
            ),
            Self::NeedsWriting { .. } => wording!(
                "copy kb.db, and kb.db-wal if it exists, to a folder that you can write to, and \
                 name that folder with `{}`",
                option("--data-dir")
            ),
            Self::ChangedMeanwhile { .. } => "run the command again when no other program writes \
                to it, or copy it to a folder that you can write to"
                .into(),
            Self::Locked { .. } => "wait for the other `kb` to end, then try again".into(),
            Self::DiskFull { .. } => wording!(
                "free space on that disk: delete old backups or caches, or remove documents with \
                 `{}`; then run the command again, which keeps stored documents",
                kb("remove")
            ),
            Self::Cancelled | Self::Interrupted { .. } => {
                "run the same command again to continue where it stopped".into()
            }
            Self::InFile { cause, .. } => return cause.hint(),
            Self::Skill(diagnostic) => return diagnostic.hint(),
            Self::Extract { failure: FailureKind::NotText | FailureKind::WrongFormat, .. } => {
                wording!("set the type of the file with `{}`", option("--type"))
            }
            Self::Extract { failure: FailureKind::PasswordNeeded, .. } => {
                wording!("set KB_PASSWORD or use `{}`", option("--password"))
            }
            Self::PathNotFound { path } => return not_found(path),
            Self::Io { .. }
            | Self::IgnoreFile { .. }
            | Self::OverLimit { .. }
            | Self::EmptyFile { .. }
            | Self::Extract { .. }
            | Self::Inference(_)
            | Self::Store(_)
            | Self::Output(_) => return None,
        })
    }
}

/// Says how to raise a limit of the settings.
fn raise(key: &str) -> Wording {
    wording!("raise it with `{}`", kb("config set").arg(key).arg("N"))
}

/// Returns the name in the description of a model, which has no spaces.
fn first_word(model: &str) -> &str {
    model.split(' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
