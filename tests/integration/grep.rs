//! Tests `kb grep`: every matching line of every format, with its place.

use std::fs;

use crate::contract::{Grep, GrepLine, read};
use crate::env::{CORPUS, NOTE, TestEnv};

fn grep(env: &TestEnv, args: &[&str]) -> Grep {
    read(&env.ok(&[&["grep", "--format=json"], args].concat()))
}

/// Returns path or title, place and text of each line.
fn lines(answer: &Grep) -> Vec<(String, u32, String)> {
    let mut lines = Vec::new();
    for document in &answer.results {
        let name = document.path.clone().unwrap_or_else(|| document.title.clone());
        let name = name.rsplit('/').next().unwrap().to_owned();
        for line in document.lines.as_ref().unwrap() {
            let place = line.start_line.or(line.page).unwrap_or(0);
            lines.push((name.clone(), place, line.text.clone()));
        }
    }
    lines
}

/// Returns the lines of a file with a text, as `kb grep -F` should.
fn expected(name: &str, text: &str, wanted: &str) -> Vec<(String, u32, String)> {
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| line.contains(wanted));
    lines.map(|(number, line)| (name.to_owned(), number, line.to_owned())).collect()
}

/// Removes the white space around lines of prose: that around a passage is not stored.
fn trimmed(lines: Vec<(String, u32, String)>) -> Vec<(String, u32, String)> {
    let trim = |(name, number, line): (String, u32, String)| (name, number, line.trim().to_owned());
    lines.into_iter().map(trim).collect()
}

#[test]
fn lines_of_text_and_code_are_those_of_the_files() {
    let env = TestEnv::new();
    let long: String = (0..300).map(|number| format!("word{number} ")).collect();
    let prose: String = (0..400)
        .map(|number| match number % 7 {
            0 => "\n".into(),
            1 => format!("  indented\tline {number} about a gauge, and more of it\n"),
            2 => format!("{long}gauge at the end of a long line {number}\n"),
            _ => format!("Line {number} says little. It is about tides and the gauge.\n"),
        })
        .collect();
    let code: String = (0..200)
        .map(|number| {
            format!("def gauge_{number}(self):\n    # {number}\n\n    return \"gauge\"\n\n\n")
        })
        .collect();
    env.write("docs/prose.txt", &prose);
    env.write("docs/windows.txt", "first gauge\r\n\r\nsecond gauge\r\n");
    env.write("docs/code.py", &code);
    env.ok(&["add", "docs"]);
    let found = lines(&grep(&env, &["-F", "gauge"]));
    let of =
        |name: &str| -> Vec<_> { found.iter().filter(|line| line.0 == name).cloned().collect() };
    assert_eq!(of("code.py"), expected("code.py", &code, "gauge"));
    assert_eq!(trimmed(of("prose.txt")), trimmed(expected("prose.txt", &prose, "gauge")));
    assert_eq!(
        of("windows.txt"),
        expected("windows.txt", "first gauge\n\nsecond gauge\n", "gauge")
    );
    let indented = grep(&env, &[r"^    return\b", "--path", "docs/code.py"]);
    assert_eq!(indented.total_matches, Some(200));
    let indented = grep(&env, &["indented\tline [0-9]+ about"]);
    assert_eq!(indented.total_matches, Some(prose.matches("  indented").count()));
}

#[test]
fn every_format_is_searched_and_cited() {
    let env = TestEnv::with_corpus();
    let ferry = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/documents/ferry.docx");
    env.ok(&["add", ferry]);
    let pdf = grep(&env, &["phosphor bronze", "--type", "pdf"]);
    assert_eq!((pdf.searched, pdf.returned, pdf.total_matches), (1, 1, Some(1)));
    let line = &pdf.results[0].lines.as_ref().unwrap()[0];
    assert_eq!((line.page, line.start_line), (Some(2), None));
    let range = &line.ranges[0];
    assert_eq!(&line.text[range.start..range.end], "phosphor bronze");
    let shown = env.ok(&["show", "--chunk", &line.chunk_id.to_string()]).stdout;
    assert!(shown.contains("phosphor bronze"), "{shown}");

    let note = grep(&env, &["-w", "charger", "-i", "--type=note"]);
    assert_eq!(note.results[0].path, None);
    assert_eq!(note.results[0].lines.as_ref().unwrap()[0].text, NOTE);

    let handbook = grep(&env, &["mussels", "--path", CORPUS]);
    let line = &handbook.results[0].lines.as_ref().unwrap()[0];
    assert_eq!(line.section.as_deref(), Some("Instruments > Float gauge"));
    let file = fs::read_to_string(format!("{CORPUS}/station-handbook.md")).unwrap();
    let number = line.start_line.unwrap();
    assert_eq!(file.lines().nth(number as usize - 1), Some(line.text.as_str()));

    let office = grep(&env, &[".", "--path", ferry]);
    assert!(office.total_matches > Some(1));
}

