//! Reads which modules follow the transformer, as sentence-transformers describes them in
//! `modules.json` and in a folder for each module.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Result;
use crate::fault::{model_error, unsupported};
use crate::model_files::{PLAIN, is_plain_name, read_json};
use crate::registry::Pooling;

/// The list of modules.
pub(crate) const FILE: &str = "modules.json";

/// A module after pooling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Module {
    /// Maps a text's vector to one of another width.
    Dense(Dense),
    /// Sets a text's vector to unit length.
    Normalize,
}

/// A linear map with an activation function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dense {
    /// The file with its weights.
    pub weights: PathBuf,
    /// Width of the vectors that it maps.
    pub num_inputs: usize,
    /// Width of the mapped vectors.
    pub num_outputs: usize,
    /// Whether it adds a bias.
    pub has_bias: bool,
    /// Whether the activation function is the hyperbolic tangent; else there is none.
    pub is_tanh: bool,
}

/// Reads how token vectors of `width` numbers become the vector of a text. Refuses modules and
/// settings that would silently be ignored.
pub(crate) fn read(dir: &Path, mut width: usize) -> Result<(Pooling, Vec<Module>)> {
    let (mut pooling, mut modules) = (None, Vec::new());
    for (idx, (kind, folder)) in listed(dir)?.into_iter().enumerate() {
        match (&*kind, pooling) {
            ("Transformer", None) if idx == 0 => {}
            ("Pooling", None) => pooling = Some(read_pooling(&dir.join(folder))?),
            ("Normalize", Some(_)) => modules.push(Module::Normalize),
            ("Dense", Some(_)) => {
                let dense = read_dense(&dir.join(folder), width)?;
                width = dense.num_outputs;
                modules.push(Module::Dense(dense));
            }
            (other, _) => {
                let reason = format!(
                    "module `{other}` is not supported there: kb reads Transformer, Pooling, then \
                     any number of Dense and Normalize"
                );
                return Err(unsupported(&dir.join(FILE), reason));
            }
        }
    }
    // A last Normalize is left out, because kb sets every vector to unit length.
    while modules.last() == Some(&Module::Normalize) {
        modules.pop();
    }
    let pooling = pooling.map_or_else(|| read_pooling(&dir.join("1_Pooling")), Ok)?;
    Ok((pooling, modules))
}

/// Returns the folder of a static model's table and tokenizer, which is empty if they are in `dir`
/// itself; `None` for any other model.
pub(crate) fn static_folder(dir: &Path) -> Result<Option<String>> {
    let mut modules = listed(dir)?.into_iter();
    match modules.next() {
        Some((kind, folder)) if kind == "StaticEmbedding" => {
            // A Normalize changes nothing, because kb sets every vector to unit length.
            match modules.find(|(kind, _)| kind != "Normalize") {
                Some((other, _)) => Err(unsupported(
                    &dir.join(FILE),
                    format!("module `{other}` is not supported after `StaticEmbedding`"),
                )),
                None => Ok(Some(folder)),
            }
        }
        _ => Ok(None),
    }
}

/// Returns the files of the modules below `dir`, each with whether the module needs it.
pub(crate) fn files(dir: &Path) -> Result<Vec<(String, bool)>> {
    let below = listed(dir)?.into_iter().filter(|(_, folder)| is_plain_name(folder));
    let files = below.flat_map(|(kind, folder)| {
        let is_dense = kind == "Dense";
        let weights = is_dense.then(|| (format!("{folder}/{PLAIN}"), true));
        [(format!("{folder}/config.json"), is_dense)].into_iter().chain(weights)
    });
    Ok(files.collect())
}

/// Returns the kind and the folder of each module.
fn listed(dir: &Path) -> Result<Vec<(String, String)>> {
    let path = dir.join(FILE);
    let modules = read_json(&path)?;
    let modules = modules.as_ref().and_then(Value::as_array).into_iter().flatten();
    let found = modules.map(|module| {
        let kind = module["type"].as_str().unwrap_or_default();
        let kind = kind.rsplit('.').next().unwrap_or_default();
        // Model2Vec writes a dot for the model's own folder.
        let folder = module["path"].as_str().filter(|path| *path != ".").unwrap_or_default();
        if !folder.is_empty() && !is_plain_name(folder) {
            return Err(model_error(&path, format!("`{folder}` is not a folder of the model")));
        }
        Ok((kind.to_owned(), folder.to_owned()))
    });
    found.collect()
}

