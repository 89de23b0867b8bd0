//! Runs `kb init`.

use crate::app::{init, status};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Init) -> Result<ExitStatus> {
    let setup = match args.status {
        true => status::setup(&context.session)?,
        false => init::init(&context.session, &context.ui)?,
    };
    context.present(&setup, json::setup, Human::setup)
}
