//! Passes lines from stdin to the protocol library, unless they are refused, and writes all lines to stdout.

use std::io;
use std::sync::Arc;

use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex,
};
use tokio::sync::{Mutex, oneshot};
use tokio::task;

use crate::limits;
use crate::messages::{MessageUse, judge, too_long};
use crate::running::RunningCalls;

/// Bytes that wait for the protocol library, and bytes of its answers that wait to be written; more wait in the pipe. The
/// library takes what is here at once, so it is no more than a hundred requests.
const BUFFER_BYTES: usize = 8 * 1024;

/// Both directions of the connection to a client.
pub(super) struct Streams {
    /// Lines that hold JSON.
    pub(super) input: DuplexStream,
    /// Takes lines for the client.
    pub(super) output: DuplexStream,
    /// Notified when stdin has ended or the client has closed stdout.
    pub(super) ended: oneshot::Receiver<()>,
    /// Ends when everything is written.
    pub(super) writing: task::JoinHandle<()>,
}

/// Notifies when the client has closed stdout, which no write of an idle server would tell.
#[cfg(unix)]
pub(super) fn closed(stdout: &impl std::os::fd::AsFd) -> oneshot::Receiver<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let (on_close, closed) = oneshot::channel();
    let Ok(stdout) = stdout.as_fd().try_clone_to_owned() else { return closed };
    std::thread::spawn(move || {
        // No event is asked for: `poll` always reports errors and a closed other end.
        let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
        while poll(&mut polled, None) == Err(rustix::io::Errno::INTR) {}
        if polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
            // The server may have ended first.
            let _ = on_close.send(());
        }
    });
    closed
}

#[cfg(not(unix))]
pub(super) fn closed<T>(_: &T) -> oneshot::Receiver<()> {
    oneshot::channel().1
}

/// Starts the tasks that read and write the lines of a connection. `closed` notifies when the client has closed stdout.
///
/// Nothing waits here without bound: while as many calls run as may ([`limits::MCP_CALLS`]), or while the client does not read
/// its answers, stdin is not read.
pub(super) fn open(
    stdin: impl AsyncRead + Send + Unpin + 'static,
    stdout: impl AsyncWrite + Send + Unpin + 'static,
    closed: oneshot::Receiver<()>,
    running: Arc<RunningCalls>,
) -> Streams {
    let (input, forward) = duplex(BUFFER_BYTES);
    let (output, answers) = duplex(BUFFER_BYTES);
    let stdout = Arc::new(Mutex::new(stdout));
    let (on_end, ended) = oneshot::channel();
    let (on_failure, failed) = oneshot::channel();
    let shared = Arc::clone(&stdout);
    task::spawn(async move {
        tokio::select! {
            () = admit(stdin, forward, &shared, &running) => {}
            Ok(()) = failed => {}
            Ok(()) = closed => {}
        }
        // The server may have ended first.
        let _ = on_end.send(());
    });
    let writing = task::spawn(async move {
        let (mut answers, mut line) = (BufReader::new(answers), Vec::new());
        while answers.read_until(b'\n', &mut line).await.is_ok() && line.ends_with(b"\n") {
            if write(&stdout, &line).await.is_err() {
                break;
            }
            line.clear();
        }
        // The client has closed stdout, or the library has nothing more to write.
        let _ = on_failure.send(());
    });
    Streams { input, output, ended, writing }
}

/// Writes a line.
async fn write(stdout: &Mutex<impl AsyncWrite + Unpin>, line: &[u8]) -> io::Result<()> {
    let mut stdout = stdout.lock().await;
    stdout.write_all(line).await?;
    stdout.flush().await
}

/// Forwards the lines that the library can read and answers the others, until stdin ends.
async fn admit(
    stdin: impl AsyncRead + Unpin,
    mut forward: DuplexStream,
    stdout: &Mutex<impl AsyncWrite + Unpin>,
    running: &RunningCalls,
) {
    let mut input = BufReader::new(stdin);
    let mut line = Vec::new();
    loop {
        running.at_most(limits::MCP_CALLS).await;
        // No further request is read before the client has read what is being written.
        drop(stdout.lock().await);
        let Ok(Some(is_complete)) = read_line(&mut input, &mut line).await else { return };
        let verdict = if is_complete { judge(&line) } else { MessageUse::Refuse(too_long()) };
        match verdict {
            MessageUse::Pass if forward.write_all(&line).await.is_err() => return,
            MessageUse::Pass | MessageUse::Drop => {}
            MessageUse::Refuse(answer) => {
                // The client may be gone.
                let _ = write(stdout, format!("{answer}\n").as_bytes()).await;
            }
        }
    }
}

