//! Tests how words without spaces are separated.

use super::*;
use crate::protocol::PageBlock;

/// Separates a text in which `|` marks narrow gaps.
#[track_caller]
fn check(text: &str, expected: &str) {
    let text = text.replace('|', &NARROW_GAP.to_string());
    let block = PageBlock::new(BlockKind::Paragraph, 0, text);
    let mut pages = [ExtractedPage { blocks: vec![block], ..ExtractedPage::default() }];
    separate(&mut pages);
    assert_eq!(pages[0].blocks[0].text, expected);
}

#[test]
fn words_that_occur_elsewhere_are_separated() {
    check("The tide turns. At noon the|tide|turns.", "The tide turns. At noon the tide turns.");
    check("Read it: it is on it. Read|it, now", "Read it: it is on it. Read it, now");
}

#[test]
fn real_words_stay_whole() {
    check("he went in to it in into in to to in|to", "he went in to it in into in to to into");
    check("V|ery W|e very We", "Very We very We");
    check("harbour|master", "harbourmaster");
    check("Packungs|beilage die Packung", "Packungsbeilage die Packung");
}

#[test]
fn parts_of_several_words_are_words() {
    check("the|tide the|ebb one|tide one|ebb to|ebb", "the tide the ebb one tide one ebb toebb");
}

#[test]
fn gaps_are_trusted_if_most_of_them_are_spaces() {
    let known = "low water high tide ebb flood noon moon ";
    let glued = "low|water high|tide ebb|flood noon|moon tide|flood ";
    check(
        &format!("{known}{glued}sluice|gate"),
        &format!("{known}{}sluice gate", glued.replace('|', " ")),
    );
    check(&format!("{known}sluice|gate"), &format!("{known}sluicegate"));
}

#[test]
fn words_without_gaps_are_separated_where_their_parts_are_neighbours() {
    check("Lesen Sie dies. Lesen Sie das. LesenSie!", "Lesen Sie dies. Lesen Sie das. Lesen Sie!");
    let pairs = "the harbour, the harbour. The harbour ebb flood ";
    let narrow = "the|ebb the|flood ebb|flood flood|ebb harbour|ebb ";
    check(
        &format!("{pairs}{narrow}theharbour"),
        &format!("{pairs}{}the harbour", narrow.replace('|', " ")),
    );
    for text in [
        "Java and Script, Script and Java: JavaScript",
        "may be may be may be maybe",
        "time stamp, time stamp, time stamp timestamp",
        "java script www.javascript.com x.javascript",
    ] {
        check(text, text);
    }
}

#[test]
fn glued_words_are_counted() {
    let text = "The tide. the|tide 12 sluice|gate".replace('|', &NARROW_GAP.to_string());
    let block = PageBlock::new(BlockKind::Paragraph, 0, text);
    let mut pages = [ExtractedPage { blocks: vec![block], ..ExtractedPage::default() }];
    assert_eq!(separate(&mut pages), SpacingCounts { num_words: 4, num_glued: 2 });
}
