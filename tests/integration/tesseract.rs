//! Tests the sandbox of Tesseract by programs that replace it: refused actions, and the files that it can still read.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kb_extract::sandbox::{Layers, active};
use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::fake_tesseract::{compile, prints_words, write_program, write_tesseract};
use crate::left_out::left_out;

const KB: &str = env!("CARGO_BIN_EXE_kb");

/// As kb limits it: bytes of memory. In its place, a test names the only layer.
const ALL_LAYERS: &str = "1610612736";

/// An attempted action, and whether each of two layers refuses it.
type Refused = (&'static str, bool, bool);

/// The actions that a replacement of Tesseract attempts, and whether Landlock 7 and seccomp refuse them, each by
/// itself. It is the second table in docs/sandbox.md.
const ATTEMPTS: [Refused; 24] = [
    ("read a file", true, false),
    ("list a folder", true, true),
    ("change a file", true, true),
    ("create a file", true, true),
    ("create a folder or a link", true, true),
    ("delete or rename a file", true, true),
    ("change the permissions of a file", false, true),
    ("change the owner of a file", false, true),
    ("change the attributes of a file", false, true),
    ("change the times of a file", false, true),
    ("watch a folder", false, true),
    ("look at the size and times of a file", false, false),
    ("create a file in memory", false, true),
    ("share memory, semaphores or messages", false, true),
    ("connect by TCP", true, true),
    ("use UDP", false, true),
    ("connect to a socket in a folder", false, true),
    ("connect to an abstract socket", true, true),
    ("start a process", false, true),
    ("read the environment of a process", true, false),
    ("send a signal", true, true),
    ("have a pipe send signals", false, true),
    ("change the priority or the limits of a process", false, true),
    ("outlive kb", false, true),
];

/// The actions that it attempts by replacing itself, in the same table.
const PROGRAMS: [Refused; 2] =
    [("start a program", true, false), ("start a program by the loader", true, false)];

/// The action that the limits refuse.
const BY_LIMITS: &str = "lift a limit";

/// The report of the allowed action.
const ALLOWED: &str = "start a thread: done";

fn layers() -> Layers {
    active(Path::new(KB)).unwrap()
}

/// The targets of such a program, and the program.
struct Bait {
    env: TestEnv,
    _listeners: (TcpListener, UnixListener, UnixListener),
    program: PathBuf,
    names: [String; 4],
}

impl Bait {
    fn new() -> Self {
        let env = TestEnv::new();
        let key = env.write(".ssh/id_rsa", "PRIVATE");
        env.write(".ssh/victim", "");
        let tcp = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = tcp.local_addr().unwrap().port().to_string();
        let socket = env.path("agent.sock");
        let unix = UnixListener::bind(&socket).unwrap();
        let name = SocketAddr::from_abstract_name(socket.to_str().unwrap()).unwrap();
        let hidden = UnixListener::bind_addr(&name).unwrap();
        let program = env.path("bin/escape");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/escape.c");
        compile(Path::new(source), &program);
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let names = [text(&key), port, text(&socket), std::process::id().to_string()];
        Self { env, _listeners: (tcp, unix, hidden), program, names }
    }

    /// Runs the program instead of Tesseract.
    fn run(&self, layer: &str, args: &[&str]) -> Output {
        let mut command = Command::new(KB);
        // As kb starts it, without the variables of the tests, among them folders of libraries.
        command.env_clear().args(["__ocr", layer, "20"]).arg(&self.program).args(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        drop(child.as_mut().unwrap().stdin.take());
        child.unwrap().wait_with_output().unwrap()
    }

    /// Returns what the program reports.
    fn attempts(&self, layer: &str) -> Vec<String> {
        let names = self.names.each_ref().map(String::as_str);
        let output = self.run(layer, &names);
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(str::to_owned).collect()
    }

    /// Whether another program takes the place of this one.
    fn starts(&self, layer: &str, command: &[&str]) -> bool {
        let output = self.run(layer, &[&["exec"], command].concat());
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code().is_some(), "{command:?}: {output:?}");
        // The loader says itself that it cannot read the program.
        let is_refused = printed == "exec: refused\n" || output.status.code() == Some(127);
        assert_eq!(is_refused, !printed.contains("started"), "{command:?}: {output:?}");
        !is_refused
    }
}

/// Returns the loader of programs.
fn loader() -> &'static str {
    let loaders = [
        "/lib64/ld-linux-x86-64.so.2",
        "/lib/ld-linux-aarch64.so.1",
        "/lib/ld-linux-riscv64-lp64d.so.1",
        "/lib/ld-musl-x86_64.so.1",
        "/lib/ld-musl-aarch64.so.1",
    ];
    loaders.into_iter().find(|loader| Path::new(loader).exists()).unwrap()
}

