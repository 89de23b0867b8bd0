-- kb deletes the vectors of removed chunks itself: store/vectors/write.rs. SQLite does not let a trigger change a table of
-- `vec0` in a schema that it does not trust. The number keeps an older kb, which would leave vectors behind, from writing.
DROP TRIGGER IF EXISTS chunks_vec_ad;
