//! Merges the layers of settings into a [`Config`] and remembers where each value came from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use figment::providers::Serialized;
use figment::value::Value;
use figment::{Figment, Profile};

use crate::config::faults::{check, unknown_key, wrong_value};
use crate::config::file::{drop_empty_groups, parse_yaml, read, remove_key};
use crate::config::values::{SettingValue, entries, flatten, is_text, keys};
use crate::config::yaml::Yaml;
use crate::config::{Config, Environment, FILE_NAME, SettingOrigin};
use crate::error::{Error, Result};
use crate::limits;
use crate::wording::{kb, wording};

/// How many unknown keys are named in warnings.
const MAX_WARNINGS: usize = 10;

/// A [`Config`] with the origin of every value.
#[derive(Debug, Clone)]
pub struct ResolvedConfig {
    /// The values.
    pub config: Config,
    /// The file that was read, or would be.
    pub file: PathBuf,
    /// Warnings for the user: one sentence per unknown key.
    pub warnings: Vec<String>,
    origins: BTreeMap<String, SettingOrigin>,
    file_keys: BTreeSet<String>,
}

impl ResolvedConfig {
    /// Returns where the value of a key comes from.
    pub fn origin(&self, key: &str) -> &SettingOrigin {
        self.origins.get(key).unwrap_or(&SettingOrigin::Default)
    }

    /// Whether the data directory was named for this run, by a flag or a variable.
    pub fn names_data_dir(&self) -> bool {
        matches!(self.origin("data_dir"), SettingOrigin::Flag(_) | SettingOrigin::Variable(_))
    }

    /// Whether the file sets a key, even if a higher layer overrides it.
    pub fn file_sets(&self, key: &str) -> bool {
        self.file_keys.contains(key)
    }

    /// Returns every key with its value, in the order of the documentation.
    pub fn entries(&self) -> Vec<(String, SettingValue)> {
        entries(&self.config)
    }
}

/// Values given by flags: key and value as typed.
pub type Flags = Vec<(&'static str, &'static str, String)>;

/// Settings that name folders or a program, or that decide which files may be read. They count only where no
/// one but the user writes: not in a project's `.kb`.
const OWN_KEYS: [&str; 4] =
    ["data_dir", "embedding.model_dir", "ingestion.follow_links", "search.rerank_command"];

/// Whether a key counts only in the user's own settings.
pub fn is_own_key(key: &str) -> bool {
    OWN_KEYS.contains(&key)
}

/// Merges all layers.
///
/// `flags` holds flag name, key and value. The file is `config.yaml` in the data directory that a
/// flag or the environment names, else in the default one. A `data_dir` in the file then moves the
/// database, but not the file.
pub fn load(environment: &Environment, flags: &Flags) -> Result<ResolvedConfig> {
    load_layers(environment, flags, None)
}

/// Like [`load`] for one of several knowledge bases: the settings in its folder override those in the
/// data directory, except `data_dir`.
pub fn load_base(environment: &Environment, flags: &Flags, dir: &Path) -> Result<ResolvedConfig> {
    load_layers(environment, flags, Some(dir))
}

