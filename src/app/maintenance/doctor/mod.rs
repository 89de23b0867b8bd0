//! Examines the machine, the cache and the database, and repairs faults where possible.

mod cache;
mod database;
mod findings;
mod machine;

use crate::app::{Observer, Session};
use crate::error::Result;
use crate::read;
use crate::text::number::{counted, thousands};

pub use findings::{Check, CheckVerdict, Findings};

/// Examines everything kb needs and, if `is_fixing`, repairs faults where possible.
pub fn examine(session: &Session, is_fixing: bool, observer: &dyn Observer) -> Result<Findings> {
    session.read_with_retry(|| examine_once(session, is_fixing, observer))
}

/// Adds the links between notes that lead to no document.
pub fn links(session: &Session, findings: &mut Findings) -> Result<()> {
    let (num_links, dangling) = session.read_with_retry(|| match session.open_existing()? {
        Some(store) => read::dangling(&store),
        None => Ok((0, Vec::new())),
    })?;
    let links = counted(num_links, "link");
    let message = format!("{links} between notes, {} to no document", thousands(dangling.len()));
    findings.add("links", CheckVerdict::Ok, message);
    for line in dangling {
        findings.add("links", CheckVerdict::Note, line);
    }
    Ok(())
}

fn examine_once(session: &Session, is_fixing: bool, observer: &dyn Observer) -> Result<Findings> {
    let mut findings = Findings::default();
    machine::version(&mut findings);
    machine::files(session, is_fixing, &mut findings)?;
    machine::disk(session, &mut findings);
    machine::copies(session, &mut findings);
    // A database that cannot be opened is reported below.
    let bound = session.open_existing().ok().flatten();
    let bound = bound.and_then(|store| store.binding().ok().flatten());
    // The cache comes first, because its files would run in this process. The model comes before the
    // database, because a repair may compute vectors.
    let is_safe = cache::examine(session, bound.as_ref(), is_fixing, observer, &mut findings);
    machine::model(session, bound.as_ref(), is_safe, observer, &mut findings);
    // A repair may load the model to embed passages, so the cache must be safe.
    database::examine(session, is_fixing && is_safe, observer, &mut findings);
    let layers = machine::sandbox(session, &mut findings);
    machine::ocr(session, layers, &mut findings);
    machine::skill(session, &mut findings);
    machine::clients(session, &mut findings);
    Ok(findings)
}
