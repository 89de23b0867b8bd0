//! Runs a program of the user's for a limited time, and always ends it.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::config::Environment;
use crate::files::processes;

/// Most bytes of output that are read.
const MAX_OUTPUT_BYTES: usize = 8 << 20;

/// Bytes at the end of stderr that are kept to find the reason of a failure.
const MAX_STDERR_BYTES: usize = 4 << 10;

/// Time between two looks at whether a program without output has ended.
const POLL: Duration = Duration::from_millis(2);

/// Writes `input` to the program in `dir`, and returns its output.
///
/// The program and everything it has started are killed if it is not done in time. Without a shell: the words of
/// the command are the program and its arguments.
pub(crate) fn run(
    command: &[String],
    environment: &Environment,
    dir: &Path,
    input: Vec<u8>,
    limit: Duration,
) -> Result<Vec<u8>, String> {
    let deadline = Instant::now() + limit;
    let Some((program, arguments)) = command.split_first() else {
        return Err("the command is empty".into());
    };
    let is_searched = Path::new(program).components().count() == 1;
    if !is_searched && !Path::new(program).is_absolute() {
        return Err(format!("`{program}` is neither an absolute path nor a plain name"));
    }
    let mut running = environment
        .started(program)
        .and_then(|found| start(&found, arguments, dir))
        .map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    // Threads read and write, because a program may print before it has read everything. They end when the pipes are
    // closed; a process that keeps one open does not keep the search.
    if let Some(mut stdin) = running.child.stdin.take() {
        // An error is ignored: a program may end without reading its input.
        thread::spawn(move || _ = stdin.write_all(&input));
    }
    let output = running.child.stdout.take().map(|pipe| read(pipe, MAX_OUTPUT_BYTES + 1, false));
    let errors = running.child.stderr.take().map(|pipe| read(pipe, MAX_STDERR_BYTES, true));
    let late = || format!("it took more than {} ms", limit.as_millis());
    let output = output.and_then(|output| output.recv_timeout(left(deadline)).ok());
    let output = output.ok_or_else(late)?;
    if output.len() > MAX_OUTPUT_BYTES {
        return Err(format!("it printed more than {} MB", MAX_OUTPUT_BYTES >> 20));
    }
    loop {
        match running.child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(output),
            Ok(Some(status)) => {
                let errors = errors.and_then(|errors| errors.recv_timeout(left(deadline)).ok());
                let errors = String::from_utf8_lossy(&errors.unwrap_or_default()).into_owned();
                let reason = errors.lines().rev().map(str::trim).find(|line| !line.is_empty());
                let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                return Err(format!("it ended with {status}{reason}"));
            }
            Ok(None) if left(deadline).is_zero() => return Err(late()),
            Ok(None) => thread::sleep(POLL),
            Err(error) => return Err(format!("its exit status cannot be read: {error}")),
        }
    }
}

/// Starts a program with its arguments in a folder.
fn start(program: &Path, arguments: &[String], dir: &Path) -> io::Result<ProgramProcess> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // These passwords are meant for kb, and not for programs that it starts.
    command.env_remove("PGPASSWORD").env_remove("KB_PASSWORD");
    ProgramProcess::start(&mut command)
}

/// Returns the time until the deadline.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Reads a pipe to its end in a thread. Keeps the first bytes and stops after them, or the last ones.
fn read(mut pipe: impl Read + Send + 'static, max: usize, keeps_last: bool) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            kept.extend_from_slice(&buffer[..count]);
            if keeps_last {
                kept.drain(..kept.len().saturating_sub(max));
            } else if kept.len() >= max {
                break;
            }
        }
        // Sending fails if the search has ended.
        let _ = sender.send(kept);
    });
    receiver
}

/// A program that is killed with all its children when it is dropped.
struct ProgramProcess {
    child: Child,
    #[cfg(windows)]
    _tree: Option<processes::ProcessTree>,
    /// A variable of its environment, which everything that it starts also has.
    #[cfg(unix)]
    mark: String,
}

/// Most looks for processes that were started while others were killed.
#[cfg(unix)]
const MAX_ROUNDS: u32 = 8;

/// Name of the variable that marks the processes that a run has started.
const MARK: &str = "KB_RUN";

impl ProgramProcess {
    fn start(command: &mut Command) -> io::Result<Self> {
        static NUM_STARTED: AtomicU64 = AtomicU64::new(0);
        let value =
            format!("{}-{}", std::process::id(), NUM_STARTED.fetch_add(1, Ordering::Relaxed));
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.env(MARK, &value).spawn()?;
        Ok(Self {
            #[cfg(windows)]
            _tree: processes::ProcessTree::of(&child),
            child,
            #[cfg(unix)]
            mark: format!("{MARK}={value}"),
        })
    }
}

