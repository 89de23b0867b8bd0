//! Converts text to token ids with the model's own tokenizer.
//!
//! Counts tokens for the chunker and encodes text for the session; needs no runtime library. Can be shared
//! between threads.

pub(crate) mod wordpiece;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::facts::Family;
use crate::fault::model_error;
use crate::files::open;
use crate::tokenize::wordpiece::{WordPiece, ready};
use crate::{EmbeddingSide, InstalledModel, ModelOptions};

/// The tokenizer of one model, with its length limit and prefixes.
#[derive(Debug)]
pub struct ModelTokenizer {
    encoder: TokenizerBackend,
    path: PathBuf,
    max_tokens: usize,
    num_special: usize,
    query_prefix: String,
    passage_prefix: String,
}

/// The file of a model with its tokenizer.
pub(crate) const FILE: &str = "tokenizer.json";

/// The largest existing vocabularies take a tenth of it.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// The names of the unknown token in various tokenizers.
const UNKNOWN: &[&str] = &["[UNK]", "<unk>"];

/// Converts text to ids.
#[derive(Debug)]
enum TokenizerBackend {
    /// kb's own, for the kind that nearly all models have.
    WordPiece(WordPiece),
    /// The library, for every other kind.
    LibrarySpec(Box<tokenizers::Tokenizer>),
}

impl TokenizerBackend {
    fn read(bytes: &[u8]) -> tokenizers::Result<Self> {
        if let Some(word_piece) = WordPiece::read(bytes) {
            return Ok(Self::WordPiece(word_piece));
        }
        let mut library = tokenizers::Tokenizer::from_bytes(bytes)?;
        // The settings of the file truncate and pad as in training. kb cuts texts itself and never pads.
        library.with_truncation(None)?;
        library.with_padding(None);
        Ok(Self::LibrarySpec(Box::new(library)))
    }

    /// Makes [`TokenizerBackend::encode`] add no special tokens.
    fn leave_out_special(&mut self) {
        match self {
            Self::WordPiece(word_piece) => word_piece.leave_out_special(),
            Self::LibrarySpec(library) => {
                library.with_post_processor(None::<tokenizers::PostProcessorWrapper>);
            }
        }
    }

    /// Counts the tokens of a text, without special tokens.
    fn num_tokens(&self, text: &str) -> usize {
        match self {
            Self::WordPiece(word_piece) => word_piece.num_tokens(text),
            // Encoding fails only on added tokens of a broken vocabulary; such text must not count as short.
            Self::LibrarySpec(library) => {
                library.encode_fast(text, false).map_or(usize::MAX, |encoding| encoding.len())
            }
        }
    }

    /// Counts the unknown tokens of a text, which replace words missing from the vocabulary.
    fn num_unknown(&self, text: &str) -> usize {
        match self {
            Self::WordPiece(word_piece) => word_piece.num_unknown(text),
            Self::LibrarySpec(library) => library.encode(text, false).map_or(0, |encoding| {
                encoding
                    .get_tokens()
                    .iter()
                    .filter(|token| UNKNOWN.contains(&token.as_str()))
                    .count()
            }),
        }
    }

    /// Returns the ids of a text, with special tokens.
    fn encode(&self, text: &str) -> tokenizers::Result<Vec<i64>> {
        match self {
            Self::WordPiece(word_piece) => Ok(word_piece.encode(text)),
            Self::LibrarySpec(library) => {
                let encoding = library.encode_fast(text, true)?;
                Ok(encoding.get_ids().iter().map(|id| i64::from(*id)).collect())
            }
        }
    }
}

impl ModelTokenizer {
    /// Loads `tokenizer.json` of an installed model: some 2 ms for 30,000 word pieces, 8 for
    /// another kind with as many.
    pub fn load(installed: &InstalledModel, options: &ModelOptions) -> Result<Self> {
        let path = installed.model_dir.join(FILE);
        let bytes = open::read(&path, open::SymlinkPolicy::Follow, MAX_FILE_BYTES)
            .map_err(|error| model_error(&path, error))?;
        let encoder = TokenizerBackend::read(&bytes).map_err(|error| model_error(&path, error))?;
        Self::over(encoder, installed, options)
    }

    /// Loads it from `ready`, which [`ready::prepare`] made, or else from `tokenizer.json`.
    pub(crate) fn load_ready(
        ready: &Path,
        installed: &InstalledModel,
        options: &ModelOptions,
    ) -> Result<Self> {
        match ready::read(ready, &installed.model_dir.join(FILE)) {
            Some(word_piece) => {
                Self::over(TokenizerBackend::WordPiece(word_piece), installed, options)
            }
            None => Self::load(installed, options),
        }
    }

