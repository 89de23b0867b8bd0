//! Adds operators to a graph under construction, and the steps that all families share: norms, linear maps in either
//! precision, attention, activations, and the positions of tokens.

use ort::editor::{Graph, Node, ONNX_DOMAIN};
use ort::memory::Allocator;
use ort::operator::Attribute;
use ort::value::{PrimitiveTensorElementType, Tensor as OrtTensor};

use super::int8::{scale_of, to_int8, transposed};
use crate::document::Precision;
use crate::error::{Cause, Error, Result};
use crate::facts::Activation;
use crate::single::weights::Weights;

/// The graph's input: token ids.
pub(crate) const INPUT: &str = "input_ids";

/// Wraps an error of the runtime.
pub(super) fn inference(error: impl Into<Cause>) -> Error {
    Error::Inference(error.into())
}

/// A graph under construction. Every method that adds a node returns the name of its output.
pub(super) struct Builder<'a> {
    pub(super) graph: Graph,
    pub(super) allocator: Allocator,
    pub(super) weights: &'a Weights,
    pub(super) precision: Precision,
    pub(super) dim: usize,
    pub(super) epsilon: f32,
    /// Whether norms and maps of a family may lack their bias.
    pub(super) may_lack_bias: bool,
    /// The name of the tensor that the next layer adds to the products of queries and keys, by their distance.
    pub(super) distance_bias: Option<String>,
    pub(super) num_names: usize,
}

