//! Reads requests and documents from stdin and writes lines of JSON to stdout. This is the process
//! that may crash.
//!
//! `kb` starts itself as `kb __read`. Before reading the first byte of the file, the process sets
//! its own limits: address space, processor time, no core file. A panic becomes a line of output. A
//! stack overflow, a failed allocation or a signal ends only this process, and the parent
//! determines the cause from its status.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ExitCode;
use std::{panic, thread};

use super::table::{self, Reader};
use super::{Input, Stop};
use crate::error::Failure;
use crate::extract::protocol::{Line, ReadFailure, Request, decode, encode};

/// Stack of the reading thread. Readers recurse with the nesting of a document; the stack of the
/// main thread is 8 MiB on Linux and 1 MiB on Windows.
const STACK_BYTES: usize = 64 << 20;

/// Longest request line. It contains two names, some numbers and a password.
const MAX_REQUEST_BYTES: u64 = 64 << 10;

/// Largest processor time including pages, as a multiple of the time without them, because the file
/// itself declares the number of pages.
const MAX_CPU_FACTOR: u64 = 20;

/// Runs the child: reads documents from stdin, one after another, and writes their content to
/// stdout and nowhere else.
pub fn run_child() -> ExitCode {
    // The panic message would be noise; it is sent in the last line.
    panic::set_hook(Box::new(|_| {}));
    match serve_all(io::stdin(), &mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        // The parent has gone or does not speak the protocol, so the error cannot be reported.
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve_all(input: impl Read, output: &mut (impl Write + Send)) -> io::Result<()> {
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        (&mut input).take(MAX_REQUEST_BYTES).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        let request: Request = decode(&line).ok_or(io::ErrorKind::InvalidData)?;
        let reader = table::by_name(&request.reader).ok_or(io::ErrorKind::InvalidData)?;
        serve(reader, &request, &mut input, output)?;
    }
}

fn serve(
    reader: &Reader,
    request: &Request,
    input: &mut impl Read,
    output: &mut (impl Write + Send),
) -> io::Result<()> {
    // Processor time is counted from the start of the process.
    let spent = spent_seconds();
    limit_memory(request.max_memory_bytes);
    limit_cpu(spent.saturating_add(request.cpu_seconds));

    let mut bytes = Vec::new();
    input.take(request.size_bytes).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).ok() != Some(request.size_bytes) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }

    let outcome = thread::scope(|scope| {
        let reading = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || {
            let password = request.password.as_deref();
            let ocr = request.ocr.as_ref();
            let language = request.language.as_ref().and_then(|word| word.parse().ok());
            let input = Input { bytes: &bytes, password, ocr, language };
            (reader.read)(&input, &mut |line| {
                if let Line::Document(head) = &line {
                    limit_cpu(spent.saturating_add(cpu_seconds(request, head.page_count)));
                }
                output.write_all(&encode(&line))?;
                output.flush()
            })
        });
        match reading.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(payload)) => {
                Err(ReadFailure::new(Failure::Crashed, panic_message(&*payload)).into())
            }
            Err(error) => Err(ReadFailure::new(Failure::OutOfMemory, error.to_string()).into()),
        }
    });
    match outcome {
        Ok(()) => Ok(()),
        Err(Stop::Failed(failed)) => {
            output.write_all(&encode(&Line::from(&failed)))?;
            output.flush()
        }
        Err(Stop::Io(error)) => Err(error),
    }
}

/// Returns the message of a panic.
fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let message = payload.downcast_ref::<&str>().copied();
    let message = message.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    message.unwrap_or("it panicked").to_owned()
}

fn cpu_seconds(request: &Request, page_count: u32) -> u64 {
    let for_pages = request.cpu_ms_per_page.saturating_mul(page_count.into()) / 1000;
    let most = request.cpu_seconds.saturating_mul(MAX_CPU_FACTOR);
    request.cpu_seconds.saturating_add(for_pages).min(most)
}

#[cfg(unix)]
fn limit_memory(bytes: u64) {
    use rustix::process::Resource;
    limit(Resource::As, bytes);
    // A core file of a gigabyte for every damaged PDF would be of no use.
    limit(Resource::Core, 0);
}

#[cfg(unix)]
fn limit_cpu(seconds: u64) {
    limit(rustix::process::Resource::Cpu, seconds);
}

/// Sets the soft limit, which the kernel enforces, and keeps the hard limit, so that the soft one
/// can be raised once the number of pages is known. If a limit cannot be set, the document is read
/// anyway, as the parent limits the time.
#[cfg(unix)]
fn limit(resource: rustix::process::Resource, to: u64) {
    use rustix::process::{Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(to, |maximum| to.min(maximum)));
    let _ = setrlimit(resource, Rlimit { current, maximum });
}

/// Returns the processor time of this process, in whole seconds.
#[cfg(unix)]
fn spent_seconds() -> u64 {
    use rustix::time::{ClockId, clock_gettime};
    u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or(0)
}

#[cfg(not(unix))]
fn spent_seconds() -> u64 {
    0
}

#[cfg(not(unix))]
fn limit_memory(_bytes: u64) {}

#[cfg(not(unix))]
fn limit_cpu(_seconds: u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            reader: "any".into(),
            size_bytes: 0,
            max_memory_bytes: 0,
            cpu_seconds: 30,
            cpu_ms_per_page: 50,
            password: None,
            ocr: None,
            language: None,
        }
    }

    #[test]
    fn pages_add_time_up_to_a_multiple() {
        assert_eq!(cpu_seconds(&request(), 0), 30);
        assert_eq!(cpu_seconds(&request(), 2_000), 130);
        assert_eq!(cpu_seconds(&request(), u32::MAX), 600);
    }

    #[test]
    fn the_message_of_a_panic_is_kept() {
        let payload = panic::catch_unwind(|| panic::panic_any("plain")).unwrap_err();
        assert_eq!(panic_message(&*payload), "plain");
        let payload = panic::catch_unwind(|| panic::panic_any(7)).unwrap_err();
        assert_eq!(panic_message(&*payload), "it panicked");
    }
}
