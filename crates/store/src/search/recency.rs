//! Prefers newer documents in near ties: lowers the weights of a hit by the age of its document.
//!
//! Ages count from the newest document that passes the filter, not from the clock, so the same question gives the same
//! answer tomorrow. The weights do not fall below [`FLOOR`] of what they were: a passage that answers clearly better
//! stays first, however old it is, unless it is an older edition of another ([`editions`]).

use std::collections::HashMap;

use crate::document::Filter;
use crate::error::Result;
use crate::ids::ChunkId;
use crate::numeric::power;
use crate::search::editions;
use crate::search::fuse::FusedChunk;
use crate::search::options::Recency;
use crate::search::searchable::Searchable;
use crate::search::titles::day_number;

/// Least share of its weights that a hit keeps. With 0.9 instead, 7 more of 314 newer versions of notes come before the
/// older one, and 17 more of 1,250 right first answers are lost (`benches/results/2026-11-26-recency.md`).
const FLOOR: f64 = 0.95;

/// Weighs fused hits by the ages of their documents, and orders them again.
pub(super) fn weigh(
    fused: &mut [FusedChunk],
    store: &impl Searchable,
    recency: &Recency,
    filter: &Filter,
) -> Result<()> {
    let newest = match &recency.newest {
        Some(day) => Some(day.clone()),
        None => store.newest(filter)?,
    };
    let newest = newest.as_deref().and_then(day_number);
    let ids: Vec<ChunkId> = fused.iter().map(|hit| hit.chunk_id).collect();
    let stored = store.hits(&ids)?;
    let days: HashMap<ChunkId, i32> = stored
        .iter()
        .filter_map(|hit| Some((hit.chunk.id, day_number(hit.date.as_deref()?)?)))
        .collect();
    for hit in &mut *fused {
        let age = newest.zip(days.get(&hit.chunk_id)).map(|(newest, day)| newest - day);
        let share = share(age, recency.half_life_days);
        hit.weigh(share);
        hit.recency = Some(share);
    }
    fused.sort_by(FusedChunk::order);
    editions::newer_first(fused, &stored, &days);
    fused.sort_by(FusedChunk::order);
    Ok(())
}

/// Returns the share of its weights that a hit keeps at this age in days; [`FLOOR`] if the age is not known.
fn share(age: Option<i32>, half_life_days: u32) -> f64 {
    let gain = age.map_or(0.0, |age| power(0.5, f64::from(age.max(0)) / f64::from(half_life_days)));
    FLOOR + (1.0 - FLOOR) * gain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_over_months_and_leap_years() {
        let between = |from: &str, to: &str| day_number(to).unwrap() - day_number(from).unwrap();
        assert_eq!(between("2024-02-28", "2024-03-01"), 2);
        assert_eq!(between("2023-02-28", "2023-03-01"), 1);
        assert_eq!(between("2023-12-31", "2024-01-01"), 1);
        assert_eq!(between("2000-01-01", "2100-01-01"), 36_525);
        assert_eq!(between("2024-01-01", "2025-01-01"), 366);
        for date in ["", "2024", "2024-05", "soon-05-01", "2023-02-29"] {
            assert_eq!(day_number(date), None, "{date}");
        }
    }

    #[test]
    fn what_a_document_gains_falls_by_half_down_to_the_floor() {
        let gain = |age, half_life| (share(age, half_life) - FLOOR) / (1.0 - FLOOR);
        for (age, half_life, expected) in [
            (Some(0), 30, 1.0),
            (Some(30), 30, 0.5),
            (Some(20), 10, 0.25),
            (None, 30, 0.0),
            (Some(-3), 30, 1.0),
        ] {
            assert!((gain(age, half_life) - expected).abs() < 1e-12, "{age:?}");
        }
        assert!(share(Some(100_000), 1) >= FLOOR);
    }
}
