//! Writes text for people. Colour and width are fields, so that output is reproducible.
//!
//! Untrusted texts are put on one line first (`clean`), and all terminal output passes through a
//! [`CleanWriter`], which removes escape sequences. The output of commands is in other files.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::present::terminal::columns::{cut_middle, width, wrap};
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::CleanWriter;
use crate::text::printable::{clean, clean_name};
use crate::wording::{UserAction, Wording};

/// Indentation of the further lines of a message.
const CONTINUATION: usize = 2;

/// Smallest width of a message.
const MIN_ROOM: usize = 20;

/// Commands that are about no single knowledge base.
const WITHOUT_BASE: [&str; 6] = ["base", "cache", "help", "init", "mcp", "skill"];

/// The knowledge bases that commands shown to people are about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseNames {
    /// The one that this command is about; empty if it is about none.
    pub own: String,
    /// The one of commands that name none.
    pub usual: String,
}

/// The layout of output for people.
#[derive(Debug, Clone)]
pub struct HumanLayout {
    /// Available width in columns.
    pub width: usize,
    /// Whether output goes to a terminal; tables are then cut to its width.
    pub is_terminal: bool,
    /// Whether escape sequences for colour are written.
    pub is_coloured: bool,
    /// Whether paths are links to their files.
    pub has_links: bool,
    /// The home directory, shown as `~` on a terminal.
    pub home: Option<PathBuf>,
    /// The working directory; on a terminal, paths below it are shown relative to it.
    pub cwd: Option<PathBuf>,
    /// The knowledge bases; lines name the own one only where it is not the usual one.
    pub bases: BaseNames,
}

impl HumanLayout {
    /// Returns a layout without colour, for output that is not a terminal.
    pub const fn plain(width: usize) -> Self {
        Self {
            width,
            is_terminal: false,
            is_coloured: false,
            has_links: false,
            home: None,
            cwd: None,
            bases: BaseNames { own: String::new(), usual: String::new() },
        }
    }

    /// Returns the knowledge base that a line must name: `base`, by default the own one; `None` if it is the usual one.
    pub fn named_base<'a>(&'a self, base: Option<&'a str>) -> Option<&'a str> {
        Some(base.unwrap_or(&self.bases.own)).filter(|name| *name != self.bases.usual)
    }

    /// Returns the mark of a line that must name the knowledge base, with a space before it; else nothing.
    pub fn base_mark(&self, base: Option<&str>) -> String {
        self.named_base(base).map(|name| format!(" [{name}]")).unwrap_or_default()
    }

    /// Returns a command to type about `base`, by default the own one.
    pub fn command(&self, base: Option<&str>, rest: &str) -> String {
        let name = self.named_base(base).map(|name| format!("--base {name} "));
        format!("kb {}{rest}", name.unwrap_or_default())
    }

    /// Returns a text of kb as it is typed, with its commands about the own knowledge base.
    pub fn worded(&self, wording: &Wording) -> String {
        self.worded_about(wording, None)
    }

    /// Returns a text of kb as it is typed, with its commands about `base`, by default the own one.
    pub fn worded_about(&self, wording: &Wording, base: Option<&str>) -> String {
        wording.in_words(|action| match action {
            UserAction::Command(command) if is_about_base(command.name()) => {
                Some(self.command(base, &command.typed()))
            }
            _ => None,
        })
    }

    /// Returns the displayed form of a path: complete, or on a terminal relative to the working directory or
    /// the home directory.
    pub fn path(&self, path: &str) -> String {
        let text = if let Some(rest) = self.below(self.cwd.as_deref(), path) {
            rest.to_string_lossy().into_owned()
        } else if let Some(rest) = self.below(self.home.as_deref(), path) {
            format!("~/{}", rest.display())
        } else {
            path.to_owned()
        };
        clean_name(&text)
    }

