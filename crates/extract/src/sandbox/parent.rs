//! Lets a reading child read a document, and converts a crash, too much memory or too much time
//! into a class of failure.
//!
//! The child is not trusted: the parent limits how long it waits and how many bytes it reads.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::{ChildStdin, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

use super::process::{Process, StreamEnd};
use super::{Layers, ReadOptions, ocr};
use crate::error::{Error, FailureKind, Result};
use crate::limits;
use crate::protocol::bounds::ItemCounts;
use crate::protocol::{
    AnswerLine, CHILD_COMMAND, DocumentHead, ExtractedPage, INVALID, LAYERS, MemberLine,
    OCR_OF_PDF, PDF_READERS, PICTURE_OF_PDF, ParsedText, ReadFailure, ReadingSummary, RenderedPage,
    Request, decode, encode, failure_from_code,
};

/// The result of reading a complete document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ReadDocument {
    pub(crate) head: DocumentHead,
    pub(crate) pages: Vec<ExtractedPage>,
    pub(crate) tail: ReadingSummary,
    /// A parsed text, which has no pages.
    pub(crate) parsed: Option<ParsedText>,
    /// The files in a container.
    pub(crate) members: Vec<MemberLine>,
    /// The page that was drawn.
    pub(crate) drawn: Option<RenderedPage>,
    /// The layers that confine the child, if the caller asked for them.
    pub(crate) layers: Layers,
}

/// Largest waiting time including pages, as a multiple of the time without them: the file itself declares the number
/// of pages.
const MAX_WALL_FACTOR: u32 = 20;

/// Reads `bytes` with `reader` in another process.
pub(crate) fn read(reader: &str, bytes: &[u8], options: &ReadOptions) -> Result<ReadDocument> {
    answer(&request(reader, bytes, options), bytes, options)
}

/// Starts a reading child and returns the layers that it reports.
///
/// # Errors
///
/// [`Error::Io`] if no process can be started; [`Error::Extract`] if it does not answer.
pub fn active(reader: &Path) -> Result<Layers> {
    Ok(read(LAYERS, b"", &ReadOptions::new(reader.to_owned()))?.layers)
}

/// Returns the request to read bytes without OCR.
pub(crate) fn request(reader: &str, bytes: &[u8], options: &ReadOptions) -> Request {
    // No other format is opened by a password, so no other author could get it.
    let is_pdf = PDF_READERS.contains(&reader) || [OCR_OF_PDF, PICTURE_OF_PDF].contains(&reader);
    let max_cpu_seconds = options.max_cpu_seconds();
    Request {
        reader: reader.to_owned(),
        size_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        max_memory_bytes: options.max_memory_bytes,
        cpu_seconds: options.cpu_seconds.min(max_cpu_seconds),
        cpu_ms_per_page: options.cpu_ms_per_page,
        max_cpu_seconds,
        password: options.password.clone().filter(|_| is_pdf),
        ocr_pages: Vec::new(),
        ocr_areas: Vec::new(),
        kind: None,
        keeps_all: options.keeps_all,
        omits_remarks: options.omits_remarks,
        drawing: None,
    }
}

