//! Parses the URL of a copy, and what libpq's words in it ask of the server.
//!
//! The library knows neither `require_auth` nor `sslrootcert`, and of `sslmode` only half; these are taken out of the
//! URL before it reads the rest.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts, SslMode, SslNegotiation};

use super::words::{Encryption, Methods};
use crate::error::{Error, Result};

/// How long a connection may take if the target does not say; libpq would wait for ever.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const DEFAULT_PORT: u16 = 5432;

/// A word of libpq for all certificate authorities that the system trusts.
const SYSTEM: &str = "system";

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// A name or an address, and a port.
    Tcp(String, u16),
    /// A folder with a socket for the port.
    #[cfg(unix)]
    Unix(PathBuf, u16),
}

/// A server that may have the copy, and how to reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) address: Address,
    /// The name that its certificate must have.
    pub(super) name: String,
    pub(super) encryption: Encryption,
    /// Whether only users of this machine can read the connection.
    pub(super) is_local: bool,
}

/// Where a copy is.
#[derive(Clone)]
pub struct CopyTarget {
    pub(super) config: Config,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) methods: Methods,
    /// The file of the authorities that may sign a certificate; `None` means those of the system.
    pub(super) authorities: Option<PathBuf>,
    pub(super) timeout: Duration,
    /// Without password.
    shown: String,
}

impl fmt::Debug for CopyTarget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.shown)
    }
}

impl fmt::Display for CopyTarget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.shown)
    }
}

impl CopyTarget {
    /// Parses a URL, `postgres://USER@HOST/DATABASE`. `variable` returns one of libpq's environment variables, which count
    /// where the URL says nothing: PGPASSWORD, PGSSLMODE, PGSSLROOTCERT, PGREQUIREAUTH.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if it is not such a URL, or asks for what kb does not have.
    pub fn parse(typed: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let url = "postgres://USER@HOST/DATABASE, with the password in PGPASSWORD";
        if !typed.starts_with("postgres://") && !typed.starts_with("postgresql://") {
            return Err(refuse("the target is not a URL of PostgreSQL", url));
        }
        let mut taken = UrlParameters::default();
        let rest = taken.take_from(typed);
        // The message of the parser is dropped: it could repeat a password.
        let config = rest.parse::<Config>();
        let mut config = config.map_err(|_| refuse("the URL of the target cannot be read", url))?;
        if config.get_hosts().is_empty() {
            return Err(refuse("the URL of the target names no host", url));
        }
        if config.get_load_balance_hosts() != LoadBalanceHosts::Disable
            || config.get_ssl_negotiation() != SslNegotiation::Postgres
        {
            return Err(refuse(
                "kb supports neither `load_balance_hosts` nor direct `sslnegotiation`",
                "leave them out of the URL of the target",
            ));
        }
        if let (None, Some(password)) = (config.get_password(), variable("PGPASSWORD")) {
            config.password(password);
        }
        config.application_name("kb");
        // kb encrypts the stream itself, so the library must not ask the server for encryption.
        config.ssl_mode(SslMode::Require).ssl_negotiation(SslNegotiation::Direct);
        let methods = match taken.require_auth.or_else(|| variable("PGREQUIREAUTH")) {
            None => Methods::SCRAM,
            Some(words) => Methods::parse(&words).ok_or_else(|| {
                let words = "scram-sha-256, md5, password, gss, sspi, none; put `!` before each \
                    or before none";
                refuse(
                    "`require_auth` (or PGREQUIREAUTH) has a value that libpq does not know",
                    words,
                )
            })?,
        };
        let authorities = taken.sslrootcert.or_else(|| variable("PGSSLROOTCERT"));
        let encryption = match taken.sslmode.or_else(|| variable("PGSSLMODE")) {
            Some(word) => Some(encryption(&word, authorities.as_deref())?),
            None if authorities.as_deref() == Some(SYSTEM) => Some(Encryption::VerifyFull),
            None => None,
        };
        let endpoints = endpoints(&config, encryption).ok_or_else(|| {
            refuse("the URL of the target has too few hosts, addresses or ports", url)
        })?;
        let hosts: Vec<&str> = endpoints.iter().map(|endpoint| endpoint.name.as_str()).collect();
        let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
        let shown = format!("{}/{database}", hosts.join(","));
        let timeout = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        let authorities = authorities.filter(|file| file != SYSTEM).map(PathBuf::from);
        Ok(Self { config, endpoints, methods, authorities, timeout, shown })
    }
}

