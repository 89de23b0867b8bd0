//! Makes programs that replace Tesseract. They are compiled, because a script cannot run in its sandbox.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::env::TestEnv;

/// Compiles a program of C.
#[track_caller]
pub(crate) fn compile(source: &Path, program: &Path) {
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let built = Command::new("cc").args(["-pthread", "-o"]).arg(program).arg(source).output();
    let built = built.unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

/// Writes a program that runs these statements of C, and then ends with status 0.
#[track_caller]
pub(crate) fn write_program(env: &TestEnv, path: &str, statements: &str) -> PathBuf {
    let source = format!(
        "#include <fcntl.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
         int main(int argc, char **argv) {{\n{statements}\nreturn 0;\n}}\n"
    );
    let source = env.write("program.c", source);
    let program = env.path(path);
    compile(&source, &program);
    fs::remove_file(source).unwrap();
    program
}

/// Writes `bin/tesseract`, which is on the `PATH`.
#[track_caller]
pub(crate) fn write_tesseract(env: &TestEnv, statements: &str) -> PathBuf {
    write_program(env, "bin/tesseract", statements)
}

/// Returns a statement that answers as Tesseract does when it reads these words in one line.
pub(crate) fn prints_words(words: &str) -> String {
    let mut rows = String::new();
    for (at, word) in words.split(' ').enumerate() {
        let left = 100 + 150 * at;
        rows += &format!("5\\t1\\t1\\t1\\t1\\t{at}\\t{left}\\t100\\t120\\t20\\t96\\t{word}\\n");
    }
    format!("fputs(\"{rows}\", stdout);")
}

/// Returns the ids of the processes that run a program, which can leave no other trace.
pub(crate) fn processes_of(program: &Path) -> Vec<u32> {
    let runs = |id: &u32| {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).next() == Some(program.as_os_str().as_encoded_bytes())
    };
    let entries = fs::read_dir("/proc").unwrap();
    let ids = entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    ids.filter(runs).collect()
}
