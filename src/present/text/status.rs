//! Writes status, setup and settings as text.

use std::io;
use std::path::Path;

use crate::app::maintenance::status::{FullScan, Layers, OcrSetup, Setup, StatusReport};
use crate::app::session::copies;
use crate::app::session::settings::Setting;
use crate::ingest::survey::OutOfDate;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::terminal::table::{NamedValue, fact, texts, words};
use crate::present::text::human::HumanLayout;
use crate::present::text::manage::described_shortly;
use crate::present::text::runs::{made_differently, pronoun};
use crate::skill::install::InstalledCopy;
use crate::store::{LastUpdate, PageCounts, RoomBytes};
use crate::text::number::{bytes_to_mb, counted, thousands};
use crate::text::paths;
use crate::text::printable::clean;
use crate::wording::{Wording, kb, wording};

impl HumanLayout {
    /// Writes the status.
    pub fn status(&self, status: &StatusReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let StatusReport { setup, stats, sandbox, bases, conflict_copies, running } = status;
        let total: u64 = stats.documents.iter().map(|(_, count)| u64::from(*count)).sum();
        let by_type: Vec<String> = stats
            .documents
            .iter()
            .map(|(doc_type, count)| format!("{} {doc_type}", thousands(*count)))
            .collect();
        let model = setup.binding.as_ref().map_or_else(
            || no_model().to_string(),
            |binding| {
                format!(
                    "{} ({} dim, {}, {} tokens)",
                    binding.model_name, binding.dim, binding.precision, binding.max_tokens
                )
            },
        );
        let database = clean(&setup.database.display().to_string());
        let is_whole = stats.pages.documents_with_unread == 0;
        let mut facts = vec![
            fact("Database", database).painted(Meaning::Path),
            fact("Size", format!("{:.1} MB", bytes_to_mb(stats.db_size_bytes))),
            fact("Documents", format!("{} ({})", thousands(total), by_type.join(", "))),
            fact("Chunks", thousands(stats.total_chunks)),
            fact("Pages", describe_pages(&stats.pages)).painted(Meaning::of(is_whole)),
            fact("OCR", describe_ocr(&setup.ocr)),
            fact("Sandbox", describe_sandbox(sandbox.as_ref())),
            fact("Updated", describe_update(stats.last_update.as_ref())),
            fact("Model", clean(&model)),
        ];
        let files = setup.binding.as_ref().map(|binding| &binding.files);
        if let Some(files) = files.filter(|files| files.sha256.is_some()) {
            let files = files.to_string();
            facts.push(fact("Weights", files.trim_start_matches("weights ")));
        }
        if let Some(run) = running {
            let run = Wording::from(*run).to_string();
            facts.insert(0, fact("Running", run).painted(Meaning::Warning));
        }
        if setup.is_read_only {
            let access = "read-only, because its file, folder or medium is not writable";
            facts.insert(1, fact("Access", access).painted(Meaning::Warning));
        }
        if let Some(wanted) = &setup.model_wanted {
            let wanted = wording!("{} is set; `{}` switches to it", clean(wanted), kb("reindex"));
            facts.push(fact("Model wanted", self.worded(&wanted)).painted(Meaning::Warning));
        }
        if setup.made_differently > 0 {
            let documents = made_differently(setup.made_differently);
            facts.push(fact("Outdated", self.worded(&documents)).painted(Meaning::Warning));
        }
        if let Some(first) = conflict_copies.first() {
            let name = clean(&paths::name(&first.path));
            let copies = match conflict_copies.len() {
                1 => format!("1 conflict copy, {name}"),
                more => format!("{} conflict copies, such as {name}", thousands(more)),
            };
            let text =
                format!("{copies}: merge the differences into the original, then delete the copy");
            facts.push(fact("Conflicts", text).painted(Meaning::Warning));
        }
        if !setup.copies.is_empty() {
            let copies = copies::counted(setup.copies.len());
            let size = bytes_to_mb(copies::total_bytes(&setup.copies));
            let size = format!("{size:.1} MB");
            let remove = kb("remove").flag("--backups");
            let them = pronoun(setup.copies.len());
            let text = wording!("{}, {}; `{}` deletes {}", copies, size, remove, them);
            facts.push(fact("Backups", self.worded(&text)));
        }
        facts.extend([fact("Schema", stats.schema_version.to_string())]);
        let skills = setup.agent_skills.iter();
        facts.extend(skills.map(|skill| {
            fact("Agent skill", describe_skill(skill)).painted(Meaning::of(skill.is_current))
        }));
        let others = bases.iter().filter(|base| base.dir != setup.data_dir);
        facts.extend(others.map(|base| fact("Other base", described_shortly(base))));
        self.facts(&facts, out)?;
        if total == 0 { self.nothing_added(out) } else { Ok(()) }
    }

