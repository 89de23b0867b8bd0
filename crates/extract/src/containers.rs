//! Unpacks in the child process: containers (archives, messages of mailboxes), files embedded in documents, and single
//! files that were compressed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

use super::detect::{self, TextExtensions, TypeOverride};
use super::protocol::{
    COMPRESSED, MEMBERS_OF_CHATS, MEMBERS_OF_ENEX, MEMBERS_OF_MBOX, MEMBERS_OF_ZIP, MemberLine,
    PACKAGE, PDF_READERS, ReadFailure, failure_from_code,
};
use super::sandbox::{ReadOptions, parent};
use crate::document::{ContainerKind, Format, Headed};
use crate::error::{Error, FailureKind, Result};

/// A file in a container.
#[derive(Debug)]
pub struct ContainedFile {
    /// Its name: a relative path with `/`, without `..`, and unique in the container.
    pub name: String,
    /// Its bytes, or why it could not be unpacked.
    pub content: Result<Vec<u8>>,
}

/// Returns the files in a container, in its order; `None` for an archive that is an office document or a book.
///
/// # Errors
///
/// [`Error::Extract`] for a damaged container, or one over the limits on the number and
/// size of its files; [`Error::Io`] if no process can be started.
pub fn unpack(
    bytes: &[u8],
    container: ContainerKind,
    options: &ReadOptions,
) -> Result<Option<Vec<ContainedFile>>> {
    let reader = match container {
        ContainerKind::Zip => MEMBERS_OF_ZIP,
        ContainerKind::Mbox => MEMBERS_OF_MBOX,
        ContainerKind::Enex => MEMBERS_OF_ENEX,
        ContainerKind::Chats => MEMBERS_OF_CHATS,
    };
    let reading = parent::read(reader, bytes, options)?;
    Ok(reading.head.format.is_none().then(|| members(reading.members)))
}

/// Returns one file of a container, or one embedded in a document, by its name; `None` if there is none.
///
/// # Errors
///
/// Those of [`unpack`].
pub fn unpack_one(
    path: &Path,
    bytes: &[u8],
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Vec<u8>>> {
    let unpacked = match detect::container(path, bytes) {
        Some(container) => unpack(bytes, container, options)?,
        None => None,
    };
    let members = match unpacked {
        Some(members) => members,
        None => embedded(path, bytes, options)?,
    };
    let member = members.into_iter().find(|member| member.name == name);
    member.map(|member| member.content).transpose()
}

/// Returns the files embedded in a document; none of one that kb does not read.
///
/// # Errors
///
/// Those of [`detect()`] and of the readers.
pub fn embedded(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Vec<ContainedFile>> {
    let wanted = TypeOverride::default();
    let choice = ReadingChoice { is_named: true, wanted, further: &TextExtensions::NONE };
    let Some((format, content)) = detect(path, bytes, choice, options)? else {
        return Ok(Vec::new());
    };
    let reader = match format {
        Format::Pdf => PDF_READERS[0],
        Format::Headed(kind) => kind.as_str(),
        _ => return Ok(Vec::new()),
    };
    Ok(members(parent::read(reader, &content, options)?.members))
}

/// Whether other files may be embedded in a document, by its name. A run asks it of every unchanged file.
pub fn may_embed(path: &Path) -> bool {
    static EXTENSIONS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        let formats = Format::all().filter(|format| match format {
            Format::Pdf => true,
            Format::Headed(kind) => *kind != Headed::Html && *kind != Headed::Mbox,
            _ => false,
        });
        formats.flat_map(Format::extensions).collect()
    });
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| EXTENSIONS.contains(&*extension.to_ascii_lowercase()))
}

pub(super) fn members(lines: Vec<MemberLine>) -> Vec<ContainedFile> {
    lines.into_iter().map(member).collect()
}

/// Returns what a compressed file contains; of any other file its bytes.
///
/// # Errors
///
/// [`Error::Extract`] for damaged data and for more than the limit;
/// [`Error::Io`] if no process can be started.
pub fn content<'a>(path: &Path, bytes: &'a [u8], options: &ReadOptions) -> Result<Cow<'a, [u8]>> {
    if !detect::is_compressed(path, bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let unpacked = parent::read(COMPRESSED, bytes, options)?.members.pop().map(member);
    let unpacked = unpacked.ok_or_else(|| ReadFailure::new(FailureKind::Crashed, ""))?;
    Ok(Cow::Owned(unpacked.content?))
}

/// The choices that decide how a file is read, in addition to its name and its content.
#[derive(Debug, Clone, Copy)]
pub struct ReadingChoice<'a> {
    /// Whether the user named the file.
    pub is_named: bool,
    /// The type that the user asked for.
    pub wanted: TypeOverride,
    /// Further extensions of text.
    pub further: &'a TextExtensions,
}

impl ReadingChoice<'_> {
    /// Whether a file is left out because of its content: a program has written it for programs.
    pub fn leaves_out(&self, format: Format, content: &[u8]) -> bool {
        let is_chosen = self.is_named || !self.wanted.is_open() || self.further.includes_generated;
        !is_chosen && detect::is_bundle(format, content)
    }
}

/// Decides how a file is read, as [`detect::detect`] does, and returns its content. A compressed file is not unpacked
/// if kb reads no file with such a name, unless the user named it. If the name of an archive does not show its format,
/// a child reads the directory of the archive.
///
/// # Errors
///
/// Those of [`detect::detect`] and [`content`].
pub fn detect<'a>(
    path: &Path,
    bytes: &'a [u8],
    choice: ReadingChoice<'_>,
    options: &ReadOptions,
) -> Result<Option<(Format, Cow<'a, [u8]>)>> {
    let ReadingChoice { is_named, wanted, further } = choice;
    let content = if is_named || detect::may_be_read(path, further) {
        content(path, bytes, options)?
    } else {
        Cow::Borrowed(bytes)
    };
    let format = if wanted.is_open() { package(path, &content, options)? } else { None };
    let format = match format {
        Some(format) => Some(format),
        None => detect::detect(path, &content, is_named, wanted, further)?,
    };
    Ok(format.map(|format| (format, content)))
}

/// Decides as [`detect::detect_nameless`] how a document without a file is read.
///
/// # Errors
///
/// Those of [`detect()`].
pub fn detect_nameless(
    path: &Path,
    bytes: &[u8],
    wanted: TypeOverride,
    options: &ReadOptions,
) -> Result<Format> {
    match wanted.is_open().then(|| package(path, bytes, options)).transpose()?.flatten() {
        Some(format) => Ok(format),
        None => detect::detect_nameless(path, bytes, wanted),
    }
}

/// Returns the format of an archive whose name does not say what it is; `None` for any other file, and for an archive
/// that is only one.
fn package(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Option<Format>> {
    if !detect::may_be_package(path, bytes) {
        return Ok(None);
    }
    match parent::read(PACKAGE, bytes, options) {
        Ok(reading) => Ok(reading.head.format.as_deref().and_then(Format::named)),
        // A damaged archive is reported as any file that its name does not explain.
        Err(Error::Extract { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn member(line: MemberLine) -> ContainedFile {
    let content = match line.failed {
        None => Ok(line.bytes),
        Some((code, detail)) => Err(ReadFailure::new(failure_from_code(&code), detail).into()),
    };
    ContainedFile { name: line.name, content }
}
