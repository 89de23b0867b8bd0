//! What can be typed: clap structs that validate and never act. Doc comments are the help text.
//!
//! Over 400 lines because every command's arguments stand in one table; the parsers of values could
//! move out.

#![expect(clippy::doc_markdown, reason = "backticks would show in the help text")]

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::skill_args::SkillCall;
use crate::cli::upkeep_args::{Doctor, Update};
use crate::config::OutputFormat;
use crate::document::{DocType, Language};

/// A local, offline knowledge base: keyword and semantic search over your documents
#[derive(Debug, Parser)]
#[command(name = "kb", version, disable_help_subcommand = true, arg_required_else_help = true)]
#[command(after_help = "Start with `kb add DIRECTORY`, then `kb search \"...\" --format human`.")]
pub(super) struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub(super) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What every command understands.
#[derive(Debug, Args)]
pub(super) struct Global {
    /// Directory that holds kb.db and config.yaml [default: data_dir, ~/.kb]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    #[arg(value_parser = directory)]
    pub(super) data_dir: Option<PathBuf>,
    /// When to colour human output; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    #[arg(help_heading = "Global options")]
    pub(super) color: ColorChoice,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Fetch the model and make the database ready
    Init(Init),
    /// Add files, folders or a note
    Add(Add),
    /// Look again at what was added: read what is new or changed, follow what moved
    Update(Update),
    /// Search what has been added
    Search(Search),
    /// Say why a search does not find a document
    Why(Why),
    /// List documents
    List(List),
    /// Show one document and its chunks
    Info(Info),
    /// Find what is like a document or a chunk
    Similar(Similar),
    /// List the sections, pages or symbols of a document
    Outline(Outline),
    /// Show a section, page, symbol or chunk of a document
    Show(Show),
    /// Show the file of a document
    Open(Open),
    /// Remove documents
    Remove(Remove),
    /// List tags
    Tags(Tags),
    /// Add tags to a document or remove them
    Tag(Tag),
    /// Show what the database holds and what it was built with
    Status(Status),
    /// Copy the database while it is in use, or examine a copy
    Backup(Backup),
    /// Write everything as lines of JSON
    Export(Export),
    /// Take in what `kb export` wrote
    Import(Import),
    /// Examine the database and what kb needs, and say what to do
    Doctor(Doctor),
    /// Compute all vectors anew, with the same model or another
    Reindex(Reindex),
    /// Print the vectors of texts, for scripts
    Embed(Embed),
    /// Measure how well searches find what is there
    Eval(Eval),
    /// Show or change settings
    Config(ConfigArgs),
    /// Serve agent skills: list, build, search and read directories with a SKILL.md
    Skill(Skill),
    /// Serve agents: all of this as tools, by the Model Context Protocol over stdin and stdout
    Mcp(Mcp),
}

/// Serve agents: all of this as tools, by the Model Context Protocol over stdin and stdout
#[derive(Debug, Args)]
#[command(after_help = "\
Agents start it themselves: their settings name the command `kb` with the argument `mcp`.")]
pub(super) struct Mcp {
    /// Offer tools that change something, too: notes, adding files, building and making skills
    #[arg(long)]
    pub(super) allow_write: bool,
    /// Append what is asked and what comes of it to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(super) audit_log: Option<PathBuf>,
}

/// Serve agent skills: list, build, search and read directories with a SKILL.md
#[derive(Debug, Args)]
#[command(after_help = "Through a link named skc this is the whole program.")]
pub(super) struct Skill {
    /// What to do.
    #[command(subcommand)]
    pub(super) call: SkillCall,
}

impl ValueEnum for OutputFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Json, Self::Human]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Json => PossibleValue::new("json").help("Programs: the contract"),
            Self::Human => PossibleValue::new("human").help("People"),
        })
    }
}

/// Who reads the output of a command that is for people by default.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Format {
    /// Output for people (human) or for programs (json)
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    #[arg(hide_possible_values = true)]
    pub(super) format: OutputFormat,
}

