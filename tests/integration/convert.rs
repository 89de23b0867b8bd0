//! `kb convert`: every format as Markdown and JSON, names of results, files that cannot be converted.

use std::fs;
use std::io::Write;
use std::process::Stdio;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::contract::{Conversion, Converted, read};
use crate::documents::book;
use crate::env::{CORPUS, Output, TestEnv, with_stdin};
use crate::word_model::word_env;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

fn fixture(name: &str) -> String {
    format!("{FIXTURES}/{name}")
}

/// Converts standard input.
fn convert_stdin(env: &TestEnv, bytes: &[u8], args: &[&str]) -> Output {
    let mut command = env.command(&[&["convert", "-"], args].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    env.output(output.stdout, output.stderr, output.status)
}

#[test]
fn every_format_becomes_markdown_without_a_database_or_a_model() {
    let env = TestEnv::without_model();
    env.write("book/year.epub", book("notes.txt", b"None."));
    env.write(
        "book/tides.ipynb",
        r##"{"cells": [{"cell_type": "markdown", "source": "# Tides"}, {"cell_type": "code", "source": "height = 3"}],
            "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}"##,
    );
    let output = env.ok(&["convert", CORPUS, &fixture("documents"), "book", "--output=out"]);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.contains("Converted 13 documents. 0 failed."), "{}", output.stderr);
    let markdown = |name: &str| fs::read_to_string(env.path(format!("out/{name}.md"))).unwrap();
    for (name, part) in [
        ("tide-station.pdf", "\n### 2.1 Float gauge\n\n"),
        ("station-handbook.md", "\n### Float gauge\n"),
        ("spare-keys.txt", "key"),
        ("gauge.go", "```go\n"),
        ("tide_table.py", "```python\n"),
        ("backup_log.sh", "```bash\n#!/"),
        ("ferry.docx", "| --- |"),
        ("harbour.html", "# "),
        ("year.epub", "# Winter\n\nIce forms"),
        ("tides.ipynb", "# Tides\n\n```python\nheight = 3\n```\n"),
        ("enclosure.pdf", "one enclosure"),
        ("scan.png", ""),
        ("scan.tiff", ""),
    ] {
        let text = markdown(name);
        assert!(text.contains(part), "{name}: {text}");
        assert!(text.is_empty() || (text.ends_with('\n') && !text.ends_with("\n\n")), "{name}");
    }
    assert!(output.stderr.contains("scan.png: no text found on 1 of 1 pages"), "{}", output.stderr);
    // Neither settings nor a database were made, and Markdown is what it was.
    assert!(!env.path(".kb").exists() && !env.asked_python());
    let handbook = fs::read_to_string(format!("{CORPUS}/station-handbook.md")).unwrap();
    assert_eq!(markdown("station-handbook.md"), handbook);
    let scripts = ["gauge.go", "tide_table.py", "backup_log.sh"];
    for name in scripts {
        let source = fs::read_to_string(format!("{CORPUS}/{name}")).unwrap();
        assert!(markdown(name).contains(source.trim_end()), "{name}");
    }
}

#[test]
fn one_document_is_printed_and_its_pages_can_be_chosen_and_marked() {
    let env = TestEnv::without_model();
    let station = format!("{CORPUS}/tide-station.pdf");
    let whole = env.ok(&["convert", &station]).stdout;
    assert!(!whole.contains("<!--"));
    let marked = env.ok(&["convert", &station, "--page-marks"]).stdout;
    assert!(marked.starts_with("<!-- page 1 -->\n\n"), "{marked}");
    assert_eq!(marked.matches("<!-- page ").count(), marked.matches(" -->").count());
    let second = env.ok(&["convert", &station, "--page-marks", "--pages=2:2"]).stdout;
    assert!(second.starts_with("<!-- page 2 -->\n\n") && !second.contains("page 1 -->"));
    assert!(marked.contains(second.trim_end()) && second.len() < whole.len());
    let rest = env.ok(&["convert", &station, "--pages=2:"]).stdout;
    assert!(whole.ends_with(&rest) && rest.len() >= second.len() - "<!-- page 2 -->\n\n".len());
}

