//! Reads the front matter of a Markdown file: YAML between `---` lines (`yaml_serde`), TOML between `+++` lines, JSON in
//! brackets, properties of Logseq (`title:: Tides`).
//!
//! Front matter that does not parse is read line by line: an unquoted title with a colon is useful
//! even though it is invalid.

use std::collections::HashSet;
use std::ops::Range;

use jiff::civil;
use jiff::tz::TimeZone;
use yaml_serde::{Mapping, Value};

use super::dialects::property;
use super::front_formats::{parse_json, parse_toml, read_properties};
use super::front_words::words;
use super::superseded;
use crate::document::Document;
use crate::limits;
use crate::text::links::note_links;

/// Splits off the front matter and copies its values into `document`.
///
/// Returns where the body begins in `document.text`; 0 if there is no front matter.
pub(super) fn read(document: &mut Document) -> usize {
    let Some((fence, inside, body_start)) = find(&document.text) else { return 0 };
    let source = &document.text[inside];
    let links = match fence {
        Fence::Yaml => links(source),
        // In TOML, `[[name]]` is a table, and not a link.
        Fence::Toml | Fence::Json => Vec::new(),
        Fence::Properties => {
            apply(&read_properties(source), document);
            return body_start;
        }
    };
    let (parsed, language, separator) = match fence {
        Fence::Toml => (parse_toml(source), "TOML", '='),
        Fence::Json => (parse_json(source), "JSON", ':'),
        _ => (parse(source), "YAML", ':'),
    };
    let fields = match parsed {
        Ok(Value::Mapping(fields)) => fields,
        Ok(Value::Null) => Mapping::new(),
        // Not front matter but text between two thematic breaks.
        Ok(_) => return 0,
        Err(error) => {
            let fields = read_lines(source, separator);
            if fields.is_empty() {
                return 0;
            }
            let warning = format!("front matter is not valid {language}: {error}");
            document.metadata.warnings.push(warning);
            fields
        }
    };
    apply(&fields, document);
    document.metadata.links = links;
    body_start
}

/// Returns the links in YAML, quoted or not, with their lines.
fn links(source: &str) -> Vec<(u32, String)> {
    let lines = (2..).zip(source.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.starts_with('#'));
    let links = lines.flat_map(|(number, line)| {
        note_links(line).into_iter().map(move |link| (number, line[link.bytes].to_owned()))
    });
    links.collect()
}

enum Fence {
    Yaml,
    Toml,
    Json,
    Properties,
}

/// Finds front matter; returns its kind, the range between the fences, and where the body begins.
fn find(text: &str) -> Option<(Fence, Range<usize>, usize)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    let (fence, ends): (_, &[&str]) = match first.trim_end() {
        "---" => (Fence::Yaml, &["---", "..."]),
        "---json" => (Fence::Json, &["---"]),
        "+++" => (Fence::Toml, &["+++"]),
        // The brackets are part of the JSON.
        "{" => {
            let end = text.find("\n}")? + "\n}".len();
            let rest = &text[end..];
            let is_line = rest.is_empty() || rest.starts_with(['\n', '\r']);
            return is_line.then_some((Fence::Json, 0..end, end));
        }
        _ => {
            let properties = text.split_inclusive('\n').take_while(|line| property(line).is_some());
            let len = properties.map(str::len).sum();
            return (len > 0).then_some((Fence::Properties, 0..len, len));
        }
    };
    let mut offset = first.len();
    for line in lines {
        if ends.contains(&line.trim_end()) {
            return Some((fence, first.len()..offset, offset + line.len()));
        }
        // A blank first line means that the line above is a thematic break.
        if offset == first.len() && line.trim().is_empty() {
            return None;
        }
        offset += line.len();
    }
    None
}

/// Parses YAML, unless it is so long or so deeply nested that the parser would take quadratic time.
///
/// # Errors
///
/// Why it cannot be parsed.
pub fn parse(source: &str) -> Result<Value, String> {
    if !limits::is_readable_yaml(source) {
        return Err("it is too large or nested too deeply".to_owned());
    }
    yaml_serde::from_str(source).map_err(|error| error.to_string())
}

