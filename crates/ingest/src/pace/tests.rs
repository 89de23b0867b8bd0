//! Tests estimates of the work that is left.

use super::*;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn files(sizes: &[u64]) -> RemainingWork {
    RemainingWork::new(sizes.iter().map(|size| ("note.txt", *size)), &TextExtensions::NONE)
}

fn is_near(left: Option<Duration>, expected: u64) -> bool {
    left.is_some_and(|left| left.abs_diff(seconds(expected)) <= seconds(expected / 20 + 1))
}

/// Reads a file with this many chunks and embeds them, until `now`.
fn done(pace: &mut ProgressEstimator, position: usize, num_chunks: usize, now: Duration) {
    pace.read(position, Some(num_chunks), now);
    pace.embedded(num_chunks, now);
}

#[test]
fn the_time_left_follows_from_the_work_done() {
    let work = files(&[6_000; 10]);
    let mut pace = ProgressEstimator::default();
    (0..5).for_each(|position| done(&mut pace, position, 10, seconds(10)));
    assert!(is_near(pace.left(&work, seconds(10)), 10), "{:?}", pace.left(&work, seconds(10)));
    (5..10).for_each(|position| done(&mut pace, position, 10, seconds(20)));
    assert_eq!(pace.left(&work, seconds(20)), Some(Duration::ZERO));
    assert!((pace.share(&work) - 1.0).abs() < 1e-9);
}

#[test]
fn nothing_is_estimated_before_five_seconds_and_one_percent() {
    let work = files(&[6_000; 1_000]);
    let mut pace = ProgressEstimator::default();
    done(&mut pace, 0, 10, seconds(30));
    assert_eq!(pace.left(&work, seconds(30)), None);
    (1..50).for_each(|position| done(&mut pace, position, 10, seconds(4)));
    assert_eq!(pace.left(&work, seconds(4)), None);
    assert!(pace.left(&work, seconds(6)).is_some());
}

#[test]
fn a_bar_moves_while_later_files_wait_for_a_large_one() {
    let work = files(&[60_000, 6_000, 6_000, 6_000]);
    let mut pace = ProgressEstimator::default();
    (1..4).for_each(|position| done(&mut pace, position, 10, seconds(1)));
    let early = pace.share(&work);
    assert!(early > 0.15, "{early}");
    pace.read(0, Some(100), seconds(2));
    pace.embedded(50, seconds(6));
    assert!(pace.share(&work) > early);
}

#[test]
fn files_without_work_move_the_bar_but_do_not_shorten_the_estimate() {
    let work = files(&[6_000; 100]);
    let mut pace = ProgressEstimator::default();
    (0..50).for_each(|position| pace.read(position, None, seconds(1)));
    assert!((0.4..0.6).contains(&pace.share(&work)), "{}", pace.share(&work));
    assert_eq!(pace.left(&work, seconds(1)), None);
    for position in 50..70 {
        done(&mut pace, position, 10, seconds(11));
        pace.read(position + 20, None, seconds(11));
    }
    // Half of the files needed work since the first that did: so will half of the other 10, at 2 per second.
    assert!((pace.share(&work) - 0.9).abs() < 0.02, "{}", pace.share(&work));
    let left = pace.left(&work, seconds(11));
    assert!(left.is_some_and(|left| left.abs_diff(seconds(2)) < seconds(1)), "{left:?}");
}

// From a run that was stopped after 316 of 860 files: the next showed 98 % all the time, and a time left that grew.
#[test]
fn a_run_that_continues_another_shows_no_more_than_is_done() {
    let work = files(&[6_000; 860]);
    let mut pace = ProgressEstimator::default();
    (0..316).for_each(|position| pace.read(position, None, seconds(1)));
    let mut before = Duration::MAX;
    for position in 316..860 {
        let now = seconds(1 + position as u64 - 315);
        done(&mut pace, position, 10, now);
        let share_of_files = (position as f64 + 1.0) / 860.0;
        let share = pace.share(&work);
        assert!((share - share_of_files).abs() < 0.01, "{share}, not {share_of_files}");
        if let Some(left) = pace.left(&work, now) {
            assert!(left <= before, "{left:?} after {before:?}");
            before = left;
        }
    }
    assert_eq!(before, Duration::ZERO);
}

#[test]
fn the_chunks_of_unread_files_are_estimated_by_kind() {
    let pictures = [("film.mp4", 4_000_000_000), ("scan.pdf", 2_000_000)];
    let notes = [("note.txt", 60_000); 2];
    let work = RemainingWork::new(pictures.into_iter().chain(notes), &TextExtensions::NONE);
    let mut pace = ProgressEstimator::default();
    pace.read(0, None, seconds(0));
    done(&mut pace, 1, 10, seconds(10));
    done(&mut pace, 2, 100, seconds(20));
    let left = pace.left(&work, seconds(20)).unwrap();
    assert!((seconds(8)..seconds(20)).contains(&left), "{left:?}");
}

#[test]
fn a_file_that_is_larger_than_estimated_lowers_the_share() {
    let work = files(&[300_000, 1_000]);
    let mut pace = ProgressEstimator::default();
    done(&mut pace, 0, 500, seconds(1));
    assert!(pace.share(&work) > 0.9);
    pace.read(1, Some(4_500), seconds(2));
    assert!(pace.share(&work) < 0.11, "{}", pace.share(&work));
}

