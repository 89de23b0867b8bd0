//! Lets the kernel refuse files, sockets and signals to this process (Landlock).

use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope,
};

use super::program::ProgramFiles;

/// The newest version of Landlock that the crate knows. On an older kernel, less is refused.
const VERSION: ABI = ABI::V10;

/// The access that is allowed to the files and folders of a program.
const READ: BitFlags<AccessFs> = landlock::make_bitflags!(AccessFs::{ReadFile | ReadDir});

/// Refuses every file. Returns the version of Landlock that is in force.
pub(super) fn refuse_all() -> Option<u32> {
    restrict(&[])
}

/// Allows the files of a program to be read, and itself and its loader to be started.
pub(super) fn allow_program(program: &Path) -> Option<u32> {
    let ProgramFiles { started, read } = ProgramFiles::of(program);
    let started = started.iter().map(|path| (path.as_path(), READ | AccessFs::Execute));
    let read = read.iter().map(|path| (path.as_path(), READ));
    restrict(&started.chain(read).collect::<Vec<_>>())
}

fn restrict(allowed: &[(&Path, BitFlags<AccessFs>)]) -> Option<u32> {
    let status = enforce(allowed).ok()?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return None;
    }
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u32),
        _ => None,
    }
}

fn enforce(allowed: &[(&Path, BitFlags<AccessFs>)]) -> Result<RestrictionStatus, RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))?
        .handle_access(AccessNet::from_all(VERSION))?
        .scope(Scope::from_all(VERSION))?
        .create()?;
    for (path, access) in allowed {
        // A path that does not exist needs no rule. One that is a link allows what it leads to.
        if let Ok(file) = PathFd::new(path) {
            ruleset = ruleset.add_rule(PathBeneath::new(file, *access))?;
        }
    }
    ruleset.restrict_self()
}
