//! Reads named tensors of 32-bit floats from a safetensors file.
//!
//! Reads only the requested parts: most of a file is a table of words, of which a text needs a few.
//! Half-precision files are widened; kb's own 8-bit weights stay unchanged. Names are given
//! without the prefix that a training class may have added (`bert.`, `model.`).

use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo, TensorView};

use crate::embed::facts::model_error;
use crate::embed::io_error;
use crate::embed::names::WORDS;
use crate::error::Result;
use crate::files::{File, open, write as replacing};

/// Bytes of the number at the start of a file: the length of the table of tensors that follows.
const LENGTH_BYTES: usize = 8;

/// Size of a cache line.
const LINE_BYTES: usize = 64;

/// Maximum size of the table; the format's own limit is the same.
const MAX_TABLE_BYTES: u64 = 100_000_000;

/// The tensors of one model.
pub(in crate::embed) struct Weights {
    file: File,
    path: PathBuf,
    table: Metadata,
    /// Offset of the numbers in the file.
    start: u64,
    prefix: String,
    /// The numbers, if they are kept in memory.
    kept: OnceLock<Vec<u8>>,
    /// Whether kb wrote the file, with 8-bit numbers in kb's own format.
    is_derived: bool,
}

/// One tensor: its shape, and its numbers in row-major order.
pub(in crate::embed) struct Tensor {
    pub(in crate::embed) shape: Vec<usize>,
    pub(in crate::embed) data: Vec<f32>,
}

/// A matrix that stays in the file.
pub(in crate::embed) struct Rows<'a> {
    weights: &'a Weights,
    name: String,
    dtype: Dtype,
    /// Its offset in the file.
    start: u64,
    pub(in crate::embed) num_rows: usize,
    pub(in crate::embed) num_columns: usize,
}

impl Weights {
    /// Reads the table of tensors of a model.
    pub(in crate::embed) fn open(path: &Path) -> Result<Self> {
        let mut weights = Self::open_derived(path)?;
        // Every encoder has this tensor; its prefix is the prefix of all.
        let names = weights.table.offset_keys();
        let words = names.iter().find(|name| name.ends_with(WORDS));
        let words = words.ok_or_else(|| model_error(path, format!("no tensor {WORDS}")))?;
        weights.prefix = words.strip_suffix(WORDS).unwrap_or_default().to_owned();
        weights.is_derived = false;
        Ok(weights)
    }

    /// Reads the table of tensors of a file written by [`write()`].
    pub(in crate::embed) fn open_derived(path: &Path) -> Result<Self> {
        let fail = |error: &dyn std::fmt::Display| model_error(path, error);
        let file = open::open(path, open::Links::Follow).map_err(|error| fail(&error))?;
        let file_bytes = file.metadata().map_err(|error| fail(&error))?.len();
        if file_bytes < LENGTH_BYTES as u64 {
            return Err(fail(&format!("it has {file_bytes} bytes and no header")));
        }
        let mut length = [0; LENGTH_BYTES];
        read_exact_at(&file, &mut length, 0).map_err(|error| fail(&error))?;
        let table_bytes = u64::from_le_bytes(length);
        if table_bytes > MAX_TABLE_BYTES.min(file_bytes) {
            return Err(fail(&"it is not a safetensors file"));
        }
        let mut table = vec![0; usize::try_from(table_bytes).unwrap_or(0)];
        read_exact_at(&file, &mut table, LENGTH_BYTES as u64).map_err(|error| fail(&error))?;
        let table: Metadata = serde_json::from_slice(&table).map_err(|error| fail(&error))?;
        let start = LENGTH_BYTES as u64 + table_bytes;
        let data_bytes = u64::try_from(table.data_len()).unwrap_or(u64::MAX);
        if start.saturating_add(data_bytes) != file_bytes {
            let expected = start.saturating_add(data_bytes);
            return Err(fail(&format!("it has {file_bytes} bytes, expected {expected}")));
        }
        let (path, prefix) = (path.to_owned(), String::new());
        let kept = OnceLock::new();
        Ok(Self { file, path, table, start, prefix, kept, is_derived: true })
    }

    /// Reads the file into memory, to take 8-bit rows from there; does nothing if it has more than
    /// `max_bytes`.
    pub(in crate::embed) fn keep(&self, max_bytes: usize) -> Result<()> {
        let len = self.table.data_len();
        if self.kept.get().is_some() || len > max_bytes {
            return Ok(());
        }
        let mut bytes = vec![0; len];
        read_exact_at(&self.file, &mut bytes, self.start)
            .map_err(|error| model_error(&self.path, error))?;
        // Another thread may have been faster; it has read the same.
        let _ = self.kept.set(bytes);
        Ok(())
    }

