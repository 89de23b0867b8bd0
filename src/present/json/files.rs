//! Presents the files that kb has seen, and what adding would do, as JSON.

use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::files::Files;
use crate::document::DocumentId;
use crate::ingest::foresee::{Foreseen, Prospect};
use crate::present::json::{CONTRACT_VERSION, FailedJson};
use crate::text::json::Json;

/// The files that kb has seen.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct FilesJson<'a> {
    /// Increases only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// How many files there are at and below the path, listed or not.
    counts: FileCountsJson,
    /// The files, ordered by path.
    files: Vec<FileJson<'a>>,
}

/// How many files there are in each state.
#[derive(Serialize, JsonSchema)]
struct FileCountsJson {
    /// Files whose content is indexed.
    indexed: usize,
    /// Files and folders that a rule leaves out.
    ignored: usize,
    /// Files that could not be read.
    failed: usize,
    /// Files that could not be read and are not reported any more.
    waived: usize,
}

/// A file, or a folder that is not entered.
#[derive(Serialize, JsonSchema)]
struct FileJson<'a> {
    /// Absolute path.
    path: &'a str,
    /// `indexed`, `ignored`, `failed` or `waived`.
    outcome: &'static str,
    /// Ignored: `type`, `empty`, `size`, `hidden`, `gitignore`, `kbignore`, `link` or `special`; failed and
    /// waived: code of the error; indexed: null.
    reason: Option<&'a str>,
    /// What failed, for people; null unless it failed.
    error: Option<&'a str>,
    /// Version of kb and settings that failed; null unless it failed.
    reader: Option<&'a str>,
    /// Size in bytes; null for a folder.
    size_bytes: Option<u64>,
    /// Since when this is known, RFC 3339, UTC; null for an indexed file.
    seen_at: Option<&'a str>,
    /// Document with its content, or with the earlier content of a file that failed later; else null.
    document_id: Option<DocumentId>,
}

/// Writes the files that kb has seen.
///
/// # Errors
///
/// Errors of writing.
pub fn files(files: &Files, out: &mut Json<'_>) -> io::Result<()> {
    let [indexed, ignored, failed, waived] = files.counts;
    let listed = files.files.iter().map(|file| FileJson {
        path: &file.path,
        outcome: file.state.as_str(),
        reason: file.reason.as_deref(),
        error: file.message.as_deref(),
        reader: file.reader.as_deref(),
        size_bytes: file.size_bytes,
        seen_at: file.seen_at.as_deref(),
        document_id: file.document_id,
    });
    out.value(&FilesJson {
        contract_version: CONTRACT_VERSION,
        counts: FileCountsJson { indexed, ignored, failed, waived },
        files: listed.collect(),
    })
}

/// The files that are waived now.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct WaivedJson<'a> {
    /// Increases only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Absolute paths of the files.
    waived: &'a [String],
}

/// Writes which files are waived now.
///
/// # Errors
///
/// Errors of writing.
pub fn waived(paths: &[String], out: &mut Json<'_>) -> io::Result<()> {
    out.value(&WaivedJson { contract_version: CONTRACT_VERSION, waived: paths })
}

/// What adding would do.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct PlanJson {
    /// Increases only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Always true: nothing was written.
    dry_run: bool,
    /// Files that would be read for the first time, copies of other documents included.
    new: usize,
    /// Indexed files whose size or time differs.
    changed: usize,
    /// Indexed files that would be skipped.
    unchanged: usize,
    /// Files and folders that a rule leaves out.
    ignored: usize,
    /// Files that cannot be read, as far as their first bytes show, or could not be read before.
    failed: usize,
    /// Files that could not be read and are not reported any more.
    waived: usize,
    /// How many files there are of each outcome, kind and reason.
    groups: Vec<PlanGroupJson>,
    /// Why files cannot be read.
    errors: Vec<FailedJson>,
}

/// Files with the same outcome, kind and reason.
#[derive(Serialize, JsonSchema)]
struct PlanGroupJson {
    /// `new`, `changed`, `unchanged`, `ignored`, `failed` or `waived`.
    outcome: &'static str,
    /// Their extension with its dot, `no extension`, or `folder`.
    kind: String,
    /// The rule that leaves them out, or the code of the error; null for files that are or would be indexed.
    reason: Option<String>,
    /// How many there are.
    files: usize,
}

/// How many files there are of each outcome.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::present) struct PlanCounts {
    pub(in crate::present) new: usize,
    pub(in crate::present) changed: usize,
    pub(in crate::present) unchanged: usize,
    pub(in crate::present) ignored: usize,
    pub(in crate::present) failed: usize,
    pub(in crate::present) waived: usize,
}

impl PlanCounts {
    pub(in crate::present) fn of(plan: &[Foreseen]) -> Self {
        let mut counts = Self::default();
        for foreseen in plan {
            *match foreseen.prospect {
                Prospect::New => &mut counts.new,
                Prospect::Changed => &mut counts.changed,
                Prospect::Unchanged => &mut counts.unchanged,
                Prospect::Ignored(_) => &mut counts.ignored,
                Prospect::Fails(_) | Prospect::HasFailed(..) => &mut counts.failed,
                Prospect::Waived(_) => &mut counts.waived,
            } += 1;
        }
        counts
    }
}

/// The place of an outcome in the order, its word, the kind of the files, and the reason.
pub(in crate::present) type PlanGroup<'a> = (usize, &'static str, String, Option<&'a str>);

/// Counts the files of each outcome, kind and reason, what would be read first.
pub(in crate::present) fn groups(plan: &[Foreseen]) -> BTreeMap<PlanGroup<'_>, usize> {
    let mut groups = BTreeMap::new();
    for foreseen in plan {
        let (order, outcome, reason) = match &foreseen.prospect {
            Prospect::New => (0, "new", None),
            Prospect::Changed => (1, "changed", None),
            Prospect::Unchanged => (2, "unchanged", None),
            Prospect::Ignored(rule) => (3, "ignored", Some(rule.as_str())),
            Prospect::Fails(error) => (4, "failed", Some(error.code())),
            Prospect::HasFailed(code, _) => (4, "failed", Some(code.as_str())),
            Prospect::Waived(code) => (5, "waived", Some(code.as_str())),
        };
        *groups.entry((order, outcome, foreseen.kind(), reason)).or_default() += 1;
    }
    groups
}

/// Writes what adding would do.
///
/// # Errors
///
/// Errors of writing.
pub fn plan(plan: &[Foreseen], out: &mut Json<'_>) -> io::Result<()> {
    let counts = PlanCounts::of(plan);
    let groups = groups(plan).into_iter().map(|((_, outcome, kind, reason), files)| {
        PlanGroupJson { outcome, kind, reason: reason.map(str::to_owned), files }
    });
    let errors = plan.iter().filter_map(|foreseen| match &foreseen.prospect {
        Prospect::Fails(error) => {
            Some(FailedJson::new(&foreseen.path, error.code(), error.to_string()))
        }
        Prospect::HasFailed(code, message) => {
            Some(FailedJson::new(&foreseen.path, code, message.clone()))
        }
        _ => None,
    });
    out.value(&PlanJson {
        contract_version: CONTRACT_VERSION,
        dry_run: true,
        new: counts.new,
        changed: counts.changed,
        unchanged: counts.unchanged,
        ignored: counts.ignored,
        failed: counts.failed,
        waived: counts.waived,
        groups: groups.collect(),
        errors: errors.collect(),
    })
}
