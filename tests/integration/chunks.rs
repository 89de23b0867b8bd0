//! How documents are cut, as seen from outside: sections, sizes, windows, definitions, notes.

use std::fs;

use crate::contract::{Chunk, Info, read};
use crate::env::{CORPUS, TestEnv};

fn info(env: &TestEnv, id: i64) -> Info {
    read(&env.ok(&["info", &id.to_string(), "--format", "json"]))
}

/// What `token_count` has beside the text: context, and two special tokens.
const BESIDE_TEXT: u32 = 64 + 2;

/// Returns the texts of the chunks of a document, in order.
fn texts(env: &TestEnv, id: i64) -> Vec<String> {
    env.sql_column(&format!(
        "SELECT text FROM chunks WHERE document_id = {id} ORDER BY chunk_index"
    ))
}

/// Adds one document to a fresh database, with settings, and returns its chunks and their texts.
fn chunks(vars: &[(&str, &str)], name: &str, content: &str) -> Vec<(Chunk, String)> {
    let mut env = TestEnv::new();
    for (name, value) in vars {
        env.set(name, value);
    }
    env.write(name, content);
    env.ok(&["add", name]);
    info(&env, 1).chunks.into_iter().zip(texts(&env, 1)).collect()
}

fn sections(chunks: &[(Chunk, String)]) -> Vec<Option<&str>> {
    chunks.iter().map(|it| it.0.section.as_deref()).collect()
}

/// A document whose sections are about forty tokens each.
fn report() -> String {
    let body = "One two three four five six seven eight nine ten. ".repeat(4);
    format!(
        "# Report\n\n{body}\n\n## Config\n\n{body}\n\n### Advanced\n\n{body}\n\n## End\n\n{body}\n"
    )
}

#[test]
fn no_chunk_is_longer_than_the_model_reads_and_all_text_is_in_one() {
    let env = TestEnv::with_corpus();
    for id in 1..=8 {
        let info = info(&env, id);
        for (chunk, text) in info.chunks.iter().zip(texts(&env, id)) {
            assert!((1..=256).contains(&chunk.token_count), "{chunk:?}");
            // Lines are those of the file, from 1, the last one included.
            let (Some(path), Some(first), Some(last)) =
                (&info.path, chunk.start_line, chunk.end_line)
            else {
                continue;
            };
            let file = fs::read_to_string(path).unwrap();
            let lines: Vec<&str> = file.lines().collect();
            let lines = lines[first as usize - 1..last as usize].join("\n");
            assert!(lines.contains(text.trim_end()), "{path} {first}-{last}: {text}");
        }
        if let Some(path) = info.path.filter(|it| !it.ends_with(".pdf")) {
            let file = fs::read_to_string(path).unwrap();
            let all = texts(&env, id).join("\n");
            let body = file.rsplit_once("\n---\n").map_or(file.as_str(), |it| it.1);
            for word in body.split_whitespace() {
                assert!(all.contains(word), "{word} of {} is in no chunk", info.title);
            }
        }
    }
}

#[test]
fn markdown_is_cut_at_headings_and_says_where_it_stands() {
    let chunks = chunks(&[("KB_CHUNKING_MARKDOWN_MIN_TOKENS", "10")], "a.md", &report());
    assert_eq!(sections(&chunks), [None, Some("Config"), Some("Config > Advanced"), Some("End")]);
    assert!(chunks[2].1.starts_with("### Advanced\n"));
}

#[test]
fn small_sections_are_merged() {
    let text = "# Report\n\n## A\n\nA few words.\n\n## B\n\nA few more.\n\n## C\n\nAnd the last.\n";
    let merged = chunks(&[], "a.md", text);
    assert_eq!(sections(&merged), [Some("A")]);
    let apart = chunks(&[("KB_CHUNKING_MARKDOWN_MIN_TOKENS", "0")], "a.md", text);
    assert_eq!(sections(&apart), [Some("A"), Some("B"), Some("C")]);
}

#[test]
fn large_sections_are_split() {
    let text = format!(
        "# Report\n\n## Long\n\n{}\n",
        "Nine words are in this sentence, or ten. ".repeat(60)
    );
    for (max_tokens, limit) in [("1024", 256), ("100", 100 + BESIDE_TEXT)] {
        let chunks = chunks(&[("KB_CHUNKING_MARKDOWN_MAX_TOKENS", max_tokens)], "a.md", &text);
        assert!(chunks.len() > 600 / limit as usize, "{max_tokens}: {}", chunks.len());
        for (chunk, text) in &chunks {
            assert_eq!(chunk.section.as_deref(), Some("Long"));
            assert!(chunk.token_count <= limit, "{}", chunk.token_count);
            assert!(text.trim_end().ends_with('.'), "cut inside a sentence: {text}");
        }
    }
}

