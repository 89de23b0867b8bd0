//! Reads a saved web page (MHTML): the page in a message, and the pages that it shows in frames.
//!
//! An MHTML file is a MIME message (RFC 2557) whose parts are the page and what it shows.

use std::collections::HashSet;

use mail_parser::decoders::html::html_to_text;
use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders, PartType};

use super::{EarlyEnd, Emit, ReaderInput, html, mime};
use crate::document::{FileParts, WordAccount, WordDestination};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, ExtractedPage, ReadFailure, ReadingSummary};

/// Most pages in frames that are read; frames may show each other in a circle.
const MAX_FRAMES: usize = 100;

/// Types of parts that have no text, besides those of mail, by how they end, and what such a part is.
const FOR_PROGRAMS: [(&str, &str); 5] = [
    ("/css", "style"),
    ("javascript", "script"),
    ("ecmascript", "script"),
    ("json", "data"),
    ("/wasm", "script"),
];

/// Reads a saved page.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let repaired = mime::repair(input.bytes);
    let saved = MessageParser::default().parse(&*repaired.bytes);
    let saved = saved.as_ref().and_then(SavedPage::of);
    let saved = saved
        .ok_or_else(|| ReadFailure::new(FailureKind::WrongFormat, "there is no web page in it"))?;
    let frames = saved.frames();
    let mut further = ExtractedPage::default();
    for frame in &frames {
        let outcome =
            html::read(&ReaderInput { bytes: &saved.bytes(frame), ..*input }, &mut |line| {
                if let AnswerLine::Page(page) = line {
                    further.blocks.extend(page.blocks);
                    further.left_out.merge(&page.left_out);
                }
                Ok(())
            });
        // A frame is counted like any part, but the page can be read without it.
        drop(outcome);
    }
    let (parts, unread) = saved.account(&frames);
    further.left_out.merge(&unread);
    let mut tail =
        html::read(&ReaderInput { bytes: &saved.bytes(saved.main), ..*input }, &mut |line| {
            emit(match line {
                AnswerLine::Page(mut page) => {
                    page.blocks.append(&mut further.blocks);
                    page.left_out.merge(&further.left_out);
                    AnswerLine::Page(page)
                }
                line => line,
            })
        })?;
    tail.parts = parts;
    if repaired.is_cut_off {
        tail.warnings.push("the saved page is cut off: its last part has no end".to_owned());
    }
    Ok(tail)
}

/// A message with a page.
struct SavedPage<'a> {
    message: &'a Message<'a>,
    main: &'a MessagePart<'a>,
}

impl<'a> SavedPage<'a> {
    /// Finds the page in a message: the first one.
    fn of(message: &'a Message<'a>) -> Option<Self> {
        let main = message.parts.iter().find(|part| is_page(part))?;
        Some(Self { message, main })
    }

    /// Returns the bytes of a page. The encoding that the message states overrides that of the page.
    fn bytes(&self, part: &MessagePart<'_>) -> Vec<u8> {
        let states_charset =
            part.content_type().is_some_and(|kind| kind.attribute("charset").is_some());
        if states_charset {
            return mime::text(self.message, part).text.into_bytes();
        }
        mime::contents(self.message, part).into_owned()
    }

    /// Returns the parts that are pages in frames, first those of the page itself.
    fn frames(&self) -> Vec<&'a MessagePart<'a>> {
        let mut others: Vec<_> =
            self.message.parts.iter().filter(|part| is_page(part)).skip(1).collect();
        let mut frames = Vec::new();
        let mut at = self.main;
        // Frames have frames.
        for next in 0..=MAX_FRAMES {
            if others.is_empty() {
                break;
            }
            let addresses = self.addresses_of_frames(at);
            let (found, left) = others.into_iter().partition(|part| is_at(part, &addresses));
            frames.extend::<Vec<_>>(found);
            others = left;
            let Some(frame) = frames.get(next) else { break };
            at = frame;
        }
        frames.truncate(MAX_FRAMES);
        frames
    }

    /// Returns the addresses of the frames of a page, without places in them.
    fn addresses_of_frames(&self, page: &MessagePart<'_>) -> HashSet<String> {
        let addresses = html::frames(&mime::text(self.message, page).text).into_iter();
        addresses.map(|address| address.split('#').take(1).collect()).collect()
    }

