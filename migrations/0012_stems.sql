-- Of documents in a language other than English that has a stemmer, `chunks_grams` also has the stem of each word, after
-- a mark and the language; see store/keyword/grams.rs. Nothing changes for documents that are stored: they have no
-- `natural_language` in their metadata until they are read again. The number keeps an older kb, which would leave the
-- stems behind, from writing.
SELECT 1;
