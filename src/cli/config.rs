//! Shows the settings and changes them (`kb config`).

use crate::app::settings;
use crate::cli::args::{self, ConfigAction};
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::config::Origin;
use crate::error::Result;
use crate::present::{Setting, json};

pub(super) fn run(context: &Context, args: &args::ConfigArgs) -> Result<ExitStatus> {
    match &args.action {
        Some(ConfigAction::Set { key, value }) => {
            settings::set(&context.session, key, value, &context.ui)?;
        }
        None => {
            let settings: Vec<Setting> = context
                .session
                .resolved
                .entries()
                .into_iter()
                .map(|(key, value)| {
                    let origin = origin(context.session.resolved.origin(&key));
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

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".into(),
        Origin::File(file) => file.display().to_string(),
        Origin::Variable(name) | Origin::Flag(name) => name.clone(),
    }
}