    /// Counts the parts, and the words of those that are not read.
    fn account(&self, frames: &[&MessagePart<'_>]) -> (FileParts, WordAccount) {
        let (mut parts, mut words) = (FileParts::default(), WordAccount::default());
        let leaves =
            self.message.parts.iter().filter(|part| !matches!(part.body, PartType::Multipart(_)));
        for part in leaves {
            let is_read = [self.main].iter().chain(frames).any(|read| std::ptr::eq(*read, part));
            let media_type = mime::media_type(part);
            let for_programs = FOR_PROGRAMS.iter().find(|(end, _)| media_type.ends_with(end));
            let without_text =
                mime::without_text(&media_type).or(for_programs.map(|(_, kind)| *kind));
            if is_read {
                parts.add_read();
            } else if let Some(kind) = without_text {
                parts.add_without_text(kind);
            } else {
                if media_type.starts_with("text/") || is_page(part) {
                    words.add(
                        WordDestination::Unread,
                        &html_to_text(&mime::text(self.message, part).text),
                    );
                }
                let name =
                    part.content_location().or(part.attachment_name()).unwrap_or(&media_type);
                let size_bytes = mime::contents(self.message, part).len();
                let size_bytes = u64::try_from(size_bytes).unwrap_or(u64::MAX);
                parts.add_unread(name, size_bytes, "the page does not show it");
            }
        }
        (parts, words)
    }
}

/// Whether a part is at one of these addresses, as a page refers to it.
fn is_at(part: &MessagePart<'_>, addresses: &HashSet<String>) -> bool {
    let id = part.content_id().map(|id| format!("cid:{id}"));
    let location = part.content_location().map(|location| location.trim().to_owned());
    id.iter().chain(&location).any(|own| addresses.contains(own))
        // Pages refer to others of their site without its address.
        || location.is_some_and(|location| {
            let path = location.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
            let path = path.map_or("", |(_, path)| path);
            let name = path.rsplit('/').next().unwrap_or_default();
            addresses.contains(path) || addresses.contains(&format!("/{path}")) || addresses.contains(name)
        })
}

fn is_page(part: &MessagePart<'_>) -> bool {
    ["text/html", "application/xhtml+xml"].contains(&mime::media_type(part).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::output_of;

    #[track_caller]
    fn check(kind: &str, encoding: &str, body: &[u8], expected: &[&str]) {
        let mut message = format!(
            "From: <Saved by a browser>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype=\"text/html\";\r\n\
             \tboundary=\"--x\"\r\n\r\nA message.\r\n----x\r\nContent-Type: image/png\r\n\r\nPNG\r\n----x\r\n\
             Content-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
        )
        .into_bytes();
        message.extend(body);
        message.extend(b"\r\n----x--\r\n");
        assert_eq!(output_of(read, &message).unwrap().1, expected);
    }

    #[test]
    fn the_page_in_a_message_is_read() {
        check(
            "text/html",
            "quoted-printable",
            b"<h1>Tide=\r\ns</h1><p title=3D\"a\">Gr=C3=BC=C3=9Fe",
            &["# Tides", "Grüße"],
        );
        check("text/html; charset=\"windows-1251\"", "8bit", b"<p>\xCF\xF0\xE8", &["При"]);
        check("TEXT/HTML", "base64", b"PHA+SGln\r\naCB3YXRlcg==", &["High water"]);
    }

    #[test]
    fn a_page_with_a_mistake_in_its_encoding_is_read() {
        check("text/html", "quoted-printable", b"<p>Gr=C3=BC=C3=9Fe = a=b", &["Grüße = a=b"]);
        check("text/html", "base64", b"PHA+SGln*\r\naCB3YXRlcg==", &["High water"]);
    }

    #[test]
    fn the_pages_that_fuzzing_begins_with_have_words() {
        let page = include_bytes!("../../../fuzz/corpus/mhtml/page");
        assert_eq!(output_of(read, page).unwrap().1, ["# Tides", "При"]);
        let nested = include_bytes!("../../../fuzz/corpus/mhtml/nested");
        assert_eq!(output_of(read, nested).unwrap().1, ["# Tides", "High water at ten."]);
    }

    #[test]
    fn a_message_without_a_page_is_refused() {
        let nested = "Content-Type: multipart/mixed; boundary=x\n\n--x\n".repeat(50);
        for message in ["", "words", "Content-Type: text/plain\n\nwords", &nested] {
            match output_of(read, message.as_bytes()) {
                Err(EarlyEnd::Failed(failed)) => {
                    assert_eq!(failed.failure, FailureKind::WrongFormat);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn frames_are_read_after_the_page_and_other_parts_are_counted() {
        let part = |headers: &str, body: &str| format!("--x\nContent-Type: {headers}\n\n{body}\n");
        let message = [
            "Content-Type: multipart/related; boundary=x\n\n".to_owned(),
            part(
                "text/html\nContent-Location: https://example.org/a",
                "<p>Tides<iframe src='cid:f@x'></iframe><iframe src='/g?a=1&amp;b=2'></iframe>",
            ),
            part(
                "text/html\nContent-ID: <f@x>",
                "<p>High water<iframe src='https://example.org/h#top'>",
            ),
            part("text/html\nContent-Location: https://example.org/lost", "<p>Not shown here"),
            part("text/html\nContent-Location: https://example.org/g?a=1&b=2", "<p>Low water"),
            part("text/html\nContent-Location: https://example.org/h", "<p>Slack water"),
            part("text/css\nContent-Location: cid:css@x", "p{}"),
            part("image/png", "PNG"),
            part("application/x-javascript", "a()"),
            part("application/octet-stream; name=a.bin", "b"),
            "--x--\n".to_owned(),
        ]
        .concat();
        let mut pages = Vec::new();
        let input = ReaderInput::of(message.as_bytes());
        let tail = read(&input, &mut |line| {
            if let AnswerLine::Page(page) = line {
                pages.push(page);
            }
            Ok(())
        })
        .unwrap();
        let [page] = pages.as_slice() else { panic!("{pages:?}") };
        let texts: Vec<&str> = page.blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(texts, ["Tides", "High water", "Low water", "Slack water"]);
        assert_eq!(page.left_out.counts().collect::<Vec<_>>(), [(WordDestination::Unread, 3)]);
        let unread: Vec<_> = tail.parts.unread.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(unread, ["https://example.org/lost", "a.bin"]);
        assert_eq!((tail.parts.num_read, tail.parts.num_parts()), (4, 9));
    }
}
