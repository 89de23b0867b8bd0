//! Shows the settings and changes them (`kb config`).

use crate::cli::args::ConfigAction;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, context, voice};
use crate::config;
use crate::config::Origin;
use crate::error::{Error, Result};
use crate::files::write;
use crate::present::{Setting, json};

pub(super) fn run(context: &Context, args: &args::ConfigArgs) -> Result<ExitStatus> {
    match &args.action {
        Some(ConfigAction::Set { key, value }) => set(context, key, value)?,
        None => {
            let settings: Vec<Setting> = context
                .resolved
                .entries()
                .into_iter()
                .map(|(key, value)| {
                    let origin = origin(context.resolved.origin(&key));
                    Setting { key, value, origin }
                })
                .collect();
            context.present(
                args.format.format,
                |out| json::settings(&settings, out),
                |human, out| human.settings(&settings, out),
            )?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Writes one setting to the file, also through a link, and warns where something overrides it.
pub(super) fn set(context: &Context, key: &str, value: &str) -> Result<()> {
    let file = &context.resolved.file;
    let text = config::set(file, key, value, &context.environment)?;
    if let Some(dir) = file.parent() {
        context::make_private_dir(dir)?;
    }
    write::replace(file, text.as_bytes())
        .map_err(|source| Error::Io { path: file.clone(), source })?;
    voice::say(&format!("{key} is now {value} in {}", file.display()));
    if let Origin::Variable(name) = context.resolved.origin(key) {
        voice::warn(&format!("{name} is set and goes before the file"));
    }
    Ok(())
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".into(),
        Origin::File(file) => file.display().to_string(),
        Origin::Variable(name) | Origin::Flag(name) => name.clone(),
    }
}
