//! Tests the files in archives, e-mails and mailboxes, which are documents themselves.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::env::TestEnv;
use crate::word_model::check_database;

/// Returns a ZIP archive without compression.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut body, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let offset = u32::try_from(body.len()).unwrap();
        let (size, name_size) =
            (u32::try_from(content.len()).unwrap(), u16::try_from(name.len()).unwrap());
        let mut head = Vec::new();
        head.extend(20_u16.to_le_bytes());
        head.extend([0; 8]);
        head.extend(crc(content).to_le_bytes());
        head.extend(size.to_le_bytes());
        head.extend(size.to_le_bytes());
        head.extend(name_size.to_le_bytes());
        head.extend(0_u16.to_le_bytes());
        body.extend(b"PK\x03\x04");
        body.extend(&head);
        body.extend(name.as_bytes());
        body.extend(*content);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&head);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (count, start) = (u16::try_from(files.len()).unwrap(), u32::try_from(body.len()).unwrap());
    let size = u32::try_from(directory.len()).unwrap();
    body.extend(directory);
    body.extend(b"PK\x05\x06\0\0\0\0");
    body.extend(count.to_le_bytes());
    body.extend(count.to_le_bytes());
    body.extend(size.to_le_bytes());
    body.extend(start.to_le_bytes());
    body.extend(0_u16.to_le_bytes());
    body
}

/// The checksum of ZIP archives (CRC-32, reflected).
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        let mixed = crc ^ u32::from(*byte);
        (0..8).fold(mixed, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// Returns gzip data in one block without compression (RFC 1952, RFC 1951).
fn gz(content: &str) -> Vec<u8> {
    let len = u16::try_from(content.len()).unwrap();
    let mut bytes = vec![0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    bytes.extend(len.to_le_bytes());
    bytes.extend((!len).to_le_bytes());
    bytes.extend(content.as_bytes());
    bytes.extend(crc(content.as_bytes()).to_le_bytes());
    bytes.extend(u32::from(len).to_le_bytes());
    bytes
}

const MAIL: &str = "From: ada@example.org\nSubject: Gauge report\nMIME-Version: 1.0\n\
    Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\n\
    Please read the orchard table.\n--x\nContent-Type: text/csv; name=tide.csv\n\
    Content-Disposition: attachment; filename=tide.csv\n\nstation,level\nharbour,3\n--x--\n";

fn message(id: &str, subject: &str, text: &str) -> String {
    format!(
        "From ada Mon Feb 26 10:30:00 2024\nMessage-ID: <{id}>\nSubject: {subject}\n\n{text}\n\n"
    )
}

/// A home with an archive, an e-mail and a mailbox in `docs`.
fn added() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "docs/papers.zip",
        zip(&[
            ("deep/a.md", b"# Alpha\n\nharbour pump\n"),
            ("b.txt", b"tide gauge\n"),
            (".hidden.md", b"secret"),
            ("data.bin", b"\0\x01\x02"),
            ("inner.zip", b"PK\x03\x04"),
            ("bad.pdf", b"no pdf"),
            ("../up.md", b"out"),
        ]),
    );
    env.write("docs/mail.eml", MAIL);
    let messages = [message("a@x", "Lamp", "lamp broken"), message("b@x", "Ferry", "ferry late")];
    env.write("docs/box.mbox", messages.concat());
    env.ok(&["add", "docs", "--tags", "kept"]);
    env
}

/// Returns id, name of the file, name in it, and title of every document, by file and name.
fn listed(env: &TestEnv) -> Vec<(i64, String, String, String)> {
    let all = env.json(&["list", "--format", "json"]);
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let mut found: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|document| {
            let file = text(&document["path"]).rsplit('/').next().unwrap().to_owned();
            (
                document["id"].as_i64().unwrap(),
                file,
                text(&document["member"]),
                text(&document["title"]),
            )
        })
        .collect();
    found.sort_by(|a, b| (&a.1, &a.2).cmp(&(&b.1, &b.2)));
    found
}

fn names(env: &TestEnv) -> Vec<String> {
    listed(env)
        .into_iter()
        .map(|(_, file, member, title)| format!("{file} {member} {title}"))
        .collect()
}

