//! Tests what is read of Typst.

use super::*;
use crate::document::WordDestination;
use crate::markup::testing::{blocks, check as check_blocks};

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_blocks(extract, text, expected);
}

#[test]
fn headings_lists_and_prose_are_read() {
    check(
        "= Wind report <top>\n\nThe _gale_ reached #strong[force nine].\nAt snake_case 2*3.\n\n== Damage\n- crane\n  - hook\n+ first\n\
         more\n/ Ebb: the water leaves\n\nSee @fig-a, https://example.org/a -- now.\\ Next\n",
        &[
            "# Wind report",
            "The gale reached force nine.\nAt snake_case 2*3.",
            "## Damage",
            "- crane\n  - hook",
            "1. first\n   more",
            "- Ebb: the water leaves",
            "See @fig-a, https://example.org/a – now. Next",
        ],
    );
}

#[test]
fn code_is_left_out_and_counted() {
    let document = extract(
        "#set page(\n  paper: \"a4\",\n)\n#let low(x) = {\n  [not this]\n}\n#import \"a.typ\": b\n#show heading: it => [#it.body]\n\
         // nor this\nText /* nor */ here.#v(1em)\n#outline()\n#bibliography(\"refs.bib\")\n",
    );
    assert_eq!(blocks(&document), ["Text here."]);
    assert_eq!(document.line_numbers, [10]);
    let counts: Vec<(WordDestination, u32)> = document.metadata.words.unwrap().counts().collect();
    assert_eq!(counts.len(), 1);
    assert_eq!(counts[0].0, WordDestination::Markup);
}

#[test]
fn what_a_template_is_called_with_is_read() {
    let document = extract(
        "#let who = \"Bo\"\n#show: report.with(\n  title: [Tides of _Brest_],\n  authors: ((name: \"Ida\", email: \"ida@example.org\"), (name: who),),\n  \
         abstract: [Low water.],\n  font: (\"Linux\", \"Serif\"),\n)\n\nText by #who.\n",
    );
    assert_eq!(document.title.as_deref(), Some("Tides of Brest"));
    assert_eq!(document.metadata.author.as_deref(), Some("Ida, Bo"));
    let text = blocks(&document).join("\n");
    for words in ["Tides of Brest", "Ida", "ida@example.org", "Low water.", "Text by Bo."] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("Linux"));
    let stated = extract("#set document(title: \"Low\", author: \"Ida\")\n= Heading\nText\n");
    assert_eq!(stated.title.as_deref(), Some("Low"));
    assert_eq!(blocks(&stated), ["# Heading", "Text"]);
}

#[test]
fn figures_and_tables_have_their_cells_and_captions() {
    check(
        "#figure(\n  table(\n    columns: (auto, 1fr, 2fr),\n    table.header([*Place*], [Low], [High]),\n    [Brest], [1], [4],\n    \
         table.cell(colspan: 2)[none], \"x\",\n  ),\n  caption: [Levels of #emph[water]],\n) <levels>\n\n#align(center)[\n  Wide text\n]\n\
         #image(\"a.png\", alt: \"A crane\")\n",
        &[
            "| Place | Low | High |\n| --- | --- | --- |\n| Brest | 1 | 4 |\n| none |  | x |",
            "Levels of water",
            "Wide text",
            "A crane",
        ],
    );
}

#[test]
fn source_text_formulas_links_and_notes_are_read() {
    check(
        "Run `ls *a*` or ```sh ls``` now#footnote[Or later.].\n\n```rust\nfn low() {}\n  // kept\n```\n\n$ a^2 + b $ is #link(\"https://x.y\")[the rule], \
         #link(\"https://x.y\").\n",
        &[
            "Run `ls *a*` or `ls` now (Or later.).",
            "```rust\nfn low() {}\n  // kept\n```",
            "$ a^2 + b $ is the rule, https://x.y.",
        ],
    );
}

#[test]
fn conditions_and_loops_have_their_content() {
    check(
        "#if draft [Draft text] else [Final text] goes on.\n#for x in (1, 2) [Row #x]\nAfter.\n#grid(columns: 2, [left], [right])\n",
        &["Draft text Final text goes on.\nRow\nAfter.", "left", "right"],
    );
}

#[test]
fn what_nothing_closes_is_read() {
    check("Text #strong[open\n\nmore", &["Text open", "more"]);
    check("a ] b [c] #figure(caption: [x", &["a ] b [c]", "x"]);
    check("cost $5 and \\$6 \\#1", &["cost $5 and $6 #1"]);
}
