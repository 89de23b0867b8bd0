//! Reads the headings in the structure tags of a PDF, by page and marked content.

use std::collections::{HashMap, HashSet};

use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::{Dict, Name, Object, ObjectIdentifier};

/// Most elements of a tree that are visited: bounds the time for a hostile one. Headings that come later are found by
/// their looks.
const MAX_NODES: usize = 500_000;

/// Levels of headings on one page, by the number of their marked content.
pub(super) type TaggedLevels = HashMap<u32, u8>;

/// Tagged headings of a document, by page.
#[derive(Debug, Default)]
pub(super) struct TaggedHeadings(HashMap<ObjectIdentifier, TaggedLevels>);

impl TaggedHeadings {
    /// Returns the headings of the page with this id.
    pub(super) fn of_page(&self, page: Option<ObjectIdentifier>) -> Option<&TaggedLevels> {
        self.0.get(&page?)
    }
}

/// A part of the tree that has not been visited yet.
struct UnvisitedTag<'a> {
    kid: Object<'a>,
    page: Option<ObjectIdentifier>,
    level: u8,
}

/// Reads the headings in the structure tree of `pdf`.
pub(super) fn read(pdf: &Pdf) -> TaggedHeadings {
    let mut tags = TaggedHeadings::default();
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
    let Some(root) = catalog.get::<Dict<'_>>(b"StructTreeRoot") else { return tags };
    let roles = root.get::<Dict<'_>>(b"RoleMap").unwrap_or_default();
    let mut seen: HashSet<ObjectIdentifier> = HashSet::new();
    let mut pending: Vec<UnvisitedTag<'_>> = Vec::new();
    push_kids(&root, None, 0, &mut pending);
    let mut num_nodes = 0;
    while let Some(UnvisitedTag { kid, page, level }) = pending.pop()
        && num_nodes < MAX_NODES
    {
        num_nodes += 1;
        match kid {
            Object::Number(id) => {
                add_heading(&mut tags, page, u32::try_from(id.as_i64()).ok(), level);
            }
            Object::Dict(element) => {
                let page = element.get_ref(b"Pg").map(ObjectIdentifier::from).or(page);
                if let Some(id) = element.get::<u32>(b"MCID") {
                    add_heading(&mut tags, page, Some(id), level);
                } else if element.obj_id().is_none_or(|id| seen.insert(id)) {
                    let own = element
                        .get::<Name<'_>>(b"S")
                        .map_or(0, |role| heading_level(&role, &roles));
                    push_kids(&element, page, if own > 0 { own } else { level }, &mut pending);
                }
            }
            _ => {}
        }
    }
    tags
}

fn push_kids<'a>(
    element: &Dict<'a>,
    page: Option<ObjectIdentifier>,
    level: u8,
    pending: &mut Vec<UnvisitedTag<'a>>,
) {
    match element.get::<Object<'_>>(b"K") {
        Some(Object::Array(kids)) => {
            let kids = kids.iter::<Object<'_>>();
            pending.extend(kids.map(|kid| UnvisitedTag { kid, page, level }));
        }
        Some(kid) => pending.push(UnvisitedTag { kid, page, level }),
        None => {}
    }
}

fn add_heading(
    tags: &mut TaggedHeadings,
    page: Option<ObjectIdentifier>,
    id: Option<u32>,
    level: u8,
) {
    if let (Some(page), Some(id), 1..) = (page, id, level) {
        tags.0.entry(page).or_default().insert(id, level);
    }
}

/// Returns the level of a heading from the name of its role; 0 for everything else.
fn heading_level(role: &Name<'_>, roles: &Dict<'_>) -> u8 {
    let mut role = role.clone();
    // A role may be mapped to another one that is mapped again; a longer chain is a circle.
    for _ in 0..4 {
        match role.as_str() {
            "H" | "Title" => return 1,
            name if name.len() == 2 && name.starts_with('H') => {
                return name[1..].parse().ok().filter(|level| (1..=6).contains(level)).unwrap_or(0);
            }
            _ => {}
        }
        match roles.get::<Name<'_>>(&*role) {
            Some(mapped) => role = mapped,
            None => break,
        }
    }
    0
}
