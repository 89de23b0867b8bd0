//! Tests that a database remembers which files of a model made its vectors: the hub's revision and the checksum of
//! the weights. Other tests cover weights in several files, and files that kb cannot read.

use std::collections::BTreeMap;
use std::fs;

use safetensors::SafeTensors;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::env::TestEnv;
use crate::hub::{Fault, Hub, REVISION};
use crate::word_model::{WordModel, check_database, find};

const HUB_ID: &str = "someorg/tiny-bert";

/// A later revision on the test's hub.
const LATER: &str = "fedcba9876543210fedcba9876543210fedcba98";

const SNAPSHOTS: &str = ".cache/huggingface/hub/models--someorg--tiny-bert/snapshots";

const WEIGHTS: &str = "model.safetensors";

type Files = BTreeMap<String, Vec<u8>>;

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn other_weights() -> Files {
    WordModel { seed: 2, ..WordModel::default() }.files()
}

/// A machine that reaches only `hub`, and names its model.
fn machine(hub: &Hub) -> TestEnv {
    let mut env = TestEnv::with_runtime();
    env.set("HF_ENDPOINT", &hub.endpoint);
    env.set("KB_MODEL", HUB_ID);
    env
}

/// A machine with a database of two notes.
fn first(hub: &Hub) -> TestEnv {
    let env = machine(hub);
    env.ok(&["add", "--note", "storm anchor in the cellar"]);
    env.ok(&["add", "--note", "frozen valve, paint the pump"]);
    env
}

/// Another machine with a copy of the database.
fn second(hub: &Hub, first: &TestEnv) -> TestEnv {
    let env = machine(hub);
    fs::create_dir(env.path(".kb")).unwrap();
    first.ok(&["backup", "--force", "copy.db"]);
    fs::copy(first.path("copy.db"), env.database()).unwrap();
    env
}

/// Returns the files that `kb status` reports.
fn reported(env: &TestEnv) -> (Value, Value) {
    let status = env.json(&["status", "--format", "json"]);
    (status["model_revision"].clone(), status["weights_sha256"].clone())
}

/// Requires that the model in use is the one that made the vectors.
#[track_caller]
fn check(env: &TestEnv) {
    check_database(env);
    for note in ["storm anchor in the cellar", "frozen valve, paint the pump"] {
        let best = &env.json(&["search", note, "--vec-only"])["results"][0];
        assert_eq!(best["text"], note);
        assert!(best["evidence"]["cosine"].as_f64().unwrap() > 0.999, "{best}");
    }
}

#[test]
fn a_machine_without_the_model_fetches_the_recorded_revision() {
    let hub = Hub::serve(HUB_ID, WordModel::default().files());
    let one = first(&hub);
    let weights = sha256(&WordModel::default().files()[WEIGHTS]);
    let files = (json!(REVISION), json!(weights));
    assert_eq!(reported(&one), files);
    let shown = one.ok(&["status"]).stdout;
    let line = format!("Weights:   {}, revision {}\n", &weights[..12], &REVISION[..12]);
    assert!(shown.contains(&line), "{shown}");
    hub.commit(LATER, other_weights());
    let other = second(&hub, &one);
    other.ok(&["add", "--note", "salt and sail for the keeper"]);
    assert!(other.path(SNAPSHOTS).join(REVISION).is_dir());
    assert!(!other.path(SNAPSHOTS).join(LATER).exists());
    assert_eq!(reported(&other), files);
    check(&other);
    // A new database gets the current one.
    let new = first(&hub);
    assert_eq!(reported(&new).0, LATER);
    check(&new);
}

#[test]
fn another_revision_with_the_same_weights_is_the_same_model() {
    let hub = Hub::serve(HUB_ID, WordModel::default().files());
    let one = first(&hub);
    hub.commit(LATER, WordModel::default().files());
    let other = second(&hub, &one);
    other.ok(&["init", "--data-dir", "new"]);
    assert!(other.path(SNAPSHOTS).join(LATER).is_dir());
    hub.take_requests();
    check(&other);
    other.ok(&["init"]);
    other.ok(&["add", "--note", "salt and sail for the keeper"]);
    assert_eq!(hub.take_requests(), [""; 0]);
    assert_eq!(reported(&other).0, REVISION, "what made the vectors is not rewritten");
}

