//! Runs `kb eval`.

use crate::app::eval::{self, CollectionRequest};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Eval) -> Result<ExitStatus> {
    let (session, max_queries) = (&context.session, args.queries as usize);
    let measured = match &args.folder {
        None => eval::own_documents(session, max_queries, &context.ui)?,
        Some(folder) => {
            let request = CollectionRequest {
                folder: folder.clone(),
                work: args.work.clone(),
                extension: args.extension.clone(),
                max_queries,
            };
            let interrupt = context.ui.listen();
            vec![ended(eval::collection(session, &request, &context.ui), &interrupt)?]
        }
    };
    context.present(measured.as_slice(), json::eval, Human::eval)
}
