//! Lays out the state as lines at places of the screen. Pure.
//!
//! ```text
//! wide:    query            narrow:  query
//!          numbers, filters          numbers, filters
//!          list │ text               list
//!          keys                      text
//!                                    keys
//! ```

use crate::app::query::facets::Facet;
use crate::app::query::search::LegSelection;
use crate::cli::find::filters::{DATES, FilterKind, MENU, NONE, Picker, chips, is_set};
use crate::cli::find::keys::{BINDINGS, KeyCommand};
use crate::cli::find::state::{EntryPreview, FindState, Panel};
use crate::document::Filter;
use crate::present::find::{
    Line, ListingRow, Meaning, ReadingText, fitted, justified, piece, shortened, width_of,
};
use crate::present::terminal::columns::width;
use crate::present::text::human::HumanLayout;
use crate::text::number::{counted, thousands};
use crate::text::printable::clean;

/// From this width on, the text is next to the list.
const WIDE: usize = 100;

/// Columns of the list if the text is next to it.
const LIST: std::ops::RangeInclusive<usize> = 40..=72;

/// Longest lines that are comfortable to read.
const TEXT: usize = 100;

/// Lines of the text before a passage that are shown above it.
const LINES_BEFORE: usize = 2;

/// Rows of query, numbers, rule and keys.
const AROUND: usize = 4;

/// Columns of the keys on their page.
const KEYS: usize = 19;

/// The prompt, before the typed text.
const PROMPT: &str = "› ";

/// Lines at places of the screen.
#[derive(Debug, Default)]
pub(super) struct ScreenLayout {
    pub(super) placed: Vec<PlacedLine>,
    /// Where the cursor is; hidden if there is none.
    pub(super) cursor: Option<(u16, u16)>,
}

#[derive(Debug)]
pub(super) struct PlacedLine {
    pub(super) x: u16,
    pub(super) y: u16,
    pub(super) columns: u16,
    pub(super) line: Line,
    pub(super) is_selected: bool,
}

/// A part of the screen.
#[derive(Debug, Clone, Copy)]
struct ScreenArea {
    x: usize,
    y: usize,
    columns: usize,
    rows: usize,
}

impl ScreenLayout {
    fn put(&mut self, area: ScreenArea, row: usize, line: Line) {
        self.place(area, row, line, false);
    }

    fn place(&mut self, area: ScreenArea, row: usize, line: Line, is_selected: bool) {
        if row < area.rows {
            let [x, y, columns] = [area.x, area.y + row, area.columns]
                .map(|number| u16::try_from(number).unwrap_or(u16::MAX));
            self.placed.push(PlacedLine { x, y, columns, line, is_selected });
        }
    }
}

/// Lays out the state for a screen. It also keeps the selected entry on the screen, and scrolling within the text.
pub(super) fn layout(
    state: &mut FindState,
    human_layout: &HumanLayout,
    columns: usize,
    rows: usize,
) -> ScreenLayout {
    let mut layout = ScreenLayout::default();
    let screen = ScreenArea { x: 0, y: 0, columns, rows };
    prompt(state, screen, &mut layout);
    layout.put(screen, 1, numbers(state, human_layout, columns));
    if rows > AROUND {
        let body = ScreenArea { y: 3, rows: rows - AROUND, ..screen };
        below_prompt(state, human_layout, body, &mut layout);
    }
    if rows > 2 {
        layout.put(screen, rows - 1, foot(state, columns));
    }
    layout
}

fn faint(text: impl Into<String>) -> Line {
    vec![piece(Meaning::Faint, text)]
}

fn rule(columns: usize) -> Line {
    faint("─".repeat(columns))
}

