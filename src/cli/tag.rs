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
        let (old, new) = (&rename.old, &rename.new);
        let renamed = app::tag::rename(&context.session, old, new, &context.ui)?;
        context.present(
            rename.format.format,
            &renamed,
            |renamed, out| json::renamed_tag(old, new, *renamed, out),
            |human, renamed, out| human.renamed_tag(old, new, *renamed, out),
        )?;
        return Ok(ExitStatus::Success);
    }
    let tags = app::read::tags(&context.session)?;
    context.present(
        args.format.format,
        tags.as_slice(),
        |tags, out| out.value(&tags),
        Human::tags,
    )?;
    Ok(ExitStatus::Success)
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
        args.format.format,
        &tagged,
        |tagged, out| match single {
            Some(document) => json::tagged(document, out),
            None => json::tagged_all(tagged, out),
        },
        |human, tagged, out| match single {
            Some(document) => human.tagged(document, out),
            None => human.tagged_all(tagged, out),
        },
    )?;
    Ok(ExitStatus::Success)
}
