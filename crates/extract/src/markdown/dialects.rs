//! Removes the parts of Markdown that its dialects keep for a program or for the author alone: comments of Obsidian, imports
//! of MDX, properties and clocks of Logseq, the data of drawings. Pure.
//!
//! Line ends are kept, so line numbers do not change. Source code between fences is kept unchanged.

use std::borrow::Cow;

/// Marks both ends of a comment of Obsidian.
const COMMENT: &str = "%%";

/// Signs of such parts; a text without any of them has none.
const SIGNS: &[&str] = &[
    COMMENT, "import ", "export ", "::", ":LOGBOOK:", ":PROPERTIES:", DRAWING, "excalidraw", "((",
];

/// Properties of Logseq that say how a block is shown or found, but nothing about its subject.
const OF_PROGRAM: &[&str] = &[
    "id", "collapsed", "background-color", "heading", "ls-type", "created-at", "updated-at",
    "filters", "query-table", "query-properties", "query-sort-by", "query-sort-desc", "hl-page",
    "hl-color", "hl-stamp", "card-last-interval", "card-repeats", "card-ease-factor",
    "card-next-schedule", "card-last-reviewed", "card-last-score",
];

/// The language that Excalidraw names for the data of a drawing.
const DRAWING: &str = "compressed-json";

/// Most lines of an import or export of MDX: bounds the time, as each line is checked with all before it.
const MAX_STATEMENT: usize = 50;

/// Returns a text without such parts from `body_start` on, and what was taken out.
pub(super) fn without_notes(text: &str, body_start: usize) -> (Cow<'_, str>, String) {
    let body = &text[body_start..];
    if !SIGNS.iter().any(|sign| body.contains(sign)) {
        return (Cow::Borrowed(text), String::new());
    }
    let lines: Vec<&str> = body.split_inclusive('\n').collect();
    let mut parts = DialectParts { kept: text[..body_start].to_owned(), taken: String::new() };
    // Comments and drawers that nothing closes are text; without this, each would be looked for to the end of the text.
    let (mut last_comment, mut last_drawer) = (0, 0);
    for (number, line) in lines.iter().enumerate() {
        if line.contains(COMMENT) {
            last_comment = number;
        }
        if line.trim() == ":END:" {
            last_drawer = number;
        }
    }
    let (mut at, mut statement_end) = (0, 0);
    while at < lines.len() {
        let (rest, line) = (&lines[at..], lines[at].trim());
        let is_after_blank = at == statement_end || lines[at - 1].trim().is_empty();
        let (len, is_kept) = if let Some(fence) = CodeFence::of(line) {
            let len = fence.len(rest);
            (len, !fence.is_data(&rest[..len]))
        } else if line.starts_with(COMMENT)
            && !line[COMMENT.len()..].contains(COMMENT)
            && last_comment > at
        {
            (len_to(rest, |line| line.contains(COMMENT)), false)
        } else if matches!(line, ":LOGBOOK:" | ":PROPERTIES:") && last_drawer > at {
            (len_to(rest, |line| line.trim() == ":END:"), false)
        } else if is_of_program(line) {
            (1, false)
        } else {
            match if is_after_blank { statement_len(rest) } else { 0 } {
                0 => {
                    parts.line(lines[at]);
                    at += 1;
                    continue;
                }
                len => {
                    statement_end = at + len;
                    (len, false)
                }
            }
        };
        parts.block(&rest[..len], is_kept);
        at += len;
    }
    if parts.taken.is_empty() {
        return (Cow::Borrowed(text), String::new());
    }
    (Cow::Owned(parts.kept), parts.taken)
}

/// Returns how many lines there are up to the first one that ends a part, after the line that begins it; without such a
/// line, only that one.
fn len_to(lines: &[&str], is_end: impl Fn(&str) -> bool) -> usize {
    1 + lines[1..].iter().position(|line| is_end(line)).map_or(0, |end| end + 1)
}

/// The parts of a text that are kept, and those that are removed.
struct DialectParts {
    kept: String,
    taken: String,
}

impl DialectParts {
    fn block(&mut self, lines: &[&str], is_kept: bool) {
        for line in lines {
            if is_kept {
                self.kept.push_str(line);
            } else {
                self.taken.push_str(line);
                self.kept.push_str(&line[line.trim_end_matches(['\n', '\r']).len()..]);
            }
        }
    }

