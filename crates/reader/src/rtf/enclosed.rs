//! Takes the web page out of RTF into which a mail program has put it (MS-OXRTFEX).
//!
//! Tags are in groups `\\htmltag`, which programs that only know RTF ignore. Text between `\\htmlrtf` and `\\htmlrtf0`
//! is for those programs alone.

use super::body::{SKIPPED, character};
use super::state::{RtfTables, code_page};
use super::tokens::{RtfTokens, Token};
use crate::text::decode;

/// Within how many tokens from its start a document states its content; fonts and text follow.
const MAX_HEAD_TOKENS: usize = 100;

/// The properties of the text of a group; a group inside it inherits them.
#[derive(Debug, Clone, Copy, Default)]
struct EnclosedState {
    /// Whether text is for programs that do not know the page.
    is_for_others: bool,
    is_skipped: bool,
    is_tag: bool,
    is_in_fonts: bool,
    font: i32,
    /// Bytes after a Unicode character that older programs show instead.
    num_fallbacks: u8,
}

/// Collects the page.
#[derive(Debug, Default)]
struct PageWalk {
    state: EnclosedState,
    outer: Vec<EnclosedState>,
    tables: RtfTables,
    /// Bytes of text that are not decoded yet.
    bytes: Vec<u8>,
    /// The first half of a character beyond U+FFFF.
    surrogate: Option<u16>,
    num_skipped: u8,
    is_optional: bool,
    page: String,
}

/// Returns the page in some RTF; `None` if there is none.
pub(crate) fn enclosed_page(bytes: &[u8]) -> Option<String> {
    let mut head = RtfTokens::new(bytes).take(MAX_HEAD_TOKENS);
    if !head.any(|token| matches!(token, Token::Word("fromhtml", Some(1)))) {
        return None;
    }
    let mut walk = PageWalk {
        state: EnclosedState { num_fallbacks: 1, ..EnclosedState::default() },
        tables: RtfTables { code_page: 1252, ..RtfTables::default() },
        ..PageWalk::default()
    };
    RtfTokens::new(bytes).for_each(|token| walk.on(token));
    walk.flush();
    (!walk.page.trim().is_empty()).then_some(walk.page)
}

impl PageWalk {
    fn on(&mut self, token: Token<'_>) {
        if let Token::Byte(byte) = token {
            if self.num_skipped > 0 {
                self.num_skipped -= 1;
            } else {
                self.bytes.push(byte);
            }
            return;
        }
        self.flush();
        match token {
            Token::Open => {
                (self.num_skipped, self.is_optional) = (0, false);
                self.outer.push(self.state);
            }
            Token::Close => {
                self.num_skipped = 0;
                self.state = self.outer.pop().unwrap_or_default();
            }
            Token::Symbol(b'*') => self.is_optional = true,
            _ if self.num_skipped > 0 && !matches!(token, Token::Word("u", _)) => {
                self.num_skipped -= 1;
            }
            Token::Symbol(symbol) => self.symbol(symbol),
            Token::Word(word, number) => {
                let is_optional = std::mem::take(&mut self.is_optional);
                self.word(word, number, is_optional);
            }
            Token::Byte(_) => {}
        }
    }

    fn flush(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if !bytes.is_empty() {
            let text = decode::decode_with(&bytes, self.tables.encoding(self.state.font));
            self.push(&text);
        }
    }

    fn push(&mut self, text: &str) {
        if !self.state.is_skipped && !self.state.is_for_others {
            self.page.push_str(text);
        }
    }

    fn symbol(&mut self, symbol: u8) {
        match symbol {
            b'~' => self.push("&nbsp;"),
            b'_' => self.push("&shy;"),
            b'\\' | b'{' | b'}' => self.push(char::from(symbol).encode_utf8(&mut [0; 4])),
            b'\r' | b'\n' => self.push("\n"),
            _ => {}
        }
    }

    fn word(&mut self, word: &str, number: Option<i32>, is_optional: bool) {
        match word {
            "htmltag" => {
                self.state.is_tag = true;
                // A tag counts within text for other programs too.
                self.state.is_for_others = false;
                return;
            }
            "fonttbl" => (self.state.is_in_fonts, self.state.is_skipped) = (true, true),
            "stylesheet" | "info" => self.state.is_skipped = true,
            _ if is_optional || SKIPPED.contains(&word) => self.state.is_skipped = true,
            _ => {}
        }
        let number_or = |default: i32| number.unwrap_or(default);
        match word {
            "htmlrtf" => self.state.is_for_others = number != Some(0),
            "ansicpg" => self.tables.code_page = number_or(1252),
            "f" => self.state.font = number_or(0),
            "fcharset" if self.state.is_in_fonts => {
                let known = code_page(number_or(1));
                self.tables.code_pages.extend(known.map(|known| (self.state.font, known)));
            }
            "uc" => self.state.num_fallbacks = u8::try_from(number_or(1)).unwrap_or(1),
            "u" => self.unicode(number_or(0)),
            "par" | "line" => self.push("\n"),
            word => {
                if let Some(text) = character(word) {
                    self.push(text);
                }
            }
        }
    }

    fn unicode(&mut self, number: i32) {
        self.num_skipped = self.state.num_fallbacks;
        // Numbers beyond 32,767 are written as negative ones.
        let unit = u16::try_from(number.rem_euclid(0x1_0000)).unwrap_or(0);
        let high = self.surrogate.take();
        if high.is_none() && (0xD800..0xDC00).contains(&unit) {
            self.surrogate = Some(unit);
            return;
        }
        let units: Vec<u16> = high.into_iter().chain([unit]).collect();
        self.push(&String::from_utf16_lossy(&units).replace('\0', ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: Option<&str>) {
        let head = "{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 \\deff0{\\fonttbl{\\f0\\fswiss Arial;}\
                    {\\f1\\fcharset204 Arial;}}{\\colortbl\\red0;}\n{\\*\\generator Outlook;}";
        assert_eq!(enclosed_page(format!("{head}{body}}}").as_bytes()).as_deref(), expected);
    }

    #[test]
    fn the_tags_and_the_text_are_the_page() {
        check(
            "{\\*\\htmltag64 <p class=\"a\">}\\htmlrtf {\\b for others\\htmlrtf0 High \\'e4 {\\*\\htmltag84 <b>}water\
             {\\*\\htmltag92 </b>}\\htmlrtf }\\htmlrtf0 \\par{\\*\\mhtmltag64 <q>}\\{\\emdash\\u8364 ?\\~\\f1 \\'cf\
             {\\*\\htmltag72 </p>}",
            Some("<p class=\"a\">High ä <b>water</b>\n{—€&nbsp;П</p>"),
        );
    }

    #[test]
    fn groups_that_are_not_closed_and_plain_rtf_are_no_page() {
        check("", None);
        assert_eq!(enclosed_page(b"{\\rtf1\\ansi\\fromtext words}"), None);
        assert_eq!(enclosed_page(b"{\\rtf1\\fromhtml1 a}}}} b").as_deref(), Some("a b"));
    }
}
