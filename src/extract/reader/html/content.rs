//! Finds the main content of a parsed page, and the parts of it to leave out. Pure functions.

use ego_tree::NodeRef;
use scraper::node::Element;
use scraper::{ElementRef, Html, Node};

use super::select;

/// The content of a page.
pub(super) struct Content<'a> {
    /// The element that contains it.
    pub(super) root: ElementRef<'a>,
    /// Whether the page marks this element as its content, so that everything around it is already
    /// excluded.
    pub(super) is_main: bool,
}

/// Elements without text, or whose text is never displayed.
const NEVER_READ: &[&str] = &[
    "audio", "button", "canvas", "datalist", "dialog", "embed", "head", "iframe", "img", "input",
    "math", "menu", "nav", "noscript", "object", "option", "progress", "script", "select", "style",
    "svg", "template", "textarea", "video",
];

/// Roles of such elements.
const ROLES: &[&str] = &[
    "alert",
    "alertdialog",
    "banner",
    "complementary",
    "contentinfo",
    "dialog",
    "menu",
    "menubar",
    "navigation",
    "search",
    "toolbar",
];

/// Common classes and ids of elements that are not content, for pages without semantic elements.
/// Only complete names match: `nav` does not match `navigator`.
const NAMES: &[&str] = &[
    "breadcrumb",
    "breadcrumbs",
    "cookie-banner",
    "cookies",
    "edit-link",
    "footer",
    "headerlink",
    "menu",
    "nav",
    "navbar",
    "navigation",
    "pagination",
    "prev-next",
    "related-pages",
    "sidebar",
    "site-footer",
    "site-header",
    "skip-link",
    "skip-to-content",
    "social",
    "sphinxsidebar",
    "toc",
    "toctree-wrapper",
    "visually-hidden",
];

/// A `main` or single `article` must contain at least one in this many letters of the page to be
/// used.
const MIN_MAIN_SHARE: usize = 4;

/// Returns the content of a page.
pub(super) fn find(html: &Html) -> Content<'_> {
    let root = html.root_element();
    let body = select(root, "body").next().unwrap_or(root);
    for selector in ["main", "[role=main]", "article", "#content, #main-content, .main-content"] {
        let found: Vec<ElementRef<'_>> = select(body, selector).collect();
        if let [only] = found.as_slice()
            && num_letters(*only) * MIN_MAIN_SHARE >= num_letters(body)
        {
            return Content { root: *only, is_main: true };
        }
    }
    Content { root: body, is_main: false }
}

/// Returns the number of letters in the readable text below an element.
fn num_letters(root: ElementRef<'_>) -> usize {
    let is_read = |node: &NodeRef<'_, Node>| {
        let parent = node.parent().and_then(|parent| parent.value().as_element());
        !parent.is_some_and(|element| NEVER_READ.contains(&element.name()))
    };
    let texts = root.descendants().filter(is_read).filter_map(|node| node.value().as_text());
    texts.map(|text| text.chars().filter(|c| c.is_alphanumeric()).count()).sum()
}

/// Whether an element and everything below it is left out.
pub(super) fn is_left_out(node: NodeRef<'_, Node>, element: &Element, is_main: bool) -> bool {
    let name = element.name();
    if NEVER_READ.contains(&name) || is_hidden(element) {
        return true;
    }
    // Inside the content these elements belong to it, such as a side note or the author.
    let is_frame = match name {
        "footer" => true,
        "aside" => !is_main,
        "header" => !is_main && ElementRef::wrap(node).is_some_and(|header| is_site_header(header)),
        _ => false,
    };
    // The class of the whole page may contain `nav` or similar names.
    let can_be_left_out = !matches!(name, "html" | "body" | "main" | "article");
    is_frame
        || (can_be_left_out
            && (has_role(element) || is_named(element) || is_permalink(node, element)))
}

fn is_hidden(element: &Element) -> bool {
    let style = element.attr("style").unwrap_or_default().replace(' ', "").to_ascii_lowercase();
    element.attr("hidden").is_some()
        || element.attr("aria-hidden") == Some("true")
        || style.contains("display:none")
}

/// Whether this is the header of a site rather than of an article: it has navigation or no title.
fn is_site_header(header: ElementRef<'_>) -> bool {
    select(header, "nav").next().is_some() || select(header, "h1").next().is_none()
}

fn has_role(element: &Element) -> bool {
    element.attr("role").is_some_and(|role| ROLES.contains(&role))
}

fn is_named(element: &Element) -> bool {
    let is_known = |known: &str| NAMES.iter().any(|name| known.eq_ignore_ascii_case(name));
    element.classes().any(is_known) || element.id().is_some_and(is_known)
}

/// Whether an element is the link symbol next to a heading.
fn is_permalink(node: NodeRef<'_, Node>, element: &Element) -> bool {
    element.name() == "a"
        && ElementRef::wrap(node).is_some_and(|link| {
            let text: String = link.text().take(3).collect();
            matches!(text.trim(), "¶" | "#" | "§" | "🔗" | "\u{F0C1}")
        })
}
