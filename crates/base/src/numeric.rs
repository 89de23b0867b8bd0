//! Computes powers, exponentials and logarithms with the same bits on every system and thread.
//!
//! The standard library calls the C library. The one of mingw-w64 computes with the precision that the thread has set
//! for the x87 unit, and the main thread has another precision than the other threads. Without this module, the last
//! digit of a score differs there between the command line and the server.

/// Returns `base` to the power of `exponent`.
pub fn power(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

/// Returns *e* to the power of `exponent`.
pub fn exponential(exponent: f64) -> f64 {
    libm::exp(exponent)
}

/// Returns the natural logarithm of a number.
pub fn logarithm(number: f64) -> f64 {
    libm::log(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected bits are those of the C library of Linux on x86-64.
    #[test]
    fn the_bits_are_the_same_everywhere() {
        let bits = [power(0.8, 0.37), exponential(-1.7), logarithm(12.5)].map(f64::to_bits);
        assert_eq!(bits, [0x3fed_76cf_ac92_dd8a, 0x3fc7_622c_78a9_8a07, 0x4004_34b1_382e_feb8]);
    }
}
