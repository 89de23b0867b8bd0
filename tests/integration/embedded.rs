//! Tests what an office file is by its directory, and the files embedded in it, which are documents themselves.

use std::fs;
use std::io::{Cursor, Write as _};

use crate::env::TestEnv;
use crate::word_model::check_database;

/// Returns an archive of stored parts, as Word and others keep embedded files.
fn package(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        let stored = zip::CompressionMethod::Stored;
        let options = zip::write::SimpleFileOptions::default().compression_method(stored);
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Returns a workbook with one cell.
fn workbook(cell: &str) -> Vec<u8> {
    let sheet =
        format!("<worksheet><row><c t='inlineStr'><is><t>{cell}</t></is></c></row></worksheet>");
    package(&[
        ("xl/workbook.xml", b"<workbook><sheets><sheet name='S' r:id='r1'/></sheets></workbook>"),
        (
            "xl/_rels/workbook.xml.rels",
            b"<Relationships><Relationship Id='r1' Type='x/worksheet' Target='worksheets/sheet1.xml'/></Relationships>",
        ),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ])
}

/// Returns a Word document with an embedded workbook.
fn report(workbook: &[u8]) -> Vec<u8> {
    let types = "<Types><Override PartName='/word/document.xml' ContentType='application/\
                 vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/></Types>";
    package(&[
        ("[Content_Types].xml", types.as_bytes()),
        (
            "_rels/.rels",
            b"<Relationships><Relationship Id='r1' Type='x/officeDocument' Target='word/document.xml'/></Relationships>",
        ),
        (
            "word/document.xml",
            b"<w:document><w:p><w:r><w:t>Harbour report.</w:t></w:r></w:p><w:p><w:r><w:object>\
              <o:OLEObject r:id='r1'/></w:object></w:r></w:p><w:p><w:r><w:t>The end.</w:t></w:r></w:p></w:document>",
        ),
        (
            "word/_rels/document.xml.rels",
            b"<Relationships><Relationship Id='r1' Type='x/package' Target='embeddings/levels.xlsx'/></Relationships>",
        ),
        ("word/embeddings/levels.xlsx", workbook),
        ("word/odd.bin", b"\0\x01\x02\x03\0\x05\x06"),
    ])
}

/// Returns the file name and the name in it of each document, in the order of the paths.
fn places(env: &TestEnv) -> Vec<String> {
    let all = env.json(&["list", "--format", "json"]);
    let mut places: Vec<String> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|document| {
            let path = document["path"].as_str().unwrap();
            let file = path.rsplit('/').next().unwrap();
            format!("{file} {}", document["member"].as_str().unwrap_or("-"))
        })
        .collect();
    places.sort();
    places
}

#[test]
fn a_word_file_with_a_workbook_is_a_word_file_and_the_workbook_is_a_document() {
    let env = TestEnv::new();
    env.write("docs/report.docx", report(&workbook("spring tide")));
    let added = env.ok(&["add", "docs"]);
    assert!(added.stderr.contains("Added 2 documents. 0 failed."), "{}", added.text());
    assert_eq!(places(&env), ["report.docx -", "report.docx levels.xlsx"]);
    let hit = &env.json(&["search", "spring tide", "--top", "1"])["results"][0];
    assert_eq!(hit["source"]["member"], "levels.xlsx");
    let shown = env.ok(&["convert", "docs/report.docx"]).stdout;
    let expected =
        "Harbour report.\n\nEmbedded file: levels.xlsx\n\n## S\n\nspring tide\n\nThe end.\n";
    assert_eq!(shown, expected);
    assert!(env.ok(&["show", "docs/report.docx//levels.xlsx"]).stdout.contains("spring tide"));
    let again = env.ok(&["add", "docs"]);
    assert!(again.stderr.contains("Added 0 documents. 0 failed. 2 skipped"), "{}", again.text());
    check_database(&env);
}

#[test]
fn an_embedded_file_that_is_gone_is_forgotten_and_a_copy_keeps_its_own() {
    let env = TestEnv::new();
    env.write("docs/report.docx", report(&workbook("spring tide")));
    env.ok(&["add", "docs"]);
    env.write("docs/copy.docx", report(&workbook("spring tide")));
    env.ok(&["update"]);
    fs::remove_file(env.path("docs/report.docx")).unwrap();
    env.ok(&["update", "--prune", "--force"]);
    assert_eq!(places(&env), ["copy.docx -", "copy.docx levels.xlsx"]);
    env.write("docs/copy.docx", report(&workbook("neap tide")));
    env.ok(&["update"]);
    let hit = &env.json(&["search", "neap tide", "--top", "1"])["results"][0];
    assert_eq!(hit["source"]["member"], "levels.xlsx");
    env.write("docs/copy.docx", report(b"no workbook"));
    env.ok(&["update"]);
    assert_eq!(places(&env), ["copy.docx -", "copy.docx levels.xlsx"]);
    let plain = package(&[(
        "word/document.xml",
        b"<w:document><w:p><w:r><w:t>Only a report.</w:t></w:r></w:p></w:document>",
    )]);
    env.write("docs/copy.docx", plain);
    env.ok(&["update"]);
    assert_eq!(places(&env), ["copy.docx -"]);
    check_database(&env);
}

