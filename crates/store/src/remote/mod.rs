//! Keeps a copy of a knowledge base in PostgreSQL with pgvector, and searches there.
//!
//! ```text
//! push:   store ─► documents and blocks that differ ─► tables kb_…
//! search: terms, vector ─► tables kb_… ─► what `search` asks of a database
//! ```
//!
//! All SQL of the copy is here. The rules of ranking are not: `search` has them, for both databases.
//! Nothing that the server sends is trusted: `guard` checks every message before the client library acts on it, every
//! value is checked, and nothing that it names is opened.
//!
//! ```text
//! target (URL, words of libpq) ─► link ─► tls ─► guard ─► client library
//! ```

mod breach;
mod copy;
mod guard;
mod link;
mod postings;
mod push;
mod read;
mod rows;
mod state;
mod statements;
mod target;
mod terms;
mod tls;
mod words;

pub use link::RemoteLink;
pub use push::{OnProgress, PushProgress, PushSummary, push};
pub use read::Remote;
pub use target::CopyTarget;
