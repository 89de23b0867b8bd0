//! Checks what a server sends before the client library acts on it.
//!
//! The library answers any request for a password, and reads messages of any length and number. So every byte passes
//! here first: methods of authentication that the user did not allow, and answers beyond a limit, end the connection.

use std::future::{Ready, ready};
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, timeout};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

use super::breach::Breach;
use super::words::{Method, Methods};

/// Longest row in bytes; rows of kb have at most a few chunks' text.
const MAX_ROW_BYTES: usize = 16 << 20;

/// Longest message in bytes that is not a row. libpq takes half as much for most of them.
const MAX_MESSAGE_BYTES: usize = 64 << 10;

/// The memory that one request may make the client hold, in bytes: some seven million rows of one number.
const MAX_ANSWER_BYTES: usize = 1 << 30;

/// Memory for a message apart from its bytes, and for a field of a row.
const MESSAGE_COST: usize = 100;
const FIELD_COST: usize = 24;

/// Notices and other messages that are no part of an answer, for one request. A server sends about 15 when a connection
/// begins.
const MAX_ASIDES: usize = 200;

/// Answers to one request of kb, which takes up to 40 steps; a server that sends more is not answering.
const MAX_ANSWERS: usize = 1000;

/// How long a request may go without a byte in either direction. The slowest requests, such as ANALYZE, send nothing
/// before their end.
pub(super) const SILENCE: Duration = Duration::from_secs(60);

/// How long a request may take if the server keeps sending, so that one that sends a byte a minute does not hold kb for
/// ever.
pub(super) const REQUEST: Duration = Duration::from_secs(15 * 60);

/// The amounts that the server has sent for one request.
#[derive(Debug, Default)]
struct ResponseBudget {
    /// Bytes in either direction.
    num_bytes: u64,
    cost: usize,
    num_asides: usize,
    num_answers: usize,
}

/// Counts what a request costs. Clones count together.
#[derive(Debug, Default, Clone)]
pub(super) struct Meter(Arc<Mutex<ResponseBudget>>);

impl Meter {
    fn spent(&self) -> MutexGuard<'_, ResponseBudget> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a request, as long as there is progress: never longer than `silence` without a byte, and hardly longer
    /// than `longest`.
    pub(super) async fn within<T>(
        &self,
        silence: Duration,
        longest: Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, Breach> {
        *self.spent() = ResponseBudget::default();
        let end = Instant::now() + longest;
        let mut work = pin!(work);
        loop {
            let before = self.spent().num_bytes;
            if let Ok(result) = timeout(silence, &mut work).await {
                return Ok(result);
            }
            if self.spent().num_bytes == before {
                let reason = format!("the server was silent for {} seconds", silence.as_secs());
                return Err(Breach::new(reason, "try again later"));
            }
            if Instant::now() >= end {
                return Err(Breach::too_much("an endless answer"));
            }
        }
    }
}

/// Follows the messages of a server.
#[derive(Debug)]
struct Scanner {
    allowed: Methods,
    /// The start of a message, as far as it is checked.
    head: Vec<u8>,
    /// Bytes of the current message that are not checked.
    num_rest: usize,
    /// Whether the server has begun to ask who the client is.
    has_begun: bool,
    /// Whether it has asked for a proof.
    has_asked: bool,
}

impl Scanner {
    fn new(allowed: Methods) -> Self {
        Self { allowed, head: Vec::new(), num_rest: 0, has_begun: false, has_asked: false }
    }

    fn scan(&mut self, mut bytes: &[u8], spent: &mut ResponseBudget) -> Result<(), Breach> {
        while let Some((first, after)) = bytes.split_first() {
            if self.num_rest > 0 {
                let num_passed = self.num_rest.min(bytes.len());
                self.num_rest -= num_passed;
                bytes = &bytes[num_passed..];
                continue;
            }
            self.head.push(*first);
            bytes = after;
            if let Some(len) = self.message(spent)? {
                self.num_rest = len + 1 - self.head.len();
                self.head.clear();
            }
        }
        Ok(())
    }

