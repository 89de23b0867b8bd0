//! Keeps the words of all passages as they are written, and how many passages have each, to find those near a word that no
//! passage has. The other indexes have stems only.
//!
//! A word is stored by its first letter and its length, because only words with the same first letter and nearly the same
//! length are near: few rows of many are read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use rusqlite::{Connection, named_params};

use crate::Store;
use crate::db::fault::Step;
use crate::db::sql;
use crate::error::Result;
use crate::text::forms::{composed, seen, words};
use crate::text::near::WordShape;
use crate::text::scripts::is_unspaced;

/// Letters of a word that is stored. Shorter ones have too many others near them, and longer ones are data.
const LETTERS: RangeInclusive<usize> = 4..=30;

const ADD: &str = "
    INSERT INTO words (initial, length, word, num_chunks)
    VALUES (:initial, :length, :word, :count)
    ON CONFLICT (initial, length, word) DO UPDATE SET num_chunks = num_chunks + excluded.num_chunks";

const SUBTRACT: &str = "
    UPDATE words
    SET num_chunks = num_chunks - :count
    WHERE initial = :initial AND length = :length AND word = :word";

const REMOVE_UNUSED: &str = "
    DELETE FROM words
    WHERE initial = :initial AND length = :length AND word = :word AND num_chunks <= 0";

const FORGET: &str = "DELETE FROM words";

const ALL: &str = "SELECT word, num_chunks FROM words";

const NEAR: &str = "
    SELECT word, num_chunks
    FROM words
    WHERE initial = :initial AND length BETWEEN :shortest AND :longest";

/// How many passages have each word.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WordCounts(BTreeMap<String, i64>);

/// A word that passages have, near a wanted one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearWord {
    /// In small letters.
    pub word: String,
    /// Number of letters that are wrong, missing, too many or exchanged.
    pub distance: usize,
    /// Number of passages that have it.
    pub num_chunks: u32,
}

impl WordCounts {
    /// Adds the words of a passage, each once.
    pub(crate) fn count(&mut self, context: &str, text: &str) {
        let found: BTreeSet<String> = [context, text].into_iter().flat_map(stored).collect();
        for word in found {
            *self.0.entry(word).or_default() += 1;
        }
    }

    /// Adds the counts to those that are stored.
    pub(crate) fn add(&self, db: &Connection) -> Step<()> {
        self.0.iter().try_for_each(|(word, count)| change(db, ADD, word, Some(*count)))
    }

    /// Subtracts the counts; a word that no passage has any more is erased.
    pub(crate) fn subtract(&self, db: &Connection) -> Step<()> {
        self.0.iter().try_for_each(|(word, count)| {
            change(db, SUBTRACT, word, Some(*count))?;
            change(db, REMOVE_UNUSED, word, None)
        })
    }

    /// Counts words whose stored number is another.
    pub(crate) fn num_wrong(&self, db: &Connection) -> Step<i64> {
        let stored: Vec<(String, i64)> = sql::rows(db, ALL, [], |row| row.columns())?;
        let num_other =
            stored.iter().filter(|(word, count)| self.0.get(word) != Some(count)).count();
        let num_right = stored.len() - num_other;
        let num_missing = self.0.len() - num_right;
        Ok(i64::try_from(num_other.max(num_missing)).unwrap_or(i64::MAX))
    }
}

/// Removes all words.
pub(crate) fn forget(db: &Connection) -> Step<()> {
    sql::run(db, FORGET, [])
}

impl Store {
    /// Returns the words of passages that are so near a word, with the same first letter: at most `most_wrong` letters wrong,
    /// missing, too many or exchanged with their neighbours. The nearest first, of these the most frequent; not the word
    /// itself.
    pub fn near_words(&self, word: &str, most_wrong: usize) -> Result<Vec<NearWord>> {
        let Some(wanted) = WantedWord::of(word, most_wrong) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        self.read(|db| {
            if !self.layout(db)?.has_letters {
                return Ok(());
            }
            let params = named_params! {
                ":initial": wanted.initial,
                ":shortest": wanted.shortest,
                ":longest": wanted.longest,
            };
            let mut statement = db.prepare_cached(NEAR)?;
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                let word = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                found.extend(wanted.near(word, row.get(1)?));
            }
            Ok(())
        })?;
        Ok(NearWord::ordered(found))
    }
}

impl NearWord {
    /// Returns words with the nearest first, of these the most frequent.
    pub(crate) fn ordered(mut words: Vec<Self>) -> Vec<Self> {
        words.sort_by(|a, b| {
            (a.distance, b.num_chunks, &a.word).cmp(&(b.distance, a.num_chunks, &b.word))
        });
        words
    }
}

