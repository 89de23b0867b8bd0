//! Runs `kb embed`.

use std::sync::mpsc;
use std::{io, thread};

use crate::app::convert::embed::{self, EmbeddingSide, LineEmbedder};
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::{args, batch};
use crate::error::{Error, Result};
use crate::limits;
use crate::limits::lines::{LineOutcome, read_line};
use crate::present::json;

/// Lines embedded between two writes; enough that processors rarely wait for the end of a batch.
const BATCH: usize = 256;

pub(super) fn run(context: &CommandContext, args: &args::EmbedArgs) -> Result<ExitStatus> {
    let side = if args.query { EmbeddingSide::Query } else { EmbeddingSide::Passage };
    match &args.text {
        Some(text) => {
            let vector = embed::text(&context.session, text, side, &context.ui)?;
            context::print_json(|out| json::vector(&vector, out))?;
        }
        None => embed_lines(LineEmbedder::open(&context.session, side, &context.ui)?)?,
    }
    Ok(ExitStatus::Success)
}

/// Embeds the lines of stdin. Vectors are written as soon as no more input is waiting, so that a program
/// can wait for one before it sends the next line.
fn embed_lines(mut embedder: LineEmbedder<'_>) -> Result<()> {
    let (sender, lines) = mpsc::sync_channel(2 * BATCH);
    // The thread is not joined: after an error it ends with the process.
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = match read_line(&mut input, &mut line, limits::BATCH_LINE_BYTES) {
                Ok(LineOutcome::Line) => Ok(Some(line)),
                Ok(LineOutcome::End) => return,
                Ok(LineOutcome::TooLong) => Ok(None),
                Err(error) => Err(error),
            };
            // After a failure or a line that is too long, the start of the next line is unknown.
            let is_last = !matches!(read, Ok(Some(_)));
            if sender.send(read).is_err() || is_last {
                return;
            }
        }
    });
    while let Ok(first) = lines.recv() {
        let mut batch = Vec::with_capacity(BATCH);
        for line in [first].into_iter().chain(lines.try_iter().take(BATCH - 1)) {
            batch.push(text(line, embedder.num_lines() + batch.len() + 1)?);
        }
        let vectors = embedder.embed(&batch)?;
        context::print_json(|out| vectors.iter().try_for_each(|vector| json::vector(vector, out)))?;
    }
    Ok(())
}

/// Returns a line as text; `None` stands for a line that is too long.
fn text(line: io::Result<Option<Vec<u8>>>, number: usize) -> Result<String> {
    let line = line.map_err(|source| Error::Io { path: "standard input".into(), source })?;
    let line = line.ok_or_else(|| batch::too_long(number as u64))?;
    let mut text = String::from_utf8(line)
        .map_err(|_| Error::usage(format!("line {number} of standard input is not UTF-8")))?;
    if text.ends_with('\r') {
        text.pop();
    }
    Ok(text)
}