    /// Checks the start of a message. Returns its length without the first byte, once that and all else that is checked
    /// has arrived.
    fn message(&mut self, spent: &mut ResponseBudget) -> Result<Option<usize>, Breach> {
        let [kind, a, b, c, d, rest @ ..] = self.head.as_slice() else { return Ok(None) };
        let len = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX);
        // These bytes of the content are checked: the method of an authentication, and the number of fields of a row.
        let num_checked = match kind {
            b'R' => 4,
            b'D' => 2,
            _ => 0,
        };
        if rest.is_empty() {
            // A server begins with an authentication or an error. Later, kb expects no messages of replication, of
            // copying out, and of calls of functions.
            let is_known = if self.has_begun { b"123ACDEGIKNnRSstTZ" } else { b"ER".as_slice() }
                .contains(kind);
            let is_start = !self.has_begun && len > MAX_MESSAGE_BYTES;
            if !is_known || is_start || len < 4 + num_checked {
                return Err(Breach::not_postgres());
            }
            let limit = if *kind == b'D' { MAX_ROW_BYTES } else { MAX_MESSAGE_BYTES };
            if len > limit {
                return Err(Breach::too_much(format_args!(
                    "a message of {len} bytes, and the limit is {limit}"
                )));
            }
        }
        if rest.len() < num_checked {
            return Ok(None);
        }
        let mut cost = len + MESSAGE_COST;
        match (kind, rest) {
            (b'R', [a, b, c, d]) => self.authentication(u32::from_be_bytes([*a, *b, *c, *d]))?,
            (b'D', [a, b]) => cost += FIELD_COST * usize::from(u16::from_be_bytes([*a, *b])),
            (b'N' | b'A' | b'S', _) => spent.num_asides += 1,
            (b'Z', _) => spent.num_answers += 1,
            _ => {}
        }
        spent.cost = spent.cost.saturating_add(cost);
        self.has_begun = true;
        match () {
            () if spent.num_asides > MAX_ASIDES => Err(Breach::too_much("endless notices")),
            () if spent.num_answers > MAX_ANSWERS => Err(Breach::too_much("endless answers")),
            () if spent.cost > MAX_ANSWER_BYTES => Err(Breach::too_much(format_args!(
                "an answer that takes more than {} MiB",
                MAX_ANSWER_BYTES >> 20
            ))),
            () => Ok(Some(len)),
        }
    }

    /// Checks what the server wants from the client. The codes are those of PostgreSQL's authentication messages.
    fn authentication(&mut self, code: u32) -> Result<(), Breach> {
        let method = match code {
            0 if self.has_asked => return Ok(()),
            0 => Method::None,
            3 => Method::Password,
            5 => Method::Md5,
            7 | 8 => Method::Gss,
            9 => Method::Sspi,
            10..=12 => Method::Scram,
            _ => return Err(Breach::not_postgres()),
        };
        self.has_asked = true;
        if self.allowed.contains(method) { Ok(()) } else { Err(method.refused()) }
    }
}

pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A stream, encrypted or not, whose incoming messages are checked.
pub(super) struct GuardedStream {
    wire: Box<dyn ByteStream>,
    scanner: Scanner,
    meter: Meter,
    /// The data that binds a password's proof to the server's certificate.
    end_point: Option<Vec<u8>>,
}

impl GuardedStream {
    pub(super) fn new(
        wire: Box<dyn ByteStream>,
        allowed: Methods,
        meter: Meter,
        end_point: Option<Vec<u8>>,
    ) -> Self {
        Self { wire, scanner: Scanner::new(allowed), meter, end_point }
    }

    fn count(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(num_bytes)) = &written {
            self.meter.spent().num_bytes += *num_bytes as u64;
        }
        written
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let start = buffer.filled().len();
        let this = &mut *self;
        std::task::ready!(Pin::new(&mut this.wire).poll_read(context, buffer))?;
        let mut spent = this.meter.spent();
        let bytes = &buffer.filled()[start..];
        spent.num_bytes += bytes.len() as u64;
        let checked = this.scanner.scan(bytes, &mut spent);
        if checked.is_err() {
            buffer.set_filled(start);
        }
        Poll::Ready(checked.map_err(io::Error::other))
    }
}

