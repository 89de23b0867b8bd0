//! Starts, confines, feeds and ends the processes that read untrusted formats: one for each
//! document, and one for each picture that Tesseract reads.
//!
//! ```text
//! parent ═ pipe ═ reader ─► head, pages, tail
//!    ╚════ pipe ═ Tesseract, for the pictures that the reader draws
//! ```
//!
//! Such code never runs in the process that holds the database: `catch_unwind` catches neither a
//! stack overflow nor a failed allocation, both happen with real files, and a flaw in it must not
//! give its author the rights of the user.

pub mod confine;
mod layers;
mod ocr;
mod options;
pub(super) mod parent;
mod process;
mod slots;

/// The message for a system without a sandbox for the processes that read documents; `None` if it has one. An old
/// kernel of Linux may lack it, too: `Layers` lists what is in force.
pub const NO_SANDBOX: Option<&str> =
    if cfg!(target_os = "linux") { None } else { Some("files are read without a sandbox here") };

pub use confine::become_tesseract;
pub use layers::Layers;
pub use options::{Ocr, ReadOptions, Tesseract};
pub use parent::active;
pub use slots::OcrWork;
