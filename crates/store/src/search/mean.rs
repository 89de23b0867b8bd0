//! Averages vectors.

/// Returns the mean of unit vectors as a unit vector; `None` for an empty list or if they cancel
/// out.
pub(super) fn mean(vectors: &[Vec<f32>]) -> Option<Vec<f32>> {
    let mut sum = vec![0.0_f32; vectors.first()?.len()];
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    (length > 0.0).then(|| sum.iter().map(|value| value / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_a_unit_vector_unless_vectors_cancel_out() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[vec![1.0, 0.0], vec![-1.0, 0.0]]), None);
        let mean = mean(&[vec![1.0, 0.0], vec![0.0, 1.0]]).unwrap();
        assert!((mean[0] - 0.5_f32.sqrt()).abs() < 1e-6 && (mean[1] - mean[0]).abs() < 1e-6);
    }
}