/// Reads each unindented line of the form `key: value` separately.
fn read_lines(source: &str, separator: char) -> Mapping {
    let mut fields = Mapping::new();
    for line in source.lines() {
        let Some((key, value)) = line.split_once(separator) else { continue };
        let (key, value) = (key.trim_end(), value.trim());
        let is_key = key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if !is_key || key.is_empty() {
            continue;
        }
        let value = match parse(value) {
            // The colon that makes the front matter invalid is part of this value.
            Ok(Value::Mapping(_)) | Err(_) => Value::from(value),
            Ok(value) => value,
        };
        // The first of two equal keys wins.
        fields.entry(Value::from(key)).or_insert(value);
    }
    fields
}

fn apply(fields: &Mapping, document: &mut Document) {
    document.title = scalar(fields, &["title", "Title"]);
    document.metadata.author = joined(fields, &["author", "authors", "Author"]);
    document.metadata.language = scalar(fields, &["lang", "language"]);
    let created = scalar(fields, &["date", "created", "created_at", "Date"]);
    document.metadata.created = created.map(to_rfc3339);
    let aliases = ["aliases", "alias"].into_iter().find_map(|name| fields.get(name));
    document.metadata.superseded = superseded::read(fields);
    document.metadata.aliases = aliases.map(words).unwrap_or_default();
    document.tags = fields.get("tags").or_else(|| fields.get("tag")).map(tags).unwrap_or_default();
}

/// Returns the last words of the first of these fields that has any.
fn scalar(fields: &Mapping, names: &[&str]) -> Option<String> {
    names.iter().filter_map(|name| fields.get(*name)).find_map(|value| words(value).pop())
}

/// Returns all words of the first of these fields that has any.
fn joined(fields: &Mapping, names: &[&str]) -> Option<String> {
    let mut found = names.iter().filter_map(|name| fields.get(*name)).map(words);
    found.find(|words| !words.is_empty()).map(|words| words.join(", "))
}

/// Reads tags: a list, or text separated by commas or, if there are none, by blanks.
fn tags(value: &Value) -> Vec<String> {
    let found: Vec<String> = match value {
        Value::String(text) if text.contains(',') => text.split(',').map(str::to_owned).collect(),
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        // A comma separates tags in a list too.
        other => words(other).iter().flat_map(|text| text.split(',')).map(str::to_owned).collect(),
    };
    let mut known = HashSet::new();
    let tags = found.iter().map(|tag| tag.trim().trim_start_matches('#'));
    tags.filter(|tag| !tag.is_empty() && known.insert(*tag)).map(str::to_owned).collect()
}

