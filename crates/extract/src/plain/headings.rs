//! Finds the headings of plain text: underlined, with `#`, numbered, or in capitals. Pure.
//!
//! A line taken for a heading by mistake cuts a passage in two and is repeated in every passage below; a heading that
//! is missed costs little. So a heading begins at the margin after a blank line and is one line, and each kind has
//! conditions that lists, tables, code, commands and exclamations do not meet.

use std::ops::Range;

/// Longest heading, in characters: a line of a terminal.
const MAX_CHARS: usize = 80;

/// Most words of a heading in capitals; a longer line is a cry or a notice.
const MAX_WORDS: usize = 7;

/// The characters that underline.
const RULES: &[char] = &['=', '-', '~', '^', '*', '+', '#'];

/// How far an underline may be longer or shorter than its heading: people type it without counting.
const MAX_DIFFERENCE: usize = 2;

/// Headings without text between them that are a list, not headings.
const LIST: usize = 3;

#[derive(Debug)]
pub(super) struct PlainHeading<'a> {
    /// Its lines, with those that underline it.
    pub(super) lines: Range<usize>,
    /// From 1, in the order in which the looks of headings first occur.
    pub(super) level: u8,
    /// Its words.
    pub(super) text: &'a str,
    /// Its mark, the same for all of its level: `=` or `-` below (`#` and `##` are the same, as in Markdown) or another
    /// character, `==` also above, `0.0` for a number of two parts, `A` for capitals.
    look: String,
}

impl PlainHeading<'_> {
    /// Whether it is underlined or has `#`.
    pub(super) fn is_marked(&self) -> bool {
        self.look.starts_with(RULES)
    }

    fn is_numbered(&self) -> bool {
        self.look.starts_with('0')
    }
}

/// Returns the headings among the lines of a text, in order.
pub(super) fn headings<'a>(lines: &[&'a str]) -> Vec<PlainHeading<'a>> {
    let mut found = candidates(lines);
    drop_lists(lines, &mut found);
    drop_uncounted(&mut found);
    let mut looks: Vec<String> = Vec::new();
    for heading in &mut found {
        if !looks.contains(&heading.look) {
            looks.push(heading.look.clone());
        }
        let place = looks.iter().position(|look| *look == heading.look);
        heading.level = place.and_then(|place| u8::try_from(place + 1).ok()).unwrap_or(u8::MAX);
    }
    found
}

/// Returns the lines that look like headings.
fn candidates<'a>(lines: &[&'a str]) -> Vec<PlainHeading<'a>> {
    // Comments of a program or of settings are seldom all single lines after a blank one.
    let are_marks =
        (0..lines.len()).all(|at| !line(lines, at).starts_with('#') || is_below_blank(lines, at));
    let mut found = Vec::new();
    let (mut at, mut is_fenced) = (0, false);
    while at < lines.len() {
        let (start, text, below) = (at, line(lines, at), line(lines, at + 1));
        at += 1;
        is_fenced ^= text.trim_start().starts_with("```");
        if is_fenced || !is_below_blank(lines, start) {
            continue;
        }
        let is_apart = below.is_empty();
        let is_overline = rule(text).is_some_and(|above| {
            rule(line(lines, start + 2)) == Some(above) && above.1 >= width(below)
        });
        let (num_lines, heading) = match rule(below) {
            _ if is_overline => {
                (3, title(below.trim_start()).map(|title| (text[..1].repeat(2), title)))
            }
            Some(_) => (2, underlined(text, below)),
            None => (
                1,
                marked(text).filter(|_| are_marks).or_else(|| {
                    let numbered = numbered(text).filter(|_| is_apart);
                    let is_apart = is_apart || below.starts_with([' ', '\t']);
                    numbered.or_else(|| capitals(text).filter(|_| is_apart))
                }),
            ),
        };
        if let Some((look, text)) = heading {
            at = start + num_lines;
            found.push(PlainHeading { lines: start..at, level: 0, text, look });
        }
    }
    found
}

/// Returns a line without the space at its end; an empty one behind the last.
fn line<'a>(lines: &[&'a str], number: usize) -> &'a str {
    lines.get(number).map_or("", |line| line.trim_end())
}

fn is_below_blank(lines: &[&str], number: usize) -> bool {
    number == 0 || line(lines, number - 1).is_empty()
}

