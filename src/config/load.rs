//! Merges the layers of settings into a [`Config`] and remembers where each value came from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use figment::providers::Serialized;
use figment::value::Value;
use figment::{Figment, Profile};

use crate::config::faults::{check, unknown_key, wrong_value};
use crate::config::yaml::{Yaml, key_text};
use crate::config::{Config, Environment, FILE_NAME};
use crate::error::{Error, Result};
use crate::files;
use crate::files::open::Links;
use crate::limits;

/// How many unknown keys are named in warnings.
const MAX_WARNINGS: usize = 10;

/// Where a setting's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// The configuration file.
    File(PathBuf),
    /// This environment variable.
    Variable(String),
    /// This flag.
    Flag(String),
}

impl Origin {
    /// Returns the layer, 0 for defaults; a value in a higher layer overrides a lower one.
    pub fn layer(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Variable(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}

/// A [`Config`] with the origin of every value.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The values.
    pub config: Config,
    /// The file that was read, or would be.
    pub file: PathBuf,
    /// Warnings for the user: one sentence per unknown key.
    pub warnings: Vec<String>,
    origins: BTreeMap<String, Origin>,
    file_keys: BTreeSet<String>,
}

impl Resolved {
    /// Returns where the value of a key comes from.
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::Default)
    }

    /// Returns the keys of [`OWN_KEYS`] that the file sets.
    pub fn own_keys(&self) -> Vec<&'static str> {
        OWN_KEYS.into_iter().filter(|key| self.file_keys.contains(*key)).collect()
    }

    /// Whether the data directory was named for this run, by a flag or a variable.
    pub fn names_data_dir(&self) -> bool {
        matches!(self.origin("data_dir"), Origin::Flag(_) | Origin::Variable(_))
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

/// Returns every key with its value, in the order of the documentation.
pub(super) fn entries(config: &Config) -> Vec<(String, SettingValue)> {
    let settings = yaml_serde::to_value(config).unwrap_or_default();
    let mut found = Vec::new();
    flatten("", &settings, &mut found);
    found.into_iter().map(|(key, value)| (key, value.into())).collect()
}

/// The value of a setting. Displayed as a user types it: text without quotes, and whole numbers
/// without `.0`.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingValue {
    /// True or false.
    Flag(bool),
    /// The value of a setting that holds only whole numbers.
    Whole(u64),
    /// The value of a setting that may have a fraction.
    Number(f64),
    /// Anything else.
    Text(String),
}

