//! Recognises elements by the words in their classes and ids.
//!
//! The words are those that themes and content management systems commonly use, not those of single
//! sites. Words of a name are separated by hyphens here; `*` stands for any end of a word.

use std::collections::HashMap;
use std::sync::LazyLock;

use scraper::node::Element;

use crate::document::Reason;

/// What the name of an element says about its text. The first role that fits is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// It is the content.
    Body,
    /// Readers wrote it below the content.
    Comments,
    /// It surrounds the content of every page of a site, or offers something else: for this reason it
    /// is left out.
    Frame(Reason),
    /// It surrounds the content if much of it is links.
    Teaser,
    /// It describes the content: date, tags, pictures.
    Note,
}

const BODY: &str = "article-body articlebody article-content articlecontent article-text articletext \
    article-inner blog-content body-content bodytext content-article content-body content-text \
    detail-text entry entry-body entry-content entrytext field-name-body full-text fulltext hentry \
    main-text maintext markdown-body mw-content-text mw-parser-output news-content newstext \
    page-content post-body post-content post-entry post-text postbody postcontent posttext recipe \
    rich-text richtext single-content single-post story-body story-content storybody text-content \
    the-content theme-content wysiwyg";

const COMMENTS: &str = "comentario* comment commentaire* commentarea commentform commentlist comments \
    discussion disqus* forum-form kommentar* pingback* pinglist replies respond trackback*";

/// What surrounds the content: margins, the author, tools, offers.
const FRAME: &str = "aside bottom-bar colophon edit-link foot footer headerlink marginal* masthead \
    portlet rail side-bar sidebar* site-header top-bar topbar widget* \
    about-author about-the-author author-bio author-box author-description author-info \
    author-profile authorbox bio saboxplugin* \
    abo ad ads adsense adslot advert* affiliate* alert anzeige* banner banners basket cart cta \
    disclaimer* disclosure donate donation lightbox log-in login mailchimp modal* newsletter* notice \
    optin overlay* paywall pop-up popup* product-box promo* publicidad publicite register shop-box \
    sign-up signup sponsor* subscri* warenkorb werbung* \
    addthis addtoany akismet* captcha contact-box copyright feedback flair follow* hidden-print \
    impressum imprint likebox nicht-drucken no-print noprint print printonly rating* \
    screen-reader* share* sharedaddy shariff sharing social* sr-only visually-hidden vote* voting";

/// Ways through a site.
const MENU: &str = "breadcrumb* menu menus nav navbar navi navigation navlinks next-prev pager pagination \
    paging post-nav* prev-next search* sitemap skip skip-link* skiplink* sphinxsidebar submenu suche \
    toc toctree-wrapper toolbar";

/// Lists of other pages.
const OTHERS: &str = "crp latest leia-mais link-list linklist lire-aussi more-articles more-posts more-stories \
    morelinks most-read mostread outbrain popular read-also read-more readmore recent recent-posts \
    recirc* recommend* related* relacionad* saiba-mais see-also similar suggest* taboola trending \
    verwandt* yarpp* you-may";

const COOKIES: &str = "consent cookie* dsgvo gdpr";

const TEASER: &str = "box card cards extra extras info links list more teaser*";

const NOTE: &str = "author* autor* byline* caption* cat-links categories category-list credit credits \
    date dateline entry-footer entry-info entry-meta entry-utility kicker meta metadata post-footer \
    post-info post-meta post-tags postdate posted posted-on postmeta postmetadata pubdate published \
    reading-time tag-links tag-list tagcloud taglist tags timestamp";

/// First words of names that say how an element looks, or what the page has.
const MODIFIERS: &str = "category elementor has hide is js no not show tag with without";

/// Names of elements that contain a page of documentation, as complete names.
const DOCUMENTATION: &str = "manual-text markdown-body mw-parser-output rst-content rustdoc \
    sphinxsidebar theme-doc-markdown";

/// Names of elements around a page of documentation, as complete names.
const AROUND_DOCUMENTATION: &str = "breadcrumb breadcrumbs cookie-banner cookies edit-link footer \
    headerlink md-sidebar menu-bar mw-editsection mw-jump-link nav-chapters nav-wrapper navbar \
    navbox navigation page-toc pagination pagination-nav prev-next related related-pages \
    rst-footer-buttons sidebar sidebar-container site-footer site-header skip-link \
    skip-to-content social sphinxsidebar table-of-contents theme-doc-breadcrumbs theme-doc-footer \
    theme-doc-toc-desktop theme-doc-toc-mobile visually-hidden wy-nav-side wy-nav-top";

struct Words {
    complete: HashMap<&'static str, Role>,
    beginnings: Vec<(&'static str, Role)>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let lists = [
        (NOTE, Role::Note),
        (TEASER, Role::Teaser),
        (FRAME, Role::Frame(Reason::Frame)),
        (OTHERS, Role::Frame(Reason::Teaser)),
        (COOKIES, Role::Frame(Reason::CookieNotice)),
        (MENU, Role::Frame(Reason::Menu)),
        (COMMENTS, Role::Comments),
        (BODY, Role::Body),
    ];
    let mut words = Words { complete: HashMap::new(), beginnings: Vec::new() };
    for (list, role) in lists {
        for word in list.split_ascii_whitespace() {
            match word.strip_suffix('*') {
                Some(beginning) => words.beginnings.push((beginning, role)),
                None => drop(words.complete.insert(word, role)),
            }
        }
    }
    words
});

/// Most words of a name that are compared at once.
const MAX_WORDS: usize = 3;

/// Returns what the classes and the id of an element say about it.
pub(super) fn role(element: &Element) -> Option<Role> {
    if element.attr("itemprop") == Some("articleBody") {
        return Some(Role::Body);
    }
    let names = element.classes().chain(element.id());
    names.filter_map(|name| role_of_name(&spell(name)?)).min()
}

fn role_of_name(name: &str) -> Option<Role> {
    let starts = std::iter::once(0).chain(name.match_indices('-').map(|(at, _)| at + 1));
    starts.filter_map(|start| role_of_words(&name[start..])).min()
}

/// Returns what the first words of a name say.
fn role_of_words(name: &str) -> Option<Role> {
    let ends = name.match_indices('-').map(|(at, _)| at).chain([name.len()]).take(MAX_WORDS);
    let complete = ends.filter_map(|end| WORDS.complete.get(&name[..end]).copied()).min();
    let begins = |(beginning, role): &(&str, Role)| name.starts_with(beginning).then_some(*role);
    let beginning = WORDS.beginnings.iter().filter_map(begins).min();
    complete.into_iter().chain(beginning).min()
}

/// Whether the name of an element says that the page is documentation.
pub(super) fn is_documentation(element: &Element) -> bool {
    has_name(element, DOCUMENTATION)
}

/// Whether the name of an element says that it is around a page of documentation.
pub(super) fn is_around_documentation(element: &Element) -> bool {
    has_name(element, AROUND_DOCUMENTATION)
}

fn has_name(element: &Element, list: &str) -> bool {
    let mut names = element.classes().chain(element.id());
    names.any(|name| list.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(name)))
}

/// Spells a name in lower case with hyphens between its words; `None` for a modifier.
fn spell(name: &str) -> Option<String> {
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