#[test]
fn other_weights_are_a_mismatch_until_the_recorded_ones_are_there() {
    let hub = Hub::serve(HUB_ID, WordModel::default().files());
    let one = first(&hub);
    hub.commit(LATER, other_weights());
    let other = second(&hub, &one);
    other.ok(&["init", "--data-dir", "new"]);
    let [own, changed] =
        [&WordModel::default().files(), &other_weights()].map(|files| sha256(&files[WEIGHTS]));
    let expected = format!(
        "error: model mismatch: DB uses '{HUB_ID} (weights {}, revision {})' (32 dim) but config specifies '{HUB_ID} \
         (weights {}, revision {})'\n",
        &own[..12],
        &REVISION[..12],
        &changed[..12],
        &LATER[..12],
    );
    for args in [&["search", "storm", "--format=human"][..], &["add", "--note", "x"]] {
        let output = other.kb(args).expect(1);
        assert!(output.stderr.contains(&expected), "{}", output.stderr);
    }
    assert_eq!(other.sql::<u32>("SELECT count(*) FROM documents"), 2, "nothing is written");
    let third = second(&hub, &one);
    third.ok(&["init", "--data-dir", "new"]);
    // Either the recorded weights are fetched, or all vectors are computed again.
    other.ok(&["init"]);
    check(&other);
    assert_eq!(reported(&other), (json!(REVISION), json!(own)));
    third.ok(&["reindex"]);
    check(&third);
    assert_eq!(reported(&third), (json!(LATER), json!(changed)));
}

#[test]
fn a_database_of_before_takes_the_files_that_are_there() {
    let hub = Hub::serve(HUB_ID, WordModel::default().files());
    let env = first(&hub);
    env.change("DELETE FROM config WHERE key IN ('model_revision', 'weights_sha256')");
    assert_eq!(reported(&env), (Value::Null, Value::Null));
    check(&env);
    env.ok(&["add", "--note", "salt and sail for the keeper"]);
    assert_eq!(reported(&env).0, REVISION);
    // Files of a directory are not known.
    WordModel::default().write(&env.path("tiny"));
    env.ok(&["reindex", "--model-dir", "tiny"]);
    assert_eq!(reported(&env), (Value::Null, Value::Null));
}

/// Returns a model whose weights are in two files.
fn in_two_files() -> Files {
    let mut files = WordModel::default().files();
    let weights = files.remove(WEIGHTS).unwrap();
    let tensors = SafeTensors::deserialize(&weights).unwrap();
    let (mut parts, mut map) = ([Vec::new(), Vec::new()], serde_json::Map::new());
    for (idx, (name, view)) in tensors.iter().enumerate() {
        let part = format!("model-{:05}-of-00002.safetensors", idx % 2 + 1);
        map.insert(name.to_owned(), json!(part));
        parts[idx % 2].push((name.to_owned(), view));
    }
    for (number, part) in (1..).zip(parts) {
        let bytes = safetensors::serialize(part, None).unwrap();
        files.insert(format!("model-{number:05}-of-00002.safetensors"), bytes);
    }
    let index = json!({"metadata": {}, "weight_map": map}).to_string();
    files.insert("model.safetensors.index.json".into(), index.into_bytes());
    files
}

#[test]
fn weights_in_several_files_are_those_in_one() {
    let part = "model-00002-of-00002.safetensors";
    let files = in_two_files();
    let hub = Hub::serve(HUB_ID, files.clone());
    hub.set_fault(part, Some(Fault::Absent));
    let env = machine(&hub);
    let error = env.kb(&["init", "--format", "json"]).expect(2).json_error();
    assert!(error["error"].as_str().unwrap().ends_with(&format!("there is no {part}")), "{error}");
    let again = env.kb(&["init", "--status"]).expect(0).stdout;
    assert!(again.contains("not installed"), "a part is not a model: {again}");
    hub.set_fault(part, None);
    env.ok(&["add", "--note", "storm anchor in the cellar"]);
    env.ok(&["add", "--note", "frozen valve, paint the pump"]);
    check(&env);
    let parts = [1, 2].map(|number| format!("model-{number:05}-of-00002.safetensors"));
    let listed = parts.map(|name| sha256(&files[&name])).join("\n");
    assert_eq!(reported(&env).1, sha256(listed.as_bytes()));
    // The vectors are those of the same weights in one file.
    let of_two = env.ok(&["embed", "winter in the orchard"]).stdout;
    WordModel::default().write(&env.path("one"));
    let one = env.path("one");
    let variables = [("KB_EMBEDDING_MODEL_DIR", one.to_str().unwrap()), ("KB_DATA_DIR", "new")];
    let of_one = env.kb_with(&variables, &["embed", "winter in the orchard"]).expect(0);
    assert_eq!(of_one.stdout, of_two);
    // A directory of the user's, and a list that leads out of it.
    let dir = env.path("two");
    for (name, bytes) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    env.ok(&["reindex", "--model-dir", "two"]);
    env.write(
        "two/model.safetensors.index.json",
        r#"{"weight_map": {"a": "../one/model.safetensors"}}"#,
    );
    let error = env.kb(&["init", "--data-dir", "x", "--model-dir", "two"]);
    assert!(error.stderr.contains("there is none of model.safetensors, "), "{}", error.stderr);
}

