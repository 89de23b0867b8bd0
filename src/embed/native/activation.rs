//! A number in, the number out that a layer's non-linearity makes of it.

use crate::embed::facts::Activation;

impl Activation {
    /// Returns the function.
    pub(super) fn function(self) -> fn(f32) -> f32 {
        match self {
            Self::Gelu => gelu,
            Self::GeluTanh => gelu_tanh,
            Self::Relu => |it| it.max(0.0),
        }
    }
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The approximation some models were trained with (Hendrycks and Gimpel, arXiv 1606.08415).
fn gelu_tanh(x: f32) -> f32 {
    const CUBIC: f32 = 0.044_715;
    let inner = (2.0 / std::f32::consts::PI).sqrt() * (x + CUBIC * x * x * x);
    0.5 * x * (1.0 + inner.tanh())
}

/// The error function, to within 2e-7 (Abramowitz and Stegun, Handbook of Mathematical Functions,
/// 7.1.26).
fn erf(x: f32) -> f32 {
    const P: f32 = 0.327_591_1;
    const COEFFICIENTS: [f32; 5] =
        [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
    let magnitude = x.abs();
    let t = 1.0 / (1.0 + P * magnitude);
    let sum = COEFFICIENTS.iter().fold(0.0, |sum, it| sum * t + it);
    (1.0 - sum * t * (-magnitude * magnitude).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_is_right_to_seven_digits() {
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
            assert!((erf(x) - expected).abs() < 3e-7, "{x}: {}", erf(x));
            assert!((erf(-x) + expected).abs() < 3e-7, "-{x}: {}", erf(-x));
        }
    }

    #[test]
    fn far_from_zero_nothing_is_left_but_the_half() {
        for activation in [Activation::Gelu, Activation::GeluTanh, Activation::Relu] {
            let function = activation.function();
            assert!((function(20.0) - 20.0).abs() < 1e-5 && function(-20.0).abs() < 1e-5);
            assert!(function(0.0).abs() < 1e-7);
        }
        assert!((gelu(1.0) - 0.841_344_7).abs() < 1e-6);
        assert!((gelu_tanh(1.0) - 0.841_192).abs() < 1e-6);
    }
}
