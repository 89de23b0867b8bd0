//! Tests a poisoned cache: changed files are detected before they are loaded, named, and replaced.
//! Finding F13 of the attacks from outside.
//!
//! Each test has a separate cache with links to the files of the real one; a file is copied before
//! it is changed.

use std::fs;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use kb_base::text::paths::path_text;
use kb_embed::DEFAULT_MODEL;
use serde_json::Value;

use crate::env::{Output, TestEnv, model_dir, runtime, runtime_in_cache};
#[cfg(unix)]
use crate::hub::Hub;
use crate::permissions::check_mode;
use crate::printed_paths::written;

/// The number of bytes that are changed.
const NUM_CHANGED: usize = 400_000;

/// A machine with a separate cache, a database, and no network.
fn env() -> TestEnv {
    let mut env = TestEnv::without_model();
    env.set("KB_CACHE_DIR", env.path("cache").to_str().unwrap());
    fill(&env);
    env.write("docs/gauge.md", "# Gauge\n\nThe tide gauge in the harbour is frozen.\n");
    env.write("docs/cider.md", "# Cider\n\nPress the apple; oak barrel.\n");
    env.ok(&["add", "docs"]);
    env
}

/// Puts the library and the default model into the cache if they are missing.
fn fill(env: &TestEnv) {
    let cache = env.path("cache");
    link(&runtime(), &cache.join(runtime_in_cache()));
    let model = model_dir();
    for name in files_below(&model) {
        let place = cache.join("models").join(DEFAULT_MODEL).join(&name);
        link(&model.join(&name).canonicalize().unwrap(), &place);
    }
}

fn link(source: &Path, destination: &Path) {
    fs::create_dir_all(destination.parent().unwrap()).unwrap();
    // Windows removes no name of a library that a process has loaded.
    if !destination.exists() && (cfg!(windows) || fs::hard_link(source, destination).is_err()) {
        fs::copy(source, destination).unwrap();
    }
}

