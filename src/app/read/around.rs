//! Returns the text before and after a chunk in its document.

use crate::app::Session;
use crate::document::join;
use crate::error::{Error, Result};
use crate::store::ChunkId;

/// The text of a chunk's neighbours, without what they share with the chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// The text of the chunk before it; empty for the first chunk.
    pub before: String,
    /// The text of the chunk after it; empty for the last chunk.
    pub after: String,
}

/// Returns the text of the chunks before and after a chunk. The session keeps the connection.
pub fn around(session: &Session, id: ChunkId) -> Result<Around> {
    let unknown = || Error::UnknownChunk { id: id.0 };
    session.steadily(|| {
        let store = session.store()?.ok_or_else(unknown)?;
        let document_id = store.hits(&[id])?.first().ok_or_else(unknown)?.document_id;
        let chunks = store.chunks(document_id)?;
        let at = chunks.iter().position(|stored| stored.id == id).ok_or_else(unknown)?;
        session.give_back(store);
        let first = at.saturating_sub(1);
        let near = chunks[first..].iter().take(at - first + 2);
        let joined = join::join(near.map(|stored| &stored.chunk));
        let span = &joined.spans[at - first];
        let text = |bytes: &str| bytes.trim_matches('\n').to_owned();
        Ok(Around {
            before: text(&joined.text[..span.start]),
            after: text(&joined.text[span.end..]),
        })
    })
}
