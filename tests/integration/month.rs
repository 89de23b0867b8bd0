//! Lives through a month with two machines: 300 documents and 48 operations of every kind. At
//! the end the content is that of a fresh database, and ids, tags, titles and dates are as the
//! person left them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::patience::{CAN_REQUEST_END, EndRequest, comes_true, end};
use crate::word_model::{WordModel, check_database};

/// The properties that a person expects of a document.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    id: u64,
    tags: BTreeSet<String>,
    /// The title that the person gave it.
    title: Option<String>,
    date: Option<String>,
}

/// A machine, and what its person expects of each document, by the word that only this document has.
struct Machine {
    env: TestEnv,
    kept: BTreeMap<String, Kept>,
}

/// The word that only document `number` has.
fn marker(number: usize) -> String {
    format!("mark{number:04}")
}

impl Machine {
    /// A machine whose model is not there yet.
    fn without_model() -> Self {
        let env = TestEnv::with_runtime();
        WordModel { max_seq_length: 96, ..WordModel::default() }.write(&env.path("tiny"));
        WordModel { seed: 2, max_seq_length: 40, ..WordModel::default() }.write(&env.path("short"));
        Self { env, kept: BTreeMap::new() }
    }

    fn new() -> Self {
        let machine = Self::without_model();
        machine.env.ok(&["init", "--model-dir", "tiny"]);
        machine
    }

    /// Runs a command and requires success and an intact database.
    #[track_caller]
    fn run(&self, args: &[&str]) -> Value {
        let answer = self.env.json(&[args, &["--format", "json"]].concat());
        check_database(&self.env);
        answer
    }

    /// Returns every document's line of an export, by its word.
    #[track_caller]
    fn documents(&self, data_dir: &str) -> BTreeMap<String, Value> {
        let lines = self.env.ok(&["--data-dir", data_dir, "export", "-"]).stdout;
        let documents = lines.lines().skip(1).map(|line| -> Value {
            let line: Value = serde_json::from_str(line).unwrap();
            assert!(line["chunks"].is_array(), "{line}");
            line
        });
        documents
            .map(|line| {
                let text = line["chunks"].to_string();
                let at = text.find("mark").unwrap_or_else(|| panic!("no word in {text}"));
                (text[at..at + marker(0).len()].to_owned(), line)
            })
            .collect()
    }

    /// Remembers ids and tags of new documents.
    #[track_caller]
    fn remember_new(&mut self, expected: usize) {
        for (word, line) in self.documents(".kb") {
            self.kept.entry(word).or_insert_with(|| Kept {
                id: line["id"].as_u64().unwrap(),
                tags: tags(&line),
                title: None,
                date: None,
            });
        }
        assert_eq!(self.kept.len(), expected);
    }

    /// Requires that ids, tags, titles and dates are as the person left them.
    #[track_caller]
    fn check(&self) {
        let found = self.documents(".kb");
        let words = |map: &BTreeMap<String, Value>| map.keys().cloned().collect::<Vec<_>>();
        assert_eq!(words(&found), self.kept.keys().cloned().collect::<Vec<_>>());
        for (word, kept) in &self.kept {
            let line = &found[word];
            assert_eq!(line["id"], kept.id, "{word}");
            assert_eq!(tags(line), kept.tags, "{word}");
            if let Some(title) = &kept.title {
                assert_eq!(line["title"], title.as_str(), "{word}");
            }
            if let Some(date) = &kept.date {
                assert_eq!(line["metadata"]["date"], date.as_str(), "{word}");
            }
        }
    }

    fn id(&self, number: usize) -> String {
        self.kept[&marker(number)].id.to_string()
    }

    fn expect(&mut self, number: usize) -> &mut Kept {
        self.kept.get_mut(&marker(number)).unwrap()
    }

    /// Searches for the word of a document and returns the best passage.
    #[track_caller]
    fn found(&self, number: usize, args: &[&str]) -> String {
        let word = marker(number);
        let answer = self.run(&[&["search", &word, "--fts-only", "--top", "1"], args].concat());
        answer["results"][0]["text"].as_str().unwrap_or_default().to_owned()
    }
}