    /// Adds a line without the comments and the references in it.
    fn line(&mut self, line: &str) {
        let mut rest = line;
        // Whether an odd number of marks of code is before.
        let mut is_code = false;
        while let Some(at) = rest.find(['`', '%', '(']) {
            self.kept.push_str(&rest[..at]);
            rest = &rest[at..];
            is_code ^= rest.starts_with('`');
            let is_apart = self.kept.ends_with(char::is_whitespace) || self.kept.is_empty();
            let len = match () {
                () if is_code => 0,
                () if is_apart && rest.starts_with(COMMENT) => comment_len(rest),
                () => reference_len(rest),
            };
            if len == 0 {
                self.kept.push_str(&rest[..1]);
                rest = &rest[1..];
            } else {
                self.taken.push_str(&rest[..len]);
                self.taken.push(' ');
                rest = &rest[len..];
            }
        }
        self.kept.push_str(rest);
    }
}

/// Returns the length of a comment that ends on its line; 0 if none does.
fn comment_len(text: &str) -> usize {
    let len = text[COMMENT.len()..].find(COMMENT).map_or(0, |len| len + 2 * COMMENT.len());
    // A row of signs is no comment.
    if text[..len].chars().all(|c| c == '%') { 0 } else { len }
}

/// Returns the length of a reference to a block by its number, `((6411aa22-0000-4000-8000-000000000001))`; 0 if a text does
/// not begin with one.
fn reference_len(text: &str) -> usize {
    const NUMBER: usize = "00000000-0000-0000-0000-000000000000".len();
    let number = text.strip_prefix("((").and_then(|rest| rest.get(..NUMBER));
    let is_number = number.is_some_and(|number| {
        number.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    });
    let len = NUMBER + 2 * "((".len();
    if is_number && text[..len.min(text.len())].ends_with("))") { len } else { 0 }
}

/// Whether a line is a property of a block for the program: `id:: 6411aa22`.
fn is_of_program(line: &str) -> bool {
    let Some((key, _)) = property(line) else { return false };
    OF_PROGRAM.contains(&key) || key.starts_with("logseq.")
}

/// Returns the name and the value of a property of Logseq.
pub(super) fn property(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once("::")?;
    let is_key = key.starts_with(char::is_alphabetic)
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    (is_key && (value.is_empty() || value.starts_with(' '))).then(|| (key, value.trim()))
}

/// Returns how many lines an import or export of MDX at the beginning of a paragraph takes; 0 if there is none.
fn statement_len(lines: &[&str]) -> usize {
    let mut text = String::new();
    for (idx, line) in lines.iter().take(MAX_STATEMENT).enumerate() {
        if line.trim().is_empty() {
            return 0;
        }
        text.push_str(line.trim());
        text.push('\n');
        if !begins_statement(&text) {
            return 0;
        }
        let next = lines.get(idx + 1).map_or("", |next| next.trim());
        if is_statement(&text) && (next.is_empty() || begins_statement(next)) {
            return idx + 1;
        }
    }
    0
}

fn begins_statement(text: &str) -> bool {
    if text.starts_with("import ") {
        return true;
    }
    let Some(exported) = text.strip_prefix("export ") else { return false };
    ["const ", "let ", "function ", "default ", "{", "* from"]
        .iter()
        .any(|word| exported.starts_with(word))
}

/// Whether a statement is complete: `import a from 'b'`, an export whose brackets are closed.
fn is_statement(text: &str) -> bool {
    let text = text.trim_end().trim_end_matches(';');
    if let Some(imported) = text.strip_prefix("import ") {
        let source = imported.rsplit_once(" from ").map_or(imported, |(_, source)| source).trim();
        let quote = source.chars().next().filter(|c| matches!(c, '"' | '\''));
        return quote.is_some_and(|quote| {
            source.len() > 2 && source.ends_with(quote) && source.matches(quote).count() == 2
        });
    }
    let num_opened = text.matches(['(', '[', '{']).count();
    let num_closed = text.matches([')', ']', '}']).count();
    num_opened == num_closed && text.contains(['=', '(', '{', '"', '\''])
}

