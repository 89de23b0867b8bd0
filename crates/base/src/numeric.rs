//! Computes functions to the same bits on every system and thread.
//!
//! Those of the standard library are the C library's. With mingw-w64, their last bit depends on the precision that a thread
//! has set for the x87 unit, which differs between the main thread and others: a score of the server then had
//! another last digit than that of the command line.

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

    /// The bits are those of Linux on x86-64; the values are within one unit of the last place of the exact ones.
    #[test]
    fn the_bits_are_the_same_everywhere() {
        let bits = [power(0.8, 0.37), exponential(-1.7), logarithm(12.5)].map(f64::to_bits);
        assert_eq!(bits, [0x3fed_76cf_ac92_dd8a, 0x3fc7_622c_78a9_8a07, 0x4004_34b1_382e_feb8]);
    }
}
