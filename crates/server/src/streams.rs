//! Passes lines from stdin to the protocol library, unless they are refused, and writes all lines to stdout.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task;

use crate::limits;
use crate::messages::{Verdict, judge, too_long};

/// Bytes that wait for the protocol library; more wait in the pipe.
const BUFFER_BYTES: usize = 64 * 1024;

/// Both directions of the connection to a client.
pub(super) struct Streams {
    /// Lines that hold JSON.
    pub(super) input: DuplexStream,
    /// Takes lines for the client.
    pub(super) output: LineSender,
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
        // Errors and the end of the other side are reported without being asked for.
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
pub(super) fn open(
    stdin: impl AsyncRead + Send + Unpin + 'static,
    mut stdout: impl AsyncWrite + Send + Unpin + 'static,
    closed: oneshot::Receiver<()>,
) -> Streams {
    let (sender, mut lines) = mpsc::unbounded_channel::<Vec<u8>>();
    let (input, forward) = duplex(BUFFER_BYTES);
    let (on_end, ended) = oneshot::channel();
    let output = LineSender { lines: sender.clone(), unfinished: Vec::new() };
    let (on_failure, failed) = oneshot::channel();
    task::spawn(async move {
        tokio::select! {
            () = admit(stdin, forward, &sender) => {}
            Ok(()) = failed => {}
            Ok(()) = closed => {}
        }
        // The server may have ended first.
        let _ = on_end.send(());
    });
    let writing = task::spawn(async move {
        while let Some(line) = lines.recv().await {
            if stdout.write_all(&line).await.is_err() || stdout.flush().await.is_err() {
                // The client has closed it.
                let _ = on_failure.send(());
                break;
            }
        }
    });
    Streams { input, output, ended, writing }
}

/// Forwards the lines that the library can read and answers the others, until stdin ends.
async fn admit(
    stdin: impl AsyncRead + Unpin,
    mut forward: DuplexStream,
    answers: &mpsc::UnboundedSender<Vec<u8>>,
) {
    let mut input = BufReader::new(stdin);
    let mut line = Vec::new();
    while let Ok(Some(is_complete)) = read_line(&mut input, &mut line).await {
        let verdict = if is_complete { judge(&line) } else { Verdict::Refuse(too_long()) };
        match verdict {
            Verdict::Pass if forward.write_all(&line).await.is_err() => return,
            Verdict::Pass | Verdict::Drop => {}
            Verdict::Refuse(answer) => {
                // The client may be gone.
                let _ = answers.send(format!("{answer}\n").into_bytes());
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

/// Passes complete lines to the task that writes them.
pub(super) struct LineSender {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    unfinished: Vec<u8>,
}

impl AsyncWrite for LineSender {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.unfinished.extend_from_slice(bytes);
        if let Some(end) = self.unfinished.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.unfinished.split_off(end + 1);
            let lines = std::mem::replace(&mut self.unfinished, rest);
            if self.lines.send(lines).is_err() {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Sends bytes to a connection that ends; returns what the library and the client get.
    fn passed(input: &'static [u8]) -> (String, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (stdout, mut client) = duplex(BUFFER_BYTES);
            let (_open, closed) = oneshot::channel();
            let mut streams = open(input, stdout, closed);
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

    #[test]
    fn only_complete_lines_are_written() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (lines, mut receiver) = mpsc::unbounded_channel();
            let mut sender = LineSender { lines, unfinished: Vec::new() };
            for part in ["a", "b\nc", "d\ne\n", "f"] {
                sender.write_all(part.as_bytes()).await.unwrap();
            }
            sender.flush().await.unwrap();
            assert_eq!(receiver.recv().await.unwrap(), b"ab\n");
            assert_eq!(receiver.recv().await.unwrap(), b"cd\ne\n");
            assert!(receiver.try_recv().is_err());
            drop(receiver);
            assert!(sender.write_all(b"g\n").await.is_err(), "no one receives it");
        });
    }
}