/// Returns the paths of the files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(open) = rest.pop() {
        for entry in fs::read_dir(open).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                rest.push(path);
            } else if path.file_name().unwrap() != "lock" {
                found.push(path.strip_prefix(folder).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Returns the file of the cache whose path has this end.
fn file(env: &TestEnv, end: &str) -> PathBuf {
    let cache = env.path("cache");
    let names = files_below(&cache);
    let name = names.iter().find(|name| path_text(name).ends_with(&path_text(Path::new(end))));
    written(&cache.join(name.unwrap_or_else(|| panic!("no {end} in {names:?}"))))
}

/// Flips bits in the middle of a file, after it is copied. Its length does not change.
fn poison(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    let num_changed = NUM_CHANGED.min(middle);
    bytes[middle..middle + num_changed].iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Replaces the bytes of a file, but not its length, time and inode.
fn poison_unseen(env: &TestEnv, path: &Path, bytes: &[u8]) {
    // One more search adds the copy to the manifest.
    let copy = fs::read(path).unwrap();
    fs::remove_file(path).unwrap();
    fs::write(path, &copy).unwrap();
    env.ok(&["search", "frozen tide"]);
    env.ok(&["add", "--note", "The first."]);
    let time = fs::metadata(path).unwrap().modified().unwrap();
    let mut file = fs::File::options().write(true).open(path).unwrap();
    file.rewind().unwrap();
    assert_eq!(bytes.len(), copy.len());
    file.write_all(bytes).unwrap();
    file.set_modified(time).unwrap();
}

/// Returns what `kb doctor` reports about the cache: verdict and message.
fn doctor(env: &TestEnv, args: &[&str], status: i32) -> Vec<(String, String)> {
    let output = env.kb(&[&["doctor", "--format=json"], args].concat()).expect(status);
    let report = output.json();
    let checks = report["checks"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    checks
        .filter(|check| check["name"] == "cache")
        .map(|check| (text(&check["verdict"]), text(&check["message"])))
        .collect()
}

/// Returns the cosine of the first hit of a search by meaning.
fn answer(env: &TestEnv) -> f64 {
    let answer = env.json(&["search", "frozen tide", "--vec-only"]);
    answer["results"][0]["evidence"]["cosine"].as_f64().unwrap()
}

#[track_caller]
fn check_refused(output: &Output, path: &Path) {
    let error = output.clone().expect(2).json_error();
    assert_eq!(error["code"], "cache_changed");
    let message = error["error"].as_str().unwrap();
    let expected = format!("{} has changed since kb installed it: its SHA-256 is ", path.display());
    assert!(message.starts_with(&expected), "{message}");
    assert_eq!(error["fix"], "`kb doctor --fix` fetches or rebuilds it");
}

#[test]
fn a_sound_cache_is_reported_as_sound_and_listed_by_kb_cache() {
    let env = env();
    let found = doctor(&env, &[], 0);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.ends_with(" files with correct checksums"), "{found:?}");
    let parts = env.json(&["cache", "--format=json"])["parts"].clone();
    for part in parts.as_array().unwrap() {
        assert_eq!(part["recorded"], "unchanged", "{part}");
    }
    poison(&file(&env, "rows.safetensors"));
    let parts = env.json(&["cache", "--format=json"])["parts"].clone();
    let graph = parts.as_array().unwrap().iter().find(|part| part["kind"] == "graph");
    assert_eq!(graph.unwrap()["recorded"], "touched");
}

/// Files that cannot be rebuilt without a network end the next command, and `kb doctor` before it
/// loads anything: a changed library would end it by a signal.
#[test]
fn a_changed_library_or_model_is_refused_and_named() {
    let env = env();
    let before = answer(&env);
    let library = runtime_in_cache();
    for (end, is_searched_with) in [
        (library.to_str().unwrap(), false),
        ("L6-v2/model.safetensors", true),
        ("tokenizer.json", true),
        ("1_Pooling/config.json", true),
    ] {
        fill(&env);
        let path = file(&env, end);
        poison(&path);
        let found = doctor(&env, &[], 1);
        let finding = format!("{} has changed: its SHA-256 is ", path.display());
        assert!(
            found.iter().any(|check| check.0 == "fault" && check.1.starts_with(&finding)),
            "{found:?}"
        );
        check_refused(&env.kb(&["add", "--note", "One more.", "--format=json"]), &path);
        let search = env.kb(&["search", "frozen tide", "--vec-only", "--format=json"]);
        if is_searched_with {
            check_refused(&search, &path);
        } else {
            // The library is not loaded for a single query.
            search.expect(0);
            assert_eq!(answer(&env), before);
        }
        // A file of another length is reported without computing its checksum.
        if !end.ends_with("config.json") {
            fs::File::options().write(true).open(&path).unwrap().set_len(1000).unwrap();
            let error = env.kb(&["add", "--note", "One more.", "--format=json"]).expect(2);
            let message = error.json_error()["error"].as_str().unwrap().to_owned();
            assert!(message.contains(": it has 1000 bytes, expected "), "{message}");
        }
        // Without a network it can only be removed: better none than a wrong one.
        let found = doctor(&env, &["--fix"], 1);
        assert!(found.iter().any(|check| check.1.starts_with("cannot fetch ")), "{found:?}");
        assert!(!path.exists());
    }
}

/// kb rebuilds the files that it made itself, and reports this.
#[test]
fn a_changed_graph_is_rebuilt() {
    let env = env();
    let before = answer(&env);
    for end in ["model.bin", "model.onnx", "rows.safetensors", "words.bin"] {
        let path = file(&env, end);
        poison(&path);
        let finding = format!("{} has changed: its SHA-256 is ", path.display());
        let found = doctor(&env, &[], 1);
        assert!(
            found.iter().any(|check| check.0 == "fault" && check.1.starts_with(&finding)),
            "{found:?}"
        );
        // Rows and words are for queries, the rest is for documents.
        let output = match end {
            "rows.safetensors" | "words.bin" => env.ok(&["search", "frozen tide"]),
            _ => env.ok(&["add", "--note", &format!("A note after {end}.")]),
        };
        let finding = format!("{} was changed by another program; kb rebuilds it", path.display());
        assert_eq!(output.stderr.matches(&finding).count(), 1, "{}", output.stderr);
        assert_eq!(answer(&env), before);
        doctor(&env, &[], 0);
    }
}

#[test]
fn doctor_rebuilds_a_changed_graph() {
    let env = env();
    let before = answer(&env);
    for end in ["model.bin", "model.onnx", "rows.safetensors", "words.bin", "about.txt"] {
        let path = file(&env, end);
        poison(&path);
        let found = doctor(&env, &["--fix"], 0);
        let finding = format!("{} has changed: ", path.display());
        assert!(
            found.iter().any(|check| check.0 == "repaired" && check.1.starts_with(&finding)),
            "{found:?}"
        );
        assert_eq!(answer(&env), before);
    }
    fs::remove_file(file(&env, "model.bin")).unwrap();
    let found = doctor(&env, &[], 1);
    assert!(
        found.iter().any(|check| check.0 == "fault" && check.1.ends_with("model.bin is missing"))
    );
    doctor(&env, &["--fix"], 0);
    doctor(&env, &[], 0);
}

/// A change that leaves length, time and inode as they were is found only by `kb doctor`, which
/// reads all bytes: before it loads a library that would take over its process.
#[cfg(unix)]
#[test]
fn doctor_finds_a_change_without_traces_before_it_loads_anything() {
    let env = env();
    let path = file(&env, "rows.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + NUM_CHANGED].fill(0x11);
    poison_unseen(&env, &path, &bytes);
    env.ok(&["search", "frozen tide"]);
    doctor(&env, &[], 1);
    let found = doctor(&env, &["--fix"], 0);
    assert!(found.iter().any(|check| check.0 == "repaired"), "{found:?}");

    let path = env.path("cache").join(runtime_in_cache());
    let mark = env.path("mark");
    let source = env.write(
        "planted.c",
        format!(
            "#include <stdio.h>\n__attribute__((constructor)) static void run(void) {{ \
             fopen(\"{}\", \"w\"); *(volatile int *)0 = 0; }}\n",
            mark.display()
        ),
    );
    let library = env.path("planted.so");
    let built =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
    assert!(built.unwrap().success());
    let mut bytes = fs::read(library).unwrap();
    bytes.resize(usize::try_from(path.metadata().unwrap().len()).unwrap(), 0);
    poison_unseen(&env, &path, &bytes);
    for args in [&[][..], &["--fix"]] {
        let found = doctor(&env, args, 1);
        let finding = if args.is_empty() { "has changed: its SHA-256 is" } else { "cannot fetch" };
        assert!(found.iter().any(|check| check.1.contains(finding)), "{found:?}");
        assert!(!mark.exists(), "a planted library was loaded");
    }
}

#[cfg(unix)]
#[test]
fn doctor_restores_the_library_and_the_model_if_it_can() {
    // The library comes from a Python environment, as with `kb init`.
    let mut env = env();
    let before = answer(&env);
    let venv = crate::trust::venv_with_library(&env, &fs::read(runtime()).unwrap());
    let path = env.path("cache").join(runtime_in_cache());
    poison(&path);
    env.set("PATH", venv.to_str().unwrap());
    let found = doctor(&env, &["--fix"], 0);
    assert_eq!(found[0].0, "repaired", "{found:?}");
    env.ok(&["add", "--note", "One more."]);

    // The model comes from the hub.
    let model = file(&env, "L6-v2/model.safetensors");
    let hub = Hub::serve(
        &format!("sentence-transformers/{DEFAULT_MODEL}"),
        files_below(model.parent().unwrap())
            .into_iter()
            .map(|name| {
                let bytes = fs::read(model.with_file_name(&name)).unwrap();
                (name.to_str().unwrap().to_owned(), bytes)
            })
            .collect(),
    );
    poison(&model);
    env.set("HF_ENDPOINT", &hub.endpoint);
    let found = doctor(&env, &["--fix"], 0);
    assert_eq!(found[0].0, "repaired", "{found:?}");
    assert_eq!(answer(&env), before);

    // In the cache that other programs share it is also checked.
    let blobs = env.path(".cache/huggingface/hub");
    let name =
        files_below(&blobs).into_iter().find(|path| path.ends_with("tokenizer.json")).unwrap();
    let blob = blobs.join(name).canonicalize().unwrap();
    poison(&blob);
    let output = env.kb(&["search", "frozen tide", "--format=json"]).expect(2);
    assert_eq!(output.json_error()["code"], "cache_changed");
    let found = doctor(&env, &["--fix"], 0);
    assert_eq!(found[0].0, "repaired", "{found:?}");
    assert_eq!(answer(&env), before);
}

/// A cache of an earlier version has no manifest: files that `models.toml` lists are hashed once,
/// and the graph is rebuilt.
#[test]
fn a_cache_without_a_manifest_is_adopted() {
    for damaged in [None, Some("")] {
        let env = env();
        let before = answer(&env);
        let manifest = env.path("cache/manifest.txt");
        let graph = file(&env, "model.onnx");
        let time = graph.metadata().unwrap().modified().unwrap();
        match damaged {
            None => fs::remove_file(&manifest).unwrap(),
            Some(text) => {
                fs::write(&manifest, text).unwrap();
                let found = doctor(&env, &[], 1);
                let finding = format!("{} is damaged", manifest.display());
                assert!(found.contains(&("fault".into(), finding)), "{found:?}");
            }
        }
        let output = env.ok(&["add", "--note", "One more."]);
        assert!(output.stderr.contains("Optimising model"), "{}", output.stderr);
        assert_ne!(graph.metadata().unwrap().modified().unwrap(), time);
        assert_eq!(answer(&env), before);
        doctor(&env, &[], 0);
        let output = env.ok(&["add", "--note", "The last."]);
        assert!(!output.stderr.contains("Optimising model"), "{}", output.stderr);
    }
    // An unlisted library is never loaded.
    let env = env();
    let known = env.path("cache").join(runtime_in_cache());
    let planted = env.path("cache/onnxruntime/1.99.0/libonnxruntime.so.1.99.0");
    fs::create_dir_all(planted.parent().unwrap()).unwrap();
    fs::rename(known, planted).unwrap();
    fs::remove_file(env.path("cache/manifest.txt")).unwrap();
    let output = env.kb(&["add", "--note", "One more."]).expect(2);
    assert!(output.stderr.contains("cannot fetch ONNX Runtime"), "{}", output.stderr);
}

/// Forging the manifest also gains no library and no model: their checksums are in the program.
#[test]
fn doctor_repairs_a_damaged_manifest() {
    let env = env();
    let before = answer(&env);
    let manifest = env.path("cache/manifest.txt");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replacen(' ', " 1", 1)).unwrap();
    let found = doctor(&env, &["--fix"], 0);
    assert_eq!(found[0].0, "repaired", "{found:?}");
    assert_eq!(answer(&env), before);
    doctor(&env, &[], 0);
}

#[test]
fn only_the_owner_can_read_the_files_of_the_cache() {
    let env = env();
    fs::remove_dir_all(env.path("cache/graphs")).unwrap();
    env.ok(&["add", "--note", "One more."]);
    check_mode(&env.path("cache/manifest.txt"), 0o600);
    check_mode(&env.path("cache/graphs"), 0o700);
    check_mode(file(&env, "model.onnx").parent().unwrap(), 0o700);
    for name in ["model.onnx", "model.bin", "rows.safetensors", "words.bin", "about.txt"] {
        check_mode(&file(&env, name), 0o600);
    }
}
