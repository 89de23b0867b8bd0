//! Reads [`ModelProperties`] from a model directory's own configuration files.
//!
//! Reads the files that sentence-transformers writes: `config.json`, `sentence_bert_config.json`,
//! `config_sentence_transformers.json`, `tokenizer_config.json`; `modules` reads the others. A row
//! of `models.toml` overrides pooling, length and prefixes.

use std::path::Path;

use serde_json::Value;

use crate::error::Result;
use crate::fault::model_error;
use crate::model_files::read_json;
use crate::modules::{self, Module};
use crate::registry::{ModelSpec, Pooling};

/// Longest input if a directory states none: the BERT family was trained with it.
const DEFAULT_POSITIONS: u32 = 512;

/// transformers writes a length above this if it knows none.
const LARGEST_LENGTH: u64 = 1 << 20;

/// The properties of a model needed to build and use its graph.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelProperties {
    /// The layout of the weights.
    pub family: Family,
    /// Width of the token vectors.
    pub dim: u32,
    /// Number of transformer layers.
    pub num_layers: u32,
    /// Number of attention heads.
    pub num_heads: u32,
    /// Epsilon of every layer normalisation.
    pub epsilon: f32,
    /// Row of the position table that belongs to the first token.
    pub first_position: u32,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: u32,
    /// The non-linearity between the two halves of a layer.
    pub activation: Activation,
    /// How token vectors are combined into one.
    pub pooling: Pooling,
    /// The steps that change the combined vector before it gets unit length.
    pub modules: Vec<Module>,
    /// Prefix of every query as stated in the directory; may be empty.
    pub query_prefix: String,
    /// Prefix of every passage as stated in the directory; may be empty.
    pub passage_prefix: String,
}

/// The naming scheme of an encoder's weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Family {
    /// BERT and models with the same names: `roberta`, `xlm-roberta`, `camembert`.
    Bert,
    /// `distilbert`.
    DistilBert,
    /// `mpnet`: BERT's layers, with a bias by the distance of query and key.
    MpNet,
    /// `modernbert`.
    ModernBert(Rotary),
    /// A table of token vectors, without layers (`table`).
    Static {
        /// Whether unknown tokens do not count, as in `model2vec`.
        leaves_out_unknown: bool,
    },
    /// A model whose graph kb cannot build, with the reason. Its own ONNX file is used.
    Unsupported(String),
}

/// How a `ModernBERT` knows the positions of its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotary {
    /// Whether each layer looks at all tokens, or only at its window.
    pub is_global: Vec<bool>,
    /// Furthest key of a query in a window, in tokens.
    pub window: u32,
    /// The base of the angles of such layers.
    pub local_base: u32,
    /// The base of the angles of the others.
    pub global_base: u32,
}

impl Rotary {
    /// Reads the settings of transformers, of version 4 or 5; what is missing has the value of the first models.
    fn read(config: &Value, num_layers: u32) -> Self {
        let step = positive_number(&config["global_attn_every_n_layers"], 3);
        let kinds = config["layer_types"].as_array();
        let is_global =
            (0..num_layers).map(|idx| match kinds.and_then(|kinds| kinds.get(idx as usize)) {
                Some(kind) => kind == "full_attention",
                None => idx.is_multiple_of(step),
            });
        Self {
            is_global: is_global.collect(),
            // `local_attention` counts the tokens of both sides.
            window: positive_number(&config["local_attention"], 128) / 2,
            local_base: rotary_base(config, "sliding_attention", "local_rope_theta", 10_000),
            global_base: rotary_base(config, "full_attention", "global_rope_theta", 160_000),
        }
    }
}

/// Returns the base of a kind of layers, which has another name in version 4.
fn rotary_base(config: &Value, kind: &str, old_name: &str, default: u32) -> u32 {
    let stated = &config["rope_parameters"][kind]["rope_theta"];
    positive_number(if stated.is_null() { &config[old_name] } else { stated }, default)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number is in the range of u32"
)]
fn positive_number(value: &Value, default: u32) -> u32 {
    let found = value.as_f64().filter(|number| (1.0..1e9).contains(number));
    found.map_or(default, |number| number as u32)
}

