"""Sets up surroundings for faults: folders with known files, databases, and their content.

Databases are examined twice: by `kb doctor`, and here by plain SQLite, without kb's code.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess

WORDS = """tide gauge harbour salt chart pump battery storm anchor lamp rope sail keeper signal valve ice
winter paint engine backup log install configure release plan apple pear orchard cider press cellar barrel
oak river bridge stone letter window garden copper needle market candle island mirror thunder""".split()

# Part of the names of all of kb's drafts.
DRAFT = ".kb-draft-"

# Settings with which documents are split differently.
SHORT_CHUNKS = "chunking:\n  markdown:\n    max_tokens: 40\n    min_tokens: 0\n"


class World:
    """A separate home with the user's model in it."""

    def __init__(self, kb, work):
        self.kb = str(pathlib.Path(kb).resolve())
        self.work = pathlib.Path(work)
        self.home = self.work / "home"
        self.home.mkdir(parents=True)
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", ""),
            "KB_CACHE_DIR": os.environ.get("KB_CACHE_DIR") or str(cache / "kb"),
            "HF_HUB_CACHE": os.environ.get("HF_HUB_CACHE") or str(cache / "huggingface/hub"),
            "HF_ENDPOINT": "http://127.0.0.1:9",
        }
        if os.environ.get("ORT_DYLIB_PATH"):
            self.env["ORT_DYLIB_PATH"] = os.environ["ORT_DYLIB_PATH"]

    def start(self, data_dir, *args, **more):
        command = [self.kb, "--data-dir", str(data_dir), *map(str, args)]
        options = dict(env=self.env, cwd=self.home, stdin=subprocess.DEVNULL)
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        options.update(more)
        return subprocess.Popen(command, **options)

    def run(self, data_dir, *args, timeout=300, **more):
        """Returns status, stdout and stderr."""
        child = self.start(data_dir, *args, **more)
        out, err = child.communicate(timeout=timeout)
        return child.returncode, (out or b"").decode(), (err or b"").decode()

    def ok(self, data_dir, *args, **more):
        status, out, err = self.run(data_dir, *args, **more)
        assert status == 0, f"{args}: status {status}: {out}{err}"
        return out

    def folder(self, name, count, seed, sections=2):
        """Makes a folder of small files, the same for the same seed."""
        folder = self.home / name
        shutil.rmtree(folder, ignore_errors=True)
        for number in range(count):
            write(folder / f"sub{number % 3}" / f"{number:03}.md", text(f"{seed}/{number}", sections))
        return folder


def text(seed, sections=2):
    rng = random.Random(str(seed))
    parts = [f"# Note {seed}\n"]
    for part in range(sections):
        words = " ".join(rng.choices(WORDS, k=60))
        parts.append(f"## Part {part} of {seed}\n\n{words}.\n")
    return "\n".join(parts)


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def copy_database(source, target):
    """Copies the files of a database that is not in use, and what kb remembers about it: its folders are
    followed at its new place, too.
    """
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    known = source.parent / "home/.local/state/kb/known_bases"
    if not known.exists():
        return
    bases = re.split(r"^(?!\t)", known.read_text(), flags=re.MULTILINE)
    own, path = f" {source.resolve()}\n", f" {target.resolve()}\n"
    kept = [base for base in bases if path not in base]
    known.write_text("".join(kept + [base.replace(own, path, 1) for base in kept if own in base]))


def connect(data_dir):
    db = sqlite3.connect(f"file:{data_dir}/kb.db?mode=ro", uri=True, timeout=20)
    db.execute("PRAGMA query_only = ON")
    return db


def vectors(db):
    """Returns the vector of each chunk, as bytes, from the tables behind `vec0`.

    Raises `sqlite3.DatabaseError` if a damaged table names a block that does not exist.
    """
    (dim,) = db.execute("SELECT value FROM config WHERE key = 'embedding_dim'").fetchone()
    width = int(dim) * 4
    blocks = dict(db.execute("SELECT rowid, vectors FROM chunks_vec_vector_chunks00"))
    places = db.execute("SELECT rowid, chunk_id, chunk_offset FROM chunks_vec_rowids")
    try:
        return {chunk_id: blocks[block][at * width : (at + 1) * width] for chunk_id, block, at in places}
    except KeyError as missing:
        raise sqlite3.DatabaseError(f"the block of vectors {missing} is missing") from missing