#[test]
fn the_rate_covers_the_last_seconds() {
    let mut pace = ProgressEstimator::default();
    assert_eq!(pace.rate(), None);
    for second in 0..100 {
        pace.embedded(if second < 50 { 10 } else { 20 }, seconds(second));
    }
    assert_eq!(pace.rate(), Some(20.0));
}

#[track_caller]
fn check(pace: &mut ProgressEstimator, work: &RemainingWork, [done, left, spared]: [f64; 3]) {
    let found = pace.estimate(work);
    let differs = |one: f64, other: f64| (one - other).abs() > 1e-9;
    let is_wrong = differs(found.done, done) || differs(found.left, left);
    assert!(!is_wrong && !differs(found.spared, spared), "{found:?}, not {done} {left} {spared}");
}

#[test]
fn an_estimate_adds_up_files_and_chunks() {
    let (work, mut pace) = (files(&[600; 4]), ProgressEstimator::default());
    check(&mut pace, &work, [0.0, 4.0 * 0.3 + 4.0, 0.0]);
    pace.read(0, Some(10), seconds(1));
    // 310 chunks in the bytes of 300 and one file.
    let per_byte = 310.0 / (180_000.0 + 600.0);
    check(&mut pace, &work, [0.3, 3.0 * 0.3 + 1_800.0 * per_byte + 10.0, 0.0]);
    pace.read(3, None, seconds(2));
    let rest = 2.0 * 0.3 + 1_200.0 * per_byte;
    check(&mut pace, &work, [0.3, rest / 2.0 + 10.0, 0.3 + 600.0 * per_byte]);
    pace.embedded(4, seconds(3));
    check(&mut pace, &work, [4.3, rest / 2.0 + 6.0, 0.3 + 600.0 * per_byte]);
    let WorkEstimate { done, left, spared, most_left } = pace.estimate(&work);
    assert!((most_left - (rest + 6.0)).abs() < 1e-9);
    assert!((pace.share(&work) - (done + spared) / (done + most_left + spared)).abs() < 1e-9);
    let expected = Duration::from_secs_f64(9.0 * left / done);
    assert!(pace.left(&work, seconds(9)).unwrap().abs_diff(expected) < Duration::from_micros(1));
}

#[test]
fn a_format_that_compresses_text_has_fewer_chunks_and_a_film_has_none() {
    for (name, chunks_per_byte) in [
        ("a.txt", 1.0 / 600.0),
        ("a.TXT", 1.0 / 600.0),
        ("a.pdf", 1.0 / 3_000.0),
        ("a.docx", 1.0 / 3_000.0),
        ("a.mp4", 0.0),
    ] {
        let work = RemainingWork::new([(name, 3_000)], &TextExtensions::NONE);
        check(
            &mut ProgressEstimator::default(),
            &work,
            [0.0, 0.3 + 3_000.0 * chunks_per_byte, 0.0],
        );
    }
    let names = ["a.txt", "b.TXT", "c.pdf"].map(|name| (name, 1));
    let work = RemainingWork::new(names, &TextExtensions::NONE);
    assert_eq!((work.num_files(), work.kinds.len(), work.kinds[0].num_files), (3, 2, 2));
}

#[test]
fn time_in_which_there_was_nothing_to_do_does_not_count() {
    let (work, mut pace) = (files(&[6_000; 20]), ProgressEstimator::default());
    pace.read(0, None, seconds(50));
    done(&mut pace, 1, 10, seconds(52));
    pace.read(2, None, seconds(53));
    assert_eq!(pace.left(&work, seconds(54)), None, "four seconds of work");
    assert!(pace.left(&work, seconds(55)).is_some());
    assert_eq!(pace.left(&files(&[u64::MAX / 4; 20]), seconds(55)), None, "less than one percent");
}

#[test]
fn a_rate_needs_a_second_and_two_times_however_far_apart() {
    let mut pace = ProgressEstimator::default();
    pace.embedded(5, seconds(0));
    assert_eq!(pace.rate(), None);
    pace.embedded(5, Duration::from_millis(900));
    assert_eq!(pace.rate(), None);
    pace.embedded(5, seconds(1));
    assert_eq!(pace.rate(), Some(10.0));
    // Those longer ago than the window are left out, except for the last one.
    for (second, expected) in
        [(15, 15.0 / 15.0), (16, 15.0 / 15.1), (100, 5.0 / 84.0), (300, 5.0 / 200.0)]
    {
        pace.embedded(5, seconds(second));
        assert!((pace.rate().unwrap() - expected).abs() < 1e-9, "{second}: {:?}", pace.rate());
    }
}

#[test]
fn files_that_appear_during_a_run_do_no_harm() {
    let work = files(&[1]);
    let mut pace = ProgressEstimator::default();
    (0..3).for_each(|position| done(&mut pace, position, 1, seconds(9)));
    assert!(pace.share(&work) <= 1.0 && pace.left(&work, seconds(9)).is_some());
    assert_eq!(pace.left(&files(&[]), seconds(9)), Some(Duration::ZERO));
}
