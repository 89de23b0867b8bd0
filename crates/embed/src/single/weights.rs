//! Reads named tensors of 32-bit floats from a safetensors file.
//!
//! Reads only the requested parts: most of a file is a table of words, of which a text needs a few.
//! Half-precision files are widened; kb's own 8-bit weights stay unchanged. Names are given
//! without the prefix that a training class may have added (`bert.`, `model.`).

use std::collections::HashMap;
use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use crate::error::Result;
use crate::fault::{model_error, unsupported};
use crate::files::{File, open};
use crate::model_files::{PLAIN, parts};
use crate::names::{TOKEN_VECTORS, WORDS};

mod write;

pub(crate) use write::{Int8Matrix, write};

/// Bytes of the number at the start of a file: the length of the table of tensors that follows.
const LENGTH_BYTES: usize = 8;

/// Size of a cache line.
const LINE_BYTES: usize = 64;

/// Maximum size of the table; the format's own limit is the same.
const MAX_TABLE_BYTES: u64 = 100_000_000;

/// The tensors of one model.
pub(crate) struct Weights {
    /// `None` if all numbers are in memory.
    file: Option<File>,
    path: PathBuf,
    table: Metadata,
    /// The other files of a model that has several.
    others: Vec<Self>,
    /// Offset of the numbers in the file.
    start: u64,
    prefix: String,
    /// The numbers, if they are kept in memory.
    kept: OnceLock<Vec<u8>>,
    /// The vectors that were read, by their names: the small part of a model.
    vectors: Mutex<HashMap<String, Arc<[f32]>>>,
    /// Whether kb wrote the file, with 8-bit numbers in kb's own format.
    is_derived: bool,
}

/// One tensor: its shape, and its numbers in row-major order.
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<f32>,
}

/// A matrix that stays in the file.
pub(crate) struct FileMatrix<'a> {
    weights: &'a Weights,
    name: String,
    dtype: Dtype,
    /// Its offset in the file.
    start: u64,
    pub(crate) num_rows: usize,
    pub(crate) num_columns: usize,
}

