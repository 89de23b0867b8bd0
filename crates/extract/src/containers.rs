//! Unpacks in the child process: containers (archives, attachments of e-mails, messages of mailboxes) and single
//! files that were compressed.

use std::borrow::Cow;
use std::path::Path;

use super::detect::{self, TextExtensions, TypeOverride};
use super::protocol::{
    COMPRESSED, MEMBERS_OF_EML, MEMBERS_OF_MBOX, MEMBERS_OF_ZIP, MemberLine, ReadFailure,
    failure_from_code,
};
use super::sandbox::{ReadOptions, parent};
use crate::document::{Container, Format};
use crate::error::{Failure, Result};

/// A file in a container.
#[derive(Debug)]
pub struct Member {
    /// Its name: a relative path with `/`, without `..`, and unique in the container.
    pub name: String,
    /// Its bytes, or why it could not be unpacked.
    pub content: Result<Vec<u8>>,
}

/// Returns the files in a container, in its order.
///
/// # Errors
///
/// [`Error::Extract`](crate::error::Error::Extract) for a damaged container, or one over the limits on the number and
/// size of its files; [`Error::Io`](crate::error::Error::Io) if no process can be started.
pub fn unpack(bytes: &[u8], container: Container, options: &ReadOptions) -> Result<Vec<Member>> {
    let reader = match container {
        Container::Zip => MEMBERS_OF_ZIP,
        Container::Eml => MEMBERS_OF_EML,
        Container::Mbox => MEMBERS_OF_MBOX,
    };
    let reading = parent::read(reader, bytes, options)?;
    Ok(reading.members.into_iter().map(member).collect())
}

/// Returns one file of a container by its name; `None` if there is none.
///
/// # Errors
///
/// Those of [`unpack`].
pub fn unpack_one(
    bytes: &[u8],
    container: Container,
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Vec<u8>>> {
    let members = unpack(bytes, container, options)?;
    let member = members.into_iter().find(|member| member.name == name);
    member.map(|member| member.content).transpose()
}

/// Returns what a compressed file contains; of any other file its bytes.
///
/// # Errors
///
/// [`Error::Extract`](crate::error::Error::Extract) for damaged data and for more than the limit;
/// [`Error::Io`](crate::error::Error::Io) if no process can be started.
pub fn content<'a>(path: &Path, bytes: &'a [u8], options: &ReadOptions) -> Result<Cow<'a, [u8]>> {
    if !detect::is_compressed(path, bytes) {
        return Ok(Cow::Borrowed(bytes));
    }
    let unpacked = parent::read(COMPRESSED, bytes, options)?.members.pop().map(member);
    let unpacked = unpacked.ok_or_else(|| ReadFailure::new(Failure::Crashed, ""))?;
    Ok(Cow::Owned(unpacked.content?))
}

/// What decides how a file is read, beside its name and its content.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    /// Whether the user named the file.
    pub is_named: bool,
    /// The type that the user asked for.
    pub wanted: TypeOverride,
    /// Further extensions of text.
    pub further: &'a TextExtensions,
}

/// Decides as [`detect::detect`] how a file is read, and returns its content. A compressed file whose name is
/// that of nothing that kb reads is not unpacked, unless the user named it.
///
/// # Errors
///
/// Those of [`detect::detect`] and [`content`].
pub fn detect<'a>(
    path: &Path,
    bytes: &'a [u8],
    choice: Choice<'_>,
    options: &ReadOptions,
) -> Result<Option<(Format, Cow<'a, [u8]>)>> {
    let Choice { is_named, wanted, further } = choice;
    let content = match is_named || detect::may_be_read(path, further) {
        true => content(path, bytes, options)?,
        false => Cow::Borrowed(bytes),
    };
    let format = detect::detect(path, &content, is_named, wanted, further)?;
    Ok(format.map(|format| (format, content)))
}

fn member(line: MemberLine) -> Member {
    let content = match line.failed {
        None => Ok(line.bytes),
        Some((code, detail)) => Err(ReadFailure::new(failure_from_code(&code), detail).into()),
    };
    Member { name: line.name, content }
}
