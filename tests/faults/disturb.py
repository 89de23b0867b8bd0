"""Causes every disturbance other than kill -9: full and read-only disks, files that vanish or change, unmounted folders, a
clock set back, many processes, signals, little memory, stale locks.

Each function takes the world and a result and adds what it found.
"""

import contextlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time

import another
from world import content, copy_database, doctor, faults, text, write

NOBODY = 65534


def check(world, data_dir, kind, result, expected, args, allowed=(0,), name=""):
    """Runs a command to its end and compares the result with that of an undisturbed run."""
    status, out, err = world.run(data_dir, *args)
    left = [] if status in allowed else [f"{name} repeated: status {status}: {out}{err}"]
    if content(data_dir) != expected:
        left.append(f"{name} not as in an undisturbed run")
    result.add(kind, [], [], left + faults(data_dir) + doctor(world, data_dir))


def undisturbed(world, folder, *more):
    data_dir = world.work / "undisturbed-db"
    shutil.rmtree(data_dir, ignore_errors=True)
    world.ok(data_dir, "add", folder, *more)
    return content(data_dir)


@contextlib.contextmanager
def tmpfs(place, size, flags="rw"):
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},{flags}", "kb", place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def disk_full(world, result, sizes):
    folder = world.folder("full", 60, "full", 6)
    expected = undisturbed(world, folder)
    for size in sizes:
        place = world.work / "small"
        with tmpfs(place, size):
            result.tried += 1
            data_dir = place / "db"
            status, out, err = world.run(data_dir, "add", folder, "--format", "json")
            problems = [] if status in (0, 2) else [f"{size}: status {status}: {out}{err}"]
            if status == 2 and json.loads(err).get("code") != "disk_full":
                problems.append(f"{size}: not told as a full disk: {err}")
            found = content(data_dir)
            half = [path for path in found if found[path] != expected.get(path)]
            subprocess.run(["mount", "-o", "remount,size=200m", place], check=True)
            result.add("disk full", [], half, problems + faults(data_dir))
            check(world, data_dir, "disk full", result, expected, ["add", folder], name=size)


def disk_full_while_changing(world, result):
    """Runs reindex, tag, remove, doctor and export on a disk without a free page."""
    folder = world.folder("brim", 40, "brim", 4)
    expected = undisturbed(world, folder)
    base = world.work / "undisturbed-db"
    place = world.work / "small"
    export = ["export", place / "export.jsonl"]
    for args in (["reindex"], ["tag", "1", "--add", "x"], ["remove", "2", "--yes"], ["doctor", "--fix"], export):
        with tmpfs(place, "60m"):
            result.tried += 1
            data_dir = place / "db"
            copy_database(base, data_dir)
            with open(place / "fill", "wb", buffering=0) as fill, contextlib.suppress(OSError):
                while True:
                    fill.write(b"x" * 4096)
            status, out, err = world.run(data_dir, *args)
            problems = [] if status in (0, 1, 2) else [f"{args}: status {status}: {out}{err}"]
            if args is export and (status != 2 or "no space left to write" not in err or args[1].exists()):
                problems.append(f"{args}: not told as a full disk: {status}: {err}")
            (place / "fill").unlink()
            found = content(data_dir)
            lost = [path for path in expected if path not in found and args[0] != "remove"]
            result.add("disk full", lost, [], problems + faults(data_dir) + doctor(world, data_dir))