fn tags(line: &Value) -> BTreeSet<String> {
    line["tags"].as_array().unwrap().iter().map(|tag| tag.as_str().unwrap().to_owned()).collect()
}

/// Writes the file of a document, with `more` as its last sentence.
fn write(env: &TestEnv, number: usize, more: &str) {
    let word = marker(number);
    let sentence = "The tide gauge and the pump in the harbour on the chart. ";
    let (path, text) = match number {
        0..120 => (
            format!("life/diary/{number}.md"),
            format!("{word} is salt on the anchor. {}{more}\n", sentence.repeat(number % 3)),
        ),
        120..220 => (
            format!("life/manual/{number}.md"),
            format!(
                "# Chart {number}\n\n{word} {}\n\n## Pump\n\n{}{more}\n",
                sentence.repeat(4),
                sentence.repeat(3)
            ),
        ),
        220..240 => (
            format!("life/code/old/{number}.go"),
            format!(
                "package main\n\n// {word} starts the pump. {more}\nfunc Pump{number}() int {{\n\treturn 1\n}}\n"
            ),
        ),
        _ => (
            format!("life/code/{number}.py"),
            format!(
                "def pump_{number}():\n    \"\"\"{word} starts the pump. {more}\"\"\"\n    return 1\n"
            ),
        ),
    };
    env.write(&path, text);
}

/// Copies a folder with everything in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The first week: everything is added, changed, renamed, tagged and edited.
fn first_week(home: &mut Machine) {
    // 1 to 3: folders, the first of them before there is a model.
    for number in 0..260 {
        write(&home.env, number, "");
    }
    let added = home.env.ok(&["add", "life/diary", "--tags", "diary"]);
    assert!(added.stderr.contains("found by keyword only"), "{}", added.stderr);
    assert!(home.env.ok(&["search", &marker(7)]).stdout.contains(&marker(7)));
    // The model comes, and all is as if it had been there.
    home.env.ok(&["init", "--model-dir", "tiny"]);
    assert_eq!(home.run(&["update", "--reread"])["made_differently"], 0);
    home.run(&["add", "life/manual"]);
    home.run(&["add", "life/code"]);
    // 4: notes.
    for number in 260..300 {
        let text = format!("{} the keeper paints the engine", marker(number));
        home.env.ok(&["add", "--note", &text, "--tags", "note"]);
    }
    home.remember_new(300);
    // 5: files are rewritten.
    for number in 0..12 {
        write(&home.env, number, "The lamp is new.");
    }
    assert_eq!(home.run(&["update"])["updated"], 12);
    assert!(home.found(3, &[]).contains("The lamp is new."));
    // 6: files are renamed.
    for number in 120..130 {
        let folder = home.env.path("life/manual");
        fs::rename(folder.join(format!("{number}.md")), folder.join(format!("chart-{number}.md")))
            .unwrap();
    }
    assert_eq!(home.run(&["update"])["moved"], 10);
    // 7: a folder is renamed.
    fs::rename(home.env.path("life/code/old"), home.env.path("life/code/engine")).unwrap();
    assert_eq!(home.run(&["update"])["moved"], 20);
    // 8: a copy outlives its original.
    let diary = home.env.path("life/diary");
    fs::copy(diary.join("20.md"), diary.join("copy.md")).unwrap();
    home.run(&["update"]);
    fs::remove_file(diary.join("20.md")).unwrap();
    home.run(&["update"]);
    // 9: files are missing for a day.
    for number in 130..136 {
        fs::remove_file(home.env.path(format!("life/manual/{number}.md"))).unwrap();
    }
    assert_eq!(home.run(&["update"])["missing"].as_array().unwrap().len(), 6);
    for number in 130..136 {
        write(&home.env, number, "");
    }
    home.run(&["update"]);
    home.check();
    // 10 to 13: tags.
    home.run(&["tag", "--path", "life/manual", "--add", "manual"]);
    for number in 120..220 {
        home.expect(number).tags.insert("manual".into());
    }
    home.run(&["tag", &home.id(5), &home.id(6), "--remove", "diary"]);
    for number in [5, 6] {
        home.expect(number).tags.clear();
    }
    home.run(&["tags", "rename", "diary", "journal"]);
    for kept in home.kept.values_mut() {
        if kept.tags.remove("diary") {
            kept.tags.insert("journal".into());
        }
    }
    home.run(&["tag", "--query", &marker(261), "--top", "1", "--add", "found"]);
    home.expect(261).tags.insert("found".into());
    // 14 to 16: titles, dates, the text of a note.
    home.run(&["edit", &home.id(121), "--title", "The first chart"]);
    home.expect(121).title = Some("The first chart".into());
    home.run(&["edit", &home.id(122), "--date", "2024-02-29"]);
    home.expect(122).date = Some("2024-02-29".into());
    let text = format!("{} the keeper paints the lamp", marker(270));
    home.env.ok(&["add", "--note", &text, "--replace", &home.id(270)]);
    home.check();
}

