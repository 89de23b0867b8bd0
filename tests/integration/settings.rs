//! Tests where a setting comes from, what it changes, and how it is written.

use std::fs;

use serde_json::{Value, json};

use crate::contract::{Search, Setting, read};
use crate::env::{CORPUS, TestEnv};
#[cfg(unix)]
use crate::terminal;

/// Every key with its default as `kb config` prints it, in the order of the documentation.
const DEFAULTS: [(&str, &str); 42] = [
    ("data_dir", "[HOME]/.kb"),
    ("embedding.model", "all-MiniLM-L6-v2"),
    ("embedding.model_dir", ""),
    ("embedding.precision", "int8"),
    ("embedding.query_prefix", ""),
    ("embedding.passage_prefix", ""),
    ("embedding.dim", "0"),
    ("embedding.token_vectors", "true"),
    ("search.default_top", "10"),
    ("search.default_format", "json"),
    ("search.rrf_k", "60"),
    ("search.half_life_days", "0"),
    ("search.freshness", "mark"),
    ("search.refresh_ms", "300"),
    ("search.rerank_command", ""),
    ("search.rerank_ms", "10000"),
    ("chunking.defaults.max_tokens", "512"),
    ("chunking.defaults.overlap_tokens", "50"),
    ("chunking.pdf.strategy", "hierarchy"),
    ("chunking.pdf.max_tokens", "1024"),
    ("chunking.markdown.strategy", "header"),
    ("chunking.markdown.min_tokens", "50"),
    ("chunking.markdown.max_tokens", "1024"),
    ("chunking.code.strategy", "ast"),
    ("chunking.code.include_context", "true"),
    ("chunking.code.max_tokens", "1024"),
    ("chunking.note.strategy", "whole"),
    ("ingestion.workers", "4"),
    ("ingestion.batch_size", "50"),
    ("ingestion.enable_ocr", "auto"),
    ("ingestion.ocr_languages", "eng"),
    ("ingestion.notebook_outputs", "true"),
    ("ingestion.inline_tags", "false"),
    ("ingestion.keep_all", "false"),
    ("ingestion.comments", "true"),
    ("ingestion.max_file_mb", "100"),
    ("ingestion.max_cpu_seconds", "600"),
    ("ingestion.follow_links", "false"),
    ("ingestion.include_ignored", "false"),
    ("ingestion.text_extensions", ""),
    ("freshness.days", "30"),
    ("backup.keep", "1"),
];

fn settings(env: &TestEnv) -> Vec<Setting> {
    read(&env.ok(&["config", "--format", "json"]))
}

/// Returns value and origin of a key.
fn setting(env: &TestEnv, key: &str) -> (String, String) {
    let found = settings(env).into_iter().find(|setting| setting.key == key).unwrap();
    (found.value, found.origin)
}

#[test]
fn every_key_has_the_default_of_the_specification() {
    let env = TestEnv::real();
    let home = env.path("").display().to_string();
    let found = settings(&env);
    let found: Vec<(&str, String)> = found
        .iter()
        .map(|setting| {
            (setting.key.as_str(), setting.value.replace(home.trim_end_matches('/'), "[HOME]"))
        })
        .collect();
    let expected: Vec<(&str, String)> =
        DEFAULTS.iter().map(|(key, value)| (*key, (*value).to_owned())).collect();
    assert_eq!(found, expected);
    assert!(settings(&env).iter().all(|setting| setting.origin == "default"));
    let human = env.ok(&["config"]).stdout;
    assert_eq!(human.lines().count(), DEFAULTS.len() + 1);
}

#[test]
fn flags_override_variables_the_file_and_defaults_in_this_order() {
    let mut env = TestEnv::with_corpus();
    let num_results = |env: &TestEnv, args: &[&str]| {
        read::<Search>(&env.ok(&[&["search", "tide", "--vec-only"], args].concat())).returned
    };
    assert_eq!(num_results(&env, &[]), 10);
    // A partial file changes only the keys it names.
    let file = env.write(".kb/config.yaml", "search:\n  default_top: 4\n");
    assert_eq!(num_results(&env, &[]), 4);
    assert_eq!(setting(&env, "search.default_top"), ("4".into(), file.display().to_string()));
    assert_eq!(setting(&env, "search.default_format"), ("json".into(), "default".into()));
    env.set("KB_DEFAULT_TOP", "3");
    assert_eq!(num_results(&env, &[]), 3);
    assert_eq!(setting(&env, "search.default_top"), ("3".into(), "KB_DEFAULT_TOP".into()));
    assert_eq!(num_results(&env, &["--top", "2"]), 2);
}

