//! Prints completion scripts (`kb completions`) and completes command lines for the shell.
//!
//! The script calls kb for every completion, with the words typed so far after `--` and the name of the
//! shell in a variable. The value name in the help text decides which candidates are offered. Failures
//! are not reported, because a shell cannot show them during completion.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

use clap::{Arg, Command, CommandFactory, ValueEnum, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{EnvCompleter, Shells};

use crate::app::Session;
use crate::app::agents::skills;
use crate::app::query::read;
use crate::app::session::{absolute, model, settings};
use crate::cli::args::{self, Cli, Shell};
use crate::cli::exit::ExitStatus;
use crate::cli::learn::TOPICS;
use crate::cli::streams;
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::present::schema::PUBLISHED;
use crate::text::number::counted;
use crate::text::printable::{clean, clean_name};
use crate::wording::{kb, wording};

/// The variable that names the shell.
const VARIABLE: &str = "KB_COMPLETE";

/// Most documents to offer; bash asks before it lists more.
const MAX_DOCUMENTS: usize = 100;

/// Returns the candidates for a value that begins with the typed text.
type Words = fn(&CandidateSources, &str) -> Vec<CompletionCandidate>;

/// Value names with the source of their candidates.
const WORDS: &[(&str, Words)] = &[
    ("TAGS", CandidateSources::tags),
    ("DOC", CandidateSources::documents),
    ("MODEL", CandidateSources::models),
    ("KEY", CandidateSources::settings),
    ("SKILL", CandidateSources::skills),
    ("TOPIC", CandidateSources::topics),
    ("SCHEMA", CandidateSources::schemas),
];

/// Prints the script for a shell.
pub(super) fn run(args: &args::Completions) -> Result<ExitStatus> {
    if args.keys {
        return keys(args.shell);
    }
    let mut script = Vec::new();
    completer(args.shell)
        .and_then(|shell| shell.write_registration(VARIABLE, "kb", "kb", "kb", &mut script))
        .map_err(Error::Output)?;
    streams::bytes(&script)?;
    Ok(ExitStatus::Success)
}

/// Prints a script that binds a key to `kb find`.
fn keys(shell: Shell) -> Result<ExitStatus> {
    let script: &[u8] = match shell {
        Shell::Bash => include_bytes!("find/keys.bash"),
        Shell::Zsh => include_bytes!("find/keys.zsh"),
        Shell::Fish => include_bytes!("find/keys.fish"),
        Shell::Powershell | Shell::Elvish => {
            return Err(Error::usage("only bash, zsh and fish have a key binding").with_hint(
                wording!(
                    "`{}` prints the chosen path and line in any shell",
                    kb("find").flag("--print")
                ),
            ));
        }
    };
    streams::bytes(script)?;
    Ok(ExitStatus::Success)
}

/// Prints candidates for the shell; `None` if this is not a request for completion.
pub(super) fn answer(args: &[OsString], environment: &Environment) -> Option<ExitStatus> {
    if args.get(1).is_none_or(|arg| arg != "--") {
        return None;
    }
    let shell = Shell::from_str(environment.get(VARIABLE)?.to_str()?, false).ok()?;
    let words = args[2..].to_vec();
    let known = Arc::new(CandidateSources {
        environment: environment.clone(),
        words: words.clone(),
        shell,
    });
    let mut command = Cli::command();
    command.build();
    let mut command = attach(command, &known);
    let dir = absolute(Path::new(".")).ok();
    let mut found = Vec::new();
    let completed = completer(shell)
        .and_then(|shell| shell.write_complete(&mut command, words, dir.as_deref(), &mut found));
    let is_printed = completed.is_ok() && streams::bytes(&found).is_ok();
    Some(if is_printed { ExitStatus::Success } else { ExitStatus::User })
}

fn completer(shell: Shell) -> io::Result<&'static dyn EnvCompleter> {
    const SHELLS: Shells<'static> = Shells::builtins();
    let name = shell.to_possible_value();
    let found =
        SHELLS.0.iter().find(|shell| name.as_ref().is_some_and(|name| shell.is(name.get_name())));
    found.copied().ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Attaches a source of candidates to every value in a command tree.
fn attach(command: Command, known: &Arc<CandidateSources>) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let command = command.mut_args(|arg| attach_value(arg, known));
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| attach(command, known))
    })
}

fn attach_value(arg: Arg, known: &Arc<CandidateSources>) -> Arg {
    let name = arg.get_value_names().and_then(|name| name.first()).map_or("", |name| name.as_str());
    let name = if arg.get_id() == "model" { "MODEL" } else { name };
    if let Some((_, words)) = WORDS.iter().find(|entry| entry.0 == name) {
        let (known, words) = (Arc::clone(known), *words);
        return arg.add(ArgValueCompleter::new(move |typed: &OsStr| match typed.to_str() {
            Some(typed) => words(&known, typed),
            None => Vec::new(),
        }));
    }
    match name {
        "DIR" => arg.value_hint(ValueHint::DirPath),
        "FILE" | "FOLDER" | "PATH" | "ROOT" => arg.value_hint(ValueHint::AnyPath),
        _ => arg,
    }
}