fn load_layers(
    environment: &Environment,
    flags: &Flags,
    base: Option<&Path>,
) -> Result<ResolvedConfig> {
    let home = environment.home();
    let defaults = Config::defaults(&home);
    let keys = keys(&defaults);
    let given_dir = flags
        .iter()
        .find(|(_, key, _)| *key == "data_dir")
        .map(|(_, _, value)| PathBuf::from(value))
        .or_else(|| environment.path("KB_DATA_DIR"));
    let file_dir = expand_home(&given_dir.unwrap_or_else(|| defaults.data_dir.clone()), &home);
    let usual = file_dir.join(FILE_NAME);
    let file = base.map_or_else(|| usual.clone(), |dir| dir.join(FILE_NAME));

    let mut origins = BTreeMap::new();
    let mut warnings = Vec::new();
    let mut file_keys = BTreeSet::new();
    let mut figment = Figment::from(Serialized::defaults(&defaults));
    let layers = [Some((&usual, &[][..])), base.map(|_| (&file, &OWN_KEYS[..1]))];
    for (path, refused) in layers.into_iter().flatten() {
        let Some(text) = read(path)? else { continue };
        let mut document = parse_yaml(path, &text)?;
        drop_empty_groups("", &mut document, &keys);
        let is_of_project = path.parent().is_some_and(|dir| environment.is_of_project(dir));
        for key in if is_of_project { &OWN_KEYS[..] } else { refused } {
            if remove_key(&mut document, key) {
                warnings.push(ignored(path, key, is_of_project));
            }
        }
        let (mut given, mut unknown) = (Vec::new(), Vec::new());
        flatten("", &document, &mut given);
        for (key, _) in given {
            if keys.contains(&key) {
                origins.insert(key.clone(), SettingOrigin::File(path.clone()));
                if *path == file {
                    file_keys.insert(key);
                }
            } else {
                unknown.push(key);
            }
        }
        warnings.extend(unknown.iter().take(MAX_WARNINGS).map(|key| unknown_key(path, key, &keys)));
        if let Some(more) = unknown.len().checked_sub(MAX_WARNINGS).filter(|more| *more > 0) {
            warnings.push(format!("{more} more unknown keys in {}", path.display()));
        }
        figment = figment.merge(Yaml(&document));
    }
    for key in &keys {
        for name in variable_names(key) {
            let Some(value) = environment.get(&name) else { continue };
            if let Some(SettingOrigin::Variable(_)) = origins.get(key) {
                continue;
            }
            let value = value.to_str().ok_or_else(|| {
                Error::config(name.clone(), "not UTF-8")
                    .with_hint(format!("set {name} to UTF-8 text, or unset it"))
            })?;
            figment = merge_one(figment, &defaults, key, value);
            origins.insert(key.clone(), SettingOrigin::Variable(name));
        }
    }
    for (flag, key, value) in flags {
        figment = merge_one(figment, &defaults, key, value);
        origins.insert((*key).to_owned(), SettingOrigin::Flag((*flag).to_owned()));
    }
    let mut config: Config =
        figment.extract().map_err(|error| wrong_value(&error, &origins, &file))?;
    config.data_dir = match base {
        Some(dir) => dir.to_owned(),
        None => expand_home(&config.data_dir, &home),
    };
    config.embedding.model_dir = expand_home(&config.embedding.model_dir, &home);
    check(&config, &origins, &file)?;
    Ok(ResolvedConfig { config, file, warnings, origins, file_keys })
}

/// Returns the warning about a key that does not count in a file.
fn ignored(file: &Path, key: &str, is_of_project: bool) -> String {
    let file = file.display();
    if is_of_project {
        wording!(
            "{}: `{}` has no effect in the settings of a project, which others can write; `{}` \
             sets it for you",
            file.to_string(),
            key,
            kb("--base default config set").arg(key).arg("VALUE")
        )
        .to_string()
    } else {
        format!("{file}: `{key}` is ignored here, because it decides which folder kb uses")
    }
}

/// Returns the names of the environment variables that set a key, the short one first.
pub fn variable_names(key: &str) -> Vec<String> {
    let short = match key {
        "embedding.model" => Some("KB_MODEL"),
        "search.default_top" => Some("KB_DEFAULT_TOP"),
        "search.default_format" => Some("KB_DEFAULT_FORMAT"),
        _ => None,
    };
    let full = format!("KB_{}", key.to_uppercase().replace('.', "_"));
    short.map(str::to_owned).into_iter().chain([full]).collect()
}

/// Merges one typed value. Unless the key holds text, `10` is a number and `true` is a boolean.
fn merge_one(figment: Figment, defaults: &Config, key: &str, typed: &str) -> Figment {
    let is_parsed = !is_text(defaults, key) && limits::is_readable_yaml(typed);
    let parsed = Some(typed).filter(|_| is_parsed);
    let value = match parsed.and_then(|typed| yaml_serde::from_str(typed).ok()) {
        Some(yaml_serde::Value::Bool(flag)) => Value::from(flag),
        Some(yaml_serde::Value::Number(number)) if number.is_u64() => {
            Value::from(number.as_u64().unwrap_or_default())
        }
        Some(yaml_serde::Value::Number(number)) => Value::from(number.as_f64().unwrap_or_default()),
        _ => Value::from(typed),
    };
    figment.merge(Serialized::from(figment::util::nest(key, value), Profile::Default))
}

fn expand_home(path: &Path, home: &Path) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(rest) => home.join(rest),
        Err(_) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
