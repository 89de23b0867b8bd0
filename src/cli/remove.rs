//! `kb remove`.

use std::io;
use std::io::IsTerminal;

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, context};
use crate::error::{Error, Result};
use crate::present::clean::clean;
use crate::present::json;
use crate::store::StoredDocument;

pub(super) fn run(context: &Context, args: &args::Remove) -> Result<ExitStatus> {
    let unknown = |id: &str| Error::UnknownDocument { id: id.to_owned() };
    let mut store = context.open_existing()?.ok_or_else(|| unknown(&args.ids[0]))?;
    // All ids are looked up before the first document goes.
    let mut documents: Vec<StoredDocument> = Vec::new();
    for typed in &args.ids {
        let id = context::document_id(typed)?;
        if documents.iter().all(|it| it.id != id) {
            documents.push(store.document(id)?.ok_or_else(|| unknown(typed))?);
        }
    }
    if !args.yes && !io::stdin().is_terminal() {
        return Err(Error::Usage {
            message: "removing needs `--yes` where nobody can be asked".into(),
            hint: Some(format!("kb remove --yes {}", args.ids.join(" "))),
        });
    }
    let mut removed = Vec::new();
    for document in documents {
        if args.yes || confirm(&document)? {
            store.remove(document.id)?;
            removed.push(document.id);
        }
    }
    store.close()?;
    context.present(
        args.format.format,
        |out| json::removed(&removed, out),
        |human, out| human.removed(&removed, out),
    )?;
    Ok(ExitStatus::Success)
}

fn confirm(document: &StoredDocument) -> Result<bool> {
    let (title, count) = (clean(&document.title), document.chunk_count);
    context::confirm(&format!("Remove '{title}' and its {count} chunks?"))
}
