//! Lists a skill's files and computes the hash over them.
//!
//! The same files are listed, hashed and indexed: regular files, including hidden ones, but nothing
//! below a hidden directory and no links, whatever their target.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::files::Metadata;
use crate::files::open::{self, SymlinkPolicy};
use crate::files::stamp::mtime_ns;
use crate::hash;
use crate::store::skills::index::IndexedFile;
use crate::text::paths;

/// The coarsest clock of a file system that keeps fractions of a second. Kernels stamp files with a
/// tick of at most 10 ms; ten times that leaves room for network file systems.
pub const FINE_TICK: Duration = Duration::from_millis(100);

/// The same for file systems that keep whole seconds; FAT keeps only even ones.
const COARSE_TICK: Duration = Duration::from_secs(3);

/// Largest size of a skill's file, which is read into memory.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Below the skill's directory, with `/`.
    pub path: String,
    /// Where to read it.
    pub real_path: PathBuf,
    /// Its length.
    pub size_bytes: u64,
    /// When its content was last changed, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// When the content or any metadata was last changed, which no program can set back; since
    /// 1970, 0 where the system keeps no such time.
    pub ctime_ns: i64,
}

/// The contents of a skill's directory.
#[derive(Debug, Default)]
pub struct SkillContents {
    /// In byte order of their paths.
    pub files: Vec<SourceFile>,
    /// Symbolic links, by path below the skill's directory, in the same order.
    pub links: Vec<(String, PathBuf)>,
}

/// Lists a skill's directory.
pub fn list(root: &Path) -> Result<SkillContents> {
    let mut listing = SkillContents::default();
    let mut folders = vec![(root.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        let entries = match folder.read_dir() {
            // A folder below may be removed while the skill is listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !prefix.is_empty() => continue,
            Err(source) => return Err(Error::Io { path: folder, source }),
            Ok(entries) => entries,
        };
        for entry in entries {
            let entry = entry.map_err(|source| Error::of_file(&folder, source))?;
            let name = paths::path_text(Path::new(&entry.file_name()));
            let path = format!("{prefix}{name}");
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_symlink() {
                listing.links.push((path, entry.path()));
            } else if kind.is_dir() {
                // Hidden folders belong to programs, such as git and kb.
                if !name.starts_with('.') {
                    folders.push((entry.path(), path + "/"));
                }
            } else if kind.is_file()
                && let Ok(metadata) = entry.metadata()
            {
                let (mtime_ns, ctime_ns) = times(&metadata);
                let (real_path, size_bytes) = (entry.path(), metadata.len());
                listing.files.push(SourceFile { path, real_path, size_bytes, mtime_ns, ctime_ns });
            }
        }
    }
    listing.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    listing.links.sort_unstable();
    Ok(listing)
}

/// Returns the time of the last content change and of the last change of any kind.
fn times(metadata: &Metadata) -> (i64, i64) {
    #[cfg(unix)]
    let ctime_ns = {
        use std::os::unix::fs::MetadataExt;
        metadata.ctime().saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec())
    };
    #[cfg(not(unix))]
    let ctime_ns = 0;
    (mtime_ns(metadata), ctime_ns)
}

impl SourceFile {
    /// Reads the file.
    pub fn read(&self) -> Result<Vec<u8>> {
        open::read(&self.real_path, self.links(), MAX_FILE_BYTES)
    }

    /// Returns which links may be followed on the way to the file: none below the skill's
    /// directory.
    pub fn links(&self) -> SymlinkPolicy<'_> {
        let depth = self.path.matches('/').count() + 1;
        SymlinkPolicy::RefuseBelow(self.real_path.ancestors().nth(depth).unwrap_or(&self.real_path))
    }

    /// Whether a change made at `now` or later is certain to change the file's times. This is not
    /// so if the file was written within one tick of the file system's clock: a second change in
    /// the same tick would leave the times unchanged.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let last = self.mtime_ns.max(self.ctime_ns);
        let is_coarse = last % 1_000_000_000 == 0;
        let tick = if is_coarse { COARSE_TICK } else { FINE_TICK };
        let Ok(now) = now.duration_since(UNIX_EPOCH) else { return false };
        let now = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        let tick = i64::try_from(tick.as_nanos()).unwrap_or(i64::MAX);
        last.saturating_add(tick) < now
    }

    /// Whether length and times match those of an earlier listing.
    fn is_unchanged_since(&self, known: &IndexedFile) -> bool {
        known.is_settled
            && known.size_bytes == self.size_bytes
            && known.mtime_ns == self.mtime_ns
            && known.ctime_ns == self.ctime_ns
    }
}

/// The hash over a skill's files, which are added in the order of a [`SkillContents`].
///
/// SHA-256 over the path and the lower-case hex SHA-256 of each file, without separators.
#[derive(Default)]
pub struct SourceHash(Sha256);

impl SourceHash {
    /// Adds a file by the hash of its bytes, as [`file_hash`] gives it.
    pub fn add(&mut self, path: &str, file_hash: &str) {
        self.0.update(path.as_bytes());
        self.0.update(file_hash.as_bytes());
    }

    /// Returns the hash in lower-case hex.
    pub fn finish(self) -> String {
        hash::hex(&self.0.finalize())
    }
}

