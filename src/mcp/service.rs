//! Holds the state that all tools and resources share.

use std::sync::{Arc, OnceLock};

use crate::app::skills::{SkillAnswer, SkillRequest, Skills};
use crate::app::{Observer, ToolSet};
use crate::diagnostic::Program;
use crate::error::{Error, Result};
use crate::mcp::bases::Bases;
use crate::server::Failure;

/// The knowledge bases, which stay open between calls, and the observer of events.
pub(super) struct Service {
    pub(super) bases: Bases,
    pub(super) observer: Arc<dyn Observer>,
    /// The name the server was started under.
    pub(super) program: Program,
    /// The tools to offer; `None` for those that are of use.
    pub(super) tools: Option<ToolSet>,
    /// Identifies the session in the access logs of skills.
    pub(super) run_id: OnceLock<String>,
}

impl Service {
    /// Runs a skill command in the working directory and at the time of the call.
    pub(super) fn skill(
        &self,
        request: &SkillRequest,
        observer: &dyn Observer,
    ) -> Result<SkillAnswer> {
        let session = self.bases.usual();
        let data_dir = Some(session.data_dir());
        let mut skills = Skills::new(&session.environment, data_dir, self.program, observer)?;
        let run_id = self.run_id.get_or_init(|| skills.run_id().to_owned());
        skills.serve(run_id);
        skills.run(request, observer)
    }

    /// Returns the tools that can be called. Under the other program's name they are always those of skills.
    pub(super) fn tool_set(&self) -> ToolSet {
        match self.program {
            Program::Skc => ToolSet::Skills,
            Program::Kb => self.tools.unwrap_or(ToolSet::All),
        }
    }
}

/// Converts an error to the form that clients get.
pub(super) fn failure(error: &Error) -> Failure {
    Failure { message: error.to_string(), code: error.code().to_owned(), fix: error.hint() }
}
