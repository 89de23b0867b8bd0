//! Finds the ONNX Runtime library, or adds it to kb's cache.
//!
//! The user's own library (`ORT_DYLIB_PATH`) is used unchecked, and so is one that is linked in.
//! Every other library is loaded only from kb's cache, and only if its SHA-256 is listed in
//! `models.toml`. It is copied there from the system, from a Python environment, or from the Python
//! package.

use std::path::{Path, PathBuf};

use super::failures::{changed_length, fetch_error, reason_of};
use super::python;
use crate::cache::{Workspace, check_sha256, sha256, write_file};
use crate::error::{Error, Result};
use crate::fault::library_error;
use crate::files::{folder, open, write};
use crate::registry::{self, LibrarySpec, RuntimePlatform};
use crate::text::paths::canonical;
use crate::{Locations, ModelEvent};

/// Its name in messages.
pub(super) const WHAT: &str = "ONNX Runtime";

/// The first minor version of 1 that can build graphs without a file (the model editor).
const OLDEST_MINOR: u32 = 22;

/// Finds the library: the linked one, the user's own, or one in kb's cache.
pub(super) fn locate(locations: &Locations) -> Result<Option<PathBuf>> {
    if cfg!(not(feature = "load-dynamic")) {
        return Ok(std::env::current_exe().ok());
    }
    if let Some(path) = &locations.runtime_path {
        if !path.is_file() {
            return Err(library_error(path, "ORT_DYLIB_PATH does not name a file"));
        }
        return Ok(Some(path.clone()));
    }
    let mut broken = Ok(());
    for library in registry::libraries() {
        let path = cached_library(&locations.cache_dir, &library);
        match path.metadata() {
            Ok(metadata) if metadata.len() == library.size_bytes => return Ok(Some(path)),
            Ok(metadata) => {
                let error = changed_length(&path, metadata.len(), library.size_bytes);
                broken = broken.and(Err(error));
            }
            Err(_) => {}
        }
    }
    broken.map(|()| None)
}

/// Adds the library to kb's cache.
pub(super) fn fetch(
    locations: &Locations,
    workspace: &Workspace,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<PathBuf> {
    let what = format!("{WHAT} {}", registry::runtime().version);
    // A good library would have been located, so one in the cache is broken and must go.
    for library in registry::libraries() {
        let _ = write::remove(&cached_library(&locations.cache_dir, &library));
    }
    if let Some(path) = adopt(locations, workspace, on_event)? {
        on_event(ModelEvent::Found { what: WHAT.to_owned(), path: path.clone() });
        return Ok(path);
    }
    let source = python::source(&registry::runtime().python_package);
    let Some(platform) = registry::runtime_platform() else {
        let reason = format!("none for {} {}", std::env::consts::OS, std::env::consts::ARCH);
        return Err(fetch_error(what, &[(source, reason)]));
    };
    let fetched = registry::libraries().next();
    let destination =
        fetched.map(|library| cached_library(&locations.cache_dir, &library)).unwrap_or_default();
    on_event(ModelEvent::Fetching {
        what: what.clone(),
        source: source.clone(),
        size_mb: Some(platform.download_mb),
        destination: destination.clone(),
    });
    match fetch_package(platform, locations, workspace, &destination) {
        Ok(()) => {
            on_event(ModelEvent::Fetched { what, path: destination.clone() });
            Ok(destination)
        }
        Err(error @ (Error::DiskFull { .. } | Error::Io { .. })) => Err(error),
        Err(error) => Err(fetch_error(what, &[(source, reason_of(error))])),
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
    check_sha256(&made, &platform.sha256)?;
    workspace.publish(&made, destination)
}

/// Copies a library of a Python environment or of the system into the cache, if its content is
/// known: at its original place, others may change it later.
fn adopt(
    locations: &Locations,
    workspace: &Workspace,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<Option<PathBuf>> {
    let of_python = python::environment_runtime(locations, workspace)?
        .filter(|(version, _)| is_new_enough(version))
        .and_then(|(_, dir)| library_in(&dir));
    for path in of_python.into_iter().chain(system(&locations.library_dirs)) {
        let made = workspace.path("library");
        // A library that cannot be read is skipped: there are other sources.
        let Ok(mut source) = open::open(&path, open::SymlinkPolicy::Follow) else { continue };
        write_file(&made, &mut source)?;
        let found = sha256(&made)?;
        if let Some(library) = registry::libraries().find(|library| library.sha256 == found) {
            let destination = cached_library(&locations.cache_dir, &library);
            workspace.publish(&made, &destination)?;
            return Ok(Some(destination));
        }
        on_event(ModelEvent::NotAdopted { what: WHAT.to_owned(), path, sha256: found });
    }
    Ok(None)
}

/// Returns the path of a library in the cache.
pub(crate) fn cached_library(cache_dir: &Path, library: &LibrarySpec) -> PathBuf {
    cache_dir.join("onnxruntime").join(library.version).join(library.file_name())
}

/// Finds the library in a folder of a Python package.
fn library_in(dir: &Path) -> Option<PathBuf> {
    folder::entries(dir).into_iter().find(|path| is_library(path))
}

/// Finds the system's libraries; skips those without a version in their file name.
fn system(dirs: &[PathBuf]) -> Vec<PathBuf> {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    let name = format!("{DLL_PREFIX}onnxruntime{DLL_SUFFIX}");
    let names = [name.clone(), format!("{name}.1")];
    let paths = dirs.iter().flat_map(|dir| names.iter().map(|name| dir.join(name)));
    let mut found: Vec<PathBuf> = paths
        .filter_map(|path| canonical(&path).ok())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let version = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
            path.is_file() && is_new_enough(version)
        })
        .collect();
    found.dedup();
    found
}

/// Whether a file name is that of the library, not of its plug-ins or Python module.
fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let tail = name.strip_prefix("libonnxruntime").or_else(|| name.strip_prefix("onnxruntime"));
    tail.is_some_and(|tail| tail.starts_with('.') && !tail.ends_with(".lib"))
}

/// Whether a version (`1.31.1`) has everything that kb needs.
fn is_new_enough(version: &str) -> bool {
    version.starts_with("1.") && minor_version(version) >= OLDEST_MINOR
}

fn minor_version(version: &str) -> u32 {
    version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use std::fs;

    use super::*;

    #[test]
    fn old_versions_are_skipped() {
        for (version, is_usable) in
            [("1.31.1", true), ("1.22.0", true), ("1.21.0", false), ("1.9.0", false), ("", false)]
        {
            assert_eq!(is_new_enough(version), is_usable, "{version}");
        }
    }

    #[test]
    fn plug_ins_are_not_libraries() {
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
    fn a_system_library_is_a_candidate_if_its_name_has_a_new_enough_version() {
        let dir = tempfile::tempdir().unwrap();
        for (version, expected) in [("1.21.0", false), ("1.31.1", true)] {
            let file = dir.path().join(format!("libonnxruntime.so.{version}"));
            fs::write(&file, "").unwrap();
            let link = dir.path().join("libonnxruntime.so");
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(&file, &link).unwrap();
            let found = system(&[dir.path().to_owned()]);
            let file = canonical(&file).unwrap();
            assert_eq!(found, expected.then_some(file).into_iter().collect::<Vec<_>>());
        }
    }
}
