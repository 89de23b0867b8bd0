//! Checks a file again that SQLite reported as damaged.
//!
//! SQLite reports a file as malformed if the disk fails to read it (`SQLITE_IOERR_CORRUPTFS`
//! becomes `SQLITE_CORRUPT` before a caller sees it). "Start over" is bad advice about an intact
//! file.

use std::io;
use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::error::Error;
use crate::files;
use crate::files::open::SymlinkPolicy;

use super::access::open_read_only;

const QUICK_CHECK: &str = "PRAGMA quick_check(1)";

/// The result of checking a file again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Diagnosis {
    /// The disk fails to read it; the message is SQLite's.
    Unreadable(String),
    /// It is intact: the first report was wrong.
    Intact,
    /// It is damaged.
    Damaged,
}

/// Lets SQLite read every page of a database again and check its structure.
pub(crate) fn check_again(path: &Path) -> Diagnosis {
    let answer = open_read_only(path)
        .and_then(|db| db.query_row(QUICK_CHECK, [], |row| row.get::<_, String>(0)));
    match answer {
        Ok(answer) => of_answer(answer),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => {
            Diagnosis::Unreadable(error.to_string())
        }
        // SQLite reports this as malformed again if the disk still fails; the system does not.
        Err(_) => match read_through(path) {
            Ok(()) => Diagnosis::Damaged,
            Err(error) => Diagnosis::Unreadable(error.to_string()),
        },
    }
}

/// Reads the database and its log to their ends, without SQLite.
fn read_through(path: &Path) -> io::Result<()> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    for path in [path, Path::new(&log)] {
        match files::open::open(path, SymlinkPolicy::Follow) {
            Ok(mut file) => io::copy(&mut file, &mut io::sink()).map(drop)?,
            Err(Error::Io { source, .. }) => return Err(source),
            // A missing log is no failure of the disk.
            Err(_) => {}
        }
    }
    Ok(())
}

fn of_answer(answer: String) -> Diagnosis {
    match answer.as_str() {
        "ok" => Diagnosis::Intact,
        _ if is_unreadable(&answer) => Diagnosis::Unreadable(answer),
        _ => Diagnosis::Damaged,
    }
}

/// Whether a message of SQLite's own check is about a page that could not be read at all.
pub(crate) fn is_unreadable(message: &str) -> bool {
    let code = message.split_once("error code=").map(|(_, rest)| {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().unwrap_or(0)
    });
    // About a page of the free list, the message has these words and no code.
    code.is_some_and(|code: i32| code & 0xff == ffi::SQLITE_IOERR)
        || message.contains("failed to get page")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::db::fault::DatabaseFault;
    use crate::testing::TestDb;

    /// SQLite's error for an impossible page.
    fn malformed() -> DatabaseFault {
        DatabaseFault::from(rusqlite::Error::SqliteFailure(
            ffi::Error::new(ffi::SQLITE_CORRUPT),
            None,
        ))
    }

    #[test]
    fn an_unreadable_page_is_not_reported_as_damage() {
        for (answer, is_disk) in [
            ("Tree 3 page 7 cell 0: unable to get the page. error code=8458", true),
            ("Tree 3 page 7: unable to get the page. error code=266", true),
            ("*** in database main ***\nFreelist: failed to get page 9", true),
            ("Tree 3 page 7: unable to get the page. error code=11", false),
            ("Tree 3 page 7: btreeInitPage() returns error code 11", false),
            ("non-unique entry in index document_paths_document_id", false),
        ] {
            let is_unreadable = matches!(of_answer(answer.to_owned()), Diagnosis::Unreadable(_));
            assert_eq!(is_unreadable, is_disk, "{answer}");
        }
        let code = ffi::Error::new(ffi::SQLITE_IOERR_CORRUPTFS);
        let fault = DatabaseFault::from(rusqlite::Error::SqliteFailure(code, None));
        let error = fault.at(Path::new("kb.db"));
        assert_eq!(error.code(), "disk_failed");
        assert!(error.hint().unwrap().to_string().contains("may be intact"), "{error}");
    }

    #[test]
    fn only_a_damaged_file_is_reported_as_damaged() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two"], &[]);
        let path = db.path();
        assert_eq!(malformed().at(&path).code(), "disk_failed");
        db.store.close().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let page = bytes.len() / 2 / 4096 * 4096;
        bytes[page..page + 4096].fill(0x55);
        fs::write(&path, bytes).unwrap();
        assert!(matches!(check_again(&path), Diagnosis::Damaged));
        assert_eq!(malformed().at(&path).code(), "corrupt");
        assert_eq!(malformed().at(&path.with_file_name("missing.db")).code(), "corrupt");
    }
}
