//! Splits a stored chunk again, for a model that reads fewer tokens than the one before.

use crate::document::{
    Block, BlockKind, CHAIN_SEPARATOR, Chunk, ChunkLineMap, Document, FileLines, LineRange,
    PageRange, PlaceChange,
};

use super::{ChunkOptions, Strategy, chunk};

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
    // The chunk becomes a document of one block, so that it is split as any other.
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
    // As much as the model reads, as the chunk was within the wanted size before.
    let options = ChunkOptions {
        strategy: Strategy::Structure,
        max_tokens: limit,
        min_tokens: 0,
        ..options.clone()
    };
    let lines = stored.file_lines();
    let num_lines = stored.text.split('\n').count();
    let pieces = chunk(&document, &title, num_tokens, &options).into_iter().map(|piece| Chunk {
        lines: lines.as_ref().zip(piece.lines).map(|(all, own)| in_file(all, own, num_lines)),
        line_map: stored.line_map.as_ref().zip(piece.lines).map(|(map, own)| of_piece(map, own)),
        context: piece.context.clone(),
        token_count: piece.token_count,
        ..placed(stored, piece)
    });
    pieces.collect()
}

/// Returns the lines in the file of some lines of a chunk's text, which has `num_lines`. An end that is not known is that
/// of the chunk.
fn in_file(chunk: &FileLines, own: LineRange, num_lines: usize) -> LineRange {
    let first = chunk.line(own.first() as usize - 1, num_lines);
    let last = chunk.line(own.last() as usize - 1, num_lines);
    let (first, last) = (first.unwrap_or(chunk.lines.first()), last.unwrap_or(chunk.lines.last()));
    LineRange::between(first, last)
}

/// Returns a chunk with the text of a piece, and with the pages, the section and the symbol of its lines.
fn placed(stored: &Chunk, piece: Chunk) -> Chunk {
    let of_stored = Chunk { text: piece.text, ..stored.clone() };
    let Some((lines, places)) = piece.lines.zip(stored.new_places.as_ref()) else {
        return of_stored;
    };
    // Places count lines from 0, and where the piece begins is no new place in it.
    let first = lines.first() - 1;
    let within = places.iter().filter(|place| (first + 1..lines.last()).contains(&place.line));
    let within: Vec<PlaceChange> =
        within.map(|place| PlaceChange { line: place.line - first, ..place.clone() }).collect();
    let stored_page = stored.pages.map(PageRange::first);
    let begin = stored.place_of_line(first as usize).cloned();
    let begin = begin.unwrap_or_else(|| PlaceChange {
        line: 0,
        page: stored_page,
        section: stored.section.clone(),
        symbol: stored.symbol.clone(),
    });
    let last_page = within.last().map_or(begin.page, |place| place.page);
    Chunk {
        pages: begin.page.zip(last_page).map(|(first, last)| PageRange::between(first, last)),
        page_label: stored.page_label.clone().filter(|_| begin.page == stored_page),
        section: begin.section,
        symbol: begin.symbol,
        new_places: Some(within),
        ..of_stored
    }
}

/// Returns where some lines of a chunk's text are, as the lines of a piece.
fn of_piece(map: &ChunkLineMap, lines: LineRange) -> ChunkLineMap {
    let offsets = map.offsets.get(lines.first() as usize - 1..lines.last() as usize);
    let offsets = offsets.unwrap_or_default();
    let start = offsets.first().copied().unwrap_or(0);
    ChunkLineMap {
        in_text: map.in_text.part(lines),
        offsets: offsets.iter().map(|offset| offset.saturating_sub(start)).collect(),
    }
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
            section: Some("Care".into()),
            pages: PageRange::new(4, 5),
            ..Chunk::default()
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
                (piece.section.as_deref(), piece.pages),
                (Some("Care"), PageRange::new(4, 5))
            );
        }
    }

    #[test]
    fn pieces_have_the_page_and_the_section_of_their_lines() {
        let place = |line, page, section: &str| PlaceChange {
            line,
            page: Some(page),
            section: Some(section.into()),
            symbol: None,
        };
        let places = vec![place(1, 5, "Care"), place(2, 5, "Use")];
        let deck = Chunk { new_places: Some(places), ..stored("a b c d\ne f g h\ni j k l", "") };
        let pieces = recut(&deck, true, &words, &options(11));
        let found: Vec<_> = pieces
            .iter()
            .map(|piece| (piece.pages.unwrap(), piece.section.as_deref().unwrap()))
            .collect();
        assert_eq!(found, [(PageRange::between(4, 5), "Care"), (PageRange::single(5), "Use")]);
        assert_eq!(pieces[0].new_places, Some(vec![place(1, 5, "Care")]));
    }

    #[test]
    fn pieces_of_code_have_their_own_lines() {
        let code =
            Chunk { lines: LineRange::new(10, 13), ..stored("a b c\n    d e f\n\ng h i", "gauge") };
        let pieces = recut(&code, true, &words, &options(6));
        let lines: Vec<_> = pieces.iter().map(|piece| piece.lines.unwrap()).collect();
        assert_eq!(lines, [10, 11, 13].map(LineRange::single));
        assert_eq!(pieces[1].text, "    d e f");
    }

    #[test]
    fn pieces_of_decoded_text_are_from_the_lines_of_the_file() {
        let map = ChunkLineMap { in_text: LineRange::between(30, 33), offsets: vec![0, 0, 0, 1] };
        let decoded = Chunk {
            lines: LineRange::new(10, 11),
            line_map: Some(map),
            ..stored("a b c\nd e f\ng h i\nj", "gauge")
        };
        let pieces = recut(&decoded, true, &words, &options(10));
        let lines: Vec<_> = pieces.iter().map(|piece| piece.file_lines().unwrap()).collect();
        assert_eq!(pieces[1].text, "g h i\nj");
        assert_eq!(
            [lines[0].lines, lines[1].lines],
            [LineRange::single(10), LineRange::between(10, 11)]
        );
        let map = lines[1].map.clone().unwrap();
        assert_eq!((map.in_text, &*map.offsets), (LineRange::between(32, 33), &[0, 1][..]));
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
