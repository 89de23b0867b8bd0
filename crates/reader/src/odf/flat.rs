//! Takes a flat `OpenDocument` file apart: one XML text with all that are parts of an archive otherwise.

/// The parts of a flat file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FlatParts {
    pub(super) meta: String,
    pub(super) styles: String,
    /// The body, in which an object has a reference (`#0`) to its place in `objects`.
    pub(super) content: String,
    pub(super) objects: Vec<String>,
}

/// Whether bytes are a text that may be XML, and no archive.
pub(super) fn is_xml(bytes: &[u8]) -> bool {
    const BYTE_ORDER_MARKS: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xFE\xFF", b"\xFF\xFE"];
    let mark = BYTE_ORDER_MARKS.into_iter().find(|mark| bytes.starts_with(mark));
    let text = &bytes[mark.map_or(0, <[u8]>::len)..];
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace() && **byte != 0);
    first == Some(&b'<')
}

/// Returns the parts of a flat file; `None` for other XML.
pub(super) fn split(xml: &str) -> Option<FlatParts> {
    let root = find_element(xml, "office:document")?;
    let (_, text) = xml.split_at(root);
    let mut meta = String::new();
    // Pictures have no words.
    let text = replaced(text, "office:binary-data", |_| String::new());
    let text = replaced(&text, "office:meta", |found| {
        // Objects have metadata too, after that of the document.
        if meta.is_empty() {
            found.clone_into(&mut meta);
        }
        String::new()
    });
    let body = find_element(&text, "office:body");
    let (styles, body) = text.split_at(body.unwrap_or(text.len()));
    let mut objects = Vec::new();
    let body = replaced(body, "office:document", |found| {
        objects.push(found.to_owned());
        format!("<draw:object xlink:href='#{}'/>", objects.len() - 1)
    });
    const END: &str = "</office:body>";
    let end = body.rfind(END).map_or(body.len(), |at| at + END.len());
    // A text without a body is cut off before it.
    let content = if body.is_empty() { "<office:body>" } else { &body[..end] };
    Some(FlatParts { meta, styles: styles.to_owned(), content: content.to_owned(), objects })
}

/// Returns a text in which each element with this name is replaced; one that does not end reaches to the end.
fn replaced(text: &str, name: &str, mut replace: impl FnMut(&str) -> String) -> String {
    let end = format!("</{name}>");
    let (mut result, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = find_element(rest, name) {
        let (before, from) = rest.split_at(start);
        let len = from.find(&end).map_or(from.len(), |at| at + end.len());
        let (element, after) = from.split_at(len);
        result.push_str(before);
        result.push_str(&replace(element));
        rest = after;
    }
    result + rest
}

/// Returns where the first element with exactly this name starts that has content.
fn find_element(text: &str, name: &str) -> Option<usize> {
    let start = format!("<{name}");
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find(&start)?;
        let after = &text[at + start.len()..];
        let is_name = after.starts_with(|c: char| c == '>' || c.is_ascii_whitespace());
        let tag = after.split('>').next().unwrap_or_default();
        if is_name && !tag.ends_with('/') {
            return Some(at);
        }
        // Names within the tag are skipped.
        from = at + start.len() + if is_name { tag.len() } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_file_has_the_parts_of_an_archive() {
        let object = "<office:document office:mimetype='chart'><office:meta>x</office:meta></office:document>";
        let xml = format!(
            "<?xml version='1.0'?><office:document a='b'><office:meta><dc:title>T</dc:title></office:meta><office:styles/>\
             <office:body><text:p><draw:object>{object}</draw:object><draw:image><office:binary-data>QUJD</office:binary-data>\
             </draw:image></text:p></office:body></office:document>"
        );
        let parts = split(&xml).unwrap();
        assert_eq!(parts.meta, "<office:meta><dc:title>T</dc:title></office:meta>");
        assert_eq!(parts.styles, "<office:document a='b'><office:styles/>");
        assert_eq!(
            parts.content,
            "<office:body><text:p><draw:object><draw:object xlink:href='#0'/></draw:object><draw:image></draw:image></text:p>\
             </office:body>"
        );
        assert_eq!(parts.objects, [object.replace("<office:meta>x</office:meta>", "")]);
        assert_eq!(split("<office:document-content/>"), None);
    }

    #[test]
    fn a_cut_off_file_keeps_its_start() {
        assert_eq!(split("<office:document><office:meta>").unwrap().content, "<office:body>");
        let content = split("<office:document><office:body><text:p>a").unwrap().content;
        assert_eq!(content, "<office:body><text:p>a");
    }

    #[test]
    fn xml_begins_with_a_tag() {
        for xml in ["<a/>", "\u{FEFF}\n <a/>"] {
            assert!(is_xml(xml.as_bytes()));
        }
        assert!(is_xml(b"\xFF\xFE<\0a\0"));
        assert!(!is_xml(b"PK\x03\x04<a/>") && !is_xml(b""));
    }
}
