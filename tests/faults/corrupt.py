"""Changes bytes of databases: bits, cells, pages, headers, lengths."""

import world as examined
from damaged import Case, database, read_files
from workers import in_parallel

PAGE = 4096
# Page size, versions, fractions, change counter, size, free list, schema, encoding, user version.
HEADER_FIELDS = [16, 18, 19, 20, 21, 22, 24, 28, 32, 36, 40, 44, 47, 48, 52, 56, 60, 64, 68, 92, 96]


def used_pages(data):
    """Returns the offsets of pages with content: most of a vector table is free space."""
    return [at for at in range(0, len(data), PAGE) if any(data[at : at + PAGE])]


def damage(data, rng):
    """Returns a description of the damage and the damaged bytes."""
    data = bytearray(data)
    pages = used_pages(data)
    page = rng.choice(pages)
    kind = rng.choice(["bit", "bits", "16 bytes", "page zeroed", "page random", "pages swapped", "cell header",
                       "page header", "header", "cut", "cut in a page"])
    if kind in ("bit", "bits"):
        for _ in range(1 if kind == "bit" else rng.randint(2, 200)):
            data[rng.choice(pages) + rng.randrange(PAGE)] ^= 1 << rng.randrange(8)
    elif kind == "16 bytes":
        at = page + rng.randrange(PAGE - 16)
        data[at : at + 16] = rng.randbytes(16)
    elif kind == "page zeroed":
        data[page : page + PAGE] = bytes(PAGE)
    elif kind == "page random":
        data[page : page + PAGE] = rng.randbytes(PAGE)
    elif kind == "pages swapped":
        other = rng.choice(pages)
        data[page : page + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[page : page + PAGE]
    elif kind == "cell header":
        # The pointers to the cells of a page start after its header.
        at = page + (100 if page == 0 else 0) + 8 + rng.randrange(24)
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "page header":
        at = page + (100 if page == 0 else 0) + rng.randrange(12)
        data[at] = rng.randrange(256)
    elif kind == "header":
        data[rng.choice(HEADER_FIELDS) + rng.randrange(2)] ^= 1 << rng.randrange(8)
    else:
        del data[page + (rng.randrange(PAGE) if kind == "cut in a page" else 0) :]
    return f"{kind} at {page}", bytes(data)


def unseen(before, after):
    """Reports which documents have other text or vectors than before, although no check finds a fault."""
    for path, document in (after or {}).items():
        was = before.get(path)
        # A changed title or path makes another document; texts and vectors are compared.
        if was is None or was[5] == document[5]:
            continue
        for old, new in zip(was[5], document[5]):
            if old[1] != new[1]:
                yield f"another text in {path}, chunk {new[0]}"
            elif old[3] != new[3]:
                yield f"another vector in {path}, chunk {new[0]}"


def corrupted(world, result, options, count):
    """Damages `count` databases, and runs every command on each."""
    base = world.work / "base-db"
    database(world, base)
    files = read_files(base)
    before = examined.content(base)
    numbers = [options.n] if options.n is not None else range(count)

    def try_all(part, place):
        for number in numbers[part :: options.workers]:
            rng = options.random(f"{options.seed}/corrupt/{number}")
            what, data = damage(files["kb.db"], rng)
            if data == files["kb.db"]:
                continue
            result.count()
            case = Case(world, place, {"kb.db": data})
            problems = case.try_doctor(lambda content: unseen(before, content), before) + case.try_commands()
            for kind, message in problems:
                result.fail(f"corrupt: n={number}: {what}", kind, message)

    in_parallel(world.work, options.workers, list(range(options.workers)), try_all, result)
