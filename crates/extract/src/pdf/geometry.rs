//! Marks the blocks that look like headings, by position and size. A pure function.
//!
//! If the file tags its headings, the tags decide. Otherwise a heading is short, a separate block,
//! and either larger or bolder than the text, all in capitals, or has a number that runs through the document.

use std::collections::{BTreeMap, BTreeSet};

use super::sections::SectionNumbers;
use super::{headings, number};
use crate::document::BlockKind;
use crate::protocol::{BlockPlace, ExtractedPage, PageBlock};

/// Fewest tagged headings for the tags to be trusted: some programs tag the title only.
const MIN_TAGGED: usize = 3;

/// Longest heading, in lines; longer text in large letters is a quotation or a paragraph of a slide.
const MAX_LINES: u32 = 3;

/// Smallest size of a heading, as a multiple of the text size: 11.2 points above text of 10.
const LARGE: f64 = 1.12;

/// Smallest ink density of a bold heading, as a multiple of that of the text; the same as in the reader.
const BOLD_INK: f64 = 1.22;

/// Size below which bold or numbered text is a note or a label, as a multiple of the text size.
const SMALL: f64 = 0.92;

/// Longest heading that only its number or its capitals reveal, in words; a longer one is an item of a list, or a
/// notice in capitals.
const MAX_PLAIN_WORDS: usize = 12;

/// Fewest numbered headings in a document with numbered sections; fewer may be items of a list.
const MIN_NUMBERED: usize = 8;

/// Fewest numbered headings of a style, or of a depth in a style, for it to have numbers.
const MIN_OF_DEPTH: usize = 3;

/// Deepest level derived from appearance: that of Markdown, in which a document is shown.
const MAX_LEVEL: u8 = 6;

/// Titles of boxes with advice.
const ADVICE: &[&str] = &[
    "attention", "caution", "danger", "hint", "important", "note", "notes", "tip", "warning",
    "achtung", "hinweis", "tipp", "warnung", "wichtig", "astuce", "avertissement", "remarque",
    "advertencia", "consejo", "nota", "avvertenza",
];

/// Marks the headings among the blocks of `pages` that have positions, and sets their levels. All headings begin left of `edge`,
/// if there is one.
pub(super) fn mark_headings(pages: &mut [ExtractedPage], edge: Option<f64>) {
    let blocks = pages.iter().flat_map(|page| &page.blocks);
    if blocks.clone().all(|block| block.place.is_none()) {
        return;
    }
    let num_tagged = blocks.filter(|block| block.level > 0).count();
    let is_tagged = num_tagged >= MIN_TAGGED;
    let looks = StyleStatistics::of(pages, edge);
    let ranks = ranks(pages, &looks);
    for page in pages.iter_mut() {
        let levels = page.blocks.iter().map(|block| match block.place {
            Some(_) if is_tagged => block.level,
            Some(place) if looks.fits(block, &place) => {
                ranks.get(&style(&place)).copied().unwrap_or(MAX_LEVEL)
            }
            _ => 0,
        });
        let mut levels: Vec<u8> = levels.collect();
        if !is_tagged {
            drop_others(&page.blocks, &mut levels);
        }
        for (block, level) in page.blocks.iter_mut().zip(levels) {
            block.level = if block.is_prose() { level } else { 0 };
            if block.level > 0 {
                block.kind = BlockKind::Heading;
            }
        }
    }
}

/// Returns the size of most text; 0 if no positions are known.
pub(super) fn body_size(pages: &[ExtractedPage]) -> f64 {
    BodyTextStyle::of(pages).size
}

/// The appearance of most text.
struct BodyTextStyle {
    size: f64,
    /// Whether most text is monospaced, as in manuscripts and old reports.
    is_mono: bool,
}

impl BodyTextStyle {
    fn of(pages: &[ExtractedPage]) -> Self {
        let mut by_size: BTreeMap<i64, usize> = BTreeMap::new();
        let (mut num_mono, mut num_all) = (0, 0);
        for block in pages.iter().flat_map(|page| &page.blocks) {
            if let Some(place) = block.place {
                *by_size.entry(tenths(place.size)).or_default() += block.text.len();
                num_mono += if place.is_mono { block.text.len() } else { 0 };
                num_all += block.text.len();
            }
        }
        let most = by_size.into_iter().max_by_key(|(_, count)| *count).map_or(0, |(size, _)| size);
        Self { size: most as f64 / 10.0, is_mono: num_mono * 2 > num_all }
    }

    fn is_large(&self, place: &BlockPlace) -> bool {
        place.size >= LARGE * self.size
    }
}