#[test]
fn each_file_in_a_container_is_a_document() {
    let env = added();
    assert_eq!(
        names(&env),
        [
            "box.mbox a@x.eml Lamp",
            "box.mbox b@x.eml Ferry",
            "mail.eml - Gauge report",
            "mail.eml tide.csv tide",
            "papers.zip b.txt b",
            "papers.zip deep/a.md Alpha",
        ]
    );
    let answer = env.json(&["search", "harbour pump", "--top", "1"]);
    let source = &answer["results"][0]["source"];
    assert!(source["path"].as_str().unwrap().ends_with("docs/papers.zip"), "{source}");
    assert_eq!(source["member"], "deep/a.md");
    let document = env.json(&["info", "docs/papers.zip//deep/a.md", "--format", "json"]);
    assert_eq!(document["metadata"]["member"], "deep/a.md");
    assert_eq!(document["tags"], serde_json::json!(["kept"]));
    let paths = env.ok(&["search", "harbour pump", "--top", "1", "--format", "paths"]).stdout;
    assert!(paths.trim_end().ends_with("docs/papers.zip"), "{paths}");
    check_database(&env);
}

#[test]
fn what_is_left_out_or_cannot_be_read_is_listed() {
    let env = added();
    let files = env.ok(&["files", "docs/papers.zip", "--format", "human"]).stdout;
    for (name, word) in [
        (".hidden.md", "hidden"),
        ("data.bin", "type"),
        ("inner.zip", "type"),
        ("bad.pdf", "content does not match"),
        ("__/up.md", "points outside the archive"),
    ] {
        let line = files.lines().find(|line| line.contains(&format!("papers.zip//{name}")));
        assert!(line.is_some_and(|line| line.contains(word)), "{name}: {files}");
    }
    // The container itself is not a document, and is not reported.
    assert!(!files.lines().any(|line| line.contains("papers.zip ")), "{files}");
    let dry = env.ok(&["add", "docs", "--dry-run"]);
    assert!(dry.stdout.contains("3 unchanged, 0 ignored"), "{}", dry.text());
    // Failures are reported once.
    let again = env.ok(&["add", "docs"]);
    assert!(again.stderr.contains("Added 0 documents. 0 failed. 6 skipped"), "{}", again.text());
    assert!(!again.stderr.contains("bad.pdf"), "{}", again.text());
    // Every command counts them, as `kb files` lists them.
    let listed = env.json(&["files", "--failed", "--format=json"])["counts"]["failed"].clone();
    let count = |args: &[&str], key: &str| env.json(args)[key].clone();
    assert_eq!(count(&["add", "docs", "--format=json"], "known_failed"), listed);
    assert_eq!(count(&["update", "--format=json"], "known_failed"), listed);
    assert_eq!(count(&["update", "--dry-run", "--format=json"], "known_failed"), listed);
    assert!(listed.as_u64() > Some(1), "{listed}");
}

#[test]
fn files_in_a_changed_container_are_compared_by_their_content() {
    let env = added();
    let before = listed(&env);
    env.ok(&["tag", "docs/papers.zip//b.txt", "--add", "own"]);
    env.write(
        "docs/papers.zip",
        zip(&[
            ("moved/a.md", b"# Alpha\n\nharbour pump\n"),
            ("b.txt", b"tide gauge\n"),
            ("c.md", b"# New\n\nsalt\n"),
        ]),
    );
    let stale = env.json(&["search", "tide gauge", "--top", "1"]);
    assert_eq!(stale["results"][0]["source"]["stale"], "changed");
    env.write(
        "docs/box.mbox",
        [message("c@x", "Storm", "storm"), message("a@x", "Lamp", "lamp broken")].concat(),
    );
    env.ok(&["update"]);
    let after = listed(&env);
    assert_eq!(
        names(&env),
        [
            "box.mbox a@x.eml Lamp",
            "box.mbox c@x.eml Storm",
            "mail.eml - Gauge report",
            "mail.eml tide.csv tide",
            "papers.zip b.txt b",
            "papers.zip c.md New",
            "papers.zip moved/a.md Alpha",
        ]
    );
    let id = |all: &[(i64, String, String, String)], title: &str| {
        all.iter().find(|document| document.3 == title).unwrap().0
    };
    for title in ["Alpha", "b", "Lamp"] {
        assert_eq!(id(&before, title), id(&after, title), "{title}");
    }
    let tags = env.json(&["info", "docs/papers.zip//b.txt", "--format", "json"])["tags"].clone();
    assert_eq!(tags, serde_json::json!(["kept", "own"]));
    check_database(&env);
}

