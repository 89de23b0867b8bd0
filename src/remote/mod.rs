//! Keeps a copy of a knowledge base in PostgreSQL with pgvector, and searches there.
//!
//! ```text
//! push:   store ─► documents and blocks that differ ─► tables kb_…
//! search: terms, vector ─► tables kb_… ─► what `search` asks of a database
//! ```
//!
//! All SQL of the copy is here. The rules of ranking are not: `search` has them, for both databases.
//! Nothing that the server sends is trusted: every value is checked, and nothing that it names is opened.

mod copy;
mod link;
mod postings;
mod push;
mod read;
mod state;

pub use link::{Link, Target};
pub use push::{OnProgress, Progress, Pushed, push};
pub use read::Remote;
