//! Every pooling and the modules after it give the vectors of sentence-transformers, on small seeded
//! weights; tests/fixtures/families/make.py computed them from the models of heads.json.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kb_base::document::Precision;
use kb_base::error::Error;
use kb_embed::{
    Embedder, InstalledModel, ModelChoice, ModelOptions, install, locate, open, open_single,
};
use safetensors::tensor::Dtype;
use serde_json::{Value, json};

use crate::embedding::own_locations;
use crate::families::{
    FIXTURES, Tensors, config, largest_difference, num_tokens, numbers, reference, safetensors,
    weights,
};
use crate::hub::Hub;
use crate::tiny_model::draw;
use crate::word_model::{WordModel, check_database, find, word_env};

/// Width of the token vectors.
const DIM: usize = 32;

/// Largest difference in any dimension; rounding of 32-bit floats in another order gives 1e-6.
const TOLERANCE: f32 = 1e-5;

/// The same for layers in 8 bits; 0.002 was measured.
const INT8_TOLERANCE: f32 = 0.01;

fn heads() -> Vec<Value> {
    let text = fs::read_to_string(format!("{FIXTURES}/heads.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the width of a model's vectors before they are cut.
fn full_dim(head: &Value) -> usize {
    let widths = head["modules"].as_array().unwrap().iter();
    let mut widths = widths.filter_map(|module| module[1]["out_features"].as_u64());
    widths.next_back().map_or(DIM, |width| usize::try_from(width).unwrap())
}

/// Returns the files of a model; make.py has the same lines.
fn files(head: &Value, number: u64) -> BTreeMap<String, Vec<u8>> {
    let tokenizer = fs::read(format!("{FIXTURES}/wordpiece.json")).unwrap();
    let model = weights(num_tokens(&tokenizer), DIM);
    let mut files = BTreeMap::from([
        ("config.json".to_owned(), config(DIM).to_string().into_bytes()),
        ("tokenizer.json".to_owned(), tokenizer),
        ("model.safetensors".to_owned(), safetensors(&model, Dtype::F32)),
        ("sentence_bert_config.json".to_owned(), br#"{"max_seq_length": 64}"#.to_vec()),
        (
            "config_sentence_transformers.json".to_owned(),
            json!({"prompts": head["prompts"]}).to_string().into_bytes(),
        ),
    ]);
    let dtype = match head["dtype"].as_str().unwrap() {
        "F16" => Dtype::F16,
        "BF16" => Dtype::BF16,
        _ => Dtype::F32,
    };
    let mut listed = vec![json!({"path": "", "type": "sentence_transformers.models.Transformer"})];
    let mut state = number + 1;
    for (place, module) in (1..).zip(head["modules"].as_array().unwrap()) {
        let (kind, settings) = (module[0].as_str().unwrap(), &module[1]);
        let folder = format!("{place}_{kind}");
        let ty = format!("sentence_transformers.models.{kind}");
        listed.push(json!({"path": folder, "type": ty}));
        if kind != "Normalize" {
            files.insert(format!("{folder}/config.json"), settings.to_string().into_bytes());
        }
        if kind == "Dense" {
            let width = |name: &str| usize::try_from(settings[name].as_u64().unwrap()).unwrap();
            let (outputs, inputs) = (width("out_features"), width("in_features"));
            let mut drawn = |count| (0..count).map(|_| draw(&mut state) / 4.0).collect();
            let mut tensors = Tensors::new();
            let weight = (vec![outputs, inputs], drawn(outputs * inputs));
            tensors.insert("linear.weight".to_owned(), weight);
            if settings["bias"] == true {
                tensors.insert("linear.bias".to_owned(), (vec![outputs], drawn(outputs)));
            }
            let file = format!("{folder}/model.safetensors");
            files.insert(file, safetensors(&tensors, dtype));
        }
    }
    files.insert("modules.json".to_owned(), Value::from(listed).to_string().into_bytes());
    files
}

/// Opens a model for passages and for single texts.
pub(crate) fn open_both(
    installed: &InstalledModel,
    options: &ModelOptions,
) -> [Box<dyn Embedder>; 2] {
    [
        open(installed, options, &mut |_| {}).unwrap(),
        open_single(installed, options, &mut |_| {}).unwrap(),
    ]
}

fn options(precision: Precision, head: &Value) -> ModelOptions {
    let dim = head["dim"].as_u64().map(|dim| u32::try_from(dim).unwrap());
    ModelOptions { precision, dim, ..ModelOptions::default() }
}

/// Installs a model from a hub and compares it with `expected`.
fn check(head: &Value, number: u64, expected: &[f32]) {
    let name = &head["name"];
    let dir = tempfile::tempdir().unwrap();
    let hub = Hub::serve("someone/head", files(head, number));
    let mut locations = own_locations(dir.path());
    locations.hf_endpoint = Some(hub.endpoint.clone());
    let choice = ModelChoice::named("someone/head").unwrap();
    let installed = install(&choice, &locations, &mut |_| {}).unwrap();
    let dim = head["dim"].as_u64().map_or(full_dim(head), |dim| usize::try_from(dim).unwrap());
    let reference = reference(expected, dim);
    for precision in [Precision::Fp32, Precision::Int8] {
        let [many, single] = open_both(&installed, &options(precision, head));
        let mut num_cut = 0;
        for (side, text, expected) in &reference {
            let (of_many, is_cut) = many.embed_cut(text, *side).unwrap();
            let (of_single, _) = single.embed_cut(text, *side).unwrap();
            num_cut += usize::from(is_cut);
            let [one, other] =
                [&of_many, &of_single].map(|found| largest_difference(&found.vector, expected));
            let tolerance = if precision == Precision::Fp32 { TOLERANCE } else { INT8_TOLERANCE };
            assert!(one < tolerance && other < tolerance, "{name} {precision}: {one} {other}");
            // Codes are of the token vectors, whatever the width of the text's is.
            let codes = of_many.codes.unwrap();
            let num_codes = many.num_tokens(text).min(62).div_ceil(4);
            assert!(codes.len().is_multiple_of(DIM / 8) && codes.len() >= num_codes * DIM / 8);
        }
        assert!(num_cut >= 1, "{name}: the last text is too long");
        assert_eq!(many.binding(), single.binding());
        assert_eq!(usize::try_from(many.binding().dim).unwrap(), dim);
    }
    // A reference that another text also matched would show nothing.
    for (idx, (.., vector)) in reference.iter().enumerate() {
        for (.., other) in &reference[..idx] {
            assert!(largest_difference(vector, other) > 100.0 * TOLERANCE, "{name}");
        }
    }
}

#[test]
fn every_pooling_and_dense_gives_the_vectors_of_sentence_transformers() {
    let expected = numbers("heads.f32");
    let mut rest = &expected[..];
    let num_texts = fs::read_to_string(format!("{FIXTURES}/texts.jsonl")).unwrap().lines().count();
    for (number, head) in (0..).zip(heads()) {
        let dim = head["dim"].as_u64().map_or(full_dim(&head), |dim| usize::try_from(dim).unwrap());
        let (own, others) = rest.split_at(num_texts * dim);
        check(&head, number, own);
        rest = others;
    }
    assert!(rest.is_empty());
}

pub(crate) fn write(files: &BTreeMap<String, Vec<u8>>, dir: &Path) {
    for (name, bytes) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn a_damaged_dense_is_named_and_other_modules_give_another_graph() {
    let dir = tempfile::tempdir().unwrap();
    let model_dir = dir.path().join("model");
    let locations = own_locations(dir.path());
    let locate = || locate(&ModelChoice::directory(&model_dir), &locations).unwrap();
    let files = files(&heads()[0], 0);
    write(&files, &model_dir);
    let options = ModelOptions { precision: Precision::Fp32, ..ModelOptions::default() };
    for embedder in open_both(&locate(), &options) {
        assert_eq!(embedder.embed_query("tide").unwrap().vector.len(), 48);
    }
    // Without the Dense, the same weights have a graph that also pools.
    let modules = fs::read_to_string(model_dir.join("modules.json")).unwrap();
    fs::remove_file(model_dir.join("modules.json")).unwrap();
    for embedder in open_both(&locate(), &options) {
        assert_eq!(embedder.embed_query("tide").unwrap().vector.len(), DIM);
    }
    fs::write(model_dir.join("modules.json"), modules).unwrap();
    let weights = model_dir.join("2_Dense/model.safetensors");
    fs::write(&weights, &files["2_Dense/model.safetensors"][..200]).unwrap();
    let many = open(&locate(), &options, &mut |_| {}).map(|_| ());
    let single = open_single(&locate(), &options, &mut |_| {}).map(|_| ());
    for error in [many.unwrap_err(), single.unwrap_err()] {
        assert!(matches!(&error, Error::Model { path, .. } if *path == weights), "{error}");
    }
}

/// Returns the files of the default word model with a Dense to `width`.
pub(crate) fn wide_files(width: usize) -> BTreeMap<String, Vec<u8>> {
    let mut files = WordModel::default().files();
    let mut modules: Value = serde_json::from_slice(&files["modules.json"]).unwrap();
    let listed = modules.as_array_mut().unwrap();
    listed.push(json!({"path": "2_Dense", "type": "sentence_transformers.models.Dense"}));
    let dense = json!({"in_features": 32, "out_features": width, "bias": false,
        "activation_function": "torch.nn.modules.linear.Identity"});
    let mut state = 1;
    let drawn = (0..32 * width).map(|_| draw(&mut state)).collect();
    let tensors = Tensors::from([("linear.weight".to_owned(), (vec![width, 32], drawn))]);
    files.insert("modules.json".to_owned(), modules.to_string().into_bytes());
    files.insert("2_Dense/config.json".to_owned(), dense.to_string().into_bytes());
    files.insert("2_Dense/model.safetensors".to_owned(), safetensors(&tensors, Dtype::F32));
    files
}

#[test]
fn a_database_moves_to_a_dense_model_to_fewer_dimensions_and_back() {
    let env = word_env();
    write(&wide_files(64), &env.path("wide"));
    let ids = || env.sql::<String>("SELECT group_concat(id || title, ',') FROM documents");
    let chunks = || env.sql::<String>("SELECT group_concat(id || text, ',') FROM chunks");
    let (documents, passages) = (ids(), chunks());
    let check = |dim: usize| {
        assert_eq!(env.json(&["status", "--format", "json"])["embedding_dim"], json!(dim));
        assert_eq!((ids(), chunks()), (documents.clone(), passages.clone()));
        check_database(&env);
        assert_eq!(find(&env, &["frozen tide gauge", "--vec-only"])[0], "Tides");
        // The same words have the same vector, whatever computed it.
        let note = "The lamp keeper has the salt.";
        let best = &env.json(&["search", note, "--vec-only"])["results"][0];
        assert!(best["evidence"]["cosine"].as_f64().unwrap() > 0.8, "{best}");
    };
    check(32);
    env.ok(&["reindex", "--model-dir", "wide"]);
    check(64);
    // Fewer numbers are another vector space, until the vectors are computed again.
    env.ok(&["config", "set", "embedding.dim", "48"]);
    env.write("docs/new.md", "# New\n\nsail and rope\n");
    for args in [&["search", "tide", "--format=human"][..], &["add", "docs"]] {
        let error = env.kb(args).expect(1).stderr;
        let reason = "DB uses 'wide int8' (64 dim) but config specifies 'wide with 48 dim'\n";
        assert!(error.contains(reason), "{error}");
        assert!(error.ends_with("hint: run `kb reindex` to recompute all vectors\n"));
    }
    assert_eq!(find(&env, &["frozen tide", "--fts-only"]), ["Tides"]);
    env.ok(&["reindex"]);
    check(48);
    env.ok(&["config", "set", "embedding.dim", "65"]);
    let error = env.kb(&["reindex", "--format", "json"]).expect(1).json_error();
    assert_eq!(error["error"], "embedding.dim is 65, but vectors of wide have 64 dimensions");
    env.ok(&["config", "set", "embedding.dim", "0"]);
    let error = env.kb(&["search", "tide"]).expect(1).json_error();
    assert!(error["error"].as_str().unwrap().contains("specifies 'wide with 64 dim'"), "{error}");
    env.ok(&["reindex", "--model-dir", "tiny"]);
    check(32);
}
