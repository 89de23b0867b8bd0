//! Every model of `models.toml` gives the vectors of `transformers`, on small seeded weights.
//!
//! The default model is tested on its real weights (`embedding`). For the others, a hub on the
//! loopback interface serves a model with the real width, heads and length and two layers;
//! tests/fixtures/families/make.py computed the expected vectors, with prefixes and pooling as the
//! models' own pages state them.

use std::collections::BTreeMap;
use std::fs;

use kb_base::document::Precision;
use kb_embed::{
    DEFAULT_MODEL, Embedder, EmbeddingSide, ModelChoice, ModelOptions, install, models, open,
    open_single,
};
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};

use crate::embedding::own_locations;
use crate::hub::Hub;
use crate::tiny_model::{draw, half};

pub(crate) const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/families");
const DIM: usize = 384;
const NUM_LAYERS: usize = 2;
const INNER: usize = 64;
const NUM_POSITIONS: usize = 512;

/// Largest difference in any dimension; rounding of 32-bit floats in another order gives 1e-6.
const TOLERANCE: f32 = 1e-4;

/// Rows with a Dense, with the layers of `ModernBERT`, or without layers: `heads`, `layer_kinds` and `static_models` compare
/// such models.
const OTHER_LAYERS: [&str; 5] = [
    "mdbr-leaf-ir",
    "granite-embedding-small-english-r2",
    "granite-embedding-97m-multilingual-r2",
    "gte-modernbert-base",
    "potion-retrieval-32M",
];

/// Rows whose pooling, prefixes and length here are those of another row.
const SAME_REFERENCE: [(&str, &str); 2] = [
    ("snowflake-arctic-embed-xs", "snowflake-arctic-embed-s"),
    ("mxbai-embed-xsmall-v1", "gte-small"),
];

/// Shapes and numbers by name.
pub(crate) type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// Draws all weights in the order of their names; make.py has the same lines.
pub(crate) fn weights(num_tokens: usize, dim: usize) -> Tensors {
    let mut shapes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (kind, rows) in [("word", num_tokens), ("position", NUM_POSITIONS), ("token_type", 2)] {
        shapes.insert(format!("embeddings.{kind}_embeddings.weight"), vec![rows, dim]);
    }
    let mut norms = vec!["embeddings.LayerNorm".to_owned()];
    for layer in (0..NUM_LAYERS).map(|number| format!("encoder.layer.{number}")) {
        for (name, outputs, inputs) in [
            ("attention.self.query", dim, dim),
            ("attention.self.key", dim, dim),
            ("attention.self.value", dim, dim),
            ("attention.output.dense", dim, dim),
            ("intermediate.dense", INNER, dim),
            ("output.dense", dim, INNER),
        ] {
            shapes.insert(format!("{layer}.{name}.weight"), vec![outputs, inputs]);
            shapes.insert(format!("{layer}.{name}.bias"), vec![outputs]);
        }
        norms.push(format!("{layer}.attention.output.LayerNorm"));
        norms.push(format!("{layer}.output.LayerNorm"));
    }
    for norm in norms {
        shapes.insert(format!("{norm}.weight"), vec![dim]);
        shapes.insert(format!("{norm}.bias"), vec![dim]);
    }
    let mut state = 1;
    let drawn = shapes.into_iter().map(|(name, shape)| {
        let is_small = name.ends_with(".bias") || name.contains(".layer.") && shape.len() == 2;
        let scale = if is_small { 0.125 } else { 1.0 };
        let data = (0..shape.iter().product()).map(|_| draw(&mut state) * scale).collect();
        (name, (shape, data))
    });
    drawn.collect()
}

/// Returns the files of a model as its hub has them.
fn files(tokenizer: &[u8], is_half: bool) -> BTreeMap<String, Vec<u8>> {
    let dtype = if is_half { Dtype::F16 } else { Dtype::F32 };
    BTreeMap::from([
        ("config.json".to_owned(), config(DIM).to_string().into_bytes()),
        ("tokenizer.json".to_owned(), tokenizer.to_vec()),
        ("model.safetensors".to_owned(), safetensors(&weights(num_tokens(tokenizer), DIM), dtype)),
    ])
}

