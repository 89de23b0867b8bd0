//! Who may import whom, and which library lives where. Changing a table here is a decision about the
//! architecture; the picture is in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each module of the crate and the modules of the crate it may name; itself always.
const LAYERS: &[(&str, &[&str])] = &[
    ("diagnostic", &[]),
    ("document", &["text"]),
    ("error", &["diagnostic"]),
    ("hash", &[]),
    ("limits", &[]),
    ("files", &["error"]),
    ("text", &[]),
    ("trace", &[]),
    ("chunk", &["document"]),
    ("embed", &["document", "error", "files", "hash", "text", "trace"]),
    // Of files, only how Tesseract begins: whether it is a script.
    ("extract", &["document", "error", "files", "limits", "text"]),
    ("store", &["document", "error", "files", "text"]),
    (
        "ingest",
        &[
            "chunk", "document", "embed", "error", "extract", "files", "hash", "limits", "store",
            "text", "trace",
        ],
    ),
    ("remote", &["document", "error", "files", "search", "store", "text"]),
    ("search", &["chunk", "document", "embed", "error", "limits", "store", "text", "trace"]),
    ("eval", &["document", "error", "files", "search", "store"]),
    ("skill", &["diagnostic", "error", "extract", "files", "hash", "store", "text"]),
    ("read", &["chunk", "document", "error", "files", "ingest", "store", "text"]),
    (
        "mcp",
        &[
            "app",
            "diagnostic",
            "error",
            "files",
            "ingest",
            "limits",
            "present",
            "read",
            "requests",
            "skill",
            "text",
        ],
    ),
    ("requests", &["app", "document", "error", "limits", "read", "search"]),
    ("transfer", &["document", "error", "files", "limits", "store", "text"]),
    (
        "fuzzing",
        &["chunk", "config", "document", "extract", "files", "ingest", "search", "skill", "text"],
    ),
    (
        "present",
        &[
            "app",
            "diagnostic",
            "document",
            "embed",
            "error",
            "eval",
            "ingest",
            "read",
            "search",
            "skill",
            "store",
            "text",
            "transfer",
        ],
    ),
    ("config", &["error", "files", "limits"]),
    (
        "app",
        &[
            "chunk",
            "config",
            "diagnostic",
            "document",
            "embed",
            "error",
            "eval",
            "extract",
            "files",
            "ingest",
            "limits",
            "read",
            "remote",
            "search",
            "skill",
            "store",
            "text",
            "trace",
            "transfer",
        ],
    ),
    (
        // It parses, calls `app` and presents; of the stages it names only what it cannot do without.
        "cli",
        &[
            "app",
            "config",
            "diagnostic",
            "document",
            // Progress: what is fetched.
            "embed",
            "error",
            // The entry point of the child process that reads hostile formats.
            "extract",
            // What users name on the command line: a log, a batch of queries, pages of manuals and schemas.
            "files",
            // Progress: what is ingested; and the report of `kb add`.
            "ingest",
            "limits",
            "present",
            // The lines of `kb search --batch`.
            "requests",
            // The table of skill commands, of which arguments are made.
            "skill",
            "text",
            "trace",
        ],
    ),
];

