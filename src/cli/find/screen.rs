//! Uses the terminal as a full screen: takes it over, paints cells, and restores it.
//!
//! Everything is painted through a [`CleanWriter`], which cleans it, so that no stored text can control the terminal.

use std::io::{self, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::queue;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui_core::backend::{Backend, ClearType as Region, WindowSize};
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::{Position, Rect, Size};
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::terminal::Terminal;

use crate::cli::find::layout::ScreenLayout;
use crate::cli::streams;
use crate::error::{Error, Result};
use crate::present::find::Meaning;
use crate::present::terminal::sheet::CleanWriter;

/// Modifiers, with their parameters of escape sequences.
const MODIFIERS: [(Modifier, u8); 4] =
    [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::UNDERLINED, 4), (Modifier::REVERSED, 7)];

/// Colours, with their parameters of escape sequences.
const COLOURS: [(Color, u8); 6] = [
    (Color::Red, 31),
    (Color::Green, 32),
    (Color::Yellow, 33),
    (Color::Blue, 34),
    (Color::Magenta, 35),
    (Color::Cyan, 36),
];

/// Whether the terminal is taken over.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The screen; restores the terminal when it is dropped.
pub(super) struct Screen {
    terminal: Terminal<Painter>,
    is_coloured: bool,
}

impl Screen {
    /// Takes over the terminal on stderr.
    pub(super) fn take(is_coloured: bool) -> Result<Self> {
        let painter = Painter { out: streams::screen(), frame: Vec::new() };
        let terminal = Terminal::new(painter).map_err(Error::Output)?;
        let mut screen = Self { terminal, is_coloured };
        give_back_on_panic();
        screen.enter()?;
        Ok(screen)
    }

    fn enter(&mut self) -> Result<()> {
        enable_raw_mode().map_err(Error::Output)?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        begin(&mut streams::screen()).map_err(Error::Output)?;
        self.terminal.clear().map_err(Error::Output)
    }

    /// Gives the terminal to another program while it runs.
    pub(super) fn lend<T>(&mut self, run: impl FnOnce() -> T) -> Result<T> {
        give_back();
        let outcome = run();
        self.enter()?;
        Ok(outcome)
    }

    /// Paints a layout; only what differs from the last one is written.
    pub(super) fn paint(&mut self, layout: &ScreenLayout) -> Result<()> {
        // Nothing is painted after a panic, which has restored the terminal.
        if !IS_TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        let is_coloured = self.is_coloured;
        let painted = self.terminal.draw(|frame| {
            draw(layout, is_coloured, frame.buffer_mut());
            if let Some((x, y)) = layout.cursor {
                frame.set_cursor_position((x, y));
            }
        });
        painted.map(|_| ()).map_err(Error::Output)
    }

    /// Puts text on the clipboard.
    pub(super) fn copy(text: &str) -> Result<()> {
        let mut bytes = Vec::new();
        CleanWriter::new(&mut bytes).clipboard(text).map_err(Error::Output)?;
        let mut out = streams::screen();
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(Error::Output)
    }

    /// Returns the columns and rows.
    pub(super) fn size() -> (usize, usize) {
        let (rows, columns) = streams::stderr_size();
        (usize::from(columns), usize::from(rows))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Restores the terminal if it is taken over. If that fails, the terminal no longer exists.
fn give_back() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        let _ = end(&mut streams::screen());
        let _ = disable_raw_mode();
    }
}

/// Writes what takes a terminal over.
fn begin(out: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    queue!(bytes, EnterAlternateScreen, EnableBracketedPaste)?;
    out.write_all(&bytes)?;
    out.flush()
}

/// Writes the codes that restore a terminal.
fn end(out: &mut dyn Write) -> io::Result<()> {
    let mut bytes = Vec::new();
    CleanWriter::new(&mut bytes).cells(&[], "")?;
    queue!(bytes, DisableBracketedPaste, LeaveAlternateScreen, Show)?;
    out.write_all(&bytes)?;
    out.flush()
}

/// Restores the terminal before a panic prints its message.
fn give_back_on_panic() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        give_back();
        print(info);
    }));
}

/// Writes cells, each frame at once.
struct Painter {
    out: Box<dyn Write + Send>,
    frame: Vec<u8>,
}

