//! Writes pieces of Markdown, and reads the cells of its tables.

use super::number::is_year;

/// Deepest heading of Markdown.
const MAX_LEVEL: usize = 6;

/// Most rows of a head below its first one. It bounds how many rows of dates may be taken for a head.
const MAX_HEAD_ROWS: usize = 4;

/// Characters that begin the items of printed lists.
const BULLETS: &[char] =
    &['•', '◦', '▪', '●', '‣', '∙', '·', '○', '■', '□', '–', '—', '-', '*', '+'];

/// Formats rows of cells as a table, the first as its head. All rows must have the same length.
pub fn table(rows: &[Vec<String>]) -> String {
    let mut lines = Vec::with_capacity(rows.len() + 1);
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
        if number == 0 {
            lines.push(format!("|{}", " --- |".repeat(row.len())));
        }
    }
    lines.join("\n")
}

/// Returns source text between fences longer than any in the text; empty for blank text.
pub fn fenced(language: &str, text: &str) -> String {
    let text = text.trim_end();
    let text = text.trim_start_matches('\n');
    if text.trim().is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Returns the source text of a code block and the language that its fence names; indented code is
/// returned without its indentation.
pub fn without_fence(block: &str) -> (String, Option<String>) {
    let (head, rest) = block.split_once('\n').unwrap_or((block, ""));
    let head = head.trim_start();
    let mark = head.trim_start_matches(['`', '~']);
    let len = head.len() - mark.len();
    // A fence has at least three marks (CommonMark, 4.5).
    if len < 3 {
        let lines = block.lines();
        let lines = lines.map(|line| line.strip_prefix("    ").unwrap_or(line.trim_start()));
        return (lines.collect::<Vec<_>>().join("\n"), None);
    }
    let fence = &head[..len];
    let body = match rest.rsplit_once('\n') {
        Some((body, last)) if ends_fence(last, fence) => body,
        None if ends_fence(rest, fence) => "",
        _ => rest,
    };
    let language = mark.split([' ', '{', ',']).next().filter(|word| !word.is_empty());
    (body.to_owned(), language.map(str::to_owned))
}

/// Whether a line ends the code block that begins with a fence.
fn ends_fence(line: &str, fence: &str) -> bool {
    let line = line.trim();
    line.len() >= fence.len() && line.chars().all(|c| fence.starts_with(c))
}

/// Returns the lengths of the head of a table that begins a text: all its rows, and only the first with the rule below
/// it. `None` if the text begins with no such row.
pub fn table_head(text: &str) -> Option<(usize, usize)> {
    let rule_at = text.find('\n')? + 1;
    let end = rule_at + text[rule_at..].find('\n')? + 1;
    let rule = text[rule_at..end].trim();
    let is_rule = rule.contains('-') && rule.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    is_rule.then(|| (end + rest_of_head(&text[end..]), end))
}

/// Returns the length of the rows at the beginning of a table's `body` that belong to its head: rows
/// whose numbers are dates, and without a label or with a date below each head. Numbers follow them.
fn rest_of_head(body: &str) -> usize {
    let rows = body.split_inclusive('\n').take(MAX_HEAD_ROWS);
    let len: usize = rows.take_while(|row| continues_head(row)).map(str::len).sum();
    if body[len..].lines().take(MAX_HEAD_ROWS).any(has_digit) { len } else { 0 }
}

/// Whether a row below the head of a table belongs to it.
fn continues_head(row: &str) -> bool {
    let cells: Vec<String> = cells(row).into_iter().flatten().collect();
    let Some((label, values)) = cells.split_first() else { return false };
    let mut filled = values.iter().filter(|cell| !cell.is_empty()).peekable();
    filled.peek().is_some() && filled.all(|cell| is_head_cell(cell, label))
}

fn is_head_cell(cell: &str, label: &str) -> bool {
    let mut numbers = cell.split_whitespace().filter(|word| has_digit(word));
    (label.is_empty() || has_digit(cell)) && numbers.all(is_part_of_date)
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

fn is_part_of_date(word: &str) -> bool {
    let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
    is_year(digits) || (digits.len() <= 2 && word.ends_with(','))
}

/// Returns the text of a heading without its marks: `#`, or a line below it.
pub fn without_marks(heading: &str) -> String {
    let text = heading.trim();
    let bare = text.trim_start_matches('#');
    if bare.len() < text.len() {
        let bare = bare.trim();
        let open = bare.trim_end_matches('#');
        // Closing marks count only after a blank (CommonMark, 4.2).
        let is_closed = open.len() < bare.len() && open.ends_with(char::is_whitespace);
        return if is_closed { open.trim_end() } else { bare }.to_owned();
    }
    match text.rsplit_once('\n') {
        Some((above, below)) if is_underline(below) => above.trim().to_owned(),
        _ => text.to_owned(),
    }
}

fn is_underline(line: &str) -> bool {
    !line.is_empty() && line.trim().chars().all(|c| matches!(c, '=' | '-'))
}

/// Returns a heading on one line; a level beyond 6 is 6.
pub fn heading(level: usize, text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{} {text}", "#".repeat(level.clamp(1, MAX_LEVEL)))
}

/// Returns an item of a list: printed bullets become `-`, numbers stay.
pub fn list_item(text: &str) -> String {
    let text = text.trim();
    let (mark, rest) = match text.split_once(char::is_whitespace) {
        Some((first, rest)) if first.chars().all(|c| BULLETS.contains(&c)) => ("-", rest),
        Some((first, rest)) if is_number(first) => (first, rest),
        _ => ("-", text.strip_prefix(BULLETS).unwrap_or(text)),
    };
    let indentation = format!("\n{}", " ".repeat(mark.len() + 1));
    format!("{mark} {}", prose(rest.trim_start()).replace('\n', &indentation))
}

/// Whether a word is the number of a list item in Markdown: `3.` or `3)`, with at most nine digits (CommonMark, 5.2).
fn is_number(word: &str) -> bool {
    let digits = word.strip_suffix(['.', ')']).unwrap_or_default();
    (1..=9).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Returns plain text so that none of its lines is a heading, a fence, a quotation, a rule, or HTML
/// in Markdown. Emphasis is not escaped: it changes no structure, and backslashes in names and
/// formulas would be in the way of readers and searches.
pub fn prose(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.trim();
        let escape = if is_structure(line) { "\\" } else { "" };
        format!("{escape}{}", without_tags(line))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether Markdown reads a line as something else than a part of a paragraph.
fn is_structure(line: &str) -> bool {
    let marks = line.len() - line.trim_start_matches('#').len();
    let after = line[marks..].chars().next();
    let is_heading = (1..=MAX_LEVEL).contains(&marks) && after.is_none_or(char::is_whitespace);
    let is_item = line.strip_prefix(['-', '+', '*']).is_some_and(|rest| rest.starts_with(' '));
    let is_row = line.starts_with('|') && line.len() > 1;
    is_heading
        || is_item
        || is_row
        || line.starts_with(['>'])
        || line.starts_with("```")
        || line.starts_with("~~~")
        || ['-', '=', '_', '*'].into_iter().any(|mark| {
            line.starts_with(mark) && line.chars().all(|c| c == mark || c.is_whitespace())
        })
}

/// Escapes `<` where Markdown would read a tag.
fn without_tags(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '<' && chars.peek().is_some_and(|next| begins_tag(*next)) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Whether a character after `<` makes it a tag, a comment or an instruction.
fn begins_tag(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')
}

/// Returns the cells of a table, row by row, the head first and without the line below it.
pub fn cells(table: &str) -> Vec<Vec<String>> {
    let rows = table.lines().map(str::trim).filter(|line| line.contains('|'));
    let rows: Vec<Vec<String>> = rows.map(row).collect();
    let rule = rows.iter().position(|cells| is_rule(cells));
    rows.into_iter()
        .enumerate()
        .filter_map(|(idx, cells)| (Some(idx) != rule).then_some(cells))
        .collect()
}

/// Whether the cells are those of the line below the head of a table.
fn is_rule(cells: &[String]) -> bool {
    cells.iter().all(|cell| {
        let dashes = cell.trim_start_matches(':').trim_end_matches(':');
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    })
}

fn row(line: &str) -> Vec<String> {
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for c in line.chars() {
        match (c, cells.last_mut()) {
            ('|', _) if !is_escaped => cells.push(String::new()),
            ('|', Some(cell)) => {
                cell.pop();
                cell.push('|');
            }
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    // The text after the last bar is a cell only if the row has no closing bar.
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().replace("<br>", "\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_prose_are_not_markup() {
        for (text, expected) in [
            ("# of boats\nand more", "\\# of boats\nand more"),
            ("#hashtag", "#hashtag"),
            ("> 3 m", "\\> 3 m"),
            ("total\n=====", "total\n\\====="),
            ("- 5 degrees", "\\- 5 degrees"),
            ("a < b, <b>bold</b>", "a < b, \\<b>bold\\</b>"),
            ("   indented", "indented"),
            ("| alone", "\\| alone"),
            ("x_i * y_i", "x_i * y_i"),
        ] {
            assert_eq!(prose(text), expected, "{text}");
        }
    }

    #[test]
    fn printed_lists_are_lists_of_markdown() {
        for (text, expected) in [
            ("• one\nmore", "- one\n  more"),
            ("•one", "- one"),
            ("12. twelve\nmore", "12. twelve\n    more"),
            ("(a) first", "- (a) first"),
            ("- # 5", "- \\# 5"),
        ] {
            assert_eq!(list_item(text), expected, "{text}");
        }
    }

    #[test]
    fn cells_of_a_table_are_read() {
        let table = "| a | b\\|c |\n| --- | :-: |\n| 1 |  |\n| x<br>y | \\\\ |";
        assert_eq!(cells(table), [["a", "b|c"], ["1", ""], ["x\ny", "\\\\"]]);
        assert_eq!(cells("a | b\n--- | ---\n- | 2"), [["a", "b"], ["-", "2"]]);
        assert_eq!(cells(""), Vec::<Vec<String>>::new());
    }

    #[test]
    fn marks_and_fences_are_removed() {
        for (heading, text) in [
            ("## Tides ##", "Tides"),
            ("# C#", "C#"),
            ("Tides\n=====", "Tides"),
            ("Tides", "Tides"),
        ] {
            assert_eq!(without_marks(heading), text);
        }
        for (block, text, language) in [
            ("```rust\nlet a;\n```", "let a;", Some("rust")),
            ("~~~\na\n\nb\n~~~~", "a\n\nb", None),
            ("```\nopen", "open", None),
            ("```\n```", "", None),
            ("    a\n      b", "a\n  b", None),
        ] {
            assert_eq!(without_fence(block), (text.to_owned(), language.map(str::to_owned)));
        }
    }

    #[test]
    fn a_fence_is_longer_than_any_in_its_text() {
        for (text, expected) in [
            ("a\n\n", "```rust\na\n```"),
            ("\n  a", "```rust\n  a\n```"),
            ("``` a `````` b ``", "```````rust\n``` a `````` b ``\n```````"),
            (" \n", ""),
        ] {
            assert_eq!(fenced("rust", text), expected, "{text:?}");
        }
    }

    #[test]
    fn headings_are_one_line_of_at_most_six_marks() {
        assert_eq!(heading(9, "two\nlines"), "###### two lines");
        assert_eq!(heading(0, "a"), "# a");
    }
}