def disk_full_then_removed(world, result, sizes):
    """Adds documents until the disk is full, removes some, and adds again: each makes room with kb alone."""
    folder = world.folder("brimful", 200, "brimful", 40)
    place = world.work / "small"
    for size in sizes:
        with tmpfs(place, size):
            result.tried += 1
            data_dir = place / "db"
            status, out, err = world.run(data_dir, "add", folder)
            problems = [] if status == 2 and "no space left" in err else [f"{size}: not full: {status}: {out}{err}"]
            before = content(data_dir)
            ids = [str(id) for id in range(1, len(before) // 3 + 1)]
            for args in (["remove", *ids, "--yes"], ["add", "--note", "there is room"]) if ids else ():
                status, out, err = world.run(data_dir, *args)
                if status or "note: the disk is full" in err:
                    problems.append(f"{size}: {args[0]}: status {status}: {out}{err}")
            found = content(data_dir)
            if ids and len(found) != len(before) - len(ids) + 1:
                problems.append(f"{size}: {len(before)} documents, then {len(found)}")
            half = [path for path in found if path in before and found[path] != before[path]]
            result.add("disk full", [], half, problems + faults(data_dir) + doctor(world, data_dir))


def read_only(world, result):
    folder = world.folder("read-only", 6, "read-only")
    expected = undisturbed(world, folder)
    place = world.work / "fixed"
    with tmpfs(place, "50m"):
        data_dir = place / "db"
        copy_database(world.work / "undisturbed-db", data_dir)
        more = world.folder("read-only-more", 2, "more")
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        for args, expected_status in (
            (["add", more], 2), (["remove", "1", "--yes"], 2), (["update"], 2), (["reindex"], 2),
            (["tag", "1", "--add", "x"], 2), (["doctor", "--fix"], 2),
            (["list"], 0), (["search", "harbour salt"], 0),
        ):
            result.tried += 1
            status, out, err = world.run(data_dir, *args)
            problems = []
            if status != expected_status or "panicked" in err:
                problems.append(f"{args}: status {status}: {out}{err}")
            result.add("read-only data directory", [], [], problems)
        subprocess.run(["mount", "-o", "remount,rw", place], check=True)
        lost = [] if content(data_dir) == expected else ["content changed"]
        result.add("read-only data directory", lost, [], faults(data_dir) + doctor(world, data_dir))


def unreadable(world, result):
    """Tries files and folders that may not be read; as another user if we are root."""
    data_dir = world.work / "secret-db"
    result.tried += 1
    as_user = {}
    if os.geteuid() == 0:
        world = another.world_for(NOBODY, world)
        if world is None:
            result.skip("no temporary folder that another user can reach", "folder")
            return
        data_dir = world.work / "secret-db"
        data_dir.mkdir()
        os.chown(data_dir, NOBODY, NOBODY)
        as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    folder = world.folder("secret", 12, "secret")
    files = sorted(folder.rglob("*.md"))
    status, out, err = world.run(data_dir, "add", folder, **as_user)
    if status:
        result.add("unreadable files", [], [], [f"add as another user: status {status}: {out}{err}"])
        return
    before = content(data_dir)
    for file in files[:4]:
        file.chmod(0)
    (folder / "sub2").chmod(0)
    # Unreadable files are not taken for removed ones.
    for args in (["add", folder], ["update", "--prune", "--force"]):
        world.run(data_dir, *args, **as_user)
        lost = [] if content(data_dir) == before else ["what could not be read was lost"]
        result.add("unreadable files", lost, [], faults(data_dir))
    (folder / "sub2").chmod(0o755)
    for file in files[:4]:
        file.chmod(0o644)


def vanishing(world, result, rounds):
    for number in range(rounds):
        result.tried += 1
        folder = world.folder("vanish", 40, f"vanish{number}")
        data_dir = world.work / "vanish-db"
        shutil.rmtree(data_dir, ignore_errors=True)
        child = world.start(data_dir, "add", folder)
        for file in sorted(folder.rglob("*.md"))[number % 3 :: 3]:
            file.unlink()
            time.sleep(0.002)
        out, err = child.communicate()
        problems = [] if child.returncode == 0 else [f"status {child.returncode}: {err.decode()}"]
        expected = undisturbed(world, folder)
        found = content(data_dir)
        lost = [path for path in expected if found.get(path) != expected[path]]
        result.add("vanishing files", lost, [], problems + faults(data_dir))


def changing(world, result, rounds):
    """Rewrites files, part by part, while they are read; the next run has their final content."""
    for number in range(rounds):
        result.tried += 1
        folder = world.folder("change", 24, f"change{number}")
        data_dir = world.work / "change-db"
        shutil.rmtree(data_dir, ignore_errors=True)
        files = sorted(folder.rglob("*.md"))
        # The length stays, so that it does not reveal the change.
        versions = [[file.read_text(), file.read_text()[::-1]] for file in files]
        is_over = threading.Event()

        def rewrite():
            turn = 0
            while not is_over.is_set():
                turn += 1
                for file, version in zip(files, versions):
                    body = version[turn % 2]
                    with open(file, "r+") as out:
                        out.write(body[: len(body) // 2])
                        out.flush()
                        out.write(body[len(body) // 2 :])

        writer = threading.Thread(target=rewrite)
        writer.start()
        status, out, err = world.run(data_dir, "add", folder)
        is_over.set()
        writer.join()
        problems = [] if status in (0, 1) else [f"status {status}: {err}"]
        result.add("files that change while read", [], [], problems + faults(data_dir))
        check(world, data_dir, "files that change while read", result, undisturbed(world, folder),
              ["update"], name=f"round {number}")


def unmounted(world, result):
    folder = world.folder("disk", 12, "disk")
    data_dir = world.work / "disk-db"
    world.ok(data_dir, "add", folder)
    before = content(data_dir)
    away = world.home / "disk-away"
    for leaves_mount_point in (True, False):
        for args in (["update"], ["update", "--prune"], ["update", "--prune", "--force"], ["add", folder]):
            result.tried += 1
            folder.rename(away)
            if leaves_mount_point:
                folder.mkdir()
            status, out, err = world.run(data_dir, *args)
            problems = [] if status in (0, 1) else [f"{args}: status {status}: {err}"]
            lost = [path for path in before if content(data_dir).get(path) != before[path]]
            result.add("missing or empty folder", lost, [], problems + faults(data_dir))
            shutil.rmtree(folder, ignore_errors=True)
            away.rename(folder)
    check(world, data_dir, "missing or empty folder", result, before, ["update", "--prune", "--force"])


def clock_back(world, result):
    """Changes files whose times are in the future, then in the past."""
    folder = world.folder("clock", 6, "clock")
    data_dir = world.work / "clock-db"
    for offset in (0, 10**8, -(10**8), -(10**9), 3600, -3600):
        result.tried += 1
        for number, file in enumerate(sorted(folder.rglob("*.md"))):
            body = file.read_text()
            file.write_text(body[1:] + body[0] if number % 2 else body)
            then = time.time() + offset + number
            os.utime(file, (then, then))
        check(world, data_dir, "clock set back", result, undisturbed(world, folder), ["add", folder],
              name=f"{offset} s")


def many_at_once(world, result, writers, readers, seconds):
    """Adds the same and different folders repeatedly, while other processes search."""
    data_dir = world.work / f"many{writers}-db"
    common = world.folder("common", 20, "common")
    own = [world.folder(f"own{number}", 20, f"own{number}") for number in range(writers)]
    world.ok(data_dir, "add", "--note", "the first one")
    end = time.monotonic() + seconds
    problems, counts = [], {"written": 0, "searched": 0}
    lock = threading.Lock()

    def repeat(kind, commands):
        turn = 0
        while time.monotonic() < end:
            status, out, err = world.run(data_dir, *commands[turn % len(commands)])
            turn += 1
            with lock:
                counts[kind] += 1
                if status or "error" in err or "warning" in err:
                    problems.append(f"{kind}: status {status}: {err.strip()}")

    def touch(folder):
        while time.monotonic() < end:
            for number, file in enumerate(sorted(folder.rglob("*.md"))):
                write(file, text(f"{folder.name}/{number}/{time.monotonic()}"))
                time.sleep(0.02)

    threads = [threading.Thread(target=touch, args=(folder,)) for folder in own]
    for folder in own:
        commands = [["add", folder], ["add", common], ["update", folder]]
        threads.append(threading.Thread(target=repeat, args=("written", commands)))
    queries = [["search", "harbour salt"], ["search", "river bridge", "--fts-only"], ["list"], ["status"]]
    for _ in range(readers):
        threads.append(threading.Thread(target=repeat, args=("searched", queries)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kind = f"{writers} writers, {readers} readers"
    result.tried += counts["written"] + counts["searched"]
    result.note = f"{counts['written']} runs that write, {counts['searched']} that read in {seconds} s"
    result.add(kind, [], [], problems[:5] + faults(data_dir))
    for folder in [common, *own]:
        world.ok(data_dir, "add", folder)
    shutil.rmtree(world.work / "alone-db", ignore_errors=True)
    world.ok(world.work / "alone-db", "add", "--note", "the first one")
    for folder in [common, *own]:
        world.ok(world.work / "alone-db", "add", folder)
    left = [] if content(data_dir) == content(world.work / "alone-db") else ["not as one alone makes it"]
    result.add(kind, [], [], left + doctor(world, data_dir))


def signals(world, result, rounds):
    folder = world.folder("signal", 60, "signal", 4)
    expected = undisturbed(world, folder)
    for number in range(rounds):
        for name, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            result.tried += 1
            data_dir = world.work / "signal-db"
            shutil.rmtree(data_dir, ignore_errors=True)
            child = world.start(data_dir, "add", folder)
            # Once something is committed, it handles signals.
            while child.poll() is None and not content_count(data_dir):
                time.sleep(0.005)
            child.send_signal(name)
            out, err = child.communicate()
            problems = []
            if child.returncode not in (status, 0):
                problems.append(f"{name.name}: status {child.returncode}: {err.decode()}")
            if child.returncode == status and b"not reached: " not in err:
                problems.append(f"{name.name}: the files that were not reached are not counted: {err.decode()}")
            found = content(data_dir)
            half = [path for path in found if found[path] != expected.get(path)]
            result.add("SIGINT, SIGTERM", [], half, problems + faults(data_dir))
            check(world, data_dir, "SIGINT, SIGTERM", result, expected, ["add", folder])


def content_count(data_dir):
    with contextlib.suppress(sqlite3.Error):
        db = sqlite3.connect(f"file:{data_dir}/kb.db?mode=ro", uri=True)
        return db.execute("SELECT count(*) FROM documents").fetchone()[0]
    return 0


def little_memory(world, result, limits):
    folder = world.folder("memory", 20, "memory", 4)
    expected = undisturbed(world, folder)
    data_dir = world.work / "memory-db"
    for megabytes in limits:
        result.tried += 1
        limit = megabytes << 20
        status, out, err = world.run(
            data_dir, "add", folder,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
        found = content(data_dir)
        half = [path for path in found if found[path] != expected.get(path)]
        result.add("ulimit -v", [], half, faults(data_dir))
    check(world, data_dir, "ulimit -v", result, expected, ["add", folder])


def stale_locks(world, result):
    """Tries the remains of killed processes: logs, shared memory, lock files, partial files."""
    folder = world.folder("stale", 12, "stale")
    expected = undisturbed(world, folder)
    cache = world.work / "cache"
    for leave in ("shm", "wal garbage", "wal cut", "lock", "partial"):
        result.tried += 1
        data_dir = world.work / "stale-db"
        shutil.rmtree(data_dir, ignore_errors=True)
        world.ok(data_dir, "add", folder)
        if leave == "shm":
            (data_dir / "kb.db-shm").write_bytes(os.urandom(32768))
        elif leave == "wal garbage":
            (data_dir / "kb.db-wal").write_bytes(os.urandom(50000))
        elif leave == "wal cut":
            child = world.start(data_dir, "reindex", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while child.poll() is None and not (data_dir / "kb.db-wal").exists():
                time.sleep(0.001)
            child.kill()
            child.wait()
            with contextlib.suppress(FileNotFoundError):
                size = (data_dir / "kb.db-wal").stat().st_size
                os.truncate(data_dir / "kb.db-wal", size * 2 // 3)
        elif leave == "lock":
            cache.mkdir(exist_ok=True)
            (cache / "lock").write_text("12345")
        else:
            (data_dir / "verify.db.partial").write_bytes(b"x" * 5000)
        status, out, err = world.run(data_dir, "search", "harbour")
        problems = [] if status == 0 else [f"{leave}: status {status}: {err}"]
        result.add("stale locks and logs", [], [], problems)
        check(world, data_dir, "stale locks and logs", result, expected, ["add", folder], name=leave)


def held_lock(world, result):
    """Locks the database from another process: kb waits, then reports it, and never waits for ever."""
    folder = world.folder("held", 3, "held")
    data_dir = world.work / "held-db"
    world.ok(data_dir, "add", folder)
    before = content(data_dir)
    db = sqlite3.connect(data_dir / "kb.db", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    for args in (["tag", "1", "--add", "x"], ["remove", "1", "--yes"]):
        result.tried += 1
        start = time.monotonic()
        status, out, err = world.run(data_dir, *args)
        took = time.monotonic() - start
        is_told = status == 1 and "is locked by another process" in err and took < 40
        result.add("lock held by another process", [], [],
                   [] if is_told else [f"{args}: status {status} after {took:.0f} s: {err}"])
    db.execute("ROLLBACK")
    db.close()
    lost = [] if content(data_dir) == before else ["content changed"]
    result.add("lock held by another process", lost, [], faults(data_dir))