/// Puts the typed text, with the cursor.
fn prompt(state: &FindState, screen: ScreenArea, layout: &mut ScreenLayout) {
    let (before, entry, right) = match &state.panel {
        Panel::Picker(picker) => (format!("{} {PROMPT}", picker.name), &picker.entry, ""),
        _ => {
            let mode = match state.request.legs {
                None | Some(LegSelection::Both) => "hybrid",
                Some(LegSelection::Keyword) => "keywords only",
                Some(LegSelection::Vector) => "meaning only",
            };
            (PROMPT.to_owned(), &state.entry, mode)
        }
    };
    let indent = width(&before);
    let room = screen.columns.saturating_sub(indent + width(right) + 2).max(1);
    let (text, cursor) = entry.shown(room);
    let left = vec![piece(Meaning::Place, before), piece(Meaning::Title, text)];
    layout.put(screen, 0, justified(left, faint(right), screen.columns));
    let x = (indent + cursor).min(screen.columns.saturating_sub(1));
    layout.cursor = u16::try_from(x).ok().map(|x| (x, 0));
}

/// Returns the line with numbers on the left and filters on the right.
fn numbers(state: &FindState, human_layout: &HumanLayout, columns: usize) -> Line {
    let filter = &state.request.filter;
    let chips = chips(filter, |path| shortened(&human_layout.path(path), columns / 3));
    let view = state.view();
    let mut left = match (&state.page, &view.heading) {
        (Some(page), _) => page.reading.title(),
        (None, Some(heading)) => heading.clone(),
        (None, None) if state.has_query() && (state.took.is_some() || !view.listing.is_empty()) => {
            view.listing.summary()
        }
        (None, None) => faint(counted(state.num_documents, "document")),
    };
    if state.page.is_none()
        && view.heading.is_none()
        && let Some(took) = state.took
    {
        left.extend(faint(format!(" · {} ms", took.as_millis())));
    }
    justified(left, chips, columns)
}

fn below_prompt(
    state: &mut FindState,
    human_layout: &HumanLayout,
    body: ScreenArea,
    layout: &mut ScreenLayout,
) {
    let line_above = ScreenArea { y: body.y - 1, rows: 1, ..body };
    layout.put(line_above, 0, rule(body.columns));
    if matches!(state.panel, Panel::Keys) {
        return keys(state, body, layout);
    }
    if state.page.is_some() {
        return page(state, body, layout);
    }
    let is_wide = body.columns >= WIDE;
    let (list, text) = if is_wide {
        let list = (body.columns * 2 / 5).clamp(*LIST.start(), *LIST.end());
        let x = list + 3;
        let text = ScreenArea { x, columns: (body.columns - x).min(TEXT), ..body };
        (ScreenArea { columns: list, ..body }, text)
    } else {
        let rows = (body.rows * 2 / 5).max(3).min(body.rows);
        let left = body.rows.saturating_sub(rows + 1);
        (ScreenArea { rows, ..body }, ScreenArea { y: body.y + rows + 1, rows: left, ..body })
    };
    if is_wide {
        let bar = ScreenArea { x: list.columns + 1, columns: 1, ..body };
        (0..body.rows).for_each(|row| layout.put(bar, row, faint("│")));
        let joint = ScreenArea { x: bar.x, columns: 1, ..line_above };
        layout.put(joint, 0, faint("┬"));
    } else if text.rows > 0 {
        layout.put(ScreenArea { y: text.y - 1, rows: 1, ..body }, 0, rule(body.columns));
    }
    match &mut state.panel {
        Panel::Picker(picker) => values(picker, &state.request.filter, human_layout, list, layout),
        _ => rows(state, list, layout),
    }
    beside(state, human_layout, text, layout);
}

/// Returns the first row to show, so that a row is on the screen.
fn offset(old: usize, row: usize, num_rows: usize) -> usize {
    old.min(row).max((row + 1).saturating_sub(num_rows))
}

