//! Returns for each error who can fix it, its stable code, its file, and a hint.
//!
//! Every table is an exhaustive `match`, so a new error only compiles once it is in each.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::document::Format;
use crate::error::{Error, FailureKind};
use crate::text::printable::clean;

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
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// Returns an invalid value in a file or variable, without a hint.
    pub fn config(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::Config { path: path.into(), message: message.into(), hint: None }
    }

    /// Says what to type instead, for [`Self::Usage`] and [`Self::Config`].
    #[must_use]
    pub fn with_hint(mut self, text: impl Into<String>) -> Self {
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
    pub fn hint(&self) -> Option<String> {
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
                "name a file or a folder; `kb add - --title TITLE` reads a pipe".into()
            }
            Self::LinkRefused { .. } => "`kb add --follow FOLDER` follows the links below a folder; \
                 a link given by name is followed"
                .into(),
            Self::TooLarge { .. } => "raise it with `kb config set ingestion.max_file_mb N`".into(),
            Self::TooSlow { .. } => {
                "raise it with `kb config set ingestion.max_cpu_seconds N`".into()
            }
            Self::EmptyQuery => "type some words: `kb search \"how to install git\"`".into(),
            Self::OnlyExclusions => "add a word to search for, as in `kb search 'recipe -draft'`, or leave \
                 out the dash"
                .into(),
            Self::UnknownDocument { .. } => "`kb list` shows all ids".into(),
            Self::NotANote { .. } => "change the file, then run `kb update`".into(),
            Self::UnknownChunk { .. } => {
                "search again: chunk ids change when a document is indexed again".into()
            }
            Self::AmbiguousDocument { candidates, .. } => {
                // Each candidate has one line; `clean` removes the line ends of titles.
                let lines = candidates.iter().map(|candidate| format!("\n  {}", clean(candidate)));
                format!("type the id or more of the name:{}", lines.collect::<String>())
            }
            Self::UnknownPart { document, similar, .. } if similar.is_empty() => {
                format!("`kb outline {document}` lists all parts")
            }
            Self::UnknownPart { similar, .. } => format!("did you mean: {}", similar.join("; ")),
            Self::UnknownModel { known, .. } => format!(
                "known models: {}; for any other, use `--model-dir DIRECTORY`",
                known.join(", ")
            ),
            Self::ModelMismatch { bound, wanted, .. } => {
                if Path::new(wanted).is_absolute() {
                    format!("run `kb reindex --model-dir {wanted}` to switch models")
                } else if first_word(wanted) == first_word(bound) {
                    "run `kb reindex` to compute all vectors again".into()
                } else {
                    format!("run `kb reindex --model {}` to switch models", first_word(wanted))
                }
            }
            Self::NoModelFiles { .. } => "name their directory with `kb init --model-dir DIRECTORY`; \
                 `kb search --fts-only` needs no model"
                .into(),
            Self::NotInstalled { .. } => "run `kb init` once, with network access".into(),
            Self::UntrustedModel { name } => format!(
                "`kb init --model {name}` fetches it, if you trust it; `kb import FILE --model MODEL` \
                 computes the vectors with another model"
            ),
            Self::UntrustedBase { .. } => {
                "`kb base allow --files` shows its folders, and follows them after a yes".into()
            }
            Self::UnknownBase { known, .. } => {
                format!("the names are {}; `kb base add NAME` makes another", known.join(", "))
            }
            Self::CacheChanged { .. } => "`kb doctor --fix` fetches or rebuilds it".into(),
            Self::Fetch { hint, .. } | Self::Model { hint, .. } => (*hint).into(),
            Self::Corrupt { .. } => {
                "`kb doctor --fix` repairs what it can; else restore a copy of the file, or move it \
                 away and add the documents again"
                    .into()
            }
            Self::DiskFailed { .. } => {
                "the file may be intact: run the command again, and check the disk if it fails again"
                    .into()
            }
            Self::Foreign { .. } => "point `--data-dir` or KB_DATA_DIR at another directory".into(),
            Self::SchemaTooNew { .. } => "upgrade kb, and restart servers and watches that \
                still run an older one"
                .into(),
            Self::AlteredSchema { .. } => "nothing in it was run or changed: find out where the file came \
                 from, or put a backup in its place with `kb restore FILE`"
                .into(),
            Self::ReadOnly { .. } => "copy the database to a folder that you can write, and name \
                 that folder with `--data-dir`"
                .into(),
            Self::NeedsWriting { .. } => "copy kb.db, and kb.db-wal if it is there, to a folder that you \
                 can write, and name that folder with `--data-dir`"
                .into(),
            Self::ChangedMeanwhile { .. } => "run the command again when no other program writes to it, \
                 or copy it to a folder that you can write"
                .into(),
            Self::Locked { .. } => "wait for the other `kb` to end, then try again".into(),
            Self::DiskFull { .. } => {
                "make room on that disk: old backups, caches, or documents with `kb remove`; then run the \
                 command again: stored documents are kept"
                    .into()
            }
            Self::Cancelled | Self::Interrupted { .. } => {
                "run the same command again to continue where it stopped".into()
            }
            Self::InFile { cause, .. } => return cause.hint(),
            Self::Skill(diagnostic) => return diagnostic.hint(),
            Self::Extract { failure: FailureKind::NotText | FailureKind::WrongFormat, .. } => {
                "set the type of the file with `--type`".into()
            }
            Self::Extract { failure: FailureKind::PasswordNeeded, .. } => {
                "set KB_PASSWORD or use `--password`".into()
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

/// Says what was typed in place of a path, if it looks like something else.
fn not_found(path: &Path) -> Option<String> {
    let typed = path.to_str()?;
    if typed.starts_with("http://") || typed.starts_with("https://") {
        return Some(
            "kb reads files, not addresses: save the page, or `curl ADDRESS | kb add - --title TITLE`"
                .into(),
        );
    }
    let is_pattern = typed.contains(['*', '?']);
    is_pattern.then(|| "no file here matches it; a folder is added with everything below it".into())
}

/// How files of kinds that nothing reads become files that kb reads: extensions in lower case, and the command.
const CONVERSIONS: &[(&[&str], &str)] = &[
    (&["doc", "dot", "wps", "wpd"], "convert it: `soffice --headless --convert-to docx FILE`"),
    (&["xls", "xlt", "xlsb"], "convert it: `soffice --headless --convert-to xlsx FILE`"),
    (&["ppt", "pps", "pot"], "convert it: `soffice --headless --convert-to pptx FILE`"),
    (&["vsd", "vsdx", "pub"], "convert it: `soffice --headless --convert-to pdf FILE`"),
    (&["pst", "ost"], "convert it: `readpst -e FILE`"),
    (&["mobi", "azw", "azw3"], "convert it: `ebook-convert FILE out.epub`"),
    (&["djvu"], "convert it: `ddjvu -format=pdf FILE out.pdf`"),
    (&["ps", "eps"], "convert it: `ps2pdf FILE`"),
    (&["xps"], "convert it: `xpstopdf FILE`"),
    (&["pages", "numbers", "key"], "export it as .docx, .xlsx or .pptx in its program"),
    (&["one"], "export it as PDF or .docx in OneNote"),
    (&["rar", "7z", "chm"], "unpack it: `7z x FILE`; then add the folder"),
    (&["tar", "tgz"], "unpack it: `tar xf FILE`; then add the folder"),
    (&["heic", "heif"], "convert it: `heif-convert FILE out.jpg`"),
];

/// Extensions of files that hold others. A text with one is an exception, not the first of many.
const PACKED: [&str; 2] = ["zip", "gz"];

/// Returns how to convert a file of a kind that nothing reads, by its extension.
fn conversion(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let found = CONVERSIONS.iter().find(|(extensions, _)| extensions.contains(&&*extension));
    found.map(|(_, command)| (*command).to_owned())
}

/// Returns the name in the description of a model, which has no spaces.
fn first_word(model: &str) -> &str {
    model.split(' ').next().unwrap_or_default()
}

/// Returns how a text with an extension of no format is read.
fn as_text(path: &Path) -> String {
    // A name that a shell would not take literally is left out of a command to copy.
    let shown = path.to_str().filter(|path| {
        path.chars().all(|letter| letter.is_alphanumeric() || "/._-+@".contains(letter))
            && !path.starts_with('-')
    });
    let this = format!("it is text: `kb add --type markdown {}` reads it", shown.unwrap_or("FILE"));
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let extension = extension.to_ascii_lowercase();
    let is_free = !extension.is_empty()
        && extension.chars().all(|letter| letter.is_ascii_alphanumeric())
        && !PACKED.contains(&&*extension)
        && Format::with_extension(&extension).is_none()
        && conversion(path).is_none();
    if !is_free {
        return this;
    }
    format!(
        "{this}; `kb config set ingestion.text_extensions {extension}` reads all .{extension} files"
    )
}

/// Lists the formats that kb reads, by their extensions.
fn supported_formats() -> String {
    format!(
        "supported: {}, source code such as .py .sh .bash .go .js .ts .rs .c .cpp .java, and {} by OCR; \
         `--type` and `--language` set the type of other files",
        extensions(false),
        extensions(true)
    )
}

/// Lists the extensions of pictures, or of all other formats.
fn extensions(is_picture: bool) -> String {
    let formats = Format::all().filter(|format| matches!(format, Format::Image(_)) == is_picture);
    let extensions: Vec<&str> = formats.flat_map(Format::usual_extensions).copied().collect();
    format!(".{}", extensions.join(" ."))
}

#[cfg(test)]
mod tests;
