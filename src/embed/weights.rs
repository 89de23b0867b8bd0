//! A safetensors file in, named tensors of 32-bit floats out.
//!
//! Half-precision files are widened. Names are asked for without the prefix a training class may
//! have put before them (`bert.`, `model.`).

use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use crate::embed::facts::model_error;
use crate::error::Result;

/// The tensor every encoder has, by which the prefix of all is found.
const WORDS: &str = "embeddings.word_embeddings.weight";

/// The tensors of one model.
pub(super) struct Weights<'a> {
    tensors: SafeTensors<'a>,
    prefix: String,
    path: &'a Path,
}

/// One tensor: its shape, and its numbers in row-major order.
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) data: Vec<f32>,
}

impl<'a> Weights<'a> {
    /// Reads the table of tensors from the bytes of a file; `path` is for messages.
    pub(super) fn parse(bytes: &'a [u8], path: &'a Path) -> Result<Self> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|it| model_error(path, it))?;
        let words = tensors.names().into_iter().find(|it| it.ends_with(WORDS));
        let words = words.ok_or_else(|| model_error(path, format!("no tensor {WORDS}")))?;
        let prefix = words.strip_suffix(WORDS).unwrap_or_default().to_owned();
        Ok(Self { tensors, prefix, path })
    }

    /// Whether there is a tensor of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(&format!("{}{name}", self.prefix)).is_ok()
    }

    /// Returns a tensor with as many dimensions as `shape`; a 0 in it stands for any length.
    pub(super) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let name = format!("{}{name}", self.prefix);
        let fail = |reason: String| model_error(self.path, format!("tensor {name}: {reason}"));
        let view = self.tensors.tensor(&name).map_err(|it| fail(it.to_string()))?;
        let found = view.shape();
        let fits = found.len() == shape.len()
            && found.iter().zip(shape).all(|(found, wanted)| *wanted == 0 || found == wanted);
        if !fits {
            return Err(fail(format!("its shape is {found:?}, expected {shape:?}")));
        }
        let bytes = view.data();
        let data = match view.dtype() {
            Dtype::F32 => {
                bytes.as_chunks::<4>().0.iter().map(|it| f32::from_le_bytes(*it)).collect()
            }
            Dtype::F16 => halves(bytes).map(f32_from_f16).collect(),
            // The upper half of a 32-bit float.
            Dtype::BF16 => halves(bytes).map(|it| f32::from_bits(u32::from(it) << 16)).collect(),
            other => return Err(fail(format!("numbers of type {other:?} are not supported"))),
        };
        Ok(Tensor { shape: found.to_vec(), data })
    }
}

fn halves(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.as_chunks::<2>().0.iter().map(|it| u16::from_le_bytes(*it))
}

/// Widens an IEEE 754 binary16.
fn f32_from_f16(half: u16) -> f32 {
    /// Binary32 exponents are biased by 127, binary16 ones by 15.
    const BIAS: u32 = 127 - 15;
    /// The value of a subnormal's last bit: 2^-24.
    const SMALLEST: f32 = 1.0 / 16_777_216.0;
    let sign = u32::from(half >> 15) << 31;
    let exponent = u32::from(half >> 10 & 0x1f);
    let mantissa = half & 0x3ff;
    let magnitude = match exponent {
        0 => (f32::from(mantissa) * SMALLEST).to_bits(),
        0x1f => 0xff << 23 | u32::from(mantissa) << 13,
        _ => (exponent + BIAS) << 23 | u32::from(mantissa) << 13,
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_widened_exactly() {
        for (half, expected) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(f32_from_f16(half).to_bits(), f32::to_bits(expected), "{half:#06x}");
        }
        assert!(f32_from_f16(0x7e00).is_nan());
    }

    #[test]
    fn what_is_no_safetensors_file_is_refused() {
        for bytes in [&b""[..], b"PK\x03\x04", &[0xff; 64]] {
            assert!(Weights::parse(bytes, Path::new("model.safetensors")).is_err());
        }
    }
}
