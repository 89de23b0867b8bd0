//! Splits a mailbox (MBOX, RFC 4155) into its messages.

/// Returns the messages of a mailbox.
///
/// Each begins after a line `From address date`. Programs should quote such a line in a text as `>From`, but not all do,
/// so that it only counts if a header follows.
pub(super) fn messages(mailbox: &[u8]) -> Vec<Vec<u8>> {
    let mut messages: Vec<Vec<u8>> = Vec::new();
    let mut lines = mailbox.split_inclusive(|byte| *byte == b'\n').peekable();
    let mut is_after_blank = true;
    while let Some(line) = lines.next() {
        let begins = line.starts_with(b"From ") && (is_after_blank || has_year(line));
        if begins && lines.peek().is_some_and(|next| is_header(next)) {
            messages.push(Vec::new());
        } else if let Some(message) = messages.last_mut() {
            message.extend_from_slice(unquoted(line));
        }
        is_after_blank = line.trim_ascii().is_empty();
    }
    messages
}

/// Whether one of the words is a year, as in the line before a message.
fn has_year(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace);
    words.any(|word| word.len() == 4 && word.iter().all(u8::is_ascii_digit))
}

/// Removes the sign that quotes a line `From `.
fn unquoted(line: &[u8]) -> &[u8] {
    let num_signs = line.iter().take_while(|byte| **byte == b'>').count();
    let is_quoted = num_signs > 0 && line[num_signs..].starts_with(b"From ");
    if is_quoted { &line[1..] } else { line }
}

/// Whether a line is a header: `Subject: words`.
fn is_header(line: &[u8]) -> bool {
    let name = line.iter().take_while(|byte| byte.is_ascii_graphic() && **byte != b':').count();
    name > 0 && line.get(name) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mailbox: &str, expected: &[&str]) {
        let messages = messages(mailbox.as_bytes());
        let messages: Vec<_> = messages.iter().map(|text| String::from_utf8_lossy(text)).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn a_line_in_a_text_that_only_begins_with_from_separates_nothing() {
        check(
            "From ada Mon\nSubject: a\n\nLow.\n>From here.\n>>From there.\n\nFrom noon on it\nrose.\n\n\
             From bo Tue\nSubject: b\n\nHigh.\nFrom cy Wed May 6 2026\nSubject: c\n\nEbb.",
            &[
                "Subject: a\n\nLow.\nFrom here.\n>From there.\n\nFrom noon on it\nrose.\n\n",
                "Subject: b\n\nHigh.\n",
                "Subject: c\n\nEbb.",
            ],
        );
    }

    #[test]
    fn a_text_without_messages_has_none() {
        check("", &[]);
        check("words\n\nmore", &[]);
        check("From words\n", &[]);
    }
}
