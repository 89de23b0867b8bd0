//! Multiplies activations by a matrix of weights in a file.
//!
//! Reads weights in pieces, each by the thread that needs it: a piece that was just copied from the
//! system's cache is still in the processor's cache.

use std::sync::{Arc, Mutex, PoisonError};

use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Result;
use crate::single::lanes;
use crate::single::weights::{FileMatrix, Weights};

/// Weights read at once: at most 128 KB, a part of a processor's cache.
const PIECE_LEN: usize = 32 << 10;

/// Number of steps between the minimum and the maximum of quantised activations.
const STEPS: f32 = 255.0;

/// Buffers that a thread keeps between uses.
#[derive(Debug, Default)]
pub(super) struct WorkerBuffers {
    piece: Vec<f32>,
    int8_piece: Vec<i8>,
}

/// Workers, each with a waiting thread: starting a thread takes longer than a product. The first
/// worker uses the calling thread.
pub(super) struct WorkerTeam {
    workers: Vec<WorkerBuffers>,
    others: Option<ThreadPool>,
}

impl WorkerTeam {
    /// Starts the threads; if the system refuses them, there is one worker.
    pub(super) fn new(num_threads: usize) -> Self {
        let others = (num_threads > 1)
            .then(|| ThreadPoolBuilder::new().num_threads(num_threads - 1).build().ok())
            .flatten();
        let num_workers = if others.is_some() { num_threads } else { 1 };
        Self { workers: (0..num_workers).map(|_| WorkerBuffers::default()).collect(), others }
    }
}

/// The source of linear maps.
#[derive(Clone, Copy)]
pub(super) struct Linear<'a> {
    pub(super) weights: &'a Weights,
    /// The same maps in 8 bits, if those are used.
    pub(super) rows: Option<&'a Weights>,
}

/// Activations prepared for multiplication, `[tokens, inputs]`.
pub(super) struct LinearInput<'a> {
    activations: &'a Array2<f32>,
    /// The activations in steps and the size of a step, for 8-bit weights.
    steps: Option<(Vec<i16>, f32)>,
}

impl LinearInput<'_> {
    pub(super) fn num_tokens(&self) -> usize {
        self.activations.nrows()
    }
}

impl<'a> Linear<'a> {
    /// Prepares activations for any number of products.
    pub(super) fn input(self, activations: &Array2<f32>) -> LinearInput<'_> {
        let numbers = activations.as_slice().expect("activations are stored row by row");
        LinearInput { activations, steps: self.rows.map(|_| quantise(numbers)) }
    }

    /// Returns the map with this name; 0 for `num_outputs` matches any number.
    pub(super) fn map(
        self,
        input: &LinearInput<'_>,
        name: &str,
        num_outputs: usize,
    ) -> Result<LinearLayer<'a>> {
        let shape = [num_outputs, input.activations.ncols()];
        let rows = self.rows.unwrap_or(self.weights).rows(&format!("{name}.weight"), shape)?;
        let bias = self.weights.vector(&format!("{name}.bias"), rows.num_rows)?;
        let scales = match (self.rows, &input.steps) {
            (Some(in_int8), Some((_, step))) => {
                let scales = in_int8.vector(&format!("{name}.scale"), rows.num_rows)?;
                Some(scales.iter().map(|scale| scale * step).collect())
            }
            _ => None,
        };
        Ok(LinearLayer { rows, bias, scales })
    }
}

/// A linear map: weights with one row per output, and a bias.
pub(super) struct LinearLayer<'a> {
    rows: FileMatrix<'a>,
    bias: Arc<[f32]>,
    /// Factors of the integer products.
    scales: Option<Vec<f32>>,
}

/// Some columns of an output, computed by one worker.
pub(super) struct OutputColumns<'a> {
    /// Index of its first column.
    pub(super) start: usize,
    /// Its columns, `[tokens, outputs]`.
    pub(super) output: ArrayViewMut2<'a, f32>,
}

