//! Builds an ONNX graph, from token ids to a unit vector, from a model's weights.
//!
//! Uses only standard operators (opset 20), so neither a protobuf library nor Python is needed. The
//! graph has one input `input_ids` `[batch, tokens]` and two outputs: `embedding` `[batch, dim]`, and
//! `tokens` `[batch, tokens, dim]`, from which it is pooled. The first is left out if more than a
//! mean or the first token makes a text's vector (`head`).
//! There is no mask: texts of different lengths never share a run, which is both faster and exact.
//! Pooling and normalisation are part of the graph.

use ort::editor::{Graph, Model, Node, ONNX_DOMAIN, Opset};
use ort::memory::Allocator;
use ort::operator::Attribute;
use ort::value::{
    Outlet, Shape, SymbolicDimensions, Tensor as OrtTensor, TensorElementType, ValueType,
};

use super::int8::{scale_of, to_int8, transposed};
use crate::document::Precision;
use crate::error::{Cause, Error, Result};
use crate::facts::{Activation, Facts};
use crate::names::{self, Names};
use crate::registry::Pooling;
use crate::single::weights::Weights;

/// The graph's input: token ids.
pub(crate) const INPUT: &str = "input_ids";

/// The graph's output: unit vectors.
pub(crate) const OUTPUT: &str = "embedding";

/// The graph's other output: one vector per token, as the last layer computes it.
pub(crate) const TOKENS: &str = "tokens";

/// The first operator set with GELU as one operator.
const OPSET: u32 = 20;

/// Increase it when the graph or its companion files change, so that older ones are not used again.
pub(crate) const EXPORT_VERSION: u32 = 6;

/// Builds the graph of a model.
pub(crate) fn export(
    facts: &Facts,
    names: &Names,
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

    let mut hidden = builder.embeddings(facts)?;
    for idx in 0..facts.num_layers {
        hidden = builder.layer(&hidden, names, &format!("{}.{idx}", names.layer), facts)?;
    }
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

/// Wraps an error of the runtime.
fn inference(error: impl Into<Cause>) -> Error {
    Error::Inference(error.into())
}

/// A graph under construction. Every method that adds a node returns the name of its output.
struct Builder<'a> {
    graph: Graph,
    allocator: Allocator,
    weights: &'a Weights,
    precision: Precision,
    dim: usize,
    epsilon: f32,
    num_names: usize,
}