/// Reads a file that may be reached by links, but only within a skill's directory.
///
/// `root` is absolute with links resolved.
pub(super) fn read_within(root: &Path, path: &Path) -> Result<Vec<u8>> {
    let place = paths::canonical(path).map_err(|source| Error::of_file(path, source))?;
    if !place.starts_with(root) {
        return Err(Diagnostic::PathEscapes(paths::path_text(path)).into());
    }
    open::read(&place, SymlinkPolicy::RefuseBelow(root), MAX_FILE_BYTES)
}

/// Returns the hash of a file's bytes in lower-case hex.
pub fn file_hash(bytes: &[u8]) -> String {
    hash::sha256(bytes)
}

/// Returns the hash over a skill's current files. Files whose length and times are known are not
/// read.
pub fn source_hash(files: &[SourceFile], known: &[IndexedFile]) -> Result<String> {
    let known: HashMap<&str, &IndexedFile> =
        known.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut hash = SourceHash::default();
    for file in files {
        match known.get(file.path.as_str()).filter(|known_file| file.is_unchanged_since(known_file))
        {
            Some(known) => hash.add(&file.path, &known.sha256),
            None => hash.add(&file.path, &file_hash(&file.read()?)),
        }
    }
    Ok(hash.finish())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::World;

    fn hash(world: &World) -> String {
        source_hash(&list(&world.path("s")).unwrap().files, &[]).unwrap()
    }

    #[test]
    fn the_hash_equals_that_of_the_original() {
        let world = World::new();
        for (path, content) in [
            ("s/SKILL.md", "one"),
            ("s/a-b.md", "two"),
            ("s/a/b.md", "three"),
            ("s/.hidden", "four"),
            ("s/.git/config", "five"),
        ] {
            world.write(path, content);
        }
        // Computed from the same files by an independent program.
        assert_eq!(
            hash(&world),
            "73754ad64b722130980b1eaa964251598b0dc8cc78dc99253d21142963ec1bef"
        );
    }

    #[test]
    fn only_content_names_and_presence_affect_the_hash() {
        let world = World::new();
        world.write("s/SKILL.md", "one");
        world.write("s/refs/a.md", "two");
        let first = hash(&world);
        world.write("s/.git/HEAD", "not seen");
        fs::create_dir(world.path("s/empty")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("SKILL.md", world.path("s/link.md")).unwrap();
        assert_eq!(hash(&world), first);
        let mut seen = vec![first.clone()];
        let mut check_new = |world: &World| {
            let next = hash(world);
            assert!(!seen.contains(&next));
            seen.push(next);
        };
        world.write("s/refs/a.md", "TWO");
        check_new(&world);
        fs::rename(world.path("s/refs/a.md"), world.path("s/refs/b.md")).unwrap();
        check_new(&world);
        world.write("s/.hidden", "");
        check_new(&world);
        fs::remove_file(world.path("s/.hidden")).unwrap();
        fs::rename(world.path("s/refs/b.md"), world.path("s/refs/a.md")).unwrap();
        world.write("s/refs/a.md", "two");
        assert_eq!(hash(&world), first);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_listed_separately_and_never_followed() {
        let world = World::new();
        world.write("s/SKILL.md", "one");
        world.write("elsewhere/x.md", "two");
        for (target, link) in [("../elsewhere", "s/out"), ("SKILL.md", "s/in.md"), ("..", "s/up")] {
            std::os::unix::fs::symlink(target, world.path(link)).unwrap();
        }
        let listing = list(&world.path("s")).unwrap();
        let files: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(files, ["SKILL.md"]);
        let links: Vec<&str> = listing.links.iter().map(|link| link.0.as_str()).collect();
        assert_eq!(links, ["in.md", "out", "up"]);
    }

    #[test]
    fn a_file_written_a_moment_ago_is_not_settled() {
        let world = World::new();
        world.write("s/SKILL.md", "one");
        let file = list(&world.path("s")).unwrap().files.remove(0);
        let written = UNIX_EPOCH + Duration::from_nanos(u64::try_from(file.ctime_ns).unwrap());
        assert!(!file.is_settled(written));
        assert!(!file.is_settled(written + FINE_TICK / 2));
        assert!(file.is_settled(written + COARSE_TICK * 2));
        // A time without a fraction means that the clock is coarse.
        let coarse = SourceFile { mtime_ns: 0, ctime_ns: 7_000_000_000, ..file };
        assert!(!coarse.is_settled(UNIX_EPOCH + Duration::from_secs(8)));
        assert!(coarse.is_settled(UNIX_EPOCH + Duration::from_secs(11)));
    }

    #[test]
    fn unchanged_files_are_not_read_and_changed_ones_are() {
        let world = World::new();
        world.write("s/SKILL.md", "one");
        let files = list(&world.path("s")).unwrap().files;
        let known = |is_settled, size_bytes| IndexedFile {
            path: "SKILL.md".into(),
            size_bytes,
            mtime_ns: files[0].mtime_ns,
            ctime_ns: files[0].ctime_ns,
            is_settled,
            sha256: "known".into(),
        };
        let from_known = {
            let mut hash = SourceHash::default();
            hash.add("SKILL.md", "known");
            hash.finish()
        };
        assert_eq!(source_hash(&files, &[known(true, 3)]).unwrap(), from_known);
        assert_eq!(source_hash(&files, &[known(false, 3)]).unwrap(), hash(&world));
        assert_eq!(source_hash(&files, &[known(true, 4)]).unwrap(), hash(&world));
    }
}
