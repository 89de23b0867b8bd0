//! Tests documents that are neither plain text nor PDF with text: scans, pictures, web pages, DOCX,
//! encrypted files; and how well each could be read.
//!
//! Tests that need Tesseract are skipped with one line if it is missing.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::TestEnv;
#[cfg(unix)]
use crate::fake_tesseract::{prints_words, write_tesseract};
use crate::left_out::left_out;
use crate::word_model::check_database;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

fn fixture(name: &str) -> String {
    format!("{FIXTURES}/{name}")
}

/// Returns where Tesseract is on this machine.
fn tesseract() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the machine's own, found as kb finds it")]
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).find(|folder| folder.join("tesseract").is_file());
    if found.is_none() {
        left_out("tesseract", "a test of OCR");
    }
    found
}

/// A home where Tesseract is found; `None` on a machine without it.
fn env_with_tesseract() -> Option<TestEnv> {
    let path = tesseract()?;
    let mut env = TestEnv::new();
    env.set("PATH", path.to_str().unwrap());
    Some(env)
}

/// A home where a program that runs these statements of C replaces Tesseract.
#[cfg(unix)]
fn env_with_program(statements: &str) -> TestEnv {
    let env = TestEnv::new();
    write_tesseract(&env, statements);
    env
}

/// Adds a file and returns what `kb info` prints about it.
#[track_caller]
fn add(env: &TestEnv, path: &str) -> Value {
    let report = env.json(&["add", path, "--format=json"]);
    let id = report["document_ids"][0].to_string();
    env.json(&["info", &id, "--format=json"])
}

/// Returns the texts of a document's chunks from the database.
fn texts(env: &TestEnv, info: &Value) -> String {
    let id = &info["id"];
    env.sql_column(&format!("SELECT text FROM chunks WHERE document_id = {id} ORDER BY id"))
        .join("\n")
}

#[track_caller]
fn check_quality(info: &Value, read: u32, ocr: u32, empty: u32, unread: u32) {
    let quality = &info["metadata"]["quality"];
    let found = ["pages_read", "pages_ocr", "pages_empty", "pages_unread"];
    let found: Vec<&Value> = found.iter().map(|key| &quality[key]).collect();
    assert_eq!(json!(found), json!([read, ocr, empty, unread]), "{info}");
}

