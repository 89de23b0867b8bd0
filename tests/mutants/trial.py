"""Runs tests with mutants switched on."""

import contextlib
import dataclasses
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

FAILURE = re.compile(r"test (\S+)(?: - should panic)? \.\.\. FAILED")
# Bounds relative to a run without a mutant, in seconds. The one on processor time finds mutants that loop; the one on
# time, only those that wait for ever.
CPU, WAIT, LONGEST = (4, 20), (10, 120), 3 * 3600
FEW = 30
# A mutant that allocates for ever, and one that writes for ever, in bytes.
MEMORY, FILE = 6 << 30, 8 << 30
# More tests that fail without a mutant mean that something else is wrong. A few do not run in a copy.
MAX_UNUSED = 30


@dataclasses.dataclass
class Outcome:
    """The result of a run of tests. `has_ended`: it was complete, whatever failed. Times are in seconds."""

    failed: set
    has_ended: bool
    cpu: float
    wall: float

    def is_good(self):
        return self.has_ended and not self.failed


class Program:
    """Programs of tests of the build, and the list of those that pass without a mutant. Their names begin with that of
    the program."""

    def __init__(self, kind, paths, build):
        self.kind, self.paths, self.build = kind, paths, build
        self.bounds, self.whole, self.names = {}, None, []
        for name, path in paths.items():
            listed = subprocess.run([path, "--list", "--format=terse"], cwd=build.copy, stdout=subprocess.PIPE, text=True)
            self.names += [f"{name}::{line.removesuffix(': test')}" for line in listed.stdout.splitlines()
                           if line.endswith(": test")]

    def measure(self):
        """Runs all tests without a mutant, once, to know how long they take; those that fail are not used any more."""
        if self.whole:
            return
        outcome = self.run([], self.names)
        for name in sorted(outcome.failed):
            print(f"not used, because it fails without a mutant: {self.kind} {name}", flush=True)
        if not outcome.has_ended or len(outcome.failed) > MAX_UNUSED:
            sys.exit("tests/mutants: the tests fail without a mutant")
        self.whole = outcome
        self.names = [name for name in self.names if name not in outcome.failed]
        print(f"{self.kind}: {len(self.names):,} tests, {outcome.cpu:.0f} s of processor time", flush=True)

    def bound(self, names):
        """Returns how long some tests take without a mutant."""
        if self.kind == "integration":
            return self.whole
        if names not in self.bounds:
            self.bounds[names] = self.whole if len(names) == len(self.names) else self.run([], names)
        return self.bounds[names]

    def below(self, module):
        """Returns the tests of a module and of those in it."""
        return [name for name in self.names if name.startswith(f"{module}::")]

    def kills(self, site, names):
        """Whether one of some tests fails with a mutant, twice, so that a chance failure does not count."""
        bound = self.bound(names)
        outcome = self.run([site.number], names, bound, stops_early=True)
        return not outcome.is_good() and (
            not outcome.failed or not self.run([site.number], sorted(outcome.failed), bound).is_good())

    def survivors(self, sites, names):
        """Returns the mutants that survive some tests. All are switched on together; what then fails decides."""
        if not sites or not names:
            return sites
        bound = self.bound(names)
        outcome = self.run([site.number for site in sites], names, bound)
        if outcome.is_good():
            return sites
        if outcome.has_ended:
            return self.survivors_of(sites, names, tuple(sorted(outcome.failed)))
        half = len(sites) // 2
        if not half:
            return []
        return self.survivors(sites[:half], names) + self.survivors(sites[half:], names)

    def survivors_of(self, sites, names, failed):
        """Tries each mutant with the tests that failed, but first with few of them: one mutant may fail them all."""
        few = failed[::len(failed) // FEW + 1]
        left = [site for site in sites if not self.kills(site, few)]
        if few == failed:
            return left
        if len(left) < len(sites):
            return self.survivors(left, names)
        return [site for site in left if not self.kills(site, failed)]

    def run(self, numbers, names, bound=None, stops_early=False):
        """Runs tests while mutants are switched on. `bound` is a run of them without a mutant."""
        outcome = Outcome(set(), True, 0, 0)
        for program, path in self.paths.items():
            chosen = [name.removeprefix(f"{program}::") for name in names if name.startswith(f"{program}::")]
            if chosen:
                one = self.run_one(path, numbers, chosen, bound, stops_early)
                outcome = Outcome(outcome.failed | {f"{program}::{name}" for name in one.failed},
                                  outcome.has_ended and one.has_ended, outcome.cpu + one.cpu, outcome.wall + one.wall)
            if not outcome.has_ended or stops_early and outcome.failed:
                break
        return outcome

    def run_one(self, path, numbers, names, bound, stops_early):
        """Does so with one program."""
        (self.build.place / "active").write_text(" ".join(map(str, numbers)))
        # Not below the checkout: some tests need a folder outside any repository. Some write its name into Markdown.
        temporary = pathlib.Path(tempfile.gettempdir(), f"kb-mutants-{os.getpid()}")
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(mode=0o755)
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)

        def limit():
            if bound:
                seconds = int(CPU[0] * bound.cpu + CPU[1])
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        environment = os.environ | {"INSTA_WORKSPACE_ROOT": str(self.build.copy), "INSTA_UPDATE": "no",
                                    "TMPDIR": str(temporary), "RUST_BACKTRACE": "0"}
        process = subprocess.Popen([path, "--exact", *names], cwd=self.build.copy,
                                   env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, errors="replace", preexec_fn=limit,
                                   start_new_session=True)
        end = lambda: os.killpg(process.pid, signal.SIGKILL)
        timer = threading.Timer(WAIT[0] * bound.wall + WAIT[1] if bound else LONGEST, end)
        timer.start()
        failed = set()
        try:
            for line in process.stdout:
                if found := FAILURE.match(line):
                    failed.add(found[1])
                    if stops_early:
                        end()
                        break
            status = process.wait()
        finally:
            timer.cancel()
            # Ends the processes that the tests have left behind.
            with contextlib.suppress(ProcessLookupError):
                end()
        (self.build.place / "active").unlink(missing_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Outcome(failed, status in (0, 101), cpu, time.monotonic() - start)
