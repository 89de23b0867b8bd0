//! Reads properties out of a compound file (MS-OXMSG), within limits on the number of its streams and their bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use cfb::CompoundFile;

use super::id::{self, PropertyId};
use super::properties::Properties;
use crate::error::FailureKind;
use crate::extract::protocol::ReadFailure;
use crate::limits;

/// The stream with the table of properties.
const TABLE: &str = "__properties_version1.0";

/// How the name of a stream with one property begins; the number and the type of the property follow.
const STREAM: &str = "__substg1.0_";

/// Where the names of named properties are.
const NAMES: &str = "/__nameid_version1.0";

/// Most streams that are read. A message has about thirty, a person five and an attachment ten; each costs the time of
/// its chain of sectors, and a hostile file may state the same long chain for all of them.
const MAX_STREAMS: usize = 20_000;

/// Size of the entry of a name (MS-OXMSG 2.2.3.1.2), and the size of the id of a set of names.
const NAME_BYTES: usize = 8;
const SET_BYTES: usize = 16;

/// The sets of names that are read: appointments, tasks and addresses. Their ids differ in one byte.
const SETS: [u8; 3] = [0x02, 0x03, 0x04];
const SET_ID: [u8; SET_BYTES] = [0, 0x20, 6, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46];

/// The owner of properties, which determines the length of the head of their table (MS-OXMSG 2.4.1).
#[derive(Debug, Clone, Copy)]
pub(super) enum PropertyOwner {
    Item,
    InnerItem,
    PersonOrFile,
}

impl PropertyOwner {
    /// Returns the size of the head before its properties (MS-OXMSG 2.4.1).
    fn head_bytes(self) -> usize {
        match self {
            Self::Item => 32,
            Self::InnerItem => 24,
            Self::PersonOrFile => 8,
        }
    }
}

/// A compound file with an item of Outlook.
pub(super) struct OutlookStorage<'a> {
    file: CompoundFile<Cursor<Cow<'a, [u8]>>>,
    /// The ids used here for the named properties, by their ids in the file.
    names: HashMap<PropertyId, PropertyId>,
    streams_left: usize,
    bytes_left: u64,
    /// A description of the first damage.
    damage: Option<String>,
    /// Whether the end of the file is missing and zeros take its place.
    is_cut_off: bool,
}

