//! Fetches a model's files from the hub into Hugging Face's cache.
//!
//! All of Hugging Face's tools share this cache and its layout:
//! `models--organisation--name/{refs/main, blobs/<etag>, snapshots/<revision>/<file>}`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hf_hub::api::Progress;
use hf_hub::api::sync::{Api, ApiBuilder, ApiError, ApiRepo};
use hf_hub::{Cache, Repo, RepoType};

use super::failures::reason_in;
use crate::cache::{check_sha256, hub_sha256};
use crate::facts::{Family, ModelProperties};
use crate::files::{open, write};
use crate::model_files::{INDEX, ONNX, PLAIN, data_names, is_pinned, parts};
use crate::modules;
use crate::registry::FileSpec;
use crate::text::paths::canonical;
use crate::{Locations, ModelEvent};

/// The default address of the hub.
const ENDPOINT: &str = "https://huggingface.co";

/// Maximum wait for a first answer; a firewall that drops packets never gives one.
const FIRST_ANSWER: Duration = Duration::from_secs(20);

/// Number of times a broken download is resumed.
const NUM_RETRIES: usize = 3;

/// Far more than the name of a revision needs.
const MAX_REVISION_BYTES: u64 = 4096;

/// Returns the name of the hub in messages.
pub(super) fn source(locations: &Locations) -> String {
    endpoint(locations).to_owned()
}

/// Returns the folder with a model's files from the hub.
pub(super) fn repository_dir(locations: &Locations, hub_id: &str) -> PathBuf {
    locations.hf_cache_dir.join(Repo::model(hub_id.to_owned()).folder_name())
}

/// Returns the directories that may have a model's files, best first: of the revision that a database recorded, and of
/// the last fetched one.
pub(super) fn snapshot_dirs(locations: &Locations, hub_id: &str) -> Vec<PathBuf> {
    let recorded = snapshot_dir(locations, hub_id);
    recorded.into_iter().chain(snapshot_of(locations, hub_id, None)).collect()
}

/// Returns the directory that files are fetched into: of the recorded revision if there is one, else of the last
/// fetched one.
fn snapshot_dir(locations: &Locations, hub_id: &str) -> Option<PathBuf> {
    snapshot_of(locations, hub_id, recorded(locations))
}

/// Returns the revision that a database recorded. It is a commit; anything else could be a path out of the cache.
fn recorded(locations: &Locations) -> Option<&str> {
    locations.files.revision.as_deref().filter(|revision| is_commit(revision))
}

