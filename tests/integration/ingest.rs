//! Tests what happens to files: which are added, replaced, followed, skipped, ignored and reported.
//! `chunks` tests how documents are split.

use std::fs;
use std::fs::File;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Child;
use std::process::Stdio;
use std::time::Duration;

use insta::assert_snapshot;
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest as _, Sha256};

use crate::contract::{Info, Report, Search, read};
use crate::env::{CORPUS, TestEnv};
#[cfg(unix)]
use crate::fake_tesseract::{prints_words, processes_of, write_tesseract};
use crate::left_out::left_out;
use crate::patience::comes_true;
use crate::patience::status_of;
#[cfg(unix)]
use crate::screen::Screen;
use crate::word_model::word_env;

fn add(env: &TestEnv, args: &[&str]) -> Report {
    read(&env.kb(&[&["add", "--format", "json"], args].concat()).expect(0))
}

fn info(env: &TestEnv, id: i64) -> Info {
    read(&env.ok(&["info", &id.to_string(), "--format", "json"]))
}

/// Returns how many chunks contain a word.
fn num_found(env: &TestEnv, word: &str) -> u64 {
    read::<Search>(&env.ok(&["search", word, "--fts-only"])).total_matches
}

/// Checks the invariants of SQLite and the schema, without kb.
#[track_caller]
fn check_intact(env: &TestEnv) {
    let none = |query: &str| assert_eq!(env.sql::<i64>(query), 0, "{query}");
    assert_eq!(env.sql::<String>("PRAGMA integrity_check"), "ok");
    none("SELECT count(*) FROM pragma_foreign_key_check");
    none("SELECT count(*) FROM documents WHERE id NOT IN (SELECT document_id FROM chunks)");
    none("SELECT count(*) FROM chunks WHERE id NOT IN (SELECT rowid FROM chunks_vec_rowids)");
    none("SELECT count(*) FROM chunks_vec_rowids WHERE rowid NOT IN (SELECT id FROM chunks)");
    let db = Connection::open(env.database()).unwrap();
    db.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)", [])
        .unwrap();
}

#[test]
fn a_summary_ends_a_run() {
    let env = TestEnv::new();
    env.write("docs/good.md", "# Good\n\nalpha\n");
    env.write("docs/copy.md", "# Good\n\nalpha\n");
    env.write("docs/also.md", "# Also good\n\nbeta\n");
    env.write("docs/bad.md", [0_u8, 1, 2, 3].repeat(64));
    env.write("docs/picture.xyz", "not for folders");
    env.write("docs/empty.md", "");
    let first = env.ok(&["add", "docs"]);
    assert_snapshot!(first.text(), @r"
    --- stderr
    failed: [HOME]/docs/bad.md: it is not text
    Added 2 documents. 1 failed. 0 skipped (already indexed). 1 copy of another document. 2 ignored: 1 .xyz, 1 empty; `kb files --ignored` lists them.
    ");
    env.write("docs/also.md", "# Also good\n\ngamma\n");
    assert_snapshot!(env.ok(&["add", "docs"]).text(), @r"
    --- stderr
    Added 0 documents. 0 failed. 2 skipped (already indexed). 1 updated. 2 ignored: 1 .xyz, 1 empty; `kb files --ignored` lists them. 1 file failed in an earlier run; `kb files --failed` lists it.
    ");
    check_intact(&env);
}

#[test]
fn failures_are_logged_and_the_other_files_are_added() {
    let env = TestEnv::new();
    env.write("docs/a-bad.md", [0_u8, 1, 2, 3].repeat(64));
    env.write("docs/b.pdf", "%PDF-1.4\nthis is no PDF");
    env.write("docs/c-good.md", "# Good\n\nalpha\n");
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.failed), (1, 2));
    assert_eq!(num_found(&env, "alpha"), 1);
    let log = fs::read_to_string(env.path(".kb/ingest-errors.log")).unwrap();
    let lines: Vec<Vec<&str>> = log.lines().map(|line| line.split('\t').collect()).collect();
    for (line, error) in lines.iter().zip(&report.errors) {
        assert!(line[0].parse::<jiff::Timestamp>().is_ok(), "{line:?}");
        assert_eq!(line[1..], [&error.path, &error.code, &error.error]);
    }
    assert_eq!(lines.len(), 2);
    assert!(lines[0][1].ends_with("docs/a-bad.md") && lines[1][1].ends_with("docs/b.pdf"));
    // Nothing of a failed document is kept, and the next run does not report it again.
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM documents"), 1);
    let again = add(&env, &["docs"]);
    assert_eq!((again.failed, again.known_failed), (0, 2));
    assert_eq!(fs::read_to_string(env.path(".kb/ingest-errors.log")).unwrap().lines().count(), 2);
}

