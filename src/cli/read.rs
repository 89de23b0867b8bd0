//! Runs the commands that list documents and files, and that read one.

use crate::app;
use crate::app::maintenance::transfer::{self, ExportFile};
use crate::app::query::files::{FileState, FilesRequest};
use crate::app::query::read::{ListRequest, OpenRequest, PartSelection, ShowRequest, TextOrigin};
use crate::app::query::search::SearchRequest;
use crate::app::session::absent;
use crate::cli::args::{self, SelectionArgs, ShowFormat};
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::launch::{self, LaunchTarget};
use crate::cli::{messages, search};
use crate::config::OutputFormat;
use crate::document::{FileOutcome, Filter, LineRange};
use crate::error::Result;
use crate::present::json::{self, read as read_json};
use crate::present::text::human::HumanLayout;
use crate::present::text::{read as read_text, stale};
use crate::wording::Wording;

pub(super) fn list(context: &CommandContext, args: &args::ListArgs) -> Result<ExitStatus> {
    let filter = context::filter(&args.filter)?;
    let is_filtered = filter != Filter::default();
    let request =
        ListRequest { filter, sort: args.sort, is_reversed: args.reverse, limit: args.limit };
    let documents = app::query::read::list(&context.session, &request, &context.ui)?;
    let is_filtered = is_filtered && !is_nothing(context, documents.is_empty())?;
    context.present(documents.as_slice(), json::list, |layout, documents, out| {
        layout.list(documents, is_filtered, out)
    })
}

pub(super) fn files(context: &CommandContext, args: &args::FilesArgs) -> Result<ExitStatus> {
    if !args.waive.is_empty() {
        let waived = app::query::files::waive(&context.session, &args.waive)?;
        return context.present(waived.as_slice(), json::waived, HumanLayout::waived);
    }
    let states = [
        (args.indexed, FileState::Indexed),
        (args.ignored, FileState::NotIndexed(FileOutcome::Ignored)),
        (args.failed, FileState::NotIndexed(FileOutcome::Failed)),
        (args.waived, FileState::NotIndexed(FileOutcome::Waived)),
    ];
    let state = states.into_iter().find(|(is_wanted, _)| *is_wanted).map(|(_, state)| state);
    let request = FilesRequest { state, is_lossy: args.quality, path: args.path.clone() };
    let files = app::query::files::list(&context.session, &request)?;
    let is_nothing = files.files.is_empty() && has_no_files(context)?;
    context.present(&files, json::answer, |layout, files, out| {
        if is_nothing { layout.nothing_added(out) } else { layout.files(files, &request, out) }
    })
}

/// Whether there is neither a document nor a file in any state.
fn has_no_files(context: &CommandContext) -> Result<bool> {
    let files = app::query::files::list(&context.session, &FilesRequest::default())?;
    is_nothing(context, files.files.is_empty())
}

/// Whether an empty list means that there are no documents.
pub(super) fn is_nothing(context: &CommandContext, is_list_empty: bool) -> Result<bool> {
    Ok(is_list_empty && absent::is_empty(&context.session)?)
}

pub(super) fn info(context: &CommandContext, args: &args::InfoArgs) -> Result<ExitStatus> {
    let info = app::query::read::info(&context.session, &args.id)?;
    context.present(&info, json::info, HumanLayout::info)
}

pub(super) fn why(context: &CommandContext, args: &args::WhyArgs) -> Result<ExitStatus> {
    let request = SearchRequest { query: args.query.clone(), ..search::request(&args.how)? };
    let why = app::query::search::why(&context.session, &request, &args.document, &context.ui)?;
    context.present(&why, json::why, HumanLayout::why)
}

pub(super) fn outline(context: &CommandContext, args: &args::OutlineArgs) -> Result<ExitStatus> {
    let outline = app::query::read::outline(&context.session, &args.document, None, args.level)?;
    context.present(&outline, read_json::outline, |layout, outline, out| {
        let path = outline.document.path.as_deref().map(|path| layout.path(path));
        read_text::outline(outline, &layout.base_mark(None), path.as_deref(), out)
    })
}

pub(super) fn show(context: &CommandContext, args: &args::ShowArgs) -> Result<ExitStatus> {
    let request = ShowRequest {
        document: args.document.clone(),
        within: None,
        selection: selection(&args.selection, args.around),
        max_lines: args.max_lines,
    };
    if let Some(file) = &args.image {
        let drawn = app::query::read::picture(&context.session, &request, args.mark.as_deref())?;
        let file = ExportFile { path: file.clone(), is_replacing: args.force };
        transfer::write_bytes(&file, &drawn.picture.png)?;
        return context
            .present(&drawn, read_json::picture, |_, drawn, out| read_text::picture(drawn, out));
    }
    let shown = app::query::read::show(&context.session, &request)?;
    if shown.num_matches > 1 {
        messages::warn(format!("{} parts have this name; showing the first", shown.num_matches));
    }
    if let Some(stale) = shown.stale.filter(|_| args.format != ShowFormat::Json) {
        messages::warn(Wording::from("the file ").then(stale::advice_for(stale)));
    }
    match args.format {
        ShowFormat::Json => context::print_json(|out| read_json::show(&shown, out)),
        ShowFormat::Human => context.show(|_, out| read_text::show(&shown, out)),
        ShowFormat::Md => context.show_bytes(read_text::markdown(&shown).as_bytes()),
    }?;
    Ok(ExitStatus::Success)
}

pub(super) fn open(context: &CommandContext, args: &args::OpenArgs) -> Result<ExitStatus> {
    if args.editor {
        let path = app::query::read::file(&context.session, &args.document, None)?;
        let (line, page) = (args.lines.map(LineRange::first), args.page);
        launch::open(context, LaunchTarget { path: &path, line, page })?;
        return Ok(ExitStatus::Success);
    }
    let opened = app::query::read::open(
        &context.session,
        &OpenRequest {
            document: args.document.clone(),
            lines: args.lines,
            max_lines: args.max_lines,
        },
    )?;
    match (opened.origin, opened.has_changed, &opened.file_error) {
        (_, Some(true), _) => messages::warn("the file has changed since it was added"),
        (TextOrigin::Database, None, Some(error)) => {
            messages::warn(format!("{error}; showing the text from the database"));
        }
        _ => {}
    }
    match args.format.format {
        OutputFormat::Json => context::print_json(|out| read_json::open(&opened, out)),
        OutputFormat::Human => context.show_bytes(&read_text::open(&opened)),
    }?;
    Ok(ExitStatus::Success)
}

fn selection(args: &SelectionArgs, around: u32) -> PartSelection {
    if let Some(heading) = &args.section {
        PartSelection::Section(heading.clone())
    } else if let Some(name) = &args.symbol {
        PartSelection::Symbol(name.clone())
    } else if let Some(pages) = args.page {
        PartSelection::Pages(pages)
    } else if let Some(id) = args.chunk {
        PartSelection::Chunk(id, around)
    } else {
        PartSelection::Whole
    }
}
