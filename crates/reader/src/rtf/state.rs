//! Holds the properties of the text of a group, and the definitions in the tables at the head of a file.

use std::collections::HashMap;

/// Where the text of a group belongs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Destination {
    #[default]
    Body,
    /// Text that is not part of the document: pictures, headers, field codes.
    Skipped,
    Fonts,
    Styles,
    Info,
    Title,
    Author,
    Created,
    /// A footnote or endnote.
    Note,
    /// The marker of a list item.
    Marker,
}

/// The properties of the text of a group; a group inside it inherits them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GroupState {
    pub(super) destination: Destination,
    pub(super) font: i32,
    /// Bytes after a Unicode character that older programs show instead.
    pub(super) num_fallbacks: u8,
    /// Whether text is hidden or was removed.
    pub(super) is_hidden: bool,
    pub(super) is_deleted: bool,
    pub(super) style: i32,
    /// Level of a heading, from 0.
    pub(super) outline: Option<i32>,
    pub(super) is_in_table: bool,
    pub(super) list_level: usize,
}

impl GroupState {
    /// Ends the properties of a paragraph.
    pub(super) fn reset_paragraph(&mut self) {
        (self.style, self.outline, self.is_in_table, self.list_level) = (0, None, false, 0);
    }
}

/// A paragraph style.
#[derive(Debug, Clone, Default)]
pub(super) struct RtfStyle {
    pub(super) number: i32,
    pub(super) name: String,
    pub(super) outline: Option<i32>,
}

/// The tables at the head of a file.
#[derive(Debug, Default)]
pub(super) struct RtfTables {
    /// The code page of each font.
    pub(super) code_pages: HashMap<i32, i32>,
    /// The code page of the document.
    pub(super) code_page: i32,
    pub(super) default_font: i32,
    pub(super) styles: HashMap<i32, RtfStyle>,
}

impl RtfTables {
    /// Returns the label of the encoding of a font.
    pub(super) fn encoding(&self, font: i32) -> &'static str {
        label(self.code_pages.get(&font).copied().unwrap_or(self.code_page))
    }

    /// Returns the level of a heading from 1; `None` for other text.
    pub(super) fn heading_level(&self, state: &GroupState) -> Option<u8> {
        let style = self.styles.get(&state.style);
        let outline = state.outline.or(style.and_then(|style| style.outline));
        if let Some(level) = outline.filter(|level| (0..9).contains(level)) {
            return u8::try_from(level + 1).ok();
        }
        let name = style?.name.trim().to_lowercase();
        if name == "title" {
            return Some(1);
        }
        let number = name.strip_prefix("heading").and_then(|number| number.trim().parse().ok());
        number.filter(|level| (1..=9).contains(level))
    }
}

/// Code pages with their encodings, and the character sets of fonts that mean them (RTF 1.9.1, font table).
const CODE_PAGES: [(i32, &str, Option<i32>); 31] = [
    (1252, "windows-1252", Some(0)),
    (10_000, "macintosh", Some(77)),
    (932, "shift_jis", Some(128)),
    (949, "euc-kr", Some(129)),
    (936, "gbk", Some(134)),
    (950, "big5", Some(136)),
    (1253, "windows-1253", Some(161)),
    (1254, "windows-1254", Some(162)),
    (1258, "windows-1258", Some(163)),
    (1255, "windows-1255", Some(177)),
    (1256, "windows-1256", Some(178)),
    (1257, "windows-1257", Some(186)),
    (1251, "windows-1251", Some(204)),
    (874, "windows-874", Some(222)),
    (1250, "windows-1250", Some(238)),
    (866, "ibm866", None),
    (65_001, "utf-8", None),
    // These code pages are used in mail.
    (20_866, "koi8-r", None),
    (21_866, "koi8-u", None),
    (28_592, "iso-8859-2", None),
    (28_594, "iso-8859-4", None),
    (28_595, "iso-8859-5", None),
    (28_596, "iso-8859-6", None),
    (28_597, "iso-8859-7", None),
    (28_599, "windows-1254", None),
    (28_605, "iso-8859-15", None),
    (50_220, "iso-2022-jp", None),
    (50_221, "iso-2022-jp", None),
    (51_932, "euc-jp", None),
    (51_949, "euc-kr", None),
    (54_936, "gb18030", None),
];

/// Returns the code page of a character set.
pub(super) fn code_page(charset: i32) -> Option<i32> {
    CODE_PAGES.iter().find(|(.., known)| *known == Some(charset)).map(|(page, ..)| *page)
}

/// Returns the label of the encoding of a code page; Windows-1252 for one that is not known.
pub(crate) fn label(code_page: i32) -> &'static str {
    let known = CODE_PAGES.iter().find(|(page, ..)| *page == code_page);
    known.map_or("windows-1252", |(_, label, _)| label)
}
