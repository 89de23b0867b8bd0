//! Adds the content of Typst to its container: a table, a definition, or the content around it.

use super::Flattener;
use crate::document::WordDestination;
use crate::markup::typst::arguments::{is_inline, is_shown};
use crate::markup::typst::frames::{TypstFrame, TypstPiece, joined, states};
use crate::markup::typst::scanner::TypstSource;

impl Flattener<'_> {
    /// Takes a text that is an argument or a value.
    pub(super) fn say(&mut self, said: String) {
        let number = self.scanner.line;
        if let Some(TypstFrame::Statement { defined: Some(name), .. }) = self.frames.last() {
            self.definitions.insert(name.clone(), said.clone());
        }
        // A group is part of the argument that it is in.
        let arguments = self.frames.iter().rev().map_while(TypstFrame::argument);
        let own = arguments.clone().find(|argument| *argument != ("", ""));
        let Some((function, argument)) = own else {
            self.flat.left_out.add(WordDestination::Markup, &said);
            return;
        };
        if arguments.clone().any(|(function, _)| states(function)) {
            match argument {
                "title" => self.flat.title = self.flat.title.take().or(Some(said.clone())),
                "author" | "authors" => self.flat.authors.push(said.clone()),
                "name"
                    if arguments
                        .clone()
                        .any(|(_, argument)| matches!(argument, "author" | "authors")) =>
                {
                    self.flat.authors.push(said.clone());
                }
                _ => {}
            }
        }
        // The address of a link with words.
        let is_address = function == "link" && self.scanner.rest().starts_with(")[");
        if is_address || !is_shown(function, argument) {
            self.flat.left_out.add(WordDestination::Markup, &said);
            return;
        }
        let said = if function == "raw" { format!("`{said}`") } else { said };
        self.deliver(vec![TypstPiece::Text(number, said)]);
    }

    /// Lets a cell of the innermost table take several columns: the next one, if its content is after its arguments.
    pub(super) fn span(&mut self, num_columns: usize) {
        let is_next = self.scanner.rest().starts_with('[');
        let tables = self.frames.iter_mut().rev().find_map(|frame| match frame {
            TypstFrame::Arguments { function, cells, .. } if function == "table" => Some(cells),
            _ => None,
        });
        match tables {
            Some(table) if is_next => table.next_span = num_columns,
            Some(table) => table.widen(num_columns),
            None => {}
        }
    }

    pub(super) fn push(&mut self, number: u32, words: &str) {
        self.pieces().push(TypstPiece::Text(number, words.to_owned()));
    }

    /// Returns the pieces of the innermost content.
    pub(super) fn pieces(&mut self) -> &mut Vec<TypstPiece> {
        let contents = self.frames.iter_mut().rev().find_map(|frame| match frame {
            TypstFrame::Content { pieces, .. } => Some(pieces),
            _ => None,
        });
        contents.unwrap_or(&mut self.flat.pieces)
    }

    pub(super) fn deliver_raw(&mut self, raw: &TypstSource<'_>) {
        let TypstSource { language, number, text } = raw;
        let (number, text) = (*number, (*text).to_owned());
        let piece = if text.contains('\n') {
            TypstPiece::Code { language: (*language).to_owned(), number, text }
        } else {
            TypstPiece::Text(number, format!("`{}`", text.trim()))
        };
        self.deliver(vec![piece]);
    }

    /// Gives pieces to the table or the content that they are in.
    pub(super) fn deliver(&mut self, pieces: Vec<TypstPiece>) {
        let number = self.scanner.line;
        let (mut is_apart, mut is_word) = (false, false);
        for frame in self.frames.iter_mut().rev() {
            match frame {
                TypstFrame::Content { .. } => break,
                TypstFrame::Arguments { function, argument, cells, .. }
                    if function == "table" && argument.is_empty() =>
                {
                    cells.push(number, joined(&pieces));
                    return;
                }
                TypstFrame::Arguments { function, argument, .. } => {
                    if argument == "title" && states(function) && self.flat.title.is_none() {
                        self.flat.title = Some(joined(&pieces));
                    }
                    is_apart |= !function.is_empty() && !is_inline(function);
                }
                TypstFrame::Statement { is_silent: true, defined, .. } => {
                    let words = joined(&pieces);
                    self.flat.left_out.add(WordDestination::Markup, &words);
                    if let Some(name) = defined {
                        self.definitions.insert(name.clone(), words);
                    }
                    return;
                }
                TypstFrame::Block => is_apart = true,
                TypstFrame::Statement { .. } => is_word = true,
            }
        }
        let open = self.pieces();
        if is_apart {
            open.push(TypstPiece::Break(number));
        }
        open.extend(pieces);
        if is_apart {
            open.push(TypstPiece::Break(number));
        } else if is_word {
            open.push(TypstPiece::Text(number, " ".to_owned()));
        }
    }
}