#[test]
fn a_dense_in_another_form_is_refused_in_one_line() {
    let mut files = WordModel::default().files();
    let mut modules: Value = serde_json::from_slice(&files["modules.json"]).unwrap();
    let dense = json!({"path": "2_Dense", "type": "sentence_transformers.models.Dense"});
    modules.as_array_mut().unwrap().push(dense);
    let config = r#"{"in_features": 32, "out_features": 8, "bias": false}"#;
    files.insert("modules.json".into(), modules.to_string().into_bytes());
    files.insert("2_Dense/config.json".into(), config.into());
    files.insert("2_Dense/pytorch_model.bin".into(), b"PK".to_vec());
    let hub = Hub::serve(HUB_ID, files.clone());
    let env = machine(&hub);
    let error = env.kb(&["init", "--format", "json"]).expect(2).json_error();
    let reason = "there is no 2_Dense/model.safetensors, and kb supports no other form";
    assert!(error["error"].as_str().unwrap().ends_with(reason), "{error}");
    for (name, bytes) in files {
        env.write(&format!("dense/{name}"), bytes);
    }
    let error = env.kb(&["init", "--model-dir", "dense"]);
    assert_ne!(error.status, 0);
    let reason = "dense/2_Dense/model.safetensors: it is missing, and kb does not read pytorch_model.bin\n\
                  hint: name another model with `--model` or `--model-dir`\n";
    assert!(error.stderr.ends_with(reason), "{}", error.stderr);
}

#[test]
fn the_menu_says_what_is_known_of_each_model() {
    let env = TestEnv::without_model();
    let shown = env.ok(&["model", "list"]).stdout;
    let row = |name: &str| {
        let mut lines = shown.lines();
        lines.find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{shown}"))
    };
    for (name, parts) in [
        ("all-MiniLM-L6-v2", &["English", "91 MB", "256", "384", " 1 ", "0.735", "Apache-2.0"][..]),
        ("mdbr-leaf-ir", &["768", "53.55 BEIR (its card)", "untested"]),
        ("granite-embedding-97m-multilingual-r2", &["200 languages", "32768"]),
        ("potion-retrieval-32M", &["512", "?", "36.35", "MIT", "untested"]),
    ] {
        for part in parts {
            assert!(row(name).contains(part), "{part}: {}", row(name));
        }
    }
    assert!(!row("all-MiniLM-L6-v2").contains("untested") && !shown.contains("installed"));
    let listed = env.json(&["model", "list", "--format", "json"]);
    let models = listed["models"].as_array().unwrap();
    assert_eq!(models.len(), kb_embed::models().count());
    let leaf = models.iter().find(|model| model["name"] == "mdbr-leaf-ir").unwrap();
    assert_eq!((&leaf["installed"], &leaf["untested"]), (&json!(false), &json!(true)));
    assert_eq!(leaf["published"]["score"], 53.55);
    // A database in use.
    let env = TestEnv::real();
    env.ok(&["init"]);
    let shown = env.ok(&["model", "list"]).stdout;
    assert!(
        shown.lines().any(|line| line.starts_with("all-MiniLM") && line.ends_with("in use")),
        "{shown}"
    );
}

#[test]
fn a_dry_run_says_what_another_model_takes() {
    let hub = Hub::serve(HUB_ID, WordModel::default().files());
    let env = first(&hub);
    let before = env.sql::<String>("SELECT group_concat(key || value) FROM config");
    WordModel { seed: 2, dim: 64, ..WordModel::default() }.write(&env.path("wide"));
    let found = env.json(&["reindex", "--model-dir", "wide", "--dry-run", "--format", "json"]);
    assert_eq!((&found["model_name"], &found["chunks"]), (&json!(HUB_ID), &json!(2)));
    assert_eq!((&found["installed"], &found["seconds"]), (&json!(true), &json!(1)));
    let [now, then] = ["vector_bytes", "vector_bytes_then"].map(|key| found[key].as_u64().unwrap());
    assert_eq!(then - now, 2 * 4 * 32, "{found}");
    // Nothing is fetched to find out.
    hub.take_requests();
    let shown = env.ok(&["reindex", "--model", "mdbr-leaf-ir", "--dry-run"]).stdout;
    let parts = [
        "Would embed 2 chunks with mdbr-leaf-ir; the time is unknown until mdbr-leaf-ir is installed.",
        "(90 MB)",
    ];
    assert!(parts.iter().all(|part| shown.contains(part)), "{shown}");
    let unknown = env.json(&["reindex", "--model", "a/b", "--dry-run", "--format", "json"]);
    assert_eq!((&unknown["seconds"], &unknown["vector_bytes_then"]), (&Value::Null, &Value::Null));
    assert_eq!(hub.take_requests(), [""; 0]);
    assert_eq!(env.sql::<String>("SELECT group_concat(key || value) FROM config"), before);
    assert_eq!(find(&env, &["storm anchor", "--vec-only"]).len(), 2);
}
