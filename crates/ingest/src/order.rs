//! Decides in which order the files of a run are read and committed: small ones of each folder soon, and none much later
//! than it was found.
//!
//! The order follows from the paths and sizes of the files alone, so the same files get the same ids.

mod turns;

use std::collections::BTreeMap;
use std::iter;

use crate::error::Result;
use crate::walk::FoundFile;

use turns::in_turns;

/// Files up to this size are small. They keep their order within a turn of their folder, so the notes of a folder get their ids
/// in the order of their names.
const SMALL_BYTES: u64 = 10_000;

/// A larger file is overtaken by at most one later file for this many of its bytes. Computed for 14,000 files of all kinds: with
/// 256 bytes, a third fewer are stored at first. Sorting 1,024 files at a time stores more at first, and then nothing but long
/// documents for minutes.
const BYTES_PER_PLACE: u64 = 64;

/// No file is overtaken by more for its size. That many files wait in memory, about a megabyte, and as many may be looked for
/// before the first is read.
const MAX_PLACES: u64 = 4_096;

/// Returns the files of a walk so that folders take turns, and small files overtake large ones. An unreadable item has
/// the turn of the file found before it.
pub fn small_first(
    found: impl Iterator<Item = Result<FoundFile>>,
) -> impl Iterator<Item = Result<FoundFile>> {
    let mut found = in_turns(found).zip(0_u64..).fuse();
    let mut waiting = BTreeMap::new();
    let mut last = 0;
    iter::from_fn(move || {
        while waiting.first_key_value().is_none_or(|(&(due, _), _)| due > last) {
            let Some((file, place)) = found.next() else { break };
            let size_bytes = file.as_ref().map_or(0, |file: &FoundFile| file.stamp.size_bytes);
            let places = match size_bytes {
                ..=SMALL_BYTES => 0,
                large => (large / BYTES_PER_PLACE).min(MAX_PLACES),
            };
            let due = place + places;
            waiting.insert((due, place), file);
            last = place;
        }
        waiting.pop_first().map(|(_, file)| file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::files::reach::Reach;
    use crate::files::stamp::Stamp;
    use std::path::PathBuf;

    fn file(path: &str, size_bytes: u64) -> FoundFile {
        FoundFile {
            path: PathBuf::from(path),
            stamp: Stamp { size_bytes, mtime_ns: 0 },
            is_named: false,
            is_included: false,
            reach: Reach::Anywhere,
            read_as: None,
        }
    }

    /// Returns the sizes in the new order.
    fn ordered(sizes: &[u64]) -> Vec<u64> {
        let files = sizes.iter().map(|&size_bytes| Ok(file("a", size_bytes)));
        small_first(files).map(|file| file.unwrap().stamp.size_bytes).collect()
    }

    #[test]
    fn small_files_overtake_large_ones_as_far_as_their_sizes_allow() {
        let large = |places: u64| places * BYTES_PER_PLACE;
        assert_eq!(ordered(&[]), [0; 0]);
        assert_eq!(ordered(&[SMALL_BYTES, 1, 300]), [SMALL_BYTES, 1, 300]);
        assert_eq!(ordered(&[large(190), large(170), 1]), [1, large(170), large(190)]);
        let mut sizes = vec![large(170)];
        sizes.extend([1; 199]);
        assert_eq!(ordered(&sizes).iter().position(|size| *size == large(170)), Some(169));
    }

    #[test]
    fn no_file_is_lost_or_overtaken_by_more_than_a_window() {
        let max = usize::try_from(MAX_PLACES).unwrap();
        // Sizes in no order, from nothing to a hundred times what counts.
        let sizes = (0..9_000_u64).map(|number| number.wrapping_mul(2_654_435_761) % 26_214_400);
        let files = sizes.enumerate().map(|(place, size)| Ok(file(&place.to_string(), size)));
        let places: Vec<usize> = small_first(files)
            .map(|found| found.unwrap().path.to_str().unwrap().parse().unwrap())
            .collect();
        let mut sorted = places.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..9_000));
        for (at, place) in places.iter().enumerate() {
            assert!(places[..at].iter().filter(|earlier| *earlier > place).count() <= max);
        }
    }

    #[test]
    fn the_first_file_is_returned_before_the_walk_goes_on_further_than_two_windows() {
        let mut num_walked = 0;
        let endless = iter::repeat_with(|| {
            num_walked += 1;
            Ok(file("a", u64::MAX))
        });
        assert!(small_first(endless).next().is_some());
        assert_eq!(num_walked, 2 * MAX_PLACES);
    }

    #[test]
    fn what_cannot_be_read_is_where_it_was_found() {
        let lost = || Error::PathNotFound { path: PathBuf::from("b") };
        let files = [Ok(file("a", u64::MAX)), Err(lost()), Ok(file("c", 1))];
        let ordered = small_first(files.into_iter());
        let ordered = ordered.map(|file| file.map_or(0, |file| file.stamp.size_bytes));
        assert!(ordered.eq([0, 1, u64::MAX]));
    }
}
