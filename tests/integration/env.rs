//! Runs the real binary in a temporary home, with a cleared environment and no network.
//!
//! Most tests use a model with seeded weights ([`Small`]), which is generated here and searches in
//! a tenth of the time of the real one. Tests about the real model use [`TestEnv::real`]. The real
//! model and ONNX Runtime are the user's own, which `make test` fetches once; a missing one fails
//! the test, never skips it.
//!
//! No test can reach the network: the hub's address is a port without a listener, and the only
//! program on `PATH` is a `python3` that fails and leaves a mark. On Windows, where scripts are no programs, there is none.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use kb_embed::{DEFAULT_MODEL, InstalledModel, Locations, ModelChoice, locate};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;

use crate::permissions::set_mode;
use crate::printed_paths::{as_written, native, written};
use crate::schema;
use crate::word_model::{WordModel, Words};

/// The sample documents that ship with the repository; tests never write there.
pub(crate) const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/corpus");

/// The discard port of the loopback interface: connections to this hub are refused at once.
const NOWHERE: &str = "http://127.0.0.1:9";

/// The variable that names the directory of a model.
const MODEL_DIR: &str = "KB_EMBEDDING_MODEL_DIR";

/// A note of each `kb add` on a system without a sandbox. `windows.rs` tests it; other tests do not see it.
pub(crate) const NO_SANDBOX: &str = "files are read without a sandbox here";

/// A line that ONNX Runtime prints below Wine, which has no graphics there.
const OF_WINE: &str = "Failed to create DXGI factory.";

/// A home directory that contains only what a test puts there.
pub(crate) struct TestEnv {
    home: TempDir,
    /// The path of the home as tests write it.
    written: PathBuf,
    vars: Vec<(String, String)>,
}

/// The result of one run of the program.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Exit code; 128 and more if a signal ended the program.
    pub(crate) status: i32,
    home: PathBuf,
}

impl TestEnv {
    /// Makes an empty home with a small model and the user's runtime library.
    pub(crate) fn new() -> Self {
        let small = small();
        Self::with_vars(vec![
            ("KB_CACHE_DIR".into(), native(&small.cache)),
            (MODEL_DIR.into(), native(&small.model)),
            ("ORT_DYLIB_PATH".into(), native(&runtime())),
        ])
    }

    /// Makes an empty home that shares the user's model and runtime library.
    pub(crate) fn real() -> Self {
        let caches = caches();
        let graphs = caches.kb.join("graphs");
        let is_ready = graphs.read_dir().is_ok_and(|mut entries| entries.next().is_some());
        assert!(is_ready, "the model is not prepared in {}: run `make test`", caches.kb.display());
        let mut vars = vec![
            ("KB_CACHE_DIR".into(), native(&caches.kb)),
            ("HF_HUB_CACHE".into(), native(&caches.hub)),
        ];
        vars.extend(caches.runtime.iter().map(|path| ("ORT_DYLIB_PATH".into(), native(path))));
        Self::with_vars(vars)
    }

    /// Makes an empty home on a machine with neither model nor runtime library.
    pub(crate) fn without_model() -> Self {
        let env = Self::with_vars(Vec::new());
        // Without variables that name them, the caches are in the home, which is empty.
        assert!(!env.path(".cache").exists());
        env
    }

    /// Makes an empty home on a machine that has the runtime library, but no model.
    pub(crate) fn with_runtime() -> Self {
        let mut env = Self::without_model();
        env.set("ORT_DYLIB_PATH", runtime().to_str().unwrap());
        env
    }

    /// Makes a home whose database contains the sample documents and two notes, see [`sample`].
    pub(crate) fn with_corpus() -> Self {
        let env = Self::new();
        env.install_sample();
        env
    }

    /// The same with the real model.
    pub(crate) fn real_with_corpus() -> Self {
        let env = Self::real();
        env.install_real_sample();
        env
    }

    /// Installs a copy of the database of sample documents, with vectors of the small model.
    pub(crate) fn install_sample(&self) {
        static SAMPLE: OnceLock<Sample> = OnceLock::new();
        self.install(SAMPLE.get_or_init(|| sample(&Self::new())));
    }

    /// The same with vectors of the real model.
    pub(crate) fn install_real_sample(&self) {
        static SAMPLE: OnceLock<Sample> = OnceLock::new();
        self.install(SAMPLE.get_or_init(|| sample(&Self::real())));
    }

