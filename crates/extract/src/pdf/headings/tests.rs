//! Tests how headings are assigned, with and without bookmarks.

use super::*;
use crate::protocol::PageBlock;

/// Creates pages; `#` and `##` mark headings found by the reader.
fn pages(texts: &[&[&str]]) -> Vec<ExtractedPage> {
    let block = |text: &&str| {
        let words = text.trim_start_matches('#');
        let level = u8::try_from(text.len() - words.len()).unwrap();
        let kind = if level > 0 { BlockKind::Heading } else { BlockKind::Paragraph };
        PageBlock::new(kind, level, words.trim())
    };
    let page = |(number, texts): (u32, &&[&str])| ExtractedPage {
        number,
        blocks: texts.iter().map(block).collect(),
        ..ExtractedPage::default()
    };
    (1..).zip(texts).map(page).collect()
}

fn entry(title: &str, level: u8, page: u32) -> OutlineEntry {
    OutlineEntry { title: title.into(), level, page: (page > 0).then_some(page) }
}

#[track_caller]
fn check(texts: &[&[&str]], outline: &[OutlineEntry], title: Option<&str>, expected: &[&str]) {
    let mut pages = pages(texts);
    let chains = assign(&mut pages, outline, title);
    let chains: Vec<String> = chains.iter().map(|chain| chain.join(" > ")).collect();
    assert_eq!(chains, expected);
}

#[test]
fn headings_nest_by_level() {
    check(
        &[&["a", "# One", "b", "## Two", "c"], &["d", "# Three", "e"]],
        &[],
        None,
        &["", "One", "One", "One > Two", "One > Two", "One > Two", "Three", "Three"],
    );
}

#[test]
fn the_title_is_not_in_any_chain() {
    check(
        &[&["# The  Tides", "a", "## One", "b"]],
        &[],
        Some("The tides"),
        &["", "", "One", "One"],
    );
}

#[test]
fn numbers_override_sizes() {
    check(
        &[&["## 1 One", "### 1.1 Two", "# 1.2 Three", "## References"]],
        &[],
        None,
        &["1 One", "1 One > 1.1 Two", "1 One > 1.2 Three", "References"],
    );
}

#[test]
fn implausible_headings_are_text() {
    let long = format!("# {}", "word ".repeat(17));
    let lines = [
        "# 12",
        "# One ...... 3",
        "# and so,",
        "# (unaudited)",
        "# 1,234 5,678 a b",
        "# All except one https://tides.example/ebb",
        "# tides.example/ebb)",
        long.as_str(),
    ];
    check(&[&lines], &[], None, &[""; 8]);
    let mut pages = pages(&[&lines]);
    assign(&mut pages, &[], None);
    assert!(pages[0].blocks.iter().all(|block| block.kind == BlockKind::Paragraph));
}

#[test]
fn an_outline_found_in_the_text_overrides_the_reader() {
    let outline = [entry("One", 1, 1), entry("Two", 2, 1), entry("Three", 1, 2)];
    check(
        &[&["1. ONE", "a", "# Noise", "two", "b"], &["c", "3 Three", "d"]],
        &outline,
        None,
        &["One", "One", "One", "One > Two", "One > Two", "One > Two", "Three", "Three"],
    );
}

#[test]
fn bookmarks_find_the_headings_of_appendices() {
    let names = ["Tides", "Gauges", "Floats", "Charts", "Winds"];
    let outline = names.map(|name| entry(name, 1, 1));
    check(
        &[&["Appendix B: Tides", "a", "B.1 Gauges", "b", "B.2. Floats", "IV. Charts", "Winds"]],
        &outline,
        None,
        &["Tides", "Tides", "Gauges", "Gauges", "Floats", "Charts", "Winds"],
    );
    // The number may be in the bookmark only.
    let outline = [entry("A.1 Tides", 1, 1), entry("A.2 Floats", 1, 1), entry("B Winds", 1, 1)];
    check(
        &[&["Tides", "a", "Floats", "Appendix B Winds"]],
        &outline,
        None,
        &["A.1 Tides", "A.1 Tides", "A.2 Floats", "B Winds"],
    );
}

#[test]
fn a_heading_is_preferred_to_a_list_item_with_the_words_of_a_bookmark() {
    let outline = [entry("Tides", 1, 1), entry("Gauges", 2, 1), entry("Floats", 2, 1)];
    check(
        &[&["# 1 Tides", "Gauges", "## 1.1 Gauges", "a", "## 1.2 Floats"]],
        &outline,
        None,
        &["Tides", "Tides", "Tides > Gauges", "Tides > Gauges", "Tides > Floats"],
    );
}

