//! Runs the program as an ordinary user, also where the tests run as root, whom no permission stops.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::env::{Output, TestEnv};

/// The user without rights on most systems.
const NOBODY: u32 = 65534;

/// Variables that name what the program needs from outside a home.
const NEEDED: [&str; 3] = ["KB_CACHE_DIR", "KB_EMBEDDING_MODEL_DIR", "ORT_DYLIB_PATH"];

/// Whether the tests run as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl TestEnv {
    /// Makes a home with a small model that an ordinary user can run the program in: with copies of the
    /// program, the model and the caches, because the originals may be below folders of mode 0700.
    pub(crate) fn for_ordinary_user() -> Self {
        let env = Self::new();
        for variable in NEEDED {
            copy_all(&place(&env, variable), &copy_of(&env, variable));
        }
        copy_program(&env.path("kb"));
        fs::set_permissions(env.path("kb"), fs::Permissions::from_mode(0o555)).unwrap();
        env
    }

    /// Makes an ordinary user the owner of everything in the home: the one who runs the tests, unless that is
    /// root.
    pub(crate) fn give_to_ordinary_user(&self) {
        if is_root() {
            each(&self.path(""), &mut |path| lchown(path, Some(NOBODY), Some(NOBODY)).unwrap());
        }
    }

    /// Prepares a run as an ordinary user, in a home that [`Self::for_ordinary_user`] made.
    pub(crate) fn ordinary_command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(self.path("kb"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.path(""))
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", self.path("no-such-folder"))
            .envs(NEEDED.map(|variable| (variable, copy_of(self, variable))))
            .current_dir(self.path(""))
            .stdin(Stdio::null());
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Runs the program as an ordinary user.
    pub(crate) fn ordinary_kb<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.finish(&mut self.ordinary_command(args))
    }
}

/// Copies the program in a separate process: a file cannot be executed while any process has it open for writing,
/// and a process that another test starts meanwhile inherits the open files of this one.
pub(crate) fn copy_program(to: &Path) {
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_kb")).arg(to).status().unwrap();
    assert!(copied.success());
}

/// Returns the value of a variable of the environment.
fn place(env: &TestEnv, variable: &str) -> PathBuf {
    let command = env.command(&["list"]);
    let mut values = command.get_envs();
    let found = values.find(|(known, _)| *known == variable).and_then(|(_, value)| value);
    PathBuf::from(found.unwrap())
}

/// Returns where the copy of a model, a cache or a library is. The name of a model is that of its folder.
fn copy_of(env: &TestEnv, variable: &str) -> PathBuf {
    env.path(place(env, variable).file_name().unwrap())
}

/// Calls `look` for a folder and everything below it.
pub(crate) fn each(path: &Path, look: &mut dyn FnMut(&Path)) {
    look(path);
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        for entry in path.read_dir().unwrap() {
            each(&entry.unwrap().path(), look);
        }
    }
}

fn copy_all(from: &Path, to: &Path) {
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "tmp" {
            copy_all(&entry.path(), &to.join(entry.file_name()));
        }
    }
}