/// Puts the rows of the list.
fn rows(state: &mut FindState, area: ScreenArea, layout: &mut ScreenLayout) {
    if !state.has_query() && state.views.len() == 1 {
        return hints(state, area, layout);
    }
    let view = state.view_mut();
    view.listing.set_width(area.columns);
    let all = view.listing.rows();
    let at = all.iter().position(|row| *row == ListingRow::Entry(view.selected)).unwrap_or(0);
    // The heading of a document is kept on the screen with its first entry.
    let above = at.checked_sub(1).and_then(|row| all.get(row));
    let is_below_heading = matches!(above, Some(ListingRow::Document(_)));
    let from = at - usize::from(is_below_heading);
    view.offset = offset(view.offset.min(from), at, area.rows);
    for (number, row) in all.iter().skip(view.offset).take(area.rows).enumerate() {
        let is_selected = *row == ListingRow::Entry(view.selected);
        let line = view.listing.line(*row, area.columns);
        layout.place(area, number, line, is_selected);
    }
}

/// Puts how to begin.
fn hints(state: &FindState, area: ScreenArea, layout: &mut ScreenLayout) {
    let number = thousands(state.num_documents);
    let lines = [
        format!("Type to search {number} documents."),
        String::new(),
        "\"a phrase\"   must match exactly".into(),
        "-word        excludes a word".into(),
        "prefix*      matches any word that starts with it".into(),
    ];
    for (row, line) in lines.into_iter().enumerate() {
        layout.put(area, row, fitted(faint(line), area.columns));
    }
}

/// Puts the values of a filter.
fn values(
    picker: &mut Picker,
    filter: &Filter,
    human_layout: &HumanLayout,
    area: ScreenArea,
    layout: &mut ScreenLayout,
) {
    let FilterKind::Of(facet) = picker.kind else {
        for (row, line) in DATES.into_iter().enumerate() {
            layout.put(area, row, fitted(faint(line), area.columns));
        }
        return;
    };
    picker.offset = offset(picker.offset, picker.selected, area.rows);
    for (number, value) in picker.matching().into_iter().enumerate().skip(picker.offset) {
        let count = thousands(value.num_documents);
        let mark = if is_set(filter, facet, &value.name) { "✓ " } else { "  " };
        let name = match facet {
            Facet::Folder => {
                let room = area.columns.saturating_sub(width(&count) + 3);
                shortened(&human_layout.path(&value.name), room)
            }
            _ => clean(&value.name),
        };
        let left = vec![piece(Meaning::Good, mark), piece(Meaning::Plain, name)];
        let line = justified(left, faint(count), area.columns);
        layout.place(area, number - picker.offset, line, number == picker.selected);
    }
}

/// Puts the text of the selected entry below its title, header chain and location.
fn beside(
    state: &mut FindState,
    human_layout: &HumanLayout,
    area: ScreenArea,
    layout: &mut ScreenLayout,
) {
    let view = state.view();
    let selected = view.selected;
    if view.listing.is_empty() || area.rows == 0 {
        state.text_rows = area.rows.max(1);
        return;
    }
    let head = view.listing.head(selected, human_layout, area.columns);
    let num_head = head.len() + 1;
    for (row, line) in head.into_iter().enumerate() {
        layout.put(area, row, line);
    }
    let text =
        ScreenArea { y: area.y + num_head, rows: area.rows.saturating_sub(num_head), ..area };
    let (body, num_before) = match &view.beside {
        Some(EntryPreview::Part(reading)) => (reading.body(area.columns), 0),
        Some(EntryPreview::Around(around)) => {
            (view.listing.body(selected, Some(around), area.columns), LINES_BEFORE)
        }
        None => {
            // Until the text around it is known, the passage has its final place, so that it does not jump.
            let mut body = view.listing.body(selected, None, area.columns);
            if view.listing.has_text_before(selected) {
                body.lines.splice(0..0, [Line::new(), Line::new()]);
                body.start += LINES_BEFORE;
            }
            (body, LINES_BEFORE)
        }
    };
    let scroll = scrolled(&body, num_before, view.scroll, text, layout);
    state.view_mut().scroll = scroll;
    state.text_rows = text.rows.max(1);
}

