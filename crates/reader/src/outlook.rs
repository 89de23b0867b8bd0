//! Reads items of Outlook (MSG): messages, appointments, contacts.
//!
//! An item is a compound file of properties. It is written as a message of MIME, which the reader of e-mail reads: a
//! message is the same document whichever program has saved it.

mod compressed_rtf;
mod field_text;
mod id;
mod item;
mod message;
mod people;
mod properties;
mod storage;

use super::{EarlyEnd, Emit, ReaderInput, mail};
use crate::extract::protocol::ReadingSummary;

use item::OutlookItem;
use message::ItemMessage;
use storage::OutlookStorage;

/// Reads an item, and emits its attachments as members.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut storage = OutlookStorage::open(input.bytes)?;
    let item = OutlookItem::of(&mut storage)?;
    let mut message = ItemMessage::of(&item);
    // The message has all its bytes again.
    drop(item);
    message.warnings.extend(storage.warning());
    mail::read_converted(&message.bytes, message.parts, message.warnings, emit)
}

#[cfg(test)]
mod tests;
