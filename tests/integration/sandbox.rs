//! Tests the sandbox of a process that reads a document, from inside, and the ways in which such a process ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kb_base::error::Error;
use kb_extract::pdf::extract;
use kb_extract::sandbox::{Layers, ReadOptions, active};

use crate::env::TestEnv;
#[cfg(unix)]
use crate::fake_tesseract::{processes_of, write_tesseract};
use crate::patience::comes_true;

const KB: &str = env!("CARGO_BIN_EXE_kb");

fn layers() -> Layers {
    active(Path::new(KB)).unwrap()
}

#[cfg(unix)]
#[test]
fn a_reading_process_is_confined_wherever_the_system_can_do_it() {
    let layers = layers();
    assert!(layers.limits, "{layers:?}");
    #[cfg(target_os = "linux")]
    {
        use crate::left_out::left_out;
        assert!(layers.no_new_privileges, "{layers:?}");
        assert!(layers.landlock.is_some() || !kernel_has_landlock(), "{layers:?}");
        let status = fs::read_to_string("/proc/self/status").unwrap();
        assert!(layers.seccomp || !status.contains("Seccomp_filters"), "{layers:?}");
        if layers.landlock.is_none() || !layers.seccomp {
            left_out(if layers.seccomp { "landlock" } else { "seccomp" }, "a part of the box");
        }
    }
}

/// Asks the kernel, by a thread that restricts itself.
#[cfg(target_os = "linux")]
fn kernel_has_landlock() -> bool {
    use landlock::{ABI, Access, AccessFs, LandlockStatus, Ruleset, RulesetAttr};
    let restrict = || {
        let ruleset = Ruleset::default().handle_access(AccessFs::from_all(ABI::V1)).unwrap();
        ruleset.create().unwrap().restrict_self().unwrap().landlock
    };
    let status = std::thread::spawn(restrict).join().unwrap();
    matches!(status, LandlockStatus::Available { .. })
}

