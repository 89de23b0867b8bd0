"""Writes the small model of the counts: a BERT with seeded weights, in the shape of the tests' model.

It does not depend on the sources of the tests, as their model does: a new test must not change a count.
"""

import json
import random
import string
import struct

DIM, LAYERS, HEADS, POSITIONS = 64, 2, 4, 256
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def write(folder, words):
    """Writes the files that sentence-transformers writes; each of `words` is one token."""
    letters = [sign for sign in string.printable.lower() if sign.isprintable() and sign != " "]
    vocabulary = list(dict.fromkeys([*SPECIAL, *words, *letters, *("##" + sign for sign in letters)]))
    (folder / "1_Pooling").mkdir(parents=True)
    for name, content in {
        "config.json": {
            "model_type": "bert", "architectures": ["BertModel"], "hidden_size": DIM, "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS, "intermediate_size": 2 * DIM, "hidden_act": "gelu",
            "layer_norm_eps": 1e-12, "max_position_embeddings": POSITIONS, "type_vocab_size": 2,
            "vocab_size": len(vocabulary)},
        "modules.json": [
            {"idx": idx, "name": str(idx), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for idx, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling")])],
        "1_Pooling/config.json": {
            "word_embedding_dimension": DIM, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
            "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False},
        "sentence_bert_config.json": {"max_seq_length": POSITIONS, "do_lower_case": False},
        "tokenizer.json": tokenizer(vocabulary),
    }.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "model.safetensors").write_bytes(weights(len(vocabulary)))


def tokenizer(vocabulary):
    def special_token(token):
        return {"id": token, "ids": [vocabulary.index(token)], "tokens": [token]}

    special = {token: special_token(token) for token in ["[CLS]", "[SEP]"]}
    begin, end = ({"SpecialToken": {"id": token, "type_id": 0}} for token in special)
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "pair": [], "special_tokens": special,
                           "single": [begin, {"Sequence": {"id": "A", "type_id": 0}}, end]},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": {token: idx for idx, token in enumerate(vocabulary)}}}


def weights(num_tokens):
    """Returns the weights as safetensors. The layers add little to the words, so that texts with common words are near
    each other."""
    draw = random.Random("weights")
    header, body = {}, bytearray()

    def add(name, shape, scale, offset=0.0):
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        begin = len(body)
        body.extend(struct.pack(f"<{count}f", *(offset + scale * (2 * draw.random() - 1) for _ in range(count))))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(body)]}

    def norm(name):
        add(f"{name}.weight", [DIM], 0.0, 1.0)
        add(f"{name}.bias", [DIM], 0.0)

    add("embeddings.word_embeddings.weight", [num_tokens, DIM], 1.0)
    add("embeddings.position_embeddings.weight", [POSITIONS, DIM], 0.01)
    add("embeddings.token_type_embeddings.weight", [2, DIM], 0.01)
    norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        for name, outputs, inputs in [
            ("attention.self.query", DIM, DIM), ("attention.self.key", DIM, DIM), ("attention.self.value", DIM, DIM),
            ("attention.output.dense", DIM, DIM), ("intermediate.dense", 2 * DIM, DIM), ("output.dense", DIM, 2 * DIM),
        ]:
            add(f"{at}.{name}.weight", [outputs, inputs], 0.05)
            add(f"{at}.{name}.bias", [outputs], 0.01)
        norm(f"{at}.attention.output.LayerNorm")
        norm(f"{at}.output.LayerNorm")
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + bytes(body)
