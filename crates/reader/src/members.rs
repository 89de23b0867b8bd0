//! Unpacks ZIP archives, and sends the files in containers and documents within the limits.
//!
//! Names of members come from outside. A clean name is relative, has no `..` and no control
//! characters, and is unique in its container; a member without such a name is reported.

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::package_kind::kind_of;
use super::{EarlyEnd, Emit, ReaderInput, parts};
use crate::error::FailureKind;
use crate::extract::protocol::{
    AnswerLine, DocumentHead, MAX_NAME, MemberLine, ReadFailure, ReadingSummary, clean_name,
};
use crate::limits;
use crate::text::decode;

pub(crate) use crate::document::embedded_reference as reference;

/// Emits the files of a ZIP archive; folders and links are left out. For an office document or a book, emits only its
/// format.
pub(crate) fn of_zip(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    if let Some(kind) = kind_of(&mut parts::open(input.bytes)?) {
        let format = Some(kind.as_str().to_owned());
        emit(AnswerLine::Document(DocumentHead { format, ..DocumentHead::default() }))?;
        return Ok(ReadingSummary::default());
    }
    let mut archive = parts::open_zip(input.bytes)?;
    let names = names(&mut archive);
    let mut members = Members::new(emit);
    for (index, stated) in names.into_iter().enumerate() {
        let file = match archive.by_index(index) {
            Ok(file) => file,
            Err(error) => {
                members.failed(&stated, failure_of(&error), error.to_string())?;
                continue;
            }
        };
        if file.is_dir() || file.is_symlink() {
            continue;
        }
        members.add_from(&stated, file)?;
    }
    let start = usize::try_from(archive.central_directory_start()).unwrap_or(usize::MAX);
    for name in repeated_names(input.bytes.get(start..).unwrap_or_default()) {
        let detail = "a later member has the same name, and only the last one is read";
        members.failed(&name, FailureKind::Damaged, detail.into())?;
    }
    Ok(ReadingSummary::default())
}

/// Returns the names of the files in an archive. `zip` takes those without a flag for names of MS-DOS.
fn names(archive: &mut ZipArchive<Cursor<&[u8]>>) -> Vec<String> {
    let mut names = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let raw = archive.by_index_raw(index).ok().map(|file| file.name_raw().to_vec());
        names.push(raw.unwrap_or_else(|| {
            let name = archive.name_for_index(index).and_then(Result::ok).unwrap_or_default();
            name.into_owned().into_bytes()
        }));
    }
    decode::file_names(&names)
}

/// Returns the names that the directory of an archive lists again, once for each time; `zip` only
/// knows the last member of a name.
fn repeated_names(directory: &[u8]) -> Vec<String> {
    const HEAD: usize = 46;
    let (mut names, mut repeated) = (HashSet::new(), Vec::new());
    let mut rest = directory;
    while rest.starts_with(b"PK\x01\x02") && rest.len() >= HEAD {
        let number = |at: usize| usize::from(u16::from_le_bytes([rest[at], rest[at + 1]]));
        let (name, more) = (number(28), number(30) + number(32));
        let Some(name) = rest.get(HEAD..HEAD + name) else { break };
        if !names.insert(name) {
            repeated.push(String::from_utf8_lossy(name).into_owned());
        }
        rest = rest.get(HEAD + name.len() + more..).unwrap_or_default();
    }
    repeated
}

fn failure_of(error: &ZipError) -> FailureKind {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            FailureKind::EncryptionNotSupported
        }
        _ => FailureKind::Damaged,
    }
}

/// Sends members within the limits.
pub(crate) struct Members<'a, 'e> {
    emit: &'a mut Emit<'e>,
    names: HashSet<String>,
    /// The numbers that members of equal names got last.
    numbers: HashMap<String, usize>,
    bytes_left: u64,
}

