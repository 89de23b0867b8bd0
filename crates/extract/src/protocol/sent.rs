//! Defines the files and pictures that a child sends in addition to text. None of it is trusted.

use serde::{Deserialize, Serialize};

use super::in_base64;
use crate::limits;

/// Longest name of a member, in characters; a longer one is refused, as it could not be shown or cited.
pub const MAX_NAME: usize = 400;

/// How many characters longer a name may be that got a number because another member has the same name.
const MAX_NUMBER: usize = 10;

/// A file in a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberLine {
    /// Its clean name.
    pub name: String,
    /// Its bytes; none if it failed.
    #[serde(with = "in_base64")]
    pub bytes: Vec<u8>,
    /// The code and the detail of its failure.
    pub failed: Option<(String, String)>,
}

impl MemberLine {
    /// Whether its name is one that [`clean_name`] returns.
    pub(crate) fn is_sound(&self) -> bool {
        clean(&self.name, MAX_NAME + MAX_NUMBER).as_ref() == Some(&self.name)
    }
}

/// Returns the relative path of a member with `/` between its parts; `None` for one that leads out of
/// the container or cannot be shown.
pub fn clean_name(name: &str) -> Option<String> {
    clean(name, MAX_NAME)
}

fn clean(name: &str, max_chars: usize) -> Option<String> {
    let name = name.replace('\\', "/");
    // `C:/` of other systems.
    let name = match name.split_once(":/") {
        Some((drive, rest)) if drive.len() == 1 => rest,
        _ => &name,
    };
    let parts: Vec<&str> =
        name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let is_clean = !parts.is_empty()
        && !parts.contains(&"..")
        && name.chars().count() <= max_chars
        && !name.chars().any(char::is_control);
    is_clean.then(|| parts.join("/"))
}

/// A page that was drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedPage {
    /// In pixels; the longer side has at most 1,600.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// The file, as PNG.
    #[serde(with = "in_base64")]
    pub png: Vec<u8>,
    /// Words of the page that are marked.
    pub num_marked: u32,
}

impl RenderedPage {
    /// Whether it is a PNG file of the size that it states (PNG specification, sections 5.2 and 11.2.1: a signature, then the
    /// header with width and height), with sides of 1 to [`limits::PICTURE_SIDE`] pixels.
    pub(crate) fn is_sound(&self) -> bool {
        self.png.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR")
            && self.number_at(16) == Some(self.width)
            && self.number_at(20) == Some(self.height)
            && [self.width, self.height]
                .into_iter()
                .all(|side| (1..=limits::PICTURE_SIDE).contains(&side))
    }

    fn number_at(&self, at: usize) -> Option<u32> {
        let bytes = self.png.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_a_file_below_the_container() {
        let is_sound = |name: &str| {
            let (name, bytes) = (name.to_owned(), Vec::new());
            MemberLine { name, bytes, failed: None }.is_sound()
        };
        for name in ["a.md", "b/a~2.md", "ä ö", &"x".repeat(MAX_NAME + 2)] {
            assert!(is_sound(name), "{name}");
        }
        let long = "x".repeat(MAX_NAME + MAX_NUMBER + 1);
        for name in [
            "", "/etc/y.md", "../a", "a/../b", "a/", "a//b", "a\u{1b}[31m", "a\nb", "a\\b", "./a",
            &long,
        ] {
            assert!(!is_sound(name), "{name}");
        }
    }

    #[test]
    fn a_drawn_page_is_a_png_of_its_size() {
        let png = |width: u32, height: u32| {
            let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".as_slice();
            [head, &width.to_be_bytes(), &height.to_be_bytes(), b"\x08\0\0\0\0"].concat()
        };
        let drawn = |width, height, png| RenderedPage { width, height, png, num_marked: 0 };
        let most = limits::PICTURE_SIDE;
        assert!(drawn(3, 4, png(3, 4)).is_sound());
        assert!(drawn(most, 1, png(most, 1)).is_sound());
        assert!(!drawn(most + 1, 1, png(most + 1, 1)).is_sound());
        assert!(!drawn(3, 5, png(3, 4)).is_sound());
        assert!(!drawn(0, 4, png(0, 4)).is_sound());
        assert!(!drawn(u32::MAX, 0, b"<!DOCTYPE html>".to_vec()).is_sound());
    }
}
