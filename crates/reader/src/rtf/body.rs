//! Turns the tokens of an RTF file into blocks. Groups are a stack of states, so they may be nested to any
//! depth.

use super::rows::RtfRows;
use super::state::{Destination, GroupState, RtfStyle, RtfTables, code_page};
use super::tokens::{RtfTokens, Token};
use crate::extract::protocol::{DocumentHead, ExtractedPage};
use crate::text::decode;
use crate::writer::BlockWriter;

/// The content of a file.
#[derive(Debug, Default)]
pub(super) struct RtfContent {
    pub(super) head: DocumentHead,
    pub(super) page: ExtractedPage,
    /// Whether groups are open at the end.
    pub(super) is_cut: bool,
}

/// Reads a file.
pub(super) fn read(bytes: &[u8]) -> RtfContent {
    let mut walk = RtfWalk {
        tables: RtfTables { code_page: 1252, ..RtfTables::default() },
        state: GroupState { num_fallbacks: 1, ..GroupState::default() },
        ..RtfWalk::default()
    };
    for token in RtfTokens::new(bytes) {
        walk.on(token);
        if walk.has_ended {
            break;
        }
    }
    walk.flush();
    walk.end_paragraph();
    walk.end_table();
    let is_cut = !walk.has_ended;
    RtfContent { head: walk.head, page: walk.writer.page(1), is_cut }
}

#[derive(Debug, Default)]
struct RtfWalk {
    tables: RtfTables,
    state: GroupState,
    outer: Vec<GroupState>,
    has_ended: bool,
    writer: BlockWriter,
    head: DocumentHead,
    /// Bytes of text that are not decoded yet.
    bytes: Vec<u8>,
    /// The first half of a character beyond U+FFFF.
    surrogate: Option<u16>,
    /// Bytes to skip after a Unicode character.
    num_skipped: u8,
    /// Whether the next control word names a group that older programs ignore.
    is_optional: bool,
    text: String,
    marker: String,
    note: String,
    notes: Vec<String>,
    num_notes: usize,
    style: RtfStyle,
    font: i32,
    cell: String,
    row: Vec<String>,
    rows: RtfRows,
    /// Year, month, day, hour and minute of creation.
    created: [i32; 5],
}

impl RtfWalk {
    fn on(&mut self, token: Token<'_>) {
        if let Token::Byte(byte) = token {
            if self.num_skipped > 0 {
                self.num_skipped -= 1;
            } else if self.state.destination != Destination::Skipped {
                self.bytes.push(byte);
            }
            return;
        }
        self.flush();
        match token {
            Token::Open => {
                self.num_skipped = 0;
                self.is_optional = false;
                self.outer.push(self.state);
            }
            Token::Close => self.close(),
            Token::Symbol(symbol) => self.symbol(symbol),
            Token::Word(word, number) => {
                let is_optional = std::mem::take(&mut self.is_optional);
                if word != "u" && self.num_skipped > 0 {
                    self.num_skipped -= 1;
                    return;
                }
                self.word(word, number, is_optional);
            }
            Token::Byte(_) => {}
        }
    }

    /// Decodes the text read so far in the code page of its font.
    fn flush(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let text = decode::decode_with(&bytes, self.tables.encoding(self.state.font));
        self.push(&text);
    }

    fn push(&mut self, text: &str) {
        self.surrogate = None;
        if self.state.is_hidden || self.state.is_deleted {
            return;
        }
        let head = &mut self.head;
        let sink = match self.state.destination {
            Destination::Body => &mut self.text,
            Destination::Note => &mut self.note,
            Destination::Marker => &mut self.marker,
            Destination::Styles => &mut self.style.name,
            Destination::Title => head.title.get_or_insert_default(),
            Destination::Author => head.author.get_or_insert_default(),
            Destination::Skipped
            | Destination::Fonts
            | Destination::Info
            | Destination::Created => return,
        };
        sink.push_str(text);
    }

    fn close(&mut self) {
        self.num_skipped = 0;
        let Some(outer) = self.outer.pop() else {
            self.has_ended = true;
            return;
        };
        let inner = std::mem::replace(&mut self.state, outer);
        match (inner.destination, outer.destination) {
            (Destination::Styles, Destination::Styles) => {
                let mut style = std::mem::take(&mut self.style);
                style.name = style.name.trim_end_matches(';').to_owned();
                if !style.name.trim().is_empty() {
                    self.tables.styles.insert(style.number, style);
                }
            }
            (Destination::Note, to) if to != Destination::Note => self.end_note(),
            (Destination::Created, to) if to != Destination::Created => {
                let [year, month, day, hour, minute] = self.created;
                if year > 0 && (1..=12).contains(&month) && (1..=31).contains(&day) {
                    self.head.created =
                        Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00"));
                }
            }
            _ => {}
        }
        self.has_ended = self.outer.is_empty();
    }

