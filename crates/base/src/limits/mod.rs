//! Defines the limits of all external input: numbers, lines, files, queries.
//!
//! They are in one table, so that a user finds them together (`docs/limits.md` is made from it) and
//! an error can name the key, the value and the range. [`lines`] reads within a limit.

pub mod lines;

/// A number on the command line or in the settings, with its range, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The flag or the dotted key of the setting.
    pub name: &'static str,
    /// The smallest value.
    pub min: u32,
    /// The largest value.
    pub max: u32,
}

/// Maximum number of results of one search.
pub const TOP: Limit = Limit { name: "--top", min: 1, max: 1_000_000 };

/// Half life of the preference for newer documents, in days; 0 switches it off.
pub const RECENT: Limit = Limit { name: "--recent", min: 0, max: 36_500 };

/// Maximum number of tokens of one answer.
pub const BUDGET: Limit = Limit { name: "--budget", min: 1, max: 1_000_000 };

/// Maximum number of results used for passages by `--context` and `--budget`: the time grows with
/// their square.
pub const TOP_OF_PASSAGES: u32 = 1_000;

/// Maximum number of queries run by `kb eval`.
pub const QUERIES: Limit = Limit { name: "--queries", min: 1, max: 1_000_000 };

/// Most numbers in a vector, of a model or an imported one: the most that sqlite-vec stores. The widest models have half.
pub const VECTOR_DIM: u32 = 8_192;

/// The settings with integer values.
pub const SETTINGS: &[Limit] = &[
    Limit { name: "embedding.dim", min: 0, max: VECTOR_DIM },
    Limit { name: "search.default_top", ..TOP },
    Limit { name: "search.half_life_days", ..RECENT },
    Limit { name: "search.refresh_ms", min: 1, max: 600_000 },
    Limit { name: "search.rerank_ms", min: 1, max: 600_000 },
    Limit { name: "chunking.defaults.max_tokens", min: 1, max: 1_000_000 },
    Limit { name: "chunking.defaults.overlap_tokens", min: 0, max: 999_999 },
    Limit { name: "chunking.pdf.max_tokens", min: 1, max: 1_000_000 },
    Limit { name: "chunking.markdown.min_tokens", min: 0, max: 1_000_000 },
    Limit { name: "chunking.markdown.max_tokens", min: 1, max: 1_000_000 },
    Limit { name: "chunking.code.max_tokens", min: 1, max: 1_000_000 },
    Limit { name: "ingestion.workers", min: 1, max: 256 },
    Limit { name: "ingestion.batch_size", min: 1, max: 10_000 },
    Limit { name: "ingestion.max_file_mb", min: 1, max: 100_000 },
    Limit { name: "ingestion.max_cpu_seconds", min: 1, max: 1_000_000 },
    Limit { name: "freshness.days", min: 0, max: 100_000 },
    Limit { name: "backup.keep", min: 0, max: 100 },
];

/// The largest value of `search.rrf_k`, which may have a fraction. With a larger one, all ranks would count the same.
pub const MAX_RRF_K: f64 = 1_000_000.0;

/// Maximum bytes of `config.yaml`, of the settings of `skc`, and of the YAML at the head of a file.
pub const YAML_BYTES: usize = 64 << 10;

/// Maximum number of open brackets in YAML: the parser takes a minute for a hundred thousand.
pub const YAML_DEPTH: usize = 64;

/// Maximum bytes of a query. One of 10 MB held the server of agents.
pub const QUERY_BYTES: usize = 1 << 20;

/// Phrasings of one query. Each is embedded, which takes about 5 ms.
pub const PHRASINGS: usize = 8;

/// Distinct words, phrases and prefixes of a query used by the keyword leg; the others only count
/// in the vector leg, within the model's limit. A query of 16,000 distinct words took 6.6 s.
pub const QUERY_TERMS: usize = 256;

/// Prefixes among them; each matches any number of words.
pub const QUERY_PREFIXES: usize = 32;

/// Maximum number of words and phrases that a query excludes; each is looked up.
pub const QUERY_EXCLUSIONS: usize = 64;

/// Maximum bytes of a line of queries or texts (`kb search --batch`, `kb embed --stdin`).
pub const BATCH_LINE_BYTES: usize = 1 << 20;

/// Maximum bytes of the first line of an export, which names the model and the folders.
pub const EXPORT_HEAD_BYTES: usize = 16 << 20;