#[test]
fn the_file_in_a_container_is_opened_and_removed() {
    let env = added();
    let opened = env.ok(&["open", "docs/papers.zip//deep/a.md"]);
    assert_eq!((opened.stdout.as_str(), opened.stderr.as_str()), ("# Alpha\n\nharbour pump\n", ""));
    let opened = env.ok(&["open", "docs/mail.eml//tide.csv"]);
    assert!(opened.stdout.starts_with("station,level"), "{}", opened.text());
    env.ok(&["remove", "docs/papers.zip//b.txt", "--yes"]);
    assert_eq!(names(&env).len(), 5);
    env.kb(&["remove", "docs/papers.zip//deep/a.md", "--ignore", "--yes"]).expect(1);
    env.ok(&["remove", "docs/box.mbox", "--yes"]);
    assert_eq!(names(&env).len(), 3);
}

#[test]
fn what_was_removed_of_a_container_comes_back() {
    let env = added();
    let all = names(&env);
    for (removed, notice) in [
        ("docs/papers.zip//b.txt", "will add 1 document again"),
        ("docs/papers.zip", "will add 2 documents again"),
        ("docs/box.mbox", "will add 2 documents again"),
    ] {
        let output = env.ok(&["remove", removed, "--yes"]);
        assert!(output.stderr.contains(notice), "{}", output.text());
        assert_ne!(names(&env), all);
        env.ok(&["update"]);
        assert_eq!(names(&env), all, "{removed}");
    }
    // The stamp of the e-mail, which is still a document, says that it was read.
    let output = env.ok(&["remove", "docs/mail.eml//tide.csv", "--yes"]);
    assert!(!output.stderr.contains("again"), "{}", output.text());
    env.ok(&["update"]);
    assert_eq!(names(&env).len(), all.len() - 1);
    env.ok(&["add", "docs/mail.eml"]);
    assert_eq!(names(&env), all);
    check_database(&env);
}

#[test]
fn two_separators_in_the_path_of_a_file_are_one() {
    let env = TestEnv::new();
    env.write("docs/plain.md", "# Plain\n\nharbour\n");
    env.ok(&["add", "docs"]);
    assert_eq!(env.ok(&["open", "docs//plain.md"]).stdout, "# Plain\n\nharbour\n");
    env.ok(&["remove", "docs//plain.md", "--yes"]);
    assert!(names(&env).is_empty());
}

#[test]
fn a_missing_container_takes_its_files_along() {
    let env = added();
    fs::remove_file(env.path("docs/papers.zip")).unwrap();
    let update = env.ok(&["update"]).stdout;
    assert!(update.contains("2 missing"), "{update}");
    assert_eq!(names(&env).len(), 6);
    env.ok(&["update", "--prune", "--force"]);
    assert_eq!(names(&env).len(), 4);
    // A container that was moved keeps the ids of what is in it.
    let before = listed(&env);
    fs::rename(env.path("docs/box.mbox"), env.path("docs/letters.mbox")).unwrap();
    env.ok(&["update"]);
    let after = listed(&env);
    assert_eq!((before.len(), after.len()), (4, 4));
    assert_eq!(after[0].1, "letters.mbox");
    assert_eq!((before[0].0, &before[0].3), (after[0].0, &after[0].3));
}

#[test]
fn a_container_that_cannot_be_unpacked_fails_as_a_whole() {
    let env = TestEnv::new();
    env.write("docs/cut.zip", &zip(&[("a.md", b"# Alpha\n\nharbour\n")])[..40]);
    env.write("docs/good.md", "# Good\n\ntide\n");
    let output = env.ok(&["add", "docs"]);
    assert!(output.stderr.contains("cut.zip: it is damaged"), "{}", output.text());
    assert_eq!(names(&env), ["good.md - Good"]);
    let error = env.kb(&["add", "docs/cut.zip", "--format", "json"]).expect(1);
    assert_eq!(error.json_error()["code"], "damaged");
}

