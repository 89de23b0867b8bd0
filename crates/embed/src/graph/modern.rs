//! Builds the layers of `ModernBERT`: norms before attention and network, positions as rotations of queries and keys,
//! most layers with a window of neighbours, and a gate in the network (arXiv 2412.13663).

use super::export::head_scale;
use super::nodes::{Builder, INPUT, attribute};
use crate::error::Result;
use crate::facts::{ModelProperties, Rotary};
use crate::names::TOKEN_VECTORS;
use crate::numeric::power;

/// Added to the product of a query and a key outside its window: no share of the softmax is left.
const OUTSIDE: f32 = -1e30;

impl Builder<'_> {
    /// Maps token ids to the token vectors of the last layer.
    pub(super) fn modern(&mut self, facts: &ModelProperties, rotary: &Rotary) -> Result<String> {
        let words = self.weights.get(TOKEN_VECTORS, &[0, self.dim])?;
        let words = self.floats(&words.shape, &words.data)?;
        let words = self.node("Gather", &[&words, INPUT])?;
        let mut hidden = self.layer_norm(&words, "embeddings.norm")?;
        let num_heads = usize::try_from(facts.num_heads).unwrap_or(1);
        let positions = self.positions()?;
        let angles = [
            self.angles(&positions[1], self.dim / num_heads, rotary.local_base)?,
            self.angles(&positions[1], self.dim / num_heads, rotary.global_base)?,
        ];
        let window = self.window(&positions, rotary.window)?;
        for (idx, is_global) in rotary.is_global.iter().enumerate() {
            let at = format!("layers.{idx}");
            let norm = format!("{at}.attn_norm");
            // The first layer has no norm before its attention: that of the token vectors is enough.
            let input = if idx == 0 { hidden.clone() } else { self.layer_norm(&hidden, &norm)? };
            let turns = &angles[usize::from(*is_global)];
            // Only local layers are limited to the window.
            self.distance_bias = (!is_global).then(|| window.clone());
            let mixed = self.attention(&input, &at, num_heads, turns)?;
            let middle = self.node("Add", &[&hidden, &mixed])?;
            let input = self.layer_norm(&middle, &format!("{at}.mlp_norm"))?;
            let input = self.quantise(&input)?;
            let inner = self.linear(&input, &format!("{at}.mlp.Wi"), &[0, self.dim], 1.0)?;
            let [inner, gate] = self.split(&inner)?;
            let inner = self.activate(facts.activation, &inner)?;
            let inner = self.node("Mul", &[&inner, &gate])?;
            let inner = self.quantise(&inner)?;
            let outer = self.linear(&inner, &format!("{at}.mlp.Wo"), &[self.dim, 0], 1.0)?;
            hidden = self.node("Add", &[&middle, &outer])?;
        }
        self.layer_norm(&hidden, "final_norm")
    }

    fn attention(
        &mut self,
        input: &str,
        at: &str,
        num_heads: usize,
        turns: &[String; 2],
    ) -> Result<String> {
        let input = self.quantise(input)?;
        let shape = [3 * self.dim, self.dim];
        let all = self.linear(&input, &format!("{at}.attn.Wqkv"), &shape, 1.0)?;
        let [query, key, value] = self.split(&all)?;
        let query = self.heads(&query, num_heads, [0, 2, 1, 3])?;
        let query = self.turned(&query, turns)?;
        let scale = self.floats(&[], &[head_scale(self.dim / num_heads)])?;
        let query = self.node("Mul", &[&query, &scale])?;
        let key = self.heads(&key, num_heads, [0, 2, 1, 3])?;
        let key = self.turned(&key, turns)?;
        let order = vec![attribute("perm", vec![0_i64, 1, 3, 2])?];
        let key = self.node_with("Transpose", &[&key], order)?;
        let value = self.heads(&value, num_heads, [0, 2, 1, 3])?;
        let mixed = self.attend([&query, &key, &value])?;
        let mixed = self.quantise(&mixed)?;
        self.linear(&mixed, &format!("{at}.attn.Wo"), &[self.dim, self.dim], 1.0)
    }

    /// Divides the last axis into equal parts.
    fn split<const N: usize>(&mut self, input: &str) -> Result<[String; N]> {
        let parts: [String; N] = std::array::from_fn(|_| self.name());
        let outputs: [&str; N] = std::array::from_fn(|idx| &*parts[idx]);
        let num_parts = i64::try_from(N).unwrap_or(i64::MAX);
        let attributes = vec![attribute("axis", -1_i64)?, attribute("num_outputs", num_parts)?];
        self.node_to("Split", &[input], &outputs, attributes)?;
        Ok(parts)
    }

    /// Returns cosine and sine of the angle of each position and pair of numbers, `[tokens, half a head]`: the position
    /// times `base` to the power of minus the share of the pair (arXiv 2104.09864).
    fn angles(&mut self, positions: &str, width: usize, base: u32) -> Result<[String; 2]> {
        let speeds: Vec<f32> = (0..width / 2).map(|pair| speed(base, pair, width)).collect();
        let speeds = self.floats(&[1, speeds.len()], &speeds)?;
        let positions = self.as_floats(positions)?;
        let angles = self.node("Mul", &[&positions, &speeds])?;
        Ok([self.node("Cos", &[&angles])?, self.node("Sin", &[&angles])?])
    }

    /// Turns each pair of numbers of a head, one of the first half and one of the second.
    fn turned(&mut self, heads: &str, [cosine, sine]: &[String; 2]) -> Result<String> {
        let [first, second] = self.split(heads)?;
        let mut product = |left: &str, right: &str| self.node("Mul", &[left, right]);
        let [a, b] = [product(&first, cosine)?, product(&second, sine)?];
        let [c, d] = [product(&second, cosine)?, product(&first, sine)?];
        let [left, right] = [self.node("Sub", &[&a, &b])?, self.node("Add", &[&c, &d])?];
        self.node_with("Concat", &[&left, &right], vec![attribute("axis", -1_i64)?])
    }

    /// Returns what keeps a query to the keys at most `reach` tokens away.
    fn window(&mut self, [keys, queries]: &[String; 2], reach: u32) -> Result<String> {
        let distances = self.node("Sub", &[keys, queries])?;
        let distances = self.node("Abs", &[&distances])?;
        let reach = self.integers(&[i64::from(reach)])?;
        let is_inside = self.node("LessOrEqual", &[&distances, &reach])?;
        let [inside, outside] = [self.floats(&[], &[0.0])?, self.floats(&[], &[OUTSIDE])?];
        self.node("Where", &[&is_inside, &inside, &outside])
    }
}

/// Returns the angle of a pair of numbers at the position 1.
#[expect(clippy::cast_possible_truncation, reason = "at most 1")]
fn speed(base: u32, pair: usize, width: usize) -> f32 {
    power(f64::from(base), -((2 * pair) as f64) / width as f64) as f32
}
