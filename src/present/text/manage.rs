//! Writes the reports of the commands that set up and maintain a knowledge base.

use std::io;

use crate::app::agents::clients::{Action, SettingsPlan};
use crate::app::indexing::relocate::RelocateReport;
use crate::app::maintenance::cache::{self, CacheCleaning, CacheContents};
use crate::app::maintenance::doctor::{CheckVerdict, Findings};
use crate::app::maintenance::models::{ListedModel, Models};
use crate::app::query::eval::{EvalReport, MeasuredQuestions};
use crate::app::query::push::PushReport;
use crate::app::session::bases::{BaseChange, ListedBase};
use crate::embed::ManifestMatch;
use crate::eval::Measures;
use crate::present::terminal::columns::padding;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::terminal::table::{numbers, texts, words};
use crate::present::text::human::HumanLayout;
use crate::text::number::{bytes_to_mb, counted, thousands};
use crate::text::paths::path_text;
use crate::text::printable::clean;
use crate::wording::{kb, wording};

const VERDICT_COLUMNS: usize = 8;

/// How many files of each kind `kb relocate` lists.
const MAX_LISTED: usize = 20;

impl HumanLayout {
    /// Writes all knowledge bases.
    pub fn bases(&self, bases: &[ListedBase], out: &mut CleanWriter<'_>) -> io::Result<()> {
        for base in bases {
            writeln!(out, "{}: {}", base.name, state(base))?;
            if let Some(description) = &base.description {
                writeln!(out, "   {}", clean(description))?;
            }
            writeln!(out, "   {}", clean(&path_text(&base.dir)))?;
        }
        Ok(())
    }

    /// Writes the change of a knowledge base.
    pub fn base_changed(&self, change: &BaseChange, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let (name, path) = (&change.place.name, clean(&path_text(&change.place.dir)));
        match (change.action, change.follows_files) {
            ("made", _) => {
                let add = kb("add").arg("DIRECTORY");
                let next = wording!("Next, add documents with `{}`.", add);
                writeln!(out, "Created {name} ({path}). {}", self.worded_about(&next, Some(name)))
            }
            ("allowed", Some(true)) => {
                writeln!(out, "Allowed {path}; the files that it names are followed.")
            }
            ("allowed", _) => {
                writeln!(out, "Allowed {path}; the files that it names are not followed.")
            }
            ("renamed", _) => writeln!(out, "Renamed to {name} ({path})."),
            ("erased", _) => writeln!(out, "Deleted {name} ({path})."),
            ("removed", _) => writeln!(out, "Removed the name {name}."),
            _ => writeln!(out, "{name}: {path}"),
        }
    }

    /// Writes the contents of the cache.
    pub fn cache(&self, contents: &CacheContents, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let CacheContents { dir, size_bytes, parts } = contents;
        let rows = parts.iter().map(|part| {
            vec![
                part.kind.as_str().to_owned(),
                clean(&part.name),
                megabytes(part.size_bytes),
                if part.is_used { "in use" } else { "" }.to_owned(),
                match part.recorded {
                    ManifestMatch::Touched => {
                        let doctor = kb("doctor");
                        wording!(
                            "changed or touched since kb wrote it; `{}` compares its bytes",
                            doctor
                        )
                        .to_string()
                    }
                    ManifestMatch::Unchanged | ManifestMatch::No => String::new(),
                },
            ]
        });
        if !parts.is_empty() {
            let columns = [words("KIND"), texts("NAME"), numbers("SIZE"), words(""), words("")];
            self.table(&columns, rows, out)?;
        }
        let dir = clean(&dir.display().to_string());
        writeln!(out, "{} in {dir}", megabytes(*size_bytes))
    }

    /// Writes the result of cleaning.
    pub fn cleaned(&self, cleaned: &CacheCleaning, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let verb = if cleaned.is_dry_run { "would remove" } else { "removed" };
        for part in &cleaned.removed {
            let (kind, name) = (part.kind.as_str(), clean(&part.name));
            writeln!(out, "{verb}: {kind} {name}, {}", megabytes(part.size_bytes))?;
        }
        let freed = megabytes(cleaned.freed_bytes);
        let would = if cleaned.is_dry_run { "Would free" } else { "Freed" };
        writeln!(out, "{would} {freed}, {} left.", megabytes(cache::size_bytes(&cleaned.kept)))
    }

    /// Writes the change of the settings, with a sign before each line that is removed or added.
    pub fn client_plan(&self, plan: &SettingsPlan, out: &mut CleanWriter<'_>) -> io::Result<()> {
        writeln!(out, "{}, under `{}`:", clean(&path_text(&plan.path)), plan.key)?;
        for (sign, entry) in [('-', &plan.before), ('+', &plan.after)] {
            for line in entry.iter().flat_map(|entry| entry.lines()) {
                let text = line.trim_start();
                let indent = " ".repeat(line.len() - text.len());
                writeln!(out, "{sign} {indent}{}", clean(text))?;
            }
        }
        self.other_fields(plan, out)
    }