#[test]
fn nothing_that_the_author_of_a_picture_wants_is_possible() {
    let Layers { landlock, seccomp, .. } = layers();
    if landlock.is_none() || !seccomp {
        return left_out(if seccomp { "landlock" } else { "seccomp" }, "attempts as Tesseract");
    }
    let bait = Bait::new();
    let mut expected: Vec<String> = ATTEMPTS
        .iter()
        .map(|(name, by_landlock, by_seccomp)| outcome(name, *by_landlock || *by_seccomp))
        .collect();
    expected.extend([outcome(BY_LIMITS, true), ALLOWED.to_owned()]);
    assert_eq!(bait.attempts(ALL_LAYERS), expected);
    let key = bait.env.path(".ssh/id_rsa");
    assert_eq!(fs::read_to_string(&key).unwrap(), "PRIVATE");
    assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(fs::read_dir(bait.env.path(".ssh")).unwrap().count(), 2);

    let script = "echo started";
    let code = "print('started')";
    for command in [
        &["/bin/sh", "-c", script][..],
        &["/usr/bin/python3", "-c", code],
        &["/usr/bin/perl", "-e", "print 'started'"],
        &["/usr/lib/git-core/git", "--version"],
        &["/usr/lib/apt/methods/http"],
        &[KB, "--version"],
    ] {
        assert!(!bait.starts(ALL_LAYERS, command), "{command:?}");
        let by_loader = [&[loader()], command].concat();
        assert!(!bait.starts(ALL_LAYERS, &by_loader), "{by_loader:?}");
    }
}

fn outcome(name: &str, is_refused: bool) -> String {
    format!("{name}: {}", if is_refused { "refused" } else { "done" })
}

#[cfg(debug_assertions)]
#[test]
fn each_layer_refuses_what_the_page_says_of_tesseract() {
    let Layers { landlock, seccomp, .. } = layers();
    let check = |layer: &str, is_refused: fn(&Refused) -> bool| {
        let bait = Bait::new();
        let expected: Vec<String> =
            ATTEMPTS.iter().map(|row| outcome(row.0, is_refused(row))).collect();
        assert_eq!(bait.attempts(layer)[..ATTEMPTS.len()], expected, "{layer}");
        let direct = ["/bin/sh", "-c", "echo started"];
        let by_loader = [&[loader()], &direct[..]].concat();
        for (row, command) in PROGRAMS.iter().zip([&direct[..], &by_loader]) {
            assert_eq!(bait.starts(layer, command), !is_refused(row), "{layer}: {}", row.0);
        }
    };
    match landlock {
        Some(7) => check("landlock", |row| row.1),
        _ => left_out("landlock", "Landlock by itself, in version 7"),
    }
    match seccomp {
        true => check("seccomp", |row| row.2),
        false => left_out("seccomp", "seccomp by itself"),
    }
    // The bait is real: without either, everything is possible.
    check("no-such-layer", |_| false);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/sandbox.md");
    let page = fs::read_to_string(page).unwrap();
    let table = page.split("\n## Tesseract\n").nth(1).unwrap();
    for (name, by_landlock, by_seccomp) in ATTEMPTS.iter().chain(&PROGRAMS) {
        let word = |is_refused| if is_refused { "refuses" } else { "–" };
        let row = format!("| {name} | {} | {} |", word(*by_landlock), word(*by_seccomp));
        assert!(table.contains(&row), "{row}");
    }
}

/// Adds a folder with a picture, and returns the texts of its chunks and its warnings.
fn read_picture(env: &TestEnv) -> (String, Value) {
    let picture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/documents/scan.png");
    fs::create_dir_all(env.path("docs")).unwrap();
    fs::copy(picture, env.path("docs/scan.png")).unwrap();
    env.ok(&["add", "docs"]);
    let info = env.json(&["info", "1", "--format=json"]);
    (env.sql_column("SELECT text FROM chunks").join("\n"), info["metadata"]["warnings"].clone())
}

