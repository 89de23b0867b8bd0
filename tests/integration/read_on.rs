//! Tests reading on from a hit: the parts of a document, one part, the file.

use std::fs;

use crate::contract::{Opened, Outline, Search, Shown, read};
use crate::env::{CORPUS, NOTE, TestEnv};

fn outline(env: &TestEnv, document: &str) -> Outline {
    read(&env.ok(&["outline", document, "--format=json"]))
}

#[track_caller]
fn show(env: &TestEnv, args: &[&str]) -> Shown {
    read(&env.ok(&[&["show", "--format=json"], args].concat()))
}

fn open(env: &TestEnv, args: &[&str]) -> Opened {
    read(&env.ok(&[&["open", "--format=json"], args].concat()))
}

fn names(outline: &Outline) -> Vec<(u32, &str)> {
    let name = |name: &Option<String>| -> &str { name.as_deref().unwrap_or("-").to_owned().leak() };
    outline.parts.iter().map(|part| (part.level, name(&part.name))).collect()
}

#[test]
fn markdown_is_listed_by_headings_even_if_they_share_a_chunk() {
    let env = TestEnv::with_corpus();
    let outline = outline(&env, "4");
    let expected = [
        (1, "Tide station handbook"),
        (2, "Daily round"),
        (2, "Instruments"),
        (3, "Float gauge"),
        (3, "Radar gauge"),
        (2, "Winter"),
        (2, "Storm surge"),
        (3, "Warning levels"),
        (3, "After the surge"),
    ];
    assert_eq!(names(&outline)[..expected.len()], expected);
    // Each part is where the outline says: the line is that of the heading.
    let file = fs::read_to_string(format!("{CORPUS}/station-handbook.md")).unwrap();
    let lines: Vec<&str> = file.lines().collect();
    for part in &outline.parts {
        let line = lines[part.start_line.unwrap() as usize - 1];
        assert_eq!(line.trim_start_matches(['#', ' ']), part.name.as_deref().unwrap());
        assert!(part.tokens > 0 && !part.chunk_ids.is_empty(), "{part:?}");
        assert!(part.tokens <= outline.tokens && part.end_line >= part.start_line, "{part:?}");
    }
    let level = env.ok(&["outline", "4", "--level", "1", "--format=json"]);
    assert_eq!(read::<Outline>(&level).parts.len(), 1);
}

#[test]
fn code_is_listed_by_its_symbols_and_pdf_by_its_sections_with_pages() {
    let env = TestEnv::with_corpus();
    let code = outline(&env, "tide_table.py");
    assert!(names(&code).contains(&(1, "HarmonicModel")));
    assert!(names(&code).contains(&(2, "HarmonicModel.fit")));
    assert!(code.parts.iter().any(|part| part.kind == "text" && part.name.is_none()));
    let pdf = outline(&env, "5");
    let part = pdf.parts.iter().find(|part| part.name.as_deref() == Some("4.1 Warning levels"));
    let part = part.unwrap();
    assert_eq!((part.kind.as_str(), part.level, part.page), ("section", 2, Some(4)));
    assert_eq!(part.section.as_deref(), Some("4 Storm surge > 4.1 Warning levels"));
    let note = outline(&env, "Charger");
    assert_eq!((note.parts.len(), note.parts[0].kind.as_str()), (1, "text"));
    assert_eq!(note.parts[0].preview, NOTE);
}

#[test]
fn symbols_of_every_language_are_known_by_their_last_name() {
    let env = TestEnv::new();
    let method = |name: &str| {
        let line = format!("        self.items.{name}(item + usize::from(self.count));\n");
        format!("    pub fn {name}(&mut self, item: u8) {{\n{}    }}\n\n", line.repeat(30))
    };
    let methods = method("push") + &method("drop_last");
    let text =
        format!("pub struct Stack {{\n    items: Vec<u8>,\n}}\n\nimpl Stack {{\n{methods}}}\n");
    env.write("stack.rs", text);
    env.ok(&["add", "stack.rs"]);
    let shown = show(&env, &["stack.rs", "--symbol", "push"]);
    assert!(shown.text.contains("self.items.push"), "{shown:?}");
    let outline = outline(&env, "stack.rs");
    assert!(
        names(&outline).iter().all(|part| part.0 == 1 + u32::from(part.1.contains("::"))),
        "{outline:?}"
    );
}

