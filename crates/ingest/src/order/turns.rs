//! Lets folders take turns, so that a folder of many files does not keep those after it waiting.
//!
//! At each level, a folder has a turn of [`TURN`] files with all below it, and the next one follows; the files that are
//! directly in a folder count as one of its folders. In a turn, files keep their order, so a folder of fewer files is in
//! one piece.

use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::iter;
use std::path::{Component, Path, PathBuf};

use crate::error::Result;
use crate::walk::FoundFile;

/// Files of a turn. Computed for a home of 860 files (code 423, pages 341, mails 10, notes 60, office 9, manuals 8, scripts
/// 9, in this order): the notes are at places 774 to 833 of the walk, and come at 138 to 197. With 32 they come at 74 to 223,
/// as their folder needs two turns; with 128 at 266 to 325.
const TURN: usize = 64;

/// Most files that wait; about a megabyte. Folders that the walk reaches later get no turn before some of these are read.
const MAX_WAITING: usize = 4_096;

/// Returns the files of a walk with folders in turns. An unreadable item follows the file found before it.
///
/// Only after a complete turn is it looked for what else waits, so the first files are not kept waiting.
pub(super) fn in_turns(
    found: impl Iterator<Item = Result<FoundFile>>,
) -> impl Iterator<Item = Result<FoundFile>> {
    let mut found = found.fuse();
    let mut root = WaitingFiles::default();
    let mut num_waiting = 0;
    let mut last_folder = PathBuf::new();
    iter::from_fn(move || {
        while num_waiting == 0 || (num_waiting < MAX_WAITING && root.is_turn_over()) {
            let Some(file) = found.next() else { break };
            if let Ok(file) = &file {
                last_folder = file.path.parent().unwrap_or(Path::new("")).to_owned();
            }
            let names: Vec<&OsStr> = last_folder.components().map(Component::as_os_str).collect();
            root.put(&names, file);
            num_waiting += 1;
        }
        let file = root.take()?;
        num_waiting -= 1;
        Some(file)
    })
}

/// Who has a turn in a folder: a folder in it, or `None` for the files directly in it.
type Party = Option<OsString>;

/// The files of a folder and all below it that wait.
#[derive(Default)]
struct WaitingFiles {
    own: VecDeque<Result<FoundFile>>,
    folders: HashMap<OsString, Self>,
    /// Those with waiting files, in the order of their turns.
    parties: VecDeque<Party>,
    /// Whose turn it is, and how many of its files came already; it may have none at the moment.
    turn: Option<(Party, usize)>,
}

impl WaitingFiles {
    /// Adds a file in the folder with these names.
    fn put(&mut self, folder: &[&OsStr], file: Result<FoundFile>) {
        let (party, was_empty) = match folder {
            [] => {
                self.own.push_back(file);
                (None, self.own.len() == 1)
            }
            [name, below @ ..] => {
                let next = self.folders.entry((*name).to_owned()).or_default();
                let was_empty = next.parties.is_empty();
                next.put(below, file);
                (Some((*name).to_owned()), was_empty)
            }
        };
        if was_empty {
            self.parties.push_back(party);
        }
    }

    /// Whether a turn ends before the next file, at any level.
    fn is_turn_over(&self) -> bool {
        let Some(next) = self.parties.front() else { return false };
        let is_over = self.turn.as_ref().is_some_and(|(party, num)| party == next && *num >= TURN);
        let below = next.as_ref().and_then(|name| self.folders.get(name));
        is_over || below.is_some_and(Self::is_turn_over)
    }

    /// Returns the next file.
    fn take(&mut self) -> Option<Result<FoundFile>> {
        if let Some((party, num)) = &self.turn
            && *num >= TURN
            && self.parties.front() == Some(party)
        {
            self.parties.rotate_left(1);
            self.pass_on();
        }
        let next = self.parties.front()?.clone();
        if self.turn.as_ref().is_none_or(|(party, _)| *party != next) {
            self.pass_on();
        }
        let (file, is_empty) = match &next {
            None => (self.own.pop_front(), self.own.is_empty()),
            Some(name) => {
                let below = self.folders.get_mut(name)?;
                (below.take(), below.parties.is_empty())
            }
        };
        if is_empty {
            self.parties.pop_front();
        }
        let num = self.turn.as_ref().map_or(0, |(_, num)| *num);
        self.turn = Some((next, num + 1));
        file
    }

