//! Recognises source code by names that are no extensions, by `#!` lines and by lines for editors; where languages
//! share an extension, the first lines decide.

use std::path::Path;

use super::extension::extension;
use crate::document::{Format, FormatContent, Language};

/// Names of files in lower case that need no extension, or have that of something else.
const NAMES: &[(Language, &[&str])] = &[
    (Language::Make, &["makefile", "gnumakefile"]),
    (Language::Dockerfile, &["dockerfile", "containerfile"]),
    (Language::Ruby, &["rakefile", "gemfile", "vagrantfile", "podfile"]),
    (Language::Groovy, &["jenkinsfile"]),
    (Language::CMake, &["cmakelists.txt"]),
    (Language::Starlark, &["build.bazel", "workspace.bazel"]),
    (Language::Python, &["sconstruct", "sconscript"]),
];

/// The words that may follow such a name after a full stop: `Makefile.am`, `Dockerfile.dev`.
const VARIANTS: &[&str] = &["am", "in", "dev", "prod", "test", "release", "debug", "alpine"];

/// Interpreters without their version, as a `#!` line names them.
const INTERPRETERS: &[(Language, &[&str])] = &[
    (Language::Python, &["python", "pypy"]),
    (Language::Bash, &["sh", "bash", "dash", "ash", "ksh"]),
    (Language::Zsh, &["zsh"]),
    (Language::Fish, &["fish"]),
    (Language::JavaScript, &["node", "nodejs", "bun"]),
    (Language::TypeScript, &["deno"]),
    (Language::Perl, &["perl"]),
    (Language::Ruby, &["ruby"]),
    (Language::Php, &["php"]),
    (Language::Lua, &["lua", "luajit"]),
    (Language::R, &["Rscript"]),
    (Language::Awk, &["awk", "gawk", "mawk"]),
    (Language::Sed, &["sed"]),
    (Language::Tcl, &["tclsh", "wish", "expect"]),
    (Language::Julia, &["julia"]),
    (Language::Groovy, &["groovy"]),
    (Language::PowerShell, &["pwsh"]),
    (Language::Elixir, &["elixir"]),
    (Language::Erlang, &["escript"]),
    (Language::Swift, &["swift"]),
    (Language::Scala, &["scala"]),
    (Language::Haskell, &["runhaskell"]),
    (Language::OCaml, &["ocaml"]),
    (Language::Scheme, &["guile"]),
    (Language::Racket, &["racket"]),
    (Language::Make, &["make"]),
];

/// Other names of languages in lines for editors.
const MODES: &[(&str, &str)] =
    &[("shell-script", "sh"), ("makefile", "make"), ("c++", "cpp"), ("conf", "text")];

/// How many lines at either end of a file may be for an editor: as many as Vim looks at.
const MODE_LINES: usize = 5;

/// How lines begin in C++ headers but not in C headers.
const CPP_LINES: &[&str] =
    &["namespace ", "template <", "template<", "public:", "private:", "protected:"];

/// How lines begin in Objective-C but not in C or MATLAB.
const OBJECTIVE_C_LINES: &[&str] =
    &["#import", "#include", "@interface", "@implementation", "@protocol", "@import", "@class"];

/// Returns the language of a file whose name needs no extension.
pub(super) fn by_name(path: &Path) -> Option<Language> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let row = NAMES.iter().find(|(_, names)| names.iter().any(|known| is_variant(&name, known)));
    row.map(|(language, _)| *language)
}

/// Whether a file name is a known one, or one with the end of a variant.
fn is_variant(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('.').is_some_and(|end| VARIANTS.contains(&end))
    })
}

/// Returns the language of a file with an extension that languages share, by its first lines.
pub(super) fn of_shared_extension(path: &Path, head: &[u8], named: Language) -> Language {
    let extension = extension(path).unwrap_or_default();
    let text = String::from_utf8_lossy(head);
    match &*extension {
        "h" if has_line(&text, |line| is_objective(line) && line.starts_with('@')) => {
            Language::ObjectiveC
        }
        "h" if has_line(&text, is_cpp) => Language::Cpp,
        "m" if has_line(&text, is_objective) => Language::ObjectiveC,
        "pl" if has_line(&text, |line| line.starts_with(":-")) => Language::Prolog,
        _ => named,
    }
}

fn has_line(text: &str, is_wanted: impl Fn(&str) -> bool) -> bool {
    text.lines().map(str::trim).any(is_wanted)
}

fn is_objective(line: &str) -> bool {
    OBJECTIVE_C_LINES.iter().any(|start| line.starts_with(start))
}

fn is_cpp(line: &str) -> bool {
    CPP_LINES.iter().any(|start| line.starts_with(start))
        || (line.starts_with("class ") && line.ends_with(['{', ';', ':']))
        // C headers have an extension, headers of the C++ library have none.
        || (line.starts_with("#include <") && !line.contains('.'))
}

/// Returns the language of a script from its `#!` line, with or without `env`.
pub(super) fn by_interpreter(head: &[u8]) -> Option<Language> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let mut name = words.next()?.rsplit('/').next()?;
    if name == "env" {
        name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        name = name.rsplit('/').next()?;
    }
    let name = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    of_interpreter(name)
}

fn of_interpreter(name: &str) -> Option<Language> {
    INTERPRETERS.iter().find(|(_, names)| names.contains(&name)).map(|(language, _)| *language)
}

/// Returns the format of a text by a line for an editor among its first or its last lines: `-*- sh -*-` of Emacs,
/// `vim: ft=sh` of Vim.
pub(super) fn by_mode_line(text: &[u8]) -> Option<Format> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let lines = lines.clone().take(MODE_LINES).chain(lines.rev().take(MODE_LINES));
    lines.filter_map(|line| std::str::from_utf8(line).ok()).find_map(|line| of_mode(mode(line)?))
}

/// Returns the name of the language in a line for an editor.
fn mode(line: &str) -> Option<&str> {
    if let Some((_, rest)) = line.split_once("-*-") {
        let (mode, _) = rest.split_once("-*-")?;
        let mut variables = mode.split(';').filter_map(|variable| variable.split_once(':'));
        let named = variables.find(|(name, _)| name.trim().eq_ignore_ascii_case("mode"));
        return match named {
            Some((_, mode)) => Some(mode.trim()),
            None => Some(mode.trim()).filter(|mode| !mode.contains(':')),
        };
    }
    let at = ["vim:", "vi:", "ex:"].iter().find_map(|start| {
        let at = line.find(start)?;
        let is_start = line[..at].chars().next_back().is_none_or(char::is_whitespace);
        is_start.then_some(at + start.len())
    })?;
    line[at..].split([' ', '\t', ':']).find_map(|option| {
        let (name, value) = option.split_once('=')?;
        matches!(name, "ft" | "filetype" | "syn" | "syntax").then_some(value)
    })
}

fn of_mode(mode: &str) -> Option<Format> {
    let mode = mode.to_ascii_lowercase();
    let other = MODES.iter().find(|(known, _)| *known == mode).map(|(_, name)| *name);
    let name = other.unwrap_or(mode.strip_suffix("-mode").unwrap_or(&mode));
    let format = of_interpreter(name)
        .map(Format::Code)
        .or_else(|| Format::named(name))
        .or_else(|| Format::with_extension(name));
    format.filter(|format| format.content() == FormatContent::Text && *format != Format::Note)
}
