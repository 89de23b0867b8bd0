//! Writes answers for models: short Markdown with citations and ids, without what is null or only explains a rank.
//!
//! The same answer always has the same bytes. Texts of documents are quoted or come last, so that they cannot
//! imitate another part of an answer.

pub mod documents;
mod grep;
mod search;
mod skills;

pub use grep::{AnswerInterface, grep};
pub use search::{cost, found, markdown, markdown_cost, similar};
pub use skills::skill;