/// Fetch the model and make the database ready
#[derive(Debug, Args)]
pub(super) struct Init {
    /// Model to use [default: embedding.model]
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Take the model's files from this directory instead of fetching them
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(super) model_dir: Option<PathBuf>,
    /// Report what is there and fetch nothing
    #[arg(long)]
    pub(super) status: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Add files, folders or a note
#[derive(Debug, Args)]
pub(super) struct Add {
    /// Files and folders; folders with all that is below them; - reads one document from standard
    /// input
    #[arg(value_name = "PATH", required_unless_present = "note")]
    pub(super) paths: Vec<PathBuf>,
    /// Add this text as a note
    #[arg(long, value_name = "TEXT", conflicts_with = "paths", value_parser = note)]
    #[arg(allow_hyphen_values = true)]
    pub(super) note: Option<String>,
    /// Put the text of the note in the place of this one's; id and time of creation stay
    #[arg(long, value_name = "ID", requires = "note")]
    pub(super) replace: Option<i64>,
    /// Title, instead of what the document says of itself
    #[arg(long, value_name = "TEXT")]
    pub(super) title: Option<String>,
    /// Tags for every document of this run, separated by commas (can be repeated)
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(super) tags: Vec<String>,
    /// What the files are, whatever their names say
    #[arg(long = "type", value_name = "TYPE", value_parser = doc_type())]
    pub(super) doc_type: Option<DocType>,
    /// Programming language of the files
    #[arg(long, value_name = "LANGUAGE", value_parser = language())]
    pub(super) language: Option<Language>,
    /// Follow links that lie in folders, as ingestion.follow_links does
    #[arg(long)]
    pub(super) follow: bool,
    /// Opens encrypted documents; other users can see it, so better set KB_PASSWORD
    #[arg(long, value_name = "PASSWORD", allow_hyphen_values = true)]
    pub(super) password: Option<String>,
    /// Folders are always read with all that is below them; accepted for old scripts
    #[arg(long, short, hide = true)]
    pub(super) recursive: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

impl Add {
    /// Returns what `kb add` without a path and a flag would say, if that were possible.
    pub(super) fn nothing() -> Self {
        Self {
            paths: Vec::new(),
            note: None,
            replace: None,
            title: None,
            tags: Vec::new(),
            doc_type: None,
            language: None,
            follow: false,
            password: None,
            recursive: false,
            format: Format { format: OutputFormat::Human },
        }
    }
}

/// Search what has been added
#[derive(Debug, Args)]
#[command(after_help = "\
Words are alternatives, ordered by relevance; \"a phrase\" stays together; a leading - excludes;
begin* finds every word that begins so.
A query that begins with - comes after --: kb search -- '-draft release plan'")]
pub(super) struct Search {
    /// What to look for; several words are one query
    #[arg(value_name = "QUERY")]
    pub(super) query: Vec<String>,
    /// Answer the queries of this file (- is standard input), one a line or JSON objects with
    /// options, by one JSON object a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "format"])]
    pub(super) batch: Option<PathBuf>,
    #[command(flatten)]
    pub(super) how: How,
    /// Say of each result which terms of the query it was found by, and what each was worth
    #[arg(long)]
    pub(super) explain: bool,
    /// Return the best passages that fit into so many tokens, each text once, neighbours as one
    #[arg(long, value_name = "TOKENS")]
    pub(super) budget: Option<u32>,
    /// Add so many chunks before and after each result to its text
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(super) context: u32,
    /// json, human, jsonl (one result a line), paths (path:line), md (to paste, with citations)
    /// [default: search.default_format, json]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub(super) format: Option<SearchFormat>,
}

/// Where to look, and how much to return.
#[derive(Debug, Clone, Args)]
pub(super) struct How {
    /// Most results to return [default: search.default_top, 10]
    #[arg(long, value_name = "N", value_parser = top, allow_negative_numbers = true)]
    pub(super) top: Option<u32>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Most results of one document
    #[arg(long, value_name = "N", value_parser = top, allow_negative_numbers = true)]
    pub(super) per_doc: Option<u32>,
    /// Leave out results with a fused score below this
    #[arg(long, value_name = "SCORE", value_parser = threshold, allow_negative_numbers = true)]
    pub(super) threshold: Option<f64>,
    /// Keyword search only; needs no model
    #[arg(long, conflicts_with = "vec_only")]
    pub(super) fts_only: bool,
    /// Vector search only
    #[arg(long)]
    pub(super) vec_only: bool,
}

/// How the answer to a query is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SearchFormat {
    Json,
    Human,
    Jsonl,
    Paths,
    Md,
}

impl SearchFormat {
    /// Returns who reads it, and so in which form an error is told.
    pub(super) fn reader(self) -> OutputFormat {
        match self {
            Self::Json | Self::Jsonl => OutputFormat::Json,
            Self::Human | Self::Paths | Self::Md => OutputFormat::Human,
        }
    }
}

impl From<OutputFormat> for SearchFormat {
    fn from(format: OutputFormat) -> Self {
        match format {
            OutputFormat::Json => Self::Json,
            OutputFormat::Human => Self::Human,
        }
    }
}

/// Follow one document through a search, and say where it fell out
#[derive(Debug, Args)]
pub(super) struct Why {
    /// The query; several words in quotation marks
    #[arg(value_name = "QUERY")]
    pub(super) query: String,
    /// The document: its id, path or title
    #[arg(value_name = "DOC")]
    pub(super) document: String,
    #[command(flatten)]
    pub(super) how: How,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Find what is like a document or a chunk
#[derive(Debug, Args)]
pub(super) struct Similar {
    /// Which document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", required_unless_present = "chunk")]
    pub(super) document: Option<String>,
    /// Which chunk, by its id, as search results name it
    #[arg(long, value_name = "ID", conflicts_with = "document")]
    pub(super) chunk: Option<i64>,
    /// Most results to return [default: search.default_top, 10]
    #[arg(long, value_name = "N", value_parser = top, allow_negative_numbers = true)]
    pub(super) top: Option<u32>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Which documents to look at.
#[derive(Debug, Clone, Args)]
pub(super) struct FilterArgs {
    /// Only documents of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = doc_type())]
    pub(super) doc_type: Option<DocType>,
    /// Only documents that bear all these tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(super) tags: Vec<String>,
    /// Only documents that bear none of these tags, separated by commas
    #[arg(long = "exclude-tag", value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(super) excluded_tags: Vec<String>,
    /// Only source code in this language
    #[arg(long, value_name = "LANGUAGE", value_parser = language())]
    pub(super) language: Option<Language>,
    /// Only documents of this day or later: 2026, 2026-05 or 2026-05-17
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(super) since: Option<String>,
    /// Only documents of this day or earlier, as --since
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(super) until: Option<String>,
    /// Only documents at or below this file or folder
    #[arg(long, value_name = "PATH")]
    pub(super) path: Option<PathBuf>,
}

/// List documents
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Show one document and its chunks
#[derive(Debug, Args)]
pub(super) struct Info {
    /// Which document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", allow_negative_numbers = true)]
    pub(super) id: String,
    #[command(flatten)]
    pub(super) format: Format,
}

/// List the sections, pages or symbols of a document
#[derive(Debug, Args)]
#[command(after_help = DOCUMENT_HELP)]
pub(super) struct Outline {
    /// Which document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC")]
    pub(super) document: String,
    /// Deepest level to list
    #[arg(long, value_name = "N")]
    pub(super) level: Option<u32>,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Show a section, page, symbol or chunk of a document
#[derive(Debug, Args)]
#[command(after_help = DOCUMENT_HELP)]
pub(super) struct Show {
    /// Which document: id, path, or a unique part of its title or path; without a further flag all
    /// of its text
    #[arg(value_name = "DOC", required_unless_present = "chunk")]
    pub(super) document: Option<String>,
    #[command(flatten)]
    pub(super) selection: SelectionArgs,
    /// Chunks to show before and after the chunk
    #[arg(long, value_name = "N", requires = "chunk", default_value_t = 0)]
    pub(super) around: u32,
    /// Most lines to show
    #[arg(long, value_name = "N")]
    pub(super) max_lines: Option<u32>,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Which part of a document.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct SelectionArgs {
    /// Section with this heading, or this end of its header chain, in whatever case
    #[arg(long, value_name = "HEADING", allow_hyphen_values = true)]
    pub(super) section: Option<String>,
    /// Definition with this name, qualified or not
    #[arg(long, value_name = "NAME")]
    pub(super) symbol: Option<String>,
    /// Page, from 1
    #[arg(long, value_name = "N")]
    pub(super) page: Option<u32>,
    /// Chunk with this id, as search results name it
    #[arg(long, value_name = "ID")]
    pub(super) chunk: Option<i64>,
}

/// Show the file of a document
#[derive(Debug, Args)]
#[command(after_help = DOCUMENT_HELP)]
pub(super) struct Open {
    /// Which document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC")]
    pub(super) document: String,
    /// Only the lines from A to B, both included
    #[arg(long, value_name = "A:B", value_parser = lines)]
    pub(super) lines: Option<(u32, u32)>,
    /// Most lines to show
    #[arg(long, value_name = "N")]
    pub(super) max_lines: Option<u32>,
    #[command(flatten)]
    pub(super) format: Format,
}

/// What the commands that read on have in common.
const DOCUMENT_HELP: &str = "\
From a hit to all of it: kb search gives ids, kb outline the parts, kb show one of them, kb open the
file. All but open read the database alone, so they work when the file has moved.";

/// Remove documents
#[derive(Debug, Args)]
pub(super) struct Remove {
    /// Ids of the documents, as `kb list` shows them
    #[arg(value_name = "ID", required = true, allow_negative_numbers = true)]
    pub(super) ids: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

/// List tags
#[derive(Debug, Args)]
pub(super) struct Tags {
    #[command(flatten)]
    pub(super) format: Format,
}

/// Copy the database while it is in use, or examine a copy
#[derive(Debug, Args)]
#[command(
    after_help = "To restore a backup while nothing runs, remove kb.db-wal and kb.db-shm and copy it over kb.db."
)]
pub(super) struct Backup {
    /// File to write, or with --verify to examine
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Examine FILE and change nothing
    #[arg(long, conflicts_with = "force")]
    pub(super) verify: bool,
    /// Replace FILE where there is one
    #[arg(long, short)]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Add tags to a document or remove them
#[derive(Debug, Args)]
pub(super) struct Tag {
    /// Id of the document, as `kb list` shows it
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    pub(super) id: String,
    /// Tags to add, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    #[arg(required_unless_present = "remove")]
    pub(super) add: Vec<String>,
    /// Tags to remove, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(super) remove: Vec<String>,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Show what the database holds and what it was built with
#[derive(Debug, Args)]
pub(super) struct Status {
    /// Look at the files, too: how many are new, changed or missing
    #[arg(long)]
    pub(super) scan: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Compute all vectors anew, with the same model or another
#[derive(Debug, Args)]
pub(super) struct Reindex {
    /// Model to switch to [default: the one the database uses]
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Take the model's files from this directory instead of fetching them
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(super) model_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Print the vectors of texts, for scripts
#[derive(Debug, Args)]
#[command(after_help = "\
Prints one JSON array of numbers a text, each on a line of its own, in the order of the texts.
Vectors have unit length: their dot product is the cosine that `kb search` goes by.")]
pub(super) struct Embed {
    /// The text
    #[arg(value_name = "TEXT", required_unless_present = "stdin", conflicts_with = "stdin")]
    pub(super) text: Option<String>,
    /// Read texts from standard input, one a line
    #[arg(long)]
    pub(super) stdin: bool,
    /// Embed as queries, not as passages; some models make a difference
    #[arg(long)]
    pub(super) query: bool,
    /// JSON lines are all there is; accepted because every other command has it
    #[arg(long, hide = true, value_parser = ["json"], value_name = "FORMAT")]
    pub(super) format: Option<String>,
}

/// Write everything as lines of JSON
#[derive(Debug, Args)]
#[command(after_help = "\
The first line says what the database was built with; every other is a document with its paths, tags and
chunks. `kb import` takes it into another database, other programs can read it.")]
pub(super) struct Export {
    /// File to make; stdout if none is named
    #[arg(value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Write the vectors too: then nothing has to be computed again
    #[arg(long)]
    pub(super) vectors: bool,
    /// Lines of JSON are all there is
    #[arg(long, value_parser = ["jsonl"], value_name = "FORMAT", default_value = "jsonl")]
    pub(super) format: String,
}

/// Take in what `kb export` wrote
#[derive(Debug, Args)]
#[command(after_help = "\
Documents that are here already, and those whose path another one has, are skipped: what is here stays.
Vectors of another model, and missing ones, are computed.")]
pub(super) struct Import {
    /// File to read; `-` is stdin
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Measure how well searches find what is there
#[derive(Debug, Args)]
#[command(after_help = "\
Without a folder, headings and rare words of the documents that were added are the questions, and the
document they come from is the answer.")]
pub(super) struct Eval {
    /// Folder with corpus.jsonl, queries.jsonl and qrels.tsv (the layout of BEIR)
    #[arg(value_name = "FOLDER")]
    pub(super) folder: Option<PathBuf>,
    /// Questions to ask at most
    #[arg(long, value_name = "N", value_parser = top, default_value = "400")]
    pub(super) queries: u32,
    /// Where the folder's documents and their database go and are kept [default: data_dir/eval/NAME]
    #[arg(long, value_name = "DIR", requires = "folder")]
    pub(super) work: Option<PathBuf>,
    /// File name extension of the folder's documents, which says how they are read
    #[arg(long, value_name = "EXTENSION", default_value = "md", requires = "folder")]
    pub(super) extension: String,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Show or change settings
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// What to do; without it every setting is shown with its origin.
    #[command(subcommand)]
    pub(super) action: Option<ConfigAction>,
    #[command(flatten)]
    pub(super) format: Format,
}

/// What to do with the settings.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigAction {
    /// Write a setting to config.yaml
    Set {
        /// Dotted name, as `kb config` shows it
        #[arg(value_name = "KEY")]
        key: String,
        /// New value
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
}

fn doc_type() -> impl TypedValueParser<Value = DocType> {
    PossibleValuesParser::new(DocType::ALL.map(DocType::as_str)).try_map(|it| it.parse::<DocType>())
}

fn language() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.map(Language::as_str))
        .try_map(|it| it.parse::<Language>())
}

pub(super) fn tag(typed: &str) -> Result<String, String> {
    let tag = typed.trim();
    if tag.is_empty() { Err("a tag must not be empty".into()) } else { Ok(tag.to_owned()) }
}

/// A directory becomes a setting, and settings are text.
fn directory(typed: &str) -> Result<PathBuf, String> {
    if typed.is_empty() { Err("the name is empty".into()) } else { Ok(typed.into()) }
}

fn top(typed: &str) -> Result<u32, String> {
    typed.parse().ok().filter(|it| *it > 0).ok_or_else(|| "not a whole number above 0".to_owned())
}

/// A day, a month or a year.
pub(super) fn date(typed: &str) -> Result<String, String> {
    const MOLD: &str = "0000-00-00";
    let is_date = matches!(typed.len(), 4 | 7 | 10)
        && typed.chars().zip(MOLD.chars()).all(|(it, mold)| match mold {
            '0' => it.is_ascii_digit(),
            _ => it == mold,
        });
    if is_date { Ok(typed.to_owned()) } else { Err("not a date like 2026-05-17".into()) }
}

/// A note may begin with the dash of a list, but one that reads like a flag is a forgotten text.
fn note(typed: &str) -> Result<String, String> {
    if typed.starts_with("--") && !typed.contains(char::is_whitespace) {
        return Err("the text of the note is missing".into());
    }
    Ok(typed.to_owned())
}

/// Reads `A:B`; `A:` goes to the end, `A` is one line.
fn lines(typed: &str) -> Result<(u32, u32), String> {
    let (first, last) = match typed.split_once(':') {
        Some((first, "")) => (first, None),
        Some((first, last)) => (first, Some(last)),
        None => (typed, Some(typed)),
    };
    let number = |it: &str| it.parse::<u32>().ok().filter(|it| *it > 0);
    let last = last.map_or(Some(u32::MAX), number);
    number(first)
        .zip(last)
        .filter(|(first, last)| first <= last)
        .ok_or_else(|| "not two line numbers like 10:20".to_owned())
}

fn threshold(typed: &str) -> Result<f64, String> {
    typed.parse().ok().filter(|it: &f64| it.is_finite()).ok_or_else(|| "not a number".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_tree_is_consistent() {
        Cli::command().debug_assert();
    }
}
