//! Derives questions with known answers from a knowledge base, so that no labels are needed.
//!
//! Takes one chunk each from documents spread over the whole collection. A user who looks for the
//! chunk may know its heading, or a few of its rarest words; the answer is the document of the
//! chunk.

use std::collections::HashMap;

use crate::document::{CHAIN_SEPARATOR, Filter};
use crate::error::Result;
use crate::eval::JudgedQuestion;
use crate::store::{Store, StoredChunk};

/// Words in a phrase.
const PHRASE_LEN: usize = 5;

/// Words of a chunk that are considered.
const MAX_WORDS: usize = 80;

/// Fewest words in a heading that is used as a question.
const MIN_HEADING: usize = 2;

/// Fewest letters in a word of a phrase.
const MIN_LETTERS: usize = 3;

/// Two kinds of questions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownItems {
    /// Headings of sections.
    pub headings: Vec<JudgedQuestion>,
    /// Rare words that are next to each other.
    pub phrases: Vec<JudgedQuestion>,
}

/// Creates up to `num_documents` questions of each kind. The same collection always gives the same
/// questions.
pub fn questions(store: &Store, num_documents: usize) -> Result<KnownItems> {
    let mut documents = store.documents(&Filter::default())?;
    documents.retain(|document| document.chunk_count > 0);
    let step = documents.len().div_ceil(num_documents.max(1)).max(1);
    let mut found = KnownItems::default();
    let mut rarity: HashMap<String, usize> = HashMap::new();
    for document in documents.iter().step_by(step) {
        let chunks = store.chunks(document.id)?;
        let Some(chunk) = chunks.get(chunks.len() / 2) else { continue };
        let judged = |query| JudgedQuestion { query, relevant: [(document.id, 1)].into() };
        found.headings.extend(heading(chunk, &document.title).map(judged));
        found.phrases.extend(phrase(store, &chunk.chunk.text, &mut rarity)?.map(judged));
    }
    Ok(found)
}

/// Returns the heading of a chunk, else the title of its document.
fn heading(chunk: &StoredChunk, title: &str) -> Option<String> {
    let section =
        chunk.chunk.section.as_deref().and_then(|chain| chain.rsplit(CHAIN_SEPARATOR).next());
    let heading = section.unwrap_or(title);
    (heading.split_whitespace().count() >= MIN_HEADING).then(|| heading.to_owned())
}

/// Returns the sequence of words whose words together occur in the fewest chunks.
fn phrase(
    store: &Store,
    text: &str,
    rarity: &mut HashMap<String, usize>,
) -> Result<Option<String>> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= MIN_LETTERS)
        .take(MAX_WORDS)
        .collect();
    let mut counts = Vec::with_capacity(words.len());
    for word in &words {
        let count = match rarity.get(*word) {
            Some(count) => *count,
            None => {
                let count = store.occurrences(word)?.len();
                rarity.insert((*word).to_owned(), count);
                count
            }
        };
        counts.push(count);
    }
    let windows = words.windows(PHRASE_LEN).zip(counts.windows(PHRASE_LEN));
    let rarest = windows.min_by_key(|(_, counts)| counts.iter().sum::<usize>());
    Ok(rarest.map(|(words, _)| words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::DocumentId;
    use crate::store::testing::TestDb;

    /// Returns a database with ten documents, of which one has no chunk.
    fn library() -> (TestDb, Vec<DocumentId>) {
        let mut db = TestDb::new();
        let mut ids = Vec::new();
        for number in 0..10 {
            let text = format!("common words before rare{number} words after the others");
            let path = format!("/notes/{number}.md");
            let texts: &[&str] = if number == 0 { &[] } else { &["start", &text, "end"] };
            ids.push(db.add(&path, texts, &[]));
        }
        (db, ids)
    }

    #[test]
    fn questions_are_spread_over_the_documents_with_text() {
        let (db, ids) = library();
        for (num_documents, expected) in [(0, 1), (1, 1), (3, 3), (5, 5), (9, 9), (100, 9)] {
            let found = questions(&db.store, num_documents).unwrap();
            assert_eq!(found.phrases.len(), expected, "{num_documents}");
            assert!(found.phrases.iter().all(|judged| !judged.relevant.contains_key(&ids[0])));
        }
    }

    #[test]
    fn a_heading_of_two_words_is_a_question_and_a_title_where_there_is_none() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["text"], &[]);
        let mut stored = db.store.chunks(id).unwrap().remove(0);
        for (section, title, expected) in [
            (Some("Guide > High water"), "The title", Some("High water")),
            (Some("Guide > Water"), "The title", None),
            (Some("High water > Now"), "The title", None),
            (None, "The title", Some("The title")),
            (None, "Title", None),
        ] {
            stored.chunk.section = section.map(str::to_owned);
            assert_eq!(heading(&stored, title).as_deref(), expected, "{section:?}");
        }
    }

    #[test]
    fn a_phrase_has_five_words_of_three_letters_among_the_first_eighty() {
        let mut db = TestDb::new();
        let rare = "one two three four five";
        db.add(
            "/a.md",
            &[&format!("{rare} six seven eight nine ten"), "six seven eight nine"],
            &[],
        );
        let of = |text: &str| phrase(&db.store, text, &mut HashMap::new()).unwrap();
        assert_eq!(of("one, two: of a (three) four - five six").as_deref(), Some(rare));
        assert_eq!(of("one two three four"), None);
        // Words that are nowhere are the rarest, but these come too late.
        let common = "six seven eight nine ten ".repeat(16);
        assert_eq!(of(&format!("{common}unheard of")), of(&common));
    }

    #[test]
    fn the_answer_is_the_document_of_the_words() {
        let (db, ids) = library();
        let phrases = questions(&db.store, 9).unwrap().phrases;
        for (number, id) in ids.iter().enumerate().skip(1) {
            let query = format!("common words before rare{number} words");
            let relevant = HashMap::from([(*id, 1)]);
            assert!(phrases.contains(&JudgedQuestion { query, relevant }), "{number}");
        }
    }
}
