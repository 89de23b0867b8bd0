"""Changes files of the cache: model, runtime library, prepared graphs, weights.

kb then computes the same as before, or refuses; `kb doctor` finds the change before it loads anything.
"""

import json
import os
import pathlib
import shutil

import world as examined
from damaged import Case
from workers import in_parallel

NOTE = "The tide gauge is behind the harbour wall."
QUERY = ["search", "tide gauge", "--vec-only", "--format", "json"]
KINDS = ["one bit", "random bytes", "zeroed", "cut", "longer"]


def parts(cache):
    """Returns the files that affect the results."""
    found = [path for path in cache.rglob("*") if path.is_file() and path.stat().st_size > 10_000]
    return sorted(path.relative_to(cache) for path in found if path.suffix != ".txt")


def poison(path, rng):
    """Changes bytes of a file and returns a description of the change."""
    data, kind = bytearray(path.read_bytes()), rng.choice(KINDS)
    at = rng.randrange(len(data) // 4, len(data) * 3 // 4)
    size = min(rng.choice([16, 4096, 400_000]), len(data) - at)
    if kind == "one bit":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "random bytes":
        data[at : at + size] = rng.randbytes(size)
    elif kind == "zeroed":
        data[at : at + size] = bytes(size)
    elif kind == "cut":
        del data[at:]
    else:
        data += rng.randbytes(size)
    stat = path.stat()
    if bytes(data) == path.read_bytes():
        return None
    # A separate file: the others are links to the user's.
    path.unlink()
    path.write_bytes(data)
    path.chmod(stat.st_mode)
    if rng.random() < 0.5:
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        kind += ", time as before"
    return kind


class Poisoned(Case):
    """A world whose cache has links to the user's files, except for one."""

    def __init__(self, world, place, intact):
        super().__init__(world_with(world, place / "cache"), place, {})
        self.intact, self.cache = intact, place / "cache"

    def fill(self):
        shutil.rmtree(self.cache, ignore_errors=True)
        copy_cache(self.intact, self.cache)
        self.restore()

    def answers(self):
        """Returns the vector of a note and the answer to a query, or `None` for refused ones; and problems."""
        status, _, _, problems = self.run(["add", "--note", NOTE])
        note = [doc[5] for doc in examined.content(self.db).values()] if status == 0 else None
        status, out, _, more = self.run(QUERY)
        hits = json.loads(out)["results"] if status == 0 else None
        cosines = [hit["evidence"]["cosine"] for hit in hits] if hits is not None else None
        return note, cosines, problems + more

    def try_poison(self, name, rng, expected):
        self.fill()
        what = poison(self.cache / name, rng)
        if what is None:
            return what, []
        status, out, err, problems = self.run(["doctor", "--format", "json"])
        if status == 0:
            problems.append(("wrong", f"doctor sees no change of {name}"))
        for when in ("after the change", "after doctor --fix"):
            self.restore()
            note, cosines, more = self.answers()
            problems += [(kind, f"{when}: {message}") for kind, message in more]
            if note is not None and note != expected[0]:
                problems.append(("wrong", f"{when}: another vector was stored"))
            # Without a note nothing can be found.
            if note is not None and cosines is not None and cosines != expected[1]:
                problems.append(("wrong", f"{when}: another answer: {cosines} instead of {expected[1]}"))
            problems += self.run(["doctor", "--fix"])[3]
        return what, problems


def copy_cache(source, target, *left_out):
    left_out = shutil.ignore_patterns("lock", "tmp", *left_out)
    shutil.copytree(source, target, copy_function=link_or_copy, ignore=left_out)


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def caches(world, result, options, count):
    """Changes the cache `count` times."""
    # No network: changed files are refused, or rebuilt from existing ones.
    world.env["PATH"] = str(world.work / "no-programs")
    intact = world.work / "intact"
    # Only the graphs that this program makes.
    copy_cache(pathlib.Path(world.env["KB_CACHE_DIR"]), intact, "graphs")
    world_with(world, intact).ok(world.work / "first-db", "add", "--note", NOTE)
    world_with(world, intact).ok(world.work / "first-db", *QUERY)
    names = parts(intact)
    numbers = [options.n] if options.n is not None else range(count)

    def try_all(part, place):
        case = Poisoned(world, place, intact)
        case.fill()
        note, cosines, problems = case.answers()
        assert note and cosines and not problems, f"an intact cache does not work: {problems}"
        for number in numbers[part :: options.workers]:
            rng = options.random(f"{options.seed}/cache/{number}")
            name = names[number % len(names)]
            result.count()
            what, problems = case.try_poison(name, rng, (note, cosines))
            for kind, message in problems:
                result.fail(f"cache: n={number}: {what} in {name}", kind, message)

    in_parallel(world.work, options.workers, list(range(options.workers)), try_all, result)


def world_with(world, cache):
    """Returns the world with another cache."""
    other = object.__new__(type(world))
    other.__dict__ = {**world.__dict__, "env": {**world.env, "KB_CACHE_DIR": str(cache)}}
    return other
