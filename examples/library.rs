//! `kb` as a library: a folder in, the passages that answer a question out.
//!
//! `cargo run --example library -- ~/notes "how do I renew the VPN key"`; PDFs, HTML and the like are
//! read by the program `kb`, which is started for it.

#![expect(clippy::print_stdout, reason = "an example is a program of its own")]

use std::path::Path;

use kb::embed::{self, Embedder, Locations, ModelChoice, OpenOptions};
use kb::error::Result;
use kb::ingest::walk::Start;
use kb::ingest::{self, IngestOptions, IngestReport, Services};
use kb::search::{self, SearchOptions, parse};
use kb::store::Store;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, folder, question] = args.as_slice() else {
        panic!("usage: library FOLDER QUESTION, FOLDER as an absolute path")
    };
    let home = std::env::home_dir().unwrap_or_default();
    let model = ModelChoice::named("all-MiniLM-L6-v2")?;
    let installed = embed::install(&model, &Locations::below(&home), &mut |_| {})?;
    let how = OpenOptions::default();
    let tokenizer = embed::tokenizer(&installed, &how)?;
    let embedder = embed::open(&installed, &how, &mut |_| {})?;

    let mut store = Store::open(Path::new("library.db"))?;
    store.bind(embedder.binding())?;
    let services = Services { num_tokens: &|it| tokenizer.num_tokens(it), embedder: &embedder };
    let options = IngestOptions::new("kb".into(), tokenizer.max_tokens(), tokenizer.num_overhead());
    let mut report = IngestReport::default();
    let folders = [Start::named(Path::new(folder))];
    ingest::ingest(&mut store, &services, &folders, &options, &mut |_| {}, &mut report)?;

    let load = || embed::open_lone(&installed, &how, &mut |_| {});
    let query = parse::parse(question)?;
    for hit in search::search(&store, &load, &query, &SearchOptions::default())?.hits {
        println!("{:.3} {}\n{}\n", hit.score, hit.stored.title, hit.stored.chunk.chunk.text);
    }
    store.close()
}