impl Backend for Painter {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        // A cell next to the last one needs no movement, and one in the same style no style. Terminals do not
        // agree on the width of all characters, so that after one beyond ASCII the cursor is moved.
        let (mut next, mut style) = (None, None);
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                queue!(self.frame, MoveTo(x, y))?;
            }
            let wanted = numbers(cell);
            let mut sheet = CleanWriter::new(&mut self.frame);
            if style.as_ref() == Some(&wanted) {
                sheet.text(cell.symbol())?;
            } else {
                sheet.cells(&wanted, cell.symbol())?;
                style = Some(wanted);
            }
            next = (cell.symbol().len() == 1).then_some((x + 1, y));
        }
        if style.is_some_and(|style| !style.is_empty()) {
            CleanWriter::new(&mut self.frame).cells(&[], "")?;
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        queue!(self.frame, Hide)
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        queue!(self.frame, Show)
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        queue!(self.frame, MoveTo(x, y))
    }

    fn clear(&mut self) -> io::Result<()> {
        queue!(self.frame, Clear(ClearType::All))
    }

    fn clear_region(&mut self, region: Region) -> io::Result<()> {
        let region = match region {
            Region::All => ClearType::All,
            Region::AfterCursor => ClearType::FromCursorDown,
            Region::BeforeCursor => ClearType::FromCursorUp,
            Region::CurrentLine => ClearType::CurrentLine,
            Region::UntilNewLine => ClearType::UntilNewLine,
        };
        queue!(self.frame, Clear(region))
    }

    fn size(&self) -> io::Result<Size> {
        let (rows, columns) = streams::stderr_size();
        Ok(Size::new(columns, rows))
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        let frame = std::mem::take(&mut self.frame);
        self.out.write_all(&frame)?;
        self.out.flush()
    }
}

/// Returns the parameters of the escape sequence for the style of a cell.
fn numbers(cell: &Cell) -> Vec<u8> {
    let modifiers = MODIFIERS.iter().filter(|known| cell.modifier.contains(known.0));
    let colour = COLOURS.iter().find(|known| known.0 == cell.fg);
    modifiers.map(|known| known.1).chain(colour.map(|known| known.1)).collect()
}

/// Draws a layout. Without colours, only bold, faint, underlined and reversed text is used.
pub(super) fn draw(layout: &ScreenLayout, is_coloured: bool, buffer: &mut Buffer) {
    for placed in &layout.placed {
        let (mut x, y) = (placed.x, placed.y);
        if y >= buffer.area.height {
            continue;
        }
        let end = placed.x.saturating_add(placed.columns).min(buffer.area.width);
        for piece in &placed.line {
            let room = usize::from(end.saturating_sub(x));
            let style = style(piece.meaning, is_coloured && !placed.is_selected);
            (x, _) = buffer.set_stringn(x, y, &piece.text, room, style);
        }
        if placed.is_selected {
            let row = Rect::new(placed.x, y, end.saturating_sub(placed.x), 1);
            buffer.set_style(row, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

/// Returns the style of a meaning, from its escape sequence.
fn style(meaning: Meaning, is_coloured: bool) -> Style {
    let numbers: Vec<u8> =
        meaning.code().split(';').filter_map(|number| number.parse::<u8>().ok()).collect();
    let modifiers = MODIFIERS.iter().filter(|known| numbers.contains(&known.1));
    let colour = COLOURS.iter().find(|known| is_coloured && numbers.contains(&known.1));
    let mut style = Style::new().add_modifier(modifiers.map(|known| known.0).collect());
    style.fg = colour.map(|known| known.0);
    // Without colours, as in the selected row, bold alone could be taken for a title.
    if meaning == Meaning::Match && !is_coloured {
        style = style.add_modifier(Modifier::UNDERLINED);
    }
    style
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_cell_can_send_an_escape_sequence() {
        let written = Written::default();
        let mut painter = Painter { out: Box::new(written.clone()), frame: Vec::new() };
        let mut cells = ["a", "\u{1b}[31m", "東", "\u{202e}"].map(|symbol| {
            let mut cell = Cell::default();
            cell.set_symbol(symbol);
            cell
        });
        cells[2].modifier = Modifier::BOLD;
        cells[2].fg = Color::Yellow;
        let at = [0, 1, 2, 4];
        painter.draw(at.iter().zip(&cells).map(|(x, cell)| (*x, 0, cell))).unwrap();
        painter.flush().unwrap();
        let written = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert_eq!(
            written,
            "\u{1b}[1;1H\u{1b}[0ma\u{fffd}[31m\u{1b}[1;3H\u{1b}[0;1;33m東\
             \u{1b}[1;5H\u{1b}[0m\u{fffd}"
        );
    }

    #[test]
    fn what_is_taken_is_given_back() {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        begin(&mut first).unwrap();
        end(&mut last).unwrap();
        assert_eq!(String::from_utf8(first).unwrap(), "\u{1b}[?1049h\u{1b}[?2004h");
        let last = String::from_utf8(last).unwrap();
        assert_eq!(last, "\u{1b}[0m\u{1b}[?2004l\u{1b}[?1049l\u{1b}[?25h");
    }
}
