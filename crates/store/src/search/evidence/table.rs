//! Finds the tables of chunks, and chooses rows of long ones. Pure functions.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::document::join;
use crate::search::matches::QueryTerms;
use crate::search::rated_lines::RatedLines;
use crate::text::number::counted;
use crate::text::{markdown, tokens};

/// Longest caption of a table in bytes; a longer paragraph above a table is text.
const MAX_CAPTION: usize = 300;

fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// Whether a text has nothing but rows.
pub(super) fn is_rows(text: &str) -> bool {
    text.lines().all(is_row)
}

pub(super) fn begins_with_row(text: &str) -> bool {
    text.lines().next().is_some_and(is_row)
}

pub(super) fn ends_with_row(text: &str) -> bool {
    text.lines().next_back().is_some_and(is_row)
}

/// Whether a text continues the table that ends the text before it: with its head again, or with rows that have no
/// head.
pub(super) fn continues(before: &str, text: &str) -> bool {
    ends_with_row(before)
        && begins_with_row(text)
        && (join::repeated_head(before, text) > 0 || markdown::table_head(text).is_none())
}

/// Returns the caption of a table that begins a text: the short paragraph that ends the text before it.
pub(super) fn caption<'a>(before: &'a str, text: &str) -> Option<&'a str> {
    let is_table = begins_with_row(text) && !continues(before, text) && !ends_with_row(before);
    let caption = before.rsplit("\n\n").next().map(str::trim)?;
    let is_caption = !caption.is_empty() && caption.len() <= MAX_CAPTION && is_table;
    is_caption.then_some(caption)
}

/// Returns the head of a table and the lines that match best, with their neighbours, within `room` tokens if the head has
/// room; first those of a hit. A mark says how many rows are left out.
pub(super) fn rows(text: &str, hits: &[Range<usize>], wanted: &QueryTerms, room: usize) -> String {
    let mut at = 0;
    let lines: Vec<(usize, &str)> = text
        .split('\n')
        .map(|line| {
            let start = at;
            at += line.len() + 1;
            (start, line)
        })
        .collect();
    let heads = heads(text, &lines);
    let first = heads.iter().position(Option::is_some).unwrap_or(0);
    let mut kept: BTreeSet<usize> = heads[first].clone().into_iter().flatten().collect();
    // The paragraph above the head is the caption.
    let before = (0..first).rev().skip_while(|idx| lines[*idx].1.trim().is_empty());
    kept.extend(before.take_while(|idx| !lines[*idx].1.trim().is_empty()));
    let rated = RatedLines::new(text, false, &wanted.find(text), wanted);
    let mut rest: Vec<(Reverse<usize>, bool, usize)> = Vec::new();
    for (idx, (start, line)) in lines.iter().enumerate().filter(|(idx, _)| !kept.contains(idx)) {
        let worth = rated.within(&(*start..start + line.len()));
        let is_hit = hits.iter().any(|span| span.contains(start));
        rest.push((Reverse(worth), !is_hit, idx));
    }
    rest.sort_unstable();
    'lines: for (worth, is_elsewhere, idx) in rest {
        if worth.0 == 0 && is_elsewhere {
            break;
        }
        // The row itself comes before its neighbours, because room may be left for one line only.
        for near in [Some(idx), idx.checked_sub(1), Some(idx + 1)].into_iter().flatten() {
            if near >= lines.len() || kept.contains(&near) {
                continue;
            }
            // A row comes with the head of its table.
            let head = heads[near].clone().into_iter().flatten();
            let wider: BTreeSet<usize> = kept.iter().copied().chain(head).chain([near]).collect();
            if tokens::estimate(&written(&lines, &wider)) > room {
                break 'lines;
            }
            kept = wider;
        }
    }
    written(&lines, &kept)
}

/// Returns for each line of a table the lines of its head.
fn heads(text: &str, lines: &[(usize, &str)]) -> Vec<Option<Range<usize>>> {
    let mut heads: Vec<Option<Range<usize>>> = Vec::with_capacity(lines.len());
    for (idx, (start, line)) in lines.iter().enumerate() {
        let head = match heads.last() {
            _ if !is_row(line) => None,
            Some(Some(head)) => Some(head.clone()),
            _ => {
                let (len, _) = markdown::table_head(&text[*start..]).unwrap_or_default();
                Some(idx..idx + text[*start..start + len].lines().count())
            }
        };
        heads.push(head);
    }
    heads
}

/// Writes the kept lines, and a mark where others are left out.
fn written(lines: &[(usize, &str)], kept: &BTreeSet<usize>) -> String {
    let mut written: Vec<String> = Vec::new();
    let mut next = 0;
    for idx in kept.iter().copied().chain([lines.len()]) {
        let left_out = lines.get(next..idx).unwrap_or_default();
        match left_out.iter().filter(|(_, line)| is_row(line)).count() {
            0 if left_out.iter().any(|(_, line)| !line.trim().is_empty()) => {
                written.push("…".into());
            }
            0 => written.extend(left_out.iter().map(|(_, line)| (*line).to_owned())),
            count => written.push(format!("… {}", counted(count, "row"))),
        }
        written.extend(lines.get(idx).map(|(_, line)| (*line).to_owned()));
        next = idx + 1;
    }
    written.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "| year | rain |\n| --- | --- |";

    #[test]
    fn a_table_continues_with_its_head_or_without_one() {
        let before = format!("Rain\n\n{HEAD}\n| 1 | 2 |");
        for (before, text, expected) in [
            (before.as_str(), format!("{HEAD}\n| 3 | 4 |"), true),
            (&before, "| 3 | 4 |".into(), true),
            (&before, "| snow | ice |\n| --- | --- |\n| 3 | 4 |".into(), false),
            (&before, "Then it snowed.".into(), false),
            ("Then it snowed.", format!("{HEAD}\n| 3 | 4 |"), false),
        ] {
            assert_eq!(continues(before, &text), expected, "{text}");
        }
    }

    #[test]
    fn a_caption_is_the_short_paragraph_before() {
        let table = format!("{HEAD}\n| 1 | 2 |");
        let check = |before: &str, expected| assert_eq!(caption(before, &table), expected);
        check("It rains.\n\nTable 1: rain in mm", Some("Table 1: rain in mm"));
        check(&"long ".repeat(80), None);
        check(&table, None);
        assert_eq!(caption("It rains.", "And snows."), None);
    }

    #[test]
    fn matching_rows_come_with_their_neighbours_and_the_rest_is_counted() {
        let body: Vec<String> = (0..20).map(|row| format!("| station{row} | {row}0 |")).collect();
        let text = format!("Much text.\n\nRain in mm\n\n{HEAD}\n{}\n\nEnd.", body.join("\n"));
        let rows = |query: &str, hits: &[Range<usize>], room| {
            rows(&text, hits, &QueryTerms::new(query), room)
        };
        let found = rows("station7", &[], 1_000);
        let expected = format!(
            "…\nRain in mm\n\n{HEAD}\n… 6 rows\n{}\n{}\n{}\n… 11 rows",
            body[6], body[7], body[8]
        );
        assert_eq!(found, expected);
        // Without a match, the rows of the hit.
        let start = text.find(&body[3]).unwrap();
        let hit = start..start + 5;
        let found = rows("snow", std::slice::from_ref(&hit), 1_000);
        assert!(found.contains(&body[3]) && !found.contains(&body[10]), "{found}");
        // The head stays, whatever the room.
        assert!(rows("station7", &[], 0).contains(HEAD));
        for room in 60..200 {
            assert!(tokens::estimate(&rows("station7 station12", &[], room)) <= room, "{room}");
        }
    }
}