/// The second week: settings and models change, and things are removed by mistake.
fn second_week(home: &mut Machine) {
    // 17: an answer that is true now.
    write(&home.env, 140, "The valve is frozen.");
    let stale = home.run(&["search", &marker(140), "--fts-only", "--top", "1"]);
    assert_eq!(stale["results"][0]["source"]["stale"], "changed");
    home.run(&["search", &marker(140), "--fts-only", "--fresh", "--top", "5"]);
    assert!(home.run(&["show", &home.id(140)]).to_string().contains("The valve is frozen."));
    // 18 and 19: other settings.
    home.env.ok(&["config", "set", "chunking.markdown.max_tokens", "30"]);
    assert!(home.run(&["status"])["made_differently"].as_u64().unwrap() > 100);
    home.run(&["update", "--reread"]);
    assert_eq!(home.run(&["status"])["made_differently"], 0);
    // 20 to 22: a shorter model, a change under it, and back.
    home.env.ok(&["config", "set", "chunking.markdown.max_tokens", "80"]);
    home.run(&["update", "--reread"]);
    home.run(&["reindex", "--model-dir", "short"]);
    home.check();
    write(&home.env, 141, "The barrel is in the orchard.");
    home.run(&["update"]);
    assert!(!home.found(142, &[]).is_empty());
    home.run(&["reindex", "--model-dir", "tiny"]);
    // 23: everything as today's settings make it.
    home.run(&["update", "--reread"]);
    assert_eq!(home.run(&["status"])["made_differently"], 0);
    home.check();
    // 24 to 26: a backup takes back a removal.
    home.run(&["backup", "safe.db"]);
    let removed = home.run(&["remove", "--tags", "journal", "--yes"]);
    assert!(removed["removed"].as_array().unwrap().len() > 100);
    home.run(&["restore", "safe.db"]);
    home.check();
    // 27: removed with an export, which brings ids and tags back.
    for number in 150..155 {
        fs::remove_file(home.env.path(format!("life/manual/{number}.md"))).unwrap();
    }
    home.run(&["update", "--prune", "--export", "lost.jsonl"]);
    for number in 150..155 {
        write(&home.env, number, "");
    }
    assert_eq!(home.run(&["import", "lost.jsonl", "--trust-paths"])["imported"], 5);
    home.run(&["update"]);
    home.check();
    // 28: the same for notes.
    home.run(&["remove", &home.id(280), &home.id(281), "--yes", "--export", "notes.jsonl"]);
    assert_eq!(home.run(&["import", "notes.jsonl"])["imported"], 2);
    home.check();
    // 29: removed for good, and kept away.
    for number in [30, 31] {
        home.run(&["remove", &home.id(number), "--ignore", "--yes"]);
        home.kept.remove(&marker(number));
    }
    home.run(&["update"]);
    home.check();
    // 30: a file that cannot be read is waived.
    let broken = home.env.write("life/manual/broken.pdf", "%PDF-1.4 cut off");
    home.env.kb(&["update"]);
    home.run(&["files", "--waive", broken.to_str().unwrap()]);
    assert_eq!(home.run(&["update"])["failed"].as_array().map_or(0, Vec::len), 0);
}

