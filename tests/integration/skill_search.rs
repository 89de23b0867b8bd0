//! Tests the search protocol: the index of a skill and its queries.

use std::fs;

use rusqlite::Connection;

use crate::printed_paths::without_links;
use crate::skills::{Skills, texts};

const UNUSABLE: &str =
    "error[E002]: search index unusable; run 'kb skill build tide-guide' to rebuild";

#[test]
fn a_built_skill_is_searched() {
    let skills = Skills::built();
    let answer = skills.json(&["search", "tide-guide", "gauge  day"]);
    assert_eq!(answer["query"], "gauge  day");
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["query", "results"]);
    let first = &answer["results"][0];
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["file", "section", "snippet", "score"]);
    assert_eq!((&first["file"], &first["section"]), (&"SKILL.md".into(), &"Tide Guide".into()));
    let snippet = first["snippet"].as_str().unwrap();
    assert!(snippet.contains("[MATCH]gauge[/MATCH] twice a [MATCH]day[/MATCH]"), "{snippet}");
    assert!(first["score"].as_f64().unwrap() > 0.0);
}

#[test]
fn sections_nest_and_texts_are_complete() {
    let skills = Skills::built();
    let found = |query: &str| {
        let answer = skills.json(&["search", "tide-guide", query]);
        let mut found: Vec<(String, String)> = texts(&answer["results"], "file")
            .into_iter()
            .zip(texts(&answer["results"], "section"))
            .collect();
        found.sort();
        found
    };
    let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(file, section)| ((*file).into(), (*section).into())).collect()
    };
    assert_eq!(
        found("lamp"),
        own(&[("SKILL.md", "At Night"), ("SKILL.md", "Reading"), ("SKILL.md", "Tide Guide")])
    );
    assert_eq!(found("live"), own(&[("SKILL.md", "")]));
    assert_eq!(found("ferry leaves"), own(&[("ferry.txt", "")]));
    assert_eq!(
        found("Three"),
        own(&[("references/parts.md", "Floats"), ("references/parts.md", "Parts")])
    );
    // Front matter is not searched.
    assert_eq!(found("when"), own(&[]));
}

#[test]
fn all_words_are_required_in_any_order_and_stemmed() {
    let skills = Skills::built();
    let count = |query: &str| {
        let answer = skills.json(&["search", "tide-guide", query]);
        answer["results"].as_array().unwrap().len()
    };
    assert!(count("recorder first") > 0);
    assert_eq!(count("recorder first"), count("first recorder"));
    assert_eq!(count("recorder ferry"), 0);
    assert!(count("configuring") > 0);
    for odd in ["\"", "a\"b", "*", "(", "NEAR(", "col:", "C++", "-x OR", "---", "what?", "^a"] {
        let output = skills.run(&["search", "--format", "json", "tide-guide", "--", odd]);
        assert_eq!(output.status, 0, "{odd}: {}", output.text());
    }
    // A blank of another script is part of a word.
    assert_eq!(count("recorder\u{3000}first"), count("\"recorder first\""));
}

#[test]
fn the_query_is_checked_last() {
    let skills = Skills::new();
    let empty = ["search", "tide-guide", " "];
    skills.check_error(&empty, UNUSABLE);
    skills.ok(&["build", "tide-guide"]);
    skills.check_error(&empty, "error[E004]: empty query");
    skills.write("new.md", "# New\n");
    skills.check_error(&empty, UNUSABLE);
}

#[test]
fn other_types_of_files_are_silently_left_out() {
    let skills = Skills::new();
    skills.write("scripts/run.py", "# quokka\n");
    skills.write("assets/logo.bin", [0_u8, 159, 146, 150]);
    skills.write("data.json", "{\"quokka\": 1}");
    assert_eq!(skills.ok(&["build", "tide-guide"]).stderr, "");
    let output = skills.ok(&["search", "tide-guide", "quokka", "--format", "json"]);
    assert_eq!(
        (output.json()["results"].as_array().unwrap().len(), output.stderr.as_str()),
        (0, "")
    );
}

#[test]
fn an_empty_query_is_an_error() {
    let skills = Skills::built();
    for query in ["", " ", "\t\r\n"] {
        skills.check_error(&["search", "tide-guide", query], "error[E004]: empty query");
    }
}

