//! Holds the state that all tools and resources share.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use crate::app::skills::{SkillAnswer, SkillRequest, Skills};
use crate::app::{Observer, ToolSet};
use crate::diagnostic::Program;
use crate::error::{Error, Result};
use crate::mcp::bases::Bases;
use crate::mcp::words::in_tools;
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

/// Converts an error to the form that clients get, in the words of a tool with these arguments.
pub(super) fn failure_of(error: &Error, arguments: &Map<String, Value>) -> Failure {
    let say = |text: String| in_tools(&text, arguments);
    let (message, fix) = (say(error.to_string()), error.hint().map(say));
    Failure { message, code: error.code().to_owned(), fix }
}

/// Converts an error that no tool reports.
pub(super) fn failure(error: &Error) -> Failure {
    failure_of(error, &Map::new())
}
