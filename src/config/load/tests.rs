//! Tests how layers of settings are merged.

use super::*;
use crate::config::DefaultFormat;
use crate::document::Precision;

fn environment(home: &Path, values: &[(&str, &str)]) -> Environment {
    let home = ("HOME".to_owned(), home.as_os_str().to_owned());
    values.iter().map(|(name, value)| ((*name).to_owned(), value.into())).chain([home]).collect()
}

fn home_with(text: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".kb")).unwrap();
    std::fs::write(home.path().join(".kb").join(FILE_NAME), text).unwrap();
    home
}

#[test]
fn an_empty_group_is_ignored() {
    let home = home_with("search:\n  # rrf_k: 10\nchunking:\n  pdf:\nocr:\n");
    let home = [("HOME".to_owned(), home.path().into())].into_iter().collect();
    let resolved = load(&home, &Vec::new()).unwrap();
    assert_eq!(resolved.config.search.default_top, 10);
    // An unknown empty group is still reported.
    assert_eq!(resolved.warnings.len(), 1);
}

#[test]
fn without_settings_the_defaults_apply() {
    let home = tempfile::tempdir().unwrap();
    let resolved = load(&environment(home.path(), &[]), &Vec::new()).unwrap();
    assert_eq!(resolved.config, Config::defaults(home.path()));
    assert_eq!(*resolved.origin("search.rrf_k"), SettingOrigin::Default);
}

#[test]
fn flags_override_variables_and_variables_override_the_file() {
    let home = home_with("search:\n  default_top: 3\n  rrf_k: 10\n");
    let env = environment(home.path(), &[("KB_DEFAULT_TOP", "4")]);
    let top = |flags: &Flags| load(&env, flags).unwrap().config.search.default_top;
    assert_eq!(top(&Vec::new()), 4);
    assert_eq!(top(&vec![("--top", "search.default_top", "5".into())]), 5);
    let plain = load(&environment(home.path(), &[]), &Vec::new()).unwrap();
    assert_eq!(plain.config.search.default_top, 3);
    assert!((plain.config.search.rrf_k - 10.0).abs() < 1e-9);
    assert_eq!(plain.config.search.default_format, DefaultFormat::Json);
    assert!(matches!(plain.origin("search.rrf_k"), SettingOrigin::File(_)));
}

#[test]
fn every_key_has_a_variable() {
    let home = tempfile::tempdir().unwrap();
    let env = environment(
        home.path(),
        &[
            ("KB_EMBEDDING_PRECISION", "int8"),
            ("KB_CHUNKING_CODE_INCLUDE_CONTEXT", "false"),
            ("KB_MODEL", "e5"),
        ],
    );
    let config = load(&env, &Vec::new()).unwrap().config;
    assert_eq!(config.embedding.precision, Precision::Int8);
    assert!(!config.chunking.code.include_context);
    assert_eq!(config.embedding.model, "e5");
}

#[test]
fn an_unknown_key_is_a_warning_with_the_nearest_one() {
    let home = home_with("search:\n  defualt_top: 3\n");
    let resolved = load(&environment(home.path(), &[]), &Vec::new()).unwrap();
    assert!(resolved.warnings[0].contains("`search.defualt_top`"));
    assert!(resolved.warnings[0].ends_with("did you mean `search.default_top`?"));
}

#[test]
fn broken_yaml_is_reported_with_its_position() {
    let home = home_with("search:\n  default_top: [1\n");
    let error = load(&environment(home.path(), &[]), &Vec::new()).unwrap_err().to_string();
    assert!(error.contains("config.yaml") && error.contains("line"), "{error}");
}

#[test]
fn a_wrong_value_names_its_layer() {
    let home = tempfile::tempdir().unwrap();
    let env = environment(home.path(), &[("KB_DEFAULT_TOP", "many")]);
    let error = load(&env, &Vec::new()).unwrap_err().to_string();
    assert!(error.contains("KB_DEFAULT_TOP") && error.contains("search.default_top"), "{error}");
}

