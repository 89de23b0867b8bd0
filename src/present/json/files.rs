//! Writes which files are waived, what adding would do and what it did as JSON.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::ingest::foresee::{DryRunOutcome, ForeseenFile};
use crate::ingest::{FailedFile, IngestReport};
use crate::present::json::{VersionedAnswer, answer};
use crate::store::DocumentId;
use crate::text::json::Json;

/// The files that are waived now.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WaivedJson<'a> {
    /// Absolute paths of the files.
    waived: &'a [String],
}

/// Writes which files are waived now.
pub fn waived(paths: &[String], out: &mut Json<'_>) -> io::Result<()> {
    answer(&WaivedJson { waived: paths }, out)
}

/// The effect of adding.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PlanJson {
    /// Always true: nothing was written.
    dry_run: bool,
    /// How many files there are of each outcome.
    #[serde(flatten)]
    counts: PlanCounts,
    /// How many files there are of each outcome, kind and reason.
    groups: Vec<PlanGroupJson>,
    /// Why files cannot be read.
    errors: Vec<FailedFile>,
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
#[derive(Debug, Default, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct PlanCounts {
    /// Files that would be read for the first time, copies of other documents included.
    pub(crate) new: usize,
    /// Indexed files whose size or time differs.
    pub(crate) changed: usize,
    /// Indexed files that would be skipped.
    pub(crate) unchanged: usize,
    /// Files and folders that a rule leaves out.
    pub(crate) ignored: usize,
    /// Files that cannot be read, as far as their first bytes show, or could not be read before.
    pub(crate) failed: usize,
    /// Files that could not be read and are not reported any more.
    pub(crate) waived: usize,
}

impl PlanCounts {
    pub(crate) fn of(plan: &[ForeseenFile]) -> Self {
        let mut counts = Self::default();
        for foreseen in plan {
            *match foreseen.outcome {
                DryRunOutcome::New => &mut counts.new,
                DryRunOutcome::Changed => &mut counts.changed,
                DryRunOutcome::Unchanged => &mut counts.unchanged,
                DryRunOutcome::Ignored(_) => &mut counts.ignored,
                DryRunOutcome::Fails(_) | DryRunOutcome::HasFailed(..) => &mut counts.failed,
                DryRunOutcome::Waived(_) => &mut counts.waived,
            } += 1;
        }
        counts
    }
}

/// The place of an outcome in the order, its word, the kind of the files, and the reason.
pub(crate) type PlanGroup<'a> = (usize, &'static str, String, Option<&'a str>);

/// Counts the files of each outcome, kind and reason, what would be read first.
pub(crate) fn groups(plan: &[ForeseenFile]) -> BTreeMap<PlanGroup<'_>, usize> {
    let mut groups = BTreeMap::new();
    for foreseen in plan {
        let (order, outcome, reason) = match &foreseen.outcome {
            DryRunOutcome::New => (0, "new", None),
            DryRunOutcome::Changed => (1, "changed", None),
            DryRunOutcome::Unchanged => (2, "unchanged", None),
            DryRunOutcome::Ignored(rule) => (3, "ignored", Some(rule.as_str())),
            DryRunOutcome::Fails(error) => (4, "failed", Some(error.code())),
            DryRunOutcome::HasFailed(code, _) => (4, "failed", Some(code.as_str())),
            DryRunOutcome::Waived(code) => (5, "waived", Some(code.as_str())),
        };
        *groups.entry((order, outcome, foreseen.kind(), reason)).or_default() += 1;
    }
    groups
}

/// Writes what adding would do.
pub fn plan(plan: &[ForeseenFile], out: &mut Json<'_>) -> io::Result<()> {
    let groups = groups(plan).into_iter().map(|((_, outcome, kind, reason), files)| {
        PlanGroupJson { outcome, kind, reason: reason.map(str::to_owned), files }
    });
    let errors = plan.iter().filter_map(|ForeseenFile { path, outcome, .. }| match outcome {
        DryRunOutcome::Fails(error) => Some(FailedFile::new(path, error)),
        DryRunOutcome::HasFailed(code, message) => {
            let (code, error) = (code.clone(), message.clone());
            Some(FailedFile { path: path.clone(), code, error })
        }
        _ => None,
    });
    out.value(&VersionedAnswer::of(&PlanJson {
        dry_run: true,
        counts: PlanCounts::of(plan),
        groups: groups.collect(),
        errors: errors.collect(),
    }))
}

/// The report of `kb add`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReportJson<'a> {
    /// New documents.
    added: usize,
    /// Documents with new content.
    updated: usize,
    /// Files whose content is already in the database.
    skipped: usize,
    /// How many of the skipped files are new files that are copies of other documents.
    copies: usize,
    /// How many of the updated documents only have a new title.
    retitled: usize,
    /// Existing documents that got a new tag.
    tagged: usize,
    /// Files in folders that kb does not read.
    ignored: usize,
    /// Files that could not be read.
    failed: usize,
    /// How many files of each kind were ignored, the most frequent first.
    ignored_kinds: Vec<IgnoredKindJson<'a>>,
    /// Files that failed in an earlier run and have not changed since; they were not read again.
    known_failed: usize,
    /// Added and updated files of whose words more than a tenth was left out.
    lossy: usize,
    /// Added and updated files whose encoding was guessed, or whose text is damaged.
    uncertain_encodings: usize,
    /// Chunks written.
    chunks: usize,
    /// Ids of the added and updated documents.
    document_ids: &'a [DocumentId],
    /// Why each file failed.
    errors: Vec<FailedFile>,
    /// Ignore files that were not used, with the reason.
    warnings: Vec<FailedFile>,
    /// Further notes, such as languages that the model cannot read; absent if there are none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'a [String],
}

/// How many files of one kind were ignored.
#[derive(Serialize, JsonSchema)]
struct IgnoredKindJson<'a> {
    /// Their extension with its dot, `no extension`, or `empty`.
    kind: &'a str,
    /// How many there are.
    files: usize,
}

/// Writes the report of `kb add`.
pub fn report(report: &IngestReport, out: &mut Json<'_>) -> io::Result<()> {
    let mut kinds: Vec<(&String, usize)> =
        report.ignored_kinds.iter().map(|(kind, num)| (kind, *num)).collect();
    kinds.sort_by_key(|(_, num)| Reverse(*num));
    let ignored_kinds = kinds.into_iter().map(|(kind, files)| IgnoredKindJson { kind, files });
    out.value(&VersionedAnswer::of(&ReportJson {
        added: report.added,
        updated: report.updated,
        skipped: report.skipped,
        copies: report.copies,
        retitled: report.retitled,
        tagged: report.tagged,
        ignored: report.ignored,
        failed: report.failed.len(),
        ignored_kinds: ignored_kinds.collect(),
        known_failed: report.known_failed,
        lossy: report.lossy,
        uncertain_encodings: report.uncertain_encodings,
        chunks: report.num_chunks,
        document_ids: &report.document_ids,
        errors: report.failed.iter().map(FailedFile::from).collect(),
        warnings: report.warnings.iter().map(FailedFile::from).collect(),
        notes: &report.notes,
    }))
}
