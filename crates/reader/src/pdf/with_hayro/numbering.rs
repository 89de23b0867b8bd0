//! Numbers the pages of a PDF, including those that are missing from a damaged file.
//!
//! The page tree refers to a missing page, but there is no object where the reference leads. The
//! counts in the tree show how many pages are missing below a lost node.

use std::collections::HashSet;

use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::{Array, Dict, MaybeRef, Name, Object, ObjectIdentifier};

/// Most nodes of a page tree that are visited: bounds the memory for a hostile one.
const MAX_NODES: usize = 1_000_000;

/// The physical numbers of the pages that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbering {
    /// The number of each page that was found, from 1, in order.
    pub(super) numbers: Vec<u32>,
    /// Number of pages, including the missing ones that have a number.
    pub(super) page_count: u32,
    /// How many pages the file declares, if it does.
    pub(super) declared: Option<u32>,
}

impl Numbering {
    pub(super) fn of(pdf: &Pdf) -> Self {
        let num_found = u32::try_from(pdf.pages().len()).unwrap_or(u32::MAX);
        let root = pdf
            .xref()
            .get::<Dict<'_>>(pdf.xref().root_id())
            .and_then(|catalog| catalog.get::<Dict<'_>>(b"Pages"));
        let declared = root.as_ref().and_then(|root| root.get::<u32>(b"Count"));
        let found: Vec<_> = pdf.pages().iter().map(|page| page.raw().obj_id()).collect();
        let numbers = root
            .filter(|_| declared.is_some_and(|declared| declared > num_found))
            .and_then(|root| numbers(&slots(pdf, &root), &found, declared?));
        let page_count = if numbers.is_some() { declared } else { None };
        Self {
            numbers: numbers.unwrap_or_else(|| (1..=num_found).collect()),
            page_count: page_count.unwrap_or(num_found),
            declared,
        }
    }

    /// Whether pages are missing whose numbers are unknown.
    pub(super) fn lacks_pages(&self) -> bool {
        self.declared.is_some_and(|declared| declared > self.page_count)
    }

    /// Returns the position among the found pages of the page with this number.
    pub(super) fn idx_of(&self, number: u32) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }
}

/// A reference in the page tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageReference {
    /// To a page.
    Page(Option<ObjectIdentifier>),
    /// To this many missing pages.
    Lost(u32),
}

impl PageReference {
    fn num_pages(self) -> u32 {
        match self {
            Self::Page(_) => 1,
            Self::Lost(num_pages) => num_pages,
        }
    }
}

/// Returns the number of each found page; `None` unless the tree accounts for all pages that it
/// declares, and for the found ones in the same order. A count alone does not prove more missing
/// pages than were found, as it may be wrong in a damaged file.
fn numbers(
    slots: &[PageReference],
    found: &[Option<ObjectIdentifier>],
    declared: u32,
) -> Option<Vec<u32>> {
    let mut last = 0_u32;
    let mut numbers = Vec::with_capacity(found.len());
    let mut rest = found.iter();
    for slot in slots {
        last = last.checked_add(slot.num_pages())?;
        if let PageReference::Page(id) = slot {
            rest.next().filter(|found| *found == id)?;
            numbers.push(last);
        }
    }
    let num_found = u32::try_from(found.len()).ok()?;
    let num_lost = slots.iter().filter(|slot| matches!(slot, PageReference::Lost(_))).count();
    let most_missing = num_found.max(u32::try_from(num_lost).ok()?);
    let is_complete = rest.next().is_none() && last == declared;
    (is_complete && declared - num_found <= most_missing).then_some(numbers)
}

/// A node of the page tree that is being visited.
struct PageTreeNode {
    /// Its remaining children, the next one last.
    kids: Vec<Kid>,
    declared: Option<u32>,
    /// Number of slots before it.
    start: usize,
}

/// A child: a reference, or its count of pages if it is no object.
type Kid = Option<ObjectIdentifier>;