    fn install(&self, sample: &Sample) {
        fs::create_dir_all(self.path(".kb")).unwrap();
        fs::write(self.database(), &sample.database).unwrap();
        let home = self.written.to_str().unwrap();
        self.write(KNOWN_BASES, sample.known_bases.replace(&sample.home, home));
    }

    fn with_vars(vars: Vec<(String, String)>) -> Self {
        let home = tempfile::Builder::new().prefix("kb-test-").tempdir().unwrap();
        let env = Self { written: written(home.path()), home, vars };
        fs::create_dir(env.path("bin")).unwrap();
        if cfg!(unix) {
            let python = env.path("bin/python3");
            fs::write(&python, "#!/bin/sh\n: >\"${0%/*}/../python-was-asked\"\nexit 1\n").unwrap();
            set_mode(&python, 0o755);
        }
        env
    }

    /// Makes a home with a copy of every file of this one, in which kb finds itself at home: the
    /// copies have the times of the originals, and the path of this home in them is replaced.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::with_vars(self.vars.clone());
        copy_files(self.home.path(), copy.home.path(), &|bytes| {
            // With slashes, and as the system writes it.
            for form in [written, |path: &Path| PathBuf::from(native(path))] {
                let [old, new] = [self, &copy].map(|env| form(env.home.path()).into_os_string());
                let (old, new) = (old.as_encoded_bytes(), new.as_encoded_bytes());
                // Names of temporary folders are equally long, so that databases stay intact.
                assert_eq!(old.len(), new.len());
                let places: Vec<usize> = memchr::memmem::find_iter(bytes.as_slice(), old).collect();
                places.iter().for_each(|at| bytes[*at..at + new.len()].copy_from_slice(new));
            }
        });
        copy
    }

    /// Sets a variable for all later runs.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.vars.retain(|(known, _)| known != name);
        self.vars.push((name.into(), value.into()));
    }

    /// Returns a path below the home, as tests write it.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        if cfg!(windows) {
            // The separator that `join` adds would be a backslash.
            let home = self.written.display();
            return format!("{home}/{}", relative.as_ref().display()).into();
        }
        self.written.join(relative)
    }

    /// Returns printed text with the paths below the home as tests write them.
    pub(crate) fn as_written(&self, printed: String) -> String {
        as_written(printed, &[&self.written])
    }

    /// Returns the default path of the database.
    pub(crate) fn database(&self) -> PathBuf {
        self.path(".kb/kb.db")
    }

    /// Writes a file below the home, with its directories.
    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Whether any run tried to fetch a Python package.
    pub(crate) fn asked_python(&self) -> bool {
        self.path("python-was-asked").exists()
    }

    /// Prepares a run in the home directory, with stdin closed.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_kb")), args)
    }

    /// Prepares a copy of the program.
    pub(crate) fn command_of<S: AsRef<OsStr>>(&self, program: &Path, args: &[S]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .envs(variables_of_user(self.home.path()))
            .env("PATH", self.home.path().join("bin"))
            .env("HF_ENDPOINT", NOWHERE)
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a prepared command under another umask.
    #[cfg(unix)]
    pub(crate) fn finish_under(&self, umask: &str, command: &Command) -> Output {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "umask \"$1\"; shift; exec \"$@\"", "sh", umask]);
        shell.arg(command.get_program()).args(command.get_args()).env_clear();
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.current_dir(command.get_current_dir().unwrap_or(self.home.path()));
        let output = shell.stdin(Stdio::null()).output().unwrap();
        self.output(output.stdout, output.stderr, output.status)
    }

    /// Runs the program.
    pub(crate) fn kb<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.finish(&mut self.command(args))
    }

    /// Runs the program with additional variables.
    pub(crate) fn kb_with(&self, vars: &[(&str, &str)], args: &[&str]) -> Output {
        self.finish(self.command(args).envs(vars.iter().copied()))
    }

    /// Runs the program and requires success.
    #[track_caller]
    pub(crate) fn ok<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.kb(args).expect(0)
    }

    /// Runs the program, requires success and reads its answer as JSON.
    #[track_caller]
    pub(crate) fn json<S: AsRef<OsStr>>(&self, args: &[S]) -> Value {
        self.ok(args).json()
    }

    /// Runs a prepared command to its end.
    #[track_caller]
    pub(crate) fn finish(&self, command: &mut Command) -> Output {
        let output = command.output().unwrap();
        let output = self.output(output.stdout, output.stderr, output.status);
        schema::check_run(command, &output.stdout, &output.stderr, output.status == 0);
        output
    }

    pub(crate) fn output(
        &self,
        stdout: Vec<u8>,
        stderr: Vec<u8>,
        status: std::process::ExitStatus,
    ) -> Output {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        let text = |bytes: Vec<u8>, stream: &str| {
            let text = String::from_utf8(bytes).unwrap_or_else(|_| panic!("{stream} is UTF-8"));
            self.as_written(text)
        };
        let mut stderr = text(stderr, "stderr");
        if cfg!(windows) {
            let is_other = |line: &&str| !line.contains(NO_SANDBOX) && !line.starts_with(OF_WINE);
            stderr = stderr.split_inclusive('\n').filter(is_other).collect();
        }
        Output {
            stdout: text(stdout, "stdout"),
            stderr,
            status: status.code().unwrap_or_else(|| 128 + signal.unwrap_or(0)),
            home: self.written.clone(),
        }
    }

    /// Reads one value from the database with plain SQLite, without `kb` or `sqlite-vec`.
    #[track_caller]
    pub(crate) fn sql<T: rusqlite::types::FromSql>(&self, query: &str) -> T {
        let db = Connection::open_with_flags(self.database(), OpenFlags::SQLITE_OPEN_READ_ONLY);
        db.unwrap().query_row(query, [], |row| row.get(0)).unwrap()
    }

    /// Changes the database with plain SQLite, as neither `kb` nor a user would.
    #[track_caller]
    pub(crate) fn change(&self, statement: &str) {
        Connection::open(self.database()).unwrap().execute(statement, []).unwrap();
    }

    /// Reads the first column of a query's rows.
    #[track_caller]
    pub(crate) fn sql_column(&self, query: &str) -> Vec<String> {
        let db = Connection::open_with_flags(self.database(), OpenFlags::SQLITE_OPEN_READ_ONLY);
        let db = db.unwrap();
        let mut statement = db.prepare(query).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(|text| self.as_written(text.unwrap())).collect()
    }
}