fn is_commit(revision: &str) -> bool {
    !revision.is_empty() && revision.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Returns the directory of a revision, or of the last fetched one.
fn snapshot_of(locations: &Locations, hub_id: &str, revision: Option<&str>) -> Option<PathBuf> {
    let repository = repository_dir(locations, hub_id);
    let revision = match revision {
        Some(revision) => revision.to_owned(),
        None => {
            let path = repository.join("refs/main");
            let bytes = open::read(&path, open::SymlinkPolicy::Follow, MAX_REVISION_BYTES).ok()?;
            String::from_utf8(bytes).ok()?.trim().to_owned()
        }
    };
    is_commit(&revision).then(|| repository.join("snapshots").join(revision))
}

/// Fetches and verifies the files that are not in the cache: of the revision that a database recorded, else of the hub's
/// current one.
///
/// Uses an ONNX file as the weights if there are no others.
pub(super) fn fetch(
    hub_id: &str,
    files: &[FileSpec],
    locations: &Locations,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<(), String> {
    let cache = Cache::new(locations.hf_cache_dir.clone());
    let token = locations.hf_token.clone().or_else(|| cache.token());
    let api = ApiBuilder::from_cache(cache)
        .with_progress(false)
        .with_endpoint(endpoint(locations).to_owned())
        .with_token(token)
        .with_retries(NUM_RETRIES)
        .build()
        .map_err(|error| error.to_string())?;
    probe(&api, hub_id)?;
    // Returns whether the hub has the file.
    let mut fetch = |file: &FileSpec| match fetch_file(&api, hub_id, file, locations, on_event) {
        Err(failure) if failure.is_absent && file.optional => Ok(false),
        result => result.map(|()| true).map_err(|failure| failure.reason),
    };
    // This file comes first: it names the others that the model has.
    fetch(&optional(modules::FILE))?;
    let dir = || snapshot_dir(locations, hub_id).unwrap_or_default();
    let folder = modules::static_folder(&dir()).map_err(|error| error.to_string())?;
    if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_empty()) {
        fetch(&required(&format!("{folder}/tokenizer.json")))?;
        fetch(&required(&format!("{folder}/{PLAIN}")))?;
        return Ok(());
    }
    // The weights come last, because a directory with weights counts as complete.
    for file in files.iter().filter(|file| file.name != PLAIN) {
        let optional = file.optional || file.name == "config.json" && folder.is_some();
        fetch(&FileSpec { optional, ..file.clone() })?;
    }
    for (name, is_needed) in modules::files(&dir()).map_err(|error| error.to_string())? {
        if !fetch(&optional(&name))? && is_needed {
            return Err(format!("there is no {name}, and kb supports no other form"));
        }
    }
    let properties = ModelProperties::read(&dir(), None).map_err(|error| error.to_string())?;
    let family = properties.family;
    if family.is_supported() {
        let plain = files.iter().find(|file| file.name == PLAIN).cloned();
        let plain = plain.unwrap_or_else(|| optional(PLAIN));
        if fetch(&FileSpec { optional: true, ..plain })? {
            return Ok(());
        }
        if fetch(&optional(INDEX))? {
            for part in parts(&dir().join(INDEX)).map_err(|error| error.to_string())? {
                let name = part.file_name().unwrap_or_default().to_string_lossy();
                fetch(&required(&name))?;
            }
            return Ok(());
        }
    }
    // A large ONNX file has its numbers in separate files. They come before it, for the same reason.
    for name in data_names(ONNX) {
        fetch(&optional(&name))?;
    }
    match (fetch(&optional(ONNX))?, family) {
        (true, _) => Ok(()),
        (false, Family::Unsupported(reason)) => {
            Err(format!("{reason} is not supported, and there is no {ONNX}"))
        }
        (false, _) => Err(format!("there is none of {PLAIN}, {INDEX} and {ONNX}")),
    }
}

/// Returns a file that a model must have.
fn required(name: &str) -> FileSpec {
    FileSpec { optional: false, ..FileSpec::named(name) }
}

/// Returns a file that a model may lack.
fn optional(name: &str) -> FileSpec {
    FileSpec { optional: true, ..FileSpec::named(name) }
}

/// A file that could not be fetched.
struct FetchFailure {
    /// The hub answered that the file does not exist.
    is_absent: bool,
    /// The hub sent more bytes than announced.
    is_overlong: bool,
    reason: String,
}

impl FetchFailure {
    fn new(file: &FileSpec, error: &ApiError) -> Self {
        let (name, said) = (&file.name, error.to_string());
        let is_absent = is_not_found(error);
        let reason = if is_absent {
            format!("there is no {name}")
        } else {
            reason_in(&said).unwrap_or_else(|| format!("{name}: {said}"))
        };
        Self { is_absent, is_overlong: false, reason }
    }
}

/// Whether the hub answered that a file does not exist.
fn is_not_found(error: &ApiError) -> bool {
    match error {
        ApiError::RequestError(error) => matches!(**error, ureq::Error::StatusCode(404)),
        ApiError::TooManyRetries(last) => is_not_found(last),
        _ => false,
    }
}

/// Sends any request to the hub, to distinguish no answer from a slow one.
fn probe(api: &Api, hub_id: &str) -> Result<(), String> {
    let answer = api
        .model(hub_id.to_owned())
        .info_request()
        .config()
        .timeout_global(Some(FIRST_ANSWER))
        .http_status_as_error(false)
        .build()
        .call();
    match answer {
        // The hub gives the same answer for private and for missing models.
        Ok(answer) if answer.status().as_u16() == 401 => {
            Err(format!("there is no model {hub_id}, or it is not public"))
        }
        Ok(_) => Ok(()),
        Err(error) => {
            let said = error.to_string();
            Err(reason_in(&said).unwrap_or(said))
        }
    }
}

fn fetch_file(
    api: &Api,
    hub_id: &str,
    file: &FileSpec,
    locations: &Locations,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<(), FetchFailure> {
    if snapshot_dir(locations, hub_id).is_some_and(|snapshot| {
        let path = snapshot.join(&file.name);
        path.is_file() && check(&path, file).is_ok()
    }) {
        return Ok(());
    }
    let model = match recorded(locations) {
        Some(revision) => {
            let revision = revision.to_owned();
            api.repo(Repo::with_revision(hub_id.to_owned(), RepoType::Model, revision))
        }
        None => api.model(hub_id.to_owned()),
    };
    match fetch_once(&model, file, on_event) {
        // The hub's client resumes what an earlier run left. If its first request then fails, it
        // requests the whole file and appends that. The same happens after a kill between the last
        // byte and the renaming, when there is nothing left to request.
        Err(failure) if failure.is_overlong => fetch_once(&model, file, on_event),
        result => result,
    }
}

/// Fetches a file and checks it; removes it if it is damaged.
fn fetch_once(
    model: &ApiRepo,
    file: &FileSpec,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<(), FetchFailure> {
    let mut total_bytes = 0;
    let name = file.name.clone();
    let stated = &mut total_bytes;
    let reporter = FetchReporter { stated, on_event, file: name, done_bytes: 0, total_bytes: 0 };
    let path = model
        .download_with_progress(&file.name, reporter)
        .map_err(|error| FetchFailure::new(file, &error))?;
    let found_bytes = path.metadata().map_or(0, |metadata| metadata.len());
    let verdict = if found_bytes == total_bytes {
        check(&path, file)
    } else {
        Err(format!("it has {found_bytes} bytes, expected {total_bytes}"))
    };
    verdict.map_err(|reason| {
        // Every tool that shares the cache would use a damaged blob.
        let _ = canonical(&path).map(|blob| write::remove(&blob));
        let _ = write::remove(&path);
        let is_overlong = found_bytes > total_bytes;
        let reason = format!("{}: {reason}", file.name);
        FetchFailure { is_absent: false, is_overlong, reason }
    })
}

/// Compares a fetched file with the hub's etag and, for weights and vocabulary, with `models.toml`.
///
/// The etag of a large file is its SHA-256, and the blob's name. That of a small one is its git
/// hash: such files are only protected by TLS, their length, and by being JSON.
fn check(path: &Path, file: &FileSpec) -> Result<(), String> {
    let blob = canonical(path).map_err(|error| error.to_string())?;
    if let Some(etag) = hub_sha256(&blob) {
        check_sha256(&blob, &etag).map_err(|error| error.to_string())?;
    }
    match &file.sha256 {
        Some(sha256) if is_pinned(file) => {
            check_sha256(&blob, sha256).map_err(|error| error.to_string())
        }
        _ => Ok(()),
    }
}

fn endpoint(locations: &Locations) -> &str {
    let endpoint = locations.hf_endpoint.as_deref().filter(|endpoint| !endpoint.is_empty());
    endpoint.unwrap_or(ENDPOINT).trim_end_matches('/')
}

/// Converts the hub client's progress to events.
struct FetchReporter<'a> {
    /// Receives the length stated by the hub.
    stated: &'a mut u64,
    on_event: &'a mut dyn FnMut(ModelEvent),
    file: String,
    done_bytes: u64,
    total_bytes: u64,
}

impl FetchReporter<'_> {
    fn report(&mut self) {
        (self.on_event)(ModelEvent::Progress {
            file: self.file.clone(),
            done_bytes: self.done_bytes,
            total_bytes: self.total_bytes,
        });
    }
}

impl Progress for FetchReporter<'_> {
    fn init(&mut self, size: usize, _: &str) {
        self.total_bytes = u64::try_from(size).unwrap_or(u64::MAX);
        *self.stated = self.total_bytes;
        self.done_bytes = 0;
        self.report();
    }

    fn update(&mut self, size: usize) {
        self.done_bytes += u64::try_from(size).unwrap_or(0);
        self.report();
    }

    fn finish(&mut self) {}
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::document::ModelFiles;

    #[test]
    fn a_recorded_revision_leads_nowhere_but_to_a_folder_of_its_model() {
        let dir = |revision: &str| {
            let mut locations = Locations::below(Path::new("/home/someone"));
            locations.files = ModelFiles { revision: Some(revision.into()), sha256: None };
            snapshot_dir(&locations, "organisation/name")
        };
        let found = dir("0123456789abcdef").unwrap();
        assert!(found.ends_with("models--organisation--name/snapshots/0123456789abcdef"));
        for hostile in ["", "..", "../../other", "a/b", "refs/pr/1", "a?b", "C:x"] {
            assert_eq!(dir(hostile), None, "{hostile}");
        }
    }
}
