//! Embeds many texts without ONNX Runtime, on processors with AVX2 and nothing later.
//!
//! The weights are in memory, in the order of [`Packed`]. Activations have 7 bits, with a scale for
//! each token, which loses less than 8 bits with one scale for all: the mean cosine to vectors of
//! 32-bit floats is above 0.995, that of the runtime 0.992 (benches/results/2026-11-28-avx2-int8.md). A
//! text is computed by one thread; several can use an encoder at once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{NativeEncoder, activation};
use crate::error::{Error, Result};
use crate::single::lanes::{
    self, RowScales, TokenScale,
    dense::{self, StridedRows},
    packed::{COLUMNS, Packed, ROWS},
};
use crate::single::weights::Weights;
use crate::tokenized::{EncodedText, TokenModel};

/// Panels of 16 rows computed at once: their weights are a part of a processor's cache.
const PANELS: usize = 8;

/// The largest step of an activation: 7 bits, so that the sum of two products of bytes fits 16 bits.
const MOST: f32 = 127.0;

/// An encoder of passages.
pub(crate) struct PassageEncoder {
    encoder: NativeEncoder,
    layers: Vec<Layer>,
    /// Buffers of threads that have computed a text.
    idle: Mutex<Vec<Buffers>>,
}

/// The numbers of one text. They are kept, because new memory takes time to get.
#[derive(Debug, Default)]
struct Buffers {
    /// The input and the output of a layer, `[tokens, dim]`.
    hidden: Vec<f32>,
    /// The state between its two halves, `[tokens, dim]`.
    middle: Vec<f32>,
    /// Queries, keys and values, then the inner features, `[tokens, outputs]`.
    wide: Vec<f32>,
    /// The result of attention, `[tokens, dim]`.
    combined: Vec<f32>,
    steps: Steps,
    dots: Vec<[i32; ROWS]>,
    head: HeadBuffers,
}

/// The matrices of one head, padded with zeros to whole registers.
#[derive(Debug, Default)]
struct HeadBuffers {
    /// `[width, tokens]`.
    keys: Vec<f32>,
    /// `[tokens, width]`.
    values: Vec<f32>,
    /// `[tokens, tokens]`.
    shares: Vec<f32>,
    /// `[tokens, width]`.
    combined: Vec<f32>,
}

struct Layer {
    /// The maps to queries, keys and values, one after another.
    mixed: PackedMap,
    attention: PackedMap,
    inner: PackedMap,
    outer: PackedMap,
    attention_norm: String,
    norm: String,
}

/// A linear map of all tokens.
struct PackedMap {
    packed: Packed,
    scales: Vec<f32>,
    bias: Vec<f32>,
}

/// Activations in steps.
#[derive(Debug, Default)]
struct Steps {
    steps: Vec<[u8; COLUMNS]>,
    /// One for each token.
    scales: Vec<TokenScale>,
}

impl TokenModel for PassageEncoder {
    fn run(&self, ids: &[i64]) -> Result<EncodedText> {
        let mut buffers = self.idle().pop().unwrap_or_default();
        buffers.hidden.clear();
        buffers.hidden.extend(self.encoder.embeddings(ids)?);
        for layer in &self.layers {
            self.layer(layer, &mut buffers)?;
        }
        let encoded = self.encoder.encoded(buffers.hidden.clone());
        self.idle().push(buffers);
        Ok(encoded)
    }
}

impl PassageEncoder {
    /// Reads the 8-bit weights of an encoder and packs them.
    pub(crate) fn new(mut encoder: NativeEncoder) -> Result<Self> {
        let rows = encoder.rows.take();
        let rows =
            rows.ok_or_else(|| Error::Inference("the weights have more than 8 bits".into()))?;
        let layers = (0..encoder.facts.num_layers)
            .map(|idx| Layer::read(&encoder, &rows, &format!("{}.{idx}", encoder.names.layer)));
        let layers = layers.collect::<Result<_>>()?;
        Ok(Self { encoder, layers, idle: Mutex::default() })
    }