impl Weights {
    /// Reads the table of tensors of a model.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut weights = Self::open_plain(path)?;
        // Every encoder has this tensor; its prefix is the prefix of all.
        let files = [&weights].into_iter().chain(&weights.others);
        let names: Vec<String> = files.flat_map(|file| file.table.offset_keys()).collect();
        let prefix = names.iter().find_map(|name| {
            [WORDS, TOKEN_VECTORS].into_iter().find_map(|table| name.strip_suffix(table))
        });
        let prefix = prefix.ok_or_else(|| model_error(path, format!("no tensor {WORDS}")))?;
        weights.prefix = prefix.to_owned();
        Ok(weights)
    }

    /// Reads the table of tensors of a module, whose names have no prefix, or those of a list of files.
    pub(crate) fn open_plain(path: &Path) -> Result<Self> {
        match parts(path)?.split_first() {
            None => Self::open_file(path),
            Some((first, others)) => {
                let others =
                    others.iter().map(|path| Self::open_file(path)).collect::<Result<_>>()?;
                Ok(Self { others, ..Self::open_file(first)? })
            }
        }
    }

    /// Reads the table of tensors of one file of a model.
    fn open_file(path: &Path) -> Result<Self> {
        Ok(Self { is_derived: false, ..Self::open_derived(path)? })
    }

    /// Reads the table of tensors of a static model, and finds the name of its vectors.
    pub(crate) fn open_table(dir: &Path) -> Result<(Self, &'static str)> {
        const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];
        let path = dir.join(PLAIN);
        let weights = Self::open_plain(&path)?;
        if weights.has("mapping") {
            return Err(unsupported(&path, "vectors with a `mapping` are not supported"));
        }
        let name = NAMES.into_iter().find(|name| weights.has(name));
        let name = name.ok_or_else(|| {
            unsupported(&path, format!("it has no tensor {}", NAMES.join(" or ")))
        })?;
        Ok((weights, name))
    }

    /// Reads the table of tensors of a file written by [`write()`].
    pub(crate) fn open_derived(path: &Path) -> Result<Self> {
        let fail = |error: &dyn std::fmt::Display| model_error(path, error);
        let file = open::open(path, open::SymlinkPolicy::Follow).map_err(|error| fail(&error))?;
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
        Ok(Self::derived(path, table, start, Some(file)))
    }

    /// Holds matrices in memory, as if they had been written to `path` with [`write()`] and read again.
    pub(crate) fn in_memory(path: &Path, matrices: &[Int8Matrix]) -> Result<Self> {
        let mut bytes = write::serialize(path, matrices)?;
        let (table_bytes, table) = safetensors::SafeTensors::read_metadata(&bytes)
            .map_err(|error| model_error(path, error))?;
        let numbers = bytes.split_off(LENGTH_BYTES + table_bytes);
        let start = bytes.len() as u64;
        Ok(Self { kept: OnceLock::from(numbers), ..Self::derived(path, table, start, None) })
    }

    fn derived(path: &Path, table: Metadata, start: u64, file: Option<File>) -> Self {
        Self {
            file,
            path: path.to_owned(),
            table,
            others: Vec::new(),
            start,
            prefix: String::new(),
            kept: OnceLock::new(),
            vectors: Mutex::default(),
            is_derived: true,
        }
    }

    /// Reads numbers from the memory or the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let Some(file) = &self.file else {
            let at = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
            let end = at.saturating_add(buffer.len());
            let kept = self.kept.get().and_then(|kept| kept.get(at..end));
            buffer.copy_from_slice(kept.ok_or(io::ErrorKind::UnexpectedEof)?);
            return Ok(());
        };
        read_exact_at(file, buffer, offset)
    }

    /// Reads the file into memory, to take 8-bit rows from there; does nothing if it has more than
    /// `max_bytes`.
    pub(crate) fn keep(&self, max_bytes: usize) -> Result<()> {
        let len = self.table.data_len();
        if self.kept.get().is_some() || len > max_bytes {
            return Ok(());
        }
        let mut bytes = vec![0; len];
        self.read_at(&mut bytes, self.start).map_err(|error| model_error(&self.path, error))?;
        // If another thread was faster, it has read the same bytes.
        let _ = self.kept.set(bytes);
        Ok(())
    }

    /// Whether there is a tensor with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.file_with(name).is_some()
    }

    /// Returns the file that has a tensor, and where it is in it.
    fn file_with(&self, name: &str) -> Option<(&Self, &TensorInfo)> {
        let name = format!("{}{name}", self.prefix);
        let mut files = [self].into_iter().chain(&self.others);
        files.find_map(|file| Some((file, file.table.info(&name)?)))
    }

    /// Returns a tensor with the dimensions of `shape`; 0 matches any length.
    pub(crate) fn get(&self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let (file, info) = self.find(name, shape)?;
        let rows = file.rows_of(name, info);
        let mut data = Vec::new();
        rows.read(0..rows.num_rows, &mut data)?;
        Ok(Tensor { shape: info.shape.clone(), data })
    }

    /// Returns a vector of `len` numbers, and keeps it for the next call.
    pub(crate) fn vector(&self, name: &str, len: usize) -> Result<Arc<[f32]>> {
        let mut vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = vectors.get(name).filter(|vector| vector.len() == len) {
            return Ok(Arc::clone(vector));
        }
        let vector: Arc<[f32]> = self.get(name, &[len])?.data.into();
        vectors.insert(name.to_owned(), Arc::clone(&vector));
        Ok(vector)
    }

    /// Returns a matrix to read row by row; 0 in `shape` matches any length.
    pub(crate) fn rows(&self, name: &str, shape: [usize; 2]) -> Result<FileMatrix<'_>> {
        let (file, info) = self.find(name, &shape)?;
        Ok(file.rows_of(name, info))
    }

    fn rows_of(&self, name: &str, info: &TensorInfo) -> FileMatrix<'_> {
        let (num_rows, columns) =
            info.shape.split_first().map_or((1, &[][..]), |(num_rows, rest)| (*num_rows, rest));
        let offset = u64::try_from(info.data_offsets.0).unwrap_or(u64::MAX);
        FileMatrix {
            weights: self,
            name: name.to_owned(),
            dtype: info.dtype,
            start: self.start.saturating_add(offset),
            num_rows,
            num_columns: columns.iter().product(),
        }
    }

    fn find(&self, name: &str, shape: &[usize]) -> Result<(&Self, &TensorInfo)> {
        let found = self.file_with(name);
        let (file, info) = found.ok_or_else(|| self.fail(name, "it is missing"))?;
        let found = &info.shape;
        let fits = found.len() == shape.len()
            && found.iter().zip(shape).all(|(found, wanted)| *wanted == 0 || found == wanted);
        if !fits {
            return Err(self.fail(name, format!("its shape is {found:?}, expected {shape:?}")));
        }
        match info.dtype {
            Dtype::F32 | Dtype::F16 | Dtype::BF16 => Ok((file, info)),
            Dtype::I8 if self.is_derived => Ok((file, info)),
            other => Err(self.fail(name, format!("numbers of type {other:?} are not supported"))),
        }
    }

    fn fail(&self, name: &str, reason: impl std::fmt::Display) -> crate::error::Error {
        model_error(&self.path, format!("tensor {}{name}: {reason}", self.prefix))
    }
}

impl FileMatrix<'_> {
    /// Reads some of the rows into `out`, replacing its content, as floats.
    pub(crate) fn read(&self, rows: Range<usize>, out: &mut Vec<f32>) -> Result<()> {
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
        for (out, bytes) in out.iter_mut().zip(halves) {
            let half = u16::from_le_bytes(bytes);
            *out = match self.dtype {
                Dtype::F16 => f32_from_f16(half),
                // A bfloat16 is the upper half of a 32-bit float.
                _ => f32::from_bits(u32::from(half) << 16),
            };
        }
        Ok(())
    }

    /// Returns some of the rows of an 8-bit matrix; rows that are not in memory are read into
    /// `buffer`.
    pub(crate) fn int8<'b>(
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
        self.weights
            .read_at(bytes, self.start.saturating_add(offset))
            .map_err(|error| self.weights.fail(&self.name, error))
    }
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
        // All ones are the exponent of infinity and of no number.
        0x1f => 0xff << 23 | u32::from(mantissa) << 13,
        _ => (exponent + BIAS) << 23 | u32::from(mantissa) << 13,
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests;
