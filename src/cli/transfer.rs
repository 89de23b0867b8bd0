//! `kb export` and `kb import`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter};
use std::path::Path;

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, context, cores, model, streams, voice};
use crate::document::{Binding, Chunk};
use crate::embed::{Embedder, Side};
use crate::error::{Error, Result};
use crate::present::json;
use crate::store::{RecordedChunk, Store};
use crate::text::json::Json;
use crate::transfer;

pub(super) fn export(context: &Context, args: &args::Export) -> Result<ExitStatus> {
    let database = context.database();
    let store = context.open_existing()?.ok_or(Error::PathNotFound { path: database })?;
    let exported = match &args.file {
        Some(file) => {
            let path = context::absolute(file)?;
            let fail = |source| Error::Io { path: path.clone(), source };
            let mut out = BufWriter::new(create_new(&path)?);
            let exported = write(&store, args.vectors, &mut Json::new(&mut out), &fail)?;
            out.into_inner().map_err(|it| fail(it.into_error()))?.sync_all().map_err(fail)?;
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

/// Makes a file that only its owner can read, like the database, and that was not there.
fn create_new(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::Usage {
            message: format!("{} exists already", path.display()),
            hint: Some("name another file".into()),
        },
        _ => Error::Io { path: path.to_owned(), source },
    })
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
        import_from(context, Path::new("stdin"), &mut io::stdin().lock())?
    } else {
        let path = context::absolute(&args.file)?;
        let file = File::open(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::PathNotFound { path: path.clone() },
            _ => Error::Io { path: path.clone(), source },
        })?;
        import_from(context, &path, &mut BufReader::new(file))?
    };
    context.present(
        args.format.format,
        |out| json::imported(&imported, out),
        |human, out| human.imported(&imported, out),
    )?;
    let is_lost = imported.num_failed > 0 && imported.num_documents + imported.num_skipped == 0;
    Ok(if is_lost { ExitStatus::User } else { ExitStatus::Success })
}

fn import_from(
    context: &Context,
    name: &Path,
    input: &mut impl BufRead,
) -> Result<transfer::Imported> {
    let (given, roots) = transfer::head(input, name)?;
    let mut store = context.open_store()?;
    let bound = store.binding()?;
    // A database that has no model yet takes that of the export, unless the settings name another.
    let target = match (bound, &given) {
        (Some(bound), _) => bound,
        (None, Some(given)) if model::check_wish(context, Some(given)).is_ok() => given.clone(),
        (None, _) => {
            let wish = model::wish(context, None)?;
            wish.binding(&wish.locate_or_install()?)
        }
    };
    check_length(given.as_ref(), &target)?;
    store.bind(&target)?;
    let mut embedder: Option<Box<dyn Embedder>> = None;
    let are_vectors_good = given.as_ref() == Some(&target);
    let mut embed = |chunks: &[RecordedChunk]| -> Result<Vec<Vec<f32>>> {
        if embedder.is_none() {
            let wish = model::wish(context, Some(&target))?;
            let installed = wish.locate_or_install()?;
            embedder = Some(Box::new(wish.open_for_passages(&installed)?));
        }
        let embedder = embedder.as_deref().expect("it was just opened");
        model::check_binding(&target, embedder.binding())?;
        cores::on_all_cores(chunks, |it| {
            let passage = Chunk::passage(&it.context, &it.text);
            match embedder.embed_cut(&passage, Side::Passage)? {
                (vector, false) => Ok(vector),
                (_, true) => Err(Error::Usage {
                    message: format!("chunk {} is longer than the model reads", it.id),
                    hint: None,
                }),
            }
        })
    };
    let mut report = |number: u64, error: &Error| {
        voice::say(&format!("failed: {}, line {number}: {error}", name.display()));
    };
    let imported =
        transfer::import(&mut store, input, name, are_vectors_good, &mut embed, &mut report)?;
    // Last, so that an update after an interruption does not read what was still to come.
    roots.iter().try_for_each(|it| store.remember_root(it))?;
    store.close()?;
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