#[test]
fn the_limit_is_ten_by_default() {
    let skills = Skills::new();
    let page: String =
        (0..30).map(|number| format!("## H{number}\n\nthe same words\n\n")).collect();
    skills.write("many.md", page);
    skills.ok(&["build", "tide-guide"]);
    let count = |args: &[&str]| {
        let answer = skills.json(&[&["search", "tide-guide", "same words"], args].concat());
        let scores: Vec<f64> = answer["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["score"].as_f64().unwrap())
            .collect();
        assert!(scores.is_sorted_by(|a, b| a >= b));
        scores.len()
    };
    assert_eq!(count(&[]), 10);
    assert_eq!(count(&["--limit", "3"]), 3);
    assert_eq!(count(&["-l", "100"]), 30);
}

#[test]
fn nothing_found_is_an_empty_answer() {
    let skills = Skills::built();
    let output = skills.ok(&["search", "tide-guide", "zeppelin", "--format", "json"]);
    assert_eq!(output.stdout, "{\n  \"query\": \"zeppelin\",\n  \"results\": []\n}\n");
    let output = skills.ok(&["search", "tide-guide", "zeppelin"]);
    assert_eq!(output.stderr, "");
}

#[test]
fn text_is_for_people() {
    let skills = Skills::built();
    let output = skills.ok(&["search", "tide-guide", "shed"]);
    let mut lines = output.stdout.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("references/parts.md#Parts (score: "), "{first}");
    assert_eq!(lines.next(), Some("  # Parts"));
}

#[test]
fn hits_can_be_opened() {
    let skills = Skills::built();
    for query in ["gauge", "ferry", "floats"] {
        let answer = skills.json(&["search", "tide-guide", query]);
        let files = texts(&answer["results"], "file");
        assert!(!files.is_empty());
        for file in files {
            let opened = skills.ok(&["open", "tide-guide", &file]);
            assert_eq!(opened.stdout, fs::read_to_string(skills.path(&file)).unwrap());
        }
    }
}

#[test]
fn every_parse_failure_is_e100() {
    let skills = Skills::built();
    for args in [
        &["search"][..],
        &["search", "tide-guide"],
        &["search", "tide-guide", "two", "words"],
        &["search", "tide-guide", "x", "--raw"],
        &["search", "tide-guide", "x", "--phrase"],
        &["search", "tide-guide", "x", "--limit", "many"],
        &["search", "tide-guide", "x", "--limit", "-1"],
        &["search", "tide-guide", "x", "--format", "xml"],
        &["show", "tide-guide"],
        &["show", "tide-guide", "--section"],
        &["outline", "tide-guide", "--level", "0"],
        &["outline", "tide-guide", "--level", "7"],
        &["sources", "tide-guide", "--depth", "deep"],
        &["list", "--scope", "galaxy"],
        &["frobnicate"],
        &[],
    ] {
        let output = skills.run(args).expect(1);
        assert_eq!(output.stdout, "", "{args:?}");
        assert!(output.stderr.starts_with("error[E100]: invalid option: '"), "{}", output.stderr);
        assert_eq!(output.stderr.matches("error").count(), 1, "{}", output.stderr);
        let output = skills.skc(args).expect(1);
        assert!(output.stderr.starts_with("error[E100]: invalid option: '"), "{}", output.stderr);
        assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    }
}