impl AsyncWrite for GuardedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.wire).poll_write(context, bytes);
        self.count(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(context)
    }
}

impl TlsStream for GuardedStream {
    fn channel_binding(&self) -> ChannelBinding {
        self.end_point
            .clone()
            .map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

/// Gives the library a stream that is encrypted already, or is not to be.
pub(super) struct PassthroughTls;

impl TlsConnect<GuardedStream> for PassthroughTls {
    type Stream = GuardedStream;
    type Error = io::Error;
    type Future = Ready<io::Result<GuardedStream>>;

    fn connect(self, stream: GuardedStream) -> Self::Future {
        ready(Ok(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let len = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind], len.as_slice(), body].concat()
    }

    /// Scans bytes in pieces, as they may arrive, `count` times.
    fn scan(bytes: &[u8], piece: usize, count: usize) -> Result<(), Breach> {
        let (mut scanner, mut spent) = (Scanner::new(Methods::SCRAM), ResponseBudget::default());
        for start in [&message(b'R', &[0, 0, 0, 10, 0]), &message(b'R', &[0; 4])] {
            scanner.scan(start, &mut spent)?;
        }
        for _ in 0..count {
            for piece in bytes.chunks(piece) {
                scanner.scan(piece, &mut spent)?;
            }
        }
        Ok(())
    }

    #[test]
    fn messages_are_followed_however_they_arrive() {
        let row = message(b'D', &[&[0, 1, 0, 0, 0, 4][..], b"NNNN"].concat());
        let answer = [message(b'1', b""), row, message(b'Z', b"I")].concat();
        for piece in 1..answer.len() {
            assert_eq!(scan(&answer, piece, 50), Ok(()), "{piece}");
            let ended = scan(&[answer.clone(), vec![0; 5]].concat(), piece, 1);
            assert_eq!(ended, Err(Breach::not_postgres()), "{piece}");
        }
    }

    #[test]
    fn what_an_answer_may_take_is_limited() {
        let reason =
            |bytes: &[u8], count: usize| scan(bytes, usize::MAX, count).unwrap_err().reason;
        assert!(reason(&message(b'N', b"\0"), MAX_ASIDES + 1).contains("notices"));
        assert!(reason(&message(b'Z', b"I"), MAX_ANSWERS + 1).contains("answers"));
        // Rows of one number, of which a large copy has millions, and rows without a byte but with many fields.
        let row = message(b'D', &[0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
        let fields = message(b'D', &[0xff, 0xff]);
        assert_eq!(scan(&row.repeat(1000), usize::MAX, 5000), Ok(()));
        assert!(reason(&row.repeat(1000), 8000).contains("1024 MiB"));
        assert!(reason(&fields, 1000).contains("1024 MiB"));
        for kind in *b"ETNS" {
            let head = [&[kind], &(1_u32 << 20).to_be_bytes()[..]].concat();
            assert!(reason(&head, 1).contains("message of 1048576 bytes"));
        }
    }

    #[test]
    fn a_request_that_makes_no_progress_ends() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (short, long) = (Duration::from_millis(1), Duration::from_secs(600));
        let meter = Meter::default();
        let silent = meter.within(short, long, std::future::pending::<()>());
        assert!(runtime.block_on(silent).unwrap_err().reason.contains("silent"));
        // A byte now and then is not enough, either.
        let dripping = async {
            loop {
                meter.spent().num_bytes += 1;
                tokio::task::yield_now().await;
            }
        };
        let endless = meter.within(short, short, dripping);
        let reason = runtime.block_on(endless).unwrap_err().reason;
        assert!(reason.contains("endless"), "{reason}");
        assert_eq!(runtime.block_on(meter.within(long, long, async { 7 })), Ok(7));
    }
}
