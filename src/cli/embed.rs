//! Runs `kb embed`.

use std::path::PathBuf;
use std::sync::mpsc;
use std::{io, thread};

use rayon::prelude::*;

use crate::app::model;
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::cli::{args, batch, voice};
use crate::embed::{Embedder, Side};
use crate::error::{Error, Result};
use crate::limits;
use crate::limits::lines::{Outcome, read_line};
use crate::present::json;

/// Lines embedded between two writes; so many that the processors seldom wait for the last of them.
const BATCH: usize = 256;

pub(super) fn run(context: &Context, args: &args::Embed) -> Result<ExitStatus> {
    if args.text.as_ref().is_some_and(|it| it.trim().is_empty()) {
        return Err(Error::Usage { message: "the text is empty".into(), hint: None });
    }
    let bound = match context.session.open_existing()? {
        Some(store) => store.binding()?,
        None => None,
    };
    model::check_selection(&context.session, bound.as_ref())?;
    let wish = model::select(&context.session, bound.as_ref())?;
    let side = if args.query { Side::Query } else { Side::Passage };
    match &args.text {
        Some(text) => {
            let embedder = wish.open_for_query(bound.as_ref(), &context.ui)?;
            let (vector, is_cut) = embedder.embed_cut(text, side)?;
            if is_cut {
                warn_of_cut("the text", &*embedder);
            }
            context::print_json(|out| json::vector(&vector, out))?;
        }
        None => embed_lines(&*wish.open_for_texts(bound.as_ref(), &context.ui)?, side)?,
    }
    Ok(ExitStatus::Success)
}

/// Embeds the lines of stdin. Answers go out as soon as there is nothing more to read, so that a
/// program may wait for one before it asks for the next.
fn embed_lines(embedder: &dyn Embedder, side: Side) -> Result<()> {
    let (sender, lines) = mpsc::sync_channel(2 * BATCH);
    // Ends with the process where stdin outlives an error.
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = match read_line(&mut input, &mut line, limits::BATCH_LINE_BYTES) {
                Ok(Outcome::Line) => Ok(Some(line)),
                Ok(Outcome::End) => return,
                Ok(Outcome::TooLong) => Ok(None),
                Err(error) => Err(error),
            };
            // What follows a line that is too long, or a failure, cannot be told from it.
            let is_last = !matches!(read, Ok(Some(_)));
            if sender.send(read).is_err() || is_last {
                return;
            }
        }
    });
    let mut num_lines = 0;
    while let Ok(first) = lines.recv() {
        let mut batch = Vec::with_capacity(BATCH);
        for line in [first].into_iter().chain(lines.try_iter().take(BATCH - 1)) {
            batch.push(text(line, num_lines + batch.len() + 1)?);
        }
        // One text per job: a few long ones must not wait for each other.
        let texts = batch.par_iter().with_max_len(1);
        let embedded: Vec<_> =
            texts.map(|text| embedder.embed_cut(text, side)).collect::<Result<_>>()?;
        for (idx, _) in embedded.iter().enumerate().filter(|(_, (_, is_cut))| *is_cut) {
            warn_of_cut(&format!("line {}", num_lines + idx + 1), embedder);
        }
        context::print_json(|out| embedded.iter().try_for_each(|(it, _)| json::vector(it, out)))?;
        num_lines += batch.len();
    }
    Ok(())
}

/// Returns a line as text; `None` is one that is too long.
fn text(line: io::Result<Option<Vec<u8>>>, number: usize) -> Result<String> {
    let stdin = |source| Error::Io { path: PathBuf::from("standard input"), source };
    let line = line.map_err(stdin)?.ok_or_else(|| batch::too_long(number as u64))?;
    let mut text = String::from_utf8(line).map_err(|_| Error::Usage {
        message: format!("line {number} of standard input is not UTF-8"),
        hint: None,
    })?;
    if text.ends_with('\r') {
        text.pop();
    }
    Ok(text)
}

fn warn_of_cut(what: &str, embedder: &dyn Embedder) {
    let max_tokens = embedder.binding().max_tokens;
    voice::warn(&format!("{what} is longer than the {max_tokens} tokens the model reads: cut"));
}
