//! Lets the kernel refuse system calls of this process (seccomp).
//!
//! A reader may make the calls in a list, and no others. A refused call fails as one that the kernel does
//! not have (`ENOSYS`), so that a C library which is newer than the list does without it, as on an old
//! kernel; glibc, for example, starts threads by `clone` if there is no `clone3`. A program that kb did not
//! compile gets a list of what is refused, since its libraries may call anything else.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

/// A condition on one argument of a call.
type Condition = (u8, SeccompCmpOp, i32);

/// Calls that a reader may make with any arguments: memory, time, threads, its own end.
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

/// Calls that no program needs that turns a picture into text: network, other processes, and the parts of
/// the kernel in which most of its flaws are found.
const REFUSED: &[c_long] = {
    use libc::*;
    &[
        SYS_accept, SYS_accept4, SYS_add_key, SYS_bind, SYS_bpf, SYS_chroot, SYS_connect,
        SYS_finit_module, SYS_fsopen, SYS_init_module, SYS_io_uring_enter, SYS_io_uring_register,
        SYS_io_uring_setup, SYS_kexec_load, SYS_keyctl, SYS_listen, SYS_mount, SYS_move_mount,
        SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_open_tree, SYS_perf_event_open,
        SYS_pidfd_getfd, SYS_pidfd_open, SYS_pidfd_send_signal, SYS_pivot_root,
        SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace, SYS_request_key, SYS_setns,
        SYS_socket, SYS_socketpair, SYS_umount2, SYS_unshare, SYS_userfaultfd,
    ]
};

/// Allows what a reader needs. Whether that is in force.
pub(super) fn allow_reading() -> bool {
    use SeccompCmpOp::{Eq, MaskedEq};
    let bit = |flag: i32| MaskedEq(u64::from(flag.unsigned_abs()));
    let own_id = i32::try_from(std::process::id()).unwrap_or(0);
    let limited: &[(c_long, &[Condition])] = &[
        // Descriptors that this process has inherited by mistake are of no use.
        (libc::SYS_read, &[(0, Eq, libc::STDIN_FILENO)]),
        (libc::SYS_readv, &[(0, Eq, libc::STDIN_FILENO)]),
        (libc::SYS_write, &[(0, Eq, libc::STDOUT_FILENO)]),
        (libc::SYS_write, &[(0, Eq, libc::STDERR_FILENO)]),
        (libc::SYS_writev, &[(0, Eq, libc::STDOUT_FILENO)]),
        (libc::SYS_writev, &[(0, Eq, libc::STDERR_FILENO)]),
        // Memory, not files; and no new code.
        (
            libc::SYS_mmap,
            &[(2, bit(libc::PROT_EXEC), 0), (3, bit(libc::MAP_ANONYMOUS), libc::MAP_ANONYMOUS)],
        ),
        (libc::SYS_mprotect, &[(2, bit(libc::PROT_EXEC), 0)]),
        // Threads, not processes.
        (libc::SYS_clone, &[(0, bit(libc::CLONE_THREAD), libc::CLONE_THREAD)]),
        // It can end itself, and set its own limits.
        (libc::SYS_tgkill, &[(0, Eq, own_id)]),
        (libc::SYS_prlimit64, &[(0, Eq, 0)]),
    ];
    let mut rules = BTreeMap::new();
    for call in HARMLESS {
        rules.insert(*call, Vec::new());
    }
    for (call, conditions) in limited {
        let Some(rule) = rule(conditions) else { return false };
        rules.entry(*call).or_insert_with(Vec::new).push(rule);
    }
    apply(rules, SeccompAction::Errno(libc::ENOSYS.unsigned_abs()), SeccompAction::Allow)
}

/// Refuses what no program needs that turns a picture into text. Whether that is in force.
pub(super) fn refuse_what_no_program_needs() -> bool {
    let mut rules: BTreeMap<c_long, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // Other processes: their limits, and signals to them.
    let own_id = i32::try_from(std::process::id()).unwrap_or(0);
    for (call, own) in [(libc::SYS_prlimit64, 0), (libc::SYS_kill, own_id)] {
        let Some(of_others) = rule(&[(0, SeccompCmpOp::Ne, own)]) else { return false };
        rules.insert(call, vec![of_others]);
    }
    apply(rules, SeccompAction::Allow, SeccompAction::Errno(libc::EPERM.unsigned_abs()))
}

/// Returns a rule that holds if all conditions hold.
fn rule(conditions: &[Condition]) -> Option<SeccompRule> {
    let condition = |(argument, operator, value): &Condition| {
        let value = u64::from(value.unsigned_abs());
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), value).ok()
    };
    SeccompRule::new(conditions.iter().map(condition).collect::<Option<_>>()?).ok()
}

/// Applies a filter to this thread and those that it starts: `matched` for the calls in `rules`, else
/// `other`.
fn apply(
    rules: BTreeMap<c_long, Vec<SeccompRule>>,
    other: SeccompAction,
    matched: SeccompAction,
) -> bool {
    let filter = || {
        let architecture = std::env::consts::ARCH.try_into().ok()?;
        let filter = SeccompFilter::new(rules, other, matched, architecture).ok()?;
        let program: BpfProgram = filter.try_into().ok()?;
        apply_filter(&program).ok()
    };
    filter().is_some()
}