/// The third week: a second machine with the same files elsewhere, and changes on both.
fn third_week(home: &mut Machine, away: &mut Machine) {
    // 31 and 32: everything moves to the other machine, where kb finds the files at their new paths.
    copy_folder(&home.env.path("life"), &away.env.path("files/life"));
    home.env.ok(&["export", "all.jsonl", "--vectors"]);
    away.env.write("all.jsonl", fs::read(home.env.path("all.jsonl")).unwrap());
    away.env.ok(&["config", "set", "chunking.markdown.max_tokens", "80"]);
    away.run(&["import", "all.jsonl", "--trust-paths"]);
    away.kept = home.kept.clone();
    away.check();
    let (old, new) = (home.env.path("life"), away.env.path("files/life"));
    for folder in ["diary", "manual", "code"] {
        let (old, new) = (old.join(folder), new.join(folder));
        away.run(&["relocate", old.to_str().unwrap(), new.to_str().unwrap()]);
    }
    let update = away.run(&["update"]);
    assert_eq!((&update["added"], &update["missing"]), (&json!(0), &json!([])), "{update}");
    away.check();
    // 33: work on the second machine.
    away.run(&["tag", &away.id(160), "--add", "read"]);
    away.expect(160).tags.insert("read".into());
    away.run(&["edit", &away.id(161), "--title", "Chart of the orchard"]);
    away.expect(161).title = Some("Chart of the orchard".into());
    away.run(&["edit", &away.id(162), "--date", "2025-12-24"]);
    away.expect(162).date = Some("2025-12-24".into());
    away.env.ok(&["add", "--note", &format!("{} the cider is in the cellar", marker(300))]);
    away.remember_new(299);
    // 34: work at home meanwhile.
    home.run(&["tag", &home.id(160), "--add", "home"]);
    home.expect(160).tags.insert("home".into());
    // 35: the same file is rewritten on both.
    write(&home.env, 163, "The winter is long.");
    let text = fs::read(home.env.path("life/manual/163.md")).unwrap();
    away.env.write("files/life/manual/163.md", text);
    home.run(&["update"]);
    away.run(&["update"]);
    // 36 and 37: both learn from each other.
    away.env.ok(&["export", "back.jsonl"]);
    home.env.write("back.jsonl", fs::read(away.env.path("back.jsonl")).unwrap());
    home.run(&["import", "back.jsonl"]);
    home.expect(160).tags.insert("read".into());
    home.expect(161).title = Some("Chart of the orchard".into());
    home.expect(162).date = Some("2025-12-24".into());
    home.remember_new(299);
    home.check();
    home.env.ok(&["export", "again.jsonl", "--tags", "home"]);
    away.env.write("again.jsonl", fs::read(home.env.path("again.jsonl")).unwrap());
    away.run(&["import", "again.jsonl"]);
    away.expect(160).tags.insert("home".into());
    away.check();
}

