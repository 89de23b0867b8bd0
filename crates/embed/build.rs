//! Finds `models.toml`: at the top of the checkout, or next to the manifest, where packaging puts what the link leads to.
//! A checkout on Windows may have no links.

use std::path::Path;

fn main() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let top = package.join("../../models.toml");
    let place = if top.exists() { top } else { package.join("models.toml") };
    println!("cargo::rustc-env=KB_MODELS={}", place.display());
    println!("cargo::rerun-if-changed={}", place.display());
}
