//! Multiplies many tokens with 8-bit weights in the order in which AVX2 wants them.
//!
//! Activations have 7 bits: the sum of two products then fits 16 bits (2 x 127 x 127), so one
//! instruction multiplies four times as many integers as floats. Weights are packed once: 16 rows
//! side by side, 4 columns at a time, so a register of sums has 8 rows and is never added up.

#[cfg(target_arch = "x86_64")]
use pulp::NullaryFnOnce;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

/// Rows side by side: two registers of AVX2 have their sums.
pub(crate) const ROWS: usize = 16;

/// Columns multiplied at once: as many bytes as a sum of 32 bits has.
pub(crate) const COLUMNS: usize = 4;

/// Tokens multiplied at once: their sums fill half of the registers.
#[cfg(target_arch = "x86_64")]
const TOKENS: usize = 4;

/// A matrix of 8-bit weights.
pub(crate) struct Packed {
    /// Some columns of 16 rows, `[rows / 16, columns / 4]`, padded with zeros.
    groups: Vec<[[i8; COLUMNS]; ROWS]>,
    /// Groups per row.
    len: usize,
    /// The sum of each row.
    pub(crate) sums: Vec<[i32; ROWS]>,
}

impl Packed {
    /// Packs rows of `num_columns` numbers, which are between -127 and 127.
    pub(crate) fn new(rows: &[i8], num_columns: usize) -> Self {
        let len = num_columns.div_ceil(COLUMNS);
        let num_panels = (rows.len() / num_columns.max(1)).div_ceil(ROWS);
        let mut groups = vec![[[0; COLUMNS]; ROWS]; num_panels * len];
        let mut sums = vec![[0; ROWS]; num_panels];
        for (idx, row) in rows.chunks_exact(num_columns.max(1)).enumerate() {
            let (panel, at) = (idx / ROWS, idx % ROWS);
            for (group, columns) in groups[panel * len..].iter_mut().zip(row.chunks(COLUMNS)) {
                group[at][..columns.len()].copy_from_slice(columns);
            }
            sums[panel][at] = row.iter().map(|number| i32::from(*number)).sum();
        }
        Self { groups, len, sums }
    }

    /// Multiplies tokens with panels of 16 rows, the first of which is `first`; `dots` gets their dot
    /// products, `[tokens, panels]`.
    ///
    /// Tokens are padded as rows are, and their numbers are between 0 and 127. Without AVX2 this is slow.
    pub(crate) fn multiply(
        &self,
        tokens: &[[u8; COLUMNS]],
        first: usize,
        dots: &mut [[i32; ROWS]],
    ) {
        let Some(num_panels) = dots.len().checked_div(tokens.len() / self.len.max(1)) else {
            return;
        };
        let panels = &self.groups[first * self.len..][..num_panels * self.len];
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = V3::try_new() {
            return lanes.vectorize(PackedMultiply { lanes, tokens, panels, len: self.len, dots });
        }
        plain(tokens, panels, self.len, dots);
    }
}

/// Multiplies on any processor.
fn plain(
    tokens: &[[u8; COLUMNS]],
    panels: &[[[i8; COLUMNS]; ROWS]],
    len: usize,
    dots: &mut [[i32; ROWS]],
) {
    let pairs = tokens
        .chunks_exact(len)
        .flat_map(|token| panels.chunks_exact(len).map(move |panel| (token, panel)));
    for (dots, (token, panel)) in dots.iter_mut().zip(pairs) {
        *dots = [0; ROWS];
        for (token, rows) in token.iter().zip(panel) {
            for (dot, row) in dots.iter_mut().zip(rows) {
                let products = token.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b));
                *dot += products.sum::<i32>();
            }
        }
    }
}

/// A product in the registers of AVX2.
#[cfg(target_arch = "x86_64")]
struct PackedMultiply<'a> {
    lanes: V3,
    tokens: &'a [[u8; COLUMNS]],
    panels: &'a [[[i8; COLUMNS]; ROWS]],
    len: usize,
    dots: &'a mut [[i32; ROWS]],
}

#[cfg(target_arch = "x86_64")]
impl NullaryFnOnce for PackedMultiply<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { lanes, tokens, panels, len, dots } = self;
        let num_panels = panels.len() / len;
        for (panel_idx, panel) in panels.chunks_exact(len).enumerate() {
            let groups = tokens.chunks_exact(len * TOKENS);
            let rest = groups.remainder();
            let mut token_idx = 0;
            for group in groups {
                let found = dots_of::<TOKENS>(lanes, group, panel);
                for found in found {
                    dots[token_idx * num_panels + panel_idx] = found;
                    token_idx += 1;
                }
            }
            for token in rest.chunks_exact(len) {
                let [found] = dots_of::<1>(lanes, token, panel);
                dots[token_idx * num_panels + panel_idx] = found;
                token_idx += 1;
            }
        }
    }
}

