//! Embeds one text without ONNX Runtime, whose start and graph would take five times as long as the
//! computation itself.
//!
//! It is the same model in the same precision as the graph in `export`, from the same weights; a
//! test compares the two. Many texts are embedded by the runtime, whose kernels are faster; where they are
//! not, by `passages`.

mod activation;
mod linear;
mod passages;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

pub(super) use passages::PassageEncoder;

use linear::{Linear, LinearInput, LinearLayer, OutputColumns, WorkerTeam, share};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, Axis, s};

use super::lanes;
use super::weights::Weights;
use crate::error::{Error, Result};
use crate::facts::ModelProperties;
use crate::head::EncoderHead;
use crate::names::{self, NativeWeights, TensorNames};
use crate::tokenized::{EncodedText, TokenModel};

/// An encoder that embeds one text at a time.
pub(crate) struct NativeEncoder {
    weights: Weights,
    /// The linear maps in 8 bits, if the model runs in 8 bits.
    rows: Option<Weights>,
    facts: ModelProperties,
    names: &'static TensorNames,
    head: EncoderHead,
    dim: usize,
    team: Mutex<WorkerTeam>,
    has_run: AtomicBool,
}

/// Maximum size of 8-bit weights to keep in memory in a program that answers several queries.
const MAX_KEPT_BYTES: usize = 128 << 20;

/// Tokens that are normalised at once.
const TOKENS_AT_ONCE: usize = 4;

impl TokenModel for NativeEncoder {
    fn run(&self, ids: &[i64]) -> Result<EncodedText> {
        let mut team = self.team.lock().unwrap_or_else(PoisonError::into_inner);
        // The first query reads the weights from the file. A second one shows that it pays to keep them.
        if self.has_run.swap(true, Ordering::Relaxed)
            && let Some(rows) = &self.rows
        {
            rows.keep(MAX_KEPT_BYTES)?;
        }
        let mut hidden = self.embeddings(ids)?;
        for idx in 0..self.facts.num_layers {
            let at = format!("{}.{idx}", self.names.layer);
            hidden = self.layer(&mut team, &hidden, &at)?;
        }
        Ok(self.encoded(hidden.into_raw_vec_and_offset().0))
    }
}

impl NativeEncoder {
    /// Opens the weights, reading only their table; `rows` are the 8-bit weights.
    pub(crate) fn open(
        own: &NativeWeights,
        rows: Option<Weights>,
        facts: &ModelProperties,
        head: EncoderHead,
        num_threads: usize,
    ) -> Result<Self> {
        Ok(Self {
            weights: Weights::open(&own.path)?,
            rows,
            facts: facts.clone(),
            names: own.names,
            head,
            dim: usize::try_from(facts.dim).unwrap_or(usize::MAX),
            team: Mutex::new(WorkerTeam::new(num_threads)),
            has_run: AtomicBool::new(false),
        })
    }

    /// Pools the last layer's output.
    fn encoded(&self, tokens: Vec<f32>) -> EncodedText {
        let vector = self.head.vector(&tokens, self.dim);
        EncodedText { vector, tokens, token_dim: self.dim }
    }

    /// Returns the number of features of a head of attention.
    fn head_width(&self) -> usize {
        self.dim / usize::try_from(self.facts.num_heads).unwrap_or(1).max(1)
    }

    /// Maps token ids to the first layer's input `[tokens, dim]`: words + positions (+ the first
    /// token type), normalised.
    fn embeddings(&self, ids: &[i64]) -> Result<Array2<f32>> {
        let words = self.weights.rows(names::WORDS, [0, self.dim])?;
        let positions = self.weights.rows(names::POSITIONS, [0, self.dim])?;
        let mut ty = vec![0.0; self.dim];
        if self.weights.has(names::TYPES) {
            self.weights.rows(names::TYPES, [0, self.dim])?.read(0..1, &mut ty)?;
        }
        let first = usize::try_from(self.facts.first_position).unwrap_or(usize::MAX);
        let mut hidden = Array2::zeros((ids.len(), self.dim));
        let (mut word, mut position) = (Vec::new(), Vec::new());
        for (token, (id, mut features)) in ids.iter().zip(hidden.rows_mut()).enumerate() {
            let id = usize::try_from(*id).ok().filter(|id| *id < words.num_rows);
            let at = first.checked_add(token).filter(|at| *at < positions.num_rows);
            let (Some(id), Some(at)) = (id, at) else {
                return Err(Error::Inference("a token is not in the model's tables".into()));
            };
            words.read(id..id + 1, &mut word)?;
            positions.read(at..at + 1, &mut position)?;
            let parts = word.iter().zip(&position).zip(&ty);
            features
                .iter_mut()
                .zip(parts)
                .for_each(|(feature, ((a, b), c))| *feature = a + (b + c));
        }
        self.normalise(side_by_side(&mut hidden), names::FIRST_NORM)?;
        Ok(hidden)
    }