#[test]
fn a_scanned_page_is_found_by_its_words() {
    let Some(env) = env_with_tesseract() else { return };
    let info = add(&env, &fixture("documents/enclosure.pdf"));
    check_quality(&info, 2, 1, 0, 0);
    assert_eq!(info["metadata"]["warnings"], json!([]));
    let found = env.json(&["search", "spiders web across the horn", "--top=1", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["document_id"], info["id"]);
    assert_eq!(found["results"][0]["source"]["last_page"], 2);
    check_database(&env);
}

#[test]
fn pictures_are_read_page_by_page() {
    let Some(env) = env_with_tesseract() else { return };
    let info = add(&env, &fixture("documents/scan.png"));
    assert_eq!((&info["type"], &info["metadata"]["format"]), (&json!("pdf"), &json!("png")));
    check_quality(&info, 1, 1, 0, 0);
    assert!(texts(&env, &info).contains("phosphor bronze wire"), "{}", texts(&env, &info));

    let info = add(&env, &fixture("documents/scan.tiff"));
    assert_eq!((&info["type"], &info["metadata"]["format"]), (&json!("pdf"), &json!("tiff")));
    check_quality(&info, 2, 2, 0, 0);
    let found = env.json(&["search", "spiders web across the horn", "--top=1", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["last_page"], 2, "{found}");
}

/// Checks that a picture of the page in `stations.png` is read as it was typed, in any orientation.
#[track_caller]
fn check_stations(env: &TestEnv, path: &str) {
    let text = env.ok(&["convert", path, "--format", "md"]).stdout;
    let heading = text.find("# Stations of the harbour").expect(&text);
    let prose = text.find("at the lowest tide, and the currents are").expect(&text);
    let table = text.find("| Station | Depth | Current |\n").expect(&text);
    let row = text.find("| Old lighthouse | 31.0").expect(&text);
    let item = text.find("\n- Nobody anchors near the old lighthouse.").expect(&text);
    assert!([heading, prose, table, row, item].is_sorted(), "{text}");
}

#[test]
fn scans_have_headings_tables_and_lists() {
    let Some(env) = env_with_tesseract() else { return };
    check_stations(&env, &fixture("scans/stations.png"));
    // It descends to the right by 2.3 degrees.
    check_stations(&env, &fixture("scans/stations-skewed.png"));
    let info = add(&env, &fixture("scans/stations.png"));
    let share = info["metadata"]["quality"]["share_unsure"].as_f64().unwrap();
    assert!(share < 0.3, "{info}");
}

#[test]
fn pictures_that_lie_on_their_side_or_upside_down_are_turned() {
    let Some(env) = env_with_tesseract() else { return };
    let picture = image::open(fixture("scans/stations.png")).unwrap();
    let (right, left) = (env.path("right.png"), env.path("left.png"));
    picture.rotate90().save(&right).unwrap();
    check_stations(&env, right.to_str().unwrap());
    let program = tesseract().unwrap().join("tesseract");
    let languages = std::process::Command::new(program).arg("--list-langs").output().unwrap();
    if !String::from_utf8_lossy(&languages.stdout).contains("osd") {
        left_out("orientation", "a page upside down");
        return;
    }
    picture.rotate270().save(&left).unwrap();
    check_stations(&env, left.to_str().unwrap());
    let down = env.path("down.png");
    picture.rotate180().save(&down).unwrap();
    check_stations(&env, down.to_str().unwrap());
}

#[cfg(unix)]
#[test]
fn words_that_tesseract_is_not_sure_of_are_counted() {
    let words = prints_words("high water at noon");
    let env = env_with_program(&words.replacen("\\t96\\t", "\\t31\\t", 1));
    let quality = &add(&env, &fixture("documents/enclosure.pdf"))["metadata"]["quality"];
    assert_eq!(quality["share_unsure"], 0.25, "{quality}");
    let printed = env.ok(&["info", "1"]).stdout;
    assert!(printed.contains("OCR is not sure of 25.0 % of its words"), "{printed}");
}

#[cfg(unix)]
#[test]
fn pictures_are_not_stored() {
    let mut env = env_with_program(&prints_words("words of a picture"));
    env.set("KB_INGESTION_ENABLE_OCR", "always");
    // In a PDF, separately, in a web page, in a notebook, in a book and in a word processor's text.
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
    env.write(
        "docs/page.html",
        format!("<html><body><h1>Page</h1><p>Words.</p><img src='data:image/png;base64,{png}'></body></html>"),
    );
    let cell = json!({
        "cell_type": "code", "execution_count": 1, "metadata": {}, "source": ["plot()"],
        "outputs": [{ "output_type": "display_data", "metadata": {}, "data": { "image/png": png } }],
    });
    let notebook = json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 });
    env.write("docs/plot.ipynb", notebook.to_string());
    for name in ["enclosure.pdf", "scan.png", "scan.tiff"] {
        fs::copy(fixture(&format!("documents/{name}")), env.path("docs").join(name)).unwrap();
    }
    let picture = fs::read(fixture("documents/scan.png")).unwrap();
    env.write("docs/year.epub", book("images/scan.png", &picture));
    let ferry = fs::read(fixture("documents/ferry.docx")).unwrap();
    let mut ferry = zip::ZipWriter::new_append(std::io::Cursor::new(ferry)).unwrap();
    ferry.start_file("word/media/image1.png", stored()).unwrap();
    std::io::Write::write_all(&mut ferry, &picture).unwrap();
    env.write("docs/ferry.docx", ferry.finish().unwrap().into_inner());
    assert_eq!(env.json(&["add", "docs", "--format=json"])["added"], 7);
    // There is nothing next to the database, and no part of a file's bytes is in it.
    let names = fs::read_dir(env.path(".kb")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["kb.db"]);
    let stored = fs::read(env.database()).unwrap();
    let holds = |part: &[u8]| stored.windows(part.len()).any(|window| window == part);
    assert!(!holds(&png.as_bytes()[..40]));
    for name in ["enclosure.pdf", "scan.png", "scan.tiff"] {
        let bytes = fs::read(env.path("docs").join(name)).unwrap();
        let is_stored = bytes.chunks_exact(64).any(|part| {
            let is_plain = part.iter().collect::<std::collections::BTreeSet<_>>().len() < 16;
            !is_plain && holds(part)
        });
        assert!(!is_stored, "{name}");
    }
    let words = env.sql_column("SELECT text FROM chunks WHERE text LIKE '%words of a picture%'");
    assert!(!words.is_empty(), "the text of a picture is stored");
}

