//! Determines the expected content of a file before it is loaded, by its location.

use std::path::{Path, PathBuf};

use crate::InstalledModel;
use crate::cache::{ExpectedContent, hub_sha256};
use crate::fetch::cached_library;
use crate::model_files::{data_of, is_pinned, weights};
use crate::modules::Module;
use crate::registry::{self, ModelSpec, default_files};

/// Returns the files of a model that determine its vectors, if something is known about their
/// content.
///
/// kb's own copies are compared completely with `models.toml`. In the hub's cache only weights and
/// vocabulary are compared: with `models.toml`, or with the name that the hub gave them. A
/// directory given by the user is used unchecked.
pub(crate) fn model(installed: &InstalledModel) -> Vec<(PathBuf, ExpectedContent)> {
    if installed.is_model_given {
        return Vec::new();
    }
    let dir = &installed.model_dir;
    let is_ours = dir.starts_with(&installed.cache_dir);
    let files = installed.spec.map_or_else(default_files, ModelSpec::files);
    let mut found: Vec<(PathBuf, ExpectedContent)> = Vec::new();
    for file in files {
        let path = dir.join(&file.name);
        let expected = match &file.sha256 {
            _ if is_ours => in_cache(&installed.cache_dir, &path),
            _ if !is_pinned(file) => continue,
            Some(sha256) => ExpectedContent::Listed(vec![sha256.clone()]),
            None => ExpectedContent::HubName,
        };
        found.push((path, expected));
    }
    if let Some(weights) =
        weights(dir).filter(|weights| found.iter().all(|(path, _)| path != weights))
    {
        found.extend(data_of(&weights).into_iter().map(|data| (data, ExpectedContent::HubName)));
        found.push((weights, ExpectedContent::HubName));
    }
    found.extend(installed.facts.modules.iter().filter_map(|module| match module {
        Module::Dense(dense) => Some((dense.weights.clone(), ExpectedContent::HubName)),
        Module::Normalize => None,
    }));
    found
}

impl InstalledModel {
    /// Whether the SHA-256 of at least one file of the model is known.
    pub fn has_checksums(&self) -> bool {
        model(self).iter().any(|(path, expected)| match expected {
            ExpectedContent::Listed(listed) => !listed.is_empty(),
            ExpectedContent::HubName => hub_sha256(path).is_some(),
            ExpectedContent::Recorded => true,
        })
    }
}

/// Returns the runtime library, unless it is the user's own or linked in, which are not checked.
pub(crate) fn runtime(installed: &InstalledModel) -> Option<(PathBuf, ExpectedContent)> {
    let path = &installed.runtime;
    let is_ours = !installed.is_runtime_given && path.starts_with(&installed.cache_dir);
    is_ours.then(|| (path.clone(), in_cache(&installed.cache_dir, path)))
}

/// Returns the expected content of a file in kb's cache.
pub(crate) fn in_cache(cache_dir: &Path, path: &Path) -> ExpectedContent {
    if path.starts_with(cache_dir.join("graphs")) {
        return ExpectedContent::Recorded;
    }
    let listed = match path.strip_prefix(cache_dir.join("models")) {
        Ok(name) => {
            let found = registry::models()
                .find_map(|spec| Some((name.strip_prefix(&spec.name).ok()?, spec.files())));
            let (name, files) = found.unwrap_or((name, &[]));
            let files = files.iter().filter(|file| name == Path::new(&file.name));
            files.filter_map(|file| file.sha256.clone()).collect()
        }
        Err(_) => registry::libraries()
            .filter(|library| cached_library(cache_dir, library) == path)
            .map(|library| library.sha256.to_owned())
            .collect(),
    };
    ExpectedContent::Listed(listed)
}