/// Converts a date to RFC 3339 in UTC, at midnight if it has no time; other texts are unchanged.
fn to_rfc3339(stated: String) -> String {
    if let Ok(time) = stated.parse::<jiff::Timestamp>() {
        return time.to_string();
    }
    let time = stated
        .parse::<civil::DateTime>()
        .or_else(|_| stated.parse::<civil::Date>().map(|date| date.at(0, 0, 0, 0)));
    match time.and_then(|time| time.to_zoned(TimeZone::UTC)) {
        Ok(time) => time.timestamp().to_string(),
        Err(_) => stated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(text: &str) -> (Document, usize) {
        let mut document = Document { text: text.to_owned(), ..Document::default() };
        let body_start = read(&mut document);
        (document, body_start)
    }

    #[track_caller]
    fn check(head: &str, title: Option<&str>, tags: &[&str], num_warnings: usize) {
        let (document, body_start) = read_from(&format!("---\n{head}---\nBody\n"));
        assert_eq!(&document.text[body_start..], "Body\n");
        assert_eq!(document.title.as_deref(), title);
        assert_eq!(document.tags, tags);
        assert_eq!(document.metadata.warnings.len(), num_warnings);
    }

    #[test]
    fn tags_are_a_list_or_a_string() {
        check("title: A\ntags: [x, '#y', x]\n", Some("A"), &["x", "y"], 0);
        check("tags:\n  - x\n  - 2024\n", None, &["x", "2024"], 0);
        check("tags: big cats, dogs\n", None, &["big cats", "dogs"], 0);
        check("tags: [\"x, y\", z]\n", None, &["x", "y", "z"], 0);
        check("tags: cats dogs\n", None, &["cats", "dogs"], 0);
        check("tags:\n", None, &[], 0);
    }

    #[test]
    fn broken_yaml_is_read_line_by_line_with_a_warning() {
        check("title: Rust: the book\ntags: [a, b]\n", Some("Rust: the book"), &["a", "b"], 1);
        check("title: A\nbad: [1\n", Some("A"), &[], 1);
    }

    #[test]
    fn deeply_nested_yaml_is_not_parsed() {
        for bad in ["[", "{", "- ", "? ", "a: "] {
            let (document, _) =
                read_from(&format!("---\ntitle: A\nb: {}\n---\n", bad.repeat(30_000)));
            assert_eq!(document.title.as_deref(), Some("A"), "{bad}");
        }
    }

    #[test]
    fn links_are_kept_with_their_lines() {
        let (document, _) = read_from(
            "---\nup: \"[[Old harbour#Pier|pier]]\"\n# [[no]]\nsee:\n    - '[[a]]'\n    - \"[b](c%20d.md)\"\n\
             next: [[e]]\nall: [\"[[f]]\", '![[g.png]]']\nurl: https://example.org/[x]\n---\n",
        );
        let links = document.metadata.links.iter().map(|(line, text)| (*line, text.as_str()));
        let expected = [
            (2, "[[Old harbour#Pier|pier]]"),
            (5, "[[a]]"),
            (6, "[b](c%20d.md)"),
            (7, "[[e]]"),
            (8, "[[f]]"),
            (8, "![[g.png]]"),
        ];
        assert_eq!(links.collect::<Vec<_>>(), expected);
        assert_eq!(read_from("+++\n[[extra.menu]]\na = 1\n+++\n").0.metadata.links, []);
    }

    #[test]
    fn empty_front_matter_has_no_values() {
        check("# only a comment\n", None, &[], 0);
    }

    #[test]
    fn toml_front_matter_is_read() {
        let (document, body_start) =
            read_from("+++\ntitle = \"A page\"\ntags = [\"x\", \"y\"]\n+++\nBody");
        assert_eq!(document.title.as_deref(), Some("A page"));
        assert_eq!(document.tags, ["x", "y"]);
        assert_eq!(&document.text[body_start..], "Body");
    }

    #[track_caller]
    fn check_toml(head: &str, title: Option<&str>, tags: &[&str], num_warnings: usize) {
        let (document, body_start) = read_from(&format!("+++\n{head}+++\nBody\n"));
        assert_eq!(&document.text[body_start..], "Body\n");
        assert_eq!(document.title.as_deref(), title);
        assert_eq!(document.tags, tags);
        assert_eq!(document.metadata.warnings.len(), num_warnings);
    }

    #[test]
    fn toml_values_may_span_several_lines() {
        let tags = "title = \"A\"\ntags = [\n  \"x\",\n  \"y z\",\n]\n";
        check_toml(tags, Some("A"), &["x", "y z"], 0);
        check_toml("title = \"\"\"\nA long\ntitle\"\"\"\n", Some("A long title"), &[], 0);
        check_toml("title = '''A \"b\"'''\ntags = 'x y'\n", Some("A \"b\""), &["x", "y"], 0);
        check_toml("# only a comment\n", None, &[], 0);
    }

    #[test]
    fn toml_tags_may_be_in_a_table() {
        check_toml("title = 'A'\n[taxonomies]\ntags = ['x']\n", Some("A"), &["x"], 0);
        check_toml("tags = ['x']\n[extra]\ntags = ['y']\ntitle = 'B'\n", Some("B"), &["x"], 0);
        check_toml("[cover]\ntitle = 'C'\n", None, &[], 0);
    }

    #[test]
    fn toml_dates_and_authors_are_read() {
        let (document, _) = read_from(
            "+++\ndate = 2024-03-01T10:00:00+02:00\nauthors = [{ name = 'Ada' }, 'Grace']\n+++\n",
        );
        assert_eq!(document.metadata.created.as_deref(), Some("2024-03-01T08:00:00Z"));
        assert_eq!(document.metadata.author.as_deref(), Some("Ada, Grace"));
        let (document, _) = read_from("+++\ndate = 2024-03-01\n[author]\nname = 'Ada'\n+++\n");
        assert_eq!(document.metadata.created.as_deref(), Some("2024-03-01T00:00:00Z"));
        assert_eq!(document.metadata.author.as_deref(), Some("Ada"));
    }

    #[test]
    fn broken_toml_is_read_line_by_line_with_a_warning() {
        check_toml("title = \"A\"\ndate = last spring\ntags = [\"x\"]\n", Some("A"), &["x"], 1);
        assert_eq!(read_from("+++\nJust text.\n+++\n").1, 0);
    }

    #[test]
    fn deeply_nested_toml_is_not_parsed() {
        let deep = "a.".repeat(30_000);
        for bad in [
            format!("b = {}", "[".repeat(30_000)),
            format!("b = {}", "{a=".repeat(15_000)),
            format!("{deep}a = 1"),
            format!("[{deep}a]"),
            format!("b = {{ {deep}a = 1 }}"),
        ] {
            let (document, _) = read_from(&format!("+++\ntitle = \"A\"\n{bad}\n+++\n"));
            assert_eq!(document.title.as_deref(), Some("A"), "{}", &bad[..10]);
        }
    }

    #[test]
    fn json_is_read() {
        for text in [
            "{\n  \"title\": \"A\",\n\t\"tags\": [\"x\", \"y\"]\n}\nBody\n",
            "---json\n{\"title\": \"A\", \"tags\": \"x, y\"}\n---\nBody\n",
        ] {
            let (document, body_start) = read_from(text);
            assert_eq!(document.text[body_start..].trim_start(), "Body\n");
            assert_eq!(document.title.as_deref(), Some("A"));
            assert_eq!(document.tags, ["x", "y"]);
        }
        // Brackets that open something else.
        for text in ["{\nno JSON\n}\nBody\n", "{\n\"a\": 1", "{\n\"a\": 1\n}, b\n"] {
            assert_eq!(read_from(text).1, 0, "{text}");
        }
    }

    #[test]
    fn properties_at_the_beginning_are_read() {
        let (document, body_start) =
            read_from("title:: Tides\ntags:: [[sea]], ebb\nicon::\n\n- id:: 6\n");
        assert_eq!(&document.text[body_start..], "\n- id:: 6\n");
        assert_eq!(document.title.as_deref(), Some("Tides"));
        assert_eq!(document.tags, ["sea", "ebb"]);
        assert_eq!(read_from("std::vec is\n").1, 0);
        assert_eq!(read_from("A note:: yes\n").1, 0);
    }

    #[test]
    fn thematic_breaks_are_not_front_matter() {
        for text in ["---\n\nkey: value\n---\n", "---\nJust text.\n---\n", "---\na: b\n", "--- x\n"]
        {
            assert_eq!(read_from(text).1, 0, "{text:?}");
        }
    }

    #[test]
    fn dates_become_utc_times() {
        let created =
            |date: &str| read_from(&format!("---\ndate: {date}\n---\n")).0.metadata.created;
        assert_eq!(created("2024-03-01").as_deref(), Some("2024-03-01T00:00:00Z"));
        assert_eq!(created("2024-03-01T10:00:00+02:00").as_deref(), Some("2024-03-01T08:00:00Z"));
        assert_eq!(created("2024-03-01 10:30").as_deref(), Some("2024-03-01T10:30:00Z"));
        assert_eq!(created("last spring").as_deref(), Some("last spring"));
        assert_eq!(created(""), None);
    }

    #[test]
    fn there_may_be_several_authors() {
        let (document, _) = read_from("---\nauthors: [{name: Ada}, Grace]\nlang: en\n---\n");
        assert_eq!(document.metadata.author.as_deref(), Some("Ada, Grace"));
        assert_eq!(document.metadata.language.as_deref(), Some("en"));
    }
}
