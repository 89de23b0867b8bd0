//! Waits for what a program does. No test says how fast anything is, because a busy machine is slow.

use std::io::Read;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fs, thread};

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

/// The way to end a program.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EndRequest {
    CtrlC,
    Terminate,
}

/// Whether this system lets a test tell another program to end. On Windows, the keyboard of its console does.
pub(crate) const CAN_REQUEST_END: bool = cfg!(unix);

/// Tells a program to end, and requires that it ends with success. Where nothing can tell it so, it is killed.
#[track_caller]
pub(crate) fn end(child: &mut Child, request: EndRequest) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process};
        let signal = match request {
            EndRequest::CtrlC => Signal::INT,
            EndRequest::Terminate => Signal::TERM,
        };
        kill_process(Pid::from_child(child), signal).unwrap();
        assert_eq!(status_of(child).code(), Some(0), "{request:?}");
    }
    #[cfg(not(unix))]
    {
        let _ = request;
        child.kill().unwrap();
        status_of(child);
    }
}

/// Waits like [`status_of`] for a program whose output is collected.
#[track_caller]
pub(crate) fn output_of(env: &TestEnv, mut child: Child) -> Output {
    drop(child.stdin.take());
    // Both are read while it runs: a full pipe would stop it.
    let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
    let status = status_of(&mut child);
    let [stdout, stderr] =
        [stdout, stderr].map(|bytes| bytes.recv_timeout(PATIENCE).expect("nothing holds a pipe"));
    env.output(stdout, stderr, status)
}

/// Reads a stream to its end in the background.
fn read(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.map(|mut stream| stream.read_to_end(&mut bytes)).transpose().unwrap();
        sender.send(bytes)
    });
    receiver
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