#[test]
fn a_section_is_shown_by_its_heading_or_the_name_in_a_hit() {
    let env = TestEnv::with_corpus();
    let shown = show(&env, &["4", "--section", "INSTRUMENTS"]);
    assert!(shown.text.starts_with("## Instruments\n\n### Float gauge\n"), "{}", shown.text);
    assert!(shown.text.ends_with("is not a seiche."), "{}", shown.text);
    assert_eq!((shown.start_line, shown.end_line), (Some(24), Some(37)));
    assert_eq!((shown.matches, shown.truncated), (1, false));
    // Every section that a search names can be shown.
    for query in ["float", "surge", "winter", "battery", "sensor", "salt", "constituents"] {
        let answer: Search = read(&env.ok(&["search", query, "--fts-only"]));
        for hit in answer.results {
            let Some(section) = hit.source.section else { continue };
            let id = hit.source.document_id.to_string();
            let shown = show(&env, &[&id, "--section", &section]);
            assert!(shown.chunk_ids.contains(&hit.chunk_id), "{section}");
            let heading = section.rsplit(" > ").next().unwrap();
            assert!(shown.text.lines().next().unwrap().contains(heading), "{section}");
        }
    }
    let cut = show(&env, &["4", "--section", "winter", "--max-lines", "2"]);
    assert_eq!((cut.text.as_str(), cut.truncated), ("## Winter\n\n", true));
    let human = env.ok(&["show", "4", "--section", "winter", "--max-lines", "2"]).stdout;
    assert_eq!(human, "## Winter\n\n... (3 more lines)\n");
}

#[test]
fn a_symbol_a_page_and_a_chunk_with_its_neighbours_are_shown() {
    let env = TestEnv::with_corpus();
    let method = show(&env, &["6", "--symbol", "fit"]);
    assert_eq!(method.symbol.as_deref(), Some("HarmonicModel.fit"));
    assert!(method.text.starts_with("    def fit(self, readings):"), "{}", method.text);
    let class = show(&env, &["6", "--symbol", "harmonicmodel"]);
    assert!(class.text.contains("class HarmonicModel") && class.text.contains("def fit("));
    assert!(!class.text.contains("__main__"));
    let page = show(&env, &["5", "--page", "4"]);
    assert_eq!((page.page, page.last_page), (Some(4), Some(4)));
    assert!(page.text.contains("| Amber |") && !page.text.contains("3.2 Constituents"));
    let answer: Search = read(&env.ok(&["search", "brine", "--fts-only", "--top=1"]));
    let id = answer.results[0].chunk_id.to_string();
    let chunk = show(&env, &["--chunk", &id]);
    assert_eq!(chunk.text, answer.results[0].text);
    let around = show(&env, &["4", "--chunk", &id, "--around", "1"]);
    assert_eq!(around.chunk_ids.len(), 3);
    assert!(around.text.contains(&chunk.text) && around.text.contains("### Radar gauge"));
    let all = show(&env, &["4"]);
    assert!(all.text.starts_with("# Tide station handbook") && all.text.contains("bronze bolt"));
}

#[test]
fn headings_of_a_pdf_are_marked_and_source_is_fenced_in_markdown() {
    let env = TestEnv::with_corpus();
    let shown = show(&env, &["5"]).text;
    let printed = env.ok(&["show", "5"]).stdout;
    assert_eq!(printed.trim_end(), shown.trim_end());
    assert_eq!(printed, env.ok(&["show", "5", "--format=md"]).stdout);
    let station = format!("{CORPUS}/tide-station.pdf");
    let converted = env.ok(&["convert", &station]).stdout;
    let marked = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with('#')).map(str::to_owned).collect()
    };
    let (printed, converted) = (marked(&printed), marked(&converted));
    assert_eq!(printed, converted);
    assert!(printed.contains(&"### 2.1 Float gauge".to_owned()), "{printed:?}");
    // An older kb did not list them: those at the beginning of a chunk are found.
    let without = "UPDATE documents SET metadata = json_remove(metadata, '$.headings')";
    rusqlite::Connection::open(env.database()).unwrap().execute(without, []).unwrap();
    let old = marked(&env.ok(&["show", "5"]).stdout);
    assert!(old.iter().all(|heading| converted.contains(heading)), "{old:?}");
    assert!(old.contains(&"### 2.2 Pressure sensor".to_owned()), "{old:?}");
    let source = env.ok(&["show", "gauge.go", "--format=md"]).stdout;
    assert!(source.starts_with("```go\n") && source.ends_with("\n```\n"), "{source}");
    let cut = env.ok(&["show", "5", "--format=md", "--max-lines=3"]).stdout;
    assert!(cut.ends_with(" more lines)\n"), "{cut}");
}