#[test]
fn libraries_and_data_are_found_where_variables_and_links_say() {
    let mut env = TestEnv::new();
    let source = env.write("words.c", "const char *name(void) { return \"eng.traineddata\"; }\n");
    fs::create_dir(env.path("own")).unwrap();
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-o"]).arg(env.path("own/libname.so")).arg(source);
    assert!(command.status().unwrap().success());
    let row = "5\t1\t1\t1\t1\t0\t100\t100\t120\t20\t96\tlighthouse\n";
    let data = env.write("far/rows", row);
    fs::create_dir(env.path("data")).unwrap();
    symlink(data, env.path("data/eng.traineddata")).unwrap();
    let source = env.write(
        "program.c",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nconst char *name(void);\n\
         int main(void) { char rows[4096]; chdir(getenv(\"TESSDATA_PREFIX\"));\n\
         snprintf(rows, sizeof rows, \"%s/%s\", getenv(\"TESSDATA_PREFIX\"), name());\n\
         FILE *file = fopen(rows, \"r\"); if (!file) return perror(rows), 1;\n\
         while (fgets(rows, sizeof rows, file)) fputs(rows, stdout); return 0; }\n",
    );
    fs::create_dir_all(env.path("bin")).unwrap();
    let mut command = Command::new("cc");
    command.arg("-o").arg(env.path("bin/tesseract")).arg(source).arg(env.path("own/libname.so"));
    assert!(command.status().unwrap().success());
    env.set("LD_LIBRARY_PATH", env.path("own").to_str().unwrap());
    env.set("TESSDATA_PREFIX", env.path("data").to_str().unwrap());
    assert_eq!(read_picture(&env), ("lighthouse".to_owned(), json!([])));
}

fn write_script(env: &TestEnv, script: &str) -> PathBuf {
    let program = env.write("bin/tesseract", script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[test]
fn a_script_that_only_starts_tesseract_is_followed() {
    let env = TestEnv::new();
    // It says where it was told to find its data.
    let statements = "const char *data = getenv(\"TESSDATA_PREFIX\"); if (!data) return 1;\n\
         printf(\"5\\t1\\t1\\t1\\t1\\t0\\t100\\t100\\t120\\t20\\t96\\t%s\\n\", data);";
    let program = write_program(&env, "lib/ocr/program", statements);
    let exec = format!("exec \"{}\"  \"$@\"", program.display());
    write_script(
        &env,
        &format!("#! /bin/sh -e\nexport TESSDATA_PREFIX=${{TESSDATA_PREFIX-'/given'}}\n{exec}\n"),
    );
    let status = env.json(&["status", "--format=json"]);
    assert_eq!(status["ocr"]["tesseract"], program.to_str().unwrap());
    assert_eq!(status["ocr"]["problem"], Value::Null);
    assert_eq!(read_picture(&env), ("/given".to_owned(), json!([])));
}

#[test]
fn a_script_that_does_more_turns_ocr_off_and_kb_says_what_to_do() {
    let env = TestEnv::new();
    let script = write_script(&env, "#!/bin/sh\necho started >&2; exec tesseract \"$@\"\n");
    let problem = format!("{} is a script, and the sandbox has no shell", script.display());
    let status = env.json(&["status", "--format=json"]);
    assert_eq!(status["ocr"]["tesseract"], Value::Null);
    assert_eq!(status["ocr"]["problem"], problem);
    let printed = env.ok(&["init", "--status"]).stdout;
    assert!(printed.contains("off: ") && printed.contains("`kb doctor`"), "{printed}");
    let (text, warnings) = read_picture(&env);
    let warning = format!(
        "no text found on 1 of 1 pages; they look like scans; Tesseract does not run, as {problem} (see `kb doctor`)"
    );
    assert_eq!((text.as_str(), warnings), ("", json!([warning])));
    let report = env.kb(&["doctor", "--format=json"]).json();
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "ocr").unwrap();
    assert_eq!(check["message"], format!("{problem}: scans are added without their text"));
    assert!(
        check["fix"]
            .as_str()
            .unwrap()
            .contains("before the folder of the script, then `kb update`"),
        "{check}"
    );
    // Once the program itself is there, what was not read is read.
    fs::remove_file(script).unwrap();
    write_tesseract(&env, &prints_words("lighthouse"));
    env.ok(&["update"]);
    assert_eq!(env.sql_column("SELECT text FROM chunks").join("\n"), "lighthouse");
}