/// The non-linearity between the two halves of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// GELU with the error function.
    Gelu,
    /// GELU with the hyperbolic tangent.
    GeluTanh,
    /// Negative numbers become zero.
    Relu,
    /// The number times its logistic function.
    Silu,
}

impl Family {
    /// Whether kb can build the graph.
    pub fn is_supported(&self) -> bool {
        !matches!(self, Self::Unsupported(_))
    }
}

impl ModelProperties {
    /// Reads the facts of the model in `dir`; `spec` overrides them where it has values.
    pub fn read(dir: &Path, spec: Option<&ModelSpec>) -> Result<Self> {
        let config_path = dir.join("config.json");
        let config = read_json(&config_path)?;
        let is_model2vec =
            config.as_ref().is_some_and(|config| config["model_type"] == "model2vec");
        let is_static = is_model2vec || config.is_none() && modules::static_folder(dir)?.is_some();
        let mut facts = if is_static {
            Self::of_table(is_model2vec)
        } else {
            let config =
                config.ok_or_else(|| model_error(&config_path, "there is no such file"))?;
            Self::from_config(&config).map_err(|reason| model_error(&config_path, reason))?
        };
        if is_static {
            facts.dim = spec.map_or(0, |spec| spec.dim);
        } else if spec.is_none_or(|spec| spec.dim != facts.dim || spec.pooling.is_none()) {
            // The modules need not be read if the row of the model names its pooling and has the width of the
            // transformer: then there is no Dense.
            let width = usize::try_from(facts.dim).unwrap_or(usize::MAX);
            (facts.pooling, facts.modules) = modules::read(dir, width)?;
        }
        if let Some(spec) = spec {
            if facts.vector_dim() != spec.dim {
                let reason = format!("width is {}, expected {}", facts.vector_dim(), spec.dim);
                return Err(model_error(&config_path, reason));
            }
            facts.pooling = spec.pooling.unwrap_or(facts.pooling);
            facts.max_tokens = facts.max_tokens.min(spec.max_tokens);
            facts.query_prefix.clone_from(&spec.query_prefix);
            facts.passage_prefix.clone_from(&spec.passage_prefix);
            return Ok(facts);
        }
        facts.max_tokens = facts.max_tokens.min(stated_length(dir)?.unwrap_or(u32::MAX));
        if let Some(prompts) = read_json(&dir.join("config_sentence_transformers.json"))? {
            let prompts = &prompts["prompts"];
            facts.query_prefix = first_text(prompts, &["query"]);
            facts.passage_prefix = first_text(prompts, &["document", "passage", "corpus"]);
        }
        Ok(facts)
    }

    /// The facts of a static model, but for its width, which only its table has.
    fn of_table(leaves_out_unknown: bool) -> Self {
        Self {
            family: Family::Static { leaves_out_unknown },
            dim: 0,
            num_layers: 0,
            num_heads: 1,
            epsilon: 0.0,
            first_position: 0,
            // `model2vec` also reads at most this many tokens of a text.
            max_tokens: DEFAULT_POSITIONS,
            activation: Activation::Gelu,
            pooling: Pooling::Mean,
            modules: Vec::new(),
            query_prefix: String::new(),
            passage_prefix: String::new(),
        }
    }

    /// Width of the vectors of texts.
    pub fn vector_dim(&self) -> u32 {
        let dense = self.modules.iter().rev().find_map(|module| match module {
            Module::Dense(dense) => Some(dense.num_outputs),
            Module::Normalize => None,
        });
        dense.map_or(self.dim, |width| u32::try_from(width).unwrap_or(u32::MAX))
    }

    /// Returns the pooling that is part of the graph; `None` if the graph gives only token vectors,
    /// from which `head` makes the text's vector.
    pub(crate) fn pooling_in_graph(&self) -> Option<Pooling> {
        let is_simple = matches!(self.pooling, Pooling::Mean | Pooling::Cls);
        (is_simple && self.modules.is_empty()).then_some(self.pooling)
    }