/// Where in `src/` a library may be named; a name without `.rs` is a folder. Libraries that are a
/// notation rather than a service (serde, hashes, errors) may be in several places.
const HOMES: &[(&str, &[&str])] = &[
    (
        "base64",
        &["extract", "mcp/protocol/server.rs", "present/json/skill", "present/terminal/sheet.rs"],
    ),
    ("bytemuck", &["embed/single/lanes", "embed/single/weights.rs"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli/complete.rs"]),
    ("clap_mangen", &["cli/man.rs"]),
    ("console", &["cli"]),
    ("crossterm", &["cli/find"]),
    ("csv_core", &["extract/markup/csv.rs"]),
    ("ego_tree", &["extract/reader/html"]),
    ("encoding_rs", &["text/decode.rs"]),
    ("figment", &["config"]),
    ("globset", &["skill/sources.rs"]),
    ("grep_matcher", &["read/grep/pattern.rs"]),
    ("grep_regex", &["read/grep/pattern.rs"]),
    ("hayro", &["extract/reader/pdf/with_hayro"]),
    ("hf_hub", &["embed/fetch/hub.rs"]),
    ("ignore", &["ingest/walk/rules.rs"]),
    ("image", &["extract/reader/pdf/with_image.rs"]),
    ("indicatif", &["cli"]),
    (
        "jiff",
        &[
            "app/error_log.rs",
            "app/skills.rs",
            "app/transfer.rs",
            "app/values.rs",
            "extract/markdown/front_matter.rs",
            "skill/stats.rs",
        ],
    ),
    ("landlock", &["extract/sandbox/confine"]),
    // Of these, only the numbers of system calls and signals are used.
    ("libc", &["extract/sandbox/confine/seccomp.rs", "extract/reader/misbehaving.rs"]),
    ("memchr", &["chunk/join.rs", "store/life/erase/tests.rs"]),
    ("notify", &["files/watch.rs"]),
    ("mail_parser", &["extract/reader/mail.rs", "extract/reader/members.rs"]),
    ("ndarray", &["embed/single/native"]),
    ("ort", &["embed"]),
    ("pdf_extract", &["extract/reader/pdf/with_pdf_extract.rs"]),
    (
        "percent_encoding",
        &[
            "extract/reader/epub.rs",
            "mcp/host.rs",
            "mcp/skill_resources.rs",
            "present/terminal/link.rs",
            "remote/target.rs",
        ],
    ),
    ("tokio_postgres", &["remote"]),
    ("tokio_rustls", &["remote/tls.rs"]),
    ("rustls", &["remote/tls.rs"]),
    ("rustls_native_certs", &["remote/tls.rs"]),
    ("futures_util", &["remote/push.rs"]),
    ("pulldown_cmark", &["extract/markdown", "text/headings.rs"]),
    ("pulp", &["embed/single/lanes"]),
    ("quick_xml", &["extract/reader/xml.rs"]),
    ("ratatui_core", &["cli/find/draw.rs", "cli/find/screen.rs"]),
    (
        "rayon",
        &[
            "app/convert",
            "app/embed.rs",
            "app/reindex.rs",
            "app/transfer.rs",
            "embed/single/native/linear.rs",
            "extract/reader/serve.rs",
            "ingest/pipeline",
        ],
    ),
    ("rmcp", &["mcp/protocol"]),
    ("rusqlite", &["store"]),
    (
        "rustix",
        &[
            "app/doctor",
            "app/search/program.rs",
            "cli/find/keyboard.rs",
            "extract/clock.rs",
            "extract/reader/misbehaving.rs",
            "extract/sandbox",
            "files",
        ],
    ),
    ("safetensors", &["embed/single/weights.rs"]),
    ("scraper", &["extract/reader/html"]),
    // With serde: results carry their JSON, and the schemas describe it.
    (
        "schemars",
        &[
            "app",
            "config/values.rs",
            "document.rs",
            "embed/upkeep",
            "eval",
            "extract/sandbox",
            "ingest",
            "mcp/schemas.rs",
            "mcp/tools.rs",
            "present",
            "read",
            "requests",
            "search",
            "skill",
            "store",
            "text/fields.rs",
            "transfer",
        ],
    ),
    (
        "serde",
        &[
            "app",
            "config",
            "document.rs",
            "embed",
            "eval",
            "extract",
            "ingest",
            "mcp/tools.rs",
            "present/json",
            "read",
            "requests",
            "search",
            "skill",
            "store",
            "text/fields.rs",
            "text/json.rs",
            "transfer",
        ],
    ),
    (
        "serde_json",
        &[
            "app/clients",
            "app/search/rerank.rs",
            "cli/batch.rs",
            "embed",
            "eval/beir.rs",
            "extract/protocol.rs",
            "extract/notebook.rs",
            // linked data of a page
            "extract/reader/html/head.rs",
            "mcp",
            "present/schema",
            "requests",
            "skill",
            "store/db/columns.rs",
            "store/documents/rows.rs",
            "text/json.rs",
            "transfer",
        ],
    ),
    (
        "yaml_serde",
        &[
            "app/edit/page.rs",
            "config",
            "extract/markdown/front_matter.rs",
            "skill/front_matter.rs",
        ],
    ),
    (
        "sha2",
        &[
            "embed",
            "hash.rs",
            "remote/tls.rs",
            "skill",
            "store/documents/chunks.rs",
            "store/documents/mirror.rs",
            "store/vectors/sums.rs",
        ],
    ),
    ("snowball_stemmers_rs", &["text/language.rs"]),
    ("sqlite_vec", &["store/db/connection.rs"]),
    ("seccompiler", &["extract/sandbox/confine/seccomp.rs"]),
    ("signal_hook", &["cli/interrupt.rs", "extract/reader/misbehaving.rs"]),
    ("strsim", &["config/faults.rs"]),
    ("thiserror", &["error.rs"]),
    ("tokenizers", &["embed/tokenize/mod.rs"]),
    ("tokio", &["mcp/protocol", "remote"]),
    ("jsonc_parser", &["app/clients/in_json.rs"]),
    ("toml_edit", &["app/clients/in_toml.rs"]),
    ("toml", &["config/skillc.rs", "embed/registry.rs", "extract/markdown/front_matter.rs"]),
    ("tree_sitter", &["extract/reader/code"]),
    ("tree_sitter_bash", &["extract/reader/code"]),
    ("tree_sitter_c", &["extract/reader/code"]),
    ("tree_sitter_c_sharp", &["extract/reader/code"]),
    ("tree_sitter_cpp", &["extract/reader/code"]),
    ("tree_sitter_css", &["extract/reader/code"]),
    ("tree_sitter_go", &["extract/reader/code"]),
    ("tree_sitter_hcl", &["extract/reader/code"]),
    ("tree_sitter_java", &["extract/reader/code"]),
    ("tree_sitter_javascript", &["extract/reader/code"]),
    ("tree_sitter_lua", &["extract/reader/code"]),
    ("tree_sitter_php", &["extract/reader/code"]),
    ("tree_sitter_python", &["extract/reader/code"]),
    ("tree_sitter_ruby", &["extract/reader/code"]),
    ("tree_sitter_rust", &["extract/reader/code"]),
    ("tree_sitter_typescript", &["extract/reader/code"]),
    ("unicode_categories", &["embed/tokenize/wordpiece/clean.rs", "search/parse.rs"]),
    ("unicode_normalization", &["extract", "search/matches.rs", "text/language.rs"]),
    ("unicode_normalization_alignments", &["embed/tokenize/wordpiece/clean.rs"]),
    ("unicode_segmentation", &["present/terminal/columns.rs"]),
    ("unicode_width", &["present/terminal/columns.rs", "search/matches.rs"]),
    ("unpdf", &["extract/reader/pdf/with_unpdf.rs"]),
    ("whatlang", &["text/language.rs"]),
    ("zip", &["embed/fetch/python.rs", "extract/reader/members.rs", "extract/reader/parts.rs"]),
];

/// What may be named in certain places only, and why.
const RULES: &[(&str, &[&str], &str)] = &[
    ("SELECT ", &["store", "remote"], "SQL is the store's, and the copy's"),
    ("INSERT ", &["store", "remote"], "SQL is the store's, and the copy's"),
    (
        "Command::new",
        // clap calls what can be typed a command, too.
        &[
            "app/search/program.rs",
            "cli/args/commands.rs",
            "cli/args/skill.rs",
            "cli/launch.rs",
            "cli/pager.rs",
            "embed/fetch/python.rs",
            // What the box refuses.
            "extract/reader/misbehaving.rs",
            "extract/sandbox/confine/mod.rs",
            "extract/sandbox/process.rs",
        ],
        "what is started is known",
    ),
    (
        "unsafe {",
        &["store/db/connection.rs", "main.rs"],
        "the audited exceptions register sqlite-vec and silence ONNX Runtime",
    ),
    ("println!", &[], "only cli/streams.rs prints, and what it prints is clean"),
    ("print!", &[], "only cli/streams.rs prints, and what it prints is clean"),
    (
        "stdout()",
        // The child process of extraction writes to a pipe that kb reads.
        &["cli/streams.rs", "extract/reader/serve.rs"],
        "what reaches a terminal is JSON, a sheet, or cleaned there",
    ),
    ("stderr()", &["cli/streams.rs"], "what reaches a terminal is JSON, a sheet, or cleaned there"),
    ("/dev/tty", &[], "what reaches a terminal goes through cli/streams.rs"),
    (
        "serde_json::to_",
        // Not printed: a column of the database, the pipe of the child process, a cache, a value.
        &[
            "store/db/columns.rs",
            "store/documents/rows.rs",
            "extract/protocol.rs",
            "embed",
            "text/json.rs",
        ],
        "text/json.rs escapes what no terminal may be given",
    ),
    (
        "Serializer",
        &["text/fields.rs", "text/json.rs"],
        "text/json.rs escapes what no terminal may be given",
    ),
    (
        "u{1b}",
        &["present/terminal/sheet.rs"],
        "escape sequences are made where texts are cleaned, and nowhere else",
    ),
    ("x1b", &["present/terminal/sheet.rs"], "escape sequences are made where texts are cleaned"),
    ("process::exit", &[], "only main ends the program, by returning"),
    (
        "low_level::exit",
        &["cli/interrupt.rs"],
        "only a server whose threads still compute ends at once",
    ),
    ("TcpListener", &[], "no server, no port"),
    ("UnixListener", &[], "no server, no port"),
    ("UdpSocket", &["extract/reader/misbehaving.rs"], "no server, no port"),
    (
        "TcpStream",
        &["extract/reader/misbehaving.rs", "remote/link.rs"],
        "the network is reached by `hf_hub`, by `pip`, and for the target of a push",
    ),
];

/// What opens files, makes them or takes them away; only `files/` may. Names in a folder may be read elsewhere.
const FILE_ACCESS: &[&str] = &[
    "std::fs",
    "fs::read",
    "fs::write",
    "fs::File",
    "fs::OpenOptions",
    "fs::create_dir",
    "fs::remove_",
    "fs::rename",
    "fs::copy",
    "fs::metadata",
    "fs::canonicalize",
    "File::open",
    "File::create",
    "File::options",
];

/// A source file without its comments and its tests.
struct Source {
    /// Below `src/`, with `/`.
    path: String,
    code: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(source(&root, &path));
            }
        }
    }
    assert!(found.len() > 50);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn source(root: &Path, path: &PathBuf) -> Source {
    let text = fs::read_to_string(path).unwrap();
    // Inline tests stand at the foot of a file.
    let code = text.split("\nmod tests {").next().unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let code: Vec<&str> = code.lines().filter(is_code).collect();
    let path = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
    Source { path, code: code.join("\n") }
}