#[cfg(unix)]
#[test]
fn init_at_a_terminal_begins_a_settings_file_in_which_searches_print_for_people() {
    let format = |env: &TestEnv| setting(env, "search.default_format").0;
    let file = |env: &TestEnv| fs::read_to_string(env.path(".kb/config.yaml")).ok();
    let init = |env: &TestEnv| terminal::run(env, &["init"], "", true).expect(0).stderr;
    let env = TestEnv::new();
    // Elsewhere, nothing is written, and JSON remains the default.
    env.ok(&["init"]);
    terminal::run(&env, &["init", "--status"], "", true).expect(0);
    assert_eq!((file(&env), format(&env)), (None, "json".into()));
    let said = init(&env);
    assert_eq!(said.matches("default_format").count(), 1, "{said}");
    assert_eq!(file(&env).unwrap(), "search:\n  default_format: auto\n");
    env.ok(&["add", "--note", "The key is under the mat."]);
    let shown = terminal::run(&env, &["search", "key"], "", true).expect(0).stderr;
    assert!(shown.contains("Search: \"key\""), "{shown}");
    assert_eq!(env.ok(&["search", "key"]).json()["query"], "key");
    assert!(!init(&env).contains("default_format"));
    // An existing file is the user's.
    let own = TestEnv::new();
    own.write(".kb/config.yaml", "# mine\n");
    init(&own);
    assert_eq!(file(&own).unwrap(), "# mine\n");
    let mut chosen = TestEnv::new();
    chosen.set("KB_DEFAULT_FORMAT", "human");
    init(&chosen);
    assert_eq!(file(&chosen), None);
}

#[test]
fn every_key_has_a_variable_and_four_have_a_short_one() {
    let mut env = TestEnv::new();
    for (key, value) in [
        ("search.rrf_k", "7.5"),
        ("chunking.pdf.max_tokens", "77"),
        ("embedding.query_prefix", "query: "),
        ("ingestion.enable_ocr", "never"),
        ("ingestion.ocr_languages", "eng+deu"),
        ("ingestion.follow_links", "true"),
    ] {
        let name = format!("KB_{}", key.to_uppercase().replace('.', "_"));
        env.set(&name, value);
        let (found, origin) = setting(&env, key);
        assert_eq!((found.as_str(), origin), (value, name));
    }
    // All of them at once, each with its default, or with a word if that is empty.
    let mut all = TestEnv::new();
    let keys = settings(&all);
    let name = |key: &str| format!("KB_{}", key.to_uppercase().replace('.', "_"));
    for Setting { key, value, .. } in &keys {
        all.set(&name(key), if value.is_empty() { "word" } else { value });
    }
    assert_eq!(keys.len(), DEFAULTS.len());
    for Setting { key, origin, .. } in settings(&all) {
        assert_eq!(origin, name(&key));
    }
    env.set("KB_MODEL", "bge-small-en-v1.5");
    env.set("KB_DEFAULT_TOP", "3");
    env.set("KB_DEFAULT_FORMAT", "human");
    let dir = env.path("moved").display().to_string();
    env.set("KB_DATA_DIR", &dir);
    assert_eq!(setting(&env, "embedding.model"), ("bge-small-en-v1.5".into(), "KB_MODEL".into()));
    assert_eq!(
        setting(&env, "search.default_format"),
        ("human".into(), "KB_DEFAULT_FORMAT".into())
    );
    assert_eq!(setting(&env, "data_dir"), (dir, "KB_DATA_DIR".into()));
    let error = env.kb_with(&[("KB_DEFAULT_TOP", "many")], &["list"]).expect(1).stderr;
    assert!(error.contains("KB_DEFAULT_TOP") && error.contains("search.default_top"), "{error}");
}