#[test]
fn the_hash_is_that_of_the_files_bytes() {
    let env = TestEnv::with_corpus();
    for document in env.json(&["list", "--format", "json"]).as_array().unwrap() {
        let Some(path) = document["path"].as_str() else { continue };
        let bytes = fs::read(path).unwrap();
        let expected: String =
            Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(info(&env, document["id"].as_i64().unwrap()).content_hash, expected, "{path}");
    }
}

#[test]
fn a_changed_file_replaces_its_document_in_place() {
    let env = TestEnv::new();
    let file = env.write("docs/a.md", "# Tide\n\nThe old words: mackerel.\n");
    env.ok(&["add", "docs", "--tags", "mine"]);
    env.ok(&["tag", "1", "--add", "later"]);
    let before = info(&env, 1);
    fs::write(&file, "# Tide\n\nThe new words: halibut, and more of them.\n\n## Second\n\nx\n")
        .unwrap();
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.updated, report.skipped), (0, 1, 0));
    assert_eq!(report.document_ids, [1]);
    let after = info(&env, 1);
    assert_eq!(
        (after.created_at, after.tags),
        (before.created_at, vec!["later".into(), "mine".into()])
    );
    assert_ne!(after.content_hash, before.content_hash);
    assert_eq!((num_found(&env, "mackerel"), num_found(&env, "halibut")), (0, 1));
    check_intact(&env);
    // The same again: nothing to do.
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.updated, report.skipped), (0, 0, 1));
}

#[test]
fn unchanged_files_are_not_read() {
    let env = TestEnv::new();
    let file = env.write("docs/a.md", "# Tide\n\nmackerel\n");
    env.ok(&["add", "docs"]);
    let time = file.metadata().unwrap().modified().unwrap();
    fs::write(&file, "# Tide\n\nhalibut!\n").unwrap();
    File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    assert_eq!(add(&env, &["docs"]).skipped, 1);
    assert_eq!(num_found(&env, "mackerel"), 1);
    // Another time alone: the file is read, and its bytes differ.
    let later = time + Duration::from_secs(1);
    File::options().write(true).open(&file).unwrap().set_modified(later).unwrap();
    assert_eq!(add(&env, &["docs"]).updated, 1);
    // Another time and the same bytes: the file is skipped, and not read the next time.
    File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    assert_eq!(add(&env, &["docs"]).skipped, 1);
}

#[test]
fn a_moved_file_keeps_its_document() {
    let env = TestEnv::new();
    env.write("docs/a.md", "# Tide\n\nmackerel\n");
    env.ok(&["add", "docs", "--tags", "mine"]);
    fs::rename(env.path("docs"), env.path("papers")).unwrap();
    let report = add(&env, &["papers"]);
    assert_eq!((report.added, report.skipped), (0, 1));
    let document = info(&env, 1);
    assert_eq!(document.path, Some(env.path("papers/a.md").display().to_string()));
    assert_eq!(document.tags, ["mine"]);
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM documents"), 1);
}

#[test]
fn a_copy_is_counted_and_outlives_the_first() {
    let env = TestEnv::new();
    env.write("docs/a.md", "# Tide\n\nmackerel\n");
    env.write("docs/b.md", "# Tide\n\nmackerel\n");
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.skipped), (1, 1));
    // The first copy changes: the document of the second is kept.
    env.write("docs/a.md", "# Tide\n\nhalibut\n");
    let report = add(&env, &["docs"]);
    assert_eq!(report.failed, 0);
    assert_eq!((num_found(&env, "mackerel"), num_found(&env, "halibut")), (1, 1));
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM documents"), 2);
    check_intact(&env);
}

