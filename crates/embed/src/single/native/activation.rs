//! Applies a layer's functions of single numbers in place.

use crate::facts::Activation;
use crate::single::lanes::{self, dense};

/// Added to a small number, leaves the number rounded to an integer in the lowest bits: 1.5 x 2^23, as a float from
/// 2^23 on has no fraction.
pub(super) const ROUNDER: f32 = 12_582_912.0;

impl Activation {
    pub(super) fn function(self) -> fn(&mut [f32]) {
        match self {
            Self::Gelu if dense::is_fused() => |numbers| lanes::map(numbers, gelu::<true>),
            Self::Gelu => |numbers| lanes::map(numbers, gelu::<false>),
            Self::GeluTanh => |numbers| lanes::map(numbers, gelu_tanh),
            Self::Relu => |numbers| lanes::map(numbers, |number| number.max(0.0)),
            Self::Silu => |numbers| lanes::map(numbers, |number| number / (1.0 + (-number).exp())),
        }
    }
}

/// Converts the scores of one token, at least one, to shares that add up to 1.
pub(super) fn softmax(scores: &mut [f32]) {
    let (_, largest) = lanes::range(scores, scores[0]);
    if dense::is_fused() {
        lanes::map(scores, move |score| exp::<true>(score - largest));
    } else {
        lanes::map(scores, move |score| exp::<false>(score - largest));
    }
    let share = 1.0 / lanes::sum(scores);
    lanes::map(scores, move |score| score * share);
}

#[inline(always)]
fn gelu<const FUSED: bool>(x: f32) -> f32 {
    0.5 * x * (1.0 + erf::<FUSED>(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The approximation that some models were trained with (Hendrycks and Gimpel, arXiv 1606.08415).
fn gelu_tanh(x: f32) -> f32 {
    const CUBIC: f32 = 0.044_715;
    let inner = (2.0 / std::f32::consts::PI).sqrt() * (x + CUBIC * x * x * x);
    0.5 * x * (1.0 + inner.tanh())
}

/// The error function, to within 2e-7 (Abramowitz and Stegun, Handbook of Mathematical Functions,
/// 7.1.26).
#[inline(always)]
fn erf<const FUSED: bool>(x: f32) -> f32 {
    const P: f32 = 0.327_591_1;
    const COEFFICIENTS: [f32; 5] =
        [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
    let magnitude = x.abs();
    let t = 1.0 / (1.0 + P * magnitude);
    let mut sum = COEFFICIENTS[0];
    for coefficient in &COEFFICIENTS[1..] {
        sum = dense::mul_add::<FUSED>(sum, t, *coefficient);
    }
    (1.0 - sum * t * exp::<FUSED>(-magnitude * magnitude)).copysign(x)
}

/// The exponential function for numbers up to 0, with a relative error of at most 3e-7, down to
/// e^-87. It has no branch, so that it can be vectorised.
#[inline(always)]
fn exp<const FUSED: bool>(x: f32) -> f32 {
    /// ln 2 in two parts: the first, times a small integer, is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    const BIAS: u32 = 127;
    // Below -87, the result would be no normal float.
    let x = x.max(-87.0);
    let shifted = dense::mul_add::<FUSED>(x, std::f32::consts::LOG2_E, ROUNDER);
    let integer = shifted - ROUNDER;
    let rest = dense::mul_add::<FUSED>(integer, -LN_2[0], x);
    let rest = dense::mul_add::<FUSED>(integer, -LN_2[1], rest);
    // The Taylor series of e^x, to the sixth power.
    let mut part = 1.0 / 720.0;
    for term in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        part = dense::mul_add::<FUSED>(part, rest, term);
    }
    // The integer is in the lowest bits of `shifted`. With the bias, it is the exponent of a float.
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(BIAS << 23));
    part * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_has_seven_correct_digits() {
        for (x, expected) in [
            (0.0, 0.0),
            (0.01, 0.011_283_416),
            (0.1, 0.112_462_92),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (2.0, 0.995_322_3),
            (3.0, 0.999_977_9),
            (5.0, 1.0),
            (40.0, 1.0),
        ] {
            assert!((erf::<false>(x) - expected).abs() < 3e-7, "{x}: {}", erf::<true>(x));
            assert!((erf::<true>(-x) + expected).abs() < 3e-7, "-{x}: {}", erf::<true>(-x));
        }
    }

    #[test]
    fn the_exponential_function_has_seven_correct_digits() {
        for step in 0..=u16::MAX {
            let x = -f32::from(step) / 760.0;
            let expected = crate::numeric::exponential(f64::from(x));
            let error = (f64::from(exp::<true>(x)) - expected).abs() / expected;
            assert!(error < 3e-7, "{x}: {error}");
        }
        assert!(exp::<true>(-100.0) < 1e-37 && exp::<false>(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn shares_add_up_to_1() {
        for len in [1_u8, 2, 15, 16, 17, 40] {
            let mut scores: Vec<f32> = (0..len).map(|at| f32::from(at) * 0.3 - 90.0).collect();
            let exact: Vec<f32> = scores.iter().map(|score| (score - scores[0]).exp()).collect();
            softmax(&mut scores);
            let sum: f32 = exact.iter().sum();
            for (share, exact) in scores.iter().zip(exact) {
                assert!((share - exact / sum).abs() < 1e-6, "{len}: {share}");
            }
        }
    }

    #[test]
    fn far_from_zero_the_activation_is_the_number_or_zero() {
        use Activation::{Gelu, GeluTanh, Relu, Silu};
        for activation in [Gelu, GeluTanh, Relu, Silu] {
            let mut values = [30.0, -30.0, 0.0];
            activation.function()(&mut values);
            assert!((values[0] - 30.0).abs() < 1e-5 && values[1].abs() < 1e-5);
            assert!(values[2].abs() < 1e-7);
        }
        assert!((gelu::<true>(1.0) - 0.841_344_7).abs() < 1e-6);
        assert!((gelu_tanh(1.0) - 0.841_192).abs() < 1e-6);
        let mut one = [1.0];
        Silu.function()(&mut one);
        assert!((one[0] - 0.731_058_6).abs() < 1e-6);
    }
}
