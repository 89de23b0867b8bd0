//! `kb init`.

use crate::app::{model, status};
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, voice};
use crate::document::Binding;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Init) -> Result<ExitStatus> {
    let binding = if args.status {
        match context.session.open_existing()? {
            Some(store) => store.binding()?,
            None => None,
        }
    } else {
        Some(install(context)?)
    };
    if !args.status {
        model::keep_selection(
            &context.session,
            args.model.as_ref(),
            args.model_dir.as_ref(),
            &context.ui,
        )?;
    }
    let setup = status::setup(&context.session, binding);
    context.present(
        args.format.format,
        |out| json::setup(&setup, out),
        |human, out| human.setup(&setup, out),
    )?;
    Ok(ExitStatus::Success)
}

/// Makes the database, fetches what is missing, prepares the model and binds the database to it.
fn install(context: &Context) -> Result<Binding> {
    let mut store = context.session.open_store()?;
    let bound = store.binding()?;
    let wish = model::select(&context.session, bound.as_ref())?;
    let installed = wish.install(&context.ui)?;
    let binding = wish.binding(&installed);
    store.bind(&binding)?;
    wish.open_for_passages(&installed, &context.ui)?.get()?;
    store.close()?;
    voice::say("Ready. `kb add DIRECTORY` comes next.");
    Ok(binding)
}