    fn symbol(&mut self, symbol: u8) {
        if symbol == b'*' {
            self.is_optional = true;
            return;
        }
        if self.num_skipped > 0 {
            self.num_skipped -= 1;
            return;
        }
        match symbol {
            b'~' => self.push(" "),
            b'_' => self.push("-"),
            b'\\' | b'{' | b'}' => self.push(char::from(symbol).encode_utf8(&mut [0; 4])),
            b'\r' | b'\n' => self.word("par", None, false),
            _ => {}
        }
    }

    fn word(&mut self, word: &str, number: Option<i32>, is_optional: bool) {
        if self.enter(word, is_optional) || self.state.destination == Destination::Skipped {
            return;
        }
        let is_on = number != Some(0);
        match word {
            "ansicpg" => self.tables.code_page = number.unwrap_or(1252),
            "mac" => self.tables.code_page = 10_000,
            "deff" => self.tables.default_font = number.unwrap_or(0),
            "f" => self.set_font(number.unwrap_or(0)),
            "fcharset" if self.state.destination == Destination::Fonts => {
                let known = code_page(number.unwrap_or(1));
                self.tables.code_pages.extend(known.map(|known| (self.font, known)));
            }
            "plain" => {
                self.state.font = self.tables.default_font;
                self.state.is_hidden = false;
            }
            "uc" => {
                self.state.num_fallbacks = number.and_then(|n| u8::try_from(n).ok()).unwrap_or(1);
            }
            "u" => self.unicode(number.unwrap_or(0)),
            "v" => self.state.is_hidden = is_on,
            "deleted" => self.state.is_deleted = is_on,
            "pard" => self.state.reset_paragraph(),
            "s" => {
                self.state.style = number.unwrap_or(0);
                self.style.number = number.unwrap_or(0);
            }
            "outlinelevel" => {
                self.state.outline = number;
                self.style.outline = number;
            }
            "ilvl" => {
                self.state.list_level =
                    number.and_then(|level| usize::try_from(level).ok()).unwrap_or(0);
            }
            "intbl" => self.state.is_in_table = true,
            "par" | "sect" | "page" if self.state.destination == Destination::Body => {
                self.end_paragraph();
            }
            // In a note or a title, paragraphs are joined by a blank.
            "par" => self.push(" "),
            "cell" | "nestcell" => self.end_cell(),
            "row" => {
                let row = std::mem::take(&mut self.row);
                self.rows.push(row);
            }
            "trowd" | "trhdr" | "clvmrg" | "clmrg" | "cellx" => self.rows.on(word, number),
            "yr" => self.created[0] = number.unwrap_or(0),
            "mo" => self.created[1] = number.unwrap_or(0),
            "dy" => self.created[2] = number.unwrap_or(0),
            "hr" => self.created[3] = number.unwrap_or(0),
            "min" => self.created[4] = number.unwrap_or(0),
            word => {
                if let Some(text) = character(word) {
                    self.push(text);
                }
            }
        }
    }

    /// Begins the destination of a group; returns whether the word names one.
    fn enter(&mut self, word: &str, is_optional: bool) -> bool {
        let destination = match word {
            // Within a skipped group only the text for newer programs is read.
            "ud" => Destination::Body,
            _ if self.state.destination == Destination::Skipped => return true,
            "fonttbl" => Destination::Fonts,
            "stylesheet" => Destination::Styles,
            "info" => Destination::Info,
            "title" if self.state.destination == Destination::Info => Destination::Title,
            "author" if self.state.destination == Destination::Info => Destination::Author,
            "creatim" if self.state.destination == Destination::Info => Destination::Created,
            "footnote" => Destination::Note,
            "listtext" | "pntext" => Destination::Marker,
            word if KEPT.contains(&word) => return true,
            word if is_optional || SKIPPED.contains(&word) => Destination::Skipped,
            _ => return false,
        };
        self.state.destination = destination;
        true
    }

    fn set_font(&mut self, font: i32) {
        self.state.font = font;
        if self.state.destination == Destination::Fonts {
            self.font = font;
        }
    }

