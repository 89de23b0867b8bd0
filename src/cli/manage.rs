//! Runs the commands that set up, look after and copy a knowledge base.

use std::io;

use crate::app::indexing::relocate::RelocateRequest;
use crate::app::indexing::watch::WatchRequest;
use crate::app::maintenance::cache::{self, CacheCleaning, CleanRequest};
use crate::app::maintenance::doctor::{self, CheckVerdict};
use crate::app::maintenance::transfer::{
    self, ExportFile, ExportRequest, ImportReport, ImportRequest, ImportSource,
};
use crate::app::maintenance::{backup, init, models, status};
use crate::app::query::choose::SelectionCriteria;
use crate::app::query::eval::{self, CollectionRequest, EvalReport};
use crate::app::session::settings;
use crate::app::{self, Observer, session};
use crate::cli::args::{self, CacheAction, ConfigAction};
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::cli::{messages, streams};
use crate::error::{Error, Result};
use crate::present::json;
use crate::present::text::human::HumanLayout;
use crate::text::number::counted;
use crate::wording::{kb, wording};

pub(super) fn init(context: &CommandContext, args: &args::InitArgs) -> Result<ExitStatus> {
    // This is asked first, because the named model is kept in the same file, which is not new then.
    let is_person = streams::is_stdout_terminal() && settings::are_new(&context.session);
    let setup = if args.status {
        status::setup(&context.session)?
    } else {
        let setup = init::init(&context.session, &context.ui);
        if is_person {
            // People are asked even if the model cannot be fetched: words are searched without it.
            settings::answer_people(&context.session, &context.ui)?;
        }
        setup?
    };
    context.present(&setup, json::setup, HumanLayout::setup)
}

pub(super) fn status(context: &CommandContext, args: &args::StatusArgs) -> Result<ExitStatus> {
    let status = app::maintenance::status::status(&context.session)?;
    let scan = if args.scan { app::maintenance::status::scan(&context.session)? } else { None };
    context.present(
        &status,
        |status, out| json::status(status, scan.as_ref(), out),
        |layout, status, out| {
            layout.status(status, out)?;
            scan.as_ref().map_or(Ok(()), |scan| layout.scan(scan, out))
        },
    )
}

pub(super) fn config(context: &CommandContext, args: &args::ConfigArgs) -> Result<ExitStatus> {
    if let Some(ConfigAction::Set { key, value }) = &args.action {
        settings::set(&context.session, key, value, &context.ui)?;
        return Ok(ExitStatus::Success);
    }
    let settings = settings::all(&context.session);
    context.present(
        settings.as_slice(),
        |settings, out| out.value(&settings),
        HumanLayout::settings,
    )
}

pub(super) fn doctor(context: &CommandContext, args: &args::DoctorArgs) -> Result<ExitStatus> {
    let mut findings = doctor::examine(&context.session, args.fix, &context.ui)?;
    if args.links {
        doctor::links(&context.session, &mut findings)?;
    }
    context.present(&findings, json::doctor, HumanLayout::doctor)?;
    Ok(match (findings.count(CheckVerdict::Fault), findings.is_beyond_repair) {
        (_, true) => ExitStatus::System,
        (0, false) => ExitStatus::Success,
        (_, false) => ExitStatus::User,
    })
}

pub(super) fn cache(context: &CommandContext, args: &args::CacheArgs) -> Result<ExitStatus> {
    let Some(CacheAction::Clean(args)) = &args.action else {
        let contents = cache::contents(&context.session)?;
        return context.present(&contents, json::answer, HumanLayout::cache);
    };
    let request = CleanRequest { removes_all: args.all, is_dry_run: args.dry_run };
    let outcome = cache::clean(&context.session, request, &|cleaned| {
        Ok(args.yes || confirm_cleaning(cleaned)?)
    })?;
    let Some(cleaned) = outcome else { return Ok(ExitStatus::User) };
    context.present(&cleaned, json::answer, HumanLayout::cleaned)
}

fn confirm_cleaning(cleaned: &CacheCleaning) -> Result<bool> {
    let list = kb("cache clean").flag("--dry-run");
    let hint = wording!("`{}` lists what would be removed", list);
    context::require_terminal("cleaning the cache", hint)?;
    let count = cleaned.removed.len();
    context::confirm(&format!(
        "Remove {count} of {} parts? Other data directories that use them will have to download or rebuild them.",
        count + cleaned.kept.len()
    ))
}

pub(super) fn reindex(context: &CommandContext, args: &args::ReindexArgs) -> Result<ExitStatus> {
    if args.dry_run {
        let estimate = app::indexing::reindex::estimate(&context.session, &context.ui)?;
        return context.present(&estimate, json::answer, HumanLayout::reindex_estimate);
    }
    let interrupt = context.ui.listen();
    let outcome = app::indexing::reindex::reindex(&context.session, &context.ui);
    let reindexed = ended(outcome, &interrupt)?;
    context.present(&reindexed, json::answer, HumanLayout::reindexed)
}

