//! Finds the main content of a parsed page, and what within it is none. Pure.

use ego_tree::NodeRef;
use scraper::node::Element;
use scraper::{ElementRef, Html, Node};

use super::select;

/// Where the content of a page is.
pub(super) struct Content<'a> {
    /// The element around it.
    pub(super) root: ElementRef<'a>,
    /// Whether the page itself says that this is its content: then what is around it is gone
    /// already.
    pub(super) is_main: bool,
}

/// Elements whose text nobody reads, or that are no text.
const NEVER_READ: &[&str] = &[
    "audio", "button", "canvas", "datalist", "dialog", "embed", "head", "iframe", "img", "input",
    "math", "menu", "nav", "noscript", "object", "option", "progress", "script", "select", "style",
    "svg", "template", "textarea", "video",
];

/// Roles of the same.
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

/// Classes and ids by which pages without telling elements name what is not their content. Whole
/// words only: `nav` is not in `navigator`.
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

/// Share of a page's words its `main` or only `article` must hold to be believed.
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

/// Letters of what is read below an element.
fn num_letters(root: ElementRef<'_>) -> usize {
    let is_read = |it: &NodeRef<'_, Node>| {
        let parent = it.parent().and_then(|it| it.value().as_element());
        !parent.is_some_and(|it| NEVER_READ.contains(&it.name()))
    };
    let texts = root.descendants().filter(is_read).filter_map(|it| it.value().as_text());
    texts.map(|it| it.chars().filter(|it| it.is_alphanumeric()).count()).sum()
}

/// Whether an element and all below it is left out.
pub(super) fn is_left_out(node: NodeRef<'_, Node>, element: &Element, is_main: bool) -> bool {
    let name = element.name();
    if NEVER_READ.contains(&name) || is_hidden(element) {
        return true;
    }
    // Within the content these say something about it: a note beside it, who wrote it.
    let is_frame = match name {
        "footer" => true,
        "aside" => !is_main,
        "header" => !is_main && ElementRef::wrap(node).is_some_and(|it| is_site_header(it)),
        _ => false,
    };
    // A page may call all of itself `nav` something.
    let may_be = !matches!(name, "html" | "body" | "main" | "article");
    is_frame || (may_be && (has_role(element) || is_named(element) || is_permalink(node, element)))
}

fn is_hidden(element: &Element) -> bool {
    let style = element.attr("style").unwrap_or_default().replace(' ', "").to_ascii_lowercase();
    element.attr("hidden").is_some()
        || element.attr("aria-hidden") == Some("true")
        || style.contains("display:none")
}

/// The head of a site, not that of an article: it leads elsewhere or has no title.
fn is_site_header(header: ElementRef<'_>) -> bool {
    select(header, "nav").next().is_some() || select(header, "h1").next().is_none()
}

fn has_role(element: &Element) -> bool {
    element.attr("role").is_some_and(|it| ROLES.contains(&it))
}

fn is_named(element: &Element) -> bool {
    let is_known = |it: &str| NAMES.iter().any(|name| it.eq_ignore_ascii_case(name));
    element.classes().any(is_known) || element.id().is_some_and(is_known)
}

/// Whether it is the sign beside a heading that links to it.
fn is_permalink(node: NodeRef<'_, Node>, element: &Element) -> bool {
    element.name() == "a"
        && ElementRef::wrap(node).is_some_and(|it| {
            let text: String = it.text().take(3).collect();
            matches!(text.trim(), "¶" | "#" | "§" | "🔗" | "\u{F0C1}")
        })
}
