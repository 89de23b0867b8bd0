//! Tests that files planted in the working directory, `PATH` or `PYTHONPATH` never run and are
//! never taken for part of kb: finding F1 of the attacks from outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use kb_embed::{self as embed, DEFAULT_MODEL, Locations, ModelChoice, ModelEvent};

use crate::env::{CACHE, Output, TestEnv, locations, runtime, runtime_in_cache};

/// Leaves a mark that shows what ran.
const PLANTED_PYTHON: &str =
    "import os\nopen(os.environ['MARK'], 'a').write(__file__ + '\\n')\nraise SystemExit(0)\n";

/// A machine without model and library, with a real Python and no package index.
fn env_with_python() -> TestEnv {
    let mut env = TestEnv::without_model();
    let mark = env.path("mark").display().to_string();
    env.set("MARK", &mark);
    env.set("PIP_NO_INDEX", "1");
    let site = venv(&env, "python");
    let script = ["-I", "-c", "import pip; print(pip.__path__[0])"];
    let output = Command::new("python3").args(script).output().expect("Python 3 is there");
    let pip = String::from_utf8(output.stdout).unwrap();
    std::os::unix::fs::symlink(pip.trim(), site.join("pip")).unwrap();
    env.set("PATH", env.path("python/bin").to_str().unwrap());
    env
}

/// Makes a virtual environment of the Python of this machine, without the packages that this may
/// have; returns the folder for packages.
fn venv(env: &TestEnv, name: &str) -> PathBuf {
    let made = env.path(name);
    let mut command = Command::new("python3");
    command.args(["-m", "venv", "--without-pip"]).arg(&made);
    assert!(command.status().expect("Python 3 is there").success());
    let found = fs::read_dir(made.join("lib")).unwrap().next().unwrap().unwrap().path();
    found.join("site-packages")
}

/// Writes a package `onnxruntime` that contains `library`.
fn write_package(env: &TestEnv, folder: &str, version: &str, library: &[u8]) {
    env.write(&format!("{folder}/onnxruntime/__init__.py"), PLANTED_PYTHON);
    env.write(
        &format!("{folder}/onnxruntime-{version}.dist-info/METADATA"),
        format!("Metadata-Version: 2.1\nName: onnxruntime\nVersion: {version}\n"),
    );
    env.write(&format!("{folder}/onnxruntime/capi/libonnxruntime.so.{version}"), library);
}