    /// Ends a turn, and forgets the folder that had it if nothing of it waits.
    fn pass_on(&mut self) {
        if let Some((Some(name), _)) = self.turn.take()
            && self.folders.get(&name).is_some_and(|below| below.parties.is_empty())
        {
            self.folders.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::files::reach::Reach;
    use crate::files::stamp::Stamp;

    fn file(path: &str) -> Result<FoundFile> {
        Ok(FoundFile {
            path: PathBuf::from(path),
            stamp: Stamp { size_bytes: 1, mtime_ns: 0 },
            is_named: false,
            is_included: false,
            reach: Reach::Anywhere,
            read_as: None,
        })
    }

    /// Returns the paths of folders with so many files, in the order of a walk.
    fn walked(folders: &[(&str, usize)]) -> Vec<String> {
        let files = |(folder, num): &(&str, usize)| -> Vec<String> {
            (0..*num).map(|number| format!("{folder}/{number:04}")).collect()
        };
        folders.iter().flat_map(files).collect()
    }

    fn ordered(paths: &[String]) -> Vec<String> {
        let files = paths.iter().map(|path| file(path));
        in_turns(files).map(|file| file.unwrap().path.to_str().unwrap().to_owned()).collect()
    }

    /// Returns the folders in the new order, each with how many of its files come in a row.
    fn runs(folders: &[(&str, usize)]) -> Vec<(String, usize)> {
        let mut runs: Vec<(String, usize)> = Vec::new();
        for path in ordered(&walked(folders)) {
            let folder = path.rsplit_once('/').unwrap().0.to_owned();
            match runs.last_mut() {
                Some((last, num)) if *last == folder => *num += 1,
                _ => runs.push((folder, 1)),
            }
        }
        runs
    }

    #[track_caller]
    fn check(folders: &[(&str, usize)], expected: &[(&str, usize)]) {
        let expected: Vec<(String, usize)> =
            expected.iter().map(|(folder, num)| ((*folder).to_owned(), *num)).collect();
        assert_eq!(runs(folders), expected);
    }

    #[test]
    fn small_folders_keep_their_order() {
        let folders = [("/h/a", TURN), ("/h/b/c", 3), ("/h/b/d", 5), ("/h/e", TURN)];
        check(&folders, &folders);
        check(&[("/h/a", 500)], &[("/h/a", 500)]);
        check(&[], &[]);
    }

    #[test]
    fn a_folder_of_many_files_lets_the_others_go_first_after_its_turn() {
        let home = [
            ("/h/code", 423),
            ("/h/docs", 341),
            ("/h/mail", 10),
            ("/h/notes", 60),
            ("/h/office", 9),
            ("/h/pdf", 8),
            ("/h/scripts", 9),
        ];
        let places = |paths: &[String]| {
            let is_note = |path: &String| path.starts_with("/h/notes");
            (paths.iter().position(is_note).unwrap(), paths.iter().rposition(is_note).unwrap())
        };
        let paths = walked(&home);
        assert_eq!((places(&paths), places(&ordered(&paths))), ((774, 833), (138, 197)));
        check(
            &[("/a", 130), ("/b", 70)],
            &[("/a", 64), ("/b", 64), ("/a", 64), ("/b", 6), ("/a", 2)],
        );
    }

    #[test]
    fn folders_take_turns_at_every_level() {
        let deep: Vec<String> =
            (0..100).map(|number| format!("/h/me/code/src/{number:03}")).collect();
        let mut folders: Vec<(&str, usize)> =
            deep.iter().map(|folder| (folder.as_str(), 4)).collect();
        folders.push(("/h/me/notes", 60));
        let paths = ordered(&walked(&folders));
        let is_note = |path: &String| path.starts_with("/h/me/notes");
        assert_eq!(paths.iter().position(is_note), Some(TURN));
        assert_eq!(paths.iter().rposition(is_note), Some(TURN + 59));
    }

    #[test]
    fn no_file_is_lost_and_no_more_than_a_window_waits() {
        let folders = [("/a", 5_000), ("/b/c", 3_000), ("/b/d", 1), ("/b", 900), ("/e", 100)];
        let walked = walked(&folders);
        let mut num_walked = 0;
        let files = walked.iter().inspect(|_| num_walked += 1).map(|path| file(path));
        let first: Vec<_> = in_turns(files).take(TURN + 1).collect();
        assert_eq!((first.len(), num_walked), (TURN + 1, TURN + MAX_WAITING));
        let (mut before, mut after) = (walked.clone(), ordered(&walked));
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after);
    }

    #[test]
    fn the_first_turn_is_returned_as_it_is_found() {
        let mut num_walked = 0;
        let endless = iter::repeat_with(|| {
            num_walked += 1;
            file("/a/b")
        });
        assert_eq!(in_turns(endless).take(TURN).count(), TURN);
        assert_eq!(num_walked, TURN);
    }

    #[test]
    fn what_cannot_be_read_stays_after_the_file_before_it() {
        let lost = Err(Error::PathNotFound { path: PathBuf::from("/x") });
        let ordered: Vec<bool> = in_turns([file("/a/1"), lost, file("/b/2")].into_iter())
            .map(|file| file.is_ok())
            .collect();
        assert_eq!(ordered, [true, false, true]);
    }
}
