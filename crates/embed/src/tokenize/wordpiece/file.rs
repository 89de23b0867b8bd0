//! Reads a [`WordPiece`] from `tokenizer.json`, if the file describes one.
//!
//! Accepts only files whose every setting is supported; others are left to the library that knows
//! every tokenizer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::WordPiece;
use super::clean::Cleaning;
use super::vocabulary::Vocabulary;

/// The supported version of the format.
const VERSION: &str = "1.0";

#[derive(Deserialize)]
struct TokenizerFile {
    version: String,
    added_tokens: Vec<AddedToken>,
    normalizer: Normalizer,
    #[serde(rename = "pre_tokenizer")]
    _pre_tokenizer: PreTokenizer,
    post_processor: Option<PostProcessor>,
    model: WordPieceModel,
}

/// A token that is matched in the text unchanged, before the vocabulary is used.
#[derive(Deserialize)]
struct AddedToken {
    content: String,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Normalizer {
    BertNormalizer {
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: Option<bool>,
        lowercase: bool,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PreTokenizer {
    BertPreTokenizer,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PostProcessor {
    TemplateProcessing {
        single: Vec<TemplatePiece>,
        special_tokens: BTreeMap<String, SpecialToken>,
    },
    BertProcessing {
        sep: (String, u32),
        cls: (String, u32),
    },
}

#[derive(Deserialize)]
enum TemplatePiece {
    Sequence {},
    SpecialToken { id: String },
}

#[derive(Deserialize)]
struct SpecialToken {
    ids: Vec<u32>,
}

#[derive(Deserialize)]
struct WordPieceModel {
    // The type comes before the vocabulary, as in files, so that another model is refused before its vocabulary is
    // read.
    #[serde(rename = "type")]
    _type: ModelType,
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: VocabularyTokens,
}

#[derive(Deserialize)]
enum ModelType {
    WordPiece,
}

/// Room for the tokens of most models of the family, which have 30,000, so that the buffers need not grow.
const USUAL_TOKENS: usize = 1 << 15;

/// Room for the bytes of a token.
const USUAL_BYTES: usize = 8;

/// The concatenated bytes of all tokens, and the length and id of each.
struct VocabularyTokens {
    bytes: Vec<u8>,
    tokens: Vec<(usize, u32)>,
}

/// A key that is copied only if it has escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for VocabularyTokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(TokensVisitor)
    }
}

struct TokensVisitor;

impl<'de> Visitor<'de> for TokensVisitor {
    type Value = VocabularyTokens;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("tokens with their ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = VocabularyTokens {
            bytes: Vec::with_capacity(USUAL_TOKENS * USUAL_BYTES),
            tokens: Vec::with_capacity(USUAL_TOKENS),
        };
        while let Some((Key(token), id)) = map.next_entry::<Key<'de>, u32>()? {
            found.bytes.extend_from_slice(token.as_bytes());
            found.tokens.push((token.len(), id));
        }
        Ok(found)
    }
}

impl WordPiece {
    /// Reads `tokenizer.json`; `None` if it has another tokenizer or is invalid.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        // The encoding of all bytes is checked at once, which is faster than for each token.
        let file: TokenizerFile = serde_json::from_str(str::from_utf8(bytes).ok()?).ok()?;
        let Normalizer::BertNormalizer {
            clean_text,
            handle_chinese_chars,
            strip_accents,
            lowercase,
        } = file.normalizer;
        let WordPieceModel {
            unk_token,
            continuing_subword_prefix,
            max_input_chars_per_word,
            vocab,
            ..
        } = file.model;
        if file.version != VERSION || !clean_text {
            return None;
        }
        let vocabulary = Vocabulary::new(vocab.bytes, &vocab.tokens, &continuing_subword_prefix)?;
        let mut added = file
            .added_tokens
            .into_iter()
            .map(|token| {
                let is_plain =
                    !(token.single_word || token.lstrip || token.rstrip || token.normalized);
                let id = vocabulary
                    .id(&token.content)
                    .filter(|_| is_plain && !token.content.is_empty())?;
                Some((token.content, id))
            })
            .collect::<Option<Vec<_>>>()?;
        // The longest token at a position is matched first.
        added.sort_by_key(|token| std::cmp::Reverse(token.0.len()));
        let (before, after) = frame(file.post_processor)?;
        Some(Self {
            cleaning: Cleaning {
                separates_ideographs: handle_chinese_chars,
                drops_accents: strip_accents.unwrap_or(lowercase),
                lowers: lowercase,
            },
            unknown: vocabulary.id(&unk_token)?,
            max_chars: max_input_chars_per_word,
            vocabulary,
            added,
            before,
            after,
        })
    }
}

/// Returns the special tokens before and after every text.
fn frame(processor: Option<PostProcessor>) -> Option<(Vec<u32>, Vec<u32>)> {
    let (single, special_tokens) = match processor {
        None => return Some((Vec::new(), Vec::new())),
        Some(PostProcessor::BertProcessing { sep, cls }) => {
            return Some((vec![cls.1], vec![sep.1]));
        }
        Some(PostProcessor::TemplateProcessing { single, special_tokens }) => {
            (single, special_tokens)
        }
    };
    let text = single.iter().position(|piece| matches!(piece, TemplatePiece::Sequence {}))?;
    let before = special_ids(&single[..text], &special_tokens)?;
    let after = special_ids(&single[text + 1..], &special_tokens)?;
    Some((before, after))
}

/// Returns the ids of special tokens; `None` if a piece is unknown, or not a special token.
fn special_ids(
    pieces: &[TemplatePiece],
    special_tokens: &BTreeMap<String, SpecialToken>,
) -> Option<Vec<u32>> {
    let mut ids = Vec::new();
    for piece in pieces {
        let TemplatePiece::SpecialToken { id } = piece else { return None };
        ids.extend_from_slice(&special_tokens.get(id)?.ids);
    }
    Some(ids)
}