impl LinearLayer<'_> {
    /// Computes all outputs, `[tokens, outputs]`; then passes all numbers to `finish`, some at a
    /// time.
    pub(super) fn apply(
        &self,
        team: &mut WorkerTeam,
        input: &LinearInput<'_>,
        finish: fn(&mut [f32]),
    ) -> Result<Array2<f32>> {
        let mut output = Array2::zeros((input.num_tokens(), self.rows.num_rows));
        share(team, &mut output, 1, |worker, part| self.apply_part(worker, input, part, finish))?;
        Ok(output)
    }

    /// Computes some of the outputs, then passes them to `finish`.
    pub(super) fn apply_part(
        &self,
        worker: &mut WorkerBuffers,
        input: &LinearInput<'_>,
        mut part: OutputColumns<'_>,
        finish: fn(&mut [f32]),
    ) -> Result<()> {
        multiply(worker, &self.rows, input, &mut part)?;
        let start = part.start;
        for mut features in part.output.rows_mut() {
            let features = features.as_slice_mut().expect("a token's features are side by side");
            let bias = &self.bias[start..];
            match &self.scales {
                Some(scales) => lanes::scale_and_add(features, &scales[start..], bias),
                None => features.iter_mut().zip(bias).for_each(|(feature, bias)| *feature += bias),
            }
            finish(features);
        }
        Ok(())
    }
}