/// The first run of all said of copies that they were "already indexed".
#[test]
fn copies_are_counted_apart_from_indexed_files() {
    let env = TestEnv::new();
    for name in ["a", "b", "c"] {
        env.write(&format!("docs/{name}.md"), "# Tide\n\nmackerel\n");
    }
    let summary = |args: &[&str]| env.ok(&[&["add"], args].concat()).stderr;
    assert_eq!(
        summary(&["docs"]),
        "Added 1 document. 0 failed. 0 skipped (already indexed). 2 copies of other documents.\n"
    );
    let indexed = "Added 0 documents. 0 failed. 3 skipped (already indexed).\n";
    assert_eq!(summary(&["docs"]), indexed);
    // A copy of a document of an earlier run.
    env.write("docs/d.md", "# Tide\n\nmackerel\n");
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.skipped, report.copies), (0, 4, 1));
    // A file that moved is no copy.
    fs::remove_dir_all(env.path("docs")).unwrap();
    env.write("moved.md", "# Tide\n\nmackerel\n");
    let report = add(&env, &["moved.md"]);
    assert_eq!((report.skipped, report.copies), (1, 0));
}

#[test]
fn adding_again_adds_the_tags() {
    let env = TestEnv::new();
    env.write("docs/a.md", "# Tide\n\nmackerel\n");
    env.ok(&["add", "docs", "--tags", "one, two ,one"]);
    assert_eq!(info(&env, 1).tags, ["one", "two"]);
    assert_eq!(add(&env, &["docs", "--tags", "three"]).skipped, 1);
    assert_eq!(info(&env, 1).tags, ["one", "three", "two"]);
    env.ok(&["add", "--note", "same"]);
    assert_eq!(add(&env, &["--note", "same", "--tags", "four"]).skipped, 1);
    assert_eq!(info(&env, 2).tags, ["four"]);
}

/// `--title` was ignored, and tags were added in silence: "1 skipped (already indexed)".
#[test]
fn a_title_and_tags_for_an_indexed_file_are_set_and_reported() {
    let env = TestEnv::new();
    let file = env.write("docs/a.md", "# Tide\n\nmackerel\n");
    env.write("docs/b.md", "# Ice\n\nhalibut\n");
    let summary = |args: &[&str]| env.ok(&[&["add"], args].concat()).stderr;
    env.ok(&["add", "docs", "--tags", "one"]);
    let updated = "Added 0 documents. 0 failed. 0 skipped (already indexed). 1 updated.";
    assert_eq!(
        summary(&["docs/a.md", "--title", "Mine"]),
        format!("{updated} Set the title of 1 indexed document.\n")
    );
    assert_eq!((info(&env, 1).title.as_str(), info(&env, 1).tags), ("Mine", vec!["one".into()]));
    // The title is searched, and is kept when the file changes, because the user gave it.
    assert_eq!(num_found(&env, "mine"), 1);
    let skipped = "Added 0 documents. 0 failed. 1 skipped (already indexed).";
    assert_eq!(summary(&["docs/a.md", "--title", "Mine"]), format!("{skipped}\n"));
    fs::write(&file, "# Tide\n\nmackerel and herring\n").unwrap();
    assert_eq!(add(&env, &["docs"]).updated, 1);
    assert_eq!(info(&env, 1).title, "Mine");
    assert_eq!(
        summary(&["docs/a.md", "--tags", "one,two"]),
        format!("{skipped} Added tags to 1 indexed document.\n")
    );
    assert_eq!(summary(&["docs/a.md", "--tags", "one,two"]), format!("{skipped}\n"));
    assert_eq!(
        summary(&["docs/a.md", "--title", "Ours", "--tags", "three"]),
        format!(
            "{updated} Set the title of 1 indexed document. Added tags to 1 indexed document.\n"
        )
    );
    assert_eq!((info(&env, 1).title.as_str(), info(&env, 1).tags.len()), ("Ours", 3));
    let report = add(&env, &["docs", "--tags", "four"]);
    assert_eq!((report.skipped, report.updated, report.retitled, report.tagged), (2, 0, 0, 2));
    // A copy names the document whose content it has.
    env.write("copy.md", "# Ice\n\nhalibut\n");
    let report = add(&env, &["copy.md", "--title", "Frozen"]);
    assert_eq!((report.added, report.updated, report.retitled), (0, 1, 1));
    assert_eq!(info(&env, 2).title, "Frozen");
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM documents"), 2);
    check_intact(&env);
}

