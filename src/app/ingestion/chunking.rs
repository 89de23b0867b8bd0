//! Converts the chunking settings to the options of the stage.

use crate::chunk::{ChunkOptions, Strategy};
use crate::config::{CodeStrategy, Config, MarkdownStrategy, PdfStrategy};
use crate::ingest::ChunkingOptions;

/// Returns one set of options per document type; the model's limit always applies.
pub(in crate::app) fn chunking(
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
    let of = |is_fixed: bool, max_tokens: u32, min_tokens: usize| ChunkOptions {
        strategy: if is_fixed { Strategy::Fixed } else { Strategy::Structure },
        max_tokens: if is_fixed {
            common.max_tokens.min(max_tokens as usize)
        } else {
            max_tokens as usize
        },
        min_tokens,
        ..common.clone()
    };
    let (pdf, markdown, code) = (&settings.pdf, &settings.markdown, &settings.code);
    ChunkingOptions {
        pdf: of(pdf.strategy == PdfStrategy::Fixed, pdf.max_tokens, common.min_tokens),
        markdown: of(
            markdown.strategy == MarkdownStrategy::Fixed,
            markdown.max_tokens,
            markdown.min_tokens as usize,
        ),
        code: of(code.strategy == CodeStrategy::Fixed, code.max_tokens, 0),
        note: ChunkOptions { strategy: Strategy::Whole, ..common },
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
