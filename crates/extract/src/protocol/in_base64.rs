//! Writes bytes as Base64, and reads them where they are.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&BASE64_STANDARD.encode(bytes))
}

/// Decodes the string in the message itself, without a copy of it: Base64 has nothing that JSON escapes.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    BASE64_STANDARD.decode(<&str>::deserialize(from)?).map_err(D::Error::custom)
}