impl Drop for ProgramProcess {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) =
            i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // Killing fails if the program has ended, with all it started.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Some processes may have left the group (`setsid`), and some may start others at this moment.
        #[cfg(unix)]
        for _ in 0..MAX_ROUNDS {
            let left = processes::with_variable(&self.mark);
            let pids = left.into_iter().filter_map(rustix::process::Pid::from_raw);
            let killed =
                pids.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::KILL));
            if killed.count() == 0 {
                break;
            }
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Environment {
        [("PATH".to_owned(), "/usr/bin:/bin".into())].into_iter().collect()
    }

    fn sh(script: &str, input: &str, limit_ms: u64) -> Result<String, String> {
        let command = ["sh", "-c", script].map(str::to_owned);
        let limit = Duration::from_millis(limit_ms);
        run(&command, &environment(), Path::new("/"), input.into(), limit)
            .map(|output| String::from_utf8_lossy(&output).into_owned())
    }

    /// Longer than any program here takes, even on a busy machine.
    const LONG_MS: u64 = 120_000;

    #[track_caller]
    fn check_failure(script: &str, limit_ms: u64, expected: &str) {
        let reason = sh(script, "in", limit_ms).expect_err("it fails");
        assert!(reason.contains(expected) && !reason.contains('\n'), "{script}: {reason}");
    }

    /// Checks a program that does not end.
    #[track_caller]
    fn check_endless(script: &str, limit_ms: u64) {
        check_failure(script, limit_ms, &format!("more than {limit_ms} ms"));
    }

    #[test]
    fn the_output_is_returned_whatever_its_size_and_encoding() {
        assert_eq!(sh("cat", "a\n\u{e9}", LONG_MS).unwrap(), "a\n\u{e9}");
        assert_eq!(sh("printf '\\377'; exec cat >/dev/null", "", LONG_MS).unwrap(), "\u{fffd}");
        // More than a pipe holds, in both directions at once.
        let long = "x".repeat(1 << 20);
        assert_eq!(sh("cat", &long, LONG_MS).unwrap(), long);
        // A program need not read its input.
        assert_eq!(sh("echo done", &long, LONG_MS).unwrap(), "done\n");
    }

    #[test]
    fn a_failure_is_one_line() {
        check_failure("echo first >&2; echo 'no model' >&2; exit 3", LONG_MS, "no model");
        check_failure("kill -9 $$", LONG_MS, "signal");
        let none = run(
            &["no-such-program-of-kb".into()],
            &environment(),
            Path::new("/"),
            vec![],
            Duration::from_secs(9),
        );
        assert!(none.unwrap_err().contains("cannot be started"));
        let relative = run(
            &["./rerank".into()],
            &environment(),
            Path::new("/"),
            vec![],
            Duration::from_secs(9),
        );
        assert!(relative.unwrap_err().contains("absolute"));
    }

    #[test]
    fn endless_output_is_an_error_long_before_the_time_is_over() {
        let reason = sh("yes | tr -d '\\n'", "in", 600_000).unwrap_err();
        assert!(reason.contains("more than 8 MB"), "{reason}");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        check_endless("sleep 100000", 400);
        check_endless("exec >&-; sleep 100000", 400);
        check_endless("sleep 100000 & sleep 100000", 400);
        check_endless("yes >&2", 400);
    }

    #[track_caller]
    fn check_killed(script: &str) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = script.replace("PID", &file.display().to_string());
        // A busy machine may not have started it within the first limits.
        let is_started = |limit_ms| {
            check_endless(&script, limit_ms);
            std::fs::read_to_string(&file).ok().filter(|pid| pid.ends_with('\n'))
        };
        let pid = [400, 4_000, 40_000].into_iter().find_map(is_started).expect("it starts");
        let state = format!("/proc/{}/stat", pid.trim());
        let is_running =
            || std::fs::read_to_string(&state).is_ok_and(|stat| !stat.contains(") Z "));
        // The system ends a killed process a moment later.
        let start = Instant::now();
        while is_running() && start.elapsed() < Duration::from_millis(LONG_MS) {
            thread::sleep(POLL);
        }
        assert!(!is_running(), "it still runs: {script}");
    }

    #[test]
    fn what_a_killed_program_has_started_is_killed_too() {
        check_killed("sleep 61 & echo $! > 'PID'; wait");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_has_left_its_group_is_killed_too() {
        check_killed("setsid sh -c \"echo \\$\\$ > 'PID'; exec sleep 62\" & wait");
    }
}