    fn unicode(&mut self, number: i32) {
        self.num_skipped = self.state.num_fallbacks;
        // Numbers beyond 32,767 are written as negative ones.
        let unit = u16::try_from(number.rem_euclid(0x1_0000)).unwrap_or(0);
        let units = match self.surrogate.take() {
            Some(high) => vec![high, unit],
            None if (0xD800..0xDC00).contains(&unit) => {
                self.surrogate = Some(unit);
                return;
            }
            None => vec![unit],
        };
        self.push(&String::from_utf16_lossy(&units).replace('\0', ""));
    }

    fn end_note(&mut self) {
        let note = std::mem::take(&mut self.note);
        let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
        if !note.is_empty() {
            self.num_notes += 1;
            let number = self.num_notes;
            self.text.push_str(&format!("[^{number}]"));
            self.notes.push(format!("[^{number}]: {note}"));
        }
    }

    fn end_cell(&mut self) {
        self.cell.push_str(&std::mem::take(&mut self.marker));
        self.cell.push_str(&std::mem::take(&mut self.text));
        let cell = std::mem::take(&mut self.cell);
        self.row.push(cell);
    }

    fn end_table(&mut self) {
        let row = std::mem::take(&mut self.row);
        if !row.is_empty() {
            self.rows.push(row);
        }
        if let Some(grid) = self.rows.take() {
            self.writer.grid(grid);
            std::mem::take(&mut self.notes).iter().for_each(|note| self.writer.paragraph(note));
        }
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.text);
        let marker = std::mem::take(&mut self.marker);
        if self.state.is_in_table {
            self.cell.push_str(&marker);
            self.cell.push_str(&text);
            self.cell.push(' ');
            return;
        }
        let text = text.trim();
        if text.is_empty() && self.notes.is_empty() {
            return;
        }
        self.end_table();
        let (marker, text) =
            if marker.trim().is_empty() { bullet(text) } else { (marker.trim(), text) };
        // The format has nine levels of lists, from 0.
        let depth = self.state.list_level.min(8);
        let notes = std::mem::take(&mut self.notes);
        if let Some(level) = self.tables.heading_level(&self.state) {
            let number = if marker.starts_with(BULLETS) { "" } else { marker };
            self.writer.heading(level, &format!("{number} {text}"));
        } else if !marker.is_empty() {
            let marker = if marker.starts_with(BULLETS) { "-" } else { marker };
            self.writer.item(depth, marker, text);
            notes.iter().for_each(|note| self.writer.continue_item(depth, note));
            return;
        } else {
            self.writer.paragraph(text);
        }
        notes.iter().for_each(|note| self.writer.paragraph(note));
    }
}

/// Groups whose text is not part of the document.
pub(super) const SKIPPED: &[&str] = &[
    "colortbl", "pict", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr",
    "footerf", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "xe", "tc",
    "nonshppict", "fldinst", "sn", "sv", "listtable", "listoverridetable", "revtbl", "filetbl",
    "rsidtbl", "template", "nonesttables", "annotation", "atnid", "atnauthor", "bkmkstart",
    "bkmkend", "falt", "panose", "objclass", "objname", "objdata", "upr", "mmathPict", "pntxta",
    "pntxtb", "private",
];

/// Groups that older programs ignore, but whose text is part of the document.
pub(super) const KEPT: &[&str] = &["shpinst", "shptxt", "ud", "moMath", "moMathPara", "fldrslt"];

/// Characters that begin the items of lists.
pub(super) const BULLETS: &[char] =
    &['•', '·', '◦', '▪', '●', '○', '■', '□', '–', '-', 'o', '\u{F0B7}', '\u{F0A7}'];

/// Splits a bullet or a number and the tabulator after it from a paragraph.
pub(super) fn bullet(text: &str) -> (&str, &str) {
    let Some((marker, rest)) = text.split_once('\t') else { return ("", text) };
    let marker = marker.trim();
    let is_number = marker.strip_suffix(['.', ')']).is_some_and(|number| {
        !number.is_empty() && number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let is_bullet = marker.chars().count() == 1 && marker.starts_with(BULLETS);
    if is_number || is_bullet { (marker, rest.trim()) } else { ("", text) }
}

/// Returns the text that a control word means.
pub(super) fn character(word: &str) -> Option<&'static str> {
    Some(match word {
        "tab" => "\t",
        "line" | "lbr" => "\n",
        "emdash" => "—",
        "endash" => "–",
        "emspace" | "enspace" | "qmspace" => " ",
        "bullet" => "•",
        "lquote" => "‘",
        "rquote" => "’",
        "ldblquote" => "“",
        "rdblquote" => "”",
        _ => return None,
    })
}
