//! Checks that the program prints what the table of bad inputs in docs/reliability.md says.

use std::fs;
use std::io::Write;
use std::path::Path;

use rusqlite::Connection;

use crate::env::TestEnv;
use crate::word_model::word_env;

const BEGIN: &str = "<!-- table: bad input -->\n";
const END: &str = "<!-- end of bad input -->\n";

/// Rows of the table about files that only Unix has.
const UNIX_ROWS: [&str; 3] = ["a FIFO", "a device", "an endless export"];

/// If this variable is set, the test writes the page instead of comparing it.
const WRITE: &str = "KB_WRITE_TABLES";

#[test]
fn the_page_shows_what_kb_prints_for_bad_input() {
    let page_path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reliability.md");
    let page = fs::read_to_string(&page_path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    let made = made_table();
    #[expect(clippy::disallowed_methods, reason = "whether to write is for the user of the test")]
    if std::env::var_os(WRITE).is_some() {
        fs::write(page_path, [before, BEGIN, &made, END, after].concat()).unwrap();
        return;
    }
    let is_of_unix =
        |line: &str| UNIX_ROWS.iter().any(|row| line.starts_with(&format!("| {row} |")));
    let table: String =
        table.lines().filter(|line| cfg!(unix) || !is_of_unix(line)).map(with_line_end).collect();
    assert!(table == made, "{WRITE}=1 writes the page; this is what it should say:\n{made}");
}

fn made_table() -> String {
    let mut table =
        "| input | command | what `kb` prints | status |\n| --- | --- | --- | --: |\n".to_owned();
    let mut add = |what: &str, env: &TestEnv, args: &[&str]| {
        if cfg!(not(unix)) && UNIX_ROWS.contains(&what) {
            return;
        }
        let output = env.kb(args);
        let text = output.text();
        let printed = text.split_once("--- stderr\n").map_or(text.as_str(), |parts| parts.1);
        let (printed, status) = printed.rsplit_once("--- status ").unwrap_or((printed, "0"));
        let lines: Vec<String> = printed.lines().map(code).collect();
        let (typed, printed) = (args.join(" "), lines.join("<br>"));
        table += &format!("| {what} | `kb {typed}` | {printed} | {} |\n", status.trim());
    };
    let env = word_env();
    write_inputs(&env);
    for (what, name) in [
        ("no such file", "nowhere.md"),
        ("an empty file", "empty.md"),
        ("binary data in a file named as text", "binary.md"),
        ("text in a file named as a PDF", "text.pdf"),
        ("a PDF with a password", "password.pdf"),
        ("a PDF without pages", "no-pages.pdf"),
        ("a text of an unknown type", "data.xyz"),
        ("other data of an unknown type", "data.qqq"),
        ("a FIFO", "fifo.md"),
        ("a device", "/dev/zero"),
        ("a file of 5 GB", "huge.md"),
        ("600 MB in a DOCX of 1 MB", "bomb.docx"),
        ("a presentation without slides", "empty.pptx"),
        ("an encrypted spreadsheet", "locked.xlsx"),
        ("an encrypted OpenDocument text", "locked.odt"),
        ("a text named as RTF", "text.rtf"),
        ("XML named as a book", "other.fb2"),
        ("a message without a web page", "mail.mhtml"),
        ("an e-mail without its fields", "words.eml"),
        ("a mailbox without messages", "words.mbox"),
        ("a text named as an archive", "words.zip"),
        ("an archive with a password", "locked.zip"),
        ("an archive with a bad file and a good one", "mixed.zip"),
    ] {
        add(what, &env, &["add", name]);
    }
    add("a damaged PDF to convert", &env, &["convert", "no-pages.pdf"]);
    add("several files to convert without a folder for them", &env, &["convert", "a.md", "b.md"]);
    add(
        "a page that a document does not have",
        &env,
        &["convert", "docs/tides.md", "--pages", "2"],
    );
    add("a folder with two such files and a good one", &env, &["add", "folder"]);
    add(
        "a query of quotes and operators",
        &env,
        &["search", "--format=human", "--fts-only", "\"(* -)"],
    );
    add("an unknown document", &env, &["info", "999"]);
    add("an unknown option", &env, &["search", "x", "--format=human", "--topp", "3"]);
    add("a number out of range", &env, &["search", "x", "--format=human", "--top", "0"]);
    add(
        "a number far out of range",
        &env,
        &["search", "x", "--format=human", "--top", "4294967296"],
    );
    add("no query", &env, &["search", "--format=human"]);
    env.write(".cursor/mcp.json", "{\n  mcpServers: {}\n}\n");
    let install = ["mcp", "install", "--yes", "--client"];
    add("broken settings of a program", &env, &[&install[..], &["cursor"]].concat());
    add("an unknown program of agents", &env, &[&install[..], &["emacs"]].concat());
    add("lines that are not from an export", &env, &["import", "bad.jsonl"]);
    add("an endless export", &env, &["import", "/dev/zero"]);
    let unbound = ["--data-dir", "new", "import", "model.jsonl"];
    add("an export that names an unknown model", &env, &unbound);
    env.write(".kb/config.yaml", "search:\n  default_top: many\n");
    add("a setting of the wrong type", &env, &["list"]);
    env.write(".kb/config.yaml", "ingestion:\n  workers: 1000000000\n");
    add("a setting out of range", &env, &["list"]);
    env.write(".kb/config.yaml", format!("a: {}", "[".repeat(60_000)));
    add("endlessly nested settings", &env, &["list"]);
    fs::remove_file(env.path(".kb/config.yaml")).unwrap();

    let good = fs::read(env.database()).unwrap();
    fs::write(env.database(), &good[..good.len() / 2]).unwrap();
    add("a truncated database", &env, &["list"]);
    fs::write(env.database(), "").unwrap();
    let theirs = Connection::open(env.database()).unwrap();
    theirs.execute_batch("CREATE TABLE theirs (id)").unwrap();
    drop(theirs);
    add("another program's database", &env, &["list"]);
    fs::write(env.database(), &good).unwrap();
    let newer = Connection::open(env.database()).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    add("a newer kb's database", &env, &["list"]);
    let locked = word_env();
    locked.write("docs/new.md", "# New\n\nstorm anchor\n");
    let db = Connection::open(locked.database()).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    add("a database that another process has locked", &locked, &["add", "docs/new.md"]);
    db.execute_batch("ROLLBACK").unwrap();
    drop(db);
    fs::remove_dir_all(locked.path("docs")).unwrap();
    add("a missing folder", &locked, &["update", "--prune", "--format=human"]);
    table
}

fn with_line_end(line: &str) -> String {
    format!("{line}\n")
}

/// Formats printed text as code in a table cell, without the long list of formats.
fn code(line: &str) -> String {
    let mut line = line.replace("[HOME]/", "").replace('|', "\\|");
    if let (Some(start), Some(end)) = (line.find(".pdf .docx"), line.find("; `--type`")) {
        line.replace_range(start..end, "…");
    }
    if line.contains('`') { format!("`` {line} ``") } else { format!("`{line}`") }
}

fn write_inputs(env: &TestEnv) {
    let broken = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/broken");
    for name in ["password.pdf", "no-pages.pdf"] {
        env.write(name, fs::read(broken.join(name)).unwrap());
    }
    let head = r#"{"kb_export":1,"binding":null,"roots":[]}"#;
    let bad = r#"{"id":1,"title":"x","path":"/etc/passwd","owner":"root"}"#;
    env.write("bad.jsonl", format!("{head}\nwords\n{bad}\n"));
    let binding = r#"{"model_name":"attacker/beacon","embedding_dim":32,"max_tokens":128,"precision":"int8","passage_prefix":""}"#;
    env.write("model.jsonl", head.replace("null", binding));
    let binary = [0_u8, 159, 146, 150, 0, 1].repeat(40);
    env.write("empty.md", "");
    env.write("binary.md", &binary);
    env.write("text.pdf", "hello");
    env.write("data.xyz", "hello");
    env.write("data.qqq", &binary);
    env.write("empty.pptx", archive(&[("ppt/presentation.xml", "<p:presentation/>")]));
    env.write("locked.xlsx", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".repeat(64));
    let manifest = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>";
    env.write("locked.odt", archive(&[("META-INF/manifest.xml", manifest), ("content.xml", "x")]));
    env.write("text.rtf", "hello");
    env.write("other.fb2", "<?xml version=\"1.0\"?><feed/>");
    env.write("words.eml", "words\n");
    env.write("words.mbox", "words\n");
    env.write("words.zip", "words\n");
    env.write("locked.zip", encrypted(archive(&[("secret.md", "# Storm\n")])));
    let mixed = archive(&[("bad.pdf", "hello"), ("good.md", "# Gauge\n\nharbour level\n")]);
    env.write("mixed.zip", mixed);
    env.write("mail.mhtml", "MIME-Version: 1.0\nContent-Type: text/plain\n\nhello\n");
    env.write("folder/empty.md", "");
    env.write("folder/binary.md", &binary);
    env.write("folder/good.md", "# Storm\n\nanchor\n");
    #[cfg(unix)]
    {
        let made = std::process::Command::new("mkfifo").arg(env.path("fifo.md")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    }
    let huge = env.write("huge.md", "x");
    fs::File::options().write(true).open(&huge).unwrap().set_len(5 << 30).unwrap();
    let mut zip = zip::ZipWriter::new(fs::File::create(env.path("bomb.docx")).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("[Content_Types].xml", options).unwrap();
    zip.write_all(b"<Types/>").unwrap();
    zip.start_file("word/document.xml", options).unwrap();
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..600 {
        zip.write_all(&blanks).unwrap();
    }
    zip.finish().unwrap();
}

/// Marks the only entry of a ZIP archive as encrypted, in both of its headers.
fn encrypted(mut archive: Vec<u8>) -> Vec<u8> {
    let central = archive.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    archive[6] |= 1;
    archive[central + 8] |= 1;
    archive
}

/// Returns a ZIP archive of these entries.
pub(crate) fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, text) in entries {
        zip.start_file(*name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
