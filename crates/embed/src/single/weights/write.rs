//! Writes kb's own 8-bit matrices as a safetensors file.

use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::error::{Error, Result};
use crate::fault::model_error;
use crate::files::write as replacing;

/// An 8-bit matrix by row, with the scale of each row.
pub(crate) struct Int8Matrix {
    /// The model's name of the map, without `.weight`.
    pub(crate) name: String,
    pub(crate) num_columns: usize,
    pub(crate) rows: Vec<i8>,
    pub(crate) scales: Vec<f32>,
}

/// Writes matrices to a separate file: `NAME.weight` and `NAME.scale` for each.
pub(crate) fn write(path: &Path, matrices: &[Int8Matrix]) -> Result<()> {
    let bytes = serialize(path, matrices)?;
    replacing::replace(path, &bytes).map_err(|error| Error::of_file(path, error))
}

/// Returns the bytes of such a file.
pub(super) fn serialize(path: &Path, matrices: &[Int8Matrix]) -> Result<Vec<u8>> {
    let scales = matrices
        .iter()
        .map(|matrix| matrix.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect());
    let scales: Vec<Vec<u8>> = scales.collect();
    let views = matrices.iter().zip(&scales).flat_map(|(matrix, scales)| {
        let num_rows = matrix.scales.len();
        let rows = bytemuck::cast_slice(&matrix.rows);
        [
            ("weight", TensorView::new(Dtype::I8, vec![num_rows, matrix.num_columns], rows)),
            ("scale", TensorView::new(Dtype::F32, vec![num_rows], scales)),
        ]
        .map(|(part, view)| view.map(|view| (format!("{}.{part}", matrix.name), view)))
    });
    views
        .collect::<Result<Vec<_>, _>>()
        .and_then(|views| safetensors::serialize(views, None))
        .map_err(|error| model_error(path, error))
}