/// Returns the variables in which a system names the user's folders, and those without which no program runs.
pub(crate) fn variables_of_user(home: &Path) -> Vec<(OsString, OsString)> {
    if !cfg!(windows) {
        return vec![("HOME".into(), home.into())];
    }
    let data = home.join("AppData");
    let temporary = data.join("Local").join("Temp");
    fs::create_dir_all(&temporary).unwrap();
    let folders = [
        ("USERPROFILE", home.to_owned()),
        ("APPDATA", data.join("Roaming")),
        ("LOCALAPPDATA", data.join("Local")),
        ("TEMP", temporary.clone()),
        ("TMP", temporary),
    ];
    let folders = folders.into_iter().map(|(name, folder)| (name.into(), folder.into()));
    // Where Windows is; below Wine, also where Wine is.
    let is_of_system = |name: &OsStr| {
        let name = name.to_string_lossy();
        name.eq_ignore_ascii_case("SystemRoot") || name.starts_with("WINE")
    };
    folders.chain(std::env::vars_os().filter(|(name, _)| is_of_system(name))).collect()
}

/// Copies a folder with everything below it, with times and modes, and changes what is in the files.
fn copy_files(from: &Path, to: &Path, change: &dyn Fn(&mut Vec<u8>)) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        let metadata = fs::metadata(&from).unwrap();
        if metadata.is_dir() {
            copy_files(&from, &to, change);
        } else {
            let mut bytes = fs::read(&from).unwrap();
            change(&mut bytes);
            fs::write(&to, bytes).unwrap();
            File::options()
                .write(true)
                .open(&to)
                .unwrap()
                .set_modified(metadata.modified().unwrap())
                .unwrap();
        }
        fs::set_permissions(&to, metadata.permissions()).unwrap();
    }
}