/// Multiplies `M` tokens with one panel.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn dots_of<const M: usize>(
    lanes: V3,
    tokens: &[[u8; COLUMNS]],
    panel: &[[[i8; COLUMNS]; ROWS]],
) -> [[i32; ROWS]; M] {
    let V3 { avx, avx2, .. } = lanes;
    let len = panel.len();
    // Equal lengths avoid bounds checks below.
    let tokens: [_; M] = std::array::from_fn(|idx| &tokens[idx * len..][..len]);
    let ones = avx._mm256_set1_epi16(1);
    let mut sums = [[avx._mm256_setzero_si256(); 2]; M];
    for at in 0..len {
        let [low, high]: [[[i8; COLUMNS]; ROWS / 2]; 2] = pulp::cast(panel[at]);
        let rows = [pulp::cast(low), pulp::cast(high)];
        // Indexed, because with iterators the sums do not stay in registers.
        for m in 0..M {
            let token = avx._mm256_set1_epi32(i32::from_ne_bytes(tokens[m][at]));
            for n in 0..2 {
                let pairs = avx2._mm256_maddubs_epi16(token, rows[n]);
                let fours = avx2._mm256_madd_epi16(pairs, ones);
                sums[m][n] = avx2._mm256_add_epi32(sums[m][n], fours);
            }
        }
    }
    std::array::from_fn(|m| pulp::cast(sums[m]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers from `least` to `most`, in an order with a long period.
    fn numbers(count: usize, least: i32, most: usize) -> Vec<i32> {
        (0..count).map(|idx| i32::try_from(idx * 7919 % (most + 1)).unwrap() + least).collect()
    }

    fn check(num_tokens: usize, num_rows: usize, num_columns: usize) {
        let tokens = numbers(num_tokens * num_columns, 0, 127);
        let rows = numbers(num_rows * num_columns, -127, 254);
        let bytes: Vec<i8> = rows.iter().map(|number| i8::try_from(*number).unwrap()).collect();
        let packed = Packed::new(&bytes, num_columns);
        assert_eq!(packed.sums.len(), num_rows.div_ceil(ROWS));
        let mut padded = Vec::new();
        for token in tokens.chunks(num_columns) {
            let mut steps = vec![[0; COLUMNS]; num_columns.div_ceil(COLUMNS)];
            for (step, number) in steps.as_flattened_mut().iter_mut().zip(token) {
                *step = u8::try_from(*number).unwrap();
            }
            padded.extend(steps);
        }
        let num_panels = packed.sums.len();
        for first in 0..num_panels {
            let mut dots = vec![[9; ROWS]; num_tokens * (num_panels - first)];
            packed.multiply(&padded, first, &mut dots);
            let mut others = vec![[9; ROWS]; dots.len()];
            plain(&padded, &packed.groups[first * packed.len..], packed.len, &mut others);
            assert_eq!(dots, others);
            for (idx, dot) in dots.as_flattened().iter().enumerate() {
                let (token, row) =
                    (idx / (num_panels - first) / ROWS, idx % ((num_panels - first) * ROWS));
                let row = rows.chunks(num_columns).nth(first * ROWS + row);
                let token = &tokens[token * num_columns..][..num_columns];
                let product = |row: &[i32]| row.iter().zip(token).map(|(a, b)| a * b).sum();
                assert_eq!(*dot, row.map_or(0, product), "{num_tokens} {num_rows} {num_columns}");
            }
        }
        let expected = rows.chunks(num_columns).map(|row| row.iter().sum());
        let sums = packed.sums.as_flattened();
        assert!(
            expected
                .chain([0; ROWS])
                .zip(sums)
                .all(|(expected, sum): (i32, &i32)| expected == *sum)
        );
    }

    #[test]
    fn every_token_is_multiplied_with_every_row() {
        for num_tokens in [0, 1, 3, 4, 9] {
            for num_rows in [1, 16, 17, 50] {
                for num_columns in [1, 4, 7, 32, 384] {
                    check(num_tokens, num_rows, num_columns);
                }
            }
        }
        Packed::new(&[], 0).multiply(&[], 0, &mut []);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        for row in [-127, 127] {
            let packed = Packed::new(&[row; 1536], 1536);
            let mut dots = [[0; ROWS]];
            packed.multiply(&[[127; COLUMNS]; 1536 / COLUMNS], 0, &mut dots);
            assert_eq!(dots[0][0], 127 * i32::from(row) * 1536);
        }
    }
}
