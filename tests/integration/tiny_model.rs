//! Generates BERT-family models from a seed, and computes their exact answers.
//!
//! The directories have the files that sentence-transformers writes, in the smallest size.
//! `Tiny::embed` is a second implementation of the architecture, as simple as possible, in 64-bit
//! floats.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kb_base::numeric::exponential;
use safetensors::tensor::{Dtype, TensorView};

const DIM: usize = 8;
const INNER: usize = 12;
const NUM_HEADS: usize = 2;
const NUM_LAYERS: usize = 2;
const NUM_POSITIONS: usize = 34;
const NUM_TOKENS: usize = 10;

/// Full words, one suffix, single letters.
pub(crate) const TOKENIZER: &str = r###"{"version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
        "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
        "pair": [],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
            "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
    "decoder": null,
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "install": 4, "##ing": 5,
            "git": 6, "query": 7, ":": 8, "a": 9}}}"###;

/// The differences between models of the family.
#[derive(Clone, Copy)]
pub(crate) struct Tiny {
    pub(crate) model_type: &'static str,
    pub(crate) activation: &'static str,
    pub(crate) pooling: &'static str,
    pub(crate) prefix: &'static str,
    pub(crate) is_half: bool,
    pub(crate) seed: u64,
}

impl Default for Tiny {
    fn default() -> Self {
        Self {
            model_type: "bert",
            activation: "gelu",
            pooling: "mean",
            prefix: "",
            is_half: false,
            seed: 1,
        }
    }
}

impl Tiny {
    /// Writes the files of the model.
    pub(crate) fn write(&self, dir: &Path) {
        for (name, bytes) in self.files() {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    /// Returns the files of the model by name.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let config = if self.model_type == "distilbert" {
            serde_json::json!({"model_type": "distilbert", "activation": self.activation,
                "dim": DIM, "n_heads": NUM_HEADS, "n_layers": NUM_LAYERS,
                "max_position_embeddings": NUM_POSITIONS})
        } else {
            serde_json::json!({"model_type": self.model_type, "hidden_act": self.activation,
                "hidden_size": DIM, "num_attention_heads": NUM_HEADS,
                "num_hidden_layers": NUM_LAYERS, "layer_norm_eps": 1e-5, "pad_token_id": 1,
                "max_position_embeddings": NUM_POSITIONS})
        };
        let pooling = serde_json::json!({
            "pooling_mode_cls_token": self.pooling == "cls",
            "pooling_mode_mean_tokens": self.pooling == "mean"});
        let length = serde_json::json!({"max_seq_length": 24});
        BTreeMap::from([
            ("config.json".to_owned(), config.to_string().into_bytes()),
            ("1_Pooling/config.json".to_owned(), pooling.to_string().into_bytes()),
            ("sentence_bert_config.json".to_owned(), length.to_string().into_bytes()),
            ("tokenizer.json".to_owned(), TOKENIZER.as_bytes().to_vec()),
            ("model.safetensors".to_owned(), self.safetensors()),
        ])
    }

    fn safetensors(&self) -> Vec<u8> {
        let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = self
            .tensors()
            .into_iter()
            .map(|(name, (shape, data))| {
                let bytes = if self.is_half {
                    data.iter().flat_map(|number| half(*number).to_le_bytes()).collect()
                } else {
                    data.iter().flat_map(|number| number.to_le_bytes()).collect()
                };
                (format!("{}{name}", self.prefix), shape, bytes)
            })
            .collect();
        let dtype = if self.is_half { Dtype::F16 } else { Dtype::F32 };
        let views = tensors.iter().map(|(name, shape, bytes)| {
            (name.clone(), TensorView::new(dtype, shape.clone(), bytes).unwrap())
        });
        safetensors::serialize(views, None).unwrap()
    }

