//! Keeps the vectors of a passage's tokens in a few bits, and compares a query's tokens with them.
//!
//! The model computes a vector for each token just before pooling. Whether each word of a query has
//! a match in a passage shows better in them than in the one vector of the whole passage (late
//! interaction; Khattab and Zaharia, SIGIR 2020). A passage keeps the means of a few neighbouring
//! tokens, the nearest merged until there are at most 20 (`kb_base::token_codes`), one bit per number;
//! the query's numbers keep nine bits. Pure.

use kb_base::token_codes::{MAX_CODES, MAX_COMPARED, groups, pack};

use super::TokenMatcher;
use super::single::lanes::{self, int8};

/// Neighbouring tokens whose mean becomes a code, or part of one.
const TOKENS_PER_CODE: usize = 4;

/// The largest of a query token's numbers becomes this: nine bits with the sign, which the product of integers takes.
const STEPS: f32 = 255.0;

/// Returns the bytes of one code for vectors of `dim` numbers.
pub(crate) fn code_len(dim: usize) -> usize {
    dim.div_ceil(8)
}

/// Encodes the tokens of a passage, `[tokens, dim]`: the signs of the mean of each few neighbours,
/// lowest bit first. Where these are too many, the nearest means become one. Merging their signs instead
/// costs 0.0008 nDCG@10 and is only for passages of over 1,024 tokens, and for databases of an older kb.
pub(super) fn encode(tokens: &[f32], dim: usize) -> Vec<u8> {
    let mut means: Vec<f32> = Vec::with_capacity(tokens.len() / TOKENS_PER_CODE + dim);
    for group in tokens.chunks(dim.max(1) * TOKENS_PER_CODE) {
        means.extend(mean(&group.chunks_exact(dim).collect::<Vec<_>>(), dim));
    }
    let num_means = means.len() / dim.max(1);
    if num_means <= MAX_CODES || num_means > MAX_COMPARED {
        return pack(means.chunks_exact(dim.max(1)).flat_map(signs).collect(), code_len(dim));
    }
    let mut products = vec![0.0; num_means * num_means];
    lanes::multiply(&means, &means, dim, |one, other, product| {
        products[one * num_means + other] = f64::from(product);
    });
    let product = |one: usize, other: usize| products[one * num_means + other];
    let distances = (0..num_means).map(|later| {
        let distances = (0..later).map(|first| {
            product(first, first) + product(later, later) - 2.0 * product(first, later)
        });
        distances.collect()
    });
    let groups = groups(distances.collect()).into_iter();
    let members = groups.map(|group| group.into_iter().map(|at| &means[at * dim..][..dim]));
    members.flat_map(|group| signs(&mean(&group.collect::<Vec<_>>(), dim))).collect()
}

fn mean(vectors: &[&[f32]], dim: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; dim];
    for vector in vectors {
        sum.iter_mut().zip(*vector).for_each(|(sum, number)| *sum += number);
    }
    let count = vectors.len() as f32;
    sum.iter_mut().for_each(|number| *number /= count);
    sum
}

/// Returns one bit per number, lowest first: whether it is above zero.
fn signs(numbers: &[f32]) -> Vec<u8> {
    let bytes = numbers.chunks(8).map(|numbers| {
        (0..).zip(numbers).fold(0, |byte, (bit, number)| byte | u8::from(*number > 0.0) << bit)
    });
    bytes.collect()
}

/// The tokens of a query, prepared for comparison with codes.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTokens {
    dim: usize,
    /// `[tokens, dim]`, in steps of the token's own size.
    steps: Vec<i16>,
    /// The factor that turns a product of steps and signs into a cosine, for each token.
    units: Vec<f64>,
}

impl QueryTokens {
    /// Prepares `[tokens, dim]`.
    pub fn new(tokens: &[f32], dim: usize) -> Self {
        let mut prepared = Self { dim, steps: Vec::with_capacity(tokens.len()), units: Vec::new() };
        for token in tokens.chunks_exact(dim.max(1)) {
            let largest = token.iter().fold(0.0, |largest: f32, number| largest.max(number.abs()));
            let step = if largest > 0.0 { largest / STEPS } else { 1.0 };
            #[expect(clippy::cast_possible_truncation, reason = "between -255 and 255")]
            prepared.steps.extend(token.iter().map(|number| (number / step).round() as i16));
            let squares: f64 = token.iter().map(|number| f64::from(*number).powi(2)).sum();
            // A vector of signs has the square root of its width as its length.
            let length = (squares * f64::from(u32::try_from(dim).unwrap_or(u32::MAX))).sqrt();
            prepared.units.push(if length > 0.0 { f64::from(step) / length } else { 0.0 });
        }
        prepared
    }
}

