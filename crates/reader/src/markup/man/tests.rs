//! Checks what becomes of manual pages.

use crate::markup::testing::check;

#[test]
fn a_page_has_its_title_and_sections() {
    let document = super::extract(
        ".\\\" comment\n.TH GAUGE 1 2024\n.SH NAME\ngauge \\- reads \\fBwater\\fR\n.SH OPTIONS\n.TP\n.BR \\-a \", \" \\-\\-all\nall of it\nand more\n.IP \\(bu 2\nitem\n.nf\nfixed\n text\n.fi\n",
    );
    assert_eq!(document.title.as_deref(), Some("GAUGE(1)"));
    assert_eq!(
        document.text,
        "## NAME\n\ngauge - reads water\n\n## OPTIONS\n\n- -a, --all:\n  all of it\n  and more\n\n- item\n\n```\nfixed\n text\n```"
    );
    assert_eq!(document.line_numbers[..7], [3, 3, 4, 4, 5, 5, 7]);
    assert_eq!(document.blocks[3].headings, ["OPTIONS"]);
}

#[test]
fn mdoc_names_become_words() {
    check(
        super::extract,
        ".Dd May 1, 2024\n.Dt GAUGE 1\n.Sh SYNOPSIS\n.Nm gauge\n.Op Fl a Ar file\n.Sh DESCRIPTION\nThe\n.Nm\nutility, see\n.Xr ls 1 .\n.Bl -tag\n.It Fl a\nAll.\n.El\n",
        &[
            "## SYNOPSIS",
            "gauge\n[-a file]",
            "## DESCRIPTION",
            "The\ngauge\nutility, see\nls(1).",
            "- -a:\n  All.",
        ],
    );
}

#[test]
fn words_of_mdoc_are_enclosed_by_the_marks_of_their_macros() {
    for (line, expected) in [
        (".Dq high water", "“high water”"),
        (".Do a b Dc c", "“a b” c"),
        (".Aq Ar mail", "<mail>"),
        (".Pq a", "(a)"),
        (".Po a Pc .", "(a)."),
        (".Ar x Brq a , b", "x {a, b}"),
        (".Brq a , b", "{a, b}"),
        (".Qq a b", "\"a b\""),
        (".Sq a", "‘a’"),
        (".So a Sc b", "‘a’ b"),
        (".Bq Fl x", "[-x]"),
        (".Oo Fl a Oc Fl b", "[-a] -b"),
        (".Fl", "-"),
        (".Ar", "file ..."),
        (".Fn open , Fn close", "open(), close()"),
        (".Pf a b", "ab"),
        (".Fl a Ns Ar b", "-ab"),
        (".Ar a Ap s", "a's"),
        (".Xr ls 1 , ps 1 ;", "ls(1), ps(1);"),
        (".Op Dq a", "[“a”]"),
        (".Nd reads water", "– reads water"),
    ] {
        let text = format!(".Dd May 1, 2024\n.Dt GAUGE 1\n.Sh X\n{line}\n");
        check(super::extract, &text, &["## X", expected]);
    }
}

#[test]
fn tables_definitions_and_conditions_are_read() {
    check(
        super::extract,
        ".de XX\nhidden\n..\n.TS\ntab(|);\nl l.\na|b\n_\n1|T{\nlong\ncell\nT}\n.TE\n.if t printed\n.if n shown\n.ie n \\{\\\nterminal\n.\\}\n.el \\{\\\npaper\n.\\}\n",
        &["| a | b |\n| --- | --- |\n| 1 | long cell |", "shown\nterminal"],
    );
}
