//! Recognises the natural language of a text, and stems words of other languages than English.
//!
//! English is stemmed by FTS5's own tokenizer (`stem` repeats it). For other languages Snowball has
//! stemmers; what they find is a separate part of the keyword index (`store/keyword/grams.rs`).

use snowball_stemmers_rs::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use whatlang::Lang;

use crate::text::scripts;

/// Bytes of a text that are looked at; more do not change the result.
const SAMPLE_BYTES: usize = 4096;

/// Fewer letters are not enough to tell a language: names, commands and titles look like any.
const MIN_LETTERS: usize = 60;

/// Longer words keep their endings, as in FTS5.
const MAX_WORD_BYTES: usize = 64;

/// The languages that Snowball has a stemmer for and that can be recognised, except English and the
/// languages of India, whose words FTS5 divides at marks.
const STEMMERS: &[(Lang, Algorithm)] = &[
    (Lang::Ara, Algorithm::Arabic),
    (Lang::Cat, Algorithm::Catalan),
    (Lang::Ces, Algorithm::Czech),
    (Lang::Dan, Algorithm::Danish),
    (Lang::Deu, Algorithm::German),
    (Lang::Ell, Algorithm::Greek),
    (Lang::Est, Algorithm::Estonian),
    (Lang::Fin, Algorithm::Finnish),
    (Lang::Fra, Algorithm::French),
    (Lang::Hun, Algorithm::Hungarian),
    (Lang::Hye, Algorithm::Armenian),
    (Lang::Ind, Algorithm::Indonesian),
    (Lang::Ita, Algorithm::Italian),
    (Lang::Lit, Algorithm::Lithuanian),
    (Lang::Nld, Algorithm::Dutch),
    (Lang::Nob, Algorithm::Norwegian),
    (Lang::Pes, Algorithm::Persian),
    (Lang::Pol, Algorithm::Polish),
    (Lang::Por, Algorithm::Portuguese),
    (Lang::Ron, Algorithm::Romanian),
    (Lang::Rus, Algorithm::Russian),
    (Lang::Spa, Algorithm::Spanish),
    (Lang::Srp, Algorithm::Serbian),
    (Lang::Swe, Algorithm::Swedish),
    (Lang::Tur, Algorithm::Turkish),
    (Lang::Ukr, Algorithm::Ukrainian),
];

/// The three-letter code of each language that can be recognised, and its two-letter code (ISO
/// 639), which BCP 47 asks for where there is one.
const CODES: &str = "afr=af aka=ak amh=am ara=ar aze=az bel=be ben=bn bul=bg cat=ca ces=cs cmn=zh \
    cym=cy dan=da deu=de ell=el eng=en epo=eo est=et fin=fi fra=fr guj=gu heb=he hin=hi hrv=hr \
    hun=hu hye=hy ind=id ita=it jav=jv jpn=ja kan=kn kat=ka khm=km kor=ko lat=la lav=lv lit=lt \
    mal=ml mar=mr mkd=mk mya=my nep=ne nld=nl nob=nb ori=or pan=pa pes=fa pol=pl por=pt ron=ro \
    rus=ru sin=si slk=sk slv=sl sna=sn spa=es srp=sr swe=sv tam=ta tel=te tgl=tl tha=th tuk=tk \
    tur=tr ukr=uk urd=ur uzb=uz vie=vi yid=yi zul=zu";

/// A natural language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NaturalLanguage(Lang);

impl NaturalLanguage {
    /// Recognises the language of a text by its beginning; `None` if that is too short or not
    /// clear.
    ///
    /// Only words count, not code, numbers or addresses. For another language than English in
    /// Latin letters, both halves must clearly be in it: of 37,000 English documents on programs,
    /// medicine and physics, one was taken for French.
    pub fn of(text: &str) -> Option<Self> {
        let words = words_of_prose(text);
        if words.chars().filter(|c| c.is_alphabetic()).count() < MIN_LETTERS {
            return None;
        }
        let language = clear_language(&words)?;
        // Other languages in Latin letters need more evidence: names, commands and lists in English look like them.
        if language == Lang::Eng || !Self(language).is_latin() {
            return Some(Self(language));
        }
        let (first, second) = words.split_at(words.floor_char_boundary(words.len() / 2));
        let is_certain = [first, second].iter().all(|half| clear_language(half) == Some(language));
        is_certain.then_some(Self(language))
    }

    /// Returns the language that a text is most likely in, also if that is not clear; `None` without letters.
    pub fn most_likely(text: &str) -> Option<Self> {
        whatlang::detect_lang(text).map(Self)
    }

    /// Returns the language with this code; `None` for an unknown code.
    pub fn from_code(code: &str) -> Option<Self> {
        let long = CODES.split(' ').find_map(|pair| pair.strip_suffix(code)?.strip_suffix('='));
        Lang::from_code(long?).map(Self)
    }

