//! Quantises activations to 8 bits as ONNX's `DynamicQuantizeLinear` does, whose numbers the graph multiplies
//! with.

use crate::embed::single::lanes;

/// Steps between the least and the greatest number.
const STEPS: f32 = 255.0;

/// Returns whole numbers between -255 and 255, zero at 0, and the step that they count.
pub(super) fn quantise(values: &[f32]) -> (Vec<i16>, f32) {
    // Zero is among the numbers, so that it is exact.
    let (least, greatest) = lanes::range(values);
    let step = if greatest > least { (greatest - least) / STEPS } else { 1.0 };
    let zero = (-least / step).round_ties_even().clamp(0.0, STEPS);
    let mut whole = vec![0; values.len()];
    // By way of 32 bits, which processors can do with several at once.
    #[expect(clippy::cast_possible_truncation, reason = "steps are few enough for 16 bits")]
    lanes::convert(values, &mut whole, |it| {
        (((it / step).round_ties_even() + zero).clamp(0.0, STEPS) - zero) as i32 as i16
    });
    (whole, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_steps_and_zero_stays_zero() {
        let (whole, step) = quantise(&[-1.0, 0.0, 0.5, 4.1, 0.006, -0.2]);
        assert!((step - 0.02).abs() < 1e-6);
        assert_eq!(whole, [-50, 0, 25, 205, 0, -10]);
        assert_eq!(quantise(&[0.0, 0.0]).0, [0, 0]);
        let nan = quantise(&[f32::NAN, 1.0]).0;
        assert!(nan.iter().all(|it| (-255..=255).contains(it)));
    }
}