impl Builder<'_> {
    pub(super) fn name(&mut self) -> String {
        self.num_names += 1;
        format!("v{}", self.num_names)
    }

    pub(super) fn node_to(
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

    pub(super) fn node_with(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: Vec<Attribute>,
    ) -> Result<String> {
        let output = self.name();
        self.node_to(operator, inputs, &[&output], attributes)?;
        Ok(output)
    }

    pub(super) fn node(&mut self, operator: &str, inputs: &[&str]) -> Result<String> {
        self.node_with(operator, inputs, Vec::new())
    }

    pub(super) fn floats(&mut self, shape: &[usize], data: &[f32]) -> Result<String> {
        self.initializer(shape, data)
    }

    pub(super) fn integers(&mut self, data: &[i64]) -> Result<String> {
        self.initializer(&[data.len()], data)
    }

    pub(super) fn bytes(&mut self, shape: &[usize], data: &[i8]) -> Result<String> {
        self.initializer(shape, data)
    }

    fn initializer<T>(&mut self, shape: &[usize], data: &[T]) -> Result<String>
    where
        T: PrimitiveTensorElementType + Clone + Copy + std::fmt::Debug + 'static,
    {
        let name = self.name();
        OrtTensor::<T>::new(&self.allocator, shape.to_vec())
            .and_then(|mut tensor| {
                tensor.extract_tensor_mut().1.copy_from_slice(data);
                self.graph.add_initializer(&name, tensor, false)
            })
            .map_err(inference)?;
        Ok(name)
    }

    pub(super) fn layer_norm(&mut self, input: &str, name: &str) -> Result<String> {
        let weight = self.weights.get(&format!("{name}.weight"), &[self.dim])?;
        let bias = self.bias(name, self.dim, 1.0)?;
        let weight = self.floats(&weight.shape, &weight.data)?;
        let inputs: Vec<&str> = [input, &weight].into_iter().chain(bias.as_deref()).collect();
        let attributes = vec![attribute("axis", -1_i64)?, attribute("epsilon", self.epsilon)?];
        self.node_with("LayerNormalization", &inputs, attributes)
    }

    /// Returns the bias of a norm or a map, `factor` times; `None` if it has none and need not.
    fn bias(&mut self, name: &str, len: usize, factor: f32) -> Result<Option<String>> {
        let name = format!("{name}.bias");
        if self.may_lack_bias && !self.weights.has(&name) {
            return Ok(None);
        }
        let bias = self.weights.get(&name, &[len])?;
        let scaled: Vec<f32> = bias.data.iter().map(|value| value * factor).collect();
        self.floats(&bias.shape, &scaled).map(Some)
    }

    /// Prepares the input of one or more linear maps; once for query, key and value.
    pub(super) fn quantise(&mut self, input: &str) -> Result<LinearMapInput> {
        if self.precision == Precision::Fp32 {
            return Ok(LinearMapInput::Floats(input.to_owned()));
        }
        let (bytes, scale, zero) = (self.name(), self.name(), self.name());
        self.node_to("DynamicQuantizeLinear", &[input], &[&bytes, &scale, &zero], Vec::new())?;
        Ok(LinearMapInput::Bytes { bytes, scale, zero })
    }

    /// Adds a linear map with its bias, both times `factor`.
    pub(super) fn linear(
        &mut self,
        input: &LinearMapInput,
        name: &str,
        shape: &[usize; 2],
        factor: f32,
    ) -> Result<String> {
        let weight = self.weights.get(&format!("{name}.weight"), shape)?;
        let bias = self.bias(name, weight.shape[0], factor)?;
        let [num_outputs, num_inputs] = [weight.shape[0], weight.shape[1]];
        let product = match input {
            LinearMapInput::Floats(input) => {
                let weight = transposed(&weight, |_, value| value * factor);
                let weight = self.floats(&[num_inputs, num_outputs], &weight)?;
                self.node("MatMul", &[input, &weight])?
            }
            LinearMapInput::Bytes { bytes, scale, zero } => {
                let scales: Vec<f32> = weight.data.chunks_exact(num_inputs).map(scale_of).collect();
                let weight = transposed(&weight, |row, value| to_int8(value / scales[row]));
                let weight = self.bytes(&[num_inputs, num_outputs], &weight)?;
                let scales: Vec<f32> = scales.iter().map(|scale| scale * factor).collect();
                let scales = self.floats(&[num_outputs], &scales)?;
                let products = self.node("MatMulInteger", &[bytes, &weight, zero])?;
                let products = self.as_floats(&products)?;
                let scales = self.node("Mul", &[scale, &scales])?;
                self.node("Mul", &[&products, &scales])?
            }
        };
        match bias {
            Some(bias) => self.node("Add", &[&product, &bias]),
            None => Ok(product),
        }
    }

    /// Mixes the values of `[batch, heads, tokens, width of a head]` by the softmax of the products of queries and keys
    /// (already `[.., width, tokens]` and scaled), plus
    /// `distance_bias`. Returns `[batch, tokens, dim]`.
    pub(super) fn attend(&mut self, [query, key, value]: [&str; 3]) -> Result<String> {
        let mut scores = self.node("MatMul", &[query, key])?;
        if let Some(bias) = self.distance_bias.clone() {
            scores = self.node("Add", &[&scores, &bias])?;
        }
        let shares = self.node_with("Softmax", &[&scores], vec![attribute("axis", -1_i64)?])?;
        let mixed = self.node("MatMul", &[&shares, value])?;
        let mixed = self.transposed(&mixed, [0, 2, 1, 3])?;
        // In a Reshape of ONNX, 0 keeps the length of an axis.
        let joined = self.integers(&[0, 0, i64::try_from(self.dim).unwrap_or(i64::MAX)])?;
        self.node("Reshape", &[&mixed, &joined])
    }

    /// Divides `[batch, tokens, dim]` into heads, and puts the axes in another order.
    pub(super) fn heads(
        &mut self,
        input: &str,
        num_heads: usize,
        order: [i64; 4],
    ) -> Result<String> {
        let [heads, width] =
            [num_heads, self.dim / num_heads].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        let shape = self.integers(&[0, 0, heads, width])?;
        let split = self.node("Reshape", &[input, &shape])?;
        self.transposed(&split, order)
    }

    fn transposed(&mut self, input: &str, order: [i64; 4]) -> Result<String> {
        self.node_with("Transpose", &[input], vec![attribute("perm", order.to_vec())?])
    }

    pub(super) fn activate(&mut self, activation: Activation, input: &str) -> Result<String> {
        match activation {
            Activation::Gelu => self.node("Gelu", &[input]),
            Activation::GeluTanh => {
                let tanh = vec![attribute("approximate", "tanh".to_owned())?];
                self.node_with("Gelu", &[input], tanh)
            }
            Activation::Relu => self.node("Relu", &[input]),
            Activation::Silu => {
                let share = self.node("Sigmoid", &[input])?;
                self.node("Mul", &[input, &share])
            }
        }
    }

    /// Returns the number of tokens of the input, as a tensor of one number.
    pub(super) fn num_tokens(&mut self) -> Result<String> {
        let tokens = vec![attribute("start", 1_i64)?, attribute("end", 2_i64)?];
        self.node_with("Shape", &[INPUT], tokens)
    }

    /// Returns the numbers of the tokens from 0, as a row and as a column.
    pub(super) fn positions(&mut self) -> Result<[String; 2]> {
        let [zero, one] = [self.integer(0)?, self.integer(1)?];
        let num_tokens = self.num_tokens()?;
        let num_tokens = self.node("Squeeze", &[&num_tokens])?;
        let positions = self.node("Range", &[&zero, &num_tokens, &one])?;
        let [row, column] = [self.integers(&[0])?, self.integers(&[1])?];
        Ok([
            self.node("Unsqueeze", &[&positions, &row])?,
            self.node("Unsqueeze", &[&positions, &column])?,
        ])
    }

    /// Adds a number without dimensions.
    pub(super) fn integer(&mut self, number: i64) -> Result<String> {
        let vector = self.integers(&[number])?;
        self.node("Squeeze", &[&vector])
    }

    pub(super) fn as_floats(&mut self, input: &str) -> Result<String> {
        self.node_with("Cast", &[input], vec![attribute("to", FLOAT)?])
    }
}

/// The input of a linear map in the required precision.
pub(super) enum LinearMapInput {
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

pub(super) fn attribute(name: &str, value: impl ort::operator::ToAttribute) -> Result<Attribute> {
    Attribute::new(name, value).map_err(inference)
}
