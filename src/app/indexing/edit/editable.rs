//! Describes the editable fields of a document and their changes, also as a page with front matter.

use yaml_serde::{Mapping, Value};

use crate::app::session::values;
use crate::limits;
use crate::store::{DocumentEdit, StoredDocument};
use crate::wording::{kb, wording};

/// The line above and below the front matter.
const FENCE: &str = "---";

/// The edited fields of a document; `None` leaves one unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditedFields {
    /// The title.
    pub title: Option<String>,
    /// All tags.
    pub tags: Option<Vec<String>>,
    /// The day; `Some(None)` is the day that the document or its file states.
    pub date: Option<Option<String>>,
    /// The text of a note.
    pub text: Option<String>,
}

impl EditedFields {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the changes of the document apart from its text.
    pub(super) fn document_edit(&self) -> DocumentEdit {
        DocumentEdit { title: self.title.clone(), tags: self.tags.clone(), date: self.date.clone() }
    }

    /// Returns the names of the fields that change.
    pub fn names(&self) -> Vec<&'static str> {
        let parts = [
            ("title", self.title.is_some()),
            ("tags", self.tags.is_some()),
            ("date", self.date.is_some()),
            ("text", self.text.is_some()),
        ];
        parts.into_iter().filter(|part| part.1).map(|part| part.0).collect()
    }
}

/// A document as it can be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editable {
    /// The document.
    pub document: StoredDocument,
    /// Its text, if it is a note given as text.
    pub text: Option<String>,
}

impl Editable {
    /// Removes the changes that the document already has.
    #[must_use]
    pub fn differing(&self, changes: EditedFields) -> EditedFields {
        let document = &self.document;
        EditedFields {
            title: changes
                .title
                .filter(|title| *title != document.title || !document.is_title_given),
            tags: changes.tags.filter(|tags| sorted(tags) != sorted(&document.tags)),
            date: changes.date.filter(|date| *date != document.date_given),
            text: changes.text,
        }
    }

    /// Returns the page to edit: front matter with title, tags and date, then the text of a note.
    pub fn page(&self) -> String {
        let document = &self.document;
        let tags: Vec<String> = document.tags.iter().map(|tag| quoted(tag)).collect();
        let date = document.date_given.as_deref().unwrap_or_default();
        let mut page = format!(
            "{FENCE}\ntitle: {}\ntags: [{}]\ndate: {date}\n{FENCE}\n",
            quoted(&document.title),
            tags.join(", "),
        );
        if let Some(text) = &self.text {
            page += "\n";
            page += text;
            page += "\n";
        }
        page
    }

    /// Returns the changes of an edited page, none if it is empty; or a faulty line, from 1, and why.
    pub fn changes(&self, page: &str) -> Result<EditedFields, (usize, String)> {
        let page = page.replace("\r\n", "\n");
        if page.trim().is_empty() {
            return Ok(EditedFields::default());
        }
        let rest = page
            .strip_prefix(FENCE)
            .and_then(|rest| rest.strip_prefix('\n'))
            .ok_or_else(|| (1, format!("the first line is not `{FENCE}`")))?;
        let mut end = 0;
        let fence = rest.split_inclusive('\n').find(|line| {
            let is_fence = line.trim_end() == FENCE;
            end += line.len();
            is_fence
        });
        let Some(fence) = fence else {
            return Err((page.lines().count(), format!("the second line `{FENCE}` is missing")));
        };
        let front = &rest[..end - fence.len()];
        let body = rest[end..].trim_matches('\n').trim_end();
        let mut changes = fields(self, front)?;
        // The text begins after the two fences around the front matter.
        let first_line = front.lines().count() + 3;
        match &self.text {
            Some(_) if body.is_empty() => {
                return Err((
                    first_line,
                    wording!("the note is empty; `{}` removes it", kb("remove")).to_string(),
                ));
            }
            Some(text) if text.trim_matches('\n').trim_end() != body => {
                changes.text = Some(body.to_owned());
            }
            None if !body.is_empty() => {
                let message = "only the text of a note can be edited; edit the file instead";
                return Err((first_line, message.to_owned()));
            }
            _ => {}
        }
        Ok(changes)
    }
}

/// Returns tags in alphabetical order, each once.
fn sorted(tags: &[String]) -> Vec<String> {
    let mut tags = tags.to_vec();
    tags.sort_unstable();
    tags.dedup();
    tags
}

/// Returns the line of the page that begins with a key of the front matter; its first line if none does.
fn line_of(key: &str, front: &str) -> usize {
    let at = front.lines().position(|line| line.trim_start().starts_with(key));
    // The opening fence is line 1, so the front matter begins at line 2.
    at.map_or(2, |at| at + 2)
}