#[test]
fn a_tilde_means_the_home_directory() {
    let home = home_with("data_dir: ~/elsewhere\n");
    let config = load(&environment(home.path(), &[]), &Vec::new()).unwrap().config;
    assert_eq!(config.data_dir, home.path().join("elsewhere"));
}

#[test]
fn languages_of_tesseract_are_names_and_no_paths() {
    let home = tempfile::tempdir().unwrap();
    let load = |value: &str| {
        load(&environment(home.path(), &[("KB_INGESTION_OCR_LANGUAGES", value)]), &Vec::new())
    };
    for value in ["eng", "eng+deu", "chi_sim", "script/Latin+eng"] {
        assert!(load(value).is_ok(), "{value}");
    }
    for value in ["../eng", "/etc/eng", "eng+/tmp/x", "a//b", "eng deu", "-l", "eng+"] {
        assert!(load(value).is_err(), "{value}");
    }
}

#[test]
fn the_example_has_the_defaults() {
    let home = home_with(include_str!("../../../config.example.yaml"));
    let resolved = load(&environment(home.path(), &[]), &Vec::new()).unwrap();
    assert_eq!(resolved.config, Config::defaults(home.path()));
    assert!(resolved.warnings.is_empty(), "{:?}", resolved.warnings);
}

#[test]
fn a_value_is_of_the_highest_layer_that_has_it() {
    let home = home_with("search:\n  default_top: 3\n  rrf_k: 10\n");
    let env = environment(home.path(), &[("KB_SEARCH_DEFAULT_TOP", "4"), ("KB_DEFAULT_TOP", "5")]);
    let flags = vec![("--rrf-k", "search.rrf_k", "20".into())];
    let resolved = load(&env, &flags).unwrap();
    // The short name of a variable overrides the long one.
    assert_eq!(resolved.config.search.default_top, 5);
    assert_eq!(
        *resolved.origin("search.default_top"),
        SettingOrigin::Variable("KB_DEFAULT_TOP".into())
    );
    assert_eq!(*resolved.origin("search.rrf_k"), SettingOrigin::Flag("--rrf-k".into()));
    assert_eq!(*resolved.origin("backup.keep"), SettingOrigin::Default);
    assert!(resolved.file_sets("search.rrf_k") && !resolved.file_sets("backup.keep"));
    let layers = [
        SettingOrigin::Default,
        SettingOrigin::File(PathBuf::new()),
        SettingOrigin::Variable(String::new()),
        SettingOrigin::Flag(String::new()),
    ];
    assert!(layers.iter().map(SettingOrigin::layer).eq(0..4));
}

#[test]
fn a_typed_number_or_flag_keeps_its_type_unless_the_key_holds_text() {
    let home = tempfile::tempdir().unwrap();
    let values = [
        ("KB_MODEL", "10"),
        ("KB_EMBEDDING_QUERY_PREFIX", "true"),
        ("KB_EMBEDDING_TOKEN_VECTORS", "false"),
        ("KB_SEARCH_RRF_K", "1.5"),
        ("KB_BACKUP_KEEP", "7"),
    ];
    let config = load(&environment(home.path(), &values), &Vec::new()).unwrap().config;
    assert_eq!((config.embedding.model.as_str(), config.backup.keep), ("10", 7));
    assert_eq!((config.embedding.query_prefix.as_str(), config.search.rrf_k), ("true", 1.5));
    assert!(!config.embedding.token_vectors);
    let deep = "[".repeat(limits::YAML_DEPTH + 1);
    for value in ["-1", "1.5", "x", &deep] {
        assert!(
            load(&environment(home.path(), &[("KB_BACKUP_KEEP", value)]), &Vec::new()).is_err()
        );
    }
}