impl From<&yaml_serde::Value> for SettingValue {
    fn from(value: &yaml_serde::Value) -> Self {
        if let Some(flag) = value.as_bool() {
            Self::Flag(flag)
        } else if let Some(whole) = value.as_u64() {
            Self::Whole(whole)
        } else if let Some(number) = value.as_f64() {
            Self::Number(number)
        } else {
            Self::Text(key_text(value))
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(whole) => write!(f, "{whole}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Values given by flags: key and value as typed.
pub type Flags = Vec<(&'static str, &'static str, String)>;

/// Settings that name folders, or that decide which files may be read. They count only in the user's
/// own files.
pub const OWN_KEYS: [&str; 3] = ["data_dir", "embedding.model_dir", "ingestion.follow_links"];

/// A knowledge base with settings of its own, which override the user's settings.
#[derive(Debug, Clone, Copy)]
pub struct BaseFolder<'a> {
    /// Its folder.
    pub dir: &'a Path,
    /// Whether [`OWN_KEYS`] count in its file.
    pub is_own: bool,
}

/// Merges all layers.
///
/// `flags` holds flag name, key and value. The file is `config.yaml` in the data directory that a
/// flag or the environment names, else in the default one. A `data_dir` in the file then moves the
/// database, but not the file.
///
/// # Errors
///
/// [`Error::Config`] if the file is not YAML, or any layer has a value of the wrong type.
pub fn load(environment: &Environment, flags: &Flags) -> Result<Resolved> {
    load_layers(environment, flags, None, true)
}

/// Like [`load`] for a data directory that someone else may have made: [`OWN_KEYS`] do not count in its
/// file.
///
/// # Errors
///
/// As [`load`].
pub fn load_untrusted(environment: &Environment, flags: &Flags) -> Result<Resolved> {
    load_layers(environment, flags, None, false)
}

/// Like [`load`] for one of several knowledge bases: the settings in its folder override those in the
/// data directory.
///
/// # Errors
///
/// As [`load`].
pub fn load_base(
    environment: &Environment,
    flags: &Flags,
    base: BaseFolder<'_>,
) -> Result<Resolved> {
    load_layers(environment, flags, Some(base), true)
}

fn load_layers(
    environment: &Environment,
    flags: &Flags,
    base: Option<BaseFolder<'_>>,
    is_own: bool,
) -> Result<Resolved> {
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
    let file = base.map_or_else(|| usual.clone(), |base| base.dir.join(FILE_NAME));

    let mut origins = BTreeMap::new();
    let mut warnings = Vec::new();
    let mut file_keys = BTreeSet::new();
    let mut figment = Figment::from(Serialized::defaults(&defaults));
    let usual_refused: &[&str] = if is_own { &[] } else { &OWN_KEYS };
    let base_refused: &[&str] = match base {
        Some(BaseFolder { is_own: false, .. }) => &OWN_KEYS,
        _ => &["data_dir"],
    };
    let layers = [Some((&usual, usual_refused)), base.map(|_| (&file, base_refused))];
    for (path, refused) in layers.into_iter().flatten() {
        let Some(text) = read(path)? else { continue };
        let mut document = parse_yaml(path, &text)?;
        drop_empty_groups("", &mut document, &keys);
        for key in refused {
            if remove_key(&mut document, key) {
                warnings.push(format!(
                    "{}: `{key}` is ignored here, since it decides which folders kb uses",
                    path.display()
                ));
            }
        }
        let (mut given, mut unknown) = (Vec::new(), Vec::new());
        flatten("", &document, &mut given);
        for (key, _) in given {
            if keys.contains(&key) {
                origins.insert(key.clone(), Origin::File(path.clone()));
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
            let Some(value) =
                environment.get(&name).filter(|_| !origins_has_variable(&origins, key))
            else {
                continue;
            };
            let value = value.to_str().ok_or_else(|| Error::Config {
                path: name.clone().into(),
                message: "not UTF-8".into(),
                hint: Some(format!("set {name} to UTF-8 text, or unset it")),
            })?;
            figment = merge_one(figment, &defaults, key, value);
            origins.insert(key.clone(), Origin::Variable(name));
        }
    }
    for (flag, key, value) in flags {
        figment = merge_one(figment, &defaults, key, value);
        origins.insert((*key).to_owned(), Origin::Flag((*flag).to_owned()));
    }
    let mut config: Config =
        figment.extract().map_err(|error| wrong_value(&error, &origins, &file))?;
    config.data_dir = match base {
        Some(base) => base.dir.to_owned(),
        None => expand_home(&config.data_dir, &home),
    };
    config.embedding.model_dir = expand_home(&config.embedding.model_dir, &home);
    check(&config, &origins, &file)?;
    Ok(Resolved { config, file, warnings, origins, file_keys })
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

pub(super) fn read(file: &Path) -> Result<Option<String>> {
    let limit = u64::try_from(limits::YAML_BYTES).unwrap_or(u64::MAX);
    match files::open::read(file, Links::Follow, limit) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| Error::Config {
            path: file.to_owned(),
            message: "it is not UTF-8 text".into(),
            hint: None,
        }),
        Err(Error::PathNotFound { .. }) if file.parent().is_some_and(Path::is_file) => {
            let source = std::io::ErrorKind::NotADirectory.into();
            Err(Error::Io { path: file.to_owned(), source })
        }
        Err(Error::PathNotFound { .. }) => Ok(None),
        Err(Error::OverLimit { .. }) => Err(Error::Config {
            path: file.to_owned(),
            message: format!("it has more than {} KB", limits::YAML_BYTES >> 10),
            hint: None,
        }),
        Err(Error::NotAFile { .. }) => Err(Error::Config {
            path: file.to_owned(),
            message: "it is not a regular file".into(),
            hint: None,
        }),
        Err(error) => Err(error),
    }
}

pub(super) fn parse_yaml(file: &Path, text: &str) -> Result<yaml_serde::Value> {
    let invalid = |message: String| Error::Config { path: file.to_owned(), message, hint: None };
    if !limits::is_readable_yaml(text) {
        return Err(invalid("it is too large or nested too deeply".into()));
    }
    let value: yaml_serde::Value =
        yaml_serde::from_str(text).map_err(|error| invalid(error.to_string()))?;
    match value {
        yaml_serde::Value::Null | yaml_serde::Value::Mapping(_) => Ok(value),
        _ => Err(Error::Config {
            path: file.to_owned(),
            message: "the file must hold `key: value` lines".into(),
            hint: None,
        }),
    }
}

/// Removes empty groups, such as groups whose lines are all comments.
fn drop_empty_groups(prefix: &str, value: &mut yaml_serde::Value, keys: &[String]) {
    let Some(entries) = value.as_mapping_mut() else { return };
    entries.retain(|key, value| {
        let path = format!("{prefix}{}.", key.as_str().unwrap_or_default());
        drop_empty_groups(&path, value, keys);
        !value.is_null() || !keys.iter().any(|known| known.starts_with(&path))
    });
}

/// Removes a dotted key; `false` if it is not there.
fn remove_key(value: &mut yaml_serde::Value, key: &str) -> bool {
    let Some(entries) = value.as_mapping_mut() else { return false };
    match key.split_once('.') {
        None => entries.remove(key).is_some(),
        Some((group, rest)) => entries.get_mut(group).is_some_and(|group| remove_key(group, rest)),
    }
}

/// Lists the leaves of a YAML value by their dotted keys.
fn flatten<'a>(
    prefix: &str,
    value: &'a yaml_serde::Value,
    found: &mut Vec<(String, &'a yaml_serde::Value)>,
) {
    match value {
        yaml_serde::Value::Mapping(entries) => {
            for (key, value) in entries {
                let key = key_text(key);
                let path = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
                flatten(&path, value, found);
            }
        }
        yaml_serde::Value::Null if prefix.is_empty() => {}
        leaf => found.push((prefix.to_owned(), leaf)),
    }
}

/// Returns all keys in the order of the documentation.
pub(super) fn keys(defaults: &Config) -> Vec<String> {
    entries(defaults).into_iter().map(|(key, _)| key).collect()
}

fn origins_has_variable(origins: &BTreeMap<String, Origin>, key: &str) -> bool {
    matches!(origins.get(key), Some(Origin::Variable(_)))
}

/// Whether a key holds text, so that `10` and `true` are also text.
pub(super) fn is_text(defaults: &Config, key: &str) -> bool {
    let defaults = yaml_serde::to_value(defaults).unwrap_or_default();
    key.split('.')
        .try_fold(&defaults, |value, part| value.get(part))
        .is_some_and(|default| default.is_string())
}

/// Merges one typed value. Unless the key holds text, `10` is a number and `true` is a boolean.
fn merge_one(figment: Figment, defaults: &Config, key: &str, typed: &str) -> Figment {
    let parsed = match limits::is_readable_yaml(typed) {
        true => yaml_serde::from_str(typed).ok(),
        false => None,
    };
    let value = match parsed {
        _ if is_text(defaults, key) => Value::from(typed),
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
mod tests {
    use super::*;
    use crate::config::{DefaultFormat, PrecisionWord};

    fn environment(home: &Path, values: &[(&str, &str)]) -> Environment {
        let home = ("HOME".to_owned(), home.as_os_str().to_owned());
        values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.into()))
            .chain([home])
            .collect()
    }

    fn home_with(text: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".kb")).unwrap();
        std::fs::write(home.path().join(".kb").join(FILE_NAME), text).unwrap();
        home
    }

    #[test]
    fn an_empty_group_is_ignored() {
        let home = home_with("search:\n  # rrf_k: 10\nchunking:\n  pdf:\nocr:\n");
        let home = [("HOME".to_owned(), home.path().into())].into_iter().collect();
        let resolved = load(&home, &Vec::new()).unwrap();
        assert_eq!(resolved.config.search.default_top, 10);
        // An unknown empty group is still reported.
        assert_eq!(resolved.warnings.len(), 1);
    }

    #[test]
    fn without_settings_the_defaults_apply() {
        let home = tempfile::tempdir().unwrap();
        let resolved = load(&environment(home.path(), &[]), &Vec::new()).unwrap();
        assert_eq!(resolved.config, Config::defaults(home.path()));
        assert_eq!(*resolved.origin("search.rrf_k"), Origin::Default);
    }

    #[test]
    fn flags_override_variables_and_variables_override_the_file() {
        let home = home_with("search:\n  default_top: 3\n  rrf_k: 10\n");
        let env = environment(home.path(), &[("KB_DEFAULT_TOP", "4")]);
        let top = |flags: &Flags| load(&env, flags).unwrap().config.search.default_top;
        assert_eq!(top(&Vec::new()), 4);
        assert_eq!(top(&vec![("--top", "search.default_top", "5".into())]), 5);
        let plain = load(&environment(home.path(), &[]), &Vec::new()).unwrap();
        assert_eq!(plain.config.search.default_top, 3);
        assert!((plain.config.search.rrf_k - 10.0).abs() < 1e-9);
        assert_eq!(plain.config.search.default_format, DefaultFormat::Json);
        assert!(matches!(plain.origin("search.rrf_k"), Origin::File(_)));
    }

    #[test]
    fn every_key_has_a_variable() {
        let home = tempfile::tempdir().unwrap();
        let env = environment(
            home.path(),
            &[
                ("KB_EMBEDDING_PRECISION", "int8"),
                ("KB_CHUNKING_CODE_INCLUDE_CONTEXT", "false"),
                ("KB_MODEL", "e5"),
            ],
        );
        let config = load(&env, &Vec::new()).unwrap().config;
        assert_eq!(config.embedding.precision, PrecisionWord::Int8);
        assert!(!config.chunking.code.include_context);
        assert_eq!(config.embedding.model, "e5");
    }

    #[test]
    fn an_unknown_key_is_a_warning_with_the_nearest_one() {
        let home = home_with("search:\n  defualt_top: 3\n");
        let resolved = load(&environment(home.path(), &[]), &Vec::new()).unwrap();
        assert!(resolved.warnings[0].contains("`search.defualt_top`"));
        assert!(resolved.warnings[0].ends_with("did you mean `search.default_top`?"));
    }

    #[test]
    fn broken_yaml_is_reported_with_its_position() {
        let home = home_with("search:\n  default_top: [1\n");
        let error = load(&environment(home.path(), &[]), &Vec::new()).unwrap_err().to_string();
        assert!(error.contains("config.yaml") && error.contains("line"), "{error}");
    }

    #[test]
    fn a_wrong_value_names_its_layer() {
        let home = tempfile::tempdir().unwrap();
        let env = environment(home.path(), &[("KB_DEFAULT_TOP", "many")]);
        let error = load(&env, &Vec::new()).unwrap_err().to_string();
        assert!(
            error.contains("KB_DEFAULT_TOP") && error.contains("search.default_top"),
            "{error}"
        );
    }

    #[test]
    fn a_tilde_means_the_home_directory() {
        let home = home_with("data_dir: ~/elsewhere\n");
        let config = load(&environment(home.path(), &[]), &Vec::new()).unwrap().config;
        assert_eq!(config.data_dir, home.path().join("elsewhere"));
    }
}
