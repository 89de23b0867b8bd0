//! Finds numbers that are written in groups, and returns each as one term. Pure.
//!
//! People write and type the same number in other groups: `1,234,567`, `DE12 5001 0517 0648 4898 90`, `+49 30 1234-5678`.
//! Only what has the form of one thing is joined, and never dates, ranges, addresses or numbers of neighbouring columns.

use std::ops::Range;

/// A number in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedNumber {
    /// Where it is written.
    pub bytes: Range<usize>,
    /// Its digits and letters, in small letters, without what is between them; of a telephone number the national part.
    pub term: String,
}

/// Returns the numbers of a text that are written in groups, and its telephone numbers; each as often as it occurs.
pub fn joined_numbers(text: &str) -> Vec<JoinedNumber> {
    let mut found = Vec::new();
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return found;
    }
    let groups = groups(text);
    let mut rest = 0;
    while rest < groups.len() {
        let line = NumberGroups { text, groups: &groups, first: rest };
        let kinds = [uuid, hardware_address, account, book, phone, thousands];
        match kinds.iter().find_map(|kind| kind(&line)) {
            Some(FoundNumber { term, num_groups }) => {
                let last = groups[rest + num_groups - 1];
                let bytes = line.start_of(groups[rest])..line.start_of(last) + last.len();
                found.extend(term.map(|term| JoinedNumber { bytes, term }));
                rest += num_groups;
            }
            None => rest += 1,
        }
    }
    found
}

/// A number that begins at a group.
struct FoundNumber {
    /// `None` if it is written as one.
    term: Option<String>,
    num_groups: usize,
}

/// The groups of letters and digits of a text from one of them on.
struct NumberGroups<'a> {
    text: &'a str,
    groups: &'a [&'a str],
    first: usize,
}

/// Returns the runs of letters and digits.
fn groups(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|group| !group.is_empty()).collect()
}

/// The longest number, in groups: an IBAN of 34 characters in groups of four, or pairs of digits.
const MAX_GROUPS: usize = 9;

impl<'a> NumberGroups<'a> {
    fn group(&self, number: usize) -> Option<&'a str> {
        self.groups.get(self.first + number).copied().filter(|group| group.is_ascii())
    }

    fn start_of(&self, group: &str) -> usize {
        group.as_ptr() as usize - self.text.as_ptr() as usize
    }

    /// Returns what is between a group and the next one; empty behind the last one.
    fn joint(&self, number: usize) -> &'a str {
        let next = self.groups.get(self.first + number + 1);
        match (self.groups.get(self.first + number), next) {
            (Some(group), Some(next)) => {
                &self.text[self.start_of(group) + group.len()..self.start_of(next)]
            }
            _ => "",
        }
    }

    /// Returns what is before the first group: all from the group before on.
    fn before(&self) -> &'a str {
        let start = match self.first.checked_sub(1).and_then(|before| self.groups.get(before)) {
            Some(before) => self.start_of(before) + before.len(),
            None => 0,
        };
        self.groups.get(self.first).map_or("", |group| &self.text[start..self.start_of(group)])
    }

    /// Whether a group follows another one directly behind a sign that also joins groups: it is in the middle of something. A
    /// colon also follows a word: `tel:030`.
    fn is_within(&self, signs: &[char]) -> bool {
        let before = self.before();
        let last = self.first.checked_sub(1).and_then(|last| self.groups.get(last));
        let is_joint = before.chars().nth(1).is_none() && before.starts_with(signs);
        is_joint && last.is_some_and(|last| before != ":" || is_hexadecimal(last))
    }

    /// Returns the groups with these lengths, joined, if the same sign is between them and not behind them.
    fn with_lengths(&self, lengths: &[usize], signs: &[char]) -> Option<String> {
        let joint = self.joint(0);
        let is_joint = joint.starts_with(signs) && joint.chars().nth(1).is_none();
        if !is_joint || self.is_within(signs) || self.joint(lengths.len() - 1) == joint {
            return None;
        }
        let mut term = String::new();
        for (number, length) in lengths.iter().enumerate() {
            let group = self.group(number).filter(|group| group.len() == *length)?;
            if number + 1 < lengths.len() && self.joint(number) != joint {
                return None;
            }
            term += &group.to_ascii_lowercase();
        }
        Some(term)
    }
}

