//! Runs `kb base`.

use crate::app::Observer;
use crate::app::maintenance::allow::{self, AllowableBase};
use crate::app::session::bases::{self, BaseChange};
use crate::cli::args::{self, BaseAction};
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::streams;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::HumanLayout;
use crate::text::number::counted;
use crate::wording::{kb, wording};

pub(super) fn run(context: &CommandContext, args: &args::BaseArgs) -> Result<ExitStatus> {
    let session = &context.session;
    let change = match &args.action {
        BaseAction::List(_) => {
            let listed = bases::list(session)?;
            return context.present(listed.as_slice(), json::bases, HumanLayout::bases);
        }
        BaseAction::Add(args) => {
            let description = args.description.as_deref();
            let (place, is_made) = bases::add(session, &args.name, description)?;
            BaseChange::new(if is_made { "made" } else { "listed" }, place)
        }
        BaseAction::Remove(args) if args.erase => {
            if !args.yes && !ask_to_erase(&args.name)? {
                return Ok(ExitStatus::User);
            }
            BaseChange::new("erased", bases::erase(session, &args.name)?)
        }
        BaseAction::Remove(args) => {
            let place = bases::forget(session, &args.name)?;
            let ui: &dyn Observer = &context.ui;
            ui.info(wording!(
                "its files are still in {}; `{}` lists it again",
                place.dir.display().to_string(),
                kb("base add").arg(args.name.as_str())
            ));
            BaseChange::new("removed", place)
        }
        BaseAction::Rename(args) => {
            BaseChange::new("renamed", bases::rename(session, &args.name, &args.new_name)?)
        }
        BaseAction::Allow(args) => {
            let candidate = allow::candidate(session, args.dir.as_deref(), &context.ui)?;
            if !args.yes {
                require_terminal("allowing a knowledge base")?;
            }
            let will = if args.files { "followed from now on" } else { "not followed" };
            let follows_more = show(context, &candidate, will);
            if !args.yes && !ask_to_allow(&candidate, args.files && follows_more)? {
                return Ok(ExitStatus::User);
            }
            let follows_files = Some(allow::allow(session, &candidate, args.files)?);
            BaseChange { follows_files, ..BaseChange::new("allowed", candidate.place) }
        }
    };
    context.present(&change, json::answer, HumanLayout::base_changed)
}

/// Asks on a terminal whether `kb update` follows the folders and files that the database names and that the user
/// has neither named nor allowed. Without a terminal, or after a no, nothing changes, and the update names them.
pub(super) fn offer_unfollowed(context: &CommandContext) -> Result<()> {
    let session = &context.session;
    if !streams::is_stdin_terminal() {
        return Ok(());
    }
    // Opening the database once takes over the paths that an older version followed.
    let Some(store) = session.open_existing()? else { return Ok(()) };
    store.close()?;
    let candidate = allow::candidate(session, Some(session.data_dir()), &context.ui)?;
    if show(context, &candidate, "not followed so far") && ask_to_allow(&candidate, true)? {
        allow::allow(session, &candidate, true)?;
    }
    Ok(())
}

/// Lists the paths that the database adds to the followed ones, and what happens to them. Returns whether there are
/// any.
fn show(context: &CommandContext, candidate: &AllowableBase, will: &str) -> bool {
    let lines = candidate.lines();
    let ui: &dyn Observer = &context.ui;
    lines.iter().for_each(|line| ui.info(format!("{will}: {line}")));
    !lines.is_empty()
}

fn ask_to_erase(name: &str) -> Result<bool> {
    require_terminal("deleting a knowledge base")?;
    context::confirm(&format!("Delete the knowledge base {name} with everything in it?"))
}

fn ask_to_allow(candidate: &AllowableBase, follows_more: bool) -> Result<bool> {
    let documents = counted(candidate.num_documents, "document");
    let database = candidate.place.database();
    let what = if follows_more {
        "Use it, and read the files and folders listed above?"
    } else {
        "Use it?"
    };
    context::confirm(&format!("{} has {documents}. {what}", database.display()))
}

fn require_terminal(what: &str) -> Result<()> {
    context::require_terminal(what, wording!("`{}` shows all knowledge bases", kb("base list")))
}