/// Maximum bytes of any other line of an export, which is a document with its chunks and vectors.
pub const EXPORT_LINE_BYTES: usize = 1 << 30;

// A small archive can unpack to any number of files and bytes; these two bound what it costs.

/// Most files in a container: a ZIP archive, an e-mail, a mailbox.
pub const MEMBERS: usize = 10_000;

/// Most bytes of all files in a container together, unpacked.
pub const MEMBER_BYTES: u64 = 128 << 20;

/// Maximum number of cells with text that are read of a spreadsheet, all sheets together.
pub const SPREADSHEET_CELLS: usize = 500_000;

// The items of a reader's answer are counted before it is decoded: 80 million empty labels of 240 MB took 4 GB. The
// largest counts in the files that were measured are 352 pages, 3,608 blocks, 1,821 headings and 7,953 lines.

/// Most pages of a document, and most comments, pictures, bookmarks and page labels of it.
pub const READ_PAGES: usize = 200_000;

/// Most blocks (paragraphs, tables, headings, definitions) that a reader may find in a document.
pub const READ_BLOCKS: usize = 500_000;

/// Most headings above all blocks together.
pub const READ_HEADINGS: usize = 4_000_000;

/// Most lines of a text of which a reader says where they are in the file.
pub const READ_LINES: usize = 4_000_000;

/// Most columns of all tables of a document.
pub const READ_COLUMNS: usize = 1_000_000;

/// Most of any other values that a reader lists: tags, links, warnings.
pub const READ_OTHERS: usize = 1_000_000;

/// Longest side of a picture that a reader draws, in pixels. A square of this side takes 1 GB at four bytes per pixel.
pub const PICTURE_SIDE: u32 = 16_384;

/// Longest title of a document, in characters; the rest is left out. The title is repeated in the context of each
/// chunk.
pub const TITLE_CHARS: usize = 2_000;

/// Maximum bytes of a message to `kb mcp`. A longer one is dropped and gets no answer.
pub const MCP_MESSAGE_BYTES: usize = 16 << 20;

/// Most requests to `kb mcp` that are worked on at once. While there are as many, or while the client does not read its
/// answers, no further one is read.
pub const MCP_CALLS: usize = 64;

/// The largest id that an import keeps: half of a database's range, so that no file can use up the
/// ids.
pub const IMPORTED_ID: i64 = i32::MAX as i64;

/// Whether YAML is short and flat enough to be parsed: the parser takes quadratic time for nesting.
#[must_use]
pub fn is_readable_yaml(source: &str) -> bool {
    let mut depth = 0_usize;
    let is_flat = source.bytes().all(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth <= YAML_DEPTH
    });
    is_flat && source.len() <= YAML_BYTES
}

impl Limit {
    /// Returns the range in the form used in messages.
    #[must_use]
    pub fn range(&self) -> String {
        format!("a whole number from {} to {}", self.min, self.max)
    }

    /// Parses a number from the command line.
    pub fn parse(&self, typed: &str) -> Result<u32, String> {
        let number = typed.parse().ok().filter(|number| self.holds(*number));
        number.ok_or_else(|| format!("must be {}", self.range()))
    }

    /// Whether a number is in the range.
    #[must_use]
    pub fn holds(&self, number: u32) -> bool {
        (self.min..=self.max).contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_that_would_take_minutes_is_not_parsed() {
        assert!(is_readable_yaml("a: [1, {b: 2}]\n"));
        assert!(is_readable_yaml(&"a: []\n".repeat(1000)));
        assert!(!is_readable_yaml(&format!("a: {}", "[".repeat(100_000))));
        assert!(is_readable_yaml(&"[".repeat(YAML_DEPTH)));
        assert!(!is_readable_yaml(&"[".repeat(YAML_DEPTH + 1)));
        assert!(!is_readable_yaml(&"a: {".repeat(65)));
        assert!(is_readable_yaml(&" ".repeat(YAML_BYTES)));
        assert!(!is_readable_yaml(&" ".repeat(YAML_BYTES + 1)));
        assert!(!is_readable_yaml(&"a: 1\n".repeat(300_000)));
    }

    #[test]
    fn an_error_of_range_names_the_range() {
        assert_eq!(TOP.parse("10"), Ok(10));
        for typed in ["0", "-1", "1000001", "4294967296", "1e3", "", "ten"] {
            let message = TOP.parse(typed).unwrap_err();
            assert_eq!(message, "must be a whole number from 1 to 1000000", "{typed}");
        }
    }
}
