//! Tests the output for people, and which stream gets what.

use insta::assert_snapshot;
use serde_json::Value;

use crate::env::{CORPUS, TestEnv};
#[cfg(unix)]
use crate::terminal;
use crate::word_model::word_env;

#[test]
fn search_prints_json_unless_asked_otherwise() {
    let mut env = TestEnv::with_corpus();
    let default = env.ok(&["search", "frozen gauge"]);
    assert!(default.json().is_object());
    assert_eq!(env.ok(&["search", "frozen gauge", "--format", "json"]).stdout, default.stdout);
    let human = env.ok(&["search", "frozen gauge", "--format", "human"]);
    assert!(human.stdout.starts_with("Search: \"frozen gauge\""));
    env.set("KB_DEFAULT_FORMAT", "human");
    assert_eq!(env.ok(&["search", "frozen gauge"]).stdout, human.stdout);
    assert_eq!(env.ok(&["search", "frozen gauge", "--format=json"]).stdout, default.stdout);
    // Every other command is for people.
    for args in [&["list"][..], &["tags"], &["status"], &["info", "1"], &["config"]] {
        let output = env.kb_with(&[("KB_DEFAULT_FORMAT", "json")], args).expect(0);
        assert!(serde_json::from_str::<Value>(&output.stdout).is_err(), "{args:?}");
    }
}

