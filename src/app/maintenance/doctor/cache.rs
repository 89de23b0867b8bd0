//! Compares every file of the cache with its checksum before any of them is loaded.

use std::collections::BTreeSet;
use std::path::Path;

use crate::app::maintenance::doctor::{CheckVerdict, Findings};
use crate::app::session::model::{self, ModelSelection};
use crate::app::{Observer, Session};
use crate::document::Binding;
use crate::embed::{self, CachedFileState, Examination, ExaminedFile};
use crate::error::{Error, Result};
use crate::text::number::counted;
use crate::wording::{kb, wording};

const NAME: &str = "cache";

/// Examines the cache and, if `is_fixing`, removes wrong files and fetches them again. Returns whether
/// the model may be loaded.
pub(super) fn examine(
    session: &Session,
    bound: Option<&Binding>,
    is_fixing: bool,
    observer: &dyn Observer,
    findings: &mut Findings,
) -> bool {
    // Without a model, the cache is examined all the same; the fault is reported with the model.
    let selection = model::select(session, bound).ok();
    let examined = look(session, selection.as_ref()).and_then(|found| {
        let is_wrong = !wrong(&found).is_empty() || found.is_manifest_damaged;
        if is_fixing && is_wrong {
            return fix(session, selection.as_ref(), &found, observer, findings);
        }
        Ok(found)
    });
    match examined {
        Ok(found) => report(&found, findings),
        Err(error) => {
            findings.add_error(NAME, &error);
            false
        }
    }
}

fn look(session: &Session, selection: Option<&ModelSelection>) -> Result<Examination> {
    let installed = selection.and_then(|selection| selection.locate().ok());
    embed::examine(&session.locations(), installed.as_ref())
}

/// Removes wrong files, fetches missing ones, and examines the cache again. Graphs are built when the
/// model is opened.
fn fix(
    session: &Session,
    selection: Option<&ModelSelection>,
    found: &Examination,
    observer: &dyn Observer,
    findings: &mut Findings,
) -> Result<Examination> {
    let was_installed = selection
        .is_some_and(|selection| !matches!(selection.locate(), Err(Error::NotInstalled { .. })));
    embed::remove_wrong(&session.locations(), found)?;
    if let Some(selection) = selection.filter(|_| was_installed)
        && selection.locate().is_err()
        && let Err(error) = selection.install(observer)
    {
        findings.add_error(NAME, &error);
    }
    let after = look(session, selection)?;
    if found.is_manifest_damaged {
        let message = format!("{} was damaged", found.manifest.display());
        findings.add(NAME, CheckVerdict::Repaired, message);
    }
    for file in wrong(found) {
        let is_still_wrong = wrong(&after).iter().any(|other| other.path == file.path);
        if !is_still_wrong {
            findings.add(NAME, CheckVerdict::Repaired, describe(file));
        }
    }
    Ok(after)
}

/// Reports the findings. Returns whether the model may be loaded.
fn report(found: &Examination, findings: &mut Findings) -> bool {
    if found.is_manifest_damaged {
        let message = format!("{} is damaged", found.manifest.display());
        findings.add_with_fix(NAME, CheckVerdict::Fault, message, kb("doctor").flag("--fix"));
    }
    for file in &found.files {
        if file.is_wrong() {
            let fix = wording!("`{}` fetches or rebuilds it", kb("doctor").flag("--fix"));
            findings.add_with_fix(NAME, CheckVerdict::Fault, describe(file), fix);
        }
    }
    // An unknown file in use is left out here: it is rebuilt before it is loaded.
    let unknown = found.files.iter().filter(|file| file.state == CachedFileState::Unknown);
    let parts: BTreeSet<&Path> =
        unknown.filter(|file| !file.is_used).map(|file| &*file.part).collect();
    for part in parts {
        let message = format!(
            "{} has files that are not in the manifest; kb does not load them",
            part.display()
        );
        let fix = wording!("`{}` removes unused parts", kb("cache clean"));
        findings.add_with_fix(NAME, CheckVerdict::Note, message, fix);
    }
    if wrong(found).is_empty() && !found.is_manifest_damaged && !found.files.is_empty() {
        let intact =
            found.files.iter().filter(|file| file.state == CachedFileState::Intact).count();
        let message = format!("{} with correct checksums", counted(intact, "file"));
        findings.add(NAME, CheckVerdict::Ok, message);
    }
    // With a damaged manifest, the model is not loaded: that would write the manifest again.
    !found.is_manifest_damaged && !wrong(found).iter().any(|file| file.is_used)
}

fn wrong(found: &Examination) -> Vec<&ExaminedFile> {
    found.files.iter().filter(|file| file.is_wrong()).collect()
}

fn describe(file: &ExaminedFile) -> String {
    let path = file.path.display();
    match &file.state {
        CachedFileState::Intact => format!("{path} is intact"),
        CachedFileState::Missing => format!("{path} is missing"),
        CachedFileState::Unknown => format!("{path} is not in the manifest"),
        CachedFileState::Changed { found, expected } => {
            format!("{path} has changed: its SHA-256 is {found}, expected {expected}")
        }
    }
}