#[test]
fn an_index_that_is_missing_damaged_or_stale_is_unusable() {
    let skills = Skills::new();
    let search = ["search", "tide-guide", "gauge"];
    let show = ["show", "tide-guide", "--section", "Reading"];
    let check = || {
        skills.check_error(&search, UNUSABLE);
        skills.check_error(&show, UNUSABLE);
    };
    check();
    skills.ok(&["build", "tide-guide"]);
    skills.ok(&search);
    let intact = fs::read(skills.index()).unwrap();
    for damaged in [b"garbage".repeat(2000), Vec::new(), intact[..5000].to_vec()] {
        fs::write(skills.index(), &damaged).unwrap();
        check();
        assert_eq!(fs::read(skills.index()).unwrap(), damaged, "left in place");
    }
    fs::write(skills.index(), &intact).unwrap();
    skills.ok(&search);
    for edit in [
        "UPDATE index_meta SET value = 'unicode61' WHERE key = 'tokenizer'",
        "UPDATE index_meta SET value = '1' WHERE key = 'schema_version'",
        "UPDATE index_meta SET value = '00' WHERE key = 'source_hash'",
        "DELETE FROM index_meta WHERE key = 'source_hash'",
        "DROP TABLE index_meta",
    ] {
        Connection::open(skills.index()).unwrap().execute_batch(edit).unwrap();
        check();
        skills.ok(&["build", "tide-guide"]);
        skills.ok(&search);
    }
    // A newer schema is still usable.
    let newer = "UPDATE index_meta SET value = '3' WHERE key = 'schema_version'";
    Connection::open(skills.index()).unwrap().execute_batch(newer).unwrap();
    skills.ok(&search);
}

#[test]
fn every_change_of_a_file_is_noticed_until_the_next_build() {
    let skills = Skills::built();
    let search = ["search", "tide-guide", "gauge"];
    skills.write("SKILL.md", GUIDE_EDITED);
    skills.check_error(&search, UNUSABLE);
    skills.ok(&["build", "tide-guide"]);
    skills.ok(&search);
    skills.write("new.json", "{}");
    skills.check_error(&search, UNUSABLE);
    skills.ok(&["build", "tide-guide"]);
    fs::remove_file(skills.path("new.json")).unwrap();
    skills.check_error(&search, UNUSABLE);
    skills.ok(&["build", "tide-guide"]);
    fs::rename(skills.path("ferry.txt"), skills.path("boat.txt")).unwrap();
    skills.check_error(&search, UNUSABLE);
    // The gateway reads the files themselves.
    let outline = skills.ok(&["outline", "tide-guide"]).stdout;
    assert!(outline.contains("## Edited"), "{outline}");
    assert_eq!(skills.ok(&["open", "tide-guide", "SKILL.md"]).stdout, GUIDE_EDITED);
    assert!(skills.ok(&["sources", "tide-guide"]).stdout.contains("boat.txt"));
}

const GUIDE_EDITED: &str =
    "---\nname: tide-guide\ndescription: d\n---\n# Tide Guide\n## Edited\ngauge\n";

#[test]
fn an_index_of_another_directory_is_a_collision_and_stays() {
    let skills = Skills::built();
    let foreign = "UPDATE index_meta SET value = '/elsewhere' WHERE key = 'skill_path';
        UPDATE index_meta SET value = 'stale too' WHERE key = 'source_hash'";
    Connection::open(skills.index()).unwrap().execute_batch(foreign).unwrap();
    let before = fs::read(skills.index()).unwrap();
    let name = skills.index().file_name().unwrap().to_str().unwrap().to_owned();
    let expected =
        format!("error[E003]: index hash collision; delete .skillc-meta/{name} and rebuild");
    for args in [
        &["search", "tide-guide", "gauge"][..],
        &["show", "tide-guide", "--section", "Reading"],
        &["build", "tide-guide"],
    ] {
        skills.check_error(args, &expected);
    }
    assert_eq!(fs::read(skills.index()).unwrap(), before);
}

#[test]
fn two_sources_of_one_name_have_separate_indexes() {
    let skills = Skills::built();
    let first = fs::read(skills.index()).unwrap();
    skills.env.write(
        "project/other/tide-guide/SKILL.md",
        "---\nname: tide-guide\ndescription: d\n---\n# Other\n",
    );
    skills.ok(&["build", "other/tide-guide"]);
    let entries = skills.runtime(".skillc-meta").read_dir().unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with("search-")).count(), 2);
    skills.ok(&["search", "tide-guide", "gauge"]);
    skills.ok(&["search", "other/tide-guide", "other"]);
    let entries = skills.runtime(".skillc-meta").read_dir().unwrap();
    assert!(
        entries.map(|entry| fs::read(entry.unwrap().path()).unwrap()).any(|bytes| bytes == first)
    );
}

