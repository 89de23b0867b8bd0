//! Tests which lines of a file are returned, and what is reported about the file.

use super::*;
use crate::document::{Format, LineRange};
use crate::read::testing::{plain, put};
use crate::store::NewDocument;
use crate::store::testing::{TestDb, document, stamp};

/// A file, and a database with its document, whose stored text is `stored\ntext`.
struct World {
    folder: tempfile::TempDir,
    db: TestDb,
    document: StoredDocument,
}

impl World {
    fn of(bytes: &[u8], format: Format) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        std::fs::write(&path, bytes).unwrap();
        let new = NewDocument {
            stamp: Some(stamp(path.to_str().unwrap())),
            content_hash: content_hash(bytes),
            format,
            ..document("", &[], &[])
        };
        let (db, document) = put(&new, &[plain("stored\ntext", 1)]);
        Self { folder, db, document }
    }

    fn open(&self, lines: Option<LineRange>, max_lines: Option<u32>) -> Result<OpenedDocument> {
        let options = OpenOptions { lines, max_lines, follows_links: false, max_bytes: 1000 };
        open(&self.db.store, self.document.clone(), &options, &|_, _, _| Ok(None))
    }
}

#[test]
fn lines_are_counted_from_one_up_to_and_including_the_last() {
    let world = World::of(b"a\nb\nc\n", Format::Markdown);
    for (lines, max_lines, text, expected) in [
        (None, None, "a\nb\nc\n", (1, 3, 0)),
        (None, Some(2), "a\nb\n", (1, 2, 1)),
        (None, Some(0), "", (1, 0, 3)),
        (LineRange::new(2, 2), None, "b\n", (2, 2, 0)),
        (LineRange::new(2, 9), None, "b\nc\n", (2, 3, 0)),
        (LineRange::new(1, 3), Some(1), "a\n", (1, 1, 2)),
        (LineRange::new(3, 3), None, "c\n", (3, 3, 0)),
    ] {
        let opened = world.open(lines, max_lines).unwrap();
        assert_eq!((opened.text.as_str(), opened.num_lines), (text, 3), "{lines:?}");
        assert_eq!((opened.start_line, opened.end_line, opened.num_cut), expected, "{lines:?}");
        assert_eq!((opened.origin, opened.has_changed), (TextOrigin::File, Some(false)));
        assert_eq!((opened.raw, opened.file_error), (None, None));
    }
    let message = world.open(LineRange::new(4, 4), None).unwrap_err().to_string();
    assert_eq!(message, "line 4 is past the end: there are only 3 lines");
    assert_eq!(World::of(b"", Format::Text).open(None, None).unwrap().end_line, 0);
}

#[test]
fn the_bytes_of_lines_are_kept_where_they_differ_from_the_text() {
    let utf16: Vec<u8> = "\u{feff}ab\ncd".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, (first, last), raw) in [
        (&b"a\r\nb\r\n"[..], (1, 2), Some(&b"a\r\nb\r\n"[..])),
        (b"a\r\nb\r\nc", (2, 2), Some(b"b\r\n")),
        (b"a\rb\rc\n", (2, 2), Some(b"b\r")),
        (b"a\rb\nc\n", (2, 2), None),
        (b"a\nb\r\n", (1, 1), None),
        (b"a\ncaf\xe9", (2, 2), Some(b"caf\xe9")),
        (b"\xef\xbb\xbfa\nb", (1, 1), Some(b"\xef\xbb\xbfa\n")),
        // Line ends cannot be found in these bytes, but all of them can be returned.
        (&utf16, (1, 1), None),
        (&utf16, (1, 2), Some(&utf16)),
    ] {
        let opened =
            World::of(bytes, Format::Text).open(LineRange::new(first, last), None).unwrap();
        assert_eq!(opened.raw.as_deref(), raw, "{bytes:?}");
    }
}

