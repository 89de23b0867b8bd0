//! Narrows a search: the letters of the menu, the values to choose from, and dates as they are typed.

use crate::app::query::facets::{Facet, FacetValue};
use crate::app::session::typed_dates::TypedDate;
use crate::cli::find::line_editor::LineEditor;
use crate::document::Filter;
use crate::present::find::{Line, Meaning, piece};
use crate::text::printable::clean;

/// The subject of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterKind {
    /// One of the values that documents have.
    Of(Facet),
    /// A date, which is typed.
    Date,
}

/// The menu of filters: letter, name, subject.
pub(super) const MENU: [(char, &str, FilterKind); 5] = [
    ('t', "type", FilterKind::Of(Facet::Type)),
    ('g', "tag", FilterKind::Of(Facet::Tag)),
    ('f', "folder", FilterKind::Of(Facet::Folder)),
    ('l', "language", FilterKind::Of(Facet::Language)),
    ('d', "date", FilterKind::Date),
];

/// The letter that removes all filters.
pub(super) const NONE: char = 'x';

/// How dates are typed.
pub(super) const DATES: [&str; 3] = [
    "2026, 2026-05, 2026-05-17, 7d, last month: dates in that period",
    "2024.. from, ..2024 until, 2023-06..2024 between",
    "empty: any date",
];

/// A filter that is being chosen.
#[derive(Debug)]
pub(super) struct Picker {
    pub(super) kind: FilterKind,
    pub(super) name: &'static str,
    pub(super) entry: LineEditor,
    /// The values, once they are known.
    pub(super) values: Vec<FacetValue>,
    /// The selected one among the values that match the typed text.
    pub(super) selected: usize,
    pub(super) offset: usize,
}

impl Picker {
    pub(super) fn new(name: &'static str, kind: FilterKind) -> Self {
        let (entry, values) = (LineEditor::default(), Vec::new());
        Self { kind, name, entry, values, selected: 0, offset: 0 }
    }

    /// Returns the values that contain the typed text.
    pub(super) fn matching(&self) -> Vec<&FacetValue> {
        let typed = self.entry.text().trim().to_lowercase();
        self.values.iter().filter(|value| value.name.to_lowercase().contains(&typed)).collect()
    }

    /// Changes a filter by the value that is selected or typed. A value that the filter already has
    /// is removed.
    pub(super) fn apply(&self, filter: &mut Filter) -> Result<(), String> {
        let facet = match self.kind {
            FilterKind::Date => {
                (filter.since, filter.until) = dates(self.entry.text())?;
                return Ok(());
            }
            FilterKind::Of(facet) => facet,
        };
        let matching = self.matching();
        let Some(value) = matching.get(self.selected) else {
            return Err(format!("no document has this {}", self.name));
        };
        let name = &value.name;
        let is_set = is_set(filter, facet, name);
        match facet {
            Facet::Type => filter.kind = name.parse().ok().filter(|_| !is_set),
            Facet::Language => filter.language = name.parse().ok().filter(|_| !is_set),
            Facet::Folder if is_set => filter.paths.retain(|path| path != name),
            Facet::Folder => (filter.paths, filter.numbered) = (vec![name.clone()], Vec::new()),
            Facet::Tag if is_set => filter.tags.retain(|tag| tag != name),
            Facet::Tag => filter.tags.push(name.clone()),
        }
        Ok(())
    }
}

/// Whether a filter has a value.
pub(super) fn is_set(filter: &Filter, facet: Facet, name: &str) -> bool {
    match facet {
        Facet::Type => filter.kind.is_some_and(|known| known.as_str() == name),
        Facet::Language => filter.language.is_some_and(|known| known.as_str() == name),
        Facet::Folder => filter.paths.iter().any(|path| path == name),
        Facet::Tag => filter.tags.iter().any(|tag| tag == name),
    }
}

/// Returns the first and the last date of the typed text.
fn dates(typed: &str) -> Result<(Option<String>, Option<String>), String> {
    let typed = typed.trim();
    let (since, until) = match typed.split_once("..") {
        Some((since, until)) => (date(since)?, date(until)?),
        None => date(typed).map(|date| (date.clone(), date))?,
    };
    Ok((since.map(|date| date.since().date), until.map(|date| date.until().date)))
}