#[test]
fn the_data_directory_may_be_named_for_one_run() {
    let home = home_with("data_dir: ~/elsewhere\n");
    let named = home.path().join("named");
    let text = named.to_str().unwrap();
    let flags = vec![("--data-dir", "data_dir", text.to_owned())];
    for (values, flags, expected) in [
        (vec![], Vec::new(), "elsewhere"),
        (vec![("KB_DATA_DIR", text)], Vec::new(), "named"),
        (vec![("KB_DATA_DIR", "~/other")], flags, "named"),
        (vec![("KB_DATA_DIR", "~/other")], Vec::new(), "other"),
    ] {
        let resolved = load(&environment(home.path(), &values), &flags).unwrap();
        assert_eq!(resolved.config.data_dir, home.path().join(expected));
        assert_eq!(resolved.names_data_dir(), expected != "elsewhere");
        // A folder in the file moves only the database.
        let folder = if expected == "elsewhere" { ".kb" } else { expected };
        assert_eq!(resolved.file, home.path().join(folder).join(FILE_NAME));
    }
}

#[test]
fn settings_of_a_knowledge_base_override_those_of_the_user() {
    let home = home_with("search: {default_top: 3, rrf_k: 10}\n");
    let base = home.path().join("base");
    std::fs::create_dir(&base).unwrap();
    std::fs::write(base.join(FILE_NAME), "data_dir: /x\nsearch: {default_top: 4}\n").unwrap();
    let resolved = load_base(&environment(home.path(), &[]), &Vec::new(), &base).unwrap();
    let search = &resolved.config.search;
    assert_eq!((search.default_top, search.rrf_k), (4, 10.0));
    assert_eq!((&resolved.config.data_dir, &resolved.file), (&base, &base.join(FILE_NAME)));
    // Only its own file can be changed for it.
    assert!(resolved.file_sets("search.default_top") && !resolved.file_sets("search.rrf_k"));
    assert_eq!(resolved.warnings.len(), 1);
    assert!(resolved.warnings[0].contains("`data_dir` is ignored here"));
    assert!(!resolved.file_sets("data_dir"));
}

#[test]
fn a_project_sets_nothing_that_decides_what_is_read() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project/.kb");
    std::fs::create_dir_all(&project).unwrap();
    let text = "data_dir: /x\nembedding: {model_dir: /m, model: e5}\n\
                ingestion: {follow_links: true}\nsearch: {rerank_command: rm}\n";
    std::fs::write(project.join(FILE_NAME), text).unwrap();
    let resolved = load_base(&environment(home.path(), &[]), &Vec::new(), &project).unwrap();
    let config = &resolved.config;
    assert_eq!(config.embedding.model, "e5");
    assert_eq!(config.embedding.model_dir, Path::new(""));
    assert!(!config.ingestion.follow_links && config.search.rerank_command.is_empty());
    assert_eq!(resolved.warnings.len(), OWN_KEYS.len());
    for (warning, key) in resolved.warnings.iter().zip(OWN_KEYS) {
        assert!(warning.contains(&format!("`{key}` has no effect in the settings of a project")));
        assert!(is_own_key(key) && !resolved.file_sets(key));
    }
    assert!(!is_own_key("embedding.model"));
}

#[test]
fn ten_unknown_keys_are_named_and_the_others_counted() {
    for (num_keys, num_warnings, last) in [(10, 10, "`k9`"), (11, 11, "1 more unknown keys")] {
        let text: String = (0..num_keys).map(|number| format!("k{number}: 1\n")).collect();
        let home = home_with(&text);
        let resolved = load(&environment(home.path(), &[]), &Vec::new()).unwrap();
        assert_eq!(resolved.warnings.len(), num_warnings);
        assert!(resolved.warnings[num_warnings - 1].contains(last), "{:?}", resolved.warnings);
    }
}

#[test]
fn keys_have_a_long_variable_and_some_a_short_one() {
    assert_eq!(variable_names("chunking.pdf.max_tokens"), ["KB_CHUNKING_PDF_MAX_TOKENS"]);
    assert_eq!(variable_names("embedding.model"), ["KB_MODEL", "KB_EMBEDDING_MODEL"]);
    assert_eq!(
        variable_names("search.default_format"),
        ["KB_DEFAULT_FORMAT", "KB_SEARCH_DEFAULT_FORMAT"]
    );
}
