//! Reads text that a page has in other places than its elements, where it displays none of it (JSON-LD, `noscript`).

use std::collections::HashSet;

use scraper::{ElementRef, Html};

use super::elements::select;
use super::head;
use super::parse::parse;

/// Fewest words of a text in `noscript`: shorter ones ask the reader to allow scripts.
const MIN_NOSCRIPT: usize = 20;

/// A page displays a text if it has this share of its words, in percent: any two texts have common words.
const MIN_DISPLAYED: usize = 50;

/// Returns the text of an article, one paragraph per line, that a page states for programs and does not display.
pub(super) fn article(html: &Html) -> Option<String> {
    let stated = head::article_body(html)?;
    (!displays(&words_of(&text_of(html)), &stated)).then_some(stated)
}

/// Returns the pages in `noscript`, in which there is text that is not displayed.
pub(super) fn noscript(html: &Html) -> Vec<Html> {
    let texts = select(html.root_element(), "noscript");
    let texts = texts.map(|element| element.text().collect::<String>());
    let texts: Vec<String> = texts.filter(|text| is_long(text)).collect();
    if texts.is_empty() {
        return Vec::new();
    }
    let displayed = text_of(html);
    let displayed = words_of(&displayed);
    let pages = texts.iter().map(|text| parse(text).html);
    pages
        .filter(|page| {
            let text = text_of(page);
            is_long(&text) && !displays(&displayed, &text)
        })
        .collect()
}

fn is_long(text: &str) -> bool {
    text.split_whitespace().nth(MIN_NOSCRIPT - 1).is_some()
}

fn words_of(text: &str) -> HashSet<&str> {
    text.split_whitespace().collect()
}

/// Whether most words of a text are displayed.
fn displays(displayed: &HashSet<&str>, text: &str) -> bool {
    let (all, known) = text.split_whitespace().fold((0, 0), |(all, known), word| {
        (all + 1, known + usize::from(displayed.contains(word)))
    });
    known * 100 >= all * MIN_DISPLAYED
}

/// Returns the text of the elements that are for people.
fn text_of(html: &Html) -> String {
    let mut text = String::new();
    for node in html.tree.nodes() {
        let parent = node.parent().and_then(ElementRef::wrap);
        if let (Some(words), false) = (node.value().as_text(), parent.is_some_and(is_source)) {
            text.push_str(words);
            text.push(' ');
        }
    }
    text
}

/// Whether the text in an element is for programs, or for browsers without scripts.
fn is_source(element: ElementRef<'_>) -> bool {
    matches!(element.value().name(), "head" | "noscript" | "script" | "style" | "template")
}