    /// Computes one transformer layer: attention, then the two-layer network, each with a residual
    /// connection.
    fn layer(&self, team: &mut WorkerTeam, input: &Array2<f32>, at: &str) -> Result<Array2<f32>> {
        let (names, dim, same) = (self.names, self.dim, |_: &mut [f32]| ());
        let name = |part: &str| format!("{at}.{part}");
        let linear = Linear { weights: &self.weights, rows: self.rows.as_ref() };
        let factors = linear.input(input);
        let maps = [
            linear.map(&factors, &name(names.query), dim)?,
            linear.map(&factors, &name(names.key), dim)?,
            linear.map(&factors, &name(names.value), dim)?,
        ];
        let mixed = self.attention(team, &factors, &maps)?;
        let factors = linear.input(&mixed);
        let map = linear.map(&factors, &name(names.attention), dim)?;
        let mut middle = map.apply(team, &factors, same)?;
        middle += input;
        self.normalise(side_by_side(&mut middle), &name(names.attention_norm))?;
        let active = self.facts.activation.function();
        let factors = linear.input(&middle);
        let map = linear.map(&factors, &name(names.inner), 0)?;
        let inner = map.apply(team, &factors, active)?;
        let factors = linear.input(&inner);
        let map = linear.map(&factors, &name(names.outer), dim)?;
        let mut outer = map.apply(team, &factors, same)?;
        outer += &middle;
        self.normalise(side_by_side(&mut outer), &name(names.norm))?;
        Ok(outer)
    }

    /// Combines the values of all tokens for each token, weighted by how well its query matches
    /// their keys; `maps` compute queries, keys and values. Each worker computes some of the heads
    /// completely.
    fn attention(
        &self,
        team: &mut WorkerTeam,
        input: &LinearInput<'_>,
        maps: &[LinearLayer<'_>; 3],
    ) -> Result<Array2<f32>> {
        let width = self.head_width();
        #[expect(clippy::cast_precision_loss, reason = "a head is some dozen features wide")]
        let scale = 1.0 / (width as f32).sqrt();
        let mut mixed = Array2::zeros((input.num_tokens(), self.dim));
        share(team, &mut mixed, width, |worker, mut part| {
            let mut made = maps.each_ref().map(|_| Array2::zeros(part.output.dim()));
            for (map, made) in maps.iter().zip(&mut made) {
                let part = OutputColumns { start: part.start, output: made.view_mut() };
                map.apply_part(worker, input, part, |_| ())?;
            }
            let [query, key, value] = &made;
            let heads = part.output.axis_chunks_iter_mut(Axis(1), width);
            for (start, mut mixed) in (0..).step_by(width).zip(heads) {
                let head = s![.., start..start + width];
                let mut shares = Array2::zeros((query.nrows(), query.nrows()));
                let keys = key.slice(head);
                general_mat_mul(scale, &query.slice(head), &keys.t(), 0.0, &mut shares);
                side_by_side(&mut shares)
                    .chunks_exact_mut(query.nrows())
                    .for_each(activation::softmax);
                general_mat_mul(1.0, &shares, &value.slice(head), 0.0, &mut mixed);
            }
            Ok(())
        })?;
        Ok(mixed)
    }

    /// Normalises each token's features to mean 0 and variance 1, then applies the learnt scale and
    /// offset.
    fn normalise(&self, numbers: &mut [f32], name: &str) -> Result<()> {
        let weight = self.weights.vector(&format!("{name}.weight"), self.dim)?;
        let bias = self.weights.vector(&format!("{name}.bias"), self.dim)?;
        #[expect(clippy::cast_precision_loss, reason = "models are some hundred features wide")]
        let share = 1.0 / self.dim as f32;
        let means: Vec<f32> =
            numbers.chunks_exact(self.dim).map(|token| lanes::sum(token) * share).collect();
        let groups =
            numbers.chunks_mut(self.dim * TOKENS_AT_ONCE).zip(means.chunks(TOKENS_AT_ONCE));
        for (group, means) in groups {
            let variances = squares(group, means, self.dim).map(|squares| squares * share);
            for ((features, mean), variance) in
                group.chunks_exact_mut(self.dim).zip(means).zip(variances)
            {
                let scale = 1.0 / (variance + self.facts.epsilon).sqrt();
                let learnt = weight.iter().zip(&*bias);
                features.iter_mut().zip(learnt).for_each(|(feature, (weight, bias))| {
                    *feature = (*feature - mean) * scale * weight + bias;
                });
            }
        }
        Ok(())
    }
}

/// Returns the activations of all tokens.
fn side_by_side(tokens: &mut Array2<f32>) -> &mut [f32] {
    tokens.as_slice_mut().expect("activations are stored row by row")
}

/// Returns for each token the sum of the squares of its features' differences from its mean. Each sum is made in the
/// order of the features, so several at once keep the processor busy.
fn squares(tokens: &[f32], means: &[f32], dim: usize) -> [f32; TOKENS_AT_ONCE] {
    let mut sums = [0.0; TOKENS_AT_ONCE];
    let tokens: Vec<&[f32]> = tokens.chunks_exact(dim).collect();
    match (&tokens[..], means) {
        ([a, b, c, d], [_, _, _, _]) => {
            for (((a, b), c), d) in a.iter().zip(*b).zip(*c).zip(*d) {
                for ((sum, feature), mean) in sums.iter_mut().zip([a, b, c, d]).zip(means) {
                    *sum += (feature - mean) * (feature - mean);
                }
            }
        }
        _ => {
            for ((sum, token), mean) in sums.iter_mut().zip(tokens).zip(means) {
                token.iter().for_each(|feature| *sum += (feature - mean) * (feature - mean));
            }
        }
    }
    sums
}