/// Statistics about each style, from the numbers of possible headings.
struct StyleStatistics {
    /// How many have section numbers of each depth, by style.
    numbered: BTreeMap<Style, BTreeMap<u8, usize>>,
    body: BodyTextStyle,
    sections: SectionNumbers,
    /// Headings begin left of this position; `None` if they may begin anywhere.
    edge: Option<f64>,
}

/// The sign that makes a block look like a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeadingSign {
    /// Its size, its weight or its capitals.
    Style,
    /// Only its number.
    Number,
}

impl StyleStatistics {
    fn of(pages: &[ExtractedPage], edge: Option<f64>) -> Self {
        let body = BodyTextStyle::of(pages);
        let mut looks =
            Self { numbered: BTreeMap::new(), body, sections: SectionNumbers::default(), edge };
        let mut candidates = Vec::new();
        let mut blocks = pages.iter().flat_map(|page| &page.blocks).peekable();
        while let Some(block) = blocks.next() {
            let Some(place) = block.place else { continue };
            let Some(sign) = heading_sign(block, &place, &looks.body) else { continue };
            looks.sections.add(&block.text);
            if sign == HeadingSign::Number {
                let next = blocks.peek();
                looks.sections.count_plain(
                    next.is_some_and(|next| headings::number_depth(&next.text).is_none()),
                );
            }
            if let Some(depth) = headings::number_depth(&block.text) {
                candidates.push((block, place, sign, depth));
            }
        }
        for (block, place, sign, depth) in candidates {
            if sign == HeadingSign::Style || looks.sections.have(&block.text) {
                *looks.numbered.entry(style(&place)).or_default().entry(depth).or_default() += 1;
            }
        }
        looks
    }

    /// Whether a block looks like a heading and agrees with the others. In a document with numbered sections, a
    /// line of the text size without a number is the label of a paragraph, a figure or a table,
    /// unless other lines of its style are numbered, and a numbered one is an item of a list if
    /// larger headings have numbers of its depth.
    fn fits(&self, block: &PageBlock, place: &BlockPlace) -> bool {
        if self.edge.is_some_and(|edge| place.left > edge) {
            return false;
        }
        let sign = heading_sign(block, place, &self.body);
        if !sign.is_some_and(|sign| sign == HeadingSign::Style || self.sections.have(&block.text)) {
            return false;
        }
        let num_numbered: usize = self.numbered.values().flat_map(BTreeMap::values).sum();
        if self.body.is_large(place) || num_numbered < MIN_NUMBERED {
            return true;
        }
        let own = style(place);
        match headings::number_depth(&block.text) {
            Some(depth) => {
                let larger = self.numbered.range(..own);
                let larger =
                    larger.map(|(_, depths)| depths.get(&depth).copied().unwrap_or(0)).max();
                larger.unwrap_or(0) < MIN_OF_DEPTH
            }
            None => {
                let in_style = self.numbered.get(&own).map_or(0, |depths| depths.values().sum());
                in_style >= MIN_OF_DEPTH
            }
        }
    }
}

/// Returns the level of each style of headings, from 1.
fn ranks(pages: &[ExtractedPage], looks: &StyleStatistics) -> BTreeMap<Style, u8> {
    let blocks = pages.iter().flat_map(|page| &page.blocks);
    let styles: BTreeSet<Style> = blocks
        .filter_map(|block| {
            let place = block.place?;
            looks.fits(block, &place).then(|| style(&place))
        })
        .collect();
    styles.into_iter().zip((1..=MAX_LEVEL).chain(std::iter::repeat(MAX_LEVEL))).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "clamped just before")]
fn tenths(size: f64) -> i64 {
    (size.clamp(0.0, 1e6) * 10.0).round() as i64
}

/// Size, and whether it is not bold.
type Style = (i64, bool);

/// Returns a sort key for the appearance of a heading: larger ones first, and bold before regular
/// ones of the same size.
fn style(place: &BlockPlace) -> Style {
    // Sizes within half a point are one style: programs round them.
    (-tenths(place.size * 2.0) / 10, !is_bold(place))
}

fn is_bold(place: &BlockPlace) -> bool {
    place.is_bold || place.ink >= BOLD_INK
}

