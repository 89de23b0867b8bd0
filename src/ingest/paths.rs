//! A path in, its text out, and the other way round.

use std::path::{Component, Path, PathBuf};

/// Removes `.` and `..` from an absolute path without looking at the file system.
pub fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // `pop` leaves the root alone, as the system does with `/..`.
            Component::ParentDir => {
                cleaned.pop();
            }
            it => cleaned.push(it),
        }
    }
    cleaned
}

/// Returns a path as text that tells it from every other: bytes that are no UTF-8 become `\xHH`.
pub fn path_text(path: &Path) -> String {
    #[cfg(unix)]
    {
        use std::fmt::Write;
        use std::os::unix::ffi::OsStrExt;
        let mut text = String::new();
        for part in path.as_os_str().as_bytes().utf8_chunks() {
            text.push_str(part.valid());
            for byte in part.invalid() {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
        text
    }
    #[cfg(not(unix))]
    path.to_string_lossy().into_owned()
}

/// Returns the path that [`path_text`] made a text of.
///
/// A file whose name really has a backslash, an `x` and two digits goes before.
pub fn path_of(text: &str) -> PathBuf {
    let plain = PathBuf::from(text);
    #[cfg(unix)]
    if text.contains("\\x") && plain.symlink_metadata().is_err() {
        use std::os::unix::ffi::OsStringExt;
        let mut parts = text.split("\\x");
        let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
        for part in parts {
            match part.get(..2).and_then(|it| u8::from_str_radix(it, 16).ok()) {
                Some(byte) if !byte.is_ascii() => {
                    bytes.push(byte);
                    bytes.extend_from_slice(&part.as_bytes()[2..]);
                }
                _ => {
                    bytes.extend_from_slice(b"\\x");
                    bytes.extend_from_slice(part.as_bytes());
                }
            }
        }
        return PathBuf::from(std::ffi::OsString::from_vec(bytes));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn names_that_are_no_text_stay_apart() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        for (name, text) in [
            (&b"plain.md"[..], "plain.md"),
            (b"\xff.md", "\\xff.md"),
            (b"a\xfe\xff", "a\\xfe\\xff"),
            ("é\\x41\\x".as_bytes(), "é\\x41\\x"),
        ] {
            let path = Path::new(OsStr::from_bytes(name));
            assert_eq!((path_text(path).as_str(), path_of(text)), (text, path.to_owned()));
        }
    }

    #[test]
    fn paths_are_cleaned_without_looking() {
        for (given, expected) in
            [("/a/./b//c/", "/a/b/c"), ("/a/../b", "/b"), ("/../../a", "/a"), ("/", "/")]
        {
            assert_eq!(clean(Path::new(given)), Path::new(expected), "{given}");
        }
    }
}
