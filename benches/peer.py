"""Does the same work in Python, for comparison. `benches/run` runs it in a separate environment.

peer.py graph MODEL_DIR GRAPH                 writes the model as ONNX, fp32, with a mask for batches
peer.py embed ENGINE MODEL_DIR GRAPH TEXTS    embeds the lines of a file; prints seconds, writes vectors
peer.py search ENGINE MODEL_DIR GRAPH DB QUERY  answers one query as `kb search` does
peer.py profile GRAPH MODEL_DIR TEXTS         prints which operators of kb's graph take the time
peer.py versions                              prints the installed versions

ENGINE is `batches` (ONNX Runtime, padded batches of 32), `singles` (one text at a time) or `torch`
(sentence-transformers).
"""

import collections
import json
import os
import pathlib
import sqlite3
import struct
import sys
import time

import numpy

BATCH = 32
THREADS = 2
HEADS = 12
RRF_K = 60
DEPTH = 300


def tensors(path):
    """Reads a safetensors file of 32-bit floats."""
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    table = json.loads(data[8 : 8 + length])
    found = {}
    for name, info in table.items():
        if name != "__metadata__" and info["dtype"] == "F32":
            start, end = (8 + length + offset for offset in info["data_offsets"])
            found[name] = numpy.frombuffer(data[start:end], "<f4").reshape(info["shape"])
    return found


