//! Replaces the separators by which FTS5 finds its leaves if they contain removed words.
//!
//! For each leaf FTS5 stores a prefix of its first term, to know where to search. With
//! `secure-delete` a removed term is deleted from its leaf, but the stored prefix stays until the
//! segment is merged.

use rusqlite::{Connection, OptionalExtension, named_params};

use super::postings::{self, LEAF_BITS};
use crate::db::fault::Step;

/// An index and the queries on it.
struct Index {
    separators: &'static str,
    leaf: &'static str,
    replace: &'static str,
    remove: &'static str,
}

macro_rules! index {
    ($table:literal) => {
        Index {
            separators: concat!("SELECT segid, term, pgno >> 1 FROM ", $table, "_idx"),
            leaf: concat!("SELECT block FROM ", $table, "_data WHERE id = :id"),
            replace: concat!(
                "UPDATE ",
                $table,
                "_idx SET term = :term WHERE segid = :segment AND term = :before"
            ),
            remove: concat!(
                "DELETE FROM ",
                $table,
                "_idx WHERE segid = :segment AND term = :before"
            ),
        }
    };
}

const INDEXES: [Index; 4] = [
    index!("chunks_fts"),
    index!("chunks_grams"),
    index!("chunks_exact"),
    index!("document_names_fts"),
];

/// Makes each separator a prefix of the term it points to. Returns the number of replaced
/// separators.
pub(crate) fn replace(db: &Connection) -> Step<usize> {
    let mut num_replaced = 0;
    for index in INDEXES {
        let mut separators = db.prepare(index.separators)?;
        let separators = separators.query_map([], |row| {
            let separator = row.get_ref(1)?.as_bytes().map(<[u8]>::to_vec);
            Ok((row.get(0)?, separator.unwrap_or_default(), row.get(2)?))
        })?;
        let separators: Vec<(i64, Vec<u8>, i64)> = separators.collect::<Result<_, _>>()?;
        let mut leaves = db.prepare(index.leaf)?;
        let (mut replace, mut remove) = (db.prepare(index.replace)?, db.prepare(index.remove)?);
        for (segment, separator, leaf) in separators {
            let id = (segment << LEAF_BITS) + leaf;
            let right = leaves
                .query_row(named_params! { ":id": id }, |row| {
                    let first_term = postings::first_term(row.get_ref(0)?.as_blob()?);
                    Ok(first_term.map(|term| term.map(|term| right(&separator, term).to_vec())))
                })
                .optional()?;
            // A leaf that was emptied, or merged into another segment, is not searched.
            let right = right.map_or(Ok(None), |right| right.ok_or_else(postings::damaged))?;
            num_replaced += match right {
                // The separator of the first leaf is empty, and nothing has to be replaced.
                _ if separator.is_empty() => 0,
                Some(right) if right == separator => 0,
                Some(right) => replace.execute(
                    named_params! { ":segment": segment, ":before": separator, ":term": right },
                )?,
                None => {
                    remove.execute(named_params! { ":segment": segment, ":before": separator })?
                }
            };
        }
    }
    Ok(num_replaced)
}

/// Returns the separator for a leaf with this first term. If the term begins with the current
/// separator, returns that; otherwise the shortest prefix of the term that sorts after everything
/// on the previous leaf, as the current separator did.
fn right<'a>(separator: &'a [u8], first_term: &'a [u8]) -> &'a [u8] {
    let num_common = first_term.iter().zip(separator).take_while(|(a, b)| a == b).count();
    if num_common == separator.len() {
        return separator;
    }
    first_term.get(..=num_common).unwrap_or(first_term)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::connection::on_pages;
    use crate::testing::TestDb;

    #[test]
    fn a_separator_distinguishes_terms_and_reveals_no_more() {
        assert_eq!(right(b"0app", b"0apple"), b"0app");
        assert_eq!(right(b"0app", b"0apricot"), b"0apr");
        assert_eq!(right(b"0app", b"0zebra"), b"0z");
    }

    #[test]
    fn no_separator_is_a_removed_word_and_every_word_is_found() {
        let mut db = TestDb::new();
        let words = |from: u32| -> Vec<String> {
            (from..from + 400).map(|n| format!("w{:07}x{n}", n * 7919 % 4000)).collect()
        };
        let mut ids = Vec::new();
        for number in 0..10 {
            let words = words(number * 400);
            let texts: Vec<String> = words.chunks(20).map(|words| words.join(" ")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            ids.push(db.add(&format!("/{number}.md"), &texts, &[]));
        }
        // Simulates many more chunks, because the indexes of a few are merged instead.
        let many = "
            INSERT INTO chunks (id, document_id, chunk_index, text, passage_hash)
            VALUES (100000, 1, 999, '', x'00')";
        db.store.connection.execute(many, []).unwrap();
        for id in [ids[2], ids[5], ids[8]] {
            db.store.remove(id).unwrap();
        }
        db.store.connection.execute("DELETE FROM chunks WHERE id = 100000", []).unwrap();
        assert!(on_pages(&db.store.connection, replace).unwrap() > 0, "the test shows nothing");
        assert_eq!(on_pages(&db.store.connection, replace).unwrap(), 0);
        db.assert_intact();
        let separators = "SELECT group_concat(CAST(term AS TEXT), ' ') FROM chunks_fts_idx";
        let separators: String =
            db.store.connection.query_row(separators, [], |row| row.get(0)).unwrap();
        for number in 0..10 {
            for word in words(number * 400) {
                let num_found = db.store.occurrences(&word).unwrap().len();
                let is_removed = [2, 5, 8].contains(&number);
                assert_eq!(num_found, usize::from(!is_removed), "{word}");
                assert!(!is_removed || !separators.contains(&word), "{word}");
            }
        }
    }
}
