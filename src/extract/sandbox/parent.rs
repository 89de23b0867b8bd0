//! Has a reading child read a document, and turns a crash, too much memory or too much time into a class of
//! failure.
//!
//! The child is not trusted: the parent bounds how long it waits and how many bytes it takes.

use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::ReadOptions;
use super::workers::{self, Received, Worker};
use crate::error::{Error, Failure, Result};
use crate::extract::protocol::{
    GaveUp, Head, Line, OcrJob, Page, Request, Tail, decode, failure_from_code,
};

/// What a reader made of a document it read to the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::extract) struct Reading {
    pub(in crate::extract) head: Head,
    pub(in crate::extract) pages: Vec<Page>,
    pub(in crate::extract) tail: Tail,
}

/// How long a child may take to be gone, or to wait for more, once its output has ended.
const FAREWELL: Duration = Duration::from_secs(2);

/// Most that pages can add to the waiting time, as a multiple of the time without them.
const MAX_WALL_FACTOR: u32 = 20;

/// Has `reader` read `bytes` in another process.
///
/// # Errors
///
/// [`Error::Io`] if no process can be started; [`Error::Extract`] if the document cannot be read.
pub(in crate::extract) fn read(
    reader: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Reading> {
    ask(reader, bytes, None, options)
}

/// As [`read`], with pictures of text to be read.
///
/// # Errors
///
/// Those of [`read`].
pub(in crate::extract) fn ask(
    reader: &str,
    bytes: &[u8],
    ocr: Option<OcrJob>,
    options: &ReadOptions,
) -> Result<Reading> {
    let mut worker = options.workers.take(&options.reader)?;
    let request = Request {
        reader: reader.to_owned(),
        size_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        max_memory_bytes: options.max_memory_bytes,
        cpu_seconds: options.cpu_seconds,
        cpu_ms_per_page: options.cpu_ms_per_page,
        password: options.password.clone(),
        ocr,
    };
    let Worker { child, stdin, lines, .. } = &mut worker;
    let (heard, status) = thread::scope(|scope| {
        let (is_fed, fed) = channel();
        scope.spawn(move || {
            workers::feed(stdin, &request, bytes);
            let _ = is_fed.send(());
        });
        let heard = listen(lines, options);
        // One that answers without having read is ended, or the thread that feeds it never would.
        let may_go_on = heard.is_sound() && fed.recv_timeout(FAREWELL).is_ok();
        let status = match &heard {
            _ if may_go_on => None,
            Heard::Nothing => child.wait_for(FAREWELL),
            _ => child.end(),
        };
        if !may_go_on {
            // Whatever it has started may still write, and hold the pipe that feeds it.
            *lines = sync_channel(0).1;
        }
        (heard, (!may_go_on).then_some(status))
    });
    let Some(status) = status else {
        let num_pages = heard.num_pages();
        options.workers.give_back(worker, num_pages);
        return heard.judge(None, "").map_err(Error::from);
    };
    heard.judge(status, &worker.complaints()).map_err(Error::from)
}

/// How a child's output ended.
enum Heard {
    /// With its last line.
    Everything(Reading),
    /// With its word that it gave up.
    GaveUp(GaveUp),
    /// Without a last line: the status knows why.
    Nothing,
}

impl Heard {
    /// Whether the child has said its last word on this document and may read another.
    fn is_sound(&self) -> bool {
        match self {
            Self::Everything(_) => true,
            Self::GaveUp(it) => {
                !matches!(it.failure, Failure::Crashed | Failure::OutOfMemory | Failure::TimedOut)
            }
            Self::Nothing => false,
        }
    }

    fn num_pages(&self) -> u32 {
        match self {
            Self::Everything(reading) => reading.head.page_count,
            Self::GaveUp(_) | Self::Nothing => 0,
        }
    }

    fn judge(self, status: Option<ExitStatus>, complaints: &str) -> Result<Reading, GaveUp> {
        match self {
            Self::Everything(reading) => Ok(reading),
            Self::GaveUp(it) => Err(it),
            Self::Nothing => Err(cause_of(status, complaints)),
        }
    }
}

/// Collects lines until the last one, the end of the output, or the end of patience.
fn listen(lines: &Receiver<Received>, options: &ReadOptions) -> Heard {
    let started = Instant::now();
    let mut patience = options.wall;
    let mut reading = Reading::default();
    let mut bytes_left = options.max_output_bytes;
    loop {
        let left = patience.saturating_sub(started.elapsed());
        let too_much = || {
            let detail = format!("more than {} MB of text", options.max_output_bytes >> 20);
            Heard::GaveUp(GaveUp::new(Failure::OutOfMemory, detail))
        };
        let bytes = match lines.recv_timeout(left) {
            Ok(Received::Line(bytes)) => bytes,
            Ok(Received::TooMuch) => return too_much(),
            Err(RecvTimeoutError::Disconnected) => return Heard::Nothing,
            Err(RecvTimeoutError::Timeout) => {
                let detail = format!("gave up after {} s", patience.as_secs());
                return Heard::GaveUp(GaveUp::new(Failure::TimedOut, detail));
            }
        };
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        match bytes_left.checked_sub(size) {
            Some(left) => bytes_left = left,
            None => return too_much(),
        }
        match decode(&bytes) {
            Some(Line::Document(head)) => {
                let for_pages = options.wall_per_page.saturating_mul(head.page_count);
                let most = options.wall.saturating_mul(MAX_WALL_FACTOR);
                patience = options.wall.saturating_add(for_pages).min(most);
                reading.head = head;
            }
            Some(Line::Page(page)) => reading.pages.push(page),
            Some(Line::Done(tail)) => {
                reading.tail = tail;
                return Heard::Everything(reading);
            }
            Some(Line::Failed { code, detail }) => {
                let detail = after_pages(&reading, detail);
                return Heard::GaveUp(GaveUp::new(failure_from_code(&code), detail));
            }
            // The last line of a child that was killed while writing it.
            None if !bytes.ends_with(b"\n") => return Heard::Nothing,
            None => {
                let detail = "its answer cannot be understood";
                return Heard::GaveUp(GaveUp::new(Failure::Crashed, detail));
            }
        }
    }
}

/// Says how far the reader came, which tells a damaged page from a damaged file.
fn after_pages(reading: &Reading, detail: String) -> String {
    match reading.pages.last() {
        Some(page) => {
            format!("{detail} (after page {} of {})", page.number, reading.head.page_count)
        }
        None => detail,
    }
}

/// Names the cause of a child's end that it could not tell itself.
fn cause_of(status: Option<ExitStatus>, complaints: &str) -> GaveUp {
    // The Rust runtime's own words before it aborts.
    if complaints.contains("memory allocation of") {
        return GaveUp::new(Failure::OutOfMemory, "");
    }
    if complaints.contains("overflowed its stack") {
        return GaveUp::new(Failure::Crashed, "it is nested too deeply");
    }
    let Some(status) = status else {
        return GaveUp::new(Failure::TimedOut, "it did not end");
    };
    cause_of_signal(status).unwrap_or_else(|| GaveUp::new(Failure::Crashed, status.to_string()))
}

#[cfg(unix)]
fn cause_of_signal(status: ExitStatus) -> Option<GaveUp> {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt;

    let signal = status.signal()?;
    Some(if signal == Signal::XCPU.as_raw() {
        GaveUp::new(Failure::TimedOut, "its processor time is used up")
    } else if signal == Signal::KILL.as_raw() {
        // Nobody but the system kills a child before it has spoken.
        GaveUp::new(Failure::OutOfMemory, "the system ended it")
    } else {
        GaveUp::new(Failure::Crashed, format!("signal {signal}"))
    })
}

#[cfg(not(unix))]
fn cause_of_signal(_status: ExitStatus) -> Option<GaveUp> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::{fs, io};

    use super::*;

    const RUNS: &str = "a test can write a script";

    /// A child that answers with `script`, whatever it is asked.
    #[track_caller]
    fn answer_of(script: &str, change: impl FnOnce(&mut ReadOptions)) -> Result<Reading> {
        let directory = tempfile::tempdir().expect(RUNS);
        let reader = directory.path().join("reader");
        fs::write(&reader, format!("#!/bin/sh\n{script}\n")).expect(RUNS);
        fs::set_permissions(&reader, fs::Permissions::from_mode(0o755)).expect(RUNS);
        let mut options = ReadOptions::new(reader);
        change(&mut options);
        loop {
            match read("any", &vec![b'x'; 1 << 20], &options) {
                // A test beside this one was starting its child while the script was written.
                Err(Error::Io { source, .. })
                    if source.kind() == io::ErrorKind::ExecutableFileBusy => {}
                outcome => return outcome,
            }
        }
    }

    #[track_caller]
    fn check(script: &str, expected: Failure) {
        match answer_of(script, |it| it.wall = Duration::from_secs(1)) {
            Err(Error::Extract { failure, .. }) => assert_eq!(failure, expected, "{script}"),
            other => panic!("{script}: {other:?}"),
        }
    }

    const HEAD: &str = r#"{"document":{"page_count":2,"outline":[]}}"#;
    const PAGE: &str = r#"{"page":{"number":1,"blocks":[],"num_text_ops":1,"image_coverage":0,"num_unreadable":0}}"#;
    const DONE: &str = r#"{"done":{"pages_lost":false,"rebuilt":false}}"#;

    #[test]
    fn a_whole_answer_is_a_reading() {
        let script = format!("echo '{HEAD}'; echo '{PAGE}'; echo '{DONE}'; exec cat >/dev/null");
        let reading = answer_of(&script, |_| {}).unwrap();
        assert_eq!((reading.head.page_count, reading.pages.len()), (2, 1));
    }

    #[test]
    fn a_child_that_does_not_listen_is_no_deadlock() {
        let script = format!("echo '{HEAD}'; echo '{DONE}'; exec sleep 60");
        assert!(answer_of(&script, |_| {}).is_ok());
    }

    #[test]
    fn half_an_answer_is_a_failure() {
        check(&format!("echo '{HEAD}'; echo '{PAGE}'"), Failure::Crashed);
        check(&format!("echo '{HEAD}'; printf '{{\"page\":'; kill -SEGV $$"), Failure::Crashed);
        check("exit 0", Failure::Crashed);
    }

    #[test]
    fn nonsense_is_a_crash() {
        check("echo hello; exec sleep 60", Failure::Crashed);
    }

    #[test]
    fn signals_have_their_class() {
        check("kill -SEGV $$", Failure::Crashed);
        check("kill -ABRT $$", Failure::Crashed);
        check("kill -KILL $$", Failure::OutOfMemory);
        check("kill -XCPU $$", Failure::TimedOut);
        check(
            "echo 'memory allocation of 9 bytes failed' >&2; kill -ABRT $$",
            Failure::OutOfMemory,
        );
    }

    #[test]
    fn the_word_of_the_child_is_believed() {
        let script = r#"echo '{"failed":{"code":"password_needed","detail":"x"}}'"#;
        check(script, Failure::PasswordNeeded);
    }

    #[test]
    fn silence_ends_with_patience() {
        check("exec sleep 60", Failure::TimedOut);
        check("exec >&-; exec sleep 60", Failure::TimedOut);
    }

    #[test]
    fn endless_output_is_cut_off() {
        let script = format!("yes '{PAGE}'");
        let outcome = answer_of(&script, |it| it.max_output_bytes = 1 << 20);
        assert!(
            matches!(outcome, Err(Error::Extract { failure: Failure::OutOfMemory, .. })),
            "{outcome:?}"
        );
    }

    #[test]
    fn a_reader_that_is_not_there_is_no_fault_of_the_file() {
        let outcome = read("any", b"", &ReadOptions::new("/nowhere/kb".into()));
        assert!(matches!(outcome, Err(Error::Io { .. })), "{outcome:?}");
    }
}
