//! Converts settings and the options of a request to the options of walking, reading and splitting.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::request::AddRequest;
use crate::app::indexing::ocr;
use crate::app::session::model;
use crate::app::{Observer, Session};
use crate::chunk::{ChunkOptions, Strategy};
use crate::config::{CodeStrategy, Config, MarkdownStrategy, PdfStrategy, words};
use crate::error::{Error, Result};
use crate::extract::detect::{self, TextExtensions, TypeOverride};
use crate::extract::sandbox::ReadOptions;
use crate::files::program;
use crate::ingest::walk::WalkOptions;
use crate::ingest::{ChunkingOptions, IngestOptions};
use crate::wording::{option, wording};

/// The variable with the password of encrypted documents.
const PASSWORD_VARIABLE: &str = "KB_PASSWORD";

pub(crate) fn walk_options(session: &Session, is_following: bool) -> WalkOptions {
    let settings = &session.config().ingestion;
    let mut text_extensions = TextExtensions::new(words(&settings.text_extensions));
    text_extensions.includes_generated = settings.include_ignored;
    WalkOptions {
        max_file_mb: u64::from(settings.max_file_mb),
        follow_links: settings.follow_links || is_following,
        text_extensions,
    }
}

/// Whether some format claims a name, by the settings or without them.
pub(crate) fn is_claimed(session: &Session, path: &Path) -> bool {
    detect::is_claimed(path, &walk_options(session, false).text_extensions)
}

/// Returns how files are read, with the settings and the options of the request.
pub(crate) fn ingest_options(
    session: &Session,
    request: &AddRequest,
    chunking: ChunkingOptions,
    observer: &dyn Observer,
) -> Result<IngestOptions> {
    let config = session.config();
    let mut pdf = ReadOptions::new(reading_program(session)?);
    pdf.password = password(session, request.password.clone())?;
    pdf.ocr = ocr::options(session);
    let limit = request.time_limit;
    if let Some(limit) = limit {
        (pdf.wall, pdf.wall_per_page) = (limit, Duration::ZERO);
    }
    let settings = &config.ingestion;
    pdf.limit_ocr(settings.workers as usize);
    pdf.notebook_outputs = settings.notebook_outputs;
    pdf.keeps_all = settings.keep_all || request.keeps_all;
    pdf.omits_remarks = !settings.comments;
    pdf.max_cpu = limit.unwrap_or(Duration::from_secs(settings.max_cpu_seconds.into()));
    pdf.is_cancelled = observer.cancel_flag();
    let mut walk = walk_options(session, request.follows_links);
    walk.text_extensions.includes_generated |= request.includes_ignored;
    Ok(IngestOptions {
        walk,
        wanted: TypeOverride::new(request.doc_type, request.language)?,
        title: request.title.clone(),
        tags: request.tags.clone(),
        chunking,
        num_workers: settings.workers as usize,
        batch_size: settings.batch_size as usize,
        num_embedders: model::num_cores(),
        max_cpu: pdf.max_cpu,
        is_cancelled: Arc::clone(&pdf.is_cancelled),
        pdf,
        keeps_tags: false,
        inline_tags: settings.inline_tags,
        rereads: Arc::clone(&request.rereads),
    })
}

/// Returns the program that reads untrusted formats.
pub(crate) fn reading_program(session: &Session) -> Result<PathBuf> {
    session.reader().map_or_else(program::to_start, |program| Ok(program.to_owned()))
}

/// Returns the password of encrypted documents: from the flag, else from the variable, which other users
/// of the machine cannot see.
pub(crate) fn password(session: &Session, given: Option<String>) -> Result<Option<String>> {
    if given.is_some() {
        return Ok(given);
    }
    let Some(value) = session.environment().get(PASSWORD_VARIABLE) else { return Ok(None) };
    match value.to_str() {
        Some(password) => Ok(Some(password.to_owned())),
        None => Err(Error::config(PASSWORD_VARIABLE, "not UTF-8").with_hint(wording!(
            "set {} to UTF-8 text, or use `{}`",
            PASSWORD_VARIABLE,
            option("--password")
        ))),
    }
}

/// Returns one set of options per document type; the model's limit always applies.
pub(crate) fn chunking(
    config: &Config,
    model_tokens: usize,
    reserved_tokens: usize,
) -> ChunkingOptions {
    let settings = &config.chunking;
    let common = ChunkOptions {
        strategy: Strategy::Structure,
        max_tokens: settings.defaults.max_tokens as usize,
        min_tokens: settings.markdown.min_tokens as usize,
        overlap_tokens: settings.defaults.overlap_tokens as usize,
        model_tokens,
        reserved_tokens,
        include_context: settings.code.include_context,
    };
    let (pdf, markdown, code) = (&settings.pdf, &settings.markdown, &settings.code);
    ChunkingOptions {
        pdf: of_type(
            &common,
            pdf.strategy == PdfStrategy::Fixed,
            pdf.max_tokens,
            common.min_tokens,
        ),
        markdown: of_type(
            &common,
            markdown.strategy == MarkdownStrategy::Fixed,
            markdown.max_tokens,
            markdown.min_tokens as usize,
        ),
        code: of_type(&common, code.strategy == CodeStrategy::Fixed, code.max_tokens, 0),
        note: ChunkOptions { strategy: Strategy::Whole, ..common },
    }
}

/// Returns the options of one document type. A fixed size is at most the default one.
fn of_type(
    common: &ChunkOptions,
    is_fixed: bool,
    max_tokens: u32,
    min_tokens: usize,
) -> ChunkOptions {
    let max_tokens = max_tokens as usize;
    ChunkOptions {
        strategy: if is_fixed { Strategy::Fixed } else { Strategy::Structure },
        max_tokens: if is_fixed { common.max_tokens.min(max_tokens) } else { max_tokens },
        min_tokens,
        ..common.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_cuts_as_the_configuration_does_by_default() {
        assert_eq!(
            chunking(&Config::defaults(std::path::Path::new("/")), 256, 2),
            ChunkingOptions::new(256, 2)
        );
    }
}
