//! Connects to PostgreSQL and runs requests. The only place that opens a connection, and only to the target typed.

use std::error::Error as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::breach::Breach;
use super::guard::{ByteStream, GuardedStream, Meter, PassthroughTls, REQUEST, SILENCE};
use super::target::{Address, CopyTarget, Endpoint};
use super::tls::{self, Authorities};
use super::words::Encryption;
use crate::error::{Error, Result};
use crate::wording::Wording;

/// Asks a server for encryption: the length of the message, and the number of the request.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// How long the end of a connection may take. The work is done by then, so a silent server is left.
const GOODBYE: Duration = Duration::from_secs(1);

const NEEDS_PASSWORD: &str = "set PGPASSWORD to the password of the URL's user";

/// The remedy for tables that differ from those that kb makes; they can be rebuilt at any time.
pub(super) const MAKE_AGAIN: &str = "drop the tables `kb_…` and push again";

const UNENCRYPTED: &str = "turn on `ssl` there, or use a tunnel (ssh -L); `sslmode=disable` in the URL turns encryption \
     off";

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
    (&[SqlState::DISK_FULL], "free space on the server, and push again"),
];

/// The reason why a connection failed.
enum LinkFault {
    /// The server is not what the user asks for, or does not answer as one.
    Breach(Breach),
    /// TLS failed, which weaker modes do without.
    Encryption(Breach),
    Server(tokio_postgres::Error),
}

impl From<Breach> for LinkFault {
    fn from(breach: Breach) -> Self {
        Self::Breach(breach)
    }
}

impl From<tokio_postgres::Error> for LinkFault {
    fn from(error: tokio_postgres::Error) -> Self {
        let breach =
            io_error(&error).and_then(|error| error.get_ref()?.downcast_ref::<Breach>()).cloned();
        breach.map_or(Self::Server(error), Self::Breach)
    }
}

impl From<io::Error> for LinkFault {
    fn from(error: io::Error) -> Self {
        Self::Breach(Breach::new(format!("no connection: {error}"), UNREACHABLE))
    }
}

impl LinkFault {
    /// Whether the server may accept a connection that is encrypted if this one was not, or the reverse.
    fn is_about_encryption(&self) -> bool {
        match self {
            Self::Breach(_) => false,
            Self::Encryption(_) => true,
            // A server answers this if its pg_hba.conf only has a line for the other kind of connection.
            Self::Server(error) => {
                error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
            }
        }
    }
}

/// Whether a connection is to be encrypted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EncryptionUse {
    Never,
    IfOffered,
    Always,
}

impl Encryption {
    /// The kinds to try, as libpq does.
    fn kinds(self) -> &'static [EncryptionUse] {
        match self {
            Self::Disable => &[EncryptionUse::Never],
            Self::Allow => &[EncryptionUse::Never, EncryptionUse::Always],
            Self::Prefer => &[EncryptionUse::IfOffered, EncryptionUse::Never],
            Self::Require | Self::VerifyCa | Self::VerifyFull => &[EncryptionUse::Always],
        }
    }
}

struct OpenConnection {
    client: Client,
    /// Ends with the connection, and says why.
    task: JoinHandle<std::result::Result<(), tokio_postgres::Error>>,
    meter: Meter,
    is_encrypted: bool,
}

impl CopyTarget {
    /// Connects.
    ///
    /// # Errors
    ///
    /// [`Error::Target`], and those of a file of authorities that cannot be used.
    pub fn connect(&self) -> Result<RemoteLink> {
        let needs_authorities =
            self.endpoints.iter().any(|endpoint| endpoint.encryption >= Encryption::VerifyCa);
        let authorities = if needs_authorities {
            Authorities::read(self.authorities.as_deref())?
        } else {
            Authorities::none()
        };
        let authorities = Arc::new(authorities);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| self.failed(error.into(), UNREACHABLE))?;
        let mut fault = LinkFault::from(Breach::not_postgres());
        'endpoints: for endpoint in &self.endpoints {
            for kind in endpoint.encryption.kinds() {
                let connecting = self.within_time(endpoint, *kind, &authorities);
                match runtime.block_on(connecting) {
                    Ok(OpenConnection { client, task, meter, is_encrypted }) => {
                        let is_exposed = !is_encrypted && !endpoint.is_local;
                        let driver = Driver { runtime, task: Some(task) };
                        let target = self.clone();
                        return Ok(RemoteLink { client, driver, meter, is_exposed, target });
                    }
                    Err(found) => fault = found,
                }
                // Another kind of encryption would meet the same fault.
                if !fault.is_about_encryption() {
                    continue 'endpoints;
                }
            }
        }
        // A look-up of a name may still run and cannot be stopped, so nothing waits for it.
        runtime.shutdown_background();
        let asks_password = match &fault {
            LinkFault::Server(error) => !is_lost(error) && self.config.get_password().is_none(),
            LinkFault::Breach(_) | LinkFault::Encryption(_) => false,
        };
        Err(self.failed(fault, if asks_password { NEEDS_PASSWORD } else { UNREACHABLE }))
    }

    async fn within_time(
        &self,
        endpoint: &Endpoint,
        kind: EncryptionUse,
        authorities: &Arc<Authorities>,
    ) -> std::result::Result<OpenConnection, LinkFault> {
        let connecting = self.try_connect(endpoint, kind, authorities);
        timeout(self.timeout, connecting).await.unwrap_or_else(|_| {
            let limit = self.timeout.as_secs();
            let reason = format!("no connection within `connect_timeout`, which is {limit} s");
            Err(Breach::new(reason, UNREACHABLE).into())
        })
    }

    async fn try_connect(
        &self,
        Endpoint { address, name, encryption, .. }: &Endpoint,
        kind: EncryptionUse,
        authorities: &Arc<Authorities>,
    ) -> std::result::Result<OpenConnection, LinkFault> {
        let mut wire = open(address).await?;
        let mut end_point = None;
        let is_encrypted = kind != EncryptionUse::Never && is_offered(&mut wire).await?;
        if is_encrypted {
            let encrypted = tls::encrypt(wire, name, *encryption, authorities).await;
            (wire, end_point) = encrypted.map_err(LinkFault::Encryption)?;
        } else if kind == EncryptionUse::Always {
            return Err(Breach::new("the server does not encrypt connections", UNENCRYPTED).into());
        }
        let meter = Meter::default();
        let guarded = GuardedStream::new(wire, self.methods, meter.clone(), end_point);
        let (client, connection) = self.config.connect_raw(guarded, PassthroughTls).await?;
        let task = tokio::spawn(connection);
        self.check_session(&client).await?;
        Ok(OpenConnection { client, task, meter, is_encrypted })
    }

    /// Requires that the server can write, or cannot, if the user asks for such a server.
    async fn check_session(&self, client: &Client) -> std::result::Result<(), LinkFault> {
        let is_reader_wanted = match self.config.get_target_session_attrs() {
            TargetSessionAttrs::ReadOnly => true,
            TargetSessionAttrs::ReadWrite => false,
            _ => return Ok(()),
        };
        let shown = client.simple_query("SHOW transaction_read_only").await?;
        let is_reader = shown.iter().any(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0) == Some("on"),
            _ => false,
        });
        if is_reader == is_reader_wanted {
            return Ok(());
        }
        let reason = "the server is not of the kind of `target_session_attrs`";
        Err(Breach::new(reason, "name another host").into())
    }

    /// Returns the error of a use of the server. `hint` is the advice unless the server reports why.
    fn failed(&self, fault: LinkFault, hint: &str) -> Error {
        let error = match fault {
            LinkFault::Breach(breach) | LinkFault::Encryption(breach) => {
                return self.refused(breach);
            }
            LinkFault::Server(error) => error,
        };
        let hint = match error.code() {
            Some(code) => advice(code),
            None => Some(hint),
        };
        let hint = hint.map(Wording::from);
        let reason = match error.as_db_error() {
            Some(error) => error.message().to_owned(),
            None => with_sources(&error),
        };
        Error::Target { target: self.to_string(), reason, hint }
    }

    fn refused(&self, Breach { reason, hint }: Breach) -> Error {
        Error::Target { target: self.to_string(), reason, hint: Some(hint) }
    }
}

