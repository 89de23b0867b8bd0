//! Reads the trees in which a PDF keeps objects by name.

use hayro::hayro_syntax::object::{Array, Dict, Object, String as PdfString};

/// Most nodes of a tree that are visited: it may be a circle.
const MAX_NODES: usize = 100_000;

/// Returns the names and objects of a tree, in its order; at most `max` of them.
pub(super) fn entries<'a>(root: Dict<'a>, max: usize) -> Vec<(PdfString<'a>, Object<'a>)> {
    let mut entries = Vec::new();
    let mut pending = vec![root];
    let mut num_nodes = 0;
    while let Some(node) = pending.pop()
        && num_nodes < MAX_NODES
        && entries.len() < max
    {
        num_nodes += 1;
        let leaves = node.get::<Array<'_>>(b"Names");
        let mut leaves = leaves.iter().flat_map(Array::iter::<Object<'_>>);
        while let (Some(name), Some(object)) = (leaves.next(), leaves.next()) {
            if let Object::String(name) = name {
                entries.push((name, object));
            }
        }
        let kids = node.get::<Array<'_>>(b"Kids");
        let kids: Vec<Dict<'_>> = kids.iter().flat_map(Array::iter::<Dict<'_>>).collect();
        pending.extend(kids.into_iter().rev());
    }
    entries
}
