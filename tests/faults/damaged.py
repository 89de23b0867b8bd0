"""Runs kb on damaged databases: it ends, with the right status, and finds what SQLite finds."""

import contextlib
import json
import pathlib
import shutil
import sqlite3
import subprocess

import world as examined
from world import text, write

# A run that takes longer hangs, even on a busy machine.
PATIENCE = 120
# The exceptions of reading the content of a damaged database.
UNREADABLE = (sqlite3.Error, ValueError, TypeError, OverflowError)

# The commands to run on each damaged database; each starts from the same bytes.
COMMANDS = {
    "list": ["list"],
    "search": ["search", "harbour salt"],
    "search --fts-only": ["search", "river", "--fts-only", "--explain"],
    "info": ["info", "2", "--format", "json"],
    "show": ["show", "--chunk", "3", "--around", "1"],
    "grep": ["grep", "."],
    "similar": ["similar", "1"],
    "tags": ["tags"],
    "export": ["export", "--vectors"],
    "tag": ["tag", "2", "--add", "y"],
    "remove": ["remove", "3", "--yes"],
    "add": ["add", "more"],
}


def database(world, data_dir):
    """Makes a database with something in every table: tags, code, letters without spaces, free pages."""
    folder = world.folder("damaged", 12, "damaged")
    write(folder / "code.py", "def harbour(salt):\n    return salt + 1\n")
    write(folder / "east.md", "# 潮位\n\n港の潮位を記録する。\n\n" + text("east"))
    world.folder("more", 2, "more")
    world.ok(data_dir, "add", folder, "--tags", "first,second")
    world.ok(data_dir, "add", "--note", "a note about the tide", "--title", "Note")
    world.ok(data_dir, "remove", "5", "--yes")


class Case:
    """A data directory with damaged files, which can be restored."""

    def __init__(self, world, place, files):
        self.world, self.db, self.files = world, place / "db", files
        self.scratch = place / "look"

    def restore(self):
        shutil.rmtree(self.db, ignore_errors=True)
        self.db.mkdir(parents=True, mode=0o700)
        for name, data in self.files.items():
            (self.db / name).write_bytes(data)
            (self.db / name).chmod(0o600)

    def run(self, args):
        """Returns status, stdout, stderr and problems of any run: no crash, no hang, a status that kb defines."""
        child = self.world.start(self.db, *args)
        try:
            out, err = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return None, "", "", [("hung", f"{args[0]}: no end after {PATIENCE} s")]
        out, err = out.decode(errors="replace"), err.decode(errors="replace")
        problems = []
        if child.returncode not in (0, 1, 2) or "panicked" in err:
            problems.append(("crashed", f"{args[0]}: status {child.returncode}: {err.strip()[-300:]}"))
        return child.returncode, out, err, problems

    def look(self):
        """Returns what plain SQLite finds wrong in a copy, and what it can read."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        shutil.copytree(self.db, self.scratch)
        # An error that quotes a damaged name is not UTF-8.
        with contextlib.suppress(sqlite3.Error, UnicodeDecodeError), contextlib.closing(sqlite3.connect(self.scratch / "kb.db")) as db:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        try:
            return examined.faults(self.scratch), examined.content(self.scratch)
        except UNREADABLE as error:
            return [f"SQLite: {error}"], None

    def try_commands(self):
        problems = []
        for args in COMMANDS.values():
            self.restore()
            problems += self.run(args)[3]
        return problems

    def try_doctor(self, is_intact, intact=None):
        """Compares what SQLite finds with what `kb doctor` reports. `is_intact` judges the content if neither
        finds anything; `intact` is the content before the damage."""
        self.restore()
        found, content = self.look()
        status, out, err, problems = self.run(["doctor", "--format", "json"])
        try:
            checks = json.loads(out)["checks"] if out else []
        except ValueError:
            return problems + [("wrong", f"doctor printed no JSON: {out[-300:]}")]
        named = [check["message"] for check in checks if check["verdict"] == "fault" and check["name"] == "database"]
        is_seen = bool(named)
        if is_seen != (status in (1, 2)):
            problems.append(("wrong", f"doctor ends in {status} and names {named}: {err.strip()[-300:]}"))
        if found and not is_seen:
            problems.append(("wrong", f"doctor sees nothing, status {status}; SQLite: {found[:2]}"))
        if not found and not is_seen:
            problems += [("wrong", f"neither doctor nor SQLite sees: {fault}") for fault in is_intact(content)]
        return problems + self.try_backup(is_seen, intact)

    def try_backup(self, is_damaged, intact):
        """A backup of a damaged database is refused, and no file gets its name. Damage outside the content, as in
        the free space of a page, is not copied: a copy that is sound and has all of `intact`, the content
        before the damage, is a backup."""
        self.restore()
        target = self.db / "copy.db"
        status, out, err, problems = self.run(["backup", target])
        if is_damaged and status == 0 and intact and self.is_sound(target, intact):
            return problems
        if is_damaged and status == 0:
            problems.append(("wrong", "a backup of a damaged database ended in status 0"))
        if is_damaged and target.exists():
            problems.append(("wrong", "a backup of a damaged database got its name"))
        return problems

    def is_sound(self, backup, intact):
        """Whether a backup is sound and has this content."""
        if self.run(["backup", "--verify", backup])[0] != 0:
            return False
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        shutil.copy(backup, self.scratch / "kb.db")
        try:
            return not examined.faults(self.scratch) and examined.content(self.scratch) == intact
        except UNREADABLE:
            return False


def read_files(data_dir):
    """Returns the bytes of a database and its log."""
    files = {}
    for name in ("kb.db", "kb.db-wal"):
        path = pathlib.Path(data_dir) / name
        if path.exists():
            files[name] = path.read_bytes()
    return files
