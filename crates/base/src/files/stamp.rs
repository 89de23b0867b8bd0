//! Detects whether a file has changed, without reading it.

use std::fs::Metadata;
use std::io;
use std::path::Path;

/// Values that change when a file is written or replaced, unless a program deliberately keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub size_bytes: u64,
    /// When it was last written, in nanoseconds since 1970; 0 if that is not known.
    pub mtime_ns: i64,
    /// Its inode number; 0 if the system has none.
    pub inode: u64,
}

impl Stamp {
    /// Returns the stamp of a file, or of the file that a link leads to.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::from_metadata(&path.metadata()?))
    }

    #[cfg(unix)]
    fn from_metadata(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let seconds_ns = metadata.mtime().saturating_mul(1_000_000_000);
        Self {
            size_bytes: metadata.size(),
            mtime_ns: seconds_ns.saturating_add(metadata.mtime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    fn from_metadata(metadata: &Metadata) -> Self {
        use std::time::UNIX_EPOCH;
        let modified =
            metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mtime_ns = modified.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0);
        Self { size_bytes: metadata.len(), mtime_ns, inode: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn writing_or_replacing_a_file_changes_its_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let first = Stamp::of(&path).unwrap();
        assert_eq!((first.size_bytes, Stamp::of(&path).unwrap()), (3, first));
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(folder.path().join("other"), "two").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let replaced = Stamp::of(&path).unwrap();
        assert_eq!(replaced.mtime_ns, first.mtime_ns);
        assert_ne!(replaced, first, "it is another file");
        fs::write(&path, "three").unwrap();
        assert_ne!(Stamp::of(&path).unwrap(), replaced);
    }
}
