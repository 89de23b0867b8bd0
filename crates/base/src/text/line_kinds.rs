//! Says what each line of a text is: part of a paragraph, a heading, a row of a table, a record, code. A pure function.

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It has no text.
    Blank,
    /// It begins or ends a block of code.
    Fence,
    /// A line of code.
    Code,
    /// A heading with `#`.
    Heading,
    /// A row of the head of a table.
    TableHead,
    /// The rule below the head of a table.
    TableRule,
    /// A row of a table.
    TableRow,
    /// The first line of an item of a list or of a quotation.
    Item,
    /// A line that means something alone: of YAML, of a log, a name and its value.
    Record,
    /// A line of a paragraph, which may go on in the next one.
    Prose,
}

impl LineKind {
    /// Whether the columns of the line mean something: it is code, or of a table.
    pub fn is_verbatim(self) -> bool {
        self == Self::Code || self.is_table()
    }

    /// Whether the line belongs to a table.
    pub fn is_table(self) -> bool {
        matches!(self, Self::TableHead | Self::TableRule | Self::TableRow)
    }
}

/// Returns what each line of a text is, which is code or not.
pub fn line_kinds(text: &str, is_code: bool) -> Vec<LineKind> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut kinds = vec![LineKind::Prose; lines.len()];
    let mut is_fenced = false;
    let mut is_in_list = false;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let trimmed = line.trim_start();
        let is_fence = !is_code && (trimmed.starts_with("```") || trimmed.starts_with("~~~"));
        is_fenced ^= is_fence;
        if line.trim().is_empty() {
            kinds[at] = LineKind::Blank;
        } else if is_fence {
            kinds[at] = LineKind::Fence;
        } else if is_code || is_fenced {
            kinds[at] = LineKind::Code;
        } else if is_heading(trimmed) {
            kinds[at] = LineKind::Heading;
            is_in_list = false;
        } else if is_html_heading(trimmed) {
            let len = lines[at..].iter().take(HTML_HEADING).position(|line| line.contains("</h"));
            let len = len.map_or(1, |last| last + 1);
            kinds[at..at + len].fill(LineKind::Heading);
            at += len;
            continue;
        } else if lines.get(at + 1).is_some_and(|next| is_rule(next)) && line.contains('|') {
            at += table(&lines[at..], &mut kinds[at..]);
            continue;
        } else if trimmed.starts_with('|') {
            kinds[at] = if is_rule(line) { LineKind::TableRule } else { LineKind::TableRow };
        } else {
            let len = paragraph(&lines[at..]);
            let (lines, kinds) = (&lines[at..at + len], &mut kinds[at..at + len]);
            is_in_list = mark_paragraph(lines, kinds, is_in_list);
            at += len;
            continue;
        }
        at += 1;
    }
    kinds
}

/// Marks the lines of a table that begins with its head, and returns their number.
fn table(lines: &[&str], kinds: &mut [LineKind]) -> usize {
    let has_edge = lines[0].trim_start().starts_with('|');
    let rows = lines.iter().take_while(|line| {
        line.contains('|')
            && line.trim_start().starts_with('|') == has_edge
            && !line.trim().is_empty()
    });
    let len = rows.count();
    kinds[..len].fill(LineKind::TableRow);
    kinds[0] = LineKind::TableHead;
    kinds[1] = LineKind::TableRule;
    len
}

/// Whether a line is the rule below the head of a table.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains('|') && line.contains("--") && line.chars().all(|c| "|-: ".contains(c))
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    text.len() < line.len() && (text.is_empty() || text.starts_with(' '))
}

/// Most lines of a heading in HTML. It bounds how far its end is looked for.
const HTML_HEADING: usize = 4;

/// Whether a line begins a heading in HTML, as in Markdown with anchors.
fn is_html_heading(line: &str) -> bool {
    let level = line.strip_prefix("<h").and_then(|rest| rest.as_bytes().first().copied());
    level.is_some_and(|level| (b'1'..=b'6').contains(&level))
}

/// Whether a line begins an item of a list or a quotation.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered =
        number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "));
    is_numbered || ["- ", "* ", "+ ", "> ", "• "].iter().any(|mark| line.starts_with(mark))
}

/// Returns the number of lines up to a blank one, or one that is not of a paragraph or a list.
fn paragraph(lines: &[&str]) -> usize {
    (1..lines.len()).find(|at| ends_paragraph(&lines[*at..])).unwrap_or(lines.len())
}

/// Whether the first of these lines is not part of the paragraph or list before it.
fn ends_paragraph(lines: &[&str]) -> bool {
    let line = lines[0].trim_start();
    let has_rule = lines.get(1).is_some_and(|next| is_rule(next));
    line.trim_end().is_empty()
        || line.starts_with("```")
        || line.starts_with("~~~")
        || line.starts_with('|')
        || is_heading(line)
        || is_html_heading(line)
        || has_rule && line.contains('|')
}

