"""Changes real files of every kind, and lets the program read them."""

import base64
import io
import json
import pathlib
import quopri
import shutil
import subprocess
import warnings
import zipfile
import zlib

from workers import in_parallel

ROOT = pathlib.Path(__file__).parents[2]
# The samples of this repository, and more kinds of files next to the checkout.
FOLDERS = [ROOT / "tests/fixtures" / name for name in ("corpus", "documents", "broken", "pdf", "scans")]
MORE = ROOT.parent / "shared/data/formats.tar.zst"
LARGEST = 300_000
# Files that one run reads.
AT_ONCE = 100
# A run that takes longer hangs: a document has 30 s of processor time.
PATIENCE = 900
# The message for a picture that declares a size beyond the limit: the change was to that number.
DECLARED = "Memory limit exceeded"
# Most memory of a process, in kilobytes: a reading child has 1.5 GB.
MOST_MEMORY = 1_800_000


def samples(place, result):
    """Returns real files as (name, bytes)."""
    folders = list(FOLDERS)
    if MORE.exists():
        place.mkdir(parents=True)
        subprocess.run(["tar", "-C", place, "--zstd", "-xf", MORE], check=True)
        folders.append(place)
    else:
        result.note = "without ../shared/data/formats.tar.zst, which is missing"
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    found = [(path.name, path.read_bytes()) for path in files if 0 < path.stat().st_size < LARGEST]
    shutil.rmtree(place, ignore_errors=True)
    return found


def change(data, rng, others):
    """Returns bytes with a few changes of one or two kinds."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(data) or 1)
        length = min(rng.choice([1, 4, 16, 256, 4096]), len(data) - at)
        kind = rng.choice(["bits", "bytes", "cut", "drop", "repeat", "move", "number", "other"])
        if kind == "bits":
            for _ in range(rng.choice([1, 8, 64])):
                if data:
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif kind == "bytes":
            data[at : at + length] = rng.randbytes(length)
        elif kind == "cut":
            del data[at:]
        elif kind == "drop":
            del data[at : at + length]
        elif kind == "repeat":
            data[at:at] = data[at : at + length] * rng.choice([1, 8, 64])
        elif kind == "move":
            data[at:at] = data[rng.randrange(len(data) or 1) :][:length]
        elif kind == "number":
            data[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff", b"9999"])
        else:
            other = rng.choice(others)[1]
            start = rng.randrange(len(other))
            data[at:at] = other[start : start + length]
    return bytes(data)


def change_member(data, rng, others):
    """Returns an archive with one changed file in it, whose checksum is right; `None` if it is no archive."""
    if not data.startswith(b"PK"):
        return None
    changed = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as after:
            names = before.namelist()
            chosen = rng.choice(names)
            for name in names:
                content = before.read(name)
                after.writestr(name, change(content, rng, others) if name == chosen else content)
    except (zipfile.BadZipFile, IndexError, NotImplementedError, zlib.error):
        return None
    return changed.getvalue()


def read(world, folder):
    """Converts a folder; returns problems as (file, kind, message)."""
    # The shell reports the memory of the largest process on stderr, after what the program prints.
    run = subprocess.run(
        ["python3", "-c", "import resource, subprocess, sys\n"
         "status = subprocess.run(sys.argv[1:]).returncode\n"
         "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n"
         "sys.exit(status if status >= 0 else 128 - status)",
         world.kb, "convert", folder, "--format", "jsonl"],
        env=world.env, cwd=world.home, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    *said, memory = run.stderr.decode(errors="replace").strip().splitlines()
    if run.returncode not in (0, 1) or any("panicked at" in line for line in said):
        return [("", "crashed", f"status {run.returncode}: {' '.join(said)[-300:]}")]
    problems = []
    if int(memory) > MOST_MEMORY:
        problems.append(("", "crashed", f"{int(memory) >> 10} MB of memory"))
    for line in run.stdout.splitlines():
        answer = json.loads(line)
        if answer.get("code") in ("timed_out", "out_of_memory") and DECLARED not in answer["error"]:
            problems.append((answer.get("path"), "hung", line.decode()[:300]))
    return problems


def saved_pages(world, result, options, count):
    """Like `mutated`, for saved pages alone: the inputs with which fuzzing begins, and bodies in other encodings."""
    pages = [path.read_bytes() for path in sorted((ROOT / "fuzz/corpus/mhtml").iterdir())]
    pages += [page_with(encoding, charset) for encoding in ("base64", "quoted-printable", "8bit") for charset in ("utf-8", "utf-16")]
    read_changed(world, result, options, count, [(f"{number}.mhtml", page) for number, page in enumerate(pages)])


def page_with(encoding, charset):
    """Returns a saved page with a picture, whose body has this encoding."""
    body = "<html><head><title>T</title></head><body><h1>Tide</h1><p>gauge</p><img src='cid:a'></body></html>".encode(charset)
    if encoding == "base64":
        body = base64.encodebytes(body)
    elif encoding == "quoted-printable":
        body = quopri.encodestring(body)
    part = f"--B\r\nContent-Type: text/html; charset={charset}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n".encode()
    picture = b"--B\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\nContent-ID: <a>\r\n\r\neHh4\r\n"
    head = b'Subject: =?utf-8?Q?T=C3=A4st?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="B"\r\n\r\n'
    return head + part + body + b"\r\n" + picture + b"--B--\r\n"


def mutated(world, result, options, count):
    """Lets the program read `count` changed files, `AT_ONCE` at once."""
    read_changed(world, result, options, count, samples(world.work / "samples", result))


def read_changed(world, result, options, count, originals):
    # An archive may have two files of one name.
    warnings.simplefilter("ignore", UserWarning)
    numbers = [options.n] if options.n is not None else range(-(-count // AT_ONCE))

    def try_all(part, place):
        for number in numbers[part :: options.workers]:
            rng = options.random(f"{options.seed}/mutated/{number}")
            folder = place / str(number)
            folder.mkdir()
            for at in range(min(AT_ONCE, count)):
                name, data = rng.choice(originals)
                inside = change_member(data, rng, originals) if rng.randrange(4) else None
                (folder / f"{at:03}-{name}").write_bytes(inside or change(data, rng, originals))
            result.count(min(AT_ONCE, count))
            try:
                problems = read(world, folder)
            except subprocess.TimeoutExpired:
                problems = [("", "hung", f"no end after {PATIENCE} s")]
            for name, kind, message in problems:
                result.fail(f"mutated: n={number}: {name}", kind, message)
            shutil.rmtree(folder)

    in_parallel(world.work, options.workers, list(range(options.workers)), try_all, result)