#[test]
fn a_broken_file_is_named_with_its_place() {
    let env = TestEnv::with_corpus();
    let file = env.write(".kb/config.yaml", "search:\n  default_top: [3\n");
    for args in [&["list"][..], &["search", "ice"], &["config"], &["add", CORPUS]] {
        let output = env.kb(args).expect(1);
        assert_eq!(output.stdout, "");
        let error = output.stderr;
        assert!(error.contains(&file.display().to_string()) && error.contains("line "), "{error}");
    }
    fs::write(&file, "search:\n  default_top: ten\n").unwrap();
    let error = env.kb(&["list"]).expect(1).stderr;
    assert!(error.contains("search.default_top") && error.contains("config.yaml"), "{error}");
}

#[test]
fn an_unknown_key_is_a_warning_with_the_nearest_one() {
    let env = TestEnv::new();
    env.write(".kb/config.yaml", "search:\n  defualt_top: 3\n");
    let output = env.ok(&["list"]);
    assert!(output.stderr.starts_with("warning: unknown key `search.defualt_top` in "));
    assert!(output.stderr.ends_with("; did you mean `search.default_top`?\n"));
    let env = TestEnv::new();
    let output = env.kb(&["config", "set", "search.top", "3"]).expect(1);
    assert_eq!(
        output.stderr,
        "error: unknown configuration key `search.top`\nhint: the nearest key is `search.default_top`\n"
    );
}

/// There was no hint for a key that is like no other.
#[test]
fn an_unknown_key_that_is_like_no_other_gets_the_nearest_one_and_the_list() {
    let env = TestEnv::without_model();
    let error = env.kb(&["config", "set", "nosuch.key", "5"]).expect(1).stderr;
    let (first, hint) = error.split_once('\n').unwrap();
    assert_eq!(first, "error: unknown configuration key `nosuch.key`");
    let nearest = hint
        .strip_prefix("hint: the nearest key is `")
        .and_then(|rest| rest.strip_suffix("`; `kb config` lists all keys\n"))
        .unwrap_or_else(|| panic!("{hint}"));
    assert!(DEFAULTS.iter().any(|(key, _)| *key == nearest), "{nearest}");
}

/// Programs had to parse YAML to learn a value: `"60.0"`, `"\"\""`, `"'query: '"`.
#[test]
fn settings_are_printed_with_their_type_and_as_text_without_quotes() {
    let mut env = TestEnv::without_model();
    env.set("KB_EMBEDDING_QUERY_PREFIX", "query: ");
    env.set("KB_CHUNKING_PDF_MAX_TOKENS", "77");
    let check = |env: &TestEnv, key: &str, text: &str, typed: Value| {
        let found = settings(env).into_iter().find(|setting| setting.key == key).unwrap();
        assert_eq!((found.value.as_str(), found.typed_value), (text, typed), "{key}");
    };
    check(&env, "search.rrf_k", "60", json!(60.0));
    check(&env, "search.default_top", "10", json!(10));
    check(&env, "chunking.pdf.max_tokens", "77", json!(77));
    check(&env, "ingestion.follow_links", "false", json!(false));
    check(&env, "embedding.model_dir", "", json!(""));
    check(&env, "embedding.query_prefix", "query: ", json!("query: "));
    // A person sees where text ends.
    let human = env.ok(&["config"]).stdout;
    assert!(human.contains("\"query: \""), "{human}");
    env.set("KB_SEARCH_RRF_K", "7.5");
    check(&env, "search.rrf_k", "7.5", json!(7.5));
}

#[test]
fn a_data_directory_in_the_file_moves_the_database() {
    let env = TestEnv::new();
    env.write(".kb/config.yaml", "data_dir: ~/elsewhere/kb\n");
    env.ok(&["add", "--note", "found elsewhere"]);
    assert!(env.path("elsewhere/kb/kb.db").is_file() && !env.database().exists());
    assert_eq!(read::<Search>(&env.ok(&["search", "elsewhere"])).returned, 1);
}

