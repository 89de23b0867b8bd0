//! Tests how documents are split into chunks: sections, sizes, windows, definitions, notes.

use std::fs;

use crate::contract::{Chunk, Info, read};
use crate::env::{CORPUS, TestEnv, model_dir};
use crate::word_model::{WordModel, word_env};

fn info(env: &TestEnv, id: i64) -> Info {
    read(&env.ok(&["info", &id.to_string(), "--format", "json"]))
}

/// Tokens that `token_count` includes in addition to the text: the context and two special ones.
const BESIDE_TEXT: u32 = 64 + 2;

/// Returns the texts of the chunks of a document, in order.
fn texts(env: &TestEnv, id: i64) -> Vec<String> {
    env.sql_column(&format!(
        "SELECT text FROM chunks WHERE document_id = {id} ORDER BY chunk_index"
    ))
}

/// Returns the contexts that the model reads before the texts of a document's chunks, in order.
fn contexts(env: &TestEnv, id: i64) -> Vec<String> {
    env.sql_column(&format!(
        "SELECT context FROM chunks WHERE document_id = {id} ORDER BY chunk_index"
    ))
}

/// Adds one document to an empty database, with settings, and returns its chunks and their texts.
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
    chunks.iter().map(|chunk| chunk.0.section.as_deref()).collect()
}

/// Returns a document whose sections are about forty tokens each.
fn report() -> String {
    let body = "One two three four five six seven eight nine ten. ".repeat(4);
    format!(
        "# Report\n\n{body}\n\n## Config\n\n{body}\n\n### Advanced\n\n{body}\n\n## End\n\n{body}\n"
    )
}

#[test]
fn no_chunk_is_longer_than_the_model_reads_and_all_text_is_in_a_chunk() {
    let env = TestEnv::real_with_corpus();
    // The reference library counts the tokens, using the files of the model.
    let file = model_dir().join("tokenizer.json");
    let mut tokenizer = tokenizers::Tokenizer::from_file(file).unwrap();
    tokenizer.with_truncation(None).unwrap();
    tokenizer.with_padding(None);
    for id in 1..=8 {
        let info = info(&env, id);
        let texts = texts(&env, id);
        let contexts = contexts(&env, id);
        for ((chunk, text), context) in info.chunks.iter().zip(&texts).zip(&contexts) {
            assert!((1..=256).contains(&chunk.token_count), "{chunk:?}");
            let passage = kb_base::document::Chunk::passage(context, text);
            let num_tokens = tokenizer.encode_fast(passage, true).unwrap().len();
            assert_eq!(num_tokens, chunk.token_count as usize, "{chunk:?}");
            // Line numbers are those of the file, from 1, with the last line included.
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
        if let Some(path) = info.path.filter(|path| !path.ends_with(".pdf")) {
            let file = fs::read_to_string(path).unwrap();
            let all = texts.join("\n");
            let body = file.rsplit_once("\n---\n").map_or(file.as_str(), |parts| parts.1);
            for word in body.split_whitespace() {
                assert!(all.contains(word), "{word} of {} is in no chunk", info.title);
            }
        }
    }
}

#[test]
fn markdown_is_split_at_headings_and_names_its_section() {
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
    let text: String = (0..600).map(|number| format!("word{number} ")).collect();
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
        assert!(pair[0].1.split_whitespace().any(|word| word == first), "{first} is in one only");
    }
    // The defaults: no larger than the model reads, and still with an overlap.
    let windows = chunks(&vars[..1], "a.md", &text);
    assert!(windows.iter().all(|window| window.0.token_count <= 256));
    // With `header` and no heading the text is split without overlap.
    let parts = chunks(&[], "a.md", &text);
    let num_words: usize = parts.iter().map(|part| part.1.split_whitespace().count()).sum();
    assert_eq!(num_words, 600);
}

/// Returns how many words at the end of one text start the next.
fn num_shared(before: &str, after: &str) -> usize {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.split_whitespace().collect(), after.split_whitespace().collect());
    let most = before.len().min(after.len());
    (0..=most).rev().find(|&len| before[before.len() - len..] == after[..len]).unwrap()
}

