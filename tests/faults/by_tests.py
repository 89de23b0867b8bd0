"""Runs the end-to-end tests in Rust for the classes that they cover, and counts their cases."""

import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).parents[2]

# Class, module of tests/integration, and how its tests report a number of inputs, if they do.
CLASSES = [
    ("changed cache: refused, found before it is loaded, repaired", "poisoned::", None),
    ("code and libraries in the working directory", "trust::", None),
    ("hostile import lines", "hostile_import::", r"hostile import: (\d+) lines"),
    ("links that replace added files", "links::", None),
    ("ignore files that are pipes, devices, endless, another user's", "ignore_files::", None),
    ("terminal injection, in a pipe and on a pty", "printed::", r"terminal injection: (\d+) runs"),
    ("unbounded numbers, lines, files and settings", "limits::", None),
    ("removed text searched for in the files", "erase::", None),
    ("hostile documents", "attackers::", None),
    ("TLS with forged certificates", "postgres_hostile::certificates_are_checked_as_sslmode_says", None),
]


def test_program():
    """Builds the end-to-end tests and returns the program; `None` without cargo."""
    command = ["cargo", "test", "--locked", "--quiet", "--test", "integration", "--no-run",
               "--message-format=json"]
    try:
        built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    except FileNotFoundError:
        return None
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith(b"{")]
    programs = [message["executable"] for message in messages if message.get("executable")
                and message.get("target", {}).get("name") == "integration"]
    return programs[-1] if programs else None


def classes(results):
    """Adds a row for each class."""
    program = test_program()
    for name, module, counted in CLASSES:
        result = results.of(name)
        if program is None:
            result.skip("it needs cargo", "cargo")
            continue
        ran = subprocess.run([program, module, "--nocapture", "--test-threads=1"], cwd=ROOT,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = ran.stdout.decode(errors="replace")
        passed, failed = map(int, re.search(r"(\d+) passed; (\d+) failed", text).groups())
        inputs = [int(number) for number in re.findall(counted, text)] if counted else []
        result.count(sum(inputs) or passed + failed)
        result.note = f"{passed + failed} tests"
        if passed + failed == 0:
            result.fail(module, "broken", "there are no such tests")
        for test in re.findall(r"^    (\S+::\S+)$", text, re.MULTILINE):
            result.fail(test, "wrong", "the test fails")
