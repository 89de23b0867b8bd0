//! Remembers when everything was last updated, and reminds of it.

use crate::app::Session;
use crate::error::{Error, Result};
use crate::ingest::walk::Start;
use crate::store::Store;
use crate::text::number::counted;
use crate::text::paths;
use crate::wording::{Wording, kb, wording};

/// Remembers the end of a run that compared all added folders with the disk. Another process that is
/// writing is no reason to fail: nothing else of the run is left to do.
pub(crate) fn remember(store: &mut Store) -> Result<()> {
    match store.set_last_update() {
        Err(Error::Locked { .. }) => Ok(()),
        other => other,
    }
}

/// Whether a run that began at these paths has seen all added folders.
pub(crate) fn covers_all(store: &Store, starts: &[Start]) -> Result<bool> {
    let roots = store.roots()?;
    let mut folders = roots.iter().map(|root| paths::path_of(&root.path));
    let has_seen_all =
        folders.all(|folder| starts.iter().any(|start| folder.starts_with(start.path())));
    Ok(!roots.is_empty() && has_seen_all)
}

/// Returns a line that reminds of the last update if it is longer ago than `freshness.days`.
pub fn reminder(session: &Session) -> Result<Option<Wording>> {
    let max_days = session.config().freshness.days;
    if max_days == 0 {
        return Ok(None);
    }
    let last = session.read_with_retry(|| {
        let Some(store) = session.store()? else { return Ok(None) };
        let last = store.last_update()?;
        session.give_back(store);
        Ok(last)
    })?;
    let old = last.filter(|last| last.num_days > max_days);
    Ok(old.map(|last| {
        wording!(
            "the last update was {} ago; run `{}`",
            counted(last.num_days, "day"),
            kb("update")
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    #[test]
    fn a_run_has_seen_all_folders_if_each_is_in_one_of_its_starts() {
        let world = World::new();
        for folder in ["docs", "notes"] {
            world.add(&format!("{folder}/a.md"), folder);
        }
        let covers = |names: &[&str]| {
            let starts: Vec<Start> =
                names.iter().map(|name| Start::named(&world.path(name))).collect();
            covers_all(&world.store(), &starts).unwrap()
        };
        assert!(!covers(&["docs"]), "no folder was added");
        world.add_folder("docs");
        world.add_folder("notes");
        assert!(!covers(&["docs"]) && !covers(&[]) && !covers(&["docs", "notes/sub"]));
        assert!(covers(&["docs", "notes"]) && covers(&[""]));
    }

    #[test]
    fn nothing_reminds_of_an_update_of_today_or_of_none() {
        let world = World::new();
        assert_eq!(reminder(&world.session).unwrap(), None);
        let mut store = world.store();
        remember(&mut store).unwrap();
        store.close().unwrap();
        assert_eq!(reminder(&world.session).unwrap(), None);
    }
}