    /// Returns all weights, drawn from the seed in the order of their names. They are multiples of
    /// 1/1024, which half precision holds exactly.
    fn tensors(&self) -> BTreeMap<String, (Vec<usize>, Vec<f32>)> {
        let mut shapes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut add = |name: String, shape: &[usize]| shapes.insert(name, shape.to_vec());
        add("embeddings.word_embeddings.weight".into(), &[NUM_TOKENS, DIM]);
        add("embeddings.position_embeddings.weight".into(), &[NUM_POSITIONS, DIM]);
        if self.model_type != "distilbert" {
            add("embeddings.token_type_embeddings.weight".into(), &[2, DIM]);
        }
        let mut norms = vec!["embeddings.LayerNorm".to_owned()];
        for layer in 0..NUM_LAYERS {
            let names = self.names();
            for (idx, name) in names.linear.iter().enumerate() {
                let [outputs, inputs] =
                    [[DIM, DIM], [DIM, DIM], [DIM, DIM], [DIM, DIM], [INNER, DIM], [DIM, INNER]]
                        [idx];
                add(format!("{}.{layer}.{name}.weight", names.layer), &[outputs, inputs]);
                add(format!("{}.{layer}.{name}.bias", names.layer), &[outputs]);
            }
            norms.extend(names.norms.iter().map(|norm| format!("{}.{layer}.{norm}", names.layer)));
        }
        for norm in norms {
            add(format!("{norm}.weight"), &[DIM]);
            add(format!("{norm}.bias"), &[DIM]);
        }
        let mut state = self.seed;
        shapes
            .into_iter()
            .map(|(name, shape)| {
                let data = (0..shape.iter().product()).map(|_| draw(&mut state)).collect();
                (name, (shape, data))
            })
            .collect()
    }

    fn names(&self) -> Names {
        if self.model_type == "distilbert" {
            Names {
                layer: "transformer.layer",
                linear: [
                    "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
                    "ffn.lin1", "ffn.lin2",
                ],
                norms: ["sa_layer_norm", "output_layer_norm"],
            }
        } else {
            Names {
                layer: "encoder.layer",
                linear: [
                    "attention.self.query", "attention.self.key", "attention.self.value",
                    "attention.output.dense", "intermediate.dense", "output.dense",
                ],
                norms: ["attention.output.LayerNorm", "output.LayerNorm"],
            }
        }
    }

