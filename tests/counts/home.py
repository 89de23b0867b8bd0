"""Sets up what is counted: a home that is always the same, a knowledge base in it, and the ten commands."""

import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import tempfile

import model

# Paths of the same length on every machine. A path's length is part of the work.
PLACE, PREFIX = "/tmp", "kb-counts-"
# Changed files must look old: kb reads a file again that may have changed while it was read.
MTIME_S = 1_700_000_000
PLAIN_RUNS = 5
PATIENCE_S = 900

READ, WRITE = 2, 3
# Name, arguments, and how many per cent more instructions are red.
COMMANDS = {
    "version": (["--version"], READ),
    "list": (["list"], READ),
    "show": (["show", "1"], READ),
    "grep": (["grep", "WORD"], READ),
    "keyword": (["search", "QUERY", "--top", "3", "--fts-only"], READ),
    "hybrid": (["search", "QUERY", "--top", "3"], READ),
    "batch": (["search", "--batch", "queries.txt"], READ),
    "mcp": (["mcp"], READ),
    "update": (["update"], WRITE),
    "add": (["add", "more"], WRITE),
}


class Home:
    """A home in a new folder with a copy of the program, a model, 200 added files and 50 to add."""

    def __init__(self, kb, runtime):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir=PLACE))
        shutil.copy2(kb, self.place / "kb")
        shutil.copy2(runtime, self.place / "runtime.so")
        self.env = {
            "HOME": str(self.place), "PATH": "/nonexistent", "LANG": "C.UTF-8", "TZ": "UTC",
            "KB_EMBEDDING_MODEL_DIR": str(self.place / "model"), "ORT_DYLIB_PATH": str(self.place / "runtime.so"),
            "HF_ENDPOINT": "http://127.0.0.1:9"}
        # The number of threads that kb starts depends on the processors that it may use.
        self.processor = {max(os.sched_getaffinity(0))}
        draw = random.Random("words")
        syllables = [first + vowel for first in "bdfgklmnprstv" for vowel in "aeiou"]
        self.words = sorted({"".join(draw.choices(syllables, k=3)) for _ in range(500)})
        self.fill()

    def fill(self):
        model.write(self.place / "model", self.words)
        for folder, count, paragraphs in [("docs", 200, 2), ("more", 50, 1)]:
            for number in range(count):
                path = self.place / f"{folder}/sub{number % 4}/{number:03}.md"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self.text(f"{folder}/{number}", paragraphs))
                os.utime(path, (MTIME_S, MTIME_S))
        (self.place / "queries.txt").write_text("".join(" ".join(self.words[n : n + 2]) + "\n" for n in (1, 101, 201)))
        self.run("init")
        self.run("add", "docs")
        self.kept = self.place / "kept"
        self.kept.mkdir()
        self.copy(self.place, self.kept)
        # kb prepares the model once for each kind of processor, and Valgrind's is another one.
        self.count("hybrid")

    def text(self, seed, paragraphs):
        draw = random.Random(seed)
        parts = (f"## Part {part}\n\n{' '.join(draw.choices(self.words, k=60))}.\n" for part in range(paragraphs))
        return f"# Note {seed}\n\n" + "\n".join(parts)

    def copy(self, source, target):
        """Copies the database, and what kb remembers about it."""
        for name in [".kb", ".local"]:
            shutil.rmtree(target / name, ignore_errors=True)
            if (source / name).exists():
                shutil.copytree(source / name, target / name)

    def args(self, name):
        place = {"WORD": self.words[3], "QUERY": f"{self.words[5]} {self.words[7]}"}
        return [place.get(arg, arg) for arg in COMMANDS[name][0]]

    def count(self, name, profile=None):
        """Returns how many instructions a command takes. Processes that it starts do not count."""
        self.copy(self.kept, self.place)
        log = self.place / "valgrind.log"
        self.run(*self.args(name), before=[
            "valgrind", "--tool=cachegrind", "--cache-sim=no", "--fair-sched=yes", f"--log-file={log}",
            f"--cachegrind-out-file={profile or '/dev/null'}"])
        return int(re.search(r"I +refs: +([\d,]+)", log.read_text())[1].replace(",", ""))

    def page_faults(self, name):
        """Returns the median number of page faults of plain runs."""
        found = []
        for _ in range(PLAIN_RUNS):
            self.copy(self.kept, self.place)
            found.append(self.run(*self.args(name)).ru_minflt)
        return int(statistics.median(found))

    def run(self, *args, before=()):
        """Runs kb, requires success and returns what it used."""
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(
                [*before, self.place / "kb", *args], env=self.env | ({"PATH": os.environ["PATH"]} if before else {}),
                cwd=self.place, stdout=subprocess.PIPE if args == ("mcp",) else out, stderr=out,
                stdin=subprocess.PIPE if args == ("mcp",) else subprocess.DEVNULL,
                preexec_fn=lambda: os.sched_setaffinity(0, self.processor))
            if args == ("mcp",):
                call(child, self.args("hybrid")[1])
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                out.seek(0)
                raise RuntimeError(f"kb {' '.join(args)}: status {child.returncode}: {out.read().decode()[-2000:]}")
            return used

    def remove(self):
        shutil.rmtree(self.place, ignore_errors=True)


def call(server, query):
    """Greets a server, lets it search once, and ends it after its answer."""
    def request(number, method, **params):
        send(id=number, method=method, params=params)
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") == number:
                assert "error" not in answer and not answer["result"].get("isError"), answer
                return

    def send(**message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()

    client = {"name": "counts", "version": "1"}
    request(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
    send(method="notifications/initialized")
    request(2, "tools/call", name="kb_search", arguments={"query": query, "top": 3})
    server.stdin.close()
    server.stdout.read()
