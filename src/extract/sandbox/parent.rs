//! Lets a reading child read a document, and converts a crash, too much memory or too much time
//! into a class of failure.
//!
//! The child is not trusted: the parent limits how long it waits and how many bytes it reads.

use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::ReadOptions;
use super::workers::{self, Received, Worker};
use crate::document::Language;
use crate::error::{Error, Failure, Result};
use crate::extract::protocol::{
    CODE, Head, Line, MemberLine, OcrJob, Page, ReadFailure, Request, SourceBlock, Tail, decode,
    failure_from_code,
};

/// The result of reading a complete document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::extract) struct Reading {
    pub(in crate::extract) head: Head,
    pub(in crate::extract) pages: Vec<Page>,
    pub(in crate::extract) tail: Tail,
    /// The parts of source code, which has no pages.
    pub(in crate::extract) source: Vec<SourceBlock>,
    /// The files in a container.
    pub(in crate::extract) members: Vec<MemberLine>,
}

/// How long a child may take to exit, or to be ready again, after its output has ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Largest waiting time including pages, as a multiple of the time without them.
const MAX_WALL_FACTOR: u32 = 20;

/// Reads `bytes` with `reader` in another process.
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

/// Divides source code in UTF-8.
///
/// # Errors
///
/// As in [`read`].
pub(in crate::extract) fn read_source(
    text: &str,
    language: Language,
    options: &ReadOptions,
) -> Result<Vec<SourceBlock>> {
    let language = Some(language.as_str().to_owned());
    let request = Request { language, ..request(CODE, text.as_bytes(), options) };
    Ok(answer(request, text.as_bytes(), options)?.source)
}

/// Like [`read`], with OCR.
///
/// # Errors
///
/// As in [`read`].
pub(in crate::extract) fn ask(
    reader: &str,
    bytes: &[u8],
    ocr: Option<OcrJob>,
    options: &ReadOptions,
) -> Result<Reading> {
    answer(Request { ocr, ..request(reader, bytes, options) }, bytes, options)
}

/// Returns the request to read bytes without OCR.
fn request(reader: &str, bytes: &[u8], options: &ReadOptions) -> Request {
    Request {
        reader: reader.to_owned(),
        size_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        max_memory_bytes: options.max_memory_bytes,
        cpu_seconds: options.cpu_seconds,
        cpu_ms_per_page: options.cpu_ms_per_page,
        password: options.password.clone(),
        ocr: None,
        language: None,
    }
}

/// Sends a request and the bytes of the document, and waits for the answer.
fn answer(request: Request, bytes: &[u8], options: &ReadOptions) -> Result<Reading> {
    let mut worker = options.workers.take(&options.reader)?;
    let Worker { child, stdin, lines, .. } = &mut worker;
    let (answer, status) = thread::scope(|scope| {
        let (is_fed, fed) = channel();
        scope.spawn(move || {
            workers::feed(stdin, &request, bytes);
            let _ = is_fed.send(());
        });
        let answer = receive(lines, options);
        // A child that answers without having read the request is ended; otherwise the thread that
        // feeds it would never end.
        let can_continue = answer.is_reusable() && fed.recv_timeout(EXIT_TIMEOUT).is_ok();
        let status = match &answer {
            _ if can_continue => None,
            Answer::CutOff => child.wait_for(EXIT_TIMEOUT),
            _ => child.end(),
        };
        if !can_continue {
            // A process that the child has started may still write, and keep the pipe open.
            *lines = sync_channel(0).1;
        }
        (answer, (!can_continue).then_some(status))
    });
    let Some(status) = status else {
        let num_pages = answer.num_pages();
        options.workers.give_back(worker, num_pages);
        return answer.into_result(None, "").map_err(Error::from);
    };
    answer.into_result(status, &worker.errors()).map_err(Error::from)
}

/// The end of a child's output.
enum Answer {
    /// It ended with the last line.
    Complete(Box<Reading>),
    /// It ended with a failure that the child reported.
    Failed(ReadFailure),
    /// It ended without a last line; the exit status has the reason.
    CutOff,
}

impl Answer {
    /// Whether the child has finished with this document and may read another.
    fn is_reusable(&self) -> bool {
        match self {
            Self::Complete(_) => true,
            Self::Failed(failed) => !matches!(
                failed.failure,
                Failure::Crashed | Failure::OutOfMemory | Failure::TimedOut
            ),
            Self::CutOff => false,
        }
    }

    fn num_pages(&self) -> u32 {
        match self {
            Self::Complete(reading) => reading.head.page_count,
            Self::Failed(_) | Self::CutOff => 0,
        }
    }

    fn into_result(self, status: Option<ExitStatus>, errors: &str) -> Result<Reading, ReadFailure> {
        match self {
            Self::Complete(reading) => Ok(*reading),
            Self::Failed(failed) => Err(failed),
            Self::CutOff => Err(cause_of(status, errors)),
        }
    }
}