#[test]
fn setting_a_key_writes_the_file_and_keeps_the_rest() {
    let env = TestEnv::new();
    let file = env.path(".kb/config.yaml");
    env.ok(&["config", "set", "search.default_top", "3"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "search:\n  default_top: 3\n");
    fs::write(&file, "# mine\nsearch:\n  default_top: 3 # few\ningestion:\n  workers: 2\n")
        .unwrap();
    env.ok(&["config", "set", "ingestion.workers", "3"]);
    env.ok(&["config", "set", "embedding.query_prefix", "query: "]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("# mine\nsearch:\n  default_top: 3 # few\n"), "{text}");
    assert_eq!(setting(&env, "ingestion.workers").0, "3");
    assert_eq!(setting(&env, "embedding.query_prefix").0, "query: ");
    // Values that would not be understood are not written.
    for (key, value) in [
        ("search.default_top", "many"),
        ("search.default_top", "0"),
        ("search.default_format", "xml"),
        ("embedding.precision", "fp8"),
        ("ingestion.workers", "-1"),
        ("nothing", "1"),
    ] {
        env.kb(&["config", "set", key, value]).expect(1);
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{key} {value}");
    }
    // A variable that overrides the file is pointed out.
    let args = ["config", "set", "search.default_top", "7"];
    let output = env.kb_with(&[("KB_DEFAULT_TOP", "4")], &args).expect(0);
    assert!(output.stderr.contains("warning: KB_DEFAULT_TOP is set and overrides the file"));
}

/// The user's link, for example into a folder of dotfiles, was once replaced by a file.
#[cfg(unix)]
#[test]
fn setting_a_key_keeps_the_users_link() {
    let env = TestEnv::without_model();
    let file = env.path(".kb/config.yaml");
    fs::create_dir(env.path(".kb")).unwrap();
    fs::create_dir(env.path("dotfiles")).unwrap();
    std::os::unix::fs::symlink("../dotfiles/kb.yaml", &file).unwrap();
    for top in ["3", "4"] {
        env.ok(&["config", "set", "search.default_top", top]);
        assert_eq!(file.read_link().unwrap().to_str(), Some("../dotfiles/kb.yaml"));
        let text = fs::read_to_string(env.path("dotfiles/kb.yaml")).unwrap();
        assert_eq!(text, format!("search:\n  default_top: {top}\n"));
    }
    for folder in [".kb", "dotfiles"] {
        let names = fs::read_dir(env.path(folder)).unwrap().count();
        assert_eq!(names, 1, "no draft is left in {folder}");
    }
    // A broken link is an error that names the file.
    fs::remove_dir_all(env.path("dotfiles")).unwrap();
    let error = env.kb(&["config", "set", "search.default_top", "3"]).expect(1).stderr;
    assert!(error.contains("config.yaml"), "{error}");
}

#[test]
fn prefixes_are_put_before_queries_and_passages() {
    let mut env = TestEnv::with_corpus();
    let cosine = |env: &TestEnv, query: &str| {
        let answer: Search = read(&env.ok(&["search", query, "--vec-only", "--top=1"]));
        answer.results[0].evidence.cosine.unwrap()
    };
    let plain = cosine(&env, "winter: frozen gauge");
    assert_ne!(plain.to_bits(), cosine(&env, "frozen gauge").to_bits());
    env.set("KB_EMBEDDING_QUERY_PREFIX", "winter: ");
    assert_eq!(plain.to_bits(), cosine(&env, "frozen gauge").to_bits());
    // A passage prefix is part of the vectors' definition, so another one is a mismatch ...
    env.set("KB_EMBEDDING_PASSAGE_PREFIX", "passage: ");
    let error = env.kb(&["search", "ice"]).expect(1).json_error()["error"].to_string();
    assert!(error.contains("passage prefix"), "{error}");
    // ... and in a new database it is embedded and counted, but not shown.
    let mut fresh = TestEnv::new();
    let count = |env: &TestEnv| env.sql::<i64>("SELECT token_count FROM chunks");
    fresh.ok(&["add", "--note", "ice"]);
    let without = count(&fresh);
    fs::remove_file(fresh.database()).unwrap();
    fresh.set("KB_EMBEDDING_PASSAGE_PREFIX", "passage: ");
    fresh.ok(&["add", "--note", "ice"]);
    assert_eq!(count(&fresh), without + 2);
    assert_eq!(fresh.sql_column("SELECT text FROM chunks"), ["ice"]);
}
