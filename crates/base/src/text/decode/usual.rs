//! Guesses an encoding by which letters are usual next to each other (`chardetng`).

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_8859_2, WINDOWS_1250, WINDOWS_1252, WINDOWS_1254, WINDOWS_1258};

use super::charset::Charset;
use super::western;
use crate::text::language::NaturalLanguage;

/// Bytes of a text whose language is recognised; more do not change the result.
const SAMPLE_BYTES: usize = 64 << 10;

/// Languages that some of them are usual for, the most usual first. A page of Dutch has few letters that tell, so it may
/// seem Baltic; `ő` and `ű` of Hungarian may seem to be `õ` and `û`.
const LATIN_OF_LANGUAGES: [(&str, &[&Encoding]); 4] = [
    ("da de es fi fr it nb nl pt sv", &[WINDOWS_1252]),
    ("cs hr hu pl ro sk sl", &[WINDOWS_1250, ISO_8859_2]),
    ("tr", &[WINDOWS_1254]),
    ("vi", &[WINDOWS_1258]),
];

/// Returns the encoding in which the letters of a text are usual next to each other. Encodings of Latin letters differ in
/// few letters, so among these the language of the text decides.
pub(super) fn guess(bytes: &[u8]) -> Charset {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    let found = detector.guess(None, Utf8Detection::Deny);
    if !Charset::Known(found).is_latin() {
        return Charset::Known(found);
    }
    western::older(bytes).unwrap_or_else(|| Charset::Known(by_language(bytes, found)))
}

/// Returns the encoding that is usual for the language of a text, if that is another one than was found.
fn by_language(bytes: &[u8], found: &'static Encoding) -> &'static Encoding {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let (text, _) = found.decode_without_bom_handling(sample);
    let language = NaturalLanguage::most_likely(&text).map(NaturalLanguage::code);
    let of_language = LATIN_OF_LANGUAGES.iter().find(|(codes, _)| {
        language.is_some_and(|language| codes.split(' ').any(|code| code == language))
    });
    match of_language {
        Some((_, encodings)) if !encodings.contains(&found) => encodings[0],
        _ => found,
    }
}
