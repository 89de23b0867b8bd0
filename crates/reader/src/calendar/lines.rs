//! Parses the lines of calendars and contacts: properties, their parameters and values, in components.

use std::borrow::Cow;

use crate::text::decode;
use crate::writer::BlockWriter;
use crate::{html, mime};

/// A property and its value: `item1.TEL;TYPE=work:+49 40 1234`.
#[derive(Debug, Default)]
pub(super) struct ContentLine {
    /// Its name in capitals, without its group.
    pub(super) name: String,
    /// The group that ties it to other properties: `item1`; may be empty.
    pub(super) group: String,
    /// Names in capitals, and values without quotation marks.
    parameters: Vec<LineParameter>,
    /// Its value as written, but for the encoding of its bytes.
    pub(super) value: String,
}

#[derive(Debug)]
struct LineParameter {
    name: String,
    value: String,
}

/// The lines between `BEGIN` and `END`.
#[derive(Debug)]
pub(super) struct LineGroup {
    /// Its kind in capitals: `VEVENT`.
    pub(super) kind: String,
    pub(super) lines: Vec<ContentLine>,
}

/// The lines of a text in groups.
#[derive(Debug, Default)]
pub(super) struct LineGroups {
    pub(super) groups: Vec<LineGroup>,
    /// The lines of the components that contain them.
    pub(super) outer: Vec<ContentLine>,
    /// The lines of other nested components, such as alarms and time zones.
    pub(super) other: Vec<ContentLine>,
}

impl LineGroup {
    /// Returns the first line with a name.
    pub(super) fn first(&self, name: &str) -> Option<&ContentLine> {
        self.lines.iter().find(|line| line.name == name)
    }
}

impl ContentLine {
    /// Returns the first value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|parameter| parameter.name == name);
        found.map(|parameter| parameter.value.as_str())
    }

    /// Returns the types of a phone or address in small letters: `TYPE=work,voice`, `TYPE=WORK;TYPE=VOICE`, or only
    /// `;WORK;VOICE` (vCard 2.1).
    pub(super) fn types(&self) -> Vec<String> {
        let stated = self.parameters.iter().filter(|parameter| parameter.name == "TYPE");
        stated.flat_map(|parameter| parameter.value.split(',')).map(str::to_lowercase).collect()
    }

    /// Whether the value is the bytes of a file.
    pub(super) fn is_encoded(&self) -> bool {
        let encoding = self.parameter("ENCODING").unwrap_or_default();
        encoding.eq_ignore_ascii_case("b")
            || encoding.eq_ignore_ascii_case("base64")
            || self.value.starts_with("data:")
    }

    /// Returns the value as text.
    pub(super) fn text(&self) -> String {
        unescape(&self.value)
    }

    /// Returns the parts of a value with several, such as an address, as text.
    pub(super) fn fields(&self, separator: char) -> Vec<String> {
        let mut fields = vec![String::new()];
        let mut is_escaped = false;
        for c in self.value.chars() {
            if c == separator && !is_escaped {
                fields.push(String::new());
            } else if let Some(field) = fields.last_mut() {
                field.push(c);
            }
            is_escaped = c == '\\' && !is_escaped;
        }
        fields.iter().map(|field| unescape(field).trim().to_owned()).collect()
    }

    /// Returns the kind of the component that the line begins or ends.
    fn component_kind(&self) -> String {
        self.value.trim().to_ascii_uppercase()
    }

    /// Parses a line; `None` if it has no property.
    fn parse(line: &str) -> Option<Self> {
        let (head, value) = line.split_at_checked(end_of_head(line)?)?;
        let value = value.strip_prefix(':')?;
        let mut parts = split_unquoted(head, ';').into_iter();
        let name = parts.next()?;
        let (group, name) = name.rsplit_once('.').unwrap_or(("", name));
        if name.is_empty() || !name.chars().all(is_name_character) {
            return None;
        }
        let mut content =
            Self { name: name.to_ascii_uppercase(), group: group.to_owned(), ..Self::default() };
        content.parameters.extend(parts.map(LineParameter::parse));
        let is_quoted = content.parameter("ENCODING").is_some_and(is_quoted_printable);
        content.value = if is_quoted {
            let bytes = mime::quoted_printable(value.as_bytes());
            let charset = content.parameter("CHARSET").map(str::as_bytes);
            decode::decode_as(&bytes, charset).unwrap_or_default()
        } else {
            value.to_owned()
        };
        Some(content)
    }
}