/// Tries from inside what a hostile author wants. A release build has no readers for that.
#[cfg(all(debug_assertions, target_os = "linux"))]
mod from_inside {
    use std::io::Write;
    use std::net::TcpListener;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};
    use std::process::Command;

    use serde_json::{Value, json};

    use super::*;
    use crate::left_out::left_out;

    /// The targets of a hostile author: a key, a server, sockets and this process.
    struct Bait {
        env: TestEnv,
        _listeners: (TcpListener, UnixListener, UnixListener),
        names: String,
    }

    impl Bait {
        fn new() -> Self {
            let env = TestEnv::new();
            let key = env.write(".ssh/id_rsa", "PRIVATE");
            env.write(".ssh/victim", "");
            let tcp = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let port = tcp.local_addr().unwrap().port();
            let socket = env.path("agent.sock");
            let unix = UnixListener::bind(&socket).unwrap();
            let name = SocketAddr::from_abstract_name(socket.to_str().unwrap()).unwrap();
            let hidden = UnixListener::bind_addr(&name).unwrap();
            let id = std::process::id();
            let names =
                format!("%PDF-1.7\n{}\n{port}\n{}\n{id}\n", key.display(), socket.display());
            Self { env, _listeners: (tcp, unix, hidden), names }
        }

        /// Returns what a child reports that is confined by one layer.
        fn attempts(&self, layer: &str) -> Vec<String> {
            let request = json!({
                "reader": "test-escape", "size_bytes": self.names.len(), "password": null,
                "max_memory_bytes": 1 << 30, "cpu_seconds": 20, "max_cpu_seconds": 20,
                "cpu_ms_per_page": 0, "ocr_pages": [], "kind": null,
            });
            let mut command = Command::new(KB);
            command.args(["__read", layer]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().unwrap();
            write!(child.stdin.take().unwrap(), "{request}\n{}", self.names).unwrap();
            let output = child.wait_with_output().unwrap();
            let mut lines = output.stdout.split(|byte| *byte == b'\n');
            let page: Value = serde_json::from_slice(lines.nth(1).unwrap()).unwrap();
            let attempts = page["page"]["notes"].as_array().unwrap();
            attempts.iter().map(|attempt| attempt["text"].as_str().unwrap().to_owned()).collect()
        }
    }

    /// The attempted actions, and whether Landlock 7 and seccomp refuse them, each by itself. It is the table in
    /// docs/sandbox.md.
    const ATTEMPTS: [(&str, bool, bool); 14] = [
        ("read a file", true, true),
        ("list a folder", true, true),
        ("change a file", true, true),
        ("create a file", true, true),
        ("link to a file", true, true),
        ("delete a file", true, true),
        ("create a file in memory", false, true),
        ("connect by TCP", true, true),
        ("use UDP", false, true),
        ("connect to a socket in a folder", false, true),
        ("connect to an abstract socket", true, true),
        ("start a program", true, true),
        ("read the environment of a process", true, true),
        ("send a signal", true, true),
    ];

    /// Actions that the limits, the cleared environment and the dropped rights refuse.
    const BY_OTHER_LAYERS: [&str; 4] = [
        "lift the limit of memory",
        "lift the limit of time",
        "keep the rights of root",
        "read its environment",
    ];

    #[test]
    fn nothing_that_a_hostile_author_wants_is_possible() {
        if !layers().seccomp {
            return left_out("seccomp", "attempts to escape");
        }
        let bait = Bait::new();
        let all = ATTEMPTS.iter().map(|(name, ..)| *name).chain(BY_OTHER_LAYERS);
        let refused: Vec<String> = all.map(|name| format!("{name}: refused")).collect();
        let document = extract(bait.names.as_bytes(), &options("test-escape")).unwrap().document;
        let reported: Vec<&str> = document.text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(reported, refused);
        assert_eq!(fs::read_dir(bait.env.path(".ssh")).unwrap().count(), 2);
        assert_eq!(fs::read_to_string(bait.env.path(".ssh/id_rsa")).unwrap(), "PRIVATE");
    }

    #[test]
    fn each_layer_refuses_what_the_page_about_it_says() {
        let Layers { landlock, seccomp, .. } = layers();
        let check = |layer: &str, is_refused: &dyn Fn(&(&str, bool, bool)) -> bool| {
            let bait = Bait::new();
            let expected: Vec<String> = ATTEMPTS
                .iter()
                .map(|row| {
                    format!("{}: {}", row.0, if is_refused(row) { "refused" } else { "done" })
                })
                .collect();
            assert_eq!(bait.attempts(layer)[..ATTEMPTS.len()], expected, "{layer}");
        };
        match landlock {
            Some(7) => check("landlock", &|row| row.1),
            _ => left_out("landlock", "Landlock by itself, in version 7"),
        }
        match seccomp {
            true => check("seccomp", &|row| row.2),
            false => left_out("seccomp", "seccomp by itself"),
        }
        // The bait is real: without either, everything is possible.
        check("no-such-layer", &|_| false);
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sandbox.md");
        let page = fs::read_to_string(page).unwrap();
        for (name, by_landlock, by_seccomp) in ATTEMPTS {
            let word = |is_refused| if is_refused { "refuses" } else { "–" };
            let row = format!("| {name} | {} | {} |", word(by_landlock), word(by_seccomp));
            assert!(page.contains(&row), "{row}");
        }
    }

    fn options(reader: &'static str) -> ReadOptions {
        let mut options = ReadOptions::new(PathBuf::from(KB));
        options.readers = vec![reader];
        options
    }

    #[test]
    fn no_document_sees_or_forges_another() {
        let read = || extract(b"%PDF-1.7", &options("test-forge")).unwrap().document.text;
        let (first, second) = (read(), read());
        assert_ne!(first, second, "a process reads one document");
        for id in [first, second] {
            let _: u32 = id.parse().unwrap();
            assert!(!Path::new("/proc").join(&id).exists(), "{id} has not ended");
        }
    }

    #[test]
    fn the_users_limit_of_processor_time_is_hard_and_named() {
        for reader in ["test-loop", "test-deaf-loop"] {
            let mut options = options(reader);
            options.max_cpu = Duration::from_secs(1);
            match (reader, extract(b"%PDF-1.7", &options)) {
                ("test-loop", Err(Error::TooSlow { limit_seconds: 1 })) => {}
                // One that ignores the first signal is killed by the system.
                ("test-deaf-loop", Err(Error::Extract { .. })) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

#[cfg(debug_assertions)]
#[test]
fn a_cancelled_run_ends_the_document_that_is_being_read() {
    let mut options = ReadOptions::new(PathBuf::from(KB));
    options.readers = vec!["test-sleep"];
    options.is_cancelled = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| extract(b"%PDF-1.7", &options));
        options.is_cancelled.store(true, Ordering::Relaxed);
        assert!(matches!(reading.join().unwrap(), Err(Error::Cancelled)));
    });
}

/// A home with a picture, and a program that runs these statements of C instead of Tesseract.
#[cfg(unix)]
fn env_with_tesseract(statements: &str) -> TestEnv {
    let env = TestEnv::new();
    write_tesseract(&env, statements);
    let picture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/documents/scan.png");
    fs::copy(picture, env.path("scan.png")).unwrap();
    env
}

/// A Tesseract that never ends.
#[cfg(unix)]
const ENDLESS: &str = "for (;;) {}";

#[cfg(target_os = "linux")]
#[test]
fn tesseract_reads_and_changes_no_file_of_the_user() {
    if layers().landlock.is_none() {
        return crate::left_out::left_out("landlock", "the files that Tesseract reaches");
    }
    let bait = TestEnv::new();
    let key = bait.write(".ssh/id_rsa", "PRIVATE\n");
    let (key, new) = (key.display(), bait.path("new"));
    let new = new.display();
    // Its own file is the last; the attempts that succeed are printed.
    let statements = format!(
        "struct {{ const char *name, *path; int how; }} tried[] = {{\n\
         {{\"read_key\", \"{key}\", O_RDONLY}}, {{\"write_key\", \"{key}\", O_WRONLY | O_APPEND}},\n\
         {{\"write_new\", \"{new}\", O_WRONLY | O_CREAT}},\n\
         {{\"write_shared\", \"/tmp/kb-test-shared\", O_WRONLY | O_CREAT}},\n\
         {{\"read_itself\", argv[0], O_RDONLY}}}};\n\
         fprintf(stderr, \"it could\");\n\
         for (int at = 0; at < 5; at++)\n\
         if (open(tried[at].path, tried[at].how, 0600) != -1) fprintf(stderr, \" %s\", tried[at].name);\n\
         fprintf(stderr, \"\\n\"); return 1;"
    );
    let env = env_with_tesseract(&statements);
    env.ok(&["add", "scan.png"]);
    let info = env.json(&["info", "1", "--format=json"]);
    let warnings = info["metadata"]["warnings"].to_string();
    assert!(warnings.contains("Tesseract: it could read_itself\""), "{info}");
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_a_document_at_once_and_leaves_no_process() {
    use rustix::process::{Pid, Signal, kill_process};
    for arguments in [&["add", "scan.png"][..], &["watch"]] {
        let env = env_with_tesseract(ENDLESS);
        if arguments == ["watch"] {
            env.write("docs/a.md", "# A\n\nOne.\n");
            env.ok(&["add", "docs"]);
            fs::rename(env.path("scan.png"), env.path("docs/scan.png")).unwrap();
        }
        let program = env.path("bin/tesseract");
        let mut child = env.command(arguments).stderr(Stdio::null()).spawn().unwrap();
        assert!(comes_true(|| !processes_of(&program).is_empty()));
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let status = std::cell::RefCell::new(&mut child);
        let has_ended = || status.borrow_mut().try_wait().unwrap().is_some();
        assert!(comes_true(has_ended), "{arguments:?} still runs");
        assert!(comes_true(|| processes_of(&program).is_empty()), "Tesseract still runs");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn no_secret_of_the_environment_reaches_a_reader_or_tesseract() {
    let mut env = env_with_tesseract(ENDLESS);
    for name in ["PGPASSWORD", "KB_PASSWORD", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY"] {
        env.set(name, "sekret");
    }
    let program = env.path("bin/tesseract");
    let mut kb = env.command(&["add", "scan.png"]).stderr(Stdio::null()).spawn().unwrap();
    assert!(comes_true(|| !processes_of(&program).is_empty()));
    let mut seen = Vec::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let id = entry.unwrap().file_name().into_string().unwrap();
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        if status.contains(&format!("\nPPid:\t{}\n", kb.id())) {
            let environment = fs::read(format!("/proc/{id}/environ")).unwrap();
            let environment = String::from_utf8_lossy(&environment).into_owned();
            assert!(!environment.contains("sekret"), "{environment}");
            seen.push(fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap());
        }
    }
    assert!(seen.iter().any(|line| line.contains("__read")), "{seen:?}");
    assert!(seen.iter().any(|line| line.contains("tesseract")), "{seen:?}");
    kb.kill().unwrap();
    kb.wait().unwrap();
    // The system ends what it has started.
    assert!(comes_true(|| processes_of(&program).is_empty()), "Tesseract outlives kb");
}