/// Columns by which Markdown indents code.
const INDENT: usize = 4;

/// Returns the columns by which a line is indented.
fn indent(line: &str) -> usize {
    if line.starts_with('\t') { INDENT } else { line.len() - line.trim_start().len() }
}

/// Marks the lines of a paragraph or a list, after a list or not; returns whether it is in a list.
fn mark_paragraph(lines: &[&str], kinds: &mut [LineKind], is_in_list: bool) -> bool {
    if !is_in_list && lines.iter().all(|line| indent(line) >= INDENT) {
        kinds.fill(LineKind::Code);
        return false;
    }
    let others = lines.iter().filter(|line| !is_item(line.trim_start()));
    let num_others = others.clone().count();
    let num_records = others.filter(|line| is_record(line)).count();
    // Items of a list in YAML are records if the lines around them are. A single line needs no mark.
    if lines.len() > 1 && num_records * 2 > num_others {
        kinds.fill(LineKind::Record);
        return false;
    }
    for (line, kind) in lines.iter().zip(kinds) {
        let is_item = is_item(line.trim_start());
        *kind = if is_item { LineKind::Item } else { LineKind::Prose };
    }
    num_others < lines.len() || is_in_list && is_indented_below_item(lines[0])
}

/// Whether a line continues an item above it.
fn is_indented_below_item(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// Words of a line among which the time of a log is. In `Nov 30 05:00:02` of syslog it is the third.
const TIME_WITHIN: usize = 4;

/// Whether a line is a name and its value, or begins with a time.
fn is_record(line: &str) -> bool {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_alphanumeric() || "_.-/\"'".contains(c));
    let value = rest.trim_start();
    let is_named = rest.len() < line.len()
        && (rest == ":"
            || rest.starts_with(": ")
            || value.starts_with("= ")
            || rest.starts_with('=') && !rest.starts_with("=="));
    is_named
        || line.split_whitespace().take(TIME_WITHIN).any(is_time)
        || line.starts_with('[') && line.contains(']') && !line.contains("](")
        || line.chars().all(|c| "{}[](),;".contains(c))
}

fn is_time(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_ascii_digit());
    word.matches(':').count() >= 2 && word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the kinds of lines by their first letters: Blank, Fence, Code, Heading, Table (`t` its rule, `r` a row), Item,
    /// reCord as `c`, Prose.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let letter = |kind: &LineKind| match kind {
            LineKind::Blank => 'b',
            LineKind::Fence => 'f',
            LineKind::Code => 'C',
            LineKind::Heading => 'h',
            LineKind::TableHead => 'T',
            LineKind::TableRule => 't',
            LineKind::TableRow => 'r',
            LineKind::Item => 'i',
            LineKind::Record => 'c',
            LineKind::Prose => 'p',
        };
        let found: String = line_kinds(text, false).iter().map(letter).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn lines_of_code_are_code_whatever_they_look_like() {
        check("Do so:\n```sh\n# no heading\nls\n\n| a\n```\nend", "pfCCbCfp");
        check("Do so:\n\n    ls -l\n    cd x\n\nend", "pbCCbp");
        check("- item\n\n    more of the item\n\nend\n\n    code", "ibpbpbC");
        assert_eq!(line_kinds("# x\n\na", true), [LineKind::Code, LineKind::Blank, LineKind::Code]);
    }

    #[test]
    fn tables_have_a_head_with_or_without_edges() {
        check("| a | b |\n| --- | --- |\n| 1 | 2 |\n\n| 3 | 4 |", "Ttrbr");
        check("Text\na | b\n--|:-:\n1 | 2\n\nend | of\n---", "pTtrbpp");
        check("| a |\n|---|\n| 1 |\nend", "Ttrp");
    }

    #[test]
    fn yaml_and_logs_are_records_and_prose_is_not() {
        check("a:\n  b: 1\n  - c\n  - d: 2\n\nport = 80\nhost=x", "ccccbcc");
        check("[server]\nport = 80", "cc");
        check(
            "2025-10-04 12:00:01 INFO up\nOct  4 12:00:02 pier x[3]: down\njava.lang.Error: no\n\tat Main.run",
            "cccc",
        );
        check("Note: the gauge freezes\nin frost, and the float\nbreaks.", "ppp");
        check("- one: 1\n  more of it\n- two", "ipi");
        check("Note: the gauge", "p");
        check("<h3 id=\"a\">\nThe gauge\n</h3>\nIt stands\n<h2>b</h2>", "hhhph");
        check("[The gauge](a.md) stands\n[and](b.md) freezes", "pp");
    }
}
