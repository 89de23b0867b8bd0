//! Quantises activations to 8 bits as ONNX's `DynamicQuantizeLinear` does, so that the products
//! equal those of the graph.

use crate::single::lanes;

/// Number of steps between the minimum and the maximum.
const STEPS: f32 = 255.0;

/// Returns integers between -255 and 255, with zero at 0, and the size of a step.
pub(super) fn quantise(values: &[f32]) -> (Vec<i16>, f32) {
    // The range includes zero, so that zero is exact.
    let (least, greatest) = lanes::range(values, 0.0);
    let step = if greatest > least { (greatest - least) / STEPS } else { 1.0 };
    let zero = (-least / step).round_ties_even().clamp(0.0, STEPS);
    let mut steps = vec![0; values.len()];
    // Converts through 32 bits, which processors can vectorise.
    #[expect(clippy::cast_possible_truncation, reason = "steps are few enough for 16 bits")]
    lanes::convert(values, &mut steps, |value| {
        (((value / step).round_ties_even() + zero).clamp(0.0, STEPS) - zero) as i32 as i16
    });
    (steps, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_steps_and_zero_stays_zero() {
        let (steps, step) = quantise(&[-1.0, 0.0, 0.5, 4.1, 0.006, -0.2]);
        assert!((step - 0.02).abs() < 1e-6);
        assert_eq!(steps, [-50, 0, 25, 205, 0, -10]);
        assert_eq!(quantise(&[0.0, 0.0]).0, [0, 0]);
        let nan = quantise(&[f32::NAN, 1.0]).0;
        assert!(nan.iter().all(|step| (-255..=255).contains(step)));
    }
}
