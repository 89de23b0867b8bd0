//! Lets the kernel refuse system calls of this process (seccomp).
//!
//! Readers and Tesseract may make the calls in lists, and no others: neither those of newer kernels nor those of the
//! x32 interface, whose numbers are in no list. A refused call fails as one that the kernel does not have
//! (`ENOSYS`), so that a C library which is newer than the lists does without it, as on an old kernel; glibc, for
//! example, starts threads by `clone` if there is no `clone3`.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use SeccompCmpOp::{Eq, MaskedEq};

/// A condition on one argument of a call.
type Condition = (u8, SeccompCmpOp, i32);

/// A call, and the conditions under which it is allowed; all must hold. A call that is listed twice is
/// allowed under either set.
type Limited<'a> = (c_long, &'a [Condition]);

/// Calls that both may make with any arguments: memory, time, threads, their own end.
const HARMLESS: &[c_long] = {
    use libc::*;
    &[
        SYS_brk, SYS_clock_getres, SYS_clock_gettime, SYS_clock_nanosleep, SYS_close, SYS_exit,
        SYS_exit_group, SYS_fstat, SYS_futex, SYS_getpid, SYS_getrandom, SYS_gettid, SYS_madvise,
        SYS_mremap, SYS_munmap, SYS_nanosleep, SYS_restart_syscall, SYS_rseq, SYS_rt_sigaction,
        SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sched_getaffinity, SYS_sched_yield,
        SYS_set_robust_list, SYS_set_tid_address, SYS_sigaltstack,
    ]
};

/// Further calls that Tesseract, its libraries and their loader need: to find, read and map files, to learn
/// about the system and themselves, and to be started. None of it changes a file or reaches another process.
const OF_PROGRAMS: &[c_long] = {
    use libc::*;
    &[
        SYS_dup, SYS_execve, SYS_faccessat, SYS_faccessat2, SYS_fadvise64, SYS_fstatfs, SYS_getcpu,
        SYS_getcwd, SYS_getegid, SYS_geteuid, SYS_getgid, SYS_getppid, SYS_getrusage,
        SYS_gettimeofday, SYS_getuid, SYS_lseek, SYS_membarrier, SYS_mincore, SYS_mmap,
        SYS_mprotect, SYS_newfstatat, SYS_ppoll, SYS_pread64, SYS_preadv, SYS_read, SYS_readlinkat,
        SYS_readv, SYS_statfs, SYS_statx, SYS_sysinfo, SYS_times, SYS_uname,
    ]
};

/// The older forms of these calls, and what a thread of x86-64 is set up with.
#[cfg(target_arch = "x86_64")]
const OF_PROGRAMS_HERE: &[c_long] = {
    use libc::*;
    &[
        SYS_access, SYS_arch_prctl, SYS_getrlimit, SYS_lstat, SYS_poll, SYS_readlink, SYS_stat,
        SYS_time,
    ]
};
#[cfg(not(target_arch = "x86_64"))]
const OF_PROGRAMS_HERE: &[c_long] = &[];

/// Allows what a reader needs. Whether that is in force.
pub(super) fn allow_reading() -> bool {
    apply(
        &[HARMLESS],
        &[
            // Descriptors that this process has inherited by mistake are of no use.
            (libc::SYS_read, &[(0, Eq, libc::STDIN_FILENO)]),
            (libc::SYS_readv, &[(0, Eq, libc::STDIN_FILENO)]),
            // Only memory may be mapped, no files, and no new code.
            (
                libc::SYS_mmap,
                &[(2, bit(libc::PROT_EXEC), 0), (3, bit(libc::MAP_ANONYMOUS), libc::MAP_ANONYMOUS)],
            ),
            (libc::SYS_mprotect, &[(2, bit(libc::PROT_EXEC), 0)]),
        ],
    )
}

