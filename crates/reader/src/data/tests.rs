//! Checks where text data is cut.

use proptest::prelude::*;

use super::*;

/// Returns the header chain and the text of each block.
fn blocks(text: &str, kind: Data) -> Vec<(String, String)> {
    let document = extract(text, kind);
    let of_block = |block: &crate::document::Block| {
        (block.headings.join(" > "), document.text[block.bytes.clone()].to_owned())
    };
    document.blocks.iter().map(of_block).collect()
}

/// Checks the header chains, and how each block begins.
#[track_caller]
fn check(text: &str, kind: Data, expected: &[(&str, &str)]) {
    let found = blocks(text, kind);
    let is_same = |found: &(String, String), expected: &(&str, &str)| {
        found.0 == expected.0 && found.1.starts_with(expected.1)
    };
    let is_equal = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| is_same(found, expected));
    assert!(is_equal, "{found:#?}");
}

/// A text too long to share a block, and one too long to be whole.
fn long() -> String {
    "water ".repeat(50)
}

#[test]
fn short_members_share_a_block() {
    let text = "{\n  \"name\": \"tide\",\n  \"version\": 1\n}\n";
    check(text, Data::Json, &[("", text.trim_end())]);
    check("name: tide\nversion: 1\n", Data::Yaml, &[("", "name: tide\nversion: 1")]);
    check("name = 1\n[tide]\nb = 2\n", Data::Toml, &[("", "name = 1\n[tide]\nb = 2")]);
    check("<a><b>c</b></a>", Data::Xml, &[("", "<a><b>c</b></a>")]);
    check("one\n  more\ntwo\n", Data::Log, &[("", "one\n  more\ntwo")]);
}

#[test]
fn a_long_member_has_a_block_and_a_heading() {
    let long = long();
    let of_keys = |text: &str| text.replace("LONG", &long);
    check(
        &of_keys(
            "{\n  \"a\": 1,\n  \"notes\": \"LONG\",\n  \"more\": {\n    \"x\": \"LONG\",\n    \"y\": \"LONG LONG LONG LONG\"\n  }\n}",
        ),
        Data::Json,
        &[
            ("", "{\n  \"a\": 1,"),
            ("notes", "  \"notes\": \"water"),
            ("more > x", "  \"more\": {\n    \"x\""),
            ("more > y", "    \"y\""),
        ],
    );
    check(
        &of_keys(
            "a: 1\n# of the water\nnotes: |\n  LONG\n  b: LONG\nlist:\n- x: LONG\n  y: LONG\n- LONG: LONG\n  z: LONG\n",
        ),
        Data::Yaml,
        &[
            ("", "a: 1"),
            ("notes", "# of the water\nnotes: |\n  water"),
            ("list", "list:\n- x: water"),
            ("list", "- water"),
        ],
    );
    check(
        &of_keys(
            "a = 1\n\n# of the water\n[notes.deep]\nx = \"LONG\"\ny = '''\n[no]\nLONG'''\nz = [\n[1],\n'LONG',\n'LONG']\n[[b]]\nc = 'LONG'\n",
        ),
        Data::Toml,
        &[
            ("", "a = 1"),
            ("notes.deep > x", "# of the water\n[notes.deep]\nx"),
            ("notes.deep > y", "y = '''\n[no]"),
            ("notes.deep > z", "z = [\n[1]"),
            ("b", "[[b]]"),
        ],
    );
    check(
        &of_keys(
            "<?xml version='1.0'?>\n<!-- <no> -->\n<tides>\n  <gauge at='>'>LONG</gauge>\n  <gauge>LONG<b/></gauge>\n  <gauge>LONG LONG</gauge>\n</tides>",
        ),
        Data::Xml,
        &[
            ("", "<?xml version='1.0'?>\n<!-- <no> -->\n<tides>\n  <gauge at"),
            ("", "  <gauge>water"),
            ("", "  <gauge>water"),
        ],
    );
    check(
        &of_keys("10:00 LONG\n  at x: LONG\n10:01 LONG\n"),
        Data::Log,
        &[("", "10:00 water"), ("", "10:01 water")],
    );
}

#[test]
fn data_on_one_line_is_cut_between_records() {
    let records: Vec<String> =
        (0..100).map(|id| format!("{{\"id\":{id},\"text\":\"{}\"}}", long())).collect();
    let text = format!("{{\"gauges\":[{}]}}", records.join(","));
    let found = blocks(&text, Data::Json);
    assert_eq!(found.len(), 100);
    assert!(found[0].1.starts_with("{\"gauges\":[{\"id\":0,"));
    assert!(
        found[1..].iter().all(|(chain, text)| chain == "gauges" && text.starts_with("{\"id\""))
    );
    let lines = blocks(&records.join("\n"), Data::JsonLines);
    assert!(lines.len() == 100 && lines.iter().all(|(_, text)| text.starts_with("{\"id\"")));
}

#[test]
fn documents_in_one_yaml_file_are_separate() {
    let long = long();
    let text = format!("kind: a\ntext: {long}\n---\nkind: b\ntext: {long}\n");
    check(
        &text,
        Data::Yaml,
        &[("", "kind: a"), ("text", "text: "), ("", "---\nkind: b"), ("text", "text: ")],
    );
}

#[test]
fn anything_is_accepted() {
    for kind in Data::ALL {
        for text in
            ["", " \n", "}", "]]", "</a>", "\"", "{\"é", "<", "<!--", "- - -", "[", "= '''", "a: |"]
        {
            let found = blocks(text, kind);
            assert_eq!(found.len(), usize::from(!text.trim().is_empty()), "{kind:?} {text}");
        }
        let deep: String = "[<a>\n".repeat(5_000);
        assert!(!blocks(&deep, kind).is_empty(), "{kind:?}");
    }
}

proptest! {
    #[test]
    fn every_character_is_in_a_block(
        text in r#"([a-é \t{}\[\]<>/:,='"\\#|\-\n]|water water water|"k": |<a>|</a>|\n- |\n  x: ){0,400}"#,
    ) {
        for kind in Data::ALL {
            let document = extract(&text, kind);
            let mut end = 0;
            for block in &document.blocks {
                prop_assert!(block.bytes.start >= end && text.get(block.bytes.clone()).is_some());
                prop_assert!(text[end..block.bytes.start].trim().is_empty());
                end = block.bytes.end;
            }
            prop_assert!(text[end..].trim().is_empty());
        }
    }
}
