//! Checks imports that cargo does not restrict, and names that are allowed in few places only. A change of a table
//! here is a decision about the architecture; the picture is in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::sources::{Source, files, sources};

/// Each module of the program, with the other modules and the crates that it may name; all may name the modules of
/// `kb_base`. The manifests of the crates state which other crates they may name.
const LAYERS: &[(&str, &[&str])] = &[
    ("read", &["ingest", "store"]),
    ("eval", &["search", "store"]),
    ("config", &[]),
    (
        "app",
        &[
            "chunk", "config", "embed", "eval", "extract", "ingest", "read", "search", "skill",
            "store", "transfer",
        ],
    ),
    ("requests", &["app", "read", "search", "store"]),
    (
        "present",
        &["app", "embed", "eval", "ingest", "read", "search", "skill", "store", "transfer"],
    ),
    ("mcp", &["app", "ingest", "present", "read", "requests", "server", "skill", "store"]),
    (
        // It parses, calls `app` and presents; it names stages only where it must.
        "cli",
        &[
            "app", "config",  // Progress: what is fetched.
            "embed",   // The command of the child process that reads hostile formats.
            "extract", // Progress: what is ingested; and the report of `kb add`.
            "ingest", "present",  // The lines of `kb search --batch`.
            "requests", // The table of skill commands, of which arguments are made.
            "skill", "store",
        ],
    ),
    ("fuzzing", &["chunk", "config", "extract", "search", "skill"]),
];

/// Each wing of `app`, and the other wings that it may name. The items for them are public in its `mod.rs`.
const WINGS: &[(&str, &[&str])] = &[
    ("session", &[]),
    ("indexing", &["session"]),
    ("query", &["session", "indexing"]),
    ("agents", &["session", "indexing"]),
    ("maintenance", &["session", "indexing", "query", "agents"]),
    ("convert", &["session", "indexing"]),
];

/// The modules that all modules may name.
const BASE: [&str; 11] = [
    "cancel", "diagnostic", "document", "error", "files", "hash", "limits", "numeric", "text",
    "trace", "wording",
];

