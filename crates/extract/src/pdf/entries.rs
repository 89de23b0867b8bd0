//! Finds the entries of tables of contents and of indexes that have no leaders. A pure function.

use super::number;
use crate::document::BlockKind;
use crate::protocol::PageBlock;

/// Longest title of an entry, in words; a longer text that ends in a number is a sentence.
const MAX_WORDS: usize = 16;

/// Fewest entries of an index on a page; a few names with numbers in alphabetical order are a list.
const MIN_INDEXED: usize = 8;

/// An entry: a title and its pages as written.
pub(super) type TitleAndPage = (String, String);

/// Headings of tables of contents, in lower case.
const CONTENTS: &[&str] = &[
    "content",
    "contents",
    "contenido",
    "contenidos",
    "indice",
    "\u{ED}ndice",
    "inhalt",
    "inhaltsverzeichnis",
    "inhoud",
    "inhoudsopgave",
    "list of figures",
    "list of tables",
    "sommaire",
    "sommario",
    "spis tre\u{15B}ci",
    "sum\u{E1}rio",
    "table des mati\u{E8}res",
    "table of contents",
];

/// Whether a block is the heading of a table of contents.
pub(super) fn is_title(block: &PageBlock) -> bool {
    let title = block.text.trim().trim_end_matches([':', '.']).to_lowercase();
    CONTENTS.contains(&title.as_str())
}

/// Returns the entries of a block whose lines or rows end in page numbers; `None` if it has others.
pub(super) fn of_contents(block: &PageBlock) -> Option<Vec<TitleAndPage>> {
    match block.kind {
        BlockKind::Table => {
            let rows = block.text.lines().filter(|line| !line.starts_with("| ---"));
            let mut rows = rows.map(of_row).peekable();
            // The first row may be a head, such as "Page".
            if rows.peek().is_some_and(Option::is_none) {
                rows.next();
            }
            rows.collect()
        }
        BlockKind::Code => None,
        _ if block.is_contents => None,
        _ => of_line(&block.text).map(|entry| vec![entry]),
    }
}

fn of_row(row: &str) -> Option<TitleAndPage> {
    let cells = row.trim_matches('|').split(" | ").map(str::trim);
    let mut cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
    let page = cells.pop().filter(|cell| is_page(cell))?;
    entry(&cells.join(" "), page)
}

fn of_line(line: &str) -> Option<TitleAndPage> {
    let (title, page) = line.trim().rsplit_once(' ')?;
    if is_page(page) { entry(title, page) } else { None }
}

fn entry(title: &str, page: &str) -> Option<TitleAndPage> {
    let is_title = number::without(title).chars().any(char::is_alphabetic)
        && title.split_whitespace().count() <= MAX_WORDS
        && !title.ends_with(['.', ',', ':', ';']);
    is_title.then(|| (title.to_owned(), page.to_owned()))
}

fn is_page(word: &str) -> bool {
    (1..=4).contains(&word.len()) && word.chars().all(|c| c.is_ascii_digit())
}

/// Returns the entries of an index in a text (`gauge, 8, 86-88 float, 12`), and the text after the
/// last of them.
pub(super) fn of_index(text: &str) -> (Vec<TitleAndPage>, &str) {
    let (mut entries, mut start, mut from) = (Vec::new(), 0, 0);
    while let Some(comma) = text[from..].find(", ").map(|at| from + at) {
        let end = pages_end(text, comma + 2);
        let title = text[start..comma].trim();
        let is_title =
            title.chars().any(char::is_alphabetic) && title.split_whitespace().count() <= MAX_WORDS;
        match end {
            Some(end) if is_title => {
                entries.push((title.to_owned(), text[comma + 2..end].to_owned()));
                (start, from) = (end, end);
            }
            _ => from = comma + 2,
        }
    }
    (entries, text[start..].trim())
}

/// Returns where a list of pages ends that begins at `from`; `None` if there is none.
fn pages_end(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        let bare = word.trim_end_matches([',', 'f', 'n']);
        let mut parts = bare.split(['-', '\u{2013}']);
        if !(parts.clone().count() <= 2 && parts.all(is_page)) {
            // A comma before something else is part of the next title.
            return None;
        }
        at += word.len();
        if !word.ends_with(',') {
            return Some(at);
        }
        at += rest[word.len()..].len() - rest[word.len()..].trim_start().len();
    }
}

/// Whether entries are those of an index: many, and in alphabetical order.
pub(super) fn are_alphabetical(entries: &[TitleAndPage]) -> bool {
    let num_sorted = entries
        .windows(2)
        .filter(|pair| first_letter(&pair[0].0) <= first_letter(&pair[1].0))
        .count();
    entries.len() >= MIN_INDEXED && num_sorted * 10 >= (entries.len() - 1) * 8
}

/// Returns the first letter or digit of a title, in lower case.
fn first_letter(title: &str) -> Option<String> {
    title.chars().find(|c| c.is_alphanumeric()).map(|c| c.to_lowercase().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: BlockKind, text: &str, expected: Option<&[(&str, &str)]>) {
        let found = of_contents(&PageBlock::new(kind, 0, text));
        let found: Option<Vec<(&str, &str)>> = found.as_ref().map(|entries| {
            entries.iter().map(|(title, pages)| (title.as_str(), pages.as_str())).collect()
        });
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn lines_and_rows_end_in_page_numbers() {
        check(BlockKind::Paragraph, "1.2 Tides 14", Some(&[("1.2 Tides", "14")]));
        let table = "|  | Page |\n| --- | --- |\n| 1 Tides | 3 |\n| Gauges |  |\n";
        check(BlockKind::Table, table, None);
        let table = "|  |  | Page |\n| --- | --- | --- |\n| 1 | Tides | 3 |\n| 2 | Gauges | 8 |";
        check(BlockKind::Table, table, Some(&[("1 Tides", "3"), ("2 Gauges", "8")]));
        check(BlockKind::Paragraph, "The tide turned at 12", Some(&[("The tide turned at", "12")]));
        check(BlockKind::Paragraph, "It rose by, 12", None);
        check(BlockKind::Paragraph, "14", None);
    }

    #[test]
    fn entries_of_an_index_end_at_their_last_page() {
        let (found, rest) =
            of_index("gauge, 8, 86\u{2013}88 float, brass, 12 low water, 9n see ebb");
        let found: Vec<(&str, &str)> =
            found.iter().map(|(title, pages)| (title.as_str(), pages.as_str())).collect();
        assert_eq!(
            found,
            [("gauge", "8, 86\u{2013}88"), ("float, brass", "12"), ("low water", "9n")]
        );
        assert_eq!(rest, "see ebb");
        assert!(of_index("At noon, 12 ships, all of them old, left.").0.len() < 2);
    }
}
