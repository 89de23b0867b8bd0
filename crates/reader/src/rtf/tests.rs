//! Checks what is read of RTF files.

use super::*;
use crate::testing::output_of;

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    let rtf = format!(
        "{{\\rtf1\\ansi\\ansicpg1252\\deff0{{\\fonttbl{{\\f0\\fcharset0 Arial;}}{{\\f1\\fcharset204 Arial Cyr;}}}}\
         {{\\stylesheet{{\\s1\\outlinelevel0 heading 1;}}{{\\s2 heading 2;}}{{\\*\\cs9 Strong;}}}}\n{body}}}"
    );
    assert_eq!(output_of(read, rtf.as_bytes()).unwrap().1, expected);
}

#[test]
fn headings_paragraphs_and_notes_are_read() {
    check(
        "{\\header page}\\pard\\s1 Tide house\\par\\pard\\s2 Float {\\b gauge}\\par\\pard Read it{\\v hidden} at noon\
         {\\footnote \\chftn By the\\par gate.}.\\line Daily\\par{\\pard\\outlinelevel2 Deep\\par}\\pard{\\*\\unknown x}",
        &[
            "# Tide house",
            "## Float gauge",
            "Read it at noon[^1].\nDaily",
            "[^1]: By the gate.",
            "### Deep",
        ],
    );
}

#[test]
fn characters_are_decoded() {
    check(
        "Gr\\'fc\\'dfe {\\f1\\'cf\\'f0\\'e8} \\u8364?\\uc2\\u-10179\\'3f\\'3f\\u-8704\\'3f\\'3f!\\par",
        &["Grüße При €😀!"],
    );
    check("\\lquote a\\rquote\\~\\emdash\\_b\\{\\par", &["‘a’ —-b{"]);
}

#[test]
fn tables_and_lists_are_read() {
    check(
        "\\trowd\\cellx1\\cellx2\\pard\\intbl Code\\cell Meaning\\cell\\row\\trowd\\pard\\intbl E23\\cell {\\pard\\intbl dry\\par}\
         \\cell\\row\\pard after\\par{\\listtext 1.\\tab}one\\par{\\pntext\\'b7\\tab}\\ilvl1 two\\par\\pard\\bullet\\tab three\\par",
        &[
            "| Code | Meaning |\n| --- | --- |\n| E23 | dry |",
            "after",
            "1. one\n  - two",
            "- three",
        ],
    );
}

#[test]
fn the_metadata_is_read_and_pictures_and_fields_are_left_out() {
    let rtf = b"{\\rtf1{\\info{\\title Tides}{\\author Maren Voss}{\\creatim\\yr2020\\mo1\\dy2\\hr3\\min4}{\\nofpages1}}\
                {\\pict\\bin4 }}}}0102}{\\field{\\*\\fldinst HYPERLINK \"x\"}{\\fldrslt link}}{\\upr{old}{\\*\\ud{new}}}\\par}";
    let (head, blocks) = output_of(read, rtf).unwrap();
    assert_eq!(head.title.as_deref(), Some("Tides"));
    assert_eq!(head.author.as_deref(), Some("Maren Voss"));
    assert_eq!(head.created.as_deref(), Some("2020-01-02T03:04:00"));
    assert_eq!(blocks, ["linknew"]);
}

#[test]
fn a_file_that_is_cut_is_read_with_a_warning_and_other_files_are_refused() {
    let tail = read(&ReaderInput::of(b"{\\rtf1 half a {\\b sent"), &mut |_| Ok(())).unwrap();
    assert_eq!(tail.warnings, ["the file ends early; the rest is missing"]);
    match output_of(read, b"plain") {
        Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, FailureKind::WrongFormat),
        other => panic!("{other:?}"),
    }
}

#[test]
fn endless_groups_are_read() {
    let rtf = "{\\rtf1 ".to_owned() + &"{\\b".repeat(100_000) + " deep";
    assert_eq!(output_of(read, rtf.as_bytes()).unwrap().1, ["deep"]);
}
