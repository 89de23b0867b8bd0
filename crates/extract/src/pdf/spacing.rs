//! Separates words that a PDF writes without spaces between them. A pure function.
//!
//! The reader marks gaps that are wider than those between letters but narrower than most spaces.
//! Whether such a gap is a space is decided by the words of the document itself: `the\u{FDD0}tide`
//! is separated if `the` and `tide` occur elsewhere, and `thetide` does not. A word without a marked
//! gap is only separated if the document has its parts next to each other.

use std::collections::{HashMap, HashSet};

use crate::document::BlockKind;
use crate::protocol::{ExtractedPage, NARROW_GAP};

/// Words of one letter.
const ONE_LETTER: &str =
    "aeiouy\u{E0}\u{E8}\u{E9}\u{F3}\u{430}\u{432}\u{438}\u{43A}\u{43E}\u{441}\u{443}\u{44F}";

/// How often a word of one or two letters must occur to be known; a longer one must occur once. Short ones also occur
/// as parts of formulas and broken words.
const MIN_COUNT_SHORT: u32 = 3;

/// In how many words a part between marked gaps must occur to be known: one of two letters, and a
/// longer one.
const MIN_USES_SHORT: u32 = 3;
const MIN_USES: u32 = 2;

/// How many words the dictionary must separate, and how many times as many as it keeps whole, before
/// the other marked gaps are taken for spaces.
const MIN_SEPARATED: u32 = 5;
const MIN_RATIO: u32 = 5;

/// Most marked gaps of a word that is looked at: the search takes the square of their number.
const MAX_GAPS: usize = 60;

/// Shortest word without a marked gap that may be two, and its shortest part, in letters: shorter words can be
/// divided into others too easily.
const MIN_LETTERS: usize = 8;
const MIN_PART: usize = 2;

/// How often the parts of a word without a marked gap must be next to each other elsewhere, and how
/// many times as often as the word itself occurs; where a capital follows a small letter, twice and
/// as often as the word suffices.
const MIN_PAIRS: u32 = 3;
const MIN_PAIRS_AT_CAPITAL: u32 = 2;
const PAIRS_PER_WORD: u32 = 3;

/// Most words without marked gaps that are looked at: bounds the memory for a document of noise.
const MAX_CANDIDATES: usize = 20_000;

/// How many words there are, and how many of them were found without spaces between their parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SpacingCounts {
    pub(super) num_words: u32,
    pub(super) num_glued: u32,
}

/// Separates the words of `pages`, and removes the marks of narrow gaps.
pub(super) fn separate(pages: &mut [ExtractedPage]) -> SpacingCounts {
    let words = WordFrequencies::of(pages);
    // First the sure cases are counted: they show whether the other gaps of this document are spaces.
    let (num_one, num_several) = words.count_outcomes(pages);
    let is_trusted =
        num_several >= MIN_SEPARATED && num_several >= num_one.saturating_mul(MIN_RATIO);
    let glued = UnmarkedCompounds::of(pages, &words, is_trusted);
    let mut counts = SpacingCounts::default();
    for block in pages.iter_mut().flat_map(|page| &mut page.blocks) {
        let is_text = block.kind != BlockKind::Code;
        let mut text = String::with_capacity(block.text.len());
        for token in block.text.split_inclusive([' ', '\n']) {
            let word = token.trim_end_matches([' ', '\n']);
            counts.num_words += u32::from(word.contains(char::is_alphabetic));
            let outcome = if word.contains(NARROW_GAP) {
                words.outcome(word)
            } else if is_text {
                glued.outcome(word)
            } else {
                SpacingVerdict::One
            };
            let separated = match outcome {
                SpacingVerdict::One => None,
                SpacingVerdict::Several(text) => Some(text),
                SpacingVerdict::Unknown if is_trusted => Some(at_every_gap(word)),
                SpacingVerdict::Unknown => {
                    counts.num_glued += 1;
                    None
                }
            };
            match separated.filter(|_| is_text) {
                Some(separated) => {
                    counts.num_glued += 1;
                    text.push_str(&separated);
                }
                None => text.extend(word.chars().filter(|c| *c != NARROW_GAP)),
            }
            text.push_str(&token[word.len()..]);
        }
        if text != block.text {
            block.text = text;
        }
    }
    counts
}

/// Whether a word with marked gaps is one word or several.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SpacingVerdict {
    One,
    /// Its parts, with spaces between them.
    Several(String),
    Unknown,
}

/// The words of a document.
#[derive(Debug, Default)]
struct WordFrequencies {
    /// How often a word without marked gaps occurs.
    counts: HashMap<String, u32>,
    /// In how many different words a part between marked gaps occurs.
    uses: HashMap<String, u32>,
}

