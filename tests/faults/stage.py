"""Runs one command repeatedly from the same state, and examines what each run left.

A stage is a folder with a home and a data directory, always at the same path, because databases and
indexes hold absolute paths. Each worker has a separate one.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import time

import world
from world import DRAFT, World

# A run that takes longer hangs, even on a busy machine.
PATIENCE = 120
# The time that a command which never ends by itself has for its work; its first look at the folders takes less.
ENDLESS = 4
# `kb doctor` also checks the model, which takes longer than everything else here.
DOCTOR_EVERY = 10


def handles(child, number):
    """Whether a process has a handler for a signal."""
    with contextlib.suppress(OSError):
        for line in pathlib.Path(f"/proc/{child.pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False


def end_when_done(child, is_done, patience):
    """Sends SIGTERM to a command once it has done its work, or after `patience` seconds."""
    while child.poll() is None and not handles(child, signal.SIGTERM):
        time.sleep(0.01)
    end = time.monotonic() + patience
    while child.poll() is None and time.monotonic() < end and not is_done():
        time.sleep(0.1)
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGTERM)


class Stage:
    """A command, the state before it, and the state an undisturbed run leaves."""

    def __init__(self, kb, place, command):
        self.place = pathlib.Path(place) / "stage"
        self.saved = pathlib.Path(place) / "before"
        self.examined = pathlib.Path(place) / "examined"
        self.world = World(kb, self.place)
        self.home, self.db = self.world.home, self.place / "db"
        self.command = command
        self.asked = 0
        command.prepare(self)
        self.args, self.after = command.args(self), None
        self.before = command.state(self)
        self.faults_before = set(self.faults())
        shutil.copytree(self.place, self.saved, symlinks=True)
        status, out, err = self.run()
        assert status == command.status, f"{command.name}: status {status}: {out}{err}"
        self.after = command.state(self)
        assert command.changes == (self.before != self.after), f"{command.name} did nothing"
        assert command.is_right(self.after), f"{command.name}: the undisturbed run leaves something wrong"
        self.names_after = self.names()

    def restore(self):
        """Restores the state before the command."""
        shutil.rmtree(self.place)
        shutil.copytree(self.saved, self.place, symlinks=True)

    def run(self, args=None, env=None):
        """Returns status (negative for a signal, `None` for a hang), stdout and stderr."""
        child = self.world.start(self.db, *(args or self.args), env={**self.world.env, **(env or {})})
        if self.command.is_endless and args in (None, self.args):
            end_when_done(child, lambda: self.command.is_done(self), ENDLESS if self.after else PATIENCE / 2)
        try:
            out, err = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            return None, out.decode(errors="replace"), err.decode(errors="replace")
        return child.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def names(self):
        """Returns the names of all files, folders and links of the stage."""
        found = set()
        for folder, folders, files in os.walk(self.place):
            found.update(os.path.join(folder, name) for name in folders + files)
        return found

    def copy(self, path):
        """Copies a database with its log, so that looking at it changes nothing."""
        target = self.examined / "db"
        try:
            shutil.rmtree(self.examined, ignore_errors=True)
            target.mkdir(parents=True)
            for end in ("", "-wal", "-journal"):
                source = pathlib.Path(f"{path}{end}")
                if source.exists():
                    shutil.copyfile(source, target / f"kb.db{end}")
        except FileNotFoundError:
            # A command that works merged the log into the database, of which the copy is from before.
            return self.copy(path)
        # Merges the log or rolls it back, which a reader may not do; damage is found later.
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(target / "kb.db")) as db:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return target

    def content(self, path=None):
        """Returns the content of a database, or why SQLite cannot read it."""
        path = path or self.db / "kb.db"
        if not path.exists():
            return {}
        try:
            return world.content(self.copy(path))
        except sqlite3.Error as error:
            return {"": f"unreadable: {error}"}

    def faults(self, path=None):
        """Returns what plain SQLite finds wrong with a database."""
        path = path or self.db / "kb.db"
        if not path.exists():
            return []
        try:
            return world.faults(self.copy(path))
        except sqlite3.Error as error:
            return [f"SQLite: {error}"]

    def left(self):
        """Returns the names that no undisturbed run leaves."""
        return {name for name in self.names() - self.names_after if not self.command.may_stay(name)}

    def examine(self, status, out, err, is_killed=False):
        """Examines what a disturbed run left, repeats it, and returns problems as (kind, message)."""
        problems = []
        state = self.command.state(self)
        for key in self.before.keys() | self.after.keys() | state.keys():
            before, after, now = (states.get(key) for states in (self.before, self.after, state))
            if now in (before, after) or self.command.may_be(self, key, now):
                continue
            kind = "lost" if now is None else "half"
            problems.append((kind, f"{key} is neither as before nor as after"))
        faults = self.faults()
        problems += [("unsound", fault) for fault in faults if fault not in self.faults_before]
        problems += self.check_report(status, out, err, state, faults, is_killed)
        if not self.command.starts_damaged:
            problems += [("unsound", fault) for fault in self.ask_kb()]
        problems += self.repeat(state)
        return problems

    def check_report(self, status, out, err, state, faults, is_killed):
        """Compares what the run printed with what it left."""
        text = out + err
        if is_killed and status == -signal.SIGKILL:
            return []
        if status is None:
            return [("hung", f"no end after {PATIENCE} s")]
        if status not in (0, 1, 2, self.command.status) or "panicked" in text:
            return [("crashed", f"status {status}: {text.strip()[-300:]}")]
        problems = []
        if status == 0 and state != self.after and not self.command.is_partial(text):
            problems.append(("wrong", f"status 0, but not done: {text.strip()[-300:]}"))
        # A file that cannot be read now is not necessarily damaged.
        is_sound = not (faults or self.command.status or self.command.starts_damaged)
        if is_sound and "corrupt" in text:
            problems.append(("wrong", f"a sound database is called corrupt: {text.strip()[-300:]}"))
        if self.command.status != 0 and status == 0:
            problems.append(("wrong", f"a damaged file is called sound: {text.strip()[-300:]}"))
        return problems

    def ask_kb(self):
        """Asks kb about the database: a copy each time, and now and then the database itself."""
        if not (self.db / "kb.db").exists():
            return []
        self.asked += 1
        if self.asked % DOCTOR_EVERY == 0:
            return [f"doctor: {fault}" for fault in world.doctor(self.world, self.db)]
        copy = self.copy(self.db / "kb.db") / "kb.db"
        status, out, err = self.world.run(self.examined / "scratch", "backup", "--verify", copy)
        # A database that was cut off before its first table is not yet kb's.
        return [] if status in (0, 1) else [f"kb backup --verify: {(out + err).strip()[-300:]}"]

    def repeat(self, state):
        """Runs the command to its end; the outcome must be that of an undisturbed run."""
        args = self.command.again(self, state)
        problems = []
        if args is not None:
            status, out, err = self.run(args)
            if status != self.command.status:
                problems.append(("unrepaired", f"repeated: status {status}: {(out + err).strip()[-300:]}"))
        now = self.command.state(self)
        if now != self.after:
            changed = [key for key in now.keys() | self.after.keys() if now.get(key) != self.after.get(key)]
            problems.append(("unrepaired", f"repeated, and not as in an undisturbed run: {changed[:3]}"))
        problems += [("unrepaired", fault) for fault in self.faults() + self.ask_kb()]
        left = self.left()
        if any(DRAFT in name for name in left) and self.command.write_more(self):
            # Drafts are removed when something is written next to them again.
            left = {name for name in self.left() if DRAFT in name}
        if left and args is not None:
            names = sorted(os.path.relpath(name, self.place) for name in left)
            problems.append(("litter", f"left behind: {names[:4]}"))
        return problems
