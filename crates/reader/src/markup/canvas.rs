//! Reads a canvas, a board of cards and arrows (JSON Canvas): cards from top to bottom, those of a group together.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde::Deserialize;

use crate::document::Document;
use crate::extract::markdown;

/// Most groups that are read as sections, as each card is looked for in each of them.
const MAX_GROUPS: usize = 200;

/// Longest name of a card at the end of an arrow, in characters: the card itself has its whole text.
const MAX_NAME_CHARS: usize = 60;

#[derive(Deserialize)]
struct CanvasBoard {
    #[serde(default)]
    nodes: Vec<CanvasCard>,
    #[serde(default)]
    edges: Vec<CanvasArrow>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CanvasCard {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    text: String,
    file: String,
    subpath: String,
    url: String,
    label: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CanvasArrow {
    from_node: String,
    to_node: String,
    label: String,
}

/// A card that is in no group, or a group with its cards.
struct CanvasPart<'a> {
    first: &'a CanvasCard,
    cards: Vec<&'a CanvasCard>,
}

pub(super) fn extract(text: &str) -> Document {
    let Ok(CanvasBoard { nodes, edges }) = serde_json::from_str(text) else {
        return Document::default();
    };
    let mut written = Vec::new();
    for CanvasPart { first, mut cards } in parts(&nodes) {
        cards.sort_by(|one, other| one.compare(other));
        written.push(first.words());
        written.extend(cards.into_iter().map(CanvasCard::words));
    }
    let by_id: HashMap<&str, &CanvasCard> = nodes.iter().map(|card| (&*card.id, card)).collect();
    let arrows: Vec<String> = edges.iter().filter_map(|arrow| arrow.words(&by_id)).collect();
    written.push(arrows.join("\n"));
    written.retain(|words| !words.trim().is_empty());
    // The lines of this text are not those of the file.
    Document { has_lines: false, ..markdown::extract(&written.join("\n\n")) }
}

/// Returns the parts of a board in reading order.
fn parts(nodes: &[CanvasCard]) -> Vec<CanvasPart<'_>> {
    let (mut groups, mut cards): (Vec<&CanvasCard>, Vec<&CanvasCard>) =
        nodes.iter().partition(|card| card.kind == "group");
    cards.extend(groups.split_off(groups.len().min(MAX_GROUPS)));
    let mut parts: Vec<CanvasPart<'_>> =
        groups.into_iter().map(|first| CanvasPart { first, cards: Vec::new() }).collect();
    let num_groups = parts.len();
    for card in cards {
        let around = (0..num_groups).filter(|idx| parts[*idx].first.has(card));
        let innermost = around
            .min_by(|one, other| parts[*one].first.area().total_cmp(&parts[*other].first.area()));
        match innermost {
            Some(idx) => parts[idx].cards.push(card),
            None => parts.push(CanvasPart { first: card, cards: Vec::new() }),
        }
    }
    parts.sort_by(|one, other| one.first.compare(other.first));
    parts
}

impl CanvasCard {
    /// Compares positions: from top to bottom, then from left to right.
    fn compare(&self, other: &Self) -> Ordering {
        self.y.total_cmp(&other.y).then(self.x.total_cmp(&other.x))
    }

    fn area(&self) -> f64 {
        self.width * self.height
    }

    /// Whether the middle of another card is on this one.
    fn has(&self, other: &Self) -> bool {
        let (x, y) = (other.x + other.width / 2.0, other.y + other.height / 2.0);
        (self.x..=self.x + self.width).contains(&x) && (self.y..=self.y + self.height).contains(&y)
    }

    /// Returns the content of the card as Markdown.
    fn words(&self) -> String {
        match self.kind.as_str() {
            "group" if self.label.trim().is_empty() => String::new(),
            "group" => {
                format!("## {}", self.label.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            "file" => format!("{}{}", self.file, self.subpath),
            "link" => self.url.clone(),
            _ => self.text.trim().to_owned(),
        }
    }

    /// Returns its first words, for an arrow.
    fn name(&self) -> String {
        let words = self.words();
        let first = words.lines().next().unwrap_or_default().trim_start_matches(['#', '-', ' ']);
        markdown::shorten(first, MAX_NAME_CHARS)
    }
}

impl CanvasArrow {
    /// Returns the label of the arrow, with the cards that it connects; `None` if it has no label.
    fn words(&self, cards: &HashMap<&str, &CanvasCard>) -> Option<String> {
        let label = self.label.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = |id: &String| cards.get(id.as_str()).map(|card| card.name()).unwrap_or_default();
        let (from, to) = (name(&self.from_node), name(&self.to_node));
        (!label.is_empty()).then(|| format!("- {label}: {from} → {to}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markup::testing::check;

    #[test]
    fn cards_are_read_from_top_to_bottom_and_those_of_a_group_together() {
        check(
            extract,
            r##"{"nodes": [
                {"id": "d", "type": "text", "x": 0, "y": 900, "width": 10, "height": 10, "text": "Last"},
                {"id": "c", "type": "text", "x": 300, "y": 5, "width": 10, "height": 10, "text": "Beside the group"},
                {"id": "b", "type": "text", "x": 20, "y": 40, "width": 10, "height": 10, "text": "Low water"},
                {"id": "a", "type": "text", "x": 10, "y": 20, "width": 10, "height": 10, "text": "# Tides\n- ebb\n- flood"},
                {"id": "g", "type": "group", "x": 0, "y": 0, "width": 200, "height": 100, "label": "Harbour"},
                {"id": "f", "type": "file", "x": 0, "y": 200, "file": "Notes/Plan.md", "subpath": "#Quay"},
                {"id": "u", "type": "link", "x": 50, "y": 200, "url": "https://example.org"}],
                "edges": [{"id": "1", "fromNode": "a", "toNode": "f", "label": "is planned in"},
                          {"id": "2", "fromNode": "a", "toNode": "b"}]}"##,
            &[
                "## Harbour",
                "# Tides",
                "- ebb",
                "- flood",
                "Low water",
                "Beside the group",
                "Notes/Plan.md#Quay",
                "https://example.org",
                "Last",
                "- is planned in: Tides → Notes/Plan.md#Quay",
            ],
        );
    }

    #[test]
    fn what_is_no_board_has_no_blocks() {
        check(extract, "{\"nodes\": 3}", &[]);
        check(extract, "{}", &[]);
        check(extract, "words", &[]);
    }
}