    /// Reads the facts in `config.json`.
    fn from_config(config: &Value) -> Result<Self, String> {
        // Values that `config.json` leaves out have the defaults of transformers.
        let text = |name: &str| config[name].as_str();
        let model_type = text("model_type").unwrap_or("bert");
        let positions =
            first_number(config, &["max_position_embeddings"]).unwrap_or(DEFAULT_POSITIONS);
        let has_offset = matches!(model_type, "roberta" | "xlm-roberta" | "camembert" | "mpnet");
        // RoBERTa numbers positions from the padding token's id plus one.
        let padding_id = config["pad_token_id"].as_u64().unwrap_or(1);
        let first_position =
            if has_offset { u32::try_from(padding_id).unwrap_or(1).saturating_add(1) } else { 0 };
        let dim = required_number(config, &["hidden_size", "dim"])?;
        let num_heads = required_number(config, &["num_attention_heads", "n_heads"])?;
        if dim % num_heads != 0 {
            return Err(format!("{num_heads} attention heads do not divide a width of {dim}"));
        }
        let activation = match text("hidden_act")
            .or(text("hidden_activation"))
            .or(text("activation"))
            .unwrap_or("gelu")
        {
            "gelu" => Ok(Activation::Gelu),
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
            "relu" => Ok(Activation::Relu),
            "silu" | "swish" => Ok(Activation::Silu),
            other => Err(format!("activation `{other}`")),
        };
        let family = match model_type {
            "bert" | "roberta" | "xlm-roberta" | "camembert" => Family::Bert,
            "distilbert" => Family::DistilBert,
            "mpnet" => Family::MpNet,
            "modernbert" => {
                let num_layers = required_number(config, &["num_hidden_layers"])?;
                Family::ModernBert(Rotary::read(config, num_layers))
            }
            other => Family::Unsupported(format!("architecture `{other}`")),
        };
        let absolute = text("position_embedding_type").unwrap_or("absolute") == "absolute";
        Ok(Self {
            family: match (family, &activation, absolute) {
                (Family::Unsupported(reason), ..) => Family::Unsupported(reason),
                (_, Err(reason), _) => Family::Unsupported(reason.clone()),
                (_, _, false) => Family::Unsupported("relative positions".to_owned()),
                (family, Ok(_), true) => family,
            },
            dim,
            num_layers: required_number(config, &["num_hidden_layers", "n_layers"])?,
            num_heads,
            epsilon: stated_epsilon(config),
            first_position,
            max_tokens: positions.saturating_sub(first_position),
            activation: activation.unwrap_or(Activation::Gelu),
            pooling: Pooling::Mean,
            modules: Vec::new(),
            query_prefix: String::new(),
            passage_prefix: String::new(),
        })
    }
}

/// Returns the text under the first of these names that has one; empty if none has.
fn first_text(values: &Value, names: &[&str]) -> String {
    let found = names.iter().find_map(|name| values[name].as_str());
    found.unwrap_or_default().to_owned()
}

/// Returns the number under the first of these names that has one; `None` if it is 0 or too large.
fn first_number(config: &Value, names: &[&str]) -> Option<u32> {
    let found = names.iter().find_map(|name| config[name].as_u64())?;
    u32::try_from(found).ok().filter(|number| *number > 0)
}

fn required_number(config: &Value, names: &[&str]) -> Result<u32, String> {
    let found = first_number(config, names);
    found.ok_or_else(|| format!("`{}` is missing or not a number", names[0]))
}

#[expect(clippy::cast_possible_truncation, reason = "an epsilon is used as f32 by the runtime")]
fn stated_epsilon(config: &Value) -> f32 {
    /// The epsilon of BERT, and of `distilbert`, which does not state it.
    const BERT_EPSILON: f64 = 1e-12;
    const MODERNBERT_EPSILON: f64 = 1e-5;
    let stated = ["layer_norm_eps", "norm_eps"].iter().find_map(|name| config[name].as_f64());
    let is_modern = config["model_type"] == "modernbert";
    stated.unwrap_or(if is_modern { MODERNBERT_EPSILON } else { BERT_EPSILON }) as f32
}

/// Returns the longest input stated outside `config.json`.
fn stated_length(dir: &Path) -> Result<Option<u32>> {
    for (file, key) in [
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ] {
        let config = read_json(&dir.join(file))?;
        // An unlimited length is written as 1e30, which is no whole number here.
        let length = config.as_ref().and_then(|config| config[key].as_u64());
        if let Some(length) = length.filter(|length| (1..LARGEST_LENGTH).contains(length)) {
            return Ok(u32::try_from(length).ok());
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
