//! Tests the advice on errors.

use super::*;

#[test]
fn a_file_of_an_older_format_can_be_converted() {
    let hint =
        |path: &str| Error::UnsupportedFormat { path: path.into(), found: None }.hint().unwrap();
    for (path, to) in [("a.doc", "docx"), ("a.XLS", "xlsx"), ("b/a.ppt", "pptx")] {
        let expected = format!("convert it: `soffice --headless --convert-to {to} FILE`");
        assert_eq!(hint(path), expected);
    }
    assert!(hint("a.msg").contains(".eml"));
    assert!(hint("a.dat").starts_with("supported: "));
}

#[test]
fn another_model_is_named_as_it_is_typed() {
    let hint = |wanted: &str| {
        let bound = "bge-small int8".to_owned();
        Error::ModelMismatch { bound, bound_dim: 384, wanted: wanted.to_owned() }.hint().unwrap()
    };
    assert_eq!(hint("e5-small fp32"), "run `kb reindex --model e5-small` to switch models");
    assert_eq!(hint("bge-small fp32"), "run `kb reindex` to compute all vectors again");
    let directory = std::env::temp_dir();
    let directory = directory.to_str().unwrap();
    let expected = format!("run `kb reindex --model-dir {directory}` to switch models");
    assert_eq!(hint(directory), expected);
}
