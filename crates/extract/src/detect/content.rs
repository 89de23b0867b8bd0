//! Recognises documents by their content alone, for names that promise no single format: programs save web pages,
//! mail, tables and plain text under the names of office files.

use super::magic::{is_surely_pdf, office, picture};
use crate::document::{Data, Dialect, Format, Headed};
use crate::text::decode;

/// Extensions of old and binary office files, which hold many things; in lower case.
const OLD_NAMES: &[&str] = &["doc", "dot", "wps", "xls", "xlt", "xlsb", "ppt", "pps", "pot"];

/// How HTML begins, in lower case, behind comments. Programs that export tables leave out the root.
const HTML_STARTS: &[&str] = &[
    "<!doctype html", "<html", "<head", "<body", "<meta", "<title", "<style", "<table", "<div",
    "<p>",
];

/// Lines of a table that are compared: text has the same number of commas in a few lines by chance, but not in so
/// many.
const TABLE_LINES: usize = 20;

/// Whether a file with this extension is an office file of old, which may hold anything.
pub(super) fn is_old_name(extension: &str) -> bool {
    OLD_NAMES.contains(&extension)
}

/// Returns the format of a document by its first bytes; `None` for binary data that nothing reads. Any text has a
/// format, if only that of plain text.
pub(super) fn by_content(head: &[u8]) -> Option<Format> {
    let head = &head[..head.len().min(decode::HEAD_BYTES)];
    if is_surely_pdf(head) {
        return Some(Format::Pdf);
    }
    if let Some(format) = office(head).or_else(|| picture(head).map(Format::Image)) {
        return Some(format);
    }
    let text = decode::decode(head)?;
    Some(
        markup(&text)
            .or_else(|| cards(&text))
            .or_else(|| message(&text))
            .or_else(|| table(&text))
            .unwrap_or(Format::Text),
    )
}

/// Whether text begins with a list of conversations.
pub(super) fn is_list_of_chats(head: &[u8]) -> bool {
    let text = decode::decode(&head[..head.len().min(decode::HEAD_BYTES)]).unwrap_or_default();
    let has_messages = ["\"mapping\":", "\"chat_messages\":"].iter().any(|key| text.contains(key));
    text.trim_start().starts_with('[') && has_messages
}

/// Returns the format of text that begins with a tag.
fn markup(text: &str) -> Option<Format> {
    let mut rest = text.trim_start();
    let is_xml = rest.starts_with("<?xml");
    // Declarations and comments before the root.
    while let Some(end) = [("<?", "?>"), ("<!--", "-->")]
        .iter()
        .find_map(|(start, end)| rest.strip_prefix(start)?.split_once(end))
    {
        rest = end.1.trim_start();
    }
    let start = rest.get(..rest.floor_char_boundary(16)).unwrap_or_default().to_ascii_lowercase();
    if HTML_STARTS.iter().any(|tag| start.starts_with(tag)) {
        return Some(Format::Headed(Headed::Html));
    }
    // A document type names the root.
    let tag = rest.strip_prefix("<!DOCTYPE").map(str::trim_start).or(rest.strip_prefix('<'))?;
    let root = tag.split(|c: char| c.is_whitespace() || c == '>').next()?;
    let root = root.rsplit(':').next().unwrap_or_default();
    match root {
        "document" if text.contains("opendocument.text") => Some(Format::Headed(Headed::Odt)),
        "document" if text.contains("opendocument.spreadsheet") => {
            Some(Format::Headed(Headed::Ods))
        }
        "document" if text.contains("opendocument.presentation") => {
            Some(Format::Headed(Headed::Odp))
        }
        "FictionBook" => Some(Format::Headed(Headed::Fb2)),
        "en-export" => Some(Format::Headed(Headed::Enex)),
        "mxfile" | "mxGraphModel" => Some(Format::Headed(Headed::Drawio)),
        _ if rest.contains("//DTD DITA ") || rest.contains("//DTD LIGHTWEIGHT DITA ") => {
            Some(Format::Headed(Headed::Dita))
        }
        "Workbook" if text.contains("urn:schemas-microsoft-com:office:spreadsheet") => {
            Some(Format::Headed(Headed::SpreadsheetXml))
        }
        _ => is_xml.then_some(Format::Data(Data::Xml)),
    }
}

/// Returns the format of text that begins with a calendar or a contact.
fn cards(text: &str) -> Option<Format> {
    let first = text.trim_start().lines().next()?.trim_end().to_ascii_uppercase();
    match first.as_str() {
        "BEGIN:VCALENDAR" => Some(Format::Headed(Headed::Calendar)),
        "BEGIN:VCARD" => Some(Format::Headed(Headed::Contacts)),
        _ => None,
    }
}

