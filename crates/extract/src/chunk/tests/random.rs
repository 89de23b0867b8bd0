//! Tests chunking with random texts and options.

use proptest::prelude::{
    Just, ProptestConfig, Strategy as AnyStrategy, any, prop_assert, prop_assert_eq, prop_oneof,
    proptest,
};

use super::*;

/// Generates Markdown with everything that the chunker handles.
fn any_markdown() -> impl AnyStrategy<Value = String> {
    let piece = prop_oneof![
        "#{1,5} [a-z ]{1,12}\n\n",
        "[a-zé日。. ]{1,120}\n\n",
        "([a-z]{1,9}[.!?,]? ){1,60}\n\n",
        "(- [a-z ]{1,30}\n){1,6}\n",
        "```\n([a-z ]{0,20}\n){0,9}```\n\n",
        "\\| a \\| b \\|\n\\|---\\|---\\|\n(\\| [a-z ]{1,9} \\| c \\|\n){0,9}\n",
        "<!-- [a-z]{0,9} -->\n\n",
        "---\n\n",
        "[a-z]{1,300}\n\n",
        "\\PC{0,60}\n\n",
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

fn any_options() -> impl AnyStrategy<Value = ChunkOptions> {
    let strategy = prop_oneof![
        3 => Just(Strategy::Structure),
        2 => Just(Strategy::Fixed),
        1 => Just(Strategy::Whole),
    ];
    (strategy, 1_usize..80, 0_usize..30, 0_usize..30, 12_usize..80, 0_usize..4, any::<bool>())
        .prop_map(|(strategy, max, min, overlap, model, reserved, include_context)| ChunkOptions {
            strategy,
            max_tokens: max,
            min_tokens: min,
            overlap_tokens: overlap,
            model_tokens: model,
            reserved_tokens: reserved,
            include_context,
        })
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_text_is_lost_and_no_limit_exceeded(
        source in any_markdown(),
        title in "[a-z ]{0,90}",
        options in any_options(),
        counter in 0_usize..3,
    ) {
        let num_tokens = COUNTERS[counter];
        let document = markdown::extract(&source);
        let chunks = chunk(&document, &title, &num_tokens, &options);
        prop_assert_eq!(&chunks, &chunk(&document, &title, &num_tokens, &options));
        let mut last_line = 0;
        let mut joined = String::new();
        for chunk in &chunks {
            prop_assert!(!chunk.text.trim().is_empty());
            let total = num_tokens(&Chunk::passage(&chunk.context, &chunk.text)) + options.reserved_tokens;
            prop_assert_eq!(chunk.token_count as usize, total);
            prop_assert!(total <= options.model_tokens);
            prop_assert!(num_tokens(&chunk.context) <= 64);
            if options.strategy != Strategy::Whole {
                prop_assert!(num_tokens(&chunk.text) <= options.max_tokens || chunk.text.chars().count() == 1);
            }
            // The text is found in the lines of the chunk.
            let lines_of_chunk = chunk.lines.unwrap();
            let (first, last) = (lines_of_chunk.first() as usize, lines_of_chunk.last() as usize);
            if options.strategy == Strategy::Structure {
                prop_assert!(first >= last_line);
            }
            last_line = last;
            let lines: Vec<&str> = source.split('\n').collect();
            let named = lines[first - 1..last].join("\n");
            // A repeated head is not on the line where the chunk begins.
            let repeated = chunk.text.strip_prefix("| a | b |\n|---|---|\n");
            let own = repeated.filter(|_| !lines[first - 1].contains("| a | b |"));
            let own = own.unwrap_or(&chunk.text);
            joined += &letters(own);
            let ends = [own.lines().next(), own.lines().last()];
            for end in ends.into_iter().flatten() {
                prop_assert!(named.contains(end), "{named:?} {end:?}");
            }
        }
        let full_text: String =
            document.blocks.iter().map(|block| letters(&source[block.bytes.clone()])).collect();
        if options.strategy == Strategy::Fixed || options.strategy == Strategy::Whole {
            // Windows overlap: each starts within the text covered so far.
            let mut covered = 0;
            for chunk in &chunks {
                let text = letters(&chunk.text);
                let from = (0..=covered).rev().find(|at| full_text[..].get(*at..).is_some_and(|rest| rest.starts_with(&text)));
                prop_assert!(from.is_some(), "{text:?} is not part of {full_text:?} at or before {covered}");
                covered = covered.max(from.unwrap() + text.len());
            }
            prop_assert_eq!(covered, full_text.len());
        } else {
            prop_assert_eq!(joined, full_text);
        }
    }

    #[test]
    fn any_text_can_be_chunked(source in any::<String>(), max_tokens in 0_usize..9) {
        let options = options(Strategy::Structure, max_tokens, 5);
        chunk(&plain::extract(&source), &source, &thirds, &options);
        chunk(&markdown::extract(&source), "", &words, &options);
    }
}
