//! Recognises lines and tables of links to the pages before, after and above a page. Pure functions.

use std::collections::BTreeSet;

use scraper::node::Element;

use super::survey::{PageSurvey, TextAmount};

/// Longest text of such a line, in letters: it may have the titles of the pages; a longer text is content.
const MAX_LETTERS: usize = 400;

/// Most elements of one: bounds the work, as the links are looked for below each element.
const MAX_BELOW: usize = 60;

/// Most links of one, and fewest that are known by their names: one such name may be a word of the content.
const MAX_LINKS: usize = 12;
const MIN_NAMED: usize = 2;

/// The texts that programs give such links, in lower case.
const NAMES: &[&str] = &[
    "prev", "previous", "previous page", "back", "next", "next page", "up", "home", "top", "start",
    "toc", "contents", "table of contents", "index", "zurück", "vorherige seite", "weiter",
    "nächste seite", "nach oben", "anfang", "inhalt", "précédent", "suivant", "niveau supérieur",
    "sommaire", "début", "anterior", "siguiente", "subir", "inicio", "indietro", "avanti",
    "предыдущая", "следующая", "наверх", "начало",
];

/// Values of `rel` that say the same.
const RELATIONS: &[&str] =
    &["prev", "previous", "next", "up", "home", "start", "contents", "toc", "index"];

/// Whether an element without sentences has little else than links to neighbouring pages.
pub(super) fn are_in(survey: &PageSurvey<'_>, sums: &[TextAmount], idx: usize) -> bool {
    let sum = sums[idx];
    if sum.linked == 0 || sum.letters > MAX_LETTERS || sum.is_written() {
        return false;
    }
    let below = survey.below(idx);
    if below.len() > MAX_BELOW {
        return false;
    }
    let links = below.filter(|at| sums[*at].linked > 0 && survey.items[*at].element.name() == "a");
    // Most elements have fewer links.
    if !(MIN_NAMED..=MAX_LINKS).contains(&links.clone().count()) {
        return false;
    }
    let named = links.filter_map(|at| name(survey.items[at].element, &survey.first_line(at)));
    named.collect::<BTreeSet<String>>().len() >= MIN_NAMED
}

/// Returns the name of a link to a neighbouring page; `None` for other links.
fn name(link: &Element, text: &str) -> Option<String> {
    let relation = link.attr("rel").filter(|relation| RELATIONS.contains(relation));
    let text = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    relation.map(str::to_owned).or_else(|| NAMES.contains(&&*text).then_some(text))
}