async fn open(address: &Address) -> io::Result<Box<dyn ByteStream>> {
    match address {
        Address::Tcp(name, port) => {
            let stream = TcpStream::connect((name.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream))
        }
        #[cfg(unix)]
        Address::Unix(folder, port) => Ok(Box::new(
            tokio::net::UnixStream::connect(folder.join(format!(".s.PGSQL.{port}"))).await?,
        )),
    }
}

/// Asks whether the server encrypts connections.
async fn is_offered(wire: &mut Box<dyn ByteStream>) -> std::result::Result<bool, LinkFault> {
    wire.write_all(&SSL_REQUEST).await?;
    match wire.read_u8().await? {
        b'S' => Ok(true),
        b'N' => Ok(false),
        _ => Err(Breach::not_postgres().into()),
    }
}

/// Whether there is no connection, or no longer.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    error.is_closed() || io_error(error).is_some()
}

fn io_error(error: &tokio_postgres::Error) -> Option<&io::Error> {
    error.source()?.downcast_ref()
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

/// Runs what a connection does, and ends it.
struct Driver {
    runtime: Runtime,
    /// `None` once it has ended.
    task: Option<JoinHandle<std::result::Result<(), tokio_postgres::Error>>>,
}

impl Driver {
    /// Returns why the connection has ended.
    fn end(&mut self) -> Option<tokio_postgres::Error> {
        let task = self.task.take()?;
        self.runtime.block_on(async { timeout(GOODBYE, task).await }).ok()?.ok()?.err()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.end();
    }
}

/// A connection.
pub struct RemoteLink {
    client: Client,
    // Fields are dropped in order: the driver waits for the end of the client.
    driver: Driver,
    meter: Meter,
    is_exposed: bool,
    target: CopyTarget,
}

impl RemoteLink {
    /// Whether other machines could read the connection.
    pub fn is_exposed(&self) -> bool {
        self.is_exposed
    }

    pub(super) fn run<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Client) -> std::result::Result<T, tokio_postgres::Error>,
    ) -> Result<T> {
        let working = self.meter.within(SILENCE, REQUEST, work(&mut self.client));
        let fault = match self.driver.runtime.block_on(working) {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(error)) if error.is_closed() => self.driver.end().unwrap_or(error).into(),
            Ok(Err(error)) => error.into(),
            Err(breach) => LinkFault::Breach(breach),
        };
        let hint = match &fault {
            LinkFault::Server(error) if !is_lost(error) => MAKE_AGAIN,
            _ => "try again",
        };
        Err(self.target.failed(fault, hint))
    }

    /// Returns the error of a copy that cannot be used.
    pub(super) fn refuse(&self, reason: impl Into<String>, hint: impl Into<Wording>) -> Error {
        self.target.refused(Breach::new(reason, hint))
    }
}

fn advice(code: &SqlState) -> Option<&'static str> {
    ADVICE.iter().find(|(codes, _)| codes.contains(code)).map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_faults_of_encryption_are_about_it() {
        assert!(!LinkFault::from(io::Error::other("closed")).is_about_encryption());
        assert!(!LinkFault::from(Breach::new("a breach", "try again")).is_about_encryption());
        assert!(
            LinkFault::Encryption(Breach::new("not offered", "try again")).is_about_encryption()
        );
    }
}