#[test]
fn parts_that_cannot_be_read_are_counted_and_named() {
    let env = TestEnv::new();
    env.write("docs/report.docx", report(&workbook("spring tide")));
    let added = env.ok(&["add", "docs"]);
    assert!(added.stderr.contains("not read: `word/odd.bin` (7 bytes: "), "{}", added.text());
    let info = env.json(&["info", "docs/report.docx", "--format", "json"]);
    let parts = &info["metadata"]["parts"];
    assert_eq!(
        (&parts["unread_count"], &parts["unread"][0]["name"]),
        (&1.into(), &"word/odd.bin".into())
    );
    assert_eq!(parts["read"].as_u64().unwrap() + parts["unread_count"].as_u64().unwrap(), 6);
    assert!(env.ok(&["info", "docs/report.docx"]).stdout.contains("1 not read"));
    let lossy = env.json(&["files", "--quality", "--format", "json"]);
    assert_eq!(lossy["files"][0]["unread_parts"], 1);
    assert!(env.ok(&["files", "--quality"]).stdout.contains("1 part not read"));
}

#[test]
fn an_archive_is_one_whatever_is_in_it_and_a_document_whatever_its_name_is() {
    let env = TestEnv::new();
    let letter = report(&workbook("spring tide"));
    let archive = package(&[
        ("letter.docx", &letter),
        ("password/readme.md", b"# Gauges\n\nnear the lock\n"),
    ]);
    env.write("docs/all.zip", archive);
    env.write("docs/letter.zip", report(&workbook("neap tide")));
    env.write("docs/page.doc", "<html><body><p>Three days of leave</p></body></html>");
    env.ok(&["add", "docs"]);
    assert_eq!(
        places(&env),
        [
            "all.zip letter.docx",
            "all.zip password/readme.md",
            "letter.zip -",
            "letter.zip levels.xlsx",
            "page.doc -",
        ]
    );
    // A file in a file in a file is named, and not read.
    let info = env.json(&["info", "docs/all.zip//letter.docx", "--format", "json"]);
    assert_eq!(info["metadata"]["parts"]["unread"][1]["name"], "levels.xlsx");
    check_database(&env);
}

#[test]
fn each_note_of_an_export_is_a_document() {
    let env = TestEnv::new();
    let note = |title: &str, text: &str| {
        format!(
            "<note><title>{title}</title><content><![CDATA[<?xml version='1.0'?><en-note><div>{text}</div>\
             </en-note>]]></content><created>20240501T100000Z</created><tag>boat</tag></note>"
        )
    };
    let notes =
        [note("Keel bolts", "Torque them to 90 Nm."), note("Mooring", "Two lines.")].concat();
    env.write("docs/all.enex", format!("<?xml version='1.0'?><en-export>{notes}</en-export>"));
    env.ok(&["add", "docs"]);
    assert_eq!(places(&env), ["all.enex Keel bolts.md", "all.enex Mooring.md"]);
    let hit = &env.json(&["search", "torque", "--top", "1"])["results"][0];
    assert_eq!(
        (&hit["source"]["title"], &hit["source"]["tags"][0]),
        (&"Keel bolts".into(), &"boat".into())
    );
    check_database(&env);
}

#[test]
fn a_file_that_holds_text_which_is_not_read_is_not_empty() {
    let env = TestEnv::new();
    let hidden = "<w:document><w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>For teachers.</w:t></w:r></w:p></w:document>";
    let file = env.write("hidden.docx", package(&[("word/document.xml", hidden.as_bytes())]));
    let refused = env.kb(&["add".as_ref(), file.as_os_str()]).expect(1);
    assert!(
        refused.stderr.contains("none of its text was read: 2 words (hidden)"),
        "{}",
        refused.text()
    );
    let file = env.write("empty.docx", package(&[("word/document.xml", b"<w:document/>")]));
    let refused = env.kb(&["add".as_ref(), file.as_os_str()]).expect(1);
    assert!(refused.stderr.contains("is empty"), "{}", refused.text());
}