#[test]
fn headings_that_look_like_those_with_bookmarks_need_none() {
    let outline = ["One", "Two", "Three"].map(|name| entry(name, 2, 1));
    let texts: &[&[&str]] = &[&["# Tides", "## One", "## Two", "## Three", "## Four", "# Noise"]];
    let names = ["", "One", "Two", "Three", "Four", "Four"];
    check(texts, &outline, Some("Tides"), &names);
    let mut marked = pages(texts);
    assign(&mut marked, &outline, Some("Tides"));
    let kinds: Vec<bool> =
        marked[0].blocks.iter().map(|block| block.kind == BlockKind::Heading).collect();
    assert_eq!(kinds, [true, true, true, true, true, false]);
}

#[test]
fn a_bookmark_without_words_on_its_page_starts_with_the_page() {
    let outline =
        [entry("One", 1, 1), entry("Two", 1, 2), entry("Three", 1, 3), entry("Four", 1, 4)];
    check(
        &[&["One", "a"], &["b"], &["Three"], &["Four"]],
        &outline,
        None,
        &["One", "One", "Two", "Three", "Four"],
    );
}

#[test]
fn bookmarks_without_pages_are_searched_in_order() {
    let outline = [entry("One", 1, 0), entry("Two", 1, 0), entry("One", 1, 0)];
    check(&[&["One", "a", "Two"], &["One"]], &outline, None, &["One", "One", "Two", "One"]);
}

#[test]
fn bookmarks_do_not_lead_to_the_table_of_contents() {
    let outline = [entry("One", 1, 0), entry("Two", 1, 0), entry("Three", 1, 0)];
    check(
        &[&["One", "Two", "Three"], &["# One", "# Two"], &["three"]],
        &outline,
        None,
        &["", "", "", "One", "Two", "Three"],
    );
}

#[test]
fn titles_joined_with_their_text_are_split_off() {
    let texts: &[&[&str]] =
        &[&["2 Gauges 2.1 Float(s) The float lags.", "3 Tides 12 are", "# 3 Tides", "a"]];
    let outline = [entry("2 Gauges", 1, 0), entry("2.1 Float(s)", 2, 0), entry("3 Tides", 1, 0)];
    let mut split = pages(texts);
    assign(&mut split, &outline, None);
    let split: Vec<&str> = split[0].blocks.iter().map(|block| block.text.as_str()).collect();
    let lag = "The float lags.";
    assert_eq!(split, ["2 Gauges", "2.1 Float(s)", lag, "3 Tides 12 are", "3 Tides", "a"]);
    check(
        texts,
        &outline,
        None,
        &[
            "2 Gauges",
            "2 Gauges > 2.1 Float(s)",
            "2 Gauges > 2.1 Float(s)",
            "2 Gauges > 2.1 Float(s)",
            "3 Tides",
            "3 Tides",
        ],
    );
}

#[test]
fn one_wrong_match_does_not_affect_the_others() {
    let names = ["One", "Notes", "Two", "Three"];
    let outline = names.map(|name| entry(name, 1, 0));
    check(
        &[&["One", "a", "Two", "Three"], &["Notes"]],
        &outline,
        None,
        &["One", "One", "Two", "Three", "Three"],
    );
}

#[test]
fn an_outline_not_found_in_the_text_is_ignored() {
    let outline = [entry("page1", 1, 1), entry("page2", 1, 1), entry("page3", 1, 2)];
    check(&[&["# One", "a"], &["b"]], &outline, None, &["One", "One", "One"]);
}

#[test]
fn chinese_sentences_are_no_headings() {
    assert!(is_plausible(
        "\u{7B2C}\u{4E03}\u{7AE0} \u{4F01}\u{4E1A}\u{8D44}\u{4FE1}\u{72B6}\u{51B5}"
    ));
    assert!(!is_plausible("\u{672C}\u{6B21}\u{53D1}\u{884C}\u{672A}\u{8BC4}\u{7EA7}\u{3002}"));
    let long = "\u{8DEF}\u{6BB5}\u{7684}\u{4EA4}\u{901A}\u{91CF}".repeat(3);
    assert!(is_plausible(&long));
    assert!(!is_plausible(&format!("{long}\u{FF0C}{long}")));
}

#[test]
fn options_and_escapes_are_no_headings() {
    for text in [
        "-A, --almost-all",
        "\u{2212}H, \u{2212}\u{2212}dereference",
        "\\UHHHHHHHH",
        "\u{2010}\u{2010}help",
    ] {
        assert!(!is_plausible(text), "{text}");
    }
    for text in ["\u{2013} Preface", "- Results", "Almost-all tides", "Searching --all"] {
        assert!(is_plausible(text), "{text}");
    }
}