    /// Writes what uses the space, and one line about files that have changed since they were added.
    pub fn scan(&self, scan: &FullScan, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let RoomBytes { texts, keywords, vectors, token_codes, free } = scan.room;
        let [texts, keywords, vectors, token_codes, free] =
            [texts, keywords, vectors, token_codes, free].map(bytes_to_mb);
        let room = format!(
            "Space: vectors {vectors:.1} MB, token codes {token_codes:.1} MB, texts {texts:.1} MB, keyword \
             indexes {keywords:.1} MB, free for new documents {free:.1} MB."
        );
        self.labelled(room, out)?;
        self.out_of_date(&scan.out_of_date, out)
    }

    /// Writes one line about files that have changed since they were added.
    pub(super) fn out_of_date(
        &self,
        files: &OutOfDate,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        if *files == OutOfDate::default() {
            return writeln!(out, "All files are unchanged.");
        }
        let failed = match files.num_failed {
            0 => String::new(),
            failed => format!(", {} could not be read", thousands(failed)),
        };
        if *files == (OutOfDate { num_failed: files.num_failed, ..OutOfDate::default() }) {
            let list = kb("files").flag("--failed");
            let files = wording!(
                "All files are unchanged{}. `{}` lists {}.",
                failed,
                list,
                pronoun(files.num_failed)
            );
            return self.labelled(files, out);
        }
        let away = match files.num_folders_away {
            0 => String::new(),
            away => format!(", {} missing or empty", counted(away, "folder")),
        };
        let refused = match files.num_refused {
            0 => String::new(),
            1 => ", 1 replaced by a link that is not followed".into(),
            refused => format!(", {refused} replaced by links that are not followed"),
        };
        let [num_changed, num_new, num_missing] =
            [files.num_changed, files.num_new, files.num_missing].map(thousands);
        let files = format!(
            "{num_changed} changed, {num_new} new, {num_missing} missing{failed}{away}{refused}"
        );
        self.labelled(
            wording!("Out of date: {}. `{}` updates the database.", files, kb("update")),
            out,
        )
    }

    /// Writes the setup.
    pub fn setup(&self, setup: &Setup, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let mut database = clean(&setup.database.display().to_string());
        if !setup.database.exists() {
            database += " (does not exist yet)";
        }
        let built_with = setup.binding.as_ref().map_or_else(
            || no_model().to_string(),
            |binding| {
                format!(
                    "{} ({} dim, {})",
                    clean(&binding.model_name),
                    binding.dim,
                    binding.precision
                )
            },
        );
        let data_dir = clean(&setup.data_dir.display().to_string());
        let facts = [
            fact("Data directory", data_dir).painted(Meaning::Path),
            fact("Database", database).painted(Meaning::Path),
            fact("Model configured", clean(&setup.model_configured)),
            installed("Model files", setup.model_dir.as_deref()),
            installed("ONNX Runtime", setup.runtime.as_deref()),
            fact("OCR", describe_ocr(&setup.ocr)),
            fact("Database built with", built_with),
        ];
        self.facts(&facts, out)
    }

    /// Writes every setting.
    pub fn settings(&self, settings: &[Setting], out: &mut CleanWriter<'_>) -> io::Result<()> {
        let columns = [
            words("KEY"),
            texts("VALUE").painted(Meaning::Title),
            texts("FROM").painted(Meaning::Faint),
        ];
        self.table(&columns, settings.iter().map(setting_row), out)
    }
}

/// Returns the text that is shown for a database without a model.
fn no_model() -> Wording {
    wording!("none yet (`{}` adds vectors for search by meaning)", kb("init"))
}

