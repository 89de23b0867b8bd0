//! Divides the format codes of spreadsheets into sections and pieces.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Shown unchanged.
    Literal(String),
    /// A run of one letter of a date or time, in lower case: `yyyy`, `mm`; `[h]` for elapsed hours.
    Date(char, usize),
    Elapsed(char),
    /// `AM/PM`.
    Half,
    /// Digits, points and commas: `#,##0.00`.
    Digits(String),
    Percent,
    /// `E+00`.
    Exponent(usize),
}

/// Splits a code at semicolons outside of quotes.
pub(super) fn sections(code: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    let (mut is_quoted, mut is_escaped) = (false, false);
    for c in code.chars() {
        if c == ';' && !is_quoted && !is_escaped {
            sections.push(String::new());
            continue;
        }
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        if let Some(section) = sections.last_mut() {
            section.push(c);
        }
    }
    sections
}

/// Returns the pieces of a section; `None` for text, fractions and the general format.
pub(super) fn pieces(section: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = section;
    let literal = |pieces: &mut Vec<Piece>, text: &str| match pieces.last_mut() {
        Some(Piece::Literal(before)) => before.push_str(text),
        _ => pieces.push(Piece::Literal(text.to_owned())),
    };
    while let Some(first) = rest.chars().next() {
        let lower = first.to_ascii_lowercase();
        let after = &rest[first.len_utf8()..];
        let run = |same: &dyn Fn(char) -> bool| rest.find(|c| !same(c)).unwrap_or(rest.len());
        match lower {
            '"' => {
                let (text, after) = after.split_once('"').unwrap_or((after, ""));
                literal(&mut pieces, text);
                rest = after;
            }
            '\\' => {
                let len = after.chars().next().map_or(0, char::len_utf8);
                literal(&mut pieces, &after[..len]);
                rest = &after[len..];
            }
            // A blank as wide as the next character, or that character as often as it fits.
            '_' | '*' => {
                literal(&mut pieces, if lower == '_' { " " } else { "" });
                rest = &after[after.chars().next().map_or(0, char::len_utf8)..];
            }
            '[' => {
                let (inside, after) = after.split_once(']')?;
                if let Some(currency) = inside.strip_prefix('$') {
                    literal(&mut pieces, currency.split('-').next().unwrap_or_default());
                } else if let Some(unit @ ('h' | 'm' | 's')) =
                    inside.chars().next().map(|c| c.to_ascii_lowercase())
                    && inside.chars().all(|c| c.eq_ignore_ascii_case(&unit))
                {
                    pieces.push(Piece::Elapsed(unit));
                }
                // Anything else is a colour.
                rest = after;
            }
            'a' if rest.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("AM/PM")) => {
                pieces.push(Piece::Half);
                rest = &rest[5..];
            }
            'a' if rest.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("A/P")) => {
                pieces.push(Piece::Half);
                rest = &rest[3..];
            }
            'e' if after.starts_with(['+', '-']) => {
                let digits =
                    after[1..].bytes().take_while(|byte| matches!(byte, b'0' | b'#')).count();
                pieces.push(Piece::Exponent(digits));
                rest = &after[1 + digits..];
            }
            'y' | 'm' | 'd' | 'h' | 's' => {
                let len = run(&|c| c.eq_ignore_ascii_case(&lower));
                pieces.push(Piece::Date(lower, len));
                rest = &rest[len..];
            }
            '0' | '#' | '?' | '.' | ',' => {
                let len = run(&|c| matches!(c, '0' | '#' | '?' | '.' | ','));
                pieces.push(Piece::Digits(rest[..len].to_owned()));
                rest = &rest[len..];
            }
            '%' => {
                pieces.push(Piece::Percent);
                rest = after;
            }
            '@' | 'g' | '/' if lower != '/' || !is_date_code(section) => return None,
            c => {
                literal(&mut pieces, c.encode_utf8(&mut [0; 4]));
                rest = after;
            }
        }
    }
    Some(pieces)
}

fn is_date_code(section: &str) -> bool {
    section.contains(['y', 'Y', 'd', 'D', 'm', 'M', 'h', 'H'])
}