/// Makes `folder` look like a hostile repository, with a document to add.
fn plant(env: &TestEnv, folder: &str) {
    env.write(&format!("{folder}/README.md"), "# x\n");
    for module in ["csv", "os", "importlib/__init__", "sysconfig", "pip/__init__", "pip/__main__"] {
        env.write(&format!("{folder}/{module}.py"), PLANTED_PYTHON);
    }
    write_package(env, folder, "1.99.0", b"no library");
    let python = env.write(&format!("{folder}/python3"), "#!/bin/sh\necho sh >>\"$MARK\"\n");
    fs::set_permissions(python, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Requires that the real `pip` was asked, that nothing planted ran, and that nothing was adopted.
#[track_caller]
fn check_untouched(env: &TestEnv, output: &Output, status: i32) {
    let mark = fs::read_to_string(env.path("mark")).unwrap_or_default();
    assert_eq!(mark, "", "planted code ran");
    let printed = output.clone().expect(status).stderr;
    assert!(
        printed.contains("No matching distribution found for onnxruntime==1.31.1"),
        "{printed}"
    );
    assert!(!printed.contains("1.99.0"), "{printed}");
    assert!(!env.path(format!("{CACHE}/onnxruntime")).exists(), "a planted library was adopted");
}

#[test]
fn nothing_in_the_working_directory_runs_or_is_adopted() {
    let env = env_with_python();
    plant(&env, "repo");
    // Without a model, documents are added all the same.
    for (args, status) in [(&["init"][..], 2), (&["add", "."], 0), (&["add", "README.md"], 0)] {
        let output = env.finish(env.command(args).current_dir(env.path("repo")));
        check_untouched(&env, &output, status);
    }
}

#[test]
fn a_python_in_a_relative_folder_of_the_path_is_not_started() {
    let mut env = env_with_python();
    plant(&env, "repo");
    let python = env.path("python/bin").display().to_string();
    for before in [".", "", "../repo"] {
        env.set("PATH", &format!("{before}:{python}"));
        let output = env.finish(env.command(&["init"]).current_dir(env.path("repo")));
        check_untouched(&env, &output, 2);
    }
    // Without another Python there is none.
    env.set("PATH", ".:");
    let output = env.finish(env.command(&["init"]).current_dir(env.path("repo"))).expect(2);
    assert!(output.stderr.contains("`py` in an absolute folder of PATH has it"));
    assert!(!env.path("mark").exists());
}

#[test]
fn the_variables_of_python_change_nothing() {
    let mut env = env_with_python();
    plant(&env, "repo");
    let startup = env.write("startup.py", PLANTED_PYTHON);
    let repo = env.path("repo").display().to_string();
    env.set("PYTHONPATH", &repo);
    env.set("PYTHONSTARTUP", startup.to_str().unwrap());
    env.set("PYTHONUSERBASE", &repo);
    check_untouched(&env, &env.kb(&["init"]), 2);
}

/// The user's settings for pip remain in force: here a folder with a package in it, whose bytes turn
/// out to be wrong.
#[test]
fn pip_keeps_the_users_index() {
    let mut env = env_with_python();
    let wheels = env.path("wheels");
    fs::create_dir(&wheels).unwrap();
    let name = "onnxruntime-1.31.1-cp311-cp311-manylinux_2_28_x86_64.whl";
    let script = "import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    wheel.writestr('onnxruntime/capi/libonnxruntime.so.1.31.1', 'no library')
    wheel.writestr('onnxruntime-1.31.1.dist-info/METADATA', 'Name: onnxruntime\\nVersion: 1.31.1\\n')
    wheel.writestr('onnxruntime-1.31.1.dist-info/WHEEL', 'Wheel-Version: 1.0\\n')
    wheel.writestr('onnxruntime-1.31.1.dist-info/RECORD', '')";
    let made =
        Command::new("python3").args(["-c", script]).arg(wheels.join(name)).status().unwrap();
    assert!(made.success());
    env.set("PIP_FIND_LINKS", wheels.to_str().unwrap());
    let output = env.kb(&["init"]).expect(2);
    if cfg!(target_arch = "x86_64") {
        assert!(output.stderr.contains("its SHA-256 is "), "{}", output.stderr);
    }
}

/// Makes a virtual environment with a package that contains `library`; returns the folder of its
/// programs.
pub(crate) fn venv_with_library(env: &TestEnv, library: &[u8]) -> PathBuf {
    let site = venv(env, "venv");
    let site = site.strip_prefix(env.path("")).unwrap();
    write_package(env, site.to_str().unwrap(), "1.98.0", library);
    env.path("venv/bin")
}

/// The library of a user's virtual environment is adopted only if its bytes are known, whatever
/// version its package claims.
#[test]
fn a_library_of_a_virtual_environment_is_adopted_only_if_its_bytes_are_known() {
    let real = fs::read(runtime()).unwrap();
    let mut damaged = real.clone();
    damaged[20_000_000] ^= 1;
    for (library, is_known) in [(&real, true), (&damaged, false)] {
        let env = env_with_python();
        let bin = venv_with_library(&env, library);
        let output = env.finish(env.command(&["init"]).env("PATH", &bin)).expect(2);
        let adopted = env.path(CACHE).join(runtime_in_cache());
        assert_eq!(adopted.exists(), is_known, "{}", output.stderr);
        let message = format!("Found ONNX Runtime at {}/", bin.parent().unwrap().display());
        assert_eq!(output.stderr.matches(&message).count(), usize::from(!is_known), "{output:?}");
        let message = "libonnxruntime.so.1.98.0, but kb does not know its SHA-256 (";
        assert_eq!(output.stderr.matches(message).count(), usize::from(!is_known), "{output:?}");
        assert!(!env.path("mark").exists());
    }
}

/// The system's library is never loaded from where it is: it is copied if its bytes are known.
#[test]
fn a_system_library_is_copied_only_if_its_bytes_are_known() {
    let real = fs::read(runtime()).unwrap();
    let mut damaged = real.clone();
    damaged[20_000_000] ^= 1;
    for (bytes, is_known) in [(&real, true), (&damaged, false)] {
        let dir = tempfile::tempdir().unwrap();
        let system = dir.path().join("lib");
        fs::create_dir(&system).unwrap();
        let library = system.join("libonnxruntime.so.1.99.0");
        fs::write(&library, bytes).unwrap();
        std::os::unix::fs::symlink(&library, system.join("libonnxruntime.so")).unwrap();
        let locations = Locations {
            cache_dir: dir.path().join("kb"),
            runtime_path: None,
            library_dirs: vec![system],
            ..locations()
        };
        let choice = ModelChoice::named(DEFAULT_MODEL).unwrap();
        let is_located = || embed::locate(&choice, &locations).map(|installed| installed.runtime);
        assert!(is_located().is_err(), "nothing is loaded from the system's folders");
        let mut rejected = Vec::new();
        // Without Python nothing can be fetched; the library comes first.
        let installed = embed::install(&choice, &locations, &mut |event| {
            if let ModelEvent::NotAdopted { path, sha256, .. } = event {
                assert_eq!(sha256.len(), 64);
                rejected.push(path);
            }
        });
        let copy = locations.cache_dir.join(runtime_in_cache());
        assert_eq!(copy.exists(), is_known, "{:?}", installed.map(|installed| installed.runtime));
        assert_eq!(rejected, if is_known { vec![] } else { vec![library.canonicalize().unwrap()] });
    }
}