/// Distributes the columns of `output` among the workers, which run in parallel; groups of
/// `group_len` columns stay together.
pub(super) fn share(
    team: &mut WorkerTeam,
    output: &mut Array2<f32>,
    group_len: usize,
    work: impl Fn(&mut WorkerBuffers, OutputColumns<'_>) -> Result<()> + Sync,
) -> Result<()> {
    let num_groups = output.ncols() / group_len.max(1);
    let each = num_groups.div_ceil(team.workers.len()).max(1) * group_len.max(1);
    let parts = output.axis_chunks_iter_mut(Axis(1), each).enumerate();
    let parts = parts.map(|(idx, output)| OutputColumns { start: idx * each, output });
    let mut parts = parts.zip(&mut team.workers);
    let Some((first, worker)) = parts.next() else { return Ok(()) };
    let Some(others) = &team.others else { return work(worker, first) };
    let outcome = Mutex::new(Ok(()));
    let (work, outcome_ref) = (&work, &outcome);
    let own = others.in_place_scope(|scope| {
        for (part, worker) in parts {
            scope.spawn(move |_| {
                if let Err(error) = work(worker, part) {
                    *outcome_ref.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
                }
            });
        }
        work(worker, first)
    });
    own.and(outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Multiplies `input` with the rows for a part's columns.
fn multiply(
    worker: &mut WorkerBuffers,
    rows: &FileMatrix<'_>,
    input: &LinearInput<'_>,
    part: &mut OutputColumns<'_>,
) -> Result<()> {
    let tokens = input.activations.as_slice().expect("activations are stored row by row");
    let len = rows.num_columns;
    let rows_a_piece = (PIECE_LEN / len.max(1)).max(1);
    for (idx, mut output) in part.output.axis_chunks_iter_mut(Axis(1), rows_a_piece).enumerate() {
        let first = part.start + idx * rows_a_piece;
        let piece = first..first + output.ncols();
        if let Some((tokens, _)) = &input.steps {
            let piece = rows.int8(piece, &mut worker.int8_piece)?;
            #[expect(clippy::cast_precision_loss, reason = "far less than the steps have lost")]
            lanes::int8::multiply(tokens, piece, len, |token, row, dot| {
                output[[token, row]] = dot as f32;
            });
        } else {
            rows.read(piece, &mut worker.piece)?;
            lanes::multiply(tokens, &worker.piece, len, |token, row, dot| {
                output[[token, row]] = dot;
            });
        }
    }
    Ok(())
}

/// Quantises activations to 8 bits as ONNX's `DynamicQuantizeLinear` does, so that the products equal those of the graph.
///
/// Returns integers between -255 and 255, with zero at 0, and the size of a step.
fn quantise(values: &[f32]) -> (Vec<i16>, f32) {
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
    use crate::single::weights::Int8Matrix;

    #[test]
    fn each_worker_but_the_first_has_a_thread() {
        for num_workers in [2, 3, 5] {
            let team = WorkerTeam::new(num_workers);
            let num_threads = team.others.map(|others| others.current_num_threads());
            assert_eq!((team.workers.len(), num_threads), (num_workers, Some(num_workers - 1)));
        }
        for num_workers in [0, 1] {
            let team = WorkerTeam::new(num_workers);
            assert!(team.workers.len() == 1 && team.others.is_none());
        }
    }

    /// Writes a map of 40 outputs, each of which takes its number from the first of a thousand inputs.
    fn weights(path: &std::path::Path) -> Weights {
        let (end, all) = (40 * 1000 * 4, 40 * 1000 * 4 + 40 * 4);
        let header = format!(
            r#"{{"x.weight": {{"dtype": "F32", "shape": [40, 1000], "data_offsets": [0, {end}]}},
                "x.bias": {{"dtype": "F32", "shape": [40], "data_offsets": [{end}, {all}]}},
                "embeddings.word_embeddings.weight":
                    {{"dtype": "F32", "shape": [1, 1], "data_offsets": [{all}, {}]}}}}"#,
            all + 4
        );
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        for row in 0_u8..40 {
            let numbers = (0..1000).map(|column| if column == 0 { f32::from(row) } else { 0.0 });
            bytes.extend(numbers.flat_map(f32::to_le_bytes));
        }
        bytes.extend([0.5_f32; 41].into_iter().flat_map(f32::to_le_bytes));
        std::fs::write(path, bytes).unwrap();
        Weights::open(path).unwrap()
    }

    #[test]
    fn every_piece_of_the_weights_is_multiplied() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.safetensors");
        let weights = weights(&path);
        let rows: Vec<i8> = (0..40).flat_map(|row| [row].into_iter().chain([0; 999])).collect();
        let matrix =
            Int8Matrix { name: "x".into(), num_columns: 1000, rows, scales: vec![1.0; 40] };
        let in_int8 = Weights::in_memory(&path, &[matrix]).unwrap();
        let mut activations = Array2::zeros((2, 1000));
        (activations[[0, 0]], activations[[1, 0]]) = (1.0_f32, -2.0);
        for rows in [None, Some(&in_int8)] {
            let linear = Linear { weights: &weights, rows };
            let input = linear.input(&activations);
            let map = linear.map(&input, "x", 40).unwrap();
            for num_workers in [1, 3] {
                let double =
                    |numbers: &mut [f32]| numbers.iter_mut().for_each(|number| *number *= 2.0);
                let output = map.apply(&mut WorkerTeam::new(num_workers), &input, double).unwrap();
                for row in 0_u8..40 {
                    let number = f32::from(row);
                    let expected = [2.0 * number + 1.0, -4.0 * number + 1.0];
                    for (found, expected) in output.column(row.into()).iter().zip(expected) {
                        assert!((found - expected).abs() < 0.05, "{row}: {found}, not {expected}");
                    }
                }
            }
            assert!(linear.map(&input, "x", 41).is_err());
        }
    }

    #[test]
    fn every_column_has_a_worker() {
        for num_workers in 1..5 {
            for (num_columns, group_len) in [(1, 1), (3, 1), (4, 2), (17, 1), (12, 4), (0, 1)] {
                let mut team = WorkerTeam::new(num_workers);
                let mut output = Array2::zeros((2, num_columns));
                share(&mut team, &mut output, group_len, |_, mut part| {
                    assert_eq!(part.start % group_len, 0);
                    for (at, mut column) in (part.start..).zip(part.output.columns_mut()) {
                        column.fill(f32::from(u8::try_from(at).unwrap()) + 1.0);
                    }
                    Ok(())
                })
                .unwrap();
                for (at, column) in output.columns().into_iter().enumerate() {
                    assert!(
                        column
                            .iter()
                            .all(|value| *value == f32::from(u8::try_from(at).unwrap()) + 1.0)
                    );
                }
            }
        }
    }

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
