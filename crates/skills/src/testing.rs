//! Sets up the surroundings of the tests in this folder: a home, a project in it, and a caller.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::diagnostic::Program;
use crate::store::skills::index::FtsTokenizer;
use crate::text::paths::canonical;

use super::caller::Caller;

/// Temporary directories that are removed with the test.
pub(super) struct World {
    pub(super) caller: Caller,
    dir: tempfile::TempDir,
}

impl World {
    /// Creates a home and a project; the caller is in the project.
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = canonical(dir.path()).unwrap();
        for name in ["home", "project/.skillc", "elsewhere"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let caller = Caller {
            program: Program::Kb,
            cwd: root.join("project"),
            home: root.join("home"),
            named_root: None,
            run_id: "run".into(),
            // One hour ahead, so that no file looks just written.
            now: SystemTime::now() + Duration::from_secs(3600),
            timestamp: "2026-01-02T03:04:05Z".into(),
            updates_index: false,
            tokenizer: FtsTokenizer::Porter,
        };
        Self { caller, dir }
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        canonical(self.dir.path()).unwrap().join(relative)
    }

    pub(super) fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Creates a skill with one section.
    pub(super) fn skill(&self, relative: &str) {
        let name = relative.rsplit('/').next().unwrap();
        let text = format!("---\nname: {name}\ndescription: Use when testing.\n---\n# {name}\n");
        self.write(&format!("{relative}/SKILL.md"), text);
    }
}