    /// Whether there is a tensor with this name.
    pub(in crate::embed) fn has(&self, name: &str) -> bool {
        self.table.info(&format!("{}{name}", self.prefix)).is_some()
    }

    /// Returns a tensor with the dimensions of `shape`; 0 matches any length.
    pub(in crate::embed) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let info = self.find(name, shape)?;
        let rows = self.rows_of(name, info);
        let mut data = Vec::new();
        rows.read(0..rows.num_rows, &mut data)?;
        Ok(Tensor { shape: info.shape.clone(), data })
    }

    /// Returns a matrix to read row by row; 0 in `shape` matches any length.
    pub(in crate::embed) fn rows(&self, name: &str, shape: [usize; 2]) -> Result<Rows<'_>> {
        Ok(self.rows_of(name, self.find(name, &shape)?))
    }

    fn rows_of(&self, name: &str, info: &TensorInfo) -> Rows<'_> {
        let (num_rows, columns) =
            info.shape.split_first().map_or((1, &[][..]), |(num_rows, rest)| (*num_rows, rest));
        let offset = u64::try_from(info.data_offsets.0).unwrap_or(u64::MAX);
        Rows {
            weights: self,
            name: name.to_owned(),
            dtype: info.dtype,
            start: self.start.saturating_add(offset),
            num_rows,
            num_columns: columns.iter().product(),
        }
    }

    fn find(&self, name: &str, shape: &[usize]) -> Result<&TensorInfo> {
        let info = self.table.info(&format!("{}{name}", self.prefix));
        let info = info.ok_or_else(|| self.fail(name, "it is missing"))?;
        let found = &info.shape;
        let fits = found.len() == shape.len()
            && found.iter().zip(shape).all(|(found, wanted)| *wanted == 0 || found == wanted);
        if !fits {
            return Err(self.fail(name, format!("its shape is {found:?}, expected {shape:?}")));
        }
        match info.dtype {
            Dtype::F32 | Dtype::F16 | Dtype::BF16 => Ok(info),
            Dtype::I8 if self.is_derived => Ok(info),
            other => Err(self.fail(name, format!("numbers of type {other:?} are not supported"))),
        }
    }

    fn fail(&self, name: &str, reason: impl std::fmt::Display) -> crate::error::Error {
        model_error(&self.path, format!("tensor {}{name}: {reason}", self.prefix))
    }
}

impl Rows<'_> {
    /// Reads some of the rows into `out`, replacing its content, as floats.
    pub(in crate::embed) fn read(&self, rows: Range<usize>, out: &mut Vec<f32>) -> Result<()> {
        if self.dtype == Dtype::I8 {
            return Err(self.weights.fail(&self.name, "its numbers need a scale"));
        }
        out.resize(rows.len() * self.num_columns, 0.0);
        if self.dtype == Dtype::F32 {
            self.read_bytes(rows.start, bytemuck::cast_slice_mut(out))?;
            // Files are little-endian.
            if cfg!(target_endian = "big") {
                out.iter_mut()
                    .for_each(|number| *number = f32::from_bits(number.to_bits().swap_bytes()));
            }
            return Ok(());
        }
        let mut halves = vec![[0; 2]; out.len()];
        self.read_bytes(rows.start, halves.as_flattened_mut())?;
        let widen = |half: u16| match self.dtype {
            Dtype::F16 => f32_from_f16(half),
            // The upper half of a 32-bit float.
            _ => f32::from_bits(u32::from(half) << 16),
        };
        out.iter_mut().zip(halves).for_each(|(out, bytes)| *out = widen(u16::from_le_bytes(bytes)));
        Ok(())
    }

    /// Returns some of the rows of an 8-bit matrix; rows that are not in memory are read into
    /// `buffer`.
    pub(in crate::embed) fn int8<'b>(
        &'b self,
        rows: Range<usize>,
        buffer: &'b mut Vec<i8>,
    ) -> Result<&'b [i8]> {
        if self.dtype != Dtype::I8 {
            return Err(self.weights.fail(&self.name, "its numbers have more than 8 bits"));
        }
        if let Some(kept) = self.kept(&rows) {
            // Touches each cache line in order, which memory delivers fastest: a product jumps
            // between rows.
            black_box(kept.iter().step_by(LINE_BYTES).fold(0, |all, byte| all ^ byte));
            return Ok(bytemuck::cast_slice(kept));
        }
        buffer.resize(rows.len() * self.num_columns, 0);
        self.read_bytes(rows.start, bytemuck::cast_slice_mut(buffer))?;
        Ok(buffer)
    }

    /// Returns the bytes of some rows, if they are in memory.
    fn kept(&self, rows: &Range<usize>) -> Option<&[u8]> {
        let kept = self.weights.kept.get()?;
        let row_bytes = self.num_columns * (self.dtype.bitsize() / 8);
        let start = usize::try_from(self.start - self.weights.start).ok()?;
        kept.get(start + rows.start * row_bytes..start + rows.end * row_bytes)
    }

    /// Fills `bytes`, starting with the given row.
    fn read_bytes(&self, row: usize, bytes: &mut [u8]) -> Result<()> {
        let offset = row * self.num_columns * (self.dtype.bitsize() / 8);
        let offset = u64::try_from(offset).unwrap_or(u64::MAX);
        read_exact_at(&self.weights.file, bytes, self.start.saturating_add(offset))
            .map_err(|error| self.weights.fail(&self.name, error))
    }
}

