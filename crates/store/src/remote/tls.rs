//! Encrypts a connection, and checks the server's certificate as `sslmode` asks.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use tokio_rustls::TlsConnector;

use super::breach::Breach;
use super::guard::ByteStream;
use super::words::Encryption;
use crate::error::{Error, Result};
use crate::files::open::{self, SymlinkPolicy};

/// Longest file of authorities in bytes; the one of a system has a quarter of a megabyte.
const MAX_FILE_BYTES: u64 = 16 << 20;

type Hash = fn(&[u8]) -> Vec<u8>;

/// Algorithms that sign certificates, as the end of their object identifiers, with the hash that binds a proof to such a
/// certificate (RFC 5929, 4.1). Ed25519 has none.
const HASHES: [(&[u8], Hash); 6] = [
    // 1.2.840.113549.1.1.11, .12 and .13: RSA with SHA-256, SHA-384, SHA-512
    (&[0x86, 0xf7, 0x0d, 1, 1, 11], |bytes| Sha256::digest(bytes).to_vec()),
    (&[0x86, 0xf7, 0x0d, 1, 1, 12], |bytes| Sha384::digest(bytes).to_vec()),
    (&[0x86, 0xf7, 0x0d, 1, 1, 13], |bytes| Sha512::digest(bytes).to_vec()),
    // 1.2.840.10045.4.3.2, .3 and .4: ECDSA with the same
    (&[0xce, 0x3d, 4, 3, 2], |bytes| Sha256::digest(bytes).to_vec()),
    (&[0xce, 0x3d, 4, 3, 3], |bytes| Sha384::digest(bytes).to_vec()),
    (&[0xce, 0x3d, 4, 3, 4], |bytes| Sha512::digest(bytes).to_vec()),
];

/// The authorities that may sign a server's certificate.
#[derive(Debug)]
pub(super) struct Authorities {
    store: RootCertStore,
    /// The certificates of a file that the user named. A server may have one of them as its own, although it is signed by
    /// no one else.
    named: Vec<CertificateDer<'static>>,
}

impl Authorities {
    /// For a server whose certificate is not checked.
    pub(super) fn none() -> Self {
        Self { store: RootCertStore::empty(), named: Vec::new() }
    }

    /// Reads a file of certificates, or those that the system trusts.
    pub(super) fn read(file: Option<&Path>) -> Result<Self> {
        let mut authorities = Self::none();
        let Some(file) = file else {
            // Certificates of the system that rustls cannot read are left out, and so are not trusted.
            let found = rustls_native_certs::load_native_certs().certs;
            authorities.store.add_parsable_certificates(found);
            return Ok(authorities);
        };
        let bytes = open::read(file, SymlinkPolicy::Follow, MAX_FILE_BYTES)?;
        let certificates: std::result::Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(&bytes).collect();
        authorities.named = certificates.unwrap_or_default();
        let (num_added, _) =
            authorities.store.add_parsable_certificates(authorities.named.iter().cloned());
        match num_added {
            0 => Err(Error::usage(format!(
                "`sslrootcert` names a file without certificates: {}",
                file.display()
            ))
            .with_hint("name a PEM file, with lines such as -----BEGIN CERTIFICATE-----")),
            _ => Ok(authorities),
        }
    }
}

#[derive(Debug)]
struct Verifier {
    encryption: Encryption,
    authorities: Arc<Authorities>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Authorities { store, named } = &*self.authorities;
        if self.encryption >= Encryption::VerifyCa {
            let parsed = ParsedCertificate::try_from(certificate)?;
            if !named.contains(certificate) {
                let algorithms = self.provider.signature_verification_algorithms.all;
                verify_server_cert_signed_by_trust_anchor(
                    &parsed, store, intermediates, now, algorithms,
                )?;
            }
            if self.encryption == Encryption::VerifyFull {
                verify_server_name(&parsed, name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Encrypts a stream to the server with a name. Returns it with what binds a proof to its certificate, if there is such a
/// thing.
pub(super) async fn encrypt(
    wire: Box<dyn ByteStream>,
    name: &str,
    encryption: Encryption,
    authorities: &Arc<Authorities>,
) -> std::result::Result<(Box<dyn ByteStream>, Option<Vec<u8>>), Breach> {
    let provider = Arc::new(ring::default_provider());
    let (authorities, provider_there) = (Arc::clone(authorities), Arc::clone(&provider));
    let verifier = Verifier { encryption, authorities, provider: provider_there };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(name, &error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    let server = ServerName::try_from(name.to_owned()).map_err(|_| {
        Breach::new(format!("{name} is not a name that a certificate can have"), "correct the host")
    })?;
    let stream = TlsConnector::from(Arc::new(config)).connect(server, wire).await;
    let stream = stream.map_err(|error| match rustls_error(&error) {
        Some(error) => failed(name, error),
        None => Breach::new(
            format!("the encryption failed: {error}"),
            "ask its administrator for the server's log",
        ),
    })?;
    let certificate = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    let end_point = certificate.and_then(|certificate| end_point(certificate));
    Ok((Box::new(stream), end_point))
}

fn rustls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Returns why the encryption failed, and what to do.
fn failed(name: &str, error: &rustls::Error) -> Breach {
    use CertificateError as Fault;
    let rustls::Error::InvalidCertificate(fault) = error else {
        return Breach::new(
            format!("the encryption failed: {error}"),
            "check host and port of the URL",
        );
    };
    match fault {
        Fault::UnknownIssuer | Fault::BadSignature => Breach::new(
            "its certificate is from an authority that is not trusted here",
            "add `sslrootcert=FILE` to the URL, with the certificate of the server's authority",
        ),
        Fault::NotValidForName | Fault::NotValidForNameContext { .. } => Breach::new(
            format!("its certificate is not for the name {name}"),
            "use the name of the certificate, with `hostaddr=ADDRESS` if it is not found; `sslmode=verify-ca` checks no name",
        ),
        Fault::Expired | Fault::ExpiredContext { .. } => Breach::new(
            "its certificate has expired",
            "let its administrator renew it; check the clock of this machine",
        ),
        other => Breach::new(
            format!("its certificate is refused: {other}"),
            "add `sslrootcert=FILE` to the URL, with the certificate of the server or of its authority",
        ),
    }
}

/// Returns the hash of a certificate by which SCRAM-SHA-256-PLUS binds a proof to it; `None` if its algorithm has none.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    // SEQUENCE { what is signed SEQUENCE, algorithm SEQUENCE { OBJECT IDENTIFIER, … }, signature }
    let (body, _) = element(certificate)?;
    let (_, after) = element(body)?;
    let (algorithm, _) = element(after)?;
    let (identifier, _) = element(algorithm)?;
    let (_, hash) = HASHES.iter().find(|(suffix, _)| identifier.ends_with(suffix))?;
    Some(hash(certificate))
}

/// Returns the content of the first element of DER, and what is after it.
fn element(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let [_, first, rest @ ..] = bytes else { return None };
    let (len, rest) = match usize::from(*first) {
        short @ 0..0x80 => (short, rest),
        long => {
            let (digits, rest) = rest.split_at_checked((long - 0x80).min(4))?;
            (digits.iter().fold(0, |len, digit| (len << 8) | usize::from(*digit)), rest)
        }
    };
    rest.split_at_checked(len)
}