impl PageTreeNode {
    fn new(dict: &Dict<'_>, start: usize) -> Option<Self> {
        let kids = dict.get::<Array<'_>>(b"Kids")?;
        let mut kids: Vec<Kid> = kids
            .raw_iter()
            .take(MAX_NODES)
            .map(|kid| match kid {
                MaybeRef::Ref(reference) => Some(reference.into()),
                MaybeRef::NotRef(object) => object.into_dict().and_then(|dict| dict.obj_id()),
            })
            .collect();
        kids.reverse();
        Some(Self { kids, declared: dict.get::<u32>(b"Count"), start })
    }
}

/// Returns the references to pages in order.
fn slots(pdf: &Pdf, root: &Dict<'_>) -> Vec<PageReference> {
    let mut seen: HashSet<ObjectIdentifier> = root.obj_id().into_iter().collect();
    let mut slots = Vec::new();
    let mut pending: Vec<PageTreeNode> = PageTreeNode::new(root, 0).into_iter().collect();
    while let Some(node) = pending.last_mut()
        && slots.len() < MAX_NODES
    {
        let Some(kid) = node.kids.pop() else {
            fill(&mut slots[node.start..], node.declared);
            pending.pop();
            continue;
        };
        if kid.is_some_and(|id| !seen.insert(id)) {
            continue;
        }
        let dict = kid.and_then(|id| pdf.xref().get::<Object<'_>>(id)?.into_dict());
        let Some(dict) = dict else {
            slots.push(PageReference::Lost(1));
            continue;
        };
        if dict.get::<Name<'_>>(b"Type").is_some_and(|kind| &*kind == b"Pages") {
            match PageTreeNode::new(&dict, slots.len()) {
                Some(node) => pending.push(node),
                None => slots.push(PageReference::Lost(dict.get::<u32>(b"Count").unwrap_or(1))),
            }
        } else {
            slots.push(PageReference::Page(dict.obj_id()));
        }
    }
    slots
}

/// Gives the only lost child of a node all pages that the node lacks.
fn fill(slots: &mut [PageReference], declared: Option<u32>) {
    let num_pages = slots.iter().fold(0_u32, |sum, slot| sum.saturating_add(slot.num_pages()));
    let lacking = declared.and_then(|declared| declared.checked_sub(num_pages));
    let mut lost = slots.iter_mut().filter_map(|slot| match slot {
        PageReference::Lost(num_pages) => Some(num_pages),
        PageReference::Page(_) => None,
    });
    if let (Some(only), None, Some(lacking)) = (lost.next(), lost.next(), lacking) {
        *only += lacking;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> Option<ObjectIdentifier> {
        Some(ObjectIdentifier::new(number, 0))
    }

    #[test]
    fn pages_after_missing_ones_keep_their_numbers() {
        let mut slots = [
            PageReference::Page(id(4)),
            PageReference::Lost(1),
            PageReference::Page(id(9)),
            PageReference::Page(id(5)),
        ];
        fill(&mut slots, Some(5));
        assert_eq!(numbers(&slots, &[id(4), id(9), id(5)], 5), Some(vec![1, 4, 5]));
    }

    #[test]
    fn pages_have_no_numbers_if_the_tree_does_not_account_for_all() {
        let slots = [
            PageReference::Page(id(4)),
            PageReference::Lost(1),
            PageReference::Page(id(9)),
            PageReference::Lost(1),
        ];
        assert_eq!(numbers(&slots, &[id(4), id(9)], 5), None);
        assert_eq!(numbers(&slots, &[id(9), id(4)], 4), None);
        assert_eq!(numbers(&slots, &[id(4), id(9), id(3)], 4), None);
        let mut most = [PageReference::Page(id(4)), PageReference::Lost(1)];
        fill(&mut most, Some(u32::MAX));
        assert_eq!(numbers(&most, &[id(4)], u32::MAX), None);
    }
}
