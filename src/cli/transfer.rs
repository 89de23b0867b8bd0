//! Runs `kb export` and `kb import`.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use rayon::prelude::*;

use crate::app::session::absolute;
use crate::app::{erase, model};
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, streams, voice};
use crate::document::{Binding, Chunk};
use crate::embed::{Embedder, Side};
use crate::error::{Error, Result};
use crate::files;
use crate::files::open::Links;
use crate::files::write::Draft;
use crate::ingest::CpuBudget;
use crate::present::json;
use crate::store::{RecordedChunk, Store};
use crate::text::json::Json;
use crate::text::number::counted;
use crate::transfer::{self, BadLine, ImportOptions, Imported};

pub(super) fn export(context: &Context, args: &args::Export) -> Result<ExitStatus> {
    let database = context.session.database();
    let store = context.session.open_existing()?.ok_or(Error::PathNotFound { path: database })?;
    let exported = match &args.file {
        Some(file) => {
            let path = absolute(file)?;
            let fail = |source| Error::Io { path: path.clone(), source };
            if path.symlink_metadata().is_ok() {
                return Err(exists(&path));
            }
            let mut draft = Draft::create_own(&path).map_err(fail)?;
            let mut out = BufWriter::new(draft.file());
            let exported = write(&store, args.vectors, &mut Json::new(&mut out), &fail)?;
            out.flush().map_err(fail)?;
            drop(out);
            draft.publish_new().map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => exists(&path),
                _ => fail(error),
            })?;
            exported
        }
        None => {
            let mut exported = None;
            streams::json(|out| {
                exported = Some(write(&store, args.vectors, out, &Error::Output));
                Ok(())
            })?;
            exported.expect("it was written")?
        }
    };
    let transfer::Exported { num_documents, num_chunks } = exported;
    voice::say(&format!("Exported {num_documents} documents with {num_chunks} chunks"));
    Ok(ExitStatus::Success)
}

fn exists(path: &Path) -> Error {
    Error::Usage {
        message: format!("{} exists already", path.display()),
        hint: Some("name another file".into()),
    }
}

fn write(
    store: &Store,
    with_vectors: bool,
    out: &mut Json<'_>,
    fail: &dyn Fn(io::Error) -> Error,
) -> Result<transfer::Exported> {
    transfer::export(store, with_vectors, |line| out.written(line).map_err(fail))
}

pub(super) fn import(context: &Context, args: &args::Import) -> Result<ExitStatus> {
    let imported = if args.file.as_os_str() == "-" {
        import_from(context, args, Path::new("stdin"), &mut io::stdin().lock())?
    } else {
        let path = absolute(&args.file)?;
        let file = files::open::open(&path, Links::Follow).map_err(|error| match error {
            Error::NotAFile { path } => Error::Usage {
                message: format!("{} is not a regular file", path.display()),
                hint: Some("`kb import -` reads standard input".into()),
            },
            other => other,
        })?;
        import_from(context, args, &path, &mut BufReader::new(file))?
    };
    tell_left_out(&imported);
    context.present(
        args.format.format,
        |out| json::imported(&imported, out),
        |human, out| human.imported(&imported, out),
    )?;
    let is_lost = imported.num_failed > 0 && imported.num_documents + imported.num_skipped == 0;
    Ok(if is_lost { ExitStatus::User } else { ExitStatus::Success })
}

/// Says what was left out because nobody said that the paths are to be trusted.
fn tell_left_out(imported: &Imported) {
    let (documents, folders) = (imported.num_without_file, imported.num_folders_left_out);
    if documents + folders > 0 {
        voice::say(&format!(
            "Left out the files of {} and {}: `--trust-paths` takes the paths over",
            counted(documents, "document"),
            counted(folders, "folder"),
        ));
    }
}

fn import_from(
    context: &Context,
    args: &args::Import,
    name: &Path,
    input: &mut impl BufRead,
) -> Result<Imported> {
    let head = transfer::head(input, name)?;
    let given = &head.binding;
    let mut store = context.session.open_store()?;
    // A database that has no model yet takes that of the export, unless the settings name another.
    let target = match (store.binding()?, given) {
        (Some(bound), _) => {
            if args.model.is_some() {
                model::check_selection(&context.session, Some(&bound))?;
            }
            bound
        }
        (None, Some(given)) if model::check_selection(&context.session, Some(given)).is_ok() => {
            model::check_adoptable(&context.session, given)?;
            given.clone()
        }
        (None, _) => {
            let wish = model::select(&context.session, None)?;
            wish.binding(&wish.locate_or_install(&context.ui)?)
        }
    };
    check_length(given.as_ref(), &target)?;
    store.bind(&target)?;
    let mut embedder: Option<Box<dyn Embedder>> = None;
    let options = ImportOptions {
        trusts_paths: args.trust_paths,
        are_vectors_good: given.as_ref() == Some(&target),
    };
    let max_cpu = Duration::from_secs(context.config().ingestion.max_cpu_seconds.into());
    let mut embed = |chunks: &[RecordedChunk]| -> Result<Vec<Vec<f32>>> {
        if embedder.is_none() {
            let wish = model::select(&context.session, Some(&target))?;
            let installed = wish.locate_or_install(&context.ui)?;
            embedder = Some(Box::new(wish.open_for_passages(&installed, &context.ui)?));
        }
        let embedder = embedder.as_deref().expect("it was just opened");
        model::check_binding(&target, embedder.binding())?;
        let budget = CpuBudget::new(max_cpu);
        let embed_one = |chunk: &RecordedChunk| {
            budget.check()?;
            let passage = Chunk::passage(&chunk.context, &chunk.text);
            match budget.spend(|| embedder.embed_cut(&passage, Side::Passage))? {
                (vector, false) => Ok(vector),
                (_, true) => Err(Error::Usage {
                    message: format!("chunk {} is longer than the model reads", chunk.id),
                    hint: None,
                }),
            }
        };
        // One chunk per job: a few long ones must not wait for each other.
        chunks.par_iter().with_max_len(1).map(embed_one).collect()
    };
    let mut report = |failed: &BadLine| {
        let BadLine { number, reason } = failed;
        voice::say(&format!("failed: {}, line {number}: {reason}", name.display()));
    };
    let mut imported =
        transfer::import(&mut store, input, name, &head, options, &mut embed, &mut report)?;
    if args.trust_paths {
        // Last, so that an update after an interruption does not read what was still to come.
        head.roots.iter().try_for_each(|root| store.remember_root(root))?;
    } else {
        imported.num_folders_left_out = head.roots.len();
    }
    erase::finish(store, &context.ui)?;
    Ok(imported)
}

/// Refuses passages that the model could only read in part.
fn check_length(given: Option<&Binding>, target: &Binding) -> Result<()> {
    match given {
        Some(given) if given.max_tokens > target.max_tokens => Err(Error::Usage {
            message: format!(
                "passages of the export have up to {} tokens; the model of this database, {}, reads {}",
                given.max_tokens, target.model_name, target.max_tokens
            ),
            hint: Some("import into a new data directory, or add the files themselves".into()),
        }),
        _ => Ok(()),
    }
}
