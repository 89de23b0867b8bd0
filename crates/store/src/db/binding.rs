//! Reads and sets the model a database is bound to, and checks it before vectors are used.

use rusqlite::Connection;

use super::config;
use super::fault::{DatabaseFault, Step};
use crate::Store;
use crate::document::{Binding, ModelFiles};
use crate::error::{Error, Result};

/// One of the two bindings in `config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BindingSlot {
    /// The binding of `chunks_vec`.
    Current,
    /// The target of an unfinished reindex.
    Next,
}

impl BindingSlot {
    fn key(self, key: &str) -> String {
        match self {
            Self::Current => key.to_owned(),
            Self::Next => format!("next_{key}"),
        }
    }
}

const MODEL_NAME: &str = "model_name";
const EMBEDDING_DIM: &str = "embedding_dim";
const MODEL_MAX_TOKENS: &str = "model_max_tokens";
const MODEL_PRECISION: &str = "model_precision";
const PASSAGE_PREFIX: &str = "passage_prefix";
const MODEL_REVISION: &str = "model_revision";
const WEIGHTS_SHA256: &str = "weights_sha256";

const KEYS: [&str; 7] = [
    MODEL_NAME, EMBEDDING_DIM, MODEL_MAX_TOKENS, MODEL_PRECISION, PASSAGE_PREFIX, MODEL_REVISION,
    WEIGHTS_SHA256,
];

impl Store {
    /// Returns the model the database was built with; `None` before anything was embedded.
    pub fn binding(&self) -> Result<Option<Binding>> {
        let binding = self.read(|db| load(db, BindingSlot::Current))?;
        let mut bound = self.bound.borrow_mut();
        if bound.is_none() {
            bound.clone_from(&binding);
        }
        Ok(binding)
    }

    /// Returns the binding inside a transaction, after comparing it with the one this store uses: a
    /// reindex in another process may have changed it.
    pub(crate) fn check_bound(&self, db: &Connection) -> Step<Option<Binding>> {
        check(db, self.bound.borrow().as_ref())
    }
}

/// Returns the database's binding, which must be `expected` if that is known.
pub(crate) fn check(db: &Connection, expected: Option<&Binding>) -> Step<Option<Binding>> {
    let found = load(db, BindingSlot::Current)?;
    match (&found, expected) {
        (Some(found), Some(expected)) if !found.fits(expected) => {
            Err(mismatch(found, expected).into())
        }
        _ => Ok(found),
    }
}

pub(crate) fn load(db: &Connection, slot: BindingSlot) -> Step<Option<Binding>> {
    let Some(model_name) = value(db, slot, MODEL_NAME)? else { return Ok(None) };
    Ok(Some(Binding {
        model_name,
        dim: parsed(db, slot, EMBEDDING_DIM)?,
        max_tokens: parsed(db, slot, MODEL_MAX_TOKENS)?,
        precision: parsed(db, slot, MODEL_PRECISION)?,
        passage_prefix: value(db, slot, PASSAGE_PREFIX)?.unwrap_or_default(),
        files: ModelFiles {
            revision: value(db, slot, MODEL_REVISION)?,
            sha256: value(db, slot, WEIGHTS_SHA256)?,
        },
    }))
}

pub(crate) fn save(db: &Connection, slot: BindingSlot, binding: &Binding) -> Step<()> {
    let values = [
        Some(binding.model_name.clone()),
        Some(binding.dim.to_string()),
        Some(binding.max_tokens.to_string()),
        Some(binding.precision.to_string()),
        Some(binding.passage_prefix.clone()),
        binding.files.revision.clone(),
        binding.files.sha256.clone(),
    ];
    clear(db, slot)?;
    for (key, value) in KEYS.iter().zip(values) {
        if let Some(value) = value {
            config::set(db, &slot.key(key), value)?;
        }
    }
    Ok(())
}

/// Returns the name of the model that made the vectors, also if the rest of the binding cannot be read.
pub(crate) fn model_name(db: &Connection) -> Step<Option<String>> {
    value(db, BindingSlot::Current, MODEL_NAME)
}

/// Returns what is wrong with the binding; `None` if it can be read, and if there is none.
pub(crate) fn fault(db: &Connection) -> Step<Option<String>> {
    match load(db, BindingSlot::Current) {
        Ok(_) => Ok(None),
        Err(DatabaseFault::Corrupt(detail)) => Ok(Some(detail)),
        Err(other) => Err(other),
    }
}

pub(crate) fn clear(db: &Connection, slot: BindingSlot) -> Step<()> {
    KEYS.iter().try_for_each(|key| config::remove(db, &slot.key(key)))
}

/// Describes how two bindings differ, so that no message reports that a model differs from itself.
pub(crate) fn mismatch(bound: &Binding, wanted: &Binding) -> Error {
    Error::ModelMismatch {
        bound: shown(bound, bound, wanted),
        bound_dim: bound.dim,
        wanted: shown(wanted, bound, wanted),
    }
}

/// Describes one of two bindings by what differs.
fn shown(binding: &Binding, bound: &Binding, wanted: &Binding) -> String {
    if bound.model_name != wanted.model_name {
        binding.model_name.clone()
    } else if bound.precision != wanted.precision {
        format!("{} ({})", binding.model_name, binding.precision)
    } else if bound.passage_prefix != wanted.passage_prefix {
        format!("{} (passage prefix {:?})", binding.model_name, binding.passage_prefix)
    } else if !bound.files.fits(&wanted.files) {
        format!("{} ({})", binding.model_name, binding.files)
    } else {
        format!("{} ({} dim, {} tokens)", binding.model_name, binding.dim, binding.max_tokens)
    }
}

fn value(db: &Connection, slot: BindingSlot, key: &str) -> Step<Option<String>> {
    config::value(db, &slot.key(key))
}