impl WordFrequencies {
    fn of(pages: &[ExtractedPage]) -> Self {
        let mut words = Self::default();
        let mut marked: HashSet<&str> = HashSet::new();
        for word in tokens(pages) {
            if word.contains(NARROW_GAP) {
                marked.insert(word);
            } else if let Some(core) = core(word) {
                *words.counts.entry(core).or_default() += 1;
            }
        }
        for word in marked {
            for part in word.split(NARROW_GAP).filter_map(core) {
                *words.uses.entry(part).or_default() += 1;
            }
        }
        words
    }

    fn count(&self, core: &str) -> u32 {
        self.counts.get(core).copied().unwrap_or_default()
    }

    /// Whether the text between two marked gaps is a word, as far as this document shows.
    fn is_known(&self, part: &str) -> bool {
        let Some(core) = core(part) else { return true };
        let uses = self.uses.get(&core).copied().unwrap_or_default();
        match core.chars().count() {
            1 => ONE_LETTER.contains(&core) && self.count(&core) >= MIN_COUNT_SHORT,
            2 => self.count(&core) >= MIN_COUNT_SHORT || uses >= MIN_USES_SHORT,
            _ => self.count(&core) >= 1 || uses >= MIN_USES,
        }
    }

    /// Separates a word with marked gaps into as few known words as possible.
    fn outcome(&self, word: &str) -> SpacingVerdict {
        let parts: Vec<&str> = word.split(NARROW_GAP).collect();
        if self.is_one(&parts.concat()) {
            return SpacingVerdict::One;
        }
        if parts.len() > MAX_GAPS {
            return SpacingVerdict::Unknown;
        }
        // The fewest words up to each part, and where the last of them starts.
        let mut best: Vec<Option<(usize, usize)>> = vec![None; parts.len() + 1];
        best[0] = Some((0, 0));
        for end in 1..=parts.len() {
            for start in 0..end {
                let Some((num_words, _)) = best[start] else { continue };
                let is_word = match end - start {
                    1 => self.is_known(parts[start]),
                    _ => self.is_one(&parts[start..end].concat()),
                };
                if is_word && best[end].is_none_or(|(fewest, _)| num_words + 1 < fewest) {
                    best[end] = Some((num_words + 1, start));
                }
            }
        }
        let (mut words, mut end) = (Vec::new(), parts.len());
        while end > 0 {
            let Some((_, start)) = best[end] else { return SpacingVerdict::Unknown };
            words.push(parts[start..end].concat());
            end = start;
        }
        words.reverse();
        SpacingVerdict::Several(words.join(" "))
    }

    /// Whether parts that are joined are one word.
    fn is_one(&self, joined: &str) -> bool {
        core(joined).is_none_or(|core| self.count(&core) >= 1)
    }

    /// Returns how many words with marked gaps are known to be one, and how many to be several.
    fn count_outcomes(&self, pages: &[ExtractedPage]) -> (u32, u32) {
        let (mut num_one, mut num_several) = (0_u32, 0_u32);
        for word in tokens(pages).filter(|word| word.contains(NARROW_GAP)) {
            match self.outcome(word) {
                SpacingVerdict::One => num_one = num_one.saturating_add(1),
                SpacingVerdict::Several(_) => num_several = num_several.saturating_add(1),
                SpacingVerdict::Unknown => {}
            }
        }
        (num_one, num_several)
    }
}

/// Returns a word separated at its marked gaps, except next to single letters.
fn at_every_gap(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut is_after_letter = false;
    for (at, part) in word.split(NARROW_GAP).enumerate() {
        let is_letter =
            core(part).is_some_and(|core| core.chars().count() == 1 && !ONE_LETTER.contains(&core));
        if at > 0 && !is_letter && !is_after_letter {
            text.push(' ');
        }
        text.push_str(part);
        is_after_letter = is_letter;
    }
    text
}

/// Words without marked gaps whose parts are next to each other elsewhere.
#[derive(Debug, Default)]
struct UnmarkedCompounds {
    /// Where to separate a word, in bytes.
    at: HashMap<String, usize>,
}

