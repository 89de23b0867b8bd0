//! Reads the metadata that a web page states for programs: title, author, date, language, the text
//! of its article.

use scraper::{ElementRef, Html};
use serde_json::Value;

use super::elements::select;
use crate::extract::protocol::DocumentHead;

/// Names of `meta` elements, best first.
const AUTHORS: &[&str] =
    &["author", "article:author", "dcterms.creator", "dc.creator", "citation_author"];
const DATES: &[&str] = &[
    "article:published_time",
    "dcterms.created",
    "date",
    "dc.date",
    "dc.date.issued",
    "citation_publication_date",
];

/// How deep linked data may be nested: a list of a graph of an article with an author.
const MAX_DEPTH: usize = 5;

/// Reads the metadata of a page.
pub(super) fn read(html: &Html) -> DocumentHead {
    let root = html.root_element();
    let data = linked_data(root, "");
    let title = select(root, "head title").next().map(|title| title.text().collect::<String>());
    let title =
        title.filter(|title| !title.trim().is_empty()).or_else(|| meta(root, &["og:title"]));
    let date = ["[itemprop=datePublished]", "time[pubdate]", "article time[datetime]"];
    DocumentHead {
        title,
        // Some pages state the address of the author's page.
        author: meta(root, AUTHORS)
            .filter(|author| !author.starts_with("http"))
            .or_else(|| data.iter().find_map(|value| linked(value, "author", 0)))
            .or_else(|| select(root, "[itemprop=author], a[rel=author]").find_map(stated)),
        created: meta(root, DATES)
            .or_else(|| data.iter().find_map(|value| linked(value, "datePublished", 0)))
            .or_else(|| date.iter().find_map(|date| select(root, date).find_map(stated))),
        language: root.attr("lang").and_then(filled),
        ..DocumentHead::default()
    }
}

/// Returns the content of the first `meta` element with one of these names.
fn meta(root: ElementRef<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        let selector = format!("meta[name=\"{name}\" i], meta[property=\"{name}\" i]");
        select(root, &selector).find_map(|meta| filled(meta.attr("content")?))
    })
}

/// Returns the value that an element states for programs, or its text.
fn stated(element: ElementRef<'_>) -> Option<String> {
    let attribute = element.attr("content").or_else(|| element.attr("datetime"));
    attribute.and_then(filled).or_else(|| filled(&element.text().collect::<String>()))
}

/// Returns the text of the article that linked data of a page states.
pub(super) fn article_body(html: &Html) -> Option<String> {
    let data = linked_data(html.root_element(), "articleBody");
    data.iter().find_map(|value| linked(value, "articleBody", 0))
}

/// Returns the linked data of a page (JSON-LD) that has a word; all of it for a blank one.
fn linked_data(root: ElementRef<'_>, word: &str) -> Vec<Value> {
    let scripts = select(root, "script[type=\"application/ld+json\" i]");
    let texts = scripts.map(|script| script.text().collect::<String>());
    let texts = texts.filter(|text| text.contains(word));
    texts.filter_map(|text| serde_json::from_str(&text).ok()).collect()
}

/// Returns the text or the name that linked data has for a property.
fn linked(value: &Value, property: &str, depth: usize) -> Option<String> {
    match value {
        Value::Array(values) if depth < MAX_DEPTH => {
            values.iter().find_map(|value| linked(value, property, depth + 1))
        }
        Value::Object(object) if depth < MAX_DEPTH => {
            let known = object.get(property).and_then(name);
            known.or_else(|| object.values().find_map(|value| linked(value, property, depth + 1)))
        }
        _ => None,
    }
}

/// Returns the name of a person or a list of persons.
fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(name) => filled(name).filter(|name| !name.starts_with("http")),
        Value::Object(person) => person.get("name").and_then(Value::as_str).and_then(filled),
        Value::Array(persons) => {
            let names: Vec<String> =
                persons.iter().filter(|one| !one.is_array()).filter_map(name).collect();
            filled(&names.join(", "))
        }
        _ => None,
    }
}

fn filled(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(page: &str) -> DocumentHead {
        read(&Html::parse_document(page))
    }

    #[test]
    fn the_author_date_and_language_of_a_page_are_read() {
        let head = head(
            "<html lang='de'><head><title>Pegel &amp; Tide</title>\
             <meta name='Author' content=' Maren Voss '>\
             <meta property='article:published_time' content='2020-01-02'></head><p>x",
        );
        assert_eq!(head.title.as_deref(), Some("Pegel & Tide"));
        assert_eq!(head.author.as_deref(), Some("Maren Voss"));
        assert_eq!(head.created.as_deref(), Some("2020-01-02"));
        assert_eq!(head.language.as_deref(), Some("de"));
    }

    #[test]
    fn linked_data_states_author_and_date() {
        let head = head(
            "<meta name=author content='https://example.org/voss'>\
             <script type='application/ld+json'>{\"@graph\": [{\"@type\": \"WebSite\"}, \
             {\"@type\": \"Article\", \"datePublished\": \"2021-05-06T07:08:09Z\", \
             \"author\": [{\"@type\": \"Person\", \"name\": \"Maren Voss\"}, {\"name\": \"Ole\"}]}]}\
             </script><script type='application/ld+json'>{ broken</script>",
        );
        assert_eq!(head.author.as_deref(), Some("Maren Voss, Ole"));
        assert_eq!(head.created.as_deref(), Some("2021-05-06T07:08:09Z"));
    }

    #[test]
    fn elements_of_the_page_state_author_and_date() {
        let head = head(
            "<meta property='og:title' content='Tides'><article><a rel=author>Maren Voss</a>\
             <time datetime='2019-03-04'>in March</time><p>Words.",
        );
        assert_eq!(head.title.as_deref(), Some("Tides"));
        assert_eq!(head.author.as_deref(), Some("Maren Voss"));
        assert_eq!(head.created.as_deref(), Some("2019-03-04"));
    }
}
