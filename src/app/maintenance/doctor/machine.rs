//! Examines this machine: permissions, disk space, model, OCR, agent skills and programs of agents.

use std::path::Path;

use crate::app::agents::clients::stale::{self, Problem, StaleEntry};
use crate::app::agents::clients::{self, System};
use crate::app::agents::own_skill;
use crate::app::indexing::ingestion::options;
use crate::app::indexing::ocr;
use crate::app::maintenance::doctor::{CheckVerdict, Findings};
use crate::app::session::{copies, model};
use crate::app::{Observer, Session};
use crate::config::OcrMode;
use crate::document::Binding;
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::extract::sandbox::{self, Layers, NO_SANDBOX};
use crate::files::access::{is_mounted_read_only, is_writable};
use crate::files::private::{close, is_open_to_others};
use crate::files::program;
use crate::files::write::free_bytes;
use crate::store::Store;
use crate::text::number::thousands;
use crate::text::paths::canonical;
use crate::wording::{kb, wording};

/// Files of the data directory with private content.
const FILES: [&str; 5] = ["kb.db", "kb.db-wal", "kb.db-shm", "config.yaml", "ingest-errors.log"];

/// Free bytes that should be available: room for a log, and for SQLite to sort in files.
const LITTLE_SPACE: u64 = 200 << 20;

/// A text to test the model with.
const SAMPLE: &str = "how to install git";

pub(super) fn version(findings: &mut Findings) {
    let message = format!("kb {}, SQLite {}", env!("CARGO_PKG_VERSION"), Store::sqlite_version());
    findings.add("version", CheckVerdict::Ok, message);
}

/// Reports files that other users may read and, if `is_fixing`, makes them private.
pub(super) fn files(session: &Session, is_fixing: bool, findings: &mut Findings) -> Result<()> {
    let dir = session.data_dir();
    if !dir.exists() {
        let message = format!("{} does not exist yet", dir.display());
        findings.add("files", CheckVerdict::Note, message);
        return Ok(());
    }
    let open: Vec<_> = [dir.to_owned()]
        .into_iter()
        .chain(FILES.iter().map(|name| dir.join(name)))
        .filter(|path| is_open_to_others(path))
        .collect();
    if open.is_empty() {
        findings.add(
            "files",
            CheckVerdict::Ok,
            if cfg!(unix) {
                format!("only the owner can access {}", dir.display())
            } else {
                format!("{} has the permissions of its folder", dir.display())
            },
        );
    }
    let is_read_only = session.is_read_only();
    for path in open {
        let message = format!("other users can read {}", path.display());
        if is_read_only {
            // Such a database is shared on purpose, and its owner decides who reads it.
            findings.add("files", CheckVerdict::Note, message);
            continue;
        }
        if is_fixing {
            let made = canonical(&path).and_then(|place| close(&place));
            made.map_err(|source| Error::of_file(&path, source))?;
        }
        if !is_open_to_others(&path) {
            findings.add("files", CheckVerdict::Repaired, message);
        } else if is_fixing {
            let fix = "only its owner, who is another user, can restrict it";
            findings.add_with_fix("files", CheckVerdict::Fault, message, fix);
        } else {
            let fix = kb("doctor").flag("--fix");
            findings.add_with_fix("files", CheckVerdict::Fault, message, fix);
        }
    }
    if is_read_only {
        let obstacle = if is_mounted_read_only(dir) {
            "its file system is mounted read-only"
        } else {
            "its file or folder is not writable"
        };
        let message = format!("the database is read-only: {obstacle}");
        let fix = "searches work; to change the database, copy it to a folder that you can write \
            to";
        findings.add_with_fix("files", CheckVerdict::Note, message, fix);
    } else if let Err(error) = writable(dir) {
        let fix = "check its owner and permissions";
        let message = format!("cannot write to {}: {error}", dir.display());
        findings.add_with_fix("files", CheckVerdict::Fault, message, fix);
    }
    Ok(())
}

#[cfg(unix)]
fn writable(dir: &Path) -> std::io::Result<()> {
    Ok(rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?)
}

