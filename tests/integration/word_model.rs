//! Generates a model directory from a seed, and homes that use it: a BERT with random weights that
//! gives sensible search results.
//!
//! Its layers add little to the word embeddings, so a text's vector is close to the mean of its
//! words' vectors: texts with common words are near each other, as with a real model.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::json;

use crate::env::TestEnv;

/// Words that every model knows.
const WORDS: &str = "the of a and to in is on for tide gauge harbour salt chart pump battery \
    storm anchor lamp rope sail keeper signal valve ice frozen winter paint engine backup log \
    install configure release note plan apple pear orchard cider press cellar barrel oak";

/// The words of the tests and of the sample documents when this list was made. A newer word is spelled in letters,
/// so that a new test changes nothing for the others.
const WORDS_OF_TESTS: &str = include_str!("../fixtures/words.txt");

/// The parameters of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordModel {
    /// Two models with different seeds have nothing in common.
    pub(crate) seed: u64,
    /// Width of its vectors; a multiple of 4.
    pub(crate) dim: usize,
    /// The value in `sentence_bert_config.json`.
    pub(crate) max_seq_length: usize,
    /// `mean_tokens` or `cls_token`.
    pub(crate) pooling: &'static str,
    /// Which words are one token; every other word is spelled in letters.
    pub(crate) words: Words,
}

/// The vocabulary of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    /// [`WORDS`].
    Few,
    /// [`WORDS`] and [`WORDS_OF_TESTS`], so that texts have about as many tokens as with the real model. A word's
    /// vector depends on nothing but the word.
    OfTests,
}

impl Default for WordModel {
    fn default() -> Self {
        Self { seed: 1, dim: 32, max_seq_length: 128, pooling: "mean_tokens", words: Words::Few }
    }
}

const NUM_LAYERS: usize = 2;
const NUM_HEADS: usize = 4;
const MIN_POSITIONS: usize = 256;

impl WordModel {
    /// Returns the files of the model: name and bytes.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let vocabulary = vocabulary(self.words);
        let config = json!({
            "model_type": "bert",
            "architectures": ["BertModel"],
            "hidden_size": self.dim,
            "num_hidden_layers": NUM_LAYERS,
            "num_attention_heads": NUM_HEADS,
            "intermediate_size": 2 * self.dim,
            "hidden_act": "gelu",
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": self.num_positions(),
            "type_vocab_size": 2,
            "vocab_size": vocabulary.len(),
        });
        let modules = json!([
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling",
                "type": "sentence_transformers.models.Pooling"},
        ]);
        let mut pooling = json!({"word_embedding_dimension": self.dim});
        for mode in ["cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens"] {
            pooling[format!("pooling_mode_{mode}")] = json!(mode == self.pooling);
        }
        let sentence = json!({"max_seq_length": self.max_seq_length, "do_lower_case": false});
        let text = |value: serde_json::Value| value.to_string().into_bytes();
        [
            ("config.json", text(config)),
            ("modules.json", text(modules)),
            ("1_Pooling/config.json", text(pooling)),
            ("sentence_bert_config.json", text(sentence)),
            ("tokenizer.json", text(tokenizer(&vocabulary))),
            ("model.safetensors", self.weights(&vocabulary)),
        ]
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .into()
    }

    /// Writes the files of the model into `dir`, which is created.
    pub(crate) fn write(&self, dir: &Path) {
        for (name, bytes) in self.files() {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }

    /// Returns the embedding of a word, which is independent of the other words.
    fn vector(&self, word: &str) -> Vec<f32> {
        // FNV-1a.
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325 ^ self.seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut random = Random(hash);
        (0..self.dim).map(|_| random.next()).collect()
    }

    fn num_positions(&self) -> usize {
        self.max_seq_length.max(MIN_POSITIONS)
    }

    fn weights(&self, vocabulary: &[String]) -> Vec<u8> {
        let mut random = Random(self.seed);
        let (dim, inner) = (self.dim, 2 * self.dim);
        let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = Vec::new();
        let mut add = |name: String, shape: &[usize], scale: f32, offset: f32| {
            let len = shape.iter().product();
            let data = (0..len).map(|_| offset + scale * random.next()).collect();
            tensors.push((name, shape.to_vec(), data));
        };
        let embeddings = |part: &str| format!("embeddings.{part}.weight");
        add(embeddings("word_embeddings"), &[vocabulary.len(), dim], 1.0, 0.0);
        add(embeddings("position_embeddings"), &[self.num_positions(), dim], 0.01, 0.0);
        add(embeddings("token_type_embeddings"), &[2, dim], 0.01, 0.0);
        add("embeddings.LayerNorm.weight".into(), &[dim], 0.0, 1.0);
        add("embeddings.LayerNorm.bias".into(), &[dim], 0.0, 0.0);
        for layer in 0..NUM_LAYERS {
            for (part, outputs, inputs) in [
                ("attention.self.query", dim, dim),
                ("attention.self.key", dim, dim),
                ("attention.self.value", dim, dim),
                ("attention.output.dense", dim, dim),
                ("intermediate.dense", inner, dim),
                ("output.dense", dim, inner),
            ] {
                let name = format!("encoder.layer.{layer}.{part}");
                add(format!("{name}.weight"), &[outputs, inputs], 0.05, 0.0);
                add(format!("{name}.bias"), &[outputs], 0.01, 0.0);
            }
            for part in ["attention.output.LayerNorm", "output.LayerNorm"] {
                let name = format!("encoder.layer.{layer}.{part}");
                add(format!("{name}.weight"), &[dim], 0.0, 1.0);
                add(format!("{name}.bias"), &[dim], 0.0, 0.0);
            }
        }
        if self.words == Words::OfTests {
            tensors[0].2 = vocabulary.iter().flat_map(|word| self.vector(word)).collect();
        }
        let bytes: Vec<(String, Vec<usize>, Vec<u8>)> = tensors
            .into_iter()
            .map(|(name, shape, data)| {
                (name, shape, data.iter().flat_map(|number| number.to_le_bytes()).collect())
            })
            .collect();
        let views = bytes.iter().map(|(name, shape, data)| {
            (name.clone(), TensorView::new(Dtype::F32, shape.clone(), data).unwrap())
        });
        safetensors::serialize(views, None).unwrap()
    }
}

