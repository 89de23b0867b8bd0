//! Tests Markdown extraction.

use proptest::prelude::*;

use super::*;

/// Compares blocks, written as `kind|chain|first line`; `*` marks the first of a section.
#[track_caller]
fn check(text: &str, title: Option<&str>, expected: &[&str]) {
    let document = extract(text);
    assert_eq!(document.text.lines().count(), text.lines().count());
    let text = &document.text;
    assert_eq!(document.title.as_deref(), title);
    let blocks: Vec<String> = document
        .blocks
        .iter()
        .map(|block| {
            let mark = if block.starts_section { "*" } else { "" };
            let line = text[block.bytes.clone()].lines().next().unwrap_or_default();
            format!("{mark}{:?}|{}|{line}", block.kind, block.headings.join(" > "))
        })
        .collect();
    assert_eq!(blocks, expected);
}

#[test]
fn the_first_heading_of_level_1_is_the_title_and_not_in_chains() {
    check(
        "# Guide\n\nIntro.\n\n## Use `it` ##\n\nText.\n\n#### Deep\n\nMore.\n\nSecond\n------\n\nEnd.\n",
        Some("Guide"),
        &[
            "*Heading||# Guide",
            "Paragraph||Intro.",
            "*Heading|Use it|## Use `it` ##",
            "Paragraph|Use it|Text.",
            "Heading|Use it > Deep|#### Deep",
            "Paragraph|Use it > Deep|More.",
            "*Heading|Second|Second",
            "Paragraph|Second|End.",
        ],
    );
}

#[test]
fn a_second_heading_of_level_1_is_in_the_chain() {
    check(
        "# A\n# B\n## C\nx\n",
        Some("A"),
        &["*Heading||# A", "*Heading|B|# B", "*Heading|B > C|## C", "Paragraph|B > C|x"],
    );
}

#[test]
fn fences_of_callouts_are_not_text_and_what_is_in_them_is_read() {
    check(
        "::: {.callout-note}\nBody.\n:::\n\n::: {#tbl-a}\n| a | b |\n|---|---|\n| c | d |\n:::\n\n:::tip Read this\nText.\n:::\n\n\
         :::: columns\n- one\n- two\n::::\n\n```{r plot, echo=FALSE}\n::: kept\n```\n",
        None,
        &[
            "*Paragraph||Body.",
            "Table||| a | b |",
            "Paragraph||:::tip Read this",
            "ListItem||- one",
            "ListItem||- two",
            "Code||```{r plot, echo=FALSE}",
        ],
    );
    let document = extract(":::: columns\n- one\n- two\n::::\n");
    assert_eq!(&document.text[document.blocks[1].bytes.clone()], "- two");
}

#[test]
fn front_matter_provides_the_title_and_is_not_a_block() {
    let head = "---\ntitle: Guide\ntags: [a]\n---\n";
    check(
        &format!("{head}\n# Start\n\nText.\n"),
        Some("Guide"),
        &["*Heading|Start|# Start", "Paragraph|Start|Text."],
    );
    check(&format!("{head}\n# GUIDE\n"), Some("Guide"), &["*Heading||# GUIDE"]);
    check(&format!("{head}Text.\n"), Some("Guide"), &["*Paragraph||Text."]);
    assert_eq!(extract(head).tags, ["a"]);
}

#[test]
fn a_document_with_only_front_matter_has_a_block() {
    check("---\ntitle: A\n---\n", Some("A"), &["*Paragraph||---"]);
    check("", None, &[]);
    check(" \n\n", None, &[]);
}

#[test]
fn without_level_1_there_is_no_title() {
    check(
        "Text.\n\n## A\n\n## B\n",
        None,
        &["*Paragraph||Text.", "*Heading|A|## A", "*Heading|B|## B"],
    );
}

#[test]
fn a_centred_html_title_is_the_title() {
    check(
        "<h1 align=\"center\">\n  <img src=\"x\"> Tool &amp; Co\n</h1>\n\n# Install\n",
        Some("Tool & Co"),
        &["*Paragraph||<h1 align=\"center\">", "*Heading|Install|# Install"],
    );
}