/// Allows what a program needs that turns a picture into text, and its loader. Whether that is in force.
pub(super) fn allow_program() -> bool {
    // A file that is opened for reading only, and neither made nor emptied.
    const CHANGING: i32 = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;
    let terminal =
        [libc::TCGETS, libc::TIOCGWINSZ].map(|request| i32::try_from(request).unwrap_or(0));
    apply(
        &[HARMLESS, OF_PROGRAMS, OF_PROGRAMS_HERE],
        &[
            #[cfg(target_arch = "x86_64")]
            (libc::SYS_open, &[(1, bit(CHANGING), 0)]),
            (libc::SYS_openat, &[(2, bit(CHANGING), 0)]),
            // Descriptors, not the signals that a change of a file or a pipe can send to any process.
            (libc::SYS_fcntl, &[(1, Eq, libc::F_DUPFD)]),
            (libc::SYS_fcntl, &[(1, Eq, libc::F_DUPFD_CLOEXEC)]),
            (libc::SYS_fcntl, &[(1, Eq, libc::F_GETFD)]),
            (libc::SYS_fcntl, &[(1, Eq, libc::F_SETFD)]),
            (libc::SYS_fcntl, &[(1, Eq, libc::F_GETFL)]),
            // Whether stdout is a terminal, not what is typed there.
            (libc::SYS_ioctl, &[(1, Eq, terminal[0])]),
            (libc::SYS_ioctl, &[(1, Eq, terminal[1])]),
            // A program may name its threads, but not change that it ends with kb.
            (libc::SYS_prctl, &[(0, Eq, libc::PR_SET_NAME)]),
            (libc::SYS_prctl, &[(0, Eq, libc::PR_GET_NAME)]),
        ],
    )
}

/// Holds if the argument has, of these bits, those of the value.
fn bit(flag: i32) -> SeccompCmpOp {
    MaskedEq(u64::from(flag.unsigned_abs()))
}

/// Allows these calls to this thread and those that it starts, and what both lists have in common. Whether
/// that is in force.
fn apply(always: &[&[c_long]], limited: &[Limited<'_>]) -> bool {
    let own_id = i32::try_from(std::process::id()).unwrap_or(0);
    let common: &[Limited<'_>] = &[
        (libc::SYS_write, &[(0, Eq, libc::STDOUT_FILENO)]),
        (libc::SYS_write, &[(0, Eq, libc::STDERR_FILENO)]),
        (libc::SYS_writev, &[(0, Eq, libc::STDOUT_FILENO)]),
        (libc::SYS_writev, &[(0, Eq, libc::STDERR_FILENO)]),
        // Threads, not processes, so that the limits of one process hold for all that runs.
        (libc::SYS_clone, &[(0, bit(libc::CLONE_THREAD), libc::CLONE_THREAD)]),
        // It can end itself, and set its own limits.
        (libc::SYS_tgkill, &[(0, Eq, own_id)]),
        (libc::SYS_prlimit64, &[(0, Eq, 0)]),
    ];
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> = BTreeMap::new();
    for call in always.iter().copied().flatten() {
        rules.insert(*call, Vec::new());
    }
    for (call, conditions) in limited.iter().chain(common) {
        let Some(rule) = rule(conditions) else { return false };
        rules.entry(*call).or_default().push(rule);
    }
    install(rules).is_some()
}

/// Refuses all calls but those with a rule.
fn install(rules: BTreeMap<c_long, Vec<SeccompRule>>) -> Option<()> {
    let architecture = std::env::consts::ARCH.try_into().ok()?;
    let (other, matched) =
        (SeccompAction::Errno(libc::ENOSYS.unsigned_abs()), SeccompAction::Allow);
    let filter = SeccompFilter::new(rules, other, matched, architecture).ok()?;
    let program: BpfProgram = filter.try_into().ok()?;
    apply_filter(&program).ok()
}

/// Returns a rule that holds if all conditions hold.
fn rule(conditions: &[Condition]) -> Option<SeccompRule> {
    let conditions = conditions.iter().map(|(argument, operator, value)| {
        let value = u64::from(value.unsigned_abs());
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), value).ok()
    });
    SeccompRule::new(conditions.collect::<Option<_>>()?).ok()
}