fn refuse(message: &str, hint: &str) -> Error {
    Error::usage(message).with_hint(hint)
}

/// Parses `sslmode`, which two values of `sslrootcert` make stricter, as in libpq.
fn encryption(word: &str, authorities: Option<&str>) -> Result<Encryption> {
    let known = Encryption::parse(word).ok_or_else(|| {
        let words = "disable, allow, prefer, require, verify-ca, verify-full";
        refuse("`sslmode` (or PGSSLMODE) has a value that libpq does not know", words)
    })?;
    match (known, authorities) {
        (Encryption::VerifyFull, _) => Ok(Encryption::VerifyFull),
        (_, Some(SYSTEM)) => Err(refuse(
            "`sslrootcert=system` needs `sslmode=verify-full`",
            "leave out `sslmode`, or name the file of an authority",
        )),
        // As in libpq, a file of authorities turns `require` into a check; it would be ignored otherwise.
        (Encryption::Require, Some(_)) => Ok(Encryption::VerifyCa),
        (encryption, _) => Ok(encryption),
    }
}

/// Returns the servers of a target in order; `None` if hosts, addresses and ports do not match.
fn endpoints(config: &Config, encryption: Option<Encryption>) -> Option<Vec<Endpoint>> {
    let (hosts, addresses, ports) =
        (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let has_ports = ports.len() <= 1 || ports.len() == hosts.len();
    if !has_ports || !(addresses.is_empty() || addresses.len() == hosts.len()) {
        return None;
    }
    let endpoints = hosts.iter().enumerate().map(|(idx, host)| {
        let port = ports.get(idx).or(ports.first()).copied().unwrap_or(DEFAULT_PORT);
        endpoint(host, addresses.get(idx), port, encryption)
    });
    Some(endpoints.collect())
}

fn endpoint(
    host: &Host,
    address: Option<&IpAddr>,
    port: u16,
    encryption: Option<Encryption>,
) -> Endpoint {
    let (name, address, is_local) = match (host, address) {
        #[cfg(unix)]
        (Host::Unix(path), None) => {
            (path.display().to_string(), Address::Unix(path.clone(), port), true)
        }
        #[cfg(unix)]
        (Host::Unix(path), Some(address)) => (
            path.display().to_string(),
            Address::Tcp(address.to_string(), port),
            address.is_loopback(),
        ),
        (Host::Tcp(name), Some(address)) => {
            (name.clone(), Address::Tcp(address.to_string(), port), address.is_loopback())
        }
        (Host::Tcp(name), None) => {
            (name.clone(), Address::Tcp(name.clone(), port), is_loopback(name))
        }
    };
    let default = if is_local { Encryption::Prefer } else { Encryption::VerifyFull };
    let encryption = match address {
        // A socket is never encrypted, as in libpq: other machines cannot reach it.
        #[cfg(unix)]
        Address::Unix(..) => Encryption::Disable,
        Address::Tcp(..) => encryption.unwrap_or(default),
    };
    Endpoint { address, name, encryption, is_local }
}

/// Whether a name, as typed, is this machine's. Others decide what a name resolves to.
fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Parameters of a URL that the library does not know.
#[derive(Default)]
struct UrlParameters {
    sslmode: Option<String>,
    sslrootcert: Option<String>,
    require_auth: Option<String>,
}

impl UrlParameters {
    /// Takes the parameters out of a URL, and returns the rest.
    fn take_from(&mut self, url: &str) -> String {
        // A user or a password may contain a question mark.
        let after_user = url.find('@').map_or(0, |place| place + 1);
        let Some(mark) = url[after_user..].find('?') else { return url.to_owned() };
        let (place, params) = url.split_at(after_user + mark);
        let mut left = Vec::new();
        for param in params[1..].split('&') {
            let (key, value) = param.split_once('=').unwrap_or((param, ""));
            let taken = match key {
                "sslmode" => &mut self.sslmode,
                "sslrootcert" => &mut self.sslrootcert,
                "require_auth" => &mut self.require_auth,
                _ => {
                    left.push(param);
                    continue;
                }
            };
            let value = percent_encoding::percent_decode_str(value).decode_utf8_lossy();
            *taken = Some(value.into_owned()).filter(|value| !value.is_empty());
        }
        format!("{place}?{}", left.join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::words::Method;

    fn parse(typed: &str) -> CopyTarget {
        CopyTarget::parse(typed, &|_| None).unwrap()
    }

    fn encryption_of(typed: &str) -> Encryption {
        parse(typed).endpoints[0].encryption
    }

    #[test]
    fn a_target_shows_no_password() {
        let target = parse("postgres://me:secret@db.example:5433/team");
        assert_eq!(target.to_string(), "db.example/team");
        assert!(!format!("{target:?}").contains("secret"));
    }

    #[test]
    fn only_this_machine_may_answer_without_encryption() {
        for local in [
            "postgres://me@localhost/x",
            "postgres://me@127.0.0.2/x",
            "postgres://me@[::1]/x",
            "postgres://me@db.example/x?hostaddr=127.0.0.1",
        ] {
            assert_eq!(encryption_of(local), Encryption::Prefer, "{local}");
        }
        for remote in [
            "postgres://me@db.example/x",
            "postgres://me@localhost.example/x",
            "postgres://me@10.0.0.1/x",
            "postgres://me@localhost/x?hostaddr=10.0.0.1",
        ] {
            assert_eq!(encryption_of(remote), Encryption::VerifyFull, "{remote}");
        }
        let both = parse("postgres://me@localhost,db.example:5433/x");
        assert_eq!(both.endpoints[0].encryption, Encryption::Prefer);
        assert_eq!(both.endpoints[1].encryption, Encryption::VerifyFull);
        assert_eq!(both.endpoints[1].address, Address::Tcp("db.example".into(), 5433));
        assert!(
            parse("postgres:///x?host=/run/postgresql&sslmode=verify-full").endpoints[0].is_local
        );
    }

    #[test]
    fn the_words_are_those_of_libpq() {
        for (word, mode) in [("allow", Encryption::Allow), ("verify-ca", Encryption::VerifyCa)] {
            assert_eq!(encryption_of(&format!("postgres://h/x?sslmode={word}")), mode);
        }
        let file =
            "postgres://h/x?sslmode=require&sslrootcert=%2Fetc%2Fca.pem&application_name=other";
        assert_eq!(encryption_of(file), Encryption::VerifyCa);
        assert_eq!(parse(file).authorities, Some(PathBuf::from("/etc/ca.pem")));
        let system = parse("postgres://localhost/x?sslrootcert=system");
        assert_eq!(
            (system.endpoints[0].encryption, system.authorities),
            (Encryption::VerifyFull, None)
        );
        let variables = |name: &str| match name {
            "PGSSLMODE" => Some("require".to_owned()),
            "PGREQUIREAUTH" => Some("!password,!md5".to_owned()),
            "PGSSLROOTCERT" => Some("/ca.pem".to_owned()),
            _ => None,
        };
        let target = CopyTarget::parse("postgres://h/x", &variables).unwrap();
        assert_eq!(target.endpoints[0].encryption, Encryption::VerifyCa);
        assert!(target.methods.contains(Method::None) && !target.methods.contains(Method::Md5));
        let target =
            CopyTarget::parse("postgres://h/x?sslmode=disable&require_auth=md5", &variables)
                .unwrap();
        assert_eq!(target.endpoints[0].encryption, Encryption::Disable);
        assert!(target.methods.contains(Method::Md5) && !target.methods.contains(Method::Scram));
        assert_eq!(parse("postgres://h/x").methods, Methods::SCRAM);
    }

    #[test]
    fn what_is_not_a_target_is_refused_without_repeating_it() {
        for typed in [
            "",
            "team",
            "mysql://me:secret@db/x",
            "postgres://me:secret@db:port/x",
            "postgres://me:secret@/x",
            "postgres://me:secret@db/x?sslmode=secret",
            "postgres://me:secret@db/x?sslmode=require&sslrootcert=system",
            "postgres://me:secret@db/x?require_auth=secret",
            "postgres://me:secret@db/x?require_auth=md5,!none",
            "postgres://me:secret@db/x?sslnegotiation=direct",
            "postgres://me:secret@db/x?hostaddr=1.2.3.4,1.2.3.5",
            "postgres://me:secret@db/x?sslcert=secret",
        ] {
            let error = CopyTarget::parse(typed, &|_| None).unwrap_err();
            assert!(matches!(error, Error::Usage { .. }), "{typed}: {error:?}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