    /// Locks the buffers that no thread uses.
    fn idle(&self) -> MutexGuard<'_, Vec<Buffers>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes one layer as [`NativeEncoder::layer`] does.
    fn layer(&self, layer: &Layer, buffers: &mut Buffers) -> Result<()> {
        let Buffers { hidden, middle, wide, combined, steps, dots, head } = buffers;
        let (dim, same) = (self.encoder.dim, |_: &mut [f32]| ());
        steps.read(hidden, dim);
        layer.mixed.apply(steps, dots, wide, same);
        self.attention(wide, head, combined);
        steps.read(combined, dim);
        layer.attention.apply(steps, dots, middle, same);
        add(middle, hidden);
        self.encoder.normalise(middle, &layer.attention_norm)?;
        steps.read(middle, dim);
        layer.inner.apply(steps, dots, wide, self.encoder.facts.activation.function());
        steps.read(wide, layer.inner.scales.len());
        layer.outer.apply(steps, dots, hidden, same);
        add(hidden, middle);
        self.encoder.normalise(hidden, &layer.norm)
    }

    /// Combines the values of all tokens for each token, weighted by how well its query matches
    /// their keys; a row of `mixed` has a token's queries, keys and values of all heads.
    fn attention(&self, mixed: &[f32], buffers: &mut HeadBuffers, output: &mut Vec<f32>) {
        let (dim, width) = (self.encoder.dim, self.encoder.head_width());
        let stride = 3 * dim;
        let num_tokens = mixed.len() / stride;
        #[expect(clippy::cast_precision_loss, reason = "a head is some dozen features wide")]
        let scale = 1.0 / (width as f32).sqrt();
        let [num_keys, padded] =
            [num_tokens, width].map(|len| len.next_multiple_of(dense::COLUMNS));
        let HeadBuffers { keys, values, shares, combined } = buffers;
        for (buffer, len) in [
            (&mut *keys, width * num_keys),
            (&mut *values, num_tokens * padded),
            (&mut *shares, num_tokens * num_keys),
            (&mut *combined, num_tokens * padded),
            (&mut *output, num_tokens * dim),
        ] {
            buffer.clear();
            buffer.resize(len, 0.0);
        }
        for head in (0..dim).step_by(width) {
            for (token, features) in mixed.chunks_exact(stride).enumerate() {
                let key = &features[dim + head..][..width];
                for (keys, key) in keys.chunks_exact_mut(num_keys).zip(key) {
                    keys[token] = key * scale;
                }
                let value = &features[2 * dim + head..][..width];
                values[token * padded..][..width].copy_from_slice(value);
            }
            let queries = StridedRows { numbers: &mixed[head..], stride };
            dense::multiply(queries, StridedRows { numbers: keys, stride: num_keys }, shares);
            let rows = shares.chunks_exact_mut(num_keys);
            rows.for_each(|row| activation::softmax(&mut row[..num_tokens]));
            dense::multiply(
                StridedRows { numbers: shares, stride: num_keys },
                StridedRows { numbers: values, stride: padded },
                combined,
            );
            let rows = output.chunks_exact_mut(dim).zip(combined.chunks_exact(padded));
            rows.for_each(|(row, found)| row[head..][..width].copy_from_slice(&found[..width]));
        }
    }
}

/// Adds numbers to others.
fn add(numbers: &mut [f32], others: &[f32]) {
    numbers.iter_mut().zip(others).for_each(|(number, other)| *number += other);
}

