//! Holds the state that all tools and resources share.

use std::sync::Arc;

use crate::app::skills::{SkillAnswer, SkillRequest, Skills};
use crate::app::{Observer, Session};
use crate::diagnostic::Program;
use crate::error::{Error, Result};
use crate::mcp::protocol::Failure;

/// A session that stays open between calls, and the observer of events.
pub(super) struct Service {
    pub(super) session: Session,
    pub(super) observer: Arc<dyn Observer>,
}

impl Service {
    /// Runs a skill command in the working directory and at the time of the call.
    pub(super) fn skill(
        &self,
        request: &SkillRequest,
        observer: &dyn Observer,
    ) -> Result<SkillAnswer> {
        let data_dir = Some(self.session.data_dir());
        Skills::new(&self.session.environment, data_dir, Program::Kb, observer)?
            .run(request, observer)
    }
}

/// Converts an error to the form that clients get.
pub(super) fn failure(error: &Error) -> Failure {
    Failure { message: error.to_string(), code: error.code().to_owned(), fix: error.hint() }
}