fn date(typed: &str) -> Result<Option<TypedDate>, String> {
    match typed.trim() {
        "" => Ok(None),
        typed => TypedDate::now(typed).map(Some).map_err(|error| match error.hint() {
            Some(hint) => format!("{error}: {hint}"),
            None => error.to_string(),
        }),
    }
}

/// Returns the filters that are set, as short as possible.
pub(super) fn chips(filter: &Filter, path: impl Fn(&str) -> String) -> Line {
    let mut chips: Vec<String> = Vec::new();
    chips.extend(filter.kind.map(|known| known.as_str().to_owned()));
    chips.extend(filter.language.map(|known| known.as_str().to_owned()));
    chips.extend(filter.tags.iter().map(|tag| format!("#{}", clean(tag))));
    chips.extend(filter.excluded_tags.iter().map(|tag| format!("-#{}", clean(tag))));
    chips.extend(filter.paths.iter().map(|place| path(place)));
    chips.extend(filter.numbered.iter().map(|numbered| numbered.id.to_string()));
    match (&filter.since, &filter.until) {
        (None, None) => {}
        (Some(since), Some(until)) if since == until => chips.push(since.clone()),
        (since, until) => {
            let [since, until] = [since, until].map(|day| day.as_deref().unwrap_or_default());
            chips.push(format!("{since}..{until}"));
        }
    }
    chips.extend(filter.added_since.as_ref().map(|day| format!("added {day}..")));
    if chips.is_empty() { Line::new() } else { vec![piece(Meaning::Tag, chips.join("  "))] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker(kind: FilterKind, typed: &str, names: &[&str]) -> Picker {
        let value = |name: &&str| FacetValue { name: (*name).to_owned(), num_documents: 1 };
        let values = names.iter().map(value).collect();
        Picker { entry: LineEditor::new(typed), values, ..Picker::new("tag", kind) }
    }

    #[test]
    fn what_is_selected_narrows_and_a_second_time_no_longer() {
        let mut filter = Filter::default();
        picker(FilterKind::Of(Facet::Type), "pd", &["markdown", "pdf"]).apply(&mut filter).unwrap();
        picker(FilterKind::Of(Facet::Tag), "", &["a b", "c"]).apply(&mut filter).unwrap();
        picker(FilterKind::Of(Facet::Language), "", &["rust"]).apply(&mut filter).unwrap();
        picker(FilterKind::Of(Facet::Folder), "", &["/home/ada/docs"]).apply(&mut filter).unwrap();
        picker(FilterKind::Date, "2024-05", &[]).apply(&mut filter).unwrap();
        let text = |filter: &Filter| {
            let chips = chips(filter, |path| path.replace("/home/ada", "~"));
            chips.first().map_or(String::new(), |chips| chips.text.clone())
        };
        assert_eq!(text(&filter), "pdf  rust  #a b  ~/docs  2024-05");
        picker(FilterKind::Of(Facet::Type), "", &["pdf"]).apply(&mut filter).unwrap();
        picker(FilterKind::Of(Facet::Tag), "", &["a b"]).apply(&mut filter).unwrap();
        picker(FilterKind::Of(Facet::Language), "", &["rust"]).apply(&mut filter).unwrap();
        picker(FilterKind::Of(Facet::Folder), "", &["/home/ada/docs"]).apply(&mut filter).unwrap();
        picker(FilterKind::Date, " ", &[]).apply(&mut filter).unwrap();
        assert_eq!(filter, Filter::default());
        let refused = picker(FilterKind::Of(Facet::Tag), "z", &["a"]).apply(&mut filter);
        assert_eq!(refused, Err("no document has this tag".into()));
    }

    #[test]
    fn dates_are_typed_as_one_or_as_a_range() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(dates("2024"), Ok((some("2024"), some("2024"))));
        assert_eq!(dates("2024.."), Ok((some("2024"), None)));
        assert_eq!(dates("..2024-05-17"), Ok((None, some("2024-05-17"))));
        assert_eq!(dates("2023..2024"), Ok((some("2023"), some("2024"))));
        assert_eq!(dates(""), Ok((None, None)));
        assert!(dates("May").is_err());
        let (since, until) = dates("last year").unwrap();
        assert!(since.unwrap().ends_with("-01-01") && until.unwrap().ends_with("-12-31"));
    }
}
