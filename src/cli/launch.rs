//! Opens a file in the user's editor or viewer, at a line or a page. No path goes through a shell.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use crate::cli::context::CommandContext;
use crate::cli::messages;
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::files::open::{self, SymlinkPolicy};
use crate::text::command::words;

/// The editor if neither `VISUAL` nor `EDITOR` is set.
const DEFAULT_EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// The system's command for opening a file in its default program. It takes no page number.
const DEFAULT_VIEWER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

/// How a program expects the number of a line or a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// An argument before the file; `#` stands for the number.
    Before(&'static str),
    /// Two arguments before the file: this and the number.
    Option(&'static str),
    /// An argument, then the file with `:` and the number.
    Goto(&'static str),
    /// The file with `:` and the number.
    Colon,
    /// The file, then the number.
    After,
}

/// Editors by program name, with their syntax for a line number.
const EDITORS: &[(&[&str], Syntax)] = &[
    (&["vi", "vim", "nvim", "gvim", "view", "vis", "nano", "pico", "micro"], Syntax::Before("+#")),
    (&["emacs", "emacsclient", "mg", "jmacs", "ne", "joe", "kak", "gedit"], Syntax::Before("+#")),
    (&["gnome-text-editor", "mousepad", "pluma", "xed"], Syntax::Before("+#")),
    (
        &["code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"],
        Syntax::Goto("--goto"),
    ),
    (&["hx", "helix", "subl", "zed", "zeditor", "lapce"], Syntax::Colon),
    (
        &["kate", "kwrite", "idea", "pycharm", "goland", "rustrover", "clion"],
        Syntax::Option("--line"),
    ),
    (&["mate"], Syntax::Option("-l")),
    (&["notepad++"], Syntax::Before("-n#")),
];

/// Viewers of paged documents by program name, with their syntax for a page number.
const VIEWERS: &[(&[&str], Syntax)] = &[
    (&["evince", "papers", "atril", "xreader"], Syntax::Before("--page-index=#")),
    (&["okular"], Syntax::Option("--page")),
    (&["zathura"], Syntax::Before("--page=#")),
    (&["sioyek"], Syntax::Option("--page")),
    (&["mupdf", "mupdf-gl", "mupdf-x11"], Syntax::After),
];

#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchTarget<'a> {
    pub(super) path: &'a Path,
    /// Line number, from 1.
    pub(super) line: Option<u32>,
    /// Page number, from 1.
    pub(super) page: Option<u32>,
}

/// Opens a text file in the editor (`VISUAL`, `EDITOR`) or another file in the viewer (`KB_VIEWER`), and
/// waits until that program exits.
pub(super) fn open(context: &CommandContext, place: LaunchTarget<'_>) -> Result<()> {
    let environment = context.session.environment();
    let (role, variables, known, command, number) = if is_text(place.path)? {
        let command =
            command_of(environment, "VISUAL").or_else(|| command_of(environment, "EDITOR"));
        let command = command.unwrap_or_else(|| words(DEFAULT_EDITOR));
        ("editor", "VISUAL or EDITOR", EDITORS, command, place.line)
    } else {
        let command = command_of(environment, "KB_VIEWER").unwrap_or_else(|| words(DEFAULT_VIEWER));
        ("viewer", "KB_VIEWER", VIEWERS, command, place.page)
    };
    let hint = || format!("set {variables} to the {role} to use");
    let Some((program, options)) = command.split_first() else {
        return Err(Error::usage(format!("the name of the {role} is empty")).with_hint(hint()));
    };
    messages::info(format!("Opening {}", place.path.display()));
    let status = environment.started(program).and_then(|found| {
        Command::new(found)
            .args(options)
            .args(arguments(syntax(known, program), place.path, number))
            .status()
    });
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::usage(format!("the {role} `{program}` failed: {status}"))),
        Err(cause) => {
            let message = format!("the {role} `{program}` cannot be started: {cause}");
            Err(Error::usage(message).with_hint(hint()))
        }
    }
}

/// Returns the words of the command in a variable.
fn command_of(environment: &Environment, variable: &str) -> Option<Vec<String>> {
    environment.get(variable)?.to_str().map(words)
}

/// Whether a file is opened in the editor rather than the viewer.
fn is_text(path: &Path) -> Result<bool> {
    /// Enough to find a zero byte in any binary format.
    const LOOKED_AT: u64 = 4096;
    let mut bytes = Vec::new();
    // Links may be followed: the caller has checked where the path leads.
    let read = open::open(path, SymlinkPolicy::Follow)?.take(LOOKED_AT).read_to_end(&mut bytes);
    read.map_err(|source| Error::of_file(path, source))?;
    Ok(!bytes.starts_with(b"%PDF-") && !bytes.contains(&0))
}

/// Returns the syntax of a program; `None` if it is unknown. Such a program gets no number, because it
/// might open `+12` as a file.
fn syntax(known: &[(&[&str], Syntax)], program: &str) -> Option<Syntax> {
    let name = Path::new(program).file_stem()?.to_str()?;
    known.iter().find(|known| known.0.contains(&name)).map(|known| known.1)
}

fn arguments(syntax: Option<Syntax>, path: &Path, number: Option<u32>) -> Vec<OsString> {
    let file = path.as_os_str().to_owned();
    let Some((syntax, number)) = syntax.zip(number) else { return vec![file] };
    let number = number.to_string();
    match syntax {
        Syntax::Before(form) => vec![form.replace('#', &number).into(), file],
        Syntax::Option(name) => vec![name.into(), number.into(), file],
        Syntax::Goto(name) => vec![name.into(), with_colon(file, &number)],
        Syntax::Colon => vec![with_colon(file, &number)],
        Syntax::After => vec![file, number.into()],
    }
}

fn with_colon(mut file: OsString, number: &str) -> OsString {
    file.push(format!(":{number}"));
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_gets_the_number_in_its_syntax() {
        let path = Path::new("/a b.md");
        let line = |program: &str| arguments(syntax(EDITORS, program), path, Some(7));
        assert_eq!(line("/usr/bin/vim"), ["+7", "/a b.md"]);
        assert_eq!(line("code"), ["--goto", "/a b.md:7"]);
        assert_eq!(line("hx"), ["/a b.md:7"]);
        assert_eq!(line("kate"), ["--line", "7", "/a b.md"]);
        assert_eq!(line("unheard-of"), ["/a b.md"]);
        let page = |program: &str| arguments(syntax(VIEWERS, program), path, Some(3));
        assert_eq!(page("zathura"), ["--page=3", "/a b.md"]);
        assert_eq!(page("mupdf"), ["/a b.md", "3"]);
        assert_eq!(page("xdg-open"), ["/a b.md"]);
        assert_eq!(arguments(syntax(EDITORS, "vim"), path, None), ["/a b.md"]);
    }
}
