//! Starts the user's editor or viewer at a line or a page of a file. No path goes through a shell.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use crate::cli::context::Context;
use crate::cli::voice;
use crate::error::{Error, Result};
use crate::files::open::{self, Links};

/// What is started where neither `VISUAL` nor `EDITOR` says.
const DEFAULT_EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// What opens a file in the program its kind has on this system. It takes no page.
const DEFAULT_VIEWER: &str = if cfg!(target_os = "macos") {
    "open"
} else if cfg!(windows) {
    "explorer"
} else {
    "xdg-open"
};

/// How a program takes the number of a line or a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// An argument before the file, `#` standing for the number.
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

/// Editors by the names of their programs, and how they take a line.
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

/// Viewers of paged documents by the names of their programs, and how they take a page.
const VIEWERS: &[(&[&str], Syntax)] = &[
    (&["evince", "papers", "atril", "xreader"], Syntax::Before("--page-index=#")),
    (&["okular"], Syntax::Option("--page")),
    (&["zathura"], Syntax::Before("--page=#")),
    (&["sioyek"], Syntax::Option("--page")),
    (&["mupdf", "mupdf-gl", "mupdf-x11"], Syntax::After),
];

/// A place in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// The file.
    pub(super) path: &'a Path,
    /// A line of it, from 1.
    pub(super) line: Option<u32>,
    /// A page of it, from 1.
    pub(super) page: Option<u32>,
}

/// Opens a text in the editor (`VISUAL`, `EDITOR`), everything else in the viewer (`KB_VIEWER`), and
/// waits as long as that program does.
pub(super) fn open(context: &Context, place: Place<'_>) -> Result<()> {
    let variable = |name: &str| context.session.environment.get(name)?.to_str().map(words);
    let (role, known, command, number) = if is_text(place.path)? {
        let command = variable("VISUAL").or_else(|| variable("EDITOR"));
        ("editor", EDITORS, command.unwrap_or_else(|| words(DEFAULT_EDITOR)), place.line)
    } else {
        let command = variable("KB_VIEWER");
        ("viewer", VIEWERS, command.unwrap_or_else(|| words(DEFAULT_VIEWER)), place.page)
    };
    let Some((program, options)) = command.split_first() else {
        return Err(Error::Usage { message: format!("the {role} has no name"), hint: hint(role) });
    };
    voice::say(&format!("Opening {}", place.path.display()));
    let status = Command::new(program)
        .args(options)
        .args(arguments(syntax(known, program), place.path, number))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Usage {
            message: format!("the {role} `{program}` failed: {status}"),
            hint: None,
        }),
        Err(cause) => Err(Error::Usage {
            message: format!("the {role} `{program}` cannot be started: {cause}"),
            hint: hint(role),
        }),
    }
}

fn hint(role: &str) -> Option<String> {
    let variable = if role == "editor" { "VISUAL or EDITOR" } else { "KB_VIEWER" };
    Some(format!("{variable} names the {role}"))
}

/// Whether a file is to be edited rather than viewed.
fn is_text(path: &Path) -> Result<bool> {
    /// Enough to meet a zero byte in any format that is not text.
    const LOOKED_AT: u64 = 4096;
    let mut bytes = Vec::new();
    // What a remembered path may lead to, the caller has looked at.
    let read = open::open(path, Links::Follow)?.take(LOOKED_AT).read_to_end(&mut bytes);
    read.map_err(|source| Error::Io { path: path.to_owned(), source })?;
    Ok(!bytes.starts_with(b"%PDF-") && !bytes.contains(&0))
}

/// Returns how a program takes a number; `None` if that is not known, and then it gets none: it might
/// take `+12` for a file.
fn syntax(known: &[(&[&str], Syntax)], program: &str) -> Option<Syntax> {
    let name = Path::new(program).file_stem()?.to_str()?;
    known.iter().find(|known| known.0.contains(&name)).map(|known| known.1)
}

fn arguments(syntax: Option<Syntax>, path: &Path, number: Option<u32>) -> Vec<OsString> {
    let file = path.as_os_str().to_owned();
    let Some((syntax, number)) = syntax.zip(number) else { return vec![file] };
    let number = number.to_string();
    let with_colon = || {
        let mut file = file.clone();
        file.push(format!(":{number}"));
        file
    };
    match syntax {
        Syntax::Before(form) => vec![form.replace('#', &number).into(), file],
        Syntax::Option(name) => vec![name.into(), number.into(), file],
        Syntax::Goto(name) => vec![name.into(), with_colon()],
        Syntax::Colon => vec![with_colon()],
        Syntax::After => vec![file, number.into()],
    }
}

/// Splits a command as people write it into a variable: at spaces; quoted text
/// together. Nothing else means anything.
pub(super) fn words(command: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut quote, mut is_open) = (None, false);
    for c in command.chars() {
        if quote.is_none() && c.is_whitespace() {
            is_open = false;
            continue;
        }
        if !is_open {
            found.push(String::new());
            is_open = true;
        }
        match quote {
            Some(mark) if c == mark => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => found.last_mut().expect("a word is open").push(c),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_at_spaces_but_not_in_quotes() {
        for (command, expected) in [
            ("vim", &["vim"][..]),
            (" code  -w ", &["code", "-w"]),
            ("\"/opt/My Editor/ed\" '-a b'", &["/opt/My Editor/ed", "-a b"]),
            ("vim $(x); rm|", &["vim", "$(x);", "rm|"]),
            ("", &[]),
        ] {
            assert_eq!(words(command), expected, "{command}");
        }
    }

    #[test]
    fn each_program_takes_the_number_in_its_own_way() {
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
