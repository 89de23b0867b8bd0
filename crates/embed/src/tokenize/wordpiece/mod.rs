//! Converts text to token ids: WordPiece as in the BERT family.
//!
//! Nearly every model in `models.toml` has this tokenizer. `tokenizers` gives the same ids, which
//! tests compare. But it was measured to take four times as long to load for a query, and fourteen
//! times as long to count tokens for the chunker, because it records the position of each piece.

mod clean;
mod file;
pub(crate) mod ready;
mod vocabulary;

use clean::Cleaning;
use serde::{Deserialize, Serialize};
use vocabulary::{PieceBuffers, Vocabulary};

/// A tokenizer of the BERT family.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WordPiece {
    cleaning: Cleaning,
    vocabulary: Vocabulary,
    /// Replaces a word that cannot be split into tokens.
    unknown: u32,
    /// Longer words are unknown without a lookup.
    max_chars: usize,
    /// Tokens that are matched in the unchanged text, before cleaning; the longest first.
    added: Vec<(String, u32)>,
    before: Vec<u32>,
    after: Vec<u32>,
}

impl WordPiece {
    /// Counts the tokens of a text, without special tokens.
    pub(crate) fn num_tokens(&self, text: &str) -> usize {
        let mut num_tokens = 0;
        self.tokens(text, &mut |_| num_tokens += 1);
        num_tokens
    }

    /// Counts the words of a text that cannot be split into tokens.
    pub(crate) fn num_unknown(&self, text: &str) -> usize {
        let mut num_unknown = 0;
        self.tokens(text, &mut |id| num_unknown += usize::from(id == self.unknown));
        num_unknown
    }

    /// Returns the id of the unknown token.
    pub(crate) fn unknown(&self) -> i64 {
        self.unknown.into()
    }

    /// Makes [`WordPiece::encode`] add no special tokens.
    pub(crate) fn leave_out_special(&mut self) {
        self.before.clear();
        self.after.clear();
    }

    /// Returns the ids of a text, with special tokens.
    pub(crate) fn encode(&self, text: &str) -> Vec<i64> {
        let mut ids: Vec<i64> = self.before.iter().map(|id| i64::from(*id)).collect();
        self.tokens(text, &mut |id| ids.push(i64::from(id)));
        ids.extend(self.after.iter().map(|id| i64::from(*id)));
        ids
    }

    /// Passes the ids of a text to `give`, in order.
    fn tokens(&self, text: &str, give: &mut impl FnMut(u32)) {
        let mut scratch = PieceBuffers::default();
        let mut buffer = String::new();
        let mut rest = text;
        loop {
            let found = self.next_added(rest);
            let words = &rest[..found.map_or(rest.len(), |found| found.0)];
            self.cleaning.words(words, &mut buffer, &mut |word| {
                let is_known = word.chars().nth(self.max_chars).is_none()
                    && self.vocabulary.pieces(word, &mut scratch, give);
                if !is_known {
                    give(self.unknown);
                }
            });
            let Some((start, len, id)) = found else { return };
            give(id);
            rest = &rest[start + len..];
        }
    }

    /// Finds the first added token: its start, its length and its id.
    fn next_added(&self, text: &str) -> Option<(usize, usize, u32)> {
        let bytes = text.as_bytes();
        let mut at = 0;
        loop {
            at += bytes[at..].iter().position(|byte| self.begins_added(*byte))?;
            let found = self.added.iter().find(|token| bytes[at..].starts_with(token.0.as_bytes()));
            if let Some((content, id)) = found {
                return Some((at, content.len(), *id));
            }
            at += 1;
        }
    }