#[test]
fn people_see_rank_score_title_page_section_type_and_tags() {
    let env = TestEnv::real_with_corpus();
    let search = |args: &[&str]| env.ok(&[&["search", "--format=human"], args].concat()).text();
    let query = "what to do when ice forms in the stilling well";
    assert_snapshot!(search(&[query, "--top=2", "--type=markdown"]), @r#"
    Search: "what to do when ice forms in the stilling well" (6 matches, showing top 2)

    1. [0.033] Tide station handbook §Winter [markdown] [handbook, sample, station]
       Below minus five degrees, ice forms inside the stilling well. Pour two litres of warm brine down
       the pipe; never use an open flame. If the float is frozen in, trust the radar gauge alone and
       mark the day in the log with the letter F.
       [CORPUS]/station-handbook.md:41
    2. [0.015] Tide station handbook §Float gauge [markdown] [handbook, sample, station]
       The float gauge sits in a stilling well: a pipe with a narrow opening near its foot, so that
       waves are damped and only the slow rise and fall of the tide is seen. When the trace turns into a
       flat line, the opening is blocked by mussels. Close the pier, lower the brush on its rope and…
       [CORPUS]/station-handbook.md:28
    "#);
    assert_snapshot!(search(&["\"phosphor bronze\"", "--fts-only"]), @r#"
    Search: ""phosphor bronze"" (1 matches, showing top 1)

    1. [0.016] Field Guide to the Harbour Tide Station (p.2) §2.1 Float gauge [pdf] [sample]
     … A copper float of 300 millimetres follows the water and turns a drum by a phosphor bronze wire.
       The drum needs a drop of clock oil every ninety days. Never use grease: it stiffens below four
       degrees and the float then lags behind the ebb.
       [CORPUS]/tide-station.pdf p.2

    No passage clearly answers this.
    "#);
    assert_snapshot!(search(&["boat timetable", "--fts-only"]), @r#"
    Search: "boat timetable" (1 matches, showing top 1)

    1. [0.016] Ferry timetable: the last boat leaves at nine. [note]
       Ferry timetable: the last boat leaves at nine.
       kb show 8

    No passage clearly answers this.
    "#);
    assert_snapshot!(search(&["zeppelin", "--fts-only"]), @r#"Search: "zeppelin" (0 matches, showing top 0)"#);
}

#[test]
fn people_see_the_order_of_the_json() {
    let env = TestEnv::with_corpus();
    let json = env.json(&["search", "height of the water", "--top", "24"]);
    let human = env.ok(&["search", "height of the water", "--top=24", "--format=human"]).stdout;
    let heads = human.lines().filter(|line| !line.starts_with(' ') && !line.is_empty()).skip(1);
    let mut num_heads = 0;
    for (rank, (head, hit)) in (1..).zip(heads.zip(json["results"].as_array().unwrap())) {
        let (score, title) = (hit["score"].as_f64().unwrap(), hit["source"]["title"].as_str());
        let expected = format!("{rank}. [{score:.3}] {}", title.unwrap());
        assert!(head.starts_with(&expected), "{head:?} does not start with {expected:?}");
        num_heads += 1;
    }
    assert_eq!(num_heads, json["returned"]);
    let first = format!("({} matches, showing top {num_heads})", json["total_matches"]);
    assert!(human.lines().next().unwrap().ends_with(&first));
}

#[test]
fn tables_and_facts_line_up() {
    let env = TestEnv::real_with_corpus();
    let text = ["list", "--type", "markdown"];
    assert_snapshot!(env.ok(&text).text(), @"
    ID  TYPE      CHUNKS  DATE        TITLE                  TAGS
     3  text           1  [--DATE--]  spare-keys             sample
     4  markdown       5  [--DATE--]  Tide station handbook  handbook, sample, station
    ");
    assert_snapshot!(env.ok(&["tags"]).text(), @"
    COUNT  TAG
        1  handbook
        7  sample
        2  station
    ");
    assert_snapshot!(env.ok(&["info", "4"]).text(), @r"
    Document 4
    Title:    Tide station handbook
    Path:     [CORPUS]/station-handbook.md
    Type:     markdown (markdown)
    Language: -
    Hash:     eda15f3cf177c769269ed3933559ab67c585b8ce5ce445191f6907b482a56fb5
    Created:  [TIME]
    Updated:  [TIME]
    Tags:     handbook, sample, station
    Chunks:   5
    Words:    343 kept; left out: 11 markup
    Author:   The harbour office

    Chunk 12 (148 tokens, lines 7-22)
       # Tide station handbook How the small tide station at the end of the north pier is kept running. It

    Chunk 13 (95 tokens, lines 24-31) §Instruments > Float gauge
       ## Instruments ### Float gauge The float gauge sits in a stilling well: a pipe with a narrow opening

    Chunk 14 (69 tokens, lines 33-37) §Instruments > Radar gauge
       ### Radar gauge The radar gauge looks down from the gantry and measures the distance to the water ev

    Chunk 15 (64 tokens, lines 39-43) §Winter
       ## Winter Below minus five degrees, ice forms inside the stilling well. Pour two litres of warm brin

    Chunk 16 (102 tokens, lines 45-56) §Storm surge > Warning levels
       ## Storm surge ### Warning levels A surge warning is given when the water is forecast to stand eight
    ");
    assert_snapshot!(env.ok(&["info", "7"]).text(), @r"
    Document 7
    Title:    Charger
    Path:     -
    Type:     note (note)
    Language: -
    Hash:     05c2118d0f335f667d9a54e33322fc0cdd7e507bae82a283dc3ad16d61c136ac
    Created:  [TIME]
    Updated:  [TIME]
    Tags:     sample, station
    Chunks:   1
    Words:    14 kept

    Chunk 36 (20 tokens, lines 1-1)
       The charger of the tide recorder is in the blue box under the stairs.
    ");
    let status = env.ok(&["status"]).text();
    // The layers that confine readers depend on the system; the test `sandbox` checks them.
    let varies = ["Size:", "Chunks:", "Sandbox:"];
    let is_same = |line: &&str| !varies.iter().any(|name| line.starts_with(name));
    let lines: Vec<&str> = status.lines().filter(is_same).collect();
    // Every migration has another number.
    let newest = format!("Schema:    {}", env.sql::<i64>("PRAGMA user_version"));
    assert_snapshot!(lines.join("\n").replace(&newest, "Schema:    [NEWEST]"), @r"
    Database:  [HOME]/.kb/kb.db
    Documents: 8 (1 pdf, 2 markdown, 3 code, 2 note)
    Pages:     5 (0 read by OCR)
    OCR:       not installed (Tesseract reads scans)
    Updated:   [TIME]
    Model:     all-MiniLM-L6-v2 (384 dim, int8, 256 tokens)
    Weights:   53aa51172d14
    Schema:    [NEWEST]
    ");
}

#[cfg(unix)]
#[test]
fn that_nothing_has_been_added_is_said_once_and_in_the_same_words() {
    const NOTHING: &str = "Nothing has been added yet. `kb add DIRECTORY` adds documents.\n";
    let (new, initialised) = (TestEnv::new(), TestEnv::new());
    initialised.ok(&["init"]);
    for env in [&new, &initialised] {
        for args in [
            &["list"][..],
            &["list", "--type=pdf"],
            &["tags"],
            &["files"],
            &["files", "--failed"],
            &["update"],
            &["update", "--dry-run"],
            &["grep", "salt"],
        ] {
            let output = env.ok(args);
            assert_eq!(output.stdout.clone() + &output.stderr, NOTHING, "{args:?}");
        }
        // JSON has the note; where stdout and stderr are the same terminal, it is not next to it.
        for args in [&["search", "salt", "--format=human"][..], &["search", "salt"], &["status"]] {
            let shown = terminal::run(env, args, "", true).expect(0).stderr;
            assert_eq!(shown.matches(NOTHING.trim_end()).count(), 1, "{args:?}: {shown}");
        }
        let eval = env.kb(&["eval"]).expect(1).stderr;
        assert!(eval.starts_with("error: nothing has been added yet\nhint: `kb add DIRECTORY`"));
    }
}

#[test]
fn people_are_told_what_was_done() {
    let env = TestEnv::real();
    assert_snapshot!(env.ok(&["list"]).text(), @r"Nothing has been added yet. `kb add DIRECTORY` adds documents.");
    assert_snapshot!(env.ok(&["tags"]).text(), @r"Nothing has been added yet. `kb add DIRECTORY` adds documents.");
    assert_snapshot!(env.ok(&["add", "--note", "Call the bank", "--tags", "todo"]).text(), @r"
    --- stderr
    Added 1 document. 0 failed. 0 skipped (already indexed).
    The note has id 1.
    ");
    assert_snapshot!(env.ok(&["tag", "1", "--add", "a,b", "--remove", "todo"]).text(), @r"Tags of 'Call the bank': a, b");
    assert_snapshot!(env.ok(&["reindex"]).text(), @r"
    Embedded 1 chunk with all-MiniLM-L6-v2 (384 dim).
    --- stderr
    note: kb recomputes all vectors; the previous database was saved as [HOME]/.kb/kb-before-reindex-[TIME].db
    ");
    assert_snapshot!(env.ok(&["export", "all.jsonl"]).text(), @r"
    --- stderr
    Exported 1 document with 1 chunk.
    `kb import` will compute 1 vector again, which takes as long as `kb reindex`; `--vectors` exports them
    ");
    let refused = env.kb(&["export", "all.jsonl"]).expect(1).stderr;
    assert!(refused.contains("already exists") && refused.contains("--force"), "{refused}");
    env.ok(&["export", "all.jsonl", "--force"]);
    let exported = env.ok(&["export", "-"]).stdout;
    assert_eq!(exported, std::fs::read_to_string(env.path("all.jsonl")).unwrap());
    assert_snapshot!(env.ok(&["remove", "1", "--yes"]).text(), @r"
    Removed 1 document.
    --- stderr
    note: these are in no file and will be lost: 1 note; `--export FILE` saves them
    note: 1 copy of the database that kb made may still contain the removed text: [HOME]/.kb/kb-before-reindex-[TIME].db; `kb remove --backups` deletes it
    ");
    assert_snapshot!(env.ok(&["search", "bank", "--fts-only", "--format=human"]).text(), @r#"
    Search: "bank" (0 matches, showing top 0)
    --- stderr
    Nothing has been added yet. `kb add DIRECTORY` adds documents.
    "#);
    // Where the model and the library are differs from machine to machine.
    let is_same =
        |line: &&str| !line.starts_with("Model files:") && !line.starts_with("ONNX Runtime:");
    let init = env.ok(&["init"]).text();
    assert_snapshot!(init.lines().filter(is_same).collect::<Vec<_>>().join("\n"), @r"
    Data directory:      [HOME]/.kb
    Database:            [HOME]/.kb/kb.db
    Model configured:    all-MiniLM-L6-v2
    OCR:                 not installed (Tesseract reads scans)
    Database built with: all-MiniLM-L6-v2 (384 dim, int8)
    --- stderr
    Ready. Next, add documents with `kb add DIRECTORY`.
    ");
    assert_snapshot!(env.ok(&["config", "set", "search.default_top", "3"]).text(), @r"
    --- stderr
    search.default_top is now 3 in [HOME]/.kb/config.yaml
    ");
    assert_snapshot!(env.ok(&["config", "set", "search.default_top", "3"]).text(), @r"
    --- stderr
    search.default_top is already 3 in [HOME]/.kb/config.yaml
    ");
}

#[test]
fn only_the_answer_goes_to_stdout() {
    let env = TestEnv::new();
    env.write("docs/bad.md", [0_u8, 1, 2].repeat(50));
    let added = env.ok(&["add", CORPUS, "docs"]);
    assert_eq!(added.stdout, "");
    assert!(added.stderr.contains("failed: ") && added.stderr.contains("Added 6 documents."));
    env.write(".kb/config.yaml", "serach:\n  default_top: 3\n");
    for args in [
        &["search", "ice"][..],
        &["status", "--format=json"],
        &["add", "docs", CORPUS, "--format=json"],
    ] {
        let output = env.ok(args);
        assert!(output.json().is_object());
        assert!(output.stderr.contains("warning: unknown key `serach.default_top`"));
    }
}

#[cfg(unix)]
#[test]
fn progress_is_drawn_on_a_terminal_only() {
    // The small model ends before the bar is drawn a second time.
    let env = TestEnv::real();
    let shown = terminal::run(&env, &["add", CORPUS], "", false).expect(0);
    assert_eq!(shown.stdout, "");
    for part in [" of 6 files", "6 read, ", " chunks embedded in ", " per second."] {
        assert!(shown.stderr.contains(part), "{part}: {:?}", shown.stderr);
    }
    assert!(shown.stderr.contains("Added 6 documents."), "{:?}", shown.stderr);
    let env = TestEnv::new();
    let piped = env.ok(&["add", CORPUS]);
    assert_eq!(piped.stderr, "Added 6 documents. 0 failed. 0 skipped (already indexed).\n");
}

#[cfg(unix)]
#[test]
fn a_reindex_shows_how_many_chunks_are_done() {
    let env = word_env();
    let shown = terminal::run(&env, &["reindex"], "", false).expect(0);
    assert_eq!(shown.stdout, "Embedded 3 chunks with tiny (32 dim).\n");
    assert!(shown.stderr.contains(" of 3 chunks, "), "{:?}", shown.stderr);
    let piped = env.ok(&["reindex"]).stderr;
    assert!(piped.lines().all(|line| line.starts_with("note: ")), "{piped}");
}

#[cfg(unix)]
#[test]
fn colour_is_for_terminals_and_for_who_asks() {
    let mut env = TestEnv::with_corpus();
    let is_coloured = |text: &str| text.contains('\u{1b}');
    assert!(!is_coloured(&env.ok(&["list"]).stdout));
    assert!(is_coloured(&env.ok(&["list", "--color", "always"]).stdout));
    let search = ["search", "ice", "--fts-only", "--format=human"];
    let shown = terminal::run(&env, &search, "", true).stderr;
    assert!(shown.contains("\u{1b}]8;;file:///") && shown.contains("\u{1b}[1;31mice\u{1b}[0m"));
    // A link is nothing for who reads a pipe, colour or not.
    let piped = env.ok(&[&search[..], &["--color=always"]].concat()).stdout;
    assert!(piped.contains("\u{1b}[1;31mice") && !piped.contains("\u{1b}]8"));
    let failed = terminal::run(&env, &["info", "99"], "", true).stderr;
    assert!(failed.starts_with("\u{1b}[1;31merror:\u{1b}[0m document not found"), "{failed:?}");
    assert!(is_coloured(&terminal::run(&env, &["list"], "", true).stderr));
    assert!(!is_coloured(&terminal::run(&env, &["list", "--color=never"], "", true).stderr));
    env.set("NO_COLOR", "1");
    assert!(!is_coloured(&terminal::run(&env, &["list"], "", true).stderr));
    assert!(is_coloured(&terminal::run(&env, &["list", "--color=always"], "", true).stderr));
}

#[cfg(unix)]
#[test]
fn tables_line_up_and_fit_the_terminal_whatever_the_script() {
    let env = TestEnv::new();
    for (name, title) in [
        ("a", "東京の観光案内"),
        ("b", "การเดินทาง"),
        ("c", "हिन्दी में रेल यात्रा"),
        ("d", "اللغة العربية"),
        ("e", "Cafe\u{301} 👩\u{200d}👩\u{200d}👧"),
        ("f", &"A title that is far too long for any terminal ".repeat(4)),
    ] {
        env.write(&format!("docs/{name}.md"), format!("# {title}\n\nText.\n"));
    }
    env.ok(&["add", "docs", "--tags", "x"]);
    let width = kb::present::terminal::columns::width;
    let list = ["list", "--color=never"];
    let shown = terminal::run(&env, &list, "", true).stderr.replace('\r', "");
    let piped = env.ok(&list).stdout;
    for (text, is_cut) in [(&shown, true), (&piped, false)] {
        let ends: Vec<usize> = text.lines().skip(1).map(width).collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
        assert_eq!((ends[0] <= 90, text.contains('…')), (is_cut, is_cut), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn what_people_read_fits_terminals_of_every_width() {
    let mut env = TestEnv::with_corpus();
    env.set("NO_COLOR", "1");
    let far = "a/folder/with/many/levels/whose/names/fill/more/than/one/line/of/a/narrow/terminal";
    let title = "A title of many words that no narrow terminal shows on one line of its own";
    env.write(&format!("{far}/notes.md"), format!("# {title}\n\nThe frozen gauge again.\n"));
    env.write("b/notes.md", format!("# {title}\n\nThe frozen gauge once more.\n"));
    env.ok(&["add", "a", "b", "--tags", "some,tags,that,are,many"]);
    let width = kb::present::terminal::columns::width;
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    for columns in [60_u16, 80, 100, 140] {
        let shown = |args: &[&str]| {
            let args = [args, &["--no-pager"]].concat();
            terminal::run_at(&env, &args, "", true, columns).stderr.replace('\r', "")
        };
        for args in [
            &["search", "frozen gauge", "--format=human"][..],
            &["list"],
            &["list", "--sort=title", "--limit=3"],
            &["status"],
            &["--help"],
            &["search", "--help"],
            &["update", "--help"],
            &["help", "exit"],
            &["help", "query"],
        ] {
            let text = shown(args);
            for line in text.lines() {
                assert!(width(line) <= usize::from(columns), "{args:?} at {columns}: {line}");
            }
        }
        // No word of a title is broken.
        let text = shown(&["search", "frozen gauge", "--format=human"]);
        assert!(words(&text).join(" ").contains(title), "at {columns}: {text}");
        // Folders distinguish documents with the same title.
        let list = shown(&["list"]);
        assert!(list.contains("FOLDER") && list.contains("…/terminal"), "at {columns}: {list}");
    }
    let by_size = env.json(&["list", "--sort=size", "--format=json"]);
    let counts: Vec<u64> = by_size
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["chunk_count"].as_u64().unwrap())
        .collect();
    assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    let reversed = env.json(&["list", "--reverse", "--limit=2", "--format=json"]);
    assert_eq!(reversed[0]["id"].as_u64(), Some(counts.len() as u64), "{reversed}");
}

#[test]
fn no_escape_sequence_of_a_document_reaches_the_reader() {
    let env = TestEnv::new();
    env.write(
        "docs/a.md",
        "# A \u{1b}[31mred\u{7} title\n\nSome \u{1b}]0;owned\u{7}text \u{202e}odd.\n",
    );
    env.ok(&["add", "docs", "--tags", "t\u{1b}[1m"]);
    for args in [&["list"][..], &["info", "1"], &["tags"], &["search", "text", "--format=human"]] {
        let output = env.ok(args);
        let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!output.stdout.contains(is_bad), "{args:?}: {:?}", output.stdout);
    }
}

#[test]
fn what_is_marked_is_what_the_index_finds() {
    let db = rusqlite::Connection::open_in_memory().unwrap();
    db.execute_batch(
        "CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'porter unicode61');
         CREATE VIRTUAL TABLE terms USING fts5vocab (texts, instance);",
    )
    .unwrap();
    let pages = [
        "README.md", "docs/adding.md", "ARCHITECTURE.md", "THREATS.md", "LICENSE-APACHE",
        "docs/guide.md",
    ];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text: String = pages.map(|page| std::fs::read_to_string(root.join(page)).unwrap()).concat();
    let words: std::collections::BTreeSet<String> = text
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    assert!(words.len() > 1000);
    let all = words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    db.execute("INSERT INTO texts (text) VALUES (?1)", [all]).unwrap();
    let mut terms = db.prepare("SELECT term FROM terms ORDER BY offset").unwrap();
    let terms = terms.query_map([], |row| row.get::<_, String>(0)).unwrap();
    for (word, term) in words.iter().zip(terms) {
        assert_eq!(kb_base::text::stem::stem(word), term.unwrap(), "{word}");
    }
}
