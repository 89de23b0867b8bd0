"""Runs writers, readers, backups to one target, verifications and doctors concurrently.

The target is never unsound, no verification reports the wrong result, no doctor raises a false alarm, and
in the end the database has what a single writer would have made.
"""

import contextlib
import hashlib
import itertools
import json
import pathlib
import shutil
import sqlite3
import threading
import time

import world as examined
from world import text, write

# Refusals that are fine while others write: nothing is wrong then, and nothing was done.
LOCKED = "is locked by another process"


class Crowd:
    """Threads that each repeat a command, and what went wrong in any of them."""

    def __init__(self, world, results, wanted, seconds):
        self.world, self.db = world, world.work / "crowd-db"
        self.results, self.wanted = results, wanted
        self.end = time.monotonic() + seconds
        self.is_over = threading.Event()
        self.refused, self.no_limit = 0, float("inf")

    def is_done(self):
        """Whether every class has enough runs, or the time is up."""
        have_all = all(self.results[name].tried >= number for name, number in self.wanted.items())
        if have_all or time.monotonic() > self.end:
            self.is_over.set()
        return self.is_over.is_set()

    def repeat(self, name, commands, check):
        """Runs commands in turn; `check` gets the command, status and output and returns (kind, message)."""
        for args in itertools.cycle(commands):
            # A thread that has enough runs makes room for the others.
            if self.is_done() or self.results[name].tried >= self.wanted.get(name, self.no_limit):
                return
            status, out, err = self.world.run(self.db, *args)
            result = self.results[name]
            result.count()
            if status == 1 and LOCKED in err:
                self.refused += 1
                continue
            for kind, message in check(args, status, out, err):
                words = " ".join(map(str, args))
                result.fail(f"{words} #{result.tried}", kind, message)

    def watch(self, target, known):
        """Checks the target of all backups repeatedly; each check opens the file once."""
        result = self.results["looks"]
        while not self.is_done():
            with contextlib.suppress(FileNotFoundError):
                data = target.read_bytes()
                result.count()
                digest = hashlib.sha256(data).digest()
                if digest not in known:
                    known[digest] = unsound(self.world.work, data)
                if known[digest]:
                    result.fail(f"look #{result.tried}", "unsound", known[digest])
            time.sleep(0.005)


def unsound(work, data):
    """Returns what is wrong with the bytes of a backup; nothing if it is sound."""
    place = work / "looked-at"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "kb.db").write_bytes(data)
    try:
        if len(data) == 0:
            return "0 bytes"
        found = examined.faults(place)
        if not found and not examined.content(place):
            found = ["no documents in it"]
        return "; ".join(found)
    except sqlite3.Error as error:
        return f"{len(data)} bytes: {error}"


def must_succeed(_args, status, out, err):
    if status != 0:
        yield "wrong", f"status {status}: {(out + err).strip()[-300:]}"
    elif "error" in err:
        yield "wrong", err.strip()[-300:]


def must_be_found_damaged(_args, status, out, err):
    if status == 0:
        yield "wrong", "a damaged file is called sound"
    elif status != 2:
        yield "wrong", f"status {status}: {(out + err).strip()[-300:]}"


def must_be_well(_args, status, out, err):
    checks = json.loads(out)["checks"] if out else []
    alarms = [check["message"] for check in checks if check["verdict"] == "fault"]
    if status != 0 or alarms:
        yield "wrong", f"a false alarm: status {status}: {alarms or err.strip()[-300:]}"