#[test]
fn a_language_that_is_not_installed_is_named() {
    let Some(mut env) = env_with_tesseract() else { return };
    env.set("KB_INGESTION_OCR_LANGUAGES", "xyz");
    let info = add(&env, &fixture("documents/enclosure.pdf"));
    check_quality(&info, 1, 0, 0, 1);
    let warning = info["metadata"]["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("OCR failed on 1 of 2 pages: Tesseract: "), "{warning}");
    assert!(warning.contains("xyz"), "{warning}");
    // With an installed language more of the same file is read.
    env.set("KB_INGESTION_OCR_LANGUAGES", "eng");
    check_quality(&add(&env, &fixture("documents/enclosure.pdf")), 2, 1, 0, 0);
}

#[test]
fn without_tesseract_scans_are_added_counted_and_reported() {
    let env = TestEnv::new();
    let output = env.ok(&["add", &fixture("documents/enclosure.pdf")]);
    let warning = "no text found on 1 of 2 pages; they look like scans; Tesseract is not \
                   installed, which could read them";
    assert!(output.stderr.contains(warning), "{}", output.stderr);
    let info = add(&env, &fixture("documents/scan.png"));
    check_quality(&info, 0, 0, 0, 1);
    assert_eq!(info["chunk_count"], 0);

    let list = env.json(&["list", "--format=json"]);
    let unread = |info: &Value| info["quality"]["pages_unread"].as_u64();
    let listed: Vec<u64> = list.as_array().unwrap().iter().filter_map(unread).collect();
    assert_eq!(listed, [1, 1]);
    assert!(env.ok(&["list"]).stdout.contains("2 (1 unread)"));

    let status = env.json(&["status", "--format=json"]);
    let pages = json!({"read": 1, "ocr": 0, "empty": 0, "unread": 2, "documents_with_unread": 2});
    assert_eq!(status["pages"], pages);
    let ocr = json!({"mode": "auto", "tesseract": null, "problem": null, "languages": "eng"});
    assert_eq!(status["ocr"], ocr);
    assert_eq!(env.json(&["init", "--status", "--format=json"])["ocr"], ocr);
    for command in [["status", "--format=human"].as_slice(), &["init", "--status"]] {
        let printed = env.ok(command).stdout;
        assert!(printed.contains("not installed (Tesseract reads scans)"), "{printed}");
    }
    check_database(&env);
}

#[test]
fn a_note_is_not_repeated_endlessly() {
    let env = TestEnv::new();
    let page = fs::read(fixture("pdf/empty-page.pdf")).unwrap();
    for number in 0..12 {
        let other = [page.as_slice(), format!("% {number}\n").as_bytes()].concat();
        env.write(&format!("blank/{number}.pdf"), other);
    }
    let printed = env.ok(&["add", "blank"]).stderr;
    assert_eq!(printed.matches("there is no text in this document").count(), 11, "{printed}");
    assert!(
        printed.contains("note: 2 more documents: there is no text in this document"),
        "{printed}"
    );
}

#[test]
fn a_notebook_is_found_by_its_prose_and_its_code() {
    let env = TestEnv::new();
    env.write(
        "tides.ipynb",
        r##"{"cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Tides\n", "Spring tides follow the moon."]},
            {"cell_type": "code", "metadata": {}, "source": ["height = mean + amplitude"], "outputs": []}
        ], "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 5}"##,
    );
    let info = add(&env, "tides.ipynb");
    assert_eq!(
        (&info["title"], &info["metadata"]["format"]),
        (&json!("Tides"), &json!("notebook"))
    );
    assert!(texts(&env, &info).contains("```python\nheight = mean + amplitude\n```"));
    check_database(&env);
}

