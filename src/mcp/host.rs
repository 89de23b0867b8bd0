//! Decides what depends on where the client works: the knowledge base of its project, and whether it has skills.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use crate::app::workspace;
use crate::diagnostic::Program;
use crate::mcp::service::Service;
use crate::server::Host;

/// The prefix of the addresses of files.
const FILE_URI: &str = "file://";

impl Host for Service {
    fn enter(&self, roots: &[String]) {
        let folders: Vec<PathBuf> = roots.iter().filter_map(|uri| folder(uri)).collect();
        let entered = workspace::enter(&folders).and_then(|()| self.bases.choose_again());
        if let Err(error) = entered {
            self.observer.warn(&format!("the client's folder is not used: {error}"));
        }
    }

    /// Those of skills cost an agent tokens, for nothing where there are no skills.
    fn useless_tools(&self) -> Option<&'static str> {
        let is_free = self.program == Program::Kb && self.tools.is_none();
        let has_skills = || self.list_skills().is_ok_and(|skills| !skills.is_empty());
        (is_free && !has_skills()).then(|| self.program.tool_prefix())
    }
}

/// Returns the path that an address stands for; `None` if it is not that of a file on this machine.
fn folder(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix(FILE_URI)?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = percent_decode_str(path).decode_utf8().ok()?;
    path.starts_with('/').then(|| PathBuf::from(&*path))
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