def damaged_copies(world, good):
    """Makes copies of a backup that are damaged in different ways."""
    cut, flipped, loose = (world.home / name for name in ("cut.db", "flipped.db", "loose.db"))
    data = good.read_bytes()
    cut.write_bytes(data[: len(data) // 2])
    middle = len(data) // 3 // 4096 * 4096
    flipped.write_bytes(data[:middle] + bytes(4096) + data[middle + 4096 :])
    shutil.copyfile(good, loose)
    db = sqlite3.connect(loose, isolation_level=None)
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute("DELETE FROM documents WHERE id = 1")
    db.close()
    return [cut, flipped, loose]


def together(world, results, short):
    """Runs everything concurrently until there were enough runs."""
    wanted = {"verify": 60, "doctor": 15, "looks": 60} if short else {
        "verify": 2000, "doctor": 500, "looks": 2000}
    named = {
        "write": results.of("at once: add, update, tag, reindex of one database"),
        "read": results.of("at once: searches and lists"),
        "backup": results.of("at once: backups to one target"),
        "looks": results.of("at once: reads of that target"),
        "verify": results.of("at once: verifications of sound and of damaged files"),
        "doctor": results.of("at once: `kb doctor`"),
    }
    crowd = Crowd(world, named, wanted, 15 if short else 1200)
    size = 8 if short else 16
    folders = [world.folder(f"crowd{number}", size, f"crowd{number}") for number in range(3)]
    for folder in folders:
        world.ok(crowd.db, "add", folder)
    good, target = world.home / "good.db", world.home / "target.db"
    world.ok(crowd.db, "backup", good)
    damaged = damaged_copies(world, good)
    for copy in damaged:
        status, out, err = world.run(crowd.db, "backup", "--verify", copy)
        assert status == 2, f"{copy} is not damaged: {out}{err}"

    def verify(copies, check):
        return "verify", [["backup", "--verify", copy] for copy in copies], check

    backup = "backup", [["backup", target, "--force"]], must_succeed
    roles = [
        ("write", [["add", folders[0]], ["update"], ["tag", "2", "--add", "x"], ["tag", "2", "--remove", "x"]],
         must_succeed),
        ("write", [["update"], ["reindex"], ["add", folders[1]]], must_succeed),
        ("read", [["search", "harbour salt"], ["list"], ["search", "river", "--fts-only"]], must_succeed),
        backup, backup, backup,
        verify([good], must_succeed), verify([good], must_succeed),
        verify(damaged, must_be_found_damaged), verify(damaged[::-1], must_be_found_damaged),
        *[("doctor", [["doctor", "--format", "json"]], must_be_well)] * (2 if short else 5),
    ]
    threads = [threading.Thread(target=crowd.repeat, args=role) for role in roles]
    threads.append(threading.Thread(target=crowd.watch, args=(target, {})))
    threads.append(threading.Thread(target=change, args=(crowd, folders)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    named["write"].note = f"{crowd.refused} runs waited in vain for the lock" if crowd.refused else ""
    check_content(crowd, folders, named["write"])


def change(crowd, folders):
    """Rewrites files continuously."""
    for turn in itertools.count():
        for folder in folders[:2]:
            for number, file in enumerate(sorted(folder.rglob("*.md"))[::3]):
                if crowd.is_done():
                    return
                write(file, text(f"{folder.name}/{number}/{turn}"))
                time.sleep(0.05)


def check_content(crowd, folders, result):
    """Compares the final content with what a single writer makes of the files."""
    alone = crowd.world.work / "alone-db"
    for folder in folders:
        crowd.world.ok(crowd.db, "add", folder)
        crowd.world.ok(alone, "add", folder)
    crowd.world.ok(crowd.db, "tag", "2", "--remove", "x")
    found, expected = examined.content(crowd.db), examined.content(alone)
    if found != expected:
        paths = [path for path in found.keys() | expected.keys() if found.get(path) != expected.get(path)]
        result.fail("the end", "lost", f"not as one writer alone makes it: {paths[:3]}")
    for fault in examined.faults(crowd.db) + examined.doctor(crowd.world, crowd.db):
        result.fail("the end", "unsound", fault)
    # One copy is kept from before the last reindex.
    copies = sorted(pathlib.Path(crowd.db).glob("kb-before-reindex-*.db"))
    left = sorted(file.name for file in pathlib.Path(crowd.db).iterdir() if file not in copies[:1] and file.name not in (
        "kb.db", "kb.db-wal", "kb.db-shm", "ingest-errors.log"))
    left += sorted(file.name for file in crowd.world.home.iterdir() if "target.db" in file.name and file.name != "target.db")
    if left:
        result.fail("the end", "litter", f"left behind: {left[:4]}")