    /// Returns the rest of a path below a folder, if a terminal shows only that.
    fn below<'a>(&self, dir: Option<&Path>, path: &'a str) -> Option<&'a Path> {
        let dir = dir.filter(|dir| self.is_terminal && dir.parent().is_some())?;
        Path::new(path).strip_prefix(dir).ok().filter(|rest| *rest != Path::new(""))
    }

    /// Writes a line of kb, worded as by [`Self::worded`]; its label, such as `error:`, is coloured. On a terminal, the
    /// line is wrapped between words, and words that are too long, such as paths, are shortened in the middle.
    pub fn labelled(&self, line: impl Into<Wording>, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let mut lines = self.fitted(&self.worded(&line.into())).into_iter();
        let first = lines.next().unwrap_or_default();
        let meaning = match first.split_once(':') {
            Some(("error" | "failed", rest)) => Some((Meaning::Bad, rest)),
            Some(("warning", rest)) => Some((Meaning::Warning, rest)),
            Some(("hint" | "note", rest)) => Some((Meaning::Place, rest)),
            _ => None,
        };
        match meaning {
            Some((meaning, rest)) => {
                self.paint(meaning, &first[..first.len() - rest.len()], out)?;
                writeln!(out, "{rest}")?;
            }
            None => writeln!(out, "{first}")?,
        }
        lines.try_for_each(|line| writeln!(out, "{line}"))
    }

    /// Writes a text that begins at a column, and on a terminal continues there on further lines.
    pub(crate) fn hanging(
        &self,
        text: &str,
        column: usize,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        if !self.is_terminal {
            return writeln!(out, "{text}");
        }
        let room = self.width.saturating_sub(column).max(MIN_ROOM);
        let words: Vec<_> = text.split(' ').map(|word| cut_middle(word, room)).collect();
        let text = words.join(" ");
        for (number, range) in wrap(&text, room).enumerate() {
            let indent = if number == 0 { 0 } else { column };
            writeln!(out, "{:indent$}{}", "", &text[range])?;
        }
        Ok(())
    }

    /// Wraps a message into lines that fit the terminal.
    fn fitted(&self, line: &str) -> Vec<String> {
        if !self.is_terminal || width(line) <= self.width {
            return vec![line.to_owned()];
        }
        let indent = line.len() - line.trim_start().len();
        let room = self.width.saturating_sub(indent + CONTINUATION).max(MIN_ROOM);
        let words: Vec<_> = line.split(' ').map(|word| cut_middle(word, room)).collect();
        let text = words.join(" ");
        let lines = wrap(&text, room).enumerate().map(|(number, range)| {
            let indent = if number == 0 { indent } else { indent + CONTINUATION };
            format!("{:indent$}{}", "", &text[range])
        });
        lines.collect()
    }

    /// Writes an error: what failed, and what to do next.
    pub fn error(&self, error: &Error, out: &mut CleanWriter<'_>) -> io::Result<()> {
        self.labelled(format!("error: {}", clean(&error.to_string())), out)?;
        let Some(hint) = error.hint() else { return Ok(()) };
        let hint = self.worded(&hint);
        // Some hints are lists, with a line for each thing to choose from.
        let mut lines = hint.split('\n').map(clean);
        self.labelled(format!("hint: {}", lines.next().unwrap_or_default()), out)?;
        lines.try_for_each(|line| self.labelled(line, out))
    }

    /// Writes text in the colour of its meaning.
    pub(crate) fn paint(
        &self,
        meaning: Meaning,
        text: &str,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        let code = meaning.code();
        if !self.is_coloured || code.is_empty() || text.is_empty() {
            return out.text(text);
        }
        out.styled(code, text)
    }
}

