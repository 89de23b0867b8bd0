//! Selects what the ledger records of the files in a container or a document.

use std::collections::BTreeMap;
use std::path::Path;

use crate::store::LedgerRow;
use crate::text::paths;

/// Returns the rows of the files in a container or a document.
pub(super) fn of<'r>(
    rows: &'r BTreeMap<String, LedgerRow>,
    container: &Path,
) -> impl Iterator<Item = &'r LedgerRow> {
    let first = paths::member_text(&paths::path_text(container), "");
    let from = rows.range(first.clone()..);
    from.take_while(move |(path, _)| path.starts_with(&first)).map(|(_, row)| row)
}