/// Makes a home with the default model in `tiny/` and three documents: 1 `docs/cider.md`, 2
/// `docs/tides.md`, 3 a note.
pub(crate) fn word_env() -> TestEnv {
    let env = TestEnv::with_runtime();
    WordModel::default().write(&env.path("tiny"));
    env.write("docs/cider.md", "# Cider\n\nPress the apple, then the pear; oak barrel.\n");
    env.write("docs/tides.md", "# Tides\n\nThe tide gauge in the harbour is frozen.\n");
    env.ok(&["init", "--model-dir", "tiny"]);
    env.ok(&["add", "docs"]);
    env.ok(&["add", "--note", "The lamp keeper has the salt.", "--title", "Lamp"]);
    env
}

/// Returns the titles that a search finds, best first.
#[track_caller]
pub(crate) fn find(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let answer = env.json(&[&["search"], args].concat());
    let results = answer["results"].as_array().unwrap().iter();
    results.map(|result| result["source"]["title"].as_str().unwrap().to_owned()).collect()
}

/// Requires that the database is intact, according to the library's own check.
#[track_caller]
pub(crate) fn check_database(env: &TestEnv) {
    let store = kb_store::Store::open_existing(&env.database()).unwrap().unwrap();
    assert_eq!(store.check().unwrap(), Vec::<String>::new());
    store.close().unwrap();
}

/// Returns special tokens, words, then every printable ASCII character at the start of a word and
/// within.
fn vocabulary(words: Words) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let more = match words {
        Words::Few => BTreeSet::new(),
        Words::OfTests => WORDS_OF_TESTS.split_whitespace().map(str::to_owned).collect(),
    };
    let letters = || (b'!'..=b'~').map(|byte| char::from(byte).to_ascii_lowercase().to_string());
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
        .map(str::to_owned)
        .into_iter()
        .chain(WORDS.split_whitespace().map(str::to_owned))
        .chain(more)
        .chain(letters())
        .chain(letters().map(|letter| format!("##{letter}")))
        .filter(|word| seen.insert(word.clone()))
        .collect()
}

fn tokenizer(vocabulary: &[String]) -> serde_json::Value {
    let vocab: serde_json::Map<String, serde_json::Value> =
        vocabulary.iter().enumerate().map(|(id, token)| (token.clone(), json!(id))).collect();
    let special = |token: &str, id: u32| json!({"id": token, "ids": [id], "tokens": [token]});
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [],
            "special_tokens": {"[CLS]": special("[CLS]", 2), "[SEP]": special("[SEP]", 3)},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab},
    })
}

/// A splitmix64 generator: the same seed gives the same weights everywhere.
struct Random(u64);

impl Random {
    /// Returns a number between -1 and 1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        let top = u16::try_from(bits >> 48).unwrap();
        f32::from(top) / f32::from(u16::MAX) * 2.0 - 1.0
    }
}
