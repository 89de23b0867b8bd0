//! Tests the rows of `models.toml` and how they are found.

use super::*;

#[test]
fn the_default_model_is_known() {
    let spec = model(DEFAULT_MODEL).unwrap();
    assert_eq!((spec.dim, spec.max_tokens, spec.pooling), (384, 256, Some(Pooling::Mean)));
    assert!(spec.files().iter().all(|file| file.sha256.is_some()));
}

#[test]
fn rows_say_what_the_whole_file_says() {
    let whole: RegistryContent = toml::from_str(include_str!(env!("KB_MODELS"))).unwrap();
    let rows: Vec<&ModelSpec> = models().collect();
    assert_eq!(format!("{:?}", whole.model.iter().collect::<Vec<_>>()), format!("{rows:?}"));
    assert_eq!(format!("{:?}", whole.runtime.unwrap()), format!("{:?}", runtime()));
}

#[test]
fn a_model_is_found_by_either_name() {
    for name in [
        "all-MiniLM-L6-v2",
        "all-minilm-l6-v2",
        "sentence-transformers/all-MiniLM-L6-v2",
        "BAAI/bge-small-en-v1.5",
        "bge-small-en-v1.5",
    ] {
        assert!(name.to_lowercase().contains(&model(name).unwrap().name.to_lowercase()));
    }
    let spec = model("sentence-transformers/bge-small-en-v1.5");
    assert!(spec.is_err(), "another organisation's model is not sentence-transformers'");
}

#[test]
fn an_unknown_model_error_lists_the_known_ones() {
    let Err(Error::UnknownModel { name, known }) = model("bge-smal") else { panic!() };
    assert_eq!(name, "bge-smal");
    assert!(known.contains(&"multilingual-e5-small".to_owned()));
}

#[test]
fn rows_are_consistent() {
    for spec in models() {
        assert!(spec.hub_id.split_once('/').is_some_and(|(_, name)| name == spec.name));
        assert_eq!(spec.files().last().unwrap().name, "model.safetensors");
        assert_eq!(spec.python_package.is_some(), spec.python_path.is_some());
        assert!(spec.query_prefix.is_empty() || spec.query_prefix.ends_with(' '));
        for file in spec.files() {
            assert!(file.sha256.as_ref().is_none_or(|sha256| sha256.len() == 64));
            assert!(!file.name.split('/').any(|part| part.is_empty() || part == ".."));
        }
    }
    assert!(runtime().platforms.iter().all(|platform| platform.sha256.len() == 64));
    assert!(runtime().python_package.ends_with(&runtime().version));
    for known in &runtime().known {
        assert!(known.sha256.len() == 64 && known.size_bytes > 10_000_000, "{known:?}");
        assert!(
            runtime()
                .platforms
                .iter()
                .any(|platform| platform.os == known.os && platform.arch == known.arch)
        );
    }
}

/// The Python package of kb installs the library as a dependency; kb would not use another version.
#[test]
fn the_python_package_depends_on_known_libraries() {
    let manifest = include_str!("../../../../packaging/python/pyproject.toml");
    let versions: Vec<&str> = manifest
        .split("\"onnxruntime==")
        .skip(1)
        .filter_map(|rest| rest.split_once(';').map(|(version, _)| version))
        .collect();
    assert_eq!(versions[0], runtime().version);
    for version in &versions {
        assert!(libraries().any(|library| library.version == *version), "{version}");
    }
    assert_eq!(versions.len(), manifest.matches("onnxruntime").count());
}

#[test]
fn the_fetched_library_is_first_and_no_checksum_is_listed_twice() {
    let libraries: Vec<LibrarySpec> = libraries().collect();
    let (first, platform) = (libraries[0], runtime_platform().unwrap());
    assert_eq!((first.version, first.sha256), (&*runtime().version, &*platform.sha256));
    assert!(platform.member.ends_with(&format!("/{}", first.file_name())));
    let mut checksums: Vec<&str> = libraries.iter().map(|library| library.sha256).collect();
    checksums.sort_unstable();
    checksums.dedup();
    assert_eq!(checksums.len(), libraries.len());
}
