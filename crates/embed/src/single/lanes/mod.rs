//! Computes the products of `native` in the widest SIMD registers of the processor.
//!
//! A text has few tokens, so reading the weights takes most of the time: each is read once and
//! multiplied with all tokens while it is in the processor's cache. A product does not repack the
//! rows, which takes half the time of a general matrix product.

pub(crate) mod dense;
pub(crate) mod int8;
pub(crate) mod packed;

use pulp::{Arch, Simd, WithSimd};

/// Rows multiplied at once: with the sums of the tokens they fill the registers.
const ROWS: usize = 4;

/// Numbers handled at once: as many as the widest registers have.
const LANES: usize = 16;

/// Multiplies tokens with rows of weights.
///
/// `tokens` and `rows` are concatenated vectors of `len` numbers each; `found` gets the index of a
/// token, the index of a row and their dot product. Products are added in the same order whatever
/// else is multiplied at the same time.
pub(crate) fn multiply(
    tokens: &[f32],
    rows: &[f32],
    len: usize,
    found: impl FnMut(usize, usize, f32),
) {
    if len > 0 {
        Arch::new().dispatch(FloatProduct { tokens, rows, len, found });
    }
}

/// Applies `change` to each number; the compiler vectorises it for the processor.
pub(crate) fn map(numbers: &mut [f32], change: impl Fn(f32) -> f32) {
    Arch::new().dispatch(|| numbers.iter_mut().for_each(|number| *number = change(*number)));
}

/// Converts each number; `into` is as long as `from`.
pub(crate) fn convert<T>(from: &[f32], into: &mut [T], change: impl Fn(f32) -> T) {
    Arch::new()
        .dispatch(|| into.iter_mut().zip(from).for_each(|(out, number)| *out = change(*number)));
}

/// Returns the sum of some numbers.
pub(crate) fn sum(numbers: &[f32]) -> f32 {
    let (wide, rest) = numbers.as_chunks::<LANES>();
    let sums = Arch::new().dispatch(|| {
        let mut sums = [0.0; LANES];
        for numbers in wide {
            for at in 0..LANES {
                sums[at] += numbers[at];
            }
        }
        sums
    });
    sums.iter().chain(rest).sum()
}

/// Returns the minimum and the maximum of some numbers and `start`.
pub(crate) fn range(numbers: &[f32], start: f32) -> (f32, f32) {
    let (wide, rest) = numbers.as_chunks::<LANES>();
    // Local variables, because those of another function would not stay in registers.
    let (least, greatest) = Arch::new().dispatch(|| {
        let (mut least, mut greatest) = ([start; LANES], [start; LANES]);
        for numbers in wide {
            for at in 0..LANES {
                (least[at], greatest[at]) = widen((least[at], greatest[at]), numbers[at]);
            }
        }
        (least, greatest)
    });
    let lanes = least.iter().chain(&greatest);
    lanes.chain(rest).fold((start, start), |range, number| widen(range, *number))
}

/// Returns a range with another number in it.
#[inline(always)]
fn widen(range: (f32, f32), number: f32) -> (f32, f32) {
    (
        if number < range.0 { number } else { range.0 },
        if number > range.1 { number } else { range.1 },
    )
}

/// Multiplies each number with its scale and adds its offset.
pub(crate) fn scale_and_add(numbers: &mut [f32], scales: &[f32], offsets: &[f32]) {
    Arch::new().dispatch(|| {
        for ((number, scale), offset) in numbers.iter_mut().zip(scales).zip(offsets) {
            *number = *number * scale + offset;
        }
    });
}

/// How the integers of a token stand for numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenScale {
    /// The difference of two numbers whose integers differ by 1.
    pub(crate) step: f32,
    /// The integer of the number 0.
    pub(crate) zero: i32,
}

