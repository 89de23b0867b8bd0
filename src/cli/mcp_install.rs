//! Runs `kb mcp install`.

use std::io;
use std::io::IsTerminal;

use crate::app::clients::{self, Client, Plan, System};
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::cli::{args, streams};
use crate::config::OutputFormat;
use crate::error::{Error, Result};
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(
    context: &Context,
    base: Option<&str>,
    args: &args::McpInstall,
) -> Result<ExitStatus> {
    let session = &context.session;
    let unknown = || Error::Usage {
        message: format!("unknown program `{}`", args.client),
        hint: Some("`kb mcp install --help` lists the programs".into()),
    };
    let client = Client::named(&args.client).ok_or_else(unknown)?;
    let entry = match args.remove {
        true => None,
        false => Some(clients::entry(session, base, args.allow_write)?),
    };
    let plan = clients::plan(&session.environment, System::this(), client, entry.as_ref())?;
    if plan.changes() {
        // Programs expect nothing but an error on stderr.
        if args.format.format == OutputFormat::Human {
            let shown = streams::text_aside(|out| context.human.client_plan(&plan, out));
            shown.map_err(Error::Output)?;
        }
        if !args.yes && !ask(&plan)? {
            return Ok(ExitStatus::User);
        }
    }
    plan.apply()?;
    context.present(
        args.format.format,
        &plan,
        |plan, out| json::client_changed(plan, entry.as_ref(), out),
        Human::client_changed,
    )?;
    Ok(ExitStatus::Success)
}

fn ask(plan: &Plan) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Error::Usage {
            message: format!(
                "changing the settings of {} needs `--yes` without a terminal",
                plan.client.title
            ),
            hint: Some("nothing was changed".into()),
        });
    }
    context::confirm(&format!("Change {}?", plan.path.display()))
}
