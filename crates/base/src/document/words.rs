//! Counts the words of a document by where they went, so that none vanishes unsaid.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::fields;
use crate::text::number::thousands;

/// The destination of a word of a file: first those that are searched, then those that no one misses,
/// then those that someone may miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WordDestination {
    /// It is text: prose, lists, code.
    Text,
    /// It is in a table.
    Table,
    /// It is in a heading.
    Heading,
    /// It is in a table of contents or an index, which searches show last.
    Contents,
    /// It is drawn again to look bold or to cast a shadow.
    Copy,
    /// It is metadata or a comment in the source text.
    Markup,
    /// It is in a comment or a note that a setting leaves out.
    Remarks,
    /// A web page hides it, and nothing that it displays names it.
    Undisplayed,
    /// It leads through a site, or is the name of a button.
    Menu,
    /// It announces another page.
    Teaser,
    /// It is about cookies.
    CookieNotice,
    /// It is printed behind the text of a page, or across it.
    Watermark,
    /// It is in a list of links.
    Links,
    /// A reader of the page wrote it.
    Comments,
    /// It says who wrote the page and when, or describes a picture.
    Byline,
    /// It surrounds the content: the head, foot and margin of a site, forms, offers.
    Frame,
    /// It is a sentence outside of what was taken for the content, and nothing shows that it is anything else.
    Outside,
    /// It is in a running head or foot, or is the number of a page or line.
    RunningHead,
    /// The file does not show it.
    Hidden,
    /// It is in a part of the file that is too long to be read.
    TooLong,
    /// It is in a part of the file that no reader opens.
    Unread,
    /// A later kb knows the reason.
    #[serde(other)]
    Unknown,
}

impl WordDestination {
    /// Whether such a word is searched.
    pub fn is_kept(self) -> bool {
        self <= Self::Contents
    }
}

impl fmt::Display for WordDestination {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// Counts the words of a document by where they went. A reason without words is not in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WordAccount(BTreeMap<WordDestination, u32>);

// A later kb may have more reasons.
fields::like!(BTreeMap<String, u32>: WordAccount);

/// A document that leaves out a larger share of its words is reported: 24 of 487 news pages are.
const MAX_LEFT_OUT: f64 = 0.1;

/// A document that keeps a smaller share of its words is named.
const MIN_KEPT: f64 = 0.1;

impl WordAccount {
    /// Returns the reasons and their numbers of words, first the words that are kept.
    pub fn counts(&self) -> impl Iterator<Item = (WordDestination, u32)> {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }

    /// Adds the words of a text.
    pub fn add(&mut self, reason: WordDestination, text: &str) {
        self.add_count(reason, count(text));
    }

    /// Adds a number of words.
    pub fn add_count(&mut self, reason: WordDestination, count: u32) {
        if count > 0 {
            let sum = self.0.entry(reason).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// Takes words off those of a reason.
    pub fn take_off(&mut self, reason: WordDestination, count: u32) {
        if let Some(sum) = self.0.get_mut(&reason) {
            *sum = sum.saturating_sub(count);
        }
    }

    /// Adds the words of another count.
    pub fn merge(&mut self, other: &Self) {
        other.counts().for_each(|(reason, count)| self.add_count(reason, count));
    }

    /// Describes where the words went: `120 kept; left out: 7 menu, 2 hidden`.
    pub fn describe(&self) -> String {
        let (kept, mut left_out): (Vec<_>, Vec<_>) =
            self.counts().partition(|(reason, _)| reason.is_kept());
        let num_kept: u64 = kept.iter().map(|(_, count)| u64::from(*count)).sum();
        left_out.sort_by_key(|(_, count)| Reverse(*count));
        let parts = left_out
            .iter()
            .map(|(reason, count)| format!("{} {reason}", thousands(*count)).replace('_', " "))
            .collect::<Vec<_>>();
        let left_out = if parts.is_empty() { "" } else { "; left out: " };
        format!("{} kept{left_out}{}", thousands(num_kept), parts.join(", "))
    }

    /// Whether words were left out that the document shows.
    pub fn lacks_shown(&self) -> bool {
        let shown = WordDestination::Menu..=WordDestination::RunningHead;
        self.counts().any(|(reason, _)| shown.contains(&reason))
    }

    /// Whether more than a tenth of the words were left out, not counting those that no one misses.
    pub fn is_lossy(&self) -> bool {
        let left_out = self.sum(|reason| reason > WordDestination::Frame);
        left_out > MAX_LEFT_OUT * (left_out + self.sum(WordDestination::is_kept))
    }

    /// Whether less than a tenth of the words were kept, without those that lead to other pages or that others wrote.
    pub fn keeps_little(&self) -> bool {
        let kept = self.sum(WordDestination::is_kept);
        let left_out = self.sum(|reason| {
            reason > WordDestination::Comments || reason == WordDestination::Undisplayed
        });
        kept < MIN_KEPT * (kept + left_out)
    }

    fn sum(&self, is_wanted: impl Fn(WordDestination) -> bool) -> f64 {
        let counts = self.counts().filter(|(reason, _)| is_wanted(*reason));
        counts.map(|(_, count)| f64::from(count)).sum()
    }
}

/// Counts the words of a text: its runs of letters and digits; a soft hyphen parts no word.
pub fn count(text: &str) -> u32 {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\u{AD}');
    let words = words.filter(|word| word.contains(char::is_alphanumeric));
    u32::try_from(words.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_run_of_letters_and_digits() {
        assert_eq!(count("Low water, 3.5 m at the *gauge_house* (größ\u{AD}te)"), 10);
        assert_eq!(count(" -- | ¶ "), 0);
    }

    #[test]
    fn counts_are_written_by_reason_and_their_share_is_without_what_nobody_misses() {
        let mut words = WordAccount::default();
        words.add(WordDestination::Menu, "home, sweet home");
        words.add(WordDestination::Text, "at noon");
        words.add(WordDestination::Outside, "I know");
        let json = serde_json::to_string(&words).unwrap();
        assert_eq!(json, r#"{"text":2,"menu":3,"outside":2}"#);
        assert_eq!(serde_json::from_str::<WordAccount>(&json).unwrap(), words);
        assert!(words.lacks_shown() && words.is_lossy());
        assert_eq!(words.describe(), "2 kept; left out: 3 menu, 2 outside");
        words.add_count(WordDestination::Table, 16);
        assert!(!words.is_lossy());
    }

    #[test]
    fn what_leads_away_or_others_wrote_is_not_missed() {
        let mut words = WordAccount::default();
        words.add_count(WordDestination::Text, 9);
        for reason in [
            WordDestination::Links,
            WordDestination::Comments,
            WordDestination::Frame,
            WordDestination::Undisplayed,
        ] {
            words.add_count(reason, 40);
        }
        assert!(!words.is_lossy() && !words.keeps_little());
        words.add_count(WordDestination::Undisplayed, 2);
        assert!(words.keeps_little());
        words.add_count(WordDestination::Outside, 2);
        assert!(words.is_lossy());
    }

    #[test]
    fn a_reason_of_a_later_kb_is_unknown_and_no_reason_has_no_words() {
        let later: WordAccount = serde_json::from_str(r#"{"text":2,"ink":1}"#).unwrap();
        assert_eq!(later.counts().last(), Some((WordDestination::Unknown, 1)));
        let mut words = WordAccount::default();
        words.add(WordDestination::Hidden, "-");
        assert!(words == WordAccount::default() && !words.is_lossy());
    }
}
