//! Tests how layers of settings are merged.

use super::*;
use crate::config::{DefaultFormat, PrecisionWord};

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
    assert_eq!(*resolved.origin("search.rrf_k"), Origin::Default);
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
    assert!(matches!(plain.origin("search.rrf_k"), Origin::File(_)));
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
    assert_eq!(config.embedding.precision, PrecisionWord::Int8);
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