#[test]
fn documents_and_counts_are_printed_without_lines() {
    let env = TestEnv::with_corpus();
    let all = grep(&env, &["-i", "gauge"]);
    let counted = grep(&env, &["-i", "gauge", "-c"]);
    let named = grep(&env, &["-i", "gauge", "-l"]);
    assert!(all.returned > 2 && all.searched == 8);
    assert_eq!((counted.total_matches, counted.returned), (all.total_matches, all.returned));
    assert_eq!((named.total_matches, named.returned), (None, all.returned));
    for ((all, counted), named) in all.results.iter().zip(&counted.results).zip(&named.results) {
        assert_eq!(
            (all.matches, counted.matches, named.matches),
            (counted.matches, all.matches, None)
        );
        assert_eq!(all.document_id, named.document_id);
        assert!(counted.lines.is_none() && named.lines.is_none());
        assert_eq!(all.lines.as_ref().map(Vec::len), all.matches);
    }
    let paths = env.ok(&["grep", "-l", "gullHeight"]).stdout;
    assert_eq!(paths, format!("{CORPUS}/gauge.go\n"));
    let counts = env.ok(&["grep", "-c", "gullHeight"]).stdout;
    assert_eq!(counts, format!("{CORPUS}/gauge.go:{}\n", counted_in("gauge.go", "gullHeight")));
    // Each line of the documents is a line of JSON.
    let lines = env.ok(&["grep", "-i", "gauge", "--format=jsonl"]).stdout;
    let lines: Vec<GrepLine> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Some(lines.len()), all.total_matches);
    let error = env.kb(&["grep", "x", "-c", "--format=jsonl"]).expect(1).json_error();
    assert_eq!(error["code"], "usage");
}

fn counted_in(name: &str, wanted: &str) -> usize {
    let text = fs::read_to_string(format!("{CORPUS}/{name}")).unwrap();
    text.lines().filter(|line| line.contains(wanted)).count()
}

#[test]
fn lines_around_a_match_are_printed_once() {
    let env = TestEnv::new();
    let text: String = (1..=30).map(|number| format!("line {number}\n")).collect();
    env.write(
        "docs/a.txt",
        text.replace("line 5\n", "needle 5\n").replace("line 7\n", "needle 7\n"),
    );
    env.ok(&["add", "docs"]);
    let shown = env.ok(&["grep", "needle|line 20", "-C", "2"]).stdout;
    let path = env.path("docs/a.txt");
    let expected = "\
3- line 3
4- line 4
5: needle 5
6- line 6
7: needle 7
8- line 8
9- line 9
--
18- line 18
19- line 19
20: line 20
21- line 21
22- line 22
";
    let summary = "\n3 lines in 1 of 1 document\n";
    assert_eq!(shown, format!("{}\n{expected}{summary}", path.display()));
    let answer = grep(&env, &["needle", "-C1"]);
    let lines = answer.results[0].lines.as_ref().unwrap();
    let is_match = lines.iter().map(|line| !line.ranges.is_empty());
    assert_eq!(is_match.collect::<Vec<_>>(), [false, true, false, true, false]);
    assert_eq!(answer.total_matches, Some(2));
}

#[test]
fn no_match_is_an_answer_and_a_wrong_pattern_an_error() {
    let env = TestEnv::with_corpus();
    let nothing = env.kb(&["grep", "no such words anywhere"]).expect(0);
    assert_eq!(nothing.stdout, "No line of 8 documents matches.\n");
    for list in ["-c", "-l"] {
        let nothing = env.kb(&["grep", list, "no such words anywhere"]).expect(0);
        assert_eq!(nothing.stdout, "");
        assert_eq!(nothing.stderr, "No line of 8 documents matches.\n");
    }
    assert_eq!(grep(&env, &["no such words anywhere"]).total_matches, Some(0));
    let nowhere = env.kb(&["grep", "gauge", "--tags=unheard"]).expect(0);
    assert!(nowhere.stderr.contains("no document has the tag `unheard`"), "{}", nowhere.stderr);
    for (typed, reason) in [("a(", "unclosed group"), ("", "empty"), (r"a\nb", "not allowed")] {
        let error = env.kb(&["grep", typed, "--format=json"]).expect(1).json_error();
        assert!(error["error"].as_str().unwrap().contains(reason), "{error}");
        assert!(error["fix"].is_string());
    }
    assert_eq!(grep(&env, &["-F", "a("]).total_matches, Some(counted("a(")));
    let empty = TestEnv::without_model().kb(&["grep", "x"]).expect(0);
    assert!(empty.stderr.contains("Nothing has been added yet"), "{}", empty.stderr);
}

/// Counts lines of the sample files with a text.
fn counted(wanted: &str) -> usize {
    let text =
        ["backup_log.sh", "gauge.go", "spare-keys.txt", "station-handbook.md", "tide_table.py"];
    text.iter().map(|name| counted_in(name, wanted)).sum()
}

#[test]
fn documents_whose_files_have_changed_are_marked() {
    let env = TestEnv::new();
    let path = env.write("docs/a.txt", "the old needle\n");
    env.ok(&["add", "docs"]);
    assert_eq!(grep(&env, &["needle"]).results[0].stale, None);
    fs::write(&path, "the new text without it, longer\n").unwrap();
    let answer = grep(&env, &["needle"]);
    assert_eq!(answer.results[0].stale.as_deref(), Some("changed"));
    let human = env.kb(&["grep", "needle"]).expect(0);
    assert!(human.stdout.contains("(changed since it was indexed)"), "{}", human.stdout);
    assert!(human.stderr.contains("kb update"), "{}", human.stderr);
}
