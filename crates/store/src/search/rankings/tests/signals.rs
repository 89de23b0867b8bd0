//! Tests the signals from which confidence is estimated.

use super::*;
use crate::search::confidence::{
    Confidence, KeywordSignals, Signals, VectorSignals, of as confidence_of,
};

#[test]
fn a_leg_that_cannot_judge_gives_no_signals() {
    let vector = |weight: f64| Some(leg(&[(1, 0.8)], weight, 0.0));
    let nothing = Some(KeywordSignals::default());
    let vector_speaks = Some(VectorSignals { cosine: 0.8, gap: 0.0, coverage: 0.0 });
    let (words, no_words) =
        (rankings(&[], vector(1.0)), Rankings { has_words: false, ..rankings(&[], vector(1.0)) });
    let signals = |vector, keyword| Signals { vector, keyword };
    assert_eq!(words.signals(&[]), signals(vector_speaks, None));
    assert_eq!(no_words.signals(&[]), signals(vector_speaks, None));
    // The model cannot read the query, or was not asked.
    for leg in [vector(0.0), None] {
        let words = rankings(&[], leg);
        assert_eq!(words.signals(&[]), signals(None, nothing));
        let no_words = Rankings { has_words: false, ..words };
        assert_eq!(no_words.signals(&[]), signals(None, None));
        assert_eq!(confidence_of(&no_words.signals(&[])), None);
    }
    let blank = Rankings { has_words: false, is_blank: true, ..rankings(&[], vector(1.0)) };
    assert_eq!(blank.signals(&[]), signals(None, nothing));
    assert_eq!(confidence_of(&blank.signals(&[])).unwrap().level(), Confidence::None);
    let empty = rankings(&[], Some(leg(&[], 1.0, 0.0)));
    assert_eq!(empty.signals(&[]), signals(None, nothing));
}

#[test]
fn signals_are_stretched_to_the_usual_floor() {
    for (floor, cosine, gap) in [(0.0, 0.8, 0.2), (0.2, 0.8, 0.2), (0.6, 0.6, 0.4)] {
        let rankings = rankings(&[], Some(leg(&[(1, 0.8), (2, 0.6)], 1.0, floor)));
        let found = rankings.signals(&[]).vector.unwrap();
        assert_near(found.cosine, cosine);
        assert_near(found.gap, gap);
    }
}

#[test]
fn coverage_is_that_of_the_nearest_chunk_and_of_the_first_hit() {
    let db = tides();
    let (keywords, _) =
        look_up(&db.store, &queries(&["high tide"]), &TermStatistics::default(), None).unwrap();
    let high = keywords.as_ref().unwrap().coverage(ChunkId(1));
    let low = keywords.as_ref().unwrap().coverage(ChunkId(2));
    assert!(high > low && low > 0.0);
    let rankings =
        Rankings { keywords, ..rankings(&[(1, 4.0), (2, 3.0)], Some(leg(&[(2, 0.5)], 1.0, 0.0))) };
    let fused = fuse_with(&db, &rankings, &by_score());
    let first =
        |id| fused.iter().filter(|hit| hit.chunk_id == ChunkId(id)).cloned().collect::<Vec<_>>();
    for (fused, expected) in [(first(1), high), (first(2), low), (Vec::new(), 0.0)] {
        let found = rankings.signals(&fused);
        assert_near(found.vector.unwrap().coverage, low);
        let keyword = found.keyword.unwrap();
        assert_near(keyword.coverage, expected);
        assert_near(keyword.gap, 0.25);
    }
    let nothing = Rankings { keyword: Vec::new(), ..rankings };
    assert_near(nothing.signals(&fused).keyword.unwrap().gap, 0.0);
}

#[test]
fn the_best_title_of_the_first_three_hits_counts() {
    let mut db = TestDb::new();
    db.add("/plain.md", &["the tide turns"], &[]);
    db.add("/harbour.md", &["boats and tide"], &[]);
    let (keywords, _) =
        look_up(&db.store, &queries(&["harbour tide"]), &TermStatistics::default(), None).unwrap();
    let share = keywords.as_ref().unwrap().in_title(ChunkId(2));
    assert!(0.0 < share && share < 1.0, "{share}");
    let rankings = Rankings { keywords, ..rankings(&[(1, 4.0), (2, 3.0)], None) };
    let fused = fuse_with(&db, &rankings, &by_score());
    assert_near(rankings.signals(&fused).keyword.unwrap().title, share);
    let plain: Vec<FusedChunk> =
        fused.into_iter().filter(|hit| hit.chunk_id == ChunkId(1)).collect();
    assert_near(rankings.signals(&plain).keyword.unwrap().title, 0.0);
}

#[test]
fn without_a_verdict_the_reason_is_a_model_or_words() {
    let unread = rankings(&[], Some(leg(&[], 0.0, 0.0)));
    assert_eq!(unread.no_basis(), NoBasis::Unreadable);
    assert_eq!(rankings(&[], None).no_basis(), NoBasis::NoWords);
}

#[test]
fn a_missing_word_is_one_of_a_look_up_and_a_name_is_one_word_of_few_passages() {
    let mut db = TestDb::new();
    db.add("/a.md", &["white matter", "the tide turns at git-lfs by sumofFactors"], &[]);
    for number in 0..6 {
        db.add(&format!("/{number}.md"), &[&format!("boat {number} of the harbour")], &[]);
    }
    let check = |typed: &str, missing: Option<&str>, is_name: bool| {
        let asked = queries(&[typed]);
        let (keywords, _) = look_up(&db.store, &asked, &TermStatistics::default(), None).unwrap();
        let rankings = Rankings {
            keywords,
            num_typed: Some(typed.split_whitespace().count()),
            first_wanted: asked[0].wanted.first().cloned(),
            ..rankings(&[], None)
        };
        let signals = rankings.signals(&[]);
        assert_eq!(rankings.missing_word().as_deref(), missing, "{typed}");
        assert_eq!(signals.keyword.is_some_and(|found| found.is_name), is_name, "{typed}");
    };
    check("tide", None, true);
    check("git-lfs", None, true);
    // Its parts are nowhere alone.
    check("sumofFactors", None, true);
    // Too many passages have it.
    check("harbour", None, false);
    check("tide harbour", None, false);
    check("zirconium", Some("zirconium"), false);
    check("zirconium harbour", Some("zirconium"), false);
    check("tide-harbour", Some("tide-harbour"), true);
    check("the boats and the zirconium of the harbour", None, false);
    check("a.md", None, true);
}
