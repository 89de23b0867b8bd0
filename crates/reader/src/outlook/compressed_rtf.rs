//! Decompresses the RTF of a message (`LZFu`, MS-OXRTFCP).

/// Size of the head: the sizes, the kind, and a checksum.
const HEAD_BYTES: usize = 16;

/// The kinds of data.
const COMPRESSED: &[u8] = b"LZFu";
const UNCOMPRESSED: &[u8] = b"MELA";

/// Size of the dictionary, and its content before the first byte.
const DICTIONARY_BYTES: usize = 4096;
const DICTIONARY: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \
    \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \
    \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// Most bytes of the result: the file states its size, and a reference of two bytes stands for up to seventeen.
const MAX_BYTES: usize = 64 << 20;

/// Decompresses RTF, up to its end if it is cut off; `None` for data of another kind.
pub(super) fn decompress(data: &[u8]) -> Option<Vec<u8>> {
    let (head, body) = data.split_at_checked(HEAD_BYTES)?;
    // The kind is after the two sizes.
    match &head[8..12] {
        UNCOMPRESSED => Some(body.to_vec()),
        COMPRESSED => Some(expand(body)),
        _ => None,
    }
}

fn expand(data: &[u8]) -> Vec<u8> {
    let mut dictionary = [b' '; DICTIONARY_BYTES];
    dictionary[..DICTIONARY.len()].copy_from_slice(DICTIONARY);
    let mut end = DICTIONARY.len();
    let mut result = Vec::new();
    let mut rest = data.iter().copied();
    while let Some(control) = rest.next() {
        for bit in 0..8 {
            let Some(first) = rest.next() else { return result };
            if control & 1 << bit == 0 {
                result.push(first);
                dictionary[end] = first;
                end = (end + 1) % DICTIONARY_BYTES;
                continue;
            }
            let Some(second) = rest.next() else { return result };
            // A place of 12 bits, and a length of 4.
            let start = usize::from(first) << 4 | usize::from(second >> 4);
            let length = usize::from(second & 0x0F) + 2;
            if start == end || result.len() + length > MAX_BYTES {
                return result;
            }
            for at in start..start + length {
                let byte = dictionary[at % DICTIONARY_BYTES];
                result.push(byte);
                dictionary[end] = byte;
                end = (end + 1) % DICTIONARY_BYTES;
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first example of MS-OXRTFCP, 4.1.
    const EXAMPLE: &[u8] = &[
        0x2D, 0, 0, 0, 0x2B, 0, 0, 0, 0x4C, 0x5A, 0x46, 0x75, 0xF1, 0xC5, 0xC7, 0xA7, 0x03, 0x00,
        0x0A, 0x00, 0x72, 0x63, 0x70, 0x67, 0x31, 0x32, 0x35, 0x42, 0x32, 0x0A, 0xF3, 0x20, 0x68,
        0x65, 0x6C, 0x09, 0x00, 0x20, 0x62, 0x77, 0x05, 0xB0, 0x6C, 0x64, 0x7D, 0x0A, 0x80, 0x0F,
        0xA0,
    ];

    #[test]
    fn a_text_is_decompressed() {
        let expected = b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n";
        assert_eq!(decompress(EXAMPLE).unwrap(), expected);
        // If it is cut off, it is decompressed up to its end.
        assert!(expected.starts_with(&decompress(&EXAMPLE[..40]).unwrap()));
    }

    #[test]
    fn a_reference_may_overlap_what_it_writes() {
        // The second example: 4.2.
        let data = [
            0x1A, 0, 0, 0, 0x1C, 0, 0, 0, 0x4C, 0x5A, 0x46, 0x75, 0xE2, 0xD4, 0x4B, 0x51, 0x41,
            0x00, 0x04, 0x20, 0x57, 0x58, 0x59, 0x5A, 0x0D, 0x6E, 0x7D, 0x01, 0x0E, 0xB0,
        ];
        assert_eq!(decompress(&data).unwrap(), b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}");
    }

    #[test]
    fn other_data_is_not_decompressed() {
        let plain = [&[0; 8][..], b"MELA", &[0; 4], b"{\\rtf1 a}"].concat();
        assert_eq!(decompress(&plain).unwrap(), b"{\\rtf1 a}");
        assert_eq!(decompress(&[0; 20]), None);
        assert_eq!(decompress(b"short"), None);
    }
}
