//! Reads the definitions of macros, and what macros stand for.

use std::rc::Rc;

use crate::markup::writer::within;

use super::LatexReader;
use super::macros::Macro;

/// Maximum number of expanded macros, and how deep they may be nested: they may be made to grow.
const MAX_EXPANSIONS: usize = 20_000;
const MAX_EXPANSION_DEPTH: usize = 6;

impl LatexReader {
    /// Reads `\newcommand{\name}[2][default]{body}`.
    pub(super) fn define(&mut self) {
        let name = match self.skip_group() {
            Some(name) => name.trim().trim_start_matches('\\').to_owned(),
            None => self.control_name(),
        };
        let num_arguments = self.option().and_then(|number| number.trim().parse().ok());
        let default = self.option();
        self.remember(name, num_arguments.unwrap_or(0), default);
    }

    /// Reads the text in brackets; `None` if no bracket is next.
    fn option(&mut self) -> Option<String> {
        let (start, end) = self.group('[', ']')?;
        let inside = self.text[start..end].to_owned();
        self.advance(end + 1 - self.at);
        Some(inside)
    }

    /// Reads `\def\name#1#2{body}`.
    pub(super) fn define_plain(&mut self) {
        let name = self.control_name();
        let rest = &self.text[self.at..];
        let Some(open) = within(rest, 100).find('{') else { return };
        let num_arguments = rest[..open].matches('#').count();
        self.advance(open);
        self.remember(name, num_arguments, None);
    }

    /// Reads `\name`.
    fn control_name(&mut self) -> String {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        let Some(name) = trimmed.strip_prefix('\\') else { return String::new() };
        let len = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
        let name = name[..len].to_owned();
        self.advance(rest.len() - trimmed.len() + 1 + len);
        name
    }

    fn remember(&mut self, name: String, num_arguments: usize, default: Option<String>) {
        let Some(body) = self.skip_group() else { return };
        if let Some(found) = Macro::new(num_arguments, default, body).filter(|_| !name.is_empty()) {
            self.macros.insert(name, Rc::new(found));
        }
    }

    /// Reads the text that a macro stands for; whether there is such a macro.
    pub(super) fn expand(&mut self, name: &str) -> bool {
        let Some(found) = self.macros.get(name).cloned() else { return false };
        if self.expansion_depth >= MAX_EXPANSION_DEPTH || self.num_expansions >= MAX_EXPANSIONS {
            return false;
        }
        self.num_expansions += 1;
        let mut arguments = Vec::new();
        if let Some(default) = &found.default {
            let given =
                self.text[self.at..].starts_with('[').then(|| self.group('[', ']')).flatten();
            match given {
                Some((start, end)) => {
                    arguments.push(self.text[start..end].to_owned());
                    self.advance(end + 1 - self.at);
                }
                None => arguments.push(default.clone()),
            }
        }
        while arguments.len() < found.num_arguments {
            match self.skip_group() {
                Some(argument) => arguments.push(argument),
                None => break,
            }
        }
        if let Some(body) = found.with(&arguments).filter(|body| self.growth.take(body.len())) {
            self.run_expanded(&body);
        }
        true
    }

    /// Reads a text whose lines are all the current one.
    fn run_expanded(&mut self, body: &str) {
        let outer = std::mem::replace(&mut self.text, Rc::from(body));
        let places = std::mem::take(&mut self.places);
        let at = std::mem::take(&mut self.at);
        let was_expanded = std::mem::replace(&mut self.is_expanded, true);
        self.expansion_depth += 1;
        self.run(body.len());
        self.expansion_depth -= 1;
        self.is_expanded = was_expanded;
        self.at = at;
        self.text = outer;
        self.places = places;
    }
}
