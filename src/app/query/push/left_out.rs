//! Reports that this build of kb has no client of PostgreSQL.

use crate::app::query::push::PushReport;
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::store::Store;

/// Fails; see the module.
pub fn push(_session: &Session, _target: &str, _observer: &dyn Observer) -> Result<PushReport> {
    Err(left_out())
}

/// Fails. The type of the copy is never made; it only has to be one that can be searched.
pub(crate) fn open(_session: &Session, _target: &str, _observer: &dyn Observer) -> Result<Store> {
    Err(left_out())
}

pub(crate) fn keep(_session: &Session, _target: &str, _copy: Store) {}

fn left_out() -> Error {
    Error::usage("this kb was built without PostgreSQL")
        .with_hint("build it with the default features of cargo, or with `postgres`")
}
