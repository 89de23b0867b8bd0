#!/usr/bin/env python3
"""Loads an export of kb into Milvus, and answers questions from it.

usage: milvus.py EXPORT QUESTIONS TARGET

EXPORT is written by `kb export --vectors`, QUESTIONS has the vector of a question on each line, as
`kb embed --query --stdin` prints them. TARGET is a file for Milvus Lite (kb.milvus.db), or the URL of a server. Prints
the ten nearest passages of each question as a JSON array of [chunk_id, score]. It needs the packages pymilvus and
milvus-lite.

Passages are filtered by `type` and `tags`, for example `filter='ARRAY_CONTAINS(tags, "station")'`.
"""

import argparse
import json

from pymilvus import DataType, MilvusClient

# Most bytes of a text in Milvus.
MAX_TEXT = 65_535


def rows(document):
    """Returns a row for each passage of a document."""
    about = {"title": document["title"], "path": document["path"] or "", "type": document["type"], "tags": document["tags"]}
    for chunk in document["chunks"]:
        yield {"chunk_id": chunk["chunk_id"], "vector": chunk["vector"], "text": chunk["text"],
               "place": chunk["metadata"], "document_id": document["id"], **about}


def collection(client, dim):
    """Makes an empty collection, with an exact index."""
    if client.has_collection("kb"):
        client.drop_collection("kb")
    schema = client.create_schema()
    schema.add_field("chunk_id", DataType.INT64, is_primary=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dim)
    schema.add_field("document_id", DataType.INT64)
    for name in ["text", "title", "path"]:
        schema.add_field(name, DataType.VARCHAR, max_length=MAX_TEXT)
    schema.add_field("type", DataType.VARCHAR, max_length=16)
    schema.add_field("tags", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=4096, max_length=1024)
    schema.add_field("place", DataType.JSON)
    index = client.prepare_index_params()
    # Vectors have length 1, so the inner product is the cosine.
    index.add_index("vector", index_type="FLAT", metric_type="IP")
    client.create_collection("kb", schema=schema, index_params=index)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export")
    parser.add_argument("questions")
    parser.add_argument("target")
    options = parser.parse_args()
    client = MilvusClient(options.target)
    with open(options.export, encoding="utf-8") as lines:
        collection(client, json.loads(next(lines))["binding"]["embedding_dim"])
        for line in lines:
            batch = list(rows(json.loads(line)))
            if batch:
                client.insert("kb", batch)
    client.flush("kb")
    client.load_collection("kb")
    with open(options.questions, encoding="utf-8") as lines:
        for line in lines:
            found = client.search("kb", data=[json.loads(line)], limit=10, output_fields=["chunk_id"])
            print(json.dumps([[hit["entity"]["chunk_id"], hit["distance"]] for hit in found[0]]))


if __name__ == "__main__":
    main()
