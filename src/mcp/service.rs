//! Holds the state that all tools and resources share, and decides what depends on where the client works: the
//! knowledge base of its project, and whether it has skills.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::app::agents::skills::{SkillAnswer, SkillRequest, Skills};
use crate::app::agents::workspace;
use crate::app::{Observer, ToolSet};
use crate::diagnostic::Program;
use crate::error::{Error, Result};
use crate::mcp::bases::Bases;
use crate::mcp::words::in_tools;
use crate::server::{Host, ToolFailure};

/// The prefix of the addresses of files.
const FILE_URI: &str = "file://";

/// The knowledge bases, which are kept open between calls, and the observer of events.
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
        let mut skills = Skills::new(session.environment(), data_dir, self.program, observer)?;
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

impl Host for Service {
    fn enter(&self, roots: &[String]) {
        let folders: Vec<PathBuf> = roots.iter().filter_map(|uri| folder(uri)).collect();
        let entered = workspace::enter(&folders).and_then(|()| self.bases.choose_again());
        if let Err(error) = entered {
            self.observer.warn(format!("the client's folder is not used: {error}"));
        }
    }

    /// Those of skills cost an agent tokens, for nothing where there are no skills.
    fn useless_tools(&self) -> Option<&'static str> {
        let is_free = self.program == Program::Kb && self.tools.is_none();
        if !is_free {
            return None;
        }
        let has_skills = self.list_skills().is_ok_and(|skills| !skills.is_empty());
        (!has_skills).then(|| self.program.tool_prefix())
    }
}

/// Returns the path that an address stands for; `None` if it is not that of a file on this machine.
fn folder(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix(FILE_URI)?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let path = path.strip_prefix('/')?;
    // The path of a drive follows the slash.
    Some(if cfg!(windows) { path.into() } else { Path::new("/").join(path) })
}

/// Converts an error to the form that clients get, in the words of a tool with these arguments.
pub(super) fn failure_of(error: &Error, arguments: &Map<String, Value>) -> ToolFailure {
    let message = in_tools(&error.message(), arguments);
    let fix = error.hint().map(|hint| in_tools(&hint, arguments));
    ToolFailure { message, code: error.code().to_owned(), fix }
}

/// Converts an error that no tool reports.
pub(super) fn failure(error: &Error) -> ToolFailure {
    failure_of(error, &Map::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, expected: Option<&str>) {
        assert_eq!(folder(uri), expected.map(PathBuf::from), "{uri}");
    }

    #[test]
    fn only_addresses_of_files_on_this_machine_are_folders() {
        check("file:///home/a%20b/%C3%A4", Some("/home/a b/ä"));
        check("file://localhost/home", Some("/home"));
        for uri in
            ["file://server/home", "file://home", "https://example.org/", "/home", "file:///%ff"]
        {
            check(uri, None);
        }
    }
}
