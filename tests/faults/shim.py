"""Compiles shim.c into a temporary folder and returns the environment variables that make a run use it."""

import collections
import pathlib
import struct
import subprocess

SOURCE = pathlib.Path(__file__).with_name("shim.c")
HEAD = struct.Struct("=IIIIQQ")

# One counted operation of an undisturbed run.
Operation = collections.namedtuple("Operation", "number kind path")
# One change of a file: see `keep` in shim.c for the kinds.
Change = collections.namedtuple("Change", "kind path other inode offset data")


def build(folder):
    """Returns the path of the compiled library."""
    library = pathlib.Path(folder) / "shim.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl", "-lpthread"]
    subprocess.run(command, check=True)
    return library


def variables(library, roots, fault=None, trace=None, record=None, no_mmap=True):
    """Returns the variables for one run; `fault` is "N:KIND"."""
    env = {"LD_PRELOAD": str(library), "KB_SHIM_ROOTS": ":".join(map(str, roots))}
    if fault:
        env["KB_SHIM_FAULT"] = fault
    if trace:
        env["KB_SHIM_TRACE"] = str(trace)
    if record:
        env["KB_SHIM_RECORD"] = str(record)
    if no_mmap:
        env["KB_SHIM_NO_MMAP"] = "1"
    return env


def read_trace(path):
    """Returns the operations of a run, in order."""
    path = pathlib.Path(path)
    lines = path.read_text(errors="surrogateescape").splitlines() if path.exists() else []
    parts = [line.split(" ", 2) for line in lines]
    return [Operation(int(number), kind, name) for number, kind, name in parts]


def read_record(path):
    """Returns the changes that a run made to files, in order."""
    data = pathlib.Path(path).read_bytes()
    changes, at = [], 0
    while at < len(data):
        kind, path_length, other_length, length, inode, offset = HEAD.unpack_from(data, at)
        at += HEAD.size
        texts = []
        for size in (path_length, other_length):
            texts.append(data[at : at + size].decode(errors="surrogateescape"))
            at += size
        changes.append(Change(chr(kind), *texts, inode, offset, data[at : at + length]))
        at += length
    return changes