    /// Returns its two-letter code (ISO 639-1).
    pub fn code(self) -> &'static str {
        let long = self.0.code();
        let short = CODES.split(' ').find_map(|pair| pair.strip_prefix(long)?.strip_prefix('='));
        short.unwrap_or(long)
    }

    /// Returns its English name.
    pub fn name(self) -> &'static str {
        match self.0 {
            Lang::Cmn => "Chinese",
            language => language.eng_name(),
        }
    }

    /// Whether it is English.
    pub fn is_english(self) -> bool {
        self.0 == Lang::Eng
    }

    /// Whether it is written in Latin letters.
    pub fn is_latin(self) -> bool {
        use whatlang::Script;
        Script::Latin.langs().contains(&self.0)
    }

    /// Returns all languages with a stemmer.
    pub fn stemmed() -> impl Iterator<Item = Self> {
        STEMMERS.iter().map(|(language, _)| Self(*language))
    }

    /// Whether its words can be stemmed here.
    pub fn has_stemmer(self) -> bool {
        self.algorithm().is_some()
    }

    fn algorithm(self) -> Option<Algorithm> {
        let found = STEMMERS.iter().find(|(language, _)| *language == self.0);
        found.map(|(_, algorithm)| *algorithm)
    }

    /// Returns the stems of the words of a text in order, in lower case and without accents; none
    /// for a language without a stemmer.
    pub fn stems(self, text: &str) -> Vec<String> {
        let Some(algorithm) = self.algorithm() else { return Vec::new() };
        let stemmer = Stemmer::create(algorithm);
        // Stemmers know composed letters only, not a letter followed by its accent.
        let text: String = text.nfc().collect::<String>().to_lowercase();
        let words =
            text.split(|c| !is_of_word(c)).filter(|word| word.contains(char::is_alphanumeric));
        let stems = words.map(|word| {
            let is_long = word.len() > MAX_WORD_BYTES;
            let stem = if is_long { word.into() } else { stemmer.stem(word) };
            // Accents are dropped, because people type words without them. A word of which nothing is left stays.
            let plain: String = stem.nfd().filter(|c| !is_mark(*c)).collect();
            if plain.is_empty() { word.to_owned() } else { plain }
        });
        stems.collect()
    }
}

/// Whether a character is part of a word that can be stemmed.
fn is_of_word(c: char) -> bool {
    !scripts::is_unspaced(c) && (c.is_alphanumeric() || is_mark(c))
}

/// Whether a character is an accent on the letter before it.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Returns the words of the sample without those that are not prose: numbers, code, addresses.
fn words_of_prose(text: &str) -> String {
    let sample = &text[..text.floor_char_boundary(SAMPLE_BYTES)];
    let words = sample
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty() && word.chars().all(is_prose));
    words.collect::<Vec<_>>().join(" ")
}

fn is_prose(c: char) -> bool {
    c.is_alphabetic() || !c.is_ascii() || c == '\'' || c == '-'
}

fn clear_language(text: &str) -> Option<Lang> {
    whatlang::detect(text).filter(whatlang::Info::is_reliable).map(|found| found.lang())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(NaturalLanguage::of(text).map(NaturalLanguage::code), expected, "{text}");
    }

    #[test]
    fn a_language_is_recognised_by_its_prose() {
        let german = "Der Ersatzschlüssel liegt unter der Treppe neben dem blauen Kasten, und \
            das Ladegerät des Pegels findet man in der Schublade darunter. Wer ihn braucht, trägt \
            sich bitte vorher in die Liste ein, die an der Tür hängt.";
        check(german, Some("de"));
        check(
            "Запасной ключ лежит под лестницей рядом с синим ящиком, а зарядное устройство \
            мареографа находится в ящике под ним. Кто его берёт, записывается в список на двери.",
            Some("ru"),
        );
        check(
            "The spare key is under the stairs next to the blue box, and the charger of the tide \
            gauge is in the drawer below. People who need it sign the list that hangs on the door.",
            Some("en"),
        );
    }

    #[test]
    fn short_texts_code_and_mixtures_have_no_language() {
        check("", None);
        check("Ersatzschlüssel", None);
        check("git commit --amend && git push --force-with-lease origin HEAD:refs/for/main", None);
        check("int main(int argc, char **argv) { return printf(\"%d\\n\", argc); }", None);
    }

    #[test]
    fn codes_are_read_back() {
        for lang in Lang::all() {
            let language = NaturalLanguage(*lang);
            assert!(language.code().len() == 2, "{} needs a code", lang.code());
            assert_eq!(NaturalLanguage::from_code(language.code()), Some(language));
        }
        for code in ["", "=", "xx", "d", "deu", "=de", "en-GB"] {
            assert_eq!(NaturalLanguage::from_code(code), None, "{code}");
        }
    }

    #[test]
    fn words_of_one_stem_have_the_same_stem_with_or_without_accents() {
        for (code, words) in [
            ("de", &["Häuser", "Hauses", "haus", "HÄUSER", "Ha\u{308}user"][..]),
            ("ru", &["ключами", "ключ", "Ключи"]),
            ("fr", &["installations", "installation"]),
            ("es", &["canciones", "cancion", "canción"]),
            ("ar", &["الكتاب", "كتاب"]),
        ] {
            let language = NaturalLanguage::from_code(code).unwrap();
            let stems: Vec<_> = words.iter().map(|word| language.stems(word)).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{code}: {stems:?}");
        }
        assert!(NaturalLanguage::from_code("en").unwrap().stems("houses").is_empty());
    }

    proptest! {
        /// Stemmers run on untrusted text in kb's own process.
        #[test]
        fn any_text_has_stems_in_every_language(text in "\\PC{0,80}", words in "[a-zäöüßéèıçñøåőа-яёא-ת؀-ۿ\u{300}-\u{303}α-ω԰-֏ ']{0,60}") {
            for language in NaturalLanguage::stemmed() {
                for stem in language.stems(&text).iter().chain(&language.stems(&words)) {
                    prop_assert!(!stem.is_empty());
                }
            }
            NaturalLanguage::of(&text);
        }
    }
}