    /// Computes the model's vector for token ids, special tokens included.
    pub(crate) fn embed(&self, ids: &[usize]) -> Vec<f64> {
        let tensors = self.tensors();
        let get = |name: &str| -> Vec<f64> {
            tensors[name].1.iter().map(|number| f64::from(*number)).collect()
        };
        let epsilon = if self.model_type == "distilbert" { 1e-12 } else { 1e-5 };
        let first = if self.model_type.contains("roberta") { 2 } else { 0 };
        let norm = |rows: &mut [Vec<f64>], name: &str| {
            let (weight, bias) = (get(&format!("{name}.weight")), get(&format!("{name}.bias")));
            for row in rows {
                let mean = row.iter().sum::<f64>() / 8.0;
                let variance = row.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / 8.0;
                for (idx, value) in row.iter_mut().enumerate() {
                    *value =
                        (*value - mean) / (variance + epsilon).sqrt() * weight[idx] + bias[idx];
                }
            }
        };
        let linear = |rows: &[Vec<f64>], name: &str| -> Vec<Vec<f64>> {
            let (weight, bias) = (get(&format!("{name}.weight")), get(&format!("{name}.bias")));
            let output = |row: &Vec<f64>| {
                let of = |(idx, bias): (usize, &f64)| {
                    let weights = &weight[idx * row.len()..][..row.len()];
                    bias + row
                        .iter()
                        .zip(weights)
                        .map(|(number, weight)| number * weight)
                        .sum::<f64>()
                };
                bias.iter().enumerate().map(of).collect()
            };
            rows.iter().map(output).collect()
        };
        let add = |left: &mut [Vec<f64>], right: &[Vec<f64>]| {
            for (left, right) in left.iter_mut().zip(right) {
                left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
            }
        };

        let words = get("embeddings.word_embeddings.weight");
        let positions = get("embeddings.position_embeddings.weight");
        let types = tensors
            .get("embeddings.token_type_embeddings.weight")
            .map_or(vec![0.0; DIM], |(_, data)| {
                data.iter().map(|number| f64::from(*number)).collect()
            });
        let mut rows: Vec<Vec<f64>> = ids
            .iter()
            .enumerate()
            .map(|(position, id)| {
                let at = |column: usize| {
                    words[id * DIM + column]
                        + positions[(first + position) * DIM + column]
                        + types[column]
                };
                (0..DIM).map(at).collect()
            })
            .collect();
        norm(&mut rows, "embeddings.LayerNorm");
        let names = self.names();
        for layer in 0..NUM_LAYERS {
            let at = |name: &str| format!("{}.{layer}.{name}", names.layer);
            let [query, key, value] = [0, 1, 2].map(|idx| linear(&rows, &at(names.linear[idx])));
            let mut mixed = vec![vec![0.0; DIM]; rows.len()];
            let width = DIM / NUM_HEADS;
            for head in 0..NUM_HEADS {
                let part = head * width..(head + 1) * width;
                for (row, query) in query.iter().enumerate() {
                    let score = |key: &Vec<f64>| {
                        let pairs = query[part.clone()].iter().zip(&key[part.clone()]);
                        exponential(pairs.map(|(query, key)| query * key).sum::<f64>() / 2.0)
                    };
                    let scores: Vec<f64> = key.iter().map(score).collect();
                    let sum: f64 = scores.iter().sum();
                    for (score, value) in scores.iter().zip(&value) {
                        for idx in part.clone() {
                            mixed[row][idx] += score / sum * value[idx];
                        }
                    }
                }
            }
            let mut middle = linear(&mixed, &at(names.linear[3]));
            add(&mut middle, &rows);
            norm(&mut middle, &at(names.norms[0]));
            let mut inner = linear(&middle, &at(names.linear[4]));
            inner.iter_mut().flatten().for_each(|number| *number = self.activate(*number));
            rows = linear(&inner, &at(names.linear[5]));
            add(&mut rows, &middle);
            norm(&mut rows, &at(names.norms[1]));
        }
        let num_rows = if self.pooling == "cls" { 1 } else { rows.len() };
        let pooled: Vec<f64> =
            (0..DIM).map(|idx| rows[..num_rows].iter().map(|row| row[idx]).sum()).collect();
        let length = pooled.iter().map(|number| number * number).sum::<f64>().sqrt();
        pooled.iter().map(|number| number / length).collect()
    }

    fn activate(&self, number: f64) -> f64 {
        let tanh = || {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (number + 0.044_715 * number.powi(3));
            number / 2.0 * (1.0 + inner.tanh())
        };
        match self.activation {
            "relu" => number.max(0.0),
            "gelu_new" => tanh(),
            _ => number / 2.0 * (1.0 + erf(number / std::f64::consts::SQRT_2)),
        }
    }
}

struct Names {
    layer: &'static str,
    /// Query, key, value, the attention's output, the first and second half of the network.
    linear: [&'static str; 6],
    norms: [&'static str; 2],
}

/// Computes the error function by its series; exact enough for the few units that occur here.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..80 {
        let n = f64::from(n);
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

/// Draws a multiple of 1/1024 between -1 and 1 (a linear congruential generator).
pub(crate) fn draw(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let bits = u16::try_from(*state >> 53).unwrap();
    f32::from(bits) / 1024.0 - 1.0
}

/// Narrows a multiple of 1/1024 between -1 and 1 to binary16, exactly.
pub(crate) fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = u16::try_from(bits >> 16).unwrap() & 0x8000;
    if value == 0.0 {
        return sign;
    }
    let exponent = u16::try_from((bits >> 23 & 0xff) - 112).unwrap();
    sign | exponent << 10 | u16::try_from(bits >> 13 & 0x3ff).unwrap()
}
