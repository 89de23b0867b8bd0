//! Converts the characters of symbol fonts to Unicode.
//!
//! These fonts have pictures in the places of other characters. Programs store such a character as
//! its code in the font, or as U+F000 plus the code.

/// A font that has symbols in the places of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolFont {
    Symbol,
    Wingdings,
    Wingdings2,
    Webdings,
}

/// The private characters for the codes of a font.
const PRIVATE: std::ops::RangeInclusive<u32> = 0xF020..=0xF0FF;

/// The offset from a code to its private character.
const PRIVATE_OFFSET: u32 = 0xF000;

/// The font Symbol from 0x20 (Unicode, MAPPINGS/VENDORS/ADOBE/symbol.txt); U+FFFD marks a code
/// without a character.
const SYMBOL_FROM_20: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?\
    ≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\u{FFFD}αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";

/// The same from 0xA0.
const SYMBOL_FROM_A0: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…\u{FFFD}\u{FFFD}↵\
    ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\u{FFFD}⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

/// Signs of Wingdings with a meaning, each with the code of the first: marks, boxes, numbers, arrows.
const WINGDINGS: &[(u32, &str)] = &[
    (0x28, "☎"),
    (0x2A, "✉"),
    (0x36, "⌛"),
    (0x3F, "✍✌👌👍👎☜☞☝☟"),
    (0x4A, "☺😐☹"),
    (0x4E, "☠"),
    (0x51, "✈☼"),
    (0x54, "❄"),
    (0x6C, "●"),
    (0x6E, "■□"),
    (0x71, "❑❒"),
    (0x74, "⧫◆❖"),
    (0x78, "☒"),
    (0x80, "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"),
    (0x9E, "·•▪○"),
    (0xA7, "▪☐"),
    (0xAB, "★"),
    (0xD8, "➢"),
    (0xDF, "←→↑↓↖↗↙↘"),
    (0xE8, "➔"),
    (0xEF, "⇦⇨⇧⇩"),
    (0xFB, "✗✓☒☑"),
];

/// The same of Wingdings 2.
const WINGDINGS_2: &[(u32, &str)] =
    &[(0x4F, "✗✓☒☑☒☒"), (0x69, "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"), (0x97, "●"), (0xA3, "☐")];

/// The same of Webdings.
const WEBDINGS: &[(u32, &str)] =
    &[(0x33, "◀▶▲▼"), (0x61, "✓"), (0x63, "☐"), (0x67, "■"), (0x69, "ℹ"), (0x6E, "●"), (0x72, "✗")];

impl SymbolFont {
    /// Returns the font with this name; `None` for a font of letters.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "Symbol" => Some(Self::Symbol),
            "Wingdings" => Some(Self::Wingdings),
            "Wingdings 2" => Some(Self::Wingdings2),
            "Webdings" => Some(Self::Webdings),
            _ => None,
        }
    }

    /// Returns the character for a code of the font; `None` for one that no word needs.
    fn character(self, code: u32) -> Option<char> {
        let tables: &[(u32, &str)] = match self {
            Self::Symbol => &[(0x20, SYMBOL_FROM_20), (0xA0, SYMBOL_FROM_A0)],
            Self::Wingdings => WINGDINGS,
            Self::Wingdings2 => WINGDINGS_2,
            Self::Webdings => WEBDINGS,
        };
        let (first, characters) = tables.iter().rfind(|(first, _)| *first <= code)?;
        let idx = usize::try_from(code - first).ok()?;
        characters.chars().nth(idx).filter(|c| *c != char::REPLACEMENT_CHARACTER)
    }
}

/// Returns the character that a `sym` element shows; `None` if it is not known.
pub(super) fn of_element(font: &str, code: &str) -> Option<char> {
    let code = u32::from_str_radix(code, 16).ok()?;
    match SymbolFont::named(font) {
        Some(font) if PRIVATE.contains(&code) => font.character(code - PRIVATE_OFFSET),
        Some(font) if code <= 0xFF => font.character(code),
        _ => char::from_u32(code).filter(|_| !PRIVATE.contains(&code)),
    }
}

/// Returns text in a symbol font as Unicode. Latin letters are kept if they look like a word:
/// programs that do not have the font show them unchanged.
pub(super) fn of_text(font: SymbolFont, text: &str) -> String {
    let is_single = text.trim().chars().nth(1).is_none();
    let converts_letters = font == SymbolFont::Symbol || is_single;
    let symbols = text.chars().filter_map(|c| match u32::from(c) {
        code if PRIVATE.contains(&code) => font.character(code - PRIVATE_OFFSET),
        code if code <= 0xFF && converts_letters => font.character(code).or(Some(c)),
        _ => Some(c),
    });
    symbols.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_have_their_codes() {
        for (font, code, expected) in [
            ("Symbol", "F061", Some('α')),
            ("Symbol", "57", Some('Ω')),
            ("Symbol", "F07E", Some('∼')),
            ("Symbol", "F0A0", Some('€')),
            ("Symbol", "F0B3", Some('≥')),
            ("Symbol", "F0AE", Some('→')),
            ("Symbol", "F0D6", Some('√')),
            ("Symbol", "F0E5", Some('∑')),
            ("Symbol", "F0FE", Some('⎭')),
            ("Symbol", "F0F0", None),
            ("Symbol", "F090", None),
            ("Wingdings", "F0FC", Some('✓')),
            ("Wingdings", "F0FE", Some('☑')),
            ("Wingdings", "F0A8", Some('☐')),
            ("Wingdings", "F08A", Some('⑩')),
            ("Wingdings", "F0E0", Some('→')),
            ("Wingdings", "F030", None),
            ("Wingdings 2", "F050", Some('✓')),
            ("Wingdings 2", "F0A3", Some('☐')),
            ("Webdings", "F061", Some('✓')),
            ("Segoe UI Symbol", "2611", Some('☑')),
            ("Arial", "F0E9", None),
            ("Symbol", "x", None),
        ] {
            assert_eq!(of_element(font, code), expected, "{font} {code}");
        }
    }

    #[test]
    fn text_in_a_symbol_font_is_converted_unless_it_is_a_word() {
        assert_eq!(of_text(SymbolFont::Symbol, "a = \u{F062}"), "α = β");
        assert_eq!(of_text(SymbolFont::Wingdings, "\u{FC}"), "✓");
        assert_eq!(of_text(SymbolFont::Wingdings, "o "), "□ ");
        assert_eq!(of_text(SymbolFont::Wingdings, "no"), "no");
        assert_eq!(of_text(SymbolFont::Wingdings, "\u{F030}\u{F0FB} n"), "✗ n");
    }
}