#[test]
fn a_title_and_tags_for_the_text_of_a_note_are_set_and_reported() {
    let env = TestEnv::new();
    let summary = |args: &[&str]| {
        env.ok(&[&["add", "--note", "The key is under the mat."], args].concat()).stderr
    };
    summary(&[]);
    let retitled = summary(&["--title", "Key", "--tags", "home"]);
    assert_eq!(
        retitled,
        "Added 0 documents. 0 failed. 0 skipped (already indexed). 1 updated. Set the title of 1 \
         indexed document. Added tags to 1 indexed document.\nThe note has id 1.\n"
    );
    assert_eq!((info(&env, 1).title.as_str(), info(&env, 1).tags), ("Key", vec!["home".into()]));
    assert!(summary(&["--title", "Key"]).contains("1 skipped"));
    // Without a title the note keeps the one it has.
    assert!(summary(&[]).contains("1 skipped"));
    assert_eq!(info(&env, 1).title, "Key");
    check_intact(&env);
}

#[test]
fn titles_come_from_the_user_the_document_or_the_file() {
    let env = TestEnv::new();
    let title = |id: i64| info(&env, id).title;
    let plain = env.write("docs/plain.txt", "Just words.\n");
    let heading = env.write("docs/heading.md", "Intro.\n\n# The heading\n\nWords.\n");
    let front =
        env.write("docs/front.md", "---\ntitle: Stated\ntags: [a, b]\n---\n\n# Other\n\nMore.\n");
    for file in [&plain, &heading, &front] {
        env.ok(&[std::ffi::OsStr::new("add"), file.as_os_str()]);
    }
    assert_eq!([title(1), title(2), title(3)], ["plain", "The heading", "Stated"]);
    assert_eq!(info(&env, 3).tags, ["a", "b"]);
    // The user's title takes precedence, and is kept when the file changes.
    env.write("docs/mine.md", "# Its own\n\nwords\n");
    env.ok(&["add", "docs/mine.md", "--title", "Mine"]);
    assert_eq!(title(4), "Mine");
    env.write("docs/mine.md", "# Its own\n\nother words\n");
    assert_eq!(add(&env, &["docs"]).updated, 1);
    assert_eq!(title(4), "Mine");
    env.ok(&["add", "--note", "Call the bank\nabout the card", "--title", "Bank"]);
    env.ok(&["add", "--note", "- Buy rope, twelve metres\n- and a lamp"]);
    assert_eq!([title(5), title(6)], ["Bank", "Buy rope, twelve metres"]);
    env.kb(&["add", "--note", "--tags"]).expect(1);
    // One title cannot apply to several documents.
    let output = env.kb(&["add", "docs", "--title", "All"]).expect(1);
    assert!(output.stderr.starts_with("error: `--title` applies to a single file or a note\n"));
}

#[test]
fn toml_front_matter_may_take_several_lines() {
    let env = TestEnv::new();
    let head = "title = \"\"\"\nTides\nand gauges\"\"\"\ndate = 2024-03-01\ntags = [\n  \"sea\",\n  \"log\",\n]";
    env.write(
        "docs/tides.md",
        format!("+++\n{head}\n+++\n\n# Other\n\nThe gauge is read at noon.\n"),
    );
    env.write("docs/broken.md", "+++\ntitle = \"Broken\"\ndate = last spring\n+++\n\nThe mast.\n");
    assert_eq!(add(&env, &["docs"]).added, 2);
    let [broken, tides] = [info(&env, 1), info(&env, 2)];
    assert_eq!(
        (tides.title.as_str(), tides.tags),
        ("Tides and gauges", ["log", "sea"].map(str::to_owned).to_vec())
    );
    assert_eq!(broken.title, "Broken");
    let shown = env.ok(&["show", "2"]).stdout;
    assert!(shown.contains("The gauge") && !shown.contains("+++"), "{shown}");
}