impl LineParameter {
    fn parse(written: &str) -> Self {
        let (name, value) = match written.split_once('=') {
            Some((name, value)) => (name.trim().to_ascii_uppercase(), value),
            // Version 2.1 of vCard writes the value alone.
            None if is_quoted_printable(written) || written.eq_ignore_ascii_case("base64") => {
                ("ENCODING".to_owned(), written)
            }
            None => ("TYPE".to_owned(), written),
        };
        Self { name, value: value.replace('"', "").trim().to_owned() }
    }
}

fn is_quoted_printable(encoding: &str) -> bool {
    encoding.trim().eq_ignore_ascii_case("quoted-printable")
}

/// Returns where the value of a line begins: at the first colon outside quotation marks.
fn end_of_head(line: &str) -> Option<usize> {
    let mut is_quoted = false;
    line.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b':' && !is_quoted
    })
}

fn split_unquoted(text: &str, separator: char) -> Vec<&str> {
    let mut is_quoted = false;
    let parts = text.split(|c| {
        is_quoted ^= c == '"';
        c == separator && !is_quoted
    });
    parts.collect()
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// Replaces the escapes of line breaks and separators (RFC 5545, 3.3.11).
fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            ('\\', Some('n' | 'N')) => text.push('\n'),
            ('\\', Some(escaped @ (',' | ';' | ':' | '\\' | '"'))) => text.push(escaped),
            _ => {
                text.push(c);
                continue;
            }
        }
        chars.next();
    }
    text
}

/// Returns the lines of a text without the breaks that programs put into long ones.
fn unfold(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // Whether the last line ends with a soft break.
    let mut is_open = false;
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        match lines.last_mut() {
            Some(last) if is_open => {
                last.push_str("\r\n");
                last.push_str(line);
                is_open = line.ends_with('=');
            }
            Some(last) if line.starts_with([' ', '\t']) => last.push_str(&line[1..]),
            // Text after a line break that should be an escape.
            Some(last) if !line.trim().is_empty() && !is_property(line) => {
                last.push_str("\\n");
                last.push_str(line);
            }
            _ if line.trim().is_empty() => {}
            _ => {
                is_open = line.ends_with('=') && has_quoted_value(line);
                lines.push(line.to_owned());
            }
        }
    }
    lines
}

fn is_property(line: &str) -> bool {
    ContentLine::parse(line).is_some()
}

/// Whether the value of a line is quoted-printable.
fn has_quoted_value(line: &str) -> bool {
    let head = end_of_head(line).and_then(|end| line.get(..end)).unwrap_or_default();
    let mut parameters = head.split(';').skip(1);
    // vCard 2.1 also has the encoding alone, without `ENCODING=`.
    parameters
        .any(|parameter| is_quoted_printable(parameter.rsplit('=').next().unwrap_or_default()))
}

/// Returns the components of these kinds. None of them is inside another; other components nested in one are not part
/// of it.
pub(super) fn groups(text: &str, kinds: &[&str]) -> LineGroups {
    let mut found = LineGroups::default();
    let mut open: Option<LineGroup> = None;
    // How many components are open within that, and around it.
    let (mut num_within, mut num_around) = (0_usize, 0_usize);
    for line in unfold(text) {
        let Some(line) = ContentLine::parse(&line) else { continue };
        match (line.name.as_str(), &mut open) {
            ("BEGIN", _) if kinds.contains(&line.component_kind().as_str()) => {
                found.groups.extend(open.take());
                num_within = 0;
                open = Some(LineGroup { kind: line.component_kind(), lines: Vec::new() });
            }
            ("BEGIN", Some(_)) => num_within += 1,
            ("BEGIN", None) => num_around += 1,
            ("END", Some(group)) if num_within == 0 || line.component_kind() == group.kind => {
                found.groups.extend(open.take());
                num_within = 0;
            }
            ("END", Some(_)) => num_within -= 1,
            ("END", None) => num_around = num_around.saturating_sub(1),
            (_, Some(group)) if num_within == 0 => group.lines.push(line),
            (_, None) if num_around <= 1 => found.outer.push(line),
            _ => found.other.push(line),
        }
    }
    found.groups.extend(open);
    found
}

/// Returns the text of a description, which some programs write as a web page.
pub(super) fn without_tags(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    let is_page = ["<br", "</", "<html", "<p>"].iter().any(|tag| lower.contains(tag));
    if !is_page {
        return Cow::Borrowed(text);
    }
    let mut writer = BlockWriter::default();
    html::write_message(&text.replace('\n', "<br>"), &mut writer);
    let blocks: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
    Cow::Owned(blocks.join("\n\n"))
}
