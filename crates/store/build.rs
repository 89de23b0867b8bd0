//! Finds `migrations`: at the top of the checkout, or next to the manifest, where packaging puts what the link leads to.
//! A checkout on Windows may have no links.

use std::path::Path;

fn main() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let top = package.join("../../migrations");
    let place = if top.exists() { top } else { package.join("migrations") };
    println!("cargo::rustc-env=KB_MIGRATIONS={}", place.display());
    println!("cargo::rerun-if-changed={}", place.display());
}
