#!/usr/bin/env python3
"""Converts many files to chunks and vectors with Ray, and writes them as Parquet.

usage: ingest_ray.py KB SOURCE OUT [--workers N] [--address ADDRESS] [--batch N] [--model NAME]

`kb convert --format jsonl --chunks --vectors` is the map step: it has no state, so Ray may run it in any
number of processes and repeat it. SOURCE and OUT are folders, or URIs that pyarrow knows (s3://, gs://, hdfs://).
Without --address, Ray starts N workers (default: 2) on this machine; with it, this is the cluster to use. KB and
its model (`kb init`) must be at the same place on each machine of a cluster.

Files are divided into batches, and each batch becomes one file of OUT, `part-HASH.parquet`. HASH stands for the
names, sizes and times of its files, for the program and for the model, and a part appears under its name only when
it is complete. So a run can be killed and started again: it converts the batches that have no part yet, and removes
parts that belong to no batch any more. Files that failed are in `_failed-HASH.jsonl`, with path, code and error; readers
of Parquet skip names that begin with `_`, so OUT is a table.

It needs the packages ray and pyarrow.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import time
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import ray
from pyarrow import fs


def place(typed):
    """Returns the file system and the path of a folder or URI."""
    if "://" in typed:
        return fs.FileSystem.from_uri(typed)
    return fs.LocalFileSystem(), os.path.abspath(typed)


def is_local(typed):
    return "://" not in typed


def digest(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def batches(source, size, salt):
    """Returns the files of a folder in batches of about `size`, each with its hash.

    The name of a file decides whether a batch ends with it, so a new or removed file changes only its own batch.
    """
    system, root = place(source)
    found = system.get_file_info(fs.FileSelector(root, recursive=True))
    files = sorted((info.path, info.size, info.mtime_ns or 0) for info in found if info.is_file)
    batch = []
    for file in files:
        batch.append(file)
        if int(digest(file[0]), 16) % size == 0 or len(batch) == 4 * size:
            yield digest([salt, batch]), [path for path, _, _ in batch]
            batch = []
    if batch:
        yield digest([salt, batch]), [path for path, _, _ in batch]


def schema(dim):
    return pa.schema([
        ("path", pa.string()), ("title", pa.string()), ("content_hash", pa.string()), ("type", pa.string()),
        ("tags", pa.list_(pa.string())), ("chunk_index", pa.int32()), ("text", pa.string()),
        ("context", pa.string()), ("token_count", pa.int32()), ("metadata", pa.string()),
        ("vector", pa.list_(pa.float32(), dim)),
    ])


def rows(document, name):
    for index, chunk in enumerate(document["chunks"]):
        yield {
            "path": name, "title": document["title"], "content_hash": document["content_hash"],
            "type": document["type"], "tags": document["tags"], "chunk_index": index, "text": chunk["text"],
            "context": chunk["context"], "token_count": chunk["token_count"],
            "metadata": json.dumps(chunk["metadata"]), "vector": chunk["vector"],
        }


def write(system, path, content):
    """Writes a file that is complete or not there."""
    folder, name = os.path.split(path)
    draft = f"{folder}/_draft-{uuid.uuid4().hex}-{name}"
    content(draft)
    system.move(draft, path)


@ray.remote(num_cpus=1, max_retries=3)
def convert(command, source, out, key, paths):
    """Converts a batch and writes its part; returns the numbers of documents, chunks and failures."""
    system, folder = place(out)
    with tempfile.TemporaryDirectory() as local:
        names = {path: path for path in paths}
        if not is_local(source):
            remote, _ = place(source)
            names = {}
            for number, path in enumerate(paths):
                # Its name decides the format, and is part of the context.
                copy = os.path.join(local, str(number), os.path.basename(path))
                os.mkdir(os.path.dirname(copy))
                fs.copy_files(path, copy, source_filesystem=remote, destination_filesystem=fs.LocalFileSystem())
                names[copy] = path
        # Each worker counts as one processor.
        environment = dict(os.environ, KB_INGESTION_WORKERS="1")
        done = subprocess.run(
            command + ["--files-from", "-"], input="\n".join(names), env=environment, text=True, capture_output=True,
        )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    dim = lines[0]["binding"]["embedding_dim"]
    documents = [line for line in lines[1:] if "chunks" in line]
    failed = [dict(line, path=names[line["path"]]) for line in lines[1:] if "code" in line]
    table = pa.Table.from_pylist(
        [row for document in documents for row in rows(document, names[document["path"]])], schema=schema(dim))
    if failed:
        text = "".join(json.dumps(line) + "\n" for line in failed).encode()

        def failures(path):
            with system.open_output_stream(path) as stream:
                stream.write(text)

        write(system, f"{folder}/_failed-{key}.jsonl", failures)
    # The part comes last: with it, the batch is done.
    write(system, f"{folder}/part-{key}.parquet", lambda path: pq.write_table(table, path, filesystem=system))
    return len(documents), table.num_rows, len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kb")
    parser.add_argument("source")
    parser.add_argument("out")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--address")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--model")
    options = parser.parse_args()
    kb = str(pathlib.Path(options.kb).resolve())
    command = [kb, "convert", "--quiet", "--format", "jsonl", "--chunks", "--vectors"]
    command += ["--model", options.model] if options.model else []
    version = subprocess.run([kb, "--version"], text=True, capture_output=True, check=True).stdout

    system, folder = place(options.out)
    system.create_dir(folder)
    wanted = dict(batches(options.source, options.batch, [version, command[1:]]))
    there = {os.path.basename(info.path) for info in system.get_file_info(fs.FileSelector(folder))}
    todo = {key: paths for key, paths in wanted.items() if f"part-{key}.parquet" not in there}
    print(f"{len(wanted)} batches, {len(wanted) - len(todo)} of them done before", flush=True)

    ray.init(address=options.address, num_cpus=None if options.address else options.workers,
             include_dashboard=False if not options.address else None, log_to_driver=False, logging_level="error")
    start = time.perf_counter()
    pending = [convert.remote(command, options.source, options.out, key, paths) for key, paths in todo.items()]
    totals = [0, 0, 0]
    while pending:
        done, pending = ray.wait(pending)
        totals = [total + count for total, count in zip(totals, ray.get(done[0]))]
    seconds = time.perf_counter() - start

    # Parts of files that have changed or gone, of another version, and drafts of killed workers.
    names = {f"part-{key}.parquet" for key in wanted} | {f"_failed-{key}.jsonl" for key in wanted}
    for info in system.get_file_info(fs.FileSelector(folder)):
        name = os.path.basename(info.path)
        if name.startswith(("part-", "_failed-", "_draft-")) and name not in names:
            system.delete_file(info.path)
    documents, chunks, failed = totals
    rate = f", {chunks / seconds:.1f} chunks/s" if chunks else ""
    print(f"{documents} documents, {chunks} chunks, {failed} failed, {seconds:.1f} s{rate}")


if __name__ == "__main__":
    main()
