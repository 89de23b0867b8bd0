//! Writes the text output of skill commands, for people and agents.
//!
//! Contents of skill files are printed byte for byte, except on a terminal; all other texts are printed
//! on one line.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use crate::app::agents::skills::{BuildReport, SkillAnswer};
use crate::diagnostic::{Diagnostic, Program};
use crate::present::terminal::sheet::CleanWriter;
use crate::present::terminal::table::{texts, words};
use crate::present::text::human::HumanLayout;
use crate::skill::init::CreatedSkill;
use crate::skill::install::InstalledSkill;
use crate::skill::lint::{LintResult, Severity};
use crate::skill::list::SkillList;
use crate::skill::open::OpenedFile;
use crate::skill::search::SkillResults;
use crate::skill::show::{OutlinedHeading, ShownSection};
use crate::skill::sources::{SourceEntry, Sources};
use crate::skill::stats::{FailureCount, SectionCount, SkillStats, StatCounts};
use crate::skill::sync::SyncResult;
use crate::text::paths;
use crate::text::printable::{clean, clean_lines, clean_name};

/// Most characters of a description in a list.
const MAX_DESCRIPTION_CHARS: usize = 60;

/// Returns the contents of a skill file, to print byte for byte; `None` for all other answers.
pub fn own_bytes(answer: &SkillAnswer) -> Option<Cow<'_, [u8]>> {
    match answer {
        SkillAnswer::Show(shown) => Some(show(shown)),
        SkillAnswer::Open(opened) => Some(open(opened)),
        _ => None,
    }
}

/// Writes the result of a command, with more details if `is_verbose`; nothing if there are
/// [`own_bytes`].
pub fn answer(
    answer: &SkillAnswer,
    program: Program,
    is_verbose: bool,
    layout: &HumanLayout,
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    match answer {
        SkillAnswer::List(listed) if listed.skills.is_empty() => {
            writeln!(out, "No skills found. `{} init NAME` creates one.", program.command())
        }
        SkillAnswer::List(listed) => list(listed, is_verbose, layout, out),
        SkillAnswer::Build(report) => build(report, out),
        SkillAnswer::Search(results) => search(results, out),
        SkillAnswer::Outline(headings) => outline(headings, out),
        SkillAnswer::Show(_) | SkillAnswer::Open(_) => Ok(()),
        SkillAnswer::Sources(listed) => sources(listed, out),
        SkillAnswer::Stats(counts) => stats(counts, out),
        SkillAnswer::Lint(linted) => lint(linted, out),
        SkillAnswer::Sync { synced, .. } => sync(synced, out),
        SkillAnswer::Init(made) => init(made, out),
        SkillAnswer::Install(installed) => install(installed, out),
    }
}

/// Writes a list of skills; with their paths if `is_verbose`.
fn list(
    list: &SkillList,
    is_verbose: bool,
    layout: &HumanLayout,
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    let rows = list.skills.iter().map(|listed| {
        let row = &listed.found.row;
        let last = if is_verbose {
            paths::path_text(&listed.found.dir)
        } else {
            shorten(&clean(&row.description), MAX_DESCRIPTION_CHARS)
        };
        vec![
            clean(&row.name),
            listed.found.scope.as_str().into(),
            listed.status.as_str().into(),
            last,
        ]
    });
    let last = if is_verbose { "SOURCE" } else { "DESCRIPTION" };
    let columns = [words("SKILL"), words("SCOPE"), words("STATUS"), texts(last)];
    layout.table(&columns, rows, out)
}

/// Returns the displayed form of a path.
fn name_of(path: &Path) -> String {
    clean_name(paths::path_text(path))
}