#[test]
fn the_type_comes_from_the_extension_the_first_line_or_the_user() {
    let env = TestEnv::new();
    let kind = |id: i64| {
        let info = info(&env, id);
        (info.r#type, info.language, info.metadata.format)
    };
    env.write("docs/a.markdown", "# A\n\nwords\n");
    env.write("docs/b.py", "x = 1\n");
    env.write("docs/c.bash", "echo c\n");
    env.write("docs/d.go", "package d\n");
    env.write("docs/e", "#!/usr/bin/env bash\necho e\n");
    env.write("docs/f.txt", "words\n");
    env.write("docs/g.sh", "echo g\n");
    env.write("docs/h.xyz", "unknown words\n");
    fs::copy(format!("{CORPUS}/tide-station.pdf"), env.path("docs/i.download")).unwrap();
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.ignored), (8, 1));
    let code = |language: &str| ("code".to_owned(), Some(language.to_owned()), language.to_owned());
    let other = |kind: &str, format: &str| (kind.to_owned(), None, format.to_owned());
    assert_eq!(kind(1), other("markdown", "markdown"));
    assert_eq!(kind(2), code("python"));
    assert_eq!(kind(3), code("bash"));
    assert_eq!(kind(4), code("go"));
    assert_eq!(kind(5), code("bash"));
    assert_eq!(kind(6), other("markdown", "text"));
    assert_eq!(kind(7), code("bash"));
    assert_eq!(kind(8), other("pdf", "pdf"));
    // The user's choice overrides the file name, also for files that a folder leaves out.
    env.ok(&["add", "docs/h.xyz", "--type", "note"]);
    assert_eq!(kind(9), other("note", "note"));
    env.write("script.xyz", "def f():\n    pass\n");
    env.ok(&["add", "script.xyz", "--language", "python"]);
    assert_eq!(kind(10), code("python"));
    env.write("words.py", "# A heading\n\nno code at all\n");
    env.ok(&["add", "words.py", "--type", "markdown"]);
    assert_eq!(kind(11), other("markdown", "markdown"));
}

#[test]
fn files_with_well_known_names_and_code_without_a_grammar_are_read() {
    let env = TestEnv::new();
    env.write("docs/Dockerfile", "FROM alpine\nRUN echo gauge\n");
    env.write("docs/LICENSE-MIT", "Permission is hereby granted.\n");
    env.write("docs/Makefile", "all: gauge\n\techo gauge\n");
    env.write("docs/README", "The gauge freezes.\n");
    env.write("docs/gauge.kt", "package a\n\nclass Gauge {\n    val x = 1\n}\n");
    env.write("docs/install", b"\x7FELF\x02\x01\x01\0\0\0");
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.ignored, report.failed), (5, 1, 0));
    let kinds: Vec<_> = (1..=5).map(|id| info(&env, id)).map(|info| info.metadata.format).collect();
    assert_eq!(kinds, ["dockerfile", "text", "make", "text", "kotlin"]);
    assert_eq!(info(&env, 5).language.as_deref(), Some("kotlin"));
    let found: Search = read(&env.ok(&["search", "gauge", "--language", "kotlin", "--fts-only"]));
    let symbols: Vec<_> = found.results.iter().map(|hit| hit.source.symbol.as_deref()).collect();
    assert!(symbols.contains(&Some("Gauge")), "{symbols:?}");
}