impl TokenMatcher for QueryTokens {
    fn match_with(&self, codes: &[u8]) -> Option<f64> {
        let code_len = code_len(self.dim);
        if codes.is_empty() || self.units.is_empty() || !codes.len().is_multiple_of(code_len) {
            return None;
        }
        let mut signs: Vec<i8> = Vec::with_capacity(codes.len() * 8);
        for code in codes.chunks_exact(code_len) {
            let len = signs.len() + self.dim;
            signs.extend(code.iter().flat_map(|byte| SIGNS[usize::from(*byte)]));
            signs.truncate(len);
        }
        let mut best = vec![i32::MIN; self.units.len()];
        int8::multiply(&self.steps, &signs, self.dim, |token, _, product| {
            best[token] = best[token].max(product);
        });
        let cosines = best.iter().zip(&self.units).map(|(best, unit)| f64::from(*best) * unit);
        let count = f64::from(u32::try_from(self.units.len()).unwrap_or(u32::MAX));
        Some(cosines.sum::<f64>() / count)
    }
}

/// The signs that a byte stands for.
const SIGNS: [[i8; 8]; 256] = {
    let mut signs = [[-1; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                signs[byte][bit] = 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    signs
};

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: u16, seed: u16) -> Vec<f32> {
        (0..count).map(|number| (f32::from(number * 7 + seed) * 0.7).sin()).collect()
    }

    #[test]
    fn a_few_neighbours_share_one_code() {
        for (num_tokens, num_codes) in [(0, 0), (1, 1), (4, 1), (5, 2), (9, 3)] {
            assert_eq!(encode(&numbers(num_tokens * 16, 1), 16).len(), num_codes * 2);
        }
        assert_eq!(encode(&[1.0, -1.0, -3.0, 2.0, 0.0, -1.0], 3), [0b001]);
    }

    /// Compares with the same formula in floats.
    #[test]
    fn the_match_is_the_mean_of_the_best_cosines() {
        for dim in [8_u16, 19, 64] {
            let (query, passage) = (numbers(3 * dim, 5), numbers(11 * dim, 9));
            let width = usize::from(dim);
            let codes = encode(&passage, width);
            let mut expected = 0.0;
            for token in query.chunks(width) {
                let length = token.iter().map(|number| number * number).sum::<f32>().sqrt();
                let cosine = |group: &[f32]| {
                    let sign = |at: usize| {
                        let sum: f32 = group.iter().skip(at).step_by(width).sum();
                        if sum > 0.0 { 1.0 } else { -1.0 }
                    };
                    let product: f32 = (0..).zip(token).map(|(at, number)| number * sign(at)).sum();
                    product / length / f32::from(dim).sqrt()
                };
                let groups = passage.chunks(width * TOKENS_PER_CODE);
                expected += groups.map(cosine).fold(f32::MIN, f32::max) / 3.0;
            }
            let found = QueryTokens::new(&query, width).match_with(&codes).unwrap();
            assert!((found - f64::from(expected)).abs() < 0.005, "{dim}: {found} {expected}");
        }
    }

    #[test]
    fn means_that_are_nearest_share_a_code_wherever_they_are() {
        // The last ten of 30 means are the first ten again, a little changed; four tokens make one.
        let far = |number: u16| numbers(64, number * number);
        let near = |number: u16| far(number).iter().map(|number| number * 1.01).collect::<Vec<_>>();
        let means: Vec<Vec<f32>> = (0..20).map(far).chain((0..10).map(near)).collect();
        let tokens: Vec<f32> = means.iter().flat_map(|mean| mean.repeat(4)).collect();
        let expected: Vec<u8> = (0..20).flat_map(|number| signs(&far(number))).collect();
        assert_eq!(encode(&tokens, 64), expected);
    }

    #[test]
    fn there_are_at_most_20_codes_however_long_a_passage_is() {
        for num_tokens in [81_u16, 256, 1024, 1200] {
            assert_eq!(encode(&numbers(num_tokens * 4, 1), 4).len(), 20, "{num_tokens}");
        }
    }

    #[test]
    fn codes_of_another_width_and_missing_codes_do_not_match() {
        let query = QueryTokens::new(&numbers(32, 1), 16);
        assert_eq!(query.match_with(&[]), None);
        assert_eq!(query.match_with(&[1, 2, 3]), None);
        assert!(query.match_with(&[1, 2]).is_some());
        assert_eq!(QueryTokens::new(&[], 16).match_with(&[1, 2]), None);
        let zero = QueryTokens::new(&[0.0; 16], 16).match_with(&[1, 2]);
        assert_eq!(zero, Some(0.0));
    }
}
