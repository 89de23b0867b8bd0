//! Tests which schemas are opened, migrated and refused.

use super::*;

/// Creates a database as a kb with only the first `num_migrations` would have.
fn older(path: &Path, num_migrations: usize) -> i64 {
    fs::write(path, "").unwrap();
    let mut connection = open_connection(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    migrate::enter_wal(&connection, BUSY_TIMEOUT).unwrap();
    let migrations = &schema::MIGRATIONS[..num_migrations];
    migrate::apply(&mut connection, 0, migrations).unwrap();
    migrations.last().map_or(0, |(version, _)| *version)
}

#[test]
fn only_an_older_schema_is_announced_before_it_changes() {
    let num_all = schema::MIGRATIONS.len();
    for num_migrations in [0, 1, num_all - 1, num_all] {
        let (_directory, path) = scratch();
        let version = older(&path, num_migrations);
        let announced = RefCell::new(Vec::new());
        let before_migration = |unmigrated: &OldDatabase<'_>| {
            // Nothing has changed yet.
            assert_eq!(schema::version(unmigrated.connection).unwrap(), version);
            announced.borrow_mut().push((unmigrated.path.to_owned(), unmigrated.version));
            None
        };
        let store = Store::open_guarded(&path, version == 0, &before_migration).unwrap().unwrap();
        assert_eq!(schema::version(&store.connection).unwrap(), schema::NEWEST);
        let expected = (0 < num_migrations && num_migrations < num_all).then_some((path, version));
        assert_eq!(announced.into_inner(), Vec::from_iter(expected));
    }
}

#[test]
fn a_database_that_cannot_be_written_must_have_a_schema_that_can_be_read() {
    let num_all = schema::MIGRATIONS.len();
    let open = |path: &Path| Store::connect_to_read(path, OpenMode::Shared);
    let (_directory, path) = scratch();
    older(&path, num_all);
    let store = open(&path).unwrap().unwrap();
    assert!(store.is_read_only() && store.documents(&Filter::default()).unwrap().is_empty());
    assert!(store.reader().unwrap().is_read_only());
    let newer = schema::NEWEST + 1;
    Store::open(&path).unwrap().connection.pragma_update(None, "user_version", newer).unwrap();
    assert!(matches!(open(&path), Err(Error::SchemaTooNew { .. })));

    let (_directory, path) = scratch();
    older(&path, 0);
    assert!(open(&path).unwrap().is_none(), "one without a schema counts as none");

    for (num_older, has_letters) in [(1, true), (2, false)] {
        let (_directory, path) = scratch();
        assert!(older(&path, num_all - num_older) >= schema::OLDEST_READ);
        assert_eq!(open(&path).unwrap().unwrap().is_of_older_schema().unwrap(), !has_letters);
    }

    for num_migrations in [1, num_all - 3] {
        let (_directory, path) = scratch();
        let version = older(&path, num_migrations);
        let before = fs::read(&path).unwrap();
        let Err(Error::NeedsWriting { path: named, reason }) = open(&path) else { panic!() };
        assert_eq!(named, path);
        let newest = schema::NEWEST;
        assert_eq!(reason, format!("its schema has version {version}, this kb needs {newest}"));
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    let (_directory, path) = scratch();
    fs::write(&path, [b'x'; 5000]).unwrap();
    assert!(matches!(open(&path), Err(Error::Corrupt { .. })));
    let missing = open(&path.with_file_name("missing.db"));
    assert!(matches!(missing, Err(Error::NeedsWriting { .. })), "{missing:?}");
}

#[test]
fn a_database_of_a_newer_schema_is_refused() {
    let (_directory, path) = scratch();
    older(&path, schema::MIGRATIONS.len());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", schema::NEWEST + 1).unwrap();
    // Opening it as one of kb's would turn the log on again.
    connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
    connection.close().unwrap();
    check_refused(&path, |error| matches!(error, Error::SchemaTooNew { .. }));
}
