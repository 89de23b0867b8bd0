//! Tests completion in shells, the manual pages, the topics of help, and `make install`, which installs
//! them. Shells and programs that read manuals are those of the machine; missing ones are reported.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::env::Output;
use crate::env::TestEnv;
use crate::left_out::left_out;
#[cfg(unix)]
use crate::screen::Screen;

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "powershell", "elvish"];

/// The folders of the system's programs.
#[cfg(unix)]
const SYSTEM: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Whether the system has a program; reports a missing one.
#[cfg(unix)]
fn is_there(program: &str, what: &str) -> bool {
    let is_there = SYSTEM.iter().any(|folder| Path::new(folder).join(program).exists());
    if !is_there {
        left_out(program, what);
    }
    is_there
}

/// Runs a program of the system where `kb` is on the path.
#[cfg(unix)]
fn run(env: &TestEnv, program: &str, args: &[&str]) -> Output {
    let kb = env.path("bin/kb");
    if !kb.exists() {
        symlink(env!("CARGO_BIN_EXE_kb"), &kb).unwrap();
    }
    let settings = env.command::<&str>(&[]);
    let program =
        SYSTEM.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.exists());
    let mut command = Command::new(program.unwrap());
    let variables = settings.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let path = format!("{}:{}", env.path("bin").display(), SYSTEM.join(":"));
    command.args(args).env_clear().envs(variables).env("PATH", path).current_dir(env.path(""));
    env.finish(&mut command)
}

/// Returns the completions that kb offers for the last of some words, one per line.
fn offered(env: &TestEnv, words: &[&str]) -> Vec<String> {
    let mut command = env.command(&[&["--"], words].concat());
    let index = (words.len() - 1).to_string();
    command.envs([("KB_COMPLETE", "zsh"), ("_CLAP_COMPLETE_INDEX", &index), ("_CLAP_IFS", "\n")]);
    let output = env.finish(&mut command);
    assert_eq!((output.status, output.stderr.as_str()), (0, ""));
    output.stdout.lines().map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn a_key_puts_the_chosen_path_on_the_command_line() {
    let env = TestEnv::new();
    let path = env.write("notes/a tide's.md", "# Tides\n\nThe moon does it.\n");
    env.ok(&["add", "notes"]);
    for shell in ["zsh", "fish"] {
        if is_there(shell, "the key binding") {
            let script = env.ok(&["completions", "--keys", shell]).stdout;
            let script = env.write(&format!("keys.{shell}"), script);
            run(&env, shell, &["-n", script.to_str().unwrap()]).expect(0);
        }
    }
    assert!(env.kb(&["completions", "--keys", "elvish"]).expect(1).stderr.contains("bash, zsh"));
    if !is_there("bash", "the key binding") {
        return;
    }
    run(&env, "bash", &["-c", "true"]).expect(0);
    // In a script bash binds no keys, and prints a warning.
    let script = "eval \"$(kb completions --keys bash)\" 2>/dev/null; READLINE_LINE='cat  | wc'; \
                  READLINE_POINT=4; __kb_find; printf '%s' \"$READLINE_LINE\"";
    let mut command = Command::new("/bin/bash");
    let settings = env.command::<&str>(&[]);
    let variables = settings.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let programs = format!("{}:{}", env.path("bin").display(), SYSTEM.join(":"));
    command.args(["-c", script]).env_clear().envs(variables).env("PATH", programs);
    let mut screen = Screen::of(command, 80, 24, false);
    screen.see("Type to search");
    screen.keys("moon").see("The moon does it");
    let output = screen.leave("\r", &env).expect(0);
    let quoted = path.to_str().unwrap().replace(' ', "\\ ").replace('\'', "\\'");
    assert_eq!(output.stdout, format!("cat {quoted} | wc"));
}

#[test]
fn values_are_completed_from_what_is_there() {
    let env = TestEnv::with_corpus();
    let check = |words: &[&str], expected: &[&str]| {
        let found = offered(&env, words);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, expected, "{words:?}");
    };
    check(&["kb", "sea"], &["search:Search your documents"]);
    check(&["kb", "search", "x", "--tags", "h"], &["handbook:1 document"]);
    check(&["kb", "list", "--tags", "sample,st"], &["sample,station:2 documents"]);
    check(&["kb", "info", "8"], &["8:Ferry timetable: the last boat leaves at nine."]);
    check(&["kb", "show", "charg"], &["Charger:document 7"]);
    check(&["kb", "reindex", "--model", "all-MiniLM-L12"], &["all-MiniLM-L12-v2"]);
    check(&["kb", "config", "set", "search.rrf"], &["search.rrf_k:60"]);
    check(&["kb", "search", "--type", "no"], &["note", "notebook"]);
    check(&["kb", "search", "--type", "she"], &["sheet"]);
    check(&["kb", "help", "js"], &["json"]);
    check(&["kb", "schema", "skill-st"], &["skill-stats:kb skill stats --format json"]);
    check(&["kb", "completions", "fi"], &["fish"]);
    // A folder that does not exist, and a file that is not a database: no message, and no new folder.
    env.write("other/kb.db", "no database");
    for dir in ["nowhere", "other"] {
        check(&["kb", "--data-dir", dir, "list", "--tags", "h"], &[]);
    }
    assert!(!env.path("nowhere").exists());
}