impl Layer {
    /// Reads the layer whose names begin with `at`, with the 8-bit weights of an encoder.
    fn read(encoder: &NativeEncoder, rows: &Weights, at: &str) -> Result<Self> {
        let (names, dim) = (encoder.names, encoder.dim);
        let map = |parts: &[&str], shape| PackedMap::new(&encoder.weights, rows, at, parts, shape);
        let inner = map(&[names.inner], [0, dim])?;
        Ok(Self {
            mixed: map(&[names.query, names.key, names.value], [dim, dim])?,
            attention: map(&[names.attention], [dim, dim])?,
            outer: map(&[names.outer], [dim, inner.scales.len()])?,
            inner,
            attention_norm: format!("{at}.{}", names.attention_norm),
            norm: format!("{at}.{}", names.norm),
        })
    }
}

impl PackedMap {
    /// Reads maps of the same input, whose outputs follow each other. `shape` is that of each,
    /// `[outputs, inputs]`; 0 matches any number.
    fn new(
        weights: &Weights,
        in_int8: &Weights,
        layer: &str,
        parts: &[&str],
        shape: [usize; 2],
    ) -> Result<Self> {
        let (mut numbers, mut scales, mut bias) = (Vec::new(), Vec::new(), Vec::new());
        for part in parts {
            let rows = in_int8.rows(&format!("{layer}.{part}.weight"), shape)?;
            numbers.extend_from_slice(rows.int8(0..rows.num_rows, &mut Vec::new())?);
            scales.extend(in_int8.get(&format!("{layer}.{part}.scale"), &[rows.num_rows])?.data);
            bias.extend(weights.get(&format!("{layer}.{part}.bias"), &[rows.num_rows])?.data);
        }
        Ok(Self { packed: Packed::new(&numbers, shape[1]), scales, bias })
    }

    /// Computes `[tokens, outputs]`; passes all numbers to `finish`, some at a time.
    fn apply(
        &self,
        input: &Steps,
        dots: &mut Vec<[i32; ROWS]>,
        output: &mut Vec<f32>,
        finish: fn(&mut [f32]),
    ) {
        let (num_tokens, num_outputs) = (input.scales.len(), self.scales.len());
        output.resize(num_tokens * num_outputs, 0.0);
        for (idx, sums) in self.packed.sums.chunks(PANELS).enumerate() {
            let start = idx * PANELS * ROWS;
            let end = num_outputs.min(start + sums.len() * ROWS);
            dots.resize(num_tokens * sums.len(), [0; ROWS]);
            self.packed.multiply(&input.steps, idx * PANELS, dots);
            let rows = RowScales {
                sums: sums.as_flattened(),
                scales: &self.scales[start..end],
                offsets: &self.bias[start..end],
            };
            let tokens = output.chunks_exact_mut(num_outputs).zip(dots.chunks_exact(sums.len()));
            for ((output, dots), scale) in tokens.zip(&input.scales) {
                let output = &mut output[start..end];
                lanes::scale_dots(output, dots.as_flattened(), *scale, rows);
                finish(output);
            }
        }
    }
}

impl Steps {
    /// Quantises the `dim` activations of each token for themselves.
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 127")]
    fn read(&mut self, activations: &[f32], dim: usize) {
        let len = dim.div_ceil(COLUMNS);
        let tokens = activations.chunks_exact(dim);
        self.steps.resize(tokens.len() * len, [0; COLUMNS]);
        self.scales.clear();
        for (numbers, steps) in tokens.zip(self.steps.chunks_exact_mut(len)) {
            // The range includes zero, so that zero is exact.
            let (least, greatest) = lanes::range(numbers, 0.0);
            let step = if greatest > least { (greatest - least) / MOST } else { 1.0 };
            let zero = (-least / step).round_ties_even().clamp(0.0, MOST);
            let per_step = 1.0 / step;
            lanes::convert(numbers, steps.as_flattened_mut(), move |number| {
                let step = (number * per_step + zero).clamp(0.0, MOST) + activation::ROUNDER;
                // `ROUNDER` has left the integer in the lowest bits.
                (step.to_bits() & 127) as u8
            });
            self.scales.push(TokenScale { step, zero: zero as i32 });
        }
    }
}
