//! Runs `kb why`.

use crate::app;
use crate::app::search::SearchRequest;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, search};
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Why) -> Result<ExitStatus> {
    let request = SearchRequest { query: args.query.clone(), ..search::request(&args.how)? };
    let why = app::search::why(&context.session, &request, &args.document, &context.ui)?;
    context.present(&why, json::why, Human::why)
}