impl<'a, 'e> Members<'a, 'e> {
    pub(crate) fn new(emit: &'a mut Emit<'e>) -> Self {
        let (names, numbers) = (HashSet::new(), HashMap::new());
        Self { emit, names, numbers, bytes_left: limits::MEMBER_BYTES }
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Result<(), EarlyEnd> {
        let bytes = bytes.into();
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let left = self.bytes_left.checked_sub(size);
        self.bytes_left =
            left.ok_or_else(|| ReadFailure::new(FailureKind::OutOfMemory, too_large()))?;
        let Some(clean) = clean_name(name) else {
            let detail = "its name points outside the archive or cannot be shown";
            return self.failed(name, FailureKind::Damaged, detail.into());
        };
        let name = self.take(&clean)?;
        let member = MemberLine { name, bytes, failed: None };
        Ok((self.emit)(AnswerLine::Member(member))?)
    }

    /// Adds a file, or reports that there is no room left for it.
    pub(crate) fn add_within_limit(&mut self, name: &str, bytes: &[u8]) -> Result<(), EarlyEnd> {
        if u64::try_from(bytes.len()).is_ok_and(|size| size <= self.bytes_left) {
            return self.add(name, bytes);
        }
        self.failed(name, FailureKind::OutOfMemory, too_large())
    }

    /// Adds the bytes that a reader of packed data returns, up to one more than the limit.
    pub(crate) fn add_from(&mut self, name: &str, reader: impl Read) -> Result<(), EarlyEnd> {
        let mut bytes = Vec::new();
        match reader.take(self.bytes_left.saturating_add(1)).read_to_end(&mut bytes) {
            Ok(_) => self.add(name, bytes),
            Err(error) => self.failed(name, FailureKind::Damaged, error.to_string()),
        }
    }

    /// Reports a member that cannot be unpacked.
    pub(crate) fn failed(
        &mut self,
        name: &str,
        failure: FailureKind,
        detail: String,
    ) -> Result<(), EarlyEnd> {
        let safe: String = name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
        let safe = safe.replace("..", "__").trim_start_matches(['/', '\\']).to_owned();
        let name = clean_name(&safe).unwrap_or_else(|| format!("member-{}", self.names.len() + 1));
        let name = self.take(&name)?;
        let failed = Some((failure.as_str().to_owned(), detail));
        Ok((self.emit)(AnswerLine::Member(MemberLine { name, bytes: Vec::new(), failed }))?)
    }

    /// Takes a name, with a number if an earlier member has it, as `kb convert` numbers its results.
    fn take(&mut self, name: &str) -> Result<String, EarlyEnd> {
        if self.names.len() >= limits::MEMBERS {
            let detail = format!("more than {} files in it", limits::MEMBERS);
            return Err(ReadFailure::new(FailureKind::OutOfMemory, detail).into());
        }
        let (stem, end) = match name.rsplit_once('.') {
            Some((stem, end)) if !stem.is_empty() && !end.is_empty() && !end.contains('/') => {
                (stem, format!(".{end}"))
            }
            _ => (name, String::new()),
        };
        let mut free = name.to_owned();
        let number = self.numbers.entry(name.to_owned()).or_insert(1);
        while !self.names.insert(free.clone()) {
            *number += 1;
            free = format!("{stem}~{number}{end}");
        }
        Ok(free)
    }
}

fn too_large() -> String {
    format!("more than {} MB unpacked", limits::MEMBER_BYTES >> 20)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    type Reader = fn(&ReaderInput<'_>, &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd>;

    /// Returns name and text of each member, or the code of its failure.
    pub(crate) fn members(
        read: Reader,
        bytes: &[u8],
    ) -> Result<Vec<(String, String)>, FailureKind> {
        let mut found = Vec::new();
        let input = ReaderInput::of(bytes);
        let outcome = read(&input, &mut |line| {
            if let AnswerLine::Member(MemberLine { name, bytes, failed }) = line {
                let text = failed.map(|(code, _)| code);
                found.push((name, text.unwrap_or_else(|| String::from_utf8(bytes).unwrap())));
            }
            Ok(())
        });
        match outcome {
            Ok(_) => Ok(found),
            Err(EarlyEnd::Failed(failed)) => Err(failed.failure),
            Err(EarlyEnd::Io(error)) => panic!("{error}"),
        }
    }

    pub(crate) fn names(read: Reader, bytes: &[u8]) -> Vec<String> {
        members(read, bytes).unwrap().into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn the_files_of_an_archive_have_clean_names() {
        let archive = parts::archive(&[
            ("docs/a.md", "alpha"),
            ("docs\\b.md", "beta"),
            ("/etc/passwd", "root"),
            ("./c.md", "gamma"),
            ("C:/d.md", "delta"),
            ("folder/", ""),
        ]);
        let found = names(of_zip, &archive);
        assert_eq!(found, ["docs/a.md", "docs/b.md", "etc/passwd", "c.md", "d.md"]);
    }

    #[test]
    fn a_name_that_leads_out_of_the_archive_is_reported() {
        let archive = parts::archive(&[("../../up.md", "x"), ("a.md", "alpha")]);
        let found = members(of_zip, &archive).unwrap();
        assert_eq!(found[0], ("__/__/up.md".into(), "damaged".into()));
        assert_eq!(found[1], ("a.md".into(), "alpha".into()));
    }

    #[test]
    fn a_name_that_comes_twice_gets_a_number() {
        let archive = parts::archive(&[("x/a.md", "1"), ("./x/a.md", "2"), ("x\\a.md", "3")]);
        assert_eq!(names(of_zip, &archive), ["x/a.md", "x/a~2.md", "x/a~3.md"]);
    }

    #[test]
    fn two_members_of_one_name_are_read_or_reported() {
        // The writer refuses equal names, so one is changed in both places where it is written.
        let archive = parts::archive(&[("dua.md", "first"), ("b.md", "x"), ("dup.md", "second")]);
        let found = members(of_zip, &renamed(&archive)).unwrap();
        let expected = [("b.md", "x"), ("dup.md", "second"), ("dup~2.md", "damaged")];
        let mut found: Vec<_> =
            found.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    /// Renames `dua.md` to `dup.md` in an archive.
    fn renamed(archive: &[u8]) -> Vec<u8> {
        let mut archive = archive.to_vec();
        for at in 0..archive.len().saturating_sub(6) {
            if archive[at..].starts_with(b"dua.md") {
                archive[at + 2] = b'p';
            }
        }
        archive
    }

    #[test]
    fn too_much_content_is_refused() {
        let zeros = "\0".repeat(usize::try_from(limits::MEMBER_BYTES).unwrap());
        let archive = parts::archive(&[("a.txt", "a"), ("b.txt", &zeros)]);
        assert_eq!(members(of_zip, &archive), Err(FailureKind::OutOfMemory));
    }

    #[test]
    fn the_limit_is_for_the_bytes_of_all_members_together() {
        let mut emit = |_: AnswerLine| Ok(());
        let mut members = Members::new(&mut emit);
        assert_eq!(members.bytes_left, limits::MEMBER_BYTES);
        members.bytes_left = 5;
        assert!(members.add("a", b"abc").is_ok());
        assert!(members.add("b", b"de").is_ok());
        assert!(members.add("c", b"").is_ok());
        assert!(members.add("d", b"f").is_err());
    }

    #[test]
    fn what_is_no_archive_is_damaged() {
        assert_eq!(members(of_zip, b"PK\x03\x04 and no more"), Err(FailureKind::Damaged));
    }
}
