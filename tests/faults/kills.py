"""Kills every command that writes with kill -9 at random instants.

Each function yields, per kill, what was lost, what was partial and what was not repaired.
"""

import json
import shutil
import signal
import subprocess
import time

from stage import end_when_done
from world import SHORT_CHUNKS, content, copy_database, doctor, examine, text, write

# After this many kills the interrupted command is repeated to its end.
ROUND = 4


class Case:
    """A command, the database it starts from, and what a killed run may leave."""

    def __init__(self, world, name, before, args, allowed, is_final, again=None):
        self.world, self.name, self.before, self.args = world, name, before, args
        self.allowed, self.is_final = allowed, is_final
        # Brings the files into the state before each run.
        self.prepare = lambda: None
        # For a command that runs until a signal ends it: the actions while it runs, and the check whether it has done
        # its work.
        self.meanwhile, self.is_done = None, None
        # The arguments of the repeated command, if they are others.
        self.again = again or (lambda _found: args)
        self.data_dir = world.work / f"{name}-db"

    def start_again(self):
        """Restores the state before the command."""
        copy_database(self.before, self.data_dir)
        self.prepare()

    def run(self, args):
        """Runs the command to its end, or until it has done its work."""
        if self.is_done is None:
            return self.world.run(self.data_dir, *args)
        child = self.world.start(self.data_dir, *args)
        self.meanwhile()
        end_when_done(child, lambda: self.is_done(self.data_dir), 60)
        out, err = child.communicate(timeout=60)
        return child.returncode, out.decode(errors="replace"), err.decode(errors="replace")


