//! Recognises conflict copies by their names: what programs that synchronise folders write next to a file that was changed in
//! two places. This is the only place that knows these names.
//!
//! `OneDrive` adds the name of the computer (`plan-LAPTOP.md`), which looks like any other name, and is not recognised.

use super::paths::split_member;

/// The information in the name of a conflict copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictName {
    /// The path of the file that it is a copy of.
    pub original: String,
    /// Whether the name alone decides; otherwise the texts must also be alike.
    pub is_certain: bool,
}

impl ConflictName {
    /// Reads the name of a file; `None` if it is not that of a conflict copy.
    pub fn of(path: &str) -> Option<Self> {
        let start = path.rfind(['/', '\\']).map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(start);
        // Each of the names below has one of these; the names of most files have neither.
        let has_mark = name.contains(' ') || name.contains("conflict-");
        if !has_mark || split_member(path).1.is_some() {
            return None;
        }
        if let Some(original) = syncthing(name) {
            return Self::in_folder(folder, &original, true);
        }
        let (stem, extension) = name.rfind('.').map_or((name, ""), |at| name.split_at(at));
        if let Some(stem) = in_brackets(stem).or_else(|| owncloud(stem)) {
            return Self::in_folder(folder, &format!("{stem}{extension}"), true);
        }
        Self::in_folder(folder, &format!("{}{extension}", numbered(stem)?), false)
    }

    /// Describes a copy whose original is in the same folder; `None` if the original has no name.
    fn in_folder(folder: &str, original: &str, is_certain: bool) -> Option<Self> {
        let path = format!("{folder}{original}");
        (!original.is_empty()).then_some(Self { original: path, is_certain })
    }
}

/// `plan.sync-conflict-20260101-120000-ABCDEFG.md`, of Syncthing.
fn syncthing(name: &str) -> Option<String> {
    let (stem, rest) = name.split_once(".sync-conflict-")?;
    let (mark, extension) = rest.find('.').map_or((rest, ""), |at| rest.split_at(at));
    let mut parts = mark.split('-');
    let has_form = is_number(parts.next()?, 8)
        && is_number(parts.next()?, 6)
        && parts.next()?.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && parts.next().is_none();
    (has_form && !stem.is_empty()).then(|| format!("{stem}{extension}"))
}

/// `plan (Anna's conflicted copy 2026-01-01)`, of Dropbox, and `plan (conflicted copy 2026-01-01 120000)`, of Nextcloud.
fn in_brackets(stem: &str) -> Option<&str> {
    let (before, remark) = stem.strip_suffix(')')?.rsplit_once(" (")?;
    let (_, date) = remark.split_once("conflicted copy ")?;
    let digits = date.bytes().filter(u8::is_ascii_digit).count();
    let has_form = digits >= 8 && date.chars().all(|c| c.is_ascii_digit() || " -()".contains(c));
    (has_form && !before.is_empty()).then_some(before)
}

/// `plan_conflict-20260101-120000`, of `ownCloud` and old versions of Nextcloud.
fn owncloud(stem: &str) -> Option<&str> {
    let (before, date) = stem.rsplit_once("_conflict-")?;
    let (day, time) = date.split_once('-')?;
    (is_number(day, 8) && is_number(time, 6) && !before.is_empty()).then_some(before)
}

/// `plan 2`, of iCloud, and of people who number their files.
fn numbered(stem: &str) -> Option<&str> {
    let (before, number) = stem.rsplit_once(' ')?;
    let is_copy = number.len() == 1 && matches!(number.as_bytes(), [b'2'..=b'9']);
    (is_copy && !before.trim().is_empty()).then_some(before)
}

fn is_number(text: &str, num_digits: usize) -> bool {
    text.len() == num_digits && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<(&str, bool)>) {
        let found = ConflictName::of(path);
        let found = found.as_ref().map(|name| (name.original.as_str(), name.is_certain));
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn the_names_of_programs_that_synchronise_are_known() {
        check("/n/a.sync-conflict-20260101-120000-ABCDEFG.md", Some(("/n/a.md", true)));
        check("/n/a.sync-conflict-20260101-120000-ABCDEFG", Some(("/n/a", true)));
        check("/n/a (Anna's conflicted copy 2026-01-01).md", Some(("/n/a.md", true)));
        check("/n/a (Anna's conflicted copy 2026-01-01 (1)).md", None);
        check("/n/a (conflicted copy 2026-01-01 120000).tar.gz", None);
        check("/n/a (conflicted copy 2026-01-01 120000).md", Some(("/n/a.md", true)));
        check("/n/a_conflict-20260101-120000.md", Some(("/n/a.md", true)));
        check("/n/my plan 2.md", Some(("/n/my plan.md", false)));
    }

    #[test]
    fn other_names_are_those_of_files() {
        for path in [
            "/n/sync-conflict-20260101-120000-ABCDEFG.md",
            "/n/a.sync-conflict-yesterday.md",
            "/n/a (conflicted copy).md",
            "/n/how (not) to (resolve a conflicted copy now).md",
            "/n/a_conflict-2026.md",
            "/n/Chapter 12.md",
            "/n/a 1.md",
            "/n/ 2.md",
            "/n/2.md",
            "/n 2/a.md",
            "",
        ] {
            check(path, None);
        }
    }
}
