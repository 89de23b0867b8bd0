"""Damages the log of a database (`kb.db-wal`): truncated, flipped, zeroed, missing, or from another moment."""

import sqlite3

import world as examined
from damaged import Case, database, read_files
from workers import in_parallel

KINDS = ["as it is", "cut", "flipped", "zeroed", "garbage at the end", "garbage", "missing", "of another moment"]


def moments(world):
    """Returns databases with their logs as they were between commands, oldest first: the files, what is in
    them, and what is in the database without its log.

    A reader keeps the log from being written back. Half-way through, the log starts again, so that logs and databases
    of different ages exist.
    """
    data_dir = world.work / "wal-db"
    database(world, data_dir)
    found = []
    for round in range(2):
        reader = sqlite3.connect(data_dir / "kb.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchone()
        # The content of the database without its log, while the reader is open.
        base = examined.content(data_dir)
        for turn in range(3):
            folder = world.folder(f"wal{round}{turn}", 3, f"wal{round}{turn}")
            world.ok(data_dir, "add", folder)
            world.ok(data_dir, "tag", str(2 + turn), "--add", f"tag{round}{turn}")
            found.append((read_files(data_dir), examined.content(data_dir), base))
        reader.execute("ROLLBACK")
        # The last connection to close writes the log back.
        reader.close()
        world.ok(data_dir, "tag", "1", "--add", f"round{round}")
    return found


def damage(at, all_moments, rng):
    """Returns a description of the damage, the files, and whether the log belongs to this database."""
    files, kind = dict(all_moments[at][0]), rng.choice(KINDS)
    wal = bytearray(files["kb.db-wal"])
    place = rng.randrange(len(wal))
    if kind == "cut":
        del wal[place:]
    elif kind == "flipped":
        for _ in range(rng.randint(1, 20)):
            wal[rng.randrange(len(wal))] ^= 1 << rng.randrange(8)
    elif kind == "zeroed":
        size = min(rng.choice([512, 4096, 40000]), len(wal) - place)
        wal[place : place + size] = bytes(size)
    elif kind == "garbage at the end":
        wal[place:] = rng.randbytes(len(wal) - place)
    elif kind == "garbage":
        wal = bytearray(rng.randbytes(len(wal)))
    elif kind == "of another moment":
        wal = bytearray(rng.choice(all_moments)[0]["kb.db-wal"])
    files["kb.db-wal"] = bytes(wal)
    if kind == "missing":
        del files["kb.db-wal"]
    return f"{kind}, moment {at}", files, kind != "of another moment"


def logs(world, result, options, count):
    """Damages `count` logs, and runs every command on each."""
    all_moments = moments(world)
    # The allowed states of each document: all that were committed.
    committed = [content for _, content, _ in all_moments]
    numbers = [options.n] if options.n is not None else range(count)

    def try_all(part, place):
        for number in numbers[part :: options.workers]:
            rng = options.random(f"{options.seed}/wal/{number}")
            at = rng.randrange(len(all_moments))
            what, files, belongs = damage(at, all_moments, rng)
            result.count()
            case = Case(world, place, files)

            def never_committed(content):
                for path, document in (content or {}).items():
                    # Tags are separate commits.
                    known = [state[path] for state in committed if path in state]
                    if not any(version[:3] == document[:3] and version[5] == document[5] for version in known):
                        yield f"{path} holds what was never committed"

            problems = case.try_doctor(never_committed)
            if belongs:
                case.restore()
                found, content = case.look()
                problems += [("unsound", fault) for fault in found]
                problems += [("lost", path) for path in all_moments[at][2] if path not in (content or {})]
            for kind, message in problems + case.try_commands():
                result.fail(f"log: n={number}: {what}", kind, message)

    in_parallel(world.work, options.workers, list(range(options.workers)), try_all, result)
