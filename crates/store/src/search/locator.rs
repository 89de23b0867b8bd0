//! Reads a query as the place of a file: its name with the extension, or the last parts of its path, also with a line, as
//! programs print them. Pure.

use unicode_normalization::UnicodeNormalization;

/// Longer queries are texts. No system has longer paths.
const MAX_LEN: usize = 4096;

/// Signs that people and programs put around a path.
const AROUND: [char; 9] = ['`', '\'', '<', '>', '[', ']', ',', ';', ' '];

/// A file that a query names, and a line in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileLocator {
    /// The last parts of its path, as they are compared.
    parts: Vec<String>,
    /// The line, counted from 1.
    pub(super) line: Option<u32>,
}

impl FileLocator {
    /// Returns the file that a query names as a whole. Whether there is such a file, the query does not say: `node.js` may be
    /// one.
    pub(super) fn of(query: &str) -> Option<Self> {
        let query = query.trim_matches(AROUND);
        if query.len() > MAX_LEN || query.contains(['"', '\n']) {
            return None;
        }
        let query = query.strip_prefix("file://").unwrap_or(query);
        let (path, line) = split_line(query);
        let parts = parts(path).skip_while(|part| matches!(*part, "." | ".." | "~"));
        let parts: Vec<String> = parts.map(compared).collect();
        let is_file = match parts.as_slice() {
            [] => false,
            [name] => has_extension(name),
            _ => true,
        };
        let file = Self { parts, line };
        (is_file && !file.names().is_empty()).then_some(file)
    }

    /// Whether it is at a path.
    pub(super) fn is_at(&self, path: &str) -> bool {
        let mut own = parts(path).rev().map(compared);
        self.parts.iter().rev().all(|part| own.next().as_ref() == Some(part))
    }

    /// Returns what the name of the document has, as words in their order: the file's name, and that of its folder.
    pub(super) fn names(&self) -> Vec<String> {
        let last = self.parts.iter().rev().take(2).map(|part| words(part));
        last.filter(|words| !words.is_empty()).collect()
    }

    /// Returns the path and the line, as people write them.
    pub(super) fn shown(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        self.parts.join("/") + &line
    }
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty())
}

/// Systems differ in whether they tell such names apart, people do not.
fn compared(part: &str) -> String {
    part.nfc().collect::<String>().to_lowercase()
}

/// Returns the words of a name, as the index of names has them.
fn words(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a name has an extension.
fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| {
        !extension.is_empty() && extension.chars().all(char::is_alphanumeric)
    })
}

/// Whether a line, a column or the signs around them may have this sign.
fn is_of_line(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, ':' | '#' | 'L' | '-' | '(' | ')' | ',')
}

/// Splits off a line, and a column or last line, which are not used: `a.rs:42`, `a.rs:42:7`, `a.rs#L42-L50`, `a.cs(42,7)`.
fn split_line(text: &str) -> (&str, Option<u32>) {
    let text = text.trim_end_matches(':');
    let start = text.trim_end_matches(is_of_line).len();
    // The name may end in digits, so the line begins at the first sign that no number has.
    let signs = [":", "#L", "("];
    let begins =
        signs.iter().filter_map(|sign| Some((start + text[start..].find(sign)?, sign.len())));
    let Some((at, len)) = begins.min() else { return (text, None) };
    let digits = &text[at + len..];
    let digits = &digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())];
    match digits.parse() {
        Ok(line) => (&text[..at], Some(line)),
        Err(_) => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &str) {
        let found = FileLocator::of(query).map(|file| file.shown());
        assert_eq!(found.unwrap_or_default(), expected, "{query}");
    }

    #[test]
    fn a_name_with_its_extension_or_a_path_is_a_file() {
        check("retry.ts", "retry.ts");
        check("src/lib/Retry.ts", "src/lib/retry.ts");
        check("src\\lib\\retry.ts", "src/lib/retry.ts");
        check("C:\\docs\\a.md", "c:/docs/a.md");
        check("./src/Makefile", "src/makefile");
        check("~/notes/Board meeting.md", "notes/board meeting.md");
        check("`a.md`", "a.md");
        check("file:///home/x/a.md", "home/x/a.md");
        for text in [
            "",
            "retry",
            "Makefile",
            "end of it.",
            "...",
            "a sentence. Another one",
            "/",
            "\"a.md\"",
            "a.md\nb.md",
        ] {
            check(text, "");
        }
    }

    #[test]
    fn a_line_is_split_off_as_programs_write_it() {
        check("src/a.rs:42", "src/a.rs:42");
        check("src/a.rs:42:7", "src/a.rs:42");
        check("src/a.rs:42:7:", "src/a.rs:42");
        check("src\\a.rs:42-50", "src/a.rs:42");
        check("src/a.rs#L42", "src/a.rs:42");
        check("a.rs#L42-L50", "a.rs:42");
        check("App/a.cs(42,7)", "app/a.cs:42");
        check("report-2025.md", "report-2025.md");
        check("notes/2025-10-04", "notes/2025-10-04");
        check("notes/IDEAL", "notes/ideal");
    }

    #[test]
    fn it_is_at_the_paths_that_end_so() {
        let is_at = |query: &str, path: &str| FileLocator::of(query).unwrap().is_at(path);
        assert!(is_at("b/C.md", "/a/b/c.md") && is_at("/a/b/c.md", "/a/b/c.md"));
        assert!(is_at("docs/a.md", "/x.zip//docs/a.md") && is_at("docs/a.md", "C:\\docs\\a.md"));
        assert!(is_at("u\u{308}ber.md", "/a/\u{fc}ber.md"));
        for path in ["/a/b/cc.md", "/a/ab/c.md", "/c.md", "/b/c.md/d"] {
            assert!(!is_at("b/c.md", path), "{path}");
        }
    }

    #[test]
    fn its_names_are_those_of_the_file_and_its_folder() {
        let names = |query: &str| FileLocator::of(query).unwrap().names();
        assert_eq!(names("a/my-dir 2/Board_meeting.md:7"), ["board meeting md", "my dir 2"]);
        assert_eq!(names("_/a.md"), ["a md"]);
    }

    proptest::proptest! {
        #[test]
        fn no_query_panics(query in "[a-zL0-9/:.#(),\\\\ü -]{0,40}") {
            if let Some(file) = FileLocator::of(&query) {
                proptest::prop_assert!(file.is_at(&file.parts.join("/")));
            }
        }
    }
}