#[test]
fn skills_are_completed_by_name() {
    let env = TestEnv::without_model();
    env.write(".agents/skills/tides/SKILL.md", "---\nname: tides\n---\n");
    env.write(".agents/skills/none/README.md", "no skill");
    assert_eq!(offered(&env, &["kb", "skill", "show", ""])[0], "tides");
}

#[cfg(unix)]
#[test]
fn bash_completes_words_with_spaces_as_it_reads_them() {
    if !is_there("bash", "completion by bash") {
        return;
    }
    let env = TestEnv::with_corpus();
    let complete = |words: &str, index: usize, last: &str| {
        let script = format!(
            "eval \"$(kb completions bash)\"; COMP_WORDS=({words}); COMP_CWORD={index}; COMP_TYPE=9; \
             _clap_complete_kb kb '{last}' x; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        run(&env, "bash", &["--norc", "-c", &script]).expect(0).stdout
    };
    assert_eq!(complete("kb sim", 1, "sim"), "similar\n");
    assert_eq!(complete("kb open Tide", 2, "Tide"), "tide_table\nTide\\ station\\ handbook\n");
    assert_eq!(complete("kb open 'Tide\\ s'", 2, "Tide\\ s"), "Tide\\ station\\ handbook\n");
    assert_eq!(complete("kb list --tags han", 3, "han"), "handbook\n");
}

#[cfg(unix)]
#[test]
fn fish_completes_from_its_script() {
    if !is_there("fish", "completion by fish") {
        return;
    }
    let env = TestEnv::with_corpus();
    let script = "kb completions fish | source; complete -C 'kb list --tags han'";
    let found = run(&env, "fish", &["--no-config", "-c", script]).expect(0).stdout;
    assert_eq!(found, "handbook\t1 document\n");
}

#[cfg(unix)]
#[test]
fn zsh_reads_its_script() {
    if !is_there("zsh", "completion by zsh") {
        return;
    }
    let env = TestEnv::with_corpus();
    let script = "autoload -U compinit; compinit -u -D; source <(kb completions zsh); \
                  print -r -- $_comps[kb]";
    let found = run(&env, "zsh", &["-f", "-c", script]).expect(0).stdout;
    assert_eq!(found, "_clap_dynamic_completer_kb\n");
}

#[test]
fn there_is_a_script_for_every_shell() {
    let env = TestEnv::without_model();
    for shell in SHELLS {
        let script = env.ok(&["completions", shell]).stdout;
        assert!(script.contains("KB_COMPLETE"), "{shell}: {script}");
        // By its name, so that the script outlives an update.
        assert!(!script.contains("target/"), "{shell}: {script}");
    }
    assert!(env.ok(&["completions", "zsh"]).stdout.starts_with("#compdef kb\n"));
}

#[cfg(unix)]
#[test]
fn every_command_has_a_manual_page_that_reads_without_warning() {
    let env = TestEnv::without_model();
    env.ok(&["man", "--dir", "man"]);
    let names: Vec<String> = fs::read_dir(env.path("man"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["kb.1", "kb-search.1", "kb-config-set.1", "kb-skill-show.1"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert_eq!(fs::read_to_string(env.path("man/kb.1")).unwrap(), env.ok(&["man"]).stdout);
    if !is_there("man", "manual pages as man shows them") {
        return;
    }
    let pages: Vec<String> = names.iter().map(|name| format!("man/{name}")).collect();
    let pages = pages.iter().map(String::as_str);
    let args: Vec<&str> = ["--warnings", "-P", "cat", "-l"].into_iter().chain(pages).collect();
    let shown = run(&env, "man", &args);
    assert_eq!((shown.status, shown.stderr.as_str()), (0, ""));
    assert_eq!(shown.stdout.matches("SYNOPSIS").count(), names.len());
}

#[test]
fn topics_are_explained_and_commands_as_their_help_does() {
    let env = TestEnv::without_model();
    for (topic, said) in [
        ("query", "  `prefix*`          any word that starts with `prefix`\n"),
        ("config", "\n  # Results without --top.\n  default_top: 10\n"),
        ("json", "    [{ \"name\": \"handbook\", \"count\": 1 }]\n"),
        ("exit", "  `unknown_model`"),
    ] {
        let page = env.ok(&["help", topic]).stdout;
        assert!(page.contains(said), "{page}");
        assert!(!page.contains("```") && !page.contains("]("), "{page}");
        assert!(page.lines().next().unwrap().chars().next().unwrap().is_uppercase());
    }
    for words in [["search"].as_slice(), &["skill", "show"], &[]] {
        let help = env.ok(&[&["help"], words].concat());
        assert_eq!(help.stdout, env.ok(&[words, &["--help"]].concat()).stdout, "{words:?}");
    }
    let error = env.kb(&["help", "nothing"]).expect(1);
    assert_eq!(
        error.stderr,
        "error: there is no topic or command `nothing`\n\
         hint: the topics are query, config, limits, json, exit; `kb --help` lists the commands\n"
    );
    // A configuration that cannot be read is no reason not to explain it.
    env.write(".kb/config.yaml", "search: [");
    env.ok(&["help", "config"]);
}

#[cfg(unix)]
#[test]
fn make_install_puts_program_pages_and_completions_in_place() {
    if !is_there("make", "make install") {
        return;
    }
    let env = TestEnv::without_model();
    let root = env!("CARGO_MANIFEST_DIR");
    let program = format!("KB={}", env!("CARGO_BIN_EXE_kb"));
    let dest = format!("DESTDIR={}", env.path("dest").display());
    let args = ["-s", "-C", root, "-o", "build", "install", &program, &dest, "PREFIX=/usr"];
    let output = run(&env, "make", &args);
    assert_eq!(output.status, 0, "{}", output.text());
    for file in [
        "bin/kb",
        "share/man/man1/kb.1",
        "share/man/man1/kb-search.1",
        "share/bash-completion/completions/kb",
        "share/zsh/site-functions/_kb",
        "share/fish/vendor_completions.d/kb.fish",
    ] {
        assert!(env.path("dest/usr").join(file).metadata().unwrap().len() > 0, "{file}");
    }
    assert_eq!(fs::read_link(env.path("dest/usr/bin/skc")).unwrap(), Path::new("kb"));
}
