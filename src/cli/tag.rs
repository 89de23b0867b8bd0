//! Runs `kb tags` and `kb tag`.

use crate::app;
use crate::app::tag::TagRequest;
use crate::cli::args::{self, TagsAction};
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn list(context: &Context, args: &args::Tags) -> Result<ExitStatus> {
    if let Some(TagsAction::Rename(rename)) = &args.action {
        let renamed = app::tag::rename(&context.session, &rename.old, &rename.new, &context.ui)?;
        return context.present(&renamed, json::answer, Human::renamed_tag);
    }
    let tags = app::read::tags(&context.session)?;
    context.present(tags.as_slice(), |tags, out| out.value(&tags), Human::tags)
}

pub(super) fn run(context: &Context, args: &args::Tag) -> Result<ExitStatus> {
    let request = TagRequest {
        documents: context::choice(&args.documents, &args.choosing)?,
        added: args.add.clone(),
        removed: args.remove.clone(),
    };
    let tagged = app::tag::change(&context.session, &request, &context.ui)?;
    // For a single named document, the JSON keeps its earlier shape.
    let single = match (args.documents.as_slice(), tagged.documents.as_slice()) {
        ([_], [document]) => Some(document),
        _ => None,
    };
    context.present(
        &tagged,
        |tagged, out| match single {
            Some(document) => json::tagged(document, out),
            None => json::tagged_all(tagged, out),
        },
        |human, tagged, out| match single {
            Some(document) => human.tagged(document, out),
            None => human.tagged_all(tagged, out),
        },
    )
}
