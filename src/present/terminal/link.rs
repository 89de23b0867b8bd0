//! Formats the URLs of files for links on a terminal.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// Bytes that are escaped in the path of a URL.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the URL of a file.
pub(in crate::present) fn url(path: &Path) -> String {
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_owned();
    #[cfg(not(unix))]
    let bytes = format!("/{}", path.to_string_lossy().replace('\\', "/")).into_bytes();
    format!("file://{}", percent_encode(&bytes, ESCAPED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_can_end_the_link() {
        for (path, expected) in [
            ("/a/b-c_d.md", "file:///a/b-c_d.md"),
            ("/Größe 1%.md", "file:///Gr%C3%B6%C3%9Fe%201%25.md"),
            ("/x\u{1b}\\;\u{7}#?.md", "file:///x%1B%5C%3B%07%23%3F.md"),
        ] {
            assert_eq!(url(Path::new(path)), expected);
        }
    }
}
