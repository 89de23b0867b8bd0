//! Tests of what a model directory states, and of what it may leave out.

use std::fs;

use super::*;
use crate::registry;

const BERT: &str = r#"{"model_type": "bert", "hidden_size": 384, "num_attention_heads": 12,
    "num_hidden_layers": 6, "max_position_embeddings": 512, "layer_norm_eps": 1e-12}"#;

fn facts(files: &[(&str, &str)], spec: Option<&ModelSpec>) -> Result<ModelProperties> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    ModelProperties::read(dir.path(), spec)
}

#[test]
fn a_plain_transformer_is_pooled_by_the_mean() {
    let facts = facts(&[("config.json", BERT)], None).unwrap();
    assert_eq!((facts.family.clone(), facts.pooling), (Family::Bert, Pooling::Mean));
    assert_eq!((facts.max_tokens, facts.first_position, facts.dim), (512, 0, 384));
}

#[test]
fn a_directory_overrides_the_defaults() {
    let facts = facts(
        &[
            ("config.json", BERT),
            ("sentence_bert_config.json", r#"{"max_seq_length": 128}"#),
            ("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true, "x": 384}"#),
            (
                "config_sentence_transformers.json",
                r#"{"prompts": {"query": "query: ", "document": "passage: "}}"#,
            ),
        ],
        None,
    )
    .unwrap();
    assert_eq!((facts.max_tokens, facts.pooling), (128, Pooling::Cls));
    assert_eq!((&*facts.query_prefix, &*facts.passage_prefix), ("query: ", "passage: "));
}

#[test]
fn roberta_positions_start_after_the_padding_token() {
    let config = BERT.replace("\"bert\"", "\"xlm-roberta\"").replace("512", "514");
    let facts = facts(&[("config.json", &config)], None).unwrap();
    assert_eq!((facts.first_position, facts.max_tokens), (2, 512));
}

#[test]
fn an_unbounded_length_is_ignored() {
    let tokenizer = r#"{"model_max_length": 1000000000000000019884624838656}"#;
    let files = [("config.json", BERT), ("tokenizer_config.json", tokenizer)];
    assert_eq!(facts(&files, None).unwrap().max_tokens, 512);
}

#[test]
fn a_row_of_the_registry_overrides_the_directory() {
    let spec = registry::model("e5-small-v2").unwrap();
    let facts = facts(&[("config.json", BERT)], Some(spec)).unwrap();
    assert_eq!(facts.query_prefix, "query: ");
    let wide = BERT.replace("384", "768");
    let error = self::facts(&[("config.json", &wide)], Some(spec)).unwrap_err();
    assert!(error.to_string().contains("width is 768, expected 384"), "{error}");
}

#[test]
fn an_unsupported_model_is_named() {
    let other = BERT.replace("\"bert\"", "\"nomic_bert\"");
    let facts = facts(&[("config.json", &other)], None).unwrap();
    assert_eq!(facts.family, Family::Unsupported("architecture `nomic_bert`".to_owned()));
}

#[test]
fn unusable_files_are_named_in_errors() {
    for (files, message) in [
        (vec![], "config.json: there is no such file"),
        (vec![("config.json", "{")], "config.json"),
        (vec![("config.json", "{}")], "`hidden_size` is missing"),
        (vec![("config.json", "[3]")], "`hidden_size` is missing"),
        (
            vec![
                ("config.json", BERT),
                ("modules.json", r#"[{"type": "sentence_transformers.models.Dense"}]"#),
            ],
            "module `Dense` is not supported",
        ),
    ] {
        let error = facts(&files, None).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}
