//! Finds the entries of tables of contents and of indexes in text.
//!
//! An entry is a title, a leader (`.....`, `. . . .` or ` … `) and the pages: `1.2 Tides ..... 14`.

/// Fewest dots of a leader; an ellipsis has three.
const MIN_DOTS: usize = 4;

/// Longest page, in characters: `1234`, `xxviii`, `A-12`.
const MAX_PAGE_CHARS: usize = 6;

/// Fewest entries of a table of contents; one or two may be lines of prose with dots.
const MIN_ENTRIES: usize = 3;

/// Smallest part of a text that the entries of a table of contents cover.
const MIN_SHARE: f64 = 0.6;

/// The leader that kb writes.
const LEADER: &str = " \u{2026} ";

/// An entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentsEntry<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its pages, as written: `14`, `xi` or `3, 17`.
    pub pages: &'a str,
}

impl ContentsEntry<'_> {
    /// Returns its first page, if it is a number.
    pub fn first_page(&self) -> Option<u32> {
        self.pages.split(|c: char| !c.is_ascii_digit()).find_map(|digits| digits.parse().ok())
    }

    /// Returns it on one line with a short leader.
    pub fn line(&self) -> String {
        [self.title, LEADER, self.pages].concat()
    }
}

/// Returns the entries of `text`, and the text after the last of them.
pub fn entries(text: &str) -> (Vec<ContentsEntry<'_>>, &str) {
    let (mut entries, mut rest, mut from) = (Vec::new(), text, 0);
    while let Some((start, end)) = next_leader(&rest[from..]) {
        let (start, end) = (from + start, from + end);
        let pages = pages_at(&rest[end..]);
        let title = rest[..start].trim();
        if pages == 0 || title.is_empty() {
            from = end;
            continue;
        }
        entries.push(ContentsEntry { title, pages: rest[end..end + pages].trim_end_matches(',') });
        rest = &rest[end + pages..];
        from = 0;
    }
    (entries, rest.trim())
}

/// Whether `text` is a table of contents or an index: at least three entries that cover most of it.
pub fn is_contents(text: &str) -> bool {
    let (entries, _) = entries(text);
    if entries.len() < MIN_ENTRIES {
        return false;
    }
    let covered: usize = entries.iter().map(|entry| entry.title.len() + entry.pages.len()).sum();
    let all = text.chars().filter(|c| !is_dot(*c)).map(char::len_utf8).sum::<usize>();
    // Four fifths of the titles must be short: a text in which dots follow each other here and there is prose.
    let are_short = entries.iter().filter(|entry| entry.title.len() <= MAX_TITLE_BYTES).count();
    are_short * 5 >= entries.len() * 4 && covered as f64 >= MIN_SHARE * all as f64
}

/// Longest title of most entries, in bytes.
const MAX_TITLE_BYTES: usize = 200;

fn is_dot(c: char) -> bool {
    matches!(c, '.' | '\u{2026}' | '\u{B7}' | '\u{2024}' | '\u{2025}')
}

/// Returns the extent of the first leader of `text`, including spaces around it.
fn next_leader(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = text[from..].find(is_dot).map(|at| from + at) {
        let run = &text[at..];
        let len = run.find(|c: char| !is_dot(c) && c != ' ').unwrap_or(run.len());
        let num_dots: usize = run[..len]
            .chars()
            .filter(|c| is_dot(*c))
            .map(|c| if c == '\u{2026}' { 3 } else { 1 })
            .sum();
        let is_short_leader = text[..at].ends_with(' ') && run[..len] == *"\u{2026} ";
        if num_dots >= MIN_DOTS || is_short_leader {
            return Some((at, at + len));
        }
        from = at + len;
    }
    None
}

/// Returns the length of the pages that `text` begins with; 0 if there are none. The amount in
/// `..... 3.50` is not a page.
fn pages_at(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = &text[end..];
        let blank = rest.len() - rest.trim_start_matches(' ').len();
        let page = rest[blank..].split(char::is_whitespace).next().unwrap_or_default();
        let bare = page.trim_end_matches(',');
        if !is_page(bare) {
            return end;
        }
        end += blank + page.len();
        if page == bare {
            return end;
        }
    }
}

fn is_page(word: &str) -> bool {
    let word = word.trim_end_matches(['f', 'n']);
    let mut parts = word.split(['-', '\u{2013}']);
    let first = parts.next().unwrap_or_default();
    let is_chapter = first.len() == 1 && first.chars().all(|c| c.is_ascii_uppercase());
    let rest_fits = parts.clone().all(is_number);
    (1..=2 * MAX_PAGE_CHARS).contains(&word.len())
        && rest_fits
        && parts.clone().count() <= 1
        && (is_number(first) || is_roman(first) || (is_chapter && parts.next().is_some()))
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| c.is_ascii_digit())
}

fn is_roman(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| matches!(c, 'i' | 'v' | 'x' | 'l' | 'c'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)], rest: &str) {
        let (found, after) = entries(text);
        let found: Vec<_> = found.iter().map(|entry| (entry.title, entry.pages)).collect();
        assert_eq!((found.as_slice(), after), (expected, rest));
    }

    #[test]
    fn entries_end_at_their_pages() {
        check(
            "1 Tides. . . . . . . 3 1.1 Ebb (v. 2)...............12 1.2 Flood",
            &[("1 Tides", "3"), ("1.1 Ebb (v. 2)", "12")],
            "1.2 Flood",
        );
        check("Preface \u{2026} xi\nTides \u{2026} 12", &[("Preface", "xi"), ("Tides", "12")], "");
        check("gauge..... 8, 86 float..... A-3", &[("gauge", "8, 86"), ("float", "A-3")], "");
    }

    #[test]
    fn amounts_and_pauses_are_not_entries() {
        check("Coffee ..... 3.50", &[], "Coffee ..... 3.50");
        check("He waited... 3 days.", &[], "He waited... 3 days.");
        check("Name: ............ ", &[], "Name: ............");
        check("..... 3", &[], "..... 3");
    }

    #[test]
    fn entries_written_as_lines_are_found_again() {
        let (found, _) = entries("1 Tides...... 3 2 Gauges...... 8, 86 Floats...... xi");
        let lines: Vec<String> = found.iter().map(ContentsEntry::line).collect();
        let text = lines.join("\n");
        assert_eq!(entries(&text).0, found);
        assert!(is_contents(&text));
        assert!(is_contents(&format!("Contents\n{text}")));
    }

    #[test]
    fn prose_is_not_a_table_of_contents() {
        let prose = "The tide turns at noon and runs out for six hours. ".repeat(5);
        assert!(!is_contents(&prose));
        assert!(!is_contents(&format!("{prose} See a..... 3 b..... 4 c..... 5")));
        assert!(!is_contents("1 Tides..... 3 2 Gauges..... 8"));
    }
}