    fn over(
        mut encoder: TokenizerBackend,
        installed: &InstalledModel,
        options: &ModelOptions,
    ) -> Result<Self> {
        let path = installed.model_dir.join(FILE);
        if matches!(installed.facts.family, Family::Static { .. }) {
            encoder.leave_out_special();
        }
        let empty = encoder.encode("").map_err(|error| model_error(&path, error))?;
        let facts = &installed.facts;
        let query_prefix = options.query_prefix.as_ref().unwrap_or(&facts.query_prefix);
        let passage_prefix = options.passage_prefix.as_ref().unwrap_or(&facts.passage_prefix);
        Ok(Self {
            encoder,
            path,
            max_tokens: usize::try_from(facts.max_tokens).unwrap_or(usize::MAX),
            num_special: empty.len(),
            query_prefix: query_prefix.clone(),
            passage_prefix: passage_prefix.clone(),
        })
    }

    /// Counts the tokens of a piece of text alone: no special tokens, no prefix, no truncation.
    ///
    /// An empty text has none.
    pub fn num_tokens(&self, text: &str) -> usize {
        self.encoder.num_tokens(text)
    }

    /// Counts the unknown tokens of a text, which replace words missing from the vocabulary.
    pub fn num_unknown(&self, text: &str) -> usize {
        self.encoder.num_unknown(text)
    }

    /// Returns the id of the unknown token, if there is one.
    pub(crate) fn unknown(&self) -> Option<i64> {
        match &self.encoder {
            TokenizerBackend::WordPiece(word_piece) => Some(word_piece.unknown()),
            TokenizerBackend::LibrarySpec(library) => {
                UNKNOWN.iter().find_map(|name| library.token_to_id(name)).map(i64::from)
            }
        }
    }

    /// Counts exactly the tokens embedded for a passage, with special tokens and prefix.
    pub fn num_passage_tokens(&self, passage: &str) -> usize {
        let num_tokens = self.num_tokens(&prefixed(&self.passage_prefix, passage));
        num_tokens.saturating_add(self.num_special)
    }

    /// Returns the longest input in tokens, including special tokens and prefix.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Returns the number of special tokens that the model adds to every text.
    pub fn num_special(&self) -> usize {
        self.num_special
    }

    /// Returns the number of tokens added to every passage: special tokens and the prefix.
    pub fn num_overhead(&self) -> usize {
        self.num_special + self.num_tokens(&self.passage_prefix)
    }

    /// Encodes a passage, which must fit the model's limit; empty only if a model adds no special tokens.
    pub fn encode_passage(&self, passage: &str) -> Result<Vec<i64>> {
        let ids = self.encode(&prefixed(&self.passage_prefix, passage))?;
        if ids.len() > self.max_tokens {
            let (len, max) = (ids.len(), self.max_tokens);
            let reason = format!("a passage has {len} tokens, but the model's limit is {max}");
            return Err(Error::Inference(reason.into()));
        }
        Ok(ids)
    }

    /// Encodes a text of either side, cut at the model's limit; returns `true` if it was cut.
    pub fn encode_cut(&self, text: &str, side: EmbeddingSide) -> Result<(Vec<i64>, bool)> {
        let prefix = match side {
            EmbeddingSide::Query => &self.query_prefix,
            EmbeddingSide::Passage => &self.passage_prefix,
        };
        let ids = self.encode(&prefixed(prefix, text))?;
        if ids.len() <= self.max_tokens {
            return Ok((ids, false));
        }
        // Special tokens are at both ends; the end of the text itself is cut.
        let tail = self.num_special.div_ceil(2).min(self.max_tokens);
        let mut cut = ids[..self.max_tokens - tail].to_vec();
        cut.extend_from_slice(&ids[ids.len() - tail..]);
        Ok((cut, true))
    }

    fn encode(&self, text: &str) -> Result<Vec<i64>> {
        self.encoder.encode(text).map_err(|error| {
            let reason = format!("{}: {error}", self.path.display());
            Error::Inference(reason.into())
        })
    }
}