/// How the integers of some rows stand for numbers, in the order of the rows.
#[derive(Clone, Copy)]
pub(crate) struct RowScales<'a> {
    /// The sum of the integers of each row.
    pub(crate) sums: &'a [i32],
    pub(crate) scales: &'a [f32],
    /// The numbers to add to the products of each row.
    pub(crate) offsets: &'a [f32],
}

/// Converts dot products of integers, of one token and some rows, to numbers.
pub(crate) fn scale_dots(
    numbers: &mut [f32],
    dots: &[i32],
    token: TokenScale,
    rows: RowScales<'_>,
) {
    let TokenScale { step, zero } = token;
    let RowScales { sums, scales, offsets } = rows;
    #[expect(clippy::cast_precision_loss, reason = "far less than the steps have lost")]
    Arch::new().dispatch(|| {
        let rows = sums.iter().zip(scales).zip(offsets);
        for ((number, dot), ((sum, scale), offset)) in numbers.iter_mut().zip(dots).zip(rows) {
            *number = (dot - zero * sum) as f32 * (scale * step) + offset;
        }
    });
}

/// Vectors that are multiplied at once.
#[derive(Clone, Copy)]
struct VectorGroup<'a, T> {
    /// Index of the first one.
    first: usize,
    vectors: &'a [T],
}

struct FloatProduct<'a, F> {
    tokens: &'a [f32],
    rows: &'a [f32],
    len: usize,
    found: F,
}

impl<F: FnMut(usize, usize, f32)> WithSimd for FloatProduct<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // The number is the tokens at a time: their sums and the rows fill the registers.
        if S::REGISTER_COUNT < 32 { self.all::<S, 2>(simd) } else { self.all::<S, 4>(simd) }
    }
}

impl<F: FnMut(usize, usize, f32)> FloatProduct<'_, F> {
    /// Multiplies all tokens, `M` at a time, with all rows.
    #[inline(always)]
    fn all<S: Simd, const M: usize>(mut self, simd: S) {
        let mut groups = self.rows.chunks_exact(self.len * ROWS);
        for (idx, rows) in groups.by_ref().enumerate() {
            self.rows::<S, M, ROWS>(simd, idx * ROWS, rows);
        }
        let first = self.rows.len() / (self.len * ROWS) * ROWS;
        for (idx, row) in groups.remainder().chunks_exact(self.len).enumerate() {
            self.rows::<S, M, 1>(simd, first + idx, row);
        }
    }

    /// Multiplies all tokens with `N` rows, starting with row `first`.
    #[inline(always)]
    fn rows<S: Simd, const M: usize, const N: usize>(
        &mut self,
        simd: S,
        first: usize,
        rows: &[f32],
    ) {
        let rows = VectorGroup { first, vectors: rows };
        let mut groups = self.tokens.chunks_exact(self.len * M);
        for (idx, tokens) in groups.by_ref().enumerate() {
            let tokens = VectorGroup { first: idx * M, vectors: tokens };
            self.dots::<S, M, N>(simd, tokens, rows);
        }
        let rest = self.tokens.len() / (self.len * M) * M;
        for (idx, token) in groups.remainder().chunks_exact(self.len).enumerate() {
            let token = VectorGroup { first: rest + idx, vectors: token };
            self.dots::<S, 1, N>(simd, token, rows);
        }
    }

    /// Multiplies `M` tokens with `N` rows.
    #[inline(always)]
    fn dots<S: Simd, const M: usize, const N: usize>(
        &mut self,
        simd: S,
        tokens: VectorGroup<'_, f32>,
        rows: VectorGroup<'_, f32>,
    ) {
        let (first_token, first_row) = (tokens.first, rows.first);
        let tokens: [_; M] = std::array::from_fn(|idx| parts::<S>(tokens.vectors, self.len, idx));
        let rows: [_; N] = std::array::from_fn(|idx| parts::<S>(rows.vectors, self.len, idx));
        let num_wide = tokens[0].0.len();
        // Equal lengths avoid bounds checks below.
        let wide_tokens = tokens.map(|parts| &parts.0[..num_wide]);
        let wide_rows = rows.map(|parts| &parts.0[..num_wide]);
        let mut sums = [[simd.splat_f32s(0.0); N]; M];
        for at in 0..num_wide {
            for (sums, token) in sums.iter_mut().zip(&wide_tokens) {
                for (sum, row) in sums.iter_mut().zip(&wide_rows) {
                    *sum = simd.mul_add_e_f32s(token[at], row[at], *sum);
                }
            }
        }
        for (token_idx, (sums, token)) in sums.iter().zip(&tokens).enumerate() {
            for (row_idx, (sum, row)) in sums.iter().zip(&rows).enumerate() {
                let rest: f32 = token.1.iter().zip(row.1).map(|(a, b)| a * b).sum();
                let dot = simd.reduce_sum_f32s(*sum) + rest;
                (self.found)(first_token + token_idx, first_row + row_idx, dot);
            }
        }
    }
}

