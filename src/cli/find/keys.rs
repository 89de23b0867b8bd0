//! Maps keys to commands. The page of keys is made from the same table.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The command of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyCommand {
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
type Binding = (&'static [&'static str], KeyCommand, &'static str);

/// All bindings but those of characters. Function keys alone would not do: some terminals keep F1.
pub(super) const BINDINGS: &[Binding] = &[
    (&["Enter"], KeyCommand::Choose, "open the passage in an editor or viewer"),
    (&["Up", "^P"], KeyCommand::Up, "go to the previous result or section"),
    (&["Down", "^N"], KeyCommand::Down, "go to the next result or section"),
    (&["PgUp"], KeyCommand::PageUp, "scroll the text up"),
    (&["PgDn"], KeyCommand::PageDown, "scroll the text down"),
    (&["Tab"], KeyCommand::Mode, "mode: hybrid, keywords only, meaning only"),
    (&["^F"], KeyCommand::Filter, "filter by type, tag, folder, language, date"),
    (&["^O"], KeyCommand::Outline, "show the outline of the document"),
    (&["^S"], KeyCommand::Section, "read the whole section, symbol or page"),
    (&["^R"], KeyCommand::Similar, "find similar passages"),
    (&["^Y"], KeyCommand::CopyText, "copy the passage"),
    (&["^T"], KeyCommand::CopyCitation, "copy its citation"),
    (&["Esc"], KeyCommand::Back, "go back, or leave from the results"),
    (&["^C"], KeyCommand::Quit, "leave"),
    (&["^G", "F1"], KeyCommand::Keys, "show all keys"),
    (&["Left", "^B"], KeyCommand::Left, ""),
    (&["Right"], KeyCommand::Right, ""),
    (&["Alt-b", "Alt-Left", "^Left"], KeyCommand::WordLeft, ""),
    (&["Alt-f", "Alt-Right", "^Right"], KeyCommand::WordRight, ""),
    (&["Home", "^A"], KeyCommand::Home, ""),
    (&["End", "^E"], KeyCommand::End, ""),
    (&["Backspace", "^H"], KeyCommand::DeleteBefore, ""),
    (&["Delete", "^D"], KeyCommand::DeleteAfter, ""),
    (&["^W", "Alt-Backspace"], KeyCommand::DeleteWord, "delete the word before the cursor"),
    (&["^U"], KeyCommand::DeleteToStart, "delete everything before the cursor"),
    (&["^K"], KeyCommand::DeleteToEnd, "delete everything after the cursor"),
];

pub(super) fn command(key: KeyEvent) -> Option<KeyCommand> {
    let bound = BINDINGS.iter().find(|binding| binding.0.iter().any(|name| is(name, key)));
    if let Some((_, command, _)) = bound {
        return Some(*command);
    }
    match (key.code, key.modifiers) {
        (KeyCode::Char(typed), modifiers) if (modifiers - KeyModifiers::SHIFT).is_empty() => {
            Some(KeyCommand::Insert(typed))
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
        assert_eq!(command(control('o')), Some(KeyCommand::Outline));
        assert_eq!(command(control('x')), None);
        let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
        assert_eq!(command(plain(KeyCode::Char('o'))), Some(KeyCommand::Insert('o')));
        assert_eq!(command(plain(KeyCode::Char('^'))), Some(KeyCommand::Insert('^')));
        let shifted = KeyEvent::new(KeyCode::Char('Ä'), KeyModifiers::SHIFT);
        assert_eq!(command(shifted), Some(KeyCommand::Insert('Ä')));
        assert_eq!(command(plain(KeyCode::PageUp)), Some(KeyCommand::PageUp));
        let word = KeyEvent::new(KeyCode::Backspace, KeyModifiers::ALT);
        assert_eq!(command(word), Some(KeyCommand::DeleteWord));
    }
}
