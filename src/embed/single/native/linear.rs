//! Multiplies activations by a matrix of weights in a file.
//!
//! Weights are read a piece at a time, each by the thread that needs it: a piece that has just been
//! copied from the system's cache is still in the processor's.

use std::sync::{Mutex, PoisonError};

use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::int8;
use crate::embed::single::lanes::{self, whole};
use crate::embed::single::weights::{Rows, Weights};
use crate::error::Result;

/// Weights that are read at once: at most 128 KB, a part of a processor's own cache.
const PIECE_LEN: usize = 32 << 10;

/// What one thread keeps from one use to the next.
#[derive(Debug, Default)]
pub(super) struct Worker {
    piece: Vec<f32>,
    whole_piece: Vec<i8>,
}

/// Workers, each with a thread that waits for it: a product takes less time than it takes to start
/// one. The first works on the thread that asks.
pub(super) struct Team {
    workers: Vec<Worker>,
    others: Option<ThreadPool>,
}

impl Team {
    /// Starts the threads; where the machine refuses them, there is one worker.
    pub(super) fn new(num_threads: usize) -> Self {
        let others = (num_threads > 1)
            .then(|| ThreadPoolBuilder::new().num_threads(num_threads - 1).build().ok())
            .flatten();
        let num_workers = if others.is_some() { num_threads } else { 1 };
        Self { workers: (0..num_workers).map(|_| Worker::default()).collect(), others }
    }
}

/// Where linear maps are read from.
#[derive(Clone, Copy)]
pub(super) struct Linear<'a> {
    pub(super) weights: &'a Weights,
    /// The same maps in 8 bits, if those are to be used.
    pub(super) rows: Option<&'a Weights>,
}

/// Activations as they are multiplied, `[tokens, inputs]`.
pub(super) struct Input<'a> {
    activations: &'a Array2<f32>,
    /// The same in steps, and how large one is, where weights are used in 8 bits.
    steps: Option<(Vec<i16>, f32)>,
}

impl Input<'_> {
    pub(super) fn num_tokens(&self) -> usize {
        self.activations.nrows()
    }
}

impl<'a> Linear<'a> {
    /// Makes activations ready to be multiplied, by as many matrices as read them.
    pub(super) fn input(self, activations: &Array2<f32>) -> Input<'_> {
        let numbers = activations.as_slice().expect("activations lie row by row");
        Input { activations, steps: self.rows.map(|_| int8::quantise(numbers)) }
    }

    /// Returns the map of this name; a 0 for `num_outputs` stands for any number.
    pub(super) fn map(self, input: &Input<'_>, name: &str, num_outputs: usize) -> Result<Map<'a>> {
        let shape = [num_outputs, input.activations.ncols()];
        let rows = self.rows.unwrap_or(self.weights).rows(&format!("{name}.weight"), shape)?;
        let bias = self.weights.get(&format!("{name}.bias"), &[rows.num_rows])?.data;
        let scales = match (self.rows, &input.steps) {
            (Some(in_int8), Some((_, step))) => {
                let scales = in_int8.get(&format!("{name}.scale"), &[rows.num_rows])?.data;
                Some(scales.iter().map(|it| it * step).collect())
            }
            _ => None,
        };
        Ok(Map { rows, bias, scales })
    }
}

/// A linear map: weights, of which each row makes an output, and what is added.
pub(super) struct Map<'a> {
    rows: Rows<'a>,
    bias: Vec<f32>,
    /// What products of whole numbers are multiplied by.
    scales: Option<Vec<f32>>,
}

/// Some of the columns of an output, which one worker computes.
pub(super) struct Part<'a> {
    /// Number of its first column.
    pub(super) start: usize,
    /// Its columns, `[tokens, outputs]`.
    pub(super) output: ArrayViewMut2<'a, f32>,
}

impl Map<'_> {
    /// Computes all outputs, `[tokens, outputs]`; `finish` then gets all numbers, some at a time.
    pub(super) fn apply(
        &self,
        team: &mut Team,
        input: &Input<'_>,
        finish: fn(&mut [f32]),
    ) -> Result<Array2<f32>> {
        let mut output = Array2::zeros((input.num_tokens(), self.rows.num_rows));
        share(team, &mut output, 1, |worker, part| self.apply_part(worker, input, part, finish))?;
        Ok(output)
    }

    /// Computes some of the outputs; `finish` then gets them.
    pub(super) fn apply_part(
        &self,
        worker: &mut Worker,
        input: &Input<'_>,
        mut part: Part<'_>,
        finish: fn(&mut [f32]),
    ) -> Result<()> {
        multiply(worker, &self.rows, input, &mut part)?;
        let start = part.start;
        for mut features in part.output.rows_mut() {
            let features = features.as_slice_mut().expect("a token's features are side by side");
            if let Some(scales) = &self.scales {
                features.iter_mut().zip(&scales[start..]).for_each(|(it, scale)| *it *= scale);
            }
            features.iter_mut().zip(&self.bias[start..]).for_each(|(it, bias)| *it += bias);
            finish(features);
        }
        Ok(())
    }
}

/// Parts the columns of `output` among the workers, which run side by side; groups of
/// `group_len` columns stay together.
pub(super) fn share(
    team: &mut Team,
    output: &mut Array2<f32>,
    group_len: usize,
    work: impl Fn(&mut Worker, Part<'_>) -> Result<()> + Sync,
) -> Result<()> {
    let num_groups = output.ncols() / group_len.max(1);
    let each = num_groups.div_ceil(team.workers.len()).max(1) * group_len.max(1);
    let parts = output.axis_chunks_iter_mut(Axis(1), each).enumerate();
    let parts = parts.map(|(idx, output)| Part { start: idx * each, output });
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

/// Multiplies `input` with the rows that make a part's columns.
fn multiply(
    worker: &mut Worker,
    rows: &Rows<'_>,
    input: &Input<'_>,
    part: &mut Part<'_>,
) -> Result<()> {
    let tokens = input.activations.as_slice().expect("activations lie row by row");
    let len = rows.num_columns;
    let rows_a_piece = (PIECE_LEN / len.max(1)).max(1);
    for (idx, mut output) in part.output.axis_chunks_iter_mut(Axis(1), rows_a_piece).enumerate() {
        let first = part.start + idx * rows_a_piece;
        let piece = first..first + output.ncols();
        if let Some((tokens, _)) = &input.steps {
            let piece = rows.whole(piece, &mut worker.whole_piece)?;
            #[expect(clippy::cast_precision_loss, reason = "far less than the steps have lost")]
            whole::multiply(tokens, piece, len, |token, row, dot| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_some_workers() {
        for num_workers in 1..5 {
            for (num_columns, group_len) in [(1, 1), (3, 1), (4, 2), (17, 1), (12, 4), (0, 1)] {
                let mut team = Team::new(num_workers);
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
                        column.iter().all(|it| *it == f32::from(u8::try_from(at).unwrap()) + 1.0)
                    );
                }
            }
        }
    }
}
