//! Splits every file below the given folders as `kb add` does, and into windows, and checks the
//! invariants of chunks; reports counts. `make chunkers` runs it.
//!
//! usage: cargo bench --bench chunkers -- --kb KB FOLDER...

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::exit,
    clippy::disallowed_methods,
    reason = "a check that is run by hand: it prints, and a panic is how it fails"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use kb_base::document::{Chunk, DocType, Document, Format};
use kb_embed::{
    DEFAULT_MODEL, Locations, ModelChoice, ModelOptions, ModelTokenizer, locate, tokenizer,
};
use kb_extract::chunk::{ChunkOptions, Strategy, chunk};
use kb_extract::detect::{HEAD_BYTES, TextExtensions, TypeOverride, detect};
use kb_extract::sandbox::ReadOptions;
use kb_extract::{ExtractedFile, extract};
use kb_ingest::walk::{Start, WalkOptions, walk};

/// Counts of one format.
#[derive(Debug, Clone, Default)]
struct Counts {
    num_files: usize,
    num_unreadable: usize,
    num_lines: usize,
    num_blocks: usize,
    num_chunks: usize,
    num_with_symbol: usize,
    num_tokens: usize,
    most_tokens: u32,
    /// The violations found.
    broken: Vec<String>,
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut kb = PathBuf::from("target/release/kb");
    let mut folders: Vec<PathBuf> = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--kb" => kb = arguments.next().unwrap().into(),
            folder => folders.push(fs::canonicalize(folder).unwrap_or_else(|error| {
                eprintln!("{folder}: {error}");
                std::process::exit(1)
            })),
        }
    }
    if folders.is_empty() {
        println!("nothing was checked: no folders were given");
        return;
    }
    let start = Instant::now();
    let choice = ModelChoice::named(DEFAULT_MODEL).unwrap();
    let installed =
        locate(&choice, &locations()).unwrap_or_else(|error| panic!("{error}: run `kb init`"));
    let tokenizer = tokenizer(&installed, &ModelOptions::default()).unwrap();
    let pdf = ReadOptions::new(fs::canonicalize(kb).unwrap());
    let options = WalkOptions {
        max_file_mb: 100,
        follow_links: false,
        text_extensions: TextExtensions::NONE,
    };
    let starts: Vec<Start> = folders.iter().map(|folder| Start::named(folder)).collect();
    let files: Vec<PathBuf> = walk(&starts, &options).flatten().map(|file| file.path).collect();
    let waiting = Mutex::new(files.into_iter());
    let found: Mutex<BTreeMap<&'static str, Counts>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap().next();
                    let Some(path) = next else { break };
                    look_at(&path, &tokenizer, &pdf, &found);
                }
            });
        }
    });
    report(&found.into_inner().unwrap(), start);
}

/// Returns where `kb init` puts the model, by a short version of the same rules.
fn locations() -> Locations {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let home = variable("HOME").unwrap_or_default();
    let user_cache = variable("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache"));
    Locations {
        cache_dir: variable("KB_CACHE_DIR").unwrap_or_else(|| user_cache.join("kb")),
        hf_cache_dir: variable("HF_HOME")
            .unwrap_or_else(|| user_cache.join("huggingface"))
            .join("hub"),
        hf_endpoint: None,
        files: kb_base::document::ModelFiles::default(),
        hf_token: None,
        runtime_path: variable("ORT_DYLIB_PATH"),
        library_dirs: Locations::system_library_dirs(),
        pythons: Vec::new(),
    }
}