#[test]
fn pages_that_do_not_exist_are_errors() {
    let env = TestEnv::without_model();
    let station = format!("{CORPUS}/tide-station.pdf");
    let error = env.kb(&["convert", &station, "--pages=9:12"]).expect(1);
    assert_eq!(error.stdout, "");
    let converted: Converted = read(&env.ok(&["convert", &station, "--format=json"]));
    let pages = converted.page_count.unwrap();
    let expected =
        format!("it has {pages} pages, so there is no page 9\nhint: `--pages 1:{pages}`");
    assert!(error.stderr.contains(&expected), "{}", error.stderr);
    let error = env.kb(&["convert", &format!("{CORPUS}/gauge.go"), "--pages=1:2"]).expect(1);
    assert!(error.stderr.contains("gauge.go: it has no pages"), "{}", error.stderr);
    for pages in ["0:1", "3:2", "x", "1:2:3", ""] {
        let error = env.kb(&["convert", &station, "--pages", pages]).expect(1);
        assert!(error.stderr.contains("--pages"), "{}", error.stderr);
    }
}

#[test]
fn json_has_blocks_with_kind_headings_page_and_cells() {
    let env = TestEnv::without_model();
    let handbook = format!("{CORPUS}/station-handbook.md");
    let converted: Converted = read(&env.ok(&["convert", &handbook, "--format=json"]));
    assert_eq!(converted.title.as_deref(), Some("Tide station handbook"));
    assert_eq!((&*converted.r#type, &*converted.format), ("markdown", "markdown"));
    assert_eq!(converted.path.as_deref(), Some(&*handbook));
    assert_eq!(converted.author.as_deref(), Some("The harbour office"));
    assert_eq!(converted.tags, ["station", "handbook"]);
    let gauge = converted.blocks.iter().find(|block| block.text == "Float gauge").unwrap();
    assert_eq!((&*gauge.kind, gauge.level), ("heading", Some(3)));
    assert_eq!(gauge.headings, ["Instruments", "Float gauge"]);
    let table = converted.blocks.iter().find(|block| block.kind == "table").unwrap();
    assert_eq!(table.headings, ["Daily round"]);
    let cells = table.cells.as_ref().unwrap();
    assert_eq!(
        cells[..2],
        [["Check", "Morning", "Evening"], ["Staff against recorder", "yes", "yes"]]
    );
    assert_eq!(cells.len(), 4);
    assert!(converted.blocks.iter().all(|block| block.page.is_none()));

    let station = format!("{CORPUS}/tide-station.pdf");
    let pages: Converted = read(&env.ok(&["convert", &station, "--format=json", "--pages=2:2"]));
    assert!(!pages.blocks.is_empty());
    assert!(pages.blocks.iter().all(|block| block.page == Some(2)));

    let source: Converted =
        read(&env.ok(&["convert", &format!("{CORPUS}/gauge.go"), "--format=json"]));
    let method = source.blocks.iter().find(|block| block.symbol.is_some()).unwrap();
    assert_eq!((&*method.kind, method.language.as_deref()), ("code", Some("go")));
}

#[test]
fn a_document_from_standard_input_is_converted() {
    let env = TestEnv::without_model();
    assert_eq!(convert_stdin(&env, b"# A\n\nwords\n", &[]).expect(0).stdout, "# A\n\nwords\n");
    let pdf = fs::read(format!("{CORPUS}/tide-station.pdf")).unwrap();
    let printed = convert_stdin(&env, &pdf, &[]).expect(0).stdout;
    assert_eq!(printed, env.ok(&["convert", &format!("{CORPUS}/tide-station.pdf")]).stdout);
    let source = convert_stdin(&env, b"let a = 1;\n", &["--language=rust"]).expect(0).stdout;
    assert_eq!(source, "```rust\nlet a = 1;\n```\n");
    let html = fs::read(fixture("documents/harbour.html")).unwrap();
    let typed: Converted =
        read(&convert_stdin(&env, &html, &["--type=note", "--format=json"]).expect(0));
    assert_eq!((&*typed.r#type, typed.path), ("note", None));
    convert_stdin(&env, b"words", &["--output=out"]).expect(0);
    assert_eq!(fs::read_to_string(env.path("out/stdin.md")).unwrap(), "words\n");
    let error = convert_stdin(&env, b"", &[]).expect(1);
    assert!(error.stderr.contains("standard input is empty"), "{}", error.stderr);
    let error = convert_stdin(&env, b"PK\x03\x04 cut off", &["--format=json"]).expect(1);
    assert_eq!(error.stdout, "");
    assert!(error.json_error()["fix"].is_string() || error.json_error()["fix"].is_null());
}

#[test]
fn equal_names_get_a_number_and_are_reported() {
    let env = TestEnv::without_model();
    for (folder, words) in [("a", "first"), ("b", "second"), ("c", "third")] {
        env.write(&format!("{folder}/README.md"), words);
    }
    env.write("d/readme.md", "fourth");
    env.write("d/README.md~2", "never read");
    let output = env.ok(&["convert", "a", "b", "c", "d", "--output=out", "--format=json"]);
    let report: Conversion = read(&output);
    assert_eq!((report.converted, report.ignored, report.failed), (4, 1, 0));
    let names: Vec<(&str, bool)> = report
        .documents
        .iter()
        .map(|document| (document.output.rsplit('/').next().unwrap(), document.renamed))
        .collect();
    assert_eq!(
        names,
        [
            ("README.md.json", false),
            ("README.md~2.json", true),
            ("README.md~3.json", true),
            // Many disks do not distinguish it from the first.
            ("readme.md~4.json", true),
        ]
    );
    let second: serde_json::Value =
        serde_json::from_slice(&fs::read(env.path("out/README.md~2.json")).unwrap()).unwrap();
    assert_eq!(second["blocks"][0]["text"], "second");
    let output = env.ok(&["convert", "a/README.md", "b/README.md", "--output=out"]);
    let note = "b/README.md: the result was written to out/README.md~2.md, because an earlier file has the same name";
    assert!(output.stderr.contains(note), "{}", output.stderr);
    // The same file named twice is one document.
    let report: Conversion =
        read(&env.ok(&["convert", "a", "a/README.md", "--output=o", "--format=json"]));
    assert_eq!(report.converted, 1);
}

#[test]
fn a_bad_file_is_reported_and_does_not_stop_the_others() {
    let env = TestEnv::without_model();
    fs::create_dir(env.path("docs")).unwrap();
    for name in ["truncated.pdf", "html.pdf", "password.pdf"] {
        fs::copy(fixture(&format!("broken/{name}")), env.path("docs").join(name)).unwrap();
    }
    env.write("docs/good.md", "words");
    env.write("docs/data.xyz", "not read");
    env.write("docs/nothing.md", "");
    let output = env.ok(&["convert", "docs", "missing.md", "--output=out"]);
    assert!(
        output.stderr.contains("Converted 1 document. 4 failed. 2 ignored."),
        "{}",
        output.stderr
    );
    let failed = |name: &str| format!("failed: {}/{name}: ", env.path("docs").display());
    for name in ["truncated.pdf", "html.pdf", "password.pdf"] {
        assert!(output.stderr.contains(&failed(name)), "{}", output.stderr);
    }
    assert!(output.stderr.contains("failed: no such file or directory: "), "{}", output.stderr);
    let names: Vec<_> =
        fs::read_dir(env.path("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["good.md.md"]);

    let report: Conversion = read(&env.ok(&["convert", "docs", "--output=out", "--format=json"]));
    let codes: Vec<&str> = report.errors.iter().map(|error| &*error.code).collect();
    assert_eq!(codes, ["wrong_format", "password_needed", "damaged"]);
    // None converted: the status of a failure.
    env.kb(&[
        "convert",
        &fixture("broken/html.pdf"),
        &fixture("broken/truncated.pdf"),
        "--output=out",
    ])
    .expect(1);
    for args in [&["--output=out"][..], &[]] {
        let file = fixture("broken/html.pdf");
        let error = env.kb(&[&["convert", &*file], args].concat()).expect(1);
        let expected = format!("error: cannot read {file}: ");
        assert!(error.stderr.starts_with(&expected), "{}", error.stderr);
        assert_eq!(error.stderr.matches("html.pdf").count(), 1, "{}", error.stderr);
    }
    let error = env.kb(&["convert", "missing.md"]).expect(1);
    assert!(error.stderr.contains("missing.md"), "{}", error.stderr);
    env.write("empty/.hidden.md", "words");
    let error = env.kb(&["convert", "empty", "--output=out"]).expect(1);
    assert!(error.stderr.contains("there are no files in empty"), "{}", error.stderr);
}

#[test]
fn several_documents_need_a_folder() {
    let env = TestEnv::without_model();
    env.write("a.md", "a");
    env.write("b.md", "b");
    for (args, what) in [
        (&["convert", "a.md", "b.md"][..], "2 paths are given"),
        (&["convert", "."], ". is a folder"),
    ] {
        let error = env.kb(args).expect(1);
        assert!(error.stderr.contains(what) && error.stdout.is_empty(), "{}", error.stderr);
        assert!(error.stderr.contains("hint: name a folder for the results: `--output DIR`"));
    }
    // `-` is standard input only alone.
    let error = env.kb(&["convert", "-", "a.md"]).expect(1);
    assert!(error.stderr.contains("2 paths"), "{}", error.stderr);
}

#[test]
fn a_folder_that_cannot_be_written_to_is_one_error() {
    let env = TestEnv::without_model();
    env.write("a.md", "a");
    env.write("b.md", "b");
    env.write("taken", "a file");
    let no_folders: &[&str] = if cfg!(unix) { &["/proc/nowhere"] } else { &[] };
    for folder in ["taken", "taken/below"].iter().chain(no_folders) {
        let error = env.kb(&["convert", "a.md", "b.md", "--output", folder]).expect(1);
        assert!(error.stderr.starts_with("error: cannot access "), "{}", error.stderr);
        assert_eq!(error.stderr.matches("error:").count(), 1, "{}", error.stderr);
    }
    assert_eq!(fs::read_to_string(env.path("taken")).unwrap(), "a file");
    // A name that is taken by a folder concerns one file.
    fs::create_dir_all(env.path("out/a.md.md")).unwrap();
    let report: Conversion = read(&env.ok(&["convert", "b.md", "--output=out", "--format=json"]));
    assert_eq!(report.converted, 1);
    let output = env.ok(&["convert", "a.md", "b.md", "--output=out"]);
    assert!(output.stderr.contains("Converted 1 document. 1 failed."), "{}", output.stderr);
}

#[test]
fn a_file_of_the_user_is_replaced_only_with_force_and_a_file_of_the_run_never() {
    let env = TestEnv::without_model();
    env.write("docs/a.md", "new");
    env.write("docs/a.md.md", "mine");
    env.write("out/a.md.md", "old");
    let args = ["convert", "docs/a.md", "--output=out"];
    let refused = env.kb(&args).expect(1).stderr;
    assert!(refused.contains("out/a.md.md exists with other content"), "{refused}");
    assert!(refused.contains("hint: `--force` replaces it"), "{refused}");
    assert_eq!(fs::read_to_string(env.path("out/a.md.md")).unwrap(), "old");
    env.ok(&[&args[..], &["--force"]].concat());
    assert_eq!(fs::read_to_string(env.path("out/a.md.md")).unwrap(), "new\n");
    // The result of an earlier run is the same.
    env.ok(&args);
    // The other files of a run are converted.
    env.write("out/a.md.md", "a longer text of the user");
    let output = env.ok(&["convert", "docs", "--output=out"]).stderr;
    assert!(output.contains("a.md.md exists with other content"), "{output}");
    assert!(output.contains("Converted 1 document. 1 failed."), "{output}");
    let output = env.ok(&["convert", "docs", "--output=docs", "--force"]);
    assert!(
        output
            .stderr
            .contains("a.md: its result would replace docs/a.md.md, which is also an input"),
        "{}",
        output.stderr
    );
    assert_eq!(fs::read_to_string(env.path("docs/a.md.md")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(env.path("docs/a.md.md.md")).unwrap(), "mine\n");
    // The same applies to a document from a stream.
    env.write("out/stdin.md", "mine");
    let refused = convert_stdin(&env, b"words", &["--output=out"]).expect(1).stderr;
    assert!(refused.contains("stdin.md exists with other content"), "{refused}");
    assert_eq!(fs::read_to_string(env.path("out/stdin.md")).unwrap(), "mine");
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let env = TestEnv::without_model();
    let args = ["convert", CORPUS, &fixture("documents"), "--output=out", "--format=json"];
    let (first, second) = (env.json(&args), env.json(&args));
    assert_eq!(first, second);
    assert_eq!(first["converted"], json!(11));
}

#[cfg(unix)]
#[test]
fn a_link_in_the_folder_of_results_is_not_followed() {
    let env = TestEnv::without_model();
    env.write("a.md", "new");
    let other = env.write("other.txt", "mine");
    fs::create_dir(env.path("out")).unwrap();
    std::os::unix::fs::symlink(&other, env.path("out/a.md.md")).unwrap();
    env.kb(&["convert", "a.md", "--output=out"]).expect(1);
    assert!(env.path("out/a.md.md").is_symlink());
    env.ok(&["convert", "a.md", "--output=out", "--force"]);
    assert_eq!(fs::read_to_string(other).unwrap(), "mine");
    assert_eq!(fs::read_to_string(env.path("out/a.md.md")).unwrap(), "new\n");
    assert!(!env.path("out/a.md.md").is_symlink());
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_complete_results() {
    let env = TestEnv::without_model();
    fs::create_dir(env.path("docs")).unwrap();
    for number in 0..300 {
        fs::copy(format!("{CORPUS}/tide-station.pdf"), env.path(format!("docs/{number}.pdf")))
            .unwrap();
    }
    let mut run = env.command(&["convert", "docs", "--output=out"]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let results = || -> Vec<_> {
        let entries = fs::read_dir(env.path("out")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    while results().is_empty() {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&run), Signal::INT).unwrap();
    let output = run.wait_with_output().unwrap();
    let output = env.output(output.stdout, output.stderr, output.status);
    assert_eq!(output.status, 130, "{}", output.text());
    assert!(output.stderr.contains("Files not converted: "), "{}", output.stderr);
    let results = results();
    assert!((1..300).contains(&results.len()), "{}", results.len());
    let text = env.ok(&["convert", &format!("{CORPUS}/tide-station.pdf")]).stdout;
    for result in results {
        assert_eq!(fs::read_to_string(&result).unwrap(), text, "{}", result.display());
    }
}

/// Returns the documents of lines as values, without what depends on the run: ids and times.
fn documents(lines: &str) -> Vec<Value> {
    let mut documents: Vec<Value> =
        lines.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    for document in &mut documents {
        for key in ["id", "created_at", "updated_at"] {
            assert!(document.as_object_mut().unwrap().remove(key).is_some(), "{key}");
        }
        for chunk in document["chunks"].as_array_mut().unwrap() {
            assert!(chunk.as_object_mut().unwrap().remove("chunk_id").is_some());
        }
    }
    documents
}

/// Writes documents of several formats, and returns their names.
fn sources(env: &TestEnv) -> Vec<String> {
    env.write(
        "in/tides.md",
        "---\ntags: [sea, harbour]\n---\n# Tides\n\ngauge salt\n\n## Storm\n\nanchor\n",
    );
    env.write(
        "in/gauge.py",
        "def read(gauge):\n    \"\"\"Reads the gauge.\"\"\"\n    return gauge\n",
    );
    env.write("in/plain.txt", "the keeper winds the lamp\n");
    vec![format!("{CORPUS}/tide-station.pdf"), fixture("documents/harbour.html"), "in".into()]
}

#[test]
fn chunks_and_vectors_are_those_of_an_export() {
    let mut env = word_env();
    env.set("KB_EMBEDDING_MODEL_DIR", "tiny");
    let sources = sources(&env);
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    let convert = ["convert", "--format=jsonl", "--chunks", "--vectors"];
    let lines = env.ok(&[&convert[..], &sources].concat());
    assert!(lines.stderr.contains("Converted 5 documents. 0 failed."), "{}", lines.stderr);
    let head: Value = serde_json::from_str(lines.stdout.lines().next().unwrap()).unwrap();
    let fresh = ["--data-dir=fresh"];
    env.ok(&[&fresh[..], &["add"], &sources].concat());
    let exported = env.ok(&[&fresh[..], &["export", "--vectors"]].concat()).stdout;
    let exported_head: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(head["binding"], exported_head["binding"]);
    assert_eq!(documents(&lines.stdout), documents(&exported));
    // Without vectors only they are missing.
    let plain = env.ok(&[&convert[..3], &sources].concat()).stdout;
    let without = |mut documents: Vec<Value>| {
        for document in &mut documents {
            for chunk in document["chunks"].as_array_mut().unwrap() {
                chunk.as_object_mut().unwrap().remove("vector");
            }
        }
        documents
    };
    assert_eq!(documents(&plain), without(documents(&exported)));

    // Another base imports the lines and finds the same. The codes of tokens are not in them.
    env.set("KB_EMBEDDING_TOKEN_VECTORS", "false");
    env.write("lines.jsonl", &lines.stdout);
    let question = ["search", "gauge in a storm", "--format=json"];
    let hits = |output: Output| -> Vec<Value> {
        let key = |hit: &Value| json!([hit["source"]["title"], hit["text"]]);
        output.json()["results"].as_array().unwrap().iter().map(key).collect()
    };
    let other = ["--data-dir=other"];
    env.ok(&[&other[..], &["import", "lines.jsonl", "--trust-paths"]].concat());
    for leg in ["--vec-only", "--fts-only"] {
        let ask = |base: &[&str]| hits(env.ok(&[base, &question, &[leg]].concat()));
        let found = ask(&other);
        assert!(found.len() > 3 && found == ask(&fresh), "{leg}: {found:?}");
    }
}

#[test]
fn lines_need_no_data_directory_and_the_same_files_give_the_same_chunks() {
    let mut env = word_env();
    env.set("KB_EMBEDDING_MODEL_DIR", "tiny");
    sources(&env);
    env.ok(&["--data-dir=unused", "convert", "in", "--format=jsonl", "--chunks"]);
    assert!(!env.path("unused").exists());
    for idx in 0..300 {
        env.write(&format!("many/{idx:03}.md"), format!("# Note {idx}\n\ngauge {idx}\n"));
    }
    let convert = ["convert", "many", "--format=jsonl", "--chunks", "--vectors"];
    let lines = env.ok(&convert).stdout;
    let found = documents(&lines);
    assert_eq!(found, documents(&env.ok(&convert).stdout));
    let titles: Vec<&str> = found.iter().map(|found| found["title"].as_str().unwrap()).collect();
    let expected: Vec<String> = (0..300).map(|idx| format!("Note {idx}")).collect();
    assert_eq!(titles, expected);
    let ids = lines.lines().skip(1).map(|line| -> Value { serde_json::from_str(line).unwrap() });
    assert!((1..).zip(ids).all(|(id, document)| document["id"] == id));
}

#[test]
fn a_bad_file_has_a_line_and_does_not_stop_the_others() {
    let mut env = word_env();
    env.set("KB_EMBEDDING_MODEL_DIR", "tiny");
    env.write("good.md", "# Good\n\nanchor\n");
    env.write("bad.pdf", "not a pdf");
    env.write("list.txt", "bad.pdf\n\ngood.md\nmissing.md\n");
    for more in [&[][..], &["--chunks"], &["--chunks", "--vectors"]] {
        let list = ["convert", "--format=jsonl", "--files-from=list.txt"];
        let output = env.ok(&[&list[..], more].concat());
        assert!(output.stderr.contains("Converted 1 document. 2 failed."), "{}", output.stderr);
        let lines: Vec<Value> =
            output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let lines = &lines[usize::from(!more.is_empty())..];
        let codes: Vec<&str> = lines.iter().filter_map(|line| line["code"].as_str()).collect();
        assert_eq!(codes, ["wrong_format", "path_not_found"]);
        assert_eq!(lines[1]["title"], "Good");
        let name = lines[0]["path"].as_str().unwrap();
        assert!(name.ends_with("/bad.pdf"), "{name}");
        if !more.is_empty() {
            env.write("lines.jsonl", &output.stdout);
            let data_dir = format!("--data-dir=base-{}", more.len());
            let imported = env.ok(&[data_dir.as_str(), "import", "lines.jsonl"]);
            let reason =
                format!("line 2: this is not a document of an export: {name} was not converted");
            assert!(imported.stderr.contains(&reason), "{}", imported.stderr);
            assert!(imported.stdout.contains("1 document"), "{}", imported.stdout);
        }
    }
    let output = env.kb(&["convert", "bad.pdf", "--format=jsonl", "--chunks"]).expect(1);
    assert_eq!(output.stdout.lines().count(), 2);
}

#[test]
fn lists_and_documents_come_from_standard_input() {
    let env = word_env();
    sources(&env);
    let lines = ["convert", "--format=jsonl", "--chunks"];
    let listed = with_stdin(&env, &[&lines[..], &["--files-from=-"]].concat(), "in/plain.txt\n");
    assert_eq!(documents(&listed.expect(0).stdout)[0]["title"], "plain");
    let typed = with_stdin(&env, &[&lines[..], &["-"]].concat(), "# Typed\n\nsalt\n").expect(0);
    let typed = documents(&typed.stdout);
    assert_eq!((&typed[0]["title"], &typed[0]["path"]), (&json!("Typed"), &Value::Null));
    assert_eq!(typed[0]["paths"], json!([]));
    // The other formats also accept a list.
    let to_folder = ["convert", "--files-from=-", "--output=out"];
    with_stdin(&env, &to_folder, "in/plain.txt\nin/gauge.py\n").expect(0);
    assert!(env.path("out/plain.txt.md").exists() && env.path("out/gauge.py.md").exists());
}

#[test]
fn options_of_lines_that_do_not_go_together_are_refused() {
    let env = word_env();
    sources(&env);
    env.write("empty.txt", "\n");
    for (args, expected) in [
        (&["in", "--format=jsonl", "--output=out"][..], "cannot be used with `--format jsonl`"),
        (&["in", "--chunks"], "`--chunks` needs `--format jsonl`"),
        (&["in", "--format=jsonl", "--vectors"], "--chunks"),
        (&["in", "--format=jsonl", "--chunks", "--pages=1:2"], "--pages"),
        (&["--format=jsonl", "--files-from=empty.txt"], "the list of files is empty"),
        (&["--format=jsonl", "--files-from=gone.txt"], "gone.txt"),
        (&["--format=jsonl"], "PATH"),
        (&["in", "--format=jsonl", "--chunks", "--model=no-such"], "no-such"),
    ] {
        let error = env.kb(&[&["convert"], args].concat()).expect(1);
        let text = format!("{}{}", error.stderr, error.stdout);
        assert!(text.contains(expected), "{args:?}: {text}");
    }
    let bare = TestEnv::without_model();
    bare.write("a.md", "words\n");
    let error = bare.kb(&["convert", "a.md", "--format=jsonl", "--chunks"]).expect(1);
    assert_eq!(error.json_error()["code"], "not_installed");
    assert!(!bare.asked_python());
}
