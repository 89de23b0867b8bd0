//! Multiplies two small matrices of floats, as attention does for each head.

use pulp::{Arch, Simd, WithSimd};

/// The second matrix has a multiple of so many columns: as many as fill the widest registers.
pub(crate) const COLUMNS: usize = 16;

/// Rows computed at once: their sums stay in registers.
const ROWS: usize = 4;

/// Returns `a * b + c`, rounded once if the processor does that in one step.
#[inline(always)]
pub(crate) fn mul_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Whether the processor multiplies and adds in one step.
pub(crate) fn is_fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return pulp::x86::V3::try_new().is_some();
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// A matrix in memory.
#[derive(Clone, Copy)]
pub(crate) struct StridedRows<'a> {
    pub(crate) numbers: &'a [f32],
    /// Numbers from the start of a row to the start of the next one.
    pub(crate) stride: usize,
}

/// Multiplies `[rows, inner]` with `[inner, columns]`, where `columns` is the stride of the second matrix; `out` gets
/// `[rows, columns]`.
pub(crate) fn multiply(left: StridedRows<'_>, right: StridedRows<'_>, out: &mut [f32]) {
    Arch::new().dispatch(DenseProduct {
        left: left.numbers,
        stride: left.stride,
        right: right.numbers,
        columns: right.stride,
        out,
    });
}

struct DenseProduct<'a> {
    left: &'a [f32],
    stride: usize,
    right: &'a [f32],
    columns: usize,
    out: &'a mut [f32],
}

impl WithSimd for DenseProduct<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let mut start = 0;
        while start < self.columns {
            if start + 2 * S::F32_LANES <= self.columns {
                self.columns::<S, 2>(simd, start);
                start += 2 * S::F32_LANES;
            } else {
                self.columns::<S, 1>(simd, start);
                start += S::F32_LANES;
            }
        }
    }
}

impl DenseProduct<'_> {
    /// Computes `N` registers of columns.
    #[inline(always)]
    fn columns<S: Simd, const N: usize>(&mut self, simd: S, start: usize) {
        let num_rows = self.out.len() / self.columns;
        let mut row = 0;
        while row + ROWS <= num_rows {
            self.tile::<S, ROWS, N>(simd, row, start);
            row += ROWS;
        }
        while row < num_rows {
            self.tile::<S, 1, N>(simd, row, start);
            row += 1;
        }
    }

    /// Computes `N` registers of columns of `M` rows.
    #[inline(always)]
    fn tile<S: Simd, const M: usize, const N: usize>(&mut self, simd: S, row: usize, start: usize) {
        let inner = self.right.len() / self.columns;
        let width = N * S::F32_LANES;
        let left: [_; M] = std::array::from_fn(|m| &self.left[(row + m) * self.stride..][..inner]);
        let mut sums = [[simd.splat_f32s(0.0); N]; M];
        // Indexed, because with iterators the sums do not stay in registers.
        for (at, right) in self.right.chunks_exact(self.columns).enumerate() {
            let (right, _) = S::as_simd_f32s(&right[start..start + width]);
            for m in 0..M {
                let left = simd.splat_f32s(left[m][at]);
                for n in 0..N {
                    sums[m][n] = simd.mul_add_e_f32s(left, right[n], sums[m][n]);
                }
            }
        }
        for (m, sums) in sums.iter().enumerate() {
            let out = &mut self.out[(row + m) * self.columns + start..][..width];
            S::as_mut_simd_f32s(out).0.copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_a_sum_of_products() {
        for (num_rows, inner, columns, stride) in
            [(1, 1, 16, 1), (7, 5, 32, 9), (4, 32, 16, 32), (0, 3, 16, 3)]
        {
            let number = |seed: u16| move |idx: u16| f32::from(idx * 7 % 13 + seed) - 6.0;
            let left: Vec<f32> = (0..num_rows * stride).map(number(1)).collect();
            let right: Vec<f32> = (0..inner * columns).map(number(2)).collect();
            let (columns, stride) = (usize::from(columns), usize::from(stride));
            let mut out = vec![9.0; usize::from(num_rows) * columns];
            multiply(
                StridedRows { numbers: &left, stride },
                StridedRows { numbers: &right, stride: columns },
                &mut out,
            );
            for (idx, found) in out.iter().enumerate() {
                let (row, column) = (&left[idx / columns * stride..], idx % columns);
                let expected: f32 =
                    row.iter().zip(right.chunks(columns)).map(|(a, b)| a * b[column]).sum();
                assert!((found - expected).abs() < 1e-3, "{idx}: {found}, not {expected}");
            }
        }
    }
}
