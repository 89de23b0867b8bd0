//! A server in this process that speaks as much of PostgreSQL's protocol as a test needs, with TLS or without, and
//! certificates for it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::patience::PATIENCE;

const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// An authority, and the certificate of a server that it has signed.
pub(crate) struct Certificates {
    dir: tempfile::TempDir,
    pub(crate) server: Arc<ServerConfig>,
}

impl Certificates {
    /// Makes a certificate for names. If `is_alone`, it is signed by itself, as PostgreSQL's manual makes one.
    pub(crate) fn new(names: &[&str], is_alone: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut own = CertificateParams::new(names).unwrap();
        let key = KeyPair::generate().unwrap();
        let (certificate, authority) = if is_alone {
            own.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let certificate = own.self_signed(&key).unwrap();
            let authority = certificate.pem();
            (certificate, authority)
        } else {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let issuer =
                CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
            (own.signed_by(&key, &issuer).unwrap(), issuer.pem())
        };
        for (name, pem) in [
            ("ca.pem", authority),
            ("server.pem", certificate.pem()),
            ("server.key", key.serialize_pem()),
        ] {
            std::fs::write(dir.path().join(name), pem).unwrap();
        }
        let chain: Vec<CertificateDer<'static>> = vec![certificate.der().clone()];
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let server =
            ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .unwrap();
        Self { dir, server: Arc::new(server) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The authority as a value of `sslrootcert`.
    pub(crate) fn authority(&self) -> String {
        self.path("ca.pem").display().to_string()
    }
}

/// The actions of a client on one connection.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) is_encrypted: bool,
    /// Whether it named its user and the database that it wants.
    pub(crate) has_begun: bool,
    /// The bytes that it sent after that.
    pub(crate) sent: Vec<u8>,
}

pub(crate) trait Peer: Read + Write {}

impl<T: Read + Write> Peer for T {}

/// A server on 127.0.0.1.
pub(crate) struct Fake {
    pub(crate) port: u16,
    seen: mpsc::Receiver<Seen>,
}

impl Fake {
    /// Starts a server that does `answer` once a client has said who it is, then reads to the end.
    pub(crate) fn start(
        tls: Option<&Certificates>,
        answer: impl Fn(&mut dyn Peer) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let tls = tls.map(|certificates| Arc::clone(&certificates.server));
        let (send, seen) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut found = Seen::default();
                // A client that goes away ends this connection only.
                let _ = serve(stream.unwrap(), tls.as_ref(), &answer, &mut found);
                if send.send(found).is_err() {
                    return;
                }
            }
        });
        Self { port, seen }
    }

    /// The next connection, once it has ended.
    pub(crate) fn seen(&self) -> Seen {
        self.seen.recv_timeout(PATIENCE).unwrap()
    }

    /// A URL of it with parameters, for a host that is not this machine's.
    pub(crate) fn url(&self, host: &str, params: &str) -> String {
        format!(
            "postgres://me@{host}:{}/team?hostaddr=127.0.0.1&connect_timeout=20&{params}",
            self.port
        )
    }
}

fn serve(
    mut stream: TcpStream,
    tls: Option<&Arc<ServerConfig>>,
    answer: &dyn Fn(&mut dyn Peer) -> io::Result<()>,
    found: &mut Seen,
) -> io::Result<()> {
    let mut head = [0; 8];
    stream.read_exact(&mut head)?;
    if head != SSL_REQUEST {
        return talk(&mut stream, Some(head), answer, found);
    }
    let Some(tls) = tls else {
        stream.write_all(b"N")?;
        return talk(&mut stream, None, answer, found);
    };
    stream.write_all(b"S")?;
    let connection = ServerConnection::new(Arc::clone(tls)).map_err(io::Error::other)?;
    let mut encrypted = StreamOwned::new(connection, stream);
    encrypted.flush()?;
    found.is_encrypted = !encrypted.conn.is_handshaking();
    let talked = talk(&mut encrypted, None, answer, found);
    found.is_encrypted = found.has_begun;
    let _ = encrypted.sock.shutdown(Shutdown::Both);
    talked
}

fn talk(
    peer: &mut dyn Peer,
    head: Option<[u8; 8]>,
    answer: &dyn Fn(&mut dyn Peer) -> io::Result<()>,
    found: &mut Seen,
) -> io::Result<()> {
    let head = match head {
        Some(head) => head,
        None => {
            let mut head = [0; 8];
            peer.read_exact(&mut head)?;
            head
        }
    };
    let len = u32::from_be_bytes(head[..4].try_into().unwrap());
    peer.read_exact(&mut vec![0; len as usize - 8])?;
    found.has_begun = true;
    let mut recorded = Recorded { peer, sent: &mut found.sent };
    answer(&mut recorded)?;
    io::copy(&mut recorded, &mut io::sink()).map(|_| ())
}

/// A peer, of which everything that is read is kept.
struct Recorded<'a> {
    peer: &'a mut dyn Peer,
    sent: &'a mut Vec<u8>,
}

impl Read for Recorded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let num_read = self.peer.read(buffer)?;
        self.sent.extend(&buffer[..num_read]);
        Ok(num_read)
    }
}

impl Write for Recorded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.peer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.peer.flush()
    }
}

/// A message of the protocol.
pub(crate) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind], len.as_slice(), body].concat()
}

/// A request for authentication of a kind, with the rest of the message.
pub(crate) fn authentication(code: u32, rest: &[u8]) -> Vec<u8> {
    message(b'R', &[&code.to_be_bytes(), rest].concat())
}

/// The messages of a server that accepts a client.
pub(crate) fn welcome() -> Vec<u8> {
    [authentication(0, b""), message(b'Z', b"I")].concat()
}