/// Returns the format of text that begins with the head of a message.
fn message(text: &str) -> Option<Format> {
    let head = text.split("\n\n").next().unwrap_or_default().to_ascii_lowercase();
    let has_origin =
        has_field(&head, "from") && (has_field(&head, "subject") || has_field(&head, "date"));
    if !has_field(&head, "mime-version") && !has_origin {
        return None;
    }
    let is_page = head.contains("multipart/related") && !has_field(&head, "received");
    Some(Format::Headed(if is_page { Headed::Mhtml } else { Headed::Eml }))
}

fn has_field(head: &str, field: &str) -> bool {
    head.lines().any(|line| line.strip_prefix(field).is_some_and(|rest| rest.starts_with(':')))
}

/// Returns the format of a table whose lines have equal numbers of separators.
fn table(text: &str) -> Option<Format> {
    // The last line may be cut off.
    let mut lines: Vec<&str> = text.split('\n').take(TABLE_LINES + 1).collect();
    if lines.len() > 2 {
        lines.pop();
    }
    lines.retain(|line| !line.trim().is_empty());
    match () {
        // Tabs come first, as the cells of such a table may have commas.
        () if is_separated(&lines, '\t') => Some(Format::Dialect(Dialect::Tsv)),
        () if is_separated(&lines, ';') || is_separated(&lines, ',') => {
            Some(Format::Dialect(Dialect::Csv))
        }
        () => None,
    }
}

/// Whether each line has the same number of separators, and at least one.
fn is_separated(lines: &[&str], separator: char) -> bool {
    let mut counts = lines.iter().map(|line| line.matches(separator).count());
    let first = counts.next().unwrap_or(0);
    lines.len() > 1 && first > 0 && counts.all(|count| count == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &[u8], expected: Option<&str>) {
        let found = by_content(head);
        assert_eq!(found.map(Format::as_str), expected, "{}", String::from_utf8_lossy(head));
    }

    #[test]
    fn pages_that_programs_export_are_web_pages() {
        check(b"<html xmlns:o='x'><body>Leave", Some("html"));
        check(b"\xEF\xBB\xBF<!-- saved --> <META charset=utf-8><table><tr>", Some("html"));
        check(b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC 'x'>", Some("html"));
        let wide: Vec<u8> =
            "\u{FEFF}<table><tr><td>Hull".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&wide, Some("html"));
    }

    #[test]
    fn xml_is_what_its_root_is() {
        let flat = "<?xml version='1.0'?><office:document \
                    office:mimetype='application/vnd.oasis.opendocument.text'>";
        check(flat.as_bytes(), Some("odt"));
        check(b"<?xml version='1.0'?><?mso x?><w:wordDocument>", Some("xml"));
        check(b"<?xml version='1.0'?><FictionBook>", Some("fb2"));
        check(b"<?xml version='1.0'?><!DOCTYPE en-export SYSTEM 'x'><en-export>", Some("enex"));
        check(b"<mxfile host='x'><diagram>", Some("drawio"));
        let topic = "<!DOCTYPE task PUBLIC \"-//OASIS//DTD DITA Task//EN\" \"task.dtd\"><task>";
        check(topic.as_bytes(), Some("dita"));
        let excel = "<?xml version=\"1.0\"?><?mso-application progid=\"Excel.Sheet\"?>\n\
                     <Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">";
        check(excel.as_bytes(), Some("spreadsheetml"));
    }

    #[test]
    fn calendars_and_contacts_have_a_first_line() {
        check(b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", Some("ics"));
        check(b"\xEF\xBB\xBFbegin:vcard\nVERSION:3.0\n", Some("vcf"));
        check(b"##fileformat=VCFv4.2\n#CHROM\tPOS\n", Some("text"));
    }

    #[test]
    fn messages_and_saved_pages_have_a_head() {
        let saved = b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x";
        check(saved, Some("mhtml"));
        check(b"From: a@b\nSubject: Ropes\n\nHello", Some("eml"));
        check(b"From: the office\nto the quay\n", Some("text"));
    }

    #[test]
    fn a_table_has_the_same_separators_in_each_line() {
        check(b"Plant\tStock\nHull\t318\n", Some("tsv"));
        check(b"Plant;Stock\nHull;318\n", Some("csv"));
        check(b"Rope, oil and paint\nare in the shed.\n", Some("text"));
        let wide: Vec<u8> =
            "Plant\tStock\nHull\t3".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&wide, Some("tsv"));
    }

    #[test]
    fn a_list_of_chats_says_so_at_its_beginning() {
        assert!(is_list_of_chats(b" [{\"title\": \"a\", \"mapping\": {"));
        assert!(is_list_of_chats(b"[{\"name\":\"a\",\"chat_messages\":["));
        assert!(!is_list_of_chats(b"{\"title\": \"a\", \"mapping\": {"));
        assert!(!is_list_of_chats(b"[{\"title\": \"mapping\"}]"));
    }

    #[test]
    fn binary_data_has_no_format_here() {
        check(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0", None);
        check(b"{\\rtf1 words}", Some("rtf"));
        check(b"%PDF-1.4\n", Some("pdf"));
    }
}