/// Reads one file, chunks it with each strategy, and adds to the counts.
fn look_at(
    path: &Path,
    tokenizer: &ModelTokenizer,
    pdf: &ReadOptions,
    found: &Mutex<BTreeMap<&'static str, Counts>>,
) {
    let Ok(bytes) = fs::read(path) else { return };
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let Ok(Some(format)) =
        detect(path, head, false, TypeOverride::default(), &TextExtensions::NONE)
    else {
        return;
    };
    let mut counts = Counts { num_files: 1, ..Counts::default() };
    match extract(&bytes, format, pdf) {
        Err(_) => counts.num_unreadable = 1,
        Ok(ExtractedFile { document, format, .. }) => {
            counts.num_lines = document.text.lines().count();
            counts.num_blocks = document.blocks.len();
            let mut broken = blocks(&document, format);
            for strategy in [Strategy::Structure, Strategy::Fixed] {
                let options = chunk_options(strategy, format, tokenizer);
                let count = |text: &str| tokenizer.num_tokens(text);
                let chunks = chunk(&document, "A title of some words", &count, &options);
                broken.extend(
                    chunks_of(&document, &chunks, &options, tokenizer)
                        .into_iter()
                        .map(|violation| format!("{strategy:?}: {violation}")),
                );
                if strategy == Strategy::Structure {
                    counts.num_chunks = chunks.len();
                    counts.num_with_symbol =
                        chunks.iter().filter(|chunk| chunk.symbol.is_some()).count();
                    counts.num_tokens = chunks.iter().map(|chunk| chunk.token_count as usize).sum();
                }
                let most = chunks.iter().map(|chunk| chunk.token_count).max().unwrap_or(0);
                counts.most_tokens = counts.most_tokens.max(most);
            }
            counts.broken =
                broken.iter().map(|violation| format!("{}: {violation}", path.display())).collect();
        }
    }
    let mut found = found.lock().unwrap();
    let all = found.entry(format.as_str()).or_default();
    all.num_files += counts.num_files;
    all.num_unreadable += counts.num_unreadable;
    all.num_lines += counts.num_lines;
    all.num_blocks += counts.num_blocks;
    all.num_chunks += counts.num_chunks;
    all.num_with_symbol += counts.num_with_symbol;
    all.num_tokens += counts.num_tokens;
    all.most_tokens = all.most_tokens.max(counts.most_tokens);
    all.broken.extend(counts.broken);
}

/// Returns the options of `kb add` with the default settings.
fn chunk_options(strategy: Strategy, format: Format, tokenizer: &ModelTokenizer) -> ChunkOptions {
    let is_code = format.doc_type() == DocType::Code;
    ChunkOptions {
        strategy,
        max_tokens: if strategy == Strategy::Fixed { 512 } else { 1024 },
        min_tokens: if is_code { 0 } else { 50 },
        overlap_tokens: 50,
        model_tokens: tokenizer.max_tokens(),
        reserved_tokens: tokenizer.num_overhead(),
        include_context: true,
    }
}

/// Checks that blocks are ordered, disjoint and on character boundaries, and that those of code
/// leave nothing out.
fn blocks(document: &Document, format: Format) -> Vec<String> {
    let mut broken = Vec::new();
    let text = &document.text;
    let mut at = 0;
    for block in &document.blocks {
        let bytes = block.bytes.clone();
        if bytes.start < at || text.get(bytes.clone()).is_none_or(|text| text.trim().is_empty()) {
            broken.push(format!("block {bytes:?} after {at}"));
            return broken;
        }
        let skipped = &text[at..bytes.start];
        if format.doc_type() == DocType::Code && !skipped.trim().is_empty() {
            broken.push(format!("lost before a block: {skipped:?}"));
        }
        at = bytes.end;
    }
    if format.doc_type() == DocType::Code && !text[at..].trim().is_empty() {
        broken.push(format!("lost at the end: {:?}", &text[at..]));
    }
    broken
}

/// Whether a line is the rule between the head of a table and its rows.
fn is_table_rule(line: &str) -> bool {
    line.contains('-') && line.chars().all(|letter| "|-: ".contains(letter))
}