/// The sources of candidates.
struct CandidateSources {
    environment: Environment,
    /// The command line so far.
    words: Vec<OsString>,
    shell: Shell,
}

impl CandidateSources {
    /// Returns a session for the database that the command line names.
    fn session(&self) -> Option<Session> {
        let words: Vec<&str> = self.words.iter().filter_map(|word| word.to_str()).collect();
        let dir = words.iter().enumerate().find_map(|(idx, word)| match *word {
            "--data-dir" => words.get(idx + 1).copied(),
            word => word.strip_prefix("--data-dir="),
        });
        Session::builder(self.environment.clone()).data_dir(dir.map(Path::new)).build().ok()
    }

    fn tags(&self, typed: &str) -> Vec<CompletionCandidate> {
        let tags = self.session().and_then(|session| read::tags(&session).ok()).unwrap_or_default();
        let tags = tags.into_iter().map(|tag| (tag.name, counted(tag.count, "document")));
        self.beginning(typed, tags)
    }

    /// Returns ids with titles as help if nothing or a number was typed, else titles and paths.
    fn documents(&self, typed: &str) -> Vec<CompletionCandidate> {
        let names = self.session().and_then(|session| read::names(&session).ok());
        let documents = names.unwrap_or_default();
        let typed = self.plain(typed).to_lowercase();
        let is_absolute = Path::new(&typed).is_absolute();
        let begins = |text: &str| text.to_lowercase().starts_with(&typed);
        let mut found = Vec::new();
        for document in documents.iter().rev() {
            let id = document.id.to_string();
            if id.starts_with(&typed) {
                found.push(self.candidate(&id, &document.title));
            } else if !typed.is_empty() && begins(&document.title) {
                found.push(self.candidate(&document.title, &format!("document {id}")));
            } else if let Some(path) =
                document.path.as_deref().filter(|path| is_absolute && begins(path))
            {
                found.push(self.candidate(path, &document.title));
            }
            if found.len() == MAX_DOCUMENTS {
                break;
            }
        }
        found
    }

    fn models(&self, typed: &str) -> Vec<CompletionCandidate> {
        self.beginning(typed, model::names().into_iter().map(|name| (name, "")))
    }

    fn settings(&self, typed: &str) -> Vec<CompletionCandidate> {
        let session = Session::builder(self.environment.clone()).build().ok();
        let settings = session.iter().flat_map(settings::all);
        self.beginning(typed, settings.map(|setting| (setting.key, setting.value)))
    }

    fn skills(&self, typed: &str) -> Vec<CompletionCandidate> {
        self.beginning(typed, skills::names(&self.environment).into_iter().map(|name| (name, "")))
    }

    fn topics(&self, typed: &str) -> Vec<CompletionCandidate> {
        let command = Cli::command();
        let commands = command.get_subcommands().map(|command| command.get_name());
        let names = TOPICS.iter().map(|topic| topic.name).chain(commands);
        self.beginning(typed, names.map(|name| (name, "")))
    }

    fn schemas(&self, typed: &str) -> Vec<CompletionCandidate> {
        self.beginning(typed, PUBLISHED.iter().map(|schema| (schema.name, schema.printed_by())))
    }

    /// Returns candidates for the names that begin with the typed text, each with its help.
    fn beginning(
        &self,
        typed: &str,
        names: impl Iterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
    ) -> Vec<CompletionCandidate> {
        let names = names.filter(|(name, _)| name.as_ref().starts_with(typed));
        names.map(|(name, help)| self.candidate(name.as_ref(), help.as_ref())).collect()
    }

    /// Returns the typed text without the backslashes that bash leaves in it.
    fn plain(&self, typed: &str) -> String {
        if self.shell == Shell::Bash { typed.replace('\\', "") } else { typed.to_owned() }
    }

    /// Returns a candidate, quoted for bash. The other shells quote candidates themselves.
    fn candidate(&self, text: &str, help: &str) -> CompletionCandidate {
        let text = clean_name(text);
        let text = if self.shell == Shell::Bash { quoted_for_bash(&text) } else { text };
        let help = (!help.is_empty()).then(|| clean(help).into());
        CompletionCandidate::new(text).help(help)
    }
}

