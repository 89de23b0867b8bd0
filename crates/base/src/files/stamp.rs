//! Detects whether a file has changed, without reading it.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Size and time of a file. A file with the same stamp counts as unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub size_bytes: u64,
    /// When it was last written, as [`mtime_ns`] says.
    pub mtime_ns: i64,
}

impl Stamp {
    /// Returns the stamp that the system reports.
    pub fn of(metadata: &Metadata) -> Self {
        Self { size_bytes: metadata.len(), mtime_ns: mtime_ns(metadata) }
    }
}

/// Values that change when a file is written or replaced, unless a program deliberately keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileVersion {
    /// Its size and time.
    pub stamp: Stamp,
    /// Its inode number, or that of the file on its volume on Windows.
    pub inode: u64,
}

impl FileVersion {
    /// Returns the version of a file, or of the file that a link leads to.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = path.metadata()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(windows)]
        let inode = super::open::identity(path).map_or(0, |(_, file)| file);
        Ok(Self { stamp: Stamp::of(&metadata), inode })
    }
}

/// Returns when a file was last written, in nanoseconds since 1970, negative before; 0 if the file system keeps no
/// time.
pub fn mtime_ns(metadata: &Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos())
            .map_or(i64::MIN, |nanoseconds| nanoseconds.saturating_neg()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn writing_or_replacing_a_file_changes_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let first = FileVersion::of(&path).unwrap();
        assert_eq!((first.stamp.size_bytes, FileVersion::of(&path).unwrap()), (3, first));
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(folder.path().join("other"), "two").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let replaced = FileVersion::of(&path).unwrap();
        assert_eq!(replaced.stamp, first.stamp);
        assert_ne!(replaced, first, "it is another file");
        fs::write(&path, "three").unwrap();
        assert_ne!(FileVersion::of(&path).unwrap(), replaced);
    }
}
