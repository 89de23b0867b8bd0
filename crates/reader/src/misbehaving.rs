//! Behaves as a hostile file might make a reader behave. Tests name these readers in
//! [`crate::extract::sandbox::ReadOptions::readers`]; a release build has none of them.

use std::hint::black_box;
use std::io;

use super::{EarlyEnd, Emit, Read, ReaderInput};
use crate::extract::protocol::{AnswerLine, DocumentHead, ExtractedPage, PageNote, ReadingSummary};

pub(super) const READERS: &[(&str, Read)] = &[
    ("test-panic", panics),
    ("test-loop", loops),
    ("test-deaf-loop", loops_without_hearing),
    ("test-sleep", sleeps),
    ("test-alloc", allocates),
    ("test-overflow", overflows),
    ("test-flood", floods),
    ("test-forge", forges),
    ("test-escape", escapes),
];

fn panics(_: &ReaderInput<'_>, emit: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    emit(AnswerLine::Document(DocumentHead { page_count: 2, ..DocumentHead::default() }))?;
    emit(AnswerLine::Page(ExtractedPage { number: 1, ..ExtractedPage::default() }))?;
    panic!("page 2 is beyond me")
}

fn loops(_: &ReaderInput<'_>, _: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    loop {
        black_box(0);
    }
}

/// Ignores the signal that the kernel sends at the soft limit.
fn loops_without_hearing(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    #[cfg(target_os = "linux")]
    signal_hook::flag::register(libc::SIGXCPU, std::sync::Arc::default())?;
    loops(input, emit)
}

fn sleeps(_: &ReaderInput<'_>, _: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    loop {
        std::thread::park();
    }
}

fn allocates(_: &ReaderInput<'_>, _: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    let mut kept = Vec::new();
    loop {
        kept.push(black_box(vec![1_u8; 16 << 20]));
    }
}

fn overflows(_: &ReaderInput<'_>, _: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    fn deeper(depth: u64) -> u64 {
        let here = black_box([depth; 64]);
        if depth == u64::MAX { 0 } else { deeper(depth + 1) + here[0] }
    }
    black_box(deeper(0));
    Ok(ReadingSummary::default())
}

fn floods(_: &ReaderInput<'_>, emit: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    loop {
        emit(AnswerLine::Document(DocumentHead {
            title: Some("flood ".repeat(1000)),
            ..DocumentHead::default()
        }))?;
    }
}

/// Returns a page that reports these texts.
fn page_of(texts: Vec<String>) -> ExtractedPage {
    let notes = texts.into_iter().map(|text| PageNote { text, place: None }).collect();
    ExtractedPage { number: 1, is_blank: true, notes, ..ExtractedPage::default() }
}

/// Answers twice: the second time as for the next document. Its text is the id of the process.
fn forges(_: &ReaderInput<'_>, emit: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    for text in [std::process::id().to_string(), "forged".to_owned()] {
        emit(AnswerLine::Document(DocumentHead { page_count: 1, ..DocumentHead::default() }))?;
        emit(AnswerLine::Page(page_of(vec![text])))?;
        emit(AnswerLine::Done(ReadingSummary::default()))?;
    }
    loop {
        std::thread::park();
    }
}

/// Tries what a hostile author wants, with the names in the document, one per line after the first: a file,
/// the port of a server, the path of a socket, the id of another process. Reports each attempt.
#[cfg(target_os = "linux")]
fn escapes(input: &ReaderInput<'_>, emit: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    use std::fs;
    use std::net::{TcpStream, UdpSocket};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixStream};
    use std::process::Command;

    use rustix::process::{Pid, Resource, Rlimit, Signal};

    let names = String::from_utf8_lossy(input.bytes).into_owned();
    let mut names = names.lines().skip(1);
    let mut next = || names.next().unwrap_or_default();
    let (file, port, socket, process) = (next(), next(), next(), next());
    let folder = std::path::Path::new(file).parent().unwrap_or(std::path::Path::new("."));
    let mut attempts = Attempts::default();
    attempts.add("read a file", fs::read(file).map(drop));
    attempts.add("list a folder", fs::read_dir(folder).map(drop));
    attempts.add("change a file", fs::File::options().append(true).open(file).map(drop));
    attempts.add("create a file", fs::File::create_new(folder.join("new")).map(drop));
    attempts.add("link to a file", fs::hard_link(file, folder.join("link")));
    attempts.add("delete a file", fs::remove_file(folder.join("victim")));
    let memory = rustix::fs::memfd_create("x", rustix::fs::MemfdFlags::empty());
    attempts.add("create a file in memory", memory.map(drop).map_err(Into::into));
    let port: u16 = port.parse().unwrap_or(0);
    attempts.add("connect by TCP", TcpStream::connect(("127.0.0.1", port)).map(drop));
    attempts.add("use UDP", UdpSocket::bind(("127.0.0.1", 0)).map(drop));
    attempts.add("connect to a socket in a folder", UnixStream::connect(socket).map(drop));
    let abstract_name = SocketAddr::from_abstract_name(socket);
    let connected = abstract_name.and_then(|name| UnixStream::connect_addr(&name));
    attempts.add("connect to an abstract socket", connected.map(drop));
    attempts.add("start a program", Command::new("/bin/true").status().map(drop));
    let secrets = fs::read(format!("/proc/{process}/environ"));
    attempts.add("read the environment of a process", secrets.map(drop));
    let process = process.parse().ok().and_then(Pid::from_raw);
    let killed = process.ok_or(io::ErrorKind::InvalidInput.into());
    let signalled = killed
        .and_then(|id| rustix::process::kill_process(id, Signal::CONT).map_err(io::Error::from));
    attempts.add("send a signal", signalled);
    let most = Rlimit { current: None, maximum: None };
    let lifted = |resource| rustix::process::setrlimit(resource, most).map_err(io::Error::from);
    attempts.add("lift the limit of memory", lifted(Resource::As));
    attempts.add("lift the limit of time", lifted(Resource::Cpu));
    let rights = rustix::thread::capabilities(None);
    attempts
        .add("keep the rights of root", present(rights.is_ok_and(|all| !all.permitted.is_empty())));
    // The last is set by kb itself.
    let kept = ["LD_LIBRARY_PATH", "TESSDATA_PREFIX", "ORT_DISABLE_TELEMETRY"];
    let has_more = std::env::vars_os().any(|(name, _)| kept.iter().all(|kept| name != *kept));
    attempts.add("read its environment", present(has_more));
    emit(AnswerLine::Document(DocumentHead { page_count: 1, ..DocumentHead::default() }))?;
    emit(AnswerLine::Page(page_of(attempts.lines)))?;
    Ok(ReadingSummary::default())
}

/// The attempts of the reader, and whether each was refused.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Attempts {
    lines: Vec<String>,
}

#[cfg(target_os = "linux")]
impl Attempts {
    fn add(&mut self, name: &str, outcome: io::Result<()>) {
        let outcome = outcome.map_or("refused", |()| "done");
        self.lines.push(format!("{name}: {outcome}"));
    }
}

/// Returns an error if something is not there.
#[cfg(target_os = "linux")]
fn present(is_present: bool) -> io::Result<()> {
    if is_present { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}

#[cfg(not(target_os = "linux"))]
fn escapes(_: &ReaderInput<'_>, _: &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd> {
    Err(io::Error::from(io::ErrorKind::Unsupported).into())
}
