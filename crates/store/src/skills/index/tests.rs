//! Tests the contents, the answers and the damage of a skill's index.

use std::path::PathBuf;

use super::*;

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("search-0123456789abcdef.db");
    (dir, path)
}

fn heading(file: &str, text: &str, line: u32) -> IndexedHeading {
    IndexedHeading { file: file.into(), text: text.into(), level: 2, lines: line..line + 2 }
}

/// Writes an index of a few sections.
fn write(path: &Path, tokenizer: FtsTokenizer, sections: &[(&str, &str, &str)]) {
    let draft = IndexDraft::begin(path, tokenizer).unwrap();
    for (idx, (file, section, content)) in (1..).zip(sections) {
        draft.add_section(file, section, content).unwrap();
        draft.add_heading(&heading(file, section, idx)).unwrap();
    }
    draft.add_known_file(&known_file()).unwrap();
    draft.finish("hash", "/skill", "2026-01-02T03:04:05Z").unwrap();
}

fn known_file() -> IndexedFile {
    IndexedFile {
        path: "a.md".into(),
        size_bytes: 7,
        mtime_ns: 1_700_000_000_123_456_789,
        ctime_ns: 3,
        is_settled: true,
        sha256: "ab".into(),
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = directory.read_dir().unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Reads one value without the code under test.
fn sql(path: &Path, query: &str) -> String {
    Connection::open(path).unwrap().query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn the_file_has_the_documented_tables_and_keys() {
    let (dir, path) = scratch();
    write(&path, FtsTokenizer::Porter, &[("a.md", "A", "# A\ntext")]);
    assert_eq!(names(dir.path()), ["search-0123456789abcdef.db"]);
    let fts = sql(&path, "SELECT sql FROM sqlite_schema WHERE name = 'sections'");
    assert!(fts.contains("fts5 (file, section, content, tokenize = 'porter unicode61')"), "{fts}");
    for (key, value) in [
        ("source_hash", "hash"),
        ("skill_path", "/skill"),
        ("schema_version", "2"),
        ("indexed_at", "2026-01-02T03:04:05Z"),
        ("tokenizer", "porter"),
    ] {
        let query = format!("SELECT value FROM index_meta WHERE key = '{key}'");
        assert_eq!(sql(&path, &query), value, "{key}");
    }
    let index = sql(&path, "SELECT sql FROM sqlite_schema WHERE name = 'idx_headings_text'");
    assert!(index.contains("NOCASE"), "{index}");
    let columns = sql(&path, "SELECT group_concat(name) FROM pragma_table_info('headings')");
    assert_eq!(columns, "id,file,text,level,start_line,end_line");
}

#[test]
fn stored_content_is_read_back() {
    let (_dir, path) = scratch();
    write(&path, FtsTokenizer::Porter, &[("b.md", "B", "# B"), ("a.md", "A", "# A")]);
    let index = SkillIndex::open(&path).unwrap();
    assert_eq!(index.known_files(), [known_file()]);
    assert_eq!(index.headings().unwrap(), [heading("a.md", "A", 2), heading("b.md", "B", 1)]);
    assert_eq!(index.meta.schema_version, 2);
}

#[test]
fn all_words_must_occur_and_scores_are_positive() {
    let (_dir, path) = scratch();
    write(
        &path,
        FtsTokenizer::Porter,
        &[
            ("a.md", "One", "# One\nhow to configure it"),
            ("a.md", "Two", "# Two\nabout authentication"),
            ("b.md", "Both", "# Both\nauthentication, which one configures"),
        ],
    );
    let index = SkillIndex::open(&path).unwrap();
    let hits = index.search(r#""configuring" "authentication""#, 10).unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!((hits[0].file.as_str(), hits[0].section.as_str()), ("b.md", "Both"));
    assert!(hits[0].score > 0.0);
    assert_eq!(
        hits[0].snippet,
        "# Both\n[MATCH]authentication[/MATCH], which one [MATCH]configures[/MATCH]"
    );
    assert!(index.search(r#""nothing""#, 10).unwrap().is_empty());
    assert!(index.search(r#""---""#, 10).unwrap().is_empty());
}

#[test]
fn equal_scores_are_ordered_by_file_and_the_limit_holds() {
    let (_dir, path) = scratch();
    let names: Vec<String> = (0..30).map(|number| format!("{number:02}.md")).collect();
    let sections: Vec<_> = names.iter().map(|name| (name.as_str(), "S", "# S\nword")).collect();
    write(&path, FtsTokenizer::Porter, &sections);
    let index = SkillIndex::open(&path).unwrap();
    let found = |limit| -> Vec<String> {
        index.search(r#""word""#, limit).unwrap().into_iter().map(|hit| hit.file).collect()
    };
    assert_eq!(found(10), names[..10]);
    assert_eq!(found(100), names);
    assert!(found(0).is_empty());
}

#[test]
fn content_and_heading_outweigh_the_file_name() {
    let (_dir, path) = scratch();
    write(
        &path,
        FtsTokenizer::Porter,
        &[
            ("deploy.md", "Other", "# Other\nnothing of the kind stands here"),
            ("x.md", "More", "# More\nhow we deploy what we make"),
            ("y.md", "Deploy", "# Deploy\nhow it is done, step by step"),
        ],
    );
    let hits = SkillIndex::open(&path).unwrap().search(r#""deploy""#, 10).unwrap();
    let order: Vec<&str> = hits.iter().map(|hit| hit.file.as_str()).collect();
    assert_eq!(order, ["y.md", "x.md", "deploy.md"]);
    assert!(!hits[2].snippet.contains("[MATCH]"));
}

#[test]
fn stems_depend_on_the_tokenizer() {
    for (tokenizer, num_hits) in [(FtsTokenizer::Porter, 1), (FtsTokenizer::Unicode61, 0)] {
        let (_dir, path) = scratch();
        write(&path, tokenizer, &[("a.md", "A", "# A\nconfigure")]);
        let index = SkillIndex::open(&path).unwrap();
        assert_eq!(index.meta.tokenizer, tokenizer.as_str());
        assert_eq!(index.search(r#""configuring""#, 10).unwrap().len(), num_hits);
    }
    assert_eq!(FtsTokenizer::Porter.or_available(), FtsTokenizer::Porter);
}

#[test]
fn an_unreadable_index_is_none() {
    let (_dir, path) = scratch();
    assert!(SkillIndex::open(&path).is_none());
    for bytes in [&b""[..], b"garbage", &[0x55; 5000]] {
        std::fs::write(&path, bytes).unwrap();
        assert!(SkillIndex::open(&path).is_none());
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "left as it is");
    }
    for damage in [
        "DROP TABLE index_meta",
        "DELETE FROM index_meta WHERE key = 'skill_path'",
        "DELETE FROM index_meta WHERE key = 'source_hash'",
        "DELETE FROM index_meta WHERE key = 'schema_version'",
        "DELETE FROM index_meta WHERE key = 'tokenizer'",
        "UPDATE index_meta SET value = 'two' WHERE key = 'schema_version'",
        "UPDATE index_meta SET value = x'00' WHERE key = 'tokenizer'",
    ] {
        write(&path, FtsTokenizer::Porter, &[]);
        Connection::open(&path).unwrap().execute_batch(damage).unwrap();
        assert!(SkillIndex::open(&path).is_none(), "{damage}");
    }
    write(&path, FtsTokenizer::Porter, &[("a.md", "A", "# A")]);
    let tables = "DROP TABLE headings; DROP TABLE sections; DROP TABLE source_files";
    Connection::open(&path).unwrap().execute_batch(tables).unwrap();
    let index = SkillIndex::open(&path).unwrap();
    assert!(index.headings().is_none() && index.search("\"a\"", 1).is_none());
    assert!(index.known_files().is_empty());
}

#[test]
fn an_unfinished_draft_leaves_nothing_and_a_finished_one_replaces_the_index() {
    let (dir, path) = scratch();
    drop(IndexDraft::begin(&path, FtsTokenizer::Porter).unwrap());
    assert!(names(dir.path()).is_empty());
    for name in ["search-0123456789abcdef.db.77.draft", "search-ffffffffffffffff.db.77.draft"] {
        std::fs::write(dir.path().join(name), "of a killed process").unwrap();
    }
    IndexDraft::remove_abandoned(&path);
    assert_eq!(names(dir.path()), ["search-ffffffffffffffff.db.77.draft"]);
    std::fs::remove_file(dir.path().join("search-ffffffffffffffff.db.77.draft")).unwrap();
    std::fs::write(&path, "garbage").unwrap();
    write(&path, FtsTokenizer::Porter, &[]);
    assert!(SkillIndex::open(&path).is_some());
    assert_eq!(names(dir.path()).len(), 1);
}

#[test]
fn a_snippet_has_32_tokens() {
    let (_dir, path) = scratch();
    let words = "word ".repeat(100);
    write(&path, FtsTokenizer::Porter, &[("a.md", "A", &format!("{words}needle {words}"))]);
    let found = SkillIndex::open(&path).unwrap().search("\"needle\"", 1).unwrap().remove(0).snippet;
    assert!(found.starts_with("...word ") && found.ends_with(" word..."), "{found}");
    assert!(found.contains(" [MATCH]needle[/MATCH] "), "{found}");
    assert_eq!(found.split_whitespace().count(), 32, "{found}");
}

#[test]
fn a_long_section_is_shown_at_its_first_match() {
    let (_dir, path) = scratch();
    let many = "word ".repeat(20_000);
    let once = format!("{many}needle {many}");
    // With no space between words, and so no place to cut.
    let dense = "\u{6f6e}\u{4f4d},".repeat(8_000);
    write(
        &path,
        FtsTokenizer::Porter,
        &[("a.md", "Many", &many), ("b.md", "Once", &once), ("c.md", "Dense", &dense)],
    );
    let index = SkillIndex::open(&path).unwrap();
    let snippet = |query: &str, limit: u32| index.search(query, limit).unwrap().remove(0).snippet;
    let found = snippet("\"needle\"", 1);
    assert!(found.starts_with("...word ") && found.ends_with(" word..."), "{found}");
    assert!(found.contains(" [MATCH]needle[/MATCH] "), "{found}");
    for query in ["\"word\"", "\"\u{6f6e}\u{4f4d}\"", "\"dense\""] {
        let found = snippet(query, 2);
        assert!(found.chars().count() < 500, "{found}");
        let count = |mark: &str| found.matches(mark).count();
        assert_eq!(count("[MATCH]"), count("[/MATCH]"), "{found}");
    }
}

/// The index of a skill comes with its folder.
#[test]
fn views_and_triggers_of_an_index_are_not_run() {
    let (_dir, path) = scratch();
    write(&path, FtsTokenizer::Porter, &[("a.md", "A", "# A")]);
    let view = "DROP TABLE headings; DROP TABLE source_files;
        CREATE VIEW headings AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
            SELECT id, 'a' AS file, 'a' AS text, 1 AS level, 1 AS start_line, 1 AS end_line FROM n;
        CREATE VIEW source_files AS SELECT * FROM headings";
    Connection::open(&path).unwrap().execute_batch(view).unwrap();
    let index = SkillIndex::open(&path).unwrap();
    assert!(!index.is_readable() && index.headings().is_none() && index.known_files().is_empty());
}
