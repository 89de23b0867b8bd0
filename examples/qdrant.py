#!/usr/bin/env python3
"""Loads an export of kb into Qdrant, and answers questions from it.

usage: qdrant.py EXPORT QUESTIONS [--url URL]

EXPORT is written by `kb export --vectors`, QUESTIONS has the vector of a question on each line, as
`kb embed --query --stdin` prints them. Without --url, Qdrant's client keeps the collection in memory. Prints the ten
nearest passages of each question as a JSON array of [chunk_id, score]. It needs the package qdrant-client.

Passages are filtered by `type` and `tags`, for example
`Filter(must=[FieldCondition(key="tags", match=MatchValue(value="station"))])`.
"""

import argparse
import json

from qdrant_client import QdrantClient, models


def points(document):
    """Returns a point for each passage of a document."""
    about = {key: document[key] for key in ("title", "path", "type", "tags")}
    for chunk in document["chunks"]:
        payload = {**about, "document_id": document["id"], "text": chunk["text"], **chunk["metadata"]}
        yield models.PointStruct(id=chunk["chunk_id"], vector=chunk["vector"], payload=payload)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export")
    parser.add_argument("questions")
    parser.add_argument("--url")
    options = parser.parse_args()
    client = QdrantClient(url=options.url) if options.url else QdrantClient(":memory:")
    with open(options.export, encoding="utf-8") as lines:
        size = json.loads(next(lines))["binding"]["embedding_dim"]
        if client.collection_exists("kb"):
            client.delete_collection("kb")
        client.create_collection("kb", models.VectorParams(size=size, distance=models.Distance.COSINE))
        for line in lines:
            batch = list(points(json.loads(line)))
            if batch:
                client.upsert("kb", batch)
    with open(options.questions, encoding="utf-8") as lines:
        for line in lines:
            found = client.query_points("kb", query=json.loads(line), limit=10).points
            print(json.dumps([[point.id, point.score] for point in found]))


if __name__ == "__main__":
    main()