#[test]
fn an_unsupported_file_that_is_named_is_an_error() {
    let env = TestEnv::new();
    env.write("table.xyz", [0_u8, 159, 146, 150, 0, 1].repeat(40));
    let output = env.kb(&["add", "table.xyz"]).expect(1);
    assert!(output.stderr.contains("error: unsupported file type: "), "{}", output.stderr);
    for supported in [".pdf", ".md", ".markdown", ".txt", ".py", ".sh", ".bash", ".go", "--type"] {
        assert!(output.stderr.contains(supported), "{supported}: {}", output.stderr);
    }
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM documents"), 0);
}

#[test]
fn a_text_with_an_unknown_extension_is_read_as_its_error_says() {
    let env = TestEnv::new();
    env.write("docs/notes.xyz", "The gauge froze in the winter.\n");
    env.write("docs/plan.xyz", "Thaw it in spring.\n");
    let refused = env.kb(&["add", "docs/notes.xyz"]).expect(1).stderr;
    let commands: Vec<&str> = refused.split('`').skip(1).step_by(2).collect();
    let [this, all] = commands.as_slice() else { panic!("{refused}") };
    assert!(refused.contains("hint: it is text"), "{refused}");
    let words: Vec<&str> = this.split(' ').skip(1).collect();
    env.ok(&words);
    assert_eq!(env.sql_column("SELECT title FROM documents"), ["notes"]);
    // In a folder, other texts are ignored until the setting names them.
    let output = env.ok(&["add", "docs"]);
    assert!(output.stderr.contains("1 ignored: 1 .xyz"), "{}", output.stderr);
    let words: Vec<&str> = all.split(' ').skip(1).collect();
    env.ok(&words);
    assert_eq!(add(&env, &["docs"]).added, 1);
}

#[test]
fn folders_are_walked_by_their_ignore_rules() {
    let env = TestEnv::new();
    for file in [
        "docs/a.md", "docs/deep/er/b.md", "docs/.hidden.md", "docs/.git/c.md", "docs/build/d.md",
        "docs/old.md",
    ] {
        env.write(file, format!("# {file}\n\nwords of {file}\n"));
    }
    env.write("docs/.gitignore", "build/\n");
    env.write("docs/.kbignore", "old.md\n");
    #[cfg(unix)]
    {
        symlink(env.path("docs"), env.path("docs/deep/loop")).unwrap();
        symlink(env.path("nowhere"), env.path("docs/dangling.md")).unwrap();
    }
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.failed), (2, 0));
    let titles = env.sql_column("SELECT title FROM documents ORDER BY id");
    assert_eq!(titles, ["docs/a.md", "docs/deep/er/b.md"]);
    // A file that is named itself is read, even if hidden.
    assert_eq!(add(&env, &["docs/.hidden.md", "docs/old.md"]).added, 2);
}

#[test]
fn text_is_read_in_any_encoding() {
    let env = TestEnv::new();
    let text = "# Bücher\r\n\r\nZeile drei: Möwe\r\n";
    let utf16: Vec<u8> =
        [0xfeff_u16].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let latin1: Vec<u8> =
        text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    env.write("docs/a.md", text);
    env.write("docs/b.md", [b"\xef\xbb\xbf", text.as_bytes()].concat());
    env.write("docs/c.md", utf16);
    env.write("docs/d.md", latin1);
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.failed), (4, 0));
    for id in 1..=4 {
        let info = info(&env, id);
        assert_eq!(info.title, "Bücher", "{:?}", info.path);
        assert_eq!((info.chunks[0].start_line, info.chunks[0].end_line), (Some(1), Some(3)));
        assert!(!info.chunks[0].preview.contains('\r'));
    }
    assert_eq!(num_found(&env, "möwe"), 4);
}

#[test]
fn a_damaged_document_is_a_failure_and_leaves_nothing() {
    let env = TestEnv::new();
    let pdf = fs::read(format!("{CORPUS}/tide-station.pdf")).unwrap();
    env.write("docs/cut.pdf", &pdf[..pdf.len() / 20]);
    env.write("docs/noise.pdf", [b"%PDF-1.7\n".as_slice(), &[0x9d; 5000]].concat());
    env.write("docs/good.md", "# Good\n\nalpha\n");
    let report = add(&env, &["docs"]);
    assert_eq!((report.added, report.failed), (1, 2), "{:?}", report.errors);
    assert_eq!(env.sql_column("SELECT title FROM documents"), ["Good"]);
    check_intact(&env);
}

