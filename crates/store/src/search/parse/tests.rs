//! Tests which query a typed text becomes.

use super::pieces::is_prefix;
use super::*;

fn any_of(texts: &[String]) -> String {
    texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(" OR ")
}

#[track_caller]
fn check(typed: &str, wanted: &str, excluded: &str, passage: &str) {
    let query = parse(typed).unwrap();
    assert_eq!(any_of(&query.wanted), wanted);
    assert_eq!(any_of(&query.excluded), excluded);
    assert_eq!(query.passage, passage);
    assert_eq!(query.typed, typed);
}

#[test]
fn words_are_alternatives() {
    check("install git", r#""install" OR "git""#, "", "install git");
}

#[test]
fn function_words_are_left_out_where_others_remain() {
    check("How do I install it?", r#""install""#, "", "How do I install it?");
    check("to be or not", r#""to" OR "be" OR "or" OR "not""#, "", "to be or not");
    assert!(FUNCTION_WORDS.is_sorted());
}

#[test]
fn a_phrase_stays_together() {
    check(r#"git "to be" fix"#, r#""git" OR "to be" OR "fix""#, "", "git to be fix");
}

#[test]
fn a_phrase_in_quotes_is_required() {
    let check = |typed: &str, expected: &[&str]| {
        assert_eq!(parse(typed).unwrap().phrases, expected, "{typed}");
    };
    check(r#"git "to be" fix"#, &["to be"]);
    check(r#""2.30.2" "Helsinki" "2.30.2""#, &["2.30.2", "Helsinki"]);
    check(r#"" padded " "the" git"#, &[" padded ", "the"]);
    check(r#""東京都""#, &["東京都"]);
    // Ordinary text: no quotes, no letter or digit, one quote only, quotes inside a word, or excluded.
    check(r#"git "?!" "" it"s 5" -"first draft" "open end"#, &[]);
    let words = |num: usize| format!("\"{}\"", vec!["word"; num].join(" "));
    check(&words(MAX_PHRASE), &[words(MAX_PHRASE).trim_matches('"')]);
    check(&words(MAX_PHRASE + 1), &[]);
}

#[test]
fn quotes_of_programs_are_text() {
    let check = |typed: &str, phrases: &[&str], passage: &str| {
        let query = parse(typed).unwrap();
        assert_eq!(query.phrases, phrases, "{typed}");
        assert_eq!(query.passage, passage, "{typed}");
        assert!(query.excluded.is_empty() && query.prefixes.is_empty(), "{typed}");
    };
    check(r#"invalid key: "a b" in x"#, &[], "invalid key: a b in x");
    check(r#"level=error msg="no -f flag*" x"#, &[], "level=error msg= no -f flag* x");
    check(r#"open("a.txt", "rb")"#, &["rb"], r#"open( a.txt , rb )"#);
    check(r#"field ( "a" )"#, &[], "field ( a )");
    check(r#"{"error":"bad -v grant"}"#, &[], r#"{"error": bad -v grant }"#);
    // Two spaces, or another sign, are not what a program writes.
    check(r#"key=  "a b""#, &["a b"], "key= a b");
    // A message begins with who speaks.
    check(r#"curl: (60) no certificate for "host""#, &[], "curl: (60) no certificate for host");
    check(r#"relation "a b" does not exist"#, &["a b"], "relation a b does not exist");
    check(r#"5" disk, it"s"#, &[], r#"5" disk, it"s"#);
    check(r#"key: "open end"#, &[], r#"key: "open end"#);
    // Several lines were pasted.
    check("File \"/srv/a.py\", line 3\n  run(\"x\")", &[], "File /srv/a.py , line 3 run( x )");
    check("\n \"a b\" c\n", &["a b"], "a b c");
}

#[test]
fn without_its_quotes_a_query_keeps_its_exclusions() {
    let plain =
        parse(r#""frozen -well*" gauge -"first draft" -ice"#).unwrap().without_quotes().unwrap();
    assert_eq!(plain.wanted, ["frozen", "well", "gauge"]);
    assert!(plain.phrases.is_empty() && plain.prefixes.is_empty());
    assert_eq!(plain.excluded, ["first draft", "ice"]);
    assert_eq!(plain.passage, "frozen -well* gauge");
}

#[test]
fn a_phrase_and_nothing_else_is_known() {
    let check = |typed: &str, expected: bool| {
        assert_eq!(parse(typed).unwrap().is_one_phrase, expected, "{typed}");
    };
    check(r#""frozen well""#, true);
    check(r#" "frozen well"? -ice"#, true);
    check(r#""frozen well" the"#, false);
    check(r#""frozen" "well""#, false);
    check("frozen", false);
}

#[test]
fn as_many_phrases_are_required_as_are_used_as_keywords() {
    let typed: Vec<String> = (0..300).map(|number| format!("\"word {number}\"")).collect();
    let query = parse(&typed.join(" ")).unwrap();
    assert!(query.is_cut);
    assert_eq!(query.phrases, query.wanted);
    assert_eq!(query.phrases.len(), limits::QUERY_TERMS);
}

#[test]
fn a_compound_word_is_searched_by_its_parts() {
    check("git-lfs", r#""git" OR "lfs""#, "", "git-lfs");
    check("I/O f(x)", r#""I O" OR "f x""#, "", "I/O f(x)");
    check(
        "don't x86_64 1.0.2",
        r#""don" OR "x86" OR "64" OR "1" OR "0" OR "2""#,
        "",
        "don't x86_64 1.0.2",
    );
}

#[test]
fn scripts_without_spaces_are_searched_by_pairs_and_letters() {
    check("東京都?", r#""東京" OR "京都" OR "東" OR "京" OR "都""#, "", "東京都?");
    check("GPU加速", r#""GPU" OR "加速" OR "加" OR "速""#, "", "GPU加速");
    check(r#""東京都" 水"#, r#""東京都" OR "水""#, "", "東京都 水");
}

#[test]
fn marks_belong_to_their_letters() {
    check(
        "re\u{301}sume\u{301} -cafe\u{301}",
        "\"re\u{301}sume\u{301}\"",
        "\"cafe\u{301}\"",
        "re\u{301}sume\u{301}",
    );
    check("प्रश्न और उत्तर", r#""प्रश्न" OR "और" OR "उत्तर""#, "", "प्रश्न और उत्तर");
    assert_eq!(parse("nai\u{308}v*").unwrap().prefixes, ["nai\u{308}v"]);
}

#[test]
fn a_leading_minus_excludes() {
    check(r#"git -svn -"bare repo""#, r#""git""#, r#""svn" OR "bare repo""#, "git");
}

#[test]
fn program_names_match_however_they_are_written() {
    let query = |typed: &str| parse(typed).unwrap();
    check(
        "parseHttpRequest",
        r#""parse" OR "http" OR "request" OR "parseHttpRequest""#,
        "",
        "parseHttpRequest",
    );
    assert!(query("parse_http_request").joined.contains(&"parsehttprequest".to_owned()));
    assert!(query("how to parse http request").joined.contains(&"parsehttprequest".to_owned()));
    assert_eq!(query("file name of the day").joined, ["filename"]);
    assert!(query(r#""file name" 東京 都"#).joined.is_empty());
    assert_eq!(query("HTTPServerError").wanted, ["http", "server", "error", "HTTPServerError"]);
    assert_eq!(
        query("GitHub JavaScript iPhone").wanted,
        ["GitHub", "JavaScript", "phone", "iPhone"]
    );
}

#[test]
fn a_trailing_star_makes_a_prefix() {
    let prefixes = |typed: &str| parse(typed).unwrap().prefixes;
    assert_eq!(prefixes("config* file"), ["config"]);
    assert!(prefixes(r#"a* ** a*b "config*" 東京* **bold**"#).is_empty());
    check("config* file -temp* -cache", r#""file""#, r#""temp*" OR "cache""#, "config file");
    check("the config*", "", "", "the config");
}

#[test]
fn an_option_with_two_dashes_is_a_word() {
    check("git commit --amend", r#""git" OR "commit" OR "amend""#, "", "git commit --amend");
}

#[test]
fn exclusions_alone_are_refused() {
    for typed in ["-bread", "-bread -bake*", r#"-"first draft""#, "-v ?"] {
        assert!(matches!(parse(typed), Err(Error::OnlyExclusions)), "{typed}");
    }
    // A phrase and an option with two dashes are looked for.
    for typed in [r#""-v""#, "--verbose", "- v", "🍞 -bread"] {
        assert!(parse(typed).is_ok(), "{typed}");
    }
}

#[test]
fn special_characters_are_text() {
    check("C++ what? a*b x:y2 (z", r#""C" OR "a b" OR "y2" OR "z""#, "", "C++ what? a*b x:y2 (z");
    check(r#"say "unbalanced"#, r#""say" OR "unbalanced""#, "", r#"say "unbalanced"#);
    check("NEAR AND OR NOT", r#""NEAR""#, "", "NEAR AND OR NOT");
}

#[test]
fn punctuation_alone_is_left_to_the_vector_leg() {
    check("?!? -- \"\"", "", "", "?!? -- \"\"");
}

#[test]
fn a_repeated_word_counts_once() {
    check("git git", r#""git""#, "", "git git");
}

#[test]
fn an_empty_query_is_refused() {
    assert!(matches!(parse(" \t\n"), Err(Error::EmptyQuery)));
}

#[test]
fn a_long_query_is_searched_by_its_first_words() {
    let words = |count: usize| {
        let words: Vec<String> = (0..count).map(|number| format!("w{number}x")).collect();
        words.join(" ")
    };
    let query = parse(&words(limits::QUERY_TERMS)).unwrap();
    assert_eq!((query.wanted.len(), query.is_cut), (limits::QUERY_TERMS, false));
    let typed = words(16_000);
    let query = parse(&typed).unwrap();
    assert_eq!((query.wanted.len(), query.is_cut), (limits::QUERY_TERMS, true));
    assert!(query.joined.len() <= limits::QUERY_TERMS);
    // The vector leg gets the whole text.
    assert_eq!(query.passage, typed);
    let query = parse(&words(16_000).replace('x', "*")).unwrap();
    assert_eq!((query.prefixes.len(), query.is_cut), (limits::QUERY_PREFIXES, true));
}

#[test]
fn a_query_that_asks_for_too_much_is_refused() {
    let is_refused = |typed: String| matches!(parse(&typed), Err(Error::Usage { .. }));
    assert!(is_refused("x ".repeat(limits::QUERY_BYTES)));
    assert!(is_refused(format!("tide {}", "-x ".repeat(limits::QUERY_EXCLUSIONS + 1))));
    assert!(!is_refused(format!("tide {}", "-x ".repeat(limits::QUERY_EXCLUSIONS))));
    assert!(is_refused(format!("tide -\"{}\"", "x ".repeat(100))));
    // A long text in quotes is searched by its words.
    let query = parse(&format!("\"{}gauge\"", "tide ".repeat(100))).unwrap();
    assert_eq!(query.wanted, ["tide", "gauge"]);
}

proptest::proptest! {
    #[test]
    fn no_input_panics(typed in "\\PC{0,60}") {
        if let Ok(query) = parse(&typed) {
            proptest::prop_assert!(query.prefixes.iter().all(|prefix| is_prefix(prefix)));
        }
    }
}
