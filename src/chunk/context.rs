//! Builds the context of a chunk from titles and headings.
//!
//! A context says where a text stands: title > header chain, or module > class with its
//! docstring. It takes at most 64 tokens of the model's input; where it is longer the title and
//! the most specific heading stay, and what is between them goes first.

use std::collections::HashMap;

use crate::document::{Block, BlockKind, CHAIN_SEPARATOR, Chunk, Document};

use super::ChunkOptions;
use super::cut::Atom;

/// Longest context in tokens: a quarter of what the default model reads.
const MAX_CONTEXT_TOKENS: usize = 64;

/// A table's head is repeated before the rest of its rows if it takes at most such a part of a chunk.
const MAX_HEAD_SHARE: usize = 3;

/// Characters per token beyond which a part of a context is not even counted.
const MAX_CHARS_PER_TOKEN: usize = 16;

/// What a chunk is read with.
#[derive(Debug, Clone, Default)]
pub(super) struct Context {
    /// May be empty.
    pub(super) text: String,
    /// Tokens it adds to the passage.
    pub(super) cost: usize,
}

/// Makes contexts, each only once.
pub(super) struct Contexts<'a> {
    title: &'a str,
    num_tokens: &'a dyn Fn(&str) -> usize,
    include_context: bool,
    max_tokens: usize,
    max_head_tokens: usize,
    made: HashMap<Vec<String>, Context>,
}

impl<'a> Contexts<'a> {
    pub(super) fn new(
        title: &'a str,
        num_tokens: &'a dyn Fn(&str) -> usize,
        options: &ChunkOptions,
    ) -> Self {
        // Where the model reads very little, the text gets the better half of it.
        let max_tokens = MAX_CONTEXT_TOKENS.min(options.window() / 2);
        Self {
            title: title.trim(),
            num_tokens,
            include_context: options.include_context,
            max_tokens,
            max_head_tokens: options.max_tokens.min(options.window()) / MAX_HEAD_SHARE,
            made: HashMap::new(),
        }
    }

    /// Counts the tokens of a text.
    pub(super) fn count(&self, text: &str) -> usize {
        (self.num_tokens)(text)
    }

    /// Returns the title alone, within so many tokens.
    pub(super) fn of_title(&self, max_tokens: usize) -> Context {
        let max_tokens = max_tokens.min(self.max_tokens);
        self.with_cost(self.shorten(self.title, max_tokens))
    }

    /// Returns the context of a text in `block`, which begins inside it if `is_continued`.
    ///
    /// The rest of a definition that was cut no longer shows its name: the symbol is added.
    pub(super) fn of_block(&mut self, block: &Block, is_continued: bool) -> Context {
        let mut parts = vec![self.title.to_owned()];
        parts.extend(block.headings.iter().cloned());
        if self.include_context {
            parts.extend(block.context.clone());
        }
        if is_continued {
            parts.extend(block.symbol.clone());
        }
        parts.retain(|it| !it.trim().is_empty());
        if let Some(context) = self.made.get(&parts) {
            return context.clone();
        }
        let context = self.with_cost(self.join(&parts));
        self.made.insert(parts, context.clone());
        context
    }

