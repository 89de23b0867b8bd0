"""Builds one program that contains all mutants of a sample, each behind a switch."""

import json
import os
import re
import subprocess
import sys

# The switch is a file, not a variable: tests clear the environment of the programs that they start, and kb that of the
# processes that read documents. Those may not open files later, so `main` reads it first. It also bounds the processor
# time of a program that a test starts, which may loop; a test program itself needs more.
MODULE = """//! Tells which mutants are switched on.
use std::sync::LazyLock;
static ACTIVE: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../active")).unwrap_or_default();
    text.split_whitespace().filter_map(|number| number.parse().ok()).collect()
});
/// Whether a mutant is switched on.
pub fn is(number: u32) -> bool {
    ACTIVE.contains(&number)
}
/// Prepares a program that a test has started.
pub fn start() {
    LazyLock::force(&ACTIVE);
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Cpu);
    limit.current = Some(limit.current.map_or(90, |seconds| seconds.min(90)));
    rustix::process::setrlimit(rustix::process::Resource::Cpu, limit).unwrap();
}
"""
HOME = "crates/base/src"
DECLARATION, IMPORT = b"\n#[doc(hidden)]\npub mod mutant;\n", b"\nuse kb_base::mutant;\n"
LIBRARY = re.compile(r"(crates/\w+/)?src/lib\.rs")
MAIN = b"fn main() -> ExitCode {"


class Rewriter:
    """Writes the source of one file with its switches, and remembers where each one is."""

    def __init__(self, source, sites):
        self.source, self.pieces, self.size, self.ranges = source, [], 0, []
        # An outer expression comes before those in it.
        self.span(0, len(source), sorted(sites, key=lambda site: (site.start, -site.end, site.number)))
        self.text = b"".join(self.pieces)

    def write(self, text):
        self.pieces.append(text)
        self.size += len(text)

    def span(self, start, end, sites):
        while sites:
            site, sites = sites[0], sites[1:]
            inner = [other for other in sites if other.end <= site.end]
            sites = sites[len(inner):]
            self.write(self.source[start:site.start])
            self.switch(site, inner)
            start = site.end
        self.write(self.source[start:end])

    def switch(self, site, inner):
        begin = self.size
        is_statement = site.code is None
        head = f"if !crate::mutant::is({site.number}) {{ " if is_statement else (
            f"(if crate::mutant::is({site.number}) {{ {site.code} }} else {{ ")
        self.write(head.encode())
        self.span(site.start, site.end, inner)
        self.write(b" }" if is_statement else b" })")
        self.ranges.append((begin, self.size, site))

    def blamed(self, start, end):
        """Returns the mutant whose switch is the smallest around a place."""
        around = [(right - left, site.number) for left, right, site in self.ranges if left < end and start < right]
        return min(around)[1] if around else None


class Build:
    """A copy of the checkout with switches, and the programs that are made of it."""

    def __init__(self, root, place):
        self.root, self.place, self.copy = root, place, place / "src"
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                                stdout=subprocess.PIPE, check=True).stdout.split(b"\0")
        names = [name for name in map(os.fsdecode, listed) if name and (root / name).is_file() and not (root / name).is_symlink()]
        # Read once: the checkout may be edited while this runs.
        self.sources = {name: (root / name).read_bytes() for name in names}
        self.modes = {name: (root / name).stat().st_mode for name in names}

    def write(self, sites):
        """Updates the copy. Files that stay the same are not touched, so that they are not compiled again."""
        of_file = {}
        for site in sites:
            of_file.setdefault(site.file, []).append(site)
        self.rewriters = {name: Rewriter(self.sources[name], found) for name, found in of_file.items()}
        texts = self.sources | {name: rewriter.text for name, rewriter in self.rewriters.items()}
        for name in [name for name in texts if LIBRARY.fullmatch(name)]:
            texts[name] += DECLARATION if name == f"{HOME}/lib.rs" else IMPORT
        texts[f"{HOME}/mutant.rs"] = MODULE.encode()
        assert MAIN in texts["src/main.rs"]
        texts["src/main.rs"] = texts["src/main.rs"].replace(MAIN, MAIN + b" kb_base::mutant::start();")
        for path in self.copy.rglob("*"):
            if not path.is_dir() and str(path.relative_to(self.copy)) not in texts:
                path.unlink()
        for name, text in texts.items():
            path = self.copy / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_bytes() != text:
                path.write_bytes(text)
                path.chmod(self.modes.get(name, 0o644))
        # The folders that tests/mcp/setup and tests/postgres/setup install.
        (self.copy / "target").mkdir(exist_ok=True)
        for link in (self.copy / "target/mcp-clients", self.copy / "target/postgres"):
            if not link.is_symlink():
                link.symlink_to(self.root / "target" / link.name)

    def compile(self):
        """Compiles the copy. Returns the messages of cargo, and whether it succeeded."""
        # Always the same parts: the features of libraries depend on them.
        command = ["cargo", "test", "--workspace", "--locked", "--no-run", "--lib", "--bins", "--test", "integration", "--quiet",
                   "--message-format=json"]
        environment = os.environ | {"CARGO_TARGET_DIR": str(self.place / "build")}
        with (self.place / "build.log").open("w") as log:
            done = subprocess.run(command, cwd=self.copy, env=environment, stdout=subprocess.PIPE, stderr=log)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")], done.returncode == 0

    def broken(self, messages):
        """Returns the numbers of the mutants in which the compiler finds errors."""
        found = set()
        errors = [message["message"] for message in messages if message["reason"] == "compiler-message"
                  and message["message"]["level"] == "error"]
        for error in errors:
            for span in error["spans"]:
                rewriter = self.rewriters.get(span["file_name"])
                number = rewriter and rewriter.blamed(span["byte_start"], max(span["byte_end"], span["byte_start"] + 1))
                if number:
                    found.add(number)
        if not found:
            text = "".join(error["rendered"] for error in errors) or (self.place / "build.log").read_text()
            sys.exit(f"tests/mutants: no mutant explains these errors:\n{text}")
        return found

    def make(self, order, count):
        """Builds a program with the first `count` mutants of an order that compile; returns them and the paths of the
        programs of unit tests, by crate, and of integration tests."""
        order, broken = list(order), set()
        while True:
            chosen = [site for site in order if site.number not in broken][:count]
            self.write(chosen)
            messages, is_built = self.compile()
            if is_built:
                break
            found = self.broken(messages)
            broken |= found
            print(f"{len(found)} mutants do not compile and are replaced", flush=True)
        programs = [message for message in messages if message.get("executable") and message["profile"]["test"]]
        of = lambda kind: {message["target"]["name"]: message["executable"] for message in programs
                           if message["target"]["kind"] == [kind]}
        return chosen, of("lib"), of("test")