/// A word to which near ones are wanted.
#[derive(Debug, Clone)]
pub(crate) struct WantedWord {
    shape: WordShape,
    most_wrong: usize,
    /// The initial and the lengths of the stored words to compare.
    pub(crate) initial: u32,
    pub(crate) shortest: u32,
    pub(crate) longest: u32,
}

impl WantedWord {
    /// Returns a word with at most so many letters wrong; `None` if it is empty.
    pub(crate) fn of(word: &str, most_wrong: usize) -> Option<Self> {
        let wanted = composed(word).to_lowercase();
        let length = num_letters(&wanted);
        let range = u32::try_from(most_wrong).unwrap_or(u32::MAX);
        Some(Self {
            initial: initial(&wanted)?,
            shortest: length.saturating_sub(range),
            longest: length.saturating_add(range),
            shape: WordShape::of(wanted),
            most_wrong,
        })
    }

    /// Returns another word if it is near.
    pub(crate) fn near(&self, word: &str, num_chunks: u32) -> Option<NearWord> {
        let distance = self.shape.distance_at_most(word, self.most_wrong);
        let distance = distance.filter(|distance| *distance > 0)?;
        Some(NearWord { word: word.to_owned(), distance, num_chunks })
    }
}

/// Returns the words of a text that are stored: letters only.
fn stored(text: &str) -> impl Iterator<Item = String> {
    words(text)
        .map(|word| &text[word])
        .filter(|word| has_stored_length(word))
        .map(|word| composed(&seen(word)).to_lowercase())
        .filter(|word| word.chars().all(|c| c.is_alphabetic() && !is_unspaced(c)))
}

/// Whether a word has as many letters as those that are stored.
fn has_stored_length(word: &str) -> bool {
    LETTERS.contains(&word.len()) || !word.is_ascii() && LETTERS.contains(&word.chars().count())
}

fn change(db: &Connection, statement: &str, word: &str, count: Option<i64>) -> Step<()> {
    let (initial, length) = (initial(word), num_letters(word));
    let mut params =
        named_params! { ":initial": initial, ":length": length, ":word": word }.to_vec();
    if let Some(count) = &count {
        params.push((":count", count));
    }
    sql::run(db, statement, params.as_slice())
}

fn num_letters(word: &str) -> u32 {
    u32::try_from(word.chars().count()).unwrap_or(u32::MAX)
}

/// Returns the number of a word's first letter.
fn initial(word: &str) -> Option<u32> {
    word.chars().next().map(u32::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDb;

    fn all(db: &TestDb) -> Vec<(String, i64)> {
        sql::rows(&db.store.connection, ALL, [], |row| row.columns()).unwrap()
    }

    #[test]
    fn words_are_counted_once_a_passage_and_erased_with_the_last() {
        let mut db = TestDb::new();
        let one =
            db.add("/a.md", &["Isolation of isolation, 12kg tie x86_abcd", "GROSSE Größe"], &[]);
        let two = db.add("/b.md", &["the isolation"], &[]);
        let count = |db: &TestDb, wanted: &str| {
            all(db).into_iter().find(|(word, _)| word == wanted).map(|(_, count)| count)
        };
        assert_eq!(count(&db, "isolation"), Some(2));
        assert_eq!(count(&db, "größe"), Some(1));
        assert_eq!(count(&db, "abcd"), Some(1));
        assert_eq!((count(&db, "tie"), count(&db, "12kg")), (None, None));
        db.assert_intact();
        db.store.remove(one).unwrap();
        assert_eq!((count(&db, "isolation"), count(&db, "größe")), (Some(1), None));
        db.store.remove(two).unwrap();
        assert_eq!(all(&db), []);
    }

    #[test]
    fn the_nearest_and_most_frequent_words_are_first() {
        let mut db = TestDb::new();
        db.add("/a.md", &["isolation isolated prune pruned", "pruned apples", "grosse Größe"], &[]);
        let near = |word: &str, most_wrong| -> Vec<String> {
            let found = db.store.near_words(word, most_wrong).unwrap();
            found.into_iter().map(|near| near.word).collect()
        };
        assert_eq!(near("isolaton", 2), ["isolation", "isolated"]);
        assert_eq!(near("pruned", 1), ["prune"]);
        assert_eq!(near("prunde", 1), ["pruned", "prune"]);
        assert_eq!(near("Größse", 1), ["größe"]);
        assert!(near("xsolation", 2).is_empty());
        assert!(near("", 2).is_empty());
    }
}
