//! Computes checksums for stored vectors that have none.

use rusqlite::Connection;

use super::blocks::each_block;
use super::layout::{has_vector_table, knows_vec0};
use super::sums::{BlockChecksums, sum};
use crate::db::binding::{self, BindingSlot};
use crate::db::fault::Step;

pub(crate) fn fill(db: &Connection) -> Step<()> {
    let Some(binding) = binding::load(db, BindingSlot::Current)? else { return Ok(()) };
    let dim = usize::try_from(binding.dim).unwrap_or(usize::MAX);
    if !has_vector_table(db)? || !knows_vec0(db)? {
        return Ok(());
    }
    let mut filled = BlockChecksums::default();
    each_block(db, |block| {
        let Some(block) = block else { return };
        let missing: Vec<_> =
            block.places.iter().filter(|(place, _)| block.sum(*place).is_none()).collect();
        if missing.is_empty() {
            return;
        }
        filled.begin(block.number, block.sums.clone().unwrap_or_default());
        for (place, chunk_id) in missing {
            if let Some(vector) = block.vector(*place, dim) {
                filled.set(block.number, *place, sum(*chunk_id, vector));
            }
        }
    })?;
    filled.save(db)
}