/// Returns a line that marks or a line below may make a heading: it begins with a letter or a digit, has no columns, and is
/// no sentence.
fn title(line: &str) -> Option<&str> {
    let is_title = line.starts_with(|c: char| c.is_alphanumeric() || "\"'`(".contains(c))
        && line.contains(char::is_alphabetic)
        && !line.ends_with(['.', ',', ';'])
        && !line.contains("   ")
        && !line.contains(['\t', '|'])
        && line.chars().count() <= MAX_CHARS;
    is_title.then_some(line)
}

/// Returns the character and the length of a line of one character that underlines.
fn rule(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|first| RULES.contains(first))?;
    (line.len() > 2 && line.chars().all(|c| c == mark)).then_some((mark, line.len()))
}

/// Returns the columns of a line; wide letters have two.
fn width(line: &str) -> usize {
    line.chars().map(|c| 1 + usize::from(c >= '\u{1100}')).sum()
}

fn underlined<'a>(line: &'a str, below: &str) -> Option<(String, &'a str)> {
    let is_same = below.len().abs_diff(width(line)) <= MAX_DIFFERENCE;
    title(line).filter(|_| is_same).map(|title| (below[..1].to_owned(), title))
}

/// Returns a heading with `#`. A line such as `# apt install` is not a heading: a command after the prompt of root
/// begins with a small letter.
fn marked(line: &str) -> Option<(String, &str)> {
    let text = line.trim_start_matches('#');
    let look = match &line[..line.len() - text.len()] {
        "#" => "=",
        "##" => "-",
        marks => marks,
    };
    let text = title(text.strip_prefix(' ')?.trim().trim_end_matches('#').trim_end())?;
    let is_marked = (1..=6).contains(&look.len()) && !text.starts_with(char::is_lowercase);
    is_marked.then_some((look.to_owned(), text))
}

fn numbered(line: &str) -> Option<(String, &str)> {
    let text = title(line)?.split_once(' ')?.1.trim_start();
    let is_heading = text.starts_with(|c: char| c.is_alphabetic() && !c.is_lowercase())
        && !text.ends_with([':', '!'])
        && !text.contains("..");
    let number = number(line).filter(|_| is_heading)?;
    Some((vec!["0"; number.len()].join("."), line))
}

/// Returns the parts of the number with which a line begins.
fn number(line: &str) -> Option<Vec<u32>> {
    let number = line.split(' ').next()?.trim_end_matches(['.', ')']);
    number.split('.').map(|part| part.parse().ok()).collect()
}

fn capitals(line: &str) -> Option<(String, &str)> {
    let text = title(line.strip_suffix(':').unwrap_or(line))?;
    let is_heading = text.starts_with(char::is_alphabetic)
        && text.chars().filter(|c| c.is_alphabetic()).count() > 2
        && text.chars().all(|c| c.is_uppercase() || c.is_ascii_digit() || " -/&'(),?".contains(c))
        && text.split(' ').count() <= MAX_WORDS
        && !text.contains("  ");
    is_heading.then(|| ("A".to_owned(), text))
}

/// Drops numbered headings and those in capitals that are a list: several without text between them.
fn drop_lists(lines: &[&str], found: &mut Vec<PlainHeading<'_>>) {
    let lists = found.chunk_by(|one, next| is_next(lines, one, next));
    let kept: Vec<bool> = lists.flat_map(|list| vec![list.len() < LIST; list.len()]).collect();
    let mut kept = kept.into_iter();
    found.retain(|_| kept.next().unwrap_or_default());
}

/// Whether a heading may be the item of a list after another one.
fn is_next(lines: &[&str], one: &PlainHeading<'_>, next: &PlainHeading<'_>) -> bool {
    let between = &lines[one.lines.end..next.lines.start];
    !one.is_marked() && one.look == next.look && between.iter().all(|line| line.trim().is_empty())
}

/// Keeps those numbered headings that count up from 1; a single one is not a heading.
fn drop_uncounted(found: &mut Vec<PlainHeading<'_>>) {
    let mut last: Vec<u32> = Vec::new();
    found.retain(|heading| {
        let next = number(heading.text).filter(|_| heading.is_numbered()).unwrap_or_default();
        let is_kept = !heading.is_numbered() || follows(&last, &next);
        if is_kept && heading.is_numbered() {
            last = next;
        }
        is_kept
    });
    if found.iter().filter(|heading| heading.is_numbered()).count() < 2 {
        found.retain(|heading| !heading.is_numbered());
    }
}

