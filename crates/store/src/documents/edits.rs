//! Keeps when the user edited a document, and decides which of two edits stays.

use crate::ids::DocumentId;
use rusqlite::{Connection, named_params};
use serde::{Deserialize, Serialize};

use crate::db::fault::Step;
use crate::db::row::StoredRow;
use crate::db::{columns, sql};

/// The times of all edits of a document, RFC 3339 with milliseconds, UTC. Triggers add the time of
/// each new edit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edits {
    /// Edits of the title.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub title: Vec<String>,
    /// Edits of the date.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub date: Vec<String>,
    /// Edits of the text of a note.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
    /// SHA-256 of the earlier texts of a note, lower-case hex.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<String>,
}

/// Which of two versions stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EditVerdict {
    /// The one here: it is the same, or was made from the other one.
    Here,
    /// The other one, which was made from the one here.
    There,
    /// The one here, because its last edit is newer; the other one has separate edits.
    HereIsNewer,
    /// The other one, in the same way.
    ThereIsNewer,
}

impl EditVerdict {
    pub(super) fn takes_other(self) -> bool {
        matches!(self, Self::There | Self::ThereIsNewer)
    }

    pub(super) fn is_conflict(self) -> bool {
        matches!(self, Self::HereIsNewer | Self::ThereIsNewer)
    }
}

const EDITS: &str = "SELECT coalesce(edits, '{}') AS edits FROM documents WHERE id = :id";

const SET_EDITS: &str = "UPDATE documents SET edits = :edits WHERE id = :id";

impl Edits {
    pub(super) fn to_json(&self) -> Step<Option<String>> {
        if *self == Self::default() { Ok(None) } else { Ok(Some(columns::to_json(self)?)) }
    }

    /// Returns what a copy of an earlier version of a note keeps: it is a separate note.
    pub(super) fn of_copy(&self) -> Self {
        Self { text: Vec::new(), former: Vec::new(), ..self.clone() }
    }

    /// Returns the times of all edits that make up the version of a note.
    pub(super) fn of_note(&self) -> Vec<String> {
        union(&self.title, &self.text)
    }
}

/// Compares the edits of two versions that differ; `is_greater` decides between edits of the same
/// time, the same way on both machines.
pub(super) fn verdict(here: &[String], there: &[String], is_greater: bool) -> EditVerdict {
    match (has_all(here, there), has_all(there, here)) {
        (true, false) => EditVerdict::Here,
        // Neither side was edited.
        (true, true) if here.is_empty() => EditVerdict::Here,
        (false, true) => EditVerdict::There,
        _ if (there.iter().max(), is_greater) > (here.iter().max(), !is_greater) => {
            EditVerdict::ThereIsNewer
        }
        _ => EditVerdict::HereIsNewer,
    }
}

fn has_all(all: &[String], some: &[String]) -> bool {
    some.iter().all(|time| all.contains(time))
}

/// Returns all times of both, in order.
pub(super) fn union(one: &[String], other: &[String]) -> Vec<String> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}

pub(super) fn read(db: &Connection, id: DocumentId) -> Step<Edits> {
    let params = named_params! { ":id": id };
    let mut edits: Edits = db
        .prepare_cached(EDITS)?
        .query_row(params, |row| columns::json_column(&StoredRow::of(row), "edits"))?;
    edits.former.sort_unstable();
    Ok(edits)
}

pub(super) fn set(db: &Connection, id: DocumentId, edits: &Edits) -> Step<()> {
    sql::run(db, SET_EDITS, named_params! { ":id": id, ":edits": edits.to_json()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(here: &[&str], there: &[&str], expected: EditVerdict, reverse: EditVerdict) {
        let times = |all: &[&str]| all.iter().map(|&time| time.to_owned()).collect::<Vec<_>>();
        let (here, there) = (times(here), times(there));
        assert_eq!(verdict(&here, &there, true), expected);
        assert_eq!(verdict(&there, &here, false), reverse);
    }

    #[test]
    fn both_machines_come_to_the_same_version() {
        use EditVerdict::{Here, HereIsNewer, There, ThereIsNewer};
        check(&["1", "2"], &["1"], Here, There);
        check(&[], &["1"], There, Here);
        // A clock that went back.
        check(&["3"], &["1", "3"], There, Here);
        check(&["1", "2"], &["1", "3"], ThereIsNewer, HereIsNewer);
        check(&["1"], &["1"], ThereIsNewer, HereIsNewer);
        check(&[], &[], Here, Here);
    }
}
