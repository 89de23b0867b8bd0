//! Checks what becomes of subtitles.

use crate::markup::testing::check;

#[test]
fn each_minute_has_a_heading_and_a_paragraph() {
    let text = "1\n00:00:01,000 --> 00:00:02,000\n<i>The float</i>\nrises.\n\n2\n00:00:59,000 --> 00:01:02,000\n{\\an8}It falls.\n\n3\n01:02:03,500 --> 01:02:05,000\nEnd.\n";
    let document = super::extract(text);
    check(
        super::extract,
        text,
        &["#### 00:00:00", "The float\nrises.\nIt falls.", "#### 01:02:00", "End."],
    );
    assert_eq!(document.title, None);
    assert_eq!(document.blocks[3].headings, ["01:02:00"]);
    assert_eq!(document.line_numbers, [2, 2, 3, 4, 8, 8, 11, 11, 12]);
}

#[test]
fn webvtt_names_speakers_once() {
    let text = "WEBVTT\n\nNOTE not this\n\n00:01.000 --> 00:02.000\n<v Ann>High\n\n00:02.000 --> 00:03.000\n<v Ann>water\n\n00:03.000 --> 00:04.000\n<v Bo>Low\n\n00:04.000 --> 00:05.000\n<v Bo>Low\n";
    check(super::extract, text, &["#### 00:00:00", "Ann: High\nwater\nBo: Low"]);
}
