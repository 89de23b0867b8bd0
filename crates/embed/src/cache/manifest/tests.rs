//! Tests what the manifest of the cache recognises, and what it forgives.

use std::fs;

use super::*;

/// Creates a cache with one recorded file, `graphs/g/model.bin`.
fn cache() -> (tempfile::TempDir, PathBuf) {
    let cache = tempfile::tempdir().unwrap();
    let path = cache.path().join("graphs/g/model.bin");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "weights").unwrap();
    let lock = try_lock(cache.path()).unwrap();
    record(cache.path(), &lock, path.parent().unwrap()).unwrap();
    (cache, path)
}

fn confirm(cache: &Path, path: &Path, expected: &ExpectedContent) -> CachedFileState {
    let mut manifest = CacheManifest::read(cache);
    let state = manifest.confirm(path, expected).unwrap();
    manifest.keep();
    state
}

/// Writes bytes and restores the time of the file.
fn write_keeping_time(path: &Path, bytes: &str) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, bytes).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn a_changed_file_is_found_by_its_stamp_or_by_reading_it() {
    let (cache, path) = cache();
    let state = || confirm(cache.path(), &path, &ExpectedContent::Recorded);
    assert_eq!(state(), CachedFileState::Intact);
    // Only the bytes differ, which the metadata does not show.
    write_keeping_time(&path, "Weights");
    assert_eq!(state(), CachedFileState::Intact);
    let mut manifest = CacheManifest::read(cache.path());
    let examined = manifest.examine(&path, &ExpectedContent::Recorded).unwrap();
    assert!(matches!(examined, CachedFileState::Changed { .. }));
    fs::write(&path, "Weights").unwrap();
    assert!(matches!(state(), CachedFileState::Changed { .. }));
    fs::remove_file(&path).unwrap();
    assert_eq!(state(), CachedFileState::Missing);
}

#[test]
fn a_copied_file_is_hashed_once() {
    let (cache, path) = cache();
    let copy = path.with_file_name("copy");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    assert_eq!(CacheManifest::read(cache.path()).has_stamp(&path), Some(false));
    assert_eq!(confirm(cache.path(), &path, &ExpectedContent::Recorded), CachedFileState::Intact);
    assert_eq!(CacheManifest::read(cache.path()).has_stamp(&path), Some(true));
}

#[test]
fn a_listed_file_needs_no_record_and_overrides_one() {
    let (cache, path) = cache();
    let listed = |text: &str| ExpectedContent::Listed(vec![hash::sha256("x"), hash::sha256(text)]);
    fs::remove_file(CacheManifest::path(cache.path())).unwrap();
    assert_eq!(confirm(cache.path(), &path, &ExpectedContent::Recorded), CachedFileState::Unknown);
    assert_eq!(
        confirm(cache.path(), &path, &ExpectedContent::Listed(vec![])),
        CachedFileState::Unknown
    );
    assert_eq!(confirm(cache.path(), &path, &listed("weights")), CachedFileState::Intact);
    // A forged manifest does not make another library acceptable.
    let state = confirm(cache.path(), &path, &listed("other"));
    assert!(matches!(state, CachedFileState::Changed { .. }), "{state:?}");
    let files = [(path.clone(), listed("other"))];
    let error = CacheManifest::read(cache.path()).require(&files).unwrap_err();
    assert!(matches!(&error, Error::CacheChanged { path: found, .. } if *found == path));
}

#[test]
fn a_changed_manifest_is_not_trusted() {
    let (cache, path) = cache();
    let place = CacheManifest::path(cache.path());
    let text = fs::read_to_string(&place).unwrap();
    assert_eq!(parse(&text).unwrap().len(), 1);
    assert_eq!(lines(&parse(&text).unwrap()), text);
    for damaged in [
        text.replace(&hash::sha256("weights"), &hash::sha256("Weights")),
        text.replace("manifest 1", "manifest 2"),
        text[..text.len() - 1].to_owned(),
        text[1..].to_owned(),
        format!("{text}\n"),
        "é".repeat(36),
        String::new(),
    ] {
        fs::write(&place, &damaged).unwrap();
        let manifest = CacheManifest::read(cache.path());
        assert!(manifest.is_damaged(), "{damaged}");
        assert_eq!(
            confirm(cache.path(), &path, &ExpectedContent::Recorded),
            CachedFileState::Unknown
        );
    }
}

#[test]
fn records_of_missing_files_are_removed_and_others_stay() {
    let (cache, path) = cache();
    let other = cache.path().join("onnxruntime/1.0.0/library");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::write(&other, "library").unwrap();
    let lock = try_lock(cache.path()).unwrap();
    record(cache.path(), &lock, &other).unwrap();
    assert_eq!(CacheManifest::read(cache.path()).paths().count(), 2);
    fs::remove_file(&path).unwrap();
    forget_missing(cache.path(), &lock).unwrap();
    assert_eq!(CacheManifest::read(cache.path()).paths().collect::<Vec<_>>(), [other]);
}

#[cfg(unix)]
#[test]
fn a_file_of_the_hub_is_identified_by_the_name_of_its_blob() {
    let cache = tempfile::tempdir().unwrap();
    let at = |name: &str| cache.path().join(name);
    fs::create_dir_all(at("hub/blobs")).unwrap();
    for (name, is_known) in [(hash::sha256("weights"), true), ("0123abc".to_owned(), false)] {
        let blob = at("hub/blobs").join(&name);
        fs::write(&blob, "weights").unwrap();
        let link = at("hub").join(format!("file-{is_known}"));
        std::os::unix::fs::symlink(&blob, &link).unwrap();
        assert_eq!(confirm(&at("kb"), &link, &ExpectedContent::HubName), CachedFileState::Intact);
        assert_eq!(CacheManifest::read(&at("kb")).knows(&link), is_known);
        fs::write(&blob, "other").unwrap();
        let state = confirm(&at("kb"), &link, &ExpectedContent::HubName);
        assert_eq!(matches!(state, CachedFileState::Changed { .. }), is_known, "{state:?}");
    }
}