#[test]
fn the_short_results_of_a_notebook_are_read() {
    let mut env = TestEnv::new();
    let frame = "<div>\n<style scoped>\n    .dataframe { a: b; }\n</style>\n<table border=\"1\" class=\"dataframe\">\n  \
        <thead><tr style=\"text-align: right;\"><th></th><th>port</th><th>height</th></tr></thead>\n  \
        <tbody><tr><th>0</th><td>Brest</td><td>3.2</td></tr></tbody>\n</table>\n</div>";
    let results = json!([
        { "output_type": "stream", "name": "stdout", "text": ["gauge 7 is frozen\n"] },
        { "output_type": "execute_result", "data": { "text/html": frame, "text/plain": "  port\n" } },
        { "output_type": "stream", "name": "stdout", "text": "verbose\n".repeat(100) },
    ]);
    let cell =
        json!({ "cell_type": "code", "source": "gauges()", "metadata": {}, "outputs": results });
    let notebook = json!({ "cells": [cell], "metadata": {}, "nbformat": 4 });
    env.write("gauges.ipynb", notebook.to_string());
    let info = add(&env, "gauges.ipynb");
    let read = texts(&env, &info);
    assert!(read.contains("```\ngauge 7 is frozen\n```"), "{read}");
    assert!(read.contains("| 0 | Brest | 3.2 |") && !read.contains("verbose"), "{read}");
    env.set("KB_INGESTION_NOTEBOOK_OUTPUTS", "false");
    let converted = env.ok(&["convert", "gauges.ipynb"]).stdout;
    assert_eq!(converted.trim(), "```\ngauges()\n```");
}