/// Returns a text as a YAML scalar on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Reads the front matter; a field that is as it was does not change anything.
fn fields(editable: &Editable, front: &str) -> Result<EditedFields, (usize, String)> {
    let document = &editable.document;
    if !limits::is_readable_yaml(front) {
        return Err((2, "the front matter is too large or nested too deeply".to_owned()));
    }
    let parsed: Value = yaml_serde::from_str(front).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        let message = error.to_string();
        let reason = message.split(" at line ").next().unwrap_or_default().to_owned();
        (line + 1, reason)
    })?;
    let fields = match parsed {
        Value::Mapping(fields) => fields,
        Value::Null => Mapping::new(),
        _ => return Err((2, "the front matter does not have the form `key: value`".to_owned())),
    };
    let mut changes = EditedFields::default();
    for (key, value) in &fields {
        let key = scalar(key).unwrap_or_default();
        let refuse = |reason: &str| (line_of(&key, front), reason.to_owned());
        match key.as_str() {
            "title" => {
                let title = scalar(value).ok_or_else(|| refuse("the title is not text"))?;
                let title = title.trim().to_owned();
                if title.is_empty() {
                    return Err(refuse("the title is empty"));
                }
                // The title is compared as the page showed it: quoting may have changed it.
                let is_same = quoted(&title) == quoted(document.title.trim());
                changes.title = Some(title).filter(|_| !is_same);
            }
            "tags" => {
                let tags = tags(value).ok_or_else(|| refuse("the tags are not a list of words"))?;
                changes.tags = Some(tags);
            }
            "date" => {
                let date = scalar(value).ok_or_else(|| refuse("the date is not text"))?;
                let date = values::day(&date).map_err(|reason| refuse(&reason))?;
                changes.date = Some(date);
            }
            _ => return Err(refuse("only title, tags and date can be edited here")),
        }
    }
    let title = changes.title.take();
    // The title has been compared above: `differing` would count an unchanged one as given by the user.
    let changes = editable.differing(changes);
    Ok(EditedFields { title, ..changes })
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_true) => Some(is_true.to_string()),
        _ => None,
    }
}

/// Returns tags written as a list, or separated by commas.
fn tags(value: &Value) -> Option<Vec<String>> {
    let tags: Vec<String> = match value {
        Value::Sequence(values) => values.iter().map(scalar).collect::<Option<_>>()?,
        other => scalar(other)?.split(',').map(str::to_owned).collect(),
    };
    let tags = tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty());
    Some(tags.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::TestDb;

    /// Returns a document with two tags and a day; with a text, it is a note.
    fn editable(text: Option<&str>) -> Editable {
        let mut db = TestDb::new();
        let id = db.add("/notes/tide.md", &["tide"], &["sea", "station"]);
        let mut document = db.store.document(id).unwrap().unwrap();
        document.title = "Tide \"tables\"".to_owned();
        document.date_given = Some("2026-05-17".to_owned());
        Editable { document, text: text.map(str::to_owned) }
    }

    /// Checks the changes of an edited page, or its faulty line.
    #[track_caller]
    fn check(editable: &Editable, from: &str, to: &str, expected: &Result<EditedFields, usize>) {
        let page = editable.page();
        assert!(page.contains(from), "{page}");
        let found = editable.changes(&page.replace(from, to)).map_err(|(line, _)| line);
        assert_eq!(&found, expected, "{to:?}");
    }

    #[test]
    fn a_page_that_was_not_edited_changes_nothing() {
        for text in [None, Some("High at noon.\n\nLow at six.")] {
            let editable = editable(text);
            check(&editable, "---", "---", &Ok(EditedFields::default()));
            assert_eq!(editable.changes("\r\n"), Ok(EditedFields::default()));
        }
    }

    #[test]
    fn each_edited_field_is_changed_alone() {
        let editable = editable(Some("High at noon."));
        let change = EditedFields::default;
        let title = Some("Tides".to_owned());
        check(&editable, r#""Tide \"tables\"""#, "Tides", &Ok(EditedFields { title, ..change() }));
        let tags = Some(vec!["sea".to_owned()]);
        check(&editable, ", \"station\"", "", &Ok(EditedFields { tags, ..change() }));
        let date = Some(Some("2026-05-18".to_owned()));
        check(&editable, "-17", "-18", &Ok(EditedFields { date, ..change() }));
        let text = Some("High at one.".to_owned());
        check(&editable, "noon.", "one.\n\n", &Ok(EditedFields { text, ..change() }));
    }

    #[test]
    fn a_faulty_line_is_named() {
        let note = editable(Some("High at noon."));
        for (from, to, line) in [
            ("---\ntitle", "title", 1),
            ("\n---\n\n", "\n\n", 6),
            ("title", "name", 2),
            ("date", "other", 4),
            ("2026-05-17", "May", 4),
            (r#""Tide \"tables\"""#, "", 2),
            ("tags: [", "tags: [[", 4),
            ("High at noon.", "", 6),
        ] {
            check(&note, from, to, &Err(line));
        }
        let file = editable(None);
        assert_eq!(file.changes(&(file.page() + "\nmore")).map_err(|(line, _)| line), Err(6));
    }
}