/// Puts the lines of a text from where it begins, scrolled; returns by how many lines it could be scrolled.
fn scrolled(
    body: &ReadingText,
    num_before: usize,
    scroll: isize,
    area: ScreenArea,
    layout: &mut ScreenLayout,
) -> isize {
    let begin = body.start.saturating_sub(num_before);
    let last = body.lines.len().saturating_sub(area.rows).max(begin.min(body.lines.len()));
    let first = begin.saturating_add_signed(scroll).min(last);
    for (row, line) in body.lines.iter().skip(first).take(area.rows).enumerate() {
        layout.put(area, row, line.clone());
    }
    let [first, begin] = [first, begin].map(|row| isize::try_from(row).unwrap_or(isize::MAX));
    first - begin
}

/// Puts a part of a document that is read.
fn page(state: &mut FindState, area: ScreenArea, layout: &mut ScreenLayout) {
    state.text_rows = area.rows;
    let Some(page) = &mut state.page else { return };
    let columns = area.columns.min(TEXT);
    let body = match &mut page.lines {
        Some((known, body)) if *known == columns => body,
        lines => &mut lines.insert((columns, page.reading.body(columns))).1,
    };
    page.scroll = scrolled(body, LINES_BEFORE, page.scroll, ScreenArea { columns, ..area }, layout);
}

/// Puts the table of keys.
fn keys(state: &FindState, area: ScreenArea, layout: &mut ScreenLayout) {
    let bindings = BINDINGS.iter().filter(|binding| !binding.2.is_empty());
    for (row, (keys, command, help)) in bindings.enumerate() {
        let is_printing = state.is_printing && *command == KeyCommand::Choose;
        let help = if is_printing { "print the path and line, and leave" } else { help };
        let line = vec![
            piece(Meaning::Place, format!("{:<KEYS$}", keys.join("  "))),
            piece(Meaning::Plain, help),
        ];
        layout.put(area, row, fitted(line, area.columns));
    }
}

/// Returns the last line: a message, else the keys that matter now. A narrow screen has only the first of them,
/// so how to leave and where all keys are come early.
fn foot(state: &FindState, columns: usize) -> Line {
    if let Some(message) = &state.message {
        return fitted(message.clone(), columns);
    }
    let choose = if state.is_printing { "print" } else { "open" };
    let keys: Vec<(String, String)> = match &state.panel {
        Panel::Keys => owned([("Esc", "back")]),
        Panel::Picker(_) => owned([("Enter", "choose"), ("Esc", "back")]),
        Panel::Filters => [("Esc".to_owned(), "back".to_owned())]
            .into_iter()
            .chain(MENU.iter().map(|(letter, name, _)| (letter.to_string(), (*name).to_owned())))
            .chain([(NONE.to_string(), "none".to_owned())])
            .collect(),
        Panel::None if state.page.is_some() => {
            owned([("Enter", choose), ("Esc", "back"), ("Up Down PgUp PgDn", "scroll")])
        }
        Panel::None => owned([
            ("Enter", choose),
            ("Esc", if state.views.len() > 1 { "back" } else { "leave" }),
            ("^G", "keys"),
            ("^O", "outline"),
            ("^S", "section"),
            ("^R", "similar"),
            ("^F", "filter"),
            ("Tab", "mode"),
        ]),
    };
    let mut line = Line::new();
    for (key, word) in keys {
        let next = [piece(Meaning::Place, key), piece(Meaning::Faint, format!(" {word}  "))];
        let taken = width_of(&line);
        let wide: usize = next.iter().map(|piece| width(&piece.text)).sum();
        if taken + wide.saturating_sub(2) > columns {
            break;
        }
        line.extend(next);
    }
    line
}

fn owned<const N: usize>(keys: [(&str, &str); N]) -> Vec<(String, String)> {
    keys.map(|(key, word)| (key.to_owned(), word.to_owned())).into()
}