/// Cuts a text; an ellipsis marks the cut.
pub(super) fn shorten(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

fn build(report: &BuildReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let (built, skill) = (&report.built, &report.built.skill);
    let scope = skill.scope.as_str();
    if let Some(imported) = &report.imported {
        let (imported, stored) = (name_of(imported), clean_name(skill.skill_path()));
        writeln!(out, "Imported {imported} → {stored} ({scope})")?;
    }
    writeln!(out, "Built {} ({scope})", clean_name(&skill.name))?;
    writeln!(out, "  Source:  {}", clean_name(skill.skill_path()))?;
    writeln!(out, "  Runtime: {}", name_of(&skill.runtime))?;
    writeln!(out, "  Index:   {}", if built.index.is_new { "new" } else { "up to date" })?;
    for deployment in &built.deployments {
        let method = if deployment.is_copy { "copy" } else { "symlink" };
        writeln!(out, "  Deploy:  {} ({method})", name_of(&deployment.path))?;
    }
    if let Some(ingested) = &report.ingested {
        writeln!(
            out,
            "  Ingest:  {} added, {} updated, {} unchanged, {} failed; tagged skill:{}",
            ingested.added,
            ingested.updated,
            ingested.skipped,
            ingested.failed.len(),
            clean_name(&skill.name)
        )?;
    }
    Ok(())
}

/// A line for AGENTS.md: the first step of SKILL.md, and where the rest is.
const AGENTS_LINE: &str = "- Search the user's documents with `kb search \"QUESTION\" --budget 1000 --format agent` \
                           whenever they may hold the answer, and cite title and page; `kb help` has the rest.";

/// Writes the place of kb's own skill.
fn install(installed: &InstalledSkill, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let done = if installed.is_new { "Wrote" } else { "Up to date:" };
    writeln!(out, "{done} {} (version {})", name_of(&installed.path), installed.version)?;
    writeln!(out, "For an agent that reads AGENTS.md instead, add this line to it:\n{AGENTS_LINE}")
}

/// Writes the answer to a query.
fn search(results: &SkillResults, out: &mut CleanWriter<'_>) -> io::Result<()> {
    if results.hits.is_empty() {
        return writeln!(out, "No section holds all of these words.");
    }
    for hit in &results.hits {
        let (file, section) = (clean_name(&hit.file), clean_name(&hit.section));
        writeln!(out, "{file}#{section} (score: {:.4})", hit.score)?;
        let snippet = hit.snippet.replace("[MATCH]", "").replace("[/MATCH]", "");
        for line in snippet.lines() {
            writeln!(out, "{}", format!("  {}", clean_lines(line)).trim_end())?;
        }
    }
    Ok(())
}

/// Writes headings below the name of their file, indented by level.
fn outline(headings: &[OutlinedHeading], out: &mut CleanWriter<'_>) -> io::Result<()> {
    let mut last: Option<&str> = None;
    for heading in headings {
        if last != Some(&heading.file) {
            if last.is_some() {
                writeln!(out)?;
            }
            writeln!(out, "{}", clean_name(&heading.file))?;
            last = Some(&heading.file);
        }
        let level = usize::from(heading.level);
        let text = clean(&heading.heading);
        let line = format!("{}{} {text}", "  ".repeat(level), "#".repeat(level));
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Returns the bytes of a section, followed by a line end.
fn show(shown: &ShownSection) -> Cow<'_, [u8]> {
    let has_end = shown.text.ends_with(['\n', '\r']) || shown.text.is_empty();
    let end = if has_end { "" } else { "\n" };
    followed(shown.text.as_bytes(), &(end.to_owned() + &more(shown.num_cut)))
}

/// Returns the bytes of a file.
fn open(opened: &OpenedFile) -> Cow<'_, [u8]> {
    followed(&opened.bytes, &more(opened.num_cut))
}

/// Returns the line with the number of lines cut off, if any.
fn more(num_cut: usize) -> String {
    if num_cut > 0 { format!("... ({num_cut} more lines)\n") } else { String::new() }
}

fn followed<'a>(bytes: &'a [u8], end: &str) -> Cow<'a, [u8]> {
    if end.is_empty() { bytes.into() } else { [bytes, end.as_bytes()].concat().into() }
}

