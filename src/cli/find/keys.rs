//! Maps keys to commands. The page of keys is made from the same table.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    /// Open the place, or print it.
    Choose,
    Up,
    Down,
    PageUp,
    PageDown,
    Mode,
    Filter,
    Outline,
    Section,
    Similar,
    CopyText,
    CopyCitation,
    Back,
    Quit,
    Keys,
    Insert(char),
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    End,
    DeleteBefore,
    DeleteAfter,
    DeleteWord,
    DeleteToStart,
    DeleteToEnd,
}

/// The keys of a command, the command, and what it does; `^` stands for Ctrl.
type Binding = (&'static [&'static str], Command, &'static str);

/// All bindings but those of characters. Function keys alone would not do: some terminals keep F1.
pub(super) const BINDINGS: &[Binding] = &[
    (&["Enter"], Command::Choose, "open in your editor or viewer, at the place"),
    (&["Up", "^P"], Command::Up, "select the one above; scroll a section up"),
    (&["Down", "^N"], Command::Down, "select the one below; scroll a section down"),
    (&["PgUp"], Command::PageUp, "scroll the text up"),
    (&["PgDn"], Command::PageDown, "scroll the text down"),
    (&["Tab"], Command::Mode, "hybrid, keywords only, meaning only"),
    (&["^F"], Command::Filter, "filter by type, tag, folder, language, date"),
    (&["^O"], Command::Outline, "show the outline of the document"),
    (&["^S"], Command::Section, "read the whole section, symbol or page"),
    (&["^R"], Command::Similar, "find similar passages"),
    (&["^Y"], Command::CopyText, "copy the passage"),
    (&["^T"], Command::CopyCitation, "copy its citation"),
    (&["Esc"], Command::Back, "go back; leave from the hits"),
    (&["^C"], Command::Quit, "leave"),
    (&["^G", "F1"], Command::Keys, "show the keys"),
    (&["Left", "^B"], Command::Left, ""),
    (&["Right"], Command::Right, ""),
    (&["Alt-b", "Alt-Left", "^Left"], Command::WordLeft, ""),
    (&["Alt-f", "Alt-Right", "^Right"], Command::WordRight, ""),
    (&["Home", "^A"], Command::Home, ""),
    (&["End", "^E"], Command::End, ""),
    (&["Backspace", "^H"], Command::DeleteBefore, ""),
    (&["Delete", "^D"], Command::DeleteAfter, ""),
    (&["^W", "Alt-Backspace"], Command::DeleteWord, "delete the word before the cursor"),
    (&["^U"], Command::DeleteToStart, "delete all before the cursor"),
    (&["^K"], Command::DeleteToEnd, "delete all after the cursor"),
];

pub(super) fn command(key: KeyEvent) -> Option<Command> {
    let bound = BINDINGS.iter().find(|binding| binding.0.iter().any(|name| is(name, key)));
    if let Some((_, command, _)) = bound {
        return Some(*command);
    }
    match (key.code, key.modifiers) {
        (KeyCode::Char(typed), modifiers) if (modifiers - KeyModifiers::SHIFT).is_empty() => {
            Some(Command::Insert(typed))
        }
        _ => None,
    }
}

/// Whether a key has a name of the table.
fn is(name: &str, key: KeyEvent) -> bool {
    let (modifiers, name) = match (name.strip_prefix('^'), name.strip_prefix("Alt-")) {
        (Some(name), _) if !name.is_empty() => (KeyModifiers::CONTROL, name),
        (_, Some(name)) => (KeyModifiers::ALT, name),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "Tab" => KeyCode::Tab,
        "Esc" => KeyCode::Esc,
        "F1" => KeyCode::F(1),
        "Backspace" => KeyCode::Backspace,
        "Delete" => KeyCode::Delete,
        letter => KeyCode::Char(letter.chars().next().map_or(' ', |c| c.to_ascii_lowercase())),
    };
    key.code == code && key.modifiers == modifiers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_that_of_one_key() {
        let mut seen = Vec::new();
        for name in BINDINGS.iter().flat_map(|binding| binding.0) {
            assert!(!seen.contains(name), "{name} is bound twice");
            seen.push(*name);
        }
        let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        assert_eq!(command(control('o')), Some(Command::Outline));
        assert_eq!(command(control('x')), None);
        let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
        assert_eq!(command(plain(KeyCode::Char('o'))), Some(Command::Insert('o')));
        assert_eq!(command(plain(KeyCode::Char('^'))), Some(Command::Insert('^')));
        let shifted = KeyEvent::new(KeyCode::Char('Ä'), KeyModifiers::SHIFT);
        assert_eq!(command(shifted), Some(Command::Insert('Ä')));
        assert_eq!(command(plain(KeyCode::PageUp)), Some(Command::PageUp));
        let word = KeyEvent::new(KeyCode::Backspace, KeyModifiers::ALT);
        assert_eq!(command(word), Some(Command::DeleteWord));
    }
}