/// The fourth week: a folder gets another place, and files are followed as they are saved.
fn fourth_week(home: &mut Machine) {
    // 38: a folder has moved.
    fs::rename(home.env.path("life/manual"), home.env.path("books")).unwrap();
    home.run(&["relocate", "life/manual", "books"]);
    let update = home.run(&["update"]);
    assert_eq!((&update["added"], &update["moved"]), (&json!(0), &json!(0)), "{update}");
    home.check();
    // 39: a file is followed, until the service is stopped.
    let log = home.env.path("watch.log");
    let mut watch = home.env.command(&["watch"]);
    let mut watch =
        watch.stdout(Stdio::null()).stderr(File::create(&log).unwrap()).spawn().unwrap();
    let text = fs::read_to_string(home.env.path("books/170.md")).unwrap() + "\nThe oak is old.\n";
    let file = home.env.write("books/170.md", text);
    let is_read = || home.env.ok(&["show", &home.id(170)]).stdout.contains("The oak is old");
    assert!(comes_true(is_read), "`kb watch` never read the file");
    let logged = || home.env.as_written(fs::read_to_string(&log).unwrap());
    let is_named = || logged().contains(&format!("indexed: {}\n", file.display()));
    assert!(comes_true(is_named), "`kb watch` never named the file");
    end(&mut watch, EndRequest::Terminate);
    let log = logged();
    let ends: Vec<&str> = log.lines().filter(|line| line.starts_with("ended: ")).collect();
    let expected: &[&str] = if CAN_REQUEST_END { &["ended: 1 indexed"] } else { &[] };
    assert_eq!((ends.as_slice(), log.contains("error:")), (expected, false), "{log}");
    home.check();
    // 40: nothing is left to do.
    home.env.ok(&["doctor", "--fix"]);
    let update = home.run(&["update"]);
    assert_eq!((&update["added"], &update["updated"]), (&json!(0), &json!(0)), "{update}");
}