/// Returns an EPUB book with one chapter and one more file.
pub(crate) fn book(name: &str, content: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in [
        ("mimetype", &b"application/epub+zip"[..]),
        (
            "META-INF/container.xml",
            b"<container><rootfiles><rootfile full-path='book.opf'/></rootfiles></container>",
        ),
        (
            "book.opf",
            b"<package><metadata><dc:title>The keeper's year</dc:title></metadata>\
             <manifest><item id='a' href='winter.xhtml'/></manifest>\
             <spine><itemref idref='a'/></spine></package>",
        ),
        (
            "winter.xhtml",
            b"<html xmlns='http://www.w3.org/1999/xhtml'><head><title/></head><body><h1>Winter</h1>\
             <p>Ice forms in the stilling well.</p></body></html>",
        ),
        (name, content),
    ] {
        archive.start_file(name, stored()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Options for a file that is stored in an archive without compression.
fn stored() -> zip::write::SimpleFileOptions {
    zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored)
}

#[test]
fn a_book_is_read_by_its_chapters() {
    let env = TestEnv::new();
    env.write("year.epub", book("notes.txt", b"None."));
    let info = add(&env, "year.epub");
    assert_eq!((&info["title"], &info["type"]), (&json!("The keeper's year"), &json!("markdown")));
    let found = env.json(&["search", "stilling well", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["section"], "Winter", "{found}");
    check_database(&env);
}

/// Returns the path of an office document that the fuzzing corpus has.
fn office(env: &TestEnv, kind: &str, name: &str) -> String {
    let seed = format!("{}/fuzz/corpus/{kind}/{name}", env!("CARGO_MANIFEST_DIR"));
    let path = env.write(&format!("{name}.{kind}"), fs::read(seed).unwrap());
    path.to_str().unwrap().to_owned()
}

#[test]
fn slides_are_cited_by_page_and_sheets_by_name() {
    let env = TestEnv::new();
    let deck = add(&env, &office(&env, "pptx", "tides"));
    assert_eq!(
        (&deck["metadata"]["format"], &deck["metadata"]["page_count"], &deck["chunks"][0]["page"]),
        (&json!("pptx"), &json!(1), &json!(1))
    );
    let sheet = add(&env, &office(&env, "xlsx", "levels"));
    assert_eq!((&sheet["title"], &sheet["metadata"]["format"]), (&json!("levels"), &json!("xlsx")));
    let found = env.json(&["search", "level", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["section"], "Levels", "{found}");
    assert!(texts(&env, &sheet).contains("| 1 Jan 2020 12:00 PM | -1,234.50 |"), "{sheet}");
    for (kind, name, words) in [
        ("odt", "house", "Tide house"),
        ("odp", "deck", "Ask Maren."),
        ("ods", "levels", "3.5"),
        ("rtf", "house", "[^1]: noon"),
        ("fb2", "book", "Ebb"),
        ("mhtml", "page", "При"),
    ] {
        let info = add(&env, &office(&env, kind, name));
        assert_eq!(info["metadata"]["format"], kind);
        assert!(texts(&env, &info).contains(words), "{kind}: {info}");
    }
    check_database(&env);
}

#[test]
fn a_page_is_cited_by_its_label() {
    let env = TestEnv::new();
    let info = add(&env, &fixture("pdf/outline.pdf"));
    let chunk = &info["chunks"][0];
    assert_eq!((&chunk["page"], &chunk["page_label"]), (&json!(1), &json!("i")));
    let found = env.json(&["search", "gullies", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["page_label"], "A-1", "{found}");
}

#[cfg(unix)]
#[test]
fn scans_are_read_once_tesseract_is_installed() {
    let env = TestEnv::new();
    let path = fixture("documents/enclosure.pdf");
    let before = add(&env, &path);
    // Nothing is new, so nothing is done.
    assert_eq!(env.json(&["add", &path, "--format=json"])["skipped"], 1);
    let program = write_tesseract(&env, &prints_words("Spiders are its only enemy."));
    let status = env.json(&["status", "--format=json"]);
    assert_eq!(status["ocr"]["tesseract"], program.to_str().unwrap());
    let after = add(&env, &path);
    assert_eq!(after["id"], before["id"]);
    check_quality(&after, 2, 1, 0, 0);
    assert!(texts(&env, &after).contains("Spiders are its only enemy."));
    assert_eq!(env.json(&["add", &path, "--format=json"])["skipped"], 1);
    check_database(&env);
}

#[cfg(unix)]
#[test]
fn ocr_runs_as_the_settings_say() {
    let mut env = env_with_program(&prints_words("words of a picture"));
    let path = fixture("documents/enclosure.pdf");
    env.set("KB_INGESTION_ENABLE_OCR", "never");
    let info = add(&env, &path);
    check_quality(&info, 1, 0, 0, 1);
    assert_eq!(
        info["metadata"]["warnings"],
        json!(["no text found on 1 of 2 pages; they look like scans"])
    );
    assert!(env.ok(&["init", "--status"]).stdout.contains("off (ingestion.enable_ocr)"));
    env.ok(&["remove", &info["id"].to_string(), "--yes"]);
    env.set("KB_INGESTION_ENABLE_OCR", "always");
    let info = add(&env, &path);
    check_quality(&info, 2, 2, 0, 0);
    assert!(!texts(&env, &info).contains("enclosure"));
    env.ok(&["remove", &info["id"].to_string(), "--yes"]);
    env.set("KB_INGESTION_ENABLE_OCR", "auto");
    let info = add(&env, &path);
    check_quality(&info, 2, 1, 0, 0);
    assert!(texts(&env, &info).contains("enclosure"));
}

#[cfg(unix)]
#[test]
fn tesseract_gets_a_grey_picture_and_the_languages() {
    // Such a program can write no file, but its first error is reported.
    let statements = "char magic[9], size[99];\n\
         for (int at = 1; at < argc; at++) fprintf(stderr, \"%s \", argv[at]);\n\
         if (scanf(\"%8s %98[^\\n]\", magic, size) != 2) return 2;\n\
         fprintf(stderr, \"%s %s\\n\", magic, size); return 1;";
    let mut env = env_with_program(statements);
    env.set("KB_INGESTION_OCR_LANGUAGES", "eng+deu");
    let info = add(&env, &fixture("documents/enclosure.pdf"));
    let wanted = "stdin stdout --psm 3 -l eng+deu -c tessedit_create_tsv=1 --dpi 200";
    let asked = format!("OCR failed on 1 of 2 pages: Tesseract: {wanted} P5 1652 2338");
    assert_eq!(info["metadata"]["warnings"], json!([asked]));
}

#[cfg(unix)]
#[test]
fn one_tesseract_reads_several_pages_and_each_gets_its_words() {
    let row = |page: u32, word: &str| {
        format!("5\\t{page}\\t1\\t1\\t1\\t1\\t100\\t100\\t120\\t20\\t96\\t{word}\\n")
    };
    let rows = format!("{}{}", row(1, "harbour"), row(2, "lighthouse"));
    // A TIFF file; one page by itself is PGM.
    let statements =
        format!("if (getchar() != 'I' || getchar() != 'I') return 1;\nfputs(\"{rows}\", stdout);");
    let mut env = env_with_program(&statements);
    env.set("KB_INGESTION_WORKERS", "1");
    let info = add(&env, &fixture("documents/scan.tiff"));
    check_quality(&info, 2, 2, 0, 0);
    assert_eq!(texts(&env, &info), "harbour\n\nlighthouse");
}

#[cfg(unix)]
#[test]
fn pages_for_ocr_are_counted_and_icons_are_ignored() {
    let env = env_with_program(&prints_words("low water at noon"));
    env.write("docs/notes.md", "# Notes\n\nwords\n");
    for (name, width, height) in [("icon.png", 48, 48), ("line.png", 900, 4)] {
        image::GrayImage::new(width, height).save(env.path("docs").join(name)).unwrap();
    }
    for name in ["enclosure.pdf", "scan.png"] {
        fs::copy(fixture(&format!("documents/{name}")), env.path("docs").join(name)).unwrap();
    }
    let dry = env.ok(&["add", "docs", "--dry-run"]).stdout;
    assert!(dry.contains("3 new, 0 changed, 0 unchanged, 2 ignored"), "{dry}");
    assert!(dry.contains("2 pages need OCR."), "{dry}");
    let output = env.ok(&["add", "docs"]);
    assert!(output.stderr.contains(" 2 pages read by OCR in "), "{}", output.text());
    let ignored = env.ok(&["files", "--ignored", "--format", "human"]).stdout;
    for name in ["icon.png", "line.png"] {
        let line = ignored.lines().find(|line| line.contains(name));
        assert!(line.is_some_and(|line| line.contains("small")), "{ignored}");
    }
    let error = env.kb(&["add", "docs/icon.png", "--format", "json"]).expect(1);
    assert_eq!(error.json_error()["code"], "too_small");
}

#[cfg(unix)]
#[test]
fn a_tesseract_that_fails_loses_no_document() {
    for (statements, printed) in [
        ("fputs(\"no such thing\\n\", stderr); return 1;", "Tesseract: no such thing"),
        ("return 3;", "Tesseract gave up"),
        ("raise(SIGKILL);", "Tesseract gave up"),
    ] {
        let env = env_with_program(statements);
        let info = add(&env, &fixture("documents/enclosure.pdf"));
        check_quality(&info, 1, 0, 0, 1);
        let warnings = json!([format!("OCR failed on 1 of 2 pages: {printed}")]);
        assert_eq!(info["metadata"]["warnings"], warnings, "{statements}");
        assert!(texts(&env, &info).contains("enclosure"), "{statements}");
    }
}

#[cfg(unix)]
#[test]
fn a_picture_without_words_is_kept_and_not_read_again() {
    let env = env_with_program(&prints_words("| ."));
    let info = add(&env, &fixture("documents/scan.png"));
    check_quality(&info, 0, 0, 1, 0);
    assert_eq!(info["metadata"]["warnings"], json!(["there is no text in this document"]));
    let again = env.json(&["add", &fixture("documents/scan.png"), "--format=json"]);
    assert_eq!(again["skipped"], 1);
}

#[test]
fn damaged_pictures_and_archives_are_reported() {
    let env = TestEnv::new();
    let png = fs::read(fixture("documents/scan.png")).unwrap();
    env.write("mixed/cut.png", &png[..20]);
    env.write("mixed/cut.docx", b"PK\x03\x04 cut off");
    env.write("mixed/zip.docx", empty_zip());
    env.write("mixed/locked.docx", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and more");
    env.write("mixed/good.md", "The lamp is lit.");
    let report = env.json(&["add", "mixed", "--format=json"]);
    assert_eq!((&report["added"], &report["failed"]), (&json!(1), &json!(4)), "{report}");
    let mut failed: Vec<(String, String)> = report["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failure| {
            let name = Path::new(failure["path"].as_str().unwrap()).file_name().unwrap();
            (name.to_str().unwrap().to_owned(), failure["code"].as_str().unwrap().to_owned())
        })
        .collect();
    failed.sort();
    let expected = [
        ("cut.docx", "damaged"),
        ("cut.png", "damaged"),
        ("locked.docx", "encryption_not_supported"),
        ("zip.docx", "wrong_format"),
    ];
    assert_eq!(failed, expected.map(|(name, code)| (name.to_owned(), code.to_owned())));
}

/// Returns a ZIP archive with one empty file, `a`.
fn empty_zip() -> Vec<u8> {
    let local = b"PK\x03\x04\x0A\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0a";
    let central = b"PK\x01\x02\x0A\0\x0A\0\0\0\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a";
    let end = b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x2F\0\0\0\x1F\0\0\0\0\0";
    [local.as_slice(), central, end].concat()
}

#[test]
fn text_in_other_markup_is_headed_text_that_cites_its_lines() {
    let mut env = TestEnv::new();
    env.set("KB_CHUNKING_MARKDOWN_MIN_TOKENS", "0");
    let files = [
        (
            "tide.rst",
            "rst",
            "Gauge\n=====\n\nIntro.\n\n\nFloat\n-----\nThe :term:`float <f>` rises.\n",
        ),
        ("tide.adoc", "asciidoc", "= Gauge\n\nIntro.\n\n\n\n== Float\n\nThe *float* rises.\n"),
        (
            "tide.org",
            "org",
            "#+TITLE: Gauge\n# none\n\n\n\n\n* TODO Float :a:\n\nThe /float/ rises.\n",
        ),
        (
            "tide.tex",
            "latex",
            "\\documentclass{a}\n\\title{Gauge}\n\\begin{document}\nIntro.\n\n\n\\section{Float}\n\nThe \\emph{float} rises.\n\\end{document}\n",
        ),
        (
            "tide.1",
            "man",
            ".TH Gauge\n.\\\" a\n.\\\" b\n.\\\" c\n.\\\" d\n.\\\" e\n.SH Float\n.PP\nThe \\fBfloat\\fR rises.\n",
        ),
    ];
    for (name, format, text) in files {
        let path = env.write(name, text);
        let info = add(&env, path.to_str().unwrap());
        assert_eq!(
            (&info["title"], &info["type"]),
            (&json!("Gauge"), &json!("markdown")),
            "{name}"
        );
        assert_eq!(info["metadata"]["format"], format);
        let chunks = info["chunks"].as_array().unwrap();
        let last = chunks.last().unwrap();
        assert_eq!(last["section"], "Float", "{name}");
        assert_eq!((&last["start_line"], &last["end_line"]), (&json!(7), &json!(9)), "{name}");
        assert!(texts(&env, &info).contains("The float rises."), "{name}");
    }
}

#[test]
fn a_message_has_its_subject_and_its_date_and_a_mailbox_its_messages() {
    let env = TestEnv::new();
    let message = "From: Ada <ada@example.org>\r\nTo: bo@example.org\r\nSubject: Winter gauges\r\n\
                   Date: Mon, 26 Feb 2024 10:30:00 +0000\r\n\r\nThe float froze.\r\n";
    let path = env.write("one.eml", message);
    let info = add(&env, path.to_str().unwrap());
    assert_eq!((&info["title"], &info["type"]), (&json!("Winter gauges"), &json!("markdown")));
    assert_eq!(info["metadata"]["format"], "eml");
    assert_eq!(info["metadata"]["author"], "Ada <ada@example.org>");
    let found = env.json(&["search", "float froze", "--since", "2024-02", "--until", "2024-02"]);
    assert_eq!(found["total_matches"], 1);
    let mailbox = format!(
        "From ada Mon Feb 26 10:30:00 2024\n{}\nFrom bo Tue Feb 27 10:30:00 2024\nSubject: Chains\n\nThe chain broke.\n",
        message.replace('\r', "")
    );
    let mailbox = env.write("all.mbox", mailbox);
    env.ok(&["add", mailbox.to_str().unwrap()]);
    let info = env.json(&["info", "Chains", "--format", "json"]);
    assert_eq!(info["metadata"]["format"], "eml");
    assert_eq!(info["metadata"]["member"], "message-2.eml");
    let found = env.json(&["search", "chain", "--fts-only", "--path", mailbox.to_str().unwrap()]);
    assert_eq!(found["results"][0]["source"]["path"], mailbox.to_str().unwrap());
    let converted = env.ok(&["convert", "all.mbox"]).stdout;
    assert!(converted.contains("## Winter gauges\n") && converted.contains("## Chains\n"));
}

#[test]
fn a_web_page_is_read_without_its_navigation() {
    let mut env = TestEnv::new();
    // Without this setting so small a document would be one chunk.
    env.set("KB_CHUNKING_MARKDOWN_MIN_TOKENS", "0");
    let info = add(&env, &fixture("documents/harbour.html"));
    assert_eq!(info["title"], "Harbour dues");
    assert_eq!((&info["type"], &info["metadata"]["format"]), (&json!("markdown"), &json!("html")));
    assert_eq!(info["metadata"]["author"], "Maren Voss");
    assert_eq!(info["metadata"]["language"], "en");
    assert_eq!(info["metadata"]["quality"], Value::Null);
    let text = texts(&env, &info);
    for words in [
        "Dues are paid at the port office before noon.",
        "| Vessel | Per night |\n| --- | --- |\n| Dinghy | 4 crowns |\n| Trawler | 31 crowns |",
        "- Pilots and lifeboats\n  - also on exercise",
        "```sh\nlp --copies 2 \\\n  exemption.txt\n```",
    ] {
        assert!(text.contains(words), "{words:?} in {text}");
    }
    for words in ["marina", "Imprint", "tracker", "teal", "¶", "href"] {
        assert!(!text.contains(words), "{words:?} in {text}");
    }
    let found = env.json(&["search", "lp copies exemption", "--top=1", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["section"], "Exemptions > By letter");
    assert_eq!(found["results"][0]["source"]["start_line"], Value::Null);
}

#[test]
fn a_word_processors_text_keeps_its_structure() {
    let mut env = TestEnv::new();
    // Without this setting so small a document would be one chunk.
    env.set("KB_CHUNKING_MARKDOWN_MIN_TOKENS", "0");
    let info = add(&env, &fixture("documents/ferry.docx"));
    assert_eq!(info["title"], "Ferry timetable");
    assert_eq!((&info["type"], &info["metadata"]["format"]), (&json!("markdown"), &json!("docx")));
    assert_eq!(info["metadata"]["author"], "Maren Voss");
    let text = texts(&env, &info);
    for words in [
        "The ferry Petrel leaves at every full hour.[^2]",
        "[^2]: Except on the day of the regatta.",
        "| Day | First | Last |\n| --- | --- | --- |\n| Saturday | 07:00 | 23:00 |",
        "1. Dogs travel free.\n  1. Puppies too.",
        "2. Bicycles cost two coins.",
    ] {
        assert!(text.contains(words), "{words:?} in {text}");
    }
    let found = env.json(&["search", "bicycles", "--top=1", "--fts-only"]);
    assert_eq!(found["results"][0]["source"]["section"], "Crossings > On board");
}

#[test]
fn a_password_opens_encrypted_files() {
    let mut env = TestEnv::new();
    let path = fixture("broken/password.pdf");
    for wrong in [["add", &path].as_slice(), &["add", &path, "--password", "flood"]] {
        let error = env.kb(wrong).expect(1).stderr;
        assert!(error.contains("a password is needed to open it"), "{error}");
        assert!(error.contains("hint: set KB_PASSWORD or use `--password`"), "{error}");
    }
    env.ok(&["add", &path, "--password", "ebb"]);
    env.ok(&[
        "remove",
        &env.json(&["list", "--type=pdf", "--format=json"])[0]["id"].to_string(),
        "--yes",
    ]);
    env.set("KB_PASSWORD", "ebb");
    check_quality(&add(&env, &path), 1, 0, 0, 0);
    // Files that need no password are read with any.
    check_quality(&add(&env, &fixture("pdf/restricted.pdf")), 1, 0, 0, 0);
}

#[test]
fn endless_pages_end_with_one_line() {
    let env = TestEnv::new();
    // Nesting deeper than any stack, and a bomb of a few kilobytes.
    env.write("deep.html", "<div>".repeat(20_000) + "the lamp");
    let info = add(&env, "deep.html");
    assert!(texts(&env, &info).contains("the lamp"));
}

#[test]
fn events_people_and_references_are_sections() {
    let env = TestEnv::new();
    let files = [
        (
            "a.ics",
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Dry dock\nLOCATION:Pier 9\nDTSTART:20240501T100000Z\nEND:VEVENT\n\
             END:VCALENDAR\n",
            ["Dry dock", "Pier 9"],
        ),
        (
            "b.vcf",
            "BEGIN:VCARD\nVERSION:3.0\nFN:Ida Example\nNOTE:Prefers calls before nine\nEND:VCARD\n",
            ["Ida Example", "before nine"],
        ),
        (
            "c.bib",
            "@article{a, title = {Tides of Brest}, author = {Voss, Maren}, year = 1902}\n",
            ["Tides of Brest", "Voss"],
        ),
        (
            "d.ris",
            "TY  - JOUR\nTI  - Ebb and flood\nAU  - Bruns, Jan\nER  - \n",
            ["Ebb and flood", "Bruns"],
        ),
    ];
    for (name, content, [heading, words]) in files {
        let file = env.write(name, content);
        let shown = env.ok(&["convert".as_ref(), file.as_os_str()]).stdout;
        let is_heading = |line: &str| line.starts_with('#') && line.contains(heading);
        assert!(shown.lines().any(is_heading) && shown.contains(words), "{name}: {shown}");
    }
}
