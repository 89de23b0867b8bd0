//! Gives the content of Typst to what it is in: a table, a definition, or the content around it.

use super::Flattener;
use crate::document::Reason;
use crate::markup::typst::arguments::{is_inline, is_shown};
use crate::markup::typst::frames::{Frame, Piece, joined, states};
use crate::markup::typst::scanner::Raw;

impl Flattener<'_> {
    /// Takes a text that is an argument or a value.
    pub(super) fn say(&mut self, said: String) {
        let number = self.scanner.line;
        if let Some(Frame::Statement { defined: Some(name), .. }) = self.frames.last() {
            self.definitions.insert(name.clone(), said.clone());
        }
        // A group is part of the argument that it is in.
        let arguments = self.frames.iter().rev().map_while(Frame::argument);
        let own = arguments.clone().find(|argument| *argument != ("", ""));
        let Some((function, argument)) = own else {
            self.flat.left_out.add(Reason::Markup, &said);
            return;
        };
        let is_author = |(_, argument): (&str, &str)| matches!(argument, "author" | "authors");
        if arguments.clone().any(|(function, _)| states(function)) {
            match argument {
                "title" => self.flat.title = self.flat.title.take().or(Some(said.clone())),
                "author" | "authors" => self.flat.authors.push(said.clone()),
                "name" if arguments.clone().any(is_author) => self.flat.authors.push(said.clone()),
                _ => {}
            }
        }
        // The address of a link with words.
        let is_address = function == "link" && self.scanner.rest().starts_with(")[");
        if is_address || !is_shown(function, argument) {
            self.flat.left_out.add(Reason::Markup, &said);
            return;
        }
        let said = if function == "raw" { format!("`{said}`") } else { said };
        self.deliver(vec![Piece::Text(number, said)]);
    }

    /// Lets a cell of the innermost table take several columns: the next one, if its content is after its arguments.
    pub(super) fn span(&mut self, num_columns: usize) {
        let is_next = self.scanner.rest().starts_with('[');
        let tables = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Arguments { function, cells, .. } if function == "table" => Some(cells),
            _ => None,
        });
        match tables {
            Some(table) if is_next => table.next_span = num_columns,
            Some(table) => table.widen(num_columns),
            None => {}
        }
    }

    pub(super) fn push(&mut self, number: u32, words: &str) {
        self.pieces().push(Piece::Text(number, words.to_owned()));
    }

    /// Returns the pieces of the innermost content.
    pub(super) fn pieces(&mut self) -> &mut Vec<Piece> {
        let contents = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Content { pieces, .. } => Some(pieces),
            _ => None,
        });
        contents.unwrap_or(&mut self.flat.pieces)
    }

    pub(super) fn deliver_raw(&mut self, raw: &Raw<'_>) {
        let Raw { language, number, text } = raw;
        let piece = match text.contains('\n') {
            true => Piece::Code {
                language: (*language).to_owned(),
                number: *number,
                text: (*text).to_owned(),
            },
            false => Piece::Text(*number, format!("`{}`", text.trim())),
        };
        self.deliver(vec![piece]);
    }

    /// Gives pieces to the table or the content that they are in.
    pub(super) fn deliver(&mut self, pieces: Vec<Piece>) {
        let number = self.scanner.line;
        let (mut is_apart, mut is_word) = (false, false);
        for frame in self.frames.iter_mut().rev() {
            match frame {
                Frame::Content { .. } => break,
                Frame::Arguments { function, argument, cells, .. }
                    if function == "table" && argument.is_empty() =>
                {
                    cells.push(number, joined(&pieces));
                    return;
                }
                Frame::Arguments { function, argument, .. } => {
                    if argument == "title" && states(function) && self.flat.title.is_none() {
                        self.flat.title = Some(joined(&pieces));
                    }
                    is_apart |= !function.is_empty() && !is_inline(function);
                }
                Frame::Statement { is_silent: true, defined, .. } => {
                    let words = joined(&pieces);
                    self.flat.left_out.add(Reason::Markup, &words);
                    if let Some(name) = defined {
                        self.definitions.insert(name.clone(), words);
                    }
                    return;
                }
                Frame::Block => is_apart = true,
                Frame::Statement { .. } => is_word = true,
            }
        }
        let open = self.pieces();
        if is_apart {
            open.push(Piece::Break(number));
        }
        open.extend(pieces);
        if is_apart {
            open.push(Piece::Break(number));
        } else if is_word {
            open.push(Piece::Text(number, " ".to_owned()));
        }
    }
}