/// Adds a prefix to a text, without copying if there is no prefix.
fn prefixed<'a>(prefix: &str, text: &'a str) -> Cow<'a, str> {
    if prefix.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(format!("{prefix}{text}")) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A tokenizer of lower-case words and single letters, with the settings of a real file.
    const TINY: &str = r###"{"version": "1.0",
        "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "install": 4, "##ing": 5,
                "git": 6, "query": 7, ":": 8, "a": 9}}}"###;

    /// A SentencePiece vocabulary as in descendants of XLM-R.
    const UNIGRAM: &str = r###"{"version": "1.0",
        "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 32}, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 1, "pad_type_id": 0, "pad_token": "<pad>"},
        "added_tokens": [], "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581",
            "prepend_scheme": "always", "split": true},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "pair": [],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
                "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}},
        "decoder": null,
        "model": {"type": "Unigram", "unk_id": 3, "vocab": [["<s>", 0.0], ["<pad>", 0.0],
            ["</s>", 0.0], ["<unk>", 0.0], ["\u2581query", -3.0], [":", -2.0],
            ["\u2581git", -4.0], ["\u2581", -5.0], ["\u5b89\u88c5", -6.0]]}}"###;

    fn tokenizer(max_tokens: usize, query_prefix: &str, passage_prefix: &str) -> ModelTokenizer {
        tokenizer_of(TINY, max_tokens, query_prefix, passage_prefix)
    }

    fn tokenizer_of(
        json: &str,
        max_tokens: usize,
        query_prefix: &str,
        passage_prefix: &str,
    ) -> ModelTokenizer {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("tokenizer.json"), json).unwrap();
        let config = r#"{"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1}"#;
        fs::write(dir.path().join("config.json"), config).unwrap();
        let mut facts = crate::ModelProperties::read(dir.path(), None).unwrap();
        facts.max_tokens = u32::try_from(max_tokens).unwrap();
        let installed = InstalledModel {
            name: "tiny".into(),
            model_dir: dir.path().to_owned(),
            facts,
            spec: None,
            runtime: PathBuf::new(),
            cache_dir: PathBuf::new(),
            is_model_given: true,
            is_runtime_given: true,
        };
        let options = ModelOptions {
            query_prefix: Some(query_prefix.into()),
            passage_prefix: Some(passage_prefix.into()),
            ..ModelOptions::default()
        };
        ModelTokenizer::load(&installed, &options).unwrap()
    }

    #[test]
    fn counting_neither_truncates_nor_pads() {
        let tokenizer = tokenizer(256, "", "");
        assert_eq!(tokenizer.num_tokens(""), 0);
        assert_eq!(tokenizer.num_tokens("Installing git"), 3);
        assert_eq!(tokenizer.num_tokens(&"git ".repeat(1000)), 1000);
        assert_eq!(tokenizer.num_special(), 2);
        assert_eq!(tokenizer.num_passage_tokens("Installing git"), 5);
    }

    #[test]
    fn prefixes_are_counted_and_encoded() {
        let tokenizer = tokenizer(256, "query: ", "a ");
        assert_eq!(tokenizer.num_overhead(), 3);
        assert_eq!(tokenizer.num_passage_tokens("git"), 4);
        assert_eq!(tokenizer.encode_passage("git").unwrap(), [2, 9, 6, 3]);
        assert_eq!(
            tokenizer.encode_cut("git", EmbeddingSide::Query).unwrap(),
            (vec![2, 7, 8, 6, 3], false)
        );
        assert_eq!(
            tokenizer.encode_cut("git", EmbeddingSide::Passage).unwrap(),
            (vec![2, 9, 6, 3], false)
        );
    }

    #[test]
    fn a_long_query_is_cut_and_a_long_passage_refused() {
        let tokenizer = tokenizer(4, "", "");
        let text = "git install a a a";
        assert_eq!(
            tokenizer.encode_cut(text, EmbeddingSide::Query).unwrap(),
            (vec![2, 6, 4, 3], true)
        );
        let error = tokenizer.encode_passage(text).unwrap_err();
        assert_eq!(
            error.to_string(),
            "embedding failed: a passage has 7 tokens, but the model's limit is 4"
        );
    }

    #[test]
    fn a_sentencepiece_vocabulary_also_works() {
        let tokenizer = tokenizer_of(UNIGRAM, 256, "query: ", "");
        assert_eq!(tokenizer.num_tokens("git git"), 2);
        assert_eq!(tokenizer.encode_cut("git", EmbeddingSide::Query).unwrap().0, [0, 4, 5, 6, 2]);
        assert_eq!(tokenizer.encode_passage("安装").unwrap(), [0, 7, 8, 2]);
    }

    #[test]
    fn a_tokenizer_can_be_shared_between_threads() {
        fn is_shared<T: Send + Sync>() {}
        is_shared::<ModelTokenizer>();
    }

    #[test]
    fn a_text_that_cannot_be_encoded_has_no_unknown_tokens() {
        let no_unknown = r#"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
            "normalizer": null, "pre_tokenizer": null, "post_processor": null, "decoder": null,
            "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "[UNK]"}}"#;
        let encoder = TokenizerBackend::read(no_unknown.as_bytes()).unwrap();
        assert!(encoder.encode("b").is_err());
        assert_eq!((encoder.num_unknown("a"), encoder.num_unknown("b")), (0, 0));
    }
}
