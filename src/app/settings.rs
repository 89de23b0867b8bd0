//! Lists the settings and changes the settings file.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::{Observer, Session};
use crate::config::{self, Origin};
use crate::error::{Error, Result};
use crate::files::private::create_folder;
use crate::files::write;

pub use crate::config::SettingValue;

/// A setting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// Dotted name, as `kb config set` takes it.
    pub key: String,
    /// Its value as text, without quotes.
    pub value: String,
    /// Its value with its type.
    pub typed_value: SettingValue,
    /// The origin of the value: `default`, a file, a variable or a flag.
    pub origin: String,
}

/// Returns every setting.
pub fn all(session: &Session) -> Vec<Setting> {
    let resolved = &session.resolved;
    let setting = |(key, typed_value): (String, SettingValue)| {
        let origin = match resolved.origin(&key) {
            Origin::Default => "default".into(),
            Origin::File(file) => file.display().to_string(),
            Origin::Variable(name) | Origin::Flag(name) => name.clone(),
        };
        Setting { key, value: typed_value.to_string(), typed_value, origin }
    };
    resolved.entries().into_iter().map(setting).collect()
}

/// Writes one setting to the file, which may be a link, and warns if something overrides it.
pub fn set(session: &Session, key: &str, value: &str, observer: &dyn Observer) -> Result<()> {
    let file = &session.resolved.file;
    let text = config::set(file, key, value, &session.environment)?;
    if let Some(text) = &text {
        if let Some(dir) = file.parent() {
            create_folder(dir).map_err(|source| Error::of_file(dir, source))?;
        }
        write::replace(file, text.as_bytes()).map_err(|source| Error::of_file(file, source))?;
    }
    let state = if text.is_some() { "is now" } else { "is already" };
    let value = if value.is_empty() { "empty" } else { value };
    observer.note(&format!("{key} {state} {value} in {}", file.display()));
    if config::is_own_key(key)
        && file.parent().is_some_and(|dir| session.environment.is_of_project(dir))
    {
        observer.warn(&format!(
            "{key} does not count in the settings of a project; `kb --base default config set {key} VALUE` \
             sets it for you"
        ));
    }
    if let Origin::Variable(name) = session.resolved.origin(key) {
        observer.warn(&format!("{name} is set and overrides the file"));
    }
    Ok(())
}