#[test]
fn workers_and_batches_only_change_the_time() {
    let mut dumps = Vec::new();
    for (workers, batch) in [("1", "1"), ("4", "50"), ("3", "2")] {
        let mut env = TestEnv::new();
        env.set("KB_INGESTION_WORKERS", workers);
        env.set("KB_INGESTION_BATCH_SIZE", batch);
        env.ok(&["add", CORPUS]);
        let answer = env.json(&["search", "the float gauge in winter", "--top", "50"]);
        let rows = env.sql_column(
            "SELECT document_id || ' ' || chunks.id || ' ' || title || ' ' || token_count || text
            FROM chunks JOIN documents ON documents.id = document_id ORDER BY chunks.id",
        );
        dumps.push((answer, rows));
    }
    assert_eq!(dumps[0], dumps[1]);
    assert_eq!(dumps[0], dumps[2]);
}

/// A run of `kb add docs` in which reading a picture blocks until it is released.
#[cfg(unix)]
struct Held<'a> {
    env: &'a TestEnv,
    child: Child,
}

#[cfg(unix)]
impl<'a> Held<'a> {
    fn start(env: &'a TestEnv) -> Self {
        write_held_tesseract(env);
        let child = env.command(&["add", "docs"]).stderr(Stdio::null()).spawn().unwrap();
        Self { env, child }
    }

    /// Returns how many pictures are being read.
    fn num_started(&self) -> usize {
        processes_of(&self.env.path("bin/tesseract")).len()
    }

    /// Returns how many threads the program has.
    fn num_threads(&self) -> usize {
        fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().count()
    }

    /// Releases the program and waits for its end.
    fn finish(mut self) {
        self.env.write("go", "");
        assert!(status_of(&mut self.child).success());
    }
}

/// Writes a program that reads a picture when the file `go` exists.
#[cfg(unix)]
fn write_held_tesseract(env: &TestEnv) {
    let (words, go) = (prints_words("words"), env.path("go"));
    let waits = format!("while (access(\"{}\", F_OK)) usleep(1000);", go.display());
    write_tesseract(env, &format!("{waits}\n{words}"));
}

/// Makes a home with pictures and pages in `docs`: one picture comes first, the others last.
fn home_with(num_pictures: u8, num_pages: u32) -> TestEnv {
    let env = word_env();
    fs::remove_dir_all(env.path("docs")).unwrap();
    let picture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/documents/scan.png");
    let picture = fs::read(picture).unwrap();
    for number in 0..num_pictures {
        let name = if number == 0 { "a".to_owned() } else { format!("z{number}") };
        // A byte after the end makes it a different file.
        env.write(&format!("docs/{name}.png"), [&picture[..], &[number]].concat());
    }
    for number in 0..num_pages {
        env.write(&format!("docs/m{number}.md"), format!("# Page {number}\n\nsalt\n"));
    }
    env
}

#[cfg(unix)]
#[test]
fn progress_fits_the_terminal_also_when_that_becomes_narrower() {
    let env = home_with(1, 5);
    write_held_tesseract(&env);
    let mut screen = Screen::start(&env, &["add", "docs"], 80, 30);
    let wide = screen.see("0 of 1 pages by OCR, 5 read, 5 chunks");
    assert!(wide.contains("━") && wide.contains("of 6 files"), "{wide}");
    screen.resize(24, 30);
    let narrow = screen.wait("a narrow bar", |shown| {
        shown.contains("0 of 1 pages by OCR, 5 …") && shown.contains(" %  0 of 6 files")
    });
    // Text that does not fit is cut off, parts of the bar are left out, and nothing of the longer
    // rows remains.
    assert!(narrow.lines().all(|row| row.chars().count() <= 24), "{narrow}");
    assert_eq!(narrow.matches(" by OCR").count(), 1, "{narrow}");
    env.write("go", "");
    let output = screen.end(&env);
    assert_eq!(output.status, 0, "{}", output.text());
}

