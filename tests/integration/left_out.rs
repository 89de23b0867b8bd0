//! Reports what a test leaves out because the machine lacks something, and records it for `tests/run`.

use std::fs::File;
use std::io::Write;

/// Things that tests may lack: a word, who may lack it, and a description.
const LIST: &str = include_str!("../left_out.txt");

/// The variable that names the file where `tests/run` finds what was left out.
const RECORD: &str = "KB_TEST_LEFT_OUT";

/// Prints what is left out of the running test, and why, bypassing the harness, which hides what passing tests
/// print. `needs` is a word of the list.
///
/// # Panics
///
/// For a word that is not on the list.
pub(crate) fn left_out(needs: &str, what: &str) {
    let mut lines = LIST.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let found = lines.find(|words| words.first() == Some(&needs));
    let found = found.unwrap_or_else(|| panic!("{needs}: not in tests/left_out.txt"));
    let reason = found[2..].join(" ");
    let line = format!("left out: {what}: {reason}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    #[expect(clippy::disallowed_methods, reason = "`tests/run` names the file")]
    let Some(record) = std::env::var_os(RECORD) else { return };
    // The harness names the thread of a test after the test.
    let thread = std::thread::current();
    let line = format!("{}\t{needs}\t{what}\n", thread.name().unwrap_or("?"));
    File::options()
        .create(true)
        .append(true)
        .open(record)
        .unwrap()
        .write_all(line.as_bytes())
        .unwrap();
}
