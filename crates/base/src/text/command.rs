//! Splits a command that a user wrote in a setting or a variable.

/// Splits a command at spaces, except within quotes. No other character has a special
/// meaning.
pub fn words(command: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut quote, mut is_open) = (None, false);
    for c in command.chars() {
        if quote.is_none() && c.is_whitespace() {
            is_open = false;
            continue;
        }
        if !is_open {
            found.push(String::new());
            is_open = true;
        }
        match quote {
            Some(mark) if c == mark => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {
                if let Some(word) = found.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_at_spaces_but_not_in_quotes() {
        for (command, expected) in [
            ("vim", &["vim"][..]),
            (" code  -w ", &["code", "-w"]),
            ("\"/opt/My Editor/ed\" '-a b'", &["/opt/My Editor/ed", "-a b"]),
            ("vim $(x); rm|", &["vim", "$(x);", "rm|"]),
            ("", &[]),
        ] {
            assert_eq!(words(command), expected, "{command}");
        }
    }
}
