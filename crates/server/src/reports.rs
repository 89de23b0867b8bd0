//! Forwards what a call reports to the client: its progress, and log messages if the client wants them.

#![expect(
    deprecated,
    reason = "clients of today show these messages, and hide what a server writes to stderr"
)]

use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::RoleServer;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, SetLevelRequestParams,
};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;

use crate::Report;

/// The request with which a client chooses the least severity.
pub(super) type LevelRequest = SetLevelRequestParams;

/// The name of the sender.
const LOGGER: &str = "kb";

/// Reports of a call that wait for a client. Further ones are dropped: the answer has all that failed.
pub(super) const WAITING: usize = 1024;

/// Most messages of a call. A folder can have thousands of files that fail.
const MAX_MESSAGES: usize = 100;

/// The least severity that a client of a protocol before 2026-07-28 wants. Later clients state it with each request.
pub(super) struct LogThreshold(AtomicU8);

impl Default for LogThreshold {
    /// Returns the least severity that is worth reading if the client has not chosen one.
    fn default() -> Self {
        Self(AtomicU8::new(LoggingLevel::Warning as u8))
    }
}

impl LogThreshold {
    /// Sets it, as the client says.
    pub(super) fn set(&self, request: &LevelRequest) {
        self.0.store(request.level as u8, Ordering::Relaxed);
    }

    /// Returns the log of a request; `None` if the client wants no messages.
    pub(super) fn log(&self, context: &RequestContext<RoleServer>) -> Option<RequestLog> {
        let least = if is_stateless(context) {
            context.meta.log_level()? as u8
        } else {
            self.0.load(Ordering::Relaxed)
        };
        Some(RequestLog { least, num_sent: 0 })
    }
}

/// Whether a request is of the protocol 2026-07-28 or later, whose requests say everything themselves.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// The log of one request.
pub(super) struct RequestLog {
    least: u8,
    num_sent: usize,
}

impl RequestLog {
    /// Sends a report that is a message.
    pub(super) async fn send(&mut self, peer: &Peer<RoleServer>, report: &Report) {
        let (level, text) = match report {
            Report::Note(text) => (LoggingLevel::Info, text),
            Report::Warning(text) => (LoggingLevel::Warning, text),
            Report::Progress { .. } => return,
        };
        if (level as u8) < self.least || self.num_sent > MAX_MESSAGES {
            return;
        }
        self.num_sent += 1;
        let text = if self.num_sent > MAX_MESSAGES {
            "further messages of this call are left out"
        } else {
            text.as_str()
        };
        let message = LoggingMessageNotificationParam::new(level, text.into()).with_logger(LOGGER);
        // A failure is ignored: a client that does not listen misses only this message.
        let _ = peer.notify_logging_message(message).await;
    }
}

/// Forwards reports: progress if the client gave a token for it, messages if it wants them.
pub(super) async fn forward(
    mut reports: mpsc::Receiver<Report>,
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    mut log: Option<RequestLog>,
) {
    while let Some(report) = reports.recv().await {
        if let (Report::Progress { done, total, message }, Some(token)) = (&report, &token) {
            let mut notification = ProgressNotificationParam::new(token.clone(), number(*done));
            notification.total = total.map(number);
            // A failure is ignored: a client that does not listen misses only this message.
            let _ = peer.notify_progress(notification.with_message(message)).await;
        } else if let Some(log) = &mut log {
            log.send(&peer, &report).await;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no run has that many files")]
fn number(count: usize) -> f64 {
    count as f64
}