/// The places where a library may be named, if these are not all of the crates that have it as a dependency.
const HOMES: &[(&str, &[&str])] = &[
    ("cfb", &["reader/outlook"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli/complete.rs"]),
    ("clap_mangen", &["cli/learn.rs"]),
    ("console", &["cli"]),
    ("crossterm", &["cli/find"]),
    ("chardetng", &["base/text/decode/usual.rs"]),
    ("encoding_rs", &["base/text/decode.rs", "base/text/decode"]),
    ("figment", &["config"]),
    ("grep_matcher", &["read/grep/pattern.rs"]),
    ("grep_regex", &["read/grep/pattern.rs"]),
    ("hayro", &["reader/pdf/with_hayro"]),
    ("hf_hub", &["embed/fetch/hub.rs"]),
    ("html5ever", &["reader/html/parse.rs"]),
    ("ignore", &["ingest/walk/rules.rs"]),
    ("image", &["reader/pdf/ocr/raster.rs", "reader/pdf/picture.rs", "reader/pdf/with_image.rs"]),
    ("indicatif", &["cli"]),
    ("jsonc_parser", &["app/agents/clients/in_json.rs"]),
    ("win32job", &["base/files/processes.rs"]),
    ("winapi_util", &["base/files/open/windows.rs"]),
    // One entry point of the child, and functions for fuzzing without a database.
    ("kb_reader", &["cli/mod.rs", "fuzzing.rs"]),
    (
        "mail_parser",
        &[
            "reader/mail.rs", "reader/mail", "reader/mhtml.rs", "reader/mime.rs", "reader/mime",
            "reader/outlook",
        ],
    ),
    ("notify", &["base/files/watch.rs"]),
    ("pdf_extract", &["reader/pdf/with_pdf_extract.rs"]),
    ("quick_xml", &["reader/xml.rs"]),
    ("ratatui_core", &["cli/find/screen.rs"]),
    ("scraper", &["reader/html"]),
    ("snowball_stemmers_rs", &["base/text/language.rs"]),
    ("sqlite_vec", &["store/db/connection.rs"]),
    ("seccompiler", &["extract/sandbox/confine/seccomp.rs"]),
    ("strsim", &["base/text/near.rs"]),
    ("fs4", &["base/files/write.rs"]),
    ("libm", &["base/numeric.rs"]),
    ("tokenizers", &["embed/tokenize/mod.rs"]),
    ("tokio", &["server", "store/remote"]),
    ("tokio_postgres", &["store/remote"]),
    ("toml_edit", &["app/agents/clients/in_toml.rs"]),
    ("tree_sitter", &["reader/code"]),
    ("unicode_properties", &["base/text/emoji.rs"]),
    ("ureq", &["embed/fetch/hub.rs"]),
    ("whatlang", &["base/text/language.rs"]),
];

/// Names that are allowed in certain places only, these places, and the reason.
const RULES: &[(&str, &[&str], &str)] = &[
    ("SELECT ", &["store"], "SQL is the store's, and the copy's"),
    ("INSERT ", &["store"], "SQL is the store's, and the copy's"),
    (
        "Command::new",
        // clap also has a type `Command`, for what can be typed.
        &[
            "app/query/search/program.rs",
            "cli/args/commands.rs",
            "cli/args/skill.rs",
            "cli/launch.rs",
            "cli/mcp_install.rs",
            "cli/pager.rs",
            "embed/fetch/python.rs",
            // Attempts that the sandbox refuses.
            "reader/misbehaving.rs",
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
        &["cli/streams.rs", "reader/serve.rs"],
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
            "base/text/json.rs",
        ],
        "text/json.rs escapes what no terminal may be given",
    ),
    (
        "Serializer",
        // Numbers and the Base64 of the pipe have nothing to escape, and a wording is a string like others.
        &[
            "base/document/ranges.rs",
            "base/text/fields.rs",
            "base/text/json.rs",
            "base/wording.rs",
            "extract/protocol/in_base64.rs",
        ],
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
    (
        "`kb ",
        &[
            // Pages and examples that are read or copied unchanged.
            "cli/args",
            "present/schema/mod.rs",
            "present/text/skill.rs",
            // Warnings of documents, which are kept with them.
            "extract/pdf/assemble.rs",
            "store/documents/rows.rs",
        ],
        "a command in a text is a value, see wording.rs, so that each face writes it",
    ),
    ("TcpListener", &[], "no server, no port"),
    ("UnixListener", &[], "no server, no port"),
    ("UdpSocket", &["reader/misbehaving.rs"], "no server, no port"),
    (
        "TcpStream",
        &["reader/misbehaving.rs", "store/remote/link.rs"],
        "the network is reached by `hf_hub`, by `pip`, and for the target of a push",
    ),
];

/// Functions that open, create or remove files; only `files/` may call them. Names in a folder may be read elsewhere.
const FILE_ACCESS: &[&str] = &[
    "std::fs", "fs::read", "fs::write", "fs::File", "fs::OpenOptions", "fs::create_dir",
    "fs::remove_", "fs::rename", "fs::copy", "fs::metadata", "fs::canonicalize", "File::open",
    "File::create", "File::options",
];

/// The folders of the formats in `kb_reader`, and the other formats that they may name.
const FORMATS: &[(&str, &[&str])] = &[
    ("code", &[]),
    // The texts of feeds.
    ("data", &["html"]),
    ("docx", &[]),
    // Its chapters are web pages.
    ("epub", &["html"]),
    ("fb2", &[]),
    ("html", &[]),
    // Pages in them.
    ("mail", &["html"]),
    ("markup", &[]),
    ("mhtml", &["html"]),
    ("notebook", &[]),
    ("odf", &[]),
    ("pdf", &[]),
    ("pptx", &[]),
    ("rtf", &[]),
    ("xlsx", &[]),
];

/// Returns the names of the items that follow a module such as `crate::` in paths.
fn named_below<'a>(source: &'a Source, module: &str) -> Vec<&'a str> {
    let named = source.code.split(module).skip(1).flat_map(|part| {
        // One name, or several in braces.
        let names = match part.strip_prefix('{') {
            Some(group) => group.split('}').next().unwrap(),
            None => part,
        };
        let names = names.split(',').map(str::trim_start);
        let is_end = |c: char| !c.is_alphanumeric() && c != '_';
        let count = if part.starts_with('{') { usize::MAX } else { 1 };
        names.map(move |name| name.split(is_end).next().unwrap()).take(count)
    });
    named.collect()
}

#[test]
fn no_module_knows_what_its_layer_must_not() {
    let layers: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let crates: BTreeSet<String> = crate_names();
    let mut broken = Vec::new();
    for source in sources() {
        let module = source.path.split('/').next().unwrap().trim_end_matches(".rs");
        let Some(allowed) = layers.get(module) else {
            // `lib.rs` lists the modules, `main.rs` calls one function.
            let is_known = crates.contains(module) || ["lib", "main"].contains(&module);
            assert!(is_known, "no layer: {}", source.path);
            continue;
        };
        for named in named_below(&source, "crate::") {
            if named != module && !allowed.contains(&named) && !BASE.contains(&named) {
                broken.push(format!("{} must not name crate::{named}", source.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_wing_knows_one_that_it_must_not() {
    let wings: BTreeMap<&str, &[&str]> = WINGS.iter().copied().collect();
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| source.is_in(&["app"])) {
        // `mod.rs` lists the wings, `testing.rs` serves the tests of all.
        let Some((wing, _)) =
            source.path.strip_prefix("app/").and_then(|path| path.split_once('/'))
        else {
            continue;
        };
        let allowed = wings.get(wing).unwrap_or_else(|| panic!("no wing: {}", source.path));
        for named in named_below(source, "crate::app::") {
            if wings.contains_key(named) && named != wing && !allowed.contains(&named) {
                broken.push(format!("{} must not name app::{named}", source.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_crate_knows_the_command_line_or_a_terminal_and_only_the_server_the_protocol_of_agents() {
    for name in crate_names() {
        let known = dependencies(&format!("crates/{name}/Cargo.toml"));
        for edge in ["clap", "console", "crossterm", "indicatif", "kb-search"] {
            assert!(!known.contains(edge), "kb-{name} depends on {edge}");
        }
        assert!(!known.contains("rmcp") || name == "server", "kb-{name} depends on rmcp");
        assert!(!known.contains("kb-server"), "kb-{name} serves agents");
        // The code that parses hostile bytes is linked into the program by its entry point alone.
        assert!(!known.contains("kb-reader"), "kb-{name} depends on the readers");
    }
}

#[test]
fn the_skills_need_nothing_but_notations() {
    let known = dependencies("crates/skills/Cargo.toml");
    let own = ["kb-base", "kb-extract", "kb-store"];
    let notations = ["globset", "jiff", "schemars", "serde", "serde_json", "sha2", "yaml_serde"];
    assert_eq!(known, own.into_iter().chain(notations).map(str::to_owned).collect());
}

fn crate_names() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    let names = fs::read_dir(folder).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns the names of the libraries in a manifest, with those for some systems only.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(manifest);
    let manifest: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let names = |table: &toml::Value| -> Vec<String> {
        table.as_table().unwrap().keys().cloned().collect()
    };
    let mut found: BTreeSet<String> = names(&manifest["dependencies"]).into_iter().collect();
    for target in
        manifest.get("target").into_iter().flat_map(|all| all.as_table().unwrap().values())
    {
        found.extend(target.get("dependencies").map(names).unwrap_or_default());
    }
    found
}

#[test]
fn every_library_has_one_home() {
    let sources = sources();
    let mut broken = Vec::new();
    for (library, homes) in HOMES {
        let users: Vec<&Source> = sources.iter().filter(|source| source.names(library)).collect();
        for source in users.iter().filter(|source| !source.is_in(homes)) {
            broken.push(format!("{} must not name {library}: it is in {homes:?}", source.path));
        }
        for home in *homes {
            if !users.iter().any(|source| source.is_in(&[home])) {
                broken.push(format!("nothing in {home} names {library} any more"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn what_is_allowed_in_few_places_is_nowhere_else() {
    let mut broken = Vec::new();
    for source in sources() {
        for (text, homes, reason) in RULES {
            if source.code.contains(text) && !source.is_in(homes) {
                broken.push(format!("{} has `{text}`: {reason}", source.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A new format is an arm of `extract::extract`; no other stage knows what was read.
#[test]
fn formats_meet_in_one_function() {
    let readers = ["code", "headed", "markdown", "parsed", "pdf", "plain"];
    let mut broken = Vec::new();
    for source in sources() {
        if source.is_in(&["extract/chunk"]) {
            for word in ["crate::markdown", "crate::plain", "crate::pdf", "Format", "detect::"] {
                if source.code.contains(word) {
                    broken.push(format!("{} names {word}: chunks know no format", source.path));
                }
            }
        }
        if source.is_in(&["extract", "reader", "fuzzing.rs", "fuzzing"]) {
            continue;
        }
        let calls = readers.map(|reader| format!("extract::{reader}::extract("));
        for call in calls.iter().filter(|call| source.code.contains(call.as_str())) {
            broken.push(format!("{} calls {call}", source.path));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Returns the other formats that a file of one format names.
fn formats_named(source: &Source) -> Vec<String> {
    let Some(path) = source.path.strip_prefix("reader/") else { return Vec::new() };
    let own = path.split('/').next().unwrap().trim_end_matches(".rs");
    let Some((_, allowed)) = FORMATS.iter().find(|(format, _)| *format == own) else {
        return Vec::new();
    };
    let is_format = |name: &str| FORMATS.iter().any(|(format, _)| *format == name);
    let depth = path.matches('/').count() - usize::from(path.ends_with("/mod.rs"));
    let up = format!("{}super::", "super::".repeat(depth));
    let named = named_below(source, "crate::")
        .into_iter()
        .chain(source.code.match_indices(&up).map(|(at, _)| &source.code[at + up.len()..]));
    let named = named.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
    let named =
        named.flatten().filter(|name| is_format(name) && *name != own && !allowed.contains(name));
    named.map(str::to_owned).collect()
}

#[test]
fn no_format_knows_another() {
    let named: Vec<String> = sources()
        .iter()
        .flat_map(|source| {
            formats_named(source).into_iter().map(|name| format!("{} names {name}", source.path))
        })
        .collect();
    assert!(named.is_empty(), "{}", named.join("\n"));
    for (path, code) in [
        ("reader/code/mod.rs", "use crate::markup::writer;"),
        ("reader/docx/body.rs", "    super::super::html::read(&input, emit)"),
        ("reader/fb2.rs", "use super::html;"),
        ("reader/rtf/mod.rs", "use crate::{docx, xml};"),
    ] {
        let source = Source { path: path.to_owned(), code: code.to_owned() };
        assert_eq!(formats_named(&source).len(), 1, "{path}: {code}");
    }
}

/// A path from outside is opened in one way, which follows no link that replaced the file, and a file is
/// created in one way, which never exposes a partly written one.
#[test]
fn files_alone_opens_and_makes_files() {
    let mut broken = Vec::new();
    // Attempts that the sandbox refuses open their files by path.
    let homes = ["base/files", "reader/misbehaving.rs"];
    for source in sources().iter().filter(|source| !source.is_in(&homes)) {
        let named: Vec<&str> =
            FILE_ACCESS.iter().copied().filter(|name| source.has_path(name)).collect();
        if !named.is_empty() {
            broken.push(format!("{} has {}: see base/files/", source.path, named.join(", ")));
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
                broken.push(format!("{} imports from {module} twice", source.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for() {
    for (path, place) in files() {
        let text = fs::read_to_string::<PathBuf>(place).unwrap();
        assert!(text.starts_with("//! "), "{path} has no header");
    }
}
