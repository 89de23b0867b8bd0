//! Serves the use cases to agents as tools and resources, over stdin and stdout.
//!
//! ```text
//! server:   turn → validate → audit → dispatch → audit ──► envelope
//!                                        └─► offer ─► tools, skill_tools, resources ──► app ──► present::json
//! ```

mod bases;
mod form;
mod instructions;
mod offer;
pub mod reporter;
mod resources;
mod schemas;
mod service;
mod skill_resources;
mod skill_tools;
#[cfg(test)]
mod tests;
mod tools;
mod words;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use crate::app::indexing::watch::{self, WatchRequest};
use crate::app::session::error_log::now;
use crate::app::{self, Observer, ServerOptions, Session};
use crate::diagnostic::Program;
use crate::error::{Error, Result};
use crate::mcp::bases::Bases;
use crate::mcp::offer::ToolListOptions;
use crate::mcp::service::Service;
use crate::server::{self, AuditSink, JsonLines, NoAudit, ToolDispatcher};

/// Serves until stdin closes. The database is opened and the skills are loaded before the first
/// call. Returns whether all threads have ended; if not, the process must end without tidying up under them.
pub fn run(session: Session, observer: Arc<dyn Observer>, options: &ServerOptions) -> Result<bool> {
    let audit: Arc<dyn AuditSink> = match &options.audit_log {
        Some(path) => Arc::new(JsonLines::open(path, now)?),
        None => Arc::new(NoAudit),
    };
    // While this connection is open, a tool never closes the last one, which would write the log
    // back each time.
    let store = match session.open_existing()? {
        None if options.allows_writing => Some(session.open_store()?),
        found => found,
    };
    let bound = session.binding()?;
    let bases = Bases::new(session, options);
    let usual = bases.usual();
    let mut listed = app::session::bases::list(&usual)?;
    listed.retain(|base| base.is_allowed && bases.allows(&base.name));
    let instructions = match options.program {
        Program::Kb => instructions::general(&listed, &usual.place().name),
        Program::Skc => instructions::SKILLS.to_owned(),
    };
    let tool_options =
        ToolListOptions { allows_writing: options.allows_writing, has_several: listed.len() > 1 };
    let service = Arc::new(Service {
        bases,
        observer,
        program: options.program,
        tools: options.tools,
        run_id: OnceLock::new(),
    });
    // If the skills cannot be loaded now, they could not be served later.
    service.list_skills()?;
    let mut chain = ToolDispatcher::new(audit);
    for tool in offer::tools(&service, service.tool_set(), tool_options) {
        chain.register(tool).map_err(Error::usage)?;
    }
    let preparing = Arc::clone(&service);
    let watching = options.watches.then(|| Watching::start(&service));
    let served = server::serve(chain, Arc::clone(&service) as Arc<_>, instructions, move || {
        // A missing model is reported to the calls that need it.
        let _ = preparing.bases.usual().embedder(bound.as_ref(), &*preparing.observer);
    });
    if let Some(watching) = watching {
        watching.end();
    }
    if !served? {
        return Ok(false);
    }
    service.bases.close()?;
    store.map_or(Ok(()), |store| store.close())?;
    Ok(true)
}

/// A thread that follows the added folders while the server runs.
struct Watching {
    is_ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Watching {
    fn start(service: &Arc<Service>) -> Self {
        let request = WatchRequest::default();
        let (is_ended, service) = (Arc::clone(&request.is_ended), Arc::clone(service));
        let session = service.bases.usual();
        let thread = thread::spawn(move || {
            // An error is only reported: the server answers without following folders.
            if let Err(error) = watch::watch(&session, &request, &*service.observer) {
                service.observer.warn(format!("stopped watching folders: {error}"));
            }
        });
        Self { is_ended, thread }
    }

    /// Waits for the current document.
    fn end(self) {
        self.is_ended.store(true, Ordering::Relaxed);
        // A panic in the thread has been printed.
        let _ = self.thread.join();
    }
}