/// Reads a line with its end. Returns whether it is complete, or `None` at the end of the input. A line that is too
/// long is dropped while it arrives, so it needs no memory.
async fn read_line(
    input: &mut (impl AsyncBufReadExt + Unpin),
    line: &mut Vec<u8>,
) -> io::Result<Option<bool>> {
    line.clear();
    let mut is_complete = true;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok(None);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        is_complete &= line.len() + taken <= limits::MCP_MESSAGE_BYTES;
        if is_complete {
            line.extend_from_slice(&available[..taken]);
        } else {
            line.clear();
        }
        input.consume(taken);
        if end.is_some() {
            return Ok(Some(is_complete));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll};

    use tokio::io::{AsyncReadExt as _, ReadBuf};

    use super::*;

    /// Sends bytes to a connection that ends; returns what the library and the client get.
    fn passed(input: &'static [u8]) -> (String, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (stdout, mut client) = duplex(BUFFER_BYTES);
            let (_open, closed) = oneshot::channel();
            let mut streams = open(input, stdout, closed, Arc::default());
            let (mut admitted, mut answers) = (String::new(), String::new());
            streams.input.read_to_string(&mut admitted).await.unwrap();
            assert!(streams.ended.await.is_ok());
            drop(streams.output);
            streams.writing.await.unwrap();
            client.read_to_string(&mut answers).await.unwrap();
            (admitted, answers)
        })
    }

    #[test]
    fn complete_lines_reach_the_library_and_refusals_the_client() {
        let (admitted, answers) = passed(b"{\"method\":\"a\"}\nno JSON\n\n[2]\nunfinished");
        assert_eq!(admitted, "\n");
        let codes = ["-32700", "-32600"];
        assert!(answers.lines().zip(codes).all(|(line, code)| line.contains(code)), "{answers}");
        assert!(answers.lines().count() == 2 && answers.ends_with('\n'));
    }

    #[test]
    fn a_line_over_the_limit_is_dropped_and_the_next_one_is_read() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let longest = limits::MCP_MESSAGE_BYTES;
        let mut bytes = vec![b'x'; longest - 1];
        bytes.push(b'\n');
        bytes.extend(vec![b'y'; longest]);
        bytes.extend(b"\nz\n");
        let lines = runtime.block_on(async {
            let (mut input, mut line, mut lines) = (&bytes[..], Vec::new(), Vec::new());
            while let Some(is_complete) = read_line(&mut input, &mut line).await.unwrap() {
                lines.push((is_complete, line.len()));
            }
            lines
        });
        assert_eq!(lines, [(true, longest), (false, 0), (true, 2)]);
        assert!(too_long().to_string().contains("longer than 16777216 bytes"));
    }

    /// A client's input without end, of which it is counted how much was read.
    struct EndlessInput {
        line: &'static [u8],
        num_read: Arc<AtomicUsize>,
    }

    impl AsyncRead for EndlessInput {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            into: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            while into.remaining() >= self.line.len() {
                into.put_slice(self.line);
                self.num_read.fetch_add(self.line.len(), Ordering::Relaxed);
            }
            Poll::Ready(Ok(()))
        }
    }

    /// Returns how many bytes are read of an input without end, of a client that reads no answer while a library reads the
    /// lines or does not, and while `num_running` calls run.
    fn read_of_endless(line: &'static [u8], library_reads: bool, num_running: usize) -> usize {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let num_read = Arc::new(AtomicUsize::new(0));
            let input = EndlessInput { line, num_read: Arc::clone(&num_read) };
            let (stdout, _client) = duplex(BUFFER_BYTES);
            let (_open, closed) = oneshot::channel();
            let running = Arc::new(RunningCalls::default());
            let _work: Vec<_> = (0..num_running).map(|_| running.at_work()).collect();
            let mut streams = open(input, stdout, closed, running);
            let mut buffer = [0; 1024];
            for _ in 0..10_000 {
                if library_reads {
                    tokio::select! {
                        biased;
                        _ = streams.input.read(&mut buffer) => {}
                        () = task::yield_now() => {}
                    }
                }
                task::yield_now().await;
            }
            num_read.load(Ordering::Relaxed)
        })
    }

    #[test]
    fn stdin_is_not_read_while_answers_or_calls_wait() {
        const REFUSED: &[u8] = b"no JSON\n";
        const PASSED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
        let most = 3 * BUFFER_BYTES;
        assert!((1..most).contains(&read_of_endless(REFUSED, true, 0)));
        assert!((1..most).contains(&read_of_endless(PASSED, false, 0)));
        assert_eq!(read_of_endless(PASSED, true, limits::MCP_CALLS + 1), 0);
        // The input has no end while somebody reads it.
        assert!(read_of_endless(PASSED, true, 0) > most);
    }

    #[test]
    fn only_complete_lines_are_written() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let written = runtime.block_on(async {
            let (stdout, mut client) = duplex(BUFFER_BYTES);
            let (_open, closed) = oneshot::channel();
            let streams = open(tokio::io::empty(), stdout, closed, Arc::default());
            let mut output = streams.output;
            for part in ["a", "b\nc", "d\ne\n", "f"] {
                output.write_all(part.as_bytes()).await.unwrap();
            }
            drop(output);
            streams.writing.await.unwrap();
            let mut written = String::new();
            client.read_to_string(&mut written).await.unwrap();
            written
        });
        assert_eq!(written, "ab\ncd\ne\n");
    }
}
