//! Runs single kinds of `tests/faults/run` whose result depends on the surroundings; `make test`
//! runs them all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::ordinary::copy_program;

#[test]
fn faults_that_run_as_another_user_pass_below_a_private_folder() {
    // As in a checkout below a container's `/root`, which no other user can enter.
    let private = tempfile::tempdir().unwrap();
    fs::set_permissions(private.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let program = private.path().join("kb");
    copy_program(&program);
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/run");
    let mut command = Command::new(run);
    let output = command.arg(&program).args(["--short", "--only", "unreadable"]).output().unwrap();
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("| unreadable files | 1 |"), "{text}");
}
