"""Counts cases and failures per class of faults, and makes a table of them."""

import collections
import os
import threading

# The kinds of failure, in the order of the table's columns.
KINDS = ["lost", "half", "unsound", "hung", "crashed", "wrong", "unrepaired", "litter", "broken"]


class Result:
    """The results of one class of faults."""

    def __init__(self, name):
        self.name, self.tried, self.note, self.skipped = name, 0, "", ""
        self.within = 0
        self.failures = []
        self.lock = threading.Lock()

    def count(self, number=1):
        with self.lock:
            self.tried += number

    def fail(self, case, kind, message):
        """Records a failure of a case; several failures of one case count as one failed case."""
        with self.lock:
            self.failures.append((str(case), kind, message))

    def add(self, case, lost, half, unrepaired):
        """Records what a case lost, left partial and could not repair."""
        for kind, messages in (("lost", lost), ("half", half), ("unrepaired", unrepaired)):
            for message in messages:
                self.fail(f"{case} #{self.tried}", kind, message)

    def skip(self, reason, needs):
        """Says why the class is not run, with the word of tests/left_out.txt for what it needs."""
        self.skipped = reason
        if record := os.environ.get("KB_TEST_LEFT_OUT"):
            with open(record, "a") as lines:
                lines.write(f"faults\t{needs}\t{self.name}\n")

    def row(self):
        if self.skipped:
            return f"| {self.name} | skipped: {self.skipped} | | |"
        notes = [self.note] if self.note else []
        if self.within:
            notes.append(f"{self.within} while it ran")
        name = self.name + "".join(f" ({note})" for note in notes)
        failed = len({case for case, _, _ in self.failures})
        return f"| {name} | {self.tried:,} | {max(0, self.tried - failed):,} | {self.what_failed()} |"

    def what_failed(self):
        cases = collections.defaultdict(set)
        for case, kind, _ in self.failures:
            cases[kind].add(case)
        return ", ".join(f"{len(cases[kind]):,} {kind}" for kind in KINDS if kind in cases)


class Results:
    HEAD = ["| class | tried | survived | failures |", "| --- | --: | --: | --- |"]

    def __init__(self):
        self.all = []

    def of(self, name):
        self.all.append(Result(name))
        return self.all[-1]

    def table(self):
        return self.HEAD + [result.row() for result in self.all]

    def failed(self):
        return [result for result in self.all if result.failures]
