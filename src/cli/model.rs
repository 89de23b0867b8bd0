//! Runs `kb model list`.

use crate::app::models;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn list(context: &Context) -> Result<ExitStatus> {
    context.present(&models::list(&context.session)?, json::answer, Human::models)
}
