//! Builds an ONNX graph, from token ids to a unit vector, from a model's weights.
//!
//! Uses only standard operators (opset 20), so neither a protobuf library nor Python is needed. The
//! graph has one input `input_ids` `[batch, tokens]` and two outputs: `embedding` `[batch, dim]`, and
//! `tokens` `[batch, tokens, dim]`, from which it is pooled. The first is left out if more than a
//! mean or the first token makes a text's vector (`head`).
//! There is no mask: texts of different lengths never share a run, which is both faster and exact.
//! Pooling and normalisation are part of the graph.

use ort::editor::{Graph, Model, ONNX_DOMAIN, Opset};
use ort::memory::Allocator;
use ort::value::{Outlet, Shape, SymbolicDimensions, TensorElementType, ValueType};

use super::nodes::{Builder, INPUT, attribute, inference};
use crate::document::Precision;
use crate::error::Result;
use crate::facts::{Family, ModelProperties};
use crate::names::{self, TensorNames};
use crate::numeric::logarithm;
use crate::registry::Pooling;
use crate::single::weights::Weights;

/// The graph's output: unit vectors.
pub(crate) const OUTPUT: &str = "embedding";

/// The graph's other output: one vector per token, as the last layer computes it.
pub(crate) const TOKENS: &str = "tokens";

/// The first operator set with GELU as one operator.
const OPSET: u32 = 20;

/// Increase it when the graph or its companion files change, so that older ones are not used again.
pub(crate) const EXPORT_VERSION: u32 = 7;

/// Builds the graph of a model.
pub(crate) fn export(
    facts: &ModelProperties,
    names: &TensorNames,
    weights: &Weights,
    precision: Precision,
) -> Result<Model> {
    let dim = usize::try_from(facts.dim).unwrap_or(usize::MAX);
    let mut builder = Builder {
        graph: Graph::new().map_err(inference)?,
        allocator: Allocator::default(),
        weights,
        precision,
        dim,
        epsilon: facts.epsilon,
        may_lack_bias: matches!(facts.family, Family::ModernBert(_)),
        distance_bias: None,
        num_names: 0,
    };
    let dim = i64::from(facts.dim);
    let input = value_type(TensorElementType::Int64, [-1, -1], ["batch", "tokens"]);
    let output = value_type(TensorElementType::Float32, [-1, dim], ["batch", ""]);
    let tokens = value_type(TensorElementType::Float32, [-1, -1, dim], ["batch", "tokens", ""]);
    let pooling = facts.pooling_in_graph();
    let output = pooling.map(|_| Outlet::new(OUTPUT, output));
    let outputs: Vec<_> = output.into_iter().chain([Outlet::new(TOKENS, tokens)]).collect();
    builder.graph.set_inputs([Outlet::new(INPUT, input)]).map_err(inference)?;
    builder.graph.set_outputs(outputs).map_err(inference)?;

    let hidden = match &facts.family {
        Family::ModernBert(rotary) => builder.modern(facts, rotary)?,
        family => {
            let num_heads = usize::try_from(facts.num_heads).unwrap_or(1);
            if *family == Family::MpNet {
                builder.add_distance_bias(num_heads, facts.max_tokens)?;
            }
            let mut hidden = builder.embeddings(facts)?;
            for idx in 0..facts.num_layers {
                let at = format!("{}.{idx}", names.layer);
                hidden = builder.layer(&hidden, names, &at, facts)?;
            }
            hidden
        }
    };
    if let Some(pooling) = pooling {
        builder.pool(&hidden, pooling)?;
    }
    builder.node_to("Identity", &[&hidden], &[TOKENS], Vec::new())?;

    let opset = Opset::new(ONNX_DOMAIN, OPSET).map_err(inference)?;
    let mut model = Model::new([opset]).map_err(inference)?;
    model.set_graph(builder.graph).map_err(inference)?;
    Ok(model)
}

fn value_type<const N: usize>(
    ty: TensorElementType,
    shape: [i64; N],
    names: [&str; N],
) -> ValueType {
    ValueType::Tensor {
        ty,
        shape: Shape::new(shape),
        dimension_symbols: SymbolicDimensions::new(names.map(str::to_owned)),
    }
}

/// Rows of `MPNet`'s table of distances, and the distance from which on all share the last one of each direction.
const NUM_BUCKETS: usize = 32;
const MAX_DISTANCE: f64 = 128.0;

/// Returns the row of a distance from query to key, as T5 and `MPNet` number them: half of the rows for each direction,
/// half of those for one distance each, the others for distances that grow by a factor (arXiv 1910.10683, 2004.09297).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "small numbers above 0"
)]
fn bucket(distance: i64) -> usize {
    const HALF: usize = NUM_BUCKETS / 2;
    const EXACT: usize = HALF / 2;
    let away = usize::try_from(distance.unsigned_abs()).unwrap_or(usize::MAX);
    let row = if away < EXACT {
        away
    } else {
        // Computed in 32 bits, as when the model was trained: rounding decides the row of some distances.
        let far = (away as f32 / EXACT as f32).ln() / logarithm(MAX_DISTANCE / EXACT as f64) as f32;
        (EXACT + (far * EXACT as f32) as usize).min(HALF - 1)
    };
    row + if distance > 0 { HALF } else { 0 }
}

/// The factor of the product of a query and a key of this width.
pub(super) fn head_scale(width: usize) -> f32 {
    1.0 / f32::from(u16::try_from(width).unwrap_or(u16::MAX)).sqrt()
}