fn is_hexadecimal(term: &str) -> bool {
    term.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_digits(term: &str) -> bool {
    term.bytes().all(|byte| byte.is_ascii_digit())
}

/// A UUID (RFC 9562).
fn uuid(line: &NumberGroups<'_>) -> Option<FoundNumber> {
    let term = line.with_lengths(&[8, 4, 4, 4, 12], &['-']).filter(|term| is_hexadecimal(term))?;
    Some(FoundNumber { term: Some(term), num_groups: 5 })
}

/// The address of a network device, in six pairs or three groups of four.
fn hardware_address(line: &NumberGroups<'_>) -> Option<FoundNumber> {
    let forms: [(&[usize], &[char]); 2] = [(&[2; 6], &[':', '-']), (&[4; 3], &['.'])];
    forms.iter().find_map(|(lengths, signs)| {
        let term = line.with_lengths(lengths, signs).filter(|term| is_hexadecimal(term))?;
        // Dates and times in a name are pairs of digits, too.
        let is_address = !is_digits(&term) || line.joint(0) == ":";
        is_address.then_some(FoundNumber { term: Some(term), num_groups: lengths.len() })
    })
}

/// An IBAN with valid check digits (ISO 13616), in groups of four.
fn account(line: &NumberGroups<'_>) -> Option<FoundNumber> {
    let first = line.group(0)?;
    let is_country = first.len() >= 4
        && first.bytes().take(2).all(|byte| byte.is_ascii_alphabetic())
        && is_digits(&first[2..4]);
    let mut term = String::new();
    let mut last = None;
    for number in (0..MAX_GROUPS).take_while(|_| is_country) {
        let Some(group) = line.group(number).filter(|group| number == 0 || group.len() <= 4) else {
            break;
        };
        term += &group.to_ascii_lowercase();
        // The shortest IBAN is that of Norway; ISO 13616 allows 34 characters.
        if (15..=34).contains(&term.len()) && remainder_97(&term) == 1 {
            last = Some((term.clone(), number + 1));
        }
        if group.len() != 4 || !matches!(line.joint(number), " " | "-" | "\u{a0}" | "\u{202f}") {
            break;
        }
    }
    let (term, num_groups) = last?;
    Some(FoundNumber { term: (num_groups > 1).then_some(term), num_groups })
}

/// Returns the remainder of an IBAN that is read as a number, its first four characters at the end and letters as 10 to 35.
fn remainder_97(iban: &str) -> u32 {
    let turned = iban.bytes().skip(4).chain(iban.bytes().take(4));
    turned.filter_map(|byte| char::from(byte).to_digit(36)).fold(0, |rest, value| {
        if value < 10 { (rest * 10 + value) % 97 } else { (rest * 100 + value) % 97 }
    })
}

/// An ISBN with a valid check digit (ISO 2108), in four or five groups, or with only the prefix apart.
fn book(line: &NumberGroups<'_>) -> Option<FoundNumber> {
    let joint = Some(line.joint(0)).filter(|joint| matches!(*joint, "-" | " " | "\u{2010}"))?;
    let mut term = String::new();
    for number in 0..5 {
        let group = line.group(number)?;
        term += &group.to_ascii_lowercase();
        let is_whole = match number {
            1 | 4 => term.len() == 13,
            3 => term.len() == 10,
            _ => false,
        };
        if is_whole && is_book(&term) {
            return Some(FoundNumber { term: Some(term), num_groups: number + 1 });
        }
        if line.joint(number) != joint {
            break;
        }
    }
    None
}

fn is_book(term: &str) -> bool {
    match term.len() {
        10 => weighted_sum(term, |place| 10 - place).is_some_and(|sum| sum % 11 == 0),
        13 => {
            (term.starts_with("978") || term.starts_with("979"))
                && weighted_sum(term, |place| 1 + 2 * (place % 2)).is_some_and(|sum| sum % 10 == 0)
        }
        _ => false,
    }
}

/// Returns the sum of the digits of an ISBN, each times the weight of its place; `None` if there are other characters.
fn weighted_sum(term: &str, weight: fn(u32) -> u32) -> Option<u32> {
    let products = (0..).zip(term.bytes()).map(|(place, byte)| {
        let digit = match byte {
            // The check digit of an ISBN with ten digits may be 10.
            b'x' if place == 9 && term.len() == 10 => 10,
            _ => char::from(byte).to_digit(10)?,
        };
        Some(weight(place) * digit)
    });
    products.sum()
}

/// Digits of a telephone number (ITU-T E.164), and of one without its area.
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 7..=15;

/// Signs between the groups of a telephone number.
const PHONE_JOINTS: [&str; 12] =
    [" ", "-", "/", ".", "\u{a0}", "\u{202f}", ") ", ")", " (", "(", " / ", "\u{2011}"];

/// A telephone number that begins with `+`, `0` or `(`; its term is the national part without the leading zero.
fn phone(line: &NumberGroups<'_>) -> Option<FoundNumber> {
    let first = line.group(0).filter(|group| is_digits(group))?;
    let before = line.before();
    let (is_abroad, is_in_brackets) = (before.ends_with('+'), before.ends_with('('));
    if !is_abroad && !is_in_brackets && !first.starts_with('0')
        || line.is_within(&['.', ',', '-', '/', ':', '\''])
        || is_in_brackets && !line.joint(0).starts_with(')')
        || line.follows_number()
    {
        return None;
    }
    let mut parts = vec![first];
    while let Some(group) = line.group(parts.len()).filter(|group| is_digits(group)) {
        let joint = line.joint(parts.len() - 1);
        // Only the area is in brackets, and a decimal part is no group.
        let is_late = joint.contains('(') && parts.len() > 1;
        let is_decimal = joint == "." && parts.len() > 1 && line.joint(0) != joint;
        if !PHONE_JOINTS.contains(&joint) || is_late || is_decimal {
            break;
        }
        parts.push(group);
    }
    let num_groups = parts.len();
    let num_digits: usize = parts.iter().map(|part| part.len()).sum();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    // A date has groups of these lengths: `30.11.2026`, `30.11`, `2026-11-30`.
    let is_date = matches!(lengths.as_slice(), [2, 2, 2 | 4] | [2, 2 | 4] | [4, 2, 2]);
    let is_decimal = first == "0" && !is_abroad || line.joint(0) == "." && num_groups == 2;
    // A single digit is no group, except a country code (`+1`) and the zero of `+44 (0) 20`.
    if !PHONE_DIGITS.contains(&num_digits)
        || num_groups > MAX_GROUPS
        || parts.iter().enumerate().any(|(number, part)| {
            part.len() == 1 && !(number == 0 && is_abroad) && !(*part == "0" && number == 1)
        })
        || !is_abroad && (is_date || is_decimal)
    {
        return None;
    }
    let digits = parts.concat();
    let abroad = if is_abroad { Some(digits.as_str()) } else { digits.strip_prefix("00") };
    let national = match abroad {
        None => digits.strip_prefix('0').unwrap_or(&digits),
        Some(abroad) => {
            let national = &abroad[country_len(abroad)..];
            national.strip_prefix('0').unwrap_or(national)
        }
    };
    let is_number = national.len() >= *PHONE_DIGITS.start() && !national.starts_with('0');
    let is_other = num_groups > 1 || national.len() < digits.len();
    (is_number && is_other).then(|| FoundNumber { term: Some(national.to_owned()), num_groups })
}

/// Country codes of two digits (ITU-T E.164); 1 and 7 have one, the others have three.
const TWO_DIGITS: &str = "20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 \
    66 81 82 84 86 90 91 92 93 94 95 98";

fn country_len(digits: &str) -> usize {
    match digits.get(..2) {
        Some(first) if first.starts_with(['1', '7']) => 1,
        Some(first) if TWO_DIGITS.split(' ').any(|known| known == first) => 2,
        _ => digits.len().min(3),
    }
}

/// Digits of a number that is written in groups of three; longer ones are no amounts.
const MAX_DIGITS: usize = 15;

/// Signs between groups of three digits.
const THOUSANDS: [&str; 8] = [",", ".", "'", "\u{2019}", " ", "\u{a0}", "\u{202f}", "\u{2009}"];

/// A whole number in groups of three. Digits after a decimal sign are not part of it.
fn thousands(line: &NumberGroups<'_>) -> Option<FoundNumber> {
    let first = line.group(0).filter(|group| is_digits(group) && group.len() <= 3)?;
    let joint = Some(line.joint(0)).filter(|joint| THOUSANDS.contains(joint))?;
    if first.starts_with('0') || line.is_within(&['.', ',', '-', '/', ':', '\'', '_', '\u{2019}']) {
        return None;
    }
    let mut term = first.to_owned();
    let mut num_groups = 1;
    while line.joint(num_groups - 1) == joint {
        let Some(group) = line.group(num_groups).filter(|group| group.len() == 3) else {
            // In "1,234, and", a word follows; "1,234,56" is a list.
            let goes_on = line.group(num_groups).is_some_and(|group| {
                is_digits(group) || joint != " " && group.starts_with(|c: char| c.is_ascii_digit())
            });
            if goes_on {
                return None;
            }
            break;
        };
        if !is_digits(group) {
            break;
        }
        term += group;
        num_groups += 1;
    }
    // With dots, four groups are an address of the network, and two a decimal fraction.
    let is_address = joint == "." && num_groups == 4;
    let is_fraction = joint == "." && num_groups == 2;
    // Numbers next to each other in a row look like groups, but have as many digits each.
    let is_pair = num_groups == 2 && first.len() == 3 && !term.ends_with("000");
    let is_row = joint == " " && (is_pair || line.follows_number());
    if num_groups < 2 || term.len() > MAX_DIGITS || is_address || is_fraction || is_row {
        return None;
    }
    Some(FoundNumber { term: Some(term), num_groups })
}

impl NumberGroups<'_> {
    /// Whether the group before is a number, with only a space between.
    fn follows_number(&self) -> bool {
        let before = self.first.checked_sub(1).and_then(|before| self.groups.get(before));
        self.before() == " " && before.is_some_and(|group| is_digits(group))
    }
}

#[cfg(test)]
mod tests;
