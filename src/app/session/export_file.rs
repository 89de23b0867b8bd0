//! Writes exports to files that only their owner can read.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::app::Observer;
use crate::app::session::typed::absolute;
use crate::error::{Error, Result};
use crate::files::write::{self, Draft};
use crate::store::{AddedFolder, DocumentId, Store};
use crate::text::json::JsonLine;
use crate::text::number::counted;
use crate::transfer::{self, ExportSummary};

/// A file to export to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// The file, as typed.
    pub path: PathBuf,
    /// Whether an existing file is replaced.
    pub is_replacing: bool,
}

/// Writes documents and added folders to a file before they are removed; nothing is written if there are
/// none.
pub(crate) fn export_documents(
    store: &Store,
    ids: &[DocumentId],
    folders: &[AddedFolder],
    file: &ExportFile,
    observer: &dyn Observer,
) -> Result<()> {
    if ids.is_empty() && folders.is_empty() {
        return Ok(());
    }
    let exported = write_file(&file.path, file.is_replacing, |write| {
        transfer::export(store, Some(ids), folders, false, write)
    })?;
    let documents = counted(exported.num_documents, "document");
    observer.info(format!("Exported {documents} to {}.", file.path.display()));
    Ok(())
}

/// Writes lines to a file that only its owner can read, and that is complete or not there.
pub(crate) fn write_file(
    file: &Path,
    is_replacing: bool,
    export: impl FnOnce(&mut dyn FnMut(&JsonLine) -> Result<()>) -> Result<ExportSummary>,
) -> Result<ExportSummary> {
    let path = absolute(file)?;
    let fail = |source| Error::of_file(&path, source);
    if path.symlink_metadata().is_ok() && !is_replacing {
        return Err(exists(&path));
    }
    let draft = if is_replacing { Draft::create(&path) } else { Draft::create_own(&path) };
    let mut draft = draft.map_err(fail)?;
    let mut out = BufWriter::new(draft.file());
    let exported = export(&mut |line| out.write_all(line.as_str().as_bytes()).map_err(fail))?;
    out.flush().map_err(fail)?;
    drop(out);
    let published = if is_replacing { draft.publish() } else { draft.publish_new() };
    published.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(&path),
        _ => fail(error),
    })?;
    Ok(exported)
}

/// Writes a file that only its owner can read.
pub fn write_bytes(file: &ExportFile, bytes: &[u8]) -> Result<()> {
    let path = absolute(&file.path)?;
    let written = if file.is_replacing {
        write::replace(&path, bytes)
    } else {
        write::create_new(&path, bytes)
    };
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(&path),
        _ => Error::of_file(&path, error),
    })
}

fn exists(path: &Path) -> Error {
    Error::usage(format!("{} already exists", path.display()))
        .with_hint("name another file, or replace this one with --force")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    #[test]
    fn nothing_is_written_for_no_documents() {
        let world = World::new();
        world.add_named("docs/a.md", "ebb");
        let file = ExportFile { path: world.path("x.jsonl"), is_replacing: false };
        let store = world.store();
        export_documents(&store, &[], &[], &file, &world).unwrap();
        assert!(!file.path.exists());
        export_documents(&store, &[DocumentId(1)], &[], &file, &world).unwrap();
        assert!(file.path.exists() && world.heard("Exported 1 document to"));
    }
}