/// Whether a number comes next: the first part of the last one, or the next one of its level or of one above.
fn follows(last: &[u32], next: &[u32]) -> bool {
    let Some((number, above)) = next.split_last() else { return false };
    match last.get(above.len()) {
        Some(before) => last.starts_with(above) && *number == before + 1,
        None => last == above && *number == 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the level and words of each heading.
    #[track_caller]
    fn check(text: &str, expected: &[(u8, &str)]) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let found = headings(&lines);
        let found: Vec<_> = found.iter().map(|heading| (heading.level, heading.text)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn underlined_lines_are_headings_of_levels_in_their_order() {
        check(
            "Tides\n=====\n\nText.\n\nEbb\n---\nText.\n\nFlood\n-----\n\nNeap\n~~~~\n",
            &[(1, "Tides"), (2, "Ebb"), (2, "Flood"), (3, "Neap")],
        );
        check("========\n Tides\n========\n\nEbb\n===\n", &[(1, "Tides"), (2, "Ebb")]);
        check("潮汐表\n======\n", &[(1, "潮汐表")]);
        check("# One\n\n## Two\n\nThree\n=====\n", &[(1, "One"), (2, "Two"), (1, "Three")]);
    }

    #[test]
    fn numbers_that_count_are_headings() {
        check(
            "1. Introduction\n\nText.\n\n1.1 Scope\n\nText.\n\n1.2. Terms\n\nText.\n\n2 Use\n\nText.",
            &[(1, "1. Introduction"), (2, "1.1 Scope"), (2, "1.2. Terms"), (1, "2 Use")],
        );
    }

    #[test]
    fn capitals_alone_on_a_line_are_headings() {
        check(
            "NAME\n    git - the tool\n\nKNOWN BUGS:\n\nNone.\n",
            &[(1, "NAME"), (1, "KNOWN BUGS")],
        );
    }

    #[test]
    fn lines_that_only_look_like_headings_are_none() {
        for text in [
            // Ends of paragraphs, separators, signatures, sums, front matter.
            "Some text\nand its end\n-----------\n",
            "Text.\n\n----------\n\nText.\n",
            "A short line.\n-------------\n",
            "Regards\n-- \nAda\n",
            " 12\n 30\n---\n 42\n",
            "---\ntitle: Tides\n---\n",
            "A title\n----------------------------------------\nwith a line across the page\n",
            // Tables.
            "Name    Value\n-------------\nrate    9600\n",
            " count\n-------\n     3\n(1 row)\n",
            "id | name\n---------\n",
            "a\tb\n---\n",
            // Commands, comments of programs and settings.
            "Run this:\n\n# apt-get install kb\n\n# make\n",
            "# The rate\n# in baud\nrate=9600\n\n# Parity\nparity=none\n",
            "#include <stdio.h>\n\n#!/bin/sh\n\n#42\n",
            "```\n\n# Not here\n\n```\n",
            // Lists, years, versions, contents, steps.
            "1. Open the valve\n\n2. Wait\n\n3. Close the valve\n",
            "1. Open the valve\n2. Wait\n",
            "1. First.\n\nText.\n\n2. Second.\n\nText.\n",
            "1 Tides .......... 5\n\nText.\n\n2 Floats ......... 9\n\nText.\n",
            "1984 Orwell\n\nText.\n\n2001 Clarke\n\nText.\n",
            "3. Only one\n\nText.\n",
            // Cries, constants, quotations, code, initials.
            "DO NOT TOUCH THE GAUGE WHILE THE WELL IS FROZEN\n\nText.\n",
            "STOP!\n\nText.\n\nWAIT.\n\nText.\n",
            "RED\n\nGREEN\n\nBLUE\n\n",
            "THE WARRANTY\nis void.\n",
            "> TIDES\n\n  EBB\n\nGO\n\n***\n",
            "KB_DATA_DIR\n\nText.\n\nMAX = 3\n\nText.\n",
        ] {
            check(text, &[]);
        }
    }
}
