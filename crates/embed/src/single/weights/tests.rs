//! Tests reading tensors from files and from memory.

use super::*;

#[test]
fn half_precision_is_widened_exactly() {
    for (half, expected) in [
        (0x0000, 0.0),
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x3555, 0.333_251_95),
        (0x7bff, 65504.0),
        (0x0400, 6.103_515_6e-5),
        (0x0001, 5.960_464_5e-8),
        (0x03ff, 6.097_555e-5),
        (0x7c00, f32::INFINITY),
    ] {
        assert_eq!(f32_from_f16(half).to_bits(), f32::to_bits(expected), "{half:#06x}");
    }
    assert!(f32_from_f16(0x7e00).is_nan());
}

#[test]
fn kb_files_are_read_only_by_kb() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("own.safetensors");
    let matrix = Int8Matrix {
        name: "a.b".into(),
        num_columns: 3,
        rows: vec![1, -2, 3, -127, 0, 127],
        scales: vec![0.5, 2.0],
    };
    write(&path, std::slice::from_ref(&matrix)).unwrap();
    let in_memory = Weights::in_memory(&path, &[matrix]).unwrap();
    assert_eq!(in_memory.get("a.b.scale", &[2]).unwrap().data, [0.5, 2.0]);
    let rows = in_memory.rows("a.b.weight", [0, 3]).unwrap();
    assert_eq!(rows.int8(0..2, &mut Vec::new()).unwrap(), [1, -2, 3, -127, 0, 127]);
    let weights = Weights::open_derived(&path).unwrap();
    assert_eq!(weights.get("a.b.scale", &[2]).unwrap().data, [0.5, 2.0]);
    let rows = weights.rows("a.b.weight", [0, 3]).unwrap();
    let mut row = Vec::new();
    for max_bytes in [0, 10, 1000] {
        // From the file first, then from memory.
        weights.keep(max_bytes).unwrap();
        assert_eq!(weights.kept.get().is_some(), max_bytes == 1000);
        assert_eq!(rows.int8(1..2, &mut row).unwrap(), [-127, 0, 127]);
        assert_eq!(rows.int8(0..2, &mut row).unwrap(), [1, -2, 3, -127, 0, 127]);
        let scales = weights.rows("a.b.scale", [0, 1]);
        assert!(scales.is_err() && rows.read(0..1, &mut Vec::new()).is_err());
    }
    assert!(Weights::open(&path).is_err());
}

#[test]
fn a_file_that_is_not_safetensors_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.safetensors");
    let table = br#"{"embeddings.word_embeddings.weight":
        {"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;
    let valid = [&(table.len() as u64).to_le_bytes()[..], table, &[0; 8]].concat();
    for bytes in [&b""[..], b"PK\x03\x04", &[0xff; 64], &[0; 8], &valid[..valid.len() - 1]] {
        std::fs::write(&path, bytes).unwrap();
        assert!(Weights::open(&path).is_err());
    }
    std::fs::write(&path, &valid).unwrap();
    let weights = Weights::open(&path).unwrap();
    assert!(weights.has(WORDS) && !weights.has("embeddings"));
    assert_eq!(weights.get(WORDS, &[0, 2]).unwrap().data, [0.0, 0.0]);
    assert!(weights.get(WORDS, &[2, 2]).is_err() && weights.get("other", &[2]).is_err());
}
