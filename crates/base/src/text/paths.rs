//! Converts paths to distinct texts, and texts to paths.

mod real;

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use super::forms::composed;
use super::printable::is_harmful;

pub use real::{canonical, resolved, with_stored_case};

/// Removes `.` and `..` from an absolute path without using the file system.
pub fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // `pop` leaves the root unchanged, as the system does with `/..`.
            Component::ParentDir => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// Returns the text of a path, which is unique: a byte that is not UTF-8 becomes `\xHH`, and a
/// backslash before an `x` becomes `\x5c`, so that no two paths have the same text.
///
/// On Windows, it has [`SEPARATOR`], which the system understands like `\`, and the letter of a drive is
/// upper case.
pub fn path_text(path: &Path) -> String {
    #[cfg(unix)]
    {
        use std::fmt::Write;
        use std::os::unix::ffi::OsStrExt;
        let mut text = String::new();
        for part in path.as_os_str().as_bytes().utf8_chunks() {
            if part.valid().contains(ESCAPE) {
                text.push_str(&part.valid().replace(ESCAPE, ESCAPED));
            } else {
                text.push_str(part.valid());
            }
            for byte in part.invalid() {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
        text
    }
    #[cfg(windows)]
    {
        let mut text = real::without_prefix(path.to_owned()).to_string_lossy().replace('\\', "/");
        if text.get(1..2) == Some(":")
            && let Some(letter) = text.get_mut(..1)
        {
            letter.make_ascii_uppercase();
        }
        text
    }
}

/// The prefix of an escaped byte.
#[cfg(unix)]
const ESCAPE: &str = "\\x";

/// The escaped form of that prefix.
#[cfg(unix)]
const ESCAPED: &str = "\\x5cx";

/// Between the folders of a path in the database's notation, on every system.
pub const SEPARATOR: char = '/';

/// Between the path of a container and the name of a file in it. No cleaned path has two separators in
/// a row.
const MEMBER: &str = "//";

/// Returns the text for a file in a container, by its name there.
pub fn member_text(container: &str, name: &str) -> String {
    format!("{container}{MEMBER}{name}")
}

/// Returns the text of the file on disk and, for a file in a container, its name there.
pub fn split_member(text: &str) -> (&str, Option<&str>) {
    match text.get(1..).and_then(|rest| rest.find(MEMBER)) {
        Some(at) => (&text[..=at], Some(&text[at + 1 + MEMBER.len()..])),
        None => (text, None),
    }
}

/// Returns the path of a text from [`path_text`]; for a file in a container, the path of the container.
///
/// Older versions did not escape a backslash before an `x`. If the path for a text does not exist,
/// but a path with the literal text does, returns the latter.
pub fn path_of(text: &str) -> PathBuf {
    let (text, _) = split_member(text);
    #[cfg(unix)]
    if text.contains(ESCAPE) {
        let path = unescaped(text, is_stored_escaped);
        let plain = PathBuf::from(text);
        let is_plain = path.symlink_metadata().is_err() && plain.symlink_metadata().is_ok();
        return if is_plain { plain } else { path };
    }
    #[cfg(windows)]
    return PathBuf::from(text.replace('/', "\\"));
    #[cfg(unix)]
    PathBuf::from(text)
}

/// Returns the text that older versions used for a path, given the text of [`path_text`]; `None` if
/// they are equal.
pub fn old_text(text: &str) -> Option<String> {
    #[cfg(unix)]
    if text.contains(ESCAPED) {
        return Some(text.replace(ESCAPED, ESCAPE));
    }
    let _ = text;
    None
}

/// Returns a stored path for a model, on one line and without quotes. A character that must not be shown becomes its
/// bytes as `\xHH`, and so does a backtick, which would end a code span. [`typed_text`] takes this form back.
pub fn shown_text(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    // On systems whose names are always text, a backslash separates folders and escapes nothing.
    #[cfg(not(unix))]
    return super::printable::clean_name(text).into();
    #[cfg(unix)]
    {
        let mut shown = String::with_capacity(text.len());
        for c in text.chars() {
            if is_hidden(c) {
                shown.extend(c.to_string().bytes().map(|byte| format!("{ESCAPE}{byte:02x}")));
            } else {
                shown.push(c);
            }
        }
        shown.into()
    }
}

/// Ends a code span.
const BACKTICK: char = '`';

/// Whether [`shown_text`] does not show a character.
fn is_hidden(c: char) -> bool {
    is_harmful(c) || c == BACKTICK
}

/// Returns the text of an absolute path from the command line: either the path itself, or one of kb's printed forms of a
/// path, [`path_text`] and [`shown_text`].
pub fn typed_text(path: &Path) -> String {
    #[cfg(unix)]
    if let Some(typed) = path.to_str()
        && typed.contains(ESCAPE)
        && path.symlink_metadata().is_err()
    {
        return path_text(&unescaped(typed, is_shown_escaped));
    }
    path_text(path)
}

/// Returns the name of a file in a container from its form in [`shown_text`].
pub fn typed_member(name: &str) -> Cow<'_, str> {
    #[cfg(unix)]
    if name.contains(ESCAPE) {
        return unescaped(name, is_shown_escaped).to_string_lossy().into_owned().into();
    }
    name.into()
}

/// Whether [`path_text`] escapes a byte.
#[cfg(unix)]
fn is_stored_escaped(byte: u8) -> bool {
    !byte.is_ascii()
}

/// Whether [`path_text`] or [`shown_text`] escapes a byte.
#[cfg(unix)]
fn is_shown_escaped(byte: u8) -> bool {
    !byte.is_ascii() || byte.is_ascii_control() || char::from(byte) == BACKTICK
}

/// Replaces each `\xHH` of an escaped byte, and of an escaped prefix, with its byte; everything else is unchanged.
#[cfg(unix)]
fn unescaped(text: &str, is_escaped: fn(u8) -> bool) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut parts = text.split(ESCAPE);
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| {
            digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        });
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if is_escaped(byte) || (byte == b'\\' && part[2..].starts_with('x')) => {
                bytes.push(byte);
                bytes.extend_from_slice(&part.as_bytes()[2..]);
            }
            _ => {
                bytes.extend_from_slice(ESCAPE.as_bytes());
                bytes.extend_from_slice(part.as_bytes());
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// The extensions of single files that were compressed.
const COMPRESSED: [&str; 4] = ["gz", "xz", "zst", "bz2"];

/// Returns the path without the extension of compression: what the file is called when unpacked.
pub fn unpacked(path: &Path) -> Cow<'_, Path> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_compressed = extension.is_some_and(|extension| {
        COMPRESSED.iter().any(|compressed| extension.eq_ignore_ascii_case(compressed))
    });
    if is_compressed { Cow::Owned(path.with_extension("")) } else { Cow::Borrowed(path) }
}