/// Returns a row in wide registers, and the remaining numbers.
#[inline(always)]
fn parts<S: Simd>(rows: &[f32], len: usize, idx: usize) -> (&[S::f32s], &[f32]) {
    S::as_simd_f32s(&rows[idx * len..][..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_multiplied_once_with_every_row() {
        for num_tokens in 0..10 {
            for num_rows in 0..11 {
                for len in [0, 1, 7, 16, 37] {
                    check(num_tokens, num_rows, len);
                }
            }
        }
    }

    fn check(num_tokens: u16, num_rows: u16, len: u16) {
        let numbers = |count: u16, seed: u16| -> Vec<f32> {
            (0..count * len).map(|number| f32::from((number * 31 + seed) % 17) - 8.0).collect()
        };
        let (tokens, rows) = (numbers(num_tokens, 3), numbers(num_rows, 5));
        let mut products = vec![None; usize::from(num_tokens) * usize::from(num_rows)];
        multiply(&tokens, &rows, usize::from(len), |token, row, dot| {
            let before = products[token * usize::from(num_rows) + row].replace(dot);
            assert_eq!(before, None);
        });
        if len == 0 {
            return;
        }
        let len = usize::from(len);
        let expected = tokens.chunks(len).flat_map(|token| {
            // With integers every order of adding gives the same sum.
            rows.chunks(len).map(|row| Some(token.iter().zip(row).map(|(a, b)| a * b).sum::<f32>()))
        });
        assert_eq!(products, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_product_does_not_depend_on_other_tokens_or_rows() {
        let numbers = |count: u16| -> Vec<f32> {
            (0..count).map(|number| (f32::from(number) * 0.37).sin()).collect()
        };
        let (tokens, rows) = (numbers(5 * 48), numbers(9 * 48));
        multiply(&tokens, &rows, 48, |token, row, dot| {
            let (token, row) = (&tokens[token * 48..][..48], &rows[row * 48..][..48]);
            multiply(token, row, 48, |_, _, lone| assert_eq!(lone.to_bits(), dot.to_bits()));
        });
    }

    #[test]
    fn the_range_of_numbers_includes_the_start() {
        assert_eq!(range(&[], 0.0), (0.0, 0.0));
        assert_eq!(range(&[3.0], 0.0), (0.0, 3.0));
        assert_eq!(range(&[-3.0; 40], -3.0), (-3.0, -3.0));
        for len in 1..70_u8 {
            for at in [0, len / 2, len - 1] {
                let mut numbers = vec![-1.5; usize::from(len)];
                numbers[usize::from(at)] = -7.0;
                numbers[usize::from(len - 1 - at)] += 9.0;
                let expected = numbers.iter().fold((0.0, 0.0), |range: (f32, f32), number| {
                    (range.0.min(*number), range.1.max(*number))
                });
                assert_eq!(range(&numbers, 0.0), expected);
            }
        }
    }
}
