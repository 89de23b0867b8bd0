//! Connects to PostgreSQL. The only place that opens a connection, and only to the target typed.

use std::error::Error as _;
use std::time::Duration;
use std::{fmt, io};

use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use postgres::{Client, Config, NoTls};

use crate::error::{Error, Result};

/// How long a connection may take if the target does not say.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const NEEDS_PASSWORD: &str = "set PGPASSWORD to the password of the URL's user";

/// For tables that are not as kb makes them; they can be made again at any time.
pub(super) const MAKE_AGAIN: &str = "drop the tables `kb_…` and push again";

const UNREACHABLE: &str =
    "check that the server runs, and host and port of the URL; a tunnel must be open";

/// Advice for errors that the server reports.
const ADVICE: &[(&[SqlState], &str)] = &[
    (&[SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION], NEEDS_PASSWORD),
    (&[SqlState::INVALID_CATALOG_NAME], "create that database there, or correct the URL"),
    (
        &[SqlState::INSUFFICIENT_PRIVILEGE],
        "a search needs SELECT on the tables `kb_…`, a push CREATE in their schema",
    ),
    (
        &[SqlState::FEATURE_NOT_SUPPORTED, SqlState::UNDEFINED_FILE],
        "install the extension pgvector on the server",
    ),
    (
        &[SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN, SqlState::UNDEFINED_FUNCTION],
        MAKE_AGAIN,
    ),
    (
        &[
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
        ],
        "try again later",
    ),
    (&[SqlState::DISK_FULL], "make room on the server, and push again"),
];

/// Where a copy is.
#[derive(Clone)]
pub struct Target {
    config: Config,
    /// Without password.
    shown: String,
}

impl fmt::Debug for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.shown)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.shown)
    }
}

impl Target {
    /// Parses a URL, `postgres://USER@HOST/DATABASE`. `password` is used if the URL has none.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if it is not such a URL, or demands TLS.
    pub fn parse(typed: &str, password: Option<&str>) -> Result<Self> {
        let refuse = |message: String| Error::Usage {
            message,
            hint: Some("postgres://USER@HOST/DATABASE, with the password in PGPASSWORD".into()),
        };
        if !typed.starts_with("postgres://") && !typed.starts_with("postgresql://") {
            return Err(refuse("the target is not a URL of PostgreSQL".into()));
        }
        // The message could repeat a password.
        let config = typed.parse::<Config>();
        let mut config =
            config.map_err(|_| refuse("the URL of the target cannot be read".into()))?;
        if config.get_ssl_mode() == SslMode::Require {
            return Err(Error::Usage {
                message: "kb does not encrypt connections to PostgreSQL".into(),
                hint: Some(
                    "leave out `sslmode`, and use a tunnel (ssh -L) or a private network".into(),
                ),
            });
        }
        if config.get_hosts().is_empty() {
            return Err(refuse("the URL of the target names no host".into()));
        }
        if let (None, Some(password)) = (config.get_password(), password) {
            config.password(password);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config.application_name("kb");
        let hosts: Vec<String> = config.get_hosts().iter().map(host_name).collect();
        let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
        let shown = format!("{}/{database}", hosts.join(","));
        Ok(Self { config, shown })
    }

    /// Whether the connection leaves this machine, where others could read it.
    pub fn is_in_clear(&self) -> bool {
        let is_local = |host: &Host| match host {
            Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
            #[cfg(unix)]
            Host::Unix(_) => true,
        };
        !self.config.get_hosts().iter().all(is_local)
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// [`Error::Target`].
    pub fn connect(&self) -> Result<Link> {
        let client = self.config.connect(NoTls).map_err(|error| {
            let asks_password = !is_lost(&error) && self.config.get_password().is_none();
            self.failed(&error, if asks_password { NEEDS_PASSWORD } else { UNREACHABLE })
        })?;
        Ok(Link { client, target: self.clone() })
    }

    /// Returns the error of a use of the server. `hint` is the advice unless the server reports why.
    fn failed(&self, error: &postgres::Error, hint: &str) -> Error {
        let advice = |code: &SqlState| {
            ADVICE.iter().find(|(codes, _)| codes.contains(code)).map(|(_, advice)| *advice)
        };
        let hint = error.code().map_or(Some(hint), advice).map(str::to_owned);
        let reason = match error.as_db_error() {
            Some(error) => error.message().to_owned(),
            None => with_sources(error),
        };
        Error::Target { target: self.shown.clone(), reason, hint }
    }
}

/// Whether there is no connection, or no longer.
fn is_lost(error: &postgres::Error) -> bool {
    error.is_closed() || error.source().is_some_and(|cause| cause.is::<io::Error>())
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}

/// Returns an error with its causes: that of the library only says what was tried.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text += ": ";
            text += &cause_text;
        }
        source = cause.source();
    }
    text
}

/// A connection.
pub struct Link {
    client: Client,
    target: Target,
}

impl Link {
    /// Runs `work` with the client.
    pub(super) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T> {
        work(&mut self.client).map_err(|error| {
            self.target.failed(&error, if is_lost(&error) { "try again" } else { MAKE_AGAIN })
        })
    }

    /// Returns the error of a copy that cannot be used.
    pub(super) fn refuse(&self, reason: impl Into<String>, hint: &str) -> Error {
        let target = self.target.shown.clone();
        Error::Target { target, reason: reason.into(), hint: Some(hint.to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_shows_no_password() {
        let target = Target::parse("postgres://me:secret@db.example:5433/team", None).unwrap();
        assert_eq!((target.to_string().as_str(), target.is_in_clear()), ("db.example/team", true));
        assert!(!format!("{target:?}").contains("secret"));
        for local in ["postgres://me@localhost/x", "postgresql:///x?host=/run/postgresql"] {
            assert!(!Target::parse(local, Some("secret")).unwrap().is_in_clear(), "{local}");
        }
    }

    #[test]
    fn what_is_not_a_target_is_refused_without_repeating_it() {
        for typed in [
            "",
            "team",
            "mysql://me:secret@db/x",
            "postgres://me:secret@db:port/x",
            "postgres://me:secret@/x",
            "postgres://me:secret@db/x?sslmode=require",
        ] {
            let error = Target::parse(typed, None).unwrap_err();
            assert!(matches!(error, Error::Usage { .. }), "{typed}: {error:?}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