#[test]
fn files_in_containers_are_exported_and_imported_with_their_names() {
    let (env, other) = (added(), TestEnv::new());
    env.ok(&["export", "all.jsonl", "--vectors"]);
    fs::copy(env.path("all.jsonl"), other.path("all.jsonl")).unwrap();
    other.ok(&["import", "all.jsonl", "--trust-paths"]);
    assert_eq!(names(&other), names(&env));
    let without = TestEnv::new();
    fs::copy(env.path("all.jsonl"), without.path("all.jsonl")).unwrap();
    without.ok(&["import", "all.jsonl"]);
    assert_eq!(names(&without).len(), 6);
}

#[test]
fn a_run_killed_in_a_container_reads_it_again() {
    let env = TestEnv::new();
    let texts: Vec<(String, String)> = (0..60)
        .map(|number| {
            (
                format!("{number}.md"),
                format!("# Note {number}\n\n{}\n", "harbour tide salt ".repeat(200)),
            )
        })
        .collect();
    let files: Vec<(&str, &[u8])> =
        texts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    env.write("docs/many.zip", zip(&files));
    for wait in [150, 300, 600] {
        let mut command = env.command(&["add", "docs"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    env.ok(&["add", "docs"]);
    assert_eq!(listed(&env).len(), 60);
    check_database(&env);
}

#[test]
fn compressed_files_are_read_as_what_they_contain() {
    let env = TestEnv::new();
    let page = ".TH TIDE 1\n.SH NAME\ntide \\- shows the gauge\n";
    env.write("docs/tide.1.gz", gz(page));
    env.write("docs/notes.md.gz", gz("# Alpha\n\nharbour pump\n"));
    env.write("docs/changelog.Debian.gz", gz("tide (1.0) stable\n"));
    env.write("docs/run.py.gz", gz("def flood():\n    return 1\n"));
    env.write("docs/cut.txt.gz", &gz("lamp broken\n")[..20]);
    env.write("docs/all.tar.gz", gz("a tar archive"));
    env.write("docs/plain.txt.gz", "not compressed at all\n");
    env.write("docs/complete", "# completion -*- shell-script -*-\nflood() { :; }\n");
    let dry = env.ok(&["add", "docs", "--dry-run"]);
    assert!(dry.stdout.contains("6 new"), "{}", dry.text());
    let output = env.ok(&["add", "docs"]);
    assert!(output.stderr.contains("cut.txt.gz: it is damaged"), "{}", output.text());
    assert_eq!(
        names(&env),
        [
            "changelog.Debian.gz - changelog",
            "complete - complete",
            "notes.md.gz - Alpha",
            "plain.txt.gz - plain",
            "run.py.gz - run",
            "tide.1.gz - TIDE(1)",
        ]
    );
    let info = |file: &str| env.json(&["info", file, "--format", "json"]);
    assert_eq!(info("docs/tide.1.gz")["metadata"]["format"], "man");
    assert_eq!(info("docs/run.py.gz")["language"], "python");
    assert_eq!(info("docs/complete")["language"], "bash");
    let answer = env.json(&["search", "shows the gauge", "--top", "1"]);
    let path = answer["results"][0]["source"]["path"].as_str().unwrap();
    assert!(path.ends_with("docs/tide.1.gz"), "{path}");
    assert_eq!(env.ok(&["open", "docs/tide.1.gz"]).stdout, page);
    assert_eq!(env.ok(&["convert", "docs/notes.md.gz"]).stdout, "# Alpha\n\nharbour pump\n");
    // The bytes of the file are compared, not those in it.
    let again = env.ok(&["add", "docs"]);
    assert!(again.stderr.contains("Added 0 documents. 0 failed. 6 skipped"), "{}", again.text());
    env.ok(&["edit", "docs/notes.md.gz", "--title", "Pumps"]);
    assert_eq!(
        env.json(&["search", "harbour", "--top", "1"])["results"][0]["source"]["title"],
        "Pumps"
    );
    check_database(&env);
}
