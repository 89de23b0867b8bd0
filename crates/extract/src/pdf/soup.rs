//! Finds text layers whose fonts name other letters than they show, and replaces them by OCR.
//!
//! Such a layer has letters, but no words: vowels and consonants do not alternate, and none is a common word. A page is
//! only suspected by this; OCR decides. Where it reads the same words, the layer is right: numbers, code, identifiers and
//! languages that nothing here knows look like soup too.

use std::collections::HashSet;

use super::quality::lacks_usable_text;
use super::scan;
use crate::error::Result;
use crate::protocol::{ExtractedPage, OcrOutcome};
use crate::sandbox::parent::ReadDocument;
use crate::sandbox::{Ocr, ReadOptions};

/// Words that are common in the languages of Europe and some others, in order. One word of prose in ten is. Shorter ones are
/// not among them: letters that are exchanged easily make another one of two letters.
const COMMON: [&str; 137] = [
    "aan", "aby", "ale", "and", "are", "att", "auch", "auf", "aux", "avec", "bir", "biti", "care",
    "che", "com", "como", "con", "csak", "daha", "dan", "dans", "dari", "das", "dat", "del",
    "della", "dem", "den", "dengan", "der", "des", "det", "die", "din", "dla", "dos", "een", "egy",
    "ein", "eine", "est", "este", "että", "for", "from", "för", "für", "gibi", "har", "has",
    "have", "het", "hogy", "ikke", "ile", "ili", "inte", "ist", "için", "jak", "jako", "jeho",
    "jest", "joka", "jsou", "kao", "koji", "které", "kun", "las", "les", "los", "med", "meg",
    "met", "mit", "más", "nebo", "nel", "nem", "nicht", "nie", "niet", "non", "not", "não", "och",
    "olan", "oraz", "ovat", "pada", "par", "para", "pas", "pentru", "per", "por", "pour", "prin",
    "pro", "przez", "que", "qui", "sau", "sekä", "shall", "sich", "się", "som", "sono", "sont",
    "sur", "tai", "that", "the", "this", "til", "till", "uma", "una", "und", "une", "untuk",
    "vagy", "van", "ved", "von", "voor", "was", "werden", "were", "which", "will", "with", "yang",
    "you", "zijn",
];

/// Longest of them, in bytes.
const MAX_COMMON: usize = 6;

/// How many words of a page are looked at, and fewest that show anything: with fewer, no common word may be chance.
const MAX_WORDS: usize = 400;
const MIN_WORDS: usize = 40;

/// Fewest letters of a word that two texts are compared by; shorter ones are equal by chance.
const MIN_LETTERS: usize = 4;

/// Longest word in capitals that may be an abbreviation, which is not made of syllables.
const MAX_CAPITALS: usize = 5;

/// A page is suspected if under one word in `MIN_COMMON` is common, and under this share of its neighbouring letters are a
/// vowel and a consonant. In Czech, German, English, Vietnamese, Welsh, Polish, Finnish, Hungarian and Swahili the share is
/// .62 to .9; with the letters of English exchanged at random, it is below .53 in 95 of 100 cases.
const MIN_COMMON: usize = 50;
const SYLLABIC: f64 = 0.55;

/// The share below which the text is named as unreadable where there is no OCR to decide.
const SURELY_SOUP: f64 = 0.35;

/// One word of OCR in this many is in the layer if that is right: OCR misreads words, too, and soup has nearly none
/// of them.
const SAME_WORDS: usize = 4;

/// Text of OCR is clearly better if one word in this many is common, or if it has a share larger by this.
const GOOD_COMMON: usize = 10;
const MUCH_BETTER: f64 = 0.1;

/// The looks of the words of a text.
#[derive(Debug, Default)]
struct WordLooks {
    num_words: usize,
    num_common: usize,
    /// Neighbouring letters, and how many of them are a vowel and a consonant.
    num_pairs: usize,
    num_syllabic: usize,
}