#[test]
fn all_searches_are_logged_even_failed_ones() {
    let skills = Skills::built();
    skills.ok(&["search", "tide-guide", "floats shed"]);
    let (command, args, error) = skills.last_access();
    assert_eq!(command, "search");
    assert_eq!(args, "{\"query\":\"floats shed\",\"result_count\":1}");
    assert_eq!(error, "null");
    skills.write("new.md", "# New\n");
    skills.run(&["search", "tide-guide", "floats"]).expect(1);
    let (_, args, error) = skills.last_access();
    assert_eq!(args, "{\"query\":\"floats\",\"result_count\":0}");
    assert_eq!(error, UNUSABLE);
    let log = skills.runtime(".skillc-meta/logs.db");
    for (column, expected) in [
        ("skill", "tide-guide".to_owned()),
        ("skill_path", without_links(&skills.path("")).display().to_string()),
        ("cwd", without_links(&skills.env.path("project")).display().to_string()),
    ] {
        let query = format!("SELECT {column} FROM access_log ORDER BY id DESC");
        assert_eq!(skills.sql(&log, &query), expected);
    }
    let time = skills.sql(&log, "SELECT timestamp FROM access_log");
    assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
    let run_id = skills.sql(&log, "SELECT run_id FROM access_log");
    let (date, random) = run_id.split_once('-').unwrap();
    assert!(date.len() == 16 && date.ends_with('Z') && random.len() == 4, "{run_id}");
}

#[test]
fn the_environment_names_the_session() {
    let skills = Skills::built();
    let run = |vars: &[(&str, &str)]| {
        let mut command = skills.command(&["outline", "tide-guide"]);
        skills.env.finish(command.envs(vars.iter().copied())).expect(0);
        let log = skills.runtime(".skillc-meta/logs.db");
        skills.sql(&log, "SELECT run_id FROM access_log ORDER BY id DESC")
    };
    assert_eq!(run(&[("KB_RUN_ID", "mine")]), "mine");
    assert_eq!(run(&[("KB_RUN_ID", "mine"), ("SKC_RUN_ID", "theirs")]), "theirs");
}

#[test]
fn the_index_has_the_documented_path_and_keys() {
    let skills = Skills::built();
    let dir = without_links(&skills.path(""));
    let hash = sha256(dir.to_str().unwrap());
    assert_eq!(skills.index(), skills.runtime(&format!(".skillc-meta/search-{}.db", &hash[..16])));
    let meta = |key: &str| {
        skills.sql(&skills.index(), &format!("SELECT value FROM index_meta WHERE key = '{key}'"))
    };
    assert_eq!(meta("skill_path"), dir.to_str().unwrap());
    assert_eq!((meta("schema_version"), meta("tokenizer")), ("2".to_owned(), "porter".to_owned()));
    assert_eq!(meta("source_hash").len(), 64);
    assert!(meta("indexed_at").ends_with('Z'));
    let heading =
        "SELECT file || '|' || text || '|' || level || '|' || start_line || '|' || end_line
        FROM headings WHERE text = 'At Night'";
    assert_eq!(skills.sql(&skills.index(), heading), "SKILL.md|At Night|3|16|20");
    let last = "SELECT end_line FROM headings WHERE text = 'Floats'";
    assert_eq!(skills.sql(&skills.index(), last), "8", "one past the last line");
}

fn sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn building_again_changes_nothing() {
    let skills = Skills::built();
    let read = |path: &str| {
        let path = skills.runtime(path);
        (fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap())
    };
    let index = skills.index();
    let index = index.strip_prefix(skills.runtime("")).unwrap().to_str().unwrap();
    let files = [index, ".skillc-meta/manifest.json", "SKILL.md"];
    let before = files.map(read);
    let output = skills.ok(&["build", "tide-guide"]);
    assert!(output.stdout.contains("up to date"), "{}", output.stdout);
    assert_eq!(files.map(read), before);
}

