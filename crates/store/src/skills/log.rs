//! Logs accesses to a skill in a small database, one row per access.
//!
//! The log is not part of `kb.db`: its path and table are those of `skc`, so that each program
//! counts what the other logged. The log is not worth a flush to disk, because a power cut loses
//! only a few counts.

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Row, named_params};

use crate::error::{Error, Result};
use crate::files::private;

use crate::db::connection::harden_tables;
use crate::db::fault::DatabaseFault;

/// Maximum time to wait for another process that is logging; a command never waits longer than this
/// for its log.
const BUSY_TIMEOUT: Duration = Duration::from_millis(500);

/// One access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillAccess {
    /// RFC 3339, UTC.
    pub timestamp: String,
    /// The session that made it.
    pub run_id: String,
    /// Name of the command.
    pub command: String,
    /// Name of the skill.
    pub skill: String,
    /// Directory of the skill; absolute, links resolved.
    pub skill_path: String,
    /// Working directory of the command; absolute, links resolved.
    pub cwd: String,
    /// Its arguments, as a JSON object.
    pub args: String,
    /// The error; `None` if it succeeded.
    pub error: Option<String>,
}

const CREATE: &str = "
    CREATE TABLE IF NOT EXISTS access_log (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        timestamp TEXT NOT NULL,
        run_id TEXT NOT NULL,
        command TEXT NOT NULL,
        skill TEXT NOT NULL,
        skill_path TEXT NOT NULL,
        cwd TEXT NOT NULL,
        args TEXT NOT NULL,
        error TEXT
    )";

const APPEND: &str = "
    INSERT INTO access_log (timestamp, run_id, command, skill, skill_path, cwd, args, error)
    VALUES (:timestamp, :run_id, :command, :skill, :skill_path, :cwd, :args, :error)";

/// The columns that identify a row when logs are merged.
const APPEND_NEW: &str = "
    INSERT INTO access_log (timestamp, run_id, command, skill, skill_path, cwd, args, error)
    SELECT :timestamp, :run_id, :command, :skill, :skill_path, :cwd, :args, :error
    WHERE NOT EXISTS (
        SELECT 1
        FROM access_log
        WHERE run_id = :run_id
            AND timestamp = :timestamp
            AND command = :command
            AND args = :args
    )";

const ALL: &str = "
    SELECT timestamp, run_id, command, skill, skill_path, cwd, args, error
    FROM access_log
    ORDER BY id";

/// Adds an access; creates the file, its directory and the table if they are missing. Only the
/// owner can read the file.
pub fn append(path: &Path, access: &SkillAccess) -> Result<()> {
    let connection = open_to_write(path)?;
    connection
        .execute_batch(CREATE)
        .and_then(|()| execute(&connection, APPEND, access))
        .map(drop)
        .map_err(|error| DatabaseFault::from(error).at(path))
}

/// Adds the accesses that are missing in the log, in one transaction, and returns their number.
pub fn merge(path: &Path, accesses: &[SkillAccess]) -> Result<usize> {
    append_new(&mut open_to_write(path)?, accesses)
        .map_err(|error| DatabaseFault::from(error).at(path))
}

fn append_new(connection: &mut Connection, accesses: &[SkillAccess]) -> rusqlite::Result<usize> {
    let transaction = connection.transaction()?;
    transaction.execute_batch(CREATE)?;
    let mut num_new = 0;
    for access in accesses {
        num_new += execute(&transaction, APPEND_NEW, access)?;
    }
    transaction.commit()?;
    Ok(num_new)
}

/// Returns all accesses in order; `None` if there is no file.
pub fn read(path: &Path) -> Result<Option<Vec<SkillAccess>>> {
    match path.try_exists() {
        Ok(false) => return Ok(None),
        Ok(true) => require_file(path)?,
        Err(source) => return Err(Error::of_file(path, source)),
    }
    read_all(path).map(Some).map_err(|error| DatabaseFault::from(error).at(path))
}

fn read_all(path: &Path) -> rusqlite::Result<Vec<SkillAccess>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    harden_tables(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let mut statement = connection.prepare(ALL)?;
    let rows = statement.query_map([], access)?;
    rows.collect()
}