/// Returns what makes a block look like a heading; `None` if it does not.
fn heading_sign(
    block: &PageBlock,
    place: &BlockPlace,
    body: &BodyTextStyle,
) -> Option<HeadingSign> {
    let may_be = match block.kind {
        BlockKind::Table | BlockKind::Code => false,
        _ if block.is_contents || !block.stance.is_upright() => false,
        BlockKind::ListItem => block.text.starts_with(|first: char| first.is_alphanumeric()),
        BlockKind::Heading | BlockKind::Paragraph => true,
    };
    let is_number = headings::number_depth(&block.text).is_some();
    if !may_be
        || place.has_gaps
        || is_amounts(&block.text)
        || place.num_lines > MAX_LINES
        || !headings::is_plausible(&block.text)
        || is_label(&block.text)
    {
        return None;
    }
    if body.is_large(place) {
        return Some(HeadingSign::Style);
    }
    // Among other text, monospaced lines are commands and names.
    if place.size < SMALL * body.size || (place.is_mono && !body.is_mono) {
        return None;
    }
    let starts_well = title_start(&block.text).is_some_and(|first| !first.is_lowercase());
    if !(starts_well || is_number) || block.text.ends_with([';', ',', ':']) {
        return None;
    }
    let ends_sentence = block.text.ends_with(['.', '!', '?']);
    let is_short = block.text.split_whitespace().count() <= MAX_PLAIN_WORDS;
    let may_be_plain = is_short && !ends_sentence && starts_well && place.num_lines <= 2;
    if is_bold(place) || (may_be_plain && is_capitals(&block.text)) {
        return Some(HeadingSign::Style);
    }
    (may_be_plain && is_number).then_some(HeadingSign::Number)
}

/// Whether `text` only announces what comes next: the title of a box with advice (`Note`), or the
/// number of a chapter without its title (`Chapter 3`).
fn is_label(text: &str) -> bool {
    let word = text.trim().trim_end_matches([':', '.', '!']).to_lowercase();
    ADVICE.contains(&word.as_str()) || number::is_alone(text)
}

/// Whether numbers follow each other after the section number, like those in the columns of a table.
fn is_amounts(text: &str) -> bool {
    let words: Vec<&str> = number::without(text).split_whitespace().collect();
    // `December 31, 2022` is a date.
    words.windows(2).any(|pair| pair.iter().all(|word| is_amount(word)) && !pair[0].ends_with(','))
}

fn is_amount(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit()) && !word.chars().any(char::is_alphabetic)
}

/// Returns the first letter, after any number.
fn title_start(text: &str) -> Option<char> {
    text.chars().find(|c| c.is_alphabetic())
}

fn is_capitals(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (upper, lower) = letters.fold((0, 0), |(upper, lower), letter| {
        (upper + usize::from(letter.is_uppercase()), lower + usize::from(letter.is_lowercase()))
    });
    // Names of variables have underscores.
    // Shorter words in capitals are abbreviations.
    upper >= 5 && lower == 0 && !text.contains('_')
}

/// Largest distance of two blocks of one sentence, as a multiple of the larger text size; a heading has more space
/// below it.
const NEAR: f64 = 1.2;

/// Fewest words of the part of a sentence: a command or a function in lower case may begin the text
/// below a short heading.
const MIN_WORDS: usize = 4;

/// Fewest possible headings of one style without text between them that are lines of a form, such as
/// an address.
const MIN_FORM_LINES: usize = 3;

/// Sets the levels of those possible headings of a page to 0 that only look like one.
fn drop_others(blocks: &[PageBlock], levels: &mut [u8]) {
    let mut start = 0;
    while start < levels.len() {
        let len = (start..levels.len())
            .take_while(|at| levels[*at] > 0 && levels[*at] == levels[start])
            .take_while(|at| headings::number_depth(&blocks[*at].text).is_none())
            .count();
        if len >= MIN_FORM_LINES {
            levels[start..start + len].fill(0);
        }
        start += len.max(1);
    }
    for (at, level) in levels.iter_mut().enumerate() {
        if *level > 0 && is_in_sentence(blocks, at) {
            *level = 0;
        }
    }
}

/// Whether the text of a block continues in the next one, or begins in the previous one.
fn is_in_sentence(blocks: &[PageBlock], at: usize) -> bool {
    let block = &blocks[at];
    let is_long = block.text.split_whitespace().count() >= MIN_WORDS;
    let before = at.checked_sub(1).and_then(|before| blocks.get(before));
    is_long
        && headings::number_depth(&block.text).is_none()
        && (blocks.get(at + 1).is_some_and(|next| goes_on(block, next))
            || before.is_some_and(|before| goes_on(before, block)))
}

/// Whether the sentence of a block continues in the next one.
fn goes_on(above: &PageBlock, below: &PageBlock) -> bool {
    let (Some(one), Some(other)) = (above.place, below.place) else { return false };
    let distance = other.top - one.bottom;
    below.is_prose()
        && below.kind != BlockKind::ListItem
        && above.is_prose()
        && below.text.starts_with(char::is_lowercase)
        && !above.text.ends_with(['.', '!', '?', ':', ';'])
        && distance.abs() <= NEAR * one.size.max(other.size)
}

#[cfg(test)]
mod tests;