/// Whether a command is about a single knowledge base. An option of the program, such as `--help`, is not.
fn is_about_base(command: &str) -> bool {
    let word = command.split(' ').next().unwrap_or_default();
    word.starts_with(|c: char| c.is_ascii_lowercase()) && !WITHOUT_BASE.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::{kb, wording};

    fn shown(human: &HumanLayout, line: impl Into<Wording>) -> String {
        let mut bytes = Vec::new();
        human.labelled(line, &mut CleanWriter::new(&mut bytes)).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    const LINE: &str =
        "failed: /home/ada/a/very/long/path/to/a/document/report.pdf: needs a password";

    #[test]
    fn notices_fit_a_terminal_and_stay_whole_elsewhere() {
        assert_eq!(shown(&HumanLayout::plain(40), LINE), format!("{LINE}\n"));
        let terminal = HumanLayout { is_terminal: true, ..HumanLayout::plain(40) };
        insta::assert_snapshot!(shown(&terminal, LINE), @"
        failed:
          /home/ada/a/ve…/a/document/report.pdf:
          needs a password
        ");
        let indented = "  two words that are indented and long enough for two lines";
        let lines = "  two words that are indented and long\n    enough for two lines\n";
        assert_eq!(shown(&terminal, indented), lines);
        assert_eq!(shown(&terminal, "hint: short"), "hint: short\n");
    }

    #[test]
    fn commands_name_a_base_only_where_another_is_the_usual_one() {
        let human = |own: &str, usual: &str| HumanLayout {
            bases: BaseNames { own: own.into(), usual: usual.into() },
            ..HumanLayout::plain(40)
        };
        let work = human("work", "default");
        assert_eq!(work.command(None, "show 1"), "kb --base work show 1");
        assert_eq!(work.command(Some("default"), "show 1"), "kb show 1");
        assert_eq!(work.base_mark(None), " [work]");
        // In a project, its base is the usual one.
        let project = human("project", "project");
        assert_eq!(project.command(None, "show 1"), "kb show 1");
        assert_eq!(project.base_mark(None), "");
        assert_eq!(project.command(Some("default"), "show 1"), "kb --base default show 1");
        let update = || wording!("hint: `{}`", kb("update"));
        assert_eq!(work.worded_about(&update(), Some("default")), "hint: `kb update`");
        assert_eq!(shown(&work, update()), "hint: `kb --base work update`\n");
        // A text is not searched for commands.
        assert_eq!(shown(&work, "note: `kb update`"), "note: `kb update`\n");
    }

    #[test]
    fn a_hint_names_the_base_in_its_commands_and_leaves_other_text_alone() {
        let bases = BaseNames { own: "work".into(), usual: "default".into() };
        let work = HumanLayout { bases, ..HumanLayout::plain(80) };
        let check = |wording: Wording, expected: &str| {
            assert_eq!(work.worded(&wording), expected);
            assert_eq!(HumanLayout::plain(80).worded(&wording), wording.to_string());
        };
        check(
            wording!("`{}`, `{} | less`", kb("list"), kb("show").arg(1)),
            "`kb --base work list`, `kb --base work show 1 | less`",
        );
        let two = wording!("`{}`, `{}`", kb("base allow"), kb("skill install"));
        check(two, "`kb base allow`, `kb skill install`");
        check(kb("--help").into(), "kb --help");
        check(kb("doctor").flag("--fix").into(), "kb --base work doctor --fix");
        let similar = vec!["the command `kb list`".to_owned()];
        let error = Error::UnknownPart { document: 1, what: "section `kb list`".into(), similar };
        let mut bytes = Vec::new();
        work.error(&error, &mut CleanWriter::new(&mut bytes)).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap(), @"
        error: document 1 has no section `kb list`
        hint: did you mean: the command `kb list`
        ");
    }

    #[test]
    fn further_lines_of_a_column_are_indented_on_a_terminal() {
        let shown = |human: &HumanLayout| {
            let mut bytes = Vec::new();
            human
                .hanging("one two three four five six", 4, &mut CleanWriter::new(&mut bytes))
                .unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let narrow = HumanLayout::plain(MIN_ROOM + 4);
        assert_eq!(shown(&narrow), "one two three four five six\n");
        let terminal = HumanLayout { is_terminal: true, ..narrow };
        assert_eq!(shown(&terminal), "one two three four\n    five six\n");
    }

    #[test]
    fn a_text_next_to_a_column_stays_there_on_a_terminal() {
        let hung = |width: usize, is_terminal| {
            let human = HumanLayout { is_terminal, ..HumanLayout::plain(width) };
            let mut bytes = Vec::new();
            let text = "a few words and a/very/long/path/to/some/document.pdf";
            human.hanging(text, 6, &mut CleanWriter::new(&mut bytes)).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(hung(20, false), "a few words and a/very/long/path/to/some/document.pdf\n");
        for (columns, room) in [(46, 40), (36, 30)] {
            let text = hung(columns, true);
            let lines: Vec<&str> = text.lines().collect();
            assert!(lines.len() > 1 && lines[1..].iter().all(|line| line.starts_with("      ")));
            let longest = lines.iter().map(|line| width(line.trim_start())).max().unwrap();
            assert!((room / 2..=room).contains(&longest), "{columns}: {text}");
        }
        // However narrow, there is room for some letters.
        assert!(hung(3, true).lines().all(|line| !line.trim().is_empty()));
    }
}
