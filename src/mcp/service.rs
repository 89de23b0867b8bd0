//! Holds what all tools and resources work on.

use std::sync::Arc;

use crate::app::skills::{SkillAnswer, SkillRequest, Skills};
use crate::app::{Observer, Session};
use crate::diagnostic::Program;
use crate::error::{Error, Result};
use crate::mcp::protocol::Failure;

/// A session that stays open between calls, and who hears of what happens.
pub(super) struct Service {
    pub(super) session: Session,
    pub(super) observer: Arc<dyn Observer>,
}

impl Service {
    /// Runs a skill command, in the working directory and at the time of the call.
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

/// Returns an error as a client sees it.
pub(super) fn failure(error: &Error) -> Failure {
    Failure { message: error.to_string(), code: error.code().to_owned(), fix: error.hint() }
}