#[test]
fn the_settings_of_skc_choose_the_tokenizer() {
    let skills = Skills::built();
    let search = ["search", "tide-guide", "configuring", "--format", "json"];
    skills.env.write("project/.skillc/config.toml", "[search]\ntokenizer = \"cjk\"\n");
    skills.run(&search).expect(1);
    skills.ok(&["build", "tide-guide"]);
    assert!(skills.ok(&search).json()["results"].as_array().unwrap().is_empty());
    // The variable overrides the file.
    let with =
        |word: &str| skills.env.finish(skills.command(&search).env("SKILLC_TOKENIZER", word));
    with("ascii").expect(1);
    let output = with("latin").expect(0);
    assert!(output.stderr.starts_with("warning: SKILLC_TOKENIZER=latin"), "{}", output.stderr);
}

/// The fixture is the index that `skc` 0.2.1 wrote for exactly this skill; only its path is filled in.
#[test]
fn an_index_of_skc_is_read_and_kept() {
    let skills = Skills::built();
    let ours = skills.index();
    let columns = "SELECT group_concat(name || ' ' || type) FROM (
        SELECT name, type FROM sqlite_schema
        WHERE name NOT LIKE 'source_files%' AND name NOT LIKE 'sqlite%' ORDER BY name)";
    let our_schema = skills.sql(&ours, columns);
    let our_headings =
        rows(&ours, "SELECT * FROM headings WHERE text <> 'Parts' ORDER BY file, start_line");
    let theirs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/skill/skc-0.2.1.db");
    fs::copy(theirs, &ours).unwrap();
    assert_eq!(skills.sql(&ours, columns), our_schema);
    assert_eq!(
        rows(&ours, "SELECT * FROM headings WHERE text <> 'Parts' ORDER BY file, start_line"),
        our_headings
    );
    let path = without_links(&skills.path(""));
    let db = Connection::open(&ours).unwrap();
    db.execute("UPDATE index_meta SET value = ?1 WHERE key = 'skill_path'", [path.to_str()])
        .unwrap();
    drop(db);
    let before = fs::read(&ours).unwrap();
    let answer = skills.json(&["search", "tide-guide", "configuring recorder"]);
    assert_eq!(answer["results"][0]["section"], "Repair");
    let shown = skills.ok(&["show", "tide-guide", "--section", "at night"]).stdout;
    assert_eq!(shown, "### At Night\n\nTake the lamp.\n\n");
    assert!(skills.ok(&["build", "tide-guide"]).stdout.contains("up to date"));
    assert_eq!(fs::read(&ours).unwrap(), before);
    skills.write("new.md", "# New\n");
    skills.check_error(&["search", "tide-guide", "recorder"], UNUSABLE);
}

/// Returns the rows of a query as text, without their first column.
fn rows(path: &std::path::Path, query: &str) -> Vec<String> {
    let db = Connection::open(path).unwrap();
    let mut statement = db.prepare(query).unwrap();
    let count = statement.column_count();
    let rows = statement.query_map([], |row| {
        let cells = (1..count).map(|column| row.get::<_, rusqlite::types::Value>(column));
        Ok(format!("{:?}", cells.collect::<Result<Vec<_>, _>>()?))
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn two_concurrent_builds_leave_an_intact_index() {
    let skills = Skills::new();
    for number in 0..60 {
        let page: String = (0..40)
            .map(|part| format!("## Part {part} of {number}\n\nsome words of {part}\n\n"))
            .collect();
        skills.write(&format!("pages/{number}.md"), page);
    }
    for round in 0..5 {
        skills.write("round.md", format!("# Round {round}\n"));
        let mut children: Vec<_> = (0..4)
            .map(|_| {
                let mut command = skills.command(&["build", "tide-guide"]);
                command.stdout(std::process::Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let built: Vec<String> = children
            .drain(..)
            .map(|child| {
                let output = child.wait_with_output().unwrap();
                assert!(output.status.success());
                String::from_utf8(output.stdout).unwrap()
            })
            .collect();
        let num_new = built.iter().filter(|line| line.contains("Index:   new")).count();
        assert_eq!(num_new, 1, "one builds, the others find a finished index");
        assert_eq!(skills.sql(&skills.index(), "PRAGMA integrity_check"), "ok");
        let answer = skills.json(&["search", "tide-guide", &format!("Round {round}")]);
        assert_eq!(answer["results"].as_array().unwrap().len(), 1);
    }
    let entries = skills.runtime(".skillc-meta").read_dir().unwrap();
    let names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.contains("draft")), "{names:?}");
}