/// Writes files and directories as a tree.
fn sources(sources: &Sources, out: &mut CleanWriter<'_>) -> io::Result<()> {
    writeln!(out, "{}", clean_name(&sources.root))?;
    for entry in &sources.entries {
        writeln!(out, "{}", branch(entry))?;
    }
    if sources.num_more > 0 {
        writeln!(out, "... ({} more)", sources.num_more)?;
    }
    Ok(())
}

fn branch(entry: &SourceEntry) -> String {
    let (own, above) = entry.is_last.split_last().unwrap_or((&true, &[]));
    let guides: String =
        above.iter().map(|is_last| if *is_last { "    " } else { "│   " }).collect();
    let name = clean_name(entry.path.rsplit('/').next().unwrap_or(&entry.path));
    let tail = match (entry.is_dir, entry.num_files) {
        (true, Some(num_files)) => format!("/ ({num_files} files)"),
        (true, None) => "/".to_owned(),
        (false, _) => String::new(),
    };
    format!("{guides}{} {name}{tail}", if *own { "└──" } else { "├──" })
}

fn stats(stats: &SkillStats, out: &mut CleanWriter<'_>) -> io::Result<()> {
    const NONE: &str = "<none>";
    let filters = &stats.filters;
    let projects = clean(&filters.projects.join(", "));
    let time = |time: &Option<String>| time.as_deref().map_or(NONE.to_owned(), clean);
    writeln!(out, "Skill: {}", clean(&stats.skill))?;
    writeln!(out, "Path: {}", clean_name(&stats.skill_path))?;
    writeln!(out, "Query: {}", stats.group_by.as_str())?;
    writeln!(
        out,
        "Filters: since={}, until={}, projects={}",
        time(&filters.since),
        time(&filters.until),
        if projects.is_empty() { NONE } else { &projects }
    )?;
    writeln!(out, "Period: start={}, end={}", time(&stats.period.start), time(&stats.period.end))?;
    match &stats.counts {
        StatCounts::Summary { total_accesses, unique_sections, unique_files, error_count } => {
            writeln!(out, "Total accesses: {total_accesses}")?;
            writeln!(out, "Unique sections: {unique_sections}")?;
            writeln!(out, "Unique files: {unique_files}")?;
            writeln!(out, "Error count: {error_count}")?;
        }
        StatCounts::Sections(counts) => {
            for SectionCount { section, file, count } in counts {
                writeln!(out, "{count}\t{}\t{}", clean_name(file), clean(section))?;
            }
        }
        StatCounts::Files(all) => lines(all.iter().map(|of| (&of.file, of.count)), out)?,
        StatCounts::Commands(all) => lines(all.iter().map(|(name, count)| (name, *count)), out)?,
        StatCounts::Projects(all) => lines(all.iter().map(|of| (&of.project, of.count)), out)?,
        StatCounts::Search(all) => lines(all.iter().map(|of| (&of.query, of.count)), out)?,
        StatCounts::Errors(counts) => {
            for FailureCount { target, command, error, count } in counts {
                let error = error.lines().next().unwrap_or_default();
                let command = clean(command);
                writeln!(out, "{count}\t{command}\t{}\t{}", clean(target), clean(error))?;
            }
        }
    }
    Ok(())
}

fn lines<'a>(
    mut counts: impl Iterator<Item = (&'a String, usize)>,
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    counts.try_for_each(|(name, count)| writeln!(out, "{count}\t{}", clean(name)))
}

/// Writes the summary of checking a skill; findings are printed on stderr before it.
fn lint(linted: &LintResult, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let (errors, warnings) = (linted.count(Severity::Error), linted.count(Severity::Warning));
    if linted.is_skipped {
        writeln!(out, "info: skipping compiled skill '{}'", clean_name(&linted.skill))
    } else if linted.findings.is_empty() {
        writeln!(out, "Lint passed: no issues found")
    } else {
        writeln!(out, "Lint complete: {errors} error(s), {warnings} warning(s)")
    }
}

