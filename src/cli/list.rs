//! Runs `kb list`.

use crate::app;
use crate::app::read::ListRequest;
use crate::cli::args;
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::document::Filter;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::List) -> Result<ExitStatus> {
    let filter = context::filter(&args.filter)?;
    let is_filtered = filter != Filter::default();
    let request =
        ListRequest { filter, sort: args.sort, is_reversed: args.reverse, limit: args.limit };
    let documents = app::read::list(&context.session, &request, &context.ui)?;
    context.present(documents.as_slice(), json::list, |human, documents, out| {
        human.list(documents, is_filtered, out)
    })
}
