//! Reads the words of Typst's code: names, texts in quotes, comments and source text.

/// A position in a text, with its line.
pub(super) struct TypstScanner<'t> {
    text: &'t str,
    at: usize,
    /// The line of the next byte, from 1.
    pub(super) line: u32,
}

impl<'t> TypstScanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Returns the last character before the position.
    pub(super) fn before(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Returns the text from a position up to here.
    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Moves on by some bytes and returns them.
    pub(super) fn take(&mut self, len: usize) -> &'t str {
        let taken = &self.rest()[..len];
        let num_lines = taken.bytes().filter(|byte| *byte == b'\n').count();
        self.line = self.line.saturating_add(u32::try_from(num_lines).unwrap_or(0));
        self.at += len;
        taken
    }

    /// Takes the next character.
    pub(super) fn take_char(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.take(next.len_utf8());
        Some(next)
    }

    /// Whether this word is next.
    pub(super) fn has_word(&self, word: &str) -> bool {
        let after = self.rest().strip_prefix(word);
        after.is_some_and(|after| {
            !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        })
    }

    /// Takes the blanks up to the next word, which may be on another line.
    pub(super) fn take_blanks(&mut self) {
        self.take(self.rest().len() - self.rest().trim_start().len());
    }

    /// Takes a comment and returns its text; `None` if there is none.
    pub(super) fn comment(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment_len(rest)
        } else {
            return None;
        };
        Some(self.take(len))
    }

    /// Takes a name with the names after its full stops: `table.cell`.
    pub(super) fn path(&mut self) -> &'t str {
        let rest = self.rest();
        let mut len = 0;
        loop {
            let name = &rest[len..];
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
            let end = end.unwrap_or(name.len());
            // A word that ends with a hyphen is a word before a dash.
            let end = name[..end].trim_end_matches('-').len();
            if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') || end == 0 {
                // The full stop ends a sentence.
                return self.take(len.saturating_sub(1));
            }
            len += end;
            if !rest[len..].starts_with('.') {
                return self.take(len);
            }
            len += 1;
        }
    }

    /// Takes a text in quotes and returns its content.
    pub(super) fn quoted(&mut self) -> String {
        self.take(1);
        let mut said = String::new();
        while let Some(c) = self.take_char() {
            match c {
                '"' => return said,
                '\\' => match self.take_char() {
                    Some('n' | 't' | 'r') => said.push(' '),
                    Some(escaped) => said.push(escaped),
                    None => {}
                },
                c => said.push(c),
            }
        }
        said
    }

    /// Takes source text between backticks and returns it with its line.
    pub(super) fn raw(&mut self) -> TypstSource<'t> {
        let rest = self.rest();
        let num_ticks = rest.bytes().take_while(|byte| *byte == b'`').count();
        let number = self.line;
        if num_ticks == 2 {
            self.take(num_ticks);
            return TypstSource { language: "", number, text: "" };
        }
        let inside = &rest[num_ticks..];
        let end = run_of(inside, num_ticks).unwrap_or(inside.len());
        self.take((num_ticks + end + num_ticks).min(rest.len()));
        let inside = &inside[..end];
        let word_len = if num_ticks == 1 {
            0
        } else {
            inside.find(|c: char| !c.is_alphanumeric() && !"-_+#".contains(c)).unwrap_or(0)
        };
        TypstSource { language: &inside[..word_len], number, text: &inside[word_len..] }
    }
}

/// Source text.
pub(super) struct TypstSource<'t> {
    pub(super) language: &'t str,
    /// The line of its first character.
    pub(super) number: u32,
    pub(super) text: &'t str,
}

/// Returns where the first run of this many backticks begins.
fn run_of(text: &str, num_ticks: usize) -> Option<usize> {
    let mut run = 0;
    for (at, byte) in text.bytes().enumerate() {
        run = if byte == b'`' { run + 1 } else { 0 };
        if run == num_ticks {
            return Some(at + 1 - num_ticks);
        }
    }
    None
}

/// Returns the length of the comment that begins a text; comments may contain others.
fn comment_len(text: &str) -> usize {
    let (mut depth, mut skipped_to) = (0_usize, 0);
    for (at, pair) in text.as_bytes().windows(2).enumerate() {
        match pair {
            _ if at < skipped_to => {}
            b"/*" => (depth, skipped_to) = (depth + 1, at + 2),
            b"*/" if depth == 1 => return at + 2,
            b"*/" => (depth, skipped_to) = (depth - 1, at + 2),
            _ => {}
        }
    }
    text.len()
}