def content(data_dir):
    """Returns the content of a database, by path: hash, type, tags, chunks with their vectors."""
    if not (pathlib.Path(data_dir) / "kb.db").exists():
        return {}
    db = connect(data_dir)
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'").fetchone():
        return {}
    by_chunk = vectors(db)
    documents = {}
    for id, path, title, digest, kind in db.execute(
        "SELECT id, source_path, title, content_hash, doc_type FROM documents"
    ):
        tags = [tag for tag, in db.execute(
            "SELECT name FROM tags JOIN document_tags ON tag_id = tags.id WHERE document_id = ?"
            " ORDER BY name", (id,))]
        chunks = []
        for chunk_id, place, body, context in db.execute(
            "SELECT id, chunk_index, text, context FROM chunks WHERE document_id = ?"
            " ORDER BY chunk_index", (id,)
        ):
            vector = hashlib.sha256(by_chunk.get(chunk_id, b"")).hexdigest()[:16]
            chunks.append((place, body, context, vector))
        paths = [path for path, in db.execute(
            "SELECT path FROM document_paths WHERE document_id = ? ORDER BY path", (id,))]
        documents[path or title] = (digest, title, kind, tuple(tags), tuple(paths), tuple(chunks))
    db.close()
    return documents


def faults(data_dir):
    """Returns what plain SQLite finds wrong."""
    if not (pathlib.Path(data_dir) / "kb.db").exists():
        return []
    found = []
    db = sqlite3.connect(f"file:{data_dir}/kb.db?mode=rw", uri=True, timeout=20)
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'").fetchone():
        return []
    found += [message for message, in db.execute("PRAGMA integrity_check") if message != "ok"]
    found += [f"foreign key: {violation}" for violation in db.execute("PRAGMA foreign_key_check")]
    try:
        db.execute("BEGIN")
        db.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        # SQLite before 3.42 rejects an index with secure deletion; `examine` uses kb's SQLite.
        if "invalid fts5 file format" not in str(error):
            found.append(f"FTS: {error}")
    finally:
        db.rollback()
    chunks = {row_id for row_id, in db.execute("SELECT id FROM chunks")}
    rows = {row_id for row_id, in db.execute("SELECT rowid FROM chunks_vec_rowids")}
    if chunks != rows:
        found.append(f"{len(chunks - rows)} chunks without a vector, {len(rows - chunks)} loose vectors")
    gaps = db.execute(
        "SELECT document_id FROM chunks GROUP BY document_id HAVING max(chunk_index) + 1 <> count(*)"
    ).fetchall()
    found += [f"half document {document_id}" for document_id, in gaps]
    empty = db.execute(
        "SELECT id FROM documents WHERE doc_type <> 'pdf' AND id NOT IN (SELECT document_id FROM chunks)"
    ).fetchall()
    found += [f"document {document_id} without chunks" for document_id, in empty]
    db.close()
    return found


def examine(world, data_dir):
    """Returns what plain SQLite finds wrong, then what kb finds wrong with a copy."""
    found = faults(data_dir)
    if not (pathlib.Path(data_dir) / "kb.db").exists():
        return found
    # Copies the files unchanged: a log belongs to its database, and a reader of the copy merges
    # it.
    copy = world.work / "examined-db"
    copy_database(data_dir, copy)
    with contextlib.closing(sqlite3.connect(copy / "kb.db")) as db:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    status, out, err = world.run(world.work / "examined-scratch", "backup", "--verify", copy / "kb.db")
    # A file that was cut off before its first table is not yet a database of kb's.
    return found if status in (0, 1) else found + [f"kb backup --verify: {(out + err).strip()[-300:]}"]


def doctor(world, data_dir):
    """Returns what `kb doctor` finds wrong with the database."""
    status, out, err = world.run(data_dir, "doctor", "--format", "json")
    if not out:
        return [f"doctor: status {status}: {err}"]
    checks = json.loads(out)["checks"]
    return [check["message"] for check in checks if check["name"] == "database" and check["verdict"] == "fault"]