impl Builder<'_> {
    /// Maps token ids to the first layer's input: words + positions (+ the first token type),
    /// normalised.
    fn embeddings(&mut self, facts: &ModelProperties) -> Result<String> {
        let words = self.weights.get(names::WORDS, &[0, self.dim])?;
        let positions = self.weights.get(names::POSITIONS, &[0, self.dim])?;
        let types = if self.weights.has(names::TYPES) {
            Some(self.weights.get(names::TYPES, &[0, self.dim])?)
        } else {
            None
        };
        // Every token is of type 0, so its vector is added to all positions here, once.
        let mut table: Vec<f32> = positions.data;
        if let Some(types) = types {
            for row in table.chunks_exact_mut(self.dim) {
                row.iter_mut().zip(&types.data).for_each(|(value, of_type)| *value += of_type);
            }
        }
        let first = usize::try_from(facts.first_position).unwrap_or(usize::MAX);
        let skipped = first.saturating_mul(self.dim).min(table.len());
        let table = &table[skipped..];
        let table = self.floats(&[table.len() / self.dim, self.dim], table)?;

        let num_tokens = self.num_tokens()?;
        let zero = self.integers(&[0])?;
        let positions = self.node("Slice", &[&table, &zero, &num_tokens, &zero])?;
        let words = self.floats(&words.shape, &words.data)?;
        let words = self.node("Gather", &[&words, INPUT])?;
        let sum = self.node("Add", &[&words, &positions])?;
        self.layer_norm(&sum, names::FIRST_NORM)
    }

    /// Adds one transformer layer: attention, then the two-layer network, each with a residual
    /// connection.
    fn layer(
        &mut self,
        input: &str,
        names: &TensorNames,
        at: &str,
        facts: &ModelProperties,
    ) -> Result<String> {
        let num_heads = usize::try_from(facts.num_heads).unwrap_or(1);
        let quantised = self.quantise(input)?;
        // Scaling the query scales every product with a key, at no cost here.
        let scale = head_scale(self.dim / num_heads);
        let square = [self.dim, self.dim];
        let query = self.linear(&quantised, &format!("{at}.{}", names.query), &square, scale)?;
        let query = self.heads(&query, num_heads, [0, 2, 1, 3])?;
        let key = self.linear(&quantised, &format!("{at}.{}", names.key), &square, 1.0)?;
        let key = self.heads(&key, num_heads, [0, 2, 3, 1])?;
        let value = self.linear(&quantised, &format!("{at}.{}", names.value), &square, 1.0)?;
        let value = self.heads(&value, num_heads, [0, 2, 1, 3])?;
        let mixed = self.attend([&query, &key, &value])?;
        let mixed = self.quantise(&mixed)?;
        let attention = self.linear(&mixed, &format!("{at}.{}", names.attention), &square, 1.0)?;
        let sum = self.node("Add", &[&attention, input])?;
        let middle = self.layer_norm(&sum, &format!("{at}.{}", names.attention_norm))?;

        let quantised = self.quantise(&middle)?;
        let inner = format!("{at}.{}", names.inner);
        let inner = self.linear(&quantised, &inner, &[0, self.dim], 1.0)?;
        let active = self.activate(facts.activation, &inner)?;
        let active = self.quantise(&active)?;
        let outer = format!("{at}.{}", names.outer);
        let outer = self.linear(&active, &outer, &[self.dim, 0], 1.0)?;
        let sum = self.node("Add", &[&outer, &middle])?;
        self.layer_norm(&sum, &format!("{at}.{}", names.norm))
    }

    /// Makes what `MPNet` adds to the products of queries and keys, for each head by how far the key is from the query:
    /// a table of distances, of which far ones share a row.
    fn add_distance_bias(&mut self, num_heads: usize, max_tokens: u32) -> Result<()> {
        let buckets = self.weights.get(names::DISTANCES, &[NUM_BUCKETS, num_heads])?;
        let last = i64::from(max_tokens.max(1)) - 1;
        let rows = (-last..=last).flat_map(|distance| {
            let at = bucket(distance) * num_heads;
            &buckets.data[at..at + num_heads]
        });
        let rows: Vec<f32> = rows.copied().collect();
        let table = self.floats(&[rows.len() / num_heads, num_heads], &rows)?;
        let [keys, queries] = self.positions()?;
        let distances = self.node("Sub", &[&keys, &queries])?;
        let last = self.integers(&[last])?;
        let rows = self.node("Add", &[&distances, &last])?;
        let bias = self.node("Gather", &[&table, &rows])?;
        let order = vec![attribute("perm", vec![2_i64, 0, 1])?];
        self.distance_bias = Some(self.node_with("Transpose", &[&bias], order)?);
        Ok(())
    }

    /// Combines token vectors into one vector of unit length.
    fn pool(&mut self, hidden: &str, pooling: Pooling) -> Result<()> {
        let pooled = match pooling {
            Pooling::Mean => {
                let axis = self.integers(&[1])?;
                let attributes = vec![attribute("keepdims", 0_i64)?];
                self.node_with("ReduceMean", &[hidden, &axis], attributes)?
            }
            _ => {
                let [zero, one] = [self.integers(&[0])?, self.integers(&[1])?];
                let first = self.node("Slice", &[hidden, &zero, &one, &one])?;
                self.node("Squeeze", &[&first, &one])?
            }
        };
        let attributes = vec![attribute("axis", -1_i64)?, attribute("p", 2_i64)?];
        self.node_to("LpNormalization", &[&pooled], &[OUTPUT], attributes)
    }
}
