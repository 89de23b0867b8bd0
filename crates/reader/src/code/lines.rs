//! Divides a source without a grammar by its lines: by blank lines, indentation, and the words that
//! begin definitions.

use super::cut::{CutPlace, MAX_UNCUT_BYTES};
use super::definitions::{Definition, Definitions};
use super::regions::{Region, Regions};
use super::types::Owner;
use super::words;

/// Columns that a tab counts. Indents are only compared with each other, so any width will do that is more than one
/// column.
const TAB_COLUMNS: usize = 4;

/// Words at the beginning of a line that continue the code above it. So do all that begin with `end`.
const CONTINUING_WORDS: &[&str] = &[
    "begin", "catch", "do", "done", "elif", "else", "elseif", "elsif", "ensure", "esac", "except",
    "fi", "finally", "is", "rescue", "then", "until", "where",
];

/// A line that is not blank.
struct CodeLine<'a> {
    /// Where it begins.
    at: usize,
    /// Its text without white space around it.
    text: &'a str,
    num_columns: usize,
    is_after_blank: bool,
    is_comment: bool,
    /// Whether it only closes or continues the code above it.
    is_continuing: bool,
}

/// A definition, as indices of lines.
struct DefinitionLines {
    /// The first line, comments above included.
    start: usize,
    /// The line that names it.
    head: usize,
    /// The line after the last one.
    end: usize,
    definition: Definition,
}

/// Divides a source into regions, and finds the places to split them.
pub(super) fn divide(text: &str, definitions: &Definitions) -> (Vec<Region>, Vec<CutPlace>) {
    let lines = lines(text, definitions);
    (regions(text, &lines, definitions), cuts(&lines))
}

fn lines<'a>(text: &'a str, definitions: &Definitions) -> Vec<CodeLine<'a>> {
    let mut lines = Vec::new();
    let mut at = 0;
    let mut is_after_blank = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if !bare.is_empty() {
            lines.push(CodeLine {
                at,
                text: bare,
                num_columns: num_columns(line),
                is_after_blank,
                is_comment: definitions.is_comment(bare),
                is_continuing: is_continuing(bare),
            });
        }
        is_after_blank = bare.is_empty();
        at += line.len();
    }
    lines
}

fn num_columns(line: &str) -> usize {
    let white = line.chars().take_while(|c| c.is_whitespace());
    white.fold(0, |columns, c| if c == '\t' { columns + TAB_COLUMNS } else { columns + 1 })
}

fn is_continuing(line: &str) -> bool {
    let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let word = word.to_ascii_lowercase();
    line.starts_with(['{', '}', ')', ']', '>', '$'])
        || CONTINUING_WORDS.contains(&word.as_str())
        || word.starts_with("end")
}

/// Whether nothing but a continuation can follow a line in a definition.
fn is_closing(line: &str) -> bool {
    line.starts_with('}') || line.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("end"))
}

/// Finds the places to split: where a line does not continue the one above it. The least indented
/// lines are preferred, and of these the ones after a blank line.
fn cuts(lines: &[CodeLine<'_>]) -> Vec<CutPlace> {
    let pairs = lines.iter().zip(lines.iter().skip(1));
    let cuts = pairs.filter(|(above, line)| {
        let is_deeper = line.num_columns > above.num_columns;
        let is_commented = above.is_comment && !line.is_after_blank;
        !line.is_continuing && (line.is_after_blank || !is_deeper) && !is_commented
    });
    cuts.map(|(_, line)| CutPlace {
        at: line.at,
        rank: line.num_columns * 2 + usize::from(!line.is_after_blank),
    })
    .collect()
}

/// Finds the definitions of at least two lines, in order.
fn extents(lines: &[CodeLine<'_>], definitions: &Definitions) -> Vec<DefinitionLines> {
    let mut extents: Vec<DefinitionLines> = Vec::new();
    // Indices of the definitions around a line.
    let mut open: Vec<usize> = Vec::new();
    for (idx, line) in lines.iter().enumerate() {
        let found = if line.is_comment || line.is_continuing {
            None
        } else {
            definitions.find(line.text, line.num_columns > 0)
        };
        while let Some(extent) = open.last().map(|last| &mut extents[*last]) {
            if !ends(&lines[extent.head..idx], line, found.is_some()) {
                break;
            }
            extent.end = idx;
            open.pop();
        }
        if let Some(definition) = found {
            open.push(extents.len());
            extents.push(DefinitionLines { start: idx, head: idx, end: lines.len(), definition });
        }
    }
    for extent in &mut extents {
        let above = &lines[..extent.head];
        let below = lines[..=extent.head].iter().rev();
        let comments = above.iter().rev().zip(below).take_while(|(line, below)| {
            line.is_comment && !below.is_after_blank && line.num_columns == below.num_columns
        });
        extent.start = extent.head - comments.count();
    }
    extents.retain(|extent| extent.end > extent.head + 1);
    extents
}

/// Whether a line is no longer part of the definition that the given lines belong to.
fn ends(definition: &[CodeLine<'_>], line: &CodeLine<'_>, is_definition: bool) -> bool {
    let (Some(head), Some(last)) = (definition.first(), definition.last()) else { return true };
    if line.num_columns != head.num_columns {
        return line.num_columns < head.num_columns;
    }
    let is_closed = definition.len() > 1
        && last.num_columns == head.num_columns
        && is_closing(last.text)
        && !line.is_continuing;
    is_definition || line.is_comment || is_closed || (line.is_after_blank && !line.is_continuing)
}

fn regions(text: &str, lines: &[CodeLine<'_>], definitions: &Definitions) -> Vec<Region> {
    let position = |idx: usize| lines.get(idx).map_or(text.len(), |line| line.at);
    let mut regions = Regions::new(text);
    let extents = extents(lines, definitions);
    for (idx, extent) in extents.iter().enumerate() {
        let (start, end) = (position(extent.start).max(regions.at), position(extent.end));
        regions.leave_scopes(start);
        if end <= start {
            continue;
        }
        let names = std::iter::once(extent.definition.name.as_str());
        let symbol = regions.symbol(names, &definitions.separator);
        let head = words::head_of_line(lines[extent.head].text);
        let has_inner = extents.get(idx + 1).is_some_and(|next| next.head < extent.end);
        if extent.definition.is_container && has_inner && end - start > MAX_UNCUT_BYTES {
            let comment = definitions.uncommented(&text[start..position(extent.head)]);
            let docs = words::comment_docs(&comment);
            regions.enter(start, Owner { symbol, head, docs }, end);
            continue;
        }
        let region = Region {
            symbol: Some(symbol),
            context: regions.context(None, None),
            later_context: regions.context(None, Some(&head)),
            starts_section: true,
            ..Region::default()
        };
        regions.push(start, end, region);
    }
    regions.finish()
}