#[test]
fn a_file_that_is_no_text_is_read_from_the_database() {
    for (bytes, format) in [(&b"a\0b"[..], Format::Text), (b"a\nb\nc", Format::Pdf)] {
        let opened = World::of(bytes, format).open(None, None).unwrap();
        assert_eq!((opened.origin, opened.text.as_str()), (TextOrigin::Database, "stored\ntext"));
        assert_eq!((opened.has_changed, opened.raw, opened.num_lines), (Some(false), None, 2));
    }
}

#[test]
fn a_changed_file_is_read_and_a_missing_one_is_reported() {
    let world = World::of(b"a\n", Format::Markdown);
    let path = world.folder.path().join("a.md");
    std::fs::write(&path, "b\n").unwrap();
    let opened = world.open(None, None).unwrap();
    assert_eq!((opened.text.as_str(), opened.has_changed), ("b\n", Some(true)));
    std::fs::write(&path, "b".repeat(1001)).unwrap();
    assert!(world.open(None, None).unwrap().file_error.is_some(), "it is too large");
    std::fs::remove_file(&path).unwrap();
    let opened = world.open(None, None).unwrap();
    assert_eq!((opened.origin, opened.has_changed), (TextOrigin::Database, None));
    assert!(opened.file_error.unwrap().contains("a.md"));
}

#[test]
fn a_note_has_no_file() {
    let new = NewDocument { stamp: None, format: Format::Note, ..document("", &[], &[]) };
    let (db, note) = put(&new, &[plain("the note", 1)]);
    let opened = open(&db.store, note, &OpenOptions::default(), &|_, _, _| Ok(None)).unwrap();
    assert_eq!((opened.origin, opened.text.as_str()), (TextOrigin::Database, "the note"));
    assert_eq!((opened.has_changed, opened.file_error), (None, None));
}

#[test]
fn a_file_in_a_container_is_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let container = folder.path().join("a.zip");
    std::fs::write(&container, "packed").unwrap();
    let path = paths::member_text(container.to_str().unwrap(), "b/c.md");
    let new = NewDocument {
        stamp: Some(stamp(&path)),
        content_hash: content_hash(b"unpacked"),
        ..document("", &[], &[])
    };
    let (db, document) = put(&new, &[plain("stored", 1)]);
    let options = OpenOptions { max_bytes: 1000, ..OpenOptions::default() };
    let opened = |bytes: Option<&[u8]>| {
        let unpack = |path: &Path, packed: &[u8], name: Option<&str>| {
            let Some(name) = name else { return Ok(None) };
            assert_eq!((path, packed, name), (&*container, &b"packed"[..], "b/c.md"));
            Ok(bytes.map(<[u8]>::to_owned))
        };
        open(&db.store, document.clone(), &options, &unpack).unwrap()
    };
    let found = opened(Some(b"unpacked"));
    assert_eq!((found.text.as_str(), found.has_changed), ("unpacked", Some(false)));
    let missing = opened(None);
    assert_eq!((missing.origin, missing.has_changed), (TextOrigin::Database, None));
    assert!(missing.file_error.unwrap().contains("c.md"));
}

#[test]
fn a_compressed_file_is_unpacked_after_it_was_compared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md.gz");
    std::fs::write(&path, "packed").unwrap();
    let new = NewDocument {
        stamp: Some(stamp(path.to_str().unwrap())),
        content_hash: content_hash(b"packed"),
        ..document("", &[], &[])
    };
    let (db, document) = put(&new, &[plain("stored", 1)]);
    let options = OpenOptions { max_bytes: 1000, ..OpenOptions::default() };
    let unpack = |path: &Path, packed: &[u8], name: Option<&str>| {
        assert_eq!((path, packed, name), (Path::new("a.md.gz"), &b"packed"[..], None));
        Ok(Some(b"unpacked".to_vec()))
    };
    let opened = open(&db.store, document, &options, &unpack).unwrap();
    assert_eq!((opened.text.as_str(), opened.has_changed), ("unpacked", Some(false)));
    assert_eq!(opened.origin, TextOrigin::File);
}