def graph(model_dir, path):
    """Writes BERT with mean pooling as an exporter does: standard operators, batch and mask."""
    import onnx
    from onnx import helper, numpy_helper

    weights = tensors(pathlib.Path(model_dir) / "model.safetensors")
    nodes, initializers = [], []

    def constant(value):
        name = f"c{len(initializers)}"
        initializers.append(numpy_helper.from_array(numpy.ascontiguousarray(value), name))
        return name

    def node(operator, *inputs, **attributes):
        name = f"n{len(nodes)}"
        nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def number(value):
        return constant(numpy.array(value, "f4"))

    def linear(value, name):
        product = node("MatMul", value, constant(weights[f"{name}.weight"].T))
        return node("Add", product, constant(weights[f"{name}.bias"]))

    def norm(value, name):
        scale, bias = (constant(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return node("LayerNormalization", value, scale, bias, axis=-1, epsilon=1e-12)

    dim = weights["embeddings.LayerNorm.weight"].shape[0]
    types = weights["embeddings.token_type_embeddings.weight"][0]
    positions = weights["embeddings.position_embeddings.weight"] + types
    zero, one = constant(numpy.array([0])), constant(numpy.array([1]))
    length = node("Shape", "input_ids", start=1, end=2)
    words = node("Gather", constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
    hidden = node("Add", words, node("Slice", constant(positions), zero, length, zero))
    hidden = norm(hidden, "embeddings.LayerNorm")
    mask = node("Cast", "attention_mask", to=1)
    hidden_keys = node("Mul", node("Sub", number(1.0), mask), number(-1e9))
    hidden_keys = node("Unsqueeze", hidden_keys, constant(numpy.array([1, 2])))
    split = constant(numpy.array([0, 0, HEADS, dim // HEADS]))
    layers = sum(name.endswith("attention.self.query.weight") for name in weights)
    for layer in range(layers):
        at = f"encoder.layer.{layer}"

        def heads(part, order):
            value = linear(hidden, f"{at}.attention.self.{part}")
            return node("Transpose", node("Reshape", value, split), perm=order)

        query, key, value = (
            heads(*head) for head in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )
        scores = node("Div", node("MatMul", query, key), number((dim // HEADS) ** 0.5))
        shares = node("Softmax", node("Add", scores, hidden_keys), axis=-1)
        mixed = node("Transpose", node("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = node("Reshape", mixed, constant(numpy.array([0, 0, dim])))
        attention = linear(mixed, f"{at}.attention.output.dense")
        middle = norm(node("Add", attention, hidden), f"{at}.attention.output.LayerNorm")
        inner = node("Gelu", linear(middle, f"{at}.intermediate.dense"))
        outer = linear(inner, f"{at}.output.dense")
        hidden = norm(node("Add", outer, middle), f"{at}.output.LayerNorm")
    wide = node("Unsqueeze", mask, constant(numpy.array([2])))
    total = node("ReduceSum", node("Mul", hidden, wide), one, keepdims=0)
    mean = node("Div", total, node("ReduceSum", mask, one, keepdims=1))
    nodes.append(helper.make_node("LpNormalization", [mean], ["embedding"], axis=-1, p=2))

    def value(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    inputs = [value(name, 7, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")]
    outputs = [value("embedding", 1, ["batch", dim])]
    made = helper.make_graph(nodes, "bert", inputs, outputs, initializers)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, path)


def tokenizer(model_dir):
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_file(str(pathlib.Path(model_dir) / "tokenizer.json"))
    loaded.enable_truncation(256)
    loaded.no_padding()
    return loaded


def encoder(engine, model_dir, path):
    """Returns a function from texts to vectors."""
    if engine == "torch":
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(THREADS)
        model = SentenceTransformer(str(model_dir), device="cpu")
        model.max_seq_length = 256
        return lambda texts: model.encode(texts, batch_size=BATCH, normalize_embeddings=True)
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ids_of = tokenizer(model_dir)

    def run(texts):
        # Sorted by length, as in sentence-transformers, so that little is padded.
        encoded = [encoding.ids for encoding in ids_of.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda idx: -len(encoded[idx]))
        vectors = [None] * len(texts)
        size = BATCH if engine == "batches" else 1
        for start in range(0, len(order), size):
            part = order[start : start + size]
            longest = len(encoded[part[0]])
            ids = numpy.zeros((len(part), longest), numpy.int64)
            mask = numpy.zeros((len(part), longest), numpy.int64)
            for row, idx in enumerate(part):
                ids[row, : len(encoded[idx])] = encoded[idx]
                mask[row, : len(encoded[idx])] = 1
            (found,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
            for row, idx in enumerate(part):
                vectors[idx] = found[row]
        return numpy.array(vectors)

    return run


def embed(engine, model_dir, path, texts):
    lines = pathlib.Path(texts).read_text(encoding="utf-8").splitlines()
    run = encoder(engine, model_dir, path)
    run(lines[:BATCH])
    start = time.perf_counter()
    vectors = run(lines)
    print(json.dumps({"seconds": time.perf_counter() - start}))
    numpy.save(f"{texts}.{engine}.npy", vectors)


def search(engine, model_dir, path, database, query):
    vector = encoder(engine, model_dir, path)([query])[0]
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    blocks = db.execute(
        "SELECT validity, rowids, vectors FROM chunks_vec_chunks AS c"
        " JOIN chunks_vec_vector_chunks00 AS v ON v._rowid_ = c.chunk_id"
    )
    ids, scores = [], []
    for validity, rowids, vectors in blocks:
        taken = numpy.unpackbits(numpy.frombuffer(validity, "u1"), bitorder="little").astype(bool)
        ids.append(numpy.frombuffer(rowids, "i8")[taken])
        scores.append(numpy.frombuffer(vectors, "f4").reshape(len(taken), -1)[taken] @ vector)
    ids, scores = numpy.concatenate(ids), numpy.concatenate(scores)
    nearest = ids[numpy.argsort(-scores)[:DEPTH]].tolist()
    words = " OR ".join(f'"{word}"' for word in query.split())
    keywords = db.execute(
        "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY bm25(chunks_fts) LIMIT ?",
        (words, DEPTH),
    )
    fused = collections.Counter()
    for ranking in (nearest, [row_id for (row_id,) in keywords]):
        for rank, chunk in enumerate(ranking, 1):
            fused[chunk] += 1 / (RRF_K + rank)
    for chunk, score in fused.most_common(10):
        (text,) = db.execute("SELECT text FROM chunks WHERE id = ?", (chunk,)).fetchone()
        print(json.dumps({"chunk_id": chunk, "score": score, "text": text}))


def profile(path, model_dir, texts):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_profiling = True
    options.profile_file_prefix = f"{texts}.profile"
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ids_of = tokenizer(model_dir)
    lines = pathlib.Path(texts).read_text(encoding="utf-8").splitlines()[:BATCH]
    for text in lines:
        session.run(None, {"input_ids": numpy.array([ids_of.encode(text).ids])})
    written = session.end_profiling()
    with open(written, encoding="utf-8") as file:
        events = json.load(file)
    os.remove(written)
    spent = collections.Counter()
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            spent[event["args"]["op_name"]] += event["dur"] / 1000 / len(lines)
    print(json.dumps(dict(spent.most_common())))


def versions():
    import importlib.metadata

    found = {"python": sys.version.split()[0]}
    for name in ("onnxruntime", "numpy", "tokenizers", "torch", "sentence-transformers"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    print(json.dumps(found))


if __name__ == "__main__":
    command = {function.__name__: function for function in (graph, embed, search, profile, versions)}[sys.argv[1]]
    command(*sys.argv[2:])
