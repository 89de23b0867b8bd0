//! Tests which lines of a passage are shown.

use super::*;

const PROSE: PassageRoom = PassageRoom { columns: 30, lines: 2, is_code: false };
const CODE: PassageRoom = PassageRoom { columns: 30, lines: 3, is_code: true };

/// Returns an excerpt as text with matches in brackets; a line before which others are left out is after an ellipsis.
fn shown(text: &str, query: &str, room: PassageRoom) -> String {
    let excerpt = excerpt(text, &["Guide", "Winter"], &QueryTerms::new(query), None, room);
    let piece = |span: &LineSpan| match span.is_match {
        true => format!("[{}]", span.text),
        false => span.text.clone(),
    };
    let line = |(number, spans): (usize, &Vec<LineSpan>)| {
        let before = if excerpt.cuts.contains(&number) { "…" } else { "" };
        before.to_owned() + &spans.iter().map(piece).collect::<String>()
    };
    excerpt.lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
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
    let found = [others[0], others[1], text, others[0], others[1]].map(|text| terms.find(text));
    let rare = terms.by_rarity(&found);
    assert!(shown(&rare).contains("Frost breaks"), "{}", shown(&rare));
}

#[test]
fn what_a_colon_announces_is_shown_with_it() {
    let text = "The rate of the port is set in a file. Write the rate so:\n\n```\nport_speed = 9600\n```\n\nThen wait.";
    assert_eq!(shown(text, "rate speed", PROSE), "…Write the [rate] so:\nport_[speed] = 9600…");
}

#[test]
fn a_sentence_that_announces_something_is_not_the_last_one_shown() {
    let text = "The disk of the camera is full now. These are your options:\n\n- delete\n- buy";
    assert_eq!(shown(text, "options", PROSE), "…These are your [options]:\n- delete…");
    let wide = PassageRoom { columns: 60, ..PROSE };
    assert_eq!(
        shown(text, "camera", PassageRoom { lines: 1, ..wide }),
        "The disk of the [camera] is full now. …"
    );
    assert_eq!(
        shown("The gauge is here.\n\n# Costs\n\nMoney.", "gauge", PROSE),
        "The [gauge] is here. …"
    );
}

const TABLE: &str = "Each phone is grey.\n\n| name | phone |\n| --- | --- |\n| Ana | 1 |\n| Ben | 2 |\n\
                     | Cleo | 3 |\n\nThe phone of the pier is out of order.";

#[test]
fn a_row_is_shown_below_the_head_of_its_table() {
    let room = PassageRoom { columns: 40, lines: 3, is_code: false };
    assert_eq!(
        shown(TABLE, "phone of Ben", room),
        "…| name | [phone] |\n…| [Ben] | 2 |\n| Cleo | 3 |…"
    );
    assert_eq!(
        shown(TABLE, "phone of Ana", room),
        "…| name | [phone] |\n| [Ana] | 1 |\n| Ben | 2 |…"
    );
    assert_eq!(shown(TABLE, "Cleo", room), "…| name | phone |\n…| [Cleo] | 3 |…");
    assert_eq!(shown(TABLE, "phone of Cleo", PassageRoom { lines: 1, ..room }), "…| [Cleo] | 3 |…");
    assert_eq!(
        shown("name | phone\n--- | ---\nAna | 1\nBen | 2", "phone of Ben", room),
        "name | [phone]\n…[Ben] | 2"
    );
}

#[test]
fn of_a_wide_head_the_part_with_words_of_the_query_is_shown() {
    let head: Vec<String> = (0..9).map(|number| format!("column{number}")).collect();
    let text =
        format!("| {} |\n|{}\n| Ana |{}", head.join(" | "), " - |".repeat(9), " 1 |".repeat(8));
    let text = text.replace(" - |", " --- |");
    let shown = shown(&text, "column7 of Ana", PROSE);
    assert!(shown.starts_with("| column6 | [column7]"), "{shown}");
    assert!(shown.contains("\n| [Ana] | 1"), "{shown}");
}

#[test]
fn yaml_and_logs_keep_their_lines() {
    let room = PassageRoom { columns: 40, lines: 2, is_code: false };
    let yaml = "gauge:\n  port: 80\nfloat:\n  port: 90\n  mode: slow";
    assert_eq!(shown(yaml, "port of the float", room), "…[float]:\n  [port]: 90…");
    let log = "12:00:01 INFO pier up\n12:00:02 WARN float stuck\n12:00:03 INFO pier down";
    assert_eq!(shown(log, "float", room), "12:00:01 INFO pier up\n12:00:02 WARN [float] stuck…");
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
        let room = PassageRoom { columns: 30, lines: 1, is_code: false };
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
        let line = |spans: &Vec<LineSpan>| spans.iter().map(|span| span.text.as_str()).collect();
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

// The room of an entry in the list of `kb find`.
#[test]
fn in_one_line_a_heading_gives_way_to_what_is_below_it() {
    let room = PassageRoom { columns: 40, lines: 1, is_code: false };
    let text = "My bike is green.\n\n## Tyres\n\nFront 4.5 bar, rear 5 bar.\n\n## Chain\n\nOil.";
    assert_eq!(shown(text, "tyres", room), "…Front 4.5 bar, rear 5 bar. …");
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
    let room = PassageRoom { columns: 20, lines: 1, is_code: false };
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
        let room = PassageRoom { columns, lines, is_code };
        let excerpt = excerpt(&text, &["a"], &QueryTerms::new(&query), cited, room);
        proptest::prop_assert!(excerpt.lines.len() <= lines);
        for line in excerpt.lines {
            let line: String = line.iter().map(|span| span.text.as_str()).collect();
            proptest::prop_assert!(width(&line) <= columns, "{:?}", line);
            proptest::prop_assert!(!line.contains(char::is_control));
        }
    }
}