/// Returns the last part of a path as text: the name of the file.
pub fn name(text: &str) -> String {
    if let (_, Some(name)) = split_member(text) {
        return name.rsplit('/').next().unwrap_or(name).to_owned();
    }
    let path = path_of(text);
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the title that a document has from its path alone: the name of the file without its extension.
pub fn title(text: &str) -> String {
    let name = name(text);
    unpacked(Path::new(&name))
        .file_stem()
        .map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned())
}

/// Whether a title is from a path alone; until version 5 of the readers, it had the extension.
pub fn is_title(title: &str, text: &str) -> bool {
    title == self::title(text) || title == name(text)
}

/// Whether a path is at or below a file or folder, both in the database's notation. Letters and their marks may be composed
/// in one of them alone.
pub fn is_within(path: &str, place: &str) -> bool {
    let place = place.trim_end_matches(SEPARATOR);
    is_in(path, place) || !place.is_ascii() && is_in(&composed(path), &composed(place))
}

/// Like [`is_within`], for texts in the same normal form.
fn is_in(path: &str, place: &str) -> bool {
    let rest = path.strip_prefix(place);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(SEPARATOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_at_or_below_a_place_in_any_normal_form() {
        let check = |path: &str, place: &str, expected: bool| {
            assert_eq!(is_within(path, place), expected, "{path} {place}");
        };
        check("/a/b.md", "/a", true);
        check("/a/b.md", "/a/", true);
        check("/a/b.md", "/", true);
        check("/a/b.md", "/a/b.md", true);
        check("/ab", "/a", false);
        check("/a.zip//b", "/a.zip", true);
        check("/U\u{308}bung/b", "/Übung", true);
        check("/Übung/b", "/U\u{308}bung", true);
        check("/U\u{308}bungen/b", "/Übung", false);
    }

    #[test]
    fn a_member_is_a_container_and_a_name() {
        let text = member_text("/n/a.zip", "docs/b.md");
        assert_eq!(text, "/n/a.zip//docs/b.md");
        assert_eq!(split_member(&text), ("/n/a.zip", Some("docs/b.md")));
        assert_eq!(split_member("/n/é.md"), ("/n/é.md", None));
        assert_eq!(split_member("//server/x"), ("//server/x", None));
        assert_eq!((path_of(&text), name(&text)), (PathBuf::from("/n/a.zip"), "b.md".into()));
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_stay_distinct() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        for (name, text) in [
            (&b"plain.md"[..], "plain.md"),
            (b"\xff.md", "\\xff.md"),
            (b"a\xfe\xff", "a\\xfe\\xff"),
            ("é\\x41\\x".as_bytes(), "é\\x5cx41\\x5cx"),
            (b"caf\\xe9.md", "caf\\x5cxe9.md"),
            (b"caf\xe9.md", "caf\\xe9.md"),
            (b"a\\x5cxe9", "a\\x5cx5cxe9"),
            (b"\\\xff\\x\xfex", "\\\\xff\\x5cx\\xfex"),
            (b"a\\b\\", "a\\b\\"),
        ] {
            let path = Path::new(OsStr::from_bytes(name));
            assert_eq!((path_text(path).as_str(), path_of(text)), (text, path.to_owned()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_a_model_reads_is_one_line_and_is_taken_back() {
        for (name, shown) in [
            ("/n/a b (1)'$x.md", "/n/a b (1)'$x.md"),
            ("/n/a\nb\tc\u{1b}[31m", "/n/a\\x0ab\\x09c\\x1b[31m"),
            ("/n/`a`", "/n/\\x60a\\x60"),
            ("/n/a\u{202e}b\u{85}", "/n/a\\xe2\\x80\\xaeb\\xc2\\x85"),
        ] {
            let stored = path_text(Path::new(name));
            assert_eq!(shown_text(&stored), shown);
            assert_eq!(typed_text(Path::new(shown)), stored, "{shown}");
            assert_eq!(typed_member(&shown_text(name)), name, "{shown}");
        }
        for (name, shown) in [("/n/\\x60`", "/n/\\x5cx60\\x60"), ("/n/\\x0a", "/n/\\x5cx0a")] {
            let stored = path_text(Path::new(name));
            assert_eq!(
                (shown_text(&stored), typed_text(Path::new(shown))),
                (shown.into(), stored.clone())
            );
        }
        // A name that only looks escaped was typed literally.
        for name in ["/n/\\x41", "/n/\\x", "/n/\\xzz"] {
            assert_eq!(typed_text(Path::new(name)), path_text(Path::new(name)));
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_two_paths_have_the_same_text() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let letters = *b"\\x5ce9\xe9\x80";
        let mut seen = std::collections::HashMap::new();
        // All names of up to five of these letters.
        for number in 0..9_usize.pow(5) {
            let mut rest = number;
            let mut name = Vec::new();
            while rest > 0 {
                if rest % 9 > 0 {
                    name.push(letters[rest % 9 - 1]);
                }
                rest /= 9;
            }
            let path = PathBuf::from(OsStr::from_bytes(&name));
            let text = path_text(&path);
            assert_eq!(unescaped(&text, is_stored_escaped), path, "{text}");
            let before = seen.insert(text.clone(), path.clone());
            assert!(before.is_none_or(|before| before == path), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_text_of_an_older_version_finds_its_file() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let literal = folder.path().join("caf\\xe9.md");
        let raw = folder.path().join(OsStr::from_bytes(b"caf\xe9.md"));
        let old = literal.to_str().unwrap();
        std::fs::write(&literal, "literal").unwrap();
        assert_eq!(path_of(old), literal);
        assert_eq!(old_text(&path_text(&literal)).as_deref(), Some(old));
        assert_eq!(typed_text(&literal), path_text(&literal));
        // If both exist, the text has its current meaning.
        std::fs::write(&raw, "raw").unwrap();
        assert_eq!((path_of(old), path_of(&path_text(&literal))), (raw.clone(), literal.clone()));
        std::fs::remove_file(&literal).unwrap();
        assert_eq!(typed_text(&literal), path_text(&raw));
        assert_eq!(old_text(&path_text(&raw)), None);
    }

    #[test]
    fn paths_are_cleaned_without_the_file_system() {
        for (given, expected) in
            [("/a/./b//c/", "/a/b/c"), ("/a/../b", "/b"), ("/../../a", "/a"), ("/", "/")]
        {
            assert_eq!(clean(Path::new(given)), Path::new(expected), "{given}");
        }
    }
}
