//! Finds the entries of a log. A line that is indented continues an entry.

use super::lines::{indent, lines};
use super::parts::Parts;

pub(super) fn scan(text: &str, parts: &mut Parts<'_>) {
    for (at, line) in lines(text) {
        if !line.is_empty() && indent(line) == 0 {
            parts.member(at, None);
        }
    }
}
