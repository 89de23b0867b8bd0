//! Examines the database and repairs it.

use std::collections::BTreeSet;

use crate::app::indexing::edit::kept;
use crate::app::indexing::reread::outdated;
use crate::app::indexing::vectors;
use crate::app::maintenance::doctor::{CheckVerdict, Findings};
use crate::app::session::{absent, model};
use crate::app::{Observer, Session};
use crate::error::Result;
use crate::store::{ChunkId, Damage, DatabaseFinding, Store};
use crate::text::number::{counted, thousands};
use crate::wording::{kb, wording};

const NAME: &str = "database";

/// Most rounds of repair: a repair may reveal further damage.
const MAX_ROUNDS: usize = 3;

/// Chunks embedded between two commits: one or two seconds of work, which is the most that an interruption loses.
const BATCH: u32 = 128;

/// Examines the database and, if `is_fixing`, repairs it.
pub(super) fn examine(
    session: &Session,
    is_fixing: bool,
    observer: &dyn Observer,
    findings: &mut Findings,
) {
    let outcome = match session.open_existing() {
        Ok(None) => {
            let message = format!("no database at {} yet", session.database().display());
            let fix = wording!("`{}` creates it", kb("add").arg("DIRECTORY"));
            findings.add_with_fix(NAME, CheckVerdict::Note, message, fix);
            return;
        }
        Ok(Some(store)) => {
            // A repair is refused below, after the checks that need none.
            let is_fixing = is_fixing && !store.is_read_only();
            examine_store(session, store, is_fixing, observer, findings)
        }
        Err(error) => Err(error),
    };
    let outcome =
        outcome.and_then(|()| if is_fixing { session.require_writable() } else { Ok(()) });
    if let Err(error) = outcome {
        findings.add_error(NAME, &error);
    }
}

fn examine_store(
    session: &Session,
    mut store: Store,
    is_fixing: bool,
    observer: &dyn Observer,
    findings: &mut Findings,
) -> Result<()> {
    let mut found = store.examine()?;
    let mut repaired: Vec<DatabaseFinding> = Vec::new();
    if is_fixing {
        for _ in 0..MAX_ROUNDS {
            if found.is_empty() || !found.iter().all(|finding| finding.damage.is_repairable()) {
                break;
            }
            repair(session, &mut store, &found, observer)?;
            let left = store.examine()?;
            repaired.extend(found.into_iter().filter(|finding| !left.contains(finding)));
            found = left;
        }
        // If another process reads, the next command finishes this.
        let _ = store.finish_erasing()?;
        if found.is_empty() && store.has_leftovers()? {
            let _ = store.clean_leftovers()?;
            let message = "cleared the text of removed documents from the file";
            findings.add(NAME, CheckVerdict::Repaired, message);
        }
        if found.is_empty() && store.compact()? {
            findings.add(NAME, CheckVerdict::Repaired, "released free space to the disk");
        }
    }
    for index in store.added_indexes() {
        let message = format!("{index} was not created by kb, and an upgrade may remove it");
        findings.add_with_fix(NAME, CheckVerdict::Note, message, "drop it unless you created it");
    }
    let orphans = kept::orphans(session.data_dir(), &store)?;
    for page in &orphans {
        let file = page.display().to_string();
        if is_fixing {
            kept::delete(page)?;
            let message = wording!(
                "deleted {}, the saved text of `{}` for a removed document",
                file,
                kb("edit")
            )
            .to_string();
            findings.add(NAME, CheckVerdict::Repaired, message);
        } else {
            let message =
                wording!("{} is a saved text of `{}` whose document was removed", file, kb("edit"))
                    .to_string();
            findings.add_with_fix(
                NAME,
                CheckVerdict::Note,
                message,
                wording!("`{}` deletes it", kb("doctor").flag("--fix")),
            );
        }
    }
    for finding in repaired {
        let message = format!("{}: {}", finding.damage.as_str(), finding.message);
        findings.add(NAME, CheckVerdict::Repaired, message);
    }
    for finding in &found {
        report(finding, findings);
    }
    if found.is_empty() {
        let stats = store.stats()?;
        let message = format!(
            "sound: {}, {}, {}, schema {}",
            counted(stats.total_documents(), "document"),
            counted(stats.total_chunks, "chunk"),
            counted(stats.total_vectors, "vector"),
            stats.schema_version
        );
        findings.add(NAME, CheckVerdict::Ok, message);
        if store.has_leftovers()? {
            let message = "the text of removed documents can still be read in the file";
            let fix = wording!("`{}` clears it", kb("doctor").flag("--fix"));
            findings.add_with_fix(NAME, CheckVerdict::Note, message, fix);
        }
        if store.lacks_vectors()? {
            let (message, fix) = (absent::WORDS_ONLY, absent::adds_vectors());
            findings.add_with_fix(NAME, CheckVerdict::Note, message, fix);
        }
        let num_outdated = outdated(session, &store)?.len();
        if num_outdated > 0 {
            let message = format!(
                "{} indexed with other settings, another model or an older kb",
                counted(num_outdated, "document")
            );
            findings.add_with_fix(
                NAME,
                CheckVerdict::Note,
                message,
                wording!("`{}` re-indexes them", kb("update").flag("--reread")),
            );
        }
        if let Some((binding, state)) = store.interrupted_reindex()? {
            let message = format!(
                "the switch to model {} stopped at {} of {}",
                binding.model_name,
                thousands(state.num_embedded),
                counted(state.num_chunks, "chunk")
            );
            let reindex = kb("reindex").option("--model", binding.model_name);
            let fix = wording!("`{}` continues it", reindex);
            findings.add_with_fix(NAME, CheckVerdict::Note, message, fix);
        }
    }
    store.close()
}

