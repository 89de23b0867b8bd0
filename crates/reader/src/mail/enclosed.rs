//! Takes files out of the text of a message that old programs put into it: uuencode, yEnc, and what PGP writes.

use crate::mime;

/// A text without the files in it.
#[derive(Debug, Default)]
pub(super) struct OpenedText {
    pub(super) text: String,
    pub(super) files: Vec<EnclosedFile>,
}

/// A file in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EnclosedFile {
    pub(super) name: String,
    pub(super) kind: EnclosedKind,
    /// Whether it has an end.
    pub(super) is_complete: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum EnclosedKind {
    /// Its content.
    File(Vec<u8>),
    /// The kind of a file without text.
    WithoutText(&'static str),
    /// Why it is not read, and its encoded size.
    Unread { reason: &'static str, num_bytes: usize },
}

/// How a block of lines is encoded.
enum BlockEncoding {
    Uuencode,
    Base64,
    YEnc,
    /// The kind of block that PGP names: `MESSAGE`.
    Pgp(String),
}

/// A file that begins at a line.
struct FileBeginning {
    name: String,
    encoding: BlockEncoding,
}

/// Takes the files out of a text.
pub(super) fn open(text: &str) -> OpenedText {
    let mut opened = OpenedText::default();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        let Some(beginning) =
            FileBeginning::parse(line.trim_end(), next.trim_end_matches(['\r', '\n']))
        else {
            opened.text.push_str(line);
            continue;
        };
        let (mut body, mut is_complete) = (Vec::new(), false);
        while let Some(line) = lines.next_if(|line| beginning.encoding.has(line)) {
            let line = line.trim_end_matches(['\r', '\n']);
            if beginning.encoding.is_end(line) {
                is_complete = true;
                break;
            }
            body.push(line);
        }
        // A blank line keeps the paragraphs before and after it apart.
        opened.text.push_str("\n\n");
        opened.files.push(EnclosedFile {
            kind: beginning.encoding.decode(&body),
            name: beginning.name,
            is_complete,
        });
    }
    opened
}

impl FileBeginning {
    /// Parses the first line of a file. The next line shows that it is not prose.
    fn parse(line: &str, next: &str) -> Option<Self> {
        if let Some(head) = line.strip_prefix("=ybegin ") {
            let (_, name) = head.split_once("name=")?;
            return Some(Self { name: name.trim().to_owned(), encoding: BlockEncoding::YEnc });
        }
        if let Some(head) = line.strip_prefix("-----BEGIN PGP ") {
            let kind = head.strip_suffix("-----")?;
            // A signed message is followed by its text, not by armour.
            let is_armour = kind != "SIGNED MESSAGE";
            let encoding = BlockEncoding::Pgp(kind.to_owned());
            return is_armour
                .then(|| Self { name: format!("PGP {kind}").to_lowercase(), encoding });
        }
        let (start, encoding) = match line.strip_prefix("begin-base64 ") {
            Some(head) => (head, BlockEncoding::Base64),
            None => (line.strip_prefix("begin ")?, BlockEncoding::Uuencode),
        };
        let (mode, name) = start.split_once(' ')?;
        let is_mode =
            (3..=4).contains(&mode.len()) && mode.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
        let is_file = is_mode && !name.trim().is_empty() && encoding.has(next);
        is_file.then(|| Self { name: name.trim().to_owned(), encoding })
    }
}

impl BlockEncoding {
    /// Whether a line belongs to a file of this encoding.
    fn has(&self, line: &str) -> bool {
        let line = line.trim_end_matches(['\r', '\n']);
        match self {
            Self::Uuencode => self.is_end(line) || uuencoded(line).is_some(),
            Self::Base64 => {
                let mut bytes = line.trim_end().bytes();
                !line.is_empty()
                    && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
            }
            Self::YEnc => true,
            // Prose has blanks; the headers of a block have them after a colon.
            Self::Pgp(_) => {
                !line.trim_end().contains(' ') || line.contains(": ") || line.starts_with("-----")
            }
        }
    }

    fn is_end(&self, line: &str) -> bool {
        match self {
            Self::Uuencode => line.trim_end() == "end",
            Self::Base64 => line.trim_end() == "====",
            Self::YEnc => line.starts_with("=yend"),
            Self::Pgp(kind) => {
                let end = line.trim_end().strip_prefix("-----END PGP ");
                end.and_then(|end| end.strip_suffix("-----")) == Some(kind)
            }
        }
    }

    fn decode(&self, lines: &[&str]) -> EnclosedKind {
        let num_bytes = lines.iter().map(|line| line.len()).sum();
        match self {
            Self::Uuencode => {
                let bytes = lines.iter().filter_map(|line| uuencoded(line)).flatten();
                EnclosedKind::File(bytes.collect())
            }
            Self::Base64 => EnclosedKind::File(mime::base64(lines.concat().as_bytes())),
            // Its bytes are not those of a text, which changes them.
            Self::YEnc => EnclosedKind::Unread { reason: "it is encoded as yEnc", num_bytes },
            Self::Pgp(kind) if kind.contains("SIGNATURE") => EnclosedKind::WithoutText("signature"),
            Self::Pgp(kind) if kind.contains("KEY") => EnclosedKind::WithoutText("key"),
            Self::Pgp(_) => EnclosedKind::Unread { reason: "it is encrypted", num_bytes },
        }
    }
}

/// Decodes a line; `None` if it is not uuencoded. Blanks at its end may be missing, and a check character may follow.
fn uuencoded(line: &str) -> Option<Vec<u8>> {
    const GROUP: usize = 4;
    let (&first, data) = line.as_bytes().split_first()?;
    let len = usize::from(sextet(first)?);
    let num_data = len.div_ceil(3) * GROUP;
    let has_length = data.len() <= num_data + 2 && (data.len() + GROUP > num_data);
    let is_encoded = has_length && data.iter().all(|byte| sextet(*byte).is_some());
    if !is_encoded {
        return None;
    }
    let mut bytes = Vec::with_capacity(num_data);
    for group in data[..data.len().min(num_data)].chunks(GROUP) {
        // Blanks that are missing at the end of the line stand for zeros.
        let word = (0..GROUP).fold(0, |word, place| {
            let bits = group.get(place).and_then(|byte| sextet(*byte)).unwrap_or(0);
            word << 6 | u32::from(bits)
        });
        bytes.extend_from_slice(&word.to_be_bytes()[1..]);
    }
    bytes.truncate(len);
    Some(bytes)
}

/// Returns the six bits that a byte stands for.
fn sextet(byte: u8) -> Option<u8> {
    (b' '..=b'`').contains(&byte).then(|| (byte - b' ') & 0x3F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str, files: &[(&str, &str, bool)]) {
        let opened = open(text);
        assert_eq!(opened.text, expected);
        let found: Vec<_> = opened
            .files
            .iter()
            .map(|file| {
                let content = match &file.kind {
                    EnclosedKind::File(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    EnclosedKind::WithoutText(kind) => (*kind).to_owned(),
                    EnclosedKind::Unread { reason, .. } => (*reason).to_owned(),
                };
                (file.name.as_str(), content, file.is_complete)
            })
            .collect();
        let found: Vec<_> =
            found.iter().map(|(name, content, end)| (*name, content.as_str(), *end)).collect();
        assert_eq!(found, files);
    }

    #[test]
    fn a_uuencoded_file_is_taken_out() {
        check(
            "Here.\n\nbegin 644 my cat.txt\n#0V%T\n`\nend\n\nAfter.\n",
            "Here.\n\n\n\n\nAfter.\n",
            &[("my cat.txt", "Cat", true)],
        );
        check(
            "begin-base64 644 a.txt\nQ2F0\n====\nAfter.",
            "\n\nAfter.",
            &[("a.txt", "Cat", true)],
        );
    }

    #[test]
    fn a_file_without_end_is_kept_as_far_as_it_goes() {
        check("begin 644 a.txt\n#0V%T\n", "\n\n", &[("a.txt", "Cat", false)]);
        check(
            "begin 644 a.txt\n#0V%T\nBut then prose.\n",
            "\n\nBut then prose.\n",
            &[("a.txt", "Cat", false)],
        );
    }

    #[test]
    fn prose_is_no_file() {
        let prose = "begin 100 repairs\nat once, and\nend\nbegin 12\n=ybegin soon\n-----BEGIN PGP SIGNED MESSAGE-----\n";
        check(prose, prose, &[]);
    }

    #[test]
    fn what_pgp_and_yenc_write_is_no_text() {
        check(
            "Text.\n-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----\n-- \nAda\n",
            "Text.\n\n\n-- \nAda\n",
            &[("pgp signature", "signature", true)],
        );
        check(
            "=ybegin line=128 size=3 name=a.bin\n\u{FFFD}m\n=yend size=3\nAfter.\n",
            "\n\nAfter.\n",
            &[("a.bin", "it is encoded as yEnc", true)],
        );
        check(
            "-----BEGIN PGP MESSAGE-----\n\nhQEM\n",
            "\n\n",
            &[("pgp message", "it is encrypted", false)],
        );
    }
}
