//! Recognises source code and JSON that programs have written for programs, by what is in the file: bundles, minified
//! styles, indexes for a search in the browser, tables of numbers. A file that holds enough text for people never is.
//!
//! This rule does not concern web pages: their reader drops scripts and data anyway.

use crate::document::{Data, Format};

/// Smaller files yield few passages, whether a person or a program wrote them.
const MIN_BYTES: usize = 4000;

/// Lines of at least this many bytes are not written by hand.
const LONG_LINE: usize = 1000;

/// The share of a file that must be in such lines. A source file may have one long literal.
const LONG_SHARE: f64 = 0.5;

/// Other lines of source code are longer on average only where a program broke them. The average is at most 80 in each
/// of 2,000 sources written by hand.
const MAX_AVERAGE: usize = 100;

/// The least share of text for people that makes a file worth reading. Bundles and indexes have at most 0.07, and JSON
/// of messages, articles or people at least 0.37.
const TEXT_SHARE: f64 = 0.15;

/// How many words in a row are text for people. In source code, two are a keyword and a name; in JSON, which has no
/// keywords, a person's name.
const WORDS_OF_CODE: usize = 3;
const WORDS_OF_DATA: usize = 2;

/// This many consecutive bytes of letters outside ASCII are text, too (four ideographs), as not all
/// scripts have spaces.
const WIDE_BYTES: usize = 12;

/// The longest separator of two words, such as `), "`.
const MAX_SEPARATOR: usize = 4;

/// Whether a program has written the content of a file for programs. The beginning of a file is enough to ask about.
pub fn is_bundle(format: Format, content: &[u8]) -> bool {
    let (num_words, has_average) = match format {
        Format::Code(_) => (WORDS_OF_CODE, true),
        // Records of JSON Lines are long lines, and JSON is often written without line breaks.
        Format::Data(Data::Json) => (WORDS_OF_DATA, false),
        _ => return false,
    };
    if content.len() < MIN_BYTES {
        return false;
    }
    let (mut num_lines, mut in_lines, mut in_long_lines) = (0, 0, 0);
    for line in content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if line.len() >= LONG_LINE {
            in_long_lines += line.len();
        } else {
            num_lines += usize::from(!line.is_empty());
            in_lines += line.len();
        }
    }
    let num_bytes = in_lines + in_long_lines;
    let is_long = share(in_long_lines, num_bytes) >= LONG_SHARE;
    let is_wide = has_average && in_lines > num_lines * MAX_AVERAGE;
    (is_long || is_wide) && share(num_bytes_of_text(content, num_words), num_bytes) < TEXT_SHARE
}

/// Counts the bytes in runs of at least `num_words` words, which are letters with a space between them.
fn num_bytes_of_text(content: &[u8], num_words: usize) -> usize {
    let (mut total, mut run_bytes, mut run_words, mut at) = (0, 0, 0, 0);
    while at < content.len() {
        let word = length(&content[at..], is_letter);
        let separator = length(&content[at + word..], |byte| !is_letter(byte));
        let between = &content[at + word..at + word + separator];
        if word > 0 {
            run_words += 1;
            run_bytes += word;
        }
        let is_wide = word >= WIDE_BYTES && !content[at..at + word].is_ascii();
        let goes_on = separator <= MAX_SEPARATOR && between.contains(&b' ') && is_plain(between);
        if !goes_on || at + word + separator == content.len() {
            if run_words >= num_words || is_wide {
                total += run_bytes;
            }
            (run_bytes, run_words) = (0, 0);
        } else {
            run_bytes += separator;
        }
        at += word + separator;
    }
    total
}

/// Whether a separator may be between two words of a sentence.
fn is_plain(separator: &[u8]) -> bool {
    separator.iter().all(|byte| b" ,.;:!?()'\"-".contains(byte))
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

fn length(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !belongs(*byte)).unwrap_or(bytes.len())
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { to_f64(part) / to_f64(whole) }
}

fn to_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Language;

    const SCRIPT: Format = Format::Code(Language::JavaScript);
    const JSON: Format = Format::Data(Data::Json);

    #[track_caller]
    fn check(format: Format, content: &str, expected: bool) {
        assert_eq!(is_bundle(format, content.as_bytes()), expected, "{}", &content[..80]);
    }

    #[test]
    fn code_in_one_line_is_generated() {
        let minified = "function a(e,t){return e.b&&t.c?e.b(t):new d(e,t)}".repeat(200);
        check(SCRIPT, &minified, true);
        check(SCRIPT, &format!("// A chart.\n// By hand.\n{minified}"), true);
        check(Format::Code(Language::Css), &".a{color:#fff;margin:0 auto}".repeat(300), true);
        check(SCRIPT, &minified[..MIN_BYTES - 1], false);
    }

    #[test]
    fn code_in_lines_of_a_bundler_is_generated() {
        let line = format!("{}\n", "var a=b(c),d=e?f:g;h.i(j);".repeat(10));
        check(SCRIPT, &line.repeat(40), true);
    }

    #[test]
    fn code_by_hand_with_a_long_literal_is_not() {
        let line = "    const total = rows.reduce((sum, row) => sum + row.amount, 0);\n";
        check(SCRIPT, &line.repeat(100), false);
        check(
            SCRIPT,
            &format!("{}const font = '{}';\n", line.repeat(100), "QUJD".repeat(1000)),
            false,
        );
    }

    #[test]
    fn comments_in_long_lines_are_text() {
        let line = "# The gauge is read at noon, and the level of the water goes into the book by hand, because the \
            station has no line. ";
        check(
            Format::Code(Language::Python),
            &format!("{}\nx = 1\n", line.repeat(9)).repeat(9),
            false,
        );
    }

    #[test]
    fn an_index_for_browsers_is_generated_and_data_for_people_is_not() {
        let index =
            r#"{"terms":{"anchor":[1,5,9],"zephyr":12},"docnames":["a/index"],"n":[0,1,2,3]},"#;
        check(JSON, &index.repeat(100), true);
        check(JSON, &r#"{"lon":9.9937,"lat":53.5511,"id":"a0f3"},"#.repeat(200), true);
        let message =
            r#"{"role":"user","content":"When does the ferry leave on Sunday?","at":1716200000},"#;
        check(JSON, &message.repeat(100), false);
        check(JSON, &r#"{"name":"Maren Voss","city":"Bad Segeberg","n":4},"#.repeat(100), false);
        check(JSON, &r#"{"t":"渡し船は日曜日の朝八時に出ます","n":4},"#.repeat(100), false);
        check(JSON, &"{\n  \"version\": 3,\n  \"id\": 12\n}\n".repeat(200), false);
    }

    #[test]
    fn other_formats_are_not_asked() {
        for format in
            [Format::Text, Format::Markdown, Format::Headed(crate::document::Headed::Html)]
        {
            check(format, &"<a href=b>c</a>".repeat(400), false);
        }
    }
}
