//! Splits RTF into groups, control words and characters.

/// A piece of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// A control word with its number.
    Word(&'a str, Option<i32>),
    /// A control symbol: a character after a backslash.
    Symbol(u8),
    /// A byte of text in the code page.
    Byte(u8),
}

/// Longest control word, in letters; programs allow 32, and longer ones are damage.
const MAX_WORD: usize = 64;

/// Splits a file from its beginning.
#[derive(Debug)]
pub(super) struct RtfTokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> RtfTokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn word(&mut self) -> Token<'a> {
        let start = self.at;
        let rest = &self.bytes[start..];
        let len = rest.iter().take(MAX_WORD).take_while(|byte| byte.is_ascii_alphabetic()).count();
        self.at += len;
        let word = str::from_utf8(&rest[..len]).unwrap_or_default();
        let digits = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let number = str::from_utf8(&self.bytes[digits..self.at]).unwrap_or_default();
        if number == "-" {
            self.at -= 1;
        }
        // A number that is too large is ignored.
        let number = number.parse().ok();
        if self.peek() == Some(b' ') {
            self.at += 1;
        }
        if word == "bin" {
            let len = number.and_then(|len: i32| usize::try_from(len).ok()).unwrap_or(0);
            self.at = self.at.saturating_add(len).min(self.bytes.len());
        }
        Token::Word(word, number)
    }
}

impl<'a> Iterator for RtfTokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let byte = self.peek()?;
            self.at += 1;
            return Some(match byte {
                b'{' => Token::Open,
                b'}' => Token::Close,
                b'\r' | b'\n' | 0 => continue,
                b'\\' => match self.peek() {
                    None => return None,
                    Some(next) if next.is_ascii_alphabetic() => self.word(),
                    Some(b'\'') => {
                        let hex = self.bytes.get(self.at + 1..self.at + 3);
                        let hex = hex.and_then(|hex| str::from_utf8(hex).ok());
                        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
                        self.at += if byte.is_some() { 3 } else { 1 };
                        match byte {
                            Some(byte) => Token::Byte(byte),
                            None => continue,
                        }
                    }
                    Some(symbol) => {
                        self.at += 1;
                        Token::Symbol(symbol)
                    }
                },
                byte => Token::Byte(byte),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_split() {
        let tokens: Vec<Token<'_>> =
            RtfTokens::new(b"{\\rtf1\\b0 a\r\n\\'e4\\u-10 ?\\~\\bin3 }}}x\\'zz}\\").collect();
        assert_eq!(
            tokens,
            [
                Token::Open,
                Token::Word("rtf", Some(1)),
                Token::Word("b", Some(0)),
                Token::Byte(b'a'),
                Token::Byte(0xE4),
                Token::Word("u", Some(-10)),
                Token::Byte(b'?'),
                Token::Symbol(b'~'),
                Token::Word("bin", Some(3)),
                Token::Byte(b'x'),
                Token::Byte(b'z'),
                Token::Byte(b'z'),
                Token::Close,
            ]
        );
    }
}
