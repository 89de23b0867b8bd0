//! Reads a diagram as a list of its texts, in the order in which it shows them (ECMA-376, part 1, 21.4.2).

use std::collections::{BTreeMap, BTreeSet};

use super::figure::{Figure, FigurePoint};
use crate::xml::{self, XmlEvent};

/// Returns a diagram; a damaged one has the part before the damage.
pub(super) fn read(xml: &str) -> Figure {
    // Points in the order of the part, by their ids.
    let mut nodes: Vec<DiagramNode> = Vec::new();
    let mut below: BTreeMap<String, Vec<(u32, String)>> = BTreeMap::new();
    let mut is_text = false;
    let _ = xml::each(xml, |event| match event {
        XmlEvent::Open(element) => match element.name() {
            "pt" => {
                let id = element.attribute("modelId").unwrap_or_default();
                let is_root = element.attribute("type").as_deref() == Some("doc");
                nodes.push(DiagramNode { id, is_root, text: String::new() });
            }
            // Texts of nodes are `dgm:t`, which has paragraphs, and runs are `a:t`.
            name @ ("t" | "p" | "br") => {
                is_text = name == "t";
                if let Some(node) = nodes.last_mut() {
                    node.text.push_str(if is_text { "" } else { " " });
                }
            }
            "cxn" if element.attribute("type").is_none_or(|kind| kind == "parOf") => {
                let order = element.number("srcOrd").unwrap_or(u32::MAX);
                let source = below.entry(element.attribute_or_empty("srcId")).or_default();
                source.push((order, element.attribute_or_empty("destId")));
            }
            _ => is_text = false,
        },
        XmlEvent::Text(text) if is_text => {
            if let Some(node) = nodes.last_mut() {
                node.text.push_str(text);
            }
        }
        XmlEvent::Close("t") => is_text = false,
        XmlEvent::Close(_) | XmlEvent::Text(_) => {}
    });
    Figure { points: points(&nodes, below), ..Figure::default() }
}

/// A point of a diagram.
#[derive(Debug)]
struct DiagramNode {
    id: String,
    /// Whether it is the diagram itself.
    is_root: bool,
    text: String,
}

/// Returns the texts of a diagram: first those that are connected to the whole, then all others.
fn points(
    nodes: &[DiagramNode],
    mut below: BTreeMap<String, Vec<(u32, String)>>,
) -> Vec<FigurePoint> {
    let by_id: BTreeMap<&str, &DiagramNode> =
        nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let mut points = Vec::new();
    let mut seen = BTreeSet::new();
    let roots = nodes.iter().filter(|node| node.is_root).chain(nodes);
    for root in roots {
        let mut open = vec![(root.id.clone(), 0)];
        while let Some((id, depth)) = open.pop() {
            let Some(node) = by_id.get(id.as_str()).filter(|_| seen.insert(id.clone())) else {
                continue;
            };
            let text = node.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let has_text = !text.is_empty();
            if has_text {
                points.push(FigurePoint { depth, text });
            }
            let mut children = below.remove(&id).unwrap_or_default();
            children.sort();
            let depth = depth + usize::from(has_text);
            open.extend(children.into_iter().rev().map(|(_, child)| (child, depth)));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(xml: &str, expected: &[(usize, &str)]) {
        let figure = read(&format!("<dgm:dataModel>{xml}</dgm:dataModel>"));
        let points: Vec<_> =
            figure.points.iter().map(|point| (point.depth, point.text.as_str())).collect();
        assert_eq!(points, expected);
    }

    fn node(id: &str, text: &str) -> String {
        format!(
            "<dgm:pt modelId='{id}'><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>"
        )
    }

    fn connection(from: &str, to: &str, order: u32) -> String {
        format!("<dgm:cxn srcId='{from}' destId='{to}' srcOrd='{order}'/>")
    }

    #[test]
    fn a_diagram_is_a_list_in_the_order_of_its_connections() {
        let xml = "<dgm:pt modelId='0' type='doc'/>".to_owned()
            + &node("3", "Rinse")
            + &node("1", "Gather</a:t></a:r></a:p><a:p><a:r><a:t>kelp")
            + &node("2", "with a rake")
            + "<dgm:pt modelId='9' type='sibTrans'><dgm:t><a:p/></dgm:t></dgm:pt>"
            + &connection("0", "3", 1)
            + &connection("0", "1", 0)
            + &connection("1", "2", 0);
        check(&xml, &[(0, "Gather kelp"), (1, "with a rake"), (0, "Rinse")]);
    }

    #[test]
    fn points_without_connections_are_read_once() {
        let xml = node("1", "Plan") + &node("2", "Do") + &connection("2", "2", 0);
        check(&xml, &[(0, "Plan"), (0, "Do")]);
    }
}