fn parsed<T: std::str::FromStr>(db: &Connection, slot: BindingSlot, key: &str) -> Step<T> {
    value(db, slot, key)?
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| DatabaseFault::Corrupt(format!("config.{key} cannot be read")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Precision;
    use crate::testing::{TestDb, binding, vector};

    #[test]
    fn a_new_database_has_no_binding() {
        assert_eq!(TestDb::unbound().store.binding().unwrap(), None);
    }

    #[test]
    fn a_binding_is_stored_under_the_documented_keys() {
        let mut db = TestDb::unbound();
        let wanted = Binding { passage_prefix: "passage: ".into(), ..binding("e5") };
        db.store.bind(&wanted).unwrap();
        db.store.bind(&wanted).unwrap();
        assert_eq!(Store::open(&db.path()).unwrap().binding().unwrap(), Some(wanted));
        let newest = super::super::schema::MIGRATIONS.last().unwrap().0.to_string();
        for (key, expected) in [
            ("schema_version", newest.as_str()),
            ("model_name", "e5"),
            ("embedding_dim", "4"),
            ("model_max_tokens", "256"),
            ("model_precision", "int8"),
            ("passage_prefix", "passage: "),
        ] {
            let value: Option<String> = config::value(&db.store.connection, key).unwrap();
            assert_eq!(value.as_deref(), Some(expected), "{key}");
        }
    }

    #[test]
    fn another_model_is_refused_if_there_are_chunks() {
        let mut db = TestDb::new();
        db.store.bind(&Binding { dim: 8, ..binding("wide") }).unwrap();
        db.store.bind(&binding("small")).unwrap();
        db.add("/a.md", &["words"], &[]);
        let outcome = db.store.bind(&Binding { dim: 8, ..binding("wide") });
        let Err(Error::ModelMismatch { bound, bound_dim, wanted }) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!((bound.as_str(), bound_dim, wanted.as_str()), ("small", 4, "wide"));
        assert_eq!(db.store.binding().unwrap(), Some(binding("small")));
        db.assert_intact();
    }

    #[test]
    fn other_weights_are_another_model_and_unknown_ones_take_the_first_that_are_known() {
        let files = |revision: &str, sha256: &str| ModelFiles {
            revision: Some(revision.into()),
            sha256: Some(sha256.into()),
        };
        let made_by = |files: ModelFiles| Binding { files, ..binding("small") };
        let mut db = TestDb::new();
        db.add("/a.md", &["words"], &[]);
        db.store.bind(&made_by(files("one", "a"))).unwrap();
        assert_eq!(db.store.binding().unwrap().unwrap().files, files("one", "a"));
        // The same weights, and files that nothing is known of, change nothing.
        db.store.bind(&made_by(files("two", "a"))).unwrap();
        db.store.bind(&binding("small")).unwrap();
        assert_eq!(db.store.binding().unwrap().unwrap().files, files("one", "a"));
        let error = db.store.bind(&made_by(files("two", "b"))).unwrap_err().to_string();
        let expected = "'small (weights a, revision one)' (4 dim) but config specifies \
                        'small (weights b, revision two)'";
        assert!(error.contains(expected), "{error}");
        let reader = Store::open(&db.path()).unwrap();
        assert_eq!(reader.binding().unwrap(), Some(made_by(files("one", "a"))));
        // A reindex forgets files that are not known any more.
        db.store.begin_reindex(&binding("small")).unwrap();
        for found in db.store.unembedded(crate::ChunkId(0), 10).unwrap() {
            let embedding = crate::document::Embedding { vector: vector("words"), codes: None };
            db.store.store_reindexed(&[crate::RenewedChunk::kept(&found, embedding)]).unwrap();
        }
        db.store.finish_reindex().unwrap();
        assert_eq!(db.store.binding().unwrap(), Some(binding("small")));
    }

    #[test]
    fn a_mismatch_names_the_difference() {
        let small = binding("small");
        let describe = |wanted: Binding| match mismatch(&small, &wanted) {
            Error::ModelMismatch { bound, wanted, .. } => (bound, wanted),
            other => panic!("{other}"),
        };
        assert_eq!(
            describe(Binding { precision: Precision::Fp32, ..small.clone() }),
            ("small (int8)".into(), "small (fp32)".into())
        );
        assert_eq!(
            describe(Binding { passage_prefix: "p: ".into(), ..small.clone() }),
            ("small (passage prefix \"\")".into(), "small (passage prefix \"p: \")".into())
        );
        assert_eq!(
            describe(Binding { max_tokens: 512, ..small.clone() }),
            ("small (4 dim, 256 tokens)".into(), "small (4 dim, 512 tokens)".into())
        );
    }

    #[test]
    fn a_query_vector_of_a_replaced_model_is_not_compared() {
        let mut db = TestDb::new();
        let reader = db.store.reader().unwrap();
        db.store.bind(&binding("other")).unwrap();
        let outcome = reader.rank_by_cosine(&vector("words"), None, 10);
        assert!(matches!(outcome, Err(Error::ModelMismatch { .. })));
        // Reading the binding again does not change the vector; only a new store does.
        assert_eq!(reader.binding().unwrap(), Some(binding("other")));
        assert!(reader.rank_by_cosine(&vector("words"), None, 10).is_err());
        let reopened = Store::open(&db.path()).unwrap();
        reopened.rank_by_cosine(&vector("words"), None, 10).unwrap();
    }

    #[test]
    fn an_unreadable_binding_is_corruption() {
        let db = TestDb::new();
        let sql = "UPDATE config SET value = 'many' WHERE key = 'embedding_dim'";
        db.store.connection.execute(sql, []).unwrap();
        assert!(matches!(db.store.binding(), Err(Error::Corrupt { .. })));
    }
}