/// The fence that begins source code.
struct CodeFence<'a> {
    mark: char,
    len: usize,
    language: &'a str,
}

impl<'a> CodeFence<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let line = line.trim_start_matches(['>', ' ', '\t', '-', '*']);
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let language = line.trim_start_matches(mark);
        let len = line.len() - language.len();
        (len >= 3 && !language.contains('`')).then(|| Self { mark, len, language: language.trim() })
    }

    /// Returns how many lines the code takes with its fences.
    fn len(&self, lines: &[&str]) -> usize {
        let end = lines[1..].iter().position(|line| {
            let line = line.trim_start_matches(['>', ' ', '\t']).trim_end();
            line.len() >= self.len && line.chars().all(|c| c == self.mark)
        });
        end.map_or(lines.len(), |end| end + 2)
    }

    /// Whether the code is the data of a drawing.
    fn is_data(&self, lines: &[&str]) -> bool {
        // The type is among the first keys of a drawing.
        let mut first = lines.iter().skip(1).take(3);
        self.language == DRAWING
            || (self.language == "json"
                && first.any(|line| line.replace(' ', "").contains("\"type\":\"excalidraw\"")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kept: &str, taken: &[&str]) {
        let (found, words) = without_notes(text, 0);
        assert_eq!(found, kept);
        assert_eq!(words.split_whitespace().collect::<Vec<_>>(), taken);
    }

    #[test]
    fn comments_are_taken_out_and_other_signs_stay() {
        check("Ropes. %%Buy some%% Done.\n", "Ropes.  Done.\n", &["%%Buy", "some%%"]);
        check(
            "%%\nkanban:settings\n```\n{}\n```\n%%\nEnd",
            "\n\n\n\n\n\nEnd",
            &["%%", "kanban:settings", "```", "{}", "```", "%%"],
        );
        for text in [
            "Growth of 5%% and 6%% a year",
            "`a %% b` and %% alone",
            "```mermaid\n%% note %%\n```\n",
            "%%\nnever closed",
            "50 %%%% off",
        ] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn statements_of_mdx_are_taken_out() {
        check(
            "import Tabs from '@theme/Tabs';\nimport {\n  A,\n} from \"./a\"\n\nText",
            "\n\n\n\n\nText",
            &[
                "import", "Tabs", "from", "'@theme/Tabs';", "import", "{", "A,", "}", "from",
                "\"./a\"",
            ],
        );
        check(
            "export const meta = {\n  a: 1,\n}\n\nText",
            "\n\n\n\nText",
            &["export", "const", "meta", "=", "{", "a:", "1,", "}"],
        );
        for text in [
            "import duties from 'abroad' rose.",
            "export default values\nare shown",
            "import of goods\n",
            "We\nimport 'a'\n",
            "```js\nimport a from 'b'\n```\n",
        ] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn properties_and_clocks_of_logseq_are_taken_out() {
        check(
            "- Hull\n  id:: 64\n  depth:: 3\n\t:LOGBOOK:\n\tCLOCK: [2026]\n\t:END:\n- See ((6411aa22-0000-4000-8000-000000000001)) ((a))",
            "- Hull\n\n  depth:: 3\n\n\n\n- See  ((a))",
            &[
                "id::",
                "64",
                ":LOGBOOK:",
                "CLOCK:",
                "[2026]",
                ":END:",
                "((6411aa22-0000-4000-8000-000000000001))",
            ],
        );
        check("std::id is\n:LOGBOOK:\nopen", "std::id is\n:LOGBOOK:\nopen", &[]);
    }

    #[test]
    fn drawings_are_taken_out_and_other_code_stays() {
        check(
            "# Pier\n```compressed-json\nN4Kg\n```\n",
            "# Pier\n\n\n\n",
            &["```compressed-json", "N4Kg", "```"],
        );
        check(
            "```json\n{\"type\": \"excalidraw\"}\n```\n",
            "\n\n\n",
            &["```json", "{\"type\":", "\"excalidraw\"}", "```"],
        );
        check(
            "```json\n{\"a\": \"(( %%b%%\"}\n```\n",
            "```json\n{\"a\": \"(( %%b%%\"}\n```\n",
            &[],
        );
    }
}
