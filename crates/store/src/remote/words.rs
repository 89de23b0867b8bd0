//! Defines what libpq's words `sslmode` and `require_auth` ask of a connection. Pure.

use super::breach::Breach;

/// The encryption that a client demands of a connection: libpq's `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Encryption {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

const ENCRYPTIONS: [(&str, Encryption); 6] = [
    ("disable", Encryption::Disable),
    ("allow", Encryption::Allow),
    ("prefer", Encryption::Prefer),
    ("require", Encryption::Require),
    ("verify-ca", Encryption::VerifyCa),
    ("verify-full", Encryption::VerifyFull),
];

impl Encryption {
    pub(super) fn parse(word: &str) -> Option<Self> {
        ENCRYPTIONS.iter().find(|(known, _)| *known == word).map(|(_, encryption)| *encryption)
    }
}

/// How a server asks who the client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    None,
    Password,
    Md5,
    Gss,
    Sspi,
    Scram,
}

/// The words for the methods, in the order of these, and what a server does that uses one.
const METHODS: [(&str, Method, &str); 6] = [
    ("none", Method::None, "does not ask for a password"),
    ("password", Method::Password, "asks for the password in clear text"),
    ("md5", Method::Md5, "asks for an MD5 hash of the password"),
    ("gss", Method::Gss, "asks for GSSAPI"),
    ("sspi", Method::Sspi, "asks for SSPI"),
    ("scram-sha-256", Method::Scram, "asks for SCRAM-SHA-256"),
];

impl Method {
    fn bit(self) -> u8 {
        1 << (self as u8)
    }

    /// The error of a server that uses this method without permission.
    pub(super) fn refused(self) -> Breach {
        let (word, _, asks) = METHODS[self as usize];
        Breach::new(
            format!("the server {asks}, which `require_auth` does not allow"),
            format!(
                "let it use scram-sha-256, or, if you trust it, add `require_auth={word}` to the URL"
            ),
        )
    }
}

/// The methods that a server may use: libpq's `require_auth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Methods(u8);

impl Methods {
    pub(super) const SCRAM: Self = Self(1 << (Method::Scram as u8));

    pub(super) fn contains(self, method: Method) -> bool {
        self.0 & method.bit() != 0
    }

    /// Parses words between commas: all that are allowed, or with `!` all that are not.
    pub(super) fn parse(words: &str) -> Option<Self> {
        let (mut named, mut num_negated, mut num_words) = (0, 0, 0);
        for word in words.split(',') {
            let (word, is_negated) = word.strip_prefix('!').map_or((word, 0), |word| (word, 1));
            named |= METHODS.iter().find(|(known, ..)| *known == word)?.1.bit();
            num_negated += is_negated;
            num_words += 1;
        }
        match num_negated {
            0 => Some(Self(named)),
            _ if num_negated == num_words => Some(Self(!named)),
            _ => None,
        }
    }
}