/// With the test's model each of these words is one token, so words can be counted.
#[test]
fn windows_overlap_by_the_configured_number_of_tokens() {
    const WORDS: [&str; 16] = [
        "tide", "gauge", "harbour", "salt", "chart", "pump", "storm", "anchor", "lamp", "rope",
        "sail", "keeper", "signal", "valve", "ice", "winter",
    ];
    // Paragraphs of five words, all different.
    let paragraph = |number: usize| -> String {
        (0..5).map(|place| WORDS[number >> (4 * (place % 3)) & 15].to_owned() + " ").collect()
    };
    let text: String = (0..120).map(|number| paragraph(number * 37 + 5) + "\n\n").collect();
    let windows = |vars: &[(&str, &str)]| -> Vec<String> {
        let mut env = word_env();
        env.set("KB_CHUNKING_MARKDOWN_STRATEGY", "fixed");
        for (name, value) in vars {
            env.set(name, value);
        }
        env.write("words.md", &text);
        let report = env.json(&["add", "words.md", "--format=json"]);
        texts(&env, report["document_ids"][0].as_i64().unwrap())
    };
    let num_words = |text: &String| text.split_whitespace().count();
    let (max, overlap) = ("KB_CHUNKING_DEFAULTS_MAX_TOKENS", "KB_CHUNKING_DEFAULTS_OVERLAP_TOKENS");
    for (vars, longest, shared) in [
        // The defaults: the model reads 128 tokens, including the title and two special tokens.
        (&[][..], 128, 50),
        (&[(overlap, "20")], 128, 20),
        (&[(overlap, "0")], 128, 0),
        (&[(max, "60"), (overlap, "20")], 60, 20),
    ] {
        let windows = windows(vars);
        for pair in windows.windows(2) {
            assert_eq!(num_shared(&pair[0], &pair[1]), shared, "{vars:?}: {pair:?}");
            let len = num_words(&pair[0]);
            assert!(len <= longest && len + 20 > longest, "{vars:?}: {len}");
        }
        assert!(windows.len() > 4, "{vars:?}: {}", windows.len());
    }
}

#[test]
fn tables_keep_rows_and_columns_together() {
    let env = TestEnv::with_corpus();
    let handbook = texts(&env, 4).join("\n");
    assert!(handbook.contains("| Stilling well free of weed | yes | no |"));
    let guide = texts(&env, 5);
    let row = "| E23 | Stilling well blocked | Rod the intake at low water with the brass brush |";
    assert!(guide.iter().any(|text| text.lines().any(|line| line == row)), "{guide:?}");
}

#[test]
fn pdf_chunks_follow_sections_and_have_pages() {
    let env = TestEnv::with_corpus();
    let chunks = info(&env, 5).chunks;
    assert!(chunks.iter().all(|chunk| chunk.page.is_some() && chunk.last_page >= chunk.page));
    assert!(chunks.windows(2).all(|pair| pair[0].page <= pair[1].page));
    assert_eq!(chunks.last().unwrap().page, Some(5));
    let surge =
        chunks.iter().find(|chunk| chunk.preview.starts_with("4.2 After the surge")).unwrap();
    assert_eq!(surge.section.as_deref(), Some("4 Storm surge > 4.2 After the surge"));

    let mut env = TestEnv::new();
    env.set("KB_CHUNKING_PDF_STRATEGY", "fixed");
    env.set("KB_CHUNKING_PDF_MAX_TOKENS", "90");
    env.ok(&["add", &format!("{CORPUS}/tide-station.pdf")]);
    let windows = info(&env, 1).chunks;
    assert!(windows.len() > chunks.len());
    // Sections are ignored: windows start and end within them.
    let is_cut_within =
        |text: &String| text.lines().skip(1).any(|line| line.starts_with("4.2 After"));
    assert!(texts(&env, 1).iter().any(is_cut_within), "{:?}", texts(&env, 1));
    assert!(
        windows
            .iter()
            .all(|window| window.token_count <= 90 + BESIDE_TEXT && window.page.is_some())
    );
}

/// Returns a PDF whose pages contain only lines of body text, with a gap before each paragraph.
fn pdf_without_headings(paragraphs: &[Vec<String>]) -> Vec<u8> {
    let pages: Vec<String> = paragraphs
        .chunks(6)
        .map(|page| {
            let mut stream = "BT /F 10 Tf 14 TL 60 780 Td\n".to_owned();
            for paragraph in page {
                for line in paragraph {
                    stream += &format!("({line}) Tj T*\n");
                }
                stream += "0 -14 Td\n";
            }
            stream + "ET"
        })
        .collect();
    let kids: String = (0..pages.len()).map(|page| format!("{} 0 R ", 4 + 2 * page)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for (page, stream) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] \
             /Resources << /Font << /F 3 0 R >> >> /Contents {} 0 R >>",
            5 + 2 * page
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
    }
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (place, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{} 0 obj\n{object}\nendobj\n", place + 1);
    }
    let start = pdf.len();
    pdf += &format!(
        "{table}trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    pdf.into_bytes()
}