def kill(world, data_dir, args, delay, meanwhile=None):
    child = world.start(data_dir, *args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if meanwhile:
        meanwhile()
    end = time.monotonic() + delay
    while time.monotonic() < end and child.poll() is None:
        time.sleep(min(0.002, max(0.0, end - time.monotonic())))
    was_running = child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    return was_running


def kills(case, count, rng, result):
    """Kills a command `count` times; every few kills it runs to its end, and the next one starts again."""
    world, data_dir = case.world, case.data_dir
    case.start_again()
    start = time.monotonic()
    status, out, err = case.run(case.args)
    assert status == 0, f"{case.name}: status {status}: {out}{err}"
    whole = time.monotonic() - start
    expected = content(data_dir)
    assert case.is_final(expected), f"{case.name}: the undisturbed run is not as it should be"
    case.start_again()
    for number in range(count):
        result.tried += 1
        result.within += kill(world, data_dir, case.args, rng.uniform(0, whole * 1.05), case.meanwhile)
        found = doctor(world, data_dir) if number % 10 == 9 else examine(world, data_dir)
        lost, half = case.allowed(content(data_dir), expected)
        result.add(case.name, lost, half, found)
        if number % ROUND == ROUND - 1 or number == count - 1:
            again = case.again(data_dir)
            status, out, err = case.run(again) if again else (0, "", "")
            after = content(data_dir)
            left = [] if after == expected else difference(after, expected)
            if status:
                left.append(f"status {status}: {out}{err}")
            result.add(case.name, [], [], left + examine(world, data_dir))
            case.start_again()


def difference(after, expected):
    paths = sorted(set(after) ^ set(expected))
    changed = sorted(path for path in set(after) & set(expected) if after[path] != expected[path])
    return [f"not as in an undisturbed run: {paths[:3]} {changed[:3]}"]


def between(before, ways):
    """Allows each document to be unchanged, or as `ways` allows."""

    def allowed(found, expected):
        lost = [path for path in before if path not in found and path in expected]
        half = [
            path for path in found
            if found[path] not in (before.get(path), expected.get(path)) and not ways(path, found[path])
        ]
        return lost, half

    return allowed


def never(_path, _document):
    return False


def cases(world, size):
    """Yields the cases to kill, one after the other."""
    base = world.work / "base-db"
    old = world.folder("old", size // 3, "old")
    world.ok(base, "add", old, "--tags", "first")

    # Documents have their tag from the start.
    new = world.folder("new", size, "new")
    before = content(base)
    yield Case(world, "add", base, ["add", new, "--tags", "second"], between(before, never),
               lambda documents: len(documents) == size // 3 + size)

    full = world.work / "full-db"
    copy_database(base, full)
    world.ok(full, "add", new, "--tags", "second")
    before = content(full)
    files = sorted(new.rglob("*.md"))
    for file in files[::3]:
        write(file, text(f"changed/{file.name}", 3))
    for file in files[1::6]:
        file.rename(file.with_name(f"moved-{file.name}"))
    for file in files[2::12]:
        file.unlink()

    def moved(path, document):
        # A moved document is listed under its old path until the new one is seen.
        return any(known[0] == document[0] and known[5] == document[5] for known in before.values())

    yield Case(world, "update", full, ["update", "--prune"], between(before, moved),
               lambda documents: 0 < len(documents) < len(before))

    ids = [str(number) for number in range(2, size, 2)]
    remove = ["remove", "--yes", "--format", "json"]

    def rest(data_dir):
        # An id that no longer exists is an error.
        listed = {str(listed_one["id"]) for listed_one in json.loads(world.ok(data_dir, "list", "--format", "json"))}
        left = [number for number in ids if number in listed]
        return remove + left if left else None

    yield Case(world, "remove", full, remove + ids, between(before, never),
               lambda documents: len(documents) == len(before) - len(ids), rest)

    yield Case(world, "reindex", full, ["reindex"], between(before, never),
               lambda documents: documents == before)

    def tagged(path, document):
        was = before[path]
        return set(document[3]) <= {*was[3], "x", "y", "z"} and document[5] == was[5]

    yield Case(world, "tag", full, ["tag", "3", "--add", "x,y,z", "--remove", "first"],
               between(before, tagged), lambda documents: any("x" in doc[3] for doc in documents.values()))


    # Settings that split every document differently.
    reread = world.work / "reread-base-db"
    copy_database(base, reread)
    write(reread / "config.yaml", SHORT_CHUNKS)
    before = content(base)
    yield Case(world, "update --reread", reread, ["update", "--reread"], between(before, never),
               lambda documents: documents.keys() == before.keys() and documents != before)

    copy = world.home / "copy.db"
    world.ok(base, "backup", copy)
    fuller = content(full)

    def one_or_other(found, expected):
        return [], [] if found in (fuller, expected) else ["a mixture of the two databases"]

    yield Case(world, "restore", full, ["restore", copy], one_or_other, lambda documents: documents == before)
    yield watching(world, size)
    yield relocating(world, base, size)
    yield merging(world, full)


def all_or_nothing(before):
    def allowed(found, expected):
        return [], [] if found in (before, expected) else ["a mixture of both states"]

    return allowed


def relocating(world, base, size):
    """Returns a run of `kb relocate` for a folder with all documents of a database."""
    folder = world.folder("relocated", size // 3, "old")
    before = content(base)
    old, new = world.home / "old", str(folder)

    def again(data_dir):
        # A folder that has been relocated is unknown.
        return None if content(data_dir) != before else ["relocate", old, new]

    return Case(world, "relocate", base, ["relocate", old, new], all_or_nothing(before),
                lambda documents: all(path.startswith(new) for path in documents), again)


def merging(world, full):
    """Returns an import of documents that are there, with edits on both sides, and of new ones."""
    here, there = world.work / "merging-base-db", world.work / "there-db"
    copy_database(full, here)
    world.ok(here, "add", "--note", "a note of mine", "--title", "Mine")
    copy_database(here, there)
    ids = [str(number) for number in range(1, 30, 2)]
    world.ok(there, "tag", *ids, "--add", "theirs")
    world.ok(there, "edit", "2", "--title", "Theirs")
    for number in range(20):
        world.ok(there, "add", "--note", f"note {number} of theirs", "--title", f"New {number}")
    lines = world.home / "theirs.jsonl"
    world.ok(there, "export", lines, "--vectors")
    world.ok(here, "tag", "2", "3", "5", "--add", "mine")
    before = content(here)

    def is_final(documents):
        tags = [set(document[3]) for document in documents.values()]
        return len(documents) == len(before) + 20 and any({"mine", "theirs"} <= of for of in tags)

    def half_merged(path, document):
        # Tags and title are separate edits of one document, each of them complete.
        was = before.get(path)
        return was is not None and document[5] == was[5] and set(was[3]) <= set(document[3])

    return Case(world, "merging import", here, ["import", lines], between(before, half_merged), is_final)


def watching(world, size):
    """Returns a run of `kb watch` over a folder whose files change before and while it runs."""
    folder, data_dir = world.folder("watched", size // 2, "watched"), world.work / "watched-base-db"
    world.ok(data_dir, "add", folder)
    before = content(data_dir)
    files = sorted(folder.rglob("*.md"))
    first = {file: file.read_text() for file in files}

    def change(part):
        for number, file in enumerate(files):
            if number % 3 == part:
                write(file, text(f"changed/{number}", 2))

    def prepare():
        for file in files:
            write(file, first[file])
        change(0)

    prepare()
    change(1)
    now = world.work / "watched-now-db"
    world.ok(now, "add", folder)
    expected = content(now)
    case = Case(world, "watch", data_dir, ["watch"], between(before, never), lambda documents: documents == expected)
    case.prepare, case.meanwhile = prepare, lambda: change(1)
    case.is_done = lambda found: content(found) == expected
    return case


def skill_builds(world, count, rng, result):
    """Kills `kb skill build`; a partial index must never be taken for a complete one."""
    skill = world.home / "skill"
    write(skill / "SKILL.md", "---\nname: skill\ndescription: faults\n---\n" + text("skill"))
    for number in range(60):
        write(skill / "references" / f"{number}.md", text(f"skill/{number}", 8))
    runtime = world.work / "skill-db"
    start = time.monotonic()
    world.ok(runtime, "skill", "build", skill)
    whole = time.monotonic() - start
    query = ["skill", "search", skill, "harbour salt", "--format", "json"]
    expected = [hit["score"] for hit in answer(world, runtime, query)]
    for number in range(count):
        # Every build has something to do.
        write(skill / "references" / "turn.md", text(f"turn/{number}", 2))
        result.tried += 1
        result.within += kill(world, runtime, ["skill", "build", skill], rng.uniform(0, whole))
        status, out, err = world.run(runtime, *query)
        half = []
        if status not in (0, 1):
            half.append(f"search after a killed build: status {status}: {out}{err}")
        status, out, err = world.run(runtime, "skill", "build", skill)
        left = [] if status == 0 else [f"build: status {status}: {out}{err}"]
        if len(answer(world, runtime, query)) < len(expected):
            left.append("the index holds less than before")
        result.add("skill build", [], half, left)
    shutil.rmtree(skill)


def answer(world, runtime, query):
    return json.loads(world.ok(runtime, *query))["results"]


def all_kills(world, count, rng, result):
    shares = {"add": 0.3, "update": 0.2, "remove": 0.13, "reindex": 0.14, "tag": 0.1,
              "update --reread": 0.13, "restore": 0.13, "watch": 0.13, "relocate": 0.13,
              "merging import": 0.13}
    size = 24 if count < 100 else 48
    for case in cases(world, size):
        kills(case, max(2, round(count * shares[case.name])), rng, result.of(f"kill -9: {case.name}"))
    skill_builds(world, max(2, round(count * 0.13)), rng, result.of("kill -9: skill build"))
