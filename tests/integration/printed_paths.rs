//! Brings the paths that kb prints on Windows into the form in which tests write them: `C:/users/ada/notes/a.md`.
//!
//! kb stores them in this form, and prints it for programs; messages have backslashes, which JSON doubles. On Unix nothing
//! is changed, so that tests there compare what kb prints, byte for byte.

use std::path::{Path, PathBuf};

/// A folder whose paths are brought into the form of tests.
#[derive(Debug, Clone)]
struct KnownFolder {
    /// As the system has it: `C:\users\ada`.
    native: String,
    /// As tests write it: `C:/users/ada`.
    written: String,
}

/// The prefix of a path that Windows takes to the letter.
const TO_THE_LETTER: &str = r"\\?\";

/// How often text within a string of JSON, and JSON within such a string, repeats a backslash.
const REPEATED: [usize; 3] = [4, 2, 1];

/// Before a message about skills.
const OF_SKILLS: &str = "[kb] ";

/// Characters that no name on Windows has, and those that end a path in a message.
const AFTER_A_PATH: [char; 11] = ['"', '`', '<', '>', '|', '*', '?', ':', '\n', '\r', '\t'];

/// Returns a path without links as tests write it.
pub(crate) fn written(path: &Path) -> PathBuf {
    if cfg!(windows) {
        let text = native(path).replace('\\', "/");
        return text.into();
    }
    path.to_owned()
}

/// Returns the path of an existing file or folder without links, as tests write it.
#[track_caller]
pub(crate) fn without_links(path: &Path) -> PathBuf {
    written(&path.canonicalize().unwrap())
}

/// Returns a path as the system writes it.
pub(crate) fn native(path: &Path) -> String {
    if !cfg!(windows) {
        return path.to_str().unwrap().to_owned();
    }
    let found = path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap();
    let text = found.to_str().unwrap();
    text.strip_prefix(TO_THE_LETTER).unwrap_or(text).replace('/', "\\")
}

/// Returns what kb printed, with each path below one of these folders, or in the checkout, as tests write it. The first
/// folder counts if one is in another.
pub(crate) fn as_written(printed: String, folders: &[&Path]) -> String {
    if !cfg!(windows) {
        return printed;
    }
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut known: Vec<KnownFolder> = folders
        .iter()
        .copied()
        .chain([built, checkout])
        .map(|folder| KnownFolder {
            native: native(folder),
            written: folder.to_str().unwrap().to_owned(),
        })
        .collect();
    // Paths below the working directory begin with the name of something in it.
    let entries = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    known.extend(
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .map(|name| KnownFolder { native: name.clone(), written: name }),
    );
    with_slashes(&printed, &known)
}

fn with_slashes(text: &str, folders: &[KnownFolder]) -> String {
    // In JSON, one backslash is an escape.
    let is_json = text.trim_start().starts_with(['{', '[']) && !text.starts_with(OF_SKILLS);
    let (mut shown, mut rest) = (String::new(), text);
    'text: while let Some(next) = rest.chars().next() {
        let is_start =
            !shown.ends_with(|before: char| before.is_alphanumeric() || "-_./".contains(before));
        for folder in folders.iter().filter(|_| is_start) {
            if let Some(found) = found_folder(rest, folder, is_json) {
                // Before it may be the prefix of a path that is taken to the letter.
                let prefix = TO_THE_LETTER.replace('\\', &found.separator);
                shown.truncate(shown.strip_suffix(&prefix).unwrap_or(&shown).len());
                shown += &folder.written.replace('\\', &found.separator);
                rest = with_slashes_to_the_end(&mut shown, &rest[found.len..], &found.separator);
                continue 'text;
            }
        }
        shown.push(next);
        rest = &rest[next.len_utf8()..];
    }
    shown
}

/// Where a path begins with a known folder.
struct FoundFolder {
    len: usize,
    /// How a backslash is written there.
    separator: String,
}

/// Looks for a folder at the start of a text, with either separator.
fn found_folder(text: &str, folder: &KnownFolder, is_json: bool) -> Option<FoundFolder> {
    let start = folder.native.split('\\').next()?;
    if !text.starts_with(start) {
        return None;
    }
    // With slashes alone, the form of the text decides.
    let times = REPEATED.into_iter().chain([if is_json { 2 } else { 1 }]);
    times.map(|times| "\\".repeat(times)).enumerate().find_map(|(idx, separator)| {
        let len = len_of_folder(text, &folder.native, &separator)?;
        let is_followed = text[len..].starts_with(&separator) || text[len..].starts_with('/');
        if !folder.native.contains('\\') && !is_followed {
            // A word that is also the name of something in the folder.
            return None;
        }
        let has_separator = text[..len].contains('\\') || text[len..].starts_with(&separator);
        let is_own = idx == REPEATED.len() || has_separator && !(is_json && separator.len() == 1);
        is_own.then_some(FoundFolder { len, separator })
    })
}

/// Adds the rest of a path with slashes, and returns the text after it.
fn with_slashes_to_the_end<'a>(shown: &mut String, path: &'a str, separator: &str) -> &'a str {
    let mut rest = path;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(separator) {
            shown.push('/');
            rest = after;
        } else if next == '\\' || AFTER_A_PATH.contains(&next) {
            break;
        } else {
            shown.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    rest
}

/// Returns the length of a folder at the start of a text, with either separator; `None` if it is not there.
fn len_of_folder(text: &str, native: &str, separator: &str) -> Option<usize> {
    let mut rest = text;
    for (idx, name) in native.split('\\').enumerate() {
        if idx > 0 {
            rest = rest.strip_prefix(separator).or_else(|| rest.strip_prefix('/'))?;
        }
        rest = rest.strip_prefix(name)?;
    }
    let is_whole = !rest.starts_with(|next: char| next.is_alphanumeric() || "-_.".contains(next));
    is_whole.then(|| text.len() - rest.len())
}

#[test]
fn paths_of_windows_are_compared_in_one_form() {
    let folders = [
        KnownFolder { native: r"C:\users\ada\kb-1".into(), written: "C:/users/ada/kb-1".into() },
        KnownFolder { native: r"Z:\src".into(), written: "/src".into() },
        KnownFolder { native: "out".into(), written: "out".into() },
    ];
    for (printed, expected) in [
        (r"added C:\users\ada\kb-1\a b\ü.md: \d", r"added C:/users/ada/kb-1/a b/ü.md: \d"),
        (
            r#"{"path":"C:\\users\\ada\\kb-1\\a.md\n\\d"}"#,
            r#"{"path":"C:/users/ada/kb-1/a.md\n\\d"}"#,
        ),
        (
            r#""{\"path\":\"C:\\\\users\\\\ada\\\\kb-1\\\\a.md\"}""#,
            r#""{\"path\":\"C:/users/ada/kb-1/a.md\"}""#,
        ),
        (r"\\?\C:\users\ada\kb-1", "C:/users/ada/kb-1"),
        (
            r"C:/users/ada/kb-1\a\b `C:\users\ada\kb-1` Z:\src\a",
            "C:/users/ada/kb-1/a/b `C:/users/ada/kb-1` /src/a",
        ),
        (r"out\a\b.md: about\x", r"out/a/b.md: about\x"),
        (r"'out' is 'C:\users\ada\kb-1\out'", "'out' is 'C:/users/ada/kb-1/out'"),
        // Other folders, also one whose name begins alike.
        (r"C:\users\ada\kb-12\a C:\users\bob\x", r"C:\users\ada\kb-12\a C:\users\bob\x"),
    ] {
        assert_eq!(with_slashes(printed, &folders), expected);
    }
}
