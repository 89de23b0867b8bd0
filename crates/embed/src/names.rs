//! Lists the tensor names of each model family.

use std::path::PathBuf;

use super::facts::Family;

/// The table of word vectors, `[words, dim]`.
pub(super) const WORDS: &str = "embeddings.word_embeddings.weight";

/// The table of position vectors, `[positions, dim]`.
pub(super) const POSITIONS: &str = "embeddings.position_embeddings.weight";

/// The vectors of token types, `[types, dim]`; not every model has them.
pub(super) const TYPES: &str = "embeddings.token_type_embeddings.weight";

/// The normalisation after the tables.
pub(super) const FIRST_NORM: &str = "embeddings.LayerNorm";

/// The table of token vectors of `ModernBERT`.
pub(super) const TOKEN_VECTORS: &str = "embeddings.tok_embeddings.weight";

/// `MPNet`'s table of distances, `[buckets, heads]`.
pub(super) const DISTANCES: &str = "encoder.relative_attention_bias.weight";

/// The names of a layer's tensors, relative to the layer.
pub(super) struct TensorNames {
    /// The name of the family in the fingerprints of graphs; it never changes.
    pub(super) family: &'static str,
    pub(super) layer: &'static str,
    pub(super) query: &'static str,
    pub(super) key: &'static str,
    pub(super) value: &'static str,
    pub(super) attention: &'static str,
    pub(super) attention_norm: &'static str,
    pub(super) inner: &'static str,
    pub(super) outer: &'static str,
    pub(super) norm: &'static str,
}

const BERT: TensorNames = TensorNames {
    family: "bert",
    layer: "encoder.layer",
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    attention: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    inner: "intermediate.dense",
    outer: "output.dense",
    norm: "output.LayerNorm",
};

const DISTILBERT: TensorNames = TensorNames {
    family: "distilbert",
    layer: "transformer.layer",
    query: "attention.q_lin",
    key: "attention.k_lin",
    value: "attention.v_lin",
    attention: "attention.out_lin",
    attention_norm: "sa_layer_norm",
    inner: "ffn.lin1",
    outer: "ffn.lin2",
    norm: "output_layer_norm",
};

const MPNET: TensorNames = TensorNames {
    family: "mpnet",
    query: "attention.attn.q",
    key: "attention.attn.k",
    value: "attention.attn.v",
    attention: "attention.attn.o",
    attention_norm: "attention.LayerNorm",
    ..BERT
};

/// Its layers have another form (`graph::modern`).
const MODERNBERT: TensorNames = TensorNames { family: "modernbert", ..BERT };

/// Weights that kb can compute without the runtime.
pub(super) struct NativeWeights {
    /// The file with the weights, or the list of its parts.
    pub(super) path: PathBuf,
    pub(super) names: &'static TensorNames,
}

impl TensorNames {
    /// Whether kb has its own code for the layers, in addition to the graph.
    pub(super) fn is_native(&self) -> bool {
        matches!(self.family, "bert" | "distilbert")
    }

    /// The linear maps of a layer.
    pub(super) fn linear(&self) -> [&'static str; 6] {
        [self.query, self.key, self.value, self.attention, self.inner, self.outer]
    }

    /// Returns the names used by a family; `None` if kb cannot build its graph.
    pub(super) fn of(family: &Family) -> Option<&'static Self> {
        match family {
            Family::Bert => Some(&BERT),
            Family::DistilBert => Some(&DISTILBERT),
            Family::MpNet => Some(&MPNET),
            Family::ModernBert(_) => Some(&MODERNBERT),
            Family::Static { .. } | Family::Unsupported(_) => None,
        }
    }
}