/// Collects lines until the last one, the end of the output, or the time limit.
fn receive(lines: &Receiver<Received>, options: &ReadOptions) -> Answer {
    let started = Instant::now();
    let mut time_limit = options.wall;
    let mut reading = Reading::default();
    let mut bytes_left = options.max_output_bytes;
    loop {
        let left = time_limit.saturating_sub(started.elapsed());
        let too_much = || {
            let detail = format!("more than {} MB of text", options.max_output_bytes >> 20);
            Answer::Failed(ReadFailure::new(Failure::OutOfMemory, detail))
        };
        let bytes = match lines.recv_timeout(left) {
            Ok(Received::Line(bytes)) => bytes,
            Ok(Received::TooMuch) => return too_much(),
            Err(RecvTimeoutError::Disconnected) => return Answer::CutOff,
            Err(RecvTimeoutError::Timeout) => {
                let detail = format!("gave up after {} s", time_limit.as_secs());
                return Answer::Failed(ReadFailure::new(Failure::TimedOut, detail));
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
                time_limit = options.wall.saturating_add(for_pages).min(most);
                reading.head = head;
            }
            Some(Line::Page(page)) => reading.pages.push(page),
            Some(Line::Source(blocks)) => reading.source.extend(blocks),
            Some(Line::Member(member)) => reading.members.push(member),
            Some(Line::Done(tail)) => {
                reading.tail = tail;
                return Answer::Complete(Box::new(reading));
            }
            Some(Line::Failed { code, detail }) => {
                let detail = after_pages(&reading, detail);
                return Answer::Failed(ReadFailure::new(failure_from_code(&code), detail));
            }
            // The last line of a child that was killed while writing it.
            None if !bytes.ends_with(b"\n") => return Answer::CutOff,
            None => {
                let detail = "its answer is invalid";
                return Answer::Failed(ReadFailure::new(Failure::Crashed, detail));
            }
        }
    }
}

/// Adds how far the reader came, which distinguishes a damaged page from a damaged file.
fn after_pages(reading: &Reading, detail: String) -> String {
    match reading.pages.last() {
        Some(page) => {
            format!("{detail} (after page {} of {})", page.number, reading.head.page_count)
        }
        None => detail,
    }
}

/// Returns the cause of a child's end that the child could not report.
fn cause_of(status: Option<ExitStatus>, errors: &str) -> ReadFailure {
    // Messages of the Rust runtime before it aborts.
    if errors.contains("memory allocation of") {
        return ReadFailure::new(Failure::OutOfMemory, "");
    }
    if errors.contains("overflowed its stack") {
        return ReadFailure::new(Failure::Crashed, "it is nested too deeply");
    }
    let Some(status) = status else {
        return ReadFailure::new(Failure::TimedOut, "it did not end");
    };
    cause_of_signal(status)
        .unwrap_or_else(|| ReadFailure::new(Failure::Crashed, status.to_string()))
}

#[cfg(unix)]
fn cause_of_signal(status: ExitStatus) -> Option<ReadFailure> {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt;

    let signal = status.signal()?;
    Some(if signal == Signal::XCPU.as_raw() {
        ReadFailure::new(Failure::TimedOut, "its processor time is used up")
    } else if signal == Signal::KILL.as_raw() {
        // Only the system kills a child before it has answered.
        ReadFailure::new(Failure::OutOfMemory, "the system ended it")
    } else {
        ReadFailure::new(Failure::Crashed, format!("signal {signal}"))
    })
}

#[cfg(not(unix))]
fn cause_of_signal(_status: ExitStatus) -> Option<ReadFailure> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::{fs, io};

    use super::*;

    const RUNS: &str = "a test can write a script";

    /// Runs a child that answers every request with `script`.
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
                // A concurrent test was starting its child while the script was written.
                Err(Error::Io { source, .. })
                    if source.kind() == io::ErrorKind::ExecutableFileBusy => {}
                outcome => return outcome,
            }
        }
    }

    #[track_caller]
    fn check(script: &str, expected: Failure) {
        match answer_of(script, |options| options.wall = Duration::from_secs(1)) {
            Err(Error::Extract { failure, .. }) => assert_eq!(failure, expected, "{script}"),
            other => panic!("{script}: {other:?}"),
        }
    }

    const HEAD: &str = r#"{"document":{"page_count":2,"outline":[]}}"#;
    const PAGE: &str = r#"{"page":{"number":1,"blocks":[],"num_text_ops":1,"image_coverage":0,"num_unreadable":0}}"#;
    const DONE: &str = r#"{"done":{"pages_lost":false,"rebuilt":false}}"#;

    #[test]
    fn a_complete_answer_is_a_reading() {
        let script = format!("echo '{HEAD}'; echo '{PAGE}'; echo '{DONE}'; exec cat >/dev/null");
        let reading = answer_of(&script, |_| {}).unwrap();
        assert_eq!((reading.head.page_count, reading.pages.len()), (2, 1));
    }

    #[test]
    fn a_child_that_does_not_read_causes_no_deadlock() {
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
    fn an_invalid_answer_is_a_crash() {
        check("echo hello; exec sleep 60", Failure::Crashed);
    }

    #[test]
    fn signals_have_a_class_of_failure() {
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
    fn a_failure_reported_by_the_child_is_accepted() {
        let script = r#"echo '{"failed":{"code":"password_needed","detail":"x"}}'"#;
        check(script, Failure::PasswordNeeded);
    }

    #[test]
    fn a_silent_child_times_out() {
        check("exec sleep 60", Failure::TimedOut);
        check("exec >&-; exec sleep 60", Failure::TimedOut);
    }

    #[test]
    fn endless_output_is_cut_off() {
        let script = format!("yes '{PAGE}'");
        let outcome = answer_of(&script, |options| options.max_output_bytes = 1 << 20);
        assert!(
            matches!(outcome, Err(Error::Extract { failure: Failure::OutOfMemory, .. })),
            "{outcome:?}"
        );
    }

    #[test]
    fn a_missing_reader_is_not_a_failure_of_the_file() {
        let outcome = read("any", b"", &ReadOptions::new("/nowhere/kb".into()));
        assert!(matches!(outcome, Err(Error::Io { .. })), "{outcome:?}");
    }
}