#[test]
fn a_pdf_without_headings_is_split_by_size() {
    let paragraphs: Vec<Vec<String>> = (0..24)
        .map(|number| {
            let line = |place: usize| {
                format!("paragraph {number} line {place} tells how the keeper read the scale,")
            };
            (0..5).map(line).collect()
        })
        .collect();
    let mut env = TestEnv::new();
    env.write("plain.pdf", pdf_without_headings(&paragraphs));
    for (max_tokens, longest) in [("1024", 256), ("90", 90 + BESIDE_TEXT)] {
        env.set("KB_CHUNKING_PDF_MAX_TOKENS", max_tokens);
        let report = env.json(&["add", "plain.pdf", "--format=json"]);
        let id = report["document_ids"][0].as_i64().unwrap();
        let chunks = info(&env, id).chunks;
        let num_tokens: u32 = chunks.iter().map(|chunk| chunk.token_count).sum();
        for chunk in &chunks {
            assert_eq!(chunk.section, None, "{chunk:?}");
            assert!(chunk.page.is_some() && chunk.token_count <= longest, "{chunk:?}");
        }
        // Two paragraphs fit within the larger limit, but not within the smaller one.
        let num_chunks = u32::try_from(chunks.len()).unwrap();
        assert!(num_chunks >= num_tokens / longest, "{max_tokens}: {num_chunks}");
        assert_eq!(num_chunks >= 24, max_tokens == "90", "{max_tokens}: {num_chunks}");
        let all = texts(&env, id).join("\n");
        for number in 0..24 {
            assert!(all.contains(&format!("paragraph {number} line 4")), "{number}: {all}");
        }
        env.ok(&["remove", &id.to_string(), "--yes"]);
    }
}

/// A model that reads 2,048 tokens, so that only the settings limit the chunks. Each word is one
/// token.
#[test]
fn the_settings_limit_chunks_if_the_model_reads_more() {
    let env = word_env();
    WordModel { max_seq_length: 2048, ..WordModel::default() }.write(&env.path("long"));
    let sentences = "the tide gauge in the harbour is frozen\n\n".repeat(400);
    env.write("wide/section.md", format!("# Log\n\n## Winter\n\n{sentences}"));
    env.write("wide/pump.py", format!("def pump():\n{}", "    tide\n".repeat(3000)));
    let paragraphs = vec![vec!["the tide gauge in the harbour is frozen,".to_owned(); 5]; 90];
    env.write("wide/log.pdf", pdf_without_headings(&paragraphs));
    let longest = |name: &str, vars: &[(&str, &str)]| -> usize {
        let data = ["--data-dir", "long-data"];
        let _ = fs::remove_dir_all(env.path(data[1]));
        env.ok(&[&["init", "--model-dir", "long"][..], &data].concat());
        let file = format!("wide/{name}");
        env.finish(env.command(&[&["add", &file][..], &data].concat()).envs(vars.iter().copied()))
            .expect(0);
        let info: Info = read(&env.ok(&[&["info", "1", "--format=json"][..], &data].concat()));
        assert!(info.chunks.len() > 2, "{name}: {}", info.chunks.len());
        info.chunks.iter().map(|chunk| chunk.token_count as usize).max().unwrap()
    };
    for (name, vars, limit) in [
        ("section.md", &[][..], 1024),
        ("pump.py", &[], 1024),
        ("log.pdf", &[], 1024),
        ("section.md", &[("KB_CHUNKING_MARKDOWN_STRATEGY", "fixed")], 512),
        ("pump.py", &[("KB_CHUNKING_CODE_STRATEGY", "fixed")], 512),
        ("log.pdf", &[("KB_CHUNKING_PDF_STRATEGY", "fixed")], 512),
        // A smaller limit for the type overrides the limit of all windows; a larger one does not.
        (
            "log.pdf",
            &[("KB_CHUNKING_PDF_STRATEGY", "fixed"), ("KB_CHUNKING_PDF_MAX_TOKENS", "200")],
            200,
        ),
        (
            "log.pdf",
            &[("KB_CHUNKING_PDF_STRATEGY", "fixed"), ("KB_CHUNKING_PDF_MAX_TOKENS", "2000")],
            512,
        ),
    ] {
        let longest = longest(name, vars);
        assert!(
            longest <= limit + BESIDE_TEXT as usize && longest > limit * 3 / 4,
            "{name} {vars:?}: {longest}"
        );
    }
}

#[test]
fn a_note_is_one_chunk_if_the_model_reads_all_of_it() {
    let env = TestEnv::new();
    let long_note = "Several sections.\n\n# One\n\nwords\n\n# Two\n\nmore words\n".to_owned()
        + &"and ".repeat(150);
    env.ok(&["add", "--note", &long_note]);
    assert_eq!(texts(&env, 1).len(), 1);
    let long = "The model does not read this at once. ".repeat(60);
    let output = env.ok(&["add", "--note", &long, "--title", "Long"]);
    assert!(
        output.stderr.contains("too long for the model and was split into"),
        "{}",
        output.stderr
    );
    let info = info(&env, 2);
    assert!(info.chunk_count > 2 && info.chunks.iter().all(|chunk| chunk.token_count <= 256));
    assert_eq!(info.metadata.format, "note");
    assert_eq!(env.sql::<Option<String>>("SELECT source_path FROM documents WHERE id = 1"), None);
    // Given as text, it is a note.
    for args in [&["--note= \n"][..], &["--note=x", "--type=pdf"], &["--note=x", "--language=go"]] {
        env.kb(&[&["add"], args].concat()).expect(1);
    }
    env.ok(&["add", "--note=x", "--type=note"]);
}
