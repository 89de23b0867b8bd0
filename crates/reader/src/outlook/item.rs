//! Collects the parts of an item: its properties, people and attachments, and the items attached to it.

use std::path::Path;

use super::id;
use super::properties::Properties;
use super::storage::{OutlookStorage, PropertyOwner};
use crate::error::FailureKind;
use crate::extract::protocol::ReadFailure;
use crate::limits;

/// How deep items are attached to items that are read. Each is written into the one that it is attached to.
const MAX_DEPTH: usize = 8;

/// Most people of an item: each is a folder of streams to read.
const MAX_PEOPLE: usize = 2_000;

/// A message, an appointment, a contact, a task or a note.
#[derive(Debug, Default)]
pub(super) struct OutlookItem {
    pub(super) properties: Properties,
    pub(super) people: Vec<Properties>,
    pub(super) files: Vec<OutlookFile>,
    /// How many attachments there are beyond the limit.
    pub(super) num_more_files: usize,
}

/// An attachment of an item.
#[derive(Debug)]
pub(super) struct OutlookFile {
    pub(super) properties: Properties,
    pub(super) object: AttachmentContent,
}

/// The content of an attachment.
#[derive(Debug)]
pub(super) enum AttachmentContent {
    /// A file, whose bytes are a property.
    Bytes,
    Item(Box<OutlookItem>),
    /// Why it is not read.
    Unread(&'static str),
}

impl OutlookItem {
    /// Reads the item of a file.
    pub(super) fn of(storage: &mut OutlookStorage<'_>) -> Result<Self, ReadFailure> {
        let item = Self::read(storage, Path::new("/"), PropertyOwner::Item, 0);
        let is_empty = item.files.is_empty()
            && ![id::CLASS, id::HEADERS, id::SUBJECT, id::BODY, id::PAGE, id::COMPRESSED_RTF]
                .iter()
                .any(|number| item.properties.bytes(*number).is_some());
        if is_empty {
            let detail = "there is no message of Outlook in it";
            return Err(ReadFailure::new(FailureKind::WrongFormat, detail));
        }
        Ok(item)
    }

    fn read(
        storage: &mut OutlookStorage<'_>,
        folder: &Path,
        owner: PropertyOwner,
        depth: usize,
    ) -> Self {
        let mut properties = storage.properties(folder, owner);
        properties.code_page = code_page(&properties);
        let mut item = Self { properties, ..Self::default() };
        for path in storage.children(folder, "__recip_version1.0_").iter().take(MAX_PEOPLE) {
            let person = storage.properties(path, PropertyOwner::PersonOrFile);
            item.people.push(item.with_code_page(person));
        }
        let attached = storage.children(folder, "__attach_version1.0_");
        item.num_more_files = attached.len().saturating_sub(limits::MEMBERS);
        for path in attached.iter().take(limits::MEMBERS) {
            let properties = storage.properties(path, PropertyOwner::PersonOrFile);
            let object = match storage.inner_item(path) {
                Some(_) if depth == MAX_DEPTH => {
                    AttachmentContent::Unread("messages are attached to messages too deeply")
                }
                Some(inner) => {
                    let inner = Self::read(storage, &inner, PropertyOwner::InnerItem, depth + 1);
                    AttachmentContent::Item(Box::new(inner))
                }
                None if storage.object(path).is_some() => {
                    AttachmentContent::Unread("it is an object of another program")
                }
                None if properties.bytes(id::DATA).is_some() => AttachmentContent::Bytes,
                None => AttachmentContent::Unread("its content is elsewhere"),
            };
            item.files.push(OutlookFile { properties: item.with_code_page(properties), object });
        }
        item
    }

    fn with_code_page(&self, mut properties: Properties) -> Properties {
        properties.code_page = self.properties.code_page;
        properties
    }
}

/// Returns the code page of the texts of an item; that of its page is also that of its texts if nothing else is stated.
fn code_page(properties: &Properties) -> i32 {
    let stated = properties.number(id::TEXT_CODE_PAGE).or(properties.number(id::PAGE_CODE_PAGE));
    stated.and_then(|stated| i32::try_from(stated).ok()).unwrap_or(0)
}
