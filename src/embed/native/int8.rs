//! Activations in, the same in steps of 8 bits out: ONNX's `DynamicQuantizeLinear`, whose numbers the
//! graph multiplies with.

use ndarray::Array2;

use crate::embed::lanes;

/// Steps between the least and the greatest number.
const STEPS: f32 = 255.0;

/// Returns whole numbers, zero at 0, and the step that they count.
pub(super) fn quantise(values: &Array2<f32>) -> (Array2<f32>, f32) {
    let mut whole = values.as_standard_layout().into_owned();
    let numbers = whole.as_slice_mut().expect("a matrix of standard layout is one slice");
    // Zero is among the numbers, so that it is exact.
    let (least, greatest) = lanes::range(numbers);
    let step = if greatest > least { (greatest - least) / STEPS } else { 1.0 };
    let zero = (-least / step).round_ties_even().clamp(0.0, STEPS);
    lanes::map(numbers, |it| ((it / step).round_ties_even() + zero).clamp(0.0, STEPS) - zero);
    (whole, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_steps_and_zero_stays_zero() {
        let values = ndarray::arr2(&[[-1.0, 0.0, 0.5], [4.1, 0.006, -0.2]]);
        let (whole, step) = quantise(&values);
        assert!((step - 0.02).abs() < 1e-6);
        assert_eq!(whole, ndarray::arr2(&[[-50.0, 0.0, 25.0], [205.0, 0.0, -10.0]]));
        assert_eq!(quantise(&Array2::zeros((2, 2))).0, Array2::<f32>::zeros((2, 2)));
    }
}
