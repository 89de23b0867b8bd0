//! Parses the values of flags and arguments.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::app::ToolSet;
use crate::app::query::read::SortKey;
use crate::app::session::values;
use crate::config::OutputFormat;
use crate::document::{DocType, DocumentKind, Language, LineRange, PageRange};
use crate::limits;

pub(super) fn doc_type() -> impl TypedValueParser<Value = DocType> {
    one_of(&DocType::ALL, DocType::as_str)
}

/// Parses what a filter takes. Lists of the words leave out the programming languages, which `--language` has.
pub(super) fn kind() -> impl TypedValueParser<Value = DocumentKind> {
    let words = DocumentKind::all()
        .map(|kind| PossibleValue::new(kind.as_str()).hide(kind.language().is_some()));
    PossibleValuesParser::new(words)
        .map(|typed| typed.parse::<DocumentKind>().expect("clap knows it"))
}

pub(super) fn language() -> impl TypedValueParser<Value = Language> {
    one_of(&Language::ALL, Language::as_str)
}

pub(super) fn sort() -> impl TypedValueParser<Value = SortKey> {
    one_of(&SortKey::ALL, SortKey::as_str)
}

pub(super) fn tool_set() -> impl TypedValueParser<Value = ToolSet> {
    one_of(&ToolSet::ALL, ToolSet::as_str)
}

/// Parses the word of one of these values.
fn one_of<T: Copy + Send + Sync>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let words = all.iter().map(move |value| word(*value));
    PossibleValuesParser::new(words)
        .map(move |typed| *all.iter().find(|value| word(**value) == typed).expect("clap knows it"))
}

/// Parses a directory, which must not be empty.
pub(super) fn directory(typed: &str) -> Result<PathBuf, String> {
    if typed.is_empty() { Err("the name is empty".into()) } else { Ok(typed.into()) }
}

/// Parses a number of results, or the rank of one.
pub(super) fn top(typed: &str) -> Result<u32, String> {
    limits::TOP.parse(typed)
}

/// Parses a half life in days.
pub(super) fn recent(typed: &str) -> Result<u32, String> {
    limits::RECENT.parse(typed)
}

pub(super) fn budget(typed: &str) -> Result<u32, String> {
    limits::BUDGET.parse(typed)
}

pub(super) fn queries(typed: &str) -> Result<u32, String> {
    limits::QUERIES.parse(typed)
}

/// Parses a note. It may begin with the dash of a list, but a word like a flag means that the text was
/// forgotten.
pub(super) fn note(typed: &str) -> Result<String, String> {
    if typed.starts_with("--") && !typed.contains(char::is_whitespace) {
        return Err("the text of the note is missing".into());
    }
    Ok(typed.to_owned())
}

/// Parses `A:B`; `A:` goes to the end, `A` is one line.
pub(super) fn lines(typed: &str) -> Result<LineRange, String> {
    LineRange::parse(typed).ok_or_else(|| "expected line numbers such as 10:20".to_owned())
}

/// Parses `A:B` as [`lines`] does.
pub(super) fn pages(typed: &str) -> Result<PageRange, String> {
    PageRange::parse(typed).ok_or_else(|| "expected page numbers such as 2:5".to_owned())
}

pub(super) fn threshold(typed: &str) -> Result<f64, String> {
    typed
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| "not a number".to_owned())
}

/// A day, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Day(pub(crate) Option<String>);

pub(super) fn day(typed: &str) -> Result<Day, String> {
    values::day(typed).map(Day)
}

pub(super) fn title(typed: &str) -> Result<String, String> {
    match typed.trim() {
        "" => Err("a title must not be empty".into()),
        title => Ok(title.to_owned()),
    }
}

impl ValueEnum for OutputFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Json, Self::Human]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Json => PossibleValue::new("json").help("JSON for programs"),
            Self::Human => PossibleValue::new("human").help("Text for people"),
        })
    }
}

/// Returns the format in which errors are printed: for programs if its word says that the output is JSON.
pub(crate) fn errors(format: impl ValueEnum + Copy) -> OutputFormat {
    let word = format.to_possible_value();
    if word.is_some_and(|word| word.get_name().starts_with("json")) {
        OutputFormat::Json
    } else {
        OutputFormat::Human
    }
}

/// The format of a command whose default is `human`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReportFormat {
    /// Output for people (human) or programs (json)
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    #[arg(hide_possible_values = true)]
    pub(crate) format: OutputFormat,
}
