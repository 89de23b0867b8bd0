//! Finds the files that Tesseract needs: itself, its loader, libraries and its data.
//!
//! It does not find out which libraries it needs: all that the loader of the system lists are readable.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::text::paths::resolved;
use kb_base::files::open::{SymlinkPolicy, list, open, read};

/// The files and folders that a program needs. Not all of them exist.
pub(super) struct ProgramFiles {
    /// The program, and the loader that the kernel starts with it.
    pub(super) started: Vec<PathBuf>,
    /// Libraries and data, and folders of them.
    pub(super) read: Vec<PathBuf>,
}

/// The devices that programs open in any case.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/urandom"];

/// Where the loader of glibc lists the libraries of the system.
const CACHE: &str = "/etc/ld.so.cache";

/// Where a loader without a cache, such as that of musl, looks for libraries.
const LIBRARIES: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"];

/// Folders in which each package has its own, and which have no secrets of users.
const STORES: [&str; 2] = ["/nix/store", "/gnu/store"];

/// Where distributions have the data of Tesseract, below `share`.
const DATA: [&str; 3] = ["tessdata", "tesseract", "tesseract-ocr"];

/// Where programs that are not of the system have their libraries, next to their own folder.
const OWN_LIBRARIES: [&str; 3] = ["lib", "lib64", "Cellar"];

/// Where programs of the system are: their libraries are in folders that also have other programs.
const SYSTEM: [&str; 2] = ["/", "/usr"];

impl ProgramFiles {
    pub(super) fn of(program: &Path) -> Self {
        let real = resolved(program);
        let mut read: Vec<PathBuf> = DEVICES.map(PathBuf::from).to_vec();
        read.extend([CACHE.into(), musl_folders()]);
        match cached_libraries() {
            Some(libraries) => read.extend(libraries),
            None => read.extend(LIBRARIES.map(PathBuf::from)),
        }
        read.extend(STORES.map(PathBuf::from).into_iter().filter(|store| real.starts_with(store)));
        for prefix in [program, &real].into_iter().filter_map(|path| path.parent()?.parent()) {
            read.extend(DATA.map(|name| prefix.join("share").join(name)));
            if !SYSTEM.contains(&prefix.to_str().unwrap_or_default()) {
                read.extend(OWN_LIBRARIES.map(|name| prefix.join(name)));
            }
        }
        read.extend(folders_in("LD_LIBRARY_PATH"));
        for folder in folders_in("TESSDATA_PREFIX") {
            read.extend(with_linked(folder.join("tessdata")));
            read.extend(with_linked(folder));
        }
        let loader = loader(&real);
        Self { started: [Some(real), loader].into_iter().flatten().collect(), read }
    }
}

/// Returns the absolute folders in a variable.
fn folders_in(variable: &str) -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where Tesseract and its libraries look")]
    let value = std::env::var_os(variable).unwrap_or_default();
    std::env::split_paths(&value).filter(|folder| folder.is_absolute()).collect()
}

/// Returns a folder and its entries: what is allowed is where they lead, and languages may be links.
fn with_linked(folder: PathBuf) -> Vec<PathBuf> {
    let entries = list(&folder, SymlinkPolicy::Follow).unwrap_or_default();
    let entries = entries.into_iter().map(|entry| folder.join(entry.name));
    let entries: Vec<PathBuf> =
        entries.filter(|path| path.extension() == Some(OsStr::new("traineddata"))).collect();
    [vec![folder], entries].concat()
}

/// Returns the file in which musl's loader reads other folders than its usual ones, if it exists.
fn musl_folders() -> PathBuf {
    format!("/etc/ld-musl-{}.path", std::env::consts::ARCH).into()
}

/// Returns the paths of the libraries in the cache of glibc's loader; `None` without such a cache.
fn cached_libraries() -> Option<Vec<PathBuf>> {
    /// Many times the size on large systems; bounds the memory of a process that has no limit yet.
    const MAX_BYTES: u64 = 64 << 20;
    libraries_in(&read(Path::new(CACHE), SymlinkPolicy::Follow, MAX_BYTES).ok()?)
}

/// Returns the paths in a cache: a head with the number of entries, entries with offsets from the head, and
/// texts (glibc, sysdeps/generic/dl-cache.h). Before glibc 2.32, a cache of the older format precedes it.
fn libraries_in(cache: &[u8]) -> Option<Vec<PathBuf>> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    const NUM_ENTRIES: usize = 20;
    const HEAD: usize = 48;
    const ENTRY: usize = 24;
    const PATH_OFFSET: usize = 8;
    let head = cache.windows(MAGIC.len()).position(|bytes| bytes == MAGIC)?;
    let cache = &cache[head..];
    let entries = cache.get(HEAD..)?.chunks_exact(ENTRY).take(number(cache, NUM_ENTRIES, 4)?);
    let paths = entries.filter_map(|entry| {
        let path = cache.get(number(entry, PATH_OFFSET, 4)?..)?.split(|byte| *byte == 0).next()?;
        Some(PathBuf::from(OsStr::from_bytes(path))).filter(|path| path.file_name().is_some())
    });
    Some(paths.filter(|path| path.is_absolute()).collect())
}

