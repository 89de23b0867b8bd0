//! Draws a layout into a buffer of cells.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use crate::cli::find::layout::Layout;
use crate::present::find::Meaning;

/// Draws a layout. Without colours, only bold, faint, underlined and reversed text is used.
pub(super) fn draw(layout: &Layout, is_coloured: bool, buffer: &mut Buffer) {
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
    let mut style = Style::new();
    for number in meaning.code().split(';') {
        let colour = match number {
            "1" => {
                style = style.add_modifier(Modifier::BOLD);
                continue;
            }
            "2" => {
                style = style.add_modifier(Modifier::DIM);
                continue;
            }
            "4" => {
                style = style.add_modifier(Modifier::UNDERLINED);
                continue;
            }
            "31" => Color::Red,
            "32" => Color::Green,
            "33" => Color::Yellow,
            "35" => Color::Magenta,
            "36" => Color::Cyan,
            _ => continue,
        };
        if is_coloured {
            style = style.fg(colour);
        }
    }
    // Without colours, as in the selected row, bold alone could be taken for a title.
    if meaning == Meaning::Match && !is_coloured {
        style = style.add_modifier(Modifier::UNDERLINED);
    }
    style
}