/// Reads how token vectors are combined.
fn read_pooling(folder: &Path) -> Result<Pooling> {
    let path = folder.join("config.json");
    // sentence-transformers uses the mean if a plain transformer states nothing.
    let Some(config) = read_json(&path)? else { return Ok(Pooling::Mean) };
    if config["include_prompt"] == false {
        return Err(unsupported(&path, "pooling without the prompt is not supported"));
    }
    let words: Vec<&str> = match &config["pooling_mode"] {
        Value::String(word) => vec![word],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => {
            let flags = config.as_object().into_iter().flatten().filter(|(_, flag)| **flag == true);
            flags.filter_map(|(name, _)| name.strip_prefix("pooling_mode_")).collect()
        }
    };
    let pooling = match words[..] {
        [word] => {
            let word = word.trim_end_matches("_tokens").trim_end_matches("_token");
            serde_json::from_value(word.into()).ok()
        }
        _ => None,
    };
    pooling.ok_or_else(|| {
        let words = words.join(" and ");
        let reason = format!(
            "pooling `{words}` is not supported: kb knows one of cls, lasttoken, max, mean and \
             weightedmean"
        );
        unsupported(&path, reason)
    })
}

fn width(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|width| usize::try_from(width).ok())
}

fn read_dense(folder: &Path, num_inputs: usize) -> Result<Dense> {
    let path = folder.join("config.json");
    let config = read_json(&path)?.ok_or_else(|| model_error(&path, "there is no such file"))?;
    if width(&config["in_features"]) != Some(num_inputs) {
        let reason = format!("`in_features` is {}, expected {num_inputs}", config["in_features"]);
        return Err(model_error(&path, reason));
    }
    let num_outputs = width(&config["out_features"]).filter(|width| *width > 0);
    let num_outputs = num_outputs
        .ok_or_else(|| model_error(&path, "`out_features` is missing or not a number"))?;
    for name in ["module_input_name", "module_output_name"] {
        // A Dense reads and writes the vector of the whole text unless it names another one.
        let features = config[name].as_str().unwrap_or("sentence_embedding");
        if features != "sentence_embedding" {
            let reason = format!("a Dense with {name} `{features}` is not supported");
            return Err(unsupported(&path, reason));
        }
    }
    if config["use_residual"] == true {
        return Err(unsupported(&path, "a Dense with a residual connection is not supported"));
    }
    let activation = config["activation_function"].as_str().unwrap_or("Tanh");
    let is_tanh = match activation.rsplit('.').next() {
        Some("Tanh") => true,
        Some("Identity") => false,
        _ => {
            let reason =
                format!("a Dense with `{activation}` is not supported: kb knows Identity and Tanh");
            return Err(unsupported(&path, reason));
        }
    };
    let has_bias = config["bias"].as_bool().unwrap_or(true);
    let weights = folder.join(PLAIN);
    if !weights.is_file() && folder.join("pytorch_model.bin").is_file() {
        return Err(unsupported(&weights, "it is missing, and kb does not read pytorch_model.bin"));
    }
    Ok(Dense { weights, num_inputs, num_outputs, has_bias, is_tanh })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const DENSE: &str = r#"{"in_features": 8, "out_features": 12, "bias": false,
        "activation_function": "torch.nn.modules.linear.Identity"}"#;

    /// Reads a model whose modules have these kinds, with the settings of some.
    fn modules(kinds: &[&str], files: &[(&str, &str)]) -> Result<(Pooling, Vec<Module>)> {
        let dir = tempfile::tempdir().unwrap();
        let listed: Vec<Value> = kinds
            .iter()
            .enumerate()
            .map(|(idx, kind)| {
                let path = if idx == 0 { String::new() } else { format!("{idx}_{kind}") };
                let ty = format!("sentence_transformers.models.{kind}");
                serde_json::json!({"idx": idx, "name": idx.to_string(), "path": path, "type": ty})
            })
            .collect();
        fs::write(dir.path().join(FILE), Value::from(listed).to_string()).unwrap();
        for (folder, text) in files {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
            fs::write(dir.path().join(folder).join("config.json"), text).unwrap();
        }
        read(dir.path(), 8).map(|(pooling, modules)| {
            let without_dir = |module| match module {
                Module::Dense(mut dense) => {
                    dense.weights = dense.weights.strip_prefix(dir.path()).unwrap().into();
                    Module::Dense(dense)
                }
                Module::Normalize => Module::Normalize,
            };
            (pooling, modules.into_iter().map(without_dir).collect())
        })
    }

    #[test]
    fn modules_are_read_in_any_order_after_pooling() {
        let kinds = ["Transformer", "Pooling", "Normalize", "Dense", "Dense", "Normalize"];
        let second = r#"{"in_features": 12, "out_features": 4}"#;
        let (pooling, found) = modules(&kinds, &[("3_Dense", DENSE), ("4_Dense", second)]).unwrap();
        let dense = |folder: &str, num_inputs, num_outputs, is_plain: bool| {
            let weights = Path::new(folder).join("model.safetensors");
            let (has_bias, is_tanh) = (!is_plain, !is_plain);
            Module::Dense(Dense { weights, num_inputs, num_outputs, has_bias, is_tanh })
        };
        let (first, second) = (dense("3_Dense", 8, 12, true), dense("4_Dense", 12, 4, false));
        assert_eq!((pooling, found), (Pooling::Mean, vec![Module::Normalize, first, second]));
        let plain = modules(&["Transformer", "Pooling", "Normalize"], &[]).unwrap();
        assert_eq!(plain, (Pooling::Mean, Vec::new()));
    }

    #[test]
    fn pooling_is_written_in_two_ways() {
        for (text, expected) in [
            (r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#, "Cls"),
            (r#"{"pooling_mode_max_tokens": true}"#, "Max"),
            (r#"{"pooling_mode_lasttoken": true, "include_prompt": true}"#, "LastToken"),
            (r#"{"pooling_mode_weightedmean_tokens": true}"#, "WeightedMean"),
            (r#"{"pooling_mode": "lasttoken"}"#, "LastToken"),
            (r#"{"pooling_mode": ["weightedmean"]}"#, "WeightedMean"),
        ] {
            let (found, _) = modules(&["Transformer", "Pooling"], &[("1_Pooling", text)]).unwrap();
            assert_eq!(format!("{found:?}"), expected);
        }
    }

    #[test]
    fn what_kb_does_not_know_is_named() {
        let plain = ["Transformer", "Pooling", "Dense"];
        let dense = |text: &str| DENSE.replace("\"bias\": false", text);
        for (kinds, folder, text, message) in [
            (&["Transformer", "LSTM"][..], "1_LSTM", "{}", "modules.json: module `LSTM` is not"),
            (&["Transformer", "Dense", "Pooling"], "1_Dense", DENSE, "module `Dense` is not"),
            (&["Transformer", "Pooling", "Pooling"], "1", "{}", "module `Pooling` is not"),
            (&["Transformer", "../x"], "1", "{}", "`1_../x` is not a folder of the model"),
            (&plain, "1_Pooling", r#"{"pooling_mode": ["cls", "mean"]}"#, "pooling `cls and mean`"),
            (
                &plain,
                "1_Pooling",
                r#"{"pooling_mode_mean_sqrt_len_tokens": true}"#,
                "pooling `mean_sqrt_len_tokens` is not supported: kb knows one of cls, ",
            ),
            (&plain, "1_Pooling", r#"{"include_prompt": false}"#, "without the prompt"),
            (&plain, "2_Other", "{}", "2_Dense/config.json: there is no such file"),
            (&plain, "2_Dense", "{}", "`in_features` is null, expected 8"),
            (&plain, "2_Dense", r#"{"in_features": 8}"#, "`out_features` is missing"),
            (&plain, "2_Dense", &dense(r#""use_residual": true"#), "residual connection"),
            (
                &plain,
                "2_Dense",
                &dense(r#""module_input_name": "token_embeddings""#),
                "a Dense with module_input_name `token_embeddings` is not supported",
            ),
            (
                &plain,
                "2_Dense",
                &DENSE.replace("linear.Identity", "activation.GELU"),
                "a Dense with `torch.nn.modules.activation.GELU` is not supported: kb knows",
            ),
        ] {
            let error = modules(kinds, &[(folder, text)]).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
            let hint = error.hint().unwrap().to_string();
            assert!(hint.contains("--model-dir") && !hint.contains("ORT_DYLIB_PATH"), "{hint}");
        }
    }
}
