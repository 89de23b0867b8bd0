//! Numbers the items of lists, also of lists that continue an earlier one.

use std::collections::HashMap;

use super::styles::OdfStyles;
use crate::xml::Element;

/// Deepest level that has numbers; list styles have ten levels.
const MAX_LEVEL: usize = 10;

/// The open lists, the innermost last, and how far lists have counted.
#[derive(Debug, Default)]
pub(super) struct OdfLists {
    open: Vec<OdfList>,
    /// The last number of each level of the outermost list; `None` for a level without one.
    numbers: Vec<Option<u64>>,
    /// Where later lists may continue.
    previous: Vec<Option<u64>>,
    by_style: HashMap<String, Vec<Option<u64>>>,
    by_id: HashMap<String, Vec<Option<u64>>>,
}

/// An open list.
#[derive(Debug, Default)]
struct OdfList {
    /// The style that it states itself, or that of the list around it.
    style: Option<String>,
    /// Its id, and that of the list that it continues.
    ids: [Option<String>; 2],
    /// The number that the open item states.
    stated: Option<u64>,
    /// Whether the open item has text.
    has_text: bool,
}

impl OdfLists {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the depth of the innermost list, from 0.
    pub(super) fn depth(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    pub(super) fn begin(&mut self, element: &Element<'_>) {
        let own_style = element.attribute("style-name");
        let continued = element.attribute("continue-list");
        let continues =
            element.attribute("continue-numbering").is_some_and(|value| value == "true");
        let level = self.open.len();
        let (inherited, has_number) =
            self.open.last().map_or((None, false), |list| (list.style.clone(), list.has_text));
        let style = own_style.or(inherited);
        if level == 0 {
            let by_id = continued.as_ref().and_then(|id| self.by_id.get(id));
            let last = match &style {
                _ if !continues => None,
                Some(style) => self.by_style.get(style),
                // The style is that of its paragraphs, as for the list before it.
                None => Some(&self.previous),
            };
            self.numbers = by_id.or(last).cloned().unwrap_or_default();
        } else if has_number && !continues {
            // Below an item that has a number of its own, a list starts again. Without one, the item only leads to the
            // level at which a list continues.
            self.numbers.truncate(level);
        }
        let ids = [element.attribute("id"), continued];
        self.open.push(OdfList { style, ids, ..OdfList::default() });
    }

    /// Begins an item; a header has no number.
    pub(super) fn begin_item(&mut self, element: &Element<'_>) {
        let Some(list) = self.open.last_mut() else { return };
        list.has_text = element.name() == "list-header";
        list.stated = element.attribute("start-value").and_then(|start| start.parse().ok());
    }

    pub(super) fn end(&mut self) {
        let Some(list) = self.open.pop().filter(|_| self.open.is_empty()) else { return };
        let numbers = std::mem::take(&mut self.numbers);
        for id in list.ids.into_iter().flatten() {
            self.by_id.insert(id, numbers.clone());
        }
        if let Some(style) = list.style {
            self.by_style.insert(style, numbers.clone());
        }
        self.previous = numbers;
    }

    /// Returns the marker of the open item before its first text; `None` for further text.
    pub(super) fn marker(&mut self, styles: &OdfStyles, paragraph_style: &str) -> Option<String> {
        let level = self.open.len();
        let list = self.open.last_mut().filter(|list| !list.has_text)?;
        list.has_text = true;
        if list.style.is_none() {
            list.style = styles.list_of(paragraph_style).map(str::to_owned);
        }
        let style = list.style.as_deref().unwrap_or_default();
        let Some((start, suffix)) = styles.numbering(style, level).filter(|_| level <= MAX_LEVEL)
        else {
            return Some("-".to_owned());
        };
        self.numbers.resize(self.numbers.len().max(level), None);
        let last = self.numbers.get_mut(level - 1)?;
        let next = last.map_or(start, |last| last.saturating_add(1));
        let number = list.stated.take().unwrap_or(next);
        *last = Some(number);
        Some(format!("{number}{suffix}"))
    }
}