impl Output {
    /// Requires an exit status.
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// Parses stdout as one JSON value, with nothing before or after it.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Parses stderr as a single JSON error object.
    #[track_caller]
    pub(crate) fn json_error(&self) -> Value {
        serde_json::from_str(&self.stderr)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Returns everything as one text, with paths and times normalised.
    pub(crate) fn text(&self) -> String {
        let mut text = self.stdout.clone();
        if !self.stderr.is_empty() {
            text += &format!("--- stderr\n{}", self.stderr);
        }
        if self.status != 0 {
            text += &format!("--- status {}\n", self.status);
        }
        let (caches, small) = (caches(), Small::place());
        for (path, name) in [
            (self.home.as_path(), "[HOME]"),
            (Path::new(CORPUS), "[CORPUS]"),
            (&small.cache, "[CACHE]"),
            (&small.model, "[MODEL]"),
            (&caches.kb, "[CACHE]"),
            (&caches.hub, "[HUB]"),
        ] {
            text = text.replace(&path.display().to_string(), name);
        }
        without_times(&text)
    }
}

/// Replaces `2026-11-21T15:42:07Z`, `2026-11-21 15:42 UTC` and `20261121T154207Z` by `[TIME]`, and a date alone by
/// `[--DATE--]`, which keeps columns.
fn without_times(text: &str) -> String {
    const DATE: &str = "dddd-dd-dd";
    const TIME: &str = "dddd-dd-ddTdd:dd:ddZ";
    const READABLE_TIME: &str = "dddd-dd-dd dd:dd UTC";
    const TIME_IN_NAME: &str = "ddddddddTddddddZ";
    let fits = |rest: &str, shape: &str| {
        rest.len() >= shape.len()
            && rest.bytes().zip(shape.bytes()).all(|(found, wanted)| match wanted {
                b'd' => found.is_ascii_digit(),
                _ => found == wanted,
            })
    };
    let mut kept = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (shape, name) = if fits(rest, TIME) {
            (TIME.len(), "[TIME]")
        } else if fits(rest, READABLE_TIME) {
            (READABLE_TIME.len(), "[TIME]")
        } else if fits(rest, TIME_IN_NAME) {
            (TIME_IN_NAME.len(), "[TIME]")
        } else if fits(rest, DATE) {
            (DATE.len(), "[--DATE--]")
        } else {
            kept.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        kept += name;
        rest = &rest[shape..];
    }
    kept
}

/// A generated model, for tests that need any model. It reads as many tokens as the real one, and
/// most words are one token. Its vectors only show which words texts have in common.
struct Small {
    model: PathBuf,
    /// kb's cache, with the graph of the model in it.
    cache: PathBuf,
}

impl Small {
    /// Returns the directory of the model, below `target/`. Each user has one: kb's cache is private.
    fn place() -> Self {
        #[cfg(unix)]
        let user = rustix::process::geteuid().as_raw();
        #[cfg(not(unix))]
        let user = "of-windows";
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("user-{user}"));
        let model = folder.join("small-model");
        Self { cache: model.with_extension("cache"), model }
    }
}

/// Writes the small model and lets kb prepare it, once for all runs with the same words.
fn small() -> &'static Small {
    static SMALL: OnceLock<Small> = OnceLock::new();
    SMALL.get_or_init(|| {
        let model = WordModel {
            dim: 64,
            max_seq_length: 256,
            words: Words::OfTests,
            ..WordModel::default()
        };
        let files = model.files();
        let small = Small::place();
        let is_written = |(name, bytes): (&String, &Vec<u8>)| {
            fs::read(small.model.join(name)).is_ok_and(|found| found == *bytes)
        };
        if !files.iter().all(is_written) {
            let _ = fs::remove_dir_all(&small.model);
            let _ = fs::remove_dir_all(&small.cache);
            model.write(&small.model);
        }
        let home = tempfile::tempdir().unwrap();
        let status = Command::new(env!("CARGO_BIN_EXE_kb"))
            .arg("init")
            .env_clear()
            .envs(variables_of_user(home.path()))
            .env("KB_CACHE_DIR", native(&small.cache))
            .env(MODEL_DIR, native(&small.model))
            .env("ORT_DYLIB_PATH", runtime_for(&small.model))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success());
        small
    })
}

/// The user's caches with the model, its graph and the runtime library.
struct Caches {
    kb: PathBuf,
    hub: PathBuf,
    /// The runtime library, if the user names one.
    runtime: Option<PathBuf>,
}

