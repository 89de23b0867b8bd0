//! Defines a page as the child sends it: its blocks, where they are, and how OCR went.

use serde::{Deserialize, Serialize};

use crate::document::{BlockKind, WordAccount};

/// A page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExtractedPage {
    /// Physical number, from 1.
    pub number: u32,
    /// Size in points, as displayed; 0 from readers that do not report it.
    #[serde(default)]
    pub width: f64,
    #[serde(default)]
    pub height: f64,
    /// Blocks in reading order; none of them is blank.
    pub blocks: Vec<PageBlock>,
    /// The notes that were added to the page without being drawn on it, in order.
    #[serde(default)]
    pub notes: Vec<PageNote>,
    /// Instructions on the page that draw text, readable or not.
    pub num_text_ops: u32,
    /// Whether the page has no drawing instructions.
    #[serde(default)]
    pub is_blank: bool,
    /// Fraction of the page that pictures cover, 0 to 1.
    pub image_coverage: f64,
    /// Where its large pictures are that have no text over them; empty if most of its text is turned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<BlockPlace>,
    /// Why the page could not be read; `None` if it was.
    pub failed: Option<String>,
    /// The result of OCR; `None` if it was not tried.
    #[serde(default)]
    pub ocr: Option<OcrOutcome>,
    /// Whether the fonts of its text name other letters than they show. Only the parent finds it.
    #[serde(skip)]
    pub is_soup: bool,
    /// Words that OCR has read, and how many of them it is not sure of.
    #[serde(default)]
    pub num_words: u32,
    #[serde(default)]
    pub num_unsure: u32,
    /// Words that are not in the blocks.
    #[serde(default)]
    pub left_out: WordAccount,
    /// Words of its tables that are there again for a merged cell.
    #[serde(default)]
    pub num_copied_words: u32,
    /// Whether a merged cell was not filled, as the file has too many.
    #[serde(default)]
    pub lacks_copies: bool,
}

/// The result of OCR of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OcrOutcome {
    /// OCR succeeded; there may be no text.
    Read,
    /// Tesseract failed; another run of it might succeed.
    Refused(String),
    /// The page could not be rendered.
    Lost(String),
}

impl OcrOutcome {
    /// Returns why the page could not be read; `None` if it was.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Read => None,
            Self::Refused(reason) | Self::Lost(reason) => Some(reason),
        }
    }
}

/// A block of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageBlock {
    /// Its kind, as the reader sees it.
    pub kind: BlockKind,
    /// Level of a heading from 1; 0 for everything else.
    pub level: u8,
    /// Its text; a table as Markdown lines.
    pub text: String,
    /// Whether it is entries of a table of contents or of an index, one per line. Only the parent finds them.
    #[serde(skip)]
    pub is_contents: bool,
    /// Its direction and place relative to the other text of the page.
    #[serde(default, skip_serializing_if = "BlockPlacement::is_upright")]
    pub stance: BlockPlacement,
    /// Left and right end of each column of a table, in points; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<[f64; 2]>,
    /// Whether only the first line of a table is bold.
    #[serde(default)]
    pub has_bold_head: bool,
    /// Its position and appearance; `None` from readers that do not report them.
    #[serde(default)]
    pub place: Option<BlockPlace>,
}

/// The direction and place of a block relative to the other text of its page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockPlacement {
    /// In one of the directions of the page.
    #[default]
    Upright,
    /// At an angle, and apart from other text.
    Tilted,
    /// At an angle across other text, or large and pale behind it.
    Across,
    /// In a picture. Only the parent knows it.
    InPicture,
}

impl BlockPlacement {
    /// Whether it is in one of the directions of the page.
    pub fn is_upright(&self) -> bool {
        *self == Self::Upright
    }
}

impl PageBlock {
    /// Creates a block of which only the text is known.
    pub fn new(kind: BlockKind, level: u8, text: impl Into<String>) -> Self {
        Self {
            kind,
            level,
            text: text.into(),
            is_contents: false,
            stance: BlockPlacement::Upright,
            columns: Vec::new(),
            has_bold_head: false,
            place: None,
        }
    }

    /// Whether it may be a heading, or begin with one.
    pub fn is_prose(&self) -> bool {
        !self.is_contents && !matches!(self.kind, BlockKind::Table | BlockKind::Code)
    }
}

/// A paragraph that belongs to a page but not to its text: a comment, the name of an embedded file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageNote {
    pub text: String,
    /// Where it is attached; `None` if that is the whole page.
    pub place: Option<BlockPlace>,
}

/// Position of a block, in points from the upper left corner of the page, and its appearance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockPlace {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
    /// Height of its font.
    pub size: f64,
    /// Ink density of its lightest line, relative to that of most text on the page; 0 if unknown.
    pub ink: f64,
    /// Whether the name of its font contains "bold".
    pub is_bold: bool,
    /// Whether most letters of each of its lines are monospaced.
    #[serde(default)]
    pub is_mono: bool,
    pub num_lines: u32,
    /// Whether wide gaps divide one of its lines, apart from one behind a number, as in a row of a form.
    #[serde(default)]
    pub has_gaps: bool,
}
