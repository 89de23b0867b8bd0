//! Recognises elements by the words in their classes and ids.
//!
//! The words are those that themes and content management systems commonly use, not those of single
//! sites. Words of a name are separated by hyphens here, and only whole words count.

use std::collections::HashMap;
use std::sync::LazyLock;

use scraper::node::Element;

use crate::document::WordDestination;

/// The role of the text of an element, according to its name. The first role that fits is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ContentRole {
    /// It is the content.
    Body,
    /// Readers wrote it below the content.
    Comments,
    /// It surrounds the content of every page of a site, or offers something else: for this reason it
    /// is left out.
    Frame(WordDestination),
    /// It surrounds the content if much of it is links.
    Teaser,
    /// It describes the content: date, tags, pictures.
    Note,
}

const BODY: &str = "article-body article-content article-text body-content content-article content-body \
    content-text entry hentry news-content page-content post-body post-content recipe rich-text \
    single-post story-content wysiwyg";

const COMMENTS: &str =
    "comment commentlist comments discussion disqus kommentar kommentare respond";

/// Names of elements that surround the content: margins, the author, tools, offers.
const FRAME: &str = "abo ad addthis ads advertisement affiliate akismet author-bio author-box author-description \
    author-info banner bio captcha colophon copyright cta donate edit-link follow foot footer login masthead \
    mw-editsection newsletter no-print noprint overlay paywall popup print promo rail rating screen-reader share \
    sharedaddy shariff sharing sidebar signup site-header social socials sponsored sr-only subscribe top-bar \
    visually-hidden widget";

/// Ways through a site.
const MENU: &str = "breadcrumb breadcrumbs menu nav navbar navbox navi navigation pager pagination prev-next \
    search sitemap skip submenu table-of-contents toc toolbar";

/// Lists of other pages.
const OTHERS: &str = "latest most-read outbrain popular readmore recent recommendations recommended related similar \
    suggestions taboola trending";

const COOKIES: &str = "consent cookie cookies";

const TEASER: &str = "box card cards extra info links list more teaser";

const NOTE: &str = "author byline caption categories credit credits date dateline kicker meta metadata posted \
    published tagcloud tags timestamp";

/// First words of names that say how an element looks, or what the page has.
const MODIFIERS: &str = "category elementor has hide is js no not show tag with without";

/// Names of elements that contain a page of documentation, as complete names.
const DOCUMENTATION: &str = "manual-text markdown-body mw-parser-output rst-content rustdoc \
    sphinxsidebar theme-doc-markdown";

static WORDS: LazyLock<HashMap<&'static str, ContentRole>> = LazyLock::new(|| {
    let lists = [
        (NOTE, ContentRole::Note),
        (TEASER, ContentRole::Teaser),
        (FRAME, ContentRole::Frame(WordDestination::Frame)),
        (OTHERS, ContentRole::Frame(WordDestination::Teaser)),
        (COOKIES, ContentRole::Frame(WordDestination::CookieNotice)),
        (MENU, ContentRole::Frame(WordDestination::Menu)),
        (COMMENTS, ContentRole::Comments),
        (BODY, ContentRole::Body),
    ];
    let mut words = HashMap::new();
    for (list, role) in lists {
        words.extend(list.split_ascii_whitespace().map(|word| (word, role)));
    }
    words
});

/// Most words of a name that are compared at once, as many as the longest in the lists has.
const MAX_WORDS: usize = 3;

/// Returns the role that the classes and the id of an element state.
pub(super) fn role(element: &Element) -> Option<ContentRole> {
    if element.attrs().any(|attribute| attribute == ("itemprop", "articleBody")) {
        return Some(ContentRole::Body);
    }
    let names = element.classes().chain(element.id());
    // Roles are in order, so the least is the strongest.
    names.filter_map(|name| role_of_name(&spell(name)?)).min()
}

fn role_of_name(name: &str) -> Option<ContentRole> {
    let starts = std::iter::once(0).chain(name.match_indices('-').map(|(at, _)| at + 1));
    starts.filter_map(|start| role_of_words(&name[start..])).min()
}

/// Returns the role that the first words of a name state.
fn role_of_words(name: &str) -> Option<ContentRole> {
    let ends = name.match_indices('-').map(|(at, _)| at).chain([name.len()]).take(MAX_WORDS);
    ends.filter_map(|end| WORDS.get(&name[..end]).copied()).min()
}

/// Whether the classes of an element say that it is around a page of documentation, where ids name sections.
pub(super) fn is_around_documentation(element: &Element) -> bool {
    let roles = element.classes().filter_map(|name| role_of_name(&spell(name)?));
    matches!(roles.min(), Some(ContentRole::Frame(reason)) if reason != WordDestination::Teaser)
}

/// Whether the name of an element says that the page is documentation.
pub(super) fn is_documentation(element: &Element) -> bool {
    let mut names = element.classes().chain(element.id());
    names.any(|name| {
        DOCUMENTATION.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(name))
    })
}

/// Spells a name in lower case with hyphens between its words; `None` for a modifier.
fn spell(name: &str) -> Option<String> {
    // Bounds the work on a name that is made to be long; the words of real ones come first.
    const MAX_CHARS: usize = 80;
    let mut words = String::new();
    let mut last = '-';
    for c in name.chars().take(MAX_CHARS) {
        let is_new_word = c.is_uppercase() && last.is_lowercase() || !c.is_alphanumeric();
        if is_new_word && !words.is_empty() && !words.ends_with('-') {
            words.push('-');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
        last = c;
    }
    let words = words.trim_end_matches('-');
    let first = words.split('-').next().unwrap_or_default();
    let is_modifier = MODIFIERS.split_ascii_whitespace().any(|modifier| modifier == first);
    (!is_modifier).then(|| words.to_owned())
}
