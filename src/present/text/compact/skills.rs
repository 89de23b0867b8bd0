//! Writes the answers of skill commands for models.

use std::io;

use crate::app::agents::skills::SkillAnswer;
use crate::diagnostic::Program;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::human::HumanLayout;
use crate::present::text::skill as text;
use crate::skill::list::SkillList;
use crate::skill::show::OutlinedHeading;
use crate::text::number::counted;
use crate::text::printable::{clean, clean_name};

/// Most characters of a description; the rest is at the beginning of its SKILL.md.
const MAX_DESCRIPTION_CHARS: usize = 180;

/// Writes the answer of a skill command. Contents of files are kept, but for control characters.
pub fn skill(answer: &SkillAnswer, out: &mut CleanWriter<'_>) -> io::Result<()> {
    match answer {
        SkillAnswer::List(listed) => list(listed, out),
        SkillAnswer::Outline(headings) => outline(headings, out),
        answer => match text::own_bytes(answer) {
            Some(bytes) => out.text(&String::from_utf8_lossy(&bytes)),
            None => text::answer(answer, Program::Kb, false, &HumanLayout::plain(80), out),
        },
    }
}

/// Writes each skill with its purpose.
fn list(list: &SkillList, out: &mut CleanWriter<'_>) -> io::Result<()> {
    writeln!(out, "{}", counted(list.skills.len(), "skill"))?;
    for listed in &list.skills {
        let row = &listed.found.row;
        let description = text::shorten(&clean(&row.description), MAX_DESCRIPTION_CHARS);
        writeln!(out, "- {}: {description}", clean(&row.name))?;
    }
    if list.skills.is_empty() { Ok(()) } else { writeln!(out, "next: skill_outline, skill_show") }
}

/// Writes headings below the name of their file.
fn outline(headings: &[OutlinedHeading], out: &mut CleanWriter<'_>) -> io::Result<()> {
    let mut last: Option<&str> = None;
    for heading in headings {
        if last != Some(&heading.file) {
            writeln!(out, "{}:", clean_name(&heading.file))?;
            last = Some(&heading.file);
        }
        let marks = "#".repeat(usize::from(heading.level));
        writeln!(out, "{}", format!("{marks} {}", clean(&heading.heading)).trim_end())?;
    }
    Ok(())
}
