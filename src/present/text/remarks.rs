//! Words remarks that several commands make.

use crate::text::number::{counted, thousands};

/// Reports files that failed in an earlier run.
pub(super) fn known_to_fail(num: usize) -> String {
    let pronoun = if num == 1 { "it" } else { "them" };
    format!("{} known to fail; `kb files --failed` lists {pronoun}.", thousands(num))
}

/// Reports files of whose words many were left out.
pub(super) fn lossy(num: usize) -> String {
    let pronoun = if num == 1 { "it" } else { "them" };
    let files = counted(num, "file");
    format!(
        "{files}: more than a tenth of the words were left out; `kb files --quality` lists {pronoun}."
    )
}

/// Returns a sentence about documents that were made with other settings.
pub(in crate::present) fn made_differently(count: usize) -> String {
    let (were, them) = if count == 1 { ("was", "it") } else { ("were", "them") };
    format!(
        "{} {were} made with other settings, another model or an older kb; `kb update --reread` makes \
         {them} again",
        counted(count, "document")
    )
}
