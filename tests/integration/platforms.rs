//! Checks that names which only exist on Unix are only in code that is compiled on Unix.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sources::{files, place};

/// The modules and crates that other systems lack.
const UNIX_ONLY: [&str; 3] = ["std::os::unix", "rustix::", "libc::"];

/// The attributes that leave an item out on other systems.
const GUARDS: [&str; 7] = [
    "#[cfg(unix)]",
    "#[cfg(all(unix",
    "#[cfg(all(test, unix))]",
    "#[cfg(target_os = \"linux\")]",
    "#[cfg(all( target_os = \"linux\",",
    "#[cfg(all(debug_assertions, target_os = \"linux\"))]",
    "#[cfg(any(target_os = \"linux\", target_os = \"android\", target_vendor = \"apple\"))]",
];

/// Returns a source with each attribute on one line, followed by as many empty lines as it had more.
fn with_short_attributes(text: &str) -> String {
    let (mut short, mut rest) = (String::new(), text.lines());
    while let Some(line) = rest.next() {
        let (mut line, mut num_more) = (line.to_owned(), 0);
        while line.trim_start().starts_with("#[") && !line.ends_with(']') {
            let Some(next) = rest.next() else { break };
            line = format!("{line} {}", next.trim());
            num_more += 1;
        }
        short += &format!("{line}\n{}", "\n".repeat(num_more));
    }
    short
}

/// Returns the lines of a source that name something of Unix outside of an item that is compiled on Unix only.
fn unguarded(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // The depth of braces, and that at which the guarded item began.
    let (mut depth, mut guarded_at, mut is_next_guarded) = (0_usize, None, false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.starts_with("//") || line.is_empty() {
            continue;
        }
        if line.starts_with("#[") || line.starts_with("#![") {
            is_next_guarded |= GUARDS.iter().any(|guard| line.contains(guard));
            continue;
        }
        if is_next_guarded && guarded_at.is_none() {
            guarded_at = Some(depth);
        }
        is_next_guarded = false;
        if guarded_at.is_none() && UNIX_ONLY.iter().any(|name| line.contains(name)) {
            found.push(number);
        }
        let count = |brace: char| line.matches(brace).count();
        depth = (depth + count('{')).saturating_sub(count('}'));
        let is_complete = line.ends_with([';', ',', '}']) || line.ends_with("};");
        if guarded_at.is_some_and(|at| depth <= at) && is_complete {
            guarded_at = None;
        }
    }
    found
}

/// Returns the files of modules that a source declares for Unix only.
fn unix_only(source: &Path, text: &str) -> Vec<PathBuf> {
    let folder = match source.file_stem().unwrap().to_str().unwrap() {
        "mod" | "lib" | "main" => source.parent().unwrap().to_owned(),
        _ => source.with_extension(""),
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let pairs = lines.windows(2).filter(|pair| GUARDS.iter().any(|guard| pair[0].contains(guard)));
    let names = pairs.filter_map(|pair| {
        let name = pair[1].strip_suffix(';')?.rsplit_once("mod ")?.1;
        Some(folder.join(format!("{name}.rs")))
    });
    names.collect()
}

/// Returns the files of these tests, other than this one, which names what it looks for.
fn integration_tests() -> Vec<PathBuf> {
    let this = Path::new(env!("CARGO_MANIFEST_DIR")).join(file!());
    let entries = fs::read_dir(this.parent().unwrap()).unwrap();
    entries.map(|entry| entry.unwrap().path()).filter(|path| *path != this).collect()
}

#[test]
fn what_only_unix_has_is_compiled_on_unix_only() {
    let paths = files().into_iter().map(|(_, path)| path).chain(integration_tests());
    let texts: Vec<(PathBuf, String)> = paths
        .map(|path| (path.clone(), with_short_attributes(&fs::read_to_string(path).unwrap())))
        .collect();
    let left_out: Vec<PathBuf> =
        texts.iter().flat_map(|(path, text)| unix_only(path, text)).collect();
    for name in ["base/files/open/unix.rs", "base/files/open/tests.rs"] {
        assert!(left_out.contains(&place(name)), "{name}: {left_out:?}");
    }
    let mut broken = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| !left_out.contains(path)) {
        let lines = unguarded(text);
        broken.extend(lines.iter().map(|line| format!("{}:{line}", path.display())));
    }
    assert!(broken.is_empty(), "not behind `cfg(unix)`:\n{}", broken.join("\n"));
}

#[test]
fn most_of_these_tests_also_run_on_windows() {
    let tests = integration_tests();
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/integration/main.rs");
    let text = with_short_attributes(&fs::read_to_string(&main).unwrap());
    let left_out: BTreeSet<PathBuf> = unix_only(&main, &text).into_iter().collect();
    let (mut on_unix, mut everywhere) = (0, 0);
    for path in &tests {
        let text = fs::read_to_string(path).unwrap();
        let all = text.matches("#[test]\n").count();
        let guarded = if left_out.contains(path) {
            all
        } else {
            text.matches("#[cfg(unix)]\n#[test]\n").count()
        };
        (on_unix, everywhere) = (on_unix + guarded, everywhere + all - guarded);
    }
    assert!(everywhere > 3 * on_unix, "{everywhere} everywhere, {on_unix} on Unix only");
}

#[test]
fn a_name_of_unix_without_a_guard_is_found() {
    for (code, expected) in [
        ("use std::os::unix::fs::symlink;\n", &[1][..]),
        ("#[cfg(unix)]\nuse rustix::fs::open;\nuse rustix::fs::stat;\n", &[3]),
        ("#[cfg(unix)]\nfn a() {\n    libc::b();\n}\nfn c() {\n    libc::b();\n}\n", &[6]),
        (
            "fn a() {\n    #[cfg(unix)]\n    let b = rustix::c(\n        rustix::D,\n    );\n}\n",
            &[],
        ),
        ("// std::os::unix is only named\n", &[]),
        ("#[cfg(all(\n    target_os = \"linux\",\n    x\n))]\nuse libc::b;\nuse libc::c;\n", &[6]),
    ] {
        assert_eq!(unguarded(&with_short_attributes(code)), expected, "{code}");
    }
}
