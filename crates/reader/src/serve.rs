//! Reads a request and a document from stdin and writes lines of JSON to stdout. This is the process
//! that may crash.
//!
//! `kb` starts itself as `kb __read`, once for each document. Before it reads the first byte, the
//! process gives up what no reader needs (`sandbox::confine`). A panic becomes a line of output. A
//! stack overflow, a failed allocation or a signal ends only this process, and the parent
//! determines the cause from its status.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::process::ExitCode;
use std::{panic, thread};

use super::{EarlyEnd, Read, ReaderInput, table};
use crate::error::FailureKind;
use crate::extract::protocol::{
    AnswerLine, LAYERS, MAX_MARKED_BYTES, Pictures, ReadFailure, ReadingSummary, Request, decode,
    encode,
};
use crate::extract::sandbox::Layers;
use crate::extract::sandbox::confine::{self, ProcessLimit, limit};

/// Stack of the reading thread. Readers recurse with the nesting of a document; the stack of the
/// main thread is 8 MiB on Linux and 1 MiB on Windows.
const STACK_BYTES: usize = 64 << 20;

/// Longest request line: the text to mark, of which JSON writes a control character in six bytes, and 32 KiB for names,
/// numbers and a password.
const MAX_REQUEST_BYTES: u64 = 6 * MAX_MARKED_BYTES as u64 + (32 << 10);

/// Longest line with which the parent answers a question. A table of words has at most 16 MB.
const MAX_REPLY_BYTES: u64 = 64 << 20;

/// Runs the child: reads one document from stdin, and writes its content to stdout and nowhere else.
pub fn run_child() -> ExitCode {
    let layers = confine::for_reading();
    // The panic message would be noise; it is sent in the last line.
    panic::set_hook(Box::new(|_| {}));
    match answer(layers) {
        Ok(()) => ExitCode::SUCCESS,
        // The parent has gone or does not speak the protocol, so the error cannot be reported.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Answers the request on stdin.
fn answer(layers: Layers) -> io::Result<()> {
    let (mut input, mut output) = (BufReader::new(io::stdin()), io::stdout());
    let request: Request =
        decode(&line(&mut input, MAX_REQUEST_BYTES)?).ok_or(io::ErrorKind::InvalidData)?;
    if request.reader == LAYERS {
        return write(
            &mut output,
            &[AnswerLine::Layers(layers), AnswerLine::Done(ReadingSummary::default())],
        );
    }
    let read = table::by_name(&request.reader).ok_or(io::ErrorKind::InvalidData)?;
    serve(read, &request, &mut input, &mut output)
}

fn serve(
    read: Read,
    request: &Request,
    input: &mut (impl BufRead + Send),
    output: &mut (impl Write + Send),
) -> io::Result<()> {
    // The limits come before the document, whose size is only what the request claims. No page is known yet.
    limit(ProcessLimit::Memory, request.max_memory_bytes, request.max_memory_bytes);
    limit_cpu(request, 0);

    let mut bytes = Vec::new();
    (&mut *input).take(request.size_bytes).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).ok() != Some(request.size_bytes) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }

    let outcome = thread::scope(|scope| {
        let reading = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || {
            // No reader starts a thread: those whose library uses rayon run on this one. It fails where
            // there is a pool already, as in the tests.
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
            let _ = alone.build_global();
            confine::refuse_threads();
            let (input, output) = (RefCell::new(&mut *input), RefCell::new(&mut *output));
            let input = ReaderInput {
                bytes: &bytes,
                request,
                ask: &|pictures: Pictures| {
                    write(&mut *output.borrow_mut(), &[AnswerLine::Pictures(pictures)])?;
                    let reply = line(&mut *input.borrow_mut(), MAX_REPLY_BYTES)?;
                    decode(&reply).ok_or_else(|| io::ErrorKind::InvalidData.into())
                },
            };
            read(&input, &mut |line| {
                if let AnswerLine::Document(head) = &line {
                    limit_cpu(request, head.page_count);
                }
                write(&mut *output.borrow_mut(), &[line])
            })
        });
        match reading.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(payload)) => {
                Err(ReadFailure::new(FailureKind::Crashed, panic_message(&*payload)).into())
            }
            Err(error) => Err(ReadFailure::new(FailureKind::OutOfMemory, error.to_string()).into()),
        }
    });
    match outcome {
        Ok(tail) => write(output, &[AnswerLine::Done(tail)]),
        Err(EarlyEnd::Failed(failed)) => write(output, &[AnswerLine::from(&failed)]),
        Err(EarlyEnd::Io(error)) => Err(error),
    }
}

/// Reads a line; an empty one at the end of the input.
fn line(input: &mut impl BufRead, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    input.take(max_bytes).read_until(b'\n', &mut line)?;
    Ok(line)
}

fn write(output: &mut impl Write, lines: &[AnswerLine]) -> io::Result<()> {
    lines.iter().try_for_each(|line| output.write_all(&encode(line)))?;
    output.flush()
}

/// Allows the processor time for this many pages. The kernel ends a process that uses a second more
/// than the user allows, even if it ignores the first signal.
fn limit_cpu(request: &Request, page_count: u32) {
    let seconds = request.cpu_seconds_of(page_count);
    limit(ProcessLimit::Cpu, seconds, request.max_cpu_seconds.saturating_add(1));
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    message.unwrap_or("it panicked").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::protocol::Drawing;

    #[test]
    fn a_request_with_the_longest_text_to_mark_is_read() {
        let marked = "\u{1}".repeat(MAX_MARKED_BYTES);
        let request = Request { drawing: Some(Drawing { page: 1, marked }), ..Request::default() };
        let mut sent = serde_json::to_vec(&request).unwrap();
        sent.push(b'\n');
        let line = line(&mut sent.as_slice(), MAX_REQUEST_BYTES).unwrap();
        assert_eq!(decode(&line), Some(request));
    }

    #[test]
    fn the_message_of_a_panic_is_kept() {
        let payload = panic::catch_unwind(|| panic::panic_any("plain")).unwrap_err();
        assert_eq!(panic_message(&*payload), "plain");
        let payload = panic::catch_unwind(|| panic::panic_any(7)).unwrap_err();
        assert_eq!(panic_message(&*payload), "it panicked");
    }
}
