//! Holds what applies to the text of a group, and what the tables at the head of a file define.

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

/// What applies to the text of a group; a group inside inherits it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
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

impl State {
    /// Ends the properties of a paragraph.
    pub(super) fn reset_paragraph(&mut self) {
        (self.style, self.outline, self.is_in_table, self.list_level) = (0, None, false, 0);
    }
}

/// A paragraph style.
#[derive(Debug, Clone, Default)]
pub(super) struct Style {
    pub(super) number: i32,
    pub(super) name: String,
    pub(super) outline: Option<i32>,
}

/// The tables at the head of a file.
#[derive(Debug, Default)]
pub(super) struct Tables {
    /// The code page of each font.
    pub(super) code_pages: HashMap<i32, i32>,
    /// The code page of the document.
    pub(super) code_page: i32,
    pub(super) default_font: i32,
    pub(super) styles: HashMap<i32, Style>,
}

impl Tables {
    /// Returns the label of the encoding of a font.
    pub(super) fn encoding(&self, font: i32) -> &'static str {
        label(self.code_pages.get(&font).copied().unwrap_or(self.code_page))
    }

    /// Returns the level of a heading from 1; `None` for other text.
    pub(super) fn heading_level(&self, state: &State) -> Option<u8> {
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

/// Returns the code page of a character set (RTF 1.9.1, font table).
pub(super) fn code_page(charset: i32) -> Option<i32> {
    Some(match charset {
        0 => 1252,
        77 => 10_000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    })
}

fn label(code_page: i32) -> &'static str {
    match code_page {
        874 => "windows-874",
        932 => "shift_jis",
        936 => "gbk",
        949 => "euc-kr",
        950 => "big5",
        866 => "ibm866",
        1250 => "windows-1250",
        1251 => "windows-1251",
        1253 => "windows-1253",
        1254 => "windows-1254",
        1255 => "windows-1255",
        1256 => "windows-1256",
        1257 => "windows-1257",
        1258 => "windows-1258",
        10_000 => "macintosh",
        65_001 => "utf-8",
        _ => "windows-1252",
    }
}