impl WordLooks {
    fn of(page: &ExtractedPage) -> Self {
        let mut looks = Self::default();
        for word in words(page).take(MAX_WORDS) {
            looks.num_words += 1;
            looks.num_common += usize::from(is_common(word));
            let is_abbreviation =
                word.chars().count() <= MAX_CAPITALS && !word.contains(char::is_lowercase);
            if !is_abbreviation {
                looks.add_pairs(word);
            }
        }
        looks
    }

    fn add_pairs(&mut self, word: &str) {
        let mut last = None;
        for sound in word.chars().map(Sound::of) {
            if let (Some(last), Some(sound)) = (last, sound) {
                self.num_pairs += 1;
                self.num_syllabic += usize::from(last != sound);
            }
            last = sound;
        }
    }

    fn syllabic_share(&self) -> f64 {
        self.num_syllabic as f64 / self.num_pairs.max(1) as f64
    }

    fn are_suspect(&self) -> bool {
        self.num_words >= MIN_WORDS
            && self.num_pairs >= MIN_WORDS
            && self.num_common * MIN_COMMON < self.num_words
            && self.syllabic_share() < SYLLABIC
    }

    fn are_clearly_better_than(&self, layer: &Self) -> bool {
        let share = self.syllabic_share();
        self.num_words * 2 >= MIN_WORDS
            && (self.num_common * GOOD_COMMON >= self.num_words
                || (share >= SYLLABIC && share >= layer.syllabic_share() + MUCH_BETTER))
    }
}

/// The sound of a Latin letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sound {
    Vowel,
    Consonant,
}

impl Sound {
    /// Returns the sound of a letter; `None` for letters of other scripts.
    fn of(letter: char) -> Option<Self> {
        const CONSONANTS: &str = "ßçðñþćčďđğģķĺļľłńņňŕřśşšţťźżžșț";
        let lower = letter.to_lowercase().next().unwrap_or(letter);
        match lower {
            'a' | 'e' | 'i' | 'o' | 'u' | 'y' => Some(Self::Vowel),
            'a'..='z' => Some(Self::Consonant),
            _ if CONSONANTS.contains(lower) => Some(Self::Consonant),
            '\u{DF}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => Some(Self::Vowel),
            _ => None,
        }
    }
}

/// Returns the words of a page without digits.
fn words(page: &ExtractedPage) -> impl Iterator<Item = &str> {
    let words = page.blocks.iter().flat_map(|block| block.text.split_whitespace());
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty() && !word.contains(|c: char| c.is_ascii_digit()))
}