#[test]
fn a_document_is_found_by_id_path_title_or_part_of_them() {
    let env = TestEnv::with_corpus();
    for typed in ["4", "Tide station handbook", "STATION HANDBOOK", "station-handbook.md", "handb"]
    {
        assert_eq!(outline(&env, typed).document_id, 4, "{typed}");
    }
    assert_eq!(outline(&env, &format!("{CORPUS}/../corpus/gauge.go")).document_id, 2);
    let many = env.kb(&["outline", "tide"]).expect(1);
    assert!(many.stderr.starts_with("error: `tide` matches 3 documents\n"), "{}", many.stderr);
    assert!(many.stderr.contains("4 (Tide station handbook)"), "{}", many.stderr);
    let error = env.kb(&["outline", "tide", "--format=json"]).expect(1).json_error();
    assert_eq!(error["code"], "ambiguous_document");
    for typed in ["99", "nothing like it", "", "-3"] {
        let error = env.kb(&["outline", "--format=json", "--", typed]).expect(1).json_error();
        assert_eq!(error["code"], "unknown_document", "{typed}");
    }
    assert_eq!(env.ok(&["info", "handb"]).stdout, env.ok(&["info", "4"]).stdout);
}

#[test]
fn missing_parts_are_reported_with_similar_ones() {
    let env = TestEnv::with_corpus();
    let error = |args: &[&str]| {
        let error = env.kb(&[&["show", "--format=json"], args].concat()).expect(1).json_error();
        (error["code"].as_str().unwrap().to_owned(), error["fix"].as_str().unwrap().to_owned())
    };
    let (code, fix) = error(&["4", "--section", "gauge"]);
    assert_eq!(code, "unknown_part");
    assert!(fix.contains("Instruments > Float gauge"), "{fix}");
    assert!(error(&["6", "--symbol", "harmonic"]).1.contains("HarmonicModel"));
    assert_eq!(error(&["5", "--page", "9"]).1, "`kb outline 5` lists all parts");
    assert_eq!(error(&["4", "--chunk", "9999"]).0, "unknown_part");
    assert_eq!(error(&["--chunk", "9999"]).0, "unknown_chunk");
    for args in [
        &["show"] as &[&str],
        &["show", "4", "--page", "1", "--symbol", "x"],
        &["show", "4", "--around", "1"],
        &["open", "4", "--lines", "9:3"],
        &["open", "4", "--lines", "0:3"],
        &["open", "4", "--lines", "999:"],
    ] {
        assert!(env.kb(args).expect(1).stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn the_file_is_read_and_changes_are_reported() {
    let env = TestEnv::new();
    let path = env.write("docs/a.md", "# A\n\none\n\ntwo\n");
    env.ok(&["add", "docs"]);
    let opened = open(&env, &["1"]);
    assert_eq!((opened.origin.as_str(), opened.changed), ("file", Some(false)));
    assert_eq!((opened.text.as_str(), opened.total_lines), ("# A\n\none\n\ntwo\n", 5));
    let lines = open(&env, &["1", "--lines", "3:4"]);
    assert_eq!((lines.text.as_str(), lines.start_line, lines.end_line), ("one\n\n", 3, 4));
    let lines = open(&env, &["1", "--lines", "2:", "--max-lines", "2"]);
    assert_eq!((lines.text.as_str(), lines.end_line, lines.truncated), ("\none\n", 3, true));

    fs::write(&path, "# A\n\nchanged\n").unwrap();
    let changed = env.ok(&["open", "1", "--format=json"]);
    assert_eq!(read::<Opened>(&changed).changed, Some(true));
    assert_eq!(changed.stderr, "warning: the file has changed since it was added\n");
    assert!(show(&env, &["1"]).text.contains("one"));

    fs::remove_file(&path).unwrap();
    let gone = open(&env, &["1"]);
    assert_eq!((gone.origin.as_str(), gone.changed), ("database", None));
    assert_eq!(gone.text, "# A\n\none\n\ntwo");
    assert_eq!(outline(&env, "1").parts.len(), 1);
}

#[test]
fn files_that_are_not_text_are_opened_from_the_database() {
    let env = TestEnv::with_corpus();
    let pdf = open(&env, &["5"]);
    assert_eq!((pdf.origin.as_str(), pdf.changed), ("database", Some(false)));
    assert!(pdf.text.contains("Three gauges watch the same water"));
    let note = env.ok(&["open", "Charger", "--format=json"]);
    let opened: Opened = read(&note);
    assert_eq!((opened.text.as_str(), opened.changed, note.stderr.as_str()), (NOTE, None, ""));
}

#[test]
fn reading_on_needs_no_model_and_creates_no_database() {
    let env = TestEnv::without_model();
    assert_eq!(env.kb(&["outline", "1"]).expect(1).stdout, "");
    assert!(!env.database().exists());
    env.install_sample();
    assert!(!outline(&env, "4").parts.is_empty());
    assert!(!show(&env, &["4", "--section", "winter"]).text.is_empty());
    assert!(!open(&env, &["4"]).text.is_empty());
}