impl Builder<'_> {
    fn name(&mut self) -> String {
        self.num_names += 1;
        format!("v{}", self.num_names)
    }

    fn node_to(
        &mut self,
        operator: &str,
        inputs: &[&str],
        outputs: &[&str],
        attributes: Vec<Attribute>,
    ) -> Result<()> {
        let name = self.name();
        Node::new(operator, ONNX_DOMAIN, name, inputs, outputs, attributes)
            .and_then(|node| self.graph.add_node(node))
            .map_err(inference)
    }

    fn node_with(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: Vec<Attribute>,
    ) -> Result<String> {
        let output = self.name();
        self.node_to(operator, inputs, &[&output], attributes)?;
        Ok(output)
    }

    fn node(&mut self, operator: &str, inputs: &[&str]) -> Result<String> {
        self.node_with(operator, inputs, Vec::new())
    }

    fn floats(&mut self, shape: &[usize], data: &[f32]) -> Result<String> {
        let name = self.name();
        OrtTensor::<f32>::new(&self.allocator, shape.to_vec())
            .and_then(|mut tensor| {
                tensor.extract_tensor_mut().1.copy_from_slice(data);
                self.graph.add_initializer(&name, tensor, false)
            })
            .map_err(inference)?;
        Ok(name)
    }

    fn integers(&mut self, data: &[i64]) -> Result<String> {
        let name = self.name();
        OrtTensor::<i64>::new(&self.allocator, vec![data.len()])
            .and_then(|mut tensor| {
                tensor.extract_tensor_mut().1.copy_from_slice(data);
                self.graph.add_initializer(&name, tensor, false)
            })
            .map_err(inference)?;
        Ok(name)
    }

    fn bytes(&mut self, shape: &[usize], data: &[i8]) -> Result<String> {
        let name = self.name();
        OrtTensor::<i8>::new(&self.allocator, shape.to_vec())
            .and_then(|mut tensor| {
                tensor.extract_tensor_mut().1.copy_from_slice(data);
                self.graph.add_initializer(&name, tensor, false)
            })
            .map_err(inference)?;
        Ok(name)
    }

    /// Maps token ids to the first layer's input: words + positions (+ the first token type),
    /// normalised.
    fn embeddings(&mut self, facts: &Facts) -> Result<String> {
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

        let shape = vec![attribute("start", 1_i64)?, attribute("end", 2_i64)?];
        let num_tokens = self.node_with("Shape", &[INPUT], shape)?;
        let zero = self.integers(&[0])?;
        let positions = self.node("Slice", &[&table, &zero, &num_tokens, &zero])?;
        let words = self.floats(&words.shape, &words.data)?;
        let words = self.node("Gather", &[&words, INPUT])?;
        let sum = self.node("Add", &[&words, &positions])?;
        self.layer_norm(&sum, names::FIRST_NORM)
    }

    /// Adds one transformer layer: attention, then the two-layer network, each with a residual
    /// connection.
    fn layer(&mut self, input: &str, names: &Names, at: &str, facts: &Facts) -> Result<String> {
        let num_heads = usize::try_from(facts.num_heads).unwrap_or(1);
        let head = self.dim / num_heads;
        let as_i64 = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let to_heads = self.integers(&[0, 0, as_i64(num_heads), as_i64(head)])?;
        let from_heads = self.integers(&[0, 0, as_i64(self.dim)])?;

        let quantised = self.quantise(input)?;
        // Scaling the query scales every product with a key, at no cost here.
        let scale = 1.0 / f32::from(u16::try_from(head).unwrap_or(u16::MAX)).sqrt();
        let square = [self.dim, self.dim];
        let mut heads = |part: &str, scale: f32, order: [i64; 4]| {
            let linear = self.linear(&quantised, &format!("{at}.{part}"), &square, scale)?;
            let split = self.node("Reshape", &[&linear, &to_heads])?;
            self.node_with("Transpose", &[&split], vec![attribute("perm", order.to_vec())?])
        };
        let query = heads(names.query, scale, [0, 2, 1, 3])?;
        let key = heads(names.key, 1.0, [0, 2, 3, 1])?;
        let value = heads(names.value, 1.0, [0, 2, 1, 3])?;
        let scores = self.node("MatMul", &[&query, &key])?;
        let shares = self.node_with("Softmax", &[&scores], vec![attribute("axis", -1_i64)?])?;
        let mixed = self.node("MatMul", &[&shares, &value])?;
        let order = vec![attribute("perm", vec![0_i64, 2, 1, 3])?];
        let mixed = self.node_with("Transpose", &[&mixed], order)?;
        let mixed = self.node("Reshape", &[&mixed, &from_heads])?;
        let mixed = self.quantise(&mixed)?;
        let attention = self.linear(&mixed, &format!("{at}.{}", names.attention), &square, 1.0)?;
        let sum = self.node("Add", &[&attention, input])?;
        let middle = self.layer_norm(&sum, &format!("{at}.{}", names.attention_norm))?;

        let quantised = self.quantise(&middle)?;
        let inner = format!("{at}.{}", names.inner);
        let inner = self.linear(&quantised, &inner, &[0, self.dim], 1.0)?;
        let active = match facts.activation {
            Activation::Gelu => self.node("Gelu", &[&inner])?,
            Activation::GeluTanh => {
                let tanh = vec![attribute("approximate", "tanh".to_owned())?];
                self.node_with("Gelu", &[&inner], tanh)?
            }
            Activation::Relu => self.node("Relu", &[&inner])?,
        };
        let active = self.quantise(&active)?;
        let outer = format!("{at}.{}", names.outer);
        let outer = self.linear(&active, &outer, &[self.dim, 0], 1.0)?;
        let sum = self.node("Add", &[&outer, &middle])?;
        self.layer_norm(&sum, &format!("{at}.{}", names.norm))
    }

    fn layer_norm(&mut self, input: &str, name: &str) -> Result<String> {
        let weight = self.weights.get(&format!("{name}.weight"), &[self.dim])?;
        let bias = self.weights.get(&format!("{name}.bias"), &[self.dim])?;
        let weight = self.floats(&weight.shape, &weight.data)?;
        let bias = self.floats(&bias.shape, &bias.data)?;
        let attributes = vec![attribute("axis", -1_i64)?, attribute("epsilon", self.epsilon)?];
        self.node_with("LayerNormalization", &[input, &weight, &bias], attributes)
    }

    /// Prepares the input of one or more linear maps; once for query, key and value.
    fn quantise(&mut self, input: &str) -> Result<Activations> {
        if self.precision == Precision::Fp32 {
            return Ok(Activations::Floats(input.to_owned()));
        }
        let (bytes, scale, zero) = (self.name(), self.name(), self.name());
        self.node_to("DynamicQuantizeLinear", &[input], &[&bytes, &scale, &zero], Vec::new())?;
        Ok(Activations::Bytes { bytes, scale, zero })
    }

    /// Adds a linear map with bias, both times `factor`.
    fn linear(
        &mut self,
        input: &Activations,
        name: &str,
        shape: &[usize; 2],
        factor: f32,
    ) -> Result<String> {
        let weight = self.weights.get(&format!("{name}.weight"), shape)?;
        let bias = self.weights.get(&format!("{name}.bias"), &[weight.shape[0]])?;
        let scaled: Vec<f32> = bias.data.iter().map(|value| value * factor).collect();
        let bias = self.floats(&bias.shape, &scaled)?;
        let [num_outputs, num_inputs] = [weight.shape[0], weight.shape[1]];
        let product = match input {
            Activations::Floats(input) => {
                let weight = transposed(&weight, |_, value| value * factor);
                let weight = self.floats(&[num_inputs, num_outputs], &weight)?;
                self.node("MatMul", &[input, &weight])?
            }
            Activations::Bytes { bytes, scale, zero } => {
                let scales: Vec<f32> = weight.data.chunks_exact(num_inputs).map(scale_of).collect();
                let weight = transposed(&weight, |row, value| to_int8(value / scales[row]));
                let weight = self.bytes(&[num_inputs, num_outputs], &weight)?;
                let scales: Vec<f32> = scales.iter().map(|scale| scale * factor).collect();
                let scales = self.floats(&[num_outputs], &scales)?;
                let products = self.node("MatMulInteger", &[bytes, &weight, zero])?;
                let to_float = vec![attribute("to", FLOAT)?];
                let products = self.node_with("Cast", &[&products], to_float)?;
                let scales = self.node("Mul", &[scale, &scales])?;
                self.node("Mul", &[&products, &scales])?
            }
        };
        self.node("Add", &[&product, &bias])
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

/// The input of a linear map in the required precision.
enum Activations {
    Floats(String),
    /// Unsigned bytes with the scale and zero point computed at run time.
    Bytes {
        bytes: String,
        scale: String,
        zero: String,
    },
}

/// ONNX's number for 32-bit floats (`TensorProto.FLOAT`).
const FLOAT: i64 = 1;

fn attribute(name: &str, value: impl ort::operator::ToAttribute) -> Result<Attribute> {
    Attribute::new(name, value).map_err(inference)
}
