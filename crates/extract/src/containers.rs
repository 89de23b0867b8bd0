//! Unpacks containers in the child process: archives, attachments of e-mails, messages of mailboxes.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::protocol::{
    MEMBERS_OF_EML, MEMBERS_OF_MBOX, MEMBERS_OF_ZIP, MemberLine, ReadFailure, failure_from_code,
};
use super::sandbox::{ReadOptions, parent};
use crate::document::Container;
use crate::error::{Error, Failure, Result};

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
/// [`Error::Extract`] for a damaged container, or one over the limits on the number and size of its
/// files; [`Error::Io`] if no process can be started.
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

fn member(line: MemberLine) -> Member {
    let content = match (line.bytes, line.failed) {
        (Some(bytes), None) => BASE64_STANDARD.decode(bytes).map_err(|error| Error::Extract {
            failure: Failure::Crashed,
            detail: error.to_string(),
        }),
        (_, Some((code, detail))) => Err(ReadFailure::new(failure_from_code(&code), detail).into()),
        (None, None) => Err(ReadFailure::new(Failure::Crashed, "").into()),
    };
    Member { name: line.name, content }
}