    /// Writes which fields of an existing entry are kept, and which are dropped. A variable that is kept can change
    /// what kb does.
    fn other_fields(&self, plan: &SettingsPlan, out: &mut CleanWriter<'_>) -> io::Result<()> {
        for (verb, fields) in [("Keeps", &plan.others.kept), ("Drops", &plan.others.dropped)] {
            if !fields.is_empty() {
                let fields = clean(&fields.join(", "));
                writeln!(out, "{verb} these fields of the existing entry: {fields}")?;
            }
        }
        Ok(())
    }

    /// Writes the changes that were made.
    pub fn client_changed(&self, plan: &SettingsPlan, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let (title, path) = (plan.client.title, clean(&path_text(&plan.path)));
        match plan.action {
            Action::Added | Action::Updated => {
                writeln!(
                    out,
                    "{title} is now configured to start kb ({path}). Restart it if it is running."
                )
            }
            Action::Removed => writeln!(out, "Removed kb from {path}."),
            Action::Unchanged => {
                writeln!(out, "{title} is already configured to start kb ({path}).")?;
                // The fields have not been shown yet, because nothing changes.
                self.other_fields(plan, out)
            }
            Action::Absent => writeln!(out, "{path} has no entry for kb."),
        }
    }

    /// Writes one line per check, and a summary line.
    pub fn doctor(&self, findings: &Findings, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let checks = &findings.checks;
        let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
        for check in checks {
            let verdict = check.verdict.as_str();
            self.paint(meaning(check.verdict), verdict, out)?;
            let space = padding(verdict, VERDICT_COLUMNS);
            write!(out, "{space}  {:width$}  ", check.name)?;
            self.hanging(&clean(&check.message), VERDICT_COLUMNS + width + 4, out)?;
            if let Some(fix) = &check.fix {
                write!(out, "{:VERDICT_COLUMNS$}  {:width$}  ", "", "")?;
                let fix = clean(&self.worded(fix));
                self.hanging(&format!("hint: {fix}"), VERDICT_COLUMNS + width + 4, out)?;
            }
        }
        match findings.count(CheckVerdict::Fault) {
            0 => self.paint(Meaning::Good, "Sound.", out)?,
            faults => {
                let faults = format!("{}.", counted(faults, "fault"));
                self.paint(Meaning::Bad, &faults, out)?;
            }
        }
        writeln!(out)
    }

    /// Writes one line per collection and leg.
    pub fn eval(&self, evaluated: &EvalReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let rows = evaluated.collections.iter().flat_map(|collection| {
            let evaluation = &collection.evaluation;
            [
                leg_row(collection, "keywords", evaluation.keyword),
                leg_row(collection, "vectors", evaluation.vector),
                leg_row(collection, "fused", evaluation.fused),
            ]
        });
        let columns = [
            words("COLLECTION"),
            numbers("QUERIES"),
            words("LEG"),
            numbers("NDCG@10"),
            numbers("R@10"),
            numbers("MRR@10"),
        ];
        self.table(&columns, rows, out)
    }

    /// Writes all models.
    pub fn models(&self, models: &Models, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let columns = [
            words("NAME"),
            words("KNOWS"),
            numbers("SIZE").left_out(4),
            numbers("TOKENS").left_out(3),
            numbers("DIM").left_out(2),
            numbers("COST"),
            numbers("HERE"),
            texts("PUBLISHED").left_out(1),
            words("LICENCE").left_out(5),
            words(""),
        ];
        self.table(&columns, models.models.iter().map(row), out)?;
        let model = |command| kb(command).option("--model", "NAME");
        let legend = wording!(
            "COST is the time per passage, relative to the default model. HERE is the nDCG@10 of kb's whole search, \
             and PUBLISHED is that of the vectors alone, in percent. `{}` chooses a model for a new database, and \
             `{}` switches this one; with `--dry-run`, it estimates the time and the size of the vectors.",
            model("init"),
            model("reindex")
        );
        self.labelled(legend, out)
    }

    /// Writes the report of `kb push`.
    pub fn pushed(&self, report: &PushReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let removed = match report.num_removed {
            0 => String::new(),
            count => format!(" {} removed.", thousands(count)),
        };
        writeln!(
            out,
            "Pushed {} of {} to {}, {}.{removed}",
            thousands(report.num_sent),
            counted(report.num_documents, "document"),
            clean(&report.target),
            counted(report.num_chunks_sent, "chunk"),
        )
    }

