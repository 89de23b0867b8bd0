//! Checks where text data is cut.

use proptest::prelude::*;

use super::*;
use crate::document::Chunk;
use crate::extract::chunk::{ChunkOptions, Strategy as Splitting, chunk};

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
            let text = &document.text;
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

/// Checks the text of the only block and the line of the file of each of its lines, which are counted if there are none.
#[track_caller]
fn check_text(text: &str, kind: Data, expected: &str, lines: &[u32]) {
    let document = extract(text, kind);
    assert_eq!(document.text, expected, "{:?}", document.blocks);
    assert_eq!(document.line_numbers, lines);
}

#[test]
fn escapes_in_strings_are_letters() {
    let json = r#"{"titel": "Gr\u00f6\u00dfe", "pfad": "C:\\Meer\/x", "\u00e4": "\q"}"#;
    check_text(json, Data::Json, r#"{"titel": "Größe", "pfad": "C:\Meer/x", "ä": "\q"}"#, &[]);
    check_text(
        "// \"\\u00f6\"\n{\"a\": 1, /* \"\\u00f6 */ \"b\": \"\\u00f6\"}\n",
        Data::Json,
        "// \"\\u00f6\"\n{\"a\": 1, /* \"\\u00f6 */ \"b\": \"ö\"}\n",
        &[],
    );
    check_text(
        "a = \"Gr\\u00f6\\U000000dfe\" # \"\\u00f6\"\nb = 'C:\\users'\nc = '''\n\\u00f6'''\nd = \"\"\"\nM\\u00f6\\\n  we \"\\u00e4\" \\\"\"\"\"\n",
        Data::Toml,
        "a = \"Größe\" # \"\\u00f6\"\nb = 'C:\\users'\nc = '''\n\\u00f6'''\nd = \"\"\"\nMö\n  we \"ä\" \"\"\"\"\n",
        &[],
    );
    check_text(
        "<a t='&#228;&quot;'>&#xF6;&ouml; &amp;amp; &x; &#0;<![CDATA[&#246;]]><!--&#246;--></a>",
        Data::Xml,
        "<a t='ä\"'>öö &amp; &x; \u{fffd}<![CDATA[&#246;]]><!--&#246;--></a>",
        &[],
    );
    check_text("10:00 \"\\u00f6\"", Data::Log, "10:00 \"\\u00f6\"", &[]);
}

#[test]
fn only_quoted_strings_of_yaml_have_escapes() {
    check_text(
        "titel: \"Gr\\xF6\\u00dfe\"\npfad: C:\\n\\u00f6\nrein: 'it''s \\u00f6'\n\"\\u00e4\": !!str \"\\U0001F41F\" # \"\\n\n",
        Data::Yaml,
        "titel: \"Größe\"\npfad: C:\\n\\u00f6\nrein: 'it's \\u00f6'\n\"ä\": !!str \"🐟\" # \"\\n\n",
        &[],
    );
    check_text(
        "- \"\\u00e4\"\n- k: \"\\u00f6\"\n  z: 5\" \\u00f6\n- [a, \"\\u00fc\", {\"b\":\"\\u00df\"}]\n- - \"\\x41\"\n- text: |\n    \"\\u00f6\"\n- >-\n  \"\\u00f6\"\n- \"\\u00f6\"\n",
        Data::Yaml,
        "- \"ä\"\n- k: \"ö\"\n  z: 5\" \\u00f6\n- [a, \"ü\", {\"b\":\"ß\"}]\n- - \"A\"\n- text: |\n    \"\\u00f6\"\n- >-\n  \"\\u00f6\"\n- \"ö\"\n",
        &[],
    );
    // As PyYAML folds long strings; one that does not end leaves the next key alone.
    check_text(
        "a: \"Gr\\xF6\\xDFe der\\\n  \\ M\\xF6we\"\nb: \"offen \\xF6\nc: \\xF6 \"x\"\nd: \"\\xF6\"",
        Data::Yaml,
        "a: \"Größe der\n   Möwe\"\nb: \"offen ö\nc: \\xF6 \"x\"\nd: \"ö\"",
        &[],
    );
}

#[test]
fn a_line_end_in_a_string_is_a_line_of_the_same_line_of_the_file() {
    check_text(
        "{\n \"a\": \"eins\\nzwei\\r\\ndrei\",\n \"b\": \"x\\n\"\n}\n",
        Data::Json,
        "{\n \"a\": \"eins\nzwei\ndrei\",\n \"b\": \"x\n\"\n}\n",
        &[1, 2, 2, 2, 3, 3, 4, 4],
    );
    check_text("a: \"eins\\nzwei\"\nb: 1", Data::Yaml, "a: \"eins\nzwei\"\nb: 1", &[1, 1, 2]);
}

#[test]
fn what_an_escape_stands_for_makes_no_structure() {
    let long = long().repeat(4);
    let inner = r##"\"},{\"no\": {\"x\": \"# Title\n```\n| a |\n"##;
    let text = format!(r#"{{"a": "{inner}{long}", "\u00e4\n": "{long}"}}"#);
    let found = blocks(&text, Data::Json);
    let chains: Vec<&str> = found.iter().map(|(chain, _)| chain.as_str()).collect();
    assert_eq!(chains, ["a", "ä"]);
    assert!(
        found[0].1.starts_with("{\"a\": \"\"},{\"no\"") && found[1].1.starts_with("\"ä\n\": \"")
    );
    assert_eq!(extract(&text, Data::Json).title, None);
    let text = format!("<a>\n<b>&lt;c&gt;{long}</b>\n<b>{long}&lt;/b&gt;</b>\n</a>");
    check(&text, Data::Xml, &[("", "<a>\n<b><c>water"), ("", "<b>water")]);
}

#[test]
fn entities_that_a_document_defines_are_not_expanded() {
    let text =
        "<!DOCTYPE a [<!ENTITY b \"&#246;\"><!ENTITY ouml \"x\">]><a>&b;&ouml;&#246;&lt;</a>";
    let expected = "<!DOCTYPE a [<!ENTITY b \"&#246;\"><!ENTITY ouml \"x\">]><a>&b;&ouml;ö<</a>";
    check_text(text, Data::Xml, expected, &[]);
}

/// Returns a text as the strings of a format have it in double quotes, in ASCII alone.
fn escaped(text: &str, kind: Data) -> String {
    let of_letter = |letter: char| match letter {
        '\n' => "\\n".to_owned(),
        '"' | '\\' => format!("\\{letter}"),
        ' '..='~' => letter.to_string(),
        _ if kind == Data::Yaml && letter <= '\u{ff}' => format!("\\x{:02X}", u32::from(letter)),
        _ if kind == Data::Yaml => format!("\\U{:08x}", u32::from(letter)),
        _ => letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    text.chars().map(of_letter).collect()
}

/// Writes members as a file of a format; those of JSON are on one line if `is_dense`, long strings of YAML are folded.
fn file_of(members: &[(String, String)], kind: Data, is_dense: bool) -> String {
    let quoted = |text: &str| format!("\"{}\"", escaped(text, kind));
    if kind == Data::Yaml {
        let fold = if is_dense { "\\\n    \\ " } else { " " };
        let member = |(key, value): &(String, String)| {
            format!("{}: {}\n", quoted(key), quoted(value).replace(' ', fold))
        };
        return members.iter().map(member).collect();
    }
    let end = if is_dense { "," } else { ",\n  " };
    let member = |(key, value): &(String, String)| format!("{}: {}", quoted(key), quoted(value));
    format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(end))
}

/// Returns the words of a text that are cited at a line of the file which does not have them.
fn wrongly_cited(file: &str, chunks: &[Chunk], kind: Data) -> Vec<String> {
    let lines: Vec<&str> = file.split('\n').collect();
    let mut wrong = Vec::new();
    for chunk in chunks {
        let file_lines = chunk.file_lines().expect("data has lines");
        let num_lines = chunk.text.split('\n').count();
        for (number, line) in chunk.text.split('\n').enumerate() {
            let cited = file_lines.line(number, num_lines).unwrap_or(0) as usize;
            let in_file = cited.checked_sub(1).and_then(|at| lines.get(at)).unwrap_or(&"");
            let words = line.split(|letter: char| !letter.is_alphanumeric());
            let is_there = |word: &&str| in_file.contains(&escaped(word, kind));
            wrong.extend(
                words.filter(|word| !is_there(word)).map(|word| format!("{cited}: {word}")),
            );
        }
    }
    wrong
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_cited_line_has_the_words(
        members in prop::collection::vec(
            ("[a-zäß]{1,6}[0-9]{1,3}", "([a-zäößжλ日🐟\"\\\\#|`]{1,9}[ \n]){0,60}"),
            1..12,
        ),
        is_dense in any::<bool>(),
        max_tokens in 8_usize..80,
    ) {
        let options = ChunkOptions {
            strategy: Splitting::Structure,
            max_tokens,
            min_tokens: 5,
            overlap_tokens: 0,
            model_tokens: 200,
            reserved_tokens: 2,
            include_context: true,
        };
        for kind in [Data::Json, Data::Yaml] {
            let file = file_of(&members, kind, is_dense);
            let document = extract(&file, kind);
            let chunks = chunk(&document, "", &|text| text.split_whitespace().count(), &options);
            prop_assert_eq!(wrongly_cited(&file, &chunks, kind), Vec::<String>::new());
            let text = chunks.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>().join(" ");
            for word in members.iter().flat_map(|(_, value)| value.split_whitespace()) {
                prop_assert!(text.contains(word), "{}", word);
            }
        }
    }
}

/// A file of a quarter of a megabyte is read in far less time than one that takes quadratic time would need.
#[test]
fn nothing_takes_quadratic_time() {
    const LEN: usize = 1 << 18;
    const MOST: std::time::Duration = std::time::Duration::from_secs(5);
    for piece in [
        "\"",
        "\\",
        "{",
        "[",
        "{\"a\":",
        "[\n",
        "{\n",
        "{\"messages\":[",
        "[{\"mapping\":{\"a\":",
        "\"\\n\",",
        "a: \"\n",
        "- \"\\\n",
        "''",
        "a: |\n",
        "\"\"\"",
        "&",
        "&#",
        "<!DOCTYPE>",
        "<!DOCTYPE [",
        "<![CDATA[",
        "<rss>",
        "<rss><item><title>",
        "<rss><item>",
        "{\"role\":\"user\",\"content\":[\n",
        "[{\"type\":\"message\",\"ts\":1,\"text\":\"<",
    ] {
        let text = piece.repeat(LEN / piece.len());
        for kind in Data::ALL {
            let start = std::time::Instant::now();
            let _ = extract(&text, kind);
            let time = start.elapsed();
            assert!(time < MOST, "{piece} as {kind:?}: {time:?}");
        }
    }
}
