//! Static models give the vectors of sentence-transformers and `model2vec`, without the runtime
//! library; tests/fixtures/families/make.py computed them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kb_base::document::Precision;
use kb_embed::{EmbeddingSide, ModelChoice, ModelOptions, install, locate, open, open_single};
use safetensors::tensor::Dtype;
use serde_json::json;

use crate::embedding::own_locations;
use crate::env::TestEnv;
use crate::families::{FIXTURES, Tensors, largest_difference, num_tokens, numbers, safetensors};
use crate::heads::write;
use crate::hub::Hub;
use crate::tiny_model::draw;
use crate::word_model::{WordModel, check_database, find, word_env};

const DIM: usize = 16;

/// Half precision rounds nothing, and sums of floats differ in their order.
const TOLERANCE: f32 = 1e-6;

/// Returns the files of a static model; make.py has the same lines.
pub(crate) fn files(number: u64, tokenizer: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let num_tokens = num_tokens(tokenizer);
    let mut state = number + 1;
    let mut drawn = |count: usize| -> Vec<f32> { (0..count).map(|_| draw(&mut state)).collect() };
    let table = (vec![num_tokens, DIM], drawn(num_tokens * DIM));
    let shares = (vec![num_tokens], drawn(num_tokens).into_iter().map(f32::abs).collect());
    if number == 0 {
        let modules = json!([{"idx": 0, "name": "0", "path": "0_StaticEmbedding",
            "type": "sentence_transformers.models.StaticEmbedding"}]);
        let tensors = Tensors::from([("embedding.weight".to_owned(), table)]);
        return BTreeMap::from([
            ("modules.json".to_owned(), modules.to_string().into_bytes()),
            ("0_StaticEmbedding/tokenizer.json".to_owned(), tokenizer.to_vec()),
            ("0_StaticEmbedding/model.safetensors".to_owned(), safetensors(&tensors, Dtype::F32)),
        ]);
    }
    let config = json!({"model_type": "model2vec", "normalize": true});
    let modules = json!([
        {"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"},
        {"idx": 1, "name": "1", "path": "1_Normalize",
            "type": "sentence_transformers.models.Normalize"},
    ]);
    let tensors = Tensors::from([("embeddings".to_owned(), table), ("weights".to_owned(), shares)]);
    BTreeMap::from([
        ("config.json".to_owned(), config.to_string().into_bytes()),
        ("modules.json".to_owned(), modules.to_string().into_bytes()),
        ("tokenizer.json".to_owned(), tokenizer.to_vec()),
        ("model.safetensors".to_owned(), safetensors(&tensors, Dtype::F16)),
    ])
}

fn tokenizer(name: &str) -> Vec<u8> {
    fs::read(format!("{FIXTURES}/{name}.json")).unwrap()
}

#[test]
fn static_models_give_the_vectors_of_their_libraries() {
    let expected = numbers("static.f32");
    let texts = fs::read_to_string(format!("{FIXTURES}/texts.jsonl")).unwrap();
    let texts: Vec<String> = texts
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].clone())
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    let num_texts = texts.len() - 1;
    let models = expected.chunks_exact(num_texts * DIM);
    assert_eq!(models.len(), 3);
    for ((number, name), expected) in (0..).zip(["wordpiece", "wordpiece", "unigram"]).zip(models) {
        let dir = tempfile::tempdir().unwrap();
        let model_dir = dir.path().join("model");
        write(&files(number, &tokenizer(name)), &model_dir);
        let mut locations = own_locations(dir.path());
        (locations.runtime_path, locations.library_dirs) = (None, Vec::new());
        let choice = ModelChoice::directory(&model_dir);
        install(&choice, &locations, &mut |_| {}).unwrap();
        let installed = locate(&choice, &locations).unwrap();
        let options = ModelOptions::default();
        for embedder in [
            open(&installed, &options, &mut |_| {}).unwrap(),
            open_single(&installed, &options, &mut |_| {}).unwrap(),
        ] {
            let binding = embedder.binding();
            assert_eq!((binding.dim, binding.precision), (16, Precision::Fp32));
            for (text, expected) in texts.iter().zip(expected.chunks_exact(DIM)) {
                let (found, is_cut) = embedder.embed_cut(text, EmbeddingSide::Passage).unwrap();
                let difference = largest_difference(&found.vector, expected);
                // An empty text has no direction in the libraries.
                let is_empty = expected.iter().all(|number| *number == 0.0);
                let fits = difference < TOLERANCE || is_empty && found.vector[0] > 0.99;
                assert!(fits && !is_cut, "{number}, {text:.40}: {difference}");
            }
            assert!(embedder.embed_cut(&texts[num_texts], EmbeddingSide::Query).unwrap().1);
        }
        assert!(!dir.path().join("kb/graphs").exists(), "no graph is built");
    }
}

