//! Builds the context of a chunk from titles and headings.
//!
//! A context states the location of a text: title > header chain, or module > class with its
//! docstring. It takes at most 64 tokens of the model's input. If it is longer, the title and the
//! most specific heading stay, and the parts between them are dropped first.

use std::collections::HashMap;
use std::ops::Range;

use crate::document::{Block, BlockKind, CHAIN_SEPARATOR, Chunk, Document};
use crate::text::markdown;

use super::cut::Atom;
use super::options::ChunkOptions;

/// Longest context in tokens: a quarter of the default model's input.
const MAX_CONTEXT_TOKENS: usize = 64;

/// A table's head is repeated before its remaining rows if it takes at most this part of a chunk, as a denominator:
/// most of a chunk is for rows.
const MAX_HEAD_SHARE: usize = 3;

/// Characters per token beyond which a part of a context is not even counted: no tokenizer has words as long on
/// average, and a heading may be a megabyte.
const MAX_CHARS_PER_TOKEN: usize = 16;

/// The context of a chunk.
#[derive(Debug, Clone, Default)]
pub(super) struct ChunkContext {
    /// The context; may be empty.
    pub(super) text: String,
    /// Tokens it adds to the passage.
    pub(super) cost: usize,
}

/// Creates contexts, each only once.
pub(super) struct Contexts<'a> {
    title: &'a str,
    num_tokens: &'a dyn Fn(&str) -> usize,
    include_context: bool,
    max_tokens: usize,
    max_head_tokens: usize,
    made: HashMap<Vec<String>, ChunkContext>,
}

impl<'a> Contexts<'a> {
    pub(super) fn new(
        title: &'a str,
        num_tokens: &'a dyn Fn(&str) -> usize,
        options: &ChunkOptions,
    ) -> Self {
        // If the model's input is very short, the text gets at least half of it.
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

    /// Returns a context of only the title, within `max_tokens`.
    pub(super) fn of_title(&self, max_tokens: usize) -> ChunkContext {
        let max_tokens = max_tokens.min(self.max_tokens);
        self.with_cost(self.shorten(self.title, max_tokens))
    }

    /// Returns the context of a text in `block`, which begins inside the block if `is_continued`.
    ///
    /// The later parts of a split definition do not show its name, so their context includes the
    /// symbol.
    pub(super) fn of_block(&mut self, block: &Block, is_continued: bool) -> ChunkContext {
        let mut parts = vec![self.title.to_owned()];
        parts.extend(block.headings.iter().cloned());
        if self.include_context {
            parts.extend(block.context.clone());
        }
        if is_continued {
            parts.extend(block.symbol.clone());
        }
        parts.retain(|part| !part.trim().is_empty());
        if let Some(context) = self.made.get(&parts) {
            return context.clone();
        }
        let context = self.with_cost(self.join(&parts));
        self.made.insert(parts, context.clone());
        context
    }

    /// Returns the head of a table with the rule below its first row, and the cost of all. `None` if
    /// the block is not a table, has no head or a blank one, or has one that would leave too little room.
    pub(super) fn table_head<'d>(
        &self,
        document: &'d Document,
        block_idx: usize,
    ) -> Option<(&'d str, usize)> {
        let block =
            document.blocks.get(block_idx).filter(|block| block.kind == BlockKind::Table)?;
        let text = document.text.get(block.bytes.clone())?;
        let (all, first) = markdown::table_head(text)?;
        if !text[..all].contains(char::is_alphanumeric) {
            return None;
        }
        let most_bytes = self.max_head_tokens * MAX_CHARS_PER_TOKEN;
        let heads = [&text[..all], &text[..first]].into_iter();
        let heads = heads.filter(|head| head.len() <= most_bytes);
        heads.map(|head| (head, self.count(head))).find(|(_, cost)| *cost <= self.max_head_tokens)
    }