/// Returns the configuration of a model with two layers.
pub(crate) fn config(dim: usize) -> Value {
    json!({
        "model_type": "bert", "hidden_size": dim, "num_attention_heads": 12 * dim / DIM,
        "num_hidden_layers": NUM_LAYERS, "intermediate_size": INNER, "hidden_act": "gelu",
        "layer_norm_eps": 1e-12, "max_position_embeddings": NUM_POSITIONS,
    })
}

/// Returns the size of a tokenizer's vocabulary.
pub(crate) fn num_tokens(tokenizer: &[u8]) -> usize {
    let parsed: Value = serde_json::from_slice(tokenizer).unwrap();
    let vocabulary = &parsed["model"]["vocab"];
    vocabulary.as_array().map_or_else(|| vocabulary.as_object().unwrap().len(), Vec::len)
}

/// Writes tensors in a type that holds them exactly, or for `BF16` nearly.
pub(crate) fn safetensors(tensors: &Tensors, dtype: Dtype) -> Vec<u8> {
    let bytes = |number: &f32| match dtype {
        Dtype::F16 => half(*number).to_le_bytes().to_vec(),
        Dtype::BF16 => number.to_le_bytes()[2..].to_vec(),
        _ => number.to_le_bytes().to_vec(),
    };
    let tensors: Vec<(&String, &Vec<usize>, Vec<u8>)> = tensors
        .iter()
        .map(|(name, (shape, data))| (name, shape, data.iter().flat_map(bytes).collect()))
        .collect();
    let views = tensors.iter().map(|(name, shape, bytes)| {
        ((*name).clone(), TensorView::new(dtype, (*shape).clone(), bytes).unwrap())
    });
    safetensors::serialize(views, None).unwrap()
}

/// Reads the numbers of a file.
pub(crate) fn numbers(file: &str) -> Vec<f32> {
    let bytes = fs::read(format!("{FIXTURES}/{file}")).unwrap();
    bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect()
}

/// Returns the texts with their sides, and their expected vectors.
pub(crate) fn reference(numbers: &[f32], dim: usize) -> Vec<(EmbeddingSide, String, Vec<f32>)> {
    let texts = fs::read_to_string(format!("{FIXTURES}/texts.jsonl")).unwrap();
    let lines = texts.lines().zip(numbers.chunks_exact(dim)).map(|(line, vector)| {
        let line: Value = serde_json::from_str(line).unwrap();
        let side =
            if line["side"] == "query" { EmbeddingSide::Query } else { EmbeddingSide::Passage };
        (side, line["text"].as_str().unwrap().to_owned(), vector.to_vec())
    });
    let found: Vec<_> = lines.collect();
    assert_eq!((found.len(), numbers.len()), (texts.lines().count(), found.len() * dim));
    found
}

pub(crate) fn largest_difference(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| (left - right).abs()).fold(0.0, f32::max)
}