/// The last days: folders are tidied, notes link to each other, and generated files are among them.
fn last_days(home: &mut Machine) {
    let old = "UPDATE documents SET created_at = '2001-02-03T04:05:06Z'";
    Connection::open(home.env.database()).unwrap().execute(old, []).unwrap();
    // 41: a folder in an added one becomes empty: some of its files move, the others are deleted.
    let folder = home.env.path("life/code/engine");
    for number in 220..240 {
        let file = folder.join(format!("{number}.go"));
        if number < 232 {
            fs::rename(file, home.env.path(format!("life/code/{number}.go"))).unwrap();
        } else {
            fs::remove_file(file).unwrap();
            home.kept.remove(&marker(number));
        }
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    let update = home.run(&["update", "--prune"]);
    assert_eq!((&update["moved"], &update["away"]), (&json!(12), &json!([])), "{update}");
    assert_eq!(update["removed"].as_array().unwrap().len(), 8);
    home.check();
    // 42 and 43: what programs made is left out, and read on request.
    let text = format!("# Module\n\n{} comes with the pump.\n", marker(301));
    home.env.write("life/code/node_modules/pump/index.md", text);
    assert_eq!(home.run(&["update"])["added"], 0);
    let ignored = home.env.ok(&["files", "--ignored"]).stdout;
    assert!(ignored.contains("node_modules"), "{ignored}");
    home.env.ok(&["add", "life/code", "--include-ignored"]);
    home.remember_new(292);
    // 44: a note is removed by its title.
    for (number, title) in [(302, "VPN one"), (303, "VPN two")] {
        home.env.ok(&[
            "add",
            "--note",
            &format!("{} of the office", marker(number)),
            "--title",
            title,
        ]);
    }
    home.remember_new(294);
    home.run(&["remove", "VPN two", "--yes"]);
    home.kept.remove(&marker(303));
    home.expect(302).title = Some("VPN one".into());
    home.check();
    // 45: notes link to each other.
    let text =
        "See [[171]], [the pump](chart-120.md#Pump) and [[172|a chart]], not [[no such chart]].";
    home.env.write("books/links.md", format!("# Links\n\n{} {text}\n", marker(304)));
    assert_eq!(home.run(&["update"])["added"], 1);
    home.remember_new(294);
    let links = home.run(&["info", "links.md"])["links"].clone();
    let ids: Vec<String> =
        links.as_array().unwrap().iter().map(|link| link["document_id"].to_string()).collect();
    assert_eq!(ids, [home.id(171), home.id(120), home.id(172), "null".into()]);
    assert_eq!(home.run(&["info", &home.id(120)])["backlinks"][0]["title"], "Links");
    let doctor = home.env.ok(&["doctor", "--links"]).stdout;
    assert!(doctor.contains("4 links between notes, 1 to no document"), "{doctor}");
    assert!(doctor.contains("links.md:3: [[no such chart]]"), "{doctor}");
    // 46: new documents are listed.
    let new = home.run(&["list", "--added-since", "2002"]);
    assert_eq!(new.as_array().unwrap().len(), 3, "{new}");
    home.check();
    // 47: two machines changed a file, and the program that synchronises them kept both.
    let text = fs::read_to_string(home.env.path("books/links.md")).unwrap();
    let copy = "books/links.sync-conflict-20261130-090000-ABCDEFG.md";
    home.env.write(copy, text.replace("See", "Read"));
    assert_eq!(home.run(&["update"])["added"], 1);
    let answer = home.run(&["search", &marker(304), "--fts-only"]);
    let sources: Vec<&Value> =
        answer["results"].as_array().unwrap().iter().map(|hit| &hit["source"]).collect();
    assert_eq!(sources[0]["conflict_of"], Value::Null, "{answer}");
    assert_eq!(sources[1]["conflict_of"], sources[0]["path"], "{answer}");
    assert!(home.env.ok(&["status"]).stdout.contains("1 conflict copy"));
    fs::remove_file(home.env.path(copy)).unwrap();
    home.run(&["update", "--prune", "--force"]);
    // 48: a question needs no command, and a query that only excludes is refused.
    let asked = home.env.ok(&["which keeper paints the engine"]).json();
    assert!(!asked["results"].as_array().unwrap().is_empty(), "{asked}");
    let refused = home.env.kb(&["search", "--format=json", "--", "-engine"]).expect(1);
    assert_eq!(refused.json_error()["code"], "only_exclusions");
    home.check();
}

/// Requires that every document has the content that a fresh database has.
fn compare_with_fresh(home: &Machine) {
    let env = &home.env;
    let fresh = ["--data-dir", "fresh"];
    env.ok(&[&fresh[..], &["init", "--model-dir", "tiny"]].concat());
    env.ok(&[&fresh[..], &["config", "set", "chunking.markdown.max_tokens", "80"]].concat());
    env.kb(
        &[&fresh[..], &["add", "life/diary", "life/code", "books", "--include-ignored"]].concat()
    );
    for note in home.documents(".kb").values().filter(|line| line["paths"] == json!([])) {
        let text = note["chunks"][0]["text"].as_str().unwrap();
        env.ok(&[&fresh[..], &["add", "--note", text]].concat());
    }
    // Ids, times and edits belong to a life; a title is part of what is embedded with a chunk.
    let content = |word: &str, line: &Value| {
        let mut line = line.clone();
        let fields = line.as_object_mut().unwrap();
        for own in ["id", "tags", "created_at", "updated_at", "title_given", "edits"] {
            fields.remove(own);
        }
        fields["metadata"].as_object_mut().unwrap().remove("date");
        let is_retitled = home.kept[word].title.is_some();
        let edited: &[&str] = if is_retitled { &["context", "token_count"] } else { &[] };
        if is_retitled {
            fields.remove("title");
        }
        for chunk in fields["chunks"].as_array_mut().unwrap() {
            let chunk = chunk.as_object_mut().unwrap();
            edited.iter().chain(&["chunk_id"]).for_each(|own| drop(chunk.remove(*own)));
        }
        line
    };
    let (lived, fresh) = (home.documents(".kb"), home.documents("fresh"));
    assert_eq!(lived.keys().collect::<Vec<_>>(), fresh.keys().collect::<Vec<_>>());
    for (word, line) in &lived {
        assert_eq!(content(word, line), content(word, &fresh[word]), "{word}");
    }
}

#[test]
fn a_month_with_two_machines_ends_with_the_content_of_a_fresh_database() {
    let (mut home, mut away) = (Machine::without_model(), Machine::new());
    first_week(&mut home);
    second_week(&mut home);
    third_week(&mut home, &mut away);
    fourth_week(&mut home);
    last_days(&mut home);
    compare_with_fresh(&home);
}