/// Returns the loader that a program names in its head (ELF, `PT_INTERP`); `None` if it is linked statically.
fn loader(program: &Path) -> Option<PathBuf> {
    const PT_INTERP: usize = 3;
    /// The number of bytes of an address, by the class of the file.
    const ADDRESS: [(u8, usize); 2] = [(1, 4), (2, 8)];
    let program = open(program, SymlinkPolicy::Follow).ok()?;
    // The head of a 32-bit file; what is needed of a 64-bit one is within it, too.
    let head = read_at(&program, 0, 52)?;
    if !head.starts_with(b"\x7FELF") {
        return None;
    }
    let (_, address) = ADDRESS.into_iter().find(|(class, _)| *class == head[4])?;
    // After the entry point come the offset of the segments, that of the sections, flags of four bytes, the
    // size of the head, and the size and number of the segments.
    let segments = number(&head, 24 + address, address)?;
    let sizes = 24 + 3 * address + 6;
    let head = read_at(&program, sizes, 4)?;
    let (size, count) = (number(&head, 0, 2)?, number(&head, 2, 2)?);
    let table = read_at(&program, segments, size.checked_mul(count)?)?;
    let segment =
        table.chunks_exact(size.max(1)).find(|row| number(row, 0, 4) == Some(PT_INTERP))?;
    // The offset is after the kind, the size in the file after two addresses more.
    let start = number(segment, address, address)?;
    let path = read_at(&program, start, number(segment, 4 * address, address)?)?;
    let path = path.split(|byte| *byte == 0).next()?;
    Some(PathBuf::from(OsStr::from_bytes(path))).filter(|path| path.is_absolute())
}

fn read_at(file: &impl FileExt, start: usize, len: usize) -> Option<Vec<u8>> {
    // The sizes are those that the file states.
    let mut bytes = vec![0; len.min(usize::from(u16::MAX))];
    file.read_exact_at(&mut bytes, u64::try_from(start).ok()?).ok()?;
    Some(bytes)
}

/// Returns the number with this many bytes, in the order of this machine.
fn number(bytes: &[u8], start: usize, len: usize) -> Option<usize> {
    let bytes = bytes.get(start..start.checked_add(len)?)?;
    match len {
        2 => Some(u16::from_ne_bytes(bytes.try_into().ok()?).into()),
        4 => u32::from_ne_bytes(bytes.try_into().ok()?).try_into().ok(),
        _ => u64::from_ne_bytes(bytes.try_into().ok()?).try_into().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_the_loaders_cache_are_read_whatever_it_contains() {
        let (first, second) = (b"libz.so.1\0/lib/libz.so.1\0", b"x\0lib/relative.so\0");
        let text = 48 + 2 * 24;
        let mut cache = b"ld.so-1.7.0glibc-ld.so.cache1.1".to_vec();
        cache.extend(2_u32.to_ne_bytes());
        cache.resize(11 + 48, 0);
        for path in [text + 10, text + first.len() + 2] {
            let mut entry = [0; 24];
            entry[8..12].copy_from_slice(&u32::try_from(path).unwrap().to_ne_bytes());
            cache.extend(entry);
        }
        cache.extend([&first[..], second].concat());
        assert_eq!(libraries_in(&cache).unwrap(), [Path::new("/lib/libz.so.1")]);
        for end in 0..cache.len() {
            // A path that is cut off is not there; a folder that is the root is no library.
            let cut = libraries_in(&cache[..end]).unwrap_or_default();
            assert!(cut.iter().all(|path| path.file_name().is_some()), "{cut:?}");
        }
        assert_eq!(libraries_in(b"none"), None);
    }

    /// A program with one segment, which names its loader, for addresses of this many bytes.
    fn program(address: usize) -> Vec<u8> {
        const LOADER: &[u8] = b"/lib/ld.so\0";
        let (head, segment) = (24 + 3 * address + 16, 8 * address);
        let mut bytes = vec![0; head + segment];
        let mut put = |start: usize, len: usize, value: usize| {
            let value = u64::try_from(value).unwrap();
            let value = match len {
                2 => u16::try_from(value).unwrap().to_ne_bytes().to_vec(),
                4 => u32::try_from(value).unwrap().to_ne_bytes().to_vec(),
                _ => value.to_ne_bytes().to_vec(),
            };
            bytes[start..start + len].copy_from_slice(&value);
        };
        put(24 + address, address, head);
        put(24 + 3 * address + 6, 2, segment);
        put(24 + 3 * address + 8, 2, 1);
        put(head, 4, 3);
        put(head + address, address, head + segment);
        put(head + 4 * address, address, LOADER.len());
        bytes[..4].copy_from_slice(b"\x7FELF");
        bytes[4] = if address == 8 { 2 } else { 1 };
        bytes.extend(LOADER);
        bytes
    }

    #[test]
    fn the_loader_is_the_one_that_the_program_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let of = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            loader(&path)
        };
        for address in [4, 8] {
            let program = program(address);
            assert_eq!(of(&program), Some("/lib/ld.so".into()), "{address}");
            for end in 0..program.len() - 1 {
                assert_eq!(of(&program[..end]), None, "{address}: {end}");
            }
        }
        assert_eq!(of(b"#!/bin/sh\n"), None);
        assert_eq!(of(&[&b"\x7FELF\x02"[..], &[0xFF; 200]].concat()), None);
    }
}
