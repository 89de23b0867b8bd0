//! `kb tags` and `kb tag`.

use crate::app::{self, erase, session};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::{Error, Result};
use crate::present::json;

pub(super) fn list(context: &Context, args: &args::Tags) -> Result<ExitStatus> {
    let tags = app::read::tags(&context.session)?;
    context.present(
        args.format.format,
        |out| json::tags(&tags, out),
        |human, out| human.tags(&tags, out),
    )?;
    Ok(ExitStatus::Success)
}

pub(super) fn run(context: &Context, args: &args::Tag) -> Result<ExitStatus> {
    let id = session::document_id(&args.id)?;
    let unknown = || Error::UnknownDocument { id: args.id.clone() };
    let mut store = context.session.open_existing()?.ok_or_else(unknown)?;
    if store.document(id)?.is_none() {
        return Err(unknown());
    }
    store.change_tags(id, &args.add, &args.remove)?;
    let document = store.document(id)?.ok_or_else(unknown)?;
    erase::finish(store, &context.ui)?;
    context.present(
        args.format.format,
        |out| json::tagged(&document, out),
        |human, out| human.tagged(&document, out),
    )?;
    Ok(ExitStatus::Success)
}