/// Finds the caches in the same way as kb.
fn caches() -> &'static Caches {
    static CACHES: OnceLock<Caches> = OnceLock::new();
    CACHES.get_or_init(|| {
        #[expect(clippy::disallowed_methods, reason = "the user's caches, found as kb finds them")]
        let path = |name: &str| {
            std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let home = path("HOME").or_else(|| path("USERPROFILE")).unwrap_or_default();
        let cache = path("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache"));
        let hf_home = path("HF_HOME").unwrap_or_else(|| cache.join("huggingface"));
        let local = path("LOCALAPPDATA").filter(|_| cfg!(windows)).unwrap_or(cache);
        Caches {
            kb: path("KB_CACHE_DIR").unwrap_or_else(|| local.join("kb")),
            hub: path("HF_HUB_CACHE").unwrap_or_else(|| hf_home.join("hub")),
            runtime: path("ORT_DYLIB_PATH"),
        }
    })
}

/// The caches as the command line finds them.
pub(crate) fn locations() -> Locations {
    let caches = caches();
    Locations {
        cache_dir: caches.kb.clone(),
        hf_cache_dir: caches.hub.clone(),
        hf_endpoint: None,
        files: kb_base::document::ModelFiles::default(),
        hf_token: None,
        runtime_path: caches.runtime.clone(),
        library_dirs: Locations::system_library_dirs(),
        pythons: Vec::new(),
    }
}

/// Returns the user's runtime library.
pub(crate) fn runtime() -> PathBuf {
    static RUNTIME: OnceLock<PathBuf> = OnceLock::new();
    RUNTIME.get_or_init(|| runtime_for(&small().model)).clone()
}

/// Returns the place of that library in a cache: its release depends on what this machine has.
pub(crate) fn runtime_in_cache() -> PathBuf {
    let path = runtime();
    let name = path.file_name().unwrap().to_str().unwrap();
    let version = if cfg!(windows) {
        // There the name of the library is that of every release.
        path.parent().unwrap().file_name().unwrap().to_str().unwrap()
    } else {
        name.strip_prefix("libonnxruntime.so.").expect("a library of a known release")
    };
    Path::new("onnxruntime").join(version).join(name)
}

/// Finds the runtime library for a generated model.
fn runtime_for(model: &Path) -> PathBuf {
    let choice = ModelChoice::directory(model.to_owned());
    let installed = locate(&choice, &locations());
    installed.unwrap_or_else(|error| panic!("{error}: run `make test`")).runtime
}

/// Returns where the files of the default model are.
pub(crate) fn model_dir() -> PathBuf {
    installed().model_dir
}

fn installed() -> InstalledModel {
    let choice = ModelChoice::named(DEFAULT_MODEL).unwrap();
    locate(&choice, &locations()).unwrap_or_else(|error| panic!("{error}: run `make test`"))
}

/// Returns the bytes of a database with the sample documents: ids from 1 in the order of their
/// names, then a note with a title and tags, then a note without.
fn sample(env: &TestEnv) -> Sample {
    env.ok(&["add", CORPUS, "--tags", "sample"]);
    let titled = ["--title", "Charger", "--tags", "sample,station"];
    env.ok(&[["add", "--note", NOTE].as_slice(), &titled].concat());
    env.ok(&["add", "--note", UNTITLED_NOTE]);
    Sample {
        database: fs::read(env.database()).unwrap(),
        known_bases: fs::read_to_string(env.path(KNOWN_BASES)).unwrap(),
        home: env.written.to_str().unwrap().to_owned(),
    }
}

/// The file in which kb remembers the folders that the user named.
pub(crate) const KNOWN_BASES: &str =
    if cfg!(windows) { "AppData/Local/kb/known_bases" } else { ".local/state/kb/known_bases" };

/// The folder of what kb can make again.
pub(crate) const CACHE: &str = if cfg!(windows) { "AppData/Local/kb" } else { ".cache/kb" };

/// A database, and what kb remembers about it in the home where it was made.
struct Sample {
    database: Vec<u8>,
    known_bases: String,
    home: String,
}

/// The text of the note called `Charger`.
pub(crate) const NOTE: &str =
    "The charger of the tide recorder is in the blue box under the stairs.";

/// The text of the note without a title.
pub(crate) const UNTITLED_NOTE: &str = "Ferry timetable: the last boat leaves at nine.";

/// Runs a command with `typed` as its stdin.
pub(crate) fn with_stdin(env: &TestEnv, args: &[&str], typed: &str) -> Output {
    let mut command = env.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read its input may already have ended.
    let _ = child.stdin.take().unwrap().write_all(typed.as_bytes());
    let output = child.wait_with_output().unwrap();
    env.output(output.stdout, output.stderr, output.status)
}