    /// Returns the head of a table with the rule below it and what the two cost; `None` for what is
    /// no table, has no head, or one so long that it would leave too little room.
    pub(super) fn table_head<'d>(
        &self,
        document: &'d Document,
        block_idx: usize,
    ) -> Option<(&'d str, usize)> {
        let block = document.blocks.get(block_idx).filter(|it| it.kind == BlockKind::Table)?;
        let text = document.text.get(block.bytes.clone())?;
        let rule_at = text.find('\n')? + 1;
        let end = rule_at + text[rule_at..].find('\n')? + 1;
        let rule = text[rule_at..end].trim();
        let is_rule =
            rule.contains('-') && rule.chars().all(|it| matches!(it, '|' | '-' | ':' | ' '));
        let head = &text[..end];
        if !is_rule || head.len() > self.max_head_tokens * MAX_CHARS_PER_TOKEN {
            return None;
        }
        let cost = self.count(head);
        (cost <= self.max_head_tokens).then_some((head, cost))
    }

    /// Returns the context of a chunk.
    pub(super) fn of_chunk(&mut self, document: &Document, atoms: &[Atom]) -> Context {
        let lead = lead(document, atoms);
        let is_continued = atoms.first().is_some_and(|it| it.block_idx == lead && it.is_continued);
        match document.blocks.get(lead) {
            Some(block) => self.of_block(block, is_continued),
            None => Context::default(),
        }
    }

    fn with_cost(&self, text: String) -> Context {
        let cost = match text.is_empty() {
            true => 0,
            false => self.count(&Chunk::passage(&text, "a")).saturating_sub(self.count("a")),
        };
        Context { text, cost }
    }

    /// Joins the parts within the limit.
    fn join(&self, parts: &[String]) -> String {
        let (Some(title), Some(last)) = (parts.first(), parts.last()) else {
            return String::new();
        };
        // The outermost headings say least beside the title.
        for num_dropped in 0..parts.len().saturating_sub(1) {
            let mut kept = vec![title.as_str()];
            if num_dropped > 0 {
                kept.push("…");
            }
            kept.extend(parts[1 + num_dropped..].iter().map(String::as_str));
            let num_bytes: usize = kept.iter().map(|it| it.len()).sum();
            if num_bytes > self.max_tokens * MAX_CHARS_PER_TOKEN * 4 {
                continue;
            }
            let joined = kept.join(CHAIN_SEPARATOR);
            if self.count(&joined) <= self.max_tokens {
                return joined;
            }
        }
        if parts.len() == 1 {
            return self.shorten(title, self.max_tokens);
        }
        // Both ends, a third for the title unless the last part leaves more.
        let head = self.shorten(title, self.max_tokens / 3);
        let tail_tokens =
            self.max_tokens.saturating_sub(self.count(&format!("{head}{CHAIN_SEPARATOR}")));
        let tail = self.shorten(last, tail_tokens);
        let left = self.max_tokens.saturating_sub(self.count(&format!("{CHAIN_SEPARATOR}{tail}")));
        let head = self.shorten(title, left);
        let joined = if tail.is_empty() { head } else { format!("{head}{CHAIN_SEPARATOR}{tail}") };
        if self.count(&joined) <= self.max_tokens { joined } else { tail }
    }

    /// Returns the longest beginning of a text within so many tokens, cut at a word if possible.
    fn shorten(&self, text: &str, max_tokens: usize) -> String {
        let end = text.char_indices().nth(max_tokens * MAX_CHARS_PER_TOKEN).map(|(it, _)| it);
        let text = &text[..end.unwrap_or(text.len())];
        if end.is_none() && self.count(text) <= max_tokens {
            return text.to_owned();
        }
        let is_word_end = |it: &usize| text[*it..].starts_with(char::is_whitespace);
        let ends: Vec<usize> = text.char_indices().map(|(it, _)| it).collect();
        let words: Vec<usize> = ends.iter().copied().filter(is_word_end).collect();
        for ends in [words, ends] {
            let num_fitting = ends.partition_point(|it| self.count(&text[..*it]) <= max_tokens);
            let best = ends[..num_fitting].last().map(|it| text[..*it].trim_end());
            if let Some(best) = best.filter(|it| !it.is_empty()) {
                return best.to_owned();
            }
        }
        String::new()
    }
}

/// Returns which block says where a chunk stands: the first that is no heading.
///
/// A heading without text of its own is passed over in favour of the one below it.
pub(super) fn lead(document: &Document, atoms: &[Atom]) -> usize {
    let is_heading = |it: &&Atom| document.blocks[it.block_idx].kind == BlockKind::Heading;
    let lead = atoms.iter().find(|it| !is_heading(it)).or(atoms.first());
    lead.map_or(0, |it| it.block_idx)
}
