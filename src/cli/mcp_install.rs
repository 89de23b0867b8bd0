//! Runs `kb mcp install`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::app::agents::clients::{self, Client, Settings, SettingsPlan, System};
use crate::app::session::absolute;
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::{args, streams};
use crate::config::{Environment, OutputFormat};
use crate::error::{Error, Result};
use crate::present::json;
use crate::present::text::human::HumanLayout;
use crate::text::printable::clean;
use crate::wording::{kb, wording};

pub(super) fn run(
    context: &CommandContext,
    base: Option<&str>,
    args: &args::McpInstall,
) -> Result<ExitStatus> {
    let session = &context.session;
    let Some(client) = Client::named(&args.client) else {
        return Err(Error::usage(format!("unknown program `{}`", args.client))
            .with_hint(wording!("`{}` lists the programs", kb("mcp install").flag("--help"))));
    };
    let entry = if args.remove {
        None
    } else if args.project {
        Some(clients::shared_entry(base, args.allow_write))
    } else {
        Some(clients::entry(session, base, args.allow_write)?)
    };
    let folder = absolute(Path::new("."))?;
    let settings = if args.project {
        Settings::OfProject(&folder)
    } else {
        Settings::OfUser(session.environment(), System::this())
    };
    let plan = clients::plan(client, settings, entry.as_ref(), &|program| {
        first_version(session.environment(), program)
    })?;
    if plan.changes() {
        // Programs expect nothing but an error on stderr.
        if args.format.format == OutputFormat::Human {
            let shown = streams::text_aside(|out| context.layout.client_plan(&plan, out));
            shown.map_err(Error::Output)?;
        }
        if !args.yes && !ask(&plan)? {
            return Ok(ExitStatus::User);
        }
    }
    plan.apply()?;
    context.present(
        &plan,
        |plan, out| json::client_changed(plan, entry.as_ref(), out),
        HumanLayout::client_changed,
    )
}

/// Returns the first number of the version that a program prints; `None` if it is not there or prints none.
fn first_version(environment: &Environment, program: &str) -> Option<u32> {
    let found = environment.started(program).ok()?;
    let output = Command::new(found).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let version = text.split_whitespace().last()?.trim_start_matches('v');
    version.split('.').next()?.parse().ok()
}

fn ask(plan: &SettingsPlan) -> Result<bool> {
    let what = format!("changing the settings of {}", plan.client.title);
    context::require_terminal(&what, "nothing was changed")?;
    let kept = match plan.others.kept.join(", ") {
        fields if fields.is_empty() => String::new(),
        fields => format!(" and keep {fields} of the existing entry"),
    };
    context::confirm(&format!("Change {}{}?", plan.path.display(), clean(&kept)))
}