#[cfg(unix)]
#[test]
fn the_setting_limits_how_many_files_are_read_in_parallel() {
    if !Path::new("/proc/self/task").exists() {
        return left_out("threads", "a test of workers");
    }
    let (mut one, default, mut six) = (home_with(1, 0), home_with(1, 0), home_with(1, 0));
    one.set("KB_INGESTION_WORKERS", "1");
    six.set("KB_INGESTION_WORKERS", "6");
    let (one, default, six) = (Held::start(&one), Held::start(&default), Held::start(&six));
    assert!(comes_true(|| [&one, &default, &six].iter().all(|held| held.num_started() == 1)));
    let has_three_more = comes_true(|| default.num_threads() == one.num_threads() + 3);
    let has_five_more = comes_true(|| six.num_threads() == one.num_threads() + 5);
    one.finish();
    default.finish();
    six.finish();
    assert!(has_three_more && has_five_more);
}

#[cfg(unix)]
#[test]
fn the_setting_limits_how_many_documents_are_in_progress() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return left_out("processors", "a test of batches");
    }
    // The first and the last file are pictures. While the first is held, the last is reached if
    // this many documents may be in progress.
    for (batch_size, num_pages) in [(None, 48), (Some("60"), 58)] {
        let mut env = home_with(2, num_pages);
        env.set("KB_INGESTION_WORKERS", "2");
        if let Some(size) = batch_size {
            env.set("KB_INGESTION_BATCH_SIZE", size);
        }
        let held = Held::start(&env);
        let is_reached = comes_true(|| held.num_started() == 2);
        held.finish();
        assert!(is_reached, "{num_pages}");
    }
    // By default 50 may be, not 51.
    let mut env = home_with(2, 49);
    env.set("KB_INGESTION_WORKERS", "2");
    let held = Held::start(&env);
    assert!(comes_true(|| held.num_started() == 1));
    std::thread::sleep(Duration::from_secs(2));
    let num_started = held.num_started();
    held.finish();
    assert_eq!(num_started, 1);
}

#[cfg(unix)]
#[test]
fn each_document_of_a_batch_is_committed_separately() {
    let env = home_with(1, 0);
    fs::rename(env.path("docs/a.png"), env.path("docs/z.png")).unwrap();
    for number in 0..5 {
        env.write(&format!("docs/{number}.md"), format!("# Page {number}\n\nsalt\n"));
    }
    let num_documents = || env.sql::<i64>("SELECT count(*) FROM documents");
    let before = num_documents();
    let held = Held::start(&env);
    // The picture is the last of a batch of six and not read yet.
    let are_stored = comes_true(|| held.num_started() == 1 && num_documents() == before + 5);
    held.finish();
    assert!(are_stored);
    assert_eq!(num_documents(), before + 6);
}

#[test]
fn a_killed_run_leaves_complete_documents_and_the_next_continues() {
    const NUM_FILES: u32 = 120;
    let env = TestEnv::new();
    for number in 0..NUM_FILES {
        let text =
            format!("# Report {number}\n\n{}", format!("On day {number} it rained. ").repeat(9));
        env.write(&format!("docs/{number:03}.md"), text);
    }
    let mut child = env.command(&["add", "docs"]).stderr(Stdio::null()).spawn().unwrap();
    let stored = || -> i64 {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let Ok(db) = Connection::open_with_flags(env.database(), flags) else { return 0 };
        db.query_row("SELECT count(*) FROM documents", [], |row| row.get(0)).unwrap_or(0)
    };
    let is_begun = comes_true(|| stored() >= 5 || child.try_wait().unwrap().is_some());
    assert!(is_begun, "nothing is stored");
    child.kill().unwrap();
    child.wait().unwrap();
    check_intact(&env);
    let num_stored = u32::try_from(stored()).unwrap();
    let report = add(&env, &["docs"]);
    assert_eq!((report.skipped, report.added), (num_stored, NUM_FILES - num_stored));
    assert_eq!(add(&env, &["docs"]).skipped, NUM_FILES);
    check_intact(&env);
}
