//! Computes the hash that identifies content, as lower-case hex.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::time::Instant;

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of bytes.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes hashed between two checks of the clock: about 0.1 ms.
const STEP: usize = 64 << 10;

/// Returns the SHA-256 of a reader's bytes; `None` if it has not ended by `deadline`.
pub fn sha256_until(mut reader: impl Read, deadline: Instant) -> io::Result<Option<String>> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; STEP];
    while Instant::now() < deadline {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(Some(hex(&digest.finalize()))),
            Ok(num_read) => digest.update(&buffer[..num_read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Returns bytes as hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_hash_equals_the_example_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256("abc"), abc);
        assert_eq!(hex(&[0, 10, 255]), "000aff");
    }

    #[test]
    fn a_reader_is_hashed_until_the_deadline() {
        let later = Instant::now() + Duration::from_secs(600);
        let bytes = vec![7; 3 * STEP + 5];
        let hashed = sha256_until(bytes.as_slice(), later).unwrap();
        assert_eq!(hashed, Some(sha256(&bytes)));
        assert_eq!(sha256_until(io::repeat(7), Instant::now()).unwrap(), None);
    }
}