fn report(finding: &DatabaseFinding, findings: &mut Findings) {
    let message = format!("{}: {}", finding.damage.as_str(), finding.message);
    let fix = if finding.damage == Damage::Gaps {
        let repair = kb("doctor").flag("--fix");
        wording!("run `{}` and then `{}`, which reads their files again", repair, kb("update"))
    } else if finding.damage.is_repairable() {
        kb("doctor").flag("--fix").into()
    } else {
        findings.is_beyond_repair = true;
        wording!(
            "`{}` replaces it with a backup; or move it away and add the documents again",
            kb("restore").arg("FILE")
        )
    };
    findings.add_with_fix(NAME, CheckVerdict::Fault, message, fix);
}

/// Repairs the database and then embeds every chunk without a vector.
fn repair(
    session: &Session,
    store: &mut Store,
    found: &[DatabaseFinding],
    observer: &dyn Observer,
) -> Result<()> {
    let damages: BTreeSet<Damage> = found.iter().map(|finding| finding.damage).collect();
    if damages.contains(&Damage::Binding) {
        let configured = model::select(session, None)?;
        let installed = configured.locate().ok();
        let model = installed.map(|installed| configured.binding(&installed));
        store.repair_binding(model.as_ref())?;
    }
    store.repair(&damages.into_iter().collect::<Vec<_>>())?;
    let bound = store.binding()?;
    if bound.is_none() || store.unvectored(ChunkId(0), 1)?.is_empty() {
        return Ok(());
    }
    let selection = model::select(session, bound.as_ref())?;
    let installed = selection.locate()?;
    if let Some(bound) = &bound {
        model::check_binding(bound, &selection.binding(&installed))?;
    }
    let embedder = selection.open_for_passages(&installed, observer)?;
    let mut after = ChunkId(0);
    loop {
        let batch = store.unvectored(after, BATCH)?;
        let Some((last, _)) = batch.last() else { break };
        after = *last;
        let vectors = vectors::embed(&embedder, &batch)?;
        store.store_vectors(&vectors)?;
    }
    store.encode_vectors()?;
    Ok(())
}
