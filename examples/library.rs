//! Uses `kb` as a library: adds a folder, updates it, answers a question and removes the folder.
//!
//! `cargo run --example library -- ~/notes "how do I renew the VPN key"`. The program `kb` is
//! started to read PDFs, HTML and similar files.

#![expect(clippy::print_stdout, reason = "an example is a program of its own")]

use std::path::Path;

use kb::app::indexing::add::{AddRequest, DocumentSource, add};
use kb::app::indexing::update::{UpdateRequest, update};
use kb::app::maintenance::remove::{RemoveRequest, remove};
use kb::app::query::search::{SearchRequest, search};
use kb::app::session::Session;
use kb::app::session::observer::SilentObserver;
use kb::config::Environment;
use kb_base::error::Result;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, folder, question] = args.as_slice() else { panic!("usage: library FOLDER QUESTION") };
    let session = Session::builder(Environment::of_process())
        .data_dir(Some(Path::new("library")))
        .reader("kb")
        .build()?;

    let (added, _) = add(
        &session,
        &AddRequest::of(DocumentSource::Paths(vec![folder.into()])),
        &SilentObserver,
    )?;
    println!("{} added, {} failed", added.added, added.failed.len());
    let updated = update(&session, &UpdateRequest::default(), &SilentObserver)?;
    println!("{} updated, {} missing", updated.updated, updated.missing.len());

    let request = SearchRequest { query: question.clone(), ..SearchRequest::default() };
    for hit in search(&session, &request, &SilentObserver)?.hits {
        println!("{:.3} {}\n{}\n", hit.score, hit.stored.title, hit.stored.chunk.chunk.text);
    }

    let request = RemoveRequest { documents: vec![folder.clone()], ..RemoveRequest::default() };
    let removed = remove(&session, &request, &|_| Ok(true), &SilentObserver)?;
    println!("{} removed", removed.ids.len());
    session.close()
}
