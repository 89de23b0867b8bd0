//! Looks again at a file of which SQLite said that it is damaged.
//!
//! SQLite calls a file malformed whose disk fails to read it (`SQLITE_IOERR_CORRUPTFS` becomes
//! `SQLITE_CORRUPT` before a caller sees it). "Start over" is bad advice about a sound file.

use std::io;
use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use crate::error::Error;
use crate::files;
use crate::files::open::Links;

use super::open::open_to_look;

const QUICK_CHECK: &str = "PRAGMA quick_check(1)";

/// What a second look found.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::store) enum Look {
    /// The disk fails to read it, as SQLite says.
    Unreadable(String),
    /// It is as it should be: the first look was wrong.
    Sound,
    /// It is damaged.
    Damaged,
}

/// Lets SQLite read every page of a database once more and examine its structure.
pub(in crate::store) fn look_again(path: &Path) -> Look {
    let answer = open_to_look(path)
        .and_then(|db| db.query_row(QUICK_CHECK, [], |row| row.get::<_, String>(0)));
    match answer {
        Ok(answer) => of_answer(answer),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) => {
            Look::Unreadable(error.to_string())
        }
        // SQLite calls this malformed again if the disk still fails; the system does not.
        Err(_) => match read_through(path) {
            Ok(()) => Look::Damaged,
            Err(error) => Look::Unreadable(error.to_string()),
        },
    }
}

/// Reads the database and its log to their ends, without SQLite.
fn read_through(path: &Path) -> io::Result<()> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    for path in [path, Path::new(&log)] {
        match files::open::open(path, Links::Follow) {
            Ok(mut file) => io::copy(&mut file, &mut io::sink()).map(drop)?,
            Err(Error::Io { source, .. }) => return Err(source),
            // There need not be a log.
            Err(_) => {}
        }
    }
    Ok(())
}

fn of_answer(answer: String) -> Look {
    match answer.as_str() {
        "ok" => Look::Sound,
        _ if is_unreadable(&answer) => Look::Unreadable(answer),
        _ => Look::Damaged,
    }
}

/// Whether a message of SQLite's own examination is about a page that could not be read at all.
pub(in crate::store) fn is_unreadable(message: &str) -> bool {
    let code = message.split_once("error code=").map(|(_, rest)| {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().unwrap_or(0)
    });
    // Of a page in a list it gives no code.
    code.is_some_and(|code: i32| code & 0xff == ffi::SQLITE_IOERR)
        || message.contains("failed to get page")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::db::fault::Fault;
    use crate::store::testing::TestDb;

    /// What SQLite says of a page that cannot be right.
    fn malformed() -> Fault {
        Fault::from(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), None))
    }

    #[test]
    fn a_page_that_cannot_be_read_is_not_called_damaged() {
        for (answer, is_disk) in [
            ("Tree 3 page 7 cell 0: unable to get the page. error code=8458", true),
            ("Tree 3 page 7: unable to get the page. error code=266", true),
            ("*** in database main ***\nFreelist: failed to get page 9", true),
            ("Tree 3 page 7: unable to get the page. error code=11", false),
            ("Tree 3 page 7: btreeInitPage() returns error code 11", false),
            ("non-unique entry in index document_paths_document_id", false),
        ] {
            let is_unreadable = matches!(of_answer(answer.to_owned()), Look::Unreadable(_));
            assert_eq!(is_unreadable, is_disk, "{answer}");
        }
        let code = ffi::Error::new(ffi::SQLITE_IOERR_CORRUPTFS);
        let fault = Fault::from(rusqlite::Error::SqliteFailure(code, None));
        let error = fault.at(Path::new("kb.db"));
        assert_eq!(error.code(), "disk_failed");
        assert!(error.hint().unwrap().contains("may be sound"), "{error}");
    }

    #[test]
    fn a_sound_file_is_not_called_damaged_and_a_damaged_one_is() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two"], &[]);
        let path = db.path();
        assert_eq!(malformed().at(&path).code(), "disk_failed");
        db.store.close().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let page = bytes.len() / 2 / 4096 * 4096;
        bytes[page..page + 4096].fill(0x55);
        fs::write(&path, bytes).unwrap();
        assert!(matches!(look_again(&path), Look::Damaged));
        assert_eq!(malformed().at(&path).code(), "corrupt");
        assert_eq!(malformed().at(&path.with_file_name("missing.db")).code(), "corrupt");
    }
}
