//! Opens the knowledge bases that calls name, and keeps them open.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::app::session::bases;
use crate::app::{ServerOptions, Session};
use crate::error::{Error, Result};
use crate::server::{Schema, UNLISTED};

/// The argument that names knowledge bases.
const BASE: &str = "base";

/// The only tool that accepts several.
pub(super) const SEARCH: &str = "kb_search";

/// The open knowledge bases.
pub(super) struct Bases {
    open: Mutex<OpenSessions>,
    /// The only ones that calls may name; `None` for all.
    allowed: Option<Vec<String>>,
}

struct OpenSessions {
    /// The one of calls that name none: that which the user named, the project's, or the default one.
    usual: Arc<Session>,
    /// Those that calls have named.
    named: BTreeMap<String, Arc<Session>>,
}

impl Bases {
    pub(super) fn new(mut usual: Session, options: &ServerOptions) -> Self {
        if !options.allows_writing {
            usual.forbid_refresh();
        }
        let open = OpenSessions { usual: Arc::new(usual), named: BTreeMap::new() };
        Self { open: Mutex::new(open), allowed: options.bases.clone() }
    }

    /// Whether calls may name this one.
    pub(super) fn allows(&self, name: &str) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.iter().any(|known| known == name))
    }

    /// Returns the one of calls that name none.
    pub(super) fn usual(&self) -> Arc<Session> {
        Arc::clone(&self.open().usual)
    }

    /// Removes the names from the input of a tool and returns the knowledge bases: at least one, and several only
    /// for a search.
    pub(super) fn take(&self, tool: &str, input: &mut Value) -> Result<Vec<Arc<Session>>> {
        let given = input.as_object_mut().and_then(|input| input.remove(BASE));
        let Some(typed) = given.as_ref().and_then(Value::as_str) else {
            return Ok(vec![self.usual()]);
        };
        let names = bases::names(typed)?;
        if names.len() > 1 && tool != SEARCH {
            return Err(Error::usage(format!("only {SEARCH} works on several knowledge bases"))
                .with_hint("name one"));
        }
        names.iter().map(|name| self.named(name)).collect()
    }

    /// Returns the one with a name.
    pub(super) fn named(&self, name: &str) -> Result<Arc<Session>> {
        if let Some(known) = self.allowed.as_ref().filter(|_| !self.allows(name)) {
            return Err(Error::UnknownBase { name: name.to_owned(), known: known.clone() });
        }
        let mut open = self.open();
        if open.usual.place().name == name {
            return Ok(Arc::clone(&open.usual));
        }
        // The settings of the base are read again, which fails if it is missing or no longer allowed.
        let session = open.usual.for_base(name)?;
        if let Some(known) = open.named.get(name).filter(|known| known.place() == session.place()) {
            return Ok(Arc::clone(known));
        }
        let session = Arc::new(session);
        open.named.insert(name.to_owned(), Arc::clone(&session));
        Ok(session)
    }

    /// Chooses the usual one again, after the working directory has changed.
    pub(super) fn choose_again(&self) -> Result<()> {
        let mut open = self.open();
        if let Some(usual) = open.usual.chosen_again()? {
            usual.notices().iter().for_each(|notice| usual.notify(notice));
            open.usual = Arc::new(usual);
        }
        Ok(())
    }

    pub(super) fn close(&self) -> Result<()> {
        let open = self.open();
        open.named.values().chain([&open.usual]).try_for_each(|session| session.close())
    }

    fn open(&self) -> MutexGuard<'_, OpenSessions> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the argument that names knowledge bases to the schema of a tool. It is listed only if there are several.
pub(super) fn declare(schema: &mut Schema, tool: &str, is_listed: bool) {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let mut property = json!({ "type": "string" });
    if tool == SEARCH {
        property["description"] = "One, or a,b".into();
    }
    if !is_listed {
        property[UNLISTED] = true.into();
    }
    properties.insert(BASE.into(), property);
}