    /// Writes the report of `kb relocate`.
    pub fn relocated(
        &self,
        relocated: &RelocateReport,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        let RelocateReport { from, to, changed, missing, .. } = relocated;
        for (what, paths) in [("changed", changed), ("missing", missing)] {
            for path in paths.iter().take(MAX_LISTED) {
                self.labelled(format!("{what}: {}", clean(path)), out)?;
            }
            if let Some(more @ 1..) = paths.len().checked_sub(MAX_LISTED) {
                writeln!(out, "{what}: {} more", thousands(more))?;
            }
        }
        let verb = if relocated.is_dry_run { "Would relocate" } else { "Relocated" };
        self.labelled(
            format!(
                "{verb} {} from {} to {}: {} unchanged, {} changed, {} missing.",
                counted(relocated.num_files, "file"),
                clean(&from.display().to_string()),
                clean(&to.display().to_string()),
                thousands(relocated.num_matching),
                thousands(changed.len()),
                thousands(missing.len()),
            ),
            out,
        )?;
        if changed.len() + missing.len() > 0 && !relocated.is_dry_run {
            let text = wording!("`{}` reads changed files and reports missing ones.", kb("update"));
            self.labelled(text, out)?;
        }
        Ok(())
    }
}

/// Returns a knowledge base in one line: its name, its contents and the description of the user.
pub(super) fn described_shortly(base: &ListedBase) -> String {
    let description = base.description.as_deref().map(|text| format!("; {}", clean(text)));
    format!("{}: {}{}", base.name, state(base), description.unwrap_or_default())
}

/// Returns the contents of a knowledge base, or why it is not used.
fn state(base: &ListedBase) -> String {
    let files = if base.follows_files == Some(true) { "" } else { ", files are not followed" };
    match (&base.error, base.num_documents) {
        _ if !base.is_allowed => {
            wording!("not trusted; run `{}` to use it", kb("base allow")).to_string()
        }
        (Some(error), _) => clean(error),
        (None, None) => "empty".into(),
        (None, Some(count)) => format!("{}{files}", counted(count, "document")),
    }
}

/// Returns the row of one leg of a collection.
fn leg_row(collection: &MeasuredQuestions, leg: &str, measures: Measures) -> Vec<String> {
    vec![
        collection.name.clone(),
        thousands(collection.evaluation.num_queries),
        leg.to_owned(),
        format!("{:.3}", measures.ndcg),
        format!("{:.3}", measures.recall),
        format!("{:.3}", measures.reciprocal_rank),
    ]
}

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes_to_mb(bytes))
}

fn meaning(verdict: CheckVerdict) -> Meaning {
    match verdict {
        CheckVerdict::Ok => Meaning::Good,
        CheckVerdict::Note => Meaning::Plain,
        CheckVerdict::Repaired => Meaning::Warning,
        CheckVerdict::Fault => Meaning::Bad,
    }
}

fn or_unknown(known: Option<String>) -> String {
    known.unwrap_or_else(|| "?".into())
}

fn row(model: &ListedModel) -> Vec<String> {
    let state: Vec<&str> = [
        (model.is_used, "in use"),
        (model.is_installed && !model.is_used, "installed"),
        (model.is_untested, "untested"),
    ]
    .into_iter()
    .filter_map(|(is_so, word)| is_so.then_some(word))
    .collect();
    vec![
        model.name.to_owned(),
        match model.languages {
            1 => "English".to_owned(),
            number => format!("{number} languages"),
        },
        or_unknown(model.download_mb.map(|size| format!("{size} MB"))),
        model.max_tokens.to_string(),
        model.embedding_dim.to_string(),
        or_unknown(model.cost.map(|cost| cost.to_string())),
        or_unknown(model.measured.map(|score| format!("{score:.3}"))),
        or_unknown(
            model
                .published
                .map(|score| format!("{} {} ({})", score.score, score.benchmark, score.source)),
        ),
        model.licence.to_owned(),
        state.join(", "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::maintenance::doctor::Check;
    use crate::present::json;
    use crate::text::json::Json;
    use crate::wording::Wording;

    #[test]
    fn each_check_is_a_line_and_faults_are_counted() {
        let check = |name, verdict, fix: Option<&str>| Check {
            name,
            verdict,
            message: "it\u{1b}[31m is so".into(),
            fix: fix.map(Wording::from),
        };
        let checks = vec![
            check("disk", CheckVerdict::Ok, None),
            check("database", CheckVerdict::Fault, Some("repair it")),
            check("skill", CheckVerdict::Note, None),
        ];
        let findings = Findings { checks, is_beyond_repair: false };
        let mut out = Vec::new();
        HumanLayout::plain(80).doctor(&findings, &mut CleanWriter::new(&mut out)).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"
        ok        disk      it\u{fffd}[31m is so
        fault     database  it\u{fffd}[31m is so
                            hint: repair it
        note      skill     it\u{fffd}[31m is so
        1 fault.
        ");
        let mut out = Vec::new();
        json::doctor(&findings, &mut Json::new(&mut out)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\"sound\": false") && text.contains("\"faults\": 1"), "{text}");
    }
}