/// Checks that chunks are ordered, within the limit, counted exactly, on the lines they state, and
/// together contain every letter of the blocks.
fn chunks_of(
    document: &Document,
    chunks: &[Chunk],
    options: &ChunkOptions,
    tokenizer: &ModelTokenizer,
) -> Vec<String> {
    let mut broken = Vec::new();
    let lines: Vec<&str> = document.text.split('\n').collect();
    let (mut last_start, mut last_page) = (0, 0);
    for (idx, chunk) in chunks.iter().enumerate() {
        let count = tokenizer.num_passage_tokens(&Chunk::passage(&chunk.context, &chunk.text));
        if count != chunk.token_count as usize || count > options.model_tokens {
            broken.push(format!("chunk {idx} has {count} tokens, not {}", chunk.token_count));
        }
        if chunk.text.trim().is_empty() {
            broken.push(format!("chunk {idx} is blank"));
        }
        if let Some(pages) = chunk.pages {
            if pages.first() < last_page {
                broken.push(format!("chunk {idx} is on pages {pages} after {last_page}"));
            }
            last_page = pages.first();
        }
        // The lines of other markup are not those of the file; `markup::tests` checks them.
        if !document.has_lines || !document.line_numbers.is_empty() {
            continue;
        }
        let Some(place) = chunk.lines else {
            broken.push(format!("chunk {idx} has no lines"));
            continue;
        };
        let named = lines.get(place.first() as usize - 1..place.last() as usize);
        // A table's head may be repeated before its rows.
        let tail = chunk.text.lines().last().unwrap_or_default();
        let is_there = named.is_some_and(|named| {
            named.last().is_some_and(|last| last.contains(tail))
                && (named[0].contains(chunk.text.lines().next().unwrap_or_default())
                    || chunk.text.lines().nth(1).is_some_and(is_table_rule))
        });
        if place.first() < last_start || !is_there {
            broken.push(format!("chunk {idx} is not on lines {place}: {:?}", chunk.text));
        }
        last_start = place.first();
    }
    broken.extend(lost(document, chunks));
    broken
}

/// Returns the first letters of the blocks that are in no chunk.
fn lost(document: &Document, chunks: &[Chunk]) -> Option<String> {
    let letters =
        |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
    let all: String =
        document.blocks.iter().map(|block| letters(&document.text[block.bytes.clone()])).collect();
    let mut covered = 0;
    for chunk in chunks {
        let text = letters(&chunk.text);
        // Windows overlap, and rows of a table repeat its head: new text is at the end.
        let end = (0..=text.len())
            .filter(|skipped| text.is_char_boundary(*skipped))
            .find(|skipped| all[covered..].starts_with(&text[*skipped..]))
            .map(|skipped| text.len() - skipped)?;
        covered += end;
    }
    (covered < all.len()).then(|| {
        let rest: String = all[covered..].chars().take(60).collect();
        format!("lost after {covered} of {} bytes: {rest:?}", all.len())
    })
}

fn report(found: &BTreeMap<&'static str, Counts>, start: Instant) {
    let mut table = String::from(
        "| format | files | not readable | lines | blocks | chunks | with a symbol | tokens, mean | most | broken |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    let mut num_broken = 0;
    for (format, counts) in found {
        num_broken += counts.broken.len();
        let mean = counts.num_tokens / counts.num_chunks.max(1);
        writeln!(
            table,
            "| {format} | {} | {} | {} | {} | {} | {} | {mean} | {} | {} |",
            counts.num_files,
            counts.num_unreadable,
            counts.num_lines,
            counts.num_blocks,
            counts.num_chunks,
            counts.num_with_symbol,
            counts.most_tokens,
            counts.broken.len()
        )
        .unwrap();
    }
    print!("{table}");
    for line in found.values().flat_map(|counts| counts.broken.iter().take(5)) {
        println!("{line}");
    }
    println!("{:.0} s", start.elapsed().as_secs_f64());
    if num_broken > 0 {
        std::process::exit(1);
    }
}