impl<'a> OutlookStorage<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ReadFailure> {
        let mut opened = CompoundFile::open(Cursor::new(Cow::Borrowed(bytes)));
        let mut is_cut_off = false;
        if opened.is_err()
            && let Some(extended) = extended(bytes)
        {
            opened = CompoundFile::open(Cursor::new(Cow::Owned(extended)));
            is_cut_off = true;
        }
        let file =
            opened.map_err(|error| ReadFailure::new(FailureKind::Damaged, error.to_string()))?;
        if !file.is_stream(Path::new("/").join(TABLE)) {
            let detail = "there is no message of Outlook in it";
            return Err(ReadFailure::new(FailureKind::WrongFormat, detail));
        }
        let mut storage = Self {
            file,
            names: HashMap::new(),
            streams_left: MAX_STREAMS,
            bytes_left: limits::MEMBER_BYTES,
            damage: is_cut_off.then(|| "the file is cut off".to_owned()),
            is_cut_off,
        };
        storage.names = storage.names();
        Ok(storage)
    }

    /// Says what is wrong with the file, in one sentence; `None` if nothing is.
    pub(super) fn warning(self) -> Option<String> {
        self.damage.map(|detail| format!("a part of the message is damaged: {detail}"))
    }

    /// Returns the properties in a folder of the file.
    pub(super) fn properties(&mut self, folder: &Path, owner: PropertyOwner) -> Properties {
        let mut properties = Properties::default();
        let table = self.bytes(&folder.join(TABLE));
        let rows = table.get(owner.head_bytes()..).unwrap_or_default();
        properties.add_rows(rows, |number| self.number_of(number));
        for path in self.children(folder, STREAM) {
            if let Some((number, kind)) = stream_name(&path)
                && let Some(number) = self.number_of(number)
                && self.file.is_stream(&path)
            {
                properties.add(number, kind, self.bytes(&path));
            }
        }
        properties
    }

    /// Returns the paths in a folder whose names begin with some text, in order.
    pub(super) fn children(&self, folder: &Path, start: &str) -> Vec<PathBuf> {
        let Ok(entries) = self.file.read_storage(folder) else { return Vec::new() };
        let found = entries.filter(|entry| entry.name().starts_with(start));
        found.map(|entry| entry.path().to_owned()).collect()
    }

    /// Returns the folder of the attached item; `None` for an attachment that is not an item.
    pub(super) fn inner_item(&self, attachment: &Path) -> Option<PathBuf> {
        let folder = self.object(attachment)?;
        self.file.is_stream(folder.join(TABLE)).then_some(folder)
    }

    /// Returns the folder of an attachment that is not a file.
    pub(super) fn object(&self, attachment: &Path) -> Option<PathBuf> {
        let folder = attachment.join(format!("{STREAM}3701000D"));
        self.file.is_storage(&folder).then_some(folder)
    }

    /// Returns the id used here for a property; `None` for one that nothing here asks for.
    fn number_of(&self, number: PropertyId) -> Option<PropertyId> {
        if number >= id::FIRST_NAMED {
            return self.names.get(&number).copied();
        }
        id::ALL.contains(&number).then_some(number)
    }

    /// Returns the bytes of a stream, as far as they are there and within the limits.
    fn bytes(&mut self, path: &Path) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Ok(stream) = self.file.open_stream(path) else { return bytes };
        if self.streams_left == 0 || stream.len() > self.bytes_left {
            self.damage.get_or_insert_with(|| "it is too large".to_owned());
            return bytes;
        }
        self.streams_left -= 1;
        self.bytes_left -= stream.len();
        let len = stream.len();
        if let Err(error) = stream.take(len).read_to_end(&mut bytes) {
            self.damage.get_or_insert_with(|| error.to_string());
        }
        if self.is_cut_off {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            // A letter of Unicode may end in a zero.
            bytes.truncate(end.next_multiple_of(2));
        }
        bytes
    }

    /// Returns the ids used here for the named properties of the file (MS-OXMSG 2.2.3).
    fn names(&mut self) -> HashMap<PropertyId, PropertyId> {
        let folder = Path::new(NAMES);
        let sets = self.bytes(&folder.join(format!("{STREAM}00020102")));
        let entries = self.bytes(&folder.join(format!("{STREAM}00030102")));
        let mut names = HashMap::new();
        for entry in entries.chunks_exact(NAME_BYTES) {
            let word = |at: usize| u16::from_le_bytes([entry[at], entry[at + 1]]);
            let (name, is_high, flags, index) = (word(0), word(2), word(4), word(6));
            // A name is a text, or a number in one of the sets of the file, the first of which has number 3.
            let set = usize::from(flags >> 1).checked_sub(3);
            let is_known = flags & 1 == 0
                && is_high == 0
                && set.is_some_and(|set| is_known_set(sets.chunks_exact(SET_BYTES).nth(set)));
            if is_known && id::ALL.contains(&name) {
                names.insert(id::FIRST_NAMED.saturating_add(index), name);
            }
        }
        names
    }
}

/// Returns a file that is cut off with zeros up to the end of what its table of sectors is about; `None` for a file that
/// is not cut off, or whose head is damaged (MS-CFB 2.2).
fn extended(bytes: &[u8]) -> Option<Vec<u8>> {
    // The head states the size of sectors as a power of two: 512 or 4,096 bytes.
    let sector_bytes = match bytes.get(30..32)? {
        [9, 0] => 1_usize << 9,
        [12, 0] => 1 << 12,
        _ => return None,
    };
    let num_table_sectors = u32::from_le_bytes(*bytes.get(44..48)?.first_chunk()?);
    // A table has four bytes for each sector; the head of the file is before the first one.
    let num_sectors = usize::try_from(num_table_sectors).ok()?.checked_mul(sector_bytes / 4)?;
    let len = num_sectors.checked_add(1)?.checked_mul(sector_bytes)?;
    let is_cut_off = len > bytes.len() && u64::try_from(len).ok()? <= limits::MEMBER_BYTES;
    is_cut_off.then(|| {
        let mut extended = bytes.to_vec();
        extended.resize(len, 0);
        extended
    })
}

fn is_known_set(set: Option<&[u8]>) -> bool {
    set.is_some_and(|set| SETS.contains(&set[0]) && set[1..] == SET_ID[1..])
}

/// Returns the number and the type of the property in a stream.
fn stream_name(path: &Path) -> Option<(PropertyId, u16)> {
    let hex = path.file_name()?.to_str()?.strip_prefix(STREAM)?;
    let (number, kind) = (hex.get(..4)?, hex.get(4..8)?);
    let is_one = hex.len() == number.len() + kind.len();
    let number = u16::from_str_radix(number, 16).ok().filter(|_| is_one)?;
    Some((number, u16::from_str_radix(kind, 16).ok()?))
}
