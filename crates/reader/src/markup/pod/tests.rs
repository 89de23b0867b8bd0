//! Tests what is read of POD.

use super::*;
use crate::markup::testing::{blocks, check as check_blocks};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_blocks(extract, text, expected);
}

#[test]
fn headings_lists_and_verbatim_text_are_read() {
    check(
        "=head1 NAME\n\nhawser - pulls\n\n=head2 Options\n\n=over\n\n=item -v\n\nverbose\n\n=item B<-q>\n\n=item -x\n\n\
         Two\nlines.\n\nMore of it.\n\n=back\n\n  $ hawser -v\n\n    deeper\n\n=cut\n",
        &[
            "# NAME",
            "hawser - pulls",
            "## Options",
            "- -v: verbose",
            "- -q",
            "- -x: Two\n  lines.",
            "More of it.",
            "```\n$ hawser -v\n\n  deeper\n```",
        ],
    );
}

#[test]
fn the_name_of_the_page_is_its_title() {
    let document = extract("=head1 NAME\n\nhawser - pulls\n\n=head1 SYNOPSIS\n\nhawser [-v]\n");
    assert_eq!(document.title.as_deref(), Some("hawser - pulls"));
    assert_eq!(document.line_numbers, [1, 1, 3, 3, 5, 5, 7]);
}

#[test]
fn bullets_and_numbers_mark_items() {
    check(
        "=over 4\n\n=item *\n\nOne\n\n=item * Two\n\n=item 3.\n\nThree\n\n=over\n\n=item *\n\nIn\n\n=back\n\n=back\n",
        &["- One", "- Two", "3. Three\n  - In"],
    );
}

#[test]
fn code_around_the_documentation_is_code() {
    check(
        "package Tide;\nour $x = 1;\n\n=head1 Tide\n\nText.\n\n=cut\nsub low { 1 }\n",
        &[
            "```perl\npackage Tide;\nour $x = 1;\n```",
            "# Tide",
            "Text.",
            "```perl\nsub low { 1 }\n```",
        ],
    );
}

#[test]
fn blocks_for_other_programs_are_left_out_and_counted() {
    let document = extract(
        "=begin html\n\n<b>web page</b>\n\n=end html\n\nText.\n\n=for comment not this\n\n=for :text this\n",
    );
    assert_eq!(blocks(&document), ["Text.", "this"]);
    let counts: Vec<(WordDestination, u32)> = document.metadata.words.unwrap().counts().collect();
    assert_eq!(counts.len(), 1);
    check("=begin html\n\nopen\n", &["open"]);
}