/// Returns a text with a backslash before each character that may mean something to bash.
fn quoted_for_bash(text: &str) -> String {
    let mut quoted = String::new();
    for c in text.chars() {
        if !c.is_alphanumeric() && !"-_./:,+@%=".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    fn known(world: &World, words: &[&str], shell: Shell) -> CandidateSources {
        let words = words.iter().map(OsString::from).collect();
        CandidateSources { environment: world.session.environment().clone(), words, shell }
    }

    /// Returns candidates with their help.
    fn shown(candidates: &[CompletionCandidate]) -> Vec<String> {
        let shown = |candidate: &CompletionCandidate| {
            let help = candidate.get_help().map(|help| format!(": {help}")).unwrap_or_default();
            format!("{}{help}", candidate.get_value().to_str().unwrap())
        };
        candidates.iter().map(shown).collect()
    }

    #[test]
    fn only_a_request_of_a_shell_is_answered() {
        let shell = |name: &str| -> Environment {
            [(VARIABLE.to_owned(), name.into())].into_iter().collect()
        };
        let args = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert!(answer(&args(&["kb"]), &shell("bash")).is_none());
        assert!(answer(&args(&["kb", "search"]), &shell("bash")).is_none());
        assert!(answer(&args(&["kb", "--", "kb"]), &Environment::default()).is_none());
        assert!(answer(&args(&["kb", "--", "kb"]), &shell("csh")).is_none());
        for name in ["bash", "zsh", "fish", "powershell", "elvish"] {
            assert!(completer(Shell::from_str(name, false).unwrap()).is_ok(), "{name}");
        }
    }

    #[test]
    fn documents_are_offered_by_id_title_or_path() {
        let world = World::new();
        world.add_named("a.md", "ebb");
        world.add_note("High Water", "flood");
        let path = world.path("a.md").display().to_string();
        let known = known(&world, &[], Shell::Fish);
        for (typed, expected) in [
            ("", &["2: High Water", "1: a.md"][..]),
            ("2", &["2: High Water"]),
            ("high", &["High Water: document 2"]),
            ("A", &["a.md: document 1"]),
            (&path[..path.len() - 2], &[&format!("{path}: a.md")]),
            ("md", &[]),
        ] {
            assert_eq!(shown(&known.documents(typed)), expected, "{typed}");
        }
    }

    #[test]
    fn at_most_a_hundred_documents_are_offered() {
        let world = World::new();
        for number in 0..101 {
            world.add_note(&format!("note {number}"), &format!("text {number}"));
        }
        let known = known(&world, &[], Shell::Fish);
        assert_eq!(known.documents("note").len(), 100);
        assert_eq!(shown(&known.documents("")).len(), 100);
    }

    #[test]
    fn words_come_from_the_data_directory_that_the_command_line_names() {
        let (world, other) = (World::new(), World::at("other"));
        for (world, tag) in [(&world, "ebb"), (&other, "flood")] {
            let id = world.add_note("n", "text");
            let mut store = world.store();
            store.add_tags(id, &[tag.to_owned()]).unwrap();
            store.close().unwrap();
        }
        let dir = other.session.data_dir().to_str().unwrap();
        for (words, expected) in [
            (&["kb", "list"][..], "ebb: 1 document"),
            (&["kb", "--data-dir", dir, "list"], "flood: 1 document"),
            (&["kb", &format!("--data-dir={dir}")], "flood: 1 document"),
        ] {
            let known = known(&world, words, Shell::Zsh);
            assert_eq!(shown(&known.tags("")), [expected]);
            assert_eq!(known.tags("x").len(), 0);
        }
    }

    #[test]
    fn candidates_are_quoted_for_bash_only() {
        let world = World::new();
        let bash = known(&world, &[], Shell::Bash);
        assert_eq!(shown(&[bash.candidate("a b-c_(1).md", "")]), ["a\\ b-c_\\(1\\).md"]);
        assert_eq!(bash.plain("a\\ b"), "a b");
        let fish = known(&world, &[], Shell::Fish);
        assert_eq!(shown(&[fish.candidate("a b\u{7}", "x\u{7}y")]).len(), 1);
        assert_eq!(fish.plain("a\\ b"), "a\\ b");
    }

    #[test]
    fn settings_models_topics_and_schemas_begin_with_what_is_typed() {
        let world = World::new();
        let known = known(&world, &[], Shell::Fish);
        assert_eq!(shown(&known.settings("search.rr")), ["search.rrf_k: 60"]);
        let begin = |words: &[CompletionCandidate], typed: &str| {
            let words = shown(words);
            assert!(
                !words.is_empty() && words.iter().all(|word| word.starts_with(typed)),
                "{words:?}"
            );
        };
        begin(&known.models("all"), "all");
        begin(&known.topics("sea"), "sea");
        begin(&known.schemas("search"), "search");
        assert!(known.models("").len() > known.models("all").len());
        assert_eq!(
            known.topics("zz").len() + known.schemas("zz").len() + known.skills("zz").len(),
            0
        );
    }
}
