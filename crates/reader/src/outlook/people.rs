//! Finds the names and addresses of people, and writes them as a message of MIME does.

use mail_parser::{Addr, Address};

use super::field_text::encoded_word;
use super::id::{self, PropertyId};
use super::properties::Properties;

/// The person in whose name a message was sent, and the one who sent it.
const REPRESENTED: PersonIds = PersonIds {
    name: id::REPRESENTED_NAME,
    addresses: [id::REPRESENTED_MAIL_ADDRESS, id::REPRESENTED_ADDRESS],
};
const SENDER: PersonIds =
    PersonIds { name: id::SENDER_NAME, addresses: [id::SENDER_MAIL_ADDRESS, id::SENDER_ADDRESS] };

pub(super) const RECIPIENT: PersonIds =
    PersonIds { name: id::NAME, addresses: [id::MAIL_ADDRESS, id::ADDRESS] };

/// The properties with the name and the addresses of a person.
pub(super) struct PersonIds {
    name: PropertyId,
    addresses: [PropertyId; 2],
}

/// A person, of whom the name or the address is known.
#[derive(Debug)]
pub(super) struct MailPerson {
    name: Option<String>,
    address: Option<String>,
}

impl MailPerson {
    pub(super) fn of(properties: &Properties, ids: &PersonIds) -> Option<Self> {
        let name = properties.text(ids.name);
        let addresses = ids.addresses.iter().filter_map(|address| properties.text(*address));
        // Others are addresses within a company, which say nothing outside.
        let address = addresses.into_iter().find(|address| is_address(address));
        (name.is_some() || address.is_some()).then_some(Self { name, address })
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        let name = Some(name.trim()).filter(|name| !name.is_empty())?;
        Some(Self { name: Some(name.to_owned()), address: None })
    }

    /// Returns it as it is written in a field.
    pub(super) fn to_field(&self) -> String {
        // Some programs write a name in quotes.
        let name = self.name.as_deref().map(|name| name.trim_matches(['\'', '"', ' ']));
        match (name.filter(|name| !name.is_empty()), &self.address) {
            (Some(name), Some(address)) if name != address => {
                format!("{} <{address}>", encoded_word(name))
            }
            (_, Some(address)) => address.clone(),
            (name, None) => encoded_word(name.unwrap_or_default()),
        }
    }

    fn of_header(person: &Addr<'_>) -> Option<Self> {
        let address = person.address().filter(|address| is_address(address)).map(str::to_owned);
        let name = person.name().map(str::to_owned);
        (name.is_some() || address.is_some()).then_some(Self { name, address })
    }
}

/// Returns from whom a message is, one person at most: the first whose address is known, else the first. `stated` are
/// those in the head that a mail server wrote.
pub(super) fn sender(properties: &Properties, stated: Vec<MailPerson>) -> Vec<MailPerson> {
    let represented = MailPerson::of(properties, &REPRESENTED);
    let sender = MailPerson::of(properties, &SENDER);
    let mut people: Vec<_> = represented.into_iter().chain(stated).chain(sender).collect();
    let chosen = people.iter().position(|person| person.address.is_some()).unwrap_or(0);
    people.drain(..chosen.min(people.len()));
    people.truncate(1);
    people
}

pub(super) fn people_of(address: Option<&Address<'_>>) -> Vec<MailPerson> {
    let people = address.into_iter().flat_map(Address::iter);
    people.filter_map(MailPerson::of_header).collect()
}

fn is_address(text: &str) -> bool {
    let mut characters = text.chars();
    text.contains('@')
        && characters.all(|c| !c.is_whitespace() && !c.is_control() && !"<>,;:\"()".contains(c))
}