/// Compares a model with its reference: tokens, prefixes, cut texts, pooling, unit length, on the
/// runtime and in kb's own code.
fn check(model: &str) {
    let name = if model.starts_with("multilingual") { "unigram" } else { "wordpiece" };
    let tokenizer = fs::read(format!("{FIXTURES}/{name}.json")).unwrap();
    let choice = ModelChoice::named(model).unwrap();
    let hub = Hub::serve(&choice.spec().unwrap().hub_id, files(&tokenizer, model == "gte-small"));
    let dir = tempfile::tempdir().unwrap();
    let mut locations = own_locations(dir.path());
    locations.hf_endpoint = Some(hub.endpoint.clone());
    let installed = install(&choice, &locations, &mut |_| {}).unwrap();
    let options = ModelOptions { precision: Precision::Fp32, ..ModelOptions::default() };
    let embedders: [Box<dyn Embedder>; 2] = [
        open(&installed, &options, &mut |_| {}).unwrap(),
        open_single(&installed, &options, &mut |_| {}).unwrap(),
    ];
    let known =
        SAME_REFERENCE.iter().find(|(name, _)| *name == model).map_or(model, |(_, known)| known);
    let reference = reference(&numbers(&format!("{known}.f32")), DIM);
    for embedder in embedders {
        let mut num_cut = 0;
        for (side, text, expected) in &reference {
            let (found, is_cut) = embedder.embed_cut(text, *side).unwrap();
            let difference = largest_difference(&found.vector, expected);
            assert!(difference < TOLERANCE, "{model}, {text:.40}: {difference}");
            num_cut += usize::from(is_cut);
        }
        assert_eq!(num_cut, 1, "{model}: the last text is too long");
    }
    // A reference that another text also matched would show nothing.
    for (idx, (.., vector)) in reference.iter().enumerate() {
        for (.., other) in &reference[..idx] {
            assert!(largest_difference(vector, other) > 100.0 * TOLERANCE, "{model}");
        }
    }
}

/// The row of models.toml with a Dense, and one whose files are of another width.
#[test]
fn rows_of_other_kinds_read_the_files_of_their_models() {
    let tokenizer = fs::read(format!("{FIXTURES}/wordpiece.json")).unwrap();
    let mut leaf = files(&tokenizer, false);
    let module = |path: &str, kind: &str| json!({"path": path, "type": format!("sentence_transformers.models.{kind}")});
    let modules = json!([
        module("", "Transformer"),
        module("1_Pooling", "Pooling"),
        module("2_Dense", "Dense")
    ]);
    let dense = json!({"in_features": DIM, "out_features": 768, "bias": false,
        "activation_function": "torch.nn.modules.linear.Identity"});
    let mut state = 1;
    let drawn = (0..768 * DIM).map(|_| draw(&mut state)).collect();
    let tensors = Tensors::from([("linear.weight".to_owned(), (vec![768, DIM], drawn))]);
    leaf.insert("modules.json".into(), modules.to_string().into_bytes());
    leaf.insert("2_Dense/config.json".into(), dense.to_string().into_bytes());
    leaf.insert("2_Dense/model.safetensors".into(), safetensors(&tensors, Dtype::F32));
    let install_row = |name: &str, files: BTreeMap<String, Vec<u8>>| {
        let choice = ModelChoice::named(name).unwrap();
        let hub = Hub::serve(&choice.spec().unwrap().hub_id, files);
        let dir = tempfile::tempdir().unwrap();
        let mut locations = own_locations(dir.path());
        locations.hf_endpoint = Some(hub.endpoint.clone());
        let installed = install(&choice, &locations, &mut |_| {});
        installed.map(|installed| {
            let embedder = open_single(&installed, &ModelOptions::default(), &mut |_| {}).unwrap();
            let query = embedder.embed_query("tide gauge").unwrap().vector;
            let passage = embedder.embed_passages(&["tide gauge"]).unwrap().remove(0).vector;
            (embedder.binding().dim, largest_difference(&query, &passage))
        })
    };
    let (dim, difference) = install_row("mdbr-leaf-ir", leaf).unwrap();
    assert!(dim == 768 && difference > 0.001, "the prompt is before queries: {dim}, {difference}");
    let narrow = crate::static_models::files(1, &tokenizer);
    let error = install_row("potion-retrieval-32M", narrow).unwrap_err().to_string();
    assert!(error.contains("width is 16, expected 512"), "{error}");
}

#[test]
fn every_listed_model_gives_the_vectors_of_transformers() {
    let is_other = |name: &str| name == DEFAULT_MODEL || OTHER_LAYERS.contains(&name);
    let names: Vec<&str> =
        models().map(|spec| &*spec.name).filter(|name| !is_other(name)).collect();
    assert_eq!(names.len(), 8);
    std::thread::scope(|scope| {
        for name in names {
            scope.spawn(move || check(name));
        }
    });
}