#[cfg(not(unix))]
fn writable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Reports the free space for the database.
pub(super) fn disk(session: &Session, findings: &mut Findings) {
    let places = [session.data_dir().to_owned(), session.locations().cache_dir];
    // Places that cannot be written are left out: nothing there is going to fill up.
    for place in places.into_iter().filter(|place| !place.exists() || is_writable(place)) {
        let Some(free) = place.ancestors().find(|folder| folder.exists()).and_then(free_bytes)
        else {
            continue;
        };
        let message = format!("{} MB free for {}", thousands(free >> 20), place.display());
        if free < LITTLE_SPACE {
            let fix =
                wording!("free some space: a full disk stops `{}`, but no data is lost", kb("add"));
            findings.add_with_fix("disk", CheckVerdict::Fault, message, fix);
        } else {
            findings.add("disk", CheckVerdict::Ok, message);
        }
    }
}

/// Reports the copies of the database that kb made itself.
pub(super) fn copies(session: &Session, findings: &mut Findings) {
    let copies = copies::list(session);
    if !copies.is_empty() {
        let message = format!(
            "{} that kb made, {} MB, in {}",
            copies::counted(copies.len()),
            thousands(copies::total_bytes(&copies) >> 20),
            session.data_dir().display()
        );
        let them = if copies.len() == 1 { "it" } else { "them" };
        let fix = wording!("`{}` deletes {}", kb("remove").flag("--backups"), them);
        findings.add_with_fix("backups", CheckVerdict::Note, message, fix);
    }
}

/// Reports the model and, if `is_safe`, tests it.
pub(super) fn model(
    session: &Session,
    bound: Option<&Binding>,
    is_safe: bool,
    observer: &dyn Observer,
    findings: &mut Findings,
) {
    // A mismatch is reported first: the wanted model may not be installed, but the remedy is the same.
    if let Err(error @ Error::ModelMismatch { .. }) = model::check_selection(session, bound) {
        return findings.add_error("model", &error);
    }
    let located =
        model::select(session, bound).and_then(|selection| Ok((selection.locate()?, selection)));
    let (installed, selection) = match located {
        Ok(located) => located,
        Err(error @ Error::NotInstalled { .. }) if bound.is_none() => {
            return findings.add_error_as("model", CheckVerdict::Note, &error);
        }
        Err(error) => return findings.add_error("model", &error),
    };
    if is_safe {
        let is_known = installed.has_checksums();
        let checked = if is_known { "checksums are correct" } else { "no checksums are known" };
        let place = installed.model_dir.display();
        let message = format!("{} in {place}: {checked}", installed.name);
        findings.add("model", CheckVerdict::Ok, message);
    }
    if let Some(bound) = bound
        && let Err(error) = model::check_binding(bound, &selection.binding(&installed))
    {
        findings.add_error("model", &error);
    }
    if !is_safe {
        let message = "not loaded, because its files have changed";
        return findings.add("runtime", CheckVerdict::Note, message);
    }
    let is_needed = !installed.runtime.as_os_str().is_empty();
    let runtime = if is_needed { installed.runtime.display().to_string() } else { "kb".to_owned() };
    let embedded = selection
        .open_for_passages(&installed, observer)
        .and_then(|model| model.embed_passages(&[SAMPLE]));
    match embedded {
        Ok(vectors) => {
            let dim = vectors.first().map_or(0, |embedding| embedding.vector.len());
            let message = format!("{runtime} computes vectors with {dim} dimensions");
            findings.add("runtime", CheckVerdict::Ok, message);
        }
        Err(error) => findings.add_error("runtime", &error),
    }
}

/// Reports what confines the processes that read documents, and returns it.
pub(super) fn sandbox(session: &Session, findings: &mut Findings) -> Option<Layers> {
    let layers = options::reading_program(session).and_then(|program| sandbox::active(&program));
    let layers = match layers {
        Ok(layers) => layers,
        Err(error) => {
            findings.add_error("sandbox", &error);
            return None;
        }
    };
    let (active, inactive) = layers.names();
    let active = active.join(", ");
    if inactive.is_empty() {
        findings.add("sandbox", CheckVerdict::Ok, active);
        return Some(layers);
    }
    let active = if active.is_empty() { "a process for each document".to_owned() } else { active };
    let lacks = format!("{active}; this system lacks: {}", inactive.join(", "));
    let message = NO_SANDBOX.map_or_else(|| lacks.clone(), |note| format!("{note}: {lacks}"));
    findings.add("sandbox", CheckVerdict::Note, message);
    Some(layers)
}