impl UnmarkedCompounds {
    /// Finds them; those without a capital only if the document lacks spaces elsewhere, as `time
    /// stamp` next to `timestamp` proves nothing.
    fn of(pages: &[ExtractedPage], words: &WordFrequencies, lacks_spaces: bool) -> Self {
        let mut candidates: HashMap<String, Vec<usize>> = HashMap::new();
        for word in tokens(pages).filter_map(letters) {
            if candidates.len() >= MAX_CANDIDATES {
                break;
            }
            if !candidates.contains_key(word) {
                let splits = splits(word, words, lacks_spaces);
                if !splits.is_empty() {
                    candidates.insert(word.to_owned(), splits);
                }
            }
        }
        // Only pairs that could be parts of a candidate are counted, so that memory stays small.
        let mut pairs: HashMap<(String, String), u32> = HashMap::new();
        for (word, splits) in &candidates {
            for at in splits {
                pairs.insert((word[..*at].to_lowercase(), word[*at..].to_lowercase()), 0);
            }
        }
        if !pairs.is_empty() {
            for block in pages.iter().flat_map(|page| &page.blocks) {
                let mut last: Option<String> = None;
                for word in block.text.split([' ', '\n']) {
                    let next = letters(word.trim_end_matches(is_mark)).map(str::to_lowercase);
                    if let (Some(last), Some(next)) = (last.take(), &next)
                        && let Some(count) = pairs.get_mut(&(last, next.clone()))
                    {
                        *count += 1;
                    }
                    last = next.filter(|_| !word.ends_with(is_mark));
                }
            }
        }
        let at = candidates.into_iter().filter_map(|(word, splits)| {
            let best = splits.into_iter().max_by_key(|at| num_pairs(&pairs, &word, *at))?;
            let at_capital = word[best..].starts_with(char::is_uppercase);
            let count = words.count(&word.to_lowercase());
            let fewest = if at_capital {
                MIN_PAIRS_AT_CAPITAL.max(count)
            } else {
                MIN_PAIRS.max(count.saturating_mul(PAIRS_PER_WORD))
            };
            let is_glued = num_pairs(&pairs, &word, best) >= fewest;
            is_glued.then_some((word, best))
        });
        Self { at: at.collect() }
    }

    fn outcome(&self, word: &str) -> SpacingVerdict {
        if self.at.is_empty() {
            return SpacingVerdict::One;
        }
        let start = word.len() - word.trim_start_matches(is_mark).len();
        let Some(at) = letters(word).and_then(|letters| self.at.get(letters)) else {
            return SpacingVerdict::One;
        };
        let (before, after) = word.split_at(start + at);
        SpacingVerdict::Several(format!("{before} {after}"))
    }
}

/// Returns how often a document has the two parts of a word next to each other.
fn num_pairs(pairs: &HashMap<(String, String), u32>, word: &str, at: usize) -> u32 {
    let pair = (word[..at].to_lowercase(), word[at..].to_lowercase());
    pairs.get(&pair).copied().unwrap_or_default()
}

/// Returns where a word may consist of two words of the document: at a capital after a small
/// letter, or anywhere in a long word of a document that lacks spaces.
fn splits(word: &str, words: &WordFrequencies, lacks_spaces: bool) -> Vec<usize> {
    let num_letters = word.chars().count();
    let mut last = None;
    let mut splits = Vec::new();
    for (idx, (at, letter)) in word.char_indices().enumerate() {
        let at_capital = letter.is_uppercase() && last.is_some_and(char::is_lowercase);
        last = Some(letter);
        let has_parts = idx >= MIN_PART && num_letters - idx >= MIN_PART;
        let may_end =
            at_capital || (lacks_spaces && num_letters >= MIN_LETTERS && letter.is_lowercase());
        let is_word = |part: &str| words.count(&part.to_lowercase()) >= MIN_PAIRS_AT_CAPITAL;
        if has_parts && may_end && is_word(&word[..at]) && is_word(&word[at..]) {
            splits.push(at);
        }
    }
    splits
}

fn tokens(pages: &[ExtractedPage]) -> impl Iterator<Item = &str> {
    let blocks = pages.iter().flat_map(|page| &page.blocks);
    blocks.flat_map(|block| block.text.split([' ', '\n'])).filter(|word| !word.is_empty())
}

/// Returns a word in lower case without punctuation around it; `None` if it has no letter.
fn core(word: &str) -> Option<String> {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    core.contains(char::is_alphabetic).then(|| core.to_lowercase())
}

/// Returns a word without punctuation around it; `None` if anything but letters is left, as in code
/// and addresses.
fn letters(word: &str) -> Option<&str> {
    let letters = word.trim_matches(is_mark);
    (!letters.is_empty() && letters.chars().all(char::is_alphabetic)).then_some(letters)
}

/// Whether a character is punctuation around a word.
fn is_mark(character: char) -> bool {
    matches!(
        character,
        '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '\u{201C}' | '\u{201D}' | '\u{201E}'
    )
}

#[cfg(test)]
mod tests;
