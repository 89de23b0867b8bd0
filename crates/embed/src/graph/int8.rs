//! Quantises the weights of a linear map to 8 bits.
//!
//! Quantisation is symmetric with one scale per output: signed bytes, which the runtime multiplies
//! with the unsigned bytes of the quantised input.

use crate::single::weights::{Int8Matrix, Tensor};

/// The largest magnitude of a symmetric 8-bit weight.
const INT8_MAX: f32 = 127.0;

/// Transposes `[outputs, inputs]`, the order of training, to `[inputs, outputs]`, the order of
/// `MatMul`.
pub(crate) fn transposed<T: Copy + Default>(
    weight: &Tensor,
    map: impl Fn(usize, f32) -> T,
) -> Vec<T> {
    let [num_outputs, num_inputs] = [weight.shape[0], weight.shape[1]];
    let mut data = vec![T::default(); weight.data.len()];
    for (row, values) in weight.data.chunks_exact(num_inputs).enumerate() {
        for (column, value) in values.iter().enumerate() {
            data[column * num_outputs + row] = map(row, *value);
        }
    }
    data
}

/// Quantises a linear map to 8 bits, row by row in the order of training.
pub(crate) fn by_row(name: String, weight: &Tensor) -> Int8Matrix {
    let num_columns = weight.shape[1];
    let rows = weight.data.chunks_exact(num_columns);
    let scales: Vec<f32> = rows.clone().map(scale_of).collect();
    let bytes = rows
        .zip(&scales)
        .flat_map(|(row, scale)| row.iter().map(move |value| to_int8(value / scale)));
    Int8Matrix { name, num_columns, rows: bytes.collect(), scales }
}

/// Returns the step between neighbouring 8-bit weights of one output.
pub(crate) fn scale_of(row: &[f32]) -> f32 {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest > 0.0 { largest / INT8_MAX } else { 1.0 }
}

/// Rounds to the nearest 8-bit weight, halves to the even one.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of i8 before")]
pub(crate) fn to_int8(value: f32) -> i8 {
    value.round_ties_even().clamp(-INT8_MAX, INT8_MAX) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_quantised_by_output_and_symmetrically() {
        let row = [0.5, -1.0, 0.25, 0.0];
        let scale = scale_of(&row);
        let bytes: Vec<i8> = row.iter().map(move |value| to_int8(value / scale)).collect();
        assert_eq!(bytes, [64, -127, 32, 0]);
        assert_eq!(scale_of(&[0.0, 0.0]).to_bits(), 1.0_f32.to_bits());
        assert_eq!((to_int8(f32::NAN), to_int8(-1e9)), (0, -127));
    }

    #[test]
    fn a_weight_is_transposed_for_matmul() {
        let weight = Tensor { shape: vec![2, 3], data: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        assert_eq!(transposed(&weight, |_, value| value), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