pub(super) fn models(context: &CommandContext, _: &args::ModelArgs) -> Result<ExitStatus> {
    context.present(&models::list(&context.session)?, json::answer, HumanLayout::models)
}

pub(super) fn eval(context: &CommandContext, args: &args::EvalArgs) -> Result<ExitStatus> {
    let (session, max_queries) = (&context.session, args.queries as usize);
    let collections = match &args.folder {
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
    context.present(&EvalReport { collections }, json::answer, HumanLayout::eval)
}

pub(super) fn watch(context: &CommandContext, args: &args::WatchArgs) -> Result<ExitStatus> {
    let named = args.roots.iter().map(|path| session::typed(path)).collect::<Result<Vec<_>>>()?;
    // A signal is the ordinary end of a watch.
    let _interrupt = context.ui.listen();
    let (is_ended, has_summaries) = (context.ui.cancel_flag(), args.summary);
    let request = WatchRequest { named, has_summaries, is_ended };
    app::indexing::watch::watch(&context.session, &request, &context.ui)?;
    Ok(ExitStatus::Success)
}

pub(super) fn relocate(context: &CommandContext, args: &args::RelocateArgs) -> Result<ExitStatus> {
    let request = RelocateRequest {
        from: args.from.clone(),
        to: args.to.clone(),
        is_forced: args.force,
        is_dry_run: args.dry_run,
    };
    let relocated = app::indexing::relocate::relocate(&context.session, &request, &context.ui)?;
    context.present(&relocated, json::answer, HumanLayout::relocated)
}

pub(super) fn push(context: &CommandContext, args: &args::PushArgs) -> Result<ExitStatus> {
    let interrupt = context.ui.listen();
    let pushed =
        ended(app::query::push::push(&context.session, &args.target, &context.ui), &interrupt)?;
    context.present(&pushed, json::answer, HumanLayout::pushed)
}

pub(super) fn backup(context: &CommandContext, args: &args::BackupArgs) -> Result<ExitStatus> {
    let backup = if args.verify {
        backup::verify(&context.session, &args.file)?
    } else {
        backup::create(&context.session, &args.file, args.force)?
    };
    context.present(&backup, json::answer, |layout, backup, out| {
        layout.backup(backup, args.verify, out)
    })
}

pub(super) fn restore(context: &CommandContext, args: &args::RestoreArgs) -> Result<ExitStatus> {
    let restored = backup::restore(&context.session, &args.file)?;
    context.present(&restored, json::answer, HumanLayout::restored)
}

pub(super) fn export(context: &CommandContext, args: &args::ExportArgs) -> Result<ExitStatus> {
    let session = &context.session;
    let criteria = context::criteria(&args.criteria)?;
    let request = ExportRequest {
        with_vectors: args.vectors,
        criteria: (criteria != SelectionCriteria::default()).then_some(criteria),
    };
    let file = args.file.as_deref().filter(|file| file.as_os_str() != "-");
    let exported = match file {
        Some(file) => {
            let file = ExportFile { path: file.to_owned(), is_replacing: args.force };
            transfer::export_to_file(session, &request, &file, &context.ui)?
        }
        None => {
            let mut exported = None;
            streams::json(|out| {
                exported = Some(transfer::export(session, &request, &context.ui, |line| {
                    out.written(line).map_err(Error::Output)
                }));
                Ok(())
            })?;
            exported.expect("the closure has run")?
        }
    };
    messages::info(format!(
        "Exported {} with {}.",
        counted(exported.num_documents, "document"),
        counted(exported.num_chunks, "chunk")
    ));
    if !args.vectors && exported.has_vectors && exported.num_chunks > 0 {
        let vectors = counted(exported.num_chunks, "vector");
        messages::info(wording!(
            "`{}` will compute {} again, which takes as long as `{}`; `--vectors` exports them",
            kb("import"),
            vectors,
            kb("reindex")
        ));
    }
    Ok(ExitStatus::Success)
}

pub(super) fn import(context: &CommandContext, args: &args::ImportArgs) -> Result<ExitStatus> {
    let mut stdin;
    let source = if args.file.as_os_str() == "-" {
        stdin = io::stdin().lock();
        ImportSource::Stream(&mut stdin, "stdin")
    } else {
        ImportSource::File(&args.file)
    };
    let request = ImportRequest { source, trusts_paths: args.trust_paths };
    let imported = transfer::import(&context.session, request, &context.ui)?;
    report_left_out(&imported);
    context.present(&imported, json::answer, HumanLayout::imported)?;
    Ok(if imported.is_lost() { ExitStatus::User } else { ExitStatus::Success })
}

/// Reports the paths that were left out because they are not trusted.
fn report_left_out(imported: &ImportReport) {
    let (documents, folders) = (imported.num_without_file, imported.num_folders_left_out);
    if documents + folders > 0 {
        messages::info(wording!(
            "Left out the paths of {} and {}; `--trust-paths` imports them. Until then, `{}` and `{}` cannot find their \
             files",
            counted(documents, "document"),
            counted(folders, "folder"),
            kb("open"),
            kb("update")
        ));
    }
}