/// Returns the fact where something is that `kb init` fetches.
fn installed(name: &'static str, path: Option<&Path>) -> NamedValue {
    match path {
        Some(path) => fact(name, clean(&path.display().to_string())).painted(Meaning::Path),
        None => {
            let missing = wording!("not installed (`{}` fetches it)", kb("init"));
            fact(name, missing.to_string()).painted(Meaning::Warning)
        }
    }
}

fn setting_row(setting: &Setting) -> Vec<String> {
    // Quotes make invisible values visible.
    let value = match setting.value.trim() {
        text if text.is_empty() || text != setting.value => format!("\"{}\"", setting.value),
        text => text.to_owned(),
    };
    vec![clean(&setting.key), clean(&value), clean(&setting.origin)]
}

fn describe_update(last: Option<&LastUpdate>) -> String {
    match last {
        None => "not recorded yet".into(),
        Some(LastUpdate { at, num_days: 0 }) => readable(at),
        Some(LastUpdate { at, num_days }) => {
            format!("{}, {} ago", readable(at), counted(*num_days, "day"))
        }
    }
}

/// Returns a time, RFC 3339 in UTC, as people write it, to the minute; unchanged if it has another
/// form.
fn readable(time: &str) -> String {
    match (time.split_once('T'), time.ends_with('Z')) {
        (Some((day, clock)), true) if clock.is_char_boundary(5) => {
            format!("{} {} UTC", clean(day), clean(&clock[..5]))
        }
        _ => clean(time),
    }
}

fn describe_pages(pages: &PageCounts) -> String {
    let total = thousands(pages.read + pages.empty + pages.unread);
    let (ocr, unread) = (thousands(pages.ocr), thousands(pages.unread));
    match pages.documents_with_unread {
        0 => format!("{total} ({ocr} read by OCR)"),
        count => {
            let documents = counted(count, "document");
            format!("{total} ({ocr} read by OCR, {unread} not read in {documents})")
        }
    }
}

/// Describes an installed copy of kb's own skill, and how to replace one of another version.
fn describe_skill(skill: &InstalledCopy) -> String {
    let path = clean(&skill.path.display().to_string());
    let version = skill
        .version
        .as_deref()
        .map_or("without a version".into(), |version| format!("version {}", clean(version)));
    if skill.is_current {
        return format!("{path} ({version})");
    }
    let current = env!("CARGO_PKG_VERSION");
    let install = wording!("`{}` replaces it", kb("skill install"));
    format!("{path} ({version}, but this is kb {current}: {install})")
}

/// Describes what confines the processes that read documents.
fn describe_sandbox(layers: Option<&Layers>) -> String {
    let Some((active, inactive)) = layers.map(Layers::names) else {
        return wording!("no document can be read (`{}` explains why)", kb("doctor")).to_string();
    };
    if active.is_empty() {
        return "none".to_owned();
    }
    let inactive: String = inactive.iter().map(|layer| format!(", without {layer}")).collect();
    format!("{}{inactive}", active.join(", "))
}

fn describe_ocr(ocr: &OcrSetup) -> String {
    match (&ocr.tesseract, &ocr.problem, ocr.mode.as_str()) {
        (_, _, "never") => "off (ingestion.enable_ocr)".into(),
        (Some(program), _, mode) => {
            let program = clean(&program.display().to_string());
            format!("{program} ({mode}, {})", clean(&ocr.languages))
        }
        (None, Some(problem), _) => {
            wording!("off: {} (`{}` explains what to do)", clean(problem), kb("doctor")).to_string()
        }
        (None, None, _) => "not installed (Tesseract reads scans)".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_is_shown_to_the_minute() {
        let described =
            |at: &str, num_days| describe_update(Some(&LastUpdate { at: at.to_owned(), num_days }));
        assert_eq!(described("2026-11-28T14:55:55Z", 0), "2026-11-28 14:55 UTC");
        assert_eq!(described("2026-11-28T14:55:55Z", 2), "2026-11-28 14:55 UTC, 2 days ago");
        assert_eq!(described("yesterday", 0), "yesterday");
        assert_eq!(described("2026-11-28TüüüZ", 0), "2026-11-28TüüüZ");
    }
}
