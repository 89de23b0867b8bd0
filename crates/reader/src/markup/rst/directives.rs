//! Reads explicit markup: directives, comments, targets, footnotes.

use super::{RstReader, indented_after, tables};
use crate::markup::writer::{MarkupRow, SourceLine, dedent, join};

/// Directives whose content is source text.
const CODE: &[&str] = &[
    "code", "code-block", "sourcecode", "parsed-literal", "doctest", "testcode", "testoutput",
    "testsetup", "prompt", "ipython", "console", "math", "productionlist", "literalblock",
    "graphviz", "digraph", "uml", "mermaid", "plot", "jupyter-execute", "highlight-block",
];

/// Directives without text for readers.
const SILENT: &[&str] = &[
    "toctree", "contents", "index", "meta", "highlight", "currentmodule", "module", "py:module",
    "py:currentmodule", "raw", "include", "literalinclude", "default-role", "role", "title",
    "sectnum", "section-numbering", "header", "footer", "target-notes", "tabularcolumns", "todo",
    "todolist", "autosummary", "automodule", "autoclass", "autofunction", "automethod",
    "autoexception", "autodata", "autoattribute", "codeauthor", "sectionauthor", "moduleauthor",
    "testcleanup", "unicode", "date", "skip", "ifconfig-end", "cssclass", "rst-class", "class",
];

/// Notes, which begin with their name.
const NOTES: &[&str] = &[
    "note", "warning", "tip", "hint", "caution", "danger", "error", "attention", "important",
    "seealso",
];

impl RstReader {
    /// Reads `.. something`, with everything that is indented below it.
    pub(super) fn explicit(&mut self, lines: &[SourceLine<'_>], depth: usize) {
        let first = lines[0];
        let rest = first.text.strip_prefix("..").unwrap_or("").trim();
        if let Some((label, text)) = footnote(rest) {
            let more = join(&dedent(&lines[1..]));
            self.prose(first.number, &format!("[{label}] {text}\n{more}"));
            return;
        }
        // A substitution may be a directive, but it is read where it is used.
        if rest.is_empty() || rest.starts_with(['_', '|']) {
            return;
        }
        let Some((name, argument)) = directive(rest) else { return };
        let below = dedent(&lines[1..]);
        let num_options = below.iter().take_while(|line| is_option(line.text)).count();
        let (options, mut content) = below.split_at(num_options);
        // An argument may continue below, without a blank line.
        let mut argument = argument.to_owned();
        let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
        let is_code = CODE.contains(&name);
        if num_options == 0 && !is_code && !argument.is_empty() {
            let more = content.iter().take_while(|line| !line.is_blank() && !is_option(line.text));
            let more = more.count();
            argument = format!("{argument}\n{}", join(&content[..more]));
            content = &content[more..];
            let num_options = content.iter().take_while(|line| is_option(line.text)).count();
            content = &content[num_options..];
        }
        // Without content it names a style.
        let is_class = name == "class" && content.iter().any(|line| !line.is_blank());
        let lead = match name {
            name if is_code => {
                let language = if name == "math" { "math" } else { argument.trim() };
                let formula = (name == "math" && !argument.is_empty())
                    .then_some(SourceLine { number: first.number, text: argument.as_str() });
                let code: Vec<SourceLine<'_>> =
                    formula.into_iter().chain(content.iter().copied()).collect();
                return self.writer.code(language, &code);
            }
            "csv-table" => {
                let header = options.iter().filter_map(|line| {
                    let header = line.text.strip_prefix(":header:")?.trim();
                    Some(SourceLine { text: header, ..*line })
                });
                let lines: Vec<SourceLine<'_>> = header.chain(content.iter().copied()).collect();
                self.prose(first.number, &argument);
                return self.table(&tables::comma_separated(&lines));
            }
            "list-table" | "flat-table" => {
                self.prose(first.number, &argument);
                return self.table(&rows_of_list(content));
            }
            name if SILENT.contains(&name) && !is_class => return,
            "image" | "figure" => {
                let lines = if options.is_empty() { &below[..] } else { options };
                let mut alt = lines.iter().filter_map(|line| line.text.strip_prefix(":alt:"));
                alt.next().unwrap_or_default().to_owned()
            }
            name if NOTES.contains(&name) => {
                let label = name[..1].to_uppercase() + &name[1..];
                let label = if name == "seealso" { "See also" } else { label.as_str() };
                let end = if argument.is_empty() { "" } else { ": " };
                format!("{label}{end}{argument}")
            }
            "versionadded" => format!("New in version {argument}"),
            "versionchanged" => format!("Changed in version {argument}"),
            "versionremoved" => format!("Removed in version {argument}"),
            "deprecated" => format!("Deprecated since version {argument}"),
            "only" | "ifconfig" | "container" | "highlights" | "compound" => String::new(),
            _ => argument,
        };
        self.prose(first.number, &lead);
        self.nested(content, depth);
    }
}

/// Reads a table written as a list of lists.
fn rows_of_list(lines: &[SourceLine<'_>]) -> Vec<MarkupRow> {
    let mut rows: Vec<MarkupRow> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let used = indented_after(&lines[at..]);
        let Some(rest) = lines[at].text.strip_prefix("* ") else {
            at += 1;
            continue;
        };
        let mut inside = vec![SourceLine { text: rest.trim_start(), ..lines[at] }];
        inside.extend(dedent(&lines[at + 1..at + used]));
        let mut row = MarkupRow { number: lines[at].number, cells: Vec::new() };
        for line in inside {
            let cell = line.text.strip_prefix("- ");
            match (cell.or((line.text == "-").then_some("")), row.cells.last_mut()) {
                (Some(text), _) => row.cells.push(text.to_owned()),
                (None, Some(cell)) => cell.extend(["\n", line.text.trim()]),
                (None, None) => {}
            }
        }
        rows.push(row);
        at += used;
    }
    rows
}

/// Splits `name:: argument`.
fn directive(text: &str) -> Option<(&str, &str)> {
    let (name, argument) = text.split_once("::")?;
    let name = name.trim_end();
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_.+:".contains(c));
    is_name.then_some((name, argument.trim()))
}

/// Splits `[label] text`.
fn footnote(text: &str) -> Option<(&str, &str)> {
    let (label, text) = text.strip_prefix('[')?.split_once(']')?;
    let is_footnote = label.len() <= 60
        && label.chars().all(|c| c.is_alphanumeric() || "#*-_.:".contains(c))
        && (text.is_empty() || text.starts_with(' '));
    is_footnote.then(|| (label.trim_start_matches('#'), text.trim()))
}

/// Whether a line is `:name: value`, an option of a directive.
fn is_option(text: &str) -> bool {
    text.strip_prefix(':').and_then(|rest| rest.split_once(':')).is_some_and(|(name, value)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
            && (value.is_empty() || value.starts_with(' '))
    })
}
