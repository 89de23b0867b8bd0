//! The layers of `mpnet` and `modernbert` give the vectors of sentence-transformers, on small seeded weights;
//! tests/fixtures/families/make.py computed them from the models of layers.json.

use std::collections::BTreeMap;
use std::fs;

use kb_base::document::Precision;
use kb_embed::{ModelChoice, ModelOptions, locate};
use safetensors::tensor::Dtype;
use serde_json::{Value, json};

use crate::embedding::own_locations;
use crate::families::{FIXTURES, Tensors, largest_difference, numbers, reference, safetensors};
use crate::heads::{open_both, write};
use crate::tiny_model::draw;

const DIM: usize = 32;

/// Largest difference in any dimension; 0.0000002 was measured.
const TOLERANCE: f32 = 1e-5;

/// The same for layers in 8 bits; 0.0024 was measured.
const INT8_TOLERANCE: f32 = 0.01;

fn models() -> Vec<Value> {
    let text = fs::read_to_string(format!("{FIXTURES}/layers.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Draws the weights in the order of their names; make.py has the same lines.
fn weights(model: &Value) -> Tensors {
    let mut state = 1;
    let before = model["before"].as_str().unwrap();
    let shapes = model["tensors"].as_object().unwrap().iter().map(|(name, shape)| {
        let shape = shape.as_array().unwrap().iter().map(|len| len.as_u64().unwrap());
        let shape: Vec<usize> = shape.map(|len| usize::try_from(len).unwrap()).collect();
        let is_small = name.ends_with(".bias") || name.contains("layer") && shape.len() == 2;
        let scale = if is_small { 0.125 } else { 1.0 };
        let data = (0..shape.iter().product()).map(|_| draw(&mut state) * scale).collect();
        (format!("{before}{name}"), (shape, data))
    });
    shapes.collect()
}

fn files(model: &Value) -> BTreeMap<String, Vec<u8>> {
    let dtype = if model["dtype"] == "BF16" { Dtype::BF16 } else { Dtype::F32 };
    let modules = json!([
        {"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]);
    let pooling = json!({"word_embedding_dimension": DIM, "pooling_mode": model["pooling"]});
    let tokenizer = format!("{FIXTURES}/{}.json", model["tokenizer"].as_str().unwrap());
    BTreeMap::from([
        ("config.json".to_owned(), model["config"].to_string().into_bytes()),
        ("tokenizer.json".to_owned(), fs::read(tokenizer).unwrap()),
        ("model.safetensors".to_owned(), safetensors(&weights(model), dtype)),
        ("sentence_bert_config.json".to_owned(), br#"{"max_seq_length": 256}"#.to_vec()),
        ("modules.json".to_owned(), modules.to_string().into_bytes()),
        ("1_Pooling/config.json".to_owned(), pooling.to_string().into_bytes()),
    ])
}

#[test]
fn other_layers_give_the_vectors_of_sentence_transformers() {
    let expected = numbers("layers.f32");
    let models = models();
    assert_eq!(models.len(), 3);
    for (model, expected) in models.iter().zip(expected.chunks(expected.len() / models.len())) {
        let dir = tempfile::tempdir().unwrap();
        let model_dir = dir.path().join("model");
        write(&files(model), &model_dir);
        let installed =
            locate(&ModelChoice::directory(&model_dir), &own_locations(dir.path())).unwrap();
        let reference = reference(expected, DIM);
        for (precision, tolerance) in
            [(Precision::Fp32, TOLERANCE), (Precision::Int8, INT8_TOLERANCE)]
        {
            let options = ModelOptions { precision, ..ModelOptions::default() };
            for embedder in open_both(&installed, &options) {
                assert_eq!(embedder.binding().precision, precision);
                let mut num_cut = 0;
                for (side, text, expected) in &reference {
                    let (found, is_cut) = embedder.embed_cut(text, *side).unwrap();
                    let difference = largest_difference(&found.vector, expected);
                    assert!(difference < tolerance, "{} {precision}: {difference}", model["name"]);
                    num_cut += usize::from(is_cut);
                }
                assert_eq!(num_cut, 1, "the last text is too long");
            }
        }
        // A reference that another text also matched would show nothing.
        for (idx, (.., vector)) in reference.iter().enumerate() {
            for (.., other) in &reference[..idx] {
                assert!(largest_difference(vector, other) > 2.0 * INT8_TOLERANCE);
            }
        }
    }
}
