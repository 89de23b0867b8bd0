//! Runs `kb skill`, and the program when it is started as `skc`.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use clap::Parser;

use crate::app::Observer;
use crate::app::agents::skills::{SkillAnswer, SkillRequest, Skills};
use crate::cancel;
use crate::cli::args::{Global, SkcArgs, SkillCall};
use crate::cli::exit::{ExitStatus, report_of_skill};
use crate::cli::rejected::explain_skill;
use crate::cli::ui::{Ui, ended};
use crate::cli::{context, messages, streams};
use crate::config::{Environment, OutputFormat};
use crate::diagnostic::Program;
use crate::error::{Error, Result};
use crate::present::json::skill as skill_json;
use crate::present::text::skill as skill_text;
use crate::skill::build::BuildPlan;
use crate::skill::lint::Severity;

/// The program name under which kb runs `kb skill`.
const SKC: &str = "skc";

/// Whether the program was started as `skc`.
pub(super) fn is_skc(args: &[OsString]) -> bool {
    args.first().is_some_and(|arg| Path::new(arg).file_stem() == Some(OsStr::new(SKC)))
}

/// Returns the arguments of kb's server for `skc mcp`, which always offers its tools for building; `None` for other
/// commands.
pub(super) fn server_args(args: &[OsString]) -> Option<Vec<OsString>> {
    let rest = args.get(1..).filter(|rest| rest.first().is_some_and(|word| word == "mcp"))?;
    let mut given: Vec<OsString> = vec!["kb".into(), "mcp".into(), "--allow-write".into()];
    given.extend(rest[1..].iter().cloned());
    Some(given)
}

/// Returns `skc help COMMAND` as `skc COMMAND --help`.
fn without_help(args: &[OsString]) -> Vec<OsString> {
    match args {
        [program, help, rest @ ..] if help == "help" => {
            let command = rest.first().cloned();
            [program.clone()].into_iter().chain(command).chain(["--help".into()]).collect()
        }
        _ => args.to_vec(),
    }
}

/// Runs the program as `skc`.
pub(super) fn run_skc(args: &[OsString]) -> ExitStatus {
    let args = &without_help(args);
    match SkcArgs::try_parse_from(args) {
        Ok(skc) => run(&Environment::of_process(), &skc.global, &skc.call, Program::Skc),
        Err(error) => explain_skill(&error, args, &Environment::of_process(), Program::Skc),
    }
}

/// Runs a skill command.
pub(super) fn run(
    environment: &Environment,
    global: &Global,
    call: &SkillCall,
    program: Program,
) -> ExitStatus {
    let format = call.format();
    if format == OutputFormat::Json && program == Program::Kb {
        messages::hold();
    }
    let outcome = perform(environment, global, call, program);
    messages::release(outcome.is_ok());
    match outcome {
        Ok(status) => status,
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitStatus::Success
        }
        Err(error) => report_of_skill(error, program, format),
    }
}

fn perform(
    environment: &Environment,
    global: &Global,
    call: &SkillCall,
    program: Program,
) -> Result<ExitStatus> {
    let ui = Ui::default();
    let skills = Skills::new(environment, global.data_dir.as_deref(), program, &ui)?;
    if call.is_verbose()
        && let Some((source, runtime)) = skills.places(&call.skill())
    {
        messages::info(format!("source: {}", source.display()));
        messages::info(format!("runtime: {}", runtime.display()));
    }
    let mut request = SkillRequest::of(call.command, call);
    if let SkillRequest::Install { target, is_replacing } = &mut request
        && !*is_replacing
        && streams::is_stdin_terminal()
        && let Some(replaced) = skills.replaced_by_install(target)
    {
        messages::info(&replaced);
        if !context::confirm("Replace it?")? {
            return Ok(ExitStatus::User);
        }
        *is_replacing = true;
    }
    if let SkillRequest::Build { skill, options, .. } = &request
        && !options.targets.is_empty()
        && streams::is_stdin_terminal()
        && !allows_deployment(&skills.planned(skill, options)?)?
    {
        return Ok(ExitStatus::User);
    }
    let answer = if matches!(request, SkillRequest::Build { is_ingested: true, .. }) {
        let interrupt = ui.listen();
        ended(cancel::under(ui.cancel_flag(), || skills.run(&request, &ui)), &interrupt)?
    } else {
        skills.run(&request, &ui)?
    };
    print(&answer, environment, global, call, program)
}

/// Lists the files that a build would put where agents find them, and asks, unless they are there already.
fn allows_deployment(plan: &BuildPlan) -> Result<bool> {
    if plan.paths.is_empty() {
        return Ok(true);
    }
    messages::info(
        "Agents will find the skill in these places, and read its name and description in every session:",
    );
    plan.paths.iter().for_each(|path| messages::info(format!("   {}", path.display())));
    messages::info(format!("Its description: {}", plan.description));
    context::confirm("Install it there?")
}

/// Prints an answer on stdout and its messages on stderr.
fn print(
    answer: &SkillAnswer,
    environment: &Environment,
    global: &Global,
    call: &SkillCall,
    program: Program,
) -> Result<ExitStatus> {
    let is_human = call.format() == OutputFormat::Human;
    let mut status = ExitStatus::Success;
    match answer {
        SkillAnswer::List(listed) if call.is_verbose() => messages::info(listed.report.summary()),
        SkillAnswer::Lint(linted) => {
            if is_human {
                linted.findings.iter().for_each(|finding| messages::info(finding.text()));
            }
            if linted.count(Severity::Error) > 0 {
                status = ExitStatus::User;
            }
        }
        SkillAnswer::Sync { errors, .. } if !errors.is_empty() => {
            errors.iter().for_each(messages::info);
            status = ExitStatus::User;
        }
        _ => {}
    }
    match skill_text::own_bytes(answer) {
        _ if !is_human => streams::json(|out| skill_json::answer(answer, out))?,
        // The content of a file is printed unchanged.
        Some(bytes) => streams::bytes(&bytes)?,
        None => {
            let layout = context::human_layout(environment, global);
            streams::text(|out| {
                skill_text::answer(answer, program, call.is_verbose(), &layout, out)
            })?;
        }
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_name_of_the_program_decides_how_it_is_called() {
        for (line, expected) in [
            ("skc list", true),
            ("/usr/bin/skc", true),
            ("skc.exe", true),
            ("kb skc", false),
            ("skcx", false),
            ("", false),
        ] {
            assert_eq!(is_skc(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn its_server_may_always_write() {
        let args = |line: &str| server_args(&words(line)).map(|args| args.join(OsStr::new(" ")));
        assert_eq!(args("skc mcp --x").unwrap(), "kb mcp --allow-write --x");
        assert_eq!(args("skc mcp").unwrap(), "kb mcp --allow-write");
        assert_eq!((args("skc list"), args("skc"), args("")), (None, None, None));
    }

    #[test]
    fn help_of_a_command_is_its_option() {
        let args = |line: &str| without_help(&words(line)).join(OsStr::new(" "));
        assert_eq!(args("skc help"), "skc --help");
        assert_eq!(args("skc help show x"), "skc show --help");
        assert_eq!(args("skc show help"), "skc show help");
    }
}