fn open_to_write(path: &Path) -> Result<Connection> {
    private::create_file(path).map_err(|source| Error::of_file(path, source))?;
    require_file(path)?;
    private::close(path).map_err(|source| Error::of_file(path, source))?;
    open(path).map_err(|error| DatabaseFault::from(error).at(path))
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    harden_tables(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    Ok(connection)
}

/// Refuses anything that is not a regular file: SQLite would wait for a pipe, and would write into
/// any database that a planted link points to.
fn require_file(path: &Path) -> Result<()> {
    let metadata = path.symlink_metadata();
    let metadata = metadata.map_err(|source| Error::of_file(path, source))?;
    let path = path.to_owned();
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_symlink() => Err(Error::LinkRefused { path }),
        kind if kind.is_dir() => {
            Err(Error::Io { path, source: io::Error::from(io::ErrorKind::IsADirectory) })
        }
        _ => Err(Error::NotAFile { path }),
    }
}

fn execute(connection: &Connection, sql: &str, access: &SkillAccess) -> rusqlite::Result<usize> {
    connection.prepare_cached(sql)?.execute(named_params! {
        ":timestamp": access.timestamp,
        ":run_id": access.run_id,
        ":command": access.command,
        ":skill": access.skill,
        ":skill_path": access.skill_path,
        ":cwd": access.cwd,
        ":args": access.args,
        ":error": access.error,
    })
}

fn access(row: &Row<'_>) -> rusqlite::Result<SkillAccess> {
    Ok(SkillAccess {
        timestamp: row.get("timestamp")?,
        run_id: row.get("run_id")?,
        command: row.get("command")?,
        skill: row.get("skill")?,
        skill_path: row.get("skill_path")?,
        cwd: row.get("cwd")?,
        args: row.get("args")?,
        error: row.get("error")?,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn sample(run_id: &str, args: &str) -> SkillAccess {
        SkillAccess {
            timestamp: "2026-01-02T03:04:05Z".into(),
            run_id: run_id.into(),
            command: "show".into(),
            skill: "x".into(),
            skill_path: "/s/x".into(),
            cwd: "/w".into(),
            args: args.into(),
            error: Some("error[E020]: section not found: 'y'".into()),
        }
    }

    #[test]
    fn accesses_come_back_in_order_and_the_file_is_made_on_demand() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x/.skillc-meta/logs.db");
        assert_eq!(read(&path).unwrap(), None);
        assert!(!path.parent().unwrap().exists(), "reading makes nothing");
        let accesses =
            [sample("a", "{}"), SkillAccess { error: None, ..sample("b", "{\"level\":2}") }];
        for access in &accesses {
            append(&path, access).unwrap();
        }
        assert_eq!(read(&path).unwrap().unwrap(), accesses);
        let columns: String = Connection::open(&path)
            .unwrap()
            .query_row(
                "SELECT group_concat(name) FROM pragma_table_info('access_log')",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(columns, "id,timestamp,run_id,command,skill,skill_path,cwd,args,error");
    }

    #[test]
    fn merging_twice_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs.db");
        append(&path, &sample("a", "{}")).unwrap();
        let more = [sample("a", "{}"), sample("a", "{\"n\":1}"), sample("b", "{}")];
        assert_eq!(merge(&path, &more).unwrap(), 2);
        assert_eq!(merge(&path, &more).unwrap(), 0);
        assert_eq!(read(&path).unwrap().unwrap().len(), 3);
    }

    #[test]
    fn a_file_that_is_not_a_log_is_an_error_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs.db");
        fs::write(&path, "garbage, and enough of it to be no empty database").unwrap();
        assert!(append(&path, &sample("a", "{}")).is_err());
        assert!(read(&path).is_err());
        assert!(fs::read(&path).unwrap().starts_with(b"garbage"));
        fs::create_dir(dir.path().join("dir")).unwrap();
        assert!(append(&dir.path().join("dir"), &sample("a", "{}")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_log_is_private_and_no_link_is_followed() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x/.skillc-meta/logs.db");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        append(&path, &sample("a", "{}")).unwrap();
        assert_eq!([mode(&path), mode(path.parent().unwrap())], [0o600, 0o700]);
        // As an older version created it.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        append(&path, &sample("a", "{}")).unwrap();
        assert_eq!(mode(&path), 0o600);
        let other = dir.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE mine (x)").unwrap();
        let before = fs::read(&other).unwrap();
        let link = dir.path().join("logs.db");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        assert_eq!(append(&link, &sample("a", "{}")).unwrap_err().code(), "link_refused");
        assert_eq!(read(&link).unwrap_err().code(), "link_refused");
        assert_eq!(fs::read(&other).unwrap(), before);
    }

    #[test]
    fn concurrent_accesses_are_all_logged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs.db");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..10 {
                        append(path, &sample(&format!("{thread}/{number}"), "{}")).unwrap();
                    }
                });
            }
        });
        assert_eq!(read(&path).unwrap().unwrap().len(), 40);
    }
}