/// Sends a request and the bytes of the document to a new child, and waits for the answer.
pub(crate) fn answer(
    request: &Request,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<ReadDocument> {
    let (mut child, stdin) = Process::start(&options.reader, &[OsStr::new(CHILD_COMMAND)], &[])?;
    let mut reading = ReadDocument::default();
    let (end, status) = thread::scope(|scope| {
        let (replies, to_send) = channel();
        scope.spawn(move || feed(stdin, request, bytes, &to_send));
        let end = receive(&child, &mut reading, &replies, request, options);
        // A child that answers without having read the request is ended; otherwise the thread that
        // feeds it would never end.
        let status = match &end {
            Err(ReadStop::CutOff) => child.wait_for_end(),
            _ => child.end(),
        };
        child.close();
        (end, status)
    });
    match end {
        Ok(()) => Ok(reading),
        Err(ReadStop::Failed(failed)) => Err(failed.into()),
        Err(_) if options.is_cancelled() => Err(Error::Cancelled),
        Err(ReadStop::CutOff) => {
            let failed = cause_of(status, &child.errors());
            let limit_seconds = request.cpu_seconds_of(reading.head.page_count);
            if failed.detail == CPU_USED && limit_seconds == request.max_cpu_seconds {
                Err(Error::TooSlow { limit_seconds })
            } else {
                Err(failed.into())
            }
        }
    }
}

/// Sends a document to a child, and then what it asks for. A child that has ended reads nothing; its
/// status has the reason.
fn feed(mut stdin: ChildStdin, request: &Request, bytes: &[u8], replies: &Receiver<Vec<u8>>) {
    let mut outcome = send(&mut stdin, &encode(request)).and_then(|()| send(&mut stdin, bytes));
    while let (Ok(()), Ok(reply)) = (&outcome, replies.recv()) {
        outcome = send(&mut stdin, &reply);
    }
}

fn send(stdin: &mut ChildStdin, bytes: &[u8]) -> io::Result<()> {
    stdin.write_all(bytes)?;
    stdin.flush()
}

/// Why an answer is not complete.
enum ReadStop {
    /// The child, or the parent, has reported a failure.
    Failed(ReadFailure),
    /// It ended without a last line; the exit status has the reason. Or the run was cancelled.
    CutOff,
}

/// Describes a child that has used up its processor time.
const CPU_USED: &str = "its processor time is used up";

/// How [`encode`] begins a message with pictures.
const PICTURES: &[u8] = br#"{"pictures":"#;

/// Collects lines until the last one, the end of the output, or the time limit.
fn receive(
    child: &Process,
    reading: &mut ReadDocument,
    replies: &Sender<Vec<u8>>,
    request: &Request,
    options: &ReadOptions,
) -> Result<(), ReadStop> {
    let started = Instant::now();
    let mut time_limit = options.wall;
    let mut bytes_left = options.max_output_bytes;
    let mut counts = ItemCounts::default();
    let mut pictures_left = ocr::MAX_PICTURES_PER_PAGE.saturating_mul(request.ocr_pages.len());
    loop {
        let bytes = match child.next_line(started + time_limit, options) {
            Ok(bytes) => bytes,
            Err(StreamEnd::TooMuch) => return Err(too_much_text(options)),
            Err(StreamEnd::Late) => {
                let detail = format!("gave up after {} s", time_limit.as_secs());
                return Err(failed(FailureKind::TimedOut, detail));
            }
            Err(StreamEnd::End | StreamEnd::Cancelled) => return Err(ReadStop::CutOff),
        };
        // Pictures for Tesseract are not kept.
        if !bytes.starts_with(PICTURES) {
            let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            match bytes_left.checked_sub(size) {
                Some(left) => bytes_left = left,
                None => return Err(too_much_text(options)),
            }
        }
        if let Err(bound) = counts.add(&bytes) {
            return Err(failed(FailureKind::TooLarge, bound.to_string()));
        }
        match decode(&bytes) {
            Some(AnswerLine::Document(mut head)) => {
                shorten(&mut head.title);
                let for_pages = options.wall_per_page.saturating_mul(head.page_count);
                let most = options.wall.saturating_mul(MAX_WALL_FACTOR);
                time_limit = options.wall.saturating_add(for_pages).min(most);
                reading.head = head;
            }
            Some(AnswerLine::Page(page)) => reading.pages.push(page),
            Some(AnswerLine::Parsed(mut parsed)) => {
                shorten(&mut parsed.document.title);
                reading.parsed = Some(*parsed);
            }
            Some(AnswerLine::Member(member)) if member.is_sound() => reading.members.push(member),
            Some(AnswerLine::Drawn(drawn)) if drawn.is_sound() => reading.drawn = Some(drawn),
            Some(AnswerLine::Layers(layers)) => reading.layers = layers,
            Some(AnswerLine::Pictures(asked)) if asked.pictures.len() <= pictures_left => {
                pictures_left -= asked.pictures.len();
                let until = started + time_limit;
                let recognised = ocr::recognise(&asked, request, until, options);
                // Only a child that has ended does not wait for it.
                let _ = replies.send(encode(&recognised));
            }
            Some(AnswerLine::Done(tail)) => {
                reading.tail = tail;
                return Ok(());
            }
            Some(AnswerLine::Failed { code, detail }) => {
                return Err(failed(failure_from_code(&code), after_pages(reading, detail)));
            }
            // The last line of a child that was killed while writing it.
            None if !bytes.ends_with(b"\n") => return Err(ReadStop::CutOff),
            None | Some(AnswerLine::Pictures(_) | AnswerLine::Member(_) | AnswerLine::Drawn(_)) => {
                return Err(failed(FailureKind::Crashed, INVALID.to_owned()));
            }
        }
    }
}

fn failed(failure: FailureKind, detail: String) -> ReadStop {
    ReadStop::Failed(ReadFailure::new(failure, detail))
}

fn too_much_text(options: &ReadOptions) -> ReadStop {
    let detail = format!("more than {} MB of text", options.max_output_bytes >> 20);
    failed(FailureKind::OutOfMemory, detail)
}

/// Cuts a title that is longer than a line can be.
fn shorten(title: &mut Option<String>) {
    if let Some(title) = title
        && let Some((end, _)) = title.char_indices().nth(limits::TITLE_CHARS)
    {
        title.truncate(end);
        title.shrink_to_fit();
    }
}

/// Adds how far the reader came, which distinguishes a damaged page from a damaged file.
fn after_pages(reading: &ReadDocument, detail: String) -> String {
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
        return ReadFailure::new(FailureKind::OutOfMemory, "");
    }
    if errors.contains("overflowed its stack") {
        return ReadFailure::new(FailureKind::Crashed, "it is nested too deeply");
    }
    let Some(status) = status else {
        return ReadFailure::new(FailureKind::TimedOut, "it did not exit");
    };
    cause_of_signal(status)
        .unwrap_or_else(|| ReadFailure::new(FailureKind::Crashed, status.to_string()))
}

#[cfg(unix)]
fn cause_of_signal(status: ExitStatus) -> Option<ReadFailure> {
    use rustix::process::Signal;
    use std::os::unix::process::ExitStatusExt;

    let signal = status.signal()?;
    Some(if signal == Signal::XCPU.as_raw() {
        ReadFailure::new(FailureKind::TimedOut, CPU_USED)
    } else if signal == Signal::KILL.as_raw() {
        // Only the system kills a child before it has answered.
        ReadFailure::new(FailureKind::OutOfMemory, "the system ended it")
    } else {
        ReadFailure::new(FailureKind::Crashed, format!("signal {signal}"))
    })
}

#[cfg(not(unix))]
fn cause_of_signal(_status: ExitStatus) -> Option<ReadFailure> {
    None
}

#[cfg(all(test, unix))]
mod tests;
