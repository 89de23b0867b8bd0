//! Places to look in, the ONNX Runtime library out.
//!
//! In this order: the user's own (`ORT_DYLIB_PATH`), kb's cache, the system's, and, only while
//! installing, a Python environment's, then the Python package. Libraries too old for kb are passed
//! over, except the user's own, whose refusal says so. Where the library is linked in, the program is it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::place::{self, Workspace};
use super::{Locations, fetch_error, python, reason_of};
use crate::embed::facts::model_error;
use crate::embed::registry::{self, RuntimePlatform};
use crate::embed::{Event, io_error};
use crate::error::{Error, Result};

/// What messages call it.
pub(super) const WHAT: &str = "ONNX Runtime";

/// The first minor version of 1 that can build graphs without a file (the model editor).
const OLDEST_MINOR: u32 = 22;

/// Finds the library on this machine.
///
/// # Errors
///
/// [`Error::Model`] if the user's own or the cached one is not what it should be.
pub(super) fn locate(locations: &Locations) -> Result<Option<PathBuf>> {
    if cfg!(not(feature = "load-dynamic")) {
        return Ok(std::env::current_exe().ok());
    }
    if let Some(path) = &locations.runtime_path {
        if !path.is_file() {
            return Err(model_error(path, "ORT_DYLIB_PATH names no file"));
        }
        return Ok(Some(path.clone()));
    }
    if let Some(platform) = registry::runtime_platform() {
        let path = cached(locations, &registry::runtime().version, platform.library_name());
        if let Ok(metadata) = path.metadata() {
            place::check_length(&path, metadata.len(), platform.size_bytes)?;
            return Ok(Some(path));
        }
    }
    Ok(newest_cached(locations).or_else(|| system(&locations.library_dirs)))
}

/// Compares the library with the checksum of the one kb fetches, if it is that one.
///
/// # Errors
///
/// [`Error::Model`] if it differs, [`Error::Io`] if it cannot be read.
pub fn verify(path: &Path, locations: &Locations) -> Result<()> {
    match registry::runtime_platform() {
        Some(platform)
            if path == cached(locations, &registry::runtime().version, platform.library_name()) =>
        {
            place::check_sha256(path, &platform.sha256)
        }
        _ => Ok(()),
    }
}

/// Brings the library into kb's cache.
///
/// # Errors
///
/// [`Error::Fetch`] with a clause for each source.
pub(super) fn fetch(
    locations: &Locations,
    workspace: &Workspace,
    on_event: &mut dyn FnMut(Event),
) -> Result<PathBuf> {
    let what = format!("{WHAT} {}", registry::runtime().version);
    if let Some(platform) = registry::runtime_platform() {
        // One that was here and good would have been located; a broken one must not stay in the way.
        let path = cached(locations, &registry::runtime().version, platform.library_name());
        let _ = fs::remove_file(path);
    }
    if let Some(path) = adopt(locations, workspace)? {
        on_event(Event::Found { what: WHAT.to_owned(), path: path.clone() });
        return Ok(path);
    }
    let mut failures = vec![(
        format!("{} environment", locations.python.display()),
        format!("no onnxruntime 1.{OLDEST_MINOR} or newer"),
    )];
    let source = python::source(&registry::runtime().python_package);
    let Some(platform) = registry::runtime_platform() else {
        let reason = format!("none for {} {}", std::env::consts::OS, std::env::consts::ARCH);
        failures.push((source, reason));
        return Err(fetch_error(what, &failures));
    };
    let destination = cached(locations, &registry::runtime().version, platform.library_name());
    on_event(Event::Fetching {
        what: what.clone(),
        source: source.clone(),
        size_mb: Some(platform.download_mb),
        destination: destination.clone(),
    });
    match fetch_package(platform, locations, workspace, &destination) {
        Ok(()) => {
            on_event(Event::Fetched { what, path: destination.clone() });
            Ok(destination)
        }
        Err(error @ (Error::DiskFull { .. } | Error::Io { .. })) => Err(error),
        Err(error) => {
            failures.push((source, reason_of(error)));
            Err(fetch_error(what, &failures))
        }
    }
}

fn fetch_package(
    platform: &RuntimePlatform,
    locations: &Locations,
    workspace: &Workspace,
    destination: &Path,
) -> Result<()> {
    let requirement = &registry::runtime().python_package;
    let mut wheel =
        python::download(requirement, &[&platform.python_platform], locations, workspace)?;
    let made = workspace.path("library");
    wheel.extract(&platform.member, &made)?;
    place::check_sha256(&made, &platform.sha256)?;
    workspace.publish(&made, destination)
}

