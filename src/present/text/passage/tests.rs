//! Tests which lines of a passage are shown.

use super::*;

const PROSE: Room = Room { columns: 30, lines: 2, is_code: false };
const CODE: Room = Room { columns: 30, lines: 3, is_code: true };

/// Returns an excerpt as text with matches in brackets, after an ellipsis if it is cut before.
fn shown(text: &str, query: &str, room: Room) -> String {
    let excerpt = excerpt(text, &["Guide", "Winter"], &QueryTerms::new(query), None, room);
    let piece = |span: &Span| match span.is_match {
        true => format!("[{}]", span.text),
        false => span.text.clone(),
    };
    let lines: Vec<String> =
        excerpt.lines.iter().map(|span| span.iter().map(piece).collect()).collect();
    let before = if excerpt.is_cut_before { "…" } else { "" };
    before.to_owned() + &lines.join("\n")
}

const TEXT: &str = "## Winter\n\nThe first sentence is of no interest. The second one is not \
    either, and it is long. Pour brine into the pipe. Then wait for a while until it is warm.";

#[test]
fn the_excerpt_has_the_words_of_the_query() {
    assert_eq!(
        shown(TEXT, "brine pipes", PROSE),
        "…Pour [brine] into the [pipe]. Then\nwait for a while until it is…"
    );
    assert_eq!(
        shown(TEXT, "warmth", PROSE),
        "The first sentence is of no\ninterest. The second one is…"
    );
}

#[test]
fn the_beginning_is_preferred_if_it_answers_equally_well() {
    assert_eq!(
        shown(TEXT, "first", PROSE),
        "The [first] sentence is of no\ninterest. The second one is…"
    );
    assert_eq!(shown("short", "other", PROSE), "short");
}

#[test]
fn a_passage_of_only_a_heading_is_shown() {
    assert_eq!(shown("## Winter", "winter", PROSE), "## [Winter]");
    assert_eq!(shown("", "winter", PROSE), "");
}

#[test]
fn lines_with_rare_words_are_preferred_to_those_with_many_common_ones() {
    let text =
        "The gauge and its float are in the well. It is cleaned in May. Frost breaks it at once.";
    let terms = QueryTerms::new("frost gauge float well");
    let others = ["gauge, float, well", "the float of a gauge in a well"];
    let shown = |terms: &QueryTerms| {
        let found = excerpt(text, &[], terms, None, PROSE);
        found.lines.iter().flatten().map(|span| span.text.as_str()).collect::<String>()
    };
    assert!(shown(&terms).starts_with("The gauge"));
    let rare = terms.by_rarity(others.into_iter().chain([text, others[0], others[1]]));
    assert!(shown(&rare).contains("Frost breaks"), "{}", shown(&rare));
}

#[test]
fn what_a_colon_announces_is_shown_with_it() {
    let text = "The rate of the port is set in a file. Write the rate so:\n\n```\nport_speed = 9600\n```\n\nThen wait.";
    assert_eq!(shown(text, "rate port", PROSE), "…Write the [rate] so:\n[port]_speed = 9600…");
}

#[test]
fn code_keeps_its_lines_and_their_indentation() {
    let code =
        "    def f(x):\n        a = 1\n        if x:\n            retry(a)\n        return a\n";
    assert_eq!(shown(code, "retry", CODE), "…if x:\n    [retry](a)\nreturn a");
    assert_eq!(shown(code, "nothing", CODE), "def f(x):\n    a = 1\n    if x:…");
    let long = format!("let first = \"{}\"; // retry", "x".repeat(60));
    assert_eq!(shown(&long, "first", CODE), format!("let [first] = \"{}…", "x".repeat(16)));
    assert!(shown(&long, "retry", CODE).contains("[retry]"));
}

#[test]
fn the_cited_line_is_shown() {
    let text =
        "The gauge and the float.\n\nOthers wait.\n\nThe gauge is cleaned.\nA float\nin May.";
    let shown = |cited| {
        let room = Room { columns: 30, lines: 1, is_code: false };
        let found = excerpt(text, &[], &QueryTerms::new("gauge float"), cited, room);
        found.lines.iter().flatten().map(|span| span.text.as_str()).collect::<String>()
    };
    assert!(shown(None).starts_with("The gauge and"));
    assert!(shown(Some(4)).contains("cleaned"), "{}", shown(Some(4)));
    assert!(shown(Some(5)).contains("float"), "{}", shown(Some(5)));
    assert!(shown(Some(99)).starts_with("The gauge and"));
}

#[test]
fn a_whole_passage_keeps_its_paragraphs_and_blank_lines() {
    let shown = |text: &str, is_code: bool| {
        let line = |spans: &Vec<Span>| spans.iter().map(|span| span.text.as_str()).collect();
        let lines = whole(text, &QueryTerms::new("pipe"), 20, is_code);
        lines.iter().map(line).collect::<Vec<String>>()
    };
    assert_eq!(
        shown("# Winter\n\nPour brine into\nthe pipe.\n- item\n\n\nEnd", false),
        ["# Winter", "", "Pour brine into the", "pipe.", "- item", "", "End"]
    );
    assert_eq!(shown("a:\n\n    b\n    c", true), ["a:", "", "    b", "    c"]);
    assert_eq!(shown("", false), [""; 0]);
}

#[test]
fn control_characters_are_not_shown() {
    assert_eq!(
        shown("a \u{1b}[31mred\u{7} herring", "red", PROSE),
        "a \u{fffd}[31mred\u{fffd} herring"
    );
    assert_eq!(shown("the red\u{1b}[0m herring", "red", PROSE), "the [red]\u{fffd}[0m herring");
}

#[test]
fn wide_characters_count_as_two_columns() {
    let room = Room { columns: 20, lines: 1, is_code: false };
    assert_eq!(
        shown("東京都は日本の首都である。大阪は違う。京都も違う。", "大阪", room),
        "…[大阪]は違う。京都も…"
    );
    assert_eq!(shown("cafe\u{301} au lait", "café", room), "[cafe\u{301}] au lait");
}

proptest::proptest! {
    #[test]
    fn every_line_fits(
        text in "(\\PC|\n|\t| ){0,200}", query in "\\PC{0,10}", columns in 20_usize..50,
        lines in 1_usize..5, is_code: bool, cited in proptest::option::of(0_usize..9),
    ) {
        let room = Room { columns, lines, is_code };
        let excerpt = excerpt(&text, &["a"], &QueryTerms::new(&query), cited, room);
        proptest::prop_assert!(excerpt.lines.len() <= lines);
        for line in excerpt.lines {
            let line: String = line.iter().map(|span| span.text.as_str()).collect();
            proptest::prop_assert!(width(&line) <= columns, "{:?}", line);
            proptest::prop_assert!(!line.contains(char::is_control));
        }
    }
}