fn is_common(word: &str) -> bool {
    word.len() <= MAX_COMMON && COMMON.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Replaces the text of pages that are soup by that of `reader`, or marks them.
pub(super) fn replace(
    reading: &mut ReadDocument,
    reader: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<()> {
    let pages = reading.pages.iter().filter(|page| page.ocr.is_none() && !lacks_usable_text(page));
    let looks = pages.map(|page| (page.number, WordLooks::of(page)));
    let suspects: Vec<(u32, WordLooks)> = looks.filter(|(_, looks)| looks.are_suspect()).collect();
    let Some((first, _)) = suspects.first() else { return Ok(()) };
    if !matches!(options.ocr, Ocr::Tesseract { .. }) {
        for (number, _) in suspects.iter().filter(|(_, looks)| looks.syllabic_share() < SURELY_SOUP)
        {
            mark(reading, *number);
        }
        return Ok(());
    }
    let rest: Vec<u32> = suspects.iter().skip(1).map(|(number, _)| *number).collect();
    // The first page decides whether the others are worth the time.
    let (answers, outcome) = scan::run(&[*first], &[], reader, bytes, options);
    let is_soup = answers.into_iter().any(|answer| settle(reading, answer));
    outcome?;
    if is_soup {
        let (answers, outcome) = scan::run(&rest, &[], reader, bytes, options);
        for answer in answers {
            settle(reading, answer);
        }
        outcome?;
    }
    Ok(())
}

/// Compares a page with the result of OCR, and replaces or marks it if it is soup. Returns whether it is.
fn settle(reading: &mut ReadDocument, answer: ExtractedPage) -> bool {
    let Some(page) = reading.pages.iter_mut().find(|page| page.number == answer.number) else {
        return false;
    };
    if answer.ocr != Some(OcrOutcome::Read) || says_the_same(page, &answer) {
        return false;
    }
    if WordLooks::of(&answer).are_clearly_better_than(&WordLooks::of(page)) {
        scan::replace(page, answer);
    } else {
        page.is_soup = true;
    }
    true
}

/// Whether OCR has read words of the page, or too few to tell.
fn says_the_same(page: &ExtractedPage, answer: &ExtractedPage) -> bool {
    let known: HashSet<&str> = words(page).collect();
    let read: Vec<&str> =
        words(answer).filter(|word| word.chars().count() >= MIN_LETTERS).collect();
    let num_same = read.iter().filter(|word| known.contains(*word)).count();
    read.len() * 2 < MIN_WORDS || num_same * SAME_WORDS >= read.len()
}

fn mark(reading: &mut ReadDocument, number: u32) {
    if let Some(page) = reading.pages.iter_mut().find(|page| page.number == number) {
        page.is_soup = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;
    use crate::protocol::PageBlock;

    const ENGLISH: &str = "The harbour office keeps a register of all vessels that enter the inner basin, and the \
        pilot signs it before the lock opens. Every entry names the vessel, the flag, the draught and the berth, so \
        that the night watch can find each crew at once, and nobody has to ask.";

    fn page(text: &str) -> ExtractedPage {
        let block = PageBlock::new(BlockKind::Paragraph, 0, text);
        ExtractedPage { number: 1, blocks: vec![block], ..ExtractedPage::default() }
    }

    /// Returns a text with every letter replaced by one that is further in the alphabet.
    fn soup(text: &str, shift: u32) -> String {
        let other = |c: char| match c {
            'a'..='z' => char::from_u32((u32::from(c) - 97 + shift) % 26 + 97).unwrap_or(c),
            _ => c,
        };
        text.to_lowercase().chars().map(other).collect()
    }

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(WordLooks::of(&page(text)).are_suspect(), expected, "{text}");
    }

    #[test]
    fn common_words_are_in_order() {
        assert!(COMMON.is_sorted());
        assert!(COMMON.iter().all(|word| word.len() <= MAX_COMMON));
    }

    #[test]
    fn wrong_letters_are_suspect_and_words_of_any_language_are_not() {
        let is_suspect = |shift: &u32| WordLooks::of(&page(&soup(ENGLISH, *shift))).are_suspect();
        assert_eq!((1..26).filter(is_suspect).count(), 23);
        check(ENGLISH, false);
        check(&"Mae pob dyn yn cael ei eni yn rhydd ac yn gydradd mewn urddas ".repeat(5), false);
        check(&"Kila mtu ana haki ya kuishi uhuru usalama nafsi yake ".repeat(6), false);
        check(
            &"Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv ".repeat(5),
            false,
        );
        check(&"12,345 6,789 (1,234) 98.7 % 2024 2023 ".repeat(20), false);
        check(&"Ïðèâåò âñåì ÷èòàåò ýòîò òåêñò ñåãîäíÿ óòðîì ".repeat(8), true);
        check(&"XKCD QWRT ZPLM BNGH TRSV ".repeat(20), false);
        check(&"let size = buffer.len(); if is_empty(buffer) { return None; } ".repeat(8), false);
        check("7KH KDUERXU", false);
    }

    #[test]
    fn ocr_decides() {
        let settled = |layer: &str, read: &str| {
            let mut reading = ReadDocument { pages: vec![page(layer)], ..ReadDocument::default() };
            let answer = ExtractedPage { ocr: Some(OcrOutcome::Read), ..page(read) };
            let is_soup = settle(&mut reading, answer);
            let page = reading.pages.remove(0);
            (is_soup, page.blocks[0].text == read, page.is_soup)
        };
        assert_eq!(settled(&soup(ENGLISH, 5), ENGLISH), (true, true, false));
        // OCR reads the same: no soup, whatever it looks like.
        assert!(!settled(&soup(ENGLISH, 5), &soup(ENGLISH, 5)).0);
        // OCR reads nothing better.
        let other = soup(ENGLISH, 9);
        assert_eq!(settled(&soup(ENGLISH, 5), &other), (true, false, true));
    }
}