/// An 8-bit matrix by row, with the scale of each row.
pub(in crate::embed) struct Int8Matrix {
    /// The model's name of the map, without `.weight`.
    pub(in crate::embed) name: String,
    pub(in crate::embed) num_columns: usize,
    pub(in crate::embed) rows: Vec<i8>,
    pub(in crate::embed) scales: Vec<f32>,
}

/// Writes matrices to a separate file: `NAME.weight` and `NAME.scale` for each.
///
/// # Errors
///
/// [`Error::Io`](crate::error::Error::Io) or [`Error::DiskFull`](crate::error::Error::DiskFull).
pub(in crate::embed) fn write(path: &Path, matrices: &[Int8Matrix]) -> Result<()> {
    let scales = |matrix: &Int8Matrix| -> Vec<u8> {
        matrix.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect()
    };
    let scales: Vec<Vec<u8>> = matrices.iter().map(scales).collect();
    let views = matrices.iter().zip(&scales).flat_map(|(matrix, scales)| {
        let num_rows = matrix.scales.len();
        let rows = bytemuck::cast_slice(&matrix.rows);
        [
            ("weight", TensorView::new(Dtype::I8, vec![num_rows, matrix.num_columns], rows)),
            ("scale", TensorView::new(Dtype::F32, vec![num_rows], scales)),
        ]
        .map(|(part, view)| view.map(|view| (format!("{}.{part}", matrix.name), view)))
    });
    let bytes = views
        .collect::<Result<Vec<_>, _>>()
        .and_then(|views| safetensors::serialize(views, None))
        .map_err(|error| model_error(path, error))?;
    replacing::replace(path, &bytes).map_err(|error| io_error(path, error))
}

/// Reads at a position without moving it, so that threads can share the file.
#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// Reads at a position, so that threads can share the file.
#[cfg(windows)]
fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !buffer.is_empty() {
        let num_read = file.seek_read(buffer, offset)?;
        if num_read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer = &mut buffer[num_read..];
        offset += num_read as u64;
    }
    Ok(())
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
    fn kb_files_are_read_only_by_kb() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("own.safetensors");
        let matrix = Int8Matrix {
            name: "a.b".into(),
            num_columns: 3,
            rows: vec![1, -2, 3, -127, 0, 127],
            scales: vec![0.5, 2.0],
        };
        write(&path, &[matrix]).unwrap();
        let weights = Weights::open_derived(&path).unwrap();
        assert_eq!(weights.get("a.b.scale", &[2]).unwrap().data, [0.5, 2.0]);
        let rows = weights.rows("a.b.weight", [0, 3]).unwrap();
        let mut row = Vec::new();
        for max_bytes in [0, 10, 1000] {
            // From the file first, then from memory.
            weights.keep(max_bytes).unwrap();
            assert_eq!(weights.kept.get().is_some(), max_bytes == 1000);
            assert_eq!(rows.int8(1..2, &mut row).unwrap(), [-127, 0, 127]);
            assert_eq!(rows.int8(0..2, &mut row).unwrap(), [1, -2, 3, -127, 0, 127]);
            let scales = weights.rows("a.b.scale", [0, 1]);
            assert!(scales.is_err() && rows.read(0..1, &mut Vec::new()).is_err());
        }
        assert!(Weights::open(&path).is_err());
    }

    #[test]
    fn a_file_that_is_not_safetensors_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.safetensors");
        let table = br#"{"embeddings.word_embeddings.weight":
            {"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;
        let valid = [&(table.len() as u64).to_le_bytes()[..], table, &[0; 8]].concat();
        for bytes in [&b""[..], b"PK\x03\x04", &[0xff; 64], &[0; 8], &valid[..valid.len() - 1]] {
            std::fs::write(&path, bytes).unwrap();
            assert!(Weights::open(&path).is_err());
        }
        std::fs::write(&path, &valid).unwrap();
        let weights = Weights::open(&path).unwrap();
        assert!(weights.has(WORDS) && !weights.has("embeddings"));
        assert_eq!(weights.get(WORDS, &[0, 2]).unwrap().data, [0.0, 0.0]);
        assert!(weights.get(WORDS, &[2, 2]).is_err() && weights.get("other", &[2]).is_err());
    }
}
