//! Stores a note and finds it by what it says: `search DATABASE HOME NOTE QUESTION`. The model is fetched below HOME.

#![expect(clippy::print_stdout, reason = "an example is a program of its own")]

use std::path::Path;
use std::sync::Arc;

use kb_base::document::{Chunk, Format, Metadata};
use kb_base::hash::sha256;
use kb_embed::{DEFAULT_MODEL, Embedder, Locations, ModelChoice, ModelOptions, install, open};
use kb_store::search::{SearchOptions, parse, search};
use kb_store::{NewDocument, Store};

fn main() -> kb_base::error::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, database, home, note, question] = args.as_slice() else { panic!("see above") };
    let locations = Locations::below(Path::new(home));
    let installed = install(&ModelChoice::named(DEFAULT_MODEL)?, &locations, &mut |_| {})?;
    let model: Arc<dyn Embedder> = open(&installed, &ModelOptions::default(), &mut |_| {})?.into();

    let mut store = Store::open(Path::new(database))?;
    store.bind(model.binding())?;
    let chunk = Chunk { text: note.clone(), ..Chunk::default() };
    let document = NewDocument {
        stamp: None,
        title: "A note".to_owned(),
        is_title_given: false,
        content_hash: sha256(note),
        format: Format::Note,
        tags: Vec::new(),
        metadata: Metadata::default(),
        making: None,
        note_text: None,
    };
    store.replace(&document, &[chunk], &model.embed_passages(&[note])?, &|_| false)?;

    let load = || Ok(Arc::clone(&model));
    let answer = search(&store, &load, &[parse::parse(question)?], &SearchOptions::default())?;
    for hit in answer.hits {
        println!("{:.2} {}", hit.score, hit.stored.chunk.chunk.text);
    }
    Ok(())
}