#[test]
fn fixed_windows_overlap() {
    let text: String = (0..600).map(|it| format!("word{it} ")).collect();
    let vars = [
        ("KB_CHUNKING_MARKDOWN_STRATEGY", "fixed"),
        ("KB_CHUNKING_DEFAULTS_MAX_TOKENS", "120"),
        ("KB_CHUNKING_DEFAULTS_OVERLAP_TOKENS", "30"),
    ];
    let windows = chunks(&vars, "a.md", &text);
    assert!(windows.len() > 3);
    for pair in windows.windows(2) {
        assert!(pair[0].0.token_count <= 120 + BESIDE_TEXT);
        let first = pair[1].1.split_whitespace().next().unwrap();
        assert!(pair[0].1.split_whitespace().any(|it| it == first), "{first} is in one only");
    }
    // The defaults: no larger than the model reads, and still with an overlap.
    let windows = chunks(&vars[..1], "a.md", &text);
    assert!(windows.iter().all(|it| it.0.token_count <= 256));
    // With `header` and no heading the text is parted without overlap.
    let parts = chunks(&[], "a.md", &text);
    let num_words: usize = parts.iter().map(|it| it.1.split_whitespace().count()).sum();
    assert_eq!(num_words, 600);
}

#[test]
fn tables_keep_rows_and_columns_together() {
    let env = TestEnv::with_corpus();
    let handbook = texts(&env, 4).join("\n");
    assert!(handbook.contains("| Stilling well free of weed | yes | no |"));
    let guide = texts(&env, 5);
    let row = "| E23 | Stilling well blocked | Rod the intake at low water with the brass brush |";
    assert!(guide.iter().any(|it| it.lines().any(|line| line == row)), "{guide:?}");
}

#[test]
fn pdf_chunks_follow_sections_and_carry_pages() {
    let env = TestEnv::with_corpus();
    let chunks = info(&env, 5).chunks;
    assert!(chunks.iter().all(|it| it.page.is_some() && it.last_page >= it.page));
    assert!(chunks.windows(2).all(|it| it[0].page <= it[1].page));
    assert_eq!(chunks.last().unwrap().page, Some(5));
    let surge = chunks.iter().find(|it| it.preview.starts_with("4.2 After the surge")).unwrap();
    assert_eq!(surge.section.as_deref(), Some("4 Storm surge > 4.2 After the surge"));

    let mut env = TestEnv::new();
    env.set("KB_CHUNKING_PDF_STRATEGY", "fixed");
    env.set("KB_CHUNKING_PDF_MAX_TOKENS", "90");
    env.ok(&["add", &format!("{CORPUS}/tide-station.pdf")]);
    let windows = info(&env, 1).chunks;
    assert!(windows.len() > chunks.len());
    assert!(windows.iter().all(|it| it.token_count <= 90 + BESIDE_TEXT && it.page.is_some()));
}

#[test]
fn a_note_is_one_chunk_while_the_model_reads_it_whole() {
    let env = TestEnv::new();
    let whole = "Several sections.\n\n# One\n\nwords\n\n# Two\n\nmore words\n".to_owned()
        + &"and ".repeat(150);
    env.ok(&["add", "--note", &whole]);
    assert_eq!(texts(&env, 1).len(), 1);
    let long = "The model does not read this at once. ".repeat(60);
    let output = env.ok(&["add", "--note", &long, "--title", "Long"]);
    assert!(
        output.stderr.contains("longer than the model reads and was split into"),
        "{}",
        output.stderr
    );
    let info = info(&env, 2);
    assert!(info.chunk_count > 2 && info.chunks.iter().all(|it| it.token_count <= 256));
    assert_eq!(info.metadata.format, "note");
    assert_eq!(env.sql::<Option<String>>("SELECT source_path FROM documents WHERE id = 1"), None);
    // Given as text it is a note and nothing else.
    for args in [&["--note= \n"][..], &["--note=x", "--type=pdf"], &["--note=x", "--language=go"]] {
        env.kb(&[&["add"], args].concat()).expect(1);
    }
    env.ok(&["add", "--note=x", "--type=note"]);
}