/// Reports whether OCR is available, and what its program could do if a picture used a flaw in it.
pub(super) fn ocr(session: &Session, layers: Option<Layers>, findings: &mut Findings) {
    if session.config().ingestion.enable_ocr == OcrMode::Never {
        findings.add("ocr", CheckVerdict::Note, "off (ingestion.enable_ocr)");
        return;
    }
    let setup = ocr::setup(session);
    match (setup.tesseract, setup.problem) {
        (Some(program), _) => {
            let program = program.display();
            match layers.as_ref().and_then(left_open) {
                None => findings.add("ocr", CheckVerdict::Ok, program.to_string()),
                Some(open) => {
                    let message = format!(
                        "{program}; on this system, a malicious picture could \
                        make it {open}"
                    );
                    let fix = "`ingestion.enable_ocr: never` turns it off, if you add pictures \
                        from people you do not trust";
                    findings.add_with_fix("ocr", CheckVerdict::Note, message, fix);
                }
            }
        }
        (None, Some(problem)) => {
            let message = format!("{problem}: scans are added without their text");
            let fix = wording!("{}, then `{}`", ocr::REMEDY, kb("update"));
            findings.add_with_fix("ocr", CheckVerdict::Note, message, fix);
        }
        (None, None) => {
            let message = "Tesseract is not on the PATH: scans are added without their text";
            let fix = wording!(
                "install it (Debian, Ubuntu: `apt install tesseract-ocr`), then `{}`",
                kb("update")
            );
            findings.add_with_fix("ocr", CheckVerdict::Note, message, fix);
        }
    }
}

/// Returns what a picture that uses a flaw in Tesseract could do, where the system lacks a layer. docs/sandbox.md
/// says which layer refuses what.
fn left_open(layers: &Layers) -> Option<&'static str> {
    match (layers.landlock.is_some(), layers.seccomp) {
        (true, true) => None,
        (false, true) => Some("read your files"),
        (true, false) => {
            Some("change permissions of your files, use the network and start processes")
        }
        (false, false) => Some("act with your rights"),
    }
}

/// Reports whether agents have this version of kb's skill.
pub(super) fn skill(session: &Session, findings: &mut Findings) {
    for found in own_skill::agent_skills(session.environment()) {
        let place = found.path.display();
        let version = found.version.as_deref().unwrap_or("unknown");
        if found.is_current {
            findings.add("skill", CheckVerdict::Ok, format!("{place} has this version"));
        } else {
            let message = format!("{place} has version {version}, or was edited");
            let fix = wording!("`{}` installs this version", kb("skill install"));
            findings.add_with_fix("skill", CheckVerdict::Note, message, fix);
        }
    }
}

/// Reports whether the programs that start the server still start this one.
pub(super) fn clients(session: &Session, findings: &mut Findings) {
    let Ok(program) = program::path() else { return };
    let (found, errors) = stale::find(session.environment(), System::this(), &program);
    for StaleEntry { title, client, path, name, problem } in found {
        let path = path.display();
        let (verdict, message, wanted) = match problem {
            None => {
                findings.add("client", CheckVerdict::Ok, format!("{title} starts this program"));
                continue;
            }
            Some(Problem::NoProgram(program)) => (
                CheckVerdict::Fault,
                format!("starts {program}, which does not exist"),
                "mcp install",
            ),
            Some(Problem::OtherProgram(program)) => (
                CheckVerdict::Note,
                format!("starts {program}, which is another kb"),
                "mcp install",
            ),
            Some(Problem::NoDataDir(dir)) => (
                CheckVerdict::Fault,
                format!("serves the data directory {dir}, which does not exist"),
                "--data-dir DIR mcp install",
            ),
        };
        let fix = if name == clients::NAME {
            let install = kb(wanted).option("--client", client);
            wording!("`{}` corrects it, and `--remove` removes it", install)
        } else {
            format!("correct the entry `{name}` in {path}").into()
        };
        findings.add_with_fix("client", verdict, format!("{title} {message} ({path})"), fix);
    }
    for error in errors {
        findings.add("client", CheckVerdict::Note, error.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tesseract_could_do_is_reported_where_a_layer_is_missing() {
        let open = |landlock, seccomp| {
            left_open(&Layers { landlock, seccomp, ..Layers::default() }).unwrap_or_default()
        };
        // With seccomp, it does not matter how old Landlock is.
        assert_eq!((open(Some(7), true), open(Some(1), true)), ("", ""));
        assert_eq!(open(None, true), "read your files");
        assert!(open(Some(7), false).contains("start processes"));
        assert_eq!(open(None, false), "act with your rights");
    }
}
