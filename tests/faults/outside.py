"""Causes disturbances that come from outside of kb: a clock that jumps, a deleted log, other users, hostile folders that
are watched, and several processes that find an older schema.

Each function takes the world and a result and adds what it found.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import zipfile

from world import content, doctor, faults

ROOT = pathlib.Path(__file__).parents[2]
NOBODY = 65534
# Seconds that a watch may take to notice a file.
PATIENCE = 60


def clock_jumps(world, result):
    """Runs commands at other times; the last runs meet what the earlier ones have recorded."""
    if shutil.which("faketime") is None:
        result.skip("it needs faketime", "faketime")
        return
    data_dir = world.work / "jump-db"
    folder = world.folder("jump", 6, "jump")
    world.ok(data_dir, "add", folder)
    # The clock that measures how long something takes never jumps.
    world.env["DONT_FAKE_MONOTONIC"] = "1"
    before = content(data_dir)
    commands = [["update"], ["add", folder], ["search", "harbour salt"], ["list", "--since", "7d"], ["status"],
                ["backup", world.work / "jump.db", "--force"], ["doctor"]]
    for then in ("1969-06-01", "1971-01-01", "2038-01-20", "2200-01-01"):
        for args in commands:
            result.tried += 1
            ran = subprocess.run(["faketime", then, world.kb, "--data-dir", data_dir, *args], env=world.env,
                                 cwd=world.home, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
            problems = [] if ran.returncode == 0 else [f"{then}: {args}: status {ran.returncode}: {ran.stderr.decode()}"]
            lost = [] if content(data_dir) == before else [f"{then}: {args}: the content changed"]
            result.add("clock that jumps", lost, [], problems + faults(data_dir))
    result.add("clock that jumps", [], [], doctor(world, data_dir))


def mcp(world, data_dir):
    """Starts a server and returns it with a function that calls a tool and says whether that succeeded."""
    server = world.start(data_dir, "mcp", "--allow-write", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(method, params):
        server.stdin.write((json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n").encode())
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}})
    server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def call(tool, **arguments):
        answer = ask("tools/call", {"name": tool, "arguments": arguments})
        return not answer.get("result", {}).get("isError", True)

    return server, call


def log_deleted(world, result, rounds):
    """Deletes the log of a database that a server has open: what was in it is lost, and nothing else."""
    for number in range(rounds):
        result.tried += 1
        data_dir = world.work / "log-db"
        shutil.rmtree(data_dir, ignore_errors=True)
        world.ok(data_dir, "add", world.folder("log", 6, "log"))
        before = content(data_dir)
        server, call = mcp(world, data_dir)
        call("kb_add_note", text=f"in the log {number}")
        for end in ("-wal", "-shm")[number % 3 == 2 :][: 1 if number % 3 == 1 else 2]:
            (data_dir / f"kb.db{end}").unlink(missing_ok=True)
        for turn in range(3):
            call("kb_add_note", text=f"after it {number} {turn}")
            call("kb_search", query="harbour")
            world.run(data_dir, "add", "--note", f"at once {number} {turn}")
        server.stdin.close()
        status = server.wait(timeout=60)
        problems = [] if status == 0 else [f"the server ended with {status}"]
        found = content(data_dir)
        lost = [path for path in before if found.get(path) != before[path]]
        result.add("log deleted", lost, [], problems + faults(data_dir) + doctor(world, data_dir))


def another_user(world, result):
    """Lets another user try what kb keeps, and the processes of a server and a watch."""
    if os.geteuid():
        result.skip("it needs root", "root")
        return
    data_dir = world.work / "own-db"
    world.ok(data_dir, "add", world.folder("own", 3, "own"))
    for place in (world.work.parent, world.work, world.home):
        place.chmod(0o755)
    server, call = mcp(world, data_dir)
    watch = world.start(data_dir, "watch")
    call("kb_search", query="harbour")
    tries = [f"cat {data_dir}/{name}" for name in ("kb.db", "kb.db-wal", "kb.db-shm")]
    tries += [f"ls {place}" for place in (data_dir, world.home / ".local/state/kb")]
    tries += [f"touch {data_dir}/new", f"mv {data_dir}/kb.db {data_dir}/other", f"{world.kb} --data-dir {data_dir} list"]
    for child in (server, watch):
        tries += [f"kill -TERM {child.pid}", f"kill -STOP {child.pid}", f"head -c1 /proc/{child.pid}/mem",
                  f"cat /proc/{child.pid}/environ", f"ls /proc/{child.pid}/fd", f"readlink /proc/{child.pid}/cwd"]
    for line in tries:
        result.tried += 1
        ran = subprocess.run(["sh", "-c", line], user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", capture_output=True)
        if ran.returncode == 0:
            result.fail(line, "wrong", "another user may do it")
    problems = [] if call("kb_search", query="harbour") else ["the server no longer answers"]
    server.stdin.close()
    watch.send_signal(signal.SIGTERM)
    problems += [f"status {child.wait(timeout=60)}" for child in (server, watch) if child.wait(timeout=60) not in (0, 143)]
    result.add("another user", [], [], problems + faults(data_dir))


def watched(world, result, renames):
    """Fills a watched folder with a pipe, a socket, odd names, links and renames, then checks that the watch continues."""
    data_dir = world.work / "watched-db"
    folder = world.folder("watched", 3, "watched")
    world.ok(data_dir, "add", folder)
    log = world.work / "watched.log"
    with open(log, "wb") as out:
        watch = world.start(data_dir, "watch", stdout=subprocess.DEVNULL, stderr=out)
    seen = lambda text: within(lambda: text in log.read_bytes())  # noqa: E731
    problems = [] if seen(b"watching") else ["it does not start"]
    os.mkfifo(folder / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        # The address of a socket is short, and everything after this class needs the working directory.
        here = os.getcwd()
        os.chdir(folder)
        try:
            server.bind("socket.md")
        finally:
            os.chdir(here)
    (folder / "passwords.md").symlink_to("/etc/passwd")
    (folder / "etc").symlink_to("/etc")
    (folder / "loop").symlink_to(".")
    names = [b"a\nb.md", b"\x1b[31mred\x07.md", b"\xff\xfe.md", "\u202etxt.md".encode(), b"x" * 250 + b".md"]
    for number, name in enumerate(names):
        (folder / os.fsdecode(name)).write_text(f"# Odd {number}\n")
    deep = folder.joinpath(*["deep"] * 60)
    deep.mkdir(parents=True)
    (deep / "deep.md").write_text("# Deep\n")
    one, other = folder / "one.md", folder / "other.md"
    one.write_text("# Moving\n")
    for _ in range(renames // 2):
        one.rename(other)
        other.rename(one)
    swapped = folder / "swapped"
    swapped.mkdir()
    (swapped / "s.md").write_text("# Swapped\n")
    swapped.rename(folder / "aside")
    swapped.symlink_to("/etc")
    (folder / "last.md").write_text("# Last\n")
    result.tried += len(names) + renames + 8
    if not seen(b"last.md"):
        problems.append("it does not index a file afterwards")
    within(lambda: len(content(data_dir)) >= 3 + len(names) + 4)
    watch.send_signal(signal.SIGTERM)
    if watch.wait(timeout=60) not in (0, 143):
        problems.append(f"status {watch.returncode}")
    printed = log.read_bytes()
    if any(byte < 32 and byte != 10 for byte in printed) or b"panicked" in printed:
        problems.append(f"it prints {printed}")
    found = content(data_dir)
    lacking = 3 + len(names) + 4 - len(found)
    if lacking:
        problems.append(f"{len(found)} documents, {lacking} too few: {sorted(found)}")
    if any("root:" in chunk[1] for document in found.values() for chunk in document[-1]):
        problems.append("a link was followed")
    result.add("watched folder", [], [], problems + faults(data_dir) + doctor(world, data_dir))


def within(is_so):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if is_so():
            return True
        time.sleep(0.05)
    return False


def older_schema(world, result, processes):
    """Lets several processes find a database of an older version at once; it is migrated once, and all answer alike."""
    for number in range(1, 16):
        result.tried += processes
        data_dir = world.work / f"schema-{number}"
        data_dir.mkdir()
        with zipfile.ZipFile(ROOT / f"tests/fixtures/upgrade/schema-{number:02}.zip") as home:
            name = next(name for name in home.namelist() if name.endswith(".kb/kb.db"))
            (data_dir / "kb.db").write_bytes(home.read(name))
        with sqlite3.connect(data_dir / "kb.db") as db:
            (documents,) = db.execute("SELECT count(*) FROM documents").fetchone()
        db.close()
        children = [world.start(data_dir, "list", "--format", "json") for _ in range(processes)]
        answers = [(child.communicate(timeout=300), child.returncode) for child in children]
        problems = [f"schema {number}: status {status}: {err.decode()}" for (_, err), status in answers if status]
        if len({out for (out, _), status in answers if status == 0}) > 1:
            problems.append(f"schema {number}: the answers differ")
        with sqlite3.connect(data_dir / "kb.db") as db:
            lost = [] if db.execute("SELECT count(*) FROM documents").fetchone() == (documents,) else [f"schema {number}"]
        db.close()
        result.add("older schema", lost, [], problems + faults(data_dir))
