//! Reads lines up to a maximum length, so that an endless line cannot fill the memory.

use std::io::{self, BufRead, Read};

/// The result of reading a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOutcome {
    /// A line; it may be empty.
    Line,
    /// There are no more lines.
    End,
    /// The line is longer than the limit. Its rest has not been read, so the next line cannot be
    /// found.
    TooLong,
}

/// Reads the next line into `line`, without its end.
pub fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    max_bytes: usize,
) -> io::Result<LineOutcome> {
    line.clear();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let num_read = input.by_ref().take(limit).read_until(b'\n', line)?;
    if num_read == 0 {
        return Ok(LineOutcome::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > max_bytes {
        // The buffer is freed: it is no longer needed, and may be large.
        *line = Vec::new();
        return Ok(LineOutcome::TooLong);
    }
    Ok(LineOutcome::Line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, max_bytes: usize, expected: &[&str], last: LineOutcome) {
        let mut input = text.as_bytes();
        let (mut line, mut found) = (Vec::new(), Vec::new());
        let outcome = loop {
            match read_line(&mut input, &mut line, max_bytes).unwrap() {
                LineOutcome::Line => found.push(String::from_utf8(line.clone()).unwrap()),
                other => break other,
            }
        };
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(outcome, last, "{text:?}");
    }

    #[test]
    fn lines_up_to_the_limit_are_read() {
        check("", 3, &[], LineOutcome::End);
        check("abc\n\nde", 3, &["abc", "", "de"], LineOutcome::End);
        check("abc", 3, &["abc"], LineOutcome::End);
        check("a\nabcd\ne", 3, &["a"], LineOutcome::TooLong);
        check("a\nabcd", 3, &["a"], LineOutcome::TooLong);
    }

    #[test]
    fn reading_stops_at_an_endless_line() {
        let mut input = io::BufReader::new(io::repeat(0));
        let mut line = Vec::new();
        assert_eq!(read_line(&mut input, &mut line, 1000).unwrap(), LineOutcome::TooLong);
        assert_eq!(line.capacity(), 0);
    }
}