#[test]
fn headings_are_plain_text() {
    let title = |line: &str| extract(line).title.unwrap_or_default();
    assert_eq!(title("# The *big* [link](x) `code` ~~no~~"), "The big link code no");
    assert_eq!(title("# Name {#id}"), "Name");
    assert_eq!(title("# GET /users/{id}"), "GET /users/{id}");
    assert_eq!(title("# [[page|Label]]"), "Label");
    assert_eq!(title("# Tool ![Build](x)"), "Tool");
    assert_eq!(title("# ![Logo](x)"), "Logo");
    assert_eq!(title("# C# and F#"), "C# and F#");
    assert_eq!(title("# &lt;b&gt; &amp; co"), "<b> & co");
    assert_eq!(title("two\nlines\n==="), "two lines");
    assert_eq!(title(&format!("# {}", "word ".repeat(100))).chars().count(), 200);
}

#[test]
fn each_outer_list_item_is_a_block() {
    check(
        "- one\n  - deep\n\n    more\n- two\n\n1. three\n\n   ```\n   code\n   ```\n",
        None,
        &["*ListItem||- one", "ListItem||- two", "ListItem||1. three"],
    );
}

#[test]
fn tables_code_quotes_and_footnotes_are_blocks() {
    check(
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nls\n```\n\n    indented\n\n> quoted\n> on\n\ntext[^1]\n\n[^1]: note\n",
        None,
        &[
            "*Table||| a | b |", "Code||```sh", "Code||    indented", "Paragraph||> quoted",
            "Paragraph||text[^1]", "Paragraph||[^1]: note",
        ],
    );
}

#[test]
fn comments_are_in_no_block() {
    check("<!-- secret\n\nstill -->\n\nText\n", None, &["*Paragraph||Text"]);
    check("<!-- a --> left\n", None, &["*Paragraph||left"]);
    check("<!-- never closed\n\nText\n", None, &["*Paragraph||<!-- never closed"]);
}

#[test]
fn references_are_resolved_in_every_block() {
    check(
        "# A\n\n- see [the manual][1]<!-- really? -->\n\n| a |\n|---|\n| [x] |\n\n[1]: /m\n[x]: /y\n",
        Some("A"),
        &["*Heading||# A", "ListItem||- see [the manual](/m)", "Table||| a |"],
    );
    assert!(extract("| a |\n|---|\n| [x] |\n\n[x]: /y\n").text.contains("| [x](/y) |"));
}

#[test]
fn callouts_embeds_and_components_are_text() {
    check(
        "---\ntags: [[a]]\n---\nimport Tabs from './tabs';\n\n> [!warning]- Mind the [[tide|ebb]]\n> It comes.\n\n\
         ![[chart.png]] ^block-id\n\n<Tabs items={['x']}>\n\n## Install\n\n<Tab>Run it</Tab>\n\n</Tabs>\n",
        None,
        &[
            "*Paragraph||> [!warning]- Mind the [[tide|ebb]]",
            "Paragraph||![[chart.png]] ^block-id",
            "Paragraph||<Tabs items={['x']}>",
            "*Heading|Install|## Install",
            "Paragraph|Install|<Tab>Run it</Tab>",
            "Paragraph|Install|</Tabs>",
        ],
    );
}

#[test]
fn a_heading_inside_code_is_not_a_heading() {
    check("```\n# no\n```\n\n    # no\n", None, &["*Code||```", "Code||    # no"]);
}

#[test]
fn texts_are_shortened_at_words() {
    assert_eq!(shorten("one two three", 20), "one two three");
    assert_eq!(shorten("one two three", 9), "one two…");
    assert_eq!(shorten("one two three", 7), "one two…");
    assert_eq!(shorten("unbreakable", 5), "unbre…");
}

proptest! {
    #[test]
    fn blocks_are_ordered_disjoint_and_on_character_boundaries(
        text in "([#>*`|~\\-\\[\\]<!é日a. \n\t]|---\n|- |# |```|<!--|-->|\\[a\\]: /b\n|\\[x\\]\\[a\\]|\\| a \\|\n){0,80}",
    ) {
        let document = extract(&text);
        let text = &document.text;
        let mut end = 0;
        for block in &document.blocks {
            prop_assert!(block.bytes.start >= end);
            prop_assert!(!text[block.bytes.clone()].trim().is_empty());
            end = block.bytes.end;
        }
    }

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        extract(&text);
    }

    #[test]
    fn any_front_matter_is_read(head in "([a-z:\\-\\[\\]{}&*!|>'\"%@ \n#,?]|\t){0,60}") {
        extract(&format!("---\n{head}\n---\nText\n"));
    }
}
