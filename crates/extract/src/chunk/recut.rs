//! Splits a stored chunk again, for a model that reads fewer tokens than the one before.

use crate::document::{Block, BlockKind, CHAIN_SEPARATOR, Chunk, Document};

use super::{ChunkOptions, Strategy, chunk, to_u32};

/// Splits a stored chunk into chunks that the model can read. Everything but the text, its lines and
/// the number of tokens stays; a context that is too long is shortened.
///
/// `num_tokens` and the limit in `options` are those of [`chunk()`]. `is_code` allows splits between
/// lines only, as far as lines fit.
pub fn recut(
    stored: &Chunk,
    is_code: bool,
    num_tokens: &dyn Fn(&str) -> usize,
    options: &ChunkOptions,
) -> Vec<Chunk> {
    let kind = match () {
        () if is_code => BlockKind::Code,
        () if stored.text.lines().all(|line| line.trim_start().starts_with('|')) => {
            BlockKind::Table
        }
        () => BlockKind::Paragraph,
    };
    let mut parts = stored.context.split(CHAIN_SEPARATOR).map(str::to_owned);
    let title = parts.next().unwrap_or_default();
    let block = Block {
        bytes: 0..stored.text.len(),
        kind,
        headings: parts.collect(),
        symbol: None,
        context: None,
        page: None,
        starts_section: true,
    };
    let document = Document {
        text: stored.text.clone(),
        blocks: vec![block],
        has_lines: true,
        ..Document::default()
    };
    let limit = options.window();
    let options = ChunkOptions {
        strategy: Strategy::Structure,
        max_tokens: limit,
        min_tokens: 0,
        ..options.clone()
    };
    // Lines of a piece are known only where the chunk is its file's own lines.
    let num_lines = to_u32(stored.text.lines().count());
    let first_line = match (stored.start_line, stored.end_line) {
        (Some(start), Some(end)) if (end + 1).checked_sub(start) == Some(num_lines) => Some(start),
        _ => None,
    };
    let pieces = chunk(&document, &title, num_tokens, &options).into_iter().map(|piece| {
        let line = |line: Option<u32>, known: Option<u32>| match (first_line, line) {
            (Some(first), Some(line)) => Some(first + line - 1),
            _ => known,
        };
        Chunk {
            start_line: line(piece.start_line, stored.start_line),
            end_line: line(piece.end_line, stored.end_line),
            text: piece.text,
            context: piece.context,
            token_count: piece.token_count,
            ..stored.clone()
        }
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::Strategy;

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn options(model_tokens: usize) -> ChunkOptions {
        ChunkOptions {
            strategy: Strategy::Structure,
            max_tokens: 512,
            min_tokens: 50,
            overlap_tokens: 50,
            model_tokens,
            reserved_tokens: 2,
            include_context: true,
        }
    }

    fn stored(text: &str, context: &str) -> Chunk {
        Chunk {
            text: text.into(),
            context: context.into(),
            token_count: 0,
            section: Some("Care".into()),
            symbol: None,
            page: Some(4),
            last_page: Some(5),
            page_label: None,
            start_line: None,
            end_line: None,
        }
    }

    #[test]
    fn pieces_keep_section_and_pages_and_begin_at_sentences() {
        let text = "One two three four. Five six seven eight. Nine ten eleven twelve.";
        let pieces = recut(&stored(text, "Tides > Care"), false, &words, &options(12));
        let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
        assert_eq!(
            texts,
            ["One two three four.", "Five six seven eight.", "Nine ten eleven twelve."]
        );
        for piece in &pieces {
            assert_eq!(piece.context, "Tides > Care");
            assert_eq!(
                (piece.section.as_deref(), piece.page, piece.last_page),
                (Some("Care"), Some(4), Some(5))
            );
        }
    }

    #[test]
    fn pieces_of_code_have_their_own_lines() {
        let code = Chunk {
            start_line: Some(10),
            end_line: Some(13),
            ..stored("a b c\n    d e f\n\ng h i", "gauge")
        };
        let pieces = recut(&code, true, &words, &options(6));
        let lines: Vec<_> = pieces.iter().map(|piece| (piece.start_line, piece.end_line)).collect();
        assert_eq!(lines, [(Some(10), Some(10)), (Some(11), Some(11)), (Some(13), Some(13))]);
        assert_eq!(pieces[1].text, "    d e f");
    }

    proptest! {
        #[test]
        fn pieces_fit_and_no_word_is_lost(
            words_of_text in prop::collection::vec("[a-z]{1,6}[.]?", 1..80),
            context in "([a-z]{1,5}( > )?){0,6}",
            limit in 6_usize..40,
        ) {
            let text = words_of_text.join(" ");
            let pieces = recut(&stored(&text, &context), false, &words, &options(limit));
            let mut found = Vec::new();
            for piece in &pieces {
                prop_assert!(words(&Chunk::passage(&piece.context, &piece.text)) + 2 <= limit);
                found.extend(piece.text.split_whitespace().map(str::to_owned));
            }
            prop_assert_eq!(found, words_of_text);
        }
    }
}
