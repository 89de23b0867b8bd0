//! Prints how similar two texts are: `similar HOME TEXT TEXT`. The model is fetched below HOME once.

#![expect(clippy::print_stdout, reason = "an example is a program of its own")]

use std::path::Path;

use kb_embed::{DEFAULT_MODEL, Locations, ModelChoice, ModelOptions, install, open};

fn main() -> kb_base::error::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, home, first, second] = args.as_slice() else { panic!("similar HOME TEXT TEXT") };
    let locations = Locations::below(Path::new(home));
    let installed = install(&ModelChoice::named(DEFAULT_MODEL)?, &locations, &mut |_| {})?;
    let model = open(&installed, &ModelOptions::default(), &mut |_| {})?;
    let found = model.embed_passages(&[first, second])?;
    let products = found[0].vector.iter().zip(&found[1].vector).map(|(a, b)| a * b);
    println!("{:.3}", products.sum::<f32>());
    Ok(())
}
