//! Waits for what a program does. No test says how fast anything is, because a busy machine is slow.

use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};

use crate::env::{Output, TestEnv};

/// Longest wait for anything. It only makes the test of a program that hangs fail.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The time between two checks of a condition.
const POLL: Duration = Duration::from_millis(1);

/// Waits for a condition; returns `false` for a program that never fulfils it.
pub(crate) fn comes_true(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(POLL);
    }
    true
}

/// Waits for the end of a program; one that hangs is killed and fails the test.
#[track_caller]
pub(crate) fn status_of(child: &mut Child) -> ExitStatus {
    if !comes_true(|| child.try_wait().unwrap().is_some()) {
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("the program did not end");
    }
    child.wait().unwrap()
}

/// The same, for a program whose output is collected.
#[track_caller]
pub(crate) fn output_of(env: &TestEnv, child: Child) -> Output {
    let id = Pid::from_child(&child);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
        kill_process(id, Signal::KILL).unwrap();
        panic!("the program did not end");
    };
    env.output(output.stdout, output.stderr, output.status)
}

/// Files that may look at the clock: for the moment of a kill, and for a condition that is signalled.
const OTHERS: [&str; 2] = ["reindex.rs", "screen.rs"];

#[test]
fn other_tests_neither_measure_time_nor_limit_it() {
    let this = Path::new(env!("CARGO_MANIFEST_DIR")).join(file!());
    for entry in fs::read_dir(this.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path == this || OTHERS.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for clock in ["elapsed()", "_timeout(Duration"] {
            assert!(!source.contains(clock), "{}: {clock}", path.display());
        }
    }
}
