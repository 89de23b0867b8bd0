//! Lets the kernel refuse files, sockets and signals to this process (Landlock).

use std::io::Read;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use crate::files::open::{Links, open};

/// The newest version of Landlock that the crate knows. On an older kernel, less is refused.
const VERSION: ABI = ABI::V10;

/// What each folder of the system has that is only read.
const READ: BitFlags<AccessFs> = landlock::make_bitflags!(AccessFs::{ReadFile | ReadDir});

/// What programs open in any case.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/urandom"];

/// Folders with the loader of programs, and with the shell of those that are scripts.
const EXECUTABLE: [&str; 7] =
    ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store", "/gnu/store"];
const SHELLS: [&str; 2] = ["/bin", "/usr/bin"];

/// Refuses every file. Returns the version of Landlock that is in force.
pub(super) fn refuse_all() -> Option<u32> {
    restrict(&[])
}

/// Allows what the system has for all programs to be read, and this program alone to be started.
pub(super) fn allow_program(program: &Path) -> Option<u32> {
    let read = folders_of(program);
    let mut allowed: Vec<(&Path, BitFlags<AccessFs>)> =
        read.iter().map(|folder| (folder.as_path(), READ)).collect();
    allowed.extend(DEVICES.map(|device| (Path::new(device), READ | AccessFs::WriteFile)));
    allowed.extend(EXECUTABLE.map(|folder| (Path::new(folder), AccessFs::Execute.into())));
    if is_script(program) {
        allowed.extend(SHELLS.map(|folder| (Path::new(folder), AccessFs::Execute.into())));
    }
    let real = program.canonicalize().ok();
    allowed.extend(real.as_deref().map(|program| (program, READ | AccessFs::Execute)));
    restrict(&allowed)
}

/// Returns the folders in which a program looks for its data and its libraries: those of the system, and
/// those next to the program's own.
fn folders_of(program: &Path) -> Vec<PathBuf> {
    const SYSTEM: [&str; 9] = [
        "/usr", "/lib", "/lib32", "/lib64", "/bin", "/opt", "/etc/ld.so.cache", "/nix/store",
        "/gnu/store",
    ];
    const OWN: [&str; 4] = ["lib", "lib64", "share", "Cellar"];
    let mut folders: Vec<PathBuf> = SYSTEM.map(PathBuf::from).to_vec();
    let real = program.canonicalize().ok();
    for program in [Some(program), real.as_deref()].into_iter().flatten() {
        folders.push(program.to_owned());
        if let Some(prefix) = program.parent().and_then(Path::parent) {
            folders.extend(OWN.map(|name| prefix.join(name)));
        }
    }
    for name in ["TESSDATA_PREFIX", "LD_LIBRARY_PATH"] {
        #[expect(clippy::disallowed_methods, reason = "where Tesseract and its libraries look")]
        let value = std::env::var_os(name).unwrap_or_default();
        folders.extend(std::env::split_paths(&value).filter(|folder| folder.is_absolute()));
    }
    folders
}

/// Whether a program is started by another one, which its first line names.
fn is_script(program: &Path) -> bool {
    let mut head = [0; 2];
    let program = open(program, Links::Follow);
    program.is_ok_and(|mut file| file.read_exact(&mut head).is_ok()) && head == *b"#!"
}

fn restrict(allowed: &[(&Path, BitFlags<AccessFs>)]) -> Option<u32> {
    let restrict = || -> Result<_, RulesetError> {
        let mut ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(VERSION))?
            .handle_access(AccessNet::from_all(VERSION))?
            .scope(Scope::from_all(VERSION))?
            .create()?;
        for (path, access) in allowed {
            // A path that does not exist needs no rule.
            if let Ok(file) = PathFd::new(path) {
                ruleset = ruleset.add_rule(PathBeneath::new(file, *access))?;
            }
        }
        ruleset.restrict_self()
    };
    let status = restrict().ok().filter(|status| status.ruleset != RulesetStatus::NotEnforced)?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u32),
        _ => None,
    }
}