fn sync(synced: &SyncResult, out: &mut CleanWriter<'_>) -> io::Result<()> {
    for (skill, count) in &synced.skills {
        let skill = clean_name(skill);
        if synced.is_dry_run {
            writeln!(out, "Would sync {count} entries for '{skill}'")?;
        } else {
            writeln!(out, "Synced {count} entries for '{skill}' (local logs removed)")?;
        }
    }
    if synced.skills.is_empty() && synced.failed.is_empty() {
        writeln!(out, "No local logs to sync")?;
    }
    Ok(())
}

/// Writes the created skill or store.
fn init(made: &CreatedSkill, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let (scope, path) = (made.scope.as_str(), name_of(&made.path));
    match &made.name {
        Some(name) => writeln!(out, "Created {scope} skill '{}' at {path}", clean_name(name)),
        None => writeln!(out, "Initialized skillc project in {path}"),
    }
}

/// Writes the error of a command, and a hint unless only the protocol's own output is wanted.
pub fn error(error: &Diagnostic, program: Program, out: &mut CleanWriter<'_>) -> io::Result<()> {
    for line in error.line(program).lines() {
        let indent = if line.starts_with("  ") { "  " } else { "" };
        writeln!(out, "{indent}{}", clean(line))?;
    }
    match error.hint() {
        Some(hint) if program == Program::Kb => writeln!(out, "hint: {}", clean(&hint.to_string())),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::SimilarHeading;

    #[track_caller]
    fn check(draw: impl FnOnce(&mut CleanWriter<'_>) -> io::Result<()>, expected: &str) {
        let mut out = Vec::new();
        draw(&mut CleanWriter::new(&mut out)).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    fn heading(level: u8, heading: &str, file: &str) -> OutlinedHeading {
        OutlinedHeading { level, heading: heading.into(), file: file.into() }
    }

    #[test]
    fn headings_are_indented_by_level_and_grouped_by_file() {
        let headings =
            [heading(1, "A", "SKILL.md"), heading(3, "B", "SKILL.md"), heading(2, "", "refs/c.md")];
        check(|out| outline(&headings, out), "SKILL.md\n  # A\n      ### B\n\nrefs/c.md\n    ##\n");
    }

    #[test]
    fn a_tree_has_branches_counts_and_a_last_line() {
        let entry = |path: &str, num_files, is_last: &[bool]| SourceEntry {
            path: path.into(),
            is_dir: !path.contains('.'),
            num_files,
            is_last: is_last.to_vec(),
        };
        let listed = Sources {
            root: "x/".into(),
            entries: vec![
                entry("a", None, &[false]),
                entry("a/b", Some(2), &[false, false]),
                entry("a/c.md", None, &[false, true]),
                entry("z", None, &[true]),
                entry("z/d.md", None, &[true, true]),
            ],
            num_more: 4,
        };
        check(
            |out| sources(&listed, out),
            "x/\n├── a/\n│   ├── b/ (2 files)\n│   └── c.md\n└── z/\n    └── d.md\n... (4 more)\n",
        );
    }

    #[test]
    fn a_file_is_printed_unchanged_and_a_cut_one_reports_the_missing_lines() {
        let opened =
            |bytes: &[u8], num_cut| OpenedFile { file: "f".into(), bytes: bytes.into(), num_cut };
        assert_eq!(*open(&opened(b"\xff\0\x1b no line end", 0)), *b"\xff\0\x1b no line end");
        assert_eq!(*open(&opened(b"a\r\n", 3)), *b"a\r\n... (3 more lines)\n");
    }

    #[test]
    fn suggestions_stay_on_separate_lines() {
        let missing = Diagnostic::SectionNotFound {
            section: "s".into(),
            similar: vec![SimilarHeading {
                heading: "S\u{1b}[1m".into(),
                file: "a.md".into(),
                line: 1,
            }],
        };
        check(
            |out| error(&missing, Program::Kb, out),
            "error[E020]: section not found: 's'\n\nDid you mean one of these?\n  \
             - S\u{fffd}[1m (a.md)\n",
        );
        let unknown = Diagnostic::SkillNotFound("x".into());
        check(|out| error(&unknown, Program::Skc, out), "error[E001]: skill 'x' not found\n");
    }
}
