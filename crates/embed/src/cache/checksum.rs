//! Computes the SHA-256 of files, and compares it.

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::fault::model_error;
use crate::files::open;
use crate::hash::hex;

/// Bytes read at a time while hashing.
const READ_BYTES: usize = 1 << 20;

/// Compares a file's SHA-256 with the expected one, in lower-case hexadecimal.
pub(crate) fn check_sha256(path: &Path, expected: &str) -> Result<()> {
    let found = sha256(path)?;
    if found == expected {
        return Ok(());
    }
    Err(model_error(path, format!("its SHA-256 is {found}, expected {expected}")))
}

/// Returns a file's SHA-256 in lower-case hexadecimal.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let mut file = open::open(path, open::SymlinkPolicy::Follow)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer).map_err(|error| Error::of_file(path, error))? {
            0 => return Ok(hex(&hasher.finalize())),
            len => hasher.update(&buffer[..len]),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_damaged_copy_is_recognised() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "abc").unwrap();
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert!(check_sha256(&path, sha256).is_ok());
        fs::write(&path, "abd").unwrap();
        assert!(matches!(check_sha256(&path, sha256), Err(Error::Model { .. })));
    }
}
