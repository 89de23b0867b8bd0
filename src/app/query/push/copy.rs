//! Connects to PostgreSQL for a push or a search.

use std::sync::atomic::Ordering;

use crate::app::query::push::PushReport;
use crate::app::session::absent;
use crate::app::session::kept_connection::KeptConnection;
use crate::app::session::observer::AppEvent;
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::store::remote::{self, CopyTarget, PushProgress, Remote, RemoteLink};

/// Brings the copy behind a URL up to date with the session's database.
pub fn push(session: &Session, target: &str, observer: &dyn Observer) -> Result<PushReport> {
    let target = parse(session, target)?;
    let store =
        session.open_existing()?.ok_or_else(|| Error::PathNotFound { path: session.database() })?;
    let base_id = store.base_id()?.ok_or_else(|| {
        Error::usage("this database has no id, because an older kb created it")
            .with_hint("export it, and import the export into a new data directory")
    })?;
    let mut link = connect(&target, observer)?;
    let is_cancelled = observer.cancel_flag();
    let pushed = remote::push(&mut link, &store, &base_id, &mut |progress| {
        let PushProgress { num_done, num_blocks: total } = progress;
        observer.on_event(AppEvent::Counted { things: "blocks", num_done, total });
        if is_cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    })?;
    Ok(PushReport {
        target: target.to_string(),
        is_fresh: pushed.is_fresh,
        num_documents: pushed.num_documents,
        num_sent: pushed.num_sent,
        num_removed: pushed.num_removed,
        num_chunks_sent: pushed.num_chunks_sent,
    })
}

/// Opens the copy behind a URL, through the connection of the last search if it was there.
pub(crate) fn open(session: &Session, typed: &str, observer: &dyn Observer) -> Result<Remote> {
    let target = parse(session, typed)?;
    let kept = session.kept_connection().take().filter(|kept| kept.typed == typed);
    // The server may have ended the kept connection meanwhile.
    let remote = match kept.and_then(|kept| Remote::open(kept.link).ok()) {
        Some(remote) => remote,
        None => Remote::open(connect(&target, observer)?)?,
    };
    if remote.is_of_older_format() {
        observer.note(format!("an older kb made the copy in {target}: {}", absent::OLDER));
    }
    if !remote.is_complete() {
        observer
            .warn(format!("the last push to {target} did not finish, so the copy is incomplete"));
    }
    Ok(remote)
}

/// Keeps the connection of a search for the next one.
pub(crate) fn keep(session: &Session, typed: &str, remote: Remote) {
    *session.kept_connection() =
        remote.close().map(|link| KeptConnection { typed: typed.to_owned(), link });
}

fn connect(target: &CopyTarget, observer: &dyn Observer) -> Result<RemoteLink> {
    let link = target.connect()?;
    if link.is_exposed() {
        observer.warn(format!("the connection to {target} is not encrypted"));
    }
    Ok(link)
}

fn parse(session: &Session, typed: &str) -> Result<CopyTarget> {
    CopyTarget::parse(typed, &|name| Some(session.environment().get(name)?.to_str()?.to_owned()))
}
