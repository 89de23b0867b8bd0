//! Reports the progress and the warnings of a call to the client that made it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Map;

use crate::app::Observer;
use crate::app::session::message::MessageLevel;
use crate::app::session::observer::AppEvent;
use crate::ingest;
use crate::mcp::words::in_tools;
use crate::server::{Call, Report};

/// Passes events on to the server's observer; the client gets the number of files, and the messages that are worth
/// reading.
pub(super) struct ServerReporter<'a> {
    server: &'a dyn Observer,
    call: &'a Call,
    /// Files done, and files found so far.
    counts: Mutex<(usize, usize)>,
}

impl<'a> ServerReporter<'a> {
    pub(super) fn new(server: &'a dyn Observer, call: &'a Call) -> Self {
        Self { server, call, counts: Mutex::default() }
    }

    fn done(&self, message: Option<&str>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.0 += 1;
        if let Some(message) = message {
            let (done, total) = (counts.0, Some(counts.1.max(counts.0)));
            self.call.report(Report::Progress { done, total, message: message.to_owned() });
        }
    }
}

impl Observer for ServerReporter<'_> {
    fn on_event(&self, event: AppEvent<'_>) {
        match &event {
            AppEvent::Ingest(ingest::IngestEvent::Found(num_files)) => {
                self.counts.lock().unwrap_or_else(PoisonError::into_inner).1 = *num_files;
            }
            AppEvent::Ingest(
                ingest::IngestEvent::Stored { path, .. }
                | ingest::IngestEvent::Skipped { path, .. },
            ) => {
                let name = path.map(|path| path.display().to_string()).unwrap_or_default();
                self.done(Some(&name));
            }
            AppEvent::Ingest(ingest::IngestEvent::Ignored | ingest::IngestEvent::PassedOver) => {
                self.done(None);
            }
            AppEvent::Ingest(ingest::IngestEvent::Failed { path, error }) => {
                let message = format!("{}: {error}", path.display());
                self.done(Some(&message));
                self.call.report(Report::Warning(message));
            }
            AppEvent::Message(message) => match message.level {
                MessageLevel::Info | MessageLevel::Note => {
                    self.call.report(Report::Note(in_tools(&message.line(), &Map::new())));
                }
                MessageLevel::Warning | MessageLevel::Failure => {
                    self.call.report(Report::Warning(in_tools(&message.unlabelled(), &Map::new())));
                }
                MessageLevel::Detail => {}
            },
            _ => {}
        }
        self.server.on_event(event);
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.call.cancel_flag()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::app::session::message::AppMessage;
    use crate::app::testing::World;
    use crate::error::Error;
    use crate::store::DocumentId;
    use crate::wording::{kb, wording};

    /// Sends events; returns what the client gets.
    fn reported(server: &World, events: Vec<AppEvent<'_>>) -> Vec<Report> {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&reports);
        let call = Call::new(Arc::new(move |report| received.lock().unwrap().push(report)));
        let reporter = ServerReporter::new(server, &call);
        events.into_iter().for_each(|event| reporter.on_event(event));
        assert!(Arc::ptr_eq(&reporter.cancel_flag(), &call.cancel_flag()));
        std::mem::take(&mut *reports.lock().unwrap())
    }

    #[test]
    fn progress_counts_all_files_and_names_those_that_were_stored() {
        use ingest::IngestEvent as Of;
        let path = Some(Path::new("/a.md"));
        let error = Error::EmptyFile { path: "/b.md".into() };
        let (document_id, warnings) = (DocumentId(1), &[][..]);
        let events = [
            Of::Stored { path, num_chunks: 1, warnings },
            Of::Found(6),
            Of::Ignored,
            Of::PassedOver,
            Of::Skipped { path: None, document_id },
            Of::Failed { path: Path::new("/b.md"), error: &error },
        ];
        let server = World::new();
        let reports = reported(&server, events.iter().map(AppEvent::Ingest).collect());
        let progress = |done, total, message: &str| Report::Progress {
            done,
            total: Some(total),
            message: message.to_owned(),
        };
        let failed = format!("/b.md: {error}");
        assert_eq!(
            reports,
            [
                progress(1, 1, "/a.md"),
                progress(4, 6, ""),
                progress(5, 6, &failed),
                Report::Warning(failed)
            ]
        );
    }

    #[test]
    fn what_is_worth_reading_goes_to_the_client_and_the_server() {
        let server = World::new();
        for (level, expected) in [
            (MessageLevel::Info, Some(Report::Note("ebb".into()))),
            (MessageLevel::Note, Some(Report::Note("note: ebb".into()))),
            (MessageLevel::Warning, Some(Report::Warning("ebb".into()))),
            (MessageLevel::Failure, Some(Report::Warning("ebb".into()))),
            (MessageLevel::Detail, None),
        ] {
            let text = "ebb".into();
            let message = AppMessage::new(level, &text);
            let reports = reported(&server, vec![AppEvent::Message(message)]);
            assert_eq!(reports.first(), expected.as_ref(), "{level:?}");
            assert_eq!(server.heard("ebb"), expected.is_some(), "{level:?}");
        }
    }

    #[test]
    fn commands_in_a_message_are_calls_of_tools() {
        let text = wording!("`{}` or `{}`", kb("list"), kb("init"));
        let message = AppMessage::new(MessageLevel::Note, &text);
        let reports = reported(&World::new(), vec![AppEvent::Message(message)]);
        assert_eq!(reports, [Report::Note("note: `kb_list` or `kb init`".into())]);
    }
}