    /// Returns the fences of a block of code; `None` for one without or with long ones, and where lines are those of the
    /// file.
    pub(super) fn fences<'d>(
        &self,
        document: &'d Document,
        block_idx: usize,
    ) -> Option<Fences<'d>> {
        let fences = fences(document, block_idx).filter(|fences| fences.head.len() <= MAX_FENCE)?;
        (self.count(fences.head) <= self.max_head_tokens).then_some(fences)
    }

    /// Returns the tokens that a later part of a block needs for the table's head, or for fences.
    pub(super) fn cost_of_later(&self, document: &Document, block_idx: usize) -> usize {
        let head = self.table_head(document, block_idx).map(|(_, cost)| cost);
        head.or_else(|| self.fences(document, block_idx).map(|fences| self.count(fences.head) * 2))
            .unwrap_or(0)
    }

    pub(super) fn of_chunk(&mut self, document: &Document, atoms: &[Atom]) -> ChunkContext {
        let lead = lead(document, atoms);
        let is_continued =
            atoms.first().is_some_and(|atom| atom.block_idx == lead && atom.is_continued);
        match document.blocks.get(lead) {
            Some(block) => self.of_block(block, is_continued),
            None => ChunkContext::default(),
        }
    }

    fn with_cost(&self, text: String) -> ChunkContext {
        let cost = if text.is_empty() {
            0
        } else {
            self.count(&Chunk::passage(&text, "a")).saturating_sub(self.count("a"))
        };
        ChunkContext { text, cost }
    }

    /// Joins the parts within the limit.
    fn join(&self, parts: &[String]) -> String {
        let (Some(title), Some(last)) = (parts.first(), parts.last()) else {
            return String::new();
        };
        // The outermost headings add least to the title.
        for num_dropped in 0..parts.len().saturating_sub(1) {
            let mut kept = vec![title.as_str()];
            if num_dropped > 0 {
                kept.push("…");
            }
            kept.extend(parts[1 + num_dropped..].iter().map(String::as_str));
            let num_bytes: usize = kept.iter().map(|part| part.len()).sum();
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
        // Both ends; a third for the title unless the last part leaves more.
        let head = self.shorten(title, self.max_tokens / 3);
        let tail_tokens =
            self.max_tokens.saturating_sub(self.count(&format!("{head}{CHAIN_SEPARATOR}")));
        let tail = self.shorten(last, tail_tokens);
        let left = self.max_tokens.saturating_sub(self.count(&format!("{CHAIN_SEPARATOR}{tail}")));
        let head = self.shorten(title, left);
        let joined = if tail.is_empty() { head } else { format!("{head}{CHAIN_SEPARATOR}{tail}") };
        if self.count(&joined) <= self.max_tokens { joined } else { tail }
    }

    /// Returns the longest prefix of a text within `max_tokens`, cut at a word if possible.
    pub(super) fn shorten(&self, text: &str, max_tokens: usize) -> String {
        let end = text.char_indices().nth(max_tokens * MAX_CHARS_PER_TOKEN).map(|(at, _)| at);
        let text = &text[..end.unwrap_or(text.len())];
        if end.is_none() && self.count(text) <= max_tokens {
            return text.to_owned();
        }
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let words = ends.iter().filter(|end| text[**end..].starts_with(char::is_whitespace));
        let words: Vec<usize> = words.copied().collect();
        // A text without blanks, as in Chinese, is cut between two letters.
        for ends in [words, ends] {
            let num_fitting = ends.partition_point(|end| self.count(&text[..*end]) <= max_tokens);
            let best = ends[..num_fitting].last().map(|end| text[..*end].trim_end());
            if let Some(best) = best.filter(|best| !best.is_empty()) {
                return best.to_owned();
            }
        }
        String::new()
    }
}

/// The fences of a block of code.
pub(super) struct Fences<'d> {
    /// The line that opens it, with its line end.
    pub(super) head: &'d str,
    /// The mark that closes it.
    pub(super) mark: &'d str,
    /// Where the code between them is in the document.
    pub(super) code: Range<usize>,
}

/// Longest line that is repeated to open a fence, in bytes: the mark, a language and an attribute or two.
const MAX_FENCE: usize = 40;

fn fences(document: &Document, block_idx: usize) -> Option<Fences<'_>> {
    let block = document.blocks.get(block_idx).filter(|block| block.kind == BlockKind::Code)?;
    let text = document.text.get(block.bytes.clone()).filter(|_| !document.has_lines)?;
    let head = &text[..=text.find('\n')?];
    let sign = head.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let mark = &head[..head.len() - head.trim_start_matches(sign).len()];
    let last = text.trim_end().rsplit('\n').next().unwrap_or_default();
    let is_closed = last.len() >= mark.len() && last.chars().all(|letter| letter == sign);
    let end = block.bytes.start + text.trim_end().len() - if is_closed { last.len() } else { 0 };
    (mark.len() >= 3).then(|| Fences { head, mark, code: block.bytes.start + head.len()..end })
}

/// Returns the block that states the location of a chunk: the first that is not a heading.
///
/// A heading without text is skipped in favour of the one below it.
pub(super) fn lead(document: &Document, atoms: &[Atom]) -> usize {
    let text = atoms.iter().find(|atom| document.blocks[atom.block_idx].kind != BlockKind::Heading);
    let lead = text.or(atoms.first());
    lead.map_or(0, |atom| atom.block_idx)
}
