//! Finds processes that others have started: on Linux by a variable in their environment, on Windows by their job.

#[cfg(unix)]
use std::fs;
#[cfg(unix)]
use std::path::Path;

#[cfg(unix)]
use super::folder;

/// A process with all that it starts. Windows ends them when this is dropped, and when this process ends, even if it is killed.
#[cfg(windows)]
#[derive(Debug)]
pub struct ProcessTree {
    /// Open until the end: closing it ends the processes.
    _job: win32job::Job,
}

#[cfg(windows)]
impl ProcessTree {
    /// Takes over a process that was just started; `None` if the system refuses that.
    pub fn of(child: &std::process::Child) -> Option<Self> {
        use std::os::windows::io::AsRawHandle;
        let mut limits = win32job::ExtendedLimitInfo::new();
        let job = win32job::Job::create_with_limit_info(limits.limit_kill_on_job_close()).ok()?;
        job.assign_process(child.as_raw_handle() as isize).ok()?;
        Some(Self { _job: job })
    }
}

/// Returns the ids of the processes that were started with `variable`, as `NAME=VALUE`, in their environment.
/// Those of other users cannot be read. Systems without Linux's `/proc` have none.
#[cfg(unix)]
pub fn with_variable(variable: &str) -> Vec<i32> {
    let numbered = folder::entries(Path::new("/proc")).into_iter().filter_map(|process| {
        let id = process.file_name()?.to_str()?.parse().ok()?;
        has_variable(&process, variable).then_some(id)
    });
    numbered.collect()
}

/// Whether a process, by its folder, was started with a variable.
#[cfg(unix)]
fn has_variable(process: &Path, variable: &str) -> bool {
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|found| found == variable.as_bytes())
}