impl Source {
    /// Returns the module of the crate's root this file belongs to.
    fn module(&self) -> &str {
        let first = self.path.split('/').next().unwrap();
        first.trim_end_matches(".rs")
    }

    fn is_in(&self, homes: &[&str]) -> bool {
        homes.iter().any(|home| self.path == *home || self.path.starts_with(&format!("{home}/")))
    }

    /// Whether it holds nothing but tests and what they need.
    fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.ends_with("/testing.rs")
    }

    /// Whether a path that begins with this text is named; `rustix::fs::…` is not `fs::…`.
    fn has_path(&self, text: &str) -> bool {
        self.code.match_indices(text).any(|(at, _)| {
            let before = self.code[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
        })
    }

    /// Whether a path begins with this name: `name::`, not `other_name::` or `a::name::`.
    fn names(&self, name: &str) -> bool {
        let needle = format!("{name}::");
        self.code.match_indices(&needle).any(|(at, _)| {
            let before = self.code[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
        }) || self.code.contains(&format!("use {name};"))
    }
}

#[test]
fn no_module_knows_what_its_layer_must_not() {
    let layers: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        let Some(allowed) = layers.get(source.module()) else {
            // `lib.rs` lists the modules, `main.rs` calls one function.
            assert!(
                ["lib.rs", "main.rs"].contains(&source.path.as_str()),
                "no layer: {}",
                source.path
            );
            continue;
        };
        for part in source.code.split("crate::").skip(1) {
            let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
            let named: String = part.chars().take_while(is_name).collect();
            if named != source.module() && !allowed.contains(&named.as_str()) {
                broken.push(format!("src/{} must not name crate::{named}", source.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_library_has_one_home() {
    let sources = sources();
    let mut broken = Vec::new();
    for (library, homes) in HOMES {
        let elsewhere =
            |source: &&Source| source.names(library) && !source.is_in(homes) && !source.is_test();
        for source in sources.iter().filter(elsewhere) {
            broken.push(format!(
                "src/{} must not name {library}: source lives in {homes:?}",
                source.path
            ));
        }
        for home in *homes {
            let is_used =
                sources.iter().any(|source| source.is_in(&[home]) && source.names(library));
            if !is_used {
                broken.push(format!("nothing in {home} names {library} any more"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_dependency_is_in_the_table_of_homes() {
    let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let mut declared: BTreeSet<String> = names(&manifest["dependencies"]);
    for target in manifest["target"].as_table().unwrap().values() {
        declared.extend(target.get("dependencies").map(names).unwrap_or_default());
    }
    let known: BTreeSet<String> = HOMES.iter().map(|(library, _)| (*library).to_owned()).collect();
    assert_eq!(declared, known);
}

fn names(dependencies: &toml::Value) -> BTreeSet<String> {
    dependencies.as_table().unwrap().keys().map(|name| name.replace('-', "_")).collect()
}

#[test]
fn what_is_allowed_in_few_places_is_nowhere_else() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test()) {
        for (text, homes, reason) in RULES {
            if source.code.contains(text) && !source.is_in(homes) {
                broken.push(format!("src/{} has `{text}`: {reason}", source.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Calls of one format's reader from outside of `extract`, and why.
const READERS_CALLED: &[(&str, &str)] = &[
    // A note typed as an argument is text and has no bytes to recognise.
    ("ingest/prepare.rs", "extract::text::extract_note"),
];

/// Who may name what is in `extract/reader/`, and why.
const READER_NAMED: &[(&str, &str)] = &[
    ("cli/mod.rs", "the entry point of the child: `kb __read`"),
    // Its bytes are a fuzzer's, and no database is open.
    ("fuzzing.rs", "fuzzing calls readers without a child"),
    ("fuzzing/growth/tests.rs", "and so do the tests of how work grows"),
];

/// Parsers of texts, which run in the child alone though they are outside of `extract/reader/`.
const PARSERS: [&str; 3] = ["data", "markup", "notebook"];

/// Returns the parsers that a file outside `extract/reader/` calls.
fn parsers_called(source: &Source) -> Vec<&'static str> {
    let is_called = |parser: &&'static str| {
        let own = format!("extract/{parser}");
        !source.is_in(&["extract/reader"])
            && !source.path.starts_with(&own)
            && source.code.contains(&format!("{parser}::extract"))
    };
    PARSERS.into_iter().filter(is_called).collect()
}

#[test]
fn nothing_but_the_child_parses_other_texts_than_markdown() {
    for source in sources().iter().filter(|source| !source.is_test()) {
        assert_eq!(parsers_called(source), [""; 0], "src/{}", source.path);
    }
    let code = "Format::Dialect(dialect) => markup::extract(text, dialect)".to_owned();
    assert_eq!(parsers_called(&Source { path: "extract/mod.rs".to_owned(), code }), ["markup"]);
}

/// Returns where a file outside `extract/reader/` names something in it: by its path, through a module above
/// it, or by importing all of `extract`.
fn breaks_the_wall(source: &Source) -> Vec<String> {
    if source.is_in(&["extract/reader"])
        || READER_NAMED.iter().any(|(path, _)| source.path == *path)
    {
        return Vec::new();
    }
    let mut broken = Vec::new();
    for (number, line) in (1..).zip(source.code.lines()) {
        let names_reader = line
            .split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
            .any(|path| path.split("::").any(|name| name == "reader"));
        let is_path = line.contains("reader::")
            || line.contains("::reader")
            || (line.contains("extract::") && line.contains('{'));
        let imports_all = line.contains("extract::*");
        let declares = source.path == "extract/mod.rs" && line.trim() == "pub mod reader;";
        if (names_reader && is_path || imports_all) && !declares {
            broken.push(format!(
                "src/{}:{number} reaches behind the wall: {}",
                source.path,
                line.trim()
            ));
        }
    }
    broken
}

/// Readers of hostile formats run in the child process only, so that none is called where the database is open.
#[test]
fn nothing_but_the_child_names_a_reader() {
    let sources = sources();
    let broken: Vec<String> = sources.iter().flat_map(breaks_the_wall).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    for (path, _) in READER_NAMED {
        let source = sources.iter().find(|source| source.path == *path).unwrap();
        assert!(source.code.contains("reader"), "{path} needs no exception");
    }
}

#[test]
fn the_wall_holds_against_every_way_to_name_a_reader() {
    let attempts = [
        ("extract/pdf/mod.rs", "use crate::extract::reader::pdf::with_hayro;"),
        ("extract/headed.rs", "use super::reader::html;"),
        ("extract/pdf/scan.rs", "use super::super::reader::docx::read;"),
        ("extract/mod.rs", "use reader::html;"),
        ("extract/mod.rs", "pub use reader::run_child as read;"),
        ("extract/mod.rs", "    reader::html::read(&input, emit)"),
        ("ingest/prepare.rs", "use crate::extract::{self, reader};"),
        ("ingest/prepare.rs", "use crate::extract::*;"),
        ("app/add.rs", "    crate::extract::reader::run_child()"),
        ("mcp/server.rs", "use crate::{extract::reader, store};"),
    ];
    for (path, code) in attempts {
        let source = Source { path: path.to_owned(), code: code.to_owned() };
        assert_eq!(breaks_the_wall(&source).len(), 1, "{path}: {code}");
    }
    let allowed = [
        ("cli/mod.rs", "return reader::run_child();"),
        ("extract/reader/table.rs", "use super::pdf::with_hayro;"),
        ("extract/sandbox/options.rs", "    pub reader: PathBuf,"),
        ("store/db/connection.rs", "    let reader = store.reader()?;"),
        ("extract/mod.rs", "pub mod reader;"),
    ];
    for (path, code) in allowed {
        let source = Source { path: path.to_owned(), code: code.to_owned() };
        assert_eq!(breaks_the_wall(&source), Vec::<String>::new(), "{path}: {code}");
    }
}

/// A new format is an arm of `extract::extract`; no other stage knows what was read.
#[test]
fn formats_meet_in_one_function() {
    let mut broken = Vec::new();
    let sources = sources();
    let readers: BTreeSet<&str> = sources
        .iter()
        .filter_map(|source| source.path.strip_prefix("extract/"))
        .map(|path| path.split('/').next().unwrap().trim_end_matches(".rs"))
        .collect();
    assert!(readers.contains("pdf") && readers.contains("markdown"), "{readers:?}");
    let is_test = |source: &Source| source.path.ends_with("tests.rs");
    for source in sources.iter().filter(|source| !is_test(source)) {
        if source.is_in(&["chunk"]) {
            for word in ["extract::", "Format", "detect::"] {
                if source.code.contains(word) {
                    broken.push(format!("src/{} names {word}: chunks know no format", source.path));
                }
            }
        }
        if source.is_in(&["extract", "fuzzing", "fuzzing.rs"]) {
            continue;
        }
        for reader in &readers {
            let call = format!("extract::{reader}::extract");
            for (at, _) in source.code.match_indices(&call) {
                let call = source.code[at..].split('(').next().unwrap();
                if !READERS_CALLED.contains(&(source.path.as_str(), call)) {
                    broken.push(format!("src/{} calls {call}", source.path));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// What one format may name of another, and why; both readers of PDF, parent and child, are one format.
const FORMATS: &[(&str, &[&str])] = &[
    // What no reader divides is divided as plain text.
    ("code", &["text"]),
    ("docx", &[]),
    // Its chapters are web pages.
    ("epub", &["html"]),
    ("fb2", &[]),
    // Web pages, office documents and books come from the child as headings and paragraphs, and are written as Markdown.
    ("headed", &["markdown"]),
    ("html", &[]),
    ("markdown", &[]),
    // It becomes Markdown; without any structure it is plain text.
    ("data", &["markdown"]),
    ("markup", &["markdown", "text"]),
    // Pages in them.
    ("mail", &["html"]),
    ("mhtml", &["html"]),
    // Its cells are Markdown.
    ("notebook", &["markdown"]),
    ("odf", &[]),
    ("pdf", &[]),
    ("pptx", &[]),
    ("rtf", &[]),
    // Its title is found as in Markdown.
    ("text", &["markdown"]),
    ("xlsx", &[]),
];

/// Returns the other formats that a file of one format names in a path.
fn formats_named(source: &Source) -> Vec<String> {
    let Some(path) = source.path.strip_prefix("extract/") else { return Vec::new() };
    let path = path.strip_prefix("reader/").unwrap_or(path);
    let own = path.split('/').next().unwrap().trim_end_matches(".rs");
    let Some((_, allowed)) = FORMATS.iter().find(|(format, _)| *format == own) else {
        return Vec::new();
    };
    let is_format = |name: &str| FORMATS.iter().any(|(format, _)| *format == name);
    let mut named = Vec::new();
    for parent in ["extract::", "reader::", "super::"] {
        for (at, _) in source.code.match_indices(parent) {
            // One name, or several in braces.
            let rest = &source.code[at + parent.len()..];
            let end = if rest.starts_with('{') { rest.find('}') } else { None };
            let names = match end {
                Some(end) => &rest[1..end],
                None => rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap(),
            };
            named.extend(names.split(',').map(|name| name.trim().to_owned()));
        }
    }
    named.retain(|name| is_format(name) && name != own && !allowed.contains(&name.as_str()));
    named
}

#[test]
fn no_format_knows_another() {
    let sources = sources();
    let mut broken = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        for format in formats_named(source) {
            broken.push(format!("src/{} must not name {format}", source.path));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    // Every file and folder of `extract` is a format or what formats share.
    let shared = [
        "clock",
        "containers",
        "markdown_table",
        "math",
        "members",
        "mod",
        "misbehaving",
        "parsed",
        "parts",
        "protocol",
        "reader",
        "sandbox",
        "serve",
        "sheet",
        "table",
        "testing",
        "writer",
        "xml",
    ];
    for source in sources.iter().filter(|source| source.path.starts_with("extract/")) {
        let path = source.path.trim_start_matches("extract/").trim_start_matches("reader/");
        let name = path.split('/').next().unwrap().trim_end_matches(".rs");
        let is_format = FORMATS.iter().any(|(format, _)| *format == name);
        assert!(is_format || shared.contains(&name), "is src/{} a format?", source.path);
    }
    for (path, code) in [
        ("extract/reader/code/mod.rs", "use crate::extract::markdown;"),
        ("extract/notebook.rs", "use super::{code, markdown};"),
        ("extract/reader/docx/mod.rs", "    super::super::html::read(&input, emit)"),
    ] {
        let source = Source { path: path.to_owned(), code: code.to_owned() };
        assert_eq!(formats_named(&source).len(), 1, "{path}: {code}");
    }
}

#[test]
fn rankings_are_merged_by_one_function() {
    let sources = sources();
    let computing: Vec<&str> = sources
        .iter()
        .filter(|source| source.code.contains("rrf_k +"))
        .map(|source| source.path.as_str())
        .collect();
    assert_eq!(computing, ["search/fuse.rs"]);
    let find = |path: &str| sources.iter().find(|source| source.path == path).unwrap();
    // One function merges, and one is the formula of a single term.
    assert_eq!(find("search/fuse.rs").code.matches("pub fn ").count(), 2);
    // A search merges its rankings once, and so does a search for what is similar.
    for path in ["search/rankings.rs", "search/similar.rs"] {
        assert_eq!(find(path).code.matches("fuse::fuse(").count(), 1, "{path}");
    }
}

#[test]
fn statements_about_skills_are_constants() {
    let mut num_files = 0;
    for source in sources() {
        if !source.is_in(&["store/skills/mod.rs", "store/skills/log.rs", "store/skills/index"])
            || source.path.ends_with("tests.rs")
        {
            continue;
        }
        num_files += 1;
        for (at, _) in source.code.match_indices("format!(") {
            let made = source.code[at..].split(';').next().unwrap();
            let words = ["SELECT", "INSERT", "UPDATE", "DELETE"];
            let is_sql = words.iter().any(|word| made.contains(word));
            assert!(!is_sql, "src/{} puts a statement together: {made}", source.path);
        }
    }
    assert!(num_files >= 3);
}

/// The codes of skill commands; `src/diagnostic.rs` and `src/skill/lint` have their messages.
const SKILL_CODES: [&str; 23] = [
    "E001", "E002", "E003", "E004", "E010", "E011", "E012", "E020", "E021", "E022", "E030", "E031",
    "E040", "E041", "E042", "E050", "E100", "E300", "E999", "W001", "W002", "W003", "W300",
];

#[test]
fn codes_of_skill_commands_are_those_of_the_table() {
    let mut found = BTreeSet::new();
    for source in sources().iter().filter(|source| !source.path.ends_with("tests.rs")) {
        // `\u{E000}` is a character and no code.
        let code = source.code.replace("\\u{", "\\u");
        for word in code.split(|letter: char| !letter.is_ascii_alphanumeric()) {
            let is_code = word.len() == 4
                && word.starts_with(['E', 'W'])
                && word[1..].bytes().all(|digit| digit.is_ascii_digit());
            if is_code {
                found.insert(word.to_owned());
            }
        }
    }
    assert_eq!(found, SKILL_CODES.map(str::to_owned).into());
}

/// A path from outside is opened in one way, which follows no link that was put in its place, and a file is
/// made in one way, which nobody sees half of.
#[test]
fn files_alone_opens_and_makes_files() {
    let mut broken = Vec::new();
    // What the box refuses is tried by its path.
    let homes = ["files", "extract/reader/misbehaving.rs"];
    for source in sources().iter().filter(|source| !source.is_in(&homes) && !source.is_test()) {
        let named: Vec<&str> =
            FILE_ACCESS.iter().copied().filter(|name| source.has_path(name)).collect();
        if !named.is_empty() {
            broken.push(format!("src/{} has {}: see src/files/", source.path, named.join(", ")));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_module_is_imported_once_in_a_file() {
    let mut broken = Vec::new();
    for source in sources() {
        let mut seen = BTreeSet::new();
        for line in source.code.lines().take_while(|line| !line.starts_with("fn ")) {
            let Some(import) = line.strip_prefix("use ") else { continue };
            // `use a::b::{c, d};` and `use a::b::c;` both import from `a::b`.
            let module = import.split("::{").next().unwrap();
            let module = match module == import {
                true => import.rsplit_once("::").map_or("", |parts| parts.0),
                false => module,
            };
            // `use crate::embed;` is the module itself.
            if !["", "crate", "std"].contains(&module) && !seen.insert(module.to_owned()) {
                broken.push(format!("src/{} imports from {module} twice", source.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for source in sources() {
        let text = fs::read_to_string(root.join("src").join(&source.path)).unwrap();
        assert!(text.starts_with("//! "), "src/{} has no header", source.path);
    }
}
