//! Reads the Markdown and text files of a skill.

use crate::front_matter;
use crate::place::SKILL_FILE;
use crate::text::decode;
use crate::text::headings::MarkdownPage;

/// Reads a file; `None` if it is not text.
pub fn read(path: &str, bytes: &[u8]) -> Option<MarkdownPage> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => text.to_owned(),
        _ => decode::decode(bytes)?,
    };
    let is_markdown = is_markdown(path);
    let body_start =
        if is_markdown { front_matter::body_start(&text, path == SKILL_FILE) } else { 0 };
    Some(MarkdownPage::new(text, body_start))
}

/// Whether a file is read as Markdown.
pub fn is_markdown(path: &str) -> bool {
    has_extension(path, "md")
}

/// Whether a file is indexed as a single plain text.
pub fn is_text(path: &str) -> bool {
    has_extension(path, "txt")
}

fn has_extension(path: &str, wanted: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    mod headings;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn binary_files_are_not_pages() {
        assert!(read("a.md", b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3E\0").is_none());
        assert_eq!(read("a.md", b"# caf\xE9\n").unwrap().headings()[0].text, "café");
    }

    #[test]
    fn only_md_is_markdown_and_only_txt_is_text() {
        assert!(is_markdown("a.md") && is_markdown("x/B.MD") && is_markdown("x/.md"));
        assert!(!is_markdown("md") && !is_markdown("a.mdx") && !is_markdown("a.md/x"));
        assert!(is_text("a.txt") && !is_text("txt") && !is_text("a.text"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Some(page) = read("SKILL.md", &bytes) {
                let headings = page.headings();
                page.preamble(&headings);
                page.links();
            }
        }
    }
}
