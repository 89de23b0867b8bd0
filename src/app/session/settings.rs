//! Lists the settings and changes the settings file.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::{Observer, Session};
use crate::config::{self, SettingOrigin};
use crate::error::{Error, Result};
use crate::files::private::create_folder;
use crate::files::write;
use crate::wording::{kb, wording};

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
    let resolved = session.resolved();
    let settings = resolved.entries().into_iter().map(|(key, typed_value)| {
        let origin = match resolved.origin(&key) {
            SettingOrigin::Default => "default".into(),
            SettingOrigin::File(file) => file.display().to_string(),
            SettingOrigin::Variable(name) | SettingOrigin::Flag(name) => name.clone(),
        };
        Setting { key, value: typed_value.to_string(), typed_value, origin }
    });
    settings.collect()
}

/// The setting that decides what `kb search` prints.
const FORMAT: &str = "search.default_format";

/// Whether a user's settings are still all defaults, so that [`answer_people`] may begin their file. That of a project
/// is for everyone who has it.
pub fn are_new(session: &Session) -> bool {
    let file = &session.resolved().file;
    let is_there = file.exists() || file.is_symlink();
    let is_of_project = file.parent().is_some_and(|dir| session.environment().is_of_project(dir));
    !is_there && !is_of_project && *session.resolved().origin(FORMAT) == SettingOrigin::Default
}

/// Lets searches print text for people on a terminal from now on, for someone who sets kb up at one.
pub fn answer_people(session: &Session, observer: &dyn Observer) -> Result<()> {
    write_one(session, FORMAT, "auto")?;
    observer.info(wording!(
        "`{}` prints text on a terminal and JSON elsewhere, because {} is auto in {}",
        kb("search"),
        FORMAT,
        session.resolved().file.display().to_string()
    ));
    Ok(())
}

/// Writes one setting to the file, which may be a link, and warns if something overrides it.
pub fn set(session: &Session, key: &str, value: &str, observer: &dyn Observer) -> Result<()> {
    let file = &session.resolved().file;
    let state = if write_one(session, key, value)? { "is now" } else { "is already" };
    let value = if value.is_empty() { "empty" } else { value };
    observer.info(format!("{key} {state} {value} in {}", file.display()));
    if config::is_own_key(key)
        && file.parent().is_some_and(|dir| session.environment().is_of_project(dir))
    {
        observer.warn(wording!(
            "{} has no effect in the settings of a project; `{}` sets it for you",
            key,
            kb("--base default config set").arg(key).arg("VALUE")
        ));
    }
    if let SettingOrigin::Variable(name) = session.resolved().origin(key) {
        observer.warn(format!("{name} is set and overrides the file"));
    }
    Ok(())
}

/// Writes one setting to the file; returns `false` if the file already has the value.
fn write_one(session: &Session, key: &str, value: &str) -> Result<bool> {
    let file = &session.resolved().file;
    let Some(text) = config::set(file, key, value, session.environment())? else {
        return Ok(false);
    };
    if let Some(dir) = file.parent() {
        create_folder(dir).map_err(|source| Error::of_file(dir, source))?;
    }
    write::replace(file, text.as_bytes()).map_err(|source| Error::of_file(file, source))?;
    Ok(true)
}
