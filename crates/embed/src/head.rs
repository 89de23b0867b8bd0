//! Makes the vector of a text from the vectors of its tokens: pooling, the modules after it, unit
//! length.
//!
//! Computes in 32-bit floats, whatever the precision of the layers is: one vector per text costs
//! next to nothing.

use crate::error::Result;
use crate::facts::ModelProperties;
use crate::modules::Module;
use crate::registry::Pooling;
use crate::single::lanes;
use crate::single::weights::Weights;

/// The steps after the transformer, ready to use.
pub(crate) struct EncoderHead {
    pooling: Pooling,
    steps: Vec<HeadModule>,
    /// Width of the vectors; longer ones are cut.
    dim: usize,
}

/// A module after pooling.
enum HeadModule {
    /// `[outputs, inputs]` and `[outputs]`.
    Dense {
        weight: Vec<f32>,
        bias: Vec<f32>,
        is_tanh: bool,
    },
    Normalize,
}

impl EncoderHead {
    /// Reads the weights; vectors get `dim` numbers.
    pub(crate) fn open(facts: &ModelProperties, dim: u32) -> Result<Self> {
        let steps = facts.modules.iter().map(|module| match module {
            Module::Normalize => Ok(HeadModule::Normalize),
            Module::Dense(dense) => {
                let weights = Weights::open_plain(&dense.weights)?;
                let shape = [dense.num_outputs, dense.num_inputs];
                let weight = weights.get("linear.weight", &shape)?.data;
                let bias = if dense.has_bias {
                    weights.get("linear.bias", &shape[..1])?.data
                } else {
                    vec![0.0; dense.num_outputs]
                };
                Ok(HeadModule::Dense { weight, bias, is_tanh: dense.is_tanh })
            }
        });
        let steps = steps.collect::<Result<_>>()?;
        Ok(Self { pooling: facts.pooling, steps, dim: usize::try_from(dim).unwrap_or(usize::MAX) })
    }

    /// Makes the vector of a text from those of its tokens, each `width` numbers.
    pub(crate) fn vector(&self, tokens: &[f32], width: usize) -> Vec<f32> {
        let (mut vector, total) = pool(tokens, width, self.pooling);
        if !self.steps.is_empty() {
            // Without further steps, the division would only change the length, which is set below.
            vector.iter_mut().for_each(|number| *number /= total);
        }
        for step in &self.steps {
            match step {
                HeadModule::Normalize => to_unit(&mut vector),
                HeadModule::Dense { weight, bias, is_tanh } => {
                    let mut output = bias.clone();
                    lanes::multiply(&vector, weight, vector.len(), |_, row, dot| {
                        output[row] += dot;
                    });
                    if *is_tanh {
                        output.iter_mut().for_each(|number| *number = number.tanh());
                    }
                    vector = output;
                }
            }
        }
        vector.truncate(self.dim);
        to_unit(&mut vector);
        vector
    }

    /// Cuts a vector of unit length if it is too long.
    pub(crate) fn cut(&self, mut vector: Vec<f32>) -> Vec<f32> {
        if vector.len() > self.dim {
            vector.truncate(self.dim);
            to_unit(&mut vector);
        }
        vector
    }
}

/// Adds up the tokens' vectors, each times its weight; returns also the sum of the weights.
fn pool(tokens: &[f32], width: usize, pooling: Pooling) -> (Vec<f32>, f32) {
    let mut rows = tokens.chunks_exact(width.max(1));
    let mut sum = vec![0.0; width];
    let mut total = 0.0;
    match pooling {
        Pooling::Cls => return (vector_of(rows.next(), width), 1.0),
        Pooling::LastToken => return (vector_of(rows.next_back(), width), 1.0),
        Pooling::Max => {
            let mut largest = vector_of(rows.next(), width);
            for row in rows {
                largest.iter_mut().zip(row).for_each(|(best, number)| *best = best.max(*number));
            }
            return (largest, 1.0);
        }
        Pooling::Mean => {
            for row in rows {
                sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
                total += 1.0;
            }
        }
        Pooling::WeightedMean => {
            let mut weight = 0.0;
            for row in rows {
                weight += 1.0;
                sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += weight * number);
                total += weight;
            }
        }
    }
    (sum, total)
}

/// Returns the vector of a token; zeros if there is no token.
fn vector_of(token: Option<&[f32]>, width: usize) -> Vec<f32> {
    token.map_or_else(|| vec![0.0; width], <[f32]>::to_vec)
}

/// Normalises a vector to unit length; zero stays zero.
fn to_unit(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(pooling: Pooling, steps: Vec<HeadModule>, dim: usize) -> EncoderHead {
        EncoderHead { pooling, steps, dim }
    }

    #[test]
    fn pooling_gives_unit_length() {
        let rows = [3.0, 0.0, 3.0, 8.0];
        let pooled = |rows: &[f32], pooling| head(pooling, Vec::new(), 2).vector(rows, 2);
        assert_eq!(pooled(&rows, Pooling::Cls), [1.0, 0.0]);
        assert_eq!(pooled(&rows, Pooling::Mean), [0.6, 0.8]);
        let length = 73.0_f32.sqrt();
        assert_eq!(pooled(&rows, Pooling::LastToken), [3.0 / length, 8.0 / length]);
        assert_eq!(pooled(&rows, Pooling::Max), [3.0 / length, 8.0 / length]);
        let length = (81.0_f32 + 256.0).sqrt();
        assert_eq!(pooled(&rows, Pooling::WeightedMean), [9.0 / length, 16.0 / length]);
        assert_eq!(pooled(&[0.0, 0.0], Pooling::Mean), [0.0, 0.0]);
    }

    #[test]
    fn a_bias_is_added_to_the_mean_and_not_to_the_sum() {
        let dense = |is_tanh| HeadModule::Dense {
            weight: vec![0.0, 2.0, 1.0, 0.0],
            bias: vec![1.0, -3.0],
            is_tanh,
        };
        // The mean is (3, 4), so the map gives (9, 0).
        let rows = [3.0, 0.0, 3.0, 8.0];
        let mapped = |steps, dim| head(Pooling::Mean, steps, dim).vector(&rows, 2);
        assert_eq!(mapped(vec![dense(false)], 2), [1.0, 0.0]);
        // Normalised first, (0.6, 0.8) gives (2.6, -2.4).
        let found = mapped(vec![HeadModule::Normalize, dense(false)], 2);
        assert!((found[1] / found[0] + 2.4 / 2.6).abs() < 1e-6, "{found:?}");
        let found = mapped(vec![HeadModule::Normalize, dense(true)], 2);
        assert!((found[1] / found[0] - (-2.4_f32).tanh() / 2.6_f32.tanh()).abs() < 1e-6);
        assert_eq!(mapped(vec![dense(false)], 1), [1.0]);
    }

    #[test]
    fn a_cut_vector_has_unit_length() {
        let head = head(Pooling::Mean, Vec::new(), 2);
        assert_eq!(head.cut(vec![0.6, 0.0, 0.8]), [1.0, 0.0]);
        assert_eq!(head.cut(vec![0.6, 0.8]), [0.6, 0.8]);
    }
}