/// The text of a note in every home.
const NOTE: &str = "The lamp keeper has the salt.";

#[test]
fn a_database_moves_to_a_static_model_and_back() {
    let env = word_env();
    let words = &WordModel::default().files()["tokenizer.json"];
    write(&files(1, words), &env.path("static"));
    let ids = || env.sql::<String>("SELECT group_concat(id || text, ',') FROM chunks");
    let before = ids();
    for (model, dim) in [("static", 16), ("tiny", 32), ("static", 16)] {
        env.ok(&["reindex", "--model-dir", model]);
        assert_eq!(env.json(&["status", "--format", "json"])["embedding_dim"], json!(dim));
        assert_eq!(ids(), before);
        check_database(&env);
        assert_eq!(find(&env, &[NOTE, "--vec-only"])[0], "Lamp");
    }
    env.ok(&["add", "--note", "\u{1f9ed}", "--title", "Unknown"]);
    assert_eq!(find(&env, &[NOTE, "--vec-only"]).len(), 4);
}

#[test]
fn a_static_model_needs_no_runtime_library() {
    let env = TestEnv::without_model();
    let words = &WordModel::default().files()["tokenizer.json"];
    write(&files(1, words), &env.path("static"));
    env.write("docs/tides.md", "# Tides\n\nThe tide gauge in the harbour is frozen.\n");
    env.ok(&["init", "--model-dir", "static"]);
    env.ok(&["add", "docs"]);
    assert_eq!(find(&env, &["frozen gauge", "--vec-only"]), ["Tides"]);
    let setup = env.json(&["init", "--status", "--format", "json"]);
    assert_eq!(setup["runtime"], json!(null));
    let shown = env.ok(&["doctor"]).stdout;
    assert!(shown.contains("kb computes vectors with 16 dimensions"), "{shown}");
}

#[test]
fn a_static_model_of_the_hub_needs_no_runtime_library_either() {
    let words = &WordModel::default().files()["tokenizer.json"];
    for number in [0, 1] {
        let hub = Hub::serve("someone/static", files(number, words));
        let mut env = TestEnv::without_model();
        env.set("HF_ENDPOINT", &hub.endpoint);
        env.write("docs/tides.md", "# Tides\n\nThe tide gauge in the harbour is frozen.\n");
        let shown = env.ok(&["init", "--model", "someone/static"]).stderr;
        assert!(!shown.contains("ONNX Runtime") && !env.asked_python(), "{shown}");
        env.ok(&["add", "docs"]);
        assert_eq!(find(&env, &["frozen gauge", "--vec-only"]), ["Tides"]);
        hub.take_requests();
        env.ok(&["init"]);
        assert_eq!(hub.take_requests(), [""; 0]);
    }
}

#[test]
fn a_table_that_kb_does_not_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let model_dir = dir.path().join("model");
    write(&files(1, &tokenizer("wordpiece")), &model_dir);
    let locations = own_locations(dir.path());
    let message = |name: &str| {
        let tensors = Tensors::from([(name.to_owned(), (vec![1, 1], vec![0.5]))]);
        fs::write(model_dir.join("model.safetensors"), safetensors(&tensors, Dtype::F32)).unwrap();
        let located = locate(&ModelChoice::directory(Path::new(&model_dir)), &locations);
        located.unwrap_err().to_string()
    };
    assert!(message("mapping").ends_with("vectors with a `mapping` are not supported"));
    assert!(message("other").ends_with("it has no tensor embeddings or embedding.weight"));
}