    /// Whether a byte is the first of an added token.
    fn begins_added(&self, byte: u8) -> bool {
        self.added.iter().any(|(content, _)| content.as_bytes().first() == Some(&byte))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// A vocabulary of few letters, so that random words can often be split into tokens.
    pub(super) fn tokenizer_json() -> Value {
        let tokens =
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "ab", "aba", "é", "e", "ß"]
                .into_iter()
                .chain([
                    "##a", "##b", "##bab", "##é", "##e", "I", "i", "東", "##東", "ᄒ", "##ᅡ", "한",
                    "-",
                ])
                .chain([
                    "[", "]", "[SE", "##P", "#", "##", "\"", "\\", "„", "ﬁ", "\u{301}", "##\u{301}",
                ]);
        let vocab: serde_json::Map<String, Value> =
            tokens.zip(0..).map(|(token, id)| (token.to_owned(), json!(id))).collect();
        let added = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].into_iter().zip(0..);
        let added: Vec<Value> = added
            .map(|(content, id)| {
                json!({"id": id, "content": content, "special": true, "single_word": false,
                    "lstrip": false, "rstrip": false, "normalized": false})
            })
            .collect();
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
            "normalizer": {"type": "BertNormalizer", "clean_text": true,
                "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "TemplateProcessing",
                "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}},
                    {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                    "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
            "decoder": null,
            "model": {"type": "WordPiece", "unk_token": "[UNK]",
                "continuing_subword_prefix": "##", "max_input_chars_per_word": 12, "vocab": vocab}
        })
    }

    /// Returns kb's and the library's tokenizer with some of its settings replaced.
    fn both(changes: &[(&str, Value)]) -> (Option<WordPiece>, Option<tokenizers::Tokenizer>) {
        let mut json = tokenizer_json();
        for (pointer, value) in changes {
            *json.pointer_mut(pointer).unwrap() = value.clone();
        }
        let bytes = serde_json::to_vec(&json).unwrap();
        (WordPiece::read(&bytes), tokenizers::Tokenizer::from_bytes(&bytes).ok())
    }

    /// Returns a tokenizer for every combination of settings in this family.
    fn variants() -> Vec<(WordPiece, tokenizers::Tokenizer)> {
        let bert = json!({"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]});
        [
            vec![],
            vec![("/normalizer/lowercase", json!(false))],
            vec![("/normalizer/strip_accents", json!(false))],
            vec![("/normalizer/handle_chinese_chars", json!(false))],
            vec![
                ("/normalizer/lowercase", json!(false)),
                ("/normalizer/strip_accents", json!(true)),
            ],
            vec![("/post_processor", bert)],
            vec![("/post_processor", Value::Null)],
            vec![("/added_tokens", json!([]))],
            vec![("/model/continuing_subword_prefix", json!(""))],
        ]
        .iter()
        .map(|changes| {
            let (own, library) = both(changes);
            (own.unwrap_or_else(|| panic!("{changes:?}")), library.unwrap())
        })
        .collect()
    }

    #[track_caller]
    fn check_ids(own: &WordPiece, library: &tokenizers::Tokenizer, text: &str) {
        let expected = library.encode_fast(text, true).unwrap();
        let expected: Vec<i64> = expected.get_ids().iter().map(|id| i64::from(*id)).collect();
        assert_eq!(own.encode(text), expected, "{text:?}");
    }

    #[track_caller]
    fn check(own: &WordPiece, library: &tokenizers::Tokenizer, text: &str) {
        check_ids(own, library, text);
        let num_tokens = library.encode_fast(text, false).unwrap().len();
        assert_eq!(own.num_tokens(text), num_tokens, "{text:?}");
    }

    /// Generates ordinary words and text that is hard for tokenizers.
    fn piece() -> impl Strategy<Value = String> {
        let fixed = prop::sample::select(vec![
            "a",
            "b",
            "ab",
            "aba",
            "é",
            "e\u{301}",
            "É",
            "I",
            "İ",
            "ß",
            "ﬁ",
            "Ａ",
            "東",
            "京",
            "タ",
            "한",
            "ᄒ",
            "ᅡ",
            "[SEP]",
            "[CLS]",
            "[MASK",
            "[",
            "]",
            "[[SEP]]",
            "[sep]",
            "##a",
            "#",
            "-",
            " ",
            "  ",
            "\t",
            "\n",
            "\r",
            "\u{b}",
            "\u{c}",
            "\0",
            "\u{7f}",
            "\u{85}",
            "\u{a0}",
            "\u{2003}",
            "\u{2028}",
            "\u{3000}",
            "\u{200b}",
            "\u{200d}",
            "\u{feff}",
            "\u{fffd}",
            "\u{e000}",
            "\u{301}",
            "\u{327}",
            "\u{1d165}",
            "\u{302e}",
            "\u{37e}",
            "\u{1fef}",
            "\u{212a}",
            "„",
            "’",
            "abababababab",
            "ababababababa",
            "éééééééééééé",
            "\"",
            "\\",
        ]);
        prop_oneof![4 => fixed.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
    }

    #[test]
    fn the_ids_equal_those_of_the_library() {
        let variants = variants();
        proptest!(|(pieces in prop::collection::vec(piece(), 0..24))| {
            let text = pieces.concat();
            variants.iter().for_each(|(own, library)| check(own, library, &text));
        });
    }

    #[test]
    fn every_character_is_read_as_by_the_library() {
        let variants = variants();
        // The first two planes completely; the others consist mostly of ideographs.
        let codes = (0..=0x1_ffff).chain((0x2_0000..=0x10_ffff).step_by(61));
        let chars: Vec<char> = codes.filter_map(char::from_u32).collect();
        for (idx, chars) in chars.chunks(32).enumerate() {
            // Inside a word, alone, under an accent, before an accented letter.
            let around =
                |c: &char| ['a', *c, 'b', ' ', *c, '\u{301}', ' ', 'é', *c, 'a', '\u{327}'];
            let text: String = chars.iter().flat_map(around).collect();
            let (own, library) = &variants[idx % 4];
            check_ids(own, library, &text);
        }
    }

    #[test]
    fn an_unsupported_tokenizer_is_left_to_the_library() {
        let token = |flag: &str| {
            let mut token = tokenizer_json()["added_tokens"][4].clone();
            token[flag] = json!(true);
            token
        };
        for change in [
            ("/version", json!("2.0")),
            ("/normalizer", json!({"type": "NFKC"})),
            ("/normalizer", Value::Null),
            ("/normalizer/clean_text", json!(false)),
            ("/pre_tokenizer", json!({"type": "Whitespace"})),
            ("/post_processor", json!({"type": "ByteLevel", "add_prefix_space": true})),
            ("/post_processor/single/1", json!({"SpecialToken": {"id": "[SEP]", "type_id": 0}})),
            ("/post_processor/single/0", json!({"Sequence": {"id": "A", "type_id": 0}})),
            ("/post_processor/special_tokens", json!({})),
            ("/added_tokens/4", token("lstrip")),
            ("/added_tokens/4", token("rstrip")),
            ("/added_tokens/4", token("single_word")),
            ("/added_tokens/4", token("normalized")),
            ("/added_tokens/4/content", json!("[NEW]")),
            ("/model/type", json!("BPE")),
            ("/model/unk_token", json!("[OTHER]")),
            ("/model/vocab", json!([["a", 1.0]])),
            ("/model/vocab/a", json!(-1)),
        ] {
            assert!(both(std::slice::from_ref(&change)).0.is_none(), "{change:?}");
        }
        for bytes in [&b""[..], b"{}", b"[1, 2]", b"{\"version\": \"1.0\"", b"\xff\xfe"] {
            assert!(WordPiece::read(bytes).is_none());
        }
    }
}