/// Copies the library of a Python environment into the cache: the environment may go any day.
fn adopt(locations: &Locations, workspace: &Workspace) -> Result<Option<PathBuf>> {
    let Some((version, dir)) = python::environment_runtime(locations) else { return Ok(None) };
    let is_plain = version.chars().all(|it| it.is_ascii_alphanumeric() || it == '.');
    let library = fs::read_dir(dir).ok().and_then(|mut it| {
        it.find_map(|it| it.ok().map(|it| it.path()).filter(|it| is_library(it)))
    });
    let (true, true, Some(library)) = (is_plain, is_new_enough(&version), library) else {
        return Ok(None);
    };
    let made = workspace.path("library");
    let mut source = File::open(&library).map_err(|it| io_error(&library, it))?;
    place::write(&made, &mut source)?;
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    let destination = cached(locations, &version, &name);
    workspace.publish(&made, &destination)?;
    Ok(Some(destination))
}

/// Returns where the cache keeps the library of a version.
fn cached(locations: &Locations, version: &str, name: &str) -> PathBuf {
    locations.cache_dir.join("onnxruntime").join(version).join(name)
}

/// Finds the library of the newest version a Python environment once gave.
fn newest_cached(locations: &Locations) -> Option<PathBuf> {
    let pinned = &registry::runtime().version;
    let versions = fs::read_dir(locations.cache_dir.join("onnxruntime")).ok()?;
    let libraries = versions.flatten().filter_map(|version| {
        let name = version.file_name().to_string_lossy().into_owned();
        let is_usable = name != *pinned && is_new_enough(&name);
        let files = is_usable.then(|| fs::read_dir(version.path()).ok()).flatten()?;
        let library = files.flatten().map(|it| it.path()).find(|it| is_library(it))?;
        Some((minor_version(&name), library))
    });
    libraries.max().map(|(_, path)| path)
}

/// Finds the system's library. One whose file name states no version is not trusted.
fn system(dirs: &[PathBuf]) -> Option<PathBuf> {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let name = format!("{DLL_PREFIX}onnxruntime{DLL_SUFFIX}");
    let names = [name.clone(), format!("{name}.1")];
    let paths = dirs.iter().flat_map(|dir| names.iter().map(|it| dir.join(it)));
    paths.filter_map(|it| it.canonicalize().ok()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let version = name.trim_start_matches(|it: char| !it.is_ascii_digit());
        path.is_file() && is_new_enough(version)
    })
}

/// Returns where systems of this kind keep shared libraries.
pub(super) fn system_library_dirs() -> Vec<PathBuf> {
    use std::env::consts::{ARCH, OS};
    match OS {
        "linux" => vec![
            format!("/usr/lib/{ARCH}-linux-gnu").into(),
            "/usr/lib64".into(),
            "/usr/lib".into(),
            "/usr/local/lib".into(),
        ],
        "macos" => vec!["/opt/homebrew/lib".into(), "/usr/local/lib".into()],
        _ => Vec::new(),
    }
}

/// Whether a file name is that of the library, not of its plug-ins or Python module.
fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let tail = name.strip_prefix("libonnxruntime").or_else(|| name.strip_prefix("onnxruntime"));
    tail.is_some_and(|it| it.starts_with('.') && !it.ends_with(".lib"))
}

/// Whether a version (`1.31.1`) has all kb needs.
fn is_new_enough(version: &str) -> bool {
    version.starts_with("1.") && minor_version(version) >= OLDEST_MINOR
}

fn minor_version(version: &str) -> u32 {
    version.split('.').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_are_passed_over() {
        for (version, is_usable) in
            [("1.31.1", true), ("1.22.0", true), ("1.21.0", false), ("1.9.0", false), ("", false)]
        {
            assert_eq!(is_new_enough(version), is_usable, "{version}");
        }
    }

    #[test]
    fn plug_ins_are_no_libraries() {
        for (name, expected) in [
            ("libonnxruntime.so.1.31.1", true),
            ("libonnxruntime.1.31.1.dylib", true),
            ("onnxruntime.dll", true),
            ("onnxruntime.lib", false),
            ("libonnxruntime_providers_shared.so", false),
            ("onnxruntime_pybind11_state.so", false),
        ] {
            assert_eq!(is_library(Path::new(name)), expected, "{name}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_system_library_is_taken_if_its_name_says_it_is_new_enough() {
        let dir = tempfile::tempdir().unwrap();
        for (version, expected) in [("1.21.0", false), ("1.31.1", true)] {
            let file = dir.path().join(format!("libonnxruntime.so.{version}"));
            fs::write(&file, "").unwrap();
            let link = dir.path().join("libonnxruntime.so");
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(&file, &link).unwrap();
            let found = system(&[dir.path().to_owned()]);
            assert_eq!(found, expected.then(|| file.canonicalize().unwrap()));
        }
    }
}
