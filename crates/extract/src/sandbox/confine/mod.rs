//! Gives up, for good, what a process that handles untrusted bytes does not need.
//!
//! The layers do not depend on each other: what one lacks on some system, or leaves open, another
//! refuses. A layer that the system does not have is left out, and the child reports which are
//! active. docs/sandbox.md says what each of them refuses.

#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod program;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod seccomp;

use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::{Command, ExitCode};

use super::layers::Layers;
use super::ocr::NOT_STARTED;

/// A resource that is limited for a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessLimit {
    /// Address space in bytes.
    Memory,
    /// Processor time in seconds.
    Cpu,
    /// Bytes of a file that it writes.
    FileSize,
    /// Open files, pipes included.
    OpenFiles,
    /// Processes and threads of the user. Not for root, to whom the system does not apply it.
    Processes,
    /// Bytes of a core file. One of a gigabyte for every damaged PDF would be of no use.
    Core,
}

/// Confines this process to memory, a clock and its three pipes. Only the first call in a process, before
/// it has other threads, confines all of it.
pub fn for_reading() -> Layers {
    let mut layers = Layers::default();
    end_with_parent();
    if is_wanted("privileges") {
        layers.no_new_privileges = drop_privileges();
    }
    #[cfg(target_os = "linux")]
    {
        // Landlock is first: seccomp refuses its calls, and with the limit of open files it cannot be set up.
        if is_wanted("landlock") {
            layers.landlock = landlock::refuse_all();
        }
        if is_wanted("seccomp") {
            layers.seccomp = seccomp::allow_reading();
        }
    }
    if is_wanted("limits") {
        let none = [
            (ProcessLimit::FileSize, 0),
            (ProcessLimit::Core, 0),
            (ProcessLimit::OpenFiles, NUM_PIPES),
        ];
        let are_set = none.map(|(resource, most)| limit(resource, most, most));
        layers.limits = are_set.iter().all(|is_set| *is_set);
    }
    layers
}

/// Replaces seccomp on processors for which the crate has no filters.
#[cfg(all(
    target_os = "linux",
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))
))]
mod seccomp {
    pub(super) fn allow_reading() -> bool {
        false
    }

    pub(super) fn allow_program() -> bool {
        false
    }
}

/// stdin, stdout and stderr.
const NUM_PIPES: u64 = 3;

/// Refuses every process and thread after the one that reads.
pub fn refuse_threads() {
    if is_wanted("limits") {
        limit(ProcessLimit::Processes, 0, 0);
    }
}

/// Whether a layer is wanted: all are, unless a test names one.
fn is_wanted(layer: &str) -> bool {
    only_layer().is_none_or(|only| only == layer)
}

/// Returns the only layer that is wanted. In debug builds, tests name it on the command line, in place of the
/// memory of Tesseract, to show what it refuses by itself.
fn only_layer() -> Option<OsString> {
    let argument = std::env::args_os().nth(2).filter(|_| cfg!(debug_assertions));
    argument.filter(|argument| number(argument).is_none())
}

fn number(argument: &OsString) -> Option<u64> {
    argument.to_str()?.parse().ok()
}

/// Runs `kb __ocr MEMORY CPU PROGRAM ARG…`: confines this process to what Tesseract needs, and becomes it.
/// Returns only if that fails.
pub fn become_tesseract(args: &[OsString]) -> ExitCode {
    let failed = ExitCode::from(NOT_STARTED);
    let [memory, cpu, program, args @ ..] = args else { return failed };
    let memory = number(memory).or_else(|| only_layer().map(|_| u64::MAX));
    let (Some(memory), Some(cpu)) = (memory, number(cpu)) else { return failed };
    end_with_parent();
    if is_wanted("privileges") {
        drop_privileges();
    }
    #[cfg(target_os = "linux")]
    {
        if is_wanted("landlock") {
            landlock::allow_program(Path::new(program));
        }
        if is_wanted("seccomp") {
            seccomp::allow_program();
        }
    }
    if is_wanted("limits") {
        for (resource, most) in
            [(ProcessLimit::FileSize, 0), (ProcessLimit::Core, 0), (ProcessLimit::Memory, memory)]
        {
            limit(resource, most, most);
        }
        // The soft limit sends a signal that names the cause; a second later, the hard one kills.
        limit(ProcessLimit::Cpu, cpu, u64::saturating_add(cpu, 1));
    }
    let mut command = Command::new(program);
    // One thread is enough, as documents are read in parallel.
    command.args(args).env("OMP_THREAD_LIMIT", "1");
    run(command)
}

/// Becomes another program; returns only if that fails.
#[cfg(unix)]
fn run(mut command: Command) -> ExitCode {
    use std::os::unix::process::CommandExt;
    let _ = command.exec();
    ExitCode::from(NOT_STARTED)
}

/// Runs another program, and ends with its exit code.
#[cfg(not(unix))]
fn run(mut command: Command) -> ExitCode {
    let code = command.status().map(|status| status.code().unwrap_or(1));
    ExitCode::from(code.map_or(NOT_STARTED, |code| u8::try_from(code).unwrap_or(1)))
}

/// Lets the system end this process with the thread that has started it, even if that is killed.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
    }
}

/// Gives up the rights of root, and every way to gain rights; whether that is in force.
fn drop_privileges() -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};
        let none = CapabilitySet::empty();
        let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
        set_no_new_privs(true).is_ok() && set_capabilities(None, none).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Sets a soft limit, which the kernel enforces, and a hard one, which this process can never raise. Whether
/// the hard one is in force. The document is read anyway, as the parent limits the time.
#[cfg(unix)]
pub fn limit(resource: ProcessLimit, soft: u64, hard: u64) -> bool {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let resource = match resource {
        ProcessLimit::Memory => Resource::As,
        ProcessLimit::Cpu => Resource::Cpu,
        ProcessLimit::FileSize => Resource::Fsize,
        ProcessLimit::OpenFiles => Resource::Nofile,
        ProcessLimit::Processes => Resource::Nproc,
        ProcessLimit::Core => Resource::Core,
    };
    let maximum = getrlimit(resource).maximum.map_or(hard, |maximum| hard.min(maximum));
    let limits = Rlimit { current: Some(soft.min(maximum)), maximum: Some(maximum) };
    setrlimit(resource, limits).is_ok()
}

/// Sets nothing: this system has no such limits.
#[cfg(not(unix))]
pub fn limit(_: ProcessLimit, _: u64, _: u64) -> bool {
    false
}
