//! Reads the variables of the process once and returns them by name.

use crate::text::paths::resolved;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// The folder of a project's knowledge base in the project, and of the user's in the home directory.
pub const PROJECT_FOLDER: &str = ".kb";

/// The environment of the process, read once at startup.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    values: BTreeMap<String, OsString>,
}

impl Environment {
    /// Reads the variables of this process.
    pub fn of_process() -> Self {
        let mut environment: Self =
            std::env::vars_os().map(|(name, value)| (usual_case(&name), value)).collect();
        // If `HOME` is not set, the system may still know it, for example for a service.
        if environment.get("HOME").is_none()
            && let Some(home) = std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
        {
            environment.values.insert("HOME".to_owned(), home.into());
        }
        environment
    }

    /// Returns a variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&OsString> {
        self.values.get(name).filter(|value| !value.is_empty())
    }

    /// Returns a variable as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// Finds a program on `PATH`. Relative folders are skipped: the working directory, and so the
    /// meaning of `.`, may be under the control of someone else.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let folders = std::env::split_paths(self.get("PATH")?);
        let mut programs = folders.map(|folder| folder.join(&name));
        programs.find(|program| program.is_absolute() && program.is_file())
    }

    /// Returns the program to start for one that the user names: a name alone is a program on `PATH`, as
    /// [`Self::program`] finds it.
    pub fn started(&self, program: &str) -> io::Result<PathBuf> {
        if Path::new(program).components().count() > 1 {
            return Ok(program.into());
        }
        self.program(program).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "no absolute folder of PATH has it")
        })
    }

    /// Returns the user's home directory; the root directory if there is none.
    pub fn home(&self) -> PathBuf {
        self.path("HOME").or_else(|| self.path("USERPROFILE")).unwrap_or_else(|| PathBuf::from("/"))
    }

    /// Whether a folder is a project's `.kb`, or is in one. Everyone who commits to the project can write it. The
    /// one in the home directory is the user's own.
    pub fn is_of_project(&self, dir: &Path) -> bool {
        let own = resolved(&self.home().join(PROJECT_FOLDER));
        // The folder may also be a link to another folder of the project.
        is_in_other(dir, &own) || is_in_other(&resolved(dir), &own)
    }

    /// Returns the folder for what kb keeps on this machine and can make again, or that others need not have:
    /// `XDG_CACHE_HOME` or `XDG_STATE_HOME`, else the usual folder of the system.
    pub fn local_dir(&self, variable: &str, usual: &str) -> PathBuf {
        let of_system = self.path("LOCALAPPDATA").filter(|_| cfg!(windows));
        self.path(variable).or(of_system).unwrap_or_else(|| self.home().join(usual))
    }

    /// Returns the folder for temporary files.
    pub fn temp_dir(&self) -> PathBuf {
        self.path("TMPDIR").unwrap_or_else(std::env::temp_dir)
    }
}

impl FromIterator<(String, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, OsString)>>(values: I) -> Self {
        Self { values: values.into_iter().collect() }
    }
}

/// Returns the name of a variable. Windows does not distinguish `Path` and `PATH`.
fn usual_case(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    if cfg!(windows) { name.to_uppercase() } else { name.into_owned() }
}

/// Whether a path is a `.kb` other than the user's own, or is in one.
fn is_in_other(path: &Path, own: &Path) -> bool {
    path.ancestors().any(|dir| dir.ends_with(PROJECT_FOLDER) && resolved(dir) != own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_project_is_recognised_whatever_leads_there() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in ["home/.kb/bases/work", "home/data", "project/.kb/bases/work", "disk/.kb"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        let environment: Environment =
            [("HOME".to_owned(), at("home").into())].into_iter().collect();
        let is_of_project = |path: &str| environment.is_of_project(&at(path));
        for path in ["project/.kb", "project/.kb/bases/work", "disk/.kb"] {
            assert!(is_of_project(path), "{path}");
        }
        for path in ["home/.kb", "home/.kb/bases/work", "home/data"] {
            assert!(!is_of_project(path), "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("project/.kb"), at("home/linked")).unwrap();
            std::os::unix::fs::symlink(at("home/data"), at("home/.kb/.kb")).unwrap();
            assert!(is_of_project("home/linked") && is_of_project("home/.kb/.kb"));
            // The user's own may be on another disk.
            std::fs::remove_dir_all(at("home/.kb")).unwrap();
            std::os::unix::fs::symlink(at("disk/.kb"), at("home/.kb")).unwrap();
            assert!(!is_of_project("home/.kb"));
        }
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let of = |values: &[(&str, &str)]| -> Environment {
            values.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect()
        };
        assert_eq!(of(&[("A", "")]).get("A"), None);
        assert_eq!(of(&[("A", "b")]).path("A"), Some(PathBuf::from("b")));
        for (values, home) in [
            (&[("HOME", "/h"), ("USERPROFILE", "/u")][..], "/h"),
            (&[("HOME", ""), ("USERPROFILE", "/u")], "/u"),
            (&[], "/"),
        ] {
            assert_eq!(of(values).home(), Path::new(home), "{values:?}");
        }
        assert_eq!(of(&[("TMPDIR", "/t")]).temp_dir(), Path::new("/t"));
        assert_eq!(of(&[]).temp_dir(), std::env::temp_dir());
    }

    #[test]
    fn a_program_is_never_found_in_a_relative_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().to_str().unwrap();
        let program = dir.path().join(format!("python3{}", std::env::consts::EXE_SUFFIX));
        std::fs::write(&program, "").unwrap();
        let find = |path: String| {
            let environment: Environment = [("PATH".to_owned(), path.into())].into_iter().collect();
            environment.program("python3")
        };
        // Unit tests run in the folder of the manifest.
        for path in [".", "", ":", "target:.", "src", "..", "./", "/nowhere"] {
            assert_eq!(find(path.to_owned()), None, "{path}");
        }
        let environment: Environment = [("PATH".to_owned(), ".:src".into())].into_iter().collect();
        assert!(environment.started("lib.rs").is_err());
        assert_eq!(environment.started("./lib.rs").unwrap(), Path::new("./lib.rs"));
        for path in [folder.to_owned(), format!(".:{folder}"), format!(":{folder}:")] {
            assert_eq!(find(path), Some(program.clone()));
        }
    }
}
